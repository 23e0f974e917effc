"""Tables of a comparison: long, by curve, and plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from tamiz.evaluation.comparison.result import Comparison


def pandas() -> Any:
    """The package, or a sentence."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "tables of a comparison need pandas; install it with: pip install 'tamiz[frames]'"
        ) from None
    return pd


def long_table(found: Comparison) -> pd.DataFrame:
    """A row for each method, judge, repeat, fold and size."""
    pd = pandas()
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
    pd = pandas()
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
    share = masks.mean(axis=0)
    first = np.argsort(-share, kind="stable")[:most]
    return [
        {"name": found.names[j], "index": int(j), "share": float(share[j])}
        for j in first
        if share[j] > 0
    ]
