"""The figures of the sources, drawn anew."""

from tamiz.reproduce.figures import examples, maps, margins, recipes, schemes
from tamiz.reproduce.figures.base import (
    FIGURES,
    SourceFigure,
    draw_figure,
    find_figure,
    markdown,
    source_figures,
)

__all__ = [
    "FIGURES",
    "SourceFigure",
    "draw_figure",
    "examples",
    "find_figure",
    "maps",
    "margins",
    "markdown",
    "recipes",
    "schemes",
    "source_figures",
]
