"""Values of PostgreSQL that Python has none for: a date before our era, at infinity, or after the year 9999.

The driver raises for them, and one row would make a fit fail. They are missing here, as they are in files.
"""

from __future__ import annotations

from typing import Any

KINDS = ("Date", "Timestamp", "Timestamptz", "Time", "Timetz", "Interval")
"""Types whose values may be none of Python, by the classes of the driver that read them."""


def read_leniently(engine: Any) -> None:
    """Lets the connections of an engine read what Python cannot hold as nothing; only those of psycopg need it."""
    if engine.dialect.driver != "psycopg":
        return
    from psycopg.types import datetime as loaders
    from sqlalchemy import event

    lenient = {kind.lower(): _lenient(getattr(loaders, f"{kind}Loader")) for kind in KINDS}

    def register(connection: Any, _record: Any) -> None:
        for kind, loader in lenient.items():
            connection.adapters.register_loader(kind, loader)

    event.listen(engine, "connect", register)


def _lenient(loader: Any) -> Any:
    """A loader that gives None where another raises for a value."""
    from psycopg import DataError

    class Lenient(loader):
        def load(self, data: Any) -> Any:
            try:
                return super().load(data)
            except (DataError, ValueError, OverflowError):
                return None

    return Lenient
