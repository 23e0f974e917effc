r"""The error of a method over the splits of a repeated cross-validation, with its interval.

The errors of :math:`J` splits are not independent: training parts overlap. The variance of their
mean is therefore more than :math:`s^2/J`; Nadeau and Bengio's correction takes

.. math::

    \Big(\frac{1}{J} + \frac{n_{test}}{n_{train}}\Big)\, s^2

and the interval is that of Student's t with :math:`J - 1` degrees of freedom.

References
----------
.. [1] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from tamiz.base import choose_size


class Interval(NamedTuple):
    """A mean over splits and what is known of it; NaN for what is not."""

    mean: float
    low: float
    high: float
    n_splits: int


def corrected_interval(
    errors: np.ndarray,
    n_train: np.ndarray,
    n_test: np.ndarray,
    confidence: float,
    shares: bool,
) -> Interval:
    """The mean of ``errors`` with its corrected interval; splits without a value are left out.

    ``shares`` says that errors lie between 0 and 1, and so do the ends of the interval.
    """
    there = np.isfinite(errors)
    n_splits = int(there.sum())
    if not n_splits:
        return Interval(np.nan, np.nan, np.nan, 0)
    mean = float(errors[there].mean())
    if n_splits == 1:
        return Interval(mean, np.nan, np.nan, 1)
    factor = 1.0 / n_splits + float(np.mean(n_test[there] / n_train[there]))
    error = float(errors[there].std(ddof=1)) * np.sqrt(factor)
    half = float(stats.t.isf((1.0 - confidence) / 2.0, n_splits - 1)) * error
    low, high = mean - half, mean + half
    if shares:
        low, high = max(0.0, low), min(1.0, high)
    return Interval(mean, low, high, n_splits)


def chosen_size(
    errors: np.ndarray, sizes: np.ndarray, rule: str, ratio: float | None = None
) -> int | None:
    """The size that the rule chooses from a curve; None without one.

    ``ratio`` is the number of test samples for each training sample.
    """
    rows = np.isfinite(errors).any(axis=1)
    if not rows.any():
        return None
    usable = np.isfinite(errors[rows]).all(axis=0)
    if not usable.any():  # a value is missing here and there: leave out the splits, not the sizes
        rows = np.isfinite(errors).all(axis=1)
        usable = np.full(len(sizes), bool(rows.any()))
    if not usable.any():
        return None
    return choose_size(errors[rows][:, usable], sizes[usable], rule, ratio)


def by_other_folds(
    errors: np.ndarray, sizes: np.ndarray, repeat: np.ndarray, rule: str
) -> tuple[np.ndarray, np.ndarray]:
    """Error of every split at the size that the other folds of its repeat choose, and that size.

    Cheaper than an inner cross-validation, for nothing is fitted. The samples that judge a split
    have no voice in the choice of its size, except that they helped to train the machines of the
    other folds.
    """
    found = np.full(len(errors), np.nan)
    chosen = np.full(len(errors), np.nan)
    for k in range(len(errors)):
        others = (repeat == repeat[k]) & (np.arange(len(errors)) != k)
        size = chosen_size(errors[others], sizes, rule) if others.any() else None
        if size is not None and np.isfinite(errors[k]).any():
            chosen[k] = size
            found[k] = errors[k, int(np.flatnonzero(sizes == size)[0])]
    return found, chosen
