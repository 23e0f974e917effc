"""What users pass by mistake, to every machine: the answer is a sentence.

Every message must hold what is wrong (argument or column), where or what value, and what to do.
"""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from tamiz.kernels import RBF
from tamiz.svm import SVR, HardMarginSVC
from tests.svm.cases import (
    CLASSIFIERS,
    KERNEL,
    LABELS,
    MACHINES,
    NAMES,
    SUPERVISED,
    TARGET,
    WEIGHTED,
    N,
    X,
    every,
    machine,
    refuses,
    some,
    target,
)

# ------------------------------------------------------------------------------- tables


def with_value(value, kind):
    table = X.copy()
    table[3, 1] = value
    if kind == "pandas":
        return pd.DataFrame(table, columns=NAMES)
    if kind == "polars":
        return pl.DataFrame(table, schema=NAMES)
    return sparse.csr_array(table) if kind == "sparse" else table


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for name in MACHINES
        for kind in ("array", "pandas", "polars", "sparse")
        if (name, kind) != ("HardMarginSVC", "sparse")  # takes none, and says so below
    ],
)
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
def test_not_finite(name, kind, value, word):
    column = "column 'height'" if kind in ("pandas", "polars") else "column 1"
    bad = with_value(value, kind)
    refuses(
        lambda: machine(name).fit(bad, target(name)),
        "X",
        word,
        "row 3",
        column,
        "leave these rows out",
    )
    fitted = machine(name).fit(with_value(0.5, kind), target(name))
    refuses(lambda: fitted.predict(bad), "X", word, "row 3", column, "leave these rows out")


@every
def test_missing_values_of_frames(name):
    gaps = {"age": [1, None] * (N // 2), "height": X[:, 0]}
    for table in (
        pl.DataFrame(gaps),
        pd.DataFrame({**gaps, "age": pd.array(gaps["age"], dtype="Int64")}),
    ):
        refuses(
            lambda t=table: machine(name).fit(t, target(name)),
            "NaN",
            "column 'age'",
            "row 1",
            "Fill",
        )


def text_tables():
    rows = X.tolist()
    rows[2][1] = "red"
    frame = pd.DataFrame(X, columns=NAMES).astype({"height": object})
    frame.loc[2, "height"] = "red"
    return {
        "list": (rows, "column 1"),
        "object array": (np.array(rows, dtype=object), "column 1"),
        "text array": (np.array(rows), "column 1"),
        "pandas object": (frame, "column 'height'"),
        "pandas category": (frame.astype({"height": "category"}), "column 'height'"),
        "polars": (
            pl.DataFrame({"age": X[:, 0], "height": ["1"] * 2 + ["red"] * 22}),
            "column 'height'",
        ),
    }


@every
@pytest.mark.parametrize("kind", text_tables())
def test_text(name, kind):
    table, column = text_tables()[kind]
    refuses(lambda: machine(name).fit(table, target(name)), column, "'red'", "row 2", "Encode")


@every
def test_text_that_is_a_number_is_one(name):
    fitted = machine(name).fit(X.astype(str), target(name))
    np.testing.assert_allclose(fitted.predict(X), machine(name).fit(X, target(name)).predict(X))


@every
def test_dates(name):
    day = datetime.date(2020, 5, 17)
    frame = pd.DataFrame(X, columns=NAMES)
    frame["height"] = pd.date_range("2020-05-17", periods=N)
    for table, place in (
        (frame, "column 'height'"),
        (pl.DataFrame({"age": X[:, 0], "height": [day] * N}), "column 'height'"),
        (np.full((N, 2), np.datetime64(day)), "datetime64"),
        (np.full((N, 2), np.timedelta64(3, "D")), "timedelta64"),
        (np.array([[1.0, day]] * N, dtype=object), "2020-05-17 at row 0"),
    ):
        refuses(
            lambda t=table: machine(name).fit(t, target(name)),
            "X",
            "dates",
            place,
            "turn it into a number",
        )


@every
def test_shapes(name):
    y = target(name)
    fit = lambda table, y=y: lambda: machine(name).fit(table, y)  # noqa: E731
    refuses(fit(X[:0], y[:0]), "0 sample(s)", "(0, 3)", "Pass X")
    refuses(fit(X[:, :0]), "0 feature(s)", "(24, 0)", "Pass X")
    refuses(fit(X[:, 0]), "2D array", "1D array", "Reshape")
    refuses(fit(X[:, :, None]), "dim 3", "Pass X", "reshape")
    refuses(fit(None), "X is None", "pass a table")
    refuses(fit("table.csv"), "X is 'table.csv'", "pass a table")
    refuses(fit(X + 1j), "Complex", "X", "complex128", "Pass real numbers")
    refuses(fit(pd.DataFrame(X, columns=["a", "b", "a"])), "X", "column name", "'a'", "rename")


@every
def test_features_of_new_samples(name):
    fitted = machine(name).fit(X, target(name))
    refuses(lambda: fitted.predict(X[:, :2]), "X has 2 features", "expecting 3", "Pass X")
    refuses(lambda: fitted.predict(X[0]), "2D array", "Reshape")
    frame = pd.DataFrame(X, columns=NAMES)
    named = machine(name).fit(frame, target(name))
    for table, part in (
        (frame.rename(columns={"height": "size"}), "- size"),
        (frame[["age", "weight"]], "- height"),
        (frame[NAMES[::-1]], "same order"),
        (pl.DataFrame(X, schema=["age", "size", "weight"]), "- size"),
    ):
        refuses(lambda t=table: named.predict(t), "feature names", part, "Pass X")


@every
def test_predict_before_fit(name):
    error = refuses(lambda: machine(name).predict(X), name, "not fitted", "Call 'fit'")
    assert isinstance(error, NotFittedError)


@every
def test_constant_features_are_no_problem(name):
    table = X.copy()
    table[:, 1:] = [7.0, 0.0]
    values = machine(name).fit(table, target(name)).predict(table)
    if name in CLASSIFIERS:
        assert (values == LABELS).mean() > 0.9
    assert np.isfinite(values).all()


def other_tables(folder):
    readonly = X.copy()
    readonly.flags.writeable = False
    mapped = np.memmap(folder / "table", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    wide = np.empty((2 * N, 6))
    wide[::2, ::2] = X
    return [
        X.tolist(),
        np.asfortranarray(X),
        readonly,
        mapped,
        wide[::2, ::2],
        pd.DataFrame(X),
        pl.DataFrame(X),
    ]


@every
def test_other_kinds_of_table_are_fine(name, tmp_path):
    expected = machine(name).fit(X, target(name)).predict(X)
    for table in other_tables(tmp_path):
        np.testing.assert_array_equal(
            machine(name).fit(table, target(name)).predict(table), expected
        )
    whole = np.round(2 * X)
    expected = machine(name).fit(whole, target(name)).predict(whole)
    for dtype in (np.int8, np.int64, np.float32, np.float16, object):
        table = whole.astype(dtype)
        np.testing.assert_array_equal(
            machine(name).fit(table, target(name)).predict(table), expected
        )
    truth = X > [3.0, 0.0, 0.0]
    expected = machine(name).fit(truth.astype(float), target(name)).predict(truth.astype(float))
    np.testing.assert_array_equal(machine(name).fit(truth, target(name)).predict(truth), expected)


def test_hard_margin_says_that_it_takes_no_sparse_tables():
    refuses(
        lambda: HardMarginSVC().fit(sparse.csr_array(X), LABELS),
        "Sparse",
        "X",
        "toarray",
        error=TypeError,
    )


KERNELS = ["linear", "poly", "rbf", "sigmoid", RBF(gamma=1.0)]


@pytest.mark.parametrize(
    ("name", "kernel"),
    [(name, kernel) for name in MACHINES for kernel in (KERNELS if name in KERNEL else ["linear"])],
)
@pytest.mark.parametrize("size", [1e160, 1e300])
def test_values_that_overflow(name, kernel, size):
    params = {"kernel": kernel} if name in KERNEL else {}
    refuses(lambda: machine(name, **params).fit(size * X, target(name)), "X", "large", "scale")
    if name == "HardMarginSVC" and kernel == "sigmoid":
        return  # not a Mercer kernel: it need not separate even these classes
    fitted = machine(name, **params).fit(X, target(name))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        if kernel == "poly" or (name, kernel) == ("SVDD", "sigmoid"):  # of a sample with itself
            refuses(lambda: fitted.predict(size * X), "X", "very large values", "Scale")
            return
        assert np.isfinite(fitted.predict(size * X)).all()
        if hasattr(fitted, "decision_function"):
            assert not np.isnan(fitted.decision_function(size * X)).any()


# ------------------------------------------------------------------------------- targets


@some(SUPERVISED)
def test_bad_targets(name):
    fit = lambda y: lambda: machine(name).fit(X, y)  # noqa: E731
    y = target(name).astype(float)
    gap, endless = y.copy(), y.copy()
    gap[4], endless[5] = np.nan, np.inf
    refuses(fit(gap), "y", "NaN", "row 4", "Leave out")
    refuses(fit(endless), "y", "inf", "row 5", "Leave out")
    refuses(fit([None, *y[1:].tolist()]), "y", "NaN", "row 0", "Leave out")
    refuses(fit(None), "y", "None", "pass one label or value for each row")
    refuses(fit(y[:-2]), "X has 24 rows", "y has 22", "must be equal")
    refuses(fit(np.c_[y, y]), "y", "1d array", "(24, 2)", "MultiTarget")
    refuses(fit(y + 1j), "Complex", "y", "complex128", "real numbers")


@some(CLASSIFIERS)
def test_targets_that_are_no_classes(name):
    refuses(lambda: machine(name).fit(X, X[:, 1]), "continuous", "y[0]", str(X[0, 1])[:8], "SVR")
    refuses(
        lambda: machine(name).fit(X, np.ones(N, dtype=int)),
        "y",
        "one class only",
        "1 in all",
        "needs samples",
    )
    refuses(lambda: machine(name).fit(X[:1], LABELS[:1]), "y", "one class only", "needs samples")


@some(["SVR", "SVDD", "OneClassSVM"])
def test_one_sample_is_enough_without_classes(name):
    fitted = machine(name).fit(X[:1], TARGET[:1])
    np.testing.assert_allclose(fitted.predict(X[:1]), TARGET[:1] if name == "SVR" else [1])


def test_targets_that_are_no_numbers():
    refuses(lambda: SVR().fit(X, ["low", "high"] * 12), "y", "'low'", "Use a classifier")
    refuses(lambda: SVR().fit(X, np.full(N, np.datetime64("2020-01-01"))), "y", "dates", "number")


@some(CLASSIFIERS)
@pytest.mark.parametrize(
    "labels",
    [np.array(["no", "yes"]), [False, True], [-1.0, 1.0], np.array(["a", "b"], dtype=object)],
    ids=str,
)
def test_labels_of_any_type_come_back(name, labels):
    y = np.asarray(labels)[LABELS]
    values = machine(name).fit(X, y).predict(X)
    assert values.dtype == y.dtype
    assert (values == y).all()


# --------------------------------------------------------------------------- sample weights


@some(WEIGHTED)
def test_bad_weights(name):
    fit = lambda w: lambda: machine(name).fit(X, target(name), sample_weight=w)  # noqa: E731
    negative, gap = np.ones(N), np.ones(N)
    negative[5], gap[6] = -1.0, np.nan
    refuses(fit(negative), "sample_weight[5]", "-1.0", "must be finite and not negative")
    refuses(fit(gap), "sample_weight[6]", "nan", "must be finite and not negative")
    refuses(fit(np.ones(5)), "sample_weight", "(5,)", "(24,)", "must hold one weight")
    refuses(fit(np.ones((N, 1))), "sample_weight", "(24, 1)", "must be 1D")
    refuses(fit(np.zeros(N)), "sample_weight", "zero", "must be positive")
    refuses(fit(["a"] * N), "sample_weight", "must hold real numbers")
    refuses(fit(np.ones(N) + 1j), "sample_weight", "must hold real numbers")
    refuses(fit(np.full(N, 1e308)), "sample_weight", "1e+308", "divide")


@some([n for n in WEIGHTED if n in CLASSIFIERS])
def test_weights_that_leave_one_class(name):
    refuses(
        lambda: machine(name).fit(X, LABELS, sample_weight=LABELS),
        "y",
        "1 in all samples with positive sample_weight",
        "needs samples",
    )
