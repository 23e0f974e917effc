r"""Which method, judge and number of features to use: all of them compete.

A *triple* is a method, a judge and a number of features. All triples of a comparison are judged in
the same splits, so that differences are paired. With :math:`d_k` the difference of two triples in
split k of J, the standard error of the mean difference is corrected for training parts that overlap
(Nadeau, Bengio):

.. math::

    \mathrm{se}^2 = \Bigl(\frac1J + \frac{n_{test}}{n_{train}}\Bigr) s_d^2

Two answers follow. The *most accurate* triple has the least mean error; of several whose errors
differ by less than half a point it is the one with most features (a number that the method itself
decides on, such as that of all features, comes last). The *smallest* has the fewest features among
those that are not worse than the most accurate one by more than one such error, and by no more than
1.5 points or one sample: in a small table one standard error may be five points, which nobody would
give away. Of several with the fewest features, whose errors differ by less than half a point, it is
the one whose selections agree most.

The least of some hundred means is often low by luck. Two things are therefore done to the means
before anything is chosen (:func:`smoothed`). Along the numbers of features of one method and judge,
a mean is replaced by the median of itself and its two neighbours, which takes out single dips and
keeps steps. And the best method before a judge, with a number of features, is believed only as far
as the second best, unless it is clearly better: by more than the half-width of the 95 % interval of
the difference, which is then added to its mean. Luck strikes one, what is real shows in two, or
clearly (one method may be the only to see features that tell together). Standard errors of
differences are those of the errors as they are.

The error of the best of many triples is too good to be true. The honest error of the procedure is
that of choosing inside every training part, by the inner cross-validation there, and looking at the
test part once with what was chosen.

References
----------
.. [1] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats

from tamiz.base import corrected_error
from tamiz.evaluation.inference import MeanInterval, corrected_interval

if TYPE_CHECKING:
    from tamiz.evaluation.comparison.result import Comparison


SMALLEST, MOST_ACCURATE = "smallest", "most accurate"
_TIE = 1e-12
_HALF_POINT = 0.005
#: No more than this is given away for fewer features, where errors lie between 0 and 1.
POINTS = 0.015


class Triple(NamedTuple):
    """A method, a judge, and a number of features; "own" if the method itself decides on it."""

    method: str
    judge: str
    size: int
    own: bool = False


class Choice(NamedTuple):
    """Which of several triples to take, by their places."""

    best: int  # least mean error
    smallest: int  # fewest features, not worse by more than one standard error
    means: np.ndarray
    differences: np.ndarray  # from the best: mean, and corrected standard error
    errors_of_difference: np.ndarray
    near: np.ndarray  # which are not worse by more than one standard error
    equal: np.ndarray  # which of these are not worse by more than the limit either


def smoothed(errors: np.ndarray, triples: Sequence[Triple], ratio: float) -> np.ndarray:
    """Mean errors without the luck of single triples.

    Parameters
    ----------
    errors : array of shape (n_splits, n_triples)
        Errors in the same splits, all finite.
    triples : sequence of Triple
        What they are of.
    ratio : float
        Test samples for each training sample.

    Examples
    --------
    >>> curve = [Triple("fisher", "linear", size) for size in (1, 2, 3, 5, 8)]
    >>> smoothed(np.array([[0.40, 0.20, 0.20, 0.12, 0.20]]), curve, 0.25).tolist()
    [0.4, 0.2, 0.2, 0.2, 0.2]
    """
    means = errors.mean(axis=0)
    found = means.copy()
    curves: dict[tuple[str, str], list[int]] = {}
    rows: dict[tuple[str, int], list[int]] = {}
    for t, triple in enumerate(triples):
        if not triple.own:
            curves.setdefault((triple.method, triple.judge), []).append(t)
        rows.setdefault((triple.judge, triple.size), []).append(t)
    for curve in curves.values():
        curve.sort(key=lambda t: triples[t].size)
        values = means[curve]
        for k in range(1, len(curve) - 1):
            found[curve[k]] = np.median(values[k - 1 : k + 2])
        if len(curve) > 1:  # nothing stands behind the last: a dip there is believed half-way
            found[curve[-1]] = max(values[-1], 0.5 * (values[-1] + values[-2]))
    for row in rows.values():
        first = min(row, key=lambda t: found[t])
        others = [t for t in row if triples[t].method != triples[first].method]
        if not others:
            continue
        second = min(others, key=lambda t: found[t])
        for t in row:
            if triples[t].method == triples[first].method:
                doubt = _doubt(errors[:, second] - errors[:, t], ratio)
                clear = means[second] - means[t] > doubt
                believed = min(found[second], found[t] + doubt) if clear else found[second]
                found[t] = max(found[t], believed)
    return found


def _doubt(differences: np.ndarray, ratio: float) -> float:
    """Half the width of the 95 % interval of the mean difference; one split knows nothing."""
    if len(differences) < 2:
        return np.inf
    quantile = stats.t.ppf(0.975, len(differences) - 1)
    return float(quantile * corrected_error(differences, ratio))


def choose(
    errors: np.ndarray,
    sizes: np.ndarray,
    ratio: float,
    *,
    means: np.ndarray | None = None,
    limit: float = np.inf,
    recurrence: np.ndarray | None = None,
    last: np.ndarray | None = None,
) -> Choice:
    """Choose among triples.

    Parameters
    ----------
    errors : array of shape (n_splits, n_triples)
        Errors in the same splits, all finite.
    sizes : array of shape (n_triples,)
        Numbers of features.
    ratio : float
        Test samples for each training sample.
    means : array of shape (n_triples,), optional
        The means that decide; those of the errors by default.
    limit : float, optional
        No triple that is worse than the best by more than this is taken.
    recurrence : array of shape (n_triples,), optional
        How much the features come back: breaks ties.
    last : boolean array of shape (n_triples,), optional
        Which triples lose ties for the least error.

    Examples
    --------
    >>> import numpy as np
    >>> errors = np.array([[0.30, 0.11, 0.10], [0.32, 0.10, 0.10], [0.28, 0.09, 0.10]])
    >>> found = choose(errors + [0, 0.004, 0], np.array([1, 3, 20]), 0.5)
    >>> found.best, found.smallest
    (2, 1)
    """
    if means is None:
        means = errors.mean(axis=0)
    recurring = np.zeros(len(means)) if recurrence is None else np.nan_to_num(recurrence, nan=-1.0)
    least = means.min()
    tied = means <= least + _TIE * (1.0 + abs(least))
    plain = errors.mean(axis=0)
    tied &= plain <= plain[tied].min() + _HALF_POINT
    behind = np.zeros(len(means), dtype=bool) if last is None else last
    best = int(np.lexsort((-recurring, plain, -np.asarray(sizes), behind, ~tied))[0])
    difference = means - means[best]
    error = corrected_error(errors - errors[:, [best]], ratio)
    if len(errors) < 2:  # one split knows no standard error
        error = np.full(len(means), np.inf)
    near = difference <= error + _TIE
    near[best] = True
    equal = near & (difference <= limit + _TIE)
    fewest = equal & (np.asarray(sizes) == np.asarray(sizes)[equal].min())
    alike = fewest & (means <= means[fewest].min() + (_HALF_POINT if np.isfinite(limit) else _TIE))
    smallest = int(np.lexsort((np.round(means, 12), -recurring, ~alike))[0])
    return Choice(best, smallest, means, difference, error, near, equal)


@dataclass
class Contest:
    """All triples of a comparison, in the splits that all of them have.

    Attributes
    ----------
    triples : list of Triple
        What competes.
    places : int array of shape (n_triples, 3)
        Their places in the arrays of the comparison: method, judge, and size (-1: own).
    splits : int array
        The splits that are used.
    errors : array of shape (n_splits, n_triples)
        Honest errors.
    inner : array of shape (n_splits, n_inner, n_triples)
        Errors of the inner cross-validations.
    split_sizes : array of shape (n_splits, n_triples)
        Numbers of features in each split, which vary where the method decides.
    choice : Choice
        What the errors of all splits choose.
    """

    comparison: Comparison
    triples: list[Triple]
    places: np.ndarray
    splits: np.ndarray
    errors: np.ndarray
    inner: np.ndarray
    split_sizes: np.ndarray
    choice: Choice

    @classmethod
    def of(
        cls,
        found: Comparison,
        methods: Sequence[str] | None = None,
        recurrence: Any = None,
    ) -> Contest | None:
        """The contest of a comparison; None if no split was finished.

        Parameters
        ----------
        found : Comparison
            With an inner cross-validation.
        methods : list of str, optional
            Who takes part; all by default.
        recurrence : callable, optional
            Called with a triple: how much its features come back.
        """
        places, triples, columns, inner, sizes = [], [], [], [], []
        for m, method in enumerate(found.methods):
            if methods is not None and method not in methods:
                continue
            for j, judge in enumerate(found.judges):
                for c, size in enumerate([*found.sizes.tolist(), None]):
                    errors = found.own_errors[m, j] if size is None else found.errors[m, j, :, c]
                    if not np.isfinite(errors).any():
                        continue
                    own = found.own_sizes[m]
                    by_split = own if size is None else np.full(len(errors), float(size))
                    whole = found.whole_own_sizes[m]
                    if size is None:
                        median = np.nanmedian(own)
                        size = round(float(whole if np.isfinite(whole) else median))
                    places.append((m, j, c if by_split is not own else -1))
                    triples.append(Triple(method, judge, size, by_split is own))
                    columns.append(errors)
                    inner.append(found.inner_errors[m, j, :, :, c])
                    sizes.append(by_split)
        if not triples:
            return None
        errors, insides = np.array(columns).T, np.array(inner).transpose(1, 2, 0)
        done = np.isfinite(errors)
        kept = done.sum(axis=0) == done.sum(axis=0).max()  # a method that failed somewhere is out
        splits = np.flatnonzero(done[:, kept].all(axis=1))
        if not len(splits):
            return None
        kept &= done[splits].all(axis=0)
        which = np.flatnonzero(kept)
        chosen = [triples[t] for t in which]
        recurring = None
        if recurrence is not None:
            recurring = np.array([recurrence(triple) for triple in chosen], dtype=np.float64)
        contest = cls(
            found,
            chosen,
            np.array(places)[which],
            splits,
            errors[np.ix_(splits, which)],
            insides[splits][:, :, which],
            np.array(sizes).T[np.ix_(splits, which)],
            None,  # type: ignore[arg-type]
        )
        contest.choice = choose(
            contest.errors,
            np.array([triple.size for triple in chosen]),
            contest.ratio,
            means=smoothed(contest.errors, chosen, contest.ratio),
            limit=contest.limit,
            recurrence=recurring,
            last=np.array([triple.own for triple in chosen]),
        )
        return contest

    @property
    def ratio(self) -> float:
        """Test samples for each training sample."""
        found = self.comparison
        return float(np.mean(found.n_test[self.splits] / found.n_train[self.splits]))

    @property
    def limit(self) -> float:
        """The most that is given away for fewer features: 1.5 points, or one sample."""
        one = 1.01 / self.comparison.n_samples
        return max(POINTS, one) if self.comparison.error_is_rate else np.inf

    def nested(self, answer: str) -> Nested:
        """The error of choosing inside every training part.

        Parameters
        ----------
        answer : {"smallest", "most accurate"}
            Which answer is chosen there.
        """
        chosen = np.full(len(self.splits), -1)
        errors = np.full(len(self.splits), np.nan)
        for k in range(len(self.splits)):
            table = self.inner[k]
            rows = np.isfinite(table).any(axis=1)
            usable = np.isfinite(table[rows]).all(axis=0)
            if not usable.any() or not rows.any():
                continue
            which = np.flatnonzero(usable)
            table = table[rows][:, which]
            sizes = self.split_sizes[k, which]  # own numbers of features as this part has them
            triples = [
                self.triples[t]._replace(size=int(size))
                for t, size in zip(which, sizes, strict=True)
            ]
            ratio = 1.0 / max(1, int(rows.sum()) - 1)
            means = smoothed(table, triples, ratio)
            found = choose(
                table,
                sizes,
                ratio,
                means=means,
                limit=self.limit,
                last=np.array([triple.own for triple in triples]),
            )
            place = which[found.smallest if answer == SMALLEST else found.best]
            chosen[k] = place
            errors[k] = self.errors[k, place]
        return Nested(self, chosen, errors)

    def pareto(self) -> list[int]:
        """Places of the triples that no other beats in both error and size, by size."""
        sizes = np.array([triple.size for triple in self.triples])
        order = np.lexsort((self.choice.means, sizes))
        front: list[int] = []
        for t in order.tolist():
            if not front or self.choice.means[t] < self.choice.means[front[-1]] - _TIE:
                front.append(t)
        return front

    def best_of(self, judge: str) -> int | None:
        """Place of the most accurate triple before a judge."""
        those = [t for t, triple in enumerate(self.triples) if triple.judge == judge]
        return min(those, key=lambda t: self.choice.means[t]) if those else None

    def compared(self, a: int, b: int) -> tuple[float, float]:
        """Mean difference of two triples, a less b, and its corrected standard error."""
        away = self.errors[:, a] - self.errors[:, b]
        difference = self.choice.means[a] - self.choice.means[b]
        error = float(corrected_error(away, self.ratio)) if len(away) > 1 else np.inf
        return float(difference), error


@dataclass
class Nested:
    """What choosing inside the training parts leads to.

    Attributes
    ----------
    contest : Contest
        Where it comes from.
    chosen : int array of shape (n_splits,)
        The triple that each training part chooses; -1 for none.
    errors : array of shape (n_splits,)
        Its error in the test part.
    """

    contest: Contest
    chosen: np.ndarray
    errors: np.ndarray

    @property
    def interval(self) -> MeanInterval:
        """Mean error, weighted by the sizes of the test parts, with its interval."""
        found, splits = self.contest.comparison, self.contest.splits
        interval = corrected_interval(
            self.errors,
            found.n_train[splits],
            found.n_test[splits],
            found.confidence,
            found.error_is_rate,
        )
        there = np.isfinite(self.errors)
        if not there.any() or found.metric != "error":
            return interval
        mean = float(np.average(self.errors[there], weights=found.n_test[splits][there]))
        shift = mean - interval.mean
        if not np.isfinite(interval.low):  # one split says nothing about its neighbours
            return interval._replace(mean=mean)
        low, high = max(0.0, interval.low + shift), min(1.0, interval.high + shift)
        return interval._replace(mean=mean, low=low, high=high)

    @property
    def sizes(self) -> np.ndarray:
        """Numbers of features that were chosen."""
        there = np.flatnonzero(self.chosen >= 0)
        return self.contest.split_sizes[there, self.chosen[there]]

    def beats(self, constant: np.ndarray) -> float:
        """One-sided p-value of "no better than these errors", in the same splits.

        Parameters
        ----------
        constant : array of shape (n_splits,)
            Errors without any feature.
        """
        there = np.isfinite(self.errors) & np.isfinite(constant)
        gain = constant[there] - self.errors[there]
        if len(gain) < 2:
            return float("nan")
        error = float(corrected_error(gain, self.contest.ratio))
        mean = float(gain.mean())
        if error == 0.0:
            return 0.0 if mean > 0 else 1.0
        return float(stats.t.sf(mean / error, len(gain) - 1))
