"""What all tests share: where the data are, the eight-row data set, hypothesis settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent

# No deadline: the first example of a test may compile. The examples are new ones in every run,
# except where the same commit must always get the same verdict.
hypothesis.settings.register_profile("new examples", deadline=None)
hypothesis.settings.register_profile("same examples", deadline=None, derandomize=True)
hypothesis.settings.load_profile(os.environ.get("TAMIZ_HYPOTHESIS", "new examples"))


def find_data_dir() -> Path | None:
    """The folder of benchmark data: TAMIZ_DATA, else ../shared/data beside the project.

    None if there is none. A TAMIZ_DATA that names no folder is an error, not a reason to skip.
    """
    named = os.environ.get("TAMIZ_DATA")
    if named:
        path = Path(named).expanduser()
        if not path.is_dir():
            raise FileNotFoundError(f"TAMIZ_DATA names {named!r}, which is not a folder.")
        return path
    path = ROOT.parent / "shared" / "data"
    return path if path.is_dir() else None


@pytest.fixture(autouse=True)
def same_draws() -> None:
    """Whatever has no seed of its own draws the same numbers in every run, ours and peers."""
    np.random.seed(0)  # noqa: NPY002 (that is what draws where random_state is None)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of benchmark data; tests that ask for it are skipped where it is absent."""
    path = find_data_dir()
    if path is None:
        pytest.skip("no benchmark data: set TAMIZ_DATA to the folder that holds them")
    return path


@pytest.fixture(scope="session")
def dask_client() -> Iterator[Any]:
    """A client of two worker processes, for all tests of this process that ask for it."""
    from tests.clusters import two_workers

    with two_workers() as client:
        yield client


@pytest.fixture
def client(dask_client: Any) -> Iterator[Any]:
    """The same, as the active client of one test, with both workers there."""
    from tests.clusters import both_there

    with both_there(dask_client):
        yield dask_client


class D8(NamedTuple):
    """Eight people, tall (+1) or short (-1)."""

    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]


@pytest.fixture
def d8() -> D8:
    """Height in cm, weight in kg and noise of eight people; a fresh copy for every test."""
    rows = [
        (170, 85, 0.011, +1),
        (147, 75, 0.340, -1),
        (150, 77, 0.034, -1),
        (154, 81, 0.092, -1),
        (175, 79, 0.065, +1),
        (152, 80, 0.358, -1),
        (173, 82, 0.360, +1),
        (177, 84, 0.757, +1),
    ]
    table = np.array(rows, dtype=float)
    return D8(table[:, :3].copy(), table[:, 3].astype(int), ("height", "weight", "noise"))
