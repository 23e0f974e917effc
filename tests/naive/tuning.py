"""Model selection the slow way: every cell fitted afresh on every split."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone


def errors_of_cells(estimator, cells, X, y, splits, weight=None):
    """Share of wrong predictions, (cells, splits)."""
    table = np.empty((len(cells), len(splits)))
    for c, params in enumerate(cells):
        for k, (train, test) in enumerate(splits):
            machine = clone(estimator).set_params(**params)
            arguments = {}
            if weight is not None:
                steps = getattr(machine, "steps", None)
                name = "sample_weight" if steps is None else f"{steps[-1][0]}__sample_weight"
                arguments[name] = weight[train]
            machine.fit(X[train], y[train], **arguments)
            wrong = machine.predict(X[test]) != y[test]
            table[c, k] = np.average(wrong, weights=None if weight is None else weight[test])
    return table


def choose_one_standard_error(cells, errors):
    """The simplest cell (C and gamma) within one standard error of the best, by enumeration."""

    def size(cell):
        return np.log10(cell["C"]) + np.log10(cell["gamma"])

    means = errors.mean(axis=1)
    ties = [k for k in range(len(cells)) if means[k] <= means.min() + 1e-12]
    best = min(ties, key=lambda k: (size(cells[k]), k))
    limit = means[best] + errors[best].std(ddof=1) / np.sqrt(errors.shape[1])
    allowed = [
        k
        for k in range(len(cells))
        if means[k] <= limit + 1e-12
        and cells[k]["C"] <= cells[best]["C"]
        and cells[k]["gamma"] <= cells[best]["gamma"]
    ]
    return min(allowed, key=lambda k: (size(cells[k]), means[k], k))


def squared_distances(X):
    """||x - z||**2, pair by pair."""
    return np.array([[float(np.sum((a - b) ** 2)) for b in X] for a in X])
