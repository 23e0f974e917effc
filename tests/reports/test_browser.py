"""The page in a real browser: no errors, no requests, and everything that moves.

Where there is no browser or no Playwright these tests are skipped; with TAMIZ_BROWSER=required they
fail instead.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse
from xml.etree import ElementTree

import pytest
from PIL import Image

from tamiz.reports import write_report
from tamiz.reports.markup import json_block, visible
from tests.reports.studies import dated_study, evil_study, full_study, other_study, wide_study
from tests.reports.tree import read

ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--no-first-run",
]  # fmt: skip
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
DATED = ("dates", "fechas")
PAGES = ("en", "es", "wide", "evil", *DATED)
STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
FORMULAS = [
    "=1+cmd|'/C calc'!A0", "=\u2028cmd|'/C calc'!A0", "@\u2029SUM(A1)", "\uff1d1+1", "-\n1",
    "\t=1+1", "\n=1+1",
]  # fmt: skip
EVIL = [
    "<script>boom()</script>", "</script>", '"><img src=x onerror=boom()>', "x\x00y", "😀",
    "plain = 1", *FORMULAS,
]  # fmt: skip


def _absent(reason: str) -> None:
    if os.environ.get("TAMIZ_BROWSER") == "required":
        pytest.fail(f"TAMIZ_BROWSER=required, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One browser with a fresh profile for all tests of this file."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _absent("Playwright is not installed: pip install playwright")
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        _absent(f"no browser was found; looked for {', '.join(BROWSERS)}")
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(tmp_path_factory.mktemp("profile")), executable_path=program, headless=True,
            args=ARGUMENTS, viewport={"width": 1200, "height": 900}, accept_downloads=True,
        )  # fmt: skip
        context.set_default_timeout(8000)
        yield context
        context.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of the pages."""
    folder = tmp_path_factory.mktemp("reports")
    pages = {
        "en": (full_study(), "en"),
        "es": (full_study(), "es"),
        "paper": (replace(full_study(), tuning=None, permutation=None), "en"),
        "three": (other_study("three classes"), "en"),
        "colour": (other_study("one category"), "es"),
        "no signal": (other_study("no signal"), "es"),
        "numbers": (other_study("regression"), "en"),
        "dates": (dated_study(), "en"),
        "fechas": (dated_study(), "es"),
        "wide": (wide_study(), "en"),
        "evil": (evil_study(EVIL), "es"),
    }
    written = {
        name: write_report(study, folder / f"{name}.html", lang=lang)
        for name, (study, lang) in pages.items()
    }
    written["raw"] = with_raw_names(written["evil"])
    return {name: path.as_uri() for name, path in written.items()}


@pytest.fixture
def visit(browser: Any, reports: dict[str, str]) -> Iterator[Any]:
    """Open a page; afterwards nothing may have been complained of or asked for."""
    pages, troubles = [], []

    def go(name: str, width: int = 1200, height: int = 900, **media: Any) -> Any:
        page = browser.new_page()
        pages.append(page)
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("dialog", lambda dialog: troubles.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda r: None if r.url == reports[name] or r.url.startswith("blob:")
            else troubles.append(f"request: {r.url}"),
        )  # fmt: skip
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(**{"color_scheme": "light", "reduced_motion": "reduce", **media})
        page.goto(reports[name])
        return page

    yield go
    for page in pages:
        page.close()
    assert troubles == []


def names(page: Any) -> list[str]:
    return page.locator("#ranking-table tbody td:nth-child(2)").all_inner_texts()


def cells(page: Any, column: int) -> list[str]:
    return page.locator(f"#ranking-table tbody td:nth-child({column})").all_inner_texts()


def status(page: Any) -> str:
    return page.locator("#ranking-status").inner_text()


@pytest.mark.parametrize("name", [*PAGES, "three", "colour", "no signal", "numbers"])
def test_a_page_opens_without_a_word_of_complaint(visit, name):
    page = visit(name)
    assert page.locator("section").count() >= 6
    assert page.evaluate("typeof window.boom") == "undefined"
    assert page.evaluate("document.querySelectorAll('script').length") == 2


@pytest.mark.parametrize("name", [*PAGES, "three", "colour", "no signal", "numbers"])
def test_no_sideways_scrolling_on_a_phone(visit, name):
    page = visit(name, width=360, height=740)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    sticking = page.evaluate(
        """() => [...document.querySelectorAll('main *')].filter(e => {
            const r = e.getBoundingClientRect();
            return r.right > 361 && !e.closest('.scroll') && !e.closest('.quietly');
        }).map(e => e.outerHTML.slice(0, 90))"""
    )
    assert sticking == []
    assert page.locator(".chart.narrow").first.is_visible()
    over = "[...document.querySelectorAll('caption')].filter(c => c.offsetWidth > innerWidth)"
    assert page.evaluate(f"{over}.length") == 0
    assert not page.locator(".chart.wide").first.is_visible()


@pytest.mark.parametrize("name", ["en", "es", "three", "colour", "no signal", "numbers", *DATED])
@pytest.mark.parametrize("width", [390, 1200])
def test_no_text_of_a_chart_is_cut_or_covered(visit, width, name):
    """Every text lies inside its picture, and no two texts of a picture overlap."""
    page = visit(name, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    found = page.evaluate(
        """() => {
            const bad = [];
            for (const svg of document.querySelectorAll('svg[role=img]')) {
                const f = svg.getBoundingClientRect();
                if (!f.width) continue;
                const texts = [...svg.querySelectorAll('text')].map(t =>
                    [t.textContent, t.getBoundingClientRect()]);
                texts.forEach(([words, r], k) => {
                    if (r.left < f.left - 2 || r.right > f.right + 2 || r.top < f.top - 2
                        || r.bottom > f.bottom + 3) bad.push('cut: ' + words);
                    for (const [other, s] of texts.slice(k + 1)) {
                        const w = Math.min(r.right, s.right) - Math.max(r.left, s.left);
                        const h = Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top);
                        if (w > 1 && h > 4.5) bad.push('overlap: ' + words + ' / ' + other);
                    }
                });
            }
            return bad;
        }"""
    )
    assert found == []


@pytest.mark.parametrize(("name", "said"), [("dates", "2022-01-01"), ("fechas", "2022-01-01")])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_change_over_time_is_drawn_and_reads_out(visit, name, said, scheme):
    page = visit(name, color_scheme=scheme)
    part = page.locator("#drift")
    assert part.locator("svg[role=img]").first.is_visible()
    assert said in part.inner_text() and "income of the household" in part.inner_text()
    chart = part.locator(".chart.wide[data-stops]").first
    chart.scroll_into_view_if_needed()
    chart.locator(".hit").focus()
    page.keyboard.press("Home")
    assert "2022" in chart.locator(".tip").inner_text()


def test_the_ranking_sorts_by_click_and_by_key(visit):
    page = visit("en")
    heads = page.locator("#ranking-table th")
    first = names(page)
    heads.nth(1).locator("button").click()
    assert names(page) == sorted(first, key=str.lower)
    assert heads.nth(1).get_attribute("aria-sort") == "ascending"
    assert heads.nth(0).get_attribute("aria-sort") == "none"
    page.keyboard.press("Enter")
    assert names(page) == sorted(first, key=str.lower, reverse=True)
    assert heads.nth(1).get_attribute("aria-sort") == "descending"
    score = heads.nth(3).locator("button")
    score.focus()
    page.keyboard.press("Space")
    values = [float(text) for text in cells(page, 4)]
    assert values == sorted(values, reverse=True)


def test_what_has_no_score_is_last_both_ways(visit):
    page = visit("evil")
    score = page.locator("#ranking-table th").nth(3).locator("button")
    orders = []
    for _ in range(2):
        score.click()
        orders.append(cells(page, 4))
    assert [order.index("–") for order in orders] == [len(EVIL) - 1] * 2
    assert orders[0][:-1] == orders[1][:-1][::-1]


def test_the_first_rows_are_the_same_with_and_without_a_script(visit, reports):
    for name in ("en", "es"):
        tree = read(Path(unquote(urlparse(reports[name]).path)).read_text(encoding="utf-8"))
        rows = tree.one("ranking-table").all("tbody")[0].all("tr")
        plain = [[cell.text for cell in row.all("td")] for row in rows]
        page = visit(name)
        made = page.evaluate(
            """() => [...document.querySelectorAll('#ranking-table tbody tr')].map(
                r => [...r.cells].map(c => c.textContent))"""
        )
        assert made == plain


def test_search_filters_and_says_when_nothing_is_left(visit):
    page = visit("en")
    page.fill("#ranking-search", "MEAN rad")
    assert names(page) == ["mean radius"]
    assert status(page) == "1–1 of 1"
    page.fill("#ranking-search", "no such name")
    assert names(page) == [] and status(page) == "No feature matches."
    page.fill("#ranking-search", "")
    page.check("#ranking-only")
    assert names(page) == full_study().recommended.features


def test_sixteen_thousand_rows_are_quick(visit):
    page = visit("wide")
    assert status(page) == "1–25 of 16,063"
    page.click("#ranking-next")
    assert status(page) == "26–50 of 16,063" and cells(page, 1)[0] == "26"
    page.select_option("#ranking-size", "100")
    assert len(names(page)) == 100
    spent = page.evaluate(
        """() => {
            const start = performance.now();
            document.querySelectorAll('#ranking-table th button')[1].click();
            const box = document.getElementById('ranking-search');
            box.value = '0777';
            box.dispatchEvent(new Event('input'));
            return performance.now() - start;
        }"""
    )
    assert spent < 2500
    assert all("0777" in name for name in names(page)) and len(names(page)) == 12


def test_hostile_names_are_shown_by_the_script_too(visit):
    page = visit("evil")
    assert {"<script>boom()</script>", '"><img src=x onerror=boom()>', "x␀y"} <= set(names(page))
    page.locator(".chart[data-stops] .hit").first.hover()
    assert page.locator("img").count() == 0


def test_the_ranking_can_be_saved(visit):
    page = visit("en")
    with page.expect_download() as saved:
        page.click("#ranking-save")
    text = Path(saved.value.path()).read_text(encoding="utf-8-sig")
    lines = text.strip().split("\n")
    assert len(lines) == 1 + full_study().dataset.n_features
    assert lines[0].startswith("Rank,Feature,Selected,Score")


def test_a_saved_ranking_holds_no_formula(visit):
    page = visit("evil")
    with page.expect_download() as saved:
        page.click("#ranking-save")
    text = Path(saved.value.path()).read_text(encoding="utf-8-sig")
    rows = list(csv.reader(StringIO(text, newline="")))
    saved_names = {row[1] for row in rows[1:]}
    assert len(saved_names) == len(EVIL)
    for name in FORMULAS:
        shown = visible(name)
        assert (f"'{shown}" if shown[0] in STARTS else shown) in saved_names
    assert "plain = 1" in saved_names
    assert not any(cell[0] in STARTS for cell in saved_names)


def test_cells_with_control_characters_are_no_formulas(visit):
    """Names stand in the page with pictures of such characters; the rule holds without these."""
    page = visit("raw")
    with page.expect_download() as saved:
        page.click("#ranking-save")
    text = Path(saved.value.path()).read_bytes().decode("utf-8-sig")
    saved_names = {row[1] for row in list(csv.reader(StringIO(text, newline="")))[1:]}
    assert {f"'{name}" for name in FORMULAS} <= saved_names
    assert not any(cell[0] in STARTS for cell in saved_names)


def with_raw_names(path: Path) -> Path:
    """The page with the names as they are in its ranking."""
    before, start, after = path.read_text(encoding="utf-8").partition('id="ranking-data"')
    head, bracket, rest = after.partition(">")
    block, end, rest = rest.partition("</script>")
    data = json.loads(block)
    names = data["columns"][1][1]
    raw = {visible(name): name for name in EVIL}
    names[:] = [raw[name] for name in names]
    block = json_block(data)
    other = path.with_name("raw.html")
    other.write_text(before + start + head + bracket + block + end + rest, encoding="utf-8")
    return other


def test_a_chart_reads_out_under_the_pointer_and_by_keys(visit):
    page = visit("en")
    chart = page.locator("#curves .chart.wide").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + box["height"] / 2)
    tip = chart.locator(".tip")
    assert "12 features" in tip.inner_text() and "fisher" in tip.inner_text()
    page.mouse.move(5, 5)
    assert tip.count() == 0
    page.locator("#curves figure").first.locator(".legend button").last.focus()
    page.keyboard.press("Tab")
    assert "1 feature" in tip.inner_text()
    page.keyboard.press("ArrowRight")
    assert "3 features" in tip.inner_text()
    assert "3 features" in chart.locator("[role=status]").inner_text()
    page.keyboard.press("End")
    assert "12 features" in tip.inner_text()
    page.keyboard.press("Escape")
    assert tip.count() == 0
    page.keyboard.press("Home")
    assert tip.count() == 1
    page.keyboard.press("Tab")
    assert tip.count() == 0


def test_every_chart_reads_out_inside_the_page(visit):
    for width in (360, 1200):
        page = visit("es", width=width)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        result = page.evaluate(
            """() => {
                const bad = []; let seen = 0;
                for (const hit of document.querySelectorAll('.hit')) {
                    if (!hit.offsetWidth) continue;
                    for (const way of ['Home', 'ArrowRight', 'ArrowDown', 'ArrowLeft', 'End']) {
                        hit.dispatchEvent(new KeyboardEvent('keydown', {key: way}));
                        const tip = hit.parentNode.querySelector('.tip');
                        if (!tip || !tip.textContent.trim()) { bad.push('none'); continue; }
                        const r = tip.getBoundingClientRect();
                        if (r.left < -1 || r.right > innerWidth + 1) bad.push(tip.textContent);
                        seen += 1;
                    }
                    hit.dispatchEvent(new Event('blur'));
                }
                return [bad, seen];
            }"""
        )
        assert result[0] == [] and result[1] > 50


def test_a_legend_brings_its_line_forward(visit):
    page = visit("en")
    button = page.locator("#curves .legend button").nth(1)
    button.click()
    page.mouse.move(5, 5)
    assert button.get_attribute("aria-pressed") == "true"
    chart = page.locator("#curves .chart.wide").first
    assert chart.locator(".series.hot").get_attribute("data-s") == "1"
    button.click()
    page.mouse.move(5, 5)
    assert chart.locator(".series.hot").count() == 0


def test_light_and_dark(visit):
    def back(page: Any) -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    page = visit("en", color_scheme="dark")
    dark = back(page)
    page.emulate_media(color_scheme="light")
    light = back(page)
    assert dark != light
    button = page.locator("#theme")
    texts = [button.inner_text()]
    for _ in range(3):
        button.click()
        texts.append(button.inner_text())
    assert texts[0] == texts[3] and len(set(texts)) == 3
    button.click()
    page.emulate_media(color_scheme="dark")
    assert back(page) == light  # chosen light stays light
    page.reload()
    assert back(page) == light
    button.click()
    page.emulate_media(color_scheme="light")
    assert back(page) == dark
    button.click()


def test_the_command_is_copied(visit, browser):
    from playwright.sync_api import expect

    browser.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit("es")
    page.click("#copy")
    expect(page.locator("#copy")).to_have_text("Copiado")
    assert page.evaluate("navigator.clipboard.readText()") == full_study().command


def test_the_names_of_an_answer_are_copied_and_saved(visit, browser):
    from playwright.sync_api import expect

    browser.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit("en")
    study = full_study()
    for k, best in enumerate((study.recommended, study.most_accurate)):
        part = page.locator(".answer").nth(k)
        part.locator(".copy-names").click()
        expect(part.locator(".copy-names")).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()").split("\n") == best.features
        with page.expect_download() as saved:
            part.locator(".save-names").click()
        text = Path(saved.value.path()).read_text(encoding="utf-8-sig")
        assert text.split() == "\n".join(["Feature", *best.features]).split()
        assert saved.value.suggested_filename == f"{best.answer.replace(' ', '-')}.csv"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_figure_is_saved_as_svg_with_its_colours(visit, scheme):
    page = visit("en", color_scheme=scheme)
    figure = page.locator("#tradeoff figure")
    with page.expect_download() as saved:
        figure.get_by_role("button", name="Save this figure as SVG").click()
    root = ElementTree.parse(saved.value.path()).getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{space}svg"
    assert all("class" not in node.attrib for node in root.iter())
    back = root.find(f"{space}rect").attrib["fill"]
    assert back == page.evaluate("getComputedStyle(document.body).backgroundColor")
    paths = root.iter(f"{space}path")
    front = [node for node in paths if node.attrib.get("stroke-width") == "1.6px"]
    assert front and front[0].attrib["stroke"] not in ("none", back)


def test_every_figure_is_saved_as_png(visit):
    page = visit("en")
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    for section in ("tradeoff", "plane", "redundancy", "curves", "card"):
        figure = page.locator(f"#{section} figure").first
        with page.expect_download() as saved:
            figure.get_by_role("button", name="Save this figure as PNG").click()
        picture = Image.open(saved.value.path()).convert("RGB")
        box = figure.locator("svg[role=img]").first.get_attribute("viewBox").split()
        assert picture.size == (3 * int(float(box[2])), int(3 * float(box[3])))
        assert len(picture.getcolors(1 << 20)) > 20  # lines, texts, marks
        assert saved.value.suggested_filename.endswith(".png")


def test_paper(visit):
    from playwright.sync_api import expect

    page = visit("wide", color_scheme="dark")
    page.fill("#ranking-search", "0777")
    page.emulate_media(media="print", color_scheme="dark")
    rows = page.locator("#ranking-table tbody tr")
    expect(rows).to_have_count(15)
    assert not page.locator("nav").is_visible() and not page.locator("#theme").is_visible()
    assert not page.locator("#ranking-search").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.emulate_media(media="screen")
    expect(rows).to_have_count(12)


def test_a_study_is_printed_on_few_pages_with_details_folded_away(visit):
    page = visit("paper")
    page.emulate_media(media="print")
    assert not page.locator("details").first.is_visible()
    document = page.pdf(format="A4", print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", document)) <= 9


@pytest.mark.parametrize("name", ["paper", "numbers", "three", "dates"])
def test_letters_of_charts_can_be_read_on_paper(visit, name):
    page = visit(name, width=688)  # A4 without its margins, at 96 points an inch
    page.emulate_media(media="print")
    sizes = page.evaluate(
        """() => [...document.querySelectorAll("svg[role=img]")]
        .filter(svg => svg.checkVisibility())
        .flatMap(svg => {
          const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
          return [...svg.querySelectorAll("text")].map(
            text => scale * parseFloat(getComputedStyle(text).fontSize));
        })"""
    )
    assert len(sizes) > 50
    assert min(sizes) > 7.5  # pixels, 5.6 points


def test_the_keyboard_reaches_the_report_at_once(visit):
    page = visit("en")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.locator("#theme").focus()
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
