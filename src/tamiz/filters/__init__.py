"""Filters: features ranked from the data alone, before any machine is trained."""

from tamiz.filters.auc import AUCScore
from tamiz.filters.cfs import CFS
from tamiz.filters.chi_squared import ChiSquared
from tamiz.filters.cmim import CMIM
from tamiz.filters.fisher import FisherScore, SignalToNoise
from tamiz.filters.information_gain import InformationGain, SymmetricalUncertainty
from tamiz.filters.jmi import JMI
from tamiz.filters.kolmogorov_smirnov import KolmogorovSmirnov
from tamiz.filters.maxdep import MaxDep
from tamiz.filters.maxrel import MaxRel
from tamiz.filters.mrmr import MRMR
from tamiz.filters.pearson import PearsonScore
from tamiz.filters.qpfs import QPFS
from tamiz.filters.relief import Relief, ReliefF
from tamiz.filters.rrelieff import RReliefF
from tamiz.filters.single_error import StumpError
from tamiz.filters.welch import WelchT

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
