"""Feature-selection methods side by side in the same splits."""
