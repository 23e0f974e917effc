"""Options that commands share: what they do, and that messages name only those that exist."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest
import typer

import tamiz
import tamiz.cli
import tamiz.data
from tamiz.cli import options as opt
from tamiz.cli.app import app, main
from tamiz.cli.console import UsageProblem, as_options
from tamiz.data import load

RNG = np.random.default_rng(0)
GROUP = typer.main.get_command(app)


def write(path, names, rows):
    lines = [",".join(map(str, row)) for row in ([names, *rows] if names else rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def loans(tmp_path):
    """Rows with a leak, groups and weights."""
    rows = []
    for k in range(120):
        bad = int(RNG.random() < 0.5)
        paid = ("no", "yes")[bad]
        rows.append([f"{RNG.normal() + bad:.3f}", paid, k // 3, f"{1 + RNG.random():.3f}", bad])
    return write(tmp_path / "loans.csv", ["income", "paid", "person", "w", "default"], rows)


def test_suspected_leaks_are_set_aside_and_come_back(loans, capsys):
    data = opt.read(loans, drop="person,w")
    assert data.feature_names == ["income"]
    told = capsys.readouterr().err
    assert "suspected leaks" in told and "'paid' (in every row)" in told and "--keep 'paid'" in told
    assert opt.read(loans, keep=["paid,w"]).feature_names == ["income", "paid", "person", "w"]
    assert "leak" not in capsys.readouterr().err
    assert "paid" in opt.read(loans, leaks="keep").feature_names
    assert "paid' (in every row). Check that they are known" in capsys.readouterr().err


def test_groups_and_weights(loans):
    data = opt.read(loans, "default", reading=opt.Reading(groups="person", weights="-2"))
    assert data.feature_names == ["income"]
    assert len(np.unique(data.extras["groups"])) == 40
    assert data.extras["weights"].min() >= 1


def test_select_says_that_rows_of_a_group_stay_on_one_side(loans, capsys):
    given = ["--groups", "person", "--drop", "paid,w", "-t", "default"]
    with pytest.raises(SystemExit) as left:
        main(["select", loans, *given, "-m", "fisher", "--judge", "linear", "--repeats", "1"])
    assert left.value.code == 0
    said = capsys.readouterr().err
    assert "rows of one group stay on one side of every split (40 groups)" in said


@pytest.fixture
def series(tmp_path):
    """Shuffled rows of a series whose last part differs from the rest."""
    rows = []
    for k in RNG.permutation(120):
        bad = int(RNG.random() < 0.5)
        right = bad if k < 80 else 1 - bad
        rows.append([f"2024-{1 + k // 28:02}-{1 + k % 28:02}", f"{k % 7}", f"{3 * right}.5", bad])
    return write(tmp_path / "series.csv", ["day", "week", "income", "default"], rows)


FAST = ["-m", "fisher", "--judge", "linear"]


def test_select_learns_from_the_past(series, capsys):
    with pytest.raises(SystemExit) as left:
        main(["select", series, "--time", "day", "--cv", "2", *FAST, "--json"])
    assert left.value.code == 0
    out, said = capsys.readouterr()
    assert "every split learns from the past" in said
    assert "2 splits in the order of time" in said and "say --time" not in said
    found = json.loads(out)
    # blocks of 40: rows 40 to 79 are as before, rows 80 to 119 the other way round
    assert found["plan"]["ordered"] is True and found["plan"]["repeats"] == 1
    assert found["honest"]["error"] == pytest.approx(0.5)
    with pytest.raises(SystemExit):
        main(["select", series, "--cv", "2", *FAST])
    assert "say --time 'day'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--groups", "week"], "--groups and --time cannot be combined"),
        (["--repeats", "3"], "--repeats 3 does not go with --time"),
        (["--gap", "-1"], "--gap -1"),
        (["--cv", "2", "--gap", "60"], "--gap 60 leaves nothing to learn from beside block 1 of 3"),
    ],
)
def test_select_refuses_what_does_not_go_with_time(series, capsys, given, words):
    with pytest.raises(SystemExit) as left:
        main(["select", series, "--time", "day", *FAST, *given])
    assert left.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("command", ["select", "compare"])
def test_gap_is_kept_in_the_splits(series, capsys, command):
    given = [command, series, "--cv", "2", *FAST, "--json", "-q"]
    with pytest.raises(SystemExit) as left:
        main([*given, "--gap", "5"])
    assert left.value.code == 2
    assert "--gap 5 needs --time" in capsys.readouterr().err
    for gap in (0, 5):
        with pytest.raises(SystemExit) as left:
            main([*given, "--time", "day", "--gap", str(gap)])
        assert left.value.code == 0
        assert json.loads(capsys.readouterr().out)["params"].get("gap", 0) == gap


def test_fit_and_tune_learn_from_the_past(series, tmp_path, capsys):
    model = str(tmp_path / "m.tamiz")
    with pytest.raises(SystemExit):
        main(["fit", series, "--time", "day", "--cv", "2", "-s", model, "--json", "-q"])
    card = json.loads(capsys.readouterr().out)
    assert card["error"] == pytest.approx(0.5)
    assert card["low"] == pytest.approx(1 - card["high"]) and card["low"] > 0.3  # 80 rows judged
    about = tamiz.load(model).card["honest"]["how"]
    assert about.startswith("2 splits in the order of time")
    with pytest.raises(SystemExit):
        main(["tune", series, "--time", "day", "--cv", "2", "--C", "1", "--json", "-q"])
    assert json.loads(capsys.readouterr().out)["best_error"] == pytest.approx(0.5, abs=0.1)


def test_how_a_text_table_is_written(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("é;1,5;u\nü;-9;v\nè;3,5;u\nà;1,0;v\n".encode("cp1252"))
    reading = opt.Reading(encoding="cp1252", header=False, separator=";", missing="-9,NA")
    data = opt.read(str(path), reading=reading, quiet=True)
    assert data.n_samples == 4 and np.isnan(data.X[1, -1])
    assert data.levels["x0"][-1] == "ü"
    assert opt.read(str(path), reading=reading, header=True, quiet=True).n_samples == 3


def test_a_transposed_table_and_the_command_that_reads_it(tmp_path, capsys):
    samples = [f"GSM{k}" for k in range(12)]
    rows = [[f"gene{j}", *RNG.normal(size=12).round(3)] for j in range(30)]
    path = write(tmp_path / "e.csv", ["id", *samples], rows)
    labels = write(tmp_path / "l.csv", [], [[name, "ab"[k % 2]] for k, name in enumerate(samples)])
    opt.read(path)
    told = capsys.readouterr().err
    assert "--transpose and --labels 'labels.csv'" in told
    assert "--transpose --labels labels.csv\n" in told
    data = opt.read(path, transpose=True, labels=labels)
    assert data.X.shape == (12, 30) and data.target_names == ["a", "b"]


def test_targets_that_make_no_sense_are_wrong_usage(tmp_path):
    rows = [[k % 3, RNG.random(), f"name{k}"] for k in range(30)]
    path = write(tmp_path / "t.csv", ["kind", "a", "who"], rows)
    with pytest.raises(UsageProblem, match=r"another with --target; 'kind' \(3 classes\) looks"):
        opt.read(path)
    rows = [[RNG.random(), "ab"[k // 15]] for k in range(30)]
    path = write(tmp_path / "s.csv", ["a", "y"], rows)
    with pytest.raises(UsageProblem, match="one class only, 'a'; read more with --rows"):
        opt.read(path, rows=10)


def test_positive_class():
    data = load("iris")
    assert opt.check_positive(data, "versicolor") == 1
    with pytest.raises(UsageProblem, match="'setosa', 'versicolor', 'virginica'"):
        opt.check_positive(data, "rosa")
    with pytest.raises(UsageProblem, match="the target is numeric"):
        opt.check_positive(load("diabetes"), "1")


@pytest.mark.parametrize("command", sorted(GROUP.commands))
def test_what_a_command_says_of_itself_fits_a_terminal_of_80_columns(command):
    """Lines are shown as they are written: a longer one would be broken once more."""
    assert all(len(line) <= 78 for line in GROUP.commands[command].help.splitlines())


@pytest.mark.parametrize("command", ["rank", "compare", "tune"])
def test_commands_have_all_options_of_reading(command):
    known = {word for one in GROUP.commands[command].params for word in one.opts}
    for name in inspect.signature(opt.Reading).parameters:
        assert f"--{'sep' if name == 'separator' else name}" in known


def test_a_command_gets_its_reading():
    @opt.reads
    def command(data: opt.Data, *, reading: opt.Reading, quiet: opt.Quiet = False) -> None:
        seen.append((data, reading, quiet))

    seen = []
    alone = typer.Typer()
    alone.command()(command)
    alone(["f.csv", "-q", "--sep", ";", "--keep", "a", "--keep", "b,c"], standalone_mode=False)
    assert seen == [("f.csv", opt.Reading(separator=";", keep=["a", "b,c"]), True)]
    assert seen[0][1].arguments()["keep"] == ["a", "b", "c"]


def test_streams_take_what_they_can():
    given = opt.Reading(drop="a", groups="g", time="t", weights="3", encoding="utf-8").streamed()
    assert given["drop"] == ["a", "g", "t", 3] and given["encoding"] == "utf-8"
    with pytest.raises(UsageProblem, match="--no-stream"):
        opt.Reading(transpose=True).streamed()


# ------------------------------------------------------------------------------------- messages


def texts(package):
    """All pieces of text in the source of a package, names of columns and the like among them."""
    for path in sorted(Path(package.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path.name, node.value


def all_options():
    found = {"--help"}
    for command in [GROUP, *GROUP.commands.values()]:
        for one in command.params:
            found |= {*one.opts, *one.secondary_opts}
    return found


def test_every_option_in_a_message_exists():
    known = all_options() | {"--install-completion", "--positive"}
    named = {
        (place, word)
        for place, text in texts(tamiz.cli)
        for word in re.findall(r"(?<![\w-])--[a-z][\w-]*", as_options(text))
    }
    assert len(named) > 20
    assert {one for one in named if one[1] not in known} == set()


def test_arguments_in_messages_of_the_reader_become_options():
    arguments = set(inspect.signature(load).parameters) - {"roles", "encode", "leaks", "download"}
    pattern = re.compile(rf"(?<![\w'\"=-])({'|'.join(arguments)})=(True|False)?")
    named = {match[0] for _, text in texts(tamiz.data) for match in pattern.finditer(text)}
    assert {"drop=", "encoding=", "transpose=True", "header=False"} <= named
    for one in named:
        assert as_options(f"say {one}.").split()[1].rstrip(".") in all_options(), one
