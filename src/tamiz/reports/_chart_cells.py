"""Maps of cells: which features the splits select, and the error over two parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.reports._chart import TEXT, Drawing, mark
from tamiz.reports._html import Markup, tag
from tamiz.reports._page import Page
from tamiz.reports._scales import cut, text_width

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
    """Features by splits: filled where the split selects the feature, its share at the right."""
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
        share = page.lang.share(found.frequency[j], 0)
        end = left + width * n_splits
        drawing.text(end + 8, y + 14, share, "tick")
        text = page.lang(
            "selected_in",
            n=page.lang.whole(found.masks[:, j].sum()),
            all=page.lang.whole(len(found.masks)),
            share=share,
        )
        drawing.stop(
            left + width * n_splits / 2,
            y + height / 2,
            names[k],
            [("", "", text, None)],
            (0.0, height),
        )
    words = page.lang("splits_axis", n=page.lang.whole(n_splits))
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
