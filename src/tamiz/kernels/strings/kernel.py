"""A kernel of strings: how many subsequences two of them share, gaps discounted."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tamiz.kernels._checks import Array, check_real
from tamiz.kernels.base import Kernel
from tamiz.kernels.strings.gram import Scale, TooManySubsequences, gram, scale_for, self_values
from tamiz.kernels.strings.texts import CUTS, Encoded, Texts, as_texts

if TYPE_CHECKING:
    from tamiz.kernels.features.base import FeatureGram

#: Least K(s, s) that a kernel without normalisation may have, to stay clear of rounding to zero.
_LEAST = 1e-290


class GapWeighted(Kernel):
    r"""Gap-weighted subsequences: strings are alike if they share many pieces, gaps discounted.

    .. math:: K_m(s, t) = \sum_{u} \sum_{i:\, u = s(i)} \sum_{j:\, u = t(j)} \lambda^{l(i) + l(j)}

    sums over all subsequences u of length m that s and t have in common. A subsequence need not be
    contiguous: its occurrence i in s reaches over l(i) symbols, from its first to its last, and
    counts :math:`\lambda^{l(i)}`. Normalised, it is :math:`K(s, t) / \sqrt{K(s, s) K(t, t)}`, the
    cosine of the angle between s and t, which does not grow with the lengths of the strings.

    Parameters
    ----------
    length : int, default=2
        Length m of the subsequences, at least 1.
    decay : float, default=0.5
        Discount λ for each symbol that a subsequence reaches over, above 0 and at most 1. Small
        values count nearly contiguous pieces only, 1 counts all alike however far apart.
    normalize : bool, default=True
        Divide by the norms.
    weights : sequence of float, optional
        ``length`` factors w_1, ..., w_m, not negative: the kernel is then the sum of w_q K_q over
        all lengths q up to m. Each K_q is normalised before they are summed, since λ^(2q) and the
        number of subsequences would otherwise decide which length matters. None takes the length
        m alone.
    tokens : {"char", "word"} or callable, default="char"
        What a symbol is: a character (Unicode code point), a word (a run of letters, digits and
        underscores), or what the function makes of a string, a list of anything hashable. A
        sample that is a list or tuple already is taken as it is, each element a symbol.
    lowercase : bool, default=False
        Turn strings into lower case before they are cut.

    See Also
    --------
    Precomputed : for a Gram matrix that was computed once and is used many times.

    Notes
    -----
    A string of fewer than m symbols, such as the empty one, has no subsequence of length m: its
    feature vector is zero, and so are its kernel values with every string and with itself. That
    keeps Gram matrices positive semi-definite, normalised or not.

    The dynamic programme takes time ``O(m |s| |t|)`` and memory ``O(m |t|)``. Factors λ^(2m) are
    taken out before, so that normalised values are right however small λ and however long the
    strings are; what gaps alone reduce to less than 1e-240 may be taken as zero.

    References
    ----------
    H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini and C. Watkins, "Text classification
    using string kernels", Journal of Machine Learning Research 2, 2002.

    Examples
    --------
    "SVM" and "SVA" share "SV" only, whose weight is λ² in both:

    >>> from tamiz.kernels import GapWeighted
    >>> GapWeighted(length=2, decay=0.5, normalize=False)(["SVM"], ["SVA", "SVM", "MVS"])
    array([[0.0625  , 0.140625, 0.      ]])
    >>> GapWeighted(length=2, decay=0.5)(["SVM", "SVA"]).round(4)
    array([[1.    , 0.4444],
           [0.4444, 1.    ]])

    Words as symbols:

    >>> kernel = GapWeighted(length=2, tokens="word", lowercase=True)
    >>> kernel(["The cat sat down."], ["the cat, slowly, sat"]).round(3)
    array([[0.456]])
    """

    _parameters = ("length", "decay", "normalize", "weights", "tokens", "lowercase")
    _defaults = {
        "length": 2,
        "decay": 0.5,
        "normalize": True,
        "weights": None,
        "tokens": "char",
        "lowercase": False,
    }

    def __init__(
        self,
        length: int = 2,
        decay: float = 0.5,
        normalize: bool = True,
        *,
        weights: Sequence[float] | None = None,
        tokens: str | Callable[[str], Any] = "char",
        lowercase: bool = False,
    ) -> None:
        self.length = length
        self.decay = decay
        self.normalize = normalize
        self.weights = weights
        self.tokens = tokens
        self.lowercase = lowercase
        self._check_parameters()

    def _check_parameters(self) -> None:
        length = self.length
        whole = isinstance(length, numbers.Integral) and not isinstance(length, bool | np.bool_)
        if not whole or length < 1:
            raise ValueError(
                "length of GapWeighted must be a whole number of at least 1, the number of "
                f"symbols of a subsequence; got {length!r}."
            )
        check_real("decay", self.decay, "GapWeighted")
        if not 0 < self.decay <= 1:
            raise ValueError(
                f"decay of GapWeighted must be above 0 and at most 1; got {self.decay!r}. 0.5 is "
                "usual, 1 leaves gaps without a discount."
            )
        for name in ("normalize", "lowercase"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(
                    f"{name} of GapWeighted must be True or False; got {getattr(self, name)!r}."
                )
        known = isinstance(self.tokens, str) and self.tokens in CUTS
        usable = callable(self.tokens) and isinstance(self.tokens, Hashable)
        if not known and (not usable or isinstance(self.tokens, type)):
            raise ValueError(
                "tokens of GapWeighted must be 'char', 'word' or a function, hashable, that turns "
                f"a string into a list of symbols; got {self.tokens!r}."
            )
        self._check_weights()
        least = float(self.decay) ** (2 * int(length))
        if not self.normalize and least < _LEAST:
            raise ValueError(
                f"decay={self.decay!r} to the power of 2 * length = {2 * length} is beyond what "
                "float64 holds, and so are kernel values. Use normalize=True, which takes this "
                "factor out, or a larger decay."
            )

    def _check_weights(self) -> None:
        if self.weights is None:
            return
        flat = getattr(self.weights, "ndim", 1) == 1
        if not isinstance(self.weights, list | tuple | np.ndarray) or not flat:
            raise ValueError(
                "weights of GapWeighted must be a list of numbers, one for each length from 1 to "
                f"{self.length}; got {self.weights!r}."
            )
        if len(self.weights) != self.length:
            raise ValueError(
                f"weights of GapWeighted has {len(self.weights)} entries for length="
                f"{self.length}; give one for each length from 1 to {self.length}, zero for those "
                "that should not count."
            )
        for k, value in enumerate(self.weights):
            check_real(f"weights[{k}]", value, "GapWeighted")
            if value < 0:
                raise ValueError(
                    f"weights[{k}] of GapWeighted must not be negative; got {value!r}. A negative "
                    "weight makes Gram matrices indefinite."
                )
        if not any(self.weights):
            raise ValueError("weights of GapWeighted are all zero; at least one must be positive.")

    @property
    def compares_text(self) -> bool:
        return True

    @property
    def always_mercer(self) -> bool:
        return True

    @property
    def bound(self) -> float:
        if not self.normalize:
            return float("inf")
        return 1.0 if self.weights is None else float(self._factors().sum())

    # ------------------------------------------------------------------ values

    def _samples(self, X: Any, name: str = "X") -> Texts:
        return as_texts(X, name, type(self).__name__)

    def _gram(self, X: Texts, Z: Texts | None) -> Array:
        a = self._encoded(X)
        b = None if Z is None else self._encoded(Z)
        if self._is_beyond(a) or (b is not None and self._is_beyond(b)):
            return np.zeros((len(X), len(X if Z is None else Z)))
        scale = self._scale(a, a if b is None else b)
        left = self._multipliers(X, a, scale)
        right = left if Z is None or b is None else self._multipliers(Z, b, scale)
        out = gram(a, b, left, right, float(self.decay), scale)
        if Z is None:
            np.fill_diagonal(out, self._diag(X))
        if not self.normalize and not np.isfinite(out).all():
            self._refuse_overflow()
        return out

    def _diag(self, X: Texts) -> Array:
        a = self._encoded(X)
        if self._is_beyond(a):
            return np.zeros(len(X))
        if self.normalize:
            return self._present(a) @ self._factors()
        scale = self._scale(a, a)
        with np.errstate(over="ignore"):
            diag = (self._self_values(X, a, scale) * self._multipliers(X, a, scale) ** 2).sum(
                axis=1
            )
        if not np.isfinite(diag).all():
            self._refuse_overflow()
        return np.asarray(diag)

    def _error_scale(self, X: Any, diag: Array) -> float:
        longest = float(self._encoded(X).lengths.max(initial=1))
        return longest * super()._error_scale(X, diag)

    def _encoded(self, X: Texts) -> Encoded:
        return X.encoded(self.tokens, bool(self.lowercase))

    def _factors(self) -> Array:
        """w_1, ..., w_m."""
        if self.weights is not None:
            return np.array([float(value) for value in self.weights])
        return np.eye(1, int(self.length), int(self.length) - 1)[0]

    def _is_beyond(self, a: Encoded) -> bool:
        """Whether no string is as long as the subsequences, however long these are."""
        return self.weights is None and int(a.lengths.max(initial=0)) < int(self.length)

    def _present(self, a: Encoded) -> NDArray[np.bool_]:
        """Whether a string has subsequences of each length."""
        return a.lengths[:, None] >= np.arange(1, int(self.length) + 1)

    def _scale(self, a: Encoded, b: Encoded) -> Scale:
        s, t = (int(part.lengths.max(initial=1)) for part in (a, b))
        try:
            return scale_for(s, t, int(self.length), float(self.decay))
        except TooManySubsequences:
            self._refuse_overflow()

    def _refuse_overflow(self) -> NoReturn:
        raise ValueError(
            f"the strings have more subsequences of length {self.length} in common than float64 "
            f"holds with decay={self.decay!r}; use a smaller length or a smaller decay"
            + ("." if self.normalize else ", or normalize=True.")
        )

    def _self_values(self, X: Texts, a: Encoded, scale: Scale) -> Array:
        """Sums of M_q of each string with itself, kept with the strings."""
        m, decay = int(self.length), float(self.decay)
        key = ("norms", self.tokens, bool(self.lowercase), m, decay, scale)
        return np.asarray(X.remembered(key, lambda: self_values(a, m, decay, scale)))

    def _multipliers(self, X: Texts, a: Encoded, scale: Scale) -> Array:
        """What the sums of M_q are multiplied by on behalf of each string, on either side."""
        root = np.sqrt(self._factors())
        if not self.normalize:
            q = np.arange(1, int(self.length) + 1)
            factors = root * float(self.decay) ** q / np.sqrt(scale.one)
            return np.ascontiguousarray(np.broadcast_to(factors, (len(X), len(factors))))
        values = self._self_values(X, a, scale)
        return np.ascontiguousarray(root / np.sqrt(np.where(self._present(a), values, 1.0)))

    # ------------------------------------------------------------------ what strings do not have

    def _track(self, X: Array, scale: Array) -> FeatureGram:
        self._refuse_features()

    def _restrict(self, columns: NDArray[np.intp], width: int) -> Kernel:
        self._refuse_features()

    def _refuse_features(self) -> NoReturn:
        raise ValueError(
            f"{self!r} compares whole strings, which have no features to select; use a kernel of "
            "vectors such as RBF() or Linear() on a table of numbers."
        )
