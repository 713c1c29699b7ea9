"""One sentence and an exit code for everything a user can mend; tracebacks are for faults of the program."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

import typer

from tacit.errors import STANDS, UNSPENT, TacitError, message_of, problem_list, spending, was_spent, with_remark
from tacit.privacy.ledger import BudgetExceeded

P = ParamSpec("P")
R = TypeVar("R")

COMPLAINTS = 1
"""Exit code of a command that was told to be strict and found something to complain of."""

USAGE = 2
"""Exit code of a mistake; the message says how to mend it."""

BUDGET = 3
"""Exit code where a budget does not pay for what was asked."""

CLAIM = 4
"""Exit code where a claim does not hold: a certificate, a signature, or what an audit found."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

KINDS = {USAGE: "usage", BUDGET: "budget", CLAIM: "claim", INTERRUPTED: "interrupted"}
"""What JSON calls them."""


class Mistake(TacitError):  # noqa: N818 - made by the user, no fault of the program
    """A mistake in what was asked for. The message says what would be right."""


class Mistakes(Mistake):
    """Several mistakes, a line each."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(problem_list(lines))
        self.lines = lines


class Unpaid(Mistake):
    """A budget does not pay for what was asked."""

    usual = UNSPENT


def together(*checks: Callable[[], Any]) -> tuple[Any, ...]:
    """Makes checks that do not depend on each other; returns what each returns, or raises what all find wrong."""
    results: list[Any] = []
    problems: list[Exception] = []
    for check in checks:
        try:
            results.append(check())
        except (ValueError, OSError) as error:
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise Mistakes([line for each in problems for line in _lines_of(each)])
    return tuple(results)


def _lines_of(problem: Exception) -> list[str]:
    if isinstance(problem, Mistakes):
        return problem.lines
    return [file_message(problem) if isinstance(problem, OSError) else message_of(problem)]


def with_spending(error: Exception, spends: bool = True) -> str:
    """What an error says and, of a command that can spend, what was spent."""
    message = file_message(error) if isinstance(error, OSError) else message_of(error)
    if not spends and not was_spent(error):
        return sentence(message)
    if isinstance(error, TacitError) and error.speaks_of_the_budget:
        return str(error)
    return with_remark(message, STANDS if was_spent(error) else UNSPENT)


def sentence(message: str) -> str:
    """A message with a full stop."""
    return message if message.endswith((".", "?")) else f"{message}."


def code_of(error: BaseException) -> int:
    """The exit code of an error."""
    from tacit.models.binding import ClaimError

    if isinstance(error, BudgetExceeded | Unpaid):
        return BUDGET
    if isinstance(error, ClaimError):
        return CLAIM
    return USAGE


def tell(message: str, code: int = USAGE, as_json: bool = False) -> None:
    """Prints one error: to stderr, or as a JSON document to stdout."""
    if as_json:
        report = {"error": {"kind": KINDS[code], "exit_code": code, "message": message}}
        typer.echo(json.dumps(report, indent=2))
        return
    from rich.console import Console
    from rich.text import Text

    from tacit.cli.console import visible

    words = Text("error: ", style="bold red").append(Text(visible(message), style="default not bold"))
    Console(stderr=True, soft_wrap=True).print(words)


NUMBERS = {
    "int_parsing": "is not a whole number, such as 3",
    "float_parsing": "is not a number, such as 0.5",
    "greater_than_equal": "is too small: give {ge} or more",
}
"""What is said of texts that are no numbers, or too small ones, by the names of pydantic."""


def misread(error: Any) -> str:
    """What is wrong with a command line that typer could not read: the option, its value, and what would be right."""
    param, checked = getattr(error, "param", None), getattr(error.__cause__, "errors", None)  # of pydantic
    if param is None or not (error.message or checked):
        words = " ".join(str(error.format_message()).split()).rstrip(".")
        help_of = f"; see {error.ctx.command_path} -h" if error.ctx is not None else ""
        return f"{words[:1].lower()}{words[1:]}{help_of}"
    if checked:
        [fault, *_] = checked()
        context = fault.get("ctx", {})
        words = NUMBERS.get(fault["type"], "").format_map(context) or fault["msg"]
        reason = context.get("error") or f"{fault['input']!r} {words}"
    else:
        reason = error.message
    return f"{(param.opts or [param.name])[0]}: {reason}"


def file_message(error: OSError) -> str:
    """An operating-system error in words: the file comes first."""
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}"


def _interrupted(arguments: Mapping[str, object]) -> str:
    """What is said after Ctrl-C: only the account knows for certain whether a charge had been made."""
    if not arguments.get("account"):
        return "interrupted"
    goes_on = "; see tacit resume, which goes on and charges nothing" if arguments.get("resumable") else ""
    return f"interrupted. What the account had reserved by then (tacit budget show) stays charged{goes_on}"


def guarded(command: Callable[P, R], spends: bool = True) -> Callable[P, R]:
    """A command whose public mistakes end in one message and an exit code.

    ``ValueError`` is what the library raises for public mistakes, ``OSError`` what files do. Anything else is a fault
    and keeps its traceback. Messages of a command that ``spends`` say what was spent.
    """

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        as_json = bool(kwargs.get("as_json", False))
        try:
            with spending():  # a file that cannot be written is found out when the budget is gone
                return command(*args, **kwargs)
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise typer.Exit(0) from None  # who read the output has gone: that is no failure
            code = USAGE
            tell(with_spending(error, spends), code, as_json)
        except ValueError as error:
            code = code_of(error)
            tell(with_spending(error, spends), code, as_json)
        except KeyboardInterrupt:
            tell(_interrupted(kwargs), INTERRUPTED, as_json)
            raise typer.Exit(INTERRUPTED) from None
        raise typer.Exit(code)

    return wrapper
