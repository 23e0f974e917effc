"""What fit_stream refuses, and how it says so; progress, and interruptions."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from tamiz.filters import (
    CFS,
    JMI,
    MRMR,
    QPFS,
    AUCScore,
    ChiSquared,
    FisherScore,
    InformationGain,
    KolmogorovSmirnov,
    MaxDep,
    MaxRel,
    PearsonScore,
    ReliefF,
    RReliefF,
    WelchT,
)
from tamiz.scale import batches

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
X = RNG.normal(size=(60, 4)) + Y[:, None]
PAIRS = [(X[:25], Y[:25]), (X[25:], Y[25:])]


def frames(**changes):
    """Two batches of named columns, the second one changed."""
    one = pd.DataFrame(X[:25], columns=list("abcd")).assign(kind=Y[:25])
    two = pd.DataFrame(X[25:], columns=list("abcd")).assign(kind=Y[25:])
    return [one, two.assign(**changes)]


def changed(place, value, batch=1):
    rows = [(A.copy(), b.copy()) for A, b in PAIRS]
    rows[batch][0][place] = value
    return rows


@pytest.mark.parametrize(
    "selector",
    [
        FisherScore(),
        WelchT(),
        PearsonScore(),
        AUCScore(),
        KolmogorovSmirnov(),
        ChiSquared(test="counts"),
        MRMR(measure="f_pearson"),
        CFS(correlation="pearson"),
        QPFS(similarity="pearson"),
    ],
    ids=repr,
)
def test_missing_values_are_refused_with_batch_and_column(selector):
    named = [part.abs() for part in frames()]  # counts are not negative
    named[1].loc[named[1].index[3], "c"] = np.nan
    with pytest.raises(ValueError, match=r"Batch 1 contains NaN in column 'c'.*filled\(\)"):
        selector.fit_stream(named, target="kind")
    with pytest.raises(NotFittedError):
        selector.transform(X)
    selector.fit_stream(batches(named, target="kind").filled())  # the remedy that is named


def test_an_infinite_value():
    with pytest.raises(ValueError, match=r"batch 1.*inf"):
        MaxRel().fit_stream(changed((3, 2), np.inf))


def test_values_that_cannot_be_squared():
    with pytest.raises(ValueError, match=r"batch 1.*squares leave the range"):
        FisherScore().fit_stream(changed((3, 2), 1e200))


@pytest.mark.parametrize("selector", [FisherScore(), MaxRel()])
def test_other_columns(selector):
    with pytest.raises(ValueError, match=r"batch 1.*3 features where the first has 4"):
        selector.fit_stream([PAIRS[0], (X[25:, :3], Y[25:])])
    lacking = frames()
    lacking[1] = lacking[1].drop(columns="b")
    with pytest.raises(ValueError, match=r"'b'"):
        selector.fit_stream(lacking, target="kind")
    turned = frames()
    turned[1] = turned[1][["kind", "d", "b", "a", "c"]]  # by name, the order does not matter
    ours = selector.fit_stream(turned, target="kind")
    np.testing.assert_allclose(ours.scores_, selector.fit(X, Y).scores_, rtol=1e-12)


def test_text_where_numbers_were():
    with pytest.raises(ValueError, match=r"batch 1.*'b'"):
        FisherScore().fit_stream(iter(frames(b="red")), target="kind")  # judged by the first


def test_nominal_columns_where_numbers_are_needed():
    words = frames(b="red")
    words[0]["b"] = "blue"
    with pytest.raises(ValueError, match=r"Column 'b' is nominal.*drop="):
        FisherScore().fit_stream(words, target="kind")
    assert MaxRel().fit_stream(words, target="kind").n_features_in_ == 4


def test_codes_of_levels_are_never_correlated():
    """CFS counts where the target holds classes; with a numeric target it needs numbers."""
    words = frames()
    for part in words:
        part["b"] = np.where(part["b"] > 0, "red", "blue")
        part["kind"] = part["a"] + 0.5
    with pytest.raises(ValueError, match=r"Column 'b' is nominal.*CFS needs numbers here"):
        CFS().fit_stream(words, target="kind")


def test_numbers_among_text_are_the_levels_of_fit():
    rng = np.random.default_rng(4)
    cells = np.array([1, 1.0, True, "1", "a", 2, 2.0, np.str_("2"), None, 0.5], dtype=object)
    frame = pd.DataFrame({"m": cells[rng.integers(10, size=80)], "z": rng.standard_normal(80)})
    y = rng.integers(2, size=80)
    whole = InformationGain().fit(frame, y)
    parts = [(frame[k : k + 20], y[k : k + 20]) for k in range(0, 80, 20)]
    for streamed in ([(frame, y)], parts, [(X.to_numpy(), part) for X, part in parts]):
        np.testing.assert_allclose(
            InformationGain().fit_stream(streamed).scores_, whole.scores_, rtol=1e-12
        )


@pytest.mark.parametrize(
    ("one", "other"),
    [([1, 2, "1", "a"], ["1", "a", "2"]), ([True, False, "a"], [1, 0, "a"])],
)
def test_batches_in_which_a_level_means_different_things(one, other):
    cells = np.array([*one * 12, *other * 12], dtype=object)[:, None]
    y = (np.arange(len(cells)) % 3 == 0).astype(int)
    cut = 12 * len(one)
    halves = [(cells[:cut], y[:cut]), (cells[cut:], y[cut:])]
    for parts in (halves, halves[::-1]):
        with pytest.raises(ValueError, match="does not mean the same in all batches"):
            InformationGain().fit_stream(parts)
    InformationGain().fit_stream([(cells, y)])


def test_options_that_are_unknown():
    with pytest.raises(TypeError, match=r"no option 'batchrows'.*batch_rows"):
        MaxRel().fit_stream(PAIRS, batchrows=5)
    with pytest.raises(TypeError, match=r"'sample_weight'.*not weighted"):
        FisherScore().fit_stream(PAIRS, sample_weight=np.ones(60))


def test_a_class_that_was_not_announced():
    with pytest.raises(ValueError, match=r"batch 0.*1"):
        FisherScore().fit_stream(PAIRS, classes=[0, 2])
    with pytest.raises(ValueError, match=r"The class 7 was named, but no row has it"):
        FisherScore().fit_stream(PAIRS, classes=[0, 1, 7])
    with pytest.raises(ValueError, match=r"The class 7 was named, but no row has it"):
        MaxRel().fit_stream(PAIRS, classes=[0, 1, 7])


def test_one_class_and_no_rows():
    with pytest.raises(ValueError, match="one class only"):
        MaxRel().fit_stream([(X, np.zeros(60, dtype=int))])
    with pytest.raises(ValueError, match="one class only"):
        FisherScore().fit_stream([(X, np.zeros(60, dtype=int))], classes=[0, 1])
    with pytest.raises(ValueError, match="empty list"):
        MaxRel().fit_stream([])
    with pytest.raises(ValueError, match="no rows"):
        MaxRel().fit_stream([(X[:0], Y[:0])])


def test_an_empty_batch_is_passed_over():
    ours = MRMR().fit_stream([PAIRS[0], (X[:0], Y[:0]), PAIRS[1]])
    np.testing.assert_array_equal(ours.scores_, MRMR().fit(X, Y).scores_)


def test_a_column_without_any_value():
    gaps = [(np.column_stack([A, np.full(len(A), np.nan)]), b) for A, b in PAIRS]
    for selector in (MaxRel(), JMI()):
        with pytest.warns(UserWarning, match=r"'x4' has no value in any row"):
            ours = selector.fit_stream(gaps)
        assert ours.order_[-1] == 4
    with pytest.raises(ValueError, match="'x4'"):
        FisherScore().fit_stream(gaps)


def test_a_truncated_file(tmp_path):
    path = tmp_path / "rows.parquet"
    pd.DataFrame(X, columns=list("abcd")).assign(kind=Y).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ValueError, match=r"rows\.parquet"):
        MaxRel().fit_stream(path, target="kind")
    with pytest.raises(ValueError, match="nowhere"):
        MaxRel().fit_stream(tmp_path / "nowhere.parquet")


@pytest.mark.parametrize("selector", [MaxRel(), MRMR(), ChiSquared(), CFS(bins="width"), QPFS()])
def test_a_generator_and_two_passes(selector):
    read = []

    def rows():
        for pair in PAIRS:
            read.append(1)
            yield pair

    with pytest.raises(ValueError, match=r"more than once, and a generator can be read once"):
        selector.fit_stream(rows())
    assert len(read) <= 1  # refused before it was read in vain
    assert selector.fit_stream(rows).n_rows_ == 60


def test_numeric_target_where_classes_are_needed():
    parts = [(A, A[:, 0]) for A, _ in PAIRS]
    with pytest.raises(ValueError, match=r"(?s)continuous.*PearsonScore"):
        FisherScore().fit_stream(parts)
    with pytest.raises(ValueError, match="needs classes"):
        MaxRel().fit_stream(batches(parts, task="regression"))
    with pytest.raises(ValueError, match="takes a numeric target"):
        RReliefF().fit_stream(batches(PAIRS))
    with pytest.raises(ValueError, match=r"needs class labels.*pearson"):
        QPFS().fit_stream(parts)


@pytest.mark.parametrize(
    "selector",
    [PearsonScore(), CFS(), CFS(correlation="pearson"), QPFS(), QPFS(similarity="pearson")],
)
@pytest.mark.parametrize(
    ("n_levels", "kind"),
    [(2, int), (20, float), (25, int), (25, float), (40, float), (70, int), (70, float)],
)
def test_task_is_guessed_as_fit_does(selector, n_levels, kind):
    rng = np.random.default_rng(n_levels)
    X = rng.standard_normal((300, 3))
    y = rng.permutation(np.arange(300) % n_levels)
    X[:, 1] += y  # so that both readings score, each in its way
    y = y.astype(kind)
    parts = [(X[k::3], y[k::3]) for k in range(3)]
    told = []
    for fit, rows in (
        (selector.fit, (X, y)),
        (selector.fit_stream, ([(X, y)],)),
        (selector.fit_stream, (parts,)),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                fit(*rows)
            except ValueError as error:  # QPFS() counts, and has no use for a numeric target
                told.append((["needs classes" in str(error) or str(error)], 0.0))
                continue
        said = [
            str(w.message).partition("holds")[2] for w in caught if "taken as" in str(w.message)
        ]
        told.append((said, selector.scores_))
    for said, scores in told[1:]:
        assert said == told[0][0]
        np.testing.assert_allclose(scores, told[0][1], atol=1e-6)


def test_integers_of_a_file_that_are_taken_as_numbers():
    frame = pd.DataFrame({"a": RNG.standard_normal(90), "age": np.arange(90) // 3})
    with pytest.warns(UserWarning, match="'age' holds 30 different integers, which are taken as"):
        found = PearsonScore().fit_stream(frame, target="age")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = PearsonScore(task="regression").fit_stream(frame, target="age")
        PearsonScore(task="classification").fit_stream(frame, target="age")
    np.testing.assert_array_equal(found.scores_, said.scores_)


def test_a_count_of_levels_that_was_not_finished_is_not_shown_as_exact():
    frame = pd.DataFrame({"a": RNG.standard_normal(36_003), "age": np.arange(36_003) // 3})
    table = batches(frame, target="age", batch_rows=31_000)  # the first has 10,334 levels
    with pytest.warns(UserWarning, match="'age' holds more than 10,000 different integers, which"):
        PearsonScore().fit_stream(table)


def test_a_table_without_a_target():
    with pytest.raises(ValueError, match="requires a target"):
        MaxRel().fit_stream(batches(X, target=False))


def test_parameters_that_are_not_for_streams():
    with pytest.raises(ValueError, match="nothing to stream"):
        CFS(correlation=np.eye(5)).fit_stream(PAIRS)
    with pytest.raises(ValueError, match="similarity is a function"):
        QPFS(similarity=lambda A, B: A.T @ B).fit_stream(PAIRS)
    with pytest.raises(ValueError, match="relevance is a function"):
        QPFS(relevance=lambda A, b: b).fit_stream(PAIRS)
    with pytest.raises(ValueError, match="categorical_features"):
        MRMR(measure="f_pearson", categorical_features=[0]).fit_stream(PAIRS)
    with pytest.raises(ValueError, match="sample_size=1"):
        InformationGain().fit_stream(PAIRS, sample_size=1)
    with pytest.raises(ValueError, match="resolution=1"):
        AUCScore().fit_stream(PAIRS, resolution=1)
    with pytest.raises(ValueError, match="bins=None says"):
        MaxRel(bins=None).fit_stream(PAIRS)
    with pytest.raises(ValueError, match="target was given with batches that are open"):
        MaxRel().fit_stream(batches(PAIRS), target="kind")
    assert not hasattr(MaxDep(), "fit_stream")


def test_relevance_as_numbers_streams():
    weights = [0.1, 0.9, 0.2, 0.3]
    ours, whole = QPFS(relevance=weights), QPFS(relevance=weights)
    np.testing.assert_array_equal(ours.fit_stream(PAIRS).scores_, whole.fit(X, Y).scores_)


@pytest.mark.parametrize("selector", [FisherScore(), MRMR(2), AUCScore(), ReliefF(random_state=0)])
def test_a_failure_leaves_an_earlier_fit_alone(selector):
    before = selector.fit(X, Y).scores_.copy()
    with pytest.raises(ValueError, match="batch 1"):
        selector.fit_stream([PAIRS[0], (X[25:, :3], Y[25:])])
    np.testing.assert_array_equal(selector.scores_, before)
    assert not hasattr(selector, "n_rows_")


def test_an_interruption_leaves_everything_as_it_was():
    def rows():
        yield PAIRS[0]
        if len(passes) == 3:  # the survey, the first pass, and then
            raise KeyboardInterrupt
        yield PAIRS[1]

    passes = []

    def source():
        passes.append(1)
        return rows()

    selector = MRMR(2).fit(X, Y)
    before = vars(selector).copy()
    with pytest.raises(KeyboardInterrupt):
        selector.fit_stream(source)
    assert vars(selector) == before


def test_progress_is_shown(capsys, clock):
    clock.step = 5.0
    MaxRel().fit_stream(PAIRS, verbose=2)
    shown = capsys.readouterr().err
    assert "MaxRel, pass 1" in shown and "MaxRel, pass 2" in shown
    MRMR(2, verbose=2).fit_stream(PAIRS, verbose=0)
    assert "pass" not in capsys.readouterr().err


def test_n_jobs_does_not_matter():
    one, two = MRMR(3, n_jobs=1).fit_stream(PAIRS), MRMR(3, n_jobs=2).fit_stream(PAIRS)
    np.testing.assert_array_equal(one.scores_, two.scores_)
