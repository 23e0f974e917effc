"""Several rankings as one: against plain loops, by simulation, and what must hold."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, rankdata

import tests.naive.aggregation as naive
from tamiz.discovery import adjust_pvalues, aggregate_rankings
from tamiz.discovery.aggregation import exact_pvalues, robust_scores
from tamiz.filters import FisherScore, PearsonScore, ReliefF

tables = st.integers(1, 5).flatmap(
    lambda n: st.integers(2, 7).flatmap(
        lambda p: st.lists(
            st.lists(st.integers(1, 8), min_size=p, max_size=p), min_size=n, max_size=n
        )
    )
)


@given(tables)
def test_scores_and_means_equal_plain_loops(rows):
    p = len(rows[0])
    last = [naive.last_places(row) for row in rows]
    middle = np.array([naive.mean_places(row) for row in rows])
    found = aggregate_rankings(rows)
    assert found.ranks.tolist() == last
    expected = [naive.rho([row[j] / p for row in last]) for j in range(p)]
    np.testing.assert_allclose(found.rho, expected, rtol=1e-10)
    np.testing.assert_allclose(found.mean_ranks, middle.mean(axis=0))
    # of two features, the one ahead in a list gets a point from it, equal ones half a point each
    table = np.array(rows)[:, :, None]
    ahead = (table < np.swapaxes(table, 1, 2)).sum(axis=2)
    level = (table == np.swapaxes(table, 1, 2)).sum(axis=2) - 1
    np.testing.assert_allclose(found.borda, (ahead + level / 2).mean(axis=0))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 9, 16])
def test_exact_probability_equals_dealing_numbers_to_intervals(n):
    levels = [1e-6, 0.001, 0.02, 0.1, 0.4, 0.9, 1.0]
    expected = [naive.pvalue(level, n) for level in levels]
    np.testing.assert_allclose(exact_pvalues(np.array(levels), n), expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("n", [2, 5, 20, 60])
def test_probabilities_of_random_lists_are_uniform(n):
    draws = np.random.default_rng(n).random((n, 4000))
    found = exact_pvalues(robust_scores(draws), n)
    assert kstest(found, "uniform").pvalue > 0.001
    # the scores by themselves are too small, n times the scores too large
    assert kstest(robust_scores(draws), "uniform").pvalue < 1e-6


def test_random_lists_of_few_features_are_not_called_significant_too_often():
    random = np.random.default_rng(0)
    pvalues = np.concatenate(
        [
            aggregate_rankings([random.integers(1, 7, 12) for _ in range(4)]).pvalues
            for _ in range(300)
        ]
    )
    for level in (0.01, 0.05, 0.2, 0.5):
        assert np.mean(pvalues <= level) <= level


def test_bounds_of_the_probability():
    rho = np.geomspace(1e-300, 1, 50)
    for n in (1, 4, 200, 501):
        found = exact_pvalues(rho, n)
        assert (found >= rho).all() and (found <= np.minimum(1, n * rho) + 1e-15).all()
        assert (np.diff(found) >= -1e-12).all()
    np.testing.assert_allclose(exact_pvalues(rho, 1), rho)


def test_a_feature_that_most_lists_have_first_wins():
    random = np.random.default_rng(3)
    lists = np.array([random.permutation(50) + 1 for _ in range(6)])
    for row in lists[:5]:  # five of six lists have feature 7 first, the sixth has it last
        row[row == 1], row[7] = row[7], 1
    lists[5][lists[5] == 50], lists[5][7] = lists[5][7], 50
    found = aggregate_rankings(lists)
    assert found.order[0] == 7 and found.pvalues[7] < 1e-6
    assert 7 not in found.agreed(10)  # not every list has it
    assert set(found.agreed(10)) == set(np.flatnonzero((found.ranks <= 10).all(axis=0)))


def test_order_of_features_and_lists_does_not_matter():
    random = np.random.default_rng(4)
    lists = np.array([random.permutation(20) + 1.0 for _ in range(5)])
    lists[2, 12:] = np.nan
    found = aggregate_rankings(lists)
    features, order = random.permutation(20), random.permutation(5)
    other = aggregate_rankings(lists[order][:, features])
    for name in ("rho", "pvalues", "mean_ranks"):
        np.testing.assert_allclose(getattr(other, name), getattr(found, name)[features])


def test_what_a_list_leaves_out_stands_last():
    found = aggregate_rankings([[1, 2, np.nan, np.nan], [2, 1, 3, 4]])
    assert found.ranks.tolist() == [[1, 2, 4, 4], [2, 1, 3, 4]]
    assert found.mean_ranks.tolist() == [1.5, 1.5, 3.25, 3.75]


def test_families_have_one_vote_each():
    lists = {"a": [1, 2, 3, 4], "b": [1, 3, 2, 4], "c": [1, 2, 3, 4], "w": [4, 1, 2, 3]}
    families = {"a": "filter", "b": "filter", "c": "filter", "w": "wrapper"}
    found = aggregate_rankings(lists, families=families)
    assert found.lists == ["filter", "wrapper"]
    means = np.mean([lists["a"], lists["b"], lists["c"]], axis=0)
    np.testing.assert_array_equal(found.ranks, [rankdata(means, "max"), lists["w"]])
    listed = aggregate_rankings(lists, families=["filter"] * 3 + ["wrapper"])
    np.testing.assert_array_equal(listed.rho, found.rho)


def test_selectors_frames_and_plain_values():
    random = np.random.default_rng(0)
    X = random.standard_normal((80, 6))
    y = (X[:, 4] + 0.3 * random.standard_normal(80) > 0).astype(int)
    fitted = {
        "fisher": FisherScore().fit(X, y),
        "relieff": ReliefF().fit(X, y).selection_,
        "pearson": PearsonScore().fit(X, y),
    }
    found = aggregate_rankings(fitted, method="mean")
    assert found.order[0] == 4 and found.names[4] == "x4"
    frame = found.to_frame()
    own = ["name", "index", "pvalue", "corrected", "mean rank"]
    assert list(frame.columns) == own + [f"rank in {name}" for name in fitted]
    assert frame["name"][0] == "x4" and (np.diff(frame["mean rank"]) >= 0).all()
    assert json.loads(json.dumps(found.to_dict()))["features"][0] == "x4"


@pytest.mark.parametrize(
    ("rankings", "options", "words"),
    [
        ([], {}, "holds no ranking"),
        (3, {}, "holds no ranking"),
        ([[1, 2], [1, 2, 3]], {}, "the ranking '2' has 3 features, the first one 2"),
        ([[0, 1, 2]], {}, "has the rank 0; the best one is 1"),
        (["fisher"], {}, "neither a fitted selector nor a Selection nor ranks"),
        ([[1, 2]], {"names": ["a"]}, "names has 1 entries for 2 features"),
        ([[1, 2]], {"families": ["a", "b"]}, "must name the family of each of 1 lists"),
        ({"a": [1, 2]}, {"families": {"b": "c"}}, "says nothing of the ranking 'a'"),
        ({"a": [1, 2], "b": [2, 1]}, {"families": "xy"}, "the family of each of 2 lists"),
        ({1: [1, 2], "1": [2, 1]}, {}, "two rankings have the name '1'"),
        (pd.DataFrame(), {}, "holds no ranking"),
        (pd.DataFrame({"a": ["x"]}), {}, "the ranking '1' is neither"),
        ([[1, 2]], {"method": "median"}, "method='median'"),
    ],
)
def test_refusals_say_what_is_wrong(rankings, options, words):
    with pytest.raises(ValueError, match=words):
        aggregate_rankings(rankings, **options)


def test_values_corrected_for_features_and_bounds_over_lists():
    random = np.random.default_rng(1)
    lists = np.array([random.permutation(30) + 1 for _ in range(4)])
    lists[:, 3] = 1
    found = aggregate_rankings(lists)
    np.testing.assert_array_equal(found.corrected, adjust_pvalues(found.pvalues, "holm"))
    np.testing.assert_allclose(found.corrected[3], 30 * found.pvalues[3])
    np.testing.assert_array_equal(found.bounds, np.minimum(1.0, 4 * found.rho))
    assert (found.bounds >= found.pvalues).all()
    assert found.to_frame()["corrected"][0] == found.to_dict()["corrected"][0] < 0.01


@pytest.mark.parametrize("name", ["name", "index", "pvalue", "corrected", "mean rank"])
def test_a_list_by_the_name_of_a_column_overwrites_nothing(name):
    lists = {name: [2, 1, 3], "other": [3, 1, 2]}
    frame, plain = (aggregate_rankings(one).to_frame() for one in (lists, list(lists.values())))
    assert frame[f"rank in {name}"].tolist() == [1, 2, 3]
    for column in ("name", "index", "pvalue", "corrected", "mean rank"):
        assert frame[column].tolist() == plain[column].tolist()


def test_frames_of_ranks_and_arrays_of_families():
    rows = [[1.0, 2.0, 3.0], [2.0, 1.0, np.nan], [1.0, 3.0, 2.0]]
    expected = aggregate_rankings(dict(zip("uvw", rows, strict=True)), names=["a", "b", "c"])
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    for table, lists in (
        (frame.set_axis(list("uvw")), ["u", "v", "w"]),
        (frame, ["1", "2", "3"]),
        (pl.DataFrame(rows, schema=["a", "b", "c"], orient="row"), ["1", "2", "3"]),
    ):
        found = aggregate_rankings(table)
        assert found.lists == lists and found.names == ["a", "b", "c"]
        np.testing.assert_array_equal(found.ranks, expected.ranks)
    by_list = aggregate_rankings(rows, families=["x", "x", "y"])
    for families in (np.array(["x", "x", "y"]), pd.Series(["x", "x", "y"]), ("x", "x", "y")):
        found = aggregate_rankings(rows, families=families)
        assert found.lists == ["x", "y"]
        np.testing.assert_array_equal(found.rho, by_list.rho)


def test_rankings_of_other_features_are_refused():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((30, 3)), np.arange(30) % 2
    one = FisherScore().fit(X, y).selection_
    other = FisherScore().fit(X, y).selection_
    other.names = ["a", "b", "c"]
    with pytest.raises(ValueError, match="is of other features than the first one"):
        aggregate_rankings([one, other])


def test_one_ranking_is_not_said_in_the_plural():
    assert "1 ranking of 2 features;" in repr(aggregate_rankings([[1, 2]]))
    assert "2 rankings of 2 features;" in repr(aggregate_rankings([[1, 2], [2, 1]]))


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        ("abc", r"3 features, and not 5; it lacks 'd', 'e'\. Rank all"),
        ("abcdx", r"first one: it lacks 'e'; it adds 'x'\."),
        ("bacde", "the same in another order, 'b' in place of 'a'"),
    ],
)
def test_how_the_features_of_two_rankings_differ(own, sentence):
    def ranked(names):
        table = pd.DataFrame(np.random.default_rng(0).normal(size=(20, len(names))))
        return FisherScore().fit(table.set_axis(list(names), axis=1), np.arange(20) % 2)

    with pytest.raises(ValueError, match=f"the ranking 'm' is of other features.*{sentence}"):
        aggregate_rankings({"f": ranked("abcde"), "m": ranked(own)})
