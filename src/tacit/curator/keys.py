"""The verb ``keys``: values nobody declared, with noisy counts, if enough rows hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.curator.scale import integer_noise, integer_scale, noise_sd
from tacit.noise.source import NoiseSource
from tacit.privacy.charges import ApproxDP, Charge, Gaussian, Laplace, NonPrivate
from tacit.privacy.label import Label
from tacit.privacy.ledger import Reservation
from tacit.queries.keys import KEY_UNIT, KeyCounts, gaussian_tail, laplace_tail


@dataclass(frozen=True, eq=False)
class Keys:
    """What a count of keys lets out.

    Attributes:
        label: what was counted, for people.
        keys: the keys whose noisy count reached the threshold, the largest count first.
        counts: their noisy counts, in rows.
        sd: standard deviation of the noise in each.
        threshold: in rows.
        charge: what the counts cost; the keys themselves cost ``ApproxDP(0, delta)`` on top.
        delta: probability that a key of one unit alone is seen.
        theorem: the claim it stands on.
    """

    label: str
    keys: tuple[str, ...]
    counts: Floats
    sd: float
    threshold: float
    charge: Charge
    delta: float
    theorem: str


def release_keys(
    codes: Ints,
    texts: Sequence[str],
    reservation: Reservation,
    noise: NoiseSource,
    charge: Charge,
    delta: float,
    label: Label | str,
    rows_per_unit: int = 1,
) -> Keys:
    """Counts keys: validate, charge, aggregate, add noise, release what reaches the threshold.

    Guarantee: the composition of ``charge`` and ``ApproxDP(0, delta)``; see :class:`tacit.queries.keys.KeyCounts`.

    Args:
        codes: the key of every row, below 0 for none.
        texts: the text of every code.
        reservation: the budget, already durable; must hold ``charge`` and ``ApproxDP(0, delta)``.
        noise: where noise comes from.
        charge: ``Gaussian`` or ``Laplace`` for the counts, or ``NonPrivate`` for exact counts of all keys.
        delta: sets the threshold; positive.
        label: what this is, for the ledger.
        rows_per_unit: how many rows of one unit ``codes`` may hold.

    Raises:
        BudgetExceeded: if the reservation does not cover it; nothing is read then.
        ValueError: if delta is 0.
    """
    if not isinstance(charge, Gaussian | Laplace | NonPrivate):
        raise TypeError(f"keys takes a Gaussian, Laplace or NonPrivate charge, got {type(charge).__name__}")
    label = Label.of(label)
    sensitivity = KeyCounts().sensitivity(reservation.neighbouring).times(rows_per_unit)
    if isinstance(charge, NonPrivate):
        reservation.record(charge, label, sensitivity.theorem)
        exact, present = _counts(codes, texts)
        return _kept(label.text, present, exact, 1, 0.0, charge, 0.0, sensitivity.theorem)
    scale = integer_scale(charge, sensitivity)
    tail = partial(gaussian_tail if isinstance(charge, Gaussian) else laplace_tail, scale)
    threshold = KeyCounts.threshold(delta, tail, rows_per_unit)
    reservation.record(charge, label.with_text(f"{label}: counts"), sensitivity.theorem)
    reservation.record(ApproxDP(0.0, delta), label.with_text(f"{label}: which are there"), sensitivity.theorem)
    exact, present = _counts(codes, texts)
    noisy = exact + integer_noise(noise, charge, scale, len(exact))
    sd = noise_sd(charge, scale) / KEY_UNIT
    return _kept(label.text, present, noisy, threshold, sd, charge, delta, sensitivity.theorem)


def _counts(codes: Ints, texts: Sequence[str]) -> tuple[Ints, list[str]]:
    """Exact counts of the keys that some row holds: one that only dropped rows hold must have no chance at all."""
    rows = np.bincount(codes[codes >= 0], minlength=len(texts)).astype(np.int64)
    held = np.flatnonzero(rows > 0).tolist()
    return KEY_UNIT * rows[held], [texts[code] for code in held]


def _kept(
    label: str,
    texts: Sequence[str],
    counts: Ints,
    threshold: int,
    sd: float,
    charge: Charge,
    delta: float,
    theorem: str,
) -> Keys:
    """The order is that of noisy counts, then of texts: the order of the rows must not show."""
    pairs = zip(counts.tolist(), texts, strict=True)
    seen = sorted((-count, text) for count, text in pairs if count >= threshold)
    kept = tuple(text for _, text in seen)
    values = np.array([-count / KEY_UNIT for count, _ in seen], np.float64)
    return Keys(label, kept, values, sd, threshold / KEY_UNIT, charge, delta, theorem)
