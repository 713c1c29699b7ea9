"""Errors about public facts of the data's container: names, dtypes, files. What rows hold is never an error."""

from __future__ import annotations

from tacit.errors import UNSPENT, TacitError


class FrameError(TacitError):
    """A table that does not fit the schema by its public facts: a column is missing or has the wrong dtype."""

    usual = UNSPENT


class DataError(TacitError):
    """A file that cannot be read as a table."""

    usual = UNSPENT
