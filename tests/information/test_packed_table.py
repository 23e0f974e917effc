"""Wide tables in a file give what the same tables give in memory, and damaged files are refused."""

from __future__ import annotations

import json
import os
import pickle
import zlib

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tamiz.filters import CFS, CMIM, JMI, MRMR, QPFS, InformationGain, MaxRel
from tamiz.information import PackedTable, encode, mutual_information_matrix, pack_table
from tamiz.information.packed_table import MARK
from tamiz.validation import DamagedFileError, NotEnoughMemoryError

N, P = 130, 40


@pytest.fixture(scope="module")
def table():
    """Continuous columns of which some are constant and some lack values."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    X = rng.normal(size=(N, P)) + np.where(np.arange(P) % 5 == 0, y[:, None], 0.0)
    X[:, 3] = 7.0
    X[rng.random((N, P)) < 0.02] = np.nan
    return X, y


@pytest.fixture
def path(tmp_path):
    return tmp_path / "wide.packed"


@pytest.mark.parametrize("missing", ["code", "ignore"])
@pytest.mark.parametrize("block", [1, 7, 100])
def test_information_equals_that_of_the_table_in_memory(table, path, block, missing):
    X, y = table
    memory = encode(X, missing=missing)
    with pack_table(X, path, missing=missing, block=block) as packed:
        stored = packed.as_codes()
        assert packed.shape == X.shape
        assert stored.n_levels.tolist() == memory.n_levels.tolist()
        assert stored.varies.tolist() == memory.varies.tolist()
        for measure in ("entropies", "n_known"):
            assert (getattr(stored, measure)() == getattr(memory, measure)()).all()
        assert (stored.relevance(y) == memory.relevance(y)).all()
        assert (stored.matrix() == memory.matrix()).all()
        assert (stored.conditional(5, y) == memory.conditional(5, y)).all()
        whole = np.column_stack([memory.column(j) for j in range(P)])
        assert (packed.codes(range(P)) == whole).all()


@pytest.mark.parametrize(
    "selector",
    [
        MaxRel(5),
        InformationGain(5, bins="mean_std"),
        MRMR(5),
        MRMR(5, scheme="quotient"),
        MRMR(5, full_ranking=True),
        JMI(5),
        CMIM(5),
        CFS(bins="mean_std"),
        QPFS(5),
    ],
    ids=repr,
)
def test_filters_rank_as_they_do_in_memory(table, path, selector):
    X, y = table
    with pack_table(X, path, block=9) as packed:
        stored = selector.fit(packed, y)
        order, scores = stored.order_.copy(), stored.scores_.copy()
        memory = selector.fit(X, y)
    assert order.tolist() == memory.order_.tolist()
    assert (scores == memory.scores_).all()
    assert memory.n_features_in_ == P


def test_generators_frames_and_sparse_matrices_are_packed(table, path):
    X, _ = table
    expected = encode(X).matrix()
    blocks = (X[:, first : first + 11] for first in range(0, P, 11))
    with pack_table(blocks, path) as packed:
        assert (mutual_information_matrix(X) == expected).all()
        assert (packed.as_codes().matrix() == expected).all()
        assert packed.names is None
    with pack_table([X[:, :9], X[:, 9:]], path) as packed:
        assert (packed.as_codes().matrix() == expected).all()
    with pack_table(X[:5].tolist(), path, bins=None, block=3) as packed:
        assert packed.shape == (5, P)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(P)])
    with pack_table(frame, path, block=13) as packed:
        assert (packed.as_codes().matrix() == expected).all()
        assert packed.names == list(frame)
    zeros = np.nan_to_num(X)
    with pack_table(sparse.csr_matrix(zeros), path, block=13) as packed:
        assert (packed.as_codes().matrix() == encode(zeros).matrix()).all()


def test_names_of_a_frame_reach_the_selector(table, path):
    X, y = table
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(P)])
    selector = MaxRel(3)
    with pack_table(frame, path) as packed:
        assert selector.fit(packed, y).selection_.selected == [
            frame.columns[j] for j in selector.order_[:3]
        ]
    assert list(selector.get_feature_names_out()) == [
        frame.columns[j] for j in np.sort(selector.order_[:3])
    ]


def test_categories_have_the_levels_of_the_frame(path):
    frame = pd.DataFrame({"colour": list("rgbrgb"), "size": [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]})
    with pack_table(frame, path, bins=None) as packed:
        assert packed.n_levels.tolist() == [3, 3]
        assert packed.codes([0])[:, 0].tolist() == encode(frame, bins=None).column(0).tolist()


def test_a_table_that_was_there_stays_if_another_cannot_be_packed(table, path):
    X, _ = table
    pack_table(X, path).close()
    before = path.read_bytes()
    blocks = iter([X[:, :3], X[:-1, :3]])
    with pytest.raises(ValueError, match="block of columns that begins at 3; those before have"):
        pack_table(blocks, path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_bad_tables_are_refused_with_a_sentence(table, path, tmp_path):
    X, y = table
    many = np.arange(200.0)[:, None] % 90
    for bad, message in (
        (many, "90 levels in column 0"),
        (iter([]), "X has no columns"),
        (np.zeros(5), "two dimensions"),
    ):
        with pytest.raises(ValueError, match=message):
            pack_table(bad, path, bins=None)
    with pytest.raises(ValueError, match="no known value in column 2"):
        pack_table(np.array([[1.0, 0.0, np.nan], [2.0, 1.0, np.nan]]), path, missing="ignore")
    with pytest.raises(ValueError, match="block=0"):
        pack_table(X, path, block=0)
    with pytest.raises(ValueError, match="twice"):
        pack_table((pd.DataFrame({"a": X[:, 0]}) for _ in range(2)), path)
    with pytest.raises(OSError, match="cannot write"):
        pack_table(X, tmp_path / "no folder" / "t.packed")
    with pytest.raises(OSError, match="cannot read"):
        PackedTable(tmp_path / "nothing.packed")
    with pack_table(X, path) as packed:
        with pytest.raises(ValueError, match="sample_weight cannot be used with a packed table"):
            MRMR(3).fit(packed, y, sample_weight=np.arange(1.0, N + 1))
        with pytest.raises(ValueError, match="categorical_features cannot be used"):
            MRMR(3, categorical_features=[0]).fit(packed, y)
        with pytest.raises(TypeError, match="cannot be taken, nor weighted"):
            MRMR(3).fit(packed, y, sample_weight=np.arange(float(N)))
        with pytest.raises(TypeError, match="is no array"):
            np.asarray(packed)
        with pytest.raises(TypeError, match="packed table already"):
            pack_table(packed, path.with_suffix(".copy"))
        with pytest.raises(ValueError, match="130 rows but y has 129"):
            MRMR(3).fit(packed, y[:-1])
    with pytest.raises(ValueError, match="was closed"):
        packed.codes([0])
    with pytest.raises(ValueError, match="was closed"):
        MRMR(3).fit(packed, y)


def index_of(data):
    place, length = np.frombuffer(data[len(MARK) : len(MARK) + 16], "<u8").tolist()
    return place, json.loads(data[place : place + length])


def with_index(data, index):
    """The file with another index, and the right checksum of it."""
    place, _ = index_of(data)
    text = json.dumps(index).encode()
    head = np.array([place, len(text), zlib.crc32(text)], "<u8").tobytes()
    return MARK + head + data[len(MARK) + len(head) : place] + text


def with_group(data, change):
    """The file after ``change(bits, margins, features)`` of its first group, and the right checksum
    of that.
    """
    _, index = index_of(data)
    (at, levels, columns, _), *others = index["groups"]
    words = -(-index["n_samples"] // 64)
    changed, place, parts = bytearray(data), at, []
    for shape, kind in (
        ((levels, words, columns), "<u8"),
        ((levels, columns), "<u8"),
        ((columns,), "<i8"),
        ((columns,), "u1"),
    ):
        part = np.frombuffer(changed, kind, int(np.prod(shape)), place).reshape(shape)
        place += -(-part.nbytes // 64) * 64
        parts.append(part)
    change(*parts[:3])
    data = bytes(changed)
    total = zlib.crc32(data[at:place])
    return with_index(data, {**index, "groups": [[at, levels, columns, total], *others]})


def with_bits(data, change):
    """The file with other bits in its first group."""
    return with_group(data, lambda bits, margins, features: change(bits))


def test_every_index_that_does_not_fit_is_refused(table, path):
    pack_table(table[0], path, block=7).close()
    data = path.read_bytes()
    _, index = index_of(data)
    at, levels, columns, total = index["groups"][0]
    others = index["groups"][1:]
    changes = [
        {"n_samples": N + 64},
        {"n_samples": N - 1},
        {"n_samples": 2**60},
        {"n_samples": True},
        {"n_features": P + 1},
        {"n_features": -1},
        {"names": ["a"]},
        {"names": ["a"] * P},
        {"names": 5},
        {"names": "".join(map(chr, range(97, 97 + P)))},
        {"names": [f"{j}\ud800" for j in range(P)]},
        {"groups": []},
        {"groups": 3},
        {"groups": [[at, 65, columns, total], *others]},
        {"groups": [[at + 8, levels, columns, total], *others]},
        {"groups": [[at, levels, columns, total, 1], *others]},
        {"groups": [[at, levels, columns, total + 1], *others]},
        {"groups": [*index["groups"][:-1], index["groups"][0]]},
        # as many columns as one likes, of few bytes
        {
            "n_features": columns * 3000,
            "groups": [[at, levels, columns, total]] * 3000,
        },
    ]
    for change in changes:
        path.write_bytes(with_index(data, {**index, **change}))
        with pytest.raises(DamagedFileError, match="sound packed table"):
            print(change, PackedTable(path))
    path.write_bytes(with_index(data, index))
    PackedTable(path).close()


def lend_a_sample(bits):
    """A sample of the second level counts for the first as well, and one of the first no more."""
    first, second = bits[0, 0, 0], bits[1, 0, 0]
    lowest = [np.uint64(int(word) & -int(word)) for word in (first, second)]
    bits[0, 0, 0] = first ^ lowest[0] ^ lowest[1]


def move_a_sample_outside(bits):
    """A sample of the first level is beyond the last one."""
    first = bits[0, 0, 0]
    bits[0, 0, 0] = first ^ np.uint64(int(first) & -int(first))
    bits[0, -1, 0] |= np.uint64(1) << np.uint64(63)


@pytest.mark.parametrize("change", [lend_a_sample, move_a_sample_outside])
def test_bits_that_no_table_has_are_refused_though_they_are_as_many(table, path, change):
    pack_table(np.nan_to_num(table[0]), path).close()
    data = path.read_bytes()
    path.write_bytes(with_bits(data, lambda bits: None))
    PackedTable(path).close()
    path.write_bytes(with_bits(data, change))
    with pytest.raises(DamagedFileError, match="bits are not what was written"):
        PackedTable(path)


def wrap_around(bits, margins, features):
    """Their differences are all positive, since those of the largest integers are beyond them."""
    features[1:4] = 2**63 - 1, -(2**63), -1


def begin_with_an_empty_level(bits, margins, features):
    bits[[0, 1], :, 0], margins[[0, 1], 0] = bits[[1, 0], :, 0], margins[[1, 0], 0]
    bits[0, :, 0], margins[0, 0] = 0, 0


def leave_a_level_out(bits, margins, features):
    bits[1, :, 0], margins[1, 0] = 0, 0


def hold_nothing(bits, margins, features):
    bits[:, :, 0], margins[:, 0] = 0, 0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (wrap_around, "not in order"),
        (begin_with_an_empty_level, "no samples at one of its levels"),
        (leave_a_level_out, "no samples at one of its levels"),
        (hold_nothing, "no samples at one of its levels"),
    ],
)
def test_groups_that_nobody_packs_are_refused(table, path, change, why):
    pack_table(np.delete(table[0], 3, axis=1), path, missing="ignore").close()  # none is constant
    data = path.read_bytes()
    path.write_bytes(with_group(data, lambda *parts: None))
    PackedTable(path).close()
    path.write_bytes(with_group(data, change))
    with pytest.raises(DamagedFileError, match=why):
        PackedTable(path)


def test_more_codes_than_memory_holds_are_refused(table, path, free_memory):
    with pack_table(table[0], path) as packed:
        free_memory(4 * N * P - 1)
        with pytest.raises(NotEnoughMemoryError, match="fewer columns at a time"):
            packed.codes(np.arange(P))
        assert packed.codes([0, 1]).shape == (N, 2)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
def test_a_pipe_is_refused_and_neither_waited_for_nor_replaced(table, path):
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"cannot read .* a device or a pipe, not a file"):
        PackedTable(path)
    with pytest.raises(OSError, match=r"cannot write .* a device or a pipe, not a file"):
        pack_table(table[0], path)
    assert path.is_fifo()


def test_names_of_no_file_are_refused(table):
    for call in (PackedTable, lambda path: pack_table(table[0], path)):
        with pytest.raises(TypeError, match="path=3 must be the name of a file"):
            call(3)
        with pytest.raises(ValueError, match="a null character"):
            call("a\0b")


def test_every_file_that_was_changed_or_cut_off_is_refused(table, path):
    pack_table(table[0][:, :12], path, block=5).close()
    data = path.read_bytes()
    first = index_of(data)[1]["groups"][0][0]
    inside = np.setdiff1d(np.arange(len(data)), np.arange(len(MARK) + 24, first))  # no padding
    rng = np.random.default_rng(0)
    for trial in range(200):
        changed = bytearray(data)
        if trial % 10 == 0:
            del changed[int(rng.integers(len(data))) :]
        else:
            where = int(rng.choice(inside))
            changed[where] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        with pytest.raises(DamagedFileError, match="sound packed table"):
            PackedTable(path)


def test_a_process_that_gets_a_packed_table_opens_the_file(table, path):
    with pack_table(table[0], path) as packed:
        again = pickle.loads(pickle.dumps(packed))
        assert (again.codes([3, 5]) == packed.codes(np.isin(np.arange(P), [3, 5]))).all()
        again.close()
        with pytest.raises(IndexError, match=f"^{P} is not a feature"):
            packed.codes([P])


def test_errors_of_whoever_reads_the_columns_stay_what_they_are(path):
    def blocks():
        yield np.zeros((3, 2))
        raise FileNotFoundError("there is no such chromosome")

    with pytest.raises(FileNotFoundError, match="chromosome"):
        pack_table(blocks(), path)
    assert not path.exists()
