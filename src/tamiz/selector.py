"""The scikit-learn side of a selector: fitted attributes and transformation."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tamiz.base import PathStep, Selection


class Selector(SelectorMixin, BaseEstimator):
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
    """

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

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def transform(self, X: Any) -> Any:
        """Reduce ``X`` to the selected features, in the order of its columns.

        pandas and polars tables stay what they are; arrays and sparse matrices too.
        """
        check_is_fitted(self, "support_")
        if nw.dependencies.is_into_dataframe(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            if not self.support_.any():
                warnings.warn(
                    "No features were selected: the table that transform returns has no columns.",
                    UserWarning,
                    stacklevel=2,
                )
            if hasattr(X, "iloc"):  # pandas keeps its index even without columns
                return X.iloc[:, np.flatnonzero(self.support_)]
            frame = nw.from_native(X, eager_only=True)
            # by position: pandas columns may be numbered instead of named
            return nw.to_native(frame[:, np.flatnonzero(self.support_).tolist()])
        return super().transform(X)
