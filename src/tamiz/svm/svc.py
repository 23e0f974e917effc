"""Support vector classification with any kernel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import ScoredClassifier
from tamiz.pictures import ClassifierPlot
from tamiz.qp import QMatrix
from tamiz.solvers import Status
from tamiz.svm.confidence import MarginConfidence, nearest, weakest
from tamiz.svm.kernel_machine import KERNEL_CONSTRAINTS, KernelMachine
from tamiz.svm.multiclass import BinaryFit, Task, class_scores, decide, fit_binary, tasks
from tamiz.validation import (
    Labels,
    by_keyword,
    check_class_weight,
    check_classes,
    check_penalties,
    check_sample_weight,
    unchanged_on_error,
)


class KernelClassifier(ScoredClassifier, ClassifierPlot, KernelMachine):
    """Multi-class frame of the kernel classifiers; a subclass says how one machine is fitted."""

    _margins = (-1.0, 1.0)

    def _fit_one(
        self, K: QMatrix, signs: np.ndarray, C: np.ndarray, start: np.ndarray | None
    ) -> BinaryFit:
        return fit_binary(K, signs, C, start, **self._solver_options())

    @abstractmethod
    def _upper_bounds(self, codes: np.ndarray, weight: np.ndarray) -> np.ndarray: ...

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, solution: Sequence[BinaryFit] | None = None
    ) -> None:
        """Fit, or take over the ``solution`` of every binary problem if it is known."""
        self._validate_params()
        X = self._check_table(X, reset=True)
        n = X.shape[0]
        weight = check_sample_weight(sample_weight, n)
        labels = check_classes(y, n, weight=weight)
        active = np.flatnonzero(weight > 0)  # a sample of weight zero does not exist
        codes, weight = labels.codes[active], weight[active]
        starts = self._previous_alpha(n, labels.classes)
        self.classes_ = labels.classes
        Xa = X if len(active) == n else self._take(X, active)
        self.kernel_ = self._resolve_kernel(Xa, weight)
        self._centre = None  # a solution brings the intercept of the samples as they are
        if solution is None:
            self._choose_centre(Xa)
        C = self._upper_bounds(codes, weight)
        plan = list(tasks(codes, len(labels.classes), self.multiclass))
        fits: list[BinaryFit] = []
        self.device_ = "cpu"
        if solution is None:
            K = self._gram_matrix(Xa, float(C.max(initial=0.0)))
            for k, task in enumerate(plan):
                start = None if starts is None else starts[k][active[task.samples]]
                interrupted = bool(fits) and fits[-1].status is Status.INTERRUPTED
                fits.append(self._fit_task(K, task, C, start, interrupted))
            self._note_place(K, [fit.precision for fit in fits])
        else:
            fits = list(solution)
            sizes = [len(fit.alpha) for fit in fits], [len(task.samples) for task in plan]
            if sizes[0] != sizes[1]:
                raise ValueError(
                    f"solution holds machines of {sizes[0]} samples, but these data make machines "
                    f"of {sizes[1]}."
                )
        self._scheme = self.multiclass
        self._store(X, n, active, plan, fits)
        self.n_support_ = np.bincount(labels.codes[self.support_], minlength=len(labels.classes))
        if solution is None:
            self._report(fit.status for fit in fits)

    def _fit_task(
        self,
        K: QMatrix,
        task: Task,
        C: np.ndarray,
        start: np.ndarray | None,
        interrupted: bool,
    ) -> BinaryFit:
        part = self._restrict(K, task.samples)
        if interrupted:  # after Ctrl-C the machines that are left keep their starting point
            options = self._solver_options() | {"max_iter": 0}
            fit = fit_binary(part, task.signs, C[task.samples], start, **options)
            return fit._replace(status=Status.INTERRUPTED)
        return self._fit_one(part, task.signs, C[task.samples], start)

    def _restrict(self, K: Any, samples: np.ndarray) -> QMatrix:
        """The part of the Gram matrix that a task needs; the whole is computed once if it fits."""
        if len(samples) == K.n:
            return K
        fits = K.dtype.itemsize * K.n**2 <= float(self.cache_mb) * 2**20
        return K.subset(samples, fits)

    def _previous_alpha(self, n: int, classes: np.ndarray) -> list[np.ndarray] | None:
        """The dual variables of each machine of a previous fit to the same kind of problem."""
        alpha = getattr(self, "alpha_", None)
        if not self.warm_start or alpha is None or alpha.shape[-1] != n:
            return None
        if not np.array_equal(self.classes_, classes) or self._scheme != self.multiclass:
            return None
        if sparse.issparse(alpha):
            return [alpha[[k]].toarray()[0] for k in range(alpha.shape[0])]
        return [alpha]

    def _store(
        self,
        X: Any,
        n: int,
        active: np.ndarray,
        plan: list[Task],
        fits: list[BinaryFit],
    ) -> None:
        places = [active[task.samples] for task in plan]
        alpha = _rows([fit.alpha for fit in fits], places, n)
        coef = _rows([f.alpha * t.signs for t, f in zip(plan, fits, strict=True)], places, n)
        self.intercept_ = np.array([fit.intercept for fit in fits])
        self._store_expansion(X, coef)
        if len(fits) == 1:
            alpha = alpha.toarray()
        slack = [np.full(n, np.nan) for _ in fits] if len(fits) == 1 else [f.slack for f in fits]
        if len(fits) == 1:
            slack[0][places[0]] = fits[0].slack
        free = [active[t.samples[f.free]] for t, f in zip(plan, fits, strict=True)]
        bounded = [active[t.samples[f.bounded]] for t, f in zip(plan, fits, strict=True)]
        columns: dict[str, Any] = {
            "alpha_": alpha,
            "slack_": slack,
            "free_support_": free,
            "bounded_support_": bounded,
            "margin_": np.array([fit.margin for fit in fits]),
            "objective_": np.array([fit.objective for fit in fits]),
            "dual_objective_": np.array([fit.dual_objective for fit in fits]),
            "duality_gap_": np.array([fit.duality_gap for fit in fits]),
            "kkt_violation_": np.array([fit.kkt_violation for fit in fits]),
            "status_": [str(fit.status) for fit in fits],
        }
        for name, values in columns.items():
            value = values[0] if len(fits) == 1 else values
            setattr(self, name, float(value) if isinstance(value, np.floating) else value)
        iterations = [max(1, fit.n_iter) for fit in fits]
        self.n_iter_ = iterations[0] if len(fits) == 1 else np.array(iterations)

    def _kept_samples(self) -> tuple[np.ndarray, Any]:
        vectors, _ = super()._kept_samples()
        if len(self.classes_) > 2:
            return vectors, None
        return vectors, self.classes_[(self.dual_coef_[0] > 0).astype(np.intp)]

    def pairwise_decision_function(self, X: Any) -> np.ndarray:
        """Decision values of every binary machine, of shape (n_samples, n_machines).

        One versus one has a machine for each pair of classes ``(i, j)`` with ``i < j`` in the order
        (0, 1), (0, 2), ..., positive for ``j``; one versus rest a machine for each class.
        """
        return self._expansion(self._check_table(X, reset=False))

    def decision_function(self, X: Any) -> np.ndarray:
        """Signed distance from the boundary, in units of the margin.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples (kernel values against the training samples if precomputed).

        Returns
        -------
        values : array of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive for ``classes_[1]``. More: a score for each class, the largest of
            which :meth:`predict` takes.
        """
        values = self.pairwise_decision_function(X)
        if len(self.classes_) == 2:
            return values[:, 0]
        return class_scores(values, len(self.classes_), self._scheme)

    def predict(self, X: Any) -> np.ndarray:
        """Class labels of the rows of ``X``."""
        values = self.decision_function(X)
        winner = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[winner]

    def margin_confidence(self, X: Any) -> MarginConfidence:
        """How sure the machine is of its predictions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples (kernel values against the training samples if precomputed).

        Returns
        -------
        confidence : MarginConfidence
            Named tuple with one entry for each sample: ``values``, the decision value in favour of
            the predicted class (1 is on the margin), ``boundary_distance``, ``support_distance``
            (None if precomputed), and as property ``places``: "inside", "on" or "beyond" the
            margin, where "on" is up to ``tol``. With several classes the machine that speaks least
            for the winner counts.

        Examples
        --------
        >>> from tamiz import SVC
        >>> machine = SVC(kernel="linear").fit([[-3.0], [-1.0], [1.0], [3.0]], [0, 0, 1, 1])
        >>> confidence = machine.margin_confidence([[0.5], [1.0], [2.0]])
        >>> confidence.places.tolist(), confidence.boundary_distance.round(6).tolist()
        (['inside', 'on', 'beyond'], [0.5, 1.0, 2.0])
        """
        X = self._check_table(X, reset=False)
        values = self._expansion(X)
        k = len(self.classes_)
        winner = decide(values, k, self._scheme).winner
        widths = np.atleast_1d(np.asarray(self.margin_, dtype=np.float64))
        with np.errstate(invalid="ignore"):
            value, far = weakest(values, widths, winner, k, self._scheme == "ovo")
        near = None
        if not self._is_precomputed():
            vectors = self.support_vectors_
            if self.kernel_.compares_text:
                near = nearest(self.kernel_, X.items, vectors)
            else:
                near = nearest(self.kernel_, X, vectors)
        return MarginConfidence(value, far, near, float(self.tol))


def _rows(values: list[np.ndarray], places: list[np.ndarray], n: int) -> Any:
    """A sparse matrix with one row per machine; most samples take no part in most machines."""
    kept = [np.flatnonzero(v) for v in values]
    indptr = np.cumsum([0, *(len(k) for k in kept)])
    indices = np.concatenate([place[k] for place, k in zip(places, kept, strict=True)])
    data = np.concatenate([v[k] for v, k in zip(values, kept, strict=True)])
    return sparse.csr_array((data, indices, indptr), shape=(len(values), n))


class SVC(KernelClassifier):
    """Soft-margin support vector classifier.

    Minimises ``½‖w‖² + C Σ ξ_i`` subject to ``y_i (⟨w, φ(x_i)⟩ + b) ≥ 1 - ξ_i``, ``ξ ≥ 0``, where
    ``φ`` is the feature map of the kernel. In the form "loss plus penalty" this is
    ``Σ hinge + (λ/2)‖w‖²`` with ``λ = 1/C``, or with the mean instead of the sum ``λ = 1/(nC)``.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on violations of the margin. Larger values follow the training data more closely.
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "sigmoid", "precomputed", an object of :mod:`tamiz.kernels`, or a
        function ``f(X, Z)`` that returns the matrix of kernel values. With a kernel of strings,
        :class:`~tamiz.kernels.GapWeighted`, samples are strings wherever rows are spoken of.
    gamma : float, "scale" or "auto", default="scale"
        Factor of the kernels given by name; "scale" is ``1 / (n_features * X.var())``, "auto" is
        ``1 / n_features``.
    degree : int, default=3
        Degree of the kernel "poly".
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    multiclass : {"ovo", "ovr"}, default="ovo"
        One versus one or one versus rest, where there are more than two classes.
    solver : {"auto", "smo", "decomposition", "chunking"}, default="auto"
        All reach the same optimum. "auto" takes SMO on the dense Gram matrix if that fits
        ``cache_mb``, else decomposition.
    tol : float, default=1e-3
        Largest violation of the KKT conditions accepted.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``C`` by class; "balanced" makes them inversely proportional to frequency.
    warm_start : bool, default=False
        Start from the previous solution when the number of samples and the classes are the same,
        for instance after a feature was removed or ``C`` changed.
    cache_mb : float, default=2000
        Memory for kernel values, in MiB.
    max_iter : int, default=-1
        Limit on the steps of the solver; -1 stands for ten million or 100 per sample.
    device : {"cpu", "cuda", "auto"}, default=None
        Where kernel values are computed and kept: on the CPU (None is the same), on an NVIDIA card
        (needs ``pip install "tamiz[gpu]"``), or on a card where there is one and the problem is one
        for it. The optimum is the same. The card takes dense samples and the kernels linear,
        polynomial, radial and sigmoid; ``solver`` and ``cache_mb`` do not matter there.
    verbose : bool or int, default=0
        Show progress when fitting takes longer than two seconds: 1 in a terminal, 2 also where
        standard error is not one (a log file, a notebook).

    Attributes
    ----------
    classes_ : array
        Class labels, sorted. The attributes below are those of two classes; with more, each gets
        a leading dimension (or becomes a list) over the machines, in the order of
        :meth:`pairwise_decision_function`; ``alpha_`` is then a sparse matrix and ``slack_`` holds,
        for each machine, the values of the samples that took part in it. A machine of a pair is
        positive for the second class, as with two classes (scikit-learn: for the first).
    support_ : array
        Indices of the support vectors.
    n_support_ : array of shape (n_classes,)
        Number of support vectors of each class.
    support_vectors_ : array of shape (n_support, n_features)
        The support vectors (empty if precomputed; strings, of shape (n_support,), with a kernel of
        strings, and then there is no ``n_features_in_``).
    dual_coef_ : array of shape (1, n_support)
        ``alpha_i y_i`` of the support vectors.
    intercept_ : array of shape (1,)
        Constant ``b`` of the decision function (LIBSVM's ``-rho``).
    coef_ : array of shape (1, n_features)
        Weights ``w``; linear kernel only.
    alpha_ : array of shape (n_samples,)
        Dual variables.
    slack_ : array of shape (n_samples,)
        ``ξ``; a training sample is on the wrong side where it exceeds 1.
    free_support_, bounded_support_ : arrays
        Indices with ``0 < alpha < C`` (exactly on the margin) and with ``alpha = C``.
    margin_ : float
        ``1 / ‖w‖``, the distance from the boundary to the margin in feature space.
    objective_, dual_objective_, duality_gap_ : float
        Primal and dual objective and their difference, a bound on the distance to the optimum.
    kkt_violation_ : float
        Largest violation of the KKT conditions.
    n_iter_ : int
        Steps of the solver.
    status_ : str
        "converged", "max_iter", "interrupted" or "stalled".
    device_ : str
        Where it was fitted: "cpu", or "cuda" with the type of the kernel values kept on the card.
        "cuda, float64" can mean that float32 did not suffice for ``tol``, and was given up.
    kernel_ : Kernel
        The kernel with all its parameters.

    See Also
    --------
    HardMarginSVC : No slack at all; refuses data that cannot be separated.
    PegasosClassifier : Linear machine for streams.
    sklearn.calibration.CalibratedClassifierCV : Class probabilities from decision values.

    References
    ----------
    .. [1] C. Cortes, V. Vapnik (1995). Support-vector networks. Machine Learning 20.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamiz import SVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = make_pipeline(StandardScaler(), SVC(C=2.0)).fit(X, y)
    >>> round(machine.score(X, y), 3)
    0.989
    >>> svc = machine[-1]
    >>> svc.status_, svc.duality_gap_ < 1e-3 * svc.objective_
    ('converged', True)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **KERNEL_CONSTRAINTS,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "multiclass": [StrOptions({"ovo", "ovr"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    @by_keyword
    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        multiclass: str = "ovo",
        solver: str = "auto",
        tol: float = 1e-3,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        cache_mb: float = 2000.0,
        max_iter: int = -1,
        device: str | None = None,
        verbose: bool | int = 0,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.multiclass = multiclass
        self.solver = solver
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.cache_mb = cache_mb
        self.max_iter = max_iter
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVC:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples, or their square matrix of kernel values if precomputed. With a kernel
            of strings a list, array, Series or single column of strings.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C`` by sample; a weight of zero leaves the sample out, a weight of k is
            the same as repeating it k times.

        Returns
        -------
        self : SVC
        """
        with unchanged_on_error(self):
            self._fit(X, y, sample_weight)
        return self

    @classmethod
    def from_solution(
        cls,
        X: Any,
        y: Any,
        solution: Sequence[BinaryFit],
        sample_weight: Any = None,
        **params: Any,
    ) -> SVC:
        """Return a fitted machine whose dual problems were solved by other means.

        All that ``fit`` does besides solving is done here: checks of the data, the expansion, the
        attributes. Nothing is solved, and nobody is warned if a solution falls short of ``tol``.

        Parameters
        ----------
        X, y, sample_weight
            The training samples that ``solution`` belongs to, as in ``fit``.
        solution : sequence of BinaryFit
            The binary machines in the order of :meth:`pairwise_decision_function`, each over those
            of its samples that have positive weight; :func:`tamiz.svm.multiclass.describe` makes
            one from the result of a solver.
        **params
            Parameters of the machine.

        Returns
        -------
        machine : SVC

        Examples
        --------
        >>> from tamiz.kernels import Linear
        >>> from tamiz.qp import KernelQ
        >>> from tamiz.svm.multiclass import fit_binary
        >>> import numpy as np
        >>> X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
        >>> solved = fit_binary(KernelQ(Linear(), X), 2.0 * y - 1.0, np.ones(2))
        >>> SVC.from_solution(X, y, [solved], kernel="linear").coef_
        array([[1.]])
        """
        machine = cls(**params)
        machine._fit(X, y, sample_weight, solution)
        return machine

    def _upper_bounds(self, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        labels = Labels(self.classes_, codes)
        by_class = check_class_weight(self.class_weight, labels, weight)
        largest = float(self.C) * float(weight.max()) * float(by_class.max())
        if np.isinf(largest):
            check_penalties(largest)
        return self.C * weight * by_class[codes]
