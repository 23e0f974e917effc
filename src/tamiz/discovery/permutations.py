r"""How high any score gets by chance: scores beside those of shuffled labels.

With the score ``t_j`` of feature ``j`` and its scores ``t_j*`` for ``m`` shuffles of the labels,

- ``p_j = (1 + #{t_j* ≥ t_j}) / (1 + m)``: the labels as they are count as one of the shuffles, so
  that no p-value is 0;
- maxT (Westfall and Young), with ``t_1 ≥ … ≥ t_p``: the same with ``max_{l ≥ j} t_l*`` in place of
  ``t_j*``, and never less than for a higher score. It limits the chance that any selected feature
  is a wrong one, and knows how the features depend on each other: among copies of one feature it
  corrects for one;
- the false discovery rate of all scores from ``t_j`` on, as the mean number of shuffled scores that
  are as high, divided by the number of scores that are (Tusher and others, SAM), and never more
  than for a lower score. All features are taken for irrelevant (π₀ = 1), which errs to the safe
  side.

maxT and the rate compare the scores of different features: they should have the same distribution
if labels mean nothing, as t statistics have and differences of means have not.

If the labels have few arrangements, all of them are used instead of shuffles.

References
----------
.. [1] P. H. Westfall, S. S. Young (1993). Resampling-based multiple testing. Wiley.
.. [2] V. G. Tusher, R. Tibshirani, G. Chu (2001). Significance analysis of microarrays applied to
       the ionizing radiation response. Proceedings of the National Academy of Sciences 98.
.. [3] B. Phipson, G. K. Smyth (2010). Permutation p-values should never be zero. Statistical
       Applications in Genetics and Molecular Biology 9.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from tamiz.base import json_ready
from tamiz.display import PALETTE, TableResult, axes, counted, frames
from tamiz.filters.univariate.corrections import CORRECTIONS, corrected
from tamiz.runtime.progress import Progress
from tamiz.search.base import seeded
from tamiz.search.judges import array_will_do
from tamiz.search.resampling import (
    ResampledTable,
    fit_to_the_end,
    label_blocks,
    run_jobs,
    selecting_step,
    shuffle_within,
    weights_for,
)
from tamiz.search.splits import structure_of
from tamiz.validation import (
    as_vector,
    check_level,
    check_sample_weight,
    checked,
    integer_from,
    is_frame,
    names_for,
    number_of_jobs,
    one_of,
    scoring_function,
)

if TYPE_CHECKING:
    import pandas as pd

_BATCH = 25  # shuffles of one job


@checked(
    score=scoring_function,
    n_permutations=integer_from(1),
    n_jobs=number_of_jobs,
)
def permutation_scores(
    score: Any,
    X: Any,
    y: Any,
    *,
    n_permutations: int = 1000,
    groups: Any = None,
    times: Any = None,
    sample_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool | int = 0,
) -> PermutedScores:
    """Test every feature by any score, beside the scores of shuffled labels.

    Parameters
    ----------
    score : filter or callable
        A selector with ``scores_`` (every filter of tamiz, ``SelectKBest``, …), or a function of X
        and y that returns a score for each feature. Higher is better.
    X : table of shape (n_samples, n_features)
        Array, sparse matrix or data frame.
    y : array of shape (n_samples,)
        Labels or numbers.
    n_permutations : int, default=1000
        Number of shuffles; the smallest p-value is ``1 / (1 + n_permutations)``. If the labels have
        no more arrangements, each is used once.
    groups : array of shape (n_samples,), optional
        Shuffle within groups only, such as batches or patients.
    times : array of shape (n_samples,), optional
        Numbers or dates, in place of ``groups``: shuffle within 20 blocks of neighbours in time, so
        that a trend that features and labels share does not count.
    sample_weight : array of shape (n_samples,), optional
        Weights for the selector (a function gets them as its argument ``sample_weight``). They stay
        with the rows of ``X`` when labels are shuffled, and labels are shuffled as without them: a
        sample of weight two is one sample. Those of weight zero are left out.
    random_state : int, RandomState or None, default=None
        Seed of the shuffles, and of a selector that has none.
    n_jobs : int or None, default=None
        Workers, as in joblib; the result does not depend on it.
    verbose : bool or int, default=0
        Whether to show progress.

    Returns
    -------
    PermutedScores
        Ctrl-C keeps the shuffles made so far; a warning says so.

    See Also
    --------
    adjust_pvalues : Corrections by p-values alone.
    tamiz.evaluation.permutation_test : Tests a method, not its features.

    References
    ----------
    .. [1] P. H. Westfall, S. S. Young (1993). Resampling-based multiple testing. Wiley.
    .. [2] V. G. Tusher, R. Tibshirani, G. Chu (2001). Significance analysis of microarrays applied
           to the ionizing radiation response. Proceedings of the National Academy of Sciences 98.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.discovery import permutation_scores
    >>> from tamiz.filters import ReliefF
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(80, 10))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> found = permutation_scores(ReliefF(), X, y, n_permutations=200, random_state=0)
    >>> np.flatnonzero(found.support(0.05, "maxt")).tolist()
    [0, 1]
    """
    table = ResampledTable(X, as_vector(y))
    weight = None if sample_weight is None else check_sample_weight(sample_weight, table.n)
    kept = None if weight is None or weight.all() else np.flatnonzero(weight)
    _, within = structure_of(groups, times, table.n, kept)
    if weight is not None and kept is not None:
        table, weight = ResampledTable(*table.part(kept)), weight[kept]
    labels = np.asarray(table.y)
    if len(np.unique(labels)) < 2:
        raise ValueError(f"y holds {labels.tolist()[0]!r} only; there is nothing to shuffle.")
    blocks = label_blocks(within, labels, "groups" if times is None else "times")
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    machine = seeded(clone(score), seed) if hasattr(score, "fit") else score
    work = _Scoring(machine, table, weight)
    work.observe(labels)
    total = n_arrangements(labels, blocks)
    exact = total - 1 <= n_permutations
    wanted = int(total - 1) if exact else n_permutations
    others = (
        (one for one in arrangements(labels, blocks) if (one != labels).any())
        if exact
        else (
            shuffle_within(blocks, labels, np.random.default_rng([seed, k])) for k in range(wanted)
        )
    )
    sums, done = _Counts.zeros(table.n_features), 0
    with Progress("permutations", verbose, most=-(-wanted // _BATCH)) as progress:
        try:
            jobs = ((batch,) for batch in iter(lambda: list(islice(others, _BATCH)), []))
            for counts, n in run_jobs(_Scoring.count, work, jobs, n_jobs, work.machine):
                sums, done = sums.plus(counts), done + n
                progress.update(f"{done} of {wanted} permutations")
        except KeyboardInterrupt:
            if not done:
                raise
            warnings.warn(
                f"stopped after {done} of {wanted} permutations; the result is based on those.",
                RuntimeWarning,
                stacklevel=3,
            )
    return work.conclude(sums, done, exact and done == wanted)


class _Counts(NamedTuple):
    """What shuffles add up to, for each feature in the order of the scores, highest first."""

    alone: np.ndarray  # shuffles in which the feature itself scores as high
    maximum: np.ndarray  # shuffles in which it or a lower one scores as high
    every: np.ndarray  # scores of any feature that are as high, over all shuffles

    @classmethod
    def zeros(cls, p: int) -> _Counts:
        return cls(*(np.zeros(p, dtype=np.int64) for _ in range(3)))

    def plus(self, other: _Counts) -> _Counts:
        return _Counts(*(one + more for one, more in zip(self, other, strict=True)))


class _Scoring:
    """Scores labels, and counts how often shuffled ones score as high."""

    def __init__(self, machine: Any, table: ResampledTable, weight: np.ndarray | None):
        self.machine, self.table = machine, table
        self.extra = {} if weight is None else {"sample_weight": weight}
        if hasattr(machine, "fit"):
            routes = weights_for("permutation_scores", machine, table.n, weight)
            self.extra = routes.part("selector")
        columns = getattr(table.X, "columns", None) if is_frame(table.X) else None
        self.names = None if columns is None else [str(name) for name in columns]
        self.X = table.X
        if columns is not None and hasattr(machine, "fit") and array_will_do(machine, table.X):
            self.X = np.asarray(table.X, dtype=np.float64)  # which is checked sooner

    def scores(self, labels: np.ndarray) -> np.ndarray:
        if not hasattr(self.machine, "fit"):
            found = self.machine(self.X, labels, **self.extra)
        else:
            fitted = fit_to_the_end(clone(self.machine), self.X, labels, **self.extra)
            step = selecting_step(fitted)
            found = getattr(step, "scores_", None)
            if found is None:
                raise TypeError(
                    f"{type(step).__name__} has no scores_; use a filter, or a function of X and y "
                    "that returns a score for each feature."
                )
        values = np.asarray(found, dtype=np.float64)
        p = self.table.n_features
        if values.shape != (p,) or np.isnan(values).any():
            what = f"has shape {values.shape}" if values.shape != (p,) else "holds NaN"
            raise ValueError(f"score {what}; it needs a number for each of the {p} features.")
        return values

    def observe(self, labels: np.ndarray) -> None:
        """The scores of the labels as they are; equal sums in another order count as equal."""
        self.observed = self.scores(labels)
        self.order = np.argsort(-self.observed, kind="stable")
        high = self.observed[self.order]
        finite = np.where(np.isfinite(high), high, 0.0)
        self.bars = high - 1e-12 * np.abs(finite).max(initial=0.0)

    def count(self, batch: list[np.ndarray]) -> tuple[_Counts, int]:
        sums = _Counts.zeros(len(self.order))
        for labels in batch:
            scores = self.scores(labels)[self.order]
            highest = np.maximum.accumulate(scores[::-1])[::-1]
            as_high = len(scores) - np.searchsorted(np.sort(scores), self.bars)
            sums = sums.plus(_Counts(scores >= self.bars, highest >= self.bars, as_high))
        return sums, len(batch)

    def conclude(self, sums: _Counts, done: int, exact: bool) -> PermutedScores:
        p = len(self.order)
        own = np.searchsorted(-self.observed[self.order], -self.bars, side="right")
        rate = (sums.every + own) / (done + 1) / own
        rate = np.minimum(1.0, np.minimum.accumulate(rate[::-1])[::-1])
        maxt = np.maximum.accumulate((sums.maximum + 1) / (done + 1))
        back = np.empty(p, dtype=np.intp)
        back[self.order] = np.arange(p)
        return PermutedScores(
            scores=self.observed,
            pvalues=((sums.alone + 1) / (done + 1))[back],
            maxt=maxt[back],
            fdr=rate[back],
            n_permutations=done,
            exact=exact,
            names=names_for(self.names, p),
        )


@dataclass(repr=False)
class PermutedScores(TableResult):
    """Scores of features beside those that they get when the labels are shuffled.

    Attributes
    ----------
    scores : array of shape (n_features,)
        Scores of the labels as they are.
    pvalues : array of shape (n_features,)
        ``(1 + count) / (1 + n)`` with the number of shuffles in which the feature scores as high.
    maxt : array of shape (n_features,)
        p-values corrected by the step-down maximum of Westfall and Young: select those up to 0.05,
        and the chance that any of them is wrong is at most that.
    fdr : array of shape (n_features,)
        Estimated fraction of wrong features among all that score as high or higher.
    n_permutations : int
        Number of shuffles, those labels left out that are as given.
    exact : bool
        Whether these are all arrangements of the labels.
    names : list of str
        Names of the features.
    notes : dict
        What else there is to say.
    """

    scores: np.ndarray
    pvalues: np.ndarray
    maxt: np.ndarray
    fdr: np.ndarray
    n_permutations: int
    exact: bool
    names: list[str]
    notes: dict[str, Any] = field(default_factory=dict)

    @checked(method=one_of("maxt", "fdr_permutation", *CORRECTIONS))
    def adjusted(self, method: str = "maxt") -> np.ndarray:
        """p-values or rates that are corrected for the number of features.

        Parameters
        ----------
        method : str, default="maxt"
            "maxt" (attribute ``maxt``), "fdr_permutation" (attribute ``fdr``), or a method of
            :func:`adjust_pvalues`, which is applied to ``pvalues``.
        """
        known = {"maxt": self.maxt, "fdr_permutation": self.fdr}
        return known[method] if method in known else corrected(self.pvalues, method)

    @checked(level=check_level)
    def support(self, level: float = 0.05, method: str = "maxt") -> np.ndarray:
        """Which features have an adjusted value of at most ``level``.

        Parameters
        ----------
        level : float, default=0.05
            The rate that one can live with.
        method : str, default="maxt"
            As in :meth:`adjusted`.
        """
        return self.adjusted(method) <= level

    def __repr__(self) -> str:
        kind = "all" if self.exact else "shuffles"
        return (
            f"<PermutedScores: {counted(len(self.scores), 'feature')}, "
            f"{counted(self.n_permutations, 'permutation')} "
            f"({kind}), {int(self.support().sum())} with maxT ≤ 0.05>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, fit for JSON."""
        return json_ready(dict(vars(self)))

    def to_frame(self) -> pd.DataFrame:
        """One row for each feature, the highest score first."""
        order = np.argsort(-self.scores, kind="stable")
        return frames().DataFrame(
            {
                "name": [self.names[j] for j in order],
                "index": order,
                "score": self.scores[order],
                "pvalue": self.pvalues[order],
                "maxt": self.maxt[order],
                "fdr": self.fdr[order],
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw how the three values grow from the highest score to the lowest.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        ax = axes(ax)
        order = np.argsort(-self.scores, kind="stable")
        rank = np.arange(1, len(order) + 1)
        for values, colour, label in (
            (self.pvalues, PALETTE[0], "p-value of the feature alone"),
            (self.fdr, PALETTE[1], "false discovery rate (permutations)"),
            (self.maxt, PALETTE[2], "maxT, Westfall and Young"),
        ):
            ax.step(rank, values[order], where="mid", color=colour, label=label)
        ax.axhline(0.05, color="0.6", lw=1, ls="--")
        ax.set(xlabel="rank by score", ylabel="value", xscale="log", yscale="log")
        ax.legend(fontsize="small", frameon=False)
        return ax


# ---------------------------------------------------------------------------------- arrangements


def n_arrangements(labels: np.ndarray, blocks: list[np.ndarray]) -> int:
    """How many different arrangements the labels have, if they move within blocks only."""
    total = 1
    for block in blocks:
        counts = np.unique(labels[block], return_counts=True)[1]
        total *= math.factorial(len(block))
        for count in counts.tolist():
            total //= math.factorial(count)
        if total > 10**9:  # more than anybody goes through
            return total
    return total


def arrangements(labels: np.ndarray, blocks: list[np.ndarray]) -> Iterator[np.ndarray]:
    """All different arrangements of the labels within blocks."""
    if not blocks:
        yield labels.copy()
        return
    levels, counts = np.unique(labels[blocks[0]], return_counts=True)
    for own in _orders(counts.tolist()):
        for rest in arrangements(labels, blocks[1:]):
            rest[blocks[0]] = levels[own]
            yield rest


def _orders(counts: list[int]) -> Iterator[list[int]]:
    """All different sequences with so many of each number."""
    if not any(counts):
        yield []
        return
    for k, left in enumerate(counts):
        if left:
            for rest in _orders([n - (i == k) for i, n in enumerate(counts)]):
                yield [k, *rest]
