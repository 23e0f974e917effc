"""Results that a user passes: labels, scores, counts, errors of methods, selections of features.

What is wrong is said of its name. Selections, in whatever form they come, become one boolean table
with names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from tamiz.validation.errors import refused
from tamiz.validation.frames import as_numpy
from tamiz.validation.labels import as_vector
from tamiz.validation.parameters import check_names

#: The mask and the names of one selection; None for what is none.
ReadOne = Callable[[Any], tuple[np.ndarray, list[str]] | None]

_PARTNERS: dict[Any, Any] = {0: 1, 1: 0, -1: 1}  # the other class, where only one is met


def read_labels(name: str, y: Any) -> np.ndarray:
    """The labels as a vector; what is wrong with them is said of ``name``."""
    try:
        return as_vector(y)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def all_classes(truth: np.ndarray, guess: np.ndarray, labels: Any) -> list[Any]:
    """The labels met, or those announced, sorted; at least two."""
    if truth.dtype.kind in "OUS" and guess.dtype.kind in "biuf":
        truth, guess = guess, truth  # one message for both ways round
    if guess.dtype.kind in "OUS" and truth.dtype.kind in "biuf":
        pair = f"{truth.tolist()[0]!r} and {guess.tolist()[0]!r}"
        raise ValueError(
            f"y_true and y_pred mix text and numbers ({pair}); use the same labels in both."
        )
    for name, y in (("y_true", truth), ("y_pred", guess)):
        if y.dtype.kind == "f" and not (y == np.round(y)).all():
            raise ValueError(
                f"{name} holds {y[y != np.round(y)][0]}, which is not a class; pass decision "
                "values as scores, and classes as y_pred."
            )
    try:
        met = sorted(set(truth.tolist()) | set(guess.tolist()))
    except TypeError:
        raise ValueError(
            "y_true and y_pred mix labels that cannot be sorted, such as text and numbers; use one "
            "type for all, for instance [str(label) for label in y]."
        ) from None
    if labels is not None:
        known = sorted(set(np.asarray(labels).tolist()))
        strange = [label for label in met if label not in known]
        if strange:
            raise ValueError(f"{strange[0]!r} is among the data but not in labels={labels!r}.")
        met = known
    if len(met) == 1:
        other = _PARTNERS.get(met[0], f"other than {met[0]}")
        if isinstance(met[0], bool):
            other = not met[0]
        text = isinstance(other, str)
        met = [other, met[0]] if text else sorted([other, met[0]])
    return met


def codes_of(y: np.ndarray, classes: list[Any]) -> np.ndarray:
    """Position of each label among the classes."""
    place = {label: c for c, label in enumerate(classes)}
    return np.array([place[label] for label in y.tolist()], dtype=np.intp)


def check_scores(scores: Any, n: int) -> np.ndarray:
    """Finite or infinite numbers, one for each sample, or a column for each class."""
    try:
        table = np.asarray(as_numpy(scores, "scores"), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "scores must hold numbers, one for each sample or one per class."
        ) from None
    if table.ndim not in (1, 2) or len(table) != n:
        raise ValueError(
            f"scores has shape {table.shape}; it needs one row for each of {n} samples."
        )
    if np.isnan(table).any():
        raise ValueError(
            f"scores holds NaN, first at row {int(np.argwhere(np.isnan(table))[0][0])}."
        )
    return table[:, 0] if table.ndim == 2 and table.shape[1] == 1 else table


def check_pvalues(name: str, value: Any) -> np.ndarray:
    """The check for p-values: numbers from 0 to 1, in a vector."""
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise refused(name, value, "must hold numbers, one for each feature.") from None
    if found.ndim != 1 or not len(found):
        raise ValueError(f"{name} has shape {found.shape}; it needs one for each feature.")
    wrong = ~((found >= 0) & (found <= 1))
    if wrong.any():
        j = int(np.argmax(wrong))
        raise ValueError(f"{name} holds {found[j]} at position {j}; p-values are from 0 to 1.")
    return found


def numbers_of(name: str, value: Any) -> np.ndarray:
    """A new array of float64 numbers, of any shape."""
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise refused(name, value, "must hold numbers.") from None


def finite_vector(name: str, value: Any) -> np.ndarray:
    """The check for finite numbers in a row, at least one."""
    try:
        given = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.ndim == 1 and len(given) and np.isfinite(given).all():
        return given
    raise refused(name, value, "must hold finite numbers, one for each feature.")


def column_of(table: np.ndarray, c: int, classes: list[Any]) -> np.ndarray:
    """The scores of class ``c``."""
    if table.shape[1] != len(classes):
        raise ValueError(
            f"scores has {table.shape[1]} columns for the {len(classes)} classes "
            f"{', '.join(map(repr, classes))}; give one column each, or labels=..."
        )
    return table[:, c]


def check_counts(matrix: Any) -> np.ndarray:
    """A square table of counts."""
    try:
        counts = np.asarray(matrix)
    except ValueError:  # rows of different lengths
        raise ValueError("matrix must be square; its rows differ in length.") from None
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or len(counts) < 2:
        raise ValueError(f"matrix has shape {counts.shape}; it must be square, 2 x 2 or more.")
    if counts.dtype.kind not in "iufb" or not np.isfinite(counts).all() or (counts < 0).any():
        raise ValueError("matrix must hold counts: finite numbers, none below zero.")
    if not counts.any():
        raise ValueError("matrix holds no samples; all counts are zero.")
    return counts.astype(np.float64)


def check_errors(errors: Any, names: Any) -> tuple[np.ndarray, list[str]]:
    """Errors of methods, a row for each run and a column for each method, and their names."""
    own: list[str] | None = None
    if nw.dependencies.is_into_dataframe(errors):
        own = check_names(errors.columns, None, "columns")
        frame = nw.from_native(errors, eager_only=True)
        text = [n for n, kind in zip(own, frame.schema.values(), strict=True) if not _numeric(kind)]
        if text:
            raise ValueError(
                f"column {text[0]!r} of errors does not hold numbers; leave only the columns of "
                "the methods, for instance errors.drop(columns=...)."
            )
        errors = frame.to_numpy()
    try:
        table = np.asarray(errors, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "errors must hold numbers, one row for each run and one column for each method."
        ) from None
    if table.ndim != 2 or table.shape[1] < 2 or table.shape[0] < 2:
        raise ValueError(
            f"errors has shape {table.shape}; it needs two or more rows (runs) and two or more "
            "columns (methods)."
        )
    k = table.shape[1]
    named = own or [f"method {j + 1}" for j in range(k)]
    if names is not None:
        named = check_names(names, k, "columns")
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        i, j = bad[0]
        raise ValueError(
            f"errors of {named[j]!r} is {table[i, j]} in row {i}; leave out the rows in which a "
            "method failed."
        )
    return table, named


def _numeric(kind: Any) -> bool:
    return bool(kind.is_numeric() or kind == nw.Boolean)


def check_control(control: Any, names: list[str]) -> int | None:
    """The position of the method that others are compared with, given by name or position."""
    if control is None:
        return None
    if isinstance(control, str) and control in names:
        return names.index(control)
    whole = isinstance(control, Integral) and not isinstance(control, bool)
    if whole and 0 <= int(control) < len(names):
        return int(control)
    raise ValueError(f"control={control!r} is not one of the methods {', '.join(names)}.")


def check_fraction(fraction: float | None, n_train: int | None, n_test: int | None) -> float | None:
    """Test samples for each training sample, given in one of two ways."""
    if (n_train is None) != (n_test is None):
        raise ValueError("n_train and n_test go together; give both, or test_fraction.")
    if n_train is not None and n_test is not None:
        if fraction is not None:
            raise ValueError("give test_fraction or n_train and n_test, not both.")
        return n_test / n_train
    return fraction


# --------------------------------------------------------------------------------------- selections


FORMS = (
    "a boolean array with one row for each selection, a list of Selection, a list of fitted "
    "selectors, or a list of collections of positions or names together with n_features"
)


def read_masks(
    selections: Any, n_features: Any, names: Any, read_one: ReadOne
) -> tuple[np.ndarray, list[str]]:
    """Return the masks, (selections, features), and the names of the features.

    Parameters
    ----------
    selections : table, or list of masks, of collections, or of what ``read_one`` knows
        What a user gave.
    n_features : int or None
        Number of features, where the selections do not say.
    names : sequence or None
        Names of the features.
    read_one : callable
        Reads what the rooms above make: a selection or a fitted selector.
    """
    own = None if names is None else check_names(names, n_features, "features")
    if nw.dependencies.is_into_dataframe(selections):
        frame = nw.from_native(selections, eager_only=True)
        masks = _as_masks(frame.to_numpy())
        _refuse_width(masks, n_features)
        return masks, names_for(own or [str(name) for name in frame.columns], masks.shape[1])
    if sparse.issparse(selections):
        selections = selections.toarray()
    if isinstance(selections, np.ndarray) and selections.ndim == 2:
        if _holds_masks(selections, n_features):
            masks = _as_masks(selections)
            _refuse_width(masks, n_features)
            return masks, names_for(own, masks.shape[1])
    elif (
        isinstance(selections, (str, bytes))
        or not isinstance(selections, Iterable)
        or read_one(selections) is not None  # one is not several
    ):
        raise TypeError(f"selections is {selections!r}; pass {FORMS}.")
    items = list(selections)
    if not items:
        raise ValueError(f"selections is empty; pass {FORMS}.")
    pairs = [pair for item in items if (pair := read_one(item)) is not None]
    if len(pairs) == len(items):
        return _of_selectors(pairs, n_features, own)
    if all(_is_mask(item) for item in items):
        return _of_masks(items, n_features, own)
    return _of_collections(items, n_features, own)


def _is_mask(item: Any) -> bool:
    if not isinstance(item, (list, tuple)) and not hasattr(item, "__array__"):
        return False
    try:
        values = np.asarray(item)
    except ValueError:  # lists of lists of different lengths
        return False
    return values.ndim == 1 and values.dtype == bool


def _holds_masks(table: np.ndarray, n_features: int | None) -> bool:
    """Whether a table of two axes holds masks rather than positions."""
    if table.dtype == bool or n_features is None:
        return True
    return table.shape[1] == n_features and bool(np.isin(table, (0, 1)).all())


def _as_masks(table: np.ndarray) -> np.ndarray:
    if table.ndim != 2 or not table.size:
        raise ValueError(f"selections has shape {table.shape}; pass {FORMS}.")
    if table.dtype != bool:
        try:
            strange = table[~np.isin(table.astype(np.float64), (0.0, 1.0))]
        except (TypeError, ValueError):
            strange = table.ravel()
        if len(strange):
            raise ValueError(
                f"selections holds {strange.tolist()[0]!r} where a mask has True or False (1 or "
                "0). For positions of features, give n_features."
            )
    return table.astype(bool)


def _of_selectors(
    pairs: list[tuple[np.ndarray, list[str]]], n_features: int | None, own: list[str] | None
) -> tuple[np.ndarray, list[str]]:
    _refuse_lengths([mask for mask, _ in pairs])
    for k, (_, names) in enumerate(pairs):
        if names != pairs[0][1]:
            raise ValueError(
                f"selections 0 and {k} are about features of different names (first "
                f"{_first_difference(pairs[0][1], names)}); compare selections of the same table."
            )
    masks = np.array([mask for mask, _ in pairs])
    _refuse_width(masks, n_features)
    return masks, names_for(own or pairs[0][1], masks.shape[1])


def _of_masks(
    items: list[Any], n_features: int | None, own: list[str] | None
) -> tuple[np.ndarray, list[str]]:
    _refuse_lengths([np.asarray(item) for item in items])
    masks = _as_masks(np.array([np.asarray(item) for item in items]))
    _refuse_width(masks, n_features)
    return masks, names_for(own, masks.shape[1])


def _of_collections(
    items: list[Any], n_features: int | None, own: list[str] | None
) -> tuple[np.ndarray, list[str]]:
    chosen = [_members(item, k) for k, item in enumerate(items)]
    every = [member for members in chosen for member in members]
    texts = sum(isinstance(member, str) for member in every)
    if 0 < texts < len(every):
        raise ValueError("selections mixes names and positions of features; use one of them.")
    if n_features is None and own is None:
        raise ValueError(
            "n_features is needed to know how many features could have been selected; give it "
            "with collections of positions or names, or pass boolean masks."
        )
    d = len(own) if own is not None else int(n_features or 0)
    if texts:
        own = own or _pad(list(dict.fromkeys(every)), d)
        known = {name: j for j, name in enumerate(own)}
        unknown = [name for name in every if name not in known]
        if unknown:
            raise ValueError(f"selections names {unknown[0]!r}, which is not among names.")
        chosen = [[known[name] for name in members] for members in chosen]
    masks = np.zeros((len(chosen), d), dtype=bool)
    for k, members in enumerate(chosen):
        for j in members:
            if not isinstance(j, Integral) or isinstance(j, bool) or not 0 <= int(j) < d:
                raise ValueError(
                    f"selection {k} holds {j!r}, which is not a position from 0 to {d - 1}."
                )
            masks[k, int(j)] = True
        if masks[k].sum() != len(members):
            raise ValueError(
                f"selection {k} names a feature more than once; if it is a mask, write it with "
                "True and False."
            )
    return masks, names_for(own, d)


def _members(item: Any, k: int) -> list[Any]:
    if isinstance(item, (str, bytes)) or not isinstance(item, Iterable):
        raise TypeError(f"selection {k} is {item!r}; pass {FORMS}.")
    return item.tolist() if isinstance(item, np.ndarray) else list(item)


def _pad(found: list[str], d: int) -> list[str]:
    if len(found) > d:
        raise ValueError(
            f"selections names {len(found)} different features, more than n_features={d}."
        )
    return found + [f"(never selected {k})" for k in range(1, d - len(found) + 1)]


def names_for(own: list[str] | None, d: int) -> list[str]:
    """The names given, as many as there are features, or ``x0``, ``x1``, ..."""
    if own is None:
        return [f"x{j}" for j in range(d)]
    if len(own) != d:
        raise ValueError(f"names holds {len(own)} names for {d} features.")
    return own


def _refuse_lengths(masks: Sequence[np.ndarray]) -> None:
    for k, mask in enumerate(masks):
        if len(mask) != len(masks[0]):
            raise ValueError(
                f"selection 0 is about {len(masks[0])} features and selection {k} about "
                f"{len(mask)}; compare selections of the same table."
            )


def _refuse_width(masks: np.ndarray, n_features: int | None) -> None:
    if n_features is not None and masks.shape[1] != n_features:
        raise ValueError(
            f"selections are about {masks.shape[1]} features, but n_features is {n_features}; "
            "masks have an entry for every feature."
        )


def _first_difference(a: list[str], b: list[str]) -> str:
    first, second = next((x, y) for x, y in zip(a, b, strict=True) if x != y)
    return f"{first!r} and {second!r}"
