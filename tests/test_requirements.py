"""What the library imports is what `pyproject.toml` declares, so that no other package has to bring it along."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = {"markdown-it": "markdown-it-py", "sklearn": "scikit-learn"}
"""Packages that are not named as the module that they hold."""

BROUGHT = {"llvmlite": "numba", "markupsafe": "jinja2", "threadpoolctl": "scikit-learn"}
"""Packages whose objects a declared one takes or gives, and whose versions it pins -> that package."""


def imported(text: str) -> set[str]:
    """The packages of others that a module names, at its top or in a function."""
    nodes = list(ast.walk(ast.parse(text)))
    modules = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    modules += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "needed"]
    modules += [arg.value for call in calls for arg in call.args if isinstance(arg, ast.Constant)]
    tops = {module.partition(".")[0] for module in modules} - sys.stdlib_module_names - {"tacit"}
    return {NAMES.get(top.replace("_", "-"), top.replace("_", "-")) for top in tops}


def declared() -> set[str]:
    """The packages of the library and of its extras, but those of the benchmarks."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [name for extra, names in project["optional-dependencies"].items() if extra != "bench" for name in names]
    return {re.split(r"[^\w-]", line)[0] for line in [*project["dependencies"], *extras]} - {"tacit"}


def test_what_is_imported_is_declared_and_the_other_way_round() -> None:
    results = {name for path in (ROOT / "src" / "tacit").rglob("*.py") for name in imported(path.read_text("utf-8"))}
    assert results - set(BROUGHT) == declared()


def test_what_others_bring_is_among_their_requirements() -> None:
    for name, bringer in BROUGHT.items():
        needed = {re.split(r"[^\w-]", line)[0].lower() for line in requires(bringer) or () if "extra" not in line}
        assert name in needed, (name, bringer)
        assert bringer in declared(), bringer


def test_imports_are_found_wherever_they_stand() -> None:
    text = "import os, numpy.linalg\nfrom sklearn.base import clone\nfrom .pages import x\ndef f():\n    import tomli_w"
    assert imported(text) == {"numpy", "scikit-learn", "tomli-w"}
