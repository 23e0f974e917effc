"""What adjusting for covariates changes: how much they explain, and which features they decide."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.base import json_ready, order_by
from tamiz.evaluation.comparison.fold import prepared, try_to_rank
from tamiz.evaluation.comparison.setting import WHOLE, Failures, Kept, Setting
from tamiz.evaluation.scaler import CovariateAdjuster, preparing_steps

if TYPE_CHECKING:
    from tamiz.evaluation.study.result import Study


@dataclass
class Adjustment:
    """Features before and after.

    Attributes
    ----------
    columns : list of str
        The covariates.
    method : str
        The recommended method, which ranked all rows with and without them.
    explained : array of shape (n_features,)
        Fraction of the variance of each feature that they explain; of a feature with several
        columns, the largest.
    left, entered : list of int
        Features among the first only without adjusting, and only with it, as many as are
        recommended.
    """

    columns: list[str]
    method: str
    explained: np.ndarray
    left: list[int]
    entered: list[int]

    def most_explained(self) -> list[int]:
        """Features by how much the covariates explain, those with a tenth or more."""
        return [int(j) for j in order_by(self.explained) if self.explained[j] >= 0.1]

    def to_dict(self, names: list[str]) -> dict[str, Any]:
        """Plain values; features by name."""
        return json_ready(
            {
                "columns": self.columns,
                "method": self.method,
                "mean_explained": float(self.explained.mean()),
                "explained": {names[j]: float(self.explained[j]) for j in self.most_explained()},
                "left": [names[j] for j in self.left],
                "entered": [names[j] for j in self.entered],
            }
        )


def what_changes(study: Study, setting: Setting) -> Adjustment | None:
    """The features of all rows as the recommended method ranks them, with and without adjusting."""
    best, found = study.recommended, study.comparison
    if best is None or found is None or setting.covariates is None:
        return None
    everyone = np.arange(len(setting.y))
    plain = replace(setting, covariates=None, kept=Kept())
    Z, _ = prepared(plain, everyone, everyone[:1], (WHOLE,))
    ranking = try_to_rank(
        plain, best.method, Z, np.arange(len(setting.y)), (WHOLE,), Failures(setting, "")
    )
    with_them = found.whole_orders.get(best.method)
    left: list[int] = []
    entered: list[int] = []
    if ranking is not None and ranking.order is not None and with_them is not None:
        before, after = ranking.order[: best.size].tolist(), with_them[: best.size].tolist()
        left = [j for j in before if j not in after]
        entered = [j for j in after if j not in before]
    return Adjustment(study.params["adjust"], best.method, _explained(setting), left, entered)


def _explained(setting: Setting) -> np.ndarray:
    assert setting.covariates is not None
    table: Any = np.hstack([setting.X, setting.covariates])
    for _, step in preparing_steps(setting.has_missing, None, False):
        table = step.fit_transform(table)
    last = range(setting.X.shape[1], table.shape[1])
    explained = CovariateAdjuster(list(last)).fit(table).explained_
    if setting.units is None:
        return explained
    return np.array([explained[columns].max() for columns in setting.units])
