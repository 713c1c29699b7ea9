"""A measurement: what the curator lets out."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.arrays import Floats
from tacit.privacy.charges import Charge

LEAST_SD = 0.5
"""Noise is thought to be at least half a row: without it (``epsilon=inf``) a posterior would divide by zero."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """A released answer with all that is known about its noise.

    Attributes:
        label: what was measured, for people.
        value: the noisy answer in natural units (1.0 = a full-weight row), shape as the query says.
        sd: standard deviation of the noise in each coordinate, natural units; 0 where no privacy was asked for.
        charge: what it cost.
        theorem: the sensitivity claim it stands on.
    """

    label: str
    value: Floats
    sd: float
    charge: Charge
    theorem: str
