"""The verb ``keys``: values nobody declared, with noisy counts, if enough rows hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.curator.gate import Gate, Question
from tacit.curator.measurement import integer_noise, integer_scale, noise_sd
from tacit.privacy.charges import ApproxDP, Charge, Gaussian, Laplace, NonPrivate
from tacit.privacy.label import Label
from tacit.queries.keys import KEY_UNIT, KeyCounts, gaussian_tail, laplace_tail


@final
@dataclass(frozen=True)
class KeyThreshold:
    """What a noisy count must reach for its key to be seen, in integer units, and how likely one unit alone does."""

    threshold: int
    delta: float


@dataclass(frozen=True, eq=False)
class Keys:
    """What a count of keys lets out."""

    label: str  # what was counted, for people
    keys: tuple[str, ...]  # the keys whose noisy count reached the threshold, the largest count first
    counts: Floats  # their noisy counts, in rows
    sd: float  # standard deviation of the noise in each
    threshold: float  # in rows
    charge: Charge  # what the counts cost; the keys themselves cost `ApproxDP(0, delta)` on top
    delta: float  # probability that a key of one unit alone is seen
    theorem: str  # the claim it stands on


def release_keys(
    codes: Ints, texts: Sequence[str], gate: Gate, charge: Charge, delta: float, label: Label | str
) -> Keys:
    """Counts keys: validate, charge, aggregate, add noise, release what reaches the threshold.

    Guarantee: the composition of ``charge`` and ``ApproxDP(0, delta)``; see :class:`tacit.queries.keys.KeyCounts`.

    Raises:
        BudgetExceeded: if the reservation does not cover it; nothing is read then.
        ValueError: if delta is 0.
    """
    if not isinstance(charge, Gaussian | Laplace | NonPrivate):
        raise TypeError(f"keys takes a Gaussian, Laplace or NonPrivate charge, got {type(charge).__name__}")
    label = Label.of(label)
    moved = KeyCounts().sensitivity(gate.reservation.neighbouring).times(gate.rows_per_unit)
    if isinstance(charge, NonPrivate):
        gate.reservation.record(charge, label, moved.theorem)
        scale, threshold, delta = 0.0, 1, 0.0
    else:
        scale = integer_scale(charge, moved)
        tail = partial(gaussian_tail if isinstance(charge, Gaussian) else laplace_tail, scale)
        threshold = KeyCounts.threshold(delta, tail, gate.rows_per_unit)
        gate.reservation.record(charge, label.with_text(f"{label}: counts"), moved.theorem)
        gate.reservation.record(ApproxDP(0.0, delta), label.with_text(f"{label}: which are there"), moved.theorem)
    limit, words = KeyThreshold(threshold, delta), f"keys of at least {threshold}"
    question = Question("keys", limit, charge, label, moved, scale, words, gate.rows_per_unit)

    def noisy() -> list[dict[str, int]]:
        exact, present = _counts(codes, texts)
        noise = None if isinstance(charge, NonPrivate) else integer_noise(gate.noise, charge, scale, len(exact))
        gate.drawn(question, dict(zip(present, exact.tolist(), strict=True)), noise)
        counts = exact if noise is None else exact + noise
        return [{text: count for text, count in zip(present, counts.tolist(), strict=True) if count >= threshold}]

    [counts] = gate.witness.release(gate.reservation, [question], noisy)
    # the order is that of noisy counts, then of texts: the order of the rows must not show
    ranking = sorted((-count, text) for text, count in counts.items())
    values = np.array([-count / KEY_UNIT for count, _ in ranking], np.float64)
    names, sd = tuple(text for _, text in ranking), noise_sd(charge, scale) / KEY_UNIT
    return Keys(label.text, names, values, sd, threshold / KEY_UNIT, charge, delta, moved.theorem)


def _counts(codes: Ints, texts: Sequence[str]) -> tuple[Ints, list[str]]:
    """Exact counts of the keys that some row holds: one that only dropped rows hold must have no chance at all."""
    rows = np.bincount(codes[codes >= 0], minlength=len(texts)).astype(np.int64)
    present = np.flatnonzero(rows > 0).tolist()
    return KEY_UNIT * rows[present], [texts[code] for code in present]
