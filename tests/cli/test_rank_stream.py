"""``tamiz rank`` on files that are read in batches."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tamiz.cli.app import app
from tamiz.cli.console import UsageProblem
from tests.cli.programs import run, valid


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of numbers and one with text and missing values, as Parquet and CSV."""
    place = tmp_path_factory.mktemp("stream")
    rng = np.random.default_rng(0)
    n = 900
    y = rng.integers(0, 2, n)
    numbers = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    numbers["b"] += 2 * y
    numbers["e"] += y
    numbers["kind"] = np.where(y > 0, "yes", "no")
    numbers.to_parquet(place / "numbers.parquet", row_group_size=200)
    mixed = numbers.assign(colour=np.where(rng.random(n) < 0.8, y, 1 - y))
    mixed["colour"] = mixed["colour"].map({0: "red", 1: "blue"})
    mixed.loc[5:40, "a"] = np.nan
    mixed.to_csv(place / "mixed.csv", index=False)
    gaps = mixed.drop(columns="colour")
    gaps.loc[700:869, "b"] = np.nan
    gaps.to_parquet(place / "gaps.parquet", row_group_size=200)
    return place


WAYS = ("stream", "no-stream")


def ask(*arguments):
    """The command in this process: a new one for each would take long."""
    return CliRunner().invoke(app, list(map(str, arguments)))


def refusal(*arguments):
    """The sentence with which a command is refused."""
    error = ask(*arguments).exception
    assert isinstance(error, UsageProblem), repr(error)
    return str(error)


@pytest.mark.parametrize("method", ["mrmr", "fisher", "ks", "qpfs", "relieff", "maxrel"])
def test_the_same_ranking_as_in_memory(method, folder):
    path = folder / "numbers.parquet"
    common = ("rank", path, "-t", "kind", "-m", method, "--json")
    streamed = valid("rank", ask(*common, "--stream").stdout)
    whole = valid("rank", ask(*common, "--no-stream").stdout)
    names = [[f["name"] for f in d["features"]] for d in (streamed, whole)]
    assert names[0] == names[1]
    scores = [[f["score"] for f in d["features"]] for d in (streamed, whole)]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-10)
    for key in ("n_samples", "n_features", "target", "data", "method", "params"):
        assert streamed[key] == whole[key]
    assert any("900 rows were read" in note for note in streamed["notes"])
    assert not any("rows were read" in note for note in whole["notes"])


def test_text_and_missing_values_in_a_stream(folder):
    path = folder / "mixed.csv"
    done = run("rank", path, "-t", "kind", "-m", "mrmr", "-k", 3, "--stream", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "tamiz: the table was read in batches: its 900 rows were read" in done.stderr
    assert len(done.stdout.splitlines()) == 4
    assert "colour" in done.stdout
    assert "medians" not in done.stderr  # a method that counts needs none


def test_machines_standardise_a_stream_unless_told_not_to(folder, tmp_path):
    """A feature in tiny units has a tiny spread: only a machine that standardises puts it first."""
    table = pd.read_parquet(folder / "numbers.parquet")
    table["b"] *= 1e-3
    path = tmp_path / "tiny.parquet"
    table.to_parquet(path, row_group_size=200)
    common = ("rank", path, "-t", "kind", "-m", "rfe", "--stream", "--json")
    first = [
        valid("rank", ask(*common, *scale).stdout)["features"][0]["name"]
        for scale in ((), ("--scale", "standard"), ("--scale", "none"))
    ]
    assert first == ["b", "b", "e"]
    assert "standard or none" in refusal(*common, "--scale", "minmax")
    common = ("rank", path, "-t", "kind", "-m", "fisher", "--stream", "--json")
    plain, asked = (
        valid("rank", ask(*common, *more).stdout) for more in ((), ("--scale", "minmax"))
    )
    assert asked["features"] == plain["features"]
    assert [note for note in asked["notes"] if note not in plain["notes"]] == [
        "the features were not scaled: filters read a stream as it is, and their default scores do "
        "not depend on units."
    ]


@pytest.mark.parametrize("name", ["mixed.csv", "gaps.parquet"])
@pytest.mark.parametrize(
    ("method", "fills"), [("fisher", True), ("auc", True), ("rfe", True), ("relieff", False)]
)
def test_missing_values_are_filled_as_in_memory(method, fills, name, folder):
    common = ("rank", folder / name, "-t", "kind", "-m", method, "--json")
    streamed, whole = (valid("rank", ask(*common, f"--{how}").stdout) for how in WAYS)
    names = [[feature["name"] for feature in one["features"]] for one in (streamed, whole)]
    assert names[0] == names[1]
    scores = [[feature["score"] for feature in one["features"]] for one in (streamed, whole)]
    if method != "rfe":  # whose features have no scores
        np.testing.assert_allclose(scores[0], scores[1], rtol=1e-10)
    n = 36 if name == "mixed.csv" else 206
    filled = f"{n} missing values were filled with medians"
    for one, how in ((streamed, ", which took 1 reading to find."), (whole, ".")):
        assert [note for note in one["notes"] if "medians" in note] == [filled + how] * fills


def test_missing_values_are_filled_where_the_parameters_ask_for_all_values(folder):
    common = ("rank", folder / "gaps.parquet", "-t", "kind", "-m", "qpfs", "--json", "--stream")
    for more, fills in (((), False), (("-p", "similarity=pearson"), True)):
        document = valid("rank", ask(*common, *more).stdout)
        assert any("medians" in note for note in document["notes"]) == fills
        assert document["features"][0]["name"] == "b"


def test_a_column_without_values_is_reported(folder, tmp_path):
    table = pd.read_parquet(folder / "gaps.parquet").assign(empty=np.nan)
    table.to_parquet(tmp_path / "empty.parquet")
    common = ("rank", tmp_path / "empty.parquet", "-t", "kind", "-m", "fisher", "--json")
    document = valid("rank", ask(*common, "--stream").stdout)
    assert document["features"][-1] == {**document["features"][-1], "name": "empty", "score": 0.0}
    assert sum("No row has a value in column 'empty'" in note for note in document["notes"]) == 1


@pytest.mark.parametrize("method", ["fisher", "ks", "pearson", "mrmr"])
def test_words_become_indicators_where_numbers_are_needed(method, folder):
    common = ("rank", folder / "mixed.csv", "-t", "kind", "--drop", "a", "-m", method, "--json")
    streamed, whole = (valid("rank", ask(*common, f"--{how}").stdout) for how in WAYS)
    for key in ("n_features", "params", "target", "n_samples"):
        assert streamed[key] == whole[key]
    names = [[feature["name"] for feature in one["features"]] for one in (streamed, whole)]
    assert names[0] == names[1]
    assert ("colour" if method == "mrmr" else "colour=red") in names[0][:2]
    scores = [[feature["score"] for feature in one["features"]] for one in (streamed, whole)]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-10)
    told = any("turned into indicators" in note for note in streamed["notes"])
    assert told == (method != "mrmr")


def test_a_large_file_is_streamed_by_itself(folder, free_memory):
    path = folder / "numbers.parquet"
    free_memory(1000)
    document = valid("rank", ask("rank", path, "-t", "kind", "--json").stdout)
    assert any("read in batches" in note for note in document["notes"])
    refused = ask("rank", path, "-t", "kind", "--no-stream").exception
    assert "of memory are free" in str(refused) and "--stream" in str(refused)
    first = valid("rank", ask("rank", path, "-t", "kind", "--json", "--rows", 100).stdout)
    assert first["n_samples"] == 100
    free_memory(10**9)
    whole = valid("rank", ask("rank", path, "-t", "kind", "--json", "--no-stream").stdout)
    assert not any("read in batches" in note for note in whole["notes"])


@pytest.mark.parametrize("method", ["maxdep", "forward"])
def test_a_method_that_cannot_is_refused_with_those_that_can(method, folder):
    path = folder / "numbers.parquet"
    said = refusal("rank", path, "-t", "kind", "-m", method, "--stream")
    for word in ("needs all rows in memory", "mrmr", "fisher", "--no-stream"):
        assert word in said


def test_other_refusals(folder):
    path = folder / "numbers.parquet"
    for more, words in (
        (("-k", 99), "-k 99 is not possible"),
        (("-t", "nobody"), "nobody"),
        (("--rows", 5), "--rows"),
        (("--role", "a"), "--role"),
    ):
        assert words in refusal("rank", path, "--stream", *more)
    assert "known by name" in refusal("rank", "iris", "--stream")
    broken = folder / "broken.parquet"
    broken.write_bytes(path.read_bytes()[:-300])
    assert "broken.parquet" in refusal("rank", broken, "--stream")


@pytest.mark.parametrize("method", ["qpfs", "cfs"])
def test_a_numeric_target_needs_missing_values_filled_both_ways(method, tmp_path):
    """Classes are counted, missing values as a level; with a numeric target they correlate."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = X[:, 2] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=120)
    X[rng.random(X.shape) < 0.05] = np.nan
    names = ["a", "b", "c", "d"]
    pd.DataFrame(X, columns=names).assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    found = []
    for way in ("--stream", "--no-stream"):
        done = ask("rank", tmp_path / "t.csv", "-t", "y", "-m", method, "--json", way)
        found.append(valid("rank", done.stdout))
        told = f"{np.isnan(X).sum()} missing values were filled"
        assert any(told in note for note in found[-1]["notes"])
    first, second = ([f["name"] for f in one["features"]] for one in found)
    assert first == second and first[0] == "c"


# --------------------------------------------------------------------------- what the user sees


@pytest.mark.parametrize("method", ["pearson", "cfs", "qpfs"])
def test_many_integers_are_ranked_as_the_note_says(method, tmp_path):
    """They were ranked as classes in memory, below a note that called them numbers."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(2000, 3)), columns=list("abc"))
    table["count"] = np.clip(np.round(15 + 5 * table["b"] + rng.normal(size=2000)), 0, 29)
    table.to_csv(tmp_path / "t.csv", index=False)
    common = ("rank", tmp_path / "t.csv", "-m", method, "--json")
    found = [valid("rank", ask(*common, f"--{way}").stdout) for way in WAYS]
    for one in found:
        assert one["params"]["task"] == "regression"
        assert any("taken as numbers" in note for note in one["notes"])
    scores = [{f["name"]: f["score"] for f in one["features"]} for one in found]
    np.testing.assert_allclose(
        [scores[0][name] for name in "abc"], [scores[1][name] for name in "abc"], rtol=1e-6
    )
    classes = valid("rank", ask(*common, "--no-stream", "-p", "task=classification").stdout)
    assert classes["params"]["task"] == "classification"


def test_what_was_guessed_is_reported_as_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["a;a;b;wörd"]
    lines += [f"{u:.3f};{v:.3f};1;{'jä' if u > 0 else 'nö'}" for u, v in rng.normal(size=(60, 2))]
    text = "\n".join(line.replace(".", ",") for line in lines)
    (tmp_path / "t.csv").write_bytes(text.encode("cp1252"))
    common = ("rank", tmp_path / "t.csv", "-m", "fisher")
    streamed, whole = (ask(*common, f"--{way}") for way in WAYS)
    for one in (streamed, whole):
        for words in (
            "Separator: semicolon, decimal comma.",
            "The last column, 'wörd', is taken as the target (--target changes it).",
            "columns of the same name, which were numbered: 'a'.",
            "t.csv is not UTF-8; it was read as Western European (cp1252).",
        ):
            assert one.stderr.count(words) == 1, (words, one.stderr)


def test_warnings_of_the_method_are_reported_in_sentences(folder, tmp_path, recwarn):
    table = pd.read_parquet(folder / "numbers.parquet").assign(empty=np.nan)
    table.to_parquet(tmp_path / "t.parquet")
    done = ask("rank", tmp_path / "t.parquet", "-t", "kind", "-m", "mrmr", "--stream")
    told = "tamiz: Column 'empty' has no value in any row; it tells nothing and is ranked last."
    assert f"{told} Leave it out with --drop.\n" in done.stderr
    assert not [one for one in recwarn if issubclass(one.category, UserWarning)]


def test_a_column_that_is_refused_is_named(folder, tmp_path):
    table = pd.read_parquet(folder / "numbers.parquet")
    table["d"] *= 1e160
    table.to_parquet(tmp_path / "t.parquet")
    said = refusal("rank", tmp_path / "t.parquet", "-t", "kind", "-m", "fisher", "--stream")
    assert "(column 'd')" in said and said.endswith("Or leave it out with --drop.")


@pytest.mark.parametrize("way", WAYS)
def test_a_parameter_that_is_not_there(way, folder):
    path = folder / "numbers.parquet"
    said = refusal("rank", path, "-t", "kind", "-m", "ks", "-p", "resolution=9", f"--{way}")
    assert said.startswith("--param resolution: ks has no such parameter. It has ")
    assert "n_features_to_select" in said


def test_a_sparse_file_as_a_whole_names_the_way_out(tmp_path):
    lines = [f"{i % 2} 1:{i % 7} 3:{(i * i) % 5 + i % 2}" for i in range(40)]
    (tmp_path / "t.libsvm").write_text("\n".join(lines) + "\n", encoding="utf-8")
    common = ("rank", tmp_path / "t.libsvm", "-m", "relieff")
    assert "--stream reads the file in batches" in refusal(*common, "--no-stream")
    assert ask(*common, "--stream").exit_code == 0
