"""What nobody declared, found inside a fit and paid for: bounds, categories, classes, and whether texts are numbers.

Which of these is to be found follows from dtypes alone (:func:`unknowns_of`), so that the whole charge is known before
a row is read: a share of the allowance for the counts, and a part of delta for the keys that come out
(:meth:`Unknowns.charges`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, final

import numpy as np

from tacit.curator.rows import PrivateRows
from tacit.discovery.bounds import find_bounds
from tacit.encoding.errors import FrameError
from tacit.encoding.frames import Frame, without_rows
from tacit.encoding.inputs import is_boolean
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.numbers import as_numbers, is_object, number_or_nan
from tacit.encoding.table import Encoder, TableEncoding
from tacit.encoding.tokens import as_tokens
from tacit.encoding.values import LabelIndex, ValueIndex, is_missing, plain
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import ApproxDP, Charge
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import RequestError
from tacit.queries.cells import column_cells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_count_rule
from tacit.schema import BooleanColumn, CategoricalColumn, Column, IgnoredColumn, NumericColumn, Value
from tacit.schema.columns import MOST_CATEGORIES
from tacit.schema.label import MOST_CLASSES
from tacit.schema.values import check_name, identity, needs_exact, parse_number, plain_value

DELTA_SHARE = 0.5
"""Share of a request's delta that pays for keys, when there are keys to be found."""

ASK_SHARE = 0.1
"""Share of what discovery may spend that asks whether texts are numbers, when there are such columns."""

NUMERIC_SHARE = 0.9
"""Share of the texts of a column, by noisy counts, that must spell numbers for it to be numeric."""

NOTHING_FOUND = "(other)"
"""Stands in for the categories of a column, or for the classes of a label, that no key reached the threshold of."""

NUMERIC, BOOLEAN, KEYED, ASKED, IGNORED = "numeric", "boolean", "categories", "ask", "ignore"
KINDS = (NUMERIC, BOOLEAN, KEYED, ASKED, IGNORED)


def kind_of(values: Any, name: str = "") -> str:
    """What kind of column a vector makes, by its dtype alone.

    Numbers (integers too) are numeric, booleans boolean, texts and categoricals have categories, dates, complex numbers
    and nested types are ignored. Python lists and vectors of objects have no dtype that says anything: whether they
    hold numbers is to be asked, and paid for.
    """
    if isinstance(values, list | tuple) or is_object(values):
        return ASKED
    nothing = without_rows(values)
    try:
        numbers = as_numbers(nothing, name)
    except FrameError:
        try:
            as_tokens(nothing, name)
        except FrameError:
            return IGNORED
        return KEYED
    return BOOLEAN if numbers.dtype.kind == "b" or is_boolean(nothing) else NUMERIC


@final
@dataclass(frozen=True)
class Unknowns:
    """What is to be found: columns by :data:`KINDS`, and classes. Public: made from names and dtypes.

    ``objects`` are columns that are vectors of Python objects. Categories are told apart by spelling (``exact``) where
    columns are texts of a file that no reader took for anything else.
    """

    kinds: Mapping[str, str]
    classes: bool = False
    objects: frozenset[str] = frozenset()
    exact: bool = False
    exact_classes: bool = False

    def of_kind(self, kind: str) -> tuple[str, ...]:
        """The columns of one kind."""
        return tuple(name for name, each in self.kinds.items() if each == kind)

    @property
    def releases(self) -> int:
        """How many releases of equal weight there are, besides asking for kinds."""
        return len(self.of_kind(NUMERIC)) + self.key_releases

    @property
    def key_releases(self) -> int:
        """How many releases of keys there can be."""
        return len(self.of_kind(KEYED)) + len(self.of_kind(ASKED)) + self.classes

    def delta_for_keys(self, delta: float) -> float:
        """The part of a request's delta that keys take."""
        return DELTA_SHARE * delta if self.key_releases else 0.0

    def allowance(self, epsilon: float, delta: float) -> Allowance:
        """The allowance of everything else under a request; raises at ``delta = 0`` if there are keys to be found."""
        if self.key_releases and delta == 0 and np.isfinite(epsilon):
            names = (*self.of_kind(KEYED), *self.of_kind(ASKED))
            what = ", ".join(repr(name) for name in names[:5]) + (", ..." if len(names) > 5 else "")
            raise RequestError(
                f"categories{' of ' + what if what else ''} or classes nobody declared can only be found with a "
                "positive delta, which sets how rarely a value that one person has comes out. Declare them in a "
                "schema, or allow a positive delta"
            )
        return Allowance.of(epsilon, delta - self.delta_for_keys(delta))

    def charges(self, delta: float) -> list[Charge]:
        """What keys cost on top of their counts; to be reserved beside the allowance."""
        part = self.delta_for_keys(delta)
        return [ApproxDP(0.0, part / self.key_releases)] * self.key_releases if part > 0 else []


def unknowns_of(frame: Frame, classes: bool = False, exact_classes: bool = False) -> Unknowns:
    """What is unknown about a table without a schema, by dtypes: they are public, and must not come from the rows.

    Columns of a matrix of objects or texts, whose dtype says nothing of any of them, may hold numbers, and so may texts
    from a file without dtypes: that is to be asked.

    Raises:
        SchemaError: for a name that no schema can have; said now, as afterwards all would be charged.
    """
    for name in frame.names:
        check_name(name)
    if frame.mixed:
        return Unknowns(dict.fromkeys(frame.names, ASKED), classes, exact_classes=exact_classes)
    kinds = {name: kind_of(frame.column(name), name) for name in frame.names}
    if frame.untyped:
        kinds = {name: ASKED if kind == KEYED else kind for name, kind in kinds.items()}
    objects = frozenset(name for name in frame.names if is_object(frame.column(name)))
    return Unknowns(kinds, classes, objects, frame.untyped, exact_classes)


@final
@dataclass(frozen=True)
class Discovered:
    """What was found. Released: a schema may be made of it.

    ``keys`` are, per column with categories, the texts found, the most frequent first; ``classes`` the same for the
    label vector, None if they were known.
    """

    columns: Mapping[str, Column]
    keys: Mapping[str, tuple[str, ...]]
    classes: tuple[str, ...] | None

    def label_index(self, numeric: bool, most: int = MOST_CLASSES) -> LabelIndex | None:
        """An index over the ``most`` most frequent classes found, in their natural order; None if there are none.

        ``numeric``: whether labels are numbers by their dtype. One class alone gets a second one beside it that no row
        has.
        """
        if not self.classes:
            return None
        index = plain_classes(self.classes, numeric, most)
        classes = index if len(index) > 1 else (stand_in(self.classes), *index)
        return LabelIndex(classes, exact=needs_exact(classes))


def plain_classes(keys: Sequence[str], numeric: bool, most: int = MOST_CLASSES) -> tuple[Value, ...]:
    """The first ``most`` keys as declared values in their natural order: numbers again, where that is what they are.

    Keys that spell one number (``1``, ``1.0`` and ``+1``) are one class then.
    """
    if not numeric:
        return tuple(sorted(keys[:most]))
    numbers = [number for key in keys if (number := parse_number(key)) is not None]
    distinct = {identity(plain): plain for plain in (plain_value(number, "classes") for number in numbers)}
    return tuple(sorted(list(distinct.values())[:most]))


def stand_in(keys: Sequence[str]) -> str:
    """A class that no key is called like, for what no row has."""
    name = NOTHING_FOUND
    while name in keys:
        name = f"({name})"
    return name


def discover_within(
    private_rows: PrivateRows,
    unknowns: Unknowns,
    label_index: LabelIndex | NumericLabelIndex,
    allowance: Allowance,
    share: float,
    delta: float,
    most_categories: int = MOST_CATEGORIES,
) -> Discovered:
    """Finds what is unknown, inside a fit.

    Guarantee: ``share`` of the allowance and :meth:`Unknowns.charges`, all of them entries of their reservation. What
    rows hold never raises: a column of which nothing is found has default bounds, or no category but "(other)".

    Rows without a known label do not count for bounds; classes that are found take the place of ``label_index``. The
    allowance is that of the whole fit, from :meth:`Unknowns.allowance`. The most frequent categories are kept.
    """
    numbers = unknowns.of_kind(ASKED)
    asking = ASK_SHARE * share if numbers else 0.0
    kinds = dict(unknowns.kinds)
    part = (share - asking) / max(unknowns.releases, 1)
    each_delta = unknowns.delta_for_keys(delta) / max(unknowns.key_releases, 1)

    def keys(name: str | None, label: Label) -> tuple[str, ...]:
        exact = unknowns.exact_classes if name is None else unknowns.exact
        return private_rows.keys(name, allowance.charge(part), each_delta, label, exact).keys

    classes = keys(None, Label(Stage.CLASSES, "classes")) if unknowns.classes else None
    label_index = Discovered({}, {}, classes).label_index(numeric=False) or label_index
    if numbers:
        kinds |= _ask(private_rows, unknowns, label_index, allowance, asking)
    numeric = tuple(name for name, kind in kinds.items() if kind == NUMERIC)
    bounds = find_bounds(private_rows, numeric, label_index, allowance, part * len(numeric)) if numeric else {}
    values = {name: keys(name, Label(Stage.KEYS, name)) for name, kind in kinds.items() if kind == KEYED}
    columns = {
        name: _column(kind, bounds.get(name), values.get(name, ())[:most_categories]) for name, kind in kinds.items()
    }
    return Discovered(columns, values, classes)


def _column(kind: str, bounds: tuple[float, float] | None, keys: Sequence[str]) -> Column:
    """A column of a kind, with the bounds or the categories that were found."""
    if kind == NUMERIC:
        assert bounds is not None
        return NumericColumn(*bounds)
    if kind == BOOLEAN:
        return BooleanColumn()
    if kind == KEYED:
        categories = tuple(sorted(keys)) or (NOTHING_FOUND,)
        return CategoricalColumn(categories, exact=needs_exact(categories))
    return IgnoredColumn()


@final
class _NumberOrText(ValueIndex):
    """Numbers to 0, other values to 1, nothing to 2.

    Texts that spell a number are numbers, too, where everything is a text, as in a file (``spelled``). Where Python
    objects stand side by side, a text was made one on purpose, as a postcode is.
    """

    def __init__(self, spelled: bool) -> None:
        self._spelled = spelled

    @property
    def n_codes(self) -> int:
        return 3

    def code_of(self, value: Any) -> int:
        value = plain(value)
        if is_missing(value):
            return 2
        if isinstance(value, str):
            return 0 if self._spelled and parse_number(value) is not None else 1
        return 1 if np.isnan(number_or_nan(value)) else 0


def _ask(
    private_rows: PrivateRows,
    unknowns: Unknowns,
    label_index: LabelIndex | NumericLabelIndex,
    allowance: Allowance,
    share: float,
) -> dict[str, str]:
    """Whether columns of unknown kind hold numbers, from one noisy count each."""
    names = unknowns.of_kind(ASKED)
    encoders = cast("tuple[Encoder, ...]", tuple(_NumberOrText(name not in unknowns.objects) for name in names))
    curator = private_rows.seal(TableEncoding(tuple(names), encoders), label_index)
    rule = fine_count_rule(label_index.n_classes)
    kinds = {}
    for index, name in enumerate(names):
        query = Histogram(column_cells(index, 3), rule)
        release = curator.measure(query, allowance.charge(share / len(names)), Label(Stage.KINDS, name))
        numbers, texts = np.maximum(release.value[:2, 0], 0.0)
        kinds[name] = NUMERIC if numbers > 0 and numbers >= NUMERIC_SHARE * (numbers + texts) else KEYED
    return kinds
