"""The smooth function of all columns as a graph: random Fourier features of their bins, with the same roundings."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.export.expression import Expression, Number, Sum, call, take
from tacit.models.fourier_features import ANGLE_BITS, LENGTH, TURN, FourierTerm

ANGLES = 1 << ANGLE_BITS


def smooth_scores(term: FourierTerm, codes: Sequence[Expression]) -> list[Expression]:
    """What it adds to each score.

    A cosine is computed and then cut to an integer as the table of the model is: none of the angles has one so near to
    an integer that the last bit of a library's cosine could decide.
    """
    own = [codes[column] for column in term.features.columns]
    angles = [_angle([table[:, pair] for table in term.features.phases], own) for pair in range(term.features.pairs)]
    vector = [call("truncate", call(name, angle) * float(LENGTH)) for name in ("cos", "sin") for angle in angles]
    weights = np.atleast_2d(term.weights.T) / term.features.unit
    return [
        Sum(tuple(entry * weight for entry, weight in zip(vector, of_score.tolist(), strict=True)))
        for of_score in weights
    ]


def _angle(phases: Sequence[object], codes: Sequence[Expression]) -> Expression:
    """The angle of a sum of phases, of which whole turns do not count."""
    total = Sum(tuple(take(phase, code) for phase, code in zip(phases, codes, strict=True)))
    phase = total - call("truncate", total * (1.0 / TURN)) * float(TURN)
    place = call("truncate", phase * (ANGLES / TURN))
    return (place + Number(0.5)) * (2.0 * math.pi / ANGLES)
