"""What a figure of the sources is here: its name, what it shows, and how ours is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

from tamiz.display import blank_figure
from tamiz.validation import checked, integer_from, optional

#: The documents, by the letters of the page of errata.
SOURCES = {
    "S0": "a thesis on feature selection for support vector machines",
    "S1": "the article on HO-SVM",
    "S2": "a thesis on the mathematics of support vector machines",
    "S3": "a thesis on quadratic programming feature selection",
    "S4": "course notes on nearest neighbours, trees and support vector machines",
}
#: What can be said of where the numbers of a picture come from.
SAME, LIKE, MADE, SCHEME = "same data", "like data", "our points", "drawing, not data"


class Effort(NamedTuple):
    """How much work a picture may cost: repeats instead of its own number, and the seed."""

    repeats: int | None = None
    seed: int = 0

    def times(self, own: int) -> int:
        """Repeats to run."""
        return own if self.repeats is None else self.repeats


Draw = Callable[[Any, Effort], None]


@dataclass(frozen=True)
class SourceFigure:
    """A figure of one of the sources.

    Attributes
    ----------
    name : str
        The document and the number that the figure has there, ``S0-1.1``.
    title : str
        What it shows.
    basis : str
        Where the numbers of ours come from.
    remark : str
        What is to be known of ours, or why it cannot be had.
    size : tuple of float
        Width and height in inches.
    draw : callable or None
        Draws into an empty matplotlib figure; None where the data are missing.
    """

    name: str
    title: str
    basis: str
    remark: str
    size: tuple[float, float]
    draw: Draw | None

    @property
    def picture(self) -> str:
        """The figure in whose file ours lies: the first of those that share a drawing."""
        same = (self.draw, self.size)
        return next(one.name for one in listed() if (one.draw, one.size) == same)

    @property
    def place(self) -> tuple[str, tuple[int, ...]]:
        """What figures are sorted by."""
        source, number = self.name.split("-")
        return source, tuple(int(part) for part in number.split("."))


FIGURES: dict[str, SourceFigure] = {}


def figure(
    name: str, title: str, basis: str, remark: str = "", size: tuple[float, float] = (6.0, 4.2)
) -> Callable[[Draw], Draw]:
    """Enter the function below as the one that draws a figure; several may share a function."""

    def enter(draw: Draw) -> Draw:
        FIGURES[name] = SourceFigure(name, title, basis, remark, size, draw)
        return draw

    return enter


def missing(name: str, title: str, why: str) -> None:
    """Enter a figure that cannot be drawn."""
    FIGURES[name] = SourceFigure(name, title, "–", why, (6.0, 4.2), None)


def listed() -> list[SourceFigure]:
    """All figures, in the order of the documents."""
    return sorted(FIGURES.values(), key=lambda one: one.place)


def find_figure(name: str) -> SourceFigure:
    """The figure of a name; an error that says which there are."""
    for known, found in FIGURES.items():
        if known.lower() == name.strip().lower():
            return found
    near = get_close_matches(name.upper(), FIGURES, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(
        f"name={name!r} is no figure.{hint} There are: "
        f"{', '.join(found.name for found in listed())}."
    )


@checked(repeats=optional(integer_from(1)), random_state=integer_from(0))
def draw_figure(name: str, *, repeats: int | None = None, random_state: int = 0) -> Any:
    """Draw our form of a figure of the sources.

    Parameters
    ----------
    name : str
        Document and number, such as "S0-1.3"; :func:`source_figures` lists them.
    repeats : int, optional
        Random splits, for error curves and the like, instead of the figure's own number.
    random_state : int, default=0
        Seed of splits and of points.

    Returns
    -------
    matplotlib figure
        ``.savefig("fig.png")`` writes it.

    Examples
    --------
    >>> from tamiz.evaluation import draw_figure
    >>> drawn = draw_figure("S0-1.3")  # doctest: +SKIP
    """
    found = find_figure(name)
    if found.draw is None:
        raise ValueError(f"{found.name} cannot be drawn: {found.remark}.")
    canvas = blank_figure(*found.size)
    found.draw(canvas, Effort(repeats, random_state))
    return canvas


def source_figures() -> dict[str, str]:
    """Names of the figures of the sources, and what each shows.

    Examples
    --------
    >>> from tamiz.evaluation import source_figures
    >>> source_figures()["S2-3.2"]
    'Hinge loss above the 0-1 loss'
    """
    return {one.name: one.title for one in listed()}


def markdown() -> str:
    """The tables of the page: figure and what it shows, ours, and on which data."""
    lines = []
    for source, words in SOURCES.items():
        lines += [f"## {source}: {words}", ""]
        lines += ["| figure | ours | on what |", "|---|---|---|"]
        for one in listed():
            if one.place[0] == source:
                ours = (
                    "–" if one.draw is None else f"![{one.name}](figures/sources/{one.picture}.png)"
                )
                remark = f"{one.basis}; {one.remark}" if one.remark else one.basis
                said = one.remark if one.draw is None else remark
                lines.append(f"| **{one.name}** {one.title} | {ours} | {said} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"
