"""ForestImportance: features by what they contribute to a random forest."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import Selector, Stopwatch, number_to_select, order_by
from tamiz.callbacks.listening import own_loops
from tamiz.tree import ForestClassifier
from tamiz.validation import N_JOBS


class ForestImportance(Selector):
    """Rank features by the decrease of impurity in a random forest.

    It sees interactions and curved boundaries, and needs no scaling. Among features that carry the
    same information the importance is divided.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many are selected; half of them by default.
    n_estimators : int, default=200
        Number of trees.
    max_features : int or "sqrt", default="sqrt"
        Number of features drawn at each node.
    min_samples_leaf : int, default=2
        Least number of samples on either side of a split.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    n_jobs : int or None, default=None
        Threads; all by default.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Importances, summing to one.
    order_, ranking_, support_, selection_
        As every selector has them.
    estimator_ : ForestClassifier
        The forest.

    See Also
    --------
    tamiz.tree.ForestClassifier : The forest itself.
    tamiz.filters.ReliefF : Interactions by neighbours.

    References
    ----------
    .. [1] L. Breiman (2001). Random forests. Machine Learning 45.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.embedded import ForestImportance
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> sorted(ForestImportance(2, random_state=0).fit(X, y).get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    _tables = 4  # of the size of X, that a fit works on
    _parameter_constraints: dict[str, list[Any]] = {
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            StrOptions({"auto"}),
            None,
        ],
        **ForestClassifier._parameter_constraints,
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        n_estimators: int = 200,
        max_features: int | str = "sqrt",
        min_samples_leaf: int = 2,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ForestImportance:
        """Grow the forest and rank the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.

        Returns
        -------
        self : ForestImportance
        """
        watch = Stopwatch()
        self._validate_params()
        params = self.get_params(deep=False)
        params.pop("n_features_to_select")
        with own_loops():
            forest = ForestClassifier(**params).fit(X, y, sample_weight)
        p = forest.n_features_in_
        n_selected = number_to_select(self.n_features_to_select, p, None)
        self.n_features_in_ = p
        if hasattr(forest, "feature_names_in_"):
            self.feature_names_in_ = forest.feature_names_in_
        else:
            self.__dict__.pop("feature_names_in_", None)
        self.estimator_, self.classes_ = forest, forest.classes_
        scores = forest.feature_importances_
        self._finish(
            order=order_by(scores), n_selected=n_selected, scores=scores, seconds=watch.seconds
        )
        return self
