"""Assumptions: what a fit took as public, or did not see, that the accounting of its charges cannot check.

A charge covers what a fit reads of its rows through the curator. What reaches a fit by another way (the dtypes of a
table that one value can change, a step that was fitted to the rows before) is an assumption of its certificate: part of
its digest, and of what is signed. A certificate with an assumption that nobody answers for is not releasable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self, final

from tacit.privacy.request import RequestError
from tacit.schema.identifier_names import names_identifier

PUBLIC = "public"  # what `dtypes` says where they do not come from the rows
EDIT = "edit"  # the subject of what was done to a model by hand after its fit

DTYPES = (
    "the dtypes of {what} were taken as public, and one value can change a dtype: declare a schema with all columns "
    "and the label, or give dtypes='public' where they do not come from the rows"
)

VOUCHED_DTYPES = "the dtypes of {what}: the caller says that they do not come from the rows"


@final
@dataclass(frozen=True)
class Assumption:
    """Something that the promise of a certificate takes for granted."""

    subject: str  # what it is about, in a word or two, such as `"dtypes"`
    text: str  # what was taken as public, or was not covered, as a clause
    accepted: bool  # whether it does no harm as far as the library can tell, or the caller answers for it

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; :meth:`from_dict` is the inverse."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Reads plain data; raises ``TypeError`` or ``KeyError`` for other data."""
        subject, text, accepted = data["subject"], data["text"], data["accepted"]
        if not (isinstance(subject, str) and isinstance(text, str) and isinstance(accepted, bool)):
            raise TypeError("an assumption has a subject and a text, and is accepted or not")
        return cls(subject, text, accepted)


def objections(assumptions: Iterable[Assumption]) -> tuple[str, ...]:
    """Why a model with these assumptions may not be released; empty if it may."""
    return tuple(dict.fromkeys(each.text for each in assumptions if not each.accepted))


def united(*several: Iterable[Assumption]) -> tuple[Assumption, ...]:
    """All assumptions, each once, in their order."""
    return tuple(dict.fromkeys(each for assumptions in several for each in assumptions))


def check_dtypes(dtypes: Any) -> None:
    """Raises :class:`RequestError` unless it is None or ``"public"``."""
    if dtypes is not None and dtypes != PUBLIC:
        raise RequestError(f"dtypes must be None or {PUBLIC!r}, got {dtypes!r}")


def identifiers_assumed(names: Iterable[Any]) -> tuple[Assumption, ...]:
    """What is assumed of features that no schema declares and that are called as identifiers are: nobody answers."""
    identifiers = [name for name in map(str, names) if names_identifier(name)]
    what = f"the column {identifiers[0]!r} was learned from" if identifiers else ""
    why = "looks like an identifier: declare it in a schema, with kind = 'id' or allow = 'identifier'"
    return (Assumption("identifiers", f"{what} without a schema, and {why}", accepted=False),) if identifiers else ()


def dtypes_assumed(dtypes: str | None, untyped: bool, columns: bool, label: bool) -> tuple[Assumption, ...]:
    """What is assumed of the dtypes of a table, for which the caller answers by ``"public"``.

    ``untyped``: it has none, as a CSV file. ``columns``: the features are of no schema, so that dtypes say what they
    hold. ``label``: its dtype decides which classes there can be.
    """
    if untyped or not (columns or label):
        return ()
    what = " and ".join(name for name, holds in (("the columns", columns), ("the label", label)) if holds)
    accepted = dtypes == PUBLIC
    return (Assumption("dtypes", (VOUCHED_DTYPES if accepted else DTYPES).format(what=what), accepted),)
