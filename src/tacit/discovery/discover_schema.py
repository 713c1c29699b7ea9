"""A schema found in private rows, every bound and category paid for: by `discover_schema`, or as part of a fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn, final

import numpy as np

from tacit.curator.rows import PrivateRows
from tacit.discovery.bounds import BOUNDS_SHARE
from tacit.discovery.unknowns import (
    ASKED,
    BOOLEAN,
    IGNORED,
    KEYED,
    KINDS,
    NUMERIC,
    Discovered,
    Unknowns,
    discover_within,
    kind_of,
    plain_classes,
    unknowns_of,
)
from tacit.encoding.frames import Frame, columns_of
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.numbers import as_numbers, is_object
from tacit.encoding.table import TableEncoding
from tacit.encoding.units import identifiers_of
from tacit.encoding.values import LabelIndex
from tacit.errors import spending
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.assumptions import check_dtypes, dtypes_assumed
from tacit.privacy.budget import Allowance
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import Request, RequestError
from tacit.privacy.spending import certified, reserve
from tacit.schema import IdColumn, Label, NumericColumn, Schema, Unit, Value
from tacit.schema.columns import MOST_CATEGORIES
from tacit.schema.errors import nearest
from tacit.schema.values import identity, needs_exact, parse_number

LABEL_KINDS = ("classes", "numeric")
ID = "id"
DISCOVERABLE = (*KINDS, ID)
"""Kinds of columns: ``ask`` is for texts that may be numbers, which costs a little."""


def discover_schema(
    df: Any,
    label: str,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    *,
    kinds: Mapping[str, str] | None = None,
    label_kind: str = "classes",
    positive: Any = None,
    unit: Unit | None = None,
    most_categories: int = MOST_CATEGORIES,
    account: PrivacyAccount | None = None,
    neighbouring: str = "add_or_remove_one",
    random_state: int | None = None,
    dtypes: str | None = None,
) -> tuple[Schema, Certificate]:
    """Finds bounds, categories and classes in private rows.

    Guarantee: (epsilon, delta) under ``neighbouring`` for the whole schema, which may then be used, shown and released
    like a declared one. Half of delta is spent on keeping values apart that one protected unit alone has: such a
    category or class comes out with probability at most that half, divided among the columns that have categories.

    Args:
        df: the table, features and label; dtypes decide what is numeric (integers too), boolean, or has categories;
            dates and nested types are ignored.
        label: name of the label's column.
        epsilon: what to spend, in equal parts on every column.
        delta: what to spend; positive if there are categories or classes to be found.
        kinds: per column name, what is known to be otherwise: ``"numeric"``, ``"boolean"``, ``"categories"``,
            ``"ignore"``, ``"id"``, or ``"ask"`` for texts that may be numbers, which costs a little.
        label_kind: ``"classes"`` or ``"numeric"``.
        positive: the positive class, if it is found; by default the last of two.
        unit: who is protected, if it is not a row.
        most_categories: how many categories of a column are kept, the most frequent ones.
        account: pays, if given.
        neighbouring: the relation of the guarantee.
        random_state: None for fresh entropy; an integer makes the result repeatable and not releasable.
        dtypes: ``"public"`` where the dtypes of the table do not come from its rows. None: the result is not releasable
            unless ``kinds`` names all columns, or they come from a file that has no dtypes (docs/claims.md).

    Returns:
        The schema and its certificate. Where nothing was found the schema is valid all the same: a column with the one
        category "(other)", default bounds, or no label if fewer than two classes were found.

    Raises:
        ValueError: for public mistakes; nothing was spent.
        BudgetExceeded: if the account cannot pay; nothing was read.

    Example:
        >>> from tacit import discover_schema
        >>> from tacit.examples import hospital
        >>> X, y, _ = hospital(4000)
        >>> rows = {"age": X["age"], "smoker": X["smoker"], "readmitted": y}
        >>> schema, certificate = discover_schema(rows, "readmitted", epsilon=2.0, delta=1e-6)
        >>> print(list(schema.columns), certificate.epsilon)
        ['age', 'smoker'] 2.0
    """
    check_dtypes(dtypes)
    request = Request.of(epsilon, delta, neighbouring, random_state)
    frame = columns_of(df)
    kinds_found = _kinds(frame, label, label_kind, dict(kinds or {}), unit)
    if not 1 <= most_categories <= MOST_CATEGORIES:
        raise RequestError(f"most_categories must lie in 1..{MOST_CATEGORIES}, got {most_categories!r}")
    unknowns = Unknowns({name: kind for name, kind in kinds_found.items() if kind != ID}, exact=frame.untyped)
    allowance = unknowns.allowance(request.epsilon, request.delta)
    charges = [allowance.whole, *unknowns.charges(request.delta)]
    with spending():
        with reserve(account, request, charges, "schema discovery", unit) as reservation:
            rows = _rows(frame, unknowns, unit, request, reservation)
            all_rows = LabelIndex((0, 1))
            discovered = discover_within(rows, unknowns, all_rows, allowance, 1.0, request.delta, most_categories)
        columns = {name: discovered.columns.get(name, IdColumn()) for name in kinds_found if name != label}
        schema = Schema(columns, _label(frame, label, label_kind, discovered, positive), unit)
        certificate = certified(account, request, reservation, rows, "discover_schema", schema)
        open_kinds = {*kinds_found} - {*(kinds or {})} - ({label} if label_kind == "numeric" else set())
        return schema, certificate.assuming(*dtypes_assumed(dtypes, frame.untyped, bool(open_kinds), label=False))


def _kinds(frame: Frame, label: str, label_kind: str, declared: dict[str, str], unit: Unit | None) -> dict[str, str]:
    """The kind of every column, the label among them; public mistakes end here."""
    if label not in frame.names:
        raise RequestError(f"the label {label!r} is not among the columns; {nearest(label, frame.names)}")
    if label_kind not in LABEL_KINDS:
        raise RequestError(f"label_kind must be 'classes' or 'numeric', got {label_kind!r}")
    for name, kind in declared.items():
        frame.column(name)
        if kind not in DISCOVERABLE:
            raise RequestError(f"kind of {name!r}: {nearest(str(kind), DISCOVERABLE)}")
    if unit is not None:
        identifiers_of(frame, unit.column)
        declared[unit.column] = ID
    kinds = dict(unknowns_of(frame).kinds) | declared
    if label_kind == "numeric":
        kinds[label] = NUMERIC
    elif kinds[label] != BOOLEAN:
        kinds[label] = KEYED
    public = frame.without_rows()
    for name in (name for name, kind in kinds.items() if kind == NUMERIC):
        as_numbers(public.column(name), name, loose=frame.mixed or frame.untyped or is_object(frame.column(name)))
    if not any(kind not in (ID, IGNORED) for name, kind in kinds.items() if name != label):
        raise RequestError("there is no column to learn from: all are identifiers or ignored")
    return kinds


def _rows(
    frame: Frame, unknowns: Unknowns, unit: Unit | None, request: Request, reservation: Reservation
) -> PrivateRows:
    """Columns that may hold numbers or texts value by value, the others as they are; no row is left out."""
    numbers = set(unknowns.of_kind(ASKED))
    columns = {name: _values(frame.column(name)) if name in numbers else frame.column(name) for name in frame.names}
    readable = Frame(columns, frame.n_rows, frame.mixed, frame.untyped)
    return PrivateRows(readable, np.zeros(frame.n_rows, np.int64), reservation, request.random_state, unit)


def _values(column: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _label(frame: Frame, name: str, kind: str, discovered: Discovered, positive: Any) -> Label | None:
    """The label, if there is one to be declared: bounds, or at least two classes."""
    column = discovered.columns[name]
    if kind == "numeric":
        assert isinstance(column, NumericColumn)
        return Label(name, "numeric", lower=column.lower, upper=column.upper)
    classes: tuple[Value, ...] = (False, True)
    if name in discovered.keys:
        classes = plain_classes(discovered.keys[name], kind_of(frame.column(name), name) == NUMERIC)
    if len(classes) < 2:
        return None
    positive_class = None if positive is None else next((c for c in classes if identity(c) == identity(positive)), None)
    return Label(name, "classes", classes, () if positive_class is None else positive_class, exact=needs_exact(classes))


DISCOVERY_SHARE = 0.1
"""Share of a fit's budget that finds bounds and categories, where there are columns of texts."""

CLASSES_SHARE = 0.02
"""Share of a fit's budget that finds the classes, where nothing else is unknown."""

TEXTS, NUMBERS, BOOLEANS, OBJECTS, UNTYPED = "texts", "numbers", "booleans", "objects", "untyped"


def label_kind(labels: Any, frame: Frame) -> str:
    """What labels are, by their dtype: texts, numbers, booleans, objects, or untyped (a list, a CSV file).

    Categories count as what their own dtype says.
    """
    if isinstance(labels, list | tuple) or frame.untyped:
        return UNTYPED
    categories = getattr(getattr(labels, "dtype", None), "categories", None)
    labels = labels if categories is None or isinstance(categories, list) else categories
    kind = kind_of(labels)
    return {ASKED: OBJECTS, KEYED: TEXTS, BOOLEAN: BOOLEANS if categories is None else OBJECTS}.get(kind, NUMBERS)


@final
@dataclass(frozen=True)
class Found:
    """What was found, released: schema (None if columns were declared), classes, and what is left of the budget."""

    schema: Schema | None
    label_index: LabelIndex | NumericLabelIndex
    allowance: Allowance

    def encoding(self, cells: int) -> TableEncoding | None:
        """The public encoding of the columns found; ``cells`` is the size of numeric grids."""
        return None if self.schema is None else TableEncoding.of(self.schema, cells)


@final
@dataclass(frozen=True)
class Undeclared:
    """What is to be found before a fit can learn. Public: made from names and dtypes."""

    unknowns: Unknowns
    labels: str
    delta: float

    @staticmethod
    def of(frame: Frame, columns_unknown: bool, labels: str, classes_unknown: bool, request: Request) -> Undeclared:
        """What is unknown about a table: its columns, if no schema declares them, and classes, if nobody does.

        ``labels`` are from :func:`label_kind`: booleans are known, others are found, which takes a delta.

        Raises:
            RequestError: if there is no column to learn from, or classes would have to be found without a delta.
        """
        keys = request.delta > 0 or math.isinf(request.epsilon)
        needs_classes = classes_unknown and labels != BOOLEANS
        if needs_classes and not keys:
            refuse_unnamed("finding them takes a delta above 0")
        exact = labels in (TEXTS, UNTYPED)
        if not columns_unknown:
            return Undeclared(Unknowns({}, needs_classes, exact_classes=exact), labels, request.delta)
        unknowns = unknowns_of(frame, needs_classes, exact)
        if not keys:  # without a delta there is no asking: what has no dtype is read as numbers
            kinds = {
                name: (KEYED if name in unknowns.objects else NUMERIC) if kind == ASKED else kind
                for name, kind in unknowns.kinds.items()
            }
            unknowns = replace(unknowns, kinds=kinds)
        if all(kind == IGNORED for kind in unknowns.kinds.values()):
            raise RequestError("there is no column to learn from: dates and nested values are ignored")
        return Undeclared(unknowns, labels, request.delta)

    @property
    def share(self) -> float:
        """What finding it takes of the allowance."""
        columns = set(self.unknowns.kinds.values())
        if columns & {KEYED, ASKED}:
            return DISCOVERY_SHARE
        if NUMERIC in columns:
            return BOUNDS_SHARE
        return CLASSES_SHARE if self.unknowns.classes else 0.0

    @property
    def key_charges(self) -> list[Charge]:
        """What the parts of delta cost that categories and classes take, beside the allowance."""
        return self.unknowns.charges(self.delta)

    def allowance(self, epsilon: float) -> Allowance:
        """What is left for everything else; :class:`RequestError` where keys would need a delta that is not there."""
        return self.unknowns.allowance(epsilon, self.delta)

    def find(
        self,
        private_rows: PrivateRows,
        label_index: LabelIndex | NumericLabelIndex,
        allowance: Allowance,
        most_classes: int,
    ) -> Found:
        """Finds it, under the reservation of the rows, for :meth:`allowance`; at most so many classes.

        ``label_index`` stands for classes that are not to be found, or of which none is.
        """
        discovered = discover_within(private_rows, self.unknowns, label_index, allowance, self.share, self.delta)
        if self.unknowns.classes:
            keys = discovered.classes or ()
            numbers = self.labels != TEXTS and bool(keys) and all(parse_number(key) is not None for key in keys)
            label_index = discovered.label_index(numbers, most_classes) or label_index
            if self.labels == OBJECTS and keys and set(keys) <= {"false", "true"}:
                label_index = LabelIndex((False, True))
            if numbers and plain_classes(keys, numeric=True) in ((0,), (1,)):
                label_index = LabelIndex((0, 1))
        schema = Schema(discovered.columns) if discovered.columns else None
        return Found(schema, label_index, allowance.part(1 - self.share))


def refuse_unnamed(why: str) -> NoReturn:
    """Raises where nobody says which classes there are, and nothing finds out: before anything is spent.

    Whatever the labels hold: that they are 0 and 1 cannot be seen without reading them, and if they were others, the
    fit would spend its budget on no rows at all.
    """
    raise RequestError(
        f"Unknown label type: no classes were declared, and {why}. Name them, of two the positive one last, "
        "such as classes=(0, 1) or classes=('no', 'yes'), or declare a label in a schema"
    )


def refuse_undeclared(frame: Frame | None, labels: str, schema: Schema | None, classes: Any) -> None:
    """Raises for what is not declared, for callers whose budget has no place for discovery.

    ``frame`` is None for a matrix of rows.
    """
    kinds = {} if frame is None or schema is not None else unknowns_of(frame).kinds
    texts = [name for name, kind in kinds.items() if kind in (KEYED, ASKED)]
    if texts:
        raise RequestError(
            f"column {texts[0]!r} has categories that no schema declares, and a search does not look for them: declare "
            "a schema, or find one with discover_schema"
        )
    unknown = classes is None and (schema is None or schema.label is None)
    if unknown and labels != BOOLEANS:
        refuse_unnamed("a search does not look for them")
