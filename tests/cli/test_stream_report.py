"""Reports of rankings whose table was read in batches."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tamiz.cli import _stream_report
from tamiz.cli._stream import Indicators
from tamiz.cli._stream_report import streamed_study
from tamiz.cli.app import app, run
from tamiz.cli.rank import Ranking
from tamiz.data import load
from tamiz.filters import FisherScore, MaxRel
from tamiz.reports import render
from tamiz.scale import batches
from tamiz.scale.sample import row_hash
from tests.calls import interrupted
from tests.reports.tree import read

N, FEW = 900, 200


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Numbers; text, missing values and rows without a class; a numeric target."""
    place = tmp_path_factory.mktemp("reports")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    plain = pd.DataFrame(rng.normal(size=(N, 5)), columns=list("abcde"))
    plain["b"] += 2 * y
    plain["e"] += y
    plain["kind"] = np.where(y > 0, "yes", "no")
    plain.to_parquet(place / "plain.parquet", row_group_size=200)
    mixed = plain.assign(
        colour=np.where(rng.random(N) < 0.8, y, 1 - y),
        size=rng.choice(["big", "middling", "small", None], N),
        stays=3.0,
        again=plain["b"],
        answer=np.where(y > 0, 7.5, 1.5),
        room_number=rng.permutation(N),
        note=[f"some words {k} {k * k}" for k in range(N)],
    )
    mixed["colour"] = mixed["colour"].map({0: "red", 1: "blue"})
    mixed.loc[5:40, "a"] = np.nan
    mixed.loc[::45, "kind"] = None
    mixed.to_csv(place / "mixed.csv", index=False)
    priced = plain.assign(price=3 * plain["a"] + rng.normal(size=N))
    priced.to_csv(place / "priced.csv", index=False)
    return place


@pytest.fixture
def few(limits):
    """A sample of fewer rows than the tables have."""
    limits(_stream_report, SAMPLE_ROWS=FEW)


def report(folder, name, *arguments, way="stream", lang="en"):
    """The page of a ranking, and its document."""
    out = folder / f"{way}-{lang}.html"
    command = ["rank", folder / name, *arguments, f"--{way}", "--out", out, "--lang", lang]
    done = CliRunner().invoke(app, [*map(str, command), "--json"])
    assert done.exception is None, repr(done.exception)
    return read(out.read_text(encoding="utf-8")), json.loads(done.stdout)


def ranking(page):
    """The table of the ranking, as the page has it."""
    return json.loads(page.one("ranking-data").text)


def facts(page):
    """Terms and values of the data section."""
    part = page.one("data")
    return dict(
        zip((n.text for n in part.all("dt")), (n.text for n in part.all("dd")), strict=True)
    )


CASES = {
    "mrmr": ("plain.parquet", "-t", "kind", "-k", 3),
    "fisher": ("plain.parquet", "-t", "kind", "-k", 3),
    "arom": ("plain.parquet", "-t", "kind", "-k", 3),
    "svm_rfe": ("plain.parquet", "-t", "kind", "-k", 3),
    "maxrel": ("mixed.csv", "-t", "kind", "-k", 6),
    "welch": ("mixed.csv", "-t", "kind", "--drop", "a", "-k", 6),
    "pearson": ("priced.csv", "-t", "price", "-k", 4),
}


@pytest.mark.parametrize("method", CASES)
def test_the_ranking_is_that_of_memory(method, folder, few):
    ours, said = report(folder, *CASES[method], "-m", method)
    theirs, also = report(folder, *CASES[method], "-m", method, way="no-stream")
    a, b = ranking(ours), ranking(theirs)
    names = [[f["name"] for f in one["features"]] for one in (said, also)]
    assert names[0] == names[1] == a["columns"][1][1][: len(names[0])]
    kinds = a["labels"].index("Kind") if "Kind" in a["labels"] else None
    assert a["labels"] == b["labels"]
    for k, (mine, other) in enumerate(zip(a["columns"], b["columns"], strict=True)):
        assert mine[0] == other[0]
        if mine[0] == "number":
            mine, other = (np.array(one[1], dtype=float) for one in (mine, other))
            near = 5e-3 if method == "arom" else 1e-12  # machines are solved up to a gap
            np.testing.assert_allclose(mine, other, rtol=1e-5, atol=near)
        elif k != kinds:  # what repeats a column or gives the target is not known of all rows
            assert mine[1] == other[1]
    shown, inside = facts(ours), facts(theirs)
    for term in ("Rows", "Target", "Missing cells"):
        assert shown[term] == inside[term]
    charts = [p.one("data").all("figure") for p in (ours, theirs)]
    assert [c.text for c in charts[0]] == [c.text for c in charts[1]]  # of all rows
    assert f"{FEW} rows (" in shown["Sample"]
    assert "Sample" not in inside
    assert "sample" not in theirs.one("summary").text


WORDS = {
    "en": ("sample of 200 of the rows", "a sample of 200 of the 900 rows", "(seed 4)"),
    "es": ("200 de las filas, una muestra al azar", "de 200 de las 900 filas", "(semilla 4)"),
}


@pytest.mark.parametrize("lang", WORDS)
def test_a_sample_is_said_to_be_one(lang, folder, few):
    page, said = report(folder, *CASES["mrmr"], "--seed", 4, lang=lang)
    top, beside, seed = WORDS[lang]
    first = page.one("summary").of_class("sample")[0].text
    assert top in first and seed in first and "900" in first
    assert beside in page.one("features").of_class("sample")[0].text
    alone = {"en": "other methods", "es": "otros métodos"}[lang]
    assert alone not in page.one("ranking").text  # there is no other
    counts = [n.text for n in page.one("features").of_class("key")]
    rows = [int(text.split("(")[1].split()[0]) for text in counts]
    assert sum(rows) == FEW and len(rows) == 2
    assert page.one("data").text.count("900") >= 1
    assert any("show 200 of the 900 rows" in note for note in said["notes"])


@pytest.mark.parametrize(("method", "lang"), [("maxrel", "en"), ("welch", "es"), ("pearson", "en")])
def test_all_rows_give_the_page_of_memory(method, lang, folder):
    ours, said = report(folder, *CASES[method], "-m", method, lang=lang)
    theirs, _ = report(folder, *CASES[method], "-m", method, way="no-stream", lang=lang)
    for key in ("summary", "ranking", "features"):
        assert ours.one(key).text == theirs.one(key).text
    assert [n.text for n in ours.one("data").of_class("warn")] == [
        n.text for n in theirs.one("data").of_class("warn")
    ]
    assert facts(ours) == facts(theirs)
    assert not ours.of_class("sample")
    assert any("read once more" in note for note in said["notes"])


def test_what_only_the_sample_shows_is_marked(folder, few):
    page, _ = report(folder, *CASES["maxrel"], "-m", "maxrel")
    warned = page.one("data").of_class("warn")[0]
    sure, sampled = warned.all("ul")
    assert "“stays”" in sure.text and "“note”" in sure.text
    for name in ("again", "answer", "room_number"):
        assert f"“{name}”" in sampled.text and f"“{name}”" not in sure.text
    assert "looked for in the sample only." in warned.text
    assert "duplicate" not in facts(page)["Features"]
    assert "880 rows" in page.one("summary").text  # 20 have no class


def test_points_of_a_regression_are_counted(folder, limits):
    limits(_stream_report, SAMPLE_ROWS=600)
    page, _ = report(folder, *CASES["pearson"], "-m", "pearson")
    part = page.one("features")
    assert "400 points: rows drawn at random from the 600 of the sample" in part.text
    assert len(part.all("svg")[0].all("circle")) == 400
    assert "its proportion" not in page.one("summary").text  # there are no classes


def test_a_method_that_samples_says_so(folder, few):
    page, _ = report(folder, *CASES["mrmr"], "-m", "relieff", "-k", 2)
    assert "come from all 900 rows" in page.one("summary").text
    assert "ranked on all data" in page.one("ranking").text
    table = batches(folder / "plain.parquet", "kind").survey()
    selection = FisherScore(2).fit_stream(table).selection_
    selection.notes["sample"] = "neighbours are those in a sample"
    text = read(render(study_of(table, selection)))
    assert "looks at a sample" in text.one("summary").text
    assert "looked at a sample" in text.one("ranking").text
    selection.notes = {"cuts": "bins were found in a sample"}
    text = read(render(study_of(table, selection), "es"))
    assert "salvo los límites de los intervalos" in text.one("summary").text


# ------------------------------------------------------------------------------------ the sample


def study_of(table, selection, seed=0, **more):
    path = more.pop("path", "table.csv")
    ranking = Ranking(selection, n_samples=0, n_features=0, target=None, data="", read=[], notes=[])
    return streamed_study(table, ranking, method="m", path=Path(path), seed=seed, **more)


def sampled_rows(batch_rows, seed):
    """Places, among the rows of mixed.csv that have a class, of those with the least numbers."""
    first = np.arange(0, N, batch_rows)
    kept = [np.count_nonzero(np.arange(a, min(a + batch_rows, N)) % 45) for a in first]
    numbers = np.concatenate([a + np.arange(n) for a, n in zip(first, kept, strict=True)])
    return np.sort(np.argsort(row_hash(numbers, seed))[:FEW])


@pytest.fixture(scope="module")
def mixed(folder):
    """The table as a whole, and a ranking of its features."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = load(folder / "mixed.csv", target="kind")
        table = batches(folder / "mixed.csv", "kind").survey()
        selection = MaxRel(n_features_to_select=5).fit_stream(table).selection_
    return whole, selection


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rows", [37, None])
@pytest.mark.parametrize("room", [0, 2**25])
def test_the_sample_is_the_rows_with_least_numbers(folder, few, mixed, rows, room, limits):
    limits(_stream_report, SAMPLE_BYTES=room)
    whole, selection = mixed
    table = batches(folder / "mixed.csv", "kind", batch_rows=rows).survey()
    study = study_of(table, selection, seed=3)
    data, kept = study.dataset, selection.order[:5].tolist()
    chosen = sampled_rows(rows or N, seed=3)
    np.testing.assert_array_equal(data.X, whole.X[chosen][:, kept])
    np.testing.assert_array_equal(data.y, whole.y[chosen])
    assert data.feature_names == [whole.feature_names[j] for j in kept]
    assert data.levels == {n: whole.levels[n] for n in data.feature_names if n in whole.levels}
    assert study.whole.class_counts == whole.class_counts
    assert study.whole.n_rows == whole.n_samples == N - 20
    np.testing.assert_array_equal(study.whole.missing, whole.missing)
    assert study.whole.n_looked == (None if room else 5)
    said = read(render(study)).one("data").text
    assert ("only, among 5 columns." in said) == (not room)
    assert study.to_dict()["data"]["n_samples"] == N - 20


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("room", [0, 2**25])
def test_indicators_of_the_sample(folder, few, room, limits):
    limits(_stream_report, SAMPLE_BYTES=room)
    whole = load(folder / "mixed.csv", target="kind", drop=["a"]).encode("onehot")
    table = Indicators(batches(folder / "mixed.csv", "kind", drop=["a"]).survey())
    selection = FisherScore(13).fit_stream(table).selection_
    data = study_of(table, selection, seed=3).dataset
    chosen = sampled_rows(N, seed=3)
    np.testing.assert_array_equal(data.X, whole.X[chosen][:, selection.order])
    assert "size=(missing)" in data.feature_names


def test_classes_too_rare_for_the_sample_are_named(few):
    rng = np.random.default_rng(1)
    y = np.where(np.arange(3000) < 2, "seldom", np.where(np.arange(3000) % 2, "odd", "even"))
    table = batches((rng.normal(size=(3000, 2)), y), batch_rows=500).survey()
    study = study_of(table, FisherScore(1).fit_stream(table).selection_)
    page = read(render(study))
    assert study.whole.class_counts == {"even": 1499, "odd": 1499, "seldom": 2}
    assert "seldom" not in study.dataset.class_counts
    assert "No row of the sample is of these classes: “seldom”." in page.one("features").text
    assert "3 classes" in page.one("summary").text


def test_a_wide_sparse_file(folder, few, tmp_path):
    rng = np.random.default_rng(2)
    lines = []
    for k in range(400):
        columns = np.unique(rng.integers(1, 2000, 8))
        cells = [f"{j}:{rng.integers(1, 4)}" for j in columns if j != 7] if k else ["1999:1"]
        lines.append(" ".join([str(k % 2), *cells]))
    (tmp_path / "wide.svm").write_text("\n".join(lines) + "\n", encoding="utf-8")
    page, _ = report(tmp_path, "wide.svm", "-m", "chi2", "-k", 2)
    other, _ = report(tmp_path, "wide.svm", "-m", "chi2", "-k", 2, way="no-stream")
    assert ranking(page)["columns"][1] == ranking(other)["columns"][1]
    assert "looked for" not in page.one("data").text
    terms = [facts(one) for one in (page, other)]
    assert terms[0]["Features"] == terms[1]["Features"] and "constant" in terms[0]["Features"]
    assert terms[0]["Rows"] == "400" and "200 rows" in terms[0]["Sample"]


# ------------------------------------------------------------------------------ when it goes wrong


def command(folder):
    return ["rank", str(folder / "plain.parquet"), "-t", "kind", "-m", "fisher", "--stream"]


def test_ctrl_c_while_the_sample_is_drawn_prints_the_ranking(folder, capsys):
    out = folder / "stopped.html"
    out.write_text("old", encoding="utf-8")
    with interrupted(_stream_report, "sweep"):
        code = run([*command(folder), "--out", str(out)])
    said = capsys.readouterr()
    assert code == 0  # the ranking is complete, and may have taken hours
    assert said.out.splitlines()[1].split()[:2] == ["1", "b"]
    assert said.err.endswith("tamiz: interrupted while the report was made; there is none.\n")
    assert "the report is in" not in said.err
    assert out.read_text(encoding="utf-8") == "old"


def test_ctrl_c_before_there_is_a_ranking(folder, capsys):
    with interrupted(FisherScore, "fit_stream"):
        assert run(command(folder)) == 130
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "tamiz: interrupted; nothing was finished.\n")


def test_a_full_disk_keeps_the_old_report_and_prints_the_ranking(
    folder, tmp_path, full_disk, capsys
):
    full_disk("fsync")
    out = tmp_path / "r.html"
    out.write_text("old", encoding="utf-8")
    code = run([*command(folder), "--out", str(out)])
    said = capsys.readouterr()
    assert code == 1 and said.out.splitlines()[1].split()[:2] == ["1", "b"]
    last = said.err.splitlines()[-1]
    assert "r.html" in last and "No space left" in last and "unchanged" in last
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]
    assert out.read_text(encoding="utf-8") == "old"
