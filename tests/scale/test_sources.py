"""batches: every kind of source gives the rows that load gives."""

from __future__ import annotations

import builtins
import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from tamiz.data import DataError, DataWarning, load
from tamiz.data.formats.frames import TableIterator
from tamiz.scale import batches, register
from tamiz.scale import sources as sources_module
from tests.calls import failing, watched
from tests.frames import to_polars
from tests.scale.tables import assert_same_as, mixed, together

pytestmark = pytest.mark.filterwarnings("ignore::tamiz.data.DataWarning")


def write(frame: pd.DataFrame, path) -> None:
    if path.suffix == ".parquet":
        to_polars(frame).write_parquet(path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet"])
@pytest.mark.parametrize("rows", [1, 7, 600, None])
def test_files_give_what_load_gives(name, rows, tmp_path):
    write(mixed(60 if rows == 1 else 600), tmp_path / name)
    assert_same_as(batches(tmp_path / name, batch_rows=rows), load(tmp_path / name))


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@pytest.mark.parametrize(
    "options",
    [
        {"target": "whole"},
        {"target": "size"},
        {"columns": ["tiny", "word"]},
        {"drop": ["word"]},
        {"target": "whole", "task": "regression"},
        {"roles": {"whole": "categorical"}},
        {"roles": {"word": "ignore"}},
    ],
)
def test_options_mean_what_they_mean_to_load(name, options, tmp_path):
    write(mixed(), tmp_path / name)
    assert_same_as(
        batches(tmp_path / name, batch_rows=50, **options), load(tmp_path / name, **options)
    )


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_numbers_that_are_codes(name, tmp_path):
    write(mixed(), tmp_path / name)
    table = batches(tmp_path / name, batch_rows=100, categorical_features=["whole"])
    assert_same_as(table, load(tmp_path / name, roles={"whole": "categorical"}))
    mask = [False, False, True, False]
    again = batches(tmp_path / name, batch_rows=100, categorical_features=mask)
    np.testing.assert_array_equal(together(again).X, together(table).X)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_no_target(name, tmp_path):
    write(mixed().drop(columns=["label"]), tmp_path / name)
    table = batches(tmp_path / name, target=False, batch_rows=100)
    X, y = together(table)
    assert y is None and table.schema.task is None
    np.testing.assert_array_equal(X, load(tmp_path / name, target=False).X)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_several_files_are_one_table(suffix, tmp_path):
    frame = mixed()
    write(frame, tmp_path / f"all{suffix}")
    bounds = [0, 100, 101, 600]
    paths = []
    for k in range(3):
        part = frame.iloc[bounds[k] : bounds[k + 1]]
        if k == 2:
            part = part[part.columns[::-1]]  # the order of the columns does not matter
        paths.append(tmp_path / f"part{k}{suffix}")
        write(part, paths[-1])
    assert_same_as(batches(paths, target="label", batch_rows=90), load(tmp_path / f"all{suffix}"))


def test_text_that_comes_late(tmp_path):
    """Rows that were read as numbers are read again when the column turns out to be text."""
    frame = pd.DataFrame(
        {"a": ["1.0"] * 300 + ["x"], "b": np.arange(301) % 7, "y": [0, 1, 1] * 100 + [0]}
    )
    frame.iloc[:150].to_csv(tmp_path / "p0.csv", index=False)
    frame.iloc[150:].to_csv(tmp_path / "p1.csv", index=False)
    table = batches([tmp_path / "p0.csv", tmp_path / "p1.csv"], batch_rows=100)
    assert table.schema.categories[0].tolist() == ["1.0", "x"]
    assert together(table).X[:, 0].tolist() == [0.0] * 300 + [1.0]


def test_passes_are_alike(tmp_path):
    write(mixed(), tmp_path / "t.parquet")
    table = batches(tmp_path / "t.parquet", batch_rows=77)
    first, second = together(table), together(table)
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)
    half = iter(table)
    next(half)
    assert len(list(table)) == 8  # a pass that was left alone disturbs no other


def test_arrays_frames_and_data_sets():
    data = load("iris")
    for source in (
        (data.X, data.y),
        data,
        (pd.DataFrame(data.X, columns=data.feature_names), pd.Series(data.y)),
        (pl.DataFrame(data.X, schema=data.feature_names), pl.Series(data.y)),
        [(data.X[:40], data.y[:40]), (data.X[40:], data.y[40:])],
        lambda: iter([(data.X[:40], data.y[:40]), (data.X[40:], data.y[40:])]),
    ):
        X, y = together(batches(source, batch_rows=33))
        np.testing.assert_array_equal(X, data.X)
        np.testing.assert_array_equal(np.unique(data.y)[y], data.y)
    assert batches(data).schema.names == data.feature_names


def test_a_data_set_with_categories(tmp_path):
    write(mixed(), tmp_path / "t.csv")
    data = load(tmp_path / "t.csv")
    assert_same_as(batches(data, batch_rows=100), data)


def test_a_frame_with_its_target():
    assert_same_as(batches(mixed(), batch_rows=100), load(mixed()))


def test_sparse_pairs_stay_sparse():
    X = sparse.random(50, 9, 0.2, format="csr", random_state=0)
    table = batches((X, np.arange(50) % 3), batch_rows=20)
    assert table.schema.sparse
    assert abs(together(table).X - X).nnz == 0


def test_identifiers_and_dates_are_reported_and_left_out(tmp_path):
    frame = mixed(100)
    frame.insert(0, "row", np.arange(100) * 3)
    frame.insert(1, "when", pd.date_range("2020-01-01", periods=100).astype(str))
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = batches(tmp_path / "t.csv", batch_rows=40)
    with pytest.warns(DataWarning, match=r"Not used as features: .*'row' .*identifier.*'when'"):
        table.survey()
    assert_same_as(table, load(tmp_path / "t.csv"))
    kept = batches(tmp_path / "t.csv", batch_rows=40, roles={"row": "numeric"})
    assert "row" in kept.schema.names


def test_a_column_that_ascends_in_the_first_batch_only(tmp_path):
    frame = mixed(100)
    frame.insert(0, "clock", np.r_[np.arange(60), np.arange(40)])
    write(frame, tmp_path / "t.parquet")
    table = batches(tmp_path / "t.parquet", batch_rows=40)
    assert "clock" in table.schema.names
    assert_same_as(table, load(tmp_path / "t.parquet"))


def test_classes_given_save_the_survey(tmp_path):
    frame = mixed().drop(columns=["word"]).dropna(subset=["label"])
    write(frame, tmp_path / "t.parquet")
    table = batches(tmp_path / "t.parquet", batch_rows=50, classes=["yes", "no"])
    without_classes = batches(tmp_path / "t.parquet", batch_rows=50)
    with watched(table.parts[0], "tables") as passes:
        list(table)
    with watched(without_classes.parts[0], "tables") as more:
        list(without_classes)
    assert (len(passes), len(more)) == (2, 3)  # the first rows, the survey, the batches
    assert_same_as(table, load(tmp_path / "t.parquet"))


def test_batches_of_batches(tmp_path):
    table = batches((np.eye(3), [0, 1, 0]))
    assert batches(table) is table


def test_another_kind_of_source(monkeypatch):
    class Mine:
        pass

    monkeypatch.setattr(sources_module, "_REGISTERED", [])
    register(
        lambda source: isinstance(source, Mine),
        lambda source, options: TableIterator([(np.eye(3), [0, 1, 0])], options),
    )
    assert together(batches(Mine())).y.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (3, "cannot be made of int"),
        ([], "empty list"),
        ("no-such-file.parquet", "There is no file"),
        (["no-such-file.csv", "another.csv"], "There is no file"),
        ([(np.eye(2), [0, 1]), "t.csv"], "mixes paths and tables"),
        ((np.empty((0, 2)), []), "holds no rows"),
        ((np.eye(3), [0, 1]), "X has 3 rows but y has 2"),
        ((np.eye(3), None), "has no y"),
        ((np.eye(3), 1), "one label or number for each row"),
    ],
)
def test_sources_that_are_none(source, words):
    with pytest.raises(DataError, match=words):
        batches(source).survey()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"batch_rows": 0}, "batch_rows=0 must be an integer from 1"),
        ({"batch_rows": True}, "batch_rows=True"),
        ({"n_features": 2.5}, r"n_features=2\.5"),
        ({"task": "rank"}, "task='rank' is not understood"),
        ({"classes": []}, r"classes=\[\] is not understood"),
        ({"classes": [0, 1], "task": "regression"}, "belongs to a classification"),
        ({"categorical_features": [True]}, "mask of shape"),
        ({"categorical_features": ["nope"]}, "no column 'nope'"),
        ({"categorical_features": ["target"]}, "which is the target"),
        ({"roles": {"x0": "odd"}}, "is not understood"),
        ({"columns": ["x9"]}, "no column 'x9'"),
        ({"drop": ["x0", "x1", "x2"]}, "no feature left"),
    ],
)
def test_options_that_are_not_possible(options, words):
    with pytest.raises(DataError, match=words):
        batches((np.eye(3), [0, 1, 0]), **options).survey()


def test_lists_of_files_have_one_kind_and_the_same_columns(tmp_path):
    frame = mixed()
    write(frame, tmp_path / "a.csv")
    write(frame, tmp_path / "b.parquet")
    write(frame.drop(columns=["tiny"]), tmp_path / "c.csv")
    write(frame.assign(more=1), tmp_path / "d.csv")
    with pytest.raises(DataError, match=r"several kinds .*'b\.parquet' is parquet"):
        batches([tmp_path / "a.csv", tmp_path / "b.parquet"])
    with pytest.raises(DataError, match=r"c\.csv has other columns than a\.csv: it lacks 'tiny'"):
        batches([tmp_path / "a.csv", tmp_path / "c.csv"])
    with pytest.raises(DataError, match=r"d\.csv has other columns than a\.csv: it has 'more'"):
        batches([tmp_path / "a.csv", tmp_path / "d.csv"])


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".svm"])
def test_file_that_goes_away(suffix, tmp_path, monkeypatch):
    path = tmp_path / f"t{suffix}"
    if suffix == ".svm":
        path.write_text("1 1:2\n0 2:3\n", encoding="utf-8")
    else:
        write(mixed(50), path)
    monkeypatch.chdir(tmp_path)
    opened = batches(path.name)
    monkeypatch.chdir("/")  # a pass does not depend on where the process is
    assert together(opened).X.shape[0] > 1
    fresh = batches(path)
    path.unlink()
    for act in (lambda: list(opened), fresh.survey):
        with pytest.raises(DataError, match=rf"t\{suffix} is no longer there"):
            act()


def test_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "t.csv"
    write(mixed(50), path)
    opened = batches(path, "label").survey()
    refused = PermissionError(13, "Permission denied")
    for act in (lambda: list(opened), lambda: batches(path), lambda: batches([path, path])):
        told = pytest.raises(DataError, match=r"t\.csv may not be read by this user")
        with failing(builtins, "open", refused), told:
            act()


def test_what_a_users_iterable_raises_is_theirs():
    def tables():
        yield np.zeros((3, 2)), np.array([0, 1, 0])
        raise FileNotFoundError("mine")

    with pytest.raises(FileNotFoundError, match="mine"):
        batches(tables).survey()


@pytest.mark.parametrize("rows", [1, 3, 64, None])
def test_features_do_not_depend_on_the_rows_of_a_batch(rows, tmp_path):
    """Identifiers too are recognised by the first rows, however few a batch holds."""
    frame = pd.DataFrame(
        {
            "id": np.arange(60),
            "nr": np.arange(60) * 2,
            "a": np.arange(60) % 7 * 0.5,
            "y": [0, 1] * 30,
        }
    )
    frame.loc[frame.index[::4], "y"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(DataWarning):
        assert_same_as(
            batches(tmp_path / "t.csv", "y", batch_rows=rows), load(tmp_path / "t.csv", "y")
        )


@pytest.mark.parametrize("columns", [[0], [0, 1], [1], [2, 0]])
def test_some_columns_of_an_array(columns):
    X = np.arange(12.0).reshape(4, 3)
    found = together(batches((X, np.arange(4) % 2), columns=columns, batch_rows=3))
    np.testing.assert_array_equal(found[0], X[:, sorted(columns)])
