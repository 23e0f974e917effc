"""Successive halving, by scikit-learn: many cells on few samples, the better third on more."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.evaluation.tuning.grid import Grid
from tamiz.evaluation.tuning.plain import Plain
from tamiz.evaluation.tuning.result import Cell
from tamiz.validation.unscaled import inner_fit


def run_halving(
    plain: Plain, cells: Grid, seed: int, n_jobs: int | None, verbose: bool | int
) -> list[Cell]:
    """The cells of all rungs; those of the last rung are the ones to choose from."""
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    search = HalvingGridSearchCV(
        plain.estimator,
        cells.full_parts(),
        cv=_Splits(plain.splits),
        scoring=plain.metric.scorer,
        refit=False,
        error_score="raise" if plain.strict else np.nan,
        random_state=seed % 2**32,
        n_jobs=n_jobs,
        verbose=max(0, int(verbose) - 1),
    )
    with inner_fit():
        search.fit(plain.X, plain.y)
    table = search.cv_results_
    scores = np.column_stack([table[f"split{k}_test_score"] for k in range(len(plain.splits))])
    errors = plain.metric.error(scores)
    seconds = table["mean_fit_time"] + table["mean_score_time"]
    return [
        Cell(cells.short(params), errors[k], float(seconds[k]), None, int(table["n_resources"][k]))
        for k, params in enumerate(table["params"])
    ]


def refuse_for_halving(checkpoint: Any, weight: np.ndarray | None) -> None:
    """Say what successive halving cannot take."""
    for name, value in (("checkpoint", checkpoint), ("sample_weight", weight)):
        if value is not None:
            raise ValueError(
                f"{name} cannot be used with search='halving'; use 'grid' or 'random'."
            )


class _Splits:
    """Splits known beforehand, in the form of a splitter."""

    def __init__(self, splits: Any):
        self.splits = splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Yield the splits."""
        yield from self.splits

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return len(self.splits)
