"""The curator's side of a dask cluster: which worker holds which part, and rounds in which all are asked the same.

A round is one message to all workers and one sum back; it does not involve the scheduler. Parts of a worker that is
gone are given to others, which read them again from the source and go through all messages so far
(:mod:`tacit.engines.cluster.work`): the answer is the same.
"""

from __future__ import annotations

import hmac
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from tacit.arrays import Ints
from tacit.engines.cluster.work import (
    Answers,
    ClusterError,
    Command,
    Part,
    Question,
    Shipper,
    Worker,
    WorkerRequest,
    joined,
    sum_of,
    version,
)
from tacit.privacy.signatures import library_version

MOST_LOSSES = 20
"""Workers that may be lost in one round: more, and it is the round that kills them."""


@final
@dataclass(frozen=True)
class Recheck:
    """Which part is asked of a second worker, and in which rounds.

    Workers must not foresee it: it follows from a key that no message holds, and from the number of the round. No
    answer depends on it, so it needs no noise of its own.
    """

    share: float = 0.0  # of all rounds, between 0 (never) and 1
    key: bytes = b""  # 32 bytes

    def place(self, number: int, parts: int) -> int | None:
        """The part that is asked for twice in a round; None if none is."""
        digest = hmac.digest(self.key, f"round {number}".encode(), "sha256")
        if int.from_bytes(digest[:8]) >= self.share * 2.0**64:
            return None
        return int.from_bytes(digest[8:24]) % parts


NEVER = Recheck()


class Rounds(ABC):
    """Parts of the rows, in their order, at workers, for one fit.

    Every part has to go through the ``history`` of all messages in their order.
    """

    def __init__(self, parts: Sequence[Part], recheck: Recheck = NEVER) -> None:
        self.parts, self._recheck = tuple(parts), recheck
        self._shipper, self._pending = Shipper(), deque[Command]()
        self.history: list[bytes] = []

    def open_logs(self) -> list[Any]:
        return self._shipper.open_logs()

    def tell(self, command: Command) -> None:
        """Queues a command that all parts carry out before they answer next."""
        self._pending.append(command)  # finalizers tell as well, in whatever thread

    def tell_now(self) -> None:
        """Has all parts carry out pending commands now, so that what fails is known."""
        self._asked(None, together=False)

    def total(self, question: Question) -> Ints:
        sums = self._asked(question, together=True).sums
        assert sums is not None
        return sums

    def each(self, question: Question) -> list[Ints]:
        answers = self._asked(question, together=False).each
        return [answers[place] for place in range(len(self.parts))]

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

    def again(self, place: int) -> tuple[str, str, Ints]:
        """What another worker answers for a part to the last message; the names of the first worker and of that one."""
        del place
        raise ClusterError("these workers have no names, so that no part can be asked of another one")

    # One round.

    def _asked(self, question: Question | None, together: bool) -> Answers:
        if not self._recheck.share:
            return self._answers(question, together)
        answers = self._answers(question, together=False)  # always: else workers could tell when they are checked
        place = None if question is None else self._recheck.place(len(self.history), len(self.parts))
        if place is not None:
            first, second, answer = self.again(place)
            if not np.array_equal(answer, answers.each[place]):
                raise ClusterError(
                    f"the workers {first} and {second} answer differently for part {place + 1} of {len(self.parts)}: "
                    "one of them is wrong, and nothing was released of this round"
                )
        return Answers(sum_of(list(answers.each.values())), places=answers.places) if together else answers

    def _answers(self, question: Question | None, together: bool) -> Answers:
        commands = [self._pending.popleft() for _ in range(len(self._pending))]
        self.history.append(self._shipper.packed((commands, question)))
        places, first, sends, losses = frozenset(range(len(self.parts))), len(self.history) - 1, False, 0
        results: list[Answers] = []
        while places:
            answers, lost = self.sent(places, first, sends, together)
            _check_once(places, answers, lost)
            results.append(answers)
            losses += len(lost)
            if losses > MOST_LOSSES:
                raise ClusterError(
                    f"{losses} workers died while they answered: they may have too little memory for their parts; "
                    "take more workers, or smaller files"
                )
            places, sends = frozenset(answers.behind) | lost, True
            first = 0 if lost else min(answers.behind.values(), default=0)
        return joined(results)


def _check_once(places: frozenset[int], answers: Answers, lost: frozenset[int]) -> None:
    """Raises :class:`ClusterError` unless every part answered once, is behind, or was lost.

    A row of a part that is counted twice moves a sum by twice what noise was made for.
    """
    covered = sorted([*answers.places, *answers.behind, *lost])
    if covered != sorted(places):
        raise ClusterError(
            "the workers were asked about each part once, and some answered twice, or not at all: a system that runs "
            "a function again must give one of its answers alone"
        )


class Homes(Rounds):
    """Rounds in which every part is at home at a worker, which keeps what it knows of it."""

    def __init__(self, parts: Sequence[Part], recheck: Recheck = NEVER) -> None:
        super().__init__(parts, recheck)
        self._homes: dict[int, str] = {}
        self._answered: dict[int, str] = {}  # who did so last

    # What a system of workers does.

    @abstractmethod
    def _find_homes(self) -> None:
        """Gives every part a worker."""

    @abstractmethod
    def _others(self, home: str) -> Sequence[str]:
        """All workers but one, in an order that has nothing to do with their parts."""

    @abstractmethod
    def _call(self, home: str, request: WorkerRequest) -> Any:
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
                request = WorkerRequest(parts, first, messages, keeps, together)
                calls.append((home, frozenset(parts), self._call(home, request)))
        results: list[Answers] = []
        lost: frozenset[int] = frozenset()
        for home, question, call in calls:
            answers = None if call is None else self._result(home, call)
            if answers is None:
                lost |= question
                self._lose(home)
            elif answers.failure is not None:
                raise answers.failure
            else:
                results.append(answers)
                self._answered.update(dict.fromkeys(answers.places, home))
        return joined(results), lost

    def again(self, place: int) -> tuple[str, str, Ints]:
        first = self._answered[place]
        for other in self._others(first):
            own = frozenset(number for number, where in self._homes.items() if where == other)
            call = self._call(other, WorkerRequest({place: self.parts[place]}, 0, self.history, own | {place}, False))
            answers = None if call is None else self._result(other, call)
            if answers is None:
                self._lose(other)
            elif answers.failure is not None:
                raise answers.failure
            else:
                return first, other, answers.each[place]
        raise ClusterError(
            "a part is to be asked of a second worker, and the cluster has one: recheck = 0 does without"
        )


LOOK_AGAIN = 1.0
"""Seconds after which it is asked again who is there."""


class Workers(Homes):
    """The workers of a cluster, a ``distributed.Client``, for one fit.

    ``patience``: seconds without any worker after which a fit ends.

    Raises:
        ClusterError: if there is no worker, or none to check another, or one has another version of the library.
    """

    def __init__(self, client: Any, parts: Sequence[Part], patience: float, recheck: Recheck = NEVER) -> None:
        super().__init__(parts, recheck)
        self._client, self._patience = client, patience
        self._workers: dict[str, Any] = {}
        self._futures: dict[str, Any] = {}  # a holder lives as long as that
        self._looked = 0.0
        self.moves = 0
        self._check_versions()
        if recheck.share and len(self._look()) < 2:
            raise ClusterError("recheck asks a part of a second worker, and the cluster has one")

    def close(self) -> None:
        self._workers.clear()
        self._futures.clear()

    def _others(self, home: str) -> Sequence[str]:
        self._find_homes()
        order = {name: hmac.digest(self._recheck.key, name.encode(), "sha256") for name in self._workers}
        return sorted(order.keys() - {home}, key=order.__getitem__)

    def _call(self, home: str, request: WorkerRequest) -> Any:
        try:
            return self._workers[home].answer(request)
        except (OSError, RuntimeError, ValueError, CancelledError):  # older versions of distributed raise ValueError
            return None

    def _result(self, home: str, call: Any) -> Answers | None:
        while True:
            try:
                answers: Answers = call.result(timeout=LOOK_AGAIN)
            except TimeoutError:
                if home not in self._look() or self._futures[home].status != "finished":
                    return None
            except (OSError, RuntimeError, CancelledError):
                return None
            else:
                return answers

    def _lose(self, home: str) -> None:
        self._workers.pop(home, None)
        self._futures.pop(home, None)
        self._homes = {place: where for place, where in self._homes.items() if where != home}

    # Who holds what.

    def _find_homes(self) -> None:
        waits = time.monotonic() + self._patience
        while len(self._homes) < len(self.parts) or time.monotonic() - self._looked > LOOK_AGAIN:
            there = self._look()
            for home in self._workers.keys() - there.keys():
                self._lose(home)
            for address in sorted(there.keys() - self._workers.keys()):
                holder = self._holder_at(address, there[address])
                if holder is not None:
                    self._workers[address] = holder
            if self._workers:
                self._spread()
            elif time.monotonic() > waits:
                raise ClusterError(f"the cluster has had no worker for {self._patience:g} seconds")
            else:
                time.sleep(LOOK_AGAIN / 10)

    def _spread(self) -> None:
        """Gives parts to the workers that are there."""
        count, parts = len(self._workers), len(self.parts)
        places_of: dict[str, list[int]] = {name: [] for name in sorted(self._workers)}
        homeless: list[int] = []
        for place in range(parts):
            places_of.get(self._homes.get(place, ""), homeless).append(place)
        fair = [parts // count + (number < parts % count) for number in range(count)]
        most = sorted(places_of, key=lambda name: -len(places_of[name]))  # whoever holds most may hold one more
        for name, room in zip(most, fair, strict=True):
            homeless += places_of[name][room:]
            del places_of[name][room:]
        for name, room in zip(most, fair, strict=True):
            own, homeless = homeless[: room - len(places_of[name])], homeless[room - len(places_of[name]) :]
            self.moves += sum(place in self._homes for place in own)
            self._homes.update(dict.fromkeys(own, name))

    def _holder_at(self, address: str, threads: int) -> Any:
        """An actor on a worker; None if that is gone meanwhile."""
        from distributed import Actor, wait

        with self._reaching():
            holder = self._client.submit(
                Worker, threads, actor=True, workers=[address], allow_other_workers=False, pure=False
            )
        while True:
            try:
                with self._reaching():
                    wait(holder, timeout=LOOK_AGAIN)  # type: ignore[no-untyped-call]
            except TimeoutError:
                if address not in self._look():
                    return None
            else:
                break
        self._futures[address] = holder
        with self._client.as_current():  # there may be others in this process, and an actor talks through one
            return Actor(Worker, address, holder.key)  # type: ignore[no-untyped-call]

    def _look(self) -> dict[str, int]:
        """The addresses of the workers that are there, and how many cores they have."""
        with self._reaching():
            threads: dict[str, int] = dict(self._client.nthreads())
        self._looked = time.monotonic()
        return threads

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Says what is wrong where the scheduler is gone: a client without one raises what comes in its way."""
        try:
            yield
        except TimeoutError:
            raise
        except Exception as error:
            if self._client.status == "running" and not isinstance(error, OSError | CancelledError):
                raise
            raise ClusterError(f"the scheduler of the cluster is gone ({type(error).__name__})") from None

    def _check_versions(self) -> None:
        try:
            with self._reaching():
                versions = self._client.run(version)
        except ImportError:
            raise ClusterError("a worker of the cluster cannot import tacit: install it there as well") from None
        for address, other in sorted(versions.items()):
            if other != library_version():
                raise ClusterError(
                    f"worker {address} has version {other} of tacit, and here is {library_version()}: take one"
                )
