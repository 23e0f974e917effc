"""Features known in few samples, and identifiers: neither may rank high by luck."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from tamiz.filters import (
    CFS,
    CMIM,
    JMI,
    MRMR,
    QPFS,
    ChiSquared,
    InformationGain,
    MaxDep,
    MaxRel,
    SymmetricalUncertainty,
)
from tests.naive import information as naive

COUNTING = [MaxRel, InformationGain, SymmetricalUncertainty, MRMR, JMI, CMIM, MaxDep]


def rare_and_good(n=300, seed=0):
    """One feature that tells the class wherever it is known, which is seldom, and a good one."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.integers(0, 2, (n, 6)).astype(float)
    X[:, 3] = np.where(rng.random(n) < 0.2, 1 - y, y)
    X[:, 1] = np.nan
    X[:6, 1] = y[:6]
    return X, y


@pytest.mark.parametrize("method", COUNTING)
def test_a_feature_known_in_few_samples_does_not_come_first(method):
    X, y = rare_and_good()
    selector = method(3, bins=None, missing="ignore").fit(X, y)
    assert selector.order_[0] == 3
    known = naive.over_pairs(naive.mutual_information, X[:6, 1].tolist(), y[:6].tolist(), "ignore")
    assert known > 0.3  # without its fraction of the samples it would


@pytest.mark.parametrize("method", [MRMR, JMI, CMIM])
def test_a_selected_feature_that_lacks_values_does_not_hide_the_others(method):
    rng = np.random.default_rng(0)
    n = 2000
    y = rng.integers(0, 2, n)
    X = rng.integers(0, 2, (n, 5)).astype(float)
    X[:, 0] = y
    X[rng.random(n) < 0.7, 0] = np.nan  # the best, known in three of ten
    X[:, 2] = np.where(rng.random(n) < 0.35, 1 - y, y)
    selector = method(2, bins=None, missing="ignore").fit(X, y)
    assert selector.order_[:2].tolist() == [0, 2]
    last = selector.scores_[selector.order_[1]]
    assert last > 3 * selector.scores_[selector.order_[2]] or method is JMI
    gain = last - (selector.relevance_[0] if method is JMI else 0.0)
    assert gain > 0.01


@pytest.mark.parametrize("criterion", ["jmi", "cmim"])
def test_greedy_searches_with_missing_values_follow_their_formulas(criterion):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (60, 6)).astype(float)
    y = rng.integers(0, 3, 60)
    X[:, 2] = np.where(rng.random(60) < 0.5, y, X[:, 2])
    X[rng.random(X.shape) < 0.25] = np.nan
    columns, labels = X.T.tolist(), y.tolist()

    def value(columns, y, selected, j):
        alone = [
            naive.over_pairs(naive.mutual_information, columns[k], y, "ignore")
            for k in (j, *selected)
        ]
        if not selected:
            return alone[0]
        beyond = [naive.conditional_over_gaps(columns[j], y, columns[s]) for s in selected]
        if criterion == "cmim":
            return min(alone[0], *beyond)
        return sum(a + b for a, b in zip(alone[1:], beyond, strict=True)) / len(selected)

    order, values = [], []
    for _ in range(6):
        scored = {j: value(columns, labels, order, j) for j in range(6) if j not in order}
        order.append(max(scored, key=scored.get))
        values.append(scored[order[-1]])
    method = {"jmi": JMI, "cmim": CMIM}[criterion]
    selector = method(bins=None, missing="ignore", full_ranking=True).fit(X, y)
    assert selector.order_.tolist() == order
    np.testing.assert_allclose([s.value for s in selector.selection_.path], values, atol=1e-12)


def with_identifier(n=100):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "Id": [f"u{k}" for k in rng.permutation(n)],
            "good": np.where(rng.random(n) < 0.1, 1 - y, y),
            "noise": rng.integers(0, 3, n),
        }
    )
    return frame, y


@pytest.mark.parametrize("method", [*COUNTING, ChiSquared, CFS, QPFS])
def test_identifiers_are_warned_of(method):
    frame, y = with_identifier()
    with pytest.warns(UserWarning, match="100 levels in 100 samples of column 'Id'.*Leave it out"):
        method(bins=None).fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        method(bins=None).fit(frame[["good", "noise"]], y)


def test_few_samples_are_no_reason_to_warn():
    frame, y = with_identifier(12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MaxRel(bins=None).fit(frame, y)


@pytest.mark.filterwarnings("ignore:X has 100 levels")
def test_max_dependency_leaves_identifiers_to_the_end():
    frame, y = with_identifier()
    selector = MaxDep(bins=None).fit(frame, y)
    assert selector.selection_.selected == ["good", "noise"]
    assert selector.order_.tolist() == [1, 2, 0]
    assert selector.scores_[0] == selector.relevance_[0] > selector.relevance_[1]
    with pytest.raises(ValueError, match=r"\('Id'\).*Select at most 2"):
        MaxDep(3, bins=None).fit(frame, y)
    alone = MaxDep(bins=None).fit(frame[["Id"]], y)  # there is nothing else
    assert alone.selection_.selected == ["Id"]
