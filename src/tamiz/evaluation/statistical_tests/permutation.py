"""Has a method learnt anything? Its score beside those that it gets when the labels are shuffled.

Everything that saw the labels is done anew with every shuffle: a selector that is a step of the
pipeline selects among the shuffled labels, too. What was selected before, on all samples, cannot be
made good for here: the test then says that noise is signal.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from tamiz.base import Stopwatch, json_ready
from tamiz.display import PALETTE, TableResult, axes, between, frames, pvalue_text
from tamiz.evaluation.inference import Interval, clopper_pearson
from tamiz.routing import Routes, routes_of_function
from tamiz.runtime.checkpoint import Journal, identity, stable_text
from tamiz.runtime.progress import Progress
from tamiz.search.base import seeded
from tamiz.search.judges import fit_arguments, last_step, make_scorer
from tamiz.search.resampling import (
    ResampledTable,
    fit_to_the_end,
    label_blocks,
    rows_for,
    run_jobs,
    shuffle_within,
)
from tamiz.search.splits import Split, dividing, make_splits, splitting
from tamiz.validation import (
    check_groups,
    check_level,
    check_resume,
    check_sample_weight,
    checked,
    fittable,
    integer_from,
    number_of_jobs,
    one_metric,
    optional,
)

if TYPE_CHECKING:
    import pandas as pd


_BATCH = 10  # early stopping looks after so many permutations, whatever the number of workers


@checked(
    n_jobs=number_of_jobs,
    estimator=fittable,
    cv=dividing,
    scoring=one_metric("a test needs one"),
    n_permutations=integer_from(1),
    confidence=check_level,
    early_stop=optional(check_level),
)
def permutation_test(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    n_permutations: int = 200,
    scoring: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    params: Mapping[str, Any] | None = None,
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
        labels: with folds that keep the proportions of the true classes only, shuffles would score
        too low and the test would reject too often.
    n_permutations : int, default=200
        Number of shuffles; the smallest p-value is ``1 / (1 + n_permutations)``.
    scoring : str or callable, optional
        The score; the estimator's own by default.
    groups : array of shape (n_samples,), optional
        Shuffle within groups only, such as patients or batches. A number of folds keeps groups
        together, as do splitters that look at groups. To divide the samples of a group, as among
        a few batches, pass a splitter that does not, such as ``StratifiedKFold(5)``.
    sample_weight : array of shape (n_samples,), optional
        Weights, in fits and scores. They stay with the rows of ``X`` when labels are shuffled.
    params : dict, optional
        Metadata of other names for the estimator, the metric or the splitter, if they ask for them,
        with scikit-learn's metadata routing; they stay with the rows, too.
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
    if y is None:
        raise ValueError("y is None; a permutation test needs labels to shuffle.")
    check_resume(resume, checkpoint)
    table = ResampledTable(X, y)
    groups = None if groups is None else check_groups(groups, table.n)
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    scorer, metrics = _scorer(estimator, scoring)
    labels = np.asarray(table.y)
    if len(np.unique(labels)) < 2:
        raise ValueError(f"y holds {labels.tolist()[0]!r} only; there is nothing to shuffle.")
    blocks = label_blocks(groups, labels)
    weight = None if sample_weight is None else check_sample_weight(sample_weight, table.n)
    beside = _Beside(estimator, scorer, cv, table.n, params, weight, groups)
    journal = None
    if checkpoint is not None:
        about = _identity(estimator, table, beside, cv, scoring, random_state)
        journal = Journal(checkpoint, about, resume=resume, facts={"seed": seed})
        seed = int(journal.facts["seed"])
    work = _Work(seeded(clone(estimator), seed), table, cv, beside, seed, scorer)
    run = _Shuffles(work, blocks, n_permutations, early_stop, journal)
    try:
        run.all(n_jobs, verbose)
    finally:
        if journal is not None:
            journal.close()
    scores, score = np.array(run.permuted), run.score
    low, high = clopper_pearson(count_as_high(scores, score), len(scores), confidence)
    return PermutationTest(
        score=score,
        permuted=scores,
        pvalue=_pvalue(scores, score),
        interval=(float(low), float(high)),
        confidence=confidence,
        metric=metrics[0],
        stopped=run.stopped,
        notes={
            "estimator": repr(estimator),
            "n_splits": len(work.splits(labels)),
            "grouped": groups is not None,
        },
    )


def _scorer(estimator: Any, scoring: Any) -> tuple[Any, tuple[str, ...]]:
    try:
        return make_scorer(estimator, scoring)
    except (TypeError, ValueError) as error:
        raise type(error)(f"scoring={scoring!r} cannot be used: {error}") from None


@dataclass
class _Shuffles:
    """The shuffles: those that a journal holds, and those to make."""

    work: _Work
    blocks: list[np.ndarray]
    wanted: int
    level: float | None  # of an early stop
    journal: Journal | None
    score: float = math.nan
    permuted: list[float] = field(default_factory=list)
    stopped: str | None = None

    def all(self, n_jobs: int | None, verbose: bool | int) -> None:
        """Score the labels and all shuffles, or as many as an early stop and Ctrl-C allow."""
        watch = Stopwatch()
        labels = np.asarray(self.work.table.y)
        known = [] if self.journal is None else [float(value) for value in self.journal.records]
        self.score = known[0] if known else self.work.score(labels)
        if not known:
            self._note(self.score)
        self.permuted = known[1 : self.wanted + 1]
        begun = len(self.permuted)
        shuffles = (
            (shuffle_within(self.blocks, labels, np.random.default_rng([self.work.seed, k])),)
            for k in range(begun, self.wanted)
        )
        with Progress("permutation test", verbose, most=self.wanted) as progress:
            try:
                for value in run_jobs(_Work.score, self.work, shuffles, n_jobs, self.work.machine):
                    self.permuted.append(value)
                    self._note(value)
                    done = len(self.permuted)
                    left = watch.seconds / max(1, done - begun) * (self.wanted - done)
                    progress.update(f"{done} of {self.wanted} permutations, {left:.0f} s left")
                    if self._is_decided():
                        break
            except KeyboardInterrupt:
                if not self.permuted:
                    raise
                done = len(self.permuted)
                self.stopped = f"Interrupted after {done} of {self.wanted} permutations."
                warnings.warn(self.stopped, RuntimeWarning, stacklevel=4)

    def _note(self, value: float) -> None:
        if self.journal is not None:
            self.journal.append([value])

    def _is_decided(self) -> bool:
        """Whether more shuffles would hardly move the p-value across the level."""
        done = len(self.permuted)
        if self.level is None or done % _BATCH or done == self.wanted:
            return False
        low, high = clopper_pearson(count_as_high(self.permuted, self.score), done, 0.999)
        if low <= self.level <= high:
            return False
        side = "above" if _pvalue(self.permuted, self.score) > self.level else "below"
        self.stopped = (
            f"Stopped after {done} of {self.wanted} permutations: the p-value is {side} "
            f"{self.level:g}."
        )
        return True


def _identity(
    estimator: Any, table: ResampledTable, beside: _Beside, cv: Any, scoring: Any, random_state: Any
) -> dict[str, str]:
    """Which run this is; the number of permutations is not part of it, so that it can grow."""
    data = (table.X, table.y, *beside.arrays())
    protocol = {"cv": cv, "scoring": scoring, "test_seed": random_state}
    return {
        **identity(estimator, *data),
        **{name: stable_text(value) for name, value in protocol.items()},
    }


class _Beside:
    """What goes with the rows besides X and y, and who gets it."""

    def __init__(
        self,
        estimator: Any,
        scorer: Any,
        cv: Any,
        n_samples: int,
        params: Mapping[str, Any] | None,
        weight: np.ndarray | None,
        groups: Any,
    ):
        children = {
            "estimator": (estimator, "fit"),
            "scorer": (scorer, "score"),
            "splitter": (cv, "split"),
        }
        own = {"sample_weight": weight, "groups": groups}
        self.routes: Routes | None = routes_of_function(
            "permutation_test", children, n_samples, params, **own
        )
        self.weight, self.groups = weight, groups
        if weight is None or self.routes is not None:
            return
        last = last_step(estimator)
        if not has_fit_parameter(last, "sample_weight"):
            raise ValueError(
                f"sample_weight was given, but {type(last).__name__} takes no sample weights; "
                "leave sample_weight out."
            )

    def arrays(self) -> list[np.ndarray]:
        """All of it, to tell whether that of another run is the same."""
        own = [np.asarray(one) for one in (self.groups, self.weight) if one is not None]
        return own if self.routes is None else [*own, *self.routes.arrays()]

    def of_fit(self, machine: Any, rows: np.ndarray) -> dict[str, Any]:
        """What the machine gets with these rows."""
        if self.routes is not None:
            return self.routes.part("estimator", rows)
        return fit_arguments(machine, None if self.weight is None else self.weight[rows])

    def of_score(self, rows: np.ndarray) -> dict[str, Any]:
        """What the metric gets with these rows."""
        if self.routes is not None:
            return self.routes.part("scorer", rows)
        return {} if self.weight is None else {"sample_weight": self.weight[rows]}


class _Work:
    """Splits, fits and scores one labelling."""

    def __init__(
        self, machine: Any, table: ResampledTable, cv: Any, beside: _Beside, seed: int, scorer: Any
    ):
        self.machine, self.table, self.scorer = machine, table, scorer
        # an iterator of splits would be spent after the first labelling
        spent = isinstance(cv, Iterable) and not isinstance(cv, str) and not hasattr(cv, "split")
        self.cv = list(cv) if spent else cv
        self.beside, self.groups, self.seed = beside, beside.groups, seed

    def splits(self, labels: np.ndarray) -> list[Split]:
        """The same for the same labels, whatever was asked before."""
        cv = copy.deepcopy(self.cv)  # a splitter may hold a generator that moves on
        # those of scikit-learn that have no use for groups warn of them
        own = type(cv).__module__.partition(".")[0] == "sklearn"
        heard = hasattr(cv, "set_split_request") or (hasattr(cv, "split") and not own)
        groups = self.groups if heard or isinstance(cv, int) else None
        classifier = is_classifier(self.machine)
        if isinstance(cv, int) and groups is not None and len(np.unique(groups)) < cv:
            kind = "Stratified" * classifier + f"KFold({cv})"
            raise ValueError(
                f"cv={cv} folds keep groups together and need {cv} groups; there are "
                f"{len(np.unique(groups))}. Use fewer folds, or cv={kind} to divide groups."
            )
        asked = splitting(cv, groups, self.beside.routes)
        return make_splits(cv, self.table.X, labels, classifier, self.seed, warn=False, **asked)

    def score(self, labels: np.ndarray) -> float:
        found = []
        for train, test in self.splits(labels):
            X, machine = self.table.X, clone(self.machine)
            arguments = self.beside.of_fit(machine, train)
            fit_to_the_end(machine, rows_for(machine, X, train, train), labels[train], **arguments)
            judged = rows_for(machine, X, test, train)
            asked = self.beside.of_score(test)
            found.append(float(self.scorer(machine, judged, labels[test], **asked)))
        mean = float(np.mean(found))
        if not math.isfinite(mean):
            raise ValueError(
                f"the score is {mean}: a split may hold one class only. Use fewer folds, or "
                "another scoring."
            )
        return mean


def _pvalue(permuted: Any, score: float) -> float:
    return (1 + count_as_high(permuted, score)) / (1 + len(permuted))


@dataclass(repr=False)
class PermutationTest(TableResult):
    """The score of a method beside those under shuffled labels.

    Attributes
    ----------
    score : float
        Mean score over the splits with the labels as they are; higher is better.
    permuted : array of shape (n_permutations,)
        Mean scores with shuffled labels.
    pvalue : float
        ``(1 + count) / (1 + n)`` with the number of shuffles that score as high or higher. The one
        is for the labels as they are, which are a permutation, too; without it the test would
        reject too often.
    interval : tuple of float
        Where the p-value of all permutations lies: the exact interval of the fraction of shuffles
        that score as high.
    confidence : float
        Confidence of the interval.
    metric : str
        Name of the score.
    stopped : str or None
        Why fewer shuffles were made than asked for.
    notes : dict
        The estimator and the number of splits.
    """

    score: float
    permuted: np.ndarray
    pvalue: float
    interval: Interval
    confidence: float
    metric: str = "score"
    stopped: str | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def n_permutations(self) -> int:
        """Number of shuffles made."""
        return len(self.permuted)

    @property
    def n_as_high(self) -> int:
        """Number of shuffles that score as high as the labels, or higher."""
        return count_as_high(self.permuted, self.score)

    def __repr__(self) -> str:
        return (
            f"<PermutationTest: {self.metric} {self.score:.3f}, p = {pvalue_text(self.pvalue)} "
            f"({self.n_permutations} permutations)>"
        )

    def __str__(self) -> str:
        low, middle, high = np.quantile(self.permuted, [0.025, 0.5, 0.975])
        lines = [
            f"{self.metric} with the labels as they are   {self.score:.4f}",
            f"{self.metric} with labels shuffled          {middle:.4f} (median; 95 % between "
            f"{low:.4f} and {high:.4f})",
            f"as high in {self.n_as_high} of {self.n_permutations} shuffles: "
            f"p = {pvalue_text(self.pvalue)} ({100 * self.confidence:g} % interval "
            f"{between(self.interval, 4)})",
        ]
        return "\n".join(lines + ([self.stopped] if self.stopped else []))

    def to_frame(self) -> pd.DataFrame:
        """The scores with shuffled labels, one row each."""
        return frames().DataFrame({self.metric: self.permuted})

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, fit for JSON."""
        counts = {"n_permutations": self.n_permutations, "n_as_high": self.n_as_high}
        return json_ready({**vars(self), **counts})

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores with shuffled labels as a histogram, and the score of the labels.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        ax = axes(ax, height=3.8)
        different = len(np.unique(self.permuted))
        bins = max(1, min(30, different, math.isqrt(self.n_permutations) + 5))
        label = f"{self.n_permutations} shuffles"
        ax.hist(self.permuted, bins=bins, color="0.75", edgecolor="white", label=label)
        middle = float(np.median(self.permuted))
        top = 0.8  # the legend stands above the lines
        ax.axvline(middle, ymax=top, color="0.35", ls="--", lw=1, label=f"median {middle:.3f}")
        label = f"labels as they are {self.score:.3f}"
        ax.axvline(self.score, ymax=top, color=PALETTE[1], lw=2, label=label)
        ax.set(xlabel=self.metric.replace("_", " "), ylabel="shuffles")
        ax.set_title(f"p = {pvalue_text(self.pvalue)} ({between(self.interval, 3)})", size="medium")
        ax.margins(x=0.08)
        low, high = ax.get_ylim()
        ax.set_ylim(low, 1.3 * high)
        ax.legend(
            fontsize="small",
            ncols=3,
            loc="upper center",
            frameon=False,
            columnspacing=1.2,
            handlelength=1.6,
        )
        return ax


def count_as_high(permuted: Any, score: float) -> int:
    """How many are as high, sums of equal numbers in another order taken as equal."""
    slack = 1e-12 * max(1.0, abs(score))
    return int((np.asarray(permuted) >= score - slack).sum())
