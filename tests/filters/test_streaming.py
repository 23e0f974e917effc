"""fit_stream gives what fit gives on all rows, whatever the source and however it is cut."""

from __future__ import annotations

import io
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from tamiz.data import load
from tamiz.filters import (
    CFS,
    CMIM,
    JMI,
    MRMR,
    QPFS,
    AUCScore,
    ChiSquared,
    FisherScore,
    InformationGain,
    KolmogorovSmirnov,
    MaxRel,
    PearsonScore,
    Relief,
    ReliefF,
    RReliefF,
    SignalToNoise,
    StumpError,
    SymmetricalUncertainty,
    WelchT,
)
from tamiz.scale import StreamedCodes, batches

# Exactly equal: they count, or look at a sample that is the whole table.
COUNTING = [
    MaxRel(),
    MaxRel(bins="frequency", n_bins=4, missing="ignore"),
    InformationGain(),
    SymmetricalUncertainty(bins="width"),
    ChiSquared(alpha=0.01, correction="fdr"),
    ChiSquared(bins="mdl", rank_by="cramers_v"),
    MRMR(6),
    MRMR(6, scheme="quotient", missing="ignore"),
    JMI(6, bins="frequency", missing="ignore"),
    CMIM(6, bins="width"),
    CFS(),
    QPFS(6),
    QPFS(6, similarity="symmetrical_uncertainty"),
    QPFS(6, nystroem=0.3, random_state=3),
]
ORDERED = [AUCScore(), KolmogorovSmirnov(multiclass="max"), StumpError(class_weight="balanced")]
NEIGHBOURS = [Relief(random_state=0), ReliefF(random_state=0)]
# Equal to rounding: they sum up.
SUMMING = [
    FisherScore(),
    FisherScore(variant="multiclass"),
    SignalToNoise(),
    WelchT(alpha=0.01, correction="bonferroni"),
    PearsonScore(),
    MRMR(6, measure="f_pearson"),
    MRMR(6, measure="f_pearson", scheme="quotient"),
    CFS(correlation="pearson"),
    QPFS(6, similarity="pearson"),
    QPFS(6, similarity="pearson", nystroem=0.3, random_state=3),
]


def cut(X, y, sizes):
    """Pairs of so many rows each, the rest last."""
    ends = np.minimum(np.cumsum(sizes), len(y)).astype(int)
    starts = np.concatenate([[0], ends])
    stops = np.concatenate([ends, [len(y)]])
    return [(X[a:b], y[a:b]) for a, b in zip(starts, stops, strict=True) if b > a]


def fitted(selector, X, y, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(selector).set_params(**params).fit(X, y)


def streamed(selector, source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(selector).fit_stream(source, **options)


def assert_equal(ours, whole, exactly=True):
    """The same ranking, scores and everything else."""
    if exactly:
        np.testing.assert_array_equal(ours.scores_, whole.scores_)
        np.testing.assert_array_equal(ours.order_, whole.order_)
    else:
        near = 1e-6 if isinstance(whole, QPFS) else 1e-12  # it stops at a tolerance
        np.testing.assert_allclose(ours.scores_, whole.scores_, rtol=1e-10, atol=near)
        # columns that differ by rounding only may change places
        np.testing.assert_allclose(
            whole.scores_[ours.order_], whole.scores_[whole.order_], rtol=1e-9, atol=10 * near
        )
    np.testing.assert_array_equal(ours.support_[ours.order_], whole.support_[whole.order_])
    assert ours.n_features_in_ == whole.n_features_in_
    assert hasattr(ours, "classes_") == hasattr(whole, "classes_")
    if hasattr(whole, "classes_"):
        np.testing.assert_array_equal(ours.classes_, whole.classes_)
    if getattr(whole, "pvalues_", None) is not None:
        np.testing.assert_allclose(ours.pvalues_, whole.pvalues_, rtol=1e-8, atol=1e-12)
    assert ours.selection_.notes["n_rows"] == ours.n_rows_
    assert ours.selection_.notes["n_passes"] == ours.n_passes_


@pytest.fixture(scope="module")
def spam():
    data = load("spambase")
    rows = np.random.default_rng(0).permutation(data.n_samples)[:1500]
    return data.X[rows], data.y[rows]


def name(selector):
    return repr(selector)


@pytest.mark.parametrize("selector", [*COUNTING, *ORDERED, *NEIGHBOURS, *SUMMING], ids=name)
def test_the_cut_does_not_matter(selector, spam):
    X, y = spam
    whole = fitted(selector, X, y)
    for sizes in ([400] * 3, [1, 2, 800, 5]):
        ours = streamed(selector, cut(X, y, sizes))
        assert_equal(ours, whole, exactly=selector not in SUMMING)
        assert ours.n_rows_ == len(y)
        np.testing.assert_array_equal(ours.transform(X), X[:, whole.support_])


@pytest.mark.parametrize(
    "selector", [PearsonScore(), RReliefF(random_state=0), CFS(), QPFS(5, similarity="pearson")]
)
def test_numeric_target(selector, spam):
    X, _ = spam
    y = X[:, 0] - 2 * X[:, 3] + np.random.default_rng(1).normal(size=len(X))
    whole = fitted(selector, X, y)
    ours = streamed(selector, cut(X, y, [333, 444]))
    assert_equal(ours, whole, exactly=isinstance(selector, RReliefF))
    assert not hasattr(ours, "classes_")
    if isinstance(selector, PearsonScore):
        np.testing.assert_allclose(ours.correlations_, whole.correlations_, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_integers_as_target_where_the_task_is_said(task, spam):
    X, _ = spam
    y = np.random.default_rng(1).integers(0, 30, len(X)) + (X[:, 3] > 0)
    for selector in (PearsonScore(task=task), CFS(task=task, correlation="pearson")):
        ours = streamed(selector, cut(X, y, [333, 444]))
        assert_equal(ours, fitted(selector, X, y), exactly=False)


NOMINAL = [MaxRel(), MRMR(8), JMI(8), CFS(), ChiSquared(), QPFS(8), ReliefF(random_state=0)]


@pytest.mark.parametrize("known", ["hmeq", "german_credit", "adult"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_with_text_and_missing_values(known, kind, data_dir, tmp_path):
    frame = pd.read_csv(data_dir / f"{known}.csv.gz", nrows=3000)
    path = tmp_path / f"{known}.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, row_group_size=700)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = load(path)
    chosen = NOMINAL if kind == "csv" else NOMINAL[:3]
    for selector in chosen:
        mask = data.categorical if data.categorical.any() else None
        whole = fitted(selector, data.X, data.y, categorical_features=mask)
        ours = streamed(selector, path, target=data.target, batch_rows=450)
        assert_equal(ours, whole)
        assert ours.feature_names_in_.tolist() == data.feature_names
        assert ours.selection_.names == data.feature_names
        table = pd.DataFrame(data.X, columns=data.feature_names)
        kept = ours.transform(table).columns.tolist()
        assert sorted(kept) == sorted(ours.selection_.selected)
        assert kept == table.columns[whole.support_].tolist()


def test_sparse_rows_of_a_libsvm_file(tmp_path):
    data = load("a9a")
    X, y = np.asarray(data.X[:2000], dtype=float), data.y[:2000]
    path = tmp_path / "a9a.libsvm"
    with path.open("w") as file:
        for x, label in zip(X, y, strict=True):
            cells = " ".join(f"{j + 1}:{x[j]:g}" for j in np.flatnonzero(x))
            file.write(f"{label} {cells}\n")
    for selector in (MaxRel(), MRMR(9), ChiSquared(test="counts"), FisherScore(), AUCScore()):
        whole = fitted(selector, X, y)
        ours = streamed(selector, path, batch_rows=300, n_features=X.shape[1])
        assert_equal(ours, whole, exactly=not isinstance(selector, (FisherScore, ChiSquared)))
        pairs = cut(sparse.csr_matrix(X), y, [700, 700])
        np.testing.assert_allclose(streamed(selector, pairs).scores_, ours.scores_, rtol=1e-12)


def limit_pairs(monkeypatch, budget):
    """Leave so many bytes for tables of pairs."""
    make = StreamedCodes.__init__
    monkeypatch.setattr(make, "__kwdefaults__", {**make.__kwdefaults__, "budget": budget})


def test_few_rows_and_many_features(monkeypatch):
    """Genes: more pairs than the memory for them holds are counted by the pass."""
    data = load("colon")
    X, y = data.X[:, :600], data.y
    for selector in (MRMR(10), CFS(), MaxRel(), QPFS(10, nystroem=0.05, random_state=1)):
        whole = fitted(selector, X, y)
        ours = streamed(selector, cut(X, y, [20, 20]))
        assert_equal(ours, whole)
        if isinstance(selector, QPFS):
            np.testing.assert_array_equal(ours.sampled_features_, whole.sampled_features_)
            assert ours.approximation_error_ == whole.approximation_error_
            assert ours.n_passes_ == 2
            limit_pairs(monkeypatch, 4_000_000)
            ours = streamed(selector, cut(X, y, [20, 20]))
            assert_equal(ours, whole)
            assert ours.n_passes_ == 3  # cuts, single features, the rows that are needed


def test_pairs_beyond_the_budget_come_pass_by_pass(spam, monkeypatch):
    X, y = spam
    whole = [fitted(selector, X, y) for selector in (MRMR(5), JMI(5))]
    limit_pairs(monkeypatch, 40_000)
    for known in whole:
        ours = streamed(known, cut(X, y, [500, 500]))
        assert_equal(ours, known)
        assert ours.n_passes_ > 2


@pytest.mark.parametrize("sampling", ["kmeans", "leverage"])
@pytest.mark.parametrize("similarity", ["mutual_information", "pearson"])
def test_sampling_of_features_by_a_sample_of_rows(sampling, similarity, spam):
    X, y = spam
    chosen = QPFS(6, nystroem=0.2, sampling=sampling, similarity=similarity, random_state=0)
    whole, ours = fitted(chosen, X, y), streamed(chosen, cut(X, y, [600]))
    np.testing.assert_array_equal(ours.sampled_features_, whole.sampled_features_)
    few = streamed(chosen, cut(X, y, [600]), sample_size=200)
    assert len(few.sampled_features_) == len(whole.sampled_features_)


# ------------------------------------------------------------------------------- samples and bounds


@pytest.mark.parametrize("selector", [AUCScore(), KolmogorovSmirnov(), StumpError()], ids=name)
def test_bounds_hold_the_score_of_all_rows(selector, spam):
    X, y = spam
    X = np.column_stack([X, np.arange(len(y)), np.zeros(len(y))])
    whole = fitted(selector, X, y)
    widths = []
    for resolution in (16, 64):
        ours = streamed(selector, cut(X, y, [400] * 3), sample_size=300, resolution=resolution)
        low, high = ours.score_bounds_
        assert (low <= whole.scores_ + 1e-12).all() and (whole.scores_ <= high + 1e-12).all()
        np.testing.assert_allclose(ours.scores_, (low + high) / 2)
        assert ours.n_passes_ == 2
        assert ours.order_[-1] == X.shape[1] - 1  # constant
        if whole.pvalues_ is not None:
            assert (ours.pvalues_ >= whole.pvalues_ * (1 - 1e-9)).all()
        widths.append((high - low).max())
        assert ours.selection_.notes["widest_bounds"] == widths[-1]
    assert 0 < widths[1] < widths[0]
    again = ours.fit(X, y)
    assert not hasattr(again, "score_bounds_") and not hasattr(again, "n_passes_")


def test_bounds_meet_where_there_are_few_values(spam):
    _, y = spam
    X = np.random.default_rng(0).integers(0, 9, (len(y), 5)) + 3.0 * y[:, None] * [0, 0, 1, 1, 0]
    for selector in (AUCScore(), KolmogorovSmirnov(), StumpError()):
        whole = fitted(selector, X, y)
        ours = streamed(selector, cut(X, y, [500, 500]), sample_size=400)
        np.testing.assert_allclose(ours.score_bounds_[0], ours.score_bounds_[1], atol=1e-15)
        np.testing.assert_allclose(ours.scores_, whole.scores_, rtol=1e-12, atol=1e-13)
        if whole.pvalues_ is not None:
            np.testing.assert_allclose(ours.pvalues_, whole.pvalues_, rtol=1e-6)


def test_cuts_from_a_sample_are_noted_and_do_not_depend_on_batches(spam):
    X, y = spam
    one = streamed(InformationGain(), cut(X, y, [700]), sample_size=500)
    two = streamed(InformationGain(), cut(X, y, [11, 900]), sample_size=500)
    np.testing.assert_array_equal(one.scores_, two.scores_)
    assert "sample of 500 of 1,500 rows" in one.selection_.notes["cuts"]
    assert 0 < one.selection_.notes["rank_error"] < 0.1
    assert "cuts" not in streamed(InformationGain(), cut(X, y, [700])).selection_.notes


def test_relief_says_that_it_used_a_sample(spam):
    X, y = spam
    ours = streamed(ReliefF(random_state=0), cut(X, y, [700]), sample_size=300)
    assert "sample of 300 of 1,500 rows" in ours.selection_.notes["sample"]
    rows = ours.sample_indices_
    assert len(rows) == 300 and len(set(rows.tolist())) == 300 and rows.max() > 700
    np.testing.assert_array_equal(ours.scores_, fitted(ours, X[rows], y[rows]).scores_)
    with pytest.raises(ValueError, match="n_samples names rows"):
        ReliefF(n_samples=[0, 1]).fit_stream(cut(X, y, [700]), sample_size=300)


# ------------------------------------------------------------------------------------- properties


@settings(max_examples=15)
@given(st.lists(st.integers(1, 40), max_size=6), st.integers(0, 10**6))
def test_any_cut_of_any_small_table(sizes, seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(8, 60)), int(rng.integers(1, 6))
    y = rng.permutation(np.arange(n) % 3)
    X = rng.normal(size=(n, p)).round(1)
    X[rng.random((n, p)) < 0.1] = np.nan
    X[:, 0] = 1.0
    for selector in (
        MaxRel(),
        MRMR(),
        JMI(),
        CMIM(full_ranking=True),
        ChiSquared(missing="ignore"),
    ):
        assert_equal(streamed(selector, cut(X, y, sizes)), fitted(selector, X, y))
    filled = np.nan_to_num(X)
    for selector in (WelchT(), SignalToNoise(multiclass="max")):
        assert_equal(streamed(selector, cut(filled, y, sizes)), fitted(selector, filled, y), False)


def test_other_sources(spam, tmp_path):
    """A function, a Batches object, a generator for one pass, a frame."""
    X, y = spam
    whole = fitted(FisherScore(), X, y)
    pairs = cut(X, y, [500, 500])
    assert_equal(streamed(FisherScore(), lambda: iter(pairs)), whole, False)
    assert_equal(streamed(FisherScore(), (pair for pair in pairs)), whole, False)
    assert_equal(streamed(FisherScore(), batches((X, y), batch_rows=99)), whole, False)
    frame = pd.DataFrame(X, columns=[f"w{j}" for j in range(X.shape[1])]).assign(kind=y)
    ours = streamed(FisherScore(), [frame[:700], frame[700:]], target="kind")
    assert_equal(ours, whole, False)
    assert ours.feature_names_in_[3] == "w3"
    paths = []
    for k, part in enumerate((frame[:700], frame[700:])):
        paths.append(tmp_path / f"{k}.csv")
        part.to_csv(paths[-1], index=False)
    assert_equal(streamed(FisherScore(), paths, target="kind"), whole, False)


def test_a_streamed_filter_is_a_filter(spam):
    X, y = spam
    ours = streamed(MRMR(5), cut(X, y, [800]))
    again = pickle.load(io.BytesIO(pickle.dumps(ours)))
    np.testing.assert_array_equal(again.transform(X), X[:, ours.support_])
    assert ours.selection_.params == MRMR(5).get_params()
    assert [step.n_features for step in ours.selection_.path] == [1, 2, 3, 4, 5]
    ours.fit(X[:, :9], y)
    assert not hasattr(ours, "n_passes_") and ours.n_features_in_ == 9


def test_passes_on_a_cluster(spam):
    """What is made of a batch can travel, and the merged result is the same."""
    da = pytest.importorskip("dask.array")
    pytest.importorskip("distributed")
    X, y = spam
    source = (da.from_array(X, chunks=(400, -1)), da.from_array(y, chunks=400))
    for selector in (MRMR(6), FisherScore(), ChiSquared(test="counts"), KolmogorovSmirnov()):
        ours, whole = streamed(selector, source), fitted(selector, X, y)
        assert_equal(ours, whole, exactly=isinstance(selector, (MRMR, KolmogorovSmirnov)))


@pytest.mark.parametrize("selector", [*COUNTING, *ORDERED, *NEIGHBOURS, *SUMMING], ids=name)
def test_what_travels_can_be_pickled(selector, spam, monkeypatch):
    """Every function that a pass sends to the batches, and every statistic that comes back."""
    X, y = spam
    from tamiz.filters import streaming

    def sweep(table, make, **_):
        parts = [
            pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(make))(batch))) for batch in table
        ]
        total = parts[0]
        for part in parts[1:]:
            total = total.merge(part)
        return total

    monkeypatch.setattr(streaming, "sweep", sweep)
    ours = streamed(selector, cut(X[:300], y[:300], [100, 100]))
    assert_equal(ours, fitted(selector, X[:300], y[:300]), exactly=selector not in SUMMING)


@pytest.mark.parametrize("selector", [CFS(), QPFS(bins="mdl")], ids=name)
def test_a_stream_of_which_no_column_is_cut(selector):
    """bins="mdl" leaves one level to features that have nothing to do with the class."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 4)), np.arange(120) % 2
    ours = streamed(selector, cut(X, y, [50, 50]))
    assert_equal(ours, fitted(selector, X, y))
    assert not ours.support_.any()
