"""How much the subsets chosen from resampled rows agree."""
