"""Hostile inputs for every estimator: an answer that is finite, or one sentence.

Every attempt makes one table, target, weights and container from its number, and fits one estimator
with some parameters that may be absurd; what was fitted is then used on the same rows, on rows of
other sizes, and on tables of another width. Its Shapley values are asked for, its ONNX graph, and
one other explanation: partial dependence, interactions, counterfactuals, permutation importance, or
its own words.
:class:`Extremes` does the same with numbers near the ends of float64 in every attempt.

Failures are: an error that is no ValueError or TypeError (or one of the package) with a sentence; a
warning of NumPy's, SciPy's or numba's; an answer that is not finite; inputs that were changed; and,
as everywhere, a process that dies and an attempt that takes too long.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin, clone
from sklearn.utils._param_validation import Interval, StrOptions

import tamiz
from tamiz.kernels import RBF, GapWeighted, Linear, Polynomial
from tamiz.neighbors import KNNClassifier
from tamiz.tree import CARTClassifier
from tools.attack.runner import Campaign
from tools.attack.zoo import ROOMS, USES

LONGEST = 1500  # letters of a message
#: Where a warning may come from; numerical libraries have nothing to say to users.
SPEAKERS = ("tamiz", "sklearn", "builtins")
#: NumPy's and SciPy's warnings that have the category of some of ours.
NUMERIC = re.compile(
    "encountered|empty slice|Degrees of freedom|Ill-conditioned|rcond|[Pp]recision"
)

Draw = np.random.Generator


class Subject(NamedTuple):
    """An estimator: what makes it, and parameters that keep it quick."""

    make: Callable[..., Any]
    quick: dict[str, Any]
    table: str = "numbers"  # or "gram", or "texts"


def subjects() -> dict[str, Subject]:
    """Name -> estimator: every public one, and kernels of every kind."""
    found: dict[str, Subject] = {}
    for room in ROOMS:
        module = getattr(tamiz, room)
        for name in module.__all__:
            kind = getattr(module, name)
            if hasattr(kind, "fit") and not getattr(kind, "__abstractmethods__", None):
                names = inspect.signature(kind).parameters
                quick = {key: value for key, value in QUICK.items() if key in names}
                if room == "search":
                    quick |= {"cv": 2, "time_budget": 10.0}
                    quick |= {"estimator": KNNClassifier(1)} if name != "BranchAndBound" else {}
                if name == "PegasosClassifier":  # a pass has a million steps if weights say so
                    quick["max_iter"] = 2
                found[name] = Subject(kind, quick)
    svm = tamiz.svm
    for kernel in ("linear", "poly", "sigmoid"):
        found[f"SVC {kernel}"] = Subject(svm.SVC, {"kernel": kernel})
    found["SVC callable"] = Subject(svm.SVC, {"kernel": inner_products})
    found["SVC sum"] = Subject(svm.SVC, {"kernel": RBF(0.2) + 0.5 * Linear()})
    found["SVC product"] = Subject(svm.SVC, {"kernel": Polynomial(2, gamma=0.1) * RBF(0.1)})
    found["SVC mapped"] = Subject(svm.SVC, {"kernel": RBF(0.1).of(np.tanh)})
    found["SVC ovr"] = Subject(svm.SVC, {"multiclass": "ovr"})
    found["SVC decomposition"] = Subject(svm.SVC, {"solver": "decomposition"})
    found["SVC texts"] = Subject(svm.SVC, {"kernel": GapWeighted(2)}, "texts")
    for kind in (svm.SVC, svm.SVR, svm.SVDD, svm.OneClassSVM, svm.HardMarginSVC):
        found[f"{kind.__name__} precomputed"] = Subject(kind, {"kernel": "precomputed"}, "gram")
    for kind in (svm.SVR, svm.SVDD, svm.OneClassSVM):
        found[f"{kind.__name__} linear"] = Subject(kind, {"kernel": "linear"})
    found["SVMRFE rbf"] = Subject(tamiz.embedded.SVMRFE, {"kernel": "rbf"})
    found["SVMRFE callable"] = Subject(tamiz.embedded.SVMRFE, {"kernel": inner_products})
    for name in REGRESSIONS:
        there = found[name]
        found[f"{name} numeric target"] = Subject(there.make, there.quick | {"task": "regression"})
    for penalty in ("l1", "l1l2", "l0", "l0l2", "arom"):
        found[f"LinearMachine {penalty}"] = Subject(svm.LinearMachine, {"penalty": penalty})
    for loss in ("hinge", "logistic", "squared"):
        found[f"LinearMachine {loss}"] = Subject(svm.LinearMachine, {"loss": loss})
    copies = {"n_copies": 3, "n_draws": 2, "statistic": "auc", "random_state": 0}
    found["Knockoffs copies"] = Subject(tamiz.discovery.Knockoffs, copies)
    quick = {"estimator": CARTClassifier(max_depth=2), "cv": 2, "time_budget": 10.0}
    found["ForwardSelection tree"] = Subject(tamiz.search.ForwardSelection, quick)
    found["ForwardSelection SVC"] = Subject(tamiz.search.ForwardSelection, {"cv": 2})
    found["BestFirst cfs"] = Subject(tamiz.search.BestFirst, {"criterion": "cfs"})
    found["KNN mixed"] = Subject(KNNClassifier, {"metric": "mixed", "categorical_features": [0]})
    found["CART oblique"] = Subject(CARTClassifier, {"splits": "oblique", "random_state": 0})
    return found


#: Parameters that would make an attempt long, where an estimator has them.
QUICK: dict[str, Any] = {"n_estimators": 4, "N": 6, "G": 3, "random_state": 0}
QUICK |= {"max_candidates": 40, "n_subsamples": 6, "max_rounds": 6, "n_trees": 4}
#: Whose threshold is infinite where nothing can be selected.
RATED = (tamiz.discovery.Knockoffs, tamiz.discovery.StabilitySelection)
#: What takes numeric targets, too, if it is told.
REGRESSIONS = ("SVMRFE", "HoldOutSVM", "KPSVM", "AdaptiveScaling", "RadiusMarginScaling", "L1SVM",
               "FSV", "AROM", "L1L2SVM", "L0L2SVM", "MILPSVM")  # fmt: skip


def inner_products(A: Any, B: Any) -> Any:
    """A kernel that is a function."""
    return A @ B.T


# ------------------------------------------------------------------------- tables


#: Kinds of :func:`numbers` that are near the ends of float64.
EXTREME = (8, 9, 10, 16, 18, 20, 21, 22)


def numbers(draw: Draw, n: int, p: int, kinds: tuple[int, ...] = ()) -> np.ndarray:
    """A table of floats, usual or degenerate; of one of some kinds."""
    X = draw.normal(size=(n, p))
    kind = draw.choice(kinds) if kinds else draw.integers(-12, 22)
    column = draw.integers(p) if p else 0
    if n == 0 or p == 0 or kind < 4:
        return X
    if kind == 4:
        X[:, column] = 1.0
    elif kind == 5:
        X[:] = draw.choice([0.0, 1.0, -3e5])
    elif kind == 6:
        X[:] = X[:1]
    elif kind == 7:
        X[:] = X[draw.integers(n, size=n)]
    elif kind == 8:
        X *= 10.0 ** draw.choice([-300, -150, 150, 300, 307])
    elif kind == 9:
        X *= 10.0 ** draw.integers(-300, 300, size=p)
    elif kind == 10:
        X += 10.0 ** draw.integers(5, 300)
    elif kind == 11:
        X[draw.integers(n), column] = draw.choice([np.nan, np.inf, -np.inf])
    elif kind == 12:
        X[:, column] = np.nan
    elif kind == 13:
        X[draw.random(X.shape) < 0.3] = np.nan
    elif kind == 14:
        X[draw.random(X.shape) < 0.7] = 0.0
    elif kind == 15:
        X = draw.choice([0.0, 1.0], size=(n, p))
    elif kind == 16:
        X = draw.choice([-0.0, 5e-324, -5e-324, 1e-310], size=(n, p))
    elif kind == 17:
        X[:] = X[:, :1]
    elif kind == 18:
        X[draw.integers(n), column] = draw.choice([1e300, -1e300, 1e160, 1e-300])
    elif kind == 19:
        X = draw.integers(-3, 3, size=(n, p)).astype(float)
    elif kind == 20:
        X = np.where(draw.random((n, p)) < 0.5, 1.7e308, -1.7e308)
    elif kind == 21:
        X *= 10.0 ** draw.integers(-300, 300)
    elif kind == 22:
        X *= 10.0 ** draw.integers(-300, 300, size=(n, p))
    return X


DTYPES = ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "g", "c16", "O", "U9",
          "S9", "M8[s]")  # fmt: skip
FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")


def contained(draw: Draw, X: np.ndarray) -> Any:
    """The table in some container: arrays of every type, sparse matrices, frames of three kinds."""
    kind = draw.integers(32)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if kind == 0:
            return X.astype(str(draw.choice(DTYPES)))
        if kind == 1:
            return np.asfortranarray(X)
        if kind == 2:
            X.flags.writeable = False
            return X
        if kind == 3:
            return np.repeat(X, 2, axis=1)[:, ::2]
        if kind == 4:
            return X.tolist()
        if kind in (5, 6):
            table = sparse.csr_matrix(X) if kind == 5 else sparse.csr_array(X)
            return table.asformat(str(draw.choice(FORMATS)))
        if kind == 7:
            return np.ma.masked_array(X, mask=draw.random(X.shape) < 0.2)
        if kind == 8:
            return [X.ravel(), X[None], X[:, 0] if X.shape[1] else X, None, "a"][draw.integers(5)]
        if kind in (9, 10, 11):
            return framed(draw, X, kind - 9)
    return X


def framed(draw: Draw, X: np.ndarray, kind: int) -> Any:
    """A frame of pandas, polars or pyarrow; some have columns of text, categories or dates."""
    columns: dict[str, Any] = {f"c{j}": X[:, j] for j in range(X.shape[1])}
    special = int(draw.integers(6))
    n = len(X)
    words = np.array(["a", "b", "ñ"])[draw.integers(3, size=n)]
    first = next(iter(columns), "c0")
    if kind == 0:
        import pandas as pd

        frame = pd.DataFrame(columns)
        if special == 0:
            frame[first] = pd.Categorical(words)
        elif special == 1:
            frame[first] = words
        elif special == 2:
            frame[first] = pd.array([1, None] * n, dtype="Int64")[:n]
        elif special == 3:
            frame.columns = [3, *frame.columns[1:]] if len(columns) else frame.columns
        elif special == 4:
            frame[first] = pd.date_range("2020-01-01", periods=n)
        return frame
    if kind == 1:
        import polars as pl

        if special == 0:
            columns[first] = words.tolist()
        frame = pl.DataFrame(columns)
        if special == 1 and n and columns:
            frame = frame.with_columns(pl.Series(first, words.tolist(), dtype=pl.Categorical))
        return frame
    import pyarrow as pa

    if special == 0:
        columns[first] = words.tolist()
    elif special == 1:
        columns[first] = pa.array(words.tolist()).dictionary_encode()
    elif special == 2:
        columns[first] = pa.array([None, 1.5] * n)[:n]
    return pa.table(columns)


def texts(draw: Draw, n: int) -> Any:
    """Strings for string kernels, and what is none."""
    kind = draw.integers(6)
    made = ["".join(draw.choice(list("abñ "), size=draw.integers(9))) for _ in range(n)]
    if kind == 0:
        return np.array(made, dtype=object)
    if kind == 1:
        return np.array(made)
    if kind == 2:
        return [*made[:-1], draw.choice([None, 3.5])]
    if kind == 3:
        return [list(text) for text in made]
    return made


# ------------------------------------------------------------------- target and weights


def target(draw: Draw, n: int, numeric: bool) -> Any:
    """Labels or numbers, usual or not."""
    if draw.random() < 0.1:
        numeric = not numeric
    two = draw.integers(2, size=n)
    kind = draw.integers(24) if draw.random() < 0.5 else 7
    if numeric:
        y = draw.normal(size=n)
        if kind == 0:
            return np.full(n, draw.choice([0.0, 1.0, 1e300]))
        if kind < 4:
            with np.errstate(over="ignore"):
                return y * 10.0 ** draw.choice([-300, -150, 150, 300, 308])
        if kind == 4:
            return y + 1e15
        if kind == 5 and n:
            y[0] = draw.choice([np.nan, np.inf])
        return y
    y = np.arange(n) % 2 if kind < 8 else two
    if kind == 8:
        return np.zeros(n, dtype=int)
    if kind == 9:
        return np.arange(n) % 3
    if kind == 10:
        return np.array(["no", "yes", "ñ"])[np.arange(n) % 3]
    if kind == 11:
        return np.array(["no", "yes"], dtype=object)[y]
    if kind == 12:
        return y.astype(bool)
    if kind == 13:
        return np.arange(n)
    if kind == 14:
        return np.where(draw.random(n) < 0.3, np.nan, y)
    if kind == 15:
        return [None if draw.random() < 0.2 else "a" for _ in range(n)]
    if kind == 16:
        return [["a", 1, 2.5][draw.integers(3)] for _ in range(n)]
    if kind == 17:
        return y[:, None]
    if kind == 18:
        return [y[:-1], np.append(y, 1), None, 1, "yes", np.eye(max(n, 1))][draw.integers(6)]
    if kind == 19:
        import pandas as pd

        return pd.Series(pd.Categorical(np.array(["b", "a"])[y]), index=np.arange(n)[::-1])
    if kind == 20:
        import polars as pl

        return pl.Series("y", y.tolist())
    if kind == 21:
        return 2.0**60 * y
    if kind == 22:
        y = np.zeros(n, dtype=int)
        y[:1] = 1
    return y


def weights(draw: Draw, n: int) -> Any:
    """Factors of the samples, of which None is the most frequent."""
    kind = draw.integers(60)
    w = draw.random(n)
    made: dict[int, Any] = {
        0: np.ones(n),
        1: np.where(draw.random(n) < 0.5, 0.0, 1.0),
        2: np.zeros(n),
        3: -w,
        4: np.where(draw.random(n) < 0.2, np.nan, 1.0),
        5: np.where(draw.random(n) < 0.2, np.inf, 1.0),
        6: np.full(n, 1e300),
        7: np.full(n, 1e-300),
        8: np.full(n, 5e-324),
        9: w * 10.0 ** draw.integers(-300, 300, size=n),
        10: np.ones(n + 1),
        11: np.ones((n, 1)),
        12: ["a"] * n,
        13: 2.0,
        14: w.astype(np.float32),
        15: np.arange(n),
        16: [True] * n,
        17: np.full(n, 1e170),
        18: (w > 0.9).astype(float),
    }
    return made.get(int(kind))


# ----------------------------------------------------------------------- parameters

#: What a parameter may be given that it may not be, or is at its end.
ABSURD: tuple[Any, ...] = (
    None, -1, 0, 1, 2, 7, 1.0, 0.5, -0.5, 1e-300, 1e300, 5e-324, np.nan, np.inf, -np.inf, "",
    "auto", "nonsense", "balanced", [],
    [0], [0, 0], [99], ["a"], {}, {0: 1e300, 1: 1e-300}, {0: 0, 1: 1},
    {"a": -1}, True, False, b"x", 1j, (1, 2), np.int8(3), np.float32(0.5), np.array([1.0, 2.0]),
    np.array(3), KNNClassifier, inner_products, range(2), 10**30,
)  # fmt: skip
#: What a function that was passed as a parameter says itself of how it is called.
OWN = re.compile(r"KNNClassifier\.__init__\(\) |inner_products\(\) ")
#: Never changed: they print, or write files.
LEFT_ALONE = {"verbose", "checkpoint", "resume"}
#: Their cost is what was asked for, so that large numbers are no attack.
COUNTS = re.compile("n_estimators|max_iter|^[NGm]$|n_restarts|n_jobs|time_budget|T[01]|^v$|p_[cm]"
                    "|max_leaf_nodes|limit|n_surrogates|splits_per_step|cv|n_subsamples|max_rounds"
                    "|n_trees|n_draws|n_copies|depth")  # fmt: skip


def parameters(draw: Draw, subject: Subject) -> dict[str, Any]:
    """The quick parameters, and up to three others: ends of what is admitted, and absurd ones."""
    chosen = dict(subject.quick)
    names = [name for name in inspect.signature(subject.make).parameters if name not in LEFT_ALONE]
    admitted = getattr(subject.make, "_parameter_constraints", {})
    for _ in range(draw.choice([0, 0, 0, 1, 1, 2, 3]) if names else 0):
        name = str(draw.choice(names))
        values = [value for rule in admitted.get(name, ()) for value in extremes(rule)]
        if not values or draw.random() < 0.2:
            values = list(ABSURD)
        value = values[draw.integers(len(values))]
        if not (COUNTS.search(name) and (value is None or _large(value))):
            chosen[name] = value
    return chosen


def extremes(rule: Any) -> list[Any]:
    """Values that a rule admits, among them the ends of its range."""
    if isinstance(rule, StrOptions):
        return sorted(rule.options)
    if isinstance(rule, Interval):
        whole = rule.type is Integral
        some = (0, 1, 2, 3, 50, 10**9) if whole else (0.0, 1e-300, 1e-9, 0.5, 1.0, 1e9, 1e300)
        return [value for value in some if value in rule]
    return {"boolean": [True, False], None: [None], dict: [{}, {0: 1e300, 1: 1e-300}]}.get(rule, [])


def _large(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not abs(value) < 100


# ----------------------------------------------------------------------- what is asked


def check_sentence(error: BaseException) -> None:
    """Raise the error again, unless it is of a known class and says something."""
    kind = type(error)
    known = kind in (ValueError, TypeError) or kind.__module__.startswith(("tamiz.", "sklearn."))
    text = str(error)
    if not known:
        raise error
    if OWN.match(text):
        return
    spoken = " " in text and text.rstrip().endswith((".", "?", ")", "`")) and len(text) < LONGEST
    assert spoken, f"{kind.__name__} is no sentence: {text[:200]!r}"


def check_warnings(said: list[warnings.WarningMessage]) -> None:
    for one in said:
        category, text = one.category, str(one.message)
        foreign = not category.__module__.startswith(SPEAKERS)
        numeric = issubclass(category, RuntimeWarning) and NUMERIC.search(text)
        stale = issubclass(category, (DeprecationWarning, FutureWarning, ResourceWarning))
        place = f"{Path(one.filename).name}:{one.lineno}"
        assert not (foreign or numeric or stale), f"{category.__name__} at {place}: {text[:150]}"


def check_finite(answer: Any, what: str) -> None:
    values = answer.tocoo().data if sparse.issparse(answer) else np.asarray(answer)
    if values.dtype.kind == "f":
        assert np.isfinite(values).all(), f"{what} is not finite"


def content(given: Any) -> Any:
    """All values of an input, to be compared; of what cannot be changed, nothing."""
    if sparse.issparse(given):
        coo = given.tocoo()
        return given.shape, [content(part) for part in (coo.row, coo.col, coo.data)]
    if isinstance(given, np.ma.MaskedArray):
        return content(given.data), content(given.mask)
    if isinstance(given, np.ndarray):
        return given.shape, given.tolist() if given.dtype.hasobject else given.tobytes()
    if hasattr(given, "to_numpy") and hasattr(given, "iloc"):
        return repr(given.to_numpy().tolist())
    return repr(given) if isinstance(given, list) else None


def all_finite(X: Any) -> bool:
    """Whether a table has numbers only, all finite."""
    values = X.tocoo().data if sparse.issparse(X) else X
    try:
        return bool(np.isfinite(np.asarray(values, dtype=np.float64)).all())
    except (TypeError, ValueError):
        return False


def others(draw: Draw, X: Any) -> Any:
    """Rows that the estimator was not fitted to: larger, wider, or with missing values."""
    if not isinstance(X, np.ndarray) or X.dtype != np.float64 or X.ndim != 2:
        return X
    kind = draw.integers(6)
    with np.errstate(all="ignore"):
        if kind == 0:
            return np.clip(X * 1e200, -1.7e308, 1.7e308)
        if kind == 1:
            return np.full(X.shape, draw.choice([1.7e308, -1.7e308, 1e160]))
        if kind == 2:
            return np.column_stack([X, X])
        if kind == 3:
            return np.where(draw.random(X.shape) < 0.2, np.nan, X)
        if kind == 4:
            return X[:0]
    return sparse.csr_matrix(np.nan_to_num(X))


class Estimators(Campaign):
    """One table, target, weights and parameters for one estimator."""

    count = 50_000
    short = 140
    seconds = 20.0
    first = 18  # of what the numbers of an attempt are drawn from
    kinds: tuple[int, ...] = ()

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.uses: list[Callable[..., Any]] = [explained]
        if importlib.util.find_spec("onnx") is not None:
            self.uses.append(written)
        self.subjects = subjects()
        self.names = list(self.subjects)

    def about(self, seed: int) -> str:
        return self.names[seed % len(self.names)]

    def attempt(self, seed: int) -> str:
        subject = self.subjects[self.names[seed % len(self.names)]]
        draw = np.random.default_rng([self.first, seed])
        n = int(draw.choice([0, 1, 2, 3, 4, 6, 9, 14, 20, 30], p=[0.01] + [0.03] * 3 + [0.15] * 6))
        p = int(
            draw.choice([0, 1, 2, 3, 4, 5, 8, 40], p=[0.01, 0.1, 0.2, 0.2, 0.2, 0.2, 0.08, 0.01])
        )
        chosen = parameters(draw, subject)
        rows = numbers(draw, n, p, self.kinds)
        if subject.table == "gram":
            with np.errstate(all="ignore"):
                rows = rows @ rows.T
        X = texts(draw, n) if subject.table == "texts" else self.contained(draw, rows)
        model = subject.make(**chosen)
        task = chosen.get("task", "")
        numeric = isinstance(model, RegressorMixin) or str(task) == "regression"
        y = target(draw, n, numeric)
        given: dict[str, Any] = {}
        if "sample_weight" in inspect.signature(model.fit).parameters:
            w = weights(draw, n)
            given = {} if w is None else {"sample_weight": w}
        before = [content(part) for part in (X, y, *given.values())]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            rest = others(draw, X)
            more = MORE[np.random.default_rng([self.first, seed, 1]).integers(len(MORE))]
            outcome = self._fitted_and_used(model, X, y, given, rest, partial(more, y=y))
        check_warnings(said)
        after = [content(part) for part in (X, y, *given.values())]
        assert after == before, "an input was changed"
        return outcome

    def _fitted_and_used(
        self, model: Any, X: Any, y: Any, given: Any, rest: Any, more: Callable[..., Any]
    ) -> str:
        try:
            model.fit(X, y, **given)
        except Exception as error:
            check_sentence(error)
            return "refused"
        for name in ("coef_", "intercept_", "dual_coef_", "feature_importances_", "threshold_"):
            unlimited = name == "threshold_" and isinstance(model, RATED)
            if getattr(model, name, None) is not None and not unlimited:
                check_finite(getattr(model, name), name)
        scores = getattr(model, "scores_", None)
        assert scores is None or not np.isnan(np.asarray(scores, dtype=float)).any(), "scores: NaN"
        calls: list[Callable[..., Any]] = [
            getattr(model, use) for use in USES if hasattr(model, use)
        ]
        names = [call.__name__ for call in calls]
        calls += [partial(use, model) for use in (*self.uses, more)]
        names += [use.__name__ for use in self.uses]
        names.append(getattr(more, "func", more).__name__)
        for rows in (X, rest):
            for name, call in zip(names, calls, strict=False):
                try:
                    answer = call(rows)
                except Exception as error:
                    check_sentence(error)
                    continue
                if name != "transform" or all_finite(rows):
                    check_finite(answer, name)
        return "answered"

    def contained(self, draw: Draw, X: np.ndarray) -> Any:
        return contained(draw, X)


class Extremes(Estimators):
    """The same with numbers near the ends of float64, mostly in arrays."""

    count = 20_000
    short = 60
    first = 21
    kinds = EXTREME

    def contained(self, draw: Draw, X: np.ndarray) -> Any:
        return contained(draw, X) if draw.random() < 0.2 else X


def explained(model: Any, rows: Any) -> Any:
    """Shapley values of three rows."""
    few = rows[:3] if isinstance(rows, np.ndarray) and rows.ndim == 2 else rows
    return tamiz.explain.shapley_values(model, few, n_permutations=2, random_state=0).values


def along(model: Any, rows: Any, y: Any) -> Any:
    """Partial dependence on two features."""
    found = tamiz.explain.partial_dependence(model, rows, [0, 1], grid_resolution=4, random_state=0)
    return np.concatenate([np.ravel(part) for part in (*found.mean, *found.individual)])


def together(model: Any, rows: Any, y: Any) -> Any:
    """How much two features act together."""
    found = tamiz.explain.interaction_strength(model, rows, [0, 1], n_rows=4, random_state=0)
    return np.concatenate([found.strength, found.h_squared])


def turned(model: Any, rows: Any, y: Any) -> Any:
    """The least changes that turn two answers, or none where there is no such change."""
    few = rows[:2] if isinstance(rows, np.ndarray) and rows.ndim == 2 else rows
    found = tamiz.explain.counterfactual(model, few, rows)
    return np.append(found.distances[found.found], found.scale)


def shuffled(model: Any, rows: Any, y: Any) -> Any:
    """What is lost without what a feature says, on samples left out."""
    again = clone(model)
    try:
        return tamiz.explain.permutation_importance(again, rows, y, cv=2, n_repeats=2).values
    except AttributeError as error:  # scikit-learn's: a selector whose last machine is none
        if "has no attribute 'score'" in str(error):
            return 0.0
        raise


def worded(model: Any, rows: Any, y: Any) -> Any:
    """What the model says of rows in its own words, if it does."""
    said = model.explain(rows) if hasattr(model, "explain") else ""
    return len(str(said))


#: One of these is asked, too, in an attempt.
MORE = (along, together, turned, shuffled, worded)


def written(model: Any, rows: Any) -> Any:
    """The size of the ONNX graph."""
    return len(tamiz.to_onnx(model).SerializeToString())
