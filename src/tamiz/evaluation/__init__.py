"""Protocols, tuning, stability, statistical comparison, and reproduction of published tables."""

from tamiz.evaluation._critical_difference import critical_difference_diagram
from tamiz.evaluation._report_metrics import Metric
from tamiz.evaluation.compare import compare, learning_curve_by_features
from tamiz.evaluation.comparison import Comparison
from tamiz.evaluation.permutation import PermutationTest, permutation_test
from tamiz.evaluation.report_card import ReportCard, report_card
from tamiz.evaluation.reproduce import Reproduction, available, reproduce
from tamiz.evaluation.scaler import AutoScaler
from tamiz.evaluation.significance import Pair, Significance, critical_difference, significance
from tamiz.evaluation.stability import Stability, StabilityTest, stability, stability_of
from tamiz.evaluation.tune import Tuning, tune

__all__ = [
    "AutoScaler",
    "Comparison",
    "Metric",
    "Pair",
    "PermutationTest",
    "ReportCard",
    "Reproduction",
    "Significance",
    "Stability",
    "StabilityTest",
    "Tuning",
    "available",
    "compare",
    "critical_difference",
    "critical_difference_diagram",
    "learning_curve_by_features",
    "permutation_test",
    "report_card",
    "reproduce",
    "significance",
    "stability",
    "stability_of",
    "tune",
]


def __dir__() -> list[str]:
    return sorted(__all__)
