r"""Boosted trees on binned features: small trees, each grown on what the ones before left over.

The model is a sum :math:`F(x) = b + \eta \sum_t f_t(x)` of small trees. With the derivatives
:math:`g_i, h_i` of the loss at the present values, a tree takes the cuts that decrease

.. math:: \sum_i \left( g_i f(x_i) + \tfrac12 h_i f(x_i)^2 \right)
          + \tfrac{\lambda}{2} \sum_\text{leaves} f^2

most: a leaf with sums :math:`G, H` has the value :math:`-G / (H + \lambda)`, and a cut gains
:math:`G_l^2 / (H_l + \lambda) + G_r^2 / (H_r + \lambda) - G^2 / (H + \lambda)`. The leaf whose cut
gains most is divided next, until there are enough leaves. The loss is the logistic one for two
classes, its multinomial form for more (one tree for each class and round), and half the squared
error for numbers. Nothing is drawn at random.

References
----------
.. [1] J. Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals of
   Statistics 29.
.. [2] T. Chen, C. Guestrin (2016). XGBoost: a scalable tree boosting system. KDD.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tamiz.base import ScoredClassifier, ScoredRegressor
from tamiz.callbacks import TakesCallbacks
from tamiz.pictures import ClassifierPlot
from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import limit_threads
from tamiz.tree.forest import (
    Bins,
    Forest,
    TreesInNotebooks,
    check_forest,
    join_trees,
    leaf_sums,
    part_rows,
    training_part,
    trees_are_kept,
)
from tamiz.tree.impurity import MOST
from tamiz.validation import (
    N_JOBS,
    check_regression_target,
    check_sample_weight,
    check_X,
    unchanged_on_error,
)


class BoostingRules(NamedTuple):
    """How trees are grown and added."""

    n_rounds: int
    rate: float  # by which the values of a tree are multiplied
    max_leaves: int
    min_leaf: int  # samples on either side of a cut
    l2: float  # penalty on squared values of leaves

    @classmethod
    def of(cls, params: dict[str, Any]) -> BoostingRules:
        """The rules in the parameters of an estimator."""
        return cls(
            params["n_estimators"],
            float(params["learning_rate"]),
            params["max_leaf_nodes"],
            min(int(params["min_samples_leaf"]), MOST),
            float(params["l2"]),
        )


class _BoostedTrees(TakesCallbacks, TreesInNotebooks, BaseEstimator):
    """What boosting of classes and of numbers share."""

    _tables = 5  # of the size of X, that a fit works on
    _parameter_constraints: dict[str, list[Any]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "l2": [Interval(Real, 0, None, closed="left")],
        "n_jobs": N_JOBS,
    }
    n_estimators: int
    learning_rate: float
    max_leaf_nodes: int
    min_samples_leaf: int
    l2: float
    n_jobs: int | None

    def _boost(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, n_classes: int) -> None:
        rules = BoostingRules.of(self.get_params())
        follow = Progress("boosting", most=rules.n_rounds)
        with limit_threads(self.n_jobs), follow as progress:
            bins = Bins.of(X)
            start, forest = boost(
                bins.codes(X), bins.counts, y, weight, n_classes, rules=rules, progress=progress
            )
        self.bins_ = tuple(bins)
        self.start_ = start
        self.forest_ = tuple(forest)
        total = float(forest.gains.sum())
        self.feature_importances_ = forest.gains / total if total > 0 else forest.gains

    def _check_parts(self) -> None:
        """Refuse arrays that lead out of each other; for models that come from a file."""
        if hasattr(self, "forest_"):
            shape = self.n_features_in_, self.start_.size
            check_forest(Forest(*self.forest_), Bins(*self.bins_), *shape)

    def _values(self, X: Any) -> np.ndarray:
        """The sum of the trees, one column for each tree of a round."""
        check_is_fitted(self, "forest_")
        X = check_X(self, X, reset=False)
        with limit_threads(self.n_jobs):
            return self.start_ + leaf_sums(Forest(*self.forest_), Bins(*self.bins_).codes(X))


class BoostingClassifier(ScoredClassifier, ClassifierPlot, _BoostedTrees):
    """Gradient boosting of small trees, features cut into at most 64 bins.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of rounds; each adds one tree, or one for each class if there are more than two.
    learning_rate : float, default=0.1
        By how much a tree counts, above 0 and at most 1.
    max_leaf_nodes : int, default=15
        Leaves of a tree.
    min_samples_leaf : int, default=10
        Minimum number of samples on either side of a split.
    l2 : float, default=1.0
        Penalty on the squared values of the leaves.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    n_jobs : int or None, default=None
        Threads of predictions and of cutting into bins; all by default.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Gains of the cuts of each feature (second-order decrease of the loss), summing to one.
    classes_ : ndarray
        Labels.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    ForestClassifier : The mean of large trees; better on small or noisy tables.
    BoostingRegressor : The same for numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.tree import BoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BoostingClassifier().fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.predict_proba(X[:1]).round(1).tolist()
    (True, [[1.0, 0.0, 0.0]])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **_BoostedTrees._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 15,
        min_samples_leaf: int = 10,
        l2: float = 1.0,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2 = l2
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BoostingClassifier:
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; samples of weight 0 count for nothing. Only their ratios count: ``l2`` is
            beside samples of weight 1 in the mean.

        Returns
        -------
        self : BoostingClassifier
        """
        self.classes_, X, codes, weight = training_part(self, X, y, sample_weight)
        self._boost(X, codes, weight, len(self.classes_))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Log odds of the second class, or one value for each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return class_probabilities(self._values(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class.

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


class BoostingRegressor(ScoredRegressor, _BoostedTrees):
    """Gradient boosting of small regression trees, features cut into at most 64 bins.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    learning_rate, max_leaf_nodes, min_samples_leaf, l2, n_jobs
        As in :class:`BoostingClassifier`.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Gains of the cuts of each feature (decrease of the squared error), summing to one.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    BoostingClassifier : The same for classes.
    CARTRegressor : A single tree that can be read.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.tree import BoostingRegressor
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> model = BoostingRegressor().fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 15,
        min_samples_leaf: int = 10,
        l2: float = 1.0,
        n_jobs: int | None = None,
    ):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2 = l2
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BoostingRegressor:
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; samples of weight 0 count for nothing, and only ratios count.

        Returns
        -------
        self : BoostingRegressor
        """
        with unchanged_on_error(self):
            self._validate_params()
            X = check_X(self, X, reset=True)
            weight = check_sample_weight(sample_weight, len(X))
            y = check_regression_target(y, len(X))
        used = weight > 0
        self._boost(X[used], y[used], weight[used], 0)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The sum of the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._values(X)[:, 0]


def class_probabilities(values: np.ndarray) -> np.ndarray:
    """Probabilities from sums of trees: of two classes if there is one column."""
    if values.shape[1] == 1:
        second = expit(values)
        return np.hstack([1.0 - second, second])
    return softmax(values, axis=1)


def boost(
    codes: np.ndarray,
    n_bins: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    n_classes: int,
    *,
    rules: BoostingRules,
    progress: Progress | None = None,
) -> tuple[np.ndarray, Forest]:
    """Grow all trees; ``codes`` has features in rows, ``y`` class codes or numbers.

    ``n_classes`` is 0 for numbers. Returns where the sums start, and the trees, whose values are
    multiplied by the learning rate already. With ``progress``, Ctrl-C and whoever follows it end
    the growth, and the rounds that are there are kept.
    """
    weight = weight / weight.max()
    weight *= len(weight) / weight.sum()
    target, start, unit = _beginning(y, weight, n_classes)
    width = target.shape[1]
    values = np.tile(start, (len(y), 1))
    most_leaves = min(rules.max_leaves, max(1, len(y) // rules.min_leaf))
    shape = (most_leaves, rules.min_leaf, rules.l2)
    trees: list[Any] = []

    def grow_round() -> None:
        slope, curvature = _derivatives(target, values, n_classes)
        for k in range(width):
            tree = _grow(codes, n_bins, slope[:, k] * weight, curvature[:, k] * weight, shape)
            feature, threshold, left, right, value, gains, leaf_of = tree
            value *= rules.rate
            values[:, k] += value[leaf_of]
            column = np.zeros((len(value), width))
            column[:, k] = unit * value
            trees.append((feature, threshold, left, right, column, gains))

    done = 0
    try:
        for done in range(1, rules.n_rounds + 1):
            grow_round()
            if progress is not None:
                progress.update(f"{done:,} of {rules.n_rounds:,} rounds")
    except KeyboardInterrupt:
        done = len(trees) // width  # whole rounds
        if progress is None or not trees_are_kept(done, rules.n_rounds):
            raise
    return unit * start, join_trees(trees[: done * width])


def _beginning(
    y: np.ndarray, weight: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """What the sums are to reach, where they start, and the unit of both.

    Numbers are measured in standard deviations from their mean, so that their unit does not matter.
    A class without weight starts from a probability of next to nothing.
    """
    if n_classes == 0:
        largest = float(np.abs(y).max())
        scaled = y / largest if largest > 0 else y
        mean = np.average(scaled, weights=weight)
        spread = float(np.sqrt(np.average((scaled - mean) ** 2, weights=weight))) or 1.0
        unit = spread * largest if largest > 0 else 1.0
        return (scaled / spread)[:, None], np.array([mean / spread]), unit
    sums = np.bincount(y, weights=weight, minlength=n_classes)
    logs = np.log(np.maximum(sums / sums.sum(), np.finfo(np.float64).tiny))
    if n_classes == 2:
        return (y == 1).astype(np.float64)[:, None], logs[1:] - logs[:1], 1.0
    return (y[:, None] == np.arange(n_classes)).astype(np.float64), logs, 1.0


def _derivatives(
    target: np.ndarray, values: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Minus the first, and the second derivative of the loss at the present values."""
    if n_classes == 0:
        return target - values, np.ones_like(values)
    expected = expit(values) if n_classes == 2 else softmax(values, axis=1)
    return target - expected, expected * (1.0 - expected)


# ---------------------------------------------------------------------------------- compiled

#: Gains that differ by less than this factor are equal but for rounding: the first one wins.
_CLEARLY = 1.0 + 1e-9


@njit(cache=True, nogil=True)
def _grow(codes: Any, n_bins: Any, slope: Any, curvature: Any, shape: Any) -> Any:
    """One tree, the leaf with the largest gain divided first; nodes in order of their making."""
    max_leaves = shape[0]
    p, n = codes.shape
    most = 2 * max_leaves - 1
    rows = np.arange(n)
    feature = np.full(most, -1, dtype=np.int64)
    threshold, left, right, begin, end, cut_of, best_of = np.zeros((7, most), dtype=np.int64)
    value, gain_of = np.zeros((2, most))
    gains = np.zeros(p)
    room = (np.empty(n), np.empty(n), np.zeros((64, 3)))
    end[0] = n
    n_nodes = 1
    gain_of[0], best_of[0], cut_of[0], value[0] = _describe(
        codes, n_bins, rows, slope, curvature, shape, room
    )
    while n_nodes < most:
        node = 0
        for other in range(1, n_nodes):
            if gain_of[other] > gain_of[node] * _CLEARLY:
                node = other
        if not gain_of[node] > 0.0:
            break
        a, b, j = begin[node], end[node], best_of[node]
        low = a + part_rows(rows[a:b], codes[j], cut_of[node])
        feature[node], threshold[node] = j, cut_of[node]
        left[node], right[node] = n_nodes, n_nodes + 1
        gains[j] += gain_of[node]
        gain_of[node] = 0.0
        begin[n_nodes], end[n_nodes] = a, low
        begin[n_nodes + 1], end[n_nodes + 1] = low, b
        for child in (n_nodes, n_nodes + 1):
            here = rows[begin[child] : end[child]]
            gain_of[child], best_of[child], cut_of[child], value[child] = _describe(
                codes, n_bins, here, slope, curvature, shape, room
            )
        n_nodes += 2
    leaf_of = np.empty(n, dtype=np.int64)
    for node in range(n_nodes):
        if feature[node] < 0:
            for i in range(begin[node], end[node]):
                leaf_of[rows[i]] = node
    return (
        feature[:n_nodes].copy(),
        threshold[:n_nodes].copy(),
        left[:n_nodes].copy(),
        right[:n_nodes].copy(),
        value[:n_nodes].copy(),
        gains,
        leaf_of,
    )


@njit(cache=True, nogil=True)
def _describe(
    codes: Any, n_bins: Any, rows: Any, slope: Any, curvature: Any, shape: Any, room: Any
) -> Any:
    """Gain, feature and place of the best cut of a node, and its value; gain 0 without a cut.

    Derivatives are of order one, so that gains below 1e-14 are rounding.
    """
    _, min_leaf, l2 = shape
    slopes, curvatures, sums = room
    m = len(rows)
    G, H = 0.0, 0.0
    for i in range(m):
        slopes[i] = slope[rows[i]]
        curvatures[i] = curvature[rows[i]]
        G += slopes[i]
        H += curvatures[i]
    whole = _merit(G, H, l2)
    best, best_feature, best_cut = 1e-12 * whole + 1e-14, 0, -1
    if m >= 2 * min_leaf:
        for j in range(len(codes)):
            width = n_bins[j]
            if width < 2:
                continue
            if width == 2:
                _sum_second(codes[j], rows, room, m, G, H)
            else:
                _sum_bins(codes[j], rows, room, width)
            G_left, H_left, n_left = 0.0, 0.0, 0.0
            for c in range(width - 1):
                if sums[c, 2] == 0.0:
                    continue
                G_left += sums[c, 0]
                H_left += sums[c, 1]
                n_left += sums[c, 2]
                if n_left < min_leaf:
                    continue
                if m - n_left < min_leaf:
                    break
                gain = _merit(G_left, H_left, l2) + _merit(G - G_left, H - H_left, l2) - whole
                if gain > best * _CLEARLY:
                    best, best_feature, best_cut = gain, j, c
    value = G / (H + l2) if H + l2 > 0.0 else 0.0
    return (best if best_cut >= 0 else 0.0), best_feature, best_cut, value


@njit(cache=True, nogil=True)
def _merit(G: Any, H: Any, l2: Any) -> Any:
    return G * G / (H + l2) if H + l2 > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _sum_bins(codes: Any, rows: Any, room: Any, width: Any) -> None:
    """Sums of the derivatives and number of samples in each bin."""
    slopes, curvatures, sums = room
    sums[:width] = 0.0
    for i in range(len(rows)):
        c = codes[rows[i]]
        sums[c, 0] += slopes[i]
        sums[c, 1] += curvatures[i]
        sums[c, 2] += 1.0


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _sum_second(codes: Any, rows: Any, room: Any, m: Any, G: Any, H: Any) -> None:
    """The same for two bins: the second by a sum, the first by what is left."""
    slopes, curvatures, sums = room
    G_second, H_second, n_second = 0.0, 0.0, 0.0
    for i in range(len(rows)):
        c = np.float64(codes[rows[i]])
        G_second += c * slopes[i]
        H_second += c * curvatures[i]
        n_second += c
    sums[0, 0], sums[0, 1], sums[0, 2] = G - G_second, H - H_second, m - n_second
    sums[1, 0], sums[1, 1], sums[1, 2] = G_second, H_second, n_second
