"""Frames reach the estimator as frames: names, text and categories kept, columns found again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from tamiz.search import BackwardElimination, ExhaustiveSearch, ForwardSelection
from tamiz.search.judges import (
    Fitting,
    fingerprint,
    holds_numbers,
    in_double,
    looks_at_columns,
    part_of,
    unusual,
    wants_arrays,
)
from tamiz.svm import SVC
from tests.frames import to_polars

RNG = np.random.default_rng(0)
N = 90
COLOUR = RNG.choice(["red", "green", "blue"], N)
FRAME = pd.DataFrame(
    {
        "junk": RNG.normal(size=N),
        "colour": COLOUR,
        "age": RNG.normal(40, 10, N),
        "income": RNG.normal(size=N),
    },
    index=RNG.permutation(N) + 1000,  # rows are counted, not looked up
)
Y = ((COLOUR == "red") * 2.0 + 0.1 * (FRAME["age"].to_numpy() - 40) > 0.5).astype(int)
FRAME.iloc[3, 2] = np.nan
KINDS = pytest.mark.parametrize("kind", [pd.DataFrame, to_polars], ids=["pandas", "polars"])
NUMBERS = FRAME[["junk", "age", "income"]].fillna(40.0)


def by_name(colour=("colour",), rest=("junk", "age", "income")):
    return ColumnTransformer(
        [
            ("text", OneHotEncoder(handle_unknown="ignore"), list(colour)),
            ("rest", make_pipeline(SimpleImputer(), StandardScaler()), list(rest)),
        ]
    )


def by_type():
    return make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector("junk|age|inc")),
    )


# ------------------------------------------------------------------------------ whole searches


@KINDS
@pytest.mark.parametrize("machine", [LogisticRegression(), SVC(kernel="linear")], ids=["LR", "SVC"])
def test_columns_by_name_and_text_are_judged(kind, machine):
    table = kind(FRAME)
    judge = make_pipeline(by_name(), machine)
    search = ForwardSelection(judge, n_features_to_select=2, cv=3).fit(table, Y)
    assert search.selection_.selected == ["age", "colour"]
    part = table[["colour", "age"]]
    own = make_pipeline(by_name(rest=["age"]), machine)
    expected = cross_val_score(own, part, Y, cv=3)
    found = search.evaluations_
    np.testing.assert_array_equal(found.scores[found.selected][0, 0], expected)
    np.testing.assert_array_equal(search.predict(table), own.fit(part, Y).predict(part))
    assert search.score(table, Y) == own.score(part, Y)
    assert list(search.transform(table).columns) == ["colour", "age"]
    assert type(search.transform(table)) is type(table)


def test_columns_by_type_give_the_same_scores():
    by_names, by_types = (
        ExhaustiveSearch(make_pipeline(columns, LogisticRegression()), cv=2).fit(
            FRAME[["junk", "colour", "age"]], Y
        )
        for columns in (by_name(rest=["junk", "age"]), by_type())
    )
    np.testing.assert_array_equal(by_types.evaluations_.scores, by_names.evaluations_.scores)
    assert by_types.selection_.selected == by_names.selection_.selected


def test_categories_of_a_frame():
    table = FRAME.assign(colour=FRAME["colour"].astype("category"))
    trees = HistGradientBoostingClassifier(
        max_iter=5, min_samples_leaf=5, categorical_features="from_dtype"
    )
    search = BackwardElimination(trees, n_features_to_select=2, cv=2).fit(table, Y)
    assert set(search.selection_.selected) == {"age", "colour"}
    assert search.predict(table).shape == (N,)


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was given."""

    seen: list = []

    def fit(self, X, y):
        self.seen.append(X)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        self.seen.append(X)
        return np.repeat(self.classes_[:1], len(X))


@KINDS
def test_the_estimator_gets_the_users_own_kind_of_table(kind):
    Recorder.seen.clear()
    table = kind(FRAME)
    search = ForwardSelection(Recorder(), n_features_to_select=1, cv=2).fit(table, Y)
    search.predict(table)
    assert {type(part) for part in Recorder.seen} == {type(table)}
    assert {tuple(part.columns) for part in Recorder.seen} == {(name,) for name in FRAME.columns}
    assert Recorder.seen[2].shape == (N // 2, 1)
    Recorder.seen.clear()
    ForwardSelection(Recorder(), n_features_to_select=1, cv=2).fit(NUMBERS.to_numpy(), Y)
    assert {type(part) for part in Recorder.seen} == {np.ndarray}


class Plain(KNeighborsClassifier):
    """The same, but not scikit-learn's own: it is given frames."""


@KINDS
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_numbers_score_as_they_do_in_an_array(kind, dtype):
    numbers = (10 * NUMBERS).astype(dtype)
    in_array = ExhaustiveSearch(KNeighborsClassifier(), cv=3).fit(numbers.to_numpy(), Y)
    for judge in (KNeighborsClassifier(), Plain()):
        in_frame = ExhaustiveSearch(judge, cv=3).fit(kind(numbers), Y)
        np.testing.assert_array_equal(in_frame.evaluations_.scores, in_array.evaluations_.scores)
        assert in_frame.order_.tolist() == in_array.order_.tolist()
        names = in_frame.estimator_.feature_names_in_.tolist()
        assert names == list(in_frame.transform(numbers).columns)
    fast = ForwardSelection(SVC(), cv=3).fit(kind(numbers), Y)
    same = ForwardSelection(SVC(), cv=3).fit(numbers.to_numpy(), Y)
    np.testing.assert_array_equal(fast.evaluations_.scores, same.evaluations_.scores)


def test_workers_and_journals_take_frames(tmp_path):
    judge = make_pipeline(by_name(), SVC())  # shared among threads
    options = {"n_features_to_select": 2, "cv": 2}
    one = ForwardSelection(judge, **options).fit(FRAME, Y)
    file = tmp_path / "run"
    two = ForwardSelection(judge, **options, n_jobs=2, checkpoint=file).fit(FRAME, Y)
    again = ForwardSelection(judge, **options, checkpoint=file, resume=True).fit(FRAME, Y)
    for other in (two, again):
        np.testing.assert_array_equal(other.evaluations_.scores, one.evaluations_.scores)
    for changed in (FRAME.assign(colour="red"), FRAME.rename(columns={"junk": "rest"})):
        with pytest.raises(ValueError, match="the data are not the same"):
            ForwardSelection(judge, **options, checkpoint=file, resume=True).fit(changed, Y)


# ------------------------------------------------------------------------------ sentences


@KINDS
def test_an_estimator_that_does_not_take_text_gets_a_sentence(kind):
    with pytest.raises(ValueError, match=r"'red'.*column 'colour' holds (text|values).*pipeline"):
        ForwardSelection(LogisticRegression(), cv=2).fit(kind(FRAME), Y)
    with pytest.raises(ValueError, match="column 'colour' holds text where numbers are needed"):
        ForwardSelection(SVC(), cv=2).fit(kind(FRAME), Y)
    with pytest.raises(ValueError, match="column 'colour' holds text where numbers are needed"):
        ForwardSelection(criterion="cfs").fit(kind(FRAME), Y)


def test_missing_values_reach_estimators_that_look_at_columns_and_others_refuse_them_early():
    gaps = FRAME[["junk", "age", "income"]]
    with pytest.raises(ValueError, match=r"NaN .first at row 3, column 'age'"):
        ForwardSelection(LogisticRegression()).fit(gaps, Y)
    with pytest.raises(ValueError, match=r"NaN.*column 'age' has missing values"):
        ForwardSelection(make_pipeline(FunctionTransformer(), LogisticRegression())).fit(gaps, Y)
    filled = make_pipeline(by_name(colour=[]), LogisticRegression())
    assert ForwardSelection(filled, cv=2).fit(gaps, Y).support_.any()


def test_a_category_that_a_fold_lacks():
    rare = FRAME.assign(colour=["pink", *COLOUR[1:]])
    columns = make_column_transformer(
        (OneHotEncoder(), ["colour"]), remainder=make_pipeline(SimpleImputer())
    )
    with pytest.raises(ValueError, match=r"unknown categories.*handle_unknown='ignore'"):
        ForwardSelection(make_pipeline(columns, LogisticRegression()), cv=2).fit(rare, Y)


def test_columns_that_no_transformer_takes():
    judge = make_pipeline(by_name(rest=["age"]), LogisticRegression())
    with pytest.raises(ValueError, match="No transformer of the ColumnTransformer takes a column"):
        ForwardSelection(judge, cv=2).fit(FRAME, Y)


def test_tables_that_are_none():
    judge = make_pipeline(by_name(), LogisticRegression())
    for table, labels, sentence in [
        (FRAME.iloc[:1], Y[:1], "1 sample"),
        (FRAME.iloc[:, :0], Y, "at least one column"),
        (pd.concat([FRAME, FRAME[["age"]]], axis=1), Y, "first 'age'"),
        (FRAME, Y[:-1], "90 rows but y has 89"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            ForwardSelection(judge).fit(table, labels)
    search = ForwardSelection(judge, cv=2).fit(FRAME, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        search.predict(FRAME.rename(columns={"age": "years"}))


# ------------------------------------------------------------------------------ the parts


@KINDS
def test_parts_of_a_frame(kind):
    rows, features = np.array([5, 2, 2]), np.array([0, 1])
    part = part_of(kind(FRAME), rows, features)
    assert list(part.columns) == ["junk", "colour"]
    assert list(part["colour"]) == COLOUR[rows].tolist()
    assert unusual(kind(FRAME), np.array([0, 3])) is None
    assert unusual(kind(FRAME), np.array([1, 2])).endswith("column 'age' has missing values")
    assert holds_numbers(kind(NUMBERS)) and not holds_numbers(kind(FRAME))


def test_frames_are_told_apart():
    def same(left, right):
        pairs = zip(fingerprint(left), fingerprint(right), strict=True)
        return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)

    assert same(NUMBERS, NUMBERS.copy())
    assert not same(NUMBERS, NUMBERS.rename(columns={"age": "years"}))
    assert not same(NUMBERS, NUMBERS.astype("float32"))
    assert not same(NUMBERS, NUMBERS + 1)
    assert in_double(NUMBERS) is NUMBERS
    assert set(in_double(NUMBERS.astype({"age": "float32"})).dtypes) == {np.dtype("float64")}
    assert in_double(pl.DataFrame({"a": [1.0]}, schema={"a": pl.Float32})).dtypes == [pl.Float64]


def test_who_wants_arrays_and_who_looks_at_columns():
    scaled = make_pipeline(StandardScaler(), SVC())
    assert wants_arrays(SVC()) and wants_arrays(scaled)
    assert not wants_arrays(make_pipeline(by_name(), SVC()))
    assert not wants_arrays(LogisticRegression())
    assert not looks_at_columns(make_pipeline(SimpleImputer(), LogisticRegression()), None)
    assert not looks_at_columns(LogisticRegression(), ["accuracy", "f1"])
    assert looks_at_columns(LogisticRegression(), {"own": lambda machine, X, y: 1.0})
    for step in (FunctionTransformer(), by_name(), FeatureUnion([("a", SimpleImputer())])):
        assert looks_at_columns(make_pipeline(step, LogisticRegression()), None)
    assert looks_at_columns(Recorder(), None)


@pytest.mark.parametrize(
    ("columns", "left"),
    [
        (["a", "c", "d"], ["c", "d"]),
        (["a"], []),
        ("c", "c"),
        ("a", []),
        (["c", "unknown"], ["c", "unknown"]),  # for the transformer to complain of
        ([0, 2, -1], [1, 2]),
        (3, 2),
        (0, []),
        ([True, True, False, True], [0, 2]),
        (slice(1, 3), [0, 1]),
        (slice("a", "c"), ["b", "c"]),
        (slice("c", None), ["c", "d"]),
        (np.array(["b", "a"]), ["b"]),
    ],
)
def test_lists_of_columns_are_fitted_to_a_subset(columns, left):
    """Of four columns a, b, c, d, the last three are in."""
    outer = ColumnTransformer([("one", "passthrough", columns)])
    fitting = Fitting(np.array([1, 2, 3]), 4, ["a", "b", "c", "d"])
    fitting.apply(make_pipeline(FeatureUnion([("all", outer)]), LogisticRegression()))
    assert outer.transformers[0][2] == left


def test_positions_behind_another_step_and_functions_are_left_alone():
    selector = make_column_selector("a")
    for columns in ([0, 2], selector, 2, [True, False, True]):
        second = ColumnTransformer([("one", "passthrough", columns)])
        judge = make_pipeline(StandardScaler(), second)
        Fitting(np.array([1, 2]), 3, None).apply(judge)
        assert second.transformers[0][2] is columns
    named = ColumnTransformer([("one", by_name(), ["colour", "age"])])
    Fitting(np.array([1, 2]), 4, FRAME.columns).apply(named)
    inner = named.transformers[0][1]
    assert [columns for *_, columns in inner.transformers] == [["colour"], ["age"]]


def test_positions_are_those_of_the_whole_array():
    """Before, column 1 of a subset was whatever came second in it."""
    X = NUMBERS.to_numpy()
    judge = make_pipeline(
        ColumnTransformer([("age", StandardScaler(), [1])], remainder="passthrough"),
        KNeighborsClassifier(),
    )
    found = ExhaustiveSearch(judge, cv=3).fit(X, Y).evaluations_
    for i, support in enumerate(found.support):
        age = [0 if support[0] == 0 else 1] if support[1] else []
        own = make_pipeline(
            ColumnTransformer([("age", StandardScaler(), age)], remainder="passthrough"),
            KNeighborsClassifier(),
        )
        expected = cross_val_score(own, X[:, support], Y, cv=3)
        np.testing.assert_array_equal(found.scores[i, 0], expected)
