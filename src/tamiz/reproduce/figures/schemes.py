"""Figures that are schemes of algorithms: boxes and arrows, no data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tamiz.display import INK, PALETTE, tint
from tamiz.reproduce.figures.base import SCHEME, Effort, figure

Step = tuple[str, float, float]  # words, and the middle of the box
Arrow = tuple[int, int, str]  # from, to, words


def scheme(canvas: Any, steps: Sequence[Step], arrows: Sequence[Arrow]) -> None:
    """Boxes with words, and arrows between them; units are a tenth of the picture."""
    ax = canvas.subplots()
    ax.set(xlim=(0, 10), ylim=(0, 10))
    ax.set_axis_off()
    box = {"boxstyle": "round,pad=0.6", "fc": tint(PALETTE[0], 0.15), "ec": PALETTE[0]}
    boxes = [
        ax.text(x, y, words, ha="center", va="center", bbox=box).get_bbox_patch()
        for words, x, y in steps
    ]
    for start, end, words in arrows:
        (_, x1, y1), (_, x2, y2) = steps[start], steps[end]
        ax.annotate(
            "", (x2, y2), (x1, y1),
            arrowprops={"arrowstyle": "->", "color": INK, "patchA": boxes[start],
                        "patchB": boxes[end], "shrinkA": 2, "shrinkB": 2},
        )  # fmt: skip
        level = abs(y1 - y2) < 0.1
        ax.text((x1 + x2) / 2 + (0.0 if level else 0.12), (y1 + y2) / 2 + (0.2 if level else 0.0),
                words, size="small", ha="center" if level else "left",
                va="bottom" if level else "center")  # fmt: skip


@figure("S1-3", "HO-SVM: features leave one by one while the held-out error allows it", SCHEME,
        "tamiz.embedded.HoldOutSVM", (8.4, 4.6))  # fmt: skip
def hold_out(canvas: Any, effort: Effort) -> None:
    """The loop of HO-SVM."""
    scheme(
        canvas,
        [
            ("choose kernel, C, γ", 1.7, 8.6),
            ("split: train and\nvalidation samples", 5.0, 8.6),
            ("train the machine", 8.3, 8.6),
            ("E(−p) on validation\nsamples for every p", 8.3, 5.0),
            ("drop the p of\nleast E(−p)", 5.0, 5.0),
            ("stop: what is left\nis selected", 8.3, 1.4),
        ],
        [(0, 1, ""), (1, 2, ""), (2, 3, ""), (3, 4, "else"), (4, 1, "again"),
         (3, 5, "worse than E")],
    )  # fmt: skip


@figure("S3-2.1", "A wrapper: a search proposes, a classifier judges", SCHEME,
        "tamiz.search; the judge is any estimator", (8.4, 4.0))  # fmt: skip
def wrapper(canvas: Any, effort: Effort) -> None:
    """Search apart from evaluation."""
    scheme(
        canvas,
        [
            ("training samples", 1.7, 7.6),
            ("search proposes\na subset", 5.0, 7.6),
            ("features chosen", 8.3, 7.6),
            ("judge: classifier\nas a black box", 5.0, 3.0),
            ("final evaluation", 8.3, 3.0),
        ],
        [(0, 1, ""), (1, 2, "best"), (1, 3, "subset and its error"), (3, 1, ""), (2, 4, "")],
    )


_QPFS = [
    ("samples, M features", 1.7, 8.4),
    ("similarities Q,\nrelevances F", 5.0, 8.4),
    ("Q = UΛU′", 8.3, 8.4),
    ("k eigenvalues above δ:\nproblem in y ∈ Rᵏ", 8.3, 5.0),
    ("quadratic program", 5.0, 5.0),
    ("x = Ũy: weights\nrank the features", 1.7, 5.0),
]
_ARROWS = [(0, 1, ""), (1, 2, ""), (2, 3, ""), (3, 4, ""), (4, 5, "")]


@figure("S3-3.1", "The algorithm QPFS", SCHEME, "tamiz.filters.QPFS", (8.4, 4.2))
def qpfs(canvas: Any, effort: Effort) -> None:
    """From similarities to weights."""
    scheme(canvas, _QPFS, _ARROWS)


@figure("S3-3.2", "QPFS with Nyström's method", SCHEME, "tamiz.filters.QPFS(nystroem=...)",
        (8.4, 4.2))  # fmt: skip
def qpfs_nystroem(canvas: Any, effort: Effort) -> None:
    """Only a sample of the rows of Q is computed."""
    steps = list(_QPFS)
    steps[1] = ("pM sampled features:\nblocks A, B of Q, and F", 5.0, 8.4)
    steps[2] = ("Ũ, Λ̃ from A and\nA⁻½BB′A⁻½", 8.3, 8.4)
    scheme(canvas, steps, _ARROWS)
