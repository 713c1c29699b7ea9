"""A measurement, which the curator lets out, and the scale of integer noise that a charge allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.arrays import Floats, Ints
from tacit.noise.source import NoiseSource
from tacit.privacy.charges import Charge, Gaussian, Laplace
from tacit.queries.query import Sensitivity

LATTICE_SLACK = 9.0
"""An integer Gaussian of scale sigma > 3 is dominated by the continuous one of variance ``sigma**2 - 9``
(docs/theory/sensitivities.md, section 0; searched in tests/privacy/test_dominance.py): asking for multiplier z
therefore takes ``sigma**2 = (z D)**2 + 9`` integer units."""


def integer_scale(charge: Gaussian | Laplace, sensitivity: Sensitivity) -> float:
    """The scale of integer noise, in integer units, that costs at most ``charge`` at this sensitivity."""
    if isinstance(charge, Gaussian):
        return math.nextafter(math.sqrt((charge.noise_multiplier * sensitivity.l2) ** 2 + LATTICE_SLACK), math.inf)
    return math.nextafter(charge.noise_multiplier * sensitivity.l1, math.inf)


def integer_noise(noise: NoiseSource, charge: Gaussian | Laplace, scale: float, size: int) -> Ints:
    """Independent draws of the noise that ``charge`` is the charge of, at a scale in integer units."""
    return (noise.gaussian if isinstance(charge, Gaussian) else noise.laplace)(scale, size)


def noise_sd(charge: Charge, scale: float) -> float:
    """Standard deviation of noise of this scale: the scale of a Gaussian, ``sqrt(2)`` of that of a Laplace law."""
    return scale * (1.0 if isinstance(charge, Gaussian) else math.sqrt(2.0))


LEAST_SD = 0.5
"""Noise is thought to be at least half a row: without it (``epsilon=inf``) a posterior would divide by zero."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """A released answer with all that is known about its noise."""

    label: str  # what was measured, for people
    value: Floats  # the noisy answer in natural units (1.0 = a full-weight row), shape as the query says
    sd: float  # standard deviation of the noise in each coordinate, natural units; 0 where no privacy was asked for
    charge: Charge  # what it cost
    theorem: str  # the sensitivity claim it stands on
