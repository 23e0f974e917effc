"""Recursive feature elimination with support vector machines, for any kernel."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from tamiz._blas import one_blas_thread
from tamiz._checkpoint import Checkpoint, open_checkpoint
from tamiz._progress import Progress
from tamiz._units import Units, check_units
from tamiz._validation import (
    check_classes,
    check_sample_weight,
    check_squares,
    check_X,
    unchanged_on_error,
)
from tamiz.base import Stopwatch, choose_size, number_to_select
from tamiz.embedded._last_machine import LastMachineSelector
from tamiz.embedded._rfe_cv import Split, errors_by_size, splits_of
from tamiz.embedded._rfe_last import fit_last, restricted
from tamiz.embedded._rfe_run import Elimination
from tamiz.embedded._rfe_setup import Samples, Setup
from tamiz.kernels import KERNEL_NAMES, Kernel, Linear, Precomputed, as_kernel
from tamiz.svm import SVC

_BY_CV = ("best", "1se")
_SHARED = ("C", "class_weight", "multiclass", "tol", "criterion", "order", "step")


class SVMRFE(LastMachineSelector):
    r"""Recursive feature elimination by a support vector machine (SVM-RFE).

    Train, drop the feature that the machine misses least, train again, until one is left. With a
    linear kernel the feature with the least :math:`w_j^2` goes; with any other, the one whose
    removal changes

    .. math::

        W^2 = \|w\|^2 = \sum_{il} \alpha_i \alpha_l y_i y_l K(x_i, x_l)

    least, :math:`\alpha` held fixed. The radius-margin bound :math:`R^2\|w\|^2` can stand in for
    :math:`\|w\|^2`, and the gradient by a factor of the feature for the change.

    Parameters
    ----------
    n_features_to_select : int, float, "auto", "best", "1se" or None, default=None
        How many to keep: a number, a share of all, half of them ("auto", ``None``), or by
        cross-validation the number with least error ("best"; ties: fewer), or the least number
        whose error is within one standard error of that ("1se"). The ranking is always complete.
        With ``feature_groups``, the largest set met on the way with at most that many features.
    C : float, default=1.0
        Price of slack.
    kernel : str, Kernel or callable, default="linear"
        "linear", "poly", "rbf", "sigmoid", an object of :mod:`tamiz.kernels`, or a function
        ``f(X, Z)``.
    gamma : float, "scale" or "auto", default="scale"
        Factor of the kernels given by name. "scale" and "auto" are worked out once, from all
        features, and kept while features leave: machines of different sizes stay comparable.
    degree : int, default=3
        Degree of the kernel "poly".
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    step : int, float or "half", default=1
        How many leave at a time: a number, a share of those still in play (scikit-learn: of all),
        or half of those in play.
    criterion : {"margin", "radius_margin"}, default="margin"
        What a removal should change least, :math:`\|w\|^2` or :math:`R^2\|w\|^2`.
    order : {"zero", "first"}, default="zero"
        The change when the feature is left out, or the size of the gradient by its factor.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One versus one or one versus rest; criteria of the machines are added up.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``C`` by class.
    tol : float, default=1e-3
        Largest violation of the KKT conditions accepted. Problems of moderate size are solved
        to rounding whatever it is.
    feature_groups : list of lists, optional
        Features that leave together, by position or name. The criterion of a group is that of
        removing all of it at once.
    fixed_features : list, optional
        Features that never leave, by position or name; they rank first.
    cv : int, splitter or None, default=None
        For "best" and "1se": number of stratified folds (``None``: 5), or an object that splits.
        The elimination is repeated inside the training part of every fold.
    n_jobs : int or None, default=None
        Number of folds at a time.
    random_state : int, RandomState or None, default=None
        If given, samples are shuffled before they are split into folds.
    checkpoint : str or path, optional
        A file that keeps the state of the run.
    resume : bool, default=False
        Go on from the state in ``checkpoint``, if the file exists.
    verbose : bool or int, default=0
        Show progress when fitting takes longer than two seconds: 1 in a terminal, 2 elsewhere too.

    Attributes
    ----------
    support_, ranking_, order_, selection_
        See :class:`~tamiz.selector.Selector`. The features dropped last rank first; those dropped
        in the same step rank by their criterion, ties by position. Each step of
        ``selection_.path`` has the features dropped, the largest criterion among them as value,
        and the objective before the step in its details.
    estimator_ : SVC
        The machine on the selected features, with the same kernel.
    kernel_ : Kernel
        The kernel with all its parameters.
    classes_ : array
        Class labels, sorted.
    cv_errors_ : array of shape (n_splits, n_sizes)
        Share of wrong predictions of each fold at each size; "best" and "1se" only.
    cv_sizes_ : array of shape (n_sizes,)
        The sizes: numbers of features, or of units and fixed features if there are groups.
    status_ : str
        "converged" or "interrupted".

    See Also
    --------
    tamiz.embedded.HoldOutSVM : Drops by the errors on samples held out, and stops by itself.
    tamiz.svm.SVC : The machine.
    sklearn.feature_selection.RFE : For any estimator with coefficients, fitted anew each time.

    References
    ----------
    .. [1] I. Guyon, J. Weston, S. Barnhill, V. Vapnik (2002). Gene selection for cancer
           classification using support vector machines. Machine Learning 46.
    .. [2] A. Rakotomamonjy (2003). Variable selection using SVM-based criteria. JMLR 3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamiz.embedded import SVMRFE
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(X)
    >>> rfe = SVMRFE(n_features_to_select=5).fit(X, y)
    >>> rfe.selection_.selected[:2]
    ['worst area', 'mean concavity']
    >>> round(rfe.score(X, y), 3)
    0.965
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            StrOptions({"auto", *_BY_CV}),
            None,
        ],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "kernel": [StrOptions(set(KERNEL_NAMES)), Kernel, callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "step": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            StrOptions({"half"}),
        ],
        "criterion": [StrOptions({"margin", "radius_margin"})],
        "order": [StrOptions({"zero", "first"})],
        "multiclass": [StrOptions({"ovo", "ovr"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "feature_groups": ["array-like", None],
        "fixed_features": ["array-like", None],
        "cv": [
            Interval(Integral, 2, None, closed="left"),
            HasMethods(["split"]),
            "array-like",
            None,
        ],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "resume": ["boolean"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        C: float = 1.0,
        kernel: Any = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        step: int | float | str = 1,
        criterion: str = "margin",
        order: str = "zero",
        multiclass: str = "ovo",
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-3,
        feature_groups: Any = None,
        fixed_features: Any = None,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        checkpoint: Any = None,
        resume: bool = False,
        verbose: bool | int = 0,
    ):
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.step = step
        self.criterion = criterion
        self.order = order
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.tol = tol
        self.feature_groups = feature_groups
        self.fixed_features = fixed_features
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.resume = resume
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVMRFE:
        """Rank the features and fit a machine to the best.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples; sparse with the linear kernel only.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C`` by sample; a weight of zero leaves the sample out.

        Returns
        -------
        self : SVMRFE
        """
        # The products are many and small: waking BLAS threads costs more than they gain.
        with unchanged_on_error(self), one_blas_thread():
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        watch = Stopwatch()
        self._validate_params()
        kernel = as_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        self._refuse_kernel(kernel)
        X = check_X(self, X, reset=True, accept_sparse=self._takes_sparse())
        check_squares(X)
        weight = check_sample_weight(sample_weight, X.shape[0])
        labels = check_classes(y, X.shape[0], weight=weight)
        names = getattr(self, "feature_names_in_", None)
        units = check_units(self.feature_groups, self.fixed_features, X.shape[1], names)
        n_wanted = self._number_wanted(units)
        used = np.flatnonzero(weight)
        data = Samples(X, labels, weight)
        data = data if len(used) == len(weight) else data.part(used)
        setup = Setup(
            kernel=kernel,
            units=units,
            **{name: getattr(self, name) for name in _SHARED},
        )
        splits = None
        if self.n_features_to_select in _BY_CV:
            splits = splits_of(self.cv, data.X, data.labels, self.random_state)
        store = open_checkpoint(self, X, labels.codes, weight)
        self.classes_ = labels.classes
        self.status_ = "converged"
        for name in ("cv_errors_", "cv_sizes_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        with Progress("SVMRFE", self.verbose) as progress:
            run = self._eliminate(setup, data, n_wanted, progress, store)
            n_units = run.n_kept if run.wanted is not None else run.units_within(n_wanted)
            if splits is not None and self.status_ == "converged":
                chosen = self._choose(setup, data, splits, progress, store, run)
                n_units = run.units_within(n_wanted) if chosen is None else chosen
        order = run.order()
        support = run.support(n_units, order)
        alpha = None
        if run.wanted is not None and n_units == run.n_kept:
            alpha = np.zeros((len(run.machines.plan), len(weight)))
            bank = run.machines.bank
            for t, task in enumerate(run.machines.plan):
                part = run.wanted[bank.first[t] : bank.first[t + 1]]
                alpha[t, used[task.samples]] = part * task.signs
        self._fit_last(X, y, sample_weight, support, alpha)
        notes: dict[str, Any] = {"status": self.status_}
        if hasattr(self, "cv_errors_"):
            notes |= {"cv_errors": self.cv_errors_, "cv_sizes": self.cv_sizes_}
        self._finish(
            order=order,
            support=support,
            path=run.path(),
            seconds=watch.seconds,
            notes=notes,
        )
        if self.status_ == "interrupted":
            warnings.warn(
                f"SVMRFE: interrupted after {len(run.dropped)} of {len(units.members)} units had "
                "been dropped; the others are ranked by the last criterion.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _number_wanted(self, units: Units) -> int:
        """Number of features at which the machines are kept."""
        wanted = "auto" if self.n_features_to_select in _BY_CV else self.n_features_to_select
        number = number_to_select(wanted, units.n_features, None)
        fixed = len(units.fixed)
        if number < fixed:
            if wanted is None or wanted == "auto":
                return fixed
            raise ValueError(
                f"n_features_to_select={wanted!r} asks for {number} features, but "
                f"fixed_features keeps {fixed}; ask for at least as many."
            )
        return number

    def _eliminate(
        self,
        setup: Setup,
        data: Samples,
        n_wanted: int,
        progress: Progress,
        store: Checkpoint | None,
    ) -> Elimination:
        machines, self.kernel_ = setup.machines(data)
        run = Elimination(machines, setup.units, setup.step, n_wanted)
        state = None if store is None else store.state
        try:
            run.run(progress, None if store is None else store.save, state=state)
        except KeyboardInterrupt:
            if run.latest is None:
                raise  # nothing has been reached
            self.status_ = "interrupted"
        if store is not None and self.status_ == "converged" and "cv_errors" not in (state or {}):
            store.save(run.state(), now=True)
        return run

    def _choose(
        self,
        setup: Setup,
        data: Samples,
        splits: list[Split],
        progress: Progress,
        store: Checkpoint | None,
        run: Elimination,
    ) -> int | None:
        """Number of units by cross-validation; None if interrupted."""
        state = {} if store is None else (store.state or {})
        done = list(state.get("cv_errors", ()))

        def keep(errors: list[np.ndarray]) -> None:
            if store is not None:
                store.save({**run.state(), "cv_errors": np.array(errors)}, now=True)

        try:
            errors, sizes = errors_by_size(setup, data, splits, self.n_jobs, progress, done, keep)
        except KeyboardInterrupt:
            self.status_ = "interrupted"
            return None
        self.cv_errors_ = errors
        self.cv_sizes_ = sizes + len(setup.units.fixed)
        return choose_size(errors, sizes, str(self.n_features_to_select))

    def _fit_last(
        self, X: Any, y: Any, sample_weight: Any, support: np.ndarray, alpha: np.ndarray | None
    ) -> None:
        features = np.flatnonzero(support)
        svc = SVC(
            C=self.C,
            kernel=restricted(self.kernel_, features, len(support)),
            multiclass=self.multiclass,
            tol=self.tol,
            class_weight=self.class_weight,
        )
        self.estimator_ = fit_last(svc, X[:, features], y, sample_weight, self.classes_, alpha)

    def _refuse_kernel(self, kernel: Kernel) -> None:
        if isinstance(kernel, Precomputed):
            raise ValueError(
                f"kernel={self.kernel!r} does not know features, so none can be left out; use "
                "'linear', 'poly', 'rbf', 'sigmoid' or another kernel on tables of numbers."
            )

    def _takes_sparse(self) -> bool:
        return isinstance(self.kernel, Linear) or self.kernel == "linear"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks train on two features, both of them needed, and half are kept
        tags.classifier_tags.poor_score = True
        return tags
