"""Rules that say what a tree does, and source that does what it says."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tamiz.tree.findings import find
from tamiz.tree.rules import Wording, percent, python_source, rules_of, rules_text, tree_text
from tamiz.tree.splits import number
from tamiz.tree.structure import NominalSplit, NumericSplit, ObliqueSplit, Surrogate, Tree
from tests.tree.trees import random_tree

CITIES = ["Lima", "Quito", "La Paz", 'O"Higgins', "São", "<b>", "g", "h"]
WORDING = Wording(["age", "city", "it's", "x 4"], {1: CITIES}, ["no", "yes"])


def tree_of(splits, left, right, counts=None, **more):
    """A tree of given tests; counts of two classes at its leaves, added up."""
    n = len(left)
    counts = np.ones((n, 2)) if counts is None else np.array(counts, dtype=float)
    for t in range(n - 1, -1, -1):
        if left[t] >= 0:
            counts[t] = counts[left[t]] + counts[right[t]]
    total = counts.sum(axis=1)
    return Tree(
        "classification", 4, left=left, right=right, n_samples=total, weight=total, value=counts,
        prediction=counts.argmax(axis=1), impurity=np.zeros(n),
        error=counts.min(axis=1) / total[0], splits=splits, **more,
    )  # fmt: skip


def run(source):
    """The function that a source defines."""
    space: dict = {}
    exec(source, space)
    return space["predict"]


# ------------------------------------------------------------------------------------- text


def test_tests_of_one_feature_are_one_condition():
    splits = [None] * 9
    splits[0], splits[1] = NumericSplit(0, 50.0), NumericSplit(0, 20.0)
    splits[2] = NominalSplit(1, frozenset([0, 1]), frozenset([2, 3]))
    splits[4] = NominalSplit(1, frozenset([2]), frozenset([3]))
    none = [0, 0]
    counts = [none, none, none, [1, 2], none, [3, 1], [1, 4], [5, 0], [0, 3]]
    left = [1, 3, 5, -1, 7, -1, -1, -1, -1]
    tree = tree_of(splits, left, [t + 1 if t > 0 else -1 for t in left], counts)
    rules = rules_of(tree, WORDING)
    assert [rule.conditions for rule in rules] == [
        ("age <= 20",),
        ("20 < age <= 50", "city = La Paz"),
        ("20 < age <= 50", 'city = O"Higgins'),
        ("age > 50", "city in {Lima, Quito}"),
        ("age > 50", 'city in {La Paz, O"Higgins}'),
    ]
    assert [rule.prediction for rule in rules] == ["yes", "no", "yes", "no", "yes"]
    assert rules[0].coverage == pytest.approx(3 / 20) and rules[0].n_samples == 3
    assert list(rules[0].shares.items()) == [
        ("yes", pytest.approx(2 / 3)),
        ("no", pytest.approx(1 / 3)),
    ]
    assert rules[0].error == pytest.approx(1 / 3)
    assert sum(rule.coverage for rule in rules) == pytest.approx(1)
    text = rules_text(tree, WORDING)
    assert text.splitlines()[2:4] == [
        "2. IF 20 < age <= 50 AND city = La Paz",
        "   THEN no   (5 samples, 25.0 %; no 100.0 %)",
    ]


def test_missing_values_are_named_where_they_go():
    splits = [NumericSplit(0, 5.0, missing=1), NumericSplit(0, 2.0, missing=0), None, None, None]
    tree = tree_of(splits, [1, 3, -1, -1, -1], [2, 4, -1, -1, -1])
    said = [rule.conditions for rule in rules_of(tree, WORDING)]
    assert said == [("age <= 2",), ("2 < age <= 5 or missing",), ("age > 5",)]
    outer = NominalSplit(1, frozenset([0, 1, 2]), frozenset([3]), missing=1)
    inner = NominalSplit(1, frozenset([0]), frozenset([1, 2]), missing=0)
    nominal = tree_of([outer, inner, None, None, None], [1, 3, -1, -1, -1], [2, 4, -1, -1, -1])
    assert [rule.conditions for rule in rules_of(nominal, WORDING)] == [
        ("city = Lima",), ("city in {Quito, La Paz} or missing",), ('city = O"Higgins',),
    ]  # fmt: skip
    outer = NominalSplit(1, frozenset([0, 1]), frozenset([2]), missing=0)
    inner = NominalSplit(1, frozenset([0]), frozenset([1]), missing=1)
    nominal = tree_of([outer, inner, None, None, None], [1, 3, -1, -1, -1], [2, 4, -1, -1, -1])
    # missing values went elsewhere
    assert rules_of(nominal, WORDING)[0].conditions == ("city = Lima",)
    known = tree_of([NumericSplit(0, np.inf, missing=0), None, None], [1, -1, -1], [2, -1, -1])
    assert [rule.conditions for rule in rules_of(known, WORDING)] == [
        ("age is known",), ("age is missing",),
    ]  # fmt: skip


def test_or_missing_does_not_run_into_the_next_condition():
    splits = [NumericSplit(0, 5.0, missing=1), NumericSplit(2, 2.0), None, None, None]
    tree = tree_of(splits, [1, 3, -1, -1, -1], [2, 4, -1, -1, -1])
    said = [str(rule).splitlines()[0] for rule in rules_of(tree, WORDING)]
    assert said[0] == "IF (age <= 5 or missing) AND it's <= 2" and said[2] == "IF age > 5"
    alone = tree_of([splits[0], None, None], [1, -1, -1], [2, -1, -1])
    assert str(rules_of(alone, WORDING)[0]).startswith("IF age <= 5 or missing\n")


def test_limits_of_large_numbers_can_be_told_apart():
    assert [number(v) for v in (1700000272.5, -491495.5, 2e6, 99999.5, 0.1234567, 1e20)] == [
        "1700000272.5", "-491495.5", "2000000", "99999.5", "0.123457", "1e+20",
    ]  # fmt: skip
    splits = [NumericSplit(0, 1700000272.5), None, NumericSplit(0, 1700000278.5), None, None]
    tree = tree_of(splits, [1, -1, 3, -1, -1], [2, -1, 4, -1, -1])
    assert [rule.conditions[0] for rule in rules_of(tree, WORDING)] == [
        "age <= 1700000272.5", "1700000272.5 < age <= 1700000278.5", "age > 1700000278.5",
    ]  # fmt: skip


def test_intervals_that_round_to_nothing_are_written_in_full():
    splits = [NumericSplit(0, 0.12345671), None, NumericSplit(0, 0.12345674), None, None]
    tree = tree_of(splits, [1, -1, 3, -1, -1], [2, -1, 4, -1, -1])
    assert rules_of(tree, WORDING)[1].conditions == ("0.12345671 < age <= 0.12345674",)


NASTY = ["'] or exit() #", 'b"""\nexit()\n', "c\\", "d\n    return 'no'  # \x1b[2J\u2028"]


def test_names_cannot_become_lines_or_code():
    rng = np.random.default_rng(3)
    wording = Wording(NASTY, {1: [*NASTY, "{0}", "%s", "g", "h"]}, NASTY)
    tree = random_tree(rng, 30, 4, 400, nominal=(1,))
    X = rng.normal(size=(150, 4))
    X[:, 1] = rng.integers(0, 8, 150)
    source = python_source(tree, wording)
    space: dict = {}
    exec(source, space)
    assert {k for k in space if k != "__builtins__"} == {
        "__doc__", "is_missing", "at_most", "among", "first", "predict",
    }  # fmt: skip
    expected = tree.prediction[tree.apply(X)]
    for row, k in zip(X.tolist(), expected, strict=True):
        cells = dict(zip(NASTY, row, strict=True))
        cells[NASTY[1]] = wording.categories[1][int(row[1])]
        assert space["predict"](cells) == NASTY[k]
    assert len(tree_text(tree, wording, None).splitlines()) == tree.n_nodes
    text = rules_text(tree, wording)
    assert len(text.splitlines()) == 2 * tree.n_leaves and "\x1b" not in text
    assert all("\n" not in str(finding) for finding in find(tree, wording))


def test_levels_with_an_order_are_listed():
    wording = Wording(None, {0: ["low", "middle", "high"]}, ["no", "yes"])
    splits = [NumericSplit(0, 1.5), NumericSplit(0, 0.5), None, None, None]
    tree = tree_of(splits, [1, 3, -1, -1, -1], [2, 4, -1, -1, -1])
    said = [rule.conditions for rule in rules_of(tree, wording)]
    assert said == [("x0 = low",), ("x0 = middle",), ("x0 = high",)]


def test_an_oblique_test_stands_for_itself():
    split = ObliqueSplit((0, 3), (1.0, -2.0), 0.5)
    tree = tree_of([split, None, None], [1, -1, -1], [2, -1, -1])
    assert rules_of(tree, WORDING)[0].conditions == (split.text(True, WORDING.names),)
    assert run(python_source(tree, WORDING._replace(names=None)))([0.5, 0, 0, 0.0]) == "no"


def test_rules_hold_for_the_samples_of_their_leaf():
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 25, 2, 300)
    X = rng.normal(size=(200, 4))
    names = {f"x{j}": j for j in range(4)}
    reached = tree.apply(X)
    rules = rules_of(tree, Wording(None, {}, [0, 1]))
    assert len(rules) == tree.n_leaves
    for rule in rules:
        held = np.ones(len(X), dtype=bool)
        for condition in rule.conditions:
            match = re.fullmatch(r"(?:(\S+) < )?(x\d)(?: > (\S+))?(?: <= (\S+))?", condition)
            low, name, above, high = match.groups()
            x = X[:, names[name]]
            held &= x > float(low or above or -np.inf)
            held &= x <= float(high or np.inf)
        assert (held == (reached == rule.node)).mean() > 0.99  # limits are rounded in the text


def test_tree_in_letters():
    tree = tree_of([NumericSplit(0, 5.0), NumericSplit(2, 2.0), None, None, None],
                   [1, 3, -1, -1, -1], [2, 4, -1, -1, -1])  # fmt: skip
    assert tree_text(tree, WORDING, None).splitlines() == [
        "all: no 50.0 %, n = 6",
        "├─ age <= 5: no 50.0 %, n = 4",
        "│  ├─ it's <= 2: no 50.0 %, n = 2",
        "│  └─ it's > 2: no 50.0 %, n = 2",
        "└─ age > 5: no 50.0 %, n = 2",
    ]
    assert tree_text(tree, WORDING, 0) == "all: no 50.0 %, n = 6 ..."


def test_fractions_are_never_rounded_to_all_or_nothing():
    assert [percent(s) for s in (0, 1e-5, 0.5, 0.99999, 1)] == [
        "0.0 %", "<0.1 %", "50.0 %", ">99.9 %", "100.0 %",
    ]  # fmt: skip


# ----------------------------------------------------------------------------------- source


def with_surrogates(tree, rng):
    """The same tree with tests that stand in, on other features, some the other way round."""
    surrogates = []
    for split in tree.splits:
        if split is None:
            surrogates.append(())
            continue
        others = [NumericSplit(0, float(rng.normal()), missing=int(rng.integers(-1, 2))),
                  NominalSplit(1, frozenset([0, 3]), frozenset([1, 6]))]  # fmt: skip
        surrogates.append(tuple(
            Surrogate(other, bool(rng.integers(2)), 0.9, 0.5) for other in others[: rng.integers(3)]
        ))  # fmt: skip
    tree.surrogates = tuple(surrogates)
    return tree


@pytest.mark.parametrize("seed", range(6))
def test_the_source_predicts_what_the_tree_predicts(seed):
    rng = np.random.default_rng(seed)
    tree = with_surrogates(random_tree(rng, 40, 2, 500, nominal=(1,)), rng)
    X = rng.normal(size=(400, 4))
    X[:, 1] = rng.integers(-1, 8, 400)  # -1: a city that was never seen
    gaps = rng.random(X.shape) < 0.25
    X[gaps] = np.nan
    predict = run(python_source(tree, WORDING))
    expected = np.array(WORDING.classes)[tree.prediction[tree.apply(X)]]
    for row, gap, said in zip(X.tolist(), gaps, expected, strict=True):
        cells = dict(zip(WORDING.names, row, strict=True))
        if not gap[1]:
            cells["city"] = CITIES[int(row[1])] if row[1] >= 0 else "Atlantis"
        elif rng.integers(2):
            cells["city"] = None
        assert predict(cells) == said


def test_all_kinds_of_missing_values_are_missing_in_the_source():
    import pandas as pd

    splits = [NumericSplit(0, 5.0, missing=1), None, None]
    tree = tree_of(splits, [1, -1, -1], [2, -1, -1], [[0, 0], [0, 9], [9, 0]])
    predict = run(python_source(tree, WORDING))
    assert [predict({"age": gap}) for gap in (None, np.nan, pd.NA, pd.NaT)] == ["yes"] * 4
    assert predict({"age": 6}) == "no"


def test_the_source_of_oblique_tests():
    rng = np.random.default_rng(7)
    tree = random_tree(rng, 20, 2, 300)
    tree.splits = tuple(
        None if split is None else ObliqueSplit(
            (0, 2, 3), tuple(rng.normal(size=3).tolist()), float(rng.normal())
        )
        for split in tree.splits
    )  # fmt: skip
    X = rng.normal(size=(200, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    predict = run(python_source(tree, Wording(None, {}, ["no", "yes"])))
    expected = np.array(["no", "yes"])[tree.prediction[tree.apply(X)]]
    assert [predict(row) for row in X.tolist()] == expected.tolist()


def test_deep_trees_are_cut_into_functions():
    n = 150
    left = [t + 1 if t % 2 == 0 and t < 2 * n else -1 for t in range(2 * n + 1)]
    right = [t + 2 if t % 2 == 0 and t < 2 * n else -1 for t in range(2 * n + 1)]
    left, right = right, left  # along the left, where Python would have to indent
    left = [max(a, b) if a >= 0 else -1 for a, b in zip(left, right, strict=True)]
    right = [a - 1 if a >= 0 else -1 for a in left]
    splits = [NumericSplit(0, float(-t)) if left[t] >= 0 else None for t in range(2 * n + 1)]
    counts = np.random.default_rng(0).integers(1, 9, (2 * n + 1, 2))
    tree = tree_of(splits, left, right, counts)
    assert tree.max_depth == n
    predict = run(python_source(tree, Wording(None, {}, ["no", "yes"])))
    X = np.column_stack([np.linspace(-2 * n, 10, 500), np.zeros((500, 3))])
    expected = tree.prediction[tree.apply(X)]
    assert [predict(row) for row in X.tolist()] == [["no", "yes"][k] for k in expected]


def test_a_single_leaf_and_numbers():
    tree = Tree("regression", 2, left=[-1], right=[-1], n_samples=[3], weight=[3], value=[[0.1]],
                prediction=[0.1], impurity=[1.0], error=[1.0], splits=[None])  # fmt: skip
    source = python_source(tree, Wording())
    assert run(source)([1, 2]) == 0.1 and "is_missing" not in source
    assert (
        rules_text(tree, Wording())
        == "1. IF anything\n   THEN 0.1   (3 samples, 100.0 %; deviation 1)"
    )


def test_labels_that_have_no_source_are_refused():
    tree = tree_of([None], [-1], [-1])
    with pytest.raises(ValueError, match="cannot be written as Python source"):
        python_source(tree, Wording(None, {}, [np.datetime64("2020-01-01", "D"), 1]))
    with pytest.raises(ValueError, match="name='first'"):
        python_source(tree, WORDING, name="first")
