"""How many rows a released halfspace gets wrong, by counts of its own, and how long a public code of it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.curator.curator import Curator
from tacit.halfspaces.calibration import Calibration
from tacit.halfspaces.plan import Options
from tacit.halfspaces.rounding import rounded
from tacit.halfspaces.scaling import Scaling
from tacit.models.evidence import CountedErrors
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.queries.dense.halfspace_log import HalfspaceLog, Levels, MarginCounts
from tacit.theory.halfspace_code import CODE


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
