"""What a study answers: the smallest subset that is good enough, the most accurate one, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamiz.base import corrected_error
from tamiz.evaluation.agreement import nogueira_index
from tamiz.evaluation.judges import resolved
from tamiz.evaluation.methods import METHODS
from tamiz.evaluation.study.choice import MOST_ACCURATE, SMALLEST, Contest, Nested, Triple

if TYPE_CHECKING:
    from tamiz.evaluation.comparison.result import Comparison

#: Agreement of selections: below the first poor, from the second on excellent.
AGREEMENT = (0.40, 0.75)
#: Level of the test whether anything is better than no feature at all.
SIGNAL_LEVEL = 0.05


class Reason(NamedTuple):
    """Why something is recommended: a code that a report has words for, and the numbers in them."""

    code: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Recommendation:
    """An answer of a study: some features, and what to expect of them.

    Attributes
    ----------
    answer : {"smallest", "most accurate"}
        Which of the two it is.
    method, judge : str
        How it was found, and whose error it is.
    kind : {"chosen", "own"}
        Whether the number of features was chosen, or is the method's own.
    size : int
        Number of features.
    features : list of str
        Names, best first.
    error, low, high : float
        Honest error of the whole procedure that gives this answer, with its interval: method,
        judge, size and parameters were chosen inside each training part.
    mean : float
        Mean error of just this method, judge and size over the splits, without the luck of a
        single combination (:func:`tamiz.evaluation.study.choice.smoothed`). It was chosen by
        looking at it, and so is a little too good.
    apparent : float
        What a careless estimate would have promised: features ranked on all data.
    agreement : float
        Nogueira's index of the selections of the splits; NaN if it is not defined.
    frequency : float
        How often a family of methods has a feature of this answer among as many in a split, on
        average over the features and the families.
    reasons : list of Reason
        Why.
    params : dict
        Parameters of the judge that most splits chose.
    """

    answer: str
    method: str
    judge: str
    kind: str
    size: int
    features: list[str]
    error: float
    low: float
    high: float
    mean: float
    apparent: float
    agreement: float
    frequency: float
    reasons: list[Reason]
    params: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**vars(self), "reasons": [reason._asdict() for reason in self.reasons]}


@dataclass
class Answers:
    """Both answers of a comparison, and what they rest on.

    Attributes
    ----------
    contest : Contest
        All triples of method, judge and size.
    smallest, most_accurate : Recommendation
        The answers.
    nested : dict of str to Nested
        For each answer, what choosing inside the training parts leads to.
    constant : array of shape (n_splits,)
        Errors without any feature, in the splits of the contest.
    pvalue : float
        Of the hypothesis that the most accurate procedure is no better than that.
    boundary : dict
        Which kind of boundary the data want.
    """

    contest: Contest
    smallest: Recommendation
    most_accurate: Recommendation
    nested: dict[str, Nested]
    constant: np.ndarray
    pvalue: float
    boundary: dict[str, Any]

    @property
    def signal(self) -> bool:
        """Whether anything is better than no feature at all, beyond chance."""
        better = bool(np.nanmean(self.nested[MOST_ACCURATE].errors) < np.mean(self.constant))
        return better and (not np.isfinite(self.pvalue) or self.pvalue <= SIGNAL_LEVEL)


def find_answers(found: Comparison, constant: np.ndarray, columns: Any = None) -> Answers | None:
    """The answers of a comparison; None if no split was finished.

    Parameters
    ----------
    found : Comparison
        With inner cross-validation.
    constant : array of shape (n_splits,)
        Errors without features in every split.
    columns : callable, optional
        Number of columns that some features have, which parameters of judges may depend on.
    """
    agreement_of = cache(lambda method, size, own: agreement(found, method, "own" if own else size))
    of_families = cache(lambda size: family_frequencies(found, size))

    def frequency(triple: Triple) -> float:
        features = features_of(found, triple)
        return float(np.mean(of_families(len(features))[features])) if features else float("nan")

    def recurrence(triple: Triple) -> float:
        own = agreement_of(triple.method, triple.size, triple.own)
        return float(np.mean(np.nan_to_num([own, frequency(triple)])))

    rivals = [name for name in found.methods if name != "random" and _is_known(found, name)]
    contest = Contest.of(found, rivals, recurrence)
    if contest is None:
        return None
    nested = {answer: contest.nested(answer) for answer in (SMALLEST, MOST_ACCURATE)}
    constant = constant[contest.splits]
    boundary = _boundary(contest)
    pvalue = nested[MOST_ACCURATE].beats(constant)
    made = {}
    for answer, place in (
        (SMALLEST, contest.choice.smallest),
        (MOST_ACCURATE, contest.choice.best),
    ):
        triple = contest.triples[place]
        features = features_of(found, triple)
        interval = nested[answer].interval
        width = len(features) if columns is None else columns(features)
        made[answer] = Recommendation(
            answer=answer,
            method=triple.method,
            judge=triple.judge,
            kind="own" if triple.own else "chosen",
            size=len(features),
            features=[found.names[j] for j in features],
            error=interval.mean,
            low=interval.low,
            high=interval.high,
            mean=float(contest.choice.means[place]),
            apparent=_promised(found, contest, place, answer),
            agreement=agreement_of(triple.method, triple.size, triple.own),
            frequency=frequency(triple),
            reasons=[],
            params=resolved(usual_candidate(found, contest.places[place]), width),
        )
    result = Answers(
        contest, made[SMALLEST], made[MOST_ACCURATE], nested, constant, pvalue, boundary
    )
    for one in made.values():
        one.reasons.extend(_reasons(result, one))
    return result


def features_of(found: Comparison, triple: Triple) -> list[int]:
    """The features that a triple selects among all data, best first."""
    if triple.own:
        kept = set(found.whole_selections[triple.method].tolist())
        order = found.whole_orders.get(triple.method)
        if order is None:
            return sorted(kept)
        return [int(j) for j in order if j in kept]
    return [int(j) for j in found.whole_orders[triple.method][: triple.size]]


def agreement(found: Comparison, method: str, size: int | str) -> float:
    """Nogueira's index of the selections of the splits; NaN where it is not defined."""
    try:
        return nogueira_index(found.masks(method, size))
    except ValueError:
        return float("nan")


def family_frequencies(found: Comparison, size: int) -> np.ndarray:
    """How often the families of methods have each feature among their first ones in the splits.

    Methods of one family count as one: the mean over the methods of a family, and then over the
    families. NaN if no method ranks.

    Parameters
    ----------
    found : Comparison
        With the rankings of all splits.
    size : int
        How many features of a ranking count.
    """
    by_family = [
        np.mean([found.masks(name, size).mean(axis=0) for name in names], axis=0)
        for names in ranking_families(found).values()
    ]
    return np.mean(by_family, axis=0) if by_family else np.full(found.n_features, np.nan)


def ranking_families(found: Comparison) -> dict[str, list[str]]:
    """The methods that rank, by their family; a selector of one's own is a family by itself."""
    families: dict[str, list[str]] = {}
    for name in found.methods:
        family = METHODS[name].family if name in METHODS else name
        if family != "baseline" and any(order is not None for order in found.orders.get(name, [])):
            families.setdefault(family, []).append(name)
    return families


def usual_candidate(found: Comparison, place: np.ndarray) -> dict[str, Any]:
    """The parameters of the judge that most splits chose; the first of equals."""
    m, j, c = (int(one) for one in place)
    rows = found.tuned.get(found.methods[m], {}).get(found.judges[j], [])
    chosen = [row[c] for row in rows if row is not None]
    if not chosen:
        return {}
    return dict(max(chosen, key=lambda one: sum(one == other for other in chosen)))


def _is_known(found: Comparison, method: str) -> bool:
    """Whether the features that a method stands for are known for all data."""
    listed = METHODS.get(method)
    if listed is not None and not listed.ranks:
        return method in found.whole_selections
    return method in found.whole_orders


def _promised(found: Comparison, contest: Contest, place: int, answer: str) -> float:
    """The least apparent error of any triple, or of those as small as the answer."""
    m, j, c = contest.places[:, 0], contest.places[:, 1], contest.places[:, 2]
    curves = np.where(
        (c >= 0)[:, None],
        found.apparent_errors[m, j][np.arange(len(c)), :, np.maximum(c, 0)],
        found.own_apparent_errors[m, j],
    )[:, contest.splits]
    known = np.isfinite(curves).all(axis=1)
    if answer == SMALLEST:
        sizes = np.array([triple.size for triple in contest.triples])
        known &= sizes <= contest.triples[place].size
    return float(curves[known].mean(axis=1).min()) if known.any() else float("nan")


# ------------------------------------------------------------------------------------ reasons


def _boundary(contest: Contest) -> dict[str, Any]:
    """Whether a plane is enough, and if not, what is better."""
    best = {judge: contest.best_of(judge) for judge in contest.comparison.judges}
    means = {
        judge: float(contest.choice.means[place])
        for judge, place in best.items()
        if place is not None
    }
    planes = [judge for judge in ("linear", "svc-linear") if judge in means]
    winner = min(means, key=lambda judge: means[judge])
    found: dict[str, Any] = {"errors": means, "best": winner, "kind": None}
    if planes and len(means) > 1 and len(contest.splits) > 1:
        difference, error = contest.compared(best[planes[0]], best[winner])  # type: ignore[arg-type]
        found.update(difference=difference, standard_error=error)
        if difference <= error:
            found["kind"] = "linear"
        else:
            found["kind"] = "rules" if winner in ("tree", "forest", "boosting") else "curved"
    return found


def _reasons(answers: Answers, one: Recommendation) -> list[Reason]:
    contest = answers.contest
    choice = contest.choice
    if len(contest.splits) < 2:
        return [Reason("one_split", {})]
    place = choice.smallest if one.answer == SMALLEST else choice.best
    best, mine = contest.triples[choice.best], contest.triples[place]
    reasons = []
    n_triples = len(contest.triples)
    if place == choice.best:
        reasons.append(Reason("least_error", {"mean": one.mean, "n_triples": n_triples}))
        n_tied = _n_tied(contest, place)
        if one.answer == SMALLEST and int(choice.equal.sum()) > 1:
            reasons.append(Reason("none_smaller", {"size": one.size}))
        if n_tied:
            reasons.append(Reason("ties", {"n_tied": n_tied}))
    else:
        reasons.append(
            Reason(
                "fewest_within_error",
                {
                    "size": one.size,
                    "mean": one.mean,
                    "best_method": best.method,
                    "best_judge": best.judge,
                    "best_size": best.size,
                    "best_mean": float(choice.means[choice.best]),
                    "difference": float(choice.differences[place]),
                    "standard_error": float(choice.errors_of_difference[place]),
                    "n_equal": int(choice.equal.sum()),
                    "n_triples": n_triples,
                },
            )
        )
    if one.answer == SMALLEST:
        n_alike = _n_alike(contest, place)
        if n_alike and np.isfinite([one.agreement, one.frequency]).all() and place != choice.best:
            values: dict[str, Any] = {"n_alike": n_alike, "size": one.size}
            values |= {"nogueira": one.agreement, "frequency": one.frequency}
            reasons.append(Reason("most_recurrent", values))
        sizes = np.array([triple.size for triple in contest.triples])
        worse = choice.near & ~choice.equal & (sizes < mine.size)
        if worse.any():
            least = int(sizes[worse].min())
            reasons.append(Reason("not_far_worse", {"limit": contest.limit, "least_size": least}))
    if np.isfinite(one.agreement):
        low, high = AGREEMENT
        code = "stable" if one.agreement >= high else "fragile" if one.agreement < low else None
        reasons.append(Reason(code or "fairly_stable", {"nogueira": one.agreement}))
    reasons += _beside_all(contest, place, mine)
    if answers.boundary["kind"] is not None:
        kind = answers.boundary["kind"]
        values = {key: answers.boundary[key] for key in ("best", "difference", "standard_error")}
        reasons.append(Reason(f"boundary_{kind}", values))
    reasons += _honest_errors(answers)
    if np.isfinite(one.apparent):
        bias = one.error - one.apparent
        reasons.append(Reason("selection_bias", {"bias": bias, "apparent": one.apparent}))
    return reasons


def _honest_errors(answers: Answers) -> list[Reason]:
    """Why the most accurate answer shows a larger honest error than the smallest, if it does.

    Which one is most accurate follows from the errors of all splits. The honest errors are those of
    choosing anew inside every training part, with fewer samples: their order may be another.
    """
    smallest, accurate = answers.smallest, answers.most_accurate
    contest = answers.contest
    if contest.choice.smallest == contest.choice.best:
        return []
    if not _shown(contest, accurate.error) > _shown(contest, smallest.error):
        return []
    away = answers.nested[MOST_ACCURATE].errors - answers.nested[SMALLEST].errors
    away = away[np.isfinite(away)]
    if len(away) < 2:
        return []
    difference = accurate.error - smallest.error
    error = float(corrected_error(away, contest.ratio))
    code = "honest_within_noise" if difference <= error else "honest_beyond_noise"
    values = {
        "smallest_error": smallest.error,
        "accurate_error": accurate.error,
        "difference": difference,
        "standard_error": error,
    }
    return [Reason(code, values)]


def _shown(contest: Contest, error: float) -> float:
    """An error as it is shown: a tenth of a per cent, or four digits."""
    return round(error, 3) if contest.comparison.error_is_rate else float(f"{error:.4g}")


def _n_alike(contest: Contest, place: int) -> int:
    """How many others of the same size come back less and are no worse than half a point."""
    choice, size = contest.choice, contest.triples[place].size
    tolerance = 0.005 if contest.comparison.error_is_rate else 1e-12  # else it has a unit
    least = min(
        choice.means[t]
        for t, triple in enumerate(contest.triples)
        if triple.size == size and choice.equal[t]
    )
    return sum(
        t != place
        and triple.size == size
        and bool(choice.equal[t])
        and triple.method != contest.triples[place].method
        and bool(choice.means[t] <= least + tolerance)
        for t, triple in enumerate(contest.triples)
    )


def _n_tied(contest: Contest, place: int) -> int:
    """How many other triples have the same mean error and size."""
    size, mean = contest.triples[place].size, contest.choice.means[place]
    return sum(
        t != place and triple.size == size and abs(contest.choice.means[t] - mean) < 1e-12
        for t, triple in enumerate(contest.triples)
    )


def _beside_all(contest: Contest, place: int, mine: Triple) -> list[Reason]:
    """The answer beside all features before the same judge."""
    n_features = contest.comparison.n_features
    if mine.size >= n_features:
        return [Reason("all_features", {"size": mine.size})]
    those = [
        t
        for t, triple in enumerate(contest.triples)
        if triple.judge == mine.judge and triple.size == n_features
    ]
    if not those:
        return []
    everything = min(those, key=lambda t: contest.choice.means[t])
    difference, error = contest.compared(place, everything)
    values = {
        "all_mean": float(contest.choice.means[everything]),
        "mean": float(contest.choice.means[place]),
        "size": n_features,
        "difference": abs(difference),
        "standard_error": error,
    }
    if difference > error:
        return [Reason("all_features_better", values)]
    if difference < -error:
        return [Reason("better_than_all", values)]
    return [Reason("near_all", values)]
