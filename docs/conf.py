"""Sphinx settings. `make docs` turns every warning into an error."""

import sys
from pathlib import Path

import matplotlib

import tamiz

sys.path.insert(0, str(Path(__file__).parent))  # for gallery_order
matplotlib.use("Agg")

project = "tamiz"
author = "The tamiz developers"
copyright = "The tamiz developers"
version = release = tamiz.__version__

extensions = [
    "myst_parser",  # pages in Markdown
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",  # a page for every public name, listed in api.md
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas without a network
    "numpydoc",  # docstrings in the order Parameters, Attributes, ...
    "sphinx_gallery.gen_gallery",  # examples/*.py, run and shown
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autosummary_generate = True

# examples/plot_*.py are run and shown; the other scripts there need minutes, and the head of the
# gallery says which page has their results. Each example names the figure, of one panel, that
# stands for it.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"[\\/]plot_",
    "ignore_pattern": r"(^|[\\/])(?!plot_)[^\\/]+\.py$",
    "within_subsection_order": "gallery_order.ReadingOrder",
    "doc_module": ("tamiz",),
    "backreferences_dir": "generated/gallery",
    "log_level": {"backreference_missing": "debug"},  # not every name has an example
    "reference_url": {"tamiz": None},
    "inspect_global_variables": False,
    "capture_repr": (),  # examples print what they show
    "download_all_examples": False,
    "remove_config_comments": True,
    "thumbnail_size": (480, 340),
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e6,
}

html_theme = "furo"
html_title = f"tamiz {release}"
html_static_path = ["_static"]
html_css_files = ["gallery.css"]
