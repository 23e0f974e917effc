"""Embedded selection: features chosen by the machine that uses them."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
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
    from tamiz.embedded.sparse.milp import MILPSVM
    from tamiz.embedded.sparse.robust_lp import RobustLP

__all__ = [
    "AROM",
    "FSV",
    "KPSVM",
    "L0L2SVM",
    "L1L2SVM",
    "L1SVM",
    "MILPSVM",
    "SVMRFE",
    "AdaptiveScaling",
    "ForestImportance",
    "HoldOutSVM",
    "RadiusMarginScaling",
    "RobustLP",
    "l1_svm_path",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".forest": "ForestImportance",
        ".holdout.selector": "HoldOutSVM",
        ".rfe.selector": "SVMRFE",
        ".scaling.adaptive": "AdaptiveScaling",
        ".scaling.kp_svm": "KPSVM",
        ".scaling.radius_margin": "RadiusMarginScaling",
        ".sparse.arom": "AROM",
        ".sparse.fsv": "FSV",
        ".sparse.l0l2": "L0L2SVM",
        ".sparse.l1": "L1SVM l1_svm_path",
        ".sparse.l1l2": "L1L2SVM",
        ".sparse.milp": "MILPSVM",
        ".sparse.robust_lp": "RobustLP",
    },
)
