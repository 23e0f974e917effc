"""The outcome of a comparison of methods."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamiz.base import _plain
from tamiz.evaluation.intervals import Interval, between, frames, number, pvalue_text

if TYPE_CHECKING:
    import pandas as pd


class Pair(NamedTuple):
    """Two methods compared."""

    first: str
    second: str
    difference: float  # first minus second: of mean errors, or of mean ranks after Friedman's test
    interval: Interval
    statistic: float
    pvalue: float
    adjusted: float  # for the number of pairs
    significant: bool


@dataclass(repr=False)
class Significance:
    """Outcome of a comparison of methods.

    Attributes
    ----------
    test : str
        Name of the test.
    names : list of str
        The methods.
    n_runs : int
        Number of rows compared.
    alpha : float
        Level of the tests.
    statistic, pvalue : float
        Of the hypothesis that all methods are equal. After Friedman's test the F of Iman and
        Davenport; of several pairs those with the smallest p-value, which is adjusted.
    means, ranks : array of shape (n_methods,)
        Mean error and mean rank of each method, 1 for the best.
    pairs : list of Pair
        All pairs, or all against the control.
    posthoc : str or None
        How the p-values of the pairs were adjusted.
    control : str or None
        The method that the others were compared with.
    critical_difference : float or None
        Difference of mean ranks from which on two methods differ, after Nemenyi.
    details : dict
        What else the test knows, such as degrees of freedom.
    reason : str or None
        A sentence on what could not be computed.

    Examples
    --------
    >>> from tamiz.evaluation import significance
    >>> errors = [[0.10, 0.14], [0.12, 0.17], [0.09, 0.15], [0.11, 0.14], [0.13, 0.15]]
    >>> found = significance(errors, names=["svm", "tree"], test_fraction=1 / 4)
    >>> found
    <Significance: corrected t, svm and tree over 5 runs, p = 0.0196>
    >>> found.pairs[0].interval
    (-0.069, -0.011)
    """

    test: str
    names: list[str]
    n_runs: int
    alpha: float
    statistic: float
    pvalue: float
    means: np.ndarray
    ranks: np.ndarray
    pairs: list[Pair]
    posthoc: str | None = None
    control: str | None = None
    critical_difference: float | None = None
    details: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None

    @property
    def significant(self) -> bool:
        """Whether the hypothesis that all are equal is rejected."""
        return self.pvalue <= self.alpha

    @property
    def best(self) -> str:
        """The method with the least mean rank."""
        return self.names[int(np.argmin(self.ranks))]

    def pair(self, first: str, second: str) -> Pair:
        """The comparison of two methods, by name, in either order."""
        for pair in self.pairs:
            if {pair.first, pair.second} == {first, second}:
                return pair
        raise KeyError(f"{first!r} and {second!r} were not compared; see pairs.")

    @property
    def groups(self) -> list[list[str]]:
        """Largest sets of neighbours by mean rank none of whose pairs differ.

        Empty if the methods were compared with a control only.
        """
        if self.control is not None:
            return []
        order = np.argsort(self.ranks, kind="stable")
        named = [self.names[j] for j in order]
        apart = {frozenset((p.first, p.second)) for p in self.pairs if p.significant}
        found: list[tuple[int, int]] = []
        for start in range(len(named)):
            stop = start + 1
            while stop < len(named) and not any(
                frozenset((named[i], named[stop])) in apart for i in range(start, stop)
            ):
                stop += 1
            if stop - start > 1 and not (found and stop <= found[-1][1]):
                found.append((start, stop))
        return [named[start:stop] for start, stop in found]

    def __repr__(self) -> str:
        if len(self.names) == 2:
            who = f"{self.names[0]} and {self.names[1]}"
        else:
            who = f"{len(self.names)} methods"
        return f"<Significance: {self.test}, {who} over {self.n_runs} runs, p = {self._p()}>"

    def _p(self) -> str:
        return pvalue_text(self.pvalue)

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        lines = [
            f"{self.test} over {self.n_runs} runs: statistic {number(self.statistic)}, "
            f"p = {self._p()}",
            f"  {'method':<{width}}  mean rank        mean",
        ]
        lines += [
            f"  {self.names[j]:<{width}}  {self.ranks[j]:9.3f}  {self.means[j]:10.4g}"
            for j in np.argsort(self.ranks, kind="stable")
        ]
        if self.critical_difference is not None:
            lines.append(
                f"  critical difference of mean ranks {self.critical_difference:.3f} (Nemenyi, "
                f"alpha {self.alpha:g})"
            )
        adjusted = f", adjusted by {self.posthoc}" if self.posthoc else ""
        lines.append(f"  pairs{adjusted}:")
        for pair in self.pairs:
            span = "" if math.isnan(pair.interval[0]) else f" ({between(pair.interval, 4)})"
            lines.append(
                f"    {pair.first} – {pair.second}: {pair.difference:.4g}{span}, "
                f"p = {pvalue_text(pair.adjusted)}{' *' * pair.significant}"
            )
        if self.reason:
            lines.append(f"  {self.reason}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, fit for JSON."""
        return _plain(
            {
                "test": self.test,
                "n_runs": self.n_runs,
                "alpha": self.alpha,
                "statistic": self.statistic,
                "pvalue": self.pvalue,
                "significant": self.significant,
                "methods": [
                    {"name": name, "mean": self.means[j], "rank": self.ranks[j]}
                    for j, name in enumerate(self.names)
                ],
                "pairs": [pair._asdict() for pair in self.pairs],
                "groups": self.groups,
                "posthoc": self.posthoc,
                "control": self.control,
                "critical_difference": self.critical_difference,
                "details": self.details,
                "reason": self.reason,
            }
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each pair."""
        table = frames().DataFrame([pair._asdict() for pair in self.pairs])
        table["low"] = [pair.interval[0] for pair in self.pairs]
        table["high"] = [pair.interval[1] for pair in self.pairs]
        return table.drop(columns="interval")

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean ranks on a line, methods that do not differ joined by bars."""
        from tamiz.evaluation.statistical_tests.critical_difference import (
            critical_difference_diagram,
        )

        return critical_difference_diagram(self, ax=ax)
