"""Every command: what it prints, and the code it leaves with.

Most run in this process; what depends on a process of its own (start, pipes, signals) has one.
"""

from __future__ import annotations

import csv
import json
import os
import shlex
import shutil
import signal
import subprocess
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from tamiz.cli.examples import full_name
from tamiz.data import load
from tamiz.evaluation.judges import JUDGES
from tamiz.reproduce import available, source_figures
from tests.cli.programs import PROGRAM, is_one_line, run, run_apart, valid


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables to work on: one with Windows line endings, one with text and missing values."""
    place = tmp_path_factory.mktemp("cli")
    iris = load_iris()
    rows = [
        [*map(str, x), iris.target_names[y]] for x, y in zip(iris.data, iris.target, strict=True)
    ]
    text = "\r\n".join([",".join(["sl", "sw", "pl", "pw", "species"]), *map(",".join, rows)])
    (place / "iris.csv").write_bytes(text.encode() + b"\r\n")
    rng = np.random.default_rng(0)
    with open(place / "mixed.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "colour", "size", "noise", "bought"])
        for k in range(120):
            bought = rng.random() < 0.5
            colour = rng.choice(["red", "green"] if bought else ["blue", "green"])
            size = "" if k % 10 == 0 else f"{rng.normal() + 2 * bought:.3f}"
            writer.writerow(
                [f"c{k:04d}", colour, size, f"{rng.normal():.3f}", "yes" if bought else "no"]
            )
    return place


def test_rank(folder):
    what = ["rank", "iris.csv", "--method", "fisher", "-k", 2, "--json"]
    done = run_apart(*what, cwd=folder)
    assert done.returncode == 0, done.stderr
    document = valid("rank", done.stdout)
    assert [f["rank"] for f in document["features"]] == [1, 2]
    assert {f["name"] for f in document["features"]} == {"pl", "pw"}
    assert (document["n_samples"], document["n_features"]) == (150, 4)
    assert document["target"] == "species"
    here = run(*what, cwd=folder)
    assert (here.returncode, here.stderr) == (0, done.stderr)
    assert valid("rank", here.stdout)["features"] == document["features"]
    shown = run("rank", "iris.csv", "-m", "fisher", cwd=folder)
    assert [line.split()[1] for line in shown.stdout.splitlines()[1:3]] == [
        f["name"] for f in document["features"]
    ]
    assert "\x1b" not in shown.stdout + shown.stderr  # no colours where no terminal is


@pytest.mark.parametrize("how", ["--no-stream", "--stream"])
def test_quiet_ranking_prints_no_decisions(folder, how):
    loud, quiet = (
        run("rank", "mixed.csv", "-m", "fisher", how, *more, cwd=folder) for more in ([], ["-q"])
    )
    assert "medians" in loud.stderr and quiet.stderr == ""
    assert quiet.stdout == loud.stdout


def test_rank_takes_categories_and_missing_values_as_the_method_wants(folder):
    counted = run("rank", "mixed.csv", "-m", "mrmr", "--json", cwd=folder)
    document = valid("rank", counted.stdout)
    assert {f["name"] for f in document["features"]} == {"colour", "size", "noise"}
    assert "id" in counted.stderr  # set aside, and said so
    turned = run("rank", "mixed.csv", "-m", "rfe", "--json", cwd=folder)
    names = {f["name"] for f in valid("rank", turned.stdout)["features"]}
    assert {"colour=red", "size"} <= names
    assert any("indicators" in note for note in json.loads(turned.stdout)["notes"])


def test_select_report_save_and_predict(folder):
    done = run(
        "select", "mixed.csv", "-m", "fisher,mrmr", "--repeats", 1, "--json", "--out", "r.html",
        "--save", "m.tamiz", "--jobs", 1, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = valid("select", done.stdout)
    best = document["recommended"]
    assert best["low"] <= best["error"] <= best["high"]
    assert "noise" not in best["features"][:1]
    assert document["data"]["aside"].keys() == {"id"}
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert "tamiz select mixed.csv" in page
    told = run("predict", "m.tamiz", "mixed.csv", cwd=folder)
    rows = list(csv.reader(told.stdout.splitlines()))
    assert rows[0][:2] == ["id", "bought"] and len(rows) == 121
    assert {row[1] for row in rows[1:]} == {"yes", "no"}
    assert "error on these rows" in told.stderr
    # other order of columns, one too many, a category never seen: still the right columns
    with open(folder / "mixed.csv", encoding="utf-8") as file:
        table = list(csv.reader(file))
    order = [2, 1, 3]
    with open(folder / "new.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*[table[0][j] for j in order], "extra"])
        writer.writerows([*[row[j] for j in order], "7"] for row in table[1:])
        writer.writerow(["0.1", "purple", "0.2", "7"])
    again = run("predict", "m.tamiz", "new.csv", "--json", cwd=folder)
    found = valid("predict", again.stdout)
    assert found["predictions"][:120] == [row[1] for row in rows[1:]]
    assert found["n_samples"] == 121 and "purple" in found["notes"][0]
    lacking = run("predict", "m.tamiz", "iris.csv", cwd=folder)
    assert lacking.returncode == 2 and is_one_line(lacking.stderr) and "lacks" in lacking.stderr


def test_fit_and_predict_agree_with_python(folder):
    from tamiz import load as load_model
    from tamiz.data import load

    done = run(
        "fit", "iris.csv", "--save", "k.tamiz", "-m", "fisher", "-k", 2, "--json", cwd=folder
    )
    document = valid("fit", done.stdout)
    assert set(document["features"]) == {"pl", "pw"} and document["error"] < 0.1
    told = valid("predict", run("predict", "k.tamiz", "iris.csv", "--json", cwd=folder).stdout)
    model = load_model(folder / "k.tamiz")
    data = load(folder / "iris.csv")
    assert told["predictions"] == model.predict(data).tolist()
    assert np.mean(np.array(told["predictions"]) == data.y) > 0.9


def test_tune(folder):
    done = run(
        "tune", "iris.csv", "--C", "0.1,10", "--gamma", "0.1,1", "--cv", 5, "--json", cwd=folder
    )
    document = valid("tune", done.stdout)
    assert len(document["cells"]) == 4
    assert document["best_params"]["C"] in (0.1, 10)
    shown = run("tune", "iris.csv", "--kernel", "linear,rbf", "--C", "1,10", "--cv", 3, cwd=folder)
    assert shown.returncode == 0 and "linear" in shown.stdout and "rbf" in shown.stdout


def test_compare(folder):
    done = run(
        "compare", "mixed.csv", "-m", "fisher,welch", "--cv", 5, "--repeats", 1, "-j", 1, cwd=folder
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "selection bias" in done.stdout and "fisher" in done.stdout and "welch" in done.stdout
    same = run(
        "compare", "mixed.csv", "-m", "fisher,welch", "--cv", 5, "--repeats", 1, "-j", 1, "--json",
        cwd=folder,
    )  # fmt: skip
    document = valid("compare", same.stdout)
    assert set(document["rankings"]) == {"fisher", "welch"}
    assert document["comparison"] is not None and document["recommended"] is not None


@pytest.mark.ours
def test_compare_adjusts_for_covariates(tmp_path):
    """A gene that follows age, in a table where the ill are older, is first until age is known."""
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, 160)
    ill = rng.random(160) < 1 / (1 + np.exp(-(age - 50) / 10))
    genes = rng.standard_normal((160, 4))
    genes[:, 2] += age / 2
    genes[:, 1] += 1.4 * ill
    table = pd.DataFrame(genes, columns=["a", "b", "c", "d"]).assign(age=age, ill=ill.astype(int))
    table.to_csv(tmp_path / "ill.csv", index=False)
    options = ["-t", "ill", "-m", "fisher", "--sizes", "1,2", "--cv", 4, "--repeats", 1, "-j", 1]
    said = run("compare", "ill.csv", *options, "--json", "--drop", "age", cwd=tmp_path)
    assert json.loads(said.stdout)["rankings"]["fisher"]["features"][0]["name"] == "c"
    said = run("compare", "ill.csv", *options, "--json", "--adjust", "age", cwd=tmp_path)
    document = json.loads(said.stdout)
    assert document["rankings"]["fisher"]["features"][0]["name"] == "b"
    assert document["adjustment"]["columns"] == ["age"]
    assert "adjusted for age inside every training part" in said.stderr
    said = run("compare", "ill.csv", *options, "--quiet", "--adjust", "age", cwd=tmp_path)
    assert "features were adjusted for age inside every training part" in said.stdout
    wrong = run("compare", "ill.csv", *options, "--adjust", "height", cwd=tmp_path)
    assert wrong.returncode == 2 and "names 'height', which is no feature" in wrong.stderr


def test_demo(tmp_path, limits):
    """With every fourth row and column: all methods compete, in a tenth of the time."""
    data = load("breast_cancer")
    table = data.take(np.arange(0, data.n_samples, 4)).keep(data.feature_names[::4])
    limits("tamiz.cli.options", read=lambda name, **_: {"breast_cancer": table}[name])
    done = run("demo", "--repeats", 1, "--lang", "es", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "error honrado" in done.stdout or "honesto" in done.stdout or "honrado" in done.stdout
    page = tmp_path / "tamiz-demo.html"
    assert str(page) in done.stdout
    assert 'lang="es"' in page.read_text(encoding="utf-8")[:2000]


def test_lists():
    methods = valid("methods", run("methods", "--family", "filter", "--json").stdout)["methods"]
    assert {m["family"] for m in methods} == {"filter"} and len(methods) > 15
    judges = valid("methods", run("methods", "--family", "judge", "--json").stdout)
    assert not judges["methods"]
    classes = {judge["name"]: judge["classifier"] for judge in judges["judges"]}
    assert classes["knn"] == "tamiz:KNNClassifier" and classes["tree"] == "tamiz:CARTClassifier"
    both = run("methods").stdout
    assert "\nmrmr" in both and "\ntree" in both and "--judge" in both
    known = valid("datasets", run("datasets", "--json").stdout)["datasets"]
    assert {"name": "iris", "rows": 150, "features": 4}.items() <= known[1].items()
    assert {one["where"] for one in known} == {"here"}
    (colon,) = valid("datasets", run("datasets", "--about", "Colon", "--json").stdout)["datasets"]
    assert colon in known and colon["terms"] == "No licence stated"
    said = run("datasets", "--about", "colon").stdout
    assert said.startswith("colon: ") and "\nterms     No licence stated\ncitation  Alon" in said
    known = valid("reproduce", run("reproduce", "--json").stdout)
    assert "P3" in known["recipes"] and "S0-1.3" in known["figures"]


def test_a_figure_of_the_sources_is_written_to_a_file(tmp_path):
    done = run("reproduce", "s2-3.2", "--out", "losses.png", "--json", cwd=tmp_path)
    assert valid("reproduce", done.stdout) == {"figure": "S2-3.2", "file": "losses.png"}
    assert (tmp_path / "losses.png").read_bytes().startswith(b"\x89PNG")
    assert [file.name for file in tmp_path.iterdir()] == ["losses.png"]


def test_reproduce_finds_every_name_in_any_case():
    for name in (*available(), *source_figures()):
        assert {full_name(text) for text in (name, name.lower(), name.upper())} == {name}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rank", "absent.csv"], "absent.csv"),
        (["rank", "iris.csv", "-m", "fischer"], "fisher"),
        (["rank", "iris.csv", "--target", "speces"], "species"),
        (["rank", "iris.csv", "-k", "9"], "9"),
        (["rank", "iris.csv", "--mthod", "fisher"], "--method"),
        (["rank", "iris.csv", "-p", "nonsense"], "NAME=VALUE"),
        (["datasets", "--about", "colom"], "colon"),
        (["select", "iris.csv", "--judge", "oracle"], "svc-linear"),
        (["select", "iris.csv", "--out", "nowhere/r.html"], "nowhere"),
        (["select", "iris.csv", "--lang", "fr"], "es"),
        (["tune", "iris.csv", "--C", "1,x"], "x"),
        (["predict", "iris.csv", "iris.csv"], "iris.csv"),
        (["reproduce", "P99"], "P99"),
        (["reproduce", "p2B", "--out", "x.png"], "P2b prints a table"),
        (["reproduce", "S2-3.2", "--full"], "--full is for recipes"),
        (["reproduce", "S2-3.2", "--jobs", "2"], "--jobs is for recipes"),
        (["reproduce", "S2-3.2", "--out", "x.xyz"], ".png, .svg or .pdf"),
        (["reproduce", "S3-4.11"], "RAT data"),
        (["methods", "--family", "magic"], "wrapper"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(folder, arguments, words):
    done = run(*arguments, cwd=folder)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert is_one_line(done.stderr), done.stderr
    assert words in done.stderr
    assert done.stdout == ""


needs_bash = pytest.mark.skipif(
    os.name == "nt" or shutil.which("bash") is None, reason="runs a pipe of bash"
)


@needs_bash
def test_a_closed_pipe_is_no_error(folder):
    wide = np.column_stack([np.random.default_rng(0).normal(size=(30, 3000)), np.arange(30) % 2])
    np.savetxt(folder / "wide.csv", wide, delimiter=",", fmt="%.6g")
    what = ["rank", "wide.csv", "-m", "fisher", "--json", "-q"]
    command = f"{shlex.join([*PROGRAM, *what])} | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True, text=True, cwd=folder, timeout=240, check=False,
    )  # fmt: skip
    assert done.stdout == "{\n" and done.stderr == "" and done.returncode == 0


@pytest.mark.ours
@needs_bash
def test_a_closed_pipe_does_not_lose_the_report(folder):
    what = ["rank", "iris.csv", "-q", "--out", "kept.html"]
    command = f"{shlex.join([*PROGRAM, *what])} | true"
    subprocess.run(["bash", "-c", command], cwd=folder, timeout=240, check=False)
    assert (folder / "kept.html").stat().st_size > 10_000


@pytest.mark.ours
@needs_bash
def test_a_reader_who_left_does_not_lose_the_model(folder):
    """``2>&1 | head`` closes standard error, too."""
    what = ["select", "iris.csv", "-m", "fisher", "--judge", "linear", "--repeats", "1"]
    what += ["--cv", "3", "--sizes", "1,2"]
    files = ["--out", "left.html", "--save", "left.tamiz"]
    command = f"{shlex.join([*PROGRAM, *what, *files])} 2>&1 | true"
    subprocess.run(["bash", "-c", command], cwd=folder, timeout=240, check=False)
    assert (folder / "left.html").stat().st_size > 10_000
    assert (folder / "left.tamiz").stat().st_size > 100


@pytest.mark.ours
@needs_bash
@pytest.mark.parametrize(
    ("wrong", "left"),
    [
        (["rank", "missing.csv"], "2>&-"),
        (["rank", "iris.csv", "--seeed", "1"], "2>&-"),
        (["rank", "iris.csv", "--seeed", "1"], "2> >(exec true)"),
    ],
)
def test_a_closed_standard_error_leaves_the_exit_code(folder, wrong, left):
    command = f"{shlex.join([*PROGRAM, *wrong])} {left}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, timeout=240, check=False, stdout=subprocess.PIPE
    )
    assert done.returncode == 2 and done.stdout == b""


def test_the_seed_draws_the_folds_of_tune(folder):
    """The rows of the table are sorted by class, as in many files."""
    grid = ["--C", "1", "--gamma", "0.1,1", "--cv", 5, "--json"]
    found = [
        valid("tune", run("tune", "iris.csv", *grid, "--seed", seed, cwd=folder).stdout)
        for seed in (0, 0, 1)
    ]
    errors = [[cell["errors"] for cell in document["cells"]] for document in found]
    assert errors[0] == errors[1] != errors[2]


@pytest.mark.ours
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for other processes")
def test_an_interrupted_run_shows_what_it_has(folder):
    """Ctrl-C after some units: a table of what was reached, flagged, and a report."""
    journal = folder / "journal"
    process = subprocess.Popen(
        [*PROGRAM, "compare", "mixed.csv", "-m", "fisher,welch", "--judge", "linear", "--repeats",
         "200", "--jobs", "1", "--checkpoint", str(journal), "-q"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline and process.poll() is None:
        if journal.exists() and journal.stat().st_size > 5_000:
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "CUT SHORT by Ctrl-C" in out and "fisher" in out


def test_help_is_quick_and_imports_nothing_heavy():
    probe = (
        "import sys; import tamiz.cli.app; "
        "print([m for m in ('numpy', 'sklearn', 'numba', 'scipy', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run(
        [PROGRAM[0], "-c", probe], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
    for command in ("select", "rank", "compare", "tune", "fit", "predict", "reproduce"):
        assert run(command, "--help").returncode == 0


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["table", "json"])
def test_the_list_of_methods_imports_none_of_them(more):
    probe = (
        "import sys; from tamiz.cli.app import run; "
        f"code = run({['methods', *more]}); "
        "found = [m for m in ('sklearn', 'numba', 'pandas', 'tamiz.svm') if m in sys.modules]; "
        "print(code, found, file=sys.stderr)"
    )
    done = subprocess.run(
        [PROGRAM[0], "-c", probe], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr.strip() == "0 []"


def test_the_list_of_methods_names_the_class_that_a_judge_is():
    for judge in JUDGES.values():
        for maker in (judge.classifier, judge.regressor):
            made = type(maker())
            assert str(maker) == f"{made.__module__.partition('.')[0]}:{made.__name__}"


def test_started_as_a_module_the_program_has_its_own_name():
    assert PROGRAM[1:] == ["-m", "tamiz"]
    assert "Usage: tamiz [OPTIONS] COMMAND" in run_apart("--help").stdout
    assert "Usage: tamiz rank [OPTIONS]" in run_apart("rank", "--help").stdout
    done = run_apart("rank", "-k")  # a number is missing
    assert done.returncode == 2 and done.stderr.startswith("tamiz: Option '-k' requires")
