"""How targets and residuals of a number are spread, from noisy counts: mixtures of public shapes. Post-processing only.

Read cell by cell, counts that noise hides spread over all cells: a number seems to vary far more than it does, and so
all effects on it are thought larger; a count loses its tail, and with it most of its mean. The shapes of a target that
is never negative are zeros beside a log-normal or a gamma law, those of any other a normal or a log-normal law between
its bounds; targets beyond a bound count as that bound.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from tacit.additive.tuning import RESIDUAL_SHAPES, TARGET_SHAPES
from tacit.arrays import Floats
from tacit.queries.rules import MARGIN_BITS

PARTS = 4  # not tuned, of the arithmetic: parts of a cell (of a doubling) in which shapes are drawn


@lru_cache(maxsize=4)
def _shapes(octaves: int) -> tuple[Floats, Floats]:
    """Shares of the parts under every shape, shape ``(shapes, 1 + PARTS * octaves)``, and the log prior of each."""
    from scipy.special import gammainc, gammaincinv, ndtr  # take long to load, and only numbers as labels need them

    edges = -np.log(2.0) * np.arange(PARTS * octaves, 0, -1) / PARTS
    medians = -np.log(2.0) * np.arange(1, 2 * octaves - 2) / 2

    def all_of(kinds: tuple[float, ...]) -> list[Floats]:
        return [each.ravel()[:, None] for each in np.meshgrid(TARGET_SHAPES.zeros, medians, kinds, indexing="ij")]

    (no, at, width), (none, place, order) = all_of(TARGET_SHAPES.widths), all_of(TARGET_SHAPES.orders)
    lighter = gammainc(order, gammaincinv(order, 0.5) * np.exp(edges - place))
    zeros, upto = np.concatenate([no, none]), np.concatenate([ndtr((edges - at) / width), lighter])
    positive = np.diff(np.concatenate([np.zeros_like(zeros), upto, np.ones_like(zeros)], axis=1), axis=1)
    table = (1 - zeros) * positive
    table[:, :1] += zeros
    means = table @ part_values(octaves)
    prior = -0.5 * (np.log(means / TARGET_SHAPES.expected) / np.log(TARGET_SHAPES.factor)) ** 2
    for each in (table, prior):
        each.flags.writeable = False
    return table, prior


def part_values(octaves: int) -> Floats:
    """The middles of the parts, relative to the upper bound, shape ``(1 + PARTS * octaves,)``; the first is 0."""
    return np.concatenate([[0.0], 2.0 ** ((np.arange(-PARTS * octaves, 0) + 0.5) / PARTS)])


def target_shares(counts: Floats, sd: Floats | float, total: float) -> Floats:
    """Shares of rows by part: the posterior mean over public shapes, corrected where counts are sure to differ.

    Args:
        counts: noisy counts below the first of the octaves, and in each, the last of which ends at the upper bound;
            shape ``(octaves + 1,)``.
        sd: standard deviation of their noise, of all or of each; positive.
        total: number of rows.
    """
    octaves = len(counts) - 1
    shapes, belief = _shapes(octaves)
    coarse = np.column_stack([shapes[:, 0], shapes[:, 1:].reshape(len(shapes), octaves, PARTS).sum(axis=2)])
    weights, factors = _read(counts, sd, total, coarse, belief, TARGET_SHAPES.linked_sure)
    return np.asarray(weights @ shapes * np.concatenate([factors[:1], np.repeat(factors[1:], PARTS)]))


def _read(
    counts: Floats, sd: Floats | float, total: float, coarse: Floats, belief: Floats | float, sure_from: float
) -> tuple[Floats, Floats]:
    """Weights of the shapes, whose shares of the cells are ``coarse``, and what sure counts multiply each cell by."""
    variance = sd**2 + (TARGET_SHAPES.misfit * total * coarse) ** 2 + total * coarse
    fit = belief - 0.5 * ((counts - total * coarse) ** 2 / variance + np.log(variance)).sum(axis=1)
    weights = np.exp(fit - fit.max())
    weights = weights / weights.sum()
    outline = weights @ coarse
    away = counts / total - outline
    sure = sure_from * np.sqrt(sd**2 + total * outline) / total
    shares = np.maximum(outline + np.sign(away) * np.maximum(np.abs(away) - sure, 0.0), 0.0)
    return weights, np.asarray(shares / np.maximum(outline, 1e-12) / shares.sum())


ONE_SD = (0.16, 0.84)  # not tuned, of the normal law: quantiles that lie one standard deviation from the middle


@lru_cache(maxsize=4)
def _between_bounds(cells: int) -> tuple[Floats, Floats]:
    """Shares of the parts under every shape, shape ``(shapes, PARTS * cells)``, and the half-width of each."""
    from scipy.special import ndtr

    edges = np.arange(1, PARTS * cells) / (PARTS * cells)
    places, widths = np.meshgrid(np.linspace(0.0, 1.0, TARGET_SHAPES.places), TARGET_SHAPES.sds)
    medians, factors = np.meshgrid(2.0 ** (-np.arange(1, TARGET_SHAPES.medians) / 2), TARGET_SHAPES.log_sds)
    upto = np.concatenate(
        [
            ndtr((edges - places.ravel()[:, None]) / widths.ravel()[:, None]),
            ndtr(np.log(edges / medians.ravel()[:, None]) / factors.ravel()[:, None]),
        ]
    )
    table = np.diff(np.pad(upto, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))), axis=1)
    halves = np.array([max(_middle(shape, 0.5)[1], 0.5 / (PARTS * cells)) for shape in table])
    for each in (table, halves):
        each.flags.writeable = False
    return table, halves


def _middle(shares: Floats, quantile: float) -> tuple[float, float]:
    """A quantile, and half the width of the middle 68 %, relative to the range."""
    upto = np.concatenate([[0.0], np.cumsum(shares)]) / shares.sum()
    low, high, middle = (float(np.interp(q, upto, np.linspace(0.0, 1.0, len(upto)))) for q in (*ONE_SD, quantile))
    return middle, (high - low) / 2


def target_spread(counts: Floats, sd: float, total: float, quantile: float) -> tuple[float, float]:
    """A quantile of the targets, and half the width of their middle 68 %, relative to the range between their bounds.

    The width is the geometric mean over the shapes: that of their mixture would count doubt about the place as width.

    Args:
        counts: noisy counts in cells of equal width, shape ``(cells,)``.
        sd: standard deviation of their noise; positive.
        total: number of rows.
        quantile: which, in (0, 1).
    """
    shapes, halves = _between_bounds(len(counts))
    weights, factors = _read(
        counts, sd, total, shapes.reshape(len(shapes), len(counts), PARTS).sum(axis=2), 0.0, TARGET_SHAPES.sure
    )
    fine = weights @ shapes
    middle, half = _middle(fine * np.repeat(factors, PARTS), quantile)
    return middle, float(np.exp(weights @ np.log(halves))) * half / _middle(fine, quantile)[1]


ONE = 1 << MARGIN_BITS
LADDER = 2.0 ** (np.arange(-12, 9) / 2)
"""Edges of the histogram of residuals, on both sides of 0, in units of the score: 1/64 to 16."""

SCALES = 2.0 ** (np.arange(-12, 6) / 2)
POINTS = 8  # not tuned, of the arithmetic: places within a cell of the histogram that its rows are spread over


def residual_edges() -> Floats:
    """The edges of the histogram; the outermost cells are open."""
    return np.concatenate([-LADDER[::-1], [0.0], LADDER])


@lru_cache(maxsize=1)
def first_belief() -> Floats:
    """Log prior of the shapes, shape ``(shapes,)``: decides only where noise hides the counts."""
    each = len(RESIDUAL_SHAPES.centres) * 3 + 2
    belief = np.repeat(-0.5 * (np.log(SCALES / RESIDUAL_SHAPES.expected) / math.log(RESIDUAL_SHAPES.factor)) ** 2, each)
    belief.flags.writeable = False
    return belief


@lru_cache(maxsize=1)
def _residual_shapes() -> Floats:
    """Shares of the cells under every shape, shape ``(shapes, cells)``: normal, Laplace, heavy-tailed, one-sided."""
    from scipy import stats  # takes longer to load than all else, and only numbers as labels need it

    edges, lines = residual_edges(), []
    narrow = {"scale": RESIDUAL_SHAPES.narrower}
    laws, one_sided = (stats.norm, stats.laplace(**narrow), stats.t(3, **narrow)), stats.gamma(2.0, **narrow)
    for scale in SCALES:
        for centre in RESIDUAL_SHAPES.centres:
            place = edges / scale - centre
            lines += [np.diff(np.concatenate([[0.0], law.cdf(place), [1.0]])) for law in laws]
        for side in (1, -1):
            upto = one_sided.cdf(side * edges / scale + RESIDUAL_SHAPES.one_sided_middle)
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
    shapes, total = _residual_shapes(), max(float(counts.sum()), sd) if total is None else total
    variance = sd**2 + (RESIDUAL_SHAPES.misfit * total * shapes) ** 2 + total * shapes
    log_likelihood = -0.5 * ((counts - total * shapes) ** 2 / variance + np.log(variance)).sum(axis=1)
    posterior = log_likelihood + belief
    posterior -= posterior.max()
    weights = np.exp(posterior)
    outline = weights / weights.sum() @ shapes
    away = counts / total - outline
    sure = RESIDUAL_SHAPES.sure * np.sqrt(sd**2 + total * outline) / total
    shares = np.maximum(outline + np.sign(away) * np.maximum(np.abs(away) - sure, 0.0), 0.0)
    return np.asarray(shares / shares.sum()), np.maximum(posterior, -RESIDUAL_SHAPES.belief)


def spread_out(shares: Floats) -> tuple[Floats, Floats]:
    """Shares as points: every cell's rows uniform within it, open cells closed at twice their edge.

    Returns:
        Residuals and their weights, in increasing order.
    """
    edges = np.concatenate([[-2 * LADDER[-1]], residual_edges(), [2 * LADDER[-1]]])
    inner = (np.arange(POINTS) + 0.5) / POINTS
    values = (edges[:-1, None] + np.diff(edges)[:, None] * inner[None, :]).ravel()
    return values, np.repeat(shares / POINTS, POINTS)
