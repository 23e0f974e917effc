"""The k nearest neighbours: classes by vote, for numbers, nominal attributes, or both."""

from __future__ import annotations

import numbers
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tamiz.base import ScoredClassifier
from tamiz.callbacks import TakesCallbacks
from tamiz.display import Evidence
from tamiz.information.encoding import BINNING
from tamiz.neighbors._attributes import (
    check_feature_weights,
    read_queries,
    read_training,
    refuse_missing,
    refuse_nominal,
)
from tamiz.neighbors._search import choose_finder, find_neighbours
from tamiz.neighbors._space import (
    METRICS,
    MISMATCH,
    SCALINGS,
    UNFIT,
    Distance,
    Space,
    make_space,
)
from tamiz.neighbors.voting import VotingNeighbours
from tamiz.pictures import ClassifierPlot
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import limit_threads, run_tiles
from tamiz.validation import (
    N_JOBS,
    check_classes,
    check_sample_weight,
    integer_from,
    refuse_no_jobs,
    unchanged_on_error,
    warn_if_unscaled,
)

# From neighbours to classes: votes and ties, for several numbers of neighbours at once.

#: Winner where classes tie and none is to be taken.
NOBODY = -1


class TieRule(NamedTuple):
    """What happens if classes have the same votes.

    Of the tied classes the one with the largest ``preference`` is taken, then the one with the
    nearest neighbour; none if the rule is to ``abstain``.
    """

    preference: np.ndarray
    abstain: bool


def nearest_rule(counts: np.ndarray) -> TieRule:
    """The class of the nearest neighbour among the tied."""
    return TieRule(np.zeros(len(counts)), False)


def frequent_rule(counts: np.ndarray) -> TieRule:
    """The class with most training samples among the tied."""
    return TieRule(counts.astype(np.float64), False)


def abstain_rule(counts: np.ndarray) -> TieRule:
    """No class."""
    return TieRule(np.zeros(len(counts)), True)


TIE_RULES = {"nearest": nearest_rule, "frequent": frequent_rule, "abstain": abstain_rule}


def equal_votes(distances: np.ndarray) -> np.ndarray:
    """One for each neighbour; none for those of which nothing is known in common."""
    return np.isfinite(distances).astype(np.float64)


def near_votes(distances: np.ndarray) -> np.ndarray:
    """One over the distance; those at distance zero, if there are any, vote alone.

    All times the distance of the nearest, which keeps the votes of very near ones finite.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        votes = distances[:, :1] / distances
    votes[np.isinf(distances)] = 0.0
    same = distances == 0
    alone = same.any(axis=1)
    votes[alone] = same[alone]
    return votes


VOTES = {"uniform": equal_votes, "distance": near_votes}


def winners(
    rows: np.ndarray, votes: np.ndarray, codes: np.ndarray, counts: np.ndarray, ks: np.ndarray,
    rule: TieRule,
) -> np.ndarray:  # fmt: skip
    """Code of the winning class for each query and each of the ascending ``ks``."""
    out = np.empty((len(rows), len(ks)), dtype=np.intp)
    run_tiles(
        _winners, len(rows), rows, votes, codes, counts.astype(np.float64), ks.astype(np.intp),
        rule, out, min_items=1 + 2**16 // max(1, int(ks[-1])),
    )  # fmt: skip
    return out


def proportions(
    rows: np.ndarray, votes: np.ndarray, codes: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Proportion of the votes of each class; of the training samples if nobody votes."""
    total = np.empty((len(rows), len(counts)))
    for c in range(len(counts)):
        total[:, c] = np.where(codes[rows] == c, votes, 0.0).sum(axis=1)
    total[~total.any(axis=1)] = counts
    return total / total.sum(axis=1, keepdims=True)


@njit(cache=True, nogil=True)
def _winners(start, stop, rows, votes, codes, counts, ks, rule, out):
    n_classes = len(counts)
    total = np.empty(n_classes)
    came = np.empty(n_classes, dtype=np.intp)  # when a class first voted
    for q in range(start, stop):
        total[:] = 0.0
        came[:] = n_classes + rows.shape[1]
        r = 0
        for s in range(len(ks)):
            while r < ks[s]:
                c = codes[rows[q, r]]
                if votes[q, r] > 0:
                    if total[c] == 0:
                        came[c] = r
                    total[c] += votes[q, r]
                r += 1
            if total.max() > 0:
                out[q, s] = _winner(total, came, rule)
            else:
                out[q, s] = _winner(counts, came, rule)


@njit(cache=True, nogil=True)
def _winner(total, came, rule):
    preference = rule.preference
    most = total.max() * (1 - 1e-9)  # sums of reciprocals tie up to rounding
    best, tied = -1, 0
    for c in range(len(total)):
        if total[c] < most:
            continue
        tied += 1
        if (
            best < 0
            or preference[c] > preference[best]
            or (preference[c] == preference[best] and came[c] < came[best])
        ):
            best = c
    return NOBODY if rule.abstain and tied > 1 else best


class Voters(NamedTuple):
    """The training samples of a fitted classifier, and how far others are from them."""

    space: Space
    metric: Distance
    codes: np.ndarray
    coded: np.ndarray


def _rows_of(table: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, or of a CSC matrix."""
    return table.tocsr()[rows].tocsc() if hasattr(table, "tocsr") else table[rows]


#: What to do if y is a numeric target.
NUMBERS = "use a regression such as sklearn.neighbors.KNeighborsRegressor"


class KNNClassifier(TakesCallbacks, Evidence, ScoredClassifier, ClassifierPlot, BaseEstimator):
    r"""Classification by the k nearest training samples.

    A sample gets the class that most of its ``n_neighbors`` nearest training samples have. Nothing
    is learned beyond the scales of the attributes: all work is done when predicting.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number k of neighbours that vote. See :func:`choose_k`.
    metric : {"euclidean", "manhattan", "hamming", "mixed"}, default="euclidean"
        The distance. "euclidean" and "manhattan" are for numbers. "hamming" counts the attributes
        that differ and takes every attribute as nominal. "mixed" adds
        :math:`|x_j - z_j| / s_j` over the attributes of numbers and 1 for each nominal attribute
        that differs, each times its weight (Gower's distance).
    scaling : {"auto", "none", "zscore", "range"}, default="auto"
        What differences of numbers are divided by: nothing, the standard deviation, or the range of
        the attribute in the training samples. "auto" is "range" for the mixed metric, else "none".
    feature_weights : array-like or dict, optional
        One weight for each column, or the weights of some columns by name (of others 1) in a dict
        or as the index of a pandas Series. A weight of zero leaves the column out.
    weights : {"uniform", "distance"}, default="uniform"
        Whether every neighbour has one vote, or one over its distance. Of the latter, training
        samples at distance zero vote alone.
    ties : {"nearest", "frequent", "abstain"}, default="nearest"
        What happens if several classes have the most votes: of these, the one with the nearest
        neighbour is taken; or the one with the most training samples (the nearest, if that ties
        too); or none, and the answer is ``reject_label``.
    reject_label : label, optional
        What ``predict`` says where it abstains. By default -1 if the classes are numbers, and
        "abstain" if they are text. It must not be a class.
    categorical_features : array-like, optional
        Columns that are nominal: indices, names or a mask. Columns that hold text or, in a data
        frame, categories always are.
    missing : {"ignore", "error"}, default="ignore"
        Whether distances are taken over the attributes known in both samples, and scaled up by the
        weight of all attributes over that of the known ones; or missing values are refused.
    algorithm : {"auto", "kd_tree", "brute"}, default="auto"
        A search tree, or all pairs. The answer is the same. Nominal attributes, missing values and
        sparse matrices are always searched by all pairs.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.
    verbose : bool or int, default=0
        Show progress when a search takes longer than two seconds.

    Attributes
    ----------
    classes_ : array
        Class labels, sorted; without the reject label.
    class_count_ : array of shape (n_classes,)
        Training samples of each class; sums of their weights, if there were some.
    categorical_ : boolean array of shape (n_features,)
        Which columns are nominal.
    scale_ : array of shape (n_features,)
        What differences of each column are divided by; 1 for nominal and for constant ones.
    feature_weights_ : array of shape (n_features,)
        Weight of each column.
    reject_label_ : label or None
        What ``predict`` says where it abstains; None if it never does.
    n_samples_fit_, n_features_in_ : int
        Number of training samples and of columns.
    feature_names_in_ : array
        Names of the columns, where they have names that are text.

    See Also
    --------
    choose_k : training, cross-validated and test error for many k.
    tamiz.filters.ReliefF : neighbours as judges of attributes.

    Notes
    -----
    Of training samples at the same distance the one with the smaller row number is nearer;
    distances (squared, for the Euclidean metric) that agree in their first 36 bits are the same.

    A category that was not in the training samples differs from all of them. A sample of which
    nothing is known in common with any neighbour gets the votes of all training samples.

    ``score`` counts an abstention as an error.

    References
    ----------
    .. [1] T. Cover, P. Hart (1967). Nearest neighbor pattern classification. IEEE Transactions on
       Information Theory 13.
    .. [2] J. C. Gower (1971). A general coefficient of similarity and some of its properties.
       Biometrics 27.

    Examples
    --------
    >>> from tamiz.neighbors import KNNClassifier
    >>> X = [[170, "blue"], [147, "brown"], [150, "brown"], [175, "blue"], [None, "blue"]]
    >>> y = ["tall", "short", "short", "tall", "tall"]
    >>> knn = KNNClassifier(3, metric="mixed").fit(X, y)
    >>> knn.categorical_.tolist(), knn.scale_.tolist()
    ([False, True], [28.0, 1.0])
    >>> knn.predict([[172, "green"], [151, None]]).tolist()
    ['tall', 'short']
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions(set(METRICS))],
        "scaling": [StrOptions({"auto", *SCALINGS})],
        "feature_weights": ["array-like", dict, None],
        "weights": [StrOptions(set(VOTES))],
        "ties": [StrOptions(set(TIE_RULES))],
        "reject_label": [str, numbers.Real, None],
        "categorical_features": BINNING["categorical_features"],
        "missing": [StrOptions({"ignore", "error"})],
        "algorithm": [StrOptions({"auto", "kd_tree", "brute"})],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        metric: str = "euclidean",
        scaling: str = "auto",
        feature_weights: Any = None,
        weights: str = "uniform",
        ties: str = "nearest",
        reject_label: Any = None,
        categorical_features: Any = None,
        missing: str = "ignore",
        algorithm: str = "auto",
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.scaling = scaling
        self.feature_weights = feature_weights
        self.weights = weights
        self.ties = ties
        self.reject_label = reject_label
        self.categorical_features = categorical_features
        self.missing = missing
        self.algorithm = algorithm
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _evidence(self) -> dict[str, Any]:
        if not hasattr(self, "class_count_"):
            return {}
        counts = zip(self.classes_, self.class_count_, strict=True)
        return {
            "samples kept": self.n_samples_fit_,
            "classes": ", ".join(f"{name} ({count:,})" for name, count in counts),
            "features with a weight": f"{np.count_nonzero(self.feature_weights_):,} of "
            f"{len(self.feature_weights_):,}",
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        metric = METRICS.get(self.metric)
        tags.input_tags.allow_nan = self.missing == "ignore"
        tags.input_tags.sparse = True
        tags.input_tags.categorical = metric is not None and metric.nominal
        tags.input_tags.string = metric is not None and metric.nominal
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KNNClassifier:
        """Keep the training samples.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples. A sparse matrix of numbers is kept as it is; with nominal columns, or
            if a third of it is filled, a dense copy is made.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Numbers of rows that each sample stands for. A sample of weight two is two of the
            neighbours, a fraction is a part of one, and samples of weight zero are left out: the
            nearest vote until their weights come to ``n_neighbors``, the last by what is missing.

        Returns
        -------
        self : KNNClassifier
        """
        with unchanged_on_error(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._validate_params()
        refuse_no_jobs(self.n_jobs)
        metric = METRICS[self.metric]
        columns = read_training(self, X, self.categorical_features)
        if not metric.nominal:
            refuse_nominal(columns, self.metric)
        if self.missing == "error":
            refuse_missing(columns)
        table = columns.X
        n, p = table.shape
        counts = None if sample_weight is None else check_sample_weight(sample_weight, n)
        labels = check_classes(y, n, minimum=1, weight=counts, quantity=NUMBERS)
        self._sample_weight, self._rows = counts, None
        if counts is not None and not counts.all():
            self._rows = np.flatnonzero(counts)
            table, self._sample_weight = _rows_of(table, self._rows), counts[self._rows]
            labels = labels._replace(codes=labels.codes[self._rows])
            n = len(self._rows)
        self._check_votes(n)
        weight = check_feature_weights(self.feature_weights, p, columns.names)
        scaling = metric.scaling if self.scaling == "auto" else self.scaling
        as_given = scaling == "none" and self.feature_weights is None
        if as_given and metric.number != MISMATCH and not columns.categorical.any():
            warn_if_unscaled(self, table)
        self._space, self.scale_ = make_space(
            table, columns.categorical, weight, metric, scaling, self._sample_weight
        )
        self._metric = self.metric  # that of the space, whatever is set later
        self._coded = columns.categorical
        self._categories = columns.categories
        self._codes = labels.codes
        self.categorical_ = columns.categorical | (metric.number == MISMATCH)
        self.feature_weights_ = weight
        self.classes_ = labels.classes
        counted = labels.codes, self._sample_weight, len(labels.classes)
        self.class_count_ = np.bincount(*counted)
        self.reject_label_ = self._reject(labels.classes) if self.ties == "abstain" else None
        self.n_samples_fit_ = n

    def _check_number(self, k: Any, n: int, of: str = "training samples") -> None:
        if integer_from(1)("n_neighbors", k) > n:
            raise ValueError(
                f"n_neighbors={k} exceeds the number of {of}, n_samples={n} "
                f"({n} sample{'s' * (n != 1)}); use {f'at most {n} neighbours, or ' * (n > 0)}more "
                "samples."
            )

    def _check_votes(self, n: int) -> None:
        """Refuse more neighbours than there are, or than their weights come to."""
        weight = getattr(self, "_sample_weight", None)
        if weight is None:
            self._check_number(self.n_neighbors, n)
            return
        total = float(weight.sum())
        if integer_from(1)("n_neighbors", self.n_neighbors) > total * (1 + 1e-12):
            raise ValueError(
                f"n_neighbors={self.n_neighbors} exceeds the sum of sample_weight, {total:.6g}, "
                "which are numbers of rows; use fewer neighbours, or larger weights."
            )

    def _reject(self, classes: np.ndarray) -> Any:
        if classes.dtype.kind not in "biufOU":
            raise ValueError(
                f'ties="abstain" needs classes that are numbers or text, but those of y are of '
                f"type {classes.dtype}; turn them into text, or use another rule for ties."
            )
        text = classes.dtype.kind in "OU" and isinstance(classes[0], str)
        label = ("abstain" if text else -1) if self.reject_label is None else self.reject_label
        if isinstance(label, str) != text or (not text and not np.isfinite(label)):
            kind = "text" if text else "numbers"
            raise ValueError(
                f"reject_label={label!r} does not go with classes that are {kind} "
                f"({classes.tolist()[0]!r}, ...); use {'a text' if text else 'a finite number'}."
            )
        if label in classes.tolist():
            default = " (the default)" if self.reject_label is None else ""
            raise ValueError(
                f"reject_label={label!r}{default} is one of the classes of y; choose a label that "
                "is not, to tell abstentions apart."
            )
        return label

    @property
    def has_weights(self) -> bool:
        """Whether the training samples have weights."""
        return getattr(self, "_sample_weight", None) is not None

    def voters(self) -> Voters:
        """What is asked at a prediction, for whoever writes the classifier in another form.

        Returns
        -------
        voters : Voters
            Named tuple: ``space``, the training samples; ``metric``; ``codes``, their classes; and
            ``coded``, which columns hold categories that are turned into codes first.
        """
        check_is_fitted(self)
        return Voters(self._space, METRICS[self._metric], self._checked_codes(), self._coded)

    # --------------------------------------------------------------------------- neighbours

    def _bring(self, X: Any) -> Any:
        """Rows of a user's table in the form of the training samples."""
        check_is_fitted(self)
        columns = read_queries(self, X, self._coded, self._categories, self._space.is_sparse)
        if self.missing == "error":
            refuse_missing(columns)
        return self._space.bring(columns.X)

    def _search(self, Q: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        finder = choose_finder(self._space, METRICS[self._metric], self.algorithm, k)
        with limit_threads(self.n_jobs):
            return find_neighbours(finder, Q, k, int(self.verbose))

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """The nearest training samples of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, optional
            Samples; by default the training samples, none of which is its own neighbour.
        n_neighbors : int, optional
            How many; ``n_neighbors`` of the estimator by default.
        return_distance : bool, default=True
            Whether to return distances, too.

        Returns
        -------
        distances : array of shape (n_queries, n_neighbors)
            Distances, nearest first; infinite where nothing is known in common.
        indices : array of shape (n_queries, n_neighbors)
            Row numbers of the training samples.
        """
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if X is None:
            n = self.n_samples_fit_
            self._check_number(k, n - 1, "other training samples")
            distances, rows = self._search(self._space.samples(), k + 1)
            own = rows == np.arange(n)[:, None]
            own[~own.any(axis=1), -1] = True
            distances, rows = distances[~own].reshape(n, k), rows[~own].reshape(n, k)
        else:
            self._check_number(k, self.n_samples_fit_)
            distances, rows = self._search(self._bring(X), k)
        rows = self._given(rows)
        return (distances, rows) if return_distance else rows

    # -------------------------------------------------------------------------------- votes

    def _winners(self, Q: Any, ks: np.ndarray) -> np.ndarray:
        """Codes of the winners, (queries, ks), for ascending ``ks``; -1 where it abstains."""
        distances, rows = self._search(Q, self._n_asked(int(ks[-1])))
        votes = VOTES[self.weights](distances)
        if getattr(self, "_sample_weight", None) is None:
            return self._count(rows, votes, ks)
        all_of_them = np.array([rows.shape[1]])
        each = [self._count(rows, votes * self._parts(rows, int(k)), all_of_them) for k in ks]
        return np.concatenate(each, axis=1)

    def _given(self, rows: np.ndarray) -> np.ndarray:
        """Row numbers in the table that was given to ``fit``."""
        kept = getattr(self, "_rows", None)
        return rows if kept is None else kept[rows]

    def _n_asked(self, k: int) -> int:
        """So many nearest samples have a weight of ``k`` for certain."""
        weight = getattr(self, "_sample_weight", None)
        if weight is None:
            return k
        reached = np.cumsum(np.sort(weight))
        enough = int(np.searchsorted(reached, k * (1 - 1e-12)))
        return min(enough + 1, len(weight))

    def _parts(self, rows: np.ndarray, k: int) -> np.ndarray:
        """By how much each of the nearest counts, the nearest first, up to ``k`` together."""
        weight = getattr(self, "_sample_weight", None)
        if weight is None:
            return np.ones(rows.shape)
        own: np.ndarray = weight[rows]
        parts: np.ndarray = np.clip(k - (np.cumsum(own, axis=1) - own), 0.0, own)
        return parts

    def _count(self, rows: np.ndarray, votes: np.ndarray, ks: np.ndarray) -> np.ndarray:
        rule = TIE_RULES[self.ties](self.class_count_)
        with limit_threads(self.n_jobs):
            return winners(rows, votes, self._checked_codes(), self.class_count_, ks, rule)

    def _checked_codes(self) -> np.ndarray:
        """Codes of the training samples, fit for compiled code."""
        codes, n_classes = self._codes, len(self.class_count_)
        weight, kept = getattr(self, "_sample_weight", None), getattr(self, "_rows", None)
        fits = codes.shape == (self._space.n_samples,) and len(self.classes_) == n_classes
        fits = fits and (weight is None or (weight.shape == codes.shape and (weight > 0).all()))
        fits = fits and (kept is None or kept.shape == codes.shape)
        if not fits or codes.min() < 0 or codes.max() >= n_classes:
            raise ValueError(UNFIT)
        return codes

    def _check_parts(self) -> None:
        """Refuse arrays that lead out of each other; for models that come from a file."""
        if hasattr(self, "_space"):
            self._space.check()
            self._checked_codes()
            used = self._space.used
            inside = used.dtype.kind == "i" and used.min(initial=0) >= 0
            if not inside or used.max(initial=-1) >= self.n_features_in_:
                raise ValueError(UNFIT)

    def predict(self, X: Any) -> np.ndarray:
        """Class of each row of ``X``, or the reject label where it abstains.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_queries, n_features)
            Samples.

        Returns
        -------
        labels : array of shape (n_queries,)
            If ``ties="abstain"``, of a type that holds the classes and the reject label.
        """
        Q = self._bring(X)
        codes = self._winners(Q, np.array([self._n_votes()]))[:, 0]
        if self.ties != "abstain":
            return self.classes_[codes]
        label = self.reject_label_
        if label is None:  # the rule was set after fit
            label = self._reject(self.classes_)
        held = object if self.classes_.dtype.kind == "O" else None
        reject = np.array([label], dtype=held)
        return np.concatenate([self.classes_, reject])[codes]  # -1 is the last

    def explain(self, X: Any) -> VotingNeighbours:
        """The neighbours that voted on each row of ``X``: distances, classes, fractions of votes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_queries, n_features)
            Samples.

        Returns
        -------
        VotingNeighbours
            With ``to_frame()`` and ``plot()``.

        Examples
        --------
        >>> from tamiz.neighbors import KNNClassifier
        >>> knn = KNNClassifier(3, weights="distance").fit([[0.0], [1.0], [3.0]], ["a", "b", "b"])
        >>> found = knn.explain([[0.5]])
        >>> found.rows.tolist(), found.votes.round(2).tolist(), found.predictions.tolist()
        ([[0, 1, 2]], [[0.45, 0.45, 0.09]], ['b'])
        """
        k = self._n_votes()
        distances, rows = self._search(self._bring(X), self._n_asked(k))
        votes = VOTES[self.weights](distances) * self._parts(rows, k)
        total = votes.sum(axis=1, keepdims=True)
        votes = np.divide(votes, total, out=np.zeros_like(votes), where=total > 0)
        labels = self.classes_[self._checked_codes()[rows]]
        rows = self._given(rows)
        return VotingNeighbours(rows, distances, labels, votes, self.predict(X), self.classes_)

    def _n_votes(self) -> int:
        self._check_votes(self.n_samples_fit_)
        return int(self.n_neighbors)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Proportion of the votes of each class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_queries, n_features)
            Samples.

        Returns
        -------
        proportions : array of shape (n_queries, n_classes)
            In the order of ``classes_``. Of tied classes the one that :meth:`predict` takes is
            ahead by the last bit, so that the largest proportion is always its.
        """
        Q = self._bring(X)
        k = self._n_votes()
        distances, rows = self._search(Q, self._n_asked(k))
        votes = VOTES[self.weights](distances) * self._parts(rows, k)
        found = proportions(rows, votes, self._checked_codes(), self.class_count_)
        taken = self._count(rows, votes, np.array([rows.shape[1]]))[:, 0]
        behind = np.flatnonzero((taken >= 0) & (found.argmax(axis=1) != taken))
        found[behind, taken[behind]] = np.nextafter(found[behind].max(axis=1), 2.0)
        return found
