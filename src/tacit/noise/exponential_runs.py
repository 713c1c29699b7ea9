"""Exact sampling of the exponential mechanism where candidates come in long runs of equal scores.

A threshold on a column of 64-bit floats has about ``2**64`` places, and its errors change only at the rows' values: the
candidates, in a public order, are runs, as many as there are rows, whose lengths add up to a public number. A run is
drawn with probability proportional to ``length * exp(score / scale)``, and one of its members uniformly; so each
candidate has ``exp(score / scale)``, and no candidate is looked at by itself.

How: a proposal in integers, slightly above ``2**62 exp(-gap / scale)`` for each member of a run; one uniform integer
picks the run and, as its remainder, the member; the run is accepted with the ratio of the true weight to the
proposal's, by the coin of :mod:`tacit.noise.exponential`. A member's proposal is at least 1, so that up to ``2**66`` of
refusals stand against at least ``2**62`` for each best candidate: one proposal in 17 is taken at worst, where the
best stands alone, and every second one where the best are sixteen.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from tacit.noise.exponential import Below, Ratio, accept_exponential, proposal_weights

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
    held = lengths > 0
    top = scores[held].max()
    # two's complement: the difference of int64 numbers is right modulo 2**64; of empty runs it does not matter
    gaps = np.where(held, top.astype(np.uint64) - scores.astype(np.uint64), np.uint64(0))
    weights = [int(weight) for weight in proposal_weights(gaps, scale, RUN_BITS)]
    ends = list(accumulate(size * weight for size, weight in zip(sizes, weights, strict=True)))
    firsts = list(accumulate(sizes, initial=0))
    numerator, denominator = scale.as_integer_ratio()
    while True:
        drawn = below(ends[-1])
        run = bisect_right(ends, drawn)
        x = Ratio(int(gaps[run]) * denominator, numerator)
        if accept_exponential(x, Ratio(1 << RUN_BITS, weights[run]), below):
            return firsts[run] + (drawn - ends[run] + sizes[run] * weights[run]) // weights[run]
