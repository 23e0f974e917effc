"""Honest comparison of selectors: nested, repeated, stratified cross-validation."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from tamiz.base import Stopwatch
from tamiz.evaluation.comparison.arguments import (
    limited,
    read_data,
    read_judges,
    read_selectors,
    read_tune,
    tuned,
)
from tamiz.evaluation.comparison.result import Comparison
from tamiz.evaluation.comparison.run import Runner, collect
from tamiz.evaluation.comparison.setting import (
    Limits,
    Setting,
    StopSign,
    numbers_of_features,
    plan_parts,
    sizes_among,
)
from tamiz.evaluation.judges import ErrorMetric
from tamiz.routing import routes_of_function
from tamiz.runtime.checkpoint import Journal, digest, identity
from tamiz.runtime.progress import Progress
from tamiz.search.splits import dividing
from tamiz.validation import (
    check_level,
    check_resume,
    checked,
    integer_from,
    named_values,
    number_of_jobs,
    one_metric,
    one_of,
    only_one,
    switch_or_integer,
    time_limit,
)

#: What ``scale`` and ``scoring`` may be.
scaling = one_of("standard", "auto", "minmax", None)
scored = one_metric("a comparison has one metric, by name or as a scorer")


@checked(
    n_jobs=number_of_jobs,
    sizes=numbers_of_features,
    cv=dividing,
    repeats=integer_from(1),
    scoring=scored,
    tune=tuned,
    limits=limited,
    confidence=check_level,
    scale=scaling,
    rule=one_of("best", "1se"),
    prefer=one_of("threads", "processes", None),
    task=one_of("auto", "classification", "regression"),
    nested=switch_or_integer(2),
    error_score=one_of(np.nan, "raise", "nan"),
    time_budget=time_limit,
)
def compare(
    X: Any,
    y: Any,
    selectors: Any = None,
    judges: Any = None,
    *,
    sizes: Sequence[int] | None = None,
    cv: Any = 10,
    repeats: int = 3,
    scoring: Any = None,
    scale: str | None = "standard",
    tune: Any = None,
    nested: bool | int = True,
    rule: str = "best",
    apparent: bool = True,
    baselines: Sequence[str] = ("random", "all"),
    task: str = "auto",
    groups: Any = None,
    sample_weight: Any = None,
    params: Mapping[str, Any] | None = None,
    class_weight: Any = None,
    feature_groups: Any = None,
    adjust: Any = None,
    limits: Any = None,
    confidence: float = 0.95,
    error_score: Any = np.nan,
    n_jobs: int | None = None,
    prefer: str | None = None,
    random_state: Any = None,
    time_budget: float | None = None,
    checkpoint: Any = None,
    resume: bool = False,
    verbose: bool | int = 0,
) -> Comparison:
    """Compare selectors by the error of a judge on samples that neither of them has seen.

    In every split of a repeated cross-validation, missing values are filled, features are scaled
    and ranked, parameters are tuned and the number of features is chosen in the training part
    alone. Beside the honest error stands the *apparent* one, for which the features were ranked on
    all data before the cross-validation; their difference is the *selection bias*.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n_samples, n_features)
        Numbers. Missing values are filled with the median of the training part.
    y : array of shape (n_samples,)
        Classes, or numbers for a regression.
    selectors : dict, list, str or selector, optional
        Selectors by name, a list of selectors, or names such as "fisher", "mrmr", "rfe"
        (:data:`tamiz.evaluation.methods.METHODS` lists them). By default "fisher", "relieff",
        "mrmr", "qpfs", "rfe" and "ho-svm"; for a numeric target "pearson", "rrelieff", "cfs" and
        "qpfs". Selectors of scikit-learn work, and estimators with ``feature_importances_`` or
        ``coef_``.
    judges : dict, list, str or estimator, optional
        What is fitted to the selected features: names ("svc-linear", the default, "svc-rbf",
        "knn", "tree") or estimators.
    sizes : list of int, optional
        Numbers of features; 1, 2, 3, 5, 8, 12, 20, ... up to 200 by default.
    cv : int, splitter, "loo" or list of splits, default=10
        Number of folds, stratified for classes, or what makes the splits. Inner splits keep its
        structure: what follows the order of the samples (``TimeSeriesSplit``,
        :class:`tamiz.search.TimeFolds`, folds that are not shuffled) does so inside, too.
    repeats : int, default=3
        How often the folds are drawn anew.
    scoring : str or scorer, optional
        A metric of scikit-learn: accuracy by default, for numbers the root of the mean squared
        error. The error is 1 − score, or the loss itself.
    scale : {"standard", "auto", "minmax"} or None, default="standard"
        What is done to the features inside the training part, before selector and judge; "auto"
        also draws in heavy tails (:class:`AutoScaler`). Without it, judges by name that need it
        scale for themselves. Sparse matrices are not centred.
    tune : dict, True, "coarse" or "fine", optional
        Grid of parameters of the judge (or a grid for each judge, by its name), chosen for every
        size by cross-validation in the training part; True for usual grids, "coarse" and "fine"
        for those whose penalties and widths follow the number of features.
    nested : bool or int, default=True
        Choose the number of features by an inner cross-validation, selection included, with so
        many folds (True: 3). False chooses it by the other folds of the same repeat, which costs
        nothing and is a little less strict.
    rule : {"best", "1se"}, default="best"
        Size with the least error, or the smallest within one standard error of it.
    apparent : bool or "rank", default=True
        Work out the apparent error too; "rank" keeps the rankings on all data without judging
        them.
    baselines : list of str, default=("random", "all")
        Methods added for comparison: features in random order, and all features.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` holds. "auto": floats with a fractional part are numbers.
    groups : array of shape (n_samples,), optional
        Samples of one group, such as one patient, are never in both parts, at any level, if ``cv``
        is a number or a splitter that looks at groups. For :class:`tamiz.search.TimeFolds`, the
        times.
    sample_weight : array of shape (n_samples,), optional
        Positive weights for the judges that take them and for the error. Selectors do without,
        unless they ask for them (scikit-learn's metadata routing).
    params : dict, optional
        Other metadata, by name, for selectors, judges, a scorer and a splitter that are passed as
        objects and ask for them (scikit-learn's metadata routing).
    class_weight : dict or "balanced", optional
        Weights of the classes, for the judges that have this parameter.
    feature_groups : list of lists or dict, optional
        Columns that are one feature, such as the indicators of one category: they are selected
        together and count as one. A feature stands in a ranking where its first column stands.
    adjust : list of str or int, or array of shape (n_samples, n_covariates), optional
        Covariates such as age or batch: columns of ``X`` (which then are no features any more), or
        numbers beside it. In each training part features are regressed on them, and what is left
        is scaled, ranked and judged (:class:`CovariateAdjuster`).
    limits : dict, optional
        Most samples to use where all would take too long: ``{"judges": {"svc-rbf": 2000},
        "methods": {"relieff": 3000}, "inner": 1000}``. Drawn at random, the classes in
        proportion; ``inner`` is for each part of an inner split.
    confidence : float, default=0.95
        Level of the intervals.
    error_score : nan or "raise", default=nan
        Whether a method or judge that fails in a split is left out there, with a warning, or ends
        the comparison.
    n_jobs : int or None, default=None
        Units (one method in one split) at a time. The answer for a seed does not depend on it.
    prefer : {"threads", "processes"}, optional
        What the workers are. By default threads if all selectors and judges are of this library,
        else processes, which share ``X`` through a mapped file.
    random_state : int, RandomState or None, default=None
        Seed of folds and of whatever is random in selectors and judges. ``seed`` of the result
        repeats the run.
    time_budget : float, optional
        Seconds after which no unit is begun; what is there is returned.
    checkpoint : str or path, optional
        A journal of finished units.
    resume : bool, default=False
        Go on from ``checkpoint``, if the file exists.
    verbose : bool or int, default=0
        Show progress over the whole plan, with the time left: 1 in a terminal, 2 elsewhere too.

    Returns
    -------
    comparison : Comparison
        Print it for a table; ``plot()``, ``to_frame()``, ``summary()``, ``stability()``,
        ``significance()`` for more. Ctrl-C returns what was reached, with ``status``
        "interrupted".

    See Also
    --------
    learning_curve_by_features : One selector.
    tamiz.evaluation.stability : How much selections agree.
    tamiz.evaluation.significance : Whether methods differ beyond chance.

    Notes
    -----
    The least error of a curve is no honest error: the size was chosen by looking at it. The table
    therefore gives the error at sizes that were chosen without the test part of each split.

    References
    ----------
    .. [1] C. Ambroise, G. J. McLachlan (2002). Selection bias in gene extraction on the basis of
           microarray gene-expression data. PNAS 99.
    .. [2] S. Varma, R. Simon (2006). Bias in error estimation when using cross-validation for
           model selection. BMC Bioinformatics 7.
    .. [3] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning
           52.

    Examples
    --------
    Labels that have nothing to do with the features:

    >>> import numpy as np
    >>> from tamiz import compare
    >>> X = np.random.default_rng(0).standard_normal((40, 300))
    >>> y = np.arange(40) % 2
    >>> found = compare(X, y, ["fisher"], sizes=[5, 20], cv=5, repeats=1, random_state=0)
    >>> line = found.estimate("fisher")
    >>> line.apparent < 0.25, line.low < 0.5 < line.high
    (True, True)
    """
    return run_comparison(**locals())[0]


def run_comparison(
    X: Any,
    y: Any,
    selectors: Any = None,
    judges: Any = None,
    **options: Any,
) -> tuple[Comparison, Setting]:
    """What :func:`compare` does, for callers that also need what its units shared.

    Parameters
    ----------
    X, y, selectors, judges, **options
        The arguments of :func:`compare`. ``stop``, a ``StopSign``, may be passed in place of
        ``time_budget``.

    Returns
    -------
    comparison : Comparison
        The result.
    setting : Setting
        The data as read, the splits, selectors and judges.
    """
    known = {
        name: value.default
        for name, value in signature(compare).parameters.items()
        if value.default is not value.empty
    }
    unknown = next((name for name in options if name not in known and name != "stop"), None)
    if unknown is not None:
        raise TypeError(f"compare() has no argument {unknown!r}.")
    given = {**known, "stop": None, "selectors": selectors, "judges": judges, **options}
    return _run(X, y, SimpleNamespace(**given))


@checked(selector=only_one("one selector or its name; compare() takes several"))
def learning_curve_by_features(
    X: Any,
    y: Any,
    selector: Any,
    judge: Any = None,
    *,
    sizes: Sequence[int] | None = None,
    **options: Any,
) -> Comparison:
    """Honest error of one selector by number of features.

    Parameters
    ----------
    X, y
        The data, as in :func:`compare`.
    selector : str or selector
        The method.
    judge : str or estimator, optional
        What is fitted to the selected features; a linear SVC behind a scaler by default.
    sizes : list of int, optional
        Numbers of features.
    **options
        Any other argument of :func:`compare`; there are no baselines unless they are named.

    Returns
    -------
    comparison : Comparison
        With one method and one judge; ``curve(method)`` has the numbers, ``plot()`` the picture.

    See Also
    --------
    compare : Several selectors and judges.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamiz.evaluation import learning_curve_by_features
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = learning_curve_by_features(X, y, "fisher", sizes=[1, 5, 30], cv=5, repeats=1,
    ...                                    nested=False, random_state=0)
    >>> error = found.curve("fisher").error
    >>> bool(error[2] < error[0])
    True
    """
    options.setdefault("baselines", ())
    return compare(X, y, selector, judge, sizes=sizes, **options)


def _run(X: Any, y: Any, given: Any) -> tuple[Comparison, Setting]:
    """Read the arguments, run the units, collect."""
    watch = Stopwatch()
    setting, names = _read(X, y, given)
    protocol = _protocol(setting, given)
    journal = None
    if given.checkpoint is not None:
        about = _identity(setting, protocol, given.random_state)
        facts = {"seed": setting.seed}
        journal = Journal(given.checkpoint, about, resume=given.resume, facts=facts)
        if journal.facts["seed"] != setting.seed:  # of the run that began it
            setting = _with_seed(setting, given, int(journal.facts["seed"]))
    try:
        units = len(setting.selectors) * (len(setting.parts) + bool(given.apparent))
        with Progress("compare", given.verbose, most=units) as progress:
            runner = Runner(
                setting,
                n_jobs=given.n_jobs,
                prefer=given.prefer,
                journal=journal,
                progress=progress,
            )
            runner.run(given.apparent)
    finally:
        if journal is not None:
            journal.close()
    return collect(runner, names, protocol, given.confidence, watch.seconds), setting


def _read(X: Any, y: Any, given: Any) -> tuple[Setting, list[str]]:
    """What all units share, from the arguments; and the names of the features."""
    check_resume(given.resume, given.checkpoint)
    data = read_data(
        X, y, given.task, given.groups, given.sample_weight, given.feature_groups, given.adjust
    )
    sizes = sizes_among(given.sizes, data.n_features)
    methods = read_selectors(given.selectors, given.baselines, data, int(sizes[-1]))
    judges = read_judges(given.judges, data.task, given.scale, given.class_weight)
    candidates = read_tune(given.tune, judges)
    inner, budget = 3 if given.nested is True else int(given.nested), given.time_budget
    tuning = any(len(options) > 1 for options in candidates.values())
    setting = Setting(
        X=data.X,
        y=data.y,
        task=data.task,
        parts=[],
        selectors=methods.selectors,
        own=methods.own,
        curve=methods.curve,
        judges=judges,
        candidates=candidates,
        sizes=sizes,
        metric=ErrorMetric(given.scoring, data.task),
        scale=given.scale,
        has_missing=data.has_missing,
        inner=inner or (3 if tuning else 0),
        nested=bool(inner),
        rule=given.rule,
        seed=0,
        raising=given.error_score == "raise",
        cv=given.cv,
        groups=data.groups,
        weight=data.weight,
        units=data.units,
        covariates=data.covariates,
        limits=Limits(**(given.limits or {})),
        stop=given.stop or StopSign(None if budget is None else time.monotonic() + budget),
        judge_whole=given.apparent != "rank",
    )
    setting = _routed(setting, given)
    seed = int(check_random_state(given.random_state).randint(2**31 - 1))
    return _with_seed(setting, given, seed), data.names


def _routed(setting: Setting, given: Any) -> Setting:
    """With what those ask for who can be asked: what was passed as an object, and not by name."""
    children: dict[str, tuple[Any, str]] = {"splitter": (given.cv, "split")}
    for kind, found in (("selector", setting.selectors), ("judge", setting.judges)):
        passed = getattr(given, f"{kind}s")
        listed = [] if passed is None else [one for _, one in named_values(f"{kind}s", passed)]
        for (name, estimator), one in zip(found.items(), listed, strict=False):
            if not isinstance(one, str):
                children[f"{kind} {name}"] = (estimator, "fit")
    if not isinstance(given.scoring, str | None):
        children["scorer"] = (setting.metric.scorer, "score")
    own = {"sample_weight": setting.weight, "groups": setting.groups}
    params = getattr(given, "params", None)
    routes = routes_of_function("compare", children, len(setting.y), params, **own)
    if routes is None:
        return setting
    return replace(setting, routes=routes, asked=frozenset(children))


def _with_seed(setting: Setting, given: Any, seed: int) -> Setting:
    """The same with the splits of a seed."""
    parts = plan_parts(
        given.cv,
        given.repeats,
        setting.X,
        setting.y,
        setting.task,
        seed,
        setting.groups,
        setting.routes,
    )
    return replace(setting, seed=seed, parts=parts)


def _protocol(setting: Setting, given: Any) -> dict[str, Any]:
    """What is done, in plain values."""
    return {
        "sizes": setting.sizes.tolist(),
        "cv": repr(given.cv),
        "repeats": given.repeats,
        "scoring": setting.metric.scoring,
        "scale": given.scale,
        "nested": setting.inner if setting.nested else 0,
        "rule": given.rule,
        "apparent": given.apparent if given.apparent == "rank" else bool(given.apparent),
        "task": setting.task,
        "limits": setting.limits._asdict(),
        "class_weight": given.class_weight,
    }


def _identity(setting: Setting, protocol: dict[str, Any], random_state: Any) -> dict[str, str]:
    """What must agree for a journal to be taken up."""
    about = {name: repr(value) for name, value in protocol.items() if name != "cv"}
    rows = [np.concatenate([part.train, [-1], part.test]) for part in setting.parts]
    if random_state is not None:  # else the splits follow from the seed that the journal holds
        about["splits"] = digest(np.concatenate(rows))
        about["random_state"] = str(setting.seed)
    about["n_splits"] = str(len(rows))
    for kind, estimators in (("selector", setting.selectors), ("judge", setting.judges)):
        about[f"{kind}s"] = ", ".join(estimators)
        for name, one in estimators.items():
            for key, value in identity(one).items():
                if key != "data":
                    about[f"{kind} {name}, {key}"] = value
    about["tune"] = repr(setting.candidates)
    routed = [] if setting.routes is None else setting.routes.arrays()
    beside = [setting.groups, setting.weight, setting.covariates, *routed]
    parts = [setting.X, setting.y, *beside, *(setting.units or ())]
    about["data"] = digest(*(part for part in parts if part is not None))
    return about
