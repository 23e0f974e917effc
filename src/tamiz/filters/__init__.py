"""Filters: features ranked from the data alone, before any machine is trained."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.filters.cfs import CFS
    from tamiz.filters.grammar import GrammarFeatures
    from tamiz.filters.information.joint import CMIM, JMI
    from tamiz.filters.information.maxdep import MaxDep
    from tamiz.filters.information.mrmr import MRMR
    from tamiz.filters.information.relevance import (
        InformationGain,
        InformationValue,
        MaxRel,
        SymmetricalUncertainty,
    )
    from tamiz.filters.multi_target import MultiTarget
    from tamiz.filters.qpfs import QPFS
    from tamiz.filters.relief import Relief, ReliefF, RReliefF
    from tamiz.filters.stable import StableFeatures
    from tamiz.filters.univariate.auc import AUCScore
    from tamiz.filters.univariate.chi_squared import ChiSquared
    from tamiz.filters.univariate.fisher import FisherScore, SignalToNoise
    from tamiz.filters.univariate.kolmogorov_smirnov import KolmogorovSmirnov
    from tamiz.filters.univariate.order import StumpError
    from tamiz.filters.univariate.pearson import PearsonScore
    from tamiz.filters.univariate.welch import WelchT

__all__ = [
    "CFS",
    "CMIM",
    "JMI",
    "MRMR",
    "QPFS",
    "AUCScore",
    "ChiSquared",
    "FisherScore",
    "GrammarFeatures",
    "InformationGain",
    "InformationValue",
    "KolmogorovSmirnov",
    "MaxDep",
    "MaxRel",
    "MultiTarget",
    "PearsonScore",
    "RReliefF",
    "Relief",
    "ReliefF",
    "SignalToNoise",
    "StableFeatures",
    "StumpError",
    "SymmetricalUncertainty",
    "WelchT",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".cfs": "CFS",
        ".grammar": "GrammarFeatures",
        ".information.joint": "CMIM JMI",
        ".information.maxdep": "MaxDep",
        ".information.mrmr": "MRMR",
        ".information.relevance": "InformationGain InformationValue MaxRel SymmetricalUncertainty",
        ".multi_target": "MultiTarget",
        ".qpfs": "QPFS",
        ".relief": "Relief ReliefF RReliefF",
        ".stable": "StableFeatures",
        ".univariate.auc": "AUCScore",
        ".univariate.chi_squared": "ChiSquared",
        ".univariate.fisher": "FisherScore SignalToNoise",
        ".univariate.kolmogorov_smirnov": "KolmogorovSmirnov",
        ".univariate.order": "StumpError",
        ".univariate.pearson": "PearsonScore",
        ".univariate.welch": "WelchT",
    },
)
