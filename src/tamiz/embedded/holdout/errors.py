"""What a hold-out elimination counts: random splits, and the price of each error.

The text states the criterion as the sum over the validation samples of \\|y - sgn(f)\\|, which is 2
for every error; here an error counts once. Errors are counted by class, in whole numbers, and
priced afterwards: equal counts then have exactly the same price, so that ties are found whatever
the prices are.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from tamiz.validation import Labels

#: Errors closer than this, relatively, are equal: prices need not be whole numbers.
TIE = 1e-9


class Split(NamedTuple):
    """A random division of the samples; each part is ordered by class."""

    train: np.ndarray
    validation: np.ndarray
    starts: np.ndarray  # where each class begins in ``validation``


def validation_counts(labels: Labels, share: float) -> np.ndarray:
    """How many samples of each class are held out: its share, with one at least on either side."""
    counts = np.bincount(labels.codes, minlength=len(labels.classes))
    if counts.min() < 2:
        k = int(counts.argmin())
        raise ValueError(
            f"The class {labels.classes.tolist()[k]!r} has {counts[k]} sample; HoldOutSVM needs at "
            "least two of every class, one to train with and one to validate with. Leave the "
            "class out, or join it with another one."
        )
    return np.clip(np.rint(share * counts).astype(np.intp), 1, counts - 1)


def random_split(
    by_class: list[np.ndarray], held_out: np.ndarray, rng: np.random.Generator
) -> Split:
    """Hold out the given number of samples of each class at random."""
    mixed = [rng.permutation(samples) for samples in by_class]
    train = [samples[count:] for samples, count in zip(mixed, held_out, strict=True)]
    validation = [samples[:count] for samples, count in zip(mixed, held_out, strict=True)]
    starts = np.cumsum(held_out) - held_out
    return Split(np.concatenate(train), np.concatenate(validation), starts)


def count_wrong(wrong: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Number of errors of each class; ``wrong`` has one row for each validation sample."""
    return np.add.reduceat(wrong, starts, axis=0, dtype=np.int64)


def error_prices(costs: Any, balanced: bool, labels: Labels, held_out: np.ndarray) -> np.ndarray:
    """The price of an error on a validation sample of each class.

    ``costs`` is a pair (false positive, false negative) for two classes, of which the second is
    the positive one, or a mapping from class to the price of missing one of its samples.
    """
    price = np.ones(len(held_out))
    if costs is not None:
        price = _class_costs(costs, labels)
    return price / (len(held_out) * held_out) if balanced else price


def _class_costs(costs: Any, labels: Labels) -> np.ndarray:
    known = labels.classes.tolist()
    if isinstance(costs, Mapping):
        missing = [label for label in known if label not in costs]
        strange = [label for label in costs if label not in known]
        if missing or strange:
            what = f"lacks {missing[0]!r}" if missing else f"names {strange[0]!r}"
            raise ValueError(
                f"costs {what}; as a mapping it holds the price of missing a sample for each class "
                f"of y and for nothing else ({', '.join(map(repr, known))})."
            )
        values = [costs[label] for label in known]
    else:
        values = list(np.atleast_1d(np.asarray(costs, dtype=object)))
        if len(values) != 2:
            raise ValueError(
                f"costs={costs!r} is not understood; use a pair (false positive, false negative), "
                "or a mapping from each class to the price of missing one of its samples."
            )
        if len(known) != 2:
            raise ValueError(
                f"costs={costs!r} is a pair, but y has {len(known)} classes; use a mapping from "
                "each class to the price of missing one of its samples."
            )
    for value in values:
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < np.inf:
            raise ValueError(f"costs holds {value!r}; costs are finite numbers and not negative.")
    if not any(values):
        raise ValueError("costs are all zero, so that no error counts; one must be positive.")
    # a false positive is a missed sample of the first class, a false negative one of the second
    return np.array(values, dtype=np.float64)
