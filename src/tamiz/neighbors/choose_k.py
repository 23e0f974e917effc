"""How many neighbours? Training, cross-validated and test error over a range of k."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing, check_random_state

from tamiz._progress import Progress
from tamiz._validation import as_vector, check_classes
from tamiz.base import Stopwatch
from tamiz.neighbors._k_choice import KChoice, refuse_rule
from tamiz.neighbors.classifier import KNNClassifier
from tamiz.search.splits import HoldOut, Split, make_splits

#: Numbers of neighbours that are tried if none are given.
_MOST = 50


def choose_k(
    X: Any,
    y: Any,
    ks: Sequence[int] | None = None,
    cv: Any = 10,
    *,
    test: Any = None,
    rule: str = "best",
    estimator: KNNClassifier | None = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool | int = 0,
    **options: Any,
) -> KChoice:
    """Errors for many numbers of neighbours, and the choice among them.

    The neighbours for the largest k are found once in each fold, and every k is read from them, so
    that 200 values cost hardly more than one.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        Samples, as :class:`KNNClassifier` takes them.
    y : array-like of shape (n_samples,)
        Class labels.
    ks : sequence of int, optional
        Numbers of neighbours; 1 to 50 by default, or fewer if a training part is smaller.
    cv : int, "loo", splitter or list of splits, default=10
        An int stands for stratified folds, shuffled by ``random_state``.
    test : (X_test, y_test), float or int, optional
        Samples that take no part in the choice: a table with its labels, or a share or number of
        samples that is put aside at random, classes in proportion. What follows is then done with
        the others.
    rule : {"best", "1se"}, default="best"
        The k with least cross-validated error (the largest of those tied), or the largest k whose
        error is within one standard error of the least: more neighbours make a simpler boundary.
    estimator : KNNClassifier, optional
        Its parameters are used, other than ``n_neighbors``.
    groups : array of shape (n_samples,), optional
        For splitters that keep groups of samples together.
    random_state : int, RandomState or None, default=None
        Shuffles the folds and draws the test samples.
    n_jobs : int or None, default=None
        Most threads to use. The result does not depend on it.
    verbose : bool or int, default=0
        Show progress after two seconds.
    **options
        Parameters of :class:`KNNClassifier`, such as ``metric="manhattan"``.

    Returns
    -------
    choice : KChoice
        With ``k``, the errors of each kind, ``to_frame()``, ``to_dict()`` and ``plot()``. Ctrl-C
        ends the run with the folds done so far, if these are two at least.

    See Also
    --------
    KNNClassifier : The classifier.
    tamiz.evaluation.tune : Several parameters at a time, of any estimator.

    Notes
    -----
    In the training error a sample is its own nearest neighbour, so that it is zero for k = 1 unless
    equal samples differ in class. An abstention counts as an error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.neighbors import choose_k
    >>> X, y = load_iris(return_X_y=True)
    >>> choice = choose_k(X, y, range(1, 31), random_state=0)
    >>> print(choice.k, round(choice.cv_error.min(), 4))
    12 0.02
    >>> print(choice.train_error[0])
    0.0
    """
    refuse_rule(rule)
    watch = Stopwatch()
    model = _model(estimator, n_jobs, options)
    random = check_random_state(random_state)
    X, y, groups, held = _put_aside(X, y, groups, test, random)
    labels = check_classes(y, len(y), minimum=1)
    y = labels.classes[labels.codes]
    splits = _splits(cv, y, groups, random)
    candidates = _check_ks(ks, min(len(train) for train, _ in splits))
    model.set_params(n_neighbors=int(candidates[-1]))
    errors, interrupted = [], False
    with Progress("choose_k", verbose) as progress:
        try:
            for done, (train, judged) in enumerate(splits):
                errors.append(_errors(model, X, y, train, _rows(X, judged), y[judged], candidates))
                progress.update(f"{done + 1} of {len(splits)} folds")
        except KeyboardInterrupt:
            if len(errors) < 2:
                raise
            interrupted = True
        everything = np.arange(len(y))
        on_training = _errors(model, X, y, everything, X, y, candidates)
        on_test = None
        if held is not None:
            on_test = _errors(model, X, y, everything, held[0], held[1], candidates)
    return KChoice(
        ks=candidates,
        cv_errors=np.array(errors),
        train_error=on_training,
        test_error=on_test,
        n_train=len(y),
        n_test=0 if held is None else len(held[1]),
        rule=rule,
        params={k: v for k, v in model.get_params().items() if k != "n_neighbors"},
        interrupted=interrupted,
        seconds=watch.seconds,
    )


def _model(estimator: Any, n_jobs: int | None, options: dict[str, Any]) -> KNNClassifier:
    if estimator is not None and not isinstance(estimator, KNNClassifier):
        raise TypeError(
            f"estimator must be a KNNClassifier, but is {estimator!r:.80}. To choose k inside a "
            "pipeline use tamiz.evaluation.tune; scaling and nominal columns are options of "
            'KNNClassifier itself (scaling="zscore", metric="mixed").'
        )
    if "n_neighbors" in options:
        raise ValueError(
            f"n_neighbors={options['n_neighbors']!r} is what choose_k is to find; give the "
            "candidates as ks."
        )
    known = set(KNNClassifier().get_params())
    for name in options:
        if name not in known:
            raise TypeError(
                f"choose_k has no option {name!r}, nor has KNNClassifier; use one of "
                f"{', '.join(sorted(known - {'n_neighbors'}))}."
            )
    model = KNNClassifier() if estimator is None else clone(estimator)
    if n_jobs is not None:
        model.set_params(n_jobs=n_jobs)
    return model.set_params(**options)


def _put_aside(
    X: Any, y: Any, groups: Any, test: Any, random: np.random.RandomState
) -> tuple[Any, Any, Any, Any]:
    """Samples to choose with, their labels and groups; test samples with labels, or None."""
    X = X if hasattr(X, "shape") else np.asarray(X, dtype=object if _has_text(X) else None)
    y = as_vector(y)
    n = X.shape[0]
    if len(y) != n:
        raise ValueError(f"X has {n} rows but y has {len(y)} entries; they must be equal.")
    if test is None:
        return X, y, groups, None
    if isinstance(test, Real) and not isinstance(test, bool):
        size = int(test) if isinstance(test, Integral) else float(test)
        if not (1 <= size < n if isinstance(size, int) else 0 < size < 1):
            raise ValueError(
                f"test={test!r} leaves nothing to test with or to choose with; use a share between "
                f"0 and 1, or a number of samples below {n}."
            )
        [(rest, aside)] = HoldOut(size, random_state=random).split(np.zeros((n, 1)), y)
        groups = None if groups is None else _rows(groups, rest)
        return _rows(X, rest), y[rest], groups, (_rows(X, aside), y[aside])
    try:
        X_test, y_test = test
    except (TypeError, ValueError):
        raise ValueError(
            f"test={test!r:.80} is not understood; use (X_test, y_test), a share between 0 and 1, "
            "or a number of samples."
        ) from None
    y_test = as_vector(y_test)
    X_test = X_test if hasattr(X_test, "shape") else np.asarray(X_test)
    if X_test.shape[0] != len(y_test) or not len(y_test):
        raise ValueError(
            f"test has {X_test.shape[0]} rows but {len(y_test)} labels; they must be equal, and at "
            "least one."
        )
    return X, y, groups, (X_test, y_test)


def _has_text(X: Any) -> bool:
    return any(not isinstance(v, (int, float, np.number)) for line in X for v in np.ravel(line))


def _rows(X: Any, rows: np.ndarray) -> Any:
    return _safe_indexing(X, rows)


def _splits(cv: Any, y: np.ndarray, groups: Any, random: np.random.RandomState) -> list[Split]:
    seed = int(random.randint(2**31 - 1))
    stand_in = np.zeros((len(y), 1))
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        make_splits(cv, stand_in, y, True, seed)  # its sentences, if the number is no good
        cv = StratifiedKFold(int(cv), shuffle=True, random_state=seed)
    return make_splits(cv, stand_in, y, True, seed, groups)


def _check_ks(ks: Any, n: int) -> np.ndarray:
    """Numbers of neighbours, ascending and distinct."""
    if ks is None:
        return np.arange(1, min(_MOST, n) + 1)
    given = np.atleast_1d(np.asarray(ks))
    if given.ndim != 1 or not given.size or given.dtype.kind not in "iu":
        raise ValueError(
            f"ks={ks!r:.80} must hold whole numbers of neighbours, for instance range(1, 51)."
        )
    if given.min() < 1 or given.max() > n:
        wrong = given.min() if given.min() < 1 else given.max()
        raise ValueError(
            f"ks holds {wrong}; the smallest training part has {n} samples, so that k can be 1 to "
            f"{n}. Leave larger ones out, or use more folds."
        )
    return np.unique(given).astype(np.intp)


def _errors(
    model: KNNClassifier,
    X: Any,
    y: np.ndarray,
    train: np.ndarray,
    X_judged: Any,
    y_judged: np.ndarray,
    ks: np.ndarray,
) -> np.ndarray:
    """Share of wrong answers for each k."""
    fitted = clone(model).fit(_rows(X, train), y[train])
    codes = fitted._winners(fitted._bring(X_judged), ks)
    labels = fitted.classes_[np.maximum(codes, 0)]
    wrong = (labels != y_judged[:, None]) | (codes < 0)
    return np.asarray(wrong.mean(axis=0))
