"""What residuals of a number look like, from noisy counts: a mixture of public shapes. Post-processing only."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from tacit.additive.tuning import OUTLINES
from tacit.arrays import Floats
from tacit.queries.rules import MARGIN_BITS

ONE = 1 << MARGIN_BITS
LADDER = 2.0 ** (np.arange(-12, 9) / 2)
"""Edges of the histogram of residuals, on both sides of 0, in units of the score: 1/64 to 16."""

SCALES = 2.0 ** (np.arange(-12, 6) / 2)
POINTS = 8
"""Not tuned, of the arithmetic: places within a cell of the histogram that its rows are spread over."""


def residual_edges() -> Floats:
    """The edges of the histogram; the outermost cells are open."""
    return np.concatenate([-LADDER[::-1], [0.0], LADDER])


@lru_cache(maxsize=1)
def first_belief() -> Floats:
    """Log prior of the shapes, shape ``(shapes,)``: decides only where noise hides the counts."""
    each = len(OUTLINES.centres) * 3 + 2
    belief = np.repeat(-0.5 * (np.log(SCALES / OUTLINES.expected) / math.log(OUTLINES.factor)) ** 2, each)
    belief.flags.writeable = False
    return belief


@lru_cache(maxsize=1)
def _shapes() -> Floats:
    """Shares of the cells under every shape, shape ``(shapes, cells)``: normal, Laplace, heavy-tailed, one-sided."""
    from scipy import stats  # takes longer to load than all else, and only numbers as labels need it

    edges, lines = residual_edges(), []
    laws, one_sided = (stats.norm, stats.laplace(scale=0.7), stats.t(3, scale=0.7)), stats.gamma(2.0, scale=0.7)
    for scale in SCALES:
        for centre in OUTLINES.centres:
            place = edges / scale - centre
            lines += [np.diff(np.concatenate([[0.0], law.cdf(place), [1.0]])) for law in laws]
        for side in (1, -1):
            upto = one_sided.cdf(side * edges / scale + 1.2)
            upto = upto if side == 1 else 1 - upto
            lines.append(np.diff(np.concatenate([[0.0], upto, [1.0]])))
    table = np.array(lines)
    table.flags.writeable = False
    return table


def residual_shares(counts: Floats, sd: float, belief: Floats, total: float | None = None) -> tuple[Floats, Floats]:
    """Shares of rows by cell: the posterior mean over public shapes, corrected where counts are sure to differ.

    Args:
        counts: noisy counts between :func:`residual_edges`, shape ``(edges + 1,)``.
        sd: standard deviation of their noise; positive.
        belief: log prior of the shapes: :func:`first_belief`, or what the last look left.
        total: number of rows, where more is known of it than the sum of the counts says.

    Returns:
        The shares, and the log prior for the next look.
    """
    shapes, total = _shapes(), max(float(counts.sum()), sd) if total is None else total
    # a shape is never exact: its cells are believed to a tenth of what they hold
    variance = sd**2 + (0.1 * total * shapes) ** 2 + total * shapes
    log_likelihood = -0.5 * ((counts - total * shapes) ** 2 / variance + np.log(variance)).sum(axis=1)
    posterior = log_likelihood + belief
    posterior -= posterior.max()
    weights = np.exp(posterior)
    outline = weights / weights.sum() @ shapes
    away = counts / total - outline
    sure = OUTLINES.sure * np.sqrt(sd**2 + total * outline) / total
    shares = np.maximum(outline + np.sign(away) * np.maximum(np.abs(away) - sure, 0.0), 0.0)
    return np.asarray(shares / shares.sum()), np.maximum(posterior, -OUTLINES.belief)


def spread_out(shares: Floats) -> tuple[Floats, Floats]:
    """Shares as points: every cell's rows uniform within it, open cells closed at twice their edge.

    Returns:
        Residuals and their weights, in increasing order.
    """
    edges = np.concatenate([[-2 * LADDER[-1]], residual_edges(), [2 * LADDER[-1]]])
    inner = (np.arange(POINTS) + 0.5) / POINTS
    values = (edges[:-1, None] + np.diff(edges)[:, None] * inner[None, :]).ravel()
    return values, np.repeat(shares / POINTS, POINTS)
