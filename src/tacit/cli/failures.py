"""One sentence and exit code 2 for everything a user can mend; tracebacks are for faults of the program."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from tacit.errors import STANDS, UNSPENT, TacitError, was_spent, with_remark

P = ParamSpec("P")
R = TypeVar("R")

MISTAKE = 2
"""Exit code of a mistake that the message tells how to mend."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


class Mistake(TacitError):  # noqa: N818 - made by the user, no fault of the program
    """A mistake in what was asked for. The message says what would be right."""


def with_spending(error: Exception) -> str:
    """What an error says, and what was spent unless it says so itself."""
    if isinstance(error, TacitError) and error.speaks_of_the_budget:
        return str(error)
    message = file_message(error) if isinstance(error, OSError) else str(error)
    return with_remark(message, STANDS if was_spent(error) else UNSPENT)


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
            tell(with_spending(error))
        except ValueError as error:
            tell(with_spending(error))
        except KeyboardInterrupt:
            tell("interrupted. What a budget account had reserved stays charged")
            raise typer.Exit(INTERRUPTED) from None
        raise typer.Exit(MISTAKE)

    return wrapper
