"""Methods of discovery: what each promises, about which features, and on which data it is tried."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from tools.discoveries.data import Setting, Truth

Select = Callable[[Truth, int], np.ndarray]

#: Signals that single features, or weights of a linear machine, show; and those that neither does.
STRAIGHT = ("linear", "logistic", "nothing")
CURVED = ("xor", "radial", "nothing")


class Method(NamedTuple):
    """A way to select, and its promise."""

    select: Select
    rate: str  # what is promised: "FDR", "PFER", "FWER", or "" for nothing
    level: float
    about: str  # which features are false: "wrong" (not in the model) or "unrelated" to it as well
    signals: tuple[str, ...]
    largest: int = 2_000_000  # most samples times features that it is tried on
    peer: str = ""  # the module of another package


def _score(truth: Truth) -> Any:
    from tamiz.filters import PearsonScore, WelchT

    return PearsonScore() if truth.numeric else WelchT()


def _weights(truth: Truth) -> Any:
    from sklearn.feature_selection import SelectFromModel
    from sklearn.linear_model import Ridge

    from tamiz.svm import LinearMachine

    machine = Ridge() if truth.numeric else LinearMachine()
    return SelectFromModel(machine, threshold=-np.inf, max_features=1)


def _relief(truth: Truth) -> Any:
    from tamiz.filters import ReliefF

    return ReliefF()


def _stability(selector: Callable[[Truth], Any], **params: Any) -> Select:
    def select(truth: Truth, seed: int) -> np.ndarray:
        from tamiz.discovery import StabilitySelection

        found = StabilitySelection(selector(truth), random_state=seed, **params)
        return found.fit(truth.X, truth.y).support_

    return select


def _corrected(correction: str, level: float) -> Select:
    def select(truth: Truth, seed: int) -> np.ndarray:
        filter_ = _score(truth).set_params(alpha=level, correction=correction)
        return filter_.fit(truth.X, truth.y).support_

    return select


def _permuted(score: Callable[[Truth], Any], method: str, level: float) -> Select:
    def select(truth: Truth, seed: int) -> np.ndarray:
        from tamiz.discovery import permutation_scores

        found = permutation_scores(
            score(truth), truth.X, truth.y, n_permutations=100, random_state=seed
        )
        return found.support(level, method)

    return select


def _knockoffs(statistic: str, *, known: bool = False, **params: Any) -> Select:
    def select(truth: Truth, seed: int) -> np.ndarray:
        from tamiz.discovery import Knockoffs

        large = truth.X.shape[1] > 500
        method = ("equi" if known else "lowrank") if large else "mvr"
        made = Knockoffs(
            statistic,
            method=method,
            covariance=truth.sigma if known else None,
            random_state=seed,
            **params,
        )
        return made.fit(truth.X, truth.y).support_

    return select


def _shadows(truth: Truth, seed: int) -> np.ndarray:
    from tamiz.discovery import Shadows

    selector = "linear" if truth.numeric else None
    return Shadows(selector, random_state=seed).fit(truth.X, truth.y).support_


def _hidimstat(truth: Truth, seed: int) -> np.ndarray:
    from hidimstat import ModelXKnockoff

    made = ModelXKnockoff(n_repeats=1, random_state=seed)
    made.fit_importance(truth.X, truth.y.astype(float))
    return np.asarray(made.fdr_selection(fdr=0.2)) > 0


def _knockpy(truth: Truth, seed: int) -> np.ndarray:
    from knockpy import KnockoffFilter

    np.random.seed(seed)  # noqa: NPY002  (it draws from the global generator)
    made = KnockoffFilter(ksampler="gaussian", fstat="ridge", knockoff_kwargs={"method": "mvr"})
    return np.asarray(made.forward(truth.X, truth.y.astype(float), fdr=0.2)) > 0


def _boruta(truth: Truth, seed: int) -> np.ndarray:
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(max_depth=5, n_jobs=1)
    made = BorutaPy(forest, n_estimators="auto", random_state=seed)
    return np.asarray(made.fit(truth.X, truth.y).support_)


#: All methods by name.
METHODS: dict[str, Method] = {
    "stability, score": Method(_stability(_score, pfer=1.0), "PFER", 1.0, "unrelated", STRAIGHT),
    "stability, weights": Method(
        _stability(_weights, pfer=1.0, n_subsamples=50), "PFER", 1.0, "unrelated", STRAIGHT
    ),
    "stability, ReliefF": Method(
        _stability(_relief, pfer=1.0, n_subsamples=50), "PFER", 1.0, "unrelated", CURVED
    ),
    "stability, score, r-concave": Method(
        _stability(_score, pfer=1.0, assumption="r-concave"), "PFER", 1.0, "unrelated", STRAIGHT
    ),
    "stability, score, fdr": Method(_stability(_score, fdr=0.1), "FDR", 0.1, "unrelated", STRAIGHT),
    "Knockoffs, linear, 0.1": Method(_knockoffs("linear", fdr=0.1), "FDR", 0.1, "wrong", STRAIGHT),
    "Knockoffs, linear": Method(_knockoffs("linear", fdr=0.2), "FDR", 0.2, "wrong", STRAIGHT),
    "Knockoffs, linear, covariance known": Method(
        _knockoffs("linear", known=True, fdr=0.2), "FDR", 0.2, "wrong", STRAIGHT
    ),
    "Knockoffs, rbf": Method(_knockoffs("rbf", fdr=0.2), "FDR", 0.2, "wrong", CURVED),
    "Knockoffs, ReliefF": Method(_knockoffs("relieff", fdr=0.2), "FDR", 0.2, "wrong", CURVED),
    "Benjamini-Hochberg": Method(_corrected("bh", 0.1), "FDR", 0.1, "unrelated", STRAIGHT),
    "Benjamini-Yekutieli": Method(_corrected("by", 0.1), "FDR", 0.1, "unrelated", STRAIGHT),
    "Storey": Method(_corrected("storey", 0.1), "FDR", 0.1, "unrelated", STRAIGHT),
    "Holm": Method(_corrected("holm", 0.1), "FWER", 0.1, "unrelated", STRAIGHT),
    "permutations, score, maxT": Method(
        _permuted(_score, "maxt", 0.1), "FWER", 0.1, "unrelated", STRAIGHT
    ),
    "permutations, score, fdr": Method(
        _permuted(_score, "fdr_permutation", 0.1), "FDR", 0.1, "unrelated", STRAIGHT
    ),
    "permutations, ReliefF, maxT": Method(
        _permuted(_relief, "maxt", 0.1), "FWER", 0.1, "unrelated", CURVED, 200_000
    ),
    "permutations, ReliefF, fdr": Method(
        _permuted(_relief, "fdr_permutation", 0.1), "FDR", 0.1, "unrelated", CURVED, 200_000
    ),
    "Shadows": Method(_shadows, "", 0.0, "unrelated", (*STRAIGHT, "xor", "radial")),
    "hidimstat, lasso": Method(
        _hidimstat, "FDR", 0.2, "wrong", STRAIGHT, 200_000, peer="hidimstat"
    ),
    "knockpy, ridge": Method(_knockpy, "FDR", 0.2, "wrong", STRAIGHT, 200_000, peer="knockpy"),
    "BorutaPy": Method(
        _boruta, "", 0.0, "unrelated", ("logistic", "xor", "radial", "nothing"), 20_000, "boruta"
    ),
}


def known_methods(peers: bool = False) -> list[str]:
    """Those of tamiz; with those of other packages that are installed, if they are asked for."""
    return [
        name
        for name, one in METHODS.items()
        if not one.peer or (peers and find_spec(one.peer) is not None)
    ]


def suits(method: str, setting: Setting) -> bool:
    """Whether a method is for such data, and quick enough on them."""
    one = METHODS[method]
    return setting.signal in one.signals and setting.n * setting.p <= one.largest
