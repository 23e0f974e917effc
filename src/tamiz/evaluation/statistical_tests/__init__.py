"""Do methods differ beyond chance? Paired, rank and permutation tests."""
