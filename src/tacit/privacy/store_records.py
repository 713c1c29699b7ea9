"""The tables of a budget store, whose rows are only ever added, and their objects: a damaged store pays for nothing.

A change of the tables is a migration in ``migrations/versions``; a test compares the two.
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    insert,
    select,
)

from tacit.privacy.charges import Charge, charge_from_dict
from tacit.privacy.ledger import AccountError, Entry
from tacit.privacy.unit import Neighbouring, unit_key
from tacit.schema import Unit

METADATA = MetaData()

LONGEST_LABEL = 600  # characters of a label: an index of PostgreSQL holds no more than some 2,700 bytes

ACCOUNTS = Table(
    "tacit_accounts",
    METADATA,
    Column("dataset", String(255), primary_key=True),
    Column("epsilon", Float(53), nullable=False),
    Column("delta", Float(53), nullable=False),
    Column("neighbouring", String(32), nullable=False),
    Column("created", String(32), nullable=False),
)

UNITS = Table(
    "tacit_units",
    METADATA,
    Column("dataset", ForeignKey("tacit_accounts.dataset"), primary_key=True),
    Column("column", String(255), nullable=False),
    Column("max_rows", Integer, nullable=False),
)

UNIT_NAMES = Table(
    "tacit_unit_names",
    METADATA,
    Column("dataset", ForeignKey("tacit_accounts.dataset"), primary_key=True),
    Column("name", Text, nullable=False),
)
"""Written when a schema first names what an account protects."""

RESERVATIONS = Table(
    "tacit_reservations",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("dataset", ForeignKey("tacit_accounts.dataset"), nullable=False),
    Column("label", String(LONGEST_LABEL), nullable=False),
    Column("charges", Text, nullable=False),
    Column("total", Text, nullable=False),
    Column("holder", String(255), nullable=False),
    Column("created", String(32), nullable=False),
    Index("tacit_reservations_in_order", "dataset", "id"),
    Index("tacit_reservations_by_label", "dataset", "label"),
)

CURVES = Table(
    "tacit_curves", METADATA, Column("digest", String(64), primary_key=True), Column("charge", Text, nullable=False)
)

CLOSINGS = Table(
    "tacit_closings",
    METADATA,
    Column("reservation", ForeignKey("tacit_reservations.id"), primary_key=True),
    Column("outcome", String(16), nullable=False),
    Column("closed", String(32), nullable=False),
)

ENTRIES = Table(
    "tacit_entries",
    METADATA,
    Column("reservation", ForeignKey("tacit_reservations.id"), primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("label", Text, nullable=False),
    Column("charge", Text, nullable=False),
    Column("theorem", Text, nullable=False),
)

BATCHES = Table(
    "tacit_batches",
    METADATA,
    Column("dataset", ForeignKey("tacit_accounts.dataset"), primary_key=True),
    Column("fingerprint", String(128), primary_key=True),
    Column("first", String(LONGEST_LABEL), nullable=False),
)
"""Fingerprints are made with a key that no store holds."""

FITS = Table(
    "tacit_kept_fits",
    METADATA,
    Column("reservation", ForeignKey("tacit_reservations.id"), primary_key=True),
    Column("seed", String(64), nullable=False),
    Column("rows", String(128), nullable=False),
    Column("learner", String(64), nullable=False),
    Column("command", Text, nullable=False),
)

RELEASES = Table(
    "tacit_kept_releases",
    METADATA,
    Column("reservation", ForeignKey("tacit_reservations.id"), primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("what", String(64), nullable=False),
    Column("value", LargeBinary, nullable=False),
)


@dataclass(frozen=True)
class Facts:
    """What an account promises; fixed when it is created."""

    epsilon: float
    delta: float
    neighbouring: Neighbouring


@dataclass(frozen=True)
class Line:
    """One reservation as it stands in the store; times are UTC in ISO format.

    ``by`` is who made it and where, as ``user@machine``.
    """

    identifier: int
    label: str
    charges: tuple[Charge, ...]
    status: str
    created: str
    closed: str | None
    entries: tuple[Entry, ...]
    by: str


def read_facts(epsilon: Any, delta: Any, neighbouring: Any) -> Facts:
    """What an account promises, as far as it is a promise: SQLite keeps anything in any column.

    Raises ``AccountError`` if it is none.
    """
    numbers = isinstance(epsilon, int | float) and isinstance(delta, int | float)
    if not numbers or not epsilon > 0 or not 0 <= delta < 1 or neighbouring not in [str(each) for each in Neighbouring]:
        text = f"epsilon {epsilon!r:.30}, delta {delta!r:.30}, {neighbouring!r:.30}"
        raise AccountError(f"the budget store is damaged: {text} is no promise")
    return Facts(float(epsilon), float(delta), Neighbouring(neighbouring))


def unit_of(connection: Connection, dataset: str) -> tuple[str, int] | None:
    """What an account protects, as column and most rows; None if nobody said.

    Raises ``AccountError`` if it is no unit.
    """
    row = connection.execute(select(UNITS).where(UNITS.c.dataset == dataset)).one_or_none()
    if row is None:
        return None
    column, max_rows = row.column, row.max_rows
    if not isinstance(column, str) or not isinstance(max_rows, int) or max_rows < 1:
        raise AccountError(f"the budget store is damaged: {max_rows!r:.40} rows of {column!r:.40} are no unit")
    return column, max_rows


def unit_name_of(connection: Connection, dataset: str) -> str:
    """What one unit of an account is called; empty if no schema said so."""
    name = connection.execute(select(UNIT_NAMES.c.name).where(UNIT_NAMES.c.dataset == dataset)).scalar()
    return "" if name is None else str(name)


def write_unit(connection: Connection, dataset: str, unit: Unit | str | None) -> None:
    """Writes what an account protects, and what it is called, as far as nobody said so before."""
    if unit_of(connection, dataset) is None:
        column, max_rows = unit_key(unit)
        connection.execute(insert(UNITS).values(dataset=dataset, column=column, max_rows=max_rows))
    if isinstance(unit, Unit) and unit.name and not unit_name_of(connection, dataset):
        connection.execute(insert(UNIT_NAMES).values(dataset=dataset, name=unit.name))


def read_charges(text: Any) -> tuple[Charge, ...]:
    """The charges in a list of the store.

    Raises ``AccountError`` if it holds none: what was spent is then unknown, and nothing can be paid.
    """
    try:
        listed = json.loads(text)
        if isinstance(listed, list):
            return tuple(charge_from_dict(data) for data in listed)
        reason = f"a {type(listed).__name__} is no list"
    except (ValueError, TypeError, RecursionError) as error:
        reason = str(error)
    raise AccountError(f"the budget store is damaged: what was reserved cannot be read ({reason})")


def names_alike(connection: Connection, dataset: str) -> str | None:
    """The name of another account that differs from this one only in case, blanks or Unicode form."""
    names = connection.execute(select(ACCOUNTS.c.dataset)).scalars()
    return next((name for name in names if name != dataset and _folded(name) == _folded(dataset)), None)


def _folded(name: str) -> str:
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())
