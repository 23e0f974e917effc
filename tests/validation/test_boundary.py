"""What an argument may be is checked in ``tamiz.validation`` and nowhere else.

The rule is read from the source of every function, public or not. A condition on one argument
alone that asks what kind of thing it is, or how large, and raises, is such a check. What asks
whether an argument fits the data or another argument needs both, and stays where they meet.
"""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from pathlib import Path

import pytest

import tamiz

SRC = Path(tamiz.__file__).parent
ROOMS = [p for p in sorted(SRC.rglob("*.py")) if p.relative_to(SRC).parts[0] != "validation"]

REFUSALS = {"ValueError", "TypeError", "DataError", "ParameterError"}
FORM = {"isinstance", "issubclass", "hasattr", "callable", "len"}
#: What holds arguments in its attributes: an estimator, or the options of a reader.
CARRIERS = {"self", "options", "given"}
#: Data, and parts of them: checked where they are read.
DATA = {"X", "Z", "y", "table", "matrix", "item", "symbols", "counts"}
MODULES = {"np", "math", "numbers", "sparse", "os", "Integral", "Real"}

#: Conditions on one thing that are facts about it and no checks of an argument, and why.
FACTS = {
    "data/formats/libsvm.py:check_batches": "a LIBSVM file has its target in one place only",
    "embedded/sparse/arom.py:fit_stream": "a stream is read for classes only",
    "embedded/sparse/milp.py:_part_of": "whether costs have a budget",
    "explain/curves.py:_grid": "a column of the data without any value",
    "filters/base.py:refuse_card": "what a filter with these settings cannot do on a card",
    "filters/cfs.py:_stream_needs": "an array leaves nothing to stream",
    "filters/qpfs.py:_stream_needs": "a function of X needs X in memory",
    "gpu/emulation.py:__array_ufunc__": "what arrays of a card cannot do",
    "gpu/emulation.py:__setitem__": "what a card does in 32 bits",
    "gpu/emulation.py:_bare": "arrays of a card refuse to be mixed with NumPy's",
    "information/columns.py:_refuse_containers": "a cell of the data",
    "information/on_card.py:to_card": "weighted samples are not counted on a card",
    "persistence/_encoding.py:encode": "what a model file can hold",
    "persistence/_encoding.py:_object": "what a model file can hold",
    "persistence/_encoding.py:_function": "what a model file can hold",
    "persistence/_known.py:__init__": "a mistake of the programmer who registers a class",
    "runtime/checkpoint.py:stable_text": "what a checkpoint can recognise later",
    "svm/pegasos.py:fit_stream": "a stream cannot be drawn from with replacement",
    "svm/pegasos.py:_check_stream_parameters": "frequencies of classes to come are not known",
    "tree/rules.py:_literal": "what source code can hold",
}


def subject_of(node, own):
    """The argument that an expression is; ``own`` are the parameters of the constructor."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        holder = node.value.id
        if holder in CARRIERS - {"self"} or (holder == "self" and node.attr in own):
            return f"{holder}.{node.attr}"
    return None


def names_in(test, own):
    """Arguments and variables of a condition; functions, constants and classes do not count."""
    nodes = list(ast.walk(test))
    passed = {id(n.value) for n in nodes if isinstance(n, ast.Attribute) and subject_of(n, own)}
    passed |= {id(n.func) for n in nodes if isinstance(n, ast.Call)}
    loops = [n.target for n in nodes if isinstance(n, ast.comprehension)]
    bound = {n.id for loop in loops for n in ast.walk(loop) if isinstance(n, ast.Name)}
    found = {subject_of(n, own) for n in nodes if id(n) not in passed} - {None} - bound - MODULES
    found -= set(dir(builtins))
    return {n for n in found if len(n) == 1 or not n.lstrip("_")[:1].isupper()}


def asks_for_form(test, subject, own):
    """Whether a condition asks what kind of thing an argument is, or how large."""
    for node in ast.walk(test):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in FORM and node.args and subject_of(node.args[0], own) == subject:
                return True
        elif isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
            if isinstance(node.ops[0], (ast.Is, ast.IsNot)):  # whether it is there at all
                continue
            if isinstance(node.ops[0], (ast.In, ast.NotIn)):
                parts = parts[:1]
            if any(subject_of(part, own) == subject for part in parts):
                return True
    return False


def raises(body):
    statements = [one for one in body if isinstance(one, ast.Raise) and one.exc is not None]
    return {ast.unparse(one.exc).partition("(")[0] for one in statements} & REFUSALS


def checks_by_hand(function, own=frozenset()):
    """Conditions on one argument alone that ask for its form and raise."""

    def walk(body, arguments, about):
        for node in body:
            if isinstance(node, ast.If):
                names = names_in(node.test, own)
                one = min(names) if len(names) == 1 else None
                if one in arguments or (one is not None and "." in one):
                    alone = about in (None, one) and asks_for_form(node.test, one, own)
                    if alone and raises(node.body):
                        yield ast.unparse(node.test)
                    yield from walk(node.body, arguments, one)
                    yield from walk(node.orelse, arguments, one)
            elif isinstance(node, (ast.With, ast.Try)):
                yield from walk(node.body, arguments, about)
            elif isinstance(node, ast.For) and names_in(node.iter, own) & arguments:
                parts = {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
                yield from walk(node.body, parts, None)

    given = function.args
    parameters = {one.arg for one in given.posonlyargs + given.args + given.kwonlyargs}
    yield from walk(function.body, parameters - DATA - {"self", "cls"}, None)


def functions_in(tree):
    """Functions with the parameters of the constructor of their class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            made = [one.args for one in methods if one.name == "__init__"]
            own = {one.arg for args in made for one in args.args + args.kwonlyargs}
            for method in methods:
                yield method, own
        elif isinstance(node, ast.Module):
            yield from ((one, set()) for one in node.body if isinstance(one, ast.FunctionDef))


def by_place():
    for path in ROOMS:
        for function, own in functions_in(ast.parse(path.read_text(encoding="utf-8"))):
            for condition in checks_by_hand(function, own):
                yield f"{path.relative_to(SRC).as_posix()}:{function.name}", condition


@pytest.mark.ours
def test_no_function_outside_of_validation_checks_what_an_argument_may_be():
    found = [f"{place}: if {condition}" for place, condition in by_place() if place not in FACTS]
    assert not found, "declare these with tamiz.validation.checked:\n" + "\n".join(found)


@pytest.mark.ours
def test_every_fact_that_is_listed_is_there():
    assert {place for place, _ in by_place()} >= set(FACTS)


SENTENCE = re.compile(r"\w=\{[^{}]*\} is not (understood|known)")


def sentences(tree):
    """Sentences of arguments that are refused, raised as anything but a ParameterError."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and raises([node]) - {"ParameterError"}:
            texts = [part for part in ast.walk(node) if isinstance(part, ast.JoinedStr)]
            yield from filter(SENTENCE.search, map(ast.unparse, texts))


@pytest.mark.ours
def test_arguments_that_a_parser_refuses_are_refused_through_validation():
    found = [
        f"{path.relative_to(SRC)}: {text}"
        for path in ROOMS
        for text in sentences(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found, "raise these with tamiz.validation.refused:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f(n):\n if n < 1: raise ValueError(n)", ["n < 1"]),
        ("def _f(n):\n if not isinstance(n, int): raise TypeError(n)", ["not isinstance(n, int)"]),
        ("def f(C=1.0):\n if C <= 0: raise ValueError(C)", ["C <= 0"]),
        ("def f(rule):\n if rule not in RULES: raise DataError(rule)", ["rule not in RULES"]),
        (
            "def f(cv):\n if isinstance(cv, str):\n  if cv != 'loo': raise ValueError(cv)",
            ["cv != 'loo'"],
        ),
        ("def f(ks):\n for k in ks:\n  if k < 1: raise ValueError(k)", ["k < 1"]),
        ("def f(options):\n if len(options.sep) != 1: raise DataError", ["len(options.sep) != 1"]),
        ("def f(options):\n with a:\n  if options.n < 1: raise DataError", ["options.n < 1"]),
        ("def f(n, X):\n if n > len(X): raise ValueError('these two go together')", []),
        ("def f(n, groups):\n if groups is not None:\n  if n < 2: raise ValueError", []),
        ("def f(y):\n if y is None: raise ValueError('there is nothing to learn')", []),
        ("def f(X):\n if X.ndim != 2: raise ValueError('no table')", []),
        ("def f(table):\n if table.once: raise ValueError('a generator')", []),
    ],
)
def test_a_check_by_hand_would_be_found(source, found):
    (function,) = ast.parse(source).body
    assert list(checks_by_hand(function)) == found


def test_a_check_of_a_constructor_parameter_would_be_found():
    source = """
    class Kernel:
        def __init__(self, gamma):
            self.gamma = gamma

        def _check(self):
            if self.gamma <= 0:
                raise ValueError("gamma")
            if self.n_rows == 0:
                raise ValueError("no rows: a state, not an argument")
    """
    tree = ast.parse(textwrap.dedent(source))
    assert [c for f, own in functions_in(tree) for c in checks_by_hand(f, own)] == [
        "self.gamma <= 0"
    ]


def test_a_sentence_by_hand_would_be_found():
    tree = ast.parse("raise ValueError(f'cv={cv!r} is not understood; use a number.')")
    assert len(list(sentences(tree))) == 1
    tree = ast.parse("raise refused('cv', cv, 'is not understood; use a number.')")
    assert not list(sentences(tree))
