"""The boosting schema, Algorithms 1 and 2: hypotheses are the only state.

    Boost                                        Iter
    H <- {}                                      mu <- NxM(S, H)
    repeat T times: H <- Iter(S, H)              h  <- WkL(S, mu)
    return sign of the average of H              return H and h

``S`` is behind the curator. ``NxM`` is a :class:`~tacit.boosting.measures.measure.Measure`: a rule for the weight of a
row, given the released hypotheses. ``WkL`` asks the curator for one noisy answer under that rule. So a round costs
what its one release costs, and rounds compose (Section 3.2); everything else is post-processing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tacit.boosting.measures.measure import Measure
from tacit.curator.curator import Curator
from tacit.errors import TacitError

H = TypeVar("H")
H_contra = TypeVar("H_contra", contravariant=True)


class WeakLearnerError(TacitError):
    """A weak learner returned something that is no hypothesis. What it released is spent."""


class Embedding(Protocol[H_contra]):
    """Where hypotheses live: keeps their public log, which margins, and so measures, are computed from."""

    def append(self, hypothesis: H_contra, step: float) -> None:
        """Adds a released hypothesis to the log; it moves the margin of a row ``x`` by ``step * h(x)``."""


class WeakLearner(Protocol[H]):
    """``WkL``: one private release per call."""

    def learn(self, curator: Curator, measure: Measure, hypotheses: Sequence[H]) -> H:
        """A hypothesis with an advantage over chance under ``measure``, which is a rule over the hypotheses so far."""


@dataclass(frozen=True)
class Ensemble(Generic[H]):
    """What boosting returns: the released hypotheses in order, and whether a stopping rule ended the run."""

    hypotheses: tuple[H, ...]
    stopped: bool = False


Stop = Callable[[Curator, Measure, int], bool]
"""A private test made before a round, given the number of hypotheses so far: true ends the run."""


def iterate(
    curator: Curator, embedding: Embedding[H], measure: Measure, weak_learner: WeakLearner[H], hypotheses: list[H]
) -> None:
    """``Iter`` (Algorithm 2): one hypothesis more. Costs what the weak learner's release costs.

    Raises:
        WeakLearnerError: for a hypothesis that the embedding cannot take.
    """
    hypothesis = weak_learner.learn(curator, measure, hypotheses)
    try:
        embedding.append(hypothesis, measure.step)
    except ValueError as error:  # about what was released, so it may be said
        name = type(weak_learner).__name__
        raise WeakLearnerError(f"{name} returned a hypothesis that cannot be used: {error}") from error
    hypotheses.append(hypothesis)


def boost(
    curator: Curator,
    embedding: Embedding[H],
    measure: Measure,
    weak_learner: WeakLearner[H],
    rounds: int,
    stop: Stop | None = None,
) -> Ensemble[H]:
    """``Boost`` (Algorithm 1), or with a stopping rule Algorithm 10.

    Args:
        curator: the only access to the rows.
        embedding: keeps the log of released hypotheses.
        measure: how rows are weighted, given the log.
        weak_learner: asks for one release per round.
        rounds: T; with a stopping rule, the most rounds that were reserved.
        stop: a private end test before each round (``boosting.stopping``), or None for a fixed number of rounds.

    Raises:
        ValueError: for less than one round.
        WeakLearnerError: for a hypothesis that the embedding cannot take.
        TypeError: if the measure cannot be recomputed from the hypotheses (BregBoost): it would not be private.
        BudgetExceeded: from the curator, if the reservation does not cover a round.
    """
    if not hasattr(measure, "weighted_sum"):
        raise TypeError(
            f"{type(measure).__name__} is not a rule over released hypotheses, so boosting with it would not be private"
        )
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, got {rounds}")
    hypotheses: list[H] = []
    for t in range(rounds):
        if stop is not None and stop(curator, measure, t):
            return Ensemble(tuple(hypotheses), stopped=True)
        iterate(curator, embedding, measure, weak_learner, hypotheses)
    return Ensemble(tuple(hypotheses))
