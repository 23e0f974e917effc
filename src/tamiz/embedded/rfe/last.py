"""The machine on the selected features, as the elimination left it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.embedded.rfe.machines import Machines
from tamiz.qp.optimality import optimality
from tamiz.solvers import QPResult, Status
from tamiz.svm import SVC
from tamiz.svm.multiclass import BinaryFit, describe
from tamiz.validation.unscaled import inner_fit


def fit_last(svc: SVC, X: Any, y: Any, sample_weight: Any, solved: list[BinaryFit] | None) -> SVC:
    """Fit ``svc``, whose machines are solved already if ``solved`` holds them."""
    if solved is None:
        with inner_fit():
            return svc.fit(X, y, sample_weight)
    given = iter(solved)
    # what a fit needs besides solving: checks of the data, the expansion, the attributes
    svc._fit_task = lambda *_: next(given)  # type: ignore[method-assign]
    svc._report = lambda statuses: None  # type: ignore[method-assign]  # the elimination does
    try:
        with inner_fit():
            return svc.fit(X, y, sample_weight)
    finally:
        del svc._fit_task, svc._report


def described(machines: Machines, b: np.ndarray, g: np.ndarray) -> list[BinaryFit]:
    """The machines of an elimination as those of an SVC, at dual variables ``b``, gradients ``g``.

    No machine is solved again for that: they are at their optimum, and it is known how near.
    """
    bank, fits = machines.bank, []
    for t, task in enumerate(machines.plan):
        part = slice(bank.first[t], bank.first[t + 1])
        lower, upper = bank.lower[part], bank.upper[part]
        violation, multiplier, gap = optimality(b[part], g[part], lower, upper)
        result = QPResult(
            a=b[part] * task.signs,
            gradient=g[part] * task.signs,
            objective=float(0.5 * b[part] @ (g[part] - task.signs)),
            gap=gap,
            violation=violation,
            multiplier=multiplier,
            iterations=int(bank.info[t, 2]),
            status=Status.CONVERGED if violation <= machines.tol else Status.STALLED,
        )
        fits.append(describe(result, task.signs, np.maximum(upper, -lower)))
    return fits
