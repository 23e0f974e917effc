"""Protocols, tuning, stability, statistical comparison, and reproduction of published tables."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tamiz.evaluation.agreement import Stability, StabilityTest, stability, stability_of
from tamiz.evaluation.card import ReportCard, report_card
from tamiz.evaluation.comparison.compare import compare, learning_curve_by_features
from tamiz.evaluation.comparison.result import Comparison
from tamiz.evaluation.measures import Metric
from tamiz.evaluation.scaler import AutoScaler
from tamiz.evaluation.statistical_tests.critical_difference import critical_difference_diagram
from tamiz.evaluation.statistical_tests.permutation import PermutationTest, permutation_test
from tamiz.evaluation.statistical_tests.significance import (
    Pair,
    Significance,
    critical_difference,
    significance,
)
from tamiz.evaluation.tuning.tune import Tuning, tune

if TYPE_CHECKING:
    from tamiz.reproduce import Reproduction, available, reproduce

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

_REPRODUCED = ("Reproduction", "available", "reproduce")  # they stand above: loaded on first use


def __getattr__(name: str) -> Any:
    if name in _REPRODUCED:
        return getattr(import_module("tamiz.reproduce"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
