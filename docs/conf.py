"""The documentation site: `make docs` builds it offline and treats warnings as errors."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path, PurePosixPath

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
REPOSITORY = PROJECT["urls"]["Source"]

project = "tacit"
author = "The tacit authors"
copyright = "The tacit authors. Apache License 2.0"  # noqa: A001 - the name that Sphinx reads
version = release = PROJECT["version"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",  # docstrings are in Google style, which ruff checks
    "sphinx_copybutton",
    "sphinx_design",
]
templates_path = ["_templates"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
autosummary_generate = True
autodoc_typehints = "none"  # the Args section of every docstring gives types in words, with shapes and units
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"  # the column beside a class has room for names of methods alone
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # an attribute that a docstring lists is documented once

html_theme = "pydata_sphinx_theme"
html_title = "tacit"
html_static_path = ["_static"]
html_css_files = ["tacit.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",  # in one line at 1280
    "icon_links": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"tutorial": [], "examples": [], "coming_from": []}  # pages of no section
html_show_sourcelink = False

_LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?(?=\))")


def _link_to_repository(app: Sphinx, name: str, source: list[str]) -> None:
    """Points links at files outside the site, such as source code, to the repository.

    Pages keep relative links, which work in a checkout; `tests/test_page_links.py` checks them.
    """
    folder = (DOCS / PurePosixPath(name)).parent

    def target(match: re.Match[str]) -> str:
        path, heading = match[1], match[2] or ""
        place = (folder / path).resolve()
        if place.is_dir() and (place / "index.md").is_file():
            return f"{path.rstrip('/')}/index.md{heading}"
        if not place.exists() or (DOCS in place.parents and place.is_file()):
            return f"{path}{heading}"
        return f"{REPOSITORY}/blob/main/{place.relative_to(ROOT).as_posix()}{heading}"

    source[0] = _LINK.sub(target, source[0])


def _summarise_foreign(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Keeps the first line of docstrings that estimators inherit from other libraries, which have their own sites."""
    module = getattr(getattr(obj, "fget", obj), "__module__", None) or "tacit"
    if what in {"method", "property", "attribute"} and not module.startswith("tacit"):
        lines[:] = [re.sub(r":\w+:`([^`<]+)[^`]*`", r"\1", line) for line in lines[:1]] + [""]


def setup(app: Sphinx) -> None:
    """Registers the two rewritings."""
    app.connect("source-read", _link_to_repository)
    app.connect("autodoc-process-docstring", _summarise_foreign)
