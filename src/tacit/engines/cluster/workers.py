"""The workers of a dask cluster: who holds which part. Rounds do not involve the scheduler."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from tacit.engines.cluster.rounds import ClusterError, Homes
from tacit.engines.cluster.work import Answers, Errand, Holder, Part, version
from tacit.privacy.signatures import library_version

LOOK_AGAIN = 1.0
"""Seconds after which it is asked again who is there."""


class Workers(Homes):
    """The workers of a cluster, a ``distributed.Client``, for one fit.

    ``patience``: seconds without any worker after which a fit ends.

    Raises:
        ClusterError: if there is no worker, or one has another version of the library.
    """

    def __init__(self, client: Any, parts: Sequence[Part], patience: float) -> None:
        super().__init__(parts)
        self._client, self._patience = client, patience
        self._holders: dict[str, Any] = {}
        self._futures: dict[str, Any] = {}  # a holder lives as long as that
        self._looked = 0.0
        self.moves = 0
        self._check_versions()

    def close(self) -> None:
        """Lets the workers forget the rows."""
        self._holders.clear()
        self._futures.clear()

    def _call(self, home: str, errand: Errand) -> Any:
        """What will be the answer; None if the worker is gone."""
        try:
            return self._holders[home].answer(errand)
        except (OSError, RuntimeError, CancelledError):
            return None

    def _result(self, home: str, call: Any) -> Answers | None:
        """The answer of a worker; None if it is gone."""
        while True:
            try:
                found: Answers = call.result(timeout=LOOK_AGAIN)
            except TimeoutError:
                if home not in self._look() or self._futures[home].status != "finished":
                    return None
            except (OSError, RuntimeError, CancelledError):
                return None
            else:
                return found

    def _lose(self, home: str) -> None:
        self._holders.pop(home, None)
        self._futures.pop(home, None)
        self._homes = {place: where for place, where in self._homes.items() if where != home}

    # Who holds what.

    def _find_homes(self) -> None:
        """Gives every part a worker: as evenly as can be, and where it is if that is even."""
        waits = time.monotonic() + self._patience
        while len(self._homes) < len(self.parts) or time.monotonic() - self._looked > LOOK_AGAIN:
            there = self._look()
            for home in self._holders.keys() - there.keys():
                self._lose(home)
            for address in sorted(there.keys() - self._holders.keys()):
                holder = self._holder_at(address, there[address])
                if holder is not None:
                    self._holders[address] = holder
            if self._holders:
                self._spread()
            elif time.monotonic() > waits:
                raise ClusterError(f"the cluster has had no worker for {self._patience:g} seconds")
            else:
                time.sleep(LOOK_AGAIN / 10)

    def _spread(self) -> None:
        """Gives parts to the workers that are there."""
        count, parts = len(self._holders), len(self.parts)
        held: dict[str, list[int]] = {name: [] for name in sorted(self._holders)}
        homeless: list[int] = []
        for place in range(parts):
            held.get(self._homes.get(place, ""), homeless).append(place)
        fair = [parts // count + (number < parts % count) for number in range(count)]
        most = sorted(held, key=lambda name: -len(held[name]))  # whoever holds most may hold one more
        for name, room in zip(most, fair, strict=True):
            homeless += held[name][room:]
            del held[name][room:]
        for name, room in zip(most, fair, strict=True):
            taken, homeless = homeless[: room - len(held[name])], homeless[room - len(held[name]) :]
            self.moves += sum(place in self._homes for place in taken)
            self._homes.update(dict.fromkeys(taken, name))

    def _holder_at(self, address: str, threads: int) -> Any:
        """An actor on a worker; None if that is gone meanwhile."""
        from distributed import Actor, wait

        with self._reaching():
            made = self._client.submit(
                Holder, threads, actor=True, workers=[address], allow_other_workers=False, pure=False
            )
        while True:
            try:
                with self._reaching():
                    wait(made, timeout=LOOK_AGAIN)  # type: ignore[no-untyped-call]
            except TimeoutError:
                if address not in self._look():
                    return None
            else:
                break
        self._futures[address] = made
        with self._client.as_current():  # there may be others in this process, and an actor talks through one
            return Actor(Holder, address, made.key)  # type: ignore[no-untyped-call]

    def _look(self) -> dict[str, int]:
        """The addresses of the workers that are there, and how many cores they have."""
        with self._reaching():
            found: dict[str, int] = dict(self._client.nthreads())
        self._looked = time.monotonic()
        return found

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
                found = self._client.run(version)
        except ImportError:
            raise ClusterError("a worker of the cluster cannot import tacit: install it there as well") from None
        for address, other in sorted(found.items()):
            if other != library_version():
                raise ClusterError(
                    f"worker {address} has version {other} of tacit, and here is {library_version()}: take one"
                )
