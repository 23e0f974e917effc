"""The plan of a comparison: its splits, what all its units share, and what they note down."""

from __future__ import annotations

import hashlib
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import LeaveOneOut

from tamiz.evaluation.judges import ErrorMetric
from tamiz.routing import Routes
from tamiz.search.splits import Split, inner_splits, make_splits, shuffled_folds, splitting
from tamiz.validation import integers_from

#: Without ``sizes``: about three steps to a factor of four, up to this many.
SIZE_GRID = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)


@dataclass
class OuterSplit:
    """One split, and where it stands."""

    train: np.ndarray
    test: np.ndarray
    repeat: int
    fold: int


def plan_parts(
    cv: Any,
    repeats: int,
    X: Any,
    y: np.ndarray,
    task: str,
    seed: int,
    groups: Any,
    routes: Routes | None = None,
) -> list[OuterSplit]:
    """All splits of all repeats.

    A number of folds is shuffled anew in every repeat, the classes in proportion. Splitters that
    would give the same splits again are used once.
    """
    seeds = np.random.SeedSequence([seed, 1]).generate_state(repeats)
    parts = []
    for r in range(repeats if _varies(cv) else 1):
        splitter = cv
        if isinstance(cv, int):
            splitter = _folds(cv, y, task, int(seeds[r]), groups)
        kind = task == "classification"
        asked = splitting(cv, groups, routes)
        splits = make_splits(splitter, X, y, kind, int(seeds[r]), warn=r == 0, **asked)
        parts += [OuterSplit(train, test, r, f) for f, (train, test) in enumerate(splits)]
    if task == "classification":
        _refuse_one_class(parts, y)
    return parts


#: The check of ``sizes``.
numbers_of_features = integers_from(1, "numbers of features", "[1, 5, 20, 100]")


def sizes_among(sizes: ArrayLike | None, p: int) -> np.ndarray:
    """Numbers of features, ascending; a grid up to 200 by default."""
    if sizes is None:
        return np.array(sorted({min(size, p) for size in SIZE_GRID}))
    ascending = np.unique(sizes)
    if ascending[-1] > p:
        raise ValueError(
            f"sizes holds {ascending[-1]}, but X has {p} features; leave out sizes above {p}."
        )
    return ascending


def _folds(n_folds: int, y: np.ndarray, task: str, seed: int, groups: Any) -> Any:
    if n_folds > len(y):
        raise ValueError(f"cv={n_folds} folds need {n_folds} samples; there are {len(y)}.")
    if task == "classification":
        labels, counts = np.unique(y, return_counts=True)
        least = int(counts.min())
        if least < 2:
            raise ValueError(
                f"class {labels.tolist()[int(counts.argmin())]!r} has one sample: it cannot be in "
                "a training and in a test part. Leave this sample out, or merge its class with "
                "another."
            )
        if least < n_folds:
            raise ValueError(
                f"cv={n_folds} folds need {n_folds} samples of every class; class "
                f"{labels.tolist()[int(counts.argmin())]!r} has {least}. Use cv={least}, or leave "
                "this class out or merge it with another."
            )
    return shuffled_folds(n_folds, task == "classification", seed, groups)


def _varies(cv: Any) -> bool:
    """Whether another seed gives other splits."""
    if isinstance(cv, int):
        return True
    if isinstance(cv, (str, LeaveOneOut)) or not hasattr(cv, "split"):
        return False
    return getattr(cv, "random_state", 0) is None and bool(getattr(cv, "shuffle", True))


def _refuse_one_class(parts: list[OuterSplit], y: np.ndarray) -> None:
    for part in parts:
        if len(np.unique(y[part.train])) < 2:
            raise ValueError(
                f"the training part of repeat {part.repeat}, fold {part.fold} holds one class "
                "only; use fewer folds, or shuffled and stratified ones."
            )


#: In place of a repeat and a fold: everything at once.
WHOLE = -1


#: Bytes of prepared tables that are kept for the other methods of a split.
_KEPT_BYTES = 400 * 2**20


class Stopped(Exception):
    """The unit is not wanted any more."""


class StopSign:
    """Says that units under way shall end: at a deadline, or when the user has enough.

    A copy in another process knows the deadline only.
    """

    def __init__(self, deadline: float | None = None):
        self.deadline = deadline  # by time.monotonic
        self._event = threading.Event()

    def set(self) -> None:
        """Let all units end at their next look."""
        self._event.set()

    def look(self) -> None:
        """Raise :class:`Stopped` if it is time."""
        if self._event.is_set() or self.late:
            raise Stopped

    def extend(self, seconds: float) -> None:
        """Move the deadline, for time that does not count."""
        if self.deadline is not None:
            self.deadline += seconds

    @property
    def late(self) -> bool:
        """Whether the deadline is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def __getstate__(self) -> dict[str, Any]:
        return {"deadline": self.deadline}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["deadline"])  # type: ignore[misc]


class Kept:
    """Tables that were prepared for one method of a split and serve the others, within bounds."""

    def __init__(self) -> None:
        self._found: OrderedDict[Any, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is kept under a key, made if it is not there."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        made = make()
        with self._lock:
            self._found[key] = made
            while len(self._found) > 1 and sum(map(_bytes, self._found.values())) > _KEPT_BYTES:
                self._found.popitem(last=False)
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]


def _bytes(tables: tuple[Any, Any]) -> int:
    return sum(int(getattr(one, "nbytes", 0) or one.data.nbytes) for one in tables)


class Limits(NamedTuple):
    """How many samples are used where all would take too long; empty for no limit."""

    judges: dict[str, int] = {}  # samples that a judge learns from, by its name
    methods: dict[str, int] = {}  # samples that a selector ranks by, by its name
    inner: int | None = None  # samples of each part of an inner split


@dataclass
class Setting:
    """What all units share. What changes while they run is ``kept``, ``known`` and ``whole``."""

    X: Any
    y: np.ndarray
    task: str
    parts: list[OuterSplit]
    selectors: dict[str, Any]
    own: dict[str, bool]  # whether the number that a selector selects is worth judging
    curve: dict[str, bool]  # whether its ranking is judged at every size
    judges: dict[str, Any]
    candidates: dict[str, list[dict[str, Any]]]
    sizes: np.ndarray
    metric: ErrorMetric
    scale: str | None
    has_missing: bool
    inner: int  # folds inside the training part; 0 for none
    nested: bool  # whether the size is chosen in there
    rule: str
    seed: int
    raising: bool
    cv: Any = None  # what divides the samples
    groups: np.ndarray | None = None
    weight: np.ndarray | None = None  # of the samples
    covariates: np.ndarray | None = None  # of the samples: what features are adjusted for
    units: list[np.ndarray] | None = None  # columns of X that are one feature; None: each is one
    limits: Limits = field(default_factory=Limits)
    stop: StopSign = field(default_factory=StopSign)
    kept: Kept = field(default_factory=Kept)
    known: dict[Any, float] = field(default_factory=dict)  # errors of subsets judged before
    judge_whole: bool = True  # whether rankings on all data are judged, for the apparent error
    whole: dict[str, Ranking] = field(default_factory=dict)  # rankings on all data
    routes: Routes | None = None  # who gets what of the metadata, where they are asked
    asked: frozenset[str] = frozenset()  # those who are: selectors, judges and scorer as objects

    def part_of_metadata(self, child: str, rows: np.ndarray) -> dict[str, Any] | None:
        """What a child asked for, of these rows; None if it is not asked."""
        if self.routes is None or child not in self.asked:
            return None
        return self.routes.part(child, rows)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.X.shape[1] if self.units is None else len(self.units)

    def sorted_columns(self, features: np.ndarray) -> np.ndarray:
        """The columns of X that some features are, ascending.

        The order of the columns counts for a forest: methods that select the same features get
        the same answers, and predictions are those behind the errors.
        """
        if self.units is None or not len(features):
            return np.sort(features)
        return np.sort(np.concatenate([self.units[j] for j in features]))

    def key_of(self, columns: np.ndarray) -> bytes:
        """A short name of a subset of the columns."""
        return hashlib.blake2b(columns.tobytes(), digest_size=12).digest()

    def inside(self, part: OuterSplit) -> list[Split]:
        """The inner splits of a training part, which keep the structure of the outer ones."""
        others = [
            (one.train, one.test)
            for one in self.parts
            if one.repeat == part.repeat and one.fold != part.fold
        ]
        seed = self.seed_of("inner", part.repeat, part.fold)
        classifier = self.task == "classification"
        return inner_splits(
            self.cv, part.train, self.y, self.inner, classifier, seed, self.groups, others
        )

    def seed_of(self, *what: Any) -> int:
        """A seed that depends on what it is for, and not on what else is run."""
        return seed_for(self.seed, *what)


def seed_for(seed: int, *what: Any) -> int:
    """The seed of a piece of a run."""
    words = [zlib.crc32(str(word).encode()) for word in what]
    return int(np.random.SeedSequence([seed, *words]).generate_state(1)[0])


class Ranking(NamedTuple):
    """What a selector said."""

    order: np.ndarray | None  # best first; None if it only selects
    own: np.ndarray  # the features that it selects, ascending
    seconds: float
    scores: np.ndarray | None = None


class Failures:
    """What went wrong in a unit, and how often a metric had no value."""

    def __init__(self, setting: Setting, where: str):
        self.setting = setting
        self.where = where
        self.texts: list[str] = []
        self.n_undefined = 0

    def take(self, error: Exception, what: str) -> None:
        """Note a failure, or pass it on."""
        if self.setting.raising or isinstance(error, MemoryError):
            error.add_note(
                f"This happened in {self.where}, {what}. With error_score=nan such values are left "
                "out instead of ending the comparison."
            )
            raise error
        self.texts.append(f"{what}: {type(error).__name__}: {error}")
