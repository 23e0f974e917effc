"""Callbacks hear of every loop in order, may end it, and are torn down whatever happens."""

from __future__ import annotations

import inspect
import pickle
import threading
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

import tamiz
from tamiz.callbacks import StopAfter, StoppedByCallbackError, TakesCallbacks, use_callbacks
from tamiz.discovery import Knockoffs, Shadows, StabilitySelection
from tamiz.embedded import (
    AROM,
    FSV,
    KPSVM,
    L0L2SVM,
    L1L2SVM,
    L1SVM,
    MILPSVM,
    SVMRFE,
    AdaptiveScaling,
    ForestImportance,
    HoldOutSVM,
    RadiusMarginScaling,
    RobustLP,
)
from tamiz.filters import (
    CFS,
    CMIM,
    JMI,
    MRMR,
    QPFS,
    FisherScore,
    GrammarFeatures,
    MaxDep,
    MultiTarget,
    Relief,
    ReliefF,
    RReliefF,
)
from tamiz.search import (
    BackwardElimination,
    BestFirst,
    BranchAndBound,
    ExhaustiveSearch,
    ForwardSelection,
    GeneticSearch,
    SimulatedAnnealing,
)
from tamiz.svm import (
    SVC,
    SVDD,
    SVR,
    BudgetSVC,
    HardMarginSVC,
    LinearMachine,
    LinearMachineRegressor,
    OneClassSVM,
    PegasosClassifier,
    PerceptronClassifier,
    SubgradientClassifier,
)
from tamiz.tree import (
    BoostingClassifier,
    BoostingRegressor,
    CARTClassifier,
    CARTRegressor,
    ForestClassifier,
)

pytestmark = pytest.mark.filterwarnings("ignore")

has_callbacks = parse_version(sklearn.__version__) >= parse_version("1.9")


class Recorder:
    """Notes each hook, and fails or asks for the end where it is told to."""

    def __init__(self, fail_at=None, stop_after=None):
        self.events = []
        self.tasks = {}
        self.fail_at = fail_at
        self.stop_after = stop_after
        self.lock = threading.Lock()  # cannot be pickled

    def note(self, hook, context):
        self.events.append((hook, context.task_name, context.task_id))
        if self.fail_at == hook:
            raise ValueError(f"failed at {hook}")

    def setup(self, estimator, context):
        self.note("setup", context)

    def on_fit_task_begin(self, estimator, context):
        assert id(context) not in self.tasks
        self.tasks[id(context)] = context
        self.note("begin", context)

    def on_fit_task_end(self, estimator, context):
        assert self.tasks.pop(id(context), None) is context
        self.note("end", context)
        steps = [one for one in self.events if one[0] == "end" and one[1].endswith(" step")]
        return self.stop_after is not None and len(steps) >= self.stop_after

    def teardown(self, estimator, context):
        self.note("teardown", context)

    def count(self, hook):
        return sum(event[0] == hook for event in self.events)

    def assert_balanced(self):
        hooks = [hook for hook, *_ in self.events]
        assert hooks[0] == "setup" and hooks[-1] == "teardown"
        assert hooks.count("setup") == hooks.count("teardown") == 1
        assert hooks.count("begin") == hooks.count("end") > 0
        depth = np.cumsum([{"begin": 1, "end": -1}.get(hook, 0) for hook in hooks])
        assert depth.min() == 0 and depth[-1] == 0 and depth.max() <= 3
        assert not self.tasks


class Propagated(Recorder):
    """As scikit-learn's progress bar: set on what stands around, followed inside as well."""

    max_propagation_depth = None


def data(n=60, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)
    return X, y


#: Estimators whose fit has loops.
LOOPS = {
    "SVMRFE": lambda: SVMRFE(n_features_to_select=2, step=1, kernel="rbf"),
    "SVMRFE with folds": lambda: SVMRFE(n_features_to_select="best", cv=3),
    "HoldOutSVM": lambda: HoldOutSVM(kernel="linear", random_state=0),
    "AdaptiveScaling": lambda: AdaptiveScaling(n_features_to_select=2),
    "ForwardSelection": lambda: ForwardSelection(SVC(), cv=2),
    "ExhaustiveSearch": lambda: ExhaustiveSearch(SVC(kernel="linear"), cv=2),
    "BestFirst": lambda: BestFirst(SVC(kernel="linear"), cv=2),
    "GeneticSearch": lambda: GeneticSearch(SVC(kernel="linear"), cv=2, N=4, G=3, random_state=0),
    "SimulatedAnnealing": lambda: SimulatedAnnealing(
        SVC(kernel="linear"), cv=2, T1=0.5, m=2, random_state=0
    ),
    "StabilitySelection": lambda: StabilitySelection(
        FisherScore(), n_subsamples=10, random_state=0
    ),
    "Shadows": lambda: Shadows(FisherScore(), max_rounds=20, random_state=0),
    "Knockoffs": lambda: Knockoffs(FisherScore(), n_draws=3, random_state=0),
    "PegasosClassifier": lambda: PegasosClassifier(max_iter=5, random_state=0),
    "PerceptronClassifier": lambda: PerceptronClassifier(max_iter=5),
    "CARTClassifier": lambda: CARTClassifier(),
    "ForestClassifier": lambda: ForestClassifier(35, random_state=0),
    "BoostingClassifier": lambda: BoostingClassifier(5),
    "CFS": lambda: CFS(),
    "Relief": lambda: Relief(),
    "QPFS": lambda: QPFS(2),
    "MRMR": lambda: MRMR(2),
    "JMI": lambda: JMI(4),
    "SVC": lambda: SVC(),
    "LinearMachine": lambda: LinearMachine(),
    "AROM": lambda: AROM(2),
    "FSV": lambda: FSV(),
    "KPSVM": lambda: KPSVM(),
    "L0L2SVM": lambda: L0L2SVM(),
    "L1L2SVM": lambda: L1L2SVM(),
    "L1SVM": lambda: L1SVM(),
    "MILPSVM": lambda: MILPSVM(),
    "RobustLP": lambda: RobustLP(),
    "RadiusMarginScaling": lambda: RadiusMarginScaling(n_features_to_select=2),
    "ForestImportance": lambda: ForestImportance(2, n_estimators=35, random_state=0),
    "GrammarFeatures": lambda: GrammarFeatures(3, depth=2, max_candidates=60, random_state=0),
    "MultiTarget": lambda: MultiTarget(),
    "MaxDep": lambda: MaxDep(),
    "CMIM": lambda: CMIM(4),
    "RReliefF": lambda: RReliefF(),
    "ReliefF": lambda: ReliefF(),
    "BackwardElimination": lambda: BackwardElimination(SVC(kernel="linear"), cv=2),
    "BranchAndBound": lambda: BranchAndBound(n_features_to_select=2),
    "SVDD": lambda: SVDD(),
    "SVR": lambda: SVR(),
    "OneClassSVM": lambda: OneClassSVM(),
    "HardMarginSVC": lambda: HardMarginSVC(kernel="rbf"),
    "BudgetSVC": lambda: BudgetSVC(),
    "LinearMachineRegressor": lambda: LinearMachineRegressor(),
    "SubgradientClassifier": lambda: SubgradientClassifier(),
    "BoostingRegressor": lambda: BoostingRegressor(5),
    "CARTRegressor": lambda: CARTRegressor(),
}

#: Estimators that are done with each feature, or with all samples, at once.
WITHOUT_LOOPS = {
    *("AUCScore", "ChiSquared", "FisherScore", "InformationGain", "InformationValue"),
    *("KolmogorovSmirnov", "MaxRel", "PearsonScore", "SignalToNoise", "StumpError"),
    *("StableFeatures", "SymmetricalUncertainty", "WelchT"),
    *("AutoScaler", "CovariateAdjuster", "Discretiser", "KNNClassifier", "WeightOfEvidence"),
}

#: Those that keep what they have when a callback ends them after two steps.
KEEPING = [
    "SVMRFE",
    "SVMRFE with folds",
    "HoldOutSVM",
    "AdaptiveScaling",
    "ForwardSelection",
    "ExhaustiveSearch",
    "BestFirst",
    "GeneticSearch",
    "SimulatedAnnealing",
    "Shadows",
    "Knockoffs",
    "JMI",
    "PegasosClassifier",
    "PerceptronClassifier",
    "RadiusMarginScaling",
    "BackwardElimination",
    "BranchAndBound",
    "CMIM",
]


@pytest.mark.parametrize("name", LOOPS)
def test_every_loop_is_followed_and_changes_nothing(name):
    X, y = data()
    heard = Recorder()
    fitted = LOOPS[name]().set_callbacks(heard).fit(X, y)
    heard.assert_balanced()
    assert heard.events[1] == ("begin", "fit", 0)
    assert heard.events[2][0] == "begin" and heard.events[3][0] == "begin"
    assert {event[1] for event in heard.events if event[1].endswith(" step")}
    alone = LOOPS[name]().fit(X, y)
    if hasattr(alone, "order_"):
        np.testing.assert_array_equal(fitted.order_, alone.order_)
    elif hasattr(alone, "outputs_"):
        np.testing.assert_array_equal(fitted.transform(X), alone.transform(X))
    else:
        np.testing.assert_array_equal(fitted.predict(X), alone.predict(X))
    left = set(fitted.__dict__) ^ set(alone.__dict__)
    assert left == {"_skl_callbacks"}


@pytest.mark.parametrize("name", KEEPING)
def test_a_loop_that_is_ended_keeps_what_it_reached(name):
    X, y = data()
    heard = Recorder(stop_after=2)
    fitted = LOOPS[name]().set_callbacks(heard).fit(X, y)
    heard.assert_balanced()
    steps = [one for one in heard.events if one[0] == "end" and one[1].endswith(" step")]
    assert len(steps) == 2
    assert fitted.status_ == "interrupted"
    assert len(fitted.order_ if hasattr(fitted, "order_") else fitted.predict(X))


@pytest.mark.parametrize(
    ("model", "steps", "part"),
    [
        (ForestClassifier(35, random_state=0), 2, ForestClassifier(20, random_state=0)),
        (ForestClassifier(35, random_state=0), 4, ForestClassifier(35, random_state=0)),
        (BoostingClassifier(6), 3, BoostingClassifier(3)),
        (BoostingRegressor(6), 3, BoostingRegressor(3)),
    ],
)
def test_trees_that_are_there_are_kept(model, steps, part):
    X, y = data()
    y = y + (X[:, 2] > 0.5)  # three classes: several trees in a round of boosting
    heard = Recorder(stop_after=steps)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = clone(model).set_callbacks(heard).fit(X, y)
    heard.assert_balanced()
    fewer = part.n_estimators < model.n_estimators
    said = [str(one.message) for one in caught]
    assert sum("trees that there are are kept" in one for one in said) == fewer
    expected = part.fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), expected.predict(X))
    for one, other in zip(fitted.forest_, expected.forest_, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_ranking_by_a_forest_is_that_of_the_trees_that_are_there():
    X, y = data()
    heard = Recorder(stop_after=2)
    fitted = ForestImportance(n_estimators=200, random_state=0).set_callbacks(heard).fit(X, y)
    heard.assert_balanced()
    assert [name for hook, name, _ in heard.events if hook == "begin"][:2] == ["fit", "forest"]
    fewer = ForestImportance(n_estimators=20, random_state=0).fit(X, y)
    np.testing.assert_array_equal(fitted.scores_, fewer.scores_)


def test_levels_of_growth_that_are_done_are_kept():
    X, y = data()
    shallow = GrammarFeatures(3, operators=["product", "square"]).fit(X, y)
    deep = GrammarFeatures(3, operators=["product", "square"], depth=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ended = clone(deep).set_callbacks(Recorder(stop_after=4)).fit(X, y)  # in the second level
    assert ended.status_ == "interrupted" and shallow.status_ == "finished"
    assert any("1 of 3 levels" in str(one.message) for one in caught)
    assert ended.get_feature_names_out().tolist() == shallow.get_feature_names_out().tolist()
    np.testing.assert_array_equal(ended.transform(X), shallow.transform(X))
    assert ended.n_candidates_ == shallow.n_candidates_
    with pytest.raises(StoppedByCallbackError, match="GrammarFeatures"):
        clone(deep).set_callbacks(Recorder(stop_after=2)).fit(X, y)


def test_scores_for_some_of_the_targets_are_no_answer():
    X, y = data()
    targets = np.column_stack([y, X[:, 2] > 0, X[:, 3] > 0]).astype(int)
    heard = Recorder()
    MultiTarget().set_callbacks(heard).fit(X, targets)
    heard.assert_balanced()
    assert sum(one[:2] == ("end", "MultiTarget step") for one in heard.events) == 3
    with pytest.raises(StoppedByCallbackError, match="MultiTarget"):
        MultiTarget().set_callbacks(Recorder(stop_after=2)).fit(X, targets)


def test_what_is_kept_is_the_best_so_far():
    X, y = data()
    fitted = LOOPS["ExhaustiveSearch"]().set_callbacks(StopAfter(steps=5)).fit(X, y)
    visits = [step for step in fitted.selection_.path if step.action == "visit"]
    assert len(visits) == 5
    best = max(visits, key=lambda step: step.value)
    assert set(np.flatnonzero(fitted.support_)) == set(best.features)


def test_before_there_is_anything_to_keep_it_is_an_error_that_says_so():
    X, y = data()
    heard = Recorder(stop_after=1)
    stability = LOOPS["StabilitySelection"]().set_callbacks(heard)
    with pytest.raises(StoppedByCallbackError, match="StabilitySelection was ended by a callback"):
        stability.fit(X, y)
    heard.assert_balanced()
    assert not hasattr(stability, "support_")
    found = pickle.loads(pickle.dumps(StoppedByCallbackError("SVC")))
    assert found.procedure == "SVC" and "SVC was ended" in str(found)


@pytest.mark.parametrize("hook", ["setup", "begin", "end", "teardown"])
@pytest.mark.parametrize("name", ["SVMRFE", "ForwardSelection", "StabilitySelection", "SVC"])
def test_the_error_of_a_callback_is_the_error_of_the_fit(name, hook):
    X, y = data()
    failing, other = Recorder(fail_at=hook), Recorder()
    estimator = LOOPS[name]().set_callbacks(other, failing)
    with pytest.raises(ValueError, match=f"failed at {hook}"):
        estimator.fit(X, y)
    assert failing.count("setup") == failing.count("teardown") == 1
    assert other.count("setup") == other.count("teardown") == 1
    assert other.count("begin") == other.count("end")
    estimator.set_callbacks(other).fit(X, y)  # nothing is left behind
    assert estimator.set_callbacks().fit(X, y) is estimator


def test_an_error_of_the_fit_ends_all_tasks():
    X, y = data()

    class Failing(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            raise ZeroDivisionError("no")

        def predict(self, X):
            raise AssertionError

    heard = Recorder()
    with pytest.raises(ZeroDivisionError):
        ForwardSelection(Failing(), cv=2).set_callbacks(heard).fit(X, y)
    heard.assert_balanced()
    assert heard.count("begin") == 3


@pytest.mark.parametrize("name", ["ForwardSelection", "StabilitySelection", "Shadows", "Knockoffs"])
def test_callbacks_stay_with_the_caller_of_workers(name):
    X, y = data()
    alone, several = Recorder(), Recorder()  # neither can be sent
    LOOPS[name]().set_params(n_jobs=1).set_callbacks(alone).fit(X, y)
    LOOPS[name]().set_params(n_jobs=2).set_callbacks(several).fit(X, y)
    several.assert_balanced()
    assert several.count("end") >= 3
    if name != "ForwardSelection":  # which judges more than it needs where workers are free
        assert several.events == alone.events


def test_what_is_fitted_inside_is_not_heard_but_what_has_callbacks_itself_is():
    X, y = data()
    outer, inner = Recorder(), Recorder()
    judge = SVC(kernel="linear", verbose=0).set_callbacks(inner)
    ForwardSelection(judge, cv=2, n_features_to_select=1).set_callbacks(outer).fit(X, y)
    assert {event[1] for event in outer.events} == {
        "fit",
        "ForwardSelection",
        "ForwardSelection step",
    }
    outer.assert_balanced()
    assert inner.count("setup") == inner.count("teardown") > 0
    assert inner.count("begin") == inner.count("end") > 0


def test_a_judge_is_not_ended_by_a_callback_of_its_own():
    X, y = data()

    class Impatient(Recorder):
        def on_fit_task_end(self, estimator, context):
            return True

    judge = PegasosClassifier(max_iter=3, random_state=0)
    plain = ForwardSelection(judge, cv=2, n_features_to_select=2).fit(X, y)
    ended = ForwardSelection(clone(judge).set_callbacks(Impatient()), cv=2, n_features_to_select=2)
    np.testing.assert_array_equal(ended.fit(X, y).order_, plain.order_)


def test_copies_have_the_same_callbacks():
    heard = Recorder()
    first = SVMRFE().set_callbacks(heard)
    second = clone(first)
    second.fit(*data())
    heard.assert_balanced()
    assert "callbacks" not in first.get_params()
    second.set_callbacks()
    second.fit(*data())
    assert heard.count("setup") == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (Recorder, "Recorder is a class; pass an instance"),
        (None, "None has no setup"),
        (print, "has no setup, on_fit_task_begin"),
    ],
)
def test_what_is_no_callback_is_refused(wrong, said):
    with pytest.raises(TypeError, match=said):
        SVC().set_callbacks(wrong)


def test_functions_are_followed():
    X, y = data()
    heard = Recorder()
    with use_callbacks(heard):
        tamiz.tune(X, y, SVC(), {"C": [1.0, 10.0]}, cv=2)
        SVMRFE().fit(X, y)
    heard.assert_balanced()
    loops = [name for hook, name, _ in heard.events if hook == "begin"]
    assert loops.count("tuning") == 1 and loops.count("SVMRFE") == 1
    assert loops.count("tuning step") == 4
    with use_callbacks(StopAfter(steps=2)):
        found = tamiz.tune(X, y, SVC(), {"C": [1.0, 10.0]}, cv=2, fast=False)
    assert found.interrupted and found.best_params == {"C": 1.0}
    ended = pytest.raises(StoppedByCallbackError, match="tuning was ended")
    with ended, use_callbacks(StopAfter(steps=1)):
        tamiz.tune(X, y, SVC(), {"C": [1.0, 10.0]}, cv=2, fast=False)


def test_ctrl_c_after_an_ended_loop_stays_what_it_is():
    X, y = data()
    found = None

    def interrupted_later():
        nonlocal found
        with use_callbacks(StopAfter(steps=2)):
            found = tamiz.tune(X, y, SVC(), {"C": [1.0, 10.0]}, cv=2, fast=False)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        interrupted_later()
    assert found.interrupted and caught.type is KeyboardInterrupt


@pytest.mark.parametrize("by_name", [(), ("sample_weight",), ("y", "sample_weight")])
def test_hooks_get_what_was_passed_by_position(by_name):
    X, y = data()
    given = {"X": X, "y": y, "sample_weight": np.linspace(0.5, 1.5, len(y))}
    seen = []

    class Asking(Recorder):
        def on_fit_task_begin(self, estimator, context, *, X, y, metadata):
            super().on_fit_task_begin(estimator, context)
            seen.append((X, y, metadata))

    named = {name: given.pop(name) for name in by_name}
    SVMRFE().set_callbacks(Asking()).fit(*given.values(), **named)
    given |= named
    assert seen
    for X_, y_, metadata in seen:
        assert X_ is X and y_ is y and list(metadata) == ["sample_weight"]
        assert metadata["sample_weight"] is given["sample_weight"]


def test_comparisons_are_followed_and_ended():
    X, y = data()
    options = {"sizes": [1, 2], "cv": 2, "random_state": 0, "judges": "linear"}
    most = []

    class Asking(Recorder):
        def on_fit_task_begin(self, estimator, context):
            super().on_fit_task_begin(estimator, context)
            most.append(context.max_subtasks)

    heard = Asking()
    with use_callbacks(heard):
        found = tamiz.compare(X, y, ["fisher", "signal_to_noise"], **options)
    heard.assert_balanced()
    steps = [one for one in heard.events if one[0] == "end" and one[1] == "compare step"]
    assert found.status == "complete"
    assert most[:2] == [None, len(steps)]
    with use_callbacks(StopAfter(steps=1)):
        found = tamiz.compare(X, y, ["fisher", "signal_to_noise"], **options)
    assert found.status == "interrupted"


def test_hooks_get_what_they_ask_for():
    X, y = data()
    weight = np.linspace(0.5, 1.5, len(y))
    seen = []

    class Asking(Recorder):
        def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
            super().on_fit_task_end(estimator, context)
            seen.append((context.parent is None, X, y, metadata, fitted_estimator))

    machine = SVMRFE().set_callbacks(Asking()).fit(X, y, sample_weight=weight)
    assert all(one[1] is X and one[2] is y for one in seen)
    assert all(one[3]["sample_weight"] is weight for one in seen)
    assert [one[4] is not None for one in seen] == [one[0] for one in seen]
    np.testing.assert_array_equal(seen[-1][4].predict(X), machine.predict(X))

    class Wrong(Recorder):
        def on_fit_task_begin(self, estimator, context, *, weather=None):
            pass

    with pytest.raises(TypeError, match="weather"):
        SVMRFE().set_callbacks(Wrong()).fit(X, y)


def estimators():
    """Every public class with a fit."""
    found = {}
    for room in tamiz.__dir__():
        module = getattr(tamiz, room)
        for name in getattr(module, "__all__", ()) if inspect.ismodule(module) else ():
            one = getattr(module, name)
            if inspect.isclass(one) and hasattr(one, "fit") and issubclass(one, BaseEstimator):
                found[name] = one
    return found


def test_every_public_estimator_takes_callbacks():
    found = estimators()
    assert len(found) > 50
    for name, one in found.items():
        assert issubclass(one, TakesCallbacks), name
        assert hasattr(one.fit, "_heard"), name
        assert "X" in inspect.signature(one.fit).parameters, name


def test_every_public_estimator_has_its_loops_tested_or_has_none():
    tested = {type(make()).__name__ for make in LOOPS.values()}
    assert tested | WITHOUT_LOOPS == set(estimators())
    assert not tested & WITHOUT_LOOPS


@pytest.mark.parametrize("make", [ForestClassifier, BoostingClassifier, StandardScaler, SVR])
def test_fits_without_loops_are_one_task(make):
    X, y = data()
    heard = Recorder()
    if make is StandardScaler:
        pytest.skip("of scikit-learn") if not has_callbacks else None
    make().set_callbacks(heard).fit(X, y)
    heard.assert_balanced()


@pytest.mark.skipif(not has_callbacks, reason="scikit-learn has no callbacks yet")
def test_tasks_of_a_step_join_those_of_a_pipeline():
    X, y = data()
    heard = Propagated()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make_pipeline(StandardScaler(), SVMRFE(n_features_to_select=2), SVC())
        model.set_callbacks(heard).fit(X, y)
    names = [name for hook, name, _ in heard.events if hook == "begin"]
    assert "SVMRFE step" in names
    assert heard.count("setup") == heard.count("teardown") == 1
    assert heard.count("begin") == heard.count("end")
    for step in model:
        assert not {"_skl_callbacks", "_parent_callback_ctx"} & set(step.__dict__)


@pytest.mark.skipif(not has_callbacks, reason="scikit-learn has no callbacks yet")
def test_callbacks_of_scikit_learn(capsys):
    from sklearn.callback import ProgressBar, ScoringMonitor

    X, y = data()
    monitor = ScoringMonitor(scoring="accuracy")
    callbacks = [monitor]
    if find_spec("rich"):
        callbacks.append(ProgressBar())
    machine = SVMRFE(n_features_to_select=2).set_callbacks(*callbacks).fit(X, y)
    logs = monitor.get_logs()
    (row,) = logs.data
    assert row["accuracy"] == pytest.approx(machine.score(X, y))
    assert len(callbacks) == 1 or "SVMRFE" in capsys.readouterr().out


@pytest.mark.skipif(not has_callbacks, reason="scikit-learn has no callbacks yet")
@pytest.mark.parametrize("name", LOOPS)
def test_the_doubles_of_scikit_learn_are_served(name):
    doubles = pytest.importorskip("sklearn.callback.tests._utils")
    X, y = data()
    plain, inside = doubles.RecordingCallback(), doubles.RecordingAutoPropagatedCallback()
    model = make_pipeline(StandardScaler(), LOOPS[name]().set_callbacks(plain))
    model.set_callbacks(inside).fit(X, y)
    for callback in (plain, inside):
        assert callback.count_hooks("setup") == callback.count_hooks("teardown") == 1
        begun = callback.count_hooks("on_fit_task_begin")
        assert begun == callback.count_hooks("on_fit_task_end") > 2
    contexts = {id(note["context"]): note["context"] for note in inside.record}
    paths = set()
    for context in contexts.values():
        path = []
        while context is not None:
            path.append(context.task_id)
            context = context.parent
        paths.add(tuple(path))
    assert len(paths) == len(contexts)  # one tree, no task of which is there twice
    with pytest.raises(TypeError, match="not_valid_kwarg"):
        LOOPS[name]().set_callbacks(doubles.NotValidHookCallback()).fit(X, y)
    for hook in ("setup", "on_fit_task_begin", "on_fit_task_end", "teardown"):
        failing = doubles.FailingCallback(fail_at=hook)
        with pytest.raises(ValueError, match=f"failed at {hook}"):
            LOOPS[name]().set_callbacks(failing).fit(X, y)
        assert failing.count_hooks("setup") == failing.count_hooks("teardown") == 1


def test_a_saved_model_has_no_callbacks(tmp_path):
    X, y = data()
    machine = SVC().set_callbacks(Recorder()).fit(X, y)
    tamiz.save(machine, tmp_path / "model")
    found = tamiz.load(tmp_path / "model")
    np.testing.assert_array_equal(found.predict(X), machine.predict(X))
    assert "_skl_callbacks" not in found.__dict__ and "_skl_callbacks" in machine.__dict__
