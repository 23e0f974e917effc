"""Data sets by name: packaged files, sets of scikit-learn, and files of the user's own folder.

What they are is listed in ``sets.toml``, where they come from in ``sets/sources.toml``.
"""

from __future__ import annotations

import os
import tomllib
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tamiz.data.column import Column, RawTable
from tamiz.data.errors import DataError, near
from tamiz.data.formats.frames import from_array
from tamiz.data.plan import ColumnPlan, Options
from tamiz.display import frame_in_notebook, frames

if TYPE_CHECKING:
    import pandas as pd

PACKAGED = Path(__file__).parent / "sets"
SUFFIXES = (".csv.gz", ".npz", ".csv", ".parquet")

_D8 = [
    (170, 85, 0.011, +1),
    (147, 75, 0.340, -1),
    (150, 77, 0.034, -1),
    (154, 81, 0.092, -1),
    (175, 79, 0.065, +1),
    (152, 80, 0.358, -1),
    (173, 82, 0.360, +1),
    (177, 84, 0.757, +1),
]


def own_file(name: str) -> Path | None:
    """The file of a data set in the folder that TAMIZ_DATA names, if there is one."""
    named = os.environ.get("TAMIZ_DATA")
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise DataError(f"TAMIZ_DATA names {named!r}, which is not a folder; correct or unset it.")
    return _file_in(folder, name)


def find_file(name: str) -> Path:
    """The file of a data set: the user's own, else the packaged one."""
    path = own_file(name) or _file_in(PACKAGED, name)
    if path is None:
        raise DataError(
            f"Data set {name!r} is missing from this installation; install tamiz again, or put "
            f"{name}.csv.gz or {name}.npz in a folder and name it in TAMIZ_DATA."
        )
    return path


def _file_in(folder: Path, name: str) -> Path | None:
    return next((p for s in SUFFIXES if (p := folder / f"{name}{s}").is_file()), None)


def read_built_in(entry: Named, options: Options) -> tuple[RawTable, ColumnPlan, list[str] | None]:
    """A set that needs no file; also the names of its classes."""
    if entry.name == "d8":
        array = np.array(_D8, dtype=float)[: options.nrows]
        y = Column("target", array[:, 3].copy())
        names = ["height", "weight", "noise"]
        table, plan = from_array(array[:, :3], names, [y], "tamiz", options, "target")
        return table, plan, ["short", "tall"]
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{entry.name}")()
    keep = slice(options.nrows)
    names = [str(name) for name in bunch.feature_names]
    y = Column("target", np.asarray(bunch.target, dtype=np.float64)[keep])
    table, plan = from_array(
        np.asarray(bunch.data)[keep], names, [y], "scikit-learn", options, "target"
    )
    classes = getattr(bunch, "target_names", None)
    return table, plan, None if classes is None else [str(label) for label in classes]


# ---------------------------------------------------------------------------------- the list


class Named(NamedTuple):
    """One entry of the list."""

    name: str
    rows: int
    features: int
    summary: str
    classes: dict[str, int] | None = None  # label: count; None for a numeric target
    built_in: bool = False  # made by scikit-learn or by this module: no file
    text: bool = False  # the features are free text, left as it is


def _read_list() -> tuple[dict[str, Named], dict[str, str]]:
    """The sets by name, and other names of the same."""
    content = tomllib.loads((Path(__file__).parent / "sets.toml").read_text(encoding="utf-8"))
    sets = {name: Named(name, **entry) for name, entry in content["sets"].items()}
    return sets, content["aliases"]


SETS, ALIASES = _read_list()


def canonical(name: str) -> str | None:
    """The name under which a set is listed, or None; case, blanks and hyphens do not matter."""
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    key = ALIASES.get(key, key)
    return key if key in SETS else None


# ------------------------------------------------------------------------------- where from


class About(NamedTuple):
    """What a data set is, where it comes from, and on what terms.

    Attributes
    ----------
    name, summary : str
        Its name, and what it is in a few words.
    rows, features : int
        Its size.
    classes : dict or None
        Samples of each class; None for a numeric target, and for data sets of scikit-learn.
    source : str
        Who published the data first.
    copy : str
        What the file here was made from.
    terms : str
        Licence of the data, where one is stated, and that of the copy.
    citation : str
        What to cite.
    remarks : str
        How the copy differs from the source, and what to know before using it; may be empty.
    """

    name: str
    summary: str
    rows: int
    features: int
    classes: dict[str, int] | None
    source: str
    copy: str
    terms: str
    citation: str
    remarks: str = ""

    def __str__(self) -> str:
        counts = ", ".join(f"{label} {count}" for label, count in (self.classes or {}).items())
        lines = {"classes": counts} | {key: getattr(self, key) for key in self._fields[5:]}
        said = [f"{self.name}: {self.summary}; {self.rows} samples, {self.features} features"]
        said += [
            fill(text, 100, initial_indent=f"{key:<10}", subsequent_indent=" " * 10)
            for key, text in lines.items()
            if text
        ]
        return "\n".join(said)

    def to_frame(self) -> pd.DataFrame:
        """One row for each thing that is known."""
        counts = ", ".join(f"{label} {count}" for label, count in (self.classes or {}).items())
        known = {**self._asdict(), "classes": counts}
        there = {key: str(value) for key, value in known.items() if value != ""}
        return frames().DataFrame({"what": list(there), "text": list(there.values())})

    def _repr_html_(self) -> str | None:
        return frame_in_notebook(f"{self.name}: {self.summary}", self.to_frame)


def about(name: str) -> About:
    """Source, terms and citation of a data set known by name.

    Parameters
    ----------
    name : str
        A name from :func:`available`.

    Returns
    -------
    About

    Examples
    --------
    >>> from tamiz.data import about
    >>> about("colon").terms
    'No licence stated'
    >>> about("spambase").citation
    'Hopkins, M., Reeber, E., Forman, G. and Suermondt, J. (1999). Spambase. UCI Machine ...'
    """
    key = canonical(name)
    if key is None:
        hint = near(name, [*SETS, *ALIASES]) or " tamiz.data.available() lists the names."
        raise DataError(f"{name!r} is no data set known by name.{hint}")
    entry = SETS[key]
    return About(key, entry.summary, entry.rows, entry.features, entry.classes, **_sources()[key])


@cache
def _sources() -> dict[str, dict[str, str]]:
    """Read where it is asked for: loading data does not need it."""
    return tomllib.loads((PACKAGED / "sources.toml").read_text(encoding="utf-8"))
