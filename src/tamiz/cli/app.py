"""The program ``tamiz``: its commands, and what happens when something goes wrong.

Exit codes: 0 done, 1 failed while running, 2 wrong usage or unreadable input, 130 cut short by
Ctrl-C, 143 by SIGTERM, also where what there was by then was shown. Errors are one line on standard
error.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any

import typer

from tamiz.cli import compare, compile, examples, explain, fit, lists, predict, rank, select, tune
from tamiz.cli.console import (
    CutShort,
    Problem,
    as_options,
    flush,
    own_words,
    tell,
    tolerate_encoding,
)
from tamiz.runtime import put_off
from tamiz.runtime.progress import listen_to_compiling

app = typer.Typer(
    name="tamiz",
    help=(
        "Find which features matter, and how well they separate the classes.\n\n"
        "DATA is a file (csv, tsv, parquet, arff, libsvm, npz; also .gz) or a name that "
        "'tamiz datasets' lists. The target is a column called target, class, label or y, else "
        "the last one, unless --target names another."
    ),
    epilog="Start with:  tamiz select breast_cancer --out report.html",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

#: What scikit-learn and SciPy import for functions that few commands call; it takes longer than all
#: the rest.
_RARELY_USED = (
    "pandas",
    "numpy.f2py",
    "numpy.testing",
    "scipy.special",
    "scipy.stats",
)


def _starts_quickly(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command that needs scikit-learn import it without what is rarely used."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        with put_off(*_RARELY_USED):
            import_module("sklearn.base")
        command(*arguments, **options)

    return run


app.command("select")(_starts_quickly(select.select))
app.command("rank")(_starts_quickly(rank.rank))
app.command("compare")(_starts_quickly(compare.compare))
app.command("tune")(_starts_quickly(tune.tune))
app.command("fit")(_starts_quickly(fit.fit))
app.command("predict")(_starts_quickly(predict.predict))
app.command("explain")(_starts_quickly(explain.explain))
app.command("show")(_starts_quickly(predict.show))
app.command("reproduce")(examples.reproduce)
app.command("methods")(lists.methods)
app.command("datasets")(lists.datasets)
app.command("demo")(examples.demo)
app.command("compile")(compile.compile)


def _version(asked: bool) -> None:
    if asked:
        from tamiz import __version__

        typer.echo(f"tamiz {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", help="Show the version and exit.", callback=_version, is_eager=True
    ),
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run the program and leave with its exit code."""
    tolerate_encoding()
    code = run(arguments)
    if code in (130, 143):  # threads may still be at a last step, which nobody waits for
        flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: list[str] | None) -> int:
    """Run the program; its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    listen_to_compiling(_say_nothing if {"-q", "--quiet"}.intersection(given) else tell)
    caught: list[int] = []
    try:
        with _signals(caught):
            code = _run(arguments, caught)
    except KeyboardInterrupt:  # another one, while the first was being answered
        code = 130
    finally:
        listen_to_compiling(None)
    # whoever was stopped may have shown what there was, and come to an end as usual
    if caught and code in (0, 1, 130):  # 1: what was cut short may have failed for that
        return 130 if caught[0] == signal.SIGINT else 143
    return code


def _run(arguments: list[str] | None, caught: list[int]) -> int:
    try:
        code = app(arguments, prog_name="tamiz", standalone_mode=False)
        flush()
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except CutShort:
        flush()
        return 130
    except typer.Exit as leaving:  # Ctrl-C, too, comes as one from inside a command
        code = leaving.exit_code
    except Exception as error:
        return _explain(error)
    if code == 130:
        other = caught and caught[0] != signal.SIGINT
        why = f"ended by {signal.Signals(caught[0]).name}" if other else "interrupted"
        tell(f"{why}; nothing was finished.")
    return int(code) if isinstance(code, int) else 0


def _say_nothing(text: str) -> None:
    """For ``--quiet``."""


@contextmanager
def _signals(caught: list[int]) -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does; the signals that come are added to the list.

    Windows sends none from outside, but SIGBREAK when Ctrl-Break is hit.
    """

    def end(number: int, frame: Any) -> None:
        caught.append(number)
        raise KeyboardInterrupt

    before = {}
    try:
        for name in ("SIGINT", "SIGTERM", "SIGBREAK"):
            number = getattr(signal, name, None)
            # ignored in the background of a script
            if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, end)
    except ValueError:  # not in the main thread
        pass
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _explain(error: Exception) -> int:
    """One line on standard error, and the exit code."""
    if os.environ.get("TAMIZ_TRACEBACK"):
        raise error
    message = getattr(error, "format_message", None)  # of the parser of the command line
    if message is not None:
        context = getattr(error, "ctx", None)
        hint = f" See: {context.command_path} --help" if context is not None else ""
        if message():  # none if there was no command: the help has been shown
            tell(f"{message()}{hint}")
        return 2
    if isinstance(error, Problem):
        tell(str(error))
        return error.exit_code
    from tamiz.validation import NotEnoughMemoryError

    said = as_options(own_words(error).strip()) or type(error).__name__
    if not isinstance(error, (ValueError, OSError, ImportError, NotEnoughMemoryError)):
        said = f"{type(error).__name__}: {said} (TAMIZ_TRACEBACK=1 shows where)"
    tell(said)
    return 1
