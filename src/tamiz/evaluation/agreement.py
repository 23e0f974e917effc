"""Does a method select the same features when the samples change a little?

With ``M`` selections among ``d`` features, the frequency ``p_f`` of feature ``f``,
``s_f² = M / (M - 1) p_f (1 - p_f)`` and the mean size ``k``, the index of Nogueira, Sechidis and
Brown is

    Φ = 1 - (Σ_f s_f² / d) / (k/d (1 - k/d)),

1 if all selections are the same and 0, on average, if they are drawn at random. With equal sizes
it is Kuncheva's index. It is asymptotically normal, so that it has an interval and two methods can
be compared.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.utils import check_random_state

from tamiz.base import Selection, json_ready
from tamiz.display import (
    INK,
    PALETTE,
    TableResult,
    axes,
    between,
    frame_in_notebook,
    frames,
    number,
    pvalue_text,
)
from tamiz.evaluation.inference import UNKNOWN, Interval, quantile, wilson
from tamiz.routing import Routes
from tamiz.runtime.progress import Progress
from tamiz.search.base import seeded
from tamiz.search.resampling import (
    SAMPLINGS,
    ResampledTable,
    fit_to_the_end,
    group_arguments,
    mask_and_names,
    run_jobs,
    weights_for,
)
from tamiz.search.splits import structure_of
from tamiz.validation import (
    check_level,
    check_sample_weight,
    checked,
    fittable,
    instance_of,
    integer_from,
    number_of_jobs,
    one_of,
    optional,
    read_masks,
    real_number,
)

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["Stability", "StabilityTest", "stability", "stability_of"]


@checked(confidence=check_level, n_features=optional(integer_from(1)))
def stability(
    selections: Any, *, n_features: int | None = None, names: Any = None, confidence: float = 0.95
) -> Stability:
    """Measure how much several selections of features agree.

    Parameters
    ----------
    selections : boolean array of shape (n_selections, n_features) or list
        Masks, one row for each selection (an array or a data frame), or a list of masks, of
        :class:`~tamiz.Selection`, of fitted selectors, or of collections of positions or names.
    n_features : int, optional
        Number of features that could have been selected; needed for collections of positions, and
        for names unless ``names`` is given.
    names : list of str, optional
        Names of all features.
    confidence : float, default=0.95
        Confidence of the intervals.

    Returns
    -------
    Stability

    See Also
    --------
    stability_of : Makes the selections as well.

    References
    ----------
    Nogueira, Sechidis, Brown: On the stability of feature selection algorithms. Journal of Machine
    Learning Research 18 (2018).

    Kuncheva: A stability index for feature selection. Artificial Intelligence and Applications
    (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.evaluation import stability
    >>> masks = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    >>> stability(masks).nogueira
    -0.5
    """
    masks, named = read_masks(selections, n_features, names, _read_one)
    return measure(masks, named, confidence)


def _read_one(item: Any) -> tuple[np.ndarray, list[str]] | None:
    """The mask and the names of a selection; None for what is none."""
    if isinstance(item, Selection) or hasattr(item, "get_support") or hasattr(item, "steps"):
        return mask_and_names(item)
    return None


@checked(
    n_jobs=number_of_jobs,
    selector=fittable,
    confidence=check_level,
    n_resamples=integer_from(2),
    sample=one_of(*SAMPLINGS),
    fraction=check_level,
    n_folds=integer_from(2),
)
def stability_of(
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    times: Any = None,
    sample_weight: Any = None,
    n_resamples: int = 50,
    sample: str = "bootstrap",
    fraction: float = 0.5,
    n_folds: int = 10,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool | int = 0,
) -> Stability:
    """Fit a selector to resamples of the data and measure how much its selections agree.

    Parameters
    ----------
    selector : selector or pipeline
        Anything with ``get_support``; of a pipeline, the last step that has it.
    X : table of shape (n_samples, n_features)
        Array, sparse matrix or data frame.
    y : array of shape (n_samples,), optional
        Target. Classes keep their proportions in every resample.
    groups : array of shape (n_samples,), optional
        Samples of one group, such as those of a patient, are in a resample together or not at all,
        and in the same part of what the selector divides.
    times : array of shape (n_samples,), optional
        Numbers or dates, in place of ``groups``: the samples are cut into 20 blocks of neighbours
        in time, and those of a block are in a resample together or not at all. A selector whose
        fit takes times gets them: :class:`~tamiz.HoldOutSVM` learns from the past inside of each
        resample, and :class:`~tamiz.filters.StableFeatures` compares its periods.
    sample_weight : array of shape (n_samples,), optional
        Weights for the selector, which stay with their samples; every sample is drawn as often as
        without them. Samples of weight zero are in no resample.
    n_resamples : int, default=50
        Number of selections.
    sample : {"bootstrap", "subsample", "folds"}, default="bootstrap"
        As many samples drawn with replacement, a ``fraction`` of them without, or the training
        parts of ``n_folds`` folds, repeated as often as needed. Copies of a sample that the
        bootstrap makes mislead methods of nearest neighbours; use subsamples for those. Stability
        is larger the more the resamples share: compare methods by the same kind only.
    fraction : float, default=0.5
        Fraction of the samples in a subsample.
    n_folds : int, default=10
        Number of folds.
    confidence : float, default=0.95
        Confidence of the intervals.
    n_jobs : int or None, default=None
        Workers, as in joblib; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the resamples, and of a selector that has none.
    verbose : bool or int, default=0
        Whether to show progress.

    Returns
    -------
    Stability
        Ctrl-C keeps the selections made so far, if there are two or more; a warning says so.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamiz.evaluation import stability_of
    >>> from tamiz.filters import SignalToNoise
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = stability_of(SignalToNoise(5), X, y, n_resamples=10, random_state=0)
    >>> found.nogueira > 0.7, found.to_frame()["name"][0]
    (True, 'mean concave points')
    """
    sampling = SAMPLINGS[sample](fraction, n_folds)
    table = ResampledTable(X, y)
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    weight = None if sample_weight is None else check_sample_weight(sample_weight, table.n)
    kept = None if weight is None or weight.all() else np.flatnonzero(weight)
    moments, groups = structure_of(groups, times, table.n, kept)
    if weight is not None and kept is not None:
        table, weight = ResampledTable(*table.part(kept)), weight[kept]
    units = None if groups is None else table.units(groups)
    rows = sampling.draw(table, n_resamples, np.random.default_rng(seed), units)
    machine = seeded(clone(selector), seed)
    routes = weights_for("stability_of", machine, table.n, weight)
    notes: dict[str, Any] = {
        "selector": type(selector).__name__,
        "sample": sample,
        "n_resamples": n_resamples,
    }
    masks: list[np.ndarray] = []
    names: list[str] = []
    with Progress("stability", verbose, most=n_resamples) as progress:
        try:
            jobs = ((part,) for part in rows)
            alike = groups, moments
            working = run_jobs(_select, (machine, table, alike, routes), jobs, n_jobs, machine)
            for mask, found_names in working:
                masks.append(mask)
                names = found_names
                progress.update(f"{len(masks)} of {n_resamples} resamples")
        except KeyboardInterrupt:
            if len(masks) < 2:
                raise
            notes["interrupted"] = True
            warnings.warn(
                f"stopped after {len(masks)} of {n_resamples} resamples; the result is based on "
                "those.",
                RuntimeWarning,
                stacklevel=3,
            )
    found = measure(np.array(masks), names, confidence)
    found.notes.update(notes)
    return found


def _select(
    given: tuple[Any, ResampledTable, tuple[np.ndarray | None, ...], Routes], rows: np.ndarray
) -> tuple[np.ndarray, list[str]]:
    machine, table, alike, routes = given
    X, y = table.part(rows)
    inside = group_arguments(machine, *(None if one is None else one[rows] for one in alike))
    inside |= routes.part("selector", rows)
    fitted = fit_to_the_end(clone(machine), *((X,) if y is None else (X, y)), **inside)
    return mask_and_names(fitted, table.n_features)


def nogueira_index(masks: np.ndarray) -> float:
    """Nogueira's index alone, of boolean masks (selections, features); NaN if it is undefined."""
    return nogueira(masks)[0]


@dataclass(repr=False)
class Stability(TableResult):
    """How much several selections agree.

    Attributes
    ----------
    nogueira : float
        The index of Nogueira and others: 1 for equal selections, about 0 for random ones. NaN if it
        is undefined; ``reason`` then says why.
    variance : float
        Its asymptotic variance.
    interval : tuple of float
        Interval of the index at the given confidence.
    confidence : float
        Confidence of all intervals.
    kuncheva : float or None
        Kuncheva's index, the mean over all pairs; None if the selections differ in size.
    jaccard : float
        Mean over all pairs of the shared features divided by the joint ones (1 if both are empty).
    frequency : array of shape (n_features,)
        Fraction of the selections that hold each feature.
    frequency_interval : array of shape (n_features, 2)
        Wilson's interval of each frequency, as if the selections were independent.
    names : list of str
        Names of the features.
    masks : boolean array of shape (n_selections, n_features)
        The selections.
    reason : str or None
        Why the index is undefined, where it is.
    notes : dict
        Where the selections come from, if :func:`stability_of` made them.

    Examples
    --------
    >>> from tamiz.evaluation import stability
    >>> found = stability([[0, 1], [0, 1], [0, 2]], n_features=10)
    >>> found
    <Stability: 0.583 (0.361 to 0.806), 3 selections of 10 features>
    >>> found.frequency[:3].round(2).tolist()
    [1.0, 0.67, 0.33]
    """

    nogueira: float
    variance: float
    interval: Interval
    confidence: float
    kuncheva: float | None
    jaccard: float
    frequency: np.ndarray
    frequency_interval: np.ndarray
    names: list[str]
    masks: np.ndarray
    reason: str | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def n_selections(self) -> int:
        """Number of selections."""
        return len(self.masks)

    @property
    def n_features(self) -> int:
        """Number of features, selected or not."""
        return self.masks.shape[1]

    @property
    def sizes(self) -> np.ndarray:
        """Number of features in each selection."""
        return self.masks.sum(axis=1)

    def compare(self, other: Stability) -> StabilityTest:
        """Two-sided test whether another method is as stable, for independent selections.

        Parameters
        ----------
        other : Stability
            That of another method; the number of resamples may differ.

        Returns
        -------
        StabilityTest
            The difference of the indices (this one minus the other), its interval, statistic and
            p-value.
        """
        made = "Make it with stability(...) or stability_of(...)."
        instance_of(Stability, made)("other", other)
        return agreement_test(
            self.nogueira - other.nogueira, self.variance + other.variance, self.confidence, 2
        )

    @checked(threshold=real_number(hint=", such as 0.4 or 0.75"))
    def above(self, threshold: float) -> StabilityTest:
        """Test whether the stability is above a value: one-sided.

        Nogueira and others call values below 0.4 poor, 0.4 to 0.75 intermediate to good, above
        excellent, as is usual for measures of agreement.
        """
        return agreement_test(self.nogueira - threshold, self.variance, self.confidence, 1)

    def __repr__(self) -> str:
        if math.isnan(self.nogueira):
            index = "undefined"
        else:
            index = f"{self.nogueira:.3f} ({between(self.interval)})"
        return f"<Stability: {index}, {self.n_selections} selections of {self.n_features} features>"

    def __str__(self) -> str:
        sizes = self.sizes
        size = f"{sizes.min()}" if np.ptp(sizes) == 0 else f"{sizes.min()} to {sizes.max()}"
        kuncheva = "– (sizes differ)" if self.kuncheva is None else number(self.kuncheva)
        lines = [
            f"Stability of {self.n_selections} selections of {size} among {self.n_features} "
            "features",
            f"  Nogueira's index   {number(self.nogueira)}   "
            f"({100 * self.confidence:g} % interval {between(self.interval)})",
            f"  Kuncheva's index   {kuncheva}",
            f"  mean Jaccard       {number(self.jaccard)}",
        ]
        if self.reason:
            lines.append(f"  {self.reason}")
        best = self._most_frequent(10)
        width = max((len(self.names[j]) for j in best), default=0)
        lines.append("  most frequent features:")
        lines += [
            f"    {self.names[j]:<{width}}  {self.frequency[j]:.3f}   ({between(self._of(j))})"
            for j in best
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, fit for JSON; what is undefined is None."""
        return json_ready(
            {
                "nogueira": self.nogueira,
                "variance": self.variance,
                "interval": self.interval,
                "confidence": self.confidence,
                "kuncheva": self.kuncheva,
                "jaccard": self.jaccard,
                "n_selections": self.n_selections,
                "n_features": self.n_features,
                "sizes": self.sizes,
                "reason": self.reason,
                "features": [
                    {
                        "name": self.names[j],
                        "index": int(j),
                        "frequency": self.frequency[j],
                        "interval": self._of(j),
                    }
                    for j in self._order()
                ],
                "selections": [np.flatnonzero(mask) for mask in self.masks],
                "notes": self.notes,
            }
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each feature, the most frequent first: frequency and its interval."""
        order = self._order()
        return frames().DataFrame(
            {
                "name": [self.names[j] for j in order],
                "index": order,
                "frequency": self.frequency[order],
                "low": self.frequency_interval[order, 0],
                "high": self.frequency_interval[order, 1],
            }
        )

    @checked(top=integer_from(1))
    def plot(self, top: int = 30, ax: Any = None) -> Any:
        """Draw how often the most frequent features were selected, with intervals.

        Parameters
        ----------
        top : int, default=30
            Largest number of bars.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        best = self._most_frequent(top)[::-1]
        ax = axes(ax, height=max(2.5, 1.1 + 0.22 * len(best)))
        place = np.arange(len(best))
        value = self.frequency[best]
        reach = np.abs(self.frequency_interval[best].T - value)
        ax.barh(place, value, color=PALETTE[0], alpha=0.8, height=0.75)
        ax.errorbar(value, place, xerr=reach, fmt="none", ecolor="0.25", elinewidth=1, capsize=2)
        ax.set_yticks(place, [self.names[j] for j in best], size="small")
        ax.set(xlim=(0, 1.02), ylim=(-0.6, len(best) - 0.4))
        ax.set_xlabel(f"fraction of {self.n_selections} selections")
        ax.set_title(self._title(), size="medium")
        return ax

    @checked(top=integer_from(1))
    def plot_selections(self, top: int = 40, ax: Any = None) -> Any:
        """Draw which selection holds which of the most frequent features, as a table of cells.

        Parameters
        ----------
        top : int, default=40
            Largest number of features.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        best = self._most_frequent(top)
        ax = axes(ax, height=max(2.5, 1.1 + 0.2 * len(best)))
        # selections that agree stand side by side
        order = np.lexsort(~self.masks[:, best].T[::-1])
        ax.imshow(
            self.masks[np.ix_(order, best)].T,
            aspect="auto",
            cmap="Blues",
            vmin=0,
            vmax=1.25,
            interpolation="nearest",
        )
        ax.set_yticks(np.arange(len(best)), [self.names[j] for j in best], size="small")
        ax.set_xticks([])
        ax.set_xlabel(f"{self.n_selections} selections, similar ones side by side")
        ax.set_title(self._title(), size="medium")
        return ax

    def _title(self) -> str:
        if math.isnan(self.nogueira):
            return "stability undefined"
        return f"stability {self.nogueira:.2f} ({between(self.interval, 2)})"

    def _order(self) -> np.ndarray:
        return np.argsort(-self.frequency, kind="stable")

    def _most_frequent(self, top: int) -> np.ndarray:
        order = self._order()[:top]
        chosen = order[self.frequency[order] > 0]
        return chosen if len(chosen) else order

    def _of(self, j: int) -> Interval:
        low, high = self.frequency_interval[j].tolist()
        return low, high


def measure(masks: np.ndarray, names: list[str], confidence: float) -> Stability:
    index, variance, reason = nogueira(masks)
    half = quantile(confidence) * math.sqrt(variance) if not math.isnan(variance) else math.nan
    count = masks.sum(axis=0)
    low, high = wilson(count, len(masks), confidence)
    kuncheva, jaccard = by_pairs(masks)
    return Stability(
        nogueira=index,
        variance=variance,
        interval=UNKNOWN if math.isnan(half) else (index - half, min(1.0, index + half)),
        confidence=confidence,
        kuncheva=kuncheva,
        jaccard=jaccard,
        frequency=count / len(masks),
        frequency_interval=np.column_stack([low, high]),
        names=names,
        masks=masks,
        reason=reason,
    )


class StabilityTest(NamedTuple):
    """Outcome of a test of stability."""

    difference: float
    interval: Interval
    statistic: float  # normal under the hypothesis of no difference
    pvalue: float

    def __str__(self) -> str:
        return (
            f"difference in stability {self.difference:.3f} ({between(self.interval)}), "
            f"z = {self.statistic:.2f}, p = {pvalue_text(self.pvalue)}"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row: the difference, its interval, statistic and p-value."""
        low, high = self.interval
        columns = {"difference": self.difference, "low": low, "high": high}
        columns |= {"statistic": self.statistic, "pvalue": self.pvalue}
        return frames().DataFrame([columns])

    def _repr_html_(self) -> str | None:
        return frame_in_notebook(str(self), self.to_frame)

    def plot(self, ax: Any = None) -> Any:
        """Draw the difference with its interval, beside no difference.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        ax = axes(ax, height=1.8)
        low, high = self.interval
        ax.plot([low, high], [0, 0], color=PALETTE[0], linewidth=3, solid_capstyle="butt")
        ax.plot([self.difference], [0], "o", color=PALETTE[0], ms=8)
        ax.axvline(0.0, color=INK, linewidth=1.0, linestyle="--")
        ax.set(xlabel="difference in stability", yticks=[], ylim=(-1, 1))
        ax.set_title(str(self), fontsize="small")
        return ax


def nogueira(masks: np.ndarray) -> tuple[float, float, str | None]:
    """The index, its asymptotic variance, and why they are undefined where they are."""
    M, d = masks.shape
    if M < 2:
        return math.nan, math.nan, "One selection agrees with itself: the index needs two."
    z = masks.astype(np.float64)
    size = z.sum(axis=1)
    fraction = size.mean() / d
    if fraction in (0.0, 1.0):
        what = "no feature" if fraction == 0 else "every feature"
        return math.nan, math.nan, f"All selections hold {what}: nothing was chosen."
    p = z.mean(axis=0)
    chance = fraction * (1 - fraction)
    index = 1 - (M / (M - 1)) * (p * (1 - p)).mean() / chance
    # the influence of each selection on the index, by the delta method
    own = size / d
    influence = (
        z @ p / d - own * fraction + index / 2 * (2 * fraction * own - own - fraction + 1)
    ) / chance
    variance = 4 / M**2 * ((influence - influence.mean()) ** 2).sum()
    return float(index), float(variance), None


def by_pairs(masks: np.ndarray) -> tuple[float | None, float]:
    """Kuncheva's index (None if sizes differ) and the mean Jaccard index over all pairs."""
    M, d = masks.shape
    size = masks.sum(axis=1)
    equal = bool((size == size[0]).all())
    if M < 2:
        return math.nan, math.nan
    z = masks.astype(np.float64)
    shared = (z @ z.T)[np.triu_indices(M, 1)]
    joint = (size[:, None] + size)[np.triu_indices(M, 1)] - shared
    jaccard = float(np.where(joint == 0, 1.0, shared / np.maximum(joint, 1)).mean())
    if not equal:
        return None, jaccard
    k = float(size[0])
    if k in (0.0, float(d)):
        return math.nan, jaccard
    return float((shared.mean() * d - k * k) / (k * (d - k))), jaccard


def agreement_test(
    difference: float, variance: float, confidence: float, sides: int
) -> StabilityTest:
    """Test of a normally distributed difference with this variance, two-sided or one-sided."""
    if math.isnan(difference) or math.isnan(variance):
        return StabilityTest(difference, UNKNOWN, math.nan, math.nan)
    half = quantile(confidence) * math.sqrt(variance)
    if variance > 0:
        statistic = difference / math.sqrt(variance)
    else:  # variance zero: the limit of ever smaller variances
        statistic = 0.0 if difference == 0 else math.copysign(math.inf, difference)
    tail = stats.norm.sf(abs(statistic) if sides == 2 else statistic)
    return StabilityTest(
        difference, (difference - half, difference + half), statistic, float(sides * tail)
    )
