"""Public names, and what importing them costs."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import pytest

import tacit

HEAVY = ("numba", "sklearn", "scipy", "pandas", "polars", "pyarrow", "opendp", "dp_accounting", "sqlalchemy", "numpy")


@cache
def modules_after(statement: str) -> frozenset[str]:
    """Names of the modules that a fresh interpreter holds after a statement."""
    code = f"import sys\n{statement}\nsys.stdout.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return frozenset(done.stdout.split())


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
    assert getattr(tacit, name).__module__.startswith("tacit.")
    assert name in dir(tacit)


@pytest.mark.parametrize("room", tacit.ROOMS)
def test_public_rooms_need_no_import(room: str) -> None:
    assert f"tacit.{room}" not in modules_after("import tacit")
    assert f"tacit.{room}" in modules_after(f"import tacit; tacit.{room}")


@pytest.mark.parametrize("module", ["theory.winnow", "privacy.charges", "models.files"])
def test_modules_of_public_rooms_need_no_import(module: str) -> None:
    loaded = modules_after(f"import tacit; tacit.{module}")
    assert f"tacit.{module}" in loaded


def test_an_unknown_module_of_a_room_is_an_attribute_error() -> None:
    assert not hasattr(tacit.theory, "nonsense")


def test_lists_agree() -> None:
    assert set(tacit.__all__) == {*tacit.PUBLIC, "__version__"}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Nonsense"):
        _ = tacit.Nonsense
