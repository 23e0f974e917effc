"""Smooth losses with penalties of the weights: the problem, its certificate, and who solves it."""
