"""What residuals look like, from a noisy histogram: public shapes for the outline, the counts where they say more."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from tacit.arrays import Floats

LADDER = 2.0 ** (np.arange(-12, 9) / 2)
"""Edges of the histogram of residuals, on both sides of 0, in units of the score: 1/64 to 16."""

SCALES = 2.0 ** (np.arange(-12, 6) / 2)
CENTRES = (-1.0, -0.5, -0.2, 0.0, 0.2, 0.5, 1.0)
"""Where a shape's middle may lie, in its own scales."""

POINTS = 8
"""Places within a cell of the histogram that its rows are spread over."""

SURE = 3.0
"""Standard deviations of noise by which a count must leave the outline to be believed, and then only beyond them."""


def residual_edges() -> Floats:
    """The edges of the histogram; the outermost cells are open."""
    return np.concatenate([-LADDER[::-1], [0.0], LADDER])


EXPECTED, SPREAD, BELIEF = 0.7, math.log(2.5), 3.0
"""Residuals are thought about this large in units of the score, by a factor of this (its logarithm); and what earlier
looks say is believed up to so many units of log-likelihood, because residuals change."""


@lru_cache(maxsize=1)
def first_belief() -> Floats:
    """Log prior of the shapes, shape ``(shapes,)``: decides only where noise drowns the counts."""
    each = len(CENTRES) * 3 + 2
    belief = np.repeat(-0.5 * (np.log(SCALES / EXPECTED) / SPREAD) ** 2, each)
    belief.flags.writeable = False
    return belief


@lru_cache(maxsize=1)
def _shapes() -> Floats:
    """Shares of the cells under every shape, shape ``(shapes, cells)``: normal, Laplace, heavy-tailed, one-sided."""
    from scipy import stats  # takes longer to load than all else, and only numbers as labels need it

    edges, lines = residual_edges(), []
    for scale in SCALES:
        for centre in CENTRES:
            place = edges / scale - centre
            laws = (stats.norm, stats.laplace(scale=0.7), stats.t(3, scale=0.7))
            lines += [np.diff(np.concatenate([[0.0], law.cdf(place), [1.0]])) for law in laws]
        for side in (1, -1):
            upto = stats.gamma(2.0, scale=0.7).cdf(side * edges / scale + 1.2)
            upto = upto if side == 1 else 1 - upto
            lines.append(np.diff(np.concatenate([[0.0], upto, [1.0]])))
    table = np.array(lines)
    table.flags.writeable = False
    return table


def residual_shares(counts: Floats, sd: float, belief: Floats) -> tuple[Floats, Floats]:
    """Shares of rows by cell: the posterior mean over public shapes, corrected where counts are sure to differ.

    Args:
        counts: noisy counts between :func:`residual_edges`, shape ``(edges + 1,)``.
        sd: standard deviation of their noise; positive.
        belief: log prior of the shapes: :func:`first_belief`, or what the last look left.

    Returns:
        The shares, and the log prior for the next look.
    """
    shapes, total = _shapes(), max(float(counts.sum()), sd)
    # a shape is never exact: its cells are believed to a tenth of what they hold
    variance = sd**2 + (0.1 * total * shapes) ** 2 + total * shapes
    log_likelihood = -0.5 * ((counts - total * shapes) ** 2 / variance + np.log(variance)).sum(axis=1)
    posterior = log_likelihood + belief
    posterior -= posterior.max()
    weights = np.exp(posterior)
    outline = weights / weights.sum() @ shapes
    away = counts / total - outline
    sure = SURE * np.sqrt(sd**2 + total * outline) / total
    shares = np.maximum(outline + np.sign(away) * np.maximum(np.abs(away) - sure, 0.0), 0.0)
    return np.asarray(shares / shares.sum()), np.maximum(posterior, -BELIEF)


def spread_out(shares: Floats) -> tuple[Floats, Floats]:
    """Shares as points: every cell's rows uniform within it, open cells closed at twice their edge.

    Returns:
        Residuals and their weights, in increasing order.
    """
    edges = np.concatenate([[-2 * LADDER[-1]], residual_edges(), [2 * LADDER[-1]]])
    inner = (np.arange(POINTS) + 0.5) / POINTS
    values = (edges[:-1, None] + np.diff(edges)[:, None] * inner[None, :]).ravel()
    return values, np.repeat(shares / POINTS, POINTS)
