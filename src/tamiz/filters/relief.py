r"""Relief and its relatives: features that tell a sample from its nearest neighbours.

A feature is good if it differs between a sample and its nearest neighbours of other classes
(misses) and agrees between the sample and its nearest neighbours of the same class (hits). As the
neighbours are found with all features, those that matter only together are found as well, which
no score of single features can do. With ``diff`` in [0, 1] (see
:mod:`tamiz.filters.neighbours`), ``m`` samples and ``k`` neighbours,

.. math::

    J(f) = \frac1m \sum_x \Bigl[ \sum_{C \ne c(x)} \frac{P(C)}{1 - P(c(x))}
        \frac1k \sum_{z \in M_C(x)} \mathrm{diff}(f, x, z)
        - \frac1k \sum_{z \in H(x)} \mathrm{diff}(f, x, z) \Bigr] \in [-1, 1].

Relief is the case of one hit and one miss, the miss being the nearest sample of any other class.
RReliefF, for numeric targets, asks how far the target of a neighbour is instead of whether it is of
another class,

.. math::

    J(f) = \frac{N_{dY \wedge dF}}{N_{dY}} - \frac{N_{dF} - N_{dY \wedge dF}}{m - N_{dY}},

where the N are sums over samples and neighbours of ``diff(y)``, ``diff(f)`` and their product,
each pair with weight ``1/k``.

References
----------
.. [1] K. Kira, L. A. Rendell (1992). A practical approach to feature selection. ICML.
.. [2] I. Kononenko (1994). Estimating attributes: analysis and extensions of RELIEF. ECML.
.. [3] M. Robnik-Šikonja, I. Kononenko (2003). Theoretical and empirical analysis of ReliefF and
       RReliefF. Machine Learning 53.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import Stopwatch, number_to_select, order_by
from tamiz.filters import streaming
from tamiz.filters.base import DEVICE, HOW_MANY, Filter, warn_of_nothing
from tamiz.filters.neighbours import (
    ReliefTable,
    Ties,
    build_table,
    feature_order,
    nearest,
    scale_columns,
    summed_differences,
)
from tamiz.filters.streaming import Needs, Sampling, Stream
from tamiz.gpu import lane_of
from tamiz.information.columns import read_columns, safe_units
from tamiz.information.encoding import BINNING
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import limit_threads
from tamiz.validation import (
    N_JOBS,
    Labels,
    ParameterError,
    check_classes,
    check_regression_target,
    check_sample_weight,
    check_X,
    depth_of_caller,
    refuse_duplicate_names,
    unchanged_on_error,
)

#: What to do about a numeric target.
REMEDY = "use RReliefF, which takes numbers"

#: Rows of the sample of a stream: neighbours cost the square of it.
_SAMPLED = 5000


class ReliefScores(NamedTuple):
    """Scores of all features, and which of them are constant."""

    scores: np.ndarray
    constant: np.ndarray


class ReliefBase(Filter):
    """What the three have in common: sampling, neighbours, ranking."""

    _parameter_constraints: dict[str, list[Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_samples": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            "array-like",
            None,
        ],
        "metric": [StrOptions({"manhattan", "euclidean"})],
        "scaling": [StrOptions({"range", "none"})],
        "ties": [StrOptions({"random", "index"})],
        "categorical_features": BINNING["categorical_features"],
        "threshold": [Interval(Real, None, None, closed="neither"), None],
        "n_features_to_select": HOW_MANY,
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "n_jobs": N_JOBS,
        "device": DEVICE,
    }

    sample_indices_: np.ndarray

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        n_neighbors: int = 10,
        n_samples: Any = None,
        metric: str = "manhattan",
        scaling: str = "range",
        ties: str = "random",
        categorical_features: Any = None,
        threshold: float | None = None,
        random_state: Any = None,
        verbose: bool | int = 0,
        n_jobs: int | None = None,
        device: str | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.n_samples = n_samples
        self.metric = metric
        self.scaling = scaling
        self.ties = ties
        self.categorical_features = categorical_features
        self.threshold = threshold
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.device = device

    def _start(self, X: Any) -> Any:
        """Check the parameters and the table."""
        self._validate_params()
        lane_of(self.device)  # a card that is missing is missed before the work
        refuse_duplicate_names(X)
        if sparse.issparse(X):  # scikit-learn has the sentence
            check_X(self, X, reset=True)
        return read_columns(X, self.categorical_features, estimator=self, min_samples=2)

    def _check_weight(self, sample_weight: Any, n: int) -> np.ndarray | None:
        """Checked weights, at least two of them positive."""
        if sample_weight is None:
            return None
        weight = check_sample_weight(sample_weight, n)
        used = int(np.count_nonzero(weight))
        if used < 2:
            raise ValueError(
                f"sample_weight is positive for {used} sample; {type(self).__name__} compares "
                "samples, and needs two."
            )
        return weight

    fit_stream = streaming.fit_stream

    def _stream_needs(self) -> Needs:
        return Needs(nominal=True)

    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        """Fit to a sample of the rows, which is the whole table if that is no larger."""
        sampling = Sampling.of(stream, sample_size, _SAMPLED)
        size = sampling.size
        sample = stream.sweep(sampling)
        if np.ndim(self.n_samples) and not sample.exact:
            raise ValueError(
                f"n_samples names rows, but fit_stream keeps a sample of {size:,} rows only; give "
                f"a number or a fraction, or a sample_size of at least {sample.n_rows:,}."
            )
        if not sample.exact:
            stream.notes["sample"] = (
                f"neighbours are those in a sample of {size:,} of {sample.n_rows:,} rows"
            )
        codes, y = self._sampled_target(sample.y, stream.classes)
        scored = self._score(sample.X, stream.schema.categorical, codes, y)
        self.sample_indices_ = sample.rows[self.sample_indices_]
        return self._conclude(scored, watch, **stream.summary())

    def _sampled_target(
        self, y: np.ndarray, classes: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Class codes of the sample, those without rows left out; and a numeric target as it is.

        Sets ``classes_``, and refuses what ``fit`` refuses.
        """
        labels = check_classes(np.asarray(classes)[y], len(y), quantity=REMEDY)
        return self._check_hits(labels), None

    def _check_hits(self, labels: Labels) -> np.ndarray:
        self.classes_, codes = labels
        if np.bincount(codes).max() < 2:
            raise ValueError(
                f"Every class of y has one sample only ({len(codes)} classes); "
                f"{type(self).__name__} needs a class with at least two, for the nearest hit."
            )
        return codes

    def _score(
        self,
        X: np.ndarray,
        symbolic: np.ndarray,
        codes: np.ndarray,
        y: Any,
        weight: np.ndarray | None = None,
    ) -> ReliefScores:
        """Sample, find neighbours, sum up differences; returns scores and constant features."""
        with limit_threads(self.n_jobs):
            if weight is None:
                return self._sum_up(X, symbolic, codes, y, np.ones(len(codes)))
            kept = np.flatnonzero(weight)
            with self._numbered_among(kept, len(weight)):
                part = X[kept], symbolic, codes, None if y is None else y[kept], weight[kept]
                found = self._sum_up(*part)
            self.sample_indices_ = kept[self.sample_indices_]
            return found

    @contextmanager
    def _numbered_among(self, kept: np.ndarray, n: int) -> Iterator[None]:
        """Let row numbers in ``n_samples`` be those among the rows of positive weight."""
        given = self.n_samples
        if np.ndim(given) and len(kept) < n:
            rows = np.asarray(given)
            inside = rows.ndim == 1 and rows.dtype.kind in "iu"
            if inside and len(rows) and 0 <= rows.min() <= rows.max() < n:
                absent = np.setdiff1d(rows, kept)
                if len(absent):
                    raise ValueError(f"n_samples names row {absent[0]}, whose weight is zero.")
                self.n_samples = np.searchsorted(kept, rows)
        try:
            yield
        finally:
            self.n_samples = given

    def _sum_up(
        self, X: np.ndarray, symbolic: np.ndarray, codes: np.ndarray, y: Any, weight: np.ndarray
    ) -> ReliefScores:
        random = check_random_state(self.random_state)
        k, n = self._n_neighbors(len(codes)), len(codes)
        order = np.argsort(codes, kind="stable")  # classes become ranges
        codes = codes[order]
        counts = np.bincount(codes)
        columns = scale_columns(X, order, symbolic)
        distance, diff = build_table(columns, codes, len(counts), self.scaling == "range")
        place = np.empty(n, dtype=np.intp)
        place[order] = np.arange(n)
        usable = np.sort(order[counts[codes] > 1]) if self._needs_hits else np.arange(n)
        if np.ndim(self.n_samples) == 0:  # not where the rows were named
            self._warn_of_lonely(n - len(usable))
        chosen = self._sample(usable, n, random)
        self.sample_indices_ = chosen
        at_random = self.ties == "random"
        seed = np.uint64(random.randint(2**31 - 1) if at_random else 0)
        squared = self.metric == "euclidean"
        rows, weight = np.sort(place[chosen]), weight[order]
        groups, target = self._groups(counts), None if y is None else y[order]
        scores = np.zeros(X.shape[1])
        with Progress(type(self).__name__, self.verbose) as progress:
            ties = Ties(order, seed, at_random)
            lane = lane_of(self.device)
            found = nearest(distance, rows, groups, k, ties, squared, progress, lane)
            weighed = self._weigh(diff, weight, rows, found, target, progress)
        scores[feature_order(columns)] = weighed
        scores = np.where(columns.constant, 0.0, np.clip(scores, -1.0, 1.0))
        return ReliefScores(scores, columns.constant)

    def _warn_of_lonely(self, n: int) -> None:
        """Warn of samples without another one of their class."""
        if n:
            are = (
                "sample is the only one of its" if n == 1 else "samples are the only ones of their"
            )
            warnings.warn(
                f"{n} {are} class and without a nearest hit: {type(self).__name__} looks for no "
                "neighbours of such samples, though they may be misses of others. Merge rare "
                "classes, or leave them out.",
                UserWarning,
                stacklevel=depth_of_caller(),
            )

    def _sample(self, usable: np.ndarray, n: int, random: np.random.RandomState) -> np.ndarray:
        """Indices of the samples whose neighbours are looked at."""
        wanted = self.n_samples
        if wanted is None:
            return usable
        if isinstance(wanted, Real):
            m = (
                int(wanted)
                if isinstance(wanted, Integral)
                else max(1, round(float(wanted) * len(usable)))
            )
            if m > n:
                raise ValueError(
                    f"n_samples={m} exceeds the {n} rows of X; use at most {n}, or None for all."
                )
            m = min(m, len(usable))
            return np.sort(random.choice(usable, m, replace=False))
        given = np.asarray(wanted)
        whole = given.ndim == 1 and len(given) and given.dtype.kind in "iu"
        if not whole or given.min() < 0 or given.max() >= n:
            mask = "; a mask becomes row numbers by numpy.flatnonzero" * (given.dtype.kind == "b")
            shown = np.array2string(given, threshold=6, separator=", ")
            raise ParameterError(
                f"n_samples={shown} is not understood; as a list it must hold row numbers from "
                f"0 to {n - 1}{mask}.",
                parameter="n_samples",
                value=wanted,
            )
        alone = np.setdiff1d(given, usable)
        if len(alone):
            raise ValueError(
                f"n_samples names row {alone[0]}, the only one of its class: it has no nearest "
                "hit. Leave it out."
            )
        return given.astype(np.intp)

    def _conclude(self, scored: ReliefScores, watch: Stopwatch, **notes: Any) -> Any:
        scores, constant = scored
        if scores.max() <= 0.0:
            warn_of_nothing(self, "no score is above 0", ", or take more neighbours")
        order = order_by(np.where(constant, -np.inf, scores))
        wanted, chosen = self.n_features_to_select, None
        if self.threshold is not None and wanted in (None, "auto"):
            chosen = (scores > self.threshold) & ~constant
        n_selected = number_to_select(wanted, len(scores), None)
        notes = {"n_samples": len(self.sample_indices_), **notes}
        self._finish(
            order=order,
            n_selected=n_selected,
            support=chosen,
            scores=scores,
            seconds=watch.seconds,
            notes=notes,
        )
        return self

    _needs_hits = True

    def _n_neighbors(self, n: int) -> int:
        return int(min(getattr(self, "n_neighbors", 1), n - 1))

    @abstractmethod
    def _groups(self, counts: np.ndarray) -> np.ndarray:
        """Ranges in which a sample of each class looks for neighbours."""

    @abstractmethod
    def _weigh(
        self,
        diff: ReliefTable,
        weight: np.ndarray,
        rows: np.ndarray,
        found: Any,
        y: Any,
        progress: Progress,
    ) -> np.ndarray:
        """Scores in the order of the table."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


class ReliefF(ReliefBase):
    """ReliefF: k nearest hits, and k nearest misses of every other class.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them if there is no threshold either.
    n_neighbors : int, default=10
        Neighbours of each class; classes that have fewer lend all they have.
    n_samples : int, float, array of row numbers or None, default=None
        Samples whose neighbours are looked at: a number or a fraction drawn at random, or certain
        rows; all by default.
    metric : {"manhattan", "euclidean"}, default="manhattan"
        Distance that decides who is near.
    scaling : {"range", "none"}, default="range"
        Whether features enter the distance divided by their range, or as they are (a differing
        symbol then counts 1). Scores always use differences divided by the range.
    ties : {"random", "index"}, default="random"
        Which of several samples at the same distance is the nearer one.
    categorical_features : array-like, optional
        Columns that hold symbols: indices, names or a mask. Columns that hold text or, in a data
        frame, categories always do.
    threshold : float, optional
        Select the features whose score exceeds it, if ``n_features_to_select`` is not given.
    random_state : int, RandomState or None, default=None
        Draws samples and breaks ties. With an integer the result is the same on any machine and
        with any number of threads.
    verbose : bool or int, default=0
        Show progress.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.
    device : {"cpu", "cuda", "auto"} or None, default=None
        Where distances are computed: on the CPU, on a GPU, or on a GPU if there is one that works.
        The neighbours and the scores are the same.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        J(f), between -1 and 1; irrelevant features score about 0. Constant features score 0 and
        are ranked last.
    sample_indices_ : array
        Rows whose neighbours were looked at. The only sample of a class has no hit and is not
        among them.
    support_, ranking_, order_, selection_, classes_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    Relief : one hit and one miss.
    RReliefF : for numeric targets.

    Notes
    -----
    Missing values need not be filled in: a difference from a missing value is its expectation
    given the class of the sample that lacks it.

    References
    ----------
    .. [1] I. Kononenko (1994). Estimating attributes: analysis and extensions of RELIEF. ECML.
    .. [2] M. Robnik-Šikonja, I. Kononenko (2003). Theoretical and empirical analysis of ReliefF
           and RReliefF. Machine Learning 53.

    Examples
    --------
    The class is the exclusive or of the first two features: either alone is worthless.

    >>> import numpy as np
    >>> from tamiz.filters import ReliefF
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 5))
    >>> relief = ReliefF(n_features_to_select=2, random_state=0).fit(X, X[:, 0] ^ X[:, 1])
    >>> relief.support_.tolist()
    [True, True, False, False, False]
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ReliefF:
        """Score the features and select the best.

        Parameters
        ----------
        X : array or dataframe of shape (n_samples, n_features)
            Numbers, symbols and missing values.
        y : array of shape (n_samples,)
            Classes.
        sample_weight : array of shape (n_samples,), optional
            Weights: of the samples in the mean over them, of neighbours in the mean over those, and
            in the proportions of the classes. Only ratios count; samples of weight zero are left
            out. A weight of two is no doubled row, which would be its own nearest hit.

        Returns
        -------
        self
        """
        watch = Stopwatch()
        with unchanged_on_error(self):
            table = self._start(X)
            weight = self._check_weight(sample_weight, len(table.X))
            labels = check_classes(y, len(table.X), weight=weight, quantity=REMEDY)
            if weight is not None:
                labels = labels._replace(codes=labels.codes[weight > 0])
            codes = self._check_hits(labels)
            scored = self._score(table.X, table.categorical, codes, None, weight)
            return self._conclude(scored, watch)

    def _groups(self, counts: np.ndarray) -> np.ndarray:
        stops = np.cumsum(counts)
        bounds = np.zeros((len(counts), len(counts), 2, 2), dtype=np.intp)
        bounds[:, :, 0, 0], bounds[:, :, 0, 1] = stops - counts, stops
        return bounds

    def _weigh(
        self,
        diff: ReliefTable,
        weight: np.ndarray,
        rows: np.ndarray,
        found: Any,
        y: Any,
        progress: Progress,
    ) -> np.ndarray:
        prior = np.bincount(diff.codes, weights=weight)
        prior = prior / prior.sum()
        own = diff.codes[rows]
        rest = np.maximum(1 - prior[own], np.finfo(float).tiny)  # of other classes, all but nothing
        sign = prior[None, :] / rest[:, None]
        sign[np.arange(len(rows)), own] = -1.0
        return _weighted(diff, weight, rows, found, sign, progress)


class Relief(ReliefF):
    """Relief: the nearest hit and the nearest miss of each sample.

    As published, for two classes; with more, the miss is the nearest sample of any other class.
    Distances are by default sums of differences as they stand: scale features of different units,
    or say ``scaling="range"``.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them if there is no threshold either.
    n_samples : int, float, array of row numbers or None, default=None
        Samples whose neighbours are looked at: a number or a fraction drawn at random, or certain
        rows; all by default.
    metric : {"manhattan", "euclidean"}, default="manhattan"
        Distance that decides who is near.
    scaling : {"range", "none"}, default="range"
        Whether features enter the distance divided by their range, or as they are, as published
        (a differing symbol then counts 1): the order then depends on the units. Scores always use
        differences divided by the range. (``"none"`` was the default once.)
    ties : {"random", "index"}, default="random"
        Which of several samples at the same distance is the nearer one.
    categorical_features : array-like, optional
        Columns that hold symbols: indices, names or a mask. Columns that hold text or, in a data
        frame, categories always do.
    threshold : float, optional
        Select the features whose score exceeds it, if ``n_features_to_select`` is not given.
    random_state : int, RandomState or None, default=None
        Draws samples and breaks ties.
    verbose : bool or int, default=0
        Show progress.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.
    device : {"cpu", "cuda", "auto"} or None, default=None
        Where distances are computed: on the CPU, on a GPU, or on a GPU if there is one that works.
        The neighbours and the scores are the same.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        J(f), between -1 and 1. Constant features score 0 and are ranked last.
    sample_indices_ : array
        Rows whose neighbours were looked at.
    support_, ranking_, order_, selection_, classes_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    ReliefF : several neighbours, and every other class.

    References
    ----------
    .. [1] K. Kira, L. A. Rendell (1992). A practical approach to feature selection. ICML.

    Examples
    --------
    Height and weight of eight people, tall or short; what the first and the sixth say:

    >>> from tamiz.filters import Relief
    >>> X = [[170, 85], [147, 75], [150, 77], [154, 81], [175, 79], [152, 80], [173, 82], [177, 84]]
    >>> y = [1, -1, -1, -1, 1, -1, 1, 1]
    >>> relief = Relief(n_samples=[0, 5], ties="index", scaling="none")
    >>> relief.fit(X, y).scores_.round(4).tolist()
    [0.4833, 0.25]
    """

    _parameter_constraints = {
        name: options
        for name, options in ReliefBase._parameter_constraints.items()
        if name != "n_neighbors"
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        n_samples: Any = None,
        metric: str = "manhattan",
        scaling: str = "range",
        ties: str = "random",
        categorical_features: Any = None,
        threshold: float | None = None,
        random_state: Any = None,
        verbose: bool | int = 0,
        n_jobs: int | None = None,
        device: str | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_samples = n_samples
        self.metric = metric
        self.scaling = scaling
        self.ties = ties
        self.categorical_features = categorical_features
        self.threshold = threshold
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.device = device

    def _groups(self, counts: np.ndarray) -> np.ndarray:
        stops, n = np.cumsum(counts), counts.sum()
        bounds = np.zeros((len(counts), 2, 2, 2), dtype=np.intp)
        bounds[:, 0, 0, 0], bounds[:, 0, 0, 1] = stops - counts, stops  # hits
        bounds[:, 1, 0, 1] = stops - counts  # what stands before the class,
        bounds[:, 1, 1, 0], bounds[:, 1, 1, 1] = stops, n  # and behind it
        return bounds

    def _weigh(
        self,
        diff: ReliefTable,
        weight: np.ndarray,
        rows: np.ndarray,
        found: Any,
        y: Any,
        progress: Progress,
    ) -> np.ndarray:
        sign = np.tile([-1.0, 1.0], (len(rows), 1))
        return _weighted(diff, weight, rows, found, sign, progress)


class RReliefF(ReliefBase):
    """RReliefF: ReliefF for a numeric target.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them if there is no threshold either.
    n_neighbors : int, default=10
        Number of nearest neighbours.
    n_samples : int, float, array of row numbers or None, default=None
        Samples whose neighbours are looked at: a number or a fraction drawn at random, or certain
        rows; all by default.
    metric : {"manhattan", "euclidean"}, default="manhattan"
        Distance that decides who is near.
    scaling : {"range", "none"}, default="range"
        Whether features enter the distance divided by their range, or as they are (a differing
        symbol then counts 1).
    ties : {"random", "index"}, default="random"
        Which of several samples at the same distance is the nearer one.
    categorical_features : array-like, optional
        Columns that hold symbols: indices, names or a mask. Columns that hold text or, in a data
        frame, categories always do.
    threshold : float, optional
        Select the features whose score exceeds it, if ``n_features_to_select`` is not given.
    random_state : int, RandomState or None, default=None
        Draws samples and breaks ties.
    verbose : bool or int, default=0
        Show progress.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.
    device : {"cpu", "cuda", "auto"} or None, default=None
        Where distances are computed: on the CPU, on a GPU, or on a GPU if there is one that works.
        The neighbours and the scores are the same.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        J(f), between -1 and 1. Constant features score 0 and are ranked last.
    sample_indices_ : array
        Rows whose neighbours were looked at.
    support_, ranking_, order_, selection_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    ReliefF : for classes.

    References
    ----------
    .. [1] M. Robnik-Šikonja, I. Kononenko (2003). Theoretical and empirical analysis of ReliefF
           and RReliefF. Machine Learning 53.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.filters import RReliefF
    >>> X = np.random.default_rng(0).random((300, 4))
    >>> y = np.abs(X[:, 0] - X[:, 1])
    >>> RReliefF(n_features_to_select=2, random_state=0).fit(X, y).support_.tolist()
    [True, True, False, False]
    """

    _needs_hits = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> RReliefF:
        """Score the features and select the best.

        Parameters
        ----------
        X : array or dataframe of shape (n_samples, n_features)
            Numbers, symbols and missing values.
        y : array of shape (n_samples,)
            Numbers.
        sample_weight : array of shape (n_samples,), optional
            Weights: of the samples in the sums over them, and of neighbours in the means over
            those. Only ratios count; samples of weight zero are left out.

        Returns
        -------
        self
        """
        watch = Stopwatch()
        with unchanged_on_error(self):
            table = self._start(X)
            y = check_regression_target(y, len(table.X), labels="Use ReliefF for labels.")
            weight = self._check_weight(sample_weight, len(table.X))
            codes, _ = self._sampled_target(y if weight is None else y[weight > 0], None)
            scored = self._score(table.X, table.categorical, codes, y, weight)
            return self._conclude(scored, watch)

    def _sampled_target(
        self, y: np.ndarray, classes: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        if (y == y[0]).all():
            raise ValueError(
                f"y is {y[0]:g} in all samples; RReliefF compares differences of the target, and "
                "there are none. Pass a target that varies."
            )
        return np.zeros(len(y), dtype=np.intp), y

    def _stream_needs(self) -> Needs:
        return Needs(task="regression", nominal=True)

    def _groups(self, counts: np.ndarray) -> np.ndarray:
        return np.array([[[[0, counts[0]], [0, 0]]]], dtype=np.intp)

    def _weigh(
        self,
        diff: ReliefTable,
        weight: np.ndarray,
        rows: np.ndarray,
        found: Any,
        y: Any,
        progress: Progress,
    ) -> np.ndarray:
        found = found[:, 0]
        y = y / safe_units(np.abs(y).max())
        span = np.ptp(y)
        apart = np.abs(y[rows][:, None] - y[found]) / (span if span > 0 else 1.0)
        lent = weight[found]
        lent = (lent / lent.sum(axis=1, keepdims=True)) * _relative(weight[rows])[:, None]
        n_y = (lent * apart).sum()
        n_f = summed_differences(diff, rows, found, lent, progress)
        n_both = summed_differences(diff, rows, found, lent * apart, progress)
        # without any difference in y, or with nothing but differences, one term has no meaning
        near = n_both / n_y if n_y > 0 else np.zeros(len(n_f))
        same = len(rows) - n_y
        return near - ((n_f - n_both) / same if same > 0 else 0.0)


def _weighted(
    diff: ReliefTable,
    weight: np.ndarray,
    rows: np.ndarray,
    found: np.ndarray,
    sign: np.ndarray,
    progress: Progress,
) -> np.ndarray:
    """Mean over the samples of the signed means over the neighbours of each group, all weighted."""
    lent = np.where(found >= 0, weight[found], 0.0)
    total = lent.sum(axis=2)
    # in units of a power of two: reciprocals of the least weights would be infinite
    exponent = np.frexp(np.where(total > 0, total, 1.0))[1]
    lent, total = np.ldexp(lent, -exponent[:, :, None]), np.ldexp(total, -exponent)
    per_unit = sign / np.where(total > 0, total, 1.0)
    coef = per_unit[:, :, None] * lent / len(rows) * _relative(weight[rows])[:, None, None]
    m = len(rows)
    near, factor = found.reshape(m, -1), coef.reshape(m, -1)
    return summed_differences(diff, rows, near, factor, progress)


def _relative(weight: np.ndarray) -> np.ndarray:
    """Weights as multiples of their mean."""
    relative: np.ndarray = weight / weight.mean()
    return relative
