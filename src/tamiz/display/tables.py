"""Tables of text, the numbers in their cells, and pandas where a table becomes a data frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def text_table(
    head: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    right: Sequence[int] = (),
    rule: bool = False,
    separator: str = "  ",
) -> list[str]:
    """The lines of a table, its columns as wide as their widest cells.

    Parameters
    ----------
    head, rows : sequences
        Cells; what is not text is turned into text.
    right : sequence of int
        Columns that are aligned to the right.
    rule : bool
        Whether a line of dashes stands below the head.
    separator : str
        What stands between two columns.

    Examples
    --------
    >>> from tamiz.display.tables import text_table
    >>> print("\\n".join(text_table(["method", "error"], [["fisher", 0.1]], right=[1], rule=True)))
    method  error
    ------  -----
    fisher    0.1
    """
    texts = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    if rule:
        texts.insert(1, ["-" * width for width in widths])
    return [
        separator.join(
            cell.rjust(width) if c in right else cell.ljust(width)
            for c, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in texts
    ]


def number(value: float, digits: int = 3) -> str:
    """A number for a table; a dash for what is undefined."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def between(interval: tuple[float, float], digits: int = 3) -> str:
    """An interval for a table."""
    low, high = interval
    return "–" if math.isnan(low) else f"{low:.{digits}f} to {high:.{digits}f}"


def pvalue_text(p: float) -> str:
    """A p-value for a table."""
    if math.isnan(p):
        return "–"
    return f"{p:.3g}" if p >= 1e-4 or p == 0 else f"{p:.1e}"


def frames() -> Any:
    """pandas, or an error that says how to install it."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "to_frame needs pandas; install it with: pip install 'tamiz[frames]'"
        ) from None
    return pd
