"""KChoice: the errors over a range of k, the choice among them, a table and a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.base import _plain, choose_size
from tamiz.display.selection_plot import axes

if TYPE_CHECKING:
    import pandas as pd

_RULES = ("best", "1se")
_SHOWN = 12


def refuse_rule(rule: Any) -> None:
    """Say which rules there are."""
    if rule not in _RULES:
        raise ValueError(f'rule={rule!r} is not known; use "best" or "1se".')


@dataclass(repr=False, eq=False)
class KChoice:
    """Errors for each number of neighbours, and the choice among them.

    Attributes
    ----------
    ks : array of shape (n_ks,)
        Numbers of neighbours, ascending.
    cv_errors : array of shape (n_splits, n_ks)
        Error of each fold.
    train_error : array of shape (n_ks,)
        Error on the training samples, each of which is its own neighbour.
    test_error : array of shape (n_ks,) or None
        Error on the samples put aside.
    n_train, n_test : int
        Numbers of samples.
    rule : {"best", "1se"}
        How k is chosen.
    params : dict
        Parameters of the classifier, other than ``n_neighbors``.
    interrupted : bool
        Whether the run was stopped before the last fold.
    seconds : float
        Time it took.

    See Also
    --------
    choose_k : makes it.
    """

    ks: np.ndarray
    cv_errors: np.ndarray
    train_error: np.ndarray
    test_error: np.ndarray | None = None
    n_train: int = 0
    n_test: int = 0
    rule: str = "best"
    params: dict[str, Any] = field(default_factory=dict)
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def cv_error(self) -> np.ndarray:
        """Mean error over the folds."""
        return self.cv_errors.mean(axis=0)

    @property
    def cv_sd(self) -> np.ndarray:
        """Standard deviation over the folds; NaN with a single one."""
        if len(self.cv_errors) < 2:
            return np.full(len(self.ks), np.nan)
        return self.cv_errors.std(axis=0, ddof=1)

    @property
    def cv_se(self) -> np.ndarray:
        """Standard error of the mean over the folds."""
        return self.cv_sd / np.sqrt(len(self.cv_errors))

    @property
    def train_se(self) -> np.ndarray:
        """Standard error of the training error, as that of a share."""
        return _of_share(self.train_error, self.n_train)

    @property
    def test_se(self) -> np.ndarray | None:
        """Standard error of the test error, as that of a share."""
        return None if self.test_error is None else _of_share(self.test_error, self.n_test)

    @property
    def k(self) -> int:
        """The number of neighbours chosen by ``rule``."""
        return self.choose(self.rule)

    def choose(self, rule: str) -> int:
        """The number of neighbours that a rule chooses.

        Parameters
        ----------
        rule : {"best", "1se"}
            Least cross-validated error, or the largest k within one standard error of it.
        """
        refuse_rule(rule)
        return -choose_size(self.cv_errors, -self.ks, rule)  # more neighbours are simpler

    @property
    def estimator(self) -> Any:
        """A classifier with the chosen k, to be fitted."""
        from tamiz.neighbors.classifier import KNNClassifier

        return KNNClassifier(self.k, **self.params)

    def _columns(self) -> dict[str, np.ndarray]:
        columns = {
            "train": self.train_error,
            "train_se": self.train_se,
            "cv": self.cv_error,
            "cv_sd": self.cv_sd,
            "cv_se": self.cv_se,
        }
        if self.test_error is not None:
            columns |= {"test": self.test_error, "test_se": _of_share(self.test_error, self.n_test)}
        return columns

    def to_frame(self) -> pd.DataFrame:
        """The errors as a pandas table, one line for each k."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "to_frame needs pandas; install it with: pip install 'tamiz[frames]'"
            ) from None
        return pd.DataFrame(self._columns(), index=pd.Index(self.ks, name="k"))

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, fit for JSON."""
        at = int(np.flatnonzero(self.ks == self.k)[0])
        table = self._columns()
        plain: dict[str, Any] = _plain(
            {
                "k": self.k,
                "rule": self.rule,
                "errors": [
                    {"k": k, **{name: values[i] for name, values in table.items()}}
                    for i, k in enumerate(self.ks)
                ],
                "at_k": {name: values[at] for name, values in table.items()},
                "n_splits": len(self.cv_errors),
                "n_train": self.n_train,
                "n_test": self.n_test,
                "params": self.params,
                "interrupted": self.interrupted,
                "seconds": self.seconds,
            }
        )
        return plain

    def __repr__(self) -> str:
        at = int(np.flatnonzero(self.ks == self.k)[0])
        return f"<KChoice: k = {self.k} of {len(self.ks)}, error {self.cv_error[at]:.4f}>"

    def __str__(self) -> str:
        chosen = self.k
        shown = self._shown(chosen)
        head = "     k   training   cross-validated (± sd)"
        lines = [head + ("     test" if self.test_error is not None else "")]
        for i in shown:
            mark = "*" if self.ks[i] == chosen else " "
            sd = "      " if np.isnan(self.cv_sd[i]) else f"{self.cv_sd[i]:.4f}"
            line = (
                f"{mark}{self.ks[i]:5d}     {self.train_error[i]:.4f}"
                f"          {self.cv_error[i]:.4f} ± {sd}"
            )
            if self.test_error is not None:
                line += f"   {self.test_error[i]:.4f}"
            lines.append(line.rstrip())
        if len(shown) < len(self.ks):
            lines.append(f"  ({len(shown)} of {len(self.ks)} values of k; to_frame() has all)")
        words = {"best": "least cross-validated error", "1se": "largest within one standard error"}
        lines.append(f"* k = {chosen}: {words[self.rule]}, {len(self.cv_errors)} folds, ")
        lines[-1] += f"{self.n_train} samples" + (", stopped early" if self.interrupted else "")
        return "\n".join(lines)

    def _shown(self, chosen: int) -> list[int]:
        """Places of the lines of the table: evenly spread, the chosen one among them."""
        if len(self.ks) <= _SHOWN:
            return list(range(len(self.ks)))
        spread = np.linspace(0, len(self.ks) - 1, _SHOWN - 1).round().astype(int).tolist()
        return sorted({*spread, int(np.flatnonzero(self.ks == chosen)[0])})

    def plot(self, ax: Any = None) -> Any:
        """Draw the errors over k, with a band of one standard error around the middle one.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        place = axes(ax)
        se = np.nan_to_num(self.cv_se)
        place.fill_between(
            self.ks, self.cv_error - se, self.cv_error + se, color="tab:blue", alpha=0.2, lw=0
        )
        place.plot(self.ks, self.cv_error, color="tab:blue", label="cross-validated (± se)")
        place.plot(self.ks, self.train_error, color="tab:gray", ls="--", label="training")
        if self.test_error is not None:
            place.plot(self.ks, self.test_error, color="tab:orange", ls="-.", label="test")
        place.axvline(self.k, color="black", lw=0.8, ls=":", label=f"k = {self.k} ({self.rule})")
        place.set_xlabel("number of neighbours k")
        place.set_ylabel("error")
        place.legend()
        return place


def _of_share(share: np.ndarray, n: int) -> np.ndarray:
    return np.sqrt(share * (1 - share) / max(1, n))
