r"""Pegasos: stochastic subgradient steps for the linear soft-margin machine.

For each machine ``k`` (one for two classes, one per class otherwise) this minimises

.. math::

    f(\beta) = \frac{\lambda}{2} \lVert\beta\rVert^2
        + \frac1n \sum_i c_i \max\{0, 1 - y_i \langle\beta, x_i\rangle\},

where ``c_i`` is the weight of the class of sample ``i``. Step ``t`` draws a sample (or a
mini-batch of ``m``) and moves against ``λβ + v`` with the step length ``1/(λt)``, ``v`` being a
subgradient of the drawn losses. The iterates then have a closed form, here with a clock that
starts ``τ`` steps late (``τ = 0`` is the algorithm as published):

.. math::

    \beta^{(t+1)} = \frac{\theta^{(t+1)}}{\lambda (t + \tau)}, \qquad
    \theta^{(t+1)} = \theta^{(t)} + u_t, \qquad
    u_t = \frac1m \sum_{i \in \text{batch}}
        c_i y_i x_i \, [\,y_i \langle\beta^{(t)}, x_i\rangle < 1\,],
    \qquad \theta^{(1)} = \beta^{(1)} = 0,

so that only ``θ`` is stored and a step costs the non-zero entries of the rows drawn. The average
of the iterates is as cheap: with ``H_t = Σ_{s ≤ t} 1/(s + τ)``,

.. math::

    \lambda \sum_{t=1}^{T} \beta^{(t)} = \sum_{j=1}^{T} (H_{T-1} - H_{j-1}) u_j
        = H_{T-1} \theta^{(T+1)} - \sum_{j=1}^{T} H_{j-1} u_j,

and the last sum is a second vector updated beside ``θ``.

**Guarantee.** For independent draws and ``E‖λβ + v‖² ≤ ρ²``, the average satisfies

.. math::

    E f(\bar\beta) - f(\beta^*) \le \frac{1}{2 \lambda T} \Bigl(
        \lambda^2 \tau \lVert\beta^*\rVert^2 + \rho^2 \sum_{t=1}^T \frac{1}{t + \tau} \Bigr),

which is at most ``ρ² (1 + log T) / (2λT)`` for ``τ = 0``. Now ``λ‖β*‖²`` is at most the largest
class weight ``c``, so with ``τ = ρ²/(λc)`` the bound is no worse and the first steps have a
length near ``c/ρ²`` instead of ``1/λ``: without the delay the first iterates are thousands of
times too long, and the average needs very many steps to forget them. ``ρ`` is not known in
advance; in its place stands the mean of the ``‖u_j‖²`` so far, or its largest value if it has
been larger. As ``τ`` only grows, the iterates are those of follow-the-regularised-leader, the
losses plus a growing multiple of ``‖β‖²``, and the same argument gives the bound with the last
``τ`` in its first term and the one before step ``t`` in the sum.

The intercept is the weight of a constant feature appended to every row. If it is not penalised,
it takes steps ``1/(c√t)`` of its own and the bound no longer holds: the objective is not strongly
convex in it.

References
----------
.. [1] S. Shalev-Shwartz, Y. Singer, N. Srebro, A. Cotter (2011). Pegasos: primal estimated
       sub-gradient solver for SVM. Mathematical Programming 127.
.. [2] L. Bottou (2012). Stochastic gradient descent tricks. (The delayed clock.)
.. [3] H. B. McMahan (2017). A survey of algorithms and analysis for adaptive online learning.
       JMLR 18. (The bound for regularisers that grow.)
.. [4] A. Rakhlin, O. Shamir, K. Sridharan (2012). Making gradient descent optimal for strongly
       convex stochastic optimization. ICML. (Averaging the last part of the iterates.)
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.solvers._rows import dot_row, row_arrays, rows_per_run


class Intercept(IntEnum):
    """What becomes of the constant feature."""

    NONE = 0
    PENALISED = 1
    FREE = 2


class Averaging(IntEnum):
    """Which iterates the solution averages."""

    NONE = 0  # the last one alone
    ALL = 1
    TAIL = 2  # from the greatest power of two that is at most T/2


class Setting(NamedTuple):
    """What stays the same during a run, and between the batches of a stream."""

    lambda_: float
    intercept: Intercept
    averaging: Averaging
    delay: float | None  # τ; None: learn it from the lengths of the increments


class PegasosState(NamedTuple):
    """Everything that a stream carries from one batch to the next; K machines, p features."""

    theta: np.ndarray  # (K, p + 1); the last entry belongs to the intercept
    lagged: np.ndarray  # (K, p + 1): sum of H_{j-1} u_j; for a free intercept the sum of iterates
    older: np.ndarray  # (K, p + 1): sums of iterates at the last power of two but one
    newer: np.ndarray  # (K, p + 1): and at the last one
    norm2: np.ndarray  # (K,): squared norm of theta
    rho2: np.ndarray  # (K,): largest squared norm of a step direction so far
    clock: np.ndarray  # steps t, H_{t-1}, τ, Σ‖u‖², steps at ``older``, steps at ``newer``


class PegasosResult(NamedTuple):
    """Solution of the K problems."""

    solution: np.ndarray  # (K, p + 1)
    objective: np.ndarray  # (K,)
    bound: np.ndarray | None  # (K,): on the expected objective - optimum; None if not known
    iterations: int  # steps
    status: str  # "converged", "limit" or "interrupted"
    epochs: int
    state: PegasosState


class OnlineSamples(NamedTuple):
    """Rows with the codes of their classes, and who stands for what."""

    X: Any  # (n, p), C-contiguous or CSR
    codes: np.ndarray  # (n,)
    positive: np.ndarray  # (K,): the class that machine k tells from all others
    class_weight: np.ndarray  # one weight for each class
    sample_weight: np.ndarray | None = None  # how often a pass takes each row; None for once


def solve_pegasos(
    samples: OnlineSamples,
    setting: Setting,
    draw: Callable[[], np.ndarray],
    *,
    epochs: int,
    batch_size: int = 1,
    tol: float | None = None,
    verbose: bool | int = 0,
) -> PegasosResult:
    """Minimise the regularised mean hinge loss.

    Parameters
    ----------
    samples : OnlineSamples
        The training data.
    setting : Setting
        Regularisation, intercept and averaging.
    draw : callable
        Gives the row numbers of the next epoch, in order.
    epochs : int
        How many times ``draw`` is called.
    batch_size : int, default=1
        Rows in a step; the last step of an epoch may be shorter.
    tol : float, optional
        Stop when an epoch lowers every objective by less than this fraction.
    verbose : bool or int, default=0
        Show progress.

    Returns
    -------
    result : PegasosResult
    """
    state = new_state(len(samples.positive), samples.X.shape[1], setting)
    status, done = "limit", 0
    previous = np.full(len(samples.positive), np.inf)
    try:
        with Progress("Pegasos", verbose) as progress:
            for _ in range(epochs):
                advance(state, samples, setting, draw(), batch_size, progress)
                done += 1
                if tol is not None:
                    now = objective(samples, setting, solution(state, setting))
                    if np.all(previous - now <= tol * now):
                        status = "converged"
                        break
                    previous = now
    except KeyboardInterrupt:
        status = "interrupted"
    beta = solution(state, setting)
    return PegasosResult(
        solution=beta,
        objective=objective(samples, setting, beta),
        bound=expected_gap(state, setting, samples.class_weight),
        iterations=int(state.clock[0]),
        status=status,
        epochs=done,
        state=state,
    )


def new_state(n_machines: int, n_features: int, setting: Setting) -> PegasosState:
    """Return the state before the first step."""
    shape = (n_machines, n_features + 1)
    kept = shape if setting.averaging is Averaging.TAIL else (n_machines, 0)
    clock = np.zeros(6)
    clock[2] = setting.delay or 0.0
    return PegasosState(
        theta=np.zeros(shape),
        lagged=np.zeros(shape),
        older=np.zeros(kept),
        newer=np.zeros(kept),
        norm2=np.zeros(n_machines),
        rho2=np.zeros(n_machines),
        clock=clock,
    )


def advance(
    state: PegasosState,
    samples: OnlineSamples,
    setting: Setting,
    order: np.ndarray,
    batch_size: int = 1,
    progress: Progress | None = None,
) -> None:
    """Take the rows in the given order and change ``state``.

    Compiled code alone changes the state, some complete steps at a time, so that it is
    consistent wherever Ctrl-C falls.
    """
    n_machines = len(samples.positive)
    arrays = row_arrays(samples.X)
    batch_size = min(batch_size, len(order))
    stride = max(1, rows_per_run(samples.X, n_machines) // batch_size) * batch_size
    scratch = np.empty((batch_size, n_machines)), np.empty((batch_size, n_machines))
    weight = samples.class_weight
    classes = samples.codes, samples.positive, weight, weight.max()
    averaging, learn_delay = int(setting.averaging), setting.delay is None
    options = setting.lambda_, int(setting.intercept), averaging, learn_delay
    for start in range(0, len(order), stride):
        _take_steps(
            arrays, classes, options, order[start : start + stride], batch_size, state, scratch
        )
        if progress is not None:
            progress.update(f"{int(state.clock[0]):,} steps")


def solution(state: PegasosState, setting: Setting) -> np.ndarray:
    """Return the weights of all machines, the intercept last; zero before the first step."""
    steps, harmonic, delay, _, older_steps, _ = state.clock
    if steps == 0:
        return np.zeros_like(state.theta)
    free = setting.intercept is Intercept.FREE
    if setting.averaging is Averaging.NONE:
        beta = state.theta / (setting.lambda_ * (steps + delay))
        if free:
            beta[:, -1] = state.theta[:, -1]
        return beta
    total = harmonic * state.theta - state.lagged
    if free:
        total[:, -1] = state.lagged[:, -1]
    if setting.averaging is Averaging.TAIL:
        total -= state.older
        steps -= older_steps
    beta = total / (setting.lambda_ * steps)
    if free:
        beta[:, -1] = total[:, -1] / steps
    return beta


def expected_gap(
    state: PegasosState, setting: Setting, class_weight: np.ndarray
) -> np.ndarray | None:
    """Return the guarantee for each machine, with the ρ met; None where there is none."""
    steps, harmonic, delay = state.clock[:3]
    covered = setting.averaging is Averaging.ALL and setting.intercept is not Intercept.FREE
    if not covered or steps == 0:
        return None
    # Σ 1/(t + τ) over T terms; a τ that is only learned in step 1 was zero before it
    harmonic += 1.0 if setting.delay is None else 1.0 / (steps + delay)
    start = setting.lambda_ * delay * class_weight.max()
    return (start + state.rho2 * harmonic) / (2.0 * setting.lambda_ * steps)


def objective(samples: OnlineSamples, setting: Setting, beta: np.ndarray) -> np.ndarray:
    """Return ``f`` of every machine on the given samples."""
    decision = samples.X @ beta[:, :-1].T + beta[:, -1]
    signs = np.where(samples.codes[:, None] == samples.positive, 1.0, -1.0)
    weight, total = samples.class_weight[samples.codes], float(len(signs))
    if samples.sample_weight is not None:
        weight, total = weight * samples.sample_weight, float(samples.sample_weight.sum())
    loss = weight @ np.maximum(0.0, 1.0 - signs * decision) / total
    penalised = beta if setting.intercept is Intercept.PENALISED else beta[:, :-1]
    return 0.5 * setting.lambda_ * np.einsum("kj,kj->k", penalised, penalised) + loss


@njit(cache=True, nogil=True)
def _take_steps(rows, classes, options, order, batch_size, state, scratch):
    """Take one step for each batch of ``order``.

    This runs once per row of a stream: arrays are unpacked and cut outside the loop, and helpers
    get few of them, since passing an array costs more than a short row.
    """
    values, indices, indptr = rows
    codes, positive, class_weight, heaviest = classes
    lambda_, intercept, averaging, learn_delay = options
    products, factors = scratch
    theta, lagged, older, newer, norm2, rho2, clock = state
    n_machines, last = theta.shape[0], theta.shape[1] - 1
    steps, harmonic, delay = clock[0], clock[1], clock[2]
    for start in range(0, len(order), batch_size):
        size = min(batch_size, len(order) - start)
        elapsed = steps + delay
        scale = 0.0
        if steps > 0:
            scale = 1.0 / elapsed
            harmonic += scale
        shrink = scale / lambda_  # β = shrink · θ
        # What each row contributes to θ: nothing if it is on the right side of the margin.
        for r in range(size):
            i = order[start + r]
            for k in range(n_machines):
                product = dot_row(theta, k, values, indices, indptr, i)
                if intercept == 1:
                    product += theta[k, last]
                decision = product * shrink
                if intercept == 2:
                    decision += theta[k, last]
                sign = 1.0 if codes[i] == positive[k] else -1.0
                products[r, k] = product
                factors[r, k] = sign * class_weight[codes[i]] / size if sign * decision < 1 else 0.0
        # Add these contributions, and measure the increment u and the direction λβ - u:
        # ‖λβ - u‖² = ‖θ‖²/s² - 2⟨θ, u⟩/s + ‖u‖², s = t + τ. Inner products that the two passes
        # over the row yield anyway give all three terms.
        longest2 = 0.0
        for k in range(n_machines):
            before, theta_u, u_u, pull = norm2[k], 0.0, 0.0, 0.0
            for r in range(size):
                a = factors[r, k]
                if a == 0.0:
                    continue
                product, square = _add_to_both(
                    theta, lagged, k, a, a * harmonic, values, indices, indptr, order[start + r]
                )
                if intercept == 1:
                    product += theta[k, last]
                    square += 1.0
                    theta[k, last] += a
                    lagged[k, last] += a * harmonic
                pull += a
                theta_u += a * products[r, k]
                u_u += a * a * square + 2.0 * a * (product - products[r, k])
                norm2[k] += a * a * square + 2.0 * a * product
            if intercept == 2:
                lagged[k, last] += theta[k, last]
                theta[k, last] += pull / (heaviest * np.sqrt(steps + 1.0))
            rho2[k] = max(rho2[k], (before * scale - 2.0 * theta_u) * scale + u_u)
            longest2 = max(longest2, u_u)
        steps += 1.0
        if learn_delay:
            clock[3] += longest2
            delay = max(delay, clock[3] / (steps * lambda_ * heaviest))
        if averaging == 2 and np.int64(steps) & (np.int64(steps) - 1) == 0:
            _mark_tail(theta, lagged, older, newer, harmonic, intercept == 2)
            clock[4], clock[5] = clock[5], steps
    clock[0], clock[1], clock[2] = steps, harmonic, delay


@njit(cache=True, nogil=True)
def _mark_tail(theta, lagged, older, newer, harmonic, free):
    """Note the sums of iterates at a power of two, for the tail average; keep those before."""
    last = theta.shape[1] - 1
    for k in range(theta.shape[0]):
        for j in range(last + 1):
            older[k, j] = newer[k, j]
            newer[k, j] = harmonic * theta[k, j] - lagged[k, j]
        if free:
            newer[k, last] = lagged[k, last]


@njit(cache=True, nogil=True)
def _add_to_both(theta, lagged, k, a, b, values, indices, indptr, i):
    """Add ``a`` times row ``i`` to θ, ``b`` times to the lagged sum; return ⟨θ, row⟩, ‖row‖²."""
    if values.ndim == 2:
        return _add_dense(theta, lagged, k, a, b, values, i)
    product, square = 0.0, 0.0
    for q in range(indptr[i], indptr[i + 1]):
        j, x = indices[q], values[q]
        product += theta[k, j] * x
        square += x * x
        theta[k, j] += a * x
        lagged[k, j] += b * x
    return product, square


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _add_dense(theta, lagged, k, a, b, values, i):
    product, square = 0.0, 0.0
    for j in range(values.shape[1]):
        x = values[i, j]
        product += theta[k, j] * x
        square += x * x
        theta[k, j] += a * x
        lagged[k, j] += b * x
    return product, square
