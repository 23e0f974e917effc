"""How a table is prepared for selectors and judges: filled, adjusted for covariates, scaled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tamiz.callbacks import TakesCallbacks
from tamiz.display import SHOWN_FEATURES, Evidence, importance_table
from tamiz.information.columns import safe_units
from tamiz.validation import (
    TOO_LARGE,
    check_counted_rows,
    check_features,
    check_names,
    check_sample_weight,
    check_X,
    names_for,
)

if TYPE_CHECKING:
    from tamiz.data import Dataset

#: Skewness and kurtosis from which a feature counts as heavy-tailed.
_SKEW, _KURTOSIS = 1.0, 6.0
#: What counts as more rows than this counts as so many: no proportion changes, and sums are finite.
_MOST_ROWS = 2.0**100


class AutoScaler(TakesCallbacks, Evidence, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> AutoScaler:
        """Find which features have heavy tails, and the scale of all.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Numbers of rows that each sample stands for, in means, deviations and quartiles;
            weights of a sum below the number of samples, such as fractions of one, are scaled up
            to it. Samples of weight zero are left out.

        Returns
        -------
        self : AutoScaler
        """
        table, _, weight = check_counted_rows(check_X(self, X, reset=True), None, sample_weight)
        units = safe_units(np.abs(table).max(axis=0))
        X = table / units
        weight = _numbers_of_rows(weight)
        mean, spread = _mean(X, weight), _deviation(X, weight)
        Z = (X - mean) / np.where(spread > 0, spread, 1.0)
        square = Z**2
        heavy = np.abs(_mean(square * Z, weight)) > _SKEW
        heavy |= _mean(square**2, weight) > _KURTOSIS
        places = np.flatnonzero(heavy & (spread > 0))
        low, middle, high = _quartiles(X[:, places], weight)
        many = [j for j, column in enumerate(X[:, places].T) if _has_three(column)]
        self.drawn_in_ = np.zeros(X.shape[1], dtype=bool)
        self.drawn_in_[places[many]] = True
        self.center_, self.spread_ = np.zeros(X.shape[1]), np.ones(X.shape[1])
        self.center_[places] = middle * units[places]
        self.spread_[places] = np.where(high > low, (high - low) / 1.349, spread[places])
        wide = self.spread_[places] * units[places]
        self.spread_[places] = np.maximum(wide, np.finfo(float).smallest_subnormal)
        units[self.drawn_in_] = 1.0
        Z = self._draw_in(table) / units
        self.mean_, self.scale_ = _mean(Z, weight) * units, _deviation(Z, weight) * units
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

    def _evidence(self) -> dict[str, Any]:
        if not hasattr(self, "drawn_in_"):
            return {}
        names = names_for(getattr(self, "feature_names_in_", None), self.n_features_in_)
        those = np.flatnonzero(self.drawn_in_).tolist()
        found: dict[str, Any] = {"features with heavy tails, drawn in": len(those)}
        if those:
            more = " …" if len(those) > SHOWN_FEATURES else ""
            found["which"] = ", ".join(str(names[j]) for j in those[:SHOWN_FEATURES]) + more
        return found

    def _draw_in(self, X: np.ndarray) -> np.ndarray:
        those = self.drawn_in_
        if not those.any():
            return X
        Z = X.copy()
        part, center, spread = X[:, those], self.center_[those], self.spread_[those]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            away = np.arcsinh((part - center) / spread)
            # arcsinh(x) is log(2x) from far below the largest number on
            half = 0.5 * part - 0.5 * center
            far = np.sign(half) * (np.log(np.abs(half)) - np.log(spread) + 2.0 * np.log(2.0))
        Z[:, those] = np.where(np.isinf(away), far, away)
        return Z


def _numbers_of_rows(weight: np.ndarray | None) -> np.ndarray | None:
    """Weights whose sum is at least their number, and within float64."""
    if weight is None:
        return None
    if weight.max() > _MOST_ROWS:
        return weight / weight.max() * _MOST_ROWS
    if weight.sum() >= len(weight):
        return weight
    weight = weight / weight.max()  # first: the smallest have no reciprocal in float64
    return weight * (len(weight) / weight.sum())


def _mean(X: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    if weight is None:
        return X.mean(axis=0)
    return X[0] + (weight / weight.sum()) @ (X - X[0])  # exact where all are equal


def _deviation(X: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    if weight is None:
        return X.std(axis=0)
    return np.sqrt(_mean((X - _mean(X, weight)) ** 2, weight))


def _quartiles(X: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Quartiles of every column, of weighted rows as if each were there so many times."""
    if weight is None:
        return np.percentile(X, [25, 50, 75], axis=0)
    order = np.argsort(X, axis=0, kind="stable")
    upto = np.cumsum(weight[order], axis=0)
    # sums of fractions that are integers but for rounding
    whole, rounding = np.rint(upto), 8 * np.finfo(float).eps * np.sqrt(len(weight)) * upto[-1]
    upto = np.where(np.abs(upto - whole) <= rounding, whole, upto)
    found = np.empty((3, X.shape[1]))
    for j, (rows, reached) in enumerate(zip(order.T, upto.T, strict=True)):
        # where the rows that a sample stands for end, among all; rounding must not pass the last
        place = np.array([0.25, 0.5, 0.75]) * max(reached[-1] - 1.0, 0.0)
        below = np.floor(place)
        ends = [np.searchsorted(reached, row, side="right") for row in (below, below + 1.0)]
        low, high = (X[rows[np.minimum(end, len(X) - 1)], j] for end in ends)
        found[:, j] = low + (place - below) * (high - low)
    return found


def _has_three(column: np.ndarray) -> bool:
    """Whether there are more than two values."""
    low, high = column.min(), column.max()
    return bool(((column != low) & (column != high)).any())


class CovariateAdjuster(TakesCallbacks, Evidence, TransformerMixin, BaseEstimator):
    r"""Features without what covariates say about them: residuals of a linear fit.

    Each feature is regressed, with an intercept, on the covariates (age, batch, ...) of the samples
    it is fitted to; what is left of it takes its place, and the covariates leave the table. In a
    pipeline under cross-validation the fit sees the training part alone. Two samples that differ
    only by what the covariates predict of them then look the same. A feature of which nothing but
    rounding is left is zero.

    A feature that predicts the target *because* it follows the covariates loses that. So does one
    that a cause of both drives: what is adjusted for is a question about causes, not about tables.

    Parameters
    ----------
    covariates : list of str or int, default=()
        Columns to adjust for, by name or position: numbers, and categories as indicators. Without
        any, features are centred and nothing else.

    Attributes
    ----------
    covariates_, features_ : arrays of int
        Positions of the covariates, and of the other columns.
    coef_ : array of shape (n_covariates, n_features)
        Slopes, and
    center_, mean_ : arrays
        the means of covariates and features around which they turn.
    gone_ : boolean array of shape (n_features,)
        Features that the covariates determine.
    explained_ : array of shape (n_features,)
        Fraction of the variance of each feature that the covariates explain.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.evaluation import CovariateAdjuster
    >>> age = np.array([20.0, 30.0, 40.0, 50.0])
    >>> pressure = 100 + age / 2 + np.array([1.0, -1.0, -1.0, 1.0])
    >>> adjuster = CovariateAdjuster([0]).fit(np.column_stack([age, pressure]))
    >>> adjuster.transform(np.column_stack([age, pressure])).ravel().round(6).tolist()
    [1.0, -1.0, -1.0, 1.0]
    >>> adjuster.explained_.round(2).tolist()
    [0.97]
    """

    def __init__(self, covariates: Any = ()):
        self.covariates = covariates

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> CovariateAdjuster:
        """Regress every feature on the covariates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            Samples.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples in the regression; those of weight zero are left out.

        Returns
        -------
        self : CovariateAdjuster
        """
        table = check_X(self, X, reset=True)
        names = getattr(self, "feature_names_in_", None)
        self.covariates_ = check_features(self.covariates, "covariates", table.shape[1], names)
        self.features_ = np.setdiff1d(np.arange(table.shape[1]), self.covariates_)
        if not len(self.features_):
            raise ValueError(
                f"covariates names every column of X (n_features={table.shape[1]}); no feature is "
                "left."
            )
        factor = 1.0
        if sample_weight is not None:
            weight = check_sample_weight(sample_weight, len(table))
            table, weight = table[weight > 0], weight[weight > 0]
            factor = np.sqrt(weight / weight.mean())[:, None]
        units = safe_units(np.abs(table).max(axis=0))
        table = table / units
        centre = (factor * (factor * table)).mean(axis=0)
        table = factor * (table - centre)
        known, features = table[:, self.covariates_], table[:, self.features_]
        slopes = np.linalg.lstsq(known, features, rcond=None)[0]
        unit, own = units[self.features_], units[self.covariates_]
        self.center_, self.mean_ = own * centre[self.covariates_], unit * centre[self.features_]
        with np.errstate(over="ignore", under="ignore"):
            self.coef_ = slopes * (unit / own[:, None])
        if not np.isfinite(self.coef_).all():
            raise ValueError(TOO_LARGE)
        before = (features**2).sum(axis=0)
        after = ((features - known @ slopes) ** 2).sum(axis=0)
        varies = before > 0
        self.explained_ = np.zeros(len(before))
        self.explained_[varies] = np.clip(1 - after[varies] / before[varies], 0.0, 1.0)
        # of a sum of squares, what rounding leaves where the covariates say everything
        n = len(table)
        level = before + n * centre[self.features_] ** 2
        self.gone_ = after <= (n * np.finfo(float).eps) ** 2 * level
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return what the covariates leave of the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            Samples.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        table = check_X(self, X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            known = table[:, self.covariates_] - self.center_
            Z = table[:, self.features_] - self.mean_ - known @ self.coef_
        Z[:, self.gone_] = 0.0
        if not np.isfinite(Z).all():
            raise ValueError(TOO_LARGE)
        return np.asarray(Z)

    def _evidence(self) -> dict[str, Any]:
        if not hasattr(self, "explained_"):
            return {}
        return {
            "covariates": len(self.covariates_),
            "features that the covariates determine": int(self.gone_.sum()),
        }

    def _evidence_html(self, caption: str = "What was found") -> str:
        found = super()._evidence_html(caption)
        if not hasattr(self, "explained_"):
            return found
        names = self.get_feature_names_out().tolist()
        title = "Fraction of the variance that the covariates explain"
        return found + importance_table(self.explained_, names, title, "explained")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features that are left."""
        check_is_fitted(self)
        names = names_for(getattr(self, "feature_names_in_", None), self.n_features_in_)
        given = names if input_features is None else check_names(
            input_features, self.n_features_in_, "input_features"
        )  # fmt: skip
        return np.array([given[j] for j in self.features_], dtype=object)


def preparation(
    dataset: Dataset, scale: str | None, *, fill: bool | None = None
) -> list[tuple[str, Any]]:
    """What happens to a table before a selector sees it: missing values filled, features scaled.

    ``fill`` says whether missing values are filled; by default if there are some.
    """
    has_missing = bool(np.sum(dataset.missing))
    return preparing_steps(has_missing if fill is None else fill, scale, sparse.issparse(dataset.X))


def preparing_steps(
    fill: bool, scale: str | None, is_sparse: bool, covariates: Sequence[int] = ()
) -> list[tuple[str, Any]]:
    """What is done to a table before selector and judge, by name; sparse ones are not centred.

    ``covariates`` are positions of columns that features are adjusted for, and which then leave.
    """
    steps: list[tuple[str, Any]] = []
    if fill:
        from sklearn.impute import SimpleImputer

        steps.append(("fill", SimpleImputer(strategy="median", keep_empty_features=True)))
    if len(covariates):
        steps.append(("adjust", CovariateAdjuster(list(covariates))))
    if scale == "auto" and not is_sparse:
        steps.append(("scale", AutoScaler()))
    elif scale in ("standard", "auto"):
        from sklearn.preprocessing import StandardScaler

        steps.append(("scale", StandardScaler(with_mean=not is_sparse)))
    elif scale == "minmax":
        from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler

        steps.append(("scale", MaxAbsScaler() if is_sparse else MinMaxScaler()))
    return steps
