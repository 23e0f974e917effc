"""Filters that score one feature at a time against the target."""
