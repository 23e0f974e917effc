"""The pages on machines and on the quadratic problem show what really happens."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


@pytest.mark.parametrize("page", ["machines.md", "quadratic-problem.md"])
def test_examples_of_the_page(page):
    failed, tried = doctest.testfile(str(DOCS / page), module_relative=False)
    assert tried > 10
    assert failed == 0
