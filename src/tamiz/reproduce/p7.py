"""P7: diabetes by the k nearest neighbours, the error over k."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.neighbors import choose_k
from tamiz.reproduce.base import (
    Experiment,
    Found,
    Recipe,
    Row,
    claim,
    claim_above,
    claim_within,
    column,
    read,
)

#: Numbers of neighbours in the second figure of the source.
MOST = 200
TEST = 0.3
#: What the text describes: few neighbours, the good ones, those from which nothing much happens,
#: and those from which it grows worse.
FEW, BELOW, GOOD, LATER, MANY = (1, 5), (1, 14), (18, 26), (27, 50), (70, 200)
#: An important change of the error. One patient more in a fold of the source is 0.013.
IMPORTANT = 0.01


def mean_over(curve: Any, ks: tuple[int, int]) -> float:
    """Mean of a curve that begins with k = 1 over a range of k."""
    return float(np.mean(curve[ks[0] - 1 : ks[1]]))


class Curves(Experiment):
    """The three curves on one random split and ten random folds."""

    data, quick, full = ("pima",), 20, 200

    def __init__(self, name: str, scaling: str) -> None:
        self.name, self.scaling = name, scaling

    def prepare(self, quick: bool, seed: int) -> Any:
        X, y, _ = read("pima")
        return X, y

    def repeat(self, ready: Any, seed: int) -> Found:
        X, y = ready
        found = choose_k(
            X, y, range(1, MOST + 1), 10, test=TEST, scaling=self.scaling, random_state=seed % 2**32
        )
        curves = {"training": found.train_error, "cv": found.cv_error, "test": found.test_error}
        values: Found = {"best k": found.k}
        for kind, curve in curves.items():
            for ks in (FEW, BELOW, GOOD, LATER, MANY):
                values[f"{kind} {ks[0]}-{ks[1]}"] = mean_over(curve, ks)
        return values

    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        def difference(one: str, other: str) -> list[float]:
            return (np.array(column(found, one)) - np.array(column(found, other))).tolist()

        group = f"difference of errors, {self.name}"
        rows = []
        for kind, called in (("cv", "over ten folds"), ("test", "in the test part")):
            good, later = f"{kind} 18-26", f"{kind} 27-50"
            rows += [
                claim_above(f"k = 1 to 14 less 18 to 26, {called}",
                            difference(f"{kind} 1-14", good), group=group),
                claim_within(f"k = 27 to 50 less 18 to 26, {called}",
                             difference(later, good), IMPORTANT, group=group),
                claim_above(f"k = 70 to 200 less 18 to 26, {called}",
                            difference(f"{kind} 70-200", good), group=group),
            ]  # fmt: skip
        rows.append(
            claim_above(
                "over ten folds less training, k = 1 to 5",
                difference("cv 1-5", "training 1-5"),
                group=group,
            )
        )
        best = column(found, "best k")
        rows.append(
            claim(
                "k with the least error over ten folds",
                best,
                "18 to 26 adequate",
                None,
                group=f"number of neighbours, {self.name}",
                decimals=0,
                note="not judged: the curve is flat, and where its least point lies is chance",
            )
        )
        return rows


RECIPE = Recipe(
    name="P7",
    title="Diabetes by k nearest neighbours: training, cross-validated and test error over k",
    source="Section 2.3 of course notes on k-NN, trees and support vector machines; two figures "
    "and what is said of them.",
    protocol="A random 30 % of the patients put aside to test; ten stratified folds of the others; "
    "errors for k = 1 to 200, Euclidean distance. The source reports neither how large its test "
    "part is nor whether the measurements were scaled: both are tried, as they stand and as "
    "z-scores. Its statements are judged by differences of errors averaged over ranges of k; "
    "unimportant is a change of less than one point.",
    data="pima, 768 patients, 8 measurements, 268 ill; zeros that stand for missing values are "
    "left as zeros",
    parts=(Curves("as they stand", "none"), Curves("z-scores", "zscore")),
)
