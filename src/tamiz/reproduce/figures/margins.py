"""Figures of lines between two classes: separating ones, the one of largest margin, slack.

The sources do not print their points, so ours are made up; what is drawn through them is computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.display import INK, LINE, PALETTE
from tamiz.pictures import scatter_classes
from tamiz.reproduce.figures.base import MADE, Effort, figure
from tamiz.svm import SVC, HardMarginSVC, PerceptronClassifier

Points = tuple[np.ndarray, np.ndarray]
#: Seven points of a class beyond their margin, one inside it, one misclassified.
_LEFT = np.array([[-3, 0], [-2.5, 1], [-2.8, -1], [-2, -0.3], [-2.2, 1.6], [-3.2, 1.8],
                  [-2, -1.7], [-0.3, 1.2], [1.1, 0.5]])  # fmt: skip
_NAMES = ("−1", "+1")
_LINES = "lines of perceptrons that saw the points in different orders"


def two_groups(seed: int, apart: float = 2.3, n: int = 14, spread: float = 0.75) -> Points:
    """Two round groups; their centres lie ``apart`` from the middle."""
    rng = np.random.default_rng([seed, 7])
    y = np.repeat([-1, 1], n)
    centre = apart * np.array([0.8, 0.6])
    return rng.normal(0, spread, (2 * n, 2)) + np.outer(y, centre), y


def overlapping(seed: int) -> Points:
    """Two groups that no line separates."""
    return two_groups(seed, apart=1.0, n=16, spread=0.85)


def scatter(ax: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Points by class, on equal axes."""
    scatter_classes(ax, X, (y > 0).astype(int), _NAMES)
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="x1", ylabel="x2")
    ax.set_aspect("equal")


def line(ax: Any, w: np.ndarray, b: float, level: float = 0.0, **style: Any) -> None:
    """The line ``w x + b = level`` across the axes."""
    foot = (level - b) * w / (w @ w)
    far = 100.0 * np.array([-w[1], w[0]]) / np.linalg.norm(w)
    ax.plot(*np.stack([foot - far, foot + far]).T, **{"color": INK, "lw": 1.2, **style})


def several_lines(ax: Any, X: np.ndarray, y: np.ndarray, n: int = 5) -> None:
    """Lines that separate the classes: perceptrons differ by the order in which they see them."""
    scatter(ax, X, y)
    for seed in range(n):
        order = np.random.default_rng(seed).permutation(len(y))
        found = PerceptronClassifier().fit(X[order], y[order])
        line(ax, found.coef_[0], found.intercept_[0], color=LINE)


def widest(ax: Any, X: np.ndarray, y: np.ndarray, legend: bool = True) -> HardMarginSVC:
    """The line of largest margin."""
    machine = HardMarginSVC(kernel="linear").fit(X, y)
    machine.plot(X, y, ax=ax, legend=legend)
    ax.set(aspect="equal", xlabel="x1", ylabel="x2")
    return machine


@figure("S0-1.1", "Several separating lines, and the one of largest margin", MADE, _LINES,
        (9.0, 3.8))  # fmt: skip
def lines_and_margin(canvas: Any, effort: Effort) -> None:
    """Several lines, and the best of them."""
    left, right = canvas.subplots(1, 2)
    X, y = two_groups(effort.seed)
    several_lines(left, X, y)
    left.set_title("all of these separate the classes", size="medium")
    widest(right, X, y)


@figure("S2-2.1", "Several lines separate two classes", MADE, _LINES, (5.2, 4.0))
def lines_alone(canvas: Any, effort: Effort) -> None:
    """Several lines."""
    ax = canvas.subplots()
    several_lines(ax, *two_groups(effort.seed + 1))
    ax.legend(fontsize="small")


@figure("S1-1", "The optimal hyperplane of two classes", MADE, "hard margin", (6.6, 4.0))
@figure("S2-2.2", "The hard-margin machine has three support vectors", MADE, "", (6.6, 4.0))
def margin_of_three(canvas: Any, effort: Effort) -> None:
    """The first of our groups whose machine rests on three points."""
    ax = canvas.subplots()
    for seed in range(effort.seed, effort.seed + 50):
        X, y = two_groups(seed)
        if len(HardMarginSVC(kernel="linear").fit(X, y).support_) == 3:
            break
    machine = widest(ax, X, y)
    ax.set_title(f"margin 1/‖w‖ = {machine.margin_:.2f}, 3 support vectors", size="medium")


@figure("S0-1.2", "Classes that no line separates", MADE,
        "lines of soft-margin machines with different C, and how many points each misses",
        (6.2, 4.0))  # fmt: skip
def no_line(canvas: Any, effort: Effort) -> None:
    """Whatever the line, some points are on the wrong side."""
    ax = canvas.subplots()
    X, y = overlapping(effort.seed)
    scatter(ax, X, y)
    for C, colour in zip((0.01, 0.1, 1.0, 100.0), PALETTE[2:], strict=False):
        machine = SVC(C=C, kernel="linear").fit(X, y)
        wrong = int((machine.predict(X) != y).sum())
        line(ax, machine.coef_[0], machine.intercept_[0], color=colour,
             label=f"C = {C:g}: {wrong} wrong")  # fmt: skip
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)


@figure("S0-1.3", "Slack: zero beyond the margin, below one inside it, above one if misclassified",
        MADE, "SVC(C=1); the numbers are ξ", (7.4, 4.4))  # fmt: skip
@figure("S2-3.1", "Samples on the wrong side of their margin, with their slack", MADE,
        "SVC(C=1); the numbers are ξ", (7.4, 4.4))  # fmt: skip
def slack(canvas: Any, effort: Effort) -> None:
    """A soft-margin machine; its largest slacks are written beside their points."""
    ax = canvas.subplots()
    X = np.concatenate([_LEFT, _LEFT[:7] * [-1, 1] + [0.1, 0.2], [[0.4, -1.1], [-0.8, -0.4]]])
    y = np.repeat([-1, 1], 9)
    machine = SVC(C=1.0, kernel="linear").fit(X, y)
    machine.plot(X, y, ax=ax)
    for i in np.flatnonzero(machine.slack_ > 0.01):
        ax.annotate(f"ξ = {machine.slack_[i]:.2f}", X[i], xytext=(-8, 9), size="small",
                    textcoords="offset points", ha="center")  # fmt: skip
    ax.set(aspect="equal", xlabel="x1", ylabel="x2")


@figure("S4-8", "Two classes; lines that separate them; the margin of a line; the optimal one",
        MADE, _LINES, (8.6, 7.4))  # fmt: skip
def from_points_to_margin(canvas: Any, effort: Effort) -> None:
    """Four steps from points to the line of largest margin."""
    axes = canvas.subplots(2, 2).ravel()
    X, y = two_groups(effort.seed + 2)
    scatter(axes[0], X, y)
    several_lines(axes[1], X, y)
    scatter(axes[2], X, y)
    found = PerceptronClassifier().fit(X, y)
    _band(axes[2], X, y, found.coef_[0], found.intercept_[0])
    widest(axes[3], X, y, legend=False)
    titles = ("two classes", "lines that separate them", "the margin of one of them",
              "the largest margin")  # fmt: skip
    for letter, ax, title in zip("abcd", axes, titles, strict=True):
        ax.set_title(f"({letter}) {title}", size="medium")
    axes[0].legend(fontsize="small")


@figure("S4-9", "The margin up to one point A, and the optimal one between A and E", MADE, "",
        (9.0, 3.8))  # fmt: skip
def margin_of_points(canvas: Any, effort: Effort) -> None:
    """A line too near to A, and the optimal one."""
    left, right = canvas.subplots(1, 2)
    X, y = two_groups(effort.seed + 2)
    machine = HardMarginSVC(kernel="linear").fit(X, y)
    ends = [machine.support_[y[machine.support_] == side][0] for side in (-1, 1)]
    scatter(left, X, y)
    w, b = machine.coef_[0], machine.intercept_[0]
    _band(left, X, y, w, b + 0.6)  # moved towards A
    widest(right, X, y, legend=False)
    for ax, title in ((left, "(a) margin up to A"), (right, "(b) the optimal one, A to E")):
        for name, i in zip("AE", ends, strict=True):
            ax.annotate(name, X[i], xytext=(8, -12), textcoords="offset points", weight="bold")
        ax.set_title(title, size="medium")


def _band(ax: Any, X: np.ndarray, y: np.ndarray, w: np.ndarray, b: float) -> None:
    """A line, and the band around it up to the nearest point."""
    near = float(np.min(y * (X @ w + b)))
    line(ax, w, b, lw=1.6)
    for level in (-near, near):
        line(ax, w, b, level, ls="--", lw=1.0)
