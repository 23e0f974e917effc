"""P4: error against the number of features for QPFS, mRMR, MaxRel and chance; claims; times."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tamiz.filters import MRMR, QPFS, MaxRel
from tamiz.reproduce.base import (
    FEW,
    ROUNDING,
    UNEXPLAINED,
    Experiment,
    Found,
    Recipe,
    Row,
    claim,
    claim_above,
    claim_within,
    column,
    read,
    row,
    stratified_folds,
    unit,
    without,
)
from tamiz.svm import SVC

#: Error in % with all features.
REFERENCE = {"ARR": 21.81, "NCI60": 38.67, "SRBCT": 0.22, "GCM": 33.85, "RAT": 8.61}
ALPHAS = (0.1, 0.5, 0.9)
SIZES = (5, 10, 20, 30, 40, 50, 60, 80, 100, 150, 200)
THIN_SIZES = (10, 40, 100)
N_FOLDS = 10
REALISATIONS = 100  # times ten folds, whose mean is printed

Order = Callable[[np.ndarray, np.ndarray, int, int], np.ndarray]  # X, y, how many, seed


class _OneMatrix(QPFS):
    """QPFS for several alphas on the same samples: the matrix, most of the work, is made once."""

    _matrix: Any = None

    def _redundancy(self, similarity: Any) -> Any:
        if self._matrix is None:
            self._matrix = super()._redundancy(similarity)
        return self._matrix


def _with_alpha(selector: QPFS, alpha: float) -> Order:
    def order(X: np.ndarray, y: np.ndarray, most: int, seed: int) -> np.ndarray:
        return selector.set_params(alpha=alpha, random_state=seed).fit(X, y).order_[:most]

    return order


def _chance(X: np.ndarray, y: np.ndarray, most: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(X.shape[1])[:most]


def methods(nystroem: tuple[float, ...]) -> dict[str, Order]:
    """Rankings by name, to be used on one training part: those of QPFS share their matrices."""
    found: dict[str, Order] = {
        "MaxRel": lambda X, y, most, seed: MaxRel().fit(X, y).order_[:most],
        "mRMR": lambda X, y, most, seed: MRMR(most).fit(X, y).order_[:most],
    }
    for short, similarity in (("corr", "pearson"), ("MI", "mutual_information")):
        # the published method leaves no feature out, however little it varies
        selector = _OneMatrix(similarity=similarity, min_entropy=0.0)
        for alpha in ALPHAS:
            found[f"QPFS {alpha:g} {short}"] = _with_alpha(selector, alpha)
    for fraction in nystroem:
        found[f"QPFS 0.1 MI, Nyström {fraction:g}"] = _with_alpha(
            QPFS(similarity="mutual_information", min_entropy=0.0, nystroem=fraction), 0.1
        )
    if nystroem:  # not the published method: free weights, and the exact diagonal
        found[f"QPFS 0.1 MI, exact diagonal {nystroem[0]:g}"] = _with_alpha(
            QPFS(min_entropy=0.0, nystroem=nystroem[0], diagonal="exact"), 0.1
        )
    found["random"] = _chance
    return found


def arrhythmia() -> tuple[np.ndarray, np.ndarray]:
    """422 x 278: without J_angle, and without the rows that lack P_angle or T_angle.

    Two cells are still missing; they get the mean of their column. Normal against all others.
    """
    X, y, names = read("arrhythmia")
    rows = ~np.isnan(X[:, [names.index("P_angle"), names.index("T_angle")]]).any(axis=1)
    X = np.delete(X[rows], names.index("J_angle"), axis=1)
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X), np.where(y[rows] == "1", "no", "yes")


SETS = {"SRBCT": "srbct", "ARR": "arrhythmia", "GCM": "gcm_ramaswamy_1363", "NCI60": "nine_tumors"}


Load = Callable[[str], tuple[np.ndarray, np.ndarray]]


def samples(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and labels of a data set by the name that it has in the source."""
    return arrhythmia() if name == "ARR" else read(SETS[name])[:2]


@dataclass(frozen=True)
class AllFeatures(Experiment):
    """The error without selection."""

    name: str
    sets: tuple[str, ...]
    quick: int
    full: int = REALISATIONS
    n_folds: int = N_FOLDS
    load: Load = samples

    @property
    def data(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(SETS[name] for name in self.sets)

    def prepare(self, quick: bool, seed: int) -> Any:
        return {name: self.load(name) for name in self.sets}

    def repeat(self, ready: Any, seed: int) -> Found:
        found: Found = {}
        for name, (X, y) in ready.items():
            wrong = 0
            for test in stratified_folds(np.random.default_rng(seed), y, self.n_folds):
                train = without(len(y), test)
                Z = unit(X, X[train])
                wrong += _wrong(Z @ Z.T, y, train, test)
            found[name] = 100.0 * wrong / len(y)
        return found

    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        return [
            row(
                name,
                column(found, name),
                group=f"error in % with {self.name}, interval of a mean of {REALISATIONS}",
                published=REFERENCE[name],
                decimals=2,
                why=_WHY[name],
                of=REALISATIONS,
            )
            for name in self.sets
        ]


@dataclass(frozen=True)
class Curves(Experiment):
    """One data set: ten folds, features ranked inside each training part."""

    name: str
    data: tuple[str, ...]
    quick: int
    full: int = 30
    nystroem: tuple[float, ...] = ()
    sizes: dict[bool, tuple[int, ...]] = field(
        default_factory=lambda: {True: THIN_SIZES, False: SIZES}
    )
    n_folds: int = N_FOLDS
    load: Load = samples

    def prepare(self, quick: bool, seed: int) -> Any:
        return *self.load(self.name), self.sizes[quick]

    def repeat(self, ready: Any, seed: int) -> Found:
        X, y, sizes = ready
        wrong: dict[str, np.ndarray] = {
            name: np.zeros(len(sizes)) for name in methods(self.nystroem)
        }
        for test in stratified_folds(np.random.default_rng(seed), y, self.n_folds):
            train = without(len(y), test)
            Z = unit(X, X[train])
            for name, rank in methods(self.nystroem).items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of matrices that are not semi-definite
                    order = rank(X[train], y[train], max(sizes), seed)
                for k, size in enumerate(sizes):
                    columns = Z[:, order[:size]]
                    wrong[name][k] += _wrong(columns @ columns.T, y, train, test)
        return {
            "sizes": list(sizes),
            **{name: (100.0 * errors / len(y)).tolist() for name, errors in wrong.items()},
        }

    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        rows = [line for make in CLAIMS[self.name] for line in make(found)]
        for name in methods(self.nystroem):
            for k, size in enumerate(found[0]["sizes"]):
                rows.append(
                    row(
                        f"{name}, {size} features",
                        [values[name][k] for values in found],
                        group=f"error in %, {self.name}",
                        decimals=2,
                    )
                )
        return rows


def _wrong(gram: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> int:
    machine = SVC(C=1.0, kernel="precomputed").fit(gram[np.ix_(train, train)], y[train])
    return int((machine.predict(gram[np.ix_(test, train)]) != y[test]).sum())


_OTHER = "not the data of the source: {ours} instead of {theirs}"
_WHY = {
    "SRBCT": "unexplained: 0.22 % is 18 of 8,300 tissues, where ours misses one; neither the "
    "scaling nor C of the source is given, and none of six readings comes near",
    "ARR": "unexplained: neither the scaling nor C of the source is given, and none of six "
    "readings comes below 23.2 % on average",
    "GCM": _OTHER.format(ours="190 x 1,363, filtered", theirs="198 x 16,063"),
    "NCI60": _OTHER.format(ours="60 x 5,726 (Affymetrix)", theirs="60 x 1,123 (cDNA)"),
}

# --------------------------------------------------------------- what the text says of the curves

Claim = Callable[[list[Found]], list[Row]]


def mean_error(values: Found, name: str, least: int = 0, most: int = 10**9) -> float:
    """Mean error of a method over the sizes from ``least`` to ``most``."""
    sizes = np.array(values["sizes"])
    return float(np.array(values[name])[(sizes >= least) & (sizes <= most)].mean())


def worse(
    name: str,
    worse: str,
    better: str,
    *,
    least: int = 0,
    most: int = 10**9,
    why: str = "",
    note: str = "",
) -> Claim:
    """One method errs more than another."""

    def make(found: list[Found]) -> list[Row]:
        differences = _differences(found, worse, better, least, most)
        return [
            claim_above(
                f"{worse} less {better}{_range(least, most)}",
                differences,
                group=f"difference of errors, points, {name}",
                decimals=2,
                why=why or _OUTSIDE.get(name, UNEXPLAINED),
                undecided=_open(differences),
                note=note,
            )
        ]

    return make


def alike(
    name: str,
    one: str,
    other: str,
    *,
    least: int = 0,
    most: int = 10**9,
    within: float = 2.0,
    why: str = "",
) -> Claim:
    """Two methods err alike."""

    def make(found: list[Found]) -> list[Row]:
        return [
            claim_within(
                f"{one} less {other}{_range(least, most)}",
                _differences(found, one, other, least, most),
                within,
                group=f"difference of errors, points, {name}",
                decimals=2,
                why=why,
            )
        ]

    return make


def _differences(found: list[Found], a: str, b: str, least: int, most: int) -> list[float]:
    """How much more one method errs than another in each repeat."""
    return [
        mean_error(values, a, least, most) - mean_error(values, b, least, most) for values in found
    ]


def information_beats_correlation(name: str, note: str = "") -> Claim:
    """QPFS by mutual information errs less than by correlation, for each alpha."""

    def make(found: list[Found]) -> list[Row]:
        return [
            line
            for alpha in ALPHAS
            for line in worse(name, f"QPFS {alpha} corr", f"QPFS {alpha} MI", note=note)(found)
        ]

    return make


def _range(least: int, most: int) -> str:
    if least:
        return f", {least} features or more"
    return f", up to {most} features" if most < 10**9 else ""


def _open(differences: list[float]) -> str:
    """What can be said where the mean may be on either side."""
    if min(differences) > ROUNDING:
        return f"{FEW}, though so in every one"
    if max(differences) < -ROUNDING:
        return f"{FEW}, though the other way round in every one"
    return "not decided: the sign changes from repeat to repeat"


_OUTSIDE = dict.fromkeys(("GCM", "NCI60"), "unexplained; not the data of the source")
_BETTER = "the text says similar, QPFS even slightly better: here it is better by more"
_FEWER = "3 % of our 1,363 features are 41, too few to stand for the rest; of 16,063 they are 482"

CLAIMS: dict[str, list[Claim]] = {
    "SRBCT": [
        information_beats_correlation("SRBCT"),
        alike("SRBCT", "QPFS 0.5 corr", "mRMR", least=20),
        alike("SRBCT", "QPFS 0.9 corr", "mRMR", least=20),
        worse("SRBCT", "QPFS 0.5 MI", "QPFS 0.1 MI"),
        worse("SRBCT", "QPFS 0.9 MI", "QPFS 0.1 MI"),
        worse("SRBCT", "mRMR", "QPFS 0.1 MI"),
        alike("SRBCT", "QPFS 0.1 MI, Nyström 0.1", "QPFS 0.1 MI", least=40),
        alike("SRBCT", "QPFS 0.1 MI, Nyström 0.5", "QPFS 0.1 MI"),
    ],
    "ARR": [
        information_beats_correlation("ARR"),
        worse("ARR", "QPFS 0.5 corr", "MaxRel"),
        worse("ARR", "QPFS 0.5 corr", "mRMR"),
        worse("ARR", "mRMR", "QPFS 0.5 MI", least=60),
        *(
            worse("ARR", "random", method)
            for method in ("MaxRel", "mRMR", "QPFS 0.5 corr", "QPFS 0.5 MI")
        ),
    ],
    "NCI60": [
        information_beats_correlation("NCI60"),
        worse("NCI60", "QPFS 0.5 corr", "MaxRel"),
        worse("NCI60", "QPFS 0.5 corr", "mRMR"),
        worse("NCI60", "QPFS 0.1 corr", "random"),
        worse("NCI60", "QPFS 0.5 MI", "mRMR"),
    ],
    "GCM": [
        information_beats_correlation(
            "GCM", "said of all data sets, though no figure shows correlation on this one"
        ),
        worse("GCM", "QPFS 0.1 MI, Nyström 0.03", "MaxRel", most=60),
        worse("GCM", "QPFS 0.1 MI, Nyström 0.03", "mRMR", most=60),
        alike("GCM", "QPFS 0.1 MI, Nyström 0.03", "mRMR", least=61, why=_BETTER),
        worse("GCM", "mRMR", "QPFS 0.1 MI, Nyström 0.03", least=61),
        alike("GCM", "QPFS 0.1 MI, Nyström 0.03", "QPFS 0.1 MI, Nyström 0.1", why=_FEWER),
    ],
}  # fmt: skip


# ------------------------------------------------------------------------------------------ times

FRACTION = 0.03
#: Sizes: samples at 2,000 features, features at 83 samples.
QUICK = ((1000, 2000, 4000), (2000, 4000, 8000))
FULL = ((1000, 3000, 10_000), (4000, 8000, 16_000))
GROUP_POWER, GROUP_RATIO = "power of growth", "time over mRMR's"


Shapes = tuple[tuple[int, ...], tuple[int, ...]]


class Timing(Experiment):
    """How time grows, on made-up data: QPFS with Nyström's method beside mRMR."""

    name, data, quick, full, alone = "times", (), 3, 10, True

    def __init__(self, quick_shapes: Shapes = QUICK, full_shapes: Shapes = FULL) -> None:
        self.shapes = {True: quick_shapes, False: full_shapes}

    def prepare(self, quick: bool, seed: int) -> Any:
        X, y = expression(100, 300, seed)
        for make in _timed(seed).values():  # whatever must be compiled is compiled now
            _seconds(make, X, y)
        return self.shapes[quick]

    def repeat(self, ready: Any, seed: int) -> Found:
        by_n, by_m = ready
        found: Found = {"N": list(by_n), "M": list(by_m)}
        for axis, shapes in (
            ("N", [(n, 2000) for n in by_n]),
            ("M", [(83, m) for m in by_m]),
        ):
            tables = [expression(n, m, seed) for n, m in shapes]
            for name, make in _timed(seed).items():
                found[f"{name} by {axis}"] = [_seconds(make, X, y) for X, y in tables]
        return found

    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        rows = []
        for axis, expected in (("N", 1), ("M", 2)):
            powers = [_power(values[axis], values[f"Nyström by {axis}"]) for values in found]
            largest = found[0][axis][-1]
            rows.append(
                claim(
                    f"Nyström {FRACTION:g}, in {axis} up to {largest:,}",
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
                    f"Nyström {FRACTION:g} at {axis} = {found[0][axis][-1]:,}",
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


def _timed(seed: int) -> dict[str, Callable[[], Any]]:
    return {
        "mRMR": lambda: MRMR(10, full_ranking=True),
        "Nyström": lambda: QPFS(nystroem=FRACTION, random_state=seed),
    }


def _seconds(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> float:
    start = time.process_time()  # not that of others on the machine
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make().fit(X, y)
    return time.process_time() - start


def _power(sizes: list[int], times: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


RECIPE = Recipe(
    name="P4",
    title="QPFS: error of a linear machine against the number of features",
    source="Chapter 4 of a thesis on quadratic programming feature selection (LIBSVM 2.6); means "
    "over 100 times ten folds. The curves are printed as figures only; what the text says of them "
    "is checked. The RAT data (181 x 8,460) were not obtained.",
    protocol="Ten folds, classes in proportion; features ranked and scaled to [0, 1] inside each "
    "training part (mutual information over three levels, cut at the mean plus and minus a "
    "deviation); a linear machine (C = 1, one against one) with the best k of them. Claims are "
    "about means over the sizes named; one repeat is one partition into ten folds. A claim holds, "
    "or does not, if the 95 % interval of the mean difference lies on one side, and is open "
    "otherwise; where the text says 'similar', we ask for 2 points at most. The errors with all "
    "features are printed as means over 100 partitions, and the interval is that of such a mean. "
    "Times are processor times on made-up data of the shape of gene expression, larger than the "
    "tables of the source (N up to 332 at M = 140, M up to 2,308 at N = 83).",
    data="ARR is arrhythmia (422 x 278, two classes), NCI60 is nine_tumors (60 x 5,726 instead of "
    "1,123), SRBCT is srbct (83 x 2,308), GCM is gcm_ramaswamy_1363 (190 x 1,363 instead of 198 x "
    "16,063)",
    parts=(
        AllFeatures("all features", ("SRBCT", "ARR"), REALISATIONS),
        Curves("SRBCT", ("srbct",), 4, nystroem=(0.1, 0.5)),
        Curves("ARR", ("arrhythmia",), 6),
        Curves("GCM", ("gcm_ramaswamy_1363",), 3, 20, nystroem=(0.03, 0.1)),
        Curves("NCI60", ("nine_tumors",), 1, 20),
        Timing(),
        AllFeatures("all features, other data", ("GCM", "NCI60"), 10),
    ),
    thinned="3 of 11 sizes, and smaller tables to time.",
)
