"""Feature selection around support vector machines.

The names listed in ``__all__`` are found on first use (PEP 562), so that ``import tamiz`` itself
stays light: it loads neither NumPy nor scikit-learn nor numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from tamiz.persistence import load as load
    from tamiz.persistence import save as save
    from tamiz.search import BackwardElimination as BackwardElimination
    from tamiz.search import ForwardSelection as ForwardSelection
    from tamiz.search import GeneticSearch as GeneticSearch
    from tamiz.svm import SVC as SVC
    from tamiz.svm import SVR as SVR
    from tamiz.svm import HardMarginSVC as HardMarginSVC

__version__ = "0.1.0"

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
    "tune",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'tamiz' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value  # found once; the next use does not come here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
