"""The result of a comparison: tables, text, pictures, stability, significance."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pytest

from tamiz import SVC, FisherScore, compare
from tamiz.evaluation import Comparison, comparison, significance, stability
from tests.evaluation.test_compare import data


@pytest.fixture(scope="module")
def found() -> Comparison:
    X, y = data(n=60)
    judges = {"line": SVC(kernel="linear"), "radial": SVC()}
    options = {"sizes": [1, 3, 12], "cv": 4, "repeats": 2, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # CFS finds nothing in some small parts
        return compare(X, y, ["fisher", "mrmr", "cfs"], judges, **options)


def test_shapes_and_one_line(found):
    M, J, S, K = 5, 2, 8, 3
    assert found.errors.shape == found.apparent_errors.shape == (M, J, S, K)
    assert found.nested_errors.shape == found.own_errors.shape == (M, J, S)
    assert found.own_sizes.shape == found.select_seconds.shape == (M, S)
    assert (found.n_train + found.n_test == 60).all()
    assert found.repeat.tolist() == [0] * 4 + [1] * 4
    assert repr(found) == "<Comparison: 5 methods x 2 judges x 3 sizes, 8 splits>"
    for orders in found.orders.values():
        for order in orders:
            assert sorted(order) == list(range(12))


def test_text_has_a_line_for_each_estimate(found):
    told = str(found)
    assert "5 methods on 60 samples × 12 features, 4 folds × 2 repeats" in told
    lines = told.splitlines()[4:]
    for line, one in zip(lines, found.estimates(), strict=False):
        assert line.startswith(one.method)
        assert f"{100 * one.error:.1f}" in line and f"{100 * one.low:.1f} – " in line
    assert "Nadeau" in told and "Selection bias" in told
    assert max(map(len, told.splitlines())) < 110


def test_tables_hold_every_error(found):
    pytest.importorskip("pandas")
    frame = found.to_frame()
    curve = frame[(frame.kind == "curve") & (frame.method == "mrmr") & (frame.judge == "radial")]
    wide = curve.pivot_table(index=["repeat", "fold"], columns="size", values="error")
    np.testing.assert_array_equal(wide.to_numpy(), found.errors[1, 1])
    assert len(frame[frame.kind == "curve"]) == 4 * 2 * 8 * 3  # "all" has no curve
    chosen = frame[(frame.kind == "chosen") & (frame.method == "fisher")]
    np.testing.assert_array_equal(chosen.error.to_numpy()[:8], found.nested_errors[0, 0])
    summary = found.summary()
    assert len(summary) == len(found.estimates())
    np.testing.assert_allclose(summary.error - summary.apparent, summary.bias)
    curves = found.curves()
    row = curves[(curves.method == "cfs") & (curves.judge == "line") & (curves["size"] == 3)]
    assert row.error.item() == pytest.approx(found.errors[2, 0, :, 1].mean())


def test_plain_values(found):
    said = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert said["methods"] == found.methods
    assert [one["method"] for one in said["estimates"]] == [e.method for e in found.estimates()]
    assert said["frequent"]["fisher"][0]["share"] <= 1
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.errors, found.errors)


def test_former_name_of_error_is_rate_is_understood(found):
    with pytest.warns(FutureWarning, match="error_is_rate"):
        assert found.shares is found.error_is_rate is True
    assert comparison.Comparison is type(found)  # where older pickles look for it
    state = dict(vars(found), shares=False)
    del state["error_is_rate"]
    old = object.__new__(type(found))
    old.__setstate__(state)
    assert not old.error_is_rate and "shares" not in vars(old)


def test_stability_is_that_of_the_masks(found):
    masks = found.masks("fisher", 3)
    assert masks.shape == (8, 12) and (masks.sum(axis=1) == 3).all()
    for row, order in zip(masks, found.orders["fisher"], strict=True):
        assert set(np.flatnonzero(row)) == set(order[:3])
    assert found.stability("fisher", 3).nogueira == stability(masks).nogueira
    own = found.masks("cfs", "own")
    assert own.sum(axis=1).tolist() == found.own_sizes[2].tolist()
    chosen = int(found.estimate("mrmr").size)
    np.testing.assert_array_equal(found.masks("mrmr"), found.masks("mrmr", chosen))
    sizes, values = found.stability_by_size("fisher")
    assert sizes.tolist() == [1, 3] and len(values) == 2
    with pytest.raises(ValueError, match="no selection of size 'own'"):
        found.masks("fisher", "own")


def test_significance_is_that_of_the_errors(found):
    test = found.significance(3, methods=["fisher", "mrmr"])
    expected = significance(
        found.errors[:2, 0, :, 1].T, names=["fisher", "mrmr"], test_fraction=15 / 45
    )
    assert test.pvalue == pytest.approx(expected.pvalue, nan_ok=True)
    many = found.significance()
    assert len(many.names) == 5  # "all" has errors at its own size
    with pytest.raises(ValueError, match="size=7 was not judged"):
        found.significance(7)
    with pytest.raises(ValueError, match="needs two methods"):
        found.significance(methods=["fisher"])


def test_unknown_names_get_a_sentence(found):
    with pytest.raises(ValueError, match="no method of this comparison is called 'rfe'"):
        found.curve("rfe")
    with pytest.raises(ValueError, match="no judge of this comparison is called 'knn'"):
        found.estimate("fisher", "knn")
    with pytest.raises(ValueError, match="has no error of kind 'own'"):
        found.estimate("fisher", kind="own")
    for size in ("own size", 0, -1, 13, 2.5, True, None):
        with pytest.raises(
            ValueError, match=r"size=.* is not understood; use a number from 1 to 12"
        ):
            found.masks("fisher", size)
    for draw in (found.plot_bias, found.plot_sizes):
        with pytest.raises(ValueError, match="no judge of this comparison is called 'knn'"):
            draw("knn")


def test_words_say_where_the_number_of_features_comes_from(found):
    assert "ranking and number of features come from the training part alone" in str(found)
    X, y = data(n=30)
    options = {"sizes": [1, 3], "cv": 3, "repeats": 1, "nested": False, "random_state": 0}
    told = " ".join(str(compare(X, y, ["fisher"], **options)).split())
    assert "number of features come from" not in told
    assert "of the features the number is chosen by the other folds of the repeat" in told


def test_pictures(found):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    both = found.plot()
    assert [ax.get_title() for ax in both] == ["judge: line", "judge: radial"]
    ax = found.plot(["fisher", "all"], judge="line")
    solid, dashed = ax.get_lines()[:2]
    curve = found.curve("fisher", "line")
    np.testing.assert_allclose(solid.get_ydata(), 100 * curve.error)
    np.testing.assert_allclose(dashed.get_ydata(), 100 * curve.apparent)
    assert (solid.get_linestyle(), dashed.get_linestyle()) == ("-", "--")
    np.testing.assert_allclose(ax.get_lines()[2].get_ydata(), 100 * found.own_errors[4, 0].mean())
    assert len(found.plot(apparent=False, judge="line").get_lines()) == 5
    bias = found.plot_bias("line")
    assert len(bias.get_yticklabels()) == 6  # cfs twice
    assert len(found.plot_stability().get_lines()) == 4 + 1
    assert [t.get_text() for t in found.plot_sizes().get_yticklabels()] == [
        "random",
        "cfs",
        "mrmr",
        "fisher",
    ]
    plt.close("all")


def test_one_split_has_no_interval():
    X, y = data()
    split = [(np.arange(40), np.arange(40, 60))]
    found = compare(X, y, [FisherScore()], sizes=[2], cv=split, baselines=(), random_state=0)
    line = found.estimate("fisher")
    assert np.isfinite(line.error) and np.isnan(line.low)
    assert "– – –" in str(found)
