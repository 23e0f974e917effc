"""The kernels with a name of their own: linear, polynomial, radial, sigmoid, precomputed.

==============  ==========================================
linear          <x, x'>
polynomial      (coef0 + gamma <x, x'>) ** degree
radial          exp(-gamma ||x - x'||**2)
sigmoid         tanh(gamma <x, x'> + coef0)
==============  ==========================================
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from tamiz.gpu.gram import TANH, KernelForm
from tamiz.kernels.base import Kernel, PairwiseForm
from tamiz.kernels.compiled import inner_products, squared_norms
from tamiz.validation import (
    TOO_LARGE,
    Array,
    Matrix,
    check_count,
    check_gamma,
    check_not_negative,
    check_positive,
    check_real,
    require_samples,
)

if TYPE_CHECKING:
    from tamiz.kernels.features.base import FeatureGram
    from tamiz.kernels.prepared import Prepared


class _NumericKernel(Kernel):
    """A kernel of real vectors, dense or sparse."""

    gamma: Any

    @property
    def accepts_sparse(self) -> bool:
        return True

    @property
    def any_width(self) -> bool:
        return True

    @property
    def needs_scale(self) -> bool:
        return True

    @property
    def _pending(self) -> bool:
        return isinstance(self.gamma, str)

    def _resolve(self, X: Matrix, weight: Array | None = None) -> Kernel:
        if not self._pending:
            return self
        params = self.get_params(deep=False)
        params["gamma"] = gamma_from(self.gamma, X, weight)
        return type(self)(**params)


class InnerProductKernel(_NumericKernel):
    """A function of the inner product alone: K(x, x') = value(<x, x'>)."""

    @abstractmethod
    def value(self, inner: Array) -> Array:
        """Kernel values from inner products; may write over its argument."""

    @abstractmethod
    def slope(self, inner: Array) -> Array:
        """Derivative of ``value`` by the inner product, as a new array."""

    def _gram(self, X: Matrix, Z: Matrix | None) -> Array:
        return self.value(inner_products(X, Z))

    def _diag(self, X: Matrix) -> Array:
        return self.value(squared_norms(X))

    def _error_scale(self, X: Matrix, diag: Array) -> float:
        # Errors of half a unit each add up like a random walk; four units are counted anyway.
        return super()._error_scale(X, diag) * 0.125 * math.sqrt(X.shape[1])


class Linear(InnerProductKernel):
    """The inner product <x, x'>.

    See Also
    --------
    QuadraticForm : the inner product x' B x in another metric.

    Examples
    --------
    >>> from tamiz.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    @property
    def is_linear(self) -> bool:
        return True

    @property
    def pairwise_form(self) -> PairwiseForm:
        return PairwiseForm(radial=False, gamma=1.0)

    @property
    def always_mercer(self) -> bool:
        return True

    @property
    def needs_scale(self) -> bool:
        return False

    @property
    def _pending(self) -> bool:
        return False

    def value(self, inner: Array) -> Array:
        return inner

    def slope(self, inner: Array) -> Array:
        return np.ones_like(inner)

    def _squared_distances(self, X: Matrix, Z: Matrix | None) -> Array:
        if sparse.issparse(X) or sparse.issparse(Z):
            return super()._squared_distances(X, Z)
        return cdist(X, X if Z is None else Z, "sqeuclidean")

    def _prepare(self, X: Matrix, dtype: np.dtype[Any]) -> Prepared:
        from tamiz.kernels.prepared import PreparedLinear

        return PreparedLinear(self, X, dtype)

    def _track(self, X: Array, scale: Array) -> FeatureGram:
        from tamiz.kernels.features.elementary import LinearFeatures

        return LinearFeatures(self, X, scale)


class Polynomial(InnerProductKernel):
    """The polynomial kernel (coef0 + gamma <x, x'>) ** degree.

    Parameters
    ----------
    degree : int, default=3
        Exponent, at least 1.
    gamma : float, "scale" or "auto", default=1.0
        Factor of the inner product; "scale" is 1 / (p * X.var()), "auto" is 1 / p.
    coef0 : float, default=1.0
        Constant, not negative: below zero the kernel is not of Mercer's kind. Above zero the
        feature space holds all products of up to ``degree`` features, at zero only those of
        exactly ``degree``.

    See Also
    --------
    Kernel.poly : any polynomial of any kernel.

    Examples
    --------
    >>> from tamiz.kernels import Polynomial
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    _parameters = ("degree", "gamma", "coef0")
    _defaults = {"degree": 3, "gamma": 1.0, "coef0": 1.0}

    def __init__(self, degree: int = 3, gamma: float | str = 1.0, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self._check_parameters()

    def _check_parameters(self) -> None:
        check_count("degree", self.degree, "Polynomial")
        check_gamma(self.gamma, "Polynomial")
        check_not_negative(
            "coef0",
            self.coef0,
            "Polynomial",
            "A negative constant makes Gram matrices indefinite; pass 0 or a positive number.",
        )

    @property
    def pairwise_form(self) -> PairwiseForm:
        return PairwiseForm(False, self.gamma, float(self.coef0), int(self.degree))

    @property
    def always_mercer(self) -> bool:
        return True

    def value(self, inner: Array) -> Array:
        inner *= self.gamma
        inner += self.coef0
        return whole_power(inner, int(self.degree))

    def slope(self, inner: Array) -> Array:
        base = inner * self.gamma
        base += self.coef0
        power = whole_power(base, int(self.degree) - 1)
        power *= self.degree * self.gamma
        return power

    def _error_scale(self, X: Matrix, diag: Array) -> float:
        return self.degree * (super()._error_scale(X, diag) + float(diag.max(initial=0.0)))

    def _track(self, X: Array, scale: Array) -> FeatureGram:
        from tamiz.kernels.features.elementary import PolynomialFeatures

        return PolynomialFeatures(self, X, scale)


class RBF(_NumericKernel):
    """The radial (Gaussian) kernel exp(-gamma ||x - x'||**2).

    Parameters
    ----------
    gamma : float, "scale" or "auto", optional
        Inverse squared range; "scale" is 1 / (p * X.var()), "auto" is 1 / p. Without ``gamma``
        and ``width``, "scale".
    width : float, optional
        The range rho of the other usual spelling, gamma = 1 / (2 rho**2). Give one of the two.

    See Also
    --------
    Polynomial, Sigmoid

    Examples
    --------
    >>> from tamiz.kernels import RBF
    >>> RBF(gamma=0.5)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    >>> RBF(width=1.0) == RBF(gamma=0.5)
    True
    """

    _parameters = ("gamma", "width")
    _defaults = {"gamma": None, "width": None}

    def __init__(self, gamma: float | str | None = None, width: float | None = None) -> None:
        self.gamma = gamma
        self.width = width
        self._check_parameters()

    def _check_parameters(self) -> None:
        if self.gamma is not None and self.width is not None:
            raise ValueError(
                f"RBF takes gamma or width, not both; got gamma={self.gamma!r} and "
                f"width={self.width!r}. They are tied by gamma = 1 / (2 * width**2)."
            )
        if self.gamma is not None:
            check_gamma(self.gamma, "RBF")
        if self.width is not None:
            check_positive("width", self.width, "RBF")
            with np.errstate(all="ignore"):
                implied = 0.5 / np.square(np.float64(self.width))
            if not 0 < implied < np.inf:
                raise ValueError(
                    f"width of RBF is {self.width!r}, too extreme for gamma = 1 / (2 * width**2) "
                    "in double precision; rescale the features instead."
                )

    @property
    def _gamma(self) -> float | str:
        if self.width is not None:
            return 0.5 / float(self.width) ** 2
        return "scale" if self.gamma is None else self.gamma

    @property
    def _pending(self) -> bool:
        return isinstance(self._gamma, str)

    @property
    def rate(self) -> float:
        """The number gamma, whichever way it was given."""
        self._require_resolved()
        return float(self._gamma)

    @property
    def pairwise_form(self) -> PairwiseForm:
        return PairwiseForm(radial=True, gamma=self._gamma)

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def always_mercer(self) -> bool:
        return True

    def _key(self) -> tuple[Any, ...]:
        return (self._gamma,)

    def _resolve(self, X: Matrix, weight: Array | None = None) -> Kernel:
        return RBF(gamma=gamma_from(str(self._gamma), X, weight)) if self._pending else self

    def _gram(self, X: Matrix, Z: Matrix | None) -> Array:
        double = np.dtype(np.float64)
        if Z is None:
            return self._prepare(X, double).gram()
        return self._prepare(Z, double).cross(X)

    def _diag(self, X: Matrix) -> Array:
        return np.ones(X.shape[0])

    def _squared_distances(self, X: Matrix, Z: Matrix | None) -> Array:
        if sparse.issparse(X) or sparse.issparse(Z):
            return super()._squared_distances(X, Z)
        return -2.0 * np.expm1(-self.rate * cdist(X, X if Z is None else Z, "sqeuclidean"))

    def _prepare(self, X: Matrix, dtype: np.dtype[Any]) -> Prepared:
        from tamiz.kernels.radial import PreparedRBF

        return PreparedRBF(self, X, dtype)

    def _track(self, X: Array, scale: Array) -> FeatureGram:
        from tamiz.kernels.features.elementary import RadialFeatures

        return RadialFeatures(self, X, scale)


class Sigmoid(InnerProductKernel):
    """The sigmoid kernel tanh(gamma <x, x'> + coef0).

    It is not a Mercer kernel for every ``gamma`` and ``coef0``: see :func:`mercer_check`.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default=1.0
        Factor of the inner product; "scale" is 1 / (p * X.var()), "auto" is 1 / p.
    coef0 : float, default=0.0
        Constant, of either sign.

    See Also
    --------
    mercer_check : is a kernel positive semi-definite on given samples?

    Examples
    --------
    >>> from tamiz.kernels import Sigmoid
    >>> Sigmoid(gamma=0.5)([[1.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.4621]])
    """

    _parameters = ("gamma", "coef0")
    _defaults = {"gamma": 1.0, "coef0": 0.0}

    def __init__(self, gamma: float | str = 1.0, coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0
        self._check_parameters()

    def _check_parameters(self) -> None:
        check_gamma(self.gamma, "Sigmoid")
        check_real("coef0", self.coef0, "Sigmoid")

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def card_form(self) -> KernelForm | None:
        if self._pending:
            return None
        return KernelForm(TANH, float(self.gamma), float(self.coef0))

    def value(self, inner: Array) -> Array:
        # The sign of a sum beyond float64 depends on the order of its terms, so it is not known.
        inner[np.isinf(inner)] = np.nan
        with np.errstate(over="ignore"):  # of what is infinite now, the hyperbolic tangent is 1
            inner *= self.gamma
            inner += self.coef0
        return np.tanh(inner, out=inner)

    def slope(self, inner: Array) -> Array:
        result = self.value(inner.copy())
        np.square(result, out=result)
        np.subtract(1.0, result, out=result)
        result *= self.gamma
        return result

    def _error_scale(self, X: Matrix, diag: Array) -> float:
        # A value near tanh's crossing of zero carries the whole rounding error of its argument.
        longest = float(squared_norms(X).max(initial=0.0))
        return 1.0 + self.gamma * longest + abs(self.coef0)

    def _track(self, X: Array, scale: Array) -> FeatureGram:
        from tamiz.kernels.features.elementary import SigmoidFeatures

        return SigmoidFeatures(self, X, scale)


class Precomputed(Kernel):
    """Kernel values worked out elsewhere: the table of samples is the Gram matrix itself.

    Called on the training Gram matrix it gives that matrix back; new samples are rows that hold
    their kernel values with every training sample.

    Examples
    --------
    >>> from tamiz.kernels import Precomputed
    >>> Precomputed().prepare([[2.0, 1.0], [1.0, 3.0]]).rows([1])
    array([[1., 3.]])
    """

    @property
    def precomputed(self) -> bool:
        return True

    def __call__(self, X: Any, Z: Any = None) -> Array:
        table: Array = self._samples(X)
        if Z is not None and table.shape[1] != np.shape(self._samples(Z, "Z"))[0]:
            raise ValueError(
                f"X of shape {table.shape} cannot hold precomputed kernel values with "
                f"{np.shape(Z)[0]} samples; it needs one column for each of them."
            )
        return table if Z is not None else self._gram(table, None)

    def _squared_distances(self, X: Matrix, Z: Matrix | None) -> Array:
        if Z is not None:
            raise ValueError(
                "Precomputed knows distances between training samples only: K(x, x) of new samples "
                "is not among the kernel values given. Pass the square matrix of all samples alone."
            )
        return super()._squared_distances(X, None)

    def _gram(self, X: Matrix, Z: Matrix | None) -> Array:
        if Z is not None:
            return np.asarray(X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"a precomputed Gram matrix must be square; X has shape {X.shape}. It holds the "
                "kernel values of all pairs of training samples."
            )
        if np.array_equal(X, X.T):
            return np.asarray(X)
        gap = float(np.abs(X - X.T).max())
        if gap > 1e-6 * float(np.abs(X).max()):
            raise ValueError(
                f"a precomputed Gram matrix must be symmetric; X and its transpose differ by up "
                f"to {gap:.3g}. Pass (X + X.T) / 2 if that is what you mean."
            )
        return (X + X.T) / 2

    def _diag(self, X: Matrix) -> Array:
        return np.diag(self._gram(X, None)).copy()

    def _prepare(self, X: Matrix, dtype: np.dtype[Any]) -> Prepared:
        from tamiz.kernels.prepared import PreparedTable

        return PreparedTable(self, self._gram(X, None), dtype)

    def _track(self, X: Array, scale: Array) -> FeatureGram:
        self._refuse_features()

    def _restrict(self, columns: NDArray[np.intp], width: int) -> Kernel:
        self._refuse_features()

    def _refuse_features(self) -> NoReturn:
        raise TypeError(
            "Precomputed has no features: they cannot be removed or rescaled once only kernel "
            "values are known. Pass the samples and a kernel such as Linear() or RBF()."
        )


def gamma_from(word: str, X: Matrix, weight: Array | None = None) -> float:
    """The number that ``gamma="scale"`` or ``gamma="auto"`` stands for on training samples X."""
    if word == "auto":
        return 1.0 / X.shape[1]
    require_samples(X.shape[0])
    with np.errstate(over="ignore", invalid="ignore"):
        size = X.shape[1] * _variance(X, weight)
    if not np.isfinite(size):
        raise ValueError(TOO_LARGE)
    return min(1.0 / size, float(np.finfo(float).max)) if size > 0 else 1.0


def _variance(X: Matrix, weight: Array | None) -> float:
    """Of all values, those of each sample counted as its weight says."""
    if weight is not None and np.ptp(weight) > 0:
        # in units of a power of two: exact, and products with squares of X stay within float64
        weight = np.ldexp(weight, -int(np.frexp(weight.max())[1]))
        total = float(weight.sum()) * X.shape[1]
        mean = float((weight @ X).sum()) / total
        if not sparse.issparse(X):
            return float((weight @ np.square(X - mean)).sum()) / total
        X = sparse.csr_matrix(X)
        of_value = np.repeat(weight, np.diff(X.indptr))
        squares = float(of_value @ np.square(X.data - mean))
        return (squares + (total - float(of_value.sum())) * np.square(mean)) / total
    if sparse.issparse(X):
        mean, size = float(X.mean()), X.shape[0] * X.shape[1]
        # about the mean, not about zero, from which it may be far
        return (float(np.square(X.data - mean).sum()) + (size - X.nnz) * np.square(mean)) / size
    return float(X.var())


def whole_power(base: Array, exponent: int) -> Array:
    """``base ** exponent`` by repeated squaring; faster than pow, and symmetric like ``base``."""
    result: Array | None = None
    while exponent:
        if exponent & 1:
            result = base.copy() if result is None else np.multiply(result, base, out=result)
        exponent >>= 1
        if exponent:
            base = base * base
    return np.ones_like(base) if result is None else result
