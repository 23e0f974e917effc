"""The report card of a classifier: counts, rates, intervals, ROC."""
