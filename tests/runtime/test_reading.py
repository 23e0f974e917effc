"""Arrays that must not be written share compiled code where a function only reads them."""

from __future__ import annotations

from collections import namedtuple
from types import FunctionType

import numpy as np
import pytest
from numba import types
from numba.core.errors import TypingError

from tamiz.runtime.compiling import CompileWatch, njit
from tamiz.runtime.reading import for_writable, look
from tamiz.svm import SVC

Pair = namedtuple("Pair", "table target")


@njit
def total(X, i):
    s = 0.0
    for j in range(X.shape[1]):
        s += X[i, j]
    return s


@njit
def clear(row):
    for j in range(len(row)):
        row[j] = 0.0


@njit
def first_row(X):
    return X[0]


@njit
def itself(X, n):
    return X[0, 0] if n == 0 else itself(X, n - 1)


def reads(X, out):
    row, m = X[0], len(X)
    out[0] = row[0] + X[1, 0] + total(X, 0) + min(m, X[2, 0])
    value = X[0, 0]
    value += 1.0
    for i in range(X.shape[0]):
        out[i] += total(X, i) + np.sqrt(value)


def reads_parts(X, out):
    values, indices = X
    for k in indices:
        out[k] = values[k]
    return out[0]


def reads_stars(X, out):
    out[0] = total(*X)


def reads_a_field(X, out):
    out[0] = X.table[0, 0]


def reads_unless(X, out, scratch=None):
    if scratch is not None:
        clear(X[0])
    out[0] = X[0, 0]


def writes(X, out):
    X[0, 0] = 1.0


def writes_a_row(X, out):
    row = X[0]
    row[0] = 1.0


def writes_late(X, out):
    row = out
    for _ in range(2):
        row[0] = 1.0
        row = X[0]


def adds_in_place(X, out):
    part = X[1:]
    part += 1.0


def adds_to_an_entry(X, out):
    X[0, 0] += 1.0


def writes_rows(X, out):
    for row in X:
        row[0] = 1.0


def writes_one_of_two(X, out):
    a, b = X[0], out
    a[0], b[0] = 1.0, 2.0


def gives_away(X, out):
    clear(X[1])


def gives_away_by_name(X, out):
    clear(row=X[0])


def gives_the_answer_away(X, out):
    clear(first_row(X))


def gives_to_a_stranger(X, out):
    np.copyto(X, out)


def sorts(X, out):
    X.sort()


def returns(X, out):
    return X[0]


def writes_either(X, out):
    (X if out[0] > 0 else out)[0] = 1.0


def calls_what_calls_itself(X, out):
    out[0] = itself(X, 3)


def makes_a_list(X, out):
    rows = [X[0] for _ in range(2)]
    rows[0][0] = 1.0


def deletes_nothing_but_is_not_understood(X, out):
    with np.errstate():
        out[0] = X[0, 0]


TABLE = types.Array(types.float64, 2, "C")
LINE = types.Array(types.float64, 1, "C")
PLACES = types.Array(types.int64, 1, "C")


def locked(kind):
    return kind.copy(readonly=True)


@pytest.mark.parametrize(
    ("function", "first", "same"),
    [
        (reads, locked(TABLE), TABLE),
        (reads_unless, locked(TABLE), TABLE),
        (
            reads_parts,
            types.Tuple([locked(LINE), locked(PLACES)]),
            types.Tuple([LINE, PLACES]),
        ),
        (reads_stars, types.Tuple([locked(TABLE), types.int64]), types.Tuple([TABLE, types.int64])),
        (
            reads_a_field,
            types.NamedTuple([locked(TABLE), LINE], Pair),
            types.NamedTuple([TABLE, LINE], Pair),
        ),
    ],
)
def test_what_is_only_read_is_taken_for_writable(function, first, same):
    more = () if function is not reads_unless else (types.Omitted(None),)
    assert for_writable(function, (first, LINE, *more)) == (same, LINE, *more)


@pytest.mark.parametrize(
    "function",
    [
        *(writes, writes_a_row, writes_late, adds_in_place, adds_to_an_entry, writes_rows),
        *(writes_one_of_two, gives_away, gives_away_by_name, gives_the_answer_away),
        *(gives_to_a_stranger, sorts, returns, writes_either, calls_what_calls_itself),
        *(makes_a_list, deletes_nothing_but_is_not_understood),
    ],
)
def test_whatever_may_be_written_is_not(function):
    args = (locked(TABLE), LINE)
    assert for_writable(function, args) == args


def test_a_branch_that_is_there_counts():
    assert for_writable(reads_unless, (locked(TABLE), LINE, LINE))[0] == locked(TABLE)


def test_what_cannot_be_looked_up_is_written():
    assert look(len, (TABLE,)).written == {"obj"}
    nobody = eval("lambda X: X.shape")  # without a source
    assert for_writable(nobody, (locked(TABLE),)) == (locked(TABLE),)


def test_a_source_that_is_no_longer_what_runs_is_not_believed():
    there = writes.__code__.replace(co_firstlineno=line_of(reads), co_name="reads")
    changed = FunctionType(there, globals())
    assert for_writable(changed, (locked(TABLE), LINE)) == (locked(TABLE), LINE)
    same = FunctionType(reads.__code__, globals())
    assert for_writable(same, (locked(TABLE), LINE)) == (TABLE, LINE)


def line_of(function):
    return function.__code__.co_firstlineno


def table(n=40):
    X = np.random.default_rng(0).standard_normal((n, 3))
    X.flags.writeable = False
    return X


def test_one_compilation_serves_both_and_answers_alike():
    sums = njit(total.py_func)
    X, spent = table(), []
    assert sums(X.copy(), 1) == X[1, 0] + X[1, 1] + X[1, 2]
    with CompileWatch(compiled=spent.append):
        assert [sums(X, 2), sums(X, 2)] == [sums(X.copy(), 2)] * 2
    assert spent == [] and len(sums.overloads) == 1


def test_what_writes_still_refuses():
    zero, row = njit(clear.py_func), table()[0]
    before = row.copy()
    zero(before.copy())
    with pytest.raises(TypingError):
        zero(row)
    np.testing.assert_array_equal(row, before)


def test_a_machine_compiles_nothing_for_a_table_that_is_shared():
    X, spent = table(80), []
    y = X[:, 0] > 0
    expected = SVC().fit(X.copy(), y).predict(X.copy())
    with CompileWatch(compiled=spent.append):
        found = SVC().fit(X, y).predict(X)
    assert spent == []
    np.testing.assert_array_equal(found, expected)
