"""Random draws as R makes them, so that a printed seed gives the printed split.

``set.seed(seed)`` scrambles the seed with a congruential generator, which then fills the state of
a Mersenne Twister. Since R 3.6 ``sample`` takes as many random bits as the range needs and draws
again when the number is beyond it. NumPy has the same twister, and lets its state be set.

References
----------
.. [1] R Core Team. R: a language and environment for statistical computing, ``?Random``.
.. [2] D. Meyer et al. e1071: misc functions of the Department of Statistics, ``tune``.
"""

from __future__ import annotations

import numpy as np

_TO_UNIT = 2.0**-32


class RGenerator:
    """R's default generator after ``set.seed(seed)``.

    Examples
    --------
    >>> RGenerator(42).sample(10) + 1
    array([ 1,  5, 10,  8,  2,  4,  6,  9,  7,  3])
    """

    def __init__(self, seed: int):
        words = []
        for _ in range(50 + 625):
            seed = (69069 * seed + 1) % 2**32
            words.append(seed)
        self._twister = np.random.MT19937()
        state = self._twister.state
        # the first word is the place in the state, and R begins with a fresh block
        state["state"] = {"key": np.array(words[51:], dtype=np.uint32), "pos": 624}
        self._twister.state = state

    def _uniform(self) -> float:
        value = int(self._twister.random_raw()) * _TO_UNIT
        return min(max(value, 0.5 * _TO_UNIT), 1.0 - 0.5 * _TO_UNIT)

    def _below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        bits = (n - 1).bit_length()
        while True:
            value = 0
            for _ in range(0, bits + 1, 16):
                value = 65536 * value + int(self._uniform() * 65536)
            value %= 1 << bits
            if value < n:
                return value

    def sample(self, n: int, size: int | None = None) -> np.ndarray:
        """``sample(n, size)`` without replacement, counted from zero."""
        left, drawn = list(range(n)), []
        for _ in range(n if size is None else size):
            k = self._below(n)
            n -= 1
            drawn.append(left[k])
            left[k] = left[n]
        return np.array(drawn, dtype=np.intp)


def tune_folds(n: int, n_folds: int, permutation: np.ndarray) -> list[np.ndarray]:
    """The held-out samples of each fold, as ``e1071::tune`` cuts a permutation into ranges."""
    width = (n - 1) / n_folds
    fold = np.maximum(np.ceil(np.arange(n) / width - 1e-9).astype(int) - 1, 0)
    return [permutation[fold == k] for k in range(n_folds)]
