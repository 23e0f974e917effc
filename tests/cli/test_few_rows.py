"""Tables of too few rows, groups or times are refused in the words of the user."""

from __future__ import annotations

import pytest

from tamiz.cli.app import run
from tests.cli.programs import is_one_line


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.csv"
    path.write_text("a,b,y\n1,2,no\n3,4,yes\n", encoding="utf-8")
    return str(path)


def test_select_names_the_rows_that_are_needed(capsys, tiny):
    assert run(["select", tiny]) == 2
    err = capsys.readouterr().err
    assert is_one_line(err) and "2 rows" in err and "at least 4" in err
    assert "ColumnNames" not in err and "array" not in err


def test_fit_names_the_samples_that_folds_need(capsys, tiny, tmp_path):
    assert run(["fit", tiny, "--save", str(tmp_path / "z")]) == 2
    err = capsys.readouterr().err
    assert is_one_line(err) and "folds need 5 samples; there are 2" in err
