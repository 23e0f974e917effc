"""What all filters share: the contract, the classes as target, and a few sentences.

What a filter needs of the data is a statistic that merges: moments, counts, histograms, a sample of
rows. ``fit`` takes it from arrays, ``fit_stream`` (:mod:`tamiz.filters.streaming`) from the batches
of a table that need not fit into memory, ``partial_fit`` (:mod:`tamiz.filters.partial`) from one
batch after the other. How the scores follow from the statistic is stated once.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import Selector
from tamiz.gpu import DEVICES, lane_of
from tamiz.information import Codes, encode
from tamiz.information.on_card import to_card
from tamiz.information.weighted import WeightedCodes
from tamiz.validation import as_vector, check_classes, check_counted_rows

#: What ``n_features_to_select`` may be.
HOW_MANY: list[Any] = [
    Interval(Integral, 1, None, closed="left"),
    Interval(Real, 0, 1, closed="right"),
    StrOptions({"auto"}),
    None,
]

#: Where the work is done.
DEVICE: list[Any] = [StrOptions(set(DEVICES)), None]

#: What to do with a numeric target, where classes are needed.
NUMBERS = 'use PearsonScore, RReliefF or CFS(task="regression"), which take numbers'

#: The same for a filter that takes either.
REGRESSION = 'use task="regression"'


class Filter(Selector):
    """Base class of the filters: each needs a target, and a new fit starts anew."""

    def _finish(self, **found: Any) -> None:
        for name in ("n_rows_", "n_passes_", "score_bounds_", "_so_far"):  # of an earlier fit
            self.__dict__.pop(name, None)
        super()._finish(**found)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def encode_classes(
    selector: Any, X: Any, y: Any, sample_weight: Any = None
) -> Codes | WeightedCodes:
    """Discretise and pack the features by the parameters of a selector, with classes as target.

    Sets ``classes_``. Selectors that have a ``device`` get columns that are counted there.
    """
    device = getattr(selector, "device", None)
    lane_of(device)  # a card that is missing is missed before the work
    X, y, weight = check_counted_rows(X, as_vector(y), sample_weight)
    codes = encode(
        X,
        bins=selector.bins,
        n_bins=selector.n_bins,
        y=y,
        categorical_features=selector.categorical_features,
        missing=selector.missing,
        estimator=selector,
        sample_weight=weight,
    )
    labels = check_classes(y, codes.n_samples, quantity=NUMBERS)
    selector.classes_ = labels.classes
    codes.target = labels.codes
    counted: Codes | WeightedCodes = to_card(codes, device)
    return counted


def warn_of_nothing(
    selector: Any, why: str, also: str = ", or look for features that only tell together (ReliefF)"
) -> None:
    """Warn that no feature has to do with the target, so that the ranking means nothing."""
    warnings.warn(
        f"{type(selector).__name__} found no relevant feature: {why}. The order of the features "
        f"means nothing here; check X and y{also}.",
        UserWarning,
        stacklevel=3,
    )


def refuse_card(device: str | None, what: str, instead: str) -> None:
    """Refuse ``device="cuda"`` for what is not done there; "auto" means the CPU then."""
    if device == "cuda":
        raise ValueError(f'device="cuda" cannot be used with {what}; {instead}.')


#: For streams, which are counted while they are read.
NO_STREAM = ("fit_stream", "batches are counted on the CPU while they are read; leave device out")


def refuse_categories(categorical_features: Any, what: str, instead: str) -> None:
    """Refuse ``categorical_features`` where the features are taken as numbers."""
    if categorical_features is not None:
        raise ValueError(
            f"categorical_features cannot be used with {what}, which takes all features as "
            f"numbers; use {instead}, or encode the categories first."
        )
