"""What every kernel is: a value with parameters, a Gram matrix, and an algebra.

A kernel is K(x, x') = <phi(x), phi(x')> for some map phi into a space with an inner product. It
is called a Mercer kernel when every Gram matrix it gives is positive semi-definite. The class here
holds what all kernels share; what differs is in four small methods of the subclasses: ``_gram``,
``_diag``, ``_prepare`` and ``_track``.
"""

from __future__ import annotations

import copy
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse

from tamiz.gpu.gram import POWER, RADIAL, KernelForm
from tamiz.kernels.prepared import finite_values
from tamiz.validation import (
    TOO_LARGE,
    Array,
    Matrix,
    as_samples,
    check_same_width,
    checked,
    float_type,
    require_gram,
)

if TYPE_CHECKING:
    from tamiz.kernels.features.base import FeatureGram
    from tamiz.kernels.prepared import Prepared

SUM, PRODUCT, ATOM = 0, 1, 2  # how tightly a kernel's text binds, for the brackets of its repr


class PairwiseForm(NamedTuple):
    """A kernel as a function of one number for each pair of samples.

    exp(-gamma ||x - x'||**2) if ``radial``, else (constant + gamma <x, x'>) ** degree. In both a
    feature is one term of a sum, so that compiled code can follow as features come and go.
    """

    radial: bool
    gamma: float | str  # a word ("scale" or "auto") until the kernel is resolved on samples
    constant: float = 0.0
    degree: int = 1


#: What a parameter that must be a kernel is called, and what to do about one that is none.
NEEDS_KERNEL = ("a kernel object", "Turn names into kernels with as_kernel.")


class Kernel(ABC):
    """Base class of all kernels; not used by itself.

    A subclass lists the names of its constructor arguments in ``_parameters``, stores them
    unchanged under the same names and checks them in ``_check_parameters``. What it can do besides
    giving values it declares in the properties ``accepts_sparse``, ``any_width``, ``is_linear``,
    ``pairwise_form`` and ``precomputed``; callers ask these and test for no class. All of
    them say no unless a kernel says otherwise, and a subclass whose values differ from its parent's
    declares them anew.
    """

    _parameters: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, Any]] = {}
    _precedence: ClassVar[int] = ATOM
    __array_ufunc__ = None  # numpy scalars leave ``a * kernel`` to the kernel

    # ------------------------------------------------------------------ what subclasses say

    def _check_parts(self) -> None:
        """Refuse parameters that no kernel has; for models from a file."""
        self._check_parameters()

    def _check_parameters(self) -> None:  # noqa: B027  some have nothing to check
        """Raise a sentence if a parameter is wrong."""

    @abstractmethod
    def _gram(self, X: Matrix, Z: Matrix | None) -> Array:
        """Kernel values between checked samples; exactly symmetric when ``Z`` is None."""

    @abstractmethod
    def _diag(self, X: Matrix) -> Array:
        """K(x, x) for each checked sample."""

    def _resolve(self, X: Matrix, weight: Array | None = None) -> Kernel:
        """The kernel with ``"scale"`` and ``"auto"`` replaced by numbers from ``X``."""
        return self

    def _prepare(self, X: Matrix, dtype: np.dtype[Any]) -> Prepared:
        from tamiz.kernels.prepared import Recomputed

        return Recomputed(self, X, dtype)

    def _track(self, X: Array, scale: Array) -> FeatureGram:
        from tamiz.kernels.features.base import RecomputedFeatures

        return RecomputedFeatures(self, X, scale)

    def _restrict(self, columns: NDArray[np.intp], width: int) -> Kernel:
        """The kernel of samples of which only ``columns`` are left; the others count as zero."""
        from tamiz.kernels.mapped import Widened

        return self if self.any_width else self.of(Widened(columns, width))

    def _samples(self, X: Any, name: str = "X") -> Any:
        """Check samples and convert them to what ``_gram`` works on."""
        if sparse.issparse(X) and not self.accepts_sparse:
            from tamiz.kernels.mapped import KERNEL_NAMES, as_kernel

            able = [repr(word) for word in KERNEL_NAMES if as_kernel(word).accepts_sparse]
            raise TypeError(
                f"{name} is sparse, but {self!r} takes dense samples only; pass {name}.toarray(), "
                f"or use a kernel that accepts sparse samples ({', '.join(able)})."
            )
        return as_samples(X, name, repr(self), accept_sparse=True)

    def _error_scale(self, X: Matrix, diag: Array) -> float:
        """Size of the numbers whose rounding decides the error of an entry."""
        return float(np.abs(diag).max(initial=0.0))

    @property
    def _pending(self) -> bool:
        """Whether a parameter still waits for training samples."""
        return False

    @property
    def accepts_sparse(self) -> bool:
        """Whether samples may be sparse; ``_gram`` and ``_diag`` get these as CSR matrices."""
        return False

    @property
    def any_width(self) -> bool:
        """Whether it compares samples of any number of features, where absent ones are zero."""
        return False

    @property
    def pairwise_form(self) -> PairwiseForm | None:
        """The kernel as a function of squared distances or inner products, if it is one."""
        return None

    @property
    def pairwise_sum(self) -> tuple[tuple[float, PairwiseForm], ...] | None:
        """The kernel as a weighted sum of such functions, if it is one: weights and forms."""
        form = self.pairwise_form
        return None if form is None else ((1.0, form),)

    @property
    def card_form(self) -> KernelForm | None:
        """The kernel as a card computes it, with numbers for its parameters; None if it cannot."""
        form = self.pairwise_form
        if form is None or self._pending:
            return None
        shape = RADIAL if form.radial else POWER
        return KernelForm(shape, float(form.gamma), form.constant, form.degree)

    @property
    def is_linear(self) -> bool:
        """Whether it is the inner product of the samples itself, so that a machine has weights."""
        return False

    @property
    def precomputed(self) -> bool:
        """Whether it, or a kernel in it, is given kernel values in the place of features."""
        return False

    @property
    def compares_text(self) -> bool:
        """Whether samples are strings rather than rows of numbers."""
        return False

    @property
    def needs_scale(self) -> bool:
        """Whether a feature in large units leaves the others without effect.

        So it is where distances or powers mix the features; the weights of a linear machine can
        make up for their units.
        """
        return False

    @property
    def bound(self) -> float:
        """Least known upper bound of the size of K(x, x') over all samples; infinite if none is."""
        return float("inf")

    @property
    def unit_bounded(self) -> bool:
        """Whether no kernel value can exceed 1 in size, so that float32 storage is harmless."""
        return self.bound <= 1.0

    @property
    def always_mercer(self) -> bool:
        """Whether every Gram matrix of this kernel is known to be positive semi-definite."""
        return False

    # ------------------------------------------------------------------ values

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> Array:
        """Gram matrix between the rows of ``X`` and those of ``Z`` (of ``X`` itself if None).

        Parameters
        ----------
        X : array or CSR matrix of shape (n, p)
            Samples.
        Z : array or CSR matrix of shape (m, p), optional
            Other samples.

        Returns
        -------
        ndarray of float64, shape (n, m) or (n, n)
            Exactly symmetric when ``Z`` is not given.
        """
        left = self._samples(X)
        if Z is None:
            require_gram(left.shape[0], left.shape[0])
            kernel = self._resolve(left)
            return finite_values(kernel, lambda: kernel._gram(left, None))
        right = self._samples(Z, "Z")
        check_same_width(left, right)
        self._require_resolved()
        require_gram(left.shape[0], right.shape[0])
        return finite_values(self, lambda: self._gram(left, right))

    def diag(self, X: ArrayLike) -> Array:
        """K(x, x) for each row of ``X``: the diagonal of ``kernel(X)`` without the rest.

        It is infinite where float64 ends: such samples are farther than all others.
        """
        samples = self._samples(X)
        kernel = self._resolve(samples)
        with np.errstate(over="ignore", invalid="ignore"):
            values = kernel._diag(samples)
        return finite_values(kernel, lambda: values) if np.isnan(values).any() else values

    def distance(self, X: ArrayLike, Z: ArrayLike | None = None) -> Array:
        """Distances in the feature space: ``sqrt(K(x, x) + K(z, z) - 2 K(x, z))``.

        This is ``||phi(x) - phi(z)||``, with the map ``phi`` of the kernel never computed. For the
        radial kernel it is ``sqrt(2 (1 - K))`` and stays below ``sqrt(2)``. The kernels "linear"
        and "rbf" of dense samples, their multiples and sums keep their digits where samples are
        close to each other; others lose those that the three terms have in common.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, p)
            Samples.
        Z : array or CSR matrix of shape (m, p), optional
            Other samples; those of ``X`` if None.

        Returns
        -------
        ndarray of float64, shape (n, m) or (n, n)
            Symmetric, with zeros on the diagonal, when ``Z`` is not given. A kernel that is not
            positive semi-definite has no feature space: where the square would be negative, the
            distance is 0.

        Examples
        --------
        >>> from tamiz.kernels import Linear, RBF
        >>> Linear().distance([[0.0, 0.0]], [[3.0, 4.0]])
        array([[5.]])
        >>> RBF(gamma=0.5).distance([[0.0], [2.0], [100.0]]).round(4)
        array([[0.    , 1.315 , 1.4142],
               [1.315 , 0.    , 1.4142],
               [1.4142, 1.4142, 0.    ]])
        """
        left = self._samples(X)
        right, kernel = None, self
        if Z is None:
            kernel = self._resolve(left)
        else:
            right = self._samples(Z, "Z")
            check_same_width(left, right)
            self._require_resolved()
        require_gram(left.shape[0], (left if right is None else right).shape[0], matrices=2)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.maximum(kernel._squared_distances(left, right), 0.0)
        if not np.isfinite(squares).all():
            raise ValueError(TOO_LARGE)
        if right is None:
            np.fill_diagonal(squares, 0.0)
        return np.sqrt(squares)

    def _squared_distances(self, X: Matrix, Z: Matrix | None) -> Array:
        """Squares of the distances between checked samples, up to rounding; maybe below 0."""
        left = self._diag(X)
        right = left if Z is None else self._diag(Z)
        return (left[:, None] + right[None, :]) - 2.0 * self._gram(X, Z)

    def resolve(self, X: ArrayLike, sample_weight: Array | None = None) -> Kernel:
        """The same kernel with ``gamma="scale"`` or ``"auto"`` replaced by numbers from ``X``.

        ``"scale"`` is 1 / (p * X.var()) and ``"auto"`` is 1 / p, as in scikit-learn; data without
        any variance give 1. With ``sample_weight`` the variance is that of samples repeated as
        often as their weight says. A kernel whose parameters are numbers already is returned
        as it is.

        Examples
        --------
        >>> from tamiz.kernels import RBF
        >>> RBF(gamma="auto").resolve([[0.0, 1.0], [2.0, 3.0]])
        RBF(gamma=0.5)
        """
        if not self._pending:
            return self
        return self._resolve(self._samples(X), sample_weight)

    @checked(dtype=float_type)
    def prepare(self, X: ArrayLike, dtype: DTypeLike = np.float64) -> Prepared:
        """Training samples with everything precomputed that kernel values need.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, p)
            Training samples, on which ``"scale"`` and ``"auto"`` are resolved.
        dtype : float64 or float32, default=float64
            Type of the kernel values that the result returns.

        Returns
        -------
        Prepared
        """
        samples = self._samples(X)
        with np.errstate(over="ignore", invalid="ignore"):  # values are looked at when asked for
            return self._resolve(samples)._prepare(samples, np.dtype(dtype))

    def track(self, X: ArrayLike, scale: ArrayLike | None = None) -> FeatureGram:
        """A Gram matrix that follows as features are removed, added or rescaled.

        Parameters
        ----------
        X : array of shape (n, p)
            Samples, on which ``"scale"`` and ``"auto"`` are resolved before any scaling.
        scale : array of shape (p,), optional
            One factor for each feature (ones if None): the tracker starts at the Gram matrix of
            ``X * scale``. A factor of 0 means that the feature is removed.

        Returns
        -------
        FeatureGram
        """
        from tamiz.kernels.features.base import checked_scale

        samples = as_samples(X, "X", repr(self), accept_sparse=False)
        require_gram(samples.shape[0], samples.shape[0], matrices=2)
        kernel, factors = self._resolve(samples), checked_scale(scale, samples.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            return kernel._track(samples, factors)

    def restrict(self, columns: ArrayLike, width: int) -> Kernel:
        """The kernel of samples that have only some of their features: the others are zero.

        A kernel with ``any_width`` is returned as it is. The matrix of a quadratic form loses rows
        and columns; any other kernel gets samples with zeros in the place of absent features.

        Parameters
        ----------
        columns : array of int
            The features that are left, in their order in the samples to come.
        width : int
            Number of features of the samples before.

        Returns
        -------
        Kernel

        Examples
        --------
        >>> from tamiz.kernels import RBF, QuadraticForm
        >>> kernel = QuadraticForm([[2.0, 0.0], [0.0, 1.0]]) + RBF(gamma=0.1)
        >>> kernel.restrict([1], 2)([[3.0]], [[3.0]]).round(12)
        array([[10.]])
        """
        chosen = np.asarray(columns, dtype=np.intp)
        if np.array_equal(chosen, np.arange(width)):
            return self
        return self._restrict(chosen, width)

    def _require_resolved(self) -> None:
        if self._pending:
            raise ValueError(
                f"gamma of {self!r} is a word whose number depends on the training samples; "
                "call kernel.resolve(X_train) first and use the kernel it returns."
            )

    # ------------------------------------------------------------------ algebra

    def __add__(self, other: object) -> Kernel:
        from tamiz.kernels.algebra import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: object) -> Kernel:
        """So that ``sum([k1, k2])``, which starts from zero, works."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, other: object) -> Kernel:
        from tamiz.kernels.algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(float(other), self) if isinstance(other, numbers.Real) else NotImplemented

    def __rmul__(self, other: object) -> Kernel:
        from tamiz.kernels.algebra import Scaled

        return Scaled(float(other), self) if isinstance(other, numbers.Real) else NotImplemented

    def exp(self) -> Kernel:
        """The kernel exp(K(x, x'))."""
        from tamiz.kernels.algebra import Exponential

        return Exponential(self)

    def poly(self, coefficients: Sequence[float]) -> Kernel:
        """The kernel c0 + c1 K + c2 K**2 + ...; no coefficient may be negative."""
        from tamiz.kernels.algebra import PolynomialOf

        return PolynomialOf(self, coefficients)

    def of(self, function: Callable[[Any], Any]) -> Kernel:
        """The kernel K(h(x), h(x')); ``function`` maps a table of samples, row by row."""
        from tamiz.kernels.mapped import Composed

        return Composed(self, function)

    def times_function(self, function: Callable[[Any], Any]) -> Kernel:
        """The kernel f(x) K(x, x') f(x'); ``function`` gives one number for each row."""
        from tamiz.kernels.mapped import Conformal

        return self * Conformal(function)

    # ------------------------------------------------------------------ parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, those of inner kernels as ``name__parameter`` if ``deep``."""
        params: dict[str, Any] = {}
        for name in self._parameters:
            value = getattr(self, name)
            params[name] = value
            if deep and isinstance(value, Kernel):
                inner = value.get_params(deep=True)
                params.update({f"{name}__{key}": item for key, item in inner.items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name (``name__parameter`` reaches an inner kernel).

        Either all of them are set or, if one is wrong, none is.
        """
        before = {name: getattr(self, name) for name in self._parameters}
        inner: dict[str, dict[str, Any]] = {}
        try:
            for key, value in params.items():
                name, _, rest = key.partition("__")
                self._require_parameter(name, reaches_inside=bool(rest))
                if rest:
                    inner.setdefault(name, {})[rest] = value
                else:
                    setattr(self, name, value)
            for name, values in inner.items():
                child = getattr(self, name)
                self._require_parameter(name, reaches_inside=True)
                setattr(self, name, copy.copy(child).set_params(**values))
            self._check_parameters()
        except Exception:
            for name, value in before.items():
                setattr(self, name, value)
            raise
        return self

    def _require_parameter(self, name: str, *, reaches_inside: bool) -> None:
        if name not in self._parameters:
            known = ", ".join(self._parameters) or "none"
            raise ValueError(
                f"{type(self).__name__} has no parameter {name!r}; its parameters are: {known}."
            )
        if reaches_inside and not isinstance(getattr(self, name), Kernel):
            raise ValueError(
                f"parameter {name!r} of {type(self).__name__} is not a kernel, so nothing "
                "inside it can be set."
            )

    def _key(self) -> tuple[Any, ...]:
        """What two kernels of one type must share to be equal."""
        return tuple(getattr(self, name) for name in self._parameters)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernel):
            return NotImplemented
        if type(self) is not type(other):
            return False
        return all(_same(a, b) for a, b in zip(self._key(), other._key(), strict=True))

    __hash__ = None  # type: ignore[assignment]  # equal by value, and set_params changes the value

    def __repr__(self) -> str:
        shown = []
        for name in self._parameters:
            value = getattr(self, name)
            if name not in self._defaults or not _same(value, self._defaults[name]):
                shown.append(f"{name}={_text(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _text(self, precedence: int) -> str:
        """The repr, in brackets if it binds less tightly than its surroundings ask."""
        return repr(self) if self._precedence >= precedence else f"({self!r})"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray | list | tuple) or isinstance(b, np.ndarray | list | tuple):
        return np.array_equal(np.asarray(a), np.asarray(b))
    return bool(a == b)


def _text(value: Any) -> str:
    if isinstance(value, np.generic):
        return repr(value.item())
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    return repr(value)
