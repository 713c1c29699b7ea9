"""One sentence and exit code 2 for everything a user can mend; tracebacks are for faults of the program."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

import typer

from tacit.privacy.ledger import STANDS

P = ParamSpec("P")
R = TypeVar("R")

MISTAKE = 2
"""Exit code of a mistake that the message tells how to mend."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


class Mistake(ValueError):  # noqa: N818 - made by the user, no fault of the program
    """A mistake in what was asked for. The message says what would be right."""


def spent_remark(message: str, notes: Sequence[str] = ()) -> str:
    """The message with what was spent, unless it says so itself; ``notes`` are the error's."""
    if "spent" in message or "charged" in message or STANDS in message:
        return message
    remark = STANDS if STANDS in notes else "Nothing was spent."
    return f"{message}{'' if message.endswith(('?', '.')) else '.'} {remark}"


def tell(message: str) -> None:
    """Prints one error to stderr."""
    from rich.console import Console
    from rich.text import Text

    words = Text("error: ", style="bold red").append(Text(message, style="default not bold"))
    Console(stderr=True, soft_wrap=True).print(words)


def file_message(error: OSError) -> str:
    """An operating-system error in words: the file comes first."""
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}"


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """A command whose public mistakes end in one message and exit code 2.

    ``ValueError`` is what the library raises for public mistakes, ``OSError`` what files do. Anything else is a fault
    and keeps its traceback.
    """

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                sys.stderr.close()
                raise typer.Exit(1) from None
            tell(spent_remark(file_message(error), getattr(error, "__notes__", ())))
        except ValueError as error:
            tell(spent_remark(str(error), getattr(error, "__notes__", ())))
        except KeyboardInterrupt:
            tell("interrupted. What a budget account had reserved stays charged")
            raise typer.Exit(INTERRUPTED) from None
        raise typer.Exit(MISTAKE)

    return wrapper
