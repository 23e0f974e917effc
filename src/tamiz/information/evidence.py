r"""Weight of evidence and information value, as scores of credit are built from them.

A column is cut into bins (categories are bins; missing values are one). With :math:`n_{b1}` of the
:math:`N_1` rows of the class of interest and :math:`n_{b0}` of the :math:`N_0` others in bin b,

.. math::

    W_b = \log \frac{n_{b1} / N_1 + s / N}{n_{b0} / N_0 + s / N}, \qquad
    IV = \sum_b \Bigl( \frac{n_{b1}}{N_1} - \frac{n_{b0}}{N_0} \Bigr) W_b .

The weight of evidence is what the bin adds to the log odds of the class, and the information value
the symmetrised Kullback-Leibler divergence between the two classes. The smoothing adds s rows to
every bin that are divided as all rows are: an empty bin has weight 0, and none is infinite. With
two samples in the place of two classes, the same sum is the population stability index.

References
----------
.. [1] I. J. Good (1950). Probability and the weighing of evidence. Griffin.
.. [2] N. Siddiqi (2006). Credit risk scorecards. Wiley.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import ClassifierTags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from tamiz.callbacks import TakesCallbacks
from tamiz.display import INK, PALETTE, Evidence, axes, frames, importance_table
from tamiz.information.discretiser import Discretiser
from tamiz.information.encoding import BINNING
from tamiz.validation import (
    check_classes,
    check_counted_rows,
    depth_of_caller,
    is_frame,
    names_for,
    refused,
    unchanged_on_error,
)

if TYPE_CHECKING:
    import pandas as pd

#: How often chance alone exceeds what is called its limit.
_RARE = 1e-3
#: Rows that a bin is expected to have of either sample for the chi-squared distribution to hold.
_ENOUGH = 10.0
#: Least and most shuffles; fewer where there are many bins.
_SHUFFLES, _MOST_CELLS = (20, 500), 500_000


def weights_of_evidence(counts: np.ndarray, smoothing: float) -> np.ndarray:
    """Weight of evidence of every bin (row) from its counts of others and of the class.

    Examples
    --------
    >>> import numpy as np
    >>> weights_of_evidence(np.array([[30, 10], [10, 30]]), 1e-9).round(4)
    array([-1.0986,  1.0986])
    """
    counts = np.asarray(counts, dtype=np.float64)
    if not counts.any():
        return np.zeros(counts.shape[:-1])
    part = fractions(counts) * counts.sum(axis=(-2, -1), keepdims=True) + smoothing
    with np.errstate(over="ignore"):
        ratio = part[..., 1] / part[..., 0]
    # where float64 ends, digits that differences of logarithms lose do not matter
    within = (ratio > 0.0) & np.isfinite(ratio)
    logs = np.log(part)
    return np.where(within, np.log(np.where(within, ratio, 1.0)), logs[..., 1] - logs[..., 0])


def divergence_by_chance(
    counts: np.ndarray,
    smoothing: float = 0.5,
    *,
    joined: np.ndarray | None = None,
    searched: int = 1,
) -> tuple[float, float]:
    """Information value of bins (rows) of two samples (columns) of one population, of these sizes.

    Its mean, and what it exceeds once in a thousand times. Where every bin has rows enough it is
    about ``1 / n + 1 / m`` times a chi-squared number with one degree of freedom less than there
    are bins in use. Elsewhere the rows are shuffled between the samples, some hundred times, and a
    gamma distribution gets the mean and the variance of the values found.

    Parameters
    ----------
    counts : array of shape (n_bins, 2)
        Rows of each sample.
    smoothing : float, default=0.5
        That of the value: see :func:`divergence`.
    joined : boolean array of shape (n_bins,), optional
        Bins that become one together where the first sample lacks them, as categories do that a
        reference does not know.
    searched : int, default=1
        Columns among which this one was picked for its value: the limit becomes what the greatest
        of as many exceeds once in a thousand times.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[30, 10], [10, 30]])
    >>> mean, limit = divergence_by_chance(counts)
    >>> round(mean, 4), round(limit, 4)
    (0.05, 0.5414)
    >>> divergence_by_chance(counts, searched=1000)[1] > limit
    True
    """
    from scipy.special import gammainccinv  # slow to import, and rankings do without it

    counts = np.asarray(counts, dtype=np.float64)
    used = counts.any(axis=1)
    counts = counts[used]
    if len(counts) < 2:
        return 0.0, 0.0
    sides = counts.sum(axis=0)
    expected = counts.sum(axis=1).min() * sides.min() / sides.sum()
    if searched == 1 and expected >= _ENOUGH:
        freedom, rows = len(counts) - 1, float((1.0 / sides).sum())
        return float(freedom * rows), 2.0 * rows * float(gammainccinv(freedom / 2.0, _RARE))
    values = _shuffled(counts, smoothing, None if joined is None else np.asarray(joined)[used])
    mean, variance = float(values.mean()), float(values.var())
    if variance <= 1e-12 * mean**2:
        return mean, mean
    shape = mean**2 / variance
    return mean, float(gammainccinv(shape, _RARE / searched)) * variance / mean


def _shuffled(counts: np.ndarray, smoothing: float, joined: np.ndarray | None) -> np.ndarray:
    """Values of tables with the margins of this one, as shuffling the rows gives them."""
    rng = np.random.default_rng(0)
    rows = np.rint(counts.sum(axis=1)).astype(np.int64)
    n_first = min(int(np.rint(counts[:, 0].sum())), int(rows.sum()))
    size = int(np.clip(_MOST_CELLS // len(rows), *_SHUFFLES))
    first = rng.multivariate_hypergeometric(rows, n_first, size=size, method="marginals")
    second = rows - first
    if joined is not None:
        lacking = joined & (first == 0)
        new = np.where(lacking, second, 0).sum(axis=1)
        second = np.column_stack([np.where(lacking, 0, second), new])
        first = np.column_stack([first, np.zeros_like(new)])
    return divergence(np.stack([first, second], axis=-1), smoothing)


def fractions(counts: np.ndarray) -> np.ndarray:
    """Fraction of the rows of each side (column) in every bin (row); zeros of an empty side."""
    total = counts.sum(axis=-2, keepdims=True)
    return np.asarray(counts / np.where(total > 0.0, total, 1.0))


def divergence(counts: np.ndarray, smoothing: float) -> np.ndarray:
    """Information value of the bins (rows) of a column; between two samples, their stability index.

    Tables may be stacked, of shape (..., n_bins, 2): one value for each.

    Examples
    --------
    >>> import numpy as np
    >>> float(divergence(np.array([[30, 10], [10, 30]]), 1e-9).round(4))
    1.0986
    """
    counts = np.asarray(counts, dtype=np.float64)
    part = fractions(counts)
    difference = part[..., 1] - part[..., 0]
    return np.asarray(np.sum(difference * weights_of_evidence(counts, smoothing), axis=-1))


class WeightOfEvidence(
    TakesCallbacks, Evidence, OneToOneFeatureMixin, TransformerMixin, BaseEstimator
):
    r"""Replace every value by the weight of evidence of its bin.

    Parameters
    ----------
    bins : {"mdl", "mean_std", "width", "frequency"}, default="frequency"
        How to cut continuous columns, see :class:`Discretiser`; as in
        :class:`tamiz.filters.InformationValue` by default. A column that "mdl" does not cut
        becomes constant, of which there is a warning.
    n_bins : int, default=10
        Number of bins for "width" and "frequency".
    monotone : bool, default=False
        Whether neighbouring bins are merged until the weights of a continuous column only rise or
        only fall (whichever keeps more information), as scorecards often have to. Missing values
        and categories stay apart.
    smoothing : float, default=0.5
        Rows that are added to each bin, divided as all rows are. Larger values draw the weights of
        rare bins towards 0.
    categorical_features : array-like, default=None
        Features whose values are categories: indices, names or a mask. Columns that hold
        text or, in a data frame, categories always are.
    positive : object, optional
        The class whose evidence is positive; by default the greater label.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels.
    positive_ : object
        The class whose evidence is positive.
    cuts_ : list of arrays
        Cuts of each column; empty for categories.
    categories_ : dict
        Categories of each column that has them, by its index.
    counts_ : list of arrays of shape (n_bins + 1, 2)
        Rows of the other class and of the positive one in every bin, missing values last.
    weights_ : list of arrays of shape (n_bins + 1,)
        Weight of evidence of every bin, missing values last (0 if there were none).
    information_values_ : array of shape (n_features,)
        Information value of each column with these bins.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of str
        Names of the features, if X had any.

    See Also
    --------
    tamiz.filters.InformationValue : Select columns by their information value.
    Discretiser : The numbers of the bins.

    References
    ----------
    .. [1] N. Siddiqi (2006). Credit risk scorecards. Wiley.

    Examples
    --------
    >>> from tamiz.information import WeightOfEvidence
    >>> X = [[20], [25], [30], [35], [50], [55], [60], [65]]
    >>> y = [1, 1, 1, 0, 0, 0, 0, 1]
    >>> woe = WeightOfEvidence("width", n_bins=2).fit(X, y)
    >>> woe.transform([[22], [58], [float("nan")]]).round(3).ravel()
    array([ 0.956, -0.956,  0.   ])
    >>> woe.information_values_.round(3)
    array([0.956...])
    """

    _parameter_constraints: dict[str, Any] = {
        "bins": [option for option in BINNING["bins"] if option is not None],
        **{name: BINNING[name] for name in ("n_bins", "categorical_features")},
        "monotone": ["boolean"],
        "smoothing": [Interval(Real, 0, None, closed="neither")],
        "positive": "no_validation",
    }

    def __init__(
        self,
        bins: str = "frequency",
        *,
        n_bins: int = 10,
        monotone: bool = False,
        smoothing: float = 0.5,
        categorical_features: Any = None,
        positive: Any = None,
    ):
        self.bins = bins
        self.n_bins = n_bins
        self.monotone = monotone
        self.smoothing = smoothing
        self.categorical_features = categorical_features
        self.positive = positive

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> WeightOfEvidence:
        """Cut the columns and weigh the bins.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The table; may have missing values and categorical columns.
        y : array of shape (n_samples,)
            Labels of two classes.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples: each counts like so many rows, an integer
            exactly as if the row were repeated. Rows of weight zero are left out.
        """
        self._validate_params()
        with unchanged_on_error(self):
            return self._fit(*check_counted_rows(X, y, sample_weight))

    def _fit(self, X: Any, y: Any, weight: np.ndarray | None) -> WeightOfEvidence:
        bins = Discretiser(
            self.bins, n_bins=self.n_bins, categorical_features=self.categorical_features
        )
        bins.fit(X, y, sample_weight=weight)
        codes = _as_array(bins.transform(X))
        labels = check_classes(y, len(codes), warn=False)
        if len(labels.classes) != 2:
            raise ValueError(
                f"Only binary classification is supported: WeightOfEvidence compares two classes, "
                f"and y has {len(labels.classes)}. Put y into two classes first, for instance y == "
                f"{labels.classes.tolist()[0]!r}."
            )
        self.classes_ = labels.classes
        self.positive_ = self._which_is_positive(labels.classes)
        event = labels.codes == int(labels.classes[1] == self.positive_)
        self._bins = bins
        self.cuts_, self.categories_ = bins.cuts_, bins.categories_
        self.counts_ = [self._counted(j, codes[:, j], event, weight) for j in range(codes.shape[1])]
        self.weights_ = [weights_of_evidence(part, self.smoothing) for part in self.counts_]
        values = [divergence(part, self.smoothing) for part in self.counts_]
        self.information_values_ = np.array(values)
        self._warn_of_single_bins(bins)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(bins, name):
                setattr(self, name, getattr(bins, name))
        return self

    def _warn_of_single_bins(self, bins: Discretiser) -> None:
        """Columns that "mdl" does not cut look as if they said nothing."""
        numeric = [j for j in range(len(self.counts_)) if j not in bins.categories_]
        single = [j for j in numeric if len(self.counts_[j]) == 2 and not self.counts_[j][1].any()]
        if self.bins != "mdl" or not single:
            return
        names = names_for(getattr(bins, "feature_names_in_", None), len(self.counts_))
        listed = ", ".join(repr(str(names[j])) for j in single[:5])
        listed += f" and {len(single) - 5} more" if single[5:] else ""
        warnings.warn(
            f"WeightOfEvidence: bins='mdl' cuts nothing in {listed}: constant, with an information "
            "value of 0. Use bins='frequency' for a value as InformationValue has it.",
            UserWarning,
            stacklevel=depth_of_caller(),
        )

    def _which_is_positive(self, classes: np.ndarray) -> Any:
        if self.positive is None:
            return classes[1]
        if self.positive not in classes.tolist():
            raise ValueError(
                f"positive is {self.positive!r}, which y does not hold; its classes are "
                f"{', '.join(map(repr, classes.tolist()))}."
            )
        return self.positive

    def _counted(
        self, j: int, codes: np.ndarray, event: np.ndarray, weight: np.ndarray | None
    ) -> np.ndarray:
        """Counts of the bins of a column, which are merged if they have to be monotone."""
        n = int(self._bins.n_bins_[j])
        sides = [
            np.bincount(
                codes[side], None if weight is None else weight[side], minlength=n + 1
            ).astype(np.float64)
            for side in (~event, event)
        ]
        counts = np.column_stack(sides)
        if not self.monotone or j in self.categories_ or n < 3:
            return counts
        starts = monotone_bins(counts[:n], self.smoothing, counts[n])
        self._bins.cuts_[j] = self._bins.cuts_[j][starts[1:] - 1]
        self._bins.n_bins_[j] = len(starts)
        return np.vstack([np.add.reduceat(counts[:n], starts), counts[n:]])

    def transform(self, X: Any) -> np.ndarray:
        """Replace the values by the weights of their bins.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The table. Missing values and categories that ``fit`` did not see are the bin of the
            missing values.

        Returns
        -------
        weights : array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        codes = _as_array(self._bins.transform(X))
        return np.column_stack([weights[codes[:, j]] for j, weights in enumerate(self.weights_)])

    def to_frame(self) -> pd.DataFrame:
        """Every bin of every column as a pandas table: rows, rate of the class, weight, value."""
        pd = frames()
        check_is_fitted(self)
        names = self.get_feature_names_out()
        rows: list[dict[str, Any]] = []
        for j, (counts, weights) in enumerate(zip(self.counts_, self.weights_, strict=True)):
            part = fractions(counts)
            for b, label in enumerate(self._labels(j)):
                n = float(counts[b].sum())
                rows.append(
                    {
                        "feature": names[j],
                        "bin": label,
                        "rows": n,
                        "rate": counts[b, 1] / n if n else np.nan,
                        "weight": weights[b],
                        "value": (part[b, 1] - part[b, 0]) * weights[b],
                    }
                )
        return pd.DataFrame(rows)

    def plot(self, feature: Any = None, ax: Any = None) -> Any:
        """Draw the weights of the bins of one column; empty bins are left out.

        Parameters
        ----------
        feature : str or int, optional
            Which column; by default the one of the greatest information value.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        check_is_fitted(self)
        names = [str(name) for name in self.get_feature_names_out()]
        j = int(np.argmax(self.information_values_))
        if feature is not None:
            j = names.index(feature) if feature in names else feature
            if not isinstance(j, int | np.integer) or not 0 <= j < len(names):
                raise refused(
                    "feature", feature, f"must be a name, or a position from 0 to {len(names) - 1}"
                )
        used = np.flatnonzero(self.counts_[j].any(axis=1))
        weights = self.weights_[j][used]
        labels = self._labels(int(j))
        place = np.arange(len(used))[::-1]
        ax = axes(ax, height=max(2.2, 1.2 + 0.3 * len(used)))
        ax.barh(place, weights, color=[PALETTE[int(weight >= 0)] for weight in weights])
        ax.axvline(0.0, color=INK, linewidth=0.8)
        ax.set_yticks(place, [labels[b] for b in used])
        ax.set(xlabel=f"weight of evidence for {self.positive_}", title=names[j])
        return ax

    def _evidence_html(self, caption: str = "What was found") -> str:
        found = super()._evidence_html(caption)
        if not hasattr(self, "information_values_"):
            return found
        names = getattr(self, "feature_names_in_", None)
        title = f"Information values; weights are for {self.positive_}"
        return found + importance_table(self.information_values_, names, title, "information value")

    def _labels(self, j: int) -> list[str]:
        if j in self.categories_:
            inner = [str(value) for value in self.categories_[j].tolist()]
        else:
            ends = [-np.inf, *self.cuts_[j].tolist(), np.inf]
            inner = [f"({low:.6g}, {high:.6g}]" for low, high in pairwise(ends)]
        return [*inner, "missing"]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        tags.classifier_tags = ClassifierTags(multi_class=False)  # what it takes as y
        return tags


def monotone_bins(
    counts: np.ndarray, smoothing: float, missing: np.ndarray | None = None
) -> np.ndarray:
    """The first of each group of bins, merged until the weight of evidence rises or falls.

    Pool adjacent violators, in both directions; what keeps more information is taken. The bins are
    in the order of their weights, smoothing included: bins of different sizes may have another one
    by the fraction of the class.

    Examples
    --------
    >>> import numpy as np
    >>> monotone_bins(np.array([[9, 1], [7, 3], [8, 2], [2, 8]]), 0.5)
    array([0, 1, 3])
    """
    rest = [] if missing is None else [missing]
    whole = np.vstack([counts, *rest]).sum(axis=0)
    found = []
    for sign in (1.0, -1.0):
        blocks: list[tuple[int, np.ndarray]] = []
        for b, row in enumerate(counts):
            first, total = b, row
            while blocks and sign * _excess(total, blocks[-1][1], whole, smoothing) <= 0.0:
                first, before = blocks.pop()
                total = total + before
            blocks.append((first, total))
        starts = np.array([first for first, _ in blocks])
        merged = np.vstack([np.add.reduceat(counts, starts), *rest])
        found.append((divergence(merged, smoothing), starts))
    rising, falling = found
    return rising[1] if rising[0] >= falling[0] else falling[1]


def _excess(later: np.ndarray, earlier: np.ndarray, whole: np.ndarray, smoothing: float) -> float:
    """How much greater the weight of evidence of the later bin is, if ``whole`` are all rows."""
    own = weights_of_evidence(
        np.stack([earlier, later, np.maximum(whole - earlier - later, 0.0)]), smoothing
    )
    return float(own[1] - own[0])


def _as_array(codes: Any) -> np.ndarray:
    return nw.from_native(codes, eager_only=True).to_numpy() if is_frame(codes) else codes
