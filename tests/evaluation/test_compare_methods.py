"""The list of methods tells the truth about every one of them."""

from __future__ import annotations

import inspect
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import tamiz.embedded
import tamiz.filters
import tamiz.search
from tamiz.base import Selector
from tamiz.evaluation import compare
from tamiz.evaluation.methods import METHODS, find_method, method_of
from tamiz.filters import PearsonScore

PAGE = Path(__file__).parents[2] / "docs" / "comparing.md"
QUICK = {  # parameters that make a test short, and change nothing of what is tested
    "exhaustive": {"cv": 2},
    "annealing": {"cv": 2, "m": 2, "v": 0.5},
    "genetic": {"cv": 2, "N": 4, "G": 1},
    "forward": {"cv": 2},
    "backward": {"cv": 2},
    "best-first": {"cv": 2},
}


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    two, three = np.arange(30) % 2, np.arange(30) % 3
    X = rng.standard_normal((30, 4))
    X[:, 0] += two
    X[:, 1] += three
    gaps = X.copy()
    gaps[3, 2] = np.nan
    words = X.astype(object)
    words[:, 3] = rng.choice(["a", "b", "c"], 30)
    number = 2 * X[:, 0] + 0.1 * rng.standard_normal(30)
    return {
        "two": (X, two),
        "multiclass": (X, three),
        "regression": (X, number),
        "sparse": (sparse.csr_matrix(X), two),
        "missing": (gaps, two),
        "categorical": (words, two),
    }


def fits(method, X, y, task):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = method.make(task=task, **QUICK.get(method.name, {})).fit(X, y)
        except (ValueError, TypeError):
            return False
    return sorted(found.order_) == list(range(X.shape[1]))


def public_selectors():
    for room in (tamiz.filters, tamiz.embedded, tamiz.search):
        for name in room.__all__:
            value = getattr(room, name)
            if not inspect.isclass(value) or not issubclass(value, Selector):
                continue
            # the one wraps a selector, for several targets, the other looks at no target
            if value not in (tamiz.filters.MultiTarget, tamiz.filters.StableFeatures):
                yield value


def test_every_selector_of_the_library_is_listed_once():
    listed = [method.cls for method in METHODS.values() if method.family != "baseline"]
    assert len(set(listed)) == len(listed)
    assert set(listed) == set(public_selectors())


@pytest.mark.parametrize("name", METHODS)
def test_what_the_list_says_a_method_takes(name, tables):
    method = METHODS[name]
    has_text = name not in ("random", "all")  # they look at nothing, yet want numbers
    assert fits(method, *tables["two"], "classification") or name == "rrelieff"
    for kind in ("multiclass", "sparse", "missing", "categorical"):
        if name == "rrelieff" and kind != "multiclass":
            X, _ = tables[kind]
            taken = fits(method, X, tables["regression"][1], "regression")
        else:
            taken = fits(method, *tables[kind], "classification")
        if kind != "categorical" or has_text:
            assert taken == getattr(method, kind), kind
    assert fits(method, *tables["regression"], "regression") == method.regression
    assert not method.non_negative  # the tables above have negative numbers


def test_names_are_found_however_they_are_written():
    assert find_method("ReliefF") is METHODS["relieff"]
    assert find_method(" HO_SVM ") is METHODS["ho-svm"]
    assert find_method("l1svm") is METHODS["l1-svm"]
    assert len({alias for m in METHODS.values() for alias in (m.name, *m.aliases)}) == sum(
        1 + len(m.aliases) for m in METHODS.values()
    )
    with pytest.raises(ValueError, match="Did you mean 'relief'"):
        find_method("releif")


def test_the_page_names_every_method_for_numbers(tables):
    (said,) = re.findall(r"those that take numbers: (.*?) Machines made by", PAGE.read_text(
        encoding="utf-8"), re.DOTALL)  # fmt: skip
    default, asked_for = (re.findall(r'"([\w-]+)"', part) for part in said.split("if asked for"))
    takes = [m.name for m in METHODS.values() if m.regression and m.family != "baseline"]
    assert sorted(default + asked_for) == sorted(takes)
    X, y = tables["regression"]
    run = set(compare(X, y, sizes=[1], cv=2, random_state=0).methods)
    assert {name for name in run if METHODS[name].family != "baseline"} == set(default)


def test_methods_know_their_objects_and_are_plain_values():
    import json

    for method in METHODS.values():
        assert method_of(method.cls()) is method
        assert method.family in ("filter", "wrapper", "embedded", "baseline")
        assert json.loads(json.dumps(method.to_dict()))["name"] == method.name
    assert method_of(object()) is None


def test_defaults_depend_on_the_table_where_they_must():
    assert METHODS["ho-svm"].make(n_features=30).ties == "random"
    assert METHODS["ho-svm"].make(n_features=2000).ties == "all"
    assert METHODS["ho-svm"].make(n_features=2000, ties="random").ties == "random"
    assert METHODS["qpfs"].make(task="regression").similarity == "pearson"
    with pytest.raises(ValueError, match="needs classes"):
        METHODS["chi2"].make(task="regression")


def test_own_sizes_are_those_that_depend_on_the_data(tables):
    X, y = tables["two"]
    rng = np.random.default_rng(1)
    noise = np.c_[X, rng.standard_normal((30, 5))]
    for method in METHODS.values():
        if method.own_size or method.family == "wrapper":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = method.make().fit(noise, y.astype(float) if method.name == "rrelieff" else y)
        assert found.support_.sum() == 4, method.name  # half of nine: no rule of its own


@pytest.mark.parametrize(
    "name", ["pearson", "cfs", "qpfs", "rrelieff", "rfe", "ho-svm", "kp-svm", "adaptive-scaling"]
)
def test_a_numeric_target_of_integers_is_no_class(name):
    """With task="regression" integers are ranked as the same target with decimals."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    y = np.round(100 * X[:, 2] + 10 * rng.standard_normal(80)).astype(int)
    seed = {"random_state": 0} if name in ("qpfs", "rrelieff", "ho-svm") else {}
    whole, decimal = (
        find_method(name).make(task="regression", **seed).fit(X, target) for target in (y, y + 0.25)
    )
    assert whole.order_.tolist() == decimal.order_.tolist()
    assert whole.order_[0] == 2


@pytest.mark.parametrize("task", ["auto", "classification"])
def test_every_part_of_the_rows_is_ranked_for_the_task_of_the_whole(task):
    """Six classes of three rows: a training part of nine alone would be taken for numbers."""
    X = np.random.default_rng(0).standard_normal((18, 5))
    y = np.arange(18) % 6
    options = {"cv": 2, "repeats": 2, "sizes": [1, 2, 3], "random_state": 0, "nested": False}
    said = compare(X, y, [PearsonScore(task="classification")], "tree", task=task, **options)
    for selector in ("pearson", PearsonScore()):
        found = compare(X, y, [selector], "tree", task=task, **options)
        np.testing.assert_array_equal(found.errors, said.errors)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", ["pearson", "cfs", "qpfs", "rfe", "ho-svm", "radius-margin"])
def test_a_selector_made_by_name_does_not_guess_the_task(name, task):
    assert find_method(name).make(task=task).task == task
