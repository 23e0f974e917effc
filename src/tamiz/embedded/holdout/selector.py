r"""Elimination by the errors on held-out samples: HO-SVM.

A machine is trained on a random 70 % of the samples, and for every feature :math:`p` still in,

.. math::

    E_{(-p)} = \Big|\Big\{ l \in \text{VAL} : y_l \ne \operatorname{sgn}\Big(
    \sum_{i \in \text{TRAIN}} \alpha_i y_i K(x_i^{(-p)}, x_l^{(-p)}) + b \Big) \Big\}\Big|

counts the errors on the other 30 % when :math:`p` is taken out of the kernel and
:math:`\alpha, b` are kept. The feature with the least goes; the next step draws a new split.
For a numeric target the machine is a support vector regression, and the mean loss on the other 30 %
takes the place of the count.

The stages in their order: check, screen one by one if asked to, choose the machine if asked to,
eliminate, read the record, and fit the last machine.

References
----------
.. [1] S. Maldonado, R. Weber (2009). A wrapper method for feature selection using support vector
       machines. Information Sciences 179.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from tamiz.base import Stopwatch, number_to_select
from tamiz.embedded.holdout.elimination import (
    HoldOutPlan,
    HoldOutRecord,
    HoldOutState,
    Screened,
    eliminate,
    kept_at_stop,
    path_of,
    prefilter_pvalues,
    unit_order,
    unit_pvalues,
)
from tamiz.embedded.holdout.judges import (
    FarRun,
    KernelJudge,
    RefitJudge,
    Run,
)
from tamiz.embedded.holdout.targets import HeldOutClasses, HeldOutNumbers, HeldOutTarget
from tamiz.embedded.holdout.tune import (
    CandidateGrid,
    Structure,
    best,
    check_grid,
    resolved,
    wanted,
)
from tamiz.kernels import KERNEL_NAMES, Kernel, as_kernel
from tamiz.routing import refuse_unknown, refuse_unrequested, router_of, routes_of
from tamiz.runtime.checkpoint import open_checkpoint
from tamiz.runtime.progress import Progress
from tamiz.runtime.workers import Configured, find_runner
from tamiz.search.splits import moments_of
from tamiz.svm.last_machine import INSTEAD, TASK_CONSTRAINTS, LastMachineLearner
from tamiz.validation import (
    N_JOBS,
    Units,
    check_classes,
    check_features,
    check_penalties,
    check_regression_target,
    check_squares,
    check_units,
    check_X,
    depth_of_caller,
    far_level,
    far_point,
    group_codes,
    inner_fit,
    refuse_no_jobs,
    unchanged_on_error,
    warn_if_unscaled,
)

#: A matrix of kernel values of all samples that takes more megabytes than this is warned of.
LARGE_MB = 2000.0


class HoldOutSVM(LastMachineLearner):
    """Backward elimination by the errors on held-out samples (HO-SVM), with any kernel.

    Every step draws a new random split, trains a machine on its larger part, and removes the
    feature without which the machine makes least errors on the smaller part. The method knows
    where to stop: when every removal makes things worse. The elimination goes on to the last
    feature all the same, so that all are ranked. With a numeric target the machine is a support
    vector regression, and its mean loss on the smaller part decides.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; by default those in play when the rule
        ``stop`` says so. With groups, as many whole groups as fit.
    task : {"classification", "regression", "auto"}, default="classification"
        Whether ``y`` holds labels or numbers. "auto" decides by ``y``: text and few distinct
        integers are labels. Until it is fitted such a selector is neither a classifier nor a
        regressor, so that folds made around it are not stratified.
    C : float, default=1.0
        Penalty of slack.
    epsilon : float, default=0.1
        Half-width of the tube, in units of the target; for a regression only.
    scale_target : bool, default=False
        Measure ``C`` and ``epsilon`` in standard deviations of the target, so that its unit does
        not matter; for a regression only.
    loss : {"absolute", "squared", "epsilon_insensitive"}, default="absolute"
        For a regression, what is averaged over the held-out samples: the absolute or squared error,
        or the absolute error beyond the tube.
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "sigmoid", an object of :mod:`tamiz.kernels`, or a function.
    gamma, degree, coef0 : float or str, int, float
        Parameters of the kernels given by name, as :class:`tamiz.svm.SVC` has them. A ``gamma``
        given as a word is turned into a number once, from all features that enter the
        elimination, and kept.
    estimator : classifier or regressor, optional
        Another judge instead of the support vector machine. It has no multipliers to keep, so it
        is fitted anew without each feature: exact, but with as many fits as features in every step.
    validation_size : float, default=0.3
        Fraction of every class, or of all samples of a regression, that is held out.
    gap : int, default=0
        With ``times`` in ``fit``: number of different times before a validation part that are not
        trained with, refused without. It keeps samples apart whose values overlap in time, such as
        moving averages.
    ties : {"random", "all"}, default="random"
        Whether one of several features with the same least error goes, or all of them at once
        (faster and coarser; one feature always stays).
    stop : {"worse", "not_better"}, default="worse"
        Stop when the least error without a feature exceeds the error with all of them, or when it
        is not below it, which keeps more features.
    splits_per_step : int, default=1
        Number of splits over which the errors of a step are averaged. More of them make the choice
        less a matter of luck.
    costs : pair (false positive, false negative) or dict, optional
        Costs of the two kinds of error, ``classes_[1]`` being the positive class; or the cost of
        missing a sample of each class. Not for a regression.
    balanced : bool, default=False
        Mean of the error rates of the classes instead of the number of errors. Not for a
        regression.
    prefilter : {"auto", "chi2", "ks"} or filter, optional
        Test the features one by one first: "auto" takes chi-squared for categorical and
        Kolmogorov-Smirnov for other features; for a regression it tests the correlation, and
        "chi2" and "ks" are refused. Those that fail rank last, by p-value.
    prefilter_level : float, default=0.05
        Largest p-value that passes.
    tune : bool or dict, optional
        Choose ``C`` and the kernel's parameters with all features by 10-fold cross-validation
        before the elimination: True for the grids of the paper, or lists of candidates by name.
        Of equal candidates the one named first is taken.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One versus one or one versus rest; errors are those of the common answer.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``C`` by class.
    tol : float, default=1e-3
        Largest violation of the KKT conditions accepted.
    feature_groups : list of lists or dict of lists, optional
        Features that leave together, by position or name.
    fixed_features : list, optional
        Features that never leave.
    categorical_features : list or mask, optional
        Features whose values are categories; used by ``prefilter`` alone.
    n_jobs : int, optional
        Splits of a step (with ``estimator``: fits) that run at the same time, in threads.
    random_state : int, RandomState or None, default=None
        Determines the splits and the choice among equals. The answer for a seed does not depend
        on ``n_jobs`` nor on interruptions.
    checkpoint : path, optional
        File to write the state to now and then.
    resume : bool, default=False
        Go on from ``checkpoint`` if it exists.
    verbose : bool or int, default=0
        Show progress when it takes longer than two seconds.

    Attributes
    ----------
    support_, ranking_, order_, selection_
        See :class:`tamiz.base.Selector`. Each step of ``selection_.path`` has the hold-out
        error with the features then in play as ``value``; its ``details`` hold the error before
        the step (``error``) and without each feature (``without``, in the order of ``features``).
    errors_ : array
        Hold-out error (regression: mean loss), a mean over the splits of the step, along the
        elimination.
    sizes_ : array
        Number of features that each entry of ``errors_`` belongs to.
    estimator_ : SVC, SVR or a copy of ``estimator``
        The machine fitted to all samples with the selected features.
    classes_ : array
        Class labels; not for a regression.
    task_ : {"classification", "regression"}
        What ``y`` was taken for.
    C_, kernel_ : float, Kernel
        What the machines were trained with, after tuning.
    tuning_ : list of dict
        Cross-validated error of every candidate; with ``tune`` only.
    pvalues_ : array of shape (n_features,)
        With ``prefilter`` only.
    status_ : {"converged", "interrupted"}
        Whether the elimination came to its end. Ctrl-C keeps what was reached, also while
        ``tune`` is at work: the best candidate so far is used, and no feature has left.

    Notes
    -----
    The kernel values of all pairs of samples are held in up to three matrices of 8 n**2 bytes;
    a warning comes first when one takes more than 2,000 MB. There is no ``sample_weight``: with
    random splits a sample of weight two cannot be the same as that sample twice.

    See Also
    --------
    tamiz.embedded.SVMRFE : Removes the feature that changes the margin least.
    tamiz.svm.SVC, tamiz.svm.SVR : The machines.

    References
    ----------
    .. [1] S. Maldonado, R. Weber (2009). A wrapper method for feature selection using support
           vector machines. Information Sciences 179.

    Examples
    --------
    Two features that tell the class only together, among eighteen of noise:

    >>> import numpy as np
    >>> from tamiz import HoldOutSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 20))
    >>> y = (X[:, 3] > 0) ^ (X[:, 8] > 0)
    >>> selector = HoldOutSVM(2, C=10.0, splits_per_step=3, random_state=0).fit(X, y)
    >>> sorted(selector.order_[:2].tolist())
    [3, 8]
    >>> selector.transform(X).shape
    (300, 2)

    The product of the same two features as a numeric target:

    >>> selector = HoldOutSVM(2, task="regression", C=10.0, random_state=0)
    >>> sorted(selector.fit(X, X[:, 3] * X[:, 8]).order_[:2].tolist())
    [3, 8]
    """

    divides_samples = True

    _parameter_constraints: dict[str, list[Any]] = {
        "n_features_to_select": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0.0, 1.0, closed="right"),
            None,
        ],
        **TASK_CONSTRAINTS,
        "loss": [StrOptions({"absolute", "squared", "epsilon_insensitive"})],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "kernel": [StrOptions(set(KERNEL_NAMES)), Kernel, callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "estimator": [HasMethods(["fit", "predict"]), None],
        "validation_size": [Interval(Real, 0.0, 1.0, closed="neither")],
        "gap": [Interval(Integral, 0, None, closed="left")],
        "ties": [StrOptions({"random", "all"})],
        "stop": [StrOptions({"worse", "not_better"})],
        "splits_per_step": [Interval(Integral, 1, None, closed="left")],
        "costs": ["array-like", dict, None],
        "balanced": ["boolean"],
        "prefilter": [StrOptions({"auto", "chi2", "ks"}), HasMethods(["fit"]), None],
        "prefilter_level": [Interval(Real, 0.0, 1.0, closed="right")],
        "tune": ["boolean", dict, None],
        "multiclass": [StrOptions({"ovo", "ovr"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "feature_groups": ["array-like", list, tuple, None],
        "fixed_features": ["array-like", None],
        "categorical_features": ["array-like", None],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "checkpoint": [str, HasMethods(["__fspath__"]), None],
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
        loss: str = "absolute",
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        estimator: Any = None,
        validation_size: float = 0.3,
        gap: int = 0,
        ties: str = "random",
        stop: str = "worse",
        splits_per_step: int = 1,
        costs: Any = None,
        balanced: bool = False,
        prefilter: Any = None,
        prefilter_level: float = 0.05,
        tune: Any = None,
        multiclass: str = "ovo",
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-3,
        feature_groups: Any = None,
        fixed_features: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        checkpoint: Any = None,
        resume: bool = False,
        verbose: bool | int = 0,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.C = C
        self.epsilon, self.scale_target, self.loss = epsilon, scale_target, loss
        self.kernel = kernel
        self.gamma, self.degree, self.coef0 = gamma, degree, coef0
        self.estimator = estimator
        self.validation_size, self.gap = validation_size, gap
        self.ties = ties
        self.stop = stop
        self.splits_per_step = splits_per_step
        self.costs = costs
        self.balanced = balanced
        self.prefilter, self.prefilter_level = prefilter, prefilter_level
        self.tune = tune
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.tol = tol
        self.feature_groups, self.fixed_features = feature_groups, fixed_features
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.checkpoint, self.resume = checkpoint, resume
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, *, groups: Any = None, times: Any = None, **metadata: Any
    ) -> HoldOutSVM:
        """Eliminate features, and fit a machine to those selected.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels, at least two samples of each, or numbers.
        groups : array-like of shape (n_samples,), optional
            Samples of one group, such as those of a patient, are held out together, and are in one
            fold of ``tune``.
        times : array-like of shape (n_samples,), optional
            Numbers or dates, in place of ``groups``. Each split is made at a random moment: what
            comes before it is trained with, and the block that follows, of about
            ``validation_size`` of the samples, is held out. The folds of ``tune`` are those of
            :class:`tamiz.search.TimeFolds`.
        **metadata : dict
            What ``estimator`` asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self : HoldOutSVM
        """
        refuse_unknown("fit", metadata)
        given = {"groups": groups, **metadata}
        refuse_unrequested(self, **given)
        with unchanged_on_error(self):
            self._fit(X, y, times, given)
            del self._routes
        return self

    def get_metadata_routing(self) -> Any:
        """Who gets what is passed to ``fit``: the estimator, if one judges.

        Returns
        -------
        routing : MetadataRouter
        """
        return router_of(self, estimator=(self.estimator, "fit"))

    def _machine_to_be(self) -> Any:
        return super()._machine_to_be() if self.estimator is None else self.estimator

    def _fit(self, X: Any, y: Any, times: Any, given: dict[str, Any]) -> None:
        """The stages in their order, as the head of this file lists them."""
        watch = Stopwatch()
        self._validate_params()
        refuse_no_jobs(self.n_jobs)
        X = check_X(self, X, reset=True)
        structure = self._structure(given["groups"], times, len(X))
        self._routes = None if self.estimator is None else routes_of(self, len(X), given)
        numeric = self._settle_task(y)
        if numeric:
            values = check_regression_target(y, X.shape[0])
            values = values - far_level(values)  # the intercept's, and the digits are kept
        else:
            labels = check_classes(y, X.shape[0], quantity=INSTEAD)
        grid = self._check_judge(X)
        number_to_select(self.n_features_to_select, X.shape[1], X.shape[1])  # refused early
        names = getattr(self, "feature_names_in_", None)
        units = check_units(self.feature_groups, self.fixed_features, X.shape[1], names)
        target: HeldOutTarget
        if numeric:
            self._refuse_for_numbers()
            unit = self._unit(values)
            tube = unit * float(self.epsilon), unit
            target = HeldOutNumbers(values, self.validation_size, *tube, self.loss, self.tol)
        else:
            errors = self.costs, self.balanced, self.class_weight, self.multiclass, self.tol
            target = HeldOutClasses(labels, self.validation_size, *errors)
            self.classes_ = labels.classes
        target.structure = structure
        splits = target.splits(None if numeric else labels.classes.tolist())
        beside = structure.arrays()
        beside += [] if self._routes is None else self._routes.arrays()
        saved = open_checkpoint(self, X, target.values, *beside)
        _warn_of_constants(X)
        state = HoldOutState.begin(saved, self.random_state)
        record = state.record
        screened = self._screen(X, target.values, units)
        Xk = np.ascontiguousarray(X[:, screened.kept])
        with Progress("HoldOutSVM", self.verbose) as progress, ExitStack() as stack:
            chosen = self._choose_machine(Xk, target, screened.kept, grid, state, progress)
            make = self._judge(Xk, target, screened.units)
            judge = make()
            plan = HoldOutPlan(
                target.by_class,
                target.held_out,
                target.costs,
                int(self.splits_per_step),
                self.ties == "all",
                self.stop == "worse",
                state.seed,
                target.unit,
                splits,
            )
            if chosen:
                run = self._runner(stack, make)
                eliminate(judge, screened.units, plan, record, run, progress, state.save)
            state.save(now=True)
        self.status_ = "converged" if record.complete else "interrupted"
        self._conclude(X, y, screened, record, target, judge, watch)

    # ------------------------------------------------------------------ before the elimination

    def _structure(self, groups: Any, times: Any, n_samples: int) -> Structure:
        """The groups or the times of the samples, as numbers."""
        moments = moments_of(groups, times, n_samples)
        if self.gap and moments is None:
            raise ValueError(
                f"gap={self.gap} needs times=: it is the number of different times before a "
                "validation part that are not trained with. Pass times to fit, or leave gap= out."
            )
        codes = None if groups is None else group_codes(groups, n_samples)
        return Structure(codes, moments, int(self.gap))

    def _check_judge(self, X: np.ndarray) -> CandidateGrid | None:
        """The candidates to choose from, if any."""
        if self.estimator is not None:
            if self.task_ == "regression":
                if not is_regressor(self.estimator):
                    raise ValueError(
                        f"estimator={self.estimator!r} is not a regressor, and y is taken as "
                        "numbers; use a regressor, or task='classification'."
                    )
            elif not is_classifier(self.estimator):
                raise ValueError(
                    f"estimator={self.estimator!r} is not a classifier; HoldOutSVM counts errors "
                    "of classification unless task='regression'."
                )
            for name, given in (("tune", wanted(self.tune)), ("class_weight", self.class_weight)):
                if given:
                    raise ValueError(
                        f"{name} is for the support vector machine, but estimator= names another "
                        "judge; leave one of them out (the judge has parameters of its own)."
                    )
            return None
        check_squares(X)
        if isinstance(self.gamma, Real):
            check_penalties(self.gamma, "gamma")
        warn_if_unscaled(self, X)
        kernel = self.kernel
        if kernel.precomputed if isinstance(kernel, Kernel) else kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' knows no features, so that none can be eliminated; use a "
                "kernel of the samples, such as 'rbf'."
            )
        megabytes = 8e-6 * len(X) ** 2
        if megabytes > LARGE_MB:
            warnings.warn(
                f"HoldOutSVM: X has {len(X)} samples, and every matrix of kernel values between "
                f"them takes {megabytes:.0f} MB; up to three are held at once. Take a random part "
                "of the samples if memory is short.",
                UserWarning,
                stacklevel=depth_of_caller(),
            )
        return check_grid(self.tune, self.kernel) if wanted(self.tune) else None

    def _refuse_for_numbers(self) -> None:
        """What is for classes alone."""
        given = {
            "costs": self.costs is not None,
            "balanced": bool(self.balanced),
            "class_weight": self.class_weight is not None,
            "prefilter": isinstance(self.prefilter, str) and self.prefilter != "auto",
        }
        for name in (name for name, wrong in given.items() if wrong):
            instead = "'auto' or a filter with p-values" if name == "prefilter" else "the default"
            raise ValueError(
                f"{name}={getattr(self, name)!r} is for classes, and y is taken as numbers; use "
                f"{instead}, or task='classification'."
            )

    def _screen(self, X: np.ndarray, values: np.ndarray, units: Units) -> Screened:
        """Test the features one by one, if that is asked for."""
        self.__dict__.pop("pvalues_", None)
        categorical = np.zeros(X.shape[1], dtype=bool)
        if self.categorical_features is not None:
            columns = check_features(
                self.categorical_features,
                "categorical_features",
                X.shape[1],
                getattr(self, "feature_names_in_", None),
            )
            categorical[columns] = True
        if self.prefilter is None:
            return Screened(np.arange(X.shape[1]), units, [])
        numeric = self.task_ == "regression"
        self.pvalues_ = prefilter_pvalues(self.prefilter, X, values, categorical, numeric)
        values = unit_pvalues(self.pvalues_, units)
        passed = values <= self.prefilter_level
        by_value = np.argsort(values, kind="stable")
        if not passed.any() and not len(units.fixed):
            warnings.warn(
                f"HoldOutSVM: no feature has a p-value of {self.prefilter_level:g} or less; the "
                "one with the least is kept. Raise prefilter_level, or leave prefilter out.",
                UserWarning,
                stacklevel=depth_of_caller(),
            )
            passed[by_value[0]] = True
        inside = [units.members[k] for k in np.flatnonzero(passed)]
        kept = np.sort(np.concatenate([units.fixed, *inside]).astype(np.intp))
        members = [np.searchsorted(kept, features) for features in inside]
        local = Units(members, np.searchsorted(kept, units.fixed), len(kept))
        failed = [units.members[k] for k in by_value if not passed[k]]
        return Screened(kept, local, failed)

    def _choose_machine(
        self,
        X: np.ndarray,
        target: HeldOutTarget,
        kept: np.ndarray,
        grid: CandidateGrid | None,
        state: HoldOutState,
        progress: Progress,
    ) -> bool:
        """Set ``C_`` and ``kernel_``; false if Ctrl-C cut the choice short."""
        for name in ("C_", "kernel_", "tuning_"):
            self.__dict__.pop(name, None)
        if self.estimator is not None:
            return True
        kernel = self.kernel
        if not isinstance(kernel, str):
            kernel = as_kernel(kernel).restrict(kept, self.n_features_in_)
        names = ("C", "gamma", "degree", "coef0")
        params: dict[str, Any] = {name: getattr(self, name) for name in names}
        complete = True
        if grid is not None:
            known = json.loads(state.tuned)
            fixed = {**params, "kernel": kernel}
            choice = target.choice(X, grid, fixed, state.seed % 2**32, known)
            self.tuning_ = choice.table

            def keep() -> None:
                state.tuned = json.dumps(choice.table)
                state.save()

            complete = choice.run(progress, keep)
            params |= best(self.tuning_)
        self.C_ = float(params["C"])
        self.kernel_ = resolved(kernel, params, X)
        return complete

    def _judge(
        self, X: np.ndarray, target: HeldOutTarget, units: Units
    ) -> Callable[[], KernelJudge | RefitJudge]:
        """What makes the judge: here, and on every worker of a cluster."""
        if self.estimator is not None:
            return target.refit_judge(X, units, self.estimator, self._routes)
        centre = far_point(X) if self.kernel_.is_linear else None
        X = X if centre is None else X - centre
        return target.judge(X, units, self.kernel_, self.C_)

    def _runner(self, stack: ExitStack, make: Callable[[], Any]) -> Run:
        runner = find_runner(self.n_jobs)
        if runner.remote:
            return FarRun(runner, make)
        if runner.serial:
            return lambda function, jobs: [function(*job) for job in jobs]
        parallel = stack.enter_context(Parallel(n_jobs=self.n_jobs, prefer="threads"))
        return lambda function, jobs: (
            parallel(delayed(Configured(function))(*job) for job in jobs)
            if len(jobs) > 1
            else [function(*job) for job in jobs]
        )

    # ------------------------------------------------------------------ after the elimination

    def _conclude(
        self,
        X: np.ndarray,
        y: Any,
        screened: Screened,
        record: HoldOutRecord,
        target: HeldOutTarget,
        judge: KernelJudge | RefitJudge,
        watch: Stopwatch,
    ) -> None:
        kept, units, failed = screened
        order = [kept[units.members[k]] for k in unit_order(record, len(units.members))] + failed
        fixed = kept[units.fixed]
        path = path_of(record, units, kept)
        at_stop = len(fixed) + sum(
            len(units.members[k]) for k in kept_at_stop(record, len(units.members))
        )
        known = [step for step in path if step.value is not None]
        self.errors_ = np.array([step.value for step in known])
        self.sizes_ = np.array([step.n_features for step in known], dtype=np.intp)
        self._finish(
            order=np.concatenate([fixed, *order]),
            n_selected=self._n_selected(at_stop, len(fixed), order),
            path=path,
            seconds=watch.seconds,
            notes={
                "status": self.status_,
                "n_at_stop": at_stop,
                "stopped_by_rule": record.stopped is not None,
                "n_validation": int(target.held_out.sum()),
                "n_prefiltered": sum(len(features) for features in failed),
                "n_fits": judge.n_fits,
            },
        )
        self._warn_after_fit(judge)
        selected = np.flatnonzero(self.support_)
        if self.estimator is None:
            kernel = self.kernel_.restrict(np.flatnonzero(self.support_[kept]), len(kept))
            own: dict[str, Any] = {"C": self.C_, "kernel": kernel}
            if isinstance(target, HeldOutNumbers):
                own |= {"C": target.factor * self.C_, "epsilon": target.epsilon}
            self._fit_last_machine(X[:, selected], y, **own)
        else:
            with inner_fit():
                asked = {} if self._routes is None else self._routes.part("estimator")
                self.estimator_ = clone(self.estimator).fit(X[:, selected], y, **asked)
        self.selection_.seconds = watch.seconds

    def _n_selected(self, at_stop: int, n_fixed: int, order: list[np.ndarray]) -> int:
        number = number_to_select(
            self.n_features_to_select, n_fixed + sum(map(len, order)), at_stop
        )
        ends = n_fixed + np.cumsum([0, *(len(features) for features in order)])
        first = 0 if n_fixed else 1
        return int(max(ends[first], ends[ends <= number].max(initial=0)))

    def _warn_after_fit(self, judge: KernelJudge | RefitJudge) -> None:
        """Say what a user should know; the warnings point at the line that calls ``fit``."""
        if self.status_ == "interrupted":
            text = "the features not yet removed are ranked by the errors of the last step."
            if len(self.selection_.path) == 1:
                text = "no feature was removed yet, so that all are kept in no particular order."
                if wanted(self.tune):
                    text += f" {len(self.tuning_)} candidates of tune were tried."
            text = f"HoldOutSVM: interrupted; {text}"
            warnings.warn(text, ConvergenceWarning, stacklevel=depth_of_caller())
        if judge.n_early:
            text = (
                f"HoldOutSVM: {judge.n_early} of {judge.n_fits} machines stopped before the "
                "tolerance was reached; scale the features (sklearn.preprocessing.StandardScaler), "
                "or lower C."
            )
            warnings.warn(text, ConvergenceWarning, stacklevel=depth_of_caller())


def _warn_of_constants(X: np.ndarray) -> None:
    if not np.ptp(X, axis=0).any():
        warnings.warn(
            "HoldOutSVM: every feature of X is constant, so that nothing can be learned; the "
            "ranking is a matter of chance.",
            UserWarning,
            stacklevel=depth_of_caller(),
        )
