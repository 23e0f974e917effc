"""Support vector machines: estimators in scikit-learn's manner, with their diagnostics."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.pictures import plot_kernels, plot_panels
    from tamiz.svm.bounds import (
        SpanBound,
        margin_vc_dimension,
        span_bound,
        support_vector_bound,
        vc_confidence,
    )
    from tamiz.svm.budget import BudgetSVC
    from tamiz.svm.confidence import MarginConfidence
    from tamiz.svm.diagnostics import NotSeparableError, RadiusMargin, radius_margin_bound
    from tamiz.svm.hard_margin import HardMarginSVC
    from tamiz.svm.linear_machine import LinearMachine, LinearMachineRegressor, LinearPath
    from tamiz.svm.novelty import SVDD, OneClassSVM
    from tamiz.svm.pegasos import PegasosClassifier
    from tamiz.svm.perceptron import PerceptronClassifier
    from tamiz.svm.subgradient import SubgradientClassifier
    from tamiz.svm.svc import SVC
    from tamiz.svm.svr import SVR
    from tamiz.validation import UnscaledWarning

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "BudgetSVC",
    "HardMarginSVC",
    "LinearMachine",
    "LinearMachineRegressor",
    "LinearPath",
    "MarginConfidence",
    "NotSeparableError",
    "OneClassSVM",
    "PegasosClassifier",
    "PerceptronClassifier",
    "RadiusMargin",
    "SpanBound",
    "SubgradientClassifier",
    "UnscaledWarning",
    "margin_vc_dimension",
    "plot_kernels",
    "plot_panels",
    "radius_margin_bound",
    "span_bound",
    "support_vector_bound",
    "vc_confidence",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".bounds": "SpanBound margin_vc_dimension span_bound support_vector_bound vc_confidence",
        ".budget": "BudgetSVC",
        ".confidence": "MarginConfidence",
        ".diagnostics": "NotSeparableError RadiusMargin radius_margin_bound",
        ".hard_margin": "HardMarginSVC",
        ".linear_machine": "LinearMachine LinearMachineRegressor LinearPath",
        ".novelty": "SVDD OneClassSVM",
        ".pegasos": "PegasosClassifier",
        ".perceptron": "PerceptronClassifier",
        ".subgradient": "SubgradientClassifier",
        ".svc": "SVC",
        ".svr": "SVR",
        "tamiz.pictures": "plot_kernels plot_panels",
        "tamiz.validation": "UnscaledWarning",
    },
)
