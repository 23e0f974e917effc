"""Small tables for notebooks: escaped text, colours of the page, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from numbers import Real
from typing import Any

_CELL = "padding:0.15em 0.7em;border-bottom:1px solid rgba(128,128,128,0.35)"


def html_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]], notes: Iterable[str] = ()
) -> str:
    """A table with a caption; numbers are on the right, and paragraphs of ``notes`` below.

    Colours are inherited, so that it reads on dark pages as well. An empty ``head`` is left out.

    Examples
    --------
    >>> from tamiz.display.html import html_table
    >>> "&lt;b&gt;" in html_table("", ["name"], [["<b>"]])
    True
    """
    lines = [
        '<div style="color:inherit;font-size:0.92em">'
        '<table style="border-collapse:collapse;color:inherit;background:transparent">'
        '<caption style="caption-side:top;text-align:left;padding:0.3em 0;color:inherit">'
        f"{escape(caption)}</caption>"
    ]
    if head:
        cells = "".join(f'<th scope="col" style="{_CELL}">{escape(name)}</th>' for name in head)
        lines.append(f"<thead><tr>{cells}</tr></thead>")
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    lines.append(f"<tbody>{body}</tbody></table>")
    lines += [f'<p style="margin:0.3em 0">{escape(note)}</p>' for note in notes]
    return "".join([*lines, "</div>"])


def _cell(value: Any) -> str:
    numeric = isinstance(value, Real) and not isinstance(value, bool)
    if value is None or (numeric and value != value):
        text = "–"
    elif numeric:
        text = f"{value:.4g}" if isinstance(value, float) else f"{value:,}"
    else:
        text = "yes" if value is True else "" if value is False else str(value)
    align = "right" if numeric or value is None else "left"
    return f'<td style="{_CELL};text-align:{align}">{escape(text)}</td>'
