"""The door of a fit: what it loads, and that every supply of rows comes through it."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from tacit.encoding.source import ENGINES as SOURCES
from tacit.learning.sources import ENGINES
from tacit.learning.supply import SUPPLIES, TableSupply, supply_of
from tacit.learning.tables import task_of

FIT = """
import sys
import numpy as np
import tacit
rng = np.random.default_rng(0)
X = rng.normal(size=(500, 2))
column = {"kind": "numeric", "lower": -4, "upper": 4}
schema = {"label": {"column": "y", "classes": [0, 1]}, "columns": {"x0": column, "x1": column}}
tacit.AdditiveBoostClassifier(schema=schema, random_state=0).fit({"x0": X[:, 0], "x1": X[:, 1]}, (X[:, 0] > 0) * 1)
print("\\n".join(sys.modules))
"""

MOST_MODULES = 210
"""Modules of this library that a default fit of 500 rows may load: 205 today."""

STRANGERS = {"cluster", "cluster_rows", "joined", "ray_workers", "sites", "source_rows", "sources"}
STRANGERS |= {"opendp_source", "sql_sources", "store"}
"""Parts of the names of modules that a fit to a table does not need."""


def test_a_default_fit_loads_nothing_of_clusters_sites_or_data_bases() -> None:
    told = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=True)
    loaded = set(told.stdout.split())
    own = {name for name in loaded if name.split(".")[0] == "tacit"}
    assert "tacit.learning.fit" in own
    assert not {name for name in own if STRANGERS & set(name.split("."))} | own & {"tacit.encoding.source"}
    assert not loaded & {"ray", "distributed", "sqlalchemy.dialects", "duckdb", "opendp"}
    assert len(own) <= MOST_MODULES


@pytest.mark.parametrize("kind", SUPPLIES)
def test_what_is_found_by_name_is_there(kind: str) -> None:
    module, name = kind.rsplit(".", 1)
    assert hasattr(import_module(module), name)
    assert callable(import_module(SUPPLIES[kind]).supply_of)


def test_every_engine_of_a_source_prepares_rows() -> None:
    assert set(ENGINES) == set(SOURCES)
    assert all(callable(import_module(module).prepare) for module in ENGINES.values())


@pytest.mark.parametrize("X", [[[1.0]], {"a": [1.0]}, None, "Source", type("Source", (), {})()])
def test_everything_else_is_a_table(X: object) -> None:
    assert isinstance(supply_of(X, [1], None, task_of), TableSupply)
