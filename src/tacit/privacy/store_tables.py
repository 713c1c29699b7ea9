"""The tables in which accounts are kept; rows are only ever added."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Integer, MetaData, String, Table, Text

METADATA = MetaData()

META = Table("tacit_store", METADATA, Column("version", Integer, primary_key=True))

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

SECRETS = Table(
    "tacit_secrets",
    METADATA,
    Column("dataset", ForeignKey("tacit_accounts.dataset"), primary_key=True),
    Column("key", String(64), nullable=False),
)

BATCHES = Table(
    "tacit_batches",
    METADATA,
    Column("dataset", ForeignKey("tacit_accounts.dataset"), primary_key=True),
    Column("fingerprint", String(64), primary_key=True),
)

RESERVATIONS = Table(
    "tacit_reservations",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("dataset", ForeignKey("tacit_accounts.dataset"), nullable=False, index=True),
    Column("label", Text, nullable=False),
    Column("charges", Text, nullable=False),
    Column("holder", String(255), nullable=False),
    Column("created", String(32), nullable=False),
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
