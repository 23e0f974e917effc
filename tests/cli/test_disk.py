"""A full disk and places that cannot be written: one line, and what was there before is kept."""

from __future__ import annotations

import importlib.util
import os
import stat
from pathlib import Path

import pytest

from tests.cli.programs import is_one_line
from tests.cli.test_mutated import run_all

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

LIMIT = 1000  # bytes that a file may have: less than any of the files written here

COMMANDS = {
    "m.tamiz": ["fit", "iris", "--save", "m.tamiz", "--cv", 0],
    "p.csv": ["predict", "room/k.tamiz", "t.csv", "--out", "p.csv"],
    "r.html": ["rank", "iris", "-m", "fisher", "--out", "r.html"],
}
PICTURE = ["explain", "room/k.tamiz", "t.csv", "--rows", 5, "--permutations", 2, "--out", "e.png"]
if importlib.util.find_spec("matplotlib") is not None:
    COMMANDS["e.png"] = PICTURE
if importlib.util.find_spec("onnx") is not None:
    COMMANDS["g.onnx"] = ["show", "room/k.tamiz", "--onnx", "g.onnx"]


def moved(command, name, place):
    """The command with another place to write to."""
    return [place if argument == name else argument for argument in command]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Each command on a disk with room, on a full one, and on a full one with nothing there."""
    place = tmp_path_factory.mktemp("disk")
    rows = "".join(f"{i % 7},{i % 5},{i % 3},{(i % 7) / 9}\n" for i in range(300))
    names = "sepal length (cm),sepal width (cm),petal length (cm),petal width (cm)\n"
    (place / "t.csv").write_text(names + rows, encoding="utf-8")
    for name in ("empty", "room"):
        (place / name).mkdir()
    for name in COMMANDS:
        (place / name).write_text("old", encoding="utf-8")
    before = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}
    kept = ["fit", "iris", "--save", "room/k.tamiz", "--cv", 0]
    room = [moved(command, name, f"room/{name}") for name, command in COMMANDS.items()]
    full = [(command, None, LIMIT) for command in COMMANDS.values()]
    bare = [(moved(c, name, f"empty/{name}"), None, LIMIT) for name, c in COMMANDS.items()]
    others = [
        (["rank", "iris", "-m", "fisher", "--json"], "/dev/full", None),
        (["rank", "iris", "-m", "fisher"], "/dev/full", None),
        (["predict", "room/k.tamiz", "t.csv"], "/dev/full", None),
        *(moved(command, name, "/dev/full") for name, command in COMMANDS.items()),
    ]
    if not Path("/dev/full").exists():
        others = []
    first = [["fit", "d8", "--save", "room/first.tamiz", "--cv", "0"]]
    first += [["predict", "room/first.tamiz", "d8"], ["rank", "d8", "--out", "room/first.html"]]
    answers = run_all([kept, *room, *full, *bare, *others], place, first)[1:]
    after = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}
    n = len(COMMANDS)
    found = {"room": answers[:n], "full": answers[n : 2 * n], "bare": answers[2 * n : 3 * n]}
    found["others"] = answers[3 * n :]
    sizes = {path.name: path.stat().st_size for path in (place / "room").iterdir()}
    return found, sizes, before, after, list((place / "empty").iterdir())


@pytest.mark.parametrize("k", range(len(COMMANDS)), ids=list(COMMANDS))
def test_full_disk(places, k):
    found, sizes, before, after, empty = places
    name = list(COMMANDS)[k]
    assert found["room"][k][0] == 0, found["room"][k][2]
    assert sizes[name] > LIMIT
    for where in ("full", "bare"):
        code, out, err, _ = found[where][k]
        assert code == 1 and is_one_line(err), err
        assert name in err and "too large" in err.lower() and "[Errno" not in err
        assert name != "p.csv" or not out
    assert after == before  # nothing changed, and no half of a file lies about
    assert not empty


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("k", range(3), ids=["json", "table", "predictions"])
def test_standard_output_is_full(places, k):
    code, _, err, _ = places[0]["others"][k]
    lines = [line for line in err.splitlines() if "standard output" in line]
    assert code == 1 and len(lines) == 1 and "No space left" in lines[0]
    assert is_one_line(err)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("k", range(len(COMMANDS)), ids=list(COMMANDS))
def test_a_device_is_not_replaced(places, k):
    code, out, err, _ = places[0]["others"][3 + k]
    assert code == 2 and not out and is_one_line(err)
    assert "/dev/full" in err and "device" in err
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to root"
)
def test_read_only_folder(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n" + "1,2,0\n3,1,1\n" * 20, encoding="utf-8")
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "old.html").write_text("old", encoding="utf-8")
    closed.chmod(0o555)
    try:
        answers = run_all(
            [
                ["rank", "t.csv", "--out", "closed/new.html"],
                ["rank", "t.csv", "--out", "closed/old.html"],
                ["fit", "t.csv", "--save", "closed/m.tamiz"],
            ],
            tmp_path,
        )
    finally:
        closed.chmod(0o755)
    for code, out, err, _ in answers:
        assert code == 2 and not out and is_one_line(err) and "cannot be written" in err
    assert [path.name for path in closed.iterdir()] == ["old.html"]
    assert (closed / "old.html").read_text(encoding="utf-8") == "old"
