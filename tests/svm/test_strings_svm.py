"""Machines on strings: the same answer as on the Gram matrix, from every kind of list."""

from __future__ import annotations

import pickle
import signal
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC as Peer
from sklearn.utils import get_tags

import tamiz
from tamiz.embedded import SVMRFE, AdaptiveScaling, HoldOutSVM
from tamiz.kernels import RBF, GapWeighted
from tamiz.kernels.strings import kernel as blocks
from tamiz.persistence import ModelFileError
from tamiz.persistence._compiled import check
from tamiz.persistence._container import Budget
from tamiz.search import ForwardSelection
from tamiz.svm import SVC, SVDD, SVR, HardMarginSVC, OneClassSVM, radius_margin_bound

KERNEL = GapWeighted(3, 0.6)


def strings(n=40, seed=0):
    """Two kinds of strings that differ in their pairs of letters, not in the letters."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        pieces = ["ab", "ba"] if i % 2 else ["aa", "bb"]
        made.append("".join(rng.choice([*pieces, "c"], rng.integers(4, 12))))
    return made, np.arange(n) % 2


def arrow():
    return pytest.importorskip("pyarrow", exc_type=ImportError)


X, y = strings()
NEW, _ = strings(15, seed=1)


def test_same_machine_as_on_the_gram_matrix():
    exact = SVC(C=2.0, kernel=KERNEL, tol=1e-8).fit(X, y)
    table = SVC(C=2.0, kernel="precomputed", tol=1e-8).fit(KERNEL(X), y)
    peer = Peer(C=2.0, kernel="precomputed", tol=1e-8).fit(KERNEL(X), y)
    np.testing.assert_allclose(exact.alpha_, table.alpha_, atol=1e-7)
    values = exact.decision_function(NEW)
    np.testing.assert_allclose(values, table.decision_function(KERNEL(NEW, X)), atol=1e-7)
    np.testing.assert_allclose(values, peer.decision_function(KERNEL(NEW, X)), atol=1e-6)
    assert exact.status_ == "converged" and exact.duality_gap_ <= 1e-6 * exact.objective_
    assert exact.score(X, y) > 0.9
    assert exact.support_vectors_.tolist() == [X[i] for i in exact.support_]


@pytest.mark.parametrize(
    "hand_over",
    [
        tuple,
        np.array,
        lambda s: np.array(s, dtype=object),
        lambda s: np.array(s)[:, None],
        lambda s: pd.Series(s, index=np.arange(len(s))[::-1]),
        lambda s: pd.Series(s, dtype="category"),
        lambda s: pd.Series(s, dtype="string"),
        pl.Series,
        lambda s: arrow().array(s),
        lambda s: arrow().chunked_array([s[:5], s[5:]]),
        lambda s: pd.DataFrame({"text": s}),
        lambda s: pl.DataFrame({"text": s}),
        lambda s: arrow().table({"text": s}),
        pd.Index,
        lambda s: pd.array(s, dtype="string"),
        pd.Categorical,
        lambda s: [list(one) for one in s],
    ],
)
def test_every_kind_of_list(hand_over):
    wanted = SVC(kernel=KERNEL).fit(X, y)
    machine = SVC(kernel=KERNEL).fit(hand_over(X), y)
    assert np.array_equal(machine.decision_function(hand_over(NEW)), wanted.decision_function(NEW))
    assert not hasattr(machine, "n_features_in_")


@pytest.mark.parametrize("options", [{"solver": "decomposition"}, {"solver": "chunking"}])
def test_solvers_that_ask_for_blocks(options):
    wanted = SVC(kernel=KERNEL, tol=1e-6).fit(X, y).decision_function(NEW)
    for memory in (2000.0, 0.005):
        machine = SVC(kernel=KERNEL, tol=1e-6, cache_mb=memory, **options).fit(X, y)
        np.testing.assert_allclose(machine.decision_function(NEW), wanted, atol=1e-4)


def test_more_than_two_classes():
    labels = np.array(["x", "y", "z"])[np.array([len(s) % 3 for s in X])]
    for multiclass in ("ovo", "ovr"):
        machine = SVC(kernel=KERNEL, multiclass=multiclass, C=10).fit(X, labels)
        table = SVC(kernel="precomputed", multiclass=multiclass, C=10).fit(KERNEL(X), labels)
        assert machine.decision_function(NEW).shape == (15, 3)
        assert machine.predict(NEW).tolist() == table.predict(KERNEL(NEW, X)).tolist()


def test_the_other_machines():
    target = np.array([len(s) / 10 for s in X])
    gram, cross = KERNEL(X), KERNEL(NEW, X)
    for machine, args in (
        (SVR(kernel=KERNEL, C=5), (target,)),
        (SVDD(kernel=KERNEL, nu=0.2), ()),
        (OneClassSVM(kernel=KERNEL, nu=0.2), ()),
        (HardMarginSVC(kernel=GapWeighted(4, weights=(1, 1, 1, 1))), (y,)),
    ):
        kernel = machine.kernel
        gram, cross = kernel(X), kernel(NEW, X)
        machine.set_params(tol=1e-6).fit(X, *args)
        table = clone(machine).set_params(kernel="precomputed").fit(gram, *args)
        method = "predict" if isinstance(machine, SVR) else "decision_function"
        values, wanted = getattr(machine, method)(NEW), getattr(table, method)(cross)
        np.testing.assert_allclose(values, wanted, atol=1e-5)
        assert all(isinstance(s, str) for s in machine.support_vectors_)


def test_weights_of_samples():
    weight = np.where(np.arange(len(X)) < 10, 0.0, 1.0)
    weighted = SVC(kernel=KERNEL, tol=1e-7).fit(X, y, sample_weight=weight)
    rest = SVC(kernel=KERNEL, tol=1e-7).fit(X[10:], y[10:])
    np.testing.assert_allclose(weighted.decision_function(NEW), rest.decision_function(NEW), 1e-5)


def test_composite_kernels_and_the_bound():
    kernel = 0.5 * KERNEL + GapWeighted(1).exp()
    machine = SVC(kernel=kernel, tol=1e-6).fit(X, y)
    table = SVC(kernel="precomputed", tol=1e-6).fit(kernel(X), y)
    wanted = table.decision_function(kernel(NEW, X))
    np.testing.assert_allclose(machine.decision_function(NEW), wanted, atol=1e-5)
    assert radius_margin_bound(machine, X, y).radius_squared > 0


def test_model_selection_of_scikit_learn():
    scores = cross_val_score(SVC(kernel=KERNEL), X, y, cv=4)
    table = cross_val_score(SVC(kernel="precomputed"), KERNEL(X), y, cv=4)
    assert scores.tolist() == table.tolist()
    grid = {"kernel__decay": [0.2, 0.6], "kernel__length": [1, 3], "C": [0.1, 1.0]}
    search = GridSearchCV(SVC(kernel=GapWeighted()), grid, cv=3).fit(pd.Series(X), y)
    assert search.best_estimator_.kernel.length == 3  # letters alone do not tell them apart
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    pipe = make_pipeline(lower, SVC(kernel=KERNEL)).fit([s.upper() for s in X], y)
    assert pipe.predict(NEW).tolist() == SVC(kernel=KERNEL).fit(X, y).predict(NEW).tolist()


def test_tags_say_what_is_taken():
    tags = get_tags(SVC(kernel=KERNEL)).input_tags
    assert tags.string and tags.one_d_array and not tags.two_d_array and not tags.sparse
    tags = get_tags(SVC()).input_tags
    assert not tags.string and tags.two_d_array and tags.sparse


def test_a_fit_to_numbers_is_forgotten():
    machine = SVC().fit(pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 1.0, 0.0]}), [0, 1, 1])
    machine.set_params(kernel=KERNEL).fit(X, y)
    assert not hasattr(machine, "n_features_in_") and not hasattr(machine, "feature_names_in_")
    machine.set_params(kernel="linear").fit(np.eye(3), [0, 1, 1])
    assert machine.n_features_in_ == 3 and machine.coef_.shape == (1, 3)


@pytest.mark.parametrize("as_words", [False, True])
def test_saved_and_loaded(tmp_path, as_words):
    samples = [list(s) for s in X] if as_words else X
    kernel = KERNEL + GapWeighted(2, tokens="word")
    for machine, args in ((SVC(kernel=kernel), (y,)), (SVDD(kernel=KERNEL), ())):
        machine.fit(samples, *args)
        tamiz.save(machine, tmp_path / "machine.tamiz")
        loaded = tamiz.load(tmp_path / "machine.tamiz")
        new = [list(s) for s in NEW] if as_words else NEW
        assert np.array_equal(loaded.decision_function(new), machine.decision_function(new))
        assert loaded.kernel_ == machine.kernel_
        assert loaded.support_vectors_.tolist() == machine.support_vectors_.tolist()
    with pytest.raises(TypeError, match="data, never code"):
        tamiz.save(SVC(kernel=GapWeighted(1, tokens=lambda s: [s])).fit(X, y), tmp_path / "b")


@pytest.mark.parametrize(
    "items", [["a", ("b",)], [1, 2], [("a", ["b"])], [["a"]], [None], [np.ones(2)]]
)
def test_files_with_other_samples_are_refused(items):
    budget = Budget(10**9, 1000)
    made = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        made[i] = item
    with pytest.raises(ModelFileError, match=r"not complete|do not fit together"):
        check("tamiz.kernels.strings.texts.Texts", None, {"items": made, "_memo": {}}, budget)
    fine = np.array(["a"], dtype=object)
    check("tamiz.kernels.strings.texts.Texts", None, {"items": fine, "_memo": {}}, budget)
    with pytest.raises(ModelFileError, match="do not fit together"):
        check("tamiz.kernels.strings.texts.Texts", None, {"items": fine, "_memo": {"a": 1}}, budget)


def test_weights_of_classes_warm_start_and_pickle():
    labels = np.array([len(s) % 3 for s in X])
    for weight in ("balanced", {0: 1.0, 1: 4.0, 2: 0.5}):
        machine = SVC(kernel=KERNEL, class_weight=weight, tol=1e-8).fit(X, labels)
        table = SVC(kernel="precomputed", class_weight=weight, tol=1e-8).fit(KERNEL(X), labels)
        wanted = table.decision_function(KERNEL(NEW, X))
        np.testing.assert_allclose(machine.decision_function(NEW), wanted, atol=1e-7)
        again = pickle.loads(pickle.dumps(machine))
        assert np.array_equal(again.decision_function(NEW), machine.decision_function(NEW))
    warm = SVC(kernel=KERNEL, warm_start=True).fit(X, y)
    first = warm.n_iter_
    assert warm.fit(X, y).n_iter_ < first


def test_interrupted_while_values_are_computed(limits):
    limits(blocks, ROUND_SECONDS=0.01)
    rng = np.random.default_rng(0)
    many = ["".join(rng.choice(list("ab"), 400)) for _ in range(400)]
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    machine = SVC(kernel=GapWeighted(8))

    def fit():  # the clock starts where it is waited for
        timer.start()
        machine.fit(many, np.arange(400) % 2)

    with pytest.raises(KeyboardInterrupt):
        fit()
    timer.join()
    assert not hasattr(machine, "alpha_")


def test_progress_is_shown(capsys, limits, clock):
    limits(blocks, ROUND_SECONDS=1e-5)
    clock.step = 3.0
    SVC(kernel=KERNEL, verbose=2).fit(X, y)
    assert "string kernel, norms: 100 %" in capsys.readouterr().err


# ---------------------------------------------------------------------------- sentences


@pytest.mark.parametrize(
    ("samples", "sentence"),
    [
        ([*X[:5], None, *X[6:]], r"X\[5\] is missing"),
        (pd.Series([*X[:5], None, *X[6:]]), r"X\[5\] is missing"),
        (pl.Series([*X[:5], None, *X[6:]]), r"X\[5\] is missing"),
        ([*X[:5], 7, *X[6:]], r"X\[5\] is 7 of type int"),
        ([s.encode() for s in X], r"X\[0\] is bytes"),
        (X[0], "is one string"),
        (np.array([X, X]).T, r"shape \(40, 2\).*X\[:, 0\]"),
        (pd.DataFrame({"a": X, "b": X}), r"2 columns \('a', 'b'\).*X\['a'\]"),
        (np.ones((40, 2)), "holds numbers"),
        (np.arange(40), "holds numbers"),
        (sparse.csr_matrix(np.eye(40)), "is of type csr_matrix"),
        ([], r"0 sample\(s\)"),
        (X[:7], "X has 7 rows but y has 40 entries"),
    ],
)
def test_wrong_strings(samples, sentence):
    with pytest.raises(ValueError, match=sentence):
        SVC(kernel=KERNEL).fit(samples, y)


def test_wrong_strings_after_the_fit():
    machine = SVC(kernel=KERNEL).fit(X, y)
    with pytest.raises(ValueError, match=r"X\[1\] is missing"):
        machine.predict(["ab", None])
    with pytest.raises(ValueError, match="is one string"):
        machine.predict("ab")
    assert machine.predict([""]).shape == (1,)  # nothing in common with anything: the intercept
    assert machine.decision_function([""])[0] == machine.intercept_[0]


def test_strings_that_are_all_too_short():
    with pytest.raises(ValueError, match=r"all kernel values are 0\. Use a smaller length"):
        SVC(kernel=GapWeighted(99)).fit(X, y)
    with pytest.raises(ValueError, match="Each element of a list is one symbol"):
        SVC(kernel=KERNEL).fit([[s] for s in X], y)


@pytest.mark.parametrize(
    "samples",
    [X, np.array(X), np.array(X)[:, None], pd.Series(X), pl.Series(X), pd.DataFrame({"text": X})],
)
def test_text_with_a_kernel_of_vectors(samples):
    for machine in (SVC(), SVC(kernel="linear"), SVR(kernel=RBF()), HardMarginSVC()):
        with pytest.raises(ValueError, match=r"text needs a string kernel: kernel=GapWeighted\(\)"):
            machine.fit(samples, y)
    for outlier in (SVDD(), OneClassSVM()):
        with pytest.raises(ValueError, match="text needs a string kernel"):
            outlier.fit(samples)


def test_the_class_instead_of_a_kernel():
    with pytest.raises(ValueError, match="kernel=GapWeighted is a class"):
        SVC(kernel=GapWeighted).fit(X, y)


@pytest.mark.parametrize(
    "selector",
    [SVMRFE(kernel=KERNEL), HoldOutSVM(kernel=KERNEL), AdaptiveScaling(kernel=KERNEL)],
)
def test_selectors_need_features(selector):
    with pytest.raises(ValueError, match="no features to select"):
        clone(selector).fit(np.random.default_rng(0).normal(size=(40, 3)), y)
    with pytest.raises(ValueError, match="holds text"):
        clone(selector).fit(X, y)


def test_searches_need_features():
    with pytest.raises(ValueError, match="compares strings, but X holds numbers"):
        ForwardSelection(SVC(kernel=KERNEL)).fit(np.random.default_rng(0).normal(size=(40, 3)), y)
    with pytest.raises(ValueError, match="holds text"):
        ForwardSelection(SVC(kernel=KERNEL)).fit(X, y)
