"""GrammarFeatures: what grows, what is chosen, and from which rows."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamiz
from tamiz.embedded import HoldOutSVM
from tamiz.filters import MRMR, QPFS, FisherScore, GrammarFeatures
from tamiz.svm import LinearMachine
from tamiz.validation import ParameterError
from tests.checks import assert_every_check_passes

ALL = ["product", "ratio", "sum", "difference", "greater", "square", "cube", "sqrt", "log", "above"]


def product_problem(seed=0, n=200, p=20):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X[:, 1] * X[:, 2] > 0).astype(int)


@pytest.mark.parametrize("selector", ["qpfs", "mrmr", MRMR(2, measure="f_pearson")])
def test_the_product_of_two_of_twenty_columns_is_found(selector):
    for seed in range(3):
        wanted = 3 if isinstance(selector, str) else 20
        grown = GrammarFeatures(wanted, selector=selector).fit(*product_problem(seed))
        assert grown.get_feature_names_out()[0] == "x1*x2"


def test_two_levels_find_a_product_of_three():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8)) + 0.7  # so that parts of the product tell something
    y = X[:, 0] * X[:, 3] * X[:, 5]
    names = GrammarFeatures(8, operators=["product"], depth=2).fit(X, y).get_feature_names_out()
    assert names[0] in ("(x0*x3)*x5", "x5*(x0*x3)", "(x0*x5)*x3", "x0*(x3*x5)", "x3*(x0*x5)")


def naive_value(name, x, z, fitted_x, fitted_z):
    least = 1e-3 * np.abs(fitted_z).mean()
    divisor = z if abs(z) >= least else (least if z >= 0 else -least)
    return {
        "product": x * z,
        "ratio": x / divisor,
        "sum": x + z,
        "difference": x - z,
        "greater": float(x > z),
        "square": x**2,
        "cube": x**3,
        "sqrt": abs(x) ** 0.5,
        "log": np.log(1 + abs(x)),
        "above": float(x > np.median(fitted_x)),
    }[name]


@pytest.mark.parametrize("operator", ALL)
def test_values_are_those_of_the_formula(operator):
    X, y = product_problem(p=3, n=60)
    grown = GrammarFeatures(1.0, operators=[operator]).fit(X, y)
    Z = np.vstack([product_problem(1, 5, 3)[0], np.zeros((1, 3)), [[1.0, -1e-9, 1e-9]]])
    values = grown.transform(Z)
    new = [k for k, out in enumerate(grown.outputs_) if out >= 3]
    assert len(new) == (6 if operator == "ratio" else 3)
    for k in new:
        _, a, b, _ = grown.program_[grown.outputs_[k] - 3]
        expected = [naive_value(operator, z[a], z[b], X[:, a], X[:, b]) for z in Z]
        np.testing.assert_allclose(values[:, k], expected, rtol=1e-12, atol=1e-15)


def test_names_can_be_read():
    X, y = product_problem(p=3, n=60)
    names = set(GrammarFeatures(1.0, operators=ALL).fit(X, y).get_feature_names_out())
    assert names >= {"x0", "x0*x1", "x0/x1", "x1/x0", "x0+x1", "x0-x1", "[x0>x1]", "x0^2", "x0^3"}
    assert names >= {"sqrt(|x0|)", "log(1+|x0|)", f"[x0>{np.median(X[:, 0]):.4g}]"}
    named = GrammarFeatures(1.0, operators=["product"]).fit(X, y)
    assert "age*pay" in named.get_feature_names_out(["age", "pay", "id"])


def test_test_rows_change_nothing():
    """Neither what grows in a fold nor what the other rows become."""
    X, y = product_problem(n=90, p=6)
    folds = KFold(3)
    machine = make_pipeline(
        GrammarFeatures(3, operators=ALL, max_candidates=60, random_state=0),
        StandardScaler(),
        LinearMachine(),
    )
    answers = []
    _, test = next(folds.split(X))
    for other_rows in (False, True):
        Z, labels = X.copy(), y.copy()
        if other_rows:
            Z[test], labels[test] = 1e3 * Z[test] ** 2, 1 - labels[test]
        found = cross_validate(machine, Z, labels, cv=folds, return_estimator=True)
        answers.append(found["estimator"][0][0])
    assert answers[0].program_ == answers[1].program_
    np.testing.assert_array_equal(answers[0].outputs_, answers[1].outputs_)


def test_each_row_is_transformed_by_itself():
    X, y = product_problem(n=60, p=3)
    grown = GrammarFeatures(1.0, operators=ALL).fit(X[:40], y[:40])
    alone = np.vstack([grown.transform(row[None]) for row in X])
    np.testing.assert_array_equal(alone, grown.transform(X))


def test_noise_stays_noise_in_folds():
    """Grown before the split, features of noise would seem to tell something."""
    inside, outside = [], []
    grown, rest = GrammarFeatures(5, operators=["product"]), [StandardScaler(), LinearMachine()]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 20)), rng.permutation(np.repeat([0, 1], 30))
        inside.append(cross_validate(make_pipeline(grown, *rest), X, y, cv=3)["test_score"])
        leaked = grown.fit(X, y).transform(X)
        outside.append(cross_validate(make_pipeline(*rest), leaked, y, cv=3)["test_score"])
    assert abs(np.mean(inside) - 0.5) < 0.1
    assert np.mean(outside) > 0.65


def test_extreme_values_stay_finite():
    X, y = product_problem(n=40, p=4)
    X[:, 0] *= 1e200
    X[:, 1] *= 1e-200
    X[::2, 2] = 0.0
    with np.errstate(all="raise", under="ignore", over="ignore"):
        grown = GrammarFeatures(operators=ALL, depth=2, selector=QPFS(0.9, bins="frequency"))
        Z = grown.fit(X, y).transform(np.vstack([X, np.zeros((1, 4)), np.full((1, 4), 1e300)]))
    is_grown = grown.outputs_ >= 4
    assert np.isfinite(Z).all() and np.abs(Z[:, is_grown]).max() <= 1e100


def test_limits_and_seeds():
    X, y = product_problem(n=60, p=12)
    fit = [
        GrammarFeatures(4, depth=2, max_candidates=30, random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    ]
    assert fit[0].n_candidates_[0] <= 12 + 30 and fit[0].n_candidates_[1] <= 12 + 4 + 30
    assert fit[0].program_ == fit[1].program_ != fit[2].program_
    whole = GrammarFeatures(4, operators=["product", "above"]).fit(X, y)
    assert whole.n_candidates_ == [12 + 66 + 12]


def test_constant_and_repeated_expressions_are_left_out():
    X, y = product_problem(n=60, p=3)
    X = np.column_stack([X, np.full(60, 2.0), X[:, 0]])
    grown = GrammarFeatures(1.0, operators=["product", "square"]).fit(X, y)
    names = set(grown.get_feature_names_out())
    assert "x3^2" not in names and len(names & {"x0^2", "x4^2", "x0*x4"}) == 1


def test_columns_may_be_kept():
    X, y = product_problem(n=60, p=4)
    grown = GrammarFeatures(2, keep_columns=True).fit(X, y)
    np.testing.assert_array_equal(grown.transform(X)[:, :4], X)
    assert grown.get_feature_names_out().tolist()[:4] == ["x0", "x1", "x2", "x3"]


def test_choice_is_recorded():
    X, y = product_problem(n=60, p=4)
    grown = GrammarFeatures(2, operators=["product"]).fit(X, y)
    assert grown.selection_.selected == grown.get_feature_names_out().tolist()
    assert len(grown.selection_.names) == 10 and grown.selection_.method == "GrammarFeatures"


def test_unknown_operators_are_refused():
    X, y = product_problem(n=20, p=3)
    for operators in (["product", "tan"], [], [["product"]]):
        with pytest.raises(ParameterError, match=r"must name some of: product, ratio"):
            GrammarFeatures(operators=operators).fit(X, y)


def test_names_differ_and_can_be_read_whatever_the_columns_are_called():
    X, y = product_problem(n=60, p=5)
    frame = pd.DataFrame(X, columns=["x", "y", "x/y", "size (cm)", "0.5"])
    operators = ["ratio", "product", "greater", "above"]
    grown = GrammarFeatures(1.0, operators=operators, depth=2, max_candidates=200, random_state=0)
    grown.fit(frame, y)
    names = grown.get_feature_names_out().tolist()
    assert len(set(names)) == len(names) and grown.selection_.selected == names
    level = GrammarFeatures(1.0, operators=operators).fit(frame, y)
    assert set(level.get_feature_names_out()) >= {
        *frame.columns,
        "(x/y)",  # the column of this name keeps it
        "`x/y`*`size (cm)`",
        "[x>`0.5`]",
    }


def test_a_number_that_the_selector_ignores_is_warned_of():
    X, y = product_problem(n=30, p=3)
    with pytest.warns(UserWarning, match=r"=4 is ignored, .* give the number to FisherScore") as w:
        GrammarFeatures(4, selector=FisherScore()).fit(X, y)
    assert w[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GrammarFeatures(selector=FisherScore(4)).fit(X, y)


def test_mrmr_refuses_a_numeric_target():
    X, _ = product_problem(n=30, p=3)
    with pytest.raises(ParameterError, match=r'needs classes, but y is numeric; .*"qpfs"'):
        GrammarFeatures(selector="mrmr").fit(X, X[:, 0])


def test_saved_and_loaded(tmp_path):
    X, y = product_problem(n=60, p=4)
    grown = GrammarFeatures(3, depth=2).fit(X, y)
    tamiz.save(grown, tmp_path / "g.tamiz")
    loaded = tamiz.load(tmp_path / "g.tamiz")
    np.testing.assert_array_equal(loaded.transform(X), grown.transform(X))
    assert loaded.get_feature_names_out().tolist() == grown.get_feature_names_out().tolist()


def test_scikit_learn_checks():
    assert_every_check_passes(GrammarFeatures())


@pytest.mark.parametrize("selector", ["qpfs", "mrmr", FisherScore(6)])
def test_integers_as_weights_are_numbers_of_rows(selector):
    X, y = product_problem(n=80, p=4)
    weight = np.random.default_rng(1).integers(0, 4, 80)
    rows = np.repeat(np.arange(80), weight)
    # no operators whose values have the same scores up to rounding
    options = {"selector": selector, "operators": ["product", "sum", "cube"], "depth": 2}
    if isinstance(selector, str):
        options["n_features_to_select"] = 6
    got = GrammarFeatures(**options).fit(X, y, sample_weight=weight)
    want = GrammarFeatures(**options).fit(X[rows], y[rows])
    assert got.get_feature_names_out().tolist() == want.get_feature_names_out().tolist()
    np.testing.assert_allclose(got.transform(X), want.transform(X), rtol=1e-9)
    part = GrammarFeatures(**options).fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    np.testing.assert_array_equal(got.transform(X), part.transform(X))


def test_constants_of_expressions_count_rows_by_weights():
    X, y = product_problem(n=81, p=3)
    weight = np.random.default_rng(1).integers(0, 4, 81)
    rows = np.repeat(np.arange(81), weight)
    options = {"selector": FisherScore(1.0), "operators": ["above", "ratio"], "depth": 1}
    got = GrammarFeatures(**options).fit(X, y, sample_weight=weight)
    want = GrammarFeatures(**options).fit(X[rows], y[rows])
    assert got.transform(X).shape[1] == 3 + 3 + 6
    found = sorted((op, a, b, c) for op, a, b, c in got.program_)
    expected = sorted((op, a, b, c) for op, a, b, c in want.program_)
    assert [one[:3] for one in found] == [one[:3] for one in expected]
    np.testing.assert_allclose([one[3] for one in found], [one[3] for one in expected], rtol=1e-12)


def test_a_selector_that_takes_no_weights_is_named():
    X, y = product_problem(n=40, p=4)
    with pytest.raises(ValueError, match="HoldOutSVM takes no sample weights"):
        GrammarFeatures(selector=HoldOutSVM(2)).fit(X, y, sample_weight=np.ones(40))
