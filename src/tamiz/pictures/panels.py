"""Several machines side by side, a panel for each setting of their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from sklearn.base import clone

from tamiz.display import blank_figure
from tamiz.validation import candidate_list, grid_of_panels


def plot_panels(
    machine: Any,
    X: Any,
    y: Any,
    grid: Mapping[str, Sequence[Any]],
    *,
    features: Any = None,
    slack: bool = False,
    resolution: int = 100,
) -> Any:
    """Draw a machine for each combination of one or two parameters, a panel each.

    Parameters
    ----------
    machine : estimator with a method ``plot``
        A copy is fitted for each panel; the machine itself stays as it is.
    X, y : array-likes
        Samples to fit and to draw.
    grid : dict
        Values by name, as for scikit-learn's ``GridSearchCV``. Of two parameters the first goes
        down, the second to the right.
    features : int, str, or two of them, optional
        The features on the axes, if there are more than two.
    slack : bool, default=False
        Whether to draw slack.
    resolution : int, default=100
        Points of the grid along each axis.

    Returns
    -------
    array of matplotlib axes
        Of shape (rows, columns).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from tamiz.svm import SVC, plot_panels
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> panels = plot_panels(
    ...     SVC(), X, y, {"C": [0.1, 10], "gamma": [0.1, 1, 10]}, resolution=20
    ... )  # doctest: +SKIP
    """
    grid = grid_of_panels("grid", grid)
    cases = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    widths = [len(values) for values in grid.values()]
    n_columns = widths[-1] if len(widths) == 2 else min(4, len(cases))
    n_rows = -(-len(cases) // n_columns)
    figure = blank_figure(0.4 + 2.7 * n_columns, 0.3 + 2.8 * n_rows)
    panels = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True)
    for ax, case in zip(panels.flat, cases, strict=False):
        fitted = clone(machine).set_params(**case)
        fitted.fit(X) if y is None else fitted.fit(X, y)
        fitted.plot(
            X, y, features=features, ax=ax, slack=slack, legend=False, resolution=resolution
        )
        said = ", ".join(f"{name} = {_shown(value)}" for name, value in case.items())
        found = ax.get_title().partition(": ")[2].replace(" support vectors", " SVs")
        ax.set_title(f"{said}\n{found}", size="small")
        ax.label_outer()
    for ax in panels.flat[len(cases) :]:
        ax.set_axis_off()
    return panels


def plot_kernels(
    machine: Any, X: Any, y: Any, kernels: Sequence[Any] | None = None, **options: Any
) -> Any:
    """Draw a machine with each of several kernels, a panel each.

    Parameters
    ----------
    machine : estimator with a parameter ``kernel``
        Such as :class:`~tamiz.svm.SVC`.
    X, y : array-likes
        Samples to fit and to draw.
    kernels : sequence of str or Kernel, optional
        By default every kernel of tables that has a name: linear, poly, rbf, sigmoid. Sums,
        products and compositions of :mod:`tamiz.kernels` can be passed as well.
    **options
        As for :func:`plot_panels`: ``features``, ``slack``, ``resolution``.

    Returns
    -------
    array of matplotlib axes
        Of shape (rows, columns), four panels in a row.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from tamiz.svm import SVC, plot_kernels
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> panels = plot_kernels(SVC(C=10), X, y)  # doctest: +SKIP
    """
    if kernels is None:
        from tamiz.kernels import KERNEL_NAMES

        kernels = [name for name in KERNEL_NAMES if name != "precomputed"]
    return plot_panels(machine, X, y, {"kernel": candidate_list("kernels", kernels)}, **options)


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
