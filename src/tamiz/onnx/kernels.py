"""Kernel values as graphs: between new samples and kept ones, and of samples with themselves."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NoReturn

import numpy as np

from tamiz.kernels import (
    RBF,
    Composed,
    Exponential,
    Kernel,
    Linear,
    Polynomial,
    PolynomialOf,
    Product,
    QuadraticForm,
    Scaled,
    Sigmoid,
    Sum,
)
from tamiz.kernels.mapped import Widened
from tamiz.onnx.graph import Graph, Value

#: Numbers beyond it are taken as this large, so that no square is infinite: the radial kernel is 0.
_FAR = 1e150


class SamplePairs:
    """New samples, each with every kept sample; or with itself, if ``Z`` is None."""

    def __init__(self, graph: Graph, X: Value, Z: np.ndarray | None) -> None:
        self.graph = graph
        self.X = X
        self.Z = Z

    def inner(self) -> Value:
        """Inner products."""
        if self.Z is None:
            return self.graph.reduce("ReduceSum", self.X * self.X, 1)
        return self.X @ np.ascontiguousarray(self.Z.T)

    def factor(self, number: float) -> Any:
        """A factor of kernel values: a row with an entry for each kept sample.

        onnxruntime would round a plain number beside a product of matrices to float32. No such
        product stands beside the values of samples with themselves.
        """
        return float(number) if self.Z is None else np.full((1, len(self.Z)), float(number))

    def radial(self, rate: float) -> Value:
        """``exp(-rate ||x - z||^2)``, samples measured from the mean of the kept ones.

        As in :mod:`tamiz.kernels.radial`.
        """
        if self.Z is None:
            return self.graph.constant(1.0)
        centre, factor = self.Z.mean(axis=0), np.sqrt(2.0 * rate)
        A = self.graph.op("Clip", (self.X - centre) * factor, -_FAR, _FAR)
        B = (self.Z - centre) * factor
        half = 0.5 * self.graph.reduce("ReduceSum", A * A, 1)
        exponent = A @ np.ascontiguousarray(B.T) - half - 0.5 * (B**2).sum(axis=1)
        return self.graph.op("Exp", exponent)

    def mapped(self, matrix: np.ndarray) -> SamplePairs:
        """The same of samples that are multiplied by a matrix."""
        Z = None if self.Z is None else self.Z @ matrix
        return SamplePairs(self.graph, self.X @ matrix, Z)


@singledispatch
def kernel_values(kernel: Kernel, pairs: SamplePairs) -> Value:
    """The values of a kernel as a graph; a kernel of your own can be registered."""
    refuse_kernel(kernel)


def refuse_kernel(kernel: Kernel) -> NoReturn:
    """Say which kernel has no form in ONNX."""
    raise TypeError(
        f"{kernel!r} cannot be written as an ONNX graph: it calls Python, compares strings, or "
        "takes kernel values; use linear, polynomial, radial or sigmoid kernels, quadratic forms, "
        "and their sums, products, powers and exponentials."
    )


@kernel_values.register
def _linear(kernel: Linear, pairs: SamplePairs) -> Value:
    return pairs.inner()


@kernel_values.register
def _polynomial(kernel: Polynomial, pairs: SamplePairs) -> Value:
    return _power(
        pairs.inner() * pairs.factor(kernel.gamma) + float(kernel.coef0), int(kernel.degree)
    )


@kernel_values.register
def _sigmoid(kernel: Sigmoid, pairs: SamplePairs) -> Value:
    return pairs.graph.op("Tanh", pairs.inner() * pairs.factor(kernel.gamma) + float(kernel.coef0))


@kernel_values.register
def _radial(kernel: RBF, pairs: SamplePairs) -> Value:
    return pairs.radial(kernel.rate)


@kernel_values.register
def _sum(kernel: Sum, pairs: SamplePairs) -> Value:
    return kernel_values(kernel.k1, pairs) + kernel_values(kernel.k2, pairs)


@kernel_values.register
def _product(kernel: Product, pairs: SamplePairs) -> Value:
    return kernel_values(kernel.k1, pairs) * kernel_values(kernel.k2, pairs)


@kernel_values.register
def _multiple(kernel: Scaled, pairs: SamplePairs) -> Value:
    return kernel_values(kernel.kernel, pairs) * pairs.factor(kernel.factor)


@kernel_values.register
def _exponential(kernel: Exponential, pairs: SamplePairs) -> Value:
    return pairs.graph.op("Exp", kernel_values(kernel.kernel, pairs))


@kernel_values.register
def _polynomial_of(kernel: PolynomialOf, pairs: SamplePairs) -> Value:
    inner = kernel_values(kernel.kernel, pairs)
    coefficients = [float(one) for one in kernel.coefficients]
    result: Any = inner * 0.0 + coefficients[-1]
    for one in reversed(coefficients[:-1]):
        result = result * inner + one
    return result


@kernel_values.register
def _quadratic_form(kernel: QuadraticForm, pairs: SamplePairs) -> Value:
    return pairs.mapped(kernel.root).inner()


@kernel_values.register
def _composed(kernel: Composed, pairs: SamplePairs) -> Value:
    widened = kernel.function
    if not isinstance(widened, Widened) or widened.function is not None:
        refuse_kernel(kernel)
    place = np.zeros((len(widened.columns), widened.width))
    place[np.arange(len(widened.columns)), widened.columns] = 1.0
    return kernel_values(kernel.kernel, pairs.mapped(place))


def _power(base: Value, exponent: int) -> Value:
    """By repeated squaring, as the kernel itself does it."""
    result = None
    while True:
        if exponent & 1:
            result = base if result is None else result * base
        exponent >>= 1
        if not exponent:
            assert result is not None  # exponents are at least 1
            return result
        base = base * base
