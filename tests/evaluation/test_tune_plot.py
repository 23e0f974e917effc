"""Pictures of a grid: what is drawn where."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from tamiz.evaluation.tuning.result import Cell, Tuning, _is_log, _levels


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def tuning(cells, best=0, names=("gamma", "C")):
    return Tuning(
        cells=[Cell(params, np.array(errors)) for params, errors in cells],
        metric="1 - accuracy",
        best_index=best,
        choose="best",
        best_estimator=None,
        names=list(names),
        n_splits=len(cells[0][1]),
    )


def full_grid(**fixed):
    return [
        ({**fixed, "C": C, "gamma": gamma}, [0.01 * (1 + i), 0.02 + 0.1 * j])
        for i, C in enumerate([0.1, 1.0, 10.0])
        for j, gamma in enumerate([0.01, 0.1, 1.0, 10.0])
    ]


@pytest.mark.parametrize("kind", ["contour", "heat"])
def test_two_parameters_are_a_map_on_logarithmic_axes(kind):
    ax = tuning(full_grid()).plot(kind=kind)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("log10(gamma)", "log10(C)")
    star = ax.lines[-1]
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (-2.0, -1.0)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["-2", "-1", "0", "1"]
    numbers = [text.get_text() for text in ax.texts]
    assert len(numbers) == (12 if kind == "heat" else 0)
    if kind == "heat":
        assert numbers[0] == "0.015"


def test_one_parameter_is_a_line_with_deviations():
    cells = [({"C": C}, [e, e + 0.02]) for C, e in [(0.1, 0.3), (1.0, 0.1), (10.0, 0.2)]]
    ax = tuning(cells, 1, ("C",)).plot()
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "C"
    line = ax.containers[0].lines[0]
    np.testing.assert_allclose(line.get_ydata(), [0.31, 0.11, 0.21])


def test_kernels_get_panels_of_their_own():
    cells = full_grid(kernel="rbf") + [({"kernel": "linear", "C": C}, [0.3, 0.2]) for C in (1, 10)]
    found = tuning(cells, 0, ("kernel", "C", "gamma"))
    places = found.plot()
    assert [ax.get_title() for ax in places] == ["kernel='rbf'", "kernel='linear'"]
    assert places[1].get_xlabel() == "C"
    alone = plt.figure().add_subplot()
    assert found.plot(alone) is alone and alone.get_title() == "kernel='rbf'"


def test_more_parameters_show_the_least_error_over_the_rest():
    cells = [
        ({"C": C, "gamma": g, "coef0": c}, [0.1 * C + g + c, 0.1 * C + g + c])
        for C in (1.0, 2.0, 3.0)
        for g in (0.1, 0.2, 0.3)
        for c in (0.0, 0.01)
    ]
    found = tuning(cells, 0, ("C", "gamma", "coef0"))
    ax = found.plot()
    assert {ax.get_xlabel(), ax.get_ylabel()} == {"gamma", "C"}  # coef0 changes least
    ax = found.plot(params=["coef0", "gamma"], kind="heat")
    assert [t.get_text() for t in ax.texts] == ["0.2", "0.21", "0.3", "0.31", "0.4", "0.41"]
    ax = found.plot(params="coef0")
    np.testing.assert_allclose(ax.containers[0].lines[0].get_ydata(), [0.2, 0.21])
    with pytest.raises(ValueError, match="params names 'degree'"):
        found.plot(params=["degree"])
    with pytest.raises(ValueError, match="one or two"):
        found.plot(params=["C", "gamma", "coef0"])
    with pytest.raises(ValueError, match="kind='map'"):
        found.plot(kind="map")


def test_scattered_and_missing_cells_are_points():
    cells = full_grid()
    cells[3][1][0] = np.nan
    ax = tuning(cells).plot()
    assert len(ax.collections[0].get_offsets()) == 11
    ax = tuning(full_grid()[:5]).plot()
    assert len(ax.collections[0].get_offsets()) == 5


def test_a_single_cell_is_a_number():
    ax = tuning([({"C": 1.0}, [0.25, 0.35])], 0, ("C",)).plot()
    assert ax.texts[0].get_text() == "1 - accuracy 0.3"


def test_axes_are_logarithmic_where_ratios_are_even():
    assert _is_log(np.array([0.1, 1.0, 10.0])) and _is_log(np.array([0.1, 10.0]))
    assert not _is_log(np.array([1.0, 2.0, 3.0])) and not _is_log(np.array([0.0, 1.0, 10.0]))
    wide = _levels(np.array([0.01, 0.5]))
    np.testing.assert_allclose(np.diff(np.log(wide)), np.diff(np.log(wide))[0])
    even = _levels(np.array([0.3, 0.5]))
    np.testing.assert_allclose(np.diff(even), np.diff(even)[0])


def test_without_matplotlib_the_extra_is_named(without):
    without("matplotlib.pyplot")
    with pytest.raises(ImportError, match=r"tamiz\[plot\]"):
        tuning(full_grid()).plot()
