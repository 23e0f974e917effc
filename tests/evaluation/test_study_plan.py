"""The plan of a study: its estimate of the time, by costs that are known."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.evaluation.study.plan import Fixed, TrialTimes, make_plan

SIZES = [1, 5, 20, 200]


class KnownCosts:
    """Every cell of a table takes its time: to prepare, to rank, and for a judge more than that."""

    def __init__(self, n_columns):
        self.n_columns = n_columns
        self.most_judged = 0

    def __call__(self, method, judge, sizes, rows, columns):
        n, p = len(rows) // 2, self.n_columns if columns is None else len(columns)
        judged = [p] if method == "all" else sizes
        self.most_judged = max(self.most_judged, *judged)
        return TrialTimes(self.rank(n, p), sum(self.judge(n, k) for k in judged), self.rank(n, p))

    def rank(self, n, p):
        return 1e-7 * n * p

    def judge(self, n, p):
        return 1e-6 * n * p


def planned(n_columns, n=100, **fixed):
    """A plan that leaves nothing out, and what its costs are."""
    costs = KnownCosts(n_columns)
    known = Fixed(["fisher", "mrmr"], ["tree"], SIZES, 5, 1, 1e6, **fixed)
    y = np.arange(n) % 2
    plan = make_plan(
        np.zeros((n, n_columns)), y, task="classification", units=None, fixed=known, n_jobs=1,
        seed=0, trial=costs,
    )  # fmt: skip
    return plan, costs


def spent(plan, costs, n):
    """What the units of the plan take, one by one; subsets are not shared."""
    outer = n * (plan.cv - 1) // plan.cv
    inside = outer * (plan.inner - 1) // plan.inner
    p, n_settings = costs.n_columns, 2
    split = costs.rank(outer, p) + plan.inner * costs.rank(inside, p)  # preparing
    for _ in plan.methods:
        split += costs.rank(outer, p) + plan.inner * costs.rank(inside, p)
        split += sum(
            2 * costs.judge(outer, k) + plan.inner * n_settings * costs.judge(inside, k)
            for k in plan.sizes
        )
    split += costs.judge(outer, p) + plan.inner * n_settings * costs.judge(inside, p)  # all
    return plan.cv * plan.repeats * split + len(plan.methods) * costs.rank(n, p)


@pytest.mark.parametrize("n_columns", [400, 3000, 12_600, 60_000])
def test_the_estimate_is_what_the_units_of_a_wide_table_take(n_columns):
    plan, costs = planned(n_columns)
    assert 0.6 < plan.seconds / spent(plan, costs, 100) < 1.3
    assert costs.most_judged <= 4000  # the probe itself stays short


def test_the_estimate_of_a_wide_table_grows_with_its_columns():
    few, many = planned(6300)[0].seconds, planned(12_600)[0].seconds
    assert many / few == pytest.approx(2.0, rel=0.1)


def test_all_features_cost_nothing_more_where_they_are_not_judged_alone():
    assert planned(12_600, baselines=())[0].seconds < 0.5 * planned(12_600)[0].seconds
    narrow = planned(200)[0].seconds  # the largest size is all of them
    assert planned(200, baselines=())[0].seconds == pytest.approx(narrow)


class FailsWithRareClasses(KnownCosts):
    """Some methods or judges cannot be used."""

    def __init__(self, n_columns, failing):
        super().__init__(n_columns)
        self.failing = failing

    def __call__(self, method, judge, sizes, rows, columns):
        if {method, judge} & self.failing:
            return TrialTimes(float("nan"), float("nan"), 0.0)
        return super().__call__(method, judge, sizes, rows, columns)


def planned_with(failing, **fixed):
    y = np.arange(300) % 2
    return make_plan(
        np.zeros((300, 15)), y, task="classification", units=None, fixed=Fixed(**fixed), n_jobs=1,
        seed=0, trial=FailsWithRareClasses(15, set(failing)),
    )  # fmt: skip


def test_a_method_that_fails_when_tried_is_left_out_and_costs_no_other_its_place():
    plan = planned_with(["ho-svm"])
    assert plan.methods == ["fisher", "mrmr", "forest", "relieff", "rfe"]
    assert plan.judges == ["linear", "rbf", "tree", "forest"]
    assert np.isfinite(plan.seconds) and "nan" not in plan.describe()
    (out,) = plan.left_out
    assert (out["what"], out["name"]) == ("failed method", "ho-svm")
    assert out["flag"] == "--methods fisher,mrmr,forest,relieff,rfe,ho-svm"


@pytest.mark.parametrize(
    ("n", "p", "boosted"), [(1999, 15, False), (2000, 15, True), (2000, 201, False)]
)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_boosted_trees_judge_tables_of_many_rows_and_not_too_many_columns(n, p, boosted, task):
    plan = make_plan(
        np.zeros((n, p)), np.arange(n) % 2, task=task, units=None, fixed=Fixed(), n_jobs=1, seed=0,
        trial=KnownCosts(p),
    )  # fmt: skip
    assert ("boosting" in plan.judges) == boosted


def test_what_was_named_is_planned_even_if_it_fails_when_tried():
    plan = planned_with(["ho-svm", "tree"], methods=["ho-svm", "fisher"], judges=["tree", "rbf"])
    assert plan.methods == ["ho-svm", "fisher"] and plan.judges == ["tree", "rbf"]
    assert np.isfinite(plan.seconds) and not plan.left_out
    every = ["fisher", "mrmr", "forest", "relieff", "rfe", "ho-svm"]
    plan = planned_with(every)
    assert plan.methods == every and not plan.left_out and np.isfinite(plan.seconds)


def test_the_plan_of_classes_of_two_rows_uses_the_methods_that_can():
    """Hold-out elimination needs two rows of each class to learn from."""
    rng = np.random.default_rng(0)
    y = np.r_[np.repeat([0, 1, 2], 60), 3, 3, 4, 4]
    X = rng.normal(size=(len(y), 6)) + y[:, None] * [1, 0, 0, 0, 0, 0]
    plan = make_plan(
        X, y, task="classification", units=None, fixed=Fixed(time_budget=1e6), n_jobs=1, seed=0
    )
    assert plan.methods == ["fisher", "mrmr", "forest", "relieff", "rfe"]
    assert np.isfinite(plan.seconds)


class ByMethod(KnownCosts):
    """Methods take what is given, or next to nothing; judges take the time."""

    def __init__(self, n_columns, seconds):
        super().__init__(n_columns)
        self.seconds = seconds

    def __call__(self, method, judge, sizes, rows, columns):
        return TrialTimes(self.seconds.get(method, 1e-4), 0.02 * len(sizes), 1e-5)


@pytest.mark.parametrize(
    ("seconds", "first_gone", "why"),
    [
        # a thousandth of a second more or less is no reason
        ({"rrelieff": 1.2e-4, "pearson": 1.1e-4}, "ho-svm", "the plan would not"),
        ({"rrelieff": 0.5}, "rrelieff", "it takes longest"),
    ],
)
def test_the_method_that_is_given_up_is_slow_or_least_missed(seconds, first_gone, why):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1200, 40)), rng.normal(size=1200)
    plan = make_plan(
        X, y, task="regression", units=None, fixed=Fixed(time_budget=60.0), n_jobs=1, seed=0,
        trial=ByMethod(40, seconds),
    )  # fmt: skip
    out = [one for one in plan.left_out if one["what"] == "method"]
    assert out[0]["name"] == first_gone and out[0]["why"].startswith(why)
    assert out[0]["flag"] == "--methods pearson,rrelieff,cfs,qpfs,rfe,ho-svm"
    assert plan.methods[0] == "pearson"


@pytest.mark.parametrize(
    ("task", "failed", "kept"),
    [
        ("classification", [], ["fisher", "mrmr", "relieff"]),
        ("classification", ["ho-svm"], ["fisher", "relieff"]),
        ("regression", [], ["pearson", "rrelieff", "cfs"]),
    ],
)
def test_a_method_that_sees_features_together_stays_in_the_shortest_plan(task, failed, kept):
    rng = np.random.default_rng(0)
    y = rng.normal(size=1200) if task == "regression" else np.arange(1200) % 2
    plan = make_plan(
        rng.normal(size=(1200, 40)), y, task=task, units=None, fixed=Fixed(time_budget=5.0),
        n_jobs=1, seed=0,
        trial=ByMethod(40, {"fisher": 1.1e-4, **dict.fromkeys(failed, float("nan"))}),
    )  # fmt: skip
    assert plan.methods == kept
