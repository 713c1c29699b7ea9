"""What a site says to a coordinator that does not keep to the rules: no sum leaves it that was not agreed to."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgpack
import numpy as np
import pytest

import tacit
from tacit.curator.recipes import Columns, Lengths, Magnitudes, Vectors
from tacit.curator.sites.channel import Gone
from tacit.curator.sites.parties import Parties, SitesError
from tacit.curator.sites.shares import PairKey, Transcript, plain_recipe, recipe_of, share
from tacit.curator.sites.site import KEY_WORDS, Agreement, Site
from tacit.curator.source_rows import PreparedSource, prepare
from tacit.encoding.dense import RowClipper, RowEncoder
from tacit.encoding.grid import NumericGrid
from tacit.encoding.source import DeclaredSource
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.engines.joined.wire import Sender
from tacit.engines.passes.base import SumsOf
from tacit.engines.passes.dense import CoverSums
from tacit.errors import was_spent
from tacit.privacy.charges import Gaussian
from tacit.queries.cells import OneCell, column_cells
from tacit.queries.covers.candidates import Conjunctions
from tacit.queries.dense.moments import MomentSum
from tacit.queries.histogram import Histogram
from tacit.queries.rules import class_count_rule
from tests.joining import make_parties

SCHEMA = tacit.Schema.from_dict(
    {
        "label": {"column": "y", "classes": ["no", "yes"]},
        "columns": {"x": {"kind": "numeric", "lower": 0, "upper": 10, "bins": 5}},
    }
)
SESSION = b"s" * 32
CHARGE = Gaussian(10.0)

Message = dict[str, Any]
Talk = Generator[Message, Message, None]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("protocol")
    make_parties(folder, ("north", "south"))
    (folder / "rows.csv").write_text("x,y\n" + "1,no\n3,yes\n9,yes\n" * 7)
    return folder


class Other:
    """South's side of the keys, and what a coordinator says when all is well."""

    def __init__(self, place: Path) -> None:
        self.parties = Parties(place / "parties", place / "south.key")
        self.key, self.sender = PairKey(), Sender()
        self.transcript = Transcript(SESSION)
        self.secrets: dict[str, bytes] = {}
        self.digests: list[bytes] = []

    def words(self, name: str, public: bytes) -> bytes:
        return KEY_WORDS + SESSION + self.parties.digest.encode() + name.encode() + b"\0" + public

    def keys(self, ready: Message) -> Message:
        own = self.key.public
        self.secrets = self.key.secrets("south", {"north": ready["ready"]}, SESSION)
        return {
            "north": [ready["ready"], ready["signature"]],
            "south": [own, self.parties.sign(self.words("south", own))],
        }

    def opening(self) -> Generator[Message, Message, Message]:
        ready = yield INVITATION
        agreed = yield {"keys": self.keys(ready), "charges": [CHARGE.to_dict()] * 2}
        assert agreed == {"agreed": True}
        begun = yield {"begin": "fit of nothing"}
        assert begun == {"begun": True}
        return ready

    def ask(
        self,
        number: int,
        query: Any,
        entries: int = 1,
        first: bool = True,
        recipe: Any = {"kind": "columns"},  # noqa: B006
    ) -> Message:
        entry = {"label": f"release {number}", "charge": CHARGE.to_dict(), "theorem": "none"}
        return {
            "ask": number,
            "entries": [entry] * entries,
            "gone": [],
            "tell": [{"do": "seal", "table": 1, "recipe": recipe}] if first else [],
            "table": 1,
            "look": self.sender.plain(query if isinstance(query, CoverSums) else SumsOf(query)),
        }


INVITATION: Message = {"invite": SESSION, "algorithm": "none", "neighbouring": "add_or_remove_one", "seeded": False}
COUNTS = Histogram(OneCell(), class_count_rule(2))
BINS = Histogram(column_cells(0, 6), class_count_rule(2))
END = {"end": True, "certificate": "{}"}


class Script:
    """A connection to a coordinator that says what a generator yields, and is told what the site answers."""

    peer = "coordinator"

    def __init__(self, talk: Talk) -> None:
        self._talk, self.sent = talk, list[Message]()
        self._started = False

    def __enter__(self) -> Script:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def send(self, body: bytes) -> None:
        self.sent.append(msgpack.unpackb(body))

    def receive(self) -> tuple[Message, bytes]:
        try:
            said = self._talk.send(self.sent[-1]) if self._started else next(self._talk)
        except StopIteration:
            raise Gone("it hung up") from None
        self._started = True
        body = msgpack.packb(said)
        return msgpack.unpackb(body), body


AGREED = Agreement(epsilon=1.0, delta=1e-6)


ENCODING, LABELS = TableEncoding.of(SCHEMA), LabelIndex(("no", "yes"))


@cache
def encoded(place: Path) -> PreparedSource:
    """The rows of a site, read once for all visits."""
    source = DeclaredSource(tacit.read_source(place / "rows.csv", engine="memory"), SCHEMA)
    with prepare(source, ENCODING, LABELS) as ready:
        return ready


def visited(place: Path, talk: Callable[[Other], Talk], agreement: Agreement = AGREED) -> tuple[Any, list[Message]]:
    """What a visit, or its error, and what the site sent."""
    script, parties = Script(talk(Other(place))), Parties(place / "parties", place / "north.key")
    site = Site(encoded(place), ENCODING, LABELS, lambda: 21, SCHEMA, parties, agreement)
    try:
        return site.take_part(script), script.sent  # type: ignore[arg-type]
    except SitesError as error:
        return error, script.sent


def answers(sent: list[Message]) -> list[Message]:
    return [said for said in sent if "answer" in said]


def well(other: Other) -> Talk:
    yield from other.opening()
    yield other.ask(1, COUNTS)
    yield other.ask(2, BINS, first=False)
    yield END


def test_a_coordinator_that_keeps_to_the_rules_gets_shares(place: Path) -> None:
    visit, sent = visited(place, well)
    assert (visit.answers, visit.releases, visit.spent, visit.certificate) == (2, 2, True, "{}")
    assert [said["shape"] for said in answers(sent)] == [[1, 2], [6, 2]]


def test_shares_of_both_sites_add_up(place: Path) -> None:
    kept: list[tuple[Message, bytes]] = []

    def talk(other: Other) -> Talk:
        transcript = Transcript(SESSION)
        ready = yield INVITATION
        transcript.add(msgpack.packb(INVITATION))
        for message in (
            {"keys": other.keys(ready), "charges": [CHARGE.to_dict()]},
            {"begin": "a"},
            other.ask(1, BINS),
        ):
            digest = transcript.add(msgpack.packb(message))
            said = yield message
        south = share(np.zeros(12, np.int64), "south", other.secrets, digest)
        kept.append((said, south.tobytes()))
        yield END

    visited(place, talk)
    [(said, south)] = kept
    north = np.frombuffer(said["bytes"], np.uint64)
    total = (north + np.frombuffer(south, np.uint64)).view(np.int64).reshape(6, 2)
    np.testing.assert_array_equal(total[[0, 1, 4]], [[7, 0], [0, 7], [0, 7]])


RULES = Conjunctions((0,), (np.array([True, False, True, True, True, True]),), np.array([[0], [-1]], np.int32))


def a_cover(other: Other) -> Talk:
    yield from other.opening()
    yield other.ask(1, CoverSums(RULES, (), 0))
    yield other.ask(2, CoverSums(RULES, (0,), 0), entries=0, first=False)
    yield other.ask(3, COUNTS, first=False)
    yield END


def a_cover_that_begins_again(other: Other) -> Talk:
    yield from other.opening()
    yield other.ask(1, CoverSums(RULES, (0,), 0))
    yield other.ask(2, CoverSums(RULES, (0, 1), 0), entries=0, first=False)
    yield other.ask(3, CoverSums(RULES, (), 0), entries=0, first=False)


def numbers_of(norm: float = 1.25, **more: Any) -> Message:
    return {"clipper": RowClipper(norm).to_dict(), "intercept": 0.75} | more


def vectors(other: Other) -> Talk:
    yield from other.opening()
    yield other.ask(1, MomentSum(1, 2, 32767), recipe={"kind": "vectors", **numbers_of()})
    yield END


def test_a_cover_is_one_release_and_goes_on(place: Path) -> None:
    visit, sent = visited(place, a_cover)
    assert (visit.answers, visit.releases) == (3, 2)
    assert [said["shape"] for said in answers(sent)] == [[2, 2], [2, 2], [1, 2]]
    error, sent = visited(place, a_cover_that_begins_again)
    assert "more is asked than was charged" in str(error)
    assert len(answers(sent)) == 2


def test_a_site_makes_vectors_of_its_own_schema(place: Path) -> None:
    visit, sent = visited(place, vectors)
    assert visit.answers == 1
    assert [said["shape"] for said in answers(sent)] == [[2]]


Step = Message | Callable[[Other, Message], Message]
"""What a coordinator says, or what it makes of the last answer of a site."""


def saying(*steps: Step, opened: bool = True) -> Callable[[Other], Talk]:
    """A coordinator that says so, after all that comes before the first question if the visit is ``opened``."""

    def talk(other: Other) -> Talk:
        said: Message = (yield from other.opening()) if opened else {}
        for step in steps:
            said = yield step if isinstance(step, dict) else step(other, said)

    return talk


def proposing(
    change: Callable[[Other, Message], Message] = lambda other, keys: {}, charge: Message | None = None
) -> Any:
    """Keys and a charge after an invitation, with other keys, or another charge."""

    def propose(other: Other, ready: Message) -> Message:
        keys = other.keys(ready)
        return {"keys": keys | change(other, keys), "charges": [CHARGE.to_dict() if charge is None else charge]}

    return propose


def forged(other: Other, keys: Message) -> Message:
    own, folder = PairKey().public, other.parties.folder
    coordinator = Parties(folder, folder.parent / "coordinator.key")
    return {"south": [own, coordinator.sign(other.words("south", own))]}


def only_north(other: Other, ready: Message) -> Message:
    return {"keys": {"north": other.keys(ready)["north"]}, "charges": [CHARGE.to_dict()]}


def asking(query: Any = COUNTS, number: int = 1, **more: Any) -> Callable[[Other, Message], Message]:
    return lambda other, _: other.ask(number, query, **more)


def starting(*steps: Step) -> Callable[[Other], Talk]:
    return saying(*steps, opened=False)


NO_COLUMN = Histogram(column_cells(1, 6), class_count_rule(2))
REFUSED: dict[str, tuple[Callable[[Other], Talk], str, bool]] = {
    "a question before the keys": (starting(asking()), "no invitation", False),
    "a question before the charge": (starting(INVITATION, proposing(), asking()), "is asked for", False),
    "no keys": (starting(INVITATION, {"begin": "a"}), "when all have agreed", False),
    "a seed": (starting(INVITATION | {"seeded": True}), "seeded", False),
    "a relation": (starting(INVITATION | {"neighbouring": "replace_one"}), "agreed to add_or_remove_one", False),
    "a short session": (starting(INVITATION | {"invite": b"s"}), "no invitation", False),
    "two invitations": (starting(INVITATION, INVITATION), "no invitation", False),
    "too dear": (starting(INVITATION, proposing(charge=Gaussian(0.5).to_dict())), "agreed to epsilon 1", False),
    "no charge": (starting(INVITATION, proposing(charge={"kind": "free"})), "charge", False),
    "an unsigned key": (
        starting(INVITATION, proposing(lambda _, keys: {"south": [PairKey().public, keys["south"][1]]})),
        "'south' was not signed", False,
    ),
    "a key that another party signed": (starting(INVITATION, proposing(forged)), "'south' was not signed", False),
    "a site too many": (
        starting(INVITATION, proposing(lambda _, keys: {"coordinator": keys["south"]})), "not those of the sites", False
    ),
    "a site too few": (starting(INVITATION, only_north), "not those of the sites", False),
    "new keys": (saying(lambda other, ready: {"keys": other.keys(ready)}), "not those of the sites", True),
    "a second beginning": (saying({"begin": "again"}), "begins once", True),
    "more than was charged": (saying(asking(entries=0)), "more is asked than was charged", True),
    "more than was reserved": (saying(asking(entries=3)), "not covered", True),
    "an answer left out": (saying(asking(number=2)), "answer 2 is asked for", True),
    "a column": (saying(asking(NO_COLUMN)), "no such column", True),
    "nonsense": (saying({"give": "rows"}), "no message", True),
    **{
        f"a recipe: {name}": (saying(asking(recipe=recipe)), words, True)
        for name, recipe, words in (
            ("unknown", {"kind": "pickle", **numbers_of()}, "rows become columns, vectors"),
            ("a list", ["columns"], "no such recipe"),
            ("no numbers", {"kind": "vectors"}, "no such recipe"),
            ("a large intercept", {"kind": "vectors", **numbers_of(intercept=2)}, "from 0 to 1"),
            ("no grid", {"kind": "lengths", **numbers_of(grid=3)}, "no such recipe"),
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_a_site_refuses(what: str, place: Path) -> None:
    talk, words, spent = REFUSED[what]
    error, sent = visited(place, talk)
    assert isinstance(error, SitesError)
    assert words in str(error)
    assert words in sent[-1]["refused"]
    assert was_spent(error) == spent
    assert not answers(sent)


def test_no_answer_is_given_twice(place: Path) -> None:
    error, sent = visited(place, saying(asking(), asking(first=False)))
    assert "answer 1 is asked for, and 1 were given" in str(error)
    assert len(answers(sent)) == 1


def test_recipes_arrive_as_they_were_sent() -> None:
    encoding = TableEncoding.of(SCHEMA)
    encoder = replace(RowEncoder.of(SCHEMA), clipper=RowClipper(0.5, 1000), intercept=0.25)
    lengths = Lengths(encoder, NumericGrid(0.0, 2.0, spacing=(0.5, 1.0)))
    for recipe in (Columns(encoding), Columns(TableEncoding((), ())), Vectors(encoder), lengths):
        plain = msgpack.unpackb(msgpack.packb(plain_recipe(recipe, SCHEMA)))
        assert recipe_of(plain, SCHEMA, encoding) == recipe
    other = RowEncoder.of(tacit.Schema.from_dict(SCHEMA.to_dict() | {"columns": {"z": {"kind": "boolean"}}}))
    for foreign in (Columns(other.encoding), Vectors(other), Magnitudes(encoding)):
        with pytest.raises(TypeError, match="their schema"):
            plain_recipe(foreign, SCHEMA)


def places(message: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all parts of a message."""
    items = message.items() if isinstance(message, dict) else enumerate(message) if isinstance(message, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def spoiled(message: Message, path: tuple[Any, ...], wrong: Any) -> Message:
    """A message with something else at a place."""
    copy: Any = msgpack.unpackb(msgpack.packb(message))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = wrong
    return cast("Message", copy)


@pytest.mark.parametrize("wrong", [None, -1, "x", [], {}], ids=repr)
@pytest.mark.parametrize("step", range(4))
def test_anything_in_the_place_of_a_part_ends_in_our_words(step: int, wrong: Any, place: Path) -> None:
    """A visit goes on or is refused in words of this library, whatever part of a message is replaced."""
    coarsen = {"do": "coarsen", "table": 1, "logs": [], "column": 0, "mapping": Sender().plain(np.zeros(7, np.int64))}

    def messages(other: Other) -> list[Callable[[Message], Message]]:
        return [
            lambda _: INVITATION,
            lambda said: {"keys": other.keys(said), "charges": [CHARGE.to_dict()] * 2},
            lambda _: {"begin": "fit of nothing"},
            lambda _: (asked := other.ask(1, COUNTS)) | {"tell": [*asked["tell"], coarsen]},
        ]

    counted = list(places(_nth(place, messages, step)))
    for path in counted:

        def talk(other: Other, path: tuple[Any, ...] = path) -> Talk:
            said: Message = {}
            for number, make in enumerate(messages(other)):
                message = make(said)
                said = yield spoiled(message, path, wrong) if number == step else message

        error, _ = visited(place, talk)
        assert isinstance(error, SitesError), path
        own = any(words in str(error) for words in ("there is no such", "is damaged", "must be a table"))
        assert own or not re.search("object|NoneType|unpack|subscript|argument", str(error)), path


def _nth(place: Path, messages: Any, step: int) -> Message:
    """The message of a step, of a visit in which all is well until then."""
    results: list[Message] = []

    def talk(other: Other) -> Talk:
        said: Message = {}
        for make in messages(other)[: step + 1]:
            results.append(make(said))
            said = yield results[-1]

    visited(place, talk)
    return results[-1]


def test_seeded_noise_and_another_relation_may_be_agreed_to(place: Path) -> None:
    def talk(other: Other) -> Talk:
        ready = yield INVITATION | {"seeded": True, "neighbouring": "replace_one"}
        assert ready["rows"] == 21
        yield {"end": False, "words": "enough"}

    agreement = replace(AGREED, allow_seeded=True, neighbouring=tacit.Neighbouring.REPLACE_ONE)
    error, sent = visited(place, talk, agreement)
    assert "enough" in str(error)
    assert "refused" not in sent[-1]


def test_a_coordinator_that_is_gone_is_said_to_be(place: Path) -> None:
    def talk(other: Other) -> Talk:
        yield from other.opening()
        yield other.ask(1, COUNTS)

    error, _ = visited(place, talk)
    assert "the coordinator is gone after 1 answers" in str(error)
    assert was_spent(error)
    assert "The charge stands" in str(error)


def test_parties_are_who_the_folder_says(place: Path, tmp_path: Path) -> None:
    make_parties(tmp_path, ("north",))
    with pytest.raises(SitesError, match="holds 1 sites"):
        Parties(tmp_path / "parties", tmp_path / "north.key")
    with pytest.raises(SitesError, match="belongs to none"):
        Parties(place / "parties", tmp_path / "north.key")
    (tmp_path / "parties" / "again.pem").write_bytes((tmp_path / "parties" / "coordinator.pem").read_bytes())
    with pytest.raises(SitesError, match="one party under two names"):
        Parties(tmp_path / "parties", tmp_path / "north.key")
    (tmp_path / "parties" / "again.pem").unlink()
    (tmp_path / "parties" / "x.pem").write_text("nothing")
    with pytest.raises(SitesError, match="no certificate"):
        Parties(tmp_path / "parties", tmp_path / "north.key")
    (tmp_path / "parties" / "coordinator.pem").unlink()
    (tmp_path / "parties" / "x.pem").unlink()
    with pytest.raises(SitesError, match=r"no coordinator\.pem"):
        Parties(tmp_path / "parties", tmp_path / "north.key")
    known = Parties(place / "parties", place / "north.key")
    assert known.name == "north"
    assert known.sites == ("north", "south")
    assert known.signed_by("north", b"a", known.sign(b"a"))
    assert not known.signed_by("north", b"b", known.sign(b"a"))
    assert not known.signed_by("nobody", b"a", known.sign(b"a"))
