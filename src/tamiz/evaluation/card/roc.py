"""ROC curves and their areas, of two classes or of each class against the others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from tamiz.evaluation.card.metrics import Metric, missing
from tamiz.evaluation.intervals import UNKNOWN, delong, delong_interval, quantile


class Curve:
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
        for part, shares in ((positive, self.area.of_positive), (~positive, self.area.of_negative)):
            n = int(part.sum())
            self.influence[part] = (shares - self.value) / math.sqrt(n * max(1, n - 1))

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
    curves: list[Curve], per_class: dict[Any, dict[str, Metric]], confidence: float
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
