"""Sections of the report: each builds its part of the page, or nothing."""
