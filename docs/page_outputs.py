"""Write into the pages what their code prints.

    python docs/page_outputs.py docs/quick-start.md ... [--folder FOLDER]

The ``python`` blocks of a page are run one after the other, in a folder that is removed afterwards
unless you name one. What a block prints is written into the ``text`` block that follows it, and one
is made where there is none. A ``sh`` block is run only if a ``text`` block follows; so is the
command of a comment, ``<!-- run: COMMAND -->``. A page whose code fails is left as it is.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

BLOCK = re.compile(r"(```(?:python|sh)\n)(.*?)(```\n)(\n```text\n.*?```\n)?", re.DOTALL)
COMMENT = re.compile(r"(<!-- run: )(.*?)( -->\n)(\n```text\n.*?```\n)", re.DOTALL)


def with_outputs(text: str, name: str) -> str:
    """The text of a page with what its code prints."""
    space: dict[str, object] = {"__name__": name}

    def run(found: re.Match[str]) -> str:
        if "python" in found[1]:
            printed = run_python(found[2], name, space)
        elif found[4]:
            printed = run_shell(found[2])
        else:
            return found[0]
        printed = printed.replace(f"{Path.cwd()}{os.sep}", "").rstrip()
        lines = "\n".join(line.rstrip() for line in printed.splitlines())
        shown = f"\n```text\n{lines}\n```\n" if lines else ""
        return found[1] + found[2] + found[3] + shown

    return COMMENT.sub(run, BLOCK.sub(run, text))


def run_python(code: str, name: str, space: dict[str, object]) -> str:
    """What some code prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), space)
    return printed.getvalue()


def run_shell(code: str) -> str:
    """What some commands print, with the programs of this environment first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-ec", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PATH": path},
    )
    if done.returncode:
        raise RuntimeError(f"{code}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def main() -> int:
    """Run all pages that are named; the exit status is the number of those that failed."""
    import matplotlib

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--folder", type=Path, help="where the code runs and leaves its files")
    args = parser.parse_args()
    matplotlib.use("Agg")
    warnings.simplefilter("ignore")
    failed = 0
    for page in [page.resolve() for page in args.pages]:
        before = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as own, contextlib.chdir(args.folder or own):
            try:
                after = with_outputs(before, page.name)
            except Exception:
                traceback.print_exc()
                failed += 1
                continue
        if after != before:
            page.write_text(after, encoding="utf-8")
        print(f"{page.name}: {'written' if after != before else 'as before'}")
    return failed


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    raise SystemExit(main())
