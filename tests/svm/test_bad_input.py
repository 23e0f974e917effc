"""What users get wrong, for every machine: the answer is a sentence, and nothing is lost.

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
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from tamiz.kernels import RBF
from tamiz.svm import (
    SVC,
    SVDD,
    SVR,
    HardMarginSVC,
    OneClassSVM,
    PegasosClassifier,
    PerceptronClassifier,
    SubgradientClassifier,
)

N = 24
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
X[: N // 2, 0] += 6.0
LABELS = np.repeat([1, 0], N // 2)
TARGET = 2.0 * X[:, 0] + 1.0
NAMES = ["age", "height", "weight"]

MACHINES = {
    "SVC": SVC(),
    "HardMarginSVC": HardMarginSVC(),
    "SVR": SVR(),
    "SVDD": SVDD(),
    "OneClassSVM": OneClassSVM(),
    "PegasosClassifier": PegasosClassifier(lambda_=0.01, max_iter=20, random_state=0),
    "SubgradientClassifier": SubgradientClassifier(max_iter=50),
    "PerceptronClassifier": PerceptronClassifier(),
}
KERNEL = ("SVC", "HardMarginSVC", "SVR", "SVDD", "OneClassSVM")
CLASSIFIERS = ("SVC", "HardMarginSVC", "PegasosClassifier", "SubgradientClassifier", "PerceptronClassifier")  # fmt: skip
SUPERVISED = (*CLASSIFIERS, "SVR")
WEIGHTED = (*KERNEL, "SubgradientClassifier")


def machine(name, **params):
    return clone(MACHINES[name]).set_params(**params)


def target(name):
    return TARGET if name == "SVR" else LABELS


def refuses(fit, *parts, error=ValueError):
    """The call fails with a message that holds every part, in any case of letters."""
    with pytest.raises(error) as caught:
        fit()
    message = str(caught.value)
    for part in parts:
        assert part.lower() in message.lower(), f"{part!r} is not in {message!r}"
    return caught.value


every = pytest.mark.parametrize("name", MACHINES)


def some(names):
    return pytest.mark.parametrize("name", names)


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
    refuses(lambda: machine(name).fit(bad, target(name)), "X", word, "row 3", column, "leave these rows out")  # fmt: skip
    fitted = machine(name).fit(with_value(0.5, kind), target(name))
    refuses(lambda: fitted.predict(bad), "X", word, "row 3", column, "leave these rows out")


@every
def test_missing_values_of_frames(name):
    gaps = {"age": [1, None] * (N // 2), "height": X[:, 0]}
    for table in (pl.DataFrame(gaps), pd.DataFrame({**gaps, "age": pd.array(gaps["age"], dtype="Int64")})):  # fmt: skip
        refuses(lambda t=table: machine(name).fit(t, target(name)), "NaN", "column 'age'", "row 1", "Fill")  # fmt: skip


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
        ),  # fmt: skip
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
        refuses(lambda t=table: machine(name).fit(t, target(name)), "X", "dates", place, "turn it into a number")  # fmt: skip


@every
def test_shapes(name):
    y = target(name)
    fit = lambda table, y=y: lambda: machine(name).fit(table, y)  # noqa: E731
    refuses(fit(X[:0], y[:0]), "0 sample(s)", "(0, 3)", "Hand over X")
    refuses(fit(X[:, :0]), "0 feature(s)", "(24, 0)", "Hand over X")
    refuses(fit(X[:, 0]), "2D array", "1D array", "Reshape")
    refuses(fit(X[:, :, None]), "dim 3", "Hand over X", "reshape")
    refuses(fit(None), "X is None", "hand over a table")
    refuses(fit("table.csv"), "X is 'table.csv'", "hand over a table")
    refuses(fit(X + 1j), "Complex", "X", "complex128", "Hand over real numbers")
    refuses(fit(pd.DataFrame(X, columns=["a", "b", "a"])), "X", "column name", "'a'", "rename")


@every
def test_features_of_new_samples(name):
    fitted = machine(name).fit(X, target(name))
    refuses(lambda: fitted.predict(X[:, :2]), "X has 2 features", "expecting 3", "Hand over X")
    refuses(lambda: fitted.predict(X[0]), "2D array", "Reshape")
    frame = pd.DataFrame(X, columns=NAMES)
    named = machine(name).fit(frame, target(name))
    for table, part in (
        (frame.rename(columns={"height": "size"}), "- size"),
        (frame[["age", "weight"]], "- height"),
        (frame[NAMES[::-1]], "same order"),
        (pl.DataFrame(X, schema=["age", "size", "weight"]), "- size"),
    ):
        refuses(lambda t=table: named.predict(t), "feature names", part, "Hand over X")


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
    return [X.tolist(), np.asfortranarray(X), readonly, mapped, wide[::2, ::2], pd.DataFrame(X), pl.DataFrame(X)]  # fmt: skip


@every
def test_other_kinds_of_table_are_fine(name, tmp_path):
    expected = machine(name).fit(X, target(name)).predict(X)
    for table in other_tables(tmp_path):
        np.testing.assert_array_equal(machine(name).fit(table, target(name)).predict(table), expected)  # fmt: skip
    whole = np.round(2 * X)
    expected = machine(name).fit(whole, target(name)).predict(whole)
    for dtype in (np.int8, np.int64, np.float32, np.float16, object):
        table = whole.astype(dtype)
        np.testing.assert_array_equal(machine(name).fit(table, target(name)).predict(table), expected)  # fmt: skip
    truth = X > [3.0, 0.0, 0.0]
    expected = machine(name).fit(truth.astype(float), target(name)).predict(truth.astype(float))
    np.testing.assert_array_equal(machine(name).fit(truth, target(name)).predict(truth), expected)


def test_hard_margin_says_that_it_takes_no_sparse_tables():
    refuses(lambda: HardMarginSVC().fit(sparse.csr_array(X), LABELS), "Sparse", "X", "toarray", error=TypeError)  # fmt: skip


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
        try:
            values = fitted.predict(size * X)
        except ValueError as error:
            assert "very large values" in str(error) and "Scale" in str(error)
        else:
            assert np.isfinite(values).all()
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
    refuses(fit(None), "y", "None", "hand over one label or value for each row")
    refuses(fit(y[:-2]), "X has 24 rows", "y has 22", "must be equal")
    refuses(fit(np.c_[y, y]), "y", "1d array", "(24, 2)")
    refuses(fit(y + 1j), "Complex", "y", "complex128", "real numbers")


@some(CLASSIFIERS)
def test_targets_that_are_no_classes(name):
    refuses(lambda: machine(name).fit(X, X[:, 1]), "continuous", "y[0]", str(X[0, 1])[:8], "SVR")  # fmt: skip
    refuses(lambda: machine(name).fit(X, np.ones(N, dtype=int)), "y", "one class only", "1 in all", "needs samples")  # fmt: skip
    refuses(lambda: machine(name).fit(X[:1], LABELS[:1]), "y", "one class only", "needs samples")


@some(["SVR", "SVDD", "OneClassSVM"])
def test_one_sample_is_enough_without_classes(name):
    fitted = machine(name).fit(X[:1], TARGET[:1])
    np.testing.assert_allclose(fitted.predict(X[:1]), TARGET[:1] if name == "SVR" else [1])


def test_targets_that_are_no_numbers():
    refuses(lambda: SVR().fit(X, ["low", "high"] * 12), "y", "'low'", "Use a classifier")
    refuses(lambda: SVR().fit(X, np.full(N, np.datetime64("2020-01-01"))), "y", "dates", "number")


@some(CLASSIFIERS)
@pytest.mark.parametrize("labels", [np.array(["no", "yes"]), [False, True], [-1.0, 1.0], np.array(["a", "b"], dtype=object)], ids=str)  # fmt: skip
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
    refuses(lambda: machine(name).fit(X, LABELS, sample_weight=LABELS), "y", "1 in all samples with positive sample_weight", "needs samples")  # fmt: skip


# ------------------------------------------------------------------------------- parameters

ABSURD = [
    (
        ("SVC", "SVR", "PegasosClassifier", "SubgradientClassifier"),
        "C",
        [-1, 0, np.nan, np.inf, "a"],
    ),  # fmt: skip
    (KERNEL, "gamma", [-1, 0, np.nan, np.inf, "wide"]),
    (KERNEL, "degree", [0, -2, 2.5]),
    (KERNEL, "coef0", [np.nan, np.inf, "a"]),
    (KERNEL, "tol", [0, -1e-3, np.nan]),
    (KERNEL, "cache_mb", [-1, 0, np.nan]),
    (KERNEL, "kernel", ["nope", None, 3]),
    (KERNEL, "solver", ["simplex", None]),
    (KERNEL, "max_iter", [-5, 1.5, "a"]),
    (
        ("PegasosClassifier", "SubgradientClassifier", "PerceptronClassifier"),
        "max_iter",
        [0, -5, 1.5],
    ),  # fmt: skip
    (("SVDD", "OneClassSVM"), "nu", [-0.1, 1.1, np.nan, "a"]),
    (("OneClassSVM",), "nu", [0]),
    (("SVR",), "epsilon", [-0.1, np.nan, np.inf]),
    (("SVR",), "loss", ["absolute"]),
    (("SVC", "HardMarginSVC"), "multiclass", ["all"]),
    (("SVC", "PegasosClassifier", "SubgradientClassifier"), "class_weight", ["even", 3]),
    (("PegasosClassifier", "SubgradientClassifier"), "lambda_", [0, -1, np.nan, np.inf]),
    (("PegasosClassifier",), "batch_size", [0]),
    (("PerceptronClassifier",), "learning_rate", [0, -1, np.nan, np.inf]),
    (("SubgradientClassifier",), "radius", [0, -1, np.inf]),
]


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [(n, parameter, v) for names, parameter, values in ABSURD for n in names for v in values],
)
def test_absurd_parameters(name, parameter, value):
    refuses(lambda: machine(name, **{parameter: value}).fit(X, target(name)), f"'{parameter}' parameter of {name}", "must be", f"Got {value!r}")  # fmt: skip


@some(["SVC", "PegasosClassifier", "SubgradientClassifier"])
def test_class_weights(name):
    fit = lambda **weights: lambda: machine(name, class_weight=weights["of"]).fit(X, LABELS)  # noqa: E731
    refuses(fit(of={5: 1.0}), "class_weight", "class 5", "(0, 1)", "remove it or correct")
    refuses(fit(of={0: -1.0}), "class_weight[0]", "-1.0", "must be finite")
    refuses(fit(of={1: np.nan}), "class_weight[1]", "nan", "must be finite")
    refuses(fit(of={1: "a"}), "class_weight[1]", "'a'", "must be finite numbers")
    refuses(fit(of={0: 0.0, 1: 0.0}), "class_weight", "zero", "must be positive")


@some(KERNEL)
def test_kernels_that_are_none(name):
    fit = lambda kernel: lambda: machine(name, kernel=kernel).fit(X, target(name))  # noqa: E731
    refuses(fit(RBF), "kernel=RBF is a class", "pass an object", "RBF(gamma=0.1)")
    refuses(fit(lambda A, B: np.ones((2, 2))), "kernel function", "(2, 2)", "must return a matrix of shape")  # fmt: skip
    refuses(fit(lambda A, B: np.full((len(A), len(B)), np.nan)), "kernel function", "NaN", "must be finite")  # fmt: skip
    lopsided = lambda A, B: A @ np.triu(np.ones((3, 3))) @ B.T  # noqa: E731
    refuses(fit(lopsided), "not symmetric", "must not depend on the order")


@some(KERNEL)
def test_precomputed_matrices(name):
    K = X @ X.T
    lopsided = K.copy()
    lopsided[2, 5] += 1.0
    fit = lambda K: lambda: machine(name, kernel="precomputed").fit(K, target(name))  # noqa: E731
    refuses(fit(X), "must be a square matrix", "(24, 3)", "all pairs of training samples")
    refuses(fit(lopsided), "not symmetric", "X[2, 5]", "X[5, 2]", "Use (X + X.T) / 2")
    refuses(fit(sparse.csr_array(K)), "Sparse", "X", "toarray", error=TypeError)
    fitted = fit(K)()
    refuses(lambda: fitted.predict(K[:, :5]), "X has 5 features", "expecting 24", "Hand over X")


# --------------------------------------------------------------------- nothing is lost


def later_failures(name):
    """Refits on a wider table with other labels that fail, each at another place."""
    wide = pd.DataFrame(np.c_[X, X], columns=list("abcdef"))
    y = TARGET if name == "SVR" else np.where(LABELS > 0, "up", "down")
    yield "table", lambda m: m.fit(np.full((N, 6), np.nan), y)
    yield "overflow", lambda m: m.fit(1e300 * wide, y)
    if name in SUPERVISED:
        yield "target", lambda m: m.fit(wide, y[:-1])
    if name in WEIGHTED:
        yield "weight", lambda m: m.fit(wide, y, sample_weight=-np.ones(N))
    if name in KERNEL:
        bad = lambda A, B: np.full((len(A), len(B)), np.nan)  # noqa: E731
        yield "kernel", lambda m: m.set_params(kernel=bad).fit(wide, y)
        yield "parameter", lambda m: m.set_params(tol=-1.0).fit(wide, y)
    if name in ("SVC", "PegasosClassifier", "SubgradientClassifier"):
        yield "class weight", lambda m: m.set_params(class_weight={5: 1.0}).fit(wide, y)
    if name == "HardMarginSVC":
        lot = np.where(np.random.default_rng(1).random(N) > 0.5, "up", "down")
        yield "not separable", lambda m: m.fit(wide, lot)


@every
def test_a_failed_refit_leaves_the_machine_as_it_was(name):
    for where, fail in later_failures(name):
        fitted = machine(name).fit(pd.DataFrame(X, columns=NAMES), target(name))
        before = vars(fitted).copy()
        expected = fitted.predict(pd.DataFrame(X, columns=NAMES))
        with pytest.raises(ValueError):  # noqa: PT011 - which sentence, other tests ask
            fail(fitted)
        after = {key: value for key, value in vars(fitted).items() if key.endswith("_")}
        assert all(before[key] is value for key, value in after.items() if key != "lambda_"), where
        assert set(vars(fitted)) == set(before), where
        fitted.set_params(**machine(name).get_params())
        np.testing.assert_array_equal(fitted.predict(pd.DataFrame(X, columns=NAMES)), expected)


@every
def test_a_failed_first_fit_leaves_no_half_fitted_machine(name):
    for _, fail in later_failures(name):
        fresh = machine(name)
        with pytest.raises(ValueError):  # noqa: PT011
            fail(fresh)
        refuses(lambda m=fresh: m.set_params(**machine(name).get_params()).predict(X), "not fitted")
