"""What is publicly known about each column. Frozen, no data."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, final

from tacit.schema.cell_format import CellFormat, check_date_format, number_format
from tacit.schema.errors import SchemaError, nearest, refuse_unknown
from tacit.schema.prior import DIRECTIONS, Curve, check_listed, check_points, plain_prior
from tacit.schema.values import (
    Value,
    distinct_values,
    plain_count,
    plain_date,
    plain_flag,
    plain_number,
    plain_text,
    short_number,
)

MOST_CATEGORIES = 60_000
"""Codes are 16 bits; "other" and missing need two of them."""

MOST_BINS = 65_535
"""Cells of the finest public grid."""

SMALLEST_SPAN, LARGEST_SPAN = 1e-290, 1e290
"""Spans between bounds that 64-bit floats can be scaled over without underflow or overflow."""

IDENTIFIER = "identifier"
"""What ``allow`` says of a feature that looks like an identifier and is none, or is to be learned from all the same."""

CLOSEST_BOUNDS = 2.0**-34
"""Bounds nearer to each other than this share of their size leave too few floats between them for a fine grid."""


class Column:
    """Base of all column kinds. Subclasses are frozen and carry their name in files in ``kind``."""

    kind: ClassVar[str]
    description: str

    @property
    def is_feature(self) -> bool:
        """Whether a model may learn from the column."""
        return True

    def to_dict(self) -> dict[str, Any]:
        """The column as plain data, without what is at its default; :func:`column_from_dict` is the inverse."""
        data: dict[str, Any] = {"kind": self.kind}
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value != field.default:
                data[field.name] = _written(value)
        return data

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _set_prior(self, prior: Any, importance: Any, directed: bool = True, curved: bool = True) -> None:
        for name, value in plain_prior(prior, importance, directed, curved).items():
            self._set(name, value)


def _written(value: Any) -> Any:
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, tuple):
        return [_written(item) for item in value]
    return short_number(value) if isinstance(value, float) else value


@final
@dataclass(frozen=True)
class NumericColumn(Column):
    """Numbers between two public bounds. Values outside are clipped; NaN and infinity go to the missing bin.

    Attributes:
        lower: lower bound, finite.
        upper: upper bound, above ``lower``.
        bins: number of public bins, if it is to be fixed; otherwise the learner chooses from a fine grid.
        spacing: ``"linear"``, ``"log"`` (needs ``lower > 0``), or the cuts between bins: increasing numbers strictly
            between the bounds, which make one bin more than there are cuts.
        monotone: ``"increasing"`` or ``"decreasing"`` if the effect is known to be.
        description: for people.
        missing_values: numbers that stand for missing, such as -200 or 999.
        symbol: what stands before or behind the numbers of texts, such as ``"$"``, ``"%"`` or ``"kg"``.
        thousands: what stands between groups of three digits: ``","``, ``"."`` (fractions then have a comma), a blank
            or ``"'"``.
        allow: ``"identifier"`` if the column may be learned from although it looks like an identifier.
        prior: what the effect is expected to be: ``"increasing"``, ``"decreasing"``, or a rough curve of
            ``(value, height)``; see :doc:`/monotone`.
        importance: rank of the column among those with a prior, 1 for the one that matters most.

    Raises:
        SchemaError: names the field.
    """

    lower: float
    upper: float
    bins: int | None = None
    spacing: str | tuple[float, ...] = "linear"
    monotone: str | None = None
    description: str = ""
    missing_values: tuple[float, ...] = ()
    symbol: str = ""
    thousands: str = ""
    allow: str = ""
    prior: str | Curve | None = None
    importance: int | None = None
    kind: ClassVar[str] = "numeric"

    def __post_init__(self) -> None:
        lower, upper = plain_number(self.lower, "lower"), plain_number(self.upper, "upper")
        self._set("lower", lower)
        self._set("upper", upper)
        check_bounds(lower, upper)
        if self.bins is not None:
            self._set("bins", plain_count(self.bins, "bins", 2, MOST_BINS))
        if isinstance(self.spacing, str):
            if self.spacing not in ("linear", "log"):
                hint = nearest(self.spacing, ("linear", "log"))
                raise SchemaError(f"unknown spacing '{self.spacing}'", f"{hint} (or a list of cuts)", "spacing")
            if self.spacing == "log" and lower <= 0:
                raise SchemaError(
                    f"log spacing needs lower above 0, got {lower:g}", "raise lower or use linear spacing", "spacing"
                )
        else:
            self._set("spacing", self._cuts())
        if self.monotone not in (None, *DIRECTIONS):
            raise SchemaError(
                f"got {self.monotone!r}", "give 'increasing' or 'decreasing', or leave it out", "monotone"
            )
        self._set_prior(self.prior, self.importance)
        check_points(self.prior, lower, upper)
        if self.monotone and self.prior in DIRECTIONS and self.prior != self.monotone:
            raise SchemaError(f"is {self.prior}, but the effect is declared {self.monotone}", "leave it out", "prior")
        self._set("description", plain_text(self.description, "description"))
        cell_format = number_format(self.symbol, self.thousands, self.missing_values)
        self._set("missing_values", cell_format.missing_values)
        self._set("symbol", cell_format.symbol)
        check_allow(self.allow)

    @property
    def cell_format(self) -> CellFormat:
        """How its cells are written."""
        return CellFormat(self.symbol, self.thousands, self.missing_values)

    def _cuts(self) -> tuple[float, ...]:
        if not isinstance(self.spacing, Iterable):
            raise SchemaError(f"got {self.spacing!r}", "give 'linear', 'log' or a list of cuts", "spacing")
        cuts = tuple(plain_number(cut, "spacing") for cut in self.spacing)
        if not 1 <= len(cuts) < MOST_BINS:
            raise SchemaError(f"has {len(cuts)} cuts", f"give 1 to {MOST_BINS - 1}", "spacing")
        for left, right in zip((self.lower, *cuts), (*cuts, self.upper), strict=True):
            if not left < right:
                raise SchemaError(
                    f"{right:g} does not lie above {left:g}",
                    f"cuts must increase and lie strictly between lower = {self.lower:g} and upper = {self.upper:g}",
                    "spacing",
                )
        if self.bins is not None and self.bins != len(cuts) + 1:
            raise SchemaError(f"{len(cuts)} cuts make {len(cuts) + 1} bins, not {self.bins}", "leave bins out", "bins")
        return cuts


def is_plain_number(column: Column) -> bool:
    """Whether a file's cells are read as plain numbers, and not as texts."""
    return isinstance(column, NumericColumn) and column.cell_format.is_plain


def check_allow(allow: Any) -> None:
    """Raises :class:`SchemaError` for what cannot be allowed."""
    if allow not in ("", IDENTIFIER):
        raise SchemaError(f"got {allow!r}", f"give '{IDENTIFIER}', or leave it out", "allow")


def check_bounds(lower: float, upper: float) -> None:
    """Raises unless ``lower < upper`` with a span that a grid of 64-bit floats can be laid over."""
    if not lower < upper:
        raise SchemaError(f"lower = {lower:g} is not below upper = {upper:g}", "give lower < upper", "lower")
    span = upper - lower
    if not SMALLEST_SPAN <= span <= LARGEST_SPAN or span < CLOSEST_BOUNDS * max(abs(lower), abs(upper)):
        raise SchemaError(
            f"{lower!r} to {upper!r} is too narrow or too wide for 64-bit numbers", "shift or rescale it", "upper"
        )


@dataclass(frozen=True)
class _Listed(Column):
    categories: tuple[Value, ...]
    missing: bool = False
    description: str = ""
    exact: bool = False
    allow: str = ""
    prior: str | Curve | None = None
    importance: int | None = None

    def __post_init__(self) -> None:
        check_allow(self.allow)
        self._set("exact", plain_flag(self.exact, "exact"))
        self._set("categories", distinct_values(self.categories, "categories", 1, MOST_CATEGORIES, self.exact))
        self._set_prior(self.prior, self.importance, directed=isinstance(self, OrdinalColumn))
        check_listed(self.prior, self.categories, self.exact)
        self._set("missing", plain_flag(self.missing, "missing"))
        self._set("description", plain_text(self.description, "description"))


@final
@dataclass(frozen=True)
class CategoricalColumn(_Listed):
    """One of a public list of values. Anything else goes to "other", nothing to the missing bin; both always exist.

    One category is enough: being it, being something else and being missing are three things. A cell that spells a
    number is that number, whatever type a reader gave it: ``007``, ``7``, ``7.0`` and ``+7`` are one category, and so
    are ``True``, ``TRUE`` and ``true``. Numbers are compared by 15 significant digits.

    Attributes:
        categories: texts, numbers or booleans; two that count as the same (``3`` and ``"3.0"``) are refused.
        missing: documents that missing is expected.
        description: for people.
        exact: whether texts that spell numbers are compared as texts: ``"250.1"`` and ``"250.10"`` are two categories
            then. The rows must be read as texts (:func:`tacit.read_table`): a reader that makes numbers of them loses
            the difference, and one row with another text would change how all others are read.
        allow: ``"identifier"`` if the column may be learned from although it looks like an identifier.
        prior: what the effect is expected to be: ``(category, height)`` for some of the categories; of an ordinal
            column also ``"increasing"`` or ``"decreasing"``.
        importance: rank of the column among those with a prior, 1 for the one that matters most.
    """

    kind: ClassVar[str] = "categorical"


@final
@dataclass(frozen=True)
class OrdinalColumn(_Listed):
    """Like a categorical column, with ``categories`` in a meaningful order, lowest first."""

    kind: ClassVar[str] = "ordinal"


YEAR, MONTH, WEEKDAY = "year", "month", "weekday"
GRANULARITIES = (YEAR, MONTH, WEEKDAY)
"""What of a date counts."""


@final
@dataclass(frozen=True)
class DateColumn(Column):
    """Dates, of which the year, the month (of its year) or the day of the week counts.

    Dates outside the bounds are clipped to the first or last year or month; what is no date goes to the missing bin.

    Attributes:
        granularity: ``"year"``, ``"month"`` or ``"weekday"``.
        lower: the first date, of years and months; its own year or month is the first.
        upper: the last date, in a later year or month.
        description: for people.
        format: how texts are written, as ``strftime`` has it: ``"%d.%m.%Y"``, ``"%Y%m%d"``, ``"%d-%b-%y"``; empty for
            ISO 8601. What is written otherwise is missing.
        prior: ``"increasing"`` or ``"decreasing"`` if the effect is expected to be, from Monday on or with the years.
        importance: rank of the column among those with a prior, 1 for the one that matters most.

    Raises:
        SchemaError: names the field.
    """

    granularity: str
    lower: dt.date | None = None
    upper: dt.date | None = None
    description: str = ""
    format: str = ""
    prior: str | None = None
    importance: int | None = None
    kind: ClassVar[str] = "date"

    def __post_init__(self) -> None:
        self._set_prior(self.prior, self.importance, curved=False)
        if self.format != "":
            self._set("format", check_date_format(self.format))
        if self.granularity == WEEKDAY and self.format and "%d" not in self.format:
            raise SchemaError("names no day", "give a format with %d, or another granularity", "format")
        if self.granularity not in GRANULARITIES:
            hint = nearest(str(self.granularity), GRANULARITIES)
            raise SchemaError(f"unknown granularity {self.granularity!r}", hint, "granularity")
        self._set("description", plain_text(self.description, "description"))
        if self.granularity == WEEKDAY:
            for name in ("lower", "upper"):
                if getattr(self, name) is not None:
                    raise SchemaError("is given", "a day of the week has no bounds: leave it out", name)
            return
        lower, upper = plain_date(self.lower, "lower"), plain_date(self.upper, "upper")
        self._set("lower", lower)
        self._set("upper", upper)
        months = 0 if self.granularity == YEAR else 1
        if not (lower.year, months * lower.month) < (upper.year, months * upper.month):
            raise SchemaError(
                f"{lower} and {upper} lie in one {self.granularity}, or the wrong way round",
                f"give an upper date in a later {self.granularity}",
                "upper",
            )


@dataclass(frozen=True)
class _Bare(Column):
    description: str = ""

    def __post_init__(self) -> None:
        self._set("description", plain_text(self.description, "description"))


@final
@dataclass(frozen=True)
class BooleanColumn(_Bare):
    """True or false (also 1 and 0, yes and no); anything else is missing.

    Attributes:
        description: for people.
        prior: ``"increasing"`` if the effect of true is expected to be the larger one, else ``"decreasing"``.
        importance: rank of the column among those with a prior, 1 for the one that matters most.
    """

    prior: str | None = None
    importance: int | None = None
    kind: ClassVar[str] = "boolean"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_prior(self.prior, self.importance, curved=False)


@final
@dataclass(frozen=True)
class IgnoredColumn(_Bare):
    """A column nobody learns from."""

    kind: ClassVar[str] = "ignore"

    @property
    def is_feature(self) -> bool:
        return False


@final
@dataclass(frozen=True)
class IdColumn(_Bare):
    """An identifier: not learned from, but rows may be told apart or assigned to parts by it."""

    kind: ClassVar[str] = "id"

    @property
    def is_feature(self) -> bool:
        return False


KINDS: Mapping[str, type[Column]] = {
    kind.kind: kind
    for kind in (NumericColumn, CategoricalColumn, BooleanColumn, OrdinalColumn, DateColumn, IgnoredColumn, IdColumn)
}


REQUIRED: Mapping[str, tuple[str, ...]] = {
    "numeric": ("lower", "upper"),
    "categorical": ("categories",),
    "ordinal": ("categories",),
    "date": ("granularity",),
}


def column_from_dict(data: Mapping[str, Any]) -> Column:
    """The inverse of :meth:`Column.to_dict`; refuses unknown kinds and keys."""
    if not isinstance(data, Mapping):
        raise SchemaError(f"must be a table of keys, got {data!r:.80}", 'write for example kind = "numeric"')
    if "kind" not in data:
        raise SchemaError("is missing", f"give one of {', '.join(KINDS)}", "kind")
    kind = data["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise SchemaError(f"unknown kind {kind!r}", nearest(str(kind), KINDS), "kind")
    facts = {key: value for key, value in data.items() if key != "kind"}
    names = [field.name for field in fields(KINDS[kind])]  # type: ignore[arg-type]
    refuse_unknown(facts, names)
    for required in REQUIRED.get(kind, ()):
        if required not in facts:
            choices = f": {', '.join(GRANULARITIES)}" if required == "granularity" else ""
            raise SchemaError("is missing", f"a column of kind '{kind}' needs it{choices}", required)
    return KINDS[kind](**facts)


def listed_categories(column: Column) -> tuple[Value, ...]:
    """The categories that a column lists; none if it is of another kind."""
    return column.categories if isinstance(column, _Listed) else ()
