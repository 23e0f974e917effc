"""The ℓ1 machine along its path: every price of the losses from the first feature on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from tamiz.base import order_by
from tamiz.display.selection_plot import axes
from tamiz.embedded.sparse.l1 import SOLVERS
from tamiz.embedded.sparse.machine import check_samples, one_against_rest
from tamiz.runtime.progress import Progress
from tamiz.solvers.l1.entry import entry_price
from tamiz.solvers.linear_program import HingeProgram, ProgramResult, solve_hinge_program


class L1Path(NamedTuple):
    """What :func:`l1_svm_path` returns.

    Attributes
    ----------
    Cs : ndarray of shape (n_values,)
        Prices of the losses, rising.
    coefs : ndarray of shape (n_values, n_features)
        Weights at each of them.
    intercepts : ndarray of shape (n_values,)
        Intercepts.
    objectives : ndarray of shape (n_values,)
        Values of the objective, ``C`` times the losses plus the ℓ1 norm.
    gaps : ndarray of shape (n_values,)
        Distances to the lower bounds.
    n_nonzero : ndarray of shape (n_values,)
        Numbers of features with weight.
    entry : ndarray of shape (n_features,)
        Position in ``Cs`` at which each feature first has a weight; n_values if it never has.
    order : ndarray of shape (n_features,)
        Features by entry, earliest first; those that enter together by weight, those that never
        enter by how close they come at the last price.
    classes : ndarray of shape (2,)
        Labels; positive decision values speak for the second.
    statuses : tuple of str
        How each machine was found: "converged", or "max_iter" or "stalled" if its gap is larger
        than the tolerance.
    """

    Cs: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    objectives: np.ndarray
    gaps: np.ndarray
    n_nonzero: np.ndarray
    entry: np.ndarray
    order: np.ndarray
    classes: np.ndarray
    statuses: tuple[str, ...]

    def plot(self, names: Sequence[str] | None = None, top: int = 8, ax: Any = None) -> Any:
        """Draw the weights against ``C``.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the features.
        top : int, default=8
            How many features, by order of entry, are drawn in colour and named.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        if names is not None and len(names) != len(self.order):
            raise ValueError(f"names holds {len(names)} names for {len(self.order)} features.")
        ax = axes(ax)
        entered = [j for j in self.order if self.entry[j] < len(self.Cs)]
        for j in entered[top:]:
            ax.plot(self.Cs, self.coefs[:, j], color="0.8", lw=0.8)
        for j in entered[:top]:
            label = f"x{j}" if names is None else str(names[j])
            ax.plot(self.Cs, self.coefs[:, j], label=label)
        ax.axhline(0.0, color="0.3", lw=0.8)
        ax.set(xscale="log", xlabel="C", ylabel="weight")
        if entered:
            ax.legend(fontsize="small", title="by order of entry", frameon=False)
        return ax


@validate_params(
    {
        "n_values": [Interval(Integral, 1, None, closed="left")],
        "span": [Interval(Real, 1, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "solver": [StrOptions(set(SOLVERS))],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
    },
    prefer_skip_nested_validation=True,
)
def l1_svm_path(
    X: Any,
    y: Any,
    *,
    Cs: Any = None,
    n_values: int = 50,
    span: float = 1000.0,
    class_weight: dict[Any, float] | str | None = None,
    sample_weight: Any = None,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 200,
    verbose: bool | int = 0,
) -> L1Path:
    """Fit :class:`L1SVM` for a range of prices, each with the features of the one before first.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    Cs : array-like of shape (n_values,), default=None
        Prices; by default ``n_values`` from the one at which the first feature enters, evenly
        spaced on a logarithmic scale.
    n_values : int, default=50
        How many, if ``Cs`` is not given.
    span : float, default=1000
        Ratio of the last price to the first, if ``Cs`` is not given.
    class_weight : dict or "balanced", default=None
        Factor on the losses of the samples of each class.
    sample_weight : array-like of shape (n_samples,), default=None
        Factor on the loss of each sample.
    solver : {"auto", "lp", "interior_point"}, default="auto"
        As in :class:`L1SVM`.
    tol : float, default=1e-6
        Gap that is accepted, relative to the objective.
    max_iter : int, default=200
        Limit on Newton steps and programs at one price.
    verbose : bool or int, default=0
        Show progress.

    Returns
    -------
    path : L1Path
        After Ctrl-C, the prices done so far; a ConvergenceWarning says so, as it does where a
        machine missed the tolerance.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamiz.embedded import l1_svm_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = l1_svm_path(StandardScaler().fit_transform(X), y, n_values=8, span=100)
    >>> path.n_nonzero.tolist()[:3], bool(path.n_nonzero[-1] > 5)
    ([0, 4, 6], True)
    >>> path.order[:2].tolist()
    [20, 27]
    """
    X, labels, weight = check_samples(BaseEstimator(), X, y, sample_weight)
    if len(labels.classes) != 2:
        raise ValueError(
            f"y has {len(labels.classes)} classes; a path is that of one machine, which tells two "
            "classes apart. Call it for each class against the others."
        )
    ((signs, weight),) = one_against_rest(class_weight, labels, weight)
    for sign, label in zip((-1.0, 1.0), labels.classes.tolist(), strict=True):
        if not weight[signs == sign].any():
            raise ValueError(
                f"class_weight leaves class {label!r} without weight, so there is nothing to tell "
                "it from; give both classes a positive weight."
            )
    c = np.ones(X.shape[1])
    prices = _prices(Cs, n_values, span, X, signs, weight, c)
    found: list[ProgramResult] = []
    try:
        with Progress("l1_svm_path", verbose) as progress:
            for k, C in enumerate(prices):
                progress.update(f"price {k + 1} of {len(prices)}")
                result = solve_hinge_program(
                    HingeProgram(X, signs, C * weight, c),
                    method=SOLVERS[solver],
                    tol=tol,
                    max_iter=max_iter,
                    start=found[-1] if found else None,
                    progress=progress,
                )
                if result.status == "interrupted":  # not what it would have become
                    break
                found.append(result)
    except KeyboardInterrupt:
        pass
    if not found:
        raise KeyboardInterrupt
    _tell(found, len(prices))
    return _collect(found, prices[: len(found)], labels.classes)


def _tell(found: list[ProgramResult], n_prices: int) -> None:
    """Warn of prices that were not done, or not to the tolerance."""
    texts = []
    if len(found) < n_prices:
        texts.append(f"interrupted; {len(found)} of {n_prices} prices were done and are kept.")
    missed = [result.status for result in found if result.status != "converged"]
    if missed:
        texts.append(
            f"the solver stopped ({', '.join(sorted(set(missed)))}) before the tolerance was "
            f"reached at {len(missed)} of {len(found)} prices; statuses and gaps tell which. Scale "
            "the features (sklearn.preprocessing.StandardScaler), or raise max_iter."
        )
    for text in texts:
        warnings.warn(f"l1_svm_path: {text}", ConvergenceWarning, stacklevel=4)


def _prices(
    Cs: Any, n_values: int, span: float, X: Any, signs: np.ndarray, weight: np.ndarray, c: Any
) -> np.ndarray:
    if Cs is not None:
        try:
            prices = np.unique(np.asarray(Cs, dtype=np.float64))
        except (TypeError, ValueError):
            raise ValueError(f"Cs must hold numbers; it is {Cs!r}.") from None
        if not len(prices) or not np.isfinite(prices).all() or prices[0] <= 0:
            raise ValueError(f"Cs must hold positive, finite numbers; it is {Cs!r}.")
        return prices
    first = entry_price(X, signs, weight, c)
    if not np.isfinite(first):
        raise ValueError(
            "No feature enters the path at any price: none varies, or the class with less weight "
            "lies amid the other, where no plane lowers the losses. Try class_weight='balanced', "
            "or look at the columns of X."
        )
    return first * np.geomspace(1.0, span, n_values) if n_values > 1 else np.array([first])


def _collect(found: list[ProgramResult], Cs: np.ndarray, classes: np.ndarray) -> L1Path:
    coefs = np.array([result.w for result in found])
    entered = coefs != 0
    entry = np.where(entered.any(axis=0), entered.argmax(axis=0), len(Cs))
    at_entry = np.abs(coefs[np.minimum(entry, len(Cs) - 1), np.arange(coefs.shape[1])])
    return L1Path(
        Cs=Cs,
        coefs=coefs,
        intercepts=np.array([result.b for result in found]),
        objectives=np.array([result.objective for result in found]),
        gaps=np.array([result.gap for result in found]),
        n_nonzero=entered.sum(axis=1),
        entry=entry,
        order=order_by(-entry.astype(np.float64), at_entry, np.abs(found[-1].g)),
        classes=classes,
        statuses=tuple(result.status for result in found),
    )
