"""How many neighbours? Training, cross-validated and test error over a range of k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GroupShuffleSplit, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import _safe_indexing, check_random_state

from tamiz.base import Stopwatch, choose_size, json_ready
from tamiz.display import PALETTE, TableResult, axes, frames
from tamiz.neighbors.classifier import NUMBERS, KNNClassifier
from tamiz.runtime.progress import Progress
from tamiz.search.splits import HoldOut, Split, dividing, make_splits
from tamiz.validation import (
    as_numpy,
    as_vector,
    check_classes,
    check_groups,
    check_sample_weight,
    check_target,
    checked,
    inner_fit,
    instance_of,
    integers_from,
    number_of_jobs,
    one_of,
    optional,
    refused,
)

if TYPE_CHECKING:
    import pandas as pd

#: Numbers of neighbours that are tried if none are given.
_MOST = 50
_RULE = one_of("best", "1se")
#: Lines of the printed table.
_SHOWN = 12


@checked(
    ks=integers_from(1, "numbers of neighbours", "range(1, 51)"),
    cv=dividing,
    estimator=optional(
        instance_of(
            KNNClassifier,
            "To choose k inside a pipeline use tamiz.evaluation.tune; scaling and nominal columns "
            'are options of KNNClassifier itself (scaling="zscore", metric="mixed").',
        )
    ),
    rule=_RULE,
    n_jobs=number_of_jobs,
)
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
    sample_weight: Any = None,
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
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Samples, as :class:`KNNClassifier` takes them.
    y : array-like of shape (n_samples,)
        Class labels.
    ks : sequence of int, optional
        Numbers of neighbours; 1 to 50 by default, or fewer if a training part is smaller.
    cv : int, "loo", splitter or list of splits, default=10
        An int stands for stratified folds, shuffled by ``random_state``; with ``groups`` for folds
        that keep these together.
    test : (X_test, y_test), float or int, optional
        Samples that take no part in the choice: a table with its labels, or a fraction or number of
        samples that is put aside at random, classes in proportion. With ``groups`` a fraction of
        the groups is put aside. What follows is then done with the others.
    rule : {"best", "1se"}, default="best"
        The k with least cross-validated error (the largest of those tied), or the largest k whose
        error is within one standard error of the least: more neighbours make a simpler boundary.
    estimator : KNNClassifier, optional
        Its parameters are used, other than ``n_neighbors``.
    groups : array of shape (n_samples,), optional
        Samples that belong together, as those of one patient: no part of a split has but some.
    sample_weight : array of shape (n_samples,), optional
        Numbers of rows that each sample stands for, as neighbour and in the errors; samples of
        weight zero are left out. Those of ``test=(X_test, y_test)`` count alike.
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
        ends the run with the folds done so far, if these are two at least; after the folds it
        leaves the training error, and the test error if that is not done yet, as NaN.

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
    watch = Stopwatch()
    model = _model(estimator, n_jobs, options)
    random = check_random_state(random_state)
    samples, groups, held = _put_aside(X, y, groups, sample_weight, test, random)
    labels = check_classes(samples.y, len(samples.y), minimum=1, quantity=NUMBERS)
    samples = samples._replace(y=labels.classes[labels.codes])
    splits = _splits(cv, samples.y, groups, random)
    candidates = _ks_among(ks, min(len(train) for train, _ in splits))
    model.set_params(n_neighbors=int(candidates[-1]))
    errors, interrupted = [], False
    with Progress("choose_k", verbose, most=len(splits)) as progress:
        try:
            for done, (train, judged) in enumerate(splits):
                parts = samples.part(train), samples.part(judged)
                errors.append(_errors(model, *parts, candidates))
                progress.update(f"{done + 1} of {len(splits)} folds")
        except KeyboardInterrupt:
            if len(errors) < 2:
                raise
            interrupted = True
        on_training = np.full(len(candidates), np.nan)
        on_test = None if held is None else on_training
        try:
            if held is not None:
                on_test = _errors(model, samples, held, candidates)
            on_training = _errors(model, samples, samples, candidates)
        except KeyboardInterrupt:
            interrupted = True
    return KChoice(
        ks=candidates,
        cv_errors=np.array(errors),
        train_error=on_training,
        test_error=on_test,
        n_train=len(samples.y),
        n_test=0 if held is None else len(held.y),
        rule=rule,
        params={k: v for k, v in model.get_params().items() if k != "n_neighbors"},
        interrupted=interrupted,
        seconds=watch.seconds,
    )


def _model(estimator: Any, n_jobs: int | None, options: dict[str, Any]) -> KNNClassifier:
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


class _Samples(NamedTuple):
    """Samples with their labels and weights."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None

    def part(self, rows: np.ndarray) -> _Samples:
        weight = None if self.weight is None else self.weight[rows]
        return _Samples(_rows(self.X, rows), self.y[rows], weight)


def _put_aside(
    X: Any, y: Any, groups: Any, sample_weight: Any, test: Any, random: np.random.RandomState
) -> tuple[_Samples, Any, _Samples | None]:
    """Samples to choose with and their groups; test samples, or None."""
    X = _as_table(X, "X")
    n = X.shape[0]
    y = check_target(y, n)
    if groups is not None:
        groups = check_groups(groups, n)
    samples = _Samples(X, y, None)
    if sample_weight is not None:
        weight = check_sample_weight(sample_weight, n)
        kept = np.flatnonzero(weight)
        samples, n = _Samples(X, y, weight).part(kept), len(kept)
        groups = None if groups is None else groups[kept]
    if test is None:
        return samples, groups, None
    if isinstance(test, Real) and not isinstance(test, bool):
        size = int(test) if isinstance(test, Integral) else float(test)
        if not (1 <= size < n if isinstance(size, int) else 0 < size < 1):
            raise ValueError(
                f"test={test!r} leaves nothing to test with or to choose with; use a fraction "
                f"between 0 and 1, or a number of samples below {n}."
            )
        rest, aside = _hold_out(size, samples.y, groups, random)
        groups = None if groups is None else _rows(groups, rest)
        return samples.part(rest), groups, samples.part(aside)
    try:
        X_test, y_test = test
    except (TypeError, ValueError):
        raise refused(
            "test",
            test,
            "is not understood; use (X_test, y_test), a fraction between 0 and 1, or a number of "
            "samples.",
        ) from None
    y_test = as_vector(y_test)
    X_test = _as_table(X_test, "X_test")
    if X_test.shape[0] != len(y_test) or not len(y_test):
        raise ValueError(
            f"test has {X_test.shape[0]} rows but {len(y_test)} labels; they must be equal, and at "
            "least one."
        )
    if not set(y_test.tolist()) & set(y.tolist()):
        raise ValueError(
            f"No label of test is a class of y (there {y_test[:1].tolist()[0]!r}, ..., here "
            f"{y[:1].tolist()[0]!r}, ...); pass labels of the same kind."
        )
    return samples, groups, _Samples(X_test, y_test, None)


def _hold_out(
    size: float | int, y: np.ndarray, groups: Any, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the samples to choose with, and of those put aside."""
    stand_in = np.zeros((len(y), 1))
    if groups is None:
        try:
            [split] = HoldOut(size, random_state=random).split(stand_in, y)
        except ValueError as error:
            raise ValueError(
                f"test={size!r} cannot be put aside with the classes in proportion: "
                f"{str(error).rstrip('.')}. Put more aside, or pass (X_test, y_test)."
            ) from None
        return split
    if groups is not None and isinstance(size, int):
        raise ValueError(
            f"test={size} samples would part groups; with groups use a fraction of them (between 0 "
            "and 1), or pass (X_test, y_test)."
        )
    splitter = GroupShuffleSplit(1, test_size=size, random_state=random)
    [split] = splitter.split(stand_in, y, groups)
    return split


def _as_table(X: Any, name: str) -> Any:
    """``X`` as something whose rows can be picked; lists may hold numbers, text and None."""
    X = as_numpy(X, name)
    if sparse.issparse(X) and X.ndim == 2:
        return X.tocsr()
    if not hasattr(X, "shape"):
        try:
            numbers = all(isinstance(v, (int, float, np.number)) for row in X for v in row)
            X = np.asarray(X, dtype=None if numbers else object)
        except (TypeError, ValueError):
            X = np.empty(0)
    if len(X.shape) != 2:
        raise ValueError(
            f"{name} must be a table: one row for each sample, all of the same length, and one "
            "column for each feature; reshape(-1, 1) makes a column of a single feature."
        )
    return X


def _rows(X: Any, rows: np.ndarray) -> Any:
    return _safe_indexing(X, rows)


def _splits(cv: Any, y: np.ndarray, groups: Any, random: np.random.RandomState) -> list[Split]:
    seed = int(random.randint(2**31 - 1))
    stand_in = np.zeros((len(y), 1))
    if isinstance(cv, int):
        make_splits(cv, stand_in, y, True, seed)  # its sentences, if the number is no good
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        cv = kind(cv, shuffle=True, random_state=seed)
    return make_splits(cv, stand_in, y, True, seed, groups)


def _ks_among(ks: Any, n: int) -> np.ndarray:
    """Numbers of neighbours, ascending and distinct."""
    if ks is None:
        return np.arange(1, min(_MOST, n) + 1)
    if ks[-1] > n:
        raise ValueError(
            f"ks holds {ks[-1]}; the smallest training part has {n} samples, so that k can be 1 to "
            f"{n}. Leave larger ones out, or use more folds."
        )
    return ks


def _errors(model: KNNClassifier, known: _Samples, asked: _Samples, ks: np.ndarray) -> np.ndarray:
    """Proportion of wrong answers for each k."""
    with inner_fit():
        fitted = clone(model).fit(known.X, known.y, sample_weight=known.weight)
    codes = fitted._winners(fitted._bring(asked.X), ks)
    labels = fitted.classes_[np.maximum(codes, 0)]
    wrong = (labels != asked.y[:, None]) | (codes < 0)
    return np.asarray(np.average(wrong, axis=0, weights=asked.weight))


@dataclass(repr=False, eq=False)
class KChoice(TableResult):
    """Errors for each number of neighbours, and the choice among them.

    Attributes
    ----------
    ks : array of shape (n_ks,)
        Numbers of neighbours, ascending.
    cv_errors : array of shape (n_splits, n_ks)
        Error of each fold.
    train_error : array of shape (n_ks,)
        Error on the training samples, each of which is its own neighbour.
    test_error : array of shape (n_ks,) or None
        Error on the samples put aside.
    n_train, n_test : int
        Numbers of samples.
    rule : {"best", "1se"}
        How k is chosen.
    params : dict
        Parameters of the classifier, other than ``n_neighbors``.
    interrupted : bool
        Whether the run was stopped before the last fold.
    seconds : float
        Time it took.

    See Also
    --------
    choose_k : makes it.
    """

    ks: np.ndarray
    cv_errors: np.ndarray
    train_error: np.ndarray
    test_error: np.ndarray | None = None
    n_train: int = 0
    n_test: int = 0
    rule: str = "best"
    params: dict[str, Any] = field(default_factory=dict)
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def cv_error(self) -> np.ndarray:
        """Mean error over the folds."""
        return self.cv_errors.mean(axis=0)

    @property
    def cv_sd(self) -> np.ndarray:
        """Standard deviation over the folds; NaN with a single one."""
        if len(self.cv_errors) < 2:
            return np.full(len(self.ks), np.nan)
        return self.cv_errors.std(axis=0, ddof=1)

    @property
    def cv_se(self) -> np.ndarray:
        """Standard error of the mean over the folds."""
        return self.cv_sd / np.sqrt(len(self.cv_errors))

    @property
    def train_se(self) -> np.ndarray:
        """Standard error of the training error, as that of a proportion."""
        return _of_proportion(self.train_error, self.n_train)

    @property
    def test_se(self) -> np.ndarray | None:
        """Standard error of the test error, as that of a proportion."""
        return None if self.test_error is None else _of_proportion(self.test_error, self.n_test)

    @property
    def k(self) -> int:
        """The number of neighbours chosen by ``rule``."""
        return self.choose(self.rule)

    @checked(rule=_RULE)
    def choose(self, rule: str) -> int:
        """The number of neighbours that a rule chooses.

        Parameters
        ----------
        rule : {"best", "1se"}
            Least cross-validated error, or the largest k within one standard error of it.
        """
        return -choose_size(self.cv_errors, -self.ks, rule)  # more neighbours are simpler

    @property
    def estimator(self) -> Any:
        """A classifier with the chosen k, to be fitted."""
        return KNNClassifier(self.k, **self.params)

    def _columns(self) -> dict[str, np.ndarray]:
        columns = {
            "train": self.train_error,
            "train_se": self.train_se,
            "cv": self.cv_error,
            "cv_sd": self.cv_sd,
            "cv_se": self.cv_se,
        }
        if self.test_error is not None:
            columns |= {
                "test": self.test_error,
                "test_se": _of_proportion(self.test_error, self.n_test),
            }
        return columns

    def to_frame(self) -> pd.DataFrame:
        """The errors as a pandas table, one line for each k."""
        pd = frames()
        return pd.DataFrame(self._columns(), index=pd.Index(self.ks, name="k"))

    def _overview(self) -> pd.DataFrame:
        return self.to_frame().reset_index()

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, fit for JSON."""
        at = int(np.flatnonzero(self.ks == self.k)[0])
        table = self._columns()
        plain: dict[str, Any] = json_ready(
            {
                "k": self.k,
                "rule": self.rule,
                "errors": [
                    {"k": k, **{name: values[i] for name, values in table.items()}}
                    for i, k in enumerate(self.ks)
                ],
                "at_k": {name: values[at] for name, values in table.items()},
                "n_splits": len(self.cv_errors),
                "n_train": self.n_train,
                "n_test": self.n_test,
                "params": self.params,
                "interrupted": self.interrupted,
                "seconds": self.seconds,
            }
        )
        return plain

    def __repr__(self) -> str:
        at = int(np.flatnonzero(self.ks == self.k)[0])
        return f"<KChoice: k = {self.k} of {len(self.ks)}, error {self.cv_error[at]:.4f}>"

    def __str__(self) -> str:
        chosen = self.k
        shown = self._shown(chosen)
        head = "     k   training   cross-validated (± sd)"
        lines = [head + ("     test" if self.test_error is not None else "")]
        for i in shown:
            mark = "*" if self.ks[i] == chosen else " "
            sd = "      " if np.isnan(self.cv_sd[i]) else f"{self.cv_sd[i]:.4f}"
            line = (
                f"{mark}{self.ks[i]:5d}     {self.train_error[i]:.4f}"
                f"          {self.cv_error[i]:.4f} ± {sd}"
            )
            if self.test_error is not None:
                line += f"   {self.test_error[i]:.4f}"
            lines.append(line.rstrip())
        if len(shown) < len(self.ks):
            lines.append(f"  ({len(shown)} of {len(self.ks)} values of k; to_frame() has all)")
        words = {"best": "least cross-validated error", "1se": "largest within one standard error"}
        lines.append(f"* k = {chosen}: {words[self.rule]}, {len(self.cv_errors)} folds, ")
        lines[-1] += f"{self.n_train} samples" + (", stopped early" if self.interrupted else "")
        return "\n".join(lines)

    def _shown(self, chosen: int) -> list[int]:
        """Places of the lines of the table: evenly spread, the chosen one among them."""
        if len(self.ks) <= _SHOWN:
            return list(range(len(self.ks)))
        spread = np.linspace(0, len(self.ks) - 1, _SHOWN - 1).round().astype(int).tolist()
        return sorted({*spread, int(np.flatnonzero(self.ks == chosen)[0])})

    def plot(self, ax: Any = None) -> Any:
        """Draw the errors over k, with a band of one standard error around the middle one.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        place = axes(ax)
        se = np.nan_to_num(self.cv_se)
        place.fill_between(
            self.ks, self.cv_error - se, self.cv_error + se, color=PALETTE[0], alpha=0.2, lw=0
        )
        place.plot(self.ks, self.cv_error, color=PALETTE[0], label="cross-validated (± se)")
        place.plot(self.ks, self.train_error, color="0.5", ls="--", label="training")
        if self.test_error is not None:
            place.plot(self.ks, self.test_error, color=PALETTE[1], ls="-.", label="test")
        place.axvline(self.k, color="black", lw=0.8, ls=":", label=f"k = {self.k} ({self.rule})")
        place.set_xlabel("number of neighbours k")
        place.set_ylabel("error")
        place.legend()
        return place


def _of_proportion(p: np.ndarray, n: int) -> np.ndarray:
    return np.sqrt(p * (1 - p) / max(1, n))
