"""Tests of methods: published values, SciPy, oracles, levels, and the diagram."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from tamiz.evaluation import critical_difference, critical_difference_diagram, significance
from tamiz.evaluation.inference import holm, nemenyi_quantile, wilcoxon
from tests.naive import statistics as naive

NAMES = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
#: Demšar (2006), table 6: ranks of four learners by area under the curve on fourteen data sets.
RANKS = np.array(
    [
        [4, 3, 2, 1],
        [1, 2, 3, 4],
        [4, 1, 2, 3],
        [4, 1, 3, 2],
        [4, 2, 3, 1],
        [1, 2.5, 4, 2.5],
        [3, 2, 4, 1],
        [2.5, 2.5, 4, 1],
        [4, 3, 2, 1],
        [2.5, 2.5, 2.5, 2.5],
        [4, 2.5, 1, 2.5],
        [3, 2, 4, 1],
        [4, 1, 2, 3],
        [3, 1, 4, 2],
    ]
)
#: The areas of the first two of them.
AREAS = np.array(
    [
        [0.763, 0.768],
        [0.599, 0.591],
        [0.954, 0.971],
        [0.628, 0.661],
        [0.882, 0.888],
        [0.936, 0.931],
        [0.661, 0.668],
        [0.583, 0.583],
        [0.775, 0.838],
        [1.000, 1.000],
        [0.940, 0.962],
        [0.619, 0.666],
        [0.972, 0.981],
        [0.957, 0.978],
    ]
)
# The normal numbers of R's set.seed(123) behind the vignette of its package correctR.
R_X = (
    "0.543952 0.576982 0.755871 0.607051 0.612929 0.771506 0.646092 0.473494 0.531315 0.555434 "
    "0.722408 0.635981 0.640077 0.611068 0.544416 0.778691 0.649785 0.403338 0.670136 0.552721 "
    "0.493218 0.578203 0.497400 0.527111 0.537496 0.431331 0.683779 0.615337 0.486186 0.725381"
)
R_Y = (
    "0.442646 0.370493 0.489513 0.487813 0.482158 0.468864 0.455392 0.393809 0.369404 0.361953 "
    "0.330529 0.379208 0.273460 0.616896 0.520796 0.287689 0.359712 0.353334 0.477997 0.391663 "
    "0.425332 0.397145 0.395713 0.536860 0.377423 0.551647 0.245125 0.458461 0.412385 0.421594"
)


def runs(seed=0, n=12, k=3, ties=False):
    rng = np.random.default_rng(seed)
    table = rng.normal(0.2, 0.05, size=(n, k)) + 0.02 * np.arange(k)
    return np.round(table, 1 if ties else 6)


# ------------------------------------------------------------------ published


def test_friedman_of_demsar():
    found = significance(RANKS, names=NAMES, correct_ties=False)
    assert found.ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert found.details["chi_square"] == pytest.approx(9.28, abs=0.005)
    assert found.statistic == pytest.approx(3.69, abs=0.005)
    assert found.details["F_df"] == (3, 39)
    assert found.significant  # the critical value of F(3, 39) at 5 % is 2.85
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    # no pair is 1.25 apart; at 10 % the difference is 1.12
    assert not any(pair.significant for pair in found.pairs)
    assert found.groups == [["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]]
    loose = significance(RANKS, names=NAMES, alpha=0.1)
    assert loose.critical_difference == pytest.approx(1.12, abs=0.005)
    apart = {frozenset((p.first, p.second)) for p in loose.pairs if p.significant}
    assert apart == {frozenset(("C4.5", "C4.5+m")), frozenset(("C4.5", "C4.5+m+cf"))}
    assert loose.groups == [["C4.5+m+cf", "C4.5+m", "C4.5+cf"], ["C4.5+cf", "C4.5"]]


def test_holm_against_the_control_of_demsar():
    found = significance(RANKS, names=NAMES, control="C4.5")
    assert found.posthoc == "holm" and found.critical_difference is None
    printed = {"C4.5+m+cf": (2.416, 0.016), "C4.5+m": (2.342, 0.019), "C4.5+cf": (0.512, 0.607)}
    for name, (z, p) in printed.items():
        pair = found.pair(name, "C4.5")
        # the paper goes on from ranks rounded to three digits and z to two or three
        assert abs(pair.statistic) == pytest.approx(z, abs=2e-3)
        assert pair.pvalue == pytest.approx(p, abs=2e-3)
        assert pair.significant == (name != "C4.5+cf")


def test_signed_ranks_of_demsar():
    found = significance(AREAS, names=NAMES[:2], test="wilcoxon", higher_is_better=True)
    assert found.statistic == 12  # rank sums 93 and 12, zeros shared
    assert found.significant and found.best == "C4.5+m"
    assert found.pairs[0].difference < 0


def test_nemenyi_quantiles_of_demsar():
    five = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    ten = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]
    found = [[nemenyi_quantile(alpha, k) for k in range(2, 11)] for alpha in (0.05, 0.10)]
    np.testing.assert_allclose(found, [five, ten], atol=1.01e-3)


def test_corrected_t_of_the_r_package():
    table = np.array([R_X.split(), R_Y.split()], dtype=float).T
    found = significance(table, n_train=80, n_test=20)
    assert found.statistic == pytest.approx(2.407318, abs=2e-5)
    assert found.pvalue / 2 == pytest.approx(0.01132991, abs=1e-6)  # the vignette is one-sided
    assert found.details == {"test_fraction": 0.25, "df": 29}


# ------------------------------------------------------------------ peers and oracles


def test_corrected_t_without_correction_is_the_paired_t_test():
    table = runs(k=2)
    found = significance(table, test_fraction=0.0)
    peer = stats.ttest_rel(table[:, 0], table[:, 1])
    assert found.statistic == pytest.approx(peer.statistic)
    assert found.pvalue == pytest.approx(peer.pvalue)
    low, high = peer.confidence_interval(0.95)
    assert found.pairs[0].interval == pytest.approx((low, high))
    corrected = significance(table, n_train=90, n_test=10)
    assert corrected.statistic == pytest.approx(naive.corrected_t(*table.T, 90, 10))
    assert corrected.pvalue > found.pvalue
    assert significance(table, test_fraction=10 / 90).pvalue == corrected.pvalue


def test_corrected_interval_and_pvalue_agree():
    for seed in range(20):
        found = significance(runs(seed, k=2), test_fraction=1 / 9)
        low, high = found.pairs[0].interval
        assert (low <= 0 <= high) == (not found.significant)
        edge = significance(runs(seed, k=2), test_fraction=1 / 9, alpha=found.pvalue)
        low, high = edge.pairs[0].interval  # touches zero
        assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("k", [3, 5, 9])
def test_friedman_is_that_of_scipy(k, ties):
    table = runs(k, n=15, k=k, ties=ties)
    found = significance(table, names=[f"m{j}" for j in range(k)])
    peer = stats.friedmanchisquare(*table.T)
    assert found.details["chi_square"] == pytest.approx(peer.statistic)
    assert found.details["chi_square"] == pytest.approx(naive.friedman(table.tolist()))
    assert found.details["chi_square_pvalue"] == pytest.approx(peer.pvalue)
    chi, N = peer.statistic, 15
    assert found.statistic == pytest.approx((N - 1) * chi / (N * (k - 1) - chi))
    critical = stats.studentized_range.isf(0.05, k, np.inf) * math.sqrt(k * (k + 1) / (12 * N))
    assert critical_difference(k, N) == pytest.approx(critical)
    for pair in found.pairs:
        assert pair.significant == (abs(pair.difference) >= critical)


def test_f_of_friedman_is_the_anova_of_the_ranks():
    table = runs(1, n=10, k=4, ties=True)
    ranks = stats.rankdata(table, axis=1)
    N, k = ranks.shape
    between = N * ((ranks.mean(axis=0) - ranks.mean()) ** 2).sum()
    rest = ((ranks - ranks.mean(axis=1, keepdims=True)) ** 2).sum() - between
    F = between / (k - 1) / (rest / ((k - 1) * (N - 1)))
    assert significance(table, names=list("abcd")).statistic == pytest.approx(F)


@pytest.mark.parametrize("seed", range(6))
def test_signed_ranks_are_exact(seed):
    rng = np.random.default_rng(seed)
    d = rng.normal(0.5, 1, 10)
    found = wilcoxon(d, 0.95)
    assert found.pvalue == pytest.approx(stats.wilcoxon(d, method="exact").pvalue)
    assert found.pvalue == pytest.approx(naive.signed_rank_pvalue(d.tolist()))
    tied = rng.integers(-2, 4, 10).astype(float)  # ties and zeros
    assert wilcoxon(tied, 0.95).pvalue == pytest.approx(naive.signed_rank_pvalue(tied.tolist()))


def test_signed_ranks_of_many_and_their_interval():
    rng = np.random.default_rng(0)
    d = rng.normal(0.1, 1, 300)
    peer = stats.wilcoxon(d, correction=False, method="approx")
    assert wilcoxon(d, 0.95).pvalue == pytest.approx(peer.pvalue, rel=1e-6)
    for seed in range(15):
        d = np.random.default_rng(seed).normal(0.6, 1, 12)
        found = wilcoxon(d, 0.95)
        low, high = found.interval
        assert low <= found.difference <= high
        assert (low > 0 or high < 0) == (found.pvalue <= 0.05)
        # a shift just inside is not rejected, one just outside is
        assert wilcoxon(d - low - 1e-9, 0.95).pvalue > 0.05 >= wilcoxon(d - low + 1e-9, 0.95).pvalue
    assert math.isnan(wilcoxon(np.array([1.0, 2.0, 3.0]), 0.95).interval[0])  # too few


def test_holm_steps():
    rng = np.random.default_rng(0)
    for m in (1, 2, 5, 12):
        p = rng.random(m) ** 3
        np.testing.assert_allclose(holm(p), naive.holm(p.tolist()))
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03])), [0.03, 0.06, 0.06])


def test_several_corrected_tests_are_adjusted():
    table = runs(2, k=4)
    found = significance(table, test_fraction=1 / 9)
    assert found.test == "corrected t" and found.posthoc == "holm" and len(found.pairs) == 6
    for pair in found.pairs:
        i, j = (int(name.split()[1]) - 1 for name in (pair.first, pair.second))
        alone = significance(table[:, [i, j]], test_fraction=1 / 9)
        assert pair.pvalue == pytest.approx(alone.pvalue)
        assert pair.adjusted >= pair.pvalue
    assert found.pvalue == min(pair.adjusted for pair in found.pairs)
    few = significance(table, test_fraction=1 / 9, control=0)
    assert [pair.second for pair in few.pairs] == ["method 1"] * 3 and few.groups == []


def test_corrected_test_keeps_its_level_where_the_plain_one_does_not():
    """Two equal methods on ten splits whose differences correlate as Nadeau and Bengio assume.

    With a fifth of the samples held out the correlation is 1/5. Of 300 comparisons the corrected
    test may reject 28 (binomial with 5 %, 99.9 %) and should not reject none; the plain one rejects
    far more.
    """
    rng = np.random.default_rng(0)
    rows = math.sqrt(0.8) * rng.normal(size=(300, 10)) + math.sqrt(0.2) * rng.normal(size=(300, 1))
    plain = corrected = 0
    for d in rows:
        table = np.column_stack([d, np.zeros(10)])
        plain += significance(table, test_fraction=0).significant
        corrected += significance(table, n_train=80, n_test=20).significant
    assert 2 <= corrected <= 28 < 60 < plain


def test_pvalues_of_few_rows_are_not_below_those_of_all_shuffles():
    """F is infinite if all rows agree, however few they are; the shuffles of the rows know better.

    The share of all shuffles with a statistic as large, by going through them.
    """
    for table in ([[1, 2, 3], [1, 2, 3]], [[1, 2, 3]] * 3, [[1, 1, 2]] * 3, [[1, 2, 3], [1, 3, 2]]):
        found = significance(table)
        largest = naive.friedman(table)
        orders = [sorted(set(itertools.permutations(row))) for row in table]
        shuffles = list(itertools.product(*orders))
        as_large = sum(naive.friedman(rows) >= largest - 1e-9 for rows in shuffles)
        least = max(map(len, orders)) / len(shuffles)
        if found.statistic == math.inf:
            assert found.pvalue == pytest.approx(as_large / len(shuffles)) == pytest.approx(least)
        assert least - 1e-12 <= found.pvalue <= 1


def test_rounding_makes_no_differences():
    share = np.arange(1, 11) / 10
    again = 1 - (1 - share)  # the same but for the last digits
    assert (share != again).any()
    found = significance(np.column_stack([share, again, share + 0.1]))
    np.testing.assert_array_equal(found.ranks, [1.5, 1.5, 3.0])
    d = np.array([0.3 - 0.2, 0.1, 0.2 - 0.3, 0.5 - 0.4, 0.25])
    assert len(np.unique(np.abs(d))) > 2
    assert wilcoxon(d, 0.95).pvalue == wilcoxon(np.array([0.1, 0.1, -0.1, 0.1, 0.25]), 0.95).pvalue
    same = significance(np.column_stack([share, again]), test="wilcoxon")
    assert same.pairs[0].difference == 0 and same.statistic == 10 * 11 / 4  # all are zeros


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_units_do_not_matter(size):
    table = runs(5, k=2)
    for options in ({"test_fraction": 0.1}, {"test": "wilcoxon"}):
        usual, other = significance(table, **options), significance(size * table, **options)
        assert other.pvalue == pytest.approx(usual.pvalue)
        assert other.pairs[0].interval[0] / size == pytest.approx(usual.pairs[0].interval[0])


# ------------------------------------------------------------------ invariance and form


def test_scores_instead_of_errors():
    table = runs(4, k=2)
    lower = significance(table, test_fraction=0.1, names=["a", "b"])
    higher = significance(1 - table, test_fraction=0.1, names=["a", "b"], higher_is_better=True)
    assert higher.pvalue == pytest.approx(lower.pvalue)
    np.testing.assert_allclose(higher.ranks, lower.ranks)
    np.testing.assert_allclose(higher.means, 1 - lower.means)
    assert higher.pairs[0].difference == pytest.approx(-lower.pairs[0].difference)
    assert higher.pairs[0].interval == pytest.approx(
        tuple(-v for v in lower.pairs[0].interval[::-1])
    )
    assert higher.best == lower.best


def test_order_of_methods_does_not_matter():
    table = runs(5, k=5)
    a = significance(table, names=list("abcde"))
    turned = [3, 0, 4, 1, 2]
    b = significance(table[:, turned], names=["abcde"[j] for j in turned])
    assert b.statistic == pytest.approx(a.statistic) and b.groups == a.groups
    for pair in a.pairs:
        assert b.pair(pair.first, pair.second).adjusted == pytest.approx(pair.adjusted)
    with pytest.raises(KeyError, match="not compared"):
        a.pair("a", "z")


def test_frames_give_names():
    table = runs(6, k=3)
    frame = pd.DataFrame(table, columns=["svm", "tree", "knn"])
    for given in (frame, pl.from_pandas(frame)):
        assert significance(given).names == ["svm", "tree", "knn"]
    frame["data"] = "x"
    with pytest.raises(ValueError, match="'data' of errors"):
        significance(frame)


def test_the_same_everywhere():
    same = significance(np.tile([[0.1, 0.1]], (5, 1)), test_fraction=0.1)
    assert same.pvalue == 1.0 and same.statistic == 0.0
    shifted = significance(np.tile([[0.1, 0.3]], (5, 1)), test_fraction=0.1)
    assert shifted.pvalue == 0.0 and shifted.statistic == -math.inf
    tied = significance(np.full((5, 3), 0.2))
    assert tied.pvalue == 1.0 and "tied" in tied.reason and "tied" in str(tied)
    assert not tied.significant and tied.groups == [["method 1", "method 2", "method 3"]]
    assert significance(np.full((5, 2), 0.2), test="wilcoxon").pvalue == 1.0
    perfect = significance(np.tile([1.0, 2.0, 3.0], (8, 1)))
    assert perfect.statistic == math.inf and perfect.pvalue == pytest.approx(6.0**-7)
    json.dumps(perfect.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("errors", "options", "word"),
    [
        (runs(k=2), {}, "test_fraction=n_test/n_train"),
        (runs(k=2), {"test": "corrected_t"}, "needs test_fraction"),
        (runs(k=2), {"test": "friedman"}, "three methods"),
        (runs(k=2), {"test": "t"}, "test='t'"),
        (runs(k=2), {"test_fraction": -1}, "test_fraction=-1"),
        (runs(k=2), {"n_train": 90}, "go together"),
        (runs(k=2), {"n_train": 0, "n_test": 4}, "n_train=0"),
        (runs(k=2), {"n_train": 9, "n_test": 1, "test_fraction": 0.1}, "not both"),
        (runs(), {"alpha": 5}, "alpha=5"),
        (runs(), {"names": ["a", "b"]}, "3 columns"),
        (runs(), {"names": "abc"}, "3 columns"),
        (runs(), {"names": 5}, "3 columns"),
        (pd.DataFrame(runs(), columns=["a", "a", "b"]), {}, "'a' more than once"),
        (runs(), {"posthoc": 0}, "posthoc=0"),
        (runs(k=2), {"posthoc": "nemenyi", "test": "wilcoxon"}, "goes with"),
        (runs(), {"names": ["a", "a", "b"]}, "more than once"),
        (runs(), {"control": "z"}, "control='z'"),
        (runs(), {"control": 7}, "control=7"),
        (runs(), {"posthoc": "tukey"}, "posthoc='tukey'"),
        (runs(), {"posthoc": "nemenyi", "control": 0}, "compares all pairs"),
        (runs(), {"posthoc": "nemenyi", "test_fraction": 0.1}, "goes with"),
        (runs()[:1], {}, "two or more rows"),
        (runs()[:, :1], {}, "two or more"),
        (runs()[:, 0], {}, "two or more"),
        ([["a", "b"], ["c", "d"]], {}, "numbers"),
        (
            np.where(np.arange(36).reshape(12, 3) == 4, np.nan, runs()),
            {},
            "'method 2' is nan in row 1",
        ),
    ],
)
def test_errors_are_sentences(errors, options, word):
    with pytest.raises(ValueError, match=word):
        significance(errors, **options)


def test_tables_and_text():
    found = significance(RANKS, names=NAMES)
    assert "\n" not in repr(found) and "critical difference" in str(found)
    frame = found.to_frame()
    assert len(frame) == 6 and (frame["low"] < frame["high"]).all()
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["methods"][0]["name"] == "C4.5" and len(plain["pairs"]) == 6
    holm_too = significance(RANKS, names=NAMES, posthoc="holm")
    json.dumps(holm_too.to_dict(), allow_nan=False)
    assert all(math.isnan(v) for v in holm_too.to_frame()["low"])


# ------------------------------------------------------------------ the diagram


@pytest.fixture
def plt():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def overlaps(ax):
    """Pairs of texts that touch."""
    figure = ax.figure
    figure.canvas.draw()
    boxes = [t.get_window_extent() for t in ax.texts if t.get_text()]
    found = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]
    outside = [box for box in boxes if not figure.bbox.padded(1).contains(box.x0, box.y0)]
    outside += [box for box in boxes if not figure.bbox.padded(1).contains(box.x1, box.y1)]
    return found + outside


@pytest.mark.parametrize("k", [2, 3, 5, 8, 11, 15])
@pytest.mark.parametrize("crowded", [False, True])
def test_names_never_meet(plt, k, crowded):
    rng = np.random.default_rng(k)
    middle = (k + 1) / 2
    mean = middle + (0.02 if crowded else 0.95 * (middle - 1)) * np.linspace(-1, 1, k)
    names = [f"a method of length {'x' * rng.integers(0, 9)}" + str(j) for j in range(k)]
    ax = critical_difference_diagram(mean, names=names, n_runs=20)
    assert not overlaps(ax)
    texts = " ".join(t.get_text() for t in ax.texts)
    assert all(name in texts for name in names) and "critical difference" in texts


def test_bars_join_what_does_not_differ(plt):
    found = significance(RANKS, names=NAMES, alpha=0.1)
    ax = found.plot()
    bars = [line.get_xdata() for line in ax.lines if line.get_linewidth() == 4]
    assert len(bars) == 2
    for (start, stop), group in zip(bars, found.groups, strict=True):
        ends = [found.ranks[NAMES.index(group[0])], found.ranks[NAMES.index(group[-1])]]
        assert start < ends[0] < ends[1] < stop
    by_hand = critical_difference_diagram(
        dict(zip(NAMES, found.ranks, strict=True)), n_runs=14, alpha=0.1
    )
    again = [line.get_xdata() for line in by_hand.lines if line.get_linewidth() == 4]
    np.testing.assert_allclose(bars, again)
    alone = critical_difference_diagram([1.5, 2.5, 2.0])
    assert not any(line.get_linewidth() == 4 for line in alone.lines)


@pytest.mark.parametrize(
    ("ranks", "options", "word"),
    [
        ([1.0], {}, "two or more"),
        ([1.0, np.nan], {}, "finite"),
        ([0.2, 2.0], {}, "between 1"),
        (["a", "b"], {}, "finite"),
        ([1.2, 1.8], {"names": ["a"]}, "1 names"),
        ([1.2, 1.8], {"names": ["a", "a"]}, "more than once"),
        ([1.2, 1.8], {"names": "ab"}, "must be a list"),
        ([1.2, 1.8], {"n_runs": 0}, "n_runs=0"),
        (significance(RANKS, names=NAMES), {"alpha": 0.1}, "has its own"),
        (significance(RANKS, names=NAMES), {"n_runs": 14}, "has its own"),
    ],
)
def test_wrong_ranks(plt, ranks, options, word):
    with pytest.raises(ValueError, match=word):
        critical_difference_diagram(ranks, **options)
