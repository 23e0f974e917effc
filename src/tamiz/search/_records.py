"""The best subset of each size, the choice among them, and what an interruption leaves.

Their pictures: the best score by size, the walk of annealing, the generations.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import PathStep, Selection, choose_size
from tamiz.display import PALETTE, axes, quantity
from tamiz.search.evaluator import Evaluation, Evaluator

#: What ``n_features_to_select`` may be where a search can choose the number itself.
SIZE_OR_RULE: list[Any] = [
    None,
    Interval(Integral, 1, None, closed="left"),
    Interval(Real, 0, 1, closed="right"),
    StrOptions({"auto", "best", "1se"}),
]


class Record(NamedTuple):
    """A subset of units that was judged."""

    subset: np.ndarray
    n_features: int
    evaluation: Evaluation

    @property
    def value(self) -> float:
        return self.evaluation.value


class Records:
    """The best subset met of each size; of equals the one met first.

    Sizes are whatever the search counts: features, or units if these are groups.
    """

    def __init__(self) -> None:
        self.best: dict[int, Record] = {}

    def offer(self, size: int, record: Record) -> bool:
        """Keep a subset if it is better than the one of its size; whether it was."""
        rival = self.best.get(size)
        if rival is not None and not exceeds(record.value, rival.value):
            return False
        self.best[size] = record
        return True

    def up_to(self, limit: int) -> list[Record]:
        """The records with at most ``limit`` features, small sizes first."""
        known = [self.best[size] for size in sorted(self.best)]
        return [record for record in known if record.n_features <= limit]


def exceeds(value: float, other: float) -> bool:
    """Whether one J is larger than another by more than rounding."""
    return value > other + rounding(other)


def rounding(value: float) -> float:
    """How far apart two values of J are still equal: sums in another order differ by less."""
    return 1e-12 * abs(value) if np.isfinite(value) else 0.0


def first_best(evaluations: Sequence[Evaluation]) -> int:
    """Place of the largest J; of equals, the first."""
    values = np.array([evaluation.value for evaluation in evaluations])
    top = float(values.max())
    return int(np.argmax(values >= top - rounding(top)))


def by_rule(records: Sequence[Record], rule: str) -> Record:
    """The best record, ties to the fewest features; or the smallest within one standard error."""
    judged = [record for record in records if np.isfinite(record.value)]
    if not judged:
        return records[0]
    errors = -np.stack([record.evaluation.scores[0] for record in judged], axis=1)
    size = choose_size(errors, np.array([record.n_features for record in judged]), rule)
    of_size = [record for record in judged if record.n_features == size]
    return max(of_size, key=lambda record: record.value)  # the first of equals


def better(value: float, size: int, best: float, best_size: int) -> bool:
    """Whether a subset is preferred to another: larger J, ties to the smaller subset."""
    return exceeds(value, best) or (not exceeds(best, value) and size < best_size)


def main_effects(evaluator: Evaluator) -> np.ndarray:
    """For each unit, the mean J of the subsets with it minus that of the subsets without it.

    Units that were never in, or never out, have 0.
    """
    inside = np.zeros(evaluator.n_units)
    outside = np.zeros(evaluator.n_units)
    n_inside = np.zeros(evaluator.n_units)
    n_outside = np.zeros(evaluator.n_units)
    for subset, evaluation in evaluator.known():
        value = evaluation.value
        if np.isfinite(value):
            inside += np.where(subset, value, 0.0)
            n_inside += subset
            outside += np.where(subset, 0.0, value)
            n_outside += ~subset
    both = (n_inside > 0) & (n_outside > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(both, inside / n_inside - outside / n_outside, 0.0)


def curve(evaluator: Evaluator, records: Records) -> list[dict[str, Any]]:
    """Number of features, features, score and standard error of the best subset of each size.

    If an interruption left no round complete, the best of what was judged stands in.
    """
    if not records.best:
        records = Records()
        add_known(evaluator, records)
    return [
        {
            "n_features": record.n_features,
            "features": evaluator.features(record.subset),
            "score": record.value,
            "standard_error": record.evaluation.standard_error,
        }
        for _, record in sorted(records.best.items())
    ]


# ---------------------------------------------------------------------- after an interruption


def add_known(evaluator: Evaluator, records: Records) -> None:
    """Count in what an interruption left unrecorded: judged, but in a batch not yet complete."""
    for subset, evaluation in evaluator.known():
        n_features = evaluator.n_features(subset)
        records.offer(n_features, Record(subset, n_features, evaluation))


def rescued(evaluator: Evaluator, room: int, *, exact: bool) -> np.ndarray | None:
    """What to select after an interruption, with ``room`` features at most.

    Of the subsets judged the best of the largest size if the number has to be met, else the best
    of all; if all are larger, the best of the smallest size is cut. None if nothing was judged.
    """
    records = Records()
    add_known(evaluator, records)
    small = [record for record in records.up_to(room) if record.n_features]
    if small:
        return (small[-1] if exact else by_rule(small, "best")).subset
    if not records.best:
        return None
    return cut(evaluator, records.best[min(records.best)].subset, room)


def cut(evaluator: Evaluator, subset: np.ndarray, room: int) -> np.ndarray:
    """A part of a subset with no more than ``room`` features; it has not been judged.

    The units that go first are those with the least mean J of the subsets with them over that of
    the subsets without them, of equals the last.
    """
    sizes, n = evaluator.units.sizes, evaluator.n_features(subset)
    effects = main_effects(evaluator)
    worst_first = sorted(np.flatnonzero(subset).tolist(), key=lambda k: (effects[k], -k))
    if not len(evaluator.units.fixed):  # something that fits has to stay
        stays = next((k for k in reversed(worst_first) if sizes[k] <= room), None)
        worst_first = [k for k in worst_first if k != stays]
    part = subset.copy()
    for k in worst_first:
        if n <= room:
            break
        part[k] = False
        n -= int(sizes[k])
    return part


# ----------------------------------------------------------------------------------------- pictures


def plot_sizes(selection: Selection, ax: Any = None) -> Any:
    """Best score met at each number of features, its standard error, and the number chosen."""
    ax = axes(ax)
    best = best_by_size(selection.path)
    if not best:
        raise ValueError(f"{selection.method} judged no subset; there is nothing to draw.")
    sizes = np.array(list(best))
    value = np.array([step.value for step in best.values()])
    spread = np.array([(step.details or {}).get("standard_error", 0.0) for step in best.values()])
    label = "best subset met of each size"
    ax.plot(sizes, value, "o-", color=PALETTE[0], ms=4, label=label)
    if spread.any():
        ax.fill_between(
            sizes,
            value - spread,
            value + spread,
            color=PALETTE[0],
            alpha=0.2,
            lw=0,
            label="± one standard error over the splits",
        )
    chosen = int(selection.support.sum())
    ax.axvline(chosen, color="0.6", ls="--", lw=1, zorder=0)
    mark = selection.notes.get("score")
    if mark is not None and np.isfinite(mark):
        ax.plot([chosen], [mark], "o", ms=9, mfc="none", mec=PALETTE[1], mew=1.5, label="selected")
    ax.set(xlabel="number of features", ylabel=quantity(selection))
    integer_ticks(ax.xaxis)
    ax.legend(fontsize="small")
    ax.set_title(f"{selection.method}: {chosen} of {len(selection.support)} features selected")
    return ax


def integer_ticks(axis: Any) -> None:
    """Ticks at integers only, unless someone has placed them already."""
    from matplotlib.ticker import MaxNLocator

    locator = axis.get_major_locator()
    if isinstance(locator, MaxNLocator):
        locator.set_params(integer=True)


def best_by_size(path: list[PathStep]) -> dict[int, PathStep]:
    """Of all subsets judged, the best of each number of features, ascending."""
    best: dict[int, PathStep] = {}
    for step in path:
        if step.action != "visit" or step.value is None or not np.isfinite(step.value):
            continue
        rival = best.get(step.n_features)
        if rival is None or rival.value is None or step.value > rival.value:
            best[step.n_features] = step
    return dict(sorted(best.items()))


def plot_annealing(selection: Selection, ax: Any = None) -> Any:
    """Score of the current subset by iteration, and the temperature on a second axis."""
    ax = axes(ax)
    steps = [s for s in selection.path if s.action in ("start", "accept", "reject")]
    if not steps:
        raise ValueError(f"{selection.method} judged no subset; there is nothing to draw.")
    taken = [s for s in steps if s.action != "reject"]
    turned = [s for s in steps if s.action == "reject"]
    ax.step(
        [*_details(taken, "iteration"), _details(steps, "iteration")[-1]],
        [*(s.value for s in taken), taken[-1].value],
        where="post",
        color=PALETTE[0],
        label="score of the current subset",
    )
    if turned:
        ax.plot(
            _details(turned, "iteration"),
            [s.value for s in turned],
            ".",
            color="0.7",
            ms=4,
            label="turned down",
            zorder=1,
        )
    best = selection.notes.get("score")
    if best is not None:
        ax.axhline(best, color=PALETTE[2], ls=":", lw=1, label="selected")
    handles, labels = ax.get_legend_handles_labels()
    warm = [s for s in steps if (s.details or {})["temperature"] is not None]
    if warm:  # else the search was cut short before a temperature was chosen
        heat = ax.twinx()
        (line,) = heat.plot(
            _details(warm, "iteration"),
            _details(warm, "temperature"),
            color=PALETTE[1],
            lw=1,
            drawstyle="steps-post",
            label="temperature",
        )
        heat.set(ylabel="temperature", yscale="log")
        heat.yaxis.label.set_color(PALETTE[1])
        handles, labels = [*handles, line], [*labels, "temperature"]
    ax.set(xlabel="iteration", ylabel=quantity(selection))
    _legend_below(ax, handles, labels)
    ax.set_title(_title(selection))
    return ax


def plot_genetic(selection: Selection, ax: Any = None) -> Any:
    """Scores of all individuals by generation, with the best and the mean."""
    ax = axes(ax)
    steps = [s for s in selection.path if s.action == "individual" and np.isfinite(s.value or 0.0)]
    if not steps:
        raise ValueError(f"{selection.method} judged no subset; there is nothing to draw.")
    generation = np.array(_details(steps, "generation"))
    value = np.array([s.value for s in steps], dtype=float)
    numbers = np.unique(generation)
    ax.plot(generation, value, "o", color="0.7", ms=3, label="individuals")
    best = [value[generation == g].max() for g in numbers]
    mean = [value[generation == g].mean() for g in numbers]
    ax.plot(numbers, mean, color=PALETTE[1], label="mean")
    ax.plot(numbers, best, color=PALETTE[0], label="best")
    ax.set(xlabel="generation", ylabel=quantity(selection))
    integer_ticks(ax.xaxis)
    _legend_below(ax, *ax.get_legend_handles_labels())
    ax.set_title(_title(selection))
    return ax


def _details(steps: list[Any], name: str) -> list[Any]:
    return [(step.details or {})[name] for step in steps]


def _legend_below(ax: Any, handles: list[Any], labels: list[str]) -> None:
    """The legend under the axes: the points of a random search may be anywhere inside."""
    ax.legend(
        handles,
        labels,
        fontsize="small",
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=len(labels),
        frameon=False,
    )


def _title(selection: Selection) -> str:
    chosen = int(selection.support.sum())
    return f"{selection.method}: {chosen} of {len(selection.support)} features selected"
