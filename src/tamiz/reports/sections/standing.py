"""Features that one can stand behind, beside those that predict best."""

from __future__ import annotations

from tamiz.reports.charts.scales import cut
from tamiz.reports.markup import Markup, folded, shaded, tag
from tamiz.reports.page import Page, Section

MOST_ROWS = 25
MOST_NAMES = 15
_OPEN = 6


def build(page: Page) -> Section | None:
    """The section, if the rows were halved."""
    standing, lang = getattr(page.study, "standing", None), page.lang
    if standing is None:
        return None
    pairs, by = lang.integer(standing.n_halves // 2), lang.of("halves_by", standing.halves_by)
    parts = [
        tag("p", lang.rich("standing_intro", pairs=pairs, by=by)),
        *(tag("p", text) for text in said(page)),
        _each(page),
        _heat_map(page),
        tag("p", lang.rich("standing_meaning"), class_="small"),
    ]
    return Section("standing", Markup("".join(parts)))


def said(page: Page) -> list[Markup]:
    """What one can stand behind, and what all families agree on, in sentences."""
    standing, lang = getattr(page.study, "standing", None), page.lang
    if standing is None:
        return []
    values = {"halves": lang.integer(standing.n_halves), "fdr": lang.in_percent(standing.fdr, 0)}
    if not standing.features:
        texts = [lang.rich("standing_none", **values, needed=_needed(page))]
    else:
        enough = [_enough(page, name, least) for name, least in standing.thresholds.items()]
        values |= {
            "n": tag("b", lang.count("feature", len(standing.features))),
            "names": _listed(page, standing.features),
            "enough": ", ".join(enough),
            "bound": lang.number(standing.bound, 2),
        }
        texts = [lang.rich("standing_some", **values)]
    if len(standing.families) > 1:
        families = standing.families.values()
        methods = "; ".join(", ".join(map(page.method, names)) for names in families)
        key = "standing_agreed" if standing.agreed else "standing_agreed_none"
        names = {"names": _listed(page, standing.agreed)} if standing.agreed else {}
        texts.append(lang.rich(key, methods=methods, **names))
    return texts


def _enough(page: Page, name: str, least: float, method: str | None = None) -> str:
    """Among how many a feature has to be for a method, and in which fraction of the halves."""
    lang, q = page.lang, page.study.standing.sizes[name]
    place = lang(
        "standing_place" if q > 1 else "standing_place_first",
        method=method or page.method(name),
        q=lang.integer(q),
    )
    if least >= 1:
        return lang("standing_every", place=place)
    return lang("standing_often", place=place, threshold=lang.in_percent(least, 0))


def _needed(page: Page) -> str:
    """What would have been enough for one feature: where none was found, the same for all."""
    standing, lang = page.study.standing, page.lang
    name = next(iter(standing.frequencies))
    least = standing.needed_alone(name)
    if least is None:
        return lang("standing_needed_never")
    one = None if len(standing.frequencies) == 1 else lang("standing_any")
    return lang("standing_needed", enough=_enough(page, name, least, one))


def feature_sentences(page: Page) -> list[Markup]:
    """For each feature that one can stand behind, a sentence: which methods say so, how often."""
    standing, lang = getattr(page.study, "standing", None), page.lang
    if standing is None:
        return []
    inside, texts = standing.in_most_halves(), []
    for j in standing.features[:MOST_NAMES]:
        keeps = standing.keeps(j)
        lead = keeps[0]
        values = {
            "name": tag("b", page.feature(j)),
            "method": page.method(lead),
            "q": lang.integer(standing.sizes[lead]),
            "frequency": lang.in_percent(float(standing.frequencies[lead][j]), 0),
        }
        if len(standing.frequencies) > 1:
            values["kept"] = lang.integer(len(keeps))
            values["methods"] = lang.integer(len(standing.frequencies))
        key = "standing_feature" if standing.sizes[lead] > 1 else "standing_feature_first"
        parts = [lang.rich(key, **values)]
        agreeing = [lang.of("family", name) for name, own in inside.items() if own[j]]
        others = [lang.of("family", name) for name, own in inside.items() if not own[j]]
        if len(inside) > 1 and not others:
            parts.append(lang.rich("standing_feature_all"))
        elif len(inside) > 1:
            names = {"families": ", ".join(agreeing)} if agreeing else {}
            parts.append(lang.rich("standing_feature_some", others=", ".join(others), **names))
        texts.append(Markup(" ".join(parts)))
    return texts


def _each(page: Page) -> Markup:
    """The sentences as a list; a long one opens on demand."""
    texts = feature_sentences(page)
    if not texts:
        return Markup("")
    items = tag("ul", Markup("".join(tag("li", text) for text in texts)))
    title = page.lang.rich("standing_each")
    return folded(title, items) if len(texts) > _OPEN else Markup(tag("p", title) + items)


def line(page: Page) -> str | None:
    """How many features there are to stand behind; None if the rows were not halved."""
    found, lang = getattr(page.study, "standing", None), page.lang
    if found is None:
        return None
    fdr = lang.in_percent(found.fdr, 0)
    if not found.features:
        return lang("standing_line_none", fdr=fdr, needed=_needed(page))
    return lang("standing_line", fdr=fdr, n=lang.count("feature", len(found.features)))


def _listed(page: Page, features: list[int]) -> Markup:
    """Names of features, the first of many."""
    more = f" (+{len(features) - MOST_NAMES})" if features[MOST_NAMES:] else ""
    return Markup(", ".join(page.feature(j) for j in features[:MOST_NAMES]) + more)


def _heat_map(page: Page) -> Markup:
    """How often each method selects the most frequent features."""
    standing, lang = page.study.standing, page.lang
    kept = set(standing.features)
    body = []
    for j in standing.most_frequent()[:MOST_ROWS].tolist():
        cells = []
        for name, own in standing.frequencies.items():
            text = lang.in_percent(own[j], 0)
            enough = own[j] >= standing.thresholds.get(name, 2.0)
            cells.append((tag("b", text) if enough else text, float(own[j])))
        name = page.feature(j)
        body.append((tag("b", name) if j in kept else name, cells))
    heads = [f"{cut(name, 180.0)} ({lang.integer(q)})" for name, q in standing.sizes.items()]
    return shaded(lang("feature"), heads, body, lang("standing_caption"))
