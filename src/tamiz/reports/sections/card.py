"""How good the predictions are: confusion matrix, report card, ROC and precision–recall curves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

from tamiz.reports.charts.drawing import Drawing, figure, legend, swatch
from tamiz.reports.charts.ranks import Rates, draw_rates
from tamiz.reports.charts.scales import Linear, cut
from tamiz.reports.markup import Markup, folded, shaded, table, tag, visible
from tamiz.reports.page import Page, Section, style

LONG = 180.0  # so wide may a heading be
MOST_CURVES = 8


def build(page: Page) -> Section | None:
    """The section of the report card."""
    card = page.study.card
    if card is None:
        return None
    lang = page.lang
    intro = _made(page, card)
    if card.positive is not None:
        intro += " " + lang("positive_class", name=class_name(page, card.positive))
    parts = [tag("p", intro), _honest(page), _confusion(page, card), _metrics(page, card)]
    parts += [_margin(page, card), _curves(page, card)]
    if card.per_class:
        parts.append(folded(lang("per_class"), _per_class(page, card)))
    return Section("card", Markup("".join(part for part in parts if part)))


def _made(page: Page, card: Any) -> str:
    """Which predictions are counted."""
    made, lang = getattr(page.study, "predictions", None), page.lang
    total = int(np.sum(card.confusion))
    if made is None:
        return lang("card_intro", n=lang.integer(total))
    rows = len(np.unique(made.rows))
    values = {"n": lang.integer(total), "rows": lang.count("row", rows)}
    if rows < page.whole.n_rows:
        values["left"] = lang.count("row", page.whole.n_rows - rows)
    return lang("card_intro_once" if total == rows else "card_intro_repeats", **values)


def _honest(page: Page) -> Markup | None:
    """The error of the whole procedure, the same as in the summary."""
    lang = page.lang
    if not page.honest:
        return None
    pooled = None if page.found.metric == "error" else lang.rich("card_pooled")
    line = lang.rich("card_honest", **page.honest_fields())
    return tag("p", line, " " if pooled else None, pooled, class_="honest")


def class_name(page: Page, label: Any) -> str:
    """The name of a class by its label."""
    data = page.data
    if data.y is not None and data.target_names is not None:
        for value, name in zip(np.unique(data.y).tolist(), data.target_names, strict=False):
            if value == label or str(value) == str(label):
                return visible(name)
    return visible(label)


def _confusion(page: Page, card: Any) -> Markup:
    lang = page.lang
    names = [class_name(page, label) for label in card.classes]
    rows = []
    for name, counts in zip(names, np.asarray(card.confusion, dtype=float), strict=True):
        total = counts.sum()
        cells = []
        for count in counts:
            fraction = count / total if total else np.nan
            small = tag("small", lang.in_percent(fraction, 0)) if count else None
            cells.append(
                (Markup(tag("b", lang.number(count)) + (" " + small if small else "")), fraction)
            )
        rows.append((lang("is_class", name=name), cells))
    heads = [lang("predicted_class", name=cut(name, LONG)) for name in names]
    return shaded(lang("true_predicted"), heads, rows, lang("confusion_caption"))


def _metrics(page: Page, card: Any) -> Markup:
    lang = page.lang
    rows = []
    for name, metric in card.metrics.items():
        if name == "roc_area" and _is_mixed(page):
            continue  # it is of values that have no common scale
        low, high = metric.interval
        span = (
            "–"
            if np.isnan(low)
            else lang("between", low=_score(page, low), high=_score(page, high))
        )
        why = (
            tag("small", visible(metric.reason))
            if metric.reason and np.isnan(metric.value)
            else None
        )
        rows.append(
            [
                lang.of("score", name),
                Markup(tag("span", _score(page, metric.value)) + (why or "")),
                span,
                _bar(metric.value, low, high, name),
                lang(f"means_{name}") if lang.has(f"means_{name}") else "",
            ]
        )
    level = page.level(card.confidence)
    head = [lang("measure"), lang("value"), lang("interval_of", level=level), "", lang("meaning")]
    return table(head, rows, lang("card_caption"), text=(0, 3, 4), css="card")


def _margin(page: Page, card: Any) -> Markup | None:
    """How many predictions lie inside, on and beyond the margin, and how many of them are right."""
    if card.margin is None:
        return None
    lang = page.lang
    rows = []
    for place, part in card.margin.parts.items():
        if not part.n_samples:
            continue
        cells: list[Any] = [lang.of("margin", place), lang.number(part.n_samples)]
        for metric in (part.fraction, part.accuracy):
            low, high = metric.interval
            cells.append(_score(page, metric.value))
            cells.append(lang("between", low=_score(page, low), high=_score(page, high)))
        rows.append(cells)
    span = lang("interval_of", level=page.level(card.confidence))
    head = [lang("place"), lang("number_there"), lang("fraction_there"), span]
    made = int(sum(part.n_samples for part in card.margin.parts.values()))
    total = int(np.sum(card.confusion))
    note = lang("margin_note" if made == total else "margin_note_some", n=lang.integer(made))
    found = table([*head, lang("right_there"), span], rows, lang("margin_caption"))
    return folded(lang("margin_title"), Markup(found + tag("p", note, class_="fine")))


def _score(page: Page, value: float) -> str:
    return page.lang.fixed(value, 3)


def _bar(value: float, low: float, high: float, name: str) -> Markup | None:
    """A point with its interval on a line from 0 (or −1) to 1; the numbers stand beside it."""
    if np.isnan(value):
        return None
    x = Linear(-1.0 if name == "mcc" else 0.0, 1.0, 4.0, 116.0)
    parts = [tag("path", d="M4 9L116 9", class_="grid")]
    if not np.isnan(low):
        parts.append(tag("path", d=f"M{x(low):.1f} 9L{x(high):.1f} 9", class_="whisker c1"))
    parts.append(tag("circle", cx=x(value), cy=9.0, r=4.0, class_="mark c1"))
    return tag("svg", parts, viewBox="0 0 120 18", width="120", height="18", aria_hidden="true")


def _per_class(page: Page, card: Any) -> Markup:
    lang = page.lang
    names = list(next(iter(card.per_class.values())))
    head = [lang("class"), *(lang.of("score", name) for name in names)]
    rows = [
        [class_name(page, label), *(_score(page, metrics[name].value) for name in names)]
        for label, metrics in card.per_class.items()
    ]
    return table(head, rows, lang("per_class_caption"))


# ------------------------------------------------------------------------------------- curves


def _scored(page: Page, card: Any) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """For each positive class its name, who is of it, and the decision values for it."""
    made = getattr(page.study, "predictions", None)
    if made is None or made.values is None:
        return []
    values = _within_splits(page, made) if _is_mixed(page) else made.values
    if made.values.shape[1] == 1:
        return [(class_name(page, card.positive), made.truth == 1, values[:, 0])]
    names = [visible(name) for name in page.data.target_names or np.unique(page.data.y).tolist()]
    found = [(name, made.truth == k, values[:, k]) for k, name in enumerate(names)]
    return [one for one in found if 0 < one[1].sum() < len(one[1])][:MOST_CURVES]


def _curves(page: Page, card: Any) -> Markup | None:
    """ROC and precision–recall curves, side by side."""
    lang, scored = page.lang, _scored(page, card)
    rates = []
    for name, positive, values in scored:
        fpr, tpr, _ = roc_curve(positive, values)
        rates.append(Rates(name, fpr, tpr, np.nan))
    if not rates:
        rates = [
            Rates(class_name(page, one["class"]), np.asarray(one["fpr"]), np.asarray(one["tpr"]),
                  np.nan)
            for one in card.roc
        ]  # fmt: skip
    if not rates:
        return None
    areas = [float(auc(one.x, one.y)) for one in rates]
    parts = [_rates(page, rates, areas, "roc", ("false_positives", "true_positives"))]
    if scored:
        found, precise = [], []
        for name, positive, values in scored:
            precision, recall, _ = precision_recall_curve(positive, values)
            found.append(Rates(name, recall[::-1], precision[::-1], float(positive.mean())))
            precise.append(float(average_precision_score(positive, values)))
        parts.append(_rates(page, found, precise, "recall", ("true_positives", "precise")))
    judges = ", ".join(_judges_chosen(page))
    note = tag("p", lang("curves_within", judges=judges), class_="fine")
    both = tag("div", parts, class_="beside")
    return Markup(both + (note if scored and _is_mixed(page) else ""))


def _is_mixed(page: Page) -> bool:
    """Whether the predictions come from judges of several kinds."""
    return len(_judges_chosen(page)) > 1


def _within_splits(page: Page, made: Any) -> np.ndarray:
    """Decision values as ranks within each test part: those of different judges have no scale."""
    nested = page.answers.nested["smallest"]
    sizes = page.found.n_test[nested.contest.splits[nested.chosen >= 0]]
    if sizes.sum() != len(made.values):
        return made.values
    parts = np.split(made.values, np.cumsum(sizes)[:-1])
    return np.concatenate([rankdata(part, axis=0) / (len(part) + 1) for part in parts])


def _judges_chosen(page: Page) -> list[str]:
    """The judges that the splits chose: decision values of several kinds are not of one scale."""
    if page.answers is None:
        return []
    nested = page.answers.nested["smallest"]
    return sorted({nested.contest.triples[t].judge for t in nested.chosen.tolist() if t >= 0})


def _rates(
    page: Page, rates: list[Rates], areas: list[float], kind: str, axes: tuple[str, str]
) -> Markup:
    lang = page.lang
    entries: list[tuple[int | None, Markup, str]] = [
        (k, swatch(style(k), "plain"), f"{one.name} ({_score(page, areas[k])})")
        for k, one in enumerate(rates)
    ]
    least = int(np.argmin(areas))
    key = f"{kind}_finding" if len(rates) == 1 else f"{kind}_finding_several"
    finding = lang(
        key,
        area=_score(page, areas[least]),
        name=rates[least].name,
        chance=_score(page, rates[least].level),
    )
    labels = (lang(axes[0]), lang(axes[1]))

    def draw(drawing: Drawing) -> None:
        draw_rates(drawing, page, rates, labels, f"at_{axes[0]}")

    title = lang(f"{kind}_title")
    return figure(page, draw, title, finding, above=legend(entries), widths=(376.0, 330.0))
