"""One order for one method: in any units, in Python, ``tamiz rank`` and ``tamiz select``."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import tamiz
from tamiz.cli.app import app
from tamiz.evaluation.methods import METHODS
from tamiz.evaluation.study import make_pipeline_for

pytestmark = pytest.mark.ours

P = 6
NAMES = [f"f{j}" for j in range(P)]
RANKING = [m.name for m in METHODS.values() if m.ranks and m.name not in ("random", "all")]
CLASSES = [name for name in RANKING if name != "rrelieff"]
#: Units that are not powers of two change the last bit of a value, and shifts more than that.
UNITS = np.array([1e-3, 1e6, 2.0**-20, 1.0, 2.0**30, 1e3])
ZEROS = np.array([0.0, 2e6, 1.0, -50.0, 2.0**31, -1e3])


def table(regression=False):
    rng = np.random.default_rng(0)
    signal = rng.normal(size=70)
    X = rng.normal(size=(70, P)) + np.outer(signal, np.linspace(0, 1.2, P)[::-1])
    return X, signal if regression else (signal + rng.normal(scale=0.4, size=70) > 0.3).astype(int)


def fitted(name, X, y):
    method = METHODS[name]
    task = "regression" if name == "rrelieff" else "classification"
    params = {"n_features_to_select": P} if method.greedy else {}
    selector = method.make(task=task, n_features=P, **params)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    return selector.fit(X, y)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The table in plain units, and in powers of two of them, which standardise exactly."""
    place = tmp_path_factory.mktemp("units")
    X, y = table()
    for file, factor in (("plain", 1.0), ("other", 2.0 ** np.array([-10, 20, 3, 0, 30, -30]))):
        frame = pd.DataFrame(X * factor, columns=NAMES)
        frame["y"] = np.where(y > 0, "yes", "no")
        frame.to_parquet(place / f"{file}.parquet")
    return place


def ranked(path, name, *more):
    arguments = ["rank", path, "-t", "y", "-m", name, "--json", "-q", *more]
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0, done.exception
    return [NAMES.index(f["name"]) for f in json.loads(done.stdout)["features"]]


@pytest.mark.parametrize("name", [name for name in RANKING if METHODS[name].unit_free])
def test_filters_rank_alike_in_all_units(name):
    X, y = table(regression=name == "rrelieff")
    plain = fitted(name, X, y)
    other = fitted(name, X * UNITS + ZEROS, y)
    assert other.order_.tolist() == plain.order_.tolist()
    assert other.support_.tolist() == plain.support_.tolist()


def test_the_printed_criterion_is_the_exception():
    X, y = table()
    plain, other = (
        tamiz.FisherScore(variant="criterion").fit(Z, y).order_.tolist() for Z in (X, X * UNITS)
    )
    assert plain != other


@pytest.mark.parametrize("name", CLASSES)
def test_one_order_in_python_rank_and_select(name, folder):
    X, y = table()
    X = X if METHODS[name].unit_free else StandardScaler().fit_transform(X)
    expected = fitted(name, X, y).order_.tolist()
    assert ranked(folder / "plain.parquet", name) == expected
    assert ranked(folder / "other.parquet", name) == expected
    data = tamiz.data.load(folder / "plain.parquet", "y")
    studied = make_pipeline_for(data, name, "tree", None, "standard", 0).fit(data.X, data.y)
    assert studied["select"].order_.tolist() == expected


@pytest.mark.filterwarnings("ignore::tamiz.svm.UnscaledWarning")
@pytest.mark.parametrize("scale", ["standard", "minmax", "none"])
def test_scale_is_what_the_machine_gets(scale, folder):
    from sklearn.preprocessing import FunctionTransformer, MinMaxScaler

    X, y = table()
    scaler = {"standard": StandardScaler(), "minmax": MinMaxScaler(), "none": FunctionTransformer()}
    for file, factor in (("plain", 1.0), ("other", 2.0 ** np.array([-10, 20, 3, 0, 30, -30]))):
        expected = fitted("l1-svm", scaler[scale].fit_transform(X * factor), y).order_.tolist()
        assert ranked(folder / f"{file}.parquet", "l1-svm", "--scale", scale) == expected


def test_breast_cancer_is_not_ranked_by_units():
    done = CliRunner().invoke(app, ["rank", "breast_cancer", "-m", "fisher", "-k", "5", "--json"])
    names = [feature["name"] for feature in json.loads(done.stdout)["features"]]
    assert names[0] == "worst concave points" and not any("error" in name for name in names)
