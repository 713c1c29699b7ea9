"""BregBoost: multiplicative weights with a Bregman projection in *every* round. For comparison only: not private.

Barak, Hardt, Kale (2009). Each projection is the start of the next, so a measure depends on all projections before it:
it cannot be computed from the hypotheses and a row alone, and one row can move it in every round again. Neither the
schema nor the curator takes it.
"""

from __future__ import annotations

import math
from typing import NoReturn

import numpy as np

from tacit.arrays import Floats
from tacit.errors import TacitError
from tacit.privacy.neighbouring import Neighbouring


class NotPrivate(TacitError):  # noqa: N818 - a statement about a method, not a fault of a run
    """A measure that has no bound on what one row can change."""


def capped_scaling(logs: Floats, total: float) -> Floats:
    """``min(1, c exp(logs))`` with the ``c`` that makes it add up to ``total``, at most their number (Lemma 9).

    Shape ``(n,)``, as ``logs``: after the rounds of Theorem 20 at a small advantage the weights are no numbers.
    """
    order = np.sort(logs)[::-1]
    below = np.logaddexp.accumulate(order[::-1])[::-1]  # what the k-th largest weight and all smaller ones add up to
    scales = np.log(total - np.arange(min(len(order), math.ceil(total)))) - below[: math.ceil(total)]
    fits = scales + order[: len(scales)] <= 0.0
    scale = scales[int(np.argmax(fits))] if fits.any() else math.inf  # the fewest capped weights that work
    return np.exp(np.minimum(0.0, logs + scale))


def project(measure: Floats, total: float) -> Floats:
    """The Bregman projection onto measures of size ``total`` or more (Lemma 9): ``min(1, c m)`` with the least ``c``.

    The measure is positive and at most 1, shape ``(n,)`` as the result; the size is at most n.
    """
    return measure if measure.sum() >= total else capped_scaling(np.log(measure), total)


def lazy_measures(losses: Floats, density: float, learning_rate: float) -> Floats:
    """The measures of Algorithm 3 in real numbers, of density kappa, before each of ``T + 1`` rounds.

    Losses are in [0, 1], shape ``(T, n)``; ``learning_rate`` is lambda.
    """
    n = losses.shape[1]
    summed = np.vstack([np.zeros(n), np.cumsum(losses, axis=0)])
    return np.array([capped_scaling(-learning_rate * past, density * n) for past in summed])


def bregman_measures(losses: Floats, density: float, learning_rate: float) -> Floats:
    """The measures of BregBoost: as :func:`lazy_measures`, with each projection as the start of the next update."""
    n = losses.shape[1]
    measures = [np.full(n, density)]
    for loss in losses:
        measures.append(project(measures[-1] * np.exp(-learning_rate * loss), density * n))
    return np.array(measures)


class BregmanSum:
    """The query that BregBoost would need. Asking for it is an error: it has no sensitivity to state."""

    def __init__(self, n_features: int) -> None:
        self.shape = (n_features,)
        self.unit = 1

    def sensitivity(self, neighbouring: Neighbouring) -> NoReturn:
        """Raises: no bound is known, and the measure cannot be recomputed from released hypotheses."""
        raise NotPrivate(
            f"BregBoost projects in every round: under {neighbouring} one row can move its measures again in each of "
            "them, and no bound is known. Use LazyBregman, which projects once.",
            "Nothing was read and nothing was spent.",
        )
