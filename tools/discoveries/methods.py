"""Methods of discovery: what each promises, about which features, and on which data it is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from tools.discoveries.data import Setting, Truth

#: Signals that single features, or weights of a linear machine, show; and those that neither does.
STRAIGHT = ("linear", "logistic", "nothing")
CURVED = ("xor", "radial", "nothing")


class Method(NamedTuple):
    """A way to select, and its promise.

    Methods that share ``fit`` are one fit that is read in several ways, as a level or a bound may
    be chosen after the scores are there.
    """

    fit: Callable[[Truth, int], Any]
    read: Callable[[Any], np.ndarray]
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


def _support(found: Any) -> np.ndarray:
    return found.support_


# ------------------------------------------------------------------------------- halves


def _halves(selector: Callable[[Truth], Any], **params: Any) -> Callable[[Truth, int], Any]:
    def fit(truth: Truth, seed: int) -> Any:
        from tamiz.discovery import StabilitySelection

        return StabilitySelection(selector(truth), random_state=seed, **params).fit(
            truth.X, truth.y
        )

    return fit


def _by_bound(assumption: str) -> Callable[[Any], np.ndarray]:
    """What ``pfer=1`` selects, from halves that were asked for more: rankings stay the same."""

    def read(found: Any) -> np.ndarray:
        from tamiz.discovery.bounds import largest_q

        sizes, pairs = found.entry_sizes_, found.n_pairs_
        least = -(-3 * pairs // 2)  # a frequency of 0.75
        q = largest_q(1.0, sizes.shape[1], least, pairs, assumption)
        if q is None or q > sizes.max():
            raise ValueError(f"{q} features of each half are needed; {sizes.max()} are there.")
        return ((sizes > 0) & (sizes <= q)).sum(axis=0) >= least

    return read


_score_halves = _halves(_score, fdr=0.1)


def _standing(truth: Truth, seed: int) -> np.ndarray:
    """What ``tamiz select`` says to stand behind, whether it finds a signal or not."""
    from tamiz.evaluation.comparison.compare import run_comparison
    from tamiz.evaluation.study.standing import find_standing

    methods = ["pearson", "rrelieff", "rfe"]
    if not truth.numeric:
        methods = ["fisher", "mrmr", "relieff", "rfe"]
    found, setting = run_comparison(
        truth.X, truth.y, methods, sizes=[2], cv=3, repeats=1, nested=False, apparent="rank",
        baselines=(), scale="auto", random_state=seed,
    )  # fmt: skip
    standing = find_standing(setting, found, methods[0], 0.1, 1e6, None)
    if standing is None or set(standing.frequencies) != set(methods):
        raise ValueError(f"not all of {methods} were asked for features to stand behind.")
    support = np.zeros(truth.X.shape[1], dtype=bool)
    support[standing.features] = True
    return support


# ------------------------------------------------------------------------------- p-values


def _pvalues(truth: Truth, seed: int) -> np.ndarray:
    return _score(truth).fit(truth.X, truth.y).pvalues_


def _adjusted(method: str) -> Callable[[np.ndarray], np.ndarray]:
    def read(pvalues: np.ndarray) -> np.ndarray:
        from tamiz.discovery import adjust_pvalues

        return adjust_pvalues(pvalues, method) <= 0.1

    return read


def _shuffles(score: Callable[[Truth], Any]) -> Callable[[Truth, int], Any]:
    def fit(truth: Truth, seed: int) -> Any:
        from tamiz.discovery import permutation_scores

        return permutation_scores(
            score(truth), truth.X, truth.y, n_permutations=100, random_state=seed
        )

    return fit


_score_shuffles, _relief_shuffles = _shuffles(_score), _shuffles(_relief)


def _permuted(method: str) -> Callable[[Any], np.ndarray]:
    return lambda found: found.support(0.1, method)


# ------------------------------------------------------------------------------- copies


def _knockoffs(
    statistic: str, *, known: bool = False, **params: Any
) -> Callable[[Truth, int], Any]:
    def fit(truth: Truth, seed: int) -> Any:
        from tamiz.discovery import Knockoffs

        large = truth.X.shape[1] > 500
        made = Knockoffs(
            statistic,
            method="lowrank" if large else "mvr",
            covariance=truth.covariance() if known else None,
            random_state=seed,
            **params,
        )
        return made.fit(truth.X, truth.y)

    return fit


def _beaten(fdr: float) -> Callable[[Any], np.ndarray]:
    def read(found: Any) -> np.ndarray:
        from tamiz.discovery import knockoff_threshold

        least = knockoff_threshold(found.statistics_, fdr=fdr, n_copies=found.n_copies)
        return found.statistics_ >= least

    return read


_linear_copies = _knockoffs("linear")


def _shadows(truth: Truth, seed: int) -> Any:
    from tamiz.discovery import Shadows

    selector = "linear" if truth.numeric else None
    return Shadows(selector, random_state=seed).fit(truth.X, truth.y)


# ------------------------------------------------------------------------------- peers


def _hidimstat(truth: Truth, seed: int) -> Any:
    from hidimstat import ModelXKnockoff

    made = ModelXKnockoff(n_repeats=1, random_state=seed)
    made.fit_importance(truth.X, truth.y.astype(float))
    return made


def _knockpy(truth: Truth, seed: int) -> np.ndarray:
    from knockpy import KnockoffFilter

    np.random.seed(seed)  # noqa: NPY002  (it draws from the global generator)
    made = KnockoffFilter(ksampler="gaussian", fstat="ridge", knockoff_kwargs={"method": "mvr"})
    return np.asarray(made.forward(truth.X, truth.y.astype(float), fdr=0.2)) > 0


def _boruta(truth: Truth, seed: int) -> Any:
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(max_depth=5, n_jobs=1)
    return BorutaPy(forest, n_estimators="auto", random_state=seed).fit(truth.X, truth.y)


def _stability_selection(truth: Truth, seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import l1_min_c
    from stability_selection import StabilitySelection

    machine = make_pipeline(
        StandardScaler(), LogisticRegression(penalty="l1", solver="liblinear", tol=1e-3)
    )
    least = l1_min_c(StandardScaler().fit_transform(truth.X), truth.y, loss="log")
    made = StabilitySelection(machine, alphas=least * np.geomspace(1.0, 10.0, 8), random_state=seed)
    return made.fit(truth.X, truth.y)


#: All methods by name.
METHODS: dict[str, Method] = {
    "stability, score": Method(
        _score_halves, _by_bound("unimodal"), "PFER", 1.0, "unrelated", STRAIGHT
    ),
    "stability, weights": Method(
        _halves(_weights, pfer=1.0, n_subsamples=50), _support, "PFER", 1.0, "unrelated", STRAIGHT
    ),
    "stability, ReliefF": Method(
        _halves(_relief, pfer=1.0, n_subsamples=50), _support, "PFER", 1.0, "unrelated", CURVED
    ),
    "stability, score, r-concave": Method(
        _score_halves, _by_bound("r-concave"), "PFER", 1.0, "unrelated", STRAIGHT
    ),
    "stability, score, fdr": Method(_score_halves, _support, "FDR", 0.1, "unrelated", STRAIGHT),
    "select, to stand behind": Method(
        _standing, np.asarray, "FDR", 0.1, "unrelated", (*STRAIGHT, "sparse"), 20_000
    ),
    "Knockoffs, linear, 0.1": Method(_linear_copies, _beaten(0.1), "FDR", 0.1, "wrong", STRAIGHT),
    "Knockoffs, linear": Method(_linear_copies, _beaten(0.2), "FDR", 0.2, "wrong", STRAIGHT),
    "Knockoffs, linear, five copies, 0.1": Method(
        _knockoffs("linear", n_copies=5), _support, "FDR", 0.1, "wrong", STRAIGHT, 200_000
    ),
    "Knockoffs, linear, covariance known": Method(
        _knockoffs("linear", known=True, fdr=0.2),
        _support,
        "FDR",
        0.2,
        "wrong",
        STRAIGHT,
        200_000,
    ),
    "Knockoffs, rbf": Method(
        _knockoffs("rbf", fdr=0.2), _support, "FDR", 0.2, "wrong", CURVED, 200_000
    ),
    "Knockoffs, ReliefF": Method(
        _knockoffs("relieff", fdr=0.2), _support, "FDR", 0.2, "wrong", CURVED
    ),
    "Benjamini-Hochberg": Method(_pvalues, _adjusted("bh"), "FDR", 0.1, "unrelated", STRAIGHT),
    "Benjamini-Yekutieli": Method(_pvalues, _adjusted("by"), "FDR", 0.1, "unrelated", STRAIGHT),
    "Storey": Method(_pvalues, _adjusted("storey"), "FDR", 0.1, "unrelated", STRAIGHT),
    "Holm": Method(_pvalues, _adjusted("holm"), "FWER", 0.1, "unrelated", STRAIGHT),
    "permutations, score, maxT": Method(
        _score_shuffles, _permuted("maxt"), "FWER", 0.1, "unrelated", STRAIGHT
    ),
    "permutations, score, fdr": Method(
        _score_shuffles, _permuted("fdr_permutation"), "FDR", 0.1, "unrelated", STRAIGHT
    ),
    "permutations, ReliefF, maxT": Method(
        _relief_shuffles, _permuted("maxt"), "FWER", 0.1, "unrelated", CURVED, 20_000
    ),
    "permutations, ReliefF, fdr": Method(
        _relief_shuffles, _permuted("fdr_permutation"), "FDR", 0.1, "unrelated", CURVED, 20_000
    ),
    "Shadows": Method(
        _shadows, _support, "", 0.0, "unrelated", (*STRAIGHT, "xor", "radial"), 20_000
    ),
    "hidimstat, lasso": Method(
        _hidimstat,
        lambda made: np.asarray(made.fdr_selection(fdr=0.2)).ravel() > 0,
        "FDR",
        0.2,
        "wrong",
        STRAIGHT,
        20_000,
        peer="hidimstat",
    ),
    "knockpy, ridge": Method(
        _knockpy, np.asarray, "FDR", 0.2, "wrong", STRAIGHT, 20_000, peer="knockpy"
    ),
    "stability-selection, lasso": Method(
        _stability_selection,
        lambda made: made.get_support(),
        "",
        0.0,
        "unrelated",
        ("logistic", "nothing"),
        20_000,
        peer="stability_selection",
    ),
    "BorutaPy": Method(
        _boruta,
        lambda made: np.asarray(made.support_),
        "",
        0.0,
        "unrelated",
        ("logistic", "xor", "radial", "nothing"),
        20_000,
        peer="boruta",
    ),
}


def bundle(method: str, methods: Iterable[str]) -> tuple[str, ...]:
    """Those of the methods that are read from the same fit as this one, which is among them."""
    return tuple(one for one in methods if METHODS[one].fit is METHODS[method].fit)


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
