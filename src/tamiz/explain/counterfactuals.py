r"""The smallest change of a sample that turns the decision of a machine with two classes.

With the scales ``s_j`` of the features and the decision value ``f``,

.. math::

    \min_\delta \; \sum_j (\delta_j / s_j)^2 \quad\text{or}\quad \sum_j |\delta_j| / s_j
    \qquad\text{s.t.}\quad f(x + \delta) = \pm\text{margin},\; l_j \le x_j + \delta_j \le u_j .

*Linear machines.* ``f(x + \delta) = f(x) + w'\delta``: one quadratic problem with one equality
(:mod:`tamiz.qp`). In the other norm the best feature by ``|w_j| s_j`` goes as far as it may, then
the next: both are global minima.

*Other kernel machines.* From samples of the background that get the wanted answer, the nearest
first, the point where the way to them crosses the boundary is found by bisection. There ``f`` is
replaced by its linear part, the problem above is solved, and the way to its solution, or from it to
the last point, is cut at the boundary again, as long as the change becomes smaller. What is found
has the wanted answer; that nothing nearer has is not claimed: it is a local minimum, at best.

References
----------
.. [1] S. Wachter, B. Mittelstadt, C. Russell (2018). Counterfactual explanations without opening
       the black box. Harvard Journal of Law & Technology 31.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from tamiz.display import PALETTE, TableResult, axes, frames
from tamiz.evaluation.scaler import AutoScaler
from tamiz.explain.model import (
    Terms,
    columns_of_the_machine,
    feature_names,
    numbers_of,
    refuse_without_features,
    terms_of,
    through,
)
from tamiz.explain.tables import coded_frames
from tamiz.pictures import without_name_warnings
from tamiz.qp import QuadraticProblem
from tamiz.search.judges import last_step
from tamiz.solvers import solve
from tamiz.svm.kernel_machine import KernelExpansion
from tamiz.validation import (
    TOO_LARGE,
    check_features,
    checked,
    estimator_with,
    integer_from,
    one_of,
    refused,
)

if TYPE_CHECKING:
    import pandas as pd

_STARTS = 3  # samples of the background that the search begins from
_ROUNDS = 40
_HALVINGS = 40
#: A round that gains less than this part ends the search.
_GAIN = 1e-4
#: Decision values are moved this far beyond the boundary, as a part of what they are.
_BEYOND = 1e-6
#: What they are is taken for no less than this part of their deviation over the background.
_SMALLEST = 1e-3
#: Weights below this part of all of them change nothing; squares of their reciprocals are infinite.
_NO_PART = 1e-100


@dataclass(frozen=True)
class Counterfactuals(TableResult):
    """Changed samples that get the other answer.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        The samples as they are.
    changed : array of shape (n_samples, n_features)
        The samples that get the other answer; NaN where none was found within the bounds.
    distances : array of shape (n_samples,)
        Sizes of the changes in the norm asked for, in units of ``scale``; NaN where none was found.
    predictions, wanted : arrays of shape (n_samples,)
        Answers before and after.
    scale : array of shape (n_features,)
        The unit in which a change of each feature is measured.
    method : {"exact", "local"}
        Whether no smaller change does, or the search was local and only what it found is certain.
    norm : {"l2", "l1"}
        The norm.
    feature_names : list of str
        Names of the features.
    """

    X: np.ndarray
    changed: np.ndarray
    distances: np.ndarray
    predictions: np.ndarray
    wanted: np.ndarray
    scale: np.ndarray
    method: str
    norm: str
    feature_names: list[str]

    def __repr__(self) -> str:
        found = f"found for {int(self.found.sum())} of {len(self.X)} samples"
        return f"<Counterfactuals: {found}, {self.method}, {self.norm}>"

    @property
    def found(self) -> np.ndarray:
        """Which samples have a counterfactual within the bounds."""
        return np.isfinite(self.distances)

    def to_frame(self) -> pd.DataFrame:
        """A data frame with a row for each sample and changed feature, the largest change first."""
        columns: dict[str, list[Any]] = {
            key: [] for key in ("sample", "feature", "value", "changed", "change", "in_scales")
        }
        for i in np.flatnonzero(self.found).tolist():
            for j in self._order(i):
                change = self.changed[i, j] - self.X[i, j]
                row = (
                    int(i),
                    self.feature_names[j],
                    self.X[i, j],
                    self.changed[i, j],
                    change,
                    change / self.scale[j],
                )
                for values, value in zip(columns.values(), row, strict=True):
                    values.append(value)
        return frames().DataFrame(columns)

    def _order(self, i: int) -> np.ndarray:
        size = np.abs(self.changed[i] - self.X[i]) / self.scale
        order = np.argsort(-size, kind="stable")
        return order[size[order] > 1e-9 * max(1.0, float(size.max()))]

    def sentence(self, sample: int = 0, top: int = 3) -> str:
        """What would have to change, in words; numbers are rounded, :attr:`changed` has all digits.

        Parameters
        ----------
        sample : int, default=0
            Which sample.
        top : int, default=3
            How many features are named.
        """
        i = integer_from(0, len(self.X) - 1)("sample", sample)
        before, after = self.predictions[i], self.wanted[i]
        if not self.found[i]:
            return f"Predicted {before}; no change within the bounds makes it {after}."
        order = self._order(i)
        parts = [
            f"{self.feature_names[j]} were about {self.changed[i, j]:.4g} "
            f"instead of {self.X[i, j]:.4g}"
            for j in order[:top]
        ]
        rest = len(order) - len(parts)
        more = f", and {rest} more changed" if rest > 0 else ""
        return f"Predicted {before}; it would be {after} if {', '.join(parts)}{more}."

    def plot(self, sample: int = 0, top: int = 15, ax: Any = None) -> Any:
        """Draw the changes of one sample as bars, in units of ``scale``.

        Parameters
        ----------
        sample : int, default=0
            Which sample.
        top : int, default=15
            How many features.
        ax : matplotlib axes, optional
            Where to draw; on a figure of its own if None.

        Returns
        -------
        matplotlib axes
        """
        i = integer_from(0, len(self.X) - 1)("sample", sample)
        if not self.found[i]:
            raise ValueError(f"Sample {i} has no counterfactual within the bounds to draw.")
        best = self._order(i)[: integer_from(1)("top", top)][::-1]
        change = (self.changed[i] - self.X[i])[best] / self.scale[best]
        ax = axes(ax, height=max(2.5, 1.2 + 0.24 * len(best)))
        ax.axvline(0.0, color="0.6", linewidth=1.0)
        ax.barh(np.arange(len(best)), change, color=[PALETTE[int(c < 0)] for c in change])
        ax.set_yticks(np.arange(len(best)), [self.feature_names[j] for j in best])
        ax.set_xlabel("change (standard deviations)")
        ax.set_title(f"from {self.predictions[i]} to {self.wanted[i]}")
        return ax


@checked(
    model=estimator_with("fit", advice="Pass a fitted estimator or pipeline."),
    norm=one_of("l2", "l1"),
)
def counterfactual(
    model: Any,
    X: Any,
    background: Any,
    *,
    norm: str = "l2",
    bounds: Any = "observed",
    fixed_features: Any = None,
) -> Counterfactuals:
    """The smallest change of each sample that turns the decision of a machine with two classes.

    Parameters
    ----------
    model : estimator or pipeline
        Fitted, with two classes (or a novelty detector): linear models, and machines with linear,
        radial and polynomial kernels and their sums; also behind steps that shift and scale every
        column, and behind selectors.
    X : array or data frame of shape (n_samples, n_features)
        Samples.
    background : table of shape (n_background, n_features)
        Samples such as those of the training: their standard deviations are the units of changes,
        their ranges the bounds, and a search begins at those that get the other answer.
    norm : {"l2", "l1"}, default="l2"
        Sum of squares, which changes many features a little; or of absolute values, which changes
        few, at a linear machine above all.
    bounds : "observed", None, or dict, default="observed"
        Between which values features may be changed: those in the background; any; or pairs (least,
        largest) by name or position, with the others as observed. None in a pair is no bound. A
        sample beyond a bound may stay where it is.
    fixed_features : list of int or str, optional
        Features that stay as they are.

    Returns
    -------
    Counterfactuals
        With ``changed``, ``distances``, ``found``, ``sentence()``, ``to_frame()`` and ``plot()``.
        ``method`` is "exact" for linear machines: no smaller change turns the decision. For others
        it is "local": the changed samples do get the other answer, but a smaller change might, too.

    References
    ----------
    .. [1] S. Wachter, B. Mittelstadt, C. Russell (2018). Counterfactual explanations without
           opening the black box. Harvard Journal of Law & Technology 31.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.explain import counterfactual
    >>> from tamiz.svm import SVC
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> machine = SVC(kernel="linear", C=100.0).fit(X, np.where(X[:, 0] > 0, "high", "low"))
    >>> found = counterfactual(machine, [[-1.0, 0.5]], X, norm="l1")
    >>> print(found.predictions[0], found.wanted[0], found.changed.round(2).tolist(), found.method)
    low high [[0.02, 0.5]] exact
    """
    check_is_fitted(model)
    refuse_without_features(model)
    table, others = _complete_numbers(model, X, background)
    names = feature_names(model, X, table.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        machine = _machine(model, table, others)
        scale = others.std(axis=0)
        values = machine.value(machine.seen(table))
    if not (np.isfinite(scale).all() and np.isfinite(values).all()):
        raise ValueError(TOO_LARGE)
    fixed = np.zeros(len(names), dtype=bool)
    if fixed_features is not None:
        fixed[check_features(fixed_features, "fixed_features", len(names), names)] = True
    scale = np.where(scale > 0, scale, 1.0)
    low, high = _read_bounds(bounds, others, names)
    changed = np.full_like(table, np.nan)
    distances = np.full(len(table), np.nan)
    ignored = np.errstate(over="ignore", invalid="ignore")  # a point too far away is none
    with without_name_warnings(), ignored:
        before = np.asarray(model.predict(table))
        classes = _answers(model, before)
        after = np.where(values > 0, classes[0], classes[1])
        starts = _starts(machine, others)
        least_size = _SMALLEST * float(np.std(starts[1]))  # in the units of this machine
        for i, x in enumerate(table):
            least = np.where(fixed, x, np.minimum(low, x))
            most = np.where(fixed, x, np.maximum(high, x))
            asked = _Asked(machine, x, -1.0 if values[i] > 0 else 1.0, scale, least, most, norm)
            for part in (1.0, 10.0, 1e3, 1e5):  # rounding may leave it on the wrong side
                beyond = part * _BEYOND * max(abs(float(values[i])), least_size)
                found = asked.solve(beyond, starts)
                if found is None or not np.isfinite(asked.size(found)):
                    break
                if model.predict(found[None, :])[0] == after[i]:
                    changed[i], distances[i] = found, asked.size(found)
                    break
    kind = "exact" if machine.weights is not None else "local"
    return Counterfactuals(table, changed, distances, before, after, scale, kind, norm, names)


def _complete_numbers(model: Any, X: Any, background: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both tables as numbers, none of which is missing."""
    coded = coded_frames(X, background)
    if coded is not None:
        columns = "columns" if len(coded.names) > 1 else "column"
        raise ValueError(
            f"counterfactual changes numbers, and X holds others in the {columns} "
            f"{', '.join(map(repr, coded.names))}; explain what stands behind the step that "
            "encodes: counterfactual(model[1:], model[:1].transform(X), "
            "model[:1].transform(background))."
        )
    given = {"X": X, "background": background}
    tables = [numbers_of(model, one, name, "counterfactual") for name, one in given.items()]
    for name, table in zip(given, tables, strict=True):
        if np.isnan(table).any():
            raise ValueError(
                f"{name} holds missing values, which nothing can be near to; fill them in first, "
                "and pass the steps of the pipeline behind the imputer (model[1:])."
            )
    return tables[0], tables[1]


# ---------------------------------------------------------------------------- the machine


class _DrawnIn(NamedTuple):
    """Columns of which an ``AutoScaler`` draws some in, after they were shifted and scaled."""

    factor: np.ndarray
    shift: np.ndarray
    drawn: np.ndarray  # which of them
    spread: np.ndarray

    def values(self, columns: np.ndarray) -> np.ndarray:
        """The columns as it leaves them, but for a shift and a scale."""
        moved = columns * self.factor + self.shift
        return np.where(self.drawn, np.arcsinh(moved / self.spread), moved)

    def slope(self, columns: np.ndarray) -> np.ndarray:
        """The derivative of each value."""
        moved = (columns * self.factor + self.shift) / self.spread
        return self.factor * np.where(self.drawn, 1.0 / (self.spread * np.hypot(1.0, moved)), 1.0)


class _Front(NamedTuple):
    """A kernel expansion, and what each of its columns is of the original ones."""

    expansion: KernelExpansion
    source: np.ndarray
    factor: np.ndarray
    shift: np.ndarray
    drawn: _DrawnIn | None  # what stands before factor and shift
    weights: np.ndarray | None  # by original feature, of a machine that is linear in them

    def seen(self, table: np.ndarray) -> np.ndarray:
        """Samples as the kernel gets them."""
        columns = table[:, self.source]
        columns = columns if self.drawn is None else self.drawn.values(columns)
        seen = columns * self.factor + self.shift
        centre = self.expansion.centre
        return seen if centre is None else seen - centre

    def value(self, seen: np.ndarray) -> np.ndarray:
        """Decision values."""
        kernel, vectors, coef, intercept, own, _ = self.expansion
        values = np.asarray(kernel(seen, vectors) @ coef[0] + intercept[0], dtype=np.float64)
        return values + own * kernel.diag(seen) if own else values

    def value_at(self, u: np.ndarray) -> float:
        """The decision value of one sample, as the kernel gets it."""
        kernel, vectors, coef, intercept, own, _ = self.expansion
        total = float(intercept[0])
        for weight, form in kernel.pairwise_sum or ():
            gamma = float(form.gamma)
            if form.radial:
                gaps = vectors - u
                K = np.exp(-gamma * np.einsum("ij,ij->i", gaps, gaps))
                total += weight * (float(K @ coef[0]) + own)
            else:
                K = (form.constant + gamma * (vectors @ u)) ** form.degree
                square = (form.constant + gamma * float(u @ u)) ** form.degree
                total += weight * (float(K @ coef[0]) + own * square)
        return total

    def slope(self, x: np.ndarray) -> np.ndarray:
        """Gradient of the decision value by the original features, at one sample."""
        kernel, vectors, coef, _, own, _ = self.expansion
        u = self.seen(x[None, :])[0]
        total = np.zeros(len(u))
        for weight, form in kernel.pairwise_sum or ():
            gamma = float(form.gamma)
            if form.radial:
                K = np.exp(-gamma * np.square(u - vectors).sum(axis=1)) * coef[0]
                total -= 2.0 * weight * gamma * (u * K.sum() - K @ vectors)
                continue
            d = form.degree
            K = coef[0] * (form.constant + gamma * (vectors @ u)) ** (d - 1)
            total += weight * d * gamma * (K @ vectors)
            if own:
                total += (
                    2.0
                    * own
                    * weight
                    * d
                    * gamma
                    * u
                    * (form.constant + gamma * float(u @ u)) ** (d - 1)
                )
        total *= self.factor
        if self.drawn is not None:
            total *= self.drawn.slope(x[self.source])
        out = np.zeros(len(x))
        np.add.at(out, self.source, total)
        return out


def _machine(model: Any, table: np.ndarray, others: np.ndarray) -> _Front:
    front = columns_of_the_machine(model, table, others)
    terms = None if front is None else terms_of(front)
    if front is None or terms is None:
        raise TypeError(
            f"{type(last_step(model)).__name__} is no linear machine, and no kernel machine with a "
            "linear, radial or polynomial kernel behind steps that keep columns apart, so there is "
            "no decision value to follow."
        )
    if len(terms.outputs) != 1 or not (is_classifier(model) or _is_novelty(model)):
        raise ValueError(
            f"A counterfactual turns one decision of two; {type(last_step(model)).__name__} has "
            f"{len(terms.outputs)} decision values. Fit a machine to two classes."
            if len(terms.outputs) != 1
            else "A counterfactual turns the decision of a classifier; this model predicts numbers."
        )
    drawn = _drawn_in(model, front.source, others)
    factor, shift = _affine(model, front.source, others, drawn)
    weights = None
    if drawn is None:
        weights = _weights(terms, front.source, factor, table.shape[1])
    return _Front(terms.expansion, front.source, factor, shift, drawn, weights)


def _is_novelty(model: Any) -> bool:
    return getattr(last_step(model), "_estimator_type", None) == "outlier_detector" or hasattr(
        last_step(model), "fit_predict"
    )


def _drawn_in(model: Any, source: np.ndarray, others: np.ndarray) -> _DrawnIn | None:
    """What the first ``AutoScaler`` that draws columns in does to those that the machine gets."""
    steps = model.steps[:-1] if isinstance(model, Pipeline) else []
    for k, (_, step) in enumerate(steps):
        if not isinstance(step, AutoScaler) or not step.drawn_in_.any():
            continue
        before = columns_of_the_machine(Pipeline(model.steps[: k + 1]), others, others)
        assert before is not None  # as far as the machine all steps treat columns by themselves
        factor, shift = _affine(Pipeline(model.steps[: k + 1]), before.source, others, None)
        own = [before.source.tolist().index(j) for j in source.tolist()]
        center = np.where(step.drawn_in_, step.center_, 0.0)
        spread = np.where(step.drawn_in_, step.spread_, 1.0)
        return _DrawnIn(factor[own], (shift - center)[own], step.drawn_in_[own], spread[own])
    return None


def _affine(
    model: Any, source: np.ndarray, others: np.ndarray, drawn: _DrawnIn | None
) -> tuple[np.ndarray, np.ndarray]:
    """Factor and shift of each column of the last step; refuses steps that do more."""
    low, high = others.min(axis=0), others.max(axis=0)
    high = np.where(high > low, high, low + 1.0)
    at = np.array([low, high, 0.3 * low + 0.7 * high])
    seen = through(model, at)
    columns = at[:, source]
    if not np.isfinite(high - low).all():
        raise ValueError(TOO_LARGE)
    if drawn is not None:
        columns = drawn.values(columns)
    width = columns[1] - columns[0]
    factor = (seen[1] - seen[0]) / np.where(width != 0, width, 1.0)
    shift = seen[0] - factor * columns[0]
    size = np.abs(factor * columns) + np.abs(shift)
    if not (np.abs(columns * factor + shift - seen) <= 1e-9 * size + 1e-300).all():
        raise ValueError(
            "Counterfactuals need steps that shift and scale each column, such as a "
            "StandardScaler, or one AutoScaler; a step of this pipeline does something else."
        )
    return factor, shift


def _weights(terms: Terms, source: np.ndarray, factor: np.ndarray, p: int) -> np.ndarray | None:
    kernel, vectors, coef, _, own, _ = terms.expansion
    forms = kernel.pairwise_sum or ()
    if own or any(form.radial or form.degree > 1 for _, form in forms):
        return None
    slope = sum(weight * float(form.gamma) for weight, form in forms)
    weights = np.zeros(p)
    np.add.at(weights, source, slope * (coef[0] @ vectors) * factor)
    return weights


def _answers(model: Any, before: np.ndarray) -> tuple[Any, Any]:
    """What is said of negative decision values, and of positive ones."""
    classes = getattr(model, "classes_", None)
    return (-1, 1) if classes is None else (classes[0], classes[1])


def _starts(machine: _Front, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return others, machine.value(machine.seen(others))


def _read_bounds(
    bounds: Any, others: np.ndarray, names: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    low, high = others.min(axis=0), others.max(axis=0)
    if bounds is None:
        return np.full_like(low, -np.inf), np.full_like(high, np.inf)
    if isinstance(bounds, str) and bounds == "observed":
        return low, high
    if not isinstance(bounds, dict):
        raise refused("bounds", bounds, "must be 'observed', None, or a dict of pairs by feature.")
    for key, pair in bounds.items():
        (j,) = check_features([key], "bounds", len(names), names)
        try:
            least, most = pair
        except (TypeError, ValueError):
            raise refused("bounds", pair, "must hold pairs (least, largest).") from None
        low[j] = -np.inf if least is None else float(least)
        high[j] = np.inf if most is None else float(most)
        if not low[j] <= high[j]:
            raise refused("bounds", pair, "must hold pairs, the lower bound first.")
    return low, high


# ---------------------------------------------------------------------------- one sample


class _Asked(NamedTuple):
    """One sample, the side that is wanted, and what a change costs."""

    machine: _Front
    x: np.ndarray
    side: float  # of the decision value that is wanted: 1 or -1
    scale: np.ndarray
    low: np.ndarray
    high: np.ndarray
    norm: str

    def size(self, point: np.ndarray) -> float:
        """The size of a change."""
        steps = (point - self.x) / self.scale
        return float(np.abs(steps).sum() if self.norm == "l1" else np.sqrt(steps @ steps))

    def value(self, point: np.ndarray) -> float:
        """The decision value, positive on the side that is wanted."""
        return self.side * self.machine.value_at(self.machine.seen(point[None, :])[0])

    def solve(self, beyond: float, starts: tuple[np.ndarray, np.ndarray]) -> np.ndarray | None:
        """The nearest point whose decision value is ``beyond`` the boundary, or None."""
        if self.machine.weights is not None:
            need = beyond - self.value(self.x)
            return self._nearest(self.side * self.machine.weights, need)
        places = self._places(beyond, starts)
        found = [self._descend(start, beyond) for start in places]
        return min(found, key=self.size) if found else None

    def _nearest(self, weights: np.ndarray, need: float) -> np.ndarray | None:
        """The nearest point within the bounds with ``weights'(point - x) = need``, or None."""
        least, most = self.low - self.x, self.high - self.x
        use = (weights != 0) & (most > least)
        reach = np.where(weights > 0, most, least)
        with np.errstate(invalid="ignore"):
            furthest = float(np.sum((weights * reach)[use])) if use.any() else 0.0
        if not furthest >= need:
            return None
        step = np.zeros(len(weights))
        w, s = weights[use], self.scale[use]
        if self.norm == "l1":
            step[use] = _one_after_the_other(w, s, reach[use], need)
        else:
            # in units of the scales; of bounds only those in the way of need matter
            ends = np.where(w * need > 0, most[use], least[use]) / s
            size = float(np.linalg.norm(w * s))
            if not 0.0 < size < np.inf:  # no direction in float64
                return None
            some = np.abs(w * s) > _NO_PART * size
            use[use] = some
            w, s, ends = w[some], s[some], ends[some]
            small, large = np.minimum(0.0, ends), np.maximum(0.0, ends)
            problem = QuadraticProblem(
                np.eye(len(w)), np.zeros(len(w)), w * s / size, need / size, small, large
            )
            step[use] = s * solve(problem, tol=1e-10 * max(1.0, abs(need / size)), polished=True).a
        return np.clip(self.x + step, self.low, self.high)

    def _places(self, beyond: float, starts: tuple[np.ndarray, np.ndarray]) -> list[np.ndarray]:
        """Points within the bounds on the side that is wanted, the nearest samples first."""
        others = np.clip(starts[0], self.low, self.high)
        values = self.side * self.machine.value(self.machine.seen(others))
        good = np.flatnonzero(values >= beyond)
        sizes = np.array([self.size(others[i]) for i in good])
        return [others[good[k]] for k in np.argsort(sizes, kind="stable")[:_STARTS]]

    def _descend(self, start: np.ndarray, beyond: float) -> np.ndarray:
        """A point on the boundary that no linear step of the problem makes nearer."""
        best = self._cut(self.x, start, beyond)
        for _ in range(_ROUNDS):
            slope = self.side * self.machine.slope(best)
            need = beyond - self.value(best) + float(slope @ (best - self.x))
            aim = self._nearest(slope, need)
            if aim is None:
                break
            nearer = self._step(best, aim, beyond)
            if nearer is None or self.size(nearer) > (1.0 - _GAIN) * self.size(best):
                break
            best = nearer
        return self._without_idle(best, beyond)

    def _without_idle(self, point: np.ndarray, beyond: float) -> np.ndarray:
        """The point with every feature put back that is not needed, the smallest changes first."""
        point = point.copy()
        for j in np.argsort(np.abs(point - self.x) / self.scale, kind="stable"):
            kept, point[j] = point[j], self.x[j]
            if self.value(point) < beyond:
                point[j] = kept
        return self._cut(self.x, point, beyond)

    def _step(self, best: np.ndarray, aim: np.ndarray, beyond: float) -> np.ndarray | None:
        """On the way to ``aim``, the first point from which the cut to ``x`` is nearer."""
        now = self.size(best)
        part = 1.0
        for _ in range(8):
            point = best + part * (aim - best)
            if self.value(point) >= beyond:
                point = self._cut(self.x, point, beyond)
            else:
                point = self._pushed(point, beyond)
            if point is not None and self.size(point) < now:
                return point
            part /= 2.0
        return None

    def _pushed(self, point: np.ndarray, beyond: float) -> np.ndarray | None:
        """The point pushed along the gradient, within the bounds, up to the boundary."""
        slope = self.side * self.machine.slope(point) * np.square(self.scale)
        norm = float(np.abs(slope / self.scale).max())
        if norm <= 0:
            return None
        step = 1e-3 * max(self.size(point), 1e-6) / norm
        for _ in range(12):
            ahead = np.clip(point + step * slope, self.low, self.high)
            if self.value(ahead) >= beyond:
                return self._cut(point, ahead, beyond)
            step *= 2.0
        return None

    def _cut(self, outside: np.ndarray, inside: np.ndarray, beyond: float) -> np.ndarray:
        """The point nearest to ``outside``, on the way from ``inside``, that is still beyond."""
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            if self.value(outside + middle * (inside - outside)) >= beyond:
                high = middle
            else:
                low = middle
        return outside + high * (inside - outside)


def _one_after_the_other(
    weights: np.ndarray, scale: np.ndarray, reach: np.ndarray, need: float
) -> np.ndarray:
    """Steps of least sum of ``|step| / scale``: who gains most for each unit goes first."""
    steps = np.zeros(len(weights))
    for j in np.argsort(-np.abs(weights) * scale, kind="stable"):
        gain = weights[j] * reach[j]
        if gain >= need:
            steps[j] = need / weights[j]
            break
        steps[j] = reach[j]
        need -= gain
    return steps
