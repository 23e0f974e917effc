"""P6: handwritten 5 against 8, the error of a radial machine over gamma and C."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from tamiz.evaluation.tuning.tune import tune
from tamiz.reproduce.base import (
    Experiment,
    Found,
    Recipe,
    RGenerator,
    Row,
    claim,
    e1071_scale,
    read,
    row,
    tune_folds,
    without,
)
from tamiz.svm import SVC

GAMMAS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
COSTS = (0.1, 1.0, 10.0, 100.0)
#: C: mean error over ten folds for each gamma.
ERRORS: dict[float, tuple[float, ...]] = {
    0.1: (0.50816514, 0.10479566, 0.03185154, 0.11384487, 0.50816514),
    1.0: (0.08928274, 0.03004170, 0.01823186, 0.04917431, 0.47804837),
    10.0: (0.03185988, 0.01914095, 0.01642202, 0.04552961, 0.46167640),
    100.0: (0.02277731, 0.02188490, 0.01914095, 0.04552961, 0.46167640),
}
#: C: deviation over the folds for each gamma.
DEVIATIONS: dict[float, tuple[float, ...]] = {
    0.1: (0.04439007, 0.05208055, 0.01972968, 0.03045004, 0.04439007),
    1.0: (0.03861044, 0.01604535, 0.01289617, 0.02579808, 0.07198567),
    10.0: (0.01878258, 0.01574600, 0.01349394, 0.02461888, 0.07105138),
    100.0: (0.01501645, 0.01376606, 0.01516277, 0.02461888, 0.07105138),
}
BEST = (10.0, 1e-3)  # C, gamma
N_FOLDS = 10
#: Found by a search: of the seeds 0 to 2,099, two ways to draw and three orders of the rows, the
#: only one for which the first cell and its deviation agree to eight digits. The other cells, which
#: took no part in the search, then agree as well.
SEED = 3

_FOLDS = "a matter of the folds: on the printed ones the map is the printed one (below)"


def digits() -> tuple[np.ndarray, np.ndarray]:
    """The fives and then the eights of the training part, in the order of the file."""
    X, y, _ = read("usps")
    rows = np.concatenate([np.flatnonzero(y[:7291] == label) for label in ("5", "8")])
    return X[rows], y[rows]


class Cells(NamedTuple):
    """The cells of the map that are worked out."""

    costs: tuple[float, ...] = COSTS
    gammas: tuple[float, ...] = GAMMAS

    def place(self, C: float, gamma: float) -> tuple[int, int]:
        """Where a cell stands."""
        return self.costs.index(C), self.gammas.index(gamma)

    def rows(
        self,
        maps: np.ndarray,
        published: dict[float, tuple[float, ...]],
        group: str,
        **options: Any,
    ) -> list[Row]:
        """Our values of every cell beside the printed one."""
        return [
            row(
                f"C = {C:g}, gamma = {gamma:g}",
                maps[:, i, j].tolist(),
                group=group,
                published=published[C][GAMMAS.index(gamma)],
                **{"decimals": 4, **options},
            )
            for i, C in enumerate(self.costs)
            for j, gamma in enumerate(self.gammas)
        ]


def error_map(
    X: np.ndarray, y: np.ndarray, folds: list[np.ndarray], cells: Cells, fast: bool = True
) -> tuple[Any, Any]:
    """Means and deviations over the folds, by C and gamma.

    The fast way starts every machine from the one before it and may differ from a machine of its
    own in a digit that lies within the tolerance of the boundary.
    """
    grid = {"gamma": list(cells.gammas), "C": list(cells.costs)}
    errors = np.zeros((N_FOLDS, len(cells.costs), len(cells.gammas)))
    for k, test in enumerate(folds):
        train = without(len(y), test)
        Z = np.empty_like(X)
        Z[train], Z[test] = e1071_scale(X[train], X[test])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the edges of the grid: it is the printed one
            found = tune(Z, y, SVC(), grid, cv=[(train, test)], refit=False, fast=fast)
        for one in found.cells:
            i, j = cells.place(one.params["C"], one.params["gamma"])
            errors[k, i, j] = one.mean
    return errors.mean(axis=0), errors.std(axis=0, ddof=1)


class Maps(Experiment):
    """The map over random folds."""

    name, data, quick, full = "random folds", ("usps",), 20, 100

    def __init__(self, cells: Cells | None = None) -> None:
        self.cells = cells or Cells()

    def prepare(self, quick: bool, seed: int) -> Any:
        return digits()

    def repeat(self, ready: Any, seed: int) -> Found:
        X, y = ready
        mixed = np.random.default_rng(seed).permutation(len(y))
        errors, deviations = error_map(X, y, tune_folds(len(y), N_FOLDS, mixed), self.cells)
        return {"errors": errors.tolist(), "deviations": deviations.tolist()}

    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        maps = np.array([values["errors"] for values in found])
        rows = self.cells.rows(maps, ERRORS, "error over ten folds", why=_FOLDS)
        least = maps.reshape(len(maps), -1).min(axis=1)
        rows.append(row("least of the map", least.tolist(), group="error over ten folds",
                        published=min(map(min, ERRORS.values())), decimals=4,
                        why=_FOLDS))  # fmt: skip
        i, j = self.cells.place(*BEST)
        best = maps[:, i, j]
        fraction = (best <= least + 1.5 / 1098).astype(float)
        rows.append(
            claim(
                "C = 10, gamma = 0.001 best, or one digit worse",
                fraction.tolist(), "best cell", bool(fraction.mean() >= 0.5),
                group="fraction of the repeats",
            )
        )  # fmt: skip
        return rows


class PrintedFolds(Maps):
    """The map over the folds of the source."""

    name, quick, full, fixed = "printed folds", 1, 1, True

    def repeat(self, ready: Any, seed: int) -> Found:
        X, y = ready
        errors, deviations = error_map(X, y, printed_folds(len(y)), self.cells, fast=False)
        return {"errors": errors.tolist(), "deviations": deviations.tolist()}

    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        return [
            line
            for key, published, what in (
                ("errors", ERRORS, "error"),
                ("deviations", DEVIATIONS, "deviation"),
            )
            for line in self.cells.rows(
                np.array([values[key] for values in found]),
                published,
                f"{what} over the printed ten folds",
                decimals=8,
                judged=True,
            )
        ]


def printed_folds(n: int) -> list[np.ndarray]:
    """``set.seed(3)`` before ``tune.svm``, with the fives before the eights."""
    return tune_folds(n, N_FOLDS, RGenerator(SEED).sample(n))


RECIPE = Recipe(
    name="P6",
    title="Digits 5 and 8: error of a radial machine over gamma and C",
    source="Chapter 6 of a thesis on support vector machines (R: e1071, tune.svm), digits of the "
    "USPS data; the seed is not printed.",
    protocol="Ten folds cut from a random permutation as tune.svm does, pixels scaled to mean 0 "
    "and deviation 1 in each training part, error of the held-out part averaged over the folds. "
    "Then once more with the folds of the source, which a search over R's seeds found (seed 3).",
    data="usps, training part: 556 fives and 542 eights, 256 pixels",
    parts=(Maps(), PrintedFolds()),
)
