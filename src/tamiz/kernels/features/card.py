"""The radial kernel's matrix on a card, as features come and go."""

from __future__ import annotations

import numpy as np

from tamiz.gpu.features import CardDistances
from tamiz.gpu.gram import UnfitForCardError
from tamiz.gpu.lane import Lane
from tamiz.kernels.base import Kernel
from tamiz.kernels.elementary import RBF
from tamiz.kernels.features.base import Index, checked_scale
from tamiz.kernels.features.elementary import RadialFeatures
from tamiz.validation import TOO_LARGE, Array, as_samples


def follows_on_card(kernel: Kernel) -> bool:
    """Whether the matrix of this kernel can follow its features on a card."""
    return type(kernel) is RBF


def track_on_card(
    lane: Lane, kernel: Kernel, X: Array, scale: Array | None = None
) -> RadialFeatures:
    """``kernel.track(X, scale)`` with the distances on the card; the radial kernel only.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.gpu import emulated
    >>> from tamiz.kernels import RBF
    >>> from tamiz.kernels.features.card import track_on_card
    >>> with emulated() as lane:
    ...     tracker = track_on_card(lane, RBF(gamma=0.1), np.array([[0.0, 1.0], [2.0, 0.0]]))
    ...     tracker.remove(0)
    ...     print(tracker.K.round(4))
    [[1.     0.9048]
     [0.9048 1.    ]]
    """
    samples = as_samples(X, "X", repr(kernel), accept_sparse=False)
    resolved = kernel.resolve(samples)
    if not isinstance(resolved, RBF):
        raise UnfitForCardError(
            f"{kernel!r} is not the radial kernel, the only one whose features a card follows; "
            'use device="cpu".'
        )
    with np.errstate(over="ignore", invalid="ignore"):
        return CardRadialFeatures(lane, resolved, samples, checked_scale(scale, samples.shape[1]))


class CardRadialFeatures(RadialFeatures):
    """The radial kernel, its squared distances on a card."""

    def __init__(self, lane: Lane, kernel: RBF, X: Array, scale: Array) -> None:
        self.lane = lane
        super().__init__(kernel, X, scale)

    @property
    def _base(self) -> Array:
        return self._card.on_host()

    @_base.setter
    def _base(self, distances: Array) -> None:
        if not np.isfinite(distances).all():
            raise ValueError(TOO_LARGE)
        self._card = CardDistances(self.lane, distances)

    def _shift(self, column: Array, delta: float) -> None:
        self._card.shift(column, delta)

    def _current(self) -> Array:
        return self._card.gram(float(self.gamma))

    def _norms(self, rows: Index, coef: Array, features: Index) -> Array:
        samples = self._spread(rows)[:, features]
        return self._card.left_out_norms(samples, coef, rows, float(self.gamma))
