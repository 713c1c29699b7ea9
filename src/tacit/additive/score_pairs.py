"""Interactions of two columns for terms with a vector of effects: screened and learned as for one margin."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from tacit.additive.pairs import (
    LEAST_EVIDENCE,
    MAINS_BESIDE_PAIRS,
    Screen,
    Side,
    log_evidence,
    pair_name,
    pair_priors,
    screen,
    strongest,
)
from tacit.additive.score_sweeps import ScoreState
from tacit.additive.score_term import ScoreTerm
from tacit.curator.budget import Budget
from tacit.curator.measurement import LEAST_SD, Measurement


def screen_score_pairs(
    budget: Budget, sides: list[Side], most: int, state: ScoreState, total: float
) -> list[tuple[Side, Side]]:
    """The pairs whose residuals hold more than noise, strongest first, at most ``most``.

    Every pair among ``sides`` is released once; its evidence is the sum over the directions of the scores.
    """
    candidates = list(combinations(sides, 2))
    each = budget.split(len(candidates))
    nominal = each.sd(1.0, state.loss.bound) ** 2
    screens = {side.column: Screen.of(side, nominal, total) for side in sides}
    directions = state.directions()

    def evidence(a: Screen, b: Screen, release: Measurement) -> float:
        tables = (release.value @ directions.basis).reshape(len(a.matrix), len(b.matrix), -1)
        sd = max(release.sd, LEAST_SD)
        return sum(
            log_evidence(a, b, tables[:, :, j], sd, total, float(h)) for j, h in enumerate(directions.curvatures)
        )

    found = screen(each, screens, candidates, state.query, evidence)
    return strongest(candidates, found, most, LEAST_EVIDENCE * float(np.sqrt(len(directions.curvatures))))


def score_pair_terms(
    budget: Budget,
    learning: Budget,
    pairs: list[tuple[Side, Side]],
    n_mains: int,
    total: float,
    state: ScoreState,
) -> list[ScoreTerm]:
    """Terms for the chosen pairs; the budget pays for their counts, ``learning`` is what the sweeps will spend."""
    loss = state.loss
    mode_variance = learning.split(max(n_mains, 1)).sd(1.0, loss.bound) ** 2
    noise_variance = learning.split(len(pairs) + n_mains / MAINS_BESIDE_PAIRS).sd(1.0, loss.bound) ** 2 * 4 / 3
    priors = pair_priors(budget, pairs, mode_variance, total, state.jointly)
    return [
        ScoreTerm(pair_name(*pair), prior, noise_variance, loss.n_scores)
        for pair, prior in zip(pairs, priors, strict=True)
    ]
