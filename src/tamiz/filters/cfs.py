r"""Correlation-based feature selection: much about the target, little about each other.

The merit of a subset of ``κ`` features is

.. math::

    J(S) = \frac{\kappa\, \overline{\rho_{cf}}}{\sqrt{\kappa + \kappa(\kappa - 1)\,
    \overline{\rho_{ff}}}} = \frac{\sum_{j \in S} \rho_{cj}}{\sqrt{\kappa + 2\sum_{i<j \in S}
    \rho_{ij}}},

the correlation of the sum of standardised features with the target. Sums over a subset and one
more feature follow from those of the subset and the sums of its rows, so that all children of a
subset are judged in O(p), and only the rows of features in visited subsets are ever computed.

References
----------
.. [1] M. Hall (1999). Correlation-based feature selection for machine learning. Thesis, University
       of Waikato.
.. [2] M. Hall (2000). Correlation-based feature selection for discrete and numeric class machine
       learning. ICML.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import Stopwatch, number_to_select, order_by
from tamiz.filters._cfs_search import SEARCHES, Correlations, Found, Merit, grow_within
from tamiz.filters._similarity import (
    Pearson,
    Similarity,
    Target,
    read_target,
    require_labels,
)
from tamiz.filters._streaming import Correlate, Stream, Streaming
from tamiz.filters._streaming_codes import streamed_codes
from tamiz.filters._streaming_similarity import StreamedPearson
from tamiz.filters.univariate_base import HOW_MANY, refuse_categories, warn_of_nothing
from tamiz.information import encode
from tamiz.information.encoding import BINNING
from tamiz.runtime.parallel import N_JOBS, limit_threads
from tamiz.runtime.progress import Progress
from tamiz.selector import Selector
from tamiz.validation import as_vector, check_X, guess_task

#: Up to this many features, all correlations take no longer than the calls for single rows.
_AT_ONCE = 64


class CFS(Streaming, Selector):
    r"""Correlation-based feature selection.

    Looks for the subset with the greatest merit :math:`κ\,\overline{ρ_{cf}} / \sqrt{κ +
    κ(κ-1)\,\overline{ρ_{ff}}}`: features that correlate with the target but not with each other.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        By default the subset that the search finds, which is empty, with a warning, if no feature
        correlates with the target; a number or a share takes that many from the
        top of the ranking.
    search : {"best_first", "forward", "exhaustive"}, default="best_first"
        Best-first search expands the best subset not expanded yet; forward selection adds the best
        feature as long as the merit grows; the exhaustive search looks at all subsets and is meant
        for up to 20 features.
    merit : {"hall", "printed"}, default="hall"
        Hall's formula, or the one with ``κ + (κ-1) ρ`` under the root that some texts print and
        that hardly minds redundancy.
    stale : int, default=5
        Expansions in a row without improvement after which the best-first search ends.
    correlation : {"auto", "symmetrical_uncertainty", "pearson"} or array, default="auto"
        Symmetrical uncertainty after discretisation for labels, absolute correlation for numbers.
        An array of shape ``(n_features + 1, n_features + 1)`` holds all correlations, those with
        the target in its last row and column; ``X`` and ``y`` are then not looked at further.
    bins : {"mdl", "mean_std", "width", "frequency"} or None, default="mdl"
        Discretisation for symmetrical uncertainty; ``None`` if the features are discrete already.
    n_bins : int, default=5
        Number of bins of equal width or frequency.
    categorical_features : array-like, optional
        Features whose values are categories: indices, names or a mask. Columns that hold
        text or, in a data frame, categories always are. For symmetrical uncertainty only.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether ``y`` holds labels or numbers. ``"auto"``: text and whole numbers are labels; floats
        with a fractional part are numbers, and so are whole ones with more than twenty levels of
        fewer than ten samples each.
    tol : float, default=1e-5
        A gain in merit up to this is no improvement to the best-first search, as far as going on is
        concerned; the best subset seen is returned in any case.
    verbose : bool or int, default=0
        Show progress.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.

    Attributes
    ----------
    merit_ : float
        Merit of the subset found.
    subset_ : array
        The subset found, in the order in which forward selection among its features takes them.
    relevance_, scores_ : array of shape (n_features,)
        Correlation of each feature with the target.
    n_expanded_ : int
        Number of subsets expanded (for the exhaustive search, of subsets judged).
    n_correlations_ : int
        Number of features whose correlations with all others were asked for.
    support_, ranking_, order_, selection_
        As in every selector. The ranking begins with ``subset_``; the other features follow by the
        merit of the subset with each of them added, and by relevance where that is equal; those
        without any correlation with the target come last, constant ones behind the others. The path
        lists the subsets visited with their merit.

    See Also
    --------
    MRMR : Weighs relevance and redundancy one feature at a time.
    QPFS : Weighs them in a quadratic programme.

    References
    ----------
    .. [1] M. Hall (2000). Correlation-based feature selection for discrete and numeric class
           machine learning. ICML.

    Examples
    --------
    Three features, all correlated with the target, the last two with each other:

    >>> import numpy as np
    >>> from tamiz.filters.cfs import CFS
    >>> table = np.array([[1.0, 0.50, 0.33, 0.95],
    ...                   [0.5, 1.00, 0.75, 0.80],
    ...                   [0.33, 0.75, 1.0, 0.70],
    ...                   [0.95, 0.80, 0.70, 1.0]])
    >>> selector = CFS(correlation=table).fit(np.eye(4)[:, :3], [0, 0, 1, 1])
    >>> selector.subset_.tolist(), round(selector.merit_, 4)
    ([0, 2], 1.0117)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "search": [StrOptions(set(SEARCHES))],
        "merit": [StrOptions({"hall", "printed"})],
        "stale": [Interval(Integral, 1, None, closed="left")],
        "correlation": [
            StrOptions({"auto", "symmetrical_uncertainty", "pearson"}),
            "array-like",
        ],
        **{name: BINNING[name] for name in ("bins", "n_bins", "categorical_features")},
        "n_features_to_select": HOW_MANY,
        "task": [StrOptions({"auto", "classification", "regression"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_features_to_select: Any = "auto",
        *,
        search: str = "best_first",
        merit: str = "hall",
        stale: int = 5,
        correlation: Any = "auto",
        bins: str | None = "mdl",
        n_bins: int = 5,
        categorical_features: Any = None,
        task: str = "auto",
        tol: float = 1e-5,
        verbose: bool | int = 0,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.search = search
        self.merit = merit
        self.stale = stale
        self.correlation = correlation
        self.bins = bins
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.task = task
        self.tol = tol
        self.verbose = verbose
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = tags.input_tags.sparse = self._may_use_codes()
        return tags

    def fit(self, X: Any, y: Any = None) -> CFS:
        """Search for the best subset.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Samples. With symmetrical uncertainty it may be sparse, hold text columns (taken as
            categories) and lack values (a gap counts as a value of its own); otherwise it must be
            dense and complete.
        y : array-like of shape (n_samples,)
            Class labels, or numbers for a regression.

        Returns
        -------
        self : CFS
        """
        self._validate_params()
        with limit_threads(self.n_jobs):
            return self._fit(X, y)

    def _fit(self, X: Any, y: Any) -> CFS:
        watch = Stopwatch()
        return self._search(self._read(X, y), watch)

    def _search(
        self,
        correlations: Correlations,
        watch: Stopwatch,
        told: Callable[[], dict[str, Any]] = dict,
    ) -> CFS:
        wanted, n_features = self.n_features_to_select, correlations.n
        number_to_select(wanted, n_features, 1)  # refuses before the work, not after it
        with Progress("CFS", self.verbose) as correlations.progress:
            search = SEARCHES[self.search]
            found = search(correlations, Merit(self.merit), int(self.stale), self.tol)
        if correlations.relevance.max() <= 0.0:
            warn_of_nothing(self, "the correlation with the target is 0 for every feature")
            found = found._replace(subset=[], merit=0.0)
        self._describe(found, correlations)
        order = self._complete(correlations)
        self._finish(
            order=order,
            n_selected=number_to_select(wanted, n_features, len(self.subset_)),
            scores=self.relevance_,
            path=found.path,
            seconds=watch.seconds,
            notes={
                "criterion": "merit",
                "merit": self.merit_,
                "n_expanded": self.n_expanded_,
                "n_correlations": self.n_correlations_,
                **told(),
            },
        )
        return self

    def _may_use_codes(self) -> bool:
        kind = self.correlation
        return isinstance(kind, str) and kind in ("auto", "symmetrical_uncertainty")

    def _read(self, X: Any, y: Any) -> Correlations:
        """Check the data and put the correlations before them."""
        y = as_vector(y)
        task = guess_task(y) if self.task == "auto" else self.task
        by_name = isinstance(self.correlation, str)
        if self._counts(task):
            return self._uncertainty(X, y, task)
        what = 'correlation="pearson"' if by_name else "an array as correlation"
        counted = 'correlation="symmetrical_uncertainty" with labels as y'
        refuse_categories(self.categorical_features, what, counted)
        X = check_X(self, X, reset=True, min_samples=2)
        target = read_target(y, len(X), task, guessed=self.task == "auto")
        if by_name:
            return _pearson(Pearson(X, target))
        return _given(self.correlation, X.shape[1])

    def _counts(self, task: str) -> bool:
        """Whether correlation is symmetrical uncertainty."""
        kind = self.correlation if isinstance(self.correlation, str) else "given"
        return kind == "symmetrical_uncertainty" or (kind == "auto" and task == "classification")

    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        task = "regression" if stream.classes is None else "classification"
        if self._counts(task):
            require_labels(
                Target(None, stream.n_classes),
                'correlation="symmetrical_uncertainty"',
                'correlation="pearson"',
            )
            codes, _, _ = streamed_codes(
                stream, bins=self.bins, n_bins=self.n_bins, pairs=True, sample_size=sample_size
            )
            stream.check_rows(codes.class_rows, self._many_classes())
            correlations = _counted(codes, None)
        else:
            stream.refuse_nominal()  # task="auto" may turn out to be about a quantity
            moments = stream.sweep(Correlate(stream.n_classes))
            if stream.classes is not None:
                stream.check_rows(moments.class_rows, self._many_classes())
            correlations = _pearson(StreamedPearson(moments))
        return self._search(correlations, watch, stream.told)

    _quantity = 'use task="regression"'

    def _many_classes(self) -> str | None:
        return self._quantity if self.task == "auto" else None

    _keeps_classes = False

    def _takes_nominal(self) -> bool:
        return self._may_use_codes() and self.task != "regression"

    def _check_streamable(self) -> None:
        if not isinstance(self.correlation, str):
            raise ValueError(
                "correlation is an array that holds all correlations, so there is nothing to "
                "stream; use fit."
            )
        if self.correlation == "pearson":
            counted = 'correlation="symmetrical_uncertainty" with labels as y'
            refuse_categories(self.categorical_features, 'correlation="pearson"', counted)

    def _uncertainty(self, X: Any, y: Any, task: str) -> Correlations:
        codes = encode(
            X,
            bins=self.bins,
            n_bins=self.n_bins,
            y=y if self.bins == "mdl" else None,
            categorical_features=self.categorical_features,
            estimator=self,
        )
        target = read_target(y, codes.n_samples, task, guessed=self.task == "auto")
        require_labels(target, 'correlation="symmetrical_uncertainty"', 'correlation="pearson"')
        return _counted(codes, target.values)

    def _describe(self, found: Found, correlations: Correlations) -> None:
        self.relevance_ = correlations.relevance
        self.subset_ = grow_within(found.subset, correlations, Merit(self.merit))
        self.merit_ = found.merit
        self.n_expanded_ = found.n_expanded
        self.n_correlations_ = correlations.n_rows

    def _complete(self, correlations: Correlations) -> np.ndarray:
        """The subset, then the others by what the subset would be worth with each of them."""
        empty = not len(self.subset_)
        node = correlations.empty() if empty else correlations.node(self.subset_)
        children = Merit(self.merit).of_children(node, correlations.relevance)
        # Nothing to gain from the irrelevant, though they may do less harm than the redundant.
        children[correlations.relevance <= 0.0] = -np.inf
        children[self.subset_] = np.inf
        varies = correlations.varies.astype(float)  # constant features come last of all
        others = order_by(children, correlations.relevance, varies)[len(self.subset_) :]
        return np.concatenate([self.subset_, others])


def merit(subset: Sequence[int], relevance: Any, correlation: Any, form: str = "hall") -> float:
    """Merit of one subset.

    Parameters
    ----------
    subset : sequence of int
        The features.
    relevance : array of shape (n_features,)
        Correlation of each feature with the target.
    correlation : array of shape (n_features, n_features)
        Correlations between features.
    form : {"hall", "printed"}, default="hall"
        As in :class:`CFS`.

    Examples
    --------
    >>> from tamiz.filters.cfs import merit
    >>> rho = [[1.0, 0.5, 0.33], [0.5, 1.0, 0.75], [0.33, 0.75, 1.0]]
    >>> round(merit([0, 1, 2], [0.95, 0.8, 0.7], rho, form="printed"), 4)
    1.2169
    """
    index = np.asarray(subset, dtype=np.intp)
    inner = np.asarray(correlation, dtype=np.float64)[np.ix_(index, index)]
    pairs = 0.5 * (inner.sum() - inner.trace())
    return float(Merit(form)(len(index), np.asarray(relevance, dtype=float)[index].sum(), pairs))


def _given(table: Any, n_features: int) -> Correlations:
    """All correlations in one table, the target last."""
    table = np.asarray(table, dtype=np.float64)
    size = n_features + 1
    if table.shape != (size, size):
        raise ValueError(
            f"correlation has shape {table.shape}, but X has {n_features} features; hand over a "
            f"matrix of shape {(size, size)} whose last row and column belong to the target."
        )
    if not (np.isfinite(table).all() and (table >= 0.0).all()):
        raise ValueError(
            "correlation holds entries that are negative, NaN or infinite; use absolute values."
        )
    if np.abs(table - table.T).max() > 1e-8 * table.max():
        raise ValueError("correlation is not symmetric; hand over (R + R.T) / 2.")
    inner = table[:-1, :-1]
    return Correlations(table[:-1, -1].copy(), lambda j: inner[j])


def _counted(codes: Any, y: np.ndarray | None) -> Correlations:
    """Symmetrical uncertainty of codes, packed or streamed together with the classes."""
    relevance = codes.su_relevance(y)
    if codes.n_features <= _AT_ONCE:
        return Correlations(relevance, codes.matrix(ratio=True).__getitem__, codes.varies)
    return Correlations(relevance, codes.su_row, codes.varies)


def _pearson(measure: Similarity) -> Correlations:
    """Absolute correlations; constant features have none."""
    n_features, kept = measure.n_features, measure.kept
    place = np.full(n_features, -1)
    place[kept] = np.arange(len(kept))
    relevance = np.zeros(n_features)
    relevance[kept] = measure.relevance
    varies = place >= 0

    def row(j: int) -> np.ndarray:
        values = np.zeros(n_features)
        if place[j] >= 0:
            values[kept] = measure.rows(place[j : j + 1])[0]
        return values

    return Correlations(relevance, row, varies)
