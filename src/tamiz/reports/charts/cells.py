"""Maps of cells: which features the splits select, and the error over two parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.reports.charts.drawing import TEXT, Drawing, mark
from tamiz.reports.charts.scales import cut, text_width
from tamiz.reports.markup import Markup, short, tag
from tamiz.reports.page import Page

MOST_SPLITS = 60


def cell(x: float, y: float, w: float, h: float, strength: float, css: str = "cell") -> Markup:
    """A rectangle, the stronger the darker."""
    return tag(
        "rect",
        x=float(x),
        y=float(y),
        width=float(w),
        height=float(h),
        class_=css,
        fill_opacity=float(round(strength, 2)),
    )


def draw_masks(drawing: Drawing, page: Page, found: Any, rows: list[int]) -> None:
    """Features by splits: filled where the split selects the feature, its fraction at the right."""
    masks = found.masks[:MOST_SPLITS]
    n_splits = len(masks)
    names = [page.names[j] for j in rows]
    room = min(110.0 if drawing.narrow else 220.0, max(text_width(n, TEXT) for n in names))
    left = room + 10
    right = drawing.width - 52
    top, height = 8.0, 20.0
    width = min(26.0, (right - left) / n_splits)
    bottom = top + height * len(rows)
    drawing.height = bottom + 26
    gap = 1.0 if width > 5 else 0.3
    for k, j in enumerate(rows):
        y = top + height * k
        drawing.text(left - 8, y + 14, cut(names[k], room), "name", "end")
        for s in range(n_splits):
            strength = 0.85 if masks[s, j] else 0.07
            drawing.add(cell(left + width * s, y + 1, width - gap, height - 2, strength))
        fraction = page.lang.in_percent(found.frequency[j], 0)
        end = left + width * n_splits
        drawing.text(end + 8, y + 14, fraction, "tick")
        text = page.lang(
            "selected_in",
            n=page.lang.integer(found.masks[:, j].sum()),
            all=page.lang.integer(len(found.masks)),
            fraction=fraction,
        )
        drawing.stop(
            left + width * n_splits / 2,
            y + height / 2,
            names[k],
            [("", "", text, None)],
            (0.0, height),
        )
    words = page.lang("splits_axis", n=page.lang.integer(n_splits))
    if left + 1.1 * text_width(words, TEXT) < drawing.width:
        drawing.text(left, bottom + 18, words, "label")
    else:
        drawing.text(drawing.width - 4, bottom + 18, words, "label", "end")


def draw_grid(
    drawing: Drawing,
    page: Page,
    names: tuple[str, str],
    values: tuple[list[float], list[float]],
    errors: np.ndarray,
    best: tuple[float, float],
    show: Any,
) -> None:
    """Error over two parameters: the lower the darker, the chosen cell marked."""
    columns, rows = values
    left = 10 + max(text_width(page.lang.number(v, 2), TEXT) for v in rows)
    top, right = 28.0, drawing.width - 10
    width = min(58.0, (right - left) / len(columns))
    height = min(34.0, max(16.0, width * 0.62))
    bottom = top + height * len(rows)
    drawing.height = bottom + 46
    drawing.text(2, top - 12, names[1], "label")
    least, most = np.nanmin(errors), np.nanmax(errors)
    step = max(1, int(np.ceil(13 / height)))
    for r, row in enumerate(rows):  # the largest value on top
        y = bottom - height * (r + 1)
        if r % step == 0:
            drawing.text(left - 6, y + height / 2 + 4, page.lang.number(row, 2), "tick", "end")
        for c, column in enumerate(columns):
            x = left + width * c
            error = errors[r, c]
            here = (column, row) == best
            if np.isfinite(error):
                strength = 0.06 + 0.94 * (1.0 if most == least else (most - error) / (most - least))
                drawing.add(cell(x, y, width - 1, height - 1, strength))
            else:
                drawing.add(cell(x, y, width - 1, height - 1, 1.0, "cell none"))
            heading = (
                f"{names[0]} = {page.lang.number(column)}, {names[1]} = {page.lang.number(row)}"
            )
            text = show(error) + (f" · {page.lang('chosen_cell')}" if here else "")
            drawing.stop(
                x + width / 2, y + height / 2, heading, [("", "", text, None)], (width, height)
            )
            if here:
                drawing.add(
                    mark(0, x + width / 2, y + height / 2, "best", min(height, width) / 3.2)
                )
    reach = float("-inf")
    for c, column in enumerate(columns):
        at, text = left + width * (c + 0.5), page.lang.number(column, 2)
        half = text_width(text, TEXT) / 2
        if at - half > reach + 5:
            drawing.text(at, bottom + 17, text, "tick", "middle")
            reach = at + half
    drawing.text(left + width * len(columns) / 2, bottom + 36, names[0], "label", "middle")


def draw_correlations(
    drawing: Drawing, page: Page, features: list[int], found: np.ndarray, mine: set[int]
) -> None:
    """A table of correlations: the stronger the darker, negative ones in another colour."""
    names = [page.names[j] for j in features]
    room = min(120.0 if drawing.narrow else 200.0, max(text_width(n, TEXT) for n in names) + 22)
    left, top = room + 8, 6.0
    width = min(26.0, (drawing.width - left - 6) / len(features))
    height = max(width, 15.0) if drawing.narrow else max(width, 13.0)
    drawing.height = top + height * len(features) + 24
    shades: dict[tuple[bool, float], list[str]] = {}
    for r, j in enumerate(features):
        y = top + height * r
        chosen = j in mine
        css = "small strong" if chosen else "small"
        dot = "● " if chosen else ""
        drawing.text(left - 6, y + height / 2 + 4, cut(dot + names[r], room, 11), css, "end")
        for c, i in enumerate(features):
            value = float(found[r, c])
            x = left + width * c
            shade = (value < 0, round(0.05 + 0.95 * abs(value) ** 1.5, 1))
            w, h = short(width - 0.8), short(height - 0.8)
            shades.setdefault(shade, []).append(f"M{short(x)} {short(y)}h{w}v{h}h-{w}z")
            if c < r:
                text = page.lang.fixed(value, 2)
                spot = (x + width / 2, y + height / 2)
                heading = f"{names[r]} · {page.names[i]}"
                drawing.stop(*spot, heading, [("", "", text, None)], (width, height))
    for (against, strength), boxes in shades.items():
        css = "cell against" if against else "cell"
        drawing.add(tag("path", d="".join(boxes), class_=css, fill_opacity=strength))
    drawing.text(left, drawing.height - 6, page.lang("chosen_mark"), "note")


def draw_choices(
    drawing: Drawing, page: Page, rows: list[int], masks: np.ndarray, splits: list[tuple[str, str]]
) -> None:
    """Features by splits, as each split chose them inside; numbers of features on top.

    ``splits`` holds for each split the number of features and how they were found.
    """
    names = [page.names[j] for j in rows]
    room = min(110.0 if drawing.narrow else 220.0, max(text_width(n, TEXT) for n in names))
    left, right = room + 10, drawing.width - 48
    n_splits = min(len(splits), MOST_SPLITS)
    width = min(34.0, (right - left) / n_splits)
    top, height = 34.0, 20.0
    drawing.height = top + height * len(rows) + 6
    words = page.lang("sizes_above")
    if left + text_width(words, TEXT) < drawing.width:
        drawing.text(left, 12, words, "label")
    else:
        drawing.text(drawing.width - 4, 12, words, "label", "end")
    reach = float("-inf")
    for s in range(n_splits):
        at, half = left + width * (s + 0.5), text_width(splits[s][0], 11) / 2
        if at - half > reach + 3:
            drawing.text(at, top - 6, splits[s][0], "small", "middle")
            reach = at + half
        drawing.stop(at, (top + drawing.height) / 2, *_choice(page, s, splits[s]))
    for k, j in enumerate(rows):
        y = top + height * k
        drawing.text(left - 8, y + 14, cut(names[k], room), "name", "end")
        for s in range(n_splits):
            strength = 0.85 if masks[s, j] else 0.07
            drawing.add(cell(left + width * s, y + 1, width - 1, height - 2, strength))
        fraction = page.lang.in_percent(float(masks[:, j].mean()), 0)
        drawing.text(left + width * n_splits + 6, y + 14, fraction, "tick")


def _choice(
    page: Page, s: int, split: tuple[str, str]
) -> tuple[str, list[tuple[str, str, str, float | None]]]:
    heading = page.lang("split_number", n=page.lang.integer(s + 1))
    return heading, [
        ("", page.lang("n_features"), split[0], None),
        ("", page.lang("found_by"), split[1], None),
    ]
