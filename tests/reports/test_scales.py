"""Axes: places, round marks, widths of text."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tamiz.reports.charts.scales import Linear, Log, cut, nice_ticks, text_width


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-3, 17), (0.001, 0.0042), (1e6, 9e9), (-1e-9, 1e-9), (99.5, 100.5)]
)
@pytest.mark.parametrize("most", [2, 5, 10])
def test_marks_are_round_inside_and_few(low, high, most):
    ticks = nice_ticks(low, high, most)
    assert 1 <= len(ticks) <= most + 1
    room = 1e-9 * (high - low)
    assert all(low - room <= tick <= high + room for tick in ticks)
    if len(ticks) > 1:
        steps = np.diff(ticks)
        assert steps == pytest.approx(steps[0])
        lead = steps[0] / 10 ** math.floor(math.log10(steps[0]) + 1e-9)
        assert min(abs(lead - f) for f in (1, 2, 2.5, 5, 10)) < 1e-6


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (0, math.inf), (math.nan, 1)])
def test_an_axis_without_length_has_one_mark(low, high):
    assert len(nice_ticks(low, high, 5)) == 1


@pytest.mark.parametrize(
    "scale", [Linear(2, 50, 10, 110), Log(2, 50, 10, 110), Log(2, 50, 110, 10)]
)
def test_ends_are_at_the_ends_and_what_is_beyond_too(scale):
    assert scale(2) == pytest.approx(scale.start)
    assert scale(50) == pytest.approx(scale.end)
    assert scale(1e9) == pytest.approx(scale.end)
    assert scale(0) == pytest.approx(scale.start)
    places = [scale(v) for v in (2, 5, 10, 20, 50)]
    assert places in (sorted(places), sorted(places, reverse=True))


def test_equal_factors_are_equal_distances():
    x = Log(1, 1000, 0, 300)
    assert [x(v) for v in (1, 10, 100, 1000)] == pytest.approx([0, 100, 200, 300])


@pytest.mark.parametrize("high", [3, 30, 200, 16_063, 1e12])
@pytest.mark.parametrize("most", [3, 6, 12])
def test_marks_of_a_logarithmic_axis(high, most):
    ticks = Log(1, high, 0, 100).ticks(most)
    assert 1 <= len(ticks) <= most
    assert all(1 <= tick <= high * 1.001 for tick in ticks)


def test_one_value_is_in_the_middle():
    assert Linear(3, 3, 0, 10)(3) == 5
    assert Log(3, 3, 0, 10)(3) == 5


def test_cut_fits_and_keeps_what_fits():
    assert cut("short", 100) == "short"
    for text in (
        "a very long name of a feature",
        "漢字漢字漢字漢字",
        "iiiiiiiiiiiiiiiiii",
        "x" * 500,
    ):
        found = cut(text, 60)
        assert text_width(found) <= 60
        assert found.endswith("…")
