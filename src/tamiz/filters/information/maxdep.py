r"""Maximum dependency: the features that together tell most about the class.

Greedy: with S the features already selected, the next is the v that maximises

.. math:: I(S, v; c) = I(S; c) + I(v; c \mid S),

with all of S as one variable. Its levels multiply, and soon most cells of the table hold one
sample or none; then every feature seems to determine the class. So the search stops where the
table is too thin. A feature whose own table is too thin, above all an identifier with a level for
every sample, seems to determine the class by itself: it has no part in the search as long as there
are others.

References
----------
.. [1] H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual information: criteria of
       max-dependency, max-relevance, and min-redundancy. IEEE TPAMI 27(8).
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from tamiz.base import Stopwatch, number_to_select
from tamiz.filters.base import encode_classes
from tamiz.filters.information.base import InformationFilter
from tamiz.filters.information.greedy import CountedCriterion, greedy, tiers, warn_of_no_gain
from tamiz.information import Codes, joint_codes
from tamiz.information.weighted import WeightedCodes
from tamiz.runtime.threads import limit_threads
from tamiz.validation import unchanged_on_error


class MaxDep(InformationFilter):
    """Maximum dependency: the greatest information of the selected features taken together.

    For few features and many samples only; see ``min_per_cell``.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; by default as many as the counts support, and
        never a constant one: none at all if all are constant. Asking for more than the counts
        support is an error that says how many they support.
    min_per_cell : float, default=5.0
        Fewest samples per cell, on average over the cells of the table of the selected features
        (combinations of levels that occur) against the class. Features that alone have fewer, such
        as identifiers, are not selected and come last, unless all have: then one is selected.
    bins : {"mean_std", "mdl", "width", "frequency"} or None, default="mean_std"
        How to cut continuous features, see :class:`tamiz.information.Discretiser`; None if all
        are discrete already.
    n_bins : int, default=5
        Number of bins for "width" and "frequency".
    categorical_features : array-like, default=None
        Features whose values are categories: indices, names or a mask. Columns that hold
        text or, in a data frame, categories always are.
    missing : {"code", "ignore"}, default="code"
        Missing values are a level of their own, or are left out of the counts; what a feature
        tells is then multiplied by the fraction of the samples that have it.
    verbose : bool or int, default=0
        Show progress.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Joint information in nats when the feature was added, or would have been added next; the
        relevance alone of features whose own counts are too thin.
    relevance_ : array of shape (n_features,)
        Mutual information with the class in nats.
    status_ : str
        "finished", or "interrupted": the features added until then are selected.
    support_, ranking_, order_, selection_
        See :class:`tamiz.base.Selector`. Features not selected are ranked by the value they
        would have had if added next.
    classes_ : array of shape (n_classes,)
        The classes.

    See Also
    --------
    JMI : Pairs of features, which counts support much longer.
    MRMR : Pairs of features, relevance and redundancy apart.

    References
    ----------
    .. [1] H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual information:
           criteria of max-dependency, max-relevance, and min-redundancy. IEEE TPAMI 27(8).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.filters import MaxDep
    >>> X, y = load_iris(return_X_y=True)
    >>> MaxDep().fit(X, y).selection_.selected
    ['x2', 'x3']
    >>> MaxDep(n_features_to_select=3).fit(X, y)
    Traceback (most recent call last):
    ...
    ValueError: n_features_to_select=3 is more than the counts support: ...
    """

    _parameter_constraints = {
        **InformationFilter._parameter_constraints,
        "min_per_cell": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        min_per_cell: float = 5.0,
        bins: str | None = "mean_std",
        n_bins: int = 5,
        categorical_features: Any = None,
        missing: str = "code",
        verbose: bool | int = 0,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.min_per_cell = min_per_cell
        self.bins = bins
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.missing = missing
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MaxDep:
        """Add features one after the other.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Data; may have missing values and categorical columns.
        y : array of shape (n_samples,)
            Classes.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples: each counts like so many rows, an integer
            exactly as if the row were repeated. Rows of weight zero are left out.

        Returns
        -------
        self
        """
        self._validate_params()
        with unchanged_on_error(self), limit_threads(self.n_jobs):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> MaxDep:
        watch = Stopwatch()
        codes = encode_classes(self, X, y, sample_weight)
        p = codes.n_features
        own = self.n_features_to_select in (None, "auto")
        n_steps = p if own else number_to_select(self.n_features_to_select, p, None)
        cells = codes.n_levels * len(self.classes_)
        with np.errstate(over="ignore"):
            thin = codes.n_known() < float(self.min_per_cell) * cells
        criterion = _JointWithAll(codes, thin & ~thin.all())
        self.relevance_ = criterion.relevance

        def proceed(n_added: int, k: int, value: float) -> bool:
            levels, present = criterion.counts_with(k)
            per_cell = present / max(1, levels * len(self.classes_))
            if per_cell >= self.min_per_cell:
                return True
            if own:
                return False
            raise ValueError(
                f"n_features_to_select={n_steps} is more than the counts support: with feature "
                f"number {n_added + 1} ({self._names(p)[criterion.features[k]]!r}) the table of "
                f"the selected features against the class would hold {per_cell:.2g} samples per "
                f"cell, fewer than min_per_cell={self.min_per_cell:g}. Select at most {n_added}, "
                'leave the number to the method with "auto", or use JMI or MRMR, which only count '
                "pairs."
            )

        found = greedy(criterion, n_steps, proceed=proceed, verbose=self.verbose)
        self.status_ = found.status
        warn_of_no_gain(self, self.relevance_, found)
        found.warn_if_interrupted(self, n_steps)
        useful = int(np.count_nonzero(tiers(codes) == 0.0))
        self._finish(
            order=found.order,
            n_selected=min(found.n_added, useful) if own else found.n_added,
            scores=np.where(found.scores < 0.0, self.relevance_, found.scores),
            path=found.path,
            seconds=watch.seconds,
            notes={"criterion": "joint information (nats)"},
        )
        return self


class _JointWithAll(CountedCriterion):
    _arrays = ("features", "relevance", "current", "thin")

    def __init__(self, codes: Codes | WeightedCodes, thin: np.ndarray):
        super().__init__(codes)
        self.joint = np.zeros(codes.n_samples, dtype=np.int32)
        self.current = self.relevance
        self.thin = thin  # features behind all others

    def values(self) -> np.ndarray:
        return np.where(self.thin, -1.0, self.current)

    def counts_with(self, k: int) -> tuple[int, float]:
        """Combinations of levels of the selected features and one more, and samples that have them.

        Samples in which the new one is missing do not count.
        """
        joint = self.codes.joint(k, self.joint)
        return int(joint.max(initial=-1)) + 1, self.codes.amount(joint >= 0)

    def add(self, k: int) -> None:
        joint = joint_codes(self.codes.condition(k), self.joint)
        both = joint_codes(joint, self.codes.target)
        beyond = self.codes.against(both) - self.codes.against(joint)
        current = self.current[k] + np.maximum(beyond, 0.0)
        self.joint, self.current = joint, current  # Ctrl-C leaves both or neither
