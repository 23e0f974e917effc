"""Counting filters and Relief on a card: rows J4 and J5, and whether the CPU gives the same.

Each row is a name, whose first word is the row of the benchmarks or "same", the seconds on the
card, those of the CPU of the same machine (None where it was not asked) and whether both gave the
same, to the last bit. Times are the best of three after a first call, which compiles the kernels;
J5 is done once. J4 comes twice: the matrix on the card, from bits that are there already, and the
whole call, with coding and the way back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from math import nan
from typing import Any

import numpy as np

from tamiz.filters import CMIM, JMI, MRMR, QPFS, MaxRel, ReliefF
from tamiz.filters.information.greedy import GreedySearch, greedy
from tamiz.gpu import Lane, lane_of
from tamiz.information import Codes, encode, mutual_information_matrix
from tamiz.information.counting import Planes, log_table
from tamiz.information.on_card import CardCodes
from tamiz.information.packing import Group, Wide
from tamiz.runtime.threads import run_tiles
from tamiz.validation import free_bytes
from tools.gpu_check import Equality, Job, Timing
from tools.gpu_check.results import SAME

Row = tuple[str, float, float | None, bool]

#: What to reach on one H200, by row and what is done last.
BARS = {("J4", "on the card"): "≤ 10 ms", ("J5", "200 selected"): "≤ 20 s"}

#: Columns that are drawn at a time, and steps of the search that the CPU is asked for.
BLOCK, CPU_STEPS = 8_192, 3


#: Rows of the benchmarks.
ROWS = ("J5", "J4")
#: Columns and samples of J5.
COLUMNS, SAMPLES = 4_000_000, 16_000


def times(lane: Lane, row: str, small: bool) -> list[Job]:
    """A row of the benchmarks; ``small`` is for tests and for machines without a card."""
    p, n, k = (1_000, 200, 5) if small else (COLUMNS, SAMPLES, 200)
    if row == "J5":
        what = f"{p:,} columns, {n:,} rows"
        return [Job(row, what, lambda: _timings(lane, ranking(lane, p, n, k)), lane.card)]
    p = 300 if small else 16_063
    return [Job("J4", f"198 x {p:,}", lambda: _timings(lane, pairs_of(lane, p)), lane.card)]


def equalities(small: bool) -> list[Job]:
    """The filters whose results are the same to the last bit."""
    p, k, n = (60, 10, 100) if small else (2_000, 50, 5_000)
    return [
        Job(SAME, "counting filters", lambda: _equalities(selectors(p, k)), ""),
        Job(SAME, "ReliefF", lambda: _equalities(relief(n)), ""),
    ]


def _equalities(found: Iterable[Row]) -> Iterator[Equality]:
    for name, _, _, same in found:
        yield Equality(name.partition(" ")[2], 0.0 if same else 1.0, 0.0)


def _timings(lane: Lane, found: Iterable[Row]) -> Iterator[Timing]:
    """Rows whose certificate is that no bit differs."""
    for name, seconds, cpu, same in found:
        row, _, what = name.partition(" ")
        note = "the bits of the CPU" if same else "differs from the CPU"
        bar = BARS.get((row, what.rpartition(", ")[2]), "")
        yield Timing(row, what, lane.card, seconds, nan, note, bar, same)
        if cpu is not None:
            yield Timing(row, what, "CPU", cpu, nan, "", "")


def best(function: Callable[[], Any], lane: Lane | None, times: int = 3) -> tuple[float, Any]:
    """Least seconds of some calls after a first, and the last result."""
    result = function()
    seconds = []
    for _ in range(times):
        if lane is not None:
            lane.synchronize()
        start = time.perf_counter()
        result = function()
        if lane is not None:
            lane.synchronize()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def pairs_of(lane: Lane, p: int) -> Iterator[Row]:
    """J4: mutual information of all pairs of columns, 198 samples of three levels."""
    X = np.random.default_rng(0).integers(0, 3, (198, p), dtype=np.int8)
    codes = encode(X, bins=None)
    assert isinstance(codes, Codes)
    card = CardCodes(codes, lane)
    cpu, right = best(lambda: codes.matrix(dtype=np.float32), None)
    seconds, found = best(lambda: card.card_matrix(dtype=np.float32), lane)
    same = bool((lane.to_host(found) == right).all())
    del found
    yield f"J4 198 x {p:,}, all pairs, on the card", seconds, cpu, same

    def call(device: str) -> np.ndarray:
        return mutual_information_matrix(X, bins=None, dtype=np.float32, device=device)

    cpu, _ = best(lambda: call("cpu"), None)
    seconds, whole = best(lambda: call("cuda"), lane)
    yield f"J4 198 x {p:,}, whole call", seconds, cpu, bool((whole == right).all())


def selectors(p: int, k: int) -> Iterator[Row]:
    """The filters that count: the same order and the same scores, missing values among them."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 300)
    X = rng.integers(0, 5, (300, p)).astype(np.float64)
    X[:, ::7] = np.where(rng.random((300, len(X[0, ::7]))) < 0.4, y[:, None], X[:, ::7])
    lacking = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    cases = [
        (MaxRel, {}),
        (MRMR, {}),
        (MRMR, {"scheme": "quotient"}),
        (JMI, {}),
        (CMIM, {}),
        (QPFS, {"nystroem": 0.05, "random_state": 0}),
    ]
    for kind, options in cases:
        for name, table in (("complete", X), ("missing values", lacking)):
            if kind is not QPFS:
                options = {**options, "missing": "ignore"}
            fit = _fits(kind, {"n_features_to_select": k, "bins": None, **options}, table, y)
            shown = "".join(f" {options[key]}" for key in ("scheme", "nystroem") if key in options)
            chosen = f"{k} of {p:,}"
            yield from _both(f"same {kind.__name__}{shown}, {chosen}, {name}", fit)


def relief(n: int) -> Iterator[Row]:
    """ReliefF: the same neighbours, hence the same scores."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 500)) + 0.3 * y[:, None] * rng.random(500)
    yield from _both(f"same ReliefF, {n:,} x 500", _fits(ReliefF, {"random_state": 0}, X, y))
    tied = np.rint(X)
    yield from _both(
        f"same ReliefF, {n:,} x 500, ties", _fits(ReliefF, {"random_state": 0}, tied, y)
    )


def _fits(kind: Any, options: dict[str, Any], X: np.ndarray, y: np.ndarray) -> Any:
    return lambda device: kind(**options, device=device).fit(X, y)


def _both(name: str, fit: Callable[[str], Any]) -> Iterator[Row]:
    lane = lane_of("cuda")
    cpu, right = best(lambda: fit("cpu"), None, 1)
    seconds, found = best(lambda: fit("cuda"), lane, 1)
    same = bool((found.order_ == right.order_).all() and (found.scores_ == right.scores_).all())
    yield name, seconds, cpu, same


# ------------------------------------------------------------------------------------ J5


def ranking(lane: Lane, p: int, n: int, k: int) -> Iterator[Row]:
    """J5: mRMR among as many columns as are asked for, or as the host has room for."""
    column = 3 * 8 * -(-n // 64)
    p = int(min(p, 0.5 * free_bytes() / column))
    codes = drawn(p, n)
    card = CardCodes(codes, lane)
    CardCodes(drawn(BLOCK, n), lane).row(0)  # compiles
    start = time.perf_counter()
    relevance = card.relevance()
    lane.synchronize()
    loading = time.perf_counter() - start
    same = bool((relevance == codes.relevance()).all())
    name = f"{p:,} columns, {n:,} rows"
    yield f"J5 {name}, bits to the card and relevance", loading, None, same
    start = time.perf_counter()
    found = _search(card, k)
    seconds = time.perf_counter() - start
    _search(codes, 1)  # compiles
    start = time.perf_counter()
    right = _search(codes, CPU_STEPS)
    cpu = (time.perf_counter() - start) * k / CPU_STEPS
    same = found.path[:CPU_STEPS] == right.path
    yield f"J5 {name} (CPU: from {CPU_STEPS} steps), {k} selected", seconds, cpu, same


def _search(codes: Codes, k: int) -> GreedySearch:
    return greedy(MRMR(k)._criterion(codes), k)


def drawn(p: int, n: int) -> Codes:
    """Columns of three levels, drawn as bits; one in a hundred has to do with the class."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n).astype(np.int32)
    n_words = -(-n // 64)
    ends = np.full(n_words, ~np.uint64(0))
    if n % 64:
        ends[-1] = np.uint64((1 << n % 64) - 1)
    hot = np.zeros(64 * n_words, dtype=bool)
    hot[:n] = y == 1
    target = np.packbits(hot, bitorder="little").view("<u8").astype(np.uint64)
    groups: list[Any] = [None] * -(-p // BLOCK)

    def draw(start: int, stop: int) -> None:
        for number in range(start, stop):
            features = np.arange(number * BLOCK, min(p, (number + 1) * BLOCK))
            groups[number] = _group(np.random.default_rng(number), features, target, ends, n)

    run_tiles(draw, len(groups))
    wide = Wide(np.empty(0, dtype=np.intp), np.empty((0, n), dtype=np.int32), np.empty(0, np.int64))
    codes = Codes(n, p, groups, wide)
    codes.target = y
    return codes


def _group(
    rng: np.random.Generator, features: np.ndarray, target: np.ndarray, ends: np.ndarray, n: int
) -> Group:
    n_words = len(ends)
    bits = np.empty((3, n_words, len(features)), dtype=np.uint64)
    first, second = rng.integers(0, 1 << 64, (2, n_words, len(features)), dtype=np.uint64)
    known = rng.integers(0, 1 << 64, (n_words, len(features[::100])), dtype=np.uint64)
    first[:, ::100] = (first[:, ::100] & ~known) | (target[:, None] & known)
    bits[0] = first & ends[:, None]
    bits[1] = second & ~first & ends[:, None]
    bits[2] = ~(first | second) & ends[:, None]
    margins = np.bitwise_count(bits).sum(axis=1, dtype=np.uint64)
    table, _ = log_table(n)
    return Group(features, Planes(bits, margins, table[margins].sum(axis=0)), False)
