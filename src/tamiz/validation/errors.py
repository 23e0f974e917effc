"""The errors that code may want to tell apart, each with its facts.

All of them are built-in errors too, so that ``except ValueError`` goes on working. A message comes
first and is the only thing an error needs; the facts are attributes, None where they are not known.
They survive pickling, so that an error raised by a worker arrives as what it was.
"""

from __future__ import annotations

from typing import Any

#: So many characters of a refused value are shown: enough for any that was typed.
_LONG = 1000


class MissingValuesError(ValueError):
    """Values are missing where all are needed.

    Attributes
    ----------
    argument : str
        What lacks values: "X" or "y".
    row, column : int or None
        Where the first missing value is.
    count : int or None
        How many are missing.
    """

    def __init__(
        self,
        message: str,
        *,
        argument: str = "X",
        row: int | None = None,
        column: int | None = None,
        count: int | None = None,
    ):
        super().__init__(message)
        self.argument = argument
        self.row = row
        self.column = column
        self.count = count


class OneClassError(ValueError):
    """The target has samples of one class only, and two or more are needed.

    Attributes
    ----------
    label : object
        The class that there is.
    """

    def __init__(self, message: str, *, label: Any = None):
        super().__init__(message)
        self.label = label


class ParameterError(ValueError):
    """An argument is not what it may be. :func:`refused` words it.

    Attributes
    ----------
    parameter : str or None
        Its name.
    value : object
        What was given.
    """

    def __init__(self, message: str, *, parameter: str | None = None, value: Any = None):
        super().__init__(message)
        self.parameter = parameter
        self.value = value


def refused(name: str, value: Any, why: str) -> ParameterError:
    """The error of an argument that is refused; ``why`` ends its sentence.

    >>> raise refused("cv", "ten", "is not understood; use a number of folds.")
    Traceback (most recent call last):
    ...
    tamiz.validation.errors.ParameterError: cv='ten' is not understood; use a number of folds.
    """
    shown = repr(value)
    if len(shown) > _LONG:
        shown = f"{shown[:_LONG]}..."
    return ParameterError(f"{name}={shown} {why}", parameter=name, value=value)


class SparseInputError(TypeError):
    """A sparse matrix, or a data frame with sparse columns, where dense values are needed."""


class NoFeaturesError(ValueError):
    """A table has no columns."""


class DamagedFileError(ValueError):
    """A file of this package is not what was written.

    Attributes
    ----------
    path : str or None
        The file.
    """

    def __init__(self, message: str, *, path: str | None = None):
        super().__init__(message)
        self.path = path


class NotEnoughMemoryError(MemoryError):
    """Something would take more memory than is free, or an allocation has failed.

    Attributes
    ----------
    needed, free : int or None
        Bytes that it would take, and that are free.
    remedy : str
        What to do instead.
    """

    def __init__(
        self,
        message: str,
        *,
        needed: int | None = None,
        free: int | None = None,
        remedy: str = "",
    ):
        super().__init__(message)
        self.needed = needed
        self.free = free
        self.remedy = remedy
