"""The integer sampler against exact arithmetic: all short words, words beside thresholds, every scale, slow path."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from scipy import stats

from tacit.checks.mechanism import Law as Pmf
from tacit.noise.exponential import Ratio
from tacit.noise.integer_sampler import (
    BAND,
    ONE_WORD,
    REACH,
    TWO_WORDS,
    Law,
    Layout,
    Uniform,
    draw,
    exact_proposal,
    exp_of_minus,
    powers,
    probability,
    run,
)
from tacit.noise.opendp_source import OpenDPSource
from tacit.noise.system_source import SystemSource
from tests.noise.exact import gaussian_pmf, laplace_pmf

ULP = 2.0**-53
SHORT = [Layout(1, 4, 3, 7, 4), Layout(2, 0, 3, 3, 4)]
"""11 bits: sign, three for u, three for v, four for the coin; in one word and in two."""

EXTREMES = [5e-324, 1e-300, 1e-9, 0.1, 0.5, math.nextafter(0.5**0.5, 0), math.nextafter(0.5**0.5, 1), 1.0]
SCALES = EXTREMES + [
    float(scale)
    for k in (1, 2, 7, 18, 19, 20, 31, 32, 49, 50)
    for scale in (math.nextafter(2.0**k, 0), 2.0**k, math.nextafter(2.0**k, math.inf), 2.0 ** (k - 0.5), 1.3 * 2.0**k)
    if scale <= 2.0**50
]
LAWS = [Law(gaussian, scale) for gaussian in (True, False) for scale in SCALES]


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(70):
        yield


def exact(scale: float) -> mpmath.mpf:
    return mpmath.mpf(scale)


@cache
def kept(law: Law, u: int, v: int) -> mpmath.mpf:
    """The chance that a proposal is kept, from the formulas of the module's first lines."""
    s, step = exact(law.scale), mpmath.mpf(2) ** law.log_step
    y = u + v * step
    x = u / step + (y - s**2 / step) ** 2 / (2 * s**2) if law.gaussian else y / s - v
    return mpmath.exp(-x)


def weight(law: Law, y: int) -> mpmath.mpf:
    s = exact(law.scale)
    return mpmath.exp(-(mpmath.mpf(y) ** 2) / (2 * s**2)) if law.gaussian else mpmath.exp(-abs(y) / s)


def fast(law: Law, layout: Layout, words: tuple[int, ...], band: float = BAND) -> int | str | None:
    """What the kernel makes of one proposal: a value, None (not kept) or "undecided"."""
    out = np.zeros(1, np.int64)
    filled, used, undecided = run(
        np.array(words, np.uint64), law.gaussian, law.scale, law.log_step, layout, powers(layout.v_bits), band, out, 0
    )
    assert used == (not undecided)
    return "undecided" if undecided else int(out[0]) if filled else None


def overlap(word: int, bits: int, low: mpmath.mpf, high: mpmath.mpf) -> mpmath.mpf:
    """Of the real numbers that begin with ``word``, the share in ``[low, high)``."""
    unit = 2**bits
    return max(min(high * unit, mpmath.mpf(word + 1)) - max(low * unit, mpmath.mpf(word)), mpmath.mpf(0))


@cache
def shares(word: int, bits: int) -> list[tuple[int, mpmath.mpf]]:
    """The values of ``v`` that a word leaves possible, with their chances; those from 60 on are left out."""
    results = [(v, overlap(word, bits, mpmath.exp(-v - 1), mpmath.exp(-v))) for v in range(60)]
    return [(v, share) for v, share in results if share]


def outcomes(law: Law, layout: Layout, words: tuple[int, ...]) -> dict[int | None, mpmath.mpf]:
    """The law of what one proposal comes to, given its words and nothing else."""
    first, last = words[0], words[-1]
    negative, u = first & 1, (first >> 1) % 2**law.log_step
    v_word, coin = (last >> layout.v_shift) % 2**layout.v_bits, (last >> layout.c_shift) % 2**layout.c_bits
    result: dict[int | None, mpmath.mpf] = defaultdict(mpmath.mpf)
    for v, share in shares(v_word, layout.v_bits):
        y = u + (v << law.log_step)
        heads = share * overlap(coin, layout.c_bits, mpmath.mpf(0), kept(law, u, v))
        if negative and y == 0:
            heads = mpmath.mpf(0)
        if heads:
            result[-y if negative else y] += heads
        if heads < share:
            result[None] += share - heads
    return result


@pytest.mark.parametrize("layout", SHORT, ids=["one word", "two words"])
@pytest.mark.parametrize(
    "law", [Law(g, s) for g in (True, False) for s in (0.3, 1.0, 1.5, 2.7, 5.0)] + [Law(False, 8.0)], ids=str
)
def test_all_short_words_together_have_exactly_the_law(law: Law, layout: Layout) -> None:
    """What the kernel decides, every continuation of the word decides so; the rest sums up to the exact law."""
    total: dict[int | None, mpmath.mpf] = defaultdict(mpmath.mpf)
    bits = 1 + law.log_step + layout.v_bits + layout.c_bits
    undecided = 0
    for fields in range(2**bits):
        low, high = fields % 2 ** (1 + law.log_step), fields >> (1 + law.log_step)
        words = (low | high << 4,) if layout.per == 1 else (low, high)
        expected, result = outcomes(law, layout, words), fast(law, layout, words)
        if result == "undecided":
            undecided += 1
        else:
            assert expected.keys() == {result}
        for value, share in expected.items():
            total[value] += share / 2**bits
    assert undecided < 0.6 * 2**bits  # so few bits are often not enough
    reach = range(1 - (40 << law.log_step), 40 << law.log_step)
    for y in reach:
        assert abs(total[y] - total[0] * weight(law, y)) < mpmath.mpf(10) ** -50
    assert abs(sum(total.values()) - 1) < mpmath.mpf(10) ** -25  # v ends at 60 here


NEAR = Layout(2, 0, 8, 8, 56)
V_WORDS = (200, 60, 20, 8)
"""Words of eight bits that decide v = 0, 1, 2, 3."""


def wrong_beside_thresholds(band: float, shift: int = 0) -> tuple[int, int]:
    """How many coins of 56 bits, near their thresholds, the kernel decides against exact arithmetic, and how many well.

    Args:
        band: the kernel's.
        shift: the kernel is shown the word so much further up.
    """
    generator = np.random.default_rng(3)
    wrong = right = 0
    for law in LAWS:
        for v, v_word in enumerate(V_WORDS):
            u = int(generator.integers(0, 2**law.log_step))
            threshold = int(mpmath.floor(kept(law, u, v) * 2**56))
            for offset in [0, *(sign << k for k in range(12) for sign in (-1, 1))]:
                word = threshold + offset
                if not (0 <= word < 2**56 and 0 <= word + shift < 2**56) or (v == 0 and u == 0):
                    continue
                result = fast(law, NEAR, (u << 1, v_word | (word + shift) << 8), band)
                if result == "undecided":
                    continue
                truth = {True: u + (v << law.log_step), False: None}[offset < 0]
                right, wrong = right + (offset != 0 and result == truth), wrong + (offset == 0 or result != truth)
    return wrong, right


def test_no_word_beside_its_threshold_is_decided_wrongly() -> None:
    wrong, right = wrong_beside_thresholds(BAND)
    assert wrong == 0
    assert right > 1000


def test_without_the_band_or_with_it_elsewhere_words_are_decided_wrongly() -> None:
    assert wrong_beside_thresholds(0.0)[0] > 0
    assert wrong_beside_thresholds(BAND, 2**10)[0] > 0
    assert wrong_beside_thresholds(BAND, -(2**10))[0] > 0


def test_the_exponential_is_as_near_as_the_proof_says() -> None:
    generator = np.random.default_rng(4)
    steps = np.arange(16 * REACH) / 16
    for x in [*generator.uniform(0, REACH, 2000), *steps, *np.nextafter(steps[1:], 0), *np.nextafter(steps, 99)]:
        assert abs(mpmath.mpf(exp_of_minus(float(x))) / mpmath.exp(-mpmath.mpf(float(x))) - 1) < 3.5 * ULP
    assert exp_of_minus(float(REACH)) == exp_of_minus(math.inf) == 0.0
    assert mpmath.exp(-REACH) < mpmath.mpf(2) ** -64


def test_the_chance_of_being_kept_is_as_near_as_the_proof_says() -> None:
    """At every kind of scale; the largest error found is 1.3 units of ``2**-53``, and the proof allows 10."""
    generator, largest = np.random.default_rng(5), 0.0
    for law in LAWS:
        step = 1 << law.log_step
        for u in {0, step - 1, *generator.integers(0, step, 8).tolist()}:
            for v in (0, 1, 2, 3, 5, 22):
                p = probability(law.gaussian, law.scale, float(step), u, v, u + v * step)
                largest = max(largest, abs(mpmath.mpf(p) - kept(law, u, v)))
    assert 0.5 < largest / ULP < 10.0


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_every_scale(law: Law) -> None:
    """Steps, probabilities, and word for word the same as in integers; no proposal comes near the end of int64."""
    step = 1 << law.log_step
    if law.gaussian:
        assert step == 1 or Fraction(1, 2) * (1 - Fraction(2) ** -50) < Fraction(law.scale) ** 2 / step**2
        assert Fraction(law.scale) ** 2 / step**2 <= 2 * (1 + Fraction(2) ** -50)
    else:
        assert step / 2 < law.scale <= step or (step == 1 and law.scale <= 1)
    for v in (0, 1, 7):
        for u in (0, step // 3, step - 1):
            x = law.exponent(u + v * step, v)
            assert x.numerator >= 0
            if x.numerator < 100 * x.denominator:
                assert abs(mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) - kept(law, u, v)) < 1e-60
    layout = law.layout
    assert len(powers(layout.v_bits)) * step < 2**55
    assert 1 + law.log_step <= (layout.v_shift or 64)
    words = np.random.default_rng(6).integers(0, 2**64, (40, layout.per), np.uint64)
    for proposal in words:
        result = fast(law, layout, tuple(proposal.tolist()))
        assert result == exact_proposal(law, layout, proposal, pytest.fail)


def test_layouts_keep_their_bits_apart() -> None:
    for layout in (ONE_WORD, TWO_WORDS):
        assert layout.v_shift + layout.v_bits == layout.c_shift
        assert layout.c_shift + layout.c_bits == 64


@pytest.mark.parametrize("bits", [4, 22, 32, 64])
def test_powers_are_exact(bits: int) -> None:
    """The geometric table; beyond its end a word of zeros is undecided, so that v may be as large as it likes."""
    table = powers(bits).tolist()
    assert table == [int(mpmath.floor(mpmath.mpf(2) ** bits * mpmath.exp(-k - 1))) for k in range(len(table))]
    assert table[-1] == 0 < table[-2]


@pytest.mark.parametrize(
    "x", [Ratio(1, 3), Ratio(1, 1), Ratio(7, 1), Ratio(50, 1), Ratio(12345678901, 10**10)], ids=str
)
@pytest.mark.parametrize("agree", [0, 1, 3])
def test_a_number_is_compared_with_as_many_bits_as_it_takes(x: Ratio, agree: int) -> None:
    """Numbers that agree with the threshold in so many words, and then are one unit beside it."""
    bits = 22 + 64 * (agree + 1)
    with mpmath.workdps(120):
        threshold = int(mpmath.floor(mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) * mpmath.mpf(2) ** bits))
    for digits, below in ((threshold - 1, True), (threshold + 1, False)):
        words = [digits >> (64 * k) & (2**64 - 1) for k in range(agree + 1)]
        assert Uniform(digits >> (64 * (agree + 1)), 22, words.pop).below_exp(x) is below


def seeded(seed: int) -> Callable[[int], np.ndarray]:
    generator = np.random.default_rng(seed)
    return lambda n: generator.integers(0, 2**64, n, np.uint64)


@pytest.mark.parametrize("law", [Law(g, s) for g in (True, False) for s in (0.4, 3.7, 12345.6, 2.0**30 + 0.5)], ids=str)
@pytest.mark.parametrize("band", [0.05, 2.0])
def test_exact_arithmetic_in_place_of_floating_point_gives_the_same_draws(law: Law, band: float) -> None:
    assert (draw(law, 1500, seeded(7), band) == draw(law, 1500, seeded(7))).all()


def test_a_proposal_in_integers_is_not_kept_where_it_should_not_be() -> None:
    """Minus 0, and a coin: the slow path by itself, on all short words that decide, whatever bits follow them."""
    more = seeded(10)
    for law in (Law(True, 2.7), Law(False, 2.7)):
        for low in range(2 ** (1 + law.log_step)):
            for high in range(2**7):
                expected = outcomes(law, SHORT[1], (low, high))
                if len(expected) == 1:
                    words = np.array([low, high], np.uint64)
                    assert exact_proposal(law, SHORT[1], words, lambda: int(more(1)[0])) == next(iter(expected))


@pytest.mark.parametrize("law", [Law(True, 40.0), Law(False, 3e6)], ids=str)
def test_every_word_is_used_once(law: Law) -> None:
    """Draws are a function of proposals one by one: those from two stretches of words are those from both."""
    words = seeded(8)(600 * law.layout.per)

    def outputs(part: np.ndarray) -> list[int]:
        out = np.zeros(len(part), np.int64)
        filled, used, undecided = run(
            part, law.gaussian, law.scale, law.log_step, law.layout, powers(law.layout.v_bits), BAND, out, 0
        )
        assert used == len(part) // law.layout.per
        assert not undecided
        return out[:filled].tolist()

    cut = 200 * law.layout.per
    assert outputs(words[:cut]) + outputs(words[cut:]) == outputs(words)
    taken: list[int] = []

    def counted(n: int) -> np.ndarray:
        taken.append(n)
        return seeded(sum(taken))(n)

    draw(law, 300_000, counted)
    assert len(taken) > 5
    assert max(taken) <= law.layout.per << 16


def chi_square(draws: np.ndarray, pmf: Pmf, bins: int = 60) -> float:
    """The p-value of Pearson's test on cells of about equal mass, those of single integers where they are larger."""
    ends = np.unique(np.searchsorted(pmf.cdf, np.arange(1, bins) / bins)) + pmf.first
    expected = np.diff(np.concatenate(([0.0], pmf.at(ends), [1.0])))
    result = np.bincount(np.searchsorted(ends, draws), minlength=len(expected))
    return float(stats.chisquare(result, expected * len(draws)).pvalue)


@pytest.mark.parametrize(
    ("scale", "layout"), [(0.6, None), (3.7, None), (40.0, TWO_WORDS), (12345.6, ONE_WORD), (12345.6, TWO_WORDS)]
)
@pytest.mark.parametrize(("gaussian", "pmf"), [(True, gaussian_pmf), (False, laplace_pmf)], ids=["gaussian", "laplace"])
def test_draws_fit_their_law_and_no_other(
    gaussian: bool, pmf: Callable[[float], Pmf], scale: float, layout: Layout | None
) -> None:
    draws = draw(Law(gaussian, scale), 100_000, seeded(9), layout=layout)
    assert chi_square(draws, pmf(scale)) > 1e-9
    assert chi_square(draws, pmf(0.9 * scale)) < 1e-9
    assert chi_square(draws, pmf(1.1 * scale)) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("law", "pmf"), [(Law(True, 3.7), gaussian_pmf), (Law(False, 12345.6), laplace_pmf)], ids=str)
def test_a_hundred_million_draws_fit_their_law(law: Law, pmf: Callable[[float], Pmf]) -> None:
    """From the operating system's entropy; a scale two thousandths off would be noticed."""
    source = SystemSource()
    kind = source.gaussian if law.gaussian else source.laplace
    draws = np.concatenate([kind(law.scale, 10**7) for _ in range(10)])
    assert chi_square(draws, pmf(law.scale), 100) > 1e-9
    assert chi_square(draws, pmf(law.scale * 1.002), 100) < 1e-9


@pytest.mark.parametrize(("kind", "scale"), [("gaussian", 1000.5), ("laplace", 3.7)])
def test_opendp_draws_from_the_same_law(kind: str, scale: float) -> None:
    """Two samples, from the operating system's entropy: a false alarm in a billion; 10 % are noticed."""
    theirs = getattr(OpenDPSource(), kind)(scale, 50_000)
    ours, other = (getattr(SystemSource(), kind)(factor * scale, 50_000) for factor in (1.0, 1.1))
    edges = np.unique(np.quantile(theirs, np.linspace(0, 1, 17)[1:-1]))

    def p_value(draws: np.ndarray) -> float:
        table = [np.bincount(np.searchsorted(edges, sample), minlength=len(edges) + 1) for sample in (draws, theirs)]
        return float(stats.chi2_contingency(table).pvalue)

    assert p_value(ours) > 1e-9
    assert p_value(other) < 1e-6
