"""Gauss-Seidel sweeps over terms with a vector of effects. As :mod:`tacit.additive.sweeps`, for any loss."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.additive.imagined import ImaginedRows
from tacit.additive.jointly import open_sweeps
from tacit.additive.score_intercept import ScoreIntercept
from tacit.additive.score_losses import Loss
from tacit.additive.score_term import Directions, ScoreTerm
from tacit.additive.sweeps import LONG_STEP, STEP, HyperPrior, have_settled, mean_square
from tacit.arrays import Floats
from tacit.curator.budget import Budget
from tacit.queries.cells import Cells, OneCell
from tacit.queries.histogram import ReleaseMap, ScoreHistogram
from tacit.queries.margins import Scores


@dataclass
class ScoreState:
    """The model so far, as the engine and the imagined rows know it."""

    loss: Loss
    scores: Scores
    rows: ImaginedRows
    intercept: ScoreIntercept
    hyper_prior: HyperPrior
    jointly: bool = False
    """Whether rows are bounded together over the terms of a sweep, whose release maps are centred then."""

    def add(self, cells: Cells, values: Floats) -> Floats:
        """Adds an update, one line per cell, to all scores; returns it as it was rounded."""
        added = self.scores.add(cells, values)
        self.rows.add(cells, added)
        return added

    def directions(self) -> Directions:
        """Where the loss is curved now."""
        loss = self.loss
        return Directions.of(loss.curvature(self.rows), loss.floor, loss.scatter, loss.least_scatter, loss.gain)

    def query(self, cells: Cells, release_map: ReleaseMap | None = None) -> ScoreHistogram:
        """What rows contribute, by cell."""
        return ScoreHistogram(cells, self.loss.rule, self.scores, release_map)


REFRESHED, REFRESHED_LATER = (0, 1, 3, 7, 15), (0, 4)
"""Sweeps before which the loss looks again at the size of contributions: first, and with pairs."""


def sweep_scores(
    budget: Budget,
    whole: Budget,
    sweeps: int,
    terms: list[ScoreTerm],
    state: ScoreState,
    stage: str = "",
    settles: bool = False,
) -> None:
    """Sweeps over the intercept and the terms, spending at most the budget; the loss spends from ``whole``.

    With ``settles`` steps are long, and sweeps end once effects have settled; what is left is not spent.
    """
    everything, generator = OneCell(), budget.public_generator
    unit = budget.split(sweeps * (1.0 + sum(term.share for term in terms)))
    joint = open_sweeps(unit, sweeps, terms, stage) if state.jointly else None
    length = LONG_STEP if settles else STEP
    for number in range(sweeps):
        if number in (REFRESHED_LATER if stage else REFRESHED):
            state.loss.refresh(whole, state.scores, f"{stage}sweep {number + 1}")
        release = unit.measure(state.query(everything), 1.0, f"intercept, {stage}sweep {number + 1}")
        step = state.intercept.observe(release, state.directions(), state.loss.ends)
        moved = float((state.add(everything, step[None, :]) ** 2).sum())
        directions = state.directions()
        for index in generator.permutation(len(terms)):
            term = terms[index]
            if joint is not None:
                release = joint.measure(index, state.loss.rule, state.scores)
            else:
                query, label = state.query(term.cells, term.release_map), f"{term.name}, {stage}sweep {number + 1}"
                release = unit.measure(query, term.share, label)
            term.observe(release, directions.gain)
            mean = term.solve(directions, state.hyper_prior.log(term.kind))
            step = state.add(term.cells, length * (mean - term.effect))
            moved += mean_square(term.counts, step)
            term.effect = term.effect + step
        state.hyper_prior.learn(terms)
        if settles and have_settled(moved, terms):
            return
