"""Fits on Ray: the models of fits in memory, bit by bit, whoever dies; and what goes wrong. Skipped without Ray."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
import tacit.curator.cluster_rows as cluster_rows
from tacit.arrays import Ints
from tacit.engines.cluster.ray_workers import RayWorkers
from tacit.engines.cluster.rounds import ClusterError
from tacit.engines.rows import Rows
from tacit.privacy.request import RequestError
from tests.engines.test_cluster import after
from tests.estimators.test_sources import LEARNERS, facts, in_memory, made, refused, written


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    found = pytest.importorskip("ray")
    found.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield found
    found.shutdown()


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[RayWorkers]:
    """Those of the fits of a test."""
    seen: list[RayWorkers] = []
    begin = RayWorkers.__init__
    monkeypatch.setattr(RayWorkers, "__init__", lambda self, *facts: (seen.append(self), begin(self, *facts))[1])
    return seen


def pid_of(ray: Any, workers: RayWorkers, name: str) -> int:
    found: int = ray.get(workers._actors[name].__ray_call__.remote(lambda _: os.getpid()))
    return found


def on_ray(folder: Path) -> Any:
    return tacit.read_source(folder, engine="ray")


@pytest.mark.parametrize("name", list(LEARNERS))
def test_a_fit_on_ray_is_the_fit_in_memory(name: str, ray: Any, workers: list[RayWorkers], tmp_path: Path) -> None:
    assert ray.is_initialized()
    assert facts(made(name).fit(on_ray(written(tmp_path, LEARNERS[name][1])))) == facts(in_memory(name))
    assert workers[0]._actors == {}


@pytest.mark.parametrize("parts", [1, 17])
def test_parts_change_no_bit(parts: int, ray: Any, workers: list[RayWorkers], tmp_path: Path) -> None:
    folder = written(tmp_path, "two", parts)
    for name in ("halfspaces, smooth", "lists", "m-alpha"):
        assert facts(made(name).fit(on_ray(folder))) == facts(in_memory(name))
    assert len(workers[0]._names) == min(parts, int(ray.cluster_resources()["CPU"]))


@pytest.mark.parametrize("name", ["m-alpha", "halfspaces, capped", "lists", "additive, number"])
def test_a_killed_worker_loses_nothing(
    name: str, ray: Any, workers: list[RayWorkers], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, pids, close = written(tmp_path, LEARNERS[name][1], 4), list[int](), RayWorkers.close

    def kill() -> None:
        pids.append(pid_of(ray, workers[0], "1"))
        os.kill(pids[0], signal.SIGKILL)

    monkeypatch.setattr(RayWorkers, "close", lambda self: (pids.append(pid_of(ray, self, "1")), close(self))[1])
    with after(3, kill):
        assert facts(made(name).fit(on_ray(folder))) == facts(in_memory(name))
    assert len(set(pids)) == 2  # another process by then


@dataclass(frozen=True, eq=False)
class DiesOnce:
    """A look at whose first block its process ends."""

    mark: str

    def __call__(self, rows: Rows) -> Ints:
        try:
            Path(self.mark).touch(exist_ok=False)
        except FileExistsError:
            return np.array([len(rows)], np.int64)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


@pytest.mark.usefixtures("ray")
def test_a_task_that_is_killed_in_the_middle_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: list[RayWorkers]
) -> None:
    found: list[Any] = []
    tell_now = RayWorkers.tell_now

    def asked_more(self: RayWorkers) -> None:
        tell_now(self)
        table = cluster_rows.ClusterTable(self, cluster_rows.Layout((), 2), found[0])
        found.append(table.total(DiesOnce(str(tmp_path / "mark"))))

    seal = cluster_rows.ClusterSource.table
    monkeypatch.setattr(
        cluster_rows.ClusterSource, "table", lambda self, *recipe: (found.append(recipe), seal(self, *recipe))[1]
    )
    monkeypatch.setattr(RayWorkers, "tell_now", asked_more)
    folder = written(tmp_path / "rows", "two", 4)
    assert facts(made("m-alpha").fit(on_ray(folder))) == facts(in_memory("m-alpha"))
    assert (tmp_path / "mark").exists()
    assert found[1].tolist() == [3000]


# What goes wrong.


def test_ray_that_is_not_installed_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ClusterError, match=r"pip install 'tacit\[ray\]'.*Nothing was spent"):
        made("trees").fit(on_ray(written(tmp_path, "two")))


def test_a_cluster_of_ray_is_an_address(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="is an address, got int"):
        tacit.read_source(written(tmp_path, "two"), engine="ray", cluster=3)
    with pytest.raises(RequestError, match="leave directory out"):
        tacit.read_source(tmp_path, engine="ray", directory=tmp_path)


@pytest.mark.usefixtures("ray")
def test_workers_of_another_version_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.engines.cluster.ray_workers.library_version", lambda: "9.9")
    with pytest.raises(ClusterError, match=r"version .* of tacit, and here is 9\.9.*Nothing was spent"):
        made("trees").fit(on_ray(written(tmp_path, "two")))


def test_a_cluster_without_room_costs_nothing(ray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_rows, "PATIENCE", 1.0)

    @ray.remote(num_cpus=2)
    class Full:
        def there(self) -> bool:
            return True

    full = Full.remote()
    assert ray.get(full.there.remote())
    with pytest.raises(ClusterError, match=r"no room for its workers for 1 seconds.*Nothing was spent"):
        made("trees").fit(on_ray(written(tmp_path, "two")))
    ray.kill(full)


@pytest.mark.usefixtures("ray")
def test_a_broken_file_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b,c,d,e,label\n1,2\n")
    refused("has a row with 2 cells", made("additive"), on_ray(tmp_path))
