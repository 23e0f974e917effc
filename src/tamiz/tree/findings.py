"""What in a grown tree deserves a second look: fragmentation, repetition, replication.

- *Fragmentation*: tests that send few samples to one side, and leaves of few samples. Branches get
  long, and the regions so small that they stand for nothing.
- *Repetition*: one feature is asked again and again on the way to a leaf. Its relation to the
  target is not a step; a transformed feature may say it at once.
- *Replication*: the same structure of features in several places. Often a sign of a direction that
  lies across the axes: oblique splits, or a feature that combines those concerned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.display import frame_in_notebook, frames
from tamiz.tree.rules import Wording, one_line, percent, preorder
from tamiz.tree.splits import NominalSplit

if TYPE_CHECKING:
    import pandas as pd

    from tamiz.tree.structure import Tree

_ENOUGH = 10  # leaves of a class from which on they are many
_MOST = 8  # nodes named in a sentence
_MOST_STRUCTURES = 10  # replicated structures that are reported one by one


@dataclass(frozen=True)
class Finding:
    """Something about a tree that deserves a second look.

    Attributes
    ----------
    kind : {"fragmentation", "repetition", "replication"}
        What it is.
    text : str
        One or two sentences: what was found, and what may help.
    nodes : tuple of int
        The nodes concerned.
    """

    kind: str
    text: str
    nodes: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"

    def to_frame(self) -> pd.DataFrame:
        """One row: what it is, the sentence, and the nodes."""
        return frames().DataFrame([{"kind": self.kind, "text": self.text, "nodes": self.nodes}])

    def _repr_html_(self) -> str | None:
        return frame_in_notebook(f"Finding: {self.kind}", self.to_frame)


def find(
    tree: Tree,
    wording: Wording,
    *,
    few: int = 5,
    balance: float = 0.05,
    repeats: int = 3,
    tests: int = 2,
) -> list[Finding]:
    """All findings of a tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    wording : Wording
        Names.
    few : int
        A leaf with fewer samples is small.
    balance : float
        A test is lopsided if it sends a smaller fraction of its samples to one side.
    repeats : int
        Tests of one feature on one way from which on it is repeated.
    tests : int
        Fewest tests of a structure that counts as replicated.
    """
    _check(few, balance, repeats, tests)
    return [
        *_small_leaves(tree, few),
        *_lopsided(tree, balance),
        *_scattered(tree, wording),
        *_repeated(tree, wording, repeats),
        *_replicated(tree, wording, tests),
    ]


def _check(few: Any, balance: Any, repeats: Any, tests: Any) -> None:
    whole = {"few": (few, 0), "repeats": (repeats, 2), "tests": (tests, 1)}
    for name, (value, least) in whole.items():
        good = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not good or value < least:
            raise ValueError(f"{name}={value!r} is not a number of {_WHAT[name]} from {least} on.")
    number = isinstance(balance, (int, float, np.number)) and not isinstance(balance, bool)
    if not number or not 0 <= balance <= 0.5:
        raise ValueError(f"balance={balance!r} is not a fraction; use a number from 0 to 0.5.")


_WHAT = {"few": "samples", "repeats": "tests", "tests": "tests"}


# ------------------------------------------------------------------------------- fragmentation


def _small_leaves(tree: Tree, few: int) -> Iterator[Finding]:
    leaves = tree.leaves()
    small = leaves[tree.n_samples[leaves] < few]
    if len(small) and len(leaves) > 1:
        held = percent(float(tree.weight[small].sum() / tree.weight[0]))
        yield Finding(
            "fragmentation",
            f"{len(small)} of {len(leaves)} leaves hold fewer than {few} samples each, {held} of "
            "all together; what they say may be chance. Prune, or ask for more samples in a leaf "
            "(min_samples_leaf).",
            _ints(small),
        )


def _lopsided(tree: Tree, balance: float) -> Iterator[Finding]:
    inner = np.flatnonzero(~tree.is_leaf)
    sides = np.minimum(tree.n_samples[tree.left[inner]], tree.n_samples[tree.right[inner]])
    skewed = inner[sides < balance * tree.n_samples[inner]]
    if len(skewed):
        one = len(skewed) == 1
        yield Finding(
            "fragmentation",
            f"{len(skewed)} of {len(inner)} tests send{'s' * one} less than {percent(balance)} of "
            f"{'its' if one else 'their'} samples to one side; such tests make branches long (mean "
            f"depth {tree.mean_depth:.2f}, deepest {tree.max_depth}; {tree.n_leaves} leaves need "
            f"{np.log2(tree.n_leaves):.2f} if balanced). Ask for a better balance (min_balance), "
            "or prune.",
            _ints(skewed),
        )


def _scattered(tree: Tree, wording: Wording) -> Iterator[Finding]:
    """Classes in many leaves, and tests that change no prediction."""
    if wording.classes is None:
        return
    leaves = tree.leaves()
    for k, label in enumerate(wording.classes):
        own = leaves[tree.prediction[leaves] == k]
        held = tree.weight[own].sum() / tree.weight[0]
        small = own[tree.weight[own] < 0.01 * tree.weight[0]]
        if len(own) >= _ENOUGH and 2 * len(small) > len(own):
            yield Finding(
                "fragmentation",
                f"{len(own)} leaves predict {one_line(str(label))}, {percent(float(held))} of all "
                f"samples; {len(small)} of them hold less than 1 % each. Prune, or look for a "
                "feature that puts them together.",
                _ints(own),
            )
    inner = np.flatnonzero(~tree.is_leaf)
    pair = np.column_stack([tree.left[inner], tree.right[inner]])
    idle = inner[
        tree.is_leaf[pair].all(axis=1)
        & (tree.prediction[pair[:, 0]] == tree.prediction[pair[:, 1]])
    ]
    if len(idle):
        one = len(idle) == 1
        yield Finding(
            "fragmentation",
            f"{len(idle)} test{'s' * (not one)} end{'s' * one} in two leaves of the same class: "
            f"{'it changes' if one else 'they change'} the class fractions but no prediction. "
            "Pruning removes them without a change of the training error.",
            _ints(idle),
        )


# ---------------------------------------------------------------------------------- repetition


def _repeated(tree: Tree, wording: Wording, repeats: int) -> Iterator[Finding]:
    """For each feature that is asked often on one way: the way where it is asked most."""
    count: dict[int, dict[int, int]] = {}
    most: dict[int, tuple[int, int]] = {}
    for t in range(tree.n_nodes):
        above = int(tree.parent[t])
        split = tree.splits[t]
        held = count[above] if above >= 0 else {}
        if split is not None and len(split.features) == 1:
            j = split.features[0]
            held = {**held, j: held.get(j, 0) + 1}
            if held[j] > most.get(j, (0, 0))[0]:
                most[j] = (held[j], t)
        count[t] = held
    for j, (times, end) in sorted(most.items(), key=lambda item: (-item[1][0], item[0])):
        if times < repeats:
            continue
        way = [t for t in (*tree.ancestors(end), end) if _asks(tree, t) == (j,)]
        yield Finding(
            "repetition",
            f"{wording.feature(j)} is tested {times} times on the way to one leaf (nodes "
            f"{_listed(way)}). {_advice(tree, end)}",
            tuple(way),
        )


def _advice(tree: Tree, t: int) -> str:
    if isinstance(tree.splits[t], NominalSplit):
        return "One division of its categories is not enough; try to put them together in groups."
    return (
        "Its relation to the target is not a simple step; look at its distribution, and try a "
        "transformed or a discretised feature."
    )


def _asks(tree: Tree, t: int) -> tuple[int, ...]:
    split = tree.splits[t]
    return () if split is None else split.features


# --------------------------------------------------------------------------------- replication


def _replicated(tree: Tree, wording: Wording, tests: int) -> Iterator[Finding]:
    """Structures of features that occur in places none of which is inside another."""
    structure, size = _structures(tree, exact=False)
    exact = _structures(tree, exact=True)[0]
    groups: dict[int, list[int]] = {}
    for t in range(tree.n_nodes):
        if size[t] >= tests:
            groups.setdefault(structure[t], []).append(t)
    groups = {key: members for key, members in groups.items() if len(members) > 1}
    repeated: list[list[int]] = []
    for members in sorted(groups.values(), key=lambda m: (-size[m[0]] * len(m), m[0])):
        above = {structure[tree.parent[t]] if t else -1 for t in members}
        if len(above) > 1 or next(iter(above)) not in groups:  # else a part of a larger one
            repeated.append(members)
    for members in repeated[:_MOST_STRUCTURES]:
        same = len({exact[t] for t in members}) == 1
        asked = {j for t in preorder(tree, top=members[0]) for j in _asks(tree, t)}
        names = [wording.feature(j) for j in sorted(asked)]
        how = "the same branch" if same else "the same structure of features"
        yield Finding(
            "replication",
            f"{how}, {size[members[0]]} tests of {', '.join(names)}, stands in {len(members)} "
            f"places (nodes {_listed(members)}). Try oblique splits, or a feature that combines "
            "these.",
            tuple(members),
        )
    rest = sorted(t for members in repeated[_MOST_STRUCTURES:] for t in members)
    if rest:
        yield Finding(
            "replication",
            f"{len(repeated) - _MOST_STRUCTURES} more structures of features, each of them "
            "smaller, stand in several places.",
            tuple(rest),
        )


def _structures(tree: Tree, exact: bool) -> tuple[list[int], list[int]]:
    """A number for each node, the same for the same branches, and the tests in each.

    Branches are the same if they ask for the same features in the same shape; if ``exact``, the
    same questions with the same predictions.
    """
    numbers: dict[Any, int] = {}
    structure, size = [0] * tree.n_nodes, [0] * tree.n_nodes
    for t in range(tree.n_nodes - 1, -1, -1):
        split = tree.splits[t]
        key: Any
        if split is None:
            key = float(tree.prediction[t]) if exact else "leaf"
        else:
            left, right = int(tree.left[t]), int(tree.right[t])
            key = (split if exact else split.features, structure[left], structure[right])
            size[t] = 1 + size[left] + size[right]
        structure[t] = numbers.setdefault(key, len(numbers))
    return structure, size


def _listed(nodes: list[int]) -> str:
    more = f" and {len(nodes) - _MOST} more" if len(nodes) > _MOST else ""
    return ", ".join(map(str, nodes[:_MOST])) + more


def _ints(nodes: np.ndarray) -> tuple[int, ...]:
    return tuple(int(t) for t in nodes)
