"""What explanations ask of a fitted model: its columns, its machine, its value as a function."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

from tamiz.explain.tables import CodedFrames, frame_of_numbers
from tamiz.kernels import Linear
from tamiz.kernels.shapley import has_exact_values
from tamiz.pictures import without_name_warnings
from tamiz.search.judges import names_columns
from tamiz.svm.kernel_machine import KernelExpansion
from tamiz.validation import (
    Units,
    as_numpy,
    as_samples,
    check_units,
    is_frame,
    names_for,
    require_samples,
)

# ---------------------------------------------------------------------------- what is given


def refuse_without_features(model: Any) -> None:
    last = model[-1] if isinstance(model, Pipeline) else model
    kernel = getattr(last, "kernel_", None)
    if kernel is not None and (
        getattr(kernel, "precomputed", False) or getattr(kernel, "compares_text", False)
    ):
        seen = "kernel values" if kernel.precomputed else "strings"
        raise ValueError(
            f"{type(last).__name__} was fitted to {seen}, which have no features to explain."
        )


def numbers_of(
    model: Any, X: Any, name: str, owner: str, coded: CodedFrames | None = None
) -> np.ndarray:
    """A table of numbers with the columns that the model was fitted to; NaN where one is missing.

    Columns of a frame that hold no numbers are codes.
    """
    X = as_numpy(X, name)
    known = getattr(model, "feature_names_in_", None)
    if known is not None and is_frame(X) and list(X.columns) != list(known):
        raise ValueError(
            f"The columns of {name} are not those that the model was fitted to, in their order: "
            f"{', '.join(map(str, list(known)[:5]))}{', …' if len(known) > 5 else ''}."
        )
    if coded is not None:
        X = coded.encode(X)
    elif is_frame(X):
        numbers = frame_of_numbers(X)
        X = X if numbers is None else numbers
    missing = _missing_in(X)
    table = as_samples(X if missing is None else np.where(missing, 0.0, X), name, owner,
                       accept_sparse=True)  # fmt: skip
    if sparse.issparse(table):
        table = table.toarray()
    if missing is not None:
        table = np.where(missing, np.nan, table)
    require_samples(len(table))
    expected = getattr(model, "n_features_in_", table.shape[1])
    if table.shape[1] != expected:
        raise ValueError(
            f"{name} has {table.shape[1]} features, but the model was fitted to {expected}."
        )
    return np.ascontiguousarray(table, dtype=np.float64)


def _missing_in(X: Any) -> np.ndarray | None:
    """Which numbers of an array are missing; None if all are there."""
    if sparse.issparse(X):
        return None
    try:
        table = np.asarray(X)
    except (TypeError, ValueError, RuntimeError):  # what is wrong with it is said elsewhere
        return None
    missing = np.isnan(table) if table.dtype.kind == "f" else None
    return missing if missing is not None and missing.any() else None


def frame_of(table: np.ndarray, like: Any) -> Any:
    """A table of numbers as a frame, with the columns of another."""
    frame = nw.from_native(like, eager_only=True)
    columns = dict(zip(frame.columns, table.T, strict=True))
    return nw.from_dict(columns, native_namespace=nw.get_native_namespace(frame)).to_native()


def feature_names(model: Any, X: Any, p: int) -> list[str]:
    known = getattr(model, "feature_names_in_", X.columns if is_frame(X) else None)
    return names_for(None if known is None else [str(name) for name in known], p)


class Front(NamedTuple):
    """The last step of a pipeline, and what it gets."""

    machine: Any
    X: np.ndarray
    background: np.ndarray
    source: np.ndarray  # the original column of each


def named_units(feature_groups: Any, names: list[str]) -> tuple[Units, list[str]]:
    """What is explained as one feature, and the names; a group may have one of its own."""
    units = check_units(feature_groups, None, len(names), names)
    given = {int(columns.min()): name for name, columns in (units.named or {}).items()}
    return units, [given.get(int(one[0]), names[int(one[0])]) for one in units.members]


def columns_of_the_machine(model: Any, X: np.ndarray, Z: np.ndarray) -> Front | None:
    """The machine behind steps that treat every column by itself.

    None if one does not, or if the machine gets missing values.
    """
    if not isinstance(model, Pipeline):
        return _complete(Front(model, X, Z, np.arange(X.shape[1])))
    source = np.arange(X.shape[1])
    with without_name_warnings():
        for _, step in model.steps[:-1]:
            if step is None or step == "passthrough":
                continue
            if hasattr(step, "get_support"):
                source = source[np.flatnonzero(step.get_support())]
            elif not _treats_columns_alone(step, X, Z):
                return None
            X, Z = _table_of(step.transform(X)), _table_of(step.transform(Z))
            if X.shape[1] != len(source):
                return None
    return _complete(Front(model[-1], X, Z, source))


def _complete(front: Front) -> Front | None:
    there = np.isfinite(front.X).all() and np.isfinite(front.background).all()
    return front if there else None


def through(model: Any, X: np.ndarray) -> np.ndarray:
    """What the last step of a pipeline gets."""
    with without_name_warnings():
        for _, step in model.steps[:-1] if isinstance(model, Pipeline) else ():
            if step is not None and step != "passthrough":
                X = _table_of(step.transform(X))
    return X


def _table_of(result: Any) -> np.ndarray:
    dense = result.toarray() if sparse.issparse(result) else result
    return np.ascontiguousarray(np.asarray(dense), dtype=np.float64)


def _treats_columns_alone(step: Any, X: np.ndarray, Z: np.ndarray) -> bool:
    """Whether mixing rows and transforming them commute; tried on random mixtures."""
    if not isinstance(step, OneToOneFeatureMixin | SimpleImputer):
        return False
    rng = np.random.default_rng(0)
    rows, others = rng.integers(len(X), size=64), rng.integers(len(Z), size=64)
    mask = rng.random((64, X.shape[1])) < 0.5
    mixed = _table_of(step.transform(np.where(mask, X[rows], Z[others])))
    x, z = _table_of(step.transform(X[rows])), _table_of(step.transform(Z[others]))
    return mixed.shape == mask.shape and bool(
        np.allclose(mixed, np.where(mask, x, z), rtol=1e-9, atol=1e-12, equal_nan=True)
    )


class Terms(NamedTuple):
    expansion: KernelExpansion
    outputs: list[str]


def terms_of(front: Front) -> Terms | None:
    """The last step as a kernel expansion with exact values, if it is one."""
    machine = front.machine
    make = getattr(machine, "kernel_expansion", None)
    if make is not None:
        found = make()
        return Terms(found, names_of_machines(machine)) if has_exact_values(found.kernel) else None
    coef, intercept = getattr(machine, "coef_", None), getattr(machine, "intercept_", None)
    if coef is None or intercept is None:
        return None
    dense = coef.toarray() if sparse.issparse(coef) else coef
    weights = np.atleast_2d(np.asarray(dense, dtype=np.float64))
    if weights.shape[1] != front.X.shape[1]:
        return None
    constant = np.broadcast_to(np.ravel(intercept), len(weights)).astype(np.float64)
    function, outputs = function_of(machine)
    tried = np.vstack([front.X[:8], front.background[:8]])
    with without_name_warnings():
        wanted = function(tried)
    with np.errstate(over="ignore", invalid="ignore"):  # beyond float64 nothing is linear
        linear = tried @ weights.T + constant
        size = np.abs(tried) @ np.abs(weights).T + np.abs(constant) + 1e-300
    if not np.isfinite(size).all():
        return None
    if wanted.shape != linear.shape or not (np.abs(wanted - linear) <= 1e-6 * size).all():
        return None
    own = np.eye(len(weights))  # each output has a vector of its own: nothing grows with p squared
    return Terms(KernelExpansion(Linear(), weights, own, constant, 0.0, None), outputs)


def names_of_machines(machine: Any) -> list[str]:
    """Names of the machines of a kernel machine."""
    classes = getattr(machine, "classes_", None)
    if classes is None:
        return ["value"]
    names = [str(name) for name in classes]
    if len(names) == 2:
        return names[1:]
    if len(machine.intercept_) == len(names) and machine.multiclass == "ovr":
        return names
    return [f"{b} over {a}" for a, b in combinations(names, 2)]


def limit_of(model: Any) -> float | None:
    """The value that parts two classes: 0 of decision values, 0.5 of probabilities; else None."""
    if len(getattr(model, "classes_", [])) != 2:
        return None
    if hasattr(model, "decision_function"):
        return 0.0
    return 0.5 if hasattr(model, "predict_proba") else None


def function_of(
    model: Any, like: Any = None, coded: CodedFrames | None = None
) -> tuple[Callable[[np.ndarray], np.ndarray], list[str]]:
    """The model as a function of a table, (samples, outputs), and names of the outputs.

    A model that finds columns by name gets frames such as ``like``; codes are written out.
    """
    names = [str(name) for name in getattr(model, "classes_", [])]
    for method in ("decision_function", "predict_proba", "predict"):
        if hasattr(model, method):
            break
    else:
        raise TypeError(
            f"{type(model).__name__} has none of decision_function, predict_proba and predict, so "
            "there is no value to explain."
        )
    evaluate = getattr(model, method)
    two = method == "predict_proba" and len(names) == 2
    framed = is_frame(like) and names_columns(model)

    def function(table: np.ndarray) -> np.ndarray:
        given = table
        if coded is not None:
            given = coded.decode(table)
        elif framed:
            given = frame_of(table, like)
        found = np.asarray(evaluate(given))
        if found.dtype.kind not in "fiub":
            raise TypeError(
                f"{type(model).__name__} predicts labels and has neither decision_function nor "
                "predict_proba, so there is no number to explain."
            )
        found = found.astype(np.float64).reshape(len(table), -1)
        return found[:, 1:] if two else found

    if len(names) == 2:
        names = names[1:]
    return function, names or ["value"]
