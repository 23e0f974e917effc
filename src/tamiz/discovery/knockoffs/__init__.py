"""Knockoffs: copies that features have to beat."""
