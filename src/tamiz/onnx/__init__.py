"""Fitted models as ONNX graphs, for programs without Python.

:func:`to_onnx` writes a model, :func:`register_skl2onnx` lets skl2onnx write it; ``answers``,
``features`` and ``kernel_values`` are what a model, a transformer or a kernel of your own is
registered with.
"""

from tamiz.onnx.answers import Answers, answers
from tamiz.onnx.convert import to_onnx
from tamiz.onnx.kernels import kernel_values
from tamiz.onnx.register import register_skl2onnx
from tamiz.onnx.transforms import features

__all__ = ["Answers", "answers", "features", "kernel_values", "register_skl2onnx", "to_onnx"]


def __dir__() -> list[str]:
    return sorted(__all__)
