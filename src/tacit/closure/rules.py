"""Finite classes of rules written in Python, evaluated on the public cells of the columns they look at."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Ints
from tacit.closure.classes import BoundClass, ConceptClass, ConceptError, Encoders, pick
from tacit.closure.patterns import ListedPatterns, Patterns
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder
from tacit.encoding.values import BooleanIndex

Rule = Callable[[Mapping[str, npt.NDArray[Any]]], npt.ArrayLike]
"""From one vector of values per column (NaN or None where missing) to a vector of labels."""


@dataclass(frozen=True, eq=False)
class BoundRules(BoundClass):
    """Finitely many concepts, given by their labels of all cells, shape ``(concepts, n_cells)``."""

    columns: tuple[str, ...]
    n_codes: tuple[int, ...]
    table: Bools
    names: tuple[str, ...]
    vc_dimension: int = field(init=False)

    def __post_init__(self) -> None:
        distinct = len(ListedPatterns.of(self.table))
        object.__setattr__(self, "vc_dimension", distinct.bit_length() - 1)

    def patterns_at_most(self, n: int) -> int:
        return min(len(self.table), 1 << min(n, 62))

    def patterns(self, codes: Ints) -> Patterns:
        return ListedPatterns.of(self.table[:, np.ravel_multi_index(tuple(codes.T), self.n_codes)])

    def describe(self, patterns: Patterns, index: int) -> str:
        row = patterns.row(index)
        return self.names[int(np.flatnonzero((self.table == row).all(axis=1))[0])]


@dataclass(frozen=True)
class RuleClass(ConceptClass):
    """A finite class: Python functions of the columns' values, evaluated on the public cells.

    A numeric cell is represented by its lower edge. ``names`` are what the rules are called in the model.
    """

    over: tuple[str, ...]
    rules: tuple[Rule, ...]
    names: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.over)

    def bind(self, encoders: Encoders) -> BoundClass:
        if not self.rules:
            raise ConceptError("a finite class needs at least one rule")
        found = pick(encoders, self.columns)
        n_codes = tuple(e.n_codes for e in found)
        codes = np.indices(n_codes).reshape(len(n_codes), -1)
        values = {c: _values(e)[codes[j]] for j, (c, e) in enumerate(zip(self.columns, found, strict=True))}
        table = np.empty((len(self.rules), math.prod(n_codes)), bool)
        for row, rule in zip(table, self.rules, strict=True):
            labels = np.asarray(rule(values))
            if labels.shape != row.shape:
                raise ConceptError(f"a rule must label {len(row)} cells, it returned shape {labels.shape}")
            row[:] = labels.astype(bool)
        names = self.names or tuple(f"rule {i + 1}" for i in range(len(self.rules)))
        return BoundRules(self.columns, n_codes, table, names)


def _values(encoder: Encoder) -> npt.NDArray[Any]:
    if isinstance(encoder, NumericGrid):
        return np.append(encoder.edges(), np.nan)
    known = [False, True] if isinstance(encoder, BooleanIndex) else [*encoder.categories, None]
    return np.array([*known, None], dtype=object)
