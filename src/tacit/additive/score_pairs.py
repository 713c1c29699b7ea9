"""Interactions of two columns for terms with a vector of effects: screened and learned as for one margin."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from tacit.additive.binning import count_rule_fine
from tacit.additive.covariance import centred
from tacit.additive.pairs import LEAST_EVIDENCE, Side, _evidence, _modes, _Screen, pair_cells
from tacit.additive.score_sweeps import ScoreState
from tacit.additive.score_term import ScoreTerm
from tacit.additive.term import LEAST_SD
from tacit.curator.curator import Curator
from tacit.privacy.purse import Purse
from tacit.queries.histogram import Histogram, ReleaseMap

Floats = npt.NDArray[np.float64]


def screen_score_pairs(
    curator: Curator, purse: Purse, share: float, sides: list[Side], most: int, state: ScoreState, total: float
) -> list[tuple[Side, Side]]:
    """The pairs whose residuals hold more than noise, strongest first, at most ``most``.

    Every pair among ``sides`` is released once; its evidence is the sum over the directions of the scores.
    """
    candidates = list(combinations(sides, 2))
    each = share / len(candidates)
    nominal = purse.sd(each, state.loss.bound) ** 2
    screens = {side.column: _Screen.of(side, nominal, total) for side in sides}
    directions, found = state.directions(), []
    for left, right in candidates:
        a, b = screens[left.column], screens[right.column]
        release_map = ReleaseMap.from_floats(np.asarray(np.kron(a.matrix, b.matrix), np.float64))
        query = state.query(pair_cells(left, right), release_map)
        release = curator.measure(query, purse.charge(each), f"screening of {left.name} x {right.name}")
        tables = (release.value @ directions.basis).reshape(len(a.matrix), len(b.matrix), -1)
        sd = max(release.sd, LEAST_SD)
        evidence = [_evidence(a, b, tables[:, :, j], sd, total, float(h)) for j, h in enumerate(directions.curvatures)]
        found.append(sum(evidence))
    least = LEAST_EVIDENCE * np.sqrt(len(directions.curvatures))
    order = np.argsort(-np.array(found), kind="stable")[:most]
    return [candidates[i] for i in order if found[i] > least]


def score_pair_terms(
    curator: Curator,
    purse: Purse,
    share: float,
    learn_share: float,
    pairs: list[tuple[Side, Side]],
    n_mains: int,
    total: float,
    state: ScoreState,
) -> list[ScoreTerm]:
    """Terms for the chosen pairs; ``share`` pays for their counts, ``learn_share`` is what the sweeps will spend."""
    loss, each, terms = state.loss, share / len(pairs), []
    mode_variance = purse.sd(learn_share / max(n_mains, 1), loss.bound) ** 2
    for left, right in pairs:
        cells, name = pair_cells(left, right), f"{left.name} x {right.name}"
        curator.derive(cells)
        query = Histogram(cells, count_rule_fine(curator.layout.n_labels))
        release = curator.measure(query, purse.charge(each), f"counts of {name}")
        sd = max(release.sd, LEAST_SD)
        expected = np.outer(left.masses, right.masses).ravel() * total
        trust = expected**2 / (expected**2 + sd**2)
        counts = np.maximum(trust * release.value[:, 0] + (1 - trust) * expected, 0.02 * expected)
        counts *= total / counts.sum()
        covariances = [
            centred(
                np.kron(left.covariance + mains, right.covariance + mains) + alone * np.eye(len(counts)),
                counts / total,
            )
            for mains, alone in ((0.0, 0.0), (0.3, 0.05))
        ]
        kron = np.kron(_modes(left, mode_variance, total), _modes(right, mode_variance, total))
        guard = 0.5 * np.minimum(sd, expected)
        terms.append(
            ScoreTerm(
                name, "pair", cells, counts, guard, covariances, np.asarray(kron, np.float64), loss.n_scores
            )
        )  # fmt: skip
    return terms
