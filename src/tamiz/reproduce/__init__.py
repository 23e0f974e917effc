"""Published tables and figures, made again: ours beside the printed numbers."""

from tamiz.reproduce.reproduce import Reproduction, available, reproduce

__all__ = ["Reproduction", "available", "reproduce"]


def __dir__() -> list[str]:
    return sorted(__all__)
