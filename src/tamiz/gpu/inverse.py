r"""Inverses of large symmetric positive definite matrices, nearly all of it in products.

A card multiplies matrices several times faster than it factorises them or substitutes. With the
matrix in four parts, the factor of Cholesky's and its inverse ``X = L⁻¹`` go by halves,

.. math::

    L_{21} = A_{21} X_{11}', \qquad L_{22} L_{22}' = A_{22} - L_{21} L_{21}', \qquad
    X_{21} = -X_{22} L_{21} X_{11},

and so does the inverse ``X'X``: about 2 n³ multiplications and additions, where elimination and two
substitutions take 8/3 n³. Halves of the inverse itself would take 4/3 n³, but lose all digits where
the matrix is nearly singular.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: Matrices up to this size are left to the library.
_LEAST = 1024
#: A larger residual is that of something else than the inverse.
_LARGEST_RESIDUAL = 1e-2


def shifted_inverse(xp: Any, K: Any, shift: float, least: int = _LEAST) -> Any:
    """The inverse of ``K + shift I``, in float64.

    Parameters
    ----------
    xp : module
        The array module of a lane.
    K : array of shape (n, n)
        A symmetric matrix on the card. Where the sum is not positive definite, elimination takes
        over.
    shift : float
        What is added to the diagonal.
    least : int, default=1024
        Matrices up to this size are left to the library.

    Returns
    -------
    inverse : array of shape (n, n)
        On the card; besides it about 2 n² numbers are needed while it is computed.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.gpu import emulated
    >>> from tamiz.gpu.inverse import shifted_inverse
    >>> with emulated() as lane:
    ...     ones = lane.to_device(np.ones((2, 2)))
    ...     print(lane.to_host(3.0 * shifted_inverse(lane.xp, ones, 1.0)).round(12))
    [[ 2. -1.]
     [-1.  2.]]
    """
    inverse = _shifted(K, shift)
    try:
        _factor(xp, inverse, least)
        _square(inverse, least)
        sound = _inverts(xp, inverse, K, shift)
    except np.linalg.LinAlgError:  # CuPy's as well
        sound = False
    return inverse if sound else xp.linalg.inv(_shifted(K, shift))


def _inverts(xp: Any, inverse: Any, K: Any, shift: float) -> bool:
    """Whether it is the inverse as far as one vector shows: CuPy does not say that a matrix was not
    positive definite, and goes on with half a factor.
    """
    ones = xp.ones(len(K), dtype=np.float64)
    solved = inverse @ ones
    return bool(xp.abs(K @ solved + shift * solved - ones).max() <= _LARGEST_RESIDUAL)


def _shifted(K: Any, shift: float) -> Any:
    matrix = K.copy()
    matrix.reshape(-1)[:: len(K) + 1] += shift  # CuPy numbers places by arrays with 32 bits
    return matrix


def _factor(xp: Any, matrix: Any, least: int) -> None:
    """Put the inverse of the factor in the place of the matrix: below the diagonal, 0 above."""
    n = len(matrix)
    if n <= max(1, least):
        matrix[...] = xp.tril(xp.linalg.inv(xp.linalg.cholesky(matrix)))
        return
    half = n // 2
    first, below, last = matrix[:half, :half], matrix[half:, :half], matrix[half:, half:]
    _factor(xp, first, least)
    cross = below @ first.T
    last -= cross @ cross.T
    _factor(xp, last, least)
    cross = cross @ first
    below[...] = last @ cross
    below *= -1.0
    matrix[:half, half:] = 0.0


def _square(factor: Any, least: int) -> None:
    """Put ``X'X`` in the place of ``X``, which has nothing above its diagonal."""
    n = len(factor)
    if n <= max(1, least):
        factor[...] = factor.T @ factor
        return
    half = n // 2
    first, below, last = factor[:half, :half], factor[half:, :half], factor[half:, half:]
    cross = below.T @ last
    _square(first, least)
    first += below.T @ below
    _square(last, least)
    factor[:half, half:] = cross
    factor[half:, :half] = cross.T
