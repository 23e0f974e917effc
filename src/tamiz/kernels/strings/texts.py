"""What a string kernel is asked about: checked strings, and their symbols as integers.

A sample is a string, or a sequence of symbols such as the words of a text. Strings are cut into
symbols by characters (Unicode code points), by words, or by a function of the user. What is cut
once is kept beside the strings, and taken along when some of them are taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_WORD = re.compile(r"\w+")

#: How a string becomes symbols, by the names that users give.
CUTS: dict[str, Callable[[str], Sequence[Hashable]]] = {"char": list, "word": _WORD.findall}

_EXPECTED = "pass a list, an array or a Series of strings"


class Encoded(NamedTuple):
    """Strings as integers, one after the other in one array.

    Attributes
    ----------
    codes : array of int32
        Position of each symbol in ``symbols``.
    starts : array of int64
        Where each string begins in ``codes``, and where the last one ends.
    symbols : list
        The alphabet: all symbols that occur.
    """

    codes: NDArray[np.int32]
    starts: NDArray[np.int64]
    symbols: list[Any]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of symbols of each string."""
        return np.diff(self.starts)

    def take(self, index: NDArray[np.intp]) -> Encoded:
        """Some of the strings, with the same alphabet."""
        lengths = self.lengths[index]
        starts = _cumulated(lengths)
        shift = np.repeat(self.starts[index] - starts[:-1], lengths)
        return Encoded(self.codes[np.arange(starts[-1]) + shift], starts, self.symbols)

    def in_alphabet_of(self, other: Encoded) -> tuple[Encoded, int]:
        """The same strings in the numbers of ``other``, and how many numbers there are."""
        if self.symbols is other.symbols:
            return self, len(self.symbols)
        known = {symbol: k for k, symbol in enumerate(other.symbols)}
        table = np.array([known.setdefault(s, len(known)) for s in self.symbols], dtype=np.int32)
        codes = table[self.codes] if len(table) else self.codes
        return Encoded(codes, self.starts, []), len(known)


class Texts:
    """Checked strings (or tuples of symbols); slices and takes an index like one table.

    Parameters
    ----------
    items : array of objects
        Strings, or tuples of symbols.
    memo : dict, optional
        What is known of them: their symbols by way of cutting, and values that a kernel put there.
        Everything in it can be taken by the same index.
    """

    def __init__(self, items: NDArray[Any], memo: dict[Any, Any] | None = None) -> None:
        self.items = items
        self._memo = {} if memo is None else memo

    @property
    def shape(self) -> tuple[int, int]:
        """Number of strings, and one: each is a single thing."""
        return len(self.items), 1

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, where: Any) -> Texts:
        index = np.arange(len(self.items))[where]
        memo = {
            key: value.take(index) if isinstance(value, Encoded) else value[index]
            for key, value in self._memo.items()
        }
        return Texts(self.items[index], memo)

    def remembered(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What was computed before under ``key``, or now."""
        if key not in self._memo:
            self._memo[key] = compute()
        return self._memo[key]

    def encoded(self, tokens: str | Callable[[str], Any], lowercase: bool) -> Encoded:
        """The strings as numbers, cut as ``tokens`` says."""
        return self.remembered((tokens, lowercase), lambda: _encode(self.items, tokens, lowercase))


def as_texts(X: Any, name: str, owner: str) -> Texts:
    """Check samples of a string kernel; a sentence says what is wrong, and where."""
    if isinstance(X, Texts):
        return X
    items = _listed(X, name, owner)
    texts = np.empty(len(items), dtype=object)
    kinds: dict[str, int] = {}
    for i, item in enumerate(items):
        if isinstance(item, str):
            texts[i] = str(item)  # numpy's own strings are a kind of str
            kinds.setdefault("a string", i)
        else:
            texts[i] = _symbols(item, f"{name}[{i}]", owner)
            kinds.setdefault("a sequence of symbols", i)
    if len(kinds) > 1:
        found = " and ".join(f"{name}[{i}] is {kind}" for kind, i in kinds.items())
        raise ValueError(
            f"{name} mixes strings and sequences: {found}. Pass one kind only, for instance "
            "every sample as a list of words."
        )
    return Texts(texts)


def _listed(X: Any, name: str, owner: str) -> Sequence[Any]:
    """The samples one by one, whatever holds them."""
    if isinstance(X, np.ndarray) and not X.ndim:
        X = X.item()
    if isinstance(X, str | bytes):
        raise ValueError(f"{name} is one string, {X!r:.60}; {_EXPECTED}: [{name}] if it is alone.")
    if isinstance(X, list | tuple):
        return X
    if isinstance(X, np.ndarray):
        return _values(X, name, owner)
    if nw.dependencies.is_into_series(X) or nw.dependencies.is_into_dataframe(X):
        return _column(X, name, owner)
    if hasattr(X, "to_pylist"):  # an Arrow array
        return list(X.to_pylist())
    if hasattr(X, "__array__") and not sparse.issparse(X):  # an index or an array of pandas
        return _values(np.asarray(X), name, owner)
    raise ValueError(
        f"{owner} compares strings, but {name} is of type {type(X).__name__}; {_EXPECTED}."
    )


def _values(X: NDArray[Any], name: str, owner: str) -> Sequence[Any]:
    """The values of an array that has one axis, or one column."""
    if X.ndim == 2 and X.shape[1] == 1 and X.dtype.kind in "OUT":
        X = X[:, 0]
    if X.dtype.kind in "fiubcmM":
        raise ValueError(
            f"{owner} compares strings, but {name} holds numbers ({X.dtype}, shape {X.shape}). Use "
            f"a kernel of vectors such as RBF(), or {name}.tolist() if its rows are sequences of "
            "symbols."
        )
    if X.ndim != 1:
        raise ValueError(
            f"{name} has shape {X.shape}, but {owner} compares single strings. Pass one "
            f"column, {name}[:, 0], or {name}.tolist() if its rows are sequences of symbols."
        )
    return list(X.tolist())


def _column(X: Any, name: str, owner: str) -> Sequence[Any]:
    """The values of a Series, or of a table that has one column."""
    if nw.dependencies.is_into_series(X):
        return list(nw.from_native(X, series_only=True).to_list())
    frame = nw.from_native(X, eager_only=True)
    if not frame.columns:
        raise ValueError(f"{name} is a table without columns; {_EXPECTED}.")
    if len(frame.columns) > 1:
        listed = ", ".join(repr(column) for column in frame.columns[:5])
        raise ValueError(
            f"{name} is a table of {len(frame.columns)} columns ({listed}), but {owner} compares "
            f"single strings. Pass the column that holds them, such as "
            f"{name}[{frame.columns[0]!r}]."
        )
    return list(frame[frame.columns[0]].to_list())


def _symbols(item: Any, where: str, owner: str) -> tuple[Hashable, ...]:
    """One sample that is no string: a sequence of symbols, or something wrong."""
    if isinstance(item, bytes | bytearray):
        raise ValueError(f"{where} is bytes, {item!r:.40}; turn it into text by .decode().")
    if isinstance(item, list | tuple) or (isinstance(item, np.ndarray) and item.ndim == 1):
        symbols = tuple(s.item() if isinstance(s, np.generic) else s for s in item)
        for k, symbol in enumerate(symbols):
            if _is_missing(symbol):
                raise ValueError(
                    f"{where}[{k}] is missing ({symbol!r}); leave the symbol out, or put one of "
                    "its own in its place."
                )
            if isinstance(symbol, float) or not _is_hashable(symbol):
                raise ValueError(
                    f"{where}[{k}] is {symbol!r:.40} of type {type(symbol).__name__}, which is no "
                    f"symbol of a sequence; {owner} compares strings, words or integers. For "
                    "rows of real numbers use a kernel of vectors such as RBF()."
                )
        return symbols
    if _is_missing(item):
        raise ValueError(
            f"{where} is missing ({item!r}); put an empty string in its place, or leave the "
            "sample out."
        )
    raise ValueError(
        f"{where} is {item!r:.40} of type {type(item).__name__} where {owner} needs a string; turn "
        "it into text with str(), or leave the sample out."
    )


def _is_missing(value: Any) -> bool:
    """None, NaN, or what pandas writes in their place."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _is_hashable(symbol: Any) -> bool:
    try:
        hash(symbol)  # a tuple may hold a list
    except TypeError:
        return False
    return True


def _encode(items: NDArray[Any], tokens: Any, lowercase: bool) -> Encoded:
    strings = len(items) > 0 and isinstance(items[0], str)
    if strings and lowercase:
        items = np.array([item.lower() for item in items] + [None], dtype=object)[:-1]
    if strings and tokens == "char":
        return _encode_characters(items)
    cut = CUTS[tokens] if isinstance(tokens, str) else tokens
    known: dict[Any, int] = {}
    codes: list[int] = []
    lengths = []
    for i, item in enumerate(items):
        symbols = _checked_cut(cut(item), tokens, i) if strings else item
        codes.extend(known.setdefault(symbol, len(known)) for symbol in symbols)
        lengths.append(len(symbols))
    return Encoded(np.array(codes, dtype=np.int32), _cumulated(lengths), list(known))


def _encode_characters(items: NDArray[Any]) -> Encoded:
    """Code points, all strings at once: the alphabet is what occurs."""
    text = "".join(items.tolist()).encode("utf-32-le", "surrogatepass")
    points, codes = np.unique(np.frombuffer(text, dtype="<u4"), return_inverse=True)
    symbols = [chr(point) for point in points.tolist()]
    return Encoded(codes.astype(np.int32).ravel(), _cumulated([len(s) for s in items]), symbols)


def _checked_cut(symbols: Any, tokens: Any, i: int) -> Sequence[Hashable]:
    if isinstance(symbols, str) or not isinstance(symbols, Iterable):
        raise ValueError(
            f"tokens={tokens!r} must turn a string into a list of symbols; for sample {i} it gave "
            f"{symbols!r:.60}."
        )
    listed = list(symbols)
    for symbol in listed:
        if not _is_hashable(symbol):
            raise ValueError(
                f"tokens={tokens!r} gave the symbol {symbol!r:.40} for sample {i}, which cannot be "
                "compared quickly; symbols must be hashable, such as text, numbers or tuples."
            )
    return listed


def _cumulated(lengths: Any) -> NDArray[np.int64]:
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts
