"""Every class of query has a property test of its sensitivity, and every mechanism a test of its distribution."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from dataclasses import dataclass, is_dataclass
from functools import cache
from pathlib import Path

from tacit import registry
from tacit.models.files import kinds
from tacit.noise.above_threshold import AboveThreshold
from tacit.noise.source import NoiseSource
from tacit.privacy.unit import Neighbouring
from tacit.queries.query import Sensitivity

TESTS = Path(__file__).parents[1]


@cache
def marked(marker: str) -> frozenset[str]:
    """The names that tests carry in a mark, such as ``@pytest.mark.sensitivity_of("Histogram")``."""
    results: set[str] = set()
    for file in TESTS.rglob("test_*.py"):
        text = file.read_text("utf-8")
        if marker in text:
            results |= names_in(ast.parse(text), marker)
    return frozenset(results)


def names_in(tree: ast.AST, marker: str) -> set[str]:
    """The names in the marks of the tests of a module."""
    return {
        str(argument.value)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and function.name.startswith("test_")
        for mark in function.decorator_list
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == f"pytest.mark.{marker}"
        for argument in mark.args
        if isinstance(argument, ast.Constant)
    }


def untested(queries: Iterable[type], tested: frozenset[str]) -> list[str]:
    """The queries whose sensitivity no test looks at."""
    return sorted(query.__name__ for query in queries if query.__name__ not in tested)


def of_the_library() -> list[type]:
    return list(registry.of_the_library(registry.queries()).values())


def test_every_query_has_a_property_test_of_its_sensitivity() -> None:
    assert len(of_the_library()) >= 10
    assert untested(of_the_library(), marked("sensitivity_of")) == []
    assert {kind.__name__ for kind in of_the_library()} >= marked("sensitivity_of"), "a mark names what is not there"


def test_a_query_that_nobody_tests_is_found() -> None:
    before = registry.queries()

    @dataclass(frozen=True)
    class Untested:
        shape = (1,)
        unit = 1

        def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
            del neighbouring
            return Sensitivity(1, 1, "nobody looked")

    Untested.__module__ = __name__
    globals()["Untested"] = Untested
    try:
        new = registry.queries().keys() - before.keys()
        results = [registry.queries()[name] for name in new]
    finally:
        del globals()["Untested"]
    assert [kind.__name__ for kind in results] == ["Untested"]
    assert untested([*of_the_library(), *results], marked("sensitivity_of")) == ["Untested"]


def mechanisms() -> set[str]:
    """The ways to draw noise: what every source of noise offers, and the machine that tests thresholds."""
    offered = {name for name, value in vars(NoiseSource).items() if inspect.isfunction(value) and name[0] != "_"}
    return offered - {"public_generator"} | {AboveThreshold.__name__}


def test_every_mechanism_has_a_test_of_its_law() -> None:
    assert {"gaussian", "laplace", "AboveThreshold"} <= mechanisms()
    assert mechanisms() == marked("law_of")


def test_marks_count_on_tests_alone() -> None:
    text = '@pytest.mark.law_of("a", "b")\ndef test_x(): ...\n@pytest.mark.law_of("c")\ndef helper(): ...'
    assert names_in(ast.parse(text), "law_of") == {"a", "b"}


def test_every_kind_of_model_can_be_read() -> None:
    results = {kind.kind: kind for name, kind in registry.model_kinds().items() if name.startswith("tacit.models.")}
    assert results == kinds()
    assert all(is_dataclass(kind) for kind in results.values())
