"""Markup that cannot be broken by data: whatever is not markup already is escaped.

Tables of a report, plain and shaded, and lists of definitions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

#: Elements without content.
_VOID = frozenset({"meta", "br", "input", "hr"})
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """Text that is HTML or SVG already."""

    __slots__ = ()


def visible(text: Any) -> str:
    """Text with control characters as their pictures, and half characters as a question mark."""
    return _CONTROL.sub(_picture, str(text))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def escape(content: Any) -> Markup:
    """Content as markup: escaped, unless it is markup; sequences are joined, None is nothing."""
    if isinstance(content, Markup):
        return content
    if content is None:
        return Markup("")
    if isinstance(content, Iterable) and not isinstance(content, str):
        return Markup("".join(escape(part) for part in content))
    return Markup(visible(content).translate(_ESCAPES))


def tag(name: str, /, *content: Any, **attributes: Any) -> Markup:
    """An element.

    Attribute names lose a trailing underscore and have hyphens for the others. None and False leave
    an attribute out; True writes its name alone.
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        shown = key.rstrip("_").replace("_", "-")
        parts.append(shown if value is True else f'{shown}="{escape(_attribute(value))}"')
    opening = f"<{' '.join(parts)}>"
    if name in _VOID:
        return Markup(opening)
    return Markup(f"{opening}{''.join(escape(part) for part in content)}</{name}>")


def _attribute(value: Any) -> Any:
    if isinstance(value, float):
        return short(value)
    return value


def short(value: float) -> str:
    """A coordinate: at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def json_block(value: Any) -> Markup:
    """JSON that may stand inside a script element, whatever its strings hold."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Markup(text)


# ------------------------------------------------------------------------------------------- tables


SHADES = 10


def table(
    head: Sequence[Any],
    rows: Sequence[Sequence[Any]],
    caption: str,
    *,
    text: Sequence[int] = (0,),
    mine: int | None = None,
    css: str = "",
) -> Markup:
    """A table that scrolls by itself where the page is narrow.

    Parameters
    ----------
    head, rows : sequences
        Cells, plain or markup. The first cell of a row names it.
    caption : str
        What the table holds.
    text : sequence of int
        Columns of text; the others are numbers, to the right.
    mine : int, optional
        The row to bring forward.
    css : str
        Further class.
    """
    top = tag(
        "tr", [tag("th", cell, scope="col", class_=_side(c, text)) for c, cell in enumerate(head)]
    )
    body = []
    for k, row in enumerate(rows):
        cells = [tag("th", row[0], scope="row", class_=_side(0, text))]
        cells += [tag("td", cell, class_=_side(c, text)) for c, cell in enumerate(row[1:], start=1)]
        body.append(tag("tr", cells, class_="mine" if k == mine else None))
    return scrolling(
        caption, tag("table", tag("caption", caption), tag("thead", top), tag("tbody", body)), css
    )


def scrolling(label: str, content: Markup, css: str = "") -> Markup:
    """A frame that scrolls sideways, and can be reached with the keyboard to do so."""
    css = f"scroll {css}".strip()
    return tag("div", content, class_=css, tabindex="0", role="region", aria_label=label)


def shaded(
    corner: str,
    columns: Sequence[Any],
    rows: Sequence[tuple[Any, Sequence[tuple[Any, float]]]],
    caption: str,
    css: str = "",
) -> Markup:
    """A table whose cells are the darker the larger their fraction (0 to 1; NaN: no shade)."""
    top = [tag("th", corner, scope="col")] + [tag("th", cell, scope="col") for cell in columns]
    body = []
    for name, cells in rows:
        shown = [tag("td", cell, class_=_shade(fraction)) for cell, fraction in cells]
        body.append(tag("tr", tag("th", name, scope="row"), shown))
    # a caption of the table itself would be as narrow as the table
    inner = tag(
        "table",
        tag("thead", tag("tr", top)),
        tag("tbody", body),
        class_="shaded",
        aria_label=caption,
    )
    above = tag("p", caption, class_="caption", aria_hidden="true")
    return Markup(above + scrolling(caption, inner, css))


def pairs(entries: Sequence[tuple[Any, Any]]) -> Markup:
    """Names and what they are, as a list of definitions."""
    return tag("dl", [tag("div", tag("dt", a), tag("dd", b)) for a, b in entries])


def folded(summary: Any, content: Any, opened: bool = False) -> Markup:
    """Something that opens on demand."""
    return tag("details", tag("summary", summary), escape(content), open=opened)


def _side(column: int, text: Sequence[int]) -> str | None:
    return None if column in text else "n"


def _shade(fraction: float) -> str | None:
    if fraction != fraction:
        return None
    return f"h{round(SHADES * min(1.0, max(0.0, fraction)))}"
