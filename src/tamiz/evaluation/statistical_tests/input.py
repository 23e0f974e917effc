"""What a user hands to a test of methods, checked."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from tamiz.evaluation.intervals import check_count, check_names


def check_errors(errors: Any, names: Any) -> tuple[np.ndarray, list[str]]:
    own: list[str] | None = None
    if nw.dependencies.is_into_dataframe(errors):
        own = check_names(errors.columns, None, "columns")
        frame = nw.from_native(errors, eager_only=True)
        text = [n for n, kind in zip(own, frame.schema.values(), strict=True) if not _numeric(kind)]
        if text:
            raise ValueError(
                f"column {text[0]!r} of errors does not hold numbers; leave only the columns of "
                "the methods, for instance errors.drop(columns=...)."
            )
        errors = frame.to_numpy()
    try:
        table = np.asarray(errors, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "errors must hold numbers, one row for each run and one column for each method."
        ) from None
    if table.ndim != 2 or table.shape[1] < 2 or table.shape[0] < 2:
        raise ValueError(
            f"errors has shape {table.shape}; it needs two or more rows (runs) and two or more "
            "columns (methods)."
        )
    k = table.shape[1]
    named = own or [f"method {j + 1}" for j in range(k)]
    if names is not None:
        named = check_names(names, k, "columns")
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        i, j = bad[0]
        raise ValueError(
            f"errors of {named[j]!r} is {table[i, j]} in row {i}; leave out the rows in which a "
            "method failed."
        )
    return table, named


def _numeric(kind: Any) -> bool:
    return bool(kind.is_numeric() or kind == nw.Boolean)


def check_name(what: str, given: Any, allowed: tuple[str, ...]) -> str:
    if not isinstance(given, str) or given not in allowed:
        raise ValueError(f"{what}={given!r} is not one of {', '.join(map(repr, allowed))}.")
    return given


def check_control(control: Any, names: list[str]) -> int | None:
    if control is None:
        return None
    if isinstance(control, str) and control in names:
        return names.index(control)
    whole = isinstance(control, Integral) and not isinstance(control, bool)
    if whole and 0 <= int(control) < len(names):
        return int(control)
    raise ValueError(f"control={control!r} is not one of the methods {', '.join(names)}.")


def check_fraction(fraction: Any, n_train: Any, n_test: Any) -> float | None:
    if (n_train is None) != (n_test is None):
        raise ValueError("n_train and n_test go together; give both, or test_fraction.")
    if n_train is not None:
        if fraction is not None:
            raise ValueError("give test_fraction or n_train and n_test, not both.")
        return check_count("n_test", n_test, 1) / check_count("n_train", n_train, 1)
    if fraction is None:
        return None
    number = isinstance(fraction, Real) and not isinstance(fraction, bool)
    if not number or not 0 <= float(fraction) < np.inf:
        raise ValueError(
            f"test_fraction={fraction!r} must be n_test / n_train, a number not below 0."
        )
    return float(fraction)
