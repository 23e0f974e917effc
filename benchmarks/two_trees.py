"""Two versions of the code beside each other: the same calls, alternating, in one run.

    python -m benchmarks.two_trees OLD/src NEW/src            all cases, five rounds
    python -m benchmarks.two_trees OLD/src NEW/src --rounds 9 c1 d
    python -m benchmarks.two_trees OLD/src NEW/src --full --rounds 2

Each version lives in a process of its own that loads ``tamiz`` from its folder. A case is called
once to compile, then in turn by the old and the new version; the least processor time of all rounds
counts. Cases are named after the rows that they are reduced forms of; with ``--full`` they have the
sizes of the rows. Ends with status 1 if a case takes more than a tenth longer.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

SLOWER = 1.10


def cases() -> dict[str, Callable[[], Any]]:
    """Calls through public names that both versions have."""
    from sklearn.datasets import load_breast_cancer, make_classification

    from tamiz import embedded, evaluation, filters, information, neighbors, search, svm, tree
    from tamiz.data import load
    from tamiz.kernels import GapWeighted
    from tamiz.scale import batches

    rng = np.random.default_rng(0)
    X2, y2 = make_classification(2000, 20, n_informative=8, random_state=0)
    X4, y4 = make_classification(1500, 20, n_informative=8, n_classes=4, random_state=0)
    X20, y20 = make_classification(20_000, 20, n_informative=8, random_state=0)
    cancer, malignant = load_breast_cancer(return_X_y=True)
    scaled = (cancer - cancer.mean(0)) / cancer.std(0)
    side = np.arange(62) % 2
    genes = rng.normal(size=(62, 2000))
    genes[:, :40] += np.where(side == 1, 0.5, -0.5)[:, None]
    fitted = svm.SVC().fit(X2, y2)
    words = ["".join(rng.choice(list("acgt"), 40)) for _ in range(60)]
    file = Path(tempfile.mkdtemp()) / "t.csv"
    np.savetxt(file, np.column_stack([X20, y20]), delimiter=",", fmt="%.6g")
    grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.01, 0.1, 1.0]}
    six = scaled[:200, :6]
    return {
        "a1 SVC 2,000": lambda: svm.SVC().fit(X2, y2),
        "a2 SVC predict": lambda: fitted.predict(X2),
        "a3 linear SVC": lambda: svm.SVC(kernel="linear").fit(scaled, malignant),
        "a4 SVR": lambda: svm.SVR().fit(X2[:1200], X2[:1200, 0] + X2[:1200, 1] ** 2),
        "a4 SVC four classes": lambda: svm.SVC().fit(X4, y4),
        "a5 Pegasos": lambda: svm.PegasosClassifier(random_state=0).fit(X20, y20),
        "b1 information of pairs": lambda: information.mutual_information_matrix(genes),
        "b2 mRMR 50": lambda: filters.MRMR(50).fit(genes, side),
        "b4 ReliefF": lambda: filters.ReliefF(random_state=0).fit(X2, y2),
        "b5 QPFS": lambda: filters.QPFS(nystroem=0.05, random_state=0, diagonal="exact").fit(
            genes, side
        ),
        "b5 QPFS 62 x 2,000": lambda: filters.QPFS().fit(genes, side),
        "b6 CFS": lambda: filters.CFS().fit(genes, side),
        "b6 CFS 569 x 30": lambda: filters.CFS().fit(cancer, malignant),
        "b7 Fisher": lambda: filters.FisherScore().fit(X20, y20),
        "b7 chi-squared": lambda: filters.ChiSquared().fit(X20, y20),
        "b7 AUC": lambda: filters.AUCScore().fit(X20, y20),
        "b7 AUC 62 x 2,000": lambda: filters.AUCScore().fit(genes, side),
        "b7 AUC four classes": lambda: filters.AUCScore().fit(X4, y4),
        "b7 Kolmogorov-Smirnov": lambda: filters.KolmogorovSmirnov(multiclass="max").fit(X20, y20),
        "b7 K-S four classes": lambda: filters.KolmogorovSmirnov().fit(X4, y4),
        "b7 stump": lambda: filters.StumpError().fit(X20, y20),
        "b7 stump 62 x 2,000": lambda: filters.StumpError().fit(genes, side),
        "b8 MDL": lambda: information.discretise(cancer, malignant, bins="mdl"),
        "c1 RFE 62 x 2,000": lambda: embedded.SVMRFE(1).fit(genes, side),
        "c2 RFE 569 x 30": lambda: embedded.SVMRFE(1).fit(scaled, malignant),
        "c3 RFE radial": lambda: embedded.SVMRFE(1, kernel="rbf").fit(scaled, malignant),
        "c4 HO-SVM": lambda: embedded.HoldOutSVM(random_state=0).fit(scaled, malignant),
        "c5 L1SVM": lambda: embedded.L1SVM().fit(genes, side),
        "c5 L1SVM 2,000 x 20": lambda: embedded.L1SVM().fit(X2, y2),
        "c6 L1L2SVM": lambda: embedded.L1L2SVM().fit(genes, side),
        "c6 FSV": lambda: embedded.FSV().fit(scaled, malignant),
        "c6 AROM": lambda: embedded.AROM().fit(scaled, malignant),
        "d1 forward": lambda: search.ForwardSelection(n_features_to_select=6, cv=5).fit(
            scaled, malignant
        ),
        "d2 exhaustive": lambda: search.ExhaustiveSearch(cv=10).fit(six, malignant[:200]),
        "d3 genetic": lambda: search.GeneticSearch(cv=3, N=10, G=5, random_state=0).fit(
            scaled[:200], malignant[:200]
        ),
        "e1 tree": lambda: tree.CARTClassifier().fit(X20, y20),
        "e1 forest": lambda: tree.ForestClassifier(50, random_state=0, n_jobs=1).fit(X2, y2),
        "e2 nearest neighbours": lambda: neighbors.KNNClassifier().fit(X2, y2).predict(X2),
        "e3 strings": lambda: GapWeighted(length=3)(words),
        "f1 tune": lambda: evaluation.tune(scaled, malignant, svm.SVC(), grid, cv=5),
        "f2 compare": lambda: evaluation.compare(
            scaled, malignant, ["fisher", "rfe"], "svc-linear", cv=5, repeats=1, random_state=0
        ),
        "g1 stream": lambda: filters.FisherScore().fit_stream(batches(file)),
        "g1 stream mRMR": lambda: filters.MRMR(5).fit_stream(batches(file)),
        "g1 stream AUC": lambda: filters.AUCScore().fit_stream(batches(file), sample_size=2000),
        "load csv": lambda: load(file),
    }


def full_cases() -> dict[str, Callable[[], Any]]:
    """The rows at their full size; tables are made when a case first asks for them."""
    from scipy import sparse
    from sklearn.datasets import load_breast_cancer, make_classification

    from tamiz import embedded, evaluation, filters, information, neighbors, search, svm, tree
    from tamiz.kernels import GapWeighted
    from tamiz.scale import batches

    @cache
    def table(n: int, p: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
        X, y = make_classification(n, p, n_informative=8, n_classes=classes, random_state=0)
        return X, y

    @cache
    def genes(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
        side = np.arange(n) % 2
        X = np.random.default_rng(0).normal(size=(n, p))
        X[:, :40] += np.where(side == 1, 0.5, -0.5)[:, None]
        return X, side

    @cache
    def machine() -> Any:
        return svm.SVC(gamma=1 / 50).fit(*table(5000, 50))

    @cache
    def words() -> tuple[np.ndarray, np.ndarray]:
        X = sparse.random(20_000, 5000, 0.01, format="csr", random_state=0)
        return X, (X[:, :50].sum(axis=1).A1 > 0.25).astype(int)

    @cache
    def strings() -> list[str]:
        rng = np.random.default_rng(0)
        return ["".join(rng.choice(list("acgt"), 60)) for _ in range(100)]

    @cache
    def file() -> Path:
        path = Path(tempfile.mkdtemp()) / "t.csv"
        np.savetxt(path, np.column_stack(table(100_000, 20)), delimiter=",", fmt="%.6g")
        return path

    def warm() -> Any:
        X, y = table(2000, 50)
        estimator = svm.SVC(warm_start=True).fit(X, y)
        return estimator.fit(X * (np.arange(50) != 7), y)

    X, cancer = load_breast_cancer(return_X_y=True)
    scaled = (X - X.mean(0)) / X.std(0)
    grid = {"C": np.logspace(-1, 4, 6), "gamma": np.logspace(-4, 0, 7)}
    six = ["fisher", "mrmr", "relieff", "rfe", "qpfs", "l1svm"]
    return {
        "a1 SVC 2,000": lambda: svm.SVC(gamma=1 / 50).fit(*table(2000, 50)),
        "a1 SVC 5,000": lambda: svm.SVC(gamma=1 / 50).fit(*table(5000, 50)),
        "a1 SVC 10,000": lambda: svm.SVC(gamma=1 / 50).fit(*table(10_000, 50)),
        "a1 SVC 20,000, C 10": lambda: svm.SVC(C=10, gamma=1 / 50).fit(*table(20_000, 50)),
        "a2 predict 5,000": lambda: machine().predict(table(5000, 50)[0]),
        "a3 warm start": warm,
        "a4 SVR 5,000": lambda: svm.SVR().fit(table(5000, 50)[0], table(5000, 50)[0][:, 0]),
        "a4 four classes 5,000": lambda: svm.SVC().fit(*table(5000, 50, 4)),
        "a5 Pegasos 100,000": lambda: svm.PegasosClassifier(random_state=0).fit(
            *table(100_000, 100)
        ),
        "b1 pairs 198 x 16,063": lambda: information.mutual_information_matrix(
            genes(198, 16_063)[0]
        ),
        "b2 mRMR 62 x 2,000": lambda: filters.MRMR(50).fit(*genes(62, 2000)),
        "b2 mRMR 60 x 9,712": lambda: filters.MRMR(50).fit(*genes(60, 9712)),
        "b2 mRMR 198 x 16,063": lambda: filters.MRMR(50).fit(*genes(198, 16_063)),
        "b3 mRMR full": lambda: filters.MRMR(10, full_ranking=True).fit(*genes(62, 2000)),
        "b4 ReliefF 2,600 x 500": lambda: filters.ReliefF(random_state=0).fit(*table(2600, 500)),
        "b4 ReliefF 62 x 2,000": lambda: filters.ReliefF(random_state=0).fit(*genes(62, 2000)),
        "b5 QPFS 62 x 2,000": lambda: filters.QPFS().fit(*genes(62, 2000)),
        "b5 QPFS 198 x 16,063": lambda: filters.QPFS(nystroem=0.05, random_state=0).fit(
            *genes(198, 16_063)
        ),
        "b6 CFS 569 x 30": lambda: filters.CFS().fit(X, cancer),
        "b6 CFS 62 x 2,000": lambda: filters.CFS().fit(*genes(62, 2000)),
        "b7 Fisher 100,000 x 200": lambda: filters.FisherScore().fit(*table(100_000, 200)),
        "b7 chi2 100,000 x 200": lambda: filters.ChiSquared().fit(*table(100_000, 200)),
        "b7 AUC 100,000 x 200": lambda: filters.AUCScore().fit(*table(100_000, 200)),
        "b7 Fisher 198 x 16,063": lambda: filters.FisherScore().fit(*genes(198, 16_063)),
        "b8 MDL 4,601 x 57": lambda: information.discretise(*table(4601, 57), bins="mdl"),
        "b8 MDL 198 x 16,063": lambda: information.discretise(*genes(198, 16_063), bins="mdl"),
        "c1 RFE 62 x 2,000": lambda: embedded.SVMRFE(1).fit(*genes(62, 2000)),
        "c2 RFE 569 x 30": lambda: embedded.SVMRFE(1).fit(scaled, cancer),
        "c2 RFE 72 x 7,129": lambda: embedded.SVMRFE(1, step=0.1).fit(*genes(72, 7129)),
        "c3 RFE radial": lambda: embedded.SVMRFE(1, kernel="rbf").fit(scaled, cancer),
        "c4 HO-SVM 569 x 30": lambda: embedded.HoldOutSVM(random_state=0).fit(scaled, cancer),
        "c4 HO-SVM 62 x 2,000": lambda: embedded.HoldOutSVM(random_state=0).fit(*genes(62, 2000)),
        "c5 L1SVM 62 x 2,000": lambda: embedded.L1SVM().fit(*genes(62, 2000)),
        "c5 L1SVM 4,601 x 57": lambda: embedded.L1SVM().fit(*table(4601, 57)),
        "c5 L1SVM sparse": lambda: embedded.L1SVM().fit(*words()),
        "c6 FSV 62 x 2,000": lambda: embedded.FSV().fit(*genes(62, 2000)),
        "c6 L1L2SVM 62 x 2,000": lambda: embedded.L1L2SVM().fit(*genes(62, 2000)),
        "c6 L0L2SVM 62 x 2,000": lambda: embedded.L0L2SVM().fit(*genes(62, 2000)),
        "d1 forward 12 of 30": lambda: search.ForwardSelection(
            svm.SVC(), n_features_to_select=12, cv=10
        ).fit(scaled, cancer),
        "d2 exhaustive 310 x 6": lambda: search.ExhaustiveSearch(svm.SVC(), cv="loo").fit(
            scaled[:310, :6], cancer[:310]
        ),
        "d3 genetic": lambda: search.GeneticSearch(svm.SVC(), N=30, G=10, cv=5, random_state=0).fit(
            scaled, cancer
        ),
        "e1 tree 100,000 x 20": lambda: tree.CARTClassifier().fit(*table(100_000, 20)),
        "e2 neighbours 50,000 x 10": lambda: (
            neighbors.KNNClassifier().fit(*table(50_000, 10)).predict(table(50_000, 10)[0][:5000])
        ),
        "e3 strings": lambda: GapWeighted(length=4)(strings()),
        "f1 tune 3,220 x 57": lambda: evaluation.tune(
            *table(3220, 57), svm.SVC(), grid, cv=10, n_jobs=1
        ),
        "f2 compare 62 x 2,000": lambda: evaluation.compare(
            *genes(62, 2000), six, "svc-linear", cv=10, repeats=1, random_state=0
        ),
        "g1 stream Fisher": lambda: filters.FisherScore().fit_stream(batches(file())),
        "g1 stream mRMR": lambda: filters.MRMR(20).fit_stream(batches(file())),
    }


def worker(source: str, full: bool, pipe: Connection) -> None:
    """Answer with processor seconds of the cases asked for, until asked for nothing."""
    sys.path.insert(0, source)
    os.environ["NUMBA_CACHE_DIR"] = tempfile.gettempdir() + f"/two-trees-{abs(hash(source))}"
    warnings.simplefilter("ignore")
    import tamiz

    if Path(source).resolve() not in Path(tamiz.__file__).resolve().parents:
        raise RuntimeError(f"tamiz was loaded from {tamiz.__file__}, not from {source}")
    known = full_cases() if full else cases()
    pipe.send(list(known))
    while (name := pipe.recv()) is not None:
        began = time.process_time()
        try:
            known[name]()
        except Exception as error:
            pipe.send(f"{type(error).__name__}: {error}")
            continue
        pipe.send(time.process_time() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("only", nargs="*", help="beginnings of cases")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--full", action="store_true", help="the rows at their full size")
    args = parser.parse_intermixed_args()
    context = multiprocessing.get_context("spawn")
    pipes = []
    for source in (args.old, args.new):
        here, there = context.Pipe()
        context.Process(target=worker, args=(source, args.full, there), daemon=True).start()
        pipes.append(here)
    names, _ = (pipe.recv() for pipe in pipes)
    slower = 0
    print(f"{'case':26} {'old ms':>9} {'new ms':>9} {'new/old':>8}")
    for name in names:
        if args.only and not name.startswith(tuple(args.only)):
            continue
        times: list[list[Any]] = [[], []]
        for round_number in range(args.rounds + 1):
            for k in (0, 1) if round_number % 2 else (1, 0):
                pipes[k].send(name)
                found = pipes[k].recv()
                if round_number or isinstance(found, str):
                    times[k].append(found)
        failed = [one for one in times[0] + times[1] if isinstance(one, str)]
        if failed:
            print(f"{name:26} {failed[0]}", flush=True)
            slower += 1
            continue
        old, new = min(times[0]), min(times[1])
        mark = "  slower" if new > SLOWER * old else ""
        slower += bool(mark)
        print(f"{name:26} {1e3 * old:9.1f} {1e3 * new:9.1f} {new / old:8.2f}{mark}", flush=True)
    for pipe in pipes:
        pipe.send(None)
    print(f"{slower} more than a tenth slower")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
