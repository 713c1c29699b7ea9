"""Centering with noise: the weak halfspace learner (Section 5.2, Theorem 22), and where its hypotheses live."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats
from tacit.boosting.measures import Measure
from tacit.curator.curator import Curator
from tacit.halfspaces.plan import Descent
from tacit.halfspaces.scaling import Scaling
from tacit.halfspaces.tuning import TUNING, Tuning
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.queries.dense.halfspace_log import HalfspaceLog


@dataclass(frozen=True, eq=False)
class Centre:
    """A released hypothesis ``h(x) = clip(direction . x, -1, 1)``."""

    direction: Floats  # shape `(d,)`
    noise_sd: float  # root mean square, over coordinates, of the noise that this round added
    divisor: float = 1.0  # what the released vector was divided by
    # of a gradient step with momentum, the step itself; `direction` is where the next gradient is taken
    velocity: Floats | None = None


def pace_of(signal: float, width: int, told_apart: float | None, tuning: Tuning = TUNING) -> float:
    """How long the first step is: short where the noise would be followed, long where the rows soon need sorting.

    Coordinates that are alike, as far as is known, need little sorting: the first centre is right about most rows, and
    every step that is longer than the noise allows turns away from it.

    ``signal`` counts rows per unit of a round's noise and root of dimension (inf without noise); ``told_apart`` says
    how far coordinates are known to differ, from 0 to 1; None where nobody asked.
    """
    if told_apart is None:
        return min(tuning.most_pace, math.sqrt(signal))
    alike = (tuning.alike_pace + tuning.narrow_pace / width) * signal
    apart = tuning.apart_pace * math.sqrt(signal)
    share = math.sqrt(told_apart)
    return min(tuning.most_pace, (1.0 - share) * min(tuning.most_pace, alike) + share * min(tuning.most_pace, apart))


@dataclass(frozen=True, eq=False)
class DenseEmbedding:
    """Hypotheses over dense rows: each moves a row's margin by ``step * clip(direction . x, -1, 1)``.

    Row margins are clipped, not the noisy vector: its length grows with the square root of the dimension, the margin
    of a single row does not. The average of the unclipped vectors stays a proper halfspace. Where a theorem is about
    the released halfspace itself, nothing is clipped.
    """

    log: HalfspaceLog
    clips: bool = True

    def append(self, hypothesis: Centre, step: float) -> None:
        if self.clips:
            self.log.add(hypothesis.direction, step)
        else:
            self.log.add_whole(step * hypothesis.direction)


@dataclass(frozen=True, eq=False)
class Centering:
    """``WL-hat``: the weighted average of ``y x``, plus Gaussian noise, divided by its length.

    The division is needed: ``h(x) = z . x`` as printed has advantage ``|z|^2 / 2``, which may be ``tau^2 / 8``;
    divided by ``|z|`` it has the ``tau / 4`` of Theorem 27. The length is estimated from the noisy centre itself, less
    what the noise adds on average: pure post-processing.

    With ``even_steps`` all centres are divided by the first one's length. Later centres are shorter, as fewer rows
    weigh anything: divided by their own length they would bring as much into the average as the first, but more noise.
    """

    embedding: DenseEmbedding  # keeps the log
    charge: Charge  # of one round's release
    n_rows: float  # the released number of rows
    reach: float  # a public bound on all margins of the run
    scaling: Scaling  # `A`; the hypothesis is `A^-1 z` in place of `z`, and lengths are `sqrt(z^T A^-1 z)`
    # steps along the gradient of the logistic loss; None for centres that are divided by a length
    descent: Descent | None = None
    # whether to divide by the first centre's length, over `pace_of`; Theorem 27 needs the own one
    even_steps: bool = False
    # what all centres are divided by in place of a length, as docs/theory/lazy_bregman.md has it; 0 for their own one
    divisor: float = 0.0
    tuning: Tuning = TUNING  # the numbers of the learner

    def learn(self, curator: Curator, measure: Measure, hypotheses: Sequence[Centre]) -> Centre:
        """One release: the weighted sum of the rows under the measure."""
        rounds = len(hypotheses)
        query = measure.weighted_sum(self.embedding.log, rounds, self.reach)
        release = curator.measure(query, self.charge, Label(Stage.ROUND, "weighted sum of the rows", rounds + 1))
        total = measure.total(self.n_rows)
        centre, sd = release.value / total, release.sd / total
        direction = self.scaling.solve(centre)
        spread = math.sqrt(self.scaling.trace_of_square / len(centre))
        if self.descent is not None:
            return self._step(self.descent, direction, sd * spread, measure.step, hypotheses)
        length = self._divisor(centre, direction, sd, hypotheses)
        return Centre(direction / length, sd * spread / length, length)

    @staticmethod
    def _step(descent: Descent, gradient: Floats, noise_sd: float, step: float, hypotheses: Sequence[Centre]) -> Centre:
        """The next step, and with it the next point to look at: ahead of the weights by ``momentum`` steps."""
        before = hypotheses[-1].velocity if hypotheses else None
        last = np.zeros(len(gradient)) if before is None else before
        velocity = descent.momentum * last + descent.rate * gradient
        ahead = velocity + descent.momentum * (velocity - last)
        return Centre(ahead / step, noise_sd * descent.rate / step, 1.0, velocity)

    def _divisor(self, centre: Floats, direction: Floats, sd: float, hypotheses: Sequence[Centre]) -> float:
        if self.divisor:
            return self.divisor
        if not self.even_steps:
            return self._length(centre, direction, sd)
        if hypotheses:
            return hypotheses[0].divisor
        signal = 1 / (sd * math.sqrt(len(centre))) if sd else math.inf
        pace = pace_of(signal, len(centre), self.scaling.told_apart, self.tuning)
        return self._length(centre, direction, sd) / pace

    def _length(self, centre: Floats, direction: Floats, sd: float) -> float:
        noise = self.scaling.trace * sd * sd
        estimate = float(centre @ direction) - noise
        return math.sqrt(max(estimate, self.tuning.length_floor**2 * noise, 1e-300))
