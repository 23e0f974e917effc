"""The choice of a judge: the plain one, or a faster one that gives the same scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tamiz.search.judges import CrossValidation, Judge
from tamiz.search.splits import Split


def judge_for(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    splits: Sequence[Split],
    scoring: Any,
    sample_weight: np.ndarray | None,
) -> Judge:
    """The fastest judge that scores subsets as ``CrossValidation`` would."""
    return CrossValidation(estimator, X, y, splits, scoring, sample_weight)
