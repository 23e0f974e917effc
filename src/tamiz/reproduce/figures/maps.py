"""Figures of feature maps, kernels, losses and subgradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tamiz.display import INK, LINE, PALETTE, colours
from tamiz.kernels import RBF, IndefiniteKernelWarning, Linear, Polynomial, Sigmoid
from tamiz.pictures import MARKS, scatter_classes
from tamiz.reproduce.figures.base import MADE, SCHEME, Effort, figure
from tamiz.svm import SVC

Points = tuple[np.ndarray, np.ndarray]


def rings(seed: int, radii: tuple[tuple[float, float], ...] = ((0, 0.9), (1.5, 2.2))) -> Points:
    """Points in rings around the origin, one class each."""
    rng = np.random.default_rng([seed, 11])
    radius, y = [], []
    for k, (inner, outer) in enumerate(radii):
        n = 30 if k == 0 else 45
        radius.append(np.sqrt(rng.uniform(inner**2, outer**2, n)))
        y += [k] * n
    r, angle = np.concatenate(radius), rng.uniform(0, 2 * np.pi, len(y))
    return np.column_stack([r * np.cos(angle), r * np.sin(angle)]), np.array(y)


def lifted(X: np.ndarray) -> np.ndarray:
    """``(u1, u2, u1² + u2²)``."""
    return np.column_stack([X, (X**2).sum(axis=1)])


def _scatter3(ax: Any, X: np.ndarray, y: np.ndarray) -> None:
    for k, colour in enumerate(colours(int(y.max()) + 1)):
        ax.scatter(*X[y == k].T, s=16, marker=MARKS[k], color=colour, depthshade=False)


def _plane(ax: Any, w: np.ndarray, b: float, reach: float, alpha: float = 0.35) -> None:
    """The plane ``w z + b = 0`` over a square."""
    u, v = np.meshgrid([-reach, reach], [-reach, reach])
    ax.plot_surface(u, v, -(w[0] * u + w[1] * v + b) / w[2], color=PALETTE[2], alpha=alpha)


@figure("S0-1.4", "A map to a larger space, where a plane separates the classes", MADE,
        "(u1, u2, u1² + u2²); the plane is a linear machine's, and the curve is where it cuts",
        (9.0, 4.0))  # fmt: skip
@figure("S2-4.1", "A map h to a space of features", MADE,
        "(u1, u2, u1² + u2²); the plane is a linear machine's", (9.0, 4.0))  # fmt: skip
@figure("S4-12", "The kernel trick: (u1, u2) becomes (u1, u2, u1² + u2²)", MADE,
        "the plane is a linear machine's", (9.0, 4.0))  # fmt: skip
def lifting(canvas: Any, effort: Effort) -> None:
    """Left the points, right where they are sent."""
    X, y = rings(effort.seed)
    kernel = Linear().of(lifted)
    flat, space = canvas.add_subplot(1, 2, 1), canvas.add_subplot(1, 2, 2, projection="3d")
    SVC(C=10.0, kernel=kernel).fit(X, y).plot(X, y, ax=flat, legend=False)
    flat.set(aspect="equal", xlabel="u1", ylabel="u2", title="")
    flat.set_title("input space", size="medium")
    machine = SVC(C=10.0, kernel="linear").fit(lifted(X), y)
    _scatter3(space, lifted(X), y)
    _plane(space, machine.coef_[0], float(machine.intercept_[0]), 2.2)
    space.set(xlabel="u1", ylabel="u2")
    space.set_zlabel("u1² + u2²")
    space.set_title("feature space", size="medium")
    space.view_init(18, -60)


@figure("S4-10", "Three rings seen from above are a cone that planes can cut", MADE,
        "(u1, u2, −‖u‖); each plane is a linear machine's, one class against the outer ones",
        (9.0, 4.0))  # fmt: skip
def cone(canvas: Any, effort: Effort) -> None:
    """Three classes, and two planes."""
    X, y = rings(effort.seed + 1, ((0, 0.8), (1.2, 1.8), (2.2, 2.8)))
    Z = np.column_stack([X, -np.linalg.norm(X, axis=1)])
    flat, space = canvas.add_subplot(1, 2, 1), canvas.add_subplot(1, 2, 2, projection="3d")
    scatter_classes(flat, X, y, ("inner", "middle", "outer"))
    turn = np.linspace(0, 2 * np.pi, 200)
    _scatter3(space, Z, y)
    for k in (0, 1):
        machine = SVC(C=100.0, kernel="linear").fit(Z, (y > k).astype(int))
        w, b = machine.coef_[0], float(machine.intercept_[0])
        _plane(space, w, b, 2.8, alpha=0.25)
        # where the plane cuts the cone: w1 r cos + w2 r sin - w3 r + b = 0
        r = -b / (w[0] * np.cos(turn) + w[1] * np.sin(turn) - w[2])
        flat.plot(r * np.cos(turn), r * np.sin(turn), color=INK, lw=1.4)
    flat.set(aspect="equal", xlabel="u1", ylabel="u2")
    flat.set_title("(a) from above", size="medium")
    flat.legend(fontsize="small", loc="upper right")
    space.set(xlabel="u1", ylabel="u2")
    space.set_zlabel("−‖u‖")
    space.set_title("(b) in space", size="medium")
    space.view_init(12, -60)


@figure("S4-13", "Squares of both coordinates make rings separable", MADE,
        "the line is a linear machine's on the squares", (9.0, 4.0))  # fmt: skip
def squares(canvas: Any, effort: Effort) -> None:
    """Two dimensions stay two."""
    left, right = canvas.subplots(1, 2)
    X, y = rings(effort.seed)
    SVC(C=10.0, kernel=Linear().of(np.square)).fit(X, y).plot(X, y, ax=left, legend=False)
    left.set(aspect="equal", xlabel="u1", ylabel="u2")
    left.set_title("(a) the points", size="medium")
    SVC(C=10.0, kernel="linear").fit(X**2, y).plot(X**2, y, ax=right, legend=False)
    right.set(aspect="equal", xlabel="u1²", ylabel="u2²")
    right.set_title("(b) their squares", size="medium")


@figure("S4-14", "Decision surfaces of linear, polynomial, radial and sigmoid kernels", MADE,
        "heights are decision values, cut at ±3", (9.0, 7.6))  # fmt: skip
def surfaces(canvas: Any, effort: Effort) -> None:
    """Four machines on the same points."""
    rng = np.random.default_rng([effort.seed, 13])
    X = rng.uniform(-2, 2, (120, 2))
    y = (X[:, 1] > np.sin(1.6 * X[:, 0]) + rng.normal(0, 0.2, len(X))).astype(int)
    kernels = {
        "(a) linear": Linear(),
        "(b) polynomial": Polynomial(3, gamma=1.0, coef0=1.0),
        "(c) radial": RBF(gamma=0.8),
        "(d) sigmoid": Sigmoid(gamma=0.15, coef0=-0.1),
    }
    u, v = np.meshgrid(np.linspace(-2, 2, 50), np.linspace(-2, 2, 50))
    for k, (title, kernel) in enumerate(kernels.items(), start=1):
        ax = canvas.add_subplot(2, 2, k, projection="3d")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IndefiniteKernelWarning)  # the sigmoid: it is the point
            machine = SVC(C=5.0, kernel=kernel).fit(X, y)
        values = machine.decision_function(np.column_stack([u.ravel(), v.ravel()]))
        height = np.clip(values.reshape(u.shape), -3, 3)
        ax.plot_surface(u, v, height, cmap="coolwarm", vmin=-3, vmax=3, alpha=0.85, lw=0)
        ax.contour(u, v, height, [0.0], colors=INK, linewidths=1.6, offset=-3)
        ax.set(xlabel="u1", ylabel="u2", zlim=(-3, 3))
        wrong = int((machine.predict(X) != y).sum())
        ax.set_title(f"{title}: {wrong} of {len(y)} wrong", size="medium")
        ax.view_init(28, -65)


@figure("S4-11", "The kernel as a product in the space of features", SCHEME,
        "the two ways give the same number, printed below", (7.4, 3.0))  # fmt: skip
def two_ways(canvas: Any, effort: Effort) -> None:
    """Mapping and multiplying is what the kernel does at once."""
    ax = canvas.subplots()
    ax.set(xlim=(0, 10), ylim=(0, 4))
    ax.set_axis_off()
    for x, words in ((1, "X × X\n(u, v)"), (5, "V × V\n(θ(u), θ(v))"), (9, "F\n⟨θ(u), θ(v)⟩")):
        ax.text(x, 3, words, ha="center", va="center")
    arrow = {"arrowstyle": "->", "color": INK}
    ax.annotate("", (3.6, 3), (2, 3), arrowprops=arrow)
    ax.text(2.8, 3.2, "θ", ha="center")
    ax.annotate("", (7.9, 3), (6.4, 3), arrowprops=arrow)
    ax.text(7.2, 3.2, "product", ha="center")
    curve = {**arrow, "connectionstyle": "arc3,rad=0.35"}
    ax.annotate("", (9, 2.4), (1, 2.4), arrowprops=curve)
    ax.text(5, 1.35, "k", ha="center", style="italic")
    u, v = np.array([[1.0, 2.0]]), np.array([[0.5, -1.0]])
    through, at_once = float((lifted(u) @ lifted(v).T)[0, 0]), Linear().of(lifted)(u, v)[0, 0]
    ax.text(5, 0.3, "u = (1, 2), v = (0.5, −1), θ(u) = (u1, u2, u1² + u2²): "
            f"{through:g} = {at_once:g}", ha="center", size="small")  # fmt: skip


@figure("S2-3.2", "Hinge loss above the 0-1 loss", SCHEME,
        "with two more losses of tamiz.svm.LinearMachine's kind", (6.4, 4.0))  # fmt: skip
def losses(canvas: Any, effort: Effort) -> None:
    """Losses over the margin y f(x)."""
    ax = canvas.subplots()
    m = np.linspace(-2, 2.5, 451)
    drawn: dict[str, np.ndarray] = {
        "0-1": (m <= 0).astype(float),
        "hinge": np.maximum(0, 1 - m),
        "squared hinge": np.maximum(0, 1 - m) ** 2,
        "logistic, in bits": np.logaddexp(0, -m) / np.log(2),
    }
    for (name, values), colour in zip(drawn.items(), (INK, *PALETTE), strict=False):
        thick = 2.2 if name in ("0-1", "hinge") else 1.0
        ax.plot(m, values, color=colour, lw=thick, label=name, ls="-" if thick > 2 else "--")
    ax.set(xlabel="y f(x)", ylabel="loss", ylim=(-0.1, 4))
    ax.legend()


@figure("S2-5.1", "A convex function lies above its tangents; several subgradients at a kink",
        SCHEME, "right: the regularised hinge loss of one sample", (9.0, 3.8))  # fmt: skip
def tangents(canvas: Any, effort: Effort) -> None:
    """A tangent, and the subgradients where there is none."""
    left, right = canvas.subplots(1, 2)
    b = np.linspace(-2, 3, 301)

    def smooth(t: Any) -> Any:
        return 0.4 * (t - 0.5) ** 2 + 0.5

    def kinked(t: Any) -> Any:
        return 0.1 * t**2 + np.maximum(0, 1 - t)

    _tangent(left, b, smooth, 1.6, [0.8 * (1.6 - 0.5)])
    _tangent(right, b, kinked, 1.0, list(np.linspace(-0.8, 0.2, 4)))
    left.set_title("f(u) ≥ f(β) + (u − β) f'(β)", size="medium")
    right.set_title("∂f(1) = [−0.8, 0.2]", size="medium")


def _tangent(
    ax: Any, b: np.ndarray, f: Callable[[Any], Any], at: float, slopes: list[float]
) -> None:
    ax.plot(b, f(b), color=PALETTE[0], lw=2)
    for slope in slopes:
        ax.plot(b, f(at) + slope * (b - at), color=LINE, lw=1)
    ax.plot(at, f(at), "o", color=PALETTE[1])
    ax.set(xlabel="β", ylabel="f", ylim=(-0.5, 3))
