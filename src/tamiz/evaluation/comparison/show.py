"""A comparison as text, as tables, and as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.display import axes, colours, counted, frames, text_table

if TYPE_CHECKING:
    import pandas as pd

    from tamiz.evaluation.comparison.result import Comparison, Estimate


#: What is there to be beaten.
BASELINES = ("random", "all")


def describe(found: Comparison) -> str:
    """What ``print`` shows."""
    n_repeats = len(np.unique(found.repeat))
    splits = f"{len(found.repeat)} splits"
    if n_repeats > 1:
        splits = f"{len(found.repeat) // n_repeats} folds × {n_repeats} repeats"
    lines = [
        f"{counted(len(found.methods), 'method')} on {found.n_samples} samples × "
        f"{found.n_features} features, {splits}"
    ]
    if found.status != "complete":
        done = np.isfinite(found.select_seconds).sum()
        total = found.select_seconds.size
        why = "by Ctrl-C or a callback" if found.status == "interrupted" else "by the time budget"
        lines.append(f"CUT SHORT {why}: {done} of {total} units are done; means are over those.")
    estimates = found.estimates()
    lines += ["", *_table(found, estimates), "", *_explained(found)]
    lines += bias_sentence(found, estimates)
    lines += [f"Note: {note}" for note in found.notes]
    return "\n".join(lines)


def _table(found: Comparison, estimates: list[Estimate]) -> list[str]:
    unit = " %" if found.error_is_rate else ""
    level = f"{100 * found.confidence:g} %"
    head = ["method", "judge", "size", f"honest {found.metric}{unit}", f"{level} interval"]
    head += ["apparent", "selection bias", "seconds"]
    rows = []
    for one in estimates:
        short = one.n_splits < len(found.repeat)
        rows.append(
            [
                one.method + (" (own size)" if _has_two(estimates, one) else ""),
                one.judge,
                "–" if np.isnan(one.size) else f"{one.size:.0f}",
                number(found, one.error) + ("*" if short else ""),
                f"{number(found, one.low)} – {number(found, one.high)}",
                number(found, one.apparent),
                number(found, one.bias, signed=True),
                _seconds(one.select_seconds),
            ]
        )
    text = text_table(head, rows, right=range(2, len(head)), rule=True)
    if any(row[3].endswith("*") for row in rows):
        text.append(f"* fewer than the {len(found.repeat)} splits have a value.")
    return text


def _explained(found: Comparison) -> list[str]:
    how = "an inner cross-validation" if found.nested else "the other folds of the repeat"
    rule = "least error" if found.rule == "best" else "one standard error"
    if found.nested:
        what = (
            "imputation, scale, ranking and number of features come from the training part alone;"
        )
    else:  # the samples that judge helped to train the machines that chose
        what = "imputation, scale and ranking come from the training part alone; of the features"
    return [
        f"Honest: {what}",
        f"the number is chosen by {how} (rule: {rule}). Size: chosen on all splits.",
        "Apparent: the same steps with the features ranked on all data first. Intervals: of the",
        "mean, corrected for overlapping training parts (Nadeau, Bengio). Seconds: one selection.",
    ]


def bias_sentence(found: Comparison, estimates: list[Estimate]) -> list[str]:
    """What ranking the features on all data would have promised."""
    known = [one for one in estimates if np.isfinite(one.bias)]
    known = [one for one in known if one.method not in BASELINES] or known
    if not known:
        return []
    worst = max(known, key=lambda one: one.bias)
    unit, by = (" %", " points") if found.error_is_rate else ("", "")
    if worst.bias <= 0:
        return ["Selection bias: no method looks better with its features ranked on all data."]
    return [
        "Selection bias: with its features ranked on all data before the cross-validation,",
        f"{worst.method} would seem to err {number(found, worst.apparent)}{unit}; honestly it errs "
        f"{number(found, worst.error)}{unit}: {number(found, worst.bias)}{by} more"
        + (", within its interval." if worst.low <= worst.apparent else "."),
    ]


def number(found: Comparison, value: float, signed: bool = False) -> str:
    """An error as it is shown: in per cent where it is a fraction."""
    if np.isnan(value):
        return "–"
    sign = "+" if signed else ""
    value = 0.0 if abs(value) < 1e-9 else value  # a difference of equals
    return format(100 * value, f"{sign}.1f") if found.error_is_rate else format(value, f"{sign}.4g")


def _has_two(estimates: list[Estimate], one: Estimate) -> bool:
    """Whether a method is listed with a chosen and with its own size, and this is the latter."""
    return one.kind == "own" and any(
        other.kind == "chosen" and other.method == one.method and other.judge == one.judge
        for other in estimates
    )


def _seconds(value: float) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:.1f}" if value >= 10 else f"{value:.3f}" if value >= 0.0005 else "<0.001"


def long_table(found: Comparison) -> pd.DataFrame:
    """A row for each method, judge, repeat, fold and size."""
    pd = frames()
    blocks = []
    for m, method in enumerate(found.methods):
        for j, judge in enumerate(found.judges):
            where: dict[str, Any] = {
                "method": method,
                "judge": judge,
                "repeat": found.repeat,
                "fold": found.fold,
                "select_seconds": found.select_seconds[m],
            }
            curve = found.errors[m, j]
            for c, size in enumerate(found.sizes if np.isfinite(curve).any() else ()):
                values = {
                    "size": float(size),
                    "error": curve[:, c],
                    "apparent_error": found.apparent_errors[m, j, :, c],
                }
                blocks.append(pd.DataFrame({**where, "kind": "curve", **values}))
            for kind, sizes, errors, apparent in (
                ("chosen", found.nested_sizes[m, j], found.nested_errors[m, j], np.nan),
                (
                    "own",
                    found.own_sizes[m],
                    found.own_errors[m, j],
                    found.own_apparent_errors[m, j],
                ),
            ):
                if np.isfinite(errors).any():
                    values = {"size": sizes, "error": errors, "apparent_error": apparent}
                    blocks.append(pd.DataFrame({**where, "kind": kind, **values}))
    columns = ["method", "judge", "kind", "size", "repeat", "fold", "error", "apparent_error"]
    columns.append("select_seconds")
    if not blocks:
        return pd.DataFrame(columns=columns)
    return pd.concat(blocks, ignore_index=True)[columns]


def curve_table(found: Comparison) -> pd.DataFrame:
    """A row for each method, judge and size."""
    pd = frames()
    blocks = []
    for method in found.methods:
        for judge in found.judges:
            curve = found.curve(method, judge)
            if np.isfinite(curve.error).any():
                blocks.append(
                    pd.DataFrame({"method": method, "judge": judge, **curve._asdict()}).rename(
                        columns={"sizes": "size"}
                    )
                )
    if not blocks:
        names = ["size", "error", "low", "high", "apparent", "bias"]
        return pd.DataFrame(columns=["method", "judge", *names])
    return pd.concat(blocks, ignore_index=True)


def as_dict(found: Comparison) -> dict[str, Any]:
    """Everything but the single errors, which ``to_frame`` has; rankings by position."""
    curves = [
        {"method": method, "judge": judge, **found.curve(method, judge)._asdict()}
        for method in found.methods
        for judge in found.judges
        if np.isfinite(found.curve(method, judge).error).any()
    ]
    return {
        "methods": found.methods,
        "judges": found.judges,
        "metric": found.metric,
        "n_samples": found.n_samples,
        "n_features": found.n_features,
        "n_splits": len(found.repeat),
        "n_repeats": len(np.unique(found.repeat)),
        "confidence": found.confidence,
        "rule": found.rule,
        "nested": found.nested,
        "status": found.status,
        "estimates": [one._asdict() for one in found.estimates()],
        "curves": curves,
        "frequent": {name: _frequent(found, name) for name in found.methods},
        "notes": found.notes,
        "failures": found.failures,
        "params": found.params,
        "seed": found.seed,
        "seconds": found.seconds,
    }


def _frequent(found: Comparison, method: str, most: int = 50) -> list[dict[str, Any]]:
    """The features selected most often at the chosen size."""
    try:
        masks = found.masks(method)
    except ValueError:
        return []
    fraction = masks.mean(axis=0)
    first = np.argsort(-fraction, kind="stable")[:most]
    return [
        {"name": found.names[j], "index": int(j), "share": float(fraction[j])}
        for j in first
        if fraction[j] > 0
    ]


_MARKS = "osD^vPX*<>"
#: More methods than this get a picture each.
_MOST_TOGETHER = 4


def plot_curves(
    found: Comparison,
    methods: Sequence[str] | None,
    judge: str | None,
    apparent: bool,
    ax: Any,
) -> Any:
    """Honest errors solid with intervals, apparent ones dashed.

    A few methods share one picture, one for each judge; many would cover each other, and get a
    picture each.
    """
    judges = found.judges if judge is None and ax is None else [judge or found.judges[0]]
    drawn = list(found.methods if methods is None else methods)
    for name in drawn:
        found.curve(name, judges[0])  # says so if there is none
    curved = [name for name in drawn if np.isfinite(found.curve(name, judges[0]).error).any()]
    if ax is None and len(judges) == 1 and len(curved) > _MOST_TOGETHER:
        return _panels(found, curved, judges[0], apparent, "all" in drawn)
    if len(judges) == 1:
        return _curves(found, drawn, judges[0], apparent, axes(ax, height=4.8))
    first = axes(None, height=4.8)  # says so if matplotlib is missing
    figure = first.figure
    first.remove()
    figure.set_size_inches(6.5 * len(judges), 4.8)
    several = figure.subplots(1, len(judges), sharey=True)
    for place, name in zip(several, judges, strict=True):
        _curves(found, drawn, name, apparent, place)
    return several


def _curves(found: Comparison, drawn: list[str], judge: str, apparent: bool, ax: Any) -> Any:
    """All methods in one picture."""
    some = False
    bands = len(drawn) <= _MOST_TOGETHER + len(BASELINES)
    for k, name in enumerate(drawn):
        if not np.isfinite(found.curve(name, judge).error).any():
            _level(found, name, judge, ax)
            continue
        some |= _one_curve(found, name, judge, apparent, ax, _MARKS[k % len(_MARKS)], bands)
    if some:
        ax.plot([], [], color="0.3", lw=1.7, label="honest")
        ax.plot([], [], color="0.3", lw=1.1, ls="--", label="ranked on all data")
    _finish_axes(found, ax)
    ax.set(ylabel=_what(found), title=f"judge: {judge}")
    # beside the picture, where it covers nothing
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize="small")
    return ax


def _panels(found: Comparison, drawn: list[str], judge: str, apparent: bool, level: bool) -> Any:
    """A picture for each method, the others faint behind it."""
    first = axes(None)
    figure = first.figure
    first.remove()
    n_columns = 4 if len(drawn) > 6 else 3
    n_rows = -(-len(drawn) // n_columns)
    figure.set_size_inches(2.8 * n_columns, 2.5 * n_rows + 0.9)
    several = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False).ravel()
    factor = 100.0 if found.error_is_rate else 1.0
    for place, name in zip(several, drawn, strict=False):
        for other in drawn:
            curve = found.curve(other, judge)
            place.plot(curve.sizes, factor * curve.error, color="0.82", lw=0.9, zorder=1)
        if level:
            _level(found, "all", judge, place)
        _one_curve(found, name, judge, apparent, place, "o", True)
        place.set_title(name, fontsize="medium", color=_colour(found, name))
    for k, place in enumerate(several):
        _finish_axes(found, place, most=5)  # limits are shared: when all is drawn
        lowest = k + n_columns >= len(drawn)
        place.set_visible(k < len(drawn))
        place.set_xlabel("number of features" if lowest else "")
        place.tick_params(labelbottom=lowest)
    figure.supylabel(f"{_what(found)}, judge: {judge}", fontsize="medium")
    handles = [
        several[0].plot([], [], color="0.3", lw=1.7, marker="o", ms=4)[0],
        several[0].fill_between([], [], [], color="0.3", alpha=0.18, lw=0),
    ]
    labels = ["honest", f"its {100 * found.confidence:g} % interval"]
    if apparent:
        handles.append(several[0].plot([], [], color="0.3", lw=1.1, ls="--")[0])
        labels.append("ranked on all data")
    handles.append(several[0].plot([], [], color="0.82", lw=0.9)[0])
    labels.append("the other methods")
    if level:
        handles.append(several[0].plot([], [], color="0.1", lw=1.3, ls="-.")[0])
        labels.append("all features")
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return several[: len(drawn)]


def _one_curve(
    found: Comparison, name: str, judge: str, apparent: bool, ax: Any, mark: str, band: bool
) -> bool:
    """Draw a method; whether it has an apparent curve."""
    factor = 100.0 if found.error_is_rate else 1.0
    curve, colour = found.curve(name, judge), _colour(found, name)
    if band:
        low, high = factor * curve.low, factor * curve.high
        ax.fill_between(curve.sizes, low, high, color=colour, alpha=0.14, lw=0)
    ax.plot(curve.sizes, factor * curve.error, color=colour, marker=mark, ms=4, lw=1.7, label=name)
    if not apparent or not np.isfinite(curve.apparent).any():
        return False
    ax.plot(curve.sizes, factor * curve.apparent, color=colour, ls="--", lw=1.1)
    return True


def _level(found: Comparison, name: str, judge: str, ax: Any) -> None:
    """A method without a ranking: a level line."""
    one = found.estimate(name, judge)
    if np.isfinite(one.error):
        label = "all features" if name == "all" else f"{name} (own size)"
        height = one.error * (100.0 if found.error_is_rate else 1.0)
        ax.axhline(height, color=_colour(found, name), lw=1.3, ls="-.", label=label)


def _finish_axes(found: Comparison, ax: Any, most: int = 9) -> None:
    if found.sizes[-1] > 10 * found.sizes[0]:
        ax.set_xscale("log")
        shown = _ticks(found.sizes, most)
        ax.set_xticks(shown, [str(size) for size in shown])
        ax.minorticks_off()
    ax.set_xlabel("number of features")
    if found.error_is_rate:
        low, high = ax.get_ylim()
        ax.set_ylim(bottom=min(-0.03 * high, low))  # an error of zero is not on the frame
    ax.grid(alpha=0.25)


def _what(found: Comparison) -> str:
    return f"{found.metric}{' (%)' if found.error_is_rate else ''}"


def plot_bias(found: Comparison, judge: str | None, ax: Any) -> Any:
    """A line for each method from its apparent to its honest error."""
    found._place(found.methods[0], judge)  # says so if there is none
    lines = [one for one in found.estimates() if judge is None or one.judge == judge]
    lines = [one for one in lines if np.isfinite(one.error)][::-1]
    ax = axes(ax, height=1.4 + 0.35 * len(lines))
    factor = 100.0 if found.error_is_rate else 1.0
    several = len({one.judge for one in lines}) > 1
    labels = []
    for k, one in enumerate(lines):
        colour = _colour(found, one.method)
        ax.plot([factor * one.low, factor * one.high], [k, k], color=colour, lw=5, alpha=0.22)
        ax.plot(factor * one.error, k, "o", color=colour, ms=7)
        if np.isfinite(one.apparent):
            ax.plot([factor * one.apparent, factor * one.error], [k, k], color=colour, lw=1.2)
            ax.plot(factor * one.apparent, k, "o", mfc="white", color=colour, ms=7)
        own = " (own size)" if one.kind == "own" and one.method != "all" else ""
        labels.append(one.method + own + (f", {one.judge}" if several else ""))
    ax.plot([], [], "o", color="0.3", label="honest, with interval")
    ax.plot([], [], "o", mfc="white", color="0.3", label="ranked on all data")
    ax.set_yticks(range(len(lines)), labels)
    ax.set(
        xlabel=f"{found.metric}{' (%)' if found.error_is_rate else ''}",
        ylim=(-0.6, len(lines) - 0.4),
    )
    ax.grid(alpha=0.25, axis="x")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    return ax


def plot_stability(found: Comparison, methods: Sequence[str] | None, ax: Any) -> Any:
    """Nogueira's measure by number of features."""
    drawn = [name for name in (found.methods if methods is None else methods) if name != "all"]
    ax = axes(ax)
    for k, name in enumerate(drawn):
        found.curve(name)  # says so if there is none
        if any(order is not None for order in found.orders[name]):
            sizes, values = found.stability_by_size(name)
            mark = _MARKS[k % len(_MARKS)]
            ax.plot(sizes, values, color=_colour(found, name), marker=mark, ms=4, label=name)
    _finish_axes(found, ax)
    ax.set_ylabel("stability (Nogueira)")
    ax.axhline(0.0, color="0.6", lw=1)
    ax.grid(alpha=0.25)
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize="small")
    return ax


def plot_sizes(found: Comparison, judge: str | None, ax: Any) -> Any:
    """A point for each split."""
    ax = axes(ax, height=1.4 + 0.4 * len(found.methods))
    _, j = found._place(found.methods[0], judge)
    names = [name for name in found.methods if name != "all"][::-1]
    rng = np.random.default_rng(0)
    for k, name in enumerate(names):
        m = found.methods.index(name)
        colour = _colour(found, name)
        for values, face, label in (
            (found.nested_sizes[m, j], colour, "chosen"),
            (found.own_sizes[m], "none", "own"),
        ):
            there = values[np.isfinite(values)]
            height = k + rng.uniform(-0.2, 0.2, len(there))
            ax.scatter(there, height, s=16, facecolors=face, edgecolors=colour, alpha=0.7)
            if k == 0:
                ax.scatter([], [], s=16, facecolors="0.3" if label == "chosen" else "none",
                           edgecolors="0.3", label=label)  # fmt: skip
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel="number of features", xscale="symlog", ylim=(-0.6, len(names) - 0.4))
    ax.grid(alpha=0.25, axis="x")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    return ax


def _colour(found: Comparison, name: str) -> str:
    if name in BASELINES:  # grey, whatever else is drawn
        return "0.45" if name == "random" else "0.1"
    others = [method for method in found.methods if method not in BASELINES]
    return colours(len(others))[others.index(name)]


def _ticks(sizes: np.ndarray, most: int) -> list[int]:
    """As many sizes as there is room for."""
    step = -(-len(sizes) // most)
    return [int(size) for size in sizes[::step]]
