"""Fits on a cluster: the models of fits in memory, bit by bit, whoever dies or joins; and what goes wrong."""

from __future__ import annotations

import gc
import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import dask
import distributed
import numpy as np
import pytest

import tacit
import tacit.curator.cluster_rows as cluster_rows
from tacit.encoding.errors import DataError
from tacit.engines.cluster.rounds import Recheck, Rounds, Workers
from tacit.engines.cluster.work import Answers, ClusterError, Receiver, Shipper, Worker, WorkerRequest, joined
from tacit.privacy.request import RequestError
from tacit.queries.cells import column_cells
from tacit.queries.dense.halfspace_log import HalfspaceLog
from tacit.queries.margins import Margins
from tests.estimators.test_sources import LEARNERS, account, facts, in_memory, made, refused, written
from tests.golden.tables import table
from tests.pairwise import in_turn

pytestmark = pytest.mark.usefixtures("few_rounds")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def made_of(n_workers: int) -> Any:
    """Workers in this process: they share nothing but its memory."""
    return distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=None)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with made_of(2) as cluster, distributed.Client(cluster) as client:
        yield client


def on(client: Any, folder: Path) -> Any:
    return tacit.read_source(folder, engine="dask", cluster=client)


def held(client: Any) -> list[Any]:
    """What workers keep."""
    gc.collect()
    end = time.monotonic() + 5
    while True:
        result = client.run(lambda dask_worker: list(dask_worker.state.actors))
        actors = [actor for actors in result.values() for actor in actors]
        if not actors or time.monotonic() > end:
            return actors
        time.sleep(0.02)


def closed(cluster: Any, count: int = 1) -> None:
    """So many workers end."""
    for worker in list(cluster.workers.values())[:count]:
        cluster.sync(worker.close)


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The workers that were found to be gone."""
    records: list[str] = []
    lose = Workers._lose
    monkeypatch.setattr(Workers, "_lose", lambda self, home: (records.append(home), lose(self, home)))
    return records


def after(releases: int, happens: Callable[[], Any]) -> Any:
    """Something that happens once, before a release."""
    records = []

    def step(_: Any) -> None:
        records.append(None)
        if len(records) == releases:
            happens()

    return tacit.options(progress=step)


# The same answer.


@pytest.fixture(scope="module")
def clients() -> Iterator[Callable[[int], Any]]:
    """By number of workers, a client of so many."""
    with ExitStack() as stack:

        @cache
        def client_of(n_workers: int) -> Any:
            cluster = stack.enter_context(made_of(n_workers))
            return stack.enter_context(distributed.Client(cluster))

        yield client_of


CELLS = [((1, 3, 17)[cell % 3], 1 + cell % 4) for cell in range(12)]
"""Every number of parts with every number of workers."""


@pytest.mark.usefixtures("few_rounds_always")
@pytest.mark.parametrize(("name", "parts", "n_workers"), in_turn(list(LEARNERS), CELLS))
def test_a_fit_on_a_cluster_is_the_fit_in_memory(
    name: str, parts: int, n_workers: int, clients: Callable[[int], Any], tmp_path: Path
) -> None:
    folder, client = written(tmp_path, LEARNERS[name][1], parts), clients(n_workers)
    assert facts(made(name).fit(on(client, folder))) == facts(in_memory(name))
    assert not held(client)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LEARNERS if name.startswith("additive")])
def test_a_long_fit_on_a_cluster_is_the_fit_in_memory(name: str, client: Any, tmp_path: Path) -> None:
    """Of hundreds of releases, as a log of them grows."""
    assert facts(made(name).fit(on(client, written(tmp_path, LEARNERS[name][1])))) == facts(in_memory(name))


def test_a_fit_over_tls_is_the_fit_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And who has no certificate of the cluster reaches nothing, and pays nothing."""
    folder, payer, result = written(tmp_path / "rows", "two"), account(tmp_path), distributed.Security.temporary()
    before = payer.remaining
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, security=result, protocol="tls://"
    ) as cluster:
        assert cluster.scheduler_address.startswith("tls://")
        with distributed.Client(cluster.scheduler_address, security=result) as client:
            assert facts(made("m-alpha").fit(on(client, folder))) == facts(in_memory("m-alpha"))
        monkeypatch.setattr(cluster_rows, "CONNECTING", 1.0)
        secure = cluster.scheduler_address
        refusals = {secure: "no certificates for tls", secure.replace("tls", "tcp"): "no scheduler at tcp"}
        for address, words in refusals.items():
            with pytest.raises(ClusterError, match=f"{words}.*Nothing was spent"):
                made("trees", account=payer).fit(on(address, folder))
        assert payer.remaining == before
        files = {name: tmp_path / name for name in ("tls_ca_file", "tls_client_cert", "tls_client_key")}
        for name, file in files.items():
            file.write_text(getattr(result, name))
        ca, cert, key = map(str, files.values())
        named = {"ca-file": ca, "client.cert": cert, "client.key": key}
        with dask.config.set({f"distributed.comm.tls.{name}": file for name, file in named.items()}):
            made("trees", account=payer).fit(on(secure, folder))
    assert payer.remaining < before


class Forgetful(Rounds):
    """Workers that forget everything after each answer; every second one is lost."""

    closed = False
    asked = 0

    def sent(self, places: frozenset[int], first: int, sends: bool, together: bool) -> tuple[Answers, frozenset[int]]:
        del first, sends
        answers, lost = [], []
        for place in sorted(places):
            self.asked += 1
            if self.asked % 2:
                answers.append(self.answered(place, together))
            else:
                lost.append(place)
        return joined(answers), frozenset(lost)

    def answered(self, place: int, together: bool) -> Answers:
        request = WorkerRequest({place: self.parts[place]}, 0, self.history, frozenset({place}), together)
        return Worker(1).answer(request)

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("name", ["forest", "lists"])
def test_workers_of_ones_own_may_forget_and_get_lost(name: str, tmp_path: Path) -> None:
    results: list[Forgetful] = []

    def make(parts: Any) -> Forgetful:
        results.append(Forgetful(parts))
        return results[0]

    source = tacit.read_source(written(tmp_path, "two", 2), engine="workers", cluster=make)
    assert facts(made(name).fit(source)) == facts(in_memory(name))
    assert results[0].closed
    assert results[0].asked > 2 * len(results[0].history)


class Again(Forgetful):
    """Workers of a system that runs some errands twice, or never."""

    def __init__(self, parts: Any, times: int) -> None:
        super().__init__(parts)
        self.times = times

    def sent(self, places: frozenset[int], first: int, sends: bool, together: bool) -> tuple[Answers, frozenset[int]]:
        del first, sends
        errands = [*places, *places][: len(places) + self.times]
        return joined([self.answered(place, together) for place in errands]), frozenset()


@pytest.mark.parametrize("times", [1, -1])
def test_a_part_that_answers_twice_or_not_at_all_ends_the_fit(times: int, tmp_path: Path) -> None:
    """Rows that are counted twice move a sum by twice what noise was made for."""
    source = tacit.read_source(written(tmp_path, "two", 2), engine="workers", cluster=lambda parts: Again(parts, times))
    with pytest.raises(ClusterError, match="some answered twice, or not at all"):
        made("forest").fit(source)


NO_ANSWERS: dict[str, Callable[[Any], Any]] = {
    "fractions": lambda answer: answer + 0.5,
    "no numbers": lambda answer: np.full(answer.shape, np.nan),
    "one cell": lambda answer: answer.reshape(-1)[:1],
    "another shape": lambda answer: answer.reshape(-1),
    "too many": lambda answer: np.concatenate([answer, answer]),
    "a scalar": lambda answer: np.int64(3),
    "nothing": lambda answer: None,
    "truth values": lambda answer: answer.astype(bool),
    "texts": lambda answer: answer.astype(str),
    "large words": lambda answer: answer.astype(np.uint64),
    "a list": lambda answer: answer.tolist(),
}


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_what_is_no_answer_is_refused_in_our_words(name: str) -> None:
    right = np.arange(6).reshape(2, 3)
    wrong = NO_ANSWERS[name](right)
    with pytest.raises(ClusterError, match="a worker answered something else than was asked"):
        joined([Answers(right, places=(0,)), Answers(wrong, places=(1,))])
    if not isinstance(wrong, np.ndarray) or wrong.dtype != right.dtype:
        with pytest.raises(ClusterError, match="a worker answered something else than was asked"):
            joined([Answers(each={0: right, 1: wrong}, places=(0, 1))])


# Workers come and go.


@pytest.mark.parametrize("name", ["m-alpha", "halfspaces, capped", "lists", "additive, balanced", "additive, number"])
def test_a_lost_worker_loses_nothing(name: str, lost: list[str], tmp_path: Path) -> None:
    folder = written(tmp_path, LEARNERS[name][1], 5)
    with made_of(3) as cluster, distributed.Client(cluster) as client:
        with after(3, lambda: closed(cluster, 2)):
            assert facts(made(name).fit(on(client, folder))) == facts(in_memory(name))
    assert len(lost) == 2


def test_a_worker_that_joins_takes_its_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.engines.cluster.rounds.LOOK_AGAIN", 0.01)
    folder, moved = written(tmp_path, "two", 5), []
    close = Workers.close
    monkeypatch.setattr(Workers, "close", lambda self: (moved.append(self.moves), close(self)))
    with made_of(1) as cluster, distributed.Client(cluster) as client:

        def join() -> None:
            cluster.scale(2)
            client.wait_for_workers(2)

        with after(8, join):
            assert facts(made("m-alpha").fit(on(client, folder))) == facts(in_memory("m-alpha"))
    assert moved == [2]


@pytest.mark.slow
def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    folder, payer = written(tmp_path / "rows", "two", 4), account(tmp_path)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        before = [payer.remaining]

        def kill() -> None:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            before.append(payer.remaining)

        with after(8, kill):
            fitted = made("m-alpha", account=payer).fit(on(client, folder))
    assert facts(fitted) == facts(made("m-alpha", account=account_of(tmp_path / "other")).fit(*usual()))
    assert before[1] == payer.remaining != before[0]


def account_of(place: Path) -> Any:
    place.mkdir()
    return account(place)


def usual() -> tuple[Any, Any]:
    return table(3000).X, table(3000).two


def test_two_fits_on_one_cluster_do_not_meet(client: Any, tmp_path: Path) -> None:
    folder, results = written(tmp_path, "two"), {}

    def fit(name: str) -> None:
        results[name] = facts(made(name).fit(on(client, folder)))

    threads = [threading.Thread(target=fit, args=(name,)) for name in ("m-alpha", "lists")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {name: facts(in_memory(name)) for name in ("m-alpha", "lists")}


# A part that is asked of two workers.


class Lying:
    """Workers of which one says something else from some answer on: the first that was made, or any."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
        self.after, self.count, self.liar = after, 0, None
        honest = Worker.answer

        def answer(holder: Worker, request: WorkerRequest) -> Answers:
            result = honest(holder, request)
            self.liar = self.liar or holder
            self.count += holder is self.liar and bool(result.each or result.sums is not None)
            if holder is self.liar and self.count > self.after:
                each = {
                    place: sums + (np.arange(sums.size).reshape(sums.shape) == 0) for place, sums in result.each.items()
                }
                return replace(result, each=each, sums=None if result.sums is None else result.sums + 1)
            return result

        monkeypatch.setattr(Worker, "answer", answer)


def again(client: Any, folder: Path, share: float) -> Any:
    return tacit.read_source(folder, engine="dask", cluster=client, recheck=share)


@pytest.mark.parametrize("name", ["m-alpha", "lists"])
def test_a_recheck_changes_no_model(name: str, client: Any, tmp_path: Path) -> None:
    assert facts(made(name).fit(again(client, written(tmp_path, LEARNERS[name][1]), 1.0))) == facts(in_memory(name))
    assert not held(client)


@pytest.mark.parametrize("answers", [0, 2])
def test_a_worker_that_answers_wrongly_is_named_and_nothing_more_is_released(
    answers: int, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, payer = written(tmp_path / "rows", "two", 2), account(tmp_path)
    learner = made("m-alpha", account=payer)
    Lying(monkeypatch, answers)
    with pytest.raises(ClusterError) as caught:
        learner.fit(again(client, folder, 1.0))
    names = sorted(client.nthreads())
    assert all(name in str(caught.value) for name in names)
    assert re.search(r"answer differently for part [12] of 2.*The charge stands", str(caught.value))
    [line] = payer.reservations()
    assert line.status != "completed"
    assert len(line.entries) <= answers + 1  # the charge of the round is entered, and its answer not released
    assert not hasattr(learner, "model_")
    assert not held(client)


def test_without_a_recheck_a_wrong_answer_is_not_noticed(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is off by default, and the page says so."""
    folder = written(tmp_path, "two", 2)
    assert on(client, folder).recheck == 0.0
    Lying(monkeypatch, 2)
    assert made("m-alpha").fit(on(client, folder)).certificate_.releasable is False  # seeded


def test_which_part_is_asked_twice_is_drawn_evenly_and_with_a_key() -> None:
    key, other = b"k" * 32, b"l" * 32
    assert not any(Recheck(0.0, key).place(number, 3) is not None for number in range(1000))
    always = [Recheck(1.0, key).place(number, 3) for number in range(3000)]
    assert [always.count(place) for place in range(3)] == [1026, 1024, 950]
    quarter = [Recheck(0.25, key).place(number, 3) for number in range(3000)]
    assert sum(place is not None for place in quarter) == 725
    assert all(place in (None, right) for place, right in zip(quarter, always, strict=True))
    assert always != [Recheck(1.0, other).place(number, 3) for number in range(3000)]


def test_a_recheck_takes_two_workers_and_says_so_before_the_charge(tmp_path: Path) -> None:
    folder, payer = written(tmp_path / "rows", "two"), account(tmp_path)
    with made_of(1) as cluster, distributed.Client(cluster) as one:
        with pytest.raises(ClusterError, match=r"the cluster has one.*Nothing was spent"):
            made("m-alpha", account=payer).fit(again(one, folder, 0.5))
    assert payer.reservations() == ()
    for share, engine, words in (
        (1.5, "dask", "a share of the rounds"),
        (-0.1, "dask", "a share of the rounds"),
        (float("nan"), "dask", "a share of the rounds"),
        (True, "dask", "a share of the rounds"),
        (0.5, "memory", "engine='dask'"),
    ):
        with pytest.raises(RequestError, match=words):
            tacit.read_source(folder, engine=engine, recheck=share)


def test_a_second_worker_that_is_gone_is_replaced(lost: list[str], tmp_path: Path) -> None:
    folder = written(tmp_path, "two", 2)
    with made_of(3) as cluster, distributed.Client(cluster) as three:
        with after(2, lambda: closed(cluster, 1)):
            assert facts(made("m-alpha").fit(again(three, folder, 1.0))) == facts(in_memory("m-alpha"))
    assert len(lost) <= 1


# What goes wrong, and what it costs.


def test_a_cluster_that_is_not_there_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_rows, "CONNECTING", 1.0)
    payer, folder = account(tmp_path), written(tmp_path / "rows", "two")
    before = payer.remaining
    for address in ("tcp://127.0.0.1:1", "nowhere"):
        with pytest.raises(ClusterError, match=r"no scheduler at .*Nothing was spent"):
            made("trees", account=payer).fit(on(address, folder))
    assert payer.remaining == before


def test_a_cluster_without_workers_ends_a_fit_and_says_what_it_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_rows, "PATIENCE", 1.0)
    folder, payer = written(tmp_path / "rows", "two"), account(tmp_path)
    with made_of(1) as cluster, distributed.Client(cluster) as client:

        def leave() -> None:
            cluster.scale(0)
            while client.nthreads():
                time.sleep(0.01)

        with (
            after(5, leave),
            pytest.raises(ClusterError, match=r"no worker for 1 seconds.*The charge stands"),
        ):
            made("m-alpha", account=payer).fit(on(client, folder))
        spent = payer.remaining
        with pytest.raises(ClusterError, match=r"no worker for 1 seconds.*Nothing was spent"):
            made("m-alpha", account=payer).fit(on(client, folder))
    assert payer.remaining == spent


def test_a_scheduler_that_goes_ends_a_fit(tmp_path: Path) -> None:
    folder = written(tmp_path, "two")
    with made_of(1) as cluster, distributed.Client(cluster) as client:
        with after(5, cluster.close), pytest.raises(ClusterError, match=r"scheduler .* is gone.*The charge stands"):
            made("m-alpha").fit(on(client, folder))


def test_a_worker_of_another_version_is_refused(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.engines.cluster.rounds.library_version", lambda: "9.9")
    with pytest.raises(ClusterError, match=r"version .* of tacit, and here is 9\.9.*Nothing was spent"):
        made("trees").fit(on(client, written(tmp_path, "two")))


def test_a_broken_file_costs_nothing(client: Any, tmp_path: Path) -> None:
    for number in range(3):
        table(500 + number).X.assign(label=table(500 + number).two).to_csv(tmp_path / f"{number}.csv", index=False)
    with (tmp_path / "2.csv").open("a") as file:
        file.write("1,2\n")
    refused("2.csv has a row with 2 cells", made("additive"), on(client, tmp_path))
    assert not held(client)


def test_a_file_that_changed_is_not_taken_for_what_was_lost(tmp_path: Path) -> None:
    folder = written(tmp_path, "two", 4)
    with made_of(2) as cluster, distributed.Client(cluster) as client:

        def change() -> None:
            for file in folder.iterdir():
                os.utime(file, ns=(7, 7))
            closed(cluster)

        with after(5, change), pytest.raises(DataError, match="changed since this fit began") as failed:
            made("m-alpha").fit(on(client, folder))
    assert failed.value.spent


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"cluster": "tcp://1.2.3.4:5"}, "add engine='dask'"),
        ({"engine": "dask", "directory": "x"}, "leave directory out"),
        ({"engine": "spark"}, "'streamed', 'memory', 'dask'"),
        ({"engine": "workers"}, "needs a cluster that makes workers"),
        ({"engine": "workers", "cluster": "tcp://1.2.3.4:5"}, "needs a cluster that makes workers"),
    ],
)
def test_options_that_say_nothing_are_refused(asked: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=message):
        tacit.read_source(written(tmp_path, "two"), **asked)


# What travels.


def test_what_is_told_apart_by_identity_stays_itself() -> None:
    shipper, receiver = Shipper(), Receiver()
    cells, log = column_cells(0, 5), Margins()
    first = receiver.unpacked(shipper.packed([cells, cells, log]))
    assert first[0] is first[1]
    log.add(cells, np.arange(5.0))
    again = receiver.unpacked(shipper.packed((log, cells)))
    assert again[0] is first[2]
    assert again[1] is first[0] is again[0].updates[0].cells
    np.testing.assert_array_equal(again[0].updates[0].values, log.updates[0].values)


def test_of_a_log_only_what_is_new_is_sent() -> None:
    shipper, receiver, log = Shipper(), Receiver(), HalfspaceLog(500)
    draw = np.random.default_rng(0)
    sizes = []
    for _ in range(6):
        log.add(draw.standard_normal(500))
        message = shipper.packed(log)
        sizes.append(len(message))
        assert len(receiver.unpacked(message).steps) == len(log.steps)
    assert max(sizes) < 1.2 * min(sizes)
    assert len(shipper.packed(log)) < 200


def test_what_is_gone_here_is_let_go_there() -> None:
    shipper, receiver, cells = Shipper(), Receiver(), column_cells(0, 5)
    receiver.unpacked(shipper.packed(cells))
    assert len(receiver._known) == 1
    del cells
    gc.collect()
    receiver.unpacked(shipper.packed(None))
    assert not receiver._known


def test_logs_that_have_grown_come_before_codes_change() -> None:
    shipper, log = Shipper(), Margins()
    shipper.packed(log)
    assert shipper.open_logs() == []
    log.add(column_cells(0, 2), np.ones(2))
    assert shipper.open_logs() == [log]
