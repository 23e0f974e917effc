"""Decimal numbers read by compiled code are those that Python reads, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamiz.data.formats._scan import LEAST, MOST, compose, powers_of_five, read_numbers


def read(cells, point=46, spellings=("NA", "nan")):
    """Numbers of one column, what was odd, and what was left to Python."""
    raw = [cell.encode() for cell in cells]
    buffer = np.frombuffer(b",".join(raw) + b"\n", dtype=np.uint8)
    ends = np.cumsum([len(cell) + 1 for cell in raw]).astype(np.int32) - 1
    starts = ends - np.array([len(cell) for cell in raw], dtype=np.int32)
    spelled = np.zeros((len(spellings), 9), dtype=np.int64)
    for s, spelling in enumerate(spellings):
        spelled[s, 0] = len(spelling)
        spelled[s, 1 : 1 + len(spelling)] = list(spelling.encode())
    out = np.full((len(cells), 1), 77.0)
    odd = np.full(1, -1)
    slow = np.empty((len(cells) + 1, 2), dtype=np.int64)
    _, n_slow = read_numbers(
        buffer, starts[:, None], ends[:, None], np.array([0]), out, point, spelled,
        False, powers_of_five(), 0, odd, slow,
    )  # fmt: skip
    return out[:, 0], int(odd[0]), set(slow[:n_slow, 0].tolist())


def check(cells):
    values, odd, slow = read(cells)
    assert odd == -1
    for i, cell in enumerate(cells):
        if i not in slow:
            assert values[i].hex() == float(cell).hex(), cell
    return slow


@settings(max_examples=100)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_shortest_spelling_of_any_float(numbers):
    check([repr(number) for number in numbers])


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 10**18 - 1), st.integers(-340, 300)), min_size=1, max_size=50)
)
def test_any_digits_and_exponent(pairs):
    check([f"{w}e{q}" for w, q in pairs])


def test_ordinary_numbers_are_not_left_to_python():
    rng = np.random.default_rng(0)
    numbers = np.concatenate(
        [rng.normal(size=5000), rng.normal(size=5000) * 10.0 ** rng.integers(-30, 30, 5000)]
    )
    assert not check([repr(float(number)) for number in numbers])


def test_halves_go_to_the_even_neighbour():
    # integers half-way between two float64 numbers, and their neighbours
    cells = []
    for k in range(1, 60):
        middle = 2**53 + 2 * k + 1
        cells += [str(middle - 1), str(middle), str(middle + 1), f"{middle}.0", f"{middle}e0"]
    cells += ["9007199254740993", "900719925474099.3e1", "90071992547409930e-1"]
    assert not check(cells)


@pytest.mark.parametrize(
    "cell",
    ["0", "-0", "0.0", "+5", ".5", "5.", "-.5e-3", "1E5", "007", "0.000", "1e22", "1e23", "1e-5"],
)
def test_spellings(cell):
    assert not check([cell])


@pytest.mark.parametrize(
    "cell",
    ["0.1000000000000000055511151231257827", "123456789012345678901234567890", "1e400", "4e-320"],
)
def test_long_or_extreme_numbers_are_left_to_python(cell):
    assert check([cell]) == {0}


@pytest.mark.parametrize(
    "cell",
    [
        "-",
        "+",
        ".",
        "e5",
        "1e",
        "1e+",
        "1.2.3",
        "1,5",
        "0x10",
        "1_000",
        "12a",
        "--1",
        "infin",
        "1 2",
    ],
)
def test_what_is_no_number(cell):
    assert read([cell])[1] == 0


def test_missing_and_infinite():
    values, odd, _ = read(["", "NA", "nan", "inf", "-Inf", "+infinity"])
    assert odd == -1
    assert np.isnan(values[:3]).all()
    assert values[3:].tolist() == [np.inf, -np.inf, np.inf]


def test_decimal_comma():
    values, odd, _ = read(["1,5", "-2,25e1"], 44)
    assert (values.tolist(), odd) == ([1.5, -22.5], -1)


def test_table_of_powers_brackets_the_truth():
    table = powers_of_five()
    for q in (LEAST, -100, -28, -27, -1, 0, 1, 27, 55, 56, 100, MOST):
        high, low = (int(word) for word in table[q - LEAST])
        bits = high << 64 | low
        assert bits.bit_length() == 128
        # bits / 2^s is 5^q, within one unit in the last place
        if q >= 0:
            shift = (5**q).bit_length() - 128
            exact = 5**q if shift <= 0 else (5**q) >> shift
            assert bits == (exact << -shift if shift < 0 else exact)
        else:
            scale = 127 + (5**-q).bit_length()
            assert abs(bits * 5**-q - (1 << scale)) <= 5**-q


def test_compose_says_when_it_does_not_know():
    row = powers_of_five()[-LEAST]
    assert compose(np.uint64(3), 0, row[0], row[1]) == 3.0
    least = powers_of_five()[0]
    assert np.isnan(compose(np.uint64(3), LEAST, least[0], least[1]))  # below the normal range
