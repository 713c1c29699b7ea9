"""The curator's side of a cluster, whatever system runs it: rounds in which all workers are asked the same.

A round is one message to all workers and one sum back. Parts of a worker that is gone are given to others, which read
them again from the source and go through all messages so far (:mod:`tacit.engines.cluster.work`): the answer is the
same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from typing import Any

from tacit.arrays import Ints
from tacit.engines.cluster.ship import Shipper
from tacit.engines.cluster.work import Answers, Command, Errand, Part, Question, joined
from tacit.errors import UNSPENT, TacitError

MOST_LOSSES = 20
"""Workers that may be lost in one round: more, and it is the round that kills them."""


class ClusterError(TacitError):
    """A cluster that is not there, or has no workers left."""

    usual = UNSPENT


class Rounds(ABC):
    """Parts of the rows, in their order, at workers, for one fit.

    Every part has to go through the ``history`` of all messages in their order.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        self._shipper, self._pending = Shipper(), deque[Command]()
        self.history: list[bytes] = []

    def open_logs(self) -> list[Any]:
        """Logs that have grown since they were sent."""
        return self._shipper.open_logs()

    def tell(self, command: Command) -> None:
        """Queues a command that all parts carry out before they answer next."""
        self._pending.append(command)  # finalizers tell as well, in whatever thread

    def tell_now(self) -> None:
        """Has all parts carry out pending commands now, so that what fails is known."""
        self._asked(None, together=False)

    def total(self, question: Question) -> Ints:
        """The sum of the answers of all parts."""
        sums = self._asked(question, together=True).sums
        assert sums is not None
        return sums

    def each(self, question: Question) -> list[Ints]:
        """The answers of all parts, in their order."""
        found = self._asked(question, together=False).each
        return [found[place] for place in range(len(self.parts))]

    @abstractmethod
    def close(self) -> None:
        """Lets the workers forget the rows."""

    @abstractmethod
    def sent(self, places: frozenset[int], first: int, sends: bool, together: bool) -> tuple[Answers, frozenset[int]]:
        """Asks workers for what the last message of the history asks of some parts, or for the sum over them.

        ``first`` is the place in the history of the first message that some worker may not have seen; ``sends``:
        whether workers may lack the parts themselves. Returns the answers, and which parts were lost: they are asked
        for again.
        """

    # One round.

    def _asked(self, question: Question | None, together: bool) -> Answers:
        commands = [self._pending.popleft() for _ in range(len(self._pending))]
        self.history.append(self._shipper.packed((commands, question)))
        places, first, sends, losses = frozenset(range(len(self.parts))), len(self.history) - 1, False, 0
        found: list[Answers] = []
        while places:
            answers, lost = self.sent(places, first, sends, together)
            _check_once(places, answers, lost)
            found.append(answers)
            losses += len(lost)
            if losses > MOST_LOSSES:
                raise ClusterError(
                    f"{losses} workers died while they answered: they may have too little memory for their parts; "
                    "take more workers, or smaller files"
                )
            places, sends = frozenset(answers.behind) | lost, True
            first = 0 if lost else min(answers.behind.values(), default=0)
        return joined(found)


def _check_once(places: frozenset[int], answers: Answers, lost: frozenset[int]) -> None:
    """Raises :class:`ClusterError` unless every part answered once, is behind, or was lost.

    A row of a part that is counted twice moves a sum by twice what noise was made for.
    """
    said = sorted([*answers.places, *answers.behind, *lost])
    if said != sorted(places):
        raise ClusterError(
            "the workers were asked about each part once, and some answered twice, or not at all: a system that runs "
            "a function again must give one of its answers alone"
        )


class Homes(Rounds):
    """Rounds in which every part is at home at a worker, which keeps what it knows of it."""

    def __init__(self, parts: Sequence[Part]) -> None:
        super().__init__(parts)
        self._homes: dict[int, str] = {}

    # What a system of workers does.

    @abstractmethod
    def _find_homes(self) -> None:
        """Gives every part a worker."""

    @abstractmethod
    def _call(self, home: str, errand: Errand) -> Any:
        """What will be the answer of a worker; None if it is gone."""

    @abstractmethod
    def _result(self, home: str, call: Any) -> Answers | None:
        """The answer of a worker; None if it is gone."""

    @abstractmethod
    def _lose(self, home: str) -> None:
        """Forgets a worker that is gone: its parts have none."""

    def sent(self, places: frozenset[int], first: int, sends: bool, together: bool) -> tuple[Answers, frozenset[int]]:
        self._find_homes()
        calls, messages = [], self.history[first:]
        for home in sorted(set(self._homes.values())):
            keeps = frozenset(place for place, where in self._homes.items() if where == home)
            parts = {place: self.parts[place] if sends else None for place in sorted(keeps & places)}
            if parts:
                errand = Errand(parts, first, messages, keeps, together)
                calls.append((home, frozenset(parts), self._call(home, errand)))
        found: list[Answers] = []
        lost: frozenset[int] = frozenset()
        for home, asked, call in calls:
            answers = None if call is None else self._result(home, call)
            if answers is None:
                lost |= asked
                self._lose(home)
            elif answers.failure is not None:
                raise answers.failure
            else:
                found.append(answers)
        return joined(found), lost
