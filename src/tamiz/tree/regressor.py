"""Regression trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions

from tamiz.tree._estimator import GROWTH_CONSTRAINTS, TreeEstimator
from tamiz.tree._samples import regression_tree
from tamiz.tree.impurity import Criterion
from tamiz.validation import (
    TOO_LARGE,
    check_regression_target,
    check_sample_weight,
    unchanged_on_error,
)


class CARTRegressor(RegressorMixin, TreeEstimator):
    """A regression tree: questions with two answers, and a number at the end of each way.

    It grows as :class:`CARTClassifier` does. The impurity of a leaf is the squared error about its
    mean, which is also what it predicts.

    Parameters
    ----------
    criterion : {"squared_error"}, default="squared_error"
        Impurity that splits reduce.
    max_error : float, optional
        Growth stops as soon as the mean squared error on the training data is at or below this.
    splits, max_depth, max_mean_depth, max_leaf_nodes, min_samples_split, min_samples_leaf
        As in :class:`CARTClassifier`.
    min_weight_fraction_leaf, min_impurity_decrease, min_balance, leaf_choice
        As in :class:`CARTClassifier`.
    categorical_features, ordinal_features
        As in :class:`CARTClassifier`.
    max_exact_categories : int, default=10
        Sets of categories are cut along the order of their means, which is exact unless a side
        needs more than one sample; then all subsets of up to so many categories are tried.
    missing, n_surrogates, n_restarts, random_state, n_jobs, verbose
        As in :class:`CARTClassifier`.

    Attributes
    ----------
    tree_ : Tree
        The tree, see :class:`tamiz.tree.Tree`.
    categories_, nominal_, n_features_in_, feature_names_in_
        As in :class:`CARTClassifier`.

    See Also
    --------
    CARTClassifier : The same for classes.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen, C. Stone (1984). Classification and Regression
           Trees. Chapman and Hall.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.tree import CARTRegressor
    >>> x = np.linspace(0, 1, 100)[:, None]
    >>> steps = np.where(x[:, 0] < 0.3, 1.0, np.where(x[:, 0] < 0.7, 4.0, 2.0))
    >>> tree = CARTRegressor().fit(x, steps)
    >>> tree.get_n_leaves(), tree.score(x, steps)
    (3, 1.0)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **GROWTH_CONSTRAINTS,
        "criterion": [StrOptions({"squared_error"})],
    }

    def __init__(
        self,
        criterion: str = "squared_error",
        *,
        splits: str = "axis",
        max_depth: int | None = None,
        max_mean_depth: float | None = None,
        max_leaf_nodes: int | None = None,
        max_error: float | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        min_balance: float = 0.0,
        leaf_choice: str = "impurity",
        categorical_features: Any = None,
        ordinal_features: Any = None,
        max_exact_categories: int = 10,
        missing: str = "auto",
        n_surrogates: int | str = "auto",
        n_restarts: int = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ):
        self.criterion = criterion
        self.splits = splits
        self.max_depth = max_depth
        self.max_mean_depth = max_mean_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.max_error = max_error
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.min_balance = min_balance
        self.leaf_choice = leaf_choice
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.max_exact_categories = max_exact_categories
        self.missing = missing
        self.n_surrogates = n_surrogates
        self.n_restarts = n_restarts
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CARTRegressor:
        """Grow the tree.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples; may have categories and missing values. A dense copy of a sparse
            matrix is made.
        y : array of shape (n_samples,)
            Numbers to predict.
        sample_weight : array of shape (n_samples,), optional
            Weights; samples of weight 0 count for nothing.

        Returns
        -------
        self : CARTRegressor
        """
        self._validate_params()
        with unchanged_on_error(self):
            table = self._read_training_table(X)
            target = check_regression_target(
                y, len(table.X), labels="Use CARTClassifier for labels."
            )
            weight = check_sample_weight(sample_weight, len(table.X))
            counted = weight > 0
            if not counted.all():
                table = table._replace(X=np.ascontiguousarray(table.X[counted]))
                target, weight = target[counted], weight[counted]
            with np.errstate(over="ignore", invalid="ignore"):
                centred = target - np.average(target, weights=weight)
                if not np.isfinite(np.dot(weight * centred, centred)):
                    raise ValueError(TOO_LARGE.replace("X has", "y has", 1).replace(
                        "the features", "the target", 1
                    ))  # fmt: skip
            grown = self._grow(
                table,
                Criterion.SQUARED_ERROR,
                t=centred,
                weight=weight,
                growth=weight,
                costs=np.zeros((1, 1)),
            )
            self.tree_ = regression_tree(grown, table.X.shape[1], target, weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The mean of the leaf of each sample.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        values : array of shape (n_samples,)
        """
        leaf = self.apply(X)
        return self.tree_.prediction[leaf]
