"""The reasons of a recommendation as sentences: each is true of the errors it is made from."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from tamiz.evaluation.agreement import nogueira_index
from tamiz.evaluation.methods import METHODS
from tamiz.evaluation.study import Study
from tamiz.evaluation.study.answers import find_answers
from tamiz.reports import reason_text, render, summary
from tamiz.reports.language import LANGUAGES
from tests.reports.studies import full_study, other_study
from tests.reports.tree import read

pytestmark = pytest.mark.ours

KINDS = ("noise", "equal", "clear", "bent", "coarse")


def random_study(seed: int, kind: str) -> Study:
    """The comparison of a small study with errors that were drawn at random."""
    study = full_study()
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    found = replace(study.comparison)
    shape = found.errors.shape
    level = {"noise": 0.3, "equal": 0.1, "clear": 0.05, "bent": 0.2, "coarse": 0.2}[kind]
    spread = 0.0 if kind == "equal" and seed % 2 else 0.04
    errors = level + spread * rng.standard_normal(shape)
    errors += np.linspace(0.2, 0.0, shape[-1]) if kind in ("clear", "bent") else 0.0
    if kind == "bent":
        errors[:, 0] += rng.uniform(0, 0.2)  # the linear judge
    if kind == "coarse":
        errors = np.round(10 * errors) / 10
    found.errors = np.where(np.isfinite(found.errors), errors.clip(0, 1), np.nan)
    own = errors[..., -1] + rng.normal(0, 0.02, shape[:-1])
    found.own_errors = np.where(np.isfinite(found.own_errors), own.clip(0, 1), np.nan)
    noise = rng.standard_normal(found.inner_errors.shape)
    found.inner_errors = np.where(
        np.isfinite(found.inner_errors), (level + 0.1 * noise).clip(0, 1), np.nan
    )
    found.apparent_errors = (found.errors - rng.uniform(-0.05, 0.1)).clip(0, 1)
    found.own_apparent_errors = (found.own_errors - 0.02).clip(0, 1)
    constant = rng.uniform(0.2, 0.6, len(found.repeat))
    answers = find_answers(found, constant)
    assert answers is not None
    best = answers.smallest
    honest = {
        "error": best.error, "low": best.low, "high": best.high, "metric": found.metric,
        "without_features": float(constant.mean()), "pvalue": answers.pvalue,
        "n_splits": len(answers.contest.splits),
    }  # fmt: skip
    return replace(
        study, comparison=found, answers=answers, recommended=best if answers.signal else None,
        most_accurate=answers.most_accurate, honest=honest, learning=None,
    )  # fmt: skip


def differences(contest, a: int) -> tuple[np.ndarray, np.ndarray]:
    """How much worse all triples are than one, and the corrected standard errors, one by one."""
    found, splits = contest.comparison, contest.splits
    ratio = np.mean(found.n_test[splits] / found.n_train[splits])
    worse, errors = [], []
    for t in range(len(contest.triples)):
        worse.append(contest.choice.means[t] - contest.choice.means[a])
        away = contest.errors[:, t] - contest.errors[:, a]
        variance = sum((one - sum(away) / len(away)) ** 2 for one in away) / (len(away) - 1)
        errors.append(((1 / len(away) + ratio) * variance) ** 0.5)
    return np.array(worse), np.array(errors)


def recurrence(found, method: str, size: int) -> list[float]:
    """The agreement of the splits, and how often each family has the features."""
    features = found.whole_orders[method][:size]
    families: dict[str, list[float]] = {}
    for name in found.methods:
        if name not in ("random", "all"):
            hits = [sum(j in order[:size] for j in features) for order in found.orders[name]]
            families.setdefault(METHODS[name].family, []).append(np.mean(hits) / size)
    frequency = np.mean([np.mean(own) for own in families.values()])
    return [nogueira_index(found.masks(method, size)), frequency]


def is_true(study: Study, best, code: str, values: dict) -> bool:
    """Whether what a sentence claims holds, worked out anew."""
    contest, tiny = study.answers.contest, 1e-9
    sizes = np.array([triple.size for triple in contest.triples])
    judges = [triple.judge for triple in contest.triples]
    means = contest.choice.means
    mine = next(
        t for t, one in enumerate(contest.triples)
        if (one.method, one.judge, one.own) == (best.method, best.judge, best.kind == "own")
        and (one.own or one.size == best.size)
    )  # fmt: skip
    first = next(
        t for t in range(len(sizes))
        if (contest.triples[t].method, judges[t], sizes[t])
        == (values.get("best_method"), values.get("best_judge"), values.get("best_size"))
    ) if code == "fewest_within_error" else mine  # fmt: skip
    worse, spread = differences(contest, first)
    near = worse <= spread - tiny
    equal = near & (worse <= contest.limit - tiny)
    fewer = sizes < best.size
    if code == "least_error":
        return means[mine] <= means.min() + tiny and values["n_triples"] == len(sizes)
    if code == "none_smaller":
        return not equal[fewer].any()
    if code == "fewest_within_error":
        good = worse[mine] <= min(spread[mine], contest.limit) + tiny
        return means[first] <= means.min() + tiny and good and not equal[fewer].any()
    if code == "not_far_worse":
        worse, spread = differences(contest, contest.choice.best)
        those = (sizes == values["least_size"]) & (worse <= spread + tiny)
        return values["least_size"] < best.size and bool((worse[those] > contest.limit).any())
    if code == "most_recurrent":
        alike = (0.005 if contest.comparison.error_is_rate else 0.0) + tiny
        others = [
            t for t, one in enumerate(contest.triples)
            if sizes[t] == best.size and one.method != best.method and contest.choice.equal[t]
            and abs(means[t] - means[mine]) <= alike
        ]  # fmt: skip
        own = recurrence(study.comparison, best.method, best.size)
        steady = [
            np.mean(recurrence(study.comparison, contest.triples[t].method, best.size))
            for t in others
            if not contest.triples[t].own
        ]
        said = np.allclose([values["nogueira"], values["frequency"]], own)
        most = np.mean(own) >= max(steady, default=-2) - tiny
        return 0 < values["n_alike"] <= len(others) and most and said
    if code == "ties":
        tied = (np.abs(means - means[mine]) < tiny) & (sizes == best.size)
        return values["n_tied"] == tied.sum() - 1
    if code in ("all_features_better", "better_than_all", "near_all"):
        those = [t for t in range(len(sizes)) if judges[t] == best.judge]
        everything = [t for t in those if sizes[t] == contest.comparison.n_features]
        worse, spread = differences(contest, min(everything, key=lambda t: means[t]))
        d, e = worse[mine], spread[mine]
        claims = {"all_features_better": d > e, "better_than_all": d < -e, "near_all": abs(d) <= e}
        return bool(claims[code]) or abs(abs(d) - e) < tiny
    if code.startswith("boundary_"):
        linear = [t for t in range(len(sizes)) if judges[t] == "linear"]
        lowest = min(means[linear])
        worse, spread = differences(contest, int(means.argmin()))
        tied = [t for t in linear if means[t] <= lowest + tiny]  # any of these may be meant
        enough = [worse[t] <= spread[t] + tiny for t in tied]
        return any(enough) if code == "boundary_linear" else not all(enough)
    if code in ("stable", "fairly_stable", "fragile"):
        masks = study.comparison.masks(best.method, "own" if best.kind == "own" else best.size)
        bounds = {"fragile": (-2, 0.4), "fairly_stable": (0.4, 0.75), "stable": (0.75, 1.01)}
        low, high = bounds[code]
        return low <= nogueira_index(masks) < high
    if code in ("honest_within_noise", "honest_beyond_noise"):
        nested = study.answers.nested
        away = nested["most accurate"].errors - nested["smallest"].errors
        ratio = np.mean(contest.comparison.n_test / contest.comparison.n_train)
        spread = np.sqrt((1 / len(away) + ratio) * away.var(ddof=1))
        accurate, smallest = study.answers.most_accurate.error, study.answers.smallest.error
        shown = (values["accurate_error"], values["smallest_error"]) == (accurate, smallest)
        within = accurate - smallest <= spread + (tiny if "within" in code else -tiny)
        return shown and accurate > smallest and within == ("within" in code)
    if code == "all_features":
        return best.size == study.dataset.n_features
    return code == "selection_bias"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_every_reason_is_true_and_has_a_sentence(kind, seed):
    study = random_study(seed, kind)
    for best in (study.answers.smallest, study.answers.most_accurate):
        assert best.reasons
        for one in best.reasons:
            assert is_true(study, best, one.code, one.values), one
            for lang in LANGUAGES:
                said = reason_text(study, best, one, lang)
                assert said.endswith(".") and one.code not in said
                assert not re.search(r"[{}\[\]<>]|nan|None", said), said


def test_a_larger_honest_error_of_the_most_accurate_answer_is_explained():
    explained = 0
    for seed in range(12):
        answers = random_study(seed, "noise").answers
        larger = round(answers.most_accurate.error, 3) > round(answers.smallest.error, 3)
        differ = answers.contest.choice.smallest != answers.contest.choice.best
        for best in (answers.smallest, answers.most_accurate):
            said = [one for one in best.reasons if one.code.startswith("honest_")]
            assert len(said) == (larger and differ)
            explained += len(said)
    assert explained  # chance brings it about now and then


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_what_the_summary_claims_holds_of_the_honest_error(kind, seed):
    study = random_study(seed, kind)
    honest, said = study.honest, " ".join(summary(study))
    part = read(render(study)).one("summary").text
    below = honest["high"] < honest["without_features"]
    if study.recommended is None:
        assert "Nothing is recommended" in said and "expect an error" not in said
        assert "Nothing is recommended" in part
        return
    assert "Nothing is recommended" not in said
    assert ("whole interval is below" in said) == below
    assert f"expect an error of about {100 * honest['error']:.1f}%" in said
    assert f"{100 * honest['error']:.1f}%" in part
    best = study.recommended
    promised = f"{100 * best.apparent:.1f}"
    if "too good" in said:
        assert best.error > best.apparent and f"would have promised {promised}%" in said
    sizes = study.answers.nested["smallest"].sizes
    assert (f"chose {sizes.min():.0f} to {sizes.max():.0f}" in said) == (np.ptp(sizes) > 0)
    assert len(summary(study)) <= 36


def test_a_claim_needs_a_margin_that_can_be_seen():
    study = full_study()
    honest = {**study.honest, "high": 0.34996, "without_features": 0.35004}
    said = " ".join(summary(replace(study, honest=honest)))
    assert "35.0%" in said and "below that" not in said


def test_a_single_combination_is_not_the_least_of_all():
    study = full_study()
    best = replace(study.most_accurate, reasons=[])
    said = reason_text(study, best, ("least_error", {"mean": 0.1, "n_triples": 1}))
    assert "only combination" in said and "Of all" not in said


@pytest.mark.parametrize("lang", LANGUAGES)
def test_numbers_have_no_boundary(lang):
    """Of a regression the reason speaks of a curved relation."""
    values = {"best": "rbf", "difference": 0.2, "standard_error": 0.1}
    classes, numbers = full_study(), other_study("regression")
    for study, curved in (
        (classes, ("curved boundary", "frontera curva")),
        (numbers, ("relation is curved", "relación es curva")),
    ):
        said = reason_text(study, study.recommended, ("boundary_curved", values), lang)
        assert curved[lang == "es"] in said


def test_an_unknown_reason_is_shown_as_it_is():
    best = replace(full_study().recommended, reasons=[("brand_new", {"n": 3, "who": "<me>"})])
    said = read(render(replace(full_study(), recommended=best))).of_class("why")[0].text
    assert "brand_new: n = 3, who = <me>" in said
    assert reason_text(full_study(), best, best.reasons[0]) == "brand_new: n = 3, who = <me>"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_names_of_a_reason_are_escaped(lang):
    values = {"best": "<b>", "difference": 0.2, "standard_error": 0.1}
    best = replace(full_study().recommended, reasons=[("boundary_curved", values)])
    text = render(replace(full_study(), recommended=best), lang)
    assert "&lt;b&gt;" in text
    assert "<b>" in reason_text(full_study(), best, best.reasons[0], lang)
