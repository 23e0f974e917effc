"""Pictures of the answers: trade-off, plane, near-duplicates, choices, learning, and rates."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

from tamiz.reports import render
from tamiz.reports.charts.columns import regions
from tamiz.reports.charts.scales import Linear, Log, Symlog, scale_of
from tamiz.reports.language import LANGUAGES
from tamiz.reports.page import Page
from tamiz.reports.sections.errors import learning_finding
from tamiz.reports.sections.plane import machine_for
from tamiz.reports.sections.redundancy import correlations
from tests.reports.studies import full_study, make_study, other_study, small_table
from tests.reports.tree import Node, read

pytestmark = pytest.mark.ours


@pytest.fixture(scope="module")
def tree() -> Node:
    return read(render(full_study()))


def stops(node: Node) -> list:
    return json.loads(node.attributes["data-stops"])


def wide(tree: Node, section: str) -> Node:
    return tree.one(section).of_class("wide")[0]


# ------------------------------------------------------------------------------------ trade-off


def test_the_trade_off_has_a_dot_for_every_combination_and_joins_the_best(tree):
    contest = full_study().answers.contest
    chart = wide(tree, "tradeoff")
    cut = re.search(r"lie above the picture: (\d+)", tree.one("tradeoff").text)
    n_cut = int(cut[1]) if cut else 0
    assert len(chart.of_class("faint")) == len(contest.triples) - n_cut
    assert len(chart.of_class("equal")) == int(contest.choice.equal.sum())
    line = chart.of_class("front")[0].attributes["d"]
    assert len(re.findall("[ML]", line)) == len(contest.pareto())
    heights = [float(y) for y in re.findall(r"[ML]\S+ ([\d.]+)", line)]
    assert heights == sorted(heights)  # errors fall, and the picture counts downwards
    assert len(chart.of_class("ring")) == 2
    words = [text.text for text in chart.all("text")]
    assert {"Smallest", "Most accurate"} <= set(words)


def test_a_combination_far_above_the_others_is_counted_and_not_drawn():
    study = full_study()
    contest = study.answers.contest
    means = np.where(np.arange(len(contest.triples)) == 0, 5.0, contest.choice.means)
    far = replace(contest, choice=contest.choice._replace(means=means))
    part = read(render(replace(study, answers=replace(study.answers, contest=far)))).one("tradeoff")
    n_cut = int(re.search(r"lie above the picture: (\d+)", part.text)[1])
    assert n_cut >= 1
    assert len(part.of_class("wide")[0].of_class("faint")) == len(means) - n_cut


def test_what_lies_far_outside_is_named_at_the_edge(tree):
    without = f"no features: {100 * full_study().honest['without_features']:.1f}%"
    words = [text.text for text in wide(tree, "tradeoff").all("text")]
    assert any(text.startswith(without) and text.endswith("↑") for text in words)


def test_a_zoom_keeps_what_it_must():
    page = Page(full_study(), LANGUAGES["en"])
    values = [0.02, 0.021, 0.022, 0.025, 0.03, 0.9]
    assert page.error_ends(values)[1] > 0.9
    assert page.error_ends(values, [])[1] < 0.1
    assert page.error_ends(values, [0.5])[1] >= 0.5
    assert page.error_ends([0.3, 0.31], [])[0] > 0.25  # far from zero: the axis starts there
    assert page.error_ends([0.2] * 4, [])[1] > 0.2


# ---------------------------------------------------------------------------------------- axes


def test_values_that_span_decades_get_a_logarithmic_axis():
    rng = np.random.default_rng(0)
    income = np.exp(rng.normal(8, 2, 500))
    assert isinstance(scale_of(income, 0, 100), Log)
    assert isinstance(scale_of(np.append(np.zeros(300), income), 0, 100), Symlog)
    for plain in (rng.normal(size=500), rng.uniform(1, 50, 500), rng.normal(0, 1e6, 500), [3.0]):
        assert isinstance(scale_of(plain, 0, 100), Linear)
    assert isinstance(scale_of([], 0, 100), Linear)


@pytest.mark.parametrize(
    "scale",
    [Linear(-2, 6, 10, 90), Log(0.1, 1000, 90, 10), Symlog(-1, 5000, 10, 90, 2.0),
     Symlog(-500, 5000, 0, 1, 1.0)],
)  # fmt: skip
def test_an_axis_finds_the_value_at_a_place(scale):
    fractions = np.linspace(0, 1, 11)
    assert [scale.fraction(scale.at(u)) for u in fractions] == pytest.approx(fractions, abs=1e-9)
    assert scale.at(0) == pytest.approx(scale.low) and scale.at(1) == pytest.approx(scale.high)
    ticks = scale.ticks(5)
    assert ticks == sorted(ticks) and all(scale.low <= tick <= scale.high for tick in ticks)
    assert scale.beyond(scale.low) == pytest.approx(scale(scale.low))


# --------------------------------------------------------------------------------------- plane


def inside(path: str, x: float, y: float) -> bool:
    """Whether a point is in one of the polygons of a path, by crossings."""
    path = re.sub(r"M(\S+) (\S+?)H(\S+?)V(\S+?)H(\S+?)Z", r"M\1 \2L\3 \2L\3 \4L\5 \4Z", path)
    for part in path.split("Z"):
        points = [(float(a), float(b)) for a, b in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", part)]
        odd = False
        for (a, b), (c, d) in zip(points, points[1:] + points[:1], strict=True):
            if (b > y) != (d > y) and x < a + (y - b) / (d - b) * (c - a):
                odd = not odd
        if odd:
            return True
    return False


@pytest.mark.parametrize("kind", ["plane", "circle", "steps", "three"])
def test_regions_hold_the_places_where_the_class_is_named(kind):
    def ask(places):
        a, b = places.T
        if kind == "three":
            scores = np.column_stack([a, b, 1.2 - a - b])
            return scores.argmax(axis=1), scores
        value = {"plane": a - 0.6 * b - 0.2, "circle": 0.1 - (a - 0.5) ** 2 - (b - 0.5) ** 2,
                 "steps": np.where((a > 0.4) & (b > 0.3), 1.0, -1.0)}[kind]  # fmt: skip
        codes = (value > 0).astype(int)
        return codes, None if kind == "steps" else np.column_stack([-value, value])

    x, y = Linear(0, 1, 0, 300), Linear(0, 1, 200, 0)
    found = {k: fill for k, fill, _ in regions(x, y, ask)}
    rng = np.random.default_rng(0)
    places = rng.uniform(0.03, 0.97, size=(300, 2))
    codes = ask(places)[0]
    right = [
        inside(found[code], x(a), y(b))
        for code, (a, b) in zip(codes.tolist(), places.tolist(), strict=True)
    ]
    assert np.mean(right) > 0.97
    wrong = [
        inside(found[other], x(a), y(b))
        for code, (a, b) in zip(codes.tolist(), places.tolist(), strict=True)
        for other in found
        if other != code
    ]
    assert np.mean(wrong) < 0.03


def test_the_plane_draws_every_row_by_colour_and_shape(tree):
    study = full_study()
    chart = wide(tree, "plane")
    groups = chart.of_class("spots")
    labels = [text.text for text in chart.of_class("label")]
    pair = [study.dataset.feature_names.index(name) for name in labels]
    known = np.isfinite(study.dataset.X[:, pair]).all(axis=1)
    counts = sorted(len(group.children) for group in groups)
    assert counts == sorted(np.bincount(study.dataset.y[known]).tolist())
    assert {group.attributes["class"].split()[-1] for group in groups} == {"c1", "c2"}
    assert {group.children[0].name for group in groups} == {"circle", "path"}
    assert set(labels) <= set(study.recommended.features) and len(set(labels)) == 2
    assert len(chart.of_class("region")) == 2


def test_the_plane_of_many_rows_shows_some_of_them():
    data = small_table(500)
    study = make_study(data.take(np.tile(np.arange(500), 2)), ["fisher"], "linear", sizes=[2],
                       cv=2, repeats=1)  # fmt: skip
    part = read(render(study)).one("plane")
    drawn = sum(len(group.children) for group in part.of_class("wide")[0].of_class("spots"))
    assert 500 <= drawn <= 600 and f"{drawn} rows are drawn" in part.text


def test_one_feature_is_shown_with_the_threshold_of_the_judge():
    study = other_study("one numeric feature")
    part = read(render(study)).one("plane")
    said = part.text.replace(",", "")
    numbers = re.search(r"prediction changes (?:at|\d+ times first at) ([\d. ]+)\.", said)[1]
    values = [float(number) for number in numbers.split()]
    area = study.dataset.X[:, 0]
    machine = study.pipeline()
    machine.fit(area[:, None], study.dataset.y)
    for value in values:
        below, above = machine.predict([[value * 0.97], [value * 1.03]])
        assert below != above
    assert part.of_class("area") and part.of_class("chosen")


def test_one_category_is_shown_with_the_class_of_each_level():
    study = other_study("one category")
    part = read(render(study)).one("plane")
    shown = [text.text for text in part.of_class("wide")[0].of_class("small")]
    assert {text.partition(" → ")[0] for text in shown} == {"red", "green", "blue"}
    assert all(text.partition(" → ")[2] in ("malignant", "benign") for text in shown)


def test_a_regression_is_shown_with_the_line_of_the_judge():
    part = read(render(other_study("regression"))).one("plane")
    assert part.of_class("fitted") and part.of_class("point")


# ---------------------------------------------------------------------------------- redundancy


def test_correlations_are_those_of_spearman():
    page = Page(full_study(), LANGUAGES["en"])
    rows = np.arange(page.data.n_samples)
    ours = correlations(page, [0, 3], [1, 3, 5], rows)
    X = page.data.X
    for k, a in enumerate((0, 3)):
        for c, b in enumerate((1, 3, 5)):
            if a != 3 and b != 3:
                theirs = stats.spearmanr(X[:, a], X[:, b]).statistic
                assert ours[k, c] == pytest.approx(theirs, abs=1e-9)
    assert ours[1, 1] == pytest.approx(1.0)


def test_near_duplicates_of_the_chosen_features_are_listed(tree):
    study, X = full_study(), full_study().dataset.X
    names = study.dataset.feature_names
    rows = tree.one("redundancy").all("tbody")[0].all("tr")
    told = {row.all("th")[0].text: row.all("td")[0].text for row in rows}
    assert set(told) == set(study.recommended.features) - {"colour"}
    for name, text in told.items():
        j = names.index(name)
        for i in range(12):
            if i == j or 3 in (i, j):  # itself, and the one with missing values
                continue
            r = stats.spearmanr(X[:, j], X[:, i]).statistic
            if abs(r) >= 0.7:
                assert f"{names[i]} ({r:.2f})".replace("-", "−") in text or "more" in text
            else:
                assert names[i] not in text
    coded = "colour" in study.recommended.features
    assert ("categories have no order: 1 feature" in tree.one("redundancy").text) == coded


def test_features_without_duplicates_are_said_to_have_none():
    rng = np.random.default_rng(0)
    data = small_table()
    data.X[:, :12] = rng.standard_normal((len(data.X), 12))
    data.X[:, 0] += 4 * data.y
    data.X[:, 1] -= 4 * data.y
    data.X[:, 12] = 0
    study = make_study(data, ["fisher"], "linear", sizes=[1, 12], cv=3, repeats=1)
    study.recommended.features[:] = ["mean perimeter", "mean area"]
    part = read(render(study)).one("redundancy")
    assert "No feature has a rank correlation of 0.7 or more" in part.text
    assert not part.all("table")


# ------------------------------------------------------------------------------------- choices


def test_the_map_of_choices_fills_what_each_split_chose(tree):
    study = full_study()
    nested = study.answers.nested["smallest"]
    chart = wide(tree, "stability")
    filled = [node for node in chart.of_class("cell") if node.attributes["fill-opacity"] == "0.85"]
    assert len(filled) == nested.sizes.sum()
    told = stops(chart)
    assert [stop[5][0][2] for stop in told] == [f"{size:.0f}" for size in nested.sizes]
    chosen = [nested.contest.triples[t] for t in nested.chosen]
    names = {"all": "all features"}
    assert [stop[5][1][2] for stop in told] == [
        f"{names.get(one.method, one.method)}, judge {one.judge}" for one in chosen
    ]


# ------------------------------------------------------------------------------------ learning


@pytest.mark.parametrize(
    ("step", "words"),
    [(0.1, "would probably help"), (0.0, "would hardly help"), (-0.1, "no sign")],
)
def test_the_learning_curve_says_no_more_than_its_last_step(step, words):
    page = Page(full_study(), LANGUAGES["en"])
    curve = full_study().learning
    errors = np.array(curve.errors)
    noise = np.array([0.01, -0.01, 0.02, -0.02])[: len(errors)]
    errors[:, -1] = errors[:, -2] - step + noise
    made = curve._replace(errors=errors, error=errors.mean(axis=0))
    assert words in learning_finding(page, made)


def test_the_learning_curve_reads_out_its_errors(tree):
    curve = full_study().learning
    told = stops(wide(tree, "learning"))
    assert [stop[5][0][2] for stop in told] == [f"{100 * e:.1f}%" for e in curve.error]
    assert [stop[5][1][2] for stop in told] == [f"{100 * e:.1f}%" for e in curve.training_error]


# --------------------------------------------------------------------------------------- rates


def comparable(study) -> np.ndarray:
    """Decision values; ranks within each split if they come from different judges."""
    nested, made = study.answers.nested["smallest"], study.predictions
    if len({nested.contest.triples[t].judge for t in nested.chosen}) == 1:
        return made.values
    ends = np.cumsum(study.comparison.n_test[nested.contest.splits])
    values = made.values.copy()
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        for c in range(values.shape[1]):
            values[start:end, c] = stats.rankdata(values[start:end, c]) / (end - start + 1)
    return values


def test_values_of_different_judges_are_compared_within_splits_only():
    study = full_study()
    nested = study.answers.nested["smallest"]
    contest = nested.contest
    other = next(t for t, one in enumerate(contest.triples) if one.judge == "tree")
    chosen = nested.chosen.copy()
    chosen[0] = other
    chosen[1:] = contest.choice.smallest
    nest = {**study.answers.nested, "smallest": replace(nested, chosen=chosen)}
    values = study.predictions.values.copy()
    n = int(study.comparison.n_test[0])
    values[:n] = values[:n] / 1000 + 50  # of another scale
    mixed = replace(
        study, answers=replace(study.answers, nested=nest),
        predictions=study.predictions._replace(values=values),
    )  # fmt: skip
    part = read(render(mixed)).one("card")
    area = float(part.of_class("key")[0].text.partition("(")[2].rstrip(")"))
    wanted = roc_auc_score(study.predictions.truth == 1, comparable(mixed)[:, 0])
    assert area == pytest.approx(wanted, abs=5e-4)
    assert area > roc_auc_score(study.predictions.truth == 1, values[:, 0]) + 0.02
    assert "compared within each split" in part.text
    assert "Area under the ROC curve" not in part.text


def test_the_areas_are_those_of_the_predictions(tree):
    made = full_study().predictions
    part = tree.one("card")
    legends = [node.text for node in part.of_class("key")]
    positive, values = made.truth == 1, comparable(full_study())[:, 0]
    area, precision = roc_auc_score(positive, values), average_precision_score(positive, values)
    assert legends == [f"benign ({area:.3f})", f"benign ({precision:.3f})"]


def test_the_positive_class_is_the_one_that_was_asked_for():
    study = make_study(small_table(), ["fisher"], "linear", sizes=[2, 12], cv=3, repeats=1,
                       positive="malignant")  # fmt: skip
    part = read(render(study)).one("card")
    assert "The positive class is “malignant”" in part.text
    assert all(node.text.startswith("malignant (") for node in part.of_class("key"))
    sensitivity = study.card.metrics["sensitivity"].value
    assert f"{sensitivity:.3f}" in part.text


def test_several_classes_have_a_curve_each():
    part = read(render(other_study("three classes"))).one("card")
    names = [node.text.partition(" (")[0] for node in part.of_class("key")]
    assert names == ["malignant", "benign", "third"] * 2
    made = other_study("three classes").predictions
    areas = [float(node.text.partition(" (")[2].rstrip(")")) for node in part.of_class("key")][:3]
    for k, area in enumerate(areas):
        values = comparable(other_study("three classes"))[:, k]
        assert area == pytest.approx(roc_auc_score(made.truth == k, values), abs=5e-4)


def test_repeats_are_counted_as_predictions_not_as_rows():
    study = make_study(small_table(), ["fisher"], "linear", sizes=[2], cv=3, repeats=2)
    n = study.dataset.n_samples
    said = read(render(study)).one("card").text
    assert f"{2 * n} predictions of {n} rows" in said
    assert f"{n} rows were predicted once" in read(render(full_study())).one("card").text
    short = other_study("cut short")
    card = replace(short.card, confusion=np.array([[10, 2], [3, len(short.predictions.rows) - 15]]))
    left = n - len(short.predictions.rows)
    assert f"Not tested: {left} rows" in read(render(replace(short, card=card))).one("card").text


# ------------------------------------------------------------------------------------- effects


def test_effects_show_the_judge_that_is_recommended():
    study = full_study()
    part = read(render(study)).one("effects")
    best = study.recommended
    chart = part.of_class("wide")[0]
    numbers = [float(node.attributes["width"]) for node in chart.of_class("bar")]
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) <= len(best.features)
    names = [text.text for text in chart.of_class("name")]
    assert len(names) == len(numbers)
    curves = part.of_class("panel")
    assert 1 <= len(curves) <= 6
    for panel in curves:
        (heading,) = panel.all("h3")
        assert heading.text in best.features
        parts = ["mark"] if heading.text == "colour" else ["median", "single"]
        assert all(panel.of_class(part) for part in parts)


@pytest.mark.parametrize("lang", sorted(LANGUAGES))
def test_effects_find_an_exclusive_or(lang):
    import pandas as pd

    from tamiz.data import load

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    frame = pd.DataFrame(X, columns=["a", "left", "b", "right", "c"])
    frame["target"] = np.where(X[:, 1] * X[:, 3] > 0, "same", "other")
    study = make_study(
        load(frame, target="target"), ["relieff"], ["rbf"], sizes=[2, 4], cv=3, repeats=1
    )
    part = read(render(study, lang)).one("effects")
    first = part.all("table")[0].all("tbody")[0].all("tr")[0].text
    assert "left" in first and "right" in first
    widths = [float(bar.attributes["width"]) for bar in part.of_class("wide")[0].of_class("bar")]
    assert len(set(widths)) > 1 and widths == sorted(widths, reverse=True)
    assert not re.search(r"\b(nan|None|inf)\b|[{}]|\[\[", part.text)


@pytest.mark.parametrize("kind", ["regression", "three classes", "one numeric feature"])
def test_effects_of_other_targets(kind):
    part = read(render(other_study(kind))).one("effects")
    assert part.of_class("median")
    assert ("numeric target" in part.text) == (kind == "regression")


@lru_cache(maxsize=1)
def with_a_category():
    """Everything is recommended: two numbers, one of which has gaps, and a category."""
    table = small_table().keep(["mean texture", "mean area", "colour"])
    quick = {"sizes": [3], "cv": 3, "repeats": 1, "fdr": None}
    return make_study(table, ["fisher"], ["linear"], **quick)


@pytest.mark.parametrize("lang", sorted(LANGUAGES))
def test_effects_explain_a_category_and_say_what_was_filled(lang):
    study = with_a_category()
    part = read(render(study, lang)).one("effects")
    text, words = part.text, LANGUAGES[lang]
    names = [node.text for node in part.of_class("wide")[0].of_class("name")]
    assert sorted(names) == ["colour", "mean area", "mean texture"]
    assert words("effects_dots") in text
    assert ("another machine than" if lang == "en" else "otra máquina que") not in text
    assert words.words["effects_finding"].rpartition("{part}")[2] in text
    column = study.dataset.X[:, study.dataset.feature_names.index("mean area")]
    filled = {
        "name": "mean area",
        "value": words.number(float(np.nanmedian(column)), 3),
        "part": words.in_percent(float(np.isnan(column).mean()), 1),
    }
    assert words("effects_filled", names=words("effects_filled_one", **filled)) in text
    assert text.count("mean texture") and not re.search(r"[{}]|\[\[", text)


@pytest.mark.parametrize(("judge", "limit"), [("tree", 0.5), ("linear", 0.0)])
def test_effects_name_the_limit_of_the_classes(judge, limit):
    """A tree has probabilities: all of them are above zero, for either class."""
    table = small_table().keep(["mean radius", "mean texture", "mean perimeter"])
    quick = {"sizes": [3], "cv": 3, "repeats": 1, "fdr": None}
    study = make_study(table, ["fisher"], [judge], **quick)
    for lang, words in LANGUAGES.items():
        said = words("effects_side", positive="benign", limit=words.number(limit, 2))
        assert said in read(render(study, lang)).one("effects").text


@pytest.mark.parametrize(("judge", "tail"), [("linear", True), ("linear", False), ("tree", True)])
def test_effects_say_why_curves_of_a_linear_judge_bend(judge, tail):
    import pandas as pd

    from tamiz.data import load

    X = np.random.default_rng(0).normal(size=(120, 2))
    X[:, 0] += 2.0 * (X[:, 1] > 0)
    frame = pd.DataFrame(np.exp(2.0 * X) if tail else np.clip(X, -2.0, 2.0), columns=["a", "b"])
    data = load(frame.assign(target=X.sum(axis=1) > 1.0), target="target")
    study = make_study(data, ["fisher"], [judge], sizes=[2], cv=3, repeats=1, fdr=None)
    for lang, words in LANGUAGES.items():
        text = read(render(study, lang)).one("effects").text
        assert (words("effects_curved") in text) == (judge == "linear" and tail)


def test_effects_of_all_recommended_features_are_of_the_recommended_machine():
    """Nothing is left out or filled, and nothing said of it; one feature is no part of others."""
    table = small_table().keep(["mean radius", "mean texture", "mean perimeter"])
    quick = {"sizes": [3], "cv": 3, "repeats": 1, "fdr": None}
    text = read(render(make_study(table, ["fisher"], ["linear"], **quick))).one("effects").text
    assert "of what all features add" in text and "another machine" not in text
    assert "Missing values" not in text and "A category has a dot" not in text
    alone = read(render(other_study("one numeric feature"))).one("effects").text
    assert "adds most" not in alone and "100%" not in alone and "Missing values" in alone


def explained(study, lang="en"):
    """What the bars of the section say of each feature, in their order."""
    part = read(render(study, lang)).one("effects")
    return part, {heading: rows[0][2] for *_, heading, rows in stops(part.of_class("wide")[0])}


def fitted_to_all(study):
    """The recommended judge on the recommended features, their table, and the columns of each."""
    page = Page(study, LANGUAGES["en"])
    encoded = study.dataset.keep(study.recommended.features).encode("onehot")
    owners = [name.partition("=")[0] for name in encoded.feature_names]
    groups = {f: [k for k, o in enumerate(owners) if o == f] for f in study.recommended.features}
    code = np.unique(study.dataset.y, return_inverse=True)[1]
    machine = machine_for(page, len(owners)).fit(encoded.X, code)
    return machine, encoded.X, groups


@pytest.mark.parametrize("judge", ["linear", "forest"])
def test_effects_are_shapley_values_of_all_recommended_features(judge):
    from tamiz.data import load
    from tamiz.explain import shapley_values

    quick = {"sizes": [12], "cv": 3, "repeats": 1, "fdr": None}
    quick |= {"scoring": "balanced_accuracy", "class_weight": "balanced"}
    study = make_study(load("german_credit"), ["fisher"], [judge], **quick)
    machine, X, groups = fitted_to_all(study)
    mixed = np.random.default_rng(0).permutation(len(X))
    some = X[mixed[: 150 if judge == "linear" else 40]]
    found = shapley_values(
        machine, some, X[mixed[-40:]], feature_groups=groups, n_permutations=20, random_state=0
    )
    expected = dict(zip(found.feature_names, found.importances.tolist(), strict=True))
    for lang, words in LANGUAGES.items():
        part, said = explained(study, lang)
        assert list(said) == sorted(expected, key=lambda name: -expected[name])
        assert len(said) == 12 and set(said) == set(study.recommended.features)
        assert said == {name: words.number(expected[name], 3) for name in said}
        assert not re.search(r"\b(nan|None|inf)\b|[{}]|\[\[", part.text)


@lru_cache
def decided_by_a_category(judge):
    """The town decides, but for nine rows; no town is a value, too; two numbers do nothing."""
    import pandas as pd

    from tamiz.data import load

    rng = np.random.default_rng(0)
    towns = np.array([*"abcdefghi", None], dtype=object)
    town = rng.choice(10, p=np.arange(14, 4, -1) / 95, size=300)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["x", "z"])
    frame["town"] = towns[town]
    decided = np.isin(town, [1, 4, 7, 9])
    decided[:9] = ~decided[:9]
    frame["target"] = np.where(decided, "yes", "no")
    data = load(frame, target="target")
    return make_study(data, ["fisher"], [judge], sizes=[3], cv=3, repeats=1, fdr=None)


@pytest.mark.parametrize("judge", ["linear", "rbf", "tree"])
def test_a_category_that_decides_the_class_comes_first(judge):
    study = decided_by_a_category(judge)
    part, said = explained(study)
    assert next(iter(said)) == "town" and set(said) == {"town", "x", "z"}
    assert part.of_class("panel")[0].all("h3")[0].text == "town"


@pytest.mark.parametrize("judge", ["linear", "rbf", "tree"])
def test_dots_of_a_category_are_means_with_all_rows_at_that_value(judge):
    study = decided_by_a_category(judge)
    machine, X, groups = fitted_to_all(study)
    some = X[np.random.default_rng(0).permutation(len(X))[: 40 if judge == "tree" else 150]]
    levels = [*study.dataset.levels["town"], "no value"]
    codes = study.dataset.X[:, study.dataset.feature_names.index("town")]
    codes = np.where(np.isnan(codes), len(levels) - 1, codes).astype(int)
    usual = np.argsort(-np.bincount(codes), kind="stable")[:8]
    expected = {}
    for c in usual:
        rows = some.copy()
        rows[:, groups["town"]] = np.eye(len(levels))[c]
        value = (
            machine.predict_proba(rows)[:, 1]
            if judge == "tree"
            else machine.decision_function(rows)
        ).mean()
        expected[f"town = {levels[c]}"] = LANGUAGES["en"].number(float(value), 3)
    panel = read(render(study)).one("effects").of_class("panel")[0]
    (chart,) = panel.of_class("chart")
    assert {heading: rows[0][2] for *_, heading, rows in stops(chart)} == expected
    assert len(panel.of_class("mark")) == 8 and "not drawn: 2" in panel.text


def test_effects_of_many_features_are_of_the_first_ones():
    import pandas as pd

    from tamiz.data import load

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 33)), columns=[f"x{j}" for j in range(33)])
    frame["target"] = np.where(frame["x0"] + frame["x1"] > 0, "yes", "no")
    data = load(frame, target="target")
    study = make_study(data, ["fisher"], ["linear"], sizes=[33], cv=3, repeats=1, fdr=None)
    text = read(render(study)).one("effects").text
    assert "the first 30 of the 33 recommended features" in text and "another machine" in text


def test_effects_of_one_category_alone():
    part, said = explained(other_study("one category"))
    assert list(said) == ["colour"] and len(part.of_class("panel")) == 1
    assert "Thin lines" not in part.text and "adds most" not in part.text
