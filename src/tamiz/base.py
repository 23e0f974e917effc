"""The contract of every selector, and Selection, the one result type of every method.

A selector ranks features and marks some as selected. However it came to that, what it leaves behind
is the same: ``order_``, ``ranking_``, ``support_``, ``scores_`` and a :class:`Selection`, which is
all that reports, comparisons, plots and the command line know about.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import (
    _check_feature_names_in,
    check_array,
    check_is_fitted,
    validate_data,
)

from tamiz.callbacks import TakesCallbacks
from tamiz.display import SHOWN_FEATURES, Evidence, frames, html_table, plot_selection
from tamiz.validation import as_numpy, checked, in_our_words, integer_from, refused

if TYPE_CHECKING:
    import pandas as pd


class PathStep(NamedTuple):
    """One event on the way to a selection."""

    action: str  # what happened: "add", "drop", "visit", ...
    features: Sequence[int]  # the features concerned, ascending where they are a set
    n_features: int  # how many are in play after the event
    value: float | None = None  # the criterion after the event, where there is one
    details: dict[str, Any] | None = None  # whatever else the method records


@dataclass(repr=False)
class Selection:
    """What a selector found.

    Attributes
    ----------
    order : array of shape (n_features,)
        Indices of all features, best first.
    support : boolean array of shape (n_features,)
        Which features are selected.
    scores : array of shape (n_features,) or None
        Score of each feature, where the method scores; higher is better.
    names : list of str
        Names of all features.
    method : str
        Name of the method.
    params : dict
        Its parameters.
    path : list of PathStep
        What was added or dropped when, at what value of the criterion.
    seconds : float
        Time that the selection took.
    notes : dict
        What a method reports beyond this.
    pvalues : array of shape (n_features,) or None
        Probability of a score as high by chance, where the method knows it.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz import Selection
    >>> s = Selection(order=np.array([2, 0, 1]), support=np.array([True, False, True]),
    ...               scores=np.array([0.5, 0.1, 0.9]), names=["a", "b", "c"], method="example")
    >>> s.selected, s.ranking.tolist()
    (['c', 'a'], [2, 3, 1])
    >>> s.to_dict()["features"][0]
    {'rank': 1, 'name': 'c', 'index': 2, 'score': 0.9, 'selected': True}
    """

    order: np.ndarray
    support: np.ndarray
    scores: np.ndarray | None = None
    names: list[str] = field(default_factory=list)
    method: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    path: list[PathStep] = field(default_factory=list)
    seconds: float = 0.0
    notes: dict[str, Any] = field(default_factory=dict)
    pvalues: np.ndarray | None = None

    def __post_init__(self) -> None:
        self.order = np.asarray(self.order, dtype=np.intp)
        self.support = np.asarray(self.support, dtype=bool)
        self._check_parts()
        if not self.names:
            self.names = list(_default_names(len(self.support)))

    def _check_parts(self) -> None:
        """Refuse an order of other features than there are, also in what comes from a file."""
        n = len(self.support)
        inside = len(self.order) == n and (n == 0 or 0 <= self.order.min() <= self.order.max() < n)
        if not inside or not (np.bincount(self.order, minlength=n) == 1).all():
            raise ValueError(
                f"order must name each of the {n} features exactly once; it has {len(self.order)} "
                "entries."
            )

    @property
    def ranking(self) -> np.ndarray:
        """Position of each feature, 1 for the best; all distinct."""
        ranking = np.empty(len(self.order), dtype=np.intp)
        ranking[self.order] = np.arange(1, len(self.order) + 1)
        return ranking

    @property
    def selected(self) -> list[str]:
        """Names of the selected features, best first."""
        return [self.names[j] for j in self.order if self.support[j]]

    def __repr__(self) -> str:
        selected = self.selected
        shown = ", ".join(selected[:5]) + (", …" if len(selected) > 5 else "")
        count = f"{len(selected)} of {len(self.order)} features"
        return f"<{self.method or 'Selection'}: {count}{': ' if shown else ''}{shown}>"

    def _repr_html_(self) -> str:
        """The best features as a table, in notebooks."""
        shown = self.order[:SHOWN_FEATURES]
        head, columns = ["", "feature"], [shown.tolist()]
        for name, values in (("score", self.scores), ("p-value", self.pvalues)):
            if values is not None:
                head.append(name)
                columns.append(np.asarray(values, dtype=np.float64)[shown].tolist())
        rows = [
            [rank, self.names[j], *values, bool(self.support[j])]
            for rank, (j, *values) in enumerate(zip(*columns, strict=True), start=1)
        ]
        left = len(self.order) - len(rows)
        count = f"{int(self.support.sum()):,} of {len(self.order):,} features selected"
        return html_table(
            f"{self.method or 'Selection'}: {count}",
            [*head, "selected"],
            rows,
            [f"… and {left:,} more features"] if left else [],
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, fit for JSON, which knows no infinity: such scores are None."""
        pvalues = self.pvalues
        return {
            "method": self.method,
            "params": {name: json_ready(value) for name, value in self.params.items()},
            "features": [
                {
                    "rank": rank,
                    "name": self.names[j],
                    "index": int(j),
                    "score": None if self.scores is None else json_ready(self.scores[j]),
                    **({} if pvalues is None else {"pvalue": json_ready(pvalues[j])}),
                    "selected": bool(self.support[j]),
                }
                for rank, j in enumerate(self.order.tolist(), start=1)
            ],
            "path": [json_ready(step._asdict()) for step in self.path],
            "notes": json_ready(self.notes),
            "seconds": self.seconds,
            "n_features": len(self.order),
        }

    def to_frame(self) -> pd.DataFrame:
        """The ranking as a pandas table, best feature first."""
        pd = frames()
        table: dict[str, Any] = {
            "name": [self.names[j] for j in self.order],
            "index": self.order,
            "score": np.nan if self.scores is None else self.scores[self.order],
            "selected": self.support[self.order],
        }
        if self.pvalues is not None:
            table["pvalue"] = self.pvalues[self.order]
        rank = pd.RangeIndex(1, len(self.order) + 1, name="rank")
        return pd.DataFrame(table, index=rank)

    @checked(top=integer_from(1))
    def plot(self, top: int = 30, ax: Any = None) -> Any:
        """Draw the criterion along the path if there is one, else the best scores as bars.

        Subsets that a search only looked at are drawn as points, with the best of each size joined.

        Parameters
        ----------
        top : int, default=30
            Number of bars.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        return plot_selection(self, top, ax)


class Selector(TakesCallbacks, Evidence, TransformerMixin, BaseEstimator):
    """Base class of all selectors.

    A subclass's ``fit`` checks its input through :mod:`tamiz.validation`, does its work, and
    calls :meth:`_finish`.

    Attributes
    ----------
    support_ : boolean array of shape (n_features,)
        Which features are selected.
    ranking_ : array of shape (n_features,)
        Position of each feature, 1 for the best, all distinct.
    order_ : array of shape (n_features,)
        Indices of the features, best first.
    scores_ : array of shape (n_features,)
        Where the method scores.
    selection_ : Selection
        All of it, with names, parameters, path and time.
    divides_samples : bool
        Whether ``fit`` divides the samples into parts, and takes ``groups`` of samples that stay
        in one part.
    """

    divides_samples = False

    def _evidence_html(self, caption: str = "What was found") -> str:
        """What the method says of its search, and the features in a table."""
        found = super()._evidence_html(caption)
        selection = getattr(self, "selection_", None)
        return found if selection is None else found + selection._repr_html_()

    def _finish(
        self,
        *,
        order: np.ndarray,
        n_selected: int | None = None,
        support: np.ndarray | None = None,
        scores: np.ndarray | None = None,
        path: list[PathStep] | None = None,
        seconds: float = 0.0,
        notes: dict[str, Any] | None = None,
    ) -> None:
        """Set the fitted attributes; the first ``n_selected`` of ``order`` unless ``support``."""
        order = np.asarray(order, dtype=np.intp)
        if support is None:
            support = np.zeros(len(order), dtype=bool)
            support[order[:n_selected]] = True
        self.selection_ = Selection(
            order=order,
            support=support,
            scores=scores,
            names=[str(name) for name in getattr(self, "feature_names_in_", ())],
            method=type(self).__name__,
            params=self.get_params(deep=False),
            path=path or [],
            seconds=seconds,
            notes=notes or {},
            pvalues=getattr(self, "pvalues_", None),
        )
        self.order_ = self.selection_.order
        self.support_ = self.selection_.support
        self.ranking_ = self.selection_.ranking
        self.__dict__.pop("scores_", None)  # of an earlier fit
        if scores is not None:
            self.scores_ = scores

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Names of the parameters; reading a signature anew would take longer than some filters."""
        return list(super()._get_param_names())

    def _names(self, n_features: int) -> Any:
        return getattr(self, "feature_names_in_", [f"x{j}" for j in range(n_features)])

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Which features are selected.

        Parameters
        ----------
        indices : bool, default=False
            Return their indices instead of a boolean for each feature.

        Returns
        -------
        support : array of shape (n_features,) or (n_selected,)
        """
        check_is_fitted(self, "support_")
        return np.flatnonzero(self.support_) if indices else self.support_

    def transform(self, X: Any) -> Any:
        """Reduce ``X`` to the selected features, in the order of its columns.

        pandas and polars tables stay what they are; arrays and sparse matrices too.
        """
        chosen, X = self.get_support(indices=True), as_numpy(X)
        is_frame = nw.dependencies.is_into_dataframe(X)
        allow_nan = get_tags(self).input_tags.allow_nan
        with in_our_words(X, allow_nan=allow_nan):
            X = validate_data(
                self,
                X,
                dtype=None,
                accept_sparse="csr",
                ensure_all_finite=not allow_nan,
                skip_check_array=is_frame,
                reset=False,
            )
        if not len(chosen):
            warnings.warn(
                "No features were selected: the table that transform returns has no columns.",
                UserWarning,
                stacklevel=2,
            )
            if not is_frame:
                return np.empty((X.shape[0], 0), dtype=X.dtype)
        if hasattr(X, "iloc"):  # pandas keeps its index even without columns
            return X.iloc[:, chosen]
        if is_frame:
            # by position: pandas columns may be numbered instead of named
            return nw.to_native(nw.from_native(X, eager_only=True)[:, chosen.tolist()])
        return X[:, chosen]

    def inverse_transform(self, X: Any) -> Any:
        """Put columns of zeros where :meth:`transform` left features out.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_selected)
            The selected features.

        Returns
        -------
        X : array or sparse matrix of shape (n_samples, n_features)
        """
        chosen = self.get_support(indices=True)
        X = check_array(X, dtype=None, accept_sparse="csc", ensure_min_features=0)
        if X.shape[1] != len(chosen):
            raise ValueError(
                f"X has {X.shape[1]} columns, but {len(chosen)} features are selected."
            )
        shape = (X.shape[0], len(self.support_))
        if sparse.issparse(X):
            counts = np.zeros(shape[1], dtype=X.indptr.dtype)
            counts[chosen] = np.diff(X.indptr)
            starts = np.concatenate([X.indptr[:1], np.cumsum(counts, dtype=X.indptr.dtype)])
            return type(X)((X.data, X.indices, starts), shape=shape)
        whole = np.zeros(shape, dtype=X.dtype)
        whole[:, chosen] = X
        return whole

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the selected features, in the order of the columns.

        Parameters
        ----------
        input_features : array of str, optional
            Names of all features; by default those of the table that was fitted, else x0, x1, ….

        Returns
        -------
        names : array of shape (n_selected,)
        """
        support = self.get_support()
        return _check_feature_names_in(self, input_features)[support]


@lru_cache(maxsize=8)
def _default_names(n: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(n))


def json_ready(value: Any) -> Any:
    """Turn NumPy values and unknown objects into what JSON can hold."""
    if isinstance(value, dict):
        return {str(key): json_ready(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, Sequence)) and not isinstance(value, str):
        return [json_ready(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return json_ready(value.tolist())
    if isinstance(value, np.generic):
        return json_ready(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return repr(value)


def number_to_select(wanted: Any, n_features: int, own: int | None) -> int:
    """How many features ``n_features_to_select`` stands for.

    Parameters
    ----------
    wanted : int, float, "auto" or None
        A number, a fraction of the features, or the method's own choice.
    n_features : int
        Number of features.
    own : int or None
        The method's own choice; ``None`` if it has none, in which case half are taken.
    """
    if wanted is None or (isinstance(wanted, str) and wanted == "auto"):
        return max(1, n_features // 2) if own is None else own
    if isinstance(wanted, Integral) and not isinstance(wanted, bool) and int(wanted) >= 1:
        if int(wanted) > n_features:
            raise ValueError(
                f"n_features_to_select={wanted} exceeds the {n_features} features of X; ask for "
                f"at most {n_features}, or for a fraction."
            )
        return int(wanted)
    if isinstance(wanted, Real) and not isinstance(wanted, Integral) and 0 < float(wanted) <= 1:
        return max(1, round(float(wanted) * n_features))
    forms = f"a number of features from 1 to {n_features}, a fraction in (0, 1], or 'auto'"
    raise refused("n_features_to_select", wanted, f"is not understood; use {forms}.")


def corrected_error(differences: np.ndarray, ratio: float | None = None) -> np.ndarray:
    r"""Standard error of a mean over splits, corrected for training parts that overlap.

    .. math:: \sqrt{1/J + n_{test}/n_{train}} \; s

    Parameters
    ----------
    differences : array of shape (n_splits, ...)
        What is averaged over the first axis.
    ratio : float, optional
        Test samples for each training sample; by default those of J folds, 1/(J - 1).

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning
           52.
    """
    n = len(differences)
    if n < 2:
        return np.zeros(differences.shape[1:])
    if ratio is None:
        ratio = 1.0 / (n - 1)
    return differences.std(axis=0, ddof=1) * np.sqrt(1.0 / n + ratio)


def choose_size(
    errors: np.ndarray, sizes: np.ndarray, rule: str, ratio: float | None = None
) -> int:
    """Number of features by cross-validated error.

    Parameters
    ----------
    errors : array of shape (n_splits, n_sizes)
        Error of each split at each size.
    sizes : array of shape (n_sizes,)
        Numbers of features.
    rule : {"best", "1se"}
        The size with least mean error (the smallest of those tied), or the smallest size that is
        not worse than that by more than one standard error of the difference, corrected for
        overlapping training parts (:func:`corrected_error`).
    ratio : float, optional
        Test samples for each training sample, as in :func:`corrected_error`.
    """
    mean = errors.mean(axis=0)
    least = mean.min()
    tied = mean <= least + 1e-12 * (1.0 + abs(least))
    if rule == "1se" and len(errors) > 1:
        best = np.flatnonzero(tied)[np.argmin(sizes[tied])]
        away = errors - errors[:, [best]]
        tied = away.mean(axis=0) <= corrected_error(away, ratio) + 1e-12
    return int(sizes[tied].min())


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._start


def order_by(scores: np.ndarray, *tie_breakers: np.ndarray) -> np.ndarray:
    """Indices by descending score; ties by the further keys, then by position; NaN last."""
    keys = [-np.asarray(key, dtype=np.float64) for key in (scores, *tie_breakers)]
    if len(keys) == 1:  # NaN is sorted to the end whatever its sign
        return np.argsort(keys[0], kind="stable")
    return np.lexsort([np.where(np.isnan(key), np.inf, key) for key in reversed(keys)])


class ScoredClassifier(ClassifierMixin):
    """Classifiers whose ``score`` reads labels and weights as ``fit`` does."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of the predictions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        score : float
        """
        return super().score(X, as_numpy(y, "y"), as_numpy(sample_weight, "sample_weight"))


class ScoredRegressor(RegressorMixin):
    """Regressors whose ``score`` reads numbers and weights as ``fit`` does."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R² of the predictions, 1 at best.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            True numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        score : float
        """
        return super().score(X, as_numpy(y, "y"), as_numpy(sample_weight, "sample_weight"))
