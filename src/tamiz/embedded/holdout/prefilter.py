"""The filter before the elimination: features that a test of one by one finds nothing in.

The text recommends the chi-squared test for categorical and Kolmogorov-Smirnov for continuous
features. With more than two classes the latter compares each class with the rest; the least of the
p-values counts, times the number of classes (Bonferroni). A group has the least p-value of its
features times their number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from tamiz.filters import ChiSquared, KolmogorovSmirnov
from tamiz.runtime.units import Units


def prefilter_pvalues(
    prefilter: Any, X: np.ndarray, codes: np.ndarray, categorical: np.ndarray
) -> np.ndarray:
    """A p-value for each feature.

    Parameters
    ----------
    prefilter : {"auto", "chi2", "ks"} or filter
        Which test; a filter of :mod:`tamiz.filters` must give ``pvalues_``.
    X, codes : arrays of shape (n, p) and (n,)
        Samples and classes.
    categorical : boolean array of shape (p,)
        Features whose values are categories.
    """
    if not isinstance(prefilter, str):
        fitted = clone(prefilter).fit(X, codes)
        values = getattr(fitted, "pvalues_", None)
        if values is None:
            raise ValueError(
                f"prefilter={prefilter!r} gives no p-values for these data (pvalues_); use "
                "'auto', 'chi2', 'ks', or a filter that does, such as WelchT()."
            )
        return np.where(np.isnan(values), 1.0, values)
    by_chi2 = {"auto": categorical, "chi2": np.ones_like(categorical)}.get(
        prefilter, np.zeros_like(categorical)
    )
    values = np.ones(X.shape[1])
    if by_chi2.any():
        columns = np.flatnonzero(by_chi2)
        test = ChiSquared(categorical_features=categorical[columns])
        values[columns] = test.fit(X[:, columns], codes).pvalues_
    if not by_chi2.all():
        columns = np.flatnonzero(~by_chi2)
        values[columns] = _smirnov(np.ascontiguousarray(X[:, columns]), codes)
    return np.where(np.isnan(values), 1.0, values)


def _smirnov(X: np.ndarray, codes: np.ndarray) -> np.ndarray:
    n_classes = int(codes.max()) + 1
    if n_classes == 2:
        return KolmogorovSmirnov().fit(X, codes).pvalues_
    each = [KolmogorovSmirnov().fit(X, codes == k).pvalues_ for k in range(n_classes)]
    return np.minimum(1.0, n_classes * np.min(each, axis=0))


def unit_pvalues(values: np.ndarray, units: Units) -> np.ndarray:
    """A p-value for each unit."""
    return np.array([min(1.0, len(f) * float(values[f].min())) for f in units.members])
