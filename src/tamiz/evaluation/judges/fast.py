"""Predicted of the usual judges on many subsets of one split, sooner than by their estimators.

A comparison asks a judge about subsets of several sizes, each with several settings. What these
share is done once: squared distances and inner products serve all settings, machines start from the
solution at the neighbouring penalty, features are cut into bins once for all forests. The answers
are those of the estimators, up to the tolerance of their solvers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from tamiz.evaluation.judges.named import resolved
from tamiz.qp.matrices import take_block
from tamiz.search.judges import Predicted, last_step
from tamiz.solvers.squared_hinge import minimise_dual, minimise_primal
from tamiz.svm import SVC, LinearMachine
from tamiz.svm.multiclass import decide, tasks
from tamiz.svm.path.gram import radial
from tamiz.svm.path.penalties import TolerantBinary
from tamiz.svm.path.problem import BinaryDual
from tamiz.tree import BoostingClassifier, CARTClassifier
from tamiz.tree.boosting import BoostingRules, boost, class_probabilities
from tamiz.tree.forest import (
    Bins,
    ForestClassifier,
    ForestRules,
    features_tried,
    forest_proportions,
    grow_forest,
    leaf_sums,
)
from tamiz.validation import inner_fit

#: From so many samples on, kernel values are kept in float32.
_SINGLE_FROM = 600
#: Violation of the optimality conditions: of small machines, and of others.
_FINE, _USUAL = 1e-5, 1e-3


class Division(NamedTuple):
    """A training and a test part, prepared for machines."""

    Z: np.ndarray
    codes: np.ndarray  # of the classes, training part
    classes: np.ndarray
    weight: np.ndarray  # of the training samples, class weights included
    Z_test: np.ndarray
    seed: int
    inner: bool = False  # whether it only helps to choose


class Question(NamedTuple):
    """A subset to be judged with some settings: the places of both in the table of answers."""

    place: int
    features: np.ndarray
    candidates: list[int]


#: Loss and penalty of the linear machine that is answered for.
_SQUARED_HINGE = "squared_hinge", "l2"

Reply = tuple[int, int, Predicted]  # place, candidate, answers


def fast_way(
    estimator: Any, candidates: list[dict[str, Any]]
) -> Callable[..., Iterator[Reply]] | None:
    """What answers in place of an estimator; None if there is only the estimator itself.

    So it is, too, if a candidate sets a parameter that the fast way does not read.
    """
    machine = last_step(estimator)
    if machine is not estimator:
        return None
    way, read = None, set()
    if type(machine) is LinearMachine and (machine.loss, machine.penalty) == _SQUARED_HINGE:
        way, read = _linear, {"C"}
    elif type(machine) is SVC and machine.kernel in ("linear", "rbf") and machine.max_iter < 0:
        way, read = _kernel, {"C", "gamma"}
    elif type(machine) is ForestClassifier:
        way, read = _forests, set(machine.get_params()) - {"class_weight"}
    elif type(machine) is BoostingClassifier:
        way, read = _boosted, set(machine.get_params()) - {"class_weight"}
    elif type(machine) is CARTClassifier:
        way, read = _trees, set(machine.get_params()) - {"class_weight"}
    return way if all(read.issuperset(one) for one in candidates) else None


# --------------------------------------------------------------------------------- linear


def _linear(
    estimator: LinearMachine,
    part: Division,
    questions: list[Question],
    candidates: list[dict[str, Any]],
) -> Iterator[Reply]:
    n = len(part.Z)
    positive = range(len(part.classes)) if len(part.classes) > 2 else [1]
    signs = [np.where(part.codes == k, 1.0, -1.0) for k in positive]
    for place, features, wanted in questions:
        primal = len(features) <= n
        X, X_test = part.Z[:, features], part.Z_test[:, features]
        if not primal:
            X, X_test = _products(X, X), _products(X_test, X)
        by_penalty = sorted(wanted, key=lambda c: _penalty(estimator, candidates[c], features))
        starts: list[Any] = [None] * len(signs)
        for c in by_penalty:
            cost = 2.0 * _penalty(estimator, candidates[c], features) * part.weight
            columns = []
            for k, y in enumerate(signs):
                found = (minimise_primal if primal else minimise_dual)(
                    X, y, cost, starts[k], tol=1e-6
                )
                starts[k] = found.weights, found.intercept
                columns.append(X_test @ found.weights + found.intercept)
            yield place, c, _decided(part.classes, np.column_stack(columns), "ovr")


def _penalty(estimator: Any, candidate: dict[str, Any], features: np.ndarray) -> float:
    return float(resolved(candidate, len(features)).get("C", estimator.C))


def _products(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A @ B.T


def _distances(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    found = A @ B.T
    found *= -2.0
    found += (A**2).sum(axis=1)[:, None]
    found += (B**2).sum(axis=1)
    return np.maximum(found, 0.0, out=found)


# -------------------------------------------------------------------------------- kernels


def _kernel(
    estimator: SVC,
    part: Division,
    questions: list[Question],
    candidates: list[dict[str, Any]],
) -> Iterator[Reply]:
    linear = estimator.kernel == "linear"
    between = _products if linear else _distances
    single = len(part.Z) >= _SINGLE_FROM and not linear
    dtype = np.dtype(np.float32 if single else np.float64)
    scheme, tol = estimator.multiclass, _FINE if linear and not single else _USUAL
    for place, features, wanted in questions:
        Z = part.Z[:, features]
        among, across = between(Z, Z), between(part.Z_test[:, features], Z)
        settings = [_setting(estimator, candidates[c], features, part.Z) for c in wanted]
        for gamma in sorted({gamma for gamma, _ in settings}):
            K, Kx = among, across
            if not linear:
                K, Kx = radial(among, gamma, dtype), radial(across, gamma, dtype)
            those = sorted((C, c) for c, (g, C) in zip(wanted, settings, strict=True) if g == gamma)
            for c, values in _penalties(K, Kx, part, those, scheme, tol):
                yield place, c, _decided(part.classes, values, scheme)


def _setting(
    estimator: SVC, candidate: dict[str, Any], features: np.ndarray, Z: np.ndarray
) -> tuple[float, float]:
    given = resolved(candidate, len(features))
    gamma = 1.0 if estimator.kernel == "linear" else given.get("gamma", estimator.gamma)
    if isinstance(gamma, str):
        spread = float(Z[:, features].var()) if gamma == "scale" else 1.0
        gamma = 1.0 / (len(features) * spread) if spread > 0 else 1.0
    return float(gamma), float(given.get("C", estimator.C))


def _penalties(
    K: np.ndarray,
    Kx: np.ndarray,
    part: Division,
    wanted: list[tuple[float, int]],
    scheme: str,
    tol: float,
) -> Iterator[tuple[int, np.ndarray]]:
    """Values of all machines at the test samples, for one penalty after the other."""
    binaries = []
    for task in tasks(part.codes, len(part.classes), scheme):
        own = K if len(task.samples) == len(K) else take_block(K, task.samples)
        nobody = np.empty(0, dtype=np.intp)
        dual = BinaryDual(np.arange(len(own)), task.signs, part.weight[task.samples])
        binary = TolerantBinary(dual, nobody, tol)
        binary.attach(np.ascontiguousarray(own))
        binaries.append((binary, task.samples))
    for C, c in wanted:
        columns = []
        for binary, samples in binaries:
            binary.solve(C)
            used = np.flatnonzero(binary.b)
            columns.append(Kx[:, samples[used]] @ binary.b[used] - binary.constant)
        yield c, np.column_stack(columns)


def _decided(classes: np.ndarray, values: np.ndarray, scheme: str) -> Predicted:
    winner, decisions, _ = decide(values, len(classes), scheme)
    return Predicted(classes, classes[winner], decisions)


# --------------------------------------------------------------------------------- forests


class _Binned(NamedTuple):
    """The features of a question in bins, one row each."""

    codes: np.ndarray
    counts: np.ndarray
    lowest: np.ndarray
    codes_test: np.ndarray


def _binned(
    part: Division, questions: list[Question]
) -> Iterator[tuple[int, np.ndarray, list[int], _Binned]]:
    """The questions, each with its features in bins; a feature is cut once for all of them."""
    every = np.unique(np.concatenate([question.features for question in questions]))
    Z = np.ascontiguousarray(part.Z[:, every])
    bins = Bins.of(Z)
    codes, codes_test = bins.codes(Z), bins.codes(np.ascontiguousarray(part.Z_test[:, every]))
    lowest = bins.lowest(Z, codes)
    for place, features, wanted in questions:
        rows = np.searchsorted(every, features)
        yield place, features, wanted, _Binned(
            np.ascontiguousarray(codes[rows]), bins.counts[rows], lowest[rows],
            np.ascontiguousarray(codes_test[rows]),
        )  # fmt: skip


def _forests(
    estimator: ForestClassifier,
    part: Division,
    questions: list[Question],
    candidates: list[dict[str, Any]],
) -> Iterator[Reply]:
    for place, features, wanted, binned in _binned(part, questions):
        for c in wanted:
            given = {**estimator.get_params(), **resolved(candidates[c], len(features))}
            forest = grow_forest(
                binned.codes,
                binned.counts,
                binned.lowest,
                part.codes,
                part.weight,
                rules=ForestRules(
                    len(part.classes),
                    features_tried(given["max_features"], len(features)),
                    given["min_samples_leaf"],
                    given["splits"] == "random",
                ),
                n_trees=_n_trees(given["n_estimators"], part.inner),
                seed=int(check_random_state(_seed(given, part)).randint(2**31 - 1)),
            )
            found = forest_proportions(forest, binned.codes_test)
            decisions = found[:, 1] - 0.5 if len(part.classes) == 2 else found
            yield (
                place,
                c,
                Predicted(part.classes, part.classes[found.argmax(axis=1)], decisions, found),
            )


def _boosted(
    estimator: BoostingClassifier,
    part: Division,
    questions: list[Question],
    candidates: list[dict[str, Any]],
) -> Iterator[Reply]:
    n_classes = len(part.classes)
    for place, features, wanted, binned in _binned(part, questions):
        for c in wanted:
            given = {**estimator.get_params(), **resolved(candidates[c], len(features))}
            start, forest = boost(
                binned.codes,
                binned.counts,
                part.codes,
                part.weight,
                n_classes,
                rules=BoostingRules.of(given),
            )
            values = start + leaf_sums(forest, binned.codes_test)
            found = class_probabilities(values)
            decisions = values[:, 0] if n_classes == 2 else values
            predicted = part.classes[found.argmax(axis=1)]
            yield place, c, Predicted(part.classes, predicted, decisions, found)


def _seed(params: dict[str, Any], part: Division) -> Any:
    given = params["random_state"]
    return part.seed if given is None else given


def _n_trees(wanted: int, inner: bool) -> int:
    """Fewer trees are enough to choose by."""
    return max(1, 2 * wanted // 5) if inner else wanted


def _trees(
    estimator: CARTClassifier,
    part: Division,
    questions: list[Question],
    candidates: list[dict[str, Any]],
) -> Iterator[Reply]:
    params = estimator.get_params(deep=False)  # asked for once: it is slower than a small tree
    params["class_weight"] = None  # the weights of the samples have it
    params["random_state"] = _seed(params, part)
    for place, features, wanted in questions:
        Z, Z_test = part.Z[:, features], part.Z_test[:, features]
        for c in wanted:
            tree = CARTClassifier(**{**params, **resolved(candidates[c], len(features))})
            with inner_fit():  # half a tree is no judge
                tree.fit(Z, part.codes, part.weight)
            found = tree.predict_proba(Z_test)
            decisions = found[:, 1] - 0.5 if len(part.classes) == 2 else found
            yield place, c, Predicted(part.classes, tree.predict(Z_test), decisions, found)
