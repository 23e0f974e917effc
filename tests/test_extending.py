"""What docs/extending.md promises: things added from outside the package, by public names only."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tamiz import SVC, SVMRFE, compare, tune
from tamiz.data import load
from tamiz.data.formats import FORMATS, Format, register_format
from tamiz.data.formats.base import HeldTable
from tamiz.data.formats.frames import read_memory
from tamiz.evaluation.methods import method_of
from tamiz.filters import FisherScore
from tamiz.filters.univariate.base import Scored, UnivariateFilter
from tamiz.kernels import RBF, Kernel, Linear
from tamiz.reports import Study, render
from tamiz.reports.markup import tag
from tamiz.reports.page import Section
from tamiz.scale import batches
from tamiz.search.base import SearchSelector
from tests.reports.tree import read

ROOT = Path(__file__).resolve().parent.parent


class Cauchy(Kernel):
    """1 / (1 + γ |x − z|²)."""

    _parameters = ("gamma",)

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def _gram(self, X, Z):
        Z = X if Z is None else Z
        return 1 / (1 + self.gamma * ((X[:, None, :] - Z[None]) ** 2).sum(axis=2))

    def _diag(self, X):
        return np.ones(X.shape[0])


class Extent(UnivariateFilter):
    """Range of the class means, divided by the range of the feature."""

    _sparse = False

    def _score(self, samples):
        codes, X = samples.labels.codes, samples.X
        means = [X[codes == c].mean(axis=0) for c in range(samples.n_classes)]
        return Scored(np.ptp(means, axis=0) / np.ptp(X, axis=0), None, np.zeros(X.shape[1], bool))


class WeightedExtent(Extent):
    """The same of weighted means."""

    _weighted = True

    def _score(self, samples):
        codes, X = samples.labels.codes, samples.X
        weight = np.ones(len(X)) if samples.weight is None else samples.weight
        means = [
            np.average(X[codes == c], axis=0, weights=weight[codes == c])
            for c in range(samples.n_classes)
        ]
        return Scored(np.ptp(means, axis=0) / np.ptp(X, axis=0), None, np.zeros(X.shape[1], bool))


class RandomPairs(SearchSelector):
    """The best of a number of random pairs of features."""

    _parameter_constraints = {**SearchSelector._parameter_constraints, "n_draws": [int]}

    def __init__(self, estimator=None, *, n_draws=8, n_features_to_select=None, cv=3, scoring=None,
                 criterion=None, feature_groups=None, fixed_features=None, max_features=None,
                 time_budget=None, error_score="raise", random_state=None, n_jobs=None,
                 checkpoint=None, resume=False, verbose=0):  # fmt: skip
        self.estimator, self.n_draws, self.cv, self.scoring = estimator, n_draws, cv, scoring
        self.n_features_to_select, self.max_features = n_features_to_select, max_features
        self.criterion, self.error_score, self.time_budget = criterion, error_score, time_budget
        self.feature_groups, self.fixed_features = feature_groups, fixed_features
        self.random_state, self.n_jobs, self.verbose = random_state, n_jobs, verbose
        self.checkpoint, self.resume = checkpoint, resume

    def _search(self, evaluator, outcome, rng):
        best = -np.inf
        for _ in range(self.n_draws):
            subset = np.zeros(evaluator.n_units, dtype=bool)
            subset[rng.choice(evaluator.n_units, 2, replace=False)] = True
            found = evaluator.one(subset)
            if found.value > best:
                best, outcome.subset = found.value, subset
                evaluator.mark("accept", subset)


def worst_class(estimator, X, y):
    """Accuracy on the class that is predicted worst."""
    right = estimator.predict(X) == y
    return min(float(right[y == label].mean()) for label in np.unique(y))


def target_section(page):
    """A section that names the target, where there is one."""
    if page.data.y is None:
        return None
    title = {"en": "The <target>", "es": "El <objetivo>"}[page.lang.code]
    return Section("own-target", tag("p", f"<{page.data.target}>"), title)


@pytest.fixture(scope="module")
def data():
    """The sign of x0 · x1 decides, x2 helps a little, the rest is noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    y = (X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0).astype(int)
    return X, y


def test_own_kernel_in_a_sum_equals_the_precomputed_gram_matrix(data):
    X, y = data
    kernel = Cauchy(0.5) + 0.1 * Linear()
    machine = SVC(kernel=kernel, C=2.0).fit(X[:60], y[:60])
    gram = Cauchy(0.5)(X[:60]) + 0.1 * Linear()(X[:60])
    given = SVC(kernel="precomputed", C=2.0).fit(gram, y[:60])
    new = Cauchy(0.5)(X[60:], X[:60]) + 0.1 * Linear()(X[60:], X[:60])
    np.testing.assert_allclose(
        machine.decision_function(X[60:]), given.decision_function(new), atol=1e-2
    )


def test_own_kernel_ranks_features_in_an_elimination_as_the_built_in_one_does(data):
    class Gaussian(Cauchy):
        def _gram(self, X, Z):
            return np.exp(1 - 1 / super()._gram(X, Z))

    X, y = data
    np.testing.assert_allclose(Gaussian(0.5)(X), RBF(0.5)(X), atol=1e-12)
    found = [SVMRFE(kernel=kernel, C=10).fit(X, y) for kernel in (Gaussian(0.5), RBF(0.5))]
    assert found[0].selection_.order.tolist() == found[1].selection_.order.tolist()


def test_own_kernel_takes_sparse_samples_if_it_declares_so(data):
    class Cosine(Cauchy):
        accepts_sparse = True

        def _gram(self, X, Z):
            lengths = [sparse.linalg.norm(table, axis=1) for table in (X, X if Z is None else Z)]
            return (X @ (X if Z is None else Z).T).toarray() / np.outer(*lengths)

    X, y = data
    table = sparse.csr_array(X)
    kernel = Cosine() + 0.1 * Linear()
    np.testing.assert_allclose(kernel(table)[0, 0], 1 + 0.1 * X[0] @ X[0])
    assert SVC(kernel=kernel).fit(table, y).score(table, y) > 0.5
    with pytest.raises(TypeError, match=r"'linear', 'poly', 'rbf', 'sigmoid'\)"):
        (Cauchy() + Linear())(table)


def test_own_filter_is_fitted_compared_and_reported(data):
    X, y = data
    y = X[:, 3] + 0.2 * X[:, 4] > 0
    filter_ = Extent(1).fit(X, y)
    assert filter_.get_support(indices=True).tolist() == [3]
    assert method_of(filter_) is None
    found = compare(X, y, {"extent": Extent(), "fisher": "fisher"}, "linear", sizes=[1], cv=3,
                    random_state=0)  # fmt: skip
    assert {"extent", "fisher"} <= set(found.methods)
    iris = load("iris")
    selection = Extent(2).fit(iris.X, iris.y).selection_
    assert "Extent" in str(selection)
    assert "extent" in render(Study(iris, {"extent": selection}))


def test_own_filter_refuses_weights_unless_it_declares_that_it_uses_them(data):
    X, y = data
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    with pytest.raises(ValueError, match=r"Extent does not use sample weights.*_weighted = True"):
        Extent().fit(X, y, sample_weight=weight)
    found = WeightedExtent().fit(X, y, sample_weight=weight)
    copies = np.repeat(np.arange(len(y)), weight)
    np.testing.assert_allclose(found.scores_, Extent().fit(X[copies], y[copies]).scores_)


def test_weights_that_only_leave_samples_out_need_no_declaration(data):
    X, y = data
    kept = np.arange(len(y)) % 3 > 0
    found = Extent().fit(X, y, sample_weight=kept)
    np.testing.assert_array_equal(found.scores_, Extent().fit(X[kept], y[kept]).scores_)


def test_own_search_returns_the_best_of_its_subsets(data):
    X, y = data
    search = RandomPairs(SVC(), random_state=0).fit(X, y)
    assert search.get_support().sum() == 2
    assert search.n_evaluations_ <= 8
    assert search.best_score_ == search.evaluations_.scores[:, 0].mean(axis=1).max()


def test_own_metric_is_the_error_of_a_comparison_and_of_tuning(data):
    X, y = data
    found = compare(X, y, ["fisher"], "rbf", sizes=[6], cv=3, scoring=worst_class, random_state=0)
    assert found.metric == "1 − worst_class"
    grid = {"C": [0.1, 10.0]}
    tuned = tune(X, y, SVC(), grid, cv=3, scoring=worst_class, random_state=0)
    assert tuned.best_error == min(cell.error for cell in tuned.cells)


@pytest.fixture
def blocks():
    """A format of lines ``name|value|value …``, one for each column, known during a test."""

    def open_blocks(path, shown, options):
        lines = [line.split("|") for line in path.read_text(encoding="utf-8").splitlines()]
        frame = pd.DataFrame({name: [float(v) for v in values] for name, *values in lines})
        return HeldTable(*read_memory(frame, options, shown))

    register_format(Format("blocks", (".blocks",), open_blocks))
    yield
    del FORMATS["blocks"]


@pytest.mark.parametrize("named", [True, False])
def test_own_file_format_is_read_as_a_whole_and_in_batches(blocks, data, tmp_path, named):
    X, y = data
    path = tmp_path / ("table.blocks" if named else "table.unknown")
    columns = {"kind": y, "first": X[:, 0], "second": X[:, 1]}
    lines = [f"{name}|{'|'.join(map(str, values))}" for name, values in columns.items()]
    path.write_text("\n".join(lines), encoding="utf-8")
    given = {} if named else {"format": "blocks"}
    found = load(path, target="kind", task="classification", **given)
    assert found.feature_names == ["first", "second"]
    np.testing.assert_array_equal(found.X, X[:, :2])
    streamed = FisherScore(1).fit_stream(batches(path, "kind", batch_rows=20, **given))
    np.testing.assert_allclose(streamed.scores_, FisherScore(1).fit(X[:, :2], y).scores_)


@pytest.mark.parametrize(
    ("lang", "title"), [("en", "The &lt;target&gt;"), ("es", "El &lt;objetivo&gt;")]
)
def test_own_section_stands_after_the_results_and_before_the_data(lang, title):
    iris = load("iris")
    study = Study(iris, {"extent": Extent(2).fit(iris.X, iris.y).selection_})
    page = render(study, lang, sections=[target_section])
    assert f'<h2 id="own-target-h">{title}</h2>' in page
    assert f'<a href="#own-target">{title}</a>' in page
    assert "<p>&lt;" in page
    places = [page.index(f'<section id="{key}"') for key in ("ranking", "own-target", "data")]
    assert places == sorted(places)
    read(page)  # well-formed


def test_own_section_without_content_is_left_out():
    iris = load("iris")
    study = Study(iris, {"extent": Extent(2).fit(iris.X, iris.y).selection_})
    assert render(study, sections=[lambda page: None]) == render(study)
