"""What the lane's programs take from CuPy, call by call, beside NumPy.

An emulated card is NumPy; on a card it is here that another type, another order or another way to
index shows, with its name, before anything is built upon it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tamiz.gpu import Lane
from tamiz.gpu.inverse import shifted_inverse
from tools.gpu_check import Equality, Job, apart
from tools.gpu_check.results import SAME

_SAMPLES = np.random.default_rng(0).normal(size=(40, 6))
_SINGLE = _SAMPLES.astype(np.float32)
_SQUARE = _SAMPLES @ _SAMPLES.T
_CUBE = np.random.default_rng(1).normal(size=(5, 40, 40))
_WORDS = np.random.default_rng(2).integers(0, 1 << 63, (4, 5, 6), dtype=np.uint64)
_PLACES = np.array([7, 0, 39, 3])
_NONE = np.empty(0, dtype=np.int64)
_BITS = np.arange(40) % 3 == 0
_ENDS = np.array([2.0, 1.0, np.inf, -3.0, -np.inf, 0.0])
_VECTOR = _SAMPLES[:, 0].copy()


def _written(a: Any, where: Any, value: Any) -> Any:
    a = a.copy()
    a[where] = value
    return a


def _added(a: Any, where: Any, value: Any) -> Any:
    a = a.copy()
    a[where] += value
    return a


def _on_diagonal(a: Any, value: Any) -> Any:
    a.reshape(-1)[:: len(a) + 1] += value
    return a


#: Beyond 32 bits: its square is 2.2e9.
SIDE = 47_000

#: Name, what is done with an array module and arrays of it, and the arrays. Results are the same to
#: the bit, but for sums, products and functions.
CALLS: tuple[tuple[str, Callable[..., Any], tuple[np.ndarray, ...]], ...] = (
    ("type of where(bool, float, float)", lambda xp, b: xp.where(b, 1.0, 0.0), (_BITS,)),
    (
        "type of where(bool, float32, float)",
        lambda xp, b, a: xp.where(b, a, 0.0),
        (_BITS, _SINGLE[:, 0].copy()),
    ),
    ("type of bool * 1e300", lambda xp, b: b * 1e300, (_BITS,)),
    ("type of float32 * float", lambda xp, a: a * 2.5, (_SINGLE,)),
    ("type of float32 * numpy.float64", lambda xp, a: a * np.float64(2.5), (_SINGLE,)),
    ("type of minimum(float32, float)", lambda xp, a: xp.minimum(a, 0.0), (_SINGLE,)),
    ("type of sum of bool", lambda xp, b: b.sum(axis=0), (_BITS,)),
    ("clip by arrays", lambda xp, a, e: xp.clip(a, -e, e), (_SAMPLES, np.abs(_SAMPLES[0]))),
    (
        "clip by arrays of more axes",
        lambda xp, a, e: xp.clip(a[:, :, None] + e, -e, e),
        (_SAMPLES, np.abs(_SAMPLES[0])),
    ),
    ("maximum in place", lambda xp, a: xp.maximum(a.copy(), 0.0), (_SAMPLES,)),
    ("order with infinite numbers", lambda xp, a: xp.argsort(a), (_ENDS,)),
    (
        "numbers and places in one array",
        lambda xp, a: xp.concatenate([a, xp.argsort(a)]),
        (_VECTOR,),
    ),
    ("rows by places", lambda xp, a, i: a[i], (_SAMPLES, _PLACES)),
    ("block by places", lambda xp, a, i: a[i[:, None], i], (_SQUARE, _PLACES)),
    ("columns by places", lambda xp, a, i: a[..., i], (_SAMPLES, _PLACES % 6)),
    ("no columns", lambda xp, a, i: a[..., i], (_SAMPLES, _NONE)),
    ("no rows", lambda xp, a, i: a[i], (_SAMPLES, _NONE)),
    ("product with no rows", lambda xp, a, i: a[i].T @ a[i], (_SAMPLES, _NONE)),
    ("write by places", lambda xp, a, i: _written(a, i, a[i] * 2), (_VECTOR, _PLACES)),
    ("write one place", lambda xp, b: _written(b, 4, False), (_BITS,)),
    ("add by places", lambda xp, a, i: _added(a, i, a[i] * 2), (_VECTOR, _PLACES)),
    ("add to the diagonal", lambda xp, a: _on_diagonal(a.copy(), 0.5), (_SQUARE,)),
    (
        "least of a column with infinite numbers",
        lambda xp, a: xp.where(a > 0, a, xp.inf).min(axis=0),
        (_SQUARE,),
    ),
    ("not a bool", lambda xp, b: ~b, (_BITS,)),
    ("or into a part", lambda xp, w: _written(w, (0, 1), w[0, 1] | w[0, 2]), (_WORDS,)),
    (
        "turned words",
        lambda xp, w: xp.ascontiguousarray(w.transpose(2, 0, 1)).reshape(6, 20),
        (_WORDS,),
    ),
    ("product", lambda xp, a: a @ a.T, (_SAMPLES,)),
    ("product of float32", lambda xp, a: a @ a.T, (_SINGLE,)),
    ("vector times matrix", lambda xp, v, a: v @ a, (_VECTOR, _SAMPLES)),
    ("product of a part", lambda xp, a: a[3:20, :7] @ a[3:20, :7].T, (_SQUARE,)),
    ("three axes times a vector", lambda xp, a, v: (a @ v) @ v, (_CUBE, _VECTOR)),
    ("exp in place", lambda xp, a: xp.exp(a.copy()), (_SAMPLES,)),
    ("exp of float32", lambda xp, a: xp.exp(a), (_SINGLE,)),
    ("tanh", lambda xp, a: xp.tanh(a), (_SAMPLES,)),
    (
        "Cholesky's factor",
        lambda xp, a: xp.linalg.cholesky(a + 50.0 * xp.eye(40)),
        (_SQUARE,),
    ),
    ("inverse", lambda xp, a: xp.linalg.inv(a + 50.0 * xp.eye(40)), (_SQUARE,)),
    ("inverse by halves", lambda xp, a: shifted_inverse(xp, a, 1.0, 8), (_SQUARE,)),
    ("inverse, not definite", lambda xp, a: shifted_inverse(xp, a, -7.5, 8), (_SQUARE,)),
)


def jobs(lane: Lane, side: int = 0) -> Iterator[Job]:
    """The checks; with ``side`` also those of a matrix so large, of bytes, and its copy."""
    for name, call, arrays in CALLS:
        yield Job(SAME, f"CuPy: {name}", partial(_one, lane, name, call, arrays), "")
    if side:
        yield Job(SAME, "CuPy: more than 2³¹ entries", partial(_many_entries, lane, side), "")


def _one(
    lane: Lane, name: str, call: Callable[..., Any], arrays: tuple[np.ndarray, ...]
) -> Iterator[Equality]:
    found = lane.to_host(call(lane.xp, *map(lane.to_device, arrays)))
    right = np.asarray(call(np, *arrays))
    if found.dtype != right.dtype or found.shape != right.shape:
        was, is_ = (f"{one.dtype} {one.shape}" for one in (right, found))
        yield Equality(f"CuPy: {name}: {was} expected, not {is_}", np.inf, 0.0)
        return
    single = found.dtype == np.float32
    limit = 0.0 if found.dtype.kind != "f" else 1e-5 if single else 1e-12
    finite = np.isfinite(right)
    same = bool((found[~finite] == right[~finite]).all())
    far = apart(found[finite], right[finite]) if finite.any() and found.dtype.kind == "f" else 0.0
    if found.dtype.kind != "f":
        far = float(np.count_nonzero(found != right))
    yield Equality(f"CuPy: {name}", far if same else np.inf, limit)


def _many_entries(lane: Lane, n: int) -> Iterator[Equality]:
    """Places beyond those that 32 bits can number: read, written, moved, summed."""
    xp = lane.xp
    a = xp.zeros((n, n), dtype=np.uint8)
    ends = lane.to_device(np.array([0, 1, n - 2, n - 1]))
    _on_diagonal(a, 1)
    a[n - 1, n - 1] = 4
    a[ends[2:]] += a[ends[2:]]
    right = np.diag([1, 1, 2, 8])
    blocks = {
        "block": a[ends[:, None], ends],
        "rows": a[ends][:, ends],
        "columns": a[:, ends][ends],
        "turned": xp.ascontiguousarray(a.T)[n - 2 :, n - 2 :],
    }
    for name, block in blocks.items():
        expected = right[2:, 2:] if name == "turned" else right
        wrong = np.count_nonzero(lane.to_host(block) != expected)
        yield Equality(f"CuPy: more than 2³¹ entries, {name}: wrong", float(wrong), 0.0)
    total = int(lane.to_host(a.sum(axis=0).astype(np.int64)).sum())
    yield Equality("CuPy: more than 2³¹ entries, sums: wrong", float(abs(total - n - 8)), 0.0)
