"""What a coordinator asks sites, as plain data and back: numbers, texts, lists, maps and bytes, never code.

Only the types listed here can travel. A value is checked against the annotations of the class it is for before that is
made, and the class checks it once more.

Cells, rules, logs of margins and bounds are distinguished by identity, and some are large. Each is sent once, under a
number, for as long as the coordinator holds it; of a log only what is new is sent.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, get_args, get_origin

import numpy as np

from tacit.engines.passes.base import SHARED, Numbering, SumsOf, entries_of
from tacit.engines.passes.dense import CoverSums
from tacit.engines.passes.histogram import CodeCounts, ProductSums
from tacit.engines.passes.splits import LeftSums
from tacit.errors import TacitError
from tacit.models.tree import TreeShape
from tacit.privacy.charges import Charge, charge_from_dict
from tacit.queries.cells import OneCell
from tacit.queries.covers.candidates import StreamedConjunctions
from tacit.queries.dense.halfspace_log import HalfspaceLog, HalfspaceStep, Levels, MarginCounts, MeasureSize
from tacit.queries.dense.moments import MomentSum, ShortenedSquares
from tacit.queries.dense.vector_sum import VectorSum
from tacit.queries.histogram import Histogram, ReleaseMap, ResidualLevels, ScoreHistogram
from tacit.queries.joint_bound import JointHistogram, JointPart
from tacit.queries.margins import Margins, Scores, ScoreUpdate, Update
from tacit.queries.score_rules import LogLink, ResidualRule, SoftmaxRule, TargetScale
from tacit.queries.tree_cells import SplitHistogram


class WireError(TacitError):
    """What came from the other side is not what may come."""


LOGS: dict[type, dict[str, int]] = {
    Margins: {},
    Scores: {"n_scores": 256},
    HalfspaceLog: {"n_features": 1 << 24, "radius": 1 << 24},
}
"""Of each only what is new is sent; and the numbers that an empty one is made of, with what they are at most."""

Log = Margins | Scores | HalfspaceLog

BY_VALUE = (
    SumsOf, CodeCounts, ProductSums, LeftSums, CoverSums,
    Histogram, ScoreHistogram, ResidualLevels, JointHistogram, SplitHistogram,
    OneCell, TreeShape, ReleaseMap, JointPart, SoftmaxRule, ResidualRule, TargetScale, LogLink,
    Update, ScoreUpdate,
    VectorSum, MeasureSize, MarginCounts, MomentSum, ShortenedSquares, Levels, HalfspaceStep,
)  # fmt: skip

KINDS: dict[str, type] = {kind.__name__: kind for kind in (*SHARED, *BY_VALUE)}
LOOKS = (SumsOf, CodeCounts, ProductSums, LeftSums, CoverSums)
"""What a site may be asked to do with its rows."""

MOST_LITERALS = 64
"""Literals in one of the conjunctions that a site makes itself."""

LEFT_OUT = {(Histogram, "release_map"), (ScoreHistogram, "release_map")}
"""Sums do not need them: maps are of totals."""

NOISY = (
    Histogram, ScoreHistogram, ResidualLevels, JointHistogram,
    VectorSum, MeasureSize, MarginCounts, MomentSum, ShortenedSquares,
)  # fmt: skip
"""What a site that trusts nobody answers: with its share of the noise, through the release map."""

ANY_QUERY = (*NOISY, SplitHistogram)


class Sender:
    """The coordinator's side: from objects to plain data, the same for all sites.

    ``maps``: whether release maps go along: where noise is added before the sites' answers are.
    """

    def __init__(self, maps: bool = False) -> None:
        self._numbering = Numbering()
        self._left_out = frozenset() if maps else LEFT_OUT

    def plain(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float | str | bytes):
            return value
        if isinstance(value, np.integer):
            return int(value)
        if isinstance(value, np.ndarray):
            return {
                "array": value.dtype.str,
                "shape": list(value.shape),
                "bytes": np.ascontiguousarray(value).tobytes(),
            }
        if isinstance(value, tuple | list):
            return [self.plain(each) for each in value]
        if isinstance(value, Charge):
            return {"charge": value.to_dict()}
        if type(value) in LOGS:
            return self._log(value)
        if type(value) in SHARED:
            number, is_known = self._numbering.of(value)
            return {"known": number} if is_known else {"number": number, **self._fields(value)}
        if type(value) in BY_VALUE:
            return self._fields(value)
        raise TypeError(f"a {type(value).__name__} does not travel to sites")

    def open_logs(self) -> list[Any]:
        """What is new in all logs: before codes change, of which updates so far speak."""
        return [self._log(log) for log in self._numbering.open_logs()]

    def gone(self) -> list[int]:
        """Numbers of what was sent and is no longer referred to."""
        return self._numbering.gone()

    def _fields(self, value: Any) -> dict[str, Any]:
        kind = type(value)
        values = {
            field.name: None if (kind, field.name) in self._left_out else self.plain(getattr(value, field.name))
            for field in fields(value)
        }
        return {"is": kind.__name__, "of": values}

    def _log(self, log: Any) -> dict[str, Any]:
        number, _ = self._numbering.of(log)
        start, entries = self._numbering.new_entries(log)
        new = [self.plain(update) for update in entries]
        numbers = [getattr(log, name) for name in LOGS[type(log)]]
        return {"log": number, "is": type(log).__name__, "numbers": numbers, "from": start, "new": new}


class Receiver:
    """A site's side: from plain data to objects; ``admits`` raises for one that its rows cannot answer safely.

    ``grown`` is called with every log that has grown, before anything else happens.
    """

    def __init__(self, admits: Callable[[Any], None], grown: Callable[[Log], None]) -> None:
        self._admits, self._grown = admits, grown
        self._known: dict[int, Any] = {}

    def forget(self, numbers: Any) -> None:
        """Lets go of what the coordinator no longer refers to."""
        for number in _whole_numbers(numbers):
            self._known.pop(number, None)

    def object(self, data: Any, kinds: tuple[type, ...]) -> Any:
        value = self._made(data)
        if type(value) not in kinds:
            raise WireError(f"a {type(value).__name__} came in the place of {' or '.join(k.__name__ for k in kinds)}")
        return value

    def _made(self, data: Any) -> Any:
        if isinstance(data, list):
            return tuple(self._made(each) for each in data)
        if not isinstance(data, dict):
            return data
        if "array" in data:
            return array_of(data)
        if "charge" in data:
            return charge_of(data["charge"])
        if "log" in data:
            return self._log(data)
        if "known" in data:
            return self._referred(data["known"])
        if data.get("is") not in KINDS or not isinstance(data.get("of"), dict):
            raise WireError("something came that is of no known kind")
        return self._instance(KINDS[data["is"]], data)

    def _instance(self, kind: Any, data: dict[str, Any]) -> Any:
        values = {name: self._made(value) for name, value in data["of"].items()}
        hints = _hints(kind)
        if set(values) != set(hints):
            raise WireError(f"a {kind.__name__} has the parts {', '.join(hints)}")
        for name, value in values.items():
            if not _fits(value, hints[name]):
                raise WireError(f"the part {name} of a {kind.__name__} is of another type")
        if kind is TreeShape:
            _check_children(values["children"])
        if kind is StreamedConjunctions and not (1 <= values["k"] <= MOST_LITERALS and 1 <= values["n_labels"] <= 256):
            raise WireError("conjunctions are of too many literals, or of no classes")
        try:
            instance = kind(**values)
        except (ValueError, TypeError, IndexError, KeyError) as error:
            raise WireError(f"there is no such {kind.__name__}: {error}") from None
        self._admits(instance)
        number = data.get("number")
        if number is not None:
            if not isinstance(number, int) or number in self._known:
                raise WireError("an object came under a number that is taken")
            self._known[number] = instance
        return instance

    def _referred(self, number: Any) -> Any:
        if not isinstance(number, int) or number not in self._known:
            raise WireError("an object was referred to that never came")
        return self._known[number]

    def _log(self, data: dict[str, Any]) -> Log:
        number, start, new = (data.get(name) for name in ("log", "from", "new"))
        if not isinstance(number, int) or not isinstance(new, list):
            raise WireError("a log is damaged")
        empty = _empty_log(data.get("is"), _whole_numbers(data.get("numbers")))
        log = self._known.setdefault(number, empty)
        if type(log) is not type(empty) or _numbers_of(log) != _numbers_of(empty) or start != len(entries_of(log)):
            raise WireError("a log does not go on where it ended")
        self._admits(log)
        for each in new:
            update = self.object(each, UPDATES[type(log)])
            if not isinstance(log, HalfspaceLog) and _scores_of(update) != sum(_numbers_of(log)):
                raise WireError("an update has another number of scores than its log")
            entries_of(log).append(update)
        if new:
            self._grown(log)
        return log


UPDATES: dict[type, tuple[type, ...]] = {Margins: (Update,), Scores: (ScoreUpdate,), HalfspaceLog: (HalfspaceStep,)}
"""What logs are of."""


def _empty_log(name: Any, numbers: list[int]) -> Log:
    """A log of a kind without entries."""
    kind: Any = {kind.__name__: kind for kind in LOGS}.get(name)
    most = () if kind is None else LOGS[kind].values()
    if kind is None or len(numbers) != len(most) or not all(0 < n <= m for n, m in zip(numbers, most, strict=True)):
        raise WireError("a log is of no known kind")
    log: Log = kind(*numbers)
    return log


def _numbers_of(log: Log) -> list[int]:
    return [getattr(log, name) for name in LOGS[type(log)]]


def _scores_of(update: Any) -> int:
    """Of how many scores an update is; 0 of one of margins."""
    values: Any = update.values
    return values.shape[1] if values.ndim == 2 else 0


MOST_BYTES = 1 << 31
"""Of an array that arrives."""


def array_of(data: Any) -> Any:
    """An array from its plain data, numbers and truth values only; raises :class:`WireError` if it is none."""
    if not isinstance(data, dict):
        raise WireError("an array was expected")
    kind, shape, raw = data.get("array"), data.get("shape"), data.get("bytes")
    if not isinstance(kind, str) or not isinstance(shape, list) or not isinstance(raw, bytes):
        raise WireError("an array is damaged")
    if kind not in ("|b1", "|u1", "|i1", "<u2", "<i2", "<i4", "<i8", "<u8", "<f8"):
        raise WireError(f"arrays are of whole or floating-point numbers, not {kind[:20]!r}")
    sizes = _whole_numbers(shape)
    dtype = np.dtype(kind)
    if (
        min(sizes, default=0) < 0
        or int(np.prod(sizes, dtype=np.float64)) * dtype.itemsize != len(raw)
        or len(raw) > MOST_BYTES
    ):
        raise WireError("an array is shorter or longer than it says")
    return np.frombuffer(raw, dtype).reshape(sizes).copy()


def _whole_numbers(data: Any) -> list[int]:
    if not isinstance(data, list) or not all(isinstance(each, int) and not isinstance(each, bool) for each in data):
        raise WireError("whole numbers were expected")
    return data


def charge_of(data: Any) -> Charge:
    """A charge from its plain data."""
    try:
        return charge_from_dict(data)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise WireError(f"a charge is damaged: {error}") from None


def _check_children(children: Any) -> None:
    """Every child comes after its parent: no walk through a tree then goes in circles."""
    splits = len(children)
    after = (children > np.arange(splits)[:, None]) & (children < splits)
    leaf = (children < 0) & (children >= -1 - splits)
    if children.shape != (splits, 2) or not (after | leaf).all():
        raise WireError("the children of a tree are numbered wrongly")


@dataclass(frozen=True)
class _AnyOf:
    kinds: tuple[type, ...]


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The annotations of the fields of a class."""
    hints = typing.get_type_hints(kind)
    types = {field.name: hints[field.name] for field in fields(kind)}
    if kind is SumsOf:
        types["query"] = _AnyOf(ANY_QUERY)
    return types


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type: only what annotations of :data:`KINDS` are made of."""
    if isinstance(hint, _AnyOf):
        return type(value) in hint.kinds
    if hint is None or hint is type(None):
        return value is None
    origin = get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        return any(_fits(value, each) for each in get_args(hint))
    if hasattr(origin, "__value__"):  # an alias of its own, as numpy's NDArray is since 2.5 on Python 3.12 and newer
        return _fits(value, origin.__value__[get_args(hint)])
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype == get_args(get_args(hint)[1])[0]
    if origin is typing.Literal:
        return type(value) is int and value in get_args(hint)
    if origin is tuple:
        inner = get_args(hint)[0]
        return isinstance(value, tuple) and all(_fits(each, inner) for each in value)
    if hint is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    if hint in (int, bool, str):
        return type(value) is hint
    return isinstance(hint, type) and isinstance(value, hint)
