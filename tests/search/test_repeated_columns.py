"""Constant and repeated columns, whose scores are in doubt, are judged once."""

import numpy as np

from tamiz.search import BackwardElimination, ExhaustiveSearch
from tamiz.search.judges import CrossValidation
from tamiz.svm import SVC
from tests.calls import watched


def test_exhaustive_search_of_constants_fits_once_for_each_size():
    y = np.repeat([0, 1], 10)
    with watched(CrossValidation, "_one") as fits:
        search = ExhaustiveSearch(SVC(), cv=5).fit(np.zeros((20, 8)), y)
    assert search.n_subsets_ == 2**8 - 1
    assert len(fits) <= 8 * 5


def test_backward_elimination_of_constants_fits_once_for_each_size():
    y = np.repeat([0, 1], 3)
    with watched(CrossValidation, "_one") as fits:
        BackwardElimination(SVC(), cv=3).fit(np.full((6, 40), 7.0), y)
    assert len(fits) <= 40 * 3
