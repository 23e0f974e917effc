"""The linear program of the l1 machine, solved by an interior point and finished at a vertex."""
