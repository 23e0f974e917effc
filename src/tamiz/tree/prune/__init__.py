"""Pruning by cost and complexity: the sequence of subtrees and the choice among them."""
