"""Selections as text, tables and pictures; selectors: tables in, tables out."""

from __future__ import annotations

import importlib
import json
import sys
from operator import methodcaller

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

from tamiz import Selection
from tamiz.base import PathStep, Selector
from tamiz.filters import FisherScore, ReliefF, WelchT

NAMES = ["a", "b", "c", "d"]
X = np.random.default_rng(0).normal(size=(40, 5))
Y = (X[:, 2] + 0.5 * X[:, 4] > 0).astype(int)


def selection(**more):
    order = np.array([2, 0, 3, 1])
    return Selection(order, np.array([True, False, True, False]), names=NAMES, method="M", **more)


def test_it_prints_as_one_line():
    assert repr(selection()) == "<M: 2 of 4 features: c, a>"
    many = Selection(np.arange(9), np.ones(9, dtype=bool))
    assert repr(many) == "<Selection: 9 of 9 features: x0, x1, x2, x3, x4, …>"
    none = Selection(np.arange(2), np.zeros(2, dtype=bool))
    assert repr(none) == "<Selection: 0 of 2 features>"


def test_tables_keep_infinite_scores_and_p_values():
    s = selection(
        scores=np.array([1.0, -np.inf, np.inf, 0.5]), pvalues=np.array([0.1, 0.9, 0.0, 0.4])
    )
    frame = s.to_frame()
    assert frame["score"].tolist() == [np.inf, 1.0, 0.5, -np.inf]
    assert frame["pvalue"].tolist() == [0.0, 0.1, 0.4, 0.9]
    assert frame.index.tolist() == [1, 2, 3, 4] and frame.index.name == "rank"
    first = json.loads(json.dumps(s.to_dict(), allow_nan=False))["features"][0]
    assert first == {
        "rank": 1,
        "name": "c",
        "index": 2,
        "score": None,
        "pvalue": 0.0,
        "selected": True,
    }
    assert "pvalue" not in selection().to_frame()


def test_selection_has_the_p_values_of_the_filter():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    fitted = WelchT().fit(X, y)
    np.testing.assert_array_equal(fitted.selection_.pvalues, fitted.pvalues_)


@pytest.fixture
def pyplot():
    plt = pytest.importorskip("matplotlib.pyplot")
    yield plt
    plt.close("all")


@pytest.mark.parametrize("top", [0, -1, 1.5, True, "all"])
def test_absurd_numbers_of_bars(pyplot, top):
    with pytest.raises(ValueError, match=r"top=.* must be an integer from 1"):
        selection(scores=np.arange(4.0)).plot(top=top)


def test_bars_show_infinite_scores_beyond_the_others(pyplot):
    ax = selection(scores=np.array([2.0, -np.inf, np.inf, 0.5])).plot()
    widths = [bar.get_width() for bar in ax.patches]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "d", "a", "c"]
    assert widths == pytest.approx([-2.3, 0.5, 2.0, 2.3])
    assert [text.get_text() for text in ax.texts] == ["∞", "∞"]


def test_the_figure_grows_with_the_bars(pyplot):
    large = Selection(np.arange(80), np.ones(80, dtype=bool), scores=np.arange(80.0))
    assert large.plot(top=80).figure.get_figheight() > 2 * large.plot(top=5).figure.get_figheight()


def test_added_features_are_named(pyplot):
    path = [PathStep("add", (j,), k + 1, 0.1 * k) for k, j in enumerate([2, 0, 3])]
    ax = selection(path=path).plot()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["c", "a", "d"]
    assert ax.get_xlabel() == "feature added"


def test_visits_are_points_and_the_best_of_each_size_is_a_line(pyplot):
    path = [
        PathStep("visit", (0,), 1, 0.2),
        PathStep("visit", (2,), 1, 0.5),
        PathStep("visit", (0, 2), 2, 0.7),
        PathStep("visit", (1,), 1, -np.inf),
    ]
    ax = selection(path=path).plot()
    assert [line.get_xdata().tolist() for line in ax.lines[:2]] == [[1, 1, 2], [1, 2]]
    assert list(ax.lines[1].get_ydata()) == [0.5, 0.7]
    decided = [*path, PathStep("drop", (1,), 3, 0.9), PathStep("drop", (3,), 2, 0.8)]
    ax = selection(path=decided).plot()
    assert list(ax.lines[0].get_xdata()) == [3, 2]  # what was decided, not what was looked at


def test_long_paths_have_a_logarithmic_axis(pyplot):
    for p, scale in ((150, "linear"), (1500, "log")):
        path = [PathStep("drop", (k,), p - k, 1.0 * k) for k in range(p - 1)]
        whole = Selection(np.arange(p), np.ones(p, dtype=bool), path=path)
        assert whole.plot().get_xscale() == scale


def test_without_scores_the_column_is_still_numbers():
    assert selection().to_frame()["score"].dtype == float


def test_nothing_to_draw(pyplot):
    with pytest.raises(ValueError, match="neither scores nor a path"):
        selection().plot()


@pytest.mark.parametrize(
    ("method", "params", "notes", "label"),
    [
        ("MRMR", {}, {"criterion": "relevance"}, "relevance"),
        ("ForwardSelection", {"criterion": None}, {"metrics": ["roc_auc", "f1"]}, "roc auc"),
        ("SVMRFE", {"criterion": "radius_margin"}, {}, "radius margin criterion of the feature"),
        ("HoldOutSVM", {"costs": None}, {}, "errors on held-out samples"),
        ("HoldOutSVM", {"costs": (1, 2)}, {}, "cost of the errors on held-out samples"),
        ("AROM", {}, {}, "objective"),
        ("mine", {}, {}, "criterion"),
    ],
)
def test_the_label_says_what_the_values_are(pyplot, method, params, notes, label):
    path = [PathStep("drop", (0,), 3, 0.5), PathStep("drop", (1,), 2, 0.4)]
    found = selection(path=path, params=params, notes=notes)
    found.method = method
    ax = found.plot()
    assert ax.get_ylabel().startswith(label)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(X),  # columns numbered 0, 1, ...
        pd.DataFrame(X, columns=list("abcde"), index=np.arange(100, 140)),
        pl.DataFrame(X, schema=list("abcde")),
        X,
        sparse.csr_array(X),
    ],
    ids=["numbered", "named", "polars", "array", "sparse"],
)
def test_the_same_kind_comes_out(table):
    selector = FisherScore(n_features_to_select=2).fit(table, Y)
    out = selector.transform(table)
    assert type(out) is type(table)
    assert selector.order_[0] == 2
    if hasattr(out, "columns"):
        assert list(out.columns) == [
            c for c, k in zip(table.columns, selector.support_, strict=True) if k
        ]
    if isinstance(table, pd.DataFrame):
        assert out.index.equals(table.index)
    values = out.toarray() if sparse.issparse(out) else np.asarray(out)
    np.testing.assert_allclose(values, X[:, selector.support_])


def test_nothing_selected():
    frame = pd.DataFrame(X, columns=list("abcde"))
    selector = ReliefF(threshold=0.999).fit(frame, Y)
    assert not selector.support_.any()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(frame).shape == (40, 0)


class Mixed(SelectorMixin, BaseEstimator):
    """A selector with the methods of scikit-learn's."""

    def fit(self, X, y):
        self.support_, self.n_features_in_ = FisherScore(2).fit(X, y).support_, X.shape[1]
        return self

    def _get_support_mask(self):
        return self.support_


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csc_array, list])
def test_methods_of_selectors_equal_those_of_scikit_learn(kind):
    selector = FisherScore(n_features_to_select=2).fit(X, Y)
    peer = Mixed().fit(X, Y)
    as_array = methodcaller("toarray") if kind not in (np.asarray, list) else np.asarray
    thinned = np.where(np.abs(X) < 0.5, 0.0, X).astype(np.float32)
    table = kind(thinned)
    narrow = selector.transform(table)
    assert narrow.dtype == peer.transform(table).dtype
    np.testing.assert_array_equal(as_array(narrow), as_array(peer.transform(table)))
    wide, expected = selector.inverse_transform(narrow), peer.inverse_transform(narrow)
    assert wide.shape == (40, 5) and wide.dtype == expected.dtype
    np.testing.assert_array_equal(as_array(wide), as_array(expected))
    np.testing.assert_array_equal(selector.get_support(), peer.get_support())
    np.testing.assert_array_equal(selector.get_support(indices=True), peer.get_support(True))
    for names in (None, list("abcde")):
        found = selector.get_feature_names_out(names)
        assert found.tolist() == peer.get_feature_names_out(names).tolist()
        assert found.dtype == object


def test_inverse_transform_needs_the_selected_columns():
    selector = FisherScore(n_features_to_select=2).fit(X, Y)
    with pytest.raises(ValueError, match="X has 5 columns, but 2 features are selected"):
        selector.inverse_transform(X)


def test_scores_of_an_earlier_fit_do_not_stay():
    selector = FisherScore().fit(X, Y)
    assert len(selector.scores_) == 5
    selector.fit(X[:, :3], Y)
    assert len(selector.scores_) == len(selector.selection_.scores) == 3


def test_the_former_module_of_the_base_class_warns():
    sys.modules.pop("tamiz.selector", None)
    with pytest.warns(FutureWarning, match=r"tamiz\.base"):
        module = importlib.import_module("tamiz.selector")
    assert module.Selector is Selector
