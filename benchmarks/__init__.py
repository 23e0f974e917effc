"""Side-by-side runs of tamiz and its peers: ``python -m benchmarks --help``."""
