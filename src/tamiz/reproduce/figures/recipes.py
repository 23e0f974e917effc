"""Figures of errors and times: those of the recipes P1 to P7, as curves and maps."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tamiz.display import LINE, PALETTE, colours
from tamiz.neighbors import choose_k
from tamiz.reproduce import p1, p3, p4, p6, p7
from tamiz.reproduce.base import Experiment, Found, e1071_scale, read, split
from tamiz.reproduce.figures.base import FIGURES, LIKE, SAME, Effort, SourceFigure, figure, missing
from tamiz.search import BackwardElimination, ForwardSelection
from tamiz.svm import SVC


def repeated(part: Experiment, effort: Effort, own: int, quick: bool = False) -> list[Found]:
    """Values of some repeats of an experiment."""
    ready = part.prepare(quick, effort.seed)
    return [part.repeat(ready, effort.seed + k) for k in range(effort.times(own))]


# --------------------------------------------------------------------- S0: the vertebral column


def _vertebral(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training and test part, standardised, of a split with the printed class counts."""
    X, y, _ = read("vertebral_2c")
    ill = y == "Abnormal"
    train = p1.training_part(ill, seed)
    Z, T = e1071_scale(X[train], X[~train])
    return Z, ill[train], T, ill[~train]


@figure("S0-3.1", "Accuracy of radial machines over C and γ", SAME,
        "means over 20 splits with the printed class counts beside the printed numbers of one "
        "split; C = 2, γ = 0.01 is a misprint", (9.4, 3.6))  # fmt: skip
def accuracy_map(canvas: Any, effort: Effort) -> None:
    """A map of ours beside the printed one."""
    costs, gammas = (sorted({key[k] for key in p1.RADIAL}) for k in (0, 1))
    ours = np.zeros((len(costs), len(gammas)))
    printed = np.array([[p1.RADIAL[C, gamma][2] for gamma in gammas] for C in costs])
    n = effort.times(20)
    for k in range(n):
        Z, y, T, t = _vertebral(effort.seed + k)
        for i, C in enumerate(costs):
            for j, gamma in enumerate(gammas):
                ours[i, j] += SVC(C=C, gamma=gamma).fit(Z, y).score(T, t) / n
    axes = canvas.subplots(1, 2)
    shown = [(ours, f"ours, mean over {n} splits"), (printed, "printed, one split")]
    for ax, (values, title) in zip(axes, shown, strict=True):
        mesh = _cells(ax, values, costs, gammas, "{:.3f}", vmin=0.75, vmax=0.89)
        ax.set_title(title, size="medium")
    canvas.colorbar(mesh, ax=axes, label="accuracy")


def _cells(ax: Any, values: np.ndarray, rows: Any, columns: Any, form: str, **options: Any) -> Any:
    """A map with its numbers written into it."""
    mesh = ax.imshow(values, cmap="Blues", aspect="auto", origin="lower", **options)
    for (i, j), value in np.ndenumerate(values):
        dark = mesh.norm(value) > 0.6
        ax.text(j, i, form.format(value), ha="center", va="center", size="x-small",
                color="white" if dark else "black")  # fmt: skip
    ax.set_xticks(range(len(columns)), [f"{c:g}" for c in columns])
    ax.set_yticks(range(len(rows)), [f"{r:g}" for r in rows])
    ax.set(xlabel="γ", ylabel="C")
    return mesh


@figure("S0-3.3", "Fit to the training part while features are removed", SAME,
        "20 splits with the printed class counts, thin, and their mean; the printed best is 0.885 "
        "with four features", (6.4, 4.0))  # fmt: skip
def backward(canvas: Any, effort: Effort) -> None:
    """Sequential backward elimination."""
    _fits(canvas.subplots(), effort, BackwardElimination, "drop", (4, 0.885))


@figure("S0-3.4", "Fit to the training part while features are added", SAME,
        "20 splits with the printed class counts, thin, and their mean; the printed best is 0.899 "
        "with five features", (6.4, 4.0))  # fmt: skip
def forward(canvas: Any, effort: Effort) -> None:
    """Sequential forward selection."""
    _fits(canvas.subplots(), effort, ForwardSelection, "add", (5, 0.899))


def _fits(ax: Any, effort: Effort, search: Any, action: str, best: tuple[int, float]) -> None:
    curves = []
    for k in range(effort.times(20)):
        Z, y, _, _ = _vertebral(effort.seed + k)
        everything = np.arange(len(y))
        found = search(SVC(C=1.0, gamma="auto"), cv=[(everything, everything)]).fit(Z, y)
        fits = {step.n_features: step.value for step in found.selection_.path
                if step.action == action}  # fmt: skip
        fits[6] = float(SVC(C=1.0, gamma="auto").fit(Z, y).score(Z, y))
        fits.pop(0, None)
        curves.append([fits.get(size, np.nan) for size in range(1, 7)])
        ax.plot(range(1, 7), curves[-1], color=LINE, lw=0.4, alpha=0.7)
    ax.plot(range(1, 7), np.nanmean(curves, axis=0), color=PALETTE[0], marker="o", lw=2,
            label="mean of ours")  # fmt: skip
    ax.plot(*best, "D", color=PALETTE[1], label="printed best")
    ax.set(xlabel="number of features", ylabel="fit to the training part")
    if action == "drop":
        ax.invert_xaxis()
    ax.legend(fontsize="small")


# ------------------------------------------------------------------------------------ S1: HO-SVM


@dataclass(frozen=True)
class SizeCurves:
    """Error over the number of ranked features: rankings of P3, made inside each training part."""

    parts: tuple[p3.Rankings, ...] = tuple(
        part for part in p3.RECIPE.parts if isinstance(part, p3.Rankings)
    )
    sizes: dict[str, tuple[int, ...]] = field(
        default_factory=lambda: {
            "WBC": (1, 2, 3, 5, 8, 12, 16, 20, 25, 30),
            "CRMA": (5, 10, 20, 50, 100, 200, 500, 1000, 2000),
            "german_numeric": (1, 2, 4, 6, 9, 12, 16, 20, 24),
            "hmeq": (1, 2, 3, 4, 5, 6, 8, 10),
        }
    )
    methods: tuple[str, ...] = ("Fisher", "FSV", "RFE", "HO-SVM")

    def errors(self, part: p3.Rankings, effort: Effort, own: int = 5) -> np.ndarray:
        """Errors in %, (splits, methods, sizes)."""
        X, y = part.prepare(True, effort.seed)[:2]
        makers, sizes = part.methods(), self.sizes[part.name]
        found = []
        for k in range(effort.times(own)):
            seed = effort.seed + k
            train, test = split(np.random.default_rng(seed), y)
            Z = part.scale(X, X[train])
            rows = []
            for name in self.methods:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    order = makers[name](seed).fit(Z[train], y[train]).order_
                rows.append(
                    [100.0 - part.accuracy(Z, y, train, test, order[:size]) for size in sizes]
                )
            found.append(rows)
        return np.array(found)

    def draw(self, canvas: Any, effort: Effort) -> None:
        """A panel for each data set."""
        axes = canvas.subplots(2, 2).ravel()
        for letter, ax, part in zip("abcd", axes, self.parts, strict=False):
            errors = self.errors(part, effort)
            sizes = self.sizes[part.name]
            for name, colour, curve in zip(
                self.methods, PALETTE, errors.mean(axis=0), strict=False
            ):
                ax.plot(sizes, curve, marker="o", ms=3, color=colour, label=name)
            if sizes[-1] > 100:
                ax.set_xscale("log")
            ax.set(xlabel="number of features", ylabel="error in %")
            ax.set_title(f"({letter}) {part.name}", size="medium")
        axes[0].legend(fontsize="small")


FIGURES["S1-4"] = SourceFigure(
    "S1-4",
    "Mean error over the number of ranked features, four methods, four data sets",
    LIKE,
    "(a) and (b) are the data of the source, means over 5 splits, ranked inside each training "
    "part; (c) and (d) are private, and two public credit sets stand in",
    (9.0, 6.6),
    SizeCurves().draw,
)


# ------------------------------------------------------------------------------------ S2: digits


@dataclass(frozen=True)
class ErrorMap:
    """Error of ten folds over γ and C."""

    part: p6.PrintedFolds = field(default_factory=p6.PrintedFolds)

    def draw(self, canvas: Any, effort: Effort) -> None:
        """Levels between the cells, and the least error marked."""
        (found,) = repeated(self.part, Effort(1, effort.seed), 1)
        cells = self.part.cells
        values = np.array(found["errors"])
        ax = canvas.subplots()
        x, y = np.log10(cells.gammas), np.log10(cells.costs)
        levels = ax.contourf(x, y, values, np.linspace(0, 0.55, 12), cmap="Blues")
        for (i, j), value in np.ndenumerate(values):
            ax.plot(x[j], y[i], ".", color=LINE)
            ax.annotate(
                f"{value:.3f}", (x[j], y[i]), xytext=(0, 8), textcoords="offset points",
                ha="center", va="bottom", size="x-small", annotation_clip=False,
                bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.8},
            )  # fmt: skip
        i, j = np.unravel_index(values.argmin(), values.shape)
        ax.plot(x[j], y[i], "o", ms=11, mfc="none", mec=PALETTE[1], mew=2)
        ax.set(xlabel="log10 γ", ylabel="log10 C")
        ax.set_title(f"least error {values[i, j]:.4f}: γ = {cells.gammas[j]:g}, "
                     f"C = {cells.costs[i]:g}", size="medium")  # fmt: skip
        ax.set(xlim=(x[0] - 0.3, x[-1] + 0.3), ylim=(y[0] - 0.2, y[-1] + 0.4))
        canvas.colorbar(levels, ax=ax, label="error")


FIGURES["S2-6.2"] = SourceFigure(
    "S2-6.2",
    "Error of ten folds over γ and C, digits 5 and 8",
    SAME,
    "the folds of the source, found by their seed: all printed numbers agree (P6)",
    (6.4, 4.4),
    ErrorMap().draw,
)


# -------------------------------------------------------------------------------------- S3: QPFS


@dataclass(frozen=True)
class QpfsTimes:
    """Processor time over samples or features: mRMR beside QPFS with Nyström's method."""

    axis: str
    part: p4.Timing = field(default_factory=p4.Timing)

    def draw(self, canvas: Any, effort: Effort) -> None:
        """Means over the repeats, on logarithmic axes."""
        found = repeated(self.part, effort, 2, quick=True)
        ax = canvas.subplots()
        for name, colour in zip(("mRMR", "Nyström"), PALETTE, strict=False):
            times = np.mean([values[f"{name} by {self.axis}"] for values in found], axis=0)
            sizes = found[0][self.axis]
            power = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
            called = "QPFS, Nyström 3 %" if name == "Nyström" else f"{name}, full ranking"
            ax.loglog(sizes, times, marker="o", color=colour, label=f"{called}: power {power:.1f}")
        what = "samples N (2,000 features)" if self.axis == "N" else "features M (83 samples)"
        ax.set(xlabel=what, ylabel="processor time, s")
        ax.legend(fontsize="small")


_TIMES = "made-up tables of the shape of gene expression, larger than the source's; its processor \
is not ours"
for _number, _axis, _over in (("4.1", "N", "samples"), ("4.2", "M", "features")):
    FIGURES[f"S3-{_number}"] = SourceFigure(
        f"S3-{_number}", f"Time of mRMR and QPFS over the number of {_over}", LIKE, _TIMES,
        (6.0, 4.0), QpfsTimes(_axis).draw,
    )  # fmt: skip


@dataclass(frozen=True)
class QpfsErrors:
    """Error over the number of features on one data set of P4."""

    part: p4.Curves
    shown: tuple[str, ...]
    own: int = 1

    def draw(self, canvas: Any, effort: Effort) -> None:
        """Means over the repeats."""
        found = repeated(self.part, effort, self.own)
        ax = canvas.subplots()
        plain = {"MaxRel": "0.25", "mRMR": "0.45", "random": "0.75"}
        others = iter(colours(8))
        for name in ("MaxRel", "mRMR", *self.shown, "random"):
            errors = np.mean([values[name] for values in found], axis=0)
            ax.plot(found[0]["sizes"], errors, marker="o", ms=3, label=name,
                    color=plain.get(name) or next(others),
                    ls="--" if name in plain else "-")  # fmt: skip
        ax.set(xlabel="number of features", ylabel="error in %")
        ax.set_title(f"{self.part.name}, {len(found)} times {self.part.n_folds} folds",
                     size="medium")  # fmt: skip
        ax.legend(fontsize="small")


def _alphas(short: str) -> tuple[str, ...]:
    return tuple(f"QPFS {alpha:g} {short}" for alpha in p4.ALPHAS)


_MEASURES = {"corr": "correlation", "MI": "mutual information"}
_OTHER_DATA = {
    "NCI60": "nine_tumors: 60 x 5,726 (Affymetrix) instead of 60 x 1,123 (cDNA)",
    "GCM": "gcm_ramaswamy_1363: 190 x 1,363 instead of 198 x 16,063",
}


def _curves(name: str, nystroem: tuple[float, ...] = ()) -> p4.Curves:
    return p4.Curves(name, (p4.SETS[name],), 1, nystroem=nystroem)


def _enter_curves() -> None:
    """Figures 4.3 to 4.10."""
    plan: list[tuple[str, str, str, tuple[float, ...]]] = [
        ("4.3", "ARR", "corr", ()), ("4.4", "ARR", "MI", ()),
        ("4.5", "NCI60", "corr", ()), ("4.6", "NCI60", "MI", ()),
        ("4.7", "SRBCT", "corr", ()), ("4.8", "SRBCT", "MI", ()),
        ("4.9", "SRBCT", "MI", (0.05, 0.1, 0.5)), ("4.10", "GCM", "MI", (0.03, 0.1)),
    ]  # fmt: skip
    for number, name, short, nystroem in plan:
        shown = _alphas(short)
        title = f"Error over the number of features, {name}: mRMR and QPFS, {_MEASURES[short]}"
        if nystroem:
            shown = ("QPFS 0.1 MI", *(f"QPFS 0.1 MI, Nyström {f:g}" for f in nystroem))
            title = f"Error over the number of features, {name}: QPFS with Nyström's method"
        FIGURES[f"S3-{number}"] = SourceFigure(
            f"S3-{number}",
            title,
            LIKE if name in _OTHER_DATA else SAME,
            f"{_OTHER_DATA.get(name, 'the data of the source')}; one partition into ten folds, "
            "the source 100 (--repeats)",
            (6.4, 4.4),
            QpfsErrors(_curves(name, nystroem), shown).draw,
        )


_enter_curves()
missing(
    "S3-4.11",
    "Error over the number of features, RAT: QPFS with Nyström's method",
    "the RAT data (GEO, GSE2187; 181 x 8,460) were not obtained",
)


# -------------------------------------------------------------------------------------- S4: k-NN


@figure("S4-2", "Error over k: training, ten folds, test; k up to 50 and up to 200", SAME,
        "Pima; a random 30 % to test, measurements as they stand", (9.4, 3.8))  # fmt: skip
def errors_over_k(canvas: Any, effort: Effort) -> None:
    """Two ranges of k."""
    X, y, _ = read("pima")
    for ax, most in zip(canvas.subplots(1, 2, sharey=True), (50, p7.MOST), strict=True):
        found = choose_k(
            X, y, range(1, most + 1), 10, test=p7.TEST, scaling="none", random_state=effort.seed
        )
        found.plot(ax)
        ax.set_title(f"k up to {most}", size="medium")
        ax.set_ylim(0, 0.42)
