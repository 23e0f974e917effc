"""How results are shown: HTML of notebooks, the plot of a selection."""
