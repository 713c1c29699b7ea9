"""The error of a schema that cannot be used. A schema is public, so its errors may say all they know."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from tacit.errors import UNSPENT, TacitError, problem_list

MOST_LISTED = 20
"""Known words that an error lists: a table may have thousands of columns."""


class SchemaError(TacitError):
    """A schema that cannot be used: says where, what is wrong and what would be right; no budget was touched.

    Attributes:
        problem: what is wrong.
        remedy: what would be right.
        field: the key concerned, if there is one.
        where: the column, section or file concerned, outermost first.

    Example:
        >>> from tacit import Schema, SchemaError
        >>> try:
        ...     Schema.from_dict({"columns": {"age": {"kind": "numeric", "lower": 100, "upper": 0}}})
        ... except SchemaError as error:
        ...     print("lower = 100 is not below upper = 0" in str(error))
        True
    """

    def __init__(self, problem: str, remedy: str = "", field: str = "", where: str = "") -> None:
        self.problem, self.remedy, self.field, self.where = problem, remedy, field, where
        super().__init__(self.said, UNSPENT)

    @property
    def said(self) -> str:
        """The place, the problem and the remedy in one line."""
        place = ", ".join(part for part in (self.where, f"field '{self.field}'" if self.field else "") if part)
        body = "; ".join(part for part in (self.problem, self.remedy) if part)
        return f"{f'{place}: ' if place else ''}{body}"

    @staticmethod
    def of(errors: Sequence[SchemaError]) -> SchemaError:
        """One error of several, a line each, as far as they are not too many."""
        if len(errors) == 1:
            return errors[0]
        return SchemaError(problem_list([error.said for error in errors], MOST_LISTED))

    def __reduce__(self) -> tuple[type[SchemaError], tuple[str, str, str, str], dict[str, bool]]:
        return (SchemaError, (self.problem, self.remedy, self.field, self.where), {"spent": self.spent})

    def inside(self, where: str) -> SchemaError:
        """The same error, with the place it happened in named."""
        return SchemaError(self.problem, self.remedy, self.field, f"{where}, {self.where}" if self.where else where)


def resembles(word: str, words: Iterable[str]) -> list[str]:
    """The known word that is most like this one, whatever its case; none if no known word is like it."""
    choices = list(words)
    same = [choice for choice in choices if choice.strip().casefold() == word.strip().casefold()]
    return same[:1] or difflib.get_close_matches(word, choices, n=1, cutoff=0.6)


def nearest(word: str, words: Iterable[str]) -> str:
    """``did you mean 'x'?``, or the list of what is known."""
    choices = list(words)
    close = resembles(word, choices)
    if close:
        return f"did you mean '{close[0]}'?"
    more = len(choices) - MOST_LISTED
    return f"known here: {', '.join(choices[:MOST_LISTED]) or 'nothing'}{f' and {more:,} more' if more > 0 else ''}"


def refuse_unknown(keys: Iterable[object], names: Iterable[str]) -> None:
    """Raises on the first key that is not known, with the nearest known one."""
    choices = list(names)
    for key in keys:
        if key not in choices:
            raise SchemaError("unknown key", nearest(str(key), choices), field=str(key))
