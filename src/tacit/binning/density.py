"""Smoothing a noisy histogram: public shapes for the outline, a dyadic tree for the detail. Post-processing only."""

from __future__ import annotations

from functools import lru_cache

import numba as nb
import numpy as np

from tacit.arrays import Floats, Ints
from tacit.binning.tuning import SMOOTHING, Smoothing


@lru_cache(maxsize=8)
def public_shapes(cells: int, numbers: Smoothing = SMOOTHING) -> Floats:
    """Densities that columns tend to have: flat, decaying from either end (with and without a spike at 0), bumps.

    Returns:
        Array of shape ``(shapes, cells)``, every line summing to 1.
    """
    x = (np.arange(cells) + 0.5) / cells
    first = (np.arange(cells) == 0).astype(float)
    shapes = [np.ones(cells)]
    for rate in numbers.decay_rates:
        fall = np.exp(-rate * x)
        shapes += [fall, fall[::-1], 0.5 * fall / fall.sum() + 0.5 * first]
    shapes += [np.exp(-0.5 * ((x - c) / w) ** 2) + 1e-4 for c in numbers.bump_centres for w in numbers.bump_widths]
    table = np.array([shape / shape.sum() for shape in shapes])
    table.flags.writeable = False
    return table


def _outline(noisy: Floats, sd: float, total: Floats, numbers: Smoothing) -> Floats:
    """Posterior mean over the public shapes of the share per cell, given the noise; one histogram per line."""
    shapes = public_shapes(noisy.shape[1], numbers)
    fit = total[:, None] * (noisy @ shapes.T) - 0.5 * total[:, None] ** 2 * (shapes**2).sum(axis=1)
    weights = np.exp((fit - fit.max(axis=1, keepdims=True)) / sd**2)
    share: Floats = (weights / weights.sum(axis=1, keepdims=True)) @ shapes
    mixed: Floats = (1 - numbers.floor_share) * share + numbers.floor_share / noisy.shape[1]
    return mixed


@nb.njit(nogil=True, cache=True)
def _distribute(noisy, outline, codes, sd, total, mass, relative_spread):  # type: ignore[no-untyped-def]
    """Splits ``total`` top-down, line by line: sums of both trees first, each level behind the one below.

    Cells are copied one by one: assigning whole slices would take numba three seconds more to compile.
    """
    cells = noisy.shape[1]
    observed, shares, known = np.empty(2 * cells), np.empty(2 * cells), np.empty(2 * cells)
    room = np.empty(2 * cells, np.int64)
    for line in range(len(noisy)):
        for cell in range(cells):  # the halves of node i are 2 i and 2 i + 1
            leaf = cells + cell
            observed[leaf], shares[leaf], room[leaf] = noisy[line, cell], outline[line, cell], codes[line, cell]
        for node in range(cells - 1, 0, -1):
            observed[node] = observed[2 * node] + observed[2 * node + 1]
            shares[node] = shares[2 * node] + shares[2 * node + 1]
            room[node] = room[2 * node] + room[2 * node + 1]
        known[1], below, left_of_level = total[line], cells // 2, 1
        for node in range(1, cells):
            if node == 2 * left_of_level:
                left_of_level, below = node, below // 2
            here, left = known[node], 2 * node
            expected = here * shares[left] / shares[node]
            measured = 0.5 * (observed[left] + here - observed[left + 1])
            prior_variance = (relative_spread * here) * (relative_spread * here)
            gain = prior_variance / (prior_variance + 0.5 * (sd * sd) * below + 1e-300)
            guess = expected + gain * (measured - expected)
            guess = min(max(guess, 0.02 * expected), here - 0.02 * (here - expected))
            if room[left + 1] == 0:
                guess = here
            elif room[left] == 0:
                guess = 0.0
            known[left], known[left + 1] = guess, here - guess
        for cell in range(cells):
            mass[line, cell] = known[cells + cell]


def smooth_histograms(
    noisy: Floats, sd: float, total: Floats, numbers: Smoothing = SMOOTHING, codes: Ints | None = None
) -> Floats:
    """Non-negative masses that sum to ``total`` from noisy histograms, ``(histograms, cells)``.

    Top-down over the dyadic tree: a node's known mass is split by a Kalman step between the outline's split (prior
    spread ``relative_spread`` of the mass) and the noisy sums of the two halves. Cells are a power of two. ``codes``
    are public, of every cell: a cell of none has no mass. None for one each.
    """
    mass = np.empty(noisy.shape)
    outline = _outline(noisy, sd, total, numbers)
    codes = np.ones(noisy.shape, np.int64) if codes is None else codes
    _distribute(noisy, outline, codes, float(sd), np.asarray(total, np.float64), mass, numbers.relative_spread)
    return mass
