"""Kernels of texts."""
