"""The table: indicators are distinguished from the columns of the file."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tamiz.base import Selection
from tamiz.data import DataWarning, load
from tamiz.evaluation.study import Study
from tamiz.reports import render
from tests.reports.tree import Node, read


def _section(text: str, tmp_path, lang: str = "en", **options) -> Node:
    path = tmp_path / "shop.csv"
    path.write_text(text, encoding="utf-8")
    data = load(path, **options)
    p = data.n_features
    chosen = Selection(np.arange(p), np.arange(p) < 1, np.ones(p), data.feature_names, "fisher")
    return read(render(Study(data, {"fisher": chosen}), lang)).one("data")


TEXT = "colour,size,same,sold\n" + "red,1.5,x,yes\nblue,2.5,x,no\ngreen,3.5,x,no\n" * 6


def test_indicators_are_counted_by_feature_and_by_column(tmp_path):
    said = _section(TEXT, tmp_path, encode="onehot", roles={"size": "numeric"}).text
    assert "4 of the features stand for levels of 2 columns" in said
    assert "“colour=blue”" in said


def test_one_column_is_not_counted_in_the_plural(tmp_path):
    said = _section(TEXT, tmp_path, "es", drop=["same"], roles={"size": "numeric"}).text
    assert "1 categórica," in said or "1 categórica)" in said
    many = _section(TEXT, tmp_path, "es", roles={"size": "numeric", "same": "categorical"}).text
    assert "2 categóricas" in many and "1 numérica)" in many


def test_codes_are_no_indicators(tmp_path):
    assert "stand for levels" not in _section(TEXT, tmp_path, roles={"size": "numeric"}).text


def test_a_constant_category_is_warned_of_once(tmp_path):
    part = _section(TEXT, tmp_path, encode="onehot", roles={"size": "numeric"})
    warned = part.of_class("warn")[0].text
    assert "“same”" in warned
    assert "same=x" not in warned


def test_a_doubtful_identifier_is_warned_of(tmp_path):
    order = np.random.default_rng(0).permutation(40) + 500
    rows = [f"{n},{k % 7}.5,{'yes' if k % 3 else 'no'}" for k, n in enumerate(order)]
    text = "\n".join(["ticket_number,size,sold", *rows, ""])
    with pytest.warns(DataWarning, match="Perhaps identifiers"):
        part = _section(text, tmp_path)
    assert "Perhaps identifiers (1 column): “ticket_number”" in part.of_class("warn")[0].text
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        assert not _section(text, tmp_path, drop=["ticket_number"]).of_class("warn")
