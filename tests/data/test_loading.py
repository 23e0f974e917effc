"""load: files and names told apart, targets found, refusals in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tamiz.data import DataError, load

TABLE = "age,class,height,score\n31,a,1.5,7\n45,b,1.7,9\n28,a,1.6,7\n52,b,1.9,8\n"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    return tmp_path / "people.csv"


def test_path_as_text_or_object(path):
    for source in (path, str(path)):
        assert load(source).name == "people"


def test_usual_name_of_a_target_is_preferred_and_said(path):
    data = load(path)
    assert data.target == "class"
    assert any("'class' is taken as the target by its name" in note for note in data.notes)


def test_last_column_otherwise(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,x\n3,4,y\n5,7,x\n", encoding="utf-8")
    data = load(tmp_path / "t.csv")
    assert data.target == "c"
    assert any("last column, 'c'" in note for note in data.notes)


@pytest.mark.parametrize("target", ["height", "HEIGHT", 2, -2])
def test_target_by_name_or_position(path, target):
    data = load(path, target)
    assert data.target == "height"
    assert data.y.tolist() == [1.5, 1.7, 1.6, 1.9]
    assert data.task == "regression"


def test_no_target(path):
    data = load(path, target=False)
    assert data.y is None and data.task is None
    assert data.n_features == 4


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"target": "heigth"}, r"people\.csv has no column 'heigth' \(target\). Did you mean"),
        ({"target": "zzz"}, "It has 'age', 'class', 'height', 'score'"),
        ({"target": 4}, "target=4 is beyond the 4 columns"),
        ({"target": True}, "target=True is not understood"),
        ({"target": 1.5}, "target=1.5 is not understood"),
        ({"columns": ["agee"]}, "Did you mean 'age'"),
        ({"columns": []}, "no feature left"),
        ({"columns": 1.5}, "columns=1.5"),
        ({"drop": ["x"]}, r"no column 'x' \(drop\)"),
        ({"nrows": 0}, "nrows=0"),
        ({"nrows": "many"}, "nrows='many'"),
        ({"roles": {"age": "funny"}}, "'funny' is not understood"),
        ({"roles": ["age"]}, "give a dict"),
        ({"roles": {"agee": "id"}}, "Did you mean 'age'"),
        ({"roles": {"class": "numeric"}, "target": "age"}, "cannot be numeric, it holds 'a'"),
        ({"task": "clustering"}, "task='clustering'"),
        ({"task": "regression"}, "a regression needs numbers"),
        ({"encode": "hash"}, "encode='hash'"),
        ({"format": "xls"}, "format='xls'"),
    ],
)
def test_impossible_wishes(path, told, words):
    with pytest.raises(DataError, match=words) as caught:
        load(path, **told)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_absent_files_and_unknown_names(tmp_path, path, monkeypatch):
    with pytest.raises(DataError, match=r"no file .*Did you mean 'people\.csv'"):
        load(tmp_path / "poeple.csv")
    with pytest.raises(DataError, match=r"neither a data set known by name nor a file\. Did you"):
        load("spambaze")
    with pytest.raises(DataError, match="available"):
        load("qqqq")
    with pytest.raises(DataError, match="is a folder"):
        load(tmp_path)
    (tmp_path / "t.xyz").write_text(TABLE, encoding="utf-8")
    with pytest.raises(DataError, match=r"kind of t\.xyz is not known by its extension"):
        load(tmp_path / "t.xyz")
    assert load(tmp_path / "t.xyz", format="csv").n_samples == 4


def test_file_called_like_a_set_needs_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "iris").write_text("1 1:2\n0 2:3\n1 1:4\n", encoding="utf-8")
    assert load("iris").source == "scikit-learn"
    assert load(f".{os.sep}iris").source == "iris"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_file_that_may_not_be_read(path):
    path.chmod(0)
    with pytest.raises(DataError, match="may not be read"):
        load(path)


def test_columns_and_drop(path):
    assert load(path, columns=["score", "age"]).feature_names == ["age", "score"]
    assert load(path, drop="age").feature_names == ["height", "score"]


def test_works_without_pandas_polars_and_pyarrow(path):
    """What a newcomer has: the bare installation."""
    code = (
        "import sys\n"
        "for name in ('pandas', 'polars', 'pyarrow'): sys.modules[name] = None\n"
        "from tamiz.data import load\n"
        f"data = load({str(path)!r})\n"
        "print(data.X[:, 0].tolist(), data.y.tolist())\n"
        "try: data.frame\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first = done.stdout.splitlines()[0]
    assert first == "[31.0, 45.0, 28.0, 52.0] ['a', 'b', 'a', 'b']"
    assert "tamiz[frames]" in done.stdout
