"""Linear machines fitted from rows that arrive in batches."""
