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

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tamiz.explain.model import (
    Front,
    Terms,
    columns_of_the_machine,
    feature_names,
    function_of,
    limit_of,
    named_units,
    numbers_of,
    refuse_without_features,
    terms_of,
)
from tamiz.explain.result import ShapleyValues
from tamiz.explain.tables import CodedFrames, coded_frames
from tamiz.kernels.shapley import (
    Absent,
    Interventional,
    KernelMean,
    LeftOut,
    expansion_shapley,
)
from tamiz.pictures import without_name_warnings
from tamiz.runtime.progress import Progress
from tamiz.validation import (
    TOO_LARGE,
    checked,
    estimator_with,
    integer_from,
    one_of,
    refused,
    require_own_background,
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
    feature_groups: Any = None,
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
        Samples whose decision values are explained. A data frame may hold text and categories, and
        any table missing values, if the model takes them, such as a pipeline that encodes and
        imputes; with text, values are sampled.
    background : table of shape (n_background, n_features), optional
        Samples that unknown features are taken from; ``X``, or 100 rows of it drawn at random, by
        default (all of them with ``value="kernel_mean"``). Needed if all rows of ``X`` are equal.
    value : {"interventional", "kernel_mean", "left_out"}, default="interventional"
        What stands for features that are not known. "interventional": their values in each row of
        the background in turn. "kernel_mean": the mean over the background of the feature's
        factor, or term, in every kernel value, which takes the features for independent and is
        much quicker. "left_out": nothing; the kernel is that of the known features. The last two
        are for exact models only.
    feature_groups : list of lists or dict of lists, optional
        Columns that are explained as one feature, such as the indicators of a category; the keys
        of a dict name them. Where orders are sampled, a group becomes known as a whole, so that no
        row has two categories; in exact models the values of its columns are summed.
    n_permutations : int, default=200
        Orders of the features that are sampled for each row, half of them the others' reverses;
        the background is cut to half as many rows. Sampling asks the model for
        ``n_permutations * (n_features + 1)`` rows to explain one. Ctrl-C keeps the samples that are
        done.
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
    refuse_without_features(model)
    rng = check_random_state(random_state)
    coded = coded_frames(X, background)
    table = numbers_of(model, X, "X", "shapley_values", coded)
    given = _background(model, table, background, value, rng, coded)
    units, names = named_units(feature_groups, feature_names(model, X, table.shape[1]))
    front = None if coded is not None else columns_of_the_machine(model, table, given)
    terms = None if front is None else terms_of(front)
    with Progress("Shapley values", verbose) as progress, without_name_warnings():
        if front is not None and terms is not None:
            values, base = _exact(front, terms, VALUES[value], table.shape, progress)
            values = _summed(values, units.members)
            error, outputs = None, terms.outputs
        elif value != "interventional":
            raise refused(
                "value",
                value,
                "must be 'interventional' for this model, whose values are sampled: it is neither "
                "linear nor an expansion in a kernel with exact values.",
            )
        else:
            function, outputs = function_of(model, X, coded)
            half = n_permutations // 2
            if len(given) > half:
                given = given[rng.choice(len(given), half, replace=False)]
            with np.errstate(over="ignore", invalid="ignore"):
                values, base, error = _sampled(
                    function, table, given, half, units.of_feature(), rng, progress
                )
            table = table[: len(values)]
    if not (np.isfinite(values).all() and np.isfinite(base).all()):
        raise ValueError(TOO_LARGE)
    outputs = outputs if len(outputs) == values.shape[2] else names_of_outputs(values.shape[2])
    level: Any = base
    if values.shape[2] == 1:
        values, level = values[:, :, 0], float(base[0])
        error = None if error is None else error[:, :, 0]
    method = "exact" if error is None else "permutations"
    shown = _of_single_columns(table, units.members)
    limit = limit_of(model)
    levels = {} if coded is None else _levels_of_units(coded, units.members)
    return ShapleyValues(values, level, error, method, value, names, outputs, shown, limit, levels)


def _levels_of_units(coded: CodedFrames, members: list[np.ndarray]) -> dict[int, list[str]]:
    """Names of the codes of each feature that is one column of a category."""
    alone = {int(one[0]): u for u, one in enumerate(members) if len(one) == 1}
    return {alone[j]: names for j, names in coded.levels.items() if j in alone}


def _background(
    model: Any,
    table: np.ndarray,
    background: Any,
    value: str,
    rng: Any,
    coded: CodedFrames | None,
) -> np.ndarray:
    """The rows that unknown features are taken from."""
    if background is not None:
        return numbers_of(model, background, "background", "shapley_values", coded)
    if value != "left_out":
        require_own_background(
            table,
            "X",
            2,
            "each would be compared with itself, and every value be zero. Pass background= with "
            "rows such as those of the training.",
        )
    if value == "interventional" and len(table) > MOST_BACKGROUND:
        return np.asarray(table[rng.choice(len(table), MOST_BACKGROUND, replace=False)])
    return table


def _summed(values: np.ndarray, members: list[np.ndarray]) -> np.ndarray:
    if len(members) == values.shape[1]:
        return values
    return np.stack([values[:, columns].sum(axis=1) for columns in members], axis=1)


def _of_single_columns(table: np.ndarray, members: list[np.ndarray]) -> np.ndarray:
    """The values of the features that are one column; NaN for groups."""
    if len(members) == table.shape[1]:
        return table
    nothing = np.full(len(table), np.nan)
    return np.column_stack([table[:, j[0]] if len(j) == 1 else nothing for j in members])


def names_of_outputs(count: int) -> list[str]:
    """Names for outputs that have none."""
    return [f"output {k}" for k in range(count)]


# ---------------------------------------------------------------------------- exact


def _exact(
    front: Front,
    terms: Terms,
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
        progress.update(f"{min(rows.stop, len(X)):,} of {len(X):,} samples")
    return values, base


# ---------------------------------------------------------------------------- sampled


def _sampled(
    function: Callable[[np.ndarray], np.ndarray],
    X: np.ndarray,
    Z: np.ndarray,
    pairs: int,
    units: np.ndarray,
    rng: Any,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means over pairs of opposite orders, the base, and standard errors; Ctrl-C keeps a part.

    ``units`` has the number of the feature that each column belongs to.
    """
    n, p = len(X), int(units.max()) + 1
    rounds = max(1, pairs // len(Z))
    start = function(Z)
    base = start.mean(axis=0)
    values = np.zeros((n, p, len(base)))
    error = np.zeros_like(values)
    began, done = time.perf_counter(), 0
    try:
        for x in X:
            draws = _draws(function, x, Z, rounds, units, rng)
            values[done] = draws.mean(axis=0)
            error[done] = (
                draws.std(axis=0, ddof=1) / np.sqrt(len(draws)) if len(draws) > 1 else np.nan
            )
            done += 1
            left = (time.perf_counter() - began) / done * (n - done)
            progress.update(f"{done:,} of {n:,} samples, about {left:,.0f} s left")
    except KeyboardInterrupt:
        if not done:
            raise
        warnings.warn(
            f"stopped after {done:,} of {n:,} samples; the result holds those.",
            RuntimeWarning,
            stacklevel=4,
        )
    return values[:done], base, error[:done]


def _draws(
    function: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    Z: np.ndarray,
    rounds: int,
    units: np.ndarray,
    rng: Any,
) -> np.ndarray:
    """What each feature of ``x`` adds in each pair of opposite orders."""
    p = int(units.max()) + 1
    step = max(1, _MOST_POINTS // (2 * (p + 1)))
    others = np.tile(np.arange(len(Z)), rounds)
    parts = []
    for first in range(0, len(others), step):
        chosen = Z[others[first : first + step]]
        orders = np.argsort(rng.random_sample((len(chosen), p)), axis=1)
        found = _contributions(function, x, chosen, orders, units)
        found += _contributions(function, x, chosen, orders[:, ::-1], units)
        parts.append(found / 2.0)
    return np.concatenate(parts)


def _contributions(
    function: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    Z: np.ndarray,
    orders: np.ndarray,
    units: np.ndarray,
) -> np.ndarray:
    """What each feature adds when the features of ``x`` become known in the given orders."""
    k, p = orders.shape
    place = np.argsort(orders, axis=1)  # of each feature
    known = place[:, None, :] < np.arange(p + 1)[None, :, None]
    points = np.where(known[:, :, units], x, Z[:, None, :]).reshape(-1, len(x))
    steps = np.diff(function(points).reshape(k, p + 1, -1), axis=1)
    return np.take_along_axis(steps, place[:, :, None], axis=1)
