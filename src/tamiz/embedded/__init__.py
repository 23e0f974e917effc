"""Embedded selection: features chosen by the machine that uses them."""

__all__: list[str] = []
