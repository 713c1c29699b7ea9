"""What leaves say by noisy class counts: proportions drawn to the base rate, and not to one half.

A leaf of few rows is lost in the noise. Shrunk to 1/2, it would call everybody in a sparse region positive, without
any evidence, where the positive class is rare. All of it is post-processing of releases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.arrays import Floats
from tacit.trees.tuning import FORESTS, Forests


def base_rate_of(released: Sequence[tuple[Floats, float]], tuning: Forests = FORESTS) -> float:
    """The positive class's share of all rows, from the noisy class counts of all trees; drawn to 1/2 by their noise."""
    negatives, positives = (float(np.mean([counts[:, k].sum() for counts, _ in released])) for k in (0, 1))
    rows = max(negatives + positives, 1.0)
    noise = math.sqrt(sum(len(counts) * sd**2 for counts, sd in released)) / len(released) / rows
    share = 0.5 + (min(max(positives / rows, 0.0), 1.0) - 0.5) * tuning.base_prior / (tuning.base_prior + noise**2)
    return min(max(share, tuning.least_base), 1.0 - tuning.least_base)


def drawn_to(base: float, counts: Floats, sd: float, tuning: Forests = FORESTS, sampled: bool = True) -> Floats:
    """Proportions of the positive class from noisy class counts, drawn to the base rate; one per leaf.

    The posterior mean given the surplus ``(1 - base) n_1 - base n_0``, and a number of rows. Where the surplus may be
    noise, the number is ``base n_1 + (1 - base) n_0`` over its weight, whose noise is not correlated with it: a leaf of
    no rows is at the base rate on average, whatever noise makes of it. (With counts cut off at 0, noise alone would say
    "half".) Where it is clear, ``n_0 + n_1``. It is not kept in [0, 1]: the mean over trees is.

    Args:
        base: the positive class's share of all rows.
        counts: noisy class counts, or weights, shape ``(leaves, 2)``.
        sd: standard deviation of the noise in one.
        tuning: the numbers of the prior.
        sampled: whether rows are a sample, too; otherwise leaves are drawn by the noise alone.
    """
    weight = base**2 + (1.0 - base) ** 2
    surplus = (1.0 - base) * counts[:, 1] - base * counts[:, 0]
    clear = np.abs(surplus) > tuning.clear * sd * math.sqrt(weight)
    rows = np.where(clear, counts.sum(axis=1), (base * counts[:, 1] + (1.0 - base) * counts[:, 0]) / weight)
    rows = np.maximum(rows, 0.0)
    one_row = base * (1.0 - base)
    prior = one_row / (1.0 + tuning.prior_rows)
    return base + prior * rows * surplus / (prior * rows**2 + rows * one_row * sampled + sd**2 * weight + 1e-12)
