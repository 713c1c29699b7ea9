"""Every name of the reference has an example, and all of them run and print what they show."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import tacit

REFERENCE = Path(__file__).parents[1] / "docs" / "reference" / "index.md"
WITHOUT = {"join_sites", "serve_site", "EXPECTED_FAILED_CHECKS"}
"""The first two wait for other processes (docs/many_sites.md has their example); a mapping has no docstring."""


def names() -> list[tuple[str, str]]:
    """Module and name of everything that the reference lists."""
    module, results = "", []
    for line in REFERENCE.read_text("utf-8").splitlines():
        if heading := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = heading[1]
        elif name := re.match(r"   (\w+)$", line):
            results.append((module, name[1]))
    return results


def test_the_reference_lists_every_public_name() -> None:
    listed = names()
    assert set(tacit.PUBLIC) == {name for module, name in listed if module == "tacit"}
    for module in ("audit", "boosting", "checks", "closure", "online", "resampling"):
        public = set(importlib.import_module(f"tacit.{module}").__all__) - set(tacit.PUBLIC)
        assert public == {name for place, name in listed if place == f"tacit.{module}"}, module


@pytest.mark.parametrize(("module", "name"), [pair for pair in names() if pair[1] not in WITHOUT])
def test_the_example_runs(module: str, name: str) -> None:
    public = getattr(importlib.import_module(module), name)
    examples = doctest.DocTestFinder(recurse=False).find(public, name, globs={}, module=inspect.getmodule(public))
    assert sum(len(example.examples) for example in examples) > 0, f"{name} has no example"
    runner = doctest.DocTestRunner()
    printed: list[str] = []
    for example in examples:
        runner.run(example, out=printed.append)
    assert not printed, "".join(printed)
