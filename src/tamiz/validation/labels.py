"""Targets: class labels, numeric targets, the task they ask for, and weights."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from tamiz.validation.errors import MissingValuesError, OneClassError
from tamiz.validation.frames import (
    DATES,
    as_numpy,
    is_frame,
    names_of,
    refuse_complex,
    refuse_duplicate_names,
)
from tamiz.validation.parameters import depth_of_caller, is_inner_fit

ANNOUNCE = (
    "Name every class of the stream in the first call of partial_fit with classes=..., or start "
    "anew with fit."
)


class Labels(NamedTuple):
    """Class labels as a user sees them and as the machines use them."""

    classes: np.ndarray  # the distinct labels, sorted
    codes: np.ndarray  # position of each sample's label in ``classes``


def check_classes(
    y: Any,
    n_samples: int,
    *,
    minimum: int = 2,
    weight: np.ndarray | None = None,
    quantity: str = "use a regression such as SVR",
    warn: bool = True,
) -> Labels:
    """Return the distinct labels of ``y`` and the code of each sample.

    With ``weight``, classes all of whose samples have weight zero do not count; the codes of such
    samples are meaningless. ``quantity`` says what to do if ``y`` is a numeric target; with
    ``warn`` integers that look like one are warned of.
    """
    y = check_target(y, n_samples)
    if not _are_plain_labels(y):
        if y.dtype.kind == "O":
            _refuse_mixed_labels(y)
        from sklearn.utils.multiclass import check_classification_targets

        try:
            with np.errstate(invalid="ignore"):  # it turns all numbers into integers
                check_classification_targets(y)
        except ValueError as error:
            raise ValueError(
                f"{error} Here y[0] is {y[:1].tolist()[0]!r}: {quantity}, or turn y into classes "
                "first."
            ) from None
    classes, codes = np.unique(y, return_inverse=True)
    rest = ""
    if weight is not None and (weight == 0).any():
        counted = np.flatnonzero(np.bincount(codes, weights=weight, minlength=len(classes)))
        classes, codes = classes[counted], np.searchsorted(counted, codes)
        rest = " with positive sample_weight"
    if len(classes) < minimum:
        label = classes.tolist()[0]
        raise OneClassError(
            f"y holds one class only ({label!r} in all samples{rest}); this method needs samples "
            f"of at least {minimum} classes.",
            label=label,
        )
    labels = Labels(classes, codes.astype(np.intp))
    if warn:
        warn_of_quantity(labels, quantity)
    return labels


def check_known_classes(
    y: Any, n_samples: int, classes: np.ndarray, *, remedy: str = ANNOUNCE
) -> np.ndarray:
    """Return the code of each sample's label among ``classes``, which are sorted."""
    y = check_target(y, n_samples)
    codes = np.zeros(len(y), dtype=np.intp)
    try:
        codes[:] = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        unknown = np.flatnonzero(classes[codes] != y)
    except TypeError:  # text compared with numbers
        unknown = np.arange(len(y))
    if len(unknown):
        label = y[unknown[:1]].tolist()[0]
        raise ValueError(
            f"y[{unknown[0]}] is {label!r}, which is not among the classes known so far "
            f"({_listed(classes)}). {remedy}"
        )
    return codes


def check_announced_classes(classes: Any, known: np.ndarray | None) -> np.ndarray:
    """Return the sorted classes of a stream; ``known`` are those of its first call."""
    if classes is None:
        if known is None:
            raise ValueError(
                "classes is None in the first call of partial_fit; pass all labels that the "
                "stream will hold, for instance classes=[0, 1]."
            )
        return known
    if known is not None and np.array_equal(classes, known):  # what every later call says
        return known
    given = check_classes(classes, np.size(classes), warn=False).classes
    if known is not None and not np.array_equal(given, known):
        raise ValueError(
            f"classes is ({_listed(given)}), but the first call of partial_fit had "
            f"({_listed(known)}); leave classes out after the first call, or start anew with fit."
        )
    return given


def guess_task(y: np.ndarray) -> str:
    """Whether the checked vector ``y`` is taken for classes or for numbers.

    Text and truth values are classes; numbers are judged by :func:`task_of`, as those of a file
    are. Integers that return, and yet are taken as numbers, are warned of.
    """
    if y.dtype.kind not in "iuf":
        return "classification"
    levels = np.unique(y)
    task = task_of(levels, len(y))
    if task == "regression" and (words := taken_as_numbers("y", levels, len(y))):
        warnings.warn(words, UserWarning, stacklevel=depth_of_caller())
    return task


def task_of(levels: np.ndarray, n: int) -> str:
    """The one rule by which ``n`` numbers are classes or a regression, by their distinct values.

    Two integers are classes, and so are at most twenty with two rows or more for each, in the mean;
    other numbers are a regression.
    """
    if not _are_plain_labels(levels):
        return "regression"
    few = len(levels) <= 2 or (len(levels) <= 20 and n >= 2 * len(levels))
    return "classification" if few else "regression"


def taken_as_numbers(what: str, levels: np.ndarray, n: int, most: int | None = None) -> str:
    """What to say of integers that could be labels and are taken as numbers; empty if nothing.

    ``most``: levels were collected until there were more than that, so that not all are known.
    """
    if not _are_plain_labels(levels) or n < 3 * len(levels):  # they hardly return
        return ""
    count = f"{len(levels):,}" if most is None else f"more than {most:,}"
    return (
        f"{what} holds {count} different integers, which are taken as numbers. Say so with "
        'task="regression", or use task="classification" if they are labels.'
    )


def looks_like_a_quantity(n_levels: int, n_samples: int) -> bool:
    """Whether integers have so many levels that they are hardly classes."""
    return n_levels > 20 and 10 * n_levels > n_samples


def warn_of_quantity(labels: Labels, remedy: str) -> None:
    """Warn of integers that were taken as classes and look like a numeric target.

    Not in a fit that is a step of a procedure: that has read the same labels.
    """
    n_classes, n = len(labels.classes), len(labels.codes)
    if is_inner_fit():
        return
    if labels.classes.dtype.kind in "iuf" and looks_like_a_quantity(n_classes, n):
        warnings.warn(
            f"y holds {n_classes} different integers in {n} samples, and each is taken as a "
            f"class. If y is a numeric target, {remedy}.",
            UserWarning,
            stacklevel=depth_of_caller(),
        )


def check_class_weight(
    class_weight: Any, labels: Labels, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Return one weight for each class: ones, those of a dict, or balanced.

    Balanced weights give every class the same total; they follow from the sums of the sample
    weights, so that a repeated sample and one of weight two have the same effect.
    """
    n_classes = len(labels.classes)
    if class_weight is None:
        return np.ones(n_classes)
    if isinstance(class_weight, str):
        totals = np.bincount(labels.codes, weights=sample_weight, minlength=n_classes)
        with np.errstate(over="ignore", divide="ignore"):
            balanced = totals.sum() / (n_classes * totals)
        if not np.isfinite(balanced).all():
            raise ValueError(
                f"class_weight='balanced' cannot make up for sample_weight, whose sums over the "
                f"classes lie between {totals.min():.3g} and {totals.max():.3g}. Use weights of an "
                "average near 1."
            )
        return balanced
    weight = np.ones(n_classes)
    known = {label: k for k, label in enumerate(labels.classes.tolist())}
    for label, value in class_weight.items():
        if label not in known:
            if set(known) <= set(class_weight):  # a fold may lack a class: nothing to complain of
                continue
            raise ValueError(
                f"class_weight names the class {label!r}, which is not among those of y "
                f"({_listed(labels.classes)}); remove it or correct its name."
            )
        if not isinstance(value, numbers.Real) or not 0 <= float(value) < np.inf:
            raise ValueError(
                f"class_weight[{label!r}] is {value!r}; weights must be finite numbers and not "
                "negative."
            )
        weight[known[label]] = float(value)
    if sample_weight is not None and np.isinf(float(weight.max()) * float(sample_weight.max())):
        raise ValueError(
            f"class_weight has {weight.max():.3g} and sample_weight {sample_weight.max():.3g}, "
            "whose product is beyond what float64 holds; use smaller weights."
        )
    if not weight.any():
        raise ValueError(
            f"class_weight is zero for every class ({_listed(labels.classes)}); at least one "
            "weight must be positive."
        )
    return weight


def check_sample_weight(sample_weight: Any, n_samples: int) -> np.ndarray:
    """Return one finite, non-negative weight for each sample (ones if ``None``)."""
    if sample_weight is None:
        return np.ones(n_samples)
    if isinstance(sample_weight, numbers.Number):
        sample_weight = np.full(n_samples, float(sample_weight))  # type: ignore[arg-type]
    sample_weight = as_numpy(sample_weight, "sample_weight")
    try:
        weight = np.asarray(sample_weight)
        if weight.dtype.kind == "c":
            raise TypeError
        weight = weight.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must hold real numbers, one for each sample.") from None
    if weight.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar; sample_weight has shape {weight.shape}."
        )
    if len(weight) != n_samples:
        raise ValueError(
            f"sample_weight.shape == ({len(weight)},), expected ({n_samples},): it must hold one "
            "weight for each row of X."
        )
    bad = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(bad):
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weight[bad[0]]}; weights must be finite and not negative."
        )
    if not weight.any():
        raise ValueError(
            "sample_weight is zero for every sample; at least one weight must be positive."
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(weight.sum()):
            raise ValueError(
                f"sample_weight has entries as large as {weight.max():.3g}, whose sum is beyond "
                "what float64 holds; divide the weights by a common factor."
            )
    return weight


def check_multiplicity(sample_weight: Any, n_samples: int) -> np.ndarray | None:
    """Weights as numbers of rows: one for each sample, or None if all are one.

    They are taken as they are: a row of weight three counts like three rows, one of weight 2.5 like
    two and a half.
    """
    weight = check_sample_weight(sample_weight, n_samples)
    return None if (weight == 1.0).all() else weight


def check_counted_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, np.ndarray | None]:
    """The rows of positive weight with their targets, and the weights as numbers of rows.

    ``X`` and ``y`` may be of any kind; only their lengths are checked.
    """
    from sklearn.utils import _safe_indexing
    from sklearn.utils.validation import _num_samples

    if sample_weight is None:
        return X, y, None
    X, y = as_numpy(X), as_numpy(y, "y")
    try:
        n = _num_samples(X)
    except TypeError:  # no table at all: whoever checks X has the sentence
        return X, y, None
    if y is not None and (not hasattr(y, "__len__") or _num_samples(y) != n):
        check_target(y, n)
    weight = check_multiplicity(sample_weight, n)
    if weight is None or weight.all():
        return X, y, weight
    if sparse.issparse(X):
        X = X.tocsr()
    kept = np.flatnonzero(weight)
    weight = weight[kept]
    X, y = _safe_indexing(X, kept), None if y is None else _safe_indexing(y, kept)
    return X, y, None if (weight == 1.0).all() else weight


def check_regression_target(
    y: Any, n_samples: int, *, labels: str = "Use a classifier for labels."
) -> np.ndarray:
    """Return ``y`` as finite float64 numbers. ``labels`` says what to do about text."""
    y = check_target(y, n_samples)
    if y.dtype.kind in "mM":
        raise ValueError(f"y holds dates or times ({y.dtype}) where numbers are needed; {DATES}")
    try:
        values = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"y must hold numbers for a regression; it holds {_first_text(y)!r}. {labels}"
        ) from None
    return values


#: A target this many times farther from zero than it is wide loses digits beside them.
_FAR = 1e6


def far_level(target: np.ndarray) -> float:
    """The middle of numbers that are far from zero beside their range, 0 of all others.

    A machine with an intercept is as good without it; what is left of the numbers is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.validation import far_level
    >>> far_level(np.array([1e15, 1e15 + 2.0])), far_level(np.array([1.0, 3.0]))
    (1000000000000001.0, 0.0)
    """
    if not len(target):
        return 0.0
    low, high = 0.5 * float(target.min()), 0.5 * float(target.max())
    return low + high if abs(low + high) / _FAR > high - low else 0.0


def as_vector(y: Any) -> np.ndarray:
    """``y`` as an array with one axis and without missing values; its length is checked elsewhere.

    A column vector is warned of here, and once only if the result is what is passed on.
    """
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None: pass one "
            "label or value for each row of X."
        )
    y = as_numpy(y, "y")
    if type(y) is not np.ndarray or y.ndim != 1 or y.dtype.kind not in "biufU":
        refuse_complex(y, "y")
        if not isinstance(y, np.ndarray) and nw.dependencies.is_into_series(y):
            y = nw.from_native(y, series_only=True).to_numpy()
        from sklearn.utils import column_or_1d

        shape = np.asarray(y).shape
        if len(shape) == 2 and shape[1] > 1:
            raise ValueError(
                f"y should be a 1d array, got an array of shape {shape} instead. For several "
                "targets wrap a selector in tamiz.filters.MultiTarget."
            )
        y = column_or_1d(y, warn=True)
    _refuse_non_finite_target(y)
    return y


class Targets(NamedTuple):
    """Several targets of the same rows."""

    columns: list[np.ndarray]
    names: list[str]

    def joint(self) -> Targets:
        """One target, whose classes are the combinations of labels that occur."""
        for name, column in zip(self.names, self.columns, strict=True):
            if guess_task(column) == "regression":
                raise ValueError(
                    f"y holds numbers in target {name!r}, of which combinations are no classes; "
                    'use combine="max" or "mean" with a selector for numbers, such as '
                    "PearsonScore()."
                )
        codes = [np.unique(column, return_inverse=True)[1] for column in self.columns]
        joint = np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1]
        return Targets([joint.ravel()], [" × ".join(self.names)])


def check_targets(y: Any) -> Targets:
    """``y`` as one or more targets without missing values; a vector is one target."""
    if y is None:
        as_vector(y)  # it has the sentence
    y = y.toarray() if sparse.issparse(y) else as_numpy(y, "y")
    if is_frame(y):
        refuse_duplicate_names(y, "y", "target")
        frame = nw.from_native(y, eager_only=True)
        columns = [column.to_numpy() for column in frame.iter_columns()]
        names = [str(name) for name in names_of(y) or ()]
    else:
        try:
            table = y if isinstance(y, np.ndarray) else np.asarray(y)
        except ValueError:
            raise ValueError(
                "y holds rows of different lengths. A list of the labels of each row is turned "
                "into targets by sklearn.preprocessing.MultiLabelBinarizer."
            ) from None
        if table.ndim < 2:
            return Targets([as_vector(y)], ["y0"])
        if table.ndim > 2:
            raise ValueError(
                f"y has {table.ndim} axes; it must have one row for each sample and one column "
                "for each target."
            )
        columns, names = list(table.T), [f"y{t}" for t in range(table.shape[1])]
    if not columns:
        raise ValueError("y has no columns; pass one for each target.")
    checked = []
    for name, column in zip(names, columns, strict=True):
        try:
            checked.append(as_vector(np.ascontiguousarray(column)))
        except ValueError as error:
            raise ValueError(f"Target {name!r}: {error}") from error
    return Targets(checked, names)


def check_target(y: Any, n_samples: int) -> np.ndarray:
    """``y`` as a vector without missing values, one entry for each sample."""
    y = as_vector(y)
    if len(y) != n_samples:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"X has {n_samples} rows but y has {len(y)} entries; they must be equal."
        )
    return y


def _refuse_mixed_labels(y: np.ndarray) -> None:
    """Text beside numbers has no order, and is hardly meant."""
    if any(isinstance(label, str) for label in y) and not all(isinstance(v, str) for v in y):
        kinds = sorted({type(label).__name__ for label in y})
        raise ValueError(
            f"y mixes labels of different types ({', '.join(kinds)}); use one type for all, for "
            "instance [str(label) for label in y]."
        )


def _are_plain_labels(y: np.ndarray) -> bool:
    """Integers or text in an array: labels for certain, and scikit-learn need not be asked."""
    if y.dtype.kind == "f":
        return bool((y == np.trunc(y)).all() and (np.abs(y) < 2.0**53).all())
    return y.dtype.kind in "biuU"


def _refuse_non_finite_target(y: np.ndarray) -> None:
    if y.dtype.kind == "f":
        bad = ~np.isfinite(y)
    elif y.dtype.kind == "O":
        bad = np.array([_is_missing(v) for v in y], dtype=bool)
    else:
        return
    if bad.any():
        where = int(np.flatnonzero(bad)[0])
        count = int(bad.sum())
        if isinstance(y[where], float) and np.isinf(y[where]):
            raise ValueError(
                f"Input y contains infinity (inf) (first at row {where}; {count} in all). Leave "
                "out these rows, or replace the infinite values by finite ones."
            )
        raise MissingValuesError(
            f"Input y contains NaN (first at row {where}; {count} in all). Leave out the rows "
            "whose target is unknown.",
            argument="y",
            row=where,
            count=count,
        )


def missing_entries(values: np.ndarray) -> np.ndarray:
    """Which entries are NaN, None or their like; infinity is a value."""
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind in "fc":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    return np.array([_is_missing(v) and v not in (np.inf, -np.inf) for v in values], dtype=bool)


def _is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return not np.isfinite(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")  # pandas' own


def _listed(classes: np.ndarray) -> str:
    shown = [repr(label) for label in classes[:10].tolist()]
    return ", ".join(shown) + (", ..." if len(classes) > 10 else "")


def _first_text(y: np.ndarray) -> Any:
    for value in y.tolist():
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return y[0]
