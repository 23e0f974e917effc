r"""Random forests on binned features: many trees, each of a bootstrap sample, asked together.

A feature is cut into at most 64 bins at quantiles of the training samples, once. A node then finds
the best cut of a feature from the class counts of its bins, without sorting; among a few features
drawn at random the cut with the largest decrease of Gini's impurity is taken. Trees are grown to
the end and their class proportions averaged. Extremely randomised trees differ in two things: each
feature offers one cut, drawn at random, and every tree sees all samples.

References
----------
.. [1] L. Breiman (2001). Random forests. Machine Learning 45.
.. [2] P. Geurts, D. Ernst, L. Wehenkel (2006). Extremely randomized trees. Machine Learning 63.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tamiz.runtime.parallel import N_JOBS, limit_threads
from tamiz.tree.binned import (
    Bins,
    Forest,
    ForestRules,
    features_tried,
    forest_proportions,
    grow_forest,
)
from tamiz.validation import (
    check_class_weight,
    check_classes,
    check_sample_weight,
    check_X,
    unchanged_on_error,
)


class ForestClassifier(ClassifierMixin, BaseEstimator):
    """Random forest on features cut into at most 64 bins.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_features : int or "sqrt", default="sqrt"
        Number of features drawn at each node.
    splits : {"best", "random"}, default="best"
        The best cut of each feature and a bootstrap sample for each tree, or one random cut and all
        samples (extremely randomised trees).
    min_samples_leaf : int, default=1
        Least number of samples, bootstrap copies counted, on either side of a split.
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
    CARTClassifier : One tree, to be read.
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
        with unchanged_on_error(self):
            self._validate_params()
            X = check_X(self, X, reset=True)
            weight = check_sample_weight(sample_weight, len(X))
            labels = check_classes(y, len(X), weight=weight)
            kept = np.flatnonzero(weight)
            labels = labels._replace(codes=labels.codes[kept])
            by_class = check_class_weight(self.class_weight, labels, weight[kept])
        weight = weight[kept] * by_class[labels.codes]
        used = weight > 0
        X, codes, weight = X[kept[used]], labels.codes[used], weight[used]
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        rules = ForestRules(
            len(labels.classes),
            features_tried(self.max_features, X.shape[1]),
            self.min_samples_leaf,
            self.splits == "random",
        )
        with limit_threads(self.n_jobs):
            bins = Bins.of(X)
            forest = grow_forest(
                bins.codes(X),
                bins.counts,
                codes,
                weight,
                rules=rules,
                n_trees=self.n_estimators,
                seed=seed,
            )
        self.classes_ = labels.classes
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
