"""
A string kernel on two real sets: DNA and text messages
=======================================================

The 106 DNA sequences of ``promoters``, 57 letters each, are judged by leaving one out. The length
of the subsequences, their decay and C are chosen by five folds inside the others, again for every
sequence; so is the C of the machine that the string kernel is compared with, a linear one that
knows which letter stands at which place. The string kernel does not know places, only what follows
what.

That is not honest enough here. The sequences without a promoter are windows of one long piece of
DNA, and most of them overlap others: a string kernel finds the part in common wherever it stands.
So the study is done again with all relatives in one fold, those that have 15 letters in common in
a row with each other, directly or through others; inside, too, relatives stay in one fold.

Then 1,000 different messages of ``sms_spam``, drawn at random, are judged by five folds, C chosen
by five folds inside each. The kernels are fixed beforehand: characters of length 4, words of length
2, both with decay 0.5. They are compared with a linear machine on the usual weighted counts of
words. ::

    python examples/string_kernel_real_data.py [--messages 1000]

A normalised value depends on the two strings alone, so the Gram matrix of all samples is computed
once and its rows and columns go to the folds: nothing is learnt from samples that are held out.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneGroupOut,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_predict,
)

from tamiz import SVC
from tamiz.data import load
from tamiz.evaluation import report_card
from tamiz.kernels import GapWeighted

PRICES = [0.1, 1.0, 10.0]


def letters(data: Any) -> list[str]:
    """Rows of coded letters as strings."""
    columns = [np.array(data.levels[name])[data.X[:, j].astype(int)]
               for j, name in enumerate(data.feature_names)]  # fmt: skip
    return ["".join(row) for row in np.transpose(columns)]


def inner_folds() -> StratifiedKFold:
    return StratifiedKFold(5, shuffle=True, random_state=0)


def best_inside(grams: list[np.ndarray], y: np.ndarray, groups: np.ndarray) -> tuple[int, float]:
    """The matrix and the C with the fewest errors over five folds; the first of equals."""
    splitter = StratifiedGroupKFold(5, shuffle=True, random_state=0)
    folds = list(splitter.split(y, y, groups))
    best, chosen = np.inf, (0, PRICES[0])
    for (k, K), C in product(enumerate(grams), PRICES):
        errors = 0
        for train, test in folds:
            machine = SVC(C=C, kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
            errors += int((machine.predict(K[np.ix_(test, train)]) != y[test]).sum())
        if errors < best:
            best, chosen = errors, (k, C)
    return chosen


def leave_out(
    grams: list[np.ndarray], y: np.ndarray, groups: np.ndarray
) -> tuple[int, list[tuple[int, float]]]:
    """Errors on groups left out one after the other, and what was chosen each time."""
    errors, choices = 0, []
    for train, test in LeaveOneGroupOut().split(y, y, groups):
        parts = [K[np.ix_(train, train)] for K in grams]
        k, C = best_inside(parts, y[train], groups[train])
        machine = SVC(C=C, kernel="precomputed").fit(parts[k], y[train])
        errors += int((machine.predict(grams[k][np.ix_(test, train)]) != y[test]).sum())
        choices.append((k, C))
    return errors, choices


def relatives(X: list[str], letters_in_a_row: int = 15) -> np.ndarray:
    """A number for each sequence, the same for those with so many letters in a row in common."""
    group = list(range(len(X)))

    def first(i: int) -> int:
        return i if group[i] == i else first(group[i])

    seen: dict[str, int] = {}
    for i, s in enumerate(X):
        for k in range(len(s) - letters_in_a_row + 1):
            group[first(i)] = first(seen.setdefault(s[k : k + letters_in_a_row], i))
    return np.array([first(i) for i in range(len(X))])


def promoters() -> None:
    data = load("promoters")
    X, y = letters(data), np.asarray(data.y)
    print(f"promoters: {len(X)} sequences, the first {X[0]}")
    settings = list(product([2, 3, 4, 5, 6], [0.3, 0.6, 0.9]))
    start = time.perf_counter()
    grams = [GapWeighted(length, decay)(X) for length, decay in settings]
    print(f"  {len(settings)} Gram matrices in {time.perf_counter() - start:.2f} s")
    hot = np.stack([[float(a == b) for a in row for b in "acgt"] for row in X])
    for how, groups in (("one left out", np.arange(len(X))), ("relatives left out", relatives(X))):
        print(f"  {how}: {len(np.unique(groups))} times")
        for name, tables in (("string kernel", grams), ("one-hot, linear", [hot @ hot.T])):
            start = time.perf_counter()
            errors, choices = leave_out(tables, y, groups)
            took = time.perf_counter() - start
            k, C = max(set(choices), key=choices.count)
            chosen = "length {}, decay {}, ".format(*settings[k]) if len(tables) > 1 else ""
            print(f"    {name:16} {errors:3d} errors = {100 * errors / len(y):.1f} %, most often "
                  f"{chosen}C = {C:g}   ({took:.0f} s)")  # fmt: skip


def messages(n: int) -> None:
    data = load("sms_spam")
    texts, first = np.unique(data.X[:, 0].astype(str), return_index=True)  # some occur twice
    labels = np.asarray(data.y)[first]
    drawn = np.random.default_rng(0).permutation(len(texts))[:n]
    X, y = texts[drawn], labels[drawn]
    print(f"\nsms_spam: {n} of {len(texts)} different messages, {(y == 'spam').sum()} of them spam")
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    kernels = {
        "characters, length 4": GapWeighted(4, 0.5),
        "words, length 2": GapWeighted(2, 0.5, tokens="word", lowercase=True),
        "words, lengths 1 and 2": GapWeighted(
            2, 0.5, weights=(1, 1), tokens="word", lowercase=True
        ),
    }
    for name, kernel in kernels.items():
        start = time.perf_counter()
        K = kernel(X)
        first_time = time.perf_counter() - start
        search = GridSearchCV(SVC(kernel="precomputed"), {"C": PRICES}, cv=inner_folds())
        predicted = cross_val_predict(search, K, y, cv=folds)
        show(name, y, predicted, f"Gram matrix {first_time:.1f} s")
    start = time.perf_counter()
    predicted = np.empty_like(y)
    for train, test in folds.split(X, y):
        words = TfidfVectorizer().fit(X[train])
        search = GridSearchCV(SVC(kernel="linear"), {"C": PRICES}, cv=inner_folds())
        search.fit(words.transform(X[train]), y[train])
        predicted[test] = search.predict(words.transform(X[test]))
    show("weighted counts, linear", y, predicted, f"all {time.perf_counter() - start:.1f} s")


def show(name: str, y: np.ndarray, predicted: np.ndarray, seconds: str) -> None:
    card = report_card(y, predicted, positive="spam")
    print(f"  {name:24} sensitivity {card.sensitivity:.3f}  specificity {card.specificity:.3f}  "
          f"precision {card.precision:.3f}  accuracy {card.accuracy:.3f}  ({seconds})")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A string kernel on DNA and text messages")
    parser.add_argument("--messages", type=int, default=1000, help="how many messages to take")
    args = parser.parse_args()
    promoters()
    messages(args.messages)
