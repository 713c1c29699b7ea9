"""The tables in which accounts are kept; rows are only ever added.

A change of them is a migration in ``migrations/versions``; a test compares the two.
"""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table, Text

METADATA = MetaData()

LONGEST_LABEL = 600
"""Characters of a label: an index of PostgreSQL holds no more than some 2,700 bytes."""

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

RESERVATIONS = Table(
    "tacit_reservations",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
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
    "tacit_curves",
    METADATA,
    Column("digest", String(64), primary_key=True),
    Column("charge", Text, nullable=False),
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
