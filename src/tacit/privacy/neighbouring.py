"""The neighbouring relation: what "one person" means in a privacy claim."""

from __future__ import annotations

from enum import StrEnum


class Neighbouring(StrEnum):
    """Which pairs of tables a guarantee compares.

    One ledger has one relation; mixing two is an error, and there is no conversion.

    Example:
        >>> from tacit import Neighbouring
        >>> Neighbouring("replace_one").n_is_public
        True
    """

    ADD_OR_REMOVE_ONE = "add_or_remove_one"
    """One table has one row (or one unit's rows) more than the other: the number of rows is private."""

    REPLACE_ONE = "replace_one"
    """Both tables have the same number of rows and differ in one: the number of rows is public."""

    @property
    def n_is_public(self) -> bool:
        """Whether the number of rows may be used without paying for it."""
        return self is Neighbouring.REPLACE_ONE
