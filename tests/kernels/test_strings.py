"""The string kernel against its definition, an exact programme, and what it must not depend on."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tamiz.kernels import RBF, Conformal, GapWeighted, Linear, Precomputed, mercer_check
from tamiz.kernels.strings import kernel as blocks
from tamiz.kernels.strings.texts import Texts
from tamiz.runtime import threads as parallel
from tamiz.runtime.threads import limit_threads
from tests.calls import watched
from tests.naive import strings as naive

SHORT = ["".join(word) for n in range(5) for word in product("ab", repeat=n)]


def words(n, shortest, longest, alphabet, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(shortest, longest + 1, n)
    return ["".join(rng.choice(list(alphabet), length)) for length in lengths]


@pytest.fixture(params=["lanes", "pairs"])
def form(request, monkeypatch):
    """Both forms of the programme, whatever the data would suggest."""
    monkeypatch.setattr(blocks, "_pairs_are_cheaper", lambda *_: request.param == "pairs")
    return request.param


def close(actual, wanted, rtol=1e-12):
    np.testing.assert_allclose(np.asarray(actual, float), np.asarray(wanted, float), rtol=rtol)


# ---------------------------------------------------------------------------- values


@pytest.mark.parametrize("decay", [0.1, 0.5, 1.0])
def test_worked_example_of_the_source(form, decay):
    raw = GapWeighted(2, decay, normalize=False)
    close(raw(["SVM"], ["SVA"]), [[decay**4]])
    close(raw(["SVM"], ["SVM"]), [[2 * decay**4 + decay**6]])
    close(GapWeighted(2, decay)(["SVM"], ["SVA"]), [[1 / (2 + decay**2)]])


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_values_are_those_of_the_definition(form, m):
    X, Z = SHORT + words(6, 5, 8, "ab"), words(13, 0, 8, "abc", seed=1)
    for decay in (0.3, 1.0):
        wanted = [[naive.by_enumeration(s, t, m, decay) for t in Z] for s in X]
        close(GapWeighted(m, decay, normalize=False)(X, Z), wanted)


@pytest.mark.parametrize("decay", [1e-6, 1.0])
def test_extreme_decays_and_long_subsequences(form, decay):
    X, Z = ["a" * 9, "ababababa", "a\u0301é😀é\x00a", "abcab"], words(9, 0, 9, "ab", seed=2)
    for m in (1, 5):
        wanted = [[naive.normalised(s, t, m, decay) for t in Z] for s in X]
        close(GapWeighted(m, decay)(X, Z), wanted)


def test_both_oracles_agree():
    for s, t in zip(words(20, 0, 8, "abc"), words(20, 0, 8, "abc", seed=1), strict=True):
        for m in (1, 2, 3, 5):
            decay = Fraction(1, 3)
            assert naive.by_enumeration(s, t, m, decay) == naive.by_programme(s, t, m, decay)


@pytest.mark.parametrize("normalize", [False, True])
def test_square_matrix(form, normalize):
    X = words(18, 0, 9, "abcd")  # more than two rounds of lanes, and one not full
    kernel = GapWeighted(3, 0.4, normalize)
    gram = kernel(X)
    assert np.array_equal(gram, gram.T)
    assert np.array_equal(np.diag(gram), kernel.diag(X))
    oracle = naive.normalised if normalize else naive.by_programme
    close(gram, [[oracle(s, t, 3, 0.4) for t in X] for s in X])
    close(gram, kernel(X, list(X)))


def test_exact_to_rounding_on_long_strings(form):
    s, t = words(2, 70, 70, "acgt")
    for m, decay in ((4, Fraction(1, 2)), (6, Fraction(15, 16)), (3, Fraction(1, 64))):
        wanted = naive.by_programme(s, t, m, decay)
        value = GapWeighted(m, float(decay), normalize=False)([s], [t])[0, 0]
        assert abs(Fraction(value) / wanted - 1) < Fraction(1, 10**13)


def test_lengths_are_weighted(form):
    X, Z = words(9, 0, 9, "abc"), words(5, 1, 9, "abc", seed=1)
    weights = (0.5, 0.0, 2.0)
    for normalize in (True, False):
        parts = [w * GapWeighted(q + 1, 0.6, normalize)(X, Z) for q, w in enumerate(weights)]
        kernel = GapWeighted(3, 0.6, normalize, weights=weights)
        close(kernel(X, Z), sum(parts))
        close(kernel.diag(X), np.diag(kernel(X)))
    assert GapWeighted(3, weights=weights).bound == 2.5
    assert np.array_equal(GapWeighted(2, weights=[0, 1])(X), GapWeighted(2)(X))


# ---------------------------------------------------------------------------- range of numbers


@pytest.mark.parametrize("decay", [1e-5, 0.05, 0.5])
def test_small_decay_on_long_strings(form, decay):
    rng = np.random.default_rng(0)
    s = "".join(rng.choice(list("abcdefghij"), 2000))
    t = s[:1000] + "".join(rng.choice(list("klmnopqrst"), 500)) + s[1500:]
    kernel = GapWeighted(4, decay)
    gram = kernel([s, t, "z" * 2000, "y" * 10])
    assert np.isfinite(gram).all() and np.all(np.diag(gram) == 1)
    assert 0.5 < gram[0, 1] < 1
    assert gram[0, 2] == gram[0, 3] == 0  # nothing in common is exactly nothing
    if decay == 1e-5:  # gaps cost everything: contiguous pieces decide
        assert abs(gram[0, 1] - _spectrum(s, t)) < 1e-5


def _spectrum(s, t, m=4):
    def counts(u):
        found = {}
        for i in range(len(u) - m + 1):
            found[u[i : i + m]] = found.get(u[i : i + m], 0) + 1
        return found

    a, b = counts(s), counts(t)
    dot = sum(v * b.get(k, 0) for k, v in a.items())
    return dot / np.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))


def test_faint_common_pieces_are_kept(form):
    s, t = "a" + "x" * 200 + "b", "a" + "y" * 100 + "b"
    value = GapWeighted(2, 0.25, normalize=False)([s], [t])[0, 0]
    close(value, 0.25 ** (202 + 102))


def test_sums_beyond_float64_are_scaled(form):
    m, n = 200, 600
    kernel = GapWeighted(m, 1.0)
    # K(a^n, a^k) = C(n, m) C(k, m), whose decimal logarithm is beyond 308
    close(kernel(["a" * n], ["a" * (n - 1), "b" * 200]), [[1, 0]], rtol=1e-9)
    with pytest.raises(ValueError, match=r"more subsequences of length 200 .* normalize=True"):
        GapWeighted(m, 1.0, normalize=False)(["a" * n])
    with pytest.raises(ValueError, match="smaller length or a smaller decay"):
        GapWeighted(1000, 1.0)(["a" * 4000])


def test_short_and_empty_strings_are_zero(form):
    X = ["", "a", "ab", "abc", "abcd"]
    for normalize in (True, False):
        gram = GapWeighted(3, 0.5, normalize)(X)
        assert not gram[:3].any() and not gram[:, :3].any()
        assert gram[3, 3] > 0 and gram[3, 4] > 0
        assert np.linalg.eigvalsh(gram)[0] > -1e-15
    assert np.array_equal(GapWeighted(3)(["", ""]), np.zeros((2, 2)))
    for far in (5, 10**12):  # nothing is set up for subsequences that no string has
        assert not GapWeighted(far)(X).any() and not GapWeighted(far).diag(X).any()
        assert GapWeighted(far)(X, ["a" * 9, "b"]).shape == (5, 2)
    assert GapWeighted(10**12).bound == 1
    close(GapWeighted(9, weights=(1,) * 9)(X), sum(GapWeighted(q)(X) for q in (1, 2, 3, 4)))
    assert GapWeighted()([]).shape == (0, 0)
    assert GapWeighted()([], ["ab"]).shape == (0, 1)


# ---------------------------------------------------------------------------- properties

text = st.text(alphabet="abc\u0301é😀", max_size=12)
lists = st.lists(text, min_size=1, max_size=6)
kernels = st.builds(
    GapWeighted,
    length=st.integers(1, 4),
    decay=st.floats(0.05, 1.0),
    normalize=st.booleans(),
)
few = settings(max_examples=25, deadline=None)


@few
@given(lists, lists, kernels)
def test_invariances(X, Z, kernel):
    values = kernel(X, Z)
    close(values, kernel(Z, X).T)
    close(values, kernel([s[::-1] for s in X], [t[::-1] for t in Z]))
    renamed = str.maketrans("abc\u0301é😀", "😀xyzab")
    close(values, kernel([s.translate(renamed) for s in X], [t.translate(renamed) for t in Z]))
    close(values[0], kernel([list(X[0])], [list(t) for t in Z])[0])  # one, and as symbols


@few
@given(lists, kernels)
def test_gram_matrices_are_those_of_inner_products(X, kernel):
    gram = kernel(X)
    diag = np.diag(gram)
    size = max(float(diag.max()), 1e-300)
    assert np.linalg.eigvalsh(gram)[0] >= -1e-12 * size
    assert (gram**2 <= np.outer(diag, diag) * (1 + 1e-12)).all()
    assert (gram >= 0).all()
    if kernel.normalize:
        assert set(np.unique(diag)) <= {0.0, 1.0}


# ---------------------------------------------------------------------------- alphabets


def test_symbols_are_code_points():
    plain = GapWeighted(2, 0.5, normalize=False)
    assert plain(["😀🎈x"], ["😀🎈x"]) == plain(["abc"], ["abc"])
    assert plain(["e\u0301a"], ["éa"])[0, 0] == 0  # composed or not: different symbols
    assert plain(["e\u0301"], ["e\u0301"])[0, 0] == 0.5**4
    assert plain(["\ud83d\ude00"], ["\ud83d\ude00"])[0, 0] == 0.5**4  # two lone surrogates
    assert plain(["😀😀"], ["\ud83d\ude00"])[0, 0] == 0
    assert plain(["a\x00b"], ["a\x00b"])[0, 0] == plain(["abc"], ["abc"])[0, 0]


def test_words_and_functions():
    X = ["The cat sat, down!", "the CAT sat down", ""]
    kernel = GapWeighted(2, 0.5, tokens="word", lowercase=True)
    close(kernel(X)[:2, :2], 1)
    assert kernel(X)[2].tolist() == [0, 0, 0]
    split = GapWeighted(2, 0.5, tokens=str.split)
    close(split(X), GapWeighted(2, 0.5)([s.split() for s in X]))
    assert split(X)[0, 1] < 1
    close(GapWeighted(2)([[1, 2, 3], (1, 2, 4)]), GapWeighted(2)(["abc", "abd"]))
    close(kernel(X, X[:2])[:2], 1)  # an alphabet of its own for each argument


def test_the_cheaper_form_is_chosen():
    def chosen(X, kernel):
        encoded = kernel._encoded(kernel._samples(X))
        return blocks._pairs_are_cheaper(encoded, encoded, len(encoded.symbols), kernel.length)

    rng = np.random.default_rng(0)
    assert not chosen(words(30, 60, 60, "acgt"), GapWeighted(4))
    assert chosen(rng.integers(0, 2000, (30, 40)).tolist(), GapWeighted(4))


@pytest.fixture
def four_threads(monkeypatch, limits):
    """Threads for the least bit of work, whatever the machine and its settings."""
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    limits(blocks, WORTH_A_THREAD=1e-9)


@pytest.mark.parametrize("n", [1, 2, 9, 19])
def test_threads_do_not_change_values(form, four_threads, n):
    X, Z = words(n, 0, 33, "abcde"), words(11, 0, 20, "abcdefg", seed=1)
    kernel = GapWeighted(3, 0.7)
    with limit_threads(1):
        one = [kernel(X), kernel(X, Z), kernel(Z, X), kernel(X, Z[:1])]
    for threads in (2, 3, 4):
        with limit_threads(threads), watched(parallel, "_get_pool") as asked:
            many = [kernel(X), kernel(X, Z), kernel(Z, X), kernel(X, Z[:1])]
        assert all(map(np.array_equal, one, many)) and asked


def test_work_is_cut_into_rounds(limits, form):
    X = words(30, 0, 40, "ab")
    wanted = GapWeighted(3)(X)
    limits(blocks, ROUND_SECONDS=1e-6)
    assert np.array_equal(GapWeighted(3)(X), wanted)


@pytest.mark.parametrize("seconds", [1e-6, 3.0, 1e9])
def test_rounds_leave_nothing_out(limits, four_threads, seconds):
    limits(blocks, ROUND_SECONDS=seconds)
    cost = np.random.default_rng(0).uniform(0.1, 2.0, 50)
    rounds = list(blocks._rounds(cost))
    assert [bounds[0] for bounds, _ in rounds] == [0, *(bounds[-1] for bounds, _ in rounds[:-1])]
    assert rounds[-1][0][-1] == 50 and rounds[-1][1] == 1.0
    for bounds, _ in rounds:
        assert (np.diff(bounds) >= 0).all() and bounds[-1] > bounds[0]
    if seconds == 1e9:  # one round: a quarter for each thread, up to one item
        shares = [cost[a:b].sum() for a, b in pairwise(rounds[0][0])]
        assert len(shares) == 4 and np.ptp(shares) <= 2 * cost.max()
    assert not list(blocks._rounds(np.empty(0)))


# ---------------------------------------------------------------------------- a kernel like others


def test_algebra_of_string_kernels():
    X, Z = words(7, 2, 9, "abc"), words(4, 2, 9, "abc", seed=1)
    k, l = GapWeighted(2), GapWeighted(1, tokens="word")
    close((k + l)(X, Z), k(X, Z) + l(X, Z))
    close((3 * k * k)(X, Z), 3 * k(X, Z) ** 2)
    close(k.exp()(X), np.exp(k(X)))
    close(k.poly([1, 2])(X), 1 + 2 * k(X))
    assert (k + l).compares_text and (k + l).always_mercer
    assert mercer_check(k.exp() + l, X).is_mercer
    prepared = (k + l).prepare(X)
    close(prepared.cross(Z), (k + l)(Z, X))
    close(prepared.subset([1, 3]).gram(), (k + l)([X[1], X[3]]))
    close(prepared.decision(Z, np.ones(7)), (k + l)(Z, X).sum(axis=1))


def test_prepared_strings():
    X, Z = words(11, 0, 30, "abc"), words(4, 0, 30, "abc", seed=1)
    kernel = GapWeighted(3)
    prepared = kernel.prepare(X, dtype=np.float32)
    gram = kernel(X)
    assert prepared.gram().dtype == np.float32
    assert np.abs(prepared.rows([3, 1]) - gram[[3, 1]]).max() <= prepared.entry_error + 1e-15
    close(kernel.prepare(X).block([0, 4], [2, 9, 1]), gram[np.ix_([0, 4], [2, 9, 1])])
    close(kernel.prepare(X).cross(Z), kernel(Z, X))
    texts = kernel._samples(X)
    close(kernel(texts[3:]), gram[3:, 3:])
    assert isinstance(texts[[1]], Texts) and texts[[1]].items.tolist() == [X[1]]


def test_mixing_with_vectors_is_refused():
    for make in (
        lambda: GapWeighted() + RBF(),
        lambda: Linear() * GapWeighted(),
        lambda: GapWeighted() * Conformal(len),
        lambda: GapWeighted() + Precomputed(),
    ):
        with pytest.raises(ValueError, match=r"compares strings and .* compares vectors"):
            make()
    with pytest.raises(ValueError, match="function in tokens"):
        GapWeighted().of(len)
    with pytest.raises(ValueError, match="no features to select"):
        GapWeighted().track(np.eye(3))
    with pytest.raises(ValueError, match="no features to select"):
        GapWeighted().restrict([0], 2)


def test_parameters_like_those_of_others():
    kernel = GapWeighted(3, 0.2, weights=(1, 0, 2), tokens="word")
    assert repr(kernel) == "GapWeighted(length=3, decay=0.2, weights=(1, 0, 2), tokens='word')"
    assert clone(kernel) == kernel and clone(kernel) is not kernel
    assert kernel != GapWeighted(3, 0.2) and GapWeighted() == GapWeighted(2, 0.5)
    assert clone(GapWeighted()).set_params(decay=0.9).decay == 0.9
    assert GapWeighted().unit_bounded and not GapWeighted(normalize=False).unit_bounded
    with pytest.raises(ValueError, match="at most 1"):
        kernel.set_params(decay=2.0)
    assert kernel.decay == 0.2


class Unhashable:
    __hash__ = None

    def __call__(self, text):
        return list(text)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"length": 0}, r"length .* at least 1.* got 0"),
        ({"length": -2}, "got -2"),
        ({"length": 2.0}, "got 2.0"),
        ({"length": True}, "got True"),
        ({"length": "3"}, "got '3'"),
        ({"decay": 0}, "above 0 and at most 1; got 0"),
        ({"decay": 1.01}, "got 1.01"),
        ({"decay": np.nan}, "must be finite"),
        ({"decay": "half"}, "must be a number"),
        ({"normalize": 1}, "normalize .* True or False"),
        ({"lowercase": "yes"}, "lowercase .* True or False"),
        ({"tokens": "line"}, "'char', 'word' or a function"),
        ({"tokens": str}, "'char', 'word' or a function"),
        ({"weights": (1.0,)}, "has 1 entries for length=2"),
        ({"weights": (1.0, -1.0)}, r"weights\[1\] .* must not be negative"),
        ({"weights": (0, 0)}, "at least one must be positive"),
        ({"weights": 2.0}, "must be a list of numbers"),
        ({"weights": {1: 1.0, 2: 1.0}}, "must be a list of numbers"),
        ({"weights": (w for w in (1, 1))}, "must be a list of numbers"),
        ({"weights": np.ones((2, 1))}, "must be a list of numbers"),
        ({"tokens": Unhashable()}, "a function, hashable, that"),
        ({"weights": (1, "a")}, r"weights\[1\] .* must be a number"),
        ({"length": 100, "decay": 0.01, "normalize": False}, "Use normalize=True"),
    ],
)
def test_wrong_parameters(params, sentence):
    with pytest.raises(ValueError, match=sentence):
        GapWeighted(**params)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ("abc", r"X is one string, 'abc'.*\[X\]"),
        (None, "X is of type NoneType"),
        ({"a": "b"}, "X is of type dict"),
        (["a", None], r"X\[1\] is missing \(None\); put an empty string"),
        (["a", float("nan")], r"X\[1\] is missing"),
        (["a", 3], r"X\[1\] is 3 of type int"),
        (["a", b"b"], r"X\[1\] is bytes.*decode"),
        (np.array([b"a"]), r"X\[0\] is bytes"),
        (["a", ["b"]], "mixes strings and sequences"),
        ([["a", ["b"]]], r"X\[0\]\[1\] is \['b'\] of type list, which is no symbol"),
        ([[0.5, 1.0]], r"rows of real numbers use a kernel of vectors"),
        (np.eye(2), r"holds numbers \(float64"),
        (np.array(["a", "b"]).reshape(1, 2), r"has shape \(1, 2\)"),
        (np.array("a"), "X is one string, 'a'"),
        (["a", np.float64("nan")], r"X\[1\] is missing"),
        (["a", np.float32("nan")], r"X\[1\] is missing"),
        (["a", pd.NA], r"X\[1\] is missing"),
        (pd.array(["a", None], dtype="string"), r"X\[1\] is missing"),
        ([["a", None]], r"X\[0\]\[1\] is missing \(None\); leave the symbol out"),
        ([["a", pd.NA]], r"X\[0\]\[1\] is missing"),
        ([[("a", ["b"])]], r"X\[0\]\[0\] is \('a', \['b'\]\) of type tuple, which is no symbol"),
        (pd.DataFrame(index=[0, 1]), "a table without columns"),
        (pd.Index([1, 2]), r"holds numbers \(int64"),
    ],
)
def test_wrong_samples(X, sentence):
    for call in (GapWeighted(), GapWeighted().diag, GapWeighted() + GapWeighted(3)):
        with pytest.raises(ValueError, match=sentence):
            call(X)


@pytest.mark.parametrize("tokens", [len, lambda s: s, lambda s: [[s]], lambda s: [(s, [])]])
def test_wrong_functions(tokens):
    with pytest.raises(ValueError, match=r"^tokens="):
        GapWeighted(tokens=tokens)(["ab"])
