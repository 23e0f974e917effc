"""A kept model in use: ``fit``, ``show`` and ``predict`` in this process."""

from __future__ import annotations

import csv
import io
import json
import sys

import numpy as np
import pytest

import tamiz
from tamiz.cli.app import main
from tamiz.kernels import GapWeighted
from tests.cli.programs import is_one_line, valid


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    rng = np.random.default_rng(0)
    rows = [["customer_id", "town", "age", "income", "noise", "buys"]]
    for k in range(90):
        income = rng.normal() + 3 * (k % 2)
        rows.append(
            [f"{k * 13:05d}", ("ibi", "onil", "tibi")[k % 3], 20 + k % 40, f"{income:.3f}",
             f"{rng.normal():.3f}", ("no", "yes")[k % 2]]
        )  # fmt: skip
    write(folder / "people.csv", rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        fit = ["fit", "people.csv", "--save", "m.tamiz", "-m", "fisher", "-k", "1", "-p", "C=2"]
        assert exit_code(*fit, "--judge", "svc-linear", "-q") == 0
    return folder


@pytest.fixture(autouse=True)
def here(place, monkeypatch):
    monkeypatch.chdir(place)


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def exit_code(*arguments):
    with pytest.raises(SystemExit) as left:
        main([str(one) for one in arguments])
    return left.value.code


def run(capsys, *arguments):
    capsys.readouterr()
    code = exit_code(*arguments)
    told = capsys.readouterr()
    return code, told.out, told.err


def table(text):
    return list(csv.reader(io.StringIO(text)))


def test_one_column_is_enough_and_probabilities_follow_the_prediction(capsys):
    write("few.csv", [["other", "income"], ["x", "5.5"], ["y", "-2"], ["x", ""]])
    code, out, err = run(capsys, "predict", "m.tamiz", "few.csv")
    assert code == 0, err
    head, *rows = table(out)
    assert head == ["buys", "p(no)", "p(yes)", "score"]
    assert [row[0] for row in rows[:2]] == ["yes", "no"]
    for row in rows:
        no, yes = map(float, row[1:3])
        assert no + yes == pytest.approx(1, abs=1e-5)
    assert float(rows[0][2]) > 0.9 and float(rows[1][1]) > 0.9
    assert float(rows[0][3]) > 0 > float(rows[1][3])
    assert "1 missing value:" in err


def test_identifiers_are_copied_as_the_file_has_them(capsys):
    code, out, err = run(capsys, "predict", "m.tamiz", "people.csv")
    head, *rows = table(out)
    assert code == 0 and head == ["customer_id", "buys", "p(no)", "p(yes)", "score"]
    assert [row[0] for row in rows[:3]] == ["00000", "00013", "00026"]
    assert "error on these rows" in err
    code, out, _ = run(capsys, "predict", "m.tamiz", "people.csv", "--no-id")
    assert table(out)[0][0] == "buys"
    chosen = ["--id", "town", "--id", "income"]
    code, out, _ = run(capsys, "predict", "m.tamiz", "people.csv", *chosen, "--json")
    document = valid("predict", out)
    assert list(document["ids"]) == ["town", "income"] and document["ids"]["town"][1] == "onil"
    assert document["probabilities"].keys() == {"no", "yes"} and document["error"] < 0.2
    chances = np.array(list(document["probabilities"].values()))
    np.testing.assert_allclose(chances.sum(axis=0), 1)


def test_identifiers_are_known_in_a_table_of_two_rows_and_beyond_floats(capsys):
    # of what the model saw as one; by its name; text of digits that no float holds
    write(
        "two.csv",
        [["income", "row_id", "customer_id"], ["1", "9007199254740993", "7"], ["2", "02", "8"]],
    )
    code, out, _ = run(capsys, "predict", "m.tamiz", "two.csv")
    head, *rows = table(out)
    assert code == 0 and head[:3] == ["row_id", "customer_id", "buys"]
    assert [row[:2] for row in rows] == [["9007199254740993", "7"], ["02", "8"]]


def test_output_columns_have_distinct_names(capsys):
    write("same.csv", [["score", "p(no)", "income"], ["1", "2", "3"]])
    code, out, _ = run(capsys, "predict", "m.tamiz", "same.csv", "--id", "score", "--id", "p(no)")
    assert code == 0
    assert table(out)[0] == ["score", "p(no)", "buys", "p(no)_", "p(yes)", "score_"]


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        ([["Income"], ["1"]], [], "lacks 1 of the 1 columns that the model needs: 'income'. Did"),
        ([["income"], ["much"]], [], "column 'income' held numbers when the model was fitted"),
        ([["income"]], [], "no rows"),
        ([["income", "customer_id"], ["1", "2"]], ["--id", "customer"], "mean 'customer_id'"),
    ],
)
def test_tables_that_do_not_fit_get_one_line(capsys, rows, options, words):
    write("bad.csv", rows)
    code, out, err = run(capsys, "predict", "m.tamiz", "bad.csv", *options)
    assert (code, out) == (2, "") and is_one_line(err) and words in err


def test_show_writes_a_graph_that_answers_as_the_model(capsys):
    runtime = pytest.importorskip("onnxruntime")
    fit = ["fit", "people.csv", "--save", "g.tamiz", "--drop", "age", "--judge", "svc-rbf", "-q"]
    assert run(capsys, *fit)[0] == 0
    code, out, err = run(capsys, "show", "g.tamiz", "--onnx", "g.onnx")
    assert code == 0 and "predicts" in out and "the graph is in g.onnx" in err
    session = runtime.InferenceSession("g.onnx")
    facts = {k: json.loads(v) for k, v in session.get_modelmeta().custom_metadata_map.items()}
    model = tamiz.load("g.tamiz")
    assert facts["features"] == model.features_ and "town=ibi" in facts["features"]
    assert facts["target"] == "buys" and facts["classes"] == ["no", "yes"]
    with open("people.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    X = [
        [float(row[n]) if "=" not in n else row["town"] == n.split("=")[1] for n in model.features_]
        for row in rows
    ]
    X = np.array(X, dtype=float)
    label, values = session.run(["label", "decisions"], {"X": X})
    np.testing.assert_allclose(values, model.decision_function(X), rtol=1e-9, atol=1e-9)
    named = np.array(facts["classes"])[np.searchsorted(facts["labels"], label)]
    assert named.tolist() == model.predict(X).tolist()


def test_a_graph_that_cannot_be_written_is_refused_in_one_line(capsys):
    code, out, err = run(capsys, "show", "m.tamiz", "--onnx", "m.csv")
    assert (code, out) == (2, "") and is_one_line(err) and "m.onnx" in err
    texts = tamiz.SVC(kernel=GapWeighted(2)).fit(["aab", "bba", "aaa"], [0, 1, 0])
    tamiz.save(texts, "texts.tamiz")
    code, out, err = run(capsys, "show", "texts.tamiz", "--onnx", "texts.onnx")
    assert (code, out) == (2, "") and is_one_line(err) and "ONNX" in err
    tamiz.save(tamiz.SVC().fit([[0.0], [1.0]], [0, 1]), "plain.tamiz")
    code, _, err = run(capsys, "show", "plain.tamiz", "--onnx", "plain.onnx")
    assert code == 0 and "the graph is in plain.onnx" in err


def test_unseen_category_is_a_note(capsys):
    fit = ["fit", "people.csv", "--save", "town.tamiz", "--drop", "age,income,noise", "-q"]
    assert run(capsys, *fit)[0] == 0
    write("town.csv", [["town"], ["elda"], ["ibi"]])
    code, out, err = run(capsys, "predict", "town.tamiz", "town.csv", "--json")
    document = valid("predict", out)
    assert code == 0 and "'town' holds 'elda'" in document["notes"][0] and "'elda'" in err
    card = run(capsys, "show", "town.tamiz")[1].splitlines()
    assert [line.split()[1:] for line in card if line.startswith("features")] == [
        ["1", "(as", "3", "numbers)"]
    ]
    assert "               town" in card  # the column, once


def test_show_prints_the_card(capsys):
    code, out, err = run(capsys, "show", "m.tamiz")
    assert (code, err) == (0, "")
    lines = dict(line.split(None, 1) for line in out.splitlines() if line[0] != " ")
    assert lines["predicts"] == "buys (classification)"
    assert lines["classes"] == "no (45 rows), yes (45 rows)"
    assert lines["judge"].startswith("svc-linear (C=2")
    assert lines["needs"] == "1 columns of a table: income"
    assert "5-fold cross-validation" in lines["expect"] and "%" in lines["expect"]
    assert "90 rows" in lines["probabilities"]
    document = valid("show", run(capsys, "show", "m.tamiz", "--json")[1])
    assert document["features"] == [{"name": "income", "column": "income"}]
    honest = document["honest"]
    assert 0 <= honest["low"] <= honest["error"] <= honest["high"] < 0.3
    assert document["n_samples"] == 90 and document["method"] == "fisher"


def test_a_model_of_a_rare_class_reports_the_balanced_error_too(capsys):
    model = tamiz.load("m.tamiz")
    model.card = model.card | {"honest": {"error": 0.1, "metric": "balanced error"}}
    model.card["params"] = {"C": 50 / 3}
    tamiz.save(model, "rare.tamiz")
    write("rare.csv", [["income", "buys"], ["-2", "no"], ["5", "yes"], ["-2", "yes"]])
    err = run(capsys, "predict", "rare.tamiz", "rare.csv")[2]
    assert "error on these rows: 33.3 % of 3; balanced error 25.0 %" in err
    assert "balanced" not in run(capsys, "predict", "m.tamiz", "rare.csv")[2]
    assert "(C=16.67)" in run(capsys, "show", "rare.tamiz")[1]


def test_a_model_that_is_not_there_gets_a_sentence(capsys):
    code, _, err = run(capsys, "show", "nowhere.tamiz")
    assert code == 2 and err.startswith("tamiz: cannot read 'nowhere.tamiz': there is no such")


def test_fit_reports_the_error_that_the_card_keeps(capsys):
    fit = ["fit", "people.csv", "--save", "n.tamiz", "-m", "fisher", "-k", "2", "--json"]
    document = valid("fit", run(capsys, *fit, "-q")[1])
    honest = tamiz.load("n.tamiz").about()["honest"]
    assert (document["error"], document["low"]) == (honest["error"], honest["low"])
    assert document["columns"] == tamiz.load("n.tamiz").columns
    document = valid("fit", run(capsys, *fit, "--cv", "0", "-q")[1])
    assert document["error"] is None and "honest" not in tamiz.load("n.tamiz").about()
    assert tamiz.load("n.tamiz").sigmoids_ is not None


def test_regression_has_predictions_only(capsys):
    fit = ["fit", "people.csv", "--save", "r.tamiz", "-t", "income", "--drop", "town", "-q"]
    assert run(capsys, *fit)[0] == 0
    out = run(capsys, "predict", "r.tamiz", "people.csv")[1]
    assert table(out)[0] == ["customer_id", "income"]
    document = valid("predict", run(capsys, "predict", "r.tamiz", "people.csv", "--json")[1])
    assert "probabilities" not in document and document["error"] > 0
    assert "root mean squared error" in run(capsys, "show", "r.tamiz")[1]


def test_show_of_other_objects_is_a_sentence(capsys):
    tamiz.save(tamiz.SVC(C=2.0), "svc.tamiz")
    code, out, err = run(capsys, "show", "svc.tamiz")
    assert code == 0 and out.count("\n") == 1 and "SVC(C=2.0)" in out and "tamiz.load" in out
    assert valid("show", run(capsys, "show", "svc.tamiz", "--json")[1])["kind"] == "SVC"
    code, out, err = run(capsys, "show", "people.csv")
    assert code == 2 and is_one_line(err)
    assert json.loads(run(capsys, "show", "m.tamiz", "--json")[1])["kind"] == "TableModel"


def test_options_of_reading_are_taken_by_fit_and_predict(capsys):
    lines = ["income;buys;house"]
    lines += [f"{(k % 2) * 2 + (k % 7) / 7:.2f};{('no', 'yes')[k % 2]};{k // 6}" for k in range(60)]
    text = "\n".join(lines).replace(".", ",").replace("no", "nó")
    with open("latin.csv", "w", encoding="cp1252") as file:
        file.write(text)
    reading = ["--sep", ";", "--decimal", ",", "--encoding", "cp1252"]
    fit = ["fit", "latin.csv", "-s", "g.tamiz", "-t", "buys", "--groups", "house", *reading, "-q"]
    code, _, err = run(capsys, *fit, "--keep", "income")
    assert code == 0, err
    card = valid("show", run(capsys, "show", "g.tamiz", "--json")[1])
    assert card["columns"] == ["income"] and "by groups" in card["honest"]["how"]
    out = run(capsys, "predict", "g.tamiz", "latin.csv", *reading)[1]
    assert table(out)[0][:2] == ["buys", "p(nó)"] and table(out)[1][0] == "nó"


def test_error_is_estimated_on_groups_that_were_not_seen(capsys):
    """A house gives its own label away: neighbours know it, unless the house is new."""
    rng = np.random.default_rng(0)
    rows = [["a", "b", "house", "kind"]]
    for house in range(24):
        a, b = rng.normal(size=2)
        rows += [[a + e, b - e, house, "uv"[house % 2]] for e in rng.normal(size=6) / 1000]
    write("houses.csv", rows)
    fit = ["fit", "houses.csv", "-s", "h.tamiz", "-t", "kind", "--judge", "knn", "--json", "-q"]
    seen = valid("fit", run(capsys, *fit, "--drop", "house")[1])
    new = valid("fit", run(capsys, *fit, "--groups", "house")[1])
    assert seen["error"] < 0.05 and new["error"] > 0.2


def test_samples_in_columns_keep_their_names(capsys):
    rows = [["gene", *[f"s{k}" for k in range(12)]]]
    rows += [[name, *[k % 2 * weight + k / 50 for k in range(12)]]
             for name, weight in (("up", 3), ("flat", 0))]  # fmt: skip
    write("genes.csv", rows)
    write("labels.csv", [["sample", "kind"], *[[f"s{k}", "ab"[k % 2]] for k in range(12)]])
    fit = ["fit", "genes.csv", "-s", "t.tamiz", "--transpose", "--labels", "labels.csv"]
    code, _, err = run(capsys, *fit, "-m", "fisher", "-k", "1", "--judge", "svc-linear", "-q")
    assert code == 0, err
    code, out, err = run(capsys, "predict", "t.tamiz", "genes.csv", "--transpose")
    assert code == 0, err
    head, *found = table(out)
    assert head[0] == "sample" and [row[:2] for row in found[:2]] == [["s0", "a"], ["s1", "b"]]
    assert "error" not in err

    predict = ["predict", "t.tamiz", "genes.csv", "--transpose", "--labels"]
    for name, rows in {
        "some.csv": [["sample", "type"], *[[f"s{k}", "ab"[k > 8]] for k in range(2, 12)]],
        "wide.csv": [
            ["who", "age", "kind"],
            *[[f"s{k}", 30 + k, "ab"[k > 8]] for k in range(2, 12)],
        ],
    }.items():
        write(name, rows)
        code, out, err = run(capsys, *predict, name)
        assert code == 0, err
        assert len(table(out)) == 13  # samples without a label are predicted, too
        assert "error on these rows: 40.0 % of 10\n" in err
    write("none.csv", [["who", "age", "sex"], *[[f"s{k}", k, "mf"[k % 2]] for k in range(12)]])
    for name, words in (("none.csv", "one called 'kind'"), ("gone.csv", "no file 'gone.csv'")):
        code, out, err = run(capsys, *predict, name)
        assert code == 2 and words in err and "--target" not in err
    for name, rows, words in (
        ("foreign.csv", [["p1", "a"], ["p2", "b"]], "foreign.csv names none of the samples of gen"),
        ("twice.csv", [["s1", "a"], ["s1", "b"]], "twice.csv names samples twice: 's1'"),
        ("blank.csv", [["s1", ""], ["s2", ""]], "blank.csv has no label for any sample of genes"),
    ):
        write(name, [["sample", "kind"], *rows])
        code, out, err = run(capsys, *predict, name)
        assert code == 2 and words in err and "called 'kind'" not in err and "target" not in err
    write("one.csv", [["sample", "kind"], *[[f"s{k}", "a"] for k in range(12)]])
    code, out, err = run(capsys, *predict, "one.csv")
    assert code == 0 and "error on these rows: 50.0 % of 12\n" in err
    code, out, err = run(capsys, "predict", "t.tamiz", "genes.csv", "--labels", "labels.csv")
    assert code == 2


# ------------------------------------------------------------------------- cells made to do harm


def test_a_file_holds_no_cell_that_a_spreadsheet_would_run(capsys):
    cells = ['=HYPERLINK("http://x")', "+1+1", "-2-3", "@SUM(A1)", "-4.5", "+7", "-", "007", "a=b"]
    write("evil.csv", [["=id", "income"], *([cell, k] for k, cell in enumerate(cells))])
    options = ["--id", "=id", "--out", "evil.out.csv"]
    code, _, err = run(capsys, "predict", "m.tamiz", "evil.csv", *options)
    assert code == 0, err
    with open("evil.out.csv", encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head[0] == "'=id"
    assert [row[0] for row in rows] == [*(f"'{cell}" for cell in cells[:4]), *cells[4:]]
    assert all(float(row[-1]) == float(row[-1]) for row in rows)  # scores below zero are numbers
    code, out, _ = run(capsys, "predict", "m.tamiz", "evil.csv", "--id", "=id")
    assert [row[0] for row in table(out)] == ["=id", *cells]  # for programs, as they are


def test_labels_of_classes_are_cells_like_others(capsys):
    """Those that a spreadsheet would run get an apostrophe in a file, and in a file only."""
    labels = ("=1+1", "-1", "+")
    write("odd.csv", [["a", "y"], *([5 * (k % 3) + k % 7, labels[k % 3]] for k in range(60))])
    assert exit_code("fit", "odd.csv", "-t", "y", "--save", "odd.tamiz", "--cv", 0, "-q") == 0
    code, out, _ = run(capsys, "predict", "odd.tamiz", "odd.csv")
    assert code == 0 and {row[0] for row in table(out)[1:]} == set(labels)
    assert run(capsys, "predict", "odd.tamiz", "odd.csv", "--out", "odd.out.csv")[0] == 0
    with open("odd.out.csv", encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    assert {row[0] for row in rows} == {"'=1+1", "-1", "+"}


ESCAPE = "\x1b]owned\x07\x1b[2J\x9b"


def test_escapes_in_names_do_not_reach_the_terminal(capsys, limits):
    rows = [[f"in{ESCAPE}come", "town", "buys"]]
    rows += [[k % 7 + 4 * (k % 2), f"t{ESCAPE}{k % 3}", ("no", "yes")[k % 2]] for k in range(60)]
    write("escape.csv", rows)
    limits(sys.stdout, isatty=lambda: True)
    code, out, err = run(capsys, "rank", "escape.csv", "-m", "fisher")
    assert code == 0, err
    assert r"in\x1b]owned" in out
    for text in (out, err):
        assert not any(sign in text for sign in ("\x07", "\x9b", "\x1b]", "\x1b[2J"))
    write("wrong.csv", [["a", f"b{ESCAPE}"], ["1", "2"]])
    code, out, err = run(capsys, "predict", "m.tamiz", "wrong.csv")
    assert code == 2 and "\x1b" not in err
