r"""RReliefF: the Relief of numeric targets.

Where :class:`~tamiz.filters.relief.ReliefF` asks whether a neighbour is of another class, RReliefF
asks how far its target is,

.. math::

    J(f) = \frac{N_{dY \wedge dF}}{N_{dY}} - \frac{N_{dF} - N_{dY \wedge dF}}{m - N_{dY}},

where the N are sums over samples and neighbours of ``diff(y)``, ``diff(f)`` and their product,
each pair with weight ``1/k``.

References
----------
.. [1] M. Robnik-Šikonja, I. Kononenko (2003). Theoretical and empirical analysis of ReliefF and
       RReliefF. Machine Learning 53.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from tamiz.base import Stopwatch
from tamiz.filters._relief_base import ReliefBase
from tamiz.filters._relief_pairs import summed_differences
from tamiz.information.scale import safe_units
from tamiz.runtime.progress import Progress
from tamiz.validation import check_regression_target


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

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        J(f), between -1 and 1. Constant features score 0 and are ranked last.
    sample_indices_ : array
        Rows whose neighbours were looked at.
    support_, ranking_, order_, selection_
        See :class:`tamiz.selector.Selector`.

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
    >>> from tamiz.filters.rrelieff import RReliefF
    >>> X = np.random.default_rng(0).random((300, 4))
    >>> y = np.abs(X[:, 0] - X[:, 1])
    >>> RReliefF(n_features_to_select=2, random_state=0).fit(X, y).support_.tolist()
    [True, True, False, False]
    """

    _parameter_constraints = {
        **ReliefBase._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }
    _needs_hits = False

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

    def fit(self, X: Any, y: Any = None) -> RReliefF:
        """Score the features and select the best.

        Parameters
        ----------
        X : array or dataframe of shape (n_samples, n_features)
            Numbers, symbols and missing values.
        y : array of shape (n_samples,)
            Numbers.

        Returns
        -------
        self
        """
        watch = Stopwatch()
        table = self._start(X)
        y = check_regression_target(y, len(table.X), labels="Use ReliefF for labels.")
        codes, y = self._sampled_target(y, None)
        return self._conclude(self._score(table.X, table.categorical, codes, y), watch)

    def _sampled_target(
        self, y: np.ndarray, classes: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        if (y == y[0]).all():
            raise ValueError(
                f"y is {y[0]:g} in all samples; RReliefF compares differences of the target, and "
                "there are none. Hand over a target that varies."
            )
        return np.zeros(len(y), dtype=np.intp), y

    def _stream_task(self) -> str:
        return "regression"

    def _groups(self, counts: np.ndarray) -> np.ndarray:
        return np.array([[[[0, counts[0]], [0, 0]]]], dtype=np.intp)

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
        found = found[:, 0]
        y = y / safe_units(np.abs(y).max())
        span = np.ptp(y)
        apart = np.abs(y[rows][:, None] - y[found]) / (span if span > 0 else 1.0)
        share = np.full(found.shape, 1 / found.shape[1])
        n_y = (share * apart).sum()
        n_f = summed_differences(diff, codes, rows, found, share, progress)
        n_both = summed_differences(diff, codes, rows, found, share * apart, progress)
        # without any difference in y, or with nothing but differences, one term has no meaning
        near = n_both / n_y if n_y > 0 else np.zeros(len(n_f))
        same = len(rows) - n_y
        return near - ((n_f - n_both) / same if same > 0 else 0.0)
