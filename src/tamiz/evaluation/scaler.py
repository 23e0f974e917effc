"""How a table is prepared for selectors and judges: missing values filled, features scaled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tamiz.information.columns import safe_units
from tamiz.validation import TOO_LARGE, check_X

if TYPE_CHECKING:
    from tamiz.data import Dataset

#: Skewness and kurtosis from which a feature counts as heavy-tailed.
_SKEW, _KURTOSIS = 1.0, 6.0


class AutoScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Mean 0 and variance 1 for every feature, after :math:`\operatorname{asinh}` for some.

    A feature with skewness beyond ±1 or kurtosis above 6, such as an income, a count or an
    intensity, is replaced by :math:`\operatorname{asinh}((x - m)/s)` with its median m and its
    interquartile range s (over 1.349). This is linear around the median and logarithmic far away
    from it, on both sides, and keeps the order of the values. Features of two values stay as they
    are. Then all are standardised.

    Attributes
    ----------
    drawn_in_ : boolean array of shape (n_features,)
        Which features are transformed.
    center_, spread_ : arrays of shape (n_features,)
        m and s.
    mean_, scale_ : arrays of shape (n_features,)
        Mean and standard deviation after that.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.evaluation import AutoScaler
    >>> income = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [1000.0]])
    >>> AutoScaler().fit_transform(income)[[0, 3, 6], 0].round(1).tolist()
    [-0.8, -0.3, 2.4]
    """

    def fit(self, X: Any, y: Any = None) -> AutoScaler:
        """Find which features have heavy tails, and the scale of all.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : ignored

        Returns
        -------
        self : AutoScaler
        """
        table = check_X(self, X, reset=True)
        units = safe_units(np.abs(table).max(axis=0))
        X = table / units
        mean, spread = X.mean(axis=0), X.std(axis=0)
        Z = (X - mean) / np.where(spread > 0, spread, 1.0)
        square = Z**2
        heavy = np.abs((square * Z).mean(axis=0)) > _SKEW
        heavy |= (square**2).mean(axis=0) > _KURTOSIS
        places = np.flatnonzero(heavy & (spread > 0))
        low, middle, high = np.percentile(X[:, places], [25, 50, 75], axis=0)
        many = [j for j, column in enumerate(X[:, places].T) if _has_three(column)]
        self.drawn_in_ = np.zeros(X.shape[1], dtype=bool)
        self.drawn_in_[places[many]] = True
        self.center_, self.spread_ = np.zeros(X.shape[1]), np.ones(X.shape[1])
        self.center_[places] = middle * units[places]
        self.spread_[places] = np.where(high > low, (high - low) / 1.349, spread[places])
        self.spread_[places] *= units[places]
        units[self.drawn_in_] = 1.0
        Z = self._draw_in(table) / units
        self.mean_, self.scale_ = Z.mean(axis=0) * units, Z.std(axis=0) * units
        self.scale_[~(self.scale_ > 1e-12 * np.abs(self.mean_))] = 1.0
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the scaled features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Z : ndarray of the same shape
        """
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            Z = (self._draw_in(X) - self.mean_) / self.scale_
        if not np.isfinite(Z).all():
            raise ValueError(TOO_LARGE)
        return np.asarray(Z)

    def _draw_in(self, X: np.ndarray) -> np.ndarray:
        those = self.drawn_in_
        if not those.any():
            return X
        Z = X.copy()
        Z[:, those] = np.arcsinh((X[:, those] - self.center_[those]) / self.spread_[those])
        return Z


def _has_three(column: np.ndarray) -> bool:
    """Whether there are more than two values."""
    low, high = column.min(), column.max()
    return bool(((column != low) & (column != high)).any())


def preparation(
    dataset: Dataset, scale: str | None, *, fill: bool | None = None
) -> list[tuple[str, Any]]:
    """What happens to a table before a selector sees it: missing values filled, features scaled.

    ``fill`` says whether missing values are filled; by default if there are some.
    """
    has_missing = bool(np.sum(dataset.missing))
    return preparing_steps(has_missing if fill is None else fill, scale, sparse.issparse(dataset.X))


def preparing_steps(fill: bool, scale: str | None, is_sparse: bool) -> list[tuple[str, Any]]:
    """What is done to a table before selector and judge, by name; sparse ones are not centred."""
    steps: list[tuple[str, Any]] = []
    if fill:
        from sklearn.impute import SimpleImputer

        steps.append(("fill", SimpleImputer(strategy="median", keep_empty_features=True)))
    if scale == "auto" and not is_sparse:
        steps.append(("scale", AutoScaler()))
    elif scale in ("standard", "auto"):
        from sklearn.preprocessing import StandardScaler

        steps.append(("scale", StandardScaler(with_mean=not is_sparse)))
    elif scale == "minmax":
        from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler

        steps.append(("scale", MaxAbsScaler() if is_sparse else MinMaxScaler()))
    return steps
