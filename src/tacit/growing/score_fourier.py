"""A smooth function of all columns for several scores, or for a number: see :mod:`tacit.growing.fourier`.

Rows release the outer product of their feature vector and their contribution, which is bounded. Along every direction
in which scores are curved the function has the same prior ``v k``, and ``v``, which says how far the function is
followed, is estimated from the first sum over all of them together. Where that sum shows no effect the way is short,
and next to nothing is learned.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.curator.budget import Budget
from tacit.growing.fourier import LOOK, Descent, Directions
from tacit.growing.random_trees import Cuts
from tacit.growing.released_features import released_features
from tacit.growing.rounds import FourierRounds
from tacit.growing.tuning import SMOOTH, Smooth
from tacit.models.fourier_features import FourierTerm
from tacit.queries.fourier import ScoreFourierSum


def grow_score_fourier(
    budget: Budget,
    rows: float,
    noise: float,
    cuts: Cuts,
    rounds: FourierRounds,
    generator: np.random.Generator,
    numbers: Smooth = SMOOTH,
) -> tuple[FourierTerm | None, float]:
    """Boosts the scores by a smooth function of all columns, spending the budget.

    Args:
        budget: what it may spend, of Gaussian noise.
        rows: the released number of rows.
        noise: standard deviation that noise may have in a score, about.
        cuts: what is known of the columns; unordered ones have ranks.
        rounds: what rows contribute; every step is appended to its log.
        generator: public randomness.
        numbers: of the tuning.

    Returns:
        The function, and the share of the allowance that was spent. There is none where fewer than two columns have two
        codes.
    """
    look = budget.part(numbers.look_part)
    drawn, spent = released_features(look, rows, cuts, generator, numbers)
    if drawn is None:
        return None, 0.0
    features, normal = drawn
    query, summed = ScoreFourierSum(features, rounds.bare_rule, rounds.scores), look.part(1.0 - numbers.scatter_part)
    first = summed.measure(query, 1.0, LOOK)
    values, basis = np.linalg.eigh(rounds.curvature())
    curved = values > 1e-9 * values[-1]  # along others scores may move at will: of classes, all of them together
    plain, own, steepest = Directions.of(normal, rows, 1.0), rounds.scatter, rounds.steepest
    along = tuple(replace(plain, curvature=float(one), own=own, steepest=steepest) for one in values[curved])
    descent = Descent(
        query=query,
        add=rounds.add_features,
        normal=normal,
        rows=rows,
        first=first,
        along=along,
        bound=rounds.bound,
        most_variance=rounds.most_variance,
        numbers=numbers,
        basis=basis[:, curved],
    )
    return descent.go(budget.after(spent + summed.share), noise), budget.share
