"""The fast judge of a search: many nearly equal machines on subsets of features."""
