"""A kept model reads new tables by the names of their columns, and predicts as its pipeline."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import tamiz
from tamiz.cli.calibration import fit_sigmoids, folds_of, probabilities
from tamiz.cli.table_model import TableModel
from tamiz.data import Dataset, DataWarning, load
from tamiz.filters import FisherScore, PearsonScore
from tamiz.neighbors import KNNClassifier
from tamiz.svm import SVC, SVR
from tamiz.tree import CARTClassifier

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


JUDGES = {
    "svc-linear": SVC(kernel="linear"),
    "svc-rbf": SVC(),
    "knn": KNNClassifier(),
    "tree": CARTClassifier(random_state=0),
}


def pipeline_for(data, selector=None, judge="svc-linear"):
    """Missing values filled, scaled, selected, judged: as the commands do it."""
    thin = sparse.issparse(data.X)
    steps = [("fill", SimpleImputer(strategy="median"))] if not thin else []
    steps.append(("scale", StandardScaler(with_mean=not thin)))
    if selector is not None:
        steps.append(("select", selector))
    return Pipeline([*steps, ("judge", clone(JUDGES[judge]))])


def fitted(data, **settings):
    return TableModel.fitted(data, pipeline_for(data), **settings)


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
    # a missing value makes a column of integers one of floats
    lines = ["colour,zip,size,weight", "red,20.0,1.0,2", "red,10,1.0,2"]
    X, notes = model.table(read_new(written(place, lines, "float.csv")))
    np.testing.assert_array_equal(X[:, 3], [1, 0])
    assert notes == []


def test_missing_values_are_filled_though_the_table_had_none(model, data, place):
    assert not data.missing.sum()
    lines = ["colour,zip,size,weight", "red,10,,2", "red,10,1.0,2"]
    X, notes = model.table(read_new(written(place, lines, "gap.csv")))
    assert np.isnan(X[0, 4]) and "'size' has 1 missing value:" in notes[0]
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
        (["colour,zip,size", "red,10,1.0"], "lacks 1 of the 4 columns .*: 'weight'"),
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


# ------------------------------------------------------------------------- columns that are needed


@pytest.fixture(scope="module")
def varied():
    """Numbers with missing values, and categories, some of them missing."""
    rng = np.random.default_rng(1)
    n = 240
    X = np.column_stack(
        [rng.integers(0, 4, n), rng.normal(size=(n, 3)), rng.integers(0, 2, n), rng.normal(size=n)]
    ).astype(float)
    names = ["town", "a", "b", "c", "owner", "d"]
    y = np.where(X[:, 2] + (X[:, 0] == 3) + 0.4 * rng.normal(size=n) > 0.5, "yes", "no")
    X[rng.random(n) < 0.1, 2] = np.nan
    X[rng.random(n) < 0.1, 0] = np.nan
    levels = {"town": ["ibi", "onil", "tibi", "xixona"], "owner": ["no", "yes"]}
    return Dataset(
        X, y, names, ["no", "yes"], np.isin(names, list(levels)), levels=levels, target="buys",
        task="classification", name="varied",
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore::tamiz.data.DataWarning")
@pytest.mark.parametrize("judge", ["svc-linear", "svc-rbf", "tree", "knn"])
@pytest.mark.parametrize("size", [1, 3, 6])
def test_model_of_few_columns_predicts_as_the_whole_pipeline(varied, judge, size):
    whole = pipeline_for(varied, FisherScore(n_features_to_select=size), judge)
    model = TableModel.fitted(varied, whole, calibrate=False)
    encoded = varied.encode("onehot")
    whole.fit(encoded.X, varied.y)
    chosen = whole["select"].get_support(indices=True)
    assert model.features_ == [encoded.feature_names[j] for j in chosen]
    assert model.columns == list(dict.fromkeys(name.partition("=")[0] for name in model.features_))
    assert len(model.columns) < varied.n_features
    assert model.pipeline["scale"].mean_.shape == (size,)
    assert model.pipeline["fill"].statistics_.shape == (size,)
    few = varied.keep(model.columns)
    assert model.predict(few.frame).tolist() == whole.predict(encoded.X).tolist()
    assert model.predict(few).tolist() == whole.predict(encoded.X).tolist()
    values = model.decision_function(model.table(varied)[0])
    if judge.startswith("svc"):
        np.testing.assert_allclose(
            values, whole.decision_function(encoded.X), rtol=1e-11, atol=1e-12
        )


def test_selectors_in_a_row_and_steps_that_mix_columns(varied):
    encoded = varied.encode("onehot")
    fill = SimpleImputer(strategy="median")
    twice = Pipeline(
        [
            ("fill", fill),
            ("some", FisherScore(n_features_to_select=4)),
            ("nothing", "passthrough"),
            ("scale", StandardScaler()),
            ("few", FisherScore(n_features_to_select=2)),
            ("judge", SVC(kernel="linear")),
        ]
    )
    model = TableModel.fitted(varied, twice)
    assert len(model.features_) == 2 and [*model.pipeline.named_steps] == ["fill", "scale", "judge"]
    X = model.table(varied)[0]
    np.testing.assert_array_equal(
        model.decision_function(X), twice.fit(encoded.X, varied.y).decision_function(encoded.X)
    )
    mixing = Pipeline(
        [("fill", fill), ("pca", PCA(3)), ("few", FisherScore(n_features_to_select=1)),
         ("judge", SVC(kernel="linear"))]
    )  # fmt: skip
    model = TableModel.fitted(varied, mixing)
    assert model.columns == varied.feature_names  # each component needs them all
    np.testing.assert_array_equal(
        model.predict(model.table(varied)[0]), mixing.fit(encoded.X, varied.y).predict(encoded.X)
    )


def test_sparse_model_needs_the_selected_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8)) * (rng.random((60, 8)) < 0.5)
    X[:, 5] += np.arange(60) % 2
    names = [f"x{j}" for j in range(8)]
    data = Dataset(
        sparse.csr_matrix(X), np.arange(60) % 2, names, ["0", "1"], task="classification"
    )
    whole = pipeline_for(data, FisherScore(n_features_to_select=2))
    model = TableModel.fitted(data, whole)
    assert len(model.columns) == 2 and "x5" in model.columns
    whole.fit(data.X, data.y)
    want = whole.predict(data.X).astype(str).tolist()
    for order in (range(8), [5, 7, 1, 3, 2, 0, 4, 6]):
        order = list(order)
        turned = [names[j] for j in order]
        assert model.predict(Dataset(data.X[:, order], None, turned)).tolist() == want
        assert model.predict(Dataset(X[:, order], None, turned)).tolist() == want
    # of a sparse table, columns at the end may be absent because they are zero
    short = Dataset(data.X[:, :6], None, names[:6])
    model = TableModel.fitted(data, whole, features=["x5", "x7"])
    found, notes = model.table(short)
    assert found.shape == (60, 2) and not found[:, 1].nnz and "taken as zero: 'x7'" in notes[0]
    dense = fitted(Dataset(X, data.y, names, ["0", "1"], task="classification"))
    assert dense.predict(data).tolist() == dense.predict(Dataset(X, None, names)).tolist()


def test_given_features_are_columns_or_indicators(varied):
    plain = pipeline_for(varied)
    model = TableModel.fitted(varied, plain, features=["b", "town=xixona"])
    assert (model.columns, model.features_) == (["town", "b"], ["town=xixona", "b"])
    encoded = varied.encode("onehot").keep(["town=xixona", "b"])
    plain.fit(encoded.X, varied.y)
    np.testing.assert_array_equal(
        model.decision_function(model.table(varied)[0]), plain.decision_function(encoded.X)
    )
    town = TableModel.fitted(varied, plain, features=["town"])
    assert town.features_ == [f"town={name}" for name in [*varied.levels["town"], "(missing)"]]
    assert town.columns == ["town"]
    with pytest.raises(ValueError, match=r"no column 'towm'. Did you mean 'town'"):
        TableModel.fitted(varied, plain, features=["towm"])


def test_absent_column_is_named_with_one_that_is_like_it(varied):
    model = TableModel.fitted(varied, pipeline_for(varied), features=["town", "b"])
    frame = varied.frame.rename(columns={"town": "Town"})
    with pytest.raises(ValueError, match=r"lacks 1 of the 2 .*: 'town'. Did you mean 'Town'"):
        model.predict(frame)


@pytest.mark.filterwarnings("ignore::tamiz.data.DataWarning")
def test_frames_are_taken_by_names_of_columns(varied, place):
    pl = pytest.importorskip("polars")
    model = TableModel.fitted(
        varied, pipeline_for(varied, FisherScore(n_features_to_select=3)), calibrate=True
    )
    tamiz.save(model, place / "frame.tamiz")
    again = tamiz.load(place / "frame.tamiz")
    frame = varied.frame[model.columns[::-1]].assign(note=[[1]] * varied.n_samples)
    want = model.predict(model.table(varied)[0]).tolist()
    for one in (frame, pl.from_pandas(frame.astype({"town": str} if "town" in frame else {}))):
        assert again.predict(one).tolist() == want
        np.testing.assert_array_equal(again.predict_proba(one), model.predict_proba(frame))


def test_unseen_category_warns_in_python(varied):
    model = TableModel.fitted(varied, pipeline_for(varied), features=["town"])
    frame = varied.frame[["town"]].astype(str).head(2)
    frame.loc[0, "town"] = "elda"
    with pytest.warns(DataWarning, match="'town' holds 'elda'"):
        model.predict(frame)


# ---------------------------------------------------------------------------------- probabilities


def test_sigmoid_has_the_likelihood_of_platt():
    """Slope and intercept are where the gradient of the smoothed log loss is zero."""
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.3
    values = (2.0 * y + rng.normal(size=400))[:, None]
    slope, intercept = fit_sigmoids(values, y, np.array([False, True]))[0]
    n1 = y.sum()
    target = np.where(y, (n1 + 1) / (n1 + 2), 1 / (400 - n1 + 2))
    residual = expit(slope * values[:, 0] + intercept) - target
    assert abs(residual.sum()) < 1e-3 and abs(residual @ values[:, 0]) < 1e-3


def test_values_without_error_do_not_give_certainty_and_noise_gives_the_rate():
    y = np.repeat([0, 1], 20)
    chances = probabilities(
        y[:, None] * 2.0 - 1, fit_sigmoids(y[:, None] * 2.0 - 1, y, np.array([0, 1]))
    )
    np.testing.assert_allclose(chances[0], [21 / 22, 1 / 22], atol=1e-4)
    against = fit_sigmoids(1.0 - 2 * y[:, None], y, np.array([0, 1]))  # worse than chance
    np.testing.assert_allclose(probabilities(np.array([[5.0], [-5.0]]), against), 0.5)


@pytest.mark.parametrize(
    ("name", "judge"),
    [
        ("breast_cancer", "svc-rbf"),
        ("wine", "svc-linear"),
        ("breast_cancer", "tree"),
        ("wine", "knn"),
    ],
)
def test_probabilities_are_better_calibrated_than_squashed_scores(name, judge):
    data = load(name)
    order = np.random.default_rng(0).permutation(data.n_samples)
    learn, judged = data.take(order[: len(order) // 2]), data.take(order[len(order) // 2 :])
    model = TableModel.fitted(learn, pipeline_for(learn, None, judge))
    chances = model.predict_proba(judged.X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    values = model.decision_function(judged.X)
    if values is None:
        plain = model.pipeline.predict_proba(judged.X)
    else:
        plain = softmax(values if values.ndim == 2 else np.c_[0 * values, values], axis=1)
    assert log_loss(judged.y, chances) < 0.99 * log_loss(judged.y, plain)


def test_selection_is_repeated_in_the_folds():
    """Among noise, the best of many features separates its own rows: honest values do not."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2000)), np.arange(60) % 2
    data = Dataset(X, y, target_names=["0", "1"], task="classification")
    honest = TableModel.fitted(data, pipeline_for(data, FisherScore(n_features_to_select=10)))
    assert np.mean(honest.predict(X[:, chosen(honest)]) == y.astype(str)) > 0.9
    assert np.abs(honest.predict_proba(X[:, chosen(honest)]) - 0.5).max() < 0.3


def chosen(model):
    return [int(name[1:]) for name in model.columns]


def test_big_tables_are_calibrated_on_a_part_with_all_classes():
    y = np.repeat([0, 1, 2], [20_000, 9_996, 4])
    rows, folds = folds_of(y, 0)
    assert np.bincount(y[rows]).tolist() == [2000, 999, 4]
    assert len(folds) == 5 and all(len(np.unique(y[rows][train])) == 3 for train, _ in folds)
    np.testing.assert_array_equal(
        np.sort(np.concatenate([test for _, test in folds])), np.arange(len(rows))
    )
    assert folds_of(np.array([0, 0, 0, 1]), 0)[1] == []


def test_weights_and_groups_of_the_data_are_used():
    """Weights of 2 are rows that stand twice; rows of a group are in one fold."""
    rng = np.random.default_rng(4)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 2)) + y[:, None]
    twice = np.repeat(np.arange(80), np.where(y == 1, 2, 1))

    def model(rows, **extras):
        data = Dataset(
            X[rows], y[rows], target_names=["0", "1"], task="classification", extras=extras
        )
        plain = pipeline_for(data).set_params(scale="passthrough")
        return TableModel.fitted(data, plain, calibrate="groups" in extras)

    weighted, repeated = model(np.arange(80), weights=1.0 + y), model(twice)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=0.01
    )
    values = weighted.decision_function(X)
    weighted.calibrate(values, y, weights=1.0 + y)
    repeated.calibrate(values[twice], y[twice])
    np.testing.assert_allclose(weighted.sigmoids_, repeated.sigmoids_, atol=0.1)
    plain = fit_sigmoids(values[:, None], y, np.array([0, 1]))
    assert weighted.sigmoids_[0, 1] > plain[0, 1] + 0.4  # the odds are doubled
    groups = np.arange(80) // 8
    for train, test in folds_of(y, 0, groups)[1]:
        assert not set(groups[train]) & set(groups[test])
    assert model(np.arange(80), groups=groups).predict_proba(X).shape == (80, 2)
    assert folds_of(y, 0, np.zeros(80))[1] == []
    data = Dataset(X, y, task="classification", extras={"weights": 1.0 + y})
    neighbours = TableModel.fitted(data, pipeline_for(data, None, "knn"))
    assert neighbours.pipeline[-1].class_count_.tolist() == [40.0, 80.0]
    other = pipeline_for(data, None, "knn")
    other.steps[-1] = ("knn", KNeighborsClassifier())
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no weights"):
        TableModel.fitted(data, other)


def test_a_class_of_one_row_leaves_a_model_without_probabilities():
    X = np.arange(12.0)[:, None]
    data = Dataset(X, np.repeat([0, 1], [11, 1]), target_names=["a", "b"], task="classification")
    model = TableModel.fitted(data, pipeline_for(data))
    assert model.predict_proba(X) is None and "probabilities" not in model.about()
    assert len(model.predict(X)) == 12


# ----------------------------------------------------------------------------------------- card


def test_card_is_kept_and_says_where_the_model_comes_from(varied, place):
    honest = {"error": 0.1, "low": 0.05, "high": 0.2, "metric": "error", "how": "x"}
    model = TableModel.fitted(
        varied,
        pipeline_for(varied, FisherScore(n_features_to_select=3)),
        card={"honest": honest, "command": "tamiz …"},
    )
    tamiz.save(model, place / "card.tamiz")
    card = tamiz.load(place / "card.tamiz").about()
    assert card == model.about() and card["honest"] == honest and card["command"] == "tamiz …"
    assert (card["data"], card["n_samples"], card["target"]) == ("varied", 240, "buys")
    assert card["classes"] == varied.class_counts and sum(card["classes"].values()) == 240
    assert card["method"] == "FisherScore" and card["params"] == {"kernel": "linear"}
    assert {one["column"] for one in card["features"]} == set(card["columns"])
    assert card["tamiz"] == tamiz.__version__ and "240 rows" in card["probabilities"]


@pytest.mark.filterwarnings("ignore::tamiz.data.DataWarning")
def test_files_of_earlier_versions_are_read(varied, place):
    """They have all columns, and neither card nor probabilities."""
    model = fitted(varied, calibrate=False)
    want = model.decision_function(varied.frame)
    kept = {"columns", "levels", "pipeline", "target", "task", "labels", "indicators_"}
    for name in set(vars(model)) - kept:
        delattr(model, name)
    tamiz.save(model, place / "old.tamiz")
    old = tamiz.load(place / "old.tamiz")
    np.testing.assert_array_equal(old.decision_function(varied.frame), want)
    assert old.predict_proba(varied.frame) is None
    about = old.about()
    assert about["classes"] == {"no": None, "yes": None} and about["judge"] == "SVC"
    assert [one["name"] for one in about["features"]] == varied.feature_names


def test_a_model_of_all_features_can_be_kept(data, place):
    model = fitted(data)
    tamiz.save(model, place / "all.tamiz")
    X = data.encode("onehot").X
    again = tamiz.load(place / "all.tamiz")
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_numeric_target():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    data = Dataset(X, X[:, 1] * 2, ["a", "b", "c"], task="regression", target="y")
    whole = pipeline_for(data, PearsonScore(n_features_to_select=1))
    whole.set_params(judge=SVR(kernel="linear"))
    model = TableModel.fitted(data, whole)
    assert model.columns == ["b"] and model.labels is None and model.classes_ is None
    assert model.decision_function(data) is None and model.predict_proba(data) is None
    np.testing.assert_allclose(model.predict(data), whole.fit(X, data.y).predict(X), rtol=1e-12)
