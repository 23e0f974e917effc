"""Sphinx settings. `make docs` turns every warning into an error."""

import tamiz

project = "tamiz"
author = "The tamiz developers"
copyright = "The tamiz developers"
version = release = tamiz.__version__

extensions = [
    "myst_parser",  # pages in Markdown
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",  # a page for every public name, listed in api.md
    "sphinx.ext.mathjax",
    "numpydoc",  # docstrings in the order Parameters, Attributes, ...
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autosummary_generate = True

html_theme = "furo"
html_title = f"tamiz {release}"
