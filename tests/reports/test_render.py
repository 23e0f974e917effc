"""The page as a whole: structure, safety, size, and what is left out."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from tamiz.base import Selection
from tamiz.data import Dataset
from tamiz.evaluation import stability
from tamiz.evaluation.study import Study
from tamiz.reports import render, write_report
from tamiz.reports.language import LANGUAGES
from tamiz.reports.page import Page
from tamiz.reports.sections.reasons import plain
from tests.reports.studies import KINDS, evil_study, full_study, other_study, wide_study
from tests.reports.tree import Node, read

pytestmark = pytest.mark.ours

SECTIONS = [
    "summary", "standing", "tradeoff", "features", "plane", "effects", "redundancy", "stability",
    "card",
    "learning", "curves", "bias", "methods", "signal", "tuning", "ranking", "data", "repeat",
    "glossary",
]  # fmt: skip
EVIL = [
    "<script>alert(1)</script>", "</script>", "a&b", '"quoted"', "'", "", "same", "same",
    "x\x00\n\ud800", "😀", "العربية", "漢字" * 60, "]]>", "<!--", "{n}", "%1", "\u202eesrever",
]  # fmt: skip


@pytest.fixture(scope="module")
def page() -> Node:
    return read(render(full_study(), "en"))


def sections(tree: Node) -> list[str]:
    return [node.attributes["id"] for node in tree.all("section")]


def ranking(tree: Node) -> dict:
    return json.loads(tree.one("ranking-data").text)


def small(**parts) -> Study:
    """Six rows, three features, one method."""
    X = np.array([[1.0, 5, 2], [2, 6, 2], [3, 5, 2], [8, 6, 2], [9, 5, 2], [7, np.nan, 2]])
    y = np.array([0, 0, 0, 1, 1, 1])
    data = Dataset(X, y, ["a", "b", "c"], ["no", "yes"], name="small", task="classification")
    selection = Selection(
        np.array([0, 1, 2]), np.array([True, True, False]), np.array([3.0, np.nan, -np.inf]),
        ["a", "b", "c"], "fisher",
    )  # fmt: skip
    return replace(Study(data, {"fisher": selection}, created="2026-01-02T03:04:05"), **parts)


# --------------------------------------------------------------------------------- structure


def test_a_full_study_has_all_sections_in_order(page):
    assert sections(page) == SECTIONS
    links = [a.attributes["href"] for a in page.all("nav")[0].all("a")]
    assert links == [f"#{key}" for key in SECTIONS]


@pytest.mark.parametrize("lang", ["en", "es"])
def test_the_frame_of_the_page(lang):
    tree = read(render(full_study(), lang))
    assert tree.all("html")[0].attributes["lang"] == lang
    for name in ("header", "nav", "main", "footer", "h1"):
        assert len(tree.all(name)) == 1, name
    assert tree.all("head")[0].all("title")[0].text == tree.all("h1")[0].text
    skip = tree.all("a")[0]
    assert tree.one(skip.attributes["href"][1:]).name == "main"


def test_headings_go_down_one_step_at_a_time(page):
    levels = [int(n.name[1]) for n in page.all() if re.fullmatch("h[1-6]", n.name)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert max(np.diff(levels)) <= 1


def test_ids_are_unique_and_references_lead_somewhere(page):
    ids = [n.attributes["id"] for n in page.all() if "id" in n.attributes]
    assert len(ids) == len(set(ids))
    for node in page.all():
        for key in ("aria-labelledby", "aria-describedby"):
            assert set((node.attributes.get(key) or "").split()) <= set(ids)


def test_every_picture_tells_its_finding(page):
    pictures = [n for n in page.all("svg") if n.attributes.get("role") == "img"]
    assert len(pictures) > 15
    for svg in pictures:
        title, desc = svg.all("title")[0], svg.all("desc")[0]
        assert svg.attributes["aria-labelledby"].split() == [
            title.attributes["id"], desc.attributes["id"],
        ]  # fmt: skip
        assert len(title.text) > 2 and len(desc.text) > 10
        assert "{" not in title.text + desc.text
    for svg in page.all("svg"):
        assert svg.attributes.get("role") == "img" or svg.attributes.get("aria-hidden") == "true"


def test_controls_have_names(page):
    for button in page.all("button"):
        assert button.text.strip() and button.attributes["type"] == "button"
    labels = [n for label in page.all("label") for n in label.all()]
    for name in ("input", "select"):
        for node in page.all(name):
            assert node in labels
    for table in page.all("table"):
        assert table.all("caption") or table.attributes.get("aria-label")
        assert all(th.attributes.get("scope") for th in table.all("th"))


def test_numbers_are_inside_the_picture(page):
    for svg in page.all("svg"):
        box = svg.attributes["viewbox"].split()
        width, height = float(box[2]), float(box[3])
        for node in svg.all():
            for key, most in (("x", width), ("y", height), ("cx", width), ("cy", height)):
                if key in node.attributes:
                    value = float(node.attributes[key])
                    assert -1 <= value <= most + 1, (node.name, key, value, most)
            if node.attributes.get("class") in ("band", "line", "apparent"):
                continue  # may leave the frame, which cuts them off
            numbers = re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", node.attributes.get("d") or "")
            for x, y in numbers:
                assert -6 <= float(x) <= width + 6 and -6 <= float(y) <= height + 6


def test_no_two_marks_of_an_axis_overlap(page):
    """Texts on one line keep their distance, by a generous guess of their width."""
    for svg in page.all("svg"):
        lines: dict[str, list[tuple[float, float]]] = {}
        for text in svg.all("text"):
            if (
                text.attributes.get("class") == "tick"
                and text.attributes.get("text-anchor") == "middle"
            ):
                half = 0.5 * 6.5 * len(text.text)
                x = float(text.attributes["x"])
                lines.setdefault(text.attributes["y"], []).append((x - half, x + half))
        for spans in lines.values():
            spans.sort()
            assert all(a[1] <= b[0] for a, b in pairwise(spans))


# ------------------------------------------------------------------------------------ safety


def test_nothing_is_asked_from_the_network(page):
    for node in page.all():
        for key in ("src", "srcset", "action", "poster", "data", "xlink:href"):
            assert key not in node.attributes
        assert (node.attributes.get("href") or "#").startswith("#")
        assert node.name not in ("link", "img", "iframe", "object", "embed", "base", "use", "image")
    for name in ("report.css", "report.js"):
        text = files("tamiz.reports").joinpath(name).read_text(encoding="utf-8")
        assert "url(" not in text and "@import" not in text and "//cdn" not in text
        assert not re.search(r"https?:|fetch\(|XMLHttp|innerHTML|eval\(|insertAdjacent", text)


def test_only_our_own_script_and_style_may_run(page):
    policy = next(
        m.attributes["content"] for m in page.all("meta")
        if m.attributes.get("http-equiv") == "Content-Security-Policy"
    )  # fmt: skip
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    runs = [s for s in page.all("script") if s.attributes.get("type") != "application/json"]
    for name, found in (("style", page.all("style")), ("script", runs)):
        assert len(found) == 1
        digest = base64.b64encode(hashlib.sha256(found[0].text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    for node in page.all():
        assert "style" not in node.attributes
        assert not [key for key in node.attributes if key.startswith("on")]


@pytest.mark.parametrize("lang", ["en", "es"])
def test_hostile_names_are_shown_and_never_run(lang):
    text = render(evil_study(EVIL), lang, title="</title><script>boom()</script>")
    tree = read(text)
    assert len(tree.all("script")) == 2
    assert not tree.all("img") and not tree.all("u") and not tree.all("i")
    assert text.count("</script>") == 2
    assert tree.all("title")[0].text == "</title><script>boom()</script>"
    names = ranking(tree)["columns"][1][1]
    assert {"<script>alert(1)</script>", "</script>", "😀", "العربية", "{n}"} <= set(names)
    assert "x␀␊\ufffd" in names and names.count("same") == 2
    shown = tree.one("summary").text + tree.one("features").text + tree.one("card").text
    assert "</script><script>boom()</script>" in shown
    assert tree.one("command").text == "echo '</code><script>boom()</script>' && \"quoted\""
    text.encode("utf-8")


# ------------------------------------------------------------------------- what is left out


@pytest.mark.parametrize("lang", ["en", "es"])
def test_a_bare_ranking(lang):
    tree = read(render(small(stability={}, versions={}), lang))
    assert sections(tree) == ["summary", "features", "ranking", "data", "repeat", "glossary"]
    block = ranking(tree)
    assert block["columns"][3] == ["number", [3.0, None, None]]
    assert [h.attributes["aria-sort"] for h in tree.one("ranking-table").all("th")][:2] == [
        "ascending", "none",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("part", "section"),
    [("card", "card"), ("tuning", "tuning"), ("significance", "methods"),
     ("permutation", "signal"), ("learning", "learning"), ("standing", "standing")],
)  # fmt: skip
def test_a_part_that_is_absent_leaves_its_section_out(part, section):
    study = replace(full_study(), **{part: None})
    assert sections(read(render(study))) == [key for key in SECTIONS if key != section]


def test_without_a_comparison_there_are_no_errors():
    whole = full_study()
    study = Study(whole.dataset, whole.selections, stability=whole.stability, card=whole.card)
    found = sections(read(render(study)))
    assert not {"curves", "bias", "tradeoff", "plane", "redundancy", "learning"} & set(found)
    assert {"features", "card", "stability"} <= set(found)


def test_all_that_may_be_none_is_none():
    study = small(
        stability=None, versions=None, params=None, seed=None, seconds=None, created=None,
        notes=None, warnings=None,
    )  # fmt: skip
    assert "repeat" in sections(read(render(study)))


def test_undefined_numbers_are_dashes():
    study = full_study()
    found = replace(study.comparison)
    found.errors = found.errors.copy()
    found.errors[:, :, :, 1] = np.nan
    found.errors[1] = np.nan
    found.nested_errors = np.full_like(found.nested_errors, np.nan)
    same = stability(np.ones((4, 13), dtype=bool))
    assert np.isnan(same.nogueira)
    nothing = {"error": np.nan, "low": np.nan, "high": np.nan}
    best = replace(study.recommended, agreement=np.nan, **nothing)
    honest = {**study.honest, **nothing, "pvalue": np.nan}
    text = render(
        replace(
            study, comparison=found, stability={"fisher": same}, recommended=best, honest=honest
        )
    )
    tree = read(text)
    shown = tree.all("main")[0].text + "".join(str(node.attributes) for node in tree.all())
    assert not re.search(r"\b(nan|None|inf)\b", shown.replace("': None", ""))
    assert "–" in tree.of_class("tile")[0].text
    assert "interval" not in tree.of_class("tile")[0].text


@pytest.mark.parametrize("lang", ["en", "es"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_section_fails_on_any_kind_of_study(kind, lang):
    study = other_study(kind)
    tree = read(render(study, lang))
    found = sections(tree)
    assert found == [key for key in SECTIONS if key in found]
    said = tree.all("main")[0].text
    assert not re.search(r"\b(nan|None|inf)\b|[{}]|\[\[", tree.one("summary").text)
    assert ("plane" in found) == (study.recommended is not None)
    if study.honest:
        shown = tree.of_class("tile")[0].of_class("value")[0].text
        assert shown in tree.one("summary").text and said.count(shown) > 1
    if study.honest and study.card is not None:
        assert shown in tree.of_class("honest")[0].text


@pytest.mark.parametrize("kind", ["sparse", "object", "unlabelled", "regression"])
def test_other_tables(kind):
    study = small()
    data = study.dataset
    if kind == "sparse":
        data.X = sparse.csr_matrix(np.nan_to_num(data.X))
    elif kind == "object":
        data.X = np.array([[str(v) for v in row] for row in data.X.tolist()], dtype=object)
    elif kind == "unlabelled":
        data.y = data.target_names = data.task = None
    else:
        data.y, data.target_names, data.task = np.linspace(0, 1, 6), None, "regression"
    found = sections(read(render(study, "es")))
    assert ("features" in found) == (kind != "object")


def test_one_method_and_one_size():
    found = sections(read(render(other_study("one numeric feature"))))
    assert "curves" not in found and {"summary", "plane", "ranking"} <= set(found)


def test_twelve_methods_are_told_apart():
    study = small()
    one = study.selections["fisher"]
    study.selections = {f"method {k}": replace(one, method=f"method {k}") for k in range(12)}
    study.stability = {
        name: stability([[0, 1], [0, 1], [0, 2]], n_features=3) for name in study.selections
    }
    marks = read(render(study)).one("stability").of_class("mark")
    looks = {(m.attributes["class"], m.attributes.get("d", "")[:1]) for m in marks}
    assert len(looks) >= 12


# -------------------------------------------------------------------------------- the words


def test_the_summary_says_what_was_found(page):
    study = full_study()
    said = page.one("summary").text
    honest = study.honest
    assert f"{100 * honest['error']:.1f}%" in said
    assert f"{100 * honest['low']:.1f}% to {100 * honest['high']:.1f}%" in said
    assert f"would have promised {100 * study.recommended.apparent:.1f}%" in said
    cards = page.one("summary").of_class("answer")
    assert [card.all("h3")[0].text for card in cards] == ["Smallest", "Most accurate"]
    for card, best in zip(cards, (study.recommended, study.most_accurate), strict=True):
        listed = [li.text for li in card.all("li")]
        assert listed == best.features if best.size < 13 else "nothing is left out" in card.text
        assert f"{best.size} features" in card.text and f"{100 * best.error:.1f}%" in card.text


def test_one_number_is_the_error_of_the_whole_page(page):
    shown = page.of_class("tile")[0].of_class("value")[0].text
    assert shown == f"{100 * full_study().honest['error']:.1f}%"
    assert shown in page.one("card").of_class("honest")[0].text
    first = page.one("bias").all("table")[0].all("tbody")[0].all("tr")[0]
    assert first.attributes["class"] == "mine" and "whole procedure" in first.text
    assert shown in first.text


def test_spanish_numbers_have_a_comma():
    study = full_study()
    said = read(render(study, "es")).one("summary").text
    assert f"{100 * study.recommended.error:.1f}".replace(".", ",") + "\u00a0%" in said
    assert not re.search(r"\d\.\d", said)


def test_what_the_sentences_say_is_not_said_again(page):
    said = page.of_class("why")[0].text
    assert "It has the fewest features of all combinations" in said
    assert "linear model" not in said and "careless" not in said
    above = page.one("summary").text.partition("Why these features")[0]
    assert "linear model is enough" in above and "careless" in above


def test_no_error_seen_is_not_no_error():
    study = full_study()
    none = {"error": 0.0, "low": 0.0, "high": 0.0}
    said = read(render(replace(study, honest={**study.honest, **none}))).one("summary").text
    n = study.dataset.n_samples
    assert f"{100 * (1 - 0.05 ** (1 / n)):.1f}%" in said


def test_columns_set_aside_and_warnings_are_reported(page):
    said = page.one("data").text
    assert "row id" in said and "an identifier" in said
    assert "mean area" in said  # the column with missing values
    assert "row id" in page.one("summary").of_class("warn")[0].text


# ------------------------------------------------------------------------------------- size


def test_sixteen_thousand_features_fit():
    study = wide_study()
    text = render(study)
    assert len(text.encode()) < 2_500_000
    tree = read(text)
    assert len(tree.one("ranking-table").all("tr")) == 26
    block = ranking(tree)
    assert all(len(values) == 16_063 for _, values in block["columns"])
    order = study.selections["fisher"].order
    assert block["columns"][1][1] == [study.dataset.feature_names[j] for j in order]
    other = study.selections["rfe"].ranking[order]
    assert other.tolist() in [values for _, values in block["columns"]]


def test_a_page_does_not_change_by_itself():
    assert render(full_study()) == render(full_study())


# ----------------------------------------------------------------------------------- colours


def _luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(a: str, b: str) -> float:
    low, high = sorted([_luminance(a), _luminance(b)])
    return (high + 0.05) / (low + 0.05)


def test_text_can_be_read_in_light_dark_and_on_paper():
    css = files("tamiz.reports").joinpath("report.css").read_text(encoding="utf-8")
    themes = [
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", part)) for part in css.split("color-scheme:")
    ]
    themes = [colours for colours in themes if "back" in colours]
    assert len(themes) == 4
    for colours in themes:
        for text in ("text", "quiet", "accent"):
            assert _contrast(colours[text], colours["back"]) >= 4.5
            assert _contrast(colours[text], colours["soft"]) >= 4.5
        assert _contrast(colours["warn"], colours["warnback"]) >= 4.5
        for k in range(9):
            assert _contrast(colours[f"c{k}"], colours["back"]) >= 3
    assert themes[1] == themes[2]  # the system's dark and the chosen dark are the same


# ----------------------------------------------------------------------------------- writing


def test_write_report(tmp_path):
    path = write_report(small(), tmp_path / "r.html", lang="es", title="Hola ñ")
    assert path == tmp_path / "r.html"
    text = path.read_text(encoding="utf-8")
    assert text == render(small(), "es", title="Hola ñ")
    assert "<h1>Hola ñ</h1>" in text
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]
    assert path.stat().st_mode & 0o400


@pytest.mark.parametrize("where", ["no/such/folder/r.html", "."])
def test_a_place_that_cannot_be_written_to(tmp_path, where):
    with pytest.raises(OSError, match="report cannot be written to") as caught:
        write_report(small(), tmp_path / where)
    assert "Name a file in a folder" in str(caught.value)


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_full_disk_keeps_the_old_file(tmp_path, full_disk, broken):
    path = tmp_path / "r.html"
    path.write_text("old", encoding="utf-8")
    full_disk(broken)
    with pytest.raises(OSError, match="No space left"):
        write_report(small(), path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_long_names_break_after_an_underscore_and_stay_one_name():
    page = Page(other_study("regression"), LANGUAGES["en"])
    page.names[0] = "a_long_<name>"
    shown = page.feature(0)
    assert "a_<wbr>long_<wbr>&lt;name&gt;" in shown and plain(shown) == "a_long_<name>"


@pytest.mark.parametrize("path", [None, 3, b"x"])
def test_a_path_must_be_a_name(path):
    with pytest.raises(TypeError, match="path="):
        write_report(small(), path)


def test_what_is_no_study_is_refused():
    with pytest.raises(TypeError, match=r"dataset and selections.*make_study"):
        render({"a": 1})
