"""The view of Boost-S under a stopping rule (Algorithm 11): a noisy end test, then rows drawn from a stateless measure.

The measure is a public table of weights over votes, such as SmoothBoost's (Algorithm 13); a row's weight depends on
that row alone. Its distribution is slick only while the measure is large: let ``A`` be what the other rows weigh and
``a``, ``b`` the two weights of the row that is replaced. The distributions of the row that is drawn are ``max(a, b) /
(A + max(a, b))`` apart in total variation, which is at most ``1 / K`` where both measures weigh ``K`` or more (Lemma 52
has ``2 / K``). That they do is tested in private before every draw (Lemma 50): where the test fails the view ends, and
so does the run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Ints
from tacit.curator.views.resample import vote_margins
from tacit.curator.views.view import Plan, Rows, charge_of, is_private
from tacit.curator.views.view_rows import uniform_indices
from tacit.encoding.frames import take_rows
from tacit.encoding.values import LabelIndex
from tacit.models.base import ClassModel
from tacit.noise.source import NoiseSource
from tacit.privacy.charges import Charge, NonPrivate
from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.dense.capped_scaling import WEIGHT_BITS
from tacit.theory.boosting import Analysis, end_test_threshold, tested_round
from tacit.theory.checks import Cost
from tacit.theory.resampling import cost_of_draws

CAP = 1 << WEIGHT_BITS


def drawn_cost(base: Cost, threshold: int, size: int, analysis: Analysis) -> Cost:
    """What a learner of cost ``base`` costs on ``size`` draws, under the promise of a measure of size ``threshold``."""
    distance = (1 if analysis == "sharp" else 2) / threshold
    return cost_of_draws(base, distance, size, analysis)


def round_with_test(drawn: Cost) -> Cost:
    """Lemma 49: a round of end test and draws, without the promise."""
    return Cost(*tested_round(drawn.epsilon, drawn.delta))


@dataclass(frozen=True, eq=False)
class SmoothSample:
    """A sample, with replacement, from a stateless measure over released models; none if the end test says stop.

    Attributes:
        models: the voters so far; released.
        table: weight by margin of votes, ``-len(models)`` first: integers of at most ``CAP``, shape ``(2 t + 1,)``.
        threshold: ``K = kappa n``, the size that the measure must have, in rows at full weight; a public constant.
        size: number of draws.
        label_index: two classes.
        child: the child's declared maximum.
        cost: the child's (epsilon, delta), delta positive; the plan must not cost more.
        analysis: ``"sharp"``, or ``"paper"`` for Lemmas 52 and 55 as stated.
    """

    models: tuple[ClassModel, ...]
    table: Ints
    threshold: int
    size: int
    label_index: LabelIndex
    child: Plan
    cost: Cost
    analysis: Analysis = "sharp"

    def __post_init__(self) -> None:
        if len(self.table) != 2 * len(self.models) + 1:
            raise ValueError(f"{len(self.models)} voters need {2 * len(self.models) + 1} weights")
        if int(self.table.min()) < 0 or int(self.table.max()) > CAP:
            raise ValueError(f"weights must lie in 0..{CAP}")

    @property
    def children(self) -> tuple[Plan, ...]:
        return (self.child,)

    @property
    def drawn(self) -> Cost:
        """What the child costs on its draws, under the promise."""
        return drawn_cost(self.cost, self.threshold, self.size, self.analysis)

    def charges(self, neighbouring: Neighbouring) -> Sequence[tuple[Charge, str]]:
        if neighbouring is not Neighbouring.REPLACE_ONE:
            raise ValueError("draws from a measure are analysed for a public number of rows: use replace_one")
        if not is_private(self.child):
            return [(NonPrivate(), "no privacy")]
        if not self.drawn.delta > 0:
            raise ValueError("an end test fails with a probability that only a positive delta pays for")
        theorem = "an end test, and draws from a slick measure: Lemmas 49 and 55 with Lemma 52"
        sharper = " (sharp)" if self.analysis == "sharp" else ""
        return [(charge_of(round_with_test(self.drawn)), theorem + sharper)]

    def open(self, rows: Rows, neighbouring: Neighbouring, noise: NoiseSource) -> Sequence[Rows]:
        del neighbouring
        weights = self.weights(rows)
        if self._ends(int(weights.sum()), noise):
            return []
        ends = np.cumsum(weights)
        if len(ends) == 0 or ends[-1] == 0:  # the test let it pass all the same: a child without rows
            return [Rows(take_rows(rows.frame, np.zeros(0, np.int64)), np.zeros(0, np.uint8))]
        units = uniform_indices(noise, int(ends[-1]), self.size)
        index = np.atleast_1d(np.searchsorted(ends, units, side="right")).astype(np.int64)
        return [Rows(take_rows(rows.frame, index), rows.labels[index])]

    def _ends(self, units: int, noise: NoiseSource) -> bool:
        """Algorithm 11's test: whether the noisy size is not clearly above the threshold."""
        if not is_private(self.child):
            return units < self.threshold * CAP
        drawn = self.drawn
        surplus = end_test_threshold(drawn.epsilon, drawn.delta)
        noisy = units + int(noise.laplace(math.nextafter(CAP / drawn.epsilon, math.inf), 1)[0])
        return noisy < (self.threshold + surplus) * CAP

    def weights(self, rows: Rows) -> Ints:
        """Integer weights of all rows; rows that a rule drops weigh nothing. Private: for this module alone."""
        kept, margins = vote_margins(self.models, rows)
        weights = np.zeros(len(rows.labels), np.int64)
        weights[kept] = self.table[margins + len(self.models)]
        return weights
