"""Is a kernel positive semi-definite on given samples?

A Mercer kernel gives only Gram matrices without negative eigenvalues, and only then is the dual of
a support vector machine convex. One Gram matrix can refute that, never prove it: the check is of
a sample.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tamiz.display import PALETTE, axes, frame_in_notebook, frames
from tamiz.kernels.base import Kernel
from tamiz.kernels.mapped import as_kernel
from tamiz.validation import TOO_LARGE, checked, depth_of_caller, integer_from, real_number

if TYPE_CHECKING:
    import pandas as pd


class IndefiniteKernelWarning(UserWarning):
    """A kernel's Gram matrix has a clearly negative eigenvalue."""


class _Verdict(NamedTuple):
    smallest: float
    largest: float
    ratio: float
    is_mercer: bool
    n_samples: int


class MercerCheck(_Verdict):
    """What :func:`mercer_check` found: a tuple of five, and all eigenvalues beside it.

    Attributes
    ----------
    smallest, largest : float
        Extreme eigenvalues of the Gram matrix.
    ratio : float
        The smallest relative to the largest in size.
    is_mercer : bool
        Whether no eigenvalue is clearly negative.
    n_samples : int
        Number of samples looked at.
    eigenvalues : tuple of float
        All eigenvalues, ascending; not an entry of the tuple.
    """

    eigenvalues: tuple[float, ...] = ()

    def __new__(
        cls,
        smallest: float,
        largest: float,
        ratio: float,
        is_mercer: bool,
        n_samples: int,
        eigenvalues: tuple[float, ...] = (),
    ) -> MercerCheck:
        found = super().__new__(cls, smallest, largest, ratio, is_mercer, n_samples)
        found.eigenvalues = eigenvalues
        return found

    def _replace(self, **changes: Any) -> MercerCheck:
        return MercerCheck(**{**self._asdict(), "eigenvalues": self.eigenvalues, **changes})

    def __repr__(self) -> str:
        return f"<MercerCheck: {self}>"

    def __str__(self) -> str:
        verdict = "no clearly negative eigenvalue" if self.is_mercer else "not a Mercer kernel"
        return (
            f"{verdict}: eigenvalues of the Gram matrix of {self.n_samples} samples from "
            f"{self.smallest:.3g} to {self.largest:.3g} (ratio {self.ratio:.2g})"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each eigenvalue, ascending."""
        return frames().DataFrame({"eigenvalue": np.array(self.eigenvalues, dtype=np.float64)})

    def _repr_html_(self) -> str | None:
        return frame_in_notebook(str(self), self.to_frame)

    def plot(self, ax: Any = None) -> Any:
        """Draw the sizes of the eigenvalues, the largest first, negative ones by a colour.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        ax = axes(ax)
        values = np.array(self.eigenvalues)
        values = values[np.argsort(-np.abs(values), kind="stable")]
        place = np.arange(1, len(values) + 1)
        for own, colour, text in (
            (values >= 0, PALETTE[0], "from zero on"),
            (values < 0, PALETTE[1], "negative"),
        ):
            label = f"{text} ({int(own.sum()):,})"
            ax.plot(place[own], np.abs(values[own]), "o", ms=3, color=colour, label=label)
        if (values != 0).any():
            ax.set_yscale("log")
        ax.set(xlabel="eigenvalue, by size", ylabel="its size")
        ax.set_title(str(self), fontsize="small")
        ax.legend(frameon=False, fontsize="small")
        return ax


@checked(tol=real_number(least=0, finite=False), max_samples=integer_from(1))
def mercer_check(
    kernel: str | Kernel | Callable[[Any, Any], Any],
    X: ArrayLike,
    tol: float = 1e-8,
    max_samples: int = 1000,
    random_state: Any = 0,
) -> MercerCheck:
    """Look at the eigenvalues of a kernel's Gram matrix on some samples.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A kernel, or what :func:`as_kernel` turns into one.
    X : array or CSR matrix of shape (n, p)
        Samples (the Gram matrix itself for a precomputed kernel).
    tol : float, default=1e-8
        An eigenvalue counts as negative below ``-tol`` times the largest in size; rounding alone
        makes some of them slightly negative.
    max_samples : int, default=1000
        If there are more samples, so many of them are drawn without replacement.
    random_state : int, Generator or None, default=0
        Seed of that draw.

    Returns
    -------
    MercerCheck

    See Also
    --------
    warn_if_indefinite : a warning instead of a result.

    Examples
    --------
    >>> from tamiz.kernels import RBF, Sigmoid, mercer_check
    >>> X = [[0.0, 1.0], [1.0, 0.5], [2.0, 2.0]]
    >>> mercer_check(RBF(gamma=1.0), X).is_mercer
    True
    >>> mercer_check(Sigmoid(gamma=1.0, coef0=-1.0), X).is_mercer
    False
    """
    chosen = as_kernel(kernel)
    samples = chosen._samples(X)
    n = samples.shape[0]
    if not n:
        raise ValueError("X has no rows; a Mercer check needs at least one sample.")
    resolved = chosen._resolve(samples)
    if n > max_samples:
        index = np.sort(np.random.default_rng(random_state).choice(n, max_samples, replace=False))
        if resolved.precomputed:
            samples = samples[:, index]
        samples = samples[index]
    with np.errstate(over="ignore", invalid="ignore"):
        gram = resolved._gram(samples, None)
    if not np.isfinite(gram).all():
        raise ValueError(TOO_LARGE)
    eigenvalues = np.linalg.eigvalsh(gram)
    if not np.isfinite(eigenvalues).all():
        raise ValueError(TOO_LARGE)
    smallest, largest = float(eigenvalues[0]), float(eigenvalues[-1])
    size = max(abs(smallest), abs(largest))
    ratio = smallest / size if size > 0 else 0.0
    every = tuple(eigenvalues.tolist())
    return MercerCheck(smallest, largest, ratio, ratio >= -tol, samples.shape[0], every)


def warn_if_indefinite(
    kernel: str | Kernel | Callable[[Any, Any], Any],
    X: ArrayLike,
    tol: float = 1e-8,
    max_samples: int = 300,
) -> MercerCheck | None:
    """Warn if a kernel that may be indefinite is so on these samples.

    Kernels that are positive semi-definite whatever the samples are not looked at (None).

    Parameters
    ----------
    kernel, X, tol, max_samples
        As for :func:`mercer_check`, on fewer samples: it is meant to be called on every fit.

    Returns
    -------
    MercerCheck or None
    """
    chosen = as_kernel(kernel)
    if chosen.always_mercer:
        return None
    found = mercer_check(chosen, X, tol=tol, max_samples=max_samples)
    if not found.is_mercer:
        warnings.warn(
            f"{chosen!r} is not positive semi-definite on these samples: the smallest eigenvalue "
            f"of the Gram matrix is {found.smallest:.3g}, the largest {found.largest:.3g}. The "
            "optimisation problem is not convex; other parameters (for Sigmoid a smaller gamma) "
            "or another kernel would help.",
            IndefiniteKernelWarning,
            stacklevel=depth_of_caller(),
        )
    return found
