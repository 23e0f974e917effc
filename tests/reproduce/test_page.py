"""Reproductions as pages: tables, folds, remarks, and the page that was made of them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from tamiz.reproduce.base import row
from tamiz.reproduce.reproduce import RECIPES, Reproduction

ROOT = Path(__file__).parents[2]


def reproduction(rows, **changes):
    about = dict(name="C1", title="t", source="s", protocol="p.", data="d", repeats={"a": 2},
                 quick=True, random_state=0, seconds=1.0)  # fmt: skip
    return Reproduction(rows=rows, **{**about, **changes})


def test_short_tables_are_open_and_remarks_are_numbered_once():
    far = {"published": 9.0, "why": "far away"}
    rows = [
        row("one", [1.0, 2.0], group="g", published=1.5, decimals=1),
        row("two", [1.0, 2.0], group="g", decimals=1, **far),
        row("three", [1.0, 2.0], group="h", decimals=1, **far),
    ]
    text = reproduction(rows).to_markdown()
    assert "**g: 1 of 2 inside**" in text and "**h: 0 of 1 inside**" in text
    assert "| one | 1.5 ± 0.7 | 1.0 to 2.0 | 1.5 | yes |" in text
    assert "| two | 1.5 ± 0.7 | 1.0 to 2.0 | 9.0 | **no** (1) |" in text
    assert text.count("Far away.") == 1 and text.endswith("1. Far away.")
    assert "<details>" not in text


def test_long_tables_are_folded_and_the_same_rows_share_one():
    names = [f"m{k}" for k in range(12)]
    rows = [row(name, [1.0, 2.0], group="g", published=1.0) for name in names]
    rows += [row(name, [1.0, 2.0], group="h", published=3.0, why="far") for name in names]
    rows += [row(name, [1.0, 2.0], group="i", published=1.0, judged=False) for name in names]
    text = reproduction(rows).to_markdown()
    assert text.count("<details>") == text.count("</details>") == 2
    assert "<summary>g, h: 12 of 24 inside</summary>" in text
    assert "| m0 | 1.000 to 2.000; 1.000 | 1.000 to 2.000; **3.000** (1) |" in text
    assert "<summary>i</summary>" in text  # nothing judged, nothing counted


def test_curves_are_a_table_of_means():
    rows = [row(f"{name}, {k} features", [k, k + 1.0], group="error")
            for name in ("a", "b, c") for k in (10, 40)]  # fmt: skip
    text = reproduction(rows).to_markdown()
    assert "| features | 10 | 40 |" in text and "| b, c | 10.5 | 40.5 |" in text
    assert "<summary>error</summary>" in text  # ours alone: short, but folded


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("all", ROOT / "examples" / "reproduce_all.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_are_written_between_their_marks(script, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("top\n<!-- C1 begin -->\nold\n<!-- C1 end -->\nbottom\n", encoding="utf-8")
    found = reproduction([row("one", [1.0, 2.0], group="g", published=1.5)])
    for _ in range(2):  # once more changes nothing
        script.write_into(page, found)
        text = page.read_text(encoding="utf-8")
        assert text.startswith("top\n<!-- C1 begin -->\n\n*Data.* d.")
        assert text.endswith("| yes |\n\n<!-- C1 end -->\nbottom\n") and "old" not in text
    with pytest.raises(SystemExit, match="C2 begin"):
        script.write_into(page, reproduction([], name="C2"))


# ------------------------------------------------------------------------------ docs/reproduce.md


def section(name):
    page = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    return page.split(f"<!-- {name} begin -->")[1].split(f"<!-- {name} end -->")[0]


@pytest.mark.parametrize("name", RECIPES)
def test_the_page_tells_the_protocol_of_the_code(name):
    recipe, text = RECIPES[name], section(name)
    assert recipe.protocol in text and recipe.data in text and recipe.thinned in text
    done = ", ".join(f"{part.name} {part.quick}" for part in recipe.parts)
    assert f"*Repeats.* {done}." in text


@pytest.mark.parametrize("name", RECIPES)
def test_the_summary_of_the_page_counts_what_its_tables_show(name):
    page = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    heads = re.findall(r"^(?:\*\*|<summary>).*: (\d+) of (\d+) inside", section(name), re.MULTILINE)
    inside, judged = (sum(int(pair[k]) for pair in heads) for k in (0, 1))
    assert re.search(rf"^\| {name} \|.*\| {inside} of {judged} \|", page, re.MULTILINE)
    outside = section(name).count("**no**") + len(re.findall(r"; \*\*[^|]*\*\*", section(name)))
    assert judged - inside == outside
