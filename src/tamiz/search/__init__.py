"""Wrappers: searches over subsets of features, judged by an estimator or a criterion."""

from tamiz.search.splits import HoldOut

__all__ = ["HoldOut"]
