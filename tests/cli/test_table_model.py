"""A kept model reads new tables by the names of their columns, and predicts as its pipeline."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import tamiz
from tamiz.cli.table_model import TableModel
from tamiz.data import Dataset, load
from tamiz.reports.study import make_pipeline_for

LINES = [
    "colour,zip,size,weight,bought",
    *[
        f"{('red', 'green', 'blue')[k % 3]},{(10, 20)[k % 2]},{0.1 * k + (k % 3 == 0):.2f},"
        f"{(k * 7) % 11},{'yes' if (k % 3 == 0) != (k % 7 == 0) else 'no'}"
        for k in range(36)
    ],
]


def written(folder, lines, name="t.csv"):
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read_new(path):
    """As ``tamiz predict`` reads."""
    return load(path, False, encode=None, verbose=0)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def data(place):
    return load(written(place, LINES), "bought", roles={"zip": "categorical"}, verbose=0)


def fitted(data, method="fisher", size=3):
    encoded = data.encode("onehot") if data.levels else data
    return TableModel.fitted(
        data, make_pipeline_for(encoded, method, "svc-linear", size, "standard", 0)
    )


@pytest.fixture(scope="module")
def model(data):
    return fitted(data)


def without_target(lines):
    return [line.rpartition(",")[0] for line in lines]


def test_predictions_are_those_of_the_pipeline_on_the_encoded_table(model, data, place):
    encoded = data.encode("onehot")
    X, notes = model.table(read_new(written(place, without_target(LINES), "new.csv")))
    np.testing.assert_array_equal(X, encoded.X)
    assert notes == []
    labels = np.array(data.target_names)
    codes = np.searchsorted(np.unique(data.y), model.pipeline.predict(encoded.X))
    assert model.predict(X).tolist() == labels[codes].tolist()
    assert set(model.predict(X)) == {"yes", "no"}
    np.testing.assert_array_equal(
        model.decision_function(X), model.pipeline.decision_function(encoded.X)
    )


def test_order_of_columns_rows_and_categories_does_not_matter(model, data, place):
    rows = [line.split(",")[:4] for line in LINES]
    turned = [[row[2], row[0], "extra", row[3], row[1]] for row in rows]
    body = turned[1:][::-1]
    X, notes = model.table(
        read_new(written(place, [",".join(turned[0]), *map(",".join, body)], "turned.csv"))
    )
    np.testing.assert_array_equal(X[::-1], data.encode("onehot").X)
    assert notes == []


@pytest.mark.parametrize("row", [0, 1, 7])
def test_a_single_row_is_predicted_as_among_many(model, data, place, row):
    lines = without_target([LINES[0], LINES[1 + row]])  # every column is constant there
    X, _ = model.table(read_new(written(place, lines, f"one{row}.csv")))
    assert model.predict(X)[0] == model.predict(data.encode("onehot").X)[row]


def test_a_category_never_seen_is_none_of_the_known(model, place):
    lines = ["colour,zip,size,weight", "purple,10,1.0,2", "red,10,1.0,2"]
    X, notes = model.table(read_new(written(place, lines, "unseen.csv")))
    np.testing.assert_array_equal(X[0, :3], 0.0)
    assert X[1, :3].sum() == 1
    assert len(notes) == 1
    assert "'colour' holds 'purple'" in notes[0] and "none of its categories" in notes[0]


def test_with_two_levels_what_is_not_the_second_is_the_first_and_said_so(model, data, place):
    assert data.levels["zip"] == ["10", "20"]
    lines = ["colour,zip,size,weight", "red,99,1.0,2", "red,,1.0,2", "red,10,1.0,2", "red,20,1,2"]
    X, notes = model.table(read_new(written(place, lines, "zip.csv")))
    np.testing.assert_array_equal(X[:, 3], [0, 0, 0, 1])
    assert len(notes) == 1 and "'zip' holds '(missing)', '99'" in notes[0]
    assert notes[0].endswith("taken as '10'.")


def test_numbers_as_categories_are_the_same_however_they_are_written(model, data, place):
    # a gap makes a column of whole numbers one of floats
    lines = ["colour,zip,size,weight", "red,20.0,1.0,2", "red,10,1.0,2"]
    X, notes = model.table(read_new(written(place, lines, "float.csv")))
    np.testing.assert_array_equal(X[:, 3], [1, 0])
    assert notes == []


def test_gaps_are_filled_though_the_table_had_none(model, data, place):
    assert not data.missing.sum()
    lines = ["colour,zip,size,weight", "red,10,,2", "red,10,1.0,2"]
    X, notes = model.table(read_new(written(place, lines, "gap.csv")))
    assert np.isnan(X[0, 4]) and "'size' has 1 missing values" in notes[0]
    middle = X.copy()
    middle[0, 4] = np.median(data.X[:, data.feature_names.index("size")])
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(middle))


def test_missing_categories_are_a_level_if_the_model_saw_some(place):
    lines = [LINES[0], *[line.replace("green", "") for line in LINES[1:]]]
    data = load(written(place, lines, "holes.csv"), "bought", verbose=0)
    model = fitted(data)
    X, notes = model.table(read_new(written(place, without_target(lines), "holes-new.csv")))
    np.testing.assert_array_equal(X, data.encode("onehot").X)
    assert notes == []


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["colour,zip,size", "red,10,1.0"], "lacks 1 of the 4 columns .* weight"),
        (["colour,zip,size,weight", "red,10,big,2"], "'size' held numbers .* now 'big'"),
        (["colour,zip,size,weight", "red,10,inf,2"], "'size' is infinite in row 0"),
    ],
)
def test_tables_that_do_not_fit_get_a_sentence(model, place, lines, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.table(read_new(written(place, lines, "bad.csv")))


def test_kept_and_read_again(model, data, place):
    tamiz.save(model, place / "m.tamiz")
    again = tamiz.load(place / "m.tamiz")
    X = data.encode("onehot").X
    assert isinstance(again, TableModel)
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert (again.columns, again.levels, again.target) == (
        model.columns, model.levels, model.target,
    )  # fmt: skip


def test_a_model_of_all_features_can_be_kept(data, place):
    model = fitted(data, "all", None)
    tamiz.save(model, place / "all.tamiz")
    X = data.encode("onehot").X
    again = tamiz.load(place / "all.tamiz")
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_numbers_and_sparse_tables():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    y = X[:, 1] * 2
    data = Dataset(X, y, ["a", "b", "c"], task="regression", target="y")
    model = TableModel.fitted(
        data, make_pipeline_for(data, "pearson", "svc-linear", 1, "standard", 0)
    )
    found, _ = model.table(data)
    assert model.labels is None and model.decision_function(found) is None
    np.testing.assert_array_equal(model.predict(found), model.pipeline.predict(X))
    thin = Dataset(
        sparse.csr_matrix(X), (y > 0).astype(int), ["a", "b", "c"], ["no", "yes"],
        task="classification",
    )  # fmt: skip
    kept = TableModel.fitted(thin, make_pipeline_for(thin, "fisher", "tree", 1, "standard", 0))
    turned = Dataset(sparse.csr_matrix(X[:, [2, 1, 0]]), None, ["c", "b", "a"])
    found, _ = kept.table(turned)
    assert kept.predict(found).tolist() == kept.predict(thin.X).tolist()
    assert kept.decision_function(found) is None
