"""Counts on the card: kernels, their twins in NumPy, and the CPU agree to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.filters import CMIM, JMI, MRMR, QPFS, MaxRel
from tamiz.gpu import counts, emulated
from tamiz.information import counting, encode, mutual_information_matrix, pack_table
from tamiz.information.on_card import MOST_ON_CARD, CardCodes, to_card
from tamiz.information.packing import target_codes
from tamiz.validation import NotEnoughMemoryError
from tests.gpu.compiled import compiled_lane, needs_compiler


def table(n, p, seed=0, levels=(2, 3, 4), missing=0.0):
    """Columns of few or many levels that have to do with the class, and with each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = np.empty((n, p))
    for j in range(p):
        r = levels[j % len(levels)]
        X[:, j] = np.where(rng.random(n) < 0.5 * rng.random(), y % r, rng.integers(0, r, n))
        if j % 3 == 0 and j:
            X[:, j] = np.where(rng.random(n) < 0.7, X[:, j - 1] % r, X[:, j])
    X[:, 1::2][rng.random(X[:, 1::2].shape) < missing] = np.nan  # the others are complete
    return X, y


@pytest.fixture(params=["twin", pytest.param("compiled", marks=needs_compiler)])
def lane(request, tmp_path_factory):
    """An emulated card: by the twins in NumPy, or by the kernels, compiled for the CPU."""
    if request.param == "twin":
        with emulated() as lane:
            yield lane
    else:
        with compiled_lane(tmp_path_factory.mktemp("kernels")) as lane:
            yield lane


CASES = {
    "three levels": {"levels": (3,)},
    "few levels": {"levels": (2, 3, 5)},
    "many levels": {"levels": (2, 9, 64)},
    "missing": {"levels": (2, 3, 9), "missing": 0.2},
    "constant": {"levels": (1, 2, 3)},
}


@pytest.mark.parametrize("n", [2, 64, 65, 1100])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("ratio", [False, True])
def test_rows_and_matrix_are_those_of_the_cpu(lane, n, case, ratio):
    X, y = table(n, 13, **CASES[case])
    codes = encode(X, bins=None, missing="ignore")
    card = CardCodes(codes, lane)
    np.testing.assert_array_equal(card.matrix(ratio=ratio), codes.matrix(ratio=ratio))
    some = np.array([4, 0, 11])
    np.testing.assert_array_equal(card.rows(some, ratio=ratio), codes.rows(some, ratio=ratio))
    np.testing.assert_array_equal(card.relevance(y, ratio=ratio), codes.relevance(y, ratio=ratio))
    np.testing.assert_array_equal(card.conditional(5, y), codes.conditional(5, y))


def test_matrices_of_several_panels_are_those_of_the_cpu(lane):
    X, _ = table(70, 300, levels=(3, 2, 3))
    for dtype in (np.float64, np.float32):
        ours = mutual_information_matrix(X, bins=None, dtype=dtype, device="cuda")
        assert ours.dtype == dtype
        np.testing.assert_array_equal(ours, mutual_information_matrix(X, bins=None, dtype=dtype))
    ours = mutual_information_matrix(X, bins=None, rows=[7, 299], unit="bits", device="cuda")
    right = mutual_information_matrix(X, bins=None, rows=[7, 299], unit="bits")
    np.testing.assert_array_equal(ours, right)


def test_constants_of_the_card_are_those_of_the_cpu():
    assert counts.FAINT == counting.FAINT


def test_columns_without_bits_and_large_tables_are_counted_on_the_cpu(lane):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, r, 500) for r in (3, 100, 64, 60, 2)])
    codes = encode(X, bins=None)
    card = CardCodes(codes, lane)
    assert not card.all_on_card and len(card.wide.features) == 1
    np.testing.assert_array_equal(card.matrix(), codes.matrix())
    np.testing.assert_array_equal(card.rows([0, 2, 1]), codes.rows([0, 2, 1]))
    many = rng.integers(0, MOST_ON_CARD // 60 + 1, 500)
    np.testing.assert_array_equal(card.against(many), codes.against(many))


SELECTORS = [
    MaxRel(5, bins=None),
    MRMR(7, bins=None),
    MRMR(7, bins=None, scheme="quotient"),
    MRMR(9, bins=None, full_ranking=True),
    JMI(5, bins=None),
    CMIM(5, bins=None),
    QPFS(bins=None),
    QPFS(bins=None, similarity="symmetrical_uncertainty"),
    QPFS(bins=None, nystroem=0.4, random_state=0),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_selections_and_scores_are_those_of_the_cpu(lane, selector, missing):
    X, y = table(200, 40, missing=missing)
    right = selector.fit(X, y)
    order, scores, path = right.order_, right.scores_, right.selection_.path
    found = type(selector)(**{**selector.get_params(), "device": "cuda"}).fit(X, y)
    np.testing.assert_array_equal(found.order_, order)
    np.testing.assert_array_equal(found.scores_, scores)
    assert found.selection_.path == path
    assert found.support_.tolist() == right.support_.tolist()


def test_missing_values_left_out_give_the_same_ranking(lane):
    X, y = table(150, 20, missing=0.3)
    for selector in (MRMR, JMI):
        right = selector(6, bins=None, missing="ignore").fit(X, y)
        found = selector(6, bins=None, missing="ignore", device="auto").fit(X, y)
        np.testing.assert_array_equal(found.order_, right.order_)
        np.testing.assert_array_equal(found.scores_, right.scores_)


def test_equal_columns_stay_ties(lane):
    X, y = table(100, 6, levels=(3,))
    X = np.column_stack([X, 2 - X, X])  # other names of the same levels, and copies
    right = MRMR(18, bins=None).fit(X, y).order_
    assert MRMR(18, bins=None, device="cuda").fit(X, y).order_.tolist() == right.tolist()


class Stopped(CardCodes):
    """Columns of which a row is asked for so many times before Ctrl-C comes."""

    left = 5

    def card_row(self, j):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return super().card_row(j)


@pytest.mark.parametrize("scheme", ["difference", "quotient"])
def test_steps_that_are_interrupted_leave_the_sums_as_they_were(scheme):
    X, y = table(100, 12)
    codes = encode(X, bins=None)
    codes.target = target_codes(y, 100)
    mrmr = MRMR(scheme=scheme)
    with emulated() as lane:
        found, right = mrmr._criterion(Stopped(codes, lane)), mrmr._criterion(codes)
        added = [k for k, _ in found.several(np.ones(12, dtype=bool), 3)]
        alive = np.isin(np.arange(12), added, invert=True)
        with pytest.raises(KeyboardInterrupt):
            found.several(alive, 3)
        for k in added:
            right.add(k)
        np.testing.assert_array_equal(found.values(), right.values())
        more = int(np.flatnonzero(alive)[0])
        found.add(more)
        right.add(more)
        np.testing.assert_array_equal(found.values(), right.values())


@pytest.mark.parametrize("memory", [None, 200_000])
def test_packed_files_are_copied_group_by_group(tmp_path, memory):
    X, y = table(1000, 700, levels=(3, 2))
    blocks = (X[:, k : k + 100] for k in range(0, 700, 100))
    with pack_table(blocks, tmp_path / "t", bins=None) as packed, emulated(memory=memory):
        right = MRMR(5).fit(packed, y)
        found = MRMR(5, device="cuda").fit(packed, y)
    np.testing.assert_array_equal(found.order_, right.order_)
    np.testing.assert_array_equal(found.scores_, right.scores_)


@pytest.mark.parametrize("memory", [80_000, 120_000, 400_000])
def test_what_the_card_does_not_hold_is_counted_in_pieces(memory):
    X, y = table(100, 700, levels=(3, 2))
    codes = encode(X, bins=None)
    with emulated(memory=memory) as lane:
        card = CardCodes(codes, lane)
        np.testing.assert_array_equal(card.matrix(), codes.matrix())
        np.testing.assert_array_equal(card.rows(np.arange(9)), codes.rows(np.arange(9)))
        found = MRMR(5, bins=None, device="cuda").fit(X, y)
    np.testing.assert_array_equal(found.order_, MRMR(5, bins=None).fit(X, y).order_)


def test_too_small_a_card_is_a_sentence_with_the_size_that_would_fit():
    X, y = table(100, 700)
    sentence = r"^Counting 700 columns of 100 samples would take .* About \d+ columns would fit"
    with emulated(memory=30_000), pytest.raises(NotEnoughMemoryError, match=sentence):
        MRMR(5, bins=None, device="cuda").fit(X, y)


def test_what_is_not_counted_on_the_card_is_refused_in_a_sentence():
    X, y = table(60, 8)
    weight = np.linspace(0.5, 1.5, 60)
    with emulated():
        for selector in (MaxRel(3, bins=None), JMI(3, bins=None), QPFS(bins=None)):
            right = selector.fit(X, y, weight).scores_
            with pytest.raises(ValueError, match="knows no sample_weight"):
                selector.set_params(device="cuda").fit(X, y, weight)
            found = selector.set_params(device="auto").fit(X, y, weight).scores_
            np.testing.assert_array_equal(found, right)
            ones = selector.set_params(device="cuda").fit(X, y, np.ones(60)).scores_
            np.testing.assert_array_equal(ones, selector.set_params(device=None).fit(X, y).scores_)
            with pytest.raises(ValueError, match="fit_stream; batches are counted on the CPU"):
                selector.set_params(device="cuda").fit_stream([(X, y)])
        with pytest.raises(ValueError, match='cannot be used with measure="f_pearson"'):
            MRMR(3, measure="f_pearson", device="cuda").fit(X, y)
        with pytest.raises(ValueError, match="a similarity that is not counted"):
            QPFS(similarity="pearson", device="cuda").fit(X, y)
    assert to_card("anything", None) == "anything"
    with pytest.raises(ValueError, match="device"):
        MRMR(3, bins=None, device="tpu").fit(X, y)
    with pytest.raises(ValueError, match="is no device"):
        mutual_information_matrix(X, bins=None, device="tpu")
