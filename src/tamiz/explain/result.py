"""What each feature adds to the decision values of some samples, as tables and pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.display import PALETTE, TableResult, axes, counted, frames, number
from tamiz.validation import checked, integer_from, refused

if TYPE_CHECKING:
    import pandas as pd


def position_of(thing: Any, names: list[str], what: str = "feature") -> int:
    """The position of a feature, or an output, that is given by its name or its position."""
    j = names.index(thing) if isinstance(thing, str) and thing in names else thing
    if not isinstance(j, int | np.integer) or not 0 <= j < len(names):
        kind = f"the name of a {what}" if what == "feature" else f"the name of an {what}"
        raise refused(what, thing, f"must be {kind}, or a position from 0 to {len(names) - 1}")
    return int(j)


def name_ticks(ax: Any, names: list[str]) -> None:
    """Put the values of a category below an axis that has their codes."""
    crowded = sum(map(len, names)) > 40
    turned = {"rotation": 60, "ha": "right", "size": "small"} if crowded else {}
    ax.set_xticks(np.arange(len(names)), names, **turned)
    ax.set_xlim(-0.5, len(names) - 0.5)


def totals(values: np.ndarray, base: float) -> np.ndarray:
    """The value of the model for each sample; what only rounding keeps from zero is zero."""
    total = base + values.sum(axis=1)
    size = abs(base) + np.abs(values).sum(axis=1)
    return np.where(np.abs(total) <= 1e-13 * size, 0.0, total)


@dataclass(frozen=True)
class ShapleyValues(TableResult):
    """Shapley values of the features, for some samples.

    Attributes
    ----------
    values : array of shape (n_samples, n_features) or (n_samples, n_features, n_outputs)
        What each feature adds; with ``base`` they sum to the value of the model.
    base : float or array of shape (n_outputs,)
        The value when no feature is known.
    standard_error : array of the shape of ``values``, or None
        Standard error of each value where orders were sampled; None where values are exact.
    method : {"exact", "permutations"}
        How they were computed.
    value : {"interventional", "kernel_mean", "left_out"}
        What stands for features that are not known.
    feature_names, output_names : lists of str
        Names of the features, and of the outputs of the model.
    X : array of shape (n_samples, n_features)
        The samples; NaN for groups of several columns, codes for categories.
    limit : float or None
        With two classes, values of the model above it speak for the second one: 0 for decision
        values, 0.5 for probabilities. None for anything else.
    levels : dict of lists
        For each feature of a frame that holds text or categories, by its position: what its codes
        stand for.
    """

    values: np.ndarray
    base: Any
    standard_error: np.ndarray | None
    method: str
    value: str
    feature_names: list[str]
    output_names: list[str]
    X: np.ndarray = field(repr=False)
    limit: float | None = None
    levels: dict[int, list[str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        first = int(np.argmax(self.importances))
        outputs = f", {len(self.output_names)} outputs" if len(self.output_names) > 1 else ""
        return (
            f"<ShapleyValues: {counted(self.values.shape[0], 'sample')}, "
            f"{counted(self.values.shape[1], 'feature')}"
            f"{outputs}, {self.method}; {self.feature_names[first]} adds most "
            f"({number(float(self.importances[first]))})>"
        )

    def _overview(self) -> pd.DataFrame:
        order = np.argsort(-self.importances, kind="stable")
        names = [self.feature_names[j] for j in order]
        return frames().DataFrame({"feature": names, "mean size": self.importances[order]})

    @property
    def importances(self) -> np.ndarray:
        """Mean absolute value of each feature, over the samples and outputs."""
        return np.abs(self.values).mean(axis=(0, *range(2, self.values.ndim)))

    def of(self, output: Any) -> tuple[np.ndarray, float]:
        """Values and base of one output, given by name or position."""
        names = self.output_names
        if self.values.ndim == 2:
            if output is not None and output not in (0, names[0]):
                raise refused(
                    "output", output, f"must be {names[0]!r}, the only output, or be left out."
                )
            return self.values, float(self.base)
        if isinstance(output, str) and output in names:
            output = names.index(output)
        if not isinstance(output, int | np.integer) or not 0 <= output < len(names):
            listed = ", ".join(repr(name) for name in names)
            raise refused(
                "output",
                output,
                f"must be one of {listed}, or a position from 0 to {len(names) - 1}",
            )
        return self.values[:, :, output], float(self.base[output])

    def to_frame(self, output: Any = None) -> pd.DataFrame:
        """A data frame: a row for each sample, a column for each feature, then base and total.

        Parameters
        ----------
        output : str or int, optional
            Which output, if the model has several; by default all, one below the other, with the
            name in a first column ``output``.
        """
        if output is None and self.values.ndim == 3:
            parts = [self.to_frame(name) for name in self.output_names]
            for name, part in zip(self.output_names, parts, strict=True):
                part.insert(0, "output", name, allow_duplicates=True)
            return frames().concat(parts)
        values, base = self.of(output)
        table = frames().DataFrame(values, columns=self.feature_names)
        table["base"] = base
        table["total"] = totals(values, base)
        return table

    @checked(top=integer_from(1))
    def plot(self, top: int = 20, ax: Any = None, output: Any = None) -> Any:
        """Draw the importances of the most important features.

        Parameters
        ----------
        top : int, default=20
            How many features.
        ax : matplotlib axes, optional
            Where to draw; on a figure of its own if None.
        output : str or int, optional
            Which output, if the model has several; the mean over all of them if None.

        Returns
        -------
        matplotlib axes
        """
        importances = self.importances
        label = "mean absolute Shapley value"
        if self.values.ndim == 3:
            label += f" (mean over {len(self.output_names)} outputs)"
        if output is not None:
            importances = np.abs(self.of(output)[0]).mean(axis=0)
            name = output if isinstance(output, str) else self.output_names[output]
            label = f"mean absolute Shapley value of {name}"
        best = np.argsort(-importances, kind="stable")[:top][::-1]
        ax = axes(ax, height=max(2.5, 1.1 + 0.22 * len(best)))
        ax.barh(np.arange(len(best)), importances[best], color=PALETTE[0])
        ax.set_yticks(np.arange(len(best)), [self.feature_names[j] for j in best])
        ax.set_xlabel(label)
        return ax

    def plot_dependence(self, feature: Any, output: Any = None, ax: Any = None) -> Any:
        """Draw the Shapley values of a feature over the values that it has.

        Parameters
        ----------
        feature : str or int
            Name or position.
        output : str or int, optional
            Which output, if the model has several; by default all, in colours.
        ax : matplotlib axes, optional
            Where to draw; on a figure of its own if None.

        Returns
        -------
        matplotlib axes
        """
        every = output is None and self.values.ndim == 3
        names = self.feature_names
        j = position_of(feature, names)
        if np.isnan(self.X[:, j]).all():
            raise refused("feature", feature, "is a group of several columns, which no axis shows.")
        ax = axes(ax)
        ax.axhline(0.0, color="0.8", linewidth=1.0)
        for k, name in enumerate(self.output_names if every else [output]):
            values, _ = self.of(name)
            color = PALETTE[k % len(PALETTE)]
            ax.scatter(self.X[:, j], values[:, j], s=12, color=color, label=name if every else None)
        if every:
            ax.legend()
        if j in self.levels:
            name_ticks(ax, self.levels[j])
        ax.set_xlabel(names[j])
        ax.set_ylabel("Shapley value")
        return ax
