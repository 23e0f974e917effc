"""Resamples of a table, parts of it whatever its kind, and fits on them by several workers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples, has_fit_parameter

from tamiz.base import Selection
from tamiz.routing import (
    Routes,
    refuse_unrequested,
    router_of,
    routes_to,
    routes_unasked,
    routing_enabled,
    wants,
)
from tamiz.runtime.threads import limit_threads
from tamiz.runtime.workers import Shared, find_runner
from tamiz.search.group_draws import GroupDraw, GroupUnits, Strata
from tamiz.search.judges import last_step
from tamiz.validation import (
    as_numpy,
    as_vector,
    check_groups,
    guess_task,
    inner_fit,
    names_for,
    refuse_interrupted,
)


def rows_for(machine: Any, X: Any, rows: np.ndarray, train: np.ndarray) -> Any:
    """Rows of a table; of a kernel matrix, their values with the training samples."""
    if get_tags(machine).input_tags.pairwise:
        return np.asarray(X)[np.ix_(rows, train)]
    return _safe_indexing(X, rows)


class ResampledTable:
    """``X`` and ``y`` as they were given, and where the samples of each class are.

    Selectors check what they are given; here only what is needed to draw resamples is.
    """

    def __init__(self, X: Any, y: Any = None):
        X = as_numpy(X)
        try:
            known = X if hasattr(X, "shape") else np.asarray(X)
        except ValueError:
            raise ValueError("X must be a table; its rows differ in length.") from None
        self.X = known.tocsr() if hasattr(known, "tocsr") else known
        if len(self.X.shape) != 2:
            raise ValueError(f"X must be a table of two axes; its shape is {self.X.shape}.")
        self.n, self.n_features = int(_num_samples(self.X)), int(self.X.shape[1])
        self.y = None if y is None else as_vector(y)
        if self.y is not None and len(self.y) != self.n:
            raise ValueError(f"X has {self.n} rows but y has {len(self.y)} entries.")
        self.strata = self._strata()

    def _strata(self) -> list[np.ndarray]:
        everyone = [np.arange(self.n)]
        if self.y is None or guess_task(self.y) != "classification":
            return everyone
        codes = np.unique(self.y, return_inverse=True)[1]
        return [np.flatnonzero(codes == k) for k in range(codes.max(initial=0) + 1)]

    @property
    def class_names(self) -> list[Any] | None:
        """The classes in the order of their strata; None if there is one stratum."""
        if self.y is None or len(self.strata) < 2:
            return None
        return self.y[[rows[0] for rows in self.strata]].tolist()

    def units(self, groups: Any) -> GroupUnits:
        """Groups of the samples, to be drawn as a whole."""
        return GroupUnits(check_groups(groups, self.n), self.strata, self.class_names)

    def part(self, rows: np.ndarray) -> tuple[Any, Any]:
        """The rows named, of ``X`` and of ``y``."""
        return _safe_indexing(self.X, rows), None if self.y is None else self.y[rows]


class Sampling(ABC):
    """A way to draw resamples in which classes keep their proportions."""

    #: In how many groups every class must be.
    apart = 1

    @abstractmethod
    def deal(self, strata: Strata, random: np.random.Generator) -> list[np.ndarray]:
        """The units of the next resamples: samples, or groups of them."""

    def draw(
        self,
        table: ResampledTable,
        n: int,
        random: np.random.Generator,
        units: GroupUnits | None = None,
    ) -> list[np.ndarray]:
        """Rows of ``n`` resamples, ascending; of whole groups if they are the units."""
        grouped = None
        if units is not None:
            need = "every resample needs samples of every class"
            grouped = GroupDraw(units, self.deal, self.apart, need)
        rows: list[np.ndarray] = []
        while len(rows) < n:
            rows += self.deal(table.strata, random) if grouped is None else grouped(random)
        return [np.sort(part) for part in rows[:n]]


class Bootstrap(Sampling):
    """As many samples as there are, drawn with replacement."""

    def deal(self, strata: Strata, random: np.random.Generator) -> list[np.ndarray]:
        return [np.concatenate([random.choice(part, len(part)) for part in strata])]


class Subsample(Sampling):
    """A fraction of the samples, drawn without replacement, at least one of each class."""

    def __init__(self, fraction: float):
        self.fraction = fraction

    def deal(self, strata: Strata, random: np.random.Generator) -> list[np.ndarray]:
        sizes = [max(1, round(self.fraction * len(part))) for part in strata]
        taken = zip(strata, sizes, strict=True)
        return [np.concatenate([random.choice(part, size, replace=False) for part, size in taken])]


class Folds(Sampling):
    """The training parts of folds, shuffled anew for every round of them."""

    apart = 2

    def __init__(self, n_folds: int):
        self.n_folds = n_folds

    def deal(self, strata: Strata, random: np.random.Generator) -> list[np.ndarray]:
        n = sum(map(len, strata))
        if self.n_folds > n:
            raise ValueError(
                f"n_folds={self.n_folds} needs as many samples, or groups of them; there are {n}."
            )
        # dealing out class after class keeps folds equal in size and proportions
        dealt = np.concatenate([random.permutation(part) for part in strata])
        fold = np.arange(n) % self.n_folds
        return [dealt[fold != k] for k in range(self.n_folds)]


class Halves:
    """Pairs of disjoint halves of the samples in which classes keep their proportions.

    Pair ``b`` is a function of the seed and of ``b``, whatever is drawn besides. Samples of one
    group are in the same half, or in none: an odd one of each class is dealt with those of others.
    Both halves hold every class.

    Parameters
    ----------
    table : ResampledTable
        What to draw from.
    groups : array of shape (n_samples,), optional
        Which samples belong together. A group counts as one sample; see
        :mod:`tamiz.search.group_draws`.
    """

    def __init__(self, table: ResampledTable, groups: Any = None):
        self.strata = table.strata
        self.grouped: GroupDraw | None = None
        need = "each half of a pair needs one"
        if groups is not None:
            self.grouped = GroupDraw(table.units(groups), _two_halves, 2, need, mend=True)
            return
        least = min(self.strata, key=len)
        if len(least) < 2:
            whose = ""
            if table.y is not None and table.class_names is not None:
                whose = f" of class {table.y[least[:1]].tolist()[0]!r}"
            raise ValueError(
                f"there is only one sample{whose}; {need}. Add samples, or leave that class out."
            )

    def pair(self, seed: int, b: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows of both halves of pair ``b``, ascending."""
        random = np.random.default_rng([seed, b])
        if self.grouped is not None:
            first, second = self.grouped(random)
            return first, second
        first, second = _two_halves(self.strata, random)
        return np.sort(first), np.sort(second)


def _two_halves(strata: Strata, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Units of two halves; an odd one of each stratum is dealt with those of others."""
    first, second, rest = [], [], []
    for units in strata:
        mixed = random.permutation(units)
        half = len(mixed) // 2
        first.append(mixed[:half])
        second.append(mixed[half : 2 * half])
        rest.append(mixed[2 * half :])
    mixed = random.permutation(np.concatenate(rest))
    half = len(mixed) // 2
    return np.concatenate([*first, mixed[:half]]), np.concatenate([*second, mixed[half : 2 * half]])


def label_blocks(groups: Any, labels: np.ndarray, name: str = "groups") -> list[np.ndarray]:
    """Positions within which labels may change places.

    ``name`` says what a user gave: groups, or times of which they are the blocks.
    """
    if groups is None:
        return [np.arange(len(labels))]
    codes = np.unique(check_groups(groups, len(labels)), return_inverse=True)[1]
    blocks = [np.flatnonzero(codes == k) for k in range(codes.max() + 1)]
    if all(len(np.unique(labels[block])) < 2 for block in blocks):
        each = "group" if name == "groups" else "block of neighbours in time"
        raise ValueError(
            f"{name}: the labels are the same within every {each}, so that shuffling within them "
            "changes nothing."
        )
    return blocks


def shuffle_within(
    blocks: list[np.ndarray], labels: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """The labels, shuffled within each block."""
    shuffled = labels.copy()
    for block in blocks:
        shuffled[block] = labels[random.permutation(block)]
    return shuffled


#: How to draw resamples, by name, with the fraction and the number of folds.
SAMPLINGS: dict[str, Callable[[float, int], Sampling]] = {
    "bootstrap": lambda fraction, n_folds: Bootstrap(),
    "subsample": lambda fraction, n_folds: Subsample(fraction),
    "folds": lambda fraction, n_folds: Folds(n_folds),
}


def fit_to_the_end(machine: Any, *data: Any, **arguments: Any) -> Any:
    """Fit; machines of this package keep what they have at Ctrl-C, which is no answer here."""
    with inner_fit():
        machine.fit(*data, **arguments)
    refuse_interrupted(machine)
    return machine


def group_arguments(
    machine: Any, groups: Any, times: Any = None, for_folds: Any = None
) -> dict[str, Any]:
    """What passes groups of samples on to a selector, or a pipeline with one, that divides them.

    Times go to each whose ``fit`` takes them, whether it divides samples or not: the order of rows
    that were drawn says nothing about time.

    Parameters
    ----------
    machine : estimator
        The selector, or the pipeline.
    groups : array or None
        Which samples belong together; nothing is passed without.
    times : array, optional
        The times of which the groups are blocks, in their place for those that take times.
    for_folds : array, optional
        In place of both for those whose ``cv`` says how they divide the samples.
    """
    if groups is None:
        return {}
    steps = getattr(machine, "steps", None)
    if steps is not None and not routing_enabled():
        return {
            f"{name}__{key}": value
            for name, step in steps
            for key, value in group_arguments(step, groups, times, for_folds).items()
        }
    divides = getattr(machine, "divides_samples", False)
    if for_folds is not None and any(hasattr(step, "cv") for _, step in steps or [("", machine)]):
        groups, times = for_folds, None
    if times is not None and wants(machine, "fit", "times", has_fit_parameter(machine, "times")):
        return {"times": times}
    return {"groups": groups} if wants(machine, "fit", "groups", divides) else {}


def weights_for(called: str, selector: Any, n: int, weight: np.ndarray | None) -> Routes:
    """What passes weights of samples on to a selector, or to the selecting step of a pipeline.

    ``called`` is the function that they were given to. In the answer the child is "selector".
    """
    if weight is None:
        return Routes({}, n)
    given = {"sample_weight": weight}
    if routing_enabled():
        router = router_of(called, selector=(selector, "fit"))
        refuse_unrequested(router, **given)
        return routes_to(router, "selector", selector, n, given)
    step = selecting_step(selector)
    own = routes_unasked("selector", step, n, given).part("selector")
    steps = getattr(selector, "steps", ())
    prefix = next((f"{name}__" for name, one in steps if one is step), "")
    return Routes({"selector": {f"{prefix}{name}": value for name, value in own.items()}}, n)


def mask_and_names(fitted: Any, n_features: int | None = None) -> tuple[np.ndarray, list[str]]:
    """The mask and the names of a Selection, a fitted selector, or a pipeline with one."""
    if isinstance(fitted, Selection):
        return fitted.support, list(fitted.names)
    step = selecting_step(fitted)
    mask = np.asarray(step.get_support(), dtype=bool)
    if n_features is not None and len(mask) != n_features:
        raise ValueError(
            f"{type(step).__name__} chose among {len(mask)} features, but X has {n_features}: an "
            "earlier step of the pipeline changes them. Apply that step to X first."
        )
    names = getattr(step, "feature_names_in_", getattr(fitted, "feature_names_in_", None))
    return mask, names_for(None if names is None else [str(n) for n in names], len(mask))


def selecting_step(estimator: Any) -> Any:
    """The estimator itself, or the last step of a pipeline that selects features."""
    steps = [step for _, step in getattr(estimator, "steps", [("", estimator)])]
    for step in reversed(steps):
        if hasattr(step, "get_support"):
            return step
    raise TypeError(
        f"{type(estimator).__name__} has no get_support: it does not select features. Use a "
        "selector of tamiz or of scikit-learn, or a pipeline that has one."
    )


def preferred_workers(*estimators: Any) -> str:
    """Threads for machines of this package, which let go of the interpreter; else processes."""
    homes = {type(last_step(one)).__module__.partition(".")[0] for one in estimators}
    return "threads" if homes == {"tamiz"} else "processes"


def run_jobs(
    function: Callable[..., Any],
    shared: Any,
    jobs: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    machine: Any,
) -> Generator[Any, None, None]:
    """Results of ``function(shared, *job)`` in the order of the jobs, each as soon as it is known.

    ``shared`` goes to every worker once (:mod:`tamiz.runtime.workers`).
    """
    runner = find_runner(n_jobs)
    prefer = preferred_workers(machine)
    if runner.serial or prefer != "threads":
        return runner.results(function, Shared(shared), jobs, prefer=prefer)
    return runner.results(_alone, Shared((function, shared)), jobs, prefer=prefer)


def _alone(work: tuple[Callable[..., Any], Any], *job: Any) -> Any:
    """One of several workers: it takes one thread only."""
    function, shared = work
    with limit_threads(1):
        return function(shared, *job)


# ------------------------------------------------------------------------------- along a penalty


class Continued:
    """A machine that is its own clone, so that the next fit begins where the last one ended.

    Selectors fit clones of the machine they were given, and a clone knows nothing of a fit. This
    takes the machine's place in them.
    """

    def __init__(self, machine: Any):
        self._machine = machine

    def __sklearn_clone__(self) -> Continued:
        return self

    def fit(self, *data: Any, **arguments: Any) -> Any:
        """Fit the machine, from where it is."""
        self._machine.fit(*data, **arguments)
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "_machine":  # of an object that is being restored
            raise AttributeError(name)
        return getattr(self._machine, name)


def continues(estimator: Any, name: str) -> bool:
    """Whether fits of several values of this parameter can begin where the last one ended.

    So it is of machines whose ``warm_start`` is where they begin and has no part in where they end.
    That of a forest keeps its trees, and that of a stochastic method never forgets its path.

    Parameters
    ----------
    estimator : estimator
        A selector or pipeline, not fitted.
    name : str
        A parameter of it or of what is in it, such as "estimator__C".
    """
    from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression

    from tamiz.svm import LinearMachine, LinearMachineRegressor

    begin_anywhere = (ElasticNet, Lasso, LinearMachine, LinearMachineRegressor, LogisticRegression)
    return isinstance(_owner(estimator, name)[0], begin_anywhere)


def made_to_continue(estimator: Any, name: str) -> Any:
    """The estimator, changed such that fits of several values of a parameter go on.

    Parameters
    ----------
    estimator : estimator
        As in :func:`continues`, which said yes; a clone that may be changed.
    name : str
        The parameter.
    """
    machine, where, parent = _owner(estimator, name)
    machine.set_params(warm_start=True)
    if where and not hasattr(parent, "steps"):  # pipelines fit the steps themselves
        estimator.set_params(**{where: Continued(machine)})
    return estimator


def _owner(estimator: Any, name: str) -> tuple[Any, str, Any]:
    """Whose parameter it is, the parameter that holds it, and what has that one."""
    where, _, _ = name.rpartition("__")
    above, _, _ = where.rpartition("__")
    params = estimator.get_params()
    machine = params.get(where) if where else estimator
    return machine, where, params.get(above) if above else estimator
