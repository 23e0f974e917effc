"""Discretisation, contingency counts, entropy and mutual information.

Information is in nats unless ``unit="bits"`` is asked for.
"""

from tamiz.information.codes import Codes
from tamiz.information.discretiser import Discretiser, discretise
from tamiz.information.encoding import encode
from tamiz.information.evidence import WeightOfEvidence
from tamiz.information.measures import (
    conditional_mutual_information,
    contingency_table,
    entropy,
    information_of_counts,
    mutual_information,
    mutual_information_matrix,
    symmetrical_uncertainty,
    symmetrical_uncertainty_matrix,
)
from tamiz.information.packed_table import PackedTable, pack_table
from tamiz.information.packing import joint_codes

__all__ = [
    "Codes",
    "Discretiser",
    "PackedTable",
    "WeightOfEvidence",
    "conditional_mutual_information",
    "contingency_table",
    "discretise",
    "encode",
    "entropy",
    "information_of_counts",
    "joint_codes",
    "mutual_information",
    "mutual_information_matrix",
    "pack_table",
    "symmetrical_uncertainty",
    "symmetrical_uncertainty_matrix",
]


def __dir__() -> list[str]:
    return sorted(__all__)
