"""A kernel of strings: how many subsequences two of them share, gaps discounted.

Gram matrices of strings: which form of the programme, in which order, on which threads.

Work is cut into rounds of about a fifth of a second, so that Ctrl-C is heard and progress can be
shown; within a round, each thread gets strings of the same total cost, however uneven their
lengths are. The values do not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from tamiz.kernels.base import Kernel
from tamiz.kernels.strings.compiled import (
    LANES,
    common_symbols,
    interleave,
    lane_rows,
    mirror_half,
    pair_rows,
    self_groups,
)
from tamiz.kernels.strings.texts import CUTS, Encoded, Texts, as_texts
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import n_threads, run_tiles
from tamiz.validation import (
    Array,
    check_count,
    check_factors,
    check_proportion,
    check_switch,
    refused_of,
)

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
        length, owner = self.length, "GapWeighted"
        check_count("length", length, owner, ", the number of symbols of a subsequence")
        usual = "0.5 is usual, 1 leaves gaps without a discount."
        check_proportion("decay", self.decay, owner, usual)
        for name in ("normalize", "lowercase"):
            check_switch(name, getattr(self, name), owner)
        known = isinstance(self.tokens, str) and self.tokens in CUTS
        usable = callable(self.tokens) and isinstance(self.tokens, Hashable)
        if not known and (not usable or isinstance(self.tokens, type)):
            raise refused_of(
                owner,
                "tokens",
                self.tokens,
                "be 'char', 'word' or a function, hashable, that turns a string into a list of "
                "symbols",
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
        check_factors(
            "weights",
            self.weights,
            "GapWeighted",
            f", one for each length from 1 to {self.length}",
            "A negative weight makes Gram matrices indefinite.",
        )
        if len(self.weights) != self.length:
            raise ValueError(
                f"weights of GapWeighted has {len(self.weights)} entries for length="
                f"{self.length}; give one for each length from 1 to {self.length}, zero for those "
                "that should not count."
            )

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


ROUND_SECONDS = 0.2
WORTH_A_THREAD = 2e-4  # seconds of work that pay for handing it to another thread

# Measured seconds: of a symbol of s at one level for all lanes, the same for a symbol of t in one
# lane; of a cell at one level alone, of a symbol that is looked up, of a pair.
LANE_STEP = 10e-9
LANE_CELL = 0.2e-9
PAIR_CELL = 1.7e-9
PAIR_SYMBOL = 1.5e-9
PAIR = 15e-9

_SAMPLED_PAIRS = 256
_verbose: ContextVar[int] = ContextVar("tamiz_strings_verbose", default=0)


@contextmanager
def showing_progress(verbose: bool | int) -> Iterator[None]:
    """Show the progress of Gram matrices of strings that take longer than two seconds."""
    token = _verbose.set(int(verbose))
    try:
        yield
    finally:
        _verbose.reset(token)


class Scale(NamedTuple):
    """Numbers that keep the programme within what float64 holds.

    Attributes
    ----------
    one : float
        Weight of a single match, a power of two: 1 unless sums over long strings would overflow.
    faint : float
        What stands in the place of zero.
    """

    one: float
    faint: float


class _StringPairs(NamedTuple):
    """The strings whose values are asked for, and the factors of their subsequences."""

    a: Encoded
    b: Encoded
    half: bool  # both are the same: the values are symmetric
    n_symbols: int
    factors: tuple[Array, Array]  # of each string of a and b, for each length


class TooManySubsequences(ValueError):
    """Sums that are beyond float64 however they are scaled."""


def scale_for(longest_s: int, longest_t: int, length: int, decay: float) -> Scale:
    """Choose the scale from a bound on the sums: every symbol a match.

    There are ``C(|s|, q) C(|t|, q)`` pairs of subsequences; and with ``g = 1 / (1 - decay)`` each
    end of a chain has at most ``g²`` times the weight of the ends one link before.
    """
    largest = 0.0
    for q in range(1, min(length, longest_s, longest_t) + 1):
        count = _log2_choose(longest_s, q) + _log2_choose(longest_t, q)
        if decay < 1.0:
            gain = -2.0 * (q - 1) * math.log2(1.0 - decay)
            count = min(count, math.log2(longest_s) + math.log2(longest_t) + gain)
        largest = max(largest, count)
    if largest < 90.0:
        return Scale(1.0, 1e-280 if decay < 1.0 else 0.0)
    shift = max(0, math.ceil((largest - 1000.0) / 2.0))
    if 2 * shift > 900:
        raise TooManySubsequences
    return Scale(2.0 ** (-2 * shift), 0.0)


def self_values(a: Encoded, length: int, decay: float, scale: Scale) -> Array:
    """Sums of M_q of every string with itself, shape (n, length)."""
    out = np.empty((len(a.starts) - 1, length))
    order = np.argsort(a.lengths, kind="stable")
    longest = a.lengths[order][LANES - 1 :: LANES].astype(np.float64)
    longest = np.append(longest, a.lengths.max(initial=0))[: -(-len(order) // LANES)]
    cost = length * longest * (LANE_STEP + LANE_CELL * LANES * longest) + PAIR
    with Progress("string kernel, norms", _verbose.get()) as progress:
        for bounds, share in _rounds(cost):
            args = (bounds, order, (a.codes, a.starts), (decay, *scale), out)
            run_tiles(self_groups, len(bounds) - 1, *args)
            progress.update(f"{100 * share:.0f} %")
    return out


def gram(
    a: Encoded, b: Encoded | None, left: Array, right: Array, decay: float, scale: Scale
) -> Array:
    """Sums over q of ``left[i, q] right[c, q]`` times the sums of M_q.

    Symmetric if b is None; the diagonal is then left to the caller, who knows it.
    """
    half = b is None
    b, n_symbols = (a, len(a.symbols)) if b is None else b.in_alphabet_of(a)
    out = np.zeros((len(a.starts) - 1, len(b.starts) - 1))
    if not out.size or not n_symbols:
        return out
    pairs = _StringPairs(a, b, half, n_symbols, (left, right))
    method = _by_pairs if _pairs_are_cheaper(a, b, n_symbols, left.shape[1]) else _by_lanes
    with Progress("string kernel", _verbose.get()) as progress:
        order = method(pairs, decay, scale, out, progress)
    if half:
        run_tiles(mirror_half, len(order), order, out, min_items=1024)
    return out


def _pairs_are_cheaper(a: Encoded, b: Encoded, n_symbols: int, m: int) -> bool:
    """Compare what both forms would cost, by the symbols in common of some of the pairs."""
    n, k = len(a.starts) - 1, len(b.starts) - 1
    rng = np.random.default_rng(0)  # the same choice every time
    rows, columns = rng.integers(n, size=_SAMPLED_PAIRS), rng.integers(k, size=_SAMPLED_PAIRS)
    if a is b:  # a string has all symbols in common with itself, but that is known beforehand
        rows, columns = rows[rows != columns], columns[rows != columns]
    of_s, of_t = a.lengths[rows], b.lengths[columns]
    steps = of_s @ (LANE_STEP + LANE_CELL * LANES * of_t)
    dense = m * float(steps) / min(LANES, k)
    symbols = PAIR * len(rows) + PAIR_SYMBOL * float((of_s + of_t).sum())
    if symbols >= dense:
        return False
    cells = common_symbols((a.codes, a.starts), (b.codes, b.starts), rows, columns, n_symbols)
    return symbols + PAIR_CELL * m * float(cells) < dense


def _by_lanes(
    pairs: _StringPairs, decay: float, scale: Scale, out: Array, progress: Progress
) -> NDArray[np.intp]:
    """Strings of similar length share the lanes; a symmetric matrix needs rows from there on."""
    a, b, half, _, factors = pairs
    order = np.argsort(b.lengths, kind="stable")
    rows = order if half else np.arange(len(a.starts) - 1)
    lengths = a.lengths[rows].astype(np.float64)
    for start in range(0, len(order), LANES):
        columns = order[start : start + LANES]
        longest = int(b.lengths[columns[-1]])
        if not longest:
            continue  # nothing matches an empty string
        T = np.empty((longest, LANES), dtype=np.int32)
        interleave(b.codes, b.starts, columns, T)
        first = start if half else 0
        step = LANE_STEP + LANE_CELL * LANES * longest
        cost = factors[0].shape[1] * step * lengths[first:] + PAIR
        for bounds, share in _rounds(cost):
            where = (bounds, rows[first:], (a.codes, a.starts), (T, columns), factors)
            run_tiles(lane_rows, len(bounds) - 1, *where, (decay, *scale), out)
            done = start + share * len(columns)
            progress.update(f"{done:,.0f} of {len(order):,} strings")
    return order


def _by_pairs(
    pairs: _StringPairs, decay: float, scale: Scale, out: Array, progress: Progress
) -> NDArray[np.intp]:
    """Each pair by itself, without the symbols that one of the two strings does not have."""
    a, b, half, n_symbols, factors = pairs
    power = _powers(decay, np.concatenate([a.lengths, b.lengths]))
    n, k = out.shape
    typical = float(b.lengths.mean())
    cells = 0.1 * a.lengths * typical * factors[0].shape[1]  # of which few are left
    cost = PAIR + PAIR_SYMBOL * (a.lengths + typical) + PAIR_CELL * cells
    cost = cost * (np.arange(1, n + 1) if half else k)
    strings = (a.codes, a.starts), (b.codes, b.starts), n_symbols
    for bounds, share in _rounds(cost):
        where = (bounds, half, strings, factors, (power, *scale), out)
        run_tiles(pair_rows, len(bounds) - 1, *where)
        progress.update(f"{100 * share:.0f} %")
    return np.arange(n)


def _rounds(cost: Array) -> Iterator[tuple[NDArray[np.int64], float]]:
    """Cut items of known cost into rounds, each into pieces of equal cost, one for each thread."""
    done = np.cumsum(cost)
    total = float(done[-1]) if len(done) else 0.0
    threads = n_threads()
    start = 0
    while start < len(cost):
        before = float(done[start - 1]) if start else 0.0
        until = before + ROUND_SECONDS * threads
        stop = max(start + 1, int(np.searchsorted(done, until, side="right")))
        span = float(done[stop - 1]) - before
        pieces = min(threads, max(1, int(span / WORTH_A_THREAD)))
        cuts = np.searchsorted(done, before + span * np.arange(1, pieces) / pieces)
        inner = np.clip(cuts + 1, start, stop)
        yield np.concatenate([[start], inner, [stop]]).astype(np.int64), done[stop - 1] / total
        start = stop


def _powers(decay: float, lengths: Any) -> Array:
    """Powers of the decay up to the longest string; those of no consequence are zero."""
    with np.errstate(under="ignore"):
        power = decay ** np.arange(int(np.max(lengths, initial=0)) + 2, dtype=np.float64)
    power[power < 1e-280] = 0.0
    return np.asarray(power)


def _log2_choose(n: int, k: int) -> float:
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2.0)
