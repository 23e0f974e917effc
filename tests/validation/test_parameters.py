"""Parameters by position and by keyword, and the checks that functions declare."""

from __future__ import annotations

import importlib
import inspect
import operator
import pathlib
import pickle
import pkgutil
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import tamiz
from tamiz.base import Selector
from tamiz.data.errors import DataError
from tamiz.svm import SVC
from tamiz.validation import (
    check_level,
    checked,
    class_or_classes,
    each_value,
    file_path,
    fittable,
    float_type,
    integer_from,
    number_of_jobs,
    one_of,
    optional,
    real_number,
    score_of_failures,
    switch_or_integer,
    time_limit,
)

#: What a machine or a transformer may take by position: the one number or name it turns on.
LEADING = {"C", "nu", "lambda_", "kernel", "n_neighbors", "n_estimators", "criterion", "bins"}
LEADING |= {"n_features_to_select", "budget", "covariates"}
#: Selectors that select by another one.
OUTER = ["StabilitySelection", "Knockoffs", "Shadows", "MultiTarget"]
NEVER = ["L1SVM", "L1L2SVM", "L0L2SVM", "AROM", "FSV", "RobustLP"]  # selectors, but also machines


def public_estimators():
    rooms = [getattr(tamiz, name) for name in dir(tamiz) if hasattr(tamiz, name)]
    packages = [room for room in rooms if inspect.ismodule(room) and hasattr(room, "__path__")]
    found = [getattr(room, name) for room in packages for name in room.__all__]
    kinds = {one for one in found if inspect.isclass(one) and issubclass(one, BaseEstimator)}
    return sorted((k for k in kinds if hasattr(k, "fit")), key=lambda kind: kind.__name__)


def positional(kind):
    parameters = list(inspect.signature(kind).parameters.values())
    return [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]


@pytest.mark.parametrize("kind", public_estimators(), ids=lambda kind: kind.__name__)
def test_only_one_parameter_is_positional(kind):
    names = positional(kind)
    if kind.__name__ in NEVER:
        assert names == []
    elif kind.__name__ in OUTER:
        assert names in (["selector"], ["statistic"])
    elif issubclass(kind, Selector):
        searches = kind.__module__.startswith("tamiz.search")
        assert names == ["estimator" if searches else "n_features_to_select"]
    else:
        assert len(names) <= 1 and set(names) <= LEADING


def test_all_rooms_are_walked():
    names = {kind.__name__ for kind in public_estimators()}
    assert names >= {"SVC", "SVMRFE", "MRMR", "ForwardSelection", "KNNClassifier", "CARTRegressor"}


def test_old_positions_still_work_and_warn():
    with pytest.warns(FutureWarning, match="kernel='linear', gamma=0.5 to SVC by keyword") as w:
        old = tamiz.SVC(2.0, "linear", 0.5)
    assert w[0].filename == __file__
    assert old.get_params() == tamiz.SVC(C=2.0, kernel="linear", gamma=0.5).get_params()
    with pytest.warns(FutureWarning, match=r"Pass C=3 to L1SVM by keyword"):
        sparse = tamiz.L1SVM(3)
    assert sparse.C == 3 and sparse.n_features_to_select is None


@pytest.mark.filterwarnings("error")
def test_what_is_right_does_not_warn():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    assert clone(tamiz.SVC(2.0, kernel="linear")).fit(X, y).C == 2.0
    assert tamiz.MRMR(3).n_features_to_select == 3


def test_wrong_calls_are_refused_as_ever():
    with pytest.raises(TypeError, match="multiple values"), pytest.warns(FutureWarning):
        tamiz.SVC(1.0, "rbf", kernel="linear")
    with pytest.raises(TypeError, match="positional"):
        tamiz.SVC(*range(40))
    with pytest.raises(TypeError, match="positional"):
        tamiz.MRMR(3, "difference")


@checked(
    n=integer_from(2), rule=one_of("best", None), level=optional(check_level), n_jobs=number_of_jobs
)
def example(n, rule="best", *, level=None, n_jobs=None):
    """What it says."""
    return n, rule, level, n_jobs


def test_a_function_whose_parameters_are_checked():
    assert example(np.int64(3)) == (3, "best", None, None)
    assert type(example(np.int64(3))[0]) is int
    assert example(2, None, level=0.5, n_jobs=-1) == (2, None, 0.5, -1)
    assert (example.__name__, example.__doc__) == ("example", "What it says.")
    assert list(inspect.signature(example).parameters) == ["n", "rule", "level", "n_jobs"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n": 1}, "n=1 must be an integer from 2."),
        ({"n": True}, "n=True must be an integer from 2."),
        ({"n": 2.5}, "n=2.5 must be an integer from 2."),
        ({"rule": "worst"}, "rule='worst' is not understood; use 'best' or None."),
        ({"level": 95}, "level=95 must be a number between 0 and 1 (95 % is 0.95), or None."),
        ({"level": 0.0}, "level=0.0 must be a number between 0 and 1, or None."),
        ({"n_jobs": 0}, "n_jobs=0 leaves no thread to work"),
        ({"n_jobs": "two"}, "n_jobs='two' must be an integer or None."),
    ],
)
def test_a_parameter_that_is_refused_is_named(arguments, words):
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        example(**{"n": 2, **arguments})


def test_none_is_allowed_for_the_whole_and_not_for_its_parts():
    check = optional(each_value(one_of("id", "text"), "{'a': 'id'}"))
    with pytest.raises(ValueError, match=r"n\['a'\]='b' is not understood; use 'id' or 'text'\.$"):
        check("n", {"a": "b"})


def test_a_wrong_call_names_the_function():
    with pytest.raises(TypeError, match=r"^example\(\) missing a required argument: 'n'$"):
        example(rule="best")
    with pytest.raises(TypeError, match=r"^example\(\) got an unexpected keyword argument 'm'"):
        example(2, m=1)


def test_what_is_no_estimator_is_refused():
    @checked(machine=fittable)
    def fit(machine):
        return machine

    assert isinstance(fit(SVC()), SVC)
    with pytest.raises(TypeError, match="machine=SVC is a class"):
        fit(SVC)
    with pytest.raises(TypeError, match="machine='svc' is no estimator"):
        fit("svc")


def test_a_check_of_no_parameter_is_a_mistake_of_the_programmer():
    with pytest.raises(TypeError, match="has no parameter 'm'"):
        checked(m=integer_from(1))(lambda n: n)


@pytest.mark.parametrize(
    ("check", "good", "bad", "words"),
    [
        (integer_from(2, 9), [2, 9], [1, 10], "n=10 must be an integer from 2 to 9."),
        (integer_from(0, of="bytes"), [0], [-1], "n=-1 must be an integer number of bytes from 0."),
        (real_number(), [-1.5, 0], ["1", np.inf, np.nan], "n=nan must be a number."),
        (real_number(), [10**20], [-(10**400), 10**400], f"n={10**400} must be a number."),
        (check_level, [0.5], [-(10**400), 10**400], f"n={10**400} must be a number between 0 and"),
        (one_of("a"), ["a"], ["b"], "n='b' is not understood; use 'a'."),
        (real_number(least=0, of="MiB"), [0], [-0.1], "n=-0.1 must be a number of MiB from 0."),
        (
            real_number(above=0, finite=False),
            [np.inf],
            [0, True],
            "n=True must be a number above 0.",
        ),
        (
            real_number(hint=", such as 1", words=("mean",)),
            ["mean", 3],
            ["median", None],
            "n=None must be a number or 'mean', such as 1.",
        ),
        (
            time_limit,
            [None, 0.5, np.inf],
            [0, "1 h"],
            "n='1 h' must be a number of seconds above 0, or None.",
        ),
        (
            one_of("a", np.nan),
            ["a", float("nan")],
            ["b", 0.5],
            "n=0.5 is not understood; use 'a' or nan.",
        ),
        (
            switch_or_integer(2),
            [True, np.False_, 5],
            [1, "yes"],
            "n='yes' is not understood; use True, False, or an integer from 2.",
        ),
        (
            score_of_failures,
            ["raise", np.nan, 0],
            ["nan", True],
            "n=True must be a number, nan or 'raise'.",
        ),
        (
            float_type,
            [np.dtype("float32"), np.dtype("float64")],
            [int, "no type"],
            "n='no type' is not understood; use numpy.float64 or numpy.float32.",
        ),
        (
            each_value(one_of("id", "text"), "{'a': 'id'}"),
            [{"a": "id"}, {}],
            [["a"], {"a": "b"}],
            "n['a']='b' is not understood; use 'id' or 'text'.",
        ),
        (
            optional(each_value(one_of("id", "text"), "{'a': 'id'}")),
            [{"a": "id"}, None],
            [{"a": None}, ["a"]],
            "n=['a'] is not understood; give a dict such as {'a': 'id'}, or None.",
        ),
        (file_path, ["a.csv", pathlib.Path("a")], [3, None], "n=None must be the name of a file."),
        (
            class_or_classes,
            [int, (int, str)],
            ["int", (int, 3)],
            "n=(<class 'int'>, 3) must be a class or a tuple of classes.",
        ),
    ],
)
def test_what_each_check_takes_and_refuses(check, good, bad, words):
    for value in good:
        np.testing.assert_equal(
            check("n", value), pathlib.Path(value) if check is file_path else value
        )
    for value in bad[:-1]:
        with pytest.raises((ValueError, TypeError)):
            check("n", value)
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        check("n", bad[-1])


def test_a_room_has_its_own_error():
    @checked(DataError, n=integer_from(1), path=optional(file_path))
    def read(n, path=None):
        return n

    with pytest.raises(DataError, match="n=0 must be an integer from 1"):
        read(0)
    with pytest.raises(TypeError, match="path=3"):  # what is no value at all stays what it was
        read(1, 3)


def public_functions():
    """Functions of ``__all__`` and public methods of its classes, outside of validation."""
    for module in pkgutil.walk_packages(tamiz.__path__, "tamiz."):
        if not module.ispkg or module.name.startswith(("tamiz.validation", "tamiz.cli")):
            continue
        room = importlib.import_module(module.name)
        for name in getattr(room, "__all__", ()):
            one = getattr(room, name)
            if inspect.isfunction(one):
                yield name, one
            elif inspect.isclass(one) and one.__module__.startswith("tamiz."):
                for method, body in vars(one).items():
                    body = getattr(body, "__func__", body)
                    if inspect.isfunction(body) and not method.startswith("_"):
                        yield f"{name}.{method}", body


def test_a_checked_function_is_still_itself():
    """Signatures, names and docstrings are those of the bodies; so is what pickle finds."""
    checked_ones = [one for _, one in public_functions() if hasattr(one, "__wrapped__")]
    assert len(checked_ones) > 30
    for one in checked_ones:
        body = inspect.unwrap(one)
        assert str(inspect.signature(one)) == str(inspect.signature(body))
        assert (one.__doc__, one.__qualname__) == (body.__doc__, body.__qualname__)
    assert pickle.loads(pickle.dumps(tamiz.compare)) is tamiz.compare


@pytest.mark.parametrize(
    ("call", "arguments", "words"),
    [
        ("compare", {"repeats": 0}, "repeats=0 must be an integer from 1."),
        ("compare", {"confidence": 95}, "confidence=95 must be a number between 0 and 1"),
        ("compare", {"scale": "l2"}, "use 'standard', 'auto', 'minmax' or None."),
        ("compare", {"rule": "2se"}, "rule='2se' is not understood"),
        ("compare", {"prefer": "dask"}, "use 'threads', 'processes' or None."),
        ("compare", {"task": "rank"}, "use 'auto', 'classification' or 'regression'."),
        ("compare", {"nested": 1}, "use True, False, or an integer from 2."),
        ("compare", {"error_score": 0.5}, "error_score=0.5 is not understood"),
        ("compare", {"time_budget": 0}, "time_budget=0 must be a number of seconds above 0, or"),
        ("tune", {"n_iter": 0}, "n_iter=0 must be an integer from 1."),
        ("tune", {"memory_mb": -1}, "memory_mb=-1 must be a number of MiB from 0."),
        ("tune", {"error_score": True}, "must be a number, nan or 'raise'."),
        ("evaluation.stability_of", {"sample": "half"}, "'bootstrap', 'subsample' or 'folds'"),
        ("evaluation.stability_of", {"fraction": 2}, "fraction=2 must be a number between 0 and 1"),
        ("evaluation.stability_of", {"n_folds": 1}, "n_folds=1 must be an integer from 2."),
        ("evaluation.significance", {"test": "t"}, "'auto', 'corrected_t', 'wilcoxon' or"),
        ("evaluation.significance", {"test_fraction": -1}, "from 0, n_test / n_train, or None."),
        ("evaluation.report_card", {"n_bootstrap": 0}, "n_bootstrap=0 must be an integer from 1."),
        ("information.encode", {"n_bins": 251}, "n_bins=251 must be an integer from 2 to 250."),
        ("information.discretise", {"bins": None}, "bins=None is not understood"),
        ("information.entropy", {"unit": "dits"}, "use 'nats' or 'bits'."),
        ("information.mutual_information_matrix", {"dtype": int}, "use numpy.float64 or"),
        ("neighbors.choose_k", {"rule": "least"}, "use 'best' or '1se'."),
        ("scale.batches", {"n_features": 0}, "n_features=0 must be an integer from 1, or None."),
        ("data.load", {"leaks": "no"}, "use 'keep' or 'drop'."),
        ("data.available", {"where": "here"}, "use 'bundled', 'folder' or None."),
        ("scale.is_large", {"share": 0}, "share=0 must be a number above 0, such as 0.25."),
        ("kernels.mercer_check", {"max_samples": 0}, "max_samples=0 must be an integer from 1."),
        ("compare", {"cv": "ten"}, "cv='ten' is not understood; use a number of folds, 'loo',"),
        ("compare", {"cv": 1}, "cv=1 folds need at least 2"),
        ("compare", {"sizes": [0]}, "sizes=[0] is not understood; pass numbers of features from 1"),
        ("compare", {"tune": 3}, "tune=3 is not understood; pass a grid"),
        ("compare", {"limits": {"inner": 2}}, "pass numbers of samples from 4"),
        ("compare", {"scoring": ["f1"]}, "names several metrics; a comparison has one"),
        ("tune", {"grid": 3}, "grid=3 is not understood; use a dict of lists"),
        ("tune", {"cv": 1}, "cv=1 folds need at least 2"),
        ("evaluation.permutation_test", {"cv": 2.5}, "cv=2.5 is not understood"),
        ("evaluation.study.make_study", {"cv": 1}, "cv=1 must be an integer number of folds from"),
        ("evaluation.study.make_study", {"tune": "best"}, "tune='best' is not understood"),
        ("neighbors.choose_k", {"ks": [1.5]}, "ks=[1.5] is not understood"),
        ("embedded.l1_svm_path", {"n_values": 0}, "n_values=0 must be an integer from 1."),
        ("embedded.l1_svm_path", {"span": 1.0}, "span=1.0 must be a number above 1."),
        ("embedded.l1_svm_path", {"class_weight": 2}, "class_weight=2 is not understood"),
        ("embedded.l1_svm_path", {"solver": "newton"}, "solver='newton' is not understood"),
        ("embedded.l1_svm_path", {"Cs": [0.0]}, "Cs=[0.0] must hold positive, finite numbers."),
        ("embedded.l1_svm_path", {"verbose": "yes"}, "verbose='yes' must be an integer from 0."),
        ("data.load", {"format": "xls"}, "format='xls' is not known; use one of"),
        ("data.load", {"separator": "||"}, "separator='||' is not understood; use one character"),
        ("data.load", {"decimal": ";"}, "decimal=';' is not understood; use '.' or ',', or None."),
        ("data.load", {"encoding": "runes"}, "encoding='runes' is not known; use 'utf-8'"),
        ("data.load", {"missing": "NA"}, "missing='NA' is not understood; give a list"),
        ("data.load", {"columns": 1.5}, "columns=1.5 is not understood; give names or positions"),
        ("data.load", {"groups": ["a"]}, "groups=['a'] is not understood; give the name or"),
        ("scale.batches", {"separator": ""}, "separator='' is not understood"),
        ("scale.is_large", {"format": "xls"}, "format='xls' is not known"),
    ],
)
def test_public_functions_refuse_in_one_wording(call, arguments, words):
    function = operator.attrgetter(call)(tamiz)
    needed = [
        value
        for value in inspect.signature(function).parameters.values()
        if value.default is value.empty and value.kind is value.POSITIONAL_OR_KEYWORD
    ]
    if call in ("evaluation.stability_of", "evaluation.permutation_test"):
        needed[0] = SVC()
    with pytest.raises(ValueError, match=re.escape(words)):
        function(*needed, **arguments)
