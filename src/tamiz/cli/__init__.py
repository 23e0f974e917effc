"""The command line: one file for each command, heavy imports only inside them."""

from tamiz.cli.app import main

__all__ = ["main"]
