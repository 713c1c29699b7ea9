"""The tables of accounts, and triggers that let nobody change or delete a row."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None

NAMES = ("accounts", "units", "reservations", "curves", "closings", "entries", "batches", "kept_fits", "kept_releases")


def upgrade() -> None:
    """Makes them."""
    _accounts()
    _history()
    _kept()
    for name in NAMES:
        only_append(f"tacit_{name}")


def _of(table: str, column: str, *, key: bool = True) -> sa.Column[object]:
    kind = sa.String(255) if column == "dataset" else sa.Integer()
    return sa.Column(
        column, kind, sa.ForeignKey(f"tacit_{table}"), primary_key=key, autoincrement=False, nullable=False
    )


def _text(name: str, length: int | None = None, *, key: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text() if length is None else sa.String(length), primary_key=key, nullable=False)


def _accounts() -> None:
    op.create_table(
        "tacit_accounts",
        _text("dataset", 255, key=True),
        sa.Column("epsilon", sa.Float(53), nullable=False),
        sa.Column("delta", sa.Float(53), nullable=False),
        _text("neighbouring", 32),
        _text("created", 32),
    )
    op.create_table(
        "tacit_units",
        _of("accounts.dataset", "dataset"),
        _text("column", 255),
        sa.Column("max_rows", sa.Integer, nullable=False),
    )
    op.create_table("tacit_curves", _text("digest", 64, key=True), _text("charge"))


def _history() -> None:
    op.create_table(
        "tacit_reservations",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        _of("accounts.dataset", "dataset", key=False),
        _text("label", 600),
        _text("charges"),
        _text("total"),
        _text("holder", 255),
        _text("created", 32),
    )
    op.create_index("tacit_reservations_in_order", "tacit_reservations", ["dataset", "id"])
    op.create_index("tacit_reservations_by_label", "tacit_reservations", ["dataset", "label"])
    op.create_table("tacit_closings", _of("reservations.id", "reservation"), _text("outcome", 16), _text("closed", 32))
    op.create_table(
        "tacit_entries",
        _of("reservations.id", "reservation"),
        sa.Column("sequence", sa.Integer, primary_key=True),
        _text("label"),
        _text("charge"),
        _text("theorem"),
    )


def _kept() -> None:
    op.create_table(
        "tacit_batches", _of("accounts.dataset", "dataset"), _text("fingerprint", 128, key=True), _text("first", 600)
    )
    op.create_table(
        "tacit_kept_fits",
        _of("reservations.id", "reservation"),
        _text("seed", 64),
        _text("rows", 128),
        _text("learner", 64),
        _text("command"),
    )
    op.create_table(
        "tacit_kept_releases",
        _of("reservations.id", "reservation"),
        sa.Column("sequence", sa.Integer, primary_key=True),
        _text("what", 64),
        sa.Column("value", sa.LargeBinary, nullable=False),
    )


def only_append(table: str) -> None:
    """Lets nobody change or delete a row of a table."""
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )
        return
    op.execute(
        "CREATE OR REPLACE FUNCTION tacit_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION tacit_append_only()"
    )
