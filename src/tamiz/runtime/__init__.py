"""Threads, workers, progress, checkpoints: how work is run, not what is computed."""
