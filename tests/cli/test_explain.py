"""``tamiz explain``: what features add to the predictions of a kept model."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

import tamiz
from tamiz.cli import explain as command
from tamiz.cli.app import main
from tamiz.cli.app import run as start
from tamiz.explain import shapley
from tests.calls import clocked, interrupted
from tests.cli.programs import is_one_line, valid


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explained")
    rng = np.random.default_rng(0)
    rows = [["customer_id", "town", "age", "income", "buys"]]
    for k in range(90):
        income = f"{rng.normal() + 3 * (k % 2):.3f}" if k != 7 else ""
        town = ("ibi", "onil", "tibi")[k % 3]
        rows.append([f"{k * 13:05d}", town, 20 + k % 40, income, ("no", "yes")[k % 2]])
    with open(folder / "people.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with pytest.raises(SystemExit) as left:
            main(["fit", "people.csv", "--save", "m.tamiz", "-q"])
        assert left.value.code == 0
    return folder


@pytest.fixture(autouse=True)
def here(place, monkeypatch):
    monkeypatch.chdir(place)


def run(capsys, *arguments):
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main([str(one) for one in arguments])
    told = capsys.readouterr()
    return left.value.code, told.out, told.err


def whole_run(capsys, *arguments):
    """With the exit code that an interrupted program leaves with, and not its end at once."""
    capsys.readouterr()
    code = start([str(one) for one in arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_values_and_base_sum_to_the_decision_value(capsys):
    code, out, _ = run(capsys, "explain", "m.tamiz", "people.csv", "--json")
    assert code == 0
    found = valid("explain", out)
    model = tamiz.load("m.tamiz")
    assert found["method"] == "exact" and found["features"] == model.columns
    total = found["base"] + np.sum(found["values"], axis=1)
    _, predicted, _ = run(capsys, "predict", "m.tamiz", "people.csv", "--json")
    np.testing.assert_allclose(total, valid("predict", predicted)["scores"], atol=1e-6)
    assert found["ids"]["customer_id"][1] == "00013"


def test_rows_are_printed_with_the_features_that_matter(capsys):
    code, out, err = run(capsys, "explain", "m.tamiz", "people.csv", "--top", "1")
    lines = out.splitlines()
    assert code == 0 and "customer_id" in lines[0] and "base" in lines[0]
    assert "income" in lines[2] and "others" in lines[2]
    assert "20 of 90 rows" in err
    base = float(re.search(r"base (\S+)", lines[0])[1])
    for line in lines[1:21]:
        value = float(re.search(r"(?:no|yes)\s+(\S+)", line)[1])
        parts = [float(part) for part in re.findall(r"[^,]+ ([+-][\d.e-]+)(?:,|$)", line)]
        assert len(parts) == 2 and value == pytest.approx(base + sum(parts), abs=0.02)
    assert any(line.startswith("income ") for line in lines[-6:])


def test_files(capsys, place):
    code, out, err = run(capsys, "explain", "m.tamiz", "people.csv", "-o", "why.csv", "-q")
    assert code == 0 and not out
    with open(place / "why.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    model = tamiz.load("m.tamiz")
    parts = [sum(float(row[name]) for name in model.columns) for row in rows]
    for row, part in zip(rows, parts, strict=True):
        assert float(row["value"]) == pytest.approx(float(row["base"]) + part, abs=1e-4)
    assert run(capsys, "explain", "m.tamiz", "people.csv", "-o", "why.png")[0] == 0
    assert (place / "why.png").stat().st_size > 5000
    code, _, err = run(capsys, "explain", "m.tamiz", "people.csv", "-o", "why.xlsx")
    assert code == 2 and is_one_line(err) and "CSV" in err


def test_a_background_of_its_own(capsys):
    code, out, _ = run(
        capsys, "explain", "m.tamiz", "people.csv", "--background", "people.csv", "--json"
    )
    same = valid("explain", run(capsys, "explain", "m.tamiz", "people.csv", "--json")[1])
    assert code == 0
    np.testing.assert_allclose(valid("explain", out)["values"], same["values"])


@pytest.mark.parametrize("n", [1, 9])
def test_few_rows_are_not_their_own_background(capsys, place, n):
    """Compared with itself, a single row would have nothing but zeros."""
    with open(place / "people.csv", encoding="utf-8") as file:
        lines = file.readlines()[: n + 1]
    (place / "few.csv").write_text("".join(lines), encoding="utf-8")
    code, out, err = run(capsys, "explain", "m.tamiz", "few.csv")
    assert code == 2 and not out and is_one_line(err)
    assert f"{n} row" in err and "--background" in err
    asked = ("explain", "m.tamiz", "few.csv", "--background", "people.csv", "--json")
    code, out, _ = run(capsys, *asked)
    found = valid("explain", out)
    whole = valid("explain", run(capsys, "explain", "m.tamiz", "people.csv", "--json")[1])
    assert code == 0 and np.abs(found["values"]).max() > 0.1
    np.testing.assert_allclose(found["values"], whole["values"][:n], atol=1e-9)


def test_equal_rows_are_not_their_own_background(capsys, place):
    with open(place / "people.csv", encoding="utf-8") as file:
        lines = file.readlines()[:2]
    (place / "same.csv").write_text("".join([lines[0], *[lines[1]] * 30]), encoding="utf-8")
    code, out, err = run(capsys, "explain", "m.tamiz", "same.csv")
    assert code == 2 and not out and is_one_line(err)
    assert "1 different row, in 30" in err and "--background" in err


def test_what_goes_wrong_is_one_line(capsys):
    code, _, err = run(capsys, "explain", "nowhere.tamiz", "people.csv")
    assert code == 2 and is_one_line(err)
    code, _, err = run(capsys, "explain", "m.tamiz", "people.csv", "--output", "maybe")
    assert code == 2 and is_one_line(err) and "output" in err


def test_several_classes_and_a_tree(capsys):
    assert run(capsys, "fit", "iris", "--save", "i.tamiz", "--judge", "tree", "-q")[0] == 0
    code, _, err = run(capsys, "explain", "i.tamiz", "iris", "--output", "virginica")
    assert code == 0 and "standard errors" in err
    found = valid("explain", run(capsys, "explain", "i.tamiz", "iris", "--json")[1])
    assert found["method"] == "permutations" and found["outputs"][2] == "virginica"
    third = valid(
        "explain", run(capsys, "explain", "i.tamiz", "iris", "--output", "2", "--json")[1]
    )
    assert third["output"] == "virginica" and third["values"] != found["values"]


@pytest.fixture(scope="module")
def pairs(place):
    """A model of three classes with a machine for each pair of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        with pytest.raises(SystemExit) as left:
            main(
                [
                    "fit",
                    "iris",
                    "--save",
                    "p.tamiz",
                    "--judge",
                    "svc-linear",
                    "-m",
                    "mrmr",
                    "-k",
                    "2",
                    "-q",
                ]
            )
        assert left.value.code == 0
    return "p.tamiz"


def test_of_several_classes_the_decision_is_named(capsys, place, pairs):
    """With three classes a value may be of any pair, and the prediction of none of the two."""
    found = valid("explain", run(capsys, "explain", pairs, "iris", "--json")[1])
    first, second, third = found["outputs"]
    code, out, _ = run(capsys, "explain", pairs, "iris")
    assert code == 0
    assert (
        out.splitlines()[0] == f"explained: {first!r}; others, with --output: {second!r}, {third!r}"
    )
    code, out, _ = run(capsys, "explain", pairs, "iris", "--output", second)
    assert out.startswith(f"explained: {second!r}; others, with --output: {first!r}, {third!r}\n")
    code, out, err = run(capsys, "explain", pairs, "iris", "--output", "2", "-o", "pairs.csv")
    assert code == 0 and not out and f"explained: {third!r}" in err and repr(first) in err
    with open(place / "pairs.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["output"] for row in rows} == {third}
    _, _, err = run(capsys, "explain", pairs, "iris", "--output", first)
    third_class = (set(second.split(" over ")) | set(third.split(" over "))) - set(
        first.split(" over ")
    )
    neither = sum(label in third_class for label in found["predictions"])
    assert neither > 10 and f"{neither} of 150 rows are predicted to be neither" in err
    _, out, _ = run(capsys, "explain", "m.tamiz", "people.csv")
    assert "explained" not in out  # of two classes there is one decision


def test_a_picture_is_of_the_decision_that_is_asked_for(capsys, place, pairs):
    """The bars of another decision are others, and the axis names the decision."""
    outputs = valid("explain", run(capsys, "explain", pairs, "iris", "--json")[1])["outputs"]
    drawn = []
    for k, name in enumerate(outputs):
        asked = ("explain", pairs, "iris", "--output", k, "-o", "pair.svg")
        code, _, err = run(capsys, *asked)
        assert code == 0 and f"explained: {name!r}" in err
        text = (place / "pair.svg").read_text(encoding="utf-8")
        assert f"<!-- mean absolute Shapley value of {name} -->" in text
        drawn.append(re.search(r'id="patch_3">.*?</g>', text, re.DOTALL)[0])
        assert run(capsys, *asked[:-1], "pair.png")[0] == 0
        drawn.append((place / "pair.png").read_bytes())
    assert len(set(drawn)) == 2 * len(outputs)


@pytest.fixture(scope="module")
def forest(place):
    """A sampled model, whose value is a probability, of a category and two numbers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        given = ["people.csv", "--judge", "forest", "-p", "n_estimators=5", "--cv", "0", "-q"]
        with pytest.raises(SystemExit) as left:
            main(["fit", *given, "--save", "f.tamiz"])
        assert left.value.code == 0
    return "f.tamiz"


def test_the_head_says_from_where_on_values_speak_for_the_second_class(capsys, forest):
    """0.43 of a forest is no, though it lies above zero."""
    quick = ("--rows", "12", "--permutations", "10")
    _, out, _ = run(capsys, "explain", forest, "people.csv", *quick)
    assert "value (yes > 0.5)" in out.splitlines()[0]
    _, out, _ = run(capsys, "explain", "m.tamiz", "people.csv")
    assert "value (yes > 0)" in out.splitlines()[0]
    for name in (forest, "m.tamiz"):
        found = valid("explain", run(capsys, "explain", name, "people.csv", *quick, "--json")[1])
        total = found["base"] + np.sum(found["values"], axis=1)
        clear = np.abs(total - found["limit"]) > 1e-9  # of a tie either may be predicted
        assert clear.any()
        said = np.where(total > found["limit"], "yes", "no")
        np.testing.assert_array_equal(said[clear], np.array(found["predictions"])[clear])


def test_a_categorical_column_has_one_number(capsys, place, forest):
    """Values of its indicators would name towns that a row is not of."""
    for name in (forest, "m.tamiz"):
        given = ("--rows", "4", "--permutations", "10", "--top", "9")
        _, out, _ = run(capsys, "explain", name, "people.csv", *given)
        assert "town=" not in out and "town " in out
        found = valid("explain", run(capsys, "explain", name, "people.csv", *given, "--json")[1])
        assert found["features"] == tamiz.load(name).columns
    assert run(capsys, "explain", forest, "people.csv", *given, "-o", "towns.png")[0] == 0


def test_rows_are_limited(capsys, forest):
    given = ("--rows", "3", "--permutations", "10", "--json")
    found = valid("explain", run(capsys, "explain", forest, "people.csv", *given)[1])
    assert found["n_samples"] == len(found["values"]) == len(found["predictions"]) == 3
    assert found["ids"]["customer_id"] == ["00000", "00013", "00026"]


def test_interruption_keeps_the_rows_that_are_done(capsys, place, forest):
    given = ("explain", forest, "people.csv", "--permutations", "10", "-q")
    with interrupted(shapley, "_draws", at=4):
        code, out, err = whole_run(capsys, *given, "--json")
    found = valid("explain", out)
    assert code == 130 and found["n_samples"] == 3 == len(found["ids"]["customer_id"])
    assert "stopped" in found["notes"][-1]
    with interrupted(shapley, "_draws", at=4):
        code, _, err = whole_run(capsys, *given, "-o", "part.csv")
    assert code == 130 and "nothing was finished" not in err
    with open(place / "part.csv", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 3


class Clock:
    """In the place of the module ``time``: it goes on only where the test says so."""

    now = 0.0

    def perf_counter(self):
        return self.now


def test_a_long_run_is_announced(capsys, forest):
    given = ("explain", forest, "people.csv", "--rows", "5", "--permutations", "10")
    assert "take about" not in run(capsys, *given)[2]
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch, clocked(shapley, "_draws", clock, 30.0):
        patch.setattr(command, "time", clock)
        told = run(capsys, *given)[2]
    assert "5 rows take about 2 minutes" in told and "--rows and --permutations" in told
    assert "take about" not in run(capsys, *given, "-q")[2]
