"""Why a fitted machine decides as it does: what each feature adds to a decision value."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.explain.result import ShapleyValues
    from tamiz.explain.shapley import shapley_values

__all__ = ["ShapleyValues", "shapley_values"]

__getattr__, __dir__ = lazy_names(
    __name__, {".result": "ShapleyValues", ".shapley": "shapley_values"}
)
