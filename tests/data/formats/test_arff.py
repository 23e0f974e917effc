"""ARFF: against SciPy's reader where it can read, by example where it cannot."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import arff

from tamiz.data import DataError, load

HEADER = """% a comment
@RELATION weather
@attribute outlook {sunny, overcast, 'light rain'}
@attribute 'air temperature' real
@ATTRIBUTE humidity integer
@attribute play {yes, no}

@DATA
"""


def write(folder, text, name="t.arff"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_header_and_rows(tmp_path):
    rows = "sunny,85.5,85,no\n% between\n'light rain',?,70,yes\novercast, 64 ,65,yes\n"
    data = load(write(tmp_path, HEADER + rows))
    assert data.feature_names == ["outlook", "air temperature", "humidity"]
    assert data.levels == {"outlook": ["sunny", "overcast", "light rain"]}  # as declared
    np.testing.assert_array_equal(data.X, [[0, 85.5, 85], [2, np.nan, 70], [1, 64, 65]])
    assert data.y.tolist() == ["no", "yes", "yes"]
    assert data.missing.tolist() == [0, 1, 0]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(-1e6, 1e6)),
            st.sampled_from(["sunny", "overcast", "rain"]),
            st.integers(-5, 5),
        ),
        min_size=2,
        max_size=15,
    )
)
def test_equals_scipy(tmp_path, rows):
    lines = [f"{'?' if a is None else repr(a)},{b},{c}" for a, b, c in rows]
    text = (
        "@relation r\n@attribute a real\n@attribute b {sunny,overcast,rain}\n"
        "@attribute c numeric\n@data\n" + "\n".join(lines) + "\n"
    )
    data = load(write(tmp_path, text), target=False, roles=dict.fromkeys("ac", "numeric"))
    peer, _ = arff.loadarff(io.StringIO(text))
    np.testing.assert_array_equal(data.X[:, 0], peer["a"])
    np.testing.assert_array_equal(data.X[:, 2], peer["c"])
    named = [data.levels["b"][int(code)] for code in data.X[:, 1]]
    assert named == [level.decode() for level in peer["b"]]


def test_text_quotes_and_dates(tmp_path):
    text = (
        '@relation r\n@attribute s string\n@attribute "d d" date "yyyy-MM-dd"\n'
        "@attribute n numeric\n@data\n"
        "'it\\'s, so',\"2020-01-02\",1\n\"say 'no'\",2020-01-03,2\n?,?,3\n'?',2020-01-04,4\n"
    )
    data = load(write(tmp_path, text), encode=None)
    assert data.X[:, 0].tolist() == ["it's, so", "say 'no'", None, "?"]
    assert data.roles["d d"] == "date"


def test_sparse_numbers_become_a_sparse_matrix(tmp_path):
    text = (
        "@relation r\n@attribute a real\n@attribute b real\n@attribute c real\n"
        "@attribute class {x, y}\n@data\n{1 2.5, 3 y}\n{0 1}\n{}\n{2 ?, 3 'y'}\n"
    )
    data = load(write(tmp_path, text))
    assert sparse.issparse(data.X)
    expected = [[0, 2.5, 0], [1, 0, 0], [0, 0, 0], [0, 0, np.nan]]
    np.testing.assert_array_equal(data.X.toarray(), expected)
    assert data.y.tolist() == ["y", "x", "x", "y"]  # what is not said is the first
    assert data.missing.tolist() == [0, 0, 1]


def test_sparse_with_categories_is_dense(tmp_path):
    text = (
        "@relation r\n@attribute a real\n@attribute b {u,v,w}\n@attribute class {x, y}\n@data\n"
        "{0 3, 1 w, 2 y}\n{1 v}\n{0 4}\n"
    )
    data = load(write(tmp_path, text))
    np.testing.assert_array_equal(data.X, [[3, 2], [0, 1], [4, 0]])


def test_some_rows_and_columns(tmp_path):
    rows = "sunny,1,2,no\novercast,3,4,yes\nbroken\n"
    data = load(write(tmp_path, HEADER + rows), nrows=2, columns=["humidity"])
    assert data.X.tolist() == [[2], [4]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@relation r\n@attribute a real\n", "no @data line"),
        ("@relation r\n@data\n1\n", "declares no @attribute"),
        ("@relation r\nnonsense\n@data\n", "line 2: 'nonsense'"),
        ("@relation r\n@attribute a funny\n@data\n", "line 2: the type 'funny'"),
        ("@relation r\n@attribute a {x,y\n@data\n", "not closed"),
        (HEADER, "no rows after @data"),
        (HEADER + "sunny,1,2\n", "line 9: 3 values where 4"),
        (HEADER + "sunny,warm,2,no\n", "line 9: 'warm' is no number"),
        (HEADER + "snowy,1,2,no\n", "line 9: 'snowy' is not among"),
        (HEADER + "{9 1}\n", "line 9: '9 1'"),
        (HEADER + "{1 1\n", "line 9: a sparse row"),
    ],
)
def test_faults(tmp_path, text, words):
    with pytest.raises(DataError, match=words):
        load(write(tmp_path, text))
