"""Objects that compiled code works on: what of them is data, and whether it fits together.

Python answers a wrong index with an exception, compiled code with whatever lies there. So the sizes
and indices that such code relies on are checked when a file is read, and search trees are grown
again from their samples instead of being read. So are the states of random numbers: a generator
reads at the position that its state names, and NumPy does not look whether it is inside.

A class of tamiz whose arrays index each other says itself whether they fit, in a method
``_check_parts`` that raises a ValueError if they do not. What is below is about indices that many
classes have, and about the classes of others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.persistence._container import Budget, ModelFileError, ModelFileWarning, is_key_part

_FIELDS = (
    "left_child",
    "right_child",
    "feature",
    "threshold",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "missing_go_to_left",
)
_STRINGS = "tamiz.kernels.strings.texts.Texts"
_DEEPEST_SYMBOL = 4  # tuples in tuples that a symbol of a text may be
_NEIGHBOURS = ("KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors")
_LIBSVM = ("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM")
_TREES = ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier")
_FORESTS = (
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
)


def kept(key: str, state: dict[str, Any]) -> dict[str, Any]:
    """What of the attributes of an object goes to the file."""
    if key in _REBUILT and state.get("_tree") is not None:
        return {**state, "_tree": None}
    if key == _STRINGS:  # what was worked out of them is worked out again
        return {**state, "_memo": {}}
    if key == "sklearn.pipeline.Pipeline" and state.get("memory") is not None:
        warnings.warn(
            "The pipeline is saved with memory=None: a cache of results belongs to one machine, "
            "and scikit-learn would run code from it. Set it again after loading if you need it.",
            ModelFileWarning,
            stacklevel=2,
        )
        return {**state, "memory": None}
    return state


def check(key: str, made: Any, state: dict[str, Any], budget: Budget) -> None:
    """Refuse an object whose parts do not fit together."""
    look = _CHECKS.get(key)
    own = getattr(made, "_check_parts", None) if key.startswith("tamiz.") else None
    try:
        fits = _features_exist(state) if key.startswith("tamiz.") else True
        fits = fits and (look is None or look(made, state, budget))
        if fits and own is not None:
            own()
    except ModelFileError:
        raise
    except (KeyError, AttributeError, TypeError, IndexError, ValueError) as error:
        raise ModelFileError(f"the {key} in it is not complete ({error!r:.100}).") from None
    if not fits:
        raise ModelFileError(f"the parts of the {key} in it do not fit together.")


def _is_index(array: Any, n: int) -> bool:
    """Whether an array holds integers from 0 to below ``n``."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu":
        return False
    return not array.size or bool(array.min() >= 0 and array.max() < n)


#: Attributes of fitted selectors that are places of features, or their ranks, which begin at 1.
_OF_FEATURES = ("order_", "subset_", "sampled_features_", "_columns", "ranking_")
#: Attributes that are places of training samples, whose number is not kept.
_OF_SAMPLES = ("support_", "free_support_", "bounded_support_", "sample_indices_")


def _features_exist(state: dict[str, Any]) -> bool:
    """Whether the indices that estimators of all kinds keep are those of something."""
    n = state.get("n_features_in_")
    if n is not None and (type(n) is not int or n < 0):
        return False
    places = [(state.get(name), n + (name == "ranking_")) for name in _OF_FEATURES if n is not None]
    for held in (state.get(name) for name in _OF_SAMPLES):
        arrays = held if isinstance(held, (list, tuple)) else [held]
        places += [(array, np.iinfo(np.int64).max) for array in arrays if not _is_mask(array)]
    found = [(array, most) for array, most in places if isinstance(array, np.ndarray)]
    return all(_is_index(array, most) for array, most in found)


def _is_mask(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind == "b"


# --------------------------------------------------------------------------------- sparse matrices


GENERATOR_BYTES = 1 << 13  # what a generator of random numbers takes at most


def sparse_shape(shape: Any) -> tuple[int, int]:
    """Rows and columns, if they are two numbers that can be."""
    if not isinstance(shape, list) or len(shape) != 2:
        raise ModelFileError("a sparse matrix in it has no proper shape.")
    rows, columns = shape
    if type(rows) is not int or type(columns) is not int or min(rows, columns) < 0:
        raise ModelFileError("a sparse matrix in it has no proper shape.")
    return rows, columns


def sparse_bytes(kind: str, shape: tuple[int, int], parts: dict[str, np.ndarray]) -> int:
    """What a matrix takes at most beside the arrays it is made of, which may be converted."""
    stored = parts["data"].size if "data" in parts else 0
    held = sum(part.nbytes for part in parts.values())
    each = {"lil": (160, 80), "dok": (0, 300)}.get(kind, (0, 0))  # for a row, and for a value
    return 2 * held + each[0] * shape[0] + each[1] * stored


def check_sparse(kind: str, shape: tuple[int, int], parts: dict[str, np.ndarray]) -> None:
    """Refuse a matrix whose arrays lead out of each other; compiled code goes where they point."""
    try:
        fits = (_fits_compressed if "indptr" in parts else _fits_places)(kind, shape, parts)
    except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError):
        fits = False
    if not fits:
        raise ModelFileError("the indices of a sparse matrix in it are not those of its values.")


def _fits_compressed(kind: str, shape: tuple[int, int], parts: dict[str, np.ndarray]) -> bool:
    data, indices, indptr = parts["data"], parts["indices"], parts["indptr"]
    major, minor = shape if kind != "csc" else shape[::-1]
    if kind == "bsr":
        tall, wide = data.shape[1:]
        if major % tall or minor % wide:
            return False
        major, minor = major // tall, minor // wide
    return (
        data.ndim == (3 if kind == "bsr" else 1)
        and indices.shape == data.shape[:1]
        and indptr.shape == (major + 1,)
        and _is_index(indices, minor)
        and _is_index(indptr, len(indices) + 1)
        and int(indptr[0]) == 0
        and int(indptr[-1]) == len(indices)
        and bool((indptr[1:] >= indptr[:-1]).all())
    )


def _fits_places(kind: str, shape: tuple[int, int], parts: dict[str, np.ndarray]) -> bool:
    data = parts["data"]
    if kind == "dia":
        offsets = parts["offsets"]
        return (
            data.ndim == 2
            and offsets.shape == data.shape[:1]
            and offsets.dtype.kind in "iu"
            and len(np.unique(offsets)) == len(offsets)
            and (not len(offsets) or (-shape[0] < offsets.min() and offsets.max() < shape[1]))
        )
    row, column = parts["row"], parts["col"]
    return (
        data.ndim == 1
        and row.shape == column.shape == data.shape
        and _is_index(row, shape[0])
        and _is_index(column, shape[1])
    )


# ------------------------------------------------------------------------------- trees of rules


def packed(value: Any) -> dict[str, Any] | None:
    """The arrays of a grown tree of scikit-learn; None if the value is something else."""
    kind = type(value)
    if kind.__module__ != "sklearn.tree._tree" or kind.__name__ != "Tree":
        return None
    _, (n_features, n_classes, _), state = value.__reduce__()
    nodes = state["nodes"]
    return {
        "n_features": int(n_features),
        "n_classes": np.asarray(n_classes),
        "max_depth": int(state["max_depth"]),
        "values": state["values"],
        "nodes": {name: np.ascontiguousarray(nodes[name]) for name in nodes.dtype.names},
    }


def unpacked(state: Any) -> Any:
    """The tree that the arrays were taken from."""
    from sklearn.tree._tree import NODE_DTYPE, Tree

    try:
        fields, values, n_classes = state["nodes"], state["values"], state["n_classes"]
        n_features, depth = state["n_features"], state["max_depth"]
        known = set(fields) == set(_FIELDS) == set(NODE_DTYPE.names)
        sound = known and _is_tree(fields, values, n_classes, n_features, depth)
    except (KeyError, AttributeError, TypeError, IndexError, ValueError):
        sound = known = False
    if not sound:
        raise ModelFileError(
            "a tree in it does not fit together, or is one of another version of scikit-learn."
        )
    nodes = np.zeros(len(values), dtype=NODE_DTYPE)
    for name in _FIELDS:
        nodes[name] = fields[name]
    tree = Tree(n_features, n_classes.astype(np.intp), len(n_classes))
    values = np.ascontiguousarray(values)
    tree.__setstate__(
        {"max_depth": depth, "node_count": len(nodes), "nodes": nodes, "values": values}
    )
    return tree


def tree_bytes(state: Any) -> int:
    """What a tree takes beside the arrays it is read from."""
    values = state.get("values") if isinstance(state, dict) else None
    if not isinstance(values, np.ndarray):
        return 0
    return 2 * values.nbytes + 128 * (len(values) if values.ndim else 0)


def _is_tree(fields: Any, values: Any, n_classes: Any, n_features: Any, depth: Any) -> bool:
    """Whether every way down ends in a leaf, after as many steps as the tree says, and asks only
    for features that there are."""
    n = len(values)
    if not all(field.shape == (n,) and field.dtype.kind in "iuf" for field in fields.values()):
        return False
    if type(n_features) is not int or type(depth) is not int or n_classes.ndim != 1:
        return False
    if n_classes.dtype.kind != "i" or not len(n_classes) or n_classes.min() < 1 or n < 1:
        return False
    if values.dtype != np.float64 or values.shape != (n, len(n_classes), n_classes.max()):
        return False
    left, right, feature = fields["left_child"], fields["right_child"], fields["feature"]
    if any(array.dtype != np.int64 for array in (left, right, feature)):
        return False
    inner = left != -1
    if (right[~inner] != -1).any():
        return False
    for child in (left[inner], right[inner]):
        if not ((child > np.flatnonzero(inner)) & (child < n)).all():
            return False
    if not ((feature[inner] >= 0) & (feature[inner] < n_features)).all():
        return False
    level = np.zeros(n, dtype=np.intp)
    for i in np.flatnonzero(inner):
        for child in (left[i], right[i]):
            level[child] = max(level[child], level[i] + 1)
    return int(level.max()) == depth


def _check_tree(made: Any, state: dict[str, Any], budget: Budget) -> bool:
    tree = state.get("tree_")
    if tree is None:
        return "tree_" not in state
    from sklearn.tree._tree import Tree

    outputs = np.atleast_1d(state["n_classes_"]) if "n_classes_" in state else None
    return (
        isinstance(tree, Tree)
        and tree.n_features == state["n_features_in_"]
        and tree.n_outputs == state["n_outputs_"]
        and (outputs is None or np.array_equal(outputs, tree.n_classes))
    )


def _check_forest(made: Any, state: dict[str, Any], budget: Budget) -> bool:
    from sklearn.tree import BaseDecisionTree

    trees = state.get("estimators_", [])
    return isinstance(trees, list) and all(
        isinstance(tree, BaseDecisionTree)
        and tree.n_features_in_ == state["n_features_in_"]
        and tree.n_outputs_ == state["n_outputs_"]
        for tree in trees
    )


# ------------------------------------------------------------------------------- nearest neighbours


def _grow(made: Any, state: dict[str, Any], budget: Budget) -> bool:
    """Grow the search tree again, as ``fit`` does; it is the same for the same samples."""
    if "_fit_X" not in state:
        return True
    from sklearn.neighbors import BallTree, KDTree

    X, method = state["_fit_X"], state["_fit_method"]
    if "classes_" in state and isinstance(state["classes_"], np.ndarray):
        y = state["_y"]
        if y.dtype.kind != "i" or len(y) != X.shape[0] or y.min() < 0:
            return False
        if y.max() >= len(state["classes_"]):
            return False
    metric, params = state["effective_metric_"], state["effective_metric_params_"]
    if not isinstance(metric, str) or state["n_samples_fit_"] != X.shape[0]:
        return False
    if X.shape[1] != state["n_features_in_"]:
        return False
    if method in ("kd_tree", "ball_tree"):
        if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind != "f":
            return False
        budget.take(3 * X.nbytes + 64 * len(X), "a search tree in it")
        grow = KDTree if method == "kd_tree" else BallTree
        made._tree = grow(X, state["leaf_size"], metric=metric, **params)
        return True
    return method == "brute" and state["_tree"] is None


# ------------------------------------------------------------------------------- machines


def _check_libsvm(made: Any, state: dict[str, Any], budget: Budget) -> bool:
    """The sizes that libsvm takes for granted."""
    if "_impl" in state or "_sparse_kernels" in state:  # of the class, never of an object
        return False
    if "support_" not in state:
        return True
    n = len(state["support_"])
    counts, coef = state["_n_support"], state["_dual_coef_"]
    vectors, offsets = state["support_vectors_"], state["_intercept_"]
    machines = max(len(state["classes_"]) - 1, 1) if "classes_" in state else 1
    pairs = machines * (machines + 1) // 2
    if "classes_" in state:
        counted = len(counts) == machines + 1 and int(counts.sum()) == n and counts.min() >= 0
    else:
        # two, whatever they are for sparse samples: libsvm reads as many rows of coefficients
        counted = counts.shape == (2,) and (state["_sparse"] or int(counts[0]) == n)
    if not counted or tuple(coef.shape) != (machines, n) or offsets.shape != (pairs,):
        return False
    if any(len(state[name]) not in (0, pairs, 2 * pairs) for name in ("_probA", "_probB")):
        return False
    if len(state["_probA"]) != len(state["_probB"]) and "classes_" in state:
        return False
    if state["_sparse"]:
        if not (sparse.issparse(coef) and sparse.issparse(vectors)):
            return False
        return coef.data.size == machines * n and vectors.shape == (n, state["n_features_in_"])
    if state["kernel"] == "precomputed":
        support = state["support_"]
        inside = n == 0 or (support.min() >= 0 and support.max() < state["shape_fit_"][0])
        return vectors.size == 0 and bool(inside)
    return bool(vectors.shape == (n, state["n_features_in_"]))


def _check_radial(made: Any, state: dict[str, Any], budget: Budget) -> bool:
    samples, half, centre = state["samples"], state["half"], state["centre"]
    return (
        samples.shape == (state["n"], samples.shape[1])
        and half.shape == (state["n"],)
        and (centre is None or centre.shape == (samples.shape[1],))
        and sparse.issparse(samples) == state["is_sparse"]
        and half.dtype.kind == "f"
        and samples.dtype.kind == "f"
    )


def _check_pegasos(made: Any, state: dict[str, Any], budget: Budget) -> bool:
    """The arrays that the next batch of a stream is added to."""
    if "_state" not in state:
        return True
    from tamiz.solvers.pegasos import PegasosState, Setting, new_state

    found, setting = state["_state"], state["_setting"]
    if not isinstance(found, PegasosState) or not isinstance(setting, Setting):
        return False
    if state["coef_"].shape != (len(found.theta), state["n_features_in_"]):
        return False  # before anything of a size that is only stated is made
    fresh = new_state(len(state["coef_"]), state["n_features_in_"], setting)
    return all(
        one.shape == other.shape and one.dtype == other.dtype
        for one, other in zip(found, fresh, strict=True)
    )


def _check_strings(made: Any, state: dict[str, Any], budget: Budget) -> bool:
    """Strings, or sequences of symbols; nothing that compiled code would take on trust."""
    items = state["items"]
    listed = items.tolist()
    kinds = {type(item) for item in listed}
    return (
        items.dtype == object
        and items.ndim == 1
        and len(kinds) < 2
        and kinds <= {str, tuple}
        and all(_can_be_compared(item) for item in listed)
        and state["_memo"] == {}
    )


def _can_be_compared(value: Any, depth: int = 0) -> bool:
    """Whether a value is plain, or a tuple of such values: nothing runs when it is hashed."""
    if type(value) is tuple and depth < _DEEPEST_SYMBOL:
        return all(_can_be_compared(part, depth + 1) for part in value)
    return is_key_part(value)


def _check_widened(made: Any, state: dict[str, Any], budget: Budget) -> bool:
    """Every row becomes one of so many numbers."""
    budget.check_length(state["width"], "a kernel in it")
    return _is_index(state["columns"], state["width"])


_REBUILT = {f"sklearn.neighbors.{name}" for name in _NEIGHBOURS}
_CHECKS: dict[str, Callable[[Any, dict[str, Any], Budget], bool]] = {
    "tamiz.kernels.radial.PreparedRBF": _check_radial,
    "tamiz.svm.PegasosClassifier": _check_pegasos,
    _STRINGS: _check_strings,
    "tamiz.kernels.mapped.Widened": _check_widened,
    "sklearn.pipeline.Pipeline": lambda _, state, __: state.get("memory") is None,
    **dict.fromkeys((f"sklearn.svm.{name}" for name in _LIBSVM), _check_libsvm),
    **dict.fromkeys((f"sklearn.tree.{name}" for name in _TREES), _check_tree),
    **dict.fromkeys((f"sklearn.ensemble.{name}" for name in _FORESTS), _check_forest),
    **dict.fromkeys(_REBUILT, _grow),
}


Check = Callable[[Any], bool]


def _integer(limit: int) -> Check:
    return lambda value: type(value) is int and 0 <= value < limit


def _words(count: int, kind: type) -> Check:
    return lambda value: (
        isinstance(value, np.ndarray) and value.shape == (count,) and value.dtype == kind
    )


_HALF = {"has_uint32": _integer(2), "uinteger": _integer(1 << 32)}
_PCG = {"state": {"state": _integer(1 << 128), "inc": _integer(1 << 128)}, **_HALF}

# Bit generator -> what its state must look like.
_STATES: dict[str, dict[str, Any]] = {
    "MT19937": {"state": {"key": _words(624, np.uint32), "pos": _integer(625)}},
    "PCG64": _PCG,
    "PCG64DXSM": _PCG,
    "Philox": {
        "state": {"counter": _words(4, np.uint64), "key": _words(2, np.uint64)},
        "buffer": _words(4, np.uint64),
        "buffer_pos": _integer(5),
        **_HALF,
    },
    "SFC64": {"state": {"state": _words(4, np.uint64)}, **_HALF},
}
_GAUSS = {"has_gauss": _integer(2), "gauss": lambda value: type(value) is float}


def state_of(source: Any) -> dict[str, Any] | None:
    """The state of a RandomState or a Generator, None if it is of an unknown kind."""
    if isinstance(source, np.random.RandomState):
        state: Any = source.get_state(legacy=False)
        return _plain(state) if state["bit_generator"] == "MT19937" else None
    bits = source.bit_generator
    if type(bits).__name__ not in _STATES or not isinstance(bits, np.random.BitGenerator):
        return None
    # what spawn() draws from; before NumPy 1.25 it had another name, and there was no spawn
    seeds = getattr(bits, "seed_seq", None)
    entropy = seeds.state if isinstance(seeds, np.random.SeedSequence) else None
    return {**_plain(bits.state), "seeds": entropy and dict(entropy)}


def random_state(state: Any) -> np.random.RandomState:
    """The RandomState that a state was taken from."""
    _check(state, {"state": _STATES["MT19937"]["state"], **_GAUSS}, "MT19937")
    source = np.random.RandomState(0)
    source.set_state(state)
    return source


def generator(state: Any) -> np.random.Generator:
    """The Generator that a state was taken from."""
    if not isinstance(state, dict) or not isinstance(state.get("bit_generator"), str):
        raise _wrong("it names no generator")
    state = dict(state)
    name, seeds = state["bit_generator"], state.pop("seeds", None)
    if name not in _STATES:
        raise _wrong(f"{name[:40]!r} is not a generator that is known")
    _check(state, _STATES[name], name)
    bits = getattr(np.random, name)(0 if seeds is None else _seeds(seeds))
    bits.state = state
    return np.random.Generator(bits)


def _seeds(state: Any) -> np.random.SeedSequence:
    names = {"entropy", "spawn_key", "pool_size", "n_children_spawned"}
    if not isinstance(state, dict) or set(state) != names:
        raise _wrong("its seeds are not complete")
    if not _integer(1 << 32)(state["n_children_spawned"]) or not _integer(1 << 12)(
        state["pool_size"]
    ):
        raise _wrong("its seeds are not numbers in their range")
    return np.random.SeedSequence(**state)


def _plain(state: Any) -> dict[str, Any]:
    """Integers of NumPy as Python's, inner dicts too."""
    return {
        name: _plain(value)
        if isinstance(value, dict)
        else (value.item() if isinstance(value, np.generic) else value)
        for name, value in state.items()
    }


def _check(state: Any, wanted: dict[str, Any], name: str | None = None) -> None:
    if not isinstance(state, dict):
        raise _wrong("it is no table")
    if name is not None and state.get("bit_generator") != name:
        raise _wrong(f"it is not one of {name}")
    for part, check in wanted.items():
        if part not in state:
            raise _wrong(f"{part} is missing")
        if isinstance(check, dict):
            _check(state[part], check)
        elif not check(state[part]):
            raise _wrong(f"{part} is not in its range")


def _wrong(why: str) -> ModelFileError:
    return ModelFileError(f"it holds a state of random numbers that cannot be one: {why}.")
