"""Numbers of a report card from a confusion table, each with an interval or a reason for none.

Rows of the table are the true classes, columns the predicted ones. ``counts`` holds the sums of the
weights in each cell and ``squares`` those of their squares, which are the same without weights;
``n = (Σw)² / Σw²`` is the number of equal samples that would tell as much (Kish).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from tamiz.display import between, number
from tamiz.evaluation.inference import UNKNOWN, Interval, delong, delong_interval, quantile

Proportion = Callable[[Any, Any, float], tuple[Any, Any]]


class Metric(NamedTuple):
    """A number of a report card."""

    value: float
    interval: Interval
    method: str  # how the interval was made
    reason: str | None = None  # why the number, or the interval, is undefined

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{number(self.value)} ({between(self.interval)})"


class Confusion(NamedTuple):
    """A table and how to make intervals from it."""

    counts: np.ndarray
    squares: np.ndarray
    labels: Sequence[str]
    proportion: Proportion
    proportion_name: str
    confidence: float
    n_bootstrap: int
    seed: int


def missing(reason: str, method: str = "") -> Metric:
    """A number that is undefined, and why."""
    return Metric(math.nan, UNKNOWN, method, reason)


def proportion(table: Confusion, part: np.ndarray, whole: np.ndarray, reason: str) -> Metric:
    """A proportion: the weight of the cells in ``part`` among those in ``whole`` (masks)."""
    total = float(table.counts[whole].sum())
    if total <= 0:
        return missing(reason)
    value = float(table.counts[part].sum()) / total
    n = total**2 / float(table.squares[whole].sum())
    low, high = table.proportion(value * n, n, table.confidence)
    return Metric(value, (float(low), float(high)), table.proportion_name)


def binary_metrics(table: Confusion) -> dict[str, Metric]:
    """Of a table of two classes, the second of which is positive."""
    TN, FP, FN, TP = (_cell(i, j) for i in (0, 1) for j in (0, 1))
    negative, positive = table.labels
    no_positives = f"y_true holds no {positive}."
    no_negatives = f"y_true holds no {negative}."
    sensitivity = proportion(table, TP, TP | FN, no_positives)
    specificity = proportion(table, TN, TN | FP, no_negatives)
    return {
        "sensitivity": sensitivity,
        "specificity": specificity,
        "precision": proportion(table, TP, TP | FP, f"nothing was predicted as {positive}."),
        "accuracy": proportion(table, TN | TP, TN | FP | FN | TP, "there are no samples."),
        "balanced_accuracy": mean_of([sensitivity, specificity]),
        "f1": _f1(table, TP, TP | FP | FN, positive),
        "mcc": _resampled(table, _mcc, _mcc_reason(table)),
    }


def _cell(i: int, j: int) -> np.ndarray:
    mask = np.zeros((2, 2), dtype=bool)
    mask[i, j] = True
    return mask


def _f1(table: Confusion, part: np.ndarray, whole: np.ndarray, positive: str) -> Metric:
    """2TP / (2TP + FP + FN) = 2J / (1 + J), increasing in J = TP / (TP + FP + FN)."""
    J = proportion(table, part, whole, f"no sample is {positive} or was predicted so.")
    if J.reason:
        return J
    low, high = J.interval
    name = f"{table.proportion_name}, through TP / (TP + FP + FN)"
    return Metric(2 * J.value / (1 + J.value), (2 * low / (1 + low), 2 * high / (1 + high)), name)


def mean_of(parts: Sequence[Metric]) -> Metric:
    """Mean of independent proportions; the distances to their ends add up as squares (MOVER)."""
    absent = [part.reason for part in parts if part.reason]
    if absent:
        return missing(absent[0] or "")
    k = len(parts)
    value = sum(part.value for part in parts) / k
    below = math.sqrt(sum((part.value - part.interval[0]) ** 2 for part in parts)) / k
    above = math.sqrt(sum((part.value - part.interval[1]) ** 2 for part in parts)) / k
    ends = (max(0.0, value - below), min(1.0, value + above))
    return Metric(value, ends, f"{parts[0].method}, combined by squares (MOVER)")


def several_metrics(table: Confusion) -> dict[str, Metric]:
    """Of all classes together, where there are more than two."""
    k = len(table.labels)
    diagonal, everything = np.eye(k, dtype=bool), np.ones((k, k), dtype=bool)
    rows = []
    for c in range(k):
        row = np.zeros((k, k), dtype=bool)
        row[c] = True
        rows.append(proportion(table, diagonal & row, row, f"y_true holds no {table.labels[c]}."))
    never = np.flatnonzero(table.counts.sum(axis=0) <= 0)
    no_precision = f"nothing was predicted as {table.labels[never[0]]}." if len(never) else None
    empty = np.flatnonzero(table.counts.sum(axis=0) + table.counts.sum(axis=1) <= 0)
    no_f1 = None
    if len(empty):
        no_f1 = f"no sample is {table.labels[empty[0]]} or was predicted so."
    return {
        "accuracy": proportion(table, diagonal, everything, "there are no samples."),
        "balanced_accuracy": mean_of(rows),
        "macro_precision": _resampled(table, _macro_precision, no_precision),
        "macro_f1": _resampled(table, _macro_f1, no_f1),
        "mcc": _resampled(table, _mcc, _mcc_reason(table)),
    }


def one_against_rest(table: Confusion, c: int) -> Confusion:
    """The table of two classes: all others, and class ``c``."""
    label = table.labels[c]
    return table._replace(
        counts=collapse(table.counts, c),
        squares=collapse(table.squares, c),
        labels=(f"other than {label}", label),
    )


def collapse(counts: np.ndarray, c: int) -> np.ndarray:
    """Counts of two classes: all others, and class ``c``."""
    TP = counts[c, c]
    FN, FP = counts[c].sum() - TP, counts[:, c].sum() - TP
    return np.array([[counts.sum() - TP - FN - FP, FP], [FN, TP]])


# ------------------------------------------------------------------ by resampling the table


def _resampled(
    table: Confusion, function: Callable[[np.ndarray], np.ndarray], reason: str | None
) -> Metric:
    """Value of a function of the table, and its percentiles over tables drawn from it."""
    method = f"bootstrap, {table.n_bootstrap} tables"
    if reason:
        return missing(reason, method)
    value = float(function(table.counts[None])[0])
    if not table.counts[~np.eye(len(table.labels), dtype=bool)].any():
        return Metric(value, UNKNOWN, method, "no errors were made: resampling shows no spread.")
    total = table.counts.sum()
    n = max(1, round(float(total**2 / table.squares.sum())))
    random = np.random.default_rng(table.seed)
    drawn = random.multinomial(n, (table.counts / total).ravel(), size=table.n_bootstrap)
    values = function(drawn.reshape(-1, *table.counts.shape).astype(np.float64))
    values = values[np.isfinite(values)]
    if len(values) < table.n_bootstrap / 2:
        return Metric(value, UNKNOWN, method, "undefined in most resamples.")
    tail = (1 - table.confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Metric(value, (float(low), float(high)), method)


def _mcc(tables: np.ndarray) -> np.ndarray:
    """Matthews' correlation, for any number of classes (Gorodkin's R_K)."""
    true, predicted = tables.sum(axis=2), tables.sum(axis=1)
    n = tables.sum(axis=(1, 2))
    right = np.trace(tables, axis1=1, axis2=2)
    both = (true * predicted).sum(axis=1)
    spread = (n**2 - (true**2).sum(axis=1)) * (n**2 - (predicted**2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread > 0, (n * right - both) / np.sqrt(spread), np.nan)


def _mcc_reason(table: Confusion) -> str | None:
    for axis, what in ((1, "y_true holds"), (0, "the predictions hold")):
        if np.count_nonzero(table.counts.sum(axis=axis)) < 2:
            return f"{what} one class only."
    return None


def _macro_precision(tables: np.ndarray) -> np.ndarray:
    right = np.diagonal(tables, axis1=1, axis2=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (right / tables.sum(axis=1)).mean(axis=1)


def _macro_f1(tables: np.ndarray) -> np.ndarray:
    right = np.diagonal(tables, axis1=1, axis2=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (2 * right / (tables.sum(axis=1) + tables.sum(axis=2))).mean(axis=1)


class ROCCurve:
    """One ROC curve: its points, its area, and what each sample adds to the area."""

    def __init__(self, positive: np.ndarray, scores: np.ndarray, weight: np.ndarray | None):
        self.positive = positive
        self.both = bool(positive.any() and not positive.all())
        self.weighted = weight is not None
        self.fpr = self.tpr = np.zeros(0)
        if not self.both:
            return
        # the same curve, also where scores are infinite; rankdata of SciPy 1.11 takes them for NaN
        ranks = np.unique(scores, return_inverse=True)[1].astype(np.float64)
        self.fpr, self.tpr, _ = roc_curve(positive, ranks, sample_weight=weight)
        if weight is not None:
            self.value = float(roc_auc_score(positive, ranks, sample_weight=weight))
            return
        self.area = delong(ranks[positive], ranks[~positive])
        self.value = self.area.value
        self.influence = np.empty(len(scores))
        # scaled so that their squares add up to DeLong's variance
        for part, fractions in (
            (positive, self.area.of_positive),
            (~positive, self.area.of_negative),
        ):
            n = int(part.sum())
            self.influence[part] = (fractions - self.value) / math.sqrt(n * max(1, n - 1))

    def metric(self, confidence: float, labels: tuple[str, str]) -> Metric:
        if not self.both:
            absent = labels[0] if self.positive.any() else labels[1]
            return missing(f"y_true holds no {absent}.", "DeLong")
        if self.weighted:
            reason = "DeLong's interval is for samples without weights."
            return Metric(self.value, UNKNOWN, "DeLong", reason)
        if math.isnan(self.area.variance):
            return Metric(self.value, UNKNOWN, "DeLong", "a class has one sample only.")
        if self.area.variance == 0:
            reason = "the scores separate the classes: their order shows no spread."
            return Metric(self.value, UNKNOWN, "DeLong", reason)
        return Metric(self.value, delong_interval(self.area, confidence), "DeLong")


def macro_area(
    curves: list[ROCCurve], per_class: dict[Any, dict[str, Metric]], confidence: float
) -> Metric:
    """Mean of the areas of all classes; what a sample adds to each of them is added up first."""
    method = "DeLong, mean of the classes against the others"
    reasons = [m["roc_area"].reason for m in per_class.values() if m["roc_area"].reason]
    if not all(curve.both for curve in curves):
        return missing(reasons[0] or "", method)
    value = sum(curve.value for curve in curves) / len(curves)
    if any(curve.weighted or math.isnan(curve.area.variance) for curve in curves):
        return Metric(value, UNKNOWN, method, reasons[0])
    influence = np.mean([curve.influence for curve in curves], axis=0)
    spread = float((influence**2).sum())
    if spread == 0:
        return Metric(value, UNKNOWN, method, reasons[0] if reasons else None)
    half = quantile(confidence) * math.sqrt(spread)
    return Metric(value, (max(0.0, value - half), min(1.0, value + half)), method)
