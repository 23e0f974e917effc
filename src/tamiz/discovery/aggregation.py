r"""Several rankings of the same features as one.

Each of ``n`` lists ranks ``p`` features; ``r`` is the rank of a feature in a list divided by ``p``.
Robust rank aggregation (Kolde and others) sorts the ``n`` numbers of a feature and asks how likely
the ``k``-th smallest is as small if lists rank at random:

.. math::

    \rho = \min_k F_k(r_{(k)}), \qquad F_k(x) = P(U_{(k)} \le x)
        = \sum_{l = k}^{n} \binom{n}{l} x^l (1 - x)^{n - l}

for the order statistics of ``n`` uniform numbers. A feature needs to be high in some lists only:
how many, the minimum decides. As a p-value ``ρ`` is too small, being the least of ``n``.
Bonferroni's ``n ρ`` corrects it and is too large, since the ``n`` numbers depend on each other; the
probability

.. math::

    P(\min_k F_k(U_{(k)}) \le ρ) = P(U_{(k)} \le b_k \text{ for some } k), \qquad F_k(b_k) = ρ

is exact. With ``N(x)`` of the ``n`` numbers up to ``x``, look for the last ``k`` with
``N(b_k) \ge k``: there ``N(b_k) = k``, and none follows. So the probability is
``\sum_k \binom{n}{k} b_k^k q_k``, where ``q_k`` says that the other ``n - k`` numbers are all above
``b_k`` and cross no later boundary:
``q_k = (1 - b_k)^{n - k} - \sum_{l > k} \binom{n - k}{l - k} (b_l - b_k)^{l - k} q_l``.

Features of equal rank all get the last of their places, and features that a list leaves out the
last place of all, so that ties make p-values larger and never smaller.

References
----------
.. [1] R. Kolde, S. Laur, P. Adler, J. Vilo (2012). Robust rank aggregation for gene list
       integration and meta-analysis. Bioinformatics 28.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from scipy.special import betainc, betaincinv, comb
from scipy.stats import rankdata

from tamiz.base import Selection, json_ready, order_by
from tamiz.display import INK, TableResult, axes, colours, counted, frames
from tamiz.filters.univariate.corrections import corrected as corrected_for
from tamiz.validation import checked, integer_from, one_of, refused

if TYPE_CHECKING:
    import pandas as pd

_MOST_LISTS = 200  # of which the exact probability is computed in float64


@dataclass
class RankAggregation(TableResult):
    """What several rankings say together.

    Attributes
    ----------
    order : array of shape (n_features,)
        All features, best first, by the method that was asked for.
    mean_ranks : array of shape (n_features,)
        Mean rank over the lists; features of equal rank share the mean of their places.
    borda : array of shape (n_features,)
        Borda's count: how many features each is ahead of, on average over the lists. Half a feature
        for one of equal rank.
    rho : array of shape (n_features,)
        Score of robust rank aggregation; small for features that enough lists have at their top.
    pvalues : array of shape (n_features,)
        Probability of a ``rho`` as small for a feature that independent lists rank at random.
    corrected : array of shape (n_features,)
        ``pvalues`` corrected for the number of features, by Holm's method: the chance that any
        feature has a value of at most ``a`` by chance is at most ``a``. For other corrections see
        :func:`adjust_pvalues`.
    bounds : array of shape (n_features,)
        ``rho`` times the number of lists, at most 1: Bonferroni's bound of ``pvalues``. It has
        nothing to do with the number of features.
    ranks : array of shape (n_lists, n_features)
        The ranks, from 1; the last place for features of equal rank.
    lists : list of str
        Names of the lists, or of the families.
    names : list of str
        Names of the features.
    """

    order: np.ndarray
    mean_ranks: np.ndarray
    borda: np.ndarray
    rho: np.ndarray
    pvalues: np.ndarray
    corrected: np.ndarray
    bounds: np.ndarray
    ranks: np.ndarray
    lists: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        first = ", ".join(self.names[j] for j in self.order[:3])
        return (
            f"<RankAggregation: {counted(len(self.lists), 'ranking')} of "
            f"{counted(len(self.order), 'feature')}; "
            f"first {first}>"
        )

    @checked(top=integer_from(1))
    def plot(self, top: int = 20, ax: Any = None) -> Any:
        """Draw the ranks that the first features have in each list, and their means.

        Parameters
        ----------
        top : int, default=20
            How many features.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        first = self.order[:top][::-1]
        place = np.arange(len(first))
        ax = axes(ax, height=max(2.5, 1.2 + 0.24 * len(first)))
        tones = colours(len(self.lists))
        for ranks, tone, name in zip(self.ranks, tones, self.lists, strict=True):
            ax.plot(ranks[first], place, "o", color=tone, alpha=0.7, ms=4, label=name)
        ax.plot(self.mean_ranks[first], place, "|", color=INK, ms=12, mew=2, label="mean")
        ax.set_yticks(place, [self.names[j] for j in first])
        ax.set(xlabel="rank", xscale="log")
        ax.legend(frameon=False, fontsize="small")
        return ax

    @checked(top=integer_from(1))
    def agreed(self, top: int) -> np.ndarray:
        """Features that every list has among its first ones, in the order of the aggregation.

        Parameters
        ----------
        top : int
            How many features of each list count as its first.

        Returns
        -------
        array of int
            Their positions. Of lists that rank at random and independently, ``p (top/p)^n``
            features are expected here.
        """
        return self.order[self.ranks.max(axis=0)[self.order] <= top]

    def to_frame(self) -> pd.DataFrame:
        """One row for each feature, best first; its rank in a list is the column "rank in LIST"."""
        order = self.order
        return frames().DataFrame(
            {
                "name": [self.names[j] for j in order],
                "index": order,
                "pvalue": self.pvalues[order],
                "corrected": self.corrected[order],
                "mean rank": self.mean_ranks[order],
                **{f"rank in {name}": self.ranks[k, order] for k, name in enumerate(self.lists)},
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, features in their order."""
        order = self.order
        return json_ready(
            {
                "lists": self.lists,
                "features": [self.names[j] for j in order],
                "rho": self.rho[order],
                "pvalues": self.pvalues[order],
                "corrected": self.corrected[order],
                "mean_ranks": self.mean_ranks[order],
                "borda": self.borda[order],
            }
        )


@checked(method=one_of("robust", "mean"))
def aggregate_rankings(
    rankings: Any, *, families: Any = None, names: Any = None, method: str = "robust"
) -> RankAggregation:
    """Make one ranking of several.

    The probabilities hold for lists that are independent. Rankings of the same rows by several
    methods are not: chance features of these rows are at the top of all of them. They are an order
    then, and no evidence. :class:`StabilitySelection` and :class:`Knockoffs` give evidence.

    Parameters
    ----------
    rankings : dict or sequence of rankings, or array or data frame of shape (n_lists, n_features)
        Each a fitted selector, a :class:`tamiz.Selection`, or the ranks of all features: 1 for the
        best, equal numbers for equals, NaN for features that the list does not hold. Keys of a dict
        name the lists. The rows of a data frame are the lists, named by its index if that has
        names, and its columns the features.
    families : dict or array-like of str, optional
        The family of each list: by its name, or in the order of the lists. Lists of one family
        become one list by their mean ranks, so that five filters have one vote, as one wrapper has.
    names : list of str, optional
        Names of the features; those of the first selection by default.
    method : {"robust", "mean"}, default="robust"
        What orders the features: the score of robust rank aggregation, with ties by the mean rank,
        or the mean rank (Borda's count, the other way round).

    Returns
    -------
    RankAggregation

    References
    ----------
    .. [1] R. Kolde, S. Laur, P. Adler, J. Vilo (2012). Robust rank aggregation for gene list
           integration and meta-analysis. Bioinformatics 28.

    Examples
    --------
    >>> from tamiz.discovery import aggregate_rankings
    >>> lists = {"Lima": [1, 2, 3, 4, 5], "Quito": [2, 1, 5, 3, 4], "Cusco": [1, 4, 3, 2, 5]}
    >>> found = aggregate_rankings(lists, names=["a", "b", "c", "d", "e"])
    >>> [found.names[j] for j in found.order], found.pvalues[:2].round(3).tolist()
    (['a', 'b', 'd', 'c', 'e'], [0.15, 0.601])
    >>> [found.names[j] for j in found.agreed(2)]
    ['a']
    """
    lists, table, known = _tables(rankings)
    names = list(known if names is None else names)
    if len(names) != table.shape[1]:
        raise ValueError(f"names has {len(names)} entries for {table.shape[1]} features.")
    if families is not None:
        lists, table = _by_family(lists, table, families)
    middle = rankdata(table, method="average", axis=1)
    ranks = rankdata(table, method="max", axis=1).astype(np.int64)
    mean_ranks = middle.mean(axis=0)
    rho = robust_scores(ranks / table.shape[1])
    pvalues = exact_pvalues(rho, len(ranks))
    return RankAggregation(
        order=order_by(-rho, -mean_ranks) if method == "robust" else order_by(-mean_ranks),
        mean_ranks=mean_ranks,
        borda=table.shape[1] - mean_ranks,
        rho=rho,
        pvalues=pvalues,
        corrected=corrected_for(pvalues, "holm"),
        bounds=np.minimum(1.0, rho * len(ranks)),
        ranks=ranks,
        lists=lists,
        names=[str(name) for name in names],
    )


def robust_scores(fractions: np.ndarray) -> np.ndarray:
    """The least probability of the order statistics of each column.

    Parameters
    ----------
    fractions : array of shape (n_lists, n_features)
        Ranks, divided by the number of features.
    """
    ascending = np.sort(fractions, axis=0)
    k = np.arange(1, len(ascending) + 1)[:, None]
    return betainc(k, len(ascending) - k + 1, ascending).min(axis=0)


def exact_pvalues(rho: np.ndarray, n_lists: int) -> np.ndarray:
    """Probability of a score of robust rank aggregation as small, of independent random lists.

    Parameters
    ----------
    rho : array
        Scores.
    n_lists : int
        Number of lists. For more than 200 Bonferroni's bound is returned.
    """
    n, level = n_lists, np.clip(np.asarray(rho, dtype=np.float64), 0.0, 1.0)
    if n > _MOST_LISTS:
        return np.minimum(1.0, n * level)
    k = np.arange(1, n + 1)[:, None]
    bounds = betaincinv(k, n - k + 1, level[None, :])  # b_1 ≤ … ≤ b_n
    later = np.empty_like(bounds)  # q_k
    total = np.zeros_like(level)
    for place in range(n, 0, -1):
        b = bounds[place - 1]
        after = np.arange(place + 1, n + 1)
        ways = comb(n - place, after - place)[:, None]
        crossed = ways * (bounds[place:] - b) ** (after - place)[:, None] * later[place:]
        later[place - 1] = np.maximum((1.0 - b) ** (n - place) - crossed.sum(axis=0), 0.0)
        total += comb(n, place) * b**place * later[place - 1]
    most = np.minimum(1.0, n * level)  # also where a probability is too small for the inverse
    return np.clip(np.where(np.isfinite(total), total, most), level, most)


def _tables(rankings: Any) -> tuple[list[str], np.ndarray, list[str]]:
    """Names of the lists, ranks as floats (infinite for what a list leaves out), feature names."""
    if nw.dependencies.is_into_dataframe(rankings):
        return _frame_tables(rankings)
    named = isinstance(rankings, Mapping)
    try:
        given = list(rankings.values() if named else rankings)
    except TypeError:
        given = []
    if not given:
        raise refused("rankings", rankings, "holds no ranking; give a dict or list of rankings.")
    lists = [str(name) for name in rankings] if named else [str(k + 1) for k in range(len(given))]
    _refuse_equal_names(lists)
    known: list[str] | None = None
    rows = []
    for name, one in zip(lists, given, strict=True):
        found = getattr(one, "selection_", one)
        if isinstance(found, Selection):
            if known is not None and found.names != known:
                raise ValueError(_other_features(name, found.names, known))
            known = found.names
            rows.append(found.ranking.astype(np.float64))
        else:
            rows.append(_ranks(name, one))
        if len(rows[-1]) != len(rows[0]):
            raise ValueError(
                f"the ranking {name!r} has {len(rows[-1])} features, the first one {len(rows[0])}."
            )
    return lists, np.array(rows), known or [f"x{j}" for j in range(len(rows[0]))]


def _other_features(name: str, own: list[str], first: list[str]) -> str:
    """How the features of a ranking differ from those of the first one."""
    lead = f"the ranking {name!r} is of other features than the first one:"
    if sorted(own) == sorted(first):
        j = next(j for j, (a, b) in enumerate(zip(own, first, strict=True)) if a != b)
        return f"{lead} they are the same in another order, {own[j]!r} in place of {first[j]!r}."
    sides = [f"{counted(len(own), 'feature')}, and not {len(first)}"] * (len(own) != len(first))
    for what, some, others in (("lacks", first, own), ("adds", own, first)):
        missing = [one for one in some if one not in set(others)]
        more = f" and {len(missing) - 3} more" if missing[3:] else ""
        if missing:
            sides.append(f"it {what} {', '.join(map(repr, missing[:3]))}{more}")
    return f"{lead} {'; '.join(sides)}. Rank all features by each method."


def _frame_tables(frame: Any) -> tuple[list[str], np.ndarray, list[str]]:
    """The same of a data frame: lists in rows, features in columns."""
    table = nw.from_native(frame, eager_only=True)
    if not len(table) or not table.columns:
        raise refused("rankings", frame, "holds no ranking; give one row for each list.")
    index = [str(label) for label in getattr(frame, "index", range(len(table)))]
    counted = index == [str(k) for k in range(len(table))]
    lists = [str(k + 1) for k in range(len(table))] if counted else index
    _refuse_equal_names(lists)
    rows = [_ranks(name, row) for name, row in zip(lists, table.rows(), strict=True)]
    return lists, np.array(rows), [str(column) for column in table.columns]


def _refuse_equal_names(lists: list[str]) -> None:
    twice = next((name for name in lists if lists.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"two rankings have the name {twice!r}; give each a name of its own.")


def _ranks(name: str, values: Any) -> np.ndarray:
    try:
        row = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.zeros(0)
    if row.ndim != 1 or not len(row):
        raise ValueError(
            f"the ranking {name!r} is neither a fitted selector nor a Selection nor ranks of all "
            "features, 1 for the best."
        )
    row[np.isnan(row)] = np.inf
    if row.min() < 1:
        raise ValueError(f"the ranking {name!r} has the rank {row.min():g}; the best one is 1.")
    return row


def _by_family(lists: list[str], table: np.ndarray, families: Any) -> tuple[list[str], np.ndarray]:
    """One row for each family: the mean ranks of its lists."""
    if isinstance(families, Mapping):
        missing = [name for name in lists if name not in families]
        if missing:
            raise ValueError(f"families says nothing of the ranking {missing[0]!r}.")
        labels = [str(families[name]) for name in lists]
    else:
        listed = isinstance(families, Iterable) and not isinstance(families, (str, bytes))
        labels = [str(one) for one in families] if listed else []
    if len(labels) != len(lists):
        raise refused("families", families, f"must name the family of each of {len(lists)} lists.")
    middle = rankdata(table, method="average", axis=1)
    found = list(dict.fromkeys(labels))
    which = np.array(labels)
    return found, np.array([middle[which == label].mean(axis=0) for label in found])
