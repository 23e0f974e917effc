"""StableFeatures: features by how little, or how much, they change over time.

The score is the population stability index (:mod:`tamiz.information.population`) of the period that
is furthest from the first one.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import Selector, Stopwatch, number_to_select, order_by
from tamiz.filters.base import HOW_MANY
from tamiz.information.columns import read_columns
from tamiz.information.encoding import BINNING
from tamiz.information.population import NO_MOMENT, population_stability
from tamiz.validation import (
    as_numpy,
    check_times,
    depth_of_caller,
    holds_dates,
    is_frame,
    unchanged_on_error,
)


class StableFeatures(Selector):
    """Rank features by how stable they are over time, and drop those that change.

    What a model knows of a feature is of little use if the feature is another one by the time it is
    applied. The target is not looked at: a stable feature may be useless, and one that changes may
    be the best; it goes before a selector that looks, or shows what to look at.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many are selected, of those within ``limit``; without a limit half of them by default,
        with one all.
    limit : float, default=None
        Features whose index reaches it in some period, beyond what chance may give, are not
        selected; 0.1 is usually called a small change and 0.25 another population. With
        ``keep="changed"`` only these are.
    keep : {"stable", "changed"}, default="stable"
        Which features come first.
    n_periods : int, default=6
        Number of periods of about equally many rows; fewer if there are not as many moments. The
        first one is what the others are compared with.
    bins : {"frequency", "width", "mean_std"}, default="frequency"
        How continuous columns are cut, by the rows of the first period.
    n_bins : int, default=10
        Number of bins for "frequency" and "width".
    categorical_features : array-like, default=None
        Features whose values are categories: indices, names or a mask. Columns that hold text or,
        in a data frame, categories always are.
    smoothing : float, default=0.5
        Rows that are added to each bin, divided as all rows are.

    Attributes
    ----------
    index_ : array of shape (n_periods, n_features)
        Population stability index of each later period against the first one.
    chance_limit_ : array of shape (n_periods, n_features)
        What the index exceeds once in a thousand times if nothing changes.
    periods_ : list of str
        What the later periods are called.
    scores_ : array of shape (n_features,)
        The greatest index of each feature; its negative with ``keep="stable"``.
    support_, ranking_, order_, selection_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    tamiz.evaluation.population_stability : The index itself, as a table and a picture.

    References
    ----------
    .. [1] N. Siddiqi (2006). Credit risk scorecards. Wiley.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.filters import StableFeatures
    >>> X = np.random.default_rng(0).normal(size=(1200, 3))
    >>> X[600:, 1] += 0.8
    >>> found = StableFeatures(limit=0.25).fit(X, times=np.arange(1200))
    >>> found.get_support(indices=True), found.scores_.round(1)
    (array([0, 2]), array([-0.1, -0.6, -0.1]))
    """

    _parameter_constraints: dict[str, Any] = {
        "n_features_to_select": HOW_MANY,
        "limit": [Interval(Real, 0, None, closed="neither"), None],
        "keep": [StrOptions({"stable", "changed"})],
        "n_periods": "no_validation",  # these are checked where they are used
        "bins": [StrOptions({"frequency", "width", "mean_std"})],
        **{name: BINNING[name] for name in ("n_bins", "categorical_features")},
        "smoothing": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        limit: float | None = None,
        keep: str = "stable",
        n_periods: int = 6,
        bins: str = "frequency",
        n_bins: int = 10,
        categorical_features: Any = None,
        smoothing: float = 0.5,
    ):
        self.n_features_to_select = n_features_to_select
        self.limit = limit
        self.keep = keep
        self.n_periods = n_periods
        self.bins = bins
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.smoothing = smoothing

    def fit(self, X: Any, y: Any = None, *, times: Any = None) -> StableFeatures:
        """Compare the periods with the first one.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Data; may have missing values, which are a bin of their own, and categories.
        y : ignored
            Dates are refused unless there are ``times``: they belong there.
        times : array of shape (n_samples,), optional
            Dates or numbers. Rows of one moment stay together. By default rows are taken to be in
            the order of their time, with a warning unless a data frame has an index of dates that
            are in order.

        Returns
        -------
        self
        """
        self._validate_params()
        watch = Stopwatch()
        with unchanged_on_error(self):
            X = as_numpy(X)
            table = read_columns(X, self.categorical_features, estimator=self, reset=True)
            n, p = table.X.shape
            moments = _moments(X, y, times, n)
            found = population_stability(
                X,
                time=moments,
                n_periods=self.n_periods,
                bins=self.bins,
                n_bins=self.n_bins,
                categorical_features=self.categorical_features,
                smoothing=self.smoothing,
            )
            greatest = found.values.max(axis=0)
            scores = -greatest if self.keep == "stable" else greatest
            allowed = np.ones(p, dtype=bool)
            if self.limit is not None:
                allowed = (found.beyond_chance >= self.limit) == (self.keep == "changed")
            count = int(allowed.sum())
            own = None if self.limit is None else count
            n_selected = min(number_to_select(self.n_features_to_select, p, own), count)
            self.index_, self.chance_limit_ = found.values, found.limit
            self.periods_ = list(found.periods)
            self._finish(
                order=order_by(allowed.astype(np.float64), scores),
                n_selected=n_selected,
                scores=scores,
                seconds=watch.seconds,
                notes={"criterion": "population stability index", "periods": self.periods_},
            )
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def _moments(X: Any, y: Any, times: Any, n_samples: int) -> np.ndarray:
    """The times of the rows; without any their order, of which a warning tells."""
    if times is not None:
        return check_times(times, n_samples, unknown=NO_MOMENT)
    if y is not None and holds_dates(y):
        raise ValueError(
            "y holds dates, and StableFeatures does not look at y; pass them as times=, "
            "fit(X, times=dates)."
        )
    if not _in_order_of_dates(X):
        warnings.warn(
            "StableFeatures got no times: rows are taken to be in the order of time; pass times=, "
            "dates or numbers, one for each row.",
            UserWarning,
            stacklevel=depth_of_caller(),
        )
    return np.arange(n_samples)


def _in_order_of_dates(X: Any) -> bool:
    """Whether the rows of a pandas table are named by dates, in their order."""
    index: Any = getattr(X, "index", None) if is_frame(X) else None
    dated = type(index).__name__ in ("DatetimeIndex", "PeriodIndex")
    return dated and bool(index.is_monotonic_increasing)
