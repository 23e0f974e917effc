"""Parameters chosen by cross-validation, many machines at a time."""
