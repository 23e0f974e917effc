"""The binary problems of a split, who can be served, and what the machines say together.

Whatever of a split depends neither on the features nor on C is worked out once: its classes, its
binary problems, and what C is multiplied by for each sample.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from tamiz.kernels import Kernel, as_kernel
from tamiz.qp import QMatrix, QuadraticProblem, svr_problem
from tamiz.svm.multiclass import SignFree, tasks
from tamiz.validation import Labels, check_class_weight, far_point

#: Values closer to a boundary than this are not for rounding to decide.
CLOSE = 1e-7
#: Features beyond these sizes are left to the estimator, which has sentences for them.
_TINY, _HUGE = 1e-60, 1e60


class Doubt(Exception):
    """The engine would let rounding decide, or does not know: ask the estimator itself."""


class DualBox(NamedTuple):
    """Bounds of the sign-free variables, and the linear term. Not to be written to."""

    lower: np.ndarray
    upper: np.ndarray
    p: np.ndarray


class BinaryDual:
    """One machine of a family: its samples by position in the whole table, and their signs.

    Parameters
    ----------
    samples : array
        Positions of the samples that take part.
    signs : array
        Their labels ±1.
    factor : array
        What C is multiplied by for each of them.
    """

    def __init__(self, samples: np.ndarray, signs: np.ndarray, factor: np.ndarray):
        self.samples, self.signs, self.factor = samples, signs, factor
        self._box: tuple[int, float, DualBox] | None = None

    def box(self, n: int, C: float) -> DualBox:
        """Over ``n`` samples; those that take no part have both bounds at zero."""
        known = self._box
        if known is None or known[0] != n or known[1] != C:
            lower, upper, p = np.zeros(n), np.zeros(n), np.zeros(n)
            ends = self.signs * (C * self.factor)
            lower[self.samples] = np.minimum(ends, 0.0)
            upper[self.samples] = np.maximum(ends, 0.0)
            p[self.samples] = -self.signs
            self._box = known = n, C, DualBox(lower, upper, p)
        return known[2]

    def alone(self) -> BinaryDual:
        """The same machine in a matrix of its own samples."""
        return BinaryDual(np.arange(len(self.samples)), self.signs, self.factor)


class TubeTask(NamedTuple):
    r"""The dual of a regression with one variable for each sample.

    .. math::

        \min_b \; \tfrac12 b'Kb - t'b + \epsilon \sum_i |b_i|
        \quad\text{s.t.}\quad \sum_i b_i = 0,\; |b_i| \le C_i

    is what :func:`tamiz.qp.svr_problem` states with two variables for each sample, of which one is
    zero: ``b = a - a*``. A variable stands on one side of zero at a time, where the objective is
    quadratic: on the upper one its bounds are 0 and C and ``epsilon - t`` its linear term, on the
    lower one -C and 0 and ``-epsilon - t``. Without a tube there are no sides.

    Attributes
    ----------
    samples : array
        Positions of the samples that take part.
    target : array
        Their targets ``t``.
    epsilon : float
        Half-width of the tube.
    """

    samples: np.ndarray
    target: np.ndarray
    epsilon: float

    def sign_free(self, C: np.ndarray) -> SignFree:
        """The dual with the penalties ``C`` of its samples, all on the upper side."""
        tube = np.full(len(C), self.epsilon)
        lower = np.zeros(len(C)) if self.epsilon else -C
        return SignFree(self.epsilon - self.target, lower, C.copy(), tube)

    def problem(self, K: QMatrix, C: np.ndarray) -> QuadraticProblem:
        """The dual with this kernel matrix, as solvers take it."""
        return svr_problem(K, self.target, C, self.epsilon)

    def to_dual(self, b: np.ndarray) -> np.ndarray:
        """Variables of :meth:`problem` from sign-free ones."""
        return np.concatenate([np.maximum(b, 0.0), np.maximum(-b, 0.0)])

    def from_dual(self, a: np.ndarray, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sign-free variables and their gradient (upper side) from those of :meth:`problem`."""
        return self.coef(a), gradient[: len(self.samples)]

    def coef(self, a: np.ndarray) -> np.ndarray:
        """Sign-free variables from those of :meth:`problem`: the coefficients of the machine."""
        up, down = a.reshape(2, -1)
        return np.asarray(up - down)

    @property
    def n_variables(self) -> int:
        """How many variables :meth:`problem` has."""
        return 2 * len(self.samples)

    @property
    def scale(self) -> float:
        """Size of the entries of the gradient: how the target varies."""
        return float(self.target.std()) or 1.0


class SplitProblems:
    """The binary problems of one split of the samples.

    Parameters
    ----------
    train, test : arrays
        Positions of the samples.
    y : array
        Labels of all samples.
    weight : array or None
        Positive weights of all samples.
    machine : SVC
        Whose ``class_weight`` and ``multiclass`` count.

    Attributes
    ----------
    classes : array
        Labels of the training samples, sorted; predictions are among them.
    factor : array
        What C is multiplied by for each training sample.

    Raises
    ------
    Doubt
        If no machine can be fitted; the estimator itself says why.
    """

    def __init__(
        self,
        train: np.ndarray,
        test: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray | None,
        machine: Any,
    ):
        self.train, self.test = train, test
        self.classes, codes = np.unique(y[train], return_inverse=True)
        if len(self.classes) < 2:
            raise Doubt
        self.codes = codes.astype(np.intp)
        own = np.ones(len(train)) if weight is None else weight[train]
        try:
            labels = Labels(self.classes, self.codes)
            by_class = check_class_weight(machine.class_weight, labels, own)
        except ValueError:
            raise Doubt from None
        self.factor = own * by_class[self.codes]
        if not (self.factor > 0).all():
            raise Doubt
        self.scheme = machine.multiclass
        place = {label: code for code, label in enumerate(self.classes.tolist())}
        #: places of the labels of the test samples in ``classes``, -1 if they are not there
        self.test_codes = np.array([place.get(label, -1) for label in y[test].tolist()])
        self._only = self._all() if len(self.classes) == 2 else None

    def duals(self) -> list[BinaryDual]:
        """The binary problems, in the order of the machines; made anew if they are many."""
        return self._all() if self._only is None else self._only

    def _all(self) -> list[BinaryDual]:
        return [
            BinaryDual(self.train[task.samples], task.signs, self.factor[task.samples])
            for task in tasks(self.codes, len(self.classes), self.scheme)
        ]


def has_ties(decisions: np.ndarray) -> bool:
    """Whether two samples have decision values that only rounding tells apart."""
    if len(decisions) < 2:
        return False
    return bool(np.diff(np.sort(decisions, axis=0), axis=0).min() <= 1e-2 * CLOSE)


# ---------------------------------------------------------------------- who can be served


def machine_and_scaler(estimator: Any, kinds: Collection[type]) -> tuple[Any, Any]:
    """The machine and the scaler before it (None: none), or twice None for anything else.

    The scaler is a ``StandardScaler`` or ``MinMaxScaler`` with default parameters, in a pipeline of
    two steps; ``kinds`` are the classes of the machine.
    """
    if type(estimator) in kinds:
        return estimator, None
    if type(estimator) is Pipeline and len(estimator.steps) == 2 and estimator.memory is None:
        scaler, machine = (step for _, step in estimator.steps)
        if type(machine) in kinds and scaler in (None, "passthrough"):
            return machine, None
        if type(machine) in kinds and _is_default(scaler):
            return machine, scaler
    return None, None


def _is_default(scaler: Any) -> bool:
    if type(scaler) is StandardScaler:
        return bool(scaler.with_mean and scaler.with_std)
    if type(scaler) is MinMaxScaler:
        return tuple(scaler.feature_range) == (0, 1) and not scaler.clip
    return False


def kernel_of(machine: Any) -> Any:
    """The kernel that the parameters of a machine stand for."""
    return as_kernel(
        machine.kernel, gamma=machine.gamma, degree=machine.degree, coef0=machine.coef0
    )


def served_kernel(machine: Any) -> Kernel | None:
    """The kernel, if parameters are valid and matrices of many such kernels come from one.

    It is one with a ``pairwise_form``, always positive definite: a machine of any other may have
    several solutions, and the estimator is the one to ask.
    """
    try:
        machine._validate_params()
        kernel: Kernel = kernel_of(machine)
    except (TypeError, ValueError):
        return None
    return None if kernel.pairwise_form is None else kernel


def keeps_digits(kernel: Kernel, X: np.ndarray) -> bool:
    """Whether kernel values of the samples, where they are, keep the digits that tell them apart.

    Far from the origin, inner products lose them. The estimator measures samples from a point
    among them if it can, and says so if it cannot.
    """
    form = kernel.pairwise_form
    return (form is not None and form.radial) or far_point(X) is None


def has_usual_sizes(X: np.ndarray) -> bool:
    """Whether squares of all numbers and of their differences are far from under- and overflow."""
    with np.errstate(over="ignore"):
        size, spread = np.abs(X).max(axis=0), np.ptp(X, axis=0)
    usual = ((size == 0) | (size > _TINY)) & (size < _HUGE) & ((spread == 0) | (spread > _TINY))
    return bool(usual.all())
