"""Memory: how much is free, and a sentence before more than that is taken."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor

from tamiz.data import load
from tamiz.filters import MRMR, QPFS, ReliefF
from tamiz.information import mutual_information_matrix
from tamiz.information.encoding import dense_blocks
from tamiz.kernels import RBF, Linear
from tamiz.scale import CoMoments
from tamiz.svm import SVC, SVR
from tamiz.validation import NotEnoughMemoryError
from tamiz.validation.arrays import require_copy
from tamiz.validation.memory import (
    dense_copy,
    fits_memory,
    free_bytes,
    left_in_group,
    require_memory,
    shown_size,
)
from tests.cli.programs import is_one_line
from tests.conftest import little_memory
from tools.attack.estimators import subjects

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 20))
y = (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.mark.parametrize(
    ("said", "bytes_"),
    [("1000", 1000), ("2K", 2048), ("1.5M", 3 << 19), ("3G", 3 << 30), ("1gb", 1 << 30)],
)
def test_free_memory_can_be_said(monkeypatch, said, bytes_):
    monkeypatch.setenv("TAMIZ_FREE_MEMORY", said)
    assert free_bytes() == bytes_


def test_what_is_no_amount_of_memory_is_refused(monkeypatch):
    monkeypatch.setenv("TAMIZ_FREE_MEMORY", "plenty")
    with pytest.raises(ValueError, match="TAMIZ_FREE_MEMORY='plenty' is no amount of memory"):
        free_bytes()


def test_the_system_says_what_is_free():
    assert 1 << 20 < free_bytes() < 1 << 50


def test_a_control_group_leaves_its_limit_less_what_is_used(tmp_path):
    names = tmp_path, "memory.max", "memory.current"
    assert left_in_group(*names) is None
    (tmp_path / "memory.max").write_text("1000000", encoding="utf-8")
    (tmp_path / "memory.current").write_text("700000", encoding="utf-8")
    (tmp_path / "memory.stat").write_text("inactive_file 200000\nanon 5\n", encoding="utf-8")
    assert left_in_group(*names) == 500_000
    (tmp_path / "memory.max").write_text("max", encoding="utf-8")
    assert left_in_group(*names) is None


def test_the_error_carries_its_facts(free_memory):
    free_memory(10**9)
    require_memory(10**9, "a matrix", "Use less.")
    with pytest.raises(MemoryError) as caught:
        require_memory(2.5e9, "a matrix", "Use less.")
    error = caught.value
    assert isinstance(error, NotEnoughMemoryError)
    assert (error.needed, error.free, error.remedy) == (2_500_000_000, 10**9, "Use less.")
    assert str(error) == "a matrix: about 2.5 GB, but 1.0 GB of memory are free. Use less."
    assert fits_memory(10**9) and not fits_memory(10**9 + 1)
    assert shown_size(5e5) == "0.5 MB"


def test_copies_are_made_as_long_as_they_fit(free_memory):
    table = sparse.eye(10, 5, format="csc")
    np.testing.assert_array_equal(dense_copy(table, "None."), table.toarray())
    dense = np.ones((2, 2))
    assert dense_copy(dense, "None.") is dense
    free_memory(400)
    assert dense_copy(table, "None.").shape == (10, 5)
    with pytest.raises(NotEnoughMemoryError, match=r"works on.* 10 × 5 values: .*Sell it\.$"):
        dense_copy(table, "Sell it.", tables=2)
    with pytest.raises(NotEnoughMemoryError, match=r"100,000 × 100,000 values: about 80\.0 GB"):
        dense_copy(sparse.csr_matrix((100_000, 100_000)), "Sell it.")


def with_missing():
    table = X.copy()
    table[0] = np.nan
    return table


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: RBF(gamma=0.1)(X), "kernel values between 60 and 60 samples.*blocks of rows"),
        (lambda: Linear()(X, X[:50]), "kernel values between 60 and 50 samples"),
        (lambda: RBF(gamma=0.1).prepare(X).gram(), "kernel values.*float32"),
        (lambda: RBF(gamma=0.1).track(X), "kernel values between 60 and 60"),
        (lambda: SVC(solver="smo").fit(X, y), "matrix of 60 × 60.*decomposition"),
        (lambda: mutual_information_matrix(X), "all pairs of 20 features.*float32"),
        (lambda: QPFS(3, similarity="pearson").fit(X, y), "all pairs of 20 features"),
        (lambda: CoMoments.of(X), "all pairs of 20 features.*fewer columns"),
        (lambda: ReliefF(3).fit(with_missing(), y), "missing ones of 2 classes.*Fill in"),
        (
            lambda: MRMR(3, measure="f_pearson").fit(sparse.csr_matrix(X), y),
            "dense copy of its 60 × 20 values.*mutual_information",
        ),
    ],
)
def test_large_allocations_are_refused_beforehand_with_a_remedy(free_memory, work, words):
    free_memory(1500)
    with pytest.raises(NotEnoughMemoryError, match=words) as caught:
        work()
    assert caught.value.needed > caught.value.free == 1500
    assert caught.value.remedy.endswith(".")


@pytest.mark.parametrize("machine", [SVC(C=2.0), SVR(C=2.0)])
def test_a_machine_gets_along_with_little_memory(machine, free_memory):
    """Without room for the matrix, rows are computed when they are needed; the answer is one."""
    usual = machine.fit(X, y).decision_function(X) if machine.__class__ is SVC else None
    usual = machine.fit(X, y).predict(X) if usual is None else usual
    free_memory(5000)
    machine.fit(X, y)
    free_memory(10**9)
    found = machine.decision_function(X) if machine.__class__ is SVC else machine.predict(X)
    np.testing.assert_allclose(found, usual, atol=5e-3)


@pytest.mark.filterwarnings("ignore:Perhaps the rows")
def test_indicators_are_refused_beforehand(tmp_path, free_memory):
    rows = "\n".join(f"c{k % 40},{k % 7}.5,{'ab'[k % 2]}" for k in range(200))
    (tmp_path / "t.csv").write_text(f"city,number,target\n{rows}\n", encoding="utf-8")
    data = load(tmp_path / "t.csv")
    free_memory(20_000)
    with pytest.raises(NotEnoughMemoryError, match=r"200 rows .* 42 columns of 0 and 1.*drop="):
        data.encode("onehot")


@pytest.fixture
def table(tmp_path):
    names = ",".join([*(f"f{j}" for j in range(20)), "target"])
    rows = (",".join(f"{v:.6f}" for v in row) for row in X)
    body = "\n".join(f"{row},{'ab'[label]}" for row, label in zip(rows, y, strict=True))
    path = tmp_path / "t.csv"
    path.write_text(f"{names}\n{body}\n", encoding="utf-8")
    return path


def test_a_file_that_does_not_fit_is_refused_before_it_is_read(table, free_memory):
    free_memory(6000)
    with pytest.raises(NotEnoughMemoryError, match=r"t\.csv in memory: .*columns= or nrows="):
        load(table)
    assert load(table, nrows=20).n_samples == 20
    assert load(table, columns=["f0", "f1"]).n_features == 2


def test_the_program_says_it_in_one_line_with_its_options(table, free_memory, capsys):
    from tamiz.cli.app import run

    free_memory(6000)
    assert run(["rank", str(table), "--no-stream"]) == 1
    line = capsys.readouterr().err
    assert is_one_line(line)
    assert "--columns or --rows" in line


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are those of Linux")
def test_a_process_with_a_real_limit_gets_the_sentence_and_lives():
    code = """
import resource
import numpy as np
from tamiz.kernels import RBF
from tamiz.validation import NotEnoughMemoryError
from tamiz.validation.memory import free_bytes
from pathlib import Path

used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 300 * 2**20,) * 2)
assert free_bytes() <= 300 * 2**20
X = np.random.default_rng(0).normal(size=(8000, 2))
try:
    RBF(gamma=1.0)(X)
except NotEnoughMemoryError as error:
    print(error)
print(RBF(gamma=1.0)(X[:50]).shape)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True
    )
    sentence, alive = done.stdout.splitlines()
    assert sentence.startswith("kernel values between 8,000 and 8,000 samples: about 0.5 GB, but ")
    assert alive == "(50, 50)"


def test_a_test_that_takes_memory_fails_after_one_that_took_more():
    np.ones(1 << 26)  # 512 MiB, given back
    with pytest.raises(AssertionError, match="bytes were taken"), little_memory(1 << 28):
        np.ones(3 << 24)
    with little_memory(1 << 28):
        np.ones(1 << 20)


# ------------------------------------------------------------------------------ every estimator


def table_fits():
    """Name -> what makes it, of every estimator that takes a table of numbers."""
    return {name: one for name, one in subjects().items() if one.table == "numbers"}


@contextmanager
def traced(most):
    """Inside, NumPy and Python take no more than so many bytes at a time."""
    tracemalloc.start()
    try:
        yield
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert taken < most, f"{taken:,} bytes were taken"


@pytest.mark.ours
def test_every_estimator_asks_before_it_copies_a_table(free_memory):
    """float32 becomes float64, twice the size: more than is free."""
    table = np.random.default_rng(0).normal(size=(100, 5000)).astype(np.float32)
    labels = np.arange(100) % 2
    free_memory(3_000_000)
    for name, subject in table_fits().items():
        model = subject.make(**subject.quick)
        numeric = is_regressor(model) or subject.quick.get("task") == "regression"
        with (
            traced(1_500_000),
            pytest.raises(
                NotEnoughMemoryError, match=r"copied into float64|as Python objects"
            ) as caught,
        ):
            model.fit(table, labels + 0.25 * np.arange(100) if numeric else labels)
        assert caught.value.needed >= 4_000_000, name
        assert not hasattr(model, "n_features_in_"), name


@pytest.mark.ours
def test_a_table_in_float64_is_not_asked_about(free_memory):
    table = np.random.default_rng(0).normal(size=(100, 50))
    free_memory(100)
    require_copy(table)
    require_copy(table.tolist())
    require_copy(sparse.csr_matrix(table))
    for other in (table.astype(np.float32), np.asfortranarray(table), sparse.csc_matrix(table)):
        with pytest.raises(NotEnoughMemoryError, match=r"100 × 50|5,000 stored"):
            require_copy(other)


#: What takes several times its table, or squares of the number of features or samples.
HUNGRY = ["AROM", "FSV", "L0L2SVM", "L1L2SVM", "L1SVM", "MILPSVM", "RobustLP", "SVMRFE", "KPSVM",
          "AdaptiveScaling", "RadiusMarginScaling", "CARTClassifier", "CARTRegressor",
          "ForestClassifier", "ForestImportance", "BoostingClassifier", "BoostingRegressor", "QPFS",
          "GrammarFeatures", "Knockoffs", "Knockoffs copies", "CART oblique"]  # fmt: skip


@pytest.mark.ours
@pytest.mark.parametrize("name", HUNGRY)
def test_what_works_on_many_tables_asks_first(name, free_memory):
    """With memory for one more, and not for a second: refused before anything of the size."""
    subject = table_fits()[name]
    model = subject.make(**subject.quick)
    table = np.random.default_rng(0).normal(size=(60, 1500))
    target = table[:, 0] + table[:, 1]
    with contextlib.suppress(ValueError):  # what is imported and compiled is not counted
        clone(model).fit(table[:, :8], target > 0)
    free_memory(table.nbytes)
    numeric = is_regressor(model)
    with traced(table.nbytes + 400_000), pytest.raises(NotEnoughMemoryError) as caught:
        model.fit(table, target if numeric else target > 0)
    assert caught.value.needed > caught.value.free == table.nbytes
    assert str(caught.value).endswith(".")


def test_the_rows_of_a_kernel_machine_take_half_of_what_is_free(free_memory):
    """Neither the rows that are kept nor the block that is worked on has a size of its own."""
    table = np.random.default_rng(0).normal(size=(1500, 5))
    labels = table[:, 0] + 0.3 * table[:, 1] > 0
    usual = SVC().fit(table[:100], labels[:100]) and SVC().fit(table, labels)
    free_memory(4_000_000)
    with traced(6_000_000):  # all pairs would be 18 MB
        found = SVC().fit(table, labels)
    np.testing.assert_allclose(found.objective_, usual.objective_, rtol=1e-4)


def test_dense_pieces_of_a_sparse_table_have_a_limit():
    tall = sparse.random(200_000, 60, density=1e-4, format="csr", random_state=0)
    pieces = [(first, piece.shape[1]) for first, piece in dense_blocks(tall)]
    assert pieces == [(first, min(20, 60 - first)) for first in range(0, 60, 20)]
