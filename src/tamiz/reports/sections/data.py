"""The table: its size, its columns, and what a reader should be warned of."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tamiz.data.plan import perhaps_identifiers
from tamiz.evaluation.study.plan import USUAL_FOLDS
from tamiz.reports.charts.drawing import TEXT, Drawing, figure
from tamiz.reports.charts.scales import cut, text_width
from tamiz.reports.markup import Markup, folded, pairs, table, tag, visible
from tamiz.reports.page import Page, Section, style

MOST_BARS = 12
MOST_ASIDE = 200


def build(page: Page) -> Section:
    """The section of the data."""
    parts = [
        _facts(page),
        _warnings(page),
        _classes(page),
        _missing(page),
        _aside(page),
        _notes(page),
    ]
    return Section("data", Markup("".join(str(part) for part in parts if part)))


def _facts(page: Page) -> Markup:
    data, lang, whole = page.data, page.lang, page.whole
    entries: list[tuple[str, str]] = []
    if data.name:
        entries.append((lang("data_name"), visible(data.name)))
    if data.source:
        entries.append((lang("data_source"), visible(data.source)))
    entries.append((lang("rows"), lang.integer(whole.n_rows)))
    if page.sampled:
        n, fraction = (
            lang.count("row", data.n_samples),
            lang.in_percent(data.n_samples / whole.n_rows, 1),
        )
        entries.append((lang("sample"), lang("sample_of", n=n, fraction=fraction)))
    roles = Counter(data.roles.get(name, "numeric") for name in whole.feature_names)
    kinds = ", ".join(
        f"{lang.integer(n)} {lang.of('role' if n == 1 else 'roles', role)}"
        for role, n in roles.most_common()
    )
    entries.append((lang("features"), f"{lang.integer(whole.n_features)} ({kinds})"))
    coded = _indicators(page)
    if coded:
        columns = lang.count("column", len(coded))
        n = lang.integer(sum(map(len, coded.values())))
        example = visible(next(iter(coded.values()))[0])
        entries.append(
            (lang("indicators"), lang("indicators_of", n=n, columns=columns, name=example))
        )
    if data.y is not None:
        task = lang.of("task", str(data.task)) if data.task else ""
        entries.append(
            (lang("target"), f"{visible(data.target or 'y')}{' · ' if task else ''}{task}")
        )
    cells = int(np.sum(whole.missing))
    total = whole.n_rows * whole.n_features
    fraction = f" ({lang.in_percent(cells / total, 1)})" if cells and total else ""
    entries.append((lang("missing_cells"), lang.integer(cells) + fraction))
    return pairs(entries)


def _indicators(page: Page) -> dict[str, list[str]]:
    """Columns of categories that are no features themselves, and the indicators made of them."""
    data, names = page.data, page.whole.feature_names
    features = set(names)
    stems = [s for s in data.roles if s not in features and s not in data.aside and s]
    made = {stem: [f for f in names if f.startswith(f"{stem}=")] for stem in stems}
    return {stem: names for stem, names in made.items() if names}


# ---------------------------------------------------------------------------------- warnings


def _warnings(page: Page) -> Markup | None:
    lang = page.lang
    sure, in_sample = _found_in_columns(page)
    items = [tag("li", text) for text in sure]
    where = _where_looked(page)
    if not items and not in_sample:
        return tag("p", lang("no_warnings"), where and f" {where}", class_="fine")
    parts = [tag("ul", items)] if items else []
    if in_sample:
        parts.append(tag("p", lang("in_sample", n=lang.count("row", page.data.n_samples))))
        parts.append(tag("ul", [tag("li", text) for text in in_sample]))
    if where:
        parts.append(tag("p", where, class_="fine"))
    return tag("div", tag("h3", lang("warnings")), parts, class_="warn")


def _where_looked(page: Page) -> str | None:
    """Where repeated columns and the like were looked for, if not everywhere."""
    lang, n = page.lang, page.whole.n_looked
    if n == 0:
        return None
    among = {} if n is None else {"among": lang.count("column", n)}
    if page.sampled:
        return lang("looked_sample", **among)
    return lang("looked_among", **among) if among else None


def _found_in_columns(page: Page) -> tuple[list[str], list[str]]:
    """What is so in all rows, and what is so in a sample of them."""
    data, lang, whole = page.data, page.lang, page.whole
    texts: list[str] = []
    in_sample: list[str] = []
    features = set(whole.feature_names)
    said = {one["code"] for one in getattr(page.study, "warnings", None) or []}  # in the summary
    made = {name for names in _indicators(page).values() for name in names}
    for role in ("leak", "constant", "duplicate", "empty", "id", "text", "date"):
        for roles, found in ((data.roles, texts), (whole.compared, in_sample)):
            if role in said and found is texts:
                continue
            names = [n for n, its in roles.items() if its == role and n not in made]
            if names:
                kept = role == "empty" and features.issuperset(names)
                key = "warn_empty_kept" if kept else f"warn_{role}"
                listed = lang.listed([visible(n) for n in names])
                found.append(lang(key, n=lang.count("column", len(names)), names=listed))
    doubtful = [] if "id" in said else _doubtful(page)
    if doubtful:
        n = lang.count("column", len(doubtful))
        found = in_sample if page.sampled else texts
        found.append(lang("warn_doubtful", n=n, names=lang.listed(doubtful)))
    counts = whole.class_counts
    if counts:
        small = min(counts.values())
        large = max(counts.values())
        name = visible(min(counts, key=lambda label: counts[label]))
        if small < 5:
            texts.append(lang("warn_small_class", name=name, n=lang.count("row", small)))
        elif large > 9 * small and "skew" not in said:
            texts.append(
                lang(
                    "warn_unbalanced",
                    name=name,
                    fraction=lang.in_percent(small / sum(counts.values()), 1),
                )
            )
    if whole.n_features > 10 * whole.n_rows:
        n, rows = lang.integer(whole.n_features), lang.integer(whole.n_rows)
        texts.append(lang("warn_wide", features=n, rows=rows))
    return texts, in_sample


def _doubtful(page: Page) -> list[str]:
    """Features that may be identifiers."""
    data = page.data
    if page.whole.doubtful is not None:
        return [visible(name) for name in page.whole.doubtful]
    if not isinstance(data.X, np.ndarray) or data.X.dtype == object:
        return []
    names = [str(name) for name in data.feature_names]
    plain = [j for j, name in enumerate(names) if data.roles.get(name, "numeric") == "numeric"]
    return [visible(names[j]) for j in perhaps_identifiers(data.X, names, plain)]


def warned(page: Page) -> list[tuple[str, bool]]:
    """Warnings of the study, and whether they are in the language of the page."""
    texts = []
    for one in getattr(page.study, "warnings", None) or []:
        own = _in_words(page, one["code"], [str(name) for name in one["columns"]])
        texts.append((visible(one["text"]) if own is None else own, own is not None))
    return texts


def _in_words(page: Page, code: str, columns: list[str]) -> str | None:
    """The words for a warning; None if there are none for its code."""
    lang, data, counts = page.lang, page.data, page.whole.class_counts
    if code == "skew" and counts:
        name = min(counts, key=lambda label: counts[label])
        fraction = lang.in_percent(counts[name] / sum(counts.values()), 1)
        n, all_rows = lang.integer(counts[name]), lang.count("row", sum(counts.values()))
        return lang("warning_skew", name=visible(name), n=n, all=all_rows, fraction=fraction)
    if code == "few_rows" and counts:
        few = [
            f"{lang('quoted', name=visible(name))} ({lang.integer(n)})"
            for name, n in counts.items()
            if n < USUAL_FOLDS
        ]
        values = {"classes": ", ".join(few), "least": lang.integer(USUAL_FOLDS)}
        plan = getattr(page.study, "plan", None)
        folds = {} if plan is None else {"folds": lang.integer(plan.cv)}
        return lang("warning_few_rows", **values, **folds)
    used = set(columns) & set(data.feature_names)
    key = f"warning_{code}_used" if used and lang.has(f"warning_{code}_used") else f"warning_{code}"
    if len(columns) == 1 and lang.has(f"{key}_one"):
        key = f"{key}_one"
    if not columns or code == "skew" or not lang.has(key):
        return None
    names = [visible(name) for name in columns]
    free = not {"time", "groups"} & set(data.extras)
    if code == "date" and free and len(columns) > 1 and not data.dated_by:
        key = "warning_date_which"
    values = {"names": lang.listed(names), "n": lang.count("column", len(names))}
    if free:
        if code == "batches":
            values["apart"] = names[0]
        elif code == "date":
            values["when"] = visible(data.dated_by) if data.dated_by else names[0]
        elif code == "drift" and data.dated_by:
            values["dated"] = visible(data.dated_by)
    return lang(key, **values, first=names[0])


# ------------------------------------------------------------------------------------- charts


def _classes(page: Page) -> Markup | None:
    counts = page.whole.class_counts
    if not counts:
        return None
    lang, total = page.lang, sum(counts.values())
    entries = [
        (visible(name), n, f"{lang.integer(n)} · {lang.in_percent(n / total, 1)}")
        for name, n in counts.items()
    ]
    largest = max(entries, key=lambda e: e[1])
    finding = lang(
        "classes_finding", name=largest[0], fraction=lang.in_percent(largest[1] / total, 1)
    )
    styles = [style(k % 8).css for k in range(len(entries))]
    return figure(page, lambda d: _bars(d, entries, styles), lang("classes_title"), finding)


def _missing(page: Page) -> Markup | None:
    lang, n_rows = page.lang, page.whole.n_rows
    missing = np.asarray(page.whole.missing)
    if not missing.any():
        return None
    order = np.argsort(-missing, kind="stable")[:MOST_BARS]
    entries = [
        (
            page.names[j],
            int(missing[j]),
            f"{lang.integer(missing[j])} · {lang.in_percent(missing[j] / n_rows, 1)}",
        )
        for j in order.tolist()
        if missing[j]
    ]
    finding = lang(
        "gaps_finding",
        n=lang.count("column", int((missing > 0).sum())),
        name=entries[0][0],
        fraction=lang.in_percent(entries[0][1] / n_rows, 1),
    )
    return figure(
        page, lambda d: _bars(d, entries, ["c1"] * len(entries)), lang("gaps_title"), finding
    )


def _bars(drawing: Drawing, entries: list[tuple[str, int, str]], styles: list[str]) -> None:
    """A bar for each entry, its name before and its number behind."""
    row = 38.0 if drawing.narrow else 26.0
    left, wide = 4.0, 0.0
    if not drawing.narrow:
        wide = min(200.0, max(text_width(name, TEXT) for name, _, _ in entries))
        left = 14 + wide
    tail = max(text_width(text, TEXT) for _, _, text in entries) + 12
    room = drawing.width - left - tail
    most = max(n for _, n, _ in entries) or 1
    drawing.height = row * len(entries) + 6
    for k, (name, n, text) in enumerate(entries):
        y = row * k + 4
        if drawing.narrow:
            drawing.text(left, y + 12, cut(name, drawing.width - 12), "name")
            y += 16
        else:
            drawing.text(left - 10, y + 14, cut(name, wide), "name", "end")
        length = max(1.0, room * n / most)
        drawing.add(
            tag("rect", x=left, y=y + 2, width=length, height=15.0, class_=f"bar {styles[k]}")
        )
        drawing.text(left + length + 8, y + 14, text, "tick")


# -------------------------------------------------------------------------------------- lists


def _aside(page: Page) -> Markup | None:
    data, lang = page.data, page.lang
    if not data.aside:
        return None
    rows = []
    for name, why in list(data.aside.items())[:MOST_ASIDE]:
        role = data.roles.get(name, "")
        words = lang(f"aside_{role}") if lang.has(f"aside_{role}") else visible(why)
        rows.append([tag("bdi", visible(name)), words])
    caption = lang("aside_caption", n=lang.count("column", len(data.aside)))
    return table([lang("column"), lang("reason")], rows, caption, text=(0, 1))


def _notes(page: Page) -> Markup | None:
    lang = page.lang
    found = [] if page.found is None else list(page.found.notes)
    notes = dict.fromkeys([*page.data.notes, *(page.study.notes or []), *found])
    if not notes:
        return None
    other = None if lang.code == "en" else "en"
    items = tag("ul", [tag("li", visible(note), lang=other) for note in notes])
    return folded(lang("notes", n=lang.integer(len(notes))), items)
