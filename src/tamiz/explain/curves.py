r"""How the value of a model changes with one feature: partial dependence and individual curves.

The individual curve of a row is the value of the model when one feature takes each value of a grid
and the others stay as they are; the partial dependence is the mean of these curves over rows. Both
speak of the model, also where a combination of values never occurs.

References
----------
.. [1] J. H. Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals of
       Statistics 29.
.. [2] A. Goldstein, A. Kapelner, J. Bleich, E. Pitkin (2015). Peeking inside the black box.
       Journal of Computational and Graphical Statistics 24.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tamiz.display import PALETTE, TableResult, axes, counted, frames, number
from tamiz.explain.decisions import decisions_of
from tamiz.explain.model import feature_names, numbers_of, refuse_without_features
from tamiz.explain.result import name_ticks, position_of
from tamiz.explain.tables import coded_frames
from tamiz.runtime.progress import Progress
from tamiz.validation import (
    TOO_LARGE,
    check_features,
    checked,
    estimator_with,
    integer_from,
    refused,
    require_memory,
)

if TYPE_CHECKING:
    import pandas as pd

#: Rows that are looked at if there are more.
MOST_ROWS = 1000
_MOST_CURVES = 50  # of single rows that are drawn
_REMEDY = "Pass features=, or individual=False, which keeps the means over the rows only."


@dataclass(frozen=True)
class PartialDependence(TableResult):
    """Values of a model over the values of single features.

    Attributes
    ----------
    features : list of int
        Positions of the features.
    grids : list of arrays of shape (n_points,)
        The values that each feature takes.
    mean : list of arrays of shape (n_points, n_outputs)
        The partial dependence: means over the rows.
    individual : list of arrays of shape (n_rows, n_points, n_outputs)
        The curve of every row; an empty list with ``individual=False``.
    method : {"exact", "brute"}
        Whether the curves come from the terms of a kernel expansion, or the model was asked for
        each point. The values of an output are the same; the outputs are not always: those of
        one-versus-one machines of several classes are pairs if they are exact, and classes if the
        model is asked.
    feature_names, output_names : lists of str
        Names of all features, and of the outputs of the model.
    X : array of shape (n_rows, n_features)
        The rows; codes for categories.
    levels : dict of lists
        For each feature that is a category, by its position: what the codes in its grid stand for.
    """

    features: list[int]
    grids: list[np.ndarray]
    mean: list[np.ndarray]
    individual: list[np.ndarray]
    method: str
    feature_names: list[str]
    output_names: list[str]
    X: np.ndarray = field(repr=False)
    levels: dict[int, list[str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        most = int(np.argmax(self.spreads))
        name = self.feature_names[self.features[most]]
        return (
            f"<PartialDependence: {counted(len(self.features), 'feature')}, "
            f"{counted(len(self.X), 'row')}, "
            f"{self.method}; {name} moves it most ({number(float(self.spreads[most]))})>"
        )

    def _overview(self) -> pd.DataFrame:
        order = np.argsort(-self.spreads, kind="stable").tolist()
        return frames().DataFrame(
            {
                "feature": [self.feature_names[self.features[k]] for k in order],
                "from": [self._values(k)[0] for k in order],
                "to": [self._values(k)[-1] for k in order],
                "least mean": [float(self.mean[k].min()) for k in order],
                "greatest mean": [float(self.mean[k].max()) for k in order],
                "spread": self.spreads[order],
            }
        )

    def _values(self, k: int) -> list[Any]:
        """What the grid of a feature stands for."""
        names = self.levels.get(self.features[k])
        if names is None:
            return [float(value) for value in self.grids[k]]
        return [names[int(code)] for code in self.grids[k]]

    def _at(self, feature: Any) -> int:
        j = position_of(feature, self.feature_names)
        if j not in self.features:
            listed = ", ".join(repr(self.feature_names[k]) for k in self.features[:5])
            raise refused("feature", feature, f"must be one of those computed: {listed}")
        return self.features.index(j)

    @property
    def spreads(self) -> np.ndarray:
        """How far each partial dependence moves: its standard deviation over the grid."""
        return np.array([float(np.sqrt(curve.var(axis=0).mean())) for curve in self.mean])

    def to_frame(self, feature: Any = None) -> pd.DataFrame:
        """A data frame: a row for each value of each feature, a column for each output.

        Parameters
        ----------
        feature : str or int, optional
            One feature only.
        """
        wanted = range(len(self.features)) if feature is None else [self._at(feature)]
        pandas = frames()
        parts = []
        for k in wanted:
            table = pandas.DataFrame(self.mean[k], columns=self.output_names)
            table.insert(0, "at", self._values(k))
            table.insert(0, "feature", self.feature_names[self.features[k]])
            parts.append(table)
        return pandas.concat(parts, ignore_index=True)

    @checked(curves=integer_from(0))
    def plot(
        self,
        feature: Any = None,
        output: Any = None,
        ax: Any = None,
        *,
        curves: int = _MOST_CURVES,
        centred: bool = False,
    ) -> Any:
        """Draw the partial dependence of a feature, over the curves of single rows.

        Parameters
        ----------
        feature : str or int, optional
            Which feature; by default the one whose partial dependence moves most.
        output : str or int, optional
            Which output, by default the first.
        ax : matplotlib axes, optional
            Where to draw; on a figure of its own if None.
        curves : int, default=50
            How many curves of single rows, evenly among them.
        centred : bool, default=False
            Whether every curve begins at zero, which shows where rows differ.

        Returns
        -------
        matplotlib axes
        """
        k = int(np.argmax(self.spreads)) if feature is None else self._at(feature)
        if self.features[k] in self.levels:
            return self._plot_levels(k, output, axes(ax))
        c = 0 if output is None else position_of(output, self.output_names, "output")
        ax = axes(ax)
        grid, mean = self.grids[k], self.mean[k][:, c]
        single = self.individual[k][:, :, c] if self.individual else np.empty((0, len(grid)))
        if centred:
            single, mean = single - single[:, :1], mean - mean[:1]
        some = np.unique(np.linspace(0, len(single) - 1, min(curves, len(single))).astype(int))
        for curve in single[some] if curves else ():
            ax.plot(grid, curve, color="0.8", linewidth=0.7, zorder=1)
        mark = "o" if len(grid) < 8 else None
        ax.plot(grid, mean, color=PALETTE[0], linewidth=2.2, marker=mark, label="mean", zorder=3)
        column = self.X[:, self.features[k]]
        inside = column[(column >= grid[0]) & (column <= grid[-1])]
        ax.plot(
            inside,
            np.zeros(len(inside)),
            "|",
            color="0.4",
            ms=6,
            transform=ax.get_xaxis_transform(),
        )
        return self._label(ax, k, c)

    def _plot_levels(self, k: int, output: Any, ax: Any) -> Any:
        """A dot for each value of a category, over dots of single rows."""
        c = 0 if output is None else position_of(output, self.output_names, "output")
        at = np.arange(len(self.grids[k]))
        for curve in self.individual[k][:_MOST_CURVES, :, c] if self.individual else ():
            ax.plot(at, curve, ".", color="0.8", ms=4, zorder=1)
        ax.plot(at, self.mean[k][:, c], "o", color=PALETTE[0], ms=7, label="mean", zorder=3)
        name_ticks(ax, self._values(k))
        return self._label(ax, k, c)

    def _label(self, ax: Any, k: int, c: int) -> Any:
        ax.set_xlabel(self.feature_names[self.features[k]])
        name = self.output_names[c]
        ax.set_ylabel("value of the model" + (f" ({name})" if name != "value" else ""))
        return ax


@checked(
    model=estimator_with("fit", advice="Pass a fitted estimator or pipeline."),
    grid_resolution=integer_from(2),
)
def partial_dependence(
    model: Any,
    X: Any,
    features: Any = None,
    *,
    grid_resolution: int = 50,
    percentiles: tuple[float, float] = (0.05, 0.95),
    individual: bool = True,
    random_state: Any = None,
    verbose: bool | int = 0,
) -> PartialDependence:
    """How the value of a fitted model changes with single features, in the mean and for each row.

    Parameters
    ----------
    model : estimator or pipeline
        Fitted. Its decision function, probabilities or predictions, the first there is, are looked
        at; those of kernel machines and linear models are computed from the terms of the kernel,
        also behind scalers and selectors, without asking for every point. There, every machine of a
        pair of several classes is an output of its own, as in :func:`shapley_values`.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Rows that the curves are means over; 1,000 of them drawn at random if there are more. With
        text, categories and missing values if the model takes them; a category has no curve but a
        mean at each of its values.
    features : list of int or str, optional
        Which features; all by default.
    grid_resolution : int, default=50
        How many values a feature takes, evenly between two percentiles of its own. A feature with
        fewer different values takes these.
    percentiles : (float, float), default=(0.05, 0.95)
        The ends of the grid.
    individual : bool, default=True
        Whether to keep the curve of every row. Without them the result is small, and quicker for
        kernel machines: the rows are needed once, however fine the grid.
    random_state : int, RandomState or None
        For rows that are drawn.
    verbose : bool or int, default=0
        Show progress when it takes longer than two seconds.

    Returns
    -------
    PartialDependence
        With ``grids``, ``mean``, ``individual``, ``to_frame()`` and ``plot()``.

    See Also
    --------
    interaction_strength : Which pairs of features a single curve cannot tell.

    References
    ----------
    .. [1] J. H. Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals
           of Statistics 29.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.explain import partial_dependence
    >>> from tamiz.svm import SVR
    >>> X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(200, 2))
    >>> machine = SVR(C=10, epsilon=0.01).fit(X, X[:, 0] ** 2)
    >>> found = partial_dependence(machine, X, grid_resolution=3)
    >>> found.mean[0].ravel().round(1).tolist(), found.mean[1].ravel().round(1).tolist()
    ([0.8, 0.0, 0.8], [0.3, 0.3, 0.3])
    """
    check_is_fitted(model)
    refuse_without_features(model)
    low, high = _ends(percentiles)
    coded = coded_frames(X)
    whole = numbers_of(model, X, "X", "partial_dependence", coded)
    table = some_rows(whole, MOST_ROWS, random_state)
    names = feature_names(model, X, table.shape[1])
    wanted = _wanted(features, names)
    with np.errstate(over="ignore", invalid="ignore"):
        decisions = decisions_of(model, table, X, coded)
    levels = {} if coded is None else coded.levels
    grids = [
        _levels(table[:, j], grid_resolution)
        if j in levels
        else _grid(table[:, j], grid_resolution, low, high, names[j])
        for j in wanted
    ]
    outputs = decisions.outputs
    if individual:
        points = sum(len(grid) for grid in grids) * len(outputs)
        what = f"The curves of {len(table):,} rows for {len(wanted):,} features"
        require_memory(8 * len(table) * points, what, _REMEDY)
    mean, each = [], []
    ignored = np.errstate(over="ignore", invalid="ignore")
    with Progress("partial dependence", verbose, most=len(wanted)) as progress, ignored:
        for j, grid in zip(wanted, grids, strict=True):
            if individual:
                each.append(decisions.each(np.array([j]), grid[:, None]))
                mean.append(each[-1].mean(axis=0))
            else:
                mean.append(decisions.partial(np.array([j]), grid[:, None]))
            progress.update(f"{len(mean)} of {len(wanted)} features")
    if not all(np.isfinite(part).all() for part in (*mean, *each)):
        raise ValueError(TOO_LARGE)
    kept = {j: words for j, words in levels.items() if j in wanted}
    return PartialDependence(
        wanted, grids, mean, each, decisions.method, names, outputs, table, kept
    )


def some_rows(table: np.ndarray, most: int, random_state: Any) -> np.ndarray:
    """The table, or rows of it drawn at random."""
    if len(table) <= most:
        return table
    rng = check_random_state(random_state)
    return table[np.sort(rng.choice(len(table), most, replace=False))]


def _wanted(features: Any, names: list[str]) -> list[int]:
    if features is None:
        return list(range(len(names)))
    one = isinstance(features, str | int | np.integer)
    listed = [features] if one else list(features)
    found: list[int] = check_features(listed, "features", len(names), names).tolist()
    if not found:
        raise refused("features", features, "names no feature; leave it out for all of them.")
    mask = isinstance(listed[0], bool | np.bool_)
    return found if mask else [position_of(one, names) for one in listed]  # in the order given


def _ends(percentiles: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in percentiles)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if not 0.0 <= low < high <= 1.0:
        must = "must be two numbers from 0 to 1, the lower one first"
        raise refused("percentiles", percentiles, must)
    return low, high


def _levels(column: np.ndarray, most: int) -> np.ndarray:
    """The codes of a category, the most frequent ones if there are many."""
    codes, counts = np.unique(column, return_counts=True)
    return codes[np.sort(np.argsort(-counts, kind="stable")[:most])]


def _grid(column: np.ndarray, resolution: int, low: float, high: float, name: str) -> np.ndarray:
    column = column[~np.isnan(column)]
    if not len(column):
        raise ValueError(f"{name!r} has no value in X, so there is nothing to draw; leave it out.")
    levels = np.unique(column)
    if len(levels) <= resolution:
        return levels
    # of the largest numbers half, whose differences are within float64
    part = 0.5 if max(-levels[0], levels[-1]) > 1e300 else 1.0
    ends = np.quantile(part * column, [low, high])
    if not ends[0] < ends[1]:
        return levels[[0, -1]]
    return np.linspace(ends[0], ends[1], resolution) / part
