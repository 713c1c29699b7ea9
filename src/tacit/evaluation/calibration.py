"""Calibration from noisy counts: groups of score cells, their gaps, and the expected calibration error.

A gap is what a group holds in positives minus what its probabilities promise. Noise and chance make gaps larger on
average, never smaller; their size is known, and taken off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import ndtr

from tacit.arrays import Floats
from tacit.evaluation.measure_scores import ScoreCounts

MOST_GROUPS = 15
CLEAR = 8.0
"""A group of cells should hold this many standard deviations of noise in rows; otherwise there are fewer groups."""


@final
@dataclass(frozen=True, eq=False)
class Groups:
    """Ranges of score cells that hold about equally many rows; chosen from released counts."""

    members: Floats  # 0/1, shape `(groups, cells)`

    def gaps(self, counts: Floats, chances: Floats) -> Floats:
        """Positives minus promised positives by group, shape ``(..., groups)``."""
        residual = counts[..., 1] - chances * counts.sum(axis=-1)
        gaps: Floats = residual @ self.members.T
        return gaps

    def sizes(self, counts: Floats) -> Floats:
        """Rows by group."""
        sizes: Floats = counts.sum(axis=-1) @ self.members.T
        return sizes


def equal_groups(counts: ScoreCounts) -> Groups:
    """At most 15 groups of about equal size, fewer where noise is large."""
    likely = counts.likely.sum(axis=1)
    total = float(likely.sum())
    noise = float(counts.sd_of(np.ones(len(likely)))) * np.sqrt(2.0)
    most = MOST_GROUPS if noise == 0 else int(np.clip(total / (CLEAR * noise), 1, MOST_GROUPS))
    share = (np.cumsum(likely) - likely / 2) / max(total, 1.0)
    group = np.minimum((share * most).astype(np.int64), most - 1)
    groups = np.unique(group)
    return Groups((group[None, :] == groups[:, None]).astype(np.float64))


def gap_spreads(counts: ScoreCounts, groups: Groups, chances: Floats) -> Floats:
    """Standard deviation of every gap, from noise and from chance, in a calibrated world."""
    noise = np.hypot(counts.sd_of(groups.members * (1.0 - chances)), counts.sd_of(groups.members * chances))
    chance = groups.members @ (counts.likely.sum(axis=1) * chances * (1.0 - chances))
    spread: Floats = np.sqrt(noise**2 + chance)
    return spread


def folded_mean(size: Floats, sd: Floats) -> Floats:
    """``E |N(size, sd**2)|``."""
    safe = np.maximum(sd, 1e-12)
    ratio = size / safe
    figure: Floats = safe * np.sqrt(2 / np.pi) * np.exp(-0.5 * ratio**2) + size * (2.0 * ndtr(ratio) - 1.0)
    return figure


def unfolded(sizes: Floats, sd: Floats) -> Floats:
    """The true sizes whose noisy sizes would on average be ``sizes``; 0 where none would be as small."""
    low, high = np.zeros_like(sizes), np.abs(sizes).copy()
    for _ in range(40):
        middle = (low + high) / 2
        above = folded_mean(middle, sd) > np.abs(sizes)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.where(np.abs(sizes) <= sd * np.sqrt(2 / np.pi), 0.0, (low + high) / 2)


def expected_error(gaps: Floats, spreads: Floats, total: Floats) -> Floats:
    """The expected calibration error: mean size of a gap per row, with noise and chance taken off.

    ``gaps`` have shape ``(..., groups)``, ``spreads`` ``(groups,)``, and ``total``, of rows, ``(...)``.
    """
    sizes = unfolded(gaps, np.broadcast_to(spreads, gaps.shape))
    figure: Floats = np.clip(sizes.sum(axis=-1) / np.maximum(total, 1.0), 0.0, 1.0)
    return figure


def with_gaps(counts: ScoreCounts, groups: Groups, chances: Floats, gaps: Floats) -> Floats:
    """Counts with the likely scores and exactly these gaps: a world to draw from, shape ``(cells, 2)``."""
    likely = counts.likely.sum(axis=1)
    rate = gaps / np.maximum(groups.members @ likely, 1.0)
    chance = np.clip(chances + rate @ groups.members, 0.0, 1.0)
    return np.stack([likely * (1.0 - chance), likely * chance], axis=1)


def plausible_errors(
    signs: Floats, observed: float, sizes: Floats, spreads: Floats, errors: Floats, ends: tuple[float, float]
) -> tuple[float, float]:
    """The least and the most total of true gaps (in rows) under which the observed total of gaps is plausible.

    Totals are tested one by one against drawn errors, shape ``(times, groups)``. True gaps are spread over the groups
    as estimated for the least total, and for the most total in the way that shows least: in proportion to the noise.
    ``signs`` are those of the observed gaps; ``ends`` the two tail probabilities, counted from below.
    """
    hidden = signs * spreads / max(float(spreads.sum()), 1e-12)
    sizes_with_signs = signs * sizes / sizes.sum() if sizes.sum() > 0 else hidden

    def quantile(total: float, direction: Floats, level: float) -> float:
        return float(np.quantile(np.abs(total * direction + errors).sum(axis=1), level))

    most = 2.0 * observed + 4.0 * float(spreads.sum()) + 1.0
    low = _crossing(lambda total: quantile(total, sizes_with_signs, ends[1]), observed, most)
    high = _crossing(lambda total: quantile(total, hidden, ends[0]), observed, most)
    return low, high


def _crossing(rising: Callable[[float], float], level: float, most: float) -> float:
    """Where a rising function reaches ``level``: 0 if it starts above, ``most`` if it stays below."""
    if rising(0.0) >= level:
        return 0.0
    low, high = 0.0, most
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) >= level else (middle, high)
    return high
