"""`replay_with`: another project's recorder listens at the curator, and judges by its own measure.

The protocol is that of dp-recorder (Cebere and others 2026, "Re:cord-play"): an auditor that is told of every noisy
answer (`intercept_mechanism`: the exact one, what it may differ by, and a function that gives the released one) and of
everything else that must not depend on rows (`check_equality`). While it records it takes the released answers; while
it replays it returns the recorded ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, final

from tacit.audit.inside import distances
from tacit.audit.neighbours import beside, moved_places
from tacit.audit.recording import Judge, Recording
from tacit.audit.replay import held, prepared
from tacit.audit.watch import LATTICE, Watch
from tacit.curator.gate import Question
from tacit.estimators.base import request_of
from tacit.privacy.charges import Gaussian, Laplace
from tacit.privacy.request import RequestError, is_number

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution


def replay_with(
    auditor: Any,
    estimator: Any,
    schema: Any = None,
    *,
    X: Any = None,
    y: Any = None,
    neighbour: int = 0,
    random_state: int = 0,
) -> list[str]:
    """Has an auditor record a fit at the curator and replay it on one neighbour, as :func:`replay_audit` does.

    The auditor sees exact answers, so it must stay where the rows are. Nothing is spent.

    Args:
        auditor: in its state of recording; it is told to replay after the first fit (``set_replay``).
        estimator: to be fitted; it is copied for every fit and left as it is.
        schema: what rows are made from; by default the estimator's own. One is needed.
        X: rows to take instead, a table.
        y: their labels.
        neighbour: which one, from 0; the auditor holds one beside the recorded fit.
        random_state: of rows and noise.

    Returns:
        What this library itself finds wrong; the auditor's own findings are with the auditor.

    Raises:
        ValueError: for what cannot be replayed: no schema, no privacy, an account, or a number of no neighbour.

    Example:
        >>> from dp_recorder.auditing.audit_primitives import Auditor  # doctest: +SKIP
        >>> auditor = Auditor()  # doctest: +SKIP
        >>> replay_with(auditor, estimator), auditor.validate_records()  # doctest: +SKIP
        ([], None)
    """
    estimator, pool_of = prepared(estimator, schema, X, y)
    pool = pool_of(random_state)
    if not is_number(neighbour) or neighbour != int(neighbour) or neighbour < 0:
        raise RequestError(f"neighbour must be a whole number of at least 0, got {neighbour!r}")
    name, places = next(islice(beside(pool, request_of(estimator).neighbouring, 0), int(neighbour), None))

    def watch(recording: Recording) -> Watch:
        return _Listening(recording, auditor)

    recorded = held(estimator, pool, pool.base, _Told(auditor=auditor), random_state, watch=watch)
    auditor.set_replay()
    replayed = _Told(recorded.events, name, tuple(moved_places(pool.base, places)), auditor=auditor)
    return held(estimator, pool, places, replayed, random_state, recorded, watch=watch).faults


@final
@dataclass
class _Told(Recording):
    """A recording that tells an auditor of all but noisy answers, which are told with their exact ones."""

    auditor: Any = None

    def event(
        self, verb: str, public: Any, exact: Any, released: Any, judge: Judge | None = None, digest: bytes = b""
    ) -> Any:
        if verb not in ("measure", "joint"):
            self.auditor.check_equality((verb, str(public), digest.hex()), label=verb)
        return super().event(verb, public, exact, released, judge, digest)


@final
class _Listening(Watch):
    """A witness that hands noisy answers on to an auditor."""

    def __init__(self, recording: Recording, auditor: Any) -> None:
        super().__init__(recording)
        self._auditor = auditor

    def _answer(self, question: Question, exact: Any, noise: Any, value: Any) -> Any:
        ours = super()._answer(question, exact, noise, value)
        moved, factor, charge = question.sensitivity, self.apart.factor, question.charge
        by_l1 = isinstance(charge, Laplace)

        def release(answer: Any, sensitivity: float, charge: str) -> Any:
            """The noisy answer: its noise was drawn behind the gate."""
            del answer, sensitivity, charge
            return ours

        def distance(before: Any, after: Any) -> float:
            l1, l2 = distances(before, after)
            return float(l1) if by_l1 else math.sqrt(l2)

        def loss(sensitivity: float, charge: str) -> PrivacyLossDistribution | None:
            del sensitivity, charge
            return _loss_distribution(question.charge)

        sensitivity = factor * (
            _alone(question, by_l1) if question.verb == "joint" else moved.l1 if by_l1 else moved.l2
        )
        arguments = {"answer": exact.copy(), "sensitivity": float(sensitivity), "charge": str(charge)}
        kind = f"{question.verb} {question.label}"
        return self._auditor.intercept_mechanism(kind, release, "answer", "sensitivity", distance, loss, **arguments)


def _alone(question: Question, by_l1: bool) -> float:
    """How far one of the parts that are bounded together may move if no other does."""
    together = sum(part.precision for part in question.asked.bound.parts)
    return together * question.scale if by_l1 else math.sqrt(together * (question.scale**2 - LATTICE))


def _loss_distribution(charge: Any) -> PrivacyLossDistribution | None:
    """Of one release, for auditors that add up; None for charges that are no noise on an answer."""
    from dp_accounting.pld import privacy_loss_distribution as losses

    if isinstance(charge, Gaussian):
        return losses.from_gaussian_mechanism(charge.noise_multiplier)
    return losses.from_laplace_mechanism(charge.noise_multiplier) if isinstance(charge, Laplace) else None
