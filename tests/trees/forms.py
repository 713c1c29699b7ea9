"""The forms of a proper loss that no learner needs, from those that learners use."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.trees.losses import Loss, MAlphaLoss


def surrogate(loss: Loss, z: npt.ArrayLike) -> Floats:
    """``F(z) = sup_u { L(u) - z u }``: the convex loss of a margin; the best u is the boosting weight."""
    u = loss.boosting_weight(z)
    return loss.bayes_risk(u) - np.asarray(z, float) * u


def partial_loss(loss: Loss, label: int, u: Floats) -> Floats:
    """``l_label(u)``: the loss of predicting ``u`` in (0, 1) when the label is 1 or -1."""
    return loss.bayes_risk(u) + loss.link(u) * (u - 1.0 if label == 1 else u)


def jump(loss: Loss) -> float:
    """The height of the link's jump at 1/2."""
    return 4.0 * (1.0 - loss.alpha) if isinstance(loss, MAlphaLoss) else 0.0
