"""Data: sets known by name, readers for the usual files, and what their columns are."""

from tamiz.data.dataset import Dataset
from tamiz.data.errors import DataError, DataWarning, Finding
from tamiz.data.loading import available, load
from tamiz.data.named import About, about

__all__ = [
    "About",
    "DataError",
    "DataWarning",
    "Dataset",
    "Finding",
    "about",
    "available",
    "load",
]


def __dir__() -> list[str]:
    return sorted(__all__)
