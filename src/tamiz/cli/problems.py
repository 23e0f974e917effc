"""What went wrong, with the exit code that says whose fault it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tamiz.cli.wording import as_options


class Problem(Exception):
    """An error that is reported in one line."""

    exit_code = 1


class CutShort(Exception):
    """A run was stopped, and what it had was shown; only the exit code is left to say."""

    def __init__(self, exit_code: int):
        super().__init__(exit_code)
        self.exit_code = exit_code


class UsageProblem(Problem):
    """Wrong usage, or input that cannot be read."""

    exit_code = 2


@contextmanager
def usage() -> Iterator[None]:
    """Whatever is refused inside is wrong usage or unreadable input."""
    try:
        yield
    except (ValueError, TypeError, OSError, ImportError) as error:
        sentence = isinstance(error, OSError) and error.filename is None and error.strerror
        raise UsageProblem(as_options(sentence or str(error))) from error
