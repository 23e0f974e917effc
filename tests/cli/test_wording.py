"""Sentences of the library in the words of the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from tamiz.cli.app import app
from tamiz.cli.console import as_options, begin, tell_notes, tell_once
from tamiz.data import load


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("leave them out with drop=.", "leave them out with --drop."),
        ("is the target (target=... changes it).", "is the target (--target changes it)."),
        ("(task='classification' takes", "(--task 'classification' takes"),
        ("target=99 is beyond", "--target 99 is beyond"),
        ("target=-3 is beyond", "--target -3 is beyond"),
        ("name it with separator=.", "name it with --sep."),
        (
            "Keep one with roles={'my id': 'numeric'} or 'categorical'.",
            "Keep one with --role 'my id=numeric' or 'my id=categorical'.",
        ),
        ("say roles={'zip': 'categorical'}.", "say --role zip=categorical."),
        ("columns such as 'target=1' and 'drop=yes'", "columns such as 'target=1' and 'drop=yes'"),
        (
            "read it with transpose=True, or header=False.",
            "read it with --transpose, or --no-header.",
        ),
        ("keep it with keep='paid off'.", "keep it with --keep 'paid off'."),
        ("with columns= or nrows=.", "with --columns or --rows."),
        ("a raindrop=3, n_target=2", "a raindrop=3, n_target=2"),
        ("nothing to say", "nothing to say"),
    ],
)
def test_arguments_become_options(text, said):
    assert as_options(text) == said


def test_a_line_is_reported_once_for_each_table(capsys):
    begin()
    tell_once("look at drop=.")
    tell_once("look at drop=.")
    assert capsys.readouterr().err == "tamiz: look at --drop.\n"
    begin()
    tell_once("look at drop=.")
    assert capsys.readouterr().err == "tamiz: look at --drop.\n"


def test_notes_of_a_table_are_reported_unless_it_should_be_quiet(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a;b;sold\n" + "1,5;2,5;yes\n2,5;2,5;no\n1,5;1,5;no\n" * 10, encoding="utf-8")
    data = load(path)
    begin()
    tell_notes(data, quiet=True)
    assert capsys.readouterr().err == ""
    tell_notes(data)
    told = capsys.readouterr().err
    assert "'sold', is taken as the target (--target changes it)" in told
    assert "decimal comma" in told


def test_readme_and_page_name_every_command():
    root = Path(__file__).parents[2]
    readme = (root / "README.md").read_text(encoding="utf-8").partition("**Command line**: `")[2]
    listed = set(re.findall(r"\w+", readme.partition("`.")[0])) - {"tamiz"}
    page = (root / "docs" / "command-line.md").read_text(encoding="utf-8")
    table = [line for line in page.splitlines() if line.startswith("| `tamiz ")]
    shown = set(re.findall(r"`tamiz (\w+)", "\n".join(table)))
    commands = set(typer.main.get_command(app).commands)
    assert listed == commands
    assert commands <= shown
