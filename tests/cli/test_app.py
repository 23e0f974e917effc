"""Exit codes and sentences, in this process: quick enough for many."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.utils.fixes import parse_version

from tamiz.cli.app import run as run_program
from tests.calls import interrupted
from tests.cli.programs import is_one_line, valid


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("app")
    rng = np.random.default_rng(0)
    with open(folder / "t.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["colour", "a", "b", "c", "y"])
        for k in range(40):
            row = [f"{rng.normal() + 2 * (k % 2):.3f}", f"{rng.normal():.3f}", k % 5]
            writer.writerow([("rød", "grün")[k % 3 == 0], *row, ("nein", "ja")[k % 2]])
    return folder


@pytest.fixture(autouse=True)
def here(place, monkeypatch):
    monkeypatch.chdir(place)


def run(capsys, *arguments):
    code = run_program([str(one) for one in arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


QUICK = ["-m", "fisher", "--repeats", "1", "--cv", "2", "-j", "1", "--sizes", "1,2"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["select", "t.csv", *QUICK[:-1], "99"], "sizes holds 99"),
        (["select", "t.csv", "-m", "fisher", "--repeats", "0"], "--repeats 0"),
        (
            ["select", "t.csv", "-m", "fisher", "--cv", "1"],
            "--cv 1 must be an integer number of folds from 2.",
        ),
        (["compare", "t.csv", "-m", "fisher", "--jobs", "0"], "--jobs 0"),
        (["select", "t.csv", "-m", "fisher", "--time-budget", "-1"], "--time-budget -1"),
        (["select", "t.csv", "-m", "fisher", "--permutations", "-3"], "--permutations -3"),
        (["rank", "t.csv", "-m", "mrmr", "-p", "n_bins=-3"], "'n_bins' parameter of MRMR"),
        (["rank", "t.csv", "--out", os.devnull], "a device or a pipe"),
        (["select", "t.csv", "--out", "m.pdf"], "must end in .html or .htm, such as m.html."),
        (["compare", "t.csv", "-m", "fisher", "--out", "m"], "one page of HTML"),
        (["rank", "t.csv", "--out", "m.csv"], "must end in .html or .htm"),
        (["tune", "t.csv", "--out", "m.json"], "must end in .html or .htm"),
        (["demo", "--out", "m.png"], "must end in .html or .htm"),
        (["predict", "m.tamiz", "t.csv", "--out", "m.csv.gz"], "must end in .csv or .txt"),
        (
            ["fit", "t.csv", "--save", "m", "-m", "fisher", "-k", "99"],
            "-k 99 is not possible: the table has 4 features.",
        ),
        (["fit", "t.csv", "--save", "m", "-m", "fisher", "-k", "-2"], "-k -2 is not possible"),
        (["fit", "t.csv", "--save", "m", "-m", "all", "-k", "2"], "takes every feature"),
        (["fit", "t.csv", "--save", "m", "-p", "C=-1"], "'C' parameter of SVC"),
        (["fit", "t.csv", "--save", "m", "--cv", "-2"], "--cv -2"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(capsys, arguments, words):
    code, out, err = run(capsys, *arguments, "-q")
    assert code == 2, err
    assert is_one_line(err) and words in err
    assert out == "" and not Path("m").exists()


@pytest.mark.parametrize(
    ("command", "missing"),
    [(name, "data") for name in ("select", "rank", "compare", "tune", "fit")]
    + [(name, "model") for name in ("predict", "show")],
)
def test_a_missing_argument_is_named(capsys, command, missing):
    code, out, err = run(capsys, command)
    assert (code, out) == (2, "")
    assert is_one_line(err)
    assert f"missing argument '{missing}'" in err.lower()  # some versions write DATA
    assert f"See: tamiz {command} --help" in err


def test_fit_says_that_a_level_of_a_category_counts_as_a_column(capsys):
    rows = "".join(f"{'rgb'[k % 3]},{k * 7 % 11 / 2},{'yn'[k % 2]}\n" for k in range(30))
    Path("levels.csv").write_text("colour,a,sold\n" + rows, encoding="utf-8")
    code, _, err = run(capsys, "fit", "levels.csv", "-s", "m", "-m", "fisher", "-k", "5", "-q")
    assert code == 2
    assert "the table has 4 features, as each level of a category is one here." in err


def test_no_command_shows_the_help_and_no_empty_sentence(capsys):
    code, out, err = run(capsys)
    assert "Usage" in out + err
    assert code in (0, 2) and "tamiz:  See" not in err


def test_fit_without_a_method_keeps_a_model_of_all_features(capsys):
    code, out, err = run(capsys, "fit", "t.csv", "--save", "all.tamiz", "--json")
    assert code == 0, err
    assert valid("fit", out)["features"] == ["colour=rød", "a", "b", "c"]
    code, out, err = run(capsys, "predict", "all.tamiz", "t.csv", "--json", "--out", "p.csv")
    assert code == 0, err
    document = valid("predict", out)  # one document, and nothing else
    with open("p.csv", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert [row[0] for row in rows[1:]] == document["predictions"]
    assert "p.csv" in err and "error on these rows" in err


def test_rows_without_the_target_are_not_counted_as_wrong(capsys):
    run(capsys, "fit", "t.csv", "--save", "f.tamiz", "-m", "fisher", "-k", "1", "--cv", "0")
    with open("t.csv", encoding="utf-8") as file:
        lines = file.read().splitlines()
    with open("some.csv", "w", encoding="utf-8") as file:
        file.write("\n".join([*lines[:5], *[line.rpartition(",")[0] + "," for line in lines[5:]]]))
    code, out, err = run(capsys, "predict", "f.tamiz", "some.csv")
    assert code == 0 and len(out.splitlines()) == 41
    assert "% of 4\n" in err
    with open("none.csv", "w", encoding="utf-8") as file:
        file.write("\n".join(line.rpartition(",")[0] for line in lines))
    code, out, err = run(capsys, "predict", "f.tamiz", "none.csv")
    assert code == 0 and "error" not in err


@pytest.mark.ours
def test_a_budget_ends_a_run_without_failure_and_noise_gives_no_model(capsys, clock):
    clock.step = 0.02
    many = ["-m", "fisher", "--repeats", "300", "--cv", "2", "-j", "1", "--sizes", "1,2"]
    code, out, err = run(capsys, "select", "t.csv", *many, "--time-budget", "15", "--json")
    found = valid("select", out)
    assert code == 0 and found["comparison"]["status"] == "time budget"
    assert found["honest"]["n_splits"] < 600
    with open("noise.csv", "w", encoding="utf-8") as file:
        file.write("a,b,y\n" + "\n".join(f"{k * 7 % 11},{k * 5 % 13},{k % 2}" for k in range(60)))
    code, out, err = run(capsys, "select", "noise.csv", *QUICK, "--save", "none.tamiz", "--json")
    assert valid("select", out)["recommended"] is None
    assert code == 1 and "no model for none.tamiz" in err and not Path("none.tamiz").exists()


def test_ctrl_c_before_anything_is_code_130(capsys):
    from tamiz.filters import FisherScore

    with interrupted(FisherScore, "fit", at=None):
        for command in ("select", "compare"):
            code, out, err = run(capsys, command, "t.csv", *QUICK)
            assert (code, out) == (130, "") and "nothing was finished" in err
        code, out, err = run(capsys, "rank", "t.csv", "-m", "fisher")
        assert (code, out) == (130, "")


def test_warnings_stay_off_standard_output(capsys, monkeypatch):
    import warnings

    from tamiz.filters import FisherScore

    before = FisherScore.fit

    def doubt(self, X, y=None):
        warnings.warn("I have doubts", UserWarning, stacklevel=2)
        return before(self, X, y)

    monkeypatch.setattr(FisherScore, "fit", doubt)
    code, out, err = run(capsys, "select", "t.csv", *QUICK, "--json")
    assert code == 0, err
    valid("select", out)
    assert "I have doubts" in err


class Narrow:
    """Standard output that can show ASCII only."""

    def __init__(self):
        import io

        self.raw = io.BytesIO()
        self.stream = io.TextIOWrapper(self.raw, encoding="ascii")

    def text(self):
        self.stream.flush()
        return self.raw.getvalue().decode("ascii")


def narrowed(monkeypatch):
    """In the body of a test: between its phases pytest sets standard output anew."""
    from tamiz.cli.console import tolerate_encoding

    found = Narrow()
    monkeypatch.setattr(sys, "stdout", found.stream)
    tolerate_encoding()
    return found


def test_a_terminal_without_the_signs_gets_others(monkeypatch):
    narrow = narrowed(monkeypatch)
    assert run_program(["select", "t.csv", *QUICK]) == 0
    assert "Smallest" in narrow.text()


def test_json_is_exact_in_any_encoding(monkeypatch):
    narrow = narrowed(monkeypatch)
    assert run_program(["rank", "t.csv", "-m", "fisher", "--json"]) == 0
    assert "colour=rød" in [f["name"] for f in json.loads(narrow.text())["features"]]


def test_classes_are_not_changed_by_the_encoding(monkeypatch, capsys):
    narrow = narrowed(monkeypatch)
    fit = ["fit", "t.csv", "--save", "n.tamiz", "-t", "colour", "-m", "fisher", "-k", "1"]
    assert run_program([*fit, "--cv", "0"]) == 0
    told = narrow.text()
    assert run_program(["predict", "n.tamiz", "t.csv"]) == 1
    assert narrow.text() == told
    assert "use --out FILE" in capsys.readouterr().err


def test_a_command_imports_no_more_than_it_needs(tmp_path):
    """A ranking by a filter waits neither for figures nor for searches, trees and studies."""
    table = tmp_path / "t.csv"
    table.write_text("a,b,class\n" + "1,2,x\n3,1,y\n" * 8, encoding="utf-8")
    code = (
        "import sys; from tamiz.cli.app import run; code = run(['rank', sys.argv[1], '-q']); "
        "print(code, *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, table], capture_output=True, text=True, check=True, timeout=300
    )
    code, *loaded = done.stdout.splitlines()[-1].split()
    assert code == "0"
    needless = {"matplotlib", "dask", "polars", "scipy.stats"}
    if parse_version(sklearn.__version__) >= parse_version("1.9"):  # older ones use these at once
        needless |= {"pandas", "scipy.special", "scipy.optimize", "scipy.spatial"}
        needless |= {"numpy.f2py", "numpy.testing"}
    rooms = ("feature_selection", "metrics", "model_selection", "neighbors", "linear_model")
    needless |= {f"sklearn.{room}" for room in (*rooms, "preprocessing", "tree", "ensemble")}
    rooms = ("reports", "tree", "svm", "search", "evaluation.study", "evaluation.comparison")
    needless |= {f"tamiz.{room}" for room in rooms}
    assert needless.intersection(loaded) == set()
