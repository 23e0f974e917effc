"""What notebooks show: small tables, escaped, in the colours of the page."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn

import tamiz
from tamiz.discovery import Knockoffs, Shadows, StabilitySelection
from tamiz.embedded import MILPSVM
from tamiz.evaluation import AutoScaler, CovariateAdjuster
from tamiz.filters import MRMR, GrammarFeatures
from tamiz.information import Discretiser, WeightOfEvidence
from tamiz.neighbors import KNNClassifier
from tamiz.search import ForwardSelection
from tamiz.svm import SVDD, HardMarginSVC, LinearMachine, LinearMachineRegressor, OneClassSVM
from tamiz.tree import (
    BoostingClassifier,
    BoostingRegressor,
    CARTClassifier,
    CARTRegressor,
    ForestClassifier,
)

EVIL = "<script>alert('&')</script>"


def data(n=40):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), np.arange(n) % 2
    X[:, 0] += 6 * y
    return X, y


class Reader(HTMLParser):
    """Cells of tables, and every element and attribute."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.text, self.elements, self.open = [], "", [], []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        self.open.append(name)
        if name in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def read(text):
    page = Reader(text)
    for name, attributes in page.elements:
        assert name not in ("script", "link", "img", "style")
        assert not {"src", "href", "onclick"} & set(attributes)
        style = attributes.get("style", "")
        assert "color:#" not in style and "color:black" not in style and "white" not in style
    return page


def test_a_selection():
    X, y = data()
    found = tamiz.FisherScore(1, variant="multiclass").fit(X, y).selection_
    found.names = [EVIL, "b", "c"]
    found.method = EVIL
    page = read(found._repr_html_())
    assert f"{EVIL}: 1 of 3 features selected" in page.text
    assert page.cells[:5] == ["", "feature", "score", "p-value", "selected"]
    assert page.cells[5:7] == ["1", EVIL] and page.cells[9] == "yes"
    assert page.cells[7] == f"{found.scores[0]:.4g}"


def test_a_long_selection_without_scores():
    found = tamiz.Selection(np.arange(20), np.zeros(20, dtype=bool))
    page = read(found._repr_html_())
    assert len(page.cells) == 3 * 16 and "… and 5 more features" in page.text
    assert read(tamiz.Selection(np.arange(0), np.zeros(0, dtype=bool))._repr_html_())


def test_a_tuning():
    X, y = data()
    tuning = tamiz.tune(X, y, grid={"C": [0.1, 1.0, 10.0]}, cv=2)
    tuning.edges.append(EVIL)
    page = read(tuning._repr_html_())
    assert EVIL in page.text
    for line in str(tuning).splitlines()[: len(tuning.cells) + 1]:
        assert all(word in page.text for word in line.split())


def test_a_comparison():
    X, y = data()
    selectors = {EVIL: tamiz.FisherScore()}
    found = tamiz.compare(X, y, selectors, sizes=[1, 3], cv=2, repeats=1, random_state=0)
    found.notes.append(EVIL)
    page = read(found._repr_html_())
    assert EVIL in page.cells and page.text.endswith(EVIL)
    line = found.estimate(EVIL)
    row = page.cells.index(EVIL)
    assert page.cells[row + 1 : row + 4] == [
        line.judge, f"{float(line.size):.4g}", f"{100 * line.error:.4g}"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "machine",
    [tamiz.SVC(), tamiz.SVR(), OneClassSVM(), SVDD(), HardMarginSVC()],
    ids=lambda machine: type(machine).__name__,
)
def test_a_machine_shows_its_evidence_below_the_diagram(machine):
    diagram = machine._repr_html_()
    assert "What was found" not in diagram
    machine.fit(*data())
    shown = machine._repr_html_()
    assert "sk-top-container" in shown
    page = read(shown[shown.rindex("<div", 0, shown.index("What was found")) :])
    values = dict(zip(page.cells[::2], page.cells[1::2], strict=True))
    assert values["support vectors"] == str(len(machine.support_))
    assert values["duality gap"] == f"{machine.duality_gap_:.4g}"
    assert values["status"] == machine.status_
    assert machine._repr_mimebundle_()["text/html"].endswith(shown[-300:])
    with sklearn.config_context(display="text"):
        assert "text/html" not in machine._repr_mimebundle_()


def test_several_machines_show_the_worst():
    X = np.random.default_rng(0).normal(size=(60, 2))
    machine = tamiz.SVC().fit(X, np.arange(60) % 3)
    shown = machine._repr_html_()
    assert f"{machine.margin_.min():.4g}" in shown and f"{machine.duality_gap_.max():.4g}" in shown
    assert "Of 3 machines" in shown


def below_the_diagram(estimator):
    """The text of all tables that are ours, by the name of their first cell; and the whole text."""
    shown = estimator._repr_html_()
    assert "sk-top-container" in shown
    assert estimator._repr_mimebundle_()["text/html"].endswith(estimator._evidence_html())
    return read(estimator._evidence_html())


@pytest.mark.parametrize(
    "estimator",
    [
        MRMR(2),
        tamiz.SVMRFE(n_features_to_select=1),
        ForwardSelection(n_features_to_select=1),
        tamiz.L1SVM(),
        MILPSVM(n_features_to_select=1),
        Shadows(max_rounds=5, random_state=0),
        StabilitySelection(n_subsamples=20, random_state=0),
        LinearMachine(),
        LinearMachineRegressor(),
        CARTClassifier(),
        CARTRegressor(),
        ForestClassifier(3),
        BoostingClassifier(3),
        BoostingRegressor(3),
        KNNClassifier(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_what_was_found_stands_below_the_diagram_and_names_are_escaped(estimator):
    assert estimator._evidence_html() == "" and "What was found" not in estimator._repr_html_()
    X, y = data()
    frame = pytest.importorskip("pandas").DataFrame(X, columns=[EVIL, "b", "c"])
    labels = y if sklearn.base.is_regressor(estimator) else np.array(["no", EVIL])[y]
    estimator.fit(frame, labels)
    page = below_the_diagram(estimator)
    if hasattr(estimator, "selection_"):
        assert repr(estimator.selection_)[1:].split(": ")[0] in page.text
    if hasattr(estimator, "selection_") or hasattr(estimator, "feature_importances_"):
        assert EVIL in page.cells
    with sklearn.config_context(display="text"):
        assert "text/html" not in estimator._repr_mimebundle_()


def test_a_selector_shows_the_machine_of_what_it_selected():
    found = tamiz.SVMRFE(n_features_to_select=1).fit(*data())
    page = below_the_diagram(found)
    assert "SVMRFE: 1 of 3 features selected" in page.text
    assert "SVC of the selected features" in page.text
    assert page.cells[page.cells.index("duality gap") + 1] == (
        f"{found.estimator_.duality_gap_:.4g}"
    )


def test_trees_forests_and_neighbours_show_what_they_are():
    X, y = data()
    tree = CARTClassifier().fit(X, y)
    cells = below_the_diagram(tree).cells
    assert cells[cells.index("leaves") + 1] == str(tree.tree_.n_leaves)
    assert cells[cells.index("feature") + 2] == "x0"
    tree.prune_at(np.inf)
    cells = below_the_diagram(tree).cells
    assert cells[:4] == ["leaves", "1", "leaves before pruning", str(tree.full_tree_.n_leaves)]
    cells = below_the_diagram(BoostingClassifier(4).fit(X, y)).cells
    assert cells[cells.index("trees") + 1] == "4"
    cells = below_the_diagram(KNNClassifier().fit(X, y)).cells
    assert cells[:4] == ["samples kept", "40", "classes", "0 (20), 1 (20)"]


def test_a_discovery_that_found_nothing_says_why():
    X, y = data()
    with pytest.warns(UserWarning, match="No feature is selected"):
        found = Knockoffs(random_state=0).fit(X, y)
    page = below_the_diagram(found)
    assert page.cells[:2] == ["rate of false discoveries, at most", "0.1"]
    assert found.message_ in page.text
    with pytest.warns(UserWarning, match="No feature is selected"):
        many = Knockoffs(random_state=0, n_draws=3).fit(X, y)
    assert "least e-value" in below_the_diagram(many).cells


def test_what_prepares_a_table_shows_what_it_found():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=[EVIL, "b", "c"])
    X["c"] = np.exp(3 * X["c"])
    y = (X["b"] + X[EVIL] > 0).astype(int)
    seen = {}
    for estimator in (
        AutoScaler(),
        CovariateAdjuster(["b"]),
        Discretiser("width", n_bins=4),
        WeightOfEvidence(),
        GrammarFeatures(3, operators=["product"]),
    ):
        before = estimator._repr_html_()
        shown = estimator.fit(X, y)._repr_html_()
        assert "border-collapse" not in before.split("</style>")[-1]
        place = shown.rindex("<div", 0, shown.index('<table style="border-collapse'))
        seen[type(estimator).__name__] = read(shown[place:])
    page = seen["AutoScaler"]
    assert page.cells[:2] == ["features with heavy tails, drawn in", "1"] and page.cells[3] == "c"
    assert EVIL in seen["CovariateAdjuster"].cells and "b" not in seen["CovariateAdjuster"].cells
    assert seen["Discretiser"].cells[:4] == ["feature", "bins", EVIL, "4"]
    assert "information value" in seen["WeightOfEvidence"].cells
    assert "expressions kept" in seen["GrammarFeatures"].cells
