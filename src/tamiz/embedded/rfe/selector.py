"""Recursive feature elimination with support vector machines, for any kernel."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from tamiz.base import Stopwatch, choose_size, number_to_select
from tamiz.embedded.rfe.elimination import (
    Elimination,
    RFESetup,
    Split,
    WeighedSamples,
    errors_by_size,
    pack,
    sizes_of,
    splits_of,
    units_of,
    unpack,
)
from tamiz.embedded.rfe.machines import Machines
from tamiz.embedded.rfe.targets import ClassTarget, NumericTarget
from tamiz.embedded.sparse.streaming import (
    OutOfPassesError,
    Precision,
    StreamedMachines,
    pairs_or_rest,
)
from tamiz.gpu import DEVICES, Lane, lane_of
from tamiz.gpu.features import bytes_of_distances
from tamiz.kernels import KERNEL_NAMES, Kernel, Linear, as_kernel
from tamiz.kernels.features.card import follows_on_card
from tamiz.kernels.shapley import has_exact_values
from tamiz.routing import refuse_unknown, refuse_unrequested, router_of, routes_of
from tamiz.runtime.checkpoint import Checkpoint, open_checkpoint
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import one_blas_thread
from tamiz.svm.last_machine import INSTEAD, TASK_CONSTRAINTS, LastMachineLearner
from tamiz.svm.stream.machine import KEPT, Stream, StreamedMachine, in_features
from tamiz.validation import (
    N_JOBS,
    Units,
    check_classes,
    check_level,
    check_penalties,
    check_regression_target,
    check_sample_weight,
    check_squares,
    check_X,
    checked,
    depth_of_caller,
    far_point,
    group_codes,
    integer_from,
    refuse_no_jobs,
    refused,
    unchanged_on_error,
    warn_if_unscaled,
)

_BY_CV = ("best", "1se")
_SHARED = ("C", "tol", "criterion", "order", "step")


class SVMRFE(LastMachineLearner):
    r"""Recursive feature elimination by a support vector machine (SVM-RFE).

    Train, drop the feature that the machine misses least, train again, until one is left. With a
    linear kernel the feature with the least :math:`w_j^2` goes; with any other, the one whose
    removal changes

    .. math::

        W^2 = \|w\|^2 = \sum_{il} \alpha_i \alpha_l y_i y_l K(x_i, x_l)

    least, :math:`\alpha` held fixed. For a numeric target the machine is an
    :class:`~tamiz.svm.SVR`, whose differences :math:`\alpha_i - \alpha_i^*` stand for
    :math:`\alpha_i y_i`. The radius-margin bound :math:`R^2\|w\|^2` can stand in for
    :math:`\|w\|^2`, and the gradient by a factor of the feature for the change.

    Parameters
    ----------
    n_features_to_select : int, float, "auto", "best", "1se" or None, default=None
        How many to keep: a number, a fraction of all, half of them ("auto", ``None``), or by
        cross-validation the number with least error ("best"; ties: fewer), or the least number
        whose error is within one standard error of that ("1se"). The ranking is always complete.
        With ``feature_groups``, the largest set met on the way with at most that many features;
        if the last group left is larger, that group, and a warning.
    task : {"classification", "regression", "auto"}, default="classification"
        Whether ``y`` holds labels or numbers. "auto" decides by ``y``: text and few distinct
        integers are labels. Until it is fitted such a selector is neither a classifier nor a
        regressor, so that folds made around it are not stratified.
    C : float, default=1.0
        Penalty on violations of the margin, or on residuals outside the tube.
    epsilon : float, default=0.1
        Half-width of the tube, in units of the target; for a regression only.
    scale_target : bool, default=False
        Measure ``C`` and ``epsilon`` in standard deviations of the target, so that its unit does
        not matter; for a regression only.
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
        How many leave at a time: a number, a fraction of those still in play (scikit-learn: of
        all), or half of those in play.
    criterion : {"margin", "radius_margin", "shapley"}, default="margin"
        What a removal should change least, :math:`\|w\|^2` or :math:`R^2\|w\|^2`; "shapley": the
        feature goes that adds least to the decision values of the training samples (at most 200,
        evenly among them), by mean absolute Shapley value. For linear, radial and polynomial
        kernels and their sums.
    order : {"zero", "first"}, default="zero"
        The change when the feature is left out, or the size of the gradient by its factor.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One versus one or one versus rest; criteria of the machines are added up.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``C`` by class.
    tol : float, default=1e-3
        Largest violation of the KKT conditions accepted. Problems of moderate size are solved
        to rounding whatever it is. Where it cannot be reached, ``status_`` and a warning say so.
    feature_groups : list of lists or dict of lists, optional
        Features that leave together, by position or name. The criterion of a group is that of
        removing all of it at once.
    fixed_features : list, optional
        Features that never leave, by position or name; they rank first.
    cv : int, splitter or None, default=None
        For "best" and "1se": number of folds (``None``: 5) of the samples of positive weight,
        stratified if there are classes, or an object that splits ``X``, or a list of pairs of
        positions. The elimination is repeated inside the training part of every fold.
    device : {"cpu", "cuda", "auto"}, default=None
        With the radial kernel: where its matrix is kept and criteria are computed, the CPU (None is
        the same), an NVIDIA card (needs ``pip install "tamiz[gpu]"``), or a card if there is one.
        The ranking is the same, up to criteria that differ by rounding only.
    n_jobs : int or None, default=None
        Number of folds at a time.
    random_state : int, RandomState or None, default=None
        If given, samples are shuffled before they are split into folds.
    checkpoint : str or path, optional
        A file that keeps the state of the run.
    resume : bool, default=False
        Go on from the state in ``checkpoint``, if the file exists, with the folds it holds.
    verbose : bool or int, default=0
        Show progress when fitting takes longer than two seconds: 1 in a terminal, 2 elsewhere too.

    Attributes
    ----------
    support_, ranking_, order_, selection_
        See :class:`~tamiz.base.Selector`. The features dropped last rank first; those dropped
        in the same step rank by their criterion, ties by position. Each step of
        ``selection_.path`` has the features dropped, the largest criterion among them as value,
        and the objective before the step in its details.
    estimator_ : SVC or SVR
        The machine on the selected features, with the same kernel.
    kernel_ : Kernel
        The kernel with all its parameters.
    classes_ : array
        Class labels, sorted; not for a regression.
    task_ : {"classification", "regression"}
        What ``y`` was taken for.
    cv_errors_ : array of shape (n_splits, n_sizes)
        Fraction of wrong predictions (regression: mean absolute error) of each fold at each size;
        "best" and "1se" only. After Ctrl-C, of the folds that were done.
    cv_sizes_ : array of shape (n_sizes,)
        The sizes: numbers of features, or of units and fixed features if there are groups.
    n_passes_ : int
        Passes over the rows; after ``fit_stream`` only.
    status_ : str
        "converged"; "stalled" if an intermediate machine could not be solved to ``tol``, so that
        the order may be wrong from there on; or "interrupted".

    See Also
    --------
    tamiz.embedded.HoldOutSVM : Drops by the errors on samples held out, and stops by itself.
    tamiz.svm.SVC, tamiz.svm.SVR : The machines.
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

    A numeric target; the first five of twenty features matter:

    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(300, n_features=20, noise=1.0, random_state=0)
    >>> X = StandardScaler().fit_transform(X)
    >>> rfe = SVMRFE(5, task="regression", kernel="rbf", gamma=0.01, C=10.0, epsilon=0.5).fit(X, y)
    >>> sorted(rfe.order_[:5].tolist())
    [0, 1, 2, 3, 4]
    """

    kernel_: Kernel
    status_: str
    cv_errors_: np.ndarray
    cv_sizes_: np.ndarray

    divides_samples = True

    _tables = 4  # of the size of X, that a fit works on
    _parameter_constraints: dict[str, list[Any]] = {
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            StrOptions({"auto", *_BY_CV}),
            None,
        ],
        **TASK_CONSTRAINTS,
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
        "criterion": [StrOptions({"margin", "radius_margin", "shapley"})],
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
        "device": [StrOptions(set(DEVICES)), None],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "resume": ["boolean"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        task: str = "classification",
        C: float = 1.0,
        epsilon: float = 0.1,
        scale_target: bool = False,
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
        device: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        checkpoint: Any = None,
        resume: bool = False,
        verbose: bool | int = 0,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.C = C
        self.epsilon = epsilon
        self.scale_target = scale_target
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
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.resume = resume
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        **metadata: Any,
    ) -> SVMRFE:
        """Rank the features and fit a machine to the best.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples; sparse with the linear kernel only.
        y : array-like of shape (n_samples,)
            Class labels, or numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C`` by sample; a weight of zero leaves the sample out.
        groups : array-like of shape (n_samples,), optional
            Samples of one group, such as those of a patient, are in one part of every fold of
            ``cv``.
        **metadata : dict
            What else a splitter ``cv`` asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self : SVMRFE
        """
        # The products are many and small: waking BLAS threads costs more than they gain.
        with unchanged_on_error(self), one_blas_thread():
            refuse_unknown("fit", metadata)
            given = {"sample_weight": sample_weight, "groups": groups, **metadata}
            refuse_unrequested(self, **given)
            self._fit(X, y, given)
        return self

    @checked(gap=check_level, max_passes=integer_from(1), keep_bytes=KEPT)
    def fit_stream(
        self,
        source: Any,
        *,
        target: Any = None,
        standardize: bool = False,
        gap: float = 1e-4,
        max_passes: int = 10_000,
        keep_bytes: int | None = None,
        **options: Any,
    ) -> SVMRFE:
        """Rank the features of a table that need not fit into memory; linear kernel only.

        The same elimination as in ``fit``. Each machine is solved in a few passes over the rows,
        from the weights and the certificate of the one before, up to a certified gap; the order of
        the rows and the cut into batches do not matter. ``step="half"`` or a fraction needs far
        fewer passes than ``step=1``. Memory: about two batches, ``keep_bytes`` and a quarter of it,
        a sample of rows (32 MB), and a square table as wide as the features for each machine.

        Not available: other kernels, ``task="regression"``, ``criterion="radius_margin"``, "best"
        and "1se" for ``n_features_to_select``, ``checkpoint``.

        Parameters
        ----------
        source : path, list of paths, iterable of (X, y), callable, or Batches
            Where the rows come from: whatever :func:`tamiz.scale.batches` takes.
        target : str or int, optional
            Column of the labels.
        standardize : bool, default=False
            Take the features as if they had been scaled to mean 0 and deviation 1 (sparse ones are
            not shifted). The weights of ``estimator_`` are for the features as they are in the
            table.
        gap : float, default=1e-4
            Largest duality gap of each machine, as a fraction of its objective.
        max_passes : int, default=10000
            Limit on passes over the rows.
        keep_bytes : int, optional
            Memory for rows that are kept from pass to pass: all of them, checked and converted, if
            they need no more; and in a quarter of it those near the margin, which save passes.
            By default 1 GiB, or a quarter of the memory that is free if that is less; 0 keeps
            none.
        **options
            For :func:`tamiz.scale.batches`: ``batch_rows``, ``columns``, ``drop``, ``classes`` ...;
            and ``executor`` for passes on a cluster.

        Returns
        -------
        self : SVMRFE
            With the attributes of ``fit``, and ``n_passes_``; ``estimator_`` is a linear machine
            with ``coef_``, ``intercept_``, ``objective_`` and ``duality_gap_``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from tamiz.embedded import SVMRFE
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> X["class"] = y
        >>> parts = [X[:300], X[300:]]
        >>> rfe = SVMRFE(n_features_to_select=5, step="half")
        >>> rfe.fit_stream(parts, target="class", standardize=True).selection_.selected[:2]
        ['worst area', 'mean concave points']
        """
        with unchanged_on_error(self), one_blas_thread():
            precision = Precision(gap, max_passes)
            options = {**options, "keep_bytes": keep_bytes}
            _fit_stream(self, source, target, standardize, precision, options)
        return self

    def get_metadata_routing(self) -> Any:
        """Who gets what is passed to ``fit``: the elimination itself, and the splitter.

        Returns
        -------
        routing : MetadataRouter
        """
        return router_of(self, splitter=(self.cv, "split"))

    def _fit(self, X: Any, y: Any, given: dict[str, Any]) -> None:
        """Check, eliminate, judge the sizes if asked to, and fit the last machine."""
        watch = Stopwatch()
        sample_weight, groups = given["sample_weight"], given["groups"]
        self._validate_params()
        refuse_no_jobs(self.n_jobs)
        kernel = as_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        self._refuse_kernel(kernel)
        self._refuse_shapley(kernel)
        X = check_X(self, X, reset=True, accept_sparse=self._takes_sparse())
        check_squares(X)
        if not (X.max(axis=0) - X.min(axis=0)).max() > 0:
            _warn_of_constants(" of X")
        warn_if_unscaled(self, X)
        weight = check_sample_weight(sample_weight, X.shape[0])
        check_penalties(float(self.C) * float(weight.max()))
        target = self._target(y, weight)
        names = getattr(self, "feature_names_in_", None)
        units = units_of(self.feature_groups, self.fixed_features, X.shape[1], names)
        n_wanted = self._number_wanted(units)
        used, data, moved = _samples_that_count(X, target, weight, kernel.is_linear)
        shared = {name: getattr(self, name) for name in _SHARED}
        setup = RFESetup(kernel=kernel, units=units, lane=self._lane(kernel, len(used)), **shared)
        splits: list[Split] | None = None
        beside = [] if groups is None else [group_codes(groups, X.shape[0])]
        store = open_checkpoint(self, X, target.values, weight, *beside)
        if self.n_features_to_select in _BY_CV:
            if store is not None and store.state is not None:
                splits = unpack(store.state)  # those of the run that is resumed
            else:
                given["groups"] = (*beside, None)[0]
                splits = self._splits(X, y, data.target, used, given)
        self._forget_earlier_fit()
        most = len(sizes_of(setup)) - 1 + len(splits or ())
        with Progress("SVMRFE", self.verbose, most=most) as progress:
            run = self._eliminate(setup, data, n_wanted, splits, progress, store)
            excess = run.machines.excess
            n_units = run.n_kept if splits is None and run.wanted is not None else None
            if splits is not None and self.status_ == "converged":
                excess = max(excess, self._judge(setup, data, splits, progress, store, run))
        if hasattr(self, "cv_errors_"):
            sizes = self.cv_sizes_ - len(units.fixed)
            n_units = choose_size(self.cv_errors_, sizes, str(self.n_features_to_select))
        elif n_units is None:
            n_units = run.units_within(n_wanted)
        order = run.order()
        support = run.support(n_units, order)
        known = not moved and n_units == run.n_kept and target.classifier
        solved = run.solution() if known else None
        features = np.flatnonzero(support)
        own = self._last_parameters(data, features)
        self._fit_last_machine(X[:, features], y, sample_weight, solved, **own)
        if excess and self.status_ == "converged":
            self.status_ = "stalled"
        notes: dict[str, Any] = {"status": self.status_}
        if hasattr(self, "cv_errors_"):
            notes |= {"cv_errors": self.cv_errors_, "cv_sizes": self.cv_sizes_}
        path, seconds = run.path(), watch.seconds
        self._finish(order=order, support=support, path=path, seconds=seconds, notes=notes)
        self._warn(self.__dict__.pop("_stopped"), excess, n_wanted)

    def _splits(
        self, X: Any, y: Any, target: Any, used: np.ndarray, given: dict[str, Any]
    ) -> list[Split]:
        """The folds, by groups and by what else a splitter of scikit-learn asks for."""
        routes = routes_of(self, X.shape[0], given)
        asked = {"groups": given["groups"]}
        if routes is not None and hasattr(self.cv, "set_split_request"):
            asked = routes.part("splitter")
        return splits_of(self.cv, X, y, target, used, self.random_state, **asked)

    def _last_parameters(self, data: WeighedSamples, features: np.ndarray) -> dict[str, Any]:
        """Of the machine on the selected features."""
        kernel = self.kernel_.restrict(features, data.X.shape[1])
        if not isinstance(data.target, NumericTarget):
            return {"C": self.C, "kernel": kernel}
        unit = data.target.unit(data.weight)
        return {"C": unit * self.C, "epsilon": unit * self.epsilon, "kernel": kernel}

    def _target(self, y: Any, weight: np.ndarray) -> ClassTarget | NumericTarget:
        """The target of all samples, as the elimination takes it."""
        if self._settle_task(y):
            self._refuse_class_weight()
            values = check_regression_target(y, len(weight))
            return NumericTarget(values, float(self.epsilon), self.scale_target)
        labels = check_classes(y, len(weight), weight=weight, quantity=INSTEAD)
        self.classes_ = labels.classes
        return ClassTarget(labels, self.class_weight, self.multiclass)

    def _lane(self, kernel: Kernel, n: int) -> Lane | None:
        """The card that ``device`` asks for, if kernel and samples are for it."""
        lane = lane_of(self.device)
        follows = follows_on_card(kernel)
        if lane is not None and self.device == "auto":
            return lane if follows and lane.fits(bytes_of_distances(n)) else None
        if lane is None or follows:
            return lane
        raise refused(
            "device",
            self.device,
            f"eliminates with the radial kernel only, not with {kernel!r}; use "
            'kernel="rbf", or device="cpu".',
        )

    def _refuse_shapley(self, kernel: Kernel) -> None:
        """Refuse what Shapley values do not go with."""
        if self.criterion != "shapley":
            return
        if self.order != "zero":
            raise refused("order", self.order, "must be 'zero' with criterion='shapley'.")
        if not has_exact_values(kernel):
            raise refused(
                "criterion",
                self.criterion,
                f"must be 'margin' or 'radius_margin' with {kernel!r}, whose Shapley values are "
                "not known exactly.",
            )

    def _forget_earlier_fit(self) -> None:
        self.status_, self._stopped = "converged", ""
        for name in ("cv_errors_", "cv_sizes_"):
            self.__dict__.pop(name, None)

    def _warn(self, stopped: str, excess: float, n_wanted: int) -> None:
        """Warn of what did not go as asked."""
        if stopped:
            warnings.warn(f"SVMRFE: {stopped}", ConvergenceWarning, stacklevel=depth_of_caller())
        if excess:
            warnings.warn(
                f"SVMRFE: an intermediate machine may violate its optimality conditions by "
                f"{excess:.2g} times tol={self.tol:g}, which rounding keeps it from lowering; the "
                "order may be wrong from there on. Scale the features "
                "(sklearn.preprocessing.StandardScaler) or lower C.",
                ConvergenceWarning,
                stacklevel=depth_of_caller(),
            )
        kept = int(self.support_.sum())
        if kept > n_wanted and self.n_features_to_select not in (None, "auto", *_BY_CV):
            warnings.warn(
                f"SVMRFE: the last group left has {kept} features, more than "
                f"n_features_to_select={self.n_features_to_select!r} asks for; all of them are "
                "selected. Ask for more, or divide the group.",
                UserWarning,
                stacklevel=depth_of_caller(),
            )

    def _number_wanted(self, units: Units) -> int:
        """Number of features at which the machines are kept."""
        wanted = "auto" if self.n_features_to_select in _BY_CV else self.n_features_to_select
        number = number_to_select(wanted, units.n_features, None)
        fixed = len(units.fixed)
        least = fixed if fixed else int(units.sizes.min())
        if number >= least:
            return number
        if wanted is None or wanted == "auto":
            return least
        if fixed:
            raise ValueError(
                f"n_features_to_select={wanted!r} asks for {number} features, but "
                f"fixed_features keeps {fixed}; ask for at least as many."
            )
        raise ValueError(
            f"n_features_to_select={wanted!r} asks for {number} features, but the smallest of "
            f"feature_groups has {least}; ask for at least as many."
        )

    def _eliminate(
        self,
        setup: RFESetup,
        data: WeighedSamples,
        n_wanted: int,
        splits: list[Split] | None,
        progress: Progress,
        store: Checkpoint | None,
    ) -> Elimination:
        machines, self.kernel_ = setup.machines(data)
        # with folds, the same steps as inside them, and no stop at a size that is not known yet
        run = Elimination(machines, setup.units, setup.step, n_wanted if splits is None else 0)
        folds = {} if splits is None else pack(splits)
        state = None if store is None else store.state
        save = None if store is None else (lambda now: store.save({**now, **folds}))
        try:
            run.run(progress, save, state=state)
        except KeyboardInterrupt:
            if run.machines.latest() is None:
                raise  # nothing has been reached
            self.status_ = "interrupted"
            self._stopped = (
                f"interrupted after {run.n_gone} of {len(setup.units.members)} units had "
                "been dropped; the others are ranked by the last criterion."
            )
        if store is not None and self.status_ == "converged" and "cv_errors" not in (state or {}):
            store.save({**run.state(), **folds}, now=True)
        return run

    def _judge(
        self,
        setup: RFESetup,
        data: WeighedSamples,
        splits: list[Split],
        progress: Progress,
        store: Checkpoint | None,
        run: Elimination,
    ) -> float:
        """Cross-validated errors of the sizes, of the folds that were done; the largest excess."""
        state = {} if store is None else (store.state or {})
        errors = list(state.get("cv_errors", ()))
        excess = 0.0

        def keep() -> None:
            if store is not None:
                now = {**run.state(), **pack(splits), "cv_errors": np.array(errors)}
                store.save(now, now=True)

        try:
            excess = errors_by_size(setup, data, splits, self.n_jobs, progress, errors, keep)
        except KeyboardInterrupt:
            self.status_ = "interrupted"
            size = (
                f"the number of features was chosen by the {len(errors)} that were done"
                if errors
                else "half of the features are kept"
            )
            self._stopped = (
                f"interrupted in fold {len(errors) + 1} of {len(splits)}; the ranking is complete, "
                f"but {size}."
            )
        if errors:
            self.cv_errors_ = np.array(errors)
            self.cv_sizes_ = np.array(sizes_of(setup)) + len(setup.units.fixed)
        return excess

    def _refuse_kernel(self, kernel: Kernel) -> None:
        if kernel.precomputed:
            raise ValueError(
                f"kernel={self.kernel!r} does not work on features, so none can be left out; use "
                "'linear', 'poly', 'rbf', 'sigmoid' or another kernel on tables of numbers."
            )

    def _takes_sparse(self) -> bool:
        kernel = self.kernel
        return kernel.is_linear if isinstance(kernel, Kernel) else kernel == "linear"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks train on two features, both of them needed, and half are kept
        for kind in (tags.classifier_tags, tags.regressor_tags):
            if kind is not None:
                kind.poor_score = True
        return tags


# ---------------------------------------------------------------------- streams


def _fit_stream(
    rfe: Any, source: Any, target: Any, standardize: bool, precision: Precision, options: Any
) -> None:
    """Rank the features of a stream, and set the fitted attributes of ``rfe``.

    The elimination is that of memory, with machines that are solved in passes.
    """
    watch = Stopwatch()
    rfe._validate_params()
    _refuse_for_stream(rfe)
    with Progress("SVMRFE", rfe.verbose) as progress:
        stream = Stream(rfe, source, target, options)
        names = getattr(rfe, "feature_names_in_", None)
        units = units_of(rfe.feature_groups, rfe.fixed_features, stream.n_features, names)
        n_wanted = rfe._number_wanted(units)
        tasks = pairs_or_rest(stream, rfe.class_weight, rfe.C, rfe.multiclass)
        rows = stream.rows(tasks, progress)
        varies = stream.spread()[1] > 0
        if not varies.any():
            _warn_of_constants()
        size = np.ones(stream.n_features) if standardize else rows.units.scale
        factor = 1.0 if rfe.order == "zero" else 2.0
        machines = StreamedMachines(rows, units, factor, size, varies, precision)
        run = Elimination(cast(Machines, machines), units, rfe.step, n_wanted)
        rfe._forget_earlier_fit()
        stopped = rfe.__dict__.pop("_stopped")
        try:
            run.run(progress)
        except (KeyboardInterrupt, OutOfPassesError) as error:
            if machines.latest() is None:
                raise
            used_up = isinstance(error, OutOfPassesError)
            rfe.status_ = "max_iter" if used_up else "interrupted"
            why = f"all {precision.max_passes} passes were made" if used_up else "interrupted"
            stopped = (
                f"{why} after {run.n_gone} of {len(units.members)} units had been dropped; the "
                "others are ranked by the last criterion."
            )
    n_units = run.n_kept if run.wanted is not None else run.units_within(n_wanted)
    order = run.order()
    support = run.support(n_units, order)
    bank = machines.bank
    if run.wanted is not None and run.slopes is not None:
        bank = bank._replace(b=run.wanted, g=run.slopes)
    rfe.classes_, rfe.task_ = stream.classes, "classification"
    rfe.kernel_ = Linear()
    rfe.estimator_ = _streamed_machine(rfe, bank, rows, support)
    rfe.n_passes_ = rows.passes + 1
    if machines.excess and rfe.status_ == "converged":
        rfe.status_ = "stalled"
    rfe._finish(
        order=order,
        support=support,
        path=run.path(),
        seconds=watch.seconds,
        notes={"status": rfe.status_, "n_passes": rfe.n_passes_},
    )
    if machines.excess:
        stopped = stopped or (
            f"an intermediate machine reached only {machines.excess:.2g} times "
            f"gap={precision.gap:g}; the order may be wrong from there on. Set standardize=True, "
            "or lower C."
        )
    rfe._warn(stopped, 0.0, n_wanted)


def _streamed_machine(rfe: Any, bank: Any, rows: Any, support: np.ndarray) -> StreamedMachine:
    """The linear machines on the selected features, with their evidence."""
    beta = in_features(bank.b, rows.units)
    machine = StreamedMachine(rfe.multiclass)
    machine.classes_ = rfe.classes_
    machine.n_features_in_ = int(support.sum())
    names = getattr(rfe, "feature_names_in_", None)
    if names is not None:
        machine.feature_names_in_ = np.asarray(names)[support]
    machine.coef_, machine.intercept_ = beta[:, :-1][:, support], beta[:, -1]
    machine.objective_, machine.duality_gap_ = bank.g.T
    return machine


def _samples_that_count(
    X: Any, target: Any, weight: np.ndarray, linear: bool
) -> tuple[np.ndarray, WeighedSamples, bool]:
    """The samples that have a weight, which they are, and whether they were moved.

    Of linear machines none, on any of the features, depends on the origin.
    """
    used = np.flatnonzero(weight)
    data = WeighedSamples(X, target, weight)
    data = data if len(used) == len(weight) else data.part(used)
    centre = far_point(data.X) if linear else None
    if centre is None:
        return used, data, False
    return used, replace(data, X=data.X - centre), True


def _warn_of_constants(where: str = "") -> None:
    """Called from what ``fit`` or ``fit_stream`` calls."""
    warnings.warn(
        f"SVMRFE: every feature{where} is constant, so that nothing can be learned; the ranking "
        "means nothing.",
        UserWarning,
        stacklevel=depth_of_caller(),
    )


def _refuse_for_stream(rfe: Any) -> None:
    """What needs all rows at once."""
    if rfe.task != "classification":
        raise ValueError(
            f"fit_stream is for classes; task={rfe.task!r} is not available for a stream. Use "
            "task='classification', or fit on a sample of the rows."
        )
    if not rfe._takes_sparse():
        raise ValueError(
            f"fit_stream is for the linear kernel; kernel={rfe.kernel!r} needs all rows at "
            "once. Use kernel='linear', or fit on a sample of the rows."
        )
    if rfe.criterion != "margin":
        raise ValueError(
            f"fit_stream knows criterion='margin' only; {rfe.criterion!r} needs all rows at once."
        )
    if rfe.n_features_to_select in ("best", "1se"):
        raise ValueError(
            f"n_features_to_select={rfe.n_features_to_select!r} needs cross-validation, which "
            "fit_stream does not offer; give a number or a fraction."
        )
    if rfe.checkpoint is not None:
        raise ValueError(
            "checkpoint is not available in fit_stream; set checkpoint=None. After Ctrl-C what "
            "was reached is kept."
        )
