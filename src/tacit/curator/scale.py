"""The scale of integer noise that a charge allows."""

from __future__ import annotations

import math

from tacit.privacy.charges import Gaussian, Laplace
from tacit.queries.sensitivity import Sensitivity

LATTICE_SLACK = 9.0
"""An integer Gaussian of scale sigma > 3 is dominated by the continuous one of variance ``sigma**2 - 9``
(docs/theory/sensitivities.md, section 0; searched in tests/privacy/test_dominance.py): asking for multiplier z
therefore takes ``sigma**2 = (z D)**2 + 9`` integer units."""


def integer_scale(charge: Gaussian | Laplace, sensitivity: Sensitivity) -> float:
    """The scale of integer noise, in integer units, that costs at most ``charge`` at this sensitivity."""
    if isinstance(charge, Gaussian):
        return math.nextafter(math.sqrt((charge.noise_multiplier * sensitivity.l2) ** 2 + LATTICE_SLACK), math.inf)
    return math.nextafter(charge.noise_multiplier * sensitivity.l1, math.inf)
