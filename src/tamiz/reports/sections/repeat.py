"""How it was measured, what is needed to do it again, and what the words mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.reports.markup import Markup, folded, pairs, tag, visible
from tamiz.reports.page import Page, Section

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


def measured(page: Page) -> list[Markup]:
    """How it was measured, where that is not what everybody would expect."""
    study, lang, found = page.study, page.lang, page.found
    params = study.params or {}
    if found is None or not page.honest:
        return []
    texts = [
        lang.rich(
            "measured_splits",
            n=lang.integer(page.honest["n_splits"]),
            metric=page.metric_inside,
        )
    ]
    if study.plan is not None and study.plan.ordered:
        texts.append(lang.rich("measured_time"))
    if "groups" in study.dataset.extras:
        n = len(np.unique(study.dataset.extras["groups"]))
        texts.append(lang.rich("measured_groups", n=lang.integer(n)))
    if found.metric == "balanced error":
        texts.append(lang.rich("measured_skewed" if params.get("skewed") else "measured_balanced"))
    if params.get("class_weight"):
        texts.append(lang.rich("measured_weights"))
    limits = params.get("limits") or {}
    n_train = float(np.max(found.n_train))
    for kind in ("methods", "judges"):
        for name, most in (limits.get(kind) or {}).items():
            if name in getattr(found, kind) and most < n_train:
                values = {"name": visible(name), "n": lang.count("row", most)}
                texts.append(lang.rich(f"measured_{kind}_rows", **values))
    inner = limits.get("inner")
    if inner and inner < n_train:
        texts.append(lang.rich("measured_inner_rows", n=lang.count("row", inner)))
    plan = getattr(study, "plan", None)
    for one in [] if plan is None else plan.left_out:
        code = one["what"].replace(" ", "_")
        words = lang.has(f"left_out_{code}")
        text = lang.rich(f"left_out_{code}", name=visible(one["name"])) if words else one["why"]
        flag = tag("code", visible(one["flag"])) if one.get("flag") else None
        texts.append(Markup(tag("span", text) + (" " + flag if flag else "")))
    return texts


def glossary(page: Page) -> Section:
    """One sentence for each term."""
    lang = page.lang
    entries = [(lang(f"term_{key}"), lang(f"gloss_{key}")) for key in TERMS]
    return Section("glossary", pairs(entries))
