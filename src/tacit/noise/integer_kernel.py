"""Proposals of integer noise, decided in floating point where that is certain: the fast half of the sampler.

What is proposed and why it has the right law is in :mod:`tacit.noise.integer_sampler`; that no coin is decided wrongly
here is proved in docs/theory/exact_noise.md. Only additions, multiplications and divisions of doubles are used, and no
library's ``exp``: their errors are bounded by IEEE 754, on every machine.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.noise.exponential import Ratio, exp_bounds

BAND = 2.0**-48
"""More than the doubles of ``exp(-x)`` and of a word are wrong together: by the proof at most ``11 * 2**-53``."""

REACH = 45
"""``exp(-x)`` is taken for 0 from here on; it is below ``2**-64`` there."""

AT_ONCE = 3
"""Thresholds of ``v`` that are counted and not branched on: what is as good as random no processor foresees."""

NEVER = 2.0**60
"""Stands for anything larger in the exponent of a coin, so that no infinity is multiplied by 0."""


def _exp_table() -> Floats:
    """``exp(-n / 16)`` for ``n = 0 .. 16 REACH``, each the double next to an exact bound."""
    found = []
    for n in range(16 * REACH + 1):
        low, _, shift = exp_bounds(Ratio(n, 16), 192)
        found.append(low / (1 << shift))  # the quotient of integers is rounded once
    return np.array(found)


_EXP = _exp_table()
_TAYLOR = np.array([(-1.0) ** k / math.factorial(k) for k in range(10)])


@nb.njit(nogil=True, cache=True, error_model="numpy")
def exp_of_minus(x: float) -> float:
    """``exp(-x)`` for ``x >= 0``, with a relative error below ``3.5 * 2**-53``; 0 from ``REACH`` on."""
    if not x < REACH:
        return 0.0
    n = int(16.0 * x)
    r = x - 0.0625 * n  # exact, in [0, 1 / 16)
    series = _TAYLOR[9]
    for k in range(8, -1, -1):
        series = series * r + _TAYLOR[k]
    return _EXP[n] * series  # type: ignore[no-any-return]


@nb.njit(nogil=True, cache=True, error_model="numpy")
def probability(gaussian: bool, scale: float, step: float, u: int | np.int64, v: int, y: int | np.int64) -> float:
    """With which probability a proposal is kept, within ``10 * 2**-53``; what hangs on the scale alone is hoisted."""
    if gaussian:
        z = (float(y) - scale * (scale / step)) / scale
        return exp_of_minus(float(u) / step + 0.5 * (z * z))
    return exp_of_minus(float(u) / scale + v * min((step - scale) / scale, NEVER))


@nb.njit(nogil=True, cache=True, error_model="numpy")
def run(
    words: npt.NDArray[np.uint64],
    gaussian: bool,
    scale: float,
    log_step: int,
    layout: tuple[int, int, int, int, int],
    powers: npt.NDArray[np.uint64],
    band: float,
    out: Ints,
    filled: int,
) -> tuple[int, int, bool]:
    """Fills ``out`` from position ``filled`` with what the proposals in ``words`` come to.

    What is given:
        words: uniform, one or two for each proposal.
        gaussian, scale, log_step, layout: the law (Laplace if not Gaussian), proposals in steps of ``2**log_step``; see
            :class:`tacit.noise.integer_sampler.Layout`.
        powers: ``floor(2**v_bits exp(-k))`` for ``k = 1, 2, ...``, the first 0 included, at least three.
        band: how far from its threshold a word has to be.

    Returns how far ``out`` is filled, how many proposals were used, and whether the next is undecided: for the caller.
    """
    per, v_shift, v_bits, c_shift, c_bits = layout
    one, step = np.uint64(1), 2.0**log_step
    u_mask = (one << np.uint64(log_step)) - one
    v_mask = np.uint64(2**v_bits - 1)
    c_mask, c_unit = (one << np.uint64(c_bits)) - one, 0.5**c_bits
    width = band + c_unit
    size, proposals, i = out.shape[0], words.shape[0] // per, 0
    while filled < size and i < proposals:
        first, last = words[i * per], words[i * per + per - 1]
        u = np.int64((first >> one) & u_mask)
        v_word = (last >> np.uint64(v_shift)) & v_mask
        v = int(v_word < powers[0]) + int(v_word < powers[1]) + int(v_word < powers[2])
        if v == AT_ONCE:
            while v_word < powers[v]:
                v += 1
        if v_word == powers[v]:
            return filled, i, True
        y = u + (v << log_step)
        negative = int(first & one)
        i += 1
        if y == 0 and negative:
            continue
        p = probability(gaussian, scale, step, u, v, y)
        coin = float((last >> np.uint64(c_shift)) & c_mask) * c_unit
        if abs(coin - p) <= width:
            return filled, i - 1, True
        out[filled] = y * (1 - 2 * negative)  # the next one takes its place where it is not kept
        filled += int(coin < p)
    return filled, i, False
