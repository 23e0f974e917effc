"""The honest comparison of selectors, in the order in which a run passes through it.

:mod:`compare` reads the arguments (:mod:`arguments`) into a setting, which holds the plan of all
splits (:mod:`setting`). The units of the plan are run, each of them one method in one outer split
(:mod:`fold`), and their records are collected (:mod:`run`). The result keeps all errors and works
out curves and estimates (:mod:`result`), and is printed and drawn by :mod:`show`.
"""

from tamiz.evaluation.comparison.result import Comparison

__all__ = ["Comparison"]
