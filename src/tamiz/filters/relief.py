r"""Relief and its relatives: features that tell a sample from its nearest neighbours.

A feature is good if it differs between a sample and its nearest neighbours of other classes
(misses) and agrees between the sample and its nearest neighbours of the same class (hits). As the
neighbours are found with all features, those that matter only together are found as well, which
no score of single features can do. With ``diff`` in [0, 1] (see
:mod:`tamiz.filters._relief_tables`), ``m`` samples and ``k`` neighbours,

.. math::

    J(f) = \frac1m \sum_x \Bigl[ \sum_{C \ne c(x)} \frac{P(C)}{1 - P(c(x))}
        \frac1k \sum_{z \in M_C(x)} \mathrm{diff}(f, x, z)
        - \frac1k \sum_{z \in H(x)} \mathrm{diff}(f, x, z) \Bigr] \in [-1, 1].

Relief is the case of one hit and one miss, the miss being the nearest sample of any other class.

References
----------
.. [1] K. Kira, L. A. Rendell (1992). A practical approach to feature selection. ICML.
.. [2] I. Kononenko (1994). Estimating attributes: analysis and extensions of RELIEF. ECML.
.. [3] M. Robnik-Šikonja, I. Kononenko (2003). Theoretical and empirical analysis of ReliefF and
       RReliefF. Machine Learning 53.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from tamiz.base import Stopwatch
from tamiz.filters._relief_base import REMEDY, ReliefBase
from tamiz.filters._relief_pairs import summed_differences
from tamiz.runtime.progress import Progress
from tamiz.validation import check_classes


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

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        J(f), between -1 and 1; irrelevant features score about 0. Constant features score 0 and
        are ranked last.
    sample_indices_ : array
        Rows whose neighbours were looked at. The only sample of a class has no hit and is not
        among them.
    support_, ranking_, order_, selection_, classes_
        See :class:`tamiz.selector.Selector`.

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
    >>> from tamiz.filters.relief import ReliefF
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 5))
    >>> relief = ReliefF(n_features_to_select=2, random_state=0).fit(X, X[:, 0] ^ X[:, 1])
    >>> relief.support_.tolist()
    [True, True, False, False, False]
    """

    _parameter_constraints = {
        **ReliefBase._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

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

    def fit(self, X: Any, y: Any = None) -> ReliefF:
        """Score the features and select the best.

        Parameters
        ----------
        X : array or dataframe of shape (n_samples, n_features)
            Numbers, symbols and missing values.
        y : array of shape (n_samples,)
            Classes.

        Returns
        -------
        self
        """
        watch = Stopwatch()
        table = self._start(X)
        codes = self._check_hits(check_classes(y, len(table.X), quantity=REMEDY))
        return self._conclude(self._score(table.X, table.categorical, codes, None), watch)

    def _groups(self, counts: np.ndarray) -> np.ndarray:
        stops = np.cumsum(counts)
        bounds = np.zeros((len(counts), len(counts), 2, 2), dtype=np.intp)
        bounds[:, :, 0, 0], bounds[:, :, 0, 1] = stops - counts, stops
        return bounds

    def _weigh(
        self,
        diff: Any,
        codes: np.ndarray,
        counts: np.ndarray,
        rows: np.ndarray,
        found: Any,
        y: Any,
        progress: Progress,
    ) -> np.ndarray:
        prior = counts / counts.sum()
        own = codes[rows]
        sign = prior[None, :] / (1 - prior[own])[:, None]
        sign[np.arange(len(rows)), own] = -1.0
        return _weighted(diff, codes, rows, found, sign, progress)


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

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        J(f), between -1 and 1. Constant features score 0 and are ranked last.
    sample_indices_ : array
        Rows whose neighbours were looked at.
    support_, ranking_, order_, selection_, classes_
        See :class:`tamiz.selector.Selector`.

    See Also
    --------
    ReliefF : several neighbours, and every other class.

    References
    ----------
    .. [1] K. Kira, L. A. Rendell (1992). A practical approach to feature selection. ICML.

    Examples
    --------
    Height and weight of eight people, tall or short; what the first and the sixth say:

    >>> from tamiz.filters.relief import Relief
    >>> X = [[170, 85], [147, 75], [150, 77], [154, 81], [175, 79], [152, 80], [173, 82], [177, 84]]
    >>> y = [1, -1, -1, -1, 1, -1, 1, 1]
    >>> relief = Relief(n_samples=[0, 5], ties="index", scaling="none")
    >>> relief.fit(X, y).scores_.round(4).tolist()
    [0.4833, 0.25]
    """

    _parameter_constraints = {**ReliefBase._parameter_constraints}

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

    def _groups(self, counts: np.ndarray) -> np.ndarray:
        stops, n = np.cumsum(counts), counts.sum()
        bounds = np.zeros((len(counts), 2, 2, 2), dtype=np.intp)
        bounds[:, 0, 0, 0], bounds[:, 0, 0, 1] = stops - counts, stops  # hits
        bounds[:, 1, 0, 1] = stops - counts  # what stands before the class,
        bounds[:, 1, 1, 0], bounds[:, 1, 1, 1] = stops, n  # and behind it
        return bounds

    def _weigh(
        self,
        diff: Any,
        codes: np.ndarray,
        counts: np.ndarray,
        rows: np.ndarray,
        found: Any,
        y: Any,
        progress: Progress,
    ) -> np.ndarray:
        return _weighted(diff, codes, rows, found, np.tile([-1.0, 1.0], (len(rows), 1)), progress)


def _weighted(
    diff: Any,
    codes: np.ndarray,
    rows: np.ndarray,
    found: np.ndarray,
    sign: np.ndarray,
    progress: Progress,
) -> np.ndarray:
    """Mean over the samples of the signed means over the neighbours of each group."""
    there = found >= 0
    size = np.maximum(there.sum(axis=2), 1)
    coef = np.where(there, (sign / size)[:, :, None], 0.0) / len(rows)
    m = len(rows)
    near, weight = found.reshape(m, -1), coef.reshape(m, -1)
    return summed_differences(diff, codes, rows, near, weight, progress)
