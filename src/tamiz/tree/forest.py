r"""Random forests on binned features: many trees, each grown on a bootstrap sample, averaged.

A feature is cut into at most 64 bins of like size, once. A node then finds
the best cut of a feature from the class counts of its bins, without sorting; among a few features
drawn at random the cut with the largest decrease of Gini impurity is taken. Trees are fully
grown and their class proportions averaged. Extremely randomised trees differ in two things: each
feature offers one cut, drawn at random, and every tree sees all samples.

References
----------
.. [1] L. Breiman (2001). Random forests. Machine Learning 45.
.. [2] P. Geurts, D. Ernst, L. Wehenkel (2006). Extremely randomized trees. Machine Learning 63.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tamiz.base import ScoredClassifier
from tamiz.callbacks import TakesCallbacks
from tamiz.display import Evidence, importance_table
from tamiz.pictures import ClassifierPlot
from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import limit_threads, run_tiles
from tamiz.tree.impurity import MOST
from tamiz.validation import (
    N_JOBS,
    check_class_weight,
    check_classes,
    check_sample_weight,
    check_X,
    depth_of_caller,
    is_inner_fit,
    unchanged_on_error,
)

#: Trees between two calls of who follows a forest.
_STEP = 10


class TreesInNotebooks(Evidence):
    """Many trees as a notebook shows them: their number, and which features they use."""

    forest_: tuple[np.ndarray, ...]
    feature_importances_: np.ndarray

    def _evidence(self) -> dict[str, Any]:
        if not hasattr(self, "forest_"):
            return {}
        forest = Forest(*self.forest_)
        found = {"trees": len(forest.roots), "leaves": int((forest.feature < 0).sum())}
        return found | super()._evidence()

    def _evidence_html(self, caption: str = "What was found") -> str:
        found = super()._evidence_html(caption)
        if not hasattr(self, "forest_"):
            return found
        names = getattr(self, "feature_names_in_", None)
        return found + importance_table(self.feature_importances_, names)


class ForestClassifier(
    TakesCallbacks, TreesInNotebooks, ScoredClassifier, ClassifierPlot, BaseEstimator
):
    """Random forest on features cut into at most 64 bins.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_features : int or "sqrt", default="sqrt"
        Number of features drawn at each node, more if none of these varies in it.
    splits : {"best", "random"}, default="best"
        The best cut of each feature and a bootstrap sample for each tree, or one cut at a value
        drawn evenly between the first and the last bin of the node, and all samples (extremely
        randomised trees).
    min_samples_leaf : int, default=1
        Minimum number of samples on either side of a split, counting bootstrap copies.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes: samples are drawn for a tree in proportion to their weights, so that
        balanced classes are balanced in every tree.
    n_jobs : int or None, default=None
        Threads; all by default.
    random_state : int, RandomState or None, default=None
        Seed of bootstrap samples and of the features drawn.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Decrease of impurity by each feature, summing to one.
    classes_ : ndarray
        Labels.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    CARTClassifier : A single tree that can be read.
    tamiz.embedded.ForestImportance : Features ranked by a forest.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.tree import ForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ForestClassifier(random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.95), forest.predict_proba(X[:1]).round(1).tolist()
    (True, [[1.0, 0.0, 0.0]])
    """

    _tables = 4  # of the size of X, that a fit works on
    _parameter_constraints: dict[str, list[Any]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_features": [Interval(Integral, 1, None, closed="left"), StrOptions({"sqrt"})],
        "splits": [StrOptions({"best", "random"})],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: int | str = "sqrt",
        splits: str = "best",
        min_samples_leaf: int = 1,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.splits = splits
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ForestClassifier:
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; samples of weight 0 count for nothing.

        Returns
        -------
        self : ForestClassifier
        """
        classes, X, codes, weight = training_part(self, X, y, sample_weight)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        rules = ForestRules(
            len(classes),
            features_tried(self.max_features, X.shape[1]),
            min(int(self.min_samples_leaf), MOST),
            self.splits == "random",
        )
        most = -(-int(self.n_estimators) // _STEP)
        with limit_threads(self.n_jobs), Progress("forest", most=most) as progress:
            bins = Bins.of(X)
            binned = bins.codes(X)
            forest = grow_forest(
                binned,
                bins.counts,
                bins.lowest(X, binned),
                codes,
                weight,
                rules=rules,
                n_trees=self.n_estimators,
                seed=seed,
                progress=progress,
            )
        self.classes_ = classes
        self.bins_ = tuple(bins)
        self.forest_ = tuple(forest)
        total = float(forest.gains.sum())
        self.feature_importances_ = forest.gains / total if total > 0 else forest.gains
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Mean class proportions over the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        proportions : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self, "forest_")
        X = check_X(self, X, reset=False)
        with limit_threads(self.n_jobs):
            return forest_proportions(Forest(*self.forest_), Bins(*self.bins_).codes(X))

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest mean proportion.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        found = self.predict_proba(X)
        return self.classes_[found.argmax(axis=1)]

    def _check_parts(self) -> None:
        """Refuse arrays that lead out of each other; for models that come from a file."""
        if hasattr(self, "forest_"):
            shape = self.n_features_in_, len(self.classes_)
            check_forest(Forest(*self.forest_), Bins(*self.bins_), *shape)


_MOST_BINS = 64

#: Constants of splitmix64: its step, and the factors that mix.
_GOLDEN, _MIX_ONE, _MIX_TWO = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def training_part(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Check what a classifier with class weights is fitted to.

    Returns the labels, then the samples that weigh something, the codes of their classes, and their
    weights, those of the classes included.
    """
    with unchanged_on_error(estimator):
        estimator._validate_params()
        X = check_X(estimator, X, reset=True)
        weight = check_sample_weight(sample_weight, len(X))
        labels = check_classes(y, len(X), weight=weight)
        kept = np.flatnonzero(weight)
        labels = labels._replace(codes=labels.codes[kept])
        by_class = check_class_weight(estimator.class_weight, labels, weight[kept])
    weight = weight[kept] * by_class[labels.codes]
    used = weight > 0
    return labels.classes, X[kept[used]], labels.codes[used], weight[used]


class Bins(NamedTuple):
    """The cuts of every feature; a value above ``k`` of them is in bin ``k``."""

    cuts: np.ndarray  # (features, most cuts), ascending
    counts: np.ndarray  # number of bins of each feature

    @classmethod
    def of(cls, X: np.ndarray) -> Bins:
        """Cuts half-way between neighbouring values; bins of like size if there are many values.

        A value that fills more than a bin has one to itself, as long as there are bins: a feature
        that is mostly 0 is cut as finely among its other values as one that is not.
        """
        p = X.shape[1]
        bins = cls(np.empty((p, _MOST_BINS - 1)), np.empty(p, dtype=np.intp))

        def tile(start: int, stop: int) -> None:
            # sorted by NumPy: numba takes a second to compile a sort
            values = np.sort(np.ascontiguousarray(X[:, start:stop].T), axis=1)
            _cut_columns(values, bins.cuts[start:stop], bins.counts[start:stop])

        run_tiles(tile, p, min_items=200)
        return bins

    def codes(self, X: np.ndarray) -> np.ndarray:
        """The bin of every value, features in rows."""
        found = np.empty((len(self.cuts), len(X)), dtype=np.uint8)
        run_tiles(_code_columns, len(self.cuts), X, *self, found, min_items=200)
        return found

    def lowest(self, X: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """The least value in every bin, features in rows; infinite where a bin is empty."""
        found = np.full((len(codes), _MOST_BINS), np.inf)
        run_tiles(_lowest_values, len(codes), X, codes, found, min_items=200)
        return found


class Forest(NamedTuple):
    """Grown trees, one after the other; ``roots`` says where each begins."""

    feature: np.ndarray  # -1 for a leaf
    threshold: np.ndarray  # bins up to this go left
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray  # (nodes, classes), proportions
    roots: np.ndarray
    gains: np.ndarray  # decrease of impurity by feature


class ForestRules(NamedTuple):
    """How trees are grown."""

    n_classes: int
    n_tried: int  # features that a node looks at
    min_leaf: int  # samples on either side of a cut, bootstrap copies counted
    random_cuts: bool  # one random cut for each feature and all samples; else the best cut


def grow_forest(
    codes: np.ndarray,
    n_bins: np.ndarray,
    lowest: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    *,
    rules: ForestRules,
    n_trees: int,
    seed: int,
    progress: Progress | None = None,
) -> Forest:
    """Grow all trees; ``codes`` has features in rows, ``y`` holds class codes.

    A tree sees a bootstrap sample, drawn in proportion to the weights; with random cuts and equal
    weights it sees all samples. Whoever follows ``progress`` is called after some trees, and may
    end the growth; the trees that are there are kept.
    """
    shape = tuple(rules)
    seeds = np.random.SeedSequence(seed).generate_state(int(n_trees)) % 2**31
    grown: list[Any] = [None] * n_trees

    def tile(start: int, stop: int, first: int = 0) -> None:
        for t in range(first + start, first + stop):
            state = np.array([seeds[t]], dtype=np.uint64)
            copies = _drawn(state, weight, rules.random_cuts)
            rows = np.flatnonzero(copies)
            links = np.zeros((6, 2 * len(rows)), dtype=np.int64)
            tree = links, np.zeros((2 * len(rows), rules.n_classes)), np.zeros(len(codes))
            n = _grow(codes, n_bins, lowest, y, rows, copies, shape, state, tree)
            grown[t] = (*links[:4, :n].copy(), tree[1][:n].copy(), tree[2])

    if progress is None or not progress.followed:
        run_tiles(tile, n_trees, min_items=4)
        done = n_trees
    else:
        done = _grow_in_steps(tile, n_trees, progress)
    joined = join_trees(grown[:done])
    return joined._replace(gains=joined.gains / done)


def _grow_in_steps(tile: Callable[..., None], n_trees: int, progress: Progress) -> int:
    """Grow some trees after the other; how many there are in the end."""
    done = 0
    try:
        while done < n_trees:
            n_next = min(_STEP, n_trees - done)
            run_tiles(tile, n_next, done)
            done += n_next
            progress.update(f"{done:,} of {n_trees:,} trees")
    except KeyboardInterrupt:
        if not trees_are_kept(done, n_trees):
            raise
    return done


def trees_are_kept(done: int, wanted: int) -> bool:
    """Whether trees of a growth that was interrupted are an answer; if so, fewer are warned of."""
    if not done or is_inner_fit():
        return False
    if done < wanted:
        warnings.warn(
            f"Growth was interrupted; the {done:,} of {wanted:,} trees that there are are kept.",
            UserWarning,
            stacklevel=depth_of_caller(),
        )
    return True


def _drawn(state: np.ndarray, weight: np.ndarray, everyone: bool) -> np.ndarray:
    """How often each of n samples is in a tree: n draws in proportion to the weights.

    With ``everyone`` and equal weights, each sample is in it once. Else ``state`` moves n steps on,
    as with n calls of :func:`_below`.
    """
    n = len(weight)
    if weight.min() == weight.max():
        return np.ones(n, dtype=np.int64) if everyone else _drawn_evenly(state, n)
    z = state + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
    state[0] = z[-1]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX_ONE)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX_TWO)
    drawn = ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    ends = np.cumsum(weight)
    spots = np.floor(drawn * 2.0**52) * 2.0**-52 * ends[-1]
    place = np.minimum(n - 1, np.searchsorted(ends, spots, side="right"))
    return np.bincount(place, minlength=n).astype(np.int64)


def join_trees(grown: list[Any]) -> Forest:
    """Trees one after the other, their gains added up."""
    sizes = [len(tree[0]) for tree in grown]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    shift = np.repeat(roots, sizes)
    feature = np.concatenate([tree[0] for tree in grown])
    left, right = (np.concatenate([tree[k] for tree in grown]) + shift for k in (2, 3))
    return Forest(
        feature,
        np.concatenate([tree[1] for tree in grown]),
        left,
        right,
        np.concatenate([tree[4] for tree in grown]),
        roots,
        np.sum([tree[5] for tree in grown], axis=0),
    )


def forest_proportions(forest: Forest, codes: np.ndarray) -> np.ndarray:
    """Mean class proportions of the leaves that the samples fall into."""
    return leaf_sums(forest, codes) / len(forest.roots)


def leaf_sums(forest: Forest, codes: np.ndarray) -> np.ndarray:
    """Sums over the trees of the values in the leaves that the samples fall into."""
    found = np.zeros((codes.shape[1], forest.value.shape[1]))
    run_tiles(_walk, codes.shape[1], codes, forest[:6], found, min_items=500)
    return found


def check_forest(forest: Forest, bins: Bins, n_features: int, n_classes: int) -> None:
    """Refuse a forest with a way that does not end in a leaf, or asks for what is not there."""
    n = len(forest.feature)
    inner = np.flatnonzero(forest.feature >= 0)
    links = (forest.feature, forest.threshold, forest.left, forest.right)
    fits = (
        all(part.shape == (n,) and part.dtype.kind == "i" for part in links)
        and forest.roots.ndim == 1
        and all(part.dtype.kind == "i" for part in (forest.roots, bins.counts))
        and 0 < len(forest.roots) <= n
        and (forest.feature < n_features).all()
        and ((forest.roots >= 0) & (forest.roots < n)).all()
        and all(((one[inner] > inner) & (one[inner] < n)).all() for one in links[2:])
        and forest.value.shape == (n, n_classes)
        and bins.cuts.shape == (n_features, _MOST_BINS - 1)
        and bins.counts.shape == (n_features,)
        and ((bins.counts >= 1) & (bins.counts <= _MOST_BINS)).all()
        and all(part.dtype.kind == "f" for part in (forest.value, bins.cuts))
    )
    if not fits:
        raise ValueError("The trees of a forest lead out of its arrays.")


def features_tried(max_features: int | str, p: int) -> int:
    """How many features a node looks at."""
    wanted = int(np.sqrt(p)) if isinstance(max_features, str) else int(max_features)
    return min(p, max(1, wanted))


# ---------------------------------------------------------------------------------- compiled


@njit(cache=True, nogil=True)
def _cut_columns(columns: Any, cuts: Any, counts: Any) -> None:
    """Cuts of features, given their sorted values in rows.

    A value with more samples than a bin would have is heavy and gets a bin of its own.

    The samples of the other values are divided evenly among the bins that are left.
    """
    n = columns.shape[1]
    most = cuts.shape[1]
    for j in range(len(columns)):
        values = columns[j]
        n_values, n_heavy, light, first = 1, 0, n, 0
        for i in range(1, n + 1):
            if i == n or values[i] > values[i - 1]:
                n_values += i < n
                if (i - first) * (most + 1) > n:
                    n_heavy += 1
                    light -= i - first
                first = i
        made, since, first, ends_bin = 0, 0, 0, False
        for i in range(1, n):
            if not values[i] > values[i - 1]:
                continue
            if n_values <= most + 1:
                ends_bin = True
            else:
                heavy = (i - first) * (most + 1) > n
                after = i
                while after < n and values[after] == values[i]:
                    after += 1
                next_heavy = (after - i) * (most + 1) > n
                n_heavy -= heavy
                since += 0 if heavy else i - first
                bins_left = most + 1 - made - n_heavy  # with the one that is being filled
                full = heavy or since * bins_left >= light
                ends_bin = next_heavy or (full and bins_left > 1)
                if ends_bin:
                    light -= since
                    since = 0
            first = i
            if ends_bin:
                middle = values[i - 1] + 0.5 * (values[i] - values[i - 1])
                cuts[j, made] = middle if middle < values[i] else values[i - 1]
                made += 1
                if made == most:
                    break
        for k in range(made, most):
            cuts[j, k] = np.inf
        counts[j] = made + 1


@njit(cache=True, nogil=True)
def _code_columns(start: Any, stop: Any, X: Any, cuts: Any, counts: Any, out: Any) -> None:
    for j in range(start, stop):
        for i in range(len(X)):
            low, high = 0, counts[j] - 1
            while low < high:
                middle = (low + high) // 2
                if cuts[j, middle] < X[i, j]:
                    low = middle + 1
                else:
                    high = middle
            out[j, i] = low


@njit(cache=True, nogil=True)
def _lowest_values(start: Any, stop: Any, X: Any, codes: Any, out: Any) -> None:
    for j in range(start, stop):
        for i in range(len(X)):
            out[j, codes[j, i]] = min(out[j, codes[j, i]], X[i, j])


@njit(cache=True, nogil=True)
def _drawn_evenly(state: Any, n: Any) -> Any:
    """How often each of n samples is among n draws."""
    copies = np.zeros(n, dtype=np.int64)
    for _ in range(n):
        copies[_below(state, n)] += 1
    return copies


@njit(cache=True, nogil=True)
def _grow(
    codes: Any, n_bins: Any, lowest: Any, y: Any, rows: Any, copies: Any, shape: Any, state: Any,
    tree: Any,
) -> Any:  # fmt: skip
    """Grow one tree of the samples ``rows``, taken ``copies`` times; returns its number of nodes.

    ``tree`` has room for the features, thresholds and children of the nodes and for their first and
    last samples; for their values; and for the gains of the features.
    """
    n_classes, n_tried, min_leaf, random_cuts = shape
    links, value, gains = tree
    feature, threshold, left, right = links[0], links[1], links[2], links[3]
    begin, end = links[4], links[5]
    p = len(codes)
    pool = np.empty(p, dtype=np.int64)
    for j in range(p):
        pool[j] = j
    bins = np.empty((2, _MOST_BINS), dtype=np.int64)
    room = (bins[0], np.empty((_MOST_BINS, n_classes)), bins[1])
    below = np.empty(n_classes)
    end[0] = len(rows)
    n_nodes, node, everything = 1, 0, 0.0
    for i in range(len(copies)):
        everything += copies[i]
    while node < n_nodes:
        a, b = begin[node], end[node]
        n_here, purity, pure = _describe(rows[a:b], copies, y, value[node])
        best, best_feature, best_cut = purity * (1.0 + 1e-12), -1, 0
        if not pure and n_here >= 2 * min_leaf and b - a > 1:
            found_any = False  # a feature with one value in the node counts, unless all have one
            for draw in range(p):
                if draw >= n_tried and found_any:
                    break
                pick = draw + _below(state, p - draw)
                j = pool[pick]
                pool[pick] = pool[draw]
                pool[draw] = j
                if n_bins[j] < 2:
                    continue
                here = (rows[a:b], copies, y, value[node])
                if random_cuts:
                    score, cut = _random_cut(state, codes[j], lowest[j], here, min_leaf, below)
                else:
                    score, cut = _best_cut(codes[j], n_bins[j], here, min_leaf, room, below)
                found_any = found_any or cut >= 0
                if score > best:
                    best, best_feature, best_cut = score, j, cut
        if best_feature >= 0:
            gains[best_feature] += (best - purity) / everything
            low = a + part_rows(rows[a:b], codes[best_feature], best_cut)
            feature[node], threshold[node] = best_feature, best_cut
            left[node], right[node] = n_nodes, n_nodes + 1
            begin[n_nodes], end[n_nodes] = a, low
            begin[n_nodes + 1], end[n_nodes + 1] = low, b
            n_nodes += 2
        else:
            feature[node] = -1
        for k in range(n_classes):
            value[node, k] /= n_here
        node += 1
    return n_nodes


@njit(cache=True, nogil=True)
def _describe(rows: Any, copies: Any, y: Any, value: Any) -> Any:
    """Fill in the class counts of a node: samples, purity, and whether there is one class only.

    Purity is the sum of squared class counts over their sum.
    """
    n_here, squares, most = 0, 0.0, 0.0
    for i in rows:
        value[y[i]] += copies[i]
        n_here += copies[i]
    for k in range(len(value)):
        squares += value[k] ** 2
        most = max(most, value[k])
    return n_here, squares / n_here, most == n_here


@njit(cache=True, nogil=True)
def part_rows(rows: Any, codes: Any, cut: Any) -> Any:
    """Put the rows whose bin is at most ``cut`` before the others; returns how many they are."""
    low, high = 0, len(rows) - 1
    while low <= high:
        if codes[rows[low]] <= cut:
            low += 1
        else:
            rows[low], rows[high] = rows[high], rows[low]
            high -= 1
    return low


@njit(cache=True, nogil=True)
def _best_cut(codes: Any, width: Any, here: Any, min_leaf: Any, room: Any, below: Any) -> Any:
    """The cut between bins in use with the purest sides; -1 if one bin holds all samples.

    Purity is the sum of squared class counts over their sum, of both sides; 0 without a cut.
    """
    rows, copies, y, value = here
    n_used = _count(codes, rows, copies, y, width, room)
    places, counts, _ = room
    n_classes = len(value)
    for k in range(n_classes):
        below[k] = 0.0
    total, square_left, square_right, n_left = 0.0, 0.0, 0.0, 0.0
    for k in range(n_classes):
        total += value[k]
        square_right += value[k] ** 2
    best, cut = 0.0, -1 if n_used < 2 else 0
    for u in range(n_used - 1):
        c = places[u]
        for k in range(n_classes):
            more = counts[c, k]
            if n_classes == 2 or more != 0.0:  # 0 changes nothing; one class of two is no guess
                rest = value[k] - below[k]
                square_left += more * (2.0 * below[k] + more)
                square_right -= more * (2.0 * rest - more)
                below[k] += more
                n_left += more
        if n_left < min_leaf or total - n_left < min_leaf:
            continue
        score = square_left / n_left + square_right / (total - n_left)
        if score > best:
            best, cut = score, c
    return best, cut


@njit(cache=True, nogil=True)
def _random_cut(state: Any, codes: Any, lowest: Any, here: Any, min_leaf: Any, below: Any) -> Any:
    """A cut at a value drawn evenly from the range in the node, with its purity, as above."""
    rows, copies, y, value = here
    first = last = codes[rows[0]]
    for i in rows:
        first, last = min(first, codes[i]), max(last, codes[i])
    if first == last:
        return 0.0, -1
    drawn = _below(state, np.int64(2**52)) * 2.0**-52
    spot = (1.0 - drawn) * lowest[first] + drawn * lowest[last]
    cut = np.int64(first)
    while cut + 1 < last and lowest[cut + 1] <= spot:
        cut += 1
    for k in range(len(value)):
        below[k] = 0.0
    for i in rows:
        if codes[i] <= cut:
            below[y[i]] += copies[i]
    n_left, n_right, square_left, square_right = 0.0, 0.0, 0.0, 0.0
    for k in range(len(value)):
        n_left += below[k]
        n_right += value[k] - below[k]
        square_left += below[k] ** 2
        square_right += (value[k] - below[k]) ** 2
    if min(n_left, n_right) < min_leaf:
        return 0.0, cut
    return square_left / n_left + square_right / n_right, cut


@njit(cache=True, nogil=True)
def _below(state: Any, n: Any) -> Any:
    """A random number from 0 to n - 1 (splitmix64), the same on every platform."""
    state[0] += np.uint64(_GOLDEN)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX_ONE)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX_TWO)
    z = z ^ (z >> np.uint64(31))
    return np.int64(np.float64(z >> np.uint64(11)) * 2.0**-53 * n)


@njit(cache=True, nogil=True)
def _count(
    codes: Any,
    rows: Any,
    copies: Any,
    y: Any,
    width: Any,
    room: Any,
) -> Any:
    """Class weights and heads of the bins in use, which ``places`` lists in ascending order."""
    places, counts, heads = room
    n_used = 0
    n_classes = counts.shape[1]
    if len(rows) >= width // 2:
        for c in range(width):
            heads[c] = 0
            for k in range(n_classes):
                counts[c, k] = 0.0
        for i in rows:
            c = codes[i]
            counts[c, y[i]] += copies[i]
            heads[c] += copies[i]
        for c in range(width):
            places[n_used] = c  # taken by the next one if the bin is empty
            n_used += heads[c] > 0
        return n_used
    for i in rows:  # few samples: the bins they fall into, sorted by insertion
        c = codes[i]
        u = n_used
        while u > 0 and places[u - 1] > c:
            u -= 1
        if u == 0 or places[u - 1] != c:
            for v in range(n_used, u, -1):
                places[v] = places[v - 1]
            places[u] = c
            n_used += 1
            heads[c] = 0
            for k in range(n_classes):
                counts[c, k] = 0.0
        counts[c, y[i]] += copies[i]
        heads[c] += copies[i]
    return n_used


@njit(cache=True, nogil=True)
def _walk(start: Any, stop: Any, codes: Any, forest: Any, out: Any) -> None:
    feature, threshold, left, right, value, roots = forest
    for i in range(start, stop):
        for root in roots:
            node = root
            while feature[node] >= 0:
                if codes[feature[node], i] <= threshold[node]:
                    node = left[node]
                else:
                    node = right[node]
            for k in range(value.shape[1]):
                out[i, k] += value[node, k]
