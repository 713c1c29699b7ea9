"""`discover_schema`: a schema found in private rows, every bound and category of it paid for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.curator.rows import PrivateRows
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
from tacit.encoding.numbers import as_numbers, is_object
from tacit.encoding.units import identifiers_of
from tacit.encoding.values import LabelIndex
from tacit.errors import spending
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.assumptions import check_dtypes, dtypes_assumed
from tacit.privacy.certificate import Certificate
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import Request, RequestError
from tacit.privacy.spending import certified, reserve
from tacit.schema import IdColumn, Label, NumericColumn, Schema, Unit, Value
from tacit.schema.columns import MOST_CATEGORIES
from tacit.schema.errors import nearest
from tacit.schema.values import identity, needs_exact

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
    _check_most(most_categories)
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


def _check_most(categories: int) -> None:
    if not 1 <= categories <= MOST_CATEGORIES:
        raise RequestError(f"most_categories must lie in 1..{MOST_CATEGORIES}, got {categories!r}")


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
    wanted = None if positive is None else next((c for c in classes if identity(c) == identity(positive)), None)
    return Label(name, "classes", classes, () if wanted is None else wanted, exact=needs_exact(classes))
