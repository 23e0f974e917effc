"""Embedded selection: features chosen by the machine that uses them."""

from tamiz.embedded.adaptive import AdaptiveScaling
from tamiz.embedded.arom import AROM
from tamiz.embedded.forest import ForestImportance
from tamiz.embedded.fsv import FSV
from tamiz.embedded.holdout import HoldOutSVM
from tamiz.embedded.kp_svm import KPSVM
from tamiz.embedded.l0l2 import L0L2SVM
from tamiz.embedded.l1 import L1SVM
from tamiz.embedded.l1_path import l1_svm_path
from tamiz.embedded.l1l2 import L1L2SVM
from tamiz.embedded.radius_margin import RadiusMarginScaling
from tamiz.embedded.rfe import SVMRFE
from tamiz.embedded.robust_lp import RobustLP

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
