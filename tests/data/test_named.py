"""Data sets by name: packaged, of scikit-learn, in a folder; where they come from."""

from __future__ import annotations

import gzip
import hashlib

import numpy as np
import pytest
from sklearn import datasets

from tamiz.data import DataError, about, available, load
from tamiz.data.named import SETS, canonical
from tests.conftest import ROOT


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


@pytest.mark.parametrize("name", [name for name, entry in SETS.items() if not entry.built_in])
def test_packaged_sets_are_as_listed_and_hold_no_suspects(name):
    entry = SETS[name]
    data = load(name)
    assert not {"leak", "groups", "transposed"}.intersection(one.code for one in data.warnings)
    assert data.X.shape == (entry.rows, entry.features)
    if entry.classes is None:
        assert data.task == "regression"
    else:
        assert data.class_counts == {label: entry.classes[label] for label in data.target_names}
        assert len(data.class_counts) == len(entry.classes)


def test_packaged_files_are_those_of_the_checksums(data_dir):
    lines = (data_dir / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    sums = {file: digest for digest, file in map(str.split, lines)}
    files = {path.name: path for path in data_dir.iterdir() if path.suffix in (".gz", ".npz")}
    assert {file.split(".")[0] for file in files} == {n for n, e in SETS.items() if not e.built_in}
    found = {file: hashlib.sha256(path.read_bytes()).hexdigest() for file, path in files.items()}
    assert found == sums


def test_missing_counts_of_arrhythmia():
    data = load("arrhythmia")
    counts = dict(zip(data.feature_names, data.missing.tolist(), strict=True))
    assert {name: count for name, count in counts.items() if count} == {
        "T_angle": 8, "P_angle": 22, "QRST_angle": 1, "J_angle": 376, "heart_rate": 1,
    }  # fmt: skip
    assert list(data.roles.values()).count("constant") == 17


def test_text_stays_text():
    data = load("sms_spam")
    assert data.X.dtype == object
    lengths = [len(text) for text in data.X[:, 0]]
    assert (min(lengths), max(lengths)) == (2, 910)


def test_official_split():
    data = load("srbct")
    assert data.take(data.extras["split"] == "train").n_samples == 63
    assert load("srbct", nrows=10).n_samples == 10


# -------------------------------------------------------------------------------- a folder


def test_own_folder_comes_before_the_package(tmp_path, monkeypatch):
    monkeypatch.setenv("TAMIZ_DATA", str(tmp_path))
    (tmp_path / "pima.csv.gz").write_bytes(gzip.compress(b"a,target\n1,0\n2,1\n4,0\n"))
    assert load("pima").X.ravel().tolist() == [1, 2, 4]
    assert load("corral").n_samples == 160  # not in the folder
    assert available("folder") == ["pima"] and available("bundled") == available()
    monkeypatch.delenv("TAMIZ_DATA")
    assert load("pima").n_samples == 768 and available("folder") == []


def test_folder_that_does_not_exist(monkeypatch):
    monkeypatch.setenv("TAMIZ_DATA", "no/such/folder")
    with pytest.raises(DataError, match="TAMIZ_DATA names 'no/such/folder'"):
        load("pima")


def test_installation_without_the_files(tmp_path, limits):
    limits("tamiz.data.named", PACKAGED=tmp_path)
    with pytest.raises(DataError, match=r"'colon' is missing from this installation.*TAMIZ_DATA"):
        load("colon")


# ----------------------------------------------------------------------------------- the list


def test_names_are_found_however_they_are_written():
    assert canonical("Breast-Cancer") == "breast_cancer"
    assert canonical("wdbc") == "breast_cancer"
    assert canonical("nonsense") is None


def test_available():
    assert available() == list(SETS)
    with pytest.raises(DataError, match="where='moon'"):
        available("moon")


def test_list_is_consistent():
    for entry in SETS.values():
        if entry.classes is not None:
            assert sum(entry.classes.values()) == entry.rows


# ---------------------------------------------------------------------------- where they come from


@pytest.mark.parametrize("name", SETS)
def test_every_set_has_source_terms_and_citation(name):
    found = about(name)
    assert (found.name, found.rows, found.features) == (name, SETS[name].rows, SETS[name].features)
    assert found.source and found.copy and found.terms and found.citation
    assert ("CC BY 4.0 (UCI" in found.terms) == ("UCI" in found.source and name != "pima")
    for text in (found.name, found.terms, found.citation):
        assert text[:20] in str(found)


def test_about_takes_other_names_and_says_what_is_near():
    assert about("Leukemia") == about("leukemia_golub")
    with pytest.raises(DataError, match=r"'colom' is no data set.*Did you mean 'colon'"):
        about("colom")


def test_table_of_the_documentation():
    """The rows of docs/data.md are those of the list."""
    page = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    rows = [
        f"| `{one.name}` | {one.rows:,} x {one.features:,} | {one.source} | {one.terms} | "
        f"{one.citation} |"
        for one in map(about, available())
    ]
    shown = [line for line in page.splitlines() if line.startswith("| `") and " x " in line]
    assert shown == rows


def test_the_old_parameter_for_fetching_is_announced_as_useless():
    with pytest.warns(FutureWarning, match="come with the package") as caught:
        assert load("colon", download=True).n_features == 2000
    assert caught[0].filename == __file__
