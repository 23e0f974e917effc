"""Features that one can stand behind: those that come back in nearly every half of the rows.

Each method selects ``q`` features in many halves of the rows, drawn as pairs of disjoint ones. The
bound of :mod:`tamiz.discovery.bounds` says how many features without any merit would reach a given
frequency, on average and at most. The threshold of each of ``m`` methods is the least at which that
is at most a fraction ``fdr / m`` of the features that reach it. Together the methods then have at
most ``fdr`` times as many false ones as features, since each has no more features than all of them:
``Σ fdr/m · |S_m| ≤ fdr · |∪ S_m|``. As with the ``fdr`` of
:class:`~tamiz.discovery.StabilitySelection`, the thresholds look at the data: this is a
conservative estimate, and no proven bound.

What predicts best and what one can stand behind are two questions. Of ten copies of a good feature
one is enough to predict, and a method that avoids copies takes another one in every half.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tamiz.base import json_ready, order_by
from tamiz.discovery.bounds import bound_at, count_for_fdr, usual_q
from tamiz.evaluation.comparison.fold import prepared, try_to_rank
from tamiz.evaluation.comparison.result import Comparison
from tamiz.evaluation.comparison.setting import Failures, Kept, Setting, Stopped
from tamiz.evaluation.comparison.show import BASELINES
from tamiz.evaluation.methods import METHODS
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import limit_threads, one_blas_thread
from tamiz.search.resampling import Halves, ResampledTable, run_jobs

#: Numbers of pairs, the most first; with fewer than the last, nothing is said.
PAIRS = (50, 25)
#: Blocks of neighbours in time that stay together in a half.
_BLOCKS = 20
#: A selection on half of the rows takes about this part of one on a training part.
_OF_A_SPLIT = 0.7
ASSUMPTION = "r-concave"


@dataclass
class Standing:
    """What the halves of the rows say.

    Attributes
    ----------
    fdr : float
        The rate of false discoveries that was asked for.
    q, n_halves : int
        Features selected in each half, and halves.
    frequencies : dict of str to array of shape (n_features,)
        By method, the fraction of the halves in which each feature is selected.
    thresholds : dict of str to float
        By method, the fraction that is enough; only methods for which there is one.
    bound : float
        How many features without any merit are among those found, on average and at most.
    features : list of int
        Positions of the features that one can stand behind, the most frequent first.
    agreed : list of int
        Features that each family of methods has in most halves, by their mean frequency.
    """

    fdr: float
    q: int
    n_halves: int
    frequencies: dict[str, np.ndarray] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)
    bound: float = 0.0
    features: list[int] = field(default_factory=list)
    agreed: list[int] = field(default_factory=list)

    @property
    def families(self) -> dict[str, list[str]]:
        """The methods that were asked, by their family."""
        found: dict[str, list[str]] = {}
        for name in self.frequencies:
            found.setdefault(METHODS[name].family, []).append(name)
        return found

    def most_frequent(self) -> np.ndarray:
        """Features that were selected at all: those to stand behind, then by their frequency."""
        table = np.array(list(self.frequencies.values()))
        kept = np.isin(np.arange(table.shape[1]), self.features)
        order = order_by(kept.astype(float), table.max(axis=0), table.mean(axis=0))
        return order[table.max(axis=0)[order] > 0]

    def to_dict(self, names: list[str]) -> dict[str, Any]:
        """Plain values; features by name, at most 200 of those that were selected at all."""
        often = self.most_frequent()[:200].tolist()
        return json_ready(
            {
                "fdr": self.fdr,
                "features": [names[j] for j in self.features],
                "expected_by_chance": self.bound,
                "thresholds": self.thresholds,
                "features_per_half": self.q,
                "halves": self.n_halves,
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
        Time that it may take.
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
    costs = _costs(found, seconds)
    if not costs:
        return None
    order = sorted(costs, key=lambda name: (name != lead, costs[name]))
    n_pairs = next((n for n in PAIRS if 2 * n * costs[order[0]] <= seconds), PAIRS[-1])
    standing = Standing(fdr, usual_q(setting.n_features), 2 * n_pairs)
    began = time.monotonic()
    with Progress("halves of the rows", verbose) as progress:
        for name in order:
            left = seconds - (time.monotonic() - began)
            if standing.frequencies and 2 * n_pairs * costs[name] > left:
                continue
            progress.update(name)
            counts = work.counts(name, standing.q, n_pairs, n_jobs)
            if counts is not None:
                standing.frequencies[name] = counts / (2 * n_pairs)
    if not standing.frequencies:
        return None
    _conclude(standing, setting.n_features)
    return standing


def _costs(found: Comparison, seconds: float) -> dict[str, float]:
    """Seconds of one selection on half of the rows, of the methods that are not too slow."""
    costs = {}
    for m, name in enumerate(found.methods):
        taken = found.select_seconds[m]
        known = taken[np.isfinite(taken)]
        if name in BASELINES or name not in METHODS or not len(known):
            continue
        cost = _OF_A_SPLIT * float(np.median(known))
        if 2 * PAIRS[-1] * cost <= seconds:
            costs[name] = cost
    return costs


def _conclude(standing: Standing, p: int) -> None:
    n_halves, q = standing.n_halves, standing.q
    kept = np.zeros(p, dtype=bool)
    for name, own in standing.frequencies.items():
        counts = np.rint(own * n_halves).astype(np.intp)
        rate = standing.fdr / len(standing.frequencies)
        count = count_for_fdr(counts, q, n_halves // 2, rate, ASSUMPTION)
        if count is not None:
            kept |= counts >= count
            standing.thresholds[name] = count / n_halves
            standing.bound += bound_at(q, p, count, n_halves // 2, ASSUMPTION)
    standing.features = np.flatnonzero(kept).tolist()
    standing.features = standing.most_frequent()[: int(kept.sum())].tolist()
    table = np.array(list(standing.frequencies.values()))
    by_family = [
        np.any([standing.frequencies[name] > 0.5 for name in names], axis=0)
        for names in standing.families.values()
    ]
    often = np.flatnonzero(np.all(by_family, axis=0))
    standing.agreed = often[order_by(table.mean(axis=0)[often])].tolist()


class StudyHalves:
    """Ranks the features in halves of the rows of a study."""

    def __init__(self, setting: Setting, halves: Halves):
        self.setting, self.halves = setting, halves
        self.seed = setting.seed_of("halves")

    @classmethod
    def of(cls, setting: Setting) -> StudyHalves | None:
        """None if a class has too few rows, or groups, for two halves."""
        labels = setting.y if setting.task == "classification" else None
        groups = setting.groups
        if groups is not None and not isinstance(setting.cv, int):  # times: neighbours are alike
            place = np.argsort(np.argsort(groups, kind="stable"), kind="stable")
            groups = place * _BLOCKS // len(place)
        try:
            return cls(
                setting, Halves(ResampledTable(np.zeros((len(setting.y), 1)), labels), groups)
            )
        except ValueError:
            return None

    def counts(self, name: str, q: int, n_pairs: int, n_jobs: int | None) -> np.ndarray | None:
        """In how many halves a method has each feature among its first ``q``; None if it fails."""
        jobs = [(name, q, k) for k in range(2 * n_pairs)]
        counts = np.zeros(self.setting.n_features, dtype=np.intp)
        try:
            for chosen in run_jobs(
                StudyHalves.first, self, jobs, n_jobs, self.setting.selectors[name]
            ):
                if chosen is None:
                    return None
                counts[chosen] += 1
        except Stopped:
            return None
        return counts

    def first(self, name: str, q: int, k: int) -> np.ndarray | None:
        """The first ``q`` features of a method in half ``k``.

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
            ranking = try_to_rank(here, name, Z, setting.y[rows], key, failures)
        if ranking is None or ranking.order is None:
            return None
        return mixed[ranking.order[:q]]


class _NothingKept(Kept):
    """In place of the tables that methods of a split share: those of a half serve once."""

    def get(self, key: Any, make: Any) -> Any:
        """What is asked for, made."""
        return make()
