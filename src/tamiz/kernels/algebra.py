"""Kernels made of kernels: sums, multiples, products, exponentials and polynomials.

If K1 and K2 are Mercer kernels, so are K1 + K2, a K1 for a > 0, K1 K2, exp(K1), and every
polynomial of K1 whose coefficients are not negative. Each of these works entry by entry on the
Gram matrices of its parts, so one class serves them all: a composite says how entries combine and
what the partial derivatives of that combination are, and everything else follows.

References
----------
B. Schölkopf and A. J. Smola, *Learning with Kernels*, MIT Press, 2002, chapter 13.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tamiz.kernels.base import ATOM, NEEDS_KERNEL, PRODUCT, SUM, Kernel, PairwiseForm
from tamiz.validation import Array, Matrix, check_factors, check_instance, check_positive

if TYPE_CHECKING:
    from tamiz.kernels.features.base import FeatureGram
    from tamiz.kernels.prepared import Prepared


class Composite(Kernel):
    """A kernel whose entries are a function of the entries of other kernels."""

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels this one is made of."""
        values = (getattr(self, name) for name in self._parameters)
        return tuple(value for value in values if isinstance(value, Kernel))

    @abstractmethod
    def combine(self, *grams: Array) -> Array:
        """Entries of this kernel from those of its parts; may write over its arguments."""

    @abstractmethod
    def partials(self, *grams: Array) -> tuple[Array, ...]:
        """Derivative of ``combine`` by each argument, as new arrays."""

    @property
    def weights(self) -> tuple[float, ...] | None:
        """The factor of each part if the combination is a weighted sum, else None."""
        return None

    @property
    def pairwise_sum(self) -> tuple[tuple[float, PairwiseForm], ...] | None:
        if self.weights is None:
            return super().pairwise_sum
        found: list[tuple[float, PairwiseForm]] = []
        for weight, part in zip(self.weights, self.parts, strict=True):
            inner = part.pairwise_sum
            if inner is None:
                return None
            found += [(weight * factor, form) for factor, form in inner]
        return tuple(found)

    def _check_parameters(self) -> None:
        for name in self._parameters:
            if name in ("k1", "k2", "kernel"):
                owner = type(self).__name__
                check_instance(name, getattr(self, name), owner, Kernel, *NEEDS_KERNEL)
        by_kind = {part.compares_text: part for part in self.parts}
        if len(by_kind) > 1:
            raise ValueError(
                f"{by_kind[True]!r} compares strings and {by_kind[False]!r} compares vectors, so "
                "no samples suit both. Compute both Gram matrices, combine these, and use "
                'kernel="precomputed".'
            )

    def _samples(self, X: Any, name: str = "X") -> Any:
        if self.compares_text:  # every part cuts them in its own way
            return self.parts[0]._samples(X, name)
        return super()._samples(X, name)

    def _rebuilt(self, parts: Sequence[Kernel]) -> Kernel:
        """The same combination of other parts."""
        params = self.get_params(deep=False)
        names = [name for name, value in params.items() if isinstance(value, Kernel)]
        params.update(zip(names, parts, strict=True))
        return type(self)(**params)

    def _resolve(self, X: Matrix, weight: Array | None = None) -> Kernel:
        if not self._pending:
            return self
        return self._rebuilt([part._resolve(X, weight) for part in self.parts])

    def _restrict(self, columns: NDArray[np.intp], width: int) -> Kernel:
        return self._rebuilt([part._restrict(columns, width) for part in self.parts])

    @property
    def _pending(self) -> bool:
        return any(part._pending for part in self.parts)

    @property
    def any_width(self) -> bool:
        return all(part.any_width for part in self.parts)

    @property
    def precomputed(self) -> bool:
        return any(part.precomputed for part in self.parts)

    @property
    def compares_text(self) -> bool:
        return self.parts[0].compares_text

    @property
    def always_mercer(self) -> bool:
        return all(part.always_mercer for part in self.parts)

    @property
    def needs_scale(self) -> bool:
        return any(part.needs_scale for part in self.parts)

    @property
    def accepts_sparse(self) -> bool:
        return all(part.accepts_sparse for part in self.parts)

    def _gram(self, X: Matrix, Z: Matrix | None) -> Array:
        return self.combine(*(_own(part._gram(X, Z), X) for part in self.parts))

    def _diag(self, X: Matrix) -> Array:
        return self.combine(*(part._diag(X) for part in self.parts))

    def _squared_distances(self, X: Matrix, Z: Matrix | None) -> Array:
        if self.weights is None:
            return super()._squared_distances(X, Z)
        squares = [part._squared_distances(X, Z) for part in self.parts]
        return self.combine(*squares)  # a weighted sum of kernels is one of squares

    def _prepare(self, X: Matrix, dtype: np.dtype[Any]) -> Prepared:
        from tamiz.kernels.prepared import PreparedComposite

        double = np.dtype(np.float64)
        return PreparedComposite(self, [part._prepare(X, double) for part in self.parts], dtype)

    def _track(self, X: Array, scale: Array) -> FeatureGram:
        from tamiz.kernels.features.base import CompositeFeatures

        return CompositeFeatures(self, X, scale, [part._track(X, scale) for part in self.parts])

    @property
    def bound(self) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            largest = self.combine(*(np.array([part.bound]) for part in self.parts))[0]
        return float(largest) if np.isfinite(largest) else float("inf")


class Sum(Composite):
    """K1 + K2, usually written ``k1 + k2``.

    Parameters
    ----------
    k1, k2 : Kernel
        The terms.

    Examples
    --------
    >>> from tamiz.kernels import Linear, Polynomial, RBF
    >>> 0.5 * RBF(gamma=0.1) + Polynomial(degree=2)
    0.5 * RBF(gamma=0.1) + Polynomial(degree=2)
    >>> (Linear() + Linear())([[1.0]], [[3.0]])
    array([[6.]])
    """

    _parameters = ("k1", "k2")
    _precedence = SUM

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2
        self._check_parameters()

    def combine(self, *grams: Array) -> Array:
        first, second = grams
        first += second
        return first

    def partials(self, *grams: Array) -> tuple[Array, ...]:
        return tuple(np.ones_like(gram) for gram in grams)

    @property
    def weights(self) -> tuple[float, ...]:
        return 1.0, 1.0

    def __repr__(self) -> str:
        return f"{self.k1._text(SUM)} + {self.k2._text(PRODUCT)}"


class Scaled(Composite):
    """a K for a > 0, usually written ``a * k``.

    Parameters
    ----------
    factor : float
        The factor a, above 0.
    kernel : Kernel
        The kernel K.

    Examples
    --------
    >>> from tamiz.kernels import Linear
    >>> (2 * Linear())([[1.0]], [[3.0]])
    array([[6.]])
    """

    _parameters = ("factor", "kernel")
    _precedence = PRODUCT

    def __init__(self, factor: float, kernel: Kernel) -> None:
        self.factor = factor
        self.kernel = kernel
        self._check_parameters()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("factor", self.factor, "a multiple of a kernel")

    def combine(self, *grams: Array) -> Array:
        (gram,) = grams
        gram *= float(self.factor)
        return gram

    def partials(self, *grams: Array) -> tuple[Array, ...]:
        return (np.full_like(grams[0], float(self.factor)),)

    @property
    def weights(self) -> tuple[float, ...]:
        return (float(self.factor),)

    def __repr__(self) -> str:
        inner = self.kernel._text(PRODUCT)
        if isinstance(self.kernel, Scaled | Product):
            inner = f"({inner})"
        return f"{float(self.factor)!r} * {inner}"


class Product(Composite):
    """K1 K2, entry by entry, usually written ``k1 * k2``.

    Parameters
    ----------
    k1, k2 : Kernel
        The factors.

    Examples
    --------
    >>> from tamiz.kernels import Linear
    >>> (Linear() * Linear())([[1.0]], [[3.0]])
    array([[9.]])
    """

    _parameters = ("k1", "k2")
    _precedence = PRODUCT

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2
        self._check_parameters()

    def combine(self, *grams: Array) -> Array:
        first, second = grams
        first *= second
        return first

    def partials(self, *grams: Array) -> tuple[Array, ...]:
        first, second = grams
        return second.copy(), first.copy()

    def __repr__(self) -> str:
        return f"{self.k1._text(PRODUCT)} * {self.k2._text(ATOM)}"


class Exponential(Composite):
    """exp(K), usually written ``k.exp()``.

    Parameters
    ----------
    kernel : Kernel
        The kernel K.

    Examples
    --------
    >>> from tamiz.kernels import Linear
    >>> Linear().exp()([[1.0]], [[2.0]]).round(4)
    array([[7.3891]])
    """

    _parameters = ("kernel",)

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._check_parameters()

    def combine(self, *grams: Array) -> Array:
        return np.exp(grams[0], out=grams[0])

    def partials(self, *grams: Array) -> tuple[Array, ...]:
        return (np.exp(grams[0]),)

    def __repr__(self) -> str:
        return f"{self.kernel._text(ATOM)}.exp()"


class PolynomialOf(Composite):
    """c0 + c1 K + c2 K**2 + ..., usually written ``k.poly([c0, c1, c2])``.

    Parameters
    ----------
    kernel : Kernel
        The kernel K.
    coefficients : sequence of float
        c0, c1, ...: none negative, at least one positive.

    Examples
    --------
    >>> from tamiz.kernels import Linear
    >>> Linear().poly([1, 0, 2])([[1.0]], [[3.0]])
    array([[19.]])
    """

    _parameters = ("kernel", "coefficients")

    def __init__(self, kernel: Kernel, coefficients: Sequence[float]) -> None:
        self.kernel = kernel
        self.coefficients = coefficients
        self._check_parameters()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_factors(
            "coefficients",
            self.coefficients,
            "a polynomial of a kernel",
            " [c0, c1, ...]",
            "A negative coefficient makes Gram matrices indefinite.",
        )

    def combine(self, *grams: Array) -> Array:
        return _horner([float(value) for value in self.coefficients], grams[0])

    def partials(self, *grams: Array) -> tuple[Array, ...]:
        falling = [k * float(value) for k, value in enumerate(self.coefficients)][1:]
        return (_horner(falling or [0.0], grams[0]),)

    def __repr__(self) -> str:
        listed = ", ".join(f"{float(value):g}" for value in self.coefficients)
        return f"{self.kernel._text(ATOM)}.poly([{listed}])"


def _horner(coefficients: list[float], x: Array) -> Array:
    result = np.full_like(x, coefficients[-1])
    for value in reversed(coefficients[:-1]):
        result *= x
        result += value
    return result


def _own(gram: Array, X: Matrix) -> Array:
    """An array that may be written over: a table of precomputed values is not ours."""
    return gram.copy() if gram is X else gram
