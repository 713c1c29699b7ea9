"""Whether many rows lie far on the wrong side of the first centre: boosting starts where one centre ends.

Noise in the rounds makes rows wrong that lie near the boundary: it is normal, and about as large as the scores where it
decides, so that few are wrong by two typical scores. Rows that are, no mean of rows can get right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.boosting.measures.measure import DENSE_WEIGHT_UNIT
from tacit.curator.budget import Budget
from tacit.halfspaces.calibration import spread_of
from tacit.halfspaces.centering import Centre
from tacit.halfspaces.scaling import Scaling
from tacit.halfspaces.tuning import Tuning
from tacit.privacy.label import Label, Stage
from tacit.queries.dense.halfspace_log import HalfspaceLog, Levels, MeasureSize

REACH, LEVELS = 4.0, 16
"""Not tuned: scores are told apart up to four typical ones, on levels of half of one."""


def many_far_rows(
    budget: Budget, radius: int, share: float, hypotheses: Sequence[Centre], scaling: Scaling, rows: float,
    tuning: Tuning,
) -> bool:  # fmt: skip
    """Releases how many rows are wrong by ``tuning.far_scores`` typical scores, and compares it with the noise.

    One count, of sensitivity 1. ``rows`` is their released number, ``radius`` the integer length of a row of norm 1.
    """
    direction = hypotheses[0].direction
    log, levels = HalfspaceLog(len(direction), radius), Levels.covering(1.0, LEVELS)
    log.add(direction / (REACH * spread_of(direction, scaling, 0.0).width))
    table = np.where(levels.middles * REACH < -tuning.far_scores, DENSE_WEIGHT_UNIT, 0)
    query = MeasureSize(log, levels, table, DENSE_WEIGHT_UNIT)
    release = budget.measure(query, share, Label(Stage.ROUND, "rows far on the wrong side of the first centre"))
    return bool(release.value[0] > tuning.far_rows * rows + tuning.far_deviations * release.sd)
