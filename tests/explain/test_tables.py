"""Frames with text, categories and missing values: as the model sees them, one column a feature."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tamiz.explain import (
    counterfactual,
    interaction_strength,
    partial_dependence,
    shapley_values,
)
from tamiz.explain.tables import coded_frames
from tamiz.svm import SVC, SVR
from tamiz.tree import CARTClassifier

WORTH = {"ibi": 3.0, "onil": -1.0, "tibi": 0.5, None: 2.0}


def towns(n=60, kind="category"):
    rng = np.random.default_rng(0)
    town = rng.choice(np.array(["ibi", "onil", "tibi", None], dtype=object), n)
    income = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    frame = pd.DataFrame({"income": income, "town": town, "age": rng.integers(20, 60, n)})
    if kind == "polars":
        return pl.DataFrame({**frame.drop(columns="town"), "town": list(town)}).select(
            "income", "town", "age"
        )
    if kind == "ordered":
        kind = pd.CategoricalDtype(["tibi", "onil", "ibi"], ordered=True)
    return frame.astype({"town": kind})


class Sum(RegressorMixin, BaseEstimator):
    """The sum of what each column is worth, so that Shapley values are known without orders."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        assert isinstance(X, pl.DataFrame) or X["town"].dtype in ("category", "str", "object")
        town = [None if one is None or one != one else one for one in X["town"].to_list()]
        income = np.nan_to_num(np.asarray(X["income"], float), nan=7.0)
        return income + [WORTH[one] for one in town] + 0.1 * np.asarray(X["age"])


@pytest.mark.parametrize("kind", ["category", "object", "string", "polars"])
def test_values_of_a_sum_are_those_of_its_terms(kind):
    X = towns(kind=kind)
    model = Sum().fit(X)
    found = shapley_values(model, X[:7], X[20:50], n_permutations=60, random_state=0)
    town = np.array([WORTH[None if one != one else one] for one in towns(kind="object")["town"]])
    income = np.nan_to_num(towns()["income"].to_numpy(), nan=7.0)
    age = 0.1 * towns()["age"].to_numpy()
    terms = np.column_stack([income, town, age])
    np.testing.assert_allclose(found.values, terms[:7] - terms[20:50].mean(axis=0), atol=1e-12)
    assert found.feature_names == ["income", "town", "age"] and found.method == "permutations"
    assert found.levels == {1: ["ibi", "onil", "tibi", "missing"]}
    ax = found.plot_dependence("town")
    assert [text.get_text() for text in ax.get_xticklabels()] == found.levels[1]


@pytest.mark.parametrize("kind", ["category", "ordered", "object", "string", "polars"])
def test_coding_there_and_back_changes_nothing(kind):
    X = towns(kind=kind)
    coded = coded_frames(X, X[:5])
    back = coded.decode(coded.encode(X))
    assert type(back) is type(X) and list(back.columns) == list(X.columns)
    assert kind not in ("category", "polars") or back["town"].dtype == X["town"].dtype
    for name in X.columns:
        one, other = pd.Series(list(X[name])), pd.Series(list(back[name]))
        np.testing.assert_array_equal(one.isna(), other.isna())
        assert (one.dropna() == other.dropna()).all()
    assert coded_frames(X[["income", "age"]]) is None


def machine(columns):
    encode = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["income", "age"]),
            ("towns", OneHotEncoder(handle_unknown="ignore"), columns),
        ]
    )
    return make_pipeline(encode, SVR(C=5.0))


def test_means_of_a_category_are_those_of_frames_with_its_values():
    X = towns()
    model = machine(["town"]).fit(X, Sum().fit(X).predict(X))
    found = partial_dependence(model, X, ["town", "income"])
    assert found.levels == {1: ["ibi", "onil", "tibi", "missing"]}
    for value, mean in zip(["ibi", "onil", "tibi", None], found.mean[0][:, 0], strict=True):
        town = pd.Categorical([value] * len(X), categories=X["town"].cat.categories)
        assert mean == pytest.approx(model.predict(X.assign(town=town)).mean(), rel=1e-9)
    at = found.mean[1][3, 0], found.grids[1][3]
    assert at[0] == pytest.approx(model.predict(X.assign(income=at[1])).mean(), rel=1e-9)
    assert found.to_frame("town")["at"].tolist() == found.levels[1]
    assert "missing" in found._repr_html_()
    ax = found.plot("town")
    assert [text.get_text() for text in ax.get_xticklabels()] == found.levels[1]
    assert ax.get_xlabel() == "town"
    assert found.plot("income").get_xlabel() == "income"


def test_strengths_are_those_of_the_same_table_in_numbers():
    X = towns()
    X["town"] = (X["town"] == "ibi").map({True: "yes", False: "no"})
    numbers = X.assign(town=(X["town"] == "yes").astype(float))
    y = (X["age"] > 40) ^ (X["town"] == "yes")
    words, tree = (CARTClassifier(max_depth=4).fit(one, y) for one in (X, numbers))
    asked = {"n_rows": 40, "random_state": 0}
    found, expected = interaction_strength(words, X, **asked), interaction_strength(
        tree, numbers, **asked
    )  # fmt: skip
    assert found.names[0] == ("town", "age")
    np.testing.assert_array_equal(found.pairs, expected.pairs)
    np.testing.assert_allclose(found.strength, expected.strength, rtol=1e-9)


def test_missing_numbers_behind_an_imputer_stay_exact():
    X = towns()[["income", "age"]]
    model = make_pipeline(SimpleImputer(), StandardScaler(), SVR(C=5.0)).fit(X, X["age"])
    filled = X.fillna(X["income"].mean())
    found, full = (shapley_values(model, one[:6], one[10:]) for one in (X, filled))
    assert found.method == "exact"
    np.testing.assert_allclose(found.values, full.values, atol=1e-12)
    array = shapley_values(model[:], X.to_numpy()[:6], X.to_numpy()[10:])
    np.testing.assert_allclose(array.values, full.values, atol=1e-12)
    nullable = X.astype({"income": "Float64", "age": "Int64"})
    np.testing.assert_allclose(
        shapley_values(model, nullable[:6], nullable[10:]).values, full.values, atol=1e-12
    )
    assert partial_dependence(model, X).method == "exact"


def test_what_a_model_does_not_take_is_refused_in_its_words():
    X = towns()[["income", "age"]]
    plain = SVC().fit(X.fillna(0.0), X["age"] > 40)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        shapley_values(plain, X[:5], X[20:])
    scaled = make_pipeline(StandardScaler(), SVC()).fit(X.fillna(0.0), X["age"] > 40)
    with pytest.raises(ValueError, match="contains NaN"):
        shapley_values(scaled, X[:5], X[20:])
    nothing = X.assign(income=np.nan)
    tree = CARTClassifier(max_depth=2).fit(X, X["age"] > 40)
    with pytest.raises(ValueError, match="'income' has no value in X"):
        partial_dependence(tree, nothing)
    with pytest.raises(ValueError, match="X holds missing values"):
        counterfactual(make_pipeline(SimpleImputer(), SVC()).fit(X, X["age"] > 40), X, X)
    words = towns()
    with pytest.raises(
        ValueError, match="changes numbers, and X holds others in the column 'town'"
    ):
        counterfactual(machine(["town"]).fit(words, words["age"]), words, words)
