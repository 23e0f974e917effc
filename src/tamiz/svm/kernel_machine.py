"""What all kernel machines share: the kernel parameter, the Gram matrix, evaluation, warnings."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tamiz.callbacks import TakesCallbacks
from tamiz.display import Evidence
from tamiz.gpu.gram import CardGram, UnfitForCardError
from tamiz.gpu.lane import DEVICES, NoCardError, lane_of
from tamiz.kernels import (
    KERNEL_NAMES,
    Kernel,
    Precomputed,
    Prepared,
    as_kernel,
    warn_if_indefinite,
)
from tamiz.kernels.strings.kernel import showing_progress
from tamiz.pictures import BOUNDED, FREE, SUPPORT, MachinePlot
from tamiz.qp import DenseQ, KernelQ, QMatrix
from tamiz.qp.card import CARD_KERNELS, CardQ, card_gram
from tamiz.solvers import SOLVERS, Status
from tamiz.validation import (
    TOO_LARGE,
    NotEnoughMemoryError,
    check_square,
    check_squares,
    check_symmetric,
    check_X,
    dense_copy,
    depth_of_caller,
    far_point,
    fits_memory,
    refuse_text_rows,
    require_samples,
    warn_if_unscaled,
)

#: Solvers that have no counterpart on a card.
_OF_THE_CPU = ("smo", "chunking")
#: Machines with at least this many support vectors may be evaluated in float32.
_LARGE_MACHINE = 1000

KERNEL_CONSTRAINTS: dict[str, Any] = {
    "kernel": [StrOptions(set(KERNEL_NAMES)), Kernel, callable],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
    "degree": [Interval(Integral, 1, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "solver": [StrOptions({"auto", *SOLVERS})],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "cache_mb": [Interval(Real, 0.0, None, closed="neither")],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
    "warm_start": ["boolean"],
    "verbose": ["verbose"],
    "device": [StrOptions(set(DEVICES)), None],
}


class KernelExpansion(NamedTuple):
    """``f(x) = sum_s coef_s K(x - centre, s) + own K(x - centre, x - centre) + intercept``."""

    kernel: Kernel
    vectors: np.ndarray
    coef: np.ndarray  # (machines, vectors)
    intercept: np.ndarray  # (machines,)
    own: float = 0.0
    centre: np.ndarray | None = None  # None: the origin


class KernelMachine(TakesCallbacks, Evidence, MachinePlot, BaseEstimator):
    """Base of the estimators whose decision function is a kernel expansion.

    A subclass checks its data with :meth:`_check_table`, asks :meth:`_gram_matrix` for the
    quadratic term, solves, and passes the coefficients to :meth:`_store_expansion`;
    :meth:`_expansion` then evaluates the function at new samples.

    Samples far from the origin are measured from a point among them, where the kernel is linear and
    the machine has a free intercept: it stays the same, and kernel values keep their digits.
    """

    intercept_: np.ndarray
    device: str | None = None  # machines without this parameter stay on the CPU
    _movable = True  # whether the machine stays the same when all samples are moved
    _exact = False  # whether it says what no hyperplane can do, which hangs on the last digits
    _centre: np.ndarray | None = None  # what samples are measured from; None: the origin
    _intercept_there: np.ndarray | None = None  # the constant of the function in these terms

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.sparse = self._takes_sparse()
        if self._compares_text():
            tags.input_tags.string = tags.input_tags.one_d_array = True
            tags.input_tags.sparse = tags.input_tags.two_d_array = False
        return tags

    def _evidence(self) -> dict[str, Any]:
        if not hasattr(self, "dual_coef_"):
            return {}
        return {"support vectors": len(self.support_), **super()._evidence()}

    def _takes_sparse(self) -> bool:
        return not self._is_precomputed()

    def _compares_text(self) -> bool:
        return isinstance(self.kernel, Kernel) and self.kernel.compares_text

    def _is_precomputed(self) -> bool:
        return self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)

    def _check_table(self, X: Any, *, reset: bool) -> Any:
        if not reset:
            check_is_fitted(self)
        if self._compares_text():
            return self._check_texts(X, reset=reset)
        if isinstance(self.kernel, type):  # a sentence about the kernel before one about X
            as_kernel(self.kernel)
        refuse_text_rows(X)
        X = check_X(self, X, reset=reset, accept_sparse=self._takes_sparse())
        if self._is_precomputed() and reset:
            check_square(X)
        return X

    def _check_texts(self, X: Any, *, reset: bool) -> Any:
        """Strings have no features, so their number is not recorded."""
        texts = self.kernel._samples(X)
        require_samples(len(texts))
        if reset:
            for name in ("n_features_in_", "feature_names_in_"):  # of an earlier fit to a table
                self.__dict__.pop(name, None)
        return texts

    def _take(self, X: Any, index: np.ndarray) -> Any:
        """Some of the training samples (rows and columns if precomputed)."""
        return X[np.ix_(index, index)] if self._is_precomputed() else X[index]

    def _resolve_kernel(self, X: Any, weight: np.ndarray) -> Kernel:
        kernel = as_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        # A copy, so that set_params(kernel__...) after fit does not change the fitted machine;
        # set_params never changes the kernels inside a kernel, it replaces them.
        kernel = copy.copy(kernel)
        if isinstance(kernel, Precomputed):
            return kernel
        if kernel.needs_scale:
            warn_if_unscaled(self, X)
        if kernel._pending:  # gamma will be one over a variance
            check_squares(X)
        return kernel.resolve(X, weight)

    def _choose_centre(self, X: Any) -> None:
        """Decide what samples are measured from."""
        moved = self.kernel_.is_linear and self._movable
        self._centre = far_point(X, self._exact) if moved else None

    def _measured(self, X: Any) -> Any:
        """Samples as the kernel gets them."""
        if self._centre is None:
            return X
        return dense_copy(X, "Pass fewer rows at a time.", tables=2) - self._centre

    def _gram_matrix(self, X: Any, largest: float) -> QMatrix:
        """The quadratic term of the training samples, in a type that suits the tolerance.

        ``largest`` is what a dual variable can reach: the more, the finer the entries must be.
        """
        n = X.shape[0]
        on_card = self._matrix_on_card(X, largest)
        if on_card is not None:
            return on_card
        if self._is_precomputed():
            check_symmetric(X)
            return DenseQ(X)
        X = self._measured(X)
        if self.kernel_.compares_text:
            return self._gram_of_texts(X)
        fine = self._needs_fine(largest) and 8 * n**2 <= float(self.cache_mb) * 2**20
        self._check_kernel_values(X)
        return self._finite(KernelQ(self.kernel_, X, np.float64 if fine else None))

    def _needs_fine(self, largest: float) -> bool:
        """Whether entries in float32 are too coarse for the tolerance."""
        tol = float(self.tol)
        return min(tol, 10.0 * tol / (largest + 1e-300)) < 1e-4

    def _check_kernel_values(self, X: Any) -> None:
        if not self.kernel_.always_mercer:
            warn_if_indefinite(self.kernel_, X)

    def _finite(self, K: KernelQ) -> KernelQ:
        if np.isinf(self.kernel_.bound):
            with np.errstate(over="ignore", invalid="ignore"):
                if not np.isfinite(K.diag()).all():
                    raise ValueError(TOO_LARGE)
        return K

    def _matrix_on_card(self, X: Any, largest: float) -> QMatrix | None:
        """The quadratic term on the card that ``device`` asks for; None for the CPU."""
        lane = lane_of(self.device)
        if lane is None or (self.device == "auto" and self.solver in _OF_THE_CPU):
            return None
        try:
            if self._is_precomputed():
                raise UnfitForCardError(
                    "A precomputed matrix is on the host, and the card computes its own; pass the "
                    f'samples with one of the kernels {CARD_KERNELS}, or use device="cpu".'
                )
            fine = self._needs_fine(largest) and lane.fits(2 * 8 * X.shape[0] ** 2)
            X = self._measured(X) if isinstance(X, np.ndarray) else X
            K = CardQ(lane, self.kernel_, X, np.float64 if fine else None)
        except (UnfitForCardError, NotEnoughMemoryError):
            if self.device == "auto":
                return None
            raise
        self._check_kernel_values(X)
        return self._finite(K)

    def _gram_of_texts(self, X: Any) -> QMatrix:
        """Values of string kernels are expensive: all at once, exact, where memory allows.

        Entries in float32 would save no time, and would have to be computed again in float64
        where the solver doubts them.
        """
        K = KernelQ(self.kernel_, X, np.float64)
        with showing_progress(self.verbose):
            if not K.diag().any():
                listed = isinstance(X.items[0], tuple)
                raise ValueError(
                    f"Every string of X has fewer symbols than the subsequences of "
                    f"{self.kernel_!r}, so all kernel values are 0. Use a smaller length."
                    + listed
                    * " Each element of a list is one symbol: strings need no lists."
                )
            if 8 * K.n**2 <= float(self.cache_mb) * 2**20 and fits_memory(8 * K.n**2):
                K.dense()
        return K

    def _solver_options(self) -> dict[str, Any]:
        return {
            "solver": self.solver,
            "tol": float(self.tol),
            "max_iter": self.max_iter,
            "cache_mb": self.cache_mb,
            "verbose": self.verbose,
            "polished": self.max_iter < 0,
        }

    def _store_expansion(self, X: Any, coef: Any) -> None:
        """Keep the samples with a coefficient in any machine; ``coef`` is (machines, samples)."""
        self.__dict__.pop("coef_", None)  # of an earlier fit with a linear kernel
        self._intercept_there = None
        if sparse.issparse(coef):
            support = np.unique(coef.indices).astype(np.intp)
            self.dual_coef_ = coef[:, support].toarray()
        else:
            support = np.flatnonzero(coef.any(axis=0))
            self.dual_coef_ = np.ascontiguousarray(coef[:, support])
        self.support_ = support
        if self._is_precomputed():
            self.support_vectors_ = np.empty((0, 0))
            self._prepared = None
            return
        vectors = X[support]
        self._prepared = self.kernel_.prepare(self._measured(vectors))
        if self.kernel_.compares_text:
            self.support_vectors_ = vectors.items
            return
        self.support_vectors_ = vectors
        if len(support) >= _LARGE_MACHINE and self.kernel_.unit_bounded:
            single = self.kernel_.prepare(self.support_vectors_, dtype=np.float32)
            size = float(np.linalg.norm(self.dual_coef_, axis=1).max())
            if single.entry_error * size <= 0.25 * self.tol:
                self._prepared = single
        if self.kernel_.is_linear:
            with np.errstate(over="ignore", invalid="ignore"):
                self.coef_ = self._as_dense(self.dual_coef_ @ self._measured(vectors))
            if not np.isfinite(self.coef_).all():
                raise ValueError(TOO_LARGE)
        if self._centre is not None:
            self._intercept_there = self.intercept_
            self.intercept_ = self.intercept_ - self.coef_ @ self._centre

    def _check_parts(self) -> None:
        """Refuse coefficients of other samples than are there; for models from a file."""
        if not hasattr(self, "support_"):
            return
        n, prepared = len(self.support_), self._prepared
        known = self.n_features_in_ if prepared is None else np.iinfo(np.intp).max
        fits = (
            self.support_.ndim == 1
            and self.dual_coef_.ndim == 2
            and self.dual_coef_.shape[1] == n
            and self.dual_coef_.dtype == np.float64
            and self.support_.max(initial=-1) < known
            and (prepared is None or (isinstance(prepared, Prepared) and prepared.n == n))
        )
        if not fits:
            raise ValueError("The coefficients of the machine are not those of its samples.")

    @staticmethod
    def _as_dense(array: Any) -> np.ndarray:
        return np.asarray(array.todense() if hasattr(array, "todense") else array)

    def _expansion(self, X: Any) -> np.ndarray:
        """``sum_i coef_i K(x, x_i) + intercept`` for each row of ``X`` and each machine."""
        with np.errstate(over="ignore", invalid="ignore"), showing_progress(self.verbose):
            if self._prepared is None:
                values = X[:, self.support_] @ self.dual_coef_.T
            elif not len(self.support_):
                values = np.zeros((X.shape[0], len(self.dual_coef_)))
            else:
                coef = np.ascontiguousarray(self.dual_coef_.T)
                card = self._vectors_on_card(X)
                sums = self._prepared if card is None else card
                values = np.asarray(sums.decision(self._measured(X), coef), dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError(TOO_LARGE)
        there = self._intercept_there
        return values + (self.intercept_ if there is None else there)

    def _vectors_on_card(self, X: Any) -> CardGram | None:
        """Kernel values of the support vectors on the card; None where the CPU is the place.

        A machine fitted on a card works where there is none.
        """
        if self._prepared is None or not isinstance(X, np.ndarray):
            return None
        try:
            lane = lane_of(self.device)
        except NoCardError:
            return None
        if lane is None:
            return None
        vectors = self._measured(self.support_vectors_)
        try:
            return card_gram(lane, self.kernel_, vectors, self._prepared.dtype)
        except (UnfitForCardError, NotEnoughMemoryError):
            return None

    def kernel_expansion(self) -> KernelExpansion:
        """The decision values of all machines, as a function of samples; rows of numbers only.

        Examples
        --------
        >>> from tamiz import SVC
        >>> machine = SVC(kernel="rbf", gamma=0.5).fit([[-1.0], [1.0]], [0, 1])
        >>> kernel, vectors, coef, intercept, own, centre = machine.kernel_expansion()
        >>> values = kernel([[2.0]], vectors) @ coef.T + intercept
        >>> bool(abs(values[0, 0] - machine.decision_function([[2.0]])[0]) < 1e-12)
        True
        """
        check_is_fitted(self)
        if self._prepared is None or self.kernel_.compares_text:
            raise ValueError(f"{type(self).__name__} was not fitted to rows of numbers.")
        there = self._intercept_there
        return KernelExpansion(
            self.kernel_,
            np.asarray(self._measured(self._dense_vectors()), dtype=np.float64),
            self.dual_coef_,
            self.intercept_ if there is None else there,
            0.0,
            self._centre,
        )

    def _drawn_samples(self, X: Any, y: Any) -> tuple[np.ndarray, Any]:
        if self._is_precomputed() or self._compares_text():
            seen = "kernel values" if self._is_precomputed() else "strings"
            raise ValueError(
                f"{type(self).__name__} was fitted to {seen}, which have no features, so there are "
                "no axes to draw it over."
            )
        return super()._drawn_samples(X, y)

    def _kept_samples(self) -> tuple[np.ndarray, Any]:
        if not len(self.support_):
            return super()._kept_samples()
        return self._dense_vectors(), None

    def _support_marks(self) -> dict[str, np.ndarray]:
        vectors = self._dense_vectors()
        if len(self.dual_coef_) > 1:  # a vector may be free in one machine and bounded in another
            return {SUPPORT: vectors}
        kinds = ((FREE, self.free_support_), (BOUNDED, self.bounded_support_))
        return {name: vectors[np.searchsorted(self.support_, which)] for name, which in kinds}

    def _dense_vectors(self) -> np.ndarray:
        return self._as_dense(self.support_vectors_)

    def _note_place(self, K: QMatrix, precisions: Iterable[str]) -> None:
        """Say where the machine was fitted, and from which entries of the matrix."""
        entries = ", ".join(sorted(set(precisions)))
        self.device_ = "cpu" if K.on_card() is None else f"cuda, {entries}"

    def _report(self, statuses: Iterable[Status]) -> None:
        """Warn about machines whose solver stopped early."""
        warn_unless_converged(type(self).__name__, list(statuses), self.max_iter, self.tol)


def warn_unless_converged(name: str, statuses: list[Status], max_iter: int, tol: float) -> None:
    """Say in one sentence which solver stopped before the tolerance was reached, and what to do.

    The warning points at the user, four calls up, behind ``_report``, ``_fit`` and ``fit``.
    """
    limit = f"max_iter={max_iter}" if max_iter >= 0 else "the limit of ten million steps"
    advice = {
        Status.MAX_ITER: f"reached {limit} before the tolerance tol={tol:g}; scale the features "
        "(sklearn.preprocessing.StandardScaler), lower C, or raise max_iter",
        Status.INTERRUPTED: "was interrupted; the result is the best point so far, feasible but "
        "not optimal",
        Status.STALLED: f"cannot come closer to the tolerance tol={tol:g} in floating point; raise "
        "tol, lower C, or scale the features",
        Status.UNBOUNDED: "found a direction along which the objective falls without limit",
        Status.INFEASIBLE: "found no feasible point",
    }
    for status, sentence in advice.items():
        count = sum(s is status for s in statuses)
        if count:
            who = "the solver" if len(statuses) == 1 else f"{count} of {len(statuses)} solvers"
            warnings.warn(
                f"{name}: {who} {sentence}.", ConvergenceWarning, stacklevel=depth_of_caller()
            )
