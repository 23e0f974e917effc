"""Pictures of fitted machines: what they decide over two features, and what that rests on.

A picture has two axes, a machine may have many features. The others are held at their medians, or
at the values of a given row, and the machine is evaluated on a grid over the two (:class:`Plane`).
What is drawn there depends on the kind of machine, and each kind has its mixin:

* :class:`ClassifierPlot`: the boundary ``f(x) = 0``, the margins ``f(x) = ±1`` where the machine
  has them, decision values as shading; for more than two classes, and for methods without decision
  values, the regions of the classes.
* :class:`NoveltyPlot`: the boundary around the data.
* :class:`RegressorPlot`: over one feature the curve with its tube, over two the predicted surface.

Support vectors are marked where the machine has them: rings for free ones, diamonds for bounded
ones. Slack is a line from a sample to the margin (or tube) that it violates.
"""

from tamiz.pictures.machines import (
    BOUNDED,
    FREE,
    SUPPORT,
    ClassifierPlot,
    MachinePlot,
    NoveltyPlot,
    RegressorPlot,
    without_name_warnings,
)
from tamiz.pictures.marks import MARKS, codes_of, outer_legend, scatter_classes
from tamiz.pictures.panels import plot_kernels, plot_panels
from tamiz.pictures.plane import Plane, plane_of, row_of

__all__ = [
    "BOUNDED",
    "FREE",
    "MARKS",
    "SUPPORT",
    "ClassifierPlot",
    "MachinePlot",
    "NoveltyPlot",
    "Plane",
    "RegressorPlot",
    "codes_of",
    "outer_legend",
    "plane_of",
    "plot_kernels",
    "plot_panels",
    "row_of",
    "scatter_classes",
    "without_name_warnings",
]
