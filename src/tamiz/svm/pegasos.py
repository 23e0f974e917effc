"""The linear soft-margin machine by stochastic subgradient steps, from memory or a stream."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.runtime.progress import Progress
from tamiz.solvers.pegasos import (
    Averaging,
    Intercept,
    OnlineSamples,
    PegasosState,
    Setting,
    advance,
    expected_gap,
    new_state,
    solution,
    solve_pegasos,
)
from tamiz.svm.linear import LinearDecision, lambda_of, per_machine, positive_classes
from tamiz.svm.stream.machine import (
    KEPT,
    Reached,
    Stream,
    default_passes,
    in_features,
    pegasos_passes,
    warn_if_sorted,
)
from tamiz.validation import (
    Labels,
    check_announced_classes,
    check_class_weight,
    check_classes,
    check_counted_rows,
    check_known_classes,
    check_sample_weight,
    check_X,
    checked,
    far_from_origin,
    far_mean,
    integer_from,
    optional,
    unchanged_on_error,
    warn_if_far,
)

#: A pass has at most so many steps for each row, and in all, whatever the weights.
_MOST_TIMES, _MOST_STEPS = 100, 1_000_000

#: A first batch of so many rows says where the samples of a stream lie.
_ENOUGH = 30

#: Samples so many times farther from the origin than from their mean may leave a machine that is a
#: guess: measured on 200 and 1,000 samples of 2 to 500 features, where 10 times does not.
_FAR = 20.0
_AVERAGING = {False: Averaging.NONE, True: Averaging.ALL, "tail": Averaging.TAIL}


class PegasosClassifier(LinearDecision):
    r"""Linear support vector machine fitted by Pegasos, also from a stream.

    Minimises ``lambda_/2 ‖w‖²`` plus the mean hinge loss. Each step looks at one sample (or a
    mini-batch) and costs as much as its non-zero entries, the averaging included. Scale the
    features first: the number of steps needed grows with the square of the norms of the samples
    and with ``1/lambda_``. Subtract their means, too: samples far from the origin for how they
    differ cost accuracy, and from 20 times on (root mean squares of the distances from the origin
    and from the mean) a machine may be no better than chance, of which ``fit`` warns.

    Sample weights say how often a pass takes each sample, on average. Integers have exactly the
    effect of repeating rows where they stand; since what a stochastic method reaches depends on the
    draws, it is another if the repeated rows stand elsewhere. :class:`SubgradientClassifier` and
    :class:`SVC` do not depend on the order.

    Parameters
    ----------
    lambda_ : float, default=1e-4
        Regularisation, positive. Larger values give smaller weights and faster convergence.
    C : float, default=None
        If given, replaces ``lambda_`` by ``1/(n_samples * C)``, which states the problem of
        ``SVC(C=C, kernel="linear")``. Not available in ``partial_fit``, where the number of
        samples is unknown.
    max_iter : int, default=100
        Passes over the data in ``fit``.
    batch_size : int, default=1
        Samples in a step. The last step of a pass, or of a call of ``partial_fit``, takes what is
        left.
    average : bool or "tail", default=True
        Which iterates are averaged: all, only the last, or about the second half (from the
        greatest power of two that is at most half the number of steps), which forgets the wild
        first steps.
    fit_intercept : bool, default=True
        Whether to append a constant feature.
    penalize_intercept : bool, default=True
        Whether the penalty includes the weight of the constant feature. If not, the intercept
        converges more slowly and there is no bound.
    class_weight : dict or "balanced", default=None
        Factor on the losses of the samples of each class; a class that is not named has 1.
        "balanced" gives all classes the same total. ``partial_fit`` accepts a dict only.
    t0 : float or "auto", default="auto"
        Steps by which the clock is set forward: the weights after t steps are
        ``θ / (lambda_ (t + t0))``. With 0, the algorithm as first published, the first steps have
        a length of ``1/lambda_`` and it takes about that many steps to forget them. "auto" lets
        them begin with a length near one over the mean of ``‖x‖²``, which the same theory covers
        and which comes much nearer to the minimum unless very many steps are made.
    sampling : {"permutation", "replacement"}, default="permutation"
        How ``fit`` draws: every sample once per pass, which usually converges faster, or
        independently, for which the theorem behind ``bound_`` is proved.
    shuffle : bool, default=True
        Whether each pass has an order of its own; otherwise the order is that of the rows.
        ``partial_fit`` shuffles inside its batch.
    tol : float, default=None
        If given, ``fit`` stops when a pass lowers the objective by less than this fraction.
    random_state : int, RandomState or None, default=None
        Seed of the draws.
    verbose : bool or int, default=0
        Show progress.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    t_ : int
        Steps taken.
    n_iter_ : int
        Complete passes over the data; 1 after ``partial_fit``.
    objective_ : float, ndarray of shape (n_classes,) or None
        Objective on the training data, of each machine if there are several; None after
        ``partial_fit``, which does not keep the data, or if ``fit_stream`` was interrupted.
    bound_ : float, ndarray of shape (n_classes,) or None
        ``ρ²(1 + log t_) / (2 lambda_ t_)`` or a little less (see :mod:`tamiz.solvers.pegasos`),
        with ρ the longest step direction seen: what the theory promises, on average over
        independent draws, for the excess of the objective over its minimum. For the rows of a
        stream that are independent of each other, the objective is that of the distribution they
        come from. None unless all iterates are averaged and the intercept (if any) is penalised.
    status_ : str
        "limit" (all passes made), "converged" (``tol`` reached), "interrupted" (Ctrl-C: what had
        been reached is kept) or "stream" (after ``partial_fit``).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of str
        Names of the features, if X had any.

    See Also
    --------
    SubgradientClassifier : The same objective, all samples in each step, sample weights.
    SVC : The exact solution, and kernels.

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer, N. Srebro, A. Cotter (2011). Pegasos: primal estimated
           sub-gradient solver for SVM. Mathematical Programming 127.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from tamiz.svm import PegasosClassifier
    >>> X, y = make_blobs(300, centers=2, random_state=0)
    >>> machine = PegasosClassifier(lambda_=0.01, random_state=0).fit(X, y)
    >>> machine.t_, machine.status_
    (30000, 'limit')
    >>> bool(machine.score(X, y) > 0.9)
    True

    A stream, one block of rows at a time:

    >>> machine = PegasosClassifier(lambda_=0.01, random_state=0)
    >>> for start in range(0, 300, 100):
    ...     rows = slice(start, start + 100)
    ...     machine = machine.partial_fit(X[rows], y[rows], classes=[0, 1])
    >>> machine.t_
    300
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lambda_": [Interval(Real, 0, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "average": ["boolean", StrOptions({"tail"})],
        "fit_intercept": ["boolean"],
        "penalize_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "t0": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "sampling": [StrOptions({"permutation", "replacement"})],
        "shuffle": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    _state: PegasosState
    _setting: Setting
    _scaled: bool  # whether the state is that of standardised features

    def __init__(
        self,
        lambda_: float = 1e-4,
        *,
        C: float | None = None,
        max_iter: int = 100,
        batch_size: int = 1,
        average: bool | str = True,
        fit_intercept: bool = True,
        penalize_intercept: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        t0: float | str = "auto",
        sampling: str = "permutation",
        shuffle: bool = True,
        tol: float | None = None,
        random_state: Any = None,
        verbose: bool | int = 0,
    ):
        self.lambda_ = lambda_
        self.C = C
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.average = average
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.class_weight = class_weight
        self.t0 = t0
        self.sampling = sampling
        self.shuffle = shuffle
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PegasosClassifier:
        """Fit the machine anew.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            How often a pass takes each sample. Fractions are rounded up or down in every pass, at
            random, so that they are right on average. A pass makes at least as many steps as
            there are rows, and at most 100 times as many, or a million: weights of a smaller or
            greater sum then only say how the rows compare (``C`` still refers to their sum). Rows
            of weight zero are left out.

        Returns
        -------
        self : PegasosClassifier
        """
        with unchanged_on_error(self):
            self._validate_params()
            if self.sampling == "replacement" and not self.shuffle:
                raise ValueError(
                    'sampling="replacement" draws at random, which shuffle=False forbids; use '
                    'sampling="permutation" to keep the order of the rows, or shuffle=True.'
                )
            X, y, weight = check_counted_rows(X, y, sample_weight)
            X = check_X(self, X, reset=True, accept_sparse=True)
            warn_if_far(self, self.fit_intercept and far_from_origin(X, _FAR), _FAR)
            labels = check_classes(y, X.shape[0])
            samples = self._samples(X, labels, weight)
            n_rows = float(X.shape[0] if weight is None else weight.sum())
            self.classes_ = labels.classes
            self._setting = self._new_setting(lambda_of(self.lambda_, self.C, n_rows))
            self._random = check_random_state(self.random_state)
            with np.errstate(over="ignore", invalid="ignore"):  # _set_weights speaks of it
                result = solve_pegasos(
                    samples,
                    self._setting,
                    self._order_of(X.shape[0]) if weight is None else self._weighted_order(weight),
                    epochs=self.max_iter,
                    batch_size=self.batch_size,
                    tol=self.tol,
                    verbose=self.verbose,
                )
            self._state, self._scaled = result.state, False
            self._set_weights(result.solution, in_range=np.isfinite(result.state.rho2).all())
            self.t_ = result.iterations
            self.n_iter_ = result.epochs
            self.objective_ = per_machine(result.objective)
            self.bound_ = None if result.bound is None else per_machine(result.bound)
            self.status_ = result.status
            if self.status_ == "interrupted":
                self._warn(
                    f"interrupted after {self.t_:,} steps; the machine is that of the steps taken."
                )
            elif self.status_ == "limit" and self.tol is not None:
                self._warn(
                    f"after max_iter={self.max_iter} passes the objective still falls by more than "
                    f"tol={self.tol:g} of its value in a pass; increase max_iter, lambda_ or tol, "
                    "or scale the features."
                )
        return self

    @checked(passes=optional(integer_from(1)), keep_bytes=KEPT)
    def fit_stream(
        self,
        source: Any,
        *,
        target: Any = None,
        passes: int | None = None,
        standardize: bool = False,
        keep_bytes: int | None = None,
        **options: Any,
    ) -> PegasosClassifier:
        """Fit the machine anew to a table that need not fit into memory.

        A first pass counts the rows and classes and sums up the features; then the rows are taken
        ``passes`` times, in the order of the batches, shuffled inside each (``shuffle``); a last
        pass computes ``objective_``. Memory: about two batches, and ``keep_bytes``. Rows that are
        sorted by class should be shuffled beforehand, since the order counts.

        ``C``, ``class_weight="balanced"``, ``tol`` (which costs a pass more for each) and
        ``random_state`` mean the same as in ``fit``; ``sampling="replacement"`` is not possible.
        After Ctrl-C what was reached is kept, and ``objective_`` is None.

        Parameters
        ----------
        source : path, list of paths, iterable of (X, y), callable, or Batches
            Where the rows come from: whatever :func:`tamiz.scale.batches` takes.
        target : str or int, optional
            Column of the labels.
        passes : int, optional
            How often the rows are taken. By default ``max_iter`` times, but no more often than ten
            million steps take, and at least three times.
        standardize : bool, default=False
            Find the machine for features of mean 0 and deviation 1 (sparse ones are not shifted),
            as if they had been scaled before. ``coef_`` and ``intercept_`` are for the features as
            they are in the table; ``objective_`` and ``bound_`` for the scaled ones.
        keep_bytes : int, optional
            Memory for rows that are kept from pass to pass, checked and converted; a table that
            needs more is read anew in each. By default 1 GiB, or a quarter of the memory that is
            free if that is less; 0 keeps none.
        **options
            For :func:`tamiz.scale.batches`: ``batch_rows``, ``columns``, ``drop``, ``classes`` ...;
            and ``executor`` for passes on a cluster (those of the steps are made here).

        Returns
        -------
        self : PegasosClassifier

        Examples
        --------
        >>> from sklearn.datasets import make_blobs
        >>> from tamiz.svm import PegasosClassifier
        >>> X, y = make_blobs(300, centers=2, random_state=0)
        >>> parts = [(X[:150], y[:150]), (X[150:], y[150:])]
        >>> machine = PegasosClassifier(lambda_=0.01, random_state=0)
        >>> machine.fit_stream(parts, passes=5, standardize=True).t_
        1500
        >>> bool(machine.score(X, y) > 0.9)
        True
        """
        with unchanged_on_error(self):
            self._validate_params()
            if self.sampling == "replacement":
                raise ValueError(
                    'sampling="replacement" draws rows from anywhere, which a stream does not '
                    'allow; use sampling="permutation".'
                )
            options = {**options, "keep_bytes": keep_bytes}
            stream = Stream(self, source, target, options, sampled=False)
            warn_if_sorted(stream)
            units = stream.units() if standardize else None
            if not standardize and self.fit_intercept and not stream.table.schema.sparse:
                mean, deviation = stream.spread()
                mean = mean[deviation > 0]
                mean2 = float(mean @ mean)
                far = far_mean(mean2, mean2 + float(deviation @ deviation), _FAR)
                warn_if_far(self, far, _FAR, "Set standardize=True.")
            weight = stream.weights(self.class_weight)
            self.classes_ = stream.classes
            self._setting = self._new_setting(lambda_of(self.lambda_, self.C, stream.n_rows))
            self._random = check_random_state(self.random_state)
            with (
                np.errstate(over="ignore", invalid="ignore"),
                Progress("Pegasos", self.verbose) as progress,
            ):
                found = pegasos_passes(
                    stream,
                    self._setting,
                    units,
                    weight,
                    passes=passes or default_passes(self.max_iter, stream.n_rows),
                    batch_size=self.batch_size,
                    order=self._random.permutation if self.shuffle else np.arange,
                    tol=self.tol,
                    progress=progress,
                )
                beta = solution(found.state, self._setting)
            beta = beta if units is None else in_features(beta, units)
            self._set_weights(beta, in_range=np.isfinite(found.state.rho2).all())
            self._scaled = standardize
            self._store_passes(found, weight)
        return self

    def _store_passes(self, found: Reached, weight: np.ndarray) -> None:
        """Keep what passes over a stream reached, and warn where that is not the end."""
        self._state, self.status_ = found.state, found.status
        self.t_, self.n_iter_ = int(found.state.clock[0]), found.epochs
        self.objective_ = None if found.objective is None else per_machine(found.objective)
        bound = expected_gap(found.state, self._setting, weight)
        self.bound_ = None if bound is None else per_machine(bound)
        if self.status_ == "interrupted":
            self._warn(
                f"interrupted after {self.t_:,} steps; the machine is that of the steps taken."
            )
        elif self.status_ == "limit" and self.tol is not None:
            self._warn(
                f"after {self.n_iter_} passes the objective still falls by more than "
                f"tol={self.tol:g} of its value in a pass; raise passes, lambda_ or tol, or "
                "set standardize=True."
            )

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> PegasosClassifier:
        """Take the samples of one batch of a stream, each once or as its weight says.

        Memory does not grow with the stream. Without shuffling, the result depends on the order of
        the samples but not on how they are cut into batches (with ``batch_size`` above one: not
        if all cuts are at its multiples). After ``fit``, continues from there.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that the stream will hold. Required in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample is taken. Fractions are rounded up or down at random, so that they
            are right on average; but if none of the first batch would be taken, its heaviest sample
            is, once.

        Returns
        -------
        self : PegasosClassifier
        """
        self._validate_params()
        self._check_stream_parameters()
        first = not hasattr(self, "_state")
        announced = check_announced_classes(classes, None if first else self.classes_)
        X = check_X(self, X, reset=first, accept_sparse=True)
        codes = check_known_classes(y, X.shape[0], announced)
        weight = None if sample_weight is None else check_sample_weight(sample_weight, X.shape[0])
        samples = self._samples(X, Labels(announced, codes))
        if first:
            if X.shape[0] >= _ENOUGH:
                warn_if_far(self, self.fit_intercept and far_from_origin(X, _FAR), _FAR)
            self.classes_ = announced
            self._setting = self._new_setting(self.lambda_)
            self._random = check_random_state(self.random_state)
            self._state = new_state(len(samples.positive), X.shape[1], self._setting)
        rows = np.arange(X.shape[0])
        if weight is not None:
            rows = np.repeat(rows, self._times(weight))
            if first and not len(rows):  # there is no machine before the first step
                rows = np.array([int(weight.argmax())])
        order = rows[self._random.permutation(len(rows))] if self.shuffle else rows
        self.status_ = "stream"
        # The batch works on a copy, so that one that fails leaves the stream as it was.
        state = PegasosState(*(array.copy() for array in self._state))
        before = int(state.clock[0])
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                advance(state, samples, self._setting, order, self.batch_size)
            except KeyboardInterrupt:
                self.status_ = "interrupted"
            beta = solution(state, self._setting)
        self._set_weights(beta, in_range=np.isfinite(state.rho2).all())
        self._state = state
        self.t_ = int(self._state.clock[0])
        self.n_iter_ = 1
        self.objective_ = None
        bound = expected_gap(self._state, self._setting, samples.class_weight)
        self.bound_ = None if bound is None else per_machine(bound)
        if self.status_ == "interrupted":
            self._warn(
                f"interrupted after {self.t_ - before:,} steps of this batch; they are kept, the "
                "rest of the batch is not."
            )
        return self

    def _samples(self, X: Any, labels: Labels, weight: np.ndarray | None = None) -> OnlineSamples:
        of_class = check_class_weight(self.class_weight, labels, weight)
        positive = positive_classes(len(labels.classes))
        return OnlineSamples(X, labels.codes, positive, of_class, weight)

    def _new_setting(self, lambda_: float) -> Setting:
        if not self.fit_intercept:
            intercept = Intercept.NONE
        else:
            intercept = Intercept.PENALISED if self.penalize_intercept else Intercept.FREE
        delay = None if isinstance(self.t0, str) else float(self.t0)
        return Setting(float(lambda_), intercept, _AVERAGING[self.average], delay)

    def _order_of(self, n: int) -> Any:
        if self.sampling == "replacement":
            return lambda: self._random.randint(n, size=n)
        if self.shuffle:
            return lambda: self._random.permutation(n)
        given = np.arange(n)
        return lambda: given

    def _weighted_order(self, weight: np.ndarray) -> Any:
        """The same where a pass takes each row as often as its weight says.

        As weights may have any unit, a pass has not fewer steps than rows, nor without end.
        """
        n, total = len(weight), float(weight.sum())
        steps = min(max(total, n), max(_MOST_TIMES * n, _MOST_STEPS))
        if steps != total:
            weight = weight / total * steps
        if (weight == np.floor(weight)).all():
            rows = np.repeat(np.arange(len(weight)), weight.astype(np.intp))
            inner = self._order_of(len(rows))
            return lambda: rows[inner()]
        if self.sampling == "replacement":
            fraction = weight / weight.sum()
            size = round(float(np.cumsum(weight)[-1]))
            return lambda: self._random.choice(n, size=size, p=fraction)

        def draw() -> np.ndarray:
            rows = np.repeat(np.arange(len(weight)), self._times(weight))
            return self._random.permutation(rows) if self.shuffle else rows

        return draw

    def _times(self, weight: np.ndarray) -> np.ndarray:
        """How often a pass takes each row: fractions are rounded so that the mean is right."""
        upto = np.concatenate([[0.0], np.cumsum(weight)])
        if not (weight == np.floor(weight)).all():
            upto += self._random.random_sample()
        return np.diff(np.floor(upto)).astype(np.intp)

    def _check_stream_parameters(self) -> None:
        if self.C is not None:
            raise ValueError(
                f"C={self.C:g} stands for lambda_ = 1/(n_samples * C), but partial_fit does not "
                "know how many samples the stream will hold; set C=None and choose lambda_."
            )
        if isinstance(self.class_weight, str):
            raise ValueError(
                f'class_weight="{self.class_weight}" needs the frequencies of the classes, which '
                "partial_fit cannot know; pass a dict, for instance class_weight={0: 1, 1: 5}."
            )
        if getattr(self, "_scaled", False):
            raise ValueError(
                "partial_fit cannot go on after fit_stream(standardize=True): its steps were made "
                "for scaled features. Use a new machine (sklearn.base.clone), or fit_stream again."
            )
        if hasattr(self, "_state") and self._new_setting(self.lambda_) != self._setting:
            raise ValueError(
                "lambda_, average, t0, fit_intercept or penalize_intercept has changed since the "
                f"last call (lambda_ was {self._setting.lambda_:g} and is {self.lambda_:g}); a "
                "stream cannot go on with other settings. Use a new machine (sklearn.base.clone), "
                "or fit."
            )
