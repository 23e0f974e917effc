"""The selector: signs that flip, rates that hold, tables of every kind, sentences."""

from __future__ import annotations

import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamiz
from tamiz.discovery import Knockoffs
from tamiz.discovery.importances import CRITERIA, scorer_for
from tamiz.discovery.knockoffs.quality import measure_quality
from tamiz.discovery.knockoffs.rates import (
    OwnStatistic,
    ScoredStatistic,
    knockoff_statistics,
)
from tamiz.embedded import SVMRFE
from tamiz.filters import MRMR, ReliefF
from tamiz.information.columns import CodedTable
from tamiz.svm import SVC, SVR
from tests.checks import assert_every_check_passes

matplotlib.use("agg")


def problem(n=300, p=30, relevant=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1:] += 0.5 * X[:, :-1]
    signal = X[:, ::2][:, :relevant].sum(axis=1)
    return X, (signal + 0.5 * rng.normal(size=n) > 0).astype(int)


def quiet(selector, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(X, y)


# ---------------------------------------------------------------------------- antisymmetry

OBJECTS = {
    "linear machine": SVC(kernel="linear"),
    "rbf machine": SVC(gamma=0.1),
    "elimination": SVMRFE(3),
    "mrmr": MRMR(2),
    "relieff on a sample": ReliefF(n_samples=20),
    "forest of scikit-learn": RandomForestClassifier(5),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "univariate of scikit-learn": SelectKBest(f_classif, k=2),
    "elimination of scikit-learn": RFE(LogisticRegression(), n_features_to_select=2),
}


def statistic_of(given, p, y, task="auto"):
    if callable(given) and not hasattr(given, "fit"):
        return OwnStatistic(given)
    table = CodedTable(np.zeros((len(y), p)), np.zeros(p, dtype=bool), {})
    return ScoredStatistic(scorer_for("statistic", given, task, table, y))


@pytest.mark.parametrize("given", [*CRITERIA, *OBJECTS.values(), "function"], ids=str)
def test_swapping_a_pair_flips_its_sign_and_nothing_else(given):
    rng = np.random.default_rng(1)
    X, T = rng.normal(size=(2, 50, 5))
    T[:, 4] = X[:, 4]  # a constant feature is its own knockoff
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    if given == "function":  # one that is not antisymmetric at all

        def given(A, B, y):
            return np.abs(A[y == 1].mean(axis=0)) + 2 * B[0]

    statistic = statistic_of(given, 5, y)
    W = knockoff_statistics(statistic, X, T[None], y, seed=3)
    swap = np.array([True, False, True, False, True])
    swapped = knockoff_statistics(
        statistic, np.where(swap, T, X), np.where(swap, X, T)[None], y, seed=3
    )
    np.testing.assert_array_equal(swapped, np.where(swap, -W, W))
    assert W[4] == 0
    assert (W != 0).any()


@pytest.mark.parametrize("name", [key for key, one in CRITERIA.items() if one.numbers])
def test_numeric_targets_have_statistics_too(name):
    rng = np.random.default_rng(2)
    X, T = rng.normal(size=(2, 80, 3))
    y = 3 * X[:, 0] + 0.1 * rng.normal(size=80)
    W = knockoff_statistics(statistic_of(name, 3, y), X, T[None], y, seed=0)
    assert W[0] == W.max() > 0


def test_rbf_importance_is_the_leave_out_change_of_the_margin():
    X, y = problem(60, 4, 2)
    machine = SVC(gamma=0.2).fit(X, y)
    from tamiz.discovery.importances import column_importances

    found = column_importances(machine, 4)
    c, V = machine.dual_coef_[0], machine.support_vectors_

    def norm(columns):
        apart = V[:, None, columns] - V[None, :, columns]
        return c @ np.exp(-0.2 * np.square(apart).sum(axis=2)) @ c

    whole = norm([0, 1, 2, 3])
    expected = [abs(whole - norm([k for k in range(4) if k != j])) for j in range(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    assert column_importances(SVR().fit(X, X[:, 0]), 4).argmax() == 0


# ---------------------------------------------------------------------------- the rate


@pytest.mark.parametrize(("n_draws", "offset"), [(1, 1), (5, 1)])
def test_rate_of_false_discoveries_is_kept(n_draws, offset):
    """Mean proportion over seeded tables; the slack is three standard errors of its bound."""
    rates, power = [], []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(250, 30))
        X[:, 1:] += 0.5 * X[:, :-1]
        y = (X[:, :15].sum(axis=1) + rng.normal(size=250) > 0).astype(int)
        found = quiet(
            Knockoffs(fdr=0.2, n_draws=n_draws, offset=offset, random_state=seed), X, y
        ).support_
        rates.append(found[15:].sum() / max(1, found.sum()))
        power.append(found[:15].mean())
    assert np.mean(rates) <= 0.2 + 3 * np.std(rates) / np.sqrt(len(rates))
    assert np.mean(power) > 0.5


def test_pure_noise_selects_nothing_most_of_the_time():
    hits = 0
    for seed in range(30):
        rng = np.random.default_rng(100 + seed)
        X, y = rng.normal(size=(100, 20)), rng.integers(0, 2, 100)
        hits += quiet(Knockoffs(fdr=0.2, random_state=seed), X, y).support_.any()
    # any discovery is a false one: at most a fifth of the tables, 6 of 30, and three deviations
    assert hits <= 6 + 3 * np.sqrt(30 * 0.2 * 0.8)


# ---------------------------------------------------------------------------- results


def test_selection_follows_from_the_statistics():
    X, y = problem()
    found = Knockoffs(fdr=0.2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.support_, found.statistics_ >= found.threshold_)
    assert found.support_.sum() >= 5 and found.message_ == ""
    np.testing.assert_array_equal(found.scores_, found.statistics_)
    assert found.support_[found.order_[: found.support_.sum()]].all()
    np.testing.assert_array_equal(found.transform(X), X[:, found.support_])
    frame = found.to_frame()
    assert frame["selected"].sum() == found.support_.sum() and len(frame) == 30
    assert found.s_.shape == (30,) and (found.s_ > 0).all()
    assert found.plot().get_xlabel() == "feature, by rank"
    assert found.quality_.energy_pvalue > 0.01
    assert found.quality_.cross_moments < 2 * found.quality_.expected
    assert "mean correlation" in repr(found.quality_) and len(found.quality_.to_frame()) == 30


def test_several_draws_are_combined_by_e_values():
    X, y = problem()
    found = Knockoffs(fdr=0.3, n_draws=4, random_state=0).fit(X, y)
    assert found.draws_.shape == (4, 30)
    np.testing.assert_allclose(found.statistics_, found.draws_.mean(axis=0))
    np.testing.assert_array_equal(found.support_, found.e_values_ >= found.threshold_)
    assert found.support_.any()
    assert found.plot().get_ylabel() == "e-value"


def test_workers_and_seeds():
    X, y = problem(120, 10, 5)
    one = quiet(Knockoffs(n_draws=3, random_state=1, n_jobs=1), X, y)
    two = quiet(Knockoffs(n_draws=3, random_state=1, n_jobs=2), X, y)
    np.testing.assert_array_equal(one.draws_, two.draws_)
    other = quiet(Knockoffs(n_draws=3, random_state=2), X, y)
    assert not np.array_equal(one.draws_, other.draws_)


def test_nothing_selected_says_why():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 6)), rng.integers(0, 2, 60)
    with pytest.warns(UserWarning, match="at least 10 features must beat"):
        found = Knockoffs(random_state=0).fit(X, y)
    assert found.threshold_ == np.inf and not found.support_.any()
    assert found.selection_.notes["message"] == found.message_
    with pytest.warns(UserWarning, match="e-values of 2 draws"):
        Knockoffs(n_draws=2, random_state=0).fit(X, y)


def test_few_samples_are_warned_of_and_low_rank_serves_them():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(60, 2))
    X = factor @ rng.normal(size=(2, 150)) + rng.normal(size=(60, 150))
    y = (X[:, :20].sum(axis=1) > 0).astype(int)
    with pytest.warns(UserWarning, match="60 samples for 150 features"):
        found = quiet_message(Knockoffs("pearson", method="lowrank", random_state=0), X, y)
    assert found.selection_.notes["n_factors"] == 2
    assert found.s_.shape == (150,)


def quiet_message(selector, X, y):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No feature is selected")
        return selector.fit(X, y)


# ---------------------------------------------------------------------------- tables


def test_categories_keep_their_proportions_and_their_dependence():
    rng = np.random.default_rng(0)
    n = 3000
    z = rng.normal(size=n)
    colour = np.select([z < -0.5, z < 0.8], ["blue", "green"], "red")
    frame = pd.DataFrame(
        {
            "number": z + 0.5 * rng.normal(size=n),
            "colour": pd.Categorical(colour),
            "flag": (rng.random(n) < 0.3).astype(int),
            "constant": 1.0,
        }
    )
    drawn = []

    def spy(A, B, y):
        drawn.append((A, B))
        return np.zeros(A.shape[1])

    found = quiet(Knockoffs(spy, random_state=0), frame, rng.integers(0, 2, n))
    values = np.concatenate(drawn[0])  # features and knockoffs, whichever is first
    for j in (1, 2):
        share = [np.mean(values[:, j] == k) for k in (0, 1)]
        codes = pd.Categorical(frame.iloc[:, j]).codes
        np.testing.assert_allclose(share, [np.mean(codes == k) for k in (0, 1)], atol=0.03)
    assert set(values[:, 1]) == {0, 1, 2} and set(values[:, 2]) == {0, 1}
    assert found.s_[3] == 0 and found.quality_.correlation[3] == 1
    assert found.quality_.cross_moments < 0.05
    assert found.feature_names_in_.tolist() == list(frame.columns)


def test_default_for_categories_is_a_forest_and_other_criteria_say_so():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.choice(["x", "y"], 60)})
    y = (frame["a"] > 0).astype(int)
    found = quiet(Knockoffs(random_state=0), frame, y)
    assert found.statistics_[0] > 0
    assert quiet(Knockoffs("mrmr", random_state=0), frame, y).draws_.shape == (1, 2)
    with pytest.raises(ValueError, match="'b' holds categories, and LinearMachine"):
        Knockoffs("linear").fit(frame, y)


def test_knockoffs_of_the_caller():
    X, y = problem(80, 6, 3)
    T = np.random.default_rng(0).normal(size=X.shape)
    array = quiet(Knockoffs(knockoffs=T, random_state=0), X, y)
    called = quiet(Knockoffs(knockoffs=lambda X, random_state: T, random_state=0), X, y)
    np.testing.assert_array_equal(array.statistics_, called.statistics_)
    assert array.s_ is None
    with pytest.raises(ValueError, match="shape of X"):
        Knockoffs(knockoffs=T[:, :3]).fit(X, y)
    with pytest.raises(ValueError, match="for 2 draws"):
        Knockoffs(knockoffs=T, n_draws=2).fit(X, y)
    with pytest.raises(ValueError, match="what knockoffs returns"):
        Knockoffs(knockoffs=lambda X, random_state: X[:5]).fit(X, y)


def test_known_covariance_is_used():
    X, y = problem(80, 6, 3)
    found = quiet(Knockoffs(covariance=4 * np.eye(6), random_state=0), X, y)
    np.testing.assert_allclose(found.s_, 1.0, atol=1e-4)
    with pytest.raises(ValueError, match="6 features"):
        Knockoffs(covariance=np.eye(3)).fit(X, y)
    with pytest.raises(ValueError, match="not positive definite"):
        Knockoffs(covariance=np.ones((6, 6))).fit(X, y)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"fdr": 0.0}, "fdr"),
        ({"fdr": 1}, "fdr"),
        ({"method": "sdp"}, "method"),
        ({"offset": 2}, "offset"),
        ({"n_draws": 0}, "n_draws"),
        ({"offset": 0, "n_draws": 3}, "e-values"),
        ({"statistic": "nothing"}, "statistic"),
        ({"statistic": StandardScaler()}, "says nothing of single features"),
        ({"statistic": lambda A, B, y: [1.0]}, "one for each pair"),
        ({"statistic": lambda A, B, y: A[0] * np.nan}, "finite numbers"),
    ],
)
def test_absurd_parameters_are_refused(params, words):
    X, y = problem(30, 5, 2)
    with pytest.raises((ValueError, TypeError), match=words):
        Knockoffs(**params).fit(X, y)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: (np.where(X > 1, np.nan, X), y), "NaN"),
        (lambda X, y: (X, np.zeros(30)), "one class"),
        (lambda X, y: (X[:1], y[:1]), "minimum of 2"),
        (lambda X, y: (X, y[:5]), "30"),
    ],
)
def test_bad_tables_are_refused_and_change_nothing(change, words):
    X, y = problem(30, 5, 2)
    fitted = quiet(Knockoffs(random_state=0), X, y)
    before = fitted.statistics_
    with pytest.raises(ValueError, match=words):
        fitted.fit(*change(X, y))
    assert fitted.statistics_ is before


def test_criterion_without_numbers_is_named():
    X, _ = problem(30, 5, 2)
    with pytest.raises(ValueError, match="needs classes, and y holds numbers"):
        Knockoffs("forest").fit(X, X[:, 0])


def test_constant_features_are_never_selected():
    X, y = problem(80, 6, 3)
    X[:, 3] = 1.0
    found = quiet(Knockoffs(random_state=0), X, y)
    assert found.statistics_[3] == 0 and not found.support_[3]
    assert not quiet(Knockoffs(random_state=0), np.ones((20, 3)), y[:20]).support_.any()


def test_saved_and_loaded(tmp_path):
    X, y = problem(80, 6, 3)
    found = quiet(Knockoffs(fdr=0.4, random_state=0), X, y)
    again = tamiz.load(tamiz.save(found, tmp_path / "knockoffs"))
    np.testing.assert_array_equal(again.statistics_, found.statistics_)
    assert repr(again.quality_) == repr(found.quality_)
    assert clone(found).get_params()["fdr"] == 0.4


def test_interruption_keeps_the_draws_that_are_done():
    X, y = problem(60, 5, 3)
    calls = []

    def statistic(A, B, y):
        calls.append(0)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return A[0]

    with pytest.warns(RuntimeWarning, match="after 2 of 5 draws"):
        found = quiet_message(Knockoffs(statistic, n_draws=5, random_state=0), X, y)
    assert found.status_ == "interrupted" and found.draws_.shape == (2, 5)


def test_estimator_checks():
    assert_every_check_passes(Knockoffs())


def test_knockoffs_that_miss_what_neighbours_share_are_reported():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 800))
    for j in range(1, 800):
        X[:, j] = 0.6 * X[:, j - 1] + 0.8 * X[:, j]
    y = X[:, :20].sum(axis=1) + rng.normal(size=600)
    with pytest.warns(UserWarning, match="a correlation is off by 0.*use method='mvr' or 'equi'"):
        found = Knockoffs("pearson", method="lowrank", random_state=0).fit(X, y)
    quality = found.quality_
    assert quality.largest > 1.5 * quality.expected_largest
    assert max(quality.own_moments, quality.cross_moments) < 2 * quality.expected  # says nothing
    exact = Knockoffs("pearson", method="equi", random_state=0).fit(X[:, :200], y).quality_
    assert exact.largest < 1e-6


INDEPENDENT = {
    "rare": lambda rng, shape: (rng.random(shape) < 0.02).astype(float),
    "lognormal": lambda rng, shape: np.exp(rng.normal(size=shape)),
    "counts": lambda rng, shape: rng.negative_binomial(0.3, 0.1, size=shape).astype(float),
    "normal": lambda rng, shape: rng.normal(size=shape),
}


@pytest.mark.parametrize("shape", [(100, 80), (400, 60)])
@pytest.mark.parametrize("make", INDEPENDENT.values(), ids=INDEPENDENT)
def test_independent_columns_that_are_not_normal_are_not_reported(shape, make):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = make(rng, shape)
        y = X[:, 0] + X[:, 1] + rng.normal(size=len(X))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            quality = Knockoffs("pearson", random_state=0).fit(X, y).quality_
        assert not [one for one in told if "a correlation is off" in str(one.message)]
        assert quality.largest < 1.5 * quality.expected_largest


def test_what_chance_makes_of_the_largest_difference_is_that_of_shuffled_columns():
    def chance(X):
        T = rng.permuted(X, axis=0)
        names = [str(j) for j in range(X.shape[1])]
        return measure_quality(X, T, names, np.random.default_rng(1))

    rng = np.random.default_rng(0)
    normal = chance(rng.normal(size=(500, 60)))
    formula = np.sqrt(2 / 500) * np.sqrt(2 * np.log(2 * 60 * 59))
    assert 0.8 * formula < normal.expected_largest < 1.1 * formula
    assert 0.7 < normal.largest / normal.expected_largest < 1.4
    rare = chance((rng.random((500, 60)) < 0.02).astype(float))
    assert rare.expected_largest > 1.25 * formula
    assert 0.7 < rare.largest / rare.expected_largest < 1.4
    # dependent features do not raise it: it is about columns without any relation
    X = rng.normal(size=(500, 60))
    tied = measure_quality(
        X + 3 * X[:, :1], rng.normal(size=X.shape), [""] * 60, np.random.default_rng(1)
    )
    assert 0.8 * formula < tied.expected_largest < 1.1 * formula
    assert tied.largest > 3 * tied.expected_largest
    one = chance(rng.normal(size=(50, 1)))
    assert one.largest == one.expected_largest == 0.0


def test_nothing_is_selected_with_a_sentence_that_counts():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 15)), rng.normal(size=120)
    with pytest.warns(UserWarning, match="No feature is selected") as told:
        found = Knockoffs("pearson", fdr=0.2, n_copies=5, random_state=1).fit(X, y)
    assert not found.support_.any() and "at least 1 features" not in found.message_
    assert "with 0 features" not in found.message_ and len(told) >= 1


def test_samples_that_depend_on_each_other_are_refused():
    X, y = np.random.default_rng(0).standard_normal((60, 4)), np.arange(60) % 2
    with pytest.raises(ValueError, match=r"groups= puts several samples into one group.*Average"):
        Knockoffs().fit(X, y, groups=np.arange(60) // 3)
    with pytest.raises(ValueError, match=r"times= was given.*StabilitySelection keeps neighbours"):
        Knockoffs().fit(X, y, times=np.arange(60))
    with pytest.raises(ValueError, match="as far as blocks of neighbours do not depend"):
        Knockoffs().fit(X, y, times=np.zeros(60))
    with pytest.raises(ValueError, match="groups has 59 entries, X has 60 rows"):
        Knockoffs().fit(X, y, groups=list(range(59)))
    with pytest.raises(ValueError, match="groups contains a missing value"):
        Knockoffs().fit(X, y, groups=[None, *map(str, range(59))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = Knockoffs(random_state=0).fit(X, y, groups=np.arange(60))  # one sample each
        np.testing.assert_array_equal(
            alone.statistics_, Knockoffs(random_state=0).fit(X, y).statistics_
        )
