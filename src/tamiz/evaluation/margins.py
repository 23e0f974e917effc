"""How sure a machine was: predictions inside, on and beyond the margin, for the report card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamiz.display import INK, PALETTE, axes, frame_in_notebook, frames
from tamiz.evaluation.measures import Confusion, Metric, proportion
from tamiz.search.judges import last_step
from tamiz.svm.confidence import PLACES, MarginConfidence

if TYPE_CHECKING:
    import pandas as pd

_QUARTERS = (0.25, 0.5, 0.75)


class MarginPart(NamedTuple):
    """The predictions in one place, seen from the margin."""

    fraction: Metric  # of all predictions
    accuracy: Metric  # of those there
    n_samples: float  # their number, or the sum of their weights


class MarginReport(NamedTuple):
    """Predictions inside, on and beyond the margin of a machine, and their distances."""

    parts: dict[str, MarginPart]  # by place: "beyond", "on" and "inside"
    boundary_distance: tuple[float, float, float] | None  # quartiles, in feature space
    support_distance: tuple[float, float, float] | None  # of that to the nearest support vector

    def lines(self) -> list[str]:
        """As text."""
        out = [f"{'margin':<18} predictions            accuracy there"]
        for place, (fraction, accuracy, n) in self.parts.items():
            there = str(accuracy) if n else "none"
            out.append(f"{place + ' it':<18} {fraction!s:<22} {there}")
        for name, quartiles in (
            ("boundary", self.boundary_distance),
            ("nearest support vector", self.support_distance),
        ):
            if quartiles is not None:
                shown = ", ".join(f"{value:.3g}" for value in quartiles)
                out.append(f"distance to the {name}, quartiles: {shown}")
        return out

    def to_frame(self) -> pd.DataFrame:
        """One row for each place: the fraction of the predictions there, and how many are right."""
        columns: dict[str, list[Any]] = {"place": list(self.parts)}
        for key in ("fraction", "accuracy"):
            found = [getattr(part, key) for part in self.parts.values()]
            columns[key] = [one.value for one in found]
            columns[f"{key}_low"] = [one.interval[0] for one in found]
            columns[f"{key}_high"] = [one.interval[1] for one in found]
        columns["n_samples"] = [part.n_samples for part in self.parts.values()]
        return frames().DataFrame(columns)

    def _repr_html_(self) -> str | None:
        return frame_in_notebook("Predictions seen from the margin", self.to_frame)

    def plot(self, ax: Any = None) -> Any:
        """Draw the fraction of the predictions in each place, right ones and wrong ones.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        ax = axes(ax, height=2.6)
        height = np.arange(len(self.parts))[::-1]
        parts = list(self.parts.values())
        whole = np.array([part.fraction.value for part in parts])
        right = whole * np.nan_to_num([part.accuracy.value for part in parts])
        ax.barh(height, right, color=PALETTE[0], label="right")
        ax.barh(height, whole - right, left=right, color=PALETTE[1], label="wrong")
        ends = np.array([part.fraction.interval for part in parts]).T
        ax.errorbar(whole, height, xerr=np.abs(ends - whole), fmt="none", ecolor=INK, capsize=3)
        ax.set_yticks(height, [f"{place} the margin" for place in self.parts])
        ax.set_xlabel("fraction of the predictions")
        ax.legend(frameon=False, fontsize="small")
        return ax

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        parts = {
            place: {
                "fraction": part.fraction._asdict(),
                "accuracy": part.accuracy._asdict(),
                "n_samples": part.n_samples,
            }
            for place, part in self.parts.items()
        }
        return {**self._asdict(), "parts": parts}


def confidence_of(estimator: Any, X: Any) -> MarginConfidence | None:
    """What a machine, alone or at the end of a pipeline, says of its predictions; None if nothing.

    Other classifiers have no margin, and neither has a machine whose classes were renamed on the
    way (calibration, for instance).
    """
    estimator = getattr(estimator, "best_estimator_", estimator)
    machine = last_step(estimator)
    if not hasattr(machine, "margin_confidence"):
        return None
    if machine is not estimator and len(estimator.steps) > 1:
        X = estimator[:-1].transform(X)
    found: MarginConfidence = machine.margin_confidence(X)
    return found


def margin_report(
    confidence: MarginConfidence, right: np.ndarray, weight: np.ndarray, made: Confusion
) -> MarginReport:
    """Fractions and accuracies by place; ``made`` says how intervals are made."""
    places = confidence.places
    counts = np.zeros((len(PLACES), 2))
    squares = np.zeros((len(PLACES), 2))
    for k, place in enumerate(PLACES):
        for ok in (0, 1):
            own = weight[(places == place) & (right == ok)]
            counts[k, ok], squares[k, ok] = own.sum(), np.square(own).sum()
    table = made._replace(counts=counts, squares=squares)
    everything = np.ones((len(PLACES), 2), dtype=bool)
    parts = {}
    for k, place in enumerate(PLACES):
        row = np.zeros_like(everything)
        row[k] = True
        hits = row & np.array([False, True])
        parts[place] = MarginPart(
            proportion(table, row, everything, "there are no samples."),
            proportion(table, hits, row, f"no prediction is {place} the margin."),
            float(counts[k].sum()),
        )
    return MarginReport(
        parts, _quartiles(confidence.boundary_distance), _quartiles(confidence.support_distance)
    )


def _quartiles(values: np.ndarray | None) -> tuple[float, float, float] | None:
    if values is None:
        return None
    with np.errstate(invalid="ignore"):
        low, middle, high = np.quantile(values, _QUARTERS)
    return float(low), float(middle), float(high)
