"""Boolean functions of k bits: truth tables, and formulas of majorities and negations that compute them.

Source: Alon, Beimel, Moran, Stemmer 2020, section 4.2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tacit.errors import UNSPENT, TacitError

MOST_INPUTS = 16


@dataclass(frozen=True)
class TruthTable:
    """A function of ``arity`` bits: ``values[sum of bit_i * 2^i]``.

    Raises ``ValueError`` if the number of values is not a power of two, or a value is not 0 or 1.
    """

    values: tuple[int, ...]

    def __post_init__(self) -> None:
        values = tuple(int(v) for v in self.values)
        size = len(values)
        if size < 2 or size & (size - 1) or size > 1 << MOST_INPUTS:
            raise TacitError(f"a truth table of k inputs, 1 <= k <= {MOST_INPUTS}, has 2^k values; got {size}", UNSPENT)
        if any(v not in (0, 1) for v in values):
            raise TacitError("a truth table holds 0 and 1 only", UNSPENT)
        object.__setattr__(self, "values", values)

    @property
    def arity(self) -> int:
        """Number of inputs."""
        return len(self.values).bit_length() - 1

    def __call__(self, bits: Sequence[int]) -> int:
        return self.values[sum(int(bool(bit)) << i for i, bit in enumerate(bits))]

    def negated(self) -> TruthTable:
        """The function's negation."""
        return TruthTable(tuple(1 - v for v in self.values))

    @staticmethod
    def of(function: Callable[[tuple[int, ...]], int], arity: int) -> TruthTable:
        """The table of a Python function of a tuple of bits."""
        return TruthTable(
            tuple(int(bool(function(tuple(i >> j & 1 for j in range(arity))))) for i in range(1 << arity))
        )


def named_function(name: str, arity: int) -> TruthTable:
    """``"or"``, ``"and"``, ``"majority"`` (ties, which need an even arity, count as 0) or ``"xor"`` of ``arity`` bits.

    Raises ``ValueError`` for another name, or an arity out of range.
    """
    if not 1 <= arity <= MOST_INPUTS:
        raise TacitError(f"a function has 1 to {MOST_INPUTS} inputs, got {arity}", UNSPENT)
    rules: dict[str, Callable[[tuple[int, ...]], int]] = {
        "or": lambda bits: int(any(bits)),
        "and": lambda bits: int(all(bits)),
        "majority": lambda bits: int(2 * sum(bits) > arity),
        "xor": lambda bits: sum(bits) % 2,
    }
    key = {"maj": "majority"}.get(name.lower(), name.lower())
    if key not in rules:
        raise TacitError(f"known functions are {', '.join(rules)}, got {name!r}", UNSPENT)
    return TruthTable.of(rules[key], arity)


Term = tuple[tuple[int, int], ...]  # A conjunction of literals: pairs (input, value that it must have)


def disjunctive_terms(table: TruthTable) -> list[Term]:
    """A short disjunctive normal form: prime implicants, chosen until they cover all ones.

    Exact minimality is not needed: the paper's bound counts terms, and its ``2^k`` is never exceeded.
    """
    ones = {i for i, v in enumerate(table.values) if v}
    terms: list[Term] = []
    for care, value in _cover(_prime_implicants(ones, table.arity), ones):
        terms.append(tuple((i, value >> i & 1) for i in range(table.arity) if care >> i & 1))
    return terms


def _prime_implicants(ones: set[int], arity: int) -> set[tuple[int, int]]:
    """All maximal subcubes of ones, as (mask of the fixed inputs, their values)."""
    level = {((1 << arity) - 1, one) for one in ones}
    primes: set[tuple[int, int]] = set()
    while level:
        merged: set[tuple[int, int]] = set()
        covered: set[tuple[int, int]] = set()
        for care, value in level:
            for i in range(arity):
                bit = 1 << i
                if care & bit and (care, value ^ bit) in level:
                    merged.add((care ^ bit, value & ~bit))
                    covered.add((care, value))
        primes |= level - covered
        level = merged
    return primes


def _cover(primes: set[tuple[int, int]], ones: set[int]) -> list[tuple[int, int]]:
    covers = {p: {one for one in ones if one & p[0] == p[1]} for p in primes}
    remaining, cover = set(ones), []
    while remaining:
        best = max(sorted(covers), key=lambda p: len(covers[p] & remaining))
        cover.append(best)
        remaining -= covers[best]
    return cover


@dataclass(frozen=True)
class Formula:
    """A gate of a majority formula."""

    kind: str  # `"input"`, `"constant"` or `"majority"`
    index: int = 0  # number of the input, or the constant's value
    negated: bool = False  # whether the output is turned around
    children: tuple[Formula, ...] = ()  # inputs of a majority, an odd number

    def __call__(self, bits: Sequence[int]) -> int:
        if self.kind == "input":
            value = int(bits[self.index])
        elif self.kind == "constant":
            value = self.index
        else:
            value = int(2 * sum(child(bits) for child in self.children) > len(self.children))
        return 1 - value if self.negated else value

    @property
    def size(self) -> int:
        """Number of leaves."""
        return sum(child.size for child in self.children) if self.children else 1


def majority_formula(table: TruthTable) -> Formula:
    """Any boolean function as a majority of majorities of literals and constants (section 4.2.2).

    ``AND(z_1..z_k) = MAJ(z_1..z_k, 0 x (k-1))`` and ``OR(t_1..t_m) = MAJ(t_1..t_m, 1 x (m-1))``.
    """
    terms = disjunctive_terms(table)
    if not terms:
        return Formula("constant", 0)
    inner = [
        _filled([Formula("input", i, negated=not value) for i, value in term], 0) if term else Formula("constant", 1)
        for term in terms
    ]
    return _filled(inner, 1)


def _filled(children: list[Formula], constant: int) -> Formula:
    if len(children) == 1:
        return children[0]
    filling = [Formula("constant", constant)] * (len(children) - 1)
    return Formula("majority", children=(*children, *filling))
