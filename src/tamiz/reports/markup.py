"""Markup that cannot be broken by data: whatever is not markup already is escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
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
