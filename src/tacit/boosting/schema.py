"""The boosting schema, Algorithms 1 and 2: hypotheses are the only state.

    Boost                                        Iter
    H <- {}                                      mu <- NxM(S, H)
    repeat T times: H <- Iter(S, H)              h  <- WkL(S, mu)
    return sign of the average of H              return H and h

``S`` is behind the curator. ``NxM`` is a :class:`~tacit.boosting.measures.Measure`: a rule for the weight of a
row, given the released hypotheses. ``WkL`` asks the curator for one noisy answer under that rule. So a round costs
what its one release costs, and rounds compose (Section 3.2); everything else is post-processing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tacit.boosting.measures import Measure
from tacit.curator.curator import Curator
from tacit.errors import TacitError

H = TypeVar("H")
H_contra = TypeVar("H_contra", contravariant=True)


class WeakLearnerError(TacitError):
    """A weak learner returned something that is no hypothesis. What it released is spent.

    Example:
        >>> from tacit.boosting import WeakLearnerError
        >>> print(WeakLearnerError("a hypothesis of 2 numbers for 3 columns"))
        a hypothesis of 2 numbers for 3 columns
    """


class Embedding(Protocol[H_contra]):
    """Where hypotheses live: keeps their public log, which margins, and so measures, are computed from.

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import HalfspaceLog
        >>> class Halfspaces:
        ...     def __init__(self, log):
        ...         self.append = log.add
        >>> log = HalfspaceLog(3)
        >>> Halfspaces(log).append(np.array([1.0, 0.0, 0.0]))
        >>> print(len(log.steps))
        1
    """

    def append(self, hypothesis: H_contra, step: float) -> None:
        """Adds a released hypothesis to the log; it moves the margin of a row ``x`` by ``step * h(x)``."""


class WeakLearner(Protocol[H]):
    """``WkL``: one private release per call.

    Example:
        >>> import numpy as np
        >>> class Constant:  # asks for nothing, and so costs nothing
        ...     def learn(self, curator, measure, hypotheses):
        ...         return np.array([1.0, 0.0, 0.0])
        >>> print(Constant().learn(None, None, []))
        [1. 0. 0.]
    """

    def learn(self, curator: Curator, measure: Measure, hypotheses: Sequence[H]) -> H:
        """A hypothesis with an advantage over chance under ``measure``, which is a rule over the hypotheses so far."""


@dataclass(frozen=True)
class Ensemble(Generic[H]):
    """What boosting returns: the released hypotheses in order, and whether a stopping rule ended the run.

    Example:
        >>> from tacit.boosting import Ensemble
        >>> print(len(Ensemble(hypotheses=("first", "second")).hypotheses))
        2
    """

    hypotheses: tuple[H, ...]
    stopped: bool = False


Stop = Callable[[Curator, Measure, int], bool]
"""A private test made before a round, given the number of hypotheses so far: true ends the run."""


def iterate(
    curator: Curator, embedding: Embedding[H], measure: Measure, weak_learner: WeakLearner[H], hypotheses: list[H]
) -> None:
    """``Iter`` (Algorithm 2): one hypothesis more. Costs what the weak learner's release costs.

    Raises ``WeakLearnerError`` for a hypothesis that the embedding cannot take.
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

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import SmoothMeasure, boost, private_rows
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(4000, 3))
        >>> X /= np.linalg.norm(X, axis=1, keepdims=True)
        >>> y = X[:, 0] > 0
        >>> class Hypotheses:
        ...     def __init__(self, log):
        ...         self.append = log.add
        >>> class Centre:
        ...     def learn(self, curator, measure, hypotheses):
        ...         query = measure.weighted_sum(log, len(hypotheses), 9.0)
        ...         return curator.measure(query, charge, "a centre").value / 4000
        >>> with private_rows(X, y, row_norm=1.0, epsilon=1.0) as rows:
        ...     log, charge = rows.log(), rows.charge(1 / 3)
        ...     ensemble = boost(rows.budget.curator, Hypotheses(log), SmoothMeasure(0.1), Centre(), rounds=3)
        >>> print(len(ensemble.hypotheses), rows.certificate.releases)
        3 3
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
