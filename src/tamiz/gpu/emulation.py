"""NumPy with the manners of CuPy: arrays that do not mix, and only the functions that both have.

On a card, ``numpy.asarray(array)`` fails, so does ``array + numpy_array``, and a function that only
NumPy has is missing. NumPy itself allows all of this, so that a program tested with it could fail
on its first card. Here it fails at once.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np


def _words(text: str) -> list[str]:
    return text.split()


#: Functions of ``cupy`` that programs here may use; all of them are NumPy's as well.
_SHARED = _words(
    """
abs absolute add all any arange argmax argmin argpartition argsort array asarray ascontiguousarray
asfortranarray bincount bitwise_and bitwise_not bitwise_or bitwise_xor broadcast_to ceil clip
column_stack concatenate copyto count_nonzero cumsum diag diagonal diff divide dot einsum empty
empty_like equal exp expand_dims expm1 eye fill_diagonal flatnonzero flip floor floor_divide full
full_like greater greater_equal hstack identity invert isfinite isin isinf isnan left_shift less
less_equal lexsort linspace log log1p log2 logical_and logical_not logical_or logical_xor matmul max
maximum mean min minimum multiply negative nonzero not_equal ones ones_like outer packbits partition
power prod ravel reciprocal remainder repeat reshape right_shift roll round searchsorted sign
signbit sort split sqrt square squeeze stack subtract sum swapaxes take take_along_axis tanh
tensordot tile trace transpose tril triu true_divide unique unpackbits var vdot vstack where zeros
zeros_like
"""
)
_LINALG = _words("cholesky eigh eigvalsh inv norm qr solve svd")
#: Types and constants, which CuPy takes from NumPy.
_BORROWED = _words(
    """
bool_ dtype e float32 float64 inf int8 int16 int32 int64 intp nan newaxis pi uint8 uint16 uint32
uint64
"""
)
_METHODS = _words(
    """
all any argmax argmin argpartition argsort astype clip copy cumsum diagonal dot fill flatten item
max mean min nonzero partition prod ravel repeat reshape round sort squeeze sum swapaxes take
tolist trace transpose var view
"""
)


class CardArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of NumPy that behaves like one on a card; :meth:`get` copies it back."""

    __slots__ = ("_a",)

    def __init__(self, a: np.ndarray):
        self._a = a

    def get(self) -> np.ndarray:
        """A copy as an array of NumPy."""
        return self._a.copy()

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError(
            "An array of the card does not become one of NumPy by itself: lane.to_host."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__":
            raise TypeError(f"CuPy has no {ufunc.__name__}.{method} that programs here may use.")
        return _wrapped(getattr(ufunc, method)(*_bare(inputs), **_bare(options)))

    def __getitem__(self, index: Any) -> Any:
        return _wrapped(self._a[_bare(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, tuple) and sum(isinstance(one, CardArray) for one in index) > 1:
            raise TypeError(
                "CuPy numbers places with 32 bits when several arrays say where to write: use a "
                "slice, or one array."
            )
        self._a[_bare(index)] = _bare(value)

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            return _shared(getattr(self._a, name))
        raise AttributeError(f"Programs for the card use no array method or attribute {name!r}.")

    def item(self, *index: int) -> Any:
        """One value, as a number of Python."""
        return self._a.item(*index)

    def tolist(self) -> Any:
        """All values, as numbers of Python."""
        return self._a.tolist()

    @property
    def T(self) -> CardArray:
        """The transpose, without a copy."""
        return CardArray(self._a.T)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self._a.shape

    @property
    def dtype(self) -> np.dtype:
        """Type of the entries."""
        return self._a.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._a.ndim

    @property
    def size(self) -> int:
        """Number of entries."""
        return self._a.size

    @property
    def nbytes(self) -> int:
        """Memory of the entries."""
        return self._a.nbytes

    def __len__(self) -> int:
        return len(self._a)

    def __float__(self) -> float:
        return float(self._a)

    def __int__(self) -> int:
        return int(self._a)

    def __index__(self) -> int:
        return self._a.__index__()

    def __bool__(self) -> bool:
        return bool(self._a)

    def __repr__(self) -> str:
        return f"CardArray({self._a!r})"


def _bare(value: Any) -> Any:
    """The array inside; arrays of NumPy are refused, scalars pass."""
    if isinstance(value, CardArray):
        return value._a
    if isinstance(value, np.ndarray):
        raise TypeError("An array of NumPy is mixed with those of the card: lane.to_device first.")
    if isinstance(value, tuple):
        return tuple(_bare(one) for one in value)
    if isinstance(value, list):
        return [_bare(one) for one in value]
    if isinstance(value, dict):
        return {name: _bare(one) for name, one in value.items()}
    return value


def _wrapped(value: Any) -> Any:
    """Results as the card gives them: an array even where NumPy gives a number."""
    if isinstance(value, (np.ndarray, np.generic)):
        return CardArray(np.asarray(value))
    if isinstance(value, (tuple, list)):
        return (
            type(value)(*map(_wrapped, value))
            if hasattr(value, "_fields")
            else type(value)(map(_wrapped, value))
        )
    return value


def _shared(function: Any) -> Any:
    """A function of NumPy for arrays of the card."""

    def call(*arguments: Any, **options: Any) -> Any:
        return _wrapped(function(*_bare(arguments), **_bare(options)))

    return call


def _namespace() -> SimpleNamespace:
    names: dict[str, Any] = {name: _shared(getattr(np, name)) for name in _SHARED}
    names |= {name: getattr(np, name) for name in _BORROWED}
    names["ndarray"] = CardArray
    names["linalg"] = SimpleNamespace(
        LinAlgError=np.linalg.LinAlgError,
        **{name: _shared(getattr(np.linalg, name)) for name in _LINALG},
    )
    return SimpleNamespace(**names)


#: The array module of an emulated lane.
CARD_FUNCTIONS = _namespace()
