r"""Shapley values of fitted models: exact for kernel and linear machines, sampled for others.

With the value ``v(S)`` of a model at ``x`` when the features ``S`` are known, feature ``j`` gets
its mean contribution over all orders in which features become known,

.. math::

    \phi_j = \frac1{p!} \sum_{\text{orders}} v(\text{before } j, j) - v(\text{before } j),
    \qquad \sum_j \phi_j = f(x) - v(\emptyset) .

A model is exact where it is a kernel expansion with a kernel that
:mod:`tamiz.kernels.shapley` knows, or linear. Steps of a pipeline before it that treat every
column by itself change neither ``v`` nor the values, so that these are those of the original
columns; columns that a selector drops have zeros.

For anything else, orders are sampled, each together with its reverse, and with every row of the
background equally often. Then the values add up exactly, and the spread over such pairs gives
the standard error.

References
----------
.. [1] L. S. Shapley (1953). A value for n-person games. Contributions to the Theory of Games 2.
.. [2] E. Štrumbelj, I. Kononenko (2014). Explaining prediction models and individual predictions
       with feature contributions. Knowledge and Information Systems 41.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tamiz.explain.result import ShapleyValues
from tamiz.kernels import Linear
from tamiz.kernels.shapley import (
    Absent,
    Interventional,
    KernelMean,
    LeftOut,
    expansion_shapley,
    has_exact_values,
)
from tamiz.pictures import without_name_warnings
from tamiz.runtime.progress import Progress
from tamiz.svm.kernel_machine import KernelExpansion
from tamiz.validation import (
    TOO_LARGE,
    as_samples,
    checked,
    estimator_with,
    integer_from,
    is_frame,
    names_for,
    one_of,
    refused,
    require_samples,
)

#: What stands for features that are not known.
VALUES: dict[str, type[Absent]] = {
    "interventional": Interventional,
    "kernel_mean": KernelMean,
    "left_out": LeftOut,
}
#: Rows of the background that are used if none is given.
MOST_BACKGROUND = 100
_STEP = 32  # samples between two updates of the progress line
_MOST_POINTS = 50_000  # evaluated at a time


@checked(
    model=estimator_with("fit", advice="Pass a fitted estimator or pipeline."),
    value=one_of(*VALUES),
    n_permutations=integer_from(2),
)
def shapley_values(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    value: str = "interventional",
    n_permutations: int = 200,
    random_state: Any = None,
    verbose: bool | int = 0,
) -> ShapleyValues:
    """What each feature adds to the decision values of a fitted model.

    Parameters
    ----------
    model : estimator or pipeline
        Fitted. Exact: :class:`~tamiz.svm.SVC`, :class:`~tamiz.svm.SVR`,
        :class:`~tamiz.svm.OneClassSVM`, :class:`~tamiz.svm.SVDD` with linear, radial and polynomial
        kernels (up to degree 8) and their weighted sums, and linear models; also behind
        steps that treat every column by itself, such as scalers, and behind selectors. Other models
        are sampled: their decision function, probabilities or predictions, the first there is.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Samples whose decision values are explained; numbers.
    background : table of shape (n_background, n_features), optional
        Samples that unknown features are taken from; ``X``, or 100 rows of it drawn at random, by
        default (all of them with ``value="kernel_mean"``).
    value : {"interventional", "kernel_mean", "left_out"}, default="interventional"
        What stands for features that are not known. "interventional": their values in each row of
        the background in turn. "kernel_mean": the mean over the background of the feature's
        factor, or term, in every kernel value, which takes the features for independent and is
        much quicker. "left_out": nothing; the kernel is that of the known features. The last two
        are for exact models only.
    n_permutations : int, default=200
        Orders of the features that are sampled for each row, half of them the others' reverses;
        the background is cut to half as many rows.
    random_state : int, RandomState or None
        For what is drawn.
    verbose : bool or int, default=0
        Show progress when it takes longer than two seconds.

    Returns
    -------
    ShapleyValues
        With ``values``, ``base``, ``standard_error``, ``importances``, ``to_frame()``, ``plot()``
        and ``plot_dependence()``. Of one-versus-one machines of several classes, every machine
        is an output of its own.

    References
    ----------
    .. [1] L. S. Shapley (1953). A value for n-person games. Contributions to the Theory of Games 2.

    Examples
    --------
    Two features decide by the sign of their product; the third does nothing:

    >>> import numpy as np
    >>> from tamiz.explain import shapley_values
    >>> from tamiz.svm import SVC
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], size=(200, 3))
    >>> machine = SVC(C=10, gamma=0.5).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> found = shapley_values(machine, X[:50], background=X)
    >>> found.importances.round(1).tolist(), found.method
    ([0.5, 0.5, 0.0], 'exact')
    >>> total = found.base + found.values.sum(axis=1)
    >>> bool(np.allclose(total, machine.decision_function(X[:50])))
    True
    """
    check_is_fitted(model)
    _refuse_without_features(model)
    rng = check_random_state(random_state)
    table = _numbers(model, X, "X")
    given = table if background is None else _numbers(model, background, "background")
    if background is None and value == "interventional" and len(given) > MOST_BACKGROUND:
        given = given[rng.choice(len(given), MOST_BACKGROUND, replace=False)]
    front = _columns_of_the_machine(model, table, given)
    terms = None if front is None else _terms(front)
    with Progress("Shapley values", verbose) as progress, without_name_warnings():
        if front is not None and terms is not None:
            values, base = _exact(front, terms, VALUES[value], table.shape, progress)
            error, outputs = None, terms.outputs
        elif value != "interventional":
            raise refused(
                "value",
                value,
                "be 'interventional' for this model, whose values are sampled: it is neither "
                "linear nor an expansion in a kernel with exact values",
            )
        else:
            function, outputs = _function(model)
            half = n_permutations // 2
            if len(given) > half:
                given = given[rng.choice(len(given), half, replace=False)]
            with np.errstate(over="ignore", invalid="ignore"):
                values, base, error = _sampled(function, table, given, half, rng, progress)
    if not (np.isfinite(values).all() and np.isfinite(base).all()):
        raise ValueError(TOO_LARGE)
    outputs = outputs if len(outputs) == values.shape[2] else names_of_outputs(values.shape[2])
    level: Any = base
    if values.shape[2] == 1:
        values, level = values[:, :, 0], float(base[0])
        error = None if error is None else error[:, :, 0]
    method = "exact" if error is None else "permutations"
    names = _feature_names(model, X, table.shape[1])
    return ShapleyValues(values, level, error, method, value, names, outputs, table)


def names_of_outputs(count: int) -> list[str]:
    """Names for outputs that have none."""
    return [f"output {k}" for k in range(count)]


# ---------------------------------------------------------------------------- what is given


def _refuse_without_features(model: Any) -> None:
    last = model[-1] if isinstance(model, Pipeline) else model
    kernel = getattr(last, "kernel_", None)
    if kernel is not None and (
        getattr(kernel, "precomputed", False) or getattr(kernel, "compares_text", False)
    ):
        seen = "kernel values" if kernel.precomputed else "strings"
        raise ValueError(
            f"{type(last).__name__} was fitted to {seen}, which have no features to explain."
        )


def _numbers(model: Any, X: Any, name: str) -> np.ndarray:
    """A table of numbers with the columns that the model was fitted to."""
    known = getattr(model, "feature_names_in_", None)
    if known is not None and is_frame(X) and list(X.columns) != list(known):
        raise ValueError(
            f"The columns of {name} are not those that the model was fitted to, in their order: "
            f"{', '.join(map(str, list(known)[:5]))}{', …' if len(known) > 5 else ''}."
        )
    table = as_samples(X, name, "shapley_values", accept_sparse=True)
    if sparse.issparse(table):
        table = table.toarray()
    require_samples(len(table))
    expected = getattr(model, "n_features_in_", table.shape[1])
    if table.shape[1] != expected:
        raise ValueError(
            f"{name} has {table.shape[1]} features, but the model was fitted to {expected}."
        )
    return np.ascontiguousarray(table, dtype=np.float64)


def _feature_names(model: Any, X: Any, p: int) -> list[str]:
    known = getattr(model, "feature_names_in_", X.columns if is_frame(X) else None)
    return names_for(None if known is None else [str(name) for name in known], p)


# ---------------------------------------------------------------------------- exact


class _Front(NamedTuple):
    """The last step of a pipeline, and what it gets."""

    machine: Any
    X: np.ndarray
    background: np.ndarray
    source: np.ndarray  # the original column of each


def _columns_of_the_machine(model: Any, X: np.ndarray, Z: np.ndarray) -> _Front | None:
    """The machine behind steps that treat every column by itself; None if one does not."""
    if not isinstance(model, Pipeline):
        return _Front(model, X, Z, np.arange(X.shape[1]))
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
    return _Front(model[-1], X, Z, source)


def _table_of(result: Any) -> np.ndarray:
    dense = result.toarray() if sparse.issparse(result) else result
    return np.ascontiguousarray(np.asarray(dense), dtype=np.float64)


def _treats_columns_alone(step: Any, X: np.ndarray, Z: np.ndarray) -> bool:
    """Whether mixing rows and transforming them commute; tried on random mixtures."""
    if not isinstance(step, OneToOneFeatureMixin):
        return False
    rng = np.random.default_rng(0)
    rows, others = rng.integers(len(X), size=64), rng.integers(len(Z), size=64)
    mask = rng.random((64, X.shape[1])) < 0.5
    mixed = _table_of(step.transform(np.where(mask, X[rows], Z[others])))
    x, z = _table_of(step.transform(X[rows])), _table_of(step.transform(Z[others]))
    return mixed.shape == mask.shape and bool(
        np.allclose(mixed, np.where(mask, x, z), rtol=1e-9, atol=1e-12)
    )


class _Terms(NamedTuple):
    expansion: KernelExpansion
    outputs: list[str]


def _terms(front: _Front) -> _Terms | None:
    """The last step as a kernel expansion with exact values, if it is one."""
    machine = front.machine
    make = getattr(machine, "kernel_expansion", None)
    if make is not None:
        found = make()
        return _Terms(found, _machines_of(machine)) if has_exact_values(found.kernel) else None
    coef, intercept = getattr(machine, "coef_", None), getattr(machine, "intercept_", None)
    if coef is None or intercept is None:
        return None
    dense = coef.toarray() if sparse.issparse(coef) else coef
    weights = np.atleast_2d(np.asarray(dense, dtype=np.float64))
    if weights.shape[1] != front.X.shape[1]:
        return None
    constant = np.broadcast_to(np.ravel(intercept), len(weights)).astype(np.float64)
    function, outputs = _function(machine)
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
    p = weights.shape[1]
    return _Terms(KernelExpansion(Linear(), np.eye(p), weights, constant, 0.0, None), outputs)


def _machines_of(machine: Any) -> list[str]:
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


def _exact(
    front: _Front,
    terms: _Terms,
    absent: type[Absent],
    shape: tuple[int, ...],
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray]:
    kernel, vectors, coef, intercept, own, centre = terms.expansion
    X, Z = front.X, front.background
    if centre is not None:
        X, Z = X - centre, Z - centre
    values = np.zeros((*shape, len(coef)))
    base = intercept
    stand_in = absent(Z)
    for first in range(0, len(X), _STEP):
        rows = slice(first, first + _STEP)
        part = expansion_shapley(kernel, X[rows], vectors, coef, stand_in, own)
        values[rows, front.source] = part.values
        base = part.base + intercept
        progress.update(f"{first:,} of {len(X):,} samples")
    return values, base


# ---------------------------------------------------------------------------- sampled


def _function(model: Any) -> tuple[Callable[[np.ndarray], np.ndarray], list[str]]:
    """The model as a function of a table, (samples, outputs), and names of the outputs."""
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

    def function(table: np.ndarray) -> np.ndarray:
        found = np.asarray(evaluate(table))
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


def _sampled(
    function: Callable[[np.ndarray], np.ndarray],
    X: np.ndarray,
    Z: np.ndarray,
    pairs: int,
    rng: Any,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means over pairs of opposite orders, the base, and standard errors."""
    n, p = X.shape
    rounds = max(1, pairs // len(Z))
    start = function(Z)
    base = start.mean(axis=0)
    values = np.zeros((n, p, len(base)))
    error = np.zeros_like(values)
    for i, x in enumerate(X):
        draws = np.empty((rounds * len(Z), p, len(base)))
        at = 0
        step = max(1, _MOST_POINTS // (2 * (p + 1)))
        others = np.tile(np.arange(len(Z)), rounds)
        for first in range(0, len(others), step):
            chosen = Z[others[first : first + step]]
            orders = np.argsort(rng.random_sample((len(chosen), p)), axis=1)
            found = _contributions(function, x, chosen, orders)
            found += _contributions(function, x, chosen, orders[:, ::-1])
            draws[at : at + len(chosen)] = found / 2.0
            at += len(chosen)
        values[i] = draws.mean(axis=0)
        error[i] = draws.std(axis=0, ddof=1) / np.sqrt(len(draws)) if len(draws) > 1 else np.nan
        progress.update(f"{i:,} of {n:,} samples")
    return values, base, error


def _contributions(
    function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, Z: np.ndarray, orders: np.ndarray
) -> np.ndarray:
    """What each feature adds when the features of ``x`` become known in the given orders."""
    k, p = orders.shape
    place = np.argsort(orders, axis=1)  # of each feature
    known = place[:, None, :] < np.arange(p + 1)[None, :, None]
    points = np.where(known, x, Z[:, None, :]).reshape(-1, p)
    steps = np.diff(function(points).reshape(k, p + 1, -1), axis=1)
    return np.take_along_axis(steps, place[:, :, None], axis=1)
