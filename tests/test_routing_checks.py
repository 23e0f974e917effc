"""scikit-learn's own checks of metadata routing, on every procedure of ours that fits others.

The doubles are those of scikit-learn, and note the rows that they get: each row of X holds its
number. Its checks know its own classes only, and stand here in the same order: nothing is asked for
by default, what nobody spoke of is an error, what was asked for arrives (for the rows in question),
who takes nothing works, scorers and splitters are served.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import KFold
from sklearn.utils.metadata_routing import MetadataRouter

from tamiz import compare, tune
from tamiz.base import Selector
from tamiz.discovery import Shadows, StabilitySelection
from tamiz.embedded import SVMRFE, HoldOutSVM
from tamiz.evaluation import permutation_test
from tamiz.explain import leave_covariate_out, permutation_importance
from tamiz.filters import FisherScore, GrammarFeatures, MultiTarget
from tamiz.search import (
    BackwardElimination,
    BestFirst,
    BranchAndBound,
    ExhaustiveSearch,
    ForwardSelection,
    GeneticSearch,
    SimulatedAnnealing,
)

common = pytest.importorskip("sklearn.tests.metadata_routing_common")
pytestmark = pytest.mark.filterwarnings("ignore")

N = 40
RNG = np.random.default_rng(0)
#: Every value holds the number of its row: the remainder of a division by N.
X = (RNG.integers(-9, 9, (N, 3)) * N + np.arange(N)[:, None]).astype(float)
Y = np.arange(N) % 2
METADATA = {
    "sample_weight": RNG.uniform(0.5, 2.0, N),
    "metadata": RNG.permutation(N).astype(float),
}


def note(registry, rows, **metadata):
    """Keep which rows came, and with what metadata."""
    given = {key: one for key, one in metadata.items() if not isinstance(one, str)}
    registry.append((rows, given))


def rows_of_fit(table):
    """The rows of X in a table, some of whose later columns may be shuffled."""
    return np.asarray(table, dtype=int)[:, 0] % N


def rows_of_score(table):
    """The rows of X in a table, one column of which may be shuffled."""
    numbers = np.asarray(table, dtype=int) % N
    return np.array([Counter(row.tolist()).most_common(1)[0][0] for row in numbers])


def assert_of_their_rows(registry, keys):
    """Whoever was called had exactly these metadata, of the rows that it had."""
    assert registry
    for rows, given in registry:
        assert set(given) == set(keys)
        for key in keys:
            np.testing.assert_array_equal(given[key], METADATA[key][rows])


class JudgeDouble(common.ConsumingClassifier):
    def fit(self, X, y, sample_weight="default", metadata="default"):
        if self.registry is not None:
            note(self.registry, rows_of_fit(X), sample_weight=sample_weight, metadata=metadata)
        self.classes_, self.coef_ = np.unique(y), np.ones_like(X)
        return self


class ScorerDouble(common.ConsumingScorer):
    def __init__(self, noted):
        super().__init__()
        self.noted = noted

    def _score(self, method_caller, estimator, X, y, **metadata):
        note(self.noted, rows_of_score(X), **metadata)
        return super()._score(method_caller, estimator, X, y, **metadata)


class SelectorDouble(Selector):
    """Notes what its ``fit`` gets."""

    def __init__(self, registry=None):
        self.registry = registry

    def fit(self, X, y=None, sample_weight="default", metadata="default"):
        note(self.registry, rows_of_fit(X), sample_weight=sample_weight, metadata=metadata)
        self.n_features_in_ = X.shape[1]
        self._finish(order=np.arange(X.shape[1]), n_selected=1, scores=9.0 - np.arange(X.shape[1]))
        return self


class WithoutMetadata(Selector):
    """A selector that takes nothing besides X and y."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        self._finish(order=np.arange(X.shape[1]), n_selected=1, scores=9.0 - np.arange(X.shape[1]))
        return self


@dataclass
class Procedure:
    """What fits others: how it is made and run."""

    make: Any  # of the inner estimator and further parameters
    inner: type = JudgeDouble
    plain: type = common.NonConsumingClassifier
    judges: bool = True  # whether it has a scorer and a splitter
    more: dict = field(default_factory=dict)

    def run(self, inner, metadata, **params):
        params = {**self.more, **params}
        if self.judges:
            params = {"cv": KFold(2), **params}
            if getattr(inner, "set_score_request", None) and "scoring" not in params:
                params["scoring"] = "accuracy"
        return self.make(inner, metadata, **params)


def of_class(kind):
    return lambda inner, metadata, **params: kind(inner, **params).fit(X, Y, **metadata)


def of_function(function, place):
    def run(inner, metadata, **params):
        given = {"sample_weight": metadata.get("sample_weight")}
        others = {k: v for k, v in metadata.items() if k not in given}
        args = [X, Y]
        args.insert(place, inner)
        return function(*args, **given, params=others, **params)

    return run


def tuned(inner, metadata, **params):
    found = of_function(lambda X, y, e, **more: tune(X, y, e, {"alpha": [0.0, 1.0]}, **more), 2)
    return found(inner, metadata, **params)


def compared(inner, metadata, **params):
    """Judged by the double; what is chosen by name is not asked."""
    options = {"sizes": [1, 2], "scale": None, "nested": False, "random_state": 0}
    options |= {"error_score": "raise", "baselines": (), "repeats": 1, **params}
    run = of_function(lambda X, y, e, **more: compare(X, y, ["fisher"], e, **options, **more), 2)
    return run(inner, metadata)


def selected(inner, metadata, **params):
    """Ranked by the double; what is chosen by name is not asked."""
    options = {"sizes": [1], "cv": 2, "scale": None, "judges": "tree", "nested": False}
    options |= {"error_score": "raise", "baselines": (), "repeats": 1, "random_state": 0, **params}
    run = of_function(lambda X, y, e, **more: compare(X, y, [e], **options, **more), 2)
    return run(inner, metadata)


SELECTING = {"inner": SelectorDouble, "plain": WithoutMetadata, "judges": False}
PROCEDURES = {
    "ForwardSelection": Procedure(of_class(ForwardSelection)),
    "BackwardElimination": Procedure(of_class(BackwardElimination)),
    "ExhaustiveSearch": Procedure(of_class(ExhaustiveSearch)),
    "BestFirst": Procedure(of_class(BestFirst)),
    "GeneticSearch": Procedure(of_class(GeneticSearch), more={"N": 2, "G": 1, "random_state": 0}),
    "SimulatedAnnealing": Procedure(
        of_class(SimulatedAnnealing), more={"T1": 0.5, "m": 1, "random_state": 0}
    ),
    "BranchAndBound": Procedure(
        of_class(BranchAndBound),
        more={"criterion": None, "monotone": True, "n_features_to_select": 1},
    ),
    "tune": Procedure(tuned),
    "permutation_importance": Procedure(
        of_function(permutation_importance, 0), more={"n_repeats": 1}
    ),
    "leave_covariate_out": Procedure(of_function(leave_covariate_out, 0)),
    "permutation_test": Procedure(
        of_function(permutation_test, 0), more={"n_permutations": 2, "random_state": 0}
    ),
    "compare by judge": Procedure(compared),
    "compare of selectors": Procedure(selected, **SELECTING),
    "HoldOutSVM": Procedure(
        lambda inner, metadata, **params: HoldOutSVM(estimator=inner, **params).fit(
            X, Y, **metadata
        ),
        judges=False,
        more={"random_state": 0},
    ),
    "GrammarFeatures": Procedure(
        lambda inner, metadata, **params: GrammarFeatures(selector=inner, **params).fit(
            X, Y, **metadata
        ),
        **SELECTING,
    ),
    "MultiTarget": Procedure(of_class(MultiTarget), **SELECTING),
    "Shadows": Procedure(of_class(Shadows), more={"max_rounds": 20}, **SELECTING),
    "StabilitySelection": Procedure(
        of_class(StabilitySelection), more={"n_subsamples": 4, "random_state": 0}, **SELECTING
    ),
}
#: Searches whose ``fit`` is that of ``ForwardSelection``: one name of metadata will do.
ALIKE = {"BackwardElimination", "ExhaustiveSearch", "BestFirst", "GeneticSearch"}
ALIKE |= {"SimulatedAnnealing"}
CASES = [
    (name, key) for name in PROCEDURES for key in METADATA if name not in ALIKE or key == "metadata"
]


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("name", [name for name in PROCEDURES if name[0].isupper()])
def test_nothing_is_asked_for_by_default(name):
    procedure = PROCEDURES[name]
    inner = procedure.inner(registry=common._Registry())
    kind = globals()[name]
    name = {HoldOutSVM: "estimator", GrammarFeatures: "selector"}.get(kind)
    made = kind(**{name: inner}) if name else kind(inner)
    router = made.get_metadata_routing()
    assert isinstance(router, MetadataRouter)
    # weights and groups are parameters of the procedure itself, which nobody has asked for yet
    common.assert_request_is_empty(router)


@pytest.mark.parametrize(("name", "key"), CASES)
def test_what_nobody_spoke_of_is_an_error(name, key):
    procedure, registry = PROCEDURES[name], common._Registry()
    inner = procedure.inner(registry=registry)
    with pytest.raises(UnsetMetadataPassedError, match=rf"\[{key}\] are passed but are not"):
        procedure.run(inner, {key: METADATA[key]})
    assert not registry


@pytest.mark.parametrize(("name", "key"), CASES)
def test_what_was_asked_for_arrives_with_the_rows(name, key):
    procedure, registry = PROCEDURES[name], common._Registry()
    inner = procedure.inner(registry=registry).set_fit_request(**{key: True})
    if procedure.judges:
        params = {"scoring": common.ConsumingScorer().set_score_request(**{key: True})}
    else:
        params = {}
    procedure.run(inner, {key: METADATA[key]}, **params)
    assert_of_their_rows(registry, [key])
    assert all(len(rows) >= N // 2 for rows, _ in registry)
    whole = ("Shadows", "MultiTarget", "GrammarFeatures")  # which fit all rows in their order
    if name not in whole:
        assert any((rows != np.arange(len(rows))).any() for rows, _ in registry)


@pytest.mark.parametrize("name", PROCEDURES)
def test_what_was_declined_does_not_arrive(name):
    procedure, registry = PROCEDURES[name], common._Registry()
    asked = {"sample_weight": False, "metadata": True}
    inner = procedure.inner(registry=registry).set_fit_request(**asked)
    params = {}
    if procedure.judges:
        params = {"scoring": common.ConsumingScorer().set_score_request(**asked)}
    if name == "HoldOutSVM":  # weights are no parameter of its own
        with pytest.raises(TypeError, match=r"unexpected argument.*'sample_weight'"):
            procedure.run(inner, METADATA)
        return
    procedure.run(inner, METADATA, **params)
    assert_of_their_rows(registry, ["metadata"])
    inner.set_fit_request(metadata=False)  # then nobody wants it, which is an error
    if procedure.judges:
        params["scoring"].set_score_request(metadata=False)
    with pytest.raises(TypeError, match=r"unexpected argument.*'metadata'"):
        procedure.run(inner, METADATA, **params)


@pytest.mark.parametrize("name", PROCEDURES)
def test_who_takes_nothing_works(name):
    procedure = PROCEDURES[name]
    procedure.run(procedure.plain(), {})


@pytest.mark.parametrize("name", PROCEDURES)
def test_aliases_are_followed(name):
    procedure, registry = PROCEDURES[name], common._Registry()
    inner = procedure.inner(registry=registry).set_fit_request(metadata="mine")
    params = {}
    if procedure.judges:
        params = {"scoring": common.ConsumingScorer().set_score_request(metadata="mine")}
    procedure.run(inner, {"mine": METADATA["metadata"]}, **params)
    assert_of_their_rows(registry, ["metadata"])


JUDGING = [name for name, one in PROCEDURES.items() if one.judges]


@pytest.mark.parametrize(("name", "key"), [case for case in CASES if case[0] in JUDGING])
def test_scorers_are_served(name, key):
    procedure, registry = PROCEDURES[name], common._Registry()
    scorer = ScorerDouble(registry).set_score_request(**{key: True})
    inner = common.ConsumingClassifier().set_fit_request(**{key: False})
    procedure.run(inner, {key: METADATA[key]}, scoring=scorer)
    assert_of_their_rows(registry, [key])


@pytest.mark.parametrize("name", JUDGING)
def test_splitters_are_served(name):
    procedure, registry = PROCEDURES[name], common._Registry()
    splitter = common.ConsumingSplitter(registry=registry)
    splitter.set_split_request(groups=False, metadata=True)
    inner = common.ConsumingClassifier().set_fit_request(metadata=False)
    scorer = common.ConsumingScorer().set_score_request(metadata=False)
    procedure.run(inner, {"metadata": METADATA["metadata"]}, cv=splitter, scoring=scorer)
    assert registry
    for one in registry:
        common.check_recorded_metadata(
            one, "split", next(iter(one._records["split"])), metadata=METADATA["metadata"],
            groups=None,
        )  # fmt: skip


def test_a_splitter_of_an_elimination_is_served():
    registry = common._Registry()
    splitter = common.ConsumingSplitter(registry=registry).set_split_request(metadata=True)
    rfe = SVMRFE(n_features_to_select="best", cv=splitter)
    rfe.fit(X, Y, metadata=METADATA["metadata"], sample_weight=METADATA["sample_weight"])
    (one,) = registry
    (calls,) = one._records["split"].values()
    np.testing.assert_array_equal(calls[0]["metadata"], METADATA["metadata"])
    with pytest.raises(TypeError, match="unexpected argument"):
        SVMRFE(n_features_to_select="best", cv=3).fit(X, Y, weather=X[:, 0])


class Strict(ClassifierMixin, BaseEstimator):
    """Fails without metadata, also where nobody else sees it: in another process."""

    def __init__(self, own=0):
        self.own = own

    def fit(self, X, y, metadata=None):
        if metadata is None or len(metadata) != len(y):
            raise AssertionError("no metadata")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize(
    "name",
    [
        "ForwardSelection",
        "tune",
        "permutation_importance",
        "permutation_test",
        "compare by judge",
        "HoldOutSVM",
    ],
)
def test_metadata_reach_workers(name):
    procedure = PROCEDURES[name]
    given = {"metadata": METADATA["metadata"]}
    judge = Strict().set_fit_request(metadata=True)
    if name == "tune":
        found = tune(X, Y, judge, {"own": [0, 1]}, cv=3, n_jobs=2, params=given)
        assert np.isfinite(found.best_error)
        return
    scoring = {"scoring": "accuracy"} if procedure.judges else {}
    procedure.run(judge, given, n_jobs=2, **scoring)


@pytest.mark.parametrize("name", PROCEDURES)
def test_without_routing_other_names_are_refused(name):
    procedure = PROCEDURES[name]
    refused = pytest.raises(TypeError, match=r"unexpected argument 'metadata'.*enable_metadata")
    with config_context(enable_metadata_routing=False), refused:
        procedure.run(procedure.plain(), {"metadata": METADATA["metadata"]})


def test_what_was_given_twice_is_refused():
    judge = clone(common.ConsumingClassifier())
    twice = {"sample_weight": METADATA["sample_weight"]}
    with pytest.raises(ValueError, match="given twice"):
        permutation_importance(judge, X, Y, **twice, params=twice)


@pytest.mark.parametrize("scale", ["auto", None])
def test_a_judge_by_name_is_not_asked_behind_a_scaler_of_its_own_either(scale):
    def errors():
        options = {"cv": 2, "scale": scale, "nested": False, "baselines": (), "repeats": 1}
        options |= {"random_state": 0, "error_score": "raise"}
        weight = METADATA["sample_weight"]
        return compare(X, Y, ["fisher"], sizes=[1, 2], sample_weight=weight, **options).errors

    asked = errors()
    with config_context(enable_metadata_routing=False):
        np.testing.assert_array_equal(asked, errors())


def test_a_selector_by_name_is_not_asked():
    found = Shadows("pearson", max_rounds=20, random_state=0)
    found.fit(X, Y, sample_weight=METADATA["sample_weight"])
    with config_context(enable_metadata_routing=False):
        plain = clone(found).fit(X, Y, sample_weight=METADATA["sample_weight"])
    np.testing.assert_array_equal(found.history_, plain.history_)
    assert not isinstance(FisherScore().get_metadata_routing(), MetadataRouter)
