"""Errors about public facts of the data's container: names, dtypes, files. What rows hold is never an error."""

from __future__ import annotations


def with_remark(message: str) -> str:
    """The message and, as a sentence of its own, that nothing was spent."""
    if message.endswith("spent."):
        return message
    return f"{message}{'' if message.endswith(('?', '.')) else '.'} Nothing was spent."


class FrameError(ValueError):
    """A table that does not fit the schema by its public facts: a column is missing or has the wrong dtype."""

    def __init__(self, message: str) -> None:
        super().__init__(with_remark(message))


class DataError(ValueError):
    """A file that cannot be read as a table."""

    def __init__(self, message: str) -> None:
        super().__init__(with_remark(message))
