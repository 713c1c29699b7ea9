"""Exact sampling of the exponential mechanism on integer scores.

Why not a library's noisy max: OpenDP's under pure divergence is permute-and-flip, which has another distribution and no
bounded range; its variant under zCDP is the exponential mechanism in 0.16, but was permute-and-flip at the same price
in 0.15 (opendp issue 2911), and its rejection takes as many coins as there are candidates. The charge ``BoundedRange``
(``range**2 / 8``-zCDP) belongs to ``P(i) ~ exp(scores[i] / scale)`` and to nothing else, so it is drawn here.

How: a proposal in integer weights, slightly above ``2**40 exp(-gap / scale)``, made in floating point; one uniform
integer picks a candidate; it is accepted with the ratio of the true weight to the proposal's, decided with rational
bounds on ``exp`` that are refined until they decide. Floating point chooses the proposal only, so its errors cost speed
(a rejection in 10**8) and never change the distribution. Cost: one vectorised ``exp`` over the candidates.

Candidates in long runs of equal scores: a threshold on a column of 64-bit floats has about ``2**64`` places, and its
errors change only at the rows' values: the candidates, in a public order, are runs, as many as there are rows, whose
lengths add up to a public number. A run is drawn with probability proportional to ``length * exp(score / scale)``, and
one of its members uniformly; so each candidate has ``exp(score / scale)``, and no candidate is looked at by itself.

How: a proposal in integers, slightly above ``2**62 exp(-gap / scale)`` for each member of a run; one uniform integer
picks the run and, as its remainder, the member; the run is accepted with the ratio of the true weight to the
proposal's, by the same coin. A member's proposal is at least 1, so that up to ``2**66`` of
refusals stand against at least ``2**62`` for each best candidate: one proposal in 17 is taken at worst, where the
best stands alone, and every second one where the best are sixteen.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

PROPOSAL_BITS = 40
INFLATION = 1.0 + 1e-8
"""Covers the rounding of the gap, the division and ``exp``: together below 1e-12 wherever the weight is not 0."""

LEAST_LEVELS = 40.0  # gaps of so many scales have proposal weight 1, as `2**40 exp(-40)` is below 1
CANDIDATE_LIMIT = 1 << 22  # weights of this many candidates sum to less than 2**63


class Ratio(NamedTuple):
    """A rational number, not reduced: reducing takes longer than all else here."""

    numerator: int
    denominator: int


Below = Callable[[int], int]  # `below(n)`: a uniform integer in `0 .. n - 1`


def exponential_index(scores: npt.NDArray[np.int64], scale: float, below: Below) -> int:
    """An index drawn with probability exactly proportional to ``exp(scores[i] / scale)``, of any int64 scores.

    The scale, positive and finite, is the exact rational number that the float stands for.
    """
    if len(scores) > CANDIDATE_LIMIT:
        raise ValueError(f"at most {CANDIDATE_LIMIT} candidates can be drawn from at once, got {len(scores)}")
    top = scores.max()
    # two's complement: the difference of int64 numbers is right modulo 2**64, hence right as an unsigned number
    gaps = top.astype(np.uint64) - scores.astype(np.uint64)
    weights = proposal_weights(gaps, scale)
    ends = np.cumsum(weights)
    total, (numerator, denominator) = int(ends[-1]), scale.as_integer_ratio()
    while True:
        index = int(ends.searchsorted(below(total), side="right"))
        x = Ratio(int(gaps[index]) * denominator, numerator)
        if accept_exponential(x, Ratio(1 << PROPOSAL_BITS, int(weights[index])), below):
            return index


class ScoreBlocks(Protocol):
    """Scores in blocks that are made when they are needed, the same whenever they are asked for; some may be empty."""

    def __len__(self) -> int:
        """How many blocks."""

    def __getitem__(self, block: int, /) -> npt.NDArray[np.int64]:
        """The scores of a block: an int64 vector."""


def exponential_place(blocks: ScoreBlocks, scale: float, below: Below) -> tuple[int, int]:
    """Block and index in it, drawn as :func:`exponential_index` would from all scores one after the other.

    What is kept is two numbers per block. Every block is made once for its highest score; those of which a candidate
    may have a weight above the least are made again to sum the weights; one more is made to find the candidate.

    Raises:
        ValueError: if a block is too large, or all are empty.
    """
    tops: list[int | None] = []
    sizes: list[int] = []
    for block in range(len(blocks)):
        scores = blocks[block]
        if len(scores) > CANDIDATE_LIMIT:
            raise ValueError(f"at most {CANDIDATE_LIMIT} candidates can be in a block, got {len(scores)}")
        sizes.append(len(scores))
        tops.append(int(scores.max()) if len(scores) else None)
    top = max((score for score in tops if score is not None), default=None)
    if top is None:
        raise ValueError("there is no candidate to draw")
    least = 1 + np.int64(np.floor(LEAST_LEVELS * scale))  # a gap from which on every weight is 1
    masses = [
        size if best is None or top - best >= least else int(proposal_weights(_gaps(top, blocks[block]), scale).sum())
        for block, (best, size) in enumerate(zip(tops, sizes, strict=True))
    ]
    ends, (numerator, denominator) = list(accumulate(masses)), scale.as_integer_ratio()
    while True:
        draw = below(ends[-1])
        block = bisect_right(ends, draw)
        gaps = _gaps(top, blocks[block])
        weights = proposal_weights(gaps, scale)
        index = int(np.cumsum(weights).searchsorted(draw - ends[block] + masses[block], side="right"))
        x = Ratio(int(gaps[index]) * denominator, numerator)
        if accept_exponential(x, Ratio(1 << PROPOSAL_BITS, int(weights[index])), below):
            return block, index


def _gaps(top: int, scores: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """``top - scores``, which is not negative: right modulo 2**64, hence right as an unsigned number."""
    return np.uint64(top % (1 << 64)) - scores.astype(np.uint64)


def proposal_weights(gaps: npt.NDArray[np.uint64], scale: float, bits: int = PROPOSAL_BITS) -> npt.NDArray[np.int64]:
    """Integers slightly above ``2**bits exp(-gap / scale)``, for at most 62 bits."""
    with np.errstate(over="ignore"):  # a gap of infinitely many scales has weight 0
        peaks = np.exp(gaps.astype(np.float64) / -scale)
    return np.floor(peaks * (2.0**bits * INFLATION)).astype(np.int64) + 1


def accept_exponential(x: Ratio, factor: Ratio, below: Below) -> bool:
    """A coin that is true with probability exactly ``factor * exp(-x)``, for ``x >= 0``.

    A uniform number is revealed 64 bits at a time and compared with rational bounds on the probability until one side
    is certain; each round fails to decide with probability about ``2**-60``.

    Raises:
        ArithmeticError: if the probability exceeds 1.
    """
    bits, uniform = 0, 0
    while True:
        bits += 64
        uniform = (uniform << 64) | below(1 << 64)
        low, high, shift = exp_bounds(x, bits + 32)
        # everything times factor.denominator * 2**(bits + shift): integers from here on
        low, high = (low * factor.numerator) << bits, (high * factor.numerator) << bits
        if low > factor.denominator << (bits + shift):
            raise ArithmeticError("the proposal of the exponential mechanism is below its target")
        if ((uniform + 1) * factor.denominator) << shift <= low:
            return True
        if (uniform * factor.denominator) << shift >= high:
            return False


def exp_bounds(x: Ratio, bits: int) -> tuple[int, int, int]:
    """Integers ``(low, high, shift)`` with ``low <= 2**shift exp(-x) <= high`` for ``x >= 0``.

    The bounds on ``exp(-x)`` are at most about ``2**(2 - bits)`` apart. ``exp(-x) = exp(-x / 2**k)**(2**k)`` with
    ``x / 2**k < 1``; the alternating series brackets the inner exponential and interval squaring keeps the bracket. All
    in fixed point, rounded outwards.
    """
    if x.numerator == 0:
        return 1, 1, 0
    whole = x.numerator // x.denominator
    if whole >= bits:
        return 0, 1, bits
    halvings = whole.bit_length()
    shift = bits + halvings + 16
    one = 1 << shift
    reduced = (x.numerator << (shift - halvings)) // x.denominator
    low, high = _series(reduced, shift)
    low -= 1  # as much as exp(-r) falls, at most, while r grows by the unit that was cut off
    for _ in range(halvings):
        low = (low * low) >> shift
        high = -((-high * high) >> shift)
    return max(low, 0), min(high, one), shift


def _series(r: int, shift: int) -> tuple[int, int]:
    """Bounds on ``2**shift * exp(-r / 2**shift)`` for ``0 <= r <= 2**shift`` from the Taylor series.

    A term inherits at most half the rounding error of the one before it and adds less than 1: below 2 each, and so is
    all that follows the first term that vanishes.
    """
    term, total, k = 1 << shift, 1 << shift, 0
    while term:
        k += 1
        term = (term * r >> shift) // k
        total += -term if k % 2 else term
    slack = 2 * (k + 1)
    return total - slack, total + slack


RUN_BITS = 62  # bits of a proposal's weight: a candidate among `2**66` is found by 128 random bits
MOST_CANDIDATES = 1 << 66  # candidates in all runs together


def exponential_runs(scores: npt.NDArray[np.int64], lengths: npt.NDArray[np.uint64], scale: float, below: Below) -> int:
    """The number of a candidate, counted through all runs, drawn in exact proportion to ``exp(score / scale)``.

    Args:
        scores: int64 vector, one score per run, any values.
        lengths: candidates in each run; some may be 0, but not all.
        scale: positive and finite; taken as the exact rational number the float stands for.
        below: uniform integers.

    Raises:
        ValueError: if there is no candidate, or more than ``2**66``.
    """
    sizes = [int(length) for length in lengths]
    if not 0 < sum(sizes) <= MOST_CANDIDATES:
        raise ValueError(f"from 1 to 2**66 candidates can be drawn from, got {sum(sizes)}")
    nonempty = lengths > 0
    top = scores[nonempty].max()
    # two's complement: the difference of int64 numbers is right modulo 2**64; of empty runs it does not matter
    gaps = np.where(nonempty, top.astype(np.uint64) - scores.astype(np.uint64), np.uint64(0))
    weights = [int(weight) for weight in proposal_weights(gaps, scale, RUN_BITS)]
    ends = list(accumulate(size * weight for size, weight in zip(sizes, weights, strict=True)))
    firsts = list(accumulate(sizes, initial=0))
    numerator, denominator = scale.as_integer_ratio()
    while True:
        draw = below(ends[-1])
        run = bisect_right(ends, draw)
        x = Ratio(int(gaps[run]) * denominator, numerator)
        if accept_exponential(x, Ratio(1 << RUN_BITS, weights[run]), below):
            return firsts[run] + (draw - ends[run] + sizes[run] * weights[run]) // weights[run]
