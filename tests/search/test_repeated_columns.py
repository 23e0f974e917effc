"""Few samples: constant and repeated columns, whose scores are in doubt, are judged once."""

import numpy as np
import pytest

from tamiz.search import BackwardElimination, ExhaustiveSearch
from tamiz.search.judges import CrossValidation
from tamiz.svm import SVC
from tests.calls import watched


@pytest.mark.parametrize("levels", [1, 2, None])
@pytest.mark.parametrize(
    ("search", "size", "cv", "rows", "p", "n_subsets"),
    [
        (ExhaustiveSearch, None, 5, [10, 10], 11, 2**11 - 1),
        (BackwardElimination, None, 3, [3, 3], 130, 130 * 131 // 2),
        (BackwardElimination, 160, 3, [4, 3], 175, 1 + sum(range(161, 176))),
    ],
)
def test_searches_of_few_samples_end_after_the_subsets_there_are(
    search, size, cv, rows, p, n_subsets, levels
):
    """And fit few machines the slow way: the columns are constant, of two values, or all differ."""
    y = np.repeat([0, 1], rows)
    rng, shape = np.random.default_rng(0), (len(y), p)
    X = rng.standard_normal(shape) if levels is None else rng.integers(0, levels, shape) + 7.0
    with watched(CrossValidation, "_one") as fits:
        found = search(SVC(), n_features_to_select=size, cv=cv).fit(X, y)
    assert found.n_evaluations_ == n_subsets
    assert len(fits) <= p * cv
