"""The few cases that always run leave no two values of two axes apart."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from tests.pairwise import covering, in_turn, pairwise


@pytest.mark.parametrize("sizes", [(9, 3, 4), (8, 2, 4), (3, 4, 2, 2), (4, 4, 2)])
def test_every_two_values_meet_and_cases_are_few(sizes):
    cases = covering(sizes)
    for i, j in combinations(range(len(sizes)), 2):
        assert {(case[i], case[j]) for case in cases} == set(product(range(sizes[i]), range(sizes[j])))
    *_, second, first = sorted(sizes)
    assert first * second <= len(cases) <= 1.3 * first * second


def test_nothing_is_lost_but_marked():
    marked = pairwise("abc", (1, 2), (True, False))
    assert len(marked) == 12
    assert sum(bool(case.marks) for case in marked) == 12 - len(covering((3, 2, 2)))


def test_every_name_has_a_turn_and_a_cell_of_its_own() -> None:
    cases = in_turn(list("abcdefg"), [(1, 2), (3, 4), (5, 6)])
    assert len({case.values for case in cases}) == len(cases) == 21
    always = [case.values for case in cases if not case.marks]
    assert sorted(name for name, _, _ in always) == list("abcdefg")
    assert {(first, second) for _, first, second in always} == {(1, 2), (3, 4), (5, 6)}
