"""Maximum dependency."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.filters import MaxDep
from tests.checks import assert_every_check_passes
from tests.filters.cases_information import check_greedy, discrete
from tests.naive import information as naive


@pytest.mark.parametrize("n", [2, 3, 20, 64, 300])
@pytest.mark.parametrize("classes", [2, 5])
def test_against_the_naive_search(n, classes):
    X, y = discrete(n, n, classes=classes)
    y[:2] = [0, 1]
    check_greedy(MaxDep(X.shape[1], bins=None, min_per_cell=1e-6), naive.maxdep, X, y)


def test_finds_a_triple_that_determines_the_class():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2000, 12))
    y = X[:, 2] + X[:, 5] + 2 * X[:, 9]
    selector = MaxDep(bins=None).fit(X, y)
    assert selector.order_[:3].tolist() == [9, 2, 5] or selector.order_[:3].tolist() == [9, 5, 2]
    assert selector.scores_[selector.order_[2]] == pytest.approx(
        naive.entropy(y.tolist()), abs=1e-9
    )


def test_stops_where_counts_get_thin():
    X, y = discrete(120, 0, classes=2)
    selector = MaxDep(bins=None).fit(X, y)
    k = int(selector.support_.sum())
    cells = len({tuple(row) for row in X[:, selector.order_[:k]].tolist()}) * 2
    more = len({tuple(row) for row in X[:, selector.order_[: k + 1]].tolist()}) * 2
    assert 120 / cells >= 5 > 120 / more
    assert MaxDep(k, bins=None).fit(X, y).support_.tolist() == selector.support_.tolist()
    with pytest.raises(ValueError, match=f"more than the counts support.*Select at most {k}"):
        MaxDep(k + 1, bins=None).fit(X, y)
    assert MaxDep(k + 1, bins=None, min_per_cell=120 / more).fit(X, y).support_.sum() == k + 1


def test_at_least_one_feature():
    X = np.arange(6)[:, None] % 3
    assert MaxDep(bins=None).fit(X, [0, 1, 0, 1, 0, 1]).support_.tolist() == [True]


def test_scikit_learn_checks():
    assert_every_check_passes(MaxDep())


def test_samples_that_lack_values_do_not_support_counts():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.integers(0, 2, size=(200, 4)).astype(float)
    X[10:, 1] = np.nan
    with pytest.raises(ValueError, match="min_per_cell"):
        MaxDep(4, bins=None, missing="ignore").fit(X, y)
    empty = np.full((30, 3), np.nan)
    empty[:, 0] = y[:30]
    assert MaxDep(missing="ignore", bins=None).fit(empty, y[:30]).order_[0] == 0
