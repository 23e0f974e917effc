"""Passes on a Dask cluster of two processes: the counts of one process, to the last bit."""

import os
import subprocess
import sys
import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from scipy import sparse

from tamiz.data import DataError
from tamiz.data.formats import base
from tamiz.information import encode
from tamiz.scale import (
    ClassMoments,
    LevelCounts,
    PairCounts,
    Ranges,
    RowSample,
    StreamedCodes,
    batches,
    streamed_cuts,
    sweep,
)
from tamiz.scale import dask as module
from tamiz.scale._survey import Ascending, Survey
from tamiz.scale.dask import Surveyed, survey_piece
from tests.clusters import is_idle, kill, pids
from tools.attack.lost import LostWorkers

N = 1200


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(N, 4)), columns=list("abcd"))
    table.loc[::17, "b"] = np.nan
    table["colour"] = rng.choice(["red", "green", "blue"], N)
    table["size"] = pd.Categorical(rng.choice(["lo", "mid", "hi"], N), ["lo", "mid", "hi"])
    table["y"] = np.where(table.a + table.c + rng.normal(size=N) > 0, "yes", "no")
    return table


def found(table):
    """Cuts, pairs, a sample of rows, and what they tell, in three passes."""
    ranges = sweep(table, lambda batch: Ranges.of(batch.X))
    levels = {j: len(names) for j, names in table.schema.categories.items()}
    cuts = streamed_cuts("mean_std", ranges=ranges, levels=levels)
    codes = StreamedCodes(lambda make: sweep(table, make), cuts, table.schema.n_classes)
    pairs = sweep(table, Pairs(cuts, table.schema.n_classes))
    sample = sweep(table, sampled)
    return cuts, pairs, sample, codes


class Pairs:
    def __init__(self, cuts, n_classes):
        self.cuts, self.n_classes = cuts, n_classes

    def __call__(self, batch):
        return PairCounts.of(batch.X, batch.y, self.cuts, self.n_classes)


def sampled(batch):
    return RowSample.of(batch.X, batch.y, first_row=batch.first_row, size=100, seed=1)


def same(table, whole):
    """Everything of a table on the cluster as of the whole table in memory."""
    schema, expected = table.schema, whole.schema
    assert schema.names == expected.names and schema.task == expected.task
    assert schema.classes.tolist() == expected.classes.tolist()
    assert list(schema.categories) == list(expected.categories)
    for j, levels in expected.categories.items():
        assert schema.categories[j].tolist() == levels.tolist()
    theirs, mine = found(table), found(whole)
    np.testing.assert_allclose(theirs[0].values, mine[0].values, rtol=1e-13)
    np.testing.assert_array_equal(theirs[1].counts, mine[1].counts)
    np.testing.assert_array_equal(theirs[1].levels.counts, mine[1].levels.counts)
    np.testing.assert_array_equal(theirs[2].rows, mine[2].rows)
    np.testing.assert_array_equal(theirs[2].values, mine[2].values)
    np.testing.assert_array_equal(theirs[3].relevance(), mine[3].relevance())
    np.testing.assert_array_equal(theirs[3].matrix(), mine[3].matrix())
    assert table.n_rows == N == int(theirs[1].levels.n_rows.sum())
    return theirs[3]


# ------------------------------------------------------------------------------- the same counts


def test_frame_is_counted_as_in_memory(client, frame):
    codes = same(batches(dd.from_pandas(frame, npartitions=5), "y"), batches(frame, "y"))
    y = (frame.y == "yes").to_numpy(dtype=int)
    numbers = encode(frame[list("acd")].to_numpy(), bins="mean_std")
    np.testing.assert_array_equal(codes.relevance()[[0, 2, 3]], numbers.relevance(y))


def test_without_a_client_threads_do_it(frame, monkeypatch):
    monkeypatch.setattr(module, "_active_client", lambda: None)
    with dask.config.set(scheduler="threads"):
        table = batches(dd.from_pandas(frame, npartitions=3), "y", batch_rows=150)
        same(table, batches(frame, "y"))
        assert sweep(table, lambda batch: Where({os.getpid()})).workers == {os.getpid()}
    rows = [(batch.first_row, batch.index, batch.n_rows) for batch in table]
    assert [first for first, _, _ in rows] == [0, 150, 300, 400, 550, 700, 800, 950, 1100]
    assert sum(n for _, _, n in rows) == N


def test_categories_that_partitions_do_not_share(client, frame):
    parts = dd.from_pandas(frame, npartitions=4)
    unknown = parts.assign(colour=parts.colour.astype("category").cat.as_unknown())
    assert not unknown.colour.cat.known
    same(batches(unknown, "y"), batches(frame, "y"))


def test_empty_partitions_and_a_filter(client, frame):
    parts = dd.from_pandas(frame, npartitions=4)
    few = parts[parts.a > -100.0]  # whose lengths are not known
    nothing = dd.from_pandas(frame.iloc[:0], npartitions=1)
    same(batches(dd.concat([nothing, few]), "y"), batches(frame, "y"))


@pytest.mark.parametrize("unknown", [False, True])
def test_arrays_of_known_and_unknown_chunks(client, unknown):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 5))
    y = (X[:, 1] > 0).astype(int)
    rows = da.from_array(X, chunks=(170, 2))
    target = da.from_array(y, chunks=500)
    if unknown:
        rows = rows.rechunk((170, -1))[rows[:, 0] > -100.0]
        target = target.rechunk(170)[X[:, 0] > -100.0]
    same(batches(rows, target), batches((X, y)))
    whole = ClassMoments.of(X, y, 2)
    moments = sweep((rows, target), lambda batch: ClassMoments.of(batch.X, batch.y, 2))
    np.testing.assert_array_equal(moments.count, whole.count)
    np.testing.assert_allclose(moments.mean, whole.mean, rtol=1e-12, atol=1e-15)
    if not unknown:
        assert batches((rows, y)).n_rows == N


def test_a_client_that_is_not_the_active_one(client, frame):
    with Client(client.scheduler.address, set_as_default=False) as other:
        kept = other.persist(dd.from_pandas(frame, npartitions=2))
        table = batches(kept, "y").on(other)
        assert sweep(table, lambda batch: Where({os.getpid()})).workers <= set(pids(client))
        assert [batch.first_row for batch in table] == [0, N // 2]


def test_sparse_chunks(client):
    X = sparse.random(N, 6, 0.3, format="csr", random_state=0)
    y = np.arange(N) % 3
    dense = da.from_array(X.toarray(), chunks=(400, -1))
    table = batches(dense.map_blocks(sparse.csr_matrix), y)
    assert table.schema.sparse
    theirs = sweep(table, lambda batch: Ranges.of(batch.X))
    mine = Ranges.of(X)
    np.testing.assert_array_equal(theirs.high, mine.high)


def test_parquet_is_read_by_row_groups(client, frame, tmp_path, limits):
    path = tmp_path / "table.parquet"
    frame.to_parquet(path, row_group_size=100, index=False)
    limits(base, BATCH_BYTES=250 * 8 * frame.shape[1])
    whole = batches(path, "y", batch_rows=130)
    table = whole.on(client)
    pieces, _ = module._pieces_of(table.parts, None)
    assert len(pieces) == 4  # of three row groups
    same(table, whole)
    halves = [tmp_path / "first.parquet", tmp_path / "second.parquet"]
    for half, part in zip(halves, (frame[:500], frame[500:]), strict=True):
        part.to_parquet(half, index=False)
    same(batches(halves, "y").on(client), batches(halves, "y"))


def test_each_text_file_is_read_by_one_worker(client, frame, tmp_path):
    paths = [tmp_path / f"{k}.csv" for k in range(3)]
    for k, path in enumerate(paths):
        frame[k * 400 : (k + 1) * 400].to_csv(path, index=False)
    same(batches(paths, "y").on(client), batches(paths, "y"))


class Where:
    """Who counted, and how many times statistics were merged there."""

    def __init__(self, workers, n=1):
        self.workers, self.n = workers, n

    def merge(self, other):
        return Where(self.workers | other.workers | {os.getpid()}, self.n + other.n)


def test_counting_and_merging_are_the_workers_work(client, frame):
    table = batches(dd.from_pandas(frame, npartitions=8), "y", classes=["no", "yes"])

    def make(batch):
        time.sleep(0.05)  # long enough for the other one to take its share
        return Where({os.getpid()})

    result = sweep(table, make)
    assert result.workers == set(pids(client)) and result.n == 8


# ------------------------------------------------------------------------------- what goes wrong


def test_interruption_leaves_nothing_behind(client, frame):
    table = batches(dd.from_pandas(frame, npartitions=20), "y").survey()

    class Stop:
        def update(self, text):
            raise KeyboardInterrupt

    def slowly(batch):
        time.sleep(0.1)
        return Where({0})

    with pytest.raises(KeyboardInterrupt):
        module.DaskExecutor(client).sweep(table, slowly, Stop(), lambda *told: "")
    assert is_idle(client) and not module._listeners


def test_faults_name_batch_and_column(client, frame):
    bad = frame.copy()
    bad.loc[700, "c"] = np.inf
    table = batches(dd.from_pandas(bad, npartitions=4), "y")
    with pytest.raises(DataError, match=r"batch 2 .*infinite value in column 'c', row 700"):
        sweep(table, lambda batch: Ranges.of(batch.X))
    odd = frame.assign(y=frame.y.where(frame.index != 900, "maybe"))
    table = batches(dd.from_pandas(odd, npartitions=4), "y", classes=["no", "yes"])
    with pytest.raises(DataError, match="'maybe' in the target 'y'"):
        sweep(table, lambda batch: Ranges.of(batch.X))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X: batches(X), r"needs its target: batches\(X, y\)"),
        (lambda X: batches(X, da.zeros(5, chunks=5)), "X has 6 rows but y has 5"),
        (lambda X: batches((X, np.zeros(5))), "X has 6 rows but y has 5"),
        (lambda X: batches(X, da.zeros((6, 2), chunks=3)), "y has 2 dimensions"),
        (lambda X: batches(da.zeros(6, chunks=2), da.zeros(6, chunks=2)), "has 1 dimensions"),
        (lambda X: batches((X[X[:, 0] > 0], np.zeros(6))), "compute_chunk_sizes"),
        (lambda X: batches(X[X[:, 0] > 0], da.zeros(6, chunks=6)), "in 3 pieces"),
        (lambda X: batches((np.zeros((6, 2)), np.arange(6) % 2)).on(), "memory of this process"),
    ],
)
def test_sentences(make, words):
    with pytest.raises(DataError, match=words):
        make(da.ones((6, 2), chunks=(2, 2)))


def test_file_that_a_worker_does_not_see(frame, tmp_path):
    path = tmp_path / "table.parquet"
    frame.to_parquet(path, index=False)
    table = batches(path, "y")
    (piece,), reader = module._pieces_of(table.parts, ["y"])
    path.unlink()
    with pytest.raises(DataError, match="where all of them see it"):
        survey_piece(reader, None, Survey("y", [], []), piece)


def test_extra_is_named_where_dask_is_missing(frame, tmp_path, without):
    frame.to_csv(tmp_path / "t.csv")
    table, parts = batches(tmp_path / "t.csv", "y"), dd.from_pandas(frame, npartitions=2)
    without("distributed")
    for act in (module.DaskExecutor, table.on, lambda: batches(parts, "y").survey()):
        with pytest.raises(ImportError, match=r"pip install 'tamiz\[dask\]'"):
            act()


class NoWorkers:
    """A client whose cluster has lost them all."""

    def __init__(self, client):
        self._client = client

    def __getattr__(self, name):
        return getattr(self._client, name)

    def ncores(self):
        return {}

    def wait_for_workers(self, n, timeout):
        raise TimeoutError


def test_nobody_waits_for_ever(client, frame, limits):
    limits(module, _LOOK=0.0)
    slow = dask.delayed(time.sleep)(1.5)
    with pytest.raises(RuntimeError, match="no worker for 60 seconds"):
        module.computed(slow, NoWorkers(client))
    assert module.computed(dask.delayed(sum)([1, 2]), client) == 3


def test_file_that_is_gone(client, frame, tmp_path):
    path = tmp_path / "table.parquet"
    frame.to_parquet(path, index=False)
    table = batches(path, "y").on(client)
    path.unlink()
    with pytest.raises(DataError, match=r"table\.parquet is no longer there"):
        sweep(table, sampled)


# ------------------------------------------------------------------------------------- the survey


def test_surveys_of_pieces_join_as_one_pass():
    rng = np.random.default_rng(2)
    cells = np.sort(rng.choice(10_000, 60, replace=False)).astype(float)
    for values in (cells, np.r_[cells[:40], cells[10:]], np.r_[cells[:20], np.nan, cells[20:]]):
        whole, parts = Ascending(), []
        whole.update(values)
        for part in [*np.array_split(values, 7), values[:0]]:
            parts.append(Ascending())
            parts[-1].update(part)
        first = Ascending()
        for part in parts:
            first.join(part)
        assert first.still == whole.still
    a, b = Surveyed(Survey("y", [], []), [3]), Surveyed(Survey("y", [], []), [4])
    assert a.merge(b).n_read == [3, 4] and a.n_read == [3]


# ------------------------------------------------------- at the end: nobody needs the new worker


def test_worker_killed_in_the_middle_costs_nothing_but_time(client, frame):
    table = batches(dd.from_pandas(frame, npartitions=10), "y").survey()
    expected = LevelCounts.of(*_arrays(batches(frame, "y")), found(batches(frame, "y"))[0], 2)
    cuts, victim = expected.cuts, pids(client)[0]

    def slowly(batch):
        time.sleep(0.1)
        return LevelCounts.of(batch.X, batch.y, cuts, 2)

    class Striking:
        """A progress line that kills a worker when the first rows were counted."""

        done = False

        def update(self, text):
            if not self.done:
                self.done = True
                kill(victim)

    line = Striking()
    theirs = module.DaskExecutor(client).sweep(table, slowly, line, lambda *told: "")
    assert line.done
    np.testing.assert_array_equal(theirs.counts, expected.counts)


@pytest.mark.ours
def test_campaigns_of_lost_workers_begin_well(tmp_path, dask_client):
    """A job that loses a worker at some moment; ``make attack`` has all of them, many times.

    One that ended before has given the answer of one process, too, or the attempt fails.
    """
    attacker = LostWorkers(tmp_path, dask_client)
    done = attacker.attempt(list(attacker.jobs).index("tune"))
    assert done.startswith(("same answer", "ended"))


def _arrays(table):
    parts = list(table)
    return np.vstack([part.X for part in parts]), np.concatenate([part.y for part in parts])


def test_collections_are_sources_whatever_was_imported_before():
    code = """
import dask.array as da, dask.dataframe as dd, numpy as np, pandas as pd
from tamiz.scale import batches
frame = pd.DataFrame({"a": np.arange(8.0), "y": list("uv") * 4})
print(batches(dd.from_pandas(frame, npartitions=2), "y").survey().n_rows)
print(batches((da.ones((8, 2), chunks=4), da.arange(8, chunks=4) % 2)).survey().n_rows)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["8", "8"], done.stderr
