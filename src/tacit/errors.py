"""What errors say of the budget. Whether anything was spent is a fact they carry; the words follow from it.

And whom warnings are about: the code that called the library.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ClassVar

UNSPENT = "Nothing was spent."
STANDS = "The charge stands: it was made before."


class TacitError(ValueError):
    """A public reason not to go on. Contents of rows are never one.

    Attributes:
        message: what is wrong and what would be right.
        spent: whether a charge was made before. The reservation that the error leaves sets it, or :func:`spending`, if
            it was made after one; nothing else does.
        remark: what the message says of the budget as long as nothing was spent: a sentence, a clause after a
            semicolon, or nothing. Once something was spent, a message that speaks of the budget says so.

    Args:
        message: as above.
        remark: in place of that of the class.
    """

    usual: ClassVar[str] = ""
    """The remark of errors of this class."""

    spent: bool = False

    def __init__(self, message: str, remark: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remark = self.usual if remark is None else remark

    @property
    def speaks_of_the_budget(self) -> bool:
        """Whether the message says what was spent."""
        return bool(self.remark)

    def __str__(self) -> str:
        return with_remark(self.message, STANDS if self.spent and self.remark else self.remark)


def missing(package: str, extra: str) -> TacitError:
    """Returns the error for a package of an optional extra that is not installed."""
    return TacitError(f"{package} is not installed: pip install 'tacit[{extra}]'", UNSPENT)


def with_remark(message: str, remark: str) -> str:
    """A message and what is said of the budget: a sentence of its own, or a clause that begins with a semicolon."""
    if not remark or remark.startswith(";"):
        return message + remark
    return f"{message}{'' if message.endswith(('?', '.')) else '.'} {remark}"


def message_of(error: Exception) -> str:
    """What an error says, without a remark on the budget: to be said again by another."""
    return error.message if isinstance(error, TacitError) else str(error)


def problem_list(problems: Sequence[str], most: int | None = None) -> str:
    """The one problem that there is, or their number and a line for each, for ``most`` of them if that is given."""
    if len(problems) == 1:
        return problems[0]
    lines = problems[:most]
    more = [f"and {len(problems) - len(lines):,} more"] if len(lines) < len(problems) else []
    return "\n  ".join([f"{len(problems)} problems:", *lines, *more])


def was_spent(error: BaseException) -> bool:
    """Whether a charge had been made when this was raised."""
    return bool(getattr(error, "spent", False))


def mark_spent(error: BaseException) -> None:
    """Notes that a charge was made before: for reservations and :func:`spending`.

    Messages that do not speak of the budget get a note.
    """
    if was_spent(error):
        return
    error.spent = True  # type: ignore[attr-defined]
    if not (isinstance(error, TacitError) and error.speaks_of_the_budget):
        error.add_note(STANDS)


CHARGED: ContextVar[int] = ContextVar("charged", default=0)
"""How many reservations were entered here so far: whether one was made meanwhile is what :func:`spending` asks."""


def note_charge() -> None:
    """Counts a reservation that was entered."""
    CHARGED.set(CHARGED.get() + 1)


@contextmanager
def spending() -> Iterator[None]:
    """Around everything from before a reservation until its result is handed over.

    What fails once the reservation has ended, such as a certificate, a model or a summary, fails after the charge as
    well: without this its error would say that nothing was spent. Also a decorator.
    """
    before = CHARGED.get()
    try:
        yield
    except BaseException as error:
        if CHARGED.get() > before:
            mark_spent(error)
        raise


def warn(message: str, kind: type[Warning] = UserWarning) -> None:
    """Warns whoever called the library."""
    warnings.warn(message, kind, stacklevel=outside())


def outside() -> int:
    """The stack level of whoever called the library, for a warning of the function that asks."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "tacit":
        level, frame = level + 1, frame.f_back
    return level
