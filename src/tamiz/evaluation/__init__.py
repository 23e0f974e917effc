"""Protocols, tuning, stability, statistical comparison, and reproduction of published tables."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.evaluation.agreement import Stability, StabilityTest, stability, stability_of
    from tamiz.evaluation.card import ReportCard, report_card
    from tamiz.evaluation.comparison.compare import compare, learning_curve_by_features
    from tamiz.evaluation.comparison.result import Comparison
    from tamiz.evaluation.margins import MarginReport
    from tamiz.evaluation.measures import Metric
    from tamiz.evaluation.scaler import AutoScaler, CovariateAdjuster
    from tamiz.evaluation.statistical_tests.critical_difference import critical_difference_diagram
    from tamiz.evaluation.statistical_tests.permutation import PermutationTest, permutation_test
    from tamiz.evaluation.statistical_tests.significance import (
        Pair,
        Significance,
        critical_difference,
        significance,
    )
    from tamiz.evaluation.tuning.tune import Tuning, tune
    from tamiz.information.population import PopulationStability, population_stability
    from tamiz.reproduce import (
        Reproduction,
        available,
        draw_figure,
        reproduce,
        source_figures,
    )

__all__ = [
    "AutoScaler",
    "Comparison",
    "CovariateAdjuster",
    "MarginReport",
    "Metric",
    "Pair",
    "PermutationTest",
    "PopulationStability",
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
    "draw_figure",
    "learning_curve_by_features",
    "permutation_test",
    "population_stability",
    "report_card",
    "reproduce",
    "significance",
    "source_figures",
    "stability",
    "stability_of",
    "tune",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".agreement": "Stability StabilityTest stability stability_of",
        ".card": "ReportCard report_card",
        ".comparison.compare": "compare learning_curve_by_features",
        ".comparison.result": "Comparison",
        ".margins": "MarginReport",
        ".measures": "Metric",
        ".scaler": "AutoScaler CovariateAdjuster",
        ".statistical_tests.critical_difference": "critical_difference_diagram",
        ".statistical_tests.permutation": "PermutationTest permutation_test",
        ".statistical_tests.significance": "Pair Significance critical_difference significance",
        ".tuning.tune": "Tuning tune",
        "tamiz.information.population": "PopulationStability population_stability",
        "tamiz.reproduce": "Reproduction available draw_figure reproduce source_figures",
    },
)
