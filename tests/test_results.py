"""Every result that holds a table has ``to_frame()`` and ``plot(ax=)``, and is one in notebooks."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
import sys
from html import escape
from pathlib import Path
from unittest.mock import patch

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

import tamiz
from tamiz.data import Finding as DataFinding
from tamiz.data import about, load
from tamiz.discovery import Knockoffs, StabilitySelection, aggregate_rankings
from tamiz.display import INK, LINE, PALETTE, TableResult
from tamiz.embedded import l1_svm_path
from tamiz.evaluation import ReportCard, report_card, stability
from tamiz.evaluation.study import Study
from tamiz.explain import (
    counterfactual,
    interaction_strength,
    partial_dependence,
    permutation_importance,
    shapley_values,
)
from tamiz.filters import FisherScore
from tamiz.information import WeightOfEvidence
from tamiz.kernels import Sigmoid, mercer_check
from tamiz.neighbors import KNNClassifier
from tamiz.search import ForwardSelection
from tamiz.svm import SVC, LinearMachine, radius_margin_bound, span_bound
from tamiz.tree import CARTClassifier
from tamiz.tree import Finding as TreeFinding

mpl.use("Agg")


#: Tables of which a picture would say no more.
NO_PICTURE = {
    "About": "what is known of a data set, in words",
    "Dataset": "a table with its roles; plots of estimators show samples",
    "Finding": "a sentence",
    "PathInWords": "a sentence, of which the tree can be drawn",
    "RadiusMargin": "three numbers",
    "Rule": "a sentence, of which the tree can be drawn",
}

#: Public records that are no results of an analysis.
NO_RESULTS = {
    "Answers": "arrays out of an ONNX graph, and inside a study the answers to its questions",
    "Batch": "a part of a stream",
    "Bounds": "merged statistics",
    "ClassHistograms": "merged statistics",
    "ClassMoments": "merged statistics",
    "CoMoments": "merged statistics",
    "Cuts": "merged statistics",
    "DistinctValues": "merged statistics",
    "Labels": "checked input",
    "LevelCounts": "merged statistics",
    "Metric": "a number of a report card, which is the table",
    "NominalSplit": "a test in a tree",
    "NumericSplit": "a test in a tree",
    "ObliqueSplit": "a test in a tree",
    "Optimality": "three numbers of a solver",
    "Pair": "a row of the table of Significance",
    "PairCounts": "merged statistics",
    "PerFeature": "a parameter of a judge",
    "Plane": "where a picture is drawn",
    "QPResult": "what a solver returns",
    "QuadraticProblem": "what a solver gets",
    "Ranges": "merged statistics",
    "Reason": "a row of a recommendation",
    "Recommendation": "a part of a study, which is the table",
    "RowSample": "merged statistics",
    "Schema": "what the columns of a stream are",
    "SignFreeProblem": "what a solver gets",
    "SourceFigure": "the recipe of a picture",
    "StudyPlan": "what a study is going to do",
    "Surrogate": "a test in a tree",
    "Units": "checked input",
    "Whole": "the rows of a study that a part of it was made of",
}


def results():
    """Classes of all modules, machines apart, that can be drawn or turned into a data frame."""
    for module in pkgutil.walk_packages(tamiz.__path__, "tamiz."):
        if module.name.endswith("__main__"):
            continue
        for one in vars(importlib.import_module(module.name)).values():
            if not inspect.isclass(one) or one.__module__ != module.name or hasattr(one, "fit"):
                continue
            holds = dataclasses.is_dataclass(one) or hasattr(one, "_fields")
            if hasattr(one, "to_frame") or (holds and hasattr(one, "plot")):
                yield one


def public_records():
    """Data classes and named tuples that any package exports."""
    found = set()
    for module in pkgutil.walk_packages(tamiz.__path__, "tamiz."):
        if module.name.endswith("__main__"):
            continue
        package = importlib.import_module(module.name)
        for name in getattr(package, "__all__", ()):
            one = getattr(package, name)
            holds = dataclasses.is_dataclass(one) or hasattr(one, "_fields")
            if inspect.isclass(one) and holds and not hasattr(one, "fit"):
                found.add(one)
    return found


def test_every_public_record_is_a_result_or_is_listed_with_a_reason():
    found = public_records()
    assert len(found) > 50
    wanted = ("to_frame", "plot", "_repr_html_")
    for one in found:
        lacks = {name for name in wanted if not hasattr(one, name)}
        if one.__name__ in NO_RESULTS:
            assert lacks, f"{one.__name__} is a result by now"
        elif one.__name__ in NO_PICTURE:
            assert lacks == {"plot"}, one
        else:
            assert lacks == set(), one
    names = {one.__name__ for one in found}
    assert set(NO_RESULTS) | set(NO_PICTURE) <= names


def test_what_is_a_table_can_be_drawn_and_is_one_in_notebooks():
    found = {one.__name__: one for one in results() if one is not TableResult}
    assert len(found) > 25
    lacks = {
        name: missing
        for name, one in found.items()
        if (missing := [m for m in ("to_frame", "plot", "_repr_html_") if not hasattr(one, m)])
    }
    assert lacks == {name: ["plot"] for name in NO_PICTURE}
    for name, one in found.items():
        if name not in NO_PICTURE:
            assert "ax" in inspect.signature(one.plot).parameters, name


def some_results():
    """One of each kind of result that has no test of its own for notebooks."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = pd.DataFrame(StandardScaler().fit_transform(X)[:80, :5], columns=list("abcde")), y[:80]
    X = X.rename(columns={"a": "<a>"})
    machine = SVC(gamma=0.1).fit(X, y)
    linear = SVC(kernel="linear").fit(X, y)
    neighbours = KNNClassifier(3).fit(X, y)
    masks = np.random.default_rng(0).random((6, 5)) < 0.5
    data = load("iris")
    ranked = FisherScore(2).fit(data.X, data.y).selection_
    tree = CARTClassifier().fit(X, y)
    return [
        shapley_values(machine, X[:20]),
        partial_dependence(machine, X[:20]),
        interaction_strength(machine, X[:20]),
        permutation_importance(machine, X, y, cv=2),
        counterfactual(linear, X[:3], X),
        neighbours.explain(X[:2]),
        machine.margin_confidence(X),
        report_card(y, machine.predict(X), scores=machine.decision_function(X)),
        stability(masks),
        aggregate_rankings([[1, 2, 3], [1, 3, 2]], names=["<a>", "b", "c"]),
        CARTClassifier().fit(X, y).pruning_path(),
        l1_svm_path(X.to_numpy(), y, n_values=3),
        Study(data, {"fisher": ranked}),
        span_bound(machine, X, y),
        mercer_check(Sigmoid(gamma=1.0, coef0=-1.0), X),
        stability(masks).above(0.1),
        radius_margin_bound(machine, X, y),
        data,
        DataFinding("leak", ("<a>",), "It is <a>."),
        about("iris"),
        *tree.rules("list")[:1],
        *tree.explain(X[:1]),
        TreeFinding("repetition", "<a> again.", (1, 2)),
    ]


def test_results_are_short_as_text_and_tables_in_notebooks():
    for one in some_results():
        name = type(one).__name__
        frame, page = one.to_frame(), one._repr_html_()
        assert len(frame) and "<table" in page, name
        assert page.count("<tr>") <= 17 and "<a>" not in page, name
        if not isinstance(one, tuple) and name not in NO_PICTURE:
            assert len(repr(one)) < 200 and "array(" not in repr(one), name
            assert escape(repr(one).strip("<>")) in page, name
        if name not in NO_PICTURE:
            ax = np.ravel(one.plot())[0]
            assert ax.has_data(), name
            plt.close(ax.figure)
        with patch.dict(sys.modules, {"pandas": None}):
            assert one._repr_html_() is None, name


def test_spans_are_a_row_for_each_sample(data):
    X, y = data
    machine = SVC(gamma=0.5).fit(X[:80], y[:80])
    found = span_bound(machine, X[:80], y[:80])
    table = found.to_frame()
    assert len(table) == found.n_samples == 80 and table["error"].sum() == found.n_errors
    assert np.flatnonzero(table["span"].notna()).tolist() == found.support.tolist()
    np.testing.assert_allclose(table["span"].dropna() ** 2, found.spans_squared)
    ax = found.plot()
    assert sum(len(part.get_offsets()) for part in ax.collections) == len(found.support)


def test_eigenvalues_of_a_check_are_all_there(data):
    kernel = Sigmoid(gamma=1.0, coef0=-1.0)
    found = mercer_check(kernel, data[0][:30])
    values = found.to_frame()["eigenvalue"]
    np.testing.assert_allclose(values, np.linalg.eigvalsh(kernel(data[0][:30])))
    assert values.iloc[0] == found.smallest and values.iloc[-1] == found.largest
    right, wrong = found.plot().get_lines()
    assert len(wrong.get_xdata()) == (values < 0).sum() > 0
    assert len(right.get_xdata()) == (values >= 0).sum()
    assert len(repr(found)) < 200


def test_the_test_of_stability_is_drawn():
    found = stability([[0, 1], [0, 1], [0, 2]], n_features=10).above(0.1)
    line, point, zero = found.plot().get_lines()
    assert tuple(line.get_xdata()) == found.interval
    assert point.get_xdata()[0] == found.difference and zero.get_xdata()[0] == 0.0
    assert found.to_frame().iloc[0]["pvalue"] == found.pvalue


def test_margins_are_counted_in_the_table_of_a_card():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:200, :4]
    machine = SVC().fit(X, y[:200])
    confidence = machine.margin_confidence(X)
    table = confidence.to_frame()
    np.testing.assert_array_equal(table["value"], confidence.values)
    report = ReportCard.of(machine, X, y[:200]).margin
    shown = report.to_frame().set_index("place")
    for place in shown.index:
        assert shown.loc[place, "n_samples"] == np.sum(table["place"] == place)
        assert shown.loc[place, "fraction"] == pytest.approx(np.mean(table["place"] == place))
    right = machine.predict(X) == y[:200]
    inside = (table["place"] == "inside").to_numpy()
    assert shown.loc["inside", "accuracy"] == pytest.approx(right[inside].mean())
    assert "beyond" in report._repr_html_() and "inside it" in confidence._repr_html_()
    bars = report.plot().patches
    assert sum(bar.get_width() for bar in bars) == pytest.approx(1.0)


def test_weights_of_evidence_are_drawn():
    X = pd.DataFrame({"age": [20, 25, 30, 35, 50, 55, 60, 65.0], "flat": [1.0] * 8})
    woe = WeightOfEvidence("width", n_bins=2).fit(X, [1, 1, 1, 0, 0, 0, 0, 1])
    ax = woe.plot()
    assert ax.get_title() == "age"
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], woe.weights_[0][:2])
    assert woe.plot("flat").get_title() == woe.plot(1).get_title() == "flat"
    with pytest.raises(ValueError, match="feature"):
        woe.plot("height")


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


def test_all_pictures_have_the_same_colours(data):
    """Of matplotlib's own colours none is left, neither by name nor as the next in turn."""
    package = Path(tamiz.__file__).parent
    named = re.compile(r"""["'](tab:\w+|C\d|[bgrcmy][.*o-])["']|f["']C\{""")
    assert not [p.name for p in package.rglob("*.py") if named.search(p.read_text("utf-8"))]
    X, y = data
    search = ForwardSelection(SVC(), n_features_to_select=3, cv=3).fit(X[:80], y[:80])
    halves = StabilitySelection(FisherScore(3), n_subsamples=10, random_state=0).fit(X, y)
    scores = LinearMachine().fit(X, y).decision_function(X)
    drawn = [
        search.selection_.plot(),
        search.evaluations_.plot(),
        halves.plot_path(),
        LinearMachine(penalty="l1").path(X, y, n_values=5).plot(),
        l1_svm_path(X, y, n_values=5).plot(),
        *np.ravel(report_card(y, (scores > 0).astype(int), scores=scores).plot()),
        *(one.plot() for one in some_results()[:4]),
    ]
    known = {one.lower() for one in (*PALETTE, INK, LINE)}
    for ax in drawn:
        found = {
            mpl.colors.to_hex(line.get_markeredgecolor() if no_line else line.get_color())
            for line in ax.get_lines()
            for no_line in [line.get_linestyle() == "None"]
        }
        assert all(one in known or one[1:3] == one[3:5] == one[5:] for one in found), found
        plt.close(ax.figure)
