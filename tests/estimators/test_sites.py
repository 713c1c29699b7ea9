"""Fits over sites: the models of fits to all their rows, bit by bit; what sites refuse; and sites that drop out."""

from __future__ import annotations

import json
import shutil
import socket
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.closure import FiniteClassClassifier, Thresholds
from tacit.curator.sites import channel, coordinator, site
from tacit.curator.sites.channel import Channel, Gone
from tacit.curator.sites.memory import Gathering, digest_of
from tacit.curator.sites.parties import Parties, SitesError
from tacit.engines.joined.admit import SiteTables
from tacit.errors import was_spent
from tacit.learning import sites as joining
from tacit.privacy.request import RequestError
from tests.estimators.test_sources import LEARNERS, ROWS, declared, facts, in_memory, made
from tests.golden.tables import table
from tests.joining import MORE_NAMES, NAMES, cut, joined, make_parties
from tests.pairwise import in_turn

JOIN = [name for name in LEARNERS if name != "halfspaces, capped"]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sites")
    make_parties(folder)
    return folder


def files(place: Path, kind: str = "two", **more: Any) -> dict[str, Path]:
    return cut(table(ROWS).X.assign(label=getattr(table(ROWS), kind)), place, **more)


def quick(**more: Any) -> Any:
    """A fit of few rounds."""
    asked = {"n_trees": 4, "epsilon": 1.0, "random_state": 1, "schema": declared("two")} | more
    return tacit.RandomTreesClassifier(**asked)


@pytest.fixture(scope="module")
def of_size(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """By number of sites, a folder of their keys and certificates."""

    @cache
    def made(n_sites: int) -> Path:
        place = tmp_path_factory.mktemp(f"sites-{n_sites}")
        make_parties(place, MORE_NAMES[:n_sites])
        return place

    return made


SITES = [(3, 1), (2, 3), (4, 17), (2, 1), (4, 1), (3, 3), (4, 3), (2, 17), (3, 17)]
"""Numbers of sites, and of files that the rows of each are in."""


@pytest.mark.usefixtures("few_rounds_always")
@pytest.mark.parametrize(("name", "n_sites", "parts"), in_turn(JOIN, SITES))
def test_a_joined_fit_is_the_fit_to_all_rows(
    name: str, n_sites: int, parts: int, of_size: Callable[[int], Path], tmp_path: Path
) -> None:
    kind, asked = LEARNERS[name][1:]
    relation, cuts = asked.get("neighbouring", "add_or_remove_one"), (1000, 1013, 2100)[: n_sites - 1]
    rows = cut(table(ROWS).X.assign(label=getattr(table(ROWS), kind)), tmp_path, cuts, parts)
    with joined(of_size(n_sites), rows, declared(kind), neighbouring=relation) as here:
        fitted = made(name).fit(here.sites)
    assert facts(fitted) == facts(in_memory(name))
    assert fitted.certificate_.verify() == []
    for visit in here.ended.values():
        assert visit.releases == fitted.certificate_.releases
        assert visit.answers > 0
        assert visit.answers <= visit.releases or name.startswith("lists")  # a cover is one release of many choices
        certificate = tacit.Certificate.from_json(visit.certificate)
        assert certificate.verify() == []
        assert certificate.charges == fitted.certificate_.charges


def test_how_rows_are_spread_changes_no_bit(place: Path) -> None:
    expected = facts(quick().fit(table(ROWS).X, table(ROWS).two))
    for cuts in ((0, 0), (1, ROWS), (1500, 1500)):
        with joined(place, files(place, cuts=cuts), declared("two")) as here:
            assert facts(quick().fit(here.sites)) == expected


def test_fresh_noise_needs_no_leave(place: Path) -> None:
    with joined(place, files(place), declared("two"), allow_seeded=False) as here:
        fitted = quick(random_state=None).fit(here.sites)
    assert fitted.certificate_.releasable
    assert all(visit.certificate for visit in here.ended.values())


# What is on the wire.


def test_no_sum_of_a_site_is_on_the_wire(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No number of any answer is the exact sum, and the same fit sends other numbers the next time."""
    exact: list[Any] = []
    sent: list[bytes] = []
    answer, send = SiteTables.answer, Channel.send

    def answered(self: SiteTables, look: Any) -> Any:
        exact.append(answer(self, look))
        return exact[-1]

    def listened(self: Channel, body: bytes) -> None:
        if self.peer == "coordinator":
            sent.append(body)
        send(self, body)

    monkeypatch.setattr(SiteTables, "answer", answered)
    monkeypatch.setattr(Channel, "send", listened)
    with joined(place, files(place), declared("two")) as here:
        quick().fit(here.sites)
    shares = [channel.msgpack.unpackb(body) for body in sent]
    numbers = [np.frombuffer(said["bytes"], np.int64) for said in shares if "answer" in said]
    assert len(numbers) == len(exact) > 6
    known = set(np.concatenate([sums.ravel() for sums in exact]).tolist())
    assert not known & set(np.concatenate(numbers).tolist())
    with joined(place, files(place), declared("two")) as here:
        quick().fit(here.sites)
    answers = [body for body in sent if b"answer" in body]
    assert len(set(answers)) == len(answers) == 2 * len(numbers)


def test_answers_replayed_are_the_same_and_add_up_to_those_of_all_rows(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What sites were asked, asked again of them and of one site that has all rows."""
    arguments: dict[int, list[dict[str, Any]]] = {}
    answers: dict[int, list[Any]] = {}
    look, answer = SiteTables.look, SiteTables.answer
    seals: dict[int, Any] = {}
    begin = SiteTables.__init__

    def began(self: SiteTables, seal: Any, has_targets: bool) -> None:
        begin(self, seal, has_targets)
        arguments[id(self)], answers[id(self)], seals[id(self)] = [], [], (self, seal)

    def looked(self: SiteTables, what: dict[str, Any]) -> Any:
        arguments[id(self)].append(what)
        return look(self, what)

    def answered(self: SiteTables, what: Any) -> Any:
        answers[id(self)].append(answer(self, what))
        return answers[id(self)][-1]

    with monkeypatch.context() as patch:
        patch.setattr(SiteTables, "__init__", began)
        patch.setattr(SiteTables, "look", looked)
        patch.setattr(SiteTables, "answer", answered)
        with joined(place, files(place), declared("two")) as here:
            made("trees", n_trees=5).fit(here.sites)
    with monkeypatch.context() as patch:
        patch.setattr(SiteTables, "__init__", began)
        with joined(place, files(place, cuts=(ROWS, ROWS)), declared("two")) as here:
            quick().fit(here.sites)

    def replayed(number: int, messages: list[dict[str, Any]]) -> list[Any]:
        tables, results = SiteTables(seals[number][1], False), []
        for message in messages:
            tables.forget(message["gone"])
            for what in message["tell"]:
                tables.tell(what)
            results.append(tables.answer(tables.look(message)))
        return results

    first = [number for number, known in answers.items() if known]
    assert len(first) == 3
    for number in first:
        for one, two in zip(replayed(number, arguments[number]), answers[number], strict=True):
            np.testing.assert_array_equal(one, two)
    pooled = [replayed(number, arguments[first[0]]) for number in answers if number not in first]
    totals = [np.sum(parts, axis=0) for parts in zip(*(answers[number] for number in first), strict=True)]
    assert any(all(np.array_equal(one, two) for one, two in zip(whole, totals, strict=True)) for whole in pooled)


# What sites refuse.


@pytest.mark.parametrize(
    ("agreed", "asked", "words"),
    [
        ({"allow_seeded": False}, {}, "seeded"),
        ({"epsilon": 0.5}, {}, "agreed to epsilon 0.5"),
        ({"delta": 0.0}, {"epsilon": 1.0}, "agreed to"),
        ({"neighbouring": "replace_one"}, {}, "agreed to replace_one"),
        ({"epsilon": 1.0}, {"epsilon": float("inf")}, "agreed to epsilon 1"),
    ],
)
def test_sites_refuse_what_they_did_not_agree_to(
    agreed: dict[str, Any], asked: dict[str, Any], words: str, place: Path
) -> None:
    with (
        joined(place, files(place), declared("two"), **agreed) as here,
        pytest.raises(SitesError, match=words) as raised,
    ):
        quick(**{"neighbouring": "add_or_remove_one"} | asked).fit(here.sites)
    assert "refuses" in str(raised.value)
    assert "Nothing was spent" in str(raised.value)
    assert not was_spent(raised.value)
    assert all(isinstance(ended, SitesError) and not was_spent(ended) for ended in here.ended.values())


@pytest.fixture(scope="module")
def parties(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keys and certificates of four sites."""
    folder = tmp_path_factory.mktemp("four")
    make_parties(folder, MORE_NAMES)
    return folder


def fresh(parties: Path, place: Path) -> Path:
    """The same sites, which took part in no fit yet."""
    return Path(shutil.copytree(parties, place / "parties of a test"))


STRICT = {"allow_changed_parties": False, "allow_changed_rows": False}


def tried(place: Path, rows: dict[str, Path], serve: Any = tacit.serve_site, **agreed: Any) -> str:
    """How a fit of the sites of these rows ends, with all others' certificates gone: in words, or empty."""
    gone = [path for path in (place / "parties").glob("*.pem") if path.stem not in (*rows, "coordinator")]
    kept = [(path, path.read_bytes()) for path in gone]
    for path in gone:
        path.unlink()
    words = ""
    with joined(place, rows, declared("two"), serve, **STRICT | agreed) as here:
        try:
            quick(n_trees=1).fit(here.sites)
        except SitesError as error:
            words = str(error)
    for path, content in kept:
        path.write_bytes(content)
    assert not words or "Nothing was spent" in words
    assert not words or all(not was_spent(ended) for ended in here.ended.values())
    return words


def without(rows: dict[str, Path], name: str) -> dict[str, Path]:
    return {each: path for each, path in rows.items() if each != name}


@pytest.mark.parametrize("paid", [False, True], ids=["no account", "account"])
def test_a_site_takes_part_with_others_only_if_it_is_told_to(paid: bool, parties: Path, tmp_path: Path) -> None:
    """Exact totals of three sites, less those of two of them, are the sums of the third."""
    place, rows = fresh(parties, tmp_path), files(tmp_path, cuts=(1000, 1013, 2000))
    serve = serving(accounts(tmp_path, 9.0, MORE_NAMES)) if paid else tacit.serve_site
    three = without(rows, "east")
    assert tried(place, three, serve) == ""
    assert "took part in a fit of other sites before" in tried(place, without(three, "west"), serve)
    assert "took part in a fit of other sites before" in tried(place, rows, serve)  # one more
    assert tried(place, three, serve) == ""  # those of before may
    assert tried(place, without(three, "west"), serve, allow_changed_parties=True) == ""
    assert "allow-changed-parties" in tried(place, three, serve)  # both sets are of an earlier fit now
    assert [(place / f"{name}.key.fits").stat().st_mode & 0o777 for name in three] == [0o600] * 3
    assert not (place / "east.key.fits").exists()


def test_a_site_takes_part_with_other_rows_only_if_it_is_told_to(parties: Path, tmp_path: Path) -> None:
    place, rows = fresh(parties, tmp_path), without(files(tmp_path), "west")
    assert tried(place, rows) == ""
    table_ = pd.read_parquet(rows["south"])
    table_.sample(frac=1.0, random_state=0).to_parquet(rows["south"], index=False)  # their order does not matter
    assert tried(place, rows) == ""
    table_.iloc[:-1].to_parquet(rows["south"], index=False)
    assert "site 'south' refuses: this site took part in a fit with other rows before" in tried(place, rows)
    assert tried(place, rows, allow_changed_rows=True) == ""


def test_a_fit_that_failed_is_remembered(parties: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, rows = fresh(parties, tmp_path), without(files(tmp_path), "east")
    (place / "parties" / "east.pem").unlink()
    with monkeypatch.context() as patch:
        _Leaves("west", 1).watch(patch)
        with joined(place, rows, declared("two"), **STRICT) as here, pytest.raises(SitesError, match="dropped out"):
            quick().fit(here.sites)
    assert "took part in a fit of other sites before" in tried(place, without(rows, "west"))


def test_what_a_site_remembers_tells_no_rows_without_its_key(place: Path) -> None:
    blocks = [[np.arange(9), np.arange(9) % 2]]
    digests = {digest_of(blocks, Parties(place / "parties", place / f"{name}.key").secret(b"x")) for name in NAMES}
    assert len(digests) == 3
    assert Gathering.read(f"joined {Gathering('0' * 64, '1' * 64)} and more: {Gathering('2' * 64, '3' * 64)}") == (
        Gathering("2" * 64, "3" * 64)  # what the coordinator calls its fit comes before
    )


def test_another_schema_is_refused(place: Path) -> None:
    changed = declared("two").to_dict()
    changed["columns"]["a"]["upper"] = 3
    with joined(place, files(place), tacit.Schema.from_dict(changed)) as here:
        with pytest.raises(SitesError, match="has another schema"):
            quick().fit(here.sites)


def test_another_version_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "hello", lambda *asked: channel.hello(*asked) | {"version": "0.0.7"})
    with (
        joined(place, files(place), declared("two")) as here,
        pytest.raises(SitesError, match="another version of tacit"),
    ):
        quick().fit(here.sites)


def test_learners_that_do_not_join_say_so(place: Path, tmp_path: Path) -> None:
    sites = tacit.join_sites("127.0.0.1:1", parties=place / "parties", key=place / "coordinator.key")
    payer = tacit.PrivacyAccount.create(f"sqlite:///{tmp_path}/account.db", "rows", 9.0, 1e-6)
    with pytest.raises(RequestError, match=r"first rows of a level.*Nothing was spent"):
        made("halfspaces, capped", account=payer).fit(sites)
    with pytest.raises(RequestError, match="does not learn from sites"):
        FiniteClassClassifier(Thresholds("a"), schema=declared("two"), account=payer).fit(sites)
    assert payer.charges == ()


def test_public_mistakes_are_refused_before_anybody_is_waited_for(place: Path) -> None:
    sites = tacit.join_sites("127.0.0.1:1", parties=place / "parties", key=place / "coordinator.key")
    with pytest.raises(RequestError, match="need a schema"):
        quick(schema=None, classes=(0, 1)).fit(sites)
    with pytest.raises(RequestError, match="hold their labels"):
        quick().fit(sites, [0, 1])
    with pytest.raises(SitesError, match="HOST:PORT"):
        tacit.join_sites("7700", parties=place / "parties", key=place / "coordinator.key")
    with pytest.raises(SitesError, match="the coordinator who joins"):
        tacit.join_sites("127.0.0.1:1", parties=place / "parties", key=place / "north.key")


def test_sites_that_do_not_come_are_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = {name: file for name, file in files(place).items() if name != "south"}
    read, reached = threading.Semaphore(0), joining._reached

    def after_reading(*arguments: Any) -> Channel:
        read.release()
        return reached(*arguments)

    monkeypatch.setattr(joining, "_reached", after_reading)
    with joined(place, some, declared("two")) as here:
        assert all(read.acquire(timeout=60) for _ in some)  # reading may take longer than the coordinator waits
        object.__setattr__(here.sites, "wait", 3.0)
        with pytest.raises(SitesError, match="no word from south in 3 seconds"):
            quick().fit(here.sites)
    assert all("no word from south" in str(ended) for ended in here.ended.values())


def test_strangers_are_left_standing(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody with a certificate of another folder, who has a site's name; and somebody who says nothing."""
    make_parties(tmp_path, ("north", "east"))
    monkeypatch.setattr(coordinator, "HANDSHAKE", 0.5)
    own = cut(table(ROWS).X.assign(label=table(ROWS).two), tmp_path)["north"]
    ended: list[Exception] = []

    def knock(listen: str) -> None:
        with pytest.raises(SitesError) as raised:
            tacit.serve_site(
                own, declared("two"), connect=listen, parties=tmp_path / "parties", key=tmp_path / "north.key", wait=20
            )
        ended.append(raised.value)

    some = files(place)
    with joined(place, {name: file for name, file in some.items() if name != "west"}, declared("two")) as here:
        stranger = threading.Thread(target=knock, args=(here.sites.listen,))
        fit = threading.Thread(target=lambda: results.append(facts(quick().fit(here.sites))))
        results: list[Any] = []
        fit.start()
        stranger.start()
        stranger.join(30)
        assert len(ended) == 1
        assert fit.is_alive()
        host, port = here.sites.listen.split(":")
        with socket.create_connection((host, int(port))):
            tacit.serve_site(
                some["west"],
                declared("two"),
                connect=here.sites.listen,
                parties=place / "parties",
                key=place / "west.key",
                epsilon=100,
                allow_seeded=True,
                allow_changed_parties=True,
                allow_changed_rows=True,
            )
        fit.join(30)
    assert results == [facts(quick().fit(table(ROWS).X, table(ROWS).two))]


# Accounts, and sites that drop out.


def accounts(place: Path, epsilon: float = 2.0, names: tuple[str, ...] = NAMES) -> dict[str, tacit.PrivacyAccount]:
    return {
        name: tacit.PrivacyAccount.create(f"sqlite:///{place}/{name}.db", "rows", epsilon, 1e-6)
        for name in ("coordinator", *names)
    }


def serving(paying: dict[str, tacit.PrivacyAccount], **more: Any) -> Any:
    def serve(file: Path, schema: Any, **agreed: Any) -> Any:
        name = file.stem
        return tacit.serve_site(file, schema, account=paying[name], **agreed | more.get(name, {}))

    return serve


def test_every_site_pays_from_its_own_account(place: Path, tmp_path: Path) -> None:
    paying = accounts(tmp_path, 1.6)
    for _ in range(2):
        with joined(place, files(place), declared("two"), serving(paying)) as here:
            fitted = quick(account=paying["coordinator"]).fit(here.sites)
    charged = {name: account.charges for name, account in paying.items()}
    assert all(charges == charged["coordinator"] for charges in charged.values())
    for name in NAMES:
        [*_, line] = paying[name].reservations()
        assert line.status == "completed"
        assert line.label.startswith("joined fit of RandomTreesClassifier: sites ")
        assert [entry.label for entry in line.entries] == [entry.label for entry in fitted.certificate_.entries]
    with joined(place, files(place), declared("two"), serving(paying)) as here:
        with pytest.raises(SitesError, match="refuses: the account of this site does not pay"):
            quick().fit(here.sites)
    assert {name: account.charges for name, account in paying.items()} == charged


class _Leaves:
    """A site that goes away before it gives a certain answer."""

    def __init__(self, name: str, after: int) -> None:
        self.name, self.after, self._told = name, after, 0

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = site.Site._asked

        def leaving(this: site.Site, *rest: Any) -> Any:
            if this._parties.name == self.name and this.visit.answers == self.after:
                raise Gone("the cable")
            return asked(this, *rest)

        monkeypatch.setattr(site.Site, "_asked", leaving)


@pytest.mark.parametrize("after", [0, 3])
def test_a_site_that_drops_out_is_a_clear_end(
    after: int, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paying = accounts(tmp_path)
    with monkeypatch.context() as patch:
        _Leaves("south", after).watch(patch)
        with joined(place, files(place), declared("two"), serving(paying)) as here:
            with pytest.raises(SitesError, match=f"site 'south' dropped out after {after} answers") as raised:
                quick(account=paying["coordinator"]).fit(here.sites)
    assert was_spent(raised.value)
    assert "The charge stands" in str(raised.value)
    once = paying["coordinator"].charges
    for name, account in paying.items():
        assert account.charges == once
        [line] = account.reservations()
        assert line.status == "failed"
        if name != "coordinator":
            assert was_spent(here.ended[name])
    assert "dropped out" in str(here.ended["north"])
    with joined(place, files(place), declared("two"), serving(paying)) as here:  # and nothing is in the way of the next
        quick(account=paying["coordinator"]).fit(here.sites)


def test_a_coordinator_that_cannot_pay_costs_nobody_anything(place: Path, tmp_path: Path) -> None:
    paying = accounts(tmp_path, 2.0)
    poor = tacit.PrivacyAccount.create(f"sqlite:///{tmp_path}/poor.db", "rows", 0.5, 1e-6)
    with joined(place, files(place), declared("two"), serving(paying), wait=0.5) as here:  # nobody is ever there
        with pytest.raises(tacit.BudgetExceeded):
            quick(account=poor).fit(here.sites)
    assert not any(account.charges for account in (*paying.values(), poor))


def test_the_record_says_what_was_asked_and_not_what_was_answered(place: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"

    def serve(file: Path, schema: Any, **agreed: Any) -> Any:
        return tacit.serve_site(file, schema, **agreed | ({"record": record} if file.stem == "west" else {}))

    with joined(place, files(place), declared("two"), serve) as here:
        fitted = quick().fit(here.sites)
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert len(lines) == here.ended["west"].answers
    entered = [entry["label"] for line in lines for entry in line["entered"]]
    assert entered == [entry.label for entry in fitted.certificate_.entries]
    assert {kind for line in lines for kind in line["asked"]} <= {"Histogram"}
    assert set(lines[0]) == {"time", "answer", "asked", "sums", "entered"}
