"""Graphs of every kind of model answer what the model answers, on data sets known by name.

``tools/onnx_table.py`` does the same on all of them.
"""

from __future__ import annotations

import pytest

pytest.importorskip("onnxruntime")

from tools.onnx_table import CLASSIFIERS, REGRESSIONS, compare, fitted, tables

SETS = tables(
    ["d8", "vertebral_3c", "hmeq", "corral", "srbct", "diabetes", "gametes_2way_continuous"], 100
)


@pytest.mark.parametrize("title", [*CLASSIFIERS, *REGRESSIONS])
def test_numbers_to_1e_5_and_every_clear_label(title):
    checked = 0
    for _, X, y, classes in SETS:
        if (title in CLASSIFIERS) != classes:
            continue
        model = fitted((CLASSIFIERS | REGRESSIONS)[title](), X, y)
        difference, wrong, _, _ = compare(model, X)
        assert difference < 1e-5
        assert wrong == 0
        checked += 1
    assert checked == (5 if title in CLASSIFIERS else 2)
