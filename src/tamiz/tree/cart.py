"""CART: classification and regression trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from tamiz.base import ScoredClassifier, ScoredRegressor
from tamiz.tree._estimator import GROWTH_CONSTRAINTS, TreeEstimator
from tamiz.tree._samples import classification_tree, regression_tree
from tamiz.tree.impurity import Criterion
from tamiz.validation import (
    LARGE_TARGET,
    check_class_weight,
    check_classes,
    check_regression_target,
    check_sample_weight,
    unchanged_on_error,
)

_NUMBERS = "use CARTRegressor"


class CARTClassifier(ScoredClassifier, TreeEstimator):
    """A classification tree: questions with two answers, and a class at the end of each way.

    The tree grows from one leaf. The leaf that is most mixed, counting its samples, is split by the
    question that takes most off its impurity, until no leaf can be split or a limit is reached.
    Without a limit on the size the order does not matter, and the tree grows until its leaves are
    pure; prune it then.

    Numbers and ordered categories are asked ``x <= threshold``, with thresholds half-way between
    values; categories without an order are asked for a set of them. A question may also be a
    weighted sum of numbers. Missing values need no filling in.

    Parameters
    ----------
    criterion : {"gini", "entropy", "error"}, default="gini"
        Impurity that splits reduce: ``sum p (1 - p)``, ``-sum p log p``, or the cost of the best
        single label. The last is blind to splits that change no label, and is seldom wanted.
    splits : {"axis", "oblique"}, default="axis"
        Whether questions ask for one feature, or also for weighted sums of numeric features. A sum
        is only used where it gains more. The search climbs hills from ``n_restarts`` starts (OC1);
        it takes far longer, and fits more closely.
    max_depth : int, optional
        Most questions on the way to a leaf.
    max_mean_depth : float, optional
        Growth stops before the mean number of questions for a training sample exceeds this.
    max_leaf_nodes : int, optional
        Most leaves.
    max_error : float, optional
        Growth stops as soon as the training error (mean cost) is at or below this.
    min_samples_split : int or float, default=2
        Fewest samples of a leaf that is split; a float is a fraction of all samples.
    min_samples_leaf : int or float, default=1
        Fewest samples of a leaf; a float is a fraction of all samples.
    min_weight_fraction_leaf : float, default=0.0
        Least fraction of all weight that a leaf must get. With ``costs``, weights are those that
        count in the impurity.
    min_impurity_decrease : float, default=0.0
        Least decrease of the impurity of the whole tree, for each unit of weight, by a split.
    min_balance : float, default=0.0
        Least fraction of the samples of a node that its smaller child must get, up to 0.5.
    leaf_choice : {"impurity", "decrease"}, default="impurity"
        Which leaf is split next: that of largest impurity times weight, or that whose best split
        takes most off it (as scikit-learn does). It only matters with a limit on the size.
    costs : array of shape (n_classes, n_classes) or dict, optional
        ``costs[i, j]`` is the cost of calling a sample of class ``i`` a ``j``, classes in sorted
        order; the diagonal is 0. A dict names pairs ``(true, called)``, or true classes alone; what
        it leaves out costs 1. Leaves get the label of least expected cost, and errors are costs.
        With Gini and entropy, samples of class ``i`` weigh ``sum_j costs[i, j]`` in the impurity
        (altered priors); the error criterion uses the costs themselves.
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied with ``sample_weight``.
    categorical_features : array-like, optional
        Features without an order: indices, names or a mask. Text and, in data frames, categories
        without an order always are. Ordered categories of pandas that are named here lose theirs.
    ordinal_features : dict or array-like, optional
        Features whose categories have an order: a dict from feature to the categories from least
        to greatest. Ordered categories of pandas are found without it.
    max_exact_categories : int, default=10
        With two classes, the best set of categories is one of the cuts along the order by the
        fraction of a class, for any number of categories. With three classes or more, or if a side
        needs more than one sample, all subsets of up to so many categories are tried
        (``2**(c-1)`` of them; at most 20). Beyond, cuts along several orders: by the fraction of
        each class, and by the first principal component of the class fractions, which may miss
        the best.
    missing : {"auto", "surrogate", "direction"}, default="auto"
        What to do about missing values. "surrogate": splits are chosen on the known values, with
        the gain weighted by the fraction known, and the rest is placed by surrogate splits.
        "direction": all missing values go to the side where they fit better. "auto": at each split
        whichever gains more.
    n_surrogates : int or "auto", default="auto"
        Most surrogate splits for each split; "auto" is 5 if the training data have missing values
        and ``missing`` is not "direction", else 0. What neither a split nor its surrogates can
        place goes with the larger part.
    n_restarts : int, default=5
        Starts of the search for oblique splits.
    random_state : int, RandomState or None, default=None
        Seed of that search; nothing else is random.
    n_jobs : int, optional
        Threads; the tree does not depend on it.
    verbose : bool or int, default=0
        Whether to show progress.

    Attributes
    ----------
    tree_ : Tree
        The tree, see :class:`tamiz.tree.Tree`.
    classes_ : array
        The classes.
    costs_ : array of shape (n_classes, n_classes)
        Costs used.
    categories_ : dict
        By feature, the categories that codes in the tree stand for.
    nominal_ : bool array
        The features that are asked for sets of categories.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    CARTRegressor : The same for numbers.

    Notes
    -----
    Counts (``min_samples_leaf`` and the like, ``min_balance``) are of samples; all else goes by
    weight, so that a sample of weight two counts as two. Ties between labels go to the class that
    is more frequent in all of the data, ties between splits to the more balanced one, then to the
    feature with the widest gap at the cut, then to the first.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen, C. Stone (1984). Classification and Regression
           Trees. Chapman and Hall.
    .. [2] S. Murthy, S. Kasif, S. Salzberg (1994). A system for induction of oblique decision
           trees. Journal of Artificial Intelligence Research 2, 1-32.
    .. [3] D. Coppersmith, S. J. Hong, J. Hosking (1999). Partitioning nominal attributes in
           decision trees. Data Mining and Knowledge Discovery 3, 197-217.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.tree import CARTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CARTClassifier(max_leaf_nodes=3).fit(X, y)
    >>> tree.get_n_leaves(), tree.get_depth()
    (3, 2)
    >>> round(tree.score(X, y), 2)
    0.96
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **GROWTH_CONSTRAINTS,
        "criterion": [StrOptions({"gini", "entropy", "error"})],
        "costs": ["array-like", dict, None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        criterion: str = "gini",
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
        costs: Any = None,
        class_weight: Any = None,
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
        self.costs = costs
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.max_exact_categories = max_exact_categories
        self.missing = missing
        self.n_surrogates = n_surrogates
        self.n_restarts = n_restarts
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CARTClassifier:
        """Grow the tree.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples; may have categories and missing values. A dense copy of a sparse
            matrix is made.
        y : array of shape (n_samples,)
            Classes.
        sample_weight : array of shape (n_samples,), optional
            Weights; samples of weight 0 count for nothing.

        Returns
        -------
        self : CARTClassifier
        """
        self._validate_params()
        with unchanged_on_error(self):
            table = self._read_training_table(X)
            n = len(table.X)
            weight = check_sample_weight(sample_weight, n)
            labels = check_classes(y, n, minimum=1, weight=weight, quantity=_NUMBERS)
            counted = weight > 0
            codes = labels.codes
            if not counted.all():
                codes = np.where(counted, codes, 0)
            self.classes_ = labels.classes
            self.n_classes_ = len(labels.classes)
            self.costs_ = check_costs(self.costs, labels.classes)
            factor = check_class_weight(self.class_weight, labels._replace(codes=codes), weight)
            weight = weight * factor[codes]
            self._grow_tree(table, codes, weight)
        return self

    def _grow_tree(self, table: Any, codes: np.ndarray, weight: np.ndarray) -> None:
        counted = weight > 0
        if not counted.any():
            raise ValueError(
                "sample_weight and class_weight leave no sample with a positive weight; give at "
                "least one sample a weight above 0."
            )
        if not counted.all():
            table = table._replace(X=np.ascontiguousarray(table.X[counted]))
            codes, weight = codes[counted], weight[counted]
        criterion = Criterion[self.criterion.upper()]
        growth = weight
        if self.costs is not None and criterion is not Criterion.ERROR:
            altered = weight * weights_of_costs(self.costs_)[codes]
            if altered.any():
                growth = altered * (weight.sum() / altered.sum())
        grown = self._grow(
            table, criterion, y=codes, weight=weight, growth=growth, costs=self.costs_
        )
        self.tree_ = classification_tree(grown, table.X.shape[1], codes, weight, self.costs_)

    def predict(self, X: Any) -> np.ndarray:
        """The class of least expected cost in the leaf of each sample.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : array of shape (n_samples,)
        """
        leaf = self.apply(X)
        return self.classes_[self.tree_.prediction[leaf]]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The fraction of each class in the leaf of each sample.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        fractions : array of shape (n_samples, n_classes)
        """
        leaf = self.apply(X)
        value = self.tree_.value
        return (value / value.sum(axis=1, keepdims=True))[leaf]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of :meth:`predict_proba`.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        logarithms : array of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


def check_costs(costs: Any, classes: np.ndarray) -> np.ndarray:
    """The matrix ``C[i, j]``, the cost of calling a sample of ``classes[i]`` a ``classes[j]``.

    None costs 1 for every mistake. A dict by pairs of labels, or by the true label alone, costs 1
    for what it does not name.
    """
    n_classes = len(classes)
    plain = 1.0 - np.eye(n_classes)
    if costs is None:
        return plain
    if isinstance(costs, Mapping):
        return _from_dict(costs, classes, plain)
    try:
        matrix = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"costs must hold numbers, one row and one column for each of the {n_classes} classes."
        ) from None
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs has shape {matrix.shape}, but y has {n_classes} class(es); give one row and "
            "one column for each class, in the order of classes_ (sorted)."
        )
    _check_values(matrix, classes)
    return matrix


def weights_of_costs(costs: np.ndarray) -> np.ndarray:
    """What a class weighs more in the impurity because its samples cost more to mistake.

    Breiman's altered priors: ``C(i) = sum_j C_ij``. With costs that depend on the true class alone,
    they make the plain problem the same as the one with costs.
    """
    total = costs.sum(axis=1)
    return total if total.any() else np.ones(len(costs))


def _from_dict(costs: Mapping[Any, Any], classes: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    number = {label: k for k, label in enumerate(classes.tolist())}
    named: set[Any] = set()
    entries: list[tuple[tuple[Any, ...], Any]] = []
    for key, cost in costs.items():
        pair = isinstance(key, tuple) and len(key) == 2 and key not in number
        labels = key if pair else (key,)
        named.update(labels)
        entries.append((labels, cost))
    for labels, cost in entries:
        if any(label not in number for label in labels):
            if set(number) <= named:  # a fold may lack a class
                continue
            unknown = next(label for label in labels if label not in number)
            raise ValueError(
                f"costs names the class {unknown!r}, which is not among those of y "
                f"({', '.join(map(repr, classes[:10].tolist()))}); remove it or correct its name."
            )
        if not isinstance(cost, (int, float, np.number)):
            raise ValueError(f"costs[{labels!r}] is {cost!r}; costs must be numbers.")
        i = number[labels[0]]
        if len(labels) == 2:
            matrix[i, number[labels[1]]] = float(cost)
        else:
            matrix[i] = float(cost)
            matrix[i, i] = 0.0
    _check_values(matrix, classes)
    return matrix


def _check_values(matrix: np.ndarray, classes: np.ndarray) -> None:
    labels = classes.tolist()
    bad = np.argwhere(~np.isfinite(matrix) | (matrix < 0))
    if len(bad):
        i, j = bad[0]
        raise ValueError(
            f"costs[{i}, {j}], of calling {labels[i]!r} by {labels[j]!r}, is {matrix[i, j]}; costs "
            "must be finite and not negative."
        )
    wrong = np.flatnonzero(np.diag(matrix))
    if len(wrong):
        i = wrong[0]
        raise ValueError(
            f"costs[{i}, {i}] is {matrix[i, i]}; the right name ({labels[i]!r}) costs nothing, so "
            "the diagonal must be 0."
        )
    if len(matrix) > 1 and not matrix.any():
        raise ValueError("costs is zero everywhere; at least one mistake must cost something.")


# --------------------------------------------------------------------------------------- regression


class CARTRegressor(ScoredRegressor, TreeEstimator):
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
                squares = np.square(centred)  # of one, too: small weights may hide it in the sum
                if not np.isfinite([squares.max(), np.dot(weight * centred, centred)]).all():
                    raise ValueError(LARGE_TARGET)
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
