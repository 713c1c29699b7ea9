"""All numbers by which decision lists are tuned: accuracy depends on them, and no promise does.

To vary a number, replace it::

    DecisionListLearner(request, tuning=replace(Tuning(), first_penalty=3.0))
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PureStages:
    """From an ``epsilon`` on: penalties of the stages that come before, and the share of the rows a rule must gain.

    Rows beyond a share ``knee`` of all count by the penalty ``beyond``, where that is larger.
    """

    epsilon: float
    penalties: tuple[int, ...]
    gain: float
    knee: float = 1.0
    beyond: int = 0


@dataclass(frozen=True)
class Tuning:
    """How rules are scored and the budget is divided."""

    # What a user may choose instead: the most conditions of a rule, the most rules, thresholds of a numeric column.
    k: int = 2
    max_rules: int = 8
    thresholds: int = 16

    # Share of epsilon for the counts of the rules.
    counts_share: float = 0.2

    # Rows it must get right to make up for one that it gets wrong: for the first rule; falls to 1 for the last one.
    first_penalty: float = 4.0

    # Rows that some list fits are fitted by pure rules of many rows; where there are none, one choice of "no rule"
    # tells, and the penalty falls to ``first_penalty``. Gains over a high penalty drown in noise, so it is high for a
    # rule's rows beyond the knee alone: large rules are chosen by how pure they are.
    pure: tuple[PureStages, ...] = (PureStages(4.0, (8,), 0.03, 0.3, 64), PureStages(0.0, (8,), 0.05, 0.3, 32))

    # Share of epsilon for the number of rows, which that gain is a share of.
    rows_share: float = 0.02

    # How much stronger than the last one the first choice is: what goes wrong there is mended by no later rule, but
    # gains are larger there, too.
    first_strength: float = 1.4

    # Steps up to which the exact moments are computed; from a few hundred on the closed forms are as good.
    most_moment_steps: int = 4000

    # A rule whose released support is below so many standard deviations of its noise may decide no row at all: it goes.
    # Where there are two classes, one in sixteen of those that decide no row stays, and errs on none.
    least_support: float = 1.5


TUNING = Tuning()  # as they were chosen
