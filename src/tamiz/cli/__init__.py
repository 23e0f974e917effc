"""The command line: one file for each command, heavy imports only inside them."""

from __future__ import annotations

import contextlib
import signal


def main(arguments: list[str] | None = None) -> None:
    """Run the program and leave with its exit code.

    Before a command begins and after it has ended Ctrl-C ends the process at once, without a
    traceback of whatever was being imported or torn down. Who calls it with arguments keeps the
    usual KeyboardInterrupt.
    """
    if arguments is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        with contextlib.suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    from tamiz.cli.app import main as run

    run(arguments)


__all__ = ["main"]
