"""The times of P4: QPFS with Nyström's method beside mRMR, by samples and by features."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tamiz.filters import MRMR, QPFS
from tamiz.reproduce.base import Found, Part, Row, claim

SHARE = 0.03
#: Sizes: samples at 2,000 features, features at 83 samples.
QUICK = ((1000, 2000, 4000), (2000, 4000, 8000))
FULL = ((1000, 3000, 10_000), (4000, 8000, 16_000))
GROUP_POWER, GROUP_RATIO = "power of growth", "time over mRMR's"


class Timing(Part):
    """How time grows, on made-up data."""

    name, data, quick, full, alone = "times", (), 3, 10, True

    def prepare(self, quick: bool, seed: int) -> Any:
        X, y = expression(100, 300, seed)
        for make in _methods(seed).values():  # whatever must be compiled is compiled now
            _seconds(make, X, y)
        return QUICK if quick else FULL

    def repeat(self, ready: Any, seed: int) -> Found:
        by_n, by_m = ready
        found: Found = {"N": list(by_n), "M": list(by_m)}
        for axis, shapes in (
            ("N", [(n, 2000) for n in by_n]),
            ("M", [(83, m) for m in by_m]),
        ):
            tables = [expression(n, m, seed) for n, m in shapes]
            for name, make in _methods(seed).items():
                found[f"{name} by {axis}"] = [_seconds(make, X, y) for X, y in tables]
        return found

    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        rows = []
        for axis, expected in (("N", 1), ("M", 2)):
            powers = [_power(values[axis], values[f"Nyström by {axis}"]) for values in found]
            largest = found[0][axis][-1]
            rows.append(
                claim(
                    f"Nyström {SHARE:g}, in {axis} up to {largest:,}",
                    powers,
                    f"at most {expected}",
                    float(np.mean(powers)) <= expected + 0.3,
                    group=GROUP_POWER,
                    decimals=2,
                    why="the block of sampled features outgrows the samples and its inverse costs",
                    note="below the claim: at these sizes a fixed cost is a part of the time"
                    if float(np.mean(powers)) < expected - 0.3
                    else "",
                )
            )
        for axis in ("N", "M"):
            ratios = [
                values[f"Nyström by {axis}"][-1] / values[f"mRMR by {axis}"][-1] for values in found
            ]
            rows.append(
                claim(
                    f"Nyström {SHARE:g} at {axis} = {found[0][axis][-1]:,}",
                    ratios,
                    "below 1",
                    float(np.mean(ratios)) < 1,
                    group=GROUP_RATIO,
                    decimals=2,
                    why="our mRMR counts pairs in bits and is far faster than that of the source",
                )
            )
        return rows


def expression(n: int, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features that share hidden factors, four classes."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((n, 20))
    loading = rng.standard_normal((20, m)) * (rng.random((20, m)) < 0.2)
    y = np.argsort(np.argsort(hidden[:, 0])) * 4 // n
    return hidden @ loading + rng.standard_normal((n, m)), y


def _methods(seed: int) -> dict[str, Callable[[], Any]]:
    return {
        "mRMR": lambda: MRMR(10, full_ranking=True),
        "Nyström": lambda: QPFS(nystroem=SHARE, random_state=seed),
    }


def _seconds(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> float:
    start = time.process_time()  # not that of others on the machine
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make().fit(X, y)
    return time.process_time() - start


def _power(sizes: list[int], times: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
