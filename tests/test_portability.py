"""Nothing that works on one kind of system only: other systems are imitated in a process."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys

import pytest

from tamiz.cli.app import run
from tests.test_workshop import ROOT, project_files

#: As on Windows: no modules and no calls of POSIX, files locked by ``msvcrt``, and SIGBREAK. Then
#: what is tried there; its findings are printed.
WINDOWS = """
import importlib, json, os, pkgutil, signal, sys, time, types
from pathlib import Path
import joblib, numba, rich.console, scipy.stats, sklearn.svm, typer  # they know their system

ABSENT = ("fcntl", "grp", "pwd", "resource", "termios", "pty")
for name in ABSENT:
    sys.modules[name] = None  # importing it is an ImportError
for name in ("fork", "getuid", "geteuid", "getpgid", "killpg", "setsid", "sched_getaffinity",
             "sysconf", "mkfifo"):
    if hasattr(os, name):
        delattr(os, name)
signal.SIGBREAK = signal.SIGUSR1
held, close, replace = {}, os.close, os.replace

def locking(file, mode, n_bytes):
    if mode == 0:
        held.pop(file)
        return
    key = os.fstat(file).st_ino, os.lseek(file, 0, os.SEEK_CUR)
    if key in held.values():
        raise OSError(13, "Permission denied")
    held[file] = key

def closing(file):
    held.pop(file, None)
    close(file)

os.close, sys.modules["msvcrt"] = closing, types.SimpleNamespace(
    LK_NBLCK=2, LK_UNLCK=0, locking=locking)
found = {}

# ------------------------------------------------------------------------------------------ locks
from tamiz.runtime.checkpoint import Journal, write_whole

with Journal("j", {}) as journal:
    journal.append(["mine"])
    try:
        Journal("j", {}, resume=True)
    except ValueError as error:
        found["second run"] = str(error)
    ((_, found["locked byte"]),) = held.values()
with Journal("j", {}, resume=True) as journal:
    found["records"] = journal.records

# ---------------------------------------------------------------------------------- replaced files
def write(refusals, code):
    asked, waited, sleep = [], [], time.sleep
    def refuse(old, new, **options):
        asked.append(new)
        if len(asked) > refusals:
            return replace(old, new, **options)
        error = PermissionError(13, "The file is used by another process")
        error.winerror = code
        raise error
    Path("a").write_bytes(b"old")
    os.replace, time.sleep = refuse, waited.append
    try:
        write_whole("a", b"new")
    except PermissionError:
        pass
    os.replace, time.sleep = replace, sleep
    return Path("a").read_text(), len(asked), sum(waited) < 2

found["reader leaves"], found["reader stays"] = write(3, 32), write(99, 5)
found["no permission"] = write(99, None)

# --------------------------------------------------------------------------------------- commands
from tamiz.cli.app import run
from tamiz.filters import FisherScore

quick = ["-m", "fisher", "--judge", "linear", "--repeats", "1", "--cv", "2", "-j", "1", "-q"]
outputs = ["--checkpoint", "journal", "--save", "m.tamiz", "--out", "r.html"]
out, fit, sys.stdout = sys.stdout, FisherScore.fit, sys.stderr
found["codes"] = [
    run(["select", "iris", *quick, *outputs]),
    run(["predict", "m.tamiz", "iris", "--out", "p.csv"]),
]

def break_off(self, *args, **options):
    signal.raise_signal(signal.SIGBREAK)

FisherScore.fit, handler = break_off, signal.getsignal(signal.SIGBREAK)
found["Ctrl-Break"] = run(["select", "iris", *quick])
found["handler restored"] = signal.getsignal(signal.SIGBREAK) is handler
FisherScore.fit = fit

class Left:
    encoding = "utf-8"
    isatty = flush = lambda self: False
    fileno = lambda self: os.open(os.devnull, os.O_WRONLY)
    def write(self, text):
        raise OSError(22, "Invalid argument")

sys.stdout = Left()
found["reader of the output left"] = run(["rank", "iris", "-m", "fisher", "--out", "rank.html"])
sys.stdout = out

# ---------------------------------------------------------------------------------------- imports
import tamiz

names = [module.name for module in pkgutil.walk_packages(tamiz.__path__, "tamiz.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
found["modules"] = len(names)
found["imported"] = [name for name in ABSENT if sys.modules[name] is not None]
print(json.dumps(found))
"""


# ----------------------------------------------------------------------------------- as on Windows


@pytest.fixture(scope="module")
def windows(tmp_path_factory):
    """What was found in a process that imitates Windows, its messages and its folder."""
    if os.name != "posix":
        pytest.skip("imitates Windows on POSIX")
    folder = tmp_path_factory.mktemp("windows")
    done = subprocess.run(
        [sys.executable, "-c", WINDOWS],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=folder,
        timeout=400,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr, folder


def test_every_module_can_be_imported_without_posix(windows):
    found = windows[0]
    assert found["modules"] > 200 and found["imported"] == []


def test_commands_run_without_posix(windows):
    found, _, folder = windows
    assert found["codes"] == [0, 0]
    assert all((folder / name).exists() for name in ("r.html", "journal", "m.tamiz"))
    assert b"\r" not in (folder / "p.csv").read_bytes()


def test_a_journal_is_locked_by_the_means_of_windows(windows):
    found = windows[0]
    assert "in use by another run" in found["second run"]
    assert found["locked byte"] > 1 << 30  # what is locked there cannot be read
    assert found["records"] == ["mine"]


def test_a_file_that_is_being_read_is_replaced_when_its_reader_has_left(windows):
    found, _, folder = windows
    assert found["reader leaves"] == ["new", 4, True]
    assert found["reader stays"] == ["old", 7, True]
    assert found["no permission"] == ["old", 1, True]
    assert not list(folder.glob("*.new")) and not list(folder.glob(".*.new"))


def test_ctrl_break_ends_a_run_as_sigterm_does(windows):
    found, said, _ = windows
    assert found["Ctrl-Break"] == 143 and found["handler restored"]
    assert "tamiz: ended by SIGUSR1; nothing was finished." in said  # it stands for SIGBREAK


def test_a_reader_who_left_is_einval_there(windows):
    found, _, folder = windows
    assert found["reader of the output left"] == 0
    assert (folder / "rank.html").exists()


# ------------------------------------------------------------------- streams and their encodings


ENCODINGS = {
    "cp1252": {"PYTHONIOENCODING": "cp1252:strict"},
    "C": {"PYTHONIOENCODING": "", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"},
}
SHOWN = """
import sys
from tamiz.cli.app import run
from tamiz.cli.console import tolerate_encoding
tolerate_encoding()
commands = ["--help", "select --help", "methods", "datasets", "reproduce"]
codes = [run(command.split()) for command in commands]
codes.append(run(["rank", "iris", "--target", "\\u2264\\u2192"]))
sys.exit(codes != [0, 0, 0, 0, 0, 2])
"""


KEPT = """
from tamiz.runtime.compiling import njit

@njit(cache=True)
def twice(x):
    return 2 * x

print(twice(4), twice.stats.cache_path.isascii())
"""


@pytest.mark.parametrize("name", ENCODINGS)
def test_no_command_fails_for_a_sign_that_the_console_lacks(tmp_path, name):
    done = subprocess.run(
        [sys.executable, "-c", SHOWN],
        capture_output=True,
        cwd=tmp_path,
        timeout=200,
        env={**os.environ, **ENCODINGS[name]},
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr and b"tamiz: " in done.stderr
    assert b"??" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="names of files are bytes there")
def test_compiled_functions_are_kept_where_the_locale_cannot_spell_the_folder(tmp_path):
    script = tmp_path / "ñandú, ёж" / "twice.py"
    script.parent.mkdir()
    script.write_text(KEPT, encoding="utf-8")
    environment = {**os.environ, **ENCODINGS["C"], "NUMBA_CACHE_DIR": ""}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, timeout=200, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [b"8", b"False"]
    assert list(script.parent.rglob("*.nbc"))


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX closes them")
def test_closed_streams_do_not_lose_the_report(tmp_path):
    command = f'"{sys.executable}" -m tamiz rank iris -m fisher --out r.html <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, timeout=200, check=False)
    assert done.returncode == 0
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!")


def test_folders_files_and_columns_may_have_any_letters(tmp_path, capsys):
    folder = tmp_path / "Ünïcode folder, 表"
    folder.mkdir()
    table, report = folder / "my tåble.csv", folder / "répört.html"
    rows = "\n".join(f"{k % 7},{k % 3},{'ñ' if k % 2 else 'ü'}" for k in range(40))
    table.write_text(f"größe,b,y\n{rows}\n", encoding="utf-8")
    assert run(["rank", str(table), "-m", "fisher", "--out", str(report)]) == 0
    assert "größe" in capsys.readouterr().out
    assert "größe" in report.read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------- our files


@pytest.mark.ours
def test_names_of_files_are_possible_everywhere():
    names = [path.relative_to(ROOT).as_posix() for path in project_files()]
    assert len({name.casefold() for name in names}) == len(names)
    reserved = {"con", "prn", "aux", "nul", *(f"{x}{k}" for x in ("com", "lpt") for k in range(10))}
    for name in names:
        assert not set(name) & set('<>:"\\|?*'), name
        for part in name.split("/"):
            assert part.split(".")[0].lower() not in reserved, name
            assert not part.endswith((" ", ".")), name
        assert len(name) < 120, name


#: Calls that read or write text, and the position of the encoding among their arguments.
TEXT = {"open": 3, "read_text": 0, "write_text": 1}


def without_encoding(tree: ast.Module) -> list[int]:
    """Lines of calls of ``open``, ``read_text`` and ``write_text`` that name no encoding."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        method = isinstance(node.func, ast.Attribute)
        name = getattr(node.func, "attr" if method else "id", "")
        if name not in TEXT or any(one.arg in ("encoding", None) for one in node.keywords):
            continue
        if name == "open":
            if method:  # of a path, which the linter knows; of an archive, which gives bytes
                continue
            modes = [*node.args[1:], *(one.value for one in node.keywords if one.arg == "mode")]
            if any("b" in str(getattr(mode, "value", "")) for mode in modes[:1]):
                continue
        if len(node.args) <= TEXT[name]:
            found.append(node.lineno)
    return found


@pytest.mark.ours
def test_text_is_read_and_written_in_an_encoding_that_is_named():
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in project_files()
        if path.suffix == ".py"
        for line in without_encoding(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found, "\n".join(found)


@pytest.mark.ours
def test_a_missing_encoding_would_be_found():
    bad = "open(a)\nopen(a, 'w')\npath.read_text()\np.write_text(t)\nopen(a, mode='x')"
    assert without_encoding(ast.parse(bad)) == [1, 2, 3, 4, 5]
    good = "open(a, 'rb')\nopen(a, encoding=e)\np.read_text(e)\nos.open(a)\nopen(a, mode='wb')"
    assert without_encoding(ast.parse(good)) == []


#: What only POSIX has, and how a file that uses it says what happens elsewhere.
POSIX = {
    "os": "fork getuid geteuid getgid getpgid getpgrp setpgid killpg setsid sched_getaffinity"
    " sysconf mkfifo getloadavg nice uname chown wait3 wait4 register_at_fork statvfs set_blocking",
    "signal": "SIGKILL SIGALRM SIGHUP SIGUSR1 SIGUSR2 SIGSTOP SIGCONT SIGCHLD SIGPIPE SIGQUIT alarm"
    " setitimer pause sigwait pthread_sigmask pthread_kill",
    "time": "tzset",
}
MODULES = {"fcntl", "grp", "pwd", "resource", "termios", "pty", "tty", "syslog", "curses", "select"}
ELSEWHERE = re.compile(
    r'hasattr\(\w+, "NAME"\)|getattr\(\w+, "NAME"|skipif\(\s*(os\.name|sys\.platform|not hasattr)'
    r'|sys\.platform [!=]= "win32"|except \(?(ImportError|AttributeError)|pytest\.skip'
)


def of_posix(tree: ast.Module) -> set[str]:
    """Names that Windows does not have: attributes of modules, and modules that are imported."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in POSIX.get(node.value.id, "").split():
                found.add(node.attr)
            elif node.value.id == "os" and node.attr == "rename":
                found.add("rename")  # which refuses where there is a file, unlike replace
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module)} & MODULES
    return found


def unguarded(text: str) -> set[str]:
    """Names of POSIX in a file that does not say what happens where they are missing."""
    names = of_posix(ast.parse(text))
    return {name for name in names if not re.search(ELSEWHERE.pattern.replace("NAME", name), text)}


@pytest.mark.ours
def test_what_only_posix_has_is_asked_for_first():
    found = {
        path.relative_to(ROOT).as_posix(): names
        for path in project_files()
        if path.suffix == ".py" and (names := unguarded(path.read_text(encoding="utf-8")))
    }
    # campaigns that fork are not tried elsewhere: tools.attack.runner.Campaign.missing
    for name in [name for name in found if name.startswith("tools/attack/")]:
        assert re.search(r"apart = True|os\.fork\(\)", (ROOT / name).read_text(encoding="utf-8"))
        del found[name]
    assert found == {}


@pytest.mark.ours
def test_a_call_of_posix_alone_would_be_found():
    assert unguarded("import os, signal\nos.kill(1, signal.SIGKILL)") == {"SIGKILL"}
    assert unguarded("import resource\nimport os\nos.fork()") == {"resource", "fork"}
    assert unguarded("try:\n    import resource\nexcept ImportError:\n    pass") == set()
    assert unguarded('import os\nif hasattr(os, "fork"):\n    os.fork()') == set()
