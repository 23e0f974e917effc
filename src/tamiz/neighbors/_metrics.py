r"""The four distances, as what each does with an attribute.

With weights :math:`w_j` and scales :math:`s_j`, over the attributes known in both samples,

- euclidean: :math:`\sqrt{\sum_j w_j ((x_j - z_j) / s_j)^2}`,
- manhattan: :math:`\sum_j w_j |x_j - z_j| / s_j`,
- hamming: :math:`\sum_j w_j [x_j \ne z_j]`, every attribute being nominal,
- mixed: :math:`\sum_j w_j |x_j - z_j| / s_j` over the numbers and
  :math:`\sum_j w_j [x_j \ne z_j]` over the nominal attributes, which is Gower's distance times the
  sum of the weights if the scales are ranges.

Where values are missing the sum (below the root) is multiplied by the weight of all attributes over
that of the known ones. Without any in common the distance is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: What an attribute adds to the sum.
SQUARE, ABSOLUTE, MISMATCH = 0, 1, 2


@dataclass(frozen=True)
class Metric:
    """How attributes enter a distance.

    Attributes
    ----------
    number : int
        What an attribute of numbers adds.
    nominal : bool
        Whether there may be nominal attributes.
    scaling : str
        How numbers are scaled if nothing is said.
    power : int
        The sum is this power of the distance.
    """

    number: int
    nominal: bool
    scaling: str
    power: int = 1

    def distance(self, sums: np.ndarray) -> np.ndarray:
        """Distances from sums over the attributes."""
        return np.sqrt(sums) if self.power == 2 else sums

    def factor(self, weight: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """What numbers are multiplied by, so that their differences are weighted and scaled."""
        return weight ** (1.0 / self.power) / scale


METRICS = {
    "euclidean": Metric(SQUARE, nominal=False, scaling="none", power=2),
    "manhattan": Metric(ABSOLUTE, nominal=False, scaling="none"),
    "hamming": Metric(MISMATCH, nominal=True, scaling="none"),
    "mixed": Metric(ABSOLUTE, nominal=True, scaling="range"),
}
