"""Support vector machines: estimators in scikit-learn's manner, with their diagnostics."""

from tamiz.svm._separability import NotSeparableError
from tamiz.svm.diagnostics import RadiusMargin, radius_margin_bound
from tamiz.svm.hard_margin import HardMarginSVC
from tamiz.svm.one_class import OneClassSVM
from tamiz.svm.pegasos import PegasosClassifier
from tamiz.svm.perceptron import PerceptronClassifier
from tamiz.svm.subgradient import SubgradientClassifier
from tamiz.svm.svc import SVC
from tamiz.svm.svdd import SVDD
from tamiz.svm.svr import SVR

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "HardMarginSVC",
    "NotSeparableError",
    "OneClassSVM",
    "PegasosClassifier",
    "PerceptronClassifier",
    "RadiusMargin",
    "SubgradientClassifier",
    "radius_margin_bound",
]
