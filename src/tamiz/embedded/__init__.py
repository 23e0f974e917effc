"""Embedded selection: features chosen by the machine that uses them."""

from tamiz.embedded.forest import ForestImportance
from tamiz.embedded.holdout.selector import HoldOutSVM
from tamiz.embedded.rfe.selector import SVMRFE
from tamiz.embedded.scaling.adaptive import AdaptiveScaling
from tamiz.embedded.scaling.kp_svm import KPSVM
from tamiz.embedded.scaling.radius_margin import RadiusMarginScaling
from tamiz.embedded.sparse.arom import AROM
from tamiz.embedded.sparse.fsv import FSV
from tamiz.embedded.sparse.l0l2 import L0L2SVM
from tamiz.embedded.sparse.l1 import L1SVM, l1_svm_path
from tamiz.embedded.sparse.l1l2 import L1L2SVM
from tamiz.embedded.sparse.robust_lp import RobustLP

__all__ = [
    "AROM",
    "FSV",
    "KPSVM",
    "L0L2SVM",
    "L1L2SVM",
    "L1SVM",
    "SVMRFE",
    "AdaptiveScaling",
    "ForestImportance",
    "HoldOutSVM",
    "RadiusMarginScaling",
    "RobustLP",
    "l1_svm_path",
]


def __dir__() -> list[str]:
    return sorted(__all__)
