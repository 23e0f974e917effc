"""Features that one can stand behind: those that come back in nearly every half of the rows.

Each method ranks the features in many halves of the rows, drawn as pairs of disjoint ones. The
bound of :mod:`tamiz.discovery.bounds` says how many features without any merit would be among the
first ``q`` in a given fraction of the halves, on average and at most. For each of ``m`` methods the
size ``q`` and the fraction are those that give most features while the bound is at most a fraction
``fdr / m`` of them. Together the methods then have at most ``fdr`` times as many false ones as
features, since each has no more features than all of them:
``Σ fdr/m · |S_m| ≤ fdr · |∪ S_m|``. As with the ``fdr`` of
:class:`~tamiz.discovery.StabilitySelection`, sizes and fractions look at the data: this is a
conservative estimate, and no proven bound.

What predicts best and what one can stand behind are two questions. Of ten copies of a good feature
one is enough to predict, and a method that avoids copies takes another one in every half.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from tamiz.base import json_ready, order_by
from tamiz.discovery.aggregation import RankAggregation, aggregate_rankings
from tamiz.discovery.bounds import (
    bound_at,
    largest_size,
    least_count,
    size_for_fdr,
    sizes_up_to,
)
from tamiz.evaluation.comparison.fold import prepared, try_to_rank
from tamiz.evaluation.comparison.result import Comparison
from tamiz.evaluation.comparison.setting import Failures, Kept, Setting, Stopped
from tamiz.evaluation.comparison.show import BASELINES
from tamiz.evaluation.methods import METHODS
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import limit_threads, one_blas_thread
from tamiz.search.resampling import Halves, ResampledTable, run_jobs
from tamiz.search.splits import is_ordered, neighbours_in_time

#: Number of pairs of halves.
PAIRS = 50
#: Operations of one ranking of half of the rows, above which a method is not asked. So the table
#: decides what is asked, and the clock only with a time budget or where rankings take far longer.
_MOST_WORK = 8e7
#: Methods that fit many machines for one ranking.
_SLOW = ("ho-svm", "kp-svm", "milp-svm", "forest")
#: A selection on half of the rows takes about this part of one on a training part.
_OF_A_SPLIT = 0.7
ASSUMPTION = "unimodal"  # as in StabilitySelection


@dataclass
class Standing:
    """What the halves of the rows say.

    Attributes
    ----------
    fdr : float
        The rate of false discoveries that was asked for.
    n_halves : int
        Number of halves.
    halves_by : {"rows", "groups", "times"}
        What was dealt to the halves: single rows, whole groups, or blocks of neighbours in time.
    frequencies : dict of str to array of shape (n_features,)
        By method, the fraction of the halves in which each feature is among the first ``sizes``.
    sizes : dict of str to int
        By method, how many features count as selected in a half.
    thresholds : dict of str to float
        By method, the fraction that is enough; only methods for which there is one.
    bound : float
        How many features without any merit are among those found, on average and at most.
    features : list of int
        Positions of the features that one can stand behind, the most frequent first.
    agreed : list of int
        Features that each family of methods has in most halves, in the order of ``consensus``.
    consensus : RankAggregation or None
        The families' rankings by frequency as one. The families see the same rows, so that it is an
        order and no evidence.
    left_out : list of str
        Methods that were not asked, since that would have taken too long.
    """

    fdr: float
    n_halves: int
    halves_by: str = "rows"
    frequencies: dict[str, np.ndarray] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)
    bound: float = 0.0
    features: list[int] = field(default_factory=list)
    agreed: list[int] = field(default_factory=list)
    consensus: RankAggregation | None = None
    left_out: list[str] = field(default_factory=list)

    @property
    def families(self) -> dict[str, list[str]]:
        """The methods that were asked, by their family."""
        found: dict[str, list[str]] = {}
        for name in self.frequencies:
            found.setdefault(METHODS[name].family, []).append(name)
        return found

    def needed_alone(self, name: str) -> float | None:
        """Fraction of the halves that is enough for one feature alone; None if none is.

        Parameters
        ----------
        name : str
            One of the methods that were asked.
        """
        p, pairs = len(self.frequencies[name]), self.n_halves // 2
        rate = self.fdr / len(self.frequencies)
        count = least_count(rate, self.sizes[name], p, pairs, ASSUMPTION, pairs + 1)
        return None if count is None else count / self.n_halves

    def most_frequent(self) -> np.ndarray:
        """Features that were selected at all: those to stand behind, then by their frequency."""
        table = np.array(list(self.frequencies.values()))
        kept = np.isin(np.arange(table.shape[1]), self.features)
        order = order_by(kept.astype(float), table.max(axis=0), table.mean(axis=0))
        return order[table.max(axis=0)[order] > 0]

    def keeps(self, j: int) -> list[str]:
        """The methods that have a feature often enough, the most frequent first.

        Parameters
        ----------
        j : int
            Position of the feature.
        """
        often = {
            name: own[j]
            for name, own in self.frequencies.items()
            if own[j] >= self.thresholds.get(name, 2.0)
        }
        return sorted(often, key=lambda name: -often[name])

    def in_most_halves(self) -> dict[str, np.ndarray]:
        """For each family, the features that one of its methods has in most halves."""
        return {
            family: np.any([self.frequencies[name] > 0.5 for name in names], axis=0)
            for family, names in self.families.items()
        }

    def to_dict(self, names: list[str]) -> dict[str, Any]:
        """Plain values; features by name, at most 200 of those that were selected at all."""
        often = self.most_frequent()[:200].tolist()
        return json_ready(
            {
                "fdr": self.fdr,
                "features": [names[j] for j in self.features],
                "expected_by_chance": self.bound,
                "thresholds": self.thresholds,
                "features_per_half": self.sizes,
                "halves": self.n_halves,
                "halves_by": self.halves_by,
                "frequencies": {
                    name: {names[j]: float(one[j]) for j in often}
                    for name, one in self.frequencies.items()
                },
                "families": self.families,
                "agreed": [names[j] for j in self.agreed],
            }
        )


def find_standing(
    setting: Setting,
    found: Comparison,
    lead: str,
    fdr: float,
    seconds: float,
    n_jobs: int | None,
    verbose: Any = 0,
) -> Standing | None:
    """Select in halves of the rows, by as many methods as there is time for.

    Parameters
    ----------
    setting, found : Setting and Comparison
        What the study compared.
    lead : str
        The recommended method.
    fdr : float
        The rate of false discoveries that is asked for.
    seconds : float
        Time that it may take, by the time that rankings took before.
    n_jobs : int or None
        Workers.
    verbose : bool or int
        Whether to show progress.

    Returns
    -------
    standing : Standing or None
        None if there is no time, or if rows are too few to be halved.
    """
    work = StudyHalves.of(setting)
    if work is None or setting.n_features < 2:
        return None
    order, left_out = _asked(setting, found, lead, seconds)
    if not order:
        return None
    standing = Standing(fdr, 2 * PAIRS, work.by, left_out=left_out)
    found_entries: dict[str, np.ndarray] = {}
    with Progress("halves of the rows", verbose) as progress:
        for name in order:
            progress.update(name)
            entries = work.entries(name, PAIRS, n_jobs)
            if entries is not None:
                found_entries[name] = entries
    if not found_entries:
        return None
    _conclude(standing, found_entries)
    return standing


def _asked(
    setting: Setting, found: Comparison, lead: str, seconds: float
) -> tuple[list[str], list[str]]:
    """The methods that are asked: ``lead`` first, then by the time that they took.

    Those that are known to be slow on such a table are left out; and where all of them together
    would still take too long, the slowest, which are returned as well.
    """
    n, p = len(setting.y) / 2, setting.n_features
    by_pairs_of_rows = ("relief", "relieff", "rrelieff", "rfe")
    costs = {}
    for m, name in enumerate(found.methods):
        taken = found.select_seconds[m][np.isfinite(found.select_seconds[m])]
        if name in BASELINES or name in _SLOW or name not in METHODS or not len(taken):
            continue
        rows = min(n, setting.limits.methods.get(name, np.inf))
        work = rows * rows * p if name in by_pairs_of_rows else rows * p
        work = max(work, float(p) ** 3) if name == "qpfs" else work
        if METHODS[name].family != "wrapper" and work <= _MOST_WORK:
            costs[name] = 2 * PAIRS * _OF_A_SPLIT * float(np.median(taken))
    left_out = []
    while costs and sum(costs.values()) > seconds:  # the recommended method is the last to go
        slowest = max(costs, key=lambda name: (name != lead, costs[name]))
        del costs[slowest]
        left_out.append(slowest)
    return sorted(costs, key=lambda name: (name != lead, costs[name])), left_out


def _conclude(standing: Standing, found: dict[str, np.ndarray]) -> None:
    n_halves = standing.n_halves
    p = next(iter(found.values())).shape[1]
    kept = np.zeros(p, dtype=bool)
    sizes = sizes_up_to(largest_size(p))
    for name, entries in found.items():
        chosen = size_for_fdr(entries, sizes, standing.fdr / len(found), ASSUMPTION)
        q = sizes[len(sizes) // 2] if chosen is None else chosen[0]
        counts = ((entries > 0) & (entries <= q)).sum(axis=0)
        standing.frequencies[name], standing.sizes[name] = counts / n_halves, q
        if chosen is not None:
            kept |= counts >= chosen[1]
            standing.thresholds[name] = chosen[1] / n_halves
            standing.bound += bound_at(q, p, chosen[1], n_halves // 2, ASSUMPTION)
    standing.features = np.flatnonzero(kept).tolist()
    standing.features = standing.most_frequent()[: int(kept.sum())].tolist()
    standing.consensus = aggregate_rankings(
        {name: rankdata(-own) for name, own in standing.frequencies.items()},
        families={name: METHODS[name].family for name in standing.frequencies},
    )
    by_all = np.all(list(standing.in_most_halves().values()), axis=0)
    order = standing.consensus.order
    standing.agreed = order[by_all[order]].tolist()


class StudyHalves:
    """Ranks the features in halves of the rows of a study."""

    def __init__(self, setting: Setting, halves: Halves, by: str):
        self.setting, self.halves, self.by = setting, halves, by
        self.seed = setting.seed_of("halves")

    @classmethod
    def of(cls, setting: Setting) -> StudyHalves | None:
        """None if a class has too few rows, or groups, for two halves."""
        labels = setting.y if setting.task == "classification" else None
        groups, by = setting.groups, "rows" if setting.groups is None else "groups"
        if groups is not None and is_ordered(setting.cv):  # they are times: neighbours are alike
            groups, by = neighbours_in_time(groups), "times"
        table = ResampledTable(np.zeros((len(setting.y), 1)), labels)
        try:
            return cls(setting, Halves(table, groups), by)
        except ValueError:
            return None

    def entries(self, name: str, n_pairs: int, n_jobs: int | None) -> np.ndarray | None:
        """In each half, the place of the first features by a method, 0 for others.

        None if the method fails, or if a deadline comes first.
        """
        setting = self.setting
        most = largest_size(setting.n_features)
        jobs = [(name, most, k) for k in range(2 * n_pairs)]
        found = np.zeros((2 * n_pairs, setting.n_features), dtype=np.int32)
        try:
            machine = setting.selectors[name]
            for k, chosen in enumerate(run_jobs(StudyHalves.first, self, jobs, n_jobs, machine)):
                if chosen is None:
                    return None
                found[k, chosen] = np.arange(1, len(chosen) + 1)
        except Stopped:
            return None
        return found

    def first(self, name: str, most: int, k: int) -> np.ndarray | None:
        """The first features of a method in half ``k``, at most so many.

        The columns come in another order each time: features of equal score are often taken in the
        order of the columns, and the first of them would then come back in every half.
        """
        setting = self.setting
        rows = self.halves.pair(self.seed, k // 2)[k % 2]
        mixed = np.random.default_rng([self.seed, k]).permutation(setting.n_features)
        columns, units = mixed, None
        if setting.units is not None:
            columns = np.concatenate([setting.units[j] for j in mixed])
            ends = np.cumsum([len(setting.units[j]) for j in mixed])
            units = np.split(np.arange(len(columns)), ends[:-1])
        here = replace(setting, X=setting.X[:, columns], units=units, kept=_NothingKept())
        failures = Failures(setting, "")
        with one_blas_thread(), limit_threads(1):
            key = (-2, k)
            Z, _ = prepared(here, rows, rows[:1], key)
            ranking = try_to_rank(here, name, Z, rows, key, failures)
        if ranking is None or ranking.order is None:
            return None
        return mixed[ranking.order[:most]]


class _NothingKept(Kept):
    """In place of the tables that methods of a split share: those of a half serve once."""

    def get(self, key: Any, make: Any) -> Any:
        """What is asked for, made."""
        return make()
