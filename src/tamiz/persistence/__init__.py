"""Models on disk: written whole or not at all, and read without running code from the file."""

from tamiz.persistence._container import ModelFileError, ModelFileWarning
from tamiz.persistence._files import describe, load, save

__all__ = ["ModelFileError", "ModelFileWarning", "describe", "load", "save"]


def __dir__() -> list[str]:
    return sorted(__all__)
