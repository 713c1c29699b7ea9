"""A learned halfspace as one of few: integers with few binary digits."""

from __future__ import annotations

import math

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.queries.dense.halfspace_log import VECTOR_NORM
from tacit.theory.halfspace_code import CODE


def rounded(weights: Floats, squares: Floats, mean: Floats, constant: float, price: float) -> Ints:
    """Integers in proportion to ``weights``, but for what rows do not tell, that ``CODE`` says in few nats.

    Every weight takes the number of digits that is cheapest: ``price`` per unit of variance that the change of its
    weight gives to scores, in units of the variance that they have, and the nats of its shape and digits, in four
    passes, the first with shapes of equal probability. What the change of the others does to the mean score the weight
    of the constant takes in, where there is one.

    Args:
        weights: shape ``(d,)``.
        squares: variances of coordinates, shape ``(d,)``; of the constant coordinate, its square counts.
        mean: means of coordinates, shape ``(d,)``.
        constant: value of the last coordinate if it is the same in all rows, else 0.
        price: nats per unit of relative variance.

    Returns:
        Integers of length at most :data:`~tacit.queries.dense.halfspace_log.VECTOR_NORM`, all 0 only for weights of 0.
    """
    length = float(np.linalg.norm(weights))
    if length == 0:
        return np.zeros(len(weights), np.int64)
    scaled = weights * (VECTOR_NORM / 2 / length)
    free = slice(None, -1) if constant else slice(None)
    spread = float(squares[free] @ scaled[free] ** 2) or 1.0
    choices = np.stack([_with_digits(scaled, digits) for digits in range(CODE.digits + 1)])
    costs = price * squares / spread * (choices - scaled) ** 2
    nats = np.full(CODE.n_shapes, math.log(CODE.n_shapes))
    for _ in range(4):
        shapes = CODE.shapes(choices)
        chosen = np.argmin(costs + nats[shapes] + CODE.tail_nats(shapes), axis=0)
        integers: Ints = choices[chosen, np.arange(len(weights))].astype(np.int64)
        found = np.bincount(CODE.shapes(integers), minlength=CODE.n_shapes) + CODE.concentration
        nats = -np.log(found / found.sum())
    if constant:
        moved = float(mean[:-1] @ (scaled[:-1] - integers[:-1])) / constant
        integers[-1] = int(_with_digits(np.array([scaled[-1] + moved]), CODE.digits)[0])
    if not integers.any():
        most = int(np.argmax(np.abs(scaled)))
        integers[most] = int(_with_digits(scaled[most : most + 1], 1)[0])
    return integers


def _with_digits(values: Floats, digits: int) -> Floats:
    """Rounded to so many binary digits, and to integers below ``2**15``; 0 for none."""
    if digits == 0:
        return np.zeros(len(values))
    _, exponents = np.frexp(values)
    steps = np.exp2(np.maximum(exponents - digits, 0))
    most = 2.0 ** (CODE.places - 1)
    nearest: Floats = np.clip(np.rint(values / steps) * steps, -most, most)
    return nearest
