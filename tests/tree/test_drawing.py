"""Drawings: boxes that do not touch, text that survives, both ways to draw the same."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.path import Path

from tamiz.tree import CARTClassifier, CARTRegressor, drawing
from tamiz.tree.drawing import FONT_SIZE, INK, PALETTE, colours, lay_out, tint, width_of
from tamiz.tree.rules import Wording
from tamiz.tree.structure import NominalSplit, NumericSplit, ObliqueSplit, Tree
from tests.tree.trees import random_tree

mpl.use("agg")

WORDING = Wording(["a", "b", "c", "d"], {}, ["no", "yes"])
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.parametrize("direction", ["down", "right"])
@pytest.mark.parametrize("seed", range(8))
def test_boxes_do_not_touch_and_parents_stand_between_their_children(direction, seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(1, 60)), 2, 400)
    found = lay_out(tree, WORDING, max_depth=tree.max_depth, direction=direction)
    w, h = found.box_width, found.box_height
    assert len(found.boxes) == tree.n_nodes and len(found.links) == tree.n_nodes - 1
    places = np.array([[box.x, box.y] for box in found.boxes])
    apart = np.abs(places[:, None] - places[None])
    touch = (apart[..., 0] < w + 4) & (apart[..., 1] < h + 4) & ~np.eye(len(places), dtype=bool)
    assert not touch.any()
    assert (places >= 0).all()
    assert (places + np.array([w, h]) <= np.array([found.width, found.height])).all()
    of = {box.node: box for box in found.boxes}
    linked = {(found.boxes[a].node, found.boxes[b].node) for a, b in found.links}
    for t in np.flatnonzero(tree.left >= 0):
        left, right = of[int(tree.left[t])], of[int(tree.right[t])]
        k = 0 if direction == "down" else 1
        across = [(box.x, box.y)[k] for box in (left, of[t], right)]
        assert across[0] < across[1] < across[2]
        assert {(t, int(tree.left[t])), (t, int(tree.right[t]))} <= linked
        assert across[1] == pytest.approx((across[0] + across[2]) / 2)


def test_equal_branches_have_equal_shapes():
    ones, zeros = np.ones(7), np.zeros(7)
    tree = Tree(
        "classification", 4, left=[1, 3, 5, -1, -1, -1, -1], right=[2, 4, 6, -1, -1, -1, -1],
        n_samples=ones, weight=ones, value=np.ones((7, 2)), prediction=zeros, impurity=zeros,
        error=zeros, splits=[NumericSplit(0, 1.0)] * 3 + [None] * 4,
    )  # fmt: skip
    found = lay_out(tree, WORDING, direction="down")
    x = {box.node: box.x for box in found.boxes}
    assert x[4] - x[3] == pytest.approx(x[6] - x[5]) and x[1] - x[3] == pytest.approx(x[2] - x[5])


def test_large_trees_are_cut_off_and_say_so():
    tree = random_tree(np.random.default_rng(0), 400, 2, 3000)
    found = lay_out(tree, WORDING)
    ends = [box for box in found.boxes if box.leaf or "leaves below" in box.lines[-1]]
    assert 20 <= len(ends) <= 60 and found.direction == "right"
    assert f"of {tree.n_leaves} leaves are not shown" in found.note
    hidden = sum(int(box.lines[-1].split()[1]) for box in found.boxes if "below" in box.lines[-1])
    shown = sum(box.leaf for box in found.boxes)
    assert hidden + shown == tree.n_leaves
    assert found.note in drawing.svg(tree, WORDING)
    assert len(lay_out(tree, WORDING, max_depth=0).boxes) == 1
    assert lay_out(tree, WORDING, max_depth=10**6).note == ""


def test_svg_is_well_formed_whatever_the_names():
    nasty = ['<script>alert("1")</script>', "a & b", "x\x00y\x1b\ufffe\ud800z", "]]>"]
    tree = random_tree(np.random.default_rng(1), 12)
    text = drawing.svg(tree, Wording(nasty, {}, ["<no>", "yes & no"]))
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg" and not list(root.iter(f"{SVG}script"))
    said = [element.text for element in root.iter(f"{SVG}text")]
    assert "<no>" in said and "yes & no" in said  # the legend
    titles = "\n".join(element.text for element in root.iter(f"{SVG}title"))
    used = {tree.splits[t].feature for t in np.flatnonzero(tree.left >= 0)}
    for j in used - {2}:
        assert nasty[j] in titles  # in full where it is too long for a box
    assert "\x00" not in text and r"x\x00y\x1b\ufffe\ud800z" in titles  # spelled out
    text.encode()  # a file can hold it


LONG = "a measurement with a name that nobody would want to type"
LONG_CLASS = "all that is well known of the class "


@pytest.mark.parametrize(
    "split",
    [
        NumericSplit(0, 12.5),
        NominalSplit(0, frozenset([0, 1]), frozenset([2])),
        NominalSplit(0, frozenset(range(9)), frozenset([9, 10])),
        ObliqueSplit((0, 1, 2), (0.25, -1.5, 3.75), 0.125),
    ],
)
def test_long_lines_keep_what_tells_siblings_apart(split):
    ones = np.ones(3)
    tree = Tree(
        "classification", 4, left=[1, -1, -1], right=[2, -1, -1], n_samples=[70, 30, 40],
        weight=[70, 30, 40], value=[[40, 30], [10, 20], [30, 10]], prediction=[0, 1, 0],
        impurity=ones, error=ones, splits=[split, None, None],
    )  # fmt: skip
    levels = {0: [f"level {k}" for k in range(11)]}
    wording = Wording([LONG] * 4, levels if isinstance(split, NominalSplit) else {},
                      [LONG_CLASS + "A", LONG_CLASS + "B"])  # fmt: skip
    found = lay_out(tree, wording)
    (_, a, b) = found.boxes
    assert a.lines[0] != b.lines[0] and "…" in a.lines[0] and LONG in a.title
    assert a.lines[1].endswith("B 66.7 %, n = 30") and b.lines[1].endswith("A 75.0 %, n = 40")
    assert found.legend[0][0] != found.legend[1][0]
    if not isinstance(split, NominalSplit):
        limit = f"{split.threshold:g}"
        assert a.lines[0].endswith(f" <= {limit}") and b.lines[0].endswith(f" > {limit}")


@pytest.mark.parametrize("bold", [False, True])
def test_text_is_about_as_wide_as_matplotlib_draws_it(bold):
    import matplotlib.pyplot as plt

    figure = plt.figure(dpi=72)
    renderer = figure.canvas.get_renderer()
    for line in ("bmi <= -0.0218342", "good 70.0 %, n = 1000", "employment_since in {A71, A72}",
                 "Mammography WITH WIDE LETTERS > 5", "illicit filling: it will fit"):  # fmt: skip
        drawn = figure.text(0, 0, line, size=FONT_SIZE, weight="bold" if bold else "normal")
        true = drawn.get_window_extent(renderer).width
        assert 0.93 * true <= width_of(line, bold) <= 1.15 * true
    assert width_of("宽度") == 24


def test_a_leaf_alone_and_a_sample_alone_are_one():
    tree = random_tree(np.random.default_rng(0), 0, n=1)
    text = drawing.svg(tree, WORDING)
    assert "Decision tree with 1 leaf<" in text and "1 sample," in text


def test_bars_show_the_class_fractions():
    tree = random_tree(np.random.default_rng(2), 6)
    root = ET.fromstring(drawing.svg(tree, WORDING))
    groups = [g for g in root.iter(f"{SVG}g")]
    assert len(groups) == tree.n_nodes
    for box, group in zip(lay_out(tree, WORDING).boxes, groups, strict=True):
        bars = list(group.iter(f"{SVG}rect"))[1:-1]
        widths = np.array([float(bar.get("width")) for bar in bars])
        mass = tree.value[box.node]
        np.testing.assert_allclose(widths / widths.sum(), (mass / mass.sum())[mass > 0], atol=1e-3)
        assert [bar.get("fill") for bar in bars] == [PALETTE[k] for k in np.flatnonzero(mass)]


def contrast(a, b):
    """Ratio of the luminances of two colours (WCAG)."""

    def luminance(colour):
        c = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
        c = np.where(c <= 0.03928, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        return float(c @ [0.2126, 0.7152, 0.0722])

    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_can_be_read_on_every_colour():
    for colour in colours(40):
        assert contrast(tint(colour, 0.18), INK) > 7  # AAA
    for strength in np.linspace(0.05, 0.35, 7):
        assert contrast(tint(PALETTE[0], strength), INK) > 7
    assert len(set(colours(40))) == 40 and FONT_SIZE >= 12


def test_matplotlib_draws_the_same(tmp_path):
    tree = random_tree(np.random.default_rng(3), 9)
    wording = Wording(["$a$", "b", "c", "d"], {}, ["no", "yes"])
    ax = drawing.plot(tree, wording)
    found = lay_out(tree, wording)
    said = [text.get_text() for text in ax.texts]
    for box in found.boxes:
        assert all(line.replace("$", r"\$") in said for line in box.lines)
    assert len([p for p in ax.patches if type(p).__name__ == "FancyBboxPatch"]) == tree.n_nodes
    assert len([p for p in ax.patches if type(p).__name__ == "PathPatch"]) == tree.n_nodes - 1
    ax.figure.savefig(tmp_path / "tree.png", dpi=60)
    assert (tmp_path / "tree.png").read_bytes()[:4] == b"\x89PNG"


def test_matplotlib_shrinks_the_letters_with_the_axes():
    import matplotlib.pyplot as plt

    tree = random_tree(np.random.default_rng(3), 20)
    large = drawing.plot(tree, WORDING).texts[-1].get_size()
    small = drawing.plot(tree, WORDING, ax=plt.subplots(figsize=(4, 3))[1]).texts[-1].get_size()
    assert small < large / 2


def test_numbers_are_darker_and_longer_the_larger_they_are():
    tree = Tree(
        "regression", 1, left=[1, -1, -1], right=[2, -1, -1], n_samples=[4, 2, 2],
        weight=[4, 2, 2], value=[[1.0], [0.0], [2.0]], prediction=[1.0, 0.0, 2.0],
        impurity=[1, 0, 0], error=[1, 0, 0], splits=[NumericSplit(0, 0.5), None, None],
    )  # fmt: skip
    boxes = lay_out(tree, Wording(["age"])).boxes
    assert [box.bar[0][0] for box in boxes] == [0.5, 0.0, 1.0]
    assert contrast(boxes[2].fill, "#ffffff") > contrast(boxes[1].fill, "#ffffff")
    assert boxes[1].lines == ("age <= 0.5", "0, n = 2")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"max_depth": -1}, "max_depth=-1"),
        ({"max_depth": 1.5}, r"max_depth=1\.5"),
        ({"max_depth": "2"}, "max_depth='2'"),
        ({"max_depth": [2]}, r"max_depth=\[2\]"),
        ({"max_depth": True}, "max_depth=True"),
        ({"direction": "up"}, "direction='up'"),
    ],
)
def test_bad_arguments(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        CARTClassifier().fit([[0.0], [1.0]], [0, 1]).to_svg(**wrong)


def test_folders_are_not_made(tmp_path):
    tree = CARTClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="folder that does not exist"):
        tree.to_svg(tmp_path / "no" / "tree.svg")
    with pytest.raises(ValueError, match="is a folder"):
        tree.to_svg(tmp_path)
    with pytest.raises(TypeError, match="path=5"):
        tree.to_svg(5)


# -------------------------------------------------------------------------------------- partition


def _polygons(ax):
    return {int(p.get_gid().split()[1]): p.get_xy()[:-1] for p in ax.patches}


@pytest.mark.parametrize("splits", ["axis", "oblique"])
def test_the_partition_is_made_of_the_thresholds_and_agrees_with_the_leaves(splits):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
    model = CARTClassifier(max_depth=4, splits=splits, random_state=0).fit(X, y)
    ax = model.plot_partition(X, y)
    polygons = _polygons(ax)
    tree = model.tree_
    if splits == "axis":
        limits = [*ax.get_xlim()], [*ax.get_ylim()]
        for split in tree.splits:
            if split is not None:
                limits[split.feature].append(split.threshold)
        corners = np.concatenate(list(polygons.values()))
        for axis in (0, 1):
            known = np.array(limits[axis])
            assert np.abs(corners[:, axis, None] - known).min(axis=1).max() < 1e-9
            assert np.abs(corners[:, axis, None] - known).min(axis=0).max() < 1e-9
    inside = rng.uniform([ax.get_xlim()[0], ax.get_ylim()[0]],
                         [ax.get_xlim()[1], ax.get_ylim()[1]], (200, 2))  # fmt: skip
    for point, leaf in zip(inside, model.apply(inside), strict=True):
        assert Path(polygons[int(leaf)]).contains_point(point, radius=1e-9)
    sizes = [0.5 * abs(np.dot(p[:, 0], np.roll(p[:, 1], 1)) - np.dot(p[:, 1], np.roll(p[:, 0], 1)))
             for p in polygons.values()]  # fmt: skip
    whole = np.ptp(ax.get_xlim()) * np.ptp(ax.get_ylim())
    assert sum(sizes) == pytest.approx(whole)


def test_the_partition_answers_other_questions_by_the_row_held():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 2] > 0, X[:, 0] > 0, X[:, 1] > 0).astype(int)
    model = CARTClassifier(max_depth=5).fit(X, y)
    for at in (X[3], X[8], None):
        ax = model.plot_partition(X, y, (0, 1), at=at)
        held = np.median(X, axis=0) if at is None else at
        points = rng.uniform([ax.get_xlim()[0], ax.get_ylim()[0]],
                             [ax.get_xlim()[1], ax.get_ylim()[1]], (50, 2))  # fmt: skip
        rows = np.column_stack([points, np.full(50, held[2])])
        polygons = _polygons(ax)
        for point, leaf in zip(points, model.apply(rows), strict=True):
            assert Path(polygons[int(leaf)]).contains_point(point, radius=1e-9)
    ax = CARTRegressor(max_depth=2).fit(X, X[:, 0]).plot_partition(X, X[:, 0], 0)
    assert len(ax.patches) == 4 and ax.get_xlabel() == "x0"


def test_a_set_of_categories_has_no_line():
    X = np.column_stack([np.arange(40) % 4, np.arange(40)]).astype(float)
    y = np.isin(X[:, 0], [0, 2]).astype(int)
    model = CARTClassifier(categorical_features=[0]).fit(X, y)
    with pytest.raises(ValueError, match="set of categories 'x0'"):
        model.plot_partition(X, y)
