"""Data of known truth: designs of features, and signals by which a target follows from them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter


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
    covariance: Callable[[], np.ndarray]  # of the features

    @property
    def numeric(self) -> bool:
        return self.y.dtype.kind == "f"


# ---------------------------------------------------------------------------------------- designs


Drawn = tuple[np.ndarray, Callable[[], np.ndarray]]


def _independent(random: np.random.Generator, n: int, p: int) -> Drawn:
    return random.standard_normal((n, p)), lambda: np.eye(p)


def _autoregressive(random: np.random.Generator, n: int, p: int) -> Drawn:
    noise = random.standard_normal((n, p))
    noise[:, 1:] *= np.sqrt(0.75)
    place = np.arange(p)
    X = lfilter([1.0], [1.0, -0.5], noise, axis=1)
    return X, lambda: 0.5 ** np.abs(place[:, None] - place)


def _blocks(random: np.random.Generator, n: int, p: int) -> Drawn:
    common = np.repeat(random.standard_normal((n, -(-p // 5))), 5, axis=1)[:, :p]
    block = np.arange(p) // 5
    X = np.sqrt(0.5) * (common + random.standard_normal((n, p)))
    return X, lambda: 0.5 * (block[:, None] == block) + 0.5 * np.eye(p)


def _factor(random: np.random.Generator, n: int, p: int) -> Drawn:
    loads = random.normal(size=(3, p)) * 0.4
    X = random.standard_normal((n, 3)) @ loads + random.standard_normal((n, p))
    spread = np.sqrt(1 + (loads**2).sum(axis=0))
    return X / spread, lambda: (loads.T @ loads + np.eye(p)) / np.outer(spread, spread)


#: Design -> how to draw it, and the distance from which features are unrelated (None: never).
DESIGNS: dict[str, tuple[Callable[..., Drawn], int | None]] = {
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


def _sparse(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return (X @ _signs(X, random) + random.normal(size=len(X)) > 0).astype(int)


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
    "sparse": (_sparse, 4),
    "nothing": (_nothing, 0),
}


def draw(setting: Setting, seed: int) -> Truth:
    """The data of one repetition."""
    random = np.random.default_rng([seed, *map(ord, str(setting))])
    make, distance = DESIGNS[setting.design]
    X, covariance = make(random, setting.n, setting.p)
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
    return Truth(X, y, relevant, unrelated, covariance)


#: Samples and features of all settings: more than twice as many samples as features, and fewer.
SHAPES = [(100, 20), (300, 40), (200, 100), (1000, 200), (100, 2000), (1000, 2000)]


def settings(kind: str) -> list[Setting]:
    """Which data are drawn."""
    shapes = [(200, 100)] if kind == "quick" else SHAPES
    return [Setting(d, s, n, p) for n, p in shapes for d, s in product(DESIGNS, SIGNALS)]
