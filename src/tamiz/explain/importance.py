r"""How much worse a method does without a feature: shuffled in test rows, or left out of the fit.

Both are measured inside folds: every split's model is fitted to its training rows, and only its
test rows are looked at. In split ``k`` the importance of a unit (a feature, or a group of features
that are treated together) is

.. math::

    d_k = s_k - \frac1R \sum_r s_k^{(r)},

the score ``s_k`` of the test rows minus the mean of the scores when the unit's columns are shuffled
together, or minus the score of a model that was fitted without them. A shuffle goes round in one
cycle through all test rows: every row gets the value of another one, each as likely. (Of any
permutation some rows keep their own value, and importances would be too small by a factor of
``1 - 1/n_test``.)

The interval has the variance ``(1/J + n_test / n_train) s²`` of Nadeau and Bengio for the mean of
the ``d_k``, and Student's t with as many degrees of freedom as there are disjoint test parts, minus
one. When the feature is left out of the fit, it is about the *method*. When the feature is
shuffled, it is about the *machines of these folds*: the importance of a machine is governed by what
it has learned, which machines with overlapping training parts share, so that how it would vary from
one sample of data to another does not show in the ``d_k``.

References
----------
.. [1] L. Breiman (2001). Random forests. Machine Learning 45.
.. [2] A. Fisher, C. Rudin, F. Dominici (2019). All models are wrong, but many are useful. JMLR 20.
.. [3] J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani, L. Wasserman (2018). Distribution-free
       predictive inference for regression. JASA 113.
.. [4] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from tamiz.display import INK, PALETTE, TableResult, axes, counted, frames, number
from tamiz.evaluation.inference import corrected_interval
from tamiz.explain.folds import (
    FoldOptions,
    LeavingOut,
    Shuffling,
    measured,
    setting_of,
    units_of,
)
from tamiz.validation import TOO_LARGE, check_level, checked, integer_from

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FoldImportances(TableResult):
    """Importances of features, or of groups of them, measured in the test rows of folds.

    Attributes
    ----------
    values : array of shape (n_units, n_splits, n_repeats)
        By how much the score falls, for each unit, split and shuffle.
    scores : array of shape (n_splits,)
        Scores with all features as they are.
    kind : {"permutation", "leave_covariate_out"}
        How they were measured.
    metric : str
        Name of the score.
    units : list of arrays
        Positions of the features of each unit.
    unit_names : list of str
        Their names.
    feature_names : list of str
        Names of all features.
    n_train, n_test : arrays of shape (n_splits,)
        Sizes of both parts of each split.
    n_tested : int
        Different samples in all test parts together.
    """

    values: np.ndarray
    scores: np.ndarray
    kind: str
    metric: str
    units: list[np.ndarray]
    unit_names: list[str]
    feature_names: list[str]
    n_train: np.ndarray
    n_test: np.ndarray
    n_tested: int

    def __repr__(self) -> str:
        first = int(np.argmax(self.importances))
        return (
            f"<FoldImportances: {self.kind.replace('_', ' ')}, {self.metric}, "
            f"{counted(len(self.unit_names), 'unit')}, "
            f"{counted(self.values.shape[1], 'split')}; "
            f"{self.unit_names[first]} matters most ({number(float(self.importances[first]))})>"
        )

    @property
    def importances(self) -> np.ndarray:
        """Means over splits and shuffles."""
        return self.values.mean(axis=(1, 2))

    @property
    def spread_of_shuffles(self) -> np.ndarray:
        """Standard deviation over the shuffles of a split, mean over splits; 0 without shuffles."""
        if self.values.shape[2] < 2:
            return np.zeros(len(self.values))
        return self.values.std(axis=2, ddof=1).mean(axis=1)

    @checked(confidence=check_level)
    def intervals(self, confidence: float = 0.95) -> np.ndarray:
        """Intervals (n_units, 2) for the mean over splits, each for a unit by itself.

        The variance is that of Nadeau and Bengio, since training parts overlap. Of
        :func:`leave_covariate_out`, the intervals are about the method: what it would lose with
        other samples of this size. Of :func:`permutation_importance`, they are about the machines
        of these folds: what these would lose with other test samples. Fitted to other data they
        would lean on a feature more or less, which such an interval does not hold; for
        the method it is too short. With a single split there are none: NaN.

        Parameters
        ----------
        confidence : float, default=0.95
            How many of such intervals should cover.
        """
        parts = min(len(self.n_test), self.n_tested / float(np.mean(self.n_test)))
        found = [
            corrected_interval(one, self.n_train, self.n_test, confidence, False, parts)
            for one in self.values.mean(axis=2)
        ]
        return np.array([(one.low, one.high) for one in found])

    def to_frame(self, confidence: float = 0.95) -> pd.DataFrame:
        """A data frame with a row for each unit, the most important first.

        Parameters
        ----------
        confidence : float, default=0.95
            Of the intervals ``low`` to ``high``.
        """
        importances, ends = self.importances, self.intervals(confidence)
        order = np.argsort(-importances, kind="stable")
        columns = {
            "name": [self.unit_names[u] for u in order],
            "importance": importances[order],
            "low": ends[order, 0],
            "high": ends[order, 1],
        }
        if self.kind == "permutation":  # else nothing is shuffled
            columns["spread_of_shuffles"] = self.spread_of_shuffles[order]
        columns["n_features"] = [len(self.units[u]) for u in order]
        return frames().DataFrame(columns)

    @checked(top=integer_from(1))
    def plot(self, top: int = 20, ax: Any = None, *, confidence: float = 0.95) -> Any:
        """Draw the most important units with their intervals; a dot for each split.

        Parameters
        ----------
        top : int, default=20
            How many units.
        ax : matplotlib axes, optional
            Where to draw; on a figure of its own if None.
        confidence : float, default=0.95
            Of the intervals.

        Returns
        -------
        matplotlib axes
        """
        importances, ends = self.importances, self.intervals(confidence)
        best = np.argsort(-importances, kind="stable")[:top][::-1]
        ax = axes(ax, height=max(2.5, 1.1 + 0.24 * len(best)))
        ax.axvline(0.0, color="0.6", linewidth=1.0, zorder=0)
        for row, u in enumerate(best):
            splits = self.values[u].mean(axis=1)
            ax.plot(splits, np.full(len(splits), row), ".", color="0.72", ms=5, zorder=1)
            if np.isfinite(ends[u]).all():
                ax.plot(ends[u], [row, row], color=PALETTE[0], linewidth=2.0, zorder=2)
        ax.plot(importances[best], np.arange(len(best)), "o", color=INK, ms=4, zorder=3)
        ax.set_yticks(np.arange(len(best)), [self.unit_names[u] for u in best])
        ax.set_xlabel(f"fall of the {self.metric.replace('_', ' ')} ({confidence:.0%} interval)")
        return ax


# ---------------------------------------------------------------------------- what a user calls


@checked(n_repeats=integer_from(1))
def permutation_importance(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_repeats: int = 10,
    feature_groups: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    **folds: Unpack[FoldOptions],
) -> FoldImportances:
    """How much the score of test rows falls when a feature is shuffled, inside folds.

    Parameters
    ----------
    estimator : estimator or pipeline
        What is fitted to the training rows of each split: a clone of it.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Samples; whatever the estimator takes.
    y : array of shape (n_samples,)
        Target.
    n_repeats : int, default=10
        Shuffles of each unit in each split.
    feature_groups : None, "auto", list of lists, or dict of lists
        Features that are shuffled together, by position or name; the keys of a dict name the
        groups. "auto" groups numeric features all of whose ranks correlate by at least 0.7 in
        absolute value. Alone, each of two features that say the same looks unimportant.
    groups : array of shape (n_samples,), optional
        Groups of samples that stay together, or times for
        :class:`~tamiz.search.TimeFolds`.
    sample_weight : array of shape (n_samples,), optional
        Weights, in fits and scores.
    **folds
        Keywords: ``cv`` (number of folds, splitter, or splits; 5 by default; test parts need two
        samples or more), ``scoring`` (a metric of scikit-learn; the estimator's own by default),
        ``params`` (metadata for who asks for them, with scikit-learn's metadata routing),
        ``random_state``, ``n_jobs``, ``verbose``.

    Returns
    -------
    FoldImportances
        With ``importances``, ``intervals()``, ``values``, ``to_frame()`` and ``plot()``.

    See Also
    --------
    leave_covariate_out : Fits anew without the feature.
    shapley_values : What features add to single decisions.

    References
    ----------
    .. [1] L. Breiman (2001). Random forests. Machine Learning 45.

    Examples
    --------
    The first two features say nearly the same:

    >>> import numpy as np
    >>> from tamiz.explain import permutation_importance
    >>> from tamiz.svm import SVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=200)
    >>> found = permutation_importance(
    ...     SVC(), X, X[:, 0] + X[:, 1] > 0, feature_groups="auto", random_state=0
    ... )
    >>> found.unit_names, found.importances.round(1).tolist()
    (['x0 + x1', 'x2', 'x3'], [0.4, 0.0, 0.0])
    """
    setting = setting_of("permutation_importance", estimator, X, y, groups, sample_weight, folds)
    units, names = units_of(feature_groups, setting)
    work = Shuffling(setting, [np.array(unit) for unit in units], n_repeats)
    return _importances(work, names, "permutation")


@checked()
def leave_covariate_out(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    feature_groups: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    **folds: Unpack[FoldOptions],
) -> FoldImportances:
    """How much the score of test rows falls when a method has to do without a feature.

    The method is fitted anew without the feature (leave one covariate out, LOCO), so that others
    may take over: what is measured is what only this feature knows. It takes one fit for each unit
    and split.

    Parameters
    ----------
    estimator : estimator or pipeline
        What is fitted to the training rows of each split: a clone of it.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Samples; whatever the estimator takes.
    y : array of shape (n_samples,)
        Target.
    feature_groups : None, "auto", list of lists, or dict of lists
        Features that are left out together, as in :func:`permutation_importance`.
    groups : array of shape (n_samples,), optional
        Groups of samples that stay together, or times.
    sample_weight : array of shape (n_samples,), optional
        Weights, in fits and scores.
    **folds
        Keywords: ``cv``, ``scoring``, ``random_state``, ``n_jobs``, ``verbose``, as in
        :func:`permutation_importance`.

    Returns
    -------
    FoldImportances

    See Also
    --------
    permutation_importance : Keeps the model, and shuffles.

    References
    ----------
    .. [1] J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani, L. Wasserman (2018). Distribution-free
           predictive inference for regression. JASA 113.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.explain import leave_covariate_out
    >>> from tamiz.svm import SVC
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> found = leave_covariate_out(SVC(), X, X[:, 0] * X[:, 1] > 0, random_state=0)
    >>> found.to_frame()["name"].tolist()[-1], bool((found.intervals()[:2, 0] > 0.2).all())
    ('x2', True)
    """
    setting = setting_of("leave_covariate_out", estimator, X, y, groups, sample_weight, folds)
    units, names = units_of(feature_groups, setting)
    if len(units) < 2:
        raise ValueError("Nothing would be left without the only feature, or group of features.")
    return _importances(LeavingOut(setting, units), names, "leave_covariate_out")


def _importances(work: Shuffling | LeavingOut, names: list[str], kind: str) -> FoldImportances:
    setting = work.setting
    with np.errstate(over="ignore", invalid="ignore"):
        values, scores = measured(work)
    if not (np.isfinite(values).all() and np.isfinite(scores).all()):
        raise ValueError(TOO_LARGE)
    splits = setting.judge.splits
    n_train, n_test = np.array([(len(train), len(test)) for train, test in splits]).T
    tested = len(np.unique(np.concatenate([test for _, test in splits])))
    metric = setting.judge.metrics[0]
    return FoldImportances(
        values, scores, kind, metric, work.units, names, setting.names, n_train, n_test, tested
    )
