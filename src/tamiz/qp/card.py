"""The Gram matrix of a kernel on the card, behind the interface that solvers know."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tamiz.gpu.gram import CardGram, UnfitForCardError
from tamiz.gpu.lane import Lane
from tamiz.qp.matrices import KernelQ, OnCard

#: Kernels that a card computes, as users know them.
CARD_KERNELS = "Linear, Polynomial, RBF and Sigmoid"


def card_gram(lane: Lane, kernel: Any, X: Any, dtype: Any) -> CardGram:
    """Kernel values of these samples on the card.

    Parameters
    ----------
    lane : Lane
        The card.
    kernel : Kernel
        A resolved kernel.
    X : array of shape (n, p)
        The samples.
    dtype : numpy dtype
        In which entries are stored.

    Raises
    ------
    UnfitForCardError
        With a sentence that says why they are not for the card.
    """
    if sparse.issparse(X):
        raise UnfitForCardError(
            "X is sparse, and the card takes dense samples only; pass X.toarray(), or use "
            'device="cpu".'
        )
    form = kernel.card_form
    if form is None:
        raise UnfitForCardError(
            f"{kernel!r} is no kernel that the card computes; use one of {CARD_KERNELS}, or "
            'device="cpu".'
        )
    return CardGram(lane, form, X, dtype)


class CardQ(KernelQ):
    """The Gram matrix of a kernel on data, its entries computed and kept on the card.

    Parameters
    ----------
    lane : Lane
        The card.
    kernel, X, dtype
        As in :class:`~tamiz.qp.matrices.KernelQ`; X is dense.
    gram : CardGram, optional
        What is on the card already.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.gpu import emulated
    >>> from tamiz.kernels import RBF
    >>> from tamiz.qp.card import CardQ
    >>> with emulated() as lane:
    ...     Q = CardQ(lane, RBF(gamma=0.5), np.array([[0.0], [2.0]]))
    ...     print(Q.dot(np.array([1.0, 1.0])).round(4))
    [1.1353 1.1353]
    """

    def __init__(
        self, lane: Lane, kernel: Any, X: Any, dtype: Any = None, gram: CardGram | None = None
    ):
        super().__init__(kernel, X, dtype)
        self.lane = lane
        self.gram = card_gram(lane, kernel, X, self.dtype) if gram is None else gram

    def rows(self, index: np.ndarray) -> np.ndarray:
        return self.gram.block(index, np.arange(self.n))

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self.gram.block(rows, columns)

    def fill(self, out: np.ndarray, rows: np.ndarray, columns: np.ndarray | None = None) -> None:
        out[...] = self.rows(rows) if columns is None else self.block(rows, columns)

    def _all(self) -> np.ndarray:
        return self.rows(np.arange(self.n))

    def double(self) -> CardQ:
        self.gram.drop()  # what is there in float32 would stand in its way
        return CardQ(self.lane, self.kernel, self.X, np.float64)

    def subset(self, samples: np.ndarray, whole: bool) -> CardQ:
        """The part that belongs to ``samples``; entries are computed again, which costs less."""
        part = self.gram.subset(samples)
        return CardQ(self.lane, self.kernel, self.X[samples], self.dtype, part)

    def dot(self, vector: np.ndarray) -> np.ndarray:
        out = self.lane.xp.zeros(self.n, dtype=np.float64)
        support = np.flatnonzero(vector)
        self.gram.add_product(support, vector[support], out)
        return self.lane.to_host(out)

    def exact_dot(self, vector: np.ndarray) -> np.ndarray:
        return self.gram.exact_product(vector)

    def on_card(self) -> OnCard:
        return OnCard(self.gram, None)
