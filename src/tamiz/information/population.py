r"""Has the population changed? The stability index of every column, over time or between samples.

The columns of a reference are cut into bins; with the fractions :math:`e_b` of its rows and
:math:`a_b` of later rows in bin b,

.. math:: PSI = \sum_b (a_b - e_b) \log (a_b / e_b),

the information value (:mod:`tamiz.information.evidence`) of being later. Between two samples of one
population with n and m rows it is about :math:`(1/n + 1/m)` times a chi-squared number with
:math:`B - 1` degrees of freedom for B bins in use, if each has rows enough; with fewer, the rows of
both samples are shuffled. What chance alone gives stands beside every value.

References
----------
.. [1] N. Siddiqi (2006). Credit risk scorecards. Wiley.
.. [2] B. Yurdakul (2018). Statistical properties of population stability index. Western Michigan
       University.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from tamiz.base import order_by
from tamiz.display import axes, colours, frames, html_table, text_table
from tamiz.information.columns import read_columns
from tamiz.information.discretiser import Discretiser
from tamiz.information.encoding import METHODS, dense_blocks
from tamiz.information.evidence import divergence, divergence_by_chance
from tamiz.validation import (
    as_numpy,
    check_times,
    checked,
    depth_of_caller,
    integer_from,
    is_frame,
    one_of,
    real_number,
)

if TYPE_CHECKING:
    import pandas as pd

#: From these values on a population counts as changed a little, and as another one.
CHANGED, ANOTHER = 0.1, 0.25

_SHOWN = 12
#: Periods that are this long on average are named by their days, shorter ones by the minute.
_DAYS = np.timedelta64(3, "D")

NO_MOMENT = "such a row belongs to no period. Leave these rows out."


@dataclass(frozen=True)
class PopulationStability:
    """Population stability index of every column in every period.

    Attributes
    ----------
    values : array of shape (n_periods, n_features)
        The index of each period against the reference.
    chance : array of shape (n_periods, n_features)
        What two samples of these sizes from one population have on average.
    limit : array of shape (n_periods, n_features)
        What they exceed once in a thousand times; where a bin has few rows, found by shuffles of
        the rows, so that rare categories do not count as change.
    names : list of str
        Names of the features.
    periods : list of str
        What the periods are called.
    n_rows : int array of shape (n_periods,)
        Their rows.
    reference : str
        What the reference is called.
    moments : list of (str, str)
        First and last moment of the reference and of each period; empty between two samples.
    """

    values: np.ndarray
    chance: np.ndarray
    limit: np.ndarray
    names: list[str]
    periods: list[str]
    n_rows: np.ndarray
    reference: str
    moments: list[tuple[str, str]] = field(default_factory=list)

    @property
    def order(self) -> np.ndarray:
        """The features by their greatest index, the least stable first."""
        return order_by(self.values.max(axis=0))

    @property
    def changed(self) -> list[str]:
        """Features whose index reaches 0.25 in some period, beyond what chance may give."""
        far = self.beyond_chance >= ANOTHER
        return [self.names[j] for j in self.order if far[j]]

    @property
    def beyond_chance(self) -> np.ndarray:
        """The greatest index of each feature above the limit of chance; 0 if there is none."""
        return np.asarray(np.where(self.values > self.limit, self.values, 0.0).max(axis=0))

    def __repr__(self) -> str:
        lines = text_table(*self._table(), right=range(1, len(self.periods) + 2))
        left = len(self.names) - _SHOWN
        more = [f"… and {left:,} more features"] if left > 0 else []
        return "\n".join([self._title(), *lines, *more])

    def _repr_html_(self) -> str:
        return html_table(self._title(), *self._table())

    def _title(self) -> str:
        return f"Population stability index, against {self.reference}"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        head = ["feature", *self.periods, "chance"]
        rows = [
            [
                self.names[j],
                *(f"{value:.3f}" for value in self.values[:, j]),
                f"{self.chance[:, j].max():.3f}",
            ]
            for j in self.order[:_SHOWN].tolist()
        ]
        return head, rows

    def to_frame(self) -> pd.DataFrame:
        """One row for every feature and period, as a pandas table."""
        pd = frames()
        n_periods, n_features = self.values.shape
        return pd.DataFrame(
            {
                "feature": np.repeat(self.names, n_periods),
                "period": np.tile(self.periods, n_features),
                "rows": np.tile(self.n_rows, n_features),
                "index": self.values.T.ravel(),
                "chance": self.chance.T.ravel(),
            }
        )

    @checked(top=integer_from(1))
    def plot(self, top: int = 8, ax: Any = None) -> Any:
        """Draw the index of the least stable features over the periods.

        Parameters
        ----------
        top : int, default=8
            Number of features.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        ax = axes(ax)
        best = self.order[:top].tolist()
        place = np.arange(len(self.periods))
        for j, colour in zip(best, colours(len(best)), strict=True):
            ax.plot(place, self.values[:, j], "o-", color=colour, label=self.names[j])
        for level in (CHANGED, ANOTHER):
            ax.axhline(level, color="grey", linewidth=0.8, linestyle="--")
        ax.set_xticks(place, self.periods, rotation=30 if len(self.periods) > 3 else 0)
        ax.set(ylabel="population stability index", ylim=(0, None))
        ax.legend(fontsize="small")
        return ax


@checked(
    n_periods=integer_from(2),
    bins=one_of(*(name for name in METHODS if name != "mdl")),
    n_bins=integer_from(2, 250),
    smoothing=real_number(above=0),
)
def population_stability(
    X: Any,
    later: Any = None,
    *,
    time: Any = None,
    n_periods: int = 6,
    bins: str = "frequency",
    n_bins: int = 10,
    categorical_features: Any = None,
    smoothing: float = 0.5,
) -> PopulationStability:
    """Compare the columns of a table with what they were.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The reference, if ``later`` is given; all rows, if ``time`` is. Missing values are a bin of
        their own, and categories are bins; those that the reference lacks are one together. Of a
        number that is always the same in the reference, smaller and greater ones are bins.
    later : array, sparse matrix or data frame of shape (n_later, n_features), optional
        The sample to be compared with it. A warning names columns of categories of which it holds
        none that the reference has.
    time : array of shape (n_samples,), optional
        Dates or numbers, by which the rows are divided into periods of about equally many rows; the
        first is the reference. Rows of one moment stay together.
    n_periods : int, default=6
        Number of periods; fewer if there are not as many moments.
    bins : {"frequency", "width", "mean_std"}, default="frequency"
        How continuous columns are cut, by the rows of the reference.
    n_bins : int, default=10
        Number of bins for "frequency" and "width".
    categorical_features : array-like, optional
        Features whose values are categories: indices, names or a mask.
    smoothing : float, default=0.5
        Rows that are added to each bin, divided as all rows are, so that an empty one does not make
        the index infinite.

    Returns
    -------
    stability : PopulationStability

    See Also
    --------
    tamiz.filters.InformationValue : The same sum between two classes.
    tamiz.filters.StableFeatures : Select features by it.

    References
    ----------
    .. [1] N. Siddiqi (2006). Credit risk scorecards. Wiley.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.evaluation import population_stability
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1200, 2))
    >>> X[600:, 1] += 0.8
    >>> print(population_stability(X, time=np.arange(1200), n_periods=3))
    Population stability index, against 0 to 399
    feature  400 to 799  800 to 1199  chance
    x1            0.120        0.515   0.045
    x0            0.059        0.030   0.045
    """
    if (later is None) == (time is None):
        raise ValueError("Pass either later, a second sample, or time, the moment of each row.")
    X, later = _in_rows(X, "X"), _in_rows(later, "later")
    moments: list[tuple[str, str]] = []
    parts, titles = [X, later], ["reference", "later"]
    if time is not None:
        parts, moments = _periods(X, time, n_periods)
        titles = [first if first == last else f"{first} to {last}" for first, last in moments]
    cuts = Discretiser(bins, n_bins=n_bins, categorical_features=categorical_features)
    cuts.fit(parts[0])
    _cut_around_constants(cuts, parts[0])
    for part in parts[1:]:
        _require_same_columns(parts[0], part)
    codes = [_codes(cuts, part) for part in parts]
    names = getattr(cuts, "feature_names_in_", [f"x{j}" for j in range(cuts.n_features_in_)])
    names = [str(name) for name in names]
    if later is not None:
        _warn_of_other_categories(cuts, codes[1], names)
    values = np.empty((len(codes) - 1, len(names)))
    chance, limit = np.empty_like(values), np.empty_like(values)
    for j, known in enumerate(cuts.n_bins_):
        first = np.bincount(codes[0][:, j], minlength=known + 2)
        for t, part in enumerate(codes[1:]):
            own = np.bincount(part[:, j], minlength=known + 2)
            table = np.column_stack([np.pad(first, (0, len(own) - len(first))), own])
            new = table[known + 1 :].sum(axis=0)
            values[t, j] = max(
                0.0, float(divergence(np.vstack([table[: known + 1], new]), smoothing))
            )
            joined = np.arange(len(own)) != known if j in cuts.categories_ else None
            chance[t, j], limit[t, j] = divergence_by_chance(table, smoothing, joined=joined)
    return PopulationStability(
        values=values,
        chance=chance,
        limit=limit,
        names=names,
        periods=titles[1:],
        n_rows=np.array([len(part) for part in codes[1:]]),
        reference=titles[0],
        moments=moments,
    )


def _in_rows(X: Any, name: str) -> Any:
    """A table of which rows can be picked."""
    X = as_numpy(X, name)
    if sparse.issparse(X):
        return X.tocsr()
    return X if X is None or hasattr(X, "__len__") else np.asarray(X)


def _require_same_columns(first: Any, later: Any) -> None:
    if not (is_frame(first) and is_frame(later)):
        return
    known, found = [str(name) for name in first.columns], [str(name) for name in later.columns]
    for what, names, others in (("lacks", known, found), ("has also", found, known)):
        different = [name for name in names if name not in others]
        if different:
            raise ValueError(
                f"later {what} {_first_few(different)}; it needs the columns of X, in the same "
                "order."
            )


def _first_few(names: list[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")


def _warn_of_other_categories(cuts: Discretiser, codes: np.ndarray, names: list[str]) -> None:
    """Of two tables: one may spell categories in another way, or hold text for numbers."""
    strange = []
    for j in cuts.categories_:
        known, own = cuts.n_bins_[j], codes[:, j]
        if known and (own > known).any() and not (own < known).any():
            strange.append(names[j])
    if strange:
        warnings.warn(
            f"No category that later holds is in the reference, in {_first_few(strange)}: they are "
            "one new category together. If they are the same ones, spell them in the same way and "
            "pass values of the same kind.",
            UserWarning,
            stacklevel=depth_of_caller(),
        )


def _codes(cuts: Discretiser, part: Any) -> np.ndarray:
    """The bins of the rows; behind the missing values, each category that the reference lacks."""
    with warnings.catch_warnings():  # to be new here is what is measured
        warnings.filterwarnings("ignore", "No value of .* is a category that fit saw", UserWarning)
        codes = cuts.transform(part)
    codes = nw.from_native(codes, eager_only=True).to_numpy() if is_frame(codes) else codes
    if cuts.categories_:
        codes = codes.astype(np.intp)
        own = read_columns(part, _categorical(cuts), min_samples=1).X
        for j in cuts.categories_:
            column = own[:, j].toarray().ravel() if sparse.issparse(own) else own[:, j]
            new = ~np.isnan(column) & (codes[:, j] == cuts.n_bins_[j])
            codes[new, j] += 1 + np.unique(column[new], return_inverse=True)[1].ravel()
    return codes


def _categorical(cuts: Discretiser) -> np.ndarray | None:
    if not cuts.categories_:
        return None
    return np.isin(np.arange(cuts.n_features_in_), list(cuts.categories_))


def _cut_around_constants(cuts: Discretiser, reference: Any) -> None:
    """A constant has one bin, in which every other value would be as well."""
    table = read_columns(reference, _categorical(cuts), min_samples=1).X
    for first, block in dense_blocks(table):
        low, high = np.fmin.reduce(block, axis=0), np.fmax.reduce(block, axis=0)
        for k in np.flatnonzero(low == high).tolist():
            if first + k not in cuts.categories_:
                cuts.cuts_[first + k] = np.array([np.nextafter(low[k], -np.inf), low[k]])
                cuts.n_bins_[first + k] = 3


def _periods(X: Any, time: Any, n_periods: int) -> tuple[list[Any], list[tuple[str, str]]]:
    """The rows of each period, and its first and last moment."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    n_periods = min(n_periods, n)  # then each moment has its own
    moments, place = np.unique(
        check_times(time, n, name="time", unknown=NO_MOMENT), return_inverse=True
    )
    if len(moments) < 2:
        raise ValueError(
            f"time holds one moment only ({_shown(moments[0])}); periods need two at least."
        )
    upto = np.cumsum(np.bincount(place))
    # each moment belongs to the period in which the middle of its rows lies
    middle = upto - 0.5 * np.bincount(place)
    period = np.minimum((middle * n_periods / n).astype(np.intp), n_periods - 1)
    long = moments.dtype.kind == "M" and moments[-1] - moments[0] >= n_periods * _DAYS
    shown = moments.astype("datetime64[D]") if long else moments
    parts, ends = [], []
    for number in np.unique(period):
        own = np.flatnonzero(period == number)
        parts.append(_safe_indexing(X, np.flatnonzero(np.isin(place, own))))
        ends.append((_shown(shown[own[0]]), _shown(shown[own[-1]])))
    return parts, ends


def _shown(moment: Any) -> str:
    """A date without its midnight, a number without its type."""
    if isinstance(moment, np.datetime64):
        day = moment.astype("datetime64[D]")
        return str(day) if day == moment else str(moment.astype("datetime64[m]"))
    return f"{moment:g}" if isinstance(moment, (float, np.floating)) else str(moment)
