r"""Features grown from the columns by a grammar, and a filter that chooses among them.

.. code-block:: text

    feature   := column | unary(feature) | feature binary feature
    unary     := square | cube | sqrt | log | above
    binary    := product | ratio | sum | difference | greater

Growth goes level by level. The candidates of a level are the columns, what was chosen before, and
every expression that joins one of the latter (at the first level: a column) to another by an
operator; where these are too many, a random sample of them. A filter chooses some, from which the
next level grows.

An expression is a node of a program: operator, operands (columns or earlier nodes), and a constant
learnt from the rows of ``fit`` (the median for "above", the least divisor for "ratio").
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from tamiz.base import Selection, Selector, Stopwatch
from tamiz.callbacks import TakesCallbacks
from tamiz.display import Evidence
from tamiz.filters.information.mrmr import MRMR
from tamiz.filters.qpfs import QPFS
from tamiz.routing import Routes, refuse_unknown, refuse_unrequested, router_of, routes_to
from tamiz.runtime.progress import Progress
from tamiz.validation import (
    as_vector,
    check_sample_weight,
    check_X,
    depth_of_caller,
    refused,
    require_memory,
    unchanged_on_error,
)

_DEFAULT_NUMBER = 20
_FEWER = "Use fewer samples, operators or levels, or a smaller max_candidates."
_AMBIGUOUS = re.compile(r"[-\s*/+^<>|()\[\]`]|^\d[\d.e]*$|^$")  # names of columns to be quoted
_LARGEST = 1e100  # the square of a grown value is finite
_AT_ONCE = 64  # expressions
_LEAST_DIVISOR = 1e-3  # of the mean size


class Operator(NamedTuple):
    """One rule of the grammar."""

    text: str  # how an expression is written
    apply: Callable[[np.ndarray, np.ndarray, float], np.ndarray]
    n_operands: int = 2
    symmetric: bool = False
    learn: Callable[[np.ndarray, np.ndarray, np.ndarray | None], float] | None = (
        None  # the constant
    )


def _least_divisor(x: np.ndarray, z: np.ndarray, weight: np.ndarray | None) -> float:
    part = 1 / len(z) if weight is None else weight / weight.sum()
    mean = float(np.sum(np.abs(z) * (_LEAST_DIVISOR * part)))  # their sum may overflow
    return mean if 0.0 < mean < np.inf else 1.0


def _median(x: np.ndarray, z: np.ndarray, weight: np.ndarray | None) -> float:
    if weight is None:
        return 2.0 * float(np.median(0.5 * x))  # the sum of two values may overflow
    order = np.argsort(x, kind="stable")
    reached = np.cumsum(weight[order])
    half = 0.5 * reached[-1]
    low, high = (np.searchsorted(reached, half, side) for side in ("left", "right"))
    return float(0.5 * x[order[low]] + 0.5 * x[order[min(high, len(x) - 1)]])


def _ratio(x: np.ndarray, z: np.ndarray, least: float) -> np.ndarray:
    return x / np.where(np.abs(z) < least, np.copysign(least, z + 0.0), z)


OPERATORS = {
    "product": Operator("{}*{}", lambda x, z, _: x * z, symmetric=True),
    "ratio": Operator("{}/{}", _ratio, learn=_least_divisor),
    "sum": Operator("{}+{}", lambda x, z, _: x + z, symmetric=True),
    "difference": Operator("{}-{}", lambda x, z, _: x - z, symmetric=True),
    "greater": Operator("[{}>{}]", lambda x, z, _: (x > z) * 1.0, symmetric=True),
    "square": Operator("{}^2", lambda x, z, _: x * x, 1),
    "cube": Operator("{}^3", lambda x, z, _: x * x * x, 1),
    "sqrt": Operator("sqrt(|{}|)", lambda x, z, _: np.sqrt(np.abs(x)), 1),
    "log": Operator("log(1+|{}|)", lambda x, z, _: np.log1p(np.abs(x)), 1),
    "above": Operator("[{}>{}]", lambda x, z, t: (x > t) * 1.0, 1, learn=_median),
}


class Expression(NamedTuple):
    """A node of the program: a plain tuple in model files."""

    operator: str
    first: int  # a column, or the number of columns plus the position of an earlier node
    second: int  # the same as ``first`` with one operand
    constant: float = 0.0

    def of(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The values, from those of the operands; the caller lets them overflow."""
        values = OPERATORS[self.operator].apply(x, z, self.constant)
        if max(values.max(), -values.min()) > _LARGEST:
            np.clip(values, -_LARGEST, _LARGEST, out=values)  # the operators made it anew
        return values


class GrammarFeatures(TakesCallbacks, Evidence, TransformerMixin, BaseEstimator):
    """Grow features from the columns by a grammar and keep those that a filter chooses.

    Products, ratios, powers and indicators of columns, and of each other, are tried; QPFS or mRMR
    chooses by correlation, so that what is kept serves a linear machine. Everything is learnt from
    the rows of ``fit``: as a step of a pipeline it grows anew in every training part, and the error
    of cross-validation stays honest.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default=20
        How many of the candidates are kept, of the columns and of those grown: a number (all, if
        there are fewer), a fraction of the candidates of the last level, or as many as ``selector``
        gives weight. A ``selector`` that is no word says itself how many; a number is then ignored
        with a warning.
    operators : sequence of str, default=("product", "ratio", "square", "cube", "above")
        Rules of the grammar. Of two: "product", "ratio", "sum", "difference", "greater" (1 if the
        first exceeds the second). Of one: "square", "cube", "sqrt" (of the absolute value), "log"
        (of one plus the absolute value), "above" (1 if greater than the median in ``fit``).
    depth : int, default=1
        Levels of growth. At 2, expressions of expressions are tried, such as ``x0*x1/x2``.
    max_candidates : int, default=2000
        Most expressions of a level; a random sample is taken of more, so that ``random_state``
        decides which expressions are tried at all.
    selector : {"qpfs", "mrmr"} or selector, default="qpfs"
        What chooses: ``QPFS(similarity="pearson")``, ``MRMR(measure="f_pearson",
        scheme="quotient")`` (classes only), or any selector of this library.
    keep_columns : bool, default=False
        Whether all columns come first in what ``transform`` returns, chosen or not.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Attributes
    ----------
    program_ : list of tuples
        Operator, operands and constant of each expression that is needed. An operand below
        ``n_features_in_`` is a column, otherwise an earlier expression.
    outputs_ : ndarray
        What ``transform`` returns, best first: columns and expressions, numbered as operands are.
    selection_ : Selection
        The choice at the last level, with the names of the candidates.
    n_candidates_ : list of int
        Number of candidates at each level.
    status_ : str
        "finished", or "interrupted" by Ctrl-C or a callback: of the levels of growth those that
        were finished are kept.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if X had any.

    See Also
    --------
    QPFS : The filter that chooses.
    tamiz.kernels.Polynomial : All products at once, without a choice among them.

    Notes
    -----
    No value is missing or infinite: a divisor is kept at a thousandth of its mean size in ``fit``
    or more (with its sign; zero counts as positive), roots and logarithms are of absolute values,
    and every grown value is kept within ±1e100. Expressions that are constant in ``fit``, or equal
    to an earlier one in every row, are left out.

    In the names of expressions, those of columns that hold operators, spaces or brackets stand
    between backticks; an expression that reads like the name of a column stands in parentheses.

    References
    ----------
    .. [1] I. Rodriguez-Lujan, R. Huerta, C. Elkan, C. Santa Cruz (2010). Quadratic programming
           feature selection. JMLR 11.
    .. [2] M. O'Neill, C. Ryan (2001). Grammatical evolution. IEEE Transactions on Evolutionary
           Computation 5.

    Examples
    --------
    The sign of a product, which no column tells and no linear machine finds:

    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamiz.filters import GrammarFeatures
    >>> from tamiz.svm import SVC
    >>> X = np.random.default_rng(0).normal(size=(200, 20))
    >>> y = (X[:, 1] * X[:, 2] > 0).astype(int)
    >>> grown = GrammarFeatures(3).fit(X, y)
    >>> grown.get_feature_names_out()[0]
    'x1*x2'
    >>> machine = make_pipeline(GrammarFeatures(3), StandardScaler(), SVC(kernel="linear"))
    >>> bool(cross_val_score(machine, X, y, cv=5).mean() > 0.95)
    True
    """

    _tables = 4  # of the size of X, that a fit works on
    _parameter_constraints: dict[str, list[Any]] = {
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            StrOptions({"auto"}),
        ],
        "operators": [list, tuple],
        "depth": [Interval(Integral, 1, None, closed="left")],
        "max_candidates": [Interval(Integral, 1, None, closed="left")],
        "selector": [StrOptions({"qpfs", "mrmr"}), Selector],
        "keep_columns": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str = _DEFAULT_NUMBER,
        *,
        operators: Any = ("product", "ratio", "square", "cube", "above"),
        depth: int = 1,
        max_candidates: int = 2000,
        selector: Any = "qpfs",
        keep_columns: bool = False,
        random_state: Any = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.operators = operators
        self.depth = depth
        self.max_candidates = max_candidates
        self.selector = selector
        self.keep_columns = keep_columns
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **metadata: Any) -> GrammarFeatures:
        """Grow features and choose.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Columns, all numeric, none missing.
        y : array-like of shape (n_samples,)
            Labels, or numbers for a regression.
        sample_weight : array-like of shape (n_samples,), optional
            Numbers of rows that each sample stands for, in the choice and in the constants of the
            expressions. Samples of weight zero are left out.
        **metadata : dict
            What else a selector asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self : GrammarFeatures
        """
        self._validate_params()
        refuse_unknown("fit", metadata)
        given = {"sample_weight": sample_weight, **metadata}
        refuse_unrequested(self, **given)
        with unchanged_on_error(self):
            watch = Stopwatch()
            words = all(isinstance(name, str) for name in self.operators)
            if not self.operators or not words or not set(self.operators) <= set(OPERATORS):
                known = f"must name some of: {', '.join(OPERATORS)}."
                raise refused("operators", self.operators, known)
            X, y = check_X(self, X, reset=True, min_samples=2), as_vector(y)
            X, y, weight, extra = self._weighed(X, y, given)
            self._check_selector(y)
            rng = check_random_state(self.random_state)
            operators = tuple(dict.fromkeys(self.operators))
            growth = _GrownColumns(X, weight)
            levels: list[_Level] = []
            most = int(self.depth) * (len(operators) + 1)
            with Progress("GrammarFeatures", most=most) as progress:
                try:
                    while len(levels) < self.depth:
                        chosen = levels[-1].chosen if levels else np.arange(X.shape[1])
                        new = growth.level(chosen, operators, self.max_candidates, rng, progress)
                        candidates = np.union1d(np.union1d(np.arange(X.shape[1]), chosen), new)
                        selection = self._choose(growth.values(candidates), y, extra)
                        levels.append(_Level(candidates, selection))
                        progress.update(f"level {len(levels)} of {self.depth}")
                except KeyboardInterrupt:
                    if not levels:
                        raise
            self._note_status(len(levels))
            self.n_candidates_ = [len(level.candidates) for level in levels]
            candidates, selection = levels[-1]
            names = _names_of(growth.nodes, candidates, _check_feature_names_in(self, None))
            self.selection_ = replace(
                selection, names=names, method=type(self).__name__, seconds=watch.seconds
            )
            self._keep(growth.nodes, levels[-1].chosen)
        return self

    def _note_status(self, n_levels: int) -> None:
        self.status_ = "finished"
        if n_levels < self.depth:
            self.status_ = "interrupted"
            warnings.warn(
                f"GrammarFeatures: interrupted after {n_levels} of {self.depth} levels; what was "
                "chosen at the last of them is kept.",
                ConvergenceWarning,
                stacklevel=depth_of_caller(),
            )

    def transform(self, X: Any) -> Any:
        """Return the features chosen, each row by itself.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Columns as in ``fit``.

        Returns
        -------
        grown : array of shape (n_samples, n_chosen)
        """
        check_is_fitted(self, "program_")
        X = check_X(self, X, reset=False)
        values = list(X.T)
        with np.errstate(over="ignore"):
            for node in map(Expression._make, self.program_):
                values.append(node.of(values[node.first], values[node.second]))
        chosen = [values[k] for k in self.outputs_]
        return np.column_stack(chosen) if chosen else np.empty((len(X), 0))

    def get_metadata_routing(self) -> Any:
        """Who gets what is passed to ``fit``: the selector, if it is none of the two words.

        Returns
        -------
        routing : MetadataRouter
        """
        return router_of(self, selector=(self.selector, "fit"))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the expressions, such as ``x1*x2``, with the names of the columns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns; by default those of ``fit``.
        """
        check_is_fitted(self, "program_")
        columns = _check_feature_names_in(self, input_features)
        nodes = list(map(Expression._make, self.program_))
        return np.array(_names_of(nodes, self.outputs_, columns), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _evidence(self) -> dict[str, Any]:
        if not hasattr(self, "program_"):
            return {}
        found = {"candidates at the last level": self.n_candidates_[-1]}
        return found | {"expressions kept": len(self.program_)} | super()._evidence()

    def _evidence_html(self, caption: str = "What was found") -> str:
        found = super()._evidence_html(caption)
        return found + self.selection_._repr_html_() if hasattr(self, "program_") else found

    def _weighed(
        self, X: np.ndarray, y: np.ndarray, given: dict[str, Any]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, dict[str, Any]]:
        """Samples of positive weight, their target and weights, and what the selector gets."""
        weight, used = given["sample_weight"], None
        if weight is not None:
            weight = given["sample_weight"] = check_sample_weight(weight, len(X))
            used = np.flatnonzero(weight > 0)
            if len(y) != len(X):
                raise ValueError(f"X has {len(X)} rows, but y has {len(y)} entries.")
        if isinstance(self.selector, Selector):
            routes = routes_to(self, "selector", self.selector, len(X), given)
        else:
            routes = Routes({"selector": {} if weight is None else given}, len(X))
        extra = routes.part("selector", used)
        return (X, y, None, extra) if used is None else (X[used], y[used], weight[used], extra)

    def _check_selector(self, y: np.ndarray) -> None:
        if isinstance(self.selector, Selector):
            if self.n_features_to_select != _DEFAULT_NUMBER:
                name, wanted = type(self.selector).__name__, self.n_features_to_select
                warnings.warn(
                    f"n_features_to_select={wanted!r} is ignored, since the selector says itself "
                    f"how many: give the number to {name}.",
                    UserWarning,
                    stacklevel=depth_of_caller(),
                )
        elif self.selector == "mrmr" and type_of_target(y).startswith("continuous"):
            advice = 'needs classes, but y is numeric; use selector="qpfs".'
            raise refused("selector", self.selector, advice)

    def _choose(self, candidates: np.ndarray, y: np.ndarray, extra: dict[str, Any]) -> Any:
        if isinstance(self.selector, Selector):
            return clone(self.selector).fit(candidates, y, **extra).selection_
        wanted = self.n_features_to_select
        if isinstance(wanted, Integral):
            wanted = min(int(wanted), candidates.shape[1])
        qpfs = QPFS(wanted, similarity="pearson")
        mrmr = MRMR(wanted, measure="f_pearson", scheme="quotient")
        return {"qpfs": qpfs, "mrmr": mrmr}[self.selector].fit(candidates, y, **extra).selection_

    def _keep(self, nodes: list[Expression], chosen: np.ndarray) -> None:
        """Keep the expressions that the chosen ones need, numbered anew."""
        p = self.n_features_in_
        needed = {int(k) for k in chosen if k >= p}
        for k in range(p + len(nodes) - 1, p - 1, -1):
            if k in needed:
                node = nodes[k - p]
                needed |= {k for k in (node.first, node.second) if k >= p}
        place = {k: k for k in range(p)}
        place.update({k: p + i for i, k in enumerate(sorted(needed))})
        self.program_ = [
            (node.operator, place[node.first], place[node.second], node.constant)
            for node in (nodes[k - p] for k in sorted(needed))
        ]
        outputs = [place[int(k)] for k in chosen]
        if self.keep_columns:
            outputs = [*range(p), *(k for k in outputs if k >= p)]
        self.outputs_ = np.array(outputs, dtype=np.intp)


class _Level(NamedTuple):
    """One level of growth: what there was to choose from, and the choice."""

    candidates: np.ndarray
    selection: Selection

    @property
    def chosen(self) -> np.ndarray:
        """The candidates chosen, best first."""
        order = self.selection.order
        return self.candidates[order][self.selection.support[order]]


class _GrownColumns:
    """Expressions grown so far, with their values in the rows of ``fit``."""

    def __init__(self, X: np.ndarray, weight: np.ndarray | None = None):
        self.weight = weight
        self.columns, self.p = np.ascontiguousarray(X.T), X.shape[1]
        self.nodes: list[Expression] = []
        self._grown: list[np.ndarray] = []
        odd = np.random.default_rng(0).integers(0, 2**62, len(X), dtype=np.uint64)
        self._factors = 2 * odd + np.uint64(1)
        self._seen: dict[int, list[int]] = {}  # by a sum over the bits of the values
        for k in range(self.p):
            self._seen.setdefault(self._mark(self.columns[k]), []).append(k)

    def _mark(self, values: np.ndarray) -> int:
        return int(values.view(np.uint64) @ self._factors)

    def value(self, k: int) -> np.ndarray:
        return self.columns[k] if k < self.p else self._grown[k - self.p]

    def values(self, which: np.ndarray) -> np.ndarray:
        n = self.columns.shape[1]
        require_memory(
            32 * n * len(which),
            f"GrammarFeatures compares {len(which):,} expressions of {n:,} samples",
            _FEWER,
        )
        table = np.empty((n, len(which)))
        for start in range(0, len(which), _AT_ONCE):  # what is turned round stays in the cache
            some = which[start : start + _AT_ONCE]
            table[:, start : start + _AT_ONCE] = np.array([self.value(int(k)) for k in some]).T
        return table

    def level(
        self,
        chosen: np.ndarray,
        operators: tuple[str, ...],
        most: int,
        rng: Any,
        progress: Progress,
    ) -> np.ndarray:
        """Grow the next level from what was chosen; the numbers of the new expressions."""
        p = self.p
        fresh = sorted(int(k) for k in chosen if k >= p) or list(range(p))
        known = np.array([*fresh, *sorted({*range(p), *map(int, chosen)} - set(fresh))])
        # pairs (i, j) of known operands, i fresh and before j, are numbered row by row
        ends = np.cumsum(len(known) - 1 - np.arange(len(fresh)))
        grown: list[int | None] = []
        sampled = list(_sampled(operators, len(fresh), int(ends[-1]), most, rng))
        n, count = self.columns.shape[1], sum(len(rules) for _, rules in sampled)
        require_memory(  # values, as bytes beside them, and in a table
            24 * n * count,
            f"GrammarFeatures grows {count:,} expressions of {n:,} samples",
            _FEWER,
        )
        for name, rules in sampled:
            if OPERATORS[name].n_operands == 1:
                first = second = known[rules]
            else:
                pair, turned = rules % ends[-1], rules >= ends[-1]
                i = np.searchsorted(ends, pair, side="right")
                pairs = np.sort([known[i], known[pair - ends[i] + len(known)]], axis=0)
                first, second = np.where(turned, pairs[::-1], pairs)
            with np.errstate(over="ignore"):
                grown += [
                    self._grow(name, int(a), int(b)) for a, b in zip(first, second, strict=True)
                ]
            progress.update(f"{len(grown):,} of {count:,} expressions grown")
        return np.array([k for k in grown if k is not None], dtype=np.intp)

    def _grow(self, operator: str, first: int, second: int) -> int | None:
        x, z = self.value(first), self.value(second)
        learn = OPERATORS[operator].learn
        node = Expression(operator, first, second, learn(x, z, self.weight) if learn else 0.0)
        values = node.of(x, z)
        alike = self._seen.setdefault(self._mark(values), [])
        if any(np.array_equal(values, self.value(k)) for k in alike):
            return None
        if values[0] == values[-1] and not np.ptp(values):
            return None
        self.nodes.append(node)
        self._grown.append(values)
        alike.append(self.p + len(self.nodes) - 1)
        return alike[-1]


def _sampled(
    operators: tuple[str, ...], n_single: int, n_pairs: int, most: int, rng: Any
) -> Iterator[tuple[str, np.ndarray]]:
    """The operators with the numbers of their operands: all of them, or a random sample.

    Numbers beyond ``n_pairs`` stand for pairs the other way round.
    """
    sizes = []
    for name in operators:
        rule = OPERATORS[name]
        both = n_pairs if rule.symmetric else 2 * n_pairs
        sizes.append(n_single if rule.n_operands == 1 else both)
    ends = np.cumsum(sizes)
    n_rules = int(ends[-1])
    if n_rules <= most:
        which = np.arange(n_rules)
    else:
        which = np.sort(sample_without_replacement(n_rules, most, random_state=rng))
    parts = np.split(which, np.searchsorted(which, ends[:-1]))
    for name, part, begin in zip(operators, parts, ends - sizes, strict=True):
        yield name, part - begin


def _names_of(nodes: list[Expression], which: Any, columns: Any) -> list[str]:
    """Texts of columns and expressions, all different; operands stand in brackets or backticks."""
    texts = [str(name) for name in columns]
    operands = [f"`{t.replace('`', '``')}`" if _AMBIGUOUS.search(t) else t for t in texts]
    taken = set(texts)
    for node in nodes:
        rule = OPERATORS[node.operator]
        second = f"{node.constant:.4g}" if rule.n_operands == 1 else operands[node.second]
        text = rule.text.format(operands[node.first], second)
        operands.append(text if rule.text[-1] in ")]" else f"({text})")
        while text in taken:
            text = f"({text})"
        texts.append(text)
    return [texts[int(k)] for k in which]
