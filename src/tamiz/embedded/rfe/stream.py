"""SVMRFE on a stream: the elimination of memory, with machines that are solved in passes."""

from __future__ import annotations

import warnings
from typing import Any, cast

import numpy as np

from tamiz.base import Stopwatch
from tamiz.embedded.rfe.machines import Machines
from tamiz.embedded.rfe.run import Elimination
from tamiz.embedded.rfe.setup import units_of
from tamiz.embedded.sparse.streaming import (
    OutOfPassesError,
    Precision,
    StreamedMachines,
    pairs_or_rest,
)
from tamiz.kernels import Linear
from tamiz.runtime.progress import Progress
from tamiz.svm.stream.machine import Stream, StreamedMachine, in_features


def fit_rfe_stream(
    rfe: Any, source: Any, target: Any, standardize: bool, precision: Precision, options: Any
) -> None:
    """Rank the features of a stream, and set the fitted attributes of ``rfe``."""
    watch = Stopwatch()
    rfe._validate_params()
    _refuse(rfe)
    with Progress("SVMRFE", rfe.verbose) as progress:
        stream = Stream(rfe, source, target, options)
        names = getattr(rfe, "feature_names_in_", None)
        units = units_of(rfe.feature_groups, rfe.fixed_features, stream.n_features, names)
        n_wanted = rfe._number_wanted(units)
        tasks = pairs_or_rest(stream, rfe.class_weight, rfe.C, rfe.multiclass)
        rows = stream.rows(tasks, progress)
        varies = stream.spread()[1] > 0
        if not varies.any():
            warnings.warn(
                "SVMRFE: every feature is constant, so that nothing can be learned; the "
                "ranking means nothing.",
                UserWarning,
                stacklevel=3,
            )
        size = np.ones(stream.n_features) if standardize else rows.units.scale
        factor = 1.0 if rfe.order == "zero" else 2.0
        machines = StreamedMachines(rows, units, factor, size, varies, precision)
        run = Elimination(cast(Machines, machines), units, rfe.step, n_wanted)
        rfe.status_, stopped = "converged", ""
        for name in ("cv_errors_", "cv_sizes_"):  # of an earlier fit
            rfe.__dict__.pop(name, None)
        try:
            run.run(progress)
        except (KeyboardInterrupt, OutOfPassesError) as error:
            if machines.latest() is None:
                raise
            used_up = isinstance(error, OutOfPassesError)
            rfe.status_ = "max_iter" if used_up else "interrupted"
            why = f"all {precision.max_passes} passes were made" if used_up else "interrupted"
            stopped = (
                f"{why} after {run.n_gone} of {len(units.members)} units had been dropped; the "
                "others are ranked by the last criterion."
            )
    n_units = run.n_kept if run.wanted is not None else run.units_within(n_wanted)
    order = run.order()
    support = run.support(n_units, order)
    points, evidence = machines.bank
    if run.wanted is not None and run.slopes is not None:
        points, evidence = run.wanted, run.slopes
    beta = in_features(points, rows.units)
    machine = StreamedMachine(rfe.multiclass)
    machine.classes_ = rfe.classes_ = stream.classes
    machine.n_features_in_ = int(support.sum())
    if names is not None:
        machine.feature_names_in_ = np.asarray(names)[support]
    machine.coef_, machine.intercept_ = beta[:, :-1][:, support], beta[:, -1]
    machine.objective_, machine.duality_gap_ = evidence.T
    rfe.kernel_ = Linear()
    rfe.estimator_, rfe.n_passes_ = machine, rows.passes + 1
    if machines.excess and rfe.status_ == "converged":
        rfe.status_ = "stalled"
    rfe._finish(
        order=order,
        support=support,
        path=run.path(),
        seconds=watch.seconds,
        notes={"status": rfe.status_, "n_passes": rfe.n_passes_},
    )
    if machines.excess:
        stopped = stopped or (
            f"a machine on the way came to {machines.excess:.2g} times gap={precision.gap:g} "
            "only; the order may be wrong from there on. Set standardize=True, or lower C."
        )
    rfe._warn(stopped, 0.0, n_wanted)


def _refuse(rfe: Any) -> None:
    """What needs all rows at once."""
    if not rfe._takes_sparse():
        raise ValueError(
            f"fit_stream is for the linear kernel; kernel={rfe.kernel!r} needs all rows at "
            "once. Use kernel='linear', or fit on a sample of the rows."
        )
    if rfe.criterion != "margin":
        raise ValueError(
            f"fit_stream knows criterion='margin' only; {rfe.criterion!r} needs all rows at once."
        )
    if rfe.n_features_to_select in ("best", "1se"):
        raise ValueError(
            f"n_features_to_select={rfe.n_features_to_select!r} needs cross-validation, which "
            "fit_stream does not make; give a number or a share."
        )
    if rfe.checkpoint is not None:
        raise ValueError(
            "checkpoint is not available in fit_stream; set checkpoint=None. After Ctrl-C what "
            "was reached is kept."
        )
