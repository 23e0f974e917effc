"""What all sparse machines do when fewer features are asked for than have weights."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from tamiz.embedded import AROM, FSV, L0L2SVM, L1L2SVM, L1SVM, RobustLP

X, Y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)[:200, :12]
Y = Y[:200]
MACHINES = [L1SVM(C=1.0), RobustLP(), FSV(C=1.0), L1L2SVM(), L0L2SVM(nu=0.1), AROM()]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
def test_what_is_selected_is_what_predicts(machine):
    whole = machine.set_params(n_features_to_select=None).fit(X, Y)
    order, n_kept = whole.order_.copy(), int(whole.support_.sum())
    assert n_kept > 2
    few = machine.set_params(n_features_to_select=2).fit(X, Y)
    np.testing.assert_array_equal(few.order_, order)  # the ranking is that of the whole machine
    assert np.flatnonzero(few.support_).tolist() == sorted(order[:2])
    assert not few.coef_[:, ~few.support_].any() and few.coef_[:, few.support_].any()
    alone = machine.set_params(n_features_to_select=None).fit(X[:, sorted(order[:2])], Y)
    np.testing.assert_allclose(few.coef_[:, few.support_], alone.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(few.objective_, alone.objective_, rtol=1e-8)


def test_a_search_over_the_number_means_something():
    grid = GridSearchCV(L1SVM(C=1.0), {"n_features_to_select": [1, 2, None]}, cv=3).fit(X, Y)
    assert len(set(grid.cv_results_["mean_test_score"])) > 1


def test_several_classes():
    table, labels = load_iris(return_X_y=True)
    machine = L1SVM(n_features_to_select=1).fit(table, labels)
    assert machine.coef_.shape == (3, 4)
    assert np.flatnonzero(machine.coef_.any(axis=0)).tolist() == machine.order_[:1].tolist()


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
def test_the_first_of_two_copies_is_ranked_first(machine):
    ranking = machine.set_params(n_features_to_select=None).fit(np.hstack([X, X]), Y).ranking_
    assert (ranking[:12] < ranking[12:]).all()
