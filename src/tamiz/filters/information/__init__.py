"""Filters that count: mutual information with the class, alone or in company."""
