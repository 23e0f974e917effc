"""Every public result that holds a table has both: ``to_frame()`` and ``plot(ax=)``."""

from __future__ import annotations

import dataclasses
import importlib
import inspect

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from tamiz.discovery import Knockoffs
from tamiz.embedded import l1_svm_path
from tamiz.search import ForwardSelection
from tamiz.svm import LinearMachine

mpl.use("Agg")

PACKAGES = (
    "discovery", "embedded", "evaluation", "explain", "filters", "neighbors", "search", "svm",
    "tree",
)  # fmt: skip


def results():
    """Public classes, machines apart, that can be drawn or turned into a data frame."""
    for name in PACKAGES:
        package = importlib.import_module(f"tamiz.{name}")
        for public in package.__all__:
            one = getattr(package, public)
            holds = inspect.isclass(one) and (
                dataclasses.is_dataclass(one) or hasattr(one, "_fields") or hasattr(one, "to_frame")
            )
            if holds and not hasattr(one, "fit"):
                yield one


def test_what_is_a_table_can_be_drawn_and_the_other_way_round():
    found = [one for one in results() if hasattr(one, "plot") or hasattr(one, "to_frame")]
    assert len(found) > 15
    for one in found:
        assert hasattr(one, "plot") and hasattr(one, "to_frame"), one.__name__
        assert "ax" in inspect.signature(one.plot).parameters, one.__name__


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:, :8], y


def test_paths_are_tables(data):
    X, y = data
    names = [f"gene {j}" for j in range(8)]
    for path in (l1_svm_path(X, y, n_values=5), LinearMachine(penalty="l1").path(X, y, n_values=5)):
        table = path.to_frame(names)
        assert table.columns.tolist() == ["C", "n_nonzero", "status", *names]
        np.testing.assert_array_equal(table[names], path.coefs)
        np.testing.assert_array_equal((table[names] != 0).sum(axis=1), path.n_nonzero)
        assert path.to_frame().columns[-1] == "x7"


def test_subsets_that_were_judged_are_drawn_by_size():
    X, y = load_iris(return_X_y=True)
    table = ForwardSelection(GaussianNB()).fit(X, y).evaluations_
    ax = table.plot()
    every, best, chosen = ax.get_lines()
    np.testing.assert_array_equal(every.get_ydata(), table.mean[:, 0])
    assert best.get_ydata().max() == np.max(table.mean[:, 0])
    assert chosen.get_xdata().tolist() == table.n_features[table.selected].tolist()


def test_the_quality_of_knockoffs_is_drawn(data):
    X, y = data
    quality = Knockoffs("linear", random_state=0).fit(X, y).quality_
    widths = [bar.get_width() for bar in quality.plot(top=3).patches]
    np.testing.assert_allclose(widths, np.sort(quality.correlation)[-3:])
