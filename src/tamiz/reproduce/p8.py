"""P8: who survived the Titanic, as a tree; and what pruning does."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamiz.reproduce.base import (
    Experiment,
    Found,
    Recipe,
    Row,
    claim,
    claim_above,
    column,
    read,
    row,
    split,
    without,
)
from tamiz.tree import CARTClassifier

#: Printed: people and survivors, and the fraction of the larger class in %.
COUNTS: dict[str, tuple[int, int, float]] = {
    "all": (2201, 711, 67.7),
    "women": (470, 344, 73.2),
    "men": (1731, 367, 78.8),
}
#: Described in words: the tests of the tree, as far down as the text goes.
TESTS = {"first test": "sex", "test of the men": "age", "test of the women": "class"}

_RESAMPLED = (
    "not judged, since the source has the one tree: among the men age and class divide about "
    "equally well, and which of them comes first is a matter of few people"
)


class People(NamedTuple):
    """Codes of class, age and sex, who survived, and what the codes stand for."""

    X: np.ndarray
    survived: np.ndarray
    names: list[str]
    levels: dict[str, list[str]]


def people() -> People:
    """The 2,201 people aboard."""
    from tamiz.data import load

    data = load("titanic")
    levels = {name: [str(level) for level in data.levels[name]] for name in data.feature_names}
    X = np.asarray(data.X, dtype=np.float64)
    return People(X, np.asarray(data.y) == "yes", list(data.feature_names), levels)


def grown(X: np.ndarray, y: np.ndarray) -> CARTClassifier:
    """The full tree of categories without an order."""
    return CARTClassifier(categorical_features=list(range(X.shape[1]))).fit(X, y)


def first_tests(model: CARTClassifier, ready: People) -> dict[str, str]:
    """What is asked first, and next of each sex."""
    tree, question = model.tree_, model.tree_.splits[0]
    asked = {"first test": _asked(tree, 0, ready.names)}
    men = women = 0
    if question is not None and asked["first test"] == "sex":
        goes = question.sends_left(_row(ready, "sex", ready.levels["sex"].index("male")))[0]
        men, women = int(tree.left[0]), int(tree.right[0])
        men, women = (men, women) if goes == 1 else (women, men)
    asked["test of the men"] = _asked(tree, men, ready.names)
    asked["test of the women"] = _asked(tree, women, ready.names)
    return asked


def _asked(tree: Any, node: int, names: list[str]) -> str:
    question = tree.splits[node]
    return "none" if question is None else " and ".join(names[j] for j in question.features)


def _row(ready: People, name: str, code: int) -> np.ndarray:
    cells = np.zeros((1, len(ready.names)))
    cells[0, ready.names.index(name)] = code
    return cells


class Everyone(Experiment):
    """The numbers of the text, and the tree of all people."""

    name, data, quick, full, fixed = "all people", ("titanic",), 1, 1, True

    def prepare(self, quick: bool, seed: int) -> Any:
        return people()

    def repeat(self, ready: Any, seed: int) -> Found:
        X, survived, names, levels = ready
        is_ = {
            level: X[:, names.index(name)] == code
            for name, listed in levels.items()
            for code, level in enumerate(listed)
        }
        women = is_["female"]
        groups = {"all": women | is_["male"], "women": women, "men": is_["male"]}
        found: Found = {}
        for who, mask in groups.items():
            alive = float(survived[mask].mean())
            found[who] = [int(mask.sum()), int(survived[mask].sum()), 100 * max(alive, 1 - alive)]
        parts = {
            "boys": is_["male"] & is_["child"], "grown men": is_["male"] & is_["adult"],
            "women of the first class": women & is_["first"],
            "women of the second class": women & is_["second"],
            "women of the third class": women & is_["third"],
            "other women": women & ~is_["third"],
        }  # fmt: skip
        found |= {who: 100 * float(survived[mask].mean()) for who, mask in parts.items()}
        return found | first_tests(grown(X, survived), ready)

    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        (value,) = found
        rows = []
        for k, (group, decimals) in enumerate(
            [("people", 0), ("survivors", 0), ("decided rightly, %", 1)]
        ):
            rows += [
                row(who, [value[who][k]], group=group, published=printed[k], decimals=decimals,
                    judged=True)
                for who, printed in COUNTS.items()
            ]  # fmt: skip
        said = [
            ("boys", "more than grown men", value["boys"] > value["grown men"]),
            ("women of the first class", "more than of the second",
             value["women of the first class"] > value["women of the second class"]),
            ("women of the second class", "much more than of the third",
             value["women of the second class"] > 1.5 * value["women of the third class"]),
            ("women of the third class", "below 50", value["women of the third class"] < 50),
            ("other women", "above 90", value["other women"] > 90),
        ]  # fmt: skip
        rows += [
            claim(who, [value[who]], words, holds, group="survived, %", decimals=1)
            for who, words, holds in said
        ]
        rows += [
            claim(f"{which}: {value[which]}", [1.0], name, value[which] == name,
                  group="tree of all people", decimals=0)
            for which, name in TESTS.items()
        ]  # fmt: skip
        return rows


class Resamples(Experiment):
    """Whether the same tests come first if other people had been aboard: bootstrap samples."""

    name, data, quick, full = "resampled", ("titanic",), 100, 1000

    def prepare(self, quick: bool, seed: int) -> Any:
        return people()

    def repeat(self, ready: Any, seed: int) -> Found:
        drawn = np.random.default_rng(seed).integers(len(ready.X), size=len(ready.X))
        asked = first_tests(grown(ready.X[drawn], ready.survived[drawn]), ready)
        return {which: float(asked[which] == name) for which, name in TESTS.items()}

    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        return [
            claim(f"{which}: {name}", column(found, which), "not reported", None,
                  group="fraction of the resamples", note=_RESAMPLED)
            for which, name in TESTS.items()
        ]  # fmt: skip


class Pruning(Experiment):
    """What the text says of pruning, on data of the same notes: 50 % to grow, 25 % to prune by."""

    name, data, quick, full = "pruning", ("pima",), 100, 1000

    def __init__(self, tree: type[CARTClassifier] = CARTClassifier) -> None:
        self.tree = tree

    def prepare(self, quick: bool, seed: int) -> Any:
        X, y, _ = read("pima")
        return X, y

    def repeat(self, ready: Any, seed: int) -> Found:
        X, y = ready
        rng = np.random.default_rng(seed)
        grow, rest = split(rng, y, 0.5)
        prune = rest[split(rng, y[rest], 0.5)[0]]
        test = without(len(y), np.concatenate([grow, prune]))
        model = self.tree().fit(X[grow], y[grow])

        def error() -> float:
            return float((model.predict(X[test]) != y[test]).mean())

        values: Found = {"full": error(), "full depth": model.tree_.mean_depth}
        model.prune(X[prune], y[prune])
        values |= {"pruned": error(), "pruned depth": model.tree_.mean_depth}
        model.prune_at(np.inf)
        return values | {"root": error()}

    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        group = "error on other data, diabetes"
        rows = [
            claim_above(
                f"{words} less pruned tree",
                [values[which] - values["pruned"] for values in found],
                group=group,
            )
            for which, words in (("full", "full tree"), ("root", "root alone"))
        ]
        for which in ("full", "pruned"):
            rows.append(row(f"{which} tree", column(found, f"{which} depth"), group="mean depth",
                            decimals=1))  # fmt: skip
        return rows


RECIPE = Recipe(
    name="P8",
    title="The tree of the Titanic, and pruning",
    source="Section 3 of course notes on k-NN, trees and support vector machines; a figure with "
    "its text, and what is said of pruning.",
    protocol="The full tree of the 2,201 people by class, age and sex (Gini, sets of categories): "
    "its first tests, and the numbers of the text, counted. The same tests in bootstrap samples. "
    "Pruning by mean depth, of which the notes show sketches without data, is tried on the "
    "diabetes data of the notes: random halves to grow, quarters to prune by, quarters to test.",
    data="titanic, 2,201 people, 711 survivors; pima, 768 patients, 8 measurements",
    parts=(Everyone(), Resamples(), Pruning()),
)
