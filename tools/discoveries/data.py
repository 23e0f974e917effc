"""Data of known truth: designs of features, and signals by which a target follows from them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np


class Setting(NamedTuple):
    """What the data of a repetition are like."""

    design: str
    signal: str
    n: int
    p: int

    def __str__(self) -> str:
        return f"{self.signal}, {self.design}, n={self.n}, p={self.p}"


class Truth(NamedTuple):
    """A table, its target, and what is to be found."""

    X: np.ndarray
    y: np.ndarray
    relevant: np.ndarray  # mask of the features of the model
    unrelated: np.ndarray  # mask of those that are independent of all of these
    sigma: np.ndarray  # covariances of the features

    @property
    def numeric(self) -> bool:
        return self.y.dtype.kind == "f"


# ---------------------------------------------------------------------------------------- designs


def _independent(random: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    return random.normal(size=(n, p)), np.eye(p)


def _autoregressive(random: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    X = random.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    place = np.arange(p)
    return X, 0.5 ** np.abs(place[:, None] - place)


def _blocks(random: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    common = np.repeat(random.normal(size=(n, -(-p // 5))), 5, axis=1)[:, :p]
    block = np.arange(p) // 5
    sigma = 0.5 * (block[:, None] == block) + 0.5 * np.eye(p)
    return np.sqrt(0.5) * common + np.sqrt(0.5) * random.normal(size=(n, p)), sigma


def _factor(random: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    loads = random.normal(size=(3, p)) * 0.4
    X = random.normal(size=(n, 3)) @ loads + random.normal(size=(n, p))
    spread = np.sqrt(1 + (loads**2).sum(axis=0))
    return X / spread, (loads.T @ loads + np.eye(p)) / np.outer(spread, spread)


#: Design -> how to draw it, and the distance from which features are unrelated (None: never).
DESIGNS: dict[str, tuple[Callable[..., tuple[np.ndarray, np.ndarray]], int | None]] = {
    "independent": (_independent, 1),
    "ar": (_autoregressive, 8),
    "blocks": (_blocks, 5),
    "factor": (_factor, None),
}


# ---------------------------------------------------------------------------------------- signals


def _linear(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return X @ _signs(X, random) + random.normal(size=len(X)) * 0.5 * np.sqrt(X.shape[1])


def _logistic(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    odds = 4.0 * X @ _signs(X, random) / np.sqrt(X.shape[1])
    return (random.random(len(X)) < 1 / (1 + np.exp(-odds))).astype(int)


def _xor(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    product_of_pairs = X[:, 0::2] * X[:, 1::2]
    total = np.sign(product_of_pairs).sum(axis=1) + 0.5 * random.normal(size=len(X))
    return (total > 0).astype(int)


def _radial(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    radius = (X**2).sum(axis=1) + 0.5 * random.normal(size=len(X))
    return (radius > np.median(radius)).astype(int)


def _nothing(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return (random.permutation(len(X)) % 2).astype(int)


def _signs(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return random.choice([-1.0, 1.0], X.shape[1])


#: Signal -> how the target follows from the relevant features, and how many there are at most.
SIGNALS: dict[str, tuple[Callable[..., np.ndarray], int]] = {
    "linear": (_linear, 20),
    "logistic": (_logistic, 20),
    "xor": (_xor, 2),
    "radial": (_radial, 4),
    "nothing": (_nothing, 0),
}


def draw(setting: Setting, seed: int) -> Truth:
    """The data of one repetition."""
    random = np.random.default_rng([seed, *map(ord, str(setting))])
    make, distance = DESIGNS[setting.design]
    X, sigma = make(random, setting.n, setting.p)
    form, most = SIGNALS[setting.signal]
    size = min(most, setting.p // 4)
    chosen = np.sort(random.choice(setting.p, size - size % 2, replace=False))
    relevant = np.zeros(setting.p, dtype=bool)
    relevant[chosen] = True
    y = form(X[:, chosen], random)
    places = np.arange(setting.p)
    if not len(chosen):
        unrelated = np.ones(setting.p, dtype=bool)
    elif distance is None:
        unrelated = np.zeros(setting.p, dtype=bool)
    elif setting.design == "blocks":
        unrelated = ~np.isin(places // distance, chosen // distance)
    else:
        unrelated = np.abs(places[:, None] - chosen).min(axis=1) >= distance
    return Truth(X, y, relevant, unrelated, sigma)


#: Samples and features of all settings: more than twice as many samples as features, and fewer.
SHAPES = [(100, 20), (300, 40), (200, 100), (1000, 200), (100, 2000), (1000, 2000)]


def settings(kind: str) -> list[Setting]:
    """Which data are drawn."""
    shapes = [(200, 100)] if kind == "quick" else SHAPES
    return [Setting(d, s, n, p) for n, p in shapes for d, s in product(DESIGNS, SIGNALS)]
