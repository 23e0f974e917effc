"""Support vector machines: estimators in scikit-learn's manner, with their diagnostics."""

from tamiz.svm.svc import SVC

__all__ = ["SVC"]
