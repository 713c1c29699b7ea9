"""The workers of a Ray cluster: actors, which Ray itself starts again where one dies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.engines.cluster.rounds import MOST_LOSSES, ClusterError, Homes
from tacit.engines.cluster.work import Answers, Errand, Holder, Part
from tacit.privacy.signatures import library_version


class RayWorkers(Homes):
    """Actors of Ray, for one fit: as many as there are cores, or parts.

    One that dies is started again by Ray, which asks it once more what it was asked: it says which parts it has not
    seen, and is sent them with all messages so far. ``patience``: seconds that workers may take to be there.

    Raises:
        ClusterError: if there is no room for them, or they have another version of the library.
    """

    def __init__(self, ray: Any, parts: Sequence[Part], patience: float) -> None:
        super().__init__(parts)
        self._ray = ray
        cores = int(ray.cluster_resources().get("CPU", 1))
        made = ray.remote(Holder).options(num_cpus=1, max_restarts=-1, max_task_retries=MOST_LOSSES)
        self._names = [str(number) for number in range(max(1, min(cores, len(self.parts))))]
        self._actors = {name: made.remote(1) for name in self._names}
        self._check_versions(patience)

    def close(self) -> None:
        for actor in self._actors.values():
            self._ray.kill(actor)
        self._actors.clear()

    def _find_homes(self) -> None:
        for place in range(len(self.parts)):
            self._homes.setdefault(place, self._names[place % len(self._names)])

    def _call(self, home: str, errand: Errand) -> Any:
        return self._actors[home].answer.remote(errand)

    def _result(self, home: str, call: Any) -> Answers | None:
        del home
        try:
            found: Answers = self._ray.get(call)
        except self._ray.exceptions.RayActorError as error:
            raise ClusterError(
                f"a worker died again and again while it answered ({type(error).__name__}): it may have too little "
                "memory for its parts; take more workers, or smaller files"
            ) from None
        return found

    def _lose(self, home: str) -> None:
        raise NotImplementedError(f"Ray starts {home} again by itself")

    def _check_versions(self, patience: float) -> None:
        """All workers are there, and have the library."""
        errors = self._ray.exceptions
        try:
            found = self._ray.get([actor.version.remote() for actor in self._actors.values()], timeout=patience)
        except errors.GetTimeoutError:
            self.close()
            raise ClusterError(f"the cluster has had no room for its workers for {patience:g} seconds") from None
        except errors.RayError as error:
            self.close()
            raise ClusterError(f"a worker of the cluster cannot import tacit ({type(error).__name__})") from None
        for other in found:
            if other != library_version():
                self.close()
                raise ClusterError(f"a worker has version {other} of tacit, and here is {library_version()}: take one")
