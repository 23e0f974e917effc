"""What the campaigns of hostile inputs found, one small case for each."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from tamiz import load, save
from tamiz.discovery import Knockoffs
from tamiz.discovery.importances import ColumnScorer
from tamiz.embedded import (
    AROM,
    KPSVM,
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
from tamiz.evaluation import AutoScaler, CovariateAdjuster
from tamiz.explain import (
    counterfactual,
    interaction_strength,
    partial_dependence,
    permutation_importance,
    shapley_values,
)
from tamiz.filters import (
    CFS,
    MRMR,
    QPFS,
    FisherScore,
    GrammarFeatures,
    MaxDep,
    PearsonScore,
    Relief,
    ReliefF,
    RReliefF,
    StableFeatures,
    SymmetricalUncertainty,
    WelchT,
)
from tamiz.filters.similarity import standardised
from tamiz.filters.univariate.kolmogorov_smirnov import smirnov_pvalues
from tamiz.filters.univariate.pearson import correlation_pvalues
from tamiz.information import Discretiser, WeightOfEvidence
from tamiz.information.evidence import weights_of_evidence
from tamiz.kernels import (
    RBF,
    Conformal,
    Linear,
    Polynomial,
    Precomputed,
    QuadraticForm,
    Sigmoid,
    mercer_check,
)
from tamiz.neighbors import KNNClassifier
from tamiz.persistence import ModelFileError
from tamiz.qp import KernelQ, svc_problem
from tamiz.search import BestFirst, BranchAndBound, ForwardSelection
from tamiz.search.fast import judge_for
from tamiz.solvers.decomposition import split_budget
from tamiz.solvers.descent import newton
from tamiz.solvers.frame import BoxPoint
from tamiz.solvers.l1_programs import gather, minimise
from tamiz.solvers.subgradient import into_ball, subgradient_descent
from tamiz.solvers.subset_search import lesser_quotient
from tamiz.svm import SVC, SVDD, SVR, LinearMachine, OneClassSVM, SubgradientClassifier
from tamiz.svm.last_machine import spread_of
from tamiz.tree import BoostingClassifier, CARTClassifier, CARTRegressor, ForestClassifier
from tamiz.validation import NotEnoughMemoryError, memory
from tests.calls import failing, watched

Y = np.arange(12) % 2
X = np.random.default_rng(0).normal(size=(12, 3)) + Y[:, None]
HUGE = np.where(np.random.default_rng(1).random((12, 3)) < 0.5, 1.7e308, -1.7e308)


@pytest.fixture(autouse=True)
def no_warning_of_numpy():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def refused(what, call, *args, error=ValueError, **options):
    with pytest.raises(error, match=what) as caught:
        call(*args, **options)
    assert str(caught.value).endswith(".")


def test_decisions_beyond_float64_are_refused():
    machine = LinearMachine().fit(X, Y)
    refused("very large values", machine.decision_function, np.full((1, 3), 1.7e308))


def test_what_is_farther_than_float64_can_say_is_outside():
    ball = SVDD(kernel="linear").fit(X)
    scores = ball.decision_function(np.array([[1e160, 0, 0], [1e300, -1e300, 0], [1e10, 0, 0]]))
    assert np.isfinite(scores).all() and (scores[:2] < scores[2]).all() and (scores < 0).all()


def test_selectors_say_where_a_value_is_missing():
    chosen = FisherScore().fit(X, Y)
    refused("row 1, column 2", chosen.transform, np.array([[1, 2, 3], [4, 5, np.nan]]))
    chosen.transform(HUGE)  # its sum is not finite, its values are


def test_a_long_vector_is_refused_in_few_words():
    with pytest.raises(ValueError, match="Expected 2D array") as caught:
        FisherScore().fit(np.arange(900.0), Y)
    assert len(str(caught.value)) < 300


def test_huge_targets_are_no_classes():
    refused("Unknown label type", SVC().fit, X, 1e150 * X[:, 0])


@pytest.mark.parametrize("bins", ["mean_std", "width", "frequency"])
def test_discretiser_takes_the_largest_numbers(bins):
    codes = Discretiser(bins=bins).fit(HUGE).transform(HUGE)
    assert codes.min() >= 0


@pytest.mark.parametrize(
    "model",
    [
        ForwardSelection(CARTClassifier(max_depth=2), cv=2),
        BranchAndBound(),
        SVC(kernel=RBF(0.2) + 0.5 * Linear()),
        SVC(kernel="linear"),
        SVC(kernel=lambda A, B: A @ B.T),
        CARTClassifier(splits="oblique", random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_largest_numbers_are_used_or_refused(model):
    with contextlib.suppress(ValueError):
        model.fit(HUGE, Y)


def test_branch_and_bound_does_not_depend_on_huge_units():
    plain = BranchAndBound(n_features_to_select=1).fit(X, Y)
    moved = BranchAndBound(n_features_to_select=1).fit(X * 2.0**1000, Y)
    assert plain.best_score_ == pytest.approx(moved.best_score_, rel=1e-12)


def test_auto_scaler_does_not_depend_on_huge_units():
    Z = np.vstack([X, [[40.0, 0.0, 0.0]]])  # a heavy tail
    there = AutoScaler().fit(Z * 2.0**1000)
    np.testing.assert_allclose(there.transform(Z * 2.0**1000), AutoScaler().fit_transform(Z))
    refused("very large values", AutoScaler().fit(Z).transform, HUGE)


def test_scaled_machine_refuses_rows_beyond_float64():
    scaling = AdaptiveScaling(max_iter=5, sigma0=3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scaling.fit(X, Y)
    refused("very large values|infinity", scaling.predict, np.full((1, 3), 1.7e308))


def test_a_tolerance_below_rounding_ends():
    points = sparse.csr_matrix(np.array([[0.3], [1.1], [0.0], [2.2], [0.7], [1.9], [3.1]]))
    with pytest.warns(UserWarning, match="tol"):
        # a hundredth of the steps that are the limit otherwise
        OneClassSVM(solver="decomposition", tol=1e-300, cache_mb=1e-300, max_iter=10**5).fit(points)


def test_novelty_of_huge_units_is_refused():
    refused("very large values", OneClassSVM(kernel="linear").fit, 1e149 * X)


def test_penalties_beyond_float64_are_refused():
    refused("too extreme", L1SVM(C=1e9).fit, X, Y, np.full(12, 1e300))
    refused("too extreme", SVMRFE(C=1e300, kernel="rbf").fit, X, Y)


def test_odd_parameters_are_refused_in_a_sentence():
    refused("keys that are no text", BestFirst(KNNClassifier(1), scoring={0: 1}).fit, X, Y)
    refused("cv=array", BestFirst(KNNClassifier(1), cv=np.array(3)).fit, X, Y)
    refused("from least to greatest", CARTClassifier(ordinal_features={0: 1e9}).fit, X, Y)


def test_failed_allocations_become_a_sentence():
    model = MRMR(bins="mean_std")
    with failing(np, "unique", MemoryError), pytest.raises(NotEnoughMemoryError) as caught:
        model.fit(X, Y)
    assert str(caught.value).startswith("MRMR ran out of memory. Use fewer")
    assert not hasattr(model, "n_features_in_")


def test_dense_copies_of_sparse_rows_are_asked_for(monkeypatch):
    far = np.array([[1e9], [1e9 + 1], [1e9 + 3], [1e9 + 4]])
    machines = [LinearMachine().fit(far, [0, 0, 1, 1]), SVC(kernel="linear").fit(far, [0, 0, 1, 1])]
    monkeypatch.setenv("TAMIZ_FREE_MEMORY", "16")
    assert memory.free_bytes() == 16
    for machine in machines:
        refused("fewer rows", machine.predict, sparse.csr_matrix(far), error=NotEnoughMemoryError)
    table = sparse.csr_matrix(X)
    refused("dense copy", LinearMachine().fit, table, Y, error=NotEnoughMemoryError)


def test_machines_with_all_variables_at_their_bounds_are_judged_fast():
    """The middle of the interval of intercepts is what the estimator takes too."""
    draw = np.random.default_rng(3)
    points, labels = draw.normal(size=(8, 30)), np.arange(8) % 2
    splits = [(np.delete(np.arange(8), [k, k + 1]), np.array([k, k + 1])) for k in (0, 2, 4, 6)]
    judge = judge_for(SVC(), points, labels, splits, None, None)
    with watched(judge.plain, "_one") as asked:
        for size in (5, 17, 30):
            features = np.arange(size)
            np.testing.assert_array_equal(judge.score(features), judge.plain.score(features))
    assert len(asked) == 3 * len(splits)  # by the test only


def test_a_search_that_cuts_few_branches_says_so():
    calls = iter(range(10_050))

    def number_of_features(table, _):
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return table.shape[1]

    search = BranchAndBound(criterion=number_of_features, monotone=True)
    with pytest.warns(UserWarning, match=r"10,000 of 1.55e\+08 subsets"):
        search.fit(np.random.default_rng(4).normal(size=(6, 30)), Y[:6])
    assert search.status_ == "interrupted"


def test_weights_whose_products_overflow_are_refused():
    heavy, weights = {0: 1e300, 1: 1.0}, np.full(12, 1e170)
    refused("beyond what float64 holds", CARTClassifier(class_weight=heavy).fit, X, Y, weights)
    refused("beyond what float64 holds", L1SVM(class_weight=heavy).fit, X, Y, weights)
    refused("too extreme", SVC(C=1e300, class_weight=heavy).fit, X, Y)
    refused("too extreme", SVR(C=1e200).fit, X, X[:, 0], weights)


def test_distances_beyond_float64_are_refused():
    ball = SVDD(kernel="precomputed").fit([[1.0]])
    refused("very large values", ball.decision_function, [[1.7e308]])


def test_tolerances_may_be_large_integers():
    assert len(SVC(tol=10**30).fit(X, Y).classes_) == 2


def test_gamma_does_not_depend_on_the_unit_of_weights():
    weight = np.arange(12) + 1.0
    plain = RBF("scale").resolve(X * 2.0**490, weight)
    moved = RBF("scale").resolve(X * 2.0**490, weight * 2.0**400)
    assert plain.gamma == moved.gamma > 0


def test_newton_steps_beyond_float64_end_the_interior_point_method():
    rows = np.array([[-1.126468, 0.93147446, 0.58754761, 0.8255964],
                     [-0.45800408, 1.21015969, -0.71283103, -0.3272442],
                     [-0.32760909, 0.44984554, -0.66970951, -0.083203]])  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = AROM(C=1e-9).fit(rows, [0, 1, 0], [1.19353595e82, 6.905065e97, 7.0824905e-145])
    assert np.isfinite(machine.coef_).all()


def test_more_odd_parameters_are_refused_or_used():
    refused("fixed_features=array", BestFirst(fixed_features=np.array(3)).fit, X, Y)
    refused("n_samples=", Relief(n_samples={0: 0, 1: 1}).fit, X, Y)
    refused("Complex data", Discretiser(categorical_features=[0]).fit, X + 0j)
    refused(r"sigma0 \*\* q", AdaptiveScaling(sigma0=1e300).fit, X, Y)
    assert (
        not BoostingClassifier(n_estimators=1, min_samples_leaf=10**30).fit(X, Y).score(X, Y) > 0.5
    )
    MaxDep(min_per_cell=10**30).fit(X, Y)
    RReliefF(n_neighbors=True).fit(X, X[:, 0])
    assert SVC(cache_mb=np.int8(3)).fit(X, Y).status_ == "converged"


def test_grown_features_of_the_largest_numbers():
    table = np.where(np.random.default_rng(2).random((12, 3)) < 0.5, 1.7e308, -1.7e308)
    assert np.isfinite(GrammarFeatures(random_state=0).fit_transform(table, Y)).all()


@pytest.mark.filterwarnings("ignore::tamiz.kernels.IndefiniteKernelWarning")
def test_objectives_beyond_float64_are_refused():
    refused("too extreme", SVC(kernel="sigmoid", C=1e300).fit, X[:, :1], Y)
    draw = np.random.default_rng(2)
    rows = draw.normal(size=(20, 3))[draw.integers(20, size=20)]
    machine, weight = SVR(kernel="precomputed", C=10.0), np.full(20, 8e306)
    refused("too extreme", machine.fit, rows @ rows.T, np.arange(20) % 2, weight)


def test_sigmoid_of_huge_inner_products():
    assert mercer_check(Sigmoid(gamma=1e9), 1e150 * X[:3]).n_samples == 3  # 1 and -1 all over
    refused("very large values", mercer_check, Sigmoid(gamma=1e-300), HUGE)


def test_votes_count_where_sums_of_decisions_overflow():
    machine = SVC(kernel="linear").fit(X[:4], [0, 1, 2, 3])
    far = 1e307 * X / np.abs(machine.pairwise_decision_function(1e307 * X) / 1.5e308).max()
    assert np.isfinite(machine.decision_function(far)).all()


def test_smallest_numbers_of_relief_are_no_constants():
    tiny = np.ldexp((X > 0) * 1.0, -1074)
    for scaling in ("range", "none"):
        there = RReliefF(scaling=scaling, ties="index").fit(tiny, X[:, 0])
        here = RReliefF(scaling=scaling, ties="index").fit(np.ldexp(tiny, 1074), X[:, 0])
        np.testing.assert_allclose(there.scores_, here.scores_, atol=1e-12)


def test_weights_of_any_unit_in_a_search():
    splits = [(np.arange(8), np.arange(8, 12)), (np.arange(4, 12), np.arange(4))]
    fast = judge_for(SVC(), 1e41 * X, Y, splits, None, np.full(12, 1e300))
    assert np.isfinite(fast.score(np.arange(2))).all()


def test_balanced_classes_beyond_float64_are_refused():
    weight = np.where(Y == 0, 1e-122, 1e290)
    refused("cannot make up", ForestClassifier(2, class_weight="balanced").fit, X, Y, weight)


def test_bounds_beyond_float64_are_infinite():
    heavy = SubgradientClassifier(C=0.5, class_weight={0: 1e300, 1: 1e-300}).fit(X, Y)
    assert heavy.bound_ is None or heavy.bound_ > 0


def test_milp_without_a_feature_worth_its_weight():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        machine = MILPSVM(preselect=1e9, weight_bound=1e-300).fit(X, Y)
    assert np.abs(machine.coef_).max() <= 1e-300


def test_a_small_cache_still_holds_a_small_problem():
    problem = svc_problem(KernelQ(RBF(1.0), X), 2.0 * Y - 1.0, C=1.0)
    assert split_budget(problem, 1e-300, None)[0] == len(X)  # no round of Python for every step


def test_fisher_scores_do_not_depend_on_the_unit_of_weights():
    weight = np.arange(12) + 1.0
    plain = FisherScore(variant="multiclass").fit(X, Y, weight)
    moved = FisherScore(variant="multiclass").fit(X * 2.0**200, Y, weight * 2.0**900)
    np.testing.assert_allclose(moved.scores_, plain.scores_, rtol=1e-12)


def test_one_class_without_weight_leaves_nothing_to_lose():
    with pytest.warns(UserWarning, match="every weight is zero"):
        assert not RobustLP(class_weight={0: 0, 1: 1}).fit(X, Y).coef_.any()


def test_steps_beyond_float64_end_the_last_digits():
    equal, weight = np.full((20, 4), 1e147), np.full(20, 1e300)
    machine = SVC(kernel=RBF(0.2) + 0.5 * Linear())
    with pytest.warns(ConvergenceWarning, match="cannot come closer"):
        machine.fit(equal, np.arange(20) % 2, weight)
    assert np.isfinite(machine.dual_coef_).all()


def test_factors_have_a_largest_that_can_be_squared():
    for kind in (AdaptiveScaling, RadiusMarginScaling):
        refused("max_factor is 1e\\+300, too extreme", kind(max_factor=1e300).fit, X, Y)


def test_ridges_beyond_float64_are_refused():
    machine = SVR(loss="squared")
    refused("too extreme", machine.fit, X, X[:, 0], np.full(12, 5e-324))


def test_inner_products_beyond_float64_are_refused():
    refused("very large values", SVC(kernel="sigmoid", gamma=1e9).fit, 1e307 * X, Y)
    refused("very large values", SVC(kernel="sigmoid", gamma=1.0).fit, 1e272 * X[:, :1], Y)
    machine = SVC(kernel="sigmoid", gamma=1e160)
    assert np.isfinite(machine.fit(1e150 * X[:, :1], Y).dual_coef_).all()  # 1 and -1 all over


def test_one_split_for_each_step_may_be_true():
    one = HoldOutSVM(splits_per_step=1, random_state=0).fit(X, Y)
    also = HoldOutSVM(splits_per_step=True, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(one.ranking_, also.ranking_)


def test_scorers_that_are_none_are_refused():
    refused("neither names", BestFirst(KNNClassifier(1), scoring={"a": -1}).fit, X, Y)


def test_adjusted_features_beyond_float64_are_refused():
    table = np.array([[1.7e308, 1.0], [1.7e308, 2.0], [1.7e308, 3.0], [-1.7e308, 5.0]])
    refused("very large values", CovariateAdjuster([0]).fit(table).transform, table)


def test_interior_points_on_a_bound_end_the_method():
    rows = np.array([[-1.23765864, 0.56012129, -0.65044526, 0.00741257],
                     [-0.43052343, 0.5518182, -0.49393467, 1.77127397],
                     [1.89177172, 0.08032827, -2.55027524, 0.8428521],
                     [-1.27191973, -1.40004203, 0.49801937, 0.91472888],
                     [-1.98582976, -0.65153753, 0.96750169, 1.70570099],
                     [-1.08202124, -0.8143749, -0.42198828, -0.52613665]])  # fmt: skip
    weight = [1.63353309e99, 9.23241257e292, 2.00548668e-91, 3.12068982e107, 5.47982992e159,
              7.94416365e-100]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = L1L2SVM(C=1e-300).fit(rows, [0, 1, 0, 1, 0, 1], weight)
    assert np.isfinite(machine.coef_).all()


# ------------------------------------------------------------------ numbers near the ends


def test_knockoffs_do_not_depend_on_the_unit():
    draw = np.random.default_rng(5)
    rows = draw.normal(size=(40, 4))
    target = rows[:, 0] - rows[:, 1]
    for statistic in ("linear", "pearson"):
        plain = Knockoffs(statistic, fdr=0.5, random_state=0).fit(rows, target)
        for unit in (2.0**1000, 2.0**-1000):
            there = Knockoffs(statistic, fdr=0.5, random_state=0).fit(rows * unit, target * unit)
            np.testing.assert_allclose(
                np.sign(there.statistics_), np.sign(plain.statistics_), err_msg=statistic
            )
            np.testing.assert_array_equal(there.support_, plain.support_)


def test_own_knockoffs_at_the_ends():
    draw = np.random.default_rng(6)
    rows, copies = draw.normal(size=(2, 30, 3))
    plain = Knockoffs("auc", fdr=0.9, knockoffs=copies).fit(rows, Y.repeat(3)[:30])
    there = Knockoffs("auc", fdr=0.9, knockoffs=copies * 2.0**1000)
    there.fit(rows * 2.0**1000, Y.repeat(3)[:30])
    np.testing.assert_allclose(there.statistics_, plain.statistics_)
    far = Knockoffs("auc", knockoffs=copies * 1e300).fit
    refused("very large values", far, rows * 1e-300, Y.repeat(3)[:30])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_knockoffs_of_two_rows_and_of_columns_that_are_all_but_equal():
    two = np.array([[1.0, 2.0, 5.0], [2.0, 3.0, 9.0]])
    assert not Knockoffs(random_state=0).fit(two, [0, 1]).support_.any()
    rows = np.full((9, 5), 1e229)
    assert not Knockoffs(random_state=0).fit(rows, Y[:9]).support_.any()


def test_steps_of_linear_machines_beyond_float64_are_halved():
    draw = np.random.default_rng([21, 3045])
    rows = draw.normal(size=(4, 8)) * 10.0 ** draw.integers(-300, 150, size=(4, 8))
    for loss in ("squared", "squared_hinge", "logistic"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            with contextlib.suppress(ValueError):  # with the sentence of the others
                LinearMachine(loss=loss).fit(rows, [0, 1, 0, 1])


def test_newton_steps_of_kernel_descent_beyond_float64_are_none():
    K = np.diag([1e-298, 1e-298, 1e308])
    K[0, 2] = K[2, 0] = 1e100
    limits = np.full(3, 1e300)
    start = BoxPoint(np.array([0.0, 0.0, 1e300]), np.array([1e3, -1e3, 0.0]), -limits, limits)
    newton(K, 1, start, max_free=2, max_cuts=5)
    assert np.isfinite(start.b).all() and np.isfinite(start.g).all()


def test_weights_of_linear_machines_beyond_float64_are_refused():
    fit = SVC(kernel="linear").fit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        refused("very large", fit, np.full((4, 2), 1e137), [1, 0, 0, 1], np.full(4, 1e300))


def test_targets_far_from_zero_keep_their_digits():
    draw = np.random.default_rng(3)
    rows = draw.normal(size=(30, 3))
    target = np.round(rows[:, 0] * 8) / 8
    near = SVR(C=10.0).fit(rows, target)
    far = SVR(C=10.0).fit(rows, target + 1e12)
    np.testing.assert_allclose(far.predict(rows) - 1e12, near.predict(rows), atol=2e-3)
    assert far.status_ == "converged" and far.n_iter_ < 10_000
    level = SVR().fit(rows, np.full(30, 1e15))
    assert level.predict(rows).tolist() == [1e15] * 30
    for machine in (
        AdaptiveScaling(2, task="regression"),
        HoldOutSVM(2, task="regression", random_state=0),
    ):
        near = clone(machine).fit(rows, target)
        far = machine.fit(rows, target + 1e12)
        np.testing.assert_array_equal(far.support_, near.support_)
        np.testing.assert_allclose(far.predict(rows) - 1e12, near.predict(rows), atol=2e-2)


def test_differences_of_targets_beyond_float64_are_refused():
    ends = np.where(np.arange(12) < 7, 1.7e308, -1.7e308)
    refused("differences", L1SVM(task="regression").fit, X, ends)
    machine = L1SVM(task="regression", scale_target=False).fit(X, 1e200 * X[:, 0])
    assert np.isfinite(machine.scores_).all()


def test_scaling_of_heavy_tails_at_the_ends():
    column = np.concatenate([np.linspace(-1e-10, 1e-10, 30), [1e300]])[:, None]
    scaled = AutoScaler().fit_transform(column)
    assert np.isfinite(scaled).all() and scaled.argmax() == 30
    tiny = np.ldexp(np.concatenate([[-1.0, 1.0, 9e4], np.zeros(30)]), -1074)[:, None]
    assert np.isfinite(AutoScaler().fit_transform(tiny)).all()


def test_rescaling_in_a_unit_whose_squares_are_within_float64():
    small = 1e-170 * X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert np.isfinite(LinearMachine(penalty="arom").fit(1e-90 * X, Y).coef_).all()
        assert np.isfinite(AROM(C=1e9).fit(small, Y).coef_).all()


def test_subgradients_beyond_float64_take_no_step():
    assert np.linalg.norm(into_ball(np.array([3e200, 4e200]), 5.0) - [3.0, 4.0]) < 1e-9
    assert into_ball(np.zeros(2), 5.0).tolist() == [0.0, 0.0]
    huge = subgradient_descent(lambda b: (0.0, np.full(2, 1e200)), np.zeros(2), 1e200, 3)
    assert np.isfinite(huge.solution).all()


def test_words_among_costs_are_refused():
    refused("costs='?\\['a'\\]'? must hold finite", MILPSVM(costs=["a"]).fit, X[:, :1], Y)


def test_a_box_that_highs_cannot_fit_is_a_sentence():
    rows = np.random.default_rng(3).normal(size=(30, 5)) * 1e150
    machine = MILPSVM(task="regression", weight_bound=0.5)
    refused("HiGHS could not fit", machine.fit, rows, np.arange(30.0))


def test_linear_terms_beyond_float64_are_not_taken_for_exact():
    machine = LinearMachine(loss="squared").fit(X, Y)
    machine.coef_ = np.array([[1e154, -1e154, 0.0]])
    far = np.array([[1e154, 1e154, 0.0], [0.0, 0.0, 1.0]])  # where the terms add up to zero
    with contextlib.suppress(ValueError):  # of the points between them
        assert np.isfinite(shapley_values(machine, far, n_permutations=2).values).all()


def test_counts_larger_than_any_table():
    for kind in (CARTClassifier, ForestImportance):
        kind(min_samples_leaf=10**30).fit(X, Y)
    assert ForestClassifier(2, min_samples_leaf=10**30).fit(X, Y).score(X, Y) == 0.5
    assert CARTClassifier(max_depth=10**30).fit(X, Y).score(X, Y) == 1.0


def test_degrees_of_any_size(tmp_path):
    for kind in (0, -(2**31)):
        refused("degree", Polynomial, kind)
    high = Polynomial(2**31 - 1, gamma=1.0, coef0=0.0)
    np.testing.assert_array_equal(high([[1.0], [0.5]], [[1.0]]), [[1.0], [0.0]])
    machine = SVC(kernel=Polynomial(2) + RBF(1.0)).fit(X, Y)
    machine.kernel_.k1.degree = -(2**31)
    save(machine, tmp_path / "m.tamiz")
    with pytest.raises(ModelFileError, match="Polynomial"):
        load(tmp_path / "m.tamiz")
    machine = SVC(kernel=Polynomial(101, gamma=1.0, coef0=1.0) + RBF(1.0))
    rows = 0.1 * X
    found = machine.fit(rows, Y).decision_function(rows)
    vectors, coef = machine.support_vectors_, machine.dual_coef_[0]
    expected = ((1.0 + rows @ vectors.T) ** 101 + RBF(1.0)(rows, vectors)) @ coef
    np.testing.assert_allclose(found, expected + machine.intercept_, rtol=1e-6, atol=1e-6)


def test_a_tolerance_in_single_precision():
    machine = SVC(tol=np.float32(0.5)).fit(X, Y, np.full(12, 1e90))
    assert np.isfinite(machine.dual_coef_).all()


def test_relevance_and_knockoffs_that_are_no_numbers():
    refused("relevance=.* must hold numbers", QPFS(relevance={0: 0}).fit, X, Y)
    refused("n_jobs", Knockoffs(n_jobs=0).fit, X, Y)
    refused("knockoffs=.* must hold numbers", Knockoffs(knockoffs={0: 1.0}).fit, X, Y)


def test_a_sample_without_rank():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with contextlib.suppress(ValueError):  # a sentence that nothing is left
            QPFS(rank_tol=1e300, nystroem=1e-300, random_state=0).fit(X, Y)


def test_weights_as_good_as_none_in_a_correlation():
    assert correlation_pvalues(np.array([1.0 - 1e-12]), 1e300).tolist() == [0.0]


def test_spreads_at_the_ends():
    ends = np.where(Y == 0, 1.7e308, -1.7e308)
    assert spread_of(ends) == 1.7e308 and spread_of(1e-200 * X[:, 0]) > 0
    for machine in (L1L2SVM(task="regression"), AROM(C=1e9, task="regression")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            with contextlib.suppress(ValueError):
                machine.fit(X, 1e307 * X[:, 0])


def test_one_over_a_penalty_beyond_float64_is_refused():
    unequal = RadiusMarginScaling(class_weight={0: 1e300, 1: 1e-300})
    refused("too extreme", unequal.fit, X, Y, np.full(12, 1e-300))


def test_squares_of_machines_beyond_float64_take_another_way():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with contextlib.suppress(ValueError):
            rows = np.random.default_rng(0).normal(size=(20, 4)) * 1e150
            LinearMachine(penalty="arom", C=1e9).fit(rows, np.arange(20) % 2)


# ------------------------------------------------------------------------------------- kernels


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(60),
        Sigmoid(gamma=1e300),
        1e300 * (Linear() * Linear()),
        Linear().exp(),
        Conformal(lambda X: X.sum(axis=1)),
        QuadraticForm(1e150 * np.eye(3)),
    ],
    ids=repr,
)
def test_kernel_values_beyond_float64_are_refused(kernel):
    rows = np.where(X > 0, 1e200, -1e200)
    for ask in (kernel, lambda X: kernel(X, X), lambda X: kernel.prepare(X).gram()):
        refused("very large values|NaN or infinite", ask, rows)


def test_kernel_values_beyond_float32_are_refused():
    refused("float32", (1e150 * RBF(0.5)).prepare(X, np.float32).gram)
    assert np.isfinite((1e150 * RBF(0.5)).prepare(X).gram()).all()


def test_rates_from_variances_beyond_float64_or_of_nothing():
    refused("very large values", RBF("scale").resolve, 1e200 * X)
    refused("0 sample", RBF("scale").resolve, X[:0])
    assert RBF("scale").resolve(1e-160 * X).get_params()["gamma"] < np.inf


def test_a_mercer_check_beyond_float64_is_refused():
    refused("very large values", mercer_check, 1e308 * RBF(0.1), np.zeros((12, 1)))


def test_kernels_refuse_complex_samples_and_one_axis():
    refused("Complex data", Linear(), X.astype(complex))
    refused("two dimensions", Precomputed(), X, Y)
    refused("no columns", RBF("scale").resolve, sparse.csr_matrix((3, 0)))


def test_norms_without_a_feature_beyond_float64_are_refused():
    tracker = RBF(1e300).track(1e10 * X)
    refused("very large values", tracker.leave_one_out_norms, np.where(Y == 0, 1.0, -1.0))


# -------------------------------------------------------------------- what was found later


@pytest.mark.parametrize("method", [CFS(), SymmetricalUncertainty(), WeightOfEvidence()])
def test_weighted_cuts_between_the_largest_numbers(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        method.fit(HUGE, Y, sample_weight=np.linspace(0.5, 1.5, 12))


def test_derivatives_beyond_float64_say_nothing_of_their_own():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with contextlib.suppress(ValueError):
            KPSVM(task="regression").fit(X, 1e150 * X[:, 0])
        with contextlib.suppress(ValueError):
            RadiusMarginScaling(kernel="poly").fit(1e140 * X, Y)


def test_targets_beyond_float64_are_refused_or_taken():
    for machine in (HoldOutSVM(task="regression"), MILPSVM(task="regression")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            with contextlib.suppress(ValueError):
                machine.fit(X, np.where(Y == 0, 1.7e308, -1.7e308) * np.linspace(0.9, 1, 12))


def test_reciprocals_of_the_least_variances():
    rows = np.where(X > 0, 0.0, 5e-324)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        scores = WelchT().fit(np.vstack([rows, rows]), np.arange(24) % 3).scores_
    assert not np.isnan(scores).any()
    plain = WelchT().fit(X, np.arange(12) % 3).scores_
    np.testing.assert_array_equal(plain, WelchT().fit(X * 2.0**-500, np.arange(12) % 3).scores_)


def test_penalties_of_vanishing_weights_are_refused():
    tiny = SubgradientClassifier(C=1e-20)
    refused("too extreme", tiny.fit, X, Y, np.full(12, 1e-300))


def test_a_bound_of_huge_samples_is_infinite():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with contextlib.suppress(ValueError):
            SubgradientClassifier(tol=1e-9, step="decreasing", max_iter=50).fit(1e155 * X, Y)


@pytest.mark.parametrize("explain", [partial_dependence, interaction_strength, counterfactual])
@pytest.mark.parametrize(
    "model", [SVC(), SVC(kernel="poly"), LinearMachine(loss="logistic"), SVR(kernel="linear")]
)
def test_explanations_of_huge_rows_are_finite_or_refused(explain, model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted = clone(model).fit(X, Y)
        for rows in (HUGE, 1e155 * X, 1e-320 * X):
            more = (rows,) if explain is counterfactual else ()
            with contextlib.suppress(ValueError):
                found = explain(fitted, rows[:4], *more)
                if explain is counterfactual:
                    assert np.isfinite(found.distances[found.found]).all()
                else:
                    value = found.mean if explain is partial_dependence else found.strength
                    assert np.isfinite(np.ravel(value)).all()


def test_a_truth_value_is_a_number_of_trees():
    assert len(ForestClassifier(True, random_state=0).fit(X, Y).predict(X)) == 12


def test_weights_that_are_no_part_of_a_change():
    machine = SVC(kernel="linear").fit(X * [1.0, 1.0, 1e-170], Y)
    found = counterfactual(machine, X[:2] * [1.0, 1.0, 1e-170], X * [1.0, 1.0, 1e-170])
    assert found.found.all() and (found.changed[:, 2] == X[:2, 2] * 1e-170).all()


def test_correlations_with_weights_that_vanish():
    weight = np.where(Y == 0, 1.0, 1e-320)
    for values in (np.where(Y == 0, 0.0, X[:, 0]), X[:, 0]):
        with contextlib.suppress(ValueError):
            scores = CFS(task="regression").fit(X, values, weight).scores_
            assert not np.isnan(scores).any()


def test_quotients_beyond_float64():
    found = lesser_quotient(1e300, np.array([1e-300, 0.0, 1e300]), np.array([2.0, 3.0, 4.0]))
    assert found.tolist() == [2.0, 3.0, 1.0]


def test_rates_next_to_zero_need_more_features_than_there_are():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        chosen = Knockoffs(fdr=1e-320, n_copies=3, n_draws=2, random_state=0).fit(X, Y)
    assert not chosen.get_support().any()
    assert "at least 1000000000000000 features" in chosen.message_


def test_a_score_of_predictions_beyond_float64():
    machine = AROM(task="regression").fit(X, X[:, 0])
    assert machine.score(np.where(X > 0, 1e300, -1e300), X[:, 0]) == -np.inf
    with contextlib.suppress(ValueError):
        rows = np.where(X > 0, 1e140, -1e140)
        found = permutation_importance(AROM(task="regression"), rows, 1e150 * X[:, 0], cv=2)
        assert np.isfinite(found.values).all()


def test_no_direction_is_no_counterfactual():
    """The weights are so small that their norm is zero."""
    machine = SVC(kernel="linear").fit(X, Y)
    machine.dual_coef_ = 1e-200 * machine.dual_coef_
    machine.coef_ = 1e-200 * machine.coef_
    with contextlib.suppress(ValueError):
        assert not counterfactual(machine, 1e-200 * X[:2], 1e-200 * X).found.any()


def test_neighbours_whose_weights_vanish():
    weight = np.where(np.arange(12) < 6, 1.0, 5e-324)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        scores = ReliefF(2).fit(X, np.arange(12) // 6, weight).scores_
    assert np.isfinite(scores).all()


def test_a_linear_program_beyond_float64_is_refused():
    ends = np.where(Y == 0, 1.7e308, -1.7e308)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with contextlib.suppress(ValueError):
            L1SVM(task="regression", epsilon=1e308).fit(X, ends)
    refused("y has very large", minimise, np.ones(3), sparse.eye(3), np.array([1, np.inf, 1]), 1)


def test_an_integer_beyond_those_of_the_processor_is_a_tolerance():
    LinearMachine(loss="logistic", penalty="arom", tol=10**30).fit(X, Y)


def test_a_class_of_nearly_no_weight_counts_as_one_sample():
    assert smirnov_pvalues(np.array([0.5, 1.0]), 1e-280, 1e25).tolist() == [1.0, 0.0]
    few = smirnov_pvalues(np.array([0.5, 1.0]), 0.25, 3.0)
    assert few.tolist() == smirnov_pvalues(np.array([0.5, 1.0]), 1.0, 3.0).tolist()


def test_squares_of_targets_that_small_weights_hide_are_refused():
    fit = CARTRegressor().fit
    refused("y has very large", fit, X, 1e300 * X[:, 0], sample_weight=np.full(12, 1e-300))


def test_weights_of_evidence_beyond_float64_are_differences_of_logarithms():
    counts = np.array([[3e170, 1e170], [0.0, 3e170]])
    expected = [np.log(0.25 * 7e170) - np.log(7e170), np.log(0.75 * 7e170) - np.log(1e-300)]
    np.testing.assert_allclose(weights_of_evidence(counts, 1e-300), expected, rtol=1e-12)


def test_a_ball_beyond_float64_is_no_warning():
    heavy = SubgradientClassifier(lambda_=1e-9, class_weight={0: 1e300, 1: 1e-300}, average=False)
    assert np.isfinite(heavy.fit(X, Y).coef_).all()


def test_relevance_below_rounding_leaves_redundancy_as_the_guide():
    columns = np.array([[0, 1], [1, 1], [1, 0], [0, 0], [1, 1], [0, 1]])
    weight = [1.6e-31, 4.8e209, 9.4e-89, 2.8e-7, 1.9e-197, 5.6e49]
    labels = np.arange(6) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with contextlib.suppress(ValueError):
            chosen = QPFS(relevance=np.full(2, 1e-200)).fit(columns, labels)
            assert chosen.alpha_ == 0.0 and np.isfinite(chosen.weights_).all()
            assert np.isfinite(QPFS().fit(columns, labels, weight).weights_).all()


def test_frames_without_columns_are_refused_in_a_sentence():
    none = pd.DataFrame(index=range(12))
    refused("ordinal_features|columns", CARTClassifier(ordinal_features=[0]).fit, none, Y)
    refused("categorical_features|columns", CARTClassifier(categorical_features=[0]).fit, none, Y)
    refused("categorical_features|columns", MRMR(categorical_features=[0]).fit, none, Y)


def test_squares_between_classes_of_one_heavy_sample():
    scores = PearsonScore().fit([[1e90], [3e90]], ["no", "yes"], [1e170, 1e170]).scores_
    assert scores == pytest.approx(1.0)


@pytest.mark.parametrize("offset", [1e6, 1e12])
def test_radial_values_of_sparse_rows_far_from_the_origin(offset):
    rows = X + offset
    rows[3] = rows[0]
    table = sparse.csr_matrix(rows)
    np.testing.assert_allclose(RBF(1.0)(table), RBF(1.0)(rows), atol=1e-6)
    np.testing.assert_allclose(RBF(1.0)(table[:4], table), RBF(1.0)(rows[:4], rows), atol=1e-6)
    for weight in (None, np.arange(12) + 1.0):
        far, near = (RBF("scale").resolve(part, weight).rate for part in (table, rows))
        assert far == pytest.approx(near, rel=1e-6)
    machine = SVC(gamma=1.0, C=100.0).fit(table, Y)
    assert machine.status_ == "converged"
    np.testing.assert_array_equal(
        machine.predict(table), SVC(gamma=1.0, C=100.0).fit(rows, Y).predict(rows)
    )


def test_sparse_rows_far_from_the_origin_need_room(free_memory):
    table = sparse.csr_matrix(X + 1e9)
    free_memory(8 * X.size - 1)
    refused("Scale the features", RBF(1.0).prepare, table, error=NotEnoughMemoryError)


def test_curves_over_the_largest_numbers():
    column = np.linspace(-0.9, 0.9, 40) * 1.7e308
    tree = CARTClassifier(max_depth=1).fit(column[:, None], np.arange(40) // 20)
    grid = partial_dependence(tree, column[:, None], [0], grid_resolution=4, random_state=0).grids[
        0
    ]
    near = np.linspace(*np.quantile(column / 2.0**1000, [0.05, 0.95]), 4) * 2.0**1000
    np.testing.assert_allclose(grid, near, rtol=1e-12)


def test_costs_of_the_smallest_columns_are_within_float64():
    parts = gather(1e-200 * X, np.where(Y == 0, -1.0, 1.0), np.ones(12), np.full(3, 1e250))
    assert np.isfinite(parts.c).all() and (parts.c > 0).all()


@pytest.mark.parametrize("size", [1e-322, 1e-300, 1e150, 1.7976e308 / 9])
def test_weights_of_any_size_are_proportions(size):
    weight = size * np.array([0.5, 1.0] * 6)
    near = np.array([1.0, 2.0] * 6)
    rows = near * (2.0**90 if size > 1 else 12.0 / 18.0)  # as many rows as there are, at least
    for column in (X, np.exp(6 * X)):  # heavy tails are scaled by their quartiles
        far, same = (AutoScaler().fit(column, sample_weight=one) for one in (weight, rows))
        np.testing.assert_allclose(far.transform(column), same.transform(column), rtol=1e-9)
    Z, varies = standardised(X, weight)
    np.testing.assert_allclose(Z, standardised(X, near)[0], atol=1e-12)
    assert varies.all()


def test_units_of_columns_whose_sums_are_beyond_float64():
    found = ColumnScorer(LinearMachine(), np.zeros(3, bool), scaled=True)(
        1.7e308 * (X / np.abs(X).max(axis=0)), Y, np.arange(3), 0
    )
    assert np.isfinite(found).all()


def test_a_bound_of_weights_beyond_float64_is_refused():
    refused("Scale the features", MILPSVM(1, weight_bound=1e300).fit, 1e60 * X, Y)


def test_more_periods_than_a_machine_can_count_are_as_many_as_there_are_moments():
    found = StableFeatures(n_periods=10**30).fit(X, times=np.arange(12))
    assert found.periods_ == StableFeatures(n_periods=12).fit(X, times=np.arange(12)).periods_
