"""What the members of the Relief family share: sampling, neighbours, ranking."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import Stopwatch, number_to_select, order_by
from tamiz.filters._relief_pairs import nearest
from tamiz.filters._relief_tables import build_table, feature_order, scale_columns
from tamiz.filters._streaming import Sampling, Stream, Streaming, rows_to_sample
from tamiz.filters.univariate_base import HOW_MANY, warn_of_nothing
from tamiz.information.columns import read_columns
from tamiz.information.encoding import BINNING
from tamiz.runtime.parallel import N_JOBS, limit_threads
from tamiz.runtime.progress import Progress
from tamiz.selector import Selector
from tamiz.validation import (
    Labels,
    check_classes,
    check_X,
    refuse_duplicate_names,
    warn_of_quantity,
)

#: What to do about a quantity as target.
REMEDY = "use RReliefF, which takes numbers"

#: Rows of the sample of a stream: neighbours cost the square of it.
_SAMPLED = 5000


class Scored(NamedTuple):
    """Scores of all features, and which of them are constant."""

    scores: np.ndarray
    constant: np.ndarray


class ReliefBase(Streaming, Selector):
    """What the three have in common."""

    _streams_nominal = True

    _parameter_constraints: dict[str, list[Any]] = {
        "n_samples": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            "array-like",
            None,
        ],
        "metric": [StrOptions({"manhattan", "euclidean"})],
        "scaling": [StrOptions({"range", "none"})],
        "ties": [StrOptions({"random", "index"})],
        "categorical_features": BINNING["categorical_features"],
        "threshold": [Interval(Real, None, None, closed="neither"), None],
        "n_features_to_select": HOW_MANY,
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "n_jobs": N_JOBS,
    }

    n_jobs: int | None
    sample_indices_: np.ndarray

    def _start(self, X: Any) -> Any:
        """Check the parameters and the table."""
        self._validate_params()
        refuse_duplicate_names(X)
        if sparse.issparse(X):  # scikit-learn has the sentence
            check_X(self, X, reset=True)
        return read_columns(X, self.categorical_features, estimator=self, min_samples=2)

    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        """Fit to a sample of the rows, which is the whole table if that is no larger."""
        size = rows_to_sample(sample_size, stream.schema.n_features, _SAMPLED)
        sample = stream.sweep(Sampling(size, stream.table.n_rows))
        if np.ndim(self.n_samples) and not sample.exact:
            raise ValueError(
                f"n_samples names rows, but fit_stream keeps a sample of {size:,} rows only; give "
                f"a number or a share, or a sample_size of at least {sample.n_rows:,}."
            )
        if not sample.exact:
            stream.notes["sample"] = (
                f"neighbours are those in a sample of {size:,} of {sample.n_rows:,} rows"
            )
        codes, y = self._sampled_target(sample.y, stream.classes)
        scored = self._score(sample.X, stream.schema.categorical, codes, y)
        self.sample_indices_ = sample.rows[self.sample_indices_]
        return self._conclude(scored, watch, **stream.told())

    def _sampled_target(
        self, y: np.ndarray, classes: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Class codes of the sample, those without rows left out; and the quantity, if it is one.

        Sets ``classes_``, and refuses what ``fit`` refuses.
        """
        labels = check_classes(np.asarray(classes)[y], len(y), quantity=REMEDY)
        return self._check_hits(labels), None

    def _check_hits(self, labels: Labels) -> np.ndarray:
        warn_of_quantity(labels, REMEDY)
        self.classes_, codes = labels
        if np.bincount(codes).max() < 2:
            raise ValueError(
                f"Every class of y has one sample only ({len(codes)} classes); "
                f"{type(self).__name__} needs a class with at least two, for the nearest hit."
            )
        return codes

    def _score(self, X: np.ndarray, symbolic: np.ndarray, codes: np.ndarray, y: Any) -> Scored:
        """Sample, find neighbours, sum up differences; returns scores and constant features."""
        with limit_threads(self.n_jobs):
            return self._sum_up(X, symbolic, codes, y)

    def _sum_up(self, X: np.ndarray, symbolic: np.ndarray, codes: np.ndarray, y: Any) -> Scored:
        random = check_random_state(self.random_state)
        k, n = self._n_neighbors(len(codes)), len(codes)
        order = np.argsort(codes, kind="stable")  # classes become ranges
        codes = codes[order]
        counts = np.bincount(codes)
        columns = scale_columns(X, order, symbolic)
        distance, diff = build_table(columns, codes, len(counts), self.scaling == "range")
        place = np.empty(n, dtype=np.intp)
        place[order] = np.arange(n)
        usable = np.sort(order[counts[codes] > 1]) if self._needs_hits else np.arange(n)
        chosen = self._sample(usable, n, random)
        self.sample_indices_ = chosen
        seed = int(random.randint(2**31 - 1)) if self.ties == "random" else -1
        squared = self.metric == "euclidean"
        rows = np.sort(place[chosen])
        groups, target = self._groups(counts), None if y is None else y[order]
        scores = np.zeros(X.shape[1])
        with Progress(type(self).__name__, self.verbose) as progress:
            found = nearest(distance, codes, rows, groups, k, order, seed, squared, progress)
            weighed = self._weigh(diff, codes, counts, rows, found, target, progress)
        scores[feature_order(columns)] = weighed
        scores = np.where(columns.constant, 0.0, np.clip(scores, -1.0, 1.0))
        return Scored(scores, columns.constant)

    def _sample(self, usable: np.ndarray, n: int, random: np.random.RandomState) -> np.ndarray:
        """Indices of the samples whose neighbours are looked at."""
        wanted = self.n_samples
        if wanted is None:
            return usable
        if np.ndim(wanted) == 0:
            m = int(wanted) if isinstance(wanted, Integral) else max(1, round(wanted * len(usable)))
            if m > n:
                raise ValueError(
                    f"n_samples={m} exceeds the {n} rows of X; use at most {n}, or None for all."
                )
            m = min(m, len(usable))
            return np.sort(random.choice(usable, m, replace=False))
        given = np.asarray(wanted)
        whole = given.ndim == 1 and len(given) and given.dtype.kind in "iu"
        if not whole or given.min() < 0 or given.max() >= n:
            mask = "; a mask becomes row numbers by numpy.flatnonzero" * (given.dtype.kind == "b")
            shown = np.array2string(given, threshold=6, separator=", ")
            raise ValueError(
                f"n_samples={shown} is not understood; as a list it must hold row numbers from "
                f"0 to {n - 1}{mask}."
            )
        alone = np.setdiff1d(given, usable)
        if len(alone):
            raise ValueError(
                f"n_samples names row {alone[0]}, the only one of its class: it has no nearest "
                "hit. Leave it out."
            )
        return given.astype(np.intp)

    def _conclude(self, scored: Scored, watch: Stopwatch, **told: Any) -> Any:
        scores, constant = scored
        if scores.max() <= 0.0:
            warn_of_nothing(self, "no score is above 0", ", or take more neighbours")
        order = order_by(np.where(constant, -np.inf, scores))
        wanted, chosen = self.n_features_to_select, None
        if self.threshold is not None and wanted in (None, "auto"):
            chosen = (scores > self.threshold) & ~constant
        n_selected = number_to_select(wanted, len(scores), None)
        notes = {"n_samples": len(self.sample_indices_), **told}
        self._finish(
            order=order,
            n_selected=n_selected,
            support=chosen,
            scores=scores,
            seconds=watch.seconds,
            notes=notes,
        )
        return self

    _needs_hits = True

    def _n_neighbors(self, n: int) -> int:
        return min(getattr(self, "n_neighbors", 1), n - 1)

    @abstractmethod
    def _groups(self, counts: np.ndarray) -> np.ndarray:
        """Ranges in which a sample of each class looks for neighbours."""

    @abstractmethod
    def _weigh(
        self,
        diff: Any,
        codes: np.ndarray,
        counts: np.ndarray,
        rows: np.ndarray,
        found: Any,
        y: Any,
        progress: Progress,
    ) -> np.ndarray:
        """Scores in the order of the table."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
