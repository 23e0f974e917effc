"""StabilitySelection: plain loops, any selector, what was asked for, and interruptions."""

from __future__ import annotations

import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, SelectPercentile
from sklearn.linear_model import Lasso, LogisticRegression, Ridge, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

import tamiz
from tamiz.discovery import StabilitySelection, stability_bound
from tamiz.embedded import L1SVM
from tamiz.filters import (
    CFS,
    MRMR,
    FisherScore,
    InformationGain,
    PearsonScore,
    WelchT,
)
from tamiz.search.resampling import continues
from tamiz.svm import LinearMachine
from tests.checks import assert_every_check_passes
from tests.naive import discovery as naive


def table(n=100, p=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = (X[:, 2] + X[:, 5] + 0.3 * rng.normal(size=n) > 0).astype(int)
    return X, y


@pytest.fixture(scope="module")
def data():
    return table()


def fitted(data, selector=None, **params):
    settings = {"n_subsamples": 20, "random_state": 0, **params}
    return StabilitySelection(selector or FisherScore(), **settings).fit(*data)


# ------------------------------------------------------------------------------------ frequencies


@pytest.mark.parametrize(
    "selector",
    [FisherScore(), MRMR(), SelectKBest(), RFE(Ridge()), make_pipeline(StandardScaler(), WelchT())],
    ids=lambda s: type(s).__name__,
)
def test_frequencies_equal_plain_loops(selector, data):
    got = fitted(data, selector, n_features_per_subsample=3, n_subsamples=6)
    step = selector.steps[-1][1] if hasattr(selector, "steps") else selector
    size = "k" if isinstance(step, SelectKBest) else "n_features_to_select"
    prefix = "welcht__" if hasattr(selector, "steps") else ""
    sized = selector.set_params(**{prefix + size: 3})
    seed = int(check_random_state(0).randint(np.iinfo(np.int32).max))
    want = naive.frequencies(sized, *data, n_pairs=3, seed=seed)
    np.testing.assert_array_equal(got.frequencies_, want)
    both = got.entry_sizes_[0::2].astype(bool) & got.entry_sizes_[1::2].astype(bool)
    np.testing.assert_array_equal(got.simultaneous_, both.mean(axis=0))
    np.testing.assert_array_equal(got.support_, got.frequencies_ >= got.threshold_)


def test_one_fit_gives_the_frequencies_of_every_size(data):
    whole = fitted(data, n_features_per_subsample=5)
    path = whole.frequency_path()
    assert path.shape == (5, 20)
    np.testing.assert_allclose(path[-1], whole.frequencies_)
    for size in (1, 3):
        own = fitted(data, n_features_per_subsample=size)
        np.testing.assert_allclose(path[size - 1], own.frequencies_)


def test_halves_are_disjoint_and_keep_classes_and_groups_together(data):
    from tamiz.search.resampling import Halves, ResampledTable

    X = data[0][:60]
    y = np.repeat([0, 1, 1], 20)
    halves = Halves(ResampledTable(X, y))
    for b in range(5):
        one, two = halves.pair(7, b)
        assert len(one) == len(two) == 30 and not set(one) & set(two)
        assert y[one].mean() == y[two].mean()
        want = naive.halves([np.flatnonzero(y == 0), np.flatnonzero(y == 1)], 7, b)
        np.testing.assert_array_equal(one, want[0])
        np.testing.assert_array_equal(two, want[1])
    odd = Halves(ResampledTable(X[:7], np.array([0, 0, 0, 1, 1, 1, 1])))
    assert [len(part) for part in odd.pair(0, 0)] == [3, 3]
    groups = np.arange(60) // 4
    together = Halves(ResampledTable(X, y), groups)
    for b in range(5):
        one, two = together.pair(7, b)
        assert not set(groups[one]) & set(groups[two])
        assert len(one) == 4 * len(set(groups[one])) and len(one) == len(two) == 28
        assert abs(y[one].mean() - y[two].mean()) < 0.2


def test_neighbours_in_time_are_in_one_half():
    """A slow trend and a slow target: rows tell of their neighbours, blocks do not."""
    rng = np.random.default_rng(0)
    time = rng.permutation(200)
    X = rng.standard_normal((200, 30))
    y = (np.sin(time / 8) + X[:, 3] > 0).astype(int)
    settings = {"pfer": 1.0, "random_state": 0, "n_subsamples": 20}
    with pytest.warns(UserWarning, match="blocks of neighbours in time") as said:
        found = StabilitySelection(FisherScore(), **settings).fit(X, y, times=time)
    assert len(said) == 1 and said[0].filename == __file__
    blocks = StabilitySelection(FisherScore(), **settings).fit(X, y, groups=time // 10)
    np.testing.assert_array_equal(found.frequencies_, blocks.frequencies_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = StabilitySelection(FisherScore(), **settings).fit(X, y)
    assert not np.array_equal(found.entry_sizes_, alone.entry_sizes_)
    with pytest.raises(ValueError, match="groups= and times= cannot be combined"):
        StabilitySelection(FisherScore()).fit(X, y, groups=time, times=time)


@pytest.mark.filterwarnings("ignore:with times= the bound")
@pytest.mark.parametrize("by", ["groups", "times"])
def test_samples_of_weight_zero_leave_their_groups_and_times(by):
    rng = np.random.default_rng(0)
    X, along = rng.standard_normal((200, 10)), rng.permutation(200)
    y = (X[:, 3] + rng.standard_normal(200) > 0).astype(int)
    along = along // 10 if by == "groups" else along
    weight = (rng.random(200) < 0.7) * (along > along.max() / 3)
    kept = weight > 0
    settings = {"n_features_per_subsample": 2, "random_state": 0, "n_subsamples": 10}
    method = StabilitySelection(FisherScore(), **settings)
    got = clone(method).fit(X, y, weight, **{by: along})
    want = clone(method).fit(X[kept], y[kept], weight[kept], **{by: along[kept]})
    np.testing.assert_array_equal(got.frequencies_, want.frequencies_)


def test_groups_are_used(data):
    X, y = data
    doubled, labels, groups = np.repeat(X, 2, axis=0), np.repeat(y, 2), np.repeat(np.arange(100), 2)
    settings = {"n_subsamples": 10, "n_features_per_subsample": 3, "random_state": 0}
    got = StabilitySelection(FisherScore(), **settings).fit(doubled, labels, groups=groups)
    want = StabilitySelection(FisherScore(), **settings).fit(X, y)
    np.testing.assert_array_equal(got.frequencies_, want.frequencies_)


def test_features_of_equal_score_are_not_taken_by_their_position():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 30)), np.arange(40) % 2
    for selector in (InformationGain(bins="mdl"), CFS()):  # nearly all scores are 0
        got = fitted((X, y), selector, n_features_per_subsample=6, n_subsamples=40)
        assert got.frequencies_[:6].mean() < 0.5


def test_columns_keep_their_order_if_a_parameter_may_name_them(data):
    first = MRMR(categorical_features=[0])
    X, y = data
    binned = X.copy()
    binned[:, 0] = X[:, 0] > 0
    got = fitted((binned, y), first, n_features_per_subsample=2)
    assert set(got.order_[:2]) == {2, 5}
    moves = ColumnTransformer([("some", StandardScaler(), [2, 3])], remainder="passthrough")
    with pytest.raises(ValueError, match="ColumnTransformer changes the order of the columns"):
        fitted(data, make_pipeline(moves, SelectKBest()))


# ------------------------------------------------------------------------------- what is asked for


@pytest.mark.parametrize("assumption", ["none", "unimodal", "r-concave"])
def test_size_follows_from_the_error_asked_for(assumption, data):
    got = fitted(data, pfer=0.8, assumption=assumption, threshold=0.8)
    bound = {"n_pairs": 10, "assumption": assumption}
    assert got.bound_ == stability_bound(got.q_, 20, 0.8, **bound) <= 0.8
    assert stability_bound(got.q_ + 1, 20, 0.8, **bound) > 0.8
    assert got.threshold_ == 0.8 and (got.entry_sizes_ > 0).sum(axis=1).max() == got.q_


def test_threshold_follows_from_size_and_error(data):
    got = fitted(data, pfer=0.5, n_features_per_subsample=4)
    assert stability_bound(4, 20, got.threshold_, n_pairs=10) == got.bound_ <= 0.5
    assert stability_bound(4, 20, got.threshold_ - 0.05, n_pairs=10) > 0.5


def test_one_mistake_is_allowed_by_default(data):
    assert fitted(data).bound_ == fitted(data, pfer=1.0).bound_ <= 1.0
    loose = fitted(data, threshold=0.55, n_features_per_subsample=15)  # asks for nothing
    assert loose.bound_ == 20 and loose.q_ == 15


def test_rate_of_false_discoveries_selects_most_that_the_bound_allows(data):
    got = fitted(data, fdr=0.2)
    n = got.support_.sum()
    assert n >= 2 and got.bound_ <= 0.2 * n
    assert got.entry_sizes_.max() == 10  # half of the features; the square root of 8 p is more
    for q in range(1, 11):
        frequency = ((got.entry_sizes_ > 0) & (got.entry_sizes_ <= q)).mean(axis=0)
        for count in range(11, 21):
            other = (frequency >= count / 20 - 1e-9).sum()
            if other > n:
                assert stability_bound(q, 20, count / 20, n_pairs=10) > 0.2 * other
    fixed = fitted(data, fdr=0.2, n_features_per_subsample=4)
    assert fixed.q_ == 4 and fixed.support_.sum() <= n


def test_scores_rank_where_a_selector_does_not(data):
    by_scores = fitted(data, SelectKBest(), n_features_per_subsample=5).frequency_path()
    by_ranking = fitted(data, PearsonScore(), n_features_per_subsample=5).frequency_path()
    np.testing.assert_allclose(by_scores, by_ranking)  # F grows with the correlation
    eliminated = fitted(data, RFE(Ridge()), n_features_per_subsample=5, n_subsamples=4)
    assert not eliminated.frequency_path()[:4].any()  # all come in together


def test_a_rate_that_no_threshold_reaches_selects_nothing():
    rng = np.random.default_rng(1)
    got = fitted((rng.normal(size=(60, 20)), np.arange(60) % 2), fdr=0.01)
    assert not got.support_.any() and got.threshold_ == np.inf and got.bound_ == 0
    got.plot()


def test_why_nothing_is_selected_at_a_rate():
    """The sentence has the least rate of all sizes and thresholds, computed anew here."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 12))
    y = X[:, 0] + X[:, 1] + X[:, 2] + rng.normal(size=120) > 0
    model = StabilitySelection(MRMR(3), fdr=0.1, random_state=0)
    with pytest.warns(UserWarning, match="No feature is selected at fdr=0.1"):
        model.fit(X, y)
    least = np.inf
    for q in range(1, 7):
        counts = ((model.entry_sizes_ > 0) & (model.entry_sizes_ <= q)).sum(axis=0)
        for count in range(51, 101):
            bound = stability_bound(q, 12, count / 100)
            least = min(least, bound / max((counts >= count).sum(), 1e-9))
    assert f"is {least:.2g} (" in model.message_ and least > 0.1
    assert "q_=6 features" in model.message_ and "n_features_to_select=3 of MRMR" in model.message_
    assert model.selection_.notes["message"] == model.message_
    assert "the least rate that the bound allows for" in model._repr_html_()
    assert model.set_params(fdr=0.9).fit(X, y).message_ == ""


def test_why_nothing_is_selected_at_a_threshold():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(60, 20)), np.arange(60) % 2
    with pytest.warns(UserWarning, match="% of the halves, and 90 % are needed"):
        got = fitted(data, pfer=1.0, threshold=0.9)
    assert f"is in {100 * got.frequencies_.max():g} % of" in got.message_
    # the selector decides how many: there is a rate all the same
    with pytest.warns(UserWarning, match="No feature is selected at fdr=0.001: "):
        got = fitted(data, MRMR(3), fdr=0.001, n_features_per_subsample="own")
    assert "in place of" not in got.message_


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"pfer": 1e-6}, "pfer=1e-06 cannot be had among 20 features.* Possible: pfer=0.0"),
        ({"pfer": 0.05, "n_features_per_subsample": 9}, "Possible: pfer=.* features per subsample"),
        (
            {"pfer": 0.2, "n_features_per_subsample": 9, "threshold": 0.6},
            "9 features per subsample and threshold=0.6 .*Possible: 1 feature per subsample, or",
        ),
        ({"pfer": 0.05, "n_features_per_subsample": 2, "threshold": 0.6}, ", or threshold="),
        ({"pfer": 0.06, "threshold": 0.7}, "or assumption='r-concave'"),
        ({"pfer": 1, "fdr": 0.1}, "pfer=1 and fdr=0.1 ask for two things"),
        ({"fdr": 0.1, "threshold": 0.7}, "fdr=0.1 chooses the threshold"),
        ({"n_features_per_subsample": 21}, "but X has 20 features"),
        ({"penalty": {}}, "must name one parameter"),
        ({"penalty": {"C": [1]}}, "names 'C', which"),
        ({"penalty": {"n_features_to_select": []}}, "has no values"),
        ({"resume": True}, "resume=True needs a file"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"threshold": 0.5}, "'threshold' parameter"),
        ({"n_subsamples": 1}, "'n_subsamples' parameter"),
    ],
)
def test_what_cannot_be_had_is_refused_with_what_can(params, sentence, data):
    with pytest.raises(ValueError, match=sentence):
        fitted(data, **params)


def test_possible_ways_are_possible(data):
    with pytest.raises(ValueError, match="cannot be had") as caught:
        fitted(data, pfer=0.05, n_features_per_subsample=9)
    pfer, _, features = str(caught.value).partition("Possible: pfer=")[2].partition(", or ")
    assert fitted(data, pfer=float(pfer), n_features_per_subsample=9).q_ == 9
    fewer = int(features.split()[0])
    assert fitted(data, pfer=0.05, n_features_per_subsample=fewer).q_ == fewer


# ---------------------------------------------------------------------------------- any selector


def test_a_selector_without_a_number_decides_itself(data):
    got = fitted(data, SelectPercentile(percentile=20), pfer=1.0)
    assert got.q_ == 4 and got.support_[[2, 5]].all()
    again = fitted(data, FisherScore(4), n_features_per_subsample="own", pfer=1.0)
    np.testing.assert_array_equal(again.threshold_, got.threshold_)
    with pytest.raises(ValueError, match="the mean number that the selector chose"):
        fitted(data, SelectPercentile(percentile=50), pfer=0.1)
    with pytest.raises(ValueError, match="has no parameter for the number of features"):
        fitted(data, SelectPercentile(), n_features_per_subsample=3)


def test_path_over_a_penalty_is_the_union_while_it_is_small_enough(data):
    X = data[0]
    y = X[:, 2] + X[:, 5] + 0.3 * np.random.default_rng(1).normal(size=len(X))
    lasso, name = SelectFromModel(Lasso(), threshold=1e-9), "estimator__alpha"
    path = {name: [0.8, 0.4, 0.2, 0.1, 0.05]}
    got = fitted((X, y), lasso, penalty=path, n_features_per_subsample=4)
    assert got.support_[[2, 5]].all()
    for sizes in got.entry_sizes_:
        inside = sizes[sizes > 0]
        for size in np.unique(inside):  # those that come in with a size are that many by then
            assert (inside <= size).sum() == size
    within = (got.entry_sizes_ > 0) & (got.entry_sizes_ <= 4)
    assert within.sum(axis=1).max() <= 4
    np.testing.assert_array_equal(got.frequencies_, within.mean(axis=0))
    with pytest.warns(UserWarning, match="begin with one that selects fewer"):
        fitted((X, y), lasso, penalty={name: [1e-4]}, n_features_per_subsample=2)


def test_tables_of_all_kinds_give_the_same(data):
    X, y = data
    names = [f"gene {j}" for j in range(20)]
    want = fitted(data)
    frame = pd.DataFrame(X, columns=names)
    for other in (frame, pl.DataFrame(X, schema=names), sparse.csr_matrix(X)):
        np.testing.assert_array_equal(fitted((other, y)).frequencies_, want.frequencies_)
    got = fitted((frame, y))
    assert "gene 2" in got.get_feature_names_out()
    assert list(got.transform(frame).columns) == list(got.get_feature_names_out())
    assert got.to_frame()["name"][:2].isin(["gene 2", "gene 5"]).all()
    assert fitted((X, X[:, 3]), PearsonScore(), pfer=0.3).get_support(indices=True).tolist() == [3]


def test_selectors_that_are_none(data):
    with pytest.raises(TypeError, match="does not select features"):
        fitted(data, LogisticRegression())
    with pytest.raises(TypeError, match="is a class"):
        fitted(data, FisherScore.__class__)
    with pytest.raises(ValueError, match="y is None"):
        StabilitySelection(FisherScore()).fit(data[0])
    with pytest.raises(ValueError, match="only one sample of class 1"):
        fitted((data[0], np.array([1] + [0] * 99)))
    with pytest.raises(ValueError, match=r"groups has .* entries"):
        StabilitySelection(FisherScore()).fit(*data, groups=[1, 2])


def test_scikit_learn_checks():
    # halves are drawn of samples: one of weight two is in one half, two samples may be in both
    drawn = {f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}
    assert_every_check_passes(StabilitySelection(FisherScore(), n_subsamples=4), drawn)


def test_weights_reach_the_selector_and_samples_of_weight_zero_are_absent(data):
    X, y = data

    def weighed(rows, weight, selector=None):
        selector = selector or FisherScore()
        found = StabilitySelection(selector, n_subsamples=20, random_state=0)
        return found.fit(X[rows], y[rows], sample_weight=weight)

    weight = np.random.default_rng(1).uniform(0.2, 3.0, len(y))
    weight[::7] = 0.0
    kept, all_rows = np.flatnonzero(weight), np.arange(len(y))
    found = weighed(all_rows, weight)
    same(found, weighed(kept, weight[kept]))
    plain = weighed(kept, None)
    assert not np.array_equal(found.entry_sizes_, plain.entry_sizes_)
    same(plain, weighed(kept, np.full(len(kept), 2.0)))
    same(found, weighed(all_rows, weight, make_pipeline(FisherScore())))
    with pytest.raises(ValueError, match="SelectKBest takes no sample weights"):
        weighed(all_rows, weight, SelectKBest())
    with pytest.raises(ValueError, match="positive for 3 samples"):
        weighed(all_rows, all_rows < 3)


# ------------------------------------------------------------------- workers, files, interruptions


def same(one, two):
    np.testing.assert_array_equal(one.entry_sizes_, two.entry_sizes_)
    assert one.threshold_ == two.threshold_ and one.order_.tolist() == two.order_.tolist()


def test_two_workers_give_the_same(data):
    same(fitted(data), fitted(data, n_jobs=2))
    with joblib.parallel_config("threading"):
        same(fitted(data, SelectKBest()), fitted(data, SelectKBest(), n_jobs=2))


class Stops(FisherScore):
    """Interrupted as by Ctrl-C in the fit of a number."""

    left = 0

    def fit(self, X, y, sample_weight=None):
        Stops.left -= 1
        if Stops.left == 0:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


def test_ctrl_c_keeps_complete_pairs_and_a_file_goes_on(data, tmp_path):
    whole = fitted(data, Stops())
    path = tmp_path / "halves"
    Stops.left = 10
    with pytest.warns(RuntimeWarning, match="stopped after 9 of 20 subsamples"):
        part = fitted(data, Stops(), checkpoint=path)
    assert part.status_ == "interrupted" and part.n_pairs_ == 4
    np.testing.assert_array_equal(part.entry_sizes_, whole.entry_sizes_[:8])
    assert part.bound_ == stability_bound(part.q_, 20, part.threshold_, n_pairs=4)
    Stops.left = 3
    with pytest.raises(KeyboardInterrupt):
        fitted(data, Stops())
    Stops.left = 0
    again = fitted(data, Stops(), checkpoint=path, resume=True)
    assert Stops.left == -11  # nine were known
    same(again, whole)
    same(fitted(data, Stops(), checkpoint=path, resume=True), whole)
    with pytest.raises(FileExistsError):
        fitted(data, Stops(), checkpoint=path)
    with pytest.raises(ValueError, match="checkpoint"):
        fitted(data, Stops(), checkpoint=path, resume=True, n_features_per_subsample=1)


def test_a_file_goes_on_to_more_subsamples(data, tmp_path):
    path = tmp_path / "halves"
    fitted(data, n_features_per_subsample=3, n_subsamples=6, checkpoint=path)
    more = fitted(data, n_features_per_subsample=3, checkpoint=path, resume=True)
    same(more, fitted(data, n_features_per_subsample=3))


def test_saved_and_loaded(data, tmp_path):
    got = fitted(data)
    tamiz.save(got, tmp_path / "s.tamiz")
    back = tamiz.load(tmp_path / "s.tamiz")
    same(back, got)
    np.testing.assert_array_equal(back.transform(data[0]), got.transform(data[0]))


def test_drawn(data):
    got = fitted(data)
    ax = got.plot(top=5)
    assert len(ax.patches) <= 5 and "selected" in ax.get_title()
    assert len(got.plot_path(top=3).lines) == 3 + got.support_.sum() + 1
    with pytest.raises(NotFittedError):
        StabilitySelection(FisherScore()).plot()


def test_progress_is_shown(data, capsys, clock):
    clock.step = 1.0
    fitted(data, n_subsamples=4, verbose=2)
    assert "stability selection: 3 of 4 subsamples" in capsys.readouterr().err


def test_a_sparse_machine_along_its_penalty():
    X, y = table(80, 15)
    got = fitted((X, y), L1SVM(), penalty={"C": [0.05, 0.1, 0.5]}, n_subsamples=8)
    assert {2, 5} <= set(got.get_support(indices=True))


def many(seed=0, n=120, p=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X[:, :4].sum(axis=1) + rng.normal(size=n) > 0).astype(int)


class Noted(LinearMachine):
    """Notes whether a fit has one before it to begin at, and forgets that one if it is to."""

    begun: list[bool] = []
    forgets = False

    def fit(self, X, y, sample_weight=None):
        if self.forgets and hasattr(self, "coef_"):
            del self.coef_
        self.begun.append(self.warm_start and hasattr(self, "coef_"))
        return super().fit(X, y, sample_weight)


class Forgetful(Noted):
    forgets = True


@pytest.mark.parametrize("pipeline", [False, True])
def test_machines_along_a_penalty_begin_where_the_last_one_ended(pipeline):
    """The same answer as from zero; within a half each fit but the first has one to begin at."""
    data, name, found = many(), "estimator__C", {}
    for kind in (Noted, Forgetful):
        selector = SelectFromModel(kind(loss="logistic", penalty="l1"), threshold=1e-9)
        if pipeline:
            selector = make_pipeline(StandardScaler(), selector)
            name = "selectfrommodel__estimator__C"
        assert continues(selector, name)
        Noted.begun.clear()
        found[kind] = fitted(
            data, selector, penalty={name: [0.02, 0.03, 0.05, 0.08, 0.12]}, n_subsamples=8,
            n_features_per_subsample=12,
        )  # fmt: skip
        anew = Noted.begun.count(False)
        assert len(Noted.begun) > 16
        assert anew == (8 if kind is Noted else len(Noted.begun))  # the first of every half
        assert selector.get_params()[name.removesuffix("__C")].warm_start is False
    np.testing.assert_array_equal(found[Noted].entry_sizes_, found[Forgetful].entry_sizes_)


@pytest.mark.parametrize(
    ("selector", "name", "expected"),
    [
        (SelectFromModel(LogisticRegression()), "estimator__C", True),
        (SelectFromModel(Lasso()), "estimator__alpha", True),
        (SelectFromModel(RandomForestClassifier()), "estimator__max_depth", False),
        (SelectFromModel(SGDClassifier()), "estimator__alpha", False),
        (make_pipeline(StandardScaler(), L1SVM()), "l1svm__C", False),
        (L1SVM(), "C", False),
    ],
)
def test_only_machines_that_begin_anywhere_go_on(selector, name, expected):
    assert continues(selector, name) is expected


def test_a_forest_along_its_depth_is_grown_anew():
    """With warm_start it would keep its trees."""
    X, y = many(p=8)
    forest = SelectFromModel(RandomForestClassifier(n_estimators=5, random_state=0), max_features=2)
    found = fitted(
        (X, y), forest, penalty={"estimator__max_depth": [1, 3]}, n_subsamples=4,
        n_features_per_subsample=4,
    )  # fmt: skip
    assert len(np.unique(found.entry_sizes_[found.entry_sizes_ > 0])) > 1
