"""The views of Boost-S: rows drawn from a measure over released voters.

:class:`MeasureSample` (Algorithm 15) has the lazy Bregman measure of Algorithm 3 on votes: row ``i`` weighs
``exp(-lambda / 2 * margin)``, where the margin is the number of released models that are right about it less the number
that are wrong, scaled under a cap to a public total ``M``. Weights are integers that add up to ``M`` units exactly; a
draw is a uniform unit. Where there are fewer rows than ``M``, units that belong to nobody draw a null row: so one
replaced row moves the distribution by at most ``1 / M``, always.

:class:`SmoothSample` (Algorithm 11) has a noisy end test, then draws from a stateless measure: a public table of
weights over votes, such as SmoothBoost's (Algorithm 13). Its distribution is slick only while the measure is large: let
``A`` be what the other rows weigh and ``a``, ``b`` the two weights of the row that is replaced. The distributions of
the row that is drawn are ``max(a, b) / (A + max(a, b))`` apart in total variation, at most ``1 / K`` where both
measures weigh ``K`` or more (Lemma 52 has ``2 / K``). That they do is tested in private before every draw (Lemma 50):
where the test fails the view ends, and so does the run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Ints
from tacit.curator.views.view import Plan, Rows, charge_of, is_private, uniform_indices
from tacit.encoding.frames import Frame, take_rows
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.models.base import ClassModel
from tacit.noise.source import NoiseSource
from tacit.privacy.charges import Charge, NonPrivate
from tacit.privacy.unit import Neighbouring
from tacit.queries.dense.vector_sum import TICKS, WEIGHT_BITS, capped_scaling
from tacit.theory.boosting import Analysis, end_test_threshold, tested_round
from tacit.theory.checks import Cost
from tacit.theory.resampling import cost_of_draws


def said_by(models: Sequence[ClassModel], frame: Frame) -> Ints:
    """The side that each model puts each row on, shape ``(rows, models)``."""
    votes = np.zeros((frame.n_rows, len(models)), np.int64)
    for j, model in enumerate(models):
        votes[:, j] = model.predict_proba(frame)[:, 1] >= 0.5
    return votes


def vote_margins(models: Sequence[ClassModel], rows: Rows) -> tuple[Ints, Ints]:
    """The rows that no rule drops, by position, and their margins: how many more models are right than wrong."""
    places = np.flatnonzero(rows.labels != DROPPED)
    signs = 2 * rows.labels[places].astype(np.int64) - 1
    votes = 2 * said_by(models, rows.frame)[places] - 1
    return places, signs * votes.sum(axis=1, dtype=np.int64)


def round_cost(base: Cost, total: int, size: int, analysis: Analysis) -> Cost:
    """What a learner of cost ``base`` costs on ``size`` draws from a measure of total ``total``, under replacement."""
    return cost_of_draws(base, 1 / total, size, analysis)


class _Draws:
    """What samples from a measure share."""

    models: tuple[ClassModel, ...]
    child: Plan

    @property
    def children(self) -> tuple[Plan, ...]:
        return (self.child,)

    def charges(self, neighbouring: Neighbouring) -> Sequence[tuple[Charge, str]]:
        if neighbouring is not Neighbouring.REPLACE_ONE:
            raise ValueError("draws from a measure are analysed for a public number of rows: use replace_one")
        return [self._charge()] if is_private(self.child) else [(NonPrivate(), "no privacy")]

    def _charge(self) -> tuple[Charge, str]:
        raise NotImplementedError

    def weights(self, rows: Rows) -> Ints:
        """Integer weights of all rows; rows that a rule drops weigh nothing. Private: for this module alone."""
        places, margins = vote_margins(self.models, rows)
        weights = np.zeros(len(rows.labels), np.int64)
        weights[places] = self._weights(margins + len(self.models))
        return rows.witness.inside("weights", self, weights, weights)

    def _weights(self, levels: Ints) -> Ints:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class MeasureSample(_Draws):
    """A sample, with replacement, from the lazy Bregman measure over released models."""

    models: tuple[ClassModel, ...]  # the voters so far; released
    total: int  # `M = kappa n`, the total of the measure in rows at full weight; a public constant
    learning_rate: float  # lambda
    size: int  # number of draws
    label_index: LabelIndex  # two classes
    child: Plan  # the child's declared maximum
    cost: Cost  # the child's (epsilon, delta); the plan must not cost more
    analysis: Analysis = "sharp"  # `"sharp"`, or `"paper"` for Lemma 55 as stated

    def _charge(self) -> tuple[Charge, str]:
        theorem = "draws from a slick measure: Lemma 55 with Lemma 21"
        sharper = " (sharp: attained)" if self.analysis == "sharp" else ""
        return charge_of(round_cost(self.cost, self.total, self.size, self.analysis)), theorem + sharper

    def open(self, rows: Rows, neighbouring: Neighbouring, noise: NoiseSource) -> Sequence[Rows]:
        del neighbouring
        if len(rows.labels) == 0:
            return [rows]
        weights = self.weights(rows)
        ends = np.cumsum(weights)
        units = uniform_indices(noise, self.total << WEIGHT_BITS, self.size)
        indices = np.searchsorted(ends, units, side="right")
        nobody = indices == len(weights)
        index = np.where(nobody, 0, indices).astype(np.int64)
        labels = np.where(nobody, np.uint8(DROPPED), rows.labels[index]).astype(np.uint8)
        return [Rows(take_rows(rows.frame, index), labels)]

    def _weights(self, levels: Ints) -> Ints:
        reach = len(self.models)
        ticks = np.rint(np.arange(-reach, reach + 1) * (self.learning_rate / 2 * TICKS)).astype(np.int64)
        histogram = np.bincount(levels, minlength=len(ticks)).astype(np.int64)
        return capped_scaling(histogram, ticks, self.total).per_row(levels)


CAP = 1 << WEIGHT_BITS


def drawn_cost(base: Cost, threshold: int, size: int, analysis: Analysis) -> Cost:
    """What a learner of cost ``base`` costs on ``size`` draws, under the promise of a measure of size ``threshold``."""
    distance = (1 if analysis == "sharp" else 2) / threshold
    return cost_of_draws(base, distance, size, analysis)


def round_with_test(cost: Cost) -> Cost:
    """Lemma 49: a round of end test and draws, without the promise."""
    return Cost(*tested_round(cost.epsilon, cost.delta))


@dataclass(frozen=True, eq=False)
class SmoothSample(_Draws):
    """A sample, with replacement, from a stateless measure over released models; none if the end test says stop."""

    models: tuple[ClassModel, ...]  # the voters so far; released
    table: Ints  # weight by margin of votes, `-len(models)` first: integers of at most `CAP`, shape `(2 t + 1,)`
    threshold: int  # `K = kappa n`, the size that the measure must have, in rows at full weight; a public constant
    size: int  # number of draws
    label_index: LabelIndex  # two classes
    child: Plan  # the child's declared maximum
    cost: Cost  # the child's (epsilon, delta), delta positive; the plan must not cost more
    analysis: Analysis = "sharp"  # `"sharp"`, or `"paper"` for Lemmas 52 and 55 as stated

    def __post_init__(self) -> None:
        if len(self.table) != 2 * len(self.models) + 1:
            raise ValueError(f"{len(self.models)} voters need {2 * len(self.models) + 1} weights")
        if int(self.table.min()) < 0 or int(self.table.max()) > CAP:
            raise ValueError(f"weights must lie in 0..{CAP}")

    @property
    def drawn(self) -> Cost:
        """What the child costs on its draws, under the promise."""
        return drawn_cost(self.cost, self.threshold, self.size, self.analysis)

    def _charge(self) -> tuple[Charge, str]:
        if not self.drawn.delta > 0:
            raise ValueError("an end test fails with a probability that only a positive delta pays for")
        theorem = "an end test, and draws from a slick measure: Lemmas 49 and 55 with Lemma 52"
        sharper = " (sharp)" if self.analysis == "sharp" else ""
        return charge_of(round_with_test(self.drawn)), theorem + sharper

    def open(self, rows: Rows, neighbouring: Neighbouring, noise: NoiseSource) -> Sequence[Rows]:
        del neighbouring
        weights = self.weights(rows)
        units = int(weights.sum())
        if rows.witness.inside("end test", self, units, self._ends(units, noise)):
            return []
        ends = np.cumsum(weights)
        if len(ends) == 0 or ends[-1] == 0:  # the test let it pass all the same: a child without rows
            return [Rows(take_rows(rows.frame, np.zeros(0, np.int64)), np.zeros(0, np.uint8))]
        places = uniform_indices(noise, int(ends[-1]), self.size)
        index = np.atleast_1d(np.searchsorted(ends, places, side="right")).astype(np.int64)
        return [Rows(take_rows(rows.frame, index), rows.labels[index])]

    def _ends(self, units: int, noise: NoiseSource) -> bool:
        """Algorithm 11's test: whether the noisy size is not clearly above the threshold."""
        if not is_private(self.child):
            return units < self.threshold * CAP
        drawn = self.drawn
        surplus = end_test_threshold(drawn.epsilon, drawn.delta)
        noisy = units + int(noise.laplace(math.nextafter(CAP / drawn.epsilon, math.inf), 1)[0])
        return noisy < (self.threshold + surplus) * CAP

    def _weights(self, levels: Ints) -> Ints:
        weights: Ints = self.table[levels]
        return weights
