"""What was found, in words for everybody."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.evaluation.study import AGREEMENT
from tamiz.reports._html import Markup, tag, visible
from tamiz.reports._page import Page, Section
from tamiz.reports._tables import folded

FIRST_NAMES = 24
#: Values of reasons that are errors, and so written as such.
_ERRORS = frozenset({"error", "best_error", "majority_error", "chosen", "apparent", "all_error"})


def build(page: Page) -> Section:
    """The first section."""
    parts = [
        tag("p", _question(page), class_="lede"),
        _sampled(page),
        _cut_short(page),
        _tiles(page),
        _advice(page),
        _sentences(page),
        _why(page),
    ]
    return Section("summary", Markup("".join(str(part) for part in parts if part)))


def majority_error(page: Page) -> float | None:
    """The error of always naming the largest class, where errors are shares of wrong answers."""
    counts = list(page.whole.class_counts.values())
    plain = page.found is None or page.found.metric == "error"
    if not counts or not plain or page.data.task == "regression":
        return None
    return 1.0 - max(counts) / sum(counts)


def agreement(value: float) -> str:
    """Key of the words for a stability index."""
    low, high = AGREEMENT
    return (
        "agreement_poor" if value < low else "agreement_fair" if value < high else "agreement_good"
    )


def _question(page: Page) -> Markup:
    data, lang = page.data, page.lang
    values = {
        "features": tag("b", lang.count("feature", page.whole.n_features)),
        "rows": tag("b", lang.count("row", page.whole.n_rows)),
        "target": tag("bdi", data.target or "y"),
    }
    if page.only_tuned:
        return lang.rich("question_tuning", **values)
    if data.y is None:
        return lang.rich("question_none", **values)
    if page.whole.class_counts:
        classes = tag("b", lang.count("class", len(page.whole.class_counts)))
        return lang.rich("question_classes", classes=classes, **values)
    return lang.rich("question_numbers", **values)


def _sampled(page: Page) -> Markup | None:
    """What comes from all rows, and what from a sample of them."""
    lang, study = page.lang, page.study
    told = page.told_of_lead
    if not page.sampled and "sample" not in told:
        return None
    key = "ranked_sample" if "sample" in told else "ranked_cuts" if "cuts" in told else "ranked_all"
    rows = tag("b", lang.count("row", page.whole.n_rows))
    texts = [lang.rich(key, rows=rows, method=tag("b", page.lead))]
    if page.sampled:
        values: dict[str, Any] = {"sample": tag("b", lang.whole(page.data.n_samples))}
        if study.seed is not None:
            values["seed"] = visible(study.seed)
        texts.append(lang.rich("sample_lede", **values))
        if page.whole.class_counts:
            texts.append(lang.rich("sample_classes"))
    return tag("p", Markup(" ".join(texts)), class_="sample")


def _cut_short(page: Page) -> Markup | None:
    """That a comparison was not finished, before anything is read from it."""
    found, lang = page.found, page.lang
    if found is None or getattr(found, "status", "complete") == "complete":
        return None
    parts = np.isfinite(found.select_seconds)
    words = lang("cut_short", done=lang.whole(parts.sum()), all=lang.whole(parts.size))
    return tag("div", tag("p", words), class_="warn")


# ------------------------------------------------------------------------------------- tiles


def _tiles(page: Page) -> Markup:
    lang, best = page.lang, page.recommended
    tiles = []
    if best is not None:
        level = "" if page.found is None else page.level(page.found.confidence)
        tiles.append(
            _tile(
                lang("tile_error"),
                page.error(best.error),
                lang("tile_interval", level=level, between=page.between(best.low, best.high)),
            )
        )
        of = lang("tile_of", n=lang.whole(page.whole.n_features))
        tiles.append(_tile(lang("tile_features"), lang.whole(best.size), of))
        line = _estimate(page)
        if line is not None and np.isfinite(line.bias):
            promised = lang("tile_promised", error=page.error(line.apparent))
            tiles.append(_tile(lang("selection_bias"), page.points(line.bias), promised))
    elif page.only_tuned:
        tuning = page.study.tuning
        cells = lang("tile_cells", n=lang.whole(len(tuning.cells)))
        tiles.append(_tile(lang("tile_tuned"), lang.number(tuning.best_error, 3), cells))
    else:
        tiles.append(_tile(lang("tile_ranked"), lang.whole(page.whole.n_features), page.lead or ""))
    measure = page.study.stability.get(page.lead) if page.study.stability else None
    if measure is not None and np.isfinite(measure.nogueira):
        words = lang(agreement(measure.nogueira))
        tiles.append(_tile(lang("stability"), lang.fixed(measure.nogueira, 2), words))
    test = page.study.permutation
    if test is not None:
        words = lang("signal_yes" if test.pvalue <= 0.05 else "signal_no")
        tiles.append(_tile(lang("signal"), lang.pvalue(test.pvalue), words))
    return tag("div", tiles, class_="tiles")


def _tile(name: str, value: str, below: str) -> Markup:
    return tag(
        "div",
        tag("p", name, class_="what"),
        tag("p", value, class_="value"),
        tag("p", below, class_="below"),
        class_="tile",
    )


def _estimate(page: Page) -> Any:
    best, found = page.recommended, page.found
    if best is None or found is None or best.method not in found.methods:
        return None
    lines = (
        one for one in found.estimates() if (one.method, one.judge) == (best.method, best.judge)
    )
    return next((one for one in lines if one.kind == best.kind), None)


# --------------------------------------------------------------------------------- sentences


def advice_key(page: Page) -> str:
    """Key of the words before the features."""
    if page.recommended is None:
        return "advice_ranking"
    return "advice_one" if len(page.chosen) == 1 else "advice"


def _advice(page: Page) -> Markup | None:
    """The features themselves."""
    chosen = page.chosen
    if not chosen:
        return None
    words = page.lang.rich(
        advice_key(page),
        n=tag("b", page.lang.count("feature", len(chosen))),
        method=tag("b", page.lead),
    )
    first = tag("ol", [tag("li", page.feature(j)) for j in chosen[:FIRST_NAMES]], class_="names")
    rest = chosen[FIRST_NAMES:]
    more = None
    if rest:
        listed = tag(
            "ol", [tag("li", page.feature(j)) for j in rest], class_="names", start=FIRST_NAMES + 1
        )
        more = folded(page.lang("more_names", n=page.lang.whole(len(rest))), listed)
    return tag("div", tag("p", words), first, more, class_="advice")


def _sentences(page: Page) -> Markup | None:
    texts = [*_expected(page), *_promised(page), *_signal(page), *_repeatable(page)]
    return tag("div", [tag("p", text) for text in texts]) if texts else None


def _expected(page: Page) -> list[Markup]:
    best, lang = page.recommended, page.lang
    if page.only_tuned:
        return [lang.rich("only_tuned")]
    if best is None:
        return [lang.rich("no_comparison")] if page.found is None else []
    texts = []
    values = {
        "error": tag("b", page.error(best.error)),
        "between": page.between(best.low, best.high),
        "judge": visible(best.judge),
        "metric": page.metric,
    }
    if page.found is not None:
        values["level"] = page.level(page.found.confidence)
    plain = majority_error(page) is not None
    n_methods = len([m for m in page.methods if page.found is not None and m in page.found.methods])
    if n_methods > 1:
        values["n_methods"] = lang.whole(n_methods)
    if plain and 0 < best.error < 0.5:
        values["one_in"] = lang("one_in", n=lang.whole(1 / best.error))
    texts.append(lang.rich("expect_share" if page.shares else "expect_number", **values))
    if plain and best.error == 0 and best.high == 0:
        n = page.whole.n_rows
        level = 0.95 if page.found is None else page.found.confidence
        bound = 1 - (1 - level) ** (1 / n)  # errors that would go unseen in n samples so often
        texts.append(
            lang.rich(
                "no_error_seen",
                rows=lang.whole(n),
                bound=lang.share(bound, 1),
                level=page.level(level),
            )
        )
    majority = majority_error(page)
    if majority is not None:
        better = np.isfinite(best.high) and best.high < majority
        key = "majority_beaten" if better else "majority_not_beaten"
        texts.append(lang.rich(key, error=tag("b", lang.share(majority, 1))))
    return texts


def _promised(page: Page) -> list[Markup]:
    line = _estimate(page)
    if line is None or not np.isfinite(line.bias):
        return []
    values = {
        "apparent": tag("b", page.error(line.apparent)),
        "bias": tag("b", page.points(abs(line.bias))),
    }
    small = abs(line.bias) < (0.0005 if page.shares else 1e-9)
    key = "promised_same" if small else "promised_less" if line.bias > 0 else "promised_more"
    return [page.lang.rich(key, **values)]


def _signal(page: Page) -> list[Markup]:
    test, lang = page.study.permutation, page.lang
    if test is None:
        return []
    key = "shuffled_signal" if test.pvalue <= 0.05 else "shuffled_no_signal"
    return [
        lang.rich(
            key,
            n=lang.whole(test.n_as_high),
            all=lang.whole(test.n_permutations),
            p=lang.pvalue(test.pvalue),
        )
    ]


def _repeatable(page: Page) -> list[Markup]:
    measure = (page.study.stability or {}).get(page.lead)
    if measure is None or not np.isfinite(measure.nogueira):
        return []
    key = agreement(measure.nogueira).replace("agreement", "repeatable")
    return [page.lang.rich(key, index=tag("b", page.lang.fixed(measure.nogueira, 2)))]


# ------------------------------------------------------------------------------------ reasons


def _why(page: Page) -> Markup | None:
    best = page.recommended
    if best is None or not best.reasons:
        return None
    told = _told(page)
    items = [
        tag("li", reason(page, code, values)) for code, values in best.reasons if code not in told
    ]
    if not items:
        return None
    return tag("div", tag("h3", page.lang("why")), tag("ul", items), class_="why")


def _told(page: Page) -> set[str]:
    """Reasons that the sentences above have given already."""
    told: set[str] = set()
    if _promised(page):
        told.add("selection_bias")
    if _repeatable(page):
        told |= {"stable", "fairly_stable", "fragile"}
    if majority_error(page) is not None:
        told.add("no_signal")
    return told


def reason(page: Page, code: str, values: dict[str, Any]) -> Markup:
    """The words for a reason; what is not known by its code is shown as it is."""
    best = page.recommended
    known: dict[str, Any] = {
        "method": best.method,
        "judge": best.judge,
        "size": best.size,
        "error": best.error,
    }
    shown = {key: _value(page, key, value) for key, value in {**known, **values}.items()}
    if page.lang.has(f"reason_{code}"):
        return page.lang.rich(f"reason_{code}", **shown)
    given = ", ".join(f"{key} = {_value(page, key, value)}" for key, value in values.items())
    return tag("span", f"{code}{': ' + given if given else ''}")


def _value(page: Page, key: str, value: Any) -> str:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        return page.method(value) if isinstance(value, str) else visible(value)
    if key in _ERRORS:
        return page.error(float(value))
    if key == "bias":
        return page.points(float(value))
    if key in ("nogueira", "stability"):
        return page.lang.fixed(float(value), 2)
    if key == "pvalue":
        return page.lang.pvalue(float(value))
    return page.lang.number(float(value))
