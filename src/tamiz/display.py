"""How results are shown: as tables of text, in notebooks, and as pictures."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from html import escape
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.validation import refused

if TYPE_CHECKING:
    from tamiz.base import PathStep, Selection


def counted(n: int, one: str, many: str = "") -> str:
    """A number of things, in the right number."""
    return f"{n} {one if n == 1 else many or one + 's'}"


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
    >>> from tamiz.display import text_table
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


def frames(asked: str = "to_frame") -> Any:
    """pandas, or an error that says what needs it and how to install it."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            f"{asked} needs pandas; install it with: pip install 'tamiz[frames]'."
        ) from None
    return pd


# ---------------------------------------------------------------------------------------- notebooks


#: Features of a table in a notebook.
SHOWN_FEATURES = 15
_SHOWN_COLUMNS = 12

_CELL = "padding:0.15em 0.7em;border-bottom:1px solid rgba(128,128,128,0.35)"


def html_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]], notes: Iterable[str] = ()
) -> str:
    """A table with a caption; numbers are on the right, and paragraphs of ``notes`` below.

    Colours are inherited, so that it reads on dark pages as well. An empty ``head`` is left out.

    Examples
    --------
    >>> from tamiz.display import html_table
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


def frame_in_notebook(caption: str, asked: Callable[[], Any]) -> str | None:
    """The first rows of a pandas data frame as such a table; None where there is no pandas.

    Parameters
    ----------
    caption : str
        What the table holds.
    asked : callable
        Makes the data frame.
    """
    try:
        frame = asked()
    except ImportError:
        return None  # notebooks show the text then
    left, wide = len(frame) - SHOWN_FEATURES, frame.shape[1] - _SHOWN_COLUMNS
    shown = frame.iloc[:SHOWN_FEATURES, :_SHOWN_COLUMNS]
    notes = [f"… and {left:,} more rows"] if left > 0 else []
    notes += [f"… and {wide:,} more columns"] if wide > 0 else []
    cells = (shown[name].tolist() for name in shown.columns)
    rows = list(zip(*cells, strict=True))
    return html_table(caption, [str(name) for name in shown.columns], rows, notes)


class TableResult(ABC):
    """Mixin of results with ``to_frame()``: in a notebook they are tables."""

    @abstractmethod
    def to_frame(self) -> Any:
        """The result as a data frame."""

    def _overview(self) -> Any:
        """What a notebook shows: all of it, unless a class knows better."""
        return self.to_frame()

    def _repr_html_(self) -> str | None:
        return frame_in_notebook(repr(self).strip("<>"), self._overview)


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


def importance_table(
    importances: Any,
    names: Sequence[str] | None,
    caption: str = "Importances",
    called: str = "importance",
) -> str:
    """The features of largest importance, best first, as a table for notebooks.

    Of another number of each feature, ``caption`` and ``called`` say what it is.

    Examples
    --------
    >>> from tamiz.display import importance_table
    >>> "income" in importance_table([0.2, 0.8], ["age", "income"])
    True
    """
    values = np.asarray(importances, dtype=np.float64)
    best = np.argsort(-values, kind="stable")[:SHOWN_FEATURES].tolist()
    left = len(values) - len(best)
    return html_table(
        caption,
        ["feature", called],
        [[f"x{j}" if names is None else str(names[j]), float(values[j])] for j in best],
        [f"… and {left:,} more features"] if left else [],
    )


#: What a notebook shows of a fitted estimator, where it has it.
_EVIDENCE = {
    "margin": "margin_",
    "objective": "objective_",
    "duality gap": "duality_gap_",
    "KKT violation": "kkt_violation_",
    "distance from stationarity": "stationarity_",
    "iterations": "n_iter_",
    "subsets judged": "n_evaluations_",
    "best score": "best_score_",
    "status": "status_",
}


class Evidence:
    """Mixin: in a notebook, below scikit-learn's diagram, what a fitted estimator found.

    >>> from tamiz import SVC
    >>> machine = SVC()
    >>> "What was found" in machine._repr_html_()
    False
    >>> "duality gap" in machine.fit([[0.0], [1.0]], [0, 1])._repr_html_()
    True

    A subclass adds rows in :meth:`_evidence`, remarks in :meth:`_remarks`, and whole tables in
    :meth:`_evidence_html`; before ``fit``, there are none. It stands before ``BaseEstimator``.
    """

    def _evidence(self) -> dict[str, Any]:
        """What is shown, by its name; a number, a text, or an array with one of each machine."""
        found = {label: getattr(self, name, None) for label, name in _EVIDENCE.items()}
        return {label: value for label, value in found.items() if value is not None}

    def _remarks(self) -> list[str]:
        """Sentences below."""
        return []

    def _evidence_html(self, caption: str = "What was found") -> str:
        found = self._evidence()
        notes = self._remarks()
        k = max((np.size(value) for value in found.values()), default=1)
        if k > 1:
            notes.append(f"Of {k} machines: the least margin, the largest of the other numbers.")
        if not found and not notes:
            return ""
        return html_table(caption, [], [[k, _extreme(k, v)] for k, v in found.items()], notes)

    def _repr_html_inner(self) -> str:
        """scikit-learn's diagram, and below it the evidence of a fitted estimator."""
        estimator: Any = super()
        return str(estimator._repr_html_inner()) + self._evidence_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        estimator: Any = super()
        bundle = dict(estimator._repr_mimebundle_(**kwargs))
        if "text/html" in bundle:
            bundle["text/html"] += self._evidence_html()
        return bundle


def _extreme(label: str, value: Any) -> Any:
    """The value, or of several machines the one to look at: the least margin, else the largest."""
    values = np.ravel(value)
    if values.dtype.kind not in "iuf":
        return ", ".join(dict.fromkeys(map(str, values)))
    return (values.min() if label == "margin" else values.max()).item()


# ----------------------------------------------------------------------------------------- pictures


#: Okabe and Ito's colours, which differ for colour-blind readers as well; pale yellow left out.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F5AA2", "#7A7A7A")
INK, LINE = "#1a1a1a", "#6b6b6b"

_MOST_NAMES = 40
_WIDE = 200  # more features than this are drawn on a logarithmic axis

#: What the values of a path are, for methods that do not say so in their notes.
_QUANTITIES = {
    "AROM": "objective",
    "AdaptiveScaling": "objective",
    "FSV": "objective",
    "HoldOutSVM": "errors on held-out samples",
    "KPSVM": "objective",
    "RadiusMarginScaling": "objective",
    "SVMRFE": "criterion of the feature removed",
}


def plot_selection(selection: Selection, top: int, ax: Any) -> Any:
    """Draw into ``ax``, or into a new figure that is large enough for its labels."""
    steps = [s for s in selection.path if s.value is not None and np.isfinite(s.value)]
    if not steps and selection.scores is None:
        raise ValueError(f"{selection.method or 'This selection'} has neither scores nor a path.")
    n_bars = 0 if steps else min(top, len(selection.order))
    ax = axes(ax, height=max(4.5, 0.9 + 0.19 * n_bars))
    if steps:
        _draw_path(selection, steps, ax)
    else:
        _draw_bars(selection, n_bars, ax)
    count = int(selection.support.sum())
    ax.set_title(f"{selection.method}: {count} of {len(selection.order)} selected")
    return ax


def _draw_path(selection: Selection, steps: list[PathStep], ax: Any) -> None:
    decided = [s for s in steps if s.action != "visit"]
    style: dict[str, Any] = {"color": PALETTE[0], "marker": "o", "ms": 3}
    if decided:
        ax.plot([s.n_features for s in decided], [s.value for s in decided], **style)
    else:
        sizes = np.array([s.n_features for s in steps])
        values = np.array([s.value for s in steps], dtype=float)
        different = np.unique(sizes)
        ax.plot(sizes, values, ".", color="0.7", ms=4)
        ax.plot(different, [values[sizes == k].max() for k in different], **style)
    ax.axvline(int(selection.support.sum()), color="0.6", ls="--", lw=1)
    ax.set(xlabel="number of features", ylabel=quantity(selection))
    added = [s for s in decided if s.action == "add" and len(s.features) == 1]
    if 0 < len(added) == len(decided) <= _MOST_NAMES:
        names = [selection.names[s.features[0]] for s in added]
        ax.set_xticks([s.n_features for s in added], names, rotation=60, ha="right", size="small")
        ax.set_xlabel("feature added")
    elif max(s.n_features for s in steps) > _WIDE:
        ax.set_xscale("log")  # what matters happens among the last few
    else:
        ax.xaxis.get_major_locator().set_params(integer=True)


def quantity(selection: Selection) -> str:
    """What the values of the path are: the method's own word, the metric of a search, or a guess.

    >>> from tamiz import Selection
    >>> quantity(Selection(order=[0], support=[True], notes={"metrics": ["roc_auc"]}))
    'roc auc'
    """
    notes = selection.notes
    if notes.get("criterion") is not None:
        return str(notes["criterion"])
    if notes.get("metrics"):
        return str(notes["metrics"][0]).replace("_", " ")
    word = _QUANTITIES.get(selection.method, "criterion")
    if selection.method == "HoldOutSVM" and selection.params.get("costs") is not None:
        return "cost of the " + word
    if selection.method == "SVMRFE":
        return f"{selection.params.get('criterion', 'margin')} ".replace("_", " ") + word
    return word


def _draw_bars(selection: Selection, n_bars: int, ax: Any) -> None:
    best = selection.order[:n_bars][::-1]
    scores = selection.scores[best] if selection.scores is not None else np.zeros(n_bars)
    finite = scores[np.isfinite(scores)]
    largest = float(np.abs(finite).max(initial=0.0)) or 1.0
    # an infinite score is a bar beyond all others, and says so
    length = np.where(np.isfinite(scores), scores, np.sign(scores) * 1.15 * largest)
    filled = [PALETTE[0] if selection.support[j] else "0.75" for j in best]
    ax.barh(np.arange(len(best)), length, color=filled)
    ax.set_yticks(np.arange(len(best)), [selection.names[j] for j in best], size="small")
    for k in np.flatnonzero(np.isinf(scores)):
        ax.annotate("∞", (length[k], k), va="center", ha="left")
    ax.set(xlabel="score", ylim=(-0.7, len(best) - 0.3))


def axes(ax: Any = None, height: float = 4.5) -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        if not hasattr(ax, "set_xlabel"):
            raise refused("ax", ax, "must be axes of matplotlib, such as plt.subplots()[1].")
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "plot needs matplotlib; install it with: pip install 'tamiz[plot]'."
        ) from None
    return plt.subplots(figsize=(7, height), layout="constrained")[1]


def blank_figure(width: float, height: float) -> Any:
    """A new figure without axes, in inches."""
    figure = axes().figure  # says so if matplotlib is missing
    figure.clear()
    figure.set_size_inches(width, height)
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    return figure


def colours(n: int) -> list[str]:
    """Colours that differ, for as many classes."""
    found = list(PALETTE[:n])
    for k in range(len(found), n):  # hues by the golden section, two lightnesses
        found.append(_from_hue((0.11 + 0.618034 * k) % 1.0, 0.45 if k % 2 else 0.65))
    return found


def tint(colour: str, strength: float) -> str:
    """A colour thinned with white."""
    parts = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 - strength * (255 - part)):02x}" for part in parts)


def _from_hue(hue: float, value: float) -> str:
    import colorsys

    return "#" + "".join(f"{round(255 * c):02x}" for c in colorsys.hsv_to_rgb(hue, 0.75, value))
