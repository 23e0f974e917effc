"""Figures of the sources: all are listed, all are drawn, and the page shows them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from tamiz.reproduce import draw_figure, p3, p4, p6, source_figures
from tamiz.reproduce.base import unit
from tamiz.reproduce.figures import FIGURES, examples, margins, markdown, recipes
from tamiz.reproduce.figures.base import Effort, SourceFigure

mpl.use("agg")
DOCS = Path(__file__).parents[2] / "docs"
#: How many figures each document has, by its captions.
COUNTS = {"S0": 11, "S1": 4, "S2": 8, "S3": 14, "S4": 14}
#: Those that repeat experiments on real data; drawn below on small tables.
LONG = {"S1-4", "S2-6.2", *(f"S3-4.{k}" for k in range(1, 12))}
NEEDS_DATA = {"S0-3.1", "S0-3.2", "S0-3.3", "S0-3.4", "S2-6.1", "S4-2", "S4-3", "S4-6", "S4-7"}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def draw(shown: SourceFigure):
    canvas = Figure(shown.size, layout="constrained")
    assert shown.draw is not None
    shown.draw(canvas, Effort(1))
    return canvas


def test_every_figure_of_the_five_documents_is_listed():
    names = list(source_figures())
    assert {s: sum(n.startswith(s) for n in names) for s in COUNTS} == COUNTS
    assert names == sorted(names, key=lambda n: (n[:2], [int(k) for k in n[3:].split(".")]))
    assert [n for n, shown in FIGURES.items() if shown.draw is None] == ["S3-4.11"]


def test_the_page_has_every_figure_and_its_picture():
    page = (DOCS / "figures.md").read_text(encoding="utf-8")
    assert markdown() in page
    for picture in re.findall(r"\]\((figures/sources/[^)]*)\)", page):
        assert (DOCS / picture).read_bytes().startswith(b"\x89PNG")
    files = {file.stem: file.read_bytes() for file in (DOCS / "figures" / "sources").iterdir()}
    assert set(files) == {one.picture for one in FIGURES.values() if one.draw is not None}
    assert len(set(files.values())) == len(files)  # no copies
    assert FIGURES["S4-12"].picture == FIGURES["S2-4.1"].picture == "S0-1.4"


@pytest.mark.parametrize("name", sorted(set(FIGURES) - LONG - NEEDS_DATA))
def test_figures_are_drawn(name):
    canvas = draw(FIGURES[name])
    drawn = [a for a in canvas.get_axes() if a.has_data() or a.texts]
    assert drawn


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(NEEDS_DATA))
def test_figures_of_real_data_are_drawn(name):
    assert any(ax.has_data() or ax.patches for ax in draw(FIGURES[name]).get_axes())


def test_error_curves_are_drawn_from_the_repeats():
    class Small(p4.Curves):
        def prepare(self, quick, seed):
            return None

        def repeat(self, ready, seed):
            errors = {name: [10.0 + seed, 5.0 * k] for k, name in enumerate(p4.methods(()))}
            return {"sizes": [2, 5], **errors}

    canvas = Figure()
    recipes.QpfsErrors(Small("ARR", (), 1), ("QPFS 0.1 MI", "QPFS 0.5 MI")).draw(canvas, Effort(2))
    (ax,) = canvas.get_axes()
    names = list(p4.methods(()))
    for line in ax.lines:
        expected = [10.5, 5.0 * names.index(line.get_label())]
        np.testing.assert_allclose(line.get_ydata(), expected)
    shown = [line.get_label() for line in ax.lines]
    assert shown == ["MaxRel", "mRMR", "QPFS 0.1 MI", "QPFS 0.5 MI", "random"]


def small():
    rng = np.random.default_rng(0)
    y = np.array(["a", "b"])[np.arange(24) % 2]
    X = rng.normal(size=(24, 12))
    X[:, 0] += 2.0 * (y == "a")
    return X, y


def test_rankings_are_drawn_over_their_sizes():
    class Small(p3.Rankings):
        def prepare(self, quick, seed):
            return small()

    part = Small("WBC", (), lambda: {"Fisher": p3.RECIPE.parts[0].methods()["Fisher"]})
    made = replace(recipes.SizeCurves(), parts=(part,), sizes={"WBC": (1, 12)}, methods=("Fisher",))
    canvas = Figure()
    made.draw(canvas, Effort(2))
    (line,) = canvas.get_axes()[0].lines
    errors = made.errors(part, Effort(2))
    assert errors.shape == (2, 1, 2)
    np.testing.assert_allclose(line.get_ydata(), errors.mean(axis=0)[0])


def test_map_of_errors_marks_the_least():
    class Small(p6.PrintedFolds):
        def repeat(self, ready, seed):
            return {"errors": [[0.5, 0.2], [0.1, 0.3]]}

        def prepare(self, quick, seed):
            return None

    part = Small(p6.Cells((1.0, 10.0), (1e-3, 1e-2)))
    canvas = Figure()
    recipes.ErrorMap(part).draw(canvas, Effort())
    assert canvas.get_axes()[0].get_title() == "least error 0.1000: γ = 0.001, C = 10"


@pytest.mark.parametrize("axis", ["N", "M"])
def test_times_are_drawn_over_both_sizes(axis):
    class Small(p4.Timing):
        def prepare(self, quick, seed):
            return None

        def repeat(self, ready, seed):
            times = {f"{name} by {a}": [1, 4] for name in ("mRMR", "Nyström") for a in "NM"}
            return {"N": [20, 40], "M": [30, 60], **times}

    canvas = Figure()
    recipes.QpfsTimes(axis, Small()).draw(canvas, Effort(1))
    (ax,) = canvas.get_axes()
    assert [line.get_label()[-9:] for line in ax.lines] == ["power 2.0"] * 2
    assert list(ax.lines[0].get_xdata()) == ([20, 40] if axis == "N" else [30, 60])


def test_worked_examples_have_the_printed_numbers():
    canvas = draw(FIGURES["S0-2.3"])
    titles = [ax.get_title() for ax in canvas.get_axes()]
    assert titles == ["J(f1) = 0/8, J(f2) = 3/8", "J(f1) = 2/8, J(f2) = 0/8"]
    assert "3 support vectors" in draw(FIGURES["S2-2.2"]).get_axes()[0].get_title()
    titles = [ax.get_title() for ax in draw(FIGURES["S4-1"]).get_axes()]
    assert titles == ["k = 1: blue", "k = 2: tied", "k = 3: orange"]
    tree, regions = draw(FIGURES["S4-4"]).get_axes()
    named = {word for text in tree.texts for word in re.findall(r"\bx\d", text.get_text())}
    assert named == {regions.get_xlabel(), regions.get_ylabel()} == {"x1", "x2"}
    X, y = margins.two_groups(0)
    assert np.ptp(unit(X)) == 1 and set(y) == {-1, 1} and len(examples.PEOPLE) == 8


def test_unknown_figures_and_missing_data_are_explained():
    with pytest.raises(ValueError, match=r"'S0-1.9' is no figure\. Did you mean 'S0-1\."):
        draw_figure("S0-1.9")
    with pytest.raises(ValueError, match="cannot be drawn: the RAT data"):
        draw_figure("s3-4.11")
    with pytest.raises(ValueError, match="repeats=0"):
        draw_figure("S0-3.1", repeats=0)
