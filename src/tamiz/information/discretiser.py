"""Continuous columns to a few bins, as a function and as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tamiz.callbacks import TakesCallbacks
from tamiz.display import Evidence, importance_table
from tamiz.information.columns import read_columns
from tamiz.information.cuts import find_cuts
from tamiz.information.encoding import BINNING, DISCRETE, METHODS, dense_blocks
from tamiz.information.weighted import exact_weights
from tamiz.validation import check_classes, check_counted_rows, checked, one_of


class Discretiser(TakesCallbacks, Evidence, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Replace continuous values by the numbers of bins.

    A value x of a column gets the number of the column's cuts that are less than x, so that bins
    are open on the left and closed on the right. The cuts are

    * "mean_std": mean minus and mean plus one (population) standard deviation, three bins;
    * "mdl": found recursively where the class changes, as many as pay for their description [1]_;
      a column that tells nothing of the class gets none;
    * "width": at equal distances between the least and the greatest value;
    * "frequency": at quantiles, so that bins hold about equally many samples. Equal values are
      never separated; there are fewer bins where many are equal.

    Categorical columns get the numbers of their categories in sorted order.

    Parameters
    ----------
    bins : {"mean_std", "mdl", "width", "frequency"}, default="mean_std"
        Where to cut. "mdl" needs the target.
    n_bins : int, default=5
        Number of bins for "width" and "frequency".
    missing : {"code", "ignore"}, default="code"
        Missing values (NaN, null, categories not seen in ``fit``) get the code after the last bin
        of their column, or -1.
    categorical_features : array-like, default=None
        Columns whose values are categories: indices, names or a mask. Columns that hold
        text or, in a data frame, categories always are.

    Attributes
    ----------
    cuts_ : list of arrays
        Cuts of each feature, ascending; empty for categorical ones.
    categories_ : dict
        Categories of each categorical feature, by its index.
    n_bins_ : ndarray of shape (n_features,)
        Number of bins or categories of each feature, missing values not counted.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had any.

    See Also
    --------
    discretise : The same as a function.
    encode : Discretised columns packed for counting.

    References
    ----------
    .. [1] U. M. Fayyad, K. B. Irani (1993). Multi-interval discretization of continuous-valued
           attributes for classification learning. IJCAI.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.information import Discretiser
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0], [10.0]])
    >>> Discretiser().fit_transform(X).ravel()
    array([1, 1, 1, 1, 2])
    >>> Discretiser(bins="mdl").fit(X, [0, 0, 0, 1, 1]).cuts_
    [array([3.5])]
    >>> Discretiser(bins="width", n_bins=3).fit(X).cuts_
    [array([4., 7.])]
    """

    _parameter_constraints: dict[str, Any] = {
        "bins": [option for option in BINNING["bins"] if option is not None],
        **{name: BINNING[name] for name in ("n_bins", "missing", "categorical_features")},
    }

    def __init__(
        self,
        bins: str = "mean_std",
        *,
        n_bins: int = 5,
        missing: str = "code",
        categorical_features: Any = None,
    ):
        self.bins = bins
        self.n_bins = n_bins
        self.missing = missing
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Discretiser:
        """Find the cuts.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The table.
        y : array of shape (n_samples,), optional
            Class labels, which "mdl" needs.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples: each counts like so many rows, an integer
            exactly as if the row were repeated. Rows of weight zero are left out.
        """
        self._validate_params()
        X, y, weight = check_counted_rows(X, y, sample_weight)
        weight = None if weight is None else exact_weights(weight)
        columns = read_columns(X, self.categorical_features, estimator=self, min_samples=1)
        n, p = columns.X.shape
        target = None
        if self.bins == "mdl":
            if y is None:
                raise ValueError(
                    'bins="mdl" requires y to be passed, but the target y is None: pass '
                    'the class labels, or use "mean_std", "width" or "frequency".'
                )
            target = check_classes(y, n, minimum=1, warn=False).codes
        self.categories_ = columns.categories
        self.cuts_ = [np.empty(0)] * p
        for first, block in dense_blocks(columns.X):
            found = find_cuts(block, self.bins, self.n_bins, target, weight)
            for j in range(block.shape[1]):
                if not columns.categorical[first + j]:
                    self.cuts_[first + j] = found[j, np.isfinite(found[j])]
        self.n_bins_ = np.array(
            [
                len(self.categories_[j]) if columns.categorical[j] else len(cuts) + 1
                for j, cuts in enumerate(self.cuts_)
            ]
        )
        self._categorical = columns.categorical
        return self

    def transform(self, X: Any) -> Any:
        """Replace the values of ``X`` by codes; a data frame stays one.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The table.
        """
        check_is_fitted(self)
        if self._categorical.any():  # a mask of another length would be complained of first
            validate_data(self, X, reset=False, skip_check_array=True)
        chosen = self._categorical if self._categorical.any() else None
        columns = read_columns(
            X,
            chosen,
            estimator=self,
            reset=False,
            min_samples=1,
            categories=self.categories_,
        )
        out = np.empty(columns.X.shape, dtype=np.int64)
        for first, block in dense_blocks(columns.X):
            for k in range(block.shape[1]):
                j, values = first + k, block[:, k]
                if self._categorical[j]:
                    codes = np.nan_to_num(values, nan=-1.0).astype(np.int64)
                else:
                    codes = np.searchsorted(self.cuts_[j], values, side="left")
                code = self.n_bins_[j] if self.missing == "code" else -1
                out[:, j] = np.where(np.isnan(values), code, codes)
        return _as_given(out, X)

    def _evidence_html(self, caption: str = "What was found") -> str:
        found = super()._evidence_html(caption)
        if not hasattr(self, "n_bins_"):
            return found
        names = getattr(self, "feature_names_in_", None)
        return found + importance_table(self.n_bins_, names, "Bins of each feature", "bins")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.target_tags.required = self.bins == "mdl"
        tags.transformer_tags.preserves_dtype = []
        return tags


@checked(**{**DISCRETE, "bins": one_of(*METHODS)})
def discretise(
    X: Any,
    y: Any = None,
    *,
    bins: str = "mean_std",
    n_bins: int = 5,
    missing: str = "code",
    categorical_features: Any = None,
) -> Any:
    """Replace continuous values by the numbers of bins.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The table.
    y : array of shape (n_samples,), optional
        Class labels, which "mdl" needs.
    bins, n_bins, missing, categorical_features
        As in :class:`Discretiser`.

    Returns
    -------
    codes : int array of shape (n_samples, n_features), or a data frame if X is one

    See Also
    --------
    Discretiser : Remembers the cuts and applies them to new data.

    Examples
    --------
    >>> from tamiz.information import discretise
    >>> heights = [[147], [150], [152], [154], [170], [173], [175], [177]]
    >>> discretise(heights, [0, 0, 0, 0, 1, 1, 1, 1], bins="mdl").ravel()
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    transformer = Discretiser(
        bins, n_bins=n_bins, missing=missing, categorical_features=categorical_features
    )
    return transformer.fit(X, y).transform(X)


def _as_given(codes: np.ndarray, X: Any) -> Any:
    """The codes as a data frame of the same kind if ``X`` is one."""
    if isinstance(X, np.ndarray) or not nw.dependencies.is_into_dataframe(X):
        return codes
    if nw.dependencies.is_pandas_dataframe(X):  # its columns may have any names, and an index
        return type(X)(codes, columns=X.columns, index=X.index)
    frame = nw.from_native(X, eager_only=True)
    space = nw.get_native_namespace(frame)
    data = {name: codes[:, j] for j, name in enumerate(frame.columns)}
    return nw.to_native(nw.from_dict(data, native_namespace=space))
