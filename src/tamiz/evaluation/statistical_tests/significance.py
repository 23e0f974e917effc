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
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from tamiz.evaluation.intervals import UNKNOWN, Interval, check_count, check_level
from tamiz.evaluation.statistical_tests.input import (
    check_control,
    check_errors,
    check_fraction,
    check_name,
)
from tamiz.evaluation.statistical_tests.paired_tests import (
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
from tamiz.evaluation.statistical_tests.result import Pair, Significance


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
        since nothing tells what the rows are.
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
    alpha = check_level("alpha", alpha)
    fraction = check_fraction(test_fraction, n_train, n_test)
    question = _Question(
        table=-table if higher_is_better else table,
        names=named,
        alpha=alpha,
        fraction=fraction,
        control=check_control(control, named),
        posthoc=check_name("posthoc", posthoc, ("nemenyi", "holm"))
        if posthoc is not None
        else None,
        correct_ties=bool(correct_ties),
    )
    chosen = check_name("test", test, ("auto", *_TESTS))
    answer = _TESTS[_choose(question) if chosen == "auto" else chosen](question)
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
    """``a - b``, zero where only rounding tells them apart."""
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
    k = check_count("n_methods", n_methods, 2)
    N = check_count("n_runs", n_runs, 1)
    return nemenyi_quantile(check_level("alpha", alpha), k) * rank_error(k, N)


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
