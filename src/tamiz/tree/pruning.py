"""The nested sequence of pruned trees, and the choice of one of them.

A pruned sub-tree ``T`` is charged ``R(T) + alpha S(T)``: its training error, and ``alpha`` for each
unit of size. The size is a sum over the tests that are left, ``S(T) = sum of s(t)``:

- ``s(t) = 1`` counts tests, which is the number of leaves less one (Breiman et al. 1984, ch. 3);
- ``s(t) = n_t / n`` is the mean depth of a sample, ``l(T) = sum over leaves of n_t l(t) / n``. A
  sample adds one to its depth at each test that it meets, so that the sum over leaves of depths is
  the sum over tests of the samples that meet them.

Since error and size are both sums over the parts of a tree, the cheapest pruning of a branch is

    f_t(alpha) = min(R(t), f_left(alpha) + f_right(alpha) + alpha s(t)),

and the branch below ``t`` is cut from the ``alpha`` on at which both sides are equal. ``f_t`` is
concave and piecewise linear. Its breaks are the links that are cut inside the branch before it
goes as a whole. They are held in a heap with the largest at the top: a branch takes those of its
children, drops from the top what comes later than its own end, and adds its own. Each link is
dropped once, so that all take O(n log n) whatever the shape, where a search for the weakest link
and an update of all nodes above it would take O(n depth).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from tamiz.display import PALETTE, TableResult, axes, frames
from tamiz.runtime.compiling import njit
from tamiz.tree.structure import check_shape
from tamiz.validation import checked, one_of, position, real_number

if TYPE_CHECKING:
    from tamiz.tree.pruning_errors import Losses
    from tamiz.tree.structure import Tree


class Measure(ABC):
    """What a tree is charged for: a sum over its tests."""

    name: ClassVar[str]
    label: ClassVar[str]

    @abstractmethod
    def sizes(self, tree: Tree) -> np.ndarray:
        """What the test at each node adds."""

    @abstractmethod
    def of(self, path: PruningPath) -> np.ndarray:
        """The sizes of the trees of a sequence."""


class MeanDepth(Measure):
    """Tests that a training sample meets on average, ``l(T)``."""

    name, label = "mean_depth", "mean depth l(T)"

    def sizes(self, tree: Tree) -> np.ndarray:
        return np.asarray(tree.weight / tree.weight[0], dtype=np.float64)

    def of(self, path: PruningPath) -> np.ndarray:
        return path.mean_depths


class Leaves(Measure):
    """Number of leaves."""

    name, label = "leaves", "leaves"

    def sizes(self, tree: Tree) -> np.ndarray:
        return np.ones(len(tree.left))

    def of(self, path: PruningPath) -> np.ndarray:
        return path.leaves


MEASURES: dict[str, Measure] = {kind.name: kind for kind in (MeanDepth(), Leaves())}

#: What a user may say of pruning.
PRUNING = {"measure": one_of(*MEASURES), "rule": one_of("best", "1se")}


@dataclass(frozen=True, eq=False)  # arrays have no single answer to ==
class PruningPath(TableResult):
    """The sub-trees that are best for some penalty ``alpha``, from the largest to the root alone.

    Tree ``k`` is the smallest of those with least ``error + alpha * size`` for all alphas from
    ``alphas[k]`` up to ``alphas[k + 1]``. Each is inside the one before it. Tree 0, for
    alpha = 0, is the smallest with the training error of the full tree.

    Attributes
    ----------
    measure : {"mean_depth", "leaves"}
        What a tree is charged for.
    alphas : array of shape (n_trees,)
        Complexity penalties, growing from 0.
    leaves : array of shape (n_trees,)
        Numbers of leaves.
    mean_depths : array of shape (n_trees,)
        Tests that a training sample meets on average.
    training_errors : array of shape (n_trees,)
        Error on the training data, with the costs of the tree; for regression the mean square.
    full : Tree
        The tree that was pruned.
    last : array of shape (n_nodes,)
        The first tree of the sequence in which each node of the full tree is not divided.
    errors, standard_errors : arrays of shape (n_trees,) or None
        Error on other data than the tree was grown with, where it was measured.
    data : str
        What it was measured on: "held-out data" or "cross-validation"; empty if it was not.
    rule : {"best", "1se"} or None
        How the tree was chosen.
    chosen : int or None
        Its position.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamiz.tree import CARTClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = CARTClassifier().fit(X[:400], y[:400]).pruning_path()
    >>> bool((path.leaves[1:] < path.leaves[:-1]).all()), int(path.leaves[-1])
    (True, 1)
    """

    measure: str
    alphas: np.ndarray
    leaves: np.ndarray
    mean_depths: np.ndarray
    training_errors: np.ndarray
    full: Tree = field(repr=False)
    last: np.ndarray = field(repr=False)
    errors: np.ndarray | None = None
    standard_errors: np.ndarray | None = None
    data: str = ""
    rule: str | None = None
    chosen: int | None = None

    def __repr__(self) -> str:
        chosen = "" if self.chosen is None else f", tree {self.chosen} by the rule {self.rule}"
        leaves = f"{self.leaves[0]} to {self.leaves[-1]} leaves"
        return f"<PruningPath: {len(self)} trees, {leaves}{chosen}>"

    def __len__(self) -> int:
        return len(self.alphas)

    def __getitem__(self, k: int) -> Tree:
        return self.tree(k)

    def __iter__(self) -> Iterator[Tree]:
        return (self.tree(k) for k in range(len(self)))

    @checked(k=position)
    def tree(self, k: int) -> Tree:
        """Tree ``k`` of the sequence; -1 is the root alone.

        Parameters
        ----------
        k : int
            Position in the sequence.

        Returns
        -------
        Tree
            A tree of its own.
        """
        if not -len(self) <= k < len(self):
            raise IndexError(
                f"k={k} is outside of the sequence, whose {len(self)} trees are numbered 0 to "
                f"{len(self) - 1}."
            )
        return self.full.with_leaves(self.last <= k % len(self))

    @checked(alpha=real_number(least=0, finite=False))
    def at(self, alpha: float) -> int:
        """Position of the tree that is best at the complexity penalty ``alpha``.

        Parameters
        ----------
        alpha : float
            Penalty for each unit of size, not negative.

        Returns
        -------
        int
            Its position.
        """
        return int(np.searchsorted(self.alphas, alpha, side="right")) - 1

    def measured(self, losses: Losses, data: str, rule: str) -> PruningPath:
        """The same sequence with errors on other data, and the tree that the rule chooses."""
        errors, standard = losses.mean, losses.standard_error
        return replace(
            self, errors=errors, standard_errors=standard, data=data, rule=rule,
            chosen=choose(errors, standard, rule),
        )  # fmt: skip

    # ------------------------------------------------------------------------------------ shown

    def to_dict(self) -> dict[str, Any]:
        """Everything but the trees, as plain numbers and lists."""
        columns = {name: values.tolist() for name, values in self._columns().items()}
        return {
            "measure": self.measure, "full_leaves": int(self.full.n_leaves), "data": self.data,
            "rule": self.rule, "chosen": self.chosen, **columns,
        }  # fmt: skip

    def to_frame(self) -> Any:
        """A pandas data frame, one row for each tree."""
        pd = frames()
        return pd.DataFrame(self._columns())

    def _columns(self) -> dict[str, np.ndarray]:
        columns = {
            "alpha": self.alphas, "leaves": self.leaves, "mean_depth": self.mean_depths,
            "training_error": self.training_errors,
        }  # fmt: skip
        if self.errors is not None and self.standard_errors is not None:
            columns |= {"error": self.errors, "standard_error": self.standard_errors}
        return columns

    def __str__(self) -> str:
        return "\n".join(_table(self))

    def plot(self, ax: Any = None, *, growth: bool = False) -> Any:
        """Draw errors along the sequence against the size of the tree.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        growth : bool, default=False
            Draw also the trees that the full tree was while it grew.

        Returns
        -------
        matplotlib axes
            What was drawn into.
        """
        return plot_path(self, ax, growth)


_MOST_LINES = 40


def _table(path: PruningPath) -> Iterator[str]:
    per = {"mean_depth": "unit of mean depth", "leaves": "leaf"}[path.measure]
    yield f"{len(path)} tree{'s' * (len(path) > 1)}, pruned by error for each {per} saved"
    if path.full.n_leaves > path.leaves[0]:
        yield f"(the full tree has {path.full.n_leaves} leaves, and the training error of tree 0)"
    columns = path._columns()
    yield "tree  " + "  ".join(f"{name.replace('_', ' '):>14}" for name in columns)
    shown = range(len(path))
    if len(path) > _MOST_LINES:  # the small ones are those of interest, and the one chosen
        around = path.chosen if path.chosen is not None else len(path)
        shown = range(max(0, min(around - 10, len(path) - _MOST_LINES)), len(path))
        yield (
            f"  ({shown.start} larger trees are left out; to_frame() has all)"
            if shown.start
            else ""
        )
    for k in shown:
        cells = [f"{v[k]:>14d}" if v.dtype.kind == "i" else f"{v[k]:>14.6g}"
                 for v in columns.values()]  # fmt: skip
        yield f"{k:>4}  {'  '.join(cells)}{'  <- chosen' if k == path.chosen else ''}"
    if path.chosen is not None:
        rule = "least error" if path.rule == "best" else "smallest within one standard error"
        yield f"chosen: tree {path.chosen}, {rule} ({path.data})"


@checked(measure=PRUNING["measure"])
def pruning_path(tree: Tree, measure: str = "mean_depth") -> PruningPath:
    """The nested sequence of best sub-trees of a tree.

    Parameters
    ----------
    tree : Tree
        The full tree.
    measure : {"mean_depth", "leaves"}, default="mean_depth"
        What a tree is charged for: the tests that a training sample meets on average, or its
        leaves (the classical cost-complexity pruning).

    Returns
    -------
    PruningPath
        Complexity penalties, sizes and training errors; the trees on demand.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen, C. Stone (1984). *Classification and Regression
       Trees*, chapter 3.
    """
    size = MEASURES[measure].sizes(check_shape(tree))
    alphas, last = weakest_links(tree.left, tree.right, tree.parent, tree.error, size)
    depths = MEASURES["mean_depth"].sizes(tree)
    # a node is divided in all trees before `last`: 1 leaf to begin with, and one more for each
    inner = np.bincount(last[last > 0], minlength=len(alphas) + 1)[1:]
    weighted = np.bincount(last, weights=depths, minlength=len(alphas) + 1)[1:]
    errors = sums_along(tree.parent, last, len(alphas), tree.error[:, None])[:, 0]
    errors[-1] = tree.error[0]
    return PruningPath(
        measure=measure,
        alphas=alphas,
        leaves=1 + inner[::-1].cumsum()[::-1],
        mean_depths=weighted[::-1].cumsum()[::-1],
        training_errors=np.maximum(errors, 0.0),
        full=tree,
        last=last,
    )


def sums_along(parent: np.ndarray, last: np.ndarray, n_trees: int, each: np.ndarray) -> np.ndarray:
    """Sum over the leaves of each tree of a sequence of what each node has."""
    until = np.where(parent < 0, n_trees, last[np.maximum(parent, 0)])
    change = np.zeros((n_trees + 1, each.shape[1]))
    there = last < until  # others are never a leaf
    np.add.at(change, last[there], each[there])
    np.subtract.at(change, until[there], each[there])
    return np.cumsum(change[:-1], axis=0)


def choose(errors: np.ndarray, standard_errors: np.ndarray, rule: str) -> int:
    """Position of the tree that a rule takes; among equals the smallest, which is the last."""
    best = errors.min()
    limit = best + 1e-12 * np.abs(errors).max()  # sums along the sequence round that much
    if rule == "1se":
        at_best = np.flatnonzero(errors <= limit)[-1]
        standard = standard_errors[at_best]
        limit += standard if np.isfinite(standard) else 0.0
    return int(np.flatnonzero(errors <= limit)[-1])


#: What cannot be computed again from the full tree.
_FOUND = ("errors", "standard_errors", "data", "rule", "chosen")


def record_of(path: PruningPath) -> dict[str, Any]:
    """What an estimator keeps of its pruning: both trees, and what other data said."""
    assert path.chosen is not None  # a tree to keep
    found = {name: getattr(path, name) for name in _FOUND}
    return {"full": path.full, "kept": path.tree(path.chosen), "measure": path.measure, **found}


def recalled(record: dict[str, Any]) -> PruningPath:
    """The sequence of which a record was kept."""
    path = pruning_path(record["full"], record["measure"])
    return replace(path, **{name: record[name] for name in _FOUND})


def growth_curve(tree: Tree) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leaves, mean depth and training error of a tree while it grew, split by split.

    Nodes are numbered in the order in which they were made, so that the splits are in the order of
    their left children.
    """
    inner = np.flatnonzero(tree.left >= 0)
    inner = inner[np.argsort(tree.left[inner], kind="stable")]
    less = tree.error[inner] - tree.error[tree.left[inner]] - tree.error[tree.right[inner]]
    depth = np.concatenate([[0.0], np.cumsum(tree.weight[inner] / tree.weight[0])])
    error = tree.error[0] - np.concatenate([[0.0], np.cumsum(less)])
    return np.arange(1, len(inner) + 2), depth, np.maximum(error, 0.0)


#: Errors that differ by less, as a fraction of the error of the root, are the same: sums of
#: fractions such as 1/3 are not exact.
TOLERANCE = 1e-12


class Links(NamedTuple):
    """When the tests of a tree go.

    Attributes
    ----------
    alphas : array of shape (n_trees,)
        The alpha from which on each tree of the sequence is the best, growing from 0.
    last : array of shape (n_nodes,)
        The first tree of the sequence in which the node is not divided: 0 for leaves.
    """

    alphas: np.ndarray
    last: np.ndarray


def weakest_links(
    left: np.ndarray, right: np.ndarray, parent: np.ndarray, error: np.ndarray, size: np.ndarray
) -> Links:
    """The nested sequence of cheapest sub-trees, from the full tree to the root alone.

    Parameters
    ----------
    left, right, parent : int arrays of shape (n_nodes,)
        Children and parent, -1 where none; children after their parents.
    error : array of shape (n_nodes,)
        ``R(t)``, the error of each node as a leaf.
    size : array of shape (n_nodes,)
        ``s(t)``, what the test at each node adds to the size; leaves do not count.
    """
    slack = TOLERANCE * abs(float(error[0]))
    gain, load = _own_links(
        left.astype(np.int64), right.astype(np.int64), error.astype(np.float64),
        size.astype(np.float64), slack,
    )  # fmt: skip
    cut = np.flatnonzero(gain >= 0.0)  # links that are cut themselves, not with one above them
    alpha = gain[cut] / load[cut]
    alpha[gain[cut] <= slack] = 0.0
    order = np.argsort(alpha, kind="stable")
    cut, alpha = cut[order], alpha[order]
    alphas, step = _joined_ties(alpha, load[cut], slack)
    last = np.full(len(left), len(alphas), dtype=np.int64)
    last[cut] = step
    return Links(alphas, _with_those_above(left, parent.astype(np.int64), last))


def _joined_ties(
    alpha: np.ndarray, load: np.ndarray, slack: float
) -> tuple[np.ndarray, np.ndarray]:
    """Alphas of the sequence, and the step at which each link is cut; ties go together."""
    alphas, step, start = [0.0], np.zeros(len(alpha), dtype=np.int64), 0.0
    for k, (value, size) in enumerate(zip(alpha.tolist(), load.tolist(), strict=True)):
        if value > 0.0 and (value - start) * size > slack:
            alphas.append(value)
            start = value
        elif value > 0.0:
            alphas[-1] = value  # at the largest of those tied all of them are cut
        step[k] = len(alphas) - 1
    return np.array(alphas), step


@njit(cache=True)
def _own_links(left, right, error, size, slack):
    """For each test: error added and size saved when its branch goes; -1 if one above goes first.

    ``gain[t] / load[t]`` is the alpha at which the branch of ``t`` is cut.
    """
    n = len(left)
    gain, load, alpha = np.full(n, -1.0), np.zeros(n), np.zeros(n)
    heap = np.full(n, -1, dtype=np.int64)  # of each node: the largest link in its branch
    below = np.full((n, 2), -1, dtype=np.int64)
    for t in range(n - 1, -1, -1):
        if left[t] < 0:
            continue
        more = error[t] - error[left[t]] - error[right[t]]
        saved = size[t]
        top = _merge(heap[left[t]], heap[right[t]], alpha, below)
        # a link inside that would go later, or at the same time, goes with this one
        while top >= 0 and more - alpha[top] * saved <= slack:
            more += gain[top]
            saved += load[top]
            gain[top] = -1.0
            top = _merge(below[top, 0], below[top, 1], alpha, below)
        gain[t], load[t] = max(more, 0.0), saved
        alpha[t] = gain[t] / saved if saved > 0.0 else 0.0
        if saved <= 0.0:
            load[t] = 1.0
        below[t, 0], below[t, 1] = top, -1
        heap[t] = t
    return gain, load


@njit(cache=True)
def _merge(a, b, key, below):
    """Two skew heaps as one; largest key at the top."""
    if a < 0:
        return b
    if b < 0:
        return a
    if key[a] < key[b]:
        a, b = b, a
    root = a
    while True:
        rest = below[a, 1]
        below[a, 1] = below[a, 0]
        if rest < 0:
            below[a, 0] = b
            return root
        if key[rest] < key[b]:
            rest, b = b, rest
        below[a, 0] = rest
        a = rest


@njit(cache=True)
def _with_those_above(left, parent, last):
    """A test is gone with the first of those above it; leaves are 0."""
    for t in range(1, len(left)):
        last[t] = min(last[t], last[parent[t]])
    for t in range(len(left)):
        if left[t] < 0:
            last[t] = 0
    return last


_MANY = 30  # trees up to which each gets a mark


def plot_path(path: PruningPath, ax: Any, growth: bool) -> Any:
    """Draw into ``ax``, or into a new figure."""
    measure = MEASURES[path.measure]
    sizes = measure.of(path)
    ax = axes(ax)
    mark = "o" if len(path) <= _MANY else None
    if growth:
        leaves, depths, errors = growth_curve(path.full)
        grown = {"mean_depth": depths, "leaves": leaves}[path.measure]
        ax.plot(grown, errors, ":", color="0.5", lw=1.2, label="training data, while it grew")
    ax.plot(sizes, path.training_errors, color=PALETTE[0], marker=mark, ms=3,
            label="training data, best sub-trees")  # fmt: skip
    if path.errors is not None and path.standard_errors is not None:
        ax.plot(sizes, path.errors, ls="--", color=PALETTE[1], marker=mark, ms=3, label=path.data)
        spread = np.nan_to_num(path.standard_errors)
        ax.fill_between(sizes, path.errors - spread, path.errors + spread, color=PALETTE[1],
                        alpha=0.15, lw=0)  # fmt: skip
        if path.chosen is not None:
            k = path.chosen
            said = "leaf" if path.leaves[k] == 1 else "leaves"
            ax.plot(sizes[k], path.errors[k], "o", ms=9, mfc="none", mec="k",
                    label=f"chosen: {path.leaves[k]} {said}")  # fmt: skip
    if path.measure == "leaves" and sizes[0] > 50:
        ax.set_xscale("log")
    kind = "error" if path.full.kind == "classification" else "mean squared error"
    ax.set(xlabel=measure.label, ylabel=kind)
    ax.set_ylim(bottom=0)
    ax.legend(fontsize="small")
    return ax
