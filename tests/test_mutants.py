"""The tool that breaks the library on purpose: what it leaves out, and which tests it runs."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tools import mutants
from tools.touched_lines import TouchedLines

CODE = '''
"""A module."""
@dataclass(frozen=True, eq=False)
class C:
    pass
@lru_cache(maxsize=9)
def f(x: int | None, y: float = 1.0) -> float | None:
    """Words."""
    if x < 2:
        raise ValueError(f"x is {x - 1}")
    return 3 * y
'''


@pytest.mark.parametrize(
    ("old", "new", "matters"),
    [
        ("int | None", "int + None", False),
        ("float | None", "float - None", False),
        ("Words", "Other words", False),
        ("{x - 1}", "{x + 1}", False),
        ("frozen=True", "frozen=False", False),
        ("maxsize=9", "maxsize=8", False),
        ("eq=False", "eq=True", True),
        ("x < 2", "x <= 2", True),
        ("3 * y", "3 + y", True),
        ("= 1.0", "= 2.0", True),
    ],
)
def test_annotations_and_words_do_not_matter(old: str, new: str, matters: bool) -> None:
    assert old in CODE
    assert (mutants.what_matters(CODE.replace(old, new)) != mutants.what_matters(CODE)) == matters


def test_arithmetic_is_replaced_by_arithmetic() -> None:
    assert mutants.wanted("core/ReplaceBinaryOperator_Mul_Add")
    assert mutants.wanted("core/NumberReplacer")
    assert not mutants.wanted("core/ReplaceBinaryOperator_Mul_LShift")
    assert not mutants.wanted("core/VariableReplacer")


def test_the_tests_that_the_page_names_come_first() -> None:
    named, whole = mutants.tests_of("src/tacit/theory/trees.py")
    assert "tests/trees/test_trees_theory.py::test_closed_forms" in named
    assert {"tests/theory/test_by_value.py", "tests/trees/test_trees_theory.py"} <= set(whole)
    assert mutants.tests_of("src/tacit/theory/closure/bounds.py")[1][0].startswith("tests/")
    # Several classes are taught in the room of additive models and tested in that of trees.
    assert "tests/trees/test_rules_by_value.py" in mutants.tests_of("src/tacit/growing/softmax.py")[1]
    assert all(path.is_file() for path in mutants.files_of("theory") + mutants.files_of("theory/trees"))


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(SystemExit, match="no room and no module nonsense"):
        mutants.files_of("nonsense")


def test_mutants_that_make_no_difference_are_known_by_their_lines() -> None:
    for (file, line, changed), why in mutants.equivalent().items():
        code = (mutants.ROOT / file).read_text("utf-8")
        assert line in [text.strip() for text in code.splitlines()], f"{file} has no such line any more: {line}"
        assert line != changed
        assert len(why) > 15
        mutant = code.replace(line, changed, 1)
        assert mutants.is_equivalent(file, code, mutant)
        assert not mutants.is_equivalent(file, code, mutant + "x = 1\n")
        assert not mutants.is_equivalent("src/tacit/another.py", code, mutant)


def test_the_lines_that_a_test_runs_are_noted(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def f(x):\n    if x:\n        return 1\n    return 2\n")
    f = runpy.run_path(str(tmp_path / "one.py"))["f"]
    noted = TouchedLines(tmp_path, ["one.py"], tmp_path / "lines.json")
    for answer in (1, 0):
        test: Any = SimpleNamespace(nodeid=f"test_{answer}")
        around = noted.pytest_runtest_protocol(test)
        next(around)
        f(answer)
        around.close()
    f(1)
    for name, failed in (("test_1", False), ("test_0", True), ("test_0", False)):  # of set-up, call, clean-up
        report: Any = SimpleNamespace(nodeid=name, failed=failed)
        noted.pytest_runtest_logreport(report)
    noted.pytest_sessionfinish()
    document = json.loads((tmp_path / "lines.json").read_text())
    assert {name: (test["lines"], test["failed"]) for name, test in document.items()} == {
        "test_1": ({"one.py": [2, 3]}, False),
        "test_0": ({"one.py": [2, 4]}, True),
    }


@pytest.mark.parametrize(
    ("line", "lines"),
    [(1, range(1, 2)), (2, range(2, 3)), (3, range(3, 5)), (4, range(3, 5)), (5, range(5, 6)), (6, range(6, 7))],
)
def test_a_statement_is_its_lines_without_those_in_it(line: int, lines: range) -> None:
    code = "def f(x):\n    if x:\n        return [\n            1]\n    x = 2\n    return x\n"
    assert mutants.statement_at(code, line) == lines


def test_tests_that_run_a_line_go_first() -> None:
    touched = {
        "tests/a.py::test_slow[1]": {"seconds": 3.0, "lines": {"m.py": [1, 2, 3]}},
        "tests/a.py::test_fast": {"seconds": 1.0, "lines": {"m.py": [3]}},
        "tests/a.py::test_named[x]": {"seconds": 9.0, "lines": {"m.py": [2, 3]}},
        "tests/a.py::test_other": {"seconds": 0.0, "lines": {"n.py": [3]}},
    }
    slow, fast, named, _ = touched
    page = ["tests/a.py::test_named", "tests/b.py::test_b"]
    assert mutants.fast_tests(touched, "m.py", range(3, 4), page) == [named, fast, slow]
    assert mutants.fast_tests(touched, "m.py", range(1, 3), page) == [named, slow]
    assert mutants.fast_tests(touched, "m.py", range(9, 10), page) == [named, fast, slow]
    assert mutants.fast_tests(touched, "o.py", range(9, 10), page) == []
    assert mutants.is_one_of("tests/b.py", page)
    assert not mutants.is_one_of("tests/a.py::test_named_too", page)
