"""Streams with a known target: sparse halfspaces, decision lists, and the point functions of the lower bound.

A stream is its points, signs of shape ``(rounds, dimension)``, and their labels, ``(rounds,)``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt


def uniform_points(generator: np.random.Generator, rounds: int, dimension: int) -> npt.NDArray[np.int8]:
    """Rows of independent fair signs, shape ``(rounds, dimension)``."""
    return (2 * generator.integers(0, 2, (rounds, dimension), dtype=np.int8) - 1).astype(np.int8)


def majority_stream(
    generator: np.random.Generator, rounds: int, dimension: int, k: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Labels are the majority of ``k`` (odd) random coordinates: a halfspace of margin ``1 / k``."""
    points = uniform_points(generator, rounds, dimension)
    chosen = generator.choice(dimension, k, replace=False)
    return points, np.where(points[:, chosen].sum(axis=1, dtype=np.int64) > 0, 1, -1).astype(np.int8)


def drifting_stream(
    generator: np.random.Generator, rounds: int, dimension: int, k: int, targets: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Several majorities of ``k`` coordinates, one after another, for ``rounds // targets`` rounds each.

    Every second one is the majority of the target before it, turned round; the others are new.
    """
    points = uniform_points(generator, rounds, dimension)
    labels = np.zeros(rounds, np.int8)
    for turn, part in enumerate(np.array_split(np.arange(rounds), targets)):
        if turn % 2 == 0:
            chosen = generator.choice(dimension, k, replace=False)
        sums = points[np.ix_(part, chosen)].sum(axis=1, dtype=np.int64)
        labels[part] = np.where(sums > 0, 1, -1) * (1 - 2 * (turn % 2))
    return points, labels


def disjunction_stream(
    generator: np.random.Generator, rounds: int, dimension: int, k: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Labels are the disjunction of ``k`` coordinates: with a constant, a halfspace of margin ``1 / (2k - 1)``."""
    points = uniform_points(generator, rounds, dimension)
    chosen = generator.choice(dimension, k, replace=False)
    return points, np.where((points[:, chosen] > 0).any(axis=1), 1, -1).astype(np.int8)


def list_stream(
    generator: np.random.Generator, rounds: int, dimension: int, bits: tuple[int, ...]
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Labels are "if l1 then bits[0], else if ... else bits[-1]" over random literals."""
    points = uniform_points(generator, rounds, dimension)
    chosen = generator.choice(dimension, len(bits) - 1, replace=False)
    signs = 2 * generator.integers(0, 2, len(chosen)) - 1
    labels = np.full(rounds, bits[-1], np.int8)
    for place in reversed(range(len(chosen))):
        labels[points[:, chosen[place]] == signs[place]] = bits[place]
    return points, labels


def classes_stream(
    generator: np.random.Generator, rounds: int, dimension: int, classes: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int16]]:
    """Labels, 0 to ``classes - 1``, name the first of ``classes - 1`` coordinates that is 1; the last class if none is.

    A halfspace per class: class ``c`` counts its coordinate ``2**-c`` for it and the last class a constant, scaled to
    sum 1.
    """
    points = uniform_points(generator, rounds, dimension)
    chosen = generator.choice(dimension, classes - 1, replace=False)
    result = np.concatenate([points[:, chosen] > 0, np.ones((rounds, 1), np.bool_)], axis=1)
    return points, result.argmax(axis=1).astype(np.int16)


def point_function_stream(
    generator: np.random.Generator, rounds: int, share: float | None = None
) -> Iterator[tuple[int, int]]:
    """A stream for point functions, in the manner of the lower bound of Cohen and others (2024) that section 4.4 uses.

    The target is one point; rounds without it bring points that never come again. One look at the target must not
    change a private learner, so it errs on it until it has come often enough, while saying "target" of points it has
    not seen errs on the others: ``Omega(log T)`` mistakes are needed by any private learner, and one without privacy.

    Args:
        generator: decides which point is the target, and the order of the others.
        rounds: ``T``.
        share: None for a target that comes at rounds 1, 2, 4, 8, ..., at scales that no learner knows beforehand: a
            learner that never sees it coming errs ``1 + log2 T`` times. A number in (0, 1) for a target that comes
            with this probability in every round: never learning it costs a share of all rounds.

    Yields:
        ``rounds`` pairs of a point of ``0 .. rounds - 1`` and its label: 1 for the target, -1 for all others.
    """
    order = generator.permutation(rounds)
    others = iter(order[1:])
    for t in range(1, rounds + 1):
        comes = t & (t - 1) == 0 if share is None else t == 1 or generator.random() < share
        if comes:
            yield int(order[0]), 1
        else:
            yield int(next(others)), -1


def point_rows(points: npt.ArrayLike, dimension: int) -> npt.NDArray[np.int8]:
    """The embedding of section 4.4, shape ``(points, dimension)``: all ones but for a -1 at the point.

    The target's unit vector is a halfspace of margin 1 whose sign is *minus* the label of the point function.
    """
    where = np.asarray(points)
    rows = np.ones((len(where), dimension), np.int8)
    rows[np.arange(len(where)), where] = -1
    return rows
