"""Filters: features ranked from the data alone, before any machine is trained."""

from tamiz.filters.cfs import CFS
from tamiz.filters.information.joint import CMIM, JMI
from tamiz.filters.information.maxdep import MaxDep
from tamiz.filters.information.mrmr import MRMR
from tamiz.filters.information.relevance import InformationGain, MaxRel, SymmetricalUncertainty
from tamiz.filters.qpfs import QPFS
from tamiz.filters.relief import Relief, ReliefF, RReliefF
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
    "InformationGain",
    "KolmogorovSmirnov",
    "MaxDep",
    "MaxRel",
    "PearsonScore",
    "RReliefF",
    "Relief",
    "ReliefF",
    "SignalToNoise",
    "StumpError",
    "SymmetricalUncertainty",
    "WelchT",
]


def __dir__() -> list[str]:
    return sorted(__all__)
