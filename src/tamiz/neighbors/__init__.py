"""The k nearest neighbours, and how to choose k."""

from tamiz.neighbors.choose_k import KChoice, choose_k
from tamiz.neighbors.classifier import KNNClassifier
from tamiz.neighbors.voting import VotingNeighbours

__all__ = ["KChoice", "KNNClassifier", "VotingNeighbours", "choose_k"]


def __dir__() -> list[str]:
    return sorted(__all__)
