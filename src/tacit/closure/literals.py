"""Concepts made of literals: conjunctions and decision lists. Their patterns follow from the literals' patterns.

Points are bits of Python integers, so that merging equal patterns is a look-up. The work is in proportion to the number
of patterns (conjunctions) or of states "points left, labels so far" (decision lists), never to the number of concepts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Ints
from tacit.closure.classes import BoundClass, ConceptClass, ConceptError, Encoders, levels_of, pick, value_names
from tacit.closure.patterns import ListedPatterns, Patterns
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder
from tacit.encoding.values import BooleanIndex


@dataclass(frozen=True, eq=False)
class Literal:
    """A test of one column, in words: per code, whether it passes."""

    position: int
    passes: Bools
    text: str


def literals_of(columns: Sequence[str], encoders: Sequence[Encoder], cuts: int, negated: bool) -> list[Literal]:
    """Equality with each declared value; for numbers, both sides of ``cuts`` evenly spaced cells' edges."""
    literals = []
    for position, (column, encoder) in enumerate(zip(columns, encoders, strict=True)):
        levels, names = levels_of(encoder, column), value_names(encoder)
        if isinstance(encoder, NumericGrid):
            for cut in sorted({round((i + 1) * len(names) / (cuts + 1)) for i in range(cuts)} - {0, len(names)}):
                literals.append(Literal(position, levels >= cut, f"{column} >= {names[cut]}"))
                literals.append(Literal(position, (levels >= 0) & (levels < cut), f"{column} < {names[cut]}"))
            continue
        for level, name in enumerate(names):
            literals.append(Literal(position, levels == level, f"{column} = {name}"))
            if negated:
                literals.append(Literal(position, levels != level, f"{column} != {name}"))
    return literals


def literal_bits(literals: Sequence[Literal], codes: Ints) -> list[int]:
    """The points that pass each literal, as bits."""
    bits = []
    for literal in literals:
        packed = np.packbits(literal.passes[codes[:, literal.position]], bitorder="little")
        bits.append(int.from_bytes(packed.tobytes(), "little"))
    return bits


@dataclass(frozen=True, eq=False)
class _BoundLiterals(BoundClass):
    columns: tuple[str, ...]
    literals: tuple[Literal, ...]
    n_codes: tuple[int, ...]
    length: int
    vc_dimension: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "vc_dimension", min(self.size.bit_length() - 1, self.n_cells))

    @property
    def size(self) -> int:
        """Number of concepts as they are written."""
        raise NotImplementedError

    def patterns_at_most(self, n: int) -> int:
        n = min(n, self.n_cells)
        return min(self.size, 1 << n) if n < 64 else self.size

    def patterns(self, codes: Ints) -> Patterns:
        bits = literal_bits(self.literals, codes)
        return ListedPatterns.of_integers(sorted(self.reached(bits, (1 << len(codes)) - 1)), len(codes))

    def reached(self, bits: Sequence[int], everything: int) -> set[int]:
        """All patterns, as bits, from the patterns of the literals."""
        raise NotImplementedError

    def describe(self, patterns: Patterns, index: int) -> str:
        packed = np.packbits(patterns.row(index), bitorder="little")
        return self.words(int.from_bytes(packed.tobytes(), "little"))

    def words(self, pattern: int) -> str:
        """A concept that labels all cells like this."""
        raise NotImplementedError


class BoundConjunctions(_BoundLiterals):
    """ANDs of at most ``length`` literals; the empty one is true."""

    @property
    def size(self) -> int:
        return sum(math.comb(len(self.literals), i) for i in range(self.length + 1))

    def reached(self, bits: Sequence[int], everything: int) -> set[int]:
        seen, edge = {everything}, {everything}
        for _ in range(self.length):
            edge = {pattern & literal for pattern in edge for literal in bits} - seen
            if not edge:
                break
            seen |= edge
        return seen

    def words(self, pattern: int) -> str:
        bits = literal_bits(self.literals, self.cells())
        literals, points = [], (1 << self.n_cells) - 1
        while points != pattern:
            fits = [i for i, b in enumerate(bits) if b & pattern == pattern and points & ~b]
            best = min(fits, key=lambda i: (points & bits[i]).bit_count())
            literals.append(self.literals[best].text)
            points &= bits[best]
        return " and ".join(literals) or "always"


class BoundDecisionLists(_BoundLiterals):
    """``if literal then label, else if .., else label`` with at most ``length`` rules."""

    @property
    def size(self) -> int:
        rules = 2 * len(self.literals)
        return sum(2 * rules**i for i in range(self.length + 1))

    def reached(self, bits: Sequence[int], everything: int) -> set[int]:
        states: set[int] = set()
        edge, seen = {(everything, 0)}, {(everything, 0)}
        for step in range(self.length + 1):
            for points, labels in edge:
                states.update((labels, labels | points))
            if step == self.length:
                break
            edge = {
                (points & ~literal, labels | (points & literal if label else 0))
                for points, labels in edge
                for literal in bits
                if points & literal
                for label in (0, 1)
            } - seen
            seen |= edge
        return states

    def words(self, pattern: int) -> str:
        bits = literal_bits(self.literals, self.cells())
        path: dict[tuple[int, int], str] = {((1 << self.n_cells) - 1, 0): ""}
        edge = list(path)
        while edge:
            following = []
            for points, labels in edge:
                if pattern in (labels, labels | points):
                    return f"{path[points, labels]}{int(pattern != labels)}"
                for literal, covered in zip(self.literals, bits, strict=True):
                    for label in (0, 1):
                        state = (points & ~covered, labels | (points & covered if label else 0))
                        if points & covered and state not in path:
                            path[state] = f"{path[points, labels]}if {literal.text} then {label}, else "
                            following.append(state)
            edge = following
        raise ValueError("no decision list labels the cells like this")


@dataclass(frozen=True)
class _LiteralClass(ConceptClass):
    over: tuple[str, ...]
    length: int = 2
    cuts: int = 3
    negated: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.over)

    def _literals(self, encoders: Encoders) -> tuple[tuple[Literal, ...], tuple[int, ...]]:
        if self.length < 1 or self.cuts < 1:
            raise ConceptError(f"length and cuts must be at least 1, got {self.length} and {self.cuts}")
        chosen_encoders = pick(encoders, self.columns)
        literals = literals_of(self.columns, chosen_encoders, self.cuts, self.negated)
        return tuple(literals), tuple(e.n_codes for e in chosen_encoders)


@dataclass(frozen=True)
class Conjunctions(_LiteralClass):
    """ANDs of at most ``length`` literals over columns: ``value = c``, and ``value >= t`` or ``< t`` at some cuts.

    Example:
        >>> import numpy as np
        >>> from tacit.closure import FiniteClassClassifier, Conjunctions
        >>> X = {"ward": np.resize(["a", "b", "c"], 3000), "smokes": np.arange(3000) % 2 == 0}
        >>> wards = {"kind": "categorical", "categories": ["a", "b", "c"]}
        >>> schema = {"columns": {"ward": wards, "smokes": {"kind": "boolean"}}}
        >>> model = FiniteClassClassifier(Conjunctions(("ward", "smokes")), schema=schema, classes=(0, 1))
        >>> print(model.fit(X, (X["ward"] == "a") & X["smokes"]).model_.to_text())
        1 if ward = a and smokes = true, else 0
    """

    def bind(self, encoders: Encoders) -> BoundClass:
        literals, n_codes = self._literals(encoders)
        return BoundConjunctions(self.columns, literals, n_codes, self.length)


@dataclass(frozen=True)
class DecisionLists(_LiteralClass):
    """Decision lists of at most ``length`` rules over literals of the columns.

    Example:
        >>> import numpy as np
        >>> from tacit.closure import FiniteClassClassifier, DecisionLists
        >>> X = {"ward": np.resize(["a", "b", "c"], 3000), "smokes": np.arange(3000) % 2 == 0}
        >>> wards = {"kind": "categorical", "categories": ["a", "b", "c"]}
        >>> schema = {"columns": {"ward": wards, "smokes": {"kind": "boolean"}}}
        >>> model = FiniteClassClassifier(DecisionLists(("ward", "smokes")), schema=schema, classes=(0, 1))
        >>> ill = (X["ward"] == "a") | X["smokes"]
        >>> print(model.fit(X, ill).score(X, ill))
        1.0
    """

    def bind(self, encoders: Encoders) -> BoundClass:
        literals, n_codes = self._literals(encoders)
        return BoundDecisionLists(self.columns, literals, n_codes, self.length)


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

    Example:
        >>> import numpy as np
        >>> from tacit.closure import FiniteClassClassifier, RuleClass
        >>> X = {"age": np.arange(4000) % 100}
        >>> schema = {"columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100, "bins": 20}}}
        >>> rules = (lambda row: row["age"] >= 18, lambda row: row["age"] >= 65)
        >>> model = FiniteClassClassifier(RuleClass(("age",), rules, ("adult", "old")), schema=schema, classes=(0, 1))
        >>> print(model.fit(X, X["age"] >= 65).model_.to_text())
        1 if old, else 0
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
        chosen_encoders = pick(encoders, self.columns)
        n_codes = tuple(e.n_codes for e in chosen_encoders)
        codes = np.indices(n_codes).reshape(len(n_codes), -1)
        values = {c: _values(e)[codes[j]] for j, (c, e) in enumerate(zip(self.columns, chosen_encoders, strict=True))}
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
    values = [False, True] if isinstance(encoder, BooleanIndex) else [*encoder.categories, None]
    return np.array([*values, None], dtype=object)
