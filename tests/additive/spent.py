"""How much of a request a certificate's entries add up to."""

from __future__ import annotations

from typing import Any

from tacit.privacy.budget import Allowance
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Repeated


def share_spent(certificate: Certificate) -> float:
    """The sum of the entries' charges over what the request buys."""
    total = 0.0
    for entry in certificate.entries:
        charge: Any = entry.charge
        times, one = (charge.times, charge.charge) if isinstance(charge, Repeated) else (1, charge)
        total += times * (one.epsilon if certificate.delta == 0 else one.precision)
    whole = certificate.epsilon
    return total / (whole if certificate.delta == 0 else Allowance.of(whole, certificate.delta).mu ** 2)
