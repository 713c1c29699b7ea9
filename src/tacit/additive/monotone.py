"""Curves that are declared to rise or to fall, and do: projections of what was released.

The best rising curve, in squares weighted by released counts, is isotonic regression: a function of released numbers
alone, so it costs nothing. A boosting step goes part of the way from one such curve to another and stays one, so the
rows' margins during the fit are those of curves that hold the constraint, too, and other columns learn beside it.

Several classes are a scale then, in their declared order: what is held to is the log-odds of every class against the
one before it. If all of those rise with a column, so does the probability of the classes beyond any place on the scale
(monotone likelihood ratios imply stochastic dominance: Lehmann 1955).
"""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats

RISES, FALLS = 1, -1
DIRECTIONS = {"increasing": RISES, "decreasing": FALLS}
NAMES = {direction: name for name, direction in DIRECTIONS.items()}


def project(effect: Floats, counts: Floats, direction: int) -> Floats:
    """The nearest monotone effect, the last bin ("missing") left as it is.

    Args:
        effect: per bin, shape ``(bins,)`` or ``(bins, n_scores)``; of several scores, the differences of neighbouring
            ones are projected, and their mean is kept.
        counts: released rows of every bin, which weigh it, shape ``(bins,)``.
        direction: :data:`RISES`, :data:`FALLS`, or 0 for no constraint.
    """
    if direction == 0 or len(effect) < 3:
        return effect
    from scipy.optimize import isotonic_regression  # takes longer to load than a fit of a small table

    if effect.ndim == 2 and effect.shape[1] > 1:
        return _from_differences(effect, project(np.diff(effect, axis=1)[:, :, None], counts, direction))
    out = np.array(effect, np.float64)
    weights = np.maximum(counts[:-1], 1e-9 * max(float(counts.sum()), 1e-300))
    for column in out.reshape(len(out), -1).T:  # views: what is written there is written to ``out``
        column[:-1] = direction * isotonic_regression(direction * column[:-1], weights=weights).x
    return exactly(out, direction)


def exactly(effect: Floats, direction: int) -> Floats:
    """The effect without rounding errors that go the wrong way, the last bin left as it is."""
    if direction == 0 or len(effect) < 3:
        return effect
    if effect.ndim == 2 and effect.shape[1] > 1:
        return _from_differences(effect, exactly(np.diff(effect, axis=1)[:, :, None], direction))
    rising = np.maximum.accumulate(direction * effect[:-1], axis=0)
    return np.concatenate([direction * rising, effect[-1:]])


def _from_differences(effect: Floats, differences: Floats) -> Floats:
    """Scores with these differences of neighbours, shape ``(bins, n_scores - 1, 1)``, and the mean that they had."""
    scores = np.concatenate([np.zeros((len(effect), 1)), np.cumsum(differences[:, :, 0], axis=1)], axis=1)
    return np.asarray(scores + (effect.mean(axis=1) - scores.mean(axis=1))[:, None])
