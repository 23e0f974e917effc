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

import heapq
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import PathStep, Stopwatch, number_to_select, order_by
from tamiz.filters import streaming
from tamiz.filters.base import HOW_MANY, REGRESSION, Filter, refuse_categories, warn_of_nothing
from tamiz.filters.similarity import (
    Kind,
    Similarity,
    read_numbers,
    similarity_of_arrays,
    similarity_of_stream,
)
from tamiz.filters.streaming import Needs, Stream
from tamiz.information.encoding import BINNING
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import limit_threads
from tamiz.validation import (
    N_JOBS,
    as_vector,
    check_counted_rows,
    guess_task,
    symmetric_matrix,
    unchanged_on_error,
)

#: Up to this many features, all correlations take no longer than the calls for single rows.
_AT_ONCE = 64

#: The exhaustive search looks at two to the power of this many subsets at most.
MOST_FEATURES = 20

#: Merits closer than this are equal; the same sums in another order differ by less.
EQUAL = 1e-12


class CFS(Filter):
    r"""Correlation-based feature selection.

    Looks for the subset with the greatest merit :math:`κ\,\overline{ρ_{cf}} / \sqrt{κ +
    κ(κ-1)\,\overline{ρ_{ff}}}`: features that correlate with the target but not with each other.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        By default the subset that the search finds, which is empty, with a warning, if no feature
        correlates with the target; a number or a fraction takes that many from the
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
        Whether ``y`` holds labels or numbers. ``"auto"``: text is labels, and so are two integers,
        or at most twenty with two rows or more for each; other numbers are numbers.
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
    >>> from tamiz.filters import CFS
    >>> table = np.array([[1.0, 0.50, 0.33, 0.95],
    ...                   [0.5, 1.00, 0.75, 0.80],
    ...                   [0.33, 0.75, 1.0, 0.70],
    ...                   [0.95, 0.80, 0.70, 1.0]])
    >>> selector = CFS(correlation=table).fit(np.eye(4)[:, :3], [0, 0, 1, 1])
    >>> selector.subset_.tolist(), round(selector.merit_, 4)
    ([0, 2], 1.0117)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "search": [StrOptions({"best_first", "forward", "exhaustive"})],
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
        tags.input_tags.allow_nan = tags.input_tags.sparse = self._may_use_codes()
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> CFS:
        """Search for the best subset.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Samples. With symmetrical uncertainty it may be sparse, hold text columns (taken as
            categories) and lack values (missing is then a value of its own); otherwise it must be
            dense and complete.
        y : array-like of shape (n_samples,)
            Class labels, or numbers for a regression.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples: each counts like so many rows, an integer
            exactly as if the row were repeated. Rows of weight zero are left out.

        Returns
        -------
        self : CFS
        """
        self._validate_params()
        with unchanged_on_error(self), limit_threads(self.n_jobs):
            return self._fit(*check_counted_rows(X, as_vector(y), sample_weight))

    def _fit(self, X: Any, y: Any, weight: np.ndarray | None) -> CFS:
        watch = Stopwatch()
        return self._search(self._read(X, y, weight), watch)

    def _search(
        self,
        correlations: Correlations,
        watch: Stopwatch,
        summary: Callable[[], dict[str, Any]] = dict,
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
                **summary(),
            },
        )
        return self

    def _may_use_codes(self) -> bool:
        kind = self.correlation
        return isinstance(kind, str) and kind in ("auto", "symmetrical_uncertainty")

    def _read(self, X: Any, y: Any, weight: np.ndarray | None) -> Correlations:
        """Check the data and put the correlations before them."""
        task = guess_task(y) if self.task == "auto" else self.task
        kind = self._kind(task)
        if kind is None or not kind.counts:
            self._refuse_categories()
        if kind is None:
            table, _ = read_numbers(self, X, y, task)
            self._refuse_weights(weight)
            return _given(self.correlation, table.shape[1])
        similarity = similarity_of_arrays(self, X, y, task, kind, weight)
        return _correlations(similarity, at_once=kind.counts)

    def _kind(self, task: str) -> Kind | None:
        """The similarity that correlation means for a task; None if the correlations are given."""
        if not isinstance(self.correlation, str):
            return None
        name = self.correlation
        if name == "auto":
            name = "symmetrical_uncertainty" if task == "classification" else "pearson"
        return Kind(name, "correlation")

    fit_stream = streaming.fit_stream

    def _stream_needs(self) -> Needs:
        if not isinstance(self.correlation, str):
            raise ValueError(
                "correlation is an array that holds all correlations, so there is nothing to "
                "stream; use fit."
            )
        if self.correlation == "pearson":
            self._refuse_categories()
        nominal = self._may_use_codes() and self.task != "regression"
        return Needs(self.task, nominal, instead=REGRESSION, keeps_classes=False)

    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        kind = self._kind("regression" if stream.classes is None else "classification")
        assert kind is not None
        similarity = similarity_of_stream(self, stream, kind, sample_size)
        correlations = _correlations(similarity, at_once=kind.counts)
        return self._search(correlations, watch, stream.summary)

    def _refuse_weights(self, weight: np.ndarray | None) -> None:
        if weight is not None:
            raise ValueError(
                "sample_weight was given, but correlation is an array, which samples have no part "
                "in; leave sample_weight out, or compute the array with the weights."
            )

    def _refuse_categories(self) -> None:
        by_name = isinstance(self.correlation, str)
        what = 'correlation="pearson"' if by_name else "an array as correlation"
        counted = 'correlation="symmetrical_uncertainty" with labels as y'
        refuse_categories(self.categorical_features, what, counted)

    def _describe(self, found: BestSubset, correlations: Correlations) -> None:
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
    table = symmetric_matrix("correlation", table)
    size = n_features + 1
    if table.shape != (size, size):
        raise ValueError(
            f"correlation has shape {table.shape}, but X has {n_features} features; pass a "
            f"matrix of shape {(size, size)} whose last row and column belong to the target."
        )
    if not (table >= 0.0).all():
        raise ValueError("correlation holds entries that are negative; use absolute values.")
    inner = table[:-1, :-1]
    return Correlations(table[:-1, -1].copy(), lambda j: inner[j])


def _correlations(similarity: Similarity, *, at_once: bool = False) -> Correlations:
    """The rows of a similarity for all features; those left out of it correlate with nothing."""
    n_features, kept = similarity.n_features, similarity.kept
    place = np.full(n_features, -1)
    place[kept] = np.arange(len(kept))
    relevance = np.zeros(n_features)
    relevance[kept] = similarity.relevance
    own_row: Callable[[int], np.ndarray] = similarity.row
    if at_once and len(kept) <= _AT_ONCE:
        own_row = similarity.dense().__getitem__

    def row(j: int) -> np.ndarray:
        values = np.zeros(n_features)
        if place[j] >= 0:
            values[kept] = own_row(int(place[j]))
        return values

    varies = place >= 0 if similarity.varies is None else similarity.varies
    return Correlations(relevance, own_row if len(kept) == n_features else row, varies)


# ------------------------------------------------------------------------------------- the searches


class Node(NamedTuple):
    """A subset and the sums that its merit and that of its children need."""

    subset: frozenset[int]
    relevance: float  # sum of the correlations with the target
    pairs: float  # sum of the correlations of all pairs
    rows: np.ndarray  # for each feature, the sum of its correlations with the subset


class Merit:
    """The two forms of the merit, as a function of the size of a subset and its two sums."""

    def __init__(self, form: str):
        self.form = form

    def __call__(
        self, size: int | np.ndarray, relevance: float | np.ndarray, pairs: float | np.ndarray
    ) -> np.ndarray:
        """``κ ρ_cf / sqrt(κ + κ(κ-1) ρ_ff)``, or with ``(κ-1) ρ_ff`` under the root."""
        redundancy = 2.0 * pairs
        if self.form == "printed":
            redundancy = redundancy / size
        return relevance / np.sqrt(size + redundancy)

    def of_children(self, node: Node, relevance: np.ndarray) -> np.ndarray:
        """Merit of the subset with each feature added; minus infinity for those inside."""
        merits = self(len(node.subset) + 1, node.relevance + relevance, node.pairs + node.rows)
        merits[list(node.subset)] = -np.inf
        return merits


class Correlations:
    """Correlations with the target, and rows of those between features, each computed once."""

    def __init__(
        self,
        relevance: np.ndarray,
        row: Callable[[int], np.ndarray],
        varies: np.ndarray | None = None,
    ):
        self.relevance = relevance
        self.varies = np.ones(len(relevance), dtype=bool) if varies is None else varies
        self.n = len(relevance)
        self._compute = row
        self._kept: dict[int, np.ndarray] = {}
        self.progress = Progress("", 0)

    @property
    def n_rows(self) -> int:
        """Number of rows computed so far."""
        return len(self._kept)

    def row(self, j: int) -> np.ndarray:
        """Correlations of feature ``j`` with all others."""
        if j not in self._kept:
            self._kept[j] = self._compute(j)
            self.progress.update(f"correlations of {len(self._kept):,} features")
        return self._kept[j]

    def empty(self) -> Node:
        """The subset without features."""
        return Node(frozenset(), 0.0, 0.0, np.zeros(self.n))

    def child(self, node: Node, j: int) -> Node:
        """The subset with one feature more."""
        return Node(
            node.subset | {j},
            node.relevance + float(self.relevance[j]),
            node.pairs + float(node.rows[j]),
            node.rows + self.row(j),
        )

    def node(self, subset: np.ndarray) -> Node:
        """The sums of a subset that is not empty."""
        rows = np.stack([self.row(int(j)) for j in subset])
        inner = rows[:, subset]
        pairs = 0.5 * float(inner.sum() - inner.trace())
        relevance = float(self.relevance[subset].sum())
        return Node(frozenset(subset.tolist()), relevance, pairs, rows.sum(axis=0))


class BestSubset(NamedTuple):
    """What a search found."""

    subset: list[int]
    merit: float
    n_expanded: int
    path: list[PathStep]


def best_first(correlations: Correlations, merit: Merit, stale: int, tol: float) -> BestSubset:
    """Expand the best subset not yet expanded, until ``stale`` expansions in a row gain nothing.

    Children are not put on the list one by one: each expanded subset keeps the merits of its
    children, and the list holds the best of them not yet taken.
    """
    best: tuple[float, list[int]] = (-np.inf, [])
    children: list[tuple[Node, np.ndarray]] = []  # parent, merits of those not yet taken
    queue: list[tuple[float, int, int]] = []  # minus merit, parent, child
    expanded: set[frozenset[int]] = set()
    path: list[PathStep] = []
    node, value, fruitless = correlations.empty(), 0.0, 0
    while True:
        expanded.add(node.subset)
        merits = merit.of_children(node, correlations.relevance)
        first = int(merits.argmax())
        top = float(merits[first])
        fruitless = 0 if top > best[0] + tol else fruitless + 1
        if top > best[0] + EQUAL:
            best = top, [*sorted(node.subset), first]
        details = {"best": best[0], "stale": fruitless}
        if node.subset:
            path.append(_visit(node, value, details))
        if fruitless >= stale:
            break
        children.append((node, merits))
        heapq.heappush(queue, (-top, len(children) - 1, first))
        following = _take(queue, children, expanded)
        if following is None:
            break
        value, parent, j = following
        node = correlations.child(parent, j)
    return BestSubset(best[1], best[0], len(expanded), path)


def _take(
    queue: list[tuple[float, int, int]],
    children: list[tuple[Node, np.ndarray]],
    expanded: set[frozenset[int]],
) -> tuple[float, Node, int] | None:
    """Remove the best child that is not expanded from the list; put its next sibling there."""
    while queue:
        negative, number, j = heapq.heappop(queue)
        if negative == np.inf:  # only features inside are left
            continue
        parent, merits = children[number]
        merits[j] = -np.inf
        sibling = int(merits.argmax())
        heapq.heappush(queue, (-float(merits[sibling]), number, sibling))
        if parent.subset | {j} not in expanded:
            return -negative, parent, j
    return None


def forward(correlations: Correlations, merit: Merit, stale: int, tol: float) -> BestSubset:
    """Add the best feature as long as the merit grows."""
    node, best, path = correlations.empty(), -np.inf, []
    order: list[int] = []
    while len(order) < correlations.n:
        merits = merit.of_children(node, correlations.relevance)
        j = int(np.argmax(merits))
        if merits[j] <= best + EQUAL:
            break
        best = float(merits[j])
        node = correlations.child(node, j)
        order.append(j)
        path.append(PathStep("add", (j,), len(order), best))
    return BestSubset(order, best, len(path) + 1, path)


def exhaustive(correlations: Correlations, merit: Merit, stale: int, tol: float) -> BestSubset:
    """Judge every subset; of equal merits the smallest subset, then the first in binary order.

    Subset ``m`` holds the features whose bits are set in ``m``. The sums of the subsets whose
    highest bit is ``b`` are those of the subsets below, plus feature ``b``.
    """
    n = correlations.n
    if n > MOST_FEATURES:
        raise ValueError(
            f'search="exhaustive" would judge 2**{n} subsets; it is meant for at most '
            f'{MOST_FEATURES} features. Use search="best_first", or select some features first.'
        )
    size, relevance, pairs = (np.zeros(1) for _ in range(3))
    for b in range(n):
        with_b = np.zeros(1)  # sum of the correlations of b with each subset of those before it
        for a in range(b):
            with_b = np.concatenate([with_b, with_b + correlations.row(b)[a]])
        size = np.concatenate([size, size + 1.0])
        relevance = np.concatenate([relevance, relevance + correlations.relevance[b]])
        pairs = np.concatenate([pairs, pairs + with_b])
    size[0] = 1.0  # the empty subset has no merit; avoid a division by zero
    merits = merit(size, relevance, pairs)
    merits[0] = -np.inf
    close = np.flatnonzero(merits >= merits.max() - EQUAL)
    m = int(close[np.argmin(size[close])])
    subset = [b for b in range(n) if m >> b & 1]
    path = [PathStep("visit", tuple(subset), len(subset), float(merits[m]))]
    return BestSubset(subset, float(merits[m]), len(merits) - 1, path)


def grow_within(subset: list[int], correlations: Correlations, merit: Merit) -> np.ndarray:
    """The features of a subset in the order in which forward selection among them takes them."""
    index = np.array(sorted(subset), dtype=np.intp)
    if not len(index):
        return index
    inner = [correlations.row(int(j))[index] for j in index]
    relevance = correlations.relevance[index]
    rows, order = np.zeros(len(index)), list[int]()
    total = pairs = 0.0
    for size in range(1, len(index) + 1):
        merits = merit(size, total + relevance, pairs + rows)
        merits[order] = -np.inf
        k = int(np.argmax(merits))
        total, pairs, rows = total + relevance[k], pairs + rows[k], rows + inner[k]
        order.append(k)
    return index[order]


def _visit(node: Node, value: float, details: dict[str, float]) -> PathStep:
    return PathStep("visit", tuple(sorted(node.subset)), len(node.subset), value, details)


SEARCHES = {"best_first": best_first, "forward": forward, "exhaustive": exhaustive}
