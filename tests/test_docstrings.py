"""Every public name has an example, and all of them run and print what they show."""

from __future__ import annotations

import doctest
import inspect

import pytest

import tacit
import tacit.checks

WITHOUT = {"join_sites", "serve_site", "EXPECTED_FAILED_CHECKS"}
"""The first two wait for other processes (docs/many_sites.md has their example); a mapping has no docstring."""


@pytest.mark.parametrize("name", [*sorted(set(tacit.PUBLIC) - WITHOUT), *tacit.checks.CHECKS])
def test_the_example_runs(name: str) -> None:
    public = getattr(tacit if hasattr(tacit, name) else tacit.checks, name)
    examples = doctest.DocTestFinder(recurse=False).find(public, name, globs={}, module=inspect.getmodule(public))
    assert sum(len(example.examples) for example in examples) > 0, f"{name} has no example"
    runner = doctest.DocTestRunner()
    printed: list[str] = []
    for example in examples:
        runner.run(example, out=printed.append)
    assert not printed, "".join(printed)
