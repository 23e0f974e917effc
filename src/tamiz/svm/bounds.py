r"""What theory says about the error on new samples: capacity, margins, leaving one out.

**Capacity.** Of a family of classifiers with Vapnik-Chervonenkis dimension h, with probability
``1 - δ`` over n training samples, the risk of every member is at most its training error plus

.. math::

    \Phi(n, h, \delta) = \sqrt{\frac{h (\ln(2n/h) + 1) - \ln(\delta/4)}{n}} .

Hyperplanes in p dimensions have ``h = p + 1``; those with a margin of at least Δ on samples in a
ball of radius R have ``h ≤ min(⌈R²/Δ²⌉, p) + 1``, however large p is. To minimise the sum
of both terms over a nested sequence of families is structural risk minimisation.

**Leaving one out.** The expected error after n - 1 samples is that of leaving one out of n, in the
mean. A sample that is no support vector is never wrong when it is left out, so at most the
fraction of support vectors is. If the support vectors stay the same kind when sample p is left
out, its decision value falls by exactly

.. math::

    y_p (f(x_p) - f^{(p)}(x_p)) = \alpha_p S_p^2,

with ``S_p``, the *span*, the distance in feature space between it and the affine hull of the free
support vectors other than it. With :math:`\tilde K` the Gram matrix of the free ones, bordered by
ones, and :math:`v = (K(x_i, x_p), 1)`,

.. math::

    S_p^2 = 1 / (\tilde K^{-1})_{pp} \;\text{(p free)}, \qquad
    S_p^2 = K(x_p, x_p) - v' \tilde K^{-1} v \;\text{(p bounded)}.

References
----------
.. [1] V. Vapnik (1998). Statistical learning theory. Wiley.
.. [2] V. Vapnik, O. Chapelle (2000). Bounds on error expectation for support vector machines.
       Neural Computation 12.
.. [3] O. Chapelle, V. Vapnik, O. Bousquet, S. Mukherjee (2002). Choosing multiple parameters for
       support vector machines. Machine Learning 46.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import expit

from tamiz.display import INK, PALETTE, axes, frame_in_notebook, frames
from tamiz.qp import DenseQ, ShiftedQ, svc_problem
from tamiz.solvers import solve
from tamiz.svm.diagnostics import from_first, machine_data, require_two_classes
from tamiz.svm.svc import KernelClassifier
from tamiz.svm.terms import terms_of
from tamiz.validation import check_level, checked, integer_from, optional, real_number

if TYPE_CHECKING:
    import pandas as pd

#: What is added to the diagonal, relative to the largest entry, so that copies have an inverse.
_RIDGE = 1e-12


# ---------------------------------------------------------------------- capacity


@checked(n_samples=integer_from(1), vc_dimension=integer_from(1), confidence=check_level)
def vc_confidence(n_samples: int, vc_dimension: int, *, confidence: float = 0.95) -> float:
    """The term by which the risk can exceed the training error, for a family of classifiers.

    Parameters
    ----------
    n_samples : int
        Number n of training samples.
    vc_dimension : int
        Vapnik-Chervonenkis dimension h of the family.
    confidence : float, default=0.95
        Probability ``1 - δ`` with which the bound holds for all members of the family.

    Returns
    -------
    term : float
        ``sqrt((h (ln(2n/h) + 1) - ln(δ/4)) / n)``, or infinity for ``h > n``, where the bound says
        nothing. Above 1 it says nothing either.

    See Also
    --------
    margin_vc_dimension : Dimension of hyperplanes with a margin.

    References
    ----------
    .. [1] V. Vapnik (1998). Statistical learning theory, chapter 4. Wiley.

    Examples
    --------
    >>> from tamiz.svm import vc_confidence
    >>> round(vc_confidence(10_000, 31), 3)
    0.154
    >>> round(vc_confidence(100, 31), 3)
    0.965
    """
    n, h = int(n_samples), int(vc_dimension)
    if h > n:
        return math.inf
    return math.sqrt((h * (math.log(2.0 * n / h) + 1.0) - math.log((1.0 - confidence) / 4.0)) / n)


@checked(
    radius=real_number(least=0), margin=real_number(least=0), n_features=optional(integer_from(1))
)
def margin_vc_dimension(radius: float, margin: float, n_features: int | None = None) -> int | float:
    """Bound on the Vapnik-Chervonenkis dimension of hyperplanes with a margin.

    Parameters
    ----------
    radius : float
        Radius R of a ball that holds all samples, in feature space.
    margin : float
        Distance Δ from the hyperplane that every sample keeps at least.
    n_features : int, optional
        Dimension p of the feature space; None where it is infinite, as of the radial kernel.

    Returns
    -------
    dimension : int or float
        ``min(⌈R²/Δ²⌉, p) + 1``; infinite if the margin is 0 and there is no p.

    See Also
    --------
    vc_confidence : What the dimension means for the risk.
    radius_margin_bound : Radius and margin of a machine.

    References
    ----------
    .. [1] V. Vapnik (1998). Statistical learning theory, chapter 10. Wiley.

    Examples
    --------
    >>> from tamiz.svm import margin_vc_dimension
    >>> margin_vc_dimension(radius=1.0, margin=0.25, n_features=1000)
    17
    """
    limit = math.inf if n_features is None else int(n_features)
    ratio = math.inf if margin == 0 else float(radius) / float(margin)
    ratio = ratio * ratio  # infinite where a power would be an error
    smaller = min(ratio if math.isinf(ratio) else float(math.ceil(ratio)), limit)
    return math.inf if math.isinf(smaller) else int(smaller) + 1


# ---------------------------------------------------------------------- leaving one out


def support_vector_bound(svc: KernelClassifier) -> float:
    """The fraction of support vectors, which bounds the leave-one-out error.

    A training sample that is no support vector can be left out without changing the machine, so
    leave-one-out makes no more errors than there are support vectors. Sample weights of the fit are
    not respected: every sample of positive weight counts once.

    Parameters
    ----------
    svc : SVC, HardMarginSVC or BudgetSVC
        A fitted machine of two classes.

    Returns
    -------
    bound : float
        Number of support vectors divided by the number of training samples.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.svm import HardMarginSVC, support_vector_bound
    >>> X, y = np.array([[-3.0], [-2.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> support_vector_bound(HardMarginSVC().fit(X, y))
    0.5
    """
    require_two_classes(svc, "support_vector_bound")
    return len(svc.support_) / int(np.count_nonzero(~np.isnan(svc.slack_)))


class SpanBound(NamedTuple):
    """Leave-one-out errors by the spans of support vectors."""

    spans_squared: np.ndarray  # S_p² of the support vectors, in the order of ``support``
    support: np.ndarray  # their indices
    values: np.ndarray  # y_p f(x_p) of all samples, each left out; negative: an error
    n_errors: int  # by the span rule
    smoothed: float  # the same count, as a smooth function
    n_samples: int

    def __str__(self) -> str:
        return (
            f"{self.n_errors} of {self.n_samples} (leave-one-out errors by the span rule; "
            f"smoothed {self.smoothed:.4g})"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each sample: its value when left out, its span, whether it is an error."""
        spans = np.full(self.n_samples, np.nan)
        spans[self.support] = np.sqrt(self.spans_squared)
        columns = {"value": self.values, "span": spans, "error": self.values <= 0}
        return frames().DataFrame(columns)

    def _repr_html_(self) -> str | None:
        return frame_in_notebook(str(self), self.to_frame)

    def plot(self, ax: Any = None) -> Any:
        """Draw the span of each support vector, and the value that is left without it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        ax = axes(ax)
        spans, left = np.sqrt(self.spans_squared), self.values[self.support]
        finite = np.isfinite(spans) & np.isfinite(left)
        for wrong, colour, text in ((False, PALETTE[0], "right"), (True, PALETTE[1], "error")):
            own = finite & ((left <= 0) == wrong)
            label = f"{text} when left out ({int(own.sum()):,})"
            ax.scatter(spans[own], left[own], s=18, color=colour, label=label)
        ax.axhline(0.0, color=INK, linewidth=1.0)
        ax.set(xlabel="span of the support vector", ylabel="decision value without it")
        ax.set_title(str(self), fontsize="small")
        ax.legend(frameon=False, fontsize="small")
        return ax


@checked(steepness=real_number(above=0))
def span_bound(
    svc: KernelClassifier, X: Any, y: Any, *, squared_slack: bool = False, steepness: float = 5.0
) -> SpanBound:
    """Leave-one-out errors of a machine by the spans of its support vectors.

    The rule is exact if no support vector turns from free to bounded or disappears, and no other
    sample becomes one, when a sample is left out. In general it is an estimate, close to
    leave-one-out at the cost of one matrix inverse.

    Parameters
    ----------
    svc : SVC, HardMarginSVC or BudgetSVC
        A machine fitted to ``X`` and ``y``, two classes, without sample weights.
    X : array-like of shape (n_samples, n_features)
        The training samples (their kernel matrix if precomputed).
    y : array-like of shape (n_samples,)
        The class labels.
    squared_slack : bool, default=False
        Of the machine with squared slack, ``½‖w‖² + (C/2) Σ ξ²``, as in
        :func:`radius_margin_bound`; then all support vectors are free.
    steepness : float, default=5.0
        Of the logistic function that counts errors in ``smoothed``:
        ``Σ 1 / (1 + exp(steepness * value))``.

    Returns
    -------
    result : SpanBound
        Named tuple ``(spans_squared, support, values, n_errors, smoothed, n_samples)``. ``values``
        holds ``y_p f(x_p)`` of every sample when it is left out, which for samples that are no
        support vectors is their value as it is. A span is infinite if no free support vector is
        left: the machine without that sample is not determined by the others, and it counts as
        an error.

    See Also
    --------
    radius_margin_bound : A bound in place of an estimate, and far looser.
    support_vector_bound : The bound that needs nothing but counting.

    References
    ----------
    .. [1] V. Vapnik, O. Chapelle (2000). Bounds on error expectation for support vector machines.
           Neural Computation 12.
    .. [2] O. Chapelle, V. Vapnik, O. Bousquet, S. Mukherjee (2002). Choosing multiple parameters
           for support vector machines. Machine Learning 46.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.svm import SVC, span_bound
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[50:], y[50:]
    >>> print(span_bound(SVC(gamma=0.5, tol=1e-6).fit(X, y), X, y))
    4 of 100 (leave-one-out errors by the span rule; smoothed 5.682)
    """
    data = machine_data(svc, X, y, "span_bound")
    K, signs = np.asarray(data.K.dense(), dtype=np.float64), data.signs
    if squared_slack:
        penalty = data.penalties()
        shifted = ShiftedQ(DenseQ(K), 1.0 / penalty)
        result = solve(svc_problem(shifted, signs, np.inf), **svc._solver_options())
        alpha, free, bounded = result.a, np.flatnonzero(result.a), np.empty(0, dtype=np.intp)
        K = K + np.diag(1.0 / penalty)
    else:
        alpha, free, bounded = svc.alpha_, svc.free_support_, svc.bounded_support_
    # K may be measured from another point than the origin
    constant = -float(result.multiplier or 0.0) if squared_slack else terms_of(svc).intercept[0]
    intercept = float(constant)
    values = signs * (K @ (alpha * signs) + intercept)
    support = np.sort(np.concatenate([free, bounded]))
    spans = np.full(len(K), np.nan)
    spans[free], spans[bounded] = squared_spans(K, free, bounded)
    values[support] -= alpha[support] * spans[support]
    with np.errstate(over="ignore"):
        smoothed = float(expit(-float(steepness) * values).sum())
    n_errors = int(np.count_nonzero(values <= 0))
    return SpanBound(spans[support], support, values, n_errors, smoothed, len(K))


def squared_spans(
    K: np.ndarray, free: np.ndarray, bounded: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """``S_p²`` of the free and of the bounded support vectors; infinite without free ones."""
    if not len(free):
        return np.empty(0), np.full(len(bounded), np.inf)
    support = np.concatenate([free, bounded])
    K = from_first(K[np.ix_(support, support)])
    inverse = bordered_inverse(K[: len(free), : len(free)])
    depth = inverse.diagonal()[:-1]
    own = np.divide(1.0, depth, out=np.full(len(free), np.inf), where=depth > 0)
    if len(free) == 1:
        own = np.array([np.inf])
    v = np.vstack([K[: len(free), len(free) :], np.ones(len(bounded))])
    others = K.diagonal()[len(free) :] - np.einsum("ij,ij->j", v, inverse @ v)
    return np.maximum(own, 0.0), np.maximum(others, 0.0)


def bordered_inverse(K: np.ndarray) -> np.ndarray:
    """Inverse of a Gram matrix with a row and a column of ones, and zero in the corner.

    A last digit on the diagonal makes up for samples that others span entirely.
    """
    n = len(K)
    matrix = np.ones((n + 1, n + 1))
    matrix[:n, :n] = K
    matrix[n, n] = 0.0
    matrix.flat[: n * (n + 2) : n + 2] += _RIDGE * float(np.abs(K.diagonal()).max(initial=0.0))
    return np.asarray(linalg.inv(matrix, check_finite=False))
