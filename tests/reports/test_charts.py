"""What the charts show is what was found."""

from __future__ import annotations

import copy
import json
import re

import numpy as np
import pytest
from scipy import stats

from tamiz.evaluation import significance
from tamiz.reports import render
from tamiz.reports.charts.cells import draw_grid, draw_masks
from tamiz.reports.charts.columns import BINS, density, groups_of
from tamiz.reports.charts.drawing import Drawing, figure, mark
from tamiz.reports.charts.ranks import draw_ranks
from tamiz.reports.language import LANGUAGES
from tamiz.reports.page import COLOURS, Page, style
from tests.reports.studies import full_study
from tests.reports.tree import Node, read

pytestmark = pytest.mark.ours


@pytest.fixture(scope="module")
def shown() -> Page:
    return Page(full_study(), LANGUAGES["en"])


@pytest.fixture(scope="module")
def tree() -> Node:
    return read(render(full_study(), "en"))


def chart(tree: Node, section: str, which: int = 0) -> Node:
    return [n for n in tree.one(section).of_class("wide") if "data-stops" in n.attributes][which]


def stops(node: Node) -> list:
    return json.loads(node.attributes["data-stops"])


def test_the_curves_read_out_the_errors(tree, shown):
    found = full_study().comparison
    told = stops(chart(tree, "curves"))
    assert [stop[4] for stop in told] == ["1 feature", "3 features", "5 features", "12 features"]
    for c, stop in enumerate(told):
        rows = {row[1]: row for row in stop[5]}
        for method in ("fisher", "relieff"):
            curve = found.curve(method, "linear")
            text = rows[method][2]
            assert text.startswith(f"{100 * curve.error[c]:.1f}%")
            assert f"({100 * curve.low[c]:.1f}% to {100 * curve.high[c]:.1f}%)" in text
            assert text.endswith(f"apparent {100 * curve.apparent[c]:.1f}%")
    places = [stop[0] for stop in told]
    assert places == sorted(places)


def test_lower_errors_are_lower_in_the_picture(tree):
    found = full_study().comparison
    pairs = []
    for c, stop in enumerate(stops(chart(tree, "curves"))):
        rows = {row[1]: row for row in stop[5]}
        for method in ("fisher", "relieff"):
            if rows[method][3] is not None:  # not cut off
                pairs.append((found.curve(method, "linear").error[c], rows[method][3]))
    errors, heights = np.array(pairs).T
    slope, shift = np.polyfit(errors, heights, 1)
    assert slope < 0  # the picture counts downwards
    assert np.abs(heights - (slope * errors + shift)).max() < 0.2


def test_the_solid_line_goes_through_the_honest_errors(tree):
    node = chart(tree, "curves")
    lead = next(g for g in node.of_class("series") if "lead" in g.attributes["class"])
    name = full_study().recommended.method
    drawn = re.findall(r"[ML](\S+) ([^ML]+)", lead.of_class("line")[0].attributes["d"])
    marks = [m for m in lead.all("circle") if m.attributes["class"] == "mark"]
    places = [(m.attributes["cx"], m.attributes["cy"]) for m in marks]
    told = [(stop[0], next(row[3] for row in stop[5] if row[1] == name)) for stop in stops(node)]
    shown = [k for k, (_, height) in enumerate(told) if height is not None]  # not cut off
    assert shown
    for points in (drawn, places):
        away = np.array(points, dtype=float)[shown] - np.array(
            [told[k] for k in shown], dtype=float
        )
        assert np.abs(away).max() < 0.11


def test_honest_is_solid_with_a_band_and_apparent_is_dashed(tree):
    series = chart(tree, "curves").of_class("series")
    lead = [g for g in series if "lead" in g.attributes["class"]]
    assert len(lead) == 1
    for css in ("band", "line", "apparent"):
        assert len(lead[0].of_class(css)) == 1
    assert len(series) == 2
    assert sum(bool(g.of_class("apparent")) for g in series) == 2


def test_the_gap_is_the_selection_bias(tree):
    found = full_study().comparison
    for stop in stops(chart(tree, "bias")):
        if stop[4] in ("fisher", "relieff"):
            line = found.estimate(stop[4], "linear")
            said = {row[1]: row[2] for row in stop[5]}
            assert said["Honest error"] == f"{100 * line.error:.1f}%"
            assert said["Apparent error"] == f"{100 * line.apparent:.1f}%"
            points = float(said["Selection bias"].replace("−", "-").removesuffix(" points"))
            assert points == pytest.approx(100 * (line.error - line.apparent), abs=0.051)


@pytest.mark.parametrize("width", [720.0, 340.0])
def test_the_map_of_splits_fills_what_was_selected(shown, width):
    found = full_study().stability["fisher"]
    rows = [int(j) for j in np.flatnonzero(found.frequency)]
    drawing = Drawing(width)
    draw_masks(drawing, shown, found, rows)
    cells = [part for part in drawing.parts if part.startswith("<rect")]
    assert len(cells) == len(rows) * found.n_selections
    filled = sum('fill-opacity="0.85"' in part for part in cells)
    assert filled == found.masks.sum()
    assert len(drawing.stops) == len(rows)


def test_the_grid_marks_the_chosen_cell_and_the_least_error_is_strongest(shown):
    errors = np.array([[0.4, 0.3], [0.2, np.nan], [0.1, 0.5]])
    drawing = Drawing(720.0)
    draw_grid(
        drawing, shown, ("C", "gamma"), ([1.0, 10.0], [0.1, 1.0, 10.0]), errors, (1.0, 10.0), str
    )
    told = {stop[4]: stop for stop in drawing.stops}
    assert told["C = 1, gamma = 10"][5][0][2] == "0.1 · chosen"
    ring = next(part for part in drawing.parts if 'class="best"' in part)
    x, y = (float(re.search(f'{key}="([^"]+)"', ring)[1]) for key in ("cx", "cy"))
    assert [x, y] == pytest.approx(told["C = 1, gamma = 10"][:2], abs=0.1)
    strengths = [
        float(s) for part in drawing.parts for s in re.findall('fill-opacity="([^"]+)"', part)
    ]
    assert sorted(strengths)[-2:] == [1.0, 1.0]  # the least, and the one that is not known
    assert "cell none" in "".join(drawing.parts)


@pytest.mark.parametrize("width", [720.0, 340.0])
@pytest.mark.parametrize("n_methods", [2, 3, 7, 12])
def test_ranks_are_all_named_once(shown, width, n_methods):
    rng = np.random.default_rng(0)
    errors = rng.normal(np.linspace(0.1, 0.4, n_methods), 0.05, size=(20, n_methods))
    names = [f"m{k}" for k in range(n_methods)]
    test = "wilcoxon" if n_methods == 2 else "friedman"
    found = significance(errors, names=names, test=test)
    drawing = Drawing(width)
    draw_ranks(drawing, shown, found)
    texts = " ".join(re.findall(">([^<]+)</text>", "".join(drawing.parts)))
    for name, rank in zip(names, found.ranks, strict=True):
        assert len(re.findall(rf"\b{name}\b", texts)) == 1
        assert f"{rank:.2f}" in texts
    joined = "".join(drawing.parts).count('class="joined"')
    assert joined == len(found.groups)
    assert sorted(stop[4] for stop in drawing.stops) == sorted(names)


def test_a_density_is_close_to_that_of_scipy():
    values = np.random.default_rng(0).normal(3, 2, 500)
    low, high = -6.0, 12.0
    ours = density(values, low, high)
    assert ours.sum() == pytest.approx(1, abs=0.01)
    centres = low + (np.arange(BINS) + 0.5) / BINS * (high - low)
    theirs = stats.gaussian_kde(values, "silverman")(centres) * (high - low) / BINS
    assert np.abs(ours - theirs).max() < 0.12 * theirs.max()


@pytest.mark.parametrize("values", [[5.0], [1.0, 1.0, 1.0], [0.0, 1e9], [1e-300, 2e-300]])
def test_a_density_of_few_values_is_finite(values):
    found = density(np.array(values), min(values) - 1, max(values) + 1)
    assert np.isfinite(found).all() and 0.5 < found.sum() < 1.01  # half may lie beyond the ends


def test_groups_hold_the_rows_of_each_class(shown):
    groups = groups_of(shown)
    assert groups.names == ["malignant", "benign"]
    assert groups.code.tolist() == full_study().dataset.y.tolist()


def test_the_card_says_how_sure_the_machines_were(tree):
    margin = full_study().card.margin
    shown = [one for one in tree.one("card").all("table") if "Inside the margin" in one.text]
    assert len(shown) == 1
    part = margin.parts["inside"]
    assert f"{part.n_samples:g}" in shown[0].text and f"{part.accuracy.value:.3f}" in shown[0].text
    made = sum(part.n_samples for part in margin.parts.values())
    assert f"Of the {made:g} predictions made by machines with a margin" in tree.one("card").text


def test_the_confusion_matrix_holds_its_counts(tree):
    table = next(
        t for t in tree.one("card").all("table") if "shaded" in t.attributes.get("class", "")
    )
    counts = [[int(td.all("b")[0].text) for td in row.all("td")] for row in table.all("tr")[1:]]
    assert counts == full_study().card.confusion.tolist()


def test_categories_are_bars_and_numbers_are_ridges():
    study = full_study()
    features = ["mean concave points", "mean radius", "colour"]
    best = type(study.recommended)(**{**vars(study.recommended), "features": features})
    other = type(study)(**{**vars(study), "recommended": best})
    panels = read(render(other)).one("features").of_class("panel")
    assert [len(panel.of_class("area")) for panel in panels] == [2, 2, 0]
    levels = {stop[4] for stop in stops(panels[2].of_class("chart")[0])}
    assert levels == {"red", "green", "blue"}
    fractions = [
        float(row[2].rstrip("%"))
        for stop in stops(panels[2].of_class("chart")[0])
        for row in stop[5]
        if row[1] == "benign"
    ]
    assert sum(fractions) == pytest.approx(100, abs=0.2)


def test_styles_repeat_after_eight_with_a_broken_line():
    looks = [style(k) for k in range(2 * COLOURS)]
    assert len({look.css for look in looks}) == 2 * COLOURS
    assert len({mark(look.shape, 0, 0) for look in looks}) == COLOURS


def test_a_figure_has_one_drawing_for_each_width(shown):
    widths = []

    def draw(drawing: Drawing) -> None:
        widths.append(drawing.width)
        drawing.height = 10.0
        drawing.stop(1, 2, "</div>'\"", [("c1", "<b>", "&", None)])

    tree = read(figure(shown, draw, "<title>", "a & b"))
    assert widths == [720.0, 340.0]
    assert [c.attributes["class"] for c in tree.of_class("chart")] == ["chart wide", "chart narrow"]
    assert stops(tree.of_class("chart")[0]) == [
        [1, 2, 0, 0, "</div>'\"", [["c1", "<b>", "&", None]]]
    ]
    assert tree.all("figcaption")[0].text == "a & b"


@pytest.mark.parametrize(("lang", "name"), [("en", "(own size)"), ("es", "(número propio)")])
def test_the_largest_bias_is_that_of_its_row(lang, name):
    """A method with its own number of features has two rows, and the finding says which."""
    study = copy.copy(full_study())
    study.comparison = copy.copy(study.comparison)
    lines = study.comparison.estimates()
    judge = study.recommended.judge
    own = next(o for o in lines if o.judge == judge and np.isfinite(o.apparent))
    own = own._replace(kind="own", bias=0.4, apparent=own.error - 0.4)
    study.comparison.estimates = lambda: [*lines, own]
    said = read(render(study, lang)).one("bias").all("figcaption")[0].text
    assert f"{own.method} {name}" in said
    assert "yerra" not in said and "errs" not in said
