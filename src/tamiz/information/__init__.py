"""Discretisation, contingency counts, entropy and mutual information."""

from tamiz.information.codes import Codes, joint_codes
from tamiz.information.encode import encode

__all__ = ["Codes", "encode", "joint_codes"]
