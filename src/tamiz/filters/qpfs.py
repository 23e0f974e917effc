r"""Feature selection as a quadratic programme: relevance against redundancy, all features at once.

.. math::

    \min_x \; \tfrac12 (1 - \alpha)\, x'Qx - \alpha F'x
    \quad\text{s.t.}\quad x \ge 0,\; \textstyle\sum_j x_j = 1

``Q`` holds the similarities between features, ``F`` those with the target. It is the one quadratic
problem of this package over the simplex (:func:`tamiz.qp.simplex_problem`); its solutions are
sparse, so that pair steps need few rows of ``Q``. In a subspace, and with Nyström's method, the
weights are a combination of few eigenvectors, :math:`x = \tilde Uy`, and
:mod:`tamiz.solvers.subspace` finds the coefficients.

References
----------
.. [1] I. Rodriguez-Lujan, R. Huerta, C. Elkan, C. Santa Cruz (2010). Quadratic programming feature
       selection. JMLR 11.
.. [2] S. Fine, K. Scheinberg (2001). Efficient SVM training using low-rank kernel representations.
       JMLR 2.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import Stopwatch, number_to_select, order_by
from tamiz.filters import streaming
from tamiz.filters.base import (
    DEVICE,
    HOW_MANY,
    NO_STREAM,
    REGRESSION,
    Filter,
    refuse_card,
    refuse_categories,
    warn_of_nothing,
)
from tamiz.filters.redundancy import Redundancy, exact, nystroem, sample_features, subspace
from tamiz.filters.similarity import (
    Custom,
    Given,
    Kind,
    Similarity,
    read_numbers,
    similarity_of_arrays,
    similarity_of_stream,
)
from tamiz.filters.streaming import Needs, Stream
from tamiz.information.encoding import BINNING
from tamiz.qp import simplex_problem
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import limit_threads, one_blas_thread
from tamiz.solvers import QPResult, Status, solve
from tamiz.solvers.subspace import solve_in_subspace
from tamiz.validation import (
    N_JOBS,
    as_vector,
    check_counted_rows,
    depth_of_caller,
    guess_task,
    numbers_of,
    refused,
    unchanged_on_error,
)

#: The least number of features that ``nystroem="auto"`` samples.
_LEAST_SAMPLE = 20

#: Twice as many sampled features must bring the error below this fraction.
_GAIN = 0.9


class QPFS(Filter):
    r"""Quadratic programming feature selection.

    Gives every feature a weight: the point of the simplex that minimises
    :math:`\tfrac12(1-\alpha)x'Qx - \alpha F'x`, with the similarities ``Q`` between features
    (redundancy) and ``F`` with the target (relevance). Features are ranked by weight; those of
    equal weight, which are above all the many of weight zero, by relevance.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        Number or fraction of features; by default those with a weight above zero, and none, with a
        warning, if no feature has to do with the target.
    alpha : float in [0, 1] or "auto", default="auto"
        Weight of relevance. 1 ranks by relevance alone (as MaxRel does), 0 looks for the least
        redundant features whatever the target. ``"auto"`` is ``q / (q + f)`` with the mean entries
        ``q`` of ``Q`` and ``f`` of ``F``, at which both terms weigh the same; with Nyström, ``q``
        is the mean over the rows that were computed.
    similarity : str, callable or array, default="mutual_information"
        ``"mutual_information"`` after discretisation; ``"symmetrical_uncertainty"``, which is that
        divided by the mean of the two entropies and does not favour features of few or rare levels;
        or ``"pearson"``, absolute correlation (with a class of several labels:
        :math:`\sum_k p(c_k)|\rho(f, 1[c=c_k])|`). A callable takes two tables and returns
        the similarities between the columns of the first and those of the second. An array is
        ``Q`` itself and needs ``relevance``.
    relevance : callable or array of shape (n_features,), optional
        ``F``, or a function of ``(X, y)`` that returns it. By default the similarity with the
        target.
    nystroem : float in (0, 1] or "auto", optional
        Fraction of the features whose rows of ``Q`` are computed; the eigenvectors follow from
        them by Nyström's method, and the weights are a combination of these (see ``diagonal``). By
        default, and with 1.0, ``Q`` is exact. ``"auto"`` starts with a hundredth of the features,
        20 at least, and doubles the sample until the estimated error is ``max_error`` at most, or
        falls by less than a tenth, or half of the features are sampled;
        ``selection_.notes["tried"]`` holds the sizes tried and their errors.
    sampling : {"uniform", "kmeans", "leverage"}, default="uniform"
        How these features are chosen: at random; those nearest to the centres of as many clusters
        of features; at random in proportion to their leverage.
    diagonal : {"nystroem", "exact"}, default="nystroem"
        What is solved with Nyström and with ``rank_tol``. ``"nystroem"`` is the published method:
        the weights are confined to the span of the eigenvectors kept, and nearly all differ from
        zero. ``"exact"`` leaves them free and restores the diagonal of ``Q`` where the
        approximation is smaller: few weights differ from zero, as with the exact matrix, and they
        come much nearer to the exact ones. It is the better choice unless published results are to
        be compared.
    max_error : float, default=0.25
        Error, as in ``approximation_error_``, with which ``nystroem="auto"`` is content.
    rank_tol : float, optional
        Leave out the eigenvalues of ``Q`` (with Nyström, of its sampled block) up to this one, and
        in any case those that are not positive: the problem is then convex.
    min_entropy : float in [0, 1], default=0.05
        With mutual information, features whose entropy is below this fraction of the mean are left
        out of the problem like constant ones. The similarity of a feature with itself is its
        entropy, so that one with a single odd value seems to be the least redundant of all. 0.0
        leaves out constant features only.
    bins : {"mean_std", "mdl", "width", "frequency"} or None, default="mean_std"
        Discretisation for information; ``None`` if the features are discrete already.
    n_bins : int, default=5
        Number of bins of equal width or frequency.
    categorical_features : array-like, optional
        Features whose values are categories: indices, names or a mask. Columns that hold
        text or, in a data frame, categories always are. For information only.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether ``y`` holds labels or numbers. ``"auto"``: text is labels, and so are two integers,
        or at most twenty with two rows or more for each; other numbers are numbers.
        A regression needs a similarity other than information.
    tol : float, default=1e-8
        KKT violation at which the solver stops, relative to the largest coefficient.
    random_state : int, RandomState or None, default=None
        Seed of the sampling.
    verbose : bool or int, default=0
        Show progress.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.
    device : {"cpu", "cuda", "auto"} or None, default=None
        Where pairs of columns are counted: on the CPU, on a GPU, or on a GPU if there is one that
        works. The result is the same. ``fit_stream``, and similarities that are not counted, use
        the CPU.

    Attributes
    ----------
    weights_, scores_ : array of shape (n_features,)
        The solution ``x``. Features left out have weight zero and come behind the others, constant
        ones last.
    relevance_ : array of shape (n_features,)
        ``F``.
    alpha_ : float
        Weight of relevance used.
    n_suggested_ : int
        Number of features with a weight above zero.
    objective_ : float
        Value of the objective at the solution, with the matrix that was used.
    kkt_violation_ : float
        How far the solution is from optimality: the violation of the KKT conditions, or, for
        weights in a subspace, the duality gap.
    status_ : str
        Why the solver stopped.
    n_iter_ : int
        Steps of the solver: changes of a pair of weights, or of the set of weights held at zero.
    approximation_error_ : float
        Relative error (Frobenius) of the matrix that was used: 0 if exact, of the part left out
        with ``rank_tol``; with Nyström an estimate of :math:`‖E - B'A^+B‖/‖E‖` from some rows.
    error_bound_ : float or None
        With ``rank_tol`` and without Nyström, a bound on what the approximation costs in the
        objective of the exact matrix: :math:`g'x - \min_j g_j` with its gradient ``g``; where the
        matrix is indefinite, :math:`(1-\alpha)|\lambda_{min}|` more. Else ``None``. The published
        bound :math:`l(M-k)\delta/2`, with ``l`` weights above zero and ``k`` eigenvalues kept, is
        ``selection_.notes["published_bound"]`` (absent with Nyström); it does not hold for weights
        in a subspace (see the user guide).
    smallest_eigenvalue_ : float or None
        Of ``Q``, or of its sampled block, if it is negative; for more than 200 features an
        estimate from above. ``None`` if it was shown not to be negative, or not looked at.
    is_stationary_only_ : bool or None
        True if the matrix that was used is indefinite: the solution is then a stationary point,
        not certainly the global optimum. ``None`` if not known (a very large matrix).
    sampled_features_ : array
        The features whose rows of ``Q`` were computed.
    support_, ranking_, order_, selection_
        As in every selector.

    See Also
    --------
    MRMR : Weighs the same two terms one feature at a time.

    Notes
    -----
    Neither matrices of mutual information nor of absolute correlations are positive semi-definite
    in general. The exact problem is then not convex. ``rank_tol=0.0`` with ``diagonal="exact"``
    replaces the matrix by the nearest one that is; the approximation by Nyström is always convex.

    References
    ----------
    .. [1] I. Rodriguez-Lujan, R. Huerta, C. Elkan, C. Santa Cruz (2010). Quadratic programming
           feature selection. JMLR 11.

    Examples
    --------
    The second feature repeats the first, the third tells something else:

    >>> import numpy as np
    >>> from tamiz.filters import QPFS
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> a, b = rng.normal(size=(2, 200)) + y
    >>> X = np.column_stack([a, 2 * a, b, rng.normal(size=200)])
    >>> selector = QPFS(similarity="pearson", alpha=0.5).fit(X, y)
    >>> w = selector.weights_
    >>> f"{w[0] + w[1]:.2f}, {w[2]:.2f}, {w[3]:.2f}"
    '0.43, 0.51, 0.06'
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "alpha": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
        "similarity": [
            StrOptions({"mutual_information", "symmetrical_uncertainty", "pearson"}),
            callable,
            "array-like",
        ],
        "relevance": [None, callable, "array-like"],
        "nystroem": [None, Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "sampling": [StrOptions({"uniform", "kmeans", "leverage"})],
        "diagonal": [StrOptions({"nystroem", "exact"})],
        "max_error": [Interval(Real, 0, None, closed="left")],
        "rank_tol": [None, Interval(Real, 0, None, closed="left")],
        "min_entropy": [Interval(Real, 0, 1, closed="both")],
        **{name: BINNING[name] for name in ("bins", "n_bins", "categorical_features")},
        "n_features_to_select": HOW_MANY,
        "task": [StrOptions({"auto", "classification", "regression"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "n_jobs": N_JOBS,
        "device": DEVICE,
    }

    def __init__(
        self,
        n_features_to_select: Any = "auto",
        *,
        alpha: float | str = "auto",
        similarity: Any = "mutual_information",
        relevance: Any = None,
        nystroem: float | str | None = None,
        sampling: str = "uniform",
        diagonal: str = "nystroem",
        max_error: float = 0.25,
        rank_tol: float | None = None,
        min_entropy: float = 0.05,
        bins: str | None = "mean_std",
        n_bins: int = 5,
        categorical_features: Any = None,
        task: str = "auto",
        tol: float = 1e-8,
        random_state: Any = None,
        verbose: bool | int = 0,
        n_jobs: int | None = None,
        device: str | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.similarity = similarity
        self.relevance = relevance
        self.nystroem = nystroem
        self.sampling = sampling
        self.diagonal = diagonal
        self.max_error = max_error
        self.rank_tol = rank_tol
        self.min_entropy = min_entropy
        self.bins = bins
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.task = task
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.device = device

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = self._uses_codes()
        return tags

    def _validate_params(self) -> None:
        super()._validate_params()
        if isinstance(self.nystroem, (bool, np.bool_)):
            advice = 'must be a fraction of the features, "auto" or None.'
            raise refused("nystroem", self.nystroem, advice)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> QPFS:
        """Find the weights of the features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Samples. With mutual information it may be sparse, hold text columns (taken as
            categories) and lack values (missing is then a value of its own); otherwise it must be
            dense and complete.
        y : array-like of shape (n_samples,)
            Class labels, or numbers for a regression.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples: each counts like so many rows, an integer
            exactly as if the row were repeated. Rows of weight zero are left out.

        Returns
        -------
        self : QPFS
        """
        self._validate_params()
        with unchanged_on_error(self), limit_threads(self.n_jobs):
            return self._fit(*check_counted_rows(X, as_vector(y), sample_weight))

    def _fit(self, X: Any, y: Any, weight: np.ndarray | None) -> QPFS:
        watch = Stopwatch()
        similarity = self._read(X, y, weight)
        return self._solve(similarity, watch, lambda: self._relevance_of(X, y, similarity))

    def _solve(
        self,
        similarity: Similarity,
        watch: Stopwatch,
        relevance: Callable[[], np.ndarray],
        summary: Callable[[], dict[str, Any]] = dict,
    ) -> QPFS:
        n_features = similarity.n_features
        wanted = self.n_features_to_select
        number_to_select(wanted, n_features, 1)  # refuses before the work, not after it
        self.relevance_ = relevance()
        self.weights_ = np.zeros(n_features)
        notes = self._weigh(similarity)
        self.n_suggested_ = int(np.count_nonzero(self.weights_))
        own = self.n_suggested_
        if not self._found_relevance(similarity):
            own = 0
        informative = np.zeros(n_features) if similarity.varies is None else 1.0 * similarity.varies
        informative[similarity.kept] = 2.0
        self._finish(
            order=order_by(self.weights_, informative, self.relevance_),
            n_selected=number_to_select(wanted, n_features, own),
            scores=self.weights_,
            seconds=watch.seconds,
            notes={**notes, **summary()},
        )
        return self

    fit_stream = streaming.fit_stream

    def _stream_needs(self) -> Needs:
        refuse_card(self.device, *NO_STREAM)
        if not isinstance(self.similarity, str):
            kind = "a function" if callable(self.similarity) else "an array"
            raise ValueError(
                f"similarity is {kind}, which fit_stream cannot use; it takes "
                '"mutual_information", "symmetrical_uncertainty" or "pearson".'
            )
        if callable(self.relevance):
            raise ValueError(
                "relevance is a function of X and y, which are not in memory in fit_stream; pass "
                "one number for each feature, or leave it out."
            )
        if not self._uses_codes():
            self._refuse_categories()
        return Needs(self.task, self._uses_codes(), instead=REGRESSION, keeps_classes=False)

    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        # Nyström's method needs some rows only. Where the tables of all pairs fit into the budget,
        # they cost less all the same than the pass more that it takes to know which.
        similarity = similarity_of_stream(
            self,
            stream,
            self._kind(),
            sample_size,
            sampled=self.nystroem is not None and self.sampling != "uniform",
            pairs=self.alpha != 1.0,
        )

        def relevance() -> np.ndarray:
            return self._relevance_of(None, None, similarity)

        return self._solve(similarity, watch, relevance, stream.summary)

    def _kind(self) -> Kind:
        counted = self.similarity == "mutual_information"
        return Kind(self.similarity, "similarity", self.min_entropy if counted else 0.0)

    def _refuse_weights(self, weight: np.ndarray | None) -> None:
        if weight is not None:
            raise ValueError(
                "sample_weight was given, but the similarity is a function or an array, which "
                "knows no weights; leave sample_weight out, or use one of the named similarities."
            )

    def _refuse_categories(self) -> None:
        what = 'similarity="pearson"' if isinstance(self.similarity, str) else "a similarity given"
        refuse_categories(self.categorical_features, what, 'similarity="mutual_information"')

    def _found_relevance(self, similarity: Similarity) -> bool:
        """Whether any feature has to do with the target; warns if not."""
        if similarity.n == 0:
            warn_of_nothing(self, "every feature is constant", "")
        elif self.alpha != 0.0 and similarity.relevance.max() <= 0.0:
            warn_of_nothing(self, "the similarity with the target is 0 for every feature")
        else:
            return True
        return False

    def _uses_codes(self) -> bool:
        return isinstance(self.similarity, str) and self.similarity != "pearson"

    def _read(self, X: Any, y: Any, weight: np.ndarray | None) -> Similarity:
        """Check the data and put the similarity before them."""
        task = guess_task(y) if self.task == "auto" else self.task
        if not self._uses_codes():
            what = "a similarity that is not counted"
            refuse_card(self.device, what, 'use similarity="mutual_information"')
            self._refuse_categories()
        if isinstance(self.similarity, str):
            return similarity_of_arrays(self, X, y, task, self._kind(), weight)
        self._refuse_weights(weight)
        X, target = read_numbers(self, X, y, task)
        if callable(self.similarity):
            return Custom(X, target, self.similarity)
        if self.relevance is None:
            raise ValueError(
                "similarity is an array, which tells nothing about the target; pass "
                "relevance as well: one value for each feature, or a function of X and y."
            )
        return Given(self.similarity, X.shape[1])

    def _relevance_of(self, X: Any, y: Any, similarity: Similarity) -> np.ndarray:
        """Relevance of all features, that of the informative ones put into the similarity."""
        n_features = similarity.n_features
        if self.relevance is None:
            relevance = np.zeros(n_features)
            relevance[similarity.kept] = similarity.relevance
            return relevance
        given = self.relevance(X, y) if callable(self.relevance) else self.relevance
        relevance = numbers_of("relevance", given)
        if relevance.shape != (n_features,) or not np.isfinite(relevance).all():
            raise ValueError(
                f"relevance must give one finite number for each of the {n_features} features; it "
                f"has shape {relevance.shape}."
            )
        similarity.relevance = relevance[similarity.kept]
        return relevance

    def _weigh(self, similarity: Similarity) -> dict[str, Any]:
        """State the problem, solve it, and describe the solution; return notes on it."""
        if similarity.n == 0:
            return self._nothing_to_weigh()
        if self.alpha == 1.0:
            return self._relevance_only(similarity)
        F = similarity.relevance
        with Progress("QPFS", self.verbose) as progress:
            similarity.progress = progress
            redundancy = self._redundancy(similarity)
            self.alpha_ = self._balance(redundancy, F)
        # The objective divided by 1 - alpha: the matrix stays as it is.
        rest = 1.0 - self.alpha_
        p = F * (-self.alpha_ / rest)
        with one_blas_thread():  # many small products between compiled loops
            result = self._minimise(redundancy, p)
        self.weights_[similarity.kept] = result.a
        self.objective_ = rest * float(result.objective or 0.0)
        self.kkt_violation_ = rest * float(result.violation or 0.0)
        self.status_ = result.status.value
        self.n_iter_ = result.iterations
        self._trust(redundancy, similarity)
        return self._notes(redundancy, similarity.n)

    def _minimise(self, redundancy: Redundancy, p: np.ndarray) -> QPResult:
        """The weights, on the simplex or on the part of it that lies in the subspace."""
        if redundancy.span is not None:
            result = solve_in_subspace(redundancy.span, p, tol=self.tol, verbose=self.verbose)
            if result.status is Status.INFEASIBLE:
                raise ValueError(
                    f"No combination of the {redundancy.rank} eigenvectors kept gives weights that "
                    "are not negative, as happens where similarities are negative; keep more of "
                    'them, or use diagonal="exact".'
                )
            return result
        scale = max(float(np.abs(redundancy.diag).max()), float(np.abs(p).max()))
        start = np.zeros(len(p))
        # The best single feature, which does not depend on the order of the columns.
        start[np.argmin(0.5 * redundancy.diag + p)] = 1.0
        problem = simplex_problem(redundancy.Q, p)
        return solve(problem, tol=self.tol * scale, start=start, verbose=self.verbose)

    def _redundancy(self, similarity: Similarity) -> Redundancy:
        """The matrix of the quadratic term: exact, its subspace, or from a sample."""
        M = similarity.n
        rank_tol, restored = float(self.rank_tol or 0.0), self.diagonal == "exact"
        if self.nystroem == "auto" and M > _LEAST_SAMPLE:
            return self._good_sample(similarity, rank_tol, restored)
        k = max(1, round(self.nystroem * M)) if isinstance(self.nystroem, Real) else M
        if k < M:
            rng = check_random_state(self.random_state)
            sample = sample_features(similarity, k, self.sampling, rng)
            return nystroem(similarity, sample, rank_tol, restored, rng)
        if self.rank_tol is None:
            return exact(similarity)
        return subspace(similarity, rank_tol, restored)

    def _good_sample(self, similarity: Similarity, rank_tol: float, restored: bool) -> Redundancy:
        """Double the sample until the error is small, or does not fall any more."""
        M = similarity.n
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        best: Redundancy | None = None
        tried: list[tuple[int, float]] = []
        k = max(_LEAST_SAMPLE, round(0.01 * M))
        while best is None or best.error > self.max_error:
            rng = check_random_state(seed)  # the same: uniform samples contain the smaller ones
            sample = sample_features(similarity, min(k, M - 1), self.sampling, rng)
            found = nystroem(similarity, sample, rank_tol, restored, rng)
            tried.append((len(sample), float(found.error)))
            similarity.progress.update(
                f"{len(sample)} of {M} features sampled, estimated error {found.error:.3g}"
            )
            gained = best is None or found.error < _GAIN * best.error
            best = found if best is None or found.error < best.error else best
            if not gained or 2 * len(sample) >= M:
                break
            k *= 2
        if best.error > self.max_error:
            remedy = "" if restored else ' or diagonal="exact"'
            warnings.warn(
                f"With {len(best.sample)} of {M} features sampled the estimated error of the "
                f"similarities is {best.error:.3g}, above max_error={self.max_error:g}, and "
                f"more hardly help; the exact matrix (nystroem=None){remedy} may.",
                UserWarning,
                stacklevel=depth_of_caller(),
            )
        return best._replace(tried=tuple(tried))

    def _balance(self, redundancy: Redundancy, F: np.ndarray) -> float:
        if not isinstance(self.alpha, str):
            return float(self.alpha)
        q, f = redundancy.mean(), float(F.mean())
        # A target that no feature tells anything about, but rounding, leaves redundancy as the
        # only guide.
        return q / (q + f) if q > 0.0 and q + f > q else 0.0

    def _trust(self, redundancy: Redundancy, similarity: Similarity) -> None:
        """Say how far the matrix that was used can be trusted."""
        self.approximation_error_ = redundancy.error
        self.smallest_eigenvalue_ = redundancy.smallest
        self.is_stationary_only_ = redundancy.is_indefinite
        self.sampled_features_ = similarity.kept[redundancy.sample]
        self.error_bound_: float | None = None
        if redundancy.matrix is not None:
            x, Q = self.weights_[similarity.kept], redundancy.matrix
            g = (1.0 - self.alpha_) * (Q @ x) - self.alpha_ * similarity.relevance
            negative = (1.0 - self.alpha_) * max(0.0, -float(redundancy.smallest or 0.0))
            self.error_bound_ = float(g @ x - g.min()) + negative

    def _notes(self, redundancy: Redundancy | None, n_informative: int) -> dict[str, Any]:
        notes: dict[str, Any] = {
            "alpha": self.alpha_,
            "objective": self.objective_,
            "kkt_violation": self.kkt_violation_,
            "status": self.status_,
            "n_suggested": int(np.count_nonzero(self.weights_)),
            "n_left_out": len(self.weights_) - n_informative,
            "approximation_error": self.approximation_error_,
            "smallest_eigenvalue": self.smallest_eigenvalue_,
            "is_stationary_only": self.is_stationary_only_,
        }
        if redundancy is not None and redundancy.rank is not None:
            notes["rank"] = redundancy.rank
            notes["n_sampled"] = len(redundancy.sample)
            if redundancy.tried:
                notes["tried"] = [list(step) for step in redundancy.tried]
            notes["error_norm"] = redundancy.error_norm
            notes["error_bound"] = self.error_bound_
            if redundancy.matrix is not None:
                lost = redundancy.n_left_out * float(self.rank_tol or 0.0)
                notes["published_bound"] = 0.5 * notes["n_suggested"] * lost
            notes["eigenvalues_left_out"] = redundancy.n_left_out
            notes["negative_eigenvalues"] = redundancy.n_negative
        return notes

    def _relevance_only(self, similarity: Similarity) -> dict[str, Any]:
        """Without the quadratic term all weight goes to the most relevant feature."""
        best = int(np.argmax(similarity.relevance))
        self.weights_[similarity.kept[best]] = 1.0
        return self._without_matrix(1.0, -float(similarity.relevance[best]), similarity.n)

    def _nothing_to_weigh(self) -> dict[str, Any]:
        """Every feature is constant: all are equally useless, and none gets any weight."""
        return self._without_matrix(0.0 if self.alpha == "auto" else self.alpha, 0.0, 0)

    def _without_matrix(self, alpha: Any, objective: float, n_informative: int) -> dict[str, Any]:
        self.alpha_ = float(alpha)
        self.objective_, self.kkt_violation_, self.approximation_error_ = objective, 0.0, 0.0
        self.error_bound_ = self.smallest_eigenvalue_ = None
        self.is_stationary_only_, self.status_, self.n_iter_ = False, "converged", 0
        self.sampled_features_ = np.empty(0, dtype=np.intp)
        return self._notes(None, n_informative)
