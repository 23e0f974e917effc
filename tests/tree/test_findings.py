"""Each finding in a tree that has it, and not in one that has not; importances."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tamiz.tree.findings import find
from tamiz.tree.rules import Wording
from tamiz.tree.structure import (
    NominalSplit,
    NumericSplit,
    ObliqueSplit,
    Surrogate,
    Tree,
    impurity_importances,
)
from tests.tree.trees import from_sklearn, random_tree

WORDING = Wording(["a", "b", "c", "d"], {}, ["no", "yes"])


def nested(spec):
    """A tree from ``(test, left, right)`` and leaves ``(count of no, count of yes)``.

    A test is a feature, or a feature and a threshold.
    """
    left, right, counts, splits, waiting = [], [], [], [], []

    def add(part):
        left.append(-1)
        right.append(-1)
        splits.append(None)
        counts.append(np.zeros(2) if len(part) == 3 else np.array(part, dtype=float))
        waiting.append((len(left) - 1, part))

    add(spec)
    for t, part in waiting:
        if len(part) == 3:
            test = part[0] if isinstance(part[0], tuple) else (part[0], 0.5)
            splits[t] = NumericSplit(*test)
            left[t], right[t] = len(left), len(left) + 1
            add(part[1])
            add(part[2])
    for t in range(len(left) - 1, -1, -1):
        if left[t] >= 0:
            counts[t] = counts[left[t]] + counts[right[t]]
    counts = np.array(counts)
    total = counts.sum(axis=1)
    return Tree(
        "classification", 4, left=left, right=right, n_samples=total, weight=total, value=counts,
        prediction=counts.argmax(axis=1), impurity=1 - ((counts / total[:, None]) ** 2).sum(axis=1),
        error=counts.min(axis=1) / total[0], splits=splits,
    )  # fmt: skip


def found(tree, kind, word="", **options):
    return [f for f in find(tree, WORDING, **options) if f.kind == kind and word in f.text]


HEALTHY = nested((0, (50, 5), (1, (5, 40), (30, 2))))


def test_a_healthy_tree_has_no_findings():
    assert find(HEALTHY, WORDING) == []
    assert find(nested((10, 5)), WORDING) == []  # a single leaf


def test_small_leaves():
    tree = nested((0, (50, 5), (1, (4, 0), (1, 30))))
    (finding,) = found(tree, "fragmentation", "fewer than")
    assert finding.nodes == (3,) and "1 of 3 leaves" in finding.text
    assert str(finding).startswith("fragmentation: ")
    assert not found(tree, "fragmentation", "fewer than", few=4)


def test_lopsided_tests():
    tree = nested((0, (1000, 100), (1, (20, 0), (2, 978))))
    assert not found(tree, "fragmentation", "to one side", balance=0.01)
    (finding,) = found(tree, "fragmentation", "to one side", balance=0.05)
    assert finding.nodes == (2,) and "sends less than" in finding.text


def test_classes_in_many_leaves():
    tree = (500, 400)
    for _ in range(12):
        tree = (0, (0, 2), tree)
    (finding,) = found(nested(tree), "fragmentation", "leaves predict yes")
    assert len(finding.nodes) == 12 and "12 of them" in finding.text
    assert not found(nested((0, (0, 2), (500, 400))), "fragmentation", "predict yes")
    large = (500, 400)
    for _ in range(12):
        large = (0, (0, 200), large)  # many leaves, but each holds much
    assert not found(nested(large), "fragmentation", "predict yes")


def test_tests_that_change_no_prediction():
    tree = nested((0, (1, (40, 5), (30, 1)), (2, (5, 40), (30, 2))))
    (finding,) = found(tree, "fragmentation", "same class")
    assert finding.nodes == (1,)


def test_repetition():
    tree = nested(
        ((0, 9.0), ((0, 5.0), (10, 1), (1, ((0, 6.0), (1, 10), (10, 1)), (9, 9))), (1, 20))
    )
    (finding,) = found(tree, "repetition")
    assert [tree.splits[t].feature for t in finding.nodes] == [0, 0, 0]
    assert "a is tested 3 times" in finding.text
    assert all(b in (*tree.ancestors(finding.nodes[-1]), finding.nodes[-1]) for b in finding.nodes)
    assert not found(tree, "repetition", repeats=4)
    # often in different places is no repetition
    assert not found(nested((1, (0, (9, 1), (1, 9)), (0, (9, 1), (1, 9)))), "repetition")


def test_the_advice_on_categories_is_about_categories():
    tree = nested((0, (0, (10, 1), (0, (1, 10), (10, 1))), (1, 20)))
    assert "transformed" in found(tree, "repetition")[0].text
    sets = NominalSplit(0, frozenset([0]), frozenset([1, 2]))
    tree.splits = tuple(None if split is None else sets for split in tree.splits)
    (finding,) = found(tree, "repetition")
    assert "categories" in finding.text and "transformed" not in finding.text


def test_replication_of_a_disjunction():
    """(a and b) or (c and d): the branch of c and d stands twice."""
    cd = (2, (20, 0), (3, (20, 1), (0, 20)))
    tree = nested((0, cd, (1, cd, (0, 40))))
    (finding,) = found(tree, "replication")
    assert len(finding.nodes) == 2 and "the same branch" in finding.text and "c, d" in finding.text
    assert all(tree.splits[t].feature == 2 for t in finding.nodes)
    assert not found(tree, "replication", tests=3)


def test_replication_of_a_structure_with_other_limits():
    def branch(shift):
        return ((2, shift), (20, 0), ((3, shift), (20, 1), (0, 20)))

    tree = nested((0, branch(0.2), (1, branch(0.7), (0, 40))))
    (finding,) = found(tree, "replication")
    assert "the same structure of features" in finding.text


def test_branches_that_differ_anywhere_are_no_replicas():
    def branch(inner, side):
        deep = (inner, (9, 1), (1, 9))
        return (2, deep, (20, 1)) if side == "left" else (2, (20, 1), deep)

    for one, other in [((1, "left"), (3, "left")), ((1, "right"), (3, "right")),
                       ((1, "left"), (1, "right"))]:  # fmt: skip
        assert not found(nested((0, branch(*one), branch(*other))), "replication")
        assert found(nested((0, branch(*one), branch(*one))), "replication")


def test_the_parts_of_a_replicated_branch_are_not_told_again():
    deep = (1, (2, (20, 0), (3, (20, 1), (0, 20))), (9, 9))
    (finding,) = found(nested((0, deep, deep)), "replication")
    assert "3 tests" in finding.text


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [({"few": -1}, "few=-1"), ({"repeats": 1}, "repeats=1"), ({"tests": 0}, "tests=0"),
     ({"balance": 0.7}, r"balance=0\.7"), ({"few": 2.5}, r"few=2\.5"), ({"few": True}, "few=True"),
     ({"balance": None}, "balance=None")],
)  # fmt: skip
def test_bad_limits(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        find(HEALTHY, WORDING, **wrong)


def test_large_trees_are_no_burden():
    tree = random_tree(np.random.default_rng(0), 400, 2, 5000)
    replicated = found(tree, "replication")
    assert len(replicated) == 11 and "more structures" in replicated[-1].text
    named = [set(finding.nodes) for finding in replicated]
    assert not named[-1] & set.union(*named[:-1]) and len(named[-1]) >= 2


# ------------------------------------------------------------------------------- importances


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_importances_are_scikit_learns(criterion):
    X, y = load_breast_cancer(return_X_y=True)
    model = DecisionTreeClassifier(criterion=criterion, random_state=0).fit(X, y)
    ours = impurity_importances(from_sklearn(model, X, y))
    np.testing.assert_allclose(ours, model.feature_importances_, atol=1e-12)
    assert ours.sum() == pytest.approx(1)


def test_importances_of_a_regression_are_scikit_learns():
    X, y = load_diabetes(return_X_y=True)
    model = DecisionTreeRegressor(max_leaf_nodes=30, random_state=0).fit(X, y)
    ours = impurity_importances(from_sklearn(model, X, y))
    np.testing.assert_allclose(ours, model.feature_importances_, atol=1e-12)


def test_a_leaf_alone_has_no_importances():
    assert impurity_importances(nested((3, 4))).tolist() == [0, 0, 0, 0]


def test_surrogates_count_if_asked_for():
    tree = nested((0, (30, 0), (0, 30)))
    tree.surrogates = ((Surrogate(NumericSplit(2, 0.5), False, 0.9, 0.5),), (), ())
    assert impurity_importances(tree).tolist() == [1, 0, 0, 0]
    np.testing.assert_allclose(impurity_importances(tree, surrogates=True), [2 / 3, 0, 1 / 3, 0])


def test_an_oblique_test_counts_in_equal_parts():
    tree = nested((0, (30, 0), (0, 30)))
    tree.splits = (ObliqueSplit((1, 3), (5.0, -0.1), 0.0), None, None)
    assert impurity_importances(tree).tolist() == [0, 0.5, 0, 0.5]
