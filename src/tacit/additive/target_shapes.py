"""How a target that is never negative is spread, from noisy counts: a mixture of public shapes. Post-processing only.

Read cell by cell, counts lose the tail where noise hides it, and with it most of the mean. A shape is zeros beside a
log-normal law; targets beyond their upper bound count as that bound.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tacit.additive.tuning import SPREADS
from tacit.arrays import Floats

PARTS = 4
"""Not tuned, of the arithmetic: parts of a doubling in which shapes are drawn."""


@lru_cache(maxsize=4)
def _shapes(octaves: int) -> tuple[Floats, Floats]:
    """Shares of the parts under every shape, shape ``(shapes, 1 + PARTS * octaves)``, and the log prior of each."""
    from scipy.special import ndtr  # takes long to load, and only numbers as labels need it

    edges = -np.log(2.0) * np.arange(PARTS * octaves, 0, -1) / PARTS
    medians = -np.log(2.0) * np.arange(1, 2 * octaves - 2) / 2
    zeros, medians, widths = (
        each.ravel()[:, None] for each in np.meshgrid(SPREADS.zeros, medians, SPREADS.widths, indexing="ij")
    )
    upto = ndtr((edges[None, :] - medians) / widths)
    positive = np.diff(np.concatenate([np.zeros_like(zeros), upto, np.ones_like(zeros)], axis=1), axis=1)
    table = (1 - zeros) * positive
    table[:, :1] += zeros
    means = table @ part_values(octaves)
    prior = -0.5 * (np.log(means / SPREADS.expected) / np.log(SPREADS.factor)) ** 2
    for each in (table, prior):
        each.flags.writeable = False
    return table, prior


def part_values(octaves: int) -> Floats:
    """The middles of the parts, relative to the upper bound, shape ``(1 + PARTS * octaves,)``; the first is 0."""
    return np.concatenate([[0.0], 2.0 ** ((np.arange(-PARTS * octaves, 0) + 0.5) / PARTS)])


def target_shares(counts: Floats, sd: float, total: float) -> Floats:
    """Shares of rows by part: the posterior mean over public shapes, corrected where counts are sure to differ.

    Args:
        counts: noisy counts below the first of the octaves, and in each, the last of which ends at the upper bound;
            shape ``(octaves + 1,)``.
        sd: standard deviation of their noise; positive.
        total: number of rows.
    """
    octaves = len(counts) - 1
    shapes, belief = _shapes(octaves)
    coarse = np.column_stack([shapes[:, 0], shapes[:, 1:].reshape(len(shapes), octaves, PARTS).sum(axis=2)])
    variance = sd**2 + (SPREADS.misfit * total * coarse) ** 2 + total * coarse
    fit = belief - 0.5 * ((counts - total * coarse) ** 2 / variance + np.log(variance)).sum(axis=1)
    weights = np.exp(fit - fit.max())
    fine, outline = weights / weights.sum() @ shapes, weights / weights.sum() @ coarse
    away = counts / total - outline
    sure = SPREADS.sure * np.sqrt(sd**2 + total * outline) / total
    shares = np.maximum(outline + np.sign(away) * np.maximum(np.abs(away) - sure, 0.0), 0.0)
    factors = shares / np.maximum(outline, 1e-12) / shares.sum()
    return np.asarray(fine * np.concatenate([factors[:1], np.repeat(factors[1:], PARTS)]))
