"""Public names, and what importing them costs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache

import pytest

import tacit

HEAVY = ("numba", "sklearn", "scipy", "pandas", "polars", "pyarrow", "opendp", "dp_accounting", "sqlalchemy", "numpy")


@cache
def modules_after(statement: str) -> frozenset[str]:
    """Names of the modules that a fresh interpreter holds after a statement."""
    code = f"import sys\n{statement}\nsys.stdout.write(' '.join(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return frozenset(result.stdout.split())


ANEW = """
import json, sys
found = {}
for statement in json.loads(sys.argv[1]):
    for name in [name for name in sys.modules if name.partition(".")[0] == "tacit"]:
        del sys.modules[name]
    exec(statement, {})
    found[statement] = [name for name in sys.modules if name.partition(".")[0] == "tacit"]
print(json.dumps(found))
"""
"""Modules of the package after each statement, every one with the package imported anew and the others kept."""

REACHED = [*tacit.ROOMS, "theory.winnow", "privacy.charges", "models.files"]


@pytest.fixture(scope="module")
def loaded_by() -> dict[str, list[str]]:
    """Modules of the package by what is asked of it."""
    statements = json.dumps(["import tacit", *(f"import tacit; tacit.{name}" for name in REACHED)])
    result = subprocess.run([sys.executable, "-c", ANEW, statements], capture_output=True, text=True, check=True)
    document: dict[str, list[str]] = json.loads(result.stdout)
    return document


def test_importing_the_package_imports_nothing_heavy() -> None:
    loaded = modules_after("import tacit")
    assert "tacit" in loaded
    assert not loaded & set(HEAVY)


def test_the_command_line_starts_light() -> None:
    loaded = modules_after("import tacit.cli.main")
    assert "typer" in loaded
    assert not loaded & set(HEAVY)


@pytest.mark.parametrize("name", sorted(tacit.PUBLIC))
def test_every_public_name_is_there(name: str) -> None:
    public = getattr(tacit, name)
    assert isinstance(public, Mapping) or public.__module__.startswith("tacit.")
    assert name in dir(tacit)


@pytest.mark.parametrize("name", REACHED)
def test_public_rooms_and_their_modules_need_no_import(name: str, loaded_by: dict[str, list[str]]) -> None:
    assert f"tacit.{name}" not in loaded_by["import tacit"]
    assert f"tacit.{name}" in loaded_by[f"import tacit; tacit.{name}"]


def test_an_unknown_module_of_a_room_is_an_attribute_error() -> None:
    assert not hasattr(tacit.theory, "nonsense")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Nonsense"):
        _ = tacit.Nonsense
