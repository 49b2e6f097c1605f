"""Sphinx configuration."""

from pwlr import __version__

project = "pwlr"
author = "The pwlr developers"
copyright = "2026, the pwlr developers"  # noqa: A001 - Sphinx's name
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "pwlr"
html_theme_options = {"show_prev_next": False}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc sections say it in words
napoleon_google_docstring = False
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]
