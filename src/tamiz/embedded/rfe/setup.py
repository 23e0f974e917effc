"""From the parameters of SVMRFE and some samples to the machines of an elimination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.embedded.rfe.kernel import KernelMachines
from tamiz.embedded.rfe.linear import LinearMachines
from tamiz.embedded.rfe.machines import Machines
from tamiz.embedded.rfe.sparse import SparseMachines
from tamiz.kernels import Kernel, warn_if_indefinite
from tamiz.runtime.units import Units, check_units
from tamiz.svm.multiclass import class_scores, tasks
from tamiz.validation import Labels, check_class_weight

#: Sparse samples are made dense up to this many bytes: the dense loop is that much faster.
MOST_DENSE_BYTES = 2**29

#: Where nothing works on sparse samples, up to this many.
MOST_FORCED_BYTES = 2**31


def units_of(groups: Any, fixed: Any, n_features: int, names: Any) -> Units:
    """:func:`check_units`, without thousands of arrays of one number where nothing is asked."""
    if groups is None and fixed is None:
        members: Any = np.arange(n_features)[:, None]
        return Units(members, np.empty(0, dtype=np.intp), n_features)
    return check_units(groups, fixed, n_features, names)


@dataclass
class Samples:
    """The samples that count, all of positive weight."""

    X: Any
    labels: Labels
    weight: np.ndarray

    def part(self, index: np.ndarray) -> Samples:
        labels = self.labels._replace(codes=self.labels.codes[index])
        return Samples(self.X[index], labels, self.weight[index])


@dataclass
class Setup:
    """What stays the same for all samples and folds."""

    kernel: Kernel
    C: float
    class_weight: Any
    multiclass: str
    tol: float
    criterion: str
    order: str
    step: Any
    units: Units

    def machines(self, data: Samples) -> tuple[Machines, Kernel]:
        """Machines for these samples, not yet trained, and the kernel with all its numbers."""
        by_class = check_class_weight(self.class_weight, data.labels, data.weight)
        C = self.C * data.weight * by_class[data.labels.codes]
        plan = list(tasks(data.labels.codes, len(data.labels.classes), self.multiclass))
        kernel = self.kernel.resolve(data.X, data.weight)
        if kernel.is_linear and self.criterion == "margin":
            make: Callable[..., Machines] = LinearMachines
            X = data.X
            if sparse.issparse(X):
                if 8 * X.shape[0] * X.shape[1] <= MOST_DENSE_BYTES:
                    X = X.toarray()
                else:
                    make = SparseMachines
            factor = 1.0 if self.order == "zero" else 2.0
            return make(X, plan, C, self.tol, self.units, factor), kernel
        if not kernel.always_mercer:
            warn_if_indefinite(kernel, data.X)
        X = self._dense(data.X) if sparse.issparse(data.X) else data.X
        arguments = plan, C, self.tol, self.units, kernel, self.criterion, self.order
        return KernelMachines(X, *arguments), kernel

    def _dense(self, X: Any) -> np.ndarray:
        size = 8 * X.shape[0] * X.shape[1]
        if size > MOST_FORCED_BYTES:
            raise MemoryError(
                f"criterion={self.criterion!r} needs dense samples, and {X.shape[0]:,} samples of "
                f"{X.shape[1]:,} features would take {1e-9 * size:.1f} GB. Use criterion='margin', "
                "which does not, or fewer features."
            )
        return X.toarray()

    def predict(self, machines: Machines, Z: Any, n_classes: int) -> np.ndarray:
        """Codes of the classes of new samples."""
        values = machines.decisions(Z)
        if n_classes == 2:
            return (values[:, 0] > 0).astype(np.intp)
        return class_scores(values, n_classes, self.multiclass).argmax(axis=1)
