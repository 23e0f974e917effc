"""Whole: what is known of all rows of a table, where a study holds a sample of them only."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tamiz.data import Dataset


@dataclass
class Whole:
    """The table behind a study.

    The data set of a study may hold some of the rows, and of those some of the columns: enough for
    pictures. Everything that is counted comes from here.

    Attributes
    ----------
    n_rows : int
        Number of all rows.
    feature_names : list of str
        Names of all features, in the order that rankings count them in.
    missing : int array of shape (n_features,)
        Missing cells of each feature, in all rows.
    class_counts : dict
        Rows of each class, in all rows; empty in a regression.
    held : list of int
        The features that are the columns of the data set, in their order.
    n_looked : int or None
        Number of columns that were looked at for repeated ones and for those that give the target
        away, by the rows of the data set; None for all, 0 if none was.
    compared : dict
        Columns that repeat another ("duplicate") or give the target away ("leak") in the rows of
        the data set, if these are a sample.
    doubtful : list of str or None
        Features that may be identifiers, by the rows of the data set; None if they are still to be
        looked for.
    """

    n_rows: int
    feature_names: list[str]
    missing: np.ndarray
    class_counts: dict[str, int]
    held: list[int]
    n_looked: int | None = None
    compared: dict[str, str] = field(default_factory=dict)
    doubtful: list[str] | None = None

    @classmethod
    def of(cls, data: Dataset) -> Whole:
        """A table that is there as a whole."""
        p = data.n_features
        missing = np.asarray(data.missing)
        return cls(
            data.n_samples, list(data.feature_names), missing, data.class_counts, list(range(p))
        )

    @property
    def n_features(self) -> int:
        """Number of all features."""
        return len(self.feature_names)

    @cached_property
    def _place(self) -> dict[int, int]:
        return {j: k for k, j in enumerate(self.held)}

    def place(self, j: int) -> int:
        """Where a feature stands in the data set."""
        if j not in self._place:
            raise ValueError(
                f"the sample does not hold the feature {self.feature_names[j]!r}; sample all "
                "features that are selected."
            )
        return self._place[j]

    def to_dict(self) -> dict[str, Any]:
        """What is counted, as plain values."""
        return {
            "n_samples": self.n_rows,
            "n_features": self.n_features,
            "classes": self.class_counts,
            "missing": int(np.sum(self.missing)),
        }
