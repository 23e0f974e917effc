"""Save and load."""

from __future__ import annotations

import os
import platform
import warnings
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

import tamiz
from tamiz.persistence import _container
from tamiz.persistence._container import ModelFileError, ModelFileWarning, what_is
from tamiz.persistence._encoding import Decoder, Encoder
from tamiz.persistence._known import KnownNames
from tamiz.runtime.checkpoint import cannot, open_to_read, write_whole
from tamiz.validation import (
    checked,
    class_or_classes,
    depth_of_caller,
    file_path,
    integer_from,
    optional,
)

MAX_BYTES = 1 << 31


@checked(path=file_path)
def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    compress: bool = False,
    allow: Iterable[Any] = (),
) -> Path:
    """Write a model to a file that holds data only.

    Parameters
    ----------
    model : estimator, selector, kernel or result
        Anything public of tamiz, fitted or not; the usual classes of scikit-learn, such as
        pipelines with scalers, imputers and encoders; and lists, dicts and arrays of these.
    path : str or path-like
        Where to write. The ending is free; ``.tamiz`` is usual. A file that is there already is
        replaced at the last moment: if anything fails before, it stays as it was.
    compress : bool, default=False
        Make the file smaller, which takes longer. Worth it for sparse or repeated numbers, and for
        integers.
    allow : iterable of classes and functions, default=()
        Your own classes and functions that stand in the model. Their names are written, not their
        code; pass the same to :func:`load`.

    Returns
    -------
    Path
        Where the model was written.

    Raises
    ------
    TypeError
        If the model holds a function or an object of an unknown class; the sentence says where.
    OSError
        If the file cannot be written.

    See Also
    --------
    load : read it back.
    tamiz.persistence.describe : what a file holds.

    Examples
    --------
    >>> import tempfile, tamiz
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = tamiz.SVC().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tamiz.save(machine, f"{folder}/iris.tamiz")
    ...     again = tamiz.load(path, kind=tamiz.SVC)
    >>> bool((again.decision_function(X) == machine.decision_function(X)).all())
    True
    """
    place = Path(path)
    encoder = Encoder(KnownNames(allow))
    root = encoder.encode(model, type(model).__name__)
    about = {
        "tamiz": tamiz.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "sklearn": sklearn.__version__,
        "kind": type(model).__name__,
        "classes": dict(sorted(encoder.classes.items())),
    }
    nodes = {"root": root, "nodes": encoder.nodes}
    try:
        write_whole(
            place,
            lambda file: _container.write(file, about, nodes, encoder.arrays, bool(compress)),
        )
    except OSError as error:
        raise cannot("write", place, error) from None
    return place


@checked(
    path=file_path,
    kind=optional(class_or_classes),
    max_bytes=integer_from(0, of="bytes"),
)
def load(
    path: str | os.PathLike[str],
    *,
    kind: type | tuple[type, ...] | None = None,
    allow: Iterable[Any] = (),
    max_bytes: int = MAX_BYTES,
) -> Any:
    """Read a model that :func:`save` wrote. No code from the file runs.

    A file can only name classes of a fixed list, and say what their attributes are. What it holds
    may still be nonsense if its author wanted so: the checksums find damage, not malice.

    Parameters
    ----------
    path : str or path-like
        The file.
    kind : class or tuple of classes, optional
        What the model must be; anything else is refused.
    allow : iterable of classes and functions, default=()
        Your own classes and functions that the model may hold, as passed to :func:`save`. Objects
        are made without calling ``__init__``.
    max_bytes : int, default=2**31
        Most memory that the model may take, as estimated before anything of it is built: a small
        file can be compressed, or declare what is large. A file may always take four times its own
        size, and a megabyte.

    Returns
    -------
    object
        The model.

    Raises
    ------
    ModelFileError
        (A kind of ValueError.) If the file is something else, is damaged, was written by a
        newer format, or holds what is not in the list.
    OSError
        If the file cannot be read.

    Warns
    -----
    ModelFileWarning
        If another version of tamiz (or of scikit-learn, where the model holds its objects) wrote
        the file.

    See Also
    --------
    save : write a model.

    Examples
    --------
    >>> import tempfile, tamiz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tamiz.save(tamiz.SVC(C=2.0), f"{folder}/machine.tamiz")
    ...     tamiz.load(path)
    SVC(C=2.0)
    """
    known = KnownNames(allow)

    def read(container: _container.Container) -> Any:
        content, arrays = container.read()
        decoder = Decoder(content["nodes"], arrays, known, container.budget)
        model = decoder.decode(content["root"])
        if kind is not None and not isinstance(model, kind):
            raise ModelFileError(
                f"it holds a {type(model).__name__}, and kind asks for {_names(kind)}."
            )
        return container.header, model

    header, model = _open(Path(path), read, max_bytes)
    _warn_of_versions(path, header)
    return model


@checked(path=file_path)
def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Describe what a model file holds and who wrote it, without making any object.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    dict
        ``kind`` (class of the model), ``classes`` (how many objects of each class), ``version``
        (of the format), ``tamiz``, ``python``, ``numpy``, ``scipy``, ``sklearn`` (versions that
        wrote it), ``n_arrays`` and ``bytes`` (size after unpacking).

    Examples
    --------
    >>> import tempfile, tamiz
    >>> from tamiz.persistence import describe
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     about = describe(tamiz.save(tamiz.SVC(), f"{folder}/machine.tamiz"))
    >>> about["kind"], about["classes"], about["n_arrays"]
    ('SVC', {'tamiz.svm.SVC': 1}, 0)
    """

    def read(container: _container.Container) -> dict[str, Any]:
        about = dict(container.header)
        members = about.pop("members", {})
        sizes = [part["size"] for part in members.values()]
        return {**about, "n_arrays": len(members) - 1, "bytes": sum(sizes)}

    return _open(Path(path), read)


# ------------------------------------------------------------------------------------- reading


def _open(
    place: Path, read: Callable[[_container.Container], Any], max_bytes: int = MAX_BYTES
) -> Any:
    """Open a file and read from it; whatever is wrong with it becomes one kind of error."""
    with open_to_read(place) as file:
        try:
            size = os.fstat(file.fileno()).st_size
            foreign = what_is(place, file.read(256), size)
            if foreign is not None:
                raise ModelFileError(f"it is {foreign}")
            file.seek(0)
            return read(_container.Container(file, size, max_bytes))
        except ModelFileError as error:
            raise ModelFileError(f"{str(place)!r} cannot be loaded: {error}") from None
        except MemoryError:
            raise
        except (zipfile.BadZipFile, EOFError) as error:
            raise ModelFileError(
                f"{str(place)!r} cannot be loaded: it is damaged or cut short ({error!s:.150}). "
                "Copy it again from its origin, or save the model again."
            ) from None
        except Exception as error:  # of the many that a mangled archive can cause
            raise ModelFileError(
                f"{str(place)!r} cannot be loaded: it is damaged, or not what it says "
                f"({type(error).__name__}: {error!s:.150}). Copy it again from its origin, or save "
                "the model again."
            ) from None


def _warn_of_versions(path: Any, header: dict[str, Any]) -> None:
    classes = header.get("classes")
    uses = isinstance(classes, dict) and any(str(key).startswith("sklearn.") for key in classes)
    here = {"tamiz": tamiz.__version__} | ({"sklearn": sklearn.__version__} if uses else {})
    other = [
        f"{name} {header.get(name)!s:.40} (here: {version})"
        for name, version in here.items()
        if header.get(name) != version
    ]
    if other:
        warnings.warn(
            f"{os.fspath(path)!r} was written with {' and '.join(other)}. Compare some "
            "predictions with those of before, or save the model again with this version.",
            ModelFileWarning,
            stacklevel=depth_of_caller(),
        )


def _names(kind: type | tuple[type, ...]) -> str:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return " or ".join(one.__name__ for one in kinds)
