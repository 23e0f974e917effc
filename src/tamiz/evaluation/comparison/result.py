"""The result of a comparison: curves and estimates with their intervals."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamiz.base import choose_size, json_ready
from tamiz.display import counted, frames, html_table
from tamiz.evaluation.comparison import show
from tamiz.evaluation.inference import MeanInterval, corrected_interval
from tamiz.validation import refused

if TYPE_CHECKING:
    import pandas as pd

    from tamiz.evaluation.agreement import Stability
    from tamiz.evaluation.statistical_tests.significance import Significance


class Curve(NamedTuple):
    """Error by number of features, for one method and one judge."""

    sizes: np.ndarray
    error: np.ndarray  # honest: ranked inside the training parts
    low: np.ndarray
    high: np.ndarray
    apparent: np.ndarray  # ranked on all data
    bias: np.ndarray  # the difference


class Estimate(NamedTuple):
    """What a method achieves with a judge: one line of the table."""

    method: str
    judge: str
    kind: str  # "chosen": the size is chosen by cross-validation; "own": by the method
    size: float  # chosen on all splits, or the median of the own ones
    size_low: float  # smallest and largest over the splits
    size_high: float
    error: float  # honest
    low: float
    high: float
    apparent_size: float
    apparent: float
    bias: float  # selection bias: honest minus apparent
    select_seconds: float  # mean over the splits
    judge_seconds: float
    n_splits: int


def chosen_size(
    errors: np.ndarray, sizes: np.ndarray, rule: str, ratio: float | None = None
) -> int | None:
    """The size that the rule chooses from a curve; None without one.

    ``ratio`` is the number of test samples for each training sample.
    """
    rows = np.isfinite(errors).any(axis=1)
    if not rows.any():
        return None
    usable = np.isfinite(errors[rows]).all(axis=0)
    if not usable.any():  # a value is missing here and there: leave out the splits, not the sizes
        rows = np.isfinite(errors).all(axis=1)
        usable = np.full(len(sizes), bool(rows.any()))
    if not usable.any():
        return None
    return choose_size(errors[rows][:, usable], sizes[usable], rule, ratio)


def by_other_folds(
    errors: np.ndarray, sizes: np.ndarray, repeat: np.ndarray, rule: str
) -> tuple[np.ndarray, np.ndarray]:
    """Error of every split at the size that the other folds of its repeat choose, and that size.

    Cheaper than an inner cross-validation, for nothing is fitted. The test samples of a
    split do not take part in the choice of its size, except that they helped to train the
    machines of the other folds.
    """
    found = np.full(len(errors), np.nan)
    chosen = np.full(len(errors), np.nan)
    for k in range(len(errors)):
        others = (repeat == repeat[k]) & (np.arange(len(errors)) != k)
        size = chosen_size(errors[others], sizes, rule) if others.any() else None
        if size is not None and np.isfinite(errors[k]).any():
            chosen[k] = size
            found[k] = errors[k, int(np.flatnonzero(sizes == size)[0])]
    return found, chosen


def curve_of(found: Comparison, m: int, j: int) -> Curve:
    """The curve of method ``m`` with judge ``j``."""
    spots = [_interval(found, found.errors[m, j, :, c]) for c in range(len(found.sizes))]
    apparent = _mean(found.apparent_errors[m, j])
    error = np.array([one.mean for one in spots])
    return Curve(
        found.sizes,
        error,
        np.array([one.low for one in spots]),
        np.array([one.high for one in spots]),
        apparent,
        error - apparent,
    )


def estimates_of(found: Comparison, m: int, j: int) -> list[Estimate]:
    """What method ``m`` achieves with judge ``j``: at the size chosen, and at its own.

    The apparent error is what the same steps promise when the features are ranked on all data
    first: the size is then chosen on the apparent curve, and its error read off there.
    """
    lines = []
    own, curve, naive_curve = (
        found.own_errors[m, j],
        found.errors[m, j],
        found.apparent_errors[m, j],
    )
    if np.isfinite(curve).any() or not np.isfinite(own).any():
        naive = chosen_size(naive_curve, found.sizes, found.rule, found.ratio)
        apparent = np.nan if naive is None else float(_mean(naive_curve)[found.sizes == naive][0])
        lines.append(
            _line(
                found,
                (m, j),
                "chosen",
                chosen_size(curve, found.sizes, found.rule, found.ratio),
                found.nested_sizes[m, j],
                _interval(found, found.nested_errors[m, j]),
                naive,
                apparent,
            )
        )
    if np.isfinite(own).any():
        sizes = found.own_sizes[m]
        lines.append(
            _line(
                found,
                (m, j),
                "own",
                float(np.nanmedian(sizes)),
                sizes,
                _interval(found, own),
                float(found.whole_own_sizes[m]),
                float(_mean(found.own_apparent_errors[m, j])),
            )
        )
    return lines


def _line(
    found: Comparison,
    place: tuple[int, int],
    kind: str,
    size: float | None,
    inside: np.ndarray,
    honest: MeanInterval,
    naive: float | None,
    apparent: float,
) -> Estimate:
    m, j = place
    there = inside[np.isfinite(inside)]
    return Estimate(
        found.methods[m],
        found.judges[j],
        kind,
        np.nan if size is None else float(size),
        float(there.min()) if len(there) else np.nan,
        float(there.max()) if len(there) else np.nan,
        honest.mean,
        honest.low,
        honest.high,
        np.nan if naive is None else float(naive),
        apparent,
        honest.mean - apparent,
        float(_mean(found.select_seconds[m])),
        float(_mean(found.judge_seconds[m, j])),
        honest.n_splits,
    )


def _interval(found: Comparison, errors: np.ndarray) -> MeanInterval:
    return corrected_interval(
        errors, found.n_train, found.n_test, found.confidence, found.error_is_rate
    )


def _mean(table: np.ndarray) -> np.ndarray:
    """Mean over splits of what is there; NaN where nothing is."""
    there = np.isfinite(table)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(there, table, 0.0).sum(axis=0) / there.sum(axis=0)


@dataclass(repr=False)
class Comparison:
    """What :func:`tamiz.compare` found.

    Arrays have axes for methods, judges, splits and sizes, in this order, as far as they apply; NaN
    stands for what failed, is not defined, or was not reached.

    Attributes
    ----------
    methods, judges : list of str
        Names.
    sizes : array
        Numbers of features of the curves.
    errors : array of shape (methods, judges, splits, sizes)
        Honest errors: features ranked inside the training part of the split.
    apparent_errors : array of shape (methods, judges, splits, sizes)
        Errors in the same splits with the features ranked on all data.
    inner_errors : array of shape (methods, judges, splits, inner folds, sizes + 1)
        Errors of the inner cross-validation inside each training part, with the parameters chosen
        there; the last column is for the features that the method itself selects.
    nested_errors, nested_sizes : arrays of shape (methods, judges, splits)
        Errors at the size that was chosen without the test part, and that size.
    own_errors, own_apparent_errors : arrays of shape (methods, judges, splits)
        Errors with the features that the method itself selects.
    own_sizes : array of shape (methods, splits)
        How many features these are.
    whole_own_sizes : array of shape (methods,)
        The same on all data.
    orders : dict of str
        For every method, the ranking of each split: indices, best first, or None.
    selections : dict of str
        For every method with a number of its own, the features selected in each split.
    whole_orders, whole_selections, whole_scores : dict of str
        The rankings on all data, what methods with a number of their own select there, and the
        scores of methods that have some.
    select_seconds : array of shape (methods, splits)
        Time to select.
    judge_seconds : array of shape (methods, judges, splits)
        Time to fit and test the judge at all sizes.
    repeat, fold, n_train, n_test : arrays of shape (splits,)
        Repeat and fold of each split, and its numbers of samples.
    tuned : dict
        With ``tune``: the parameters chosen, by method and judge, for each split and size.
    n_samples, n_features : int
        Shape of the data.
    names : list of str
        Names of the features.
    metric : str
        What the errors are.
    error_is_rate : bool
        Whether errors lie between 0 and 1, and are shown in per cent.
    nested : bool
        Whether ``nested_sizes`` come from an inner cross-validation; else from the other folds.
    rule : {"best", "1se"}
        How sizes are chosen.
    confidence : float
        Level of the intervals.
    status : {"complete", "interrupted", "time budget"}
        How the run ended.
    notes : list of str
        What a reader should know: missing values that were filled, failures, undefined metrics.
    failures : list of str
        Every failure.
    params : dict
        Parameters of methods, judges and protocol.
    seed : int
        Passed as ``random_state``, it repeats the comparison.
    seconds : float
        Time of the run.
    """

    methods: list[str]
    judges: list[str]
    sizes: np.ndarray
    errors: np.ndarray
    apparent_errors: np.ndarray
    inner_errors: np.ndarray
    nested_errors: np.ndarray
    nested_sizes: np.ndarray
    own_errors: np.ndarray
    own_apparent_errors: np.ndarray
    own_sizes: np.ndarray
    whole_own_sizes: np.ndarray
    orders: dict[str, list[np.ndarray | None]]
    selections: dict[str, list[np.ndarray | None]]
    whole_orders: dict[str, np.ndarray]
    select_seconds: np.ndarray
    judge_seconds: np.ndarray
    repeat: np.ndarray
    fold: np.ndarray
    n_train: np.ndarray
    n_test: np.ndarray
    n_samples: int
    n_features: int
    names: list[str]
    whole_selections: dict[str, np.ndarray] = field(default_factory=dict)
    whole_scores: dict[str, np.ndarray] = field(default_factory=dict)
    metric: str = "error"
    error_is_rate: bool = True
    nested: bool = True
    rule: str = "best"
    confidence: float = 0.95
    status: str = "complete"
    tuned: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    params: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    seconds: float = 0.0

    def __repr__(self) -> str:
        state = "" if self.status == "complete" else f", {self.status}"
        return (
            f"<Comparison: {counted(len(self.methods), 'method')} x "
            f"{counted(len(self.judges), 'judge')} x {counted(len(self.sizes), 'size')}, "
            f"{counted(len(self.repeat), 'split')}{state}>"
        )

    def __str__(self) -> str:
        return show.describe(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        known = dict(state)
        if "shares" in known:  # pickled by an earlier version
            known["error_is_rate"] = known.pop("shares")
        self.__dict__.update(known)

    @property
    def shares(self) -> bool:
        """The former name of ``error_is_rate``."""
        warnings.warn(
            "Comparison.shares is now called error_is_rate; the old name goes with version 0.3.",
            FutureWarning,
            stacklevel=2,
        )
        return self.error_is_rate

    @property
    def ratio(self) -> float:
        """Test samples for each training sample."""
        return float(np.mean(self.n_test / self.n_train))

    def _repr_html_(self) -> str:
        """The estimates as a table, in notebooks."""
        per, unit = (100.0, " %") if self.error_is_rate else (1.0, "")
        head = ["method", "judge", "size", f"honest {self.metric}{unit}", "low", "high", "apparent"]
        rows = [
            [e.method, e.judge, e.size, *(per * v for v in (e.error, e.low, e.high, e.apparent))]
            for e in self.estimates()
        ]
        return html_table(repr(self)[1:-1], head, rows, self.notes)

    # ------------------------------------------------------------------------------- estimates

    def curve(self, method: str, judge: str | None = None) -> Curve:
        """Error by number of features, with interval, beside the apparent one.

        Parameters
        ----------
        method : str
            Its name.
        judge : str, optional
            Its name; the first by default.

        Returns
        -------
        curve : Curve
            Arrays ``sizes``, ``error``, ``low``, ``high``, ``apparent`` and ``bias``.
        """
        return curve_of(self, *self._place(method, judge))

    def estimates(self) -> list[Estimate]:
        """What each method achieves: one entry for every line of the table."""
        return [
            estimate
            for m in range(len(self.methods))
            for j in range(len(self.judges))
            for estimate in estimates_of(self, m, j)
        ]

    def estimate(self, method: str, judge: str | None = None, kind: str | None = None) -> Estimate:
        """The entry of one method with one judge.

        Parameters
        ----------
        method, judge : str
            Names; the first judge by default.
        kind : {"chosen", "own"}, optional
            Size by cross-validation, or the method's own; the first available one by default.
        """
        for one in estimates_of(self, *self._place(method, judge)):
            if kind is None or one.kind == kind:
                return one
        raise ValueError(f"{method!r} has no error of kind {kind!r}.")

    def _place(self, method: str, judge: str | None) -> tuple[int, int]:
        if method not in self.methods:
            raise ValueError(
                f"no method of this comparison is called {method!r}; it has "
                f"{', '.join(map(repr, self.methods))}."
            )
        if judge is not None and judge not in self.judges:
            raise ValueError(
                f"no judge of this comparison is called {judge!r}; it has "
                f"{', '.join(map(repr, self.judges))}."
            )
        return self.methods.index(method), 0 if judge is None else self.judges.index(judge)

    # ------------------------------------------------------------------------ further questions

    def masks(self, method: str, size: int | str = "chosen", judge: str | None = None) -> Any:
        """Which features each split selects, a boolean array (splits, features).

        Parameters
        ----------
        method : str
            Its name.
        size : int, "chosen" or "own", default="chosen"
            The first ``size`` features of each split, as many as were chosen on all splits, or what
            the method itself selects.
        judge : str, optional
            The judge whose errors choose the number.
        """
        m, j = self._place(method, judge)
        whole = isinstance(size, Integral) and not isinstance(size, bool)
        if size not in ("chosen", "own") and not (whole and 1 <= int(size) <= self.n_features):
            forms = f"a number from 1 to {self.n_features}, 'chosen' or 'own'"
            raise refused("size", size, f"is not understood; use {forms}.")
        if size == "chosen":
            chosen = chosen_size(self.errors[m, j], self.sizes, self.rule, self.ratio)
            size = "own" if chosen is None else chosen
        rows = []
        kept = self.selections if size == "own" else self.orders
        for features in kept[method]:
            if features is not None:
                row = np.zeros(self.n_features, dtype=bool)
                row[features if isinstance(size, str) else features[: int(size)]] = True
                rows.append(row)
        if not rows:
            raise ValueError(f"{method!r} has no selection of size {size!r} in any split.")
        return np.array(rows)

    def stability(
        self, method: str, size: int | str = "chosen", judge: str | None = None
    ) -> Stability:
        """How much the selections of the splits agree.

        Training parts overlap, so that some agreement is due to the samples they share; compare
        methods with each other rather than with 1.

        Parameters
        ----------
        method, size, judge
            As in :meth:`masks`.

        Returns
        -------
        stability : Stability
            See :func:`tamiz.evaluation.stability`.
        """
        from tamiz.evaluation.agreement import stability

        masks = self.masks(method, size, judge)
        return stability(masks, names=self.names, confidence=self.confidence)

    def stability_by_size(self, method: str) -> tuple[np.ndarray, np.ndarray]:
        """Nogueira's measure at every size below the number of features: sizes and values."""
        sizes = self.sizes[self.sizes < self.n_features]
        return sizes, np.array([self.stability(method, int(size)).nogueira for size in sizes])

    def significance(
        self,
        size: int | str = "chosen",
        judge: str | None = None,
        methods: Sequence[str] | None = None,
        **options: Any,
    ) -> Significance:
        """Whether the methods differ beyond chance, in the splits that all of them have.

        Parameters
        ----------
        size : int, "chosen" or "own", default="chosen"
            At a number of features; at the number that was chosen without the test part of each
            split (the method's own where it has no curve); or at the method's own.
        judge : str, optional
            The first by default.
        methods : list of str, optional
            All that have such errors by default.
        **options
            Passed on to :func:`tamiz.evaluation.significance`.

        Returns
        -------
        significance : Significance
        """
        from tamiz.evaluation.statistical_tests.significance import significance

        errors = {name: self._errors_at(name, size, judge) for name in methods or self.methods}
        if methods is None:
            errors = {name: row for name, row in errors.items() if np.isfinite(row).any()}
        table = np.array(list(errors.values())).T.reshape(len(self.repeat), len(errors))
        complete = np.isfinite(table).all(axis=1)
        if len(errors) < 2 or complete.sum() < 2:
            raise ValueError(
                f"a test needs two methods with errors at size={size!r} in two splits; there are "
                f"{len(errors)} with {int(complete.sum())} splits in common."
            )
        fraction = float(np.mean(self.n_test[complete] / self.n_train[complete]))
        options = {"test_fraction": fraction, **options}
        return significance(table[complete], names=list(errors), **options)

    def _errors_at(self, method: str, size: int | str, judge: str | None) -> np.ndarray:
        m, j = self._place(method, judge)
        if size == "chosen":
            nested = self.nested_errors[m, j]
            return nested if np.isfinite(nested).any() else self.own_errors[m, j]
        if size == "own":
            return self.own_errors[m, j]
        place = np.flatnonzero(self.sizes == size)
        if not len(place):
            raise ValueError(
                f"size={size!r} was not judged; sizes are {', '.join(map(str, self.sizes))}, "
                "'chosen' and 'own'."
            )
        return self.errors[m, j, :, int(place[0])]

    # ---------------------------------------------------------------------------------- tables

    def to_frame(self) -> pd.DataFrame:
        """Every error: a row for each method, judge, repeat, fold and size.

        Column ``kind`` is "curve", "chosen" (``size`` chosen without the test part) or "own".
        """
        return show.long_table(self)

    def summary(self) -> pd.DataFrame:
        """The printed table: a row for each method and judge."""
        return frames().DataFrame(self.estimates(), columns=Estimate._fields)

    def curves(self) -> pd.DataFrame:
        """Means and intervals: a row for each method, judge and size."""
        return show.curve_table(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return json_ready(show.as_dict(self))

    # --------------------------------------------------------------------------------- pictures

    def plot(
        self,
        methods: Sequence[str] | None = None,
        judge: str | None = None,
        *,
        apparent: bool = True,
        ax: Any = None,
    ) -> Any:
        """Draw errors by number of features: honest solid with intervals, apparent dashed.

        More than four methods with one judge get a panel each, unless ``ax`` is given.

        Parameters
        ----------
        methods : list of str, optional
            Which; all by default.
        judge : str, optional
            Which; all by default, side by side.
        apparent : bool, default=True
            Draw the dashed curves.
        ax : matplotlib axes, optional
            Where to draw, for one judge.

        Returns
        -------
        ax : matplotlib axes, or an array of them
        """
        return show.plot_curves(self, methods, judge, apparent, ax)

    def plot_bias(self, judge: str | None = None, ax: Any = None) -> Any:
        """Draw the honest and the apparent error of each method, and their difference."""
        return show.plot_bias(self, judge, ax)

    def plot_stability(self, methods: Sequence[str] | None = None, ax: Any = None) -> Any:
        """Draw how much the selections of the splits agree, by number of features."""
        return show.plot_stability(self, methods, ax)

    def plot_sizes(self, judge: str | None = None, ax: Any = None) -> Any:
        """Draw the sizes chosen in the splits, and the methods' own."""
        return show.plot_sizes(self, judge, ax)
