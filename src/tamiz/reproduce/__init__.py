"""Published tables and figures, made again: ours beside the printed numbers."""

from tamiz.reproduce.figures import draw_figure, source_figures
from tamiz.reproduce.reproduce import Reproduction, available, reproduce

__all__ = ["Reproduction", "available", "draw_figure", "reproduce", "source_figures"]


def __dir__() -> list[str]:
    return sorted(__all__)
