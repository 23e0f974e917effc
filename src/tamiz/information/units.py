"""Units in which values can be squared and summed: powers of two, so that dividing is exact."""

from __future__ import annotations

import numpy as np

#: Between these sizes neither squares nor their sums leave the range of float64.
LARGE = 2.0**400
SMALL = 2.0**-400


def safe_units(size: np.ndarray) -> np.ndarray:
    """A unit for each column whose greatest absolute value is ``size``.

    It is 1 for sizes that need none, among them 0, and else the power of two next below the size.

    Examples
    --------
    >>> import numpy as np
    >>> safe_units(np.array([0.0, 3.0, 5 * 2.0**600, 2.0**-700])) == [1, 1, 2.0**602, 2.0**-700]
    array([ True,  True,  True,  True])
    """
    extreme = (size > LARGE) | ((size < SMALL) & (size > 0.0))
    _, exponent = np.frexp(size)
    return np.where(extreme, np.ldexp(1.0, exponent - 1), 1.0)
