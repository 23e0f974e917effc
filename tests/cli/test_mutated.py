"""Damaged and gigantic files through the command line: one line, the right code, no waiting.

Every command runs in a process of its own, forked from one that has imported what commands need:
that takes most of the time, and is the same for all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.cli.programs import is_one_line
from tests.data.formats.test_csv_large import csv_head, gigantic
from tests.data.test_mutated import CASES, FILES, damaged, outcome

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

#: Reads commands as JSON, some to warm up with and those that are asked for; forks for each of the
#: latter; writes code, both outputs and the bytes read, as JSON.
SERVER = """
import json, os, resource, signal, sys, tempfile
from contextlib import redirect_stderr, redirect_stdout, suppress
import tamiz.cli.app

first, commands = json.load(sys.stdin)
usual = [["rank", "d8", "-m", "fisher"], ["rank", "absent.csv"], ["rank", "--nonsense"]]
for warm_up in usual + first:
    with open(os.devnull, "w") as no, redirect_stdout(no), redirect_stderr(no):
        with suppress(SystemExit):
            tamiz.cli.app.main(warm_up)

def read_so_far():
    try:
        with open("/proc/self/io") as file:
            return int(file.readline().split()[1])
    except OSError:
        return None

def child(arguments, stdout, limit, out, err):
    os.dup2(out.fileno() if stdout is None else os.open(stdout, os.O_WRONLY), 1)
    os.dup2(err.fileno(), 2)
    signal.alarm(100)
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sys.argv[1:] = arguments
    try:
        tamiz.cli.app.main(arguments)
    except SystemExit as leaving:
        code = leaving.code
    try:
        sys.stdout.flush()  # as Python does at the end, and complains if it fails
        sys.stderr.flush()
    except OSError:
        code = 120
    os._exit(code)

answers = []
for arguments, stdout, limit in commands:
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        before = read_so_far()
        pid = os.fork()
        if not pid:
            child(arguments, stdout, limit, out, err)
        _, status = os.waitpid(pid, 0)
        after = read_so_far()  # a parent that has waited for a child counts what that one read
        out.seek(0), err.seek(0)
        answers.append(
            [os.waitstatus_to_exitcode(status), out.read(), err.read(),
             None if before is None else after - before]
        )
json.dump(answers, sys.__stdout__)
"""


def run_all(commands, cwd, first=()):
    """Code, standard output, standard error and bytes read of each command.

    A command is a list of arguments; or those, a file instead of standard output (or None), and
    the largest file that may be written. Those that come ``first`` are run once before the others
    are forked, which then need not import the same again; nothing is said of them.
    """
    full = [one if isinstance(one, tuple) else (one, None, None) for one in commands]
    done = subprocess.run(
        [sys.executable, "-c", SERVER],
        input=json.dumps([list(first), [[[str(a) for a in one[0]], *one[1:]] for one in full]]),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        cwd=cwd,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("damaged")


@pytest.fixture(scope="module")
def answers(folder):
    """What 'rank' says to some damaged files of each kind, and to those that are built to hurt."""
    names = {}
    whole = []
    for kind, make in FILES.items():
        raw = make()
        (folder / f"whole.{kind}").write_bytes(raw)
        whole.append(["rank", f"whole.{kind}", "-m", "fisher"])
        chosen = {True: [], False: []}
        for seed in range(50):
            path = folder / f"t{seed}.{kind}"
            path.write_bytes(damaged(raw, seed))
            refused = isinstance(outcome(path), str)
            few = chosen[refused]
            if len(few) < (4 if refused else 1) and seed % 10 not in [s % 10 for s, _ in few]:
                few.append((seed, path.name))
            else:
                path.unlink()
        names[kind] = {refused: [name for _, name in few] for refused, few in chosen.items()}
    names["built"] = {True: [], False: []}
    for case in CASES:
        name, raw, _ = case()
        name = f"{case.__name__}.{name.partition('.')[2]}"
        (folder / name).write_bytes(raw)
        names["built"][True].append(name)
    every = [name for two in names.values() for some in two.values() for name in some]
    commands = [["rank", name, "-m", "fisher", "--quiet"] for name in every]
    big = gigantic(folder / "big.csv", csv_head(3_000))
    some = ["rank", big.name, "--rows", 1000, "-m", "fisher", "--json", "--role", "a=numeric"]
    found = run_all([*commands, some], folder, whole)
    big.unlink()
    return names, dict(zip([*every, big.name], found, strict=True))


@pytest.mark.parametrize("kind", [*FILES, "built"])
def test_one_line_and_code_two(answers, kind):
    names, found = answers
    assert len(names[kind][True]) >= 4
    for name in names[kind][True]:
        code, out, err, _ = found[name]
        assert (code, out) == (2, ""), (name, err)
        assert is_one_line(err) and name in err


@pytest.mark.parametrize("kind", FILES)
def test_what_can_be_read_is_ranked_or_refused(answers, kind):
    names, found = answers
    assert names[kind][False]
    for name in names[kind][False]:
        code, out, err, _ = found[name]
        assert code in (0, 2), (name, err)
        assert out.startswith("rank ") if code == 0 else is_one_line(err)


def test_some_rows_of_a_gigantic_file(answers):
    code, out, err, read = answers[1]["big.csv"]
    assert code == 0, err
    assert json.loads(out)["n_samples"] == 1000
    if read is None:
        pytest.skip("this system does not tell how much a process has read")
    assert read < 50 << 20
