"""What columns are taken for."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.data.column import Column
from tamiz.data.plan import (
    duplicates,
    few_valued,
    named_like_id,
    numeric_roles,
    perhaps_identifiers,
    text_role,
)

RNG = np.random.default_rng(0)
N = 60


def role_of(values, name="x"):
    return numeric_roles(np.asarray(values, dtype=float)[:, None], [name])[0]


@pytest.mark.parametrize(
    ("values", "name", "role"),
    [
        (RNG.normal(size=N), "x", "numeric"),
        (np.sort(RNG.normal(size=N)), "x", "numeric"),  # ascending, but not whole
        (np.full(N, 3.0), "x", "constant"),
        (np.where(np.arange(N) % 2, np.nan, 3.0), "x", "constant"),
        (np.full(N, np.nan), "x", "empty"),
        (np.arange(N), "x", "id"),
        (np.arange(N) * 7 + 100, "x", "id"),  # ascending with gaps
        (np.arange(N)[::-1], "x", "numeric"),
        (np.arange(N) // 2, "x", "numeric"),  # each twice
        (RNG.permutation(N), "x", "numeric"),
        (RNG.permutation(N), "patient_id", "id"),
        (RNG.integers(0, 5, N), "patient_id", "numeric"),  # a group, not an identifier
        (np.arange(8), "x", "id"),
        (np.arange(8) * 7, "x", "numeric"),  # eight numbers may be in order by chance
        ([1, 2, 3], "x", "numeric"),
    ],
)
def test_numeric(values, name, role):
    assert role_of(values, name) == role


@pytest.mark.parametrize(
    ("name", "like"),
    [("id", True), ("ID", True), ("PassengerId", True), ("patient_id", True), ("Unnamed_0", True),
     ("row_names", True), ("index", True), ("width", False), ("humid", False), ("acid", False),
     ("keyboard", False)],
)  # fmt: skip
def test_names_of_identifiers(name, like):
    assert named_like_id(name) is like


def text(cells, name="x", **flags):
    return text_role(Column.from_cells(name, cells, **flags))


def test_text():
    assert text(["a", "b"] * 30) == "categorical"
    assert text(["a"] * 10) == "constant"
    assert text([None] * 10) == "empty"
    assert text([f"s{k}" for k in range(N)]) == "id"
    assert text([f"this is message {k}" for k in range(N)]) == "text"
    assert text([f"s{k % 45}" for k in range(N)]) == "text"  # mostly distinct
    assert text(["a", "b", "c"]) == "categorical"  # too few to tell
    assert text(["a"] * 3 + [f"s{k}" for k in range(60)], "key") == "id"


@pytest.mark.parametrize(
    "day", ["2020-01-{:02d}", "{:02d}/03/2021", "{}.3.99", "2020-01-{:02d} 10:20", "10:{:02d}",
            "2020-01-{:02d}T10:20:30Z"],
)  # fmt: skip
def test_dates(day):
    assert text([day.format(1 + k % 28) for k in range(N)]) == "date"


def test_versions_are_no_dates():
    assert text(["1.2", "1.3", "2.0"] * 20) == "categorical"


def test_declared_kinds_are_believed():
    assert text([f"s{k}" for k in range(N)], declared=True) == "categorical"
    assert text(["x", "y"], date=True) == "date"


def test_duplicates():
    X = RNG.normal(size=(500, 6))
    X[:, 3], X[:, 5] = X[:, 1], X[:, 1]
    X[7, 2] = np.nan
    X[:, 4] = X[:, 2]  # with the missing value in the same place
    assert duplicates(X, list(range(6))) == {3: 1, 5: 1, 4: 2}
    assert duplicates(X, [0, 3, 5]) == {5: 3}
    X[499, 5] += 1e-9  # in the last row only
    assert duplicates(X, list(range(6))) == {3: 1, 4: 2}


def test_zero_is_zero_whatever_its_sign():
    X = np.zeros((10, 2))
    X[3, 0], X[5] = -0.0, 1.0
    assert duplicates(X, [0, 1]) == {1: 0}


def test_few_integers():
    X = np.column_stack(
        [RNG.integers(1, 5, 200), RNG.integers(0, 2, 200), RNG.normal(size=200),
         RNG.integers(0, 50, 200)]
    )  # fmt: skip
    assert few_valued(X, [0, 1, 2, 3]) == [0]


@pytest.mark.parametrize(
    ("values", "name", "doubtful"),
    [
        (RNG.permutation(N) + 500, "hospital_number", True),
        (RNG.permutation(N) + 500, "Account", True),
        (RNG.permutation(N) + 500, "código", True),
        (np.append(RNG.permutation(N - 4), [3, 5, 8, 9]), "patient_id", True),  # some return
        (RNG.permutation(N) + 500, "income", False),
        (RNG.permutation(N) + 500, "number_of_cells", False),
        (RNG.integers(0, 9, N), "ward_number", False),  # values return
        (RNG.permutation(N) + 0.5, "hospital_number", False),
        (np.where(np.arange(N) == 3, np.nan, RNG.permutation(N)), "hospital_number", False),
        (RNG.permutation(19), "hospital_number", False),  # too few rows to tell
    ],
)
def test_perhaps_an_identifier(values, name, doubtful):
    X = np.asarray(values, dtype=float)[:, None]
    assert perhaps_identifiers(X, [name], [0]) == ([0] if doubtful else [])
    assert perhaps_identifiers(X, [name], []) == []
