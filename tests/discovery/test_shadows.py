"""Shadows: decisions, rounds, tables, interruptions."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamiz
from tamiz.discovery import Shadows
from tamiz.discovery.importances import as_indicators, column_importances
from tamiz.discovery.shadows import Shuffle, State, one_round, significant
from tamiz.filters import MRMR, FisherScore, ReliefF, RReliefF
from tamiz.information.columns import CodedTable
from tamiz.svm import SVC
from tests.checks import assert_every_check_passes
from tests.naive import shadows as naive

matplotlib.use("agg")
FEW = {"n_trees": 40, "max_rounds": 40, "random_state": 0}


def xor(n=300, p=8, seed=0):
    """Two features that say the class together and not alone; the others say nothing."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, p))
    return X, ((X[:, 2] > 0) ^ (X[:, 5] > 0)).astype(int)


def sums(n=150, p=8, seed=0):
    """Two features whose sum says the class."""
    X, _ = xor(n, p, seed)
    return X, (X[:, 2] + X[:, 5] > 0).astype(int)


@pytest.mark.parametrize("rounds", [5, 15, 40])
def test_decisions_equal_sums_of_binomial_probabilities(rounds):
    hits = np.arange(rounds + 1)
    many, few = significant(hits, rounds, 0.02, "bonferroni", 4)
    expected = [naive.decision(int(h), rounds, 0.02 / 4) for h in hits]
    assert (many.astype(int) - few.astype(int)).tolist() == expected
    assert rounds == 5 or {-1, 0, 1} == set(expected)


def test_benjamini_hochberg_equals_its_definition():
    hits, rounds, level = np.array([15, 14, 13, 12, 8, 3, 0]), 15, 0.05
    many, few = significant(hits, rounds, level, "bh", 7)
    for found, tail in (
        (many, [sum(range_tail(h, rounds)) for h in hits]),
        (few, [sum(range_tail(rounds - h, rounds)) for h in hits]),
    ):
        k = max((i for i in range(1, 8) if sorted(tail)[i - 1] <= level * i / 7), default=0)
        limit = sorted(tail)[k - 1] if k else -1.0
        assert found.tolist() == [value <= limit for value in tail]
    assert many.sum() > significant(hits, rounds, level, "bonferroni", 7)[0].sum()


def range_tail(hits, rounds):
    """Probabilities of at least so many hits."""
    from math import comb

    return [comb(rounds, k) / 2**rounds for k in range(hits, rounds + 1)]


def test_accepts_an_interaction_and_rejects_the_rest():
    X, y = xor(500)
    found = Shadows(n_trees=60, max_rounds=60, random_state=0).fit(X, y)
    assert found.get_support(indices=True).tolist() == [2, 5]
    assert (found.decisions_ == -1).sum() >= 4
    assert sorted(found.ranking_[[2, 5]]) == [1, 2]
    assert sorted(found.ranking_) == list(range(1, 9))
    np.testing.assert_array_equal(found.transform(X), X[:, [2, 5]])


def test_counts_agree_with_the_history():
    X, y = sums()
    found = Shadows(n_trees=20, max_rounds=23, random_state=1).fit(X, y)
    np.testing.assert_array_equal(found.rounds_, (~np.isnan(found.history_)).sum(axis=0))
    hits = (np.nan_to_num(found.history_, nan=-np.inf) > found.limits_[:, None]).sum(axis=0)
    np.testing.assert_array_equal(found.hits_, hits)
    np.testing.assert_allclose(found.scores_, hits / found.rounds_)
    gone = [step.features[0] for step in found.selection_.path if step.action == "reject"]
    assert sorted(gone) == np.flatnonzero(found.decisions_ == -1).tolist()
    assert (found.rounds_[found.decisions_ >= 0] == found.n_rounds_).all()
    # every decision stands at the level of all looks together
    level = 0.025 / 5 / 8
    for j in np.flatnonzero(found.decisions_ == -1):
        assert naive.decision(int(found.hits_[j]), int(found.rounds_[j]), level) == -1
    frame = found.to_frame()
    assert frame["decision"].tolist()[:2] == ["accepted", "accepted"] and len(frame) == 8
    assert "rejected" in found.plot().get_title()


def test_order_is_accepted_then_undecided_then_rejected():
    X, y = xor(150)
    found = Shadows(n_trees=5, max_rounds=15, random_state=1).fit(X, y)
    assert (np.diff(found.decisions_[found.order_]) <= 0).all()
    assert found.selection_.support.sum() == (found.decisions_ == 1).sum()


def test_rounds_that_could_decide_nothing_are_not_run():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    found = Shadows(n_trees=2, max_rounds=10, random_state=0).fit(X, rng.integers(0, 2, 60))
    # 0.05 / 2 / 2 looks / 3 features is 0.0042; ten hits of ten would do, nine would not
    most = np.maximum(found.hits_, found.rounds_ - found.hits_)
    assert found.status_ == "stopped" or (most == found.rounds_).all()
    none = Shadows(n_trees=2, max_rounds=3, random_state=0).fit(X, rng.integers(0, 2, 60))
    assert none.n_rounds_ == 0 and none.undecided_.all() and none.status_ == "stopped"


def test_pure_noise_is_mostly_rejected():
    accepted = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 12)), rng.integers(0, 2, 100)
        accepted += Shadows(n_trees=10, max_rounds=60, random_state=seed).fit(X, y).support_.sum()
    assert accepted <= 9  # of 72; a feature may fit these samples by accident


@pytest.mark.parametrize(
    "selector",
    ["rbf", "relieff", "mrmr", FisherScore(), SVC(kernel="linear"), LogisticRegression()],
    ids=str,
)
def test_any_criterion(selector):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = (2 * X[:, 1] + 0.5 * rng.normal(size=120) > 0).astype(int)
    found = Shadows(selector, max_rounds=30, random_state=0).fit(X, y)
    assert found.order_[0] == 1 and found.support_[1]


def test_numeric_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = X[:, 2] + 0.1 * rng.normal(size=120)
    assert Shadows(RReliefF(), max_rounds=20, random_state=0).fit(X, y).support_[2]
    with pytest.raises(ValueError, match=r"RReliefF\(\)"):
        Shadows().fit(X, y)


@pytest.mark.parametrize("selector", [None, MRMR(), ReliefF()], ids=str)
def test_frames_with_categories_and_missing_values(selector):
    rng = np.random.default_rng(0)
    n = 150
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    frame["kind"] = rng.choice(["x", "y", "z"], n)
    y = np.where(frame["kind"] == "y", "yes", "no")
    frame.loc[::9, "a"] = np.nan
    frame.loc[3, "kind"] = None
    found = Shadows(selector, max_rounds=20, n_trees=15, random_state=0).fit(frame, y)
    assert found.support_[2] and found.order_[0] == 2


@pytest.mark.parametrize("selector", ["rbf", "linear"])
def test_machines_see_categories_as_indicators_of_one_feature(selector):
    rng = np.random.default_rng(1)
    n = 150
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    frame["kind"] = rng.choice(["w", "x", "y", "z"], n)
    frame["flag"] = rng.choice(["on", "off"], n)
    y = np.where(np.isin(frame["kind"], ["w", "y"]) ^ (rng.random(n) < 0.05), "yes", "no")
    frame.loc[::9, "a"] = np.nan
    frame.loc[3, "kind"] = None
    found = Shadows(selector, max_rounds=30, random_state=0).fit(frame, y)
    assert found.support_.tolist() == [False, False, True, False]
    assert found.history_.shape[1] == 4 and found.n_features_in_ == 4
    with pytest.raises(ValueError, match=r"column 'kind' holds categories.*'mrmr', 'rbf' or"):
        Shadows(SVC()).fit(frame, y)


def test_indicators_and_medians():
    X = np.array([[0, 1.0, 5], [1, np.nan, 7], [2, 3.0, 5], [np.nan, 8.0, 5]])
    table = CodedTable(X, np.array([True, False, True]), {})
    got, members = as_indicators(table)
    assert got.tolist() == [
        [1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 3, 1], [0, 0, 1, 0, 3, 0], [0, 0, 0, 1, 8, 0],
    ]  # fmt: skip
    assert [part.tolist() for part in members] == [[0, 1, 2, 3], [4], [5]]


@pytest.mark.parametrize(
    "steps", [(SimpleImputer(), ReliefF()), (SimpleImputer(), StandardScaler(), SVC(kernel="rbf"))]
)
def test_a_pipeline_that_fills_missing_values(steps):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = (2 * X[:, 1] + 0.5 * rng.normal(size=120) > 0).astype(int)
    X[rng.random(X.shape) < 0.05] = np.nan
    found = Shadows(make_pipeline(*steps), max_rounds=30, random_state=0).fit(X, y)
    assert found.support_[1] and found.order_[0] == 1


@pytest.mark.parametrize("selector", [None, "rbf", "linear", FisherScore(), LogisticRegression()])
def test_groups_of_features_are_decided_together(selector):
    """A product split over two columns that are one feature, beside pairs of noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    y = (X[:, 2] + X[:, 5] + 0.3 * rng.normal(size=200) > 0).astype(int)
    groups = {"good": [2, 5], "noise": [0, 7]}
    found = Shadows(selector, max_rounds=30, n_trees=20, feature_groups=groups, random_state=0).fit(
        X, y
    )
    assert found.get_support(indices=True).tolist() == [2, 5]
    assert sorted(found.order_[:2].tolist()) == [2, 5]
    for left, right in ((2, 5), (0, 7)):
        assert found.hits_[left] == found.hits_[right]
        np.testing.assert_array_equal(found.history_[:, left], found.history_[:, right])
    first = found.selection_.path[0]
    assert len(first.features) in (1, 2) and first.n_features <= 8
    assert any(step.features == [2, 5] for step in found.selection_.path)


def test_a_group_is_shuffled_as_one():
    columns = np.array([[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]])
    seen = set()
    for seed in range(10):
        members = [np.array([0, 1]), np.array([2])]
        got = Shuffle(None)(columns, np.random.default_rng(seed), members)
        np.testing.assert_array_equal(got[1], got[0] + 10)
        seen.add(tuple(got[2] - got[0]))
        inside = Shuffle(np.array([0, 1, 0, 1]))(columns, np.random.default_rng(seed), members)
        assert set(inside[0, [0, 2]]) == {0, 2} and set(inside[2, [1, 3]]) == {21, 23}
    assert len(seen) > 5


def test_leaving_a_group_out_equals_a_kernel_without_its_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    machine = SVC(kernel="rbf", gamma=0.3).fit(X, y)
    members = [np.array([0, 1]), np.array([2]), np.array([3, 4])]
    S, coef = machine.support_vectors_, machine.dual_coef_[0]

    def norm(columns):
        gaps = ((S[:, None, columns] - S[None, :, columns]) ** 2).sum(axis=2)
        return coef @ np.exp(-0.3 * gaps) @ coef

    expected = [
        abs(norm(np.arange(5)) - norm(np.setdiff1d(np.arange(5), part))) for part in members
    ]
    np.testing.assert_allclose(column_importances(machine, 5, members), expected, rtol=1e-8)


class Sizes:
    """A competition in which large units matter more, by nothing but their size."""

    def __init__(self, sizes):
        ends = np.cumsum(sizes)
        self.members = np.split(np.arange(ends[-1]), ends[:-1])
        self.fits = []

    def importances(self, features, shadows, random):
        sizes = np.array([len(self.members[k]) for k in [*features, *shadows]])
        self.fits.append((sizes[len(features) :], 10.0 * sizes + random.random(len(sizes))))
        return self.fits[-1][1]


@pytest.mark.parametrize("sizes", [[1] * 9, [1] * 8 + [6], [1, 2, 3, 4, 40], [1, 7], [3, 1, 1, 3]])
@pytest.mark.parametrize("percentile", [100.0, 60.0])
def test_units_have_to_beat_as_many_shadows_of_their_size_as_there_are_units(sizes, percentile):
    competition, active = Sizes(sizes), np.arange(len(sizes))
    own, limits = one_round(competition, active, 3, 4, percentile)
    np.testing.assert_array_equal(own, competition.fits[0][1][: len(sizes)])
    wanted = max(5, len(sizes))
    for k, size in enumerate(sizes):
        beside = [values[len(sizes) :][of == size] for of, values in competition.fits]
        beside = np.concatenate(beside)
        assert len(beside) >= wanted
        assert limits[k] == np.percentile(beside[:wanted], percentile)
    for of, _ in competition.fits:
        assert of.sum() <= max(3 * sum(sizes), 5 * max(sizes)) and set(of) == set(sizes)
    assert (len(competition.fits) == 1) == (len(set(sizes)) == 1 or sizes == [3, 1, 1, 3])


def test_a_strong_feature_is_found_beside_a_large_group_of_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 30))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    groups = [list(range(10, 30))]
    found = Shadows(max_rounds=20, feature_groups=groups, random_state=0).fit(X, y)
    assert found.get_support(indices=True).tolist() == [0]
    assert found.limits_.shape == (found.n_rounds_, 30)
    hits = (np.nan_to_num(found.history_, nan=-np.inf) > found.limits_).sum(axis=0)
    np.testing.assert_array_equal(found.hits_, hits)
    assert len(found.plot().get_yticks()) == 31


def test_a_checkpoint_with_one_limit_for_all_units_is_read():
    rows = State.start(np.ones(3, dtype=int), 5, None)
    for low in (0.0, 1.0):
        rows.note(np.arange(3), low + np.arange(3.0), np.full(3, low + 0.5))
    kept = rows.arrays()
    single = State.start(rows.sizes, 5, {**kept, "limits": kept["limits"][:, 0]})
    for name, values in single.arrays().items():
        np.testing.assert_array_equal(values, kept[name])


@pytest.mark.parametrize("size", [1, 20])
def test_groups_of_noise_have_few_hits_whatever_their_size(size):
    """Each of 21 units beats the best of 21 shadows about once in 22 times."""
    fractions = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 20 + size)), np.arange(60) % 2
        found = Shadows(
            FisherScore(), max_rounds=20, feature_groups=[range(20, 20 + size)], random_state=seed
        )
        fractions.append(found.fit(X, y).scores_[-1])
    assert 0 < np.mean(fractions) < 0.2


def test_groups_of_one_column_change_nothing():
    X, y = xor(150)
    alone = Shadows(**FEW).fit(X, y)
    named = Shadows(**FEW, feature_groups=[[3], [0]]).fit(X, y)
    np.testing.assert_array_equal(alone.history_, named.history_)
    assert alone.order_.tolist() == named.order_.tolist()
    with pytest.raises(ValueError, match="belongs to one group at most"):
        Shadows(feature_groups=[[0, 1], [1]]).fit(X, y)


def test_missing_values_are_refused_where_the_criterion_takes_none():
    X, y = xor(40)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="row 3, column 2"):
        Shadows(FisherScore()).fit(X, y)
    assert Shadows(**FEW).fit(X, y).n_features_in_ == 8


def test_shuffling_stays_inside_of_groups():
    groups = np.array(["a", "b", "a", "b", "a", "c"])
    columns = np.array([[1, 10, 2, 20, 3, 5], [4, 40, 5, 50, 6, 7]])
    shuffle = Shuffle.within(groups, 6)
    seen = set()
    for seed in range(20):
        found = shuffle(columns, np.random.default_rng(seed))
        for one in "abc":
            rows = groups == one
            np.testing.assert_array_equal(np.sort(found[:, rows]), np.sort(columns[:, rows]))
        seen.add(found.tobytes())
    assert len(seen) > 5
    part = shuffle.part(np.array([0, 2, 5]))(columns[:, [0, 2, 5]], np.random.default_rng(1))
    assert part[:, 2].tolist() == [5, 7]


def test_groups_take_away_what_groups_explain():
    """A feature that only says the laboratory is as good as its shadow inside of laboratories."""
    rng = np.random.default_rng(0)
    laboratory = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 4))
    X[:, 0] += 4 * laboratory
    y = laboratory ^ (rng.random(200) < 0.2)
    assert Shadows(**FEW).fit(X, y).support_[0]
    assert not Shadows(**FEW).fit(X, y, groups=laboratory).support_[0]
    with pytest.raises(ValueError, match="groups has 3"):
        Shadows().fit(X, y, groups=[1, 2, 3])


def test_times_take_away_a_trend():
    """Among neighbours in time, what only follows the trend is as good as its shadow."""
    rng = np.random.default_rng(0)
    time = rng.permutation(300)  # rows stand in any order
    X = rng.normal(size=(300, 5))
    y = rng.random(300) < np.clip(time / 300 + 0.8 * (X[:, 1] > 0) - 0.4, 0.05, 0.95)
    X[:, 0] += time / 30
    assert Shadows(**FEW).fit(X, y).support_[:2].all()
    among = Shadows(**FEW).fit(X, y, times=time)
    assert not among.support_[0] and among.support_[1]
    days = np.datetime64("2020-01-01") + time  # the same as dates
    np.testing.assert_array_equal(Shadows(**FEW).fit(X, y, times=days).hits_, among.hits_)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"groups": np.arange(40), "times": np.arange(40)},
            "groups= and times= cannot be combined",
        ),
        ({"times": np.arange(3)}, "times has 3 entries"),
        ({"times": ["a", "b"] * 20}, "times holds the text 'a'; times are numbers or dates"),
        ({"times": np.ones(40)}, "times are the same in all samples"),
        ({"times": np.arange(40) // 2}, "within every block of neighbours in time"),
    ],
)
def test_times_that_are_of_no_use_are_refused(given, words):
    X, y = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) // 2 % 2
    with pytest.raises(ValueError, match=words):
        Shadows(max_rounds=5).fit(X, y, **given)


def test_weights_leave_samples_out():
    X, y = xor(200)
    y = np.where(np.arange(200) < 100, y, (X[:, 0] > 0).astype(int))
    late = (np.arange(200) >= 100).astype(float)
    assert Shadows(**FEW).fit(X, y, sample_weight=late).order_[0] == 0
    direct = Shadows(**FEW).fit(X[100:], y[100:])
    weighed = Shadows(**FEW).fit(X, y, sample_weight=late)
    np.testing.assert_array_equal(direct.history_, weighed.history_)
    with pytest.raises(ValueError, match="takes no sample weights"):
        Shadows(SelectKBest()).fit(X, y, sample_weight=late)
    assert Shadows(FisherScore(), **FEW).fit(X, y, sample_weight=late).support_[0]


def test_workers_and_seeds():
    X, y = xor(120)
    for selector in (None, FisherScore()):
        one, two = (Shadows(selector, n_jobs=k, **FEW).fit(X, y) for k in (1, 2))
        np.testing.assert_array_equal(one.history_, two.history_)
        np.testing.assert_array_equal(one.decisions_, two.decisions_)
    other = Shadows(n_trees=15, max_rounds=40, random_state=5).fit(X, y)
    assert not np.array_equal(one.limits_, other.limits_)


class StopsInRound(FisherScore):
    """Raises Ctrl-C at its seventh fit."""

    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        type(self).fits += 1
        if type(self).fits == 8:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


def test_interruption_keeps_the_rounds_and_can_be_resumed(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    y = (X[:, 1] + rng.normal(size=80) > 0).astype(int)
    path = tmp_path / "rounds.npz"
    StopsInRound.fits = 0
    settings = {"max_rounds": 40, "checkpoint": path}
    with pytest.warns(RuntimeWarning, match="after 5 of at most 40 rounds"):
        first = Shadows(StopsInRound(), **settings).fit(X, y)
    assert first.status_ == "interrupted" and first.n_rounds_ == 5 and first.undecided_.all()
    resumed = Shadows(StopsInRound(), resume=True, **settings).fit(X, y)
    np.testing.assert_array_equal(resumed.history_[:5], first.history_)
    assert resumed.n_rounds_ > 5 and resumed.status_ in ("converged", "stopped")
    with pytest.raises(ValueError, match="resume"):
        Shadows(resume=True).fit(X, y)


def test_resumed_run_equals_one_run(tmp_path):
    X, y = xor(100)
    whole = Shadows(n_trees=5, max_rounds=30, random_state=0).fit(X, y)
    path = tmp_path / "rounds.npz"
    made = Shadows(n_trees=5, max_rounds=30, random_state=0, checkpoint=path)
    made.fit(X, y)
    again = Shadows(n_trees=5, max_rounds=30, random_state=0, checkpoint=path, resume=True)
    again.fit(X, y)  # all rounds are in the file
    np.testing.assert_array_equal(whole.history_, again.history_)
    assert whole.selection_.path == again.selection_.path


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"alpha": 0}, "alpha"),
        ({"alpha": 1.0}, "alpha"),
        ({"max_rounds": 0}, "max_rounds"),
        ({"percentile": 0}, "percentile"),
        ({"correction": "none"}, "correction"),
        ({"n_trees": 0}, "n_trees"),
        ({"selector": 3}, "selector"),
        ({"selector": "nothing"}, "selector"),
        ({"selector": StandardScaler()}, "says nothing of single features"),
    ],
)
def test_absurd_parameters_are_refused(params, words):
    X, y = xor(40)
    with pytest.raises((ValueError, TypeError), match=words):
        Shadows(**params).fit(X, y)


def test_failed_fit_changes_nothing():
    X, y = xor(60)
    found = Shadows(**FEW).fit(X, y)
    before = found.order_
    for bad in ((X[:, :3], np.zeros(60)), (X[:1], y[:1]), (X * np.inf, y), (X, y[:3])):
        with pytest.raises(ValueError, match=r"one class|minimum of 2|infinity|60"):
            found.fit(*bad)
        assert found.order_ is before


def test_saved_and_loaded(tmp_path):
    X, y = sums(100)
    found = Shadows(**FEW).fit(X, y)
    again = tamiz.load(tamiz.save(found, tmp_path / "shadows"))
    np.testing.assert_array_equal(again.history_, found.history_)
    np.testing.assert_array_equal(again.transform(X), found.transform(X))


def test_estimator_checks():
    assert_every_check_passes(
        Shadows(n_trees=3, max_rounds=10),
        not_met={"check_sample_weight_equivalence_on_dense_data": "bootstrap samples"},
    )


def test_groups_that_hold_one_class_each_are_refused():
    rng = np.random.default_rng(0)
    person = np.arange(40) // 4
    with pytest.raises(ValueError, match="the same within every group"):
        Shadows(max_rounds=5).fit(rng.standard_normal((40, 3)), person % 2, groups=person)
