"""Figures of worked examples, neighbours and trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.data import load
from tamiz.display import INK, LINE, PALETTE, frames
from tamiz.filters import FisherScore
from tamiz.neighbors import KNNClassifier
from tamiz.pictures import scatter_classes
from tamiz.reproduce import p1, p6
from tamiz.reproduce.base import e1071_scale, read, split
from tamiz.reproduce.figures.base import LIKE, MADE, SAME, Effort, figure
from tamiz.svm import SVC
from tamiz.tree import CARTClassifier

_SHORT, _TALL = "short", "tall"
#: The eight people of the example: height, weight.
PEOPLE = np.array(
    [[170, 85], [147, 75], [150, 77], [154, 81], [175, 79], [152, 80], [173, 82], [177, 84]], float
)
TALL = np.array([1, 0, 0, 0, 1, 0, 1, 1])
#: What a slip changes: x4 and x5.
CHANGED = {3: (165.0, 78.0), 4: (149.0, 85.0)}


def _people(ax: Any, X: np.ndarray) -> None:
    scatter_classes(ax, X, TALL, (_SHORT, _TALL))
    for i, row in enumerate(X, start=1):
        where = (-15, -3) if i == 6 else (5, 5)
        ax.annotate(f"x{i}", row, xytext=where, textcoords="offset points", size="small")
    ax.set(xlabel="height f1 (cm)", ylabel="weight f2 (kg)", xlim=(144, 181), ylim=(73, 88))


@figure("S0-2.1", "Height separates tall from short people, weight hardly", SAME,
        "the eight people of table 2.1, with Fisher's criterion of both features",
        (6.0, 4.2))  # fmt: skip
def heights(canvas: Any, effort: Effort) -> None:
    """The eight people of the worked examples."""
    ax = canvas.subplots()
    _people(ax, PEOPLE)
    scores = FisherScore(variant="criterion").fit(PEOPLE, TALL).scores_
    ax.set_title(f"F(f1) = {scores[0]:.2f}, F(f2) = {scores[1]:.2f}", size="medium")
    ax.legend(fontsize="small", loc="lower right")


@figure("S0-2.2", "Nearest neighbours of x1 and x6 for Relief", SAME,
        "city-block distances; of the tie x1, x7 the one of the source", (6.0, 4.2))  # fmt: skip
def neighbours_of_relief(canvas: Any, effort: Effort) -> None:
    """Nearest hit and nearest miss, by city-block distance."""
    ax = canvas.subplots()
    _people(ax, PEOPLE)
    far = np.abs(PEOPLE[:, None] - PEOPLE[None]).sum(axis=2)
    np.fill_diagonal(far, np.inf)
    for i in (0, 5):
        for same, colour, name in ((True, PALETTE[2], "hit"), (False, PALETTE[3], "miss")):
            allowed = np.flatnonzero((TALL[i] == TALL) == same)
            # the last of those as near: the source takes x7 and not x1
            j = allowed[far[i, allowed] == far[i, allowed].min()][-1]
            ax.annotate(
                "",
                PEOPLE[j],
                PEOPLE[i],
                arrowprops={
                    "arrowstyle": "->",
                    "color": colour,
                    "lw": 1.6,
                    "shrinkA": 5,
                    "shrinkB": 5,
                },
            )
            ax.plot([], [], color=colour, label=f"nearest {name}" if i == 0 else None)
    ax.legend(fontsize="small", loc="lower right")  # fmt: skip


@figure("S0-2.3", "Two changed rows make weight the better feature", SAME,
        "J is the error of a linear machine over leave-one-out, as in examples 2.6 and 2.10",
        (9.0, 3.9))  # fmt: skip
def changed_rows(canvas: Any, effort: Effort) -> None:
    """The eight people before and after a slip."""
    changed = PEOPLE.copy()
    for i, row in CHANGED.items():
        changed[i] = row
    for ax, X in zip(canvas.subplots(1, 2), (PEOPLE, changed), strict=True):
        _people(ax, X)
        errors = [_leave_one_out(X[:, [j]]) for j in (0, 1)]
        ax.set_title(f"J(f1) = {errors[0]}/8, J(f2) = {errors[1]}/8", size="medium")
        for i in CHANGED:
            ax.plot(*X[i], "o", ms=13, mfc="none", mec=INK)
    ax.legend(fontsize="small", loc="lower right")


def _leave_one_out(x: np.ndarray) -> int:
    wrong = 0
    for i in range(len(x)):
        rest = np.arange(len(x)) != i
        Z, one = e1071_scale(x[rest], x[[i]])
        wrong += int(SVC(C=1.0, kernel="linear").fit(Z, TALL[rest]).predict(one)[0] != TALL[i])
    return wrong


@figure("S1-2", "Features that are useless alone and perfect together", MADE,
        "(a) equal covariances along a diagonal, (b) exclusive or; the headings give the error "
        "of a radial machine with each feature and with both", (9.6, 5.4))  # fmt: skip
def alone_and_together(canvas: Any, effort: Effort) -> None:
    """Two pairs of features with their histograms."""
    rng = np.random.default_rng([effort.seed, 17])
    n, y = 300, np.arange(300) % 2
    along, across = rng.normal(0, 1.2, n), rng.normal(0, 0.12, n) + 0.45 * (2 * y - 1)
    turned = np.column_stack([along + 0.1 * across, along + 1.4 * across])
    corner = rng.integers(0, 2, (n, 2))
    exclusive = corner + rng.normal(0, 0.13, (n, 2))
    for part, (X, labels, name) in zip(
        canvas.subfigures(1, 2),
        ((turned, y, "(a)"), (exclusive, (corner.sum(axis=1) % 2), "(b)")),
        strict=True,
    ):
        grid = part.subplots(2, 2)
        for r in (0, 1):
            for c in (0, 1):
                ax = grid[r, c]
                if r == c:
                    bins = np.linspace(X[:, r].min(), X[:, r].max(), 25)
                    for k in (0, 1):
                        ax.hist(X[labels == k, r], bins, alpha=0.6, color=PALETTE[k])
                else:
                    for k in (0, 1):
                        ax.plot(*X[labels == k][:, [c, r]].T, ".", ms=3, color=PALETTE[k])
                ax.tick_params(labelsize="x-small")
                ax.set_xlabel(f"f{c + 1}", size="small")
        half = n // 2
        errors = [
            1 - SVC(C=10.0).fit(X[:half, s], labels[:half]).score(X[half:, s], labels[half:])
            for s in ([0], [1], [0, 1])
        ]
        part.suptitle(f"{name} error f1 {errors[0]:.2f}, f2 {errors[1]:.2f}, both {errors[2]:.2f}",
                      size="medium")  # fmt: skip


@figure("S0-3.2", "The feature f6 on a line, the separating point and its margins", SAME,
        "vertebral column, a split with the printed class counts; f6 in deviations; one row of "
        "dots for each class", (8.0, 3.4))  # fmt: skip
def one_feature(canvas: Any, effort: Effort) -> None:
    """A linear machine on f6 alone."""
    ax = canvas.subplots()
    X, y, _ = read("vertebral_2c")
    ill = y == "Abnormal"
    train = p1.training_part(ill, effort.seed)
    (z,) = e1071_scale(X[train][:, 5:])
    label = np.where(ill[train], "ill", "healthy")
    machine = SVC(C=1.0, kernel="linear").fit(z, label)
    machine.plot(z, label, ax=ax, slack=False)
    ax.set(xlabel="f6, standardised", xlim=(-1.6, 4))


@figure("S2-6.1", "Four of the digits: two fives, two eights", SAME, "USPS", (5.6, 1.9))
def digits(canvas: Any, effort: Effort) -> None:
    """Images of 16 by 16 pixels."""
    X, y = p6.digits()
    rng = np.random.default_rng(effort.seed)
    rows = [i for label in ("5", "8") for i in rng.choice(np.flatnonzero(y == label), 2, False)]
    for ax, i in zip(canvas.subplots(1, 4), rows, strict=True):
        ax.imshow(X[i].reshape(16, 16), cmap="gray_r")
        ax.set_axis_off()


@figure("S4-1", "What k does to k-NN: one, two or three neighbours", MADE,
        "KNNClassifier; with k = 2 the vote is tied and it abstains", (9.4, 3.4))  # fmt: skip
def neighbours(canvas: Any, effort: Effort) -> None:
    """A new sample, and its neighbours within a circle."""
    X = np.array([[1.3, 1.0], [0.2, 0.4], [-0.4, 1.9], [2.2, 2.6], [-1.3, 0.2], [2.4, 0.1],
                  [-1.1, 2.6], [0.6, -0.9]])  # fmt: skip
    y = np.array([0, 1, 1, 0, 1, 0, 1, 0])
    new = np.array([[0.7, 1.1]])
    for k, ax in zip((1, 2, 3), canvas.subplots(1, 3), strict=True):
        model = KNNClassifier(k, ties="abstain", scaling="none").fit(X, y)
        model.plot(X, y, ax=ax, legend=False)
        reach = float(model.kneighbors(new)[0][0, -1]) * 1.02
        turn = np.linspace(0, 2 * np.pi, 100)
        ax.plot(new[0, 0] + reach * np.cos(turn), new[0, 1] + reach * np.sin(turn), color=LINE)
        ax.plot(*new[0], "o", ms=8, mfc="white", mec=INK)
        said = model.predict(new)[0]
        ax.set_title(f"k = {k}: {'tied' if said not in (0, 1) else ('blue', 'orange')[said]}",
                     size="medium")  # fmt: skip
        ax.set(aspect="equal", xlabel="", ylabel="")


@figure("S4-3", "Who survived the Titanic, as a tree", SAME,
        "2,201 people; sex first, then age of the men and class of the women, as printed",
        (9.0, 5.0))  # fmt: skip
def titanic(canvas: Any, effort: Effort) -> None:
    """The first tests of the tree."""
    people = load("titanic")
    model = CARTClassifier(max_depth=2).fit(people.frame[people.feature_names], people.y)
    model.plot(canvas.add_axes((0.02, 0.02, 0.96, 0.96)))


@figure("S4-4", "A tree of two conditions, and the three regions it makes", MADE, "",
        (9.4, 3.8))  # fmt: skip
def tree_and_regions(canvas: Any, effort: Effort) -> None:
    """Tree and partition side by side."""
    rng = np.random.default_rng([effort.seed, 19])
    X = frames().DataFrame(rng.uniform(0, 10, (60, 2)), columns=["x1", "x2"])
    y = np.where((X["x1"] > 4) & (X["x2"] > 5), "dark", "light")
    model = CARTClassifier().fit(X, y)
    left, right = canvas.subplots(1, 2, width_ratios=(1.2, 1))
    model.plot(left)
    model.plot_partition(X, y, ax=right)
    for k, patch in enumerate(right.patches, start=1):
        right.annotate(f"R{k}", patch.get_xy()[:-1].mean(axis=0), ha="center", va="center",
                       size="large", weight="bold", alpha=0.7)  # fmt: skip


@figure("S4-5", "One oblique line does what several axis-parallel ones approximate", MADE,
        'CARTClassifier(splits="oblique") beside splits="axis"', (9.4, 3.8))  # fmt: skip
def oblique(canvas: Any, effort: Effort) -> None:
    """The same samples, divided in two ways."""
    rng = np.random.default_rng([effort.seed, 23])
    X = rng.uniform(0, 10, (80, 2))
    X = X[np.abs(X[:, 0] - X[:, 1]) > 0.8]
    y = np.where(X[:, 1] > X[:, 0], "light", "dark")
    for ax, splits in zip(canvas.subplots(1, 2), ("oblique", "axis"), strict=True):
        model = CARTClassifier(splits=splits, random_state=0).fit(X, y)
        model.plot_partition(X, y, ax=ax, legend=False)
        leaves = model.tree_.n_leaves
        ax.set(aspect="equal", xlabel="x1", ylabel="x2")
        ax.set_title(f"{splits}: {leaves} leaves", size="medium")


_SKETCH = "the source has a sketch without data; here the diabetes data of the same notes"


def _pima_tree(seed: int) -> CARTClassifier:
    X, y, _ = read("pima")
    grow, rest = split(np.random.default_rng(seed), y, 0.6)
    return CARTClassifier().fit(X[grow], y[grow]).prune(X[rest], y[rest])


@figure("S4-6", "A tree grows, and is pruned along the best sub-trees", LIKE, _SKETCH, (6.6, 4.2))
def growing(canvas: Any, effort: Effort) -> None:
    """Training error over the mean depth."""
    _pima_tree(effort.seed).pruning_path().plot(canvas.subplots(), growth=True)


@figure("S4-7", "The best sub-tree by the error on other data", LIKE, _SKETCH, (6.6, 4.2))
def pruning(canvas: Any, effort: Effort) -> None:
    """Training and held-out error over the mean depth."""
    _pima_tree(effort.seed).prune_path_.plot(canvas.subplots())
