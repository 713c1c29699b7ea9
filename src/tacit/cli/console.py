"""What people see: progress on stderr, summaries on stdout."""

from __future__ import annotations

import json
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.privacy.certificate import Certificate
    from tacit.privacy.progress import Step
    from tacit.schema import Schema


BETWEEN_LINES = 1.0
"""Seconds between two lines of progress."""


def visible(text: str) -> str:
    """A text of what can be seen: of anything else its escape.

    Names in files and words of other parties stand in messages. With the control characters of terminals, or those
    that turn the direction of writing, a file could paint over what is said of it.
    """
    return "".join(sign if sign.isprintable() or sign in "\n\t" else ascii(sign)[1:-1] for sign in text)


@contextmanager
def progress(what: str, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """A line on stderr that names the current stage and the time; yields the function that sets the stage."""
    if quiet:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:  # a log file needs no spinner
        yield lambda _: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what)
        yield lambda stage: bar.update(task, description=f"{what}: {stage}")


def watching(tell: Callable[[str], None], lines: bool) -> Callable[[Step], None]:
    """Says how far a fit is: as the stage of :func:`progress`, and as plain lines on stderr if they are wanted.

    There is at most a line in a second, and one for the first release.
    """
    last = [-math.inf]

    def watch(step: Step) -> None:
        words = step_words(step)
        tell(words)
        if lines and step.seconds - last[0] >= BETWEEN_LINES:
            last[0] = step.seconds
            sys.stderr.write(f"{words}\n")
            sys.stderr.flush()

    return watch


def step_words(step: Step) -> str:
    """A step in words."""
    seconds = step.seconds_left
    rest = "" if seconds is None or step.seconds < BETWEEN_LINES else f", about {seconds:.0f} s left"
    return f"{step.what}: release {step.releases}, {step.spent:.0%} of the budget, {step.seconds:.0f} s{rest}"


@contextmanager
def counting(what: str, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr; yields the function that says how many are done, and of how many."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _done, _total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda count, total: bar.update(task, completed=count, total=total)


def as_json(data: Mapping[str, Any]) -> None:
    """One JSON document on stdout."""
    import typer

    typer.echo(json.dumps(data, indent=2, allow_nan=False, default=str))


def table(title: str, rows: Mapping[str, str]) -> None:
    """A two-column summary on stdout."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    heading = Text(visible(title), style="bold")
    drawn = Table(title=heading, title_justify="left", show_header=False, box=None, pad_edge=False)
    drawn.add_column(style="cyan", no_wrap=True)
    drawn.add_column(overflow="fold")
    for name, value in rows.items():
        style = (
            "bold red" if value.startswith(("NO:", "the claim does NOT hold", "the charges add up, but NOT")) else ""
        )
        drawn.add_row(Text(visible(name)), Text(visible(value), style))  # a column named "[x]" is no markup
    Console().print(drawn)


def answer(in_json: bool, data: Mapping[str, Any], title: str, rows: Mapping[str, str]) -> None:
    """A result on stdout: its data as JSON where that is asked for, else a summary for people."""
    if in_json:
        as_json(data)
    else:
        table(title, rows)


def stopwatch() -> Callable[[], float]:
    """Seconds since it was made."""
    started = time.perf_counter()
    return lambda: time.perf_counter() - started


def finite(value: float) -> float | str:
    """A number as JSON knows it: infinity is a word."""
    return value if value == value and abs(value) != float("inf") else str(value)


def features_of(schema: Schema) -> str:
    """The number of a schema's features, in words."""
    return f"{len(schema.features)} feature{'' if len(schema.features) == 1 else 's'}"


def spent(certificate: Certificate) -> str:
    """What something cost, in words."""
    return f"epsilon {certificate.epsilon:.4g}, delta {certificate.delta:g}, {certificate.neighbouring}"


def releasable(certificate: Certificate) -> str:
    """Whether something may be released, with the reasons why not."""
    return "yes" if certificate.releasable else f"NO: {'; '.join(certificate.reasons)}"


def charge_words(charges: Sequence[dict[str, Any]]) -> str:
    """Charges from their plain data, in words; equal ones once, with their number."""
    from tacit.privacy.charges import charge_from_dict
    from tacit.report.budget import words

    counted = Counter(words(charge_from_dict(charge)) for charge in charges)
    return ", ".join(text if number == 1 else f"{number} times {text}" for text, number in counted.items())
