"""Machines that scale their features while they learn: radius-margin, adaptive, KP-SVM."""
