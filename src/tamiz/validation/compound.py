"""Arguments that have parts or several forms: folds, sizes, grids, limits, how a file is written.

Each is a check as those of :mod:`tamiz.validation.parameters` are: it takes the name and the value,
and returns the value as it is used. Names that only a room above knows are passed to the check.
Whether an argument fits the data, or another argument, is asked where the two meet.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from tamiz.validation.errors import ParameterError, refused
from tamiz.validation.parameters import Check, PartRefused, integer_from

SPLITTERS = (
    "a splitter such as HoldOut() or sklearn.model_selection.RepeatedStratifiedKFold(), or a list "
    "of splits"
)

# ------------------------------------------------------------------------- splits, sizes and names


def folds(*words: str) -> Check:
    """The check for what divides samples: a number of folds from 2, splits, or some words."""
    forms = ", ".join(["a number of folds", *map(repr, words), SPLITTERS])

    def check_folds(name: str, value: Any) -> Any:
        if isinstance(value, Integral) and not isinstance(value, bool):
            if value < 2:
                why = "folds need at least 2; HoldOut() is a single split."
                raise PartRefused(f"{name}={int(value)} {why}", parameter=name, value=int(value))
            return int(value)
        known = isinstance(value, str) and value in words
        splits = hasattr(value, "split") or isinstance(value, Iterable)
        splits = splits and not isinstance(value, type) and getattr(value, "ndim", 1) > 0
        if known or (splits and not isinstance(value, (str, bytes))):
            return value
        raise refused(name, value, f"is not understood; use {forms}.")

    return check_folds


def check_split(split: Any, k: int, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Split ``k`` of ``cv`` as two arrays of positions among the samples; masks become such."""
    try:
        train, test = (np.asarray(part) for part in split)
    except (TypeError, ValueError):
        raise ValueError(
            f"split {k} of cv is {split!r}; it must be a pair, the positions of the samples to "
            "learn from and of those to judge by."
        ) from None
    return _positions(train, k, n_samples), _positions(test, k, n_samples)


def _positions(part: np.ndarray, k: int, n_samples: int) -> np.ndarray:
    if part.size and (part.ndim != 1 or part.dtype.kind not in "iub"):
        raise ValueError(
            f"split {k} of cv holds {part.ravel()[0]!r} in an array of shape {part.shape}; it "
            "must hold the positions of samples, integers in a row."
        )
    if part.dtype.kind == "b":
        if len(part) != n_samples:
            raise ValueError(
                f"split {k} of cv holds a mask of {len(part)} entries; X has {n_samples} samples."
            )
        part = np.flatnonzero(part)
    if not part.size:
        raise ValueError(f"split {k} of cv leaves no samples to learn from or to judge by.")
    outside = part[(part < 0) | (part >= n_samples)]
    if len(outside):
        raise ValueError(
            f"split {k} of cv names the sample {outside[0]}; the {n_samples} samples of X are "
            f"numbered 0 to {n_samples - 1}. Make the splits for these very samples."
        )
    return part


def integers_from(least: int, of: str, example: str) -> Check:
    """The check for integers from ``least``, returned ascending and distinct; None is fine."""

    def check_integers(name: str, value: Any) -> np.ndarray | None:
        if value is None:
            return None
        try:
            given = np.atleast_1d(np.asarray(value))
            whole = given.astype(np.intp)
            fine = given.ndim == 1 and len(given) > 0 and given.dtype.kind in "iuf"
            if fine and bool((whole == given).all()) and whole.min() >= least:
                return np.unique(whole)
        except (TypeError, ValueError, OverflowError):
            pass
        raise refused(name, value, f"is not understood; pass {of} from {least}, such as {example}.")

    return check_integers


def positive_numbers(name: str, value: Any) -> np.ndarray | None:
    """The check for positive finite numbers, returned ascending and distinct; None is fine."""
    if value is None:
        return None
    try:
        given = np.unique(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        given = np.empty(0)
    if len(given) and np.isfinite(given).all() and given[0] > 0:
        return given
    raise refused(name, value, "must hold positive, finite numbers.")


def known_name(names: Callable[[], Iterable[str]], beyond: str = "") -> Check:
    """The check for a name that is registered when it is asked for; ``beyond``: what else may be.

    ``names`` gives the names that are registered then.
    """

    def check_known(name: str, value: Any) -> str:
        known = list(names())
        if isinstance(value, str) and value in known:
            return value
        raise refused(
            name, value, f"is not known; use one of {', '.join(map(repr, known))}{beyond}."
        )

    return check_known


def word_or_function(*words: str, function: str) -> Check:
    """The check for one of some words or a function, which ``function`` describes."""

    def check_word(name: str, value: Any) -> Any:
        if callable(value) or (isinstance(value, str) and value in words):
            return value
        said = ", ".join(map(repr, words))
        raise refused(name, value, f"is not understood; use {said}, or a function {function}.")

    return check_word


def one_metric(why: str) -> Check:
    """The check for one metric, by name or as a scorer, or None; ``why`` says why only one."""

    def check_metric(name: str, value: Any) -> Any:
        if value is None or isinstance(value, str) or callable(value):
            return value
        if isinstance(value, (list, tuple, set, dict)):
            raise refused(name, value, f"names several metrics; {why}.")
        raise refused(name, value, "is not understood; use the name of a metric, or a scorer.")

    return check_metric


def named_metrics(name: str, value: Any) -> Any:
    """The check for metrics: one of any form, a list, or a dict by names; none is too few."""
    several = isinstance(value, (list, tuple, set, dict))
    if several and not value:
        raise refused(name, value, "names no metric; leave it out to use the estimator's own.")
    names = list(value) if several else []
    if not all(isinstance(one, str) for one in names):
        held = "keys" if isinstance(value, dict) else "parts"
        raise refused(
            name,
            value,
            f'has {held} that are no text; use names of metrics, such as "accuracy".',
        )
    if len(set(names)) < len(names):
        raise refused(name, value, "names a metric twice.")
    scorers = value.values() if isinstance(value, dict) else ()
    if not all(isinstance(one, str) or callable(one) for one in scorers):
        raise refused(name, value, "has values that are neither names of metrics nor scorers.")
    return value


def ordered_categories(name: str, value: Any) -> list[Any]:
    """The check for categories from least to greatest."""
    if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
        raise refused(name, value, "must list categories, from least to greatest.")
    return list(value)


def class_weights(name: str, value: Any) -> Any:
    """The check for weights by class: a dict, "balanced" or None."""
    if value is None or isinstance(value, Mapping):
        return value
    if isinstance(value, str) and value == "balanced":
        return value
    raise refused(name, value, "is not understood; use a dict of weights, 'balanced' or None.")


def verbosity(name: str, value: Any) -> bool | int:
    """The check for how much is said: True, False, or an integer from 0."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    return int(integer_from(0)(name, value))


def named_values(name: str, value: Any) -> list[tuple[str | None, Any]]:
    """The check for one thing or several: pairs of a name, None if there is none, and the thing.

    A dict names its values; in a list, as in a Pipeline, a pair of a text and a thing is a name.
    """
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or not key.strip():
                text = f"{name} has the key {key!r}; names must be text."
                raise ParameterError(text, parameter=name, value=value)
        pairs: list[tuple[str | None, Any]] = list(value.items())
    elif isinstance(value, str) or not isinstance(value, Sequence):
        pairs = [(None, value)]
    else:
        pairs = []
        for one in value:
            pair = isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str)
            pairs.append((one[0], one[1]) if pair else (None, one))
    if not pairs:
        text = f"{name} is empty; pass at least one, or leave it out."
        raise ParameterError(text, parameter=name, value=value)
    return pairs


def names_such_as(*examples: str) -> Check:
    """The check for names: one text, or several; None for none of them."""

    def check_texts(name: str, value: Any) -> tuple[str, ...]:
        given = [value] if isinstance(value, str) else value or ()
        for one in given:
            if not isinstance(one, str):
                said = ", ".join(map(repr, examples))
                text = f"{name} holds {one!r}; it takes names such as {said}."
                raise ParameterError(text, parameter=name, value=value)
        return tuple(given)

    return check_texts


def only_one(advice: str) -> Check:
    """The check for one thing, which a dict may name; ``advice`` says what it must be."""

    def check_single(name: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)) or (isinstance(value, Mapping) and len(value) > 1):
            raise TypeError(f"{name} must be {advice}.")
        return value

    return check_single


# --------------------------------------------------------------------------------- grids and limits


def candidate_list(name: str, value: Any) -> list[Any]:
    """The check for the values of one parameter that are tried, at least one."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise refused(name, value, "must be a list of candidates.")
    listed = list(value)
    if not listed:
        raise ParameterError(
            f"{name} holds no candidates; pass a list with one or more (a generator is empty after "
            "its first use).",
            parameter=name,
            value=value,
        )
    return listed


def parameter_grids(name: str, value: Any) -> list[dict[str, Any]] | None:
    """The check for a dict of lists, or several; None is fine.

    Lists of candidates become lists; a distribution (anything with ``rvs``) stays what it is.
    """
    if value is None:
        return None
    given = [value] if isinstance(value, Mapping) else value
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise refused(
            name,
            value,
            "is not understood; use a dict of lists, such as {'C': [1, 10], 'gamma': [0.01, 0.1]}, "
            "or a list of such dicts.",
        )
    parts = list(given)
    if not parts:
        raise refused(name, parts, "is an empty list: there is nothing to choose from.")
    return [_one_grid(name, part) for part in parts]


def grid_of_panels(name: str, value: Any) -> dict[str, list[Any]]:
    """The check for the values of one or two parameters."""
    grid = _one_grid(name, value)
    if len(grid) > 2:
        raise refused(
            name, value, 'must name one or two parameters, such as {"C": [0.1, 10], "gamma": [1]}.'
        )
    return grid


def _one_grid(name: str, part: Any) -> dict[str, Any]:
    if not isinstance(part, Mapping):
        raise ParameterError(
            f"{name} holds {part!r}; every part of it must be a dict of lists.",
            parameter=name,
            value=part,
        )
    if not part:
        raise refused(
            name,
            part,
            "is an empty dict: there is nothing to choose from. Name parameters and their "
            "candidates, such as {'C': [1, 10, 100]}.",
        )
    for key in part:
        if not isinstance(key, str):
            raise refused(name, part, f"names a parameter {key!r}; names must be text.")
    return {
        key: values if hasattr(values, "rvs") else candidate_list(f"{name}[{key!r}]", values)
        for key, values in part.items()
    }


def tuning(*words: str, advice: str) -> Check:
    """The check for what is tuned: a switch, one of some words, or a grid that is not empty.

    ``advice`` says what to pass. None and False are for nothing.
    """

    def check_tuning(name: str, value: Any) -> Any:
        if isinstance(value, (bool, np.bool_)):
            return bool(value)
        word = isinstance(value, str) and value in words
        if value is None or word or (isinstance(value, Mapping) and value):
            return value
        raise refused(name, value, f"is not understood; {advice}.")

    return check_tuning


def sample_limits(by_name: tuple[str, ...], single: tuple[str, ...], example: str) -> Check:
    """The check for a dict of most samples, from 4: tables by name, and single numbers."""

    def number(value: Any) -> bool:
        return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 4

    def part(key: Any, value: Any) -> bool:
        if key in by_name:
            return isinstance(value, Mapping) and all(map(number, value.values()))
        return key in single and (value is None or number(value))

    def check_limits(name: str, value: Any) -> dict[str, Any]:
        if value is None:
            return {}
        if isinstance(value, Mapping) and all(part(*item) for item in value.items()):
            return dict(value)
        raise refused(
            name, value, f"is not understood; pass numbers of samples from 4, such as {example}."
        )

    return check_limits


def finite_costs(name: str, values: Iterable[Any]) -> np.ndarray:
    """The check for costs: finite numbers, none negative, not all zero."""
    costs = list(values)
    for value in costs:
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < np.inf:
            raise ValueError(f"{name} holds {value!r}; costs are finite numbers and not negative.")
    if not any(costs):
        raise ValueError(f"{name} are all zero, so that no error counts; one must be positive.")
    return np.array(costs, dtype=np.float64)


def distinct_labels(name: str, value: Any) -> np.ndarray:
    """The check for labels of classes, at least one, returned ascending and distinct."""
    try:
        labels = np.unique(np.asarray(value))
    except TypeError:
        labels = np.empty(0)
    if labels.ndim != 1 or not len(labels) or labels.dtype.kind not in "biufU":
        raise refused(
            name,
            value,
            f"is not understood; give all labels of the target, such as {name}=[0, 1] or "
            f"{name}=['no', 'yes'].",
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise refused(name, labels.tolist(), "holds a value that is no label.")
    return labels


# ------------------------------------------------------------------------- how a table is written


def one_column(name: str, value: Any) -> Any:
    """The check for a column, by name or position."""
    if isinstance(value, (str, Integral)) and not isinstance(value, bool):
        return value
    raise refused(name, value, "is not understood; give the name or the position of a column.")


def target_column(name: str, value: Any) -> Any:
    """The check for the column of the target, False for none, None to guess."""
    if value is None or value is False:
        return value
    if isinstance(value, (str, Integral)) and value is not True:
        return value
    raise refused(
        name,
        value,
        "is not understood; give the name or the position of a column, or False for none.",
    )


def some_columns(name: str, value: Any) -> Any:
    """The check for columns, by name or position, one of them or several."""
    if isinstance(value, (str, Integral, Iterable)):
        return value
    raise refused(name, value, "is not understood; give names or positions of columns.")


def one_character(name: str, value: Any) -> str:
    """The check for the character between the cells of a text table."""
    if isinstance(value, str) and len(value) == 1 and value not in '"\n\r':
        return value
    raise refused(name, value, "is not understood; use one character, such as ',' or '\\t'.")


def text_encoding(name: str, value: Any) -> str:
    """The check for an encoding that Python knows."""
    try:
        "".encode(value)  # which refuses those that turn bytes into bytes
    except (LookupError, TypeError, UnicodeError):
        raise refused(
            name, value, "is not known; use 'utf-8', 'cp1252', 'latin-1' or 'utf-16'."
        ) from None
    return str(value)


def spellings(name: str, value: Any) -> list[str]:
    """The check for a list of texts, such as the ways to write that a value is missing."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise refused(name, value, "is not understood; give a list, such as ['', 'NA'].")
    return [str(one) for one in value]


def file_or_dict(name: str, value: Any) -> Any:
    """The check for a file, or a dict in place of what it would hold."""
    if isinstance(value, (str, os.PathLike, Mapping)):
        return value
    raise refused(
        name,
        value,
        "is not understood; give a file, or a dict such as {'sample_1': 'healthy'}.",
    )
