"""Recursive elimination of features by the weights or the margin of a machine (SVM-RFE)."""
