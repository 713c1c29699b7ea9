"""How many rows a released halfspace gets wrong, by counts of its own, and how long a public code of it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.curator.curator import Curator
from tacit.halfspaces.calibration import Calibration
from tacit.halfspaces.plan import Options
from tacit.halfspaces.scaling import Scaling
from tacit.models.evidence import CountedErrors
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.queries.dense.halfspace_log import VECTOR_NORM, HalfspaceLog, Levels, MarginCounts
from tacit.theory.certified_error import CODE


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
        frequencies = np.bincount(CODE.shapes(integers), minlength=CODE.n_shapes) + CODE.concentration
        nats = -np.log(frequencies / frequencies.sum())
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


@dataclass(frozen=True, eq=False)
class Plain:
    """A halfspace through 0 of few digits, and its scores to log-odds, which cross one half where the score is 0.

    Integers are multiplied by a power of 2, so that the sign of a product with a row is exact.
    """

    integers: Ints
    unit: float
    calibration: Calibration

    @property
    def weights(self) -> Floats:
        """Shape ``(d,)``, over rows of norm at most 1."""
        return self.integers * np.float64(self.unit)


def plain_halfspace(weights: Floats, calibration: Calibration, scaling: Scaling, options: Options) -> Plain:
    """The halfspace of few digits next to a learned one: its offset goes into the weight of the constant coordinate.

    Released moments of the rows (``scaling``) say which digits change no score, and are left out.
    """
    constant = options.constant
    squares, mean, weights = scaling.variances.copy(), scaling.mean, weights.copy()
    if constant:
        weights[-1] += calibration.offset / (calibration.slope * constant)
    else:
        squares += mean**2
    integers = rounded(weights, squares, mean, constant, options.tuning.rounding_price * len(weights))
    longest = float(np.linalg.norm(integers))
    if longest == 0:
        return Plain(integers, 1.0, Calibration(calibration.slope, 0.0))
    ratio = float(np.linalg.norm(weights)) / longest
    unit = 2.0 ** round(math.log2(ratio))
    return Plain(integers, unit, Calibration(calibration.slope * ratio / unit, 0.0))


def count_errors(curator: Curator, plain: Plain, radius: int, charge: Charge) -> CountedErrors:
    """Releases the rows by side and class.

    A row on the boundary is told the first class, as by the model: the other way round, it is on the side of margins
    that are not negative. ``radius`` is the integer length of a row of norm 1.
    """
    log = HalfspaceLog(len(plain.integers), radius)
    log.add_sign(-plain.integers)
    query = MarginCounts(log, Levels.covering(1.0, 2))
    release = curator.measure(query, charge, Label(Stage.CALIBRATION, "rows by side and class"))
    (told_1_is_0, told_1_is_1), (told_0_is_0, told_0_is_1) = release.value
    wrong, right = float(told_1_is_0 + told_0_is_1), float(told_1_is_1 + told_0_is_0)
    return CountedErrors(wrong, right, 2, 2, release.sd, CODE.log_halfspaces(plain.integers))
