"""Errors about public facts of the data's container: names, dtypes, files. What rows hold is never an error."""

from __future__ import annotations


class FrameError(ValueError):
    """A table that does not fit the schema by its public facts: a column is missing or has the wrong dtype."""

    def __init__(self, message: str) -> None:
        super().__init__(message if message.endswith("spent.") else f"{message}. Nothing was spent.")


class DataError(ValueError):
    """A file that cannot be read as a table."""

    def __init__(self, message: str) -> None:
        super().__init__(message if message.endswith("spent.") else f"{message}. Nothing was spent.")
