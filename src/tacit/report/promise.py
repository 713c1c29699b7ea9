"""The promise in plain words: what an epsilon and a delta mean for one person."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.privacy.neighbouring import Neighbouring


def best_guess(prior: float, epsilon: float, delta: float) -> float:
    """How often the best guess between two neighbouring tables can be right, given an (epsilon, delta)-private release.

    The errors (false alarm, miss) that such a release allows lie on or above the lines through ``(0, 1 - delta)``,
    ``(c, c)`` and ``(1 - delta, 0)`` with ``c = (1 - delta) / (1 + e^epsilon)`` (Kairouz, Oh, Viswanath 2015); a linear
    function of them is least at a corner.

    Args:
        prior: how likely the guesser thought the first table before, in (0, 1).
        epsilon: at least 0, may be infinite.
        delta: in [0, 1).
    """
    if math.isinf(epsilon):
        return 1.0
    corner = (1.0 - delta) / (1.0 + math.exp(min(epsilon, 700.0)))
    return 1.0 - min(corner, prior * (1.0 - delta), (1.0 - prior) * (1.0 - delta))


@dataclass(frozen=True)
class Promise:
    """Words and figures of the promise.

    Attributes:
        headline: the promise in one sentence.
        who: whom it is about.
        unknown: what the guesser does not know.
        factor: by what factor one person's row can change the chance of any outcome, but for delta.
        guess: how often the best guess at a coin flip about one person can be right, by (epsilon, delta) alone.
        sharp_guess: the same by the whole curve of what was accounted; None if it is not known.
        failure: what delta means.
        strength: ``"strong"``, ``"moderate"``, ``"weak"`` or ``"none"``.
    """

    headline: str
    who: str
    unknown: str
    factor: str
    guess: float
    sharp_guess: float | None
    failure: str
    strength: str


STRENGTHS = ((1.0, "strong"), (3.0, "moderate"), (math.inf, "weak"))


def count(value: float) -> str:
    """A large number in words people use: ``1000000`` is ``1 million``."""
    for limit, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if value >= limit:
            return f"{value / limit:.3g} {name}"
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"


def describe(
    epsilon: float, delta: float, neighbouring: str, rows_per_unit: int, sharp_advantage: float | None
) -> Promise:
    """The promise of a certificate.

    Args:
        epsilon: what is guaranteed, may be infinite.
        delta: what is guaranteed.
        neighbouring: under which relation.
        rows_per_unit: how many rows one protected person may have.
        sharp_advantage: delta of the whole composition at epsilon 0, its total-variation distance, if known.
    """
    one = "one person’s row" if rows_per_unit == 1 else f"all rows of one person (at most {rows_per_unit})"
    if Neighbouring(neighbouring) is Neighbouring.ADD_OR_REMOVE_ONE:
        tables = f"a table with {one} and the same table without"
        who = f"The comparison is between {tables}. The number of rows is private too."
        change = "had any one person never been in the table"
        unknown = "whether one person’s data took part"
    else:
        public = "The number of rows is public." if rows_per_unit == 1 else "The number of persons is public."
        who = f"The comparison is between two tables that differ in {one}. {public}"
        change = "had any one person’s data been anything else"
        unknown = "which of two records one person has"
    if math.isinf(epsilon):
        return Promise(
            "There is no promise: this model was made without noise.", "", unknown, "without limit", 1.0, None,
            "Nothing is protected.", "none",
        )  # fmt: skip
    ratio = math.exp(min(epsilon, 700.0))
    factor = f"{ratio:.2f}" if ratio < 100 else count(ratio)
    strength = next(name for limit, name in STRENGTHS if epsilon <= limit)
    likely = "almost as likely" if strength == "strong" else f"with a chance within a factor of {factor}"
    headline = f"Anything this model shows would have been {likely} {change}."
    if delta == 0:
        failure = "This holds without exception (delta is 0)."
    else:
        failure = f"Beyond that factor, the chance of any outcome may differ by at most 1 in {count(1 / delta)}."
    sharp = None if sharp_advantage is None else (1.0 + sharp_advantage) / 2
    return Promise(headline, who, unknown, factor, best_guess(0.5, epsilon, delta), sharp, failure, strength)
