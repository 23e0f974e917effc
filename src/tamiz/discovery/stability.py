r"""Stability selection: features that a selector takes in most halves of the samples.

A selector is fitted to ``2B`` halves of the samples, drawn as ``B`` pairs of disjoint ones (Shah
and Samworth, 2013), and takes ``q`` of ``p`` features in each. Feature ``j`` is kept if it was
selected in a fraction ``Π(j) ≥ τ`` of the halves. :mod:`tamiz.discovery.bounds` says how many
features are kept by mistake, at most and on average; here the bound is turned around: ``q``, or
``τ``, follows from the error that is asked for.

What a half gives is, for each feature, the size of the selection with which it comes in: its rank
if the selector ranks, else the size of the selection that holds it. All features with sizes up to
``q`` are the selection of ``q``, so that one fit gives the frequencies for every size up to ``q``.
Along a penalty the size is that of the union of all selections so far.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from itertools import takewhile
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tamiz.base import Selector, Stopwatch, order_by
from tamiz.discovery.bounds import (
    ASSUMPTIONS,
    bound_at,
    count_for_fdr,
    count_of,
    largest_q,
    largest_size,
    least_count,
    least_rate,
    size_for_fdr,
    sizes_up_to,
)
from tamiz.display import PALETTE, axes, colours, frames
from tamiz.filters import PearsonScore
from tamiz.routing import (
    Routes,
    declines,
    refuse_unknown,
    refuse_unrequested,
    router_of,
    routes_to,
    routing_enabled,
)
from tamiz.runtime.checkpoint import Journal, open_journal
from tamiz.runtime.progress import Progress
from tamiz.search.base import seeded, takes_missing
from tamiz.search.judges import (
    array_will_do,
    fingerprint,
    names_columns,
    part_of,
    tells_columns,
)
from tamiz.search.resampling import (
    Halves,
    ResampledTable,
    continues,
    fit_to_the_end,
    group_arguments,
    made_to_continue,
    mask_and_names,
    run_jobs,
    selecting_step,
)
from tamiz.search.splits import structure_of
from tamiz.validation import (
    N_JOBS,
    as_vector,
    check_frame,
    check_resume,
    check_sample_weight,
    check_X,
    checked,
    depth_of_caller,
    fittable,
    integer_from,
    refuse_no_jobs,
    refused,
    unchanged_on_error,
)

if TYPE_CHECKING:
    import pandas as pd

#: Names of the parameter that says how many features to select, the first that there is.
_SIZE = ("n_features_to_select", "k", "max_features")
_USUAL = 0.75  # the threshold where nothing says more


class StabilitySelection(MetaEstimatorMixin, Selector):
    """Select what a selector takes in most halves of the samples, with a bound on the mistakes.

    The bound is on the expected number of features kept whose probability of being selected in a
    half is at most q/p, that of a draw at random: features that the selector has no reason to
    select. That these are the irrelevant ones is an assumption: it holds if the irrelevant features
    are exchangeable and the selector is no worse than a draw at random (Meinshausen and Bühlmann),
    and fails for an irrelevant feature that is correlated with a relevant one.

    Parameters
    ----------
    selector : selector or pipeline, optional
        Any selector of tamiz or scikit-learn, or a pipeline with one;
        :class:`~tamiz.filters.PearsonScore`, which takes classes and numbers, by default. Its
        number of features (``n_features_to_select``, ``k`` or ``max_features``) is set to q. It
        gets the columns in another order in every half, so that features of equal score are taken
        at random, unless a parameter may name columns by position.
    pfer : float, optional
        Asks for a bound of the expected number of features that are selected by mistake (the
        per-family error rate). It is also a bound of the probability that there is any, and of the
        false discovery rate. 1 if neither this nor ``fdr`` is given.
    fdr : float, optional
        Asks for the size q and the threshold that select most features while the bound, divided by
        the number of features selected, is at most this. Both look at the data, so that this is an
        estimate of the false discovery rate and no proven bound of it; ``pfer=0.1`` is one, for a
        rate of 0.1.
    threshold : float in (0.5, 1] or "auto", default="auto"
        Fraction of the halves in which a feature must be selected. By default 0.75, or the least
        that keeps ``pfer`` if q is given; with ``fdr`` it cannot be given.
    n_features_per_subsample : int, "auto" or "own", default="auto"
        Number q of features that are selected in each half. By default the largest that keeps
        ``pfer`` at the threshold, at most half of the features; with ``fdr`` any up to the
        square root of 8 p, as far as the selector ranks. With "own", and for selectors without a
        parameter for it, the selector decides: q is then the mean number selected, which is known
        only afterwards and makes the bound an estimate.
    n_subsamples : int, default=100
        Number of halves; an odd number is rounded up.
    assumption : {"unimodal", "r-concave", "none"}, default="unimodal"
        What the bound assumes of the distribution of the frequencies: see
        :func:`stability_bound`. Fewer assumptions give larger bounds, hence fewer features. With
        "r-concave" the bound is nearly reached on pure noise, and at low thresholds not kept.
    penalty : dict of one parameter, optional
        Selects along a path instead of by number: ``{"C": [0.01, 0.1, 1.0]}`` are values of a
        parameter of the selector from the one that selects fewest features to the one that selects
        most. A half selects the union along the path, as far as that has at most q features. Of
        linear machines (:class:`tamiz.svm.LinearMachine`, ``LogisticRegression``, ``Lasso``,
        ``ElasticNet``, alone or in a selector) each fit begins where the one before it ended.
    random_state : int, RandomState or None, default=None
        Seed of the halves, and of a selector that has none.
    n_jobs : int or None, default=None
        Workers, as in joblib; the result does not depend on it.
    checkpoint : str or path, optional
        A file in which the selection of every half is written down as it comes.
    resume : bool, default=False
        Whether to go on from that file, perhaps to more subsamples than before.
    verbose : bool or int, default=0
        Whether to show progress.

    Attributes
    ----------
    frequencies_ : array of shape (n_features,)
        Fraction of the halves in which each feature is selected; also ``scores_``.
    simultaneous_ : array of shape (n_features,)
        Fraction of the pairs in which both halves select it.
    threshold_ : float
        The threshold; infinite if ``fdr`` is given and no threshold reaches it.
    bound_ : float
        Bound of the expected number of features selected by mistake.
    q_ : float
        Number of features selected in each half.
    n_pairs_ : int
        Number of pairs of halves, fewer than asked for after Ctrl-C.
    entry_sizes_ : array of shape (2 n_pairs, n_features)
        Size of the selection with which a feature comes in, in each half; 0 if it does not. Rows
        2b and 2b + 1 are a pair.
    status_ : {"finished", "interrupted"}
        Whether all halves were used.
    message_ : str
        If nothing is selected, why; else empty.
    support_, ranking_, order_, scores_, selection_, n_features_in_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    tamiz.evaluation.stability_of : How much selections agree, without a bound.
    stability_bound : The bound itself.

    References
    ----------
    .. [1] N. Meinshausen, P. Bühlmann (2010). Stability selection. Journal of the Royal Statistical
           Society B 72.
    .. [2] R. D. Shah, R. J. Samworth (2013). Variable selection with error control: another look at
           stability selection. Journal of the Royal Statistical Society B 75.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.discovery import StabilitySelection
    >>> from tamiz.filters import FisherScore
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(100, 50))
    >>> y = X[:, 3] + X[:, 7] + random.normal(size=100) > 0
    >>> found = StabilitySelection(FisherScore(), pfer=0.5, random_state=0).fit(X, y)
    >>> found.get_support(indices=True).tolist(), found.q_, round(found.bound_, 2)
    ([3, 7], 4, 0.33)
    """

    divides_samples = True

    _parameter_constraints: dict[str, list[Any]] = {
        "selector": [None, object],
        "pfer": [None, Interval(Real, 0, None, closed="neither")],
        "fdr": [None, Interval(Real, 0, 1, closed="neither")],
        "threshold": [StrOptions({"auto"}), Interval(Real, 0.5, 1, closed="right")],
        "n_features_per_subsample": [
            StrOptions({"auto", "own"}),
            Interval(Integral, 1, None, closed="left"),
        ],
        "n_subsamples": [Interval(Integral, 2, None, closed="left")],
        "assumption": [StrOptions(set(ASSUMPTIONS))],
        "penalty": [None, dict],
        "random_state": ["random_state"],
        "n_jobs": N_JOBS,
        "checkpoint": [None, str, HasMethods(["__fspath__"])],
        "resume": ["boolean"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        selector: Any = None,
        *,
        pfer: float | None = None,
        fdr: float | None = None,
        threshold: float | str = "auto",
        n_features_per_subsample: int | str = "auto",
        n_subsamples: int = 100,
        assumption: str = "unimodal",
        penalty: Mapping[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        resume: bool = False,
        verbose: bool | int = 0,
    ):
        self.selector = selector
        self.pfer = pfer
        self.fdr = fdr
        self.threshold = threshold
        self.n_features_per_subsample = n_features_per_subsample
        self.n_subsamples = n_subsamples
        self.assumption = assumption
        self.penalty = penalty
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.resume = resume
        self.verbose = verbose

    @property
    def _base(self) -> Any:
        return PearsonScore() if self.selector is None else self.selector

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        times: Any = None,
        **metadata: Any,
    ) -> Any:
        """Select in halves of the samples, and keep what is selected in most of them.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (n_samples, n_features)
            Data, as the selector takes it.
        y : array of shape (n_samples,), optional
            Labels or numbers. Classes keep their proportions in every half.
        sample_weight : array of shape (n_samples,), optional
            Passed on to the selector, the part of each half to its fit. Samples of weight zero are
            in no half.
        groups : array of shape (n_samples,), optional
            Samples of one group, such as those of a patient, are in the same half, and in the same
            part of what the selector divides.
        times : array of shape (n_samples,), optional
            Numbers or dates, in place of ``groups``: the samples are cut into 20 blocks of
            neighbours in time, and those of a block are in the same half. A selector whose fit
            takes times, as that of :class:`tamiz.HoldOutSVM`, gets them. ``bound_`` assumes blocks
            that do not depend on each other, of which a warning reminds: in a series that drifts
            for longer than a block, more features may be kept by mistake.
        **metadata : dict
            What else the selector asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self
            Ctrl-C keeps the pairs of halves that are complete, if there are two or more; the bound
            is that of those, and a warning says so.
        """
        refuse_unknown("fit", metadata)
        given = {"sample_weight": sample_weight, "groups": groups, **metadata}
        refuse_unrequested(self, **given)
        with unchanged_on_error(self):
            self._fit(X, y, times, given)
        return self

    def get_metadata_routing(self) -> Any:
        """Who gets what is passed to ``fit``: the selector.

        Returns
        -------
        routing : MetadataRouter
        """
        return router_of(self, selector=(self._base, "fit"))

    def _fit(self, X: Any, y: Any, times: Any, given: dict[str, Any]) -> None:
        watch = Stopwatch()
        self._validate_params()
        refuse_no_jobs(self.n_jobs)
        check_resume(self.resume, self.checkpoint)
        fittable("selector", self._base)
        table = self._check_data(X, y)
        given["times"], given["groups"] = structure_of(given["groups"], times, table.n)
        if times is not None:
            warnings.warn(
                "with times= the bound on mistakes assumes that blocks of neighbours in time (a "
                "twentieth of the samples each) do not depend on each other; where features and "
                "target drift for longer, more features than bound_ may be kept by mistake.",
                UserWarning,
                stacklevel=depth_of_caller(),
            )
        if given["sample_weight"] is not None:
            given["sample_weight"] = check_sample_weight(given["sample_weight"], table.n)
        table, given = self._weighed(table, given)
        groups, plan = given["groups"], self._plan(table.n_features)
        halves = Halves(table, groups)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        journal = self._journal(table, given, plan, seed)
        try:
            seed = seed if journal is None else int(journal.facts["seed"])
            machine = seeded(clone(plan.selector), seed)
            routes = self._routes(table.n, given)
            work = _HalfFits(machine, table, plan.values, plan.q, routes)
            entries = self._run(work, halves, seed, plan.n_pairs, journal)
        finally:
            if journal is not None:
                journal.close()
        self._conclude(entries, plan, watch)

    def _check_data(self, X: Any, y: Any) -> ResampledTable:
        frame = check_frame(self, X, reset=True, min_samples=4)
        # an array is divided sooner, where nobody can tell the difference
        if frame is None or array_will_do(self._base, frame):
            X = check_X(
                self,
                X,
                reset=True,
                accept_sparse=get_tags(self._base).input_tags.sparse,
                allow_nan=takes_missing(self._base),
                min_samples=4,
            )
        if y is None and get_tags(selecting_step(self._base)).target_tags.required:
            as_vector(y)
        return ResampledTable(X, y)

    def _weighed(
        self, table: ResampledTable, given: dict[str, Any]
    ) -> tuple[ResampledTable, dict[str, Any]]:
        """Without the samples of weight zero, where the selector gets the weights."""
        weight = given["sample_weight"]
        if weight is None or declines(self._base, "fit", "sample_weight") or weight.all():
            return table, given
        rows = np.flatnonzero(weight)
        if len(rows) < 4:
            raise ValueError(
                f"sample_weight is positive for {len(rows)} samples; two halves need at least 4."
            )
        kept = Routes({"all": given}, table.n).part("all", rows)
        if given["times"] is not None:  # the others have no part in where blocks end
            kept["times"], kept["groups"] = structure_of(None, given["times"], table.n, rows)
        return ResampledTable(*table.part(rows)), kept

    def _routes(self, n: int, given: dict[str, Any]) -> Routes:
        """What the selector gets of the metadata."""
        groups, times = given["groups"], given["times"]
        rest = {name: value for name, value in given.items() if name != "times"}
        asked = group_arguments(self._base, groups, times)
        if routing_enabled() and "times" in asked:  # in place of the blocks
            rest["groups"] = None
        found = routes_to(self, "selector", self._base, n, rest)
        if groups is None or (routing_enabled() and "times" not in asked):
            return found
        return Routes({"selector": {**found.part("selector"), **asked}}, n)

    def _plan(self, p: int) -> _HalfPlan:
        """The selector with its number of features, q and the threshold, as far as known now."""
        prefix, step = _place(self._base)
        _refuse_new_columns(self._base, step)
        if self.pfer is not None and self.fdr is not None:
            raise ValueError(
                f"pfer={self.pfer} and fdr={self.fdr} ask for two things; leave one of them out."
            )
        if self.fdr is not None and self.threshold != "auto":
            raise ValueError(
                f"fdr={self.fdr} chooses the threshold; leave threshold={self.threshold} out, or "
                "ask for a pfer."
            )
        n_pairs = (int(self.n_subsamples) + 1) // 2
        selector, values = clone(self._base), _path(self.penalty, self._base)
        size = next((name for name in _SIZE if name in step.get_params(deep=False)), None)
        own = self.n_features_per_subsample
        if own == "own" or (own == "auto" and size is None and not values):
            return _HalfPlan(selector, values, None, self._given_count(n_pairs), n_pairs)
        if size is None and not values:
            raise ValueError(
                f"n_features_per_subsample={own}, but {type(step).__name__} has no parameter for "
                "the number of features; use 'own', penalty=, or another selector."
            )
        q, count = self._size_and_count(p, n_pairs)
        if not values:
            selector.set_params(**{f"{prefix}{size}": q})
        return _HalfPlan(selector, values, q, count, n_pairs)

    def _given_count(self, n_pairs: int) -> int | None:
        return None if self.threshold == "auto" else count_of(float(self.threshold), n_pairs)

    def _size_and_count(self, p: int, n_pairs: int) -> tuple[int, int | None]:
        """q, and the number of halves in which a feature must be selected (None with ``fdr``)."""
        given, fixed = self.n_features_per_subsample, self._given_count(n_pairs)
        q = None if given == "auto" else int(given)
        if q is not None and q > p:
            raise ValueError(f"n_features_per_subsample={q}, but X has {p} features.")
        if self.fdr is not None:
            return (largest_size(p) if q is None else q), None
        if q is not None:
            return q, self._count(q, p, n_pairs)
        usual = count_of(_USUAL, n_pairs)
        for count in range(usual, 2 * n_pairs + 1) if fixed is None else (fixed,):
            q = largest_q(self._pfer, p, count, n_pairs, self.assumption)
            if q is not None:
                return q, count
        raise self._cannot(p, n_pairs, q, fixed)

    def _count(self, q: float, p: int, n_pairs: int, when: str = "") -> int:
        """The least number of halves that keeps ``pfer`` with this q.

        If nothing was asked for, a threshold that was given is kept, and the bound says the rest.
        """
        fixed = self._given_count(n_pairs)
        found = least_count(self._pfer, q, p, n_pairs, self.assumption, fixed or n_pairs + 1)
        if found is not None and fixed in (None, found):
            return found
        if self.pfer is not None:
            raise self._cannot(p, n_pairs, q, fixed, when)
        return fixed or 2 * n_pairs

    @property
    def _pfer(self) -> float:
        return 1.0 if self.pfer is None else float(self.pfer)

    def _cannot(
        self, p: int, n_pairs: int, q: float | None, count: int | None, when: str = ""
    ) -> ValueError:
        """What was asked for cannot be had; the sentence says what can."""
        asked = [] if q is None else [_per_subsample(q)]
        asked += [] if count is None else [f"threshold={self.threshold:g}"]
        what = f"pfer={self._pfer:g}{' with ' * bool(asked)}{' and '.join(asked)}"
        ways = list(self._ways(p, n_pairs, 1 if q is None else q, count))
        return ValueError(
            f"{what} cannot be had among {p} features by {2 * n_pairs} subsamples and the "
            f"assumption {self.assumption!r}{when}. Possible: {', or '.join(ways)}."
        )

    def _ways(self, p: int, n_pairs: int, q: float, count: int | None) -> Iterator[str]:
        """What can be had instead: each changes one thing, the last one two."""
        pfer, assumption = self._pfer, self.assumption
        top = 2 * n_pairs if count is None else count
        best = bound_at(q, p, top, n_pairs, assumption)
        if best < p:
            yield f"pfer={_rounded_up(best):g}"
        fewer = largest_q(pfer, p, top, n_pairs, assumption)
        if fewer is not None:
            yield _per_subsample(fewer)
        higher = least_count(pfer, q, p, n_pairs, assumption, top)
        if higher is not None:
            yield f"threshold={_rounded_up(higher / (2 * n_pairs)):g}"
        if assumption != "r-concave" and bound_at(q, p, top, n_pairs, "r-concave") <= pfer:
            yield "assumption='r-concave'"
        for more in (50, 100, 200):
            reached = 2 * more if count is None else count_of(float(self.threshold), more)
            if more > n_pairs and bound_at(q, p, reached, more, assumption) <= pfer:
                yield f"n_subsamples={2 * more}"
                break
        fewer = largest_q(pfer, p, 2 * n_pairs, n_pairs, assumption)
        if count is not None and fewer is not None:
            yield f"threshold=1.0 with {_per_subsample(fewer)}"

    def _journal(
        self, table: ResampledTable, given: dict[str, Any], plan: _HalfPlan, seed: int
    ) -> Journal | None:
        """The file of the halves; what only says how to read them does not belong to the run."""
        if self.checkpoint is None:
            return None
        groups, weight = given["groups"], given["sample_weight"]
        others = [value for name, value in given.items() if name not in ("groups", "sample_weight")]
        data = [part for part in (table.y, groups, weight, *others) if part is not None]
        readings = ("pfer", "fdr", "threshold", "assumption", "n_subsamples")
        return open_journal(
            self,
            seed,
            *fingerprint(table.X),
            *map(np.asarray, data),
            leave_out=(*readings, "n_features_per_subsample"),
            q=str(plan.q),
        )

    def _run(
        self, work: _HalfFits, halves: Halves, seed: int, n_pairs: int, journal: Journal | None
    ) -> np.ndarray:
        """Sizes with which features come in, of all halves or of as many as Ctrl-C allows."""
        known = [] if journal is None else journal.records[: 2 * n_pairs]
        entries = [_unpacked(record, work.table.n_features) for record in known]
        jobs = (
            (halves.pair(seed, k // 2)[k % 2], (seed, k // 2, k % 2))
            for k in range(len(known), 2 * n_pairs)
        )
        self.status_ = "finished"
        with Progress("stability selection", self.verbose, most=2 * n_pairs) as progress:
            try:
                for found in run_jobs(_HalfFits.select, work, jobs, self.n_jobs, work.machine):
                    entries.append(found)
                    if journal is not None:
                        journal.append([_packed(found)])
                    progress.update(f"{len(entries)} of {2 * n_pairs} subsamples")
            except KeyboardInterrupt:
                if len(entries) < 4:
                    raise
                self.status_ = "interrupted"
                warnings.warn(
                    f"StabilitySelection was stopped after {len(entries)} of {2 * n_pairs} "
                    "subsamples; the result is based on their complete pairs.",
                    RuntimeWarning,
                    stacklevel=depth_of_caller(),
                )
        return np.array(entries[: len(entries) // 2 * 2])

    # ------------------------------------------------------------------ what follows

    def _conclude(self, entries: np.ndarray, plan: _HalfPlan, watch: Stopwatch) -> None:
        n_pairs, p = len(entries) // 2, entries.shape[1]
        limit = p if plan.q is None else plan.q
        sizes: list[int] = []
        if self.fdr is not None and plan.q is not None:
            given = self.n_features_per_subsample != "auto"
            sizes = [plan.q] if given else sizes_up_to(plan.q)
            chosen = size_for_fdr(entries, sizes, self.fdr, self.assumption)
            limit, count = (plan.q, 2 * n_pairs + 1) if chosen is None else chosen
        inside = (entries > 0) & (entries <= limit)
        counts = inside.sum(axis=0)
        q = float(inside.sum(axis=1).mean()) if plan.q is None else limit
        bounded = max(q, 1e-9)  # if nothing is ever selected, nothing is by mistake
        if self.fdr is None or plan.q is None:
            count = self._decide(counts, bounded, plan, n_pairs)
        self.entry_sizes_, self.q_, self.n_pairs_ = entries.astype(np.int32), q, n_pairs
        self.frequencies_ = counts / (2 * n_pairs)
        self.simultaneous_ = (inside[0::2] & inside[1::2]).mean(axis=0)
        self.threshold_ = count / (2 * n_pairs) if count <= 2 * n_pairs else math.inf
        self.bound_ = bound_at(bounded, p, count, n_pairs, self.assumption)
        typical = np.where(inside, entries, limit + 1).mean(axis=0)
        support = counts >= count
        self.message_ = "" if support.any() else self._why_nothing(plan, sizes)
        notes = {
            "threshold": self.threshold_,
            "bound": self.bound_,
            "q": q,
            "n_pairs": n_pairs,
            "assumption": self.assumption,
            "status": self.status_,
        }
        self._finish(
            order=order_by(self.frequencies_, -typical),
            support=support,
            scores=self.frequencies_,
            seconds=watch.seconds,
            notes=notes | ({"message": self.message_} if self.message_ else {}),
        )
        if self.message_:
            warnings.warn(self.message_, UserWarning, stacklevel=depth_of_caller())

    def _why_nothing(self, plan: _HalfPlan, sizes: list[int]) -> str:
        entries, most = self.entry_sizes_, float(self.frequencies_.max())
        if not entries.any():
            return "StabilitySelection: no feature was selected in any subsample."
        if plan.values and most == 0:
            return (
                f"StabilitySelection: the first value of penalty selects more than {plan.q} "
                "features already, so that nothing is selected; begin with one that selects fewer."
            )
        if self.fdr is not None:
            return f"No feature is selected at fdr={self.fdr:g}: {self._closest(sizes)}"
        return (
            f"No feature is selected: the most frequent one is in {_percent(most)} of the halves, "
            f"and {_percent(self.threshold_)} are needed.{self._replaced()} A larger pfer asks for "
            "less; chosen after the frequencies were seen, it keeps no promise."
        )

    def _closest(self, sizes: list[int]) -> str:
        """The least rate that the bound allows for, with any size and threshold."""
        n_pairs, tried = self.n_pairs_, []
        # without sizes the selector decides, and q is a mean
        for q in list[float](sizes) or [self.q_]:
            inside = (self.entry_sizes_ > 0) & (not sizes or self.entry_sizes_ <= q)
            counts = inside.sum(axis=0)
            tried.append((least_rate(counts, q, n_pairs, self.assumption), q, counts))
        (rate, count), q, counts = min(tried, key=lambda one: one[0])
        if not math.isfinite(rate):
            return (
                f"the most frequent feature is in {_percent(counts.max() / (2 * n_pairs))} of the "
                "halves, and for so few there is no bound."
            )
        return (
            f"the least rate that the bound allows for is {rate:.2g} (features that would be "
            f"selected: {int((counts >= count).sum())}, with size {q:g} and threshold "
            f"{count / (2 * n_pairs):g}).{self._replaced()} The fewer features there are, here "
            f"{len(counts)}, the weaker is the bound; a rate chosen after the frequencies were "
            "seen keeps no promise."
        )

    def _replaced(self) -> str:
        """What to say of a number of features of the selector in whose place another was used."""
        _, step = _place(self._base)
        given = step.get_params(deep=False)
        size = next((name for name in _SIZE if name in given), None)
        if size is None or not isinstance(given[size], Integral) or self.penalty is not None:
            return ""
        if given[size] == self.q_ or self.n_features_per_subsample == "own":
            return ""
        return (
            f" q_={self.q_:g} features were selected in each half, in place of {size}="
            f"{given[size]} of {type(step).__name__} (n_features_per_subsample keeps a number)."
        )

    def _decide(self, counts: np.ndarray, q: float, plan: _HalfPlan, n_pairs: int) -> int:
        """The number of halves in which a feature must be selected, from what the halves gave."""
        p = len(counts)
        if self.fdr is not None:
            found = count_for_fdr(counts, q, n_pairs, self.fdr, self.assumption)
            return 2 * n_pairs + 1 if found is None else found
        if plan.q is None or plan.least is None:
            return self._count(q, p, n_pairs, " (the mean number that the selector chose)")
        if n_pairs == plan.n_pairs:
            return plan.least
        # after Ctrl-C: the least threshold not below that planned, if there is one
        start = count_of(plan.least / (2 * plan.n_pairs), n_pairs)
        found = least_count(self._pfer, q, p, n_pairs, self.assumption, start)
        return found if found is not None and self.threshold == "auto" else start

    # ------------------------------------------------------------------ tables and pictures

    def frequency_path(self) -> np.ndarray:
        """Frequencies by the size of the selections.

        Returns
        -------
        array of shape (q, n_features)
            Row k - 1 is for selections of at most k features in each half: the first k of each
            ranking. A selector that does not rank has one size only, and zeros before it.
        """
        check_is_fitted(self, "entry_sizes_")
        largest = int(self.entry_sizes_.max(initial=0) if self.q_ != int(self.q_) else self.q_)
        found = np.zeros((largest, self.n_features_in_))
        for sizes in self.entry_sizes_:
            inside = np.flatnonzero((sizes > 0) & (sizes <= largest))
            found[sizes[inside] - 1, inside] += 1
        return found.cumsum(axis=0) / len(self.entry_sizes_)

    def _evidence(self) -> dict[str, Any]:
        if not hasattr(self, "bound_"):
            return {}
        return {
            "threshold of the frequency": self.threshold_,
            "selected in each half": self.q_,
            "halves": 2 * self.n_pairs_,
            "expected by mistake, at most": self.bound_,
            **super()._evidence(),
        }

    def _remarks(self) -> list[str]:
        return [self.message_] if getattr(self, "message_", "") else []

    def to_frame(self) -> pd.DataFrame:
        """One row for each feature, the most frequent first.

        With the frequency, the fraction of pairs in which both halves select the feature, and
        whether it is selected.
        """
        check_is_fitted(self, "selection_")
        order = self.order_
        return frames().DataFrame(
            {
                "name": [self.selection_.names[j] for j in order],
                "index": order,
                "frequency": self.frequencies_[order],
                "simultaneous": self.simultaneous_[order],
                "selected": self.support_[order],
            }
        )

    @checked(top=integer_from(1))
    def plot(self, top: int = 30, ax: Any = None) -> Any:
        """Draw the frequencies of the most frequent features, and the threshold.

        Parameters
        ----------
        top : int, default=30
            Largest number of bars.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        check_is_fitted(self, "selection_")
        best = self.order_[:top]
        best = best[self.frequencies_[best] > 0][::-1]
        ax = axes(ax, height=max(2.5, 1.1 + 0.22 * len(best)))
        place = np.arange(len(best))
        filled = [PALETTE[0] if self.support_[j] else "0.7" for j in best]
        ax.barh(place, self.frequencies_[best], color=filled, height=0.75)
        self._draw_threshold(ax.axvline)
        ax.set_yticks(place, [self.selection_.names[j] for j in best], size="small")
        ax.set(xlim=(0, 1.02), ylim=(-0.6, max(len(best), 1) - 0.4))
        ax.set_xlabel(f"fraction of {2 * self.n_pairs_} halves of the samples")
        ax.set_title(self._title(), size="medium")
        return ax

    @checked(top=integer_from(1))
    def plot_path(self, top: int = 30, ax: Any = None) -> Any:
        """Draw how the frequencies grow with the number of features selected in each half.

        Parameters
        ----------
        top : int, default=30
            Largest number of features that are not selected, drawn in grey.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        path = self.frequency_path()
        ax = axes(ax)
        size = np.arange(1, len(path) + 1)
        for j in self.order_[~self.support_[self.order_]][:top]:
            ax.plot(size, path[:, j], color="0.75", lw=1)
        shown = self.order_[self.support_[self.order_]]
        for j, colour in zip(shown, colours(len(shown)), strict=True):
            ax.plot(size, path[:, j], color=colour, lw=1.5, label=self.selection_.names[j])
        self._draw_threshold(ax.axhline)
        ax.set(ylim=(0, 1.02), xlabel="features selected in each half", ylabel="frequency")
        ax.set_title(self._title(), size="medium")
        if 0 < self.support_.sum() <= 15:
            ax.legend(fontsize="small", frameon=False)
        return ax

    def _draw_threshold(self, line: Any) -> None:
        if self.threshold_ <= 1:
            line(self.threshold_, color="0.3", lw=1, ls="--")

    def _title(self) -> str:
        count = int(self.support_.sum())
        return f"{count} selected, {self.bound_:.2g} or fewer of them by mistake on average"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self._base)
        tags.target_tags.required = own.target_tags.required
        tags.input_tags.sparse = own.input_tags.sparse
        tags.input_tags.allow_nan = takes_missing(self._base)
        return tags


class _HalfPlan(NamedTuple):
    """What is decided before the first fit."""

    selector: Any
    values: list[dict[str, Any]]  # of the penalty, one by one
    q: int | None  # None: the selector decides
    least: int | None  # halves in which a feature must be selected; None: the data decide
    n_pairs: int


class _HalfFits:
    """Fits the selector to some rows, with the columns in another order each time.

    Many selectors take features of equal score in the order of the columns. Those that say nothing
    often have equal scores, and the first of them would then be selected in every half.
    """

    def __init__(
        self,
        machine: Any,
        table: ResampledTable,
        values: list[dict[str, Any]],
        q: int | None,
        routes: Routes,
    ):
        self.machine, self.table, self.values, self.q = machine, table, values, q
        self.routes = routes
        self.mixes = not tells_columns(machine)

    def select(self, rows: np.ndarray, key: tuple[int, int, int]) -> np.ndarray:
        """The size of the selection with which each feature comes in; 0 if it does not."""
        mixed = np.arange(self.table.n_features)
        if self.mixes:
            mixed = np.random.default_rng(key).permutation(mixed)
            X, y = part_of(self.table.X, rows, mixed), self.table.y
            y = None if y is None else y[rows]
        else:
            X, y = self.table.part(rows)
        data = (X,) if y is None else (X, y)
        sizes = np.zeros(self.table.n_features, dtype=np.int64)
        inside = self.routes.part("selector", rows)
        along = self._along_penalty if self.values else self._at_once
        sizes[mixed] = along(data, inside)
        return sizes

    def _along_penalty(self, data: tuple[Any, ...], inside: dict[str, Any]) -> np.ndarray:
        sizes = np.zeros(self.table.n_features, dtype=np.int64)
        name = next(iter(self.values[0]))
        going_on = continues(self.machine, name)
        machine = made_to_continue(clone(self.machine), name) if going_on else self.machine
        for value in self.values:
            model = machine if going_on else clone(machine)
            fitted = fit_to_the_end(model.set_params(**value), *data, **inside)
            mask = mask_and_names(fitted, self.table.n_features)[0] | (sizes > 0)
            sizes[mask & (sizes == 0)] = mask.sum()
            if self.q is not None and mask.sum() >= self.q:
                break
        return sizes

    def _at_once(self, data: tuple[Any, ...], inside: dict[str, Any]) -> np.ndarray:
        fitted = fit_to_the_end(clone(self.machine), *data, **inside)
        mask = mask_and_names(fitted, self.table.n_features)[0]
        chosen = np.flatnonzero(mask)
        sizes = np.zeros(len(mask), dtype=np.int64)
        ranks = _ranks(selecting_step(fitted), mask)
        if ranks is not None:
            sizes[chosen] = ranks
        elif self.q is None or len(chosen) <= self.q:
            sizes[chosen] = len(chosen)
        else:
            raise ValueError(
                f"{type(selecting_step(fitted)).__name__} selects {len(chosen)} features where "
                f"{self.q} were asked for, and does not rank them; use "
                "n_features_per_subsample='own'."
            )
        return sizes


def _ranks(step: Any, mask: np.ndarray) -> np.ndarray | None:
    """Ranks of the selected features, by ``ranking_`` or by scores; None if it does not rank."""
    chosen = np.flatnonzero(mask)
    ranking = getattr(step, "ranking_", None)
    if ranking is not None and np.shape(ranking) == mask.shape:
        ranks = np.asarray(ranking)[chosen]
        if len(np.unique(ranks)) == len(ranks):
            return rankdata(ranks).astype(np.int64)
    scores = getattr(step, "scores_", None)
    if scores is None or np.shape(scores) != mask.shape or not len(chosen):
        return None
    scores = np.asarray(scores, dtype=np.float64)
    best = scores[~mask].max(initial=-np.inf)
    if np.isnan(scores).any() or scores[mask].min() < best:
        return None  # it did not select by them
    return rankdata(-scores[chosen], method="max").astype(np.int64)


def _place(selector: Any) -> tuple[str, Any]:
    """The step of a pipeline that selects, and how its parameters begin."""
    step = selecting_step(selector)
    for name, one in reversed(getattr(selector, "steps", [])):
        if one is step:
            return f"{name}__", step
    return "", step


def _refuse_new_columns(selector: Any, step: Any) -> None:
    """Refuse a pipeline whose selecting step does not see the columns of X in their order."""
    steps = [one for _, one in getattr(selector, "steps", [])]
    before = [one for one in takewhile(lambda one: one is not step, steps) if hasattr(one, "fit")]
    moving = next((one for one in before if names_columns(one)), None)
    if moving is not None:
        raise ValueError(
            f"{type(moving).__name__} changes the order of the columns before "
            f"{type(step).__name__} selects among them. Apply it to X first."
        )


def _path(penalty: Mapping[str, Any] | None, selector: Any) -> list[dict[str, Any]]:
    """The values of the penalty, each as a parameter to set."""
    if penalty is None:
        return []
    if len(penalty) != 1:
        raise refused("penalty", penalty, "must name one parameter, such as {'C': [0.1, 1.0]}.")
    ((name, values),) = penalty.items()
    if name not in selector.get_params():
        raise refused("penalty", penalty, f"names {name!r}, which {selector!r} does not have.")
    found = [{name: value} for value in np.ravel(values).tolist()]
    if not found:
        raise refused("penalty", penalty, "has no values.")
    return found


def _packed(sizes: np.ndarray) -> list[list[int]]:
    chosen = np.flatnonzero(sizes)
    return [chosen.tolist(), sizes[chosen].tolist()]


def _unpacked(record: Any, n_features: int) -> np.ndarray:
    sizes = np.zeros(n_features, dtype=np.int64)
    sizes[np.array(record[0], dtype=np.intp)] = record[1]
    return sizes


def _per_subsample(q: float) -> str:
    return f"{q:g} feature{'s' * (q != 1)} per subsample"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.4g} %"


def _rounded_up(value: float) -> float:
    """Three digits, not less than the value: what a sentence may promise."""
    if value <= 0 or not math.isfinite(value):
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.6g}")
