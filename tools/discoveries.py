"""How often selections with a stated rate of false discoveries are wrong, on data of known truth.

    python -m tools.discoveries [--seconds 120] [--jobs 4] [--settings quick|all]
                                [--only METHOD ...] [--match TEXT ...] [--out table.md]

Every repetition draws a table from a design (independent, autoregressive, blocks, factors) and a
target from a signal (linear, logistic, xor, radial, or nothing at all), and lets every method
select. The table has, for each setting and method, the mean number of false discoveries (V), the
mean fraction of false among the selected (FDR), both with the standard error of the mean, the mean
fraction of relevant features that were selected (power), and seconds. Two truths are counted: a
feature is *wrong* if it is not in the model of the target, and *unrelated* if it is, besides,
(nearly) independent of every feature that is. Methods that look at one feature at a time promise
something about the latter only.

Repetitions go round robin through the settings until the time is over, so that an early end only
makes the standard errors larger. Methods whose class the installed version does not have are left
out.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from importlib import import_module
from itertools import count, product
from pathlib import Path
from typing import Any, NamedTuple

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

    @property
    def numeric(self) -> bool:
        return self.y.dtype.kind == "f"


# ---------------------------------------------------------------------------------------- designs


def _independent(random: np.random.Generator, n: int, p: int) -> np.ndarray:
    return random.normal(size=(n, p))


def _autoregressive(random: np.random.Generator, n: int, p: int) -> np.ndarray:
    X = random.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    return X


def _blocks(random: np.random.Generator, n: int, p: int) -> np.ndarray:
    common = np.repeat(random.normal(size=(n, -(-p // 5))), 5, axis=1)[:, :p]
    return np.sqrt(0.5) * common + np.sqrt(0.5) * random.normal(size=(n, p))


def _factor(random: np.random.Generator, n: int, p: int) -> np.ndarray:
    loads = random.normal(size=(3, p)) * 0.4
    X = random.normal(size=(n, 3)) @ loads + random.normal(size=(n, p))
    return X / np.sqrt(1 + (loads**2).sum(axis=0))


#: Design -> how to draw it, and the distance from which features are unrelated (None: never).
DESIGNS: dict[str, tuple[Callable[..., np.ndarray], int | None]] = {
    "independent": (_independent, 1),
    "ar": (_autoregressive, 8),
    "blocks": (_blocks, 5),
    "factor": (_factor, None),
}


# ---------------------------------------------------------------------------------------- signals


def _linear(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return X @ _signs(X, random) + random.normal(size=len(X)) * np.sqrt(X.shape[1])


def _logistic(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    odds = 2.0 * X @ _signs(X, random) / np.sqrt(X.shape[1])
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
    "linear": (_linear, 10),
    "logistic": (_logistic, 10),
    "xor": (_xor, 2),
    "radial": (_radial, 4),
    "nothing": (_nothing, 0),
}


def draw(setting: Setting, seed: int) -> Truth:
    """The data of one repetition."""
    random = np.random.default_rng([seed, *map(ord, str(setting))])
    make, distance = DESIGNS[setting.design]
    X = make(random, setting.n, setting.p)
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
    return Truth(X, y, relevant, unrelated)


# ---------------------------------------------------------------------------------------- methods

Select = Callable[[Truth, int], np.ndarray]


def _score(truth: Truth) -> Any:
    from tamiz.filters import PearsonScore, WelchT

    return PearsonScore() if truth.numeric else WelchT()


def _stability(**params: Any) -> Select:
    def select(truth: Truth, seed: int) -> np.ndarray:
        from tamiz.discovery import StabilitySelection

        found = StabilitySelection(_score(truth), random_state=seed, **params)
        return found.fit(truth.X, truth.y).support_

    return select


def _stability_by(name: str, home: str, **params: Any) -> Select:
    def select(truth: Truth, seed: int) -> np.ndarray:
        from tamiz.discovery import StabilitySelection

        selector = getattr(import_module(home), name)()
        found = StabilitySelection(selector, random_state=seed, **params)
        return found.fit(truth.X, truth.y).support_

    return select


def _stability_of_lasso(truth: Truth, seed: int) -> np.ndarray:
    from sklearn.feature_selection import SelectFromModel
    from sklearn.linear_model import LassoLars

    from tamiz.discovery import StabilitySelection

    path = LassoLars(max_iter=min(truth.X.shape[1] // 2, 60))  # classes are taken as 0 and 1
    found = StabilitySelection(
        SelectFromModel(path, threshold=1e-9),
        penalty={"estimator__alpha": np.geomspace(2.0, 0.005, 40)},
        pfer=1.0,
        n_subsamples=50,
        random_state=seed,
    )
    return found.fit(truth.X, truth.y).support_


def _corrected(correction: str, level: float) -> Select:
    def select(truth: Truth, seed: int) -> np.ndarray:
        filter_ = _score(truth).set_params(alpha=level, correction=correction)
        return filter_.fit(truth.X, truth.y).support_

    return select


def _permuted(method: str, level: float) -> Select:
    def select(truth: Truth, seed: int) -> np.ndarray:
        from tamiz.discovery import permutation_scores

        found = permutation_scores(
            _score(truth), truth.X, truth.y, n_permutations=200, random_state=seed
        )
        return found.support(level, method)

    return select


def _other(name: str, **params: Any) -> Select:
    """A class of the room that may not be there."""

    def select(truth: Truth, seed: int) -> np.ndarray:
        import tamiz.discovery

        cls = getattr(tamiz.discovery, name)
        known = cls._get_param_names()
        wanted = {**params, "random_state": seed}
        made = cls(**{key: value for key, value in wanted.items() if key in known})
        return np.asarray(made.fit(truth.X, truth.y).get_support())

    return select


#: Name -> what it promises, and how it selects.
METHODS: dict[str, tuple[str, Select]] = {
    "stability, score": ("V ≤ 1", _stability(pfer=1.0)),
    "stability, score, r-concave": ("V ≤ 1", _stability(pfer=1.0, assumption="r-concave")),
    "stability, score, no assumption": ("V ≤ 1", _stability(pfer=1.0, assumption="none")),
    "stability, score, fdr": ("FDR ≈ 0.1", _stability(fdr=0.1)),
    "stability, lasso": ("V ≤ 1", _stability_of_lasso),
    "stability, ReliefF": ("V ≤ 1", _stability_by("ReliefF", "tamiz.filters", pfer=1.0)),
    "stability, forest": (
        "V ≤ 1",
        _stability_by("ForestImportance", "tamiz.embedded", pfer=1.0, n_subsamples=50),
    ),
    "Benjamini-Hochberg": ("FDR ≤ 0.1", _corrected("bh", 0.1)),
    "Benjamini-Yekutieli": ("FDR ≤ 0.1", _corrected("by", 0.1)),
    "Storey": ("FDR ≤ 0.1", _corrected("storey", 0.1)),
    "Holm": ("P(V > 0) ≤ 0.1", _corrected("holm", 0.1)),
    "maxT": ("P(V > 0) ≤ 0.1", _permuted("maxt", 0.1)),
    "permutations": ("FDR ≤ 0.1", _permuted("fdr_permutation", 0.1)),
    "Knockoffs": ("FDR ≤ 0.1", _other("Knockoffs", fdr=0.1)),
    "Shadows": ("", _other("Shadows")),
}


def known_methods() -> list[str]:
    """Those whose class is there."""
    import tamiz.discovery

    optional = {"Knockoffs", "Shadows"}
    return [m for m in METHODS if m not in optional or m in tamiz.discovery.__all__]


def suits(method: str, setting: Setting) -> bool:
    """Whether a method is for such data, and quick enough on them."""
    if method in ("stability, ReliefF", "stability, forest"):
        large = setting.n * setting.p > 100_000
        return setting.signal != "linear" and not large  # both take classes only
    if method == "stability, lasso":
        return setting.signal in ("linear", "logistic", "nothing") and setting.p <= 200
    return True


# ------------------------------------------------------------------------------------ repetitions


class Outcome(NamedTuple):
    """What a method found in one repetition."""

    method: str
    wrong: int  # selected, not in the model
    unrelated: int  # selected, and independent of the model
    selected: int
    power: float  # NaN if there is nothing to find
    seconds: float


def repeat(setting: Setting, seed: int, methods: list[str]) -> list[Outcome]:
    """All methods on the data of one repetition."""
    truth = draw(setting, seed)
    found = []
    for method in methods:
        if not suits(method, setting):
            continue
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                support = METHODS[method][1](truth, seed)
            except (ValueError, TypeError) as error:  # the others go on; its repetitions are fewer
                print(f"{setting}: {method}: {type(error).__name__}: {error}", file=sys.stderr)
                continue
        spent = time.process_time() - began
        hits = support[truth.relevant]
        power = float(hits.mean()) if len(hits) else np.nan
        wrong = int((support & ~truth.relevant).sum())
        unrelated = int((support & truth.unrelated).sum())
        found.append(Outcome(method, wrong, unrelated, int(support.sum()), power, spent))
    return found


def settings(kind: str) -> list[Setting]:
    """Which data are drawn."""
    small = [Setting(d, s, 200, 100) for d, s in product(DESIGNS, SIGNALS)]
    if kind == "quick":
        return small
    shapes = [(100, 20), (100, 2000), (1000, 200)]
    larger = [Setting(d, s, n, p) for n, p in shapes for d, s in product(DESIGNS, SIGNALS)]
    return small + larger


Found = dict[tuple[Setting, str], list[Outcome]]


def run(
    plans: list[Setting], methods: list[str], *, seconds: float, jobs: int, most: int | None = None
) -> Found:
    """Repetitions of all settings in turn, until the time is over or there are ``most`` of each."""
    found: Found = defaultdict(list)
    end = time.monotonic() + seconds
    work = ((s, seed) for seed in (range(most) if most else count()) for s in plans)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    with ProcessPoolExecutor(jobs) as pool:
        running: dict[Any, Setting] = {}
        while True:
            while len(running) < 2 * jobs and time.monotonic() < end:
                setting, seed = next(work, (None, 0))
                if setting is None:
                    break
                running[pool.submit(repeat, setting, seed, methods)] = setting
            if not running:
                return found
            done, _ = wait(running, timeout=1.0, return_when=FIRST_COMPLETED)
            for one in done:
                setting = running.pop(one)
                for outcome in one.result():
                    found[setting, outcome.method].append(outcome)
            if time.monotonic() >= end:
                for one in [one for one in running if one.cancel()]:
                    del running[one]


def table(found: Found) -> str:
    """Markdown, one row for each setting and method."""
    rows = [
        "| data | method | promise | V wrong | V unrelated | FDR wrong | FDR unrelated | any "
        "unrelated | power | s | reps |",
        "|" + "---|" * 11,
    ]
    last = None
    for (setting, method), outcomes in sorted(
        found.items(), key=lambda item: (str(item[0][0]), list(METHODS).index(item[0][1]))
    ):
        wrong = np.array([o.wrong for o in outcomes])
        unrelated = np.array([o.unrelated for o in outcomes])
        selected = np.maximum(1, [o.selected for o in outcomes])
        power = np.array([o.power for o in outcomes])
        cells = [
            str(setting) if setting != last else "",
            method,
            METHODS[method][0],
            _mean(wrong),
            _mean(unrelated),
            _mean(wrong / selected),
            _mean(unrelated / selected),
            _mean(unrelated > 0),
            "" if np.isnan(power).all() else f"{power.mean():.2f}",
            f"{np.mean([o.seconds for o in outcomes]):.2f}",
            str(len(outcomes)),
        ]
        rows.append("| " + " | ".join(cells) + " |")
        last = setting
    return "\n".join(rows)


def _mean(values: np.ndarray) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.3f} ± {error:.3f}"


def main(arguments: list[str] | None = None) -> None:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", nargs="*", help="methods; all by default")
    parser.add_argument("--settings", choices=["quick", "all"], default="quick")
    parser.add_argument("--match", nargs="*", default=[""], help="settings that hold such a text")
    parser.add_argument("--repeats", type=int, help="at most so many of each setting")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    methods = given.only or known_methods()
    began = time.monotonic()
    found = run(
        [s for s in settings(given.settings) if any(text in str(s) for text in given.match)],
        methods,
        seconds=given.seconds,
        jobs=given.jobs,
        most=given.repeats,
    )
    text = table(found)
    if given.out is not None:
        given.out.write_text(text + "\n", encoding="utf-8")
    print(text)
    print(f"{time.monotonic() - began:.0f} s with {given.jobs} processes", file=sys.stderr)


if __name__ == "__main__":
    main()
