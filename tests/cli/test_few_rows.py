"""Tables of too few rows, groups or times are refused in the words of the user."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.cli.app import run
from tests.cli.programs import is_one_line, valid


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


@pytest.fixture
def by_town(tmp_path):
    """Writes a table of so many groups."""

    def write(n_groups):
        rng = np.random.default_rng(0)
        rows = ["town,day,a,b,y"]
        for k in range(60):
            a, b = rng.normal(size=2).round(3)
            rows.append(f"t{k % n_groups},{k // 3},{a},{b},{'yes' if a + b > 0 else 'no'}")
        path = tmp_path / f"{n_groups}.csv"
        path.write_text("\n".join(rows), encoding="utf-8")
        return str(path)

    return write


QUICK = ["-m", "fisher", "--judge", "linear", "--fdr", "0", "-q", "--json"]


def test_three_groups_are_three_folds(capsys, by_town):
    """No one asked for five."""
    given = ["select", by_town(3), "-t", "y", "--groups", "town", "--drop", "day", *QUICK]
    assert run(given) in (0, 1)  # whatever is found
    assert valid("select", capsys.readouterr().out)["plan"]["cv"] == 3


@pytest.mark.parametrize(
    ("n", "more", "said"),
    [(2, [], "3 groups; there are 2"), (4, ["--cv", "5"], "5 groups; there are 4")],
)
def test_too_few_groups_are_refused_before_the_plan(capsys, by_town, n, more, said):
    given = ["select", by_town(n), "-t", "y", "--groups", "town", *more]
    assert run(given) == 2
    err = capsys.readouterr().err
    assert said in err and "plan:" not in err


def test_groups_and_time_are_refused_before_anything_is_said_of_them(capsys, by_town):
    given = ["select", by_town(5), "-t", "y", "--groups", "town", "--time", "day"]
    assert run(given) == 2
    assert is_one_line(capsys.readouterr().err)


@pytest.mark.parametrize("rate", ["2", "-0.1", "nan"])
def test_a_rate_is_checked_before_the_table_is_read(capsys, rate):
    assert run(["select", "nowhere.csv", "--fdr", rate]) == 2
    err = capsys.readouterr().err
    assert is_one_line(err) and "--fdr" in err and "nowhere" not in err
