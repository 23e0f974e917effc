"""Models on disk: the same answers in another process, to the bit; files whole or not at all."""

from __future__ import annotations

import errno
import math
import os
import subprocess
import sys
import warnings
from enum import Enum
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC as PeerSVC
from sklearn.svm import SVR as PeerSVR
from sklearn.svm import LinearSVC, NuSVC
from sklearn.svm import OneClassSVM as PeerOneClassSVM
from sklearn.tree import DecisionTreeClassifier

import tamiz
from tamiz import data, evaluation
from tamiz.base import PathStep, Selection
from tamiz.embedded import SVMRFE
from tamiz.filters import MRMR, QPFS, FisherScore
from tamiz.kernels import RBF, Linear, Polynomial
from tamiz.persistence import ModelFileWarning, _container, _known, describe
from tamiz.search import ForwardSelection, HoldOut
from tamiz.search.evaluator import FeatureSet
from tamiz.solvers import Status
from tamiz.svm import SVC, SVR, OneClassSVM, PegasosClassifier
from tests.calls import interrupted

pd = pytest.importorskip("pandas")

ROOT = Path(__file__).resolve().parent.parent
METHODS = ("predict", "decision_function", "predict_proba", "transform", "score_samples")


# ------------------------------------------------------------------------------------ the models


def make_problem():
    """Two classes that can be told apart; six features of which two tell."""
    random = np.random.default_rng(5)
    y = np.repeat([0, 1], 20)
    X = random.normal(size=(40, 6))
    X[:, :2] += 6.0 * y[:, None]
    return X, y


def make_frame():
    """A table with missing values and text."""
    X, y = make_problem()
    frame = pd.DataFrame(X, columns=[f"größe {j}" for j in range(6)])
    frame.iloc[3, 1] = np.nan
    frame["colour"] = np.array(["red", "green", "blue"], dtype=object)[np.arange(40) % 3]
    return frame, np.where(y == 1, "ill", "well")


def public_estimators():
    """All of tamiz that can be fitted, found from the lists of public names."""
    return {
        key: cls
        for key, cls in _known.public_classes()
        if hasattr(cls, "fit") and not getattr(cls, "__abstractmethods__", None)
    }


def fitted_estimators():
    X, y = make_problem()
    for key, cls in public_estimators().items():
        model = cls()
        if "random_state" in getattr(model, "get_params", dict)():
            model.set_params(random_state=3)
        target = X[:, 0] + 0.1 * X[:, 1] if is_regressor(model) else y
        yield key, model.fit(X, target), X


def fitted_kernels():
    X, y = make_problem()
    kernels = {
        "sum": RBF(0.2) + 0.5 * Linear(),
        "product": Polynomial(2, gamma=0.1) * RBF(0.1),
        "exp": (0.01 * Linear()).exp(),
        "poly_of": (0.1 * Linear()).poly([1.0, 2.0, 0.5]),
        "of": RBF(0.1).of(np.tanh),
        "poly": "poly",
        "linear": "linear",
        "sigmoid": "sigmoid",
    }
    for name, kernel in kernels.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the sigmoid is not Mercer
            yield f"kernel {name}", SVC(kernel=kernel, gamma=0.1).fit(X, y), X
    yield "precomputed", SVC(kernel="precomputed").fit(X @ X.T, y), X @ X.T
    yield "sparse", SVC().fit(sparse.csr_matrix(X), y), sparse.csr_matrix(X)
    three = np.array(["a", "b", "c"])[np.arange(40) % 3]
    yield "three classes", SVC(multiclass="ovr").fit(X, three), X
    yield "rfe kernel", SVMRFE(kernel=RBF(0.1).of(np.tanh), n_features_to_select=2).fit(X, y), X


def fitted_pipelines():
    X, y = make_problem()
    frame, labels = make_frame()
    numbers, text = list(frame.columns[:6]), ["colour"]
    yield (
        "scaler",
        make_pipeline(StandardScaler(), MRMR(n_features_to_select=2), SVC()).fit(X, y),
        X,
    )
    table = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(add_indicator=True), RobustScaler()), numbers),
            ("text", OneHotEncoder(handle_unknown="ignore", dtype=np.float32), text),
        ]
    )
    steps = [("table", table), ("select", QPFS(n_features_to_select=3)), ("machine", SVC(C=10.0))]
    whole = Pipeline(steps).fit(frame, labels)
    yield "table", whole, frame
    ordinal = ColumnTransformer(
        [("text", OrdinalEncoder(), text), ("drop", "drop", numbers[:1])], remainder="passthrough"
    )
    yield "remainder", make_pipeline(ordinal, SimpleImputer(), PeerSVC()).fit(frame, labels), frame
    scalers = make_union(MinMaxScaler(), MaxAbsScaler(), Normalizer(), PCA(2, random_state=0))
    assert isinstance(scalers, FeatureUnion)
    chain = make_pipeline(FunctionTransformer(np.tanh), scalers, VarianceThreshold(), LinearSVC())
    yield "union", chain.fit(X, y), X
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), FisherScore(), SVC()),
        {"fisherscore__n_features_to_select": [1, 2], "svc__C": [1.0, np.float64(10.0)]},
        cv=StratifiedKFold(3, shuffle=True, random_state=np.random.RandomState(1)),
        scoring="balanced_accuracy",
    ).fit(X, y)
    yield "best of a grid", grid.best_estimator_, X
    yield "grid", grid, X
    search = ForwardSelection(
        make_pipeline(StandardScaler(), LogisticRegression()), cv=HoldOut(0.4, random_state=1)
    )
    yield "search", search.fit(X, y), X
    yield (
        "framed search",
        ForwardSelection(cv=3).fit(frame[numbers[2:]], labels),
        frame[numbers[2:]],
    )


def fitted_peers():
    X, _ = make_problem()
    amount = X @ np.ones(6)
    models = {
        "svc": PeerSVC(kernel="poly"),
        "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
        "forest": RandomForestClassifier(5, random_state=0),
        "neighbours": KNeighborsClassifier(3, algorithm="kd_tree", leaf_size=5),
        "balls": KNeighborsClassifier(3, algorithm="ball_tree", metric="manhattan"),
        "brute": KNeighborsClassifier(3, algorithm="brute"),
        "logistic": LogisticRegression(),
        "best": SelectKBest(f_classif, k=2),
    }
    noisy = np.arange(40) % 3
    for name, model in models.items():
        yield f"sklearn {name}", model.fit(X, noisy), X
    yield "sklearn svr", PeerSVR().fit(X, amount), X
    yield "sklearn one class", PeerOneClassSVM().fit(X), X
    yield "sklearn nu", NuSVC(nu=0.2).fit(X, noisy), X
    yield "sklearn nearest", KNeighborsRegressor().fit(X, amount), X
    yield "sklearn sparse", PeerSVC().fit(sparse.csr_matrix(X), noisy), sparse.csr_matrix(X)
    gram = PeerSVC(kernel="precomputed").fit(X @ X.T, noisy)
    yield "sklearn precomputed", gram, X @ X.T


def all_models():
    for source in (fitted_estimators, fitted_kernels, fitted_pipelines, fitted_peers):
        yield from source()


# ------------------------------------------------------------------------------- what must be equal


def answers(model, X):
    """All that a model says about samples, as arrays."""
    found = {}
    for method in METHODS:
        if hasattr(model, method):
            value = getattr(model, method)(X)
            found[method] = value.toarray() if sparse.issparse(value) else np.asarray(value)
    if "transform" in found and hasattr(model, "get_feature_names_out"):
        found["names"] = np.asarray(model.get_feature_names_out(), dtype=str)
    return found


def difference(a, b, where="model"):
    """Where two objects differ in type, structure or a single bit; None if nowhere."""
    if type(a) is not type(b):
        return f"{where}: {type(a)} and {type(b)}"
    if isinstance(a, np.ndarray):
        same = a.dtype == b.dtype and a.shape == b.shape
        same = same and a.flags.writeable == b.flags.writeable
        if same and a.dtype == object:
            return difference(a.tolist(), b.tolist(), where)
        same = same and a.tobytes() == b.tobytes()
        return None if same else f"{where}: arrays differ"
    if sparse.issparse(a):
        return difference(vars(a.tocoo()), vars(b.tocoo()), where)
    if isinstance(a, (list, tuple)):
        if len(a) != len(b):
            return f"{where}: {len(a)} and {len(b)} items"
        pairs = enumerate(zip(a, b, strict=True))
        return first(difference(x, y, f"{where}[{i}]") for i, (x, y) in pairs)
    if isinstance(a, dict):
        if list(a) != list(b):
            return f"{where}: keys {list(a)} and {list(b)}"
        return first(difference(a[key], b[key], f"{where}[{key!r}]") for key in a)
    if isinstance(a, np.random.RandomState):
        return difference(a.get_state()[1:], b.get_state()[1:], where)
    if type(a).__name__ in ("KDTree", "BallTree", "Tree"):  # compiled: their answers are compared
        return None
    if type(a).__module__.startswith(("tamiz", "sklearn")) and not isinstance(a, Enum | FeatureSet):
        return first(
            difference(vars(a)[name], vars(b)[name], f"{where}.{name}")
            if name in vars(b)
            else f"{where}.{name} is lost"
            for name in vars(a)
        )
    same = repr(a) == repr(b) if isinstance(a, (float, complex)) else a == b  # NaN, and -0.0
    return None if same else f"{where}: {a!r:.80} and {b!r:.80}"


def are_close(a, b):
    """Whether two answers are equal but for the last digits.

    With numba 0.60, a radial tile that this process has just compiled may round otherwise than the
    same tile loaded from the cache by the other process.
    """
    if isinstance(a, dict):
        return list(a) == list(b) and all(are_close(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray) and a.dtype.kind == "f" and a.size:
        scale = np.abs(a[np.isfinite(a)]).max(initial=0.0)
        return a.shape == b.shape and np.allclose(a, b, 0.0, 1e-13 * scale, equal_nan=True)
    return difference(a, b) is None


def first(found):
    return next((text for text in found if text is not None), None)


def round_trip(value, tmp_path, **options):
    return tamiz.load(tamiz.save(value, tmp_path / "m.tamiz", **options))


# ------------------------------------------------------------------------- the other process


def compare_folder(folder):
    """Run in the other process: load all models, under a guard, and compare their answers."""
    import importlib

    for module in [*_known.ROOMS, *_known.OUTSIDE, *_known.INSIDE]:
        try:
            importlib.import_module(module)
        except ImportError:
            continue
    seen: list[str] = []
    loading = False

    def guard(event, _):
        if loading and event.startswith(("pickle", "os.system", "os.exec", "subprocess")):
            seen.append(event)

    sys.addaudithook(guard)
    done = 0
    for path in sorted(Path(folder).glob("*.tamiz")):
        loading = True
        model, X, expected, key = tamiz.load(path)
        loading = False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = answers(model, X if "frame" not in expected else make_frame()[0][list(X)])
        expected.pop("frame", None)
        text = difference(expected, found, key)
        if text is not None and not are_close(expected, found):
            print(text)
        done += 1
    print(*seen, done)


def test_answers_are_the_same_in_another_process(tmp_path):
    names = set()
    for number, (key, model, X) in enumerate(all_models()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = answers(model, X)
        assert said, key
        if isinstance(X, pd.DataFrame):
            said["frame"], X = True, list(X.columns)
        path = tamiz.save((model, X, said, key), tmp_path / f"{number}.tamiz")
        assert difference(model, tamiz.load(path)[0], key) is None
        names.add(key)
    assert names >= set(public_estimators())
    assert len(public_estimators()) >= 45
    code = (
        "import sys; from tests.test_persistence import compare_folder; compare_folder(sys.argv[1])"
    )
    path = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(len(names)), done.stdout


def test_every_public_estimator_can_be_saved_before_it_is_fitted(tmp_path):
    models = [cls() for cls in public_estimators().values()]
    again = round_trip(models, tmp_path)
    assert difference(models, again) is None


def test_a_stream_goes_on_after_loading(tmp_path):
    X, y = make_problem()
    machine = PegasosClassifier(lambda_=0.01, random_state=0)
    machine.partial_fit(X[::2], y[::2], classes=[0, 1])
    again = round_trip(machine, tmp_path)
    for one in (machine, again):
        one.partial_fit(X[1::2], y[1::2])
    assert difference(machine.coef_, again.coef_) is None
    assert machine.t_ == again.t_ == 40


def test_results_keep_their_tables(tmp_path):
    X, y = make_problem()
    selection = MRMR().fit(X, y).selection_
    again = round_trip(selection, tmp_path)
    assert isinstance(again, Selection) and isinstance(again.path[0], PathStep)
    assert again.to_dict() == selection.to_dict()
    table = ForwardSelection(cv=3).fit(X, y).evaluations_
    assert round_trip(table, tmp_path).to_dict() == table.to_dict()


def results():
    """Results of data and evaluation that take no time to make."""
    X, y = make_problem()
    random = np.random.default_rng(0)
    yield data.load("d8")
    yield evaluation.tune(X, y, SVC(), {"C": [1.0, 10.0]}, cv=3)
    yield evaluation.compare(X, y, [FisherScore()], cv=2, repeats=1, sizes=[1, 2])
    yield evaluation.stability(random.random((10, 6)) < 0.5)
    yield evaluation.significance(random.random((20, 2)), test_fraction=0.1)
    yield evaluation.significance(random.random((20, 4)))
    yield evaluation.report_card(y, 1 - y, scores=X[:, 0])


def test_data_sets_and_results_of_evaluation(tmp_path):
    for found in results():
        again = round_trip(found, tmp_path)
        assert difference(found, again) is None
        assert str(again) == str(found)


def test_all_listed_private_classes_exist():
    known = _known.KnownNames()
    for module, names in _known.INSIDE.items():
        for name in names.split():
            cls = known.class_of(f"{module}.{name}")
            assert cls.__name__ == name and known.key_of_class(cls) == f"{module}.{name}"
    for table in (_known.FUNCTIONS, _known.TYPES):
        for module, names in table.items():
            for name in names.split():
                assert callable(_known._listed(table, f"{module}.{name}"))


# ------------------------------------------------------------------------------------ plain values

VALUES = [
    None,
    [True, 0, -1, 2**63 - 1, 2**63, -(2**2000), 10**5000],
    [0.1, -0.0, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, math.nan],
    ["", "ñandú", "\x00\n", "\ud800", "🦙"],
    [b"", bytes(range(256)), 1 + 2j, complex(math.nan, -0.0)],
    {"a": 1, 2: "b", None: [], (1, "x"): {}, 1.5: (), b"k": 0, True + 5: 1, np.int64(4): 2},
    [set(), {1, "a", None}, frozenset({(1, 2), 2.5})],
    [slice(None), slice(1, None, -2), range(3, 10, 2), slice(np.int64(3))],
    (1, (2, (3, [4, {"5": (6,)}]))),
    [np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("añ"), np.bytes_(b"x"), np.str_("")],
    [np.datetime64("2026-01-02T03:04:05.678"), np.timedelta64(5, "D"), np.complex64(1 - 2j)],
    [np.dtype("float32"), np.dtype("<U5"), np.dtype("M8[ns]"), np.dtype(object), np.dtype(">i2")],
    [float, np.float64, object, np.intp, np.log1p, Status.CONVERGED, Path("a") / "b"],
    [np.longdouble(1) / 3, np.array([np.longdouble(2)])],
    PathStep("add", (1, 2), 2, 0.5, {"x": np.float64(1.0)}),
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_plain_values_come_back(value, tmp_path):
    assert difference(value, round_trip(value, tmp_path)) is None
    assert difference(value, round_trip(value, tmp_path, compress=True)) is None


DTYPES = "? b B <h >h i I q Q e f d g F D S5 U3 >U3 M8[s] m8[us] >f8 U0"


@pytest.mark.parametrize("dtype", DTYPES.split())
def test_arrays_come_back(dtype, tmp_path):
    base = np.arange(24).reshape(4, 6).astype(dtype)
    arrays = [base, np.asfortranarray(base), base[::2, ::-3], base[:0], base[0, 0, ...], base.T]
    again = round_trip(arrays, tmp_path)
    assert difference(arrays, again) is None
    assert again[1].flags.f_contiguous and not again[1].flags.c_contiguous
    assert all(array.flags.aligned and array.flags.owndata for array in again[:1])


def test_arrays_of_objects_masks_and_locks(tmp_path):
    names = np.array([["a", None], [1.5, "ñ"]], dtype=object)
    locked = np.arange(3.0)
    locked.flags.writeable = False
    masked = np.ma.MaskedArray([1.0, 2.0], mask=[True, False], fill_value=9.0)
    again = round_trip([names, locked, masked], tmp_path)
    assert difference([names, locked], again[:2]) is None
    assert again[2].mask.tolist() == [True, False] and again[2].fill_value == 9.0


@pytest.mark.parametrize("sort", ["matrix", "array"])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_sparse_tables_come_back(kind, sort, tmp_path):
    table = getattr(sparse, f"{kind}_{sort}")(np.diag([1.5, 0.0, -2.0, 4.0])[:, [1, 0, 3, 2, 2]])
    again = round_trip(table, tmp_path)
    assert type(again) is type(table) and again.dtype == table.dtype
    np.testing.assert_array_equal(again.toarray(), table.toarray())


@pytest.mark.parametrize("bits", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_random_numbers_go_on(bits, tmp_path):
    source = np.random.Generator(getattr(np.random, bits)(7))
    source.integers(0, 5, size=3, dtype=np.int32)
    source.spawn(1)
    again = round_trip(source, tmp_path)
    assert again.random(5).tolist() == source.random(5).tolist()
    assert again.integers(9, dtype=np.int32) == source.integers(9, dtype=np.int32)
    assert again.spawn(1)[0].random() == source.spawn(1)[0].random()
    old = np.random.RandomState(3)
    old.normal(size=3)
    assert round_trip(old, tmp_path).normal(size=4).tolist() == old.normal(size=4).tolist()


def test_what_is_shared_stays_shared(tmp_path):
    big = np.zeros(100_000)
    path = tamiz.save({"a": big, "b": [big, big]}, tmp_path / "m")
    assert path.stat().st_size < 1.01 * big.nbytes
    again = tamiz.load(path)
    assert again["a"] is again["b"][0] is again["b"][1]
    machine = SVC()
    one, two = round_trip([machine, machine], tmp_path)
    assert one is two
    random = np.random.RandomState(0)
    one, two = round_trip([SVC(), {"r": random}, [random]], tmp_path)[1:]
    assert one["r"] is two[0]


# ------------------------------------------------------------------------------------ refusals


class Doubled(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return 2.0 * X


def own_kernel(X, Z):
    return X @ Z.T


def in_a_circle():
    model = SVC()
    model.kernel = [model]
    return model


def in_depth():
    value: list = []
    for _ in range(500):
        value = [value]
    return value


REFUSED = [
    (lambda: SVC(kernel=own_kernel), r"SVC\.kernel is the function own_kernel.*allow="),
    (
        lambda: FunctionTransformer(lambda x: x),
        r"FunctionTransformer\.func is the function .*lambda",
    ),
    (lambda: make_pipeline(Doubled()), r"steps\[0\]\[1\] is of class .*Doubled.*allow="),
    (lambda: [print], r"list\[0\] is the function print"),
    (lambda: {"m": os}, r"dict\['m'\] is the module os"),
    (lambda: SVC, "is the class tamiz.svm.svc.SVC itself"),
    (lambda: Fraction(1, 2), "of class fractions.Fraction"),
    (lambda: pd.DataFrame({"a": [1]}), "to_numpy"),
    (lambda: np.array([object()]), "array of objects and holds one of type object"),
    (lambda: np.zeros(2, dtype=[("a", "f8")]), "cannot be saved; convert"),
    (lambda: {Fraction(1, 2): 1}, "has the key"),
    (in_a_circle, r"SVC\.kernel\[0\] contains itself"),
    (in_depth, "levels deep"),
    (lambda: LogisticRegression().fit, "is the function LogisticRegression.fit"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_data_is_refused_by_name(make, words, tmp_path):
    with pytest.raises((TypeError, ValueError), match=words):
        tamiz.save(make(), tmp_path / "m.tamiz")
    assert os.listdir(tmp_path) == []


def test_own_classes_and_functions_can_be_allowed(tmp_path):
    X, y = make_problem()
    model = make_pipeline(Doubled(), SVC(kernel=own_kernel)).fit(X, y)
    path = tamiz.save(model, tmp_path / "m.tamiz", allow=[Doubled, own_kernel])
    with pytest.raises(ValueError, match=r"which is not one that tamiz loads.*allow="):
        tamiz.load(path)
    again = tamiz.load(path, allow=[Doubled, own_kernel])
    assert difference(answers(model, X), answers(again, X)) is None
    with pytest.raises(TypeError, match="allow must hold classes and functions"):
        tamiz.load(path, allow=["Doubled"])


def test_the_cache_of_a_pipeline_is_left_out(tmp_path):
    model = Pipeline([("svc", SVC())], memory=str(tmp_path))
    with pytest.warns(ModelFileWarning, match="memory=None"):
        path = tamiz.save(model, tmp_path / "m.tamiz")
    assert tamiz.load(path).memory is None


def test_the_kind_is_checked(tmp_path):
    path = tamiz.save(SVR(), tmp_path / "m.tamiz")
    assert isinstance(tamiz.load(path, kind=(SVC, SVR)), SVR)
    with pytest.raises(ValueError, match="holds a SVR, and kind asks for SVC or OneClassSVM"):
        tamiz.load(path, kind=(SVC, OneClassSVM))
    with pytest.raises(TypeError, match="kind='SVR' must be a class"):
        tamiz.load(path, kind="SVR")
    with pytest.raises(ValueError, match="max_bytes=-1 must be"):
        tamiz.load(path, max_bytes=-1)


# ------------------------------------------------------------------------------------ the file


def test_the_same_model_gives_the_same_file(tmp_path):
    X, y = make_problem()
    one = tamiz.save(SVC().fit(X, y), tmp_path / "one")
    two = tamiz.save(tamiz.load(one), tmp_path / "two")
    assert one.read_bytes() == two.read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["one", "two"]


def test_a_file_says_what_it_holds(tmp_path):
    X, y = make_problem()
    path = tamiz.save(make_pipeline(StandardScaler(), SVC()).fit(X, y), str(tmp_path / "m.tamiz"))
    about = describe(path)
    assert about["kind"] == "Pipeline" and about["version"] == 1
    assert about["tamiz"] == tamiz.__version__ and about["numpy"] == np.__version__
    assert about["classes"]["tamiz.svm.SVC"] == about["classes"]["sklearn.pipeline.Pipeline"] == 1
    assert 0 < about["bytes"] < path.stat().st_size


def test_compression_makes_it_smaller(tmp_path):
    value = np.arange(50_000) % 3
    plain = tamiz.save(value, tmp_path / "plain").stat().st_size
    packed = tamiz.save(value, tmp_path / "packed", compress=True).stat().st_size
    assert packed < plain / 50
    assert difference(value, tamiz.load(tmp_path / "packed")) is None


def test_members_of_large_files(tmp_path, limits):
    limits(_container, _LARGE_MEMBER=10)  # instead of a file of gigabytes
    X, y = make_problem()
    model = SVC().fit(X, y)
    assert difference(model, round_trip(model, tmp_path)) is None


@pytest.mark.parametrize(
    ("broken", "number", "words"),
    [
        ("os.fsync", errno.ENOSPC, "the disk is full"),
        ("os.replace", errno.EACCES, "access is denied"),
        ("tamiz.persistence._container.write", errno.EDQUOT, "quota of the disk"),
        ("tempfile.mkstemp", errno.EROFS, "read-only"),
    ],
)
def test_a_failed_write_leaves_the_old_file(broken, number, words, tmp_path, monkeypatch):
    path = tamiz.save(SVC(C=1.0), tmp_path / "m.tamiz")
    before = path.read_bytes()

    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(broken, fail)
        with pytest.raises(OSError, match=rf"cannot write .*{words}.*unchanged") as caught:
            tamiz.save(SVC(C=2.0), path)
    assert caught.value.errno == number
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["m.tamiz"]


def test_an_interrupted_write_leaves_the_old_file(tmp_path):
    path = tamiz.save(SVC(C=1.0), tmp_path / "m.tamiz")
    with interrupted(os, "fsync"), pytest.raises(KeyboardInterrupt):
        tamiz.save(SVC(C=2.0), path)
    assert os.listdir(tmp_path) == ["m.tamiz"] and tamiz.load(path).C == 1.0


def test_wrong_places_are_reported(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot write .*there is no such"):
        tamiz.save(SVC(), tmp_path / "absent" / "m.tamiz")
    with pytest.raises(IsADirectoryError, match=r"cannot write .*folder"):
        tamiz.save(SVC(), tmp_path)
    with pytest.raises(FileNotFoundError, match=r"cannot read .*there is no such"):
        tamiz.load(tmp_path / "absent.tamiz")
    with pytest.raises(OSError, match="cannot read"):
        tamiz.load(tmp_path)
    for call in (lambda: tamiz.save(SVC(), 3), lambda: tamiz.load(None)):
        with pytest.raises(TypeError, match=r"path=.* must be the name of a file"):
            call()


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_links_and_permissions_are_kept(tmp_path):
    path = tamiz.save(SVC(C=1.0), tmp_path / "m.tamiz")
    Path(path).chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    tamiz.save(SVC(C=2.0), link)
    assert link.is_symlink() and tamiz.load(path).C == 2.0
    assert path.stat().st_mode & 0o777 == 0o640
