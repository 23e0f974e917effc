"""What a worker does with a judge: here, or on a cluster."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from tamiz.search.judges import Judge


class FarJudge:
    """A judge that is sent to a cluster once, and told there what it should approach.

    Parameters
    ----------
    judge : Judge
        Of which every worker gets a copy.
    """

    def __init__(self, judge: Judge):
        self.judge = judge
        self._near: bytes | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"judge": self.judge}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["judge"])  # type: ignore[misc]

    def approach(self, features: np.ndarray | None, n_subsets: int) -> None:
        """Once for each new neighbourhood, whoever of the worker's threads comes first."""
        near = b"" if features is None else bytes(str(n_subsets), "ascii") + features.tobytes()
        with self._lock:
            if near != self._near:
                self.judge.approach(features, n_subsets)
                self._near = near


def judged_far(
    far: FarJudge,
    features: np.ndarray,
    splits: slice,
    failures: str,
    approach: tuple[np.ndarray | None, int],
) -> Any:
    """What :func:`judged` returns, on a worker of a cluster."""
    far.approach(*approach)
    return judged(far.judge, features, splits, failures)


def judged(judge: Judge, features: np.ndarray, splits: slice, failures: str) -> Any:
    """Scores of a subset, or the text of the failure."""
    try:
        return judge.score(features, splits)
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:
        if failures == "raise":
            shown = ", ".join(map(str, features[:10])) + (", …" if len(features) > 10 else "")
            error.add_note(
                f"This happened while the features at the positions {shown} were judged. With "
                "error_score='worst' such subsets count as the worst instead of ending the search."
            )
            raise
        return f"{type(error).__name__}: {error}"
