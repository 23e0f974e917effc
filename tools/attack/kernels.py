"""Hostile inputs for every kernel: values that are finite and agree, or a sentence.

Every attempt makes a kernel from its number, elementary or composed, with parameters that may be
absurd, and a table as :mod:`tools.attack.estimators` does. It asks for kernel values within the
table and between two, for the diagonal, distances, prepared values in both precisions, values that
follow the features, and whether the kernel is one of Mercer's. What comes back several ways has to
be the same: matrices within a table are symmetric, their diagonal is ``diag``, distances are not
negative, radial values of sparse rows are those of the rows as an array.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.kernels import (
    RBF,
    Conformal,
    FunctionKernel,
    GapWeighted,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    QuadraticForm,
    Sigmoid,
    mercer_check,
)
from tools.attack.estimators import (
    Draw,
    check_finite,
    check_sentence,
    check_warnings,
    contained,
    content,
    inner_products,
    numbers,
    texts,
)
from tools.attack.runner import Campaign

#: Rates, powers and constants: usual ones more often, then the ends, then what is no number.
USUAL = (0.1, 0.5, 1.0, 2.0, "scale")
ENDS = (0.0, 5e-324, 1e-300, 1e-9, 1e9, 1e150, 1e300, 1.7e308)
ABSURD = (-1.0, np.nan, np.inf, None, "auto", "x", True, 1 + 2j, [1.0], np.array(0.5))
KINDS = ("linear", "poly", "rbf", "width", "sigmoid", "form", "function", "conformal", "given")


def parameter(draw: Draw) -> Any:
    """A value for a parameter."""
    kind = draw.integers(20)
    values: tuple[Any, ...] = ABSURD if kind == 0 else ENDS if kind < 5 else USUAL
    return values[draw.integers(len(values))]


def elementary(draw: Draw, p: int) -> Kernel:
    """One kernel of some kind."""
    kind = KINDS[draw.integers(len(KINDS))]
    if kind == "poly":
        degree = (0, 1, 2, 3, 7, 60, -1, 2.5)[draw.integers(8)]
        return Polynomial(degree, gamma=parameter(draw), coef0=parameter(draw))  # type: ignore[arg-type]
    if kind == "rbf":
        return RBF(parameter(draw))
    if kind == "width":
        return RBF(width=parameter(draw))
    if kind == "sigmoid":
        return Sigmoid(parameter(draw), parameter(draw))
    if kind == "form":
        size = p if draw.random() < 0.8 else int(draw.integers(4))
        root = draw.normal(size=(size, size)) * 10.0 ** draw.choice([-200, 0, 0, 0, 200])
        with np.errstate(all="ignore"):
            return QuadraticForm(root @ root.T if draw.random() < 0.8 else root)
    if kind == "function":
        return FunctionKernel(inner_products)
    if kind == "conformal":
        return Conformal(row_sums)
    return Precomputed() if kind == "given" else Linear()


def row_sums(X: Any) -> Any:
    """A function of samples, which may be as large as they are."""
    return np.asarray(X.sum(axis=1)).ravel()


def grown(draw: Draw, p: int, depth: int = 2) -> Kernel:
    """A kernel of others, at most so deep."""
    kernel = elementary(draw, p)
    if not depth or draw.random() < 0.5:
        return kernel
    kind = draw.integers(7)
    if kind == 0:
        return kernel + grown(draw, p, depth - 1)
    if kind == 1:
        return kernel * grown(draw, p, depth - 1)
    if kind == 2:
        factor = parameter(draw)
        return kernel * factor if isinstance(factor, float) else kernel
    if kind == 3:
        return kernel.exp()
    if kind == 4:
        return kernel.poly([parameter(draw) for _ in range(draw.integers(4))])
    return kernel.of(np.tanh) if kind == 5 else kernel.times_function(row_sums)


def asked(kernel: Kernel, X: Any, Z: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is asked of a kernel, by name."""
    yield "values", lambda: kernel(X)
    yield "values between", lambda: kernel(X, Z)
    yield "diag", lambda: kernel.diag(X)
    yield "distance", lambda: kernel.distance(X)
    yield "distance between", lambda: kernel.distance(X, Z)
    yield "prepared", lambda: np.array(kernel.prepare(X).gram())
    yield "prepared float32", lambda: np.array(kernel.prepare(X, np.float32).gram())
    yield "tracked", lambda: np.array(kernel.track(X).K)
    if type(kernel) is RBF and sparse.issparse(X):  # others lose digits in their own ways
        yield "dense", lambda: kernel(X.toarray())
    yield "mercer", lambda: np.array(mercer_check(kernel, X)[:3])


def check_agreement(found: dict[str, Any]) -> None:
    """What several ways lead to is the same, up to the rounding of the largest value."""
    values = found.get("values")
    for name in ("values", "distance", "prepared", "prepared float32", "tracked"):
        if name in found:
            K = np.asarray(found[name], dtype=np.float64)
            assert K.ndim == 2 and np.array_equal(K, K.T), f"{name} is not symmetric"
    if "distance" in found:
        assert (found["distance"] >= 0).all(), "a distance is negative"
    if values is None or not values.size:
        return
    largest = float(np.abs(values).max())
    for name, given, rounding in (
        ("diag", np.diagonal(values), 1e-6),
        ("prepared", values, 1e-6),
        ("dense", values, 1e-5),
        ("tracked", values, 1e-6),
        ("prepared float32", values, 1e-3),
    ):
        if name in found and np.isfinite(found[name]).all():
            away = np.abs(np.asarray(found[name], dtype=np.float64) / 2 - np.asarray(given) / 2)
            least = (
                1e-37 if name == "prepared float32" else 0.0
            )  # below it float32 has fewer digits
            limit = rounding * largest + least
            assert away.max() <= limit, f"{name} differs by {2 * away.max():.3g}"


class Kernels(Campaign):
    """One kernel and a table or two."""

    count = 20_000
    short = 200
    seconds = 20.0

    def attempt(self, seed: int) -> str:
        draw = np.random.default_rng([31, seed])
        n, m = draw.choice([0, 1, 2, 3, 9, 30], size=2, p=[0.02, 0.08, 0.1, 0.2, 0.3, 0.3])
        p = int(draw.choice([0, 1, 2, 5, 40], p=[0.02, 0.18, 0.3, 0.45, 0.05]))
        of_texts = draw.random() < 0.1
        try:
            kernel: Any = (
                GapWeighted(int(draw.integers(1, 4)), parameter(draw))
                if of_texts
                else grown(draw, p)
            )
        except Exception as error:
            check_sentence(error)
            return "kernel refused"
        rows = numbers(draw, int(n), p)
        if draw.random() < 0.1:
            rows += 10.0 ** draw.integers(3, 16)  # far from the origin, with digits left
        X = texts(draw, int(n)) if of_texts else contained(draw, rows)
        Z = texts(draw, int(m)) if of_texts else contained(draw, numbers(draw, int(m), p))
        before = content(X), content(Z)
        found: dict[str, Any] = {}
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                kernel = kernel.resolve(X)
            except Exception as error:
                check_sentence(error)
                return "table refused"
            for name, ask in asked(kernel, X, Z):
                try:
                    found[name] = ask()
                except Exception as error:
                    check_sentence(error)
                else:
                    ended = name == "diag" and not np.isnan(found[name]).any()
                    if not ended:  # which may be infinite
                        check_finite(found[name], f"{kernel!r}: {name}")
        check_warnings(said)
        assert (content(X), content(Z)) == before, "an input was changed"
        if not sparse.issparse(found.get("values")):
            check_agreement(found)
        return "answered" if found else "refused"
