"""The classes and functions that a model file may name, and nothing else.

A file names them by keys. A key is looked up in the tables below: no text of a file is ever
imported. To add a class,

- put it into the ``__all__`` of one of :data:`ROOMS` (nothing to do here), or
- if it is private, add it to :data:`INSIDE`: fitted state that no user makes, parts of results.

A module is imported when one of its classes is asked for, not before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from importlib import import_module
from typing import Any

from tamiz.persistence._container import ModelFileError

# Rooms whose public classes (their __all__) can be saved, exceptions left out.
ROOMS = (
    "tamiz.data",
    "tamiz.kernels",
    "tamiz.information",
    "tamiz.qp",
    "tamiz.solvers",
    "tamiz.svm",
    "tamiz.neighbors",
    "tamiz.tree",
    "tamiz.filters",
    "tamiz.embedded",
    "tamiz.search",
    "tamiz.discovery",
    "tamiz.explain",
    "tamiz.evaluation",
    "tamiz.reproduce",
)

# Module -> classes in it that are not public but stand in models and results.
INSIDE = {
    "tamiz.base": "PathStep Selection",
    "tamiz.kernels.prepared": (
        "PreparedComposite PreparedLinear PreparedMapped PreparedTable Recomputed"
    ),
    "tamiz.kernels.strings.texts": "Texts",
    "tamiz.kernels.mapped": "Widened",
    "tamiz.kernels.radial": "PreparedRBF",
    "tamiz.solvers.pegasos": "Averaging Intercept PegasosState Setting",
    "tamiz.svm.stream.machine": "StreamedMachine",
    "tamiz.scale.moments": "ClassMoments TargetMoments",
    "tamiz.scale.values": "ValueCounts",
    "tamiz.filters.partial": "Values",
    "tamiz.filters.univariate.chi_squared": "ClassSums",
    "tamiz.neighbors._space": "Space",
    "tamiz.embedded.sparse.l1": "L1Path",
    "tamiz.search.evaluator": "Evaluations FeatureSet",
    "tamiz.cli.table_model": "TableModel",
    "tamiz.evaluation.margins": "MarginPart",
    "tamiz.evaluation.tuning.result": "Cell",
    "tamiz.reproduce.base": "Row",
}

# Key in a file -> key of today, for classes that moved after files had been written.
MOVED = {
    "tamiz.solvers.pegasos.State": "tamiz.solvers.pegasos.PegasosState",
    "tamiz.search._evaluations.Evaluations": "tamiz.search.evaluator.Evaluations",
    "tamiz.scale.target_moments.TargetMoments": "tamiz.scale.moments.TargetMoments",
    "tamiz.scale.value_counts.ValueCounts": "tamiz.scale.values.ValueCounts",
    "tamiz.filters._partial.Values": "tamiz.filters.partial.Values",
    "tamiz.filters.chi_squared.ClassSums": "tamiz.filters.univariate.chi_squared.ClassSums",
    "tamiz.kernels._strings_input.Texts": "tamiz.kernels.strings.texts.Texts",
    "tamiz.svm._streaming.StreamedMachine": "tamiz.svm.stream.machine.StreamedMachine",
    "tamiz.kernels.mapped._Widened": "tamiz.kernels.mapped.Widened",
    "tamiz.embedded._rfe_last.Widened": "tamiz.kernels.mapped.Widened",
    "tamiz.embedded.rfe.last.Widened": "tamiz.kernels.mapped.Widened",
    "tamiz.embedded.l1_path.L1Path": "tamiz.embedded.sparse.l1.L1Path",
    "tamiz.embedded.sparse.l1_path.L1Path": "tamiz.embedded.sparse.l1.L1Path",
    "tamiz.evaluation._tune_result.Cell": "tamiz.evaluation.tuning.result.Cell",
    "tamiz.evaluation.Reproduction": "tamiz.reproduce.Reproduction",
    "tamiz.evaluation.recipes.base.Row": "tamiz.reproduce.base.Row",
}

# Key in a file -> attributes that have another name today.
RENAMED: dict[str, dict[str, str]] = {
    key: {"features": "columns", "n_features": "width"}
    for key in ("tamiz.embedded._rfe_last.Widened", "tamiz.embedded.rfe.last.Widened")
}

# scikit-learn's, under the module that publishes them.
OUTSIDE = {
    "sklearn.calibration": "CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration",
    "sklearn.compose": "ColumnTransformer TransformedTargetRegressor make_column_selector",
    "sklearn.compose._column_transformer": "_RemainderColsList",
    "sklearn.decomposition": "PCA TruncatedSVD",
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis",
    "sklearn.dummy": "DummyClassifier DummyRegressor",
    "sklearn.ensemble": (
        "BaggingClassifier ExtraTreesClassifier ExtraTreesRegressor RandomForestClassifier "
        "RandomForestRegressor StackingClassifier VotingClassifier"
    ),
    "sklearn.feature_selection": (
        "RFE RFECV SelectFdr SelectFpr SelectFromModel SelectFwe SelectKBest SelectPercentile "
        "SequentialFeatureSelector VarianceThreshold"
    ),
    "sklearn.impute": "KNNImputer MissingIndicator SimpleImputer",
    "sklearn.linear_model": (
        "ElasticNet Lasso LinearRegression LogisticRegression LogisticRegressionCV Ridge "
        "RidgeClassifier"
    ),
    "sklearn.metrics._scorer": "_PassthroughScorer _Scorer",
    "sklearn.model_selection": (
        "GridSearchCV GroupKFold KFold LeaveOneOut LeavePOut PredefinedSplit RandomizedSearchCV "
        "RepeatedKFold RepeatedStratifiedKFold ShuffleSplit StratifiedGroupKFold StratifiedKFold "
        "StratifiedShuffleSplit"
    ),
    "sklearn.multiclass": "OneVsOneClassifier OneVsRestClassifier _ConstantPredictor",
    "sklearn.naive_bayes": "GaussianNB",
    "sklearn.neighbors": (
        "KNeighborsClassifier KNeighborsRegressor NearestCentroid NearestNeighbors"
    ),
    "sklearn.pipeline": "FeatureUnion Pipeline",
    "sklearn.preprocessing": (
        "Binarizer FunctionTransformer KBinsDiscretizer LabelBinarizer LabelEncoder MaxAbsScaler "
        "MinMaxScaler Normalizer OneHotEncoder OrdinalEncoder PolynomialFeatures PowerTransformer "
        "QuantileTransformer RobustScaler StandardScaler"
    ),
    "sklearn.svm": "SVC SVR LinearSVC LinearSVR NuSVC NuSVR OneClassSVM",
    "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier",
    "sklearn.utils": "Bunch",
}

# Functions without a will of their own, which occur as parameters.
FUNCTIONS = {
    "numpy": (
        "abs absolute arcsinh arctan cbrt ceil clip cos cosh deg2rad exp exp2 expm1 fabs floor "
        "log log10 log1p log2 max maximum mean median min minimum negative rad2deg reciprocal "
        "rint sign sin sinh sqrt square sum tan tanh"
    ),
    "sklearn.feature_selection": (
        "chi2 f_classif f_regression mutual_info_classif mutual_info_regression r_regression"
    ),
    "sklearn.metrics": (
        "accuracy_score average_precision_score balanced_accuracy_score brier_score_loss "
        "cohen_kappa_score f1_score fbeta_score hamming_loss hinge_loss jaccard_score log_loss "
        "matthews_corrcoef max_error mean_absolute_error mean_absolute_percentage_error "
        "mean_squared_error median_absolute_error precision_score r2_score recall_score "
        "roc_auc_score root_mean_squared_error top_k_accuracy_score zero_one_loss"
    ),
}

# Types that occur as values, such as the dtype of an encoder.
TYPES = {
    "builtins": "bool bytes complex float int object str",
    "numpy": (
        "bool_ bytes_ complex64 complex128 datetime64 float16 float32 float64 int8 int16 int32 "
        "int64 intp str_ timedelta64 uint8 uint16 uint32 uint64 uintp"
    ),
}


class KnownNames:
    """The tables, with what the caller allows besides.

    Parameters
    ----------
    allow : iterable of classes and functions
        The caller's own. Code of the caller that is already loaded, so that a file cannot choose.
    """

    def __init__(self, allow: Iterable[Any] = ()) -> None:
        self._own: dict[str, Any] = {}
        self._keys: dict[type, str | None] = {}  # what was found before: there may be many objects
        self._classes: dict[str, type] = {}
        for thing in allow:
            if not callable(thing) or not hasattr(thing, "__qualname__"):
                raise TypeError(
                    f"allow must hold classes and functions; it holds {thing!r} of type "
                    f"{type(thing).__name__}."
                )
            self._own[f"{thing.__module__}.{thing.__qualname__}"] = thing

    # ------------------------------------------------------------------ from objects to keys

    def key_of_class(self, cls: type) -> str | None:
        """The key of a class, None if it is not known."""
        if cls not in self._keys:
            self._keys[cls] = self._find_key(cls)
        return self._keys[cls]

    def _find_key(self, cls: type) -> str | None:
        own = f"{cls.__module__}.{cls.__qualname__}"
        if self._own.get(own) is cls:
            return own
        name = cls.__qualname__
        if name in INSIDE.get(cls.__module__, "").split():
            return own
        for room in ROOMS:
            if cls.__module__.startswith(f"{room}.") and cls in _public_classes(room):
                return f"{room}.{name}"
        return _published(OUTSIDE, name, cls)

    def key_of_function(self, function: Any) -> str | None:
        """The key of a function, None if it is not known."""
        name = getattr(function, "__qualname__", getattr(function, "__name__", ""))
        own = f"{getattr(function, '__module__', '')}.{name}"
        if self._own.get(own) is function:
            return own
        return _published(FUNCTIONS, getattr(function, "__name__", ""), function)

    # ------------------------------------------------------------------ from keys to objects

    def class_of(self, key: Any) -> type:
        """The class that a key of a file stands for, if it is one of the tables'."""
        if not isinstance(key, str) or key not in self._classes:
            found = self._find_class(key)
            self._classes[key] = found
        return self._classes[key]

    def _find_class(self, key: Any) -> type:
        key = MOVED.get(key, key) if isinstance(key, str) else key
        found = self._own.get(key) if isinstance(key, str) else None
        if found is None:
            found = self._listed_class(key)
        if not isinstance(found, type):
            raise ModelFileError(
                f"it names the class {_shown(key)}, which is not one that tamiz loads; nothing of "
                "it was run. If the class is yours, pass allow=[the class] to tamiz.load."
            )
        return found

    def _listed_class(self, key: Any) -> Any:
        for room in ROOMS:
            if isinstance(key, str) and key.rpartition(".")[0] == room:
                return _get(_public_classes(room), key.rpartition(".")[2])
        return _listed(INSIDE, key) or _listed(OUTSIDE, key)

    def function_of(self, key: Any) -> Callable[..., Any]:
        """The function that a key of a file stands for."""
        found = self._own.get(key) if isinstance(key, str) else None
        found = found or _listed(FUNCTIONS, key)
        if found is None or isinstance(found, type):
            raise ModelFileError(
                f"it names the function {_shown(key)}, which is not one that tamiz loads; nothing "
                "of it was run. If the function is yours, pass allow=[the function] to tamiz.load."
            )
        return found


def key_of_type(cls: type) -> str | None:
    """The key of a type that is a value itself."""
    for module, names in TYPES.items():
        for name in names.split():
            if getattr(import_module(module), name) is cls:
                return f"{module}.{name}"
    return None


def type_of(key: Any) -> type:
    """The type that a key of a file stands for."""
    found = _listed(TYPES, key)
    if found is None:
        raise ModelFileError(f"it names the type {_shown(key)}, which is not one that tamiz loads.")
    return found


def public_classes() -> Iterator[tuple[str, type]]:
    """All public classes that can be saved, with their keys; imports every room."""
    for room in ROOMS:
        for cls in _public_classes(room):
            yield f"{room}.{cls.__name__}", cls


def _public_classes(room: str) -> list[type]:
    """Classes in the ``__all__`` of a room, those left out that are no data."""
    try:
        module = import_module(room)
    except ModuleNotFoundError as error:
        if error.name != room:
            raise
        return []
    values = (getattr(module, name) for name in getattr(module, "__all__", ()))
    return [v for v in values if isinstance(v, type) and not issubclass(v, BaseException)]


def _get(classes: list[type], name: str) -> type | None:
    return next((cls for cls in classes if cls.__name__ == name), None)


def _listed(table: dict[str, str], key: Any) -> Any:
    """What a key of a table stands for, None if the table does not have it."""
    for module, names in table.items():
        for name in names.split():
            if key == f"{module}.{name}":
                try:
                    return getattr(import_module(module), name)
                except (ImportError, AttributeError):
                    raise ModelFileError(
                        f"it needs {module}.{name}, which the installed version does not have. "
                        "Install the versions that the file was written with "
                        "(see tamiz.persistence.describe)."
                    ) from None
    return None


def _published(table: dict[str, str], name: str, thing: Any) -> str | None:
    """The key under which a table publishes an object."""
    for module, names in table.items():
        # an object that exists has been imported, and so has the package that publishes it
        if name in names.split() and getattr(sys.modules.get(module), name, None) is thing:
            return f"{module}.{name}"
    return None


def is_enum(cls: type) -> bool:
    """Whether a class is an enumeration, whose members are named."""
    return issubclass(cls, Enum)


def is_named_tuple(cls: type) -> bool:
    """Whether a class is a tuple whose places have names."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def _shown(key: Any) -> str:
    text = repr(key)
    return text if len(text) <= 80 else f"{text[:77]}..."
