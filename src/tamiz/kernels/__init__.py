"""Kernels: functions that compare samples, their algebra, and what features do to them.

Elementary kernels are :class:`Linear`, :class:`Polynomial`, :class:`RBF`, :class:`Sigmoid`,
:class:`QuadraticForm` and :class:`Precomputed`, and for strings :class:`GapWeighted`; ``k1 + k2``,
``a * k``, ``k1 * k2``, ``k.exp()``, ``k.poly(...)`` and ``k.of(h)`` build others from them.
``k(X, Z)`` is the Gram matrix, ``k.prepare(X)`` what a solver works with, ``k.track(X)`` a Gram
matrix that follows as features come and go.
"""

from tamiz.kernels.algebra import Exponential, PolynomialOf, Product, Scaled, Sum
from tamiz.kernels.base import Kernel
from tamiz.kernels.elementary import RBF, Linear, Polynomial, Precomputed, Sigmoid
from tamiz.kernels.features.base import FeatureGram
from tamiz.kernels.mapped import (
    KERNEL_NAMES,
    Composed,
    Conformal,
    FunctionKernel,
    QuadraticForm,
    as_kernel,
)
from tamiz.kernels.mercer import (
    IndefiniteKernelWarning,
    MercerCheck,
    mercer_check,
    warn_if_indefinite,
)
from tamiz.kernels.prepared import Prepared
from tamiz.kernels.strings.kernel import GapWeighted

__all__ = [
    "KERNEL_NAMES",
    "RBF",
    "Composed",
    "Conformal",
    "Exponential",
    "FeatureGram",
    "FunctionKernel",
    "GapWeighted",
    "IndefiniteKernelWarning",
    "Kernel",
    "Linear",
    "MercerCheck",
    "Polynomial",
    "PolynomialOf",
    "Precomputed",
    "Prepared",
    "Product",
    "QuadraticForm",
    "Scaled",
    "Sigmoid",
    "Sum",
    "as_kernel",
    "mercer_check",
    "warn_if_indefinite",
]


def __dir__() -> list[str]:
    return sorted(__all__)
