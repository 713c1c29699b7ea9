"""Exact integer Gaussian and Laplace noise (after Canonne, Kamath, Steinke 2020, Algorithms 2 and 3).

A proposal is ``y = u + 2**m v`` with a sign, ``u`` uniform below ``2**m`` and ``P(v) ~ exp(-v)``; minus 0 is refused.
It is kept with probability ``exp(-x)``, which makes the law what it should be:

* Laplace, ``2**m`` the least power of two that is at least the scale ``b``: ``x = y / b - v``;
* Gaussian, ``2**m`` about the scale ``s``: ``x = u / 2**m + (y - s**2 / 2**m)**2 / (2 s**2)``.

The paper's two coins are one here, and its step, any integer, is a power of two: no remainder to take or to refuse.
The real numbers that decide ``v`` and the coin are known by their first bits. Where those do not decide for certain,
integer arithmetic on further bits does (:class:`Uniform`), so that the law is exact: docs/theory/exact_noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.noise.exponential import Ratio, exp_bounds

BAND = 2.0**-48
"""More than the doubles of ``exp(-x)`` and of a word are wrong together: by the proof at most ``11 * 2**-53``."""

REACH = 45  # `exp(-x)` is taken for 0 from here on; it is below `2**-64` there
AT_ONCE = 3  # thresholds of `v` that are counted and not branched on: what is as good as random no processor foresees
NEVER = 2.0**60  # stands for anything larger in the exponent of a coin, so that no infinity is multiplied by 0


def _exp_table() -> Floats:
    """``exp(-n / 16)`` for ``n = 0 .. 16 REACH``, each the double next to an exact bound."""
    table = []
    for n in range(16 * REACH + 1):
        low, _, shift = exp_bounds(Ratio(n, 16), 192)
        table.append(low / (1 << shift))  # the quotient of integers is rounded once
    return np.array(table)


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


Fetch = Callable[[int], npt.NDArray[np.uint64]]  # `fetch(n)`: `n` uniform 64-bit words that were used for nothing else
MOST_PROPOSALS = 1 << 16  # proposals whose words are fetched at a time
KEPT = -math.expm1(-1.0)  # the mass of `exp(-x)` on [0, 1]: what is kept of proposals is in proportion to it


class Layout(NamedTuple):
    """Which bits of a proposal's words are what. The lowest of the first word is the sign, the next are ``u``."""

    per: int  # words for each proposal, 1 or 2
    v_shift: int  # where, in the last word, the bits begin that decide `v`
    v_bits: int  # how many they are
    c_shift: int  # the same for the bits of the coin
    c_bits: int


ONE_WORD = Layout(1, 20, 22, 42, 22)
"""For steps up to ``2**19``. Four proposals in a million are undecided, at some 50 us each."""

TWO_WORDS = Layout(2, 0, 32, 32, 32)  # for larger steps, up to `2**63`. Six proposals in a billion are undecided.


@dataclass(frozen=True)
class Law:
    """Integer noise of one law and scale: ``P(k) ~ exp(-k**2 / (2 scale**2))``, or ``exp(-|k| / scale)``.

    The scale, in ``(0, 2**50]``, is the exact rational number that the float stands for.
    """

    gaussian: bool
    scale: float

    @cached_property
    def log_step(self) -> int:
        """``m``: the step is ``2**m``, at least the scale for Laplace noise, within a factor of 1.42 for Gaussian."""
        mantissa, exponent = math.frexp(self.scale)  # scale = mantissa 2**exponent, mantissa in [1/2, 1)
        lower = mantissa < math.sqrt(0.5) if self.gaussian else mantissa == 0.5
        return max(exponent - lower, 0)

    @cached_property
    def layout(self) -> Layout:
        """One word for each proposal where it has bits enough."""
        return ONE_WORD if self.log_step <= 19 else TWO_WORDS

    @cached_property
    def acceptance(self) -> float:
        """About the share of proposals that are kept; says how many words to fetch, and nothing else."""
        ratio = self.scale / 2.0**self.log_step
        probability = math.sqrt(math.pi / 2.0) * ratio * math.exp(-0.5 * ratio * ratio) if self.gaussian else ratio
        return KEPT * max(probability, 0.5)

    def exponent(self, y: int, v: int) -> Ratio:
        """``x``, exactly: the proposal ``(y, v)`` is kept with probability ``exp(-x)``."""
        n, d = self.scale.as_integer_ratio()
        if not self.gaussian:
            return Ratio(y * d - v * n, n)
        # u / 2**m = y / 2**m - v, which the square's middle term takes up
        step = 1 << self.log_step
        return Ratio((y * d * d * step) ** 2 + n**4 - 2 * v * (n * d * step) ** 2, 2 * (n * d * step) ** 2)


@lru_cache(maxsize=1024)
def law_of(gaussian: bool, scale: float) -> Law:
    """The law, with what follows from it: a fit asks for the same few hundreds again and again."""
    return Law(gaussian, scale)


class Uniform:
    """A uniform real number in [0, 1), of which the first bits are known and others drawn as they are needed."""

    def __init__(self, value: int, bits: int, more: Callable[[], int]) -> None:
        self._value, self._bits, self._more = value, bits, more

    def below_exp(self, x: Ratio) -> bool:
        """Whether the number is below ``exp(-x)``, ``x >= 0``; 64 bits leave it open with chance about ``2**-60``."""
        while True:
            low, high, shift = exp_bounds(x, self._bits + 32)
            if (self._value + 1) << shift <= low << self._bits:
                return True
            if self._value << shift >= high << self._bits:
                return False
            self._value = (self._value << 64) | self._more()
            self._bits += 64


def exact_proposal(law: Law, layout: Layout, words: npt.NDArray[np.uint64], more: Callable[[], int]) -> int | None:
    """What one proposal comes to, in integer arithmetic; None if it is not kept."""
    first, last = int(words[0]), int(words[layout.per - 1])
    negative, u = first & 1, (first >> 1) & ((1 << law.log_step) - 1)
    real = Uniform((last >> layout.v_shift) & ((1 << layout.v_bits) - 1), layout.v_bits, more)
    v = 0
    while real.below_exp(Ratio(v + 1, 1)):
        v += 1
    y = u + (v << law.log_step)
    if negative and y == 0:
        return None
    coin = Uniform((last >> layout.c_shift) & ((1 << layout.c_bits) - 1), layout.c_bits, more)
    if not coin.below_exp(law.exponent(y, v)):
        return None
    return -y if negative else y


@cache
def powers(bits: int) -> npt.NDArray[np.uint64]:
    """``floor(2**bits exp(-k))`` for ``k = 1, 2, ...``, the first 0 included: ``v >= k`` below, undecided at it.

    There are three at least, which the kernel looks at without asking.
    """
    table: list[int] = []
    while len(table) < AT_ONCE or table[-1]:
        low, high, shift = exp_bounds(Ratio(len(table) + 1, 1), bits + 64)
        table.append((low << bits) >> shift)
        if table[-1] != (high << bits) >> shift:
            raise ArithmeticError(f"exp(-{len(table)}) is too near a multiple of 2**-{bits}")
    return np.array(table, np.uint64)


def draw(law: Law, size: int, fetch: Fetch, band: float = BAND, layout: Layout | None = None) -> Ints:
    """``size`` independent draws from words of ``fetch``, none of which is used twice.

    Within ``band`` of a threshold floating point is not trusted; anything from ``BAND`` on gives the same law.
    """
    where = layout or law.layout
    out, filled = np.empty(size, np.int64), 0
    while filled < size:
        expected = (size - filled) / law.acceptance
        proposals = min(int(expected + 3.0 * math.sqrt(expected)) + 2, MOST_PROPOSALS)
        fresh = fetch(where.per * proposals)
        while True:
            filled, position, undecided = run(
                fresh, law.gaussian, law.scale, law.log_step, where, powers(where.v_bits), band, out, filled
            )
            if not undecided:
                break
            fresh = fresh[position * where.per :]
            value = exact_proposal(law, where, fresh, lambda: int(fetch(1)[0]))
            if value is not None:
                out[filled] = value
                filled += 1
            fresh = fresh[where.per :]
    return out
