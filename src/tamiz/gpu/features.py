r"""The radial kernel with each feature left out in turn, on the card.

Squared distances stay on the card while features leave: one feature is one term of their sum. What
leaving out feature ``j`` makes of a machine's :math:`W^2` is

.. math::

    \sum_{il} c_i c_l \, e^{-\gamma D_{il} + \gamma (x_{ij} - x_{lj})^2},

for all ``j`` in one pass: blocks of features, each a few element-wise steps over the pairs of
support vectors and one product with ``c``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.gpu.lane import Lane

#: A block of features takes at most this, and this part of the memory that is free.
_BLOCK_BYTES, _BLOCK_PART = 2**29, 1.0 / 4.0


def bytes_of_distances(n: int) -> float:
    """Memory of the card that distances between so many samples take, copies included."""
    return 4.0 * 8 * n * n


class CardDistances:
    """Squared distances between samples on the card, as features come and go.

    Parameters
    ----------
    lane : Lane
        The card.
    distances : array of shape (n, n)
        As they are at the beginning.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.gpu import emulated
    >>> from tamiz.gpu.features import CardDistances
    >>> X = np.array([[0.0, 1.0], [2.0, 0.0]])
    >>> with emulated() as lane:
    ...     distances = CardDistances(lane, np.array([[0.0, 5.0], [5.0, 0.0]]))
    ...     print(distances.left_out_norms(X, np.ones(2), np.arange(2), 0.1).round(4))
    ...     distances.shift(X[:, 0], -1.0)
    ...     print(distances.gram(0.1).round(4).tolist())
    [3.8097 3.3406]
    [[1.0, 0.9048], [0.9048, 1.0]]
    """

    def __init__(self, lane: Lane, distances: np.ndarray):
        n = len(distances)
        lane.require(bytes_of_distances(n), "distances of the samples", size=n, power=2)
        self.lane = lane
        self.base = lane.to_device(distances, np.float64)

    def on_host(self) -> np.ndarray:
        """The distances as they are."""
        return self.lane.to_host(self.base)

    def shift(self, column: np.ndarray, delta: float) -> None:
        """Add ``delta`` times the squared differences of one feature; never below zero.

        A feature that leaves takes its term off: ``delta`` is then minus its squared factor.
        Rounding piles up; who keeps the samples works the distances out anew when it matters.
        """
        xp = self.lane.xp
        with self.lane.guarded("distances of the samples"):
            values = self.lane.to_device(column, np.float64)
            change = values[:, None] - values
            change *= change
            change *= delta
            self.base += change
            xp.maximum(self.base, 0.0, out=self.base)

    def gram(self, gamma: float) -> np.ndarray:
        """The kernel matrix, on the host."""
        with self.lane.guarded("the kernel matrix"):
            return self.lane.to_host(self.lane.xp.exp(self.base * -gamma))

    def left_out_norms(
        self, samples: np.ndarray, coef: np.ndarray, rows: np.ndarray, gamma: float
    ) -> np.ndarray:
        """``c'Kc`` without each feature.

        Parameters
        ----------
        samples : array of shape (s, q)
            The samples ``rows``, and of them the features to leave out, as the distances see them.
        coef : array of shape (s,)
            Their coefficients.
        rows : array of shape (s,)
            Which samples they are.
        gamma : float
            The parameter of the kernel.

        Returns
        -------
        norms : array of shape (q,)
        """
        lane, xp = self.lane, self.lane.xp
        index = lane.to_device(rows, np.int64)
        c = lane.to_device(coef, np.float64)
        columns = lane.to_device(samples.T, np.float64) * float(np.sqrt(gamma))
        out = np.empty(samples.shape[1])
        with lane.guarded("kernel values without each feature"):
            base = self.base[index[:, None], index] * gamma
            for start, stop in self._blocks(len(rows), len(out)):
                part: Any = columns[start:stop]
                rest = part[:, :, None] - part[:, None, :]
                rest *= rest
                rest -= base
                xp.minimum(rest, 0.0, out=rest)
                xp.exp(rest, out=rest)
                out[start:stop] = lane.to_host((rest @ c) @ c)
        return out

    def _blocks(self, s: int, q: int) -> list[tuple[int, int]]:
        room = min(_BLOCK_BYTES, _BLOCK_PART * self.lane.free_bytes())
        step = max(1, int(room // (8 * max(1, s) ** 2)))
        return [(start, min(start + step, q)) for start in range(0, q, step)]
