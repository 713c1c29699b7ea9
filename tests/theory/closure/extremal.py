"""Classes that show bounds of the closure paper to be tight (Alon, Beimel, Moran, Stemmer 2020, section 4.1)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bytes
from tacit.theory.closure.witnesses import MistakeTree, threshold_class


def threshold_blocks(count: int, size: int) -> list[Bytes]:
    """The example after Prop. 4.3: ``count`` classes of threshold dimension ``size`` whose union has the product.

    They are consecutive rows of the thresholds on ``count * size`` points. (The paper's text writes Ldim where it
    speaks of the threshold dimension: the union's Littlestone dimension is only ``floor(log2(count * size))``.)
    """
    whole = threshold_class(count * size)
    return [whole[i * size : (i + 1) * size] for i in range(count)]


def hamming_balls(first: int, second: int, points: int) -> tuple[Bytes, Bytes]:
    """Prop. 4.2 is tight: at most ``first`` ones, or at least ``points - second``; the union attains the bound.

    Raises:
        ValueError: if ``points < first + second + 1``.
    """
    if points < first + second + 1:
        raise ValueError(f"at least {first + second + 1} points are needed, got {points}")
    return _ball(points, first), 1 - _ball(points, second)


def _ball(points: int, radius: int) -> Bytes:
    sets = [chosen for size in range(radius + 1) for chosen in combinations(range(points), size)]
    out = np.zeros((len(sets), points), np.uint8)
    for row, chosen in enumerate(sets):
        out[row, list(chosen)] = 1
    return out


def copies_with_patterns(matrix: npt.ArrayLike, count: int) -> list[Bytes]:
    """Prop. 4.3, lower bound: ``2^floor(log2 count)`` copies of a class, each with one pattern on that many new points.

    Each copy has the dimension of the class; their union has ``floor(log2 count)`` more.
    """
    table = np.asarray(matrix, np.uint8)
    extra = count.bit_length() - 1
    copies = []
    for pattern in range(1 << extra):
        tail = np.array([pattern >> j & 1 for j in range(extra)], np.uint8)
        copies.append(np.hstack([table, np.broadcast_to(tail, (len(table), extra))]))
    return copies


def tree_of_copies(tree: MistakeTree, points: int, hypotheses: int, count: int) -> MistakeTree:
    """Figure 1: the mistake tree of the union of so many :func:`copies_with_patterns`, stacked in their order.

    ``tree`` is one of the class itself, of so many hypotheses over so many points.
    """
    extra = count.bit_length() - 1

    def shifted(node: MistakeTree, offset: int) -> MistakeTree:
        if node.zero is None or node.one is None:
            assert node.hypothesis is not None
            return MistakeTree(hypothesis=node.hypothesis + offset)
        return MistakeTree(node.point, shifted(node.zero, offset), shifted(node.one, offset))

    def top(level: int, pattern: int) -> MistakeTree:
        if level == extra:
            return shifted(tree, pattern * hypotheses)
        return MistakeTree(points + level, top(level + 1, pattern), top(level + 1, pattern | 1 << level))

    return top(0, 0)


def random_pairs(bound: int, generator: np.random.Generator) -> Bytes:
    """Theorem 2.2, lower bound: ``2 m`` random functions on ``m = 2^floor(t/5)`` points, with thresholds as ORs of two.

    Rows ``i`` and ``m + i`` are 0 right of ``i``; left of it, position by position, a fair coin says which of the two
    is 1. So their OR is 1 exactly on ``0 .. i``. With positive probability the class has threshold dimension at most t;
    draw until it does.
    """
    size = 1 << (bound // 5)
    lower = np.tri(size, dtype=np.uint8)
    coins = generator.integers(0, 2, (size, size), dtype=np.uint8)
    return np.vstack([lower * coins, lower * (1 - coins)])


def pairwise(matrix: npt.ArrayLike) -> Bytes:
    """The ORs of any two functions of a class ``(functions, points)``, in that shape without duplicates."""
    table = np.asarray(matrix, np.uint8)
    return np.unique((table[:, None, :] | table[None, :, :]).reshape(-1, table.shape[1]), axis=0)
