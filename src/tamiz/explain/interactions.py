r"""Which pairs of features act together: Friedman's and Popescu's statistic for every pair.

With the centred partial dependences ``F`` of two features alone and together, taken at the rows,

.. math::

    E_{jk}^2 = \frac1n \sum_i \left[F_{jk}(x_{ij}, x_{ik}) - F_j(x_{ij}) - F_k(x_{ik})\right]^2,
    \qquad H_{jk}^2 = \frac{n E_{jk}^2}{\sum_i F_{jk}(x_{ij}, x_{ik})^2} .

``H²`` is the fraction of the variance of the joint effect that no sum of two curves explains. It
can be large for pairs with hardly any effect, so pairs are ranked by the strength ``E``, which is
in the units of the decision value.

References
----------
.. [1] J. H. Friedman, B. E. Popescu (2008). Predictive learning via rule ensembles. Annals of
       Applied Statistics 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tamiz.display import PALETTE, TableResult, axes, counted, frames, number
from tamiz.explain.curves import some_rows
from tamiz.explain.decisions import Decisions, decisions_of
from tamiz.explain.model import (
    feature_names,
    named_units,
    numbers_of,
    refuse_without_features,
)
from tamiz.explain.tables import coded_frames
from tamiz.runtime.progress import Progress
from tamiz.validation import TOO_LARGE, check_features, checked, estimator_with, integer_from

if TYPE_CHECKING:
    import pandas as pd

_SHUFFLES = 5  # of each column, to see which features matter at all
#: Variances of a joint effect below this part of that of the model are rounding.
_NEGLIGIBLE = 1e-20


@dataclass(frozen=True)
class Interactions(TableResult):
    """How strongly pairs of features act together, the strongest first.

    Attributes
    ----------
    pairs : array of shape (n_pairs, 2)
        Positions of the features in ``feature_names``.
    strength : array of shape (n_pairs,)
        Standard deviation, over the rows, of what the two do together beyond the sum of what each
        does alone; in the units of the decision value.
    h_squared : array of shape (n_pairs,)
        Friedman's and Popescu's H²: the same as a fraction of the variance of the joint effect.
    method : {"exact", "brute"}
        As in :class:`PartialDependence`.
    n_rows : int
        Rows that the means are taken over.
    feature_names : list of str
        Names of all features; a group is one.
    """

    pairs: np.ndarray
    strength: np.ndarray
    h_squared: np.ndarray
    method: str
    n_rows: int
    feature_names: list[str]

    def __repr__(self) -> str:
        strongest = ""
        if len(self.pairs):
            strongest = f"; strongest {' × '.join(self.names[0])} ({number(self.strength[0])})"
        return f"<Interactions: {counted(len(self.pairs), 'pair')}, {self.method}{strongest}>"

    @property
    def names(self) -> list[tuple[str, str]]:
        """The names of the two features of each pair."""
        return [(self.feature_names[j], self.feature_names[k]) for j, k in self.pairs]

    def to_frame(self) -> pd.DataFrame:
        """A data frame with a row for each pair, the strongest first."""
        return frames().DataFrame(
            {
                "feature": [a for a, _ in self.names],
                "other": [b for _, b in self.names],
                "strength": self.strength,
                "h_squared": self.h_squared,
            }
        )

    @checked(top=integer_from(1))
    def plot(self, top: int = 15, ax: Any = None) -> Any:
        """Draw the strength of the strongest pairs as bars.

        Parameters
        ----------
        top : int, default=15
            How many pairs.
        ax : matplotlib axes, optional
            Where to draw; on a figure of its own if None.

        Returns
        -------
        matplotlib axes
        """
        values, names = self.strength[:top][::-1], self.names[:top][::-1]
        ax = axes(ax, height=max(2.5, 1.1 + 0.22 * len(values)))
        ax.barh(np.arange(len(values)), values, color=PALETTE[0])
        ax.set_yticks(np.arange(len(values)), [f"{a} × {b}" for a, b in names])
        ax.set_xlabel("strength of the interaction (decision value)")
        return ax


@checked(
    model=estimator_with("fit", advice="Pass a fitted estimator or pipeline."),
    top_features=integer_from(2),
    n_rows=integer_from(2),
)
def interaction_strength(
    model: Any,
    X: Any,
    features: Any = None,
    *,
    feature_groups: Any = None,
    top_features: int = 10,
    n_rows: int = 100,
    random_state: Any = None,
    verbose: bool | int = 0,
) -> Interactions:
    """Which pairs of features act together in a fitted model, as in an exclusive or.

    Parameters
    ----------
    model : estimator or pipeline
        Fitted, as for :func:`partial_dependence`; quick for kernel machines and linear models.
        Strength is a mean over the outputs, so that of one-versus-one machines of several
        classes, where pairs are outputs, is another than that of classes.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Rows that means are taken over; with text and missing values if the model takes them.
    features : list of int or str, optional
        All pairs of these are looked at. By default those of the ``top_features`` features whose
        values, shuffled, change the value of the model most; features that act together only are
        among them. A group is one feature: it has one position, that of its first column among
        what is left, and its own name or that of this column.
    feature_groups : list of lists or dict of lists, optional
        Columns that are one feature, such as the indicators of a category, as in
        :func:`shapley_values`.
    top_features : int, default=10
        How many features, if they are not listed.
    n_rows : int, default=100
        Rows drawn at random from ``X`` if there are more. Time grows with their square.
    random_state : int, RandomState or None
        For what is drawn.
    verbose : bool or int, default=0
        Show progress when it takes longer than two seconds.

    Returns
    -------
    Interactions
        With ``pairs``, ``strength``, ``h_squared``, ``to_frame()`` and ``plot()``.

    See Also
    --------
    partial_dependence : What a feature does alone.

    References
    ----------
    .. [1] J. H. Friedman, B. E. Popescu (2008). Predictive learning via rule ensembles. Annals of
           Applied Statistics 2.

    Examples
    --------
    The first two features decide by the sign of their product:

    >>> import numpy as np
    >>> from tamiz.explain import interaction_strength
    >>> from tamiz.svm import SVC
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> machine = SVC(C=10).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> found = interaction_strength(machine, X, random_state=0)
    >>> found.pairs[0].tolist(), bool(found.h_squared[0] > 0.8)
    ([0, 1], True)
    """
    check_is_fitted(model)
    refuse_without_features(model)
    rng = check_random_state(random_state)
    coded = coded_frames(X)
    whole = numbers_of(model, X, "X", "interaction_strength", coded)
    units, names = named_units(feature_groups, feature_names(model, X, whole.shape[1]))
    table = some_rows(whole, n_rows, rng)
    with np.errstate(over="ignore", invalid="ignore"):
        decisions = decisions_of(model, table, X, coded)
    ignored = np.errstate(over="ignore", invalid="ignore")
    with Progress("interactions", verbose) as progress, ignored:
        if features is None:
            wanted = _most_active(decisions, units.members, top_features, rng)
        else:
            wanted = check_features(features, "features", len(names), names)
        if len(wanted) < 2:
            raise ValueError("Interactions need at least two features.")
        strength, part, pairs = _pairs_of(decisions, units.members, wanted, progress)
    if not (np.isfinite(strength).all() and np.isfinite(part).all()):
        raise ValueError(TOO_LARGE)
    order = np.argsort(-strength, kind="stable")
    return Interactions(
        pairs[order], strength[order], part[order], decisions.method, len(table), names
    )


def _most_active(
    decisions: Decisions, members: list[np.ndarray], most: int, rng: Any
) -> np.ndarray:
    """Features whose shuffled values change the value most, ascending; alone or with others."""
    plain = decisions.plain()
    change = np.zeros(len(members))
    for j, columns in enumerate(members):
        for _ in range(_SHUFFLES):
            values = decisions.X[np.ix_(rng.permutation(len(plain)), columns)]
            change[j] += np.square(decisions.replaced(columns, values) - plain).sum()
    return np.sort(np.argsort(-change, kind="stable")[:most])


def _pairs_of(
    decisions: Decisions, members: list[np.ndarray], wanted: np.ndarray, progress: Progress
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X = decisions.X
    alone = {j: _centred(decisions, members[j]) for j in wanted.tolist()}
    pairs = np.array(list(combinations(wanted.tolist(), 2)))
    excess, joint = np.zeros(len(pairs)), np.zeros(len(pairs))
    for at, (j, k) in enumerate(pairs.tolist()):
        both = _centred(decisions, np.concatenate([members[j], members[k]]))
        excess[at] = np.square(both - alone[j] - alone[k]).sum()
        joint[at] = np.square(both).sum()
        progress.update(f"{at + 1} of {len(pairs)} pairs")
    size = float(np.square(decisions.plain()).sum())
    there = joint > _NEGLIGIBLE * size
    excess[~there] = 0.0
    part = np.divide(excess, joint, out=np.zeros(len(pairs)), where=there)
    return np.sqrt(excess / (len(X) * len(decisions.outputs))), part, pairs


def _centred(decisions: Decisions, columns: np.ndarray) -> np.ndarray:
    """Partial dependence of some columns at the rows, minus its mean."""
    values = decisions.partial(columns, decisions.X[:, columns])
    return values - values.mean(axis=0)
