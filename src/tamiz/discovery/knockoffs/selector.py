"""Knockoffs: any criterion, with a stated rate of false discoveries."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from tamiz.base import Selector, Stopwatch, json_ready, order_by
from tamiz.discovery.importances import CRITERIA, scorer_for
from tamiz.discovery.knockoffs.quality import KnockoffQuality, measure_quality
from tamiz.discovery.knockoffs.rates import (
    OwnStatistic,
    ScoredStatistic,
    Statistic,
    e_bh,
    e_values,
    knockoff_statistics,
    knockoff_threshold,
    rate_curve,
)
from tamiz.discovery.knockoffs.table import (
    CopySource,
    KnockoffTable,
    as_correlations,
    equal_columns,
    in_units,
    own_copies,
    part_of,
    same_but_units,
)
from tamiz.display import PALETTE, axes, frames
from tamiz.information.columns import CodedTable, read_columns, safe_units
from tamiz.runtime.checkpoint import Journal, open_journal
from tamiz.runtime.progress import Progress
from tamiz.search.resampling import run_jobs
from tamiz.validation import (
    N_JOBS,
    check_resume,
    check_target,
    check_X,
    depth_of_caller,
    group_codes,
    names_for,
    refuse_duplicate_names,
    refuse_missing,
    refuse_no_jobs,
    unchanged_on_error,
)

if TYPE_CHECKING:
    import pandas as pd

#: Numbers of features beyond this are named as this.
_MOST_NAMED = 10**15


class Knockoffs(Selector):
    r"""Select features that beat their knockoffs, with a bound on the rate of false discoveries.

    A knockoff is a random copy of a feature that is related to the other features as the feature
    is, and has nothing to do with the target given the features. The criterion is fitted to
    features and knockoffs side by side. A feature that matters no more than its knockoff is as
    likely to come out below it as above, so that the knockoffs that win count the features that
    win by chance. The expected fraction of false discoveries among those selected is at most
    ``fdr``, whatever the criterion and however the target depends on the features, **if** the
    distribution of the features is known. It is estimated here, by means and correlations;
    ``quality_`` shows what can be seen of how well that worked.

    A false discovery is a feature that says nothing about the target *given all the others*.

    Parameters
    ----------
    statistic : str, selector, estimator or callable, default=None
        The criterion. A name: ``"linear"`` (weights of a linear machine, or of ridge regression),
        ``"lasso"`` (weights of an ℓ1 machine, or of the lasso), ``"rbf"`` (change of the margin of
        an RBF machine without a feature), ``"forest"``, ``"relieff"``, ``"mrmr"``, ``"auc"``,
        ``"pearson"``. Or a selector of tamiz or scikit-learn, a machine, an estimator with
        ``coef_`` or ``feature_importances_``, or a pipeline that ends with one; features and
        knockoffs are given to it as they are. Or a function ``f(A, B, y)`` that returns one number
        for each pair of columns, positive where ``A[:, j]`` matters more; which of the two is the
        feature is drawn by their values and not for the function to know. By default "linear", or
        "forest" if there are categories.
    fdr : float, default=0.1
        Largest expected fraction of false discoveries. At least ``1 / (n_copies * fdr)`` features
        must stand out for anything to be selected.
    method : {"mvr", "equi", "lowrank"}, default="mvr"
        How far knockoffs are from their features: minimum variance-based reconstructability,
        all equally far, or few factors plus parts of their own, for many more features than
        samples.
    offset : {0, 1}, default=1
        1 for the guarantee above (knockoff+); 0 for a modified rate, with more power where few
        features matter.
    n_copies : int, default=1
        Knockoffs of every feature, drawn and fitted at the same time. A feature has to beat all of
        its knockoffs; in return fewer features have to stand out together, which is what several
        copies are for. The bound on the rate stays. They are closer to the features and the table
        that is fitted is wider, so that more than about ``1 / fdr`` are of no use.
    n_draws : int, default=1
        With more than one draw of knockoffs their e-values are averaged: the selection depends
        less on chance, and the bound on the rate stays.
    draw_fdr : float or None, default=None
        Level of the e-values of a draw if there are several; half of ``fdr`` by default, so that
        at least ``2 / (n_copies * fdr)`` features must stand out. The bound does not depend on it.
    covariance : array of shape (n_features, n_features) or None, default=None
        Covariances of the features, if they are known. By default they are estimated: those of
        the samples if these are more than the features and all their knockoffs, which then match
        them exactly; else the one of four estimates that fits left-out samples best, with a rate
        that may be exceeded somewhat. "lowrank" estimates factors.
    n_factors : int or None, default=None
        Number of factors of "lowrank"; by default those that independent features would not show.
    marginals : {"auto", "gaussian", "empirical"}, default="auto"
        Columns of categories, and by default those of at most ten different numbers, have
        knockoffs with the same proportions (a Gaussian copula, which is an approximation).
        "gaussian" does so for categories only, "empirical" for all columns.
    knockoffs : array or callable, default=None
        Knockoffs of your own: an array of the shape of X, or a function ``f(X, random_state)`` that
        returns one; with several copies of shape (n_copies, n_samples, n_features). An array for
        several draws has ``n_draws`` as its first dimension, before these.
    categorical_features : array-like or None, default=None
        Columns to take as categories besides those that hold text: indices, names or a mask.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target holds, for a ``statistic`` given by name.
    n_jobs : int or None, default=None
        Workers for several draws; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the knockoffs, and of a criterion that has none.
    checkpoint : path or None, default=None
        File to keep the statistics of every draw in, so that a run that was stopped can be resumed.
    resume : bool, default=False
        Whether to go on from that file, perhaps to more draws than before.
    verbose : bool or int, default=0
        Whether to show progress.

    Attributes
    ----------
    statistics_ : ndarray of shape (n_features,)
        ``W``; its mean over the draws if there are several. 0 for constant columns, and for those
        that repeat an earlier column, which stands for them.
    threshold_ : float
        Least ``W`` of a selected feature; with several draws, the least e-value. Infinite if
        nothing is selected.
    draws_ : ndarray of shape (n_draws, n_features)
        ``W`` of every draw.
    e_values_ : ndarray of shape (n_features,)
        Their mean over the draws; with one draw, those at the level ``fdr``.
    s_ : ndarray of shape (n_features,) or None
        One minus the correlation of each feature with its knockoff under the model; None for
        knockoffs of your own.
    quality_ : KnockoffQuality
        How well the knockoffs of the first draw match; the first copy of them if there are several.
    message_ : str
        Why nothing was selected, and what could be; empty otherwise.
    status_ : {"converged", "interrupted"}
        Interrupted if Ctrl-C came after some of the draws, which then decide.
    scores_, order_, ranking_, support_, selection_
        As every selector has them; the scores are ``statistics_``.

    See Also
    --------
    Shadows : Which features are better than shuffled copies: relevant ones, redundant or not.
    tamiz.filters.WelchT : p-values of single features.

    Notes
    -----
    The features are judged one by one: groups of features, with knockoffs of whole groups, are not
    offered. Take one number for each group, such as its mean or its first component, or choose one
    feature of each. Sample weights are not taken: the guarantee is about samples drawn alike. Nor
    are groups of samples, or times: average the rows of a patient, or take one of them.

    Of columns with the same values, or with those values in other units (one is the other times a
    number, plus a number), none says anything given the others. The first of them takes part, the
    others do not and are not selected; a warning names them.

    References
    ----------
    .. [1] E. Candès, Y. Fan, L. Janson, J. Lv (2018). Panning for gold: model-X knockoffs for high
           dimensional controlled variable selection. JRSS B 80.
    .. [2] A. Spector, L. Janson (2022). Powerful knockoffs via minimizing reconstructability.
           Annals of Statistics 50.
    .. [3] Z. Ren, R. Foygel Barber (2024). Derandomised knockoffs: leveraging e-values for false
           discovery rate control. JRSS B 86.
    .. [4] J. R. Gimenez, J. Zou (2019). Improving the stability of the knockoff procedure: multiple
           simultaneous knockoffs and entropy maximization. AISTATS, PMLR 89.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.discovery import Knockoffs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 40))
    >>> y = (X[:, :12].sum(axis=1) + rng.normal(size=400) > 0).astype(int)
    >>> found = Knockoffs(fdr=0.2, random_state=0).fit(X, y)
    >>> bool(found.support_[:12].all()), int(found.support_[12:].sum()) <= 3
    (True, True)

    Four features are too few for one knockoff each at ``fdr=0.1``, which takes ten:

    >>> y = X[:, :4].sum(axis=1) + rng.normal(size=400)
    >>> Knockoffs(n_copies=5, random_state=0).fit(X, y).get_support(indices=True).tolist()
    [0, 1, 2, 3]
    """

    _tables = 7  # of the size of X, that a fit works on
    _parameter_constraints: dict[str, list[Any]] = {
        "statistic": [StrOptions(set(CRITERIA)), HasMethods(["fit"]), callable, None],
        "fdr": [Interval(Real, 0, 1, closed="neither")],
        "method": [StrOptions({"mvr", "equi", "lowrank"})],
        "offset": [Interval(Integral, 0, 1, closed="both")],
        "n_copies": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "draw_fdr": [Interval(Real, 0, 1, closed="neither"), None],
        "covariance": ["array-like", None],
        "n_factors": [Interval(Integral, 1, None, closed="left"), None],
        "marginals": [StrOptions({"auto", "gaussian", "empirical"})],
        "knockoffs": [callable, "array-like", None],
        "categorical_features": ["array-like", None],
        "task": [StrOptions({"auto", "classification", "regression"})],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "checkpoint": [None, str, HasMethods(["__fspath__"])],
        "resume": ["boolean"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        statistic: Any = None,
        *,
        fdr: float = 0.1,
        method: str = "mvr",
        offset: int = 1,
        n_copies: int = 1,
        n_draws: int = 1,
        draw_fdr: float | None = None,
        covariance: Any = None,
        n_factors: int | None = None,
        marginals: str = "auto",
        knockoffs: Any = None,
        categorical_features: Any = None,
        task: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        checkpoint: Any = None,
        resume: bool = False,
        verbose: bool | int = 0,
    ):
        self.statistic = statistic
        self.fdr = fdr
        self.method = method
        self.offset = offset
        self.n_copies = n_copies
        self.n_draws = n_draws
        self.draw_fdr = draw_fdr
        self.covariance = covariance
        self.n_factors = n_factors
        self.marginals = marginals
        self.knockoffs = knockoffs
        self.categorical_features = categorical_features
        self.task = task
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.resume = resume
        self.verbose = verbose

    def fit(self, X: Any, y: Any, groups: Any = None, times: Any = None) -> Knockoffs:
        """Draw knockoffs, let them compete, and select.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Samples; a data frame may have categories. No missing numbers.
        y : array of shape (n_samples,)
            Target.
        groups : array of shape (n_samples,), optional
            Refused if samples share a group: the rate is one of samples that are drawn
            independently.
        times : array of shape (n_samples,), optional
            Refused, whatever they are, for the same reason.

        Returns
        -------
        self : Knockoffs
        """
        with unchanged_on_error(self):
            self._fit(X, y, groups, times)
        return self

    def _fit(self, X: Any, y: Any, groups: Any, times: Any) -> None:
        watch = Stopwatch()
        self._validate_params()
        self._refuse_pairs()
        refuse_no_jobs(self.n_jobs)
        check_resume(self.resume, self.checkpoint)
        table = self._read(X)
        _refuse_dependent(groups, times, len(table.X))
        y = check_target(y, len(table.X))
        kept = self._distinct(table)
        part = table if len(kept) == table.X.shape[1] else part_of(table, kept)
        statistic = self._statistic(part, y)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        readings = ("fdr", "offset", "draw_fdr", "n_draws")
        journal = open_journal(self, seed, table.X, y, leave_out=readings)
        try:
            seed = seed if journal is None else int(journal.facts["seed"])
            with Progress("Knockoffs", self.verbose, most=1 + self.n_draws) as progress:
                progress.update("correlations")
                units = safe_units(np.abs(part.X).max(axis=0))
                source = self._source(part, units, kept, np.random.default_rng([seed, 0]))
                names = names_for(self._own_names(), table.X.shape[1])
                called = [names[j] for j in kept]
                if y.dtype.kind == "f":
                    y = y / safe_units(np.abs(y).max())
                work = _Draws(source, statistic, part.X / units, y, called, seed)
                found = self._draw_all(work, journal, progress)
        finally:
            if journal is not None:
                journal.close()
        draws = np.zeros((len(found), len(names)))
        draws[:, kept] = [one["W"] for one in found]
        self.quality_ = _quality(found[0]["quality"], names, kept)
        self._warn_of_missed(self.quality_)
        self.s_ = source.s
        if source.s is not None:
            self.s_ = np.zeros(len(names))
            self.s_[kept] = source.s
        self.draws_ = draws
        self.statistics_ = draws.mean(axis=0)
        support = self._select(draws)
        self.message_ = "" if support.any() else self._why_nothing(draws)
        notes = {**source.notes, "threshold": self.threshold_, "status": self.status_}
        notes |= {"message": self.message_} if self.message_ else {}
        order = order_by(support, self.e_values_, self.statistics_)
        self._finish(
            order=order,
            support=support,
            scores=self.statistics_,
            seconds=watch.seconds,
            notes=notes,
        )
        if self.message_:
            warnings.warn(self.message_, UserWarning, stacklevel=depth_of_caller())

    # ------------------------------------------------------------------ parts of a fit

    def _refuse_pairs(self) -> None:
        """What does not go with several draws or copies."""
        given = self.statistic
        if self.n_copies > 1 and callable(given) and not hasattr(given, "fit"):
            raise ValueError(
                f"n_copies={self.n_copies} and a function as statistic do not go together: the "
                "function is called with pairs of a feature and its one knockoff. Use a name, a "
                "selector or an estimator, or n_copies=1."
            )
        if self.n_draws > 1 and self.offset != 1:
            raise ValueError(
                f"offset={self.offset} and n_draws={self.n_draws} do not go together: several "
                "draws are combined by e-values, which need offset=1."
            )

    def _read(self, X: Any) -> CodedTable:
        """The checked table; a missing category is one of its own, a missing number refused."""
        refuse_duplicate_names(X)
        if hasattr(X, "tocsr"):  # scikit-learn has the sentence
            check_X(self, X, reset=True)
        table = read_columns(X, self.categorical_features, estimator=self, min_samples=2)
        values = table.X
        if table.categorical.any():  # the caller's table stays as it is
            values = values.copy()
            table = table._replace(X=values)
        for j in np.flatnonzero(table.categorical):
            missing = np.isnan(values[:, j])
            values[missing, j] = np.max(values[~missing, j], initial=-1.0) + 1.0
        refuse_missing(values, table.names)
        return table

    def _distinct(self, table: CodedTable) -> np.ndarray:
        """The columns that take part: of those that are one but for their units the first only."""
        p = table.X.shape[1]
        again = {} if self.knockoffs is not None else equal_columns(table.X)
        said = {j: f"{table.called(j)} equals {table.called(k)}" for j, k in again.items()}
        if self.knockoffs is None:
            varies = table.X.max(axis=0) > table.X.min(axis=0)
            numeric = [j for j in np.flatnonzero(varies & ~table.categorical) if j not in again]
            scaled = same_but_units(table.X, np.array(numeric, dtype=np.intp))
            for j, k in scaled.items():
                said[j] = f"{table.called(j)} is {table.called(k)} in other units"
            again = {**again, **scaled}
        if again:
            shown = [said[j] for j in sorted(said)]
            more = f", and {len(shown) - 5:,} more" * (len(shown) > 5)
            warnings.warn(
                f"{'; '.join(shown[:5])}{more}. Nobody can tell them apart: the first of them "
                "stands for the others, which take no part and are not selected.",
                UserWarning,
                stacklevel=depth_of_caller(),
            )
        return np.array([j for j in range(p) if j not in again], dtype=np.intp)

    def _own_names(self) -> list[str] | None:
        known = getattr(self, "feature_names_in_", None)
        return None if known is None else [str(name) for name in known]

    def _statistic(self, table: CodedTable, y: np.ndarray) -> Statistic:
        given = self.statistic
        if given is None:
            given = "forest" if table.categorical.any() else "linear"
        if not isinstance(given, str) and not hasattr(given, "fit"):
            return OwnStatistic(given)
        return ScoredStatistic(scorer_for("statistic", given, self.task, table, y))

    def _source(
        self,
        table: CodedTable,
        units: np.ndarray,
        kept: np.ndarray,
        random: np.random.Generator,
    ) -> CopySource:
        """Where knockoffs come from, in these units of the columns of the table.

        ``kept`` says which columns of X they are.
        """
        n, p = table.X.shape
        if self.knockoffs is not None:
            own = own_copies(self.knockoffs, table.X, int(self.n_draws), int(self.n_copies))
            return in_units(own, units)
        sigma, needed = None, (int(self.n_copies) + 1) * p + 2
        if self.covariance is not None:
            sigma = as_correlations(self.covariance, self.n_features_in_)[np.ix_(kept, kept)]
        elif n < needed:
            warnings.warn(
                f"X has {n} samples for {p:,} features, too few to match how the features depend "
                "on each other exactly; the rate of false discoveries rests on an estimate of it "
                f"and may be above fdr. With fewer than {needed:,} samples, pass covariance= if it "
                "is known, and look at quality_.",
                UserWarning,
                stacklevel=depth_of_caller(),
            )
        made = KnockoffTable(
            table._replace(X=table.X / units),
            self.method,
            sigma,
            self.n_factors,
            self.marginals,
            random,
            int(self.n_copies),
        )
        return CopySource(
            lambda k, rng: made.draw(rng), made.s, {"method": self.method, **made.notes}
        )

    def _warn_of_missed(self, quality: KnockoffQuality) -> None:
        if quality.largest <= 1.5 * quality.expected_largest:
            return
        others = "" if self.method != "lowrank" else (
            " A few factors are not all that these features share: use method='mvr' or 'equi'."
        )  # fmt: skip
        warnings.warn(
            "the knockoffs are related to some features otherwise than those are to each other: a "
            f"correlation is off by {quality.largest:.2g}, where chance gives about "
            f"{quality.expected_largest:.2g}. The rate of false discoveries may be far above "
            f"fdr.{others}",
            UserWarning,
            stacklevel=depth_of_caller(),
        )

    def _draw_all(
        self, work: _Draws, journal: Journal | None, progress: Progress
    ) -> list[dict[str, Any]]:
        """What every draw found; those done before Ctrl-C, if there are any."""
        statistic = work.statistic
        machine = (
            statistic.scorer.estimator if isinstance(statistic, ScoredStatistic) else statistic
        )
        found = [] if journal is None else journal.records[: self.n_draws]
        seeds = np.random.SeedSequence(work.seed).spawn(self.n_draws)
        self.status_ = "converged"
        jobs = ((k, seeds[k]) for k in range(len(found), self.n_draws))
        try:
            for one in run_jobs(_one_draw, work, jobs, self.n_jobs, machine):
                found.append(one)
                if journal is not None:
                    journal.append([one])
                progress.update(f"{len(found)} of {self.n_draws} draws")
        except KeyboardInterrupt:
            if not found:
                raise
            self.status_ = "interrupted"
            warnings.warn(
                f"stopped after {len(found)} of {self.n_draws} draws, which decide.",
                RuntimeWarning,
                stacklevel=depth_of_caller(),
            )
        return found

    def _select(self, draws: np.ndarray) -> np.ndarray:
        """The features selected; sets the threshold and the e-values."""
        if self.n_draws == 1:
            W = draws[0]
            self.threshold_ = knockoff_threshold(
                W, fdr=self.fdr, offset=self.offset, n_copies=self.n_copies
            )
            self.e_values_ = e_values(W, self.fdr, self.n_copies)
            return self.threshold_ <= W
        self.e_values_ = np.mean(
            [e_values(W, self._draw_level(), self.n_copies) for W in draws], axis=0
        )
        support, self.threshold_ = e_bh(self.e_values_, self.fdr)
        return support

    def _draw_level(self) -> float:
        return 0.5 * self.fdr if self.draw_fdr is None else float(self.draw_fdr)

    def _least(self, level: float) -> int:
        """How many features must stand out together."""
        with np.errstate(over="ignore"):
            least = np.ceil(np.float64(1.0) / (level * self.n_copies) - 1e-9)
        return int(min(least, _MOST_NAMED))

    def _why_nothing(self, draws: np.ndarray) -> str:
        if self.n_draws > 1:
            level = self._draw_level()
            return (
                f"No feature is selected at fdr={self.fdr:g}: the e-values of {len(draws)} draws "
                f"are too small. At the level {level:g} of a draw at least "
                f"{self._least(level)} features must stand out together, in most "
                "draws; with fewer, use a larger n_copies, fdr or draw_fdr, chosen beforehand."
            )
        _, rates, counts = rate_curve(draws[0], self.offset, self.n_copies)
        lead = f"No feature is selected at fdr={self.fdr:g}: "
        if self.offset:
            least = self._least(self.fdr)
            lead += (
                f"at least {least} features must beat their knockoffs together (fewer with a "
                "larger n_copies), and "
                if least > 1
                else ""
            )
        if not len(rates):
            return f"{lead}no feature differs from its knockoff in importance."
        rates = np.where(counts > 0, rates, np.inf)
        if not counts.any():
            return f"{lead}none is ahead of its knockoff in importance."
        best = int(np.flatnonzero(rates == rates.min())[0])
        return (
            f"{lead}{np.count_nonzero(draws[0] > 0)} of {draws.shape[1]} have a positive "
            f"statistic. The least estimated rate is {rates[best]:.3g}, with {counts[best]} "
            "features; a rate or n_copies chosen after the statistics were seen has no guarantee."
        )

    # ------------------------------------------------------------------ what is shown

    def _evidence(self) -> dict[str, Any]:
        if not hasattr(self, "threshold_"):
            return {}
        least = "least e-value" if len(self.draws_) > 1 else "threshold of W"
        found = {"rate of false discoveries, at most": self.fdr, least: self.threshold_}
        return found | {"draws": len(self.draws_)} | super()._evidence()

    def _remarks(self) -> list[str]:
        return [self.message_] if getattr(self, "message_", "") else []

    def to_frame(self) -> pd.DataFrame:
        """The features, best first: statistic, e-value, correlation with the knockoff, selected."""
        self.get_support()
        order, names = self.order_, self.selection_.names
        return frames().DataFrame(
            {
                "name": [names[j] for j in order],
                "index": order,
                "statistic": self.statistics_[order],
                "e_value": self.e_values_[order],
                "correlation": self.quality_.correlation[order],
                "selected": self.support_[order],
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the statistics by size, those of selected features in colour, and the threshold.

        With several draws, the e-values and the least that is selected.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        self.get_support()
        several = len(self.draws_) > 1
        values = self.e_values_ if several else self.statistics_
        order = np.argsort(-values, kind="stable")
        ax = axes(ax)
        place, chosen = np.arange(1, len(order) + 1), self.support_[order]
        for mask, colour, label in (
            (chosen, PALETTE[0], "selected"),
            (~chosen, "0.65", "not selected"),
        ):
            if mask.any():
                ax.plot(place[mask], values[order][mask], "o", ms=4, color=colour, label=label)
        if np.isfinite(self.threshold_):
            ax.axhline(self.threshold_, color="0.3", ls="--", lw=1, label="threshold")
            if not several:
                ax.axhline(-self.threshold_, color="0.3", ls=":", lw=1)
        ax.axhline(0.0, color="0.8", lw=0.8, zorder=0)
        ax.set(xlabel="feature, by rank", ylabel="e-value" if several else "W")
        ax.set_title(
            f"Knockoffs: {int(self.support_.sum())} of {len(order)} selected at fdr {self.fdr:g}"
        )
        ax.legend(frameon=False)
        return ax

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.non_deterministic = False
        return tags


class _Draws(NamedTuple):
    """What every draw needs."""

    source: CopySource
    statistic: Statistic
    X: np.ndarray
    y: np.ndarray
    names: list[str]
    seed: int


def _one_draw(work: _Draws, k: int, seed: Any) -> dict[str, Any]:
    """``W`` of one draw, and how well the first knockoffs of the first draw match."""
    random = np.random.default_rng(seed)
    copies = work.source.draw(k, random)
    after = int(random.integers(2**31 - 1))
    W = knockoff_statistics(work.statistic, work.X, copies, work.y, after)
    quality = None
    if k == 0:
        looked_at = measure_quality(
            work.X, copies[0], work.names, np.random.default_rng([work.seed, 1])
        )
        quality = json_ready(vars(looked_at))
    return {"W": W.tolist(), "quality": quality}


def _quality(kept_quality: dict[str, Any], names: list[str], kept: np.ndarray) -> KnockoffQuality:
    """The quality as an object, for all columns: those that took no part are as constant ones."""
    correlation = np.ones(len(names))
    correlation[kept] = kept_quality["correlation"]
    return KnockoffQuality(**{**kept_quality, "names": names, "correlation": correlation})


def _refuse_dependent(groups: Any, times: Any, n_samples: int) -> None:
    """Refuse samples that are said to depend on each other."""
    if times is not None:
        raise ValueError(
            "times= was given, but knockoffs are drawn for samples that do not depend on each "
            "other, so that no rate can be promised for a series. StabilitySelection keeps "
            "neighbours in time together; its bound holds as far as blocks of neighbours do not "
            "depend on each other."
        )
    if groups is not None and len(np.unique(group_codes(groups, n_samples))) < n_samples:
        raise ValueError(
            "groups= puts several samples into one group, but knockoffs are drawn for samples that "
            "do not depend on each other. Average the samples of each group, or take one of them; "
            "StabilitySelection keeps groups together."
        )
