"""AutoScaler: standardised features, heavy tails drawn in, and nothing out of order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import tamiz
from tamiz.evaluation import AutoScaler


def columns(n=500, seed=0):
    """Normal, log-normal, heavy on both sides, two values, rare counts, constant."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            rng.normal(3.0, 2.0, size=n),
            rng.lognormal(10.0, 1.5, size=n),
            rng.standard_t(1.5, size=n),
            rng.random(n) < 0.03,
            rng.poisson(0.1, size=n),
            np.full(n, 0.1),
        ]
    )


@parametrize_with_checks([AutoScaler()])
def test_estimator_checks(estimator, check):
    check(estimator)


def test_the_result_is_standardised():
    Z = AutoScaler().fit_transform(columns())
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(Z[:, :5].std(axis=0), 1.0)
    np.testing.assert_allclose(Z[:, 5], 0.0, atol=1e-12)


def test_heavy_tails_are_drawn_in_and_others_are_only_standardised():
    X = columns()
    scaler = AutoScaler().fit(X)
    assert scaler.drawn_in_.tolist() == [False, True, True, False, True, False]
    Z, plain = scaler.transform(X), StandardScaler().fit_transform(X)
    np.testing.assert_allclose(Z[:, [0, 3]], plain[:, [0, 3]], atol=1e-12)
    for j in (1, 2):
        assert np.abs(Z[:, j]).max() < 0.5 * np.abs(plain[:, j]).max()
        assert stats.kurtosis(Z[:, j]) < 3.0 < stats.kurtosis(plain[:, j])


def test_values_follow_the_formula():
    X = columns()
    scaler, x = AutoScaler().fit(X), X[:, 1]
    low, median, high = np.percentile(x, [25, 50, 75])
    drawn = np.arcsinh((x - median) * 1.349 / (high - low))
    expected = (drawn - drawn.mean()) / drawn.std()
    np.testing.assert_allclose(scaler.transform(X)[:, 1], expected, atol=1e-10)
    assert scaler.center_[1] == median


def test_counts_that_are_mostly_zero():
    """The quartiles are equal; the standard deviation takes their place."""
    X = columns()[:, [4]]
    assert np.percentile(X, 75) == 0.0 and len(np.unique(X)) > 2
    Z = AutoScaler().fit_transform(X)
    assert np.isfinite(Z).all() and len(np.unique(Z)) == len(np.unique(X))
    assert Z.std() == pytest.approx(1.0)


@given(
    arrays(
        np.float64,
        st.integers(3, 60),
        elements=st.floats(-1e4, 1e4).map(lambda v: round(v, 3)) | st.sampled_from([0.0, 1e9]),
    ),
    st.floats(1e-3, 1e3),
    st.floats(-100, 100),
)
def test_order_is_kept_and_units_do_not_matter(x, unit, shift):
    scaler = AutoScaler().fit(x[:, None])
    Z = scaler.transform(x[:, None])[:, 0]
    order = np.argsort(x, kind="stable")
    assert np.isfinite(Z).all() and (np.diff(Z[order]) >= 0).all()
    apart = np.diff(x[order]) > 1e-9 * np.abs(x).max()
    assert (np.diff(Z[order])[apart] > 0).all()
    if not scaler.drawn_in_.any() or np.ptp(x) > 1e-3 * (1 + np.abs(x).max()):
        other = AutoScaler().fit(unit * (x + shift)[:, None])
        # at the border of what is heavy, rounding may decide
        if (other.drawn_in_ == scaler.drawn_in_).all():
            again = other.transform(unit * (x + shift)[:, None])[:, 0]
            np.testing.assert_allclose(again, Z, atol=1e-5 * (1 + np.abs(Z).max()))


def test_a_mirrored_feature_gives_mirrored_values():
    X = columns()
    np.testing.assert_allclose(
        AutoScaler().fit_transform(-X), -AutoScaler().fit_transform(X), atol=1e-9
    )


def test_new_samples_are_scaled_by_the_old_ones():
    X = columns()
    scaler = AutoScaler().fit(X)
    np.testing.assert_array_equal(scaler.transform(X[:3]), scaler.transform(X)[:3])
    far = scaler.transform(np.array([[3.0, 1e12, -1e9, 2.0, 50.0, 7.0]]))
    assert np.isfinite(far).all() and np.abs(far[0, 1]) < 20


def test_a_frame_keeps_its_names():
    frame = pd.DataFrame(columns(), columns=list("abcdef"))
    scaler = AutoScaler().fit(frame)
    assert scaler.get_feature_names_out().tolist() == list("abcdef")
    np.testing.assert_array_equal(
        scaler.transform(frame), AutoScaler().fit_transform(frame.to_numpy())
    )


def test_saved_and_loaded(tmp_path):
    X = columns()
    scaler = AutoScaler().fit(X)
    again = tamiz.load(tamiz.save(scaler, tmp_path / "scaler"))
    np.testing.assert_array_equal(again.transform(X), scaler.transform(X))


def test_a_weight_is_a_number_of_rows():
    X = columns(200)
    weight = np.random.default_rng(1).integers(0, 4, size=len(X))
    weighted, repeated = AutoScaler().fit(X, None, weight), AutoScaler().fit(X.repeat(weight, 0))
    np.testing.assert_array_equal(weighted.drawn_in_, repeated.drawn_in_)
    assert weighted.drawn_in_.any() and not weighted.drawn_in_.all()
    for name in ("center_", "spread_", "mean_", "scale_"):
        got, want = getattr(weighted, name), getattr(repeated, name)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12, err_msg=name)
    np.testing.assert_array_equal(
        AutoScaler().fit(X, sample_weight=np.ones(len(X))).transform(X),
        AutoScaler().fit(X).transform(X),
    )


def test_fractions_of_rows_lie_between_integers():
    X = columns(60)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, size=len(X))
    scaler = AutoScaler().fit(X, sample_weight=weight)
    order = np.argsort(X[:, 1])
    reached = np.cumsum(weight[order]) / weight.sum()
    around = X[order, 1][np.searchsorted(reached, [0.45, 0.55])]
    assert around[0] <= scaler.center_[1] <= around[1]


def test_one_divided_by_their_number_is_one_row_each():
    for n in range(5, 200):
        X = np.random.default_rng(n).standard_cauchy((n, 2))
        whole = AutoScaler().fit(X)
        light = AutoScaler().fit(X, sample_weight=np.full(n, 1 / n))
        np.testing.assert_allclose(light.center_, whole.center_, rtol=1e-7, err_msg=str(n))
        np.testing.assert_allclose(light.spread_, whole.spread_, rtol=1e-7, err_msg=str(n))


@pytest.mark.parametrize("row", [1 / 60, 0.5, 1e-9])
def test_weights_of_any_unit_are_at_least_as_many_rows_as_there_are(row):
    X = columns(60)
    whole, light = AutoScaler().fit(X), AutoScaler().fit(X, sample_weight=np.full(60, row))
    np.testing.assert_array_equal(light.drawn_in_, whole.drawn_in_)
    np.testing.assert_allclose(light.spread_, whole.spread_, rtol=1e-9)
    np.testing.assert_allclose(light.center_, whole.center_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(light.transform(X), whole.transform(X), rtol=1e-9, atol=1e-9)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, size=60)
    unit = weight / weight.mean()  # of a sum of n
    one, other = (AutoScaler().fit(X, sample_weight=w) for w in (unit, row * unit))
    np.testing.assert_allclose(other.spread_, one.spread_, rtol=1e-9)
    np.testing.assert_allclose(other.center_, one.center_, rtol=1e-9, atol=1e-12)
