"""Data sets by name: bundled, in a folder, fetched; and what is said when there is none."""

from __future__ import annotations

import gzip
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import datasets

import tamiz.data.named as named
from tamiz.data import DataError, available, load
from tamiz.data.named import SETS, canonical
from tests.calls import failing


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes"])
def test_bundled_sets_are_those_of_scikit_learn(name):
    peer = getattr(datasets, f"load_{name}")()
    data = load(name)
    np.testing.assert_array_equal(data.X, peer.data)
    np.testing.assert_array_equal(data.y, peer.target)
    assert data.feature_names == [str(feature) for feature in peer.feature_names]
    if name == "diabetes":
        assert data.task == "regression" and data.target_names is None
    else:
        assert data.target_names == [str(label) for label in peer.target_names]


def test_the_worked_example(d8):
    for name in ("d8", "heights", "D8"):
        data = load(name)
        np.testing.assert_array_equal(data.X, d8.X)
        np.testing.assert_array_equal(data.y, d8.y)
        assert tuple(data.feature_names) == d8.names
        assert data.class_counts == {"short": 4, "tall": 4}


def test_part_of_a_bundled_set_names_its_classes():
    assert load("iris", nrows=60).target_names == ["setosa", "versicolor"]


@pytest.mark.parametrize("name", [name for name, entry in SETS.items() if not entry.bundled])
def test_sets_of_the_folder_are_as_listed(name, data_dir, monkeypatch):
    monkeypatch.setenv("TAMIZ_DATA", str(data_dir))
    entry = SETS[name]
    if named.find_file(name) is None:
        pytest.skip("not in this folder")
    data = load(name)
    assert data.X.shape == (entry.rows, entry.features)
    if entry.classes is None:
        assert data.task == "regression"
    else:
        assert data.class_counts == {label: entry.classes[label] for label in data.target_names}
        assert len(data.class_counts) == len(entry.classes)


def test_missing_counts_of_arrhythmia(data_dir, monkeypatch):
    monkeypatch.setenv("TAMIZ_DATA", str(data_dir))
    data = load("arrhythmia")
    counts = dict(zip(data.feature_names, data.missing.tolist(), strict=True))
    gaps = {name: count for name, count in counts.items() if count}
    assert gaps == {
        "T_angle": 8, "P_angle": 22, "QRST_angle": 1, "J_angle": 376, "heart_rate": 1,
    }  # fmt: skip
    assert list(data.roles.values()).count("constant") == 17


def test_text_stays_text(data_dir, monkeypatch):
    monkeypatch.setenv("TAMIZ_DATA", str(data_dir))
    data = load("sms_spam")
    assert data.X.dtype == object
    lengths = [len(text) for text in data.X[:, 0]]
    assert (min(lengths), max(lengths)) == (2, 910)


def test_official_split(data_dir, monkeypatch):
    monkeypatch.setenv("TAMIZ_DATA", str(data_dir))
    data = load("srbct")
    assert data.take(data.extras["split"] == "train").n_samples == 63
    assert load("srbct", nrows=10).n_samples == 10


# ------------------------------------------------------------------------------------- fetching


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TAMIZ_DATA", str(tmp_path))
    return tmp_path


def serve(monkeypatch, X, y, categories=None):
    asked = []

    def fetcher(number):
        asked.append(number)
        names = [f"V{j}" for j in range(X.shape[1])]
        return SimpleNamespace(data=X, target=y, feature_names=names, categories=categories)

    monkeypatch.setattr(named, "_fetch_openml", fetcher)
    return asked


def test_fetched_labels_are_named_by_their_counts(empty_folder, monkeypatch):
    X = np.arange(310 * 6.0).reshape(310, 6) % 7
    y = np.repeat(["3", "1", "2"], [150, 60, 100]).astype(object)
    asked = serve(monkeypatch, X, y)
    data = load("vertebral_3c")
    assert asked == [1523]
    assert data.class_counts == SETS["vertebral_3c"].classes
    assert data.y[0] == "Spondylolisthesis"
    assert data.source == "OpenML 1523"
    np.testing.assert_array_equal(data.X, X)


def test_fetched_numbers_as_labels_and_categories(empty_folder, monkeypatch):
    X = np.ones((4601, 57))
    X[:5, 3] = [0, 1, 2, np.nan, 1]
    y = np.repeat(["0", "1"], [2788, 1813]).astype(object)
    serve(monkeypatch, X, y, {"V3": ["a", "b", "c"]})
    data = load("spambase", nrows=5)
    assert data.y.dtype.kind == "i"
    assert data.levels == {"V3": ["a", "b", "c"]}
    assert data.missing[3] == 1


def test_labels_that_cannot_be_told_apart_stay(empty_folder, monkeypatch):
    serve(monkeypatch, np.zeros((2600, 500)), np.repeat(["1", "2"], 1300).astype(object))
    data = load("madelon")
    assert data.target_names == ["1", "2"]
    assert any("Labels are those of OpenML" in note for note in data.notes)


@pytest.mark.parametrize(
    ("shape", "counts", "words"),
    [((310, 7), (210, 100), "310 rows and 7 features"), ((310, 6), (200, 110), "110, 200")],
)
def test_other_data_under_the_number_are_refused(empty_folder, monkeypatch, shape, counts, words):
    serve(monkeypatch, np.zeros(shape), np.repeat(["a", "b"], counts).astype(object))
    with pytest.raises(DataError, match=words):
        load("vertebral_2c")


def test_without_a_network_the_place_for_the_file_is_named(empty_folder):
    told = pytest.raises(DataError, match="Name or service")
    with failing(named, "_fetch_openml", OSError("Name or service not known")), told as caught:
        load("spambase")
    for words in ("'spambase'", str(empty_folder), "spambase.csv.gz", "number 44"):
        assert words in str(caught.value)


def test_nothing_is_fetched_when_forbidden(empty_folder, monkeypatch):
    asked = serve(monkeypatch, np.zeros((1, 1)), np.array(["a"]))
    with pytest.raises(DataError, match="download=True"):
        load("spambase", download=False)
    assert asked == []


def test_set_that_cannot_be_fetched(empty_folder):
    with pytest.raises(DataError, match="cannot be fetched; put colon"):
        load("colon")


def test_folder_comes_before_fetching(empty_folder, monkeypatch):
    asked = serve(monkeypatch, np.zeros((1, 1)), np.array(["a"]))
    (empty_folder / "pima.csv.gz").write_bytes(gzip.compress(b"a,target\n1,0\n2,1\n4,0\n"))
    assert load("pima").X.ravel().tolist() == [1, 2, 4]
    assert asked == []
    assert available("folder") == ["pima"]


def test_folder_that_does_not_exist(monkeypatch):
    monkeypatch.setenv("TAMIZ_DATA", "no/such/folder")
    with pytest.raises(DataError, match="TAMIZ_DATA names 'no/such/folder'"):
        load("pima")


# ----------------------------------------------------------------------------------- the list


def test_names_are_found_however_they_are_written():
    assert canonical("Breast-Cancer") == "breast_cancer"
    assert canonical("wdbc") == "breast_cancer"
    assert canonical("nonsense") is None


def test_available():
    assert set(available("bundled")) < set(available())
    assert set(available("openml")) == {n for n, entry in SETS.items() if entry.openml}
    with pytest.raises(DataError, match="where='moon'"):
        available("moon")


def test_list_is_consistent():
    numbers = [entry.openml for entry in SETS.values() if entry.openml]
    assert len(set(numbers)) == len(numbers)
    for entry in SETS.values():
        if entry.classes is not None:
            assert sum(entry.classes.values()) == entry.rows
        assert entry.openml is None or entry.classes is not None
