"""Tables with samples in columns, and where their labels come from."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from tamiz.data import DataError, DataWarning, load
from tamiz.data.findings import looks_transposed

SAMPLES = [f"GSM{100 + i}" for i in range(20)]
LABELS = ["tumour", "normal"] * 10
X = np.random.default_rng(3).normal(size=(30, 20)).round(3)
GENES = [f"gene_{k}" for k in range(30)]
pytestmark = pytest.mark.filterwarnings("ignore::tamiz.data.DataWarning")


def write(path, rows, separator=","):
    text = "\n".join(separator.join(map(str, row)) for row in rows) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.fixture
def genes(tmp_path):
    rows = [["ID_REF", *SAMPLES], *([name, *row] for name, row in zip(GENES, X, strict=True))]
    return lambda name="e.csv", extra=(), separator=",": write(
        tmp_path / name, [*rows, *extra], separator
    )


def test_the_only_row_of_text_is_the_target(genes):
    data = load(genes(extra=[["tissue", *LABELS]]), transpose=True)
    np.testing.assert_array_equal(data.X, X.T)
    assert data.feature_names == GENES
    assert (data.target, data.y.tolist()) == ("tissue", LABELS)
    assert data.extras["samples"].tolist() == SAMPLES
    assert any("'tissue' is taken as the target" in note for note in data.notes)


def test_two_rows_of_text_need_a_name(genes):
    path = genes(extra=[["tissue", *LABELS], ["sex", *(["f", "m"] * 5), *(["m", "f"] * 5)]])
    with pytest.raises(DataError, match=r"several rows hold text: 'tissue', 'sex'.*target="):
        load(path, transpose=True)
    data = load(path, "tissue", transpose=True)
    assert data.y.tolist() == LABELS and data.feature_names[-1] == "sex"
    with pytest.raises(DataError, match=r"no row holds text.*labels="):
        load(genes(), transpose=True)
    assert load(genes(), False, transpose=True).X.shape == (20, 30)


def test_labels_are_matched_by_sample_in_any_order(genes, tmp_path):
    pairs = list(zip(SAMPLES, LABELS, strict=True))[::-1]
    for head in ([["sample", "status"]], []):
        path = write(tmp_path / "l.tsv", [*head, *pairs], "\t")
        data = load(genes("e.tsv.gz", separator="\t"), transpose=True, labels=path)
        assert data.y.tolist() == LABELS
        assert data.target == ("status" if head else "label")
        np.testing.assert_array_equal(data.X, X.T)
    assert load(genes(), transpose=True, labels=dict(pairs)).y.tolist() == LABELS


def test_labels_of_one_column_are_in_the_order_of_the_samples(genes, tmp_path):
    for head in ([["status"]], []):
        path = write(tmp_path / "l.csv", [*head, *([label] for label in LABELS)])
        assert load(genes(), transpose=True, labels=path).y.tolist() == LABELS
    path = write(tmp_path / "l.csv", [[label] for label in LABELS[:7]])
    with pytest.raises(DataError, match=r"7 labels in one column, and the table has 20 samples"):
        load(genes(), transpose=True, labels=path)


def test_a_table_of_patients_needs_the_name_of_its_column(genes, tmp_path):
    rows = [(s, 30 + i, label) for i, (s, label) in enumerate(zip(SAMPLES, LABELS, strict=True))]
    path = write(tmp_path / "p.csv", [["id", "age", "status"], *rows])
    with pytest.raises(DataError, match=r"3 columns; name .* target=: 'age', 'status'"):
        load(genes(), transpose=True, labels=path)
    assert load(genes(), "status", transpose=True, labels=path).y.tolist() == LABELS
    assert load(genes(), "age", transpose=True, labels=path).task == "regression"


def test_samples_without_a_label_are_left_out_and_named(genes):
    pairs = dict(zip(SAMPLES[2:], LABELS[2:], strict=True))
    with pytest.warns(DataWarning, match=r"no label for them: 2 of 20 samples, 'GSM100', 'GSM101'"):
        data = load(genes(), transpose=True, labels={**pairs, "GSM999": "normal"})
    np.testing.assert_array_equal(data.X, X.T[2:])
    assert data.extras["samples"].tolist() == SAMPLES[2:]
    assert any("not in the table: 'GSM999'" in note for note in data.notes)
    assert "rows_dropped" in [found.code for found in data.warnings]


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ({"a": 1, "b": 0}, "names none of the samples"),
        (3, "labels=3 is not understood"),
        ("nowhere.csv", "no file 'nowhere.csv' of labels"),
    ],
)
def test_labels_that_do_not_fit(genes, labels, words):
    with pytest.raises(DataError, match=words):
        load(genes(), transpose=True, labels=labels)


def test_a_sample_with_two_labels_is_refused(genes, tmp_path):
    pairs = [*zip(SAMPLES, LABELS, strict=True), ("GSM100", "normal")]
    with pytest.raises(DataError, match="samples twice: 'GSM100'"):
        load(genes(), transpose=True, labels=write(tmp_path / "l.csv", pairs))


def test_names_of_genes_that_return_are_numbered(genes):
    with pytest.warns(DataWarning, match="rows of the same name, which were numbered: 'gene_3'"):
        data = load(genes(extra=[["gene_3", *X[7]], ["tissue", *LABELS]]), "tissue", transpose=True)
    assert data.feature_names[-1] == "gene_3_2"


def test_descriptions_and_lines_of_geo_are_passed_over(tmp_path):
    rows = [["name", "gene title", *SAMPLES]]
    rows += [[name, f"title of {name}", *row] for name, row in zip(GENES, X, strict=True)]
    rows = [["!Series_title\tx"], ["!series_matrix_table_begin"], *rows, ["!table_end"]]
    path = write(tmp_path / "e.txt", rows, "\t")
    data = load(path, transpose=True, labels=dict(zip(SAMPLES, LABELS, strict=True)))
    np.testing.assert_array_equal(data.X, X.T)
    assert any("'gene title'" in note for note in data.notes)


def test_other_kinds_of_tables_are_not_transposed(tmp_path, genes):
    np.savez(tmp_path / "e.npz", X=X, y=np.arange(30) % 2)
    with pytest.raises(DataError, match="text tables only"):
        load(tmp_path / "e.npz", transpose=True)
    with pytest.raises(DataError, match="text tables only"):
        load(X, transpose=True)
    with pytest.raises(DataError, match="labels= goes with transpose=True"):
        load(genes(), labels="l.csv")


def test_a_table_that_looks_transposed_is_warned_of(genes):
    with pytest.warns(DataWarning, match=r"samples in columns.*transpose=True and labels="):
        data = load(genes())
    (found,) = [one for one in data.warnings if one.code == "transposed"]
    assert found.columns == tuple(SAMPLES)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["GSM1", "GSM22", "GSM333", "GSM4"], True),
        (["patient 1", "patient 2", "control 1", "control 2"], True),
        (["T1", "T2", "T3", "T14"], True),
        (["x1", "x2", "x3", "x4"], False),
        (["feature_1", "feature_2", "feature_3", "feature_4"], False),
        (["age", "height", "weight", "price"], False),
        (["GSM1", "GSM2"], False),
    ],
)
def test_names_of_samples(names, said):
    assert looks_transposed(names) is said


def test_houses_with_a_name_are_not_suspected(tmp_path):
    names = ["house", "rooms", "area", "age", "price"]
    rows = [[f"h{k}", *X[k, :4]] for k in range(30)]
    data = load(write(tmp_path / "h.csv", [names, *rows]))
    assert [one.code for one in data.warnings] == ["id"]
