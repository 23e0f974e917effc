"""Machines that compare strings: one Gram matrix for each kernel of a grid, for all folds and C.

Values of string kernels are expensive, and each depends on two strings alone: nothing is learnt
from samples that are held out. So the matrix over all samples is worked out once for each kernel
of the grid. ``SVC`` goes along C as in :mod:`tamiz.svm.path.penalties`; any other machine, and
whatever is in doubt, is fitted by the estimator itself with a kernel that looks its values up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import is_classifier, is_regressor

from tamiz.evaluation.tuning.cells import Outcome, Plain
from tamiz.evaluation.tuning.fast import ASIDE, Fast, Group, Report, SharedGrams, is_steady
from tamiz.kernels import Kernel, as_kernel
from tamiz.kernels.strings.kernel import showing_progress
from tamiz.kernels.strings.texts import Texts
from tamiz.search.judges import last_step
from tamiz.svm import SVC
from tamiz.svm.kernel_machine import KernelMachine
from tamiz.svm.path.problem import Doubt
from tamiz.validation import require_samples

_PLACES = "places"
#: Rounding may decide the order of values that are closer to each other than this.
_CLOSE = 1e-9
#: Rounding moves a machine that is solved to its tolerance, no further than this by far: values so
#: close to a boundary are left to the estimator.
_UNSURE = 1e-5

# ---------------------------------------------------------------------- what comes in


def string_kernel(estimator: Any, grid: Any) -> Kernel | None:
    """A kernel of strings that the machine has, or gets from the grid; None if there is none.

    A grid in which some machines compare strings and others vectors is refused.
    """
    machine = last_step(estimator)
    if not isinstance(machine, KernelMachine):
        return None
    steps = getattr(estimator, "steps", None)
    names = {"kernel"} if steps is None else {"kernel", f"{steps[-1][0]}__kernel"}
    found: list[Any] = []
    for part in grid or [{}]:
        given = [part[name] for name in names if name in part]
        listed = [value for values in given if isinstance(values, list) for value in values]
        found += listed if given else [machine.kernel]
    for kernel in found:
        if isinstance(kernel, type):  # a sentence about the kernel before one about X
            as_kernel(kernel)
    of_strings = [kernel for kernel in found if _compares_text(kernel)]
    others = [kernel for kernel in found if not _compares_text(kernel)]
    if of_strings and others:
        raise ValueError(
            f"grid holds {of_strings[0]!r}, which compares strings, and kernel={others[0]!r}, "
            "which compares vectors: no samples suit both. Tune them one after the other."
        )
    return of_strings[0] if of_strings else None


def stands_alone(estimator: Any) -> bool:
    """Whether nothing is done to the samples before the machine sees them."""
    before = getattr(estimator, "steps", [])[:-1]
    return all(step in (None, "passthrough") for _, step in before)


def as_table(X: Any, kernel: Kernel) -> np.ndarray:
    """The samples one by one in an array of objects, checked."""
    texts = kernel._samples(X)
    require_samples(len(texts))
    return np.asarray(texts.items)


def as_column(X: Any) -> Any:
    """Samples for a pipeline that makes strings of them: a Series stays one, for its methods."""
    if hasattr(X, "iloc"):
        return X
    try:
        return np.asarray(X)
    except ValueError:  # sequences of unequal length
        return np.array([*X, None], dtype=object)[:-1]


def _compares_text(kernel: Any) -> bool:
    return isinstance(kernel, Kernel) and kernel.compares_text


# ---------------------------------------------------------------------- values looked up


class KnownValues(Kernel):
    """A kernel of strings whose values are all known.

    Parameters
    ----------
    kernel : Kernel
        Whose values they are; named in messages.
    K : array of shape (n, n)
        The values. Samples carry their place in it.
    error_scale : float
        Size of the numbers whose rounding decides the error of an entry.
    """

    _parameters = ("kernel",)

    def __init__(self, kernel: Kernel, K: np.ndarray, error_scale: float) -> None:
        self.kernel, self.K, self.error_scale = kernel, K, error_scale

    @property
    def compares_text(self) -> bool:
        return True

    @property
    def always_mercer(self) -> bool:
        return self.kernel.always_mercer

    @property
    def bound(self) -> float:
        return self.kernel.bound

    def _samples(self, X: Any, name: str = "X") -> Any:
        return self.kernel._samples(X, name)

    def _gram(self, X: Any, Z: Any) -> np.ndarray:
        rows = _places(X)
        return self.K[np.ix_(rows, rows if Z is None else _places(Z))]

    def _diag(self, X: Any) -> np.ndarray:
        return np.asarray(self.K.diagonal()[_places(X)])

    def _error_scale(self, X: Any, diag: np.ndarray) -> float:
        return self.error_scale

    def __repr__(self) -> str:
        return repr(self.kernel)


def _places(X: Texts) -> np.ndarray:
    def unknown() -> Any:
        raise KeyError("these strings have no place in the matrix")

    return np.asarray(X.remembered(_PLACES, unknown))


class LookedUp(Plain):
    """The estimator itself, with a kernel whose values are known."""

    def __init__(self, plain: Plain, texts: Texts, kernel: Kernel, K: np.ndarray):
        places = Texts(texts.items, {_PLACES: np.arange(len(texts))})
        super().__init__(
            plain.estimator, places, plain.y, plain.weight, plain.splits, plain.metric,
            plain.strict, plain.routes,
        )  # fmt: skip
        self.kernel = KnownValues(kernel, K, kernel._error_scale(texts, K.diagonal()))

    def candidate(self, params: Mapping[str, Any]) -> Any:
        estimator = super().candidate(params)
        last_step(estimator).kernel = self.kernel
        return estimator

    def part(self, machine: Any, rows: np.ndarray, train: np.ndarray) -> Any:
        return self.X[rows]

    def measure(self, machine: Any, test: np.ndarray, train: np.ndarray) -> float:
        """The score; raises Doubt where rounding would decide it."""
        if not is_regressor(machine) and self._is_close(last_step(machine), self.X[test]):
            raise Doubt
        return super().measure(machine, test, train)

    def _is_close(self, machine: Any, samples: Texts) -> bool:
        """Whether a value next to a boundary, or to that of another string, could be either."""
        decisions = machine.decision_function(samples)
        values = machine._expansion(samples) if is_classifier(machine) else decisions
        size = max(1.0, float(np.abs(values).max(initial=0.0)))
        if np.abs(values).min() <= _UNSURE * size:
            return True
        if decisions.ndim == 2:
            two = np.partition(decisions, -2, axis=1)[:, -2:]
            if (two[:, 1] - two[:, 0]).min() <= _UNSURE * size:
                return True
        if getattr(self.metric.scorer, "_response_method", "predict") == "predict":
            return False
        columns = decisions.reshape(len(samples), -1).T
        return any(_is_tied(column, samples.items, _CLOSE * size) for column in columns)


def _is_tied(values: np.ndarray, items: np.ndarray, slack: float) -> bool:
    """Whether different strings have values that only rounding tells apart."""
    order = np.argsort(values)
    near = np.flatnonzero(np.diff(values[order]) <= slack)
    return any(items[order[k]] != items[order[k + 1]] for k in near)


# ---------------------------------------------------------------------- the fast way


@dataclass
class TextGroup(Group):
    """Cells that differ in C only; or one cell of any machine.

    Attributes
    ----------
    setting : int
        Groups of the same number have the same kernel.
    along_C : bool
        Whether the cells are taken one from the other.
    """

    setting: int = 0
    along_C: bool = False


class TextFast(Fast):
    """The cells whose machines compare strings, from one matrix for each kernel.

    Parameters
    ----------
    plain : Plain
        The estimator and the data, strings in an array of objects.
    cells, memory_mb, workers
        As in :class:`Fast`.
    verbose : bool or int
        Whether the progress of a matrix is shown.
    """

    groups: list[TextGroup]  # type: ignore[assignment]

    def __init__(
        self,
        plain: Plain,
        cells: Sequence[dict[str, Any]],
        memory_mb: float,
        workers: int,
        verbose: bool | int,
    ):
        self.verbose = verbose
        self.looked_up = plain
        self.texts = Texts(plain.X)
        self.K = np.empty((0, 0))
        super().__init__(plain, self.texts, cells, memory_mb, workers)

    def _is_possible(self) -> bool:
        plain = self.plain
        return not get_config().get("enable_metadata_routing") and plain.metric.stands_in

    def _collect(self) -> None:
        plain = self.plain
        along = all(len(np.unique(train)) == len(train) for train, _ in plain.splits)
        settings: dict[Any, int] = {}
        groups: dict[Any, TextGroup] = {}
        for number, params in enumerate(self.cells):
            estimator = plain.candidate(params)
            machine = last_step(estimator)
            if not stands_alone(estimator) or not _is_valid(machine):
                continue  # the estimator raises its own error
            setting = settings.setdefault(_kernel_key(estimator, params), len(settings))
            if along and type(machine) is SVC and is_steady(machine):
                own = machine.get_params(deep=False).items()
                others = sorted((name, repr(value)) for name, value in own if name not in ASIDE)
                group = groups.setdefault(
                    (setting, *others), TextGroup(machine, None, [], setting, True)
                )
                group.cells.append((float(machine.C), number))
            else:
                groups[number] = TextGroup(machine, None, [(0.0, number)], setting)
        self.groups = sorted(groups.values(), key=lambda group: group.setting)
        for group in self.groups:
            group.cells.sort()

    def _keep_what_fits(self, budget: float) -> None:
        """One matrix for all, and what each thread copies of it."""
        entry = 8 * len(self.table) ** 2
        fits = int((budget - entry) // (2 * entry))
        if fits < 1:
            self.groups = []
        self.workers = max(1, min(self.workers, fits))

    def _itemsize(self, group: Group, C: float) -> int:
        return 8

    def run(self, wanted: set[tuple[int, int]], report: Report) -> None:
        """Work out the cells and splits that are wanted, kernel after kernel."""
        for setting in sorted({group.setting for group in self.groups}):
            jobs: list[tuple[Callable[..., Any], TextGroup, int]] = [
                (self._run_along if group.along_C else self._run_one, group, split)
                for group in self.groups
                if group.setting == setting
                for split in range(len(self.plain.splits))
                if any((cell, split) in wanted for _, cell in group.cells)
            ]
            if not jobs:
                continue
            kernel = jobs[0][1].machine.kernel
            self.K, self.looked_up = np.empty((0, 0)), self.plain  # free the one before first
            try:
                self.K = self._gram(kernel)
            except Exception:  # by the strings or by a function of the user: each fit will say
                self.groups = [group for group in self.groups if group.setting != setting]
                continue
            self.looked_up = LookedUp(self.plain, self.texts, kernel, self.K)
            self._share(jobs, report)

    def _gram(self, kernel: Kernel) -> np.ndarray:
        self.clear_line()
        with showing_progress(self.verbose):
            return np.asarray(kernel(self.table))

    def _run_along(self, group: TextGroup, split: int) -> list[tuple[int, int, Outcome]]:
        train, _ = self.plain.splits[split]
        if not self.K.diagonal()[train].any():  # which the machine refuses with a message
            return self._run_one(group, split)
        return self._path(group, split, self.table, _OneGram(self.K))

    def _run_one(self, group: TextGroup, split: int) -> list[tuple[int, int, Outcome]]:
        if self.stopped:
            return []
        return [(cell, split, self._ask(cell, split)) for _, cell in group.cells]

    def _ask(self, cell: int, split: int) -> Outcome:
        try:
            return self.looked_up.score(self.cells[cell], split)
        except Doubt:
            return super()._ask(cell, split)


class _OneGram(SharedGrams):
    """The matrix that is there, whatever is asked for."""

    def __init__(self, K: np.ndarray):
        self.K = K

    def get(self, kernel: Any, itemsize: int) -> np.ndarray:
        return self.K


def _is_valid(machine: Any) -> bool:
    if not isinstance(machine, KernelMachine) or not _compares_text(machine.kernel):
        return False
    try:
        machine._validate_params()
    except (TypeError, ValueError):
        return False
    return True


def _kernel_key(estimator: Any, params: Mapping[str, Any]) -> tuple[Any, ...]:
    """The same for cells of the same kernel: the parameters that may have to do with it.

    Objects are compared by identity: cells of a grid hold the same ones, fits get copies.
    """
    steps = getattr(estimator, "steps", None)
    prefix = "" if steps is None else f"{steps[-1][0]}__"
    aside = last_step(estimator).get_params(deep=False).keys() - {"kernel"}
    return tuple(
        (name, repr(value) if isinstance(value, bool | int | float | str) else id(value))
        for name, value in sorted(params.items())
        if name.removeprefix(prefix) not in aside
    )
