"""Model selection: the error of every combination of parameters, and the best of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import check_random_state

from tamiz.base import Stopwatch
from tamiz.evaluation.tuning.card import CardFast
from tamiz.evaluation.tuning.cells import (
    Board,
    Plain,
    TuningMetric,
    make_metric,
    refuse_for_halving,
    run_cells,
    run_halving,
)
from tamiz.evaluation.tuning.fast import Fast
from tamiz.evaluation.tuning.grid import Grid, default_estimator, shown
from tamiz.evaluation.tuning.result import Cell, Tuning, choose_cell, find_edges
from tamiz.evaluation.tuning.strings import (
    TextFast,
    as_column,
    as_table,
    stands_alone,
    string_kernel,
)
from tamiz.gpu import Lane, lane_of
from tamiz.routing import Routes, routes_of_function
from tamiz.runtime.checkpoint import Journal
from tamiz.runtime.progress import Progress, interruption
from tamiz.runtime.threads import limit_threads, n_threads
from tamiz.runtime.workers import find_runner
from tamiz.search.base import seeded
from tamiz.search.judges import last_step
from tamiz.search.splits import Split, dividing, make_splits, splitting
from tamiz.svm.kernel_machine import KernelMachine
from tamiz.validation import (
    as_vector,
    check_classes,
    check_regression_target,
    check_resume,
    check_sample_weight,
    check_target,
    check_X,
    checked,
    depth_of_caller,
    fittable,
    guess_task,
    integer_from,
    number_of_jobs,
    one_metric,
    one_of,
    optional,
    parameter_grids,
    real_number,
    refuse_text_rows,
    refused,
    score_of_failures,
)

SEARCHES = ("grid", "random", "halving")
RULES = ("best", "1se")
_SCALERS = {"StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"}


@checked(
    estimator=optional(fittable),
    grid=parameter_grids,
    cv=dividing,
    scoring=one_metric("tune chooses by one. Pass that, and measure the others on best_estimator"),
    search=one_of(*SEARCHES),
    choose=one_of(*RULES),
    n_iter=integer_from(1),
    error_score=score_of_failures,
    memory_mb=real_number(least=0, finite=False, of="MiB"),
    n_jobs=number_of_jobs,
    gap=real_number(above=0.0),
)
def tune(
    X: Any,
    y: Any,
    estimator: Any = None,
    grid: Any = None,
    *,
    cv: Any = 10,
    scoring: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    params: Mapping[str, Any] | None = None,
    search: str = "grid",
    n_iter: int = 30,
    choose: str = "best",
    refit: bool = True,
    error_score: float | str = np.nan,
    fast: bool = True,
    memory_mb: float = 2000.0,
    device: str | None = None,
    gap: float = 1e-3,
    n_jobs: int | None = None,
    checkpoint: Any = None,
    resume: bool = False,
    random_state: Any = 0,
    verbose: bool | int = 0,
) -> Tuning:
    """Choose parameters by cross-validation over a grid.

    For ``SVC`` and ``SVR`` of this package, alone or behind a scaler, kernel matrices are shared
    between cells and splits, and every machine is warm-started from a neighbouring cell; any other
    estimator or pipeline of scikit-learn is fitted cell by cell. The errors are the same either
    way, up to samples that lie within the tolerance of a boundary. With a string kernel, one matrix
    over all samples is computed for each setting of the kernel, and shared by all splits and cells,
    for any machine that takes strings.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Samples; strings, in a list, an array, a Series or one column, for machines with a string
        kernel such as :class:`~tamiz.kernels.GapWeighted`.
    y : array-like of shape (n_samples,)
        Class labels, or numbers for a regression.
    estimator : estimator, optional
        What is tuned. By default an ``SVC`` behind a ``StandardScaler`` (an ``SVR`` if ``y`` holds
        numbers with fractions; a ``MaxAbsScaler`` for sparse tables).
    grid : dict or list of dict, optional
        Candidates by parameter name; several dicts for several kernels. Parameters of the last step
        of a pipeline need no prefix; those of a kernel object have the prefix ``kernel__``. By
        default C = 0.1, 1, ..., 1000, and gamma over four decades around
        ``1 / (n_features * variance)``. With ``search="random"`` a candidate list may be a
        distribution of SciPy.
    cv : int, "loo", splitter or iterable, default=10
        Number of (stratified) folds, leave-one-out, a splitter such as
        :class:`tamiz.search.HoldOut`, or a list of splits.
    scoring : str or callable, optional
        A metric of scikit-learn; by default the estimator's own (accuracy, or R²). What is reported
        is an error: ``1 - score`` where the best score is one, else minus the score.
    sample_weight : array-like of shape (n_samples,), optional
        Weights, for fitting and for the metric.
    groups : array-like of shape (n_samples,), optional
        For splitters that keep groups of samples together.
    params : dict, optional
        Other metadata, by name, for the estimator, the metric or the splitter, if they ask for them
        (scikit-learn's metadata routing).
    search : {"grid", "random", "halving"}, default="grid"
        Every cell; ``n_iter`` cells drawn at random; or scikit-learn's successive halving, which
        tries all cells on few samples and keeps the better third, again and again.
    n_iter : int, default=30
        Cells of a random search.
    choose : {"best", "1se"}, default="best"
        The cell with least error (of equal ones the simplest), or the simplest cell within one
        standard error of it: smaller C, gamma, degree and length.
    refit : bool, default=True
        Fit the chosen machine to all samples.
    error_score : float or "raise", default=nan
        Score of a cell whose estimator fails: NaN leaves it out of the choice, with a warning.
    fast : bool, default=True
        Share kernel matrices between cells and splits where that is possible.
    memory_mb : float, default=2000
        Limit on the memory for shared matrices, in MiB. They need about 40 bytes for each pair
        of samples; beyond the limit, cells are fitted one by one.
    device : {"cpu", "cuda", "auto"}, optional
        With "cuda", or "auto" where there is a card: all C and all splits of a kernel are solved at
        once on an NVIDIA card, in float64, where their matrices fit (40 bytes for each pair of
        samples); other cells of machines with a parameter ``device`` one by one on the card. By
        default what the machine says itself.
    gap : float, default=1e-3
        With a card, the largest relative duality gap of a machine. The gaps are in the cells.
    n_jobs : int, optional
        Workers: threads for machines of this package, processes for others. The answer does not
        depend on it. A card has one.
    checkpoint : path, optional
        A file to which scores are written as they are computed.
    resume : bool, default=False
        Continue from the scores in ``checkpoint``.
    random_state : int, RandomState or None, default=0
        Seed of the random search, and of splitters and estimators without one of their own.
    verbose : bool or int, default=0
        Show progress when it takes longer than two seconds.

    Returns
    -------
    tuning : Tuning
        The chosen parameters, their error, the fitted estimator, and every cell; ``plot()`` draws
        the map of errors. After Ctrl-C it holds what was complete, with ``interrupted`` set;
        a search by halving keeps nothing.

    See Also
    --------
    sklearn.model_selection.GridSearchCV : The same as an estimator.

    References
    ----------
    .. [1] C.-W. Hsu, C.-C. Chang, C.-J. Lin (2003). A practical guide to support vector
           classification.
    .. [2] L. Breiman, J. Friedman, R. Olshen, C. Stone (1984). Classification and regression
           trees; the rule of one standard error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz import tune
    >>> X, y = load_iris(return_X_y=True)
    >>> tuning = tune(X, y, grid={"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}, cv=5)
    >>> tuning.best_params
    {'C': 1.0, 'gamma': 0.1}
    >>> round(tuning.best_error, 4)
    0.0267

    Strings, compared by the subsequences that they share:

    >>> from tamiz import SVC
    >>> from tamiz.kernels import GapWeighted
    >>> texts = ["a free prize", "see you soon", "prizes for free", "soon, you see"] * 3
    >>> grid = {"kernel__length": [2, 3], "C": [1.0, 10.0]}
    >>> tune(texts, [1, 0, 1, 0] * 3, SVC(kernel=GapWeighted()), grid, cv=3).best_params
    {'C': 1.0, 'kernel__length': 2}
    """
    watch = Stopwatch()
    check_resume(resume, checkpoint)
    kernel = string_kernel(estimator, grid)
    texts = kernel is not None and stands_alone(estimator)
    if kernel is not None and texts:
        X = as_table(X, kernel)
    n = _length(X)
    weight = None if sample_weight is None else check_sample_weight(sample_weight, n)
    target, estimator, classifier = _target_and_estimator(X, y, estimator, weight)
    table, numbers = (X, None) if texts else _tables(X, estimator, kernel)
    seed = int(check_random_state(random_state).randint(2**31))
    estimator, lane = _placed(seeded(clone(estimator), seed), device, kernel is not None)
    n_jobs = n_jobs if lane is None else None  # there is one card
    metric = make_metric(estimator, scoring)
    cells = Grid(estimator, grid, table, n_iter if search == "random" else None, seed)
    cells.check_values(estimator)
    given = {"sample_weight": weight, "groups": groups}
    routes = _routes(estimator, metric, cv, n, params, given)
    splits = _splits(cv, table, target, classifier, seed, splitting(cv, groups, routes))
    strict = error_score == "raise"
    plain = Plain(estimator, table, target, weight, splits, metric, strict, routes)
    if search == "halving":
        refuse_for_halving(checkpoint=checkpoint, sample_weight=weight, params=params)
        found, interrupted = run_halving(plain, cells, seed, n_jobs, verbose), False
        notes: dict[str, Any] = {"search": search, "fast_cells": 0}
    else:
        runner = find_runner(n_jobs)
        # shared matrices stay in this process, even if other fits are sent to a cluster
        workers = n_threads() if runner.remote else runner.n_workers
        quick: Fast | None = None
        if fast and texts:
            quick = TextFast(plain, cells.full, memory_mb, workers, verbose)
        elif fast and lane is not None:
            quick = CardFast(lane, plain, numbers, cells.full, gap)
        elif fast:
            quick = Fast(plain, numbers, cells.full, memory_mb, workers)
        journal = None
        if checkpoint is not None:
            journal = Journal(checkpoint, plain.identity(cells.full, scoring), resume=resume)
        board = _filled(cells, plain, quick, journal, n_jobs, verbose)
        found, interrupted = _cells(board, metric, error_score), board.interrupted
        served = 0 if quick is None else len(quick.served)
        notes = {"search": search, "fast_cells": served}
        notes |= {} if lane is None else {"device": lane.card}
        _warn_of_failures(board, found)
    wanted = _Wanted(choose, refit, n_jobs, verbose)
    return _conclude(found, plain, cells, wanted, interrupted, notes, watch)


def _placed(estimator: Any, device: str | None, texts: bool) -> tuple[Any, Lane | None]:
    """The estimator, its machine on the card unless it says itself where it is to be; the card."""
    machine = last_step(estimator)
    own = machine.get_params(deep=False) if hasattr(machine, "get_params") else {}
    if device is None and isinstance(machine, KernelMachine):
        device = machine.device
    lane = lane_of(device)
    if lane is None:
        return estimator, None
    reason = ""
    if texts:
        reason = "is not for strings, whose kernels are computed on the CPU; leave it out."
    elif "device" not in own:
        reason = (
            f"is for machines with that parameter, and {type(machine).__name__} has none; leave it "
            "out, or give it to the steps that have it."
        )
    elif own.get("solver") in ("smo", "chunking"):
        reason = f"and solver={own['solver']!r} exclude each other: that solver works on the CPU."
    if reason:
        if device == "auto":
            return estimator, None
        raise refused("device", device, reason)
    if own["device"] is None:
        machine.set_params(device=device)
    return estimator, lane


def _routes(
    estimator: Any, metric: TuningMetric, cv: Any, n: int, params: Any, given: dict[str, Any]
) -> Routes | None:
    """Who gets what of the metadata, where they are asked."""
    children = {
        "estimator": (estimator, "fit"),
        "scorer": (metric.scorer, "score"),
        "splitter": (cv, "split"),
    }
    return routes_of_function("tune", children, n, params, **given)


def _filled(
    cells: Grid,
    plain: Plain,
    quick: Fast | None,
    journal: Journal | None,
    n_jobs: int | None,
    verbose: bool | int,
) -> Board:
    """The scores of all cells on all splits, or of those that Ctrl-C left."""
    n_splits = len(plain.splits)
    try:
        with Progress("tuning", verbose, most=len(cells.cells) * n_splits) as progress:
            board = Board(cells.cells, n_splits, journal, progress)
            run_cells(board, plain, cells.full, quick, n_jobs)
    finally:
        if journal is not None:
            journal.close()
    return board


class _Wanted(NamedTuple):
    """How to choose from the errors, and what to do then."""

    choose: str
    refit: bool
    n_jobs: int | None
    verbose: bool | int


def _conclude(
    found: list[Cell],
    plain: Plain,
    cells: Grid,
    wanted: _Wanted,
    interrupted: bool,
    notes: dict[str, Any],
    watch: Stopwatch,
) -> Tuning:
    """Choose, refit, and check whether the grid was wide enough."""
    if all(np.isnan(cell.error) for cell in found):
        if interrupted:
            raise interruption("tune was interrupted before any cell was complete.")
        first = next((cell for cell in found if cell.failure), None)
        why = "" if first is None else f" The cell {shown(first.params)} failed: {first.failure}"
        raise ValueError(f"All {len(found)} cells of the grid failed.{why}")
    chosen = choose_cell(found, wanted.choose)
    edges = find_edges(found, choose_cell(found, "best")) if notes["search"] == "grid" else []
    machine = None
    if wanted.refit and not interrupted:
        names = {cells.names.get(k, k): v for k, v in found[chosen].params.items()}
        try:
            with limit_threads(wanted.n_jobs):
                machine = plain.refit(names, wanted.verbose)
        except KeyboardInterrupt:
            interrupted = True  # the errors are all there
    tuning = Tuning(
        cells=found,
        metric=plain.metric.name,
        best_index=chosen,
        choose=wanted.choose,
        best_estimator=machine,
        names=list(cells.names),
        n_splits=len(plain.splits),
        seconds=watch.seconds,
        interrupted=interrupted,
        edges=edges,
        notes=notes,
    )
    if edges and not interrupted:
        warnings.warn(" ".join(edges), UserWarning, stacklevel=depth_of_caller())
    return tuning


def _cells(board: Board, metric: Any, error_score: float | str) -> list[Cell]:
    scores = board.scores.copy()
    if not isinstance(error_score, str) and not np.isnan(error_score):
        scores[board.done & np.isnan(scores)] = float(error_score)
    errors = metric.error(scores)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a cell without any measured time
        seconds = np.nanmean(board.seconds, axis=1)
    return [
        Cell(
            params,
            errors[k],
            float(seconds[k]),
            next(iter(board.failures.get(k, ())), None),
            gaps=None if np.isnan(board.gaps[k]).all() else board.gaps[k].copy(),
        )
        for k, params in enumerate(board.cells)
    ]


def _warn_of_failures(board: Board, found: list[Cell]) -> None:
    failed = sorted(board.failures)
    if not failed or len(failed) == len(found):
        return
    sentences = [
        f"{shown(board.cells[k])} failed on {len(board.failures[k])} of {board.scores.shape[1]} "
        f"splits ({board.failures[k][0]})"
        for k in failed[:3]
    ]
    more = f"; and {len(failed) - 3} more cells" if len(failed) > 3 else ""
    warnings.warn(
        f"{len(failed)} of {len(found)} cells of the grid failed: {'; '.join(sentences)}{more}.",
        RuntimeWarning,
        stacklevel=depth_of_caller(),
    )


# ---------------------------------------------------------------------- what comes in


def _length(X: Any) -> int:
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) >= 1:
        return int(shape[0])
    try:
        return len(X)
    except TypeError:
        raise TypeError(f"X must be a table, it is {type(X).__name__}.") from None


def _target_and_estimator(
    X: Any, y: Any, estimator: Any, weight: np.ndarray | None
) -> tuple[np.ndarray, Any, bool]:
    """The target, checked for what the estimator does with it."""
    n = _length(X)
    if y is None:
        raise ValueError("y is None; tuning needs a target for every sample.")
    target = as_vector(y)
    if estimator is None:
        estimator = default_estimator(X, guess_task(target) == "regression")
    classifier = is_classifier(estimator)
    if classifier:
        check_classes(target, n, weight=weight, warn=False)
    elif is_regressor(estimator):
        target = check_regression_target(target, n)
    else:
        target = check_target(target, n)
    return target, estimator, classifier


def _tables(X: Any, estimator: Any, kernel: Any) -> tuple[Any, np.ndarray | None]:
    """The samples as estimators get them, and as numbers for the fast way (None: there is none).

    Data frames stay what they are, for the names of their columns.
    """
    machine = last_step(estimator)
    ours = type(machine).__module__.partition(".")[0] == "tamiz"
    before = [step for _, step in getattr(estimator, "steps", [])[:-1]]
    if ours and all(type(step).__name__ in _SCALERS for step in before):
        if kernel is not None:
            raise ValueError(
                f"{type(before[0]).__name__} scales numbers, and {kernel!r} compares strings; tune "
                "the machine alone."
            )
        refuse_text_rows(X)
        numbers = check_X(clone(machine), X, reset=True, accept_sparse=True)
        dense = numbers if isinstance(numbers, np.ndarray) else None
        return (X if hasattr(X, "columns") else numbers), dense
    if hasattr(X, "columns") or sparse.issparse(X):
        return X, None
    return (np.asarray(X) if kernel is None else as_column(X)), None


def _splits(
    cv: Any, X: Any, y: np.ndarray, classifier: bool, seed: int, asked: dict[str, Any]
) -> list[Split]:
    if classifier and isinstance(cv, int):
        classes, counts = np.unique(y, return_counts=True)
        if counts.min() < cv <= counts.max():
            few = classes.tolist()[int(counts.argmin())]
            warnings.warn(
                f"class {few!r} has {counts.min()} samples, fewer than cv={cv} folds: some folds "
                "lack it. Use fewer folds, or a HoldOut.",
                UserWarning,
                stacklevel=depth_of_caller(),
            )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return make_splits(cv, X, y, classifier, seed, **asked)
