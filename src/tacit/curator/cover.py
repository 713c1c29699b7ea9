"""The verb ``cover``: a whole run of EM-cover. Only the chosen rules leave."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.noise.checks import check_scale
from tacit.noise.source import NoiseSource
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import Reservation
from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.cover import Cover, CoverStep
from tacit.queries.cover_charges import Accounting, cover_charge, theorem
from tacit.table.protocol import SealedTable


@dataclass(frozen=True)
class Covering:
    """What a cover lets out.

    Attributes:
        label: what was chosen, for people.
        rules: pairs (conjunction, class) in the order of choice; a constant rule ends them.
        idle: in how many steps "no rule" was chosen.
        charge: what it cost.
        theorem: the claim it stands on.
    """

    label: str
    rules: tuple[tuple[int, int], ...]
    idle: int
    charge: Charge
    theorem: str


def cover_scale(step: CoverStep) -> float | None:
    """The least float ``s`` with ``1 / s <= step.scale``, at which ``exp(score / s)`` costs at most the step.

    None for a step that takes the best.
    """
    if math.isinf(step.scale):
        return None
    scale = 1.0 / step.scale
    while Fraction(scale) * Fraction(step.scale) < 1:
        scale = math.nextafter(scale, math.inf)
    return check_scale(scale)


def run_cover(
    table: SealedTable,
    reservation: Reservation,
    noise: NoiseSource,
    cover: Cover,
    label: str,
    accounting: Accounting = Accounting.MOMENTS,
    delta: float = 0.0,
    rows_per_unit: int = 1,
) -> Covering:
    """Chooses the rules of a cover: validate, charge the whole run, then choose; see :meth:`Curator.cover`."""
    charge = cover_charge(cover.steps, reservation.neighbouring, accounting, delta, rows_per_unit)
    claim = theorem(accounting, reservation.neighbouring is Neighbouring.REPLACE_ONE)
    scales = [cover_scale(step) for step in cover.steps]
    reservation.record(charge, label, claim)
    rows = table.open_cover(cover.candidates)
    free = np.ones(len(cover.candidates), np.bool_)
    constant = set(cover.candidates.constant.tolist())
    rules: list[tuple[int, int]] = []
    idle = 0
    for step, scale in zip(cover.steps, scales, strict=True):
        left = np.flatnonzero(free)
        if len(left) == 0:
            break
        scores = _scores(rows.counts[left], step, cover.offsets(step)[left], cover.idle_score)
        place = _last_best(scores) if scale is None else noise.exponential(scores, scale)
        if place == len(left) * cover.n_labels:
            idle += 1
            continue
        chosen, said = int(left[place // cover.n_labels]), place % cover.n_labels
        rules.append((chosen, said))
        if chosen in constant:  # no rows are left, whatever the table: the rest is noise
            break
        free[chosen] = False
        rows.remove(chosen)
    return Covering(label, tuple(rules), idle, charge, claim)


def _scores(
    counts: npt.NDArray[np.int64], step: CoverStep, offsets: npt.NDArray[np.int64], idle_score: int | None
) -> npt.NDArray[np.int64]:
    """Scores of all rules, conjunction by conjunction, class by class; "no rule" comes last."""
    covered = counts.sum(axis=1, keepdims=True)
    scores = ((step.reward + step.penalty) * counts - step.penalty * covered + offsets[:, None]).ravel()
    return scores if idle_score is None else np.append(scores, np.int64(idle_score))


def _last_best(scores: npt.NDArray[np.int64]) -> int:
    """The last of the highest scores: among equals "no rule" wins."""
    return len(scores) - 1 - int(scores[::-1].argmax())
