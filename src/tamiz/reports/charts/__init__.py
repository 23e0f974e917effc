"""Drawings: axes, marks and charts in SVG."""
