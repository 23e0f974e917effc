"""What is needed to do it again, and what the words mean."""

from __future__ import annotations

from typing import Any

from tamiz.reports.markup import Markup, tag, visible
from tamiz.reports.page import Page, Section
from tamiz.reports.tables import folded, pairs

LONG = 600

TERMS = (
    "feature",
    "selection",
    "ranking",
    "judge",
    "combination",
    "smoothed",
    "split",
    "honest",
    "apparent",
    "bias",
    "interval",
    "stability",
    "redundancy",
    "permutation",
    "pvalue",
    "baseline",
    "sensitivity",
    "specificity",
    "roc",
    "recall",
    "balanced",
    "rank",
    "leak",
)


def build(page: Page) -> Section:
    """Parameters, versions, seed and command."""
    study, lang = page.study, page.lang
    key = "repeat_intro" if study.plan is None else "repeat_intro_plan"
    parts: list[Markup] = [tag("p", lang.rich(key))]
    if study.command:
        code = tag("pre", tag("code", visible(study.command), id="command"), tabindex="0")
        button = tag(
            "button",
            lang("copy"),
            type="button",
            id="copy",
            class_="screen",
            data_done=lang("copied"),
        )
        parts.append(tag("div", code, button, class_="command"))
    facts: list[tuple[Any, Any]] = []
    if study.seed is not None:
        facts.append((lang("seed"), visible(study.seed)))
    if study.created:
        facts.append((lang("created"), visible(study.created).replace("T", " ")))
    if study.seconds:
        facts.append((lang("seconds_all"), lang.seconds(float(study.seconds))))
    facts += [(visible(name), visible(number)) for name, number in (study.versions or {}).items()]
    if facts:
        parts.append(pairs(facts))
    params = dict(study.params or {})
    if study.plan is not None:
        params |= {"inner": study.plan.inner, "tune": study.plan.tune}
    if params:
        entries = [(tag("code", visible(k)), tag("code", _short(v))) for k, v in params.items()]
        parts.append(folded(lang("parameters"), pairs(entries)))
    own = {name: one.params for name, one in study.selections.items() if one.params}
    if own:
        inner = []
        for name, params in own.items():
            entries = [(tag("code", visible(k)), tag("code", _short(v))) for k, v in params.items()]
            inner += [tag("h3", visible(name)), pairs(entries)]
        parts.append(folded(lang("method_parameters"), inner))
    return Section("repeat", Markup("".join(parts)))


def _short(value: Any) -> str:
    text = visible(value if isinstance(value, str) else repr(value))
    return text if len(text) <= LONG else text[:LONG] + "…"


def glossary(page: Page) -> Section:
    """One sentence for each term."""
    lang = page.lang
    entries = [(lang(f"term_{key}"), lang(f"gloss_{key}")) for key in TERMS]
    return Section("glossary", pairs(entries))
