"""The lane: what it refuses and says, and that the emulated card is as strict as a real one."""

import pickle
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

from tamiz.gpu import NoCardError, emulated, lane_of
from tamiz.gpu.lane import Lane, open_card
from tamiz.validation import NotEnoughMemoryError, ParameterError


class FakeMemoryError(MemoryError):
    """In the place of cupy.cuda.memory.OutOfMemoryError."""


def fake_cupy(*, version="14.2.0", count=1, answer=3.0, count_error=None, compute_error=None):
    """A module that answers as CuPy does, as far as opening the card asks."""

    class Vector:
        def __matmul__(self, other):
            if compute_error is not None:
                raise compute_error
            return SimpleNamespace(item=lambda: answer)

    def get_device_count():
        if count_error is not None:
            raise count_error
        return count

    pool = SimpleNamespace(free_bytes=lambda: 100, free_all_blocks=lambda: None)
    return SimpleNamespace(
        __version__=version,
        float64=np.float64,
        arange=lambda *_, **__: Vector(),
        ones=lambda *_, **__: Vector(),
        get_default_memory_pool=lambda: pool,
        cuda=SimpleNamespace(
            memory=SimpleNamespace(OutOfMemoryError=FakeMemoryError),
            runtime=SimpleNamespace(
                getDeviceCount=get_device_count,
                getDevice=lambda: 0,
                getDeviceProperties=lambda _: {"name": b"NVIDIA Pretend"},
                memGetInfo=lambda: (1000, 2000),
            ),
        ),
    )


def loader(module):
    """What imports ``module``, or raises it."""

    def load(name):
        assert name == "cupy"
        if isinstance(module, BaseException):
            raise module
        return module

    return load


def test_cpu_and_none_have_no_lane():
    assert lane_of(None) is None
    assert lane_of("cpu") is None


@pytest.mark.parametrize("device", ["gpu", "cuda:0", 0, True, ["cuda"]])
def test_unknown_devices_are_refused_in_a_sentence(device):
    with pytest.raises(ParameterError, match=r'is no device; use "cpu", "cuda" or "auto"\.$'):
        lane_of(device)


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        (ModuleNotFoundError("No module named 'cupy'", name="cupy"), "needs CuPy, which is not"),
        (
            ImportError("libcublas.so.13: cannot open"),
            "does not load: libcublas.so.13: cannot open.",
        ),
        (fake_cupy(version="13.6.0"), "CuPy 13.6.0 is too old"),
        (
            fake_cupy(count_error=RuntimeError("cudaErrorInsufficientDriver: x")),
            "update the driver",
        ),
        (fake_cupy(count=0), "none is found"),
        (fake_cupy(compute_error=OSError("nvrtc is missing")), "nvrtc is missing. Install what"),
        (fake_cupy(answer=0.0), "wrongly"),
    ],
)
def test_what_is_missing_is_one_sentence(module, sentence):
    with pytest.raises(NoCardError) as caught:
        open_card(loader(module))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_card_that_works_is_named_and_its_memory_counted():
    lane = open_card(loader(fake_cupy()))
    assert (lane.name, lane.card, lane.free_bytes()) == ("cuda", "NVIDIA Pretend", 950 + 100)


class CUBLASError(RuntimeError):
    """In the place of that of CuPy's libraries."""

    def __init__(self, status):
        super().__init__("CUBLAS_STATUS")
        self.status = status


def test_memory_that_a_library_lacks_is_a_sentence_and_its_other_errors_are_not():
    lane = open_card(loader(fake_cupy()))
    with pytest.raises(NotEnoughMemoryError, match=r"^Products"), lane.guarded("products"):
        raise CUBLASError(3)
    with pytest.raises(CUBLASError), lane.guarded("products"):
        raise CUBLASError(13)
    with pytest.raises(RuntimeError, match="no status"), lane.guarded("products"):
        raise RuntimeError("no status")


def test_what_failed_gives_its_arrays_back_before_the_sentence_is_read():
    held = []

    def work(lane):
        array = lane.to_device(np.zeros(3))
        held.append(weakref.ref(array._a))
        raise MemoryError

    with emulated() as lane:
        try:
            with lane.guarded("the work"):
                work(lane)
        except NotEnoughMemoryError:
            assert held[0]() is None
    assert len(held) == 1


def test_errors_of_the_card_about_memory_become_sentences():
    lane = open_card(loader(fake_cupy()))
    sentence = pytest.raises(NotEnoughMemoryError, match=r"^Kernel values: the memory of the card")
    with sentence, lane.guarded("kernel values"):
        raise FakeMemoryError("out of memory")
    with pytest.raises(MemoryError, match="of the host"), lane.guarded("kernel values"):
        raise MemoryError("of the host")


def test_what_would_fit_is_named():
    with emulated(memory=8e6) as lane:
        lane.require(8e6, "that")
        with pytest.raises(NotEnoughMemoryError, match="About 1,000 samples would fit") as caught:
            lane.require(8 * 2000**2, "the matrix", size=2000, power=2)
    assert str(caught.value).startswith("The matrix would take 0.03 GB on the card, where 0.01 GB")
    assert (caught.value.needed, caught.value.free) == (32_000_000, 8_000_000)


def test_a_lane_that_is_sent_elsewhere_is_the_card_of_that_place():
    with emulated() as lane:
        assert pickle.loads(pickle.dumps(lane)) is lane
        sent = pickle.dumps(open_card(loader(fake_cupy())))
        assert pickle.loads(sent) is lane


def test_emulation_ends_with_its_block_and_may_be_nested():
    with emulated() as outer:
        with emulated(5) as inner:
            assert lane_of("cuda") is inner
        assert lane_of("auto") is outer
    with pytest.raises(NoCardError) if not _card() else emulated():
        lane_of("cuda")


def _card():
    try:
        return isinstance(open_card(), Lane)
    except NoCardError:
        return False


def test_places_are_written_by_one_array_at_most():
    """CuPy numbers the places of several arrays with 32 bits, too few for a large matrix."""
    with emulated() as lane:
        matrix, places = lane.to_device(np.zeros((3, 3))), lane.to_device([0, 2])
        with pytest.raises(TypeError, match="32 bits"):
            matrix[places, places] = 1.0
        matrix[places, 1] = 1.0
        assert lane.to_host(matrix[places[:, None], places]).tolist() == [[0, 0], [0, 0]]
        assert lane.to_host(matrix)[:, 1].tolist() == [1, 0, 1]


def test_arrays_of_the_card_do_not_mix_with_numpy():
    with emulated() as lane:
        xp, a = lane.xp, lane.to_device(np.arange(6.0).reshape(2, 3), np.float32)
        host = np.ones(3)
        for mixed in (
            lambda: np.asarray(a),
            lambda: a + host,
            lambda: host + a,
            lambda: a @ host,
            lambda: xp.exp(host),
            lambda: a[np.array([0])],
            lambda: a.__setitem__(0, host),
            lambda: np.add.reduce(a),
            lambda: xp.where(a > 0, a, host),
        ):
            with pytest.raises(TypeError):
                mixed()
        with pytest.raises(AttributeError):
            xp.apply_along_axis(None, 0, a)
        with pytest.raises(AttributeError, match="'tofile'"):
            a.tofile("x")


def test_arrays_of_the_card_compute_what_numpy_does():
    with emulated() as lane:
        xp, host = lane.xp, np.arange(6.0).reshape(2, 3)
        a = lane.to_device(host, np.float32)
        b = 2 * a + np.float32(1)
        b[:, 1:] -= 1
        b[b > 4] = 0
        assert isinstance(b.sum(), xp.ndarray) and isinstance(float(b.sum()), float)
        assert b.dtype == np.float32 and xp.linalg.inv(a @ a.T).shape == (2, 2)
        expected = 2 * host + 1
        expected[:, 1:] -= 1
        expected[expected > 4] = 0
        assert np.array_equal(lane.to_host(b), expected)
        assert lane.to_host(xp.argsort(a[0])).tolist() == [0, 1, 2]
        got = lane.to_host(a)
        got[:] = 9
        assert float(a[0, 1]) == 1.0  # a copy
