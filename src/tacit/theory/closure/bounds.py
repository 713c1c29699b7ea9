"""Bounds on the dimensions of unions and compositions of classes, as numbers.

Source of all statements: Alon, Beimel, Moran, Stemmer 2020, "Closure properties for private classification and online
prediction", by theorem number. Where the paper writes ``O~`` a constant is derived here and the derivation stands in
the docstring; logarithms are to base 2 where the paper writes ``log``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from tacit.theory.checks import largest_where, require
from tacit.theory.closure.formula import TruthTable, disjunctive_terms

MISTAKE_WEIGHT = 0.5
"""The factor ``beta`` by which Weighted Majority discounts a learner that errs, as in the proof of Prop. 4.3."""


def littlestone_at_least(threshold: int) -> int:
    """Theorem 3.2 (Shelah): a class of threshold dimension ``T >= 1`` has Littlestone dimension at least this."""
    require(threshold >= 1, f"the threshold dimension must be at least 1, got {threshold}")
    return threshold.bit_length() - 1


def threshold_at_least(littlestone: int) -> int:
    """Theorem 3.2 (Hodges): a class of Littlestone dimension ``d >= 1`` has threshold dimension at least this."""
    require(littlestone >= 1, f"the Littlestone dimension must be at least 1, got {littlestone}")
    return littlestone.bit_length() - 1


def threshold_of_union(dimensions: Sequence[int]) -> int:
    """Observation 4.1: the threshold dimension of a union is at most the sum."""
    return sum(dimensions)


def littlestone_of_two(first: int, second: int) -> int:
    """Proposition 4.2: the Littlestone dimension of the union of two classes is at most ``d_1 + d_2 + 1``."""
    return first + second + 1


def weighted_majority_mistakes(count: int, mistakes: int, weight: float = MISTAKE_WEIGHT) -> float:
    """Mistakes of Weighted Majority over ``count`` learners of which one makes at most ``mistakes``.

    ``(log k + d log(1/beta)) / log(2 / (1 + beta))`` (Littlestone, Warmuth 1989, Cor. 2.1), before it is rounded.
    """
    require(0 < weight < 1, f"weight must lie in (0, 1), got {weight}")
    require(count >= 1, f"count must be at least 1, got {count}")
    return (math.log2(count) + mistakes * math.log2(1 / weight)) / math.log2(2 / (1 + weight))


def littlestone_of_union(dimensions: Sequence[int]) -> int:
    """The least of :func:`littlestone_of_union_by_voting` and the largest T with ``2^T <= sum C(T, <= d_i)``.

    Proof of the second, in short: an expert of class i is a set of at most ``d_i`` of T rounds in which its Standard
    Optimal Algorithm is told that it erred. Some expert of some class follows each of the ``2^T`` branches of a tree
    that the union shatters, and an expert follows one branch. In full: docs/theory/compositions.md.
    """
    counted = Counter(dimensions)

    def fits(rounds: int) -> bool:
        return sum(number * patterns_at_most(rounds, d) for d, number in counted.items()) >= 1 << rounds

    return min(littlestone_of_union_by_voting(dimensions), largest_where(fits, max(dimensions)))


def littlestone_of_union_by_voting(dimensions: Sequence[int]) -> int:
    """Propositions 4.2 and 4.3: the better of ``sum d_i + k - 1`` and Weighted Majority's ``2.41 (d + log k)``.

    The paper states the second as ``3 d + 3 log k``; see :func:`littlestone_of_union_stated`.
    """
    require(len(dimensions) >= 1, "a union needs at least one class")
    by_pairs = sum(dimensions) + len(dimensions) - 1
    return min(by_pairs, math.floor(weighted_majority_mistakes(len(dimensions), max(dimensions))))


def littlestone_of_union_stated(count: int, dimension: int) -> float:
    """Proposition 4.3 as stated: ``3 d + 3 log k``."""
    return 3 * dimension + 3 * math.log2(count)


def agnostic_regret(dimension: float, rounds: int) -> float:
    """Expected regret of agnostic online learning, ``sqrt(T/2 * d ln(e T / d))`` (Ben-David, Pal, Shalev-Shwartz 2009).

    Exponential weights over the ``sum over i <= d of C(T, i) <= (e T / d)^d`` ways to correct a realisable learner.
    """
    if dimension <= 0:
        return 0.0
    effective = min(dimension, rounds)
    return math.sqrt(0.5 * rounds * effective * math.log(math.e * rounds / effective))


def littlestone_of_majority(count: int, dimension: float) -> int:
    """Equation (4) with a constant: majorities of ``k`` (odd) functions of a class of Littlestone dimension ``d``.

    The largest T with ``T <= 2 k^2 d ln(e T / d)``. Proof: walk down a mistake tree of depth T with random labels. Any
    learner errs on half of the rounds in expectation. Some majority of k functions fits all labels, so in every round
    at least ``(k+1)/2`` of them are right, and one of them errs on at most ``(1/2 - 1/(2k)) T`` rounds; the agnostic
    learner errs in expectation on no more than that plus its regret. Hence ``T / (2k) <= sqrt(T/2 * d ln(eT/d))``.

    (The paper's (6) has ``1/2 - 1/k`` for the best function: with k = 3 each of three functions may err on a third of
    the rounds, and ``1/2 - 1/k`` is a sixth. The order of the bound is the same.)
    """
    require(count >= 1 and count % 2 == 1, f"a majority needs an odd number of functions, got {count}")
    if count == 1 or dimension <= 0:
        return math.floor(dimension)
    factor = 2 * count**2 * dimension

    def fits(rounds: int) -> bool:
        return rounds <= factor * math.log(math.e * rounds / dimension)

    return largest_where(fits, math.ceil(dimension))


def littlestone_of_tuples(dimensions: Sequence[int]) -> int:
    """Any function of k hypotheses, one from each class: the largest T with ``2^T <= product of C(T, <= d_i)``.

    As for unions, with tuples of experts: their common prediction, through the function, follows one branch, and some
    tuple follows every branch of a shattered tree. It is polynomial, ``O(sum d_i log k)``, whatever the function. (The
    paper left open whether its exponential ``k`` is needed; Ghazi, Golowich, Kumar, Manurangsi 2021 showed that it is
    not.) Of VC dimensions it is the largest n with ``2^n <= product of Sauer's bounds`` (Dudley 1978, section 2.1.1).
    """

    def fits(n: int) -> bool:
        return math.prod(patterns_at_most(n, dimension) for dimension in dimensions) >= 1 << n

    return largest_where(fits, max(dimensions, default=0))


def littlestone_of_composition(table: TruthTable, dimensions: Sequence[int]) -> int:
    """The Littlestone dimension of ``G(H_1, .., H_k)`` from those of the classes: the least of all bounds.

    :func:`littlestone_of_tuples` for the inputs that G depends on, and the paper's
    :func:`littlestone_of_composition_by_majorities`.
    """
    require(len(dimensions) == table.arity, f"{table.arity} inputs need as many dimensions, got {len(dimensions)}")
    relevant = [d for i, d in enumerate(dimensions) if _depends_on(table, i)]
    return min(littlestone_of_tuples(relevant), littlestone_of_composition_by_majorities(table, dimensions))


def _depends_on(table: TruthTable, place: int) -> bool:
    return any(value != table.values[index ^ 1 << place] for index, value in enumerate(table.values))


def littlestone_of_composition_by_majorities(table: TruthTable, dimensions: Sequence[int]) -> int:
    """Theorem 2.1 with constants: the paper's bound on the Littlestone dimension of ``G(H_1, .., H_k)``.

    As in the paper, G is an OR of at most ``2^k`` ANDs of literals and each of these a majority (section 4.2.2); of G
    and its negation, which have one dimension, the one with fewer terms is taken. The bound is
    :func:`littlestone_of_majority`, applied twice; ``log2`` of the product of the classes' sizes may be smaller.
    """
    terms = min(disjunctive_terms(table), disjunctive_terms(table.negated()), key=len)
    if not terms:
        return 0
    inner = 0
    for term in terms:
        literals = [dimensions[i] for i, _ in term]
        if not literals:
            continue
        padded = [*literals, 0] if len(literals) > 1 else literals  # the constant that fills the majority up
        inner = max(inner, littlestone_of_majority(2 * len(literals) - 1, littlestone_of_union_by_voting(padded)))
    if len(terms) == 1:
        return inner
    return littlestone_of_majority(2 * len(terms) - 1, littlestone_of_union_by_voting([inner] * len(terms) + [0]))


def ramsey_size(size: int, colours: int) -> int:
    """Points that are enough for ``size`` of one colour: ``(c (r - 1))! / (r - 1)!^c`` (Greenwood, Gleason 1955)."""
    return int(math.factorial(colours * (size - 1)) // math.factorial(size - 1) ** colours)


def threshold_of_composition(count: int, bound: int) -> int:
    """If every class has threshold dimension below ``bound``, then the composition's is below this number.

    The lesser of Ramsey's number for ``2 t`` points and ``2 k`` colours, and of ``2^(L + 1)`` for the Littlestone
    dimension ``L`` of compositions of classes of dimension ``2^t - 1`` (Theorem 3.2, twice); neither exceeds
    :func:`threshold_of_composition_stated`. Proof: docs/theory/compositions.md. Source of a bound that is exponential
    in k and not doubly so: Ghazi, Golowich, Kumar, Manurangsi 2021.
    """
    require(count >= 1 and bound >= 1, "count and bound must be at least 1")
    by_colours = ramsey_size(2 * bound, 2 * count)
    littlestone = (1 << bound) - 1  # of each class, at most; the composition's bound is no less
    if littlestone >= by_colours.bit_length():
        return by_colours
    return min(by_colours, 1 << littlestone_of_tuples([littlestone] * count) + 1)


def threshold_of_composition_stated(count: int, bound: int) -> int:
    """Theorem 2.2 as stated, ``2^(4 k 4^k t)``: Ramsey's bound ``c^(r c)`` for ``2 t`` points and ``4^k`` colours."""
    require(count >= 1 and bound >= 1, "count and bound must be at least 1")
    return 1 << (4 * count << 2 * count) * bound


def threshold_of_union_of_two_functions(bound: int) -> int:
    """Theorem 2.2, lower bound: for ``t >= 6`` some class has dimension at most t, and its pairwise ORs at least this.

    Below 6 the statement says nothing.
    """
    require(bound >= 6, f"the lower bound is stated for t >= 6, got {bound}")
    return 1 << (bound // 5)


def patterns_at_most(points: int, dimension: int) -> int:
    """Sauer, Shelah, Perles: a class of VC dimension ``d`` has at most ``sum over i <= d of C(n, i)`` patterns."""
    if dimension >= points:
        return 1 << points
    return sum(math.comb(points, i) for i in range(dimension + 1))
