"""A worker holds parts of the rows, and answers for them.

All that a part went through is a list of messages, which the curator keeps. A worker that has not seen some of them,
because it is new or was started again, says so and is sent them: it reads its part of the source, goes through the
messages, and has what the one before it had. So nothing that a worker keeps can be lost.

Messages are pickles, in which objects keep their identity, because engines cache by the object: margins by their log,
leaves by their cells. Each of these is sent once, under a number, for as long as the curator holds it; of a log only
what is new is sent. Workers belong to whoever runs the fit: they run what they are sent. Sites do not (see
:mod:`tacit.engines.joined.wire`).
"""

from __future__ import annotations

import io
import pickle
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeGuard

import numpy as np

from tacit.arrays import Ints
from tacit.engines.passes.base import ENTRIES, SHARED, Look, Numbering, entries_of
from tacit.engines.rows import Rows, Workspace
from tacit.errors import UNSPENT, TacitError
from tacit.privacy.signatures import library_version
from tacit.queries.dense.vector_sum import CappedSum

SENT_ONCE = (*SHARED, CappedSum, *ENTRIES)
"""What has a number here."""


class ClusterError(TacitError):
    """A cluster that is not there, or has no workers left."""

    usual = UNSPENT


@dataclass(frozen=True)
class Growth:
    """What is new in a log of a number, which had ``start`` entries."""

    number: int
    start: int
    entries: Sequence[Any]


class Shipper:
    """The curator's side: all workers get the same messages in the same order."""

    def __init__(self) -> None:
        self._numbering = Numbering()

    def packed(self, value: Any) -> bytes:
        """A message: what is no longer referred to, objects that come for the first time, and a value."""
        gone = self._numbering.gone()
        first: list[tuple[int, bytes]] = []
        body = self._pickled(value, None, first)
        # maps from the codes of a column to its cells are long and hardly say anything
        return zlib.compress(pickle.dumps((gone, first, body), pickle.HIGHEST_PROTOCOL), 1)

    def open_logs(self) -> list[Any]:
        """All logs that have grown: to be sent before codes change, of which their entries speak."""
        return self._numbering.open_logs()

    def number(self, value: Any, first: list[tuple[int, bytes]]) -> int:
        """The number of an object; what is new about it, and about all in it, joins ``first``."""
        number, is_known = self._numbering.of(value)
        if not is_known:
            empty = replace(value, **{ENTRIES[type(value)]: []}) if type(value) in ENTRIES else value
            first.append((number, self._pickled(empty, empty, first)))
        if type(value) in ENTRIES:
            start, entries = self._numbering.new_entries(value)
            if entries:
                first.append((0, self._pickled(Growth(number, start, entries), None, first)))
        return number

    def _pickled(self, value: Any, itself: Any, first: list[tuple[int, bytes]]) -> bytes:
        into = io.BytesIO()
        _Pickler(into, self, itself, first).dump(value)
        return into.getvalue()


class _Pickler(pickle.Pickler):
    """Puts numbers in the place of what is shared."""

    def __init__(self, into: io.BytesIO, shipper: Shipper, itself: Any, first: list[tuple[int, bytes]]) -> None:
        super().__init__(into, pickle.HIGHEST_PROTOCOL)
        self._shipper, self._itself, self._first = shipper, itself, first

    def persistent_id(self, value: Any) -> int | None:
        """The number of what is shared, but for the object that this pickle is of."""
        if value is self._itself or type(value) not in SENT_ONCE:
            return None
        return self._shipper.number(value, self._first)


class Receiver:
    """A worker's side, for one part of the rows."""

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}

    def unpacked(self, message: bytes) -> Any:
        gone, first, body = pickle.loads(zlib.decompress(message))  # noqa: S301 - of the curator: decision 15
        for number in gone:
            self._known.pop(number, None)
        for number, pickled in first:
            value = self._unpickled(pickled)
            if number:
                self._known[number] = value
                continue
            entries = entries_of(self._known[value.number])
            assert len(entries) == value.start, "a log does not go on where it ended"
            entries.extend(value.entries)
        return self._unpickled(body)

    def _unpickled(self, pickled: bytes) -> Any:
        return _Unpickler(io.BytesIO(pickled), self._known).load()


class _Unpickler(pickle.Unpickler):
    """Puts objects in the place of numbers."""

    def __init__(self, source: io.BytesIO, objects: dict[int, Any]) -> None:
        super().__init__(source)
        self._known = objects

    def persistent_load(self, number: int) -> Any:
        """The object that came under a number."""
        return self._known[number]


class Part(Protocol):
    """A part of the source, as it travels: it holds no rows."""

    def opened(self) -> Callable[[Any, Workspace], Rows]:
        """Ready to be read, here: makes its rows of a recipe, in memory."""


class Held:
    """A part of the rows, as all messages so far have left it."""

    def __init__(self, part: Part, threads: int) -> None:
        self._rows, self._workspace, self._receiver = part.opened(), Workspace(threads), Receiver()
        self.position = 0
        self.tables: dict[int, Rows] = {}
        self._question: Question | None = None

    def follow(self, messages: Sequence[bytes]) -> None:
        for message in messages:
            commands, self._question = self._receiver.unpacked(message)
            for command in commands:
                command(self)
            self.position += 1

    def answer(self, place: int) -> Ints:
        """What the last message asks, of the part in this place of the order."""
        return np.zeros(0, np.int64) if self._question is None else self._question(self, place)

    def seal(self, number: int, recipe: Any) -> None:
        self.tables[number] = self._rows(recipe, self._workspace)


# Commands.


Command = Callable[[Held], None]
"""What is done with every part; nothing comes back."""


@dataclass(frozen=True)
class Seal:
    """Makes a table of the rows."""

    table: int
    recipe: Any

    def __call__(self, part: Held) -> None:
        part.seal(self.table, self.recipe)


@dataclass(frozen=True)
class Unseal:
    """Lets a table go."""

    table: int

    def __call__(self, part: Held) -> None:
        part.tables.pop(self.table, None)


@dataclass(frozen=True, eq=False)
class Change:
    """Has the rows of a table coarsen, derive or bind. ``logs`` have come by then: their entries speak of old codes."""

    table: int
    method: str
    arguments: tuple[Any, ...]
    logs: Sequence[Any] = ()

    def __call__(self, part: Held) -> None:
        getattr(part.tables[self.table], self.method)(*self.arguments)


# What is asked.


Question = Callable[[Held, int], Ints]
"""What every part answers with whole numbers, by its place in the order."""


@dataclass(frozen=True, eq=False)
class Ask:
    """A look at the rows of a table, or one for each part."""

    table: int
    looks: Look | Sequence[Look]

    def __call__(self, part: Held, place: int) -> Ints:
        look = self.looks[place] if isinstance(self.looks, Sequence) else self.looks
        return look(part.tables[self.table])


# What travels.


@dataclass(frozen=True, eq=False)
class WorkerRequest:
    """What a worker is asked: messages from place ``first`` to the last, and whose answers are wanted, by their places.

    A part comes along where the worker may not have it. What it holds beside ``keeps`` it lets go. ``together``:
    whether the sum over the parts is wanted, and not each answer.
    """

    parts: Mapping[int, Part | None]
    first: int
    messages: Sequence[bytes]
    keeps: frozenset[int]
    together: bool


@dataclass(frozen=True, eq=False)
class Answers:
    """What comes back: the sum over the parts that answered (None of none), or each answer; or why there are none.

    ``places`` are the parts that answered: one that comes twice was counted twice. ``behind`` are parts that have not
    seen all messages, with the number that they have seen.
    """

    sums: Ints | None = None
    each: Mapping[int, Ints] = field(default_factory=dict)
    behind: Mapping[int, int] = field(default_factory=dict)
    failure: BaseException | None = None
    places: tuple[int, ...] = ()


class Worker:
    """All parts of one fit that a worker holds: an actor of dask, which lives as long as the fit."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._parts: dict[int, Held] = {}

    def answer(self, request: WorkerRequest) -> Answers:
        for place in self._parts.keys() - request.keeps:
            del self._parts[place]
        answers, behind = {}, {}
        for place, part in request.parts.items():
            if place not in self._parts and part is not None:
                self._parts[place] = Held(part, self._threads)
            state = self._parts.get(place)
            if state is None or state.position < request.first:
                behind[place] = 0 if state is None else state.position
                continue
            try:
                state.follow(request.messages[state.position - request.first :])
                answers[place] = state.answer(place)
            except Exception as error:  # noqa: BLE001 - raised by the curator: what is raised here means a lost worker
                return Answers(failure=error)
        places = tuple(answers)
        if not request.together:
            return Answers(None, answers, behind, places=places)
        return Answers(sum_of(list(answers.values())), {}, behind, places=places)


def version() -> str:
    """The version of the library on a worker."""
    return library_version()


def joined(answers: Sequence[Answers]) -> Answers:
    """Several workers' answers as one; raises :class:`ClusterError` unless all are whole numbers of one shape."""
    each = {place: answer for one in answers for place, answer in one.each.items()}
    behind = {place: seen for one in answers for place, seen in one.behind.items()}
    places = tuple(place for one in answers for place in one.places)
    if not all(map(_are_whole, each.values())):
        raise ClusterError(NO_ANSWER)
    return Answers(sum_of([one.sums for one in answers if one.places and not one.each]), each, behind, places=places)


NO_ANSWER = "a worker answered something else than was asked: it is wrong, and nothing was released of this round"


def sum_of(sums: Sequence[Ints | None]) -> Ints | None:
    """The sum of whole numbers, in 64 bits; None of none; errors as in :func:`joined`."""
    total: Ints | None = None
    for each in sums:
        if not _are_whole(each) or (total is not None and total.shape != each.shape):
            raise ClusterError(NO_ANSWER)
        total = np.array(each, np.int64) if total is None else total + each
    return total


def _are_whole(answer: Any) -> TypeGuard[Ints]:
    if not isinstance(answer, np.ndarray):
        return False
    return answer.dtype.kind in "iu" and np.can_cast(answer.dtype, np.int64)
