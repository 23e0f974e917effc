"""The cells of a grid: what a user wrote, checked, completed and named in full."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

from tamiz.kernels import Kernel
from tamiz.runtime.checkpoint import stable_text
from tamiz.search.judges import last_step
from tamiz.svm import SVC, SVR

#: Powers of ten of C in the default grid, and of gamma around one over the total variance.
DEFAULT_C = (-1, 0, 1, 2, 3)
DEFAULT_GAMMA = (-2, -1, 0, 1, 2)
DEFAULT_DEGREES = (2, 3)

Params = dict[str, Any]


def default_estimator(X: Any, regression: bool) -> Any:
    """A support vector machine behind a scaler; sparse tables keep their zeros."""
    machine = SVR() if regression else SVC()
    return make_pipeline(MaxAbsScaler() if sparse.issparse(X) else StandardScaler(), machine)


class Grid:
    """Cells, their parameters under the names that the user gave and under full names.

    Parameters
    ----------
    estimator : estimator
        What the parameters belong to.
    grid : dict, list of dict or None
        Lists of candidates by parameter name, as ``parameter_grids`` gives them. Parameters of the
        last step of a pipeline may be named without the name of the step.
    X : table
        For the default grid.
    n_iter : int or None
        Draw so many cells at random; None takes all.
    seed : int
        Of the drawing.

    Attributes
    ----------
    cells : list of dict
        Parameters as the user named them.
    full : list of dict
        The same under the names that ``set_params`` takes.
    parts : list of dict
        Candidates of each of the grids, lists of values (or distributions).
    """

    def __init__(self, estimator: Any, grid: Any, X: Any, n_iter: int | None, seed: int):
        if grid is None:
            grid = default_grid(estimator, X)
        self.parts = [grid] if isinstance(grid, dict) else grid
        _refuse_distributions(self.parts, n_iter is not None)
        known = estimator.get_params(deep=True)
        self.names = {
            name: _full_name(name, known, estimator) for part in self.parts for name in part
        }
        _refuse_twice(self.names)
        if n_iter is None:
            self.cells = list(ParameterGrid(self.parts))
        else:
            size = _size(self.parts)
            count = n_iter if size is None else min(n_iter, size)
            self.cells = list(ParameterSampler(self.parts, count, random_state=seed))
        self.cells = [{k: _plain_number(v) for k, v in cell.items()} for cell in self.cells]
        self.full = [{self.names[k]: v for k, v in cell.items()} for cell in self.cells]

    def full_parts(self) -> list[dict[str, Any]]:
        """The grids under full names."""
        return [{self.names[k]: v for k, v in part.items()} for part in self.parts]

    def short(self, params: Mapping[str, Any]) -> Params:
        """Parameters with the names of the user."""
        back = {full: name for name, full in self.names.items()}
        return {back.get(k, k): _plain_number(v) for k, v in params.items()}

    def check_values(self, estimator: Any) -> None:
        """Refuse values that the estimator will not take, before anything is fitted.

        Only estimators of this package are asked; others have their say when they are fitted.
        """
        for cell, params in zip(self.cells, self.full, strict=True):
            try:
                machine = last_step(with_params(estimator, params))
                if type(machine).__module__.partition(".")[0] == "tamiz":
                    machine._validate_params()
            except (InvalidParameterError, TypeError, ValueError) as error:
                raise ValueError(f"grid holds the cell {shown(cell)}: {error}") from None


def default_grid(estimator: Any, X: Any) -> dict[str, list[Any]]:
    """C from 0.1 to 1000; gamma over four decades around one over the total variance."""
    machine = last_step(estimator)
    if not isinstance(machine, (SVC, SVR)):
        raise ValueError(
            f"grid=None has a default for SVC and SVR only, not for {type(machine).__name__}; pass "
            "a dict of lists, such as {'C': [1, 10, 100]}."
        )
    grid: dict[str, list[Any]] = {"C": [10.0**k for k in DEFAULT_C]}
    if machine.kernel in ("rbf", "poly", "sigmoid"):
        middle = _usual_gamma(estimator, X)
        grid["gamma"] = [float(f"{middle * 10.0**k:.3g}") for k in DEFAULT_GAMMA]
    if machine.kernel == "poly":
        grid["degree"] = list(DEFAULT_DEGREES)
    return grid


def _usual_gamma(estimator: Any, X: Any) -> float:
    """``1 / (p * variance)`` of the features as the machine sees them."""
    table: Any = X if sparse.issparse(X) else np.asarray(X)
    if isinstance(estimator, Pipeline):
        known = (StandardScaler, MinMaxScaler, MaxAbsScaler)
        if len(estimator.steps) != 2 or not isinstance(estimator.steps[0][1], known):
            return 1.0 / table.shape[1]
        table = clone(estimator.steps[0][1]).fit_transform(table)
    if sparse.issparse(table):
        mean = table.mean()
        variance = float(table.multiply(table).mean() - mean**2)
    else:
        variance = float(np.asarray(table, dtype=np.float64).var())
    return 1.0 / (table.shape[1] * variance) if variance > 0 else 1.0 / table.shape[1]


def _refuse_distributions(parts: list[dict[str, Any]], random: bool) -> None:
    for name, values in (item for part in parts for item in part.items()):
        if hasattr(values, "rvs") and not random:
            raise ValueError(
                f"grid[{name!r}] is a distribution, which has no end; use search='random', or a "
                "list of values."
            )


def _full_name(name: str, known: Mapping[str, Any], estimator: Any) -> str:
    """The name that ``set_params`` takes; a parameter of the last step needs no prefix."""
    if name in known:
        return name
    steps = getattr(estimator, "steps", None)
    prefix = f"{steps[-1][0]}__" if steps else ""
    if prefix and prefix + name in known:
        return prefix + name
    short = [k.removeprefix(prefix) for k in known]
    near = difflib.get_close_matches(name, [*short, *known], n=1, cutoff=0.5)
    near = near or [k for k in short if k.lower() == name.lower()]
    hint = f" Did you mean {near[0]!r}?" if near else ""
    own = sorted(k for k in short if "__" not in k) if len(short) < 40 else []
    listed = f" Its parameters are {', '.join(own)}." if own else ""
    raise ValueError(
        f"grid names {name!r}, which is no parameter of {type(estimator).__name__}.{hint}{listed}"
    )


def _refuse_twice(names: Mapping[str, str]) -> None:
    seen: dict[str, str] = {}
    for name, full in names.items():
        if full in seen:
            raise ValueError(f"grid names {seen[full]!r} and {name!r}, which are the same.")
        seen[full] = name


def _size(parts: list[dict[str, Any]]) -> int | None:
    """Number of cells; None if there is no end to them."""
    if any(hasattr(values, "rvs") for part in parts for values in part.values()):
        return None
    return len(ParameterGrid(parts))


def _plain_number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return value


def with_params(estimator: Any, params: Mapping[str, Any]) -> Any:
    """The estimator with the parameters of a cell, not fitted."""
    # values that are estimators must not be shared between fits
    fresh = {name: clone(value, safe=False) for name, value in params.items()}
    return clone(estimator).set_params(**fresh)


def is_number(value: Any) -> bool:
    """Whether a value can stand on an axis."""
    return isinstance(value, (Integral, Real)) and not isinstance(value, bool)


def shown(cell: Mapping[str, Any]) -> str:
    """A cell as a user would write it."""
    return ", ".join(
        f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in cell.items()
    )


def lasting_text(cell: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """A cell as it prints in any process: functions, also in kernels, by what they do."""
    return [(name, _lasting(value)) for name, value in sorted(cell.items(), key=str)]


def _lasting(value: Any) -> Any:
    if isinstance(value, Kernel):
        own = value.get_params(deep=False)
        if any(_lasting(inner) is not inner for inner in own.values()):
            return f"{type(value).__name__}({lasting_text(own)})"
    return stable_text(value) if callable(value) and not isinstance(value, Kernel) else value
