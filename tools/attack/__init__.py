"""Campaigns against the package: thousands of damaged files and hostile inputs, made from seeds.

    make attack                                       all campaigns, at their full counts
    python -m tools.attack models --count 5000        one of them, shorter
    python -m tools.attack models --case 1234         one attempt again, with its traceback

A campaign is a class with one method, :meth:`~tools.attack.runner.Campaign.attempt`, which makes an
attack from an integer, runs it, and names what happened. Anything that it raises is a failure; so
are a process that dies, an attempt that takes too long, and one that takes too much memory. Every
attempt can be made again from its number.

To add a campaign, write its class in a module of this folder and name it in :data:`CAMPAIGNS`. The
test suite runs the first attempts of each (``tests/attack``).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.attack.runner import Campaign

#: Name -> module and class.
CAMPAIGNS: dict[str, str] = {
    "checkpoints": "checkpoints:Checkpoints",
    "clocks": "clocks:Clocks",
    "disk": "disk:FullDisk",
    "estimators": "estimators:Estimators",
    "extremes": "estimators:Extremes",
    "forks": "concurrency:Forks",
    "kernels": "kernels:Kernels",
    "kills": "kills:Kills",
    "lost": "lost:LostWorkers",
    "memory": "memory:Memory",
    "metamorphic": "metamorphic:Metamorphic",
    "models": "models:Models",
    "packed": "packed:Packed",
    "readers": "readers:Readers",
    "scales": "scales:Scales",
    "shared": "shared:SharedFile",
    "signals": "signals:Signals",
    "threads": "concurrency:Threads",
}


def campaign(name: str) -> type[Campaign]:
    """The class of a campaign."""
    module, _, kind = CAMPAIGNS[name].partition(":")
    found: type[Campaign] = getattr(import_module(f"tools.attack.{module}"), kind)
    return found
