"""The way from a table to predictions: preparation, selector, judge; and rankings of all data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from tamiz.base import Selection
from tamiz.data import Dataset
from tamiz.evaluation.comparison.select import preparing_steps
from tamiz.evaluation.judges import judge_name, make_judge
from tamiz.evaluation.methods import find_method
from tamiz.runtime.progress import Progress


def rank_all(
    dataset: Dataset,
    methods: Sequence[str],
    scale: str | None,
    random_state: int,
    *,
    verbose: bool | int = 0,
    notes: list[str] | None = None,
) -> dict[str, Selection]:
    """The ranking of all data by each method, in a table prepared as the judges get it.

    With a list of ``notes``, a method that fails is noted there and left out, and so are those that
    Ctrl-C leaves no time for: what was compared before is not lost.
    """
    X = dataset.X
    for _, step in preparation(dataset, scale):
        X = step.fit_transform(X)
    found: dict[str, Selection] = {}
    with Progress("rank", verbose) as progress:
        for name in methods:
            progress.update(f"{len(found)} of {len(methods)} methods on all data ({name})")
            try:
                selector = _selector(dataset, name, None, random_state)
                selector.fit(X, dataset.y)
            except KeyboardInterrupt:
                if notes is None:
                    raise
                notes.append(f"Interrupted in the ranking of all data by {name}.")
                break
            except Exception as error:
                if notes is None:
                    raise
                notes.append(f"The ranking of all data by {name} failed: {error}")
                continue
            selector.selection_.names = list(dataset.feature_names)
            found[name] = selector.selection_
    return found


def make_pipeline_for(
    dataset: Dataset, method: str, judge: str, size: int | None, scale: str | None, seed: int | None
) -> Pipeline:
    """Preparation, selector and judge in a row; ``size=None`` leaves the number to the method.

    Gaps are filled even if the table has none, since new tables may have some. Without selection
    (``method="all"``) there is no step for it.
    """
    task = dataset.task or "classification"
    dense = not sparse.issparse(dataset.X)
    steps = preparation(dataset, scale, gaps=dense or None)
    if find_method(method).name != "all":
        steps.append(("select", _selector(dataset, method, size, seed)))
    elif size is not None:
        raise ValueError(f"{method!r} takes every feature; leave out the number {size}.")
    last = make_judge(judge_name(judge), task, scale is not None)
    if "random_state" in last.get_params():
        last.set_params(random_state=seed)
    return Pipeline([*steps, ("judge", last)])


def preparation(
    dataset: Dataset, scale: str | None, *, gaps: bool | None = None
) -> list[tuple[str, Any]]:
    """What happens to a table before a selector sees it: gaps filled, features scaled.

    ``gaps`` says whether gaps are filled; by default if there are some.
    """
    has_gaps = bool(np.sum(dataset.missing))
    return preparing_steps(has_gaps if gaps is None else gaps, scale, sparse.issparse(dataset.X))


def _selector(dataset: Dataset, name: str, size: int | None, seed: int | None) -> Any:
    method = find_method(name)
    params: dict[str, Any] = {} if size is None else {"n_features_to_select": int(size)}
    selector = method.make(
        task=dataset.task or "classification", n_features=dataset.n_features, **params
    )
    if size is None and method.greedy:  # ranks only as far as it is asked to
        selector.set_params(n_features_to_select=min(dataset.n_features, 200))
    if "random_state" in selector.get_params():
        selector.set_params(random_state=seed)
    return selector
