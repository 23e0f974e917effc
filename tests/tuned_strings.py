"""Strings to tune machines on, and scikit-learn's search to hold the errors against."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from tamiz.evaluation import tune
from tamiz.kernels import GapWeighted
from tamiz.svm import SVC

FOLDS = StratifiedKFold(4, shuffle=True, random_state=1)
CELLS = {"kernel__length": [1, 3], "kernel__decay": [0.2, 0.8], "C": [0.01, 1.0, 30.0]}
SMALL = {"kernel__length": [1, 2], "C": [1.0, 10.0]}


def strings(n=48, seed=0):
    """Two kinds of strings that differ in their pairs of letters, a tenth of them mislabelled."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        pieces = ["ab", "ba"] if i % 2 else ["aa", "bb"]
        made.append("".join(rng.choice([*pieces, "c"], rng.integers(2, 10))))
    return made, np.where(rng.random(n) < 0.1, 1 - np.arange(n) % 2, np.arange(n) % 2)


def pairs(text):
    return [text[k : k + 2] for k in range(len(text) - 1)]


def letters(text):
    return list(text)


X, y = strings()
THREE = np.array(["x", "y", "z"])[np.array([len(s) % 3 for s in X])]
SIZE = np.array([len(s) / 10 for s in X])


def machine(**options):
    return SVC(kernel=GapWeighted(), **options)


def quietly(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tune(*args, **{"cv": FOLDS, "refit": False, **options})


def searched(X, y, estimator, grid, cv=FOLDS, scoring=None, groups=None, **fit):
    """Errors of every cell on every fold, in the order of tune."""
    search = GridSearchCV(estimator, grid, cv=cv, scoring=scoring, refit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = search.fit(X, y, groups=groups, **fit).cv_results_
    names = [name for name in table if name.startswith("split")]
    return table["params"], 1.0 - np.column_stack([table[name] for name in names])


def agree(tuning, searched):
    params, errors = searched
    assert [cell.params for cell in tuning.cells] == params
    assert np.isfinite(errors).any()
    np.testing.assert_allclose(tuning.errors, errors, rtol=0, atol=1e-12)


def count_matrices(monkeypatch):
    """Note the sizes of all matrices that are computed from strings."""
    sizes = []
    gram = GapWeighted._gram

    def counting(self, X, Z):
        sizes.append((len(X), len(X if Z is None else Z)))
        return gram(self, X, Z)

    monkeypatch.setattr(GapWeighted, "_gram", counting)
    return sizes
