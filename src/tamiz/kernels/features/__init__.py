"""Gram matrices that follow when a feature is added, removed or rescaled."""
