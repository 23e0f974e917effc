"""Panels of the selected features: bars where there are few values, densities elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.base import Selection
from tamiz.data import Dataset
from tamiz.evaluation.study import Study
from tamiz.reports import render
from tamiz.reports.language import LANGUAGES
from tamiz.reports.page import Page
from tamiz.reports.sections.features import few_numbers
from tests.reports.studies import other_study
from tests.reports.tree import Node, read


def _panel(column: np.ndarray) -> Node:
    y = np.arange(len(column)) % 2
    data = Dataset(column[:, None], y, ["a"], ["no", "yes"], task="classification", target="y")
    chosen = Selection(np.array([0]), np.array([True]), np.array([1.0]), ["a"], "fisher")
    return read(render(Study(data, {"fisher": chosen}))).one("features")


def test_an_indicator_is_drawn_as_bars_in_the_order_of_its_values():
    column = np.array([1.0, 1, 1, 0, 1, 1, 1, 0, 1, np.nan])
    part = _panel(column)
    assert part.of_class("bar")
    assert not part.of_class("area")
    shown = [node.text for node in part.of_class("small")]
    assert shown == ["0", "1"]  # though 1 is more frequent
    fractions = [node.text for node in part.of_class("tiny")]
    assert fractions == ["0%", "50%", "100%", "50%"]  # of rows with a value: no 5 of 5, yes 2 of 4


@pytest.mark.parametrize(
    "column",
    [np.linspace(0, 1, 30), np.arange(30.0) % 7, np.array([0.5, 1.5] * 10), np.array([1.0, 2, 3])],
)
def test_other_numbers_keep_their_density(column):
    assert few_numbers(column) is None
    assert _panel(column).of_class("area")


def test_counts_that_are_mostly_zero_are_bars():
    column = np.concatenate([np.zeros(60), np.arange(12.0), np.arange(12.0)])
    assert few_numbers(column) is not None
    assert _panel(column).of_class("bar")
    assert few_numbers(np.arange(84.0) % 12) is None


def test_missing_values_are_counted_above_the_picture():
    part = _panel(np.array([0.0, 1.0, np.nan, 0.0] * 5))
    panel = part.of_class("panel")[0].text
    assert panel.index("5 missing") < panel.index("Most frequent value")


def test_an_error_has_the_digits_of_its_interval():
    page = Page(other_study("regression"), LANGUAGES["en"])
    assert not page.in_percent
    assert page.error(56.0001) == "56.00" and page.error(48.391) == "48.39"
