"""The tool that breaks the library on purpose: what it leaves out, and which tests it runs."""

from __future__ import annotations

import pytest

from tools import mutants

CODE = '''
"""A module."""
@dataclass(frozen=True, eq=False)
class C:
    pass
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
    assert {"tests/theory", "tests/trees/test_trees_theory.py"} <= set(whole)
    assert mutants.tests_of("src/tacit/theory/closure/bounds.py")[1][0].startswith("tests/")
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
