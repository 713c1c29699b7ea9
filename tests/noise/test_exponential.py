"""The exact coin behind the exponential mechanism."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.noise.exponential import (
    PROPOSAL_BITS,
    RUN_BITS,
    Below,
    Ratio,
    accept_exponential,
    exp_bounds,
    exponential_index,
    exponential_place,
    exponential_runs,
    proposal_weights,
)


def bounds(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    low, high, shift = exp_bounds(Ratio(x.numerator, x.denominator), bits)
    return Fraction(low, 1 << shift), Fraction(high, 1 << shift)


@settings(max_examples=60, deadline=None)
@given(st.fractions(min_value=0, max_value=3000, max_denominator=10**12), st.sampled_from([64, 96, 160, 288]))
def test_the_bounds_bracket_exp_and_are_tight(x: Fraction, bits: int) -> None:
    low, high = bounds(x, bits)
    with localcontext() as context:
        context.prec = 150
        exact = Fraction((-Decimal(x.numerator) / Decimal(x.denominator)).exp())
    error = Fraction(1, 10**140)
    assert low <= exact * (1 + error)
    assert exact * (1 - error) <= high
    assert high - low <= Fraction(1, 1 << (bits - 2))


def test_an_undecided_coin_asks_for_more_bits() -> None:
    """With the first word exactly on the edge, the coin needs a second one, and falls on the right side of the edge."""
    low, _ = bounds(Fraction(1), 300)
    edge = int(low * 2**64)
    for second, expected in ((0, True), (2**64 - 1, False)):
        words = [second, edge]
        assert accept_exponential(Ratio(1, 1), Ratio(1, 1), lambda _, words=words: words.pop()) is expected
        assert not words


def test_every_first_word_decides_as_the_exact_probability_says() -> None:
    low, high = bounds(Fraction(7, 3), 300)
    for word in [0, int(low * 2**64) - 1, int(high * 2**64) + 1, 2**64 - 1]:
        accepted = accept_exponential(Ratio(7, 3), Ratio(1, 1), lambda _, word=word: word)
        assert accepted == (Fraction(word + 1, 2**64) <= low)


def test_a_proposal_below_its_target_is_an_error() -> None:
    with pytest.raises(ArithmeticError):
        accept_exponential(Ratio(0, 1), Ratio(3, 2), lambda n: n - 1)


@pytest.mark.parametrize("scale", [0.37, 1.0, 12345.678, 2.0**50])
def test_the_proposal_covers_the_target_at_every_gap(scale: float) -> None:
    """The integer weight exceeds ``2**40 exp(-gap / scale)`` in exact arithmetic, and by little."""
    gaps = np.unique(np.concatenate([np.arange(300), np.geomspace(1, 2**63, 200).astype(np.uint64)])).astype(np.uint64)
    for gap, weight in zip(gaps, proposal_weights(gaps, scale).tolist(), strict=True):
        low, high = bounds(Fraction(int(gap)) / Fraction(scale), 128)
        assert high * 2**PROPOSAL_BITS < weight <= low * 2**PROPOSAL_BITS * (1 + Fraction(2, 10**8)) + 2


ONES = np.ones(2, np.uint64)
MECHANISMS: dict[str, tuple[Callable[[np.ndarray, float, Below], int], int]] = {
    "one vector": (exponential_index, PROPOSAL_BITS),
    "blocks": (lambda scores, scale, below: exponential_place(np.split(scores, [1]), scale, below)[0], PROPOSAL_BITS),
    "runs": (lambda scores, scale, below: exponential_runs(scores, ONES, scale, below), RUN_BITS),
}


@pytest.mark.parametrize("gap", [7, 205, 390, 5000])
@pytest.mark.parametrize("kind", MECHANISMS)
def test_a_proposal_is_taken_as_often_as_its_weight_and_no_more(kind: str, gap: int) -> None:
    """The last unit of the proposals is of the second candidate: words beside the exact chance (2**-30) decide."""
    draw, bits = MECHANISMS[kind]
    weight = int(proposal_weights(np.array([gap], np.uint64), 10.0, bits)[0])
    chance = bounds(Fraction(gap, 10), 900)[0] * 2**bits / weight
    edge = int(chance * 2**64)
    for word, expected in ((edge - (1 << 34), 1), (edge + (1 << 34), 0)):
        tape = [0, 0, word, -1]  # if it is refused, the first unit is proposed, and taken
        if word >= 0:
            assert draw(np.array([0, -gap]), 10.0, lambda bound, tape=tape: tape.pop() % bound) == expected
