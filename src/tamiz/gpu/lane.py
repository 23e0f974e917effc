"""The lane: which array library, how much memory, one sentence when it is not there.

An estimator asks :func:`lane_of` for what its parameter ``device`` says. The answer is None (the
work stays on the CPU, nothing of this package is used) or a :class:`Lane`: an array module with the
functions of NumPy, ways to and from its memory, and what to say where that memory ends.

The library is CuPy, because NumPy is its twin: one program, written with the functions that both
have, runs on the card and, inside :func:`emulated`, everywhere. ``docs/design/gpu.md`` has more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from traceback import clear_frames
from typing import Any

import numpy as np

from tamiz.gpu.emulation import CARD_FUNCTIONS, CardArray
from tamiz.validation import NotEnoughMemoryError, refused

#: What ``device`` may be, besides None, which is the same as "cpu".
DEVICES = ("cpu", "cuda", "auto")

_INSTALL = (
    'Install CuPy with pip install "tamiz[gpu]" (CUDA 13; for CUDA 12 pip install "cupy-cuda12x"), '
    'or leave device="cpu".'
)
#: The first release whose scalars take the type of the array, as those of NumPy 2 do.
_OLDEST = 14
#: A fraction of free memory that nobody asks for: libraries keep rooms of their own.
_MARGIN = 0.05
#: Errors of the libraries behind CuPy, which take memory of their own, and their status for none.
_NO_MEMORY = {"CUDARuntimeError": 2, "CUDADriverError": 2, "CUBLASError": 3, "CUSOLVERError": 2}
_NO_STATUS = object()


class NoCardError(RuntimeError):
    """There is no card, no library for it, or they do not work together."""


class Lane:
    """An array library on a device, and its memory.

    Attributes
    ----------
    xp : module
        The array module: functions with the names and meanings of NumPy's. Its arrays do not mix
        with those of NumPy; :meth:`to_device` and :meth:`to_host` are the only ways.
    name : str
        "cuda".
    card : str
        What it runs on, for tables and messages.
    """

    name = "cuda"

    def __init__(self, xp: Any, card: str):
        self.xp = xp
        self.card = card

    def __reduce__(self) -> Any:
        return lane_of, (self.name,)  # in another process it is the card of that one

    def to_device(self, a: Any, dtype: Any = None) -> Any:
        """A contiguous copy of an array of NumPy on the card."""
        with self.guarded("the data"):
            return self.xp.asarray(np.ascontiguousarray(a, dtype=dtype))

    def to_host(self, a: Any) -> np.ndarray:
        """A copy of an array of the card as an array of NumPy; waits until it is computed."""
        return self.xp.asnumpy(a)

    def free_bytes(self) -> int:
        """Memory of the card that can still be taken."""
        free, _ = self.xp.cuda.runtime.memGetInfo()
        return int((1 - _MARGIN) * free) + int(self.xp.get_default_memory_pool().free_bytes())

    def release(self) -> None:
        """Give memory back that the library keeps for later arrays."""
        self.xp.get_default_memory_pool().free_all_blocks()

    def synchronize(self) -> None:
        """Wait until all work on the card is done; for those who measure time."""
        self.xp.cuda.get_current_stream().synchronize()

    def fits(self, n_bytes: float) -> bool:
        """Whether so much memory of the card is free."""
        return n_bytes <= self.free_bytes()

    def require(
        self,
        n_bytes: float,
        what: str,
        *,
        size: int | None = None,
        unit: str = "samples",
        power: float = 1.0,
    ) -> None:
        """Refuse what the card does not hold, before anything is allocated.

        Parameters
        ----------
        n_bytes : float
            Memory that is about to be taken, all copies at one time included.
        what : str
            What takes it, at the beginning of a sentence.
        size, unit, power
            The number of ``unit`` that it is for, and the power of it that memory grows with: the
            sentence then says how many would fit.

        Raises
        ------
        NotEnoughMemoryError
        """
        if self.fits(n_bytes):
            return
        self.release()
        free = self.free_bytes()
        if n_bytes <= free:
            return
        remedy = 'Use fewer of them, or device="cpu".'
        if size is not None:
            most = int(size * (free / n_bytes) ** (1.0 / power))
            remedy = f'About {most:,} {unit} would fit; use so many, or device="cpu".'
        raise _too_much(what, n_bytes, free, remedy)

    @contextmanager
    def guarded(self, what: str) -> Iterator[None]:
        """Turn the card's own error about memory into a sentence about ``what``."""
        try:
            yield
        except Exception as error:
            # a sentence already, or something else
            if isinstance(error, NotEnoughMemoryError) or not self._is_out_of_memory(error):
                raise
            clear_frames(error.__traceback__)  # arrays of the work that failed go as well
            self.release()
            raise NotEnoughMemoryError(
                f"{what[:1].upper()}{what[1:]}: the memory of the card ({self.card}) ended, with "
                f"{self.free_bytes() / 1e9:,.2f} GB free now. Use fewer samples or features, or "
                'device="cpu"; other programs may use the same card.',
                free=self.free_bytes(),
            ) from None

    def _is_out_of_memory(self, error: Exception) -> bool:
        if isinstance(error, self.xp.cuda.memory.OutOfMemoryError):
            return True
        return getattr(error, "status", None) == _NO_MEMORY.get(type(error).__name__, _NO_STATUS)


class EmulatedLane(Lane):
    """A lane whose card is NumPy, with arrays that do not mix with those of NumPy."""

    def __init__(self, memory: float | None):
        super().__init__(CARD_FUNCTIONS, "NumPy in the place of a card")
        self.memory = memory

    def to_device(self, a: Any, dtype: Any = None) -> Any:
        return CardArray(np.array(a, dtype=dtype, order="C"))

    def to_host(self, a: Any) -> np.ndarray:
        return a.get()

    def free_bytes(self) -> int:
        return 1 << 62 if self.memory is None else int(self.memory)

    def release(self) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def _is_out_of_memory(self, error: Exception) -> bool:
        return isinstance(error, MemoryError)


_emulation: list[EmulatedLane] = []  # the innermost is last


@contextmanager
def emulated(memory: float | None = None) -> Iterator[Lane]:
    """Inside, ``device="cuda"`` is NumPy: for tests, and for those who write programs for the card.

    The arrays are strict: they hold no function that CuPy lacks and refuse to be mixed with arrays
    of NumPy, as CuPy's do, so that what passes here should not fail there. Speed says nothing.
    Only this process is affected.

    Parameters
    ----------
    memory : float, optional
        Bytes that the card pretends to have free; no limit by default. Whoever asks what fits gets
        this number; nothing is counted down.

    Examples
    --------
    >>> from tamiz.gpu import emulated, lane_of
    >>> with emulated(memory=1e6):
    ...     lane = lane_of("cuda")
    ...     print(lane.to_host(lane.to_device([1.0, 2.0]) * 2), lane.free_bytes())
    [2. 4.] 1000000
    >>> lane_of("cpu") is None
    True
    """
    lane = EmulatedLane(memory)
    _emulation.append(lane)
    try:
        yield lane
    finally:
        _emulation.remove(lane)


def lane_of(device: str | None) -> Lane | None:
    """The lane that an estimator's parameter ``device`` asks for.

    Parameters
    ----------
    device : {"cpu", "cuda", "auto"} or None
        None and "cpu": none. "cuda": a card, or an error that says what is missing. "auto": a card
        if there is one that works.

    Raises
    ------
    NoCardError
        With "cuda", where CuPy or a working card is missing.
    ParameterError
        Where ``device`` is none of these.
    """
    if device is None or (isinstance(device, str) and device == "cpu"):
        return None
    if not isinstance(device, str) or device not in DEVICES:
        raise refused("device", device, 'is no device; use "cpu", "cuda" or "auto".')
    if _emulation:
        return _emulation[-1]
    if not _opened:
        try:
            _opened.append(open_card())
        except NoCardError:
            if device == "auto":
                return None
            raise
    return _opened[0]


_opened: list[Lane] = []  # the card, once it was found to work


def open_card(load: Callable[[str], Any] = import_module) -> Lane:
    """The lane of the first card; ``load`` imports a package by its name.

    Raises
    ------
    NoCardError
        With a sentence that says what is missing.
    """
    try:
        xp = load("cupy")
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "cupy":
            raise NoCardError(
                f'device="cuda" needs CuPy, which is not installed. {_INSTALL}'
            ) from None
        raise NoCardError(
            f"CuPy is installed but does not load: {_first_line(error)} {_INSTALL}"
        ) from None
    release = str(xp.__version__)
    if int(release.split(".")[0]) < _OLDEST:
        raise NoCardError(f"CuPy {release} is too old; {_OLDEST}.0 or newer is needed. {_INSTALL}")
    try:
        count = int(xp.cuda.runtime.getDeviceCount())
    except Exception as error:  # of CuPy's own kind: the driver is missing or too old
        raise NoCardError(
            f'device="cuda" needs an NVIDIA card and its driver: {_first_line(error)} Install or '
            'update the driver, or leave device="cpu".'
        ) from None
    if not count:
        raise NoCardError(
            'device="cuda" needs an NVIDIA card, and none is found; leave device="cpu".'
        )
    try:
        works = int((xp.arange(3, dtype=xp.float64) @ xp.ones(3)).item()) == 3
    except Exception as error:  # a library of CUDA is missing, or does not fit the driver
        raise NoCardError(
            f"The card is there, but CuPy cannot compute on it: {_first_line(error)} Install what "
            'is missing, with pip install "cupy-cuda13x[ctk]" for CUDA 13, or leave device="cpu".'
        ) from None
    if not works:
        raise NoCardError('The card is there, but computes 0 + 1 + 2 wrongly; leave device="cpu".')
    properties = xp.cuda.runtime.getDeviceProperties(xp.cuda.runtime.getDevice())
    name = properties["name"]
    return Lane(xp, name.decode() if isinstance(name, bytes) else str(name))


def _first_line(error: BaseException) -> str:
    """What an error says, as a sentence."""
    lines = [line.strip() for line in f"{error}".splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _too_much(what: str, n_bytes: float, free: int, remedy: str) -> NotEnoughMemoryError:
    return NotEnoughMemoryError(
        f"{what[:1].upper()}{what[1:]} would take {n_bytes / 1e9:,.2f} GB on the card, where "
        f"{free / 1e9:,.2f} GB are free. {remedy}",
        needed=int(n_bytes),
        free=free,
        remedy=remedy,
    )
