"""The promise in plain words: what an epsilon and a delta mean for one row, or one person where a unit is declared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tacit.privacy.charges import Charge
from tacit.privacy.strength import LARGE_DELTA, attack_risks, best_guess, percent, strength
from tacit.privacy.unit import Neighbouring


@dataclass(frozen=True)
class Promise:
    """Words and figures of the promise.

    ``factor`` is that by which one protected unit can change the chance of any outcome, but for delta, whose meaning is
    ``failure``; ``guess`` is how often the best guess at a coin flip about one unit can be right by epsilon and delta
    alone, ``sharp_guess`` the same by the whole curve of what was accounted.
    """

    headline: str
    who: str
    unknown: str
    factor: str
    guess: float
    sharp_guess: float | None
    failure: str
    strength: str
    whom: str
    warnings: tuple[str, ...]

    @property
    def best(self) -> float:
        """The best guess by all that is known."""
        return self.guess if self.sharp_guess is None else min(self.guess, self.sharp_guess)


def count(value: float) -> str:
    """A large number in words people use: ``1000000`` is ``1 million``."""
    for limit, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if value >= limit:
            return f"{value / limit:.3g} {name}"
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"


def risk_rows(charges: Sequence[Charge]) -> list[tuple[str, str, str, str]]:
    """Attacks, their bounds for one and for ten persons, and what is reached without the model."""
    one, ten = attack_risks(charges)
    return [
        ("membership guessed right", percent((1 + one.advantage) / 2),
         percent((1 + ten.advantage) / 2), "50.0 %"),
        ("membership advantage", percent(one.advantage), percent(ten.advantage), "0.0 %"),
        ("members found at 1 % false alarms", percent(one.true_positives_at_1_percent),
         percent(ten.true_positives_at_1_percent), "1.0 %"),
        ("members found at 0.1 % false alarms", percent(one.true_positives_at_01_percent),
         percent(ten.true_positives_at_01_percent), "0.1 %"),
        ("secret of ten values guessed", percent(one.reconstruction), percent(ten.reconstruction),
         "10.0 %"),
    ]  # fmt: skip


def describe(
    epsilon: float,
    delta: float,
    neighbouring: str,
    rows_per_unit: int,
    sharp_advantage: float | None,
    unit: str | None = None,
    rows: float | None = None,
    name: str = "",
) -> Promise:
    """The promise of a certificate in words.

    ``sharp_advantage`` is delta of the whole composition at epsilon 0, its total-variation distance, if known; ``rows``
    how many there are, as far as that was declared or released; ``unit`` is the column of the protected unit, None
    where a row is protected, and ``name`` what the schema calls one of them.
    """
    whom = unit_word(unit, rows_per_unit, name)
    by_row = whom == "row"
    who, change, unknown = _compared(whom, rows_per_unit, unit, Neighbouring(neighbouring))
    if math.isinf(epsilon):
        return Promise(
            "There is no promise: this model was made without noise.", "", unknown, "without limit", 1.0, None,
            "Nothing is protected.", "none", whom, ("Epsilon is infinite: nothing is protected.",),
        )  # fmt: skip
    protected = "one row" if by_row else f"one {whom}, at most {rows_per_unit} rows"
    strength_words = strength(epsilon, delta, sharp_advantage, rows, protected)
    ratio = math.exp(min(epsilon, 700.0))
    factor = f"{ratio:.2f}" if ratio < 100 else count(ratio)
    near = f"had a probability within a factor of {factor}"
    likely = "been almost equally likely" if strength_words.word == "strong" else near
    beyond = f", except with probability 1 in {count(1 / delta)}" if delta > LARGE_DELTA else ""
    headline = f"Whatever this model reveals would have {likely} {change}{beyond}."
    if delta == 0:
        failure = "This holds without exception (delta is 0)."
    else:
        failure = f"In addition, probabilities may differ by up to 1 in {count(1 / delta)}."
    sharp = None if sharp_advantage is None else (1.0 + sharp_advantage) / 2
    return Promise(
        headline, who, unknown, factor, best_guess(0.5, epsilon, delta), sharp, failure, strength_words.word, whom,
        tuple(f"{words[0].upper()}{words[1:]}." for words in strength_words.warnings),
    )  # fmt: skip


def unit_word(unit: str | None, rows_per_unit: int, name: str = "") -> str:
    """What is protected, in a word: a row, or what the schema calls a unit."""
    return name or ("row" if unit is None and rows_per_unit == 1 else "unit" if unit is not None else "person")


def plural(word: str) -> str:
    """Several of them."""
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2:-1] not in tuple("aeiou") else f"{word}s"


def _compared(whom: str, rows: int, unit: str | None, neighbouring: Neighbouring) -> tuple[str, str, str]:
    """Which tables are compared; what is said not to matter; and what a guesser does not know."""
    by_row = whom == "row"
    shared = "" if unit is None else f", all with one value of “{unit}”"
    one = "one row" if by_row else f"all rows of one {whom} (at most {rows}{shared})"
    if neighbouring is Neighbouring.ADD_OR_REMOVE_ONE:
        tables = f"a table with {one} and the same table without"
        return (
            f"The comparison is between {tables}. The number of rows is private too.",
            f"if any one {whom} had not been in the data",
            f"whether one {whom} was in the data",
        )
    public = "The number of rows is public." if by_row else f"The number of {plural(whom)} is public."
    return (
        f"The comparison is between two tables that differ in {one}. {public}",
        f"if any one {whom} had been another",
        f"which of two records one {whom} has",
    )
