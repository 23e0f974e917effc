"""scikit-learn's metadata routing: who asked gets it, who did not say is an error.

The doubles note what reaches them, as those of scikit-learn's own tests of meta-estimators do.
"""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version
from sklearn.utils.metadata_routing import MetadataRouter, get_routing_for_object

from tamiz.base import Selector
from tamiz.discovery import Shadows, StabilitySelection
from tamiz.filters import FisherScore, MultiTarget
from tamiz.search import (
    BackwardElimination,
    BestFirst,
    ExhaustiveSearch,
    ForwardSelection,
    GeneticSearch,
    SimulatedAnnealing,
)
from tamiz.svm import SVC

SEEN: list[dict] = []
SEARCHES = [
    ForwardSelection,
    BackwardElimination,
    ExhaustiveSearch,
    BestFirst,
    GeneticSearch,
    SimulatedAnnealing,
]


class ConsumingClassifier(ClassifierMixin, BaseEstimator):
    """Notes the weights that reach ``fit`` and ``score``."""

    def fit(self, X, y, sample_weight=None):
        SEEN.append({"method": "fit", "sample_weight": sample_weight, "n": len(y)})
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y, sample_weight=None):
        SEEN.append({"method": "score", "sample_weight": sample_weight, "n": len(y)})
        return 0.5


class ConsumingSelector(Selector):
    """Notes the weights and groups that reach ``fit``."""

    divides_samples = True

    def fit(self, X, y=None, sample_weight=None, groups=None):
        SEEN.append({"sample_weight": sample_weight, "groups": groups, "n": len(y)})
        self.n_features_in_ = X.shape[1]
        self._finish(order=np.arange(X.shape[1]), n_selected=1, scores=-np.arange(X.shape[1]) + 9.0)
        return self


@pytest.fixture(autouse=True)
def routing():
    SEEN.clear()
    with config_context(enable_metadata_routing=True):
        yield


def data(n=24):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), np.arange(n) % 2
    return X, y, rng.uniform(0.5, 2.0, n), np.repeat(np.arange(n // 4), 4)


def search(kind, judge, **options):
    own = {"N": 2, "G": 1} if kind is GeneticSearch else {}
    if kind is SimulatedAnnealing:
        own = {"max_evaluations": 4} if "max_evaluations" in kind().get_params() else {}
    seed = {"random_state": 0} if "random_state" in kind().get_params() else {}
    return kind(judge, cv=3, **seed, **own, **options)


@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("fitted", [True, False])
@pytest.mark.parametrize("scored", [True, False])
def test_weights_reach_who_asked_for_them(kind, fitted, scored):
    X, y, weight, _ = data()
    judge = ConsumingClassifier().set_fit_request(sample_weight=fitted)
    judge.set_score_request(sample_weight=scored)
    search(kind, judge).fit(X, y, sample_weight=weight)
    for method, wanted in (("fit", fitted), ("score", scored)):
        calls = [call for call in SEEN if call["method"] == method]
        assert calls
        for call in calls:
            assert (call["sample_weight"] is not None) == wanted
            if wanted:
                assert len(call["sample_weight"]) == call["n"]
                assert set(call["sample_weight"]) <= set(weight)


@pytest.mark.parametrize("kind", SEARCHES)
def test_who_did_not_say_is_an_error(kind):
    X, y, weight, _ = data()
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        search(kind, ConsumingClassifier()).fit(X, y, sample_weight=weight)
    assert SEEN == []
    search(kind, ConsumingClassifier()).fit(X, y)
    assert all(call["sample_weight"] is None for call in SEEN)


routes_scores = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.7"),
    reason="scikit-learn asks scorers in another way",
)


@routes_scores
def test_the_metric_and_the_splitter_are_asked():
    X, y, weight, groups = data()
    judge = SVC(kernel="linear").set_fit_request(sample_weight=True)
    notes = []

    def metric(truth, predicted, sample_weight=None):
        notes.append(sample_weight)
        return accuracy_score(truth, predicted, sample_weight=sample_weight)

    scorer = make_scorer(metric)
    chosen = ForwardSelection(judge, cv=GroupKFold(3), scoring=scorer, n_features_to_select=1)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        chosen.fit(X, y, sample_weight=weight, groups=groups)
    chosen.set_params(scoring=scorer.set_score_request(sample_weight=True))
    chosen.fit(X, y, sample_weight=weight, groups=groups)
    assert notes and all(len(part) == 8 for part in notes)
    router = chosen.get_metadata_routing()
    assert isinstance(router, MetadataRouter)
    assert router.consumes("fit", ["sample_weight", "groups", "other"]) == {
        "sample_weight",
        "groups",
    }


@routes_scores
def test_weights_go_through_a_pipeline_and_a_meta_estimator_around_it():
    X, y, weight, _ = data()
    judge = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=False),
        SVC(kernel="linear")
        .set_fit_request(sample_weight=True)
        .set_score_request(sample_weight=True),
    )
    chosen = ForwardSelection(judge, cv=2, n_features_to_select=1)
    chosen.set_fit_request(sample_weight=True, groups=False)
    last = SVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    model = make_pipeline(chosen, last)
    found = cross_validate(model, X, y, cv=2, params={"sample_weight": weight}, error_score="raise")
    assert len(found["test_score"]) == 2
    with config_context(enable_metadata_routing=False):
        plain = ForwardSelection(clone(judge), cv=2, n_features_to_select=1)
        plain.fit(X, y, sample_weight=weight)
    chosen.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(chosen.order_, plain.order_)


@pytest.mark.parametrize(
    "make",
    [
        lambda inner: MultiTarget(inner),
        lambda inner: make_pipeline(MultiTarget(inner).set_fit_request(sample_weight=True)),
    ],
)
@pytest.mark.parametrize("wanted", [True, False])
def test_selectors_of_selectors_pass_weights_on(make, wanted):
    X, y, weight, _ = data()
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        make(ConsumingSelector()).fit(X, y, sample_weight=weight)
    inner = ConsumingSelector().set_fit_request(sample_weight=wanted)
    make(inner).fit(X, y, sample_weight=weight)
    assert SEEN
    assert all((call["sample_weight"] is not None) == wanted for call in SEEN)


@pytest.mark.parametrize("wanted", [True, False])
def test_shadows_pass_weights_on(wanted):
    X, y, weight, _ = data(60)
    shadows = Shadows(FisherScore(), max_rounds=20, random_state=0)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        clone(shadows).fit(X, y, sample_weight=weight)
    inner = FisherScore().set_fit_request(sample_weight=wanted)
    got = clone(shadows).set_params(selector=inner).fit(X, y, sample_weight=weight)
    with config_context(enable_metadata_routing=False):
        want = clone(shadows).fit(X, y, sample_weight=weight if wanted else None)
        other = clone(shadows).fit(X, y, sample_weight=None if wanted else weight)
    np.testing.assert_array_equal(got.history_, want.history_)
    assert not np.array_equal(got.history_, other.history_)


@pytest.mark.parametrize("wanted", [True, False])
def test_stability_selection_passes_groups_on(wanted):
    X, y, _, groups = data(80)
    with pytest.raises(UnsetMetadataPassedError, match="groups"):
        StabilitySelection(ConsumingSelector(), n_subsamples=4).fit(X, y, groups=groups)
    inner = ConsumingSelector().set_fit_request(groups=wanted)
    StabilitySelection(inner, n_subsamples=4, random_state=0).fit(X, y, groups=groups)
    assert SEEN
    assert all((call["groups"] is not None) == wanted for call in SEEN)


ALIASED = {
    "estimator": lambda: ForwardSelection(
        ConsumingClassifier()
        .set_fit_request(sample_weight="w2")
        .set_score_request(sample_weight=False)
    ),
    "scorer": lambda: ForwardSelection(
        ConsumingClassifier().set_fit_request(sample_weight=True),
        scoring=make_scorer(accuracy_score).set_score_request(sample_weight="w2"),
    ),
    "step": lambda: ForwardSelection(
        make_pipeline(
            StandardScaler().set_fit_request(sample_weight="w2"),
            ConsumingClassifier()
            .set_fit_request(sample_weight=True)
            .set_score_request(sample_weight=True),
        ),
    ),
    "selector": lambda: Shadows(FisherScore().set_fit_request(sample_weight="w2")),
    "targets": lambda: MultiTarget(FisherScore().set_fit_request(sample_weight="w2")),
    "selector of a selector": lambda: Shadows(
        MultiTarget(FisherScore().set_fit_request(sample_weight=True)).set_fit_request(
            sample_weight="w2"
        )
    ),
}


@pytest.mark.parametrize(
    "make",
    [pytest.param(v, id=k, marks=routes_scores if k == "step" else ()) for k, v in ALIASED.items()],
)
def test_a_request_by_another_name_is_refused(make):
    X, y, weight, _ = data(60)
    told = r"asks for sample_weight by the name .*set_(fit|score)_request\(sample_weight=True\)"
    with pytest.raises(ValueError, match=told):
        make().fit(X, y, sample_weight=weight)
    assert SEEN == []


def test_names_of_requests_matter_to_what_is_given_only():
    X, y, weight, groups = data()
    judge = ConsumingClassifier().set_fit_request(sample_weight="w2")
    judge.set_score_request(sample_weight=False)
    ForwardSelection(judge, cv=3).fit(X, y)
    ForwardSelection(judge, cv=3).fit(X, y, groups=groups)
    assert SEEN and all(call["sample_weight"] is None for call in SEEN)
    judge.set_fit_request(sample_weight="groups")
    SEEN.clear()
    ForwardSelection(judge, cv=3).fit(X, y, groups=groups)  # its weights are the groups
    assert all(
        np.isin(call["sample_weight"], groups).all() for call in SEEN if call["method"] == "fit"
    )
    # what stands around the search may call its own as it likes
    judge.set_fit_request(sample_weight=True)
    search = ForwardSelection(judge, cv=3, n_features_to_select=1)
    search.set_fit_request(sample_weight="w2", groups=False)
    last = SVC().set_fit_request(sample_weight=False)
    SEEN.clear()
    make_pipeline(search, last).fit(X, y, w2=weight)
    fits = [call for call in SEEN if call["method"] == "fit"]
    assert fits and all(call["sample_weight"] is not None for call in fits)


def test_a_splitter_that_declines_groups_does_not_get_them():
    X, y, _, groups = data()
    judge = SVC(kernel="linear")
    cv = GroupKFold(3).set_split_request(groups=False)
    with pytest.raises(ValueError, match=r"set_split_request\(groups=False\).*'groups' parameter"):
        ForwardSelection(judge, cv=cv).fit(X, y, groups=groups)
    ForwardSelection(judge, cv=GroupKFold(3)).fit(X, y, groups=groups)
    ForwardSelection(judge, cv=3).fit(X, y, groups=groups)


@pytest.mark.parametrize(
    "estimator",
    [*(kind() for kind in SEARCHES), MultiTarget(), Shadows(), StabilitySelection(FisherScore())],
)
def test_every_router_can_be_asked_and_copied(estimator):
    found = get_routing_for_object(clone(estimator))
    assert isinstance(found, MetadataRouter)
    assert "fit" in str(found)


def test_without_routing_everything_is_as_before():
    X, y, weight, _ = data()
    with config_context(enable_metadata_routing=False):
        ForwardSelection(ConsumingClassifier(), cv=3).fit(X, y, sample_weight=weight)
        MultiTarget(FisherScore()).fit(X, y, sample_weight=weight)
    assert all(call["sample_weight"] is not None for call in SEEN)
