"""Cases of several axes: those in which every two values of two axes meet run always, all others are marked slow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import pytest


def _pairs(case: tuple[int, ...]) -> set[tuple[int, int, int, int]]:
    return {(i, j, case[i], case[j]) for i, j in combinations(range(len(case)), 2)}


def covering(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Positions on the axes, few of them, in which every two values of two axes meet: greedy, always the same."""
    cases = list(product(*(range(size) for size in sizes)))
    open_pairs = set().union(*map(_pairs, cases))
    chosen = []
    while open_pairs:
        best = max(cases, key=lambda case: len(_pairs(case) & open_pairs))
        chosen.append(best)
        open_pairs -= _pairs(best)
    return chosen


def pairwise(*axes: Sequence[Any]) -> list[Any]:
    """Every case of the axes, for ``pytest.mark.parametrize``; those that add no new pair are slow.

    Args:
        axes: the values of each argument; a value that is a tuple inside a tuple axis stays one argument.
    """
    always = set(covering([len(axis) for axis in axes]))
    return [
        pytest.param(
            *(axis[i] for axis, i in zip(axes, case, strict=True)), marks=() if case in always else pytest.mark.slow
        )
        for case in product(*(range(len(axis)) for axis in axes))
    ]


def in_turn(names: Sequence[Any], cells: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Every name in every cell: name ``i`` always in cell ``i``, counted round and round; all others marked slow."""
    return [
        pytest.param(name, *cell, marks=() if number % len(cells) == place else pytest.mark.slow)
        for place, cell in enumerate(cells)
        for number, name in enumerate(names)
    ]
