r"""Several targets at once: labels that are not exclusive, or several numbers for each row.

Each target by itself gives every feature a score :math:`s_{tf}`, or a place in a ranking. The
features are then ranked by

.. math:: \max_t s_{tf}, \qquad \frac{1}{T} \sum_t s_{tf},

or the targets are put together before: every combination of labels that occurs is one class, and
a feature that has to do with two labels together only is seen.

References
----------
.. [1] N. Spolaor, E. A. Cherman, M. C. Monard, H. D. Lee (2013). A comparison of multi-label
       feature selection methods using the problem transformation approach. ENTCS 292.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import validate_data

from tamiz.base import Selector, Stopwatch, number_to_select, order_by
from tamiz.filters.base import HOW_MANY
from tamiz.filters.information.relevance import MaxRel
from tamiz.routing import refuse_unknown, refuse_unrequested, router_of, routes_to
from tamiz.runtime.progress import Progress
from tamiz.validation import (
    as_numpy,
    check_sample_weight,
    check_targets,
    depth_of_caller,
    unchanged_on_error,
)


class MultiTarget(Selector):
    """A filter for several targets: multi-label classes, or several numbers.

    Parameters
    ----------
    selector : selector, optional
        What is fitted to each target, and has ``scores_`` or ``ranking_`` then; ``MaxRel()`` by
        default. With numeric targets one that takes numbers, such as ``PearsonScore()``.
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    combine : {"max", "mean", "joint"}, default="max"
        Rank by the best score over the targets, by their mean, or take every combination of labels
        as one class. Scores of greedy and wrapper methods, which do not compare between features,
        are replaced by ``1 - (rank - 1) / n_features``, or by zeros where no feature is
        relevant for a target. With "max", ties go to the greater mean.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        The combined score.
    target_scores_ : array of shape (n_targets, n_features)
        The scores for each target; of one row with "joint". A target that does not vary (among the
        rows of positive weight) is warned of and has zeros.
    target_names_ : list of str
        Names of the targets: of the columns of a data frame, else y0, y1, ….
    selectors_ : list
        The fitted selectors; None for a target that does not vary.
    support_, ranking_, order_, selection_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    MaxRel : Mutual information with one target.

    References
    ----------
    .. [1] N. Spolaor, E. A. Cherman, M. C. Monard, H. D. Lee (2013). A comparison of multi-label
           feature selection methods using the problem transformation approach. ENTCS 292.

    Examples
    --------
    The second label is the exclusive or of the first and the third feature. With that label alone
    no feature has anything to do; with both labels together the third is seen:

    >>> import numpy as np
    >>> from tamiz.filters import MaxRel, MultiTarget
    >>> X = np.array([[i & 1, 0, i >> 1 & 1] for i in range(16)])
    >>> Y = np.column_stack([X[:, 0], X[:, 0] ^ X[:, 2]])
    >>> MultiTarget(MaxRel(bins=None)).fit(X, Y).scores_.round(2)
    array([0.69, 0.  , 0.  ])
    >>> MultiTarget(MaxRel(bins=None), combine="joint").fit(X, Y).scores_.round(2)
    array([0.69, 0.  , 0.69])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "selector": [None, HasMethods(["fit", "get_params"])],
        "n_features_to_select": HOW_MANY,
        "combine": [StrOptions({"max", "mean", "joint"})],
    }

    def __init__(
        self,
        selector: Any = None,
        *,
        n_features_to_select: int | float | str | None = None,
        combine: str = "max",
    ):
        self.selector = selector
        self.n_features_to_select = n_features_to_select
        self.combine = combine

    @property
    def _base(self) -> Any:
        return MaxRel() if self.selector is None else self.selector

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **metadata: Any) -> MultiTarget:
        """Rank the features for all targets together.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Data, as the selector takes it.
        y : array, sparse matrix or data frame of shape (n_samples, n_targets) or (n_samples,)
            Targets: a matrix of indicators, or columns of labels or numbers.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples, if the selector takes them.
        **metadata : dict
            What else the selector asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        self._validate_params()
        watch = Stopwatch()
        refuse_unknown("fit", metadata)
        given = {"sample_weight": sample_weight, **metadata}
        refuse_unrequested(self, **given)
        with unchanged_on_error(self):
            return self._fit(X, y, given, watch)

    def get_metadata_routing(self) -> Any:
        """Who gets what is passed to ``fit``: the selector.

        Returns
        -------
        routing : MetadataRouter
        """
        return router_of(self, selector=(self._base, "fit"))

    def _fit(self, X: Any, y: Any, given: dict[str, Any], watch: Stopwatch) -> MultiTarget:
        X, targets = as_numpy(X), check_targets(y)
        n = len(targets.columns[0]) if targets.columns else 0
        extra = routes_to(self, "selector", self._base, n, given).part("selector")
        weights = [value for name, value in extra.items() if name.endswith("sample_weight")]
        if self.combine == "joint":
            targets = targets.joint()
        varies = _which_vary(targets.columns, *weights[:1])
        if any(varies) and not all(varies):
            first = targets.names[varies.index(False)]
            warnings.warn(
                f"y has {varies.count(False)} target(s) with one value only, first {first!r}; "
                "they are left out.",
                UserWarning,
                stacklevel=depth_of_caller(),
            )
        # where none varies, the selector has the sentence
        taken = varies if any(varies) else [True] * len(varies)
        self.selectors_ = self._fitted_to_each(X, targets, taken, extra)
        validate_data(self, X, reset=True, skip_check_array=True)
        used = np.array(comparable_scores([one for one in self.selectors_ if one is not None]))
        self.target_scores_ = np.zeros((len(taken), self.n_features_in_))
        self.target_scores_[np.array(taken)] = used
        self.target_names_ = targets.names
        mean = used.mean(axis=0)
        scores = mean if self.combine == "mean" else used.max(axis=0)
        self._finish(
            order=order_by(scores, mean),
            n_selected=number_to_select(self.n_features_to_select, len(scores), None),
            scores=scores,
            seconds=watch.seconds,
            notes={"targets": list(targets.names), "combine": self.combine},
        )
        return self

    def _fitted_to_each(
        self, X: Any, targets: Any, taken: list[bool], extra: dict[str, Any]
    ) -> list[Any]:
        """The selectors of the targets that are taken; scores for some of them are no answer."""
        found: list[Any] = []
        with Progress("MultiTarget", most=len(taken)) as progress:
            for column, use in zip(targets.columns, taken, strict=True):
                found.append(self._fitted(X, column, extra) if use else None)
                progress.update(f"{len(found):,} of {len(taken):,} targets")
        return found

    def _fitted(self, X: Any, y: np.ndarray, extra: dict[str, Any]) -> Any:
        selector = clone(self._base).fit(X, y, **extra)
        if not hasattr(selector, "scores_") and not hasattr(selector, "ranking_"):
            raise ValueError(
                f"{type(selector).__name__} has neither scores_ nor ranking_ after fit, of which "
                "MultiTarget makes its ranking; use a selector that has, such as MaxRel, MRMR or "
                "scikit-learn's SelectKBest or RFE."
            )
        return selector

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base)
        tags.input_tags = inner.input_tags
        tags.target_tags.required = True
        tags.target_tags.multi_output = tags.target_tags.two_d_labels = True
        return tags


def comparable_scores(selectors: list[Any]) -> list[np.ndarray]:
    """The scores of fitted selectors if they order the features, else one for each place.

    Scores along a path, as of a greedy search, do not compare even where they happen to descend.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> comparable_scores([SimpleNamespace(ranking_=[2, 1])])[0].tolist()
    [0.5, 1.0]
    """
    ranked = all(hasattr(one, "ranking_") for one in selectors)
    if all(map(_ordered_by_score, selectors)) or not ranked:
        found = [_numbers(one.scores_) for one in selectors]
    else:
        ranks = [np.asarray(one.ranking_, dtype=np.float64) for one in selectors]
        found = [1.0 - (rank - 1.0) / len(rank) for rank in ranks]
    return [
        np.zeros(len(scores)) if _found_nothing(one) else scores
        for one, scores in zip(selectors, found, strict=True)
    ]


def _numbers(scores: Any) -> np.ndarray:
    """The scores; what is NaN, as scikit-learn's of constant features, is no better than others."""
    scores = np.array(scores, dtype=np.float64)
    unknown = np.isnan(scores)
    scores[unknown] = min(0.0, scores[~unknown].min(initial=0.0))
    return scores


def _found_nothing(selector: Any) -> bool:
    """Whether no feature is relevant, so that the places are those of the columns."""
    found = getattr(selector, "relevance_", getattr(selector, "scores_", None))
    return found is not None and not np.any(found)


def _which_vary(columns: list[np.ndarray], sample_weight: Any = None) -> list[bool]:
    """Which targets have several values in the rows that count."""
    if sample_weight is not None:
        n = len(columns[0])
        counted = check_sample_weight(sample_weight, n) > 0.0
        columns = [column[counted] for column in columns]
    return [bool((column != column[:1]).any()) for column in columns]


def _ordered_by_score(selector: Any) -> bool:
    scores = getattr(selector, "scores_", None)
    if scores is None or getattr(getattr(selector, "selection_", None), "path", None):
        return False
    order = getattr(selector, "order_", None)
    return order is None or not (np.diff(np.asarray(scores)[order]) > 0.0).any()
