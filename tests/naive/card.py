"""Duality gaps of machines, by their definition: primal less dual, the constant by trying all."""

import numpy as np


def classifier_gap(K, y, C, b, constants=None):
    """Primal minus dual objective of a soft-margin machine with coefficients ``b = y alpha``.

    ``C`` holds the penalty of each sample, zero where it takes no part. The primal is convex and
    piecewise linear in the constant, so that the best is at one of its corners.
    """
    f = K @ b
    dual = (y * b).sum() - 0.5 * b @ f
    corners = y - f if constants is None else constants
    primals = [
        0.5 * b @ f + (C * np.maximum(0.0, 1.0 - y * (f + constant))).sum() for constant in corners
    ]
    return min(primals) - dual, dual


def regression_gap(K, target, C, epsilon, b):
    """The same for the tube: corners are where a residual is ``epsilon`` or ``-epsilon``."""
    f = K @ b
    dual = target @ b - epsilon * np.abs(b).sum() - 0.5 * b @ f
    corners = np.concatenate([target - f - epsilon, target - f + epsilon])
    primals = [
        0.5 * b @ f + (C * np.maximum(0.0, np.abs(target - f - c) - epsilon)).sum() for c in corners
    ]
    return min(primals) - dual, dual
