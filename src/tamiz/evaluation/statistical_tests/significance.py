"""Is the difference between methods more than chance?

Three situations, three families of tests:

* one data set, results of resamples of it (rows are folds or splits): Nadeau and Bengio's corrected
  t-test, which knows that the training parts overlap;
* two methods on many data sets (rows are data sets): Wilcoxon's signed ranks;
* more methods on many data sets: Friedman's test, then Nemenyi's critical difference or Holm's
  steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats

from tamiz.base import json_ready
from tamiz.display import TableResult, between, frames, number, pvalue_text
from tamiz.evaluation.inference import (
    UNKNOWN,
    Interval,
    PairedTest,
    corrected_t,
    friedman,
    holm,
    nemenyi_pvalues,
    nemenyi_quantile,
    pairs_of,
    rank_error,
    ranked,
    wilcoxon,
)
from tamiz.validation import (
    check_control,
    check_errors,
    check_fraction,
    check_level,
    checked,
    integer_from,
    one_of,
    optional,
    real_number,
)

if TYPE_CHECKING:
    import pandas as pd


@checked(
    alpha=check_level,
    test=one_of("auto", "corrected_t", "wilcoxon", "friedman"),
    posthoc=one_of("nemenyi", "holm", None),
    test_fraction=optional(real_number(least=0, hint=", n_test / n_train")),
    n_train=optional(integer_from(1)),
    n_test=optional(integer_from(1)),
)
def significance(
    errors: Any,
    *,
    names: Any = None,
    test: str = "auto",
    posthoc: str | None = None,
    control: Any = None,
    test_fraction: float | None = None,
    n_train: int | None = None,
    n_test: int | None = None,
    alpha: float = 0.05,
    higher_is_better: bool = False,
    correct_ties: bool = True,
) -> Significance:
    """Test whether methods differ by more than chance.

    Parameters
    ----------
    errors : array of shape (n_runs, n_methods) or data frame
        One column for each method, one row for each run: the same folds, splits or data sets for
        all methods.
    names : list of str, optional
        Names of the methods; those of the columns by default.
    test : {"auto", "corrected_t", "wilcoxon", "friedman"}, default="auto"
        ``"corrected_t"`` if rows are resamples of one data set, the others if rows are data sets.
        ``"auto"``: the corrected t-test if ``test_fraction`` (or ``n_train`` and ``n_test``) is
        given, else Friedman's test for three methods or more. Two methods without it are refused,
        since it is not known what the rows are.
    posthoc : {"nemenyi", "holm"}, optional
        How pairs are judged. After Friedman's test Nemenyi by default, Holm if there is a control;
        Holm for several corrected t-tests.
    control : str or int, optional
        Compare all methods with this one only.
    test_fraction : float, optional
        ``n_test / n_train``: 1/9 for ten folds, 1/2 for a third held out. 0 is the plain paired
        t-test, which finds too many differences among resamples.
    n_train, n_test : int, optional
        The numbers that make ``test_fraction``.
    alpha : float, default=0.05
        Level of the tests. Intervals have the confidence ``1 - alpha``: after Nemenyi all of them
        together, else each for itself, so that one may leave out zero where Holm finds nothing.
    higher_is_better : bool, default=False
        Whether ``errors`` holds scores such as accuracies.
    correct_ties : bool, default=True
        Whether Friedman's statistic makes up for ties.

    Returns
    -------
    Significance

    See Also
    --------
    critical_difference_diagram : The picture.
    permutation_test : Whether one method has learnt anything.

    References
    ----------
    Nadeau, Bengio: Inference for the generalization error. Machine Learning 52 (2003).

    Demšar: Statistical comparisons of classifiers over multiple data sets. Journal of Machine
    Learning Research 7 (2006).

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.evaluation import significance
    >>> rng = np.random.default_rng(0)
    >>> errors = rng.normal([0.10, 0.10, 0.15], 0.02, size=(20, 3))
    >>> found = significance(errors, names=["a", "b", "c"])
    >>> found.significant, found.groups
    (True, [['a', 'b']])
    """
    table, named = check_errors(errors, names)
    fraction = check_fraction(test_fraction, n_train, n_test)
    question = _Question(
        table=-table if higher_is_better else table,
        names=named,
        alpha=alpha,
        fraction=fraction,
        control=check_control(control, named),
        posthoc=posthoc,
        correct_ties=bool(correct_ties),
    )
    answer = _TESTS[_choose(question) if test == "auto" else test](question)
    if higher_is_better:
        _turn(answer)
    return answer


class _Question(NamedTuple):
    """What is asked, checked; lower is better."""

    table: np.ndarray
    names: list[str]
    alpha: float
    fraction: float | None
    control: int | None
    posthoc: str | None
    correct_ties: bool

    def answer(self, test: str, statistic: float, pvalue: float, pairs: list[Pair], **more: Any):
        return Significance(
            test=test,
            names=self.names,
            n_runs=len(self.table),
            alpha=self.alpha,
            statistic=statistic,
            pvalue=pvalue,
            means=self.table.mean(axis=0),
            ranks=ranked(self.table).mean(axis=0),
            pairs=pairs,
            control=None if self.control is None else self.names[self.control],
            **more,
        )


def _choose(question: _Question) -> str:
    if question.fraction is not None:
        return "corrected_t"
    if len(question.names) > 2:
        return "friedman"
    raise ValueError(
        "test='auto' cannot tell what the rows of two methods are. If they are folds or splits of "
        "one data set, give test_fraction=n_test/n_train (1/9 for ten folds); if they are data "
        "sets, use test='wilcoxon'."
    )


def _corrected_t(question: _Question) -> Significance:
    fraction = question.fraction
    if fraction is None:
        raise ValueError(
            "test='corrected_t' needs test_fraction=n_test/n_train (1/9 for ten folds), or n_train "
            "and n_test."
        )
    if question.posthoc == "nemenyi":
        raise ValueError("posthoc='nemenyi' goes with test='friedman'; use 'holm' here.")

    def test(d: np.ndarray) -> PairedTest:
        return corrected_t(d, fraction, 1 - question.alpha)

    return _by_pairs(question, "corrected t", test, {"test_fraction": fraction})


def _wilcoxon(question: _Question) -> Significance:
    if question.posthoc == "nemenyi":
        raise ValueError("posthoc='nemenyi' goes with test='friedman'; use 'holm' here.")
    return _by_pairs(question, "Wilcoxon", lambda d: wilcoxon(d, 1 - question.alpha), {})


def _by_pairs(
    question: _Question,
    name: str,
    test: Callable[[np.ndarray], PairedTest],
    details: dict[str, Any],
) -> Significance:
    """A test for each pair, Holm if there are several."""
    chosen = pairs_of(len(question.names), question.control)
    tests = [test(_difference(question.table[:, i], question.table[:, j])) for i, j in chosen]
    adjusted = holm(np.array([found.pvalue for found in tests]))
    pairs = [
        Pair(
            question.names[i],
            question.names[j],
            found.difference,
            found.interval,
            found.statistic,
            found.pvalue,
            float(p),
            bool(p <= question.alpha),
        )
        for (i, j), found, p in zip(chosen, tests, adjusted, strict=True)
    ]
    first = int(np.argmin(adjusted))
    return question.answer(
        name,
        tests[first].statistic,
        float(adjusted[first]),
        pairs,
        posthoc="holm" if len(pairs) > 1 else None,
        details={**details, "df": tests[first].df},
    )


def _difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a - b``, zero where they differ by rounding only."""
    d = a - b
    d[np.abs(d) <= 1e-12 * np.maximum(np.abs(a), np.abs(b))] = 0.0
    return d


def _friedman(question: _Question) -> Significance:
    N, k = question.table.shape
    if k < 3:
        raise ValueError("test='friedman' needs three methods or more; for two use 'wilcoxon'.")
    ranks = ranked(question.table)
    found = friedman(ranks, question.correct_ties)
    posthoc = question.posthoc or ("nemenyi" if question.control is None else "holm")
    if posthoc == "nemenyi" and question.control is not None:
        raise ValueError(
            "posthoc='nemenyi' compares all pairs; leave control out, or use posthoc='holm'."
        )
    chosen = pairs_of(k, question.control)
    mean = ranks.mean(axis=0)
    difference = np.array([mean[i] - mean[j] for i, j in chosen])
    z = difference / rank_error(k, N)
    single = 2 * stats.norm.sf(np.abs(z))
    nemenyi = posthoc == "nemenyi"
    adjusted = nemenyi_pvalues(z, k) if nemenyi else holm(single)
    critical = critical_difference(k, N, question.alpha) if nemenyi else None
    spans: list[Interval] = [UNKNOWN] * len(chosen)
    if critical is not None:
        spans = [(float(d) - critical, float(d) + critical) for d in difference]
    pairs = [
        Pair(
            question.names[i],
            question.names[j],
            float(difference[m]),
            spans[m],
            float(z[m]),
            float(single[m]),
            float(adjusted[m]),
            bool(adjusted[m] <= question.alpha),
        )
        for m, (i, j) in enumerate(chosen)
    ]
    reason = None
    if math.isnan(found.chi_square):
        reason = "All methods are tied in every row: there is nothing to tell them apart."
    return question.answer(
        "Friedman",
        found.F,
        found.pvalue,
        pairs,
        posthoc=posthoc,
        critical_difference=critical,
        details={
            "chi_square": found.chi_square,
            "chi_square_pvalue": found.chi_square_pvalue,
            "df": found.df,
            "F": found.F,
            "F_df": found.F_df,
        },
        reason=reason,
    )


_TESTS: dict[str, Callable[[_Question], Significance]] = {
    "corrected_t": _corrected_t,
    "wilcoxon": _wilcoxon,
    "friedman": _friedman,
}


@checked(n_methods=integer_from(2), n_runs=integer_from(1), alpha=check_level)
def critical_difference(n_methods: int, n_runs: int, alpha: float = 0.05) -> float:
    """Nemenyi's difference of mean ranks from which on two methods differ.

    ``q sqrt(k (k + 1) / (6 N))`` with the quantile ``q`` of the studentised range divided by √2.

    Parameters
    ----------
    n_methods : int
        Number of methods, k.
    n_runs : int
        Number of data sets, N.
    alpha : float, default=0.05
        Level for all pairs together.

    Examples
    --------
    >>> from tamiz.evaluation import critical_difference
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    return nemenyi_quantile(alpha, n_methods) * rank_error(n_methods, n_runs)


def _turn(answer: Significance) -> None:
    """Back to scores: means and differences of scores, not of their negatives."""
    answer.means = -answer.means
    if answer.test != "Friedman":  # whose differences are of ranks
        answer.statistic = -answer.statistic if answer.test != "Wilcoxon" else answer.statistic
        answer.pairs = [
            pair._replace(
                difference=-pair.difference,
                interval=(-pair.interval[1], -pair.interval[0]),
                statistic=pair.statistic if answer.test == "Wilcoxon" else -pair.statistic,
            )
            for pair in answer.pairs
        ]


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
class Significance(TableResult):
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
        return json_ready(
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
