"""Arguments with parts or several forms, and parameters of objects: what is taken, what refused."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import KFold

from tamiz.kernels import RBF, Kernel
from tamiz.search import HoldOut
from tamiz.svm import SVC
from tamiz.validation import (
    ParameterError,
    candidate_list,
    check_factors,
    check_instance,
    check_split,
    class_weights,
    distinct_labels,
    estimator_with,
    file_or_dict,
    finite_costs,
    folds,
    free_identifier,
    instance_of,
    integers_from,
    known_name,
    named_values,
    names_such_as,
    one_character,
    one_column,
    one_metric,
    only_one,
    parameter_grids,
    position,
    positive_numbers,
    sample_limits,
    some_columns,
    spellings,
    target_column,
    text_encoding,
    tuning,
    verbosity,
    word_or_function,
)

SPLITS = [([0, 1], [2])]
SIZES = integers_from(1, "numbers of features", "[1, 5]")
FORMATS = {"csv": 1}
LIMITS = sample_limits(("judges",), ("inner",), "{'inner': 100}")


@pytest.mark.parametrize(
    ("check", "good", "bad", "words"),
    [
        (folds("loo"), [2, "loo", KFold(3), HoldOut(), SPLITS], [1, 2.5, True, None, "ten"], (
            "n='ten' is not understood; use a number of folds, 'loo', a splitter such as HoldOut()"
        )),
        (folds(), [10], ["loo", 1], "n=1 folds need at least 2; HoldOut() is a single split."),
        (SIZES, [None], [[], [0, 3], [2.5], "many", [[1, 2]]], "n=[[1, 2]] is not understood"),
        (positive_numbers, [None], [[], [0.0], [np.inf], "high"], "n='high' must hold positive"),
        (known_name(lambda: FORMATS, ", or a file"), ["csv"], [3, "xls"], (
            "n='xls' is not known; use one of 'csv', or a file."
        )),
        (word_or_function("cfs", function="f(X, y)"), ["cfs", len], [3, "mrmr"], (
            "n='mrmr' is not understood; use 'cfs', or a function f(X, y)."
        )),
        (one_metric("a test needs one"), ["f1", len, None], [3, ["f1"]], (
            "n=['f1'] names several metrics; a test needs one."
        )),
        (class_weights, [None, "balanced", {0: 1.0}], [2.0, "equal"], "n='equal' is not"),
        (verbosity, [True, False, 0, 3], [-1, "much"], "n='much' must be an integer from 0."),
        (tuning("fine", advice="pass a grid"), [None, True, "fine", {"C": [1]}], [3, "f", {}], (
            "n={} is not understood; pass a grid."
        )),
        (LIMITS, [{"judges": {"a": 4}}, {"inner": None}], [5, {"x": 9}, {"inner": 3}], (
            "n={'inner': 3} is not understood; pass numbers of samples from 4, such as {'inner':"
        )),
        (one_column, ["a", -1], [True, 1.5, ["a"]], "n=['a'] is not understood; give the name or"),
        (target_column, ["a", 0, None, False], [1.5, True], "n=True is not understood"),
        (some_columns, ["a", 2, ["a", 2]], [1.5], "n=1.5 is not understood; give names or"),
        (one_character, [";", "\t"], ["", '"', None, ", "], "n=', ' is not understood; use one"),
        (text_encoding, ["utf-8", "latin-1"], [3, "nonsense"], "n='nonsense' is not known; use"),
        (file_or_dict, ["a.csv", {"a": 1}], [3], "n=3 is not understood; give a file, or a dict"),
        (position, [0, -3], [1.5, True], "n=True is not a position; use an integer."),
        (free_identifier("first"), ["predict"], [3, "a b", "first"], "n='first' cannot be"),
        (only_one("one of them"), [3, {"a": 1}], [[3], {"a": 1, "b": 2}], "n must be one of them."),
        (instance_of(Kernel, "Make one."), [RBF()], ["rbf"], "n must be a Kernel, but is 'rbf'. M"),
        (estimator_with("predict", advice="pass one"), [SVC()], [SVC, 3], (
            "n=3 is no estimator: it has no predict. Pass one."
        )),
    ],
)  # fmt: skip
def test_what_each_check_takes_and_refuses(check, good, bad, words):
    for value in good:
        assert check("n", value) == value
    for value in bad[:-1]:
        with pytest.raises((ValueError, TypeError)):
            check("n", value)
    with pytest.raises((ValueError, TypeError), match=re.escape(words)) as caught:
        check("n", bad[-1])
    if isinstance(caught.value, ParameterError):
        assert (caught.value.parameter, caught.value.value) == ("n", bad[-1])


def test_numbers_come_back_ascending_and_distinct():
    np.testing.assert_array_equal(SIZES("n", (5, 1.0, 5)), [1, 5])
    np.testing.assert_array_equal(SIZES("n", 3), [3])
    np.testing.assert_array_equal(positive_numbers("n", [1, 0.1, 1]), [0.1, 1.0])
    np.testing.assert_array_equal(distinct_labels("n", ["b", "a", "b"]), ["a", "b"])
    for bad in ([], [1.0, np.nan], [[1], [2, 3]]):
        with pytest.raises(ValueError, match="n="):
            distinct_labels("n", np.array(bad, dtype=object if bad and bad[0] == [1] else None))


def test_a_registered_name_is_known_at_once():
    names = {"csv": 1}
    check = known_name(lambda: names)
    with pytest.raises(ParameterError, match="use one of 'csv'"):
        check("format", "mine")
    names["mine"] = 2
    assert check("format", "mine") == "mine"


def test_grids_become_lists_of_dicts_of_lists():
    normal = stats.norm()
    found = parameter_grids("grid", [{"C": (1, 2)}, {"C": normal, "gamma": (g for g in [0.5])}])
    assert found == [{"C": [1, 2]}, {"C": normal, "gamma": [0.5]}]
    assert parameter_grids("grid", {"C": range(2)}) == [{"C": [0, 1]}]
    assert parameter_grids("grid", None) is None
    with pytest.raises(ParameterError, match="names a parameter 3; names must be text"):
        parameter_grids("grid", {3: [1]})
    with pytest.raises(ParameterError, match=r"^tune\['C'\] holds no candidates"):
        candidate_list("tune['C']", iter(()))


def test_things_with_and_without_names():
    one = SimpleNamespace()
    assert named_values("n", one) == [(None, one)]
    assert named_values("n", "fisher") == [(None, "fisher")]
    assert named_values("n", ["fisher", ("mine", one)]) == [(None, "fisher"), ("mine", one)]
    assert named_values("n", {"mine": one}) == [("mine", one)]
    for bad in ([], {}, {3: one}, {" ": one}):
        with pytest.raises(ParameterError, match=r"^n (is empty|has the key)"):
            named_values("n", bad)
    names = names_such_as("random", "all")
    assert [names("n", given) for given in ("all", ["all"], None)] == [("all",), ("all",), ()]
    with pytest.raises(ParameterError, match="n holds 3; it takes names such as 'random', 'all'"):
        names("n", ["all", 3])
    assert spellings("n", {"NA"}) == ["NA"]
    for bad in ("NA", 3):
        with pytest.raises(ParameterError, match="give a list"):
            spellings("n", bad)


def test_splits_are_positions_or_masks():
    train, test = check_split((np.array([True, True, False]), [2]), 0, 3)
    assert (train.tolist(), test.tolist()) == ([0, 1], [2])
    for bad, words in [
        (3, "must be a pair"),
        (([0], [[1]]), "positions of samples"),
        (([0], []), "leaves no samples"),
        (([0], [3]), "names the sample 3; the 3 samples"),
        (([True], [1]), "a mask of 1 entries; X has 3 samples"),
    ]:
        with pytest.raises(ValueError, match=words):
            check_split(bad, 0, 3)


def test_costs_and_factors_are_not_negative_and_not_all_zero():
    assert finite_costs("costs", [1, 0]).tolist() == [1.0, 0.0]
    for bad in ([-1, 1], [True, 1], [np.inf, 1], [0, 0]):
        with pytest.raises(ValueError, match="costs"):
            finite_costs("costs", bad)
    check_factors("weights", np.array([0.0, 1.0]), "Mine", "", "why")
    for bad in ("12", 3, [-1.0], [0.0], np.eye(2), (w for w in [1.0])):
        with pytest.raises(ParameterError, match=r"weights.* of Mine"):
            check_factors("weights", bad, "Mine", "", "why")


def test_a_parameter_of_an_object_names_its_owner():
    with pytest.raises(
        ParameterError, match=r"^k of Sum must be a kernel; got 3\. Make one\.$"
    ) as caught:
        check_instance("k", 3, "Sum", Kernel, "a kernel", "Make one.")
    assert (caught.value.parameter, caught.value.value) == ("k", 3)
