"""The planning rule: how the budget is divided, from public numbers alone.

``docs/planning.md`` explains the rule and names the script that fits it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

BINNING_SHARE = 0.12
PAIRS_FROM, PAIRS_FULL = 140.0, 1000.0
"""Signal-to-noise ``q = n mu / sqrt(d)`` from which pairs are tried, and at which they get their full share."""


@dataclass(frozen=True)
class Plan:
    """Shares of the purse, and how many sweeps they are spread over.

    Attributes:
        binning: number of rows and histograms.
        mains: sweeps over the columns before pairs are looked for (all that is left when they are not).
        screening: looking for pairs.
        pair_counts: histograms of the pairs found.
        joint: sweeps over columns and pairs together.
        sweeps, joint_sweeps: how many.
    """

    binning: float
    mains: float
    screening: float
    pair_counts: float
    joint: float
    sweeps: int
    joint_sweeps: int

    @property
    def looks_for_pairs(self) -> bool:
        return self.screening > 0


def plan(total: float, n_columns: int, signal: float, interactions: bool, pure: bool) -> Plan:
    """The plan.

    Args:
        total: released number of rows.
        n_columns: columns of the model.
        signal: ``q``: ``total * mu / sqrt(n_columns)``, the ratio of rows to the noise of one release of all columns.
        interactions: whether pairs are wanted.
        pure: whether the purse is pure (Laplace): its noise grows with the number of releases, so there are few.
    """
    sweeps = 4 if pure else 24
    joint_sweeps = 3 if pure else 12
    if total * n_columns > 5e6 and not pure:  # little noise: a third of the sweeps does as well
        sweeps, joint_sweeps = 8, 6
    mains = 1 - BINNING_SHARE
    if not interactions or n_columns < 2 or signal < PAIRS_FROM:
        return Plan(BINNING_SHARE, mains, 0.0, 0.0, 0.0, sweeps, 0)
    ramp = min(1.0, math.log(signal / PAIRS_FROM) / math.log(PAIRS_FULL / PAIRS_FROM))
    screening, pair_counts = 0.1 * (0.4 + 0.6 * ramp), 0.05
    first = (mains - 0.1) * (1 - ramp) + 0.35 * ramp - 0.1 * (1 - ramp)
    return Plan(
        BINNING_SHARE, first, screening, pair_counts, mains - first - screening - pair_counts, sweeps, joint_sweeps
    )
