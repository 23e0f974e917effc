"""Errors of a support vector machine on many subsets of one split, sooner.

The searches have a judge that gives the scores of :class:`tamiz.svm.SVC` without estimators, checks
and copies. It serves a comparison as well: one split, many subsets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.search._svc_judge import FastSVC
from tamiz.search.fast import judge_for
from tamiz.svm import SVC

#: Beyond so many samples the time is in the solver, and nothing is saved.
_MOST_SAMPLES = 300


class FastErrors:
    """Share of wrong predictions in the test part.

    Parameters
    ----------
    judge : FastSVC
        Made for the ``columns`` of the split.
    columns : array
        The features that it knows, ascending.
    """

    def __init__(self, judge: FastSVC, columns: np.ndarray):
        self.judge = judge
        self.columns = columns
        self.n_test = len(judge.plain.splits[0][1])

    def error(self, features: np.ndarray) -> float:
        """The error with some of the columns, at least one."""
        places = np.searchsorted(self.columns, np.sort(features))
        n_wrong = round((1.0 - float(self.judge.score(places)[0, 0])) * self.n_test)
        return n_wrong / self.n_test


def fast_errors(
    estimator: Any,
    Z: Any,
    y: np.ndarray,
    Z_test: Any,
    y_test: np.ndarray,
    subsets: list[np.ndarray],
) -> FastErrors | None:
    """What gives the errors with these subsets of the features; None if the estimator must."""
    n = len(y)
    if type(estimator) is not SVC or not isinstance(Z, np.ndarray) or n > _MOST_SAMPLES:
        return None
    columns = np.unique(np.concatenate(subsets)) if subsets else np.empty(0, dtype=np.intp)
    if not len(columns):
        return None
    table = np.concatenate([Z[:, columns], Z_test[:, columns]])
    labels = np.concatenate([y, y_test])
    split = (np.arange(n), np.arange(n, len(labels)))
    judge = judge_for(estimator, table, labels, [split], "accuracy", None)
    return FastErrors(judge, columns) if isinstance(judge, FastSVC) else None
