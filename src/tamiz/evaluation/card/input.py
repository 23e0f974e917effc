"""What a user hands to a report card: classes, scores, counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.search.judges import last_step
from tamiz.validation import as_vector

_PARTNERS: dict[Any, Any] = {0: 1, 1: 0, -1: 1}  # the other class, where only one is met


def read_labels(name: str, y: Any) -> np.ndarray:
    """The labels as a vector; what is wrong with them is said of ``name``."""
    try:
        return as_vector(y)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def all_classes(truth: np.ndarray, guess: np.ndarray, labels: Any) -> list[Any]:
    """The labels met, or those announced, sorted; at least two."""
    if truth.dtype.kind in "OUS" and guess.dtype.kind in "biuf":
        truth, guess = guess, truth  # one message for both ways round
    if guess.dtype.kind in "OUS" and truth.dtype.kind in "biuf":
        pair = f"{truth.tolist()[0]!r} and {guess.tolist()[0]!r}"
        raise ValueError(
            f"y_true and y_pred mix text and numbers ({pair}); use the same labels in both."
        )
    for name, y in (("y_true", truth), ("y_pred", guess)):
        if y.dtype.kind == "f" and not (y == np.round(y)).all():
            raise ValueError(
                f"{name} holds {y[y != np.round(y)][0]}, which is not a class; hand over decision "
                "values as scores, and classes as y_pred."
            )
    try:
        met = sorted(set(truth.tolist()) | set(guess.tolist()))
    except TypeError:
        raise ValueError(
            "y_true and y_pred mix labels that cannot be sorted, such as text and numbers; use one "
            "type for all, for instance [str(label) for label in y]."
        ) from None
    if labels is not None:
        known = sorted(set(np.asarray(labels).tolist()))
        strange = [label for label in met if label not in known]
        if strange:
            raise ValueError(f"{strange[0]!r} is among the data but not in labels={labels!r}.")
        met = known
    if len(met) == 1:
        other = _PARTNERS.get(met[0], f"other than {met[0]}")
        if isinstance(met[0], bool):
            other = not met[0]
        text = isinstance(other, str)
        met = [other, met[0]] if text else sorted([other, met[0]])
    return met


def codes_of(y: np.ndarray, classes: list[Any]) -> np.ndarray:
    """Position of each label among the classes."""
    place = {label: c for c, label in enumerate(classes)}
    return np.array([place[label] for label in y.tolist()], dtype=np.intp)


def check_scores(scores: Any, n: int) -> np.ndarray:
    """Finite or infinite numbers, one for each sample, or a column for each class."""
    try:
        table = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "scores must hold numbers, one for each sample or one per class."
        ) from None
    if table.ndim not in (1, 2) or len(table) != n:
        raise ValueError(
            f"scores has shape {table.shape}; it needs one row for each of {n} samples."
        )
    if np.isnan(table).any():
        raise ValueError(
            f"scores holds NaN, first at row {int(np.argwhere(np.isnan(table))[0][0])}."
        )
    return table[:, 0] if table.ndim == 2 and table.shape[1] == 1 else table


def column_of(table: np.ndarray, c: int, classes: list[Any]) -> np.ndarray:
    """The scores of class ``c``."""
    if table.shape[1] != len(classes):
        raise ValueError(
            f"scores has {table.shape[1]} columns for the {len(classes)} classes "
            f"{', '.join(map(repr, classes))}; give one column each, or labels=..."
        )
    return table[:, c]


def check_counts(matrix: Any) -> np.ndarray:
    """A square table of counts."""
    try:
        counts = np.asarray(matrix)
    except ValueError:  # rows of different lengths
        raise ValueError("matrix must be square; its rows differ in length.") from None
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or len(counts) < 2:
        raise ValueError(f"matrix has shape {counts.shape}; it must be square, 2 x 2 or more.")
    if counts.dtype.kind not in "iufb" or not np.isfinite(counts).all() or (counts < 0).any():
        raise ValueError("matrix must hold counts: finite numbers, none below zero.")
    if not counts.any():
        raise ValueError("matrix holds no samples; all counts are zero.")
    return counts.astype(np.float64)


def scores_of(estimator: Any, X: Any, k: int) -> np.ndarray | None:
    """Decision values or probabilities, where the estimator has them for every class."""
    inner = last_step(getattr(estimator, "best_estimator_", estimator))
    # as many pairs as classes if there are three, but a column is not a class
    pairs = k > 2 and getattr(inner, "decision_function_shape", None) == "ovo"
    for name in ("predict_proba",) if pairs else ("decision_function", "predict_proba"):
        method = getattr(estimator, name, None)
        if method is not None:
            scores = np.asarray(method(X))
            if scores.ndim == 1 or scores.shape[1] == k:
                return scores
    return None
