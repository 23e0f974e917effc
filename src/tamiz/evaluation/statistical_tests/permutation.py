"""Has a method learnt anything? Its score beside those that it gets when the labels are shuffled.

Everything that saw the labels is done anew with every shuffle: a selector that is a step of the
pipeline selects among the shuffled labels, too. What was selected before, on all samples, cannot be
made good for here: the test then says that noise is signal.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state

from tamiz.base import Stopwatch
from tamiz.evaluation._resamples import Table, rows_for
from tamiz.evaluation._workers import check_estimator, check_jobs, fit_to_the_end, run_jobs
from tamiz.evaluation.intervals import check_count, check_level, clopper_pearson
from tamiz.evaluation.statistical_tests.permutation_result import PermutationTest, count_as_high
from tamiz.runtime.checkpoint import _said, identity
from tamiz.runtime.journal import Journal
from tamiz.runtime.progress import Progress
from tamiz.search.base import seeded
from tamiz.search.judges import make_scorer
from tamiz.search.splits import Split, make_splits

_BATCH = 10  # early stopping looks after so many permutations, whatever the number of workers


def permutation_test(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    n_permutations: int = 200,
    scoring: Any = None,
    groups: Any = None,
    early_stop: float | None = None,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
    checkpoint: Any = None,
    resume: bool = False,
    verbose: bool | int = 0,
) -> PermutationTest:
    """Test whether a method scores better than it would if features and labels were unrelated.

    Parameters
    ----------
    estimator : estimator or pipeline
        Anything of scikit-learn's kind. Put a selector into the pipeline, so that it selects anew
        for every shuffle.
    X : table of shape (n_samples, n_features)
        Array, sparse matrix or data frame.
    y : array of shape (n_samples,)
        Labels or numbers.
    cv : int, "loo", splitter or list of splits, default=5
        Splits. A splitter divides every shuffle anew, by the shuffled labels where it looks at
        labels: with folds that keep the shares of the true classes only, shuffles would score too
        low and the test would reject too often.
    n_permutations : int, default=200
        Number of shuffles; the smallest p-value is ``1 / (1 + n_permutations)``.
    scoring : str or callable, optional
        The score; the estimator's own by default.
    groups : array of shape (n_samples,), optional
        Shuffle within groups only, such as patients or batches; splitters that keep groups
        together get them as well.
    early_stop : float, optional
        Stop as soon as the interval of the p-value lies wholly on one side of this level (0.05,
        say). Looking often makes that interval a little too short.
    confidence : float, default=0.95
        Confidence of the interval; looking for an early stop uses 0.999.
    n_jobs : int or None, default=None
        Workers, as in joblib; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the shuffles, of the splits, and of an estimator that has none.
    checkpoint : str or path, optional
        A file in which every score is written down as it comes.
    resume : bool, default=False
        Whether to go on from that file, perhaps to more permutations than before.
    verbose : bool or int, default=0
        Whether to show progress.

    Returns
    -------
    PermutationTest
        Ctrl-C keeps the shuffles made so far; a warning says so.

    See Also
    --------
    significance : Whether methods differ from each other.

    References
    ----------
    Ojala, Garriga: Permutation tests for studying classifier performance. Journal of Machine
    Learning Research 11 (2010).

    Phipson, Smyth: Permutation p-values should never be zero. Statistical Applications in Genetics
    and Molecular Biology 9 (2010).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from tamiz.evaluation import permutation_test
    >>> X, y = load_iris(return_X_y=True)
    >>> permutation_test(GaussianNB(), X, y, n_permutations=50, random_state=0)
    <PermutationTest: score 0.953, p = 0.0196 (50 permutations)>
    """
    n_jobs = check_jobs(n_jobs)
    check_estimator(estimator)
    watch = Stopwatch()
    n_permutations = check_count("n_permutations", n_permutations, 1)
    confidence = check_level("confidence", confidence)
    level = None if early_stop is None else check_level("early_stop", early_stop)
    if y is None:
        raise ValueError("y is None; a permutation test needs labels to shuffle.")
    if resume and checkpoint is None:
        raise ValueError("resume=True needs a file to resume from: pass checkpoint=path.")
    table = Table(X, y)
    random = check_random_state(random_state)
    seed = int(random.randint(2**31 - 1))
    if isinstance(scoring, (list, tuple, set, dict)):
        raise ValueError(f"scoring={scoring!r} names several metrics; a test needs one.")
    try:
        scorer, metrics = make_scorer(estimator, scoring)
    except (TypeError, ValueError) as error:
        raise type(error)(f"scoring={scoring!r} cannot be used: {error}") from None
    labels = np.asarray(table.y)
    if len(np.unique(labels)) < 2:
        raise ValueError(f"y holds {labels.tolist()[0]!r} only; there is nothing to shuffle.")
    blocks = _blocks(groups, labels)
    journal = None
    if checkpoint is not None:
        about = _identity(estimator, table, groups, cv, scoring, random_state)
        journal = Journal(checkpoint, about, resume=resume, facts={"seed": seed})
        seed = int(journal.facts["seed"])
    try:
        work = _Work(seeded(clone(estimator), seed), table, cv, groups, seed, scorer)
        known = [] if journal is None else [float(value) for value in journal.records]
        score = known[0] if known else work.score(labels)
        if journal is not None and not known:
            journal.append([score])
        permuted = known[1 : n_permutations + 1]
        begun = len(permuted)
        shuffles = (
            (_shuffled(labels, blocks, np.random.default_rng([seed, k])),)
            for k in range(begun, n_permutations)
        )
        stopped = None
        with Progress("permutation test", verbose) as progress:
            try:
                for value in run_jobs(_Work.score, work, shuffles, n_jobs, work.machine):
                    permuted.append(value)
                    if journal is not None:
                        journal.append([value])
                    progress.update(_progress(len(permuted), begun, n_permutations, watch))
                    if level is not None and _decided(permuted, score, level, n_permutations):
                        side = "above" if _pvalue(permuted, score) > level else "below"
                        stopped = (
                            f"Stopped after {len(permuted)} of {n_permutations} permutations: the "
                            f"p-value is {side} {level:g}."
                        )
                        break
            except KeyboardInterrupt:
                if not permuted:
                    raise
                stopped = f"Interrupted after {len(permuted)} of {n_permutations} permutations."
                warnings.warn(stopped, RuntimeWarning, stacklevel=2)
    finally:
        if journal is not None:
            journal.close()
    scores = np.array(permuted)
    low, high = clopper_pearson(count_as_high(scores, score), len(scores), confidence)
    return PermutationTest(
        score=score,
        permuted=scores,
        pvalue=_pvalue(scores, score),
        interval=(float(low), float(high)),
        confidence=confidence,
        metric=metrics[0],
        stopped=stopped,
        notes={
            "estimator": repr(estimator),
            "n_splits": len(work.splits(labels)),
            "grouped": groups is not None,
        },
    )


def _progress(done: int, begun: int, wanted: int, watch: Stopwatch) -> str:
    left = watch.seconds / max(1, done - begun) * (wanted - done)
    return f"{done} of {wanted} permutations, {left:.0f} s left"


def _identity(
    estimator: Any, table: Table, groups: Any, cv: Any, scoring: Any, random_state: Any
) -> dict[str, str]:
    """Which run this is; the number of permutations is not part of it, so that it can grow."""
    data = (table.X, table.y, *(() if groups is None else (np.asarray(groups),)))
    protocol = {"cv": cv, "scoring": scoring, "test_seed": random_state}
    return {
        **identity(estimator, *data),
        **{name: _said(value) for name, value in protocol.items()},
    }


class _Work:
    """Splits, fits and scores one labelling."""

    def __init__(self, machine: Any, table: Table, cv: Any, groups: Any, seed: int, scorer: Any):
        self.machine, self.table, self.scorer = machine, table, scorer
        # an iterator of splits would be spent after the first labelling
        spent = isinstance(cv, Iterable) and not isinstance(cv, str) and not hasattr(cv, "split")
        self.cv = list(cv) if spent else cv
        self.groups, self.seed = groups, seed

    def splits(self, labels: np.ndarray) -> list[Split]:
        """The same for the same labels, whatever was asked before."""
        cv = copy.deepcopy(self.cv)  # a splitter may hold a generator that moves on
        # those of scikit-learn that have no use for groups warn of them
        own = type(cv).__module__.partition(".")[0] == "sklearn"
        heard = hasattr(cv, "set_split_request") or (hasattr(cv, "split") and not own)
        groups = self.groups if heard else None
        classifier = is_classifier(self.machine)
        return make_splits(cv, self.table.X, labels, classifier, self.seed, groups)

    def score(self, labels: np.ndarray) -> float:
        found = []
        for train, test in self.splits(labels):
            X, machine = self.table.X, clone(self.machine)
            fit_to_the_end(machine, rows_for(machine, X, train, train), labels[train])
            judged = rows_for(machine, X, test, train)
            found.append(float(self.scorer(machine, judged, labels[test])))
        mean = float(np.mean(found))
        if not math.isfinite(mean):
            raise ValueError(
                f"the score is {mean}: a split may hold one class only. Use fewer folds, or "
                "another scoring."
            )
        return mean


def _blocks(groups: Any, labels: np.ndarray) -> list[np.ndarray]:
    """Positions within which labels may change places."""
    if groups is None:
        return [np.arange(len(labels))]
    given = np.asarray(groups)
    if given.shape != labels.shape:
        raise ValueError(f"groups has shape {given.shape}; it needs one for each of the samples.")
    codes = np.unique(given, return_inverse=True)[1]
    blocks = [np.flatnonzero(codes == k) for k in range(codes.max() + 1)]
    if all(len(np.unique(labels[block])) < 2 for block in blocks):
        raise ValueError(
            "groups: the labels are the same within every group, so that shuffling within groups "
            "changes nothing."
        )
    return blocks


def _shuffled(
    labels: np.ndarray, blocks: list[np.ndarray], random: np.random.Generator
) -> np.ndarray:
    shuffled = labels.copy()
    for block in blocks:
        shuffled[block] = labels[random.permutation(block)]
    return shuffled


def _pvalue(permuted: Any, score: float) -> float:
    return (1 + count_as_high(permuted, score)) / (1 + len(permuted))


def _decided(permuted: list[float], score: float, level: float, wanted: int) -> bool:
    """Whether more shuffles would hardly move the p-value across the level."""
    if len(permuted) % _BATCH or len(permuted) == wanted:
        return False
    low, high = clopper_pearson(count_as_high(permuted, score), len(permuted), 0.999)
    return not low <= level <= high
