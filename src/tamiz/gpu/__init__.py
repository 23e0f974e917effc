"""What a GPU can do for the rooms above: arrays, memory, and the array programs that run there.

Nothing here knows of estimators or solvers. :mod:`tamiz.gpu.lane` opens the card and says what is
missing where that fails; the other modules are programs over arrays of the lane, written with the
functions that NumPy and CuPy share, so that :func:`emulated` runs all of them without a card.
"""

from tamiz.gpu.gram import UnfitForCardError
from tamiz.gpu.lane import DEVICES, Lane, NoCardError, emulated, lane_of

__all__ = ["DEVICES", "Lane", "NoCardError", "UnfitForCardError", "emulated", "lane_of"]


def __dir__() -> list[str]:
    return sorted(__all__)
