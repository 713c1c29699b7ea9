"""The numbers that say how a list is chosen, in one place."""

from __future__ import annotations

FIRST_PENALTY = 4.0
"""Rows it must get right to make up for one that it gets wrong: for the first rule; falls to 1 for the last one."""

PURE = ((4.0, (32, 16), 0.03), (0.0, (16,), 0.05))
"""From an epsilon on: penalties of the stages that come before, and by which share of all rows a rule must gain there.

Rows that some list fits are fitted by pure rules of many rows; where there are none, one choice of "no rule" tells, and
the penalty falls to :data:`FIRST_PENALTY`. With less budget, gains over so high a penalty drown in noise.
"""

ROWS_SHARE = 0.02
"""Share of epsilon for the number of rows, which that gain is a share of."""

FIRST_STRENGTH = 2.0
"""How much stronger than the last one the first choice is: what goes wrong there is mended by no later rule."""

MOST_MOMENT_STEPS = 4000
"""Steps up to which the exact moments are computed; from a few hundred on the closed forms are as good."""
