"""Linear machines whose penalty sets weights to zero."""
