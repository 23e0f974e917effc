"""Row E2: the k nearest neighbours, 50,000 training samples, 5,000 queries: fit and predict.

Three tables of ten attributes: classes that are clouds, pure noise without any structure for a
search tree to use, and half the attributes nominal (against one-hot codes, which give the same
order: an attribute that differs adds the same to every distance). Answers are compared first. Each
with one thread for both, and with what both do by default. Besides: how the time grows with twice
the training samples, the errors of 200 values of k against one fit for each, and a sparse table of
which no dense copy is made.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.common import alternate, peak_mb, row
from tamiz.neighbors import KNNClassifier, choose_k

K = 5
N, M, P = 50_000, 5_000, 10


def run(quick: bool) -> list[dict[str, Any]]:
    """Clouds and noise, one thread and the default of both; the quick set leaves noise out."""
    tables = {"clouds": clouds(N)}
    if not quick:
        tables["noise"] = noise(N)
    # sparse tables first: the peak of memory is told once, for all that was before
    rows = [] if quick else [thin("euclidean", 1), thin("euclidean", None), thin("manhattan", 1)]
    for name, (X, y, Q) in tables.items():
        for jobs, said in ((1, "one thread"), (None, "default threads")):
            rows.append(numbers(name, X, y, Q, jobs, said))
    rows.append(nominal())
    if not quick:
        rows.append(growth())
    rows.append(curve())
    return rows


def clouds(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training samples, labels, queries."""
    X, y = make_classification(
        n + M, P, n_informative=5, n_redundant=2, n_clusters_per_class=2, random_state=0
    )
    return X[:n], y[:n], X[n:]


def noise(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same sizes without structure."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, P)), rng.integers(2, size=n), rng.standard_normal((M, P))


def numbers(
    name: str, X: np.ndarray, y: np.ndarray, Q: np.ndarray, jobs: int | None, said: str
) -> dict[str, Any]:
    """Euclidean distances between numbers."""
    ours_s, peer_s, mine, theirs = alternate(
        lambda: KNNClassifier(K, n_jobs=jobs).fit(X, y).predict(Q),
        lambda: KNeighborsClassifier(K, n_jobs=jobs).fit(X, y).predict(Q),
    )
    near = KNNClassifier(K).fit(X, y).kneighbors(Q)
    other = KNeighborsClassifier(K).fit(X, y).kneighbors(Q)
    same = np.array_equal(near[1], other[1]) and np.abs(near[0] - other[0]).max() < 1e-9
    workload = f"{name}, {N:,} × {P}, {M:,} queries, k = {K}, {said}"
    agree = bool(np.array_equal(mine, theirs)) and bool(same)
    return row("E2", workload, "scikit-learn", ours_s, peer_s, 1 / 1.2, agree,
               f"peak {peak_mb():.0f} MB")  # fmt: skip


def nominal() -> dict[str, Any]:
    """Half the attributes nominal; the peer gets them one-hot, halved, with Manhattan distance."""
    rng = np.random.default_rng(1)
    n, m = N // 5, M // 5
    X, codes = rng.standard_normal((n + m, 5)), rng.integers(4, size=(n + m, 5))
    y = rng.integers(2, size=n)
    hot = np.hstack([X, *((codes[:, [j]] == np.arange(4)) / 2 for j in range(5))])
    table = np.hstack([X, codes])
    marked = np.arange(10) >= 5

    def ours() -> Any:
        model = KNNClassifier(
            K, metric="mixed", scaling="none", categorical_features=marked, n_jobs=1
        )
        return model.fit(table[:n], y).kneighbors(table[n:])

    def peer() -> Any:
        model = KNeighborsClassifier(K, metric="manhattan", n_jobs=1)
        return model.fit(hot[:n], y).kneighbors(hot[n:])

    ours_s, peer_s, mine, theirs = alternate(ours, peer)
    agree = np.array_equal(mine[1], theirs[1]) and np.abs(mine[0] - theirs[0]).max() < 1e-9
    workload = f"5 numbers and 5 nominal, {n:,} × 10, {m:,} queries, one thread"
    return row("E2", workload, "scikit-learn, one-hot", ours_s, peer_s, None, bool(agree))


def words(n: int, seed: int) -> sparse.csr_matrix:
    """Rows of 50 numbers among 5,000 columns."""
    rng = np.random.default_rng(seed)
    places = np.concatenate([np.sort(rng.choice(5000, 50, replace=False)) for _ in range(n)])
    starts = np.arange(0, 50 * n + 1, 50)
    return sparse.csr_matrix((rng.random(50 * n), places, starts), shape=(n, 5000))


def thin(metric: str, jobs: int | None) -> dict[str, Any]:
    """A sparse table, one value in a hundred; of Manhattan distances the peer gets 100 queries."""
    X, Q, y = words(20_000, 0), words(2_000, 1), np.arange(20_000) % 2
    share = 1 if metric == "euclidean" else 20
    part = Q[::share]
    ours = KNNClassifier(K, metric=metric, n_jobs=jobs)
    peer = KNeighborsClassifier(K, metric=metric, algorithm="brute", n_jobs=jobs)
    ours.fit(X[:100], y[:100]).predict(Q[:10])  # compiled before memory is measured
    peer.fit(X[:100], y[:100]).predict(Q[:10])
    peaks = [peak_mb()]
    near = ours.fit(X, y).kneighbors(Q)
    peaks.append(peak_mb())
    other = peer.fit(X, y).kneighbors(part)
    peaks.append(peak_mb())
    ours_s, peer_s, mine, theirs = alternate(
        lambda: ours.fit(X, y).predict(Q), lambda: peer.fit(X, y).predict(part), warm_up=False
    )
    same = np.array_equal(near[1][::share], other[1])
    same = same and np.abs(near[0][::share] - other[0]).max() < 1e-9
    agree = bool(same) and bool(np.array_equal(mine[::share], theirs))
    said = "one thread" if jobs == 1 else "default threads"
    note = f"peer's: {share} times 100 of 2,000 queries" if share > 1 else ""
    if metric == "euclidean" and jobs == 1:
        note = f"{peaks[1] - peaks[0]:.0f} MB beside the data, peer {peaks[2] - peaks[0]:.0f} MB"
    workload = f"sparse, 20,000 × 5,000, 1 %, 2,000 queries, {metric}, {said}"
    return row("E2", workload, "scikit-learn, brute", ours_s, peer_s * share, 1.0, agree, note)


def growth() -> dict[str, Any]:
    """Twice the training samples, against ourselves."""
    times, last = [], None
    for n in (N, 2 * N):
        X, y, Q = noise(n)
        best = np.inf
        for _ in range(3):
            start = time.perf_counter()
            last = KNNClassifier(K, n_jobs=1).fit(X, y).predict(Q)
            best = min(best, time.perf_counter() - start)
        times.append(best)
    assert last is not None
    agree = bool(np.array_equal(last, KNeighborsClassifier(K).fit(X, y).predict(Q)))
    note = f"twice the samples take {times[1] / times[0]:.2f} times as long"
    return row("E2", f"noise, {2 * N:,} × {P}", f"ours, {N:,}", times[1], times[0], None, agree,
               note)  # fmt: skip


def curve() -> dict[str, Any]:
    """Errors of k = 1 to 200 over ten folds; the peer is fitted for 20 of them, and multiplied."""
    X, y, _ = noise(1000)
    splits = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    ks = np.arange(1, 201)
    odd = ks[4::10]  # with an odd k there are no ties

    def peer() -> Any:
        return [
            [
                float((KNeighborsClassifier(k).fit(X[a], y[a]).predict(X[b]) != y[b]).mean())
                for k in odd
            ]
            for a, b in splits
        ]

    ours_s, peer_s, mine, theirs = alternate(lambda: choose_k(X, y, ks, splits), peer)
    agree = np.abs(mine.cv_errors[:, odd - 1] - np.array(theirs)).max() < 1e-12
    return row("E2", "errors over ten folds, 1,000 × 10, k = 1 to 200", "scikit-learn, a fit each",
               ours_s, peer_s * len(ks) / len(odd), None, bool(agree),
               "peer's: ten times 20 of 200")  # fmt: skip


if __name__ == "__main__":
    from benchmarks.common import print_table

    print_table(run(False))
