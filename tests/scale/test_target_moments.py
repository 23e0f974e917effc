"""Correlations with a quantity, from sums that merge."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from tamiz.scale.target_moments import TargetMoments

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4)) * [1, 1e-3, 1e4, 1] + [0, 5, 1e6, 0]
X[:, 3] = 2.5
Y = X[:, 0] + 1e-4 * X[:, 2] + RNG.normal(size=400)


@pytest.mark.parametrize("cut", [(0, 400), (0, 1, 2, 399, 400), (0, 200, 400)])
def test_correlations_do_not_depend_on_the_cut(cut):
    total = None
    for a, b in pairwise(cut):
        part = TargetMoments.of(X[a:b], Y[a:b])
        total = part if total is None else total.merge(part)
    right = [np.corrcoef(X[:, j], Y)[0, 1] for j in range(3)]
    np.testing.assert_allclose(total.correlations()[:3], right, rtol=1e-9)
    assert total.correlations()[3] == 0.0 and total.n_rows == 400


def test_sparse_rows_and_a_constant_target():
    thin = np.where(RNG.random((400, 4)) < 0.2, X, 0.0)
    both = TargetMoments.of(sparse.csr_matrix(thin), Y).correlations()
    np.testing.assert_allclose(both, TargetMoments.of(thin, Y).correlations(), rtol=1e-10)
    assert (TargetMoments.of(X, np.full(400, 0.1)).correlations() == 0).all()
    with pytest.raises(ValueError, match="NaN"):
        TargetMoments.of(np.full((3, 1), np.nan), Y[:3])
