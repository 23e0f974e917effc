"""Feature selection around support vector machines.

The names listed in ``__all__`` and the sub-packages (``tamiz.filters``, ``tamiz.svm``, …) are
loaded on first use (PEP 562), so that ``import tamiz`` itself stays light: it loads neither NumPy
nor scikit-learn nor numba.

Examples
--------
>>> import tamiz
>>> tamiz.filters.FisherScore(5)
FisherScore(n_features_to_select=5)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamiz import base as base
    from tamiz import callbacks as callbacks
    from tamiz import data as data
    from tamiz import discovery as discovery
    from tamiz import embedded as embedded
    from tamiz import evaluation as evaluation
    from tamiz import explain as explain
    from tamiz import filters as filters
    from tamiz import gpu as gpu
    from tamiz import information as information
    from tamiz import kernels as kernels
    from tamiz import neighbors as neighbors
    from tamiz import onnx as onnx
    from tamiz import persistence as persistence
    from tamiz import qp as qp
    from tamiz import reports as reports
    from tamiz import scale as scale
    from tamiz import search as search
    from tamiz import solvers as solvers
    from tamiz import svm as svm
    from tamiz import tree as tree
    from tamiz import validation as validation
    from tamiz.base import Selection as Selection
    from tamiz.embedded import L1SVM as L1SVM
    from tamiz.embedded import SVMRFE as SVMRFE
    from tamiz.embedded import HoldOutSVM as HoldOutSVM
    from tamiz.evaluation import compare as compare
    from tamiz.evaluation import tune as tune
    from tamiz.filters import CFS as CFS
    from tamiz.filters import MRMR as MRMR
    from tamiz.filters import QPFS as QPFS
    from tamiz.filters import FisherScore as FisherScore
    from tamiz.filters import ReliefF as ReliefF
    from tamiz.onnx import to_onnx as to_onnx
    from tamiz.persistence import load as load
    from tamiz.persistence import save as save
    from tamiz.search import BackwardElimination as BackwardElimination
    from tamiz.search import ForwardSelection as ForwardSelection
    from tamiz.search import GeneticSearch as GeneticSearch
    from tamiz.svm import SVC as SVC
    from tamiz.svm import SVR as SVR
    from tamiz.svm import HardMarginSVC as HardMarginSVC

__version__ = "0.1.0"

# Modules that are found as attributes. A new one is added here and above for type checkers; a test
# compares both with the files.
_MODULES = (
    "base",
    "callbacks",
    "data",
    "discovery",
    "embedded",
    "evaluation",
    "explain",
    "filters",
    "gpu",
    "information",
    "kernels",
    "neighbors",
    "onnx",
    "persistence",
    "qp",
    "reports",
    "scale",
    "search",
    "solvers",
    "svm",
    "tree",
    "validation",
)

# Public name -> the module that defines it. To export a name, add it here, above for type
# checkers, and in __all__; a test compares the three.
_HOME = {
    "L1SVM": "tamiz.embedded",
    "HoldOutSVM": "tamiz.embedded",
    "SVMRFE": "tamiz.embedded",
    "compare": "tamiz.evaluation",
    "tune": "tamiz.evaluation",
    "CFS": "tamiz.filters",
    "FisherScore": "tamiz.filters",
    "MRMR": "tamiz.filters",
    "QPFS": "tamiz.filters",
    "ReliefF": "tamiz.filters",
    "BackwardElimination": "tamiz.search",
    "ForwardSelection": "tamiz.search",
    "GeneticSearch": "tamiz.search",
    "HardMarginSVC": "tamiz.svm",
    "SVC": "tamiz.svm",
    "SVR": "tamiz.svm",
    "Selection": "tamiz.base",
    "load": "tamiz.persistence",
    "save": "tamiz.persistence",
    "to_onnx": "tamiz.onnx",
}

__all__ = [
    "CFS",
    "L1SVM",
    "MRMR",
    "QPFS",
    "SVC",
    "SVMRFE",
    "SVR",
    "BackwardElimination",
    "FisherScore",
    "ForwardSelection",
    "GeneticSearch",
    "HardMarginSVC",
    "HoldOutSVM",
    "ReliefF",
    "Selection",
    "__version__",
    "compare",
    "load",
    "save",
    "to_onnx",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"tamiz.{name}")  # which sets the attribute
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'tamiz' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value  # found once; the next use does not come here
    return value


def __dir__() -> list[str]:
    """What completion offers: no helper of this file."""
    dunders = (name for name in globals() if name.startswith("__"))
    return sorted({*__all__, *_MODULES, *dunders})
