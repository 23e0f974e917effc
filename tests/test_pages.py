"""What the code on pages prints is what stands below it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.ours

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("page", ["explaining", "extending", "onnx", "selectors"])
def test_examples_of_a_page_print_what_it_shows(page, tmp_path):
    """In a process of its own: a page may register a method."""
    if page == "onnx" and not (find_spec("onnx") and find_spec("onnxruntime")):
        pytest.skip("the page runs a graph, which needs onnx and onnxruntime")
    copied = shutil.copy(ROOT / "docs" / f"{page}.md", tmp_path)
    command = [sys.executable, str(ROOT / "docs" / "page_outputs.py"), copied]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{page}.md: as before\n", Path(copied).read_text(encoding="utf-8")
