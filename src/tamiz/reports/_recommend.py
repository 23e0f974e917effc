"""Which subset a study recommends, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import t

from tamiz.evaluation._compare_text import BASELINES
from tamiz.evaluation.comparison import Comparison, Estimate
from tamiz.evaluation.methods import METHODS
from tamiz.reports._section_summary import AGREEMENT

if TYPE_CHECKING:
    from tamiz.reports.study import Study

_FRAGILE, _STABLE = AGREEMENT


class Reason(NamedTuple):
    """Why something is recommended: a code that a report has words for, and the numbers in them."""

    code: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Recommendation:
    """The subset that a study recommends.

    Attributes
    ----------
    method, judge : str
        How it was found, and whose error it is.
    kind : {"chosen", "own"}
        Whether the number of features comes from cross-validation or from the method itself.
    size : int
        Number of features.
    features : list of str
        Names, best first.
    error, low, high : float
        Honest error with its interval.
    apparent : float
        What ranking on all data would have promised.
    reasons : list of Reason
        Why.
    params : dict
        With ``tune``: the parameters of the judge that most splits chose.
    """

    method: str
    judge: str
    kind: str
    size: int
    features: list[str]
    error: float
    low: float
    high: float
    apparent: float
    reasons: list[Reason]
    params: dict[str, Any] = field(default_factory=dict)


def recommend(study: Study) -> Recommendation | None:
    """A small subset that cannot be told from the best one, with the reasons.

    Among all methods, that of least honest error is found. Those whose error is within one
    standard error of it count as equally good; of them the one with fewest features is taken, then
    the most stable. A method whose selections hardly agree is only taken if all others are so too.
    """
    found = study.comparison
    if found is None:
        return None
    lines = [e for e in found.estimates() if np.isfinite(e.error) and np.isfinite(e.size)]
    rivals = [e for e in lines if e.size >= 1 and _can_be_had(study, e)]
    if not rivals:
        return None
    best = min(rivals, key=lambda e: (e.error, e.size))
    limit = best.error + _standard_error(best, found.confidence)
    equals = [e for e in rivals if e.error <= limit]

    def preference(line: Estimate) -> tuple[bool, float, float, float]:
        agreement = agreement_of(study, line)
        if agreement is None:
            agreement = -1.0
        return agreement < _FRAGILE, line.size, -agreement, line.error

    chosen = min(equals, key=preference)
    selection = study.selections[chosen.method]
    features = [j for j in selection.order if selection.support[j]]  # what it selects of all data
    if chosen.kind == "chosen":
        features = list(selection.order[: round(chosen.size)])
    return Recommendation(
        method=chosen.method,
        judge=chosen.judge,
        kind=chosen.kind,
        size=len(features),
        features=[selection.names[j] for j in features],
        error=chosen.error,
        low=chosen.low,
        high=chosen.high,
        apparent=chosen.apparent,
        reasons=_reasons(study, lines, best, chosen, len(equals), len(features)),
        params=_usual_params(found, chosen),
    )


def agreement_of(study: Study, line: Estimate) -> float | None:
    """Nogueira's measure of the selections behind a line; None if there is none."""
    measure = study.stability.get(line.method)
    if line.kind == "own" and study.comparison is not None:
        try:
            measure = study.comparison.stability(line.method, "own")
        except ValueError:
            measure = None
    if measure is None or not np.isfinite(measure.nogueira):
        return None
    return float(measure.nogueira)


def _can_be_had(study: Study, line: Estimate) -> bool:
    """Whether the method, fitted to all data, gives the features that the line stands for."""
    if line.method in BASELINES or line.method not in study.selections:
        return False
    method = METHODS.get(line.method)
    if line.kind == "own":
        return bool(study.selections[line.method].support.any())
    return method is None or method.ranks


def _usual_params(found: Comparison, line: Estimate) -> dict[str, Any]:
    """The parameters of the judge that most splits chose at a size; the first of equals."""
    place = -1 if line.kind == "own" else int(np.flatnonzero(found.sizes == line.size)[0])
    rows = found.tuned.get(line.method, {}).get(line.judge, [])
    chosen = [row[place] for row in rows if row is not None]
    if not chosen:
        return {}
    return dict(max(chosen, key=lambda one: sum(one == other for other in chosen)))


def _reasons(
    study: Study,
    lines: list[Estimate],
    best: Estimate,
    chosen: Estimate,
    n_equal: int,
    size: int,
) -> list[Reason]:
    found = study.comparison
    assert found is not None
    reasons = []
    if chosen is best:
        reasons.append(Reason("least_error", {"method": best.method, "error": best.error}))
    else:
        reasons.append(
            Reason(
                "fewest_within_interval" if chosen.size <= best.size else "steadier",
                {
                    "method": chosen.method,
                    "size": size,
                    "error": chosen.error,
                    "best_method": best.method,
                    "best_error": best.error,
                    "best_size": best.size,
                    "n_equal": n_equal,
                },
            )
        )
    value = agreement_of(study, chosen)
    if value is not None:
        code = "stable" if value >= _STABLE else "fragile" if value < _FRAGILE else "fairly_stable"
        reasons.append(Reason(code, {"nogueira": value}))
    everything = next((e for e in lines if e.method == "all"), None)
    if everything is not None:
        values = {"error": everything.error, "size": everything.size, "chosen": chosen.error}
        if everything.error < chosen.low:
            reasons.append(Reason("all_features_better", values))
        elif chosen.error <= everything.error:
            reasons.append(Reason("not_worse_than_all", values))
        else:
            reasons.append(Reason("near_all", values))
    chance = next((e for e in lines if e.method == "random"), None)
    if chance is not None and chance.error <= chosen.high and chance.size <= 2 * chosen.size:
        reasons.append(Reason("no_better_than_random", {"error": chance.error}))
    if found.shares and study.dataset.task == "classification":
        counts = np.array(list(study.dataset.class_counts.values()), dtype=float)
        majority = 1.0 - counts.max() / counts.sum()
        if chosen.high >= majority:
            reasons.append(Reason("no_signal", {"majority_error": float(majority)}))
    if np.isfinite(chosen.bias):
        reasons.append(Reason("selection_bias", {"bias": chosen.bias, "apparent": chosen.apparent}))
    return reasons


def _standard_error(line: Estimate, confidence: float) -> float:
    """Of the honest error, from its interval."""
    half = max(line.high - line.error, line.error - line.low)  # an end may have been cut
    if not np.isfinite(half) or line.n_splits < 2:
        return 0.0
    return float(half / t.ppf(0.5 + 0.5 * confidence, line.n_splits - 1))
