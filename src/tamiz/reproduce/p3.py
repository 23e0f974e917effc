"""P3: four rankings at the number of features where HO-SVM stopped, with and without bias."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tamiz.embedded import FSV, SVMRFE, HoldOutSVM
from tamiz.filters import FisherScore
from tamiz.reproduce.base import Experiment, Found, Recipe, Row, read, row, split, unit
from tamiz.reproduce.p2 import FOUND, HARD
from tamiz.svm import SVC

#: Number of features, then accuracy in % and deviation over 100 realisations.
PUBLISHED: dict[str, tuple[int, dict[str, tuple[float, float]]]] = {
    "WBC": (12, {"Fisher": (94.91, 1.2), "FSV": (94.70, 1.3), "RFE": (95.47, 1.1),
                 "HO-SVM": (97.69, 0.9)}),
    "CRMA": (100, {"Fisher": (87.55, 7.5), "FSV": (91.17, 6.7), "RFE": (95.61, 5.4),
                   "HO-SVM": (96.36, 5.3)}),
}  # fmt: skip

REALISATIONS = 100  # whose mean is printed
ON_ALL, INSIDE = "ranked on all samples", "ranked inside the training part"

Make = Callable[[int], Any]  # a selector for a seed
Scale = Callable[[np.ndarray, np.ndarray], np.ndarray]  # a table, and the part to learn from


def by_range(X: np.ndarray, like: np.ndarray) -> np.ndarray:
    """[0, 1] in the part to learn from."""
    return unit(X, like)


def by_deviation_of_logarithms(X: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Logarithms with mean zero and deviation one in the part to learn from."""
    L, like = np.log(X), np.log(like)
    return (L - like.mean(axis=0)) / like.std(axis=0)


def _radial(C: float, gamma: float) -> dict[str, Make]:
    return {
        "Fisher": lambda seed: FisherScore(variant="criterion"),
        "FSV": lambda seed: FSV(C=10.0),
        "RFE": lambda seed: SVMRFE(kernel="rbf", C=C, gamma=gamma),
        "HO-SVM": lambda seed: HoldOutSVM(C=C, gamma=gamma, random_state=seed),
    }


def _wide() -> dict[str, Make]:
    return {
        "Fisher": lambda seed: FisherScore(variant="criterion"),
        "FSV": lambda seed: FSV(C=10.0),
        "RFE": lambda seed: SVMRFE(kernel="linear", C=10.0),
        "HO-SVM": lambda seed: HoldOutSVM(C=100.0, random_state=seed),
        "HO-SVM, prefilter, 5 splits a step": lambda seed: HoldOutSVM(
            C=100.0, prefilter="auto", splits_per_step=5, random_state=seed
        ),
    }


@dataclass(frozen=True)
class Rankings(Experiment):
    """One data set: rankings on all samples and inside the training part, tested alike."""

    name: str
    data: tuple[str, ...]
    methods: Callable[[], dict[str, Make]]
    scale: Scale = by_range
    gamma: Any = 0.5  # of the radial machine that is tested, C = 10
    quick: int = 100
    full: int = 100
    most: int | None = None  # samples of each class, at most
    n: int = 0  # features, where the source names no number
    why: dict[str, str] = field(default_factory=dict)
    judges: Callable[[], dict[str, Make]] | None = None  # other machines to test with, by name
    fraction: float = 0.7  # of the samples to train with
    stops: bool = True  # whether HO-SVM says where to stop

    def prepare(self, quick: bool, seed: int) -> Any:
        X, y, _ = read(self.data[0], numeric=True)
        X, y = _complete(X, y)
        if self.most is not None:
            X, y = _balanced(X, y, self.most, seed)
        everything = self.scale(X, X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ranked = {name: make(seed).fit(everything, y) for name, make in self.methods().items()}
        stop = int(ranked["HO-SVM"].support_.sum()) if "HO-SVM" in ranked else 0
        n, _ = PUBLISHED.get(self.name, (self.n, {}))
        return X, y, everything, n, stop, {k: s.order_[:n] for k, s in ranked.items()}

    def repeat(self, ready: Any, seed: int) -> Found:
        X, y, everything, n, stop, ranked = ready
        train, test = split(np.random.default_rng(seed), y, self.fraction)
        Z = self.scale(X, X[train])
        found: Found = {"stop on all samples": stop, "n": n}
        for name, make in self.methods().items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                honest = make(seed).fit(Z[train], y[train])
            found[name] = {
                tested: [
                    self.accuracy(everything, y, train, test, ranked[name], tested),
                    self.accuracy(Z, y, train, test, honest.order_[:n], tested),
                ]
                for tested in self.machines()
            }
            if self._has_stop(name):
                kept = np.flatnonzero(honest.support_)
                found[f"{name} stop"] = [
                    len(kept),
                    self.accuracy(Z, y, train, test, kept),
                ]
        return found

    def _reason(self, name: str, tested: str, way: str) -> str:
        """The most particular of the reasons given for a row."""
        for key in (f"{name}, {tested}, {way}", f"{name}, {way}", f"{name}, {tested}"):
            if key in self.why:
                return self.why[key]
        return self.why.get(name, "")

    def _has_stop(self, name: str) -> bool:
        return self.stops and name.startswith("HO-SVM")

    def machines(self) -> dict[str, Make]:
        """The machines to test with; a single one needs no name."""
        if self.judges is None:
            return {"": lambda seed: SVC(C=10.0, gamma=self.gamma)}
        return self.judges()

    def accuracy(
        self, Z: Any, y: Any, train: Any, test: Any, best: np.ndarray, tested: str = ""
    ) -> float:
        """Accuracy in % on the test part with the best features, by the machine of that name."""
        machine = self.machines()[tested](0)
        machine.fit(Z[np.ix_(train, best)], y[train])
        return 100.0 * float(machine.score(Z[np.ix_(test, best)], y[test]))

    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        n = int(found[0]["n"])
        _, published = PUBLISHED.get(self.name, (n, {}))
        rows = []
        head = f"{self.name}, {n} features"
        for tested in self.machines():
            by = f", tested {tested}" if tested else ""
            for k, way in enumerate((ON_ALL, INSIDE)):
                for name in self.methods():
                    rows.append(
                        row(
                            name,
                            [values[name][tested][k] for values in found],
                            group=f"accuracy in %, interval of a mean of {REALISATIONS}: {head}, "
                            f"{way}{by}",
                            published=published.get(name),
                            decimals=2,
                            why=self._reason(name, tested, way),
                            of=REALISATIONS,
                        )
                    )
            for name in self.methods():
                pairs = [values[name][tested] for values in found]
                bias = [everywhere - inside for everywhere, inside in pairs]
                group = f"difference of the two, points: {head}{by}"
                rows.append(row(name, bias, group=group, decimals=2))
        for name in self.methods():
            if self._has_stop(name):
                own = [values[f"{name} stop"] for values in found]
                rows.append(
                    row(
                        name,
                        [pair[0] for pair in own],
                        group=f"features at the stop, inside the training part: {self.name}",
                        published=n if published and name == "HO-SVM" else None,
                        decimals=0,
                        why=self.why.get("stop", ""),
                        note=f"on all samples it stops at {int(found[0]['stop on all samples'])}"
                        if name == "HO-SVM"
                        else "",
                    )
                )
        return rows


def _complete(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows without missing values."""
    whole = ~np.isnan(X).any(axis=1)
    return X[whole], y[whole]


def _balanced(X: np.ndarray, y: np.ndarray, most: int, seed: int) -> tuple[Any, Any]:
    """As many of each class, drawn at random: the private sets were balanced samples."""
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    size = min(most, *(len(members) for members in rows))
    chosen = np.sort(np.concatenate([members[:size] for members in rows]))
    return X[chosen], y[chosen]


_TUNED = "the source tunes its machines first, and does not say to what"
_WBC_WHY = {
    "Fisher": f"unexplained: 0.7 to 0.8 points above ours; {_TUNED}",
    "FSV": "unexplained: ours is better by more than two points; the parameter of the source is "
    "not reported",
    "RFE": "unexplained: ours is better by 1.4 to 2 points; here the kernel of the ranking is the "
    "one that is tested, the source does not name its own",
    "HO-SVM": f"unexplained: 0.5 to 1 point above ours; {_TUNED}",
    "stop": "errors of 120 held-out samples decide, so that the stop varies from split to split",
}
_CRMA_WHY = {
    "Fisher": "unexplained, and just outside; ranked on all tissues ours is two points nearer, "
    "which so few splits do not tell from chance",
    "FSV": "ranked honestly, ours stays below; ranked on all tissues it has the printed mean "
    "inside: selection bias would explain it",
    "RFE": "ranked on all tissues ours comes to 90 %, honestly to 83 %; without slack on [0, 1] it "
    "comes to 96 to 99.5 % and 81 to 84 %, depending on the machine that is tested, so that "
    "selection bias can explain the whole difference, see P3b",
    "HO-SVM": "here 19 held-out tissues cannot tell 2,000 genes apart, nearly all are tied and "
    "chance decides; with ties broken by weight, on all tissues, it comes near, see P3b",
    "stop": "with ties at nearly every step the strict rule goes on to the last genes",
}

RECIPE = Recipe(
    name="P3",
    title="HO-SVM beside Fisher, FSV and RFE, with and without selection bias",
    source="Table 2 of an article on HO-SVM (Maldonado and Weber): means over 100 realisations.",
    protocol="Random 70/30 splits, classes in proportion. Features are ranked twice: once on all "
    "samples, those for testing included, and inside the training part of every split. A radial "
    "machine (C = 10; width 1 on features in [0, 1], 1 / (p variance) on logarithms) is trained "
    "with the best n features and tested on the rest. For the private sets of the source two "
    "public credit sets stand in, at 9 of 24 and 4 of 10 features: the fraction that was kept "
    "there. The printed accuracies are means, so that the interval is that of a mean of 100 such "
    "splits, not of single ones. The source first tunes its machines and does not print the "
    "outcome; here the parameters are the same on every split.",
    data="WBC is breast_cancer (569 x 30, [0, 1]), CRMA is colon (62 x 2,000, logarithms, "
    "standardised); stand-ins german_numeric (balanced, 300 + 300) and hmeq (numeric "
    "columns, complete rows, balanced, 300 + 300), [0, 1]",
    parts=(
        Rankings("WBC", ("breast_cancer",), lambda: _radial(10.0, 0.5), why=_WBC_WHY),
        Rankings(
            "CRMA", ("colon",), _wide, by_deviation_of_logarithms, "scale", 20, 50, why=_CRMA_WHY
        ),
        Rankings("german_numeric", ("german_numeric",), lambda: _radial(10.0, 0.5), quick=20,
                 full=50, most=300, n=9),
        Rankings("hmeq", ("hmeq",), lambda: _radial(10.0, 0.5), quick=20, full=50, most=300, n=4),
    ),
)  # fmt: skip


# ------------------------------------------------------------------ a reading found afterwards


class HoldOutByWeight:
    """Linear hold-out elimination whose ties the least ``w_j²`` decides.

    A step draws a split, trains, and counts the errors on the held-out part without each feature,
    multipliers and bias kept. Of the features with the fewest errors the one with the least weight
    goes; above 200 features a fiftieth of them at a time.
    """

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def fit(self, X: np.ndarray, y: np.ndarray) -> HoldOutByWeight:
        inside = np.arange(X.shape[1])
        gone: list[int] = []
        signs = np.where(y == np.unique(y)[1], 1.0, -1.0)
        while len(inside) > 1:
            train, held = split(self.rng, y)
            Z = X[:, inside]
            machine = SVC(kernel="linear", C=HARD).fit(Z[train], signs[train])
            w = machine.coef_[0]
            values = machine.decision_function(Z[held])[:, None] - Z[held] * w
            errors = (values * signs[held, None] <= 0).sum(axis=0)
            n = max(1, len(inside) // 50) if len(inside) > 200 else 1
            worst = np.lexsort([w**2, errors])[:n]
            gone.extend(inside[worst].tolist())
            inside = np.delete(inside, worst)
        self.order_ = np.concatenate([inside, gone[::-1]]).astype(np.intp)
        self.support_ = np.ones(X.shape[1], dtype=bool)
        return self


def _hard(seed: int) -> Any:
    return SVC(kernel="linear", C=HARD)


SLACKLESS, SOFT, RADIAL = (
    "without slack",
    "with a linear machine, C = 0.2",
    "with a radial machine, C = 10",
)


def _testers() -> dict[str, Make]:
    """Machines that the source may have tested genes with; the last is that of P3."""
    return {
        SLACKLESS: _hard,
        SOFT: lambda seed: SVC(kernel="linear", C=0.2),
        RADIAL: lambda seed: SVC(C=10.0, gamma="scale"),
    }


def _linear_genes() -> dict[str, Make]:
    return {
        "Fisher": lambda seed: FisherScore(variant="criterion"),
        "FSV": lambda seed: FSV(C=10.0),
        "RFE": lambda seed: SVMRFE(kernel="linear", C=HARD),
        "HO-SVM": HoldOutByWeight,
    }


def _rivals() -> dict[str, Make]:
    return {
        "Fisher": lambda seed: FisherScore(variant="criterion"),
        "FSV": lambda seed: FSV(C=10.0),
        "RFE": lambda seed: SVMRFE(kernel="linear", C=HARD),
    }


_HONEST = "ranked inside the training part, as it should be, none of the machines comes near"
_FOUND_WHY = {
    "Fisher": "unexplained with this machine; with a linear one, C = 0.2, it agrees",
    f"FSV, {RADIAL}, {ON_ALL}": "just outside; with both linear machines it agrees",
    **{
        f"{name}, {SLACKLESS}, {ON_ALL}": "ours is above it; with both other machines it agrees"
        for name in ("RFE", "HO-SVM")
    },
    **{f"{name}, {INSIDE}": _HONEST for name in ("FSV", "RFE", "HO-SVM")},
}

LINEAR = Recipe(
    name="P3b",
    title="Linear machines, ranked on all samples, ties by weight: a reading found afterwards",
    source=RECIPE.source,
    protocol="As P3, with other machines: linear ones without slack (C = 1,000,000) rank, on "
    "features in [0, 1]; on CRMA 50 tissues train and 12 test; HO-SVM is linear, and where "
    "several features cost equally many errors, the one with the least weight goes. On WBC a "
    "linear machine without slack is tested; on CRMA the same rankings are tested with three "
    "machines: one without slack, a linear one with C = 0.2, and a radial one with C = 10 (width "
    "1 / (p variance), as in P3). The article names no kernel for its rivals, no parameters of the "
    f"machine that is tested and no rule for ties: this is {FOUND}. Ranked on all samples it "
    "carries selection bias; ranked inside the training part is what the same machines are worth.",
    data="WBC is breast_cancer (569 x 30), CRMA is colon (62 x 2,000), both in [0, 1]",
    parts=(
        Rankings("WBC", ("breast_cancer",), _rivals, judges=lambda: {"": _hard}, stops=False,
                 why={"FSV": "unexplained: ours is better",
                      "RFE": "unexplained: which C the source ranked with is not known"}),
        Rankings("CRMA", ("colon",), _linear_genes, judges=_testers, fraction=50 / 62,
                 stops=False, why=_FOUND_WHY),
    ),
)  # fmt: skip
