"""What was found, for everybody: both answers, the honest error, and why."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import numpy as np

from tamiz.evaluation.study import AGREEMENT
from tamiz.reports.language import NONE, find_language
from tamiz.reports.markup import Markup, folded, pairs, tag, visible
from tamiz.reports.page import Page, Section
from tamiz.reports.sections import standing
from tamiz.reports.sections.data import warned
from tamiz.reports.sections.reasons import plain, reason
from tamiz.reports.sections.repeat import measured

FIRST_NAMES = 12
MOST_WARNINGS = 6
#: The same in plain text.
TEXT_NAMES, TEXT_WARNINGS = 10, 3
#: Reasons that the sentences and the answers themselves give already.
GIVEN = frozenset({"selection_bias", "boundary_linear", "boundary_curved", "boundary_rules"})


def build(page: Page) -> Section:
    """The first section."""
    parts = [
        tag("p", question(page), class_="lede"),
        _sampled(page),
        *(tag("div", tag("p", text), class_="warn") for text in first(page)),
        _tiles(page),
        _warned(page),
        _answers(page),
        _ranked(page),
        *(tag("p", text) for text in sentences(page)),
        _why(page),
        _measured(page),
    ]
    return Section("summary", Markup("".join(str(part) for part in parts if part)))


def agreement(value: float) -> str:
    """Key of the words for a stability index."""
    low, high = AGREEMENT
    return (
        "agreement_poor" if value < low else "agreement_fair" if value < high else "agreement_good"
    )


def question(page: Page) -> Markup:
    """What was asked of the table."""
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
    notes = page.notes_of_lead
    if not page.sampled and "sample" not in notes:
        return None
    key = "ranked_all"
    if "sample" in notes or "cuts" in notes:
        key = "ranked_sample" if "sample" in notes else "ranked_cuts"
    rows = tag("b", lang.count("row", page.whole.n_rows))
    texts = [lang.rich(key, rows=rows, method=tag("b", page.lead))]
    if page.sampled:
        values: dict[str, Any] = {"sample": tag("b", lang.integer(page.data.n_samples))}
        if study.seed is not None:
            values["seed"] = visible(study.seed)
        texts.append(lang.rich("sample_lede", **values))
        if page.whole.class_counts:
            texts.append(lang.rich("sample_classes"))
    return tag("p", Markup(" ".join(texts)), class_="sample")


def first(page: Page) -> list[Markup]:
    """What must be read before anything else: cut short, or no signal."""
    lang, found = page.lang, page.found
    texts = []
    if page.cut_short and found is not None:
        n_splits = page.honest.get("n_splits", 0)
        n_planned = len(found.repeat)
        if not n_splits:
            texts.append(lang.rich("cut_short_nothing", all=lang.integer(n_planned)))
        else:
            values = {"done": lang.integer(n_splits), "all": lang.integer(n_planned)}
            rows = n_tested(page)
            if rows is not None:
                values["rows"] = lang.count("row", rows)
            late, failed = _not_competing(page)
            if late:
                values["methods"] = lang.listed(late)
            if failed:
                values["failed"] = lang.listed(failed)
            texts.append(lang.rich("cut_short", **values))
    if page.no_signal:
        best = page.answers.most_accurate
        without = page.honest.get("without_features", np.nan)
        values = {
            "without": tag("b", page.error(without)),
            "error": tag("b", page.error(best.error)),
        }
        less = best.error < without and page.error(best.error) != page.error(without)
        if less and np.isfinite(page.answers.pvalue):
            values["p"] = lang.pvalue(page.answers.pvalue)
        texts.append(lang.rich("no_signal_chance" if less else "no_signal", **values))
    return texts


def _not_competing(page: Page) -> tuple[list[str], list[str]]:
    """Methods that lack a split which others have: not finished there, and failed somewhere."""
    found = page.found
    competing = {triple.method for triple in page.answers.contest.triples}
    known = np.isfinite(found.errors).any(axis=3) | np.isfinite(found.own_errors)
    failed = (np.isfinite(found.judge_seconds) & ~known).any(axis=(1, 2))  # tried, and no error
    late: list[str] = []
    wrong: list[str] = []
    for m, name in enumerate(found.methods):
        if name not in {*competing, "random"}:
            (wrong if failed[m] else late).append(page.method(name))
    return late, wrong


def n_tested(page: Page) -> int | None:
    """How many rows took part in a test at least once; None if it is not known."""
    made = getattr(page.study, "predictions", None)
    return None if made is None else len(np.unique(made.rows))


# ------------------------------------------------------------------------------------- tiles


def _tiles(page: Page) -> Markup:
    lang, honest = page.lang, page.honest
    tiles = []
    if honest:
        tiles.append(_tile(lang("tile_error"), page.error(honest["error"]), interval(page)))
        below = lang("tile_without_below")
        tiles.append(_tile(lang("tile_without"), page.error(honest["without_features"]), below))
        if page.recommended is not None:
            of = lang("tile_of", n=lang.integer(page.whole.n_features))
            tiles.append(_tile(lang("tile_features"), lang.integer(page.recommended.size), of))
            if np.isfinite(page.recommended.agreement):
                value = page.recommended.agreement
                tiles.append(_tile(lang("stability"), lang.fixed(value, 2), lang(agreement(value))))
    elif page.only_tuned:
        tuning = page.study.tuning
        cells = lang("tile_cells", n=lang.integer(len(tuning.cells)))
        tiles.append(_tile(lang("tile_tuned"), lang.number(tuning.best_error, 3), cells))
    elif page.found is None:
        tiles.append(
            _tile(lang("tile_ranked"), lang.integer(page.whole.n_features), page.lead or "")
        )
    test = page.study.permutation
    if test is not None:
        words = lang("signal_yes" if test.pvalue <= 0.05 else "signal_no")
        tiles.append(_tile(lang("signal"), lang.pvalue(test.pvalue), words))
    return tag("div", tiles, class_="tiles") if tiles else Markup("")


def _tile(name: str, value: str, below: str) -> Markup:
    return tag(
        "div",
        tag("p", name, class_="what"),
        tag("p", value, class_="value"),
        tag("p", below, class_="below") if below else None,
        class_="tile",
    )


def interval(page: Page) -> str:
    """The interval of the honest error in words; empty if it is not known."""
    between = page.between(page.honest["low"], page.honest["high"])
    if between == NONE:
        return ""
    level = page.level(page.found.confidence)
    return page.lang("tile_interval", level=level, between=between)


# ---------------------------------------------------------------------------------- warnings


def _warned(page: Page) -> Markup | None:
    items = warned(page)
    if not items:
        return None
    shown = tag("ul", [_warning(page, *item) for item in items[:MOST_WARNINGS]])
    rest = items[MOST_WARNINGS:]
    more = None
    if rest:
        inner = tag("ul", [_warning(page, *item) for item in rest])
        more = folded(page.lang("more_names", n=page.lang.integer(len(rest))), inner)
    return tag("div", tag("h3", page.lang("warnings")), shown, more, class_="warn")


def _warning(page: Page, text: str, own: bool) -> Markup:
    return tag("li", text, lang=None if own or page.lang.code == "en" else "en")


# ----------------------------------------------------------------------------------- answers


def same_answer(page: Page) -> bool:
    """Whether the smallest answer is the most accurate one, too."""
    a, b = page.recommended, page.study.most_accurate
    return b is None or (a.method, a.judge, a.size, a.kind) == (b.method, b.judge, b.size, b.kind)


def _answers(page: Page) -> Markup | None:
    """Both answers side by side; one where they are the same."""
    if page.recommended is None:
        return None
    if same_answer(page):
        return tag("div", _answer(page, page.recommended, "answer_both"), class_="answers")
    cards = [
        _answer(page, page.recommended, "answer_smallest"),
        _answer(page, page.study.most_accurate, "answer_most_accurate"),
    ]
    return tag("div", cards, class_="answers two")


def _answer(page: Page, one: Any, key: str) -> Markup:
    lang = page.lang
    facts = [
        (lang("method"), page.method(one.method)),
        (lang("judge"), visible(one.judge)),
        (lang("honest"), page.with_interval(one.error, one.low, one.high)),
        (lang("mean_in_splits"), page.error(one.mean)),
    ]
    n = lang.count("feature", one.size)
    return tag(
        "div",
        tag("h3", lang(key)),
        tag("p", n, class_="value"),
        pairs(facts),
        _names(page, page.positions(one.features), one.answer),
        class_="answer",
    )


def takes_all(page: Page, chosen: list[int]) -> bool:
    """Whether these are so many that they are not listed, and all that there are."""
    return len(chosen) > FIRST_NAMES and len(chosen) == page.whole.n_features


def _names(page: Page, chosen: list[int], answer: str) -> Markup:
    """Names, best first; buttons that copy them and save them."""
    lang = page.lang
    shown = tag("ol", [tag("li", page.feature(j)) for j in chosen[:FIRST_NAMES]], class_="names")
    rest = chosen[FIRST_NAMES:]
    more = None
    if takes_all(page, chosen):
        shown, rest = tag("p", lang("answer_all")), []
    if rest:
        start = FIRST_NAMES + 1
        items = [tag("li", page.feature(j)) for j in rest]
        others = tag("ol", items, class_="names", start=start)
        more = folded(lang("more_names", n=lang.integer(len(rest))), others)
    words = {"data_done": lang("copied"), "type": "button"}
    buttons = tag(
        "p",
        tag("button", lang("copy_names"), class_="copy-names", **words),
        " ",
        tag("button", lang("save_csv"), class_="save-names", type="button"),
        class_="screen small",
    )
    listed = json.dumps([page.names[j] for j in chosen], ensure_ascii=False)
    return tag("div", shown, more, buttons, class_="features", data_names=listed,
               data_file=f"{answer.replace(' ', '-')}.csv", data_head=lang("feature"))  # fmt: skip


def _ranked(page: Page) -> Markup | None:
    """The features of a ranking that nothing was compared for."""
    if page.recommended is not None or not page.chosen:
        return None
    words = page.lang.rich(
        "advice_ranking",
        n=tag("b", page.lang.count("feature", len(page.chosen))),
        method=tag("b", page.lead),
    )
    return tag("div", tag("p", words), _names(page, page.chosen, "ranking"), class_="advice")


# --------------------------------------------------------------------------------- sentences


def sentences(page: Page) -> list[Markup]:
    """What to expect, in sentences."""
    return [
        *_expected(page),
        *_without(page),
        *_promised(page),
        *_boundary(page),
        *_sizes(page),
        *_signal(page),
        *_adjusted(page),
    ]


def _expected(page: Page) -> list[Markup]:
    lang, honest = page.lang, page.honest
    if page.only_tuned:
        return [lang.rich("only_tuned")]
    if not honest or page.recommended is None:
        return [lang.rich("no_comparison")] if page.found is None else []
    error, values = honest["error"], page.honest_fields()
    if page.found.metric == "error" and 0 < error <= 1 / 3:
        values["one_in"] = lang("one_in", n=lang.integer(1 / error))
    one_split = honest["n_splits"] == 1
    texts = [lang.rich("expect_one_split" if one_split else "expect", **values)]
    n, level = n_tested(page), page.found.confidence
    if n is None and one_split:
        n = int(page.found.n_test[page.answers.contest.splits[0]])
    if page.found.metric == "error" and error == 0 and n:
        bound = 1 - (1 - level) ** (1 / n)  # errors that would go unseen in n samples so often
        shown = {"bound": lang.in_percent(bound, 1), "level": page.level(level)}
        texts.append(lang.rich("no_error_seen", rows=lang.integer(n), **shown))
    return texts


def _without(page: Page) -> list[Markup]:
    """The error beside that without features: a claim only if it holds with a margin."""
    honest, lang = page.honest, page.lang
    if not honest or page.recommended is None:
        return []
    without, high, p = honest["without_features"], honest["high"], honest["pvalue"]
    values = {"without": tag("b", page.error(without))}
    if np.isfinite(high) and high < without and page.error(high) != page.error(without):
        return [lang.rich("without_beaten", **values)]
    if np.isfinite(p):
        return [lang.rich("without_paired", p=lang.pvalue(p), **values)]
    return [lang.rich("without_known", **values)]


def _promised(page: Page) -> list[Markup]:
    best = page.recommended
    if best is None:
        return []
    return [reason(page, best, *one) for one in best.reasons if one[0] == "selection_bias"]


def _boundary(page: Page) -> list[Markup]:
    """Which kind of boundary the data want."""
    best = page.recommended
    if best is None:
        return []
    return [reason(page, best, *one) for one in best.reasons if one[0].startswith("boundary_")]


def _sizes(page: Page) -> list[Markup]:
    """How much the number of features varied where it was chosen inside the splits."""
    if page.recommended is None or page.answers is None:
        return []
    sizes = page.answers.nested["smallest"].sizes
    if len(sizes) < 2:
        return []
    low, high = int(np.min(sizes)), int(np.max(sizes))
    n, size = page.lang.integer(len(sizes)), page.recommended.size
    outside = {} if low <= size <= high else {"answer": page.lang.integer(size)}
    if low == high:
        chosen = page.lang.count("feature", low)
        return [page.lang.rich("sizes_same", n=n, size=chosen, **outside)]
    ends = {"low": page.lang.integer(low), "high": page.lang.count("feature", high)}
    return [page.lang.rich("sizes_vary", n=n, **ends, **outside)]


def _adjusted(page: Page) -> list[Markup]:
    """What the features were adjusted for, and what that changes."""
    made, lang = getattr(page.study, "adjustment", None), page.lang
    if made is None or page.recommended is None:
        return []
    values: dict[str, Any] = {"columns": ", ".join(tag("bdi", name) for name in made.columns)}
    most = [
        f"{page.feature(j)} ({lang.in_percent(made.explained[j], 0)})"
        for j in made.most_explained()[:TEXT_NAMES]
    ]
    if most:
        values["most"] = Markup(", ".join(most))
    values["columns"] = Markup(values["columns"])
    texts = [lang.rich("adjustment_said", **values)]
    size = page.recommended.size
    method = page.method(made.method)
    if not made.left:
        n = lang.count("feature", size)
        return [*texts, lang.rich("adjustment_same", method=method, n=n)]
    changed = {
        key: Markup(", ".join(page.feature(j) for j in those[:TEXT_NAMES]))
        for key, those in (("left", made.left), ("entered", made.entered))
    }
    n = lang.integer(size)
    return [*texts, lang.rich("adjustment_changed", method=method, n=n, **changed)]


def _signal(page: Page) -> list[Markup]:
    test, lang = page.study.permutation, page.lang
    if test is None:
        return []
    key = "shuffled_signal" if test.pvalue <= 0.05 else "shuffled_no_signal"
    counts = {"n": lang.integer(test.n_as_high), "all": lang.integer(test.n_permutations)}
    return [lang.rich(key, p=lang.pvalue(test.pvalue), **counts)]


# ------------------------------------------------------------------------------------ reasons


def reasons_of(page: Page, best: Any) -> list[Markup]:
    """The reasons of an answer that nothing above has given."""
    return [reason(page, best, *one) for one in best.reasons if one[0] not in GIVEN]


def _why(page: Page) -> Markup | None:
    best = page.recommended
    if best is None or not best.reasons:
        return None
    parts = [tag("h3", page.lang("why"))]
    parts.append(tag("ul", [tag("li", text) for text in reasons_of(page, best)]))
    if not same_answer(page):
        items = [tag("li", text) for text in reasons_of(page, page.study.most_accurate)]
        parts.append(folded(page.lang("why_accurate"), tag("ul", items)))
    return tag("div", parts, class_="why")


def _measured(page: Page) -> Markup | None:
    items = measured(page)
    if not items:
        return None
    inner = tag("ul", [tag("li", text) for text in items])
    return folded(page.lang("measured"), inner)


# ------------------------------------------------------------------------------ as plain text


def summary(study: Any, lang: str = "en", width: int = 88) -> list[str]:
    """What was found, line by line, as the first section of the report says it.

    Parameters
    ----------
    study : Study
        What was found.
    lang : {"en", "es"}, default="en"
        Language.
    width : int, default=88
        Lines are at most so long.

    Returns
    -------
    lines : list of str

    Examples
    --------
    >>> from tamiz.data import load
    >>> from tamiz.filters import FisherScore
    >>> from tamiz.reports import Study, summary
    >>> data = load("d8")
    >>> found = FisherScore(2).fit(data.X, data.y).selection_
    >>> summary(Study(data, {"fisher": found}))[0]
    'Which of 3 features tell the 2 classes of “target” apart? Studied on 8 rows.'
    """
    page = Page(study, find_language(lang))
    lines = _wrapped(question(page), width)
    for text in first(page):
        lines += _wrapped(text, width)
    alarms = warned(page)
    for alarm, _ in alarms[:TEXT_WARNINGS]:
        lines += _wrapped(alarm, width, "! ")
    if alarms[TEXT_WARNINGS:]:
        more = page.lang.integer(len(alarms) - TEXT_WARNINGS)
        lines.append(f"! {page.lang('more_warnings', n=more)}")
    best = page.recommended
    if best is not None:
        both = same_answer(page)
        lines += [
            "",
            *_answer_lines(page, best, "answer_both" if both else "answer_smallest", width),
        ]
        if not both:
            lines += _answer_lines(page, study.most_accurate, "answer_most_accurate", width)
        line = standing.line(page)
        if line is not None:
            lines += _wrapped(line, width)
            lines += _name_lines(page, page.study.standing.features, width)
    elif page.chosen:
        n = page.lang.count("feature", len(page.chosen))
        said = page.lang.rich("advice_ranking", n=n, method=page.lead or "")
        lines += ["", *_wrapped(said, width), *_name_lines(page, page.chosen, width)]
    texts = sentences(page)
    if texts:
        lines += ["", *_wrapped(" ".join(plain(text) for text in texts), width)]
    if best is not None:
        reasons = reasons_of(page, best)
        lines += ["", f"{page.lang('why')}:"] if reasons else []
        for text in reasons:
            lines += _wrapped(text, width, "- ")
    return lines


def _answer_lines(page: Page, one: Any, key: str, width: int) -> list[str]:
    """An answer: how many features, by whom, with which error, and their names."""
    said = page.lang(
        "answer_line",
        what=page.lang(key),
        n=page.lang.count("feature", one.size),
        method=page.method(one.method),
        judge=one.judge,
        error=page.with_interval(one.error, one.low, one.high),
    )
    return [*_wrapped(said, width), *_name_lines(page, page.positions(one.features), width)]


def _name_lines(page: Page, chosen: list[int], width: int) -> list[str]:
    if takes_all(page, chosen):
        return [f"    {page.lang('answer_all')}"]
    names = ", ".join(plain(page.feature(j)) for j in chosen[:TEXT_NAMES])
    rest = f", … (+{len(chosen) - TEXT_NAMES})" if chosen[TEXT_NAMES:] else ""
    return textwrap.wrap(f"{names}{rest}", width, initial_indent="    ", subsequent_indent="    ")


def _wrapped(content: Any, width: int, mark: str = "") -> list[str]:
    indent = " " * len(mark)
    return textwrap.wrap(plain(content), width, initial_indent=mark, subsequent_indent=indent)
