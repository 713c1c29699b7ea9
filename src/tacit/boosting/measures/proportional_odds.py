"""What a row of an ordered class contributes: the slope of its log chance under proportional odds, scaled to at most 1.

Both rules are tables over class and level of the score, so that their sensitivity is read off the table. Entries are
evaluated at the middle of each level and truncated toward zero, which enlarges no norm.
"""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats
from tacit.models.ordered import OrderedChances
from tacit.queries.rules import LEVEL_BITS, LEVELS, WEIGHT_UNIT
from tacit.queries.score_rules import LevelRule


def ordered_rule(cuts: Floats, curvature: float = 0.0, norm: int = 2) -> LevelRule:
    """A row of class ``y`` and score ``F`` adds ``u_y / max over classes k of |u_k|``, ``u`` the slopes at ``F``.

    The scale does not depend on the class, so contributions vanish on average where the chances are right. With two
    classes this is MadaBoost's ``s min(1, exp(-s F))``.

    Args:
        cuts: cut points in increasing order, shape ``(classes - 1,)``.
        curvature: if positive, one more channel, of ``curvature`` times the variance of the slope, scaled alike.
        norm: of both channels together: 2 bounds the L2 norm by 1, 1 the L1 norm.
    """
    known = _by_level(cuts)
    channels, longest = known.slopes[:, :, None], longest_slopes(known)
    if curvature > 0:
        more = curvature * known.information
        longest = np.hypot(longest, more) if norm == 2 else longest + more
        channels = np.stack([known.slopes, np.broadcast_to(more, known.slopes.shape)], axis=2)
    return _table(channels, longest)


def class_rule(cuts: Floats, norm: int = 2) -> LevelRule:
    """A row of class ``y`` adds ``c(p) (e_y - p)`` with ``p`` the chances at its score, of norm at most 1.

    As :class:`~tacit.queries.score_rules.SoftmaxRule`; sums say which class is more frequent than cut points have it.
    """
    known = _by_level(cuts)
    vectors = np.eye(len(cuts) + 1)[:, None, :] - known.chances.T[None, :, :]
    return _table(vectors, longest_vectors(known, norm))


def longest_slopes(known: OrderedChances) -> Floats:
    """The largest slope that a row of each score could have, over the classes: the first or last one's; ``(rows,)``."""
    return np.asarray(np.maximum(known.above[0], known.below[-1]))


def longest_vectors(known: OrderedChances, norm: int) -> Floats:
    """The largest norm of a class's unit vector less the chances, over the classes; shape ``(rows,)``."""
    p = known.chances
    if norm == 1:
        return np.asarray(2.0 - 2.0 * p.min(axis=0))
    return np.asarray(np.sqrt(1.0 - 2.0 * p.min(axis=0) + np.square(p).sum(axis=0)))


def _by_level(cuts: Floats) -> OrderedChances:
    return OrderedChances.of(cuts, (np.arange(LEVELS) - LEVELS // 2 + 0.5) / 2**LEVEL_BITS)


def _table(vectors: Floats, longest: Floats) -> LevelRule:
    scaled = np.clip(vectors / longest[None, :, None], -1.0, 1.0)
    return LevelRule(np.trunc(scaled * WEIGHT_UNIT).astype(np.int32), WEIGHT_UNIT)
