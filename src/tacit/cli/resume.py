"""`tacit resume`: a fit goes on whose process has ended, as the command that began it asked."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import arguments as shared
from tacit.cli.console import as_json, table
from tacit.cli.failures import Mistake
from tacit.cli.fit_arguments import FitArguments, restored

if TYPE_CHECKING:
    from tacit.privacy.kept_releases import Kept


@dataclass(frozen=True, kw_only=True)
class ResumeArguments:
    """What the command line asked for."""

    number: Annotated[
        int | None, typer.Argument(help="Number of the fit to resume. Omit it to list resumable fits.")
    ] = None
    account: shared.Url
    dataset: shared.Dataset
    progress: shared.Progress = False
    as_json: shared.Json = False


def run(options: ResumeArguments) -> None:
    """Continue a fit started with --resumable. Nothing is charged or released twice.

    The model of one that has ended is made again, from what it released: its process may have been killed before.
    """
    from tacit.cli.fit import run as fit
    from tacit.privacy.account import PrivacyAccount

    account = PrivacyAccount(options.account, options.dataset)
    open_, ended = account.kept(), account.kept(ended=True)
    fits = {each.identifier: each for each in open_ + ended}
    if options.number is None:
        _list(open_, ended, options.as_json)
        return
    if options.number not in fits:
        numbers = ", ".join(str(each.identifier) for each in open_) or "none"
        raise Mistake(
            f"the account of {options.dataset!r} has no fit {options.number} that can go on (there are: {numbers})"
        )
    command = fits[options.number].command
    if not command:
        raise Mistake(
            f"fit {options.number} was begun from Python, and goes on there: tacit.options(resume={options.number})"
        )
    folder, arguments = restored(command)
    arguments["progress"], arguments["as_json"] = options.progress, options.as_json
    again = FitArguments(**arguments)
    with contextlib.chdir(folder):
        if again.model is not None and again.model.exists() and not again.force and again.model != again.adds_to:
            raise Mistake(
                f"{again.model.absolute()} exists; move it away to have the model of fit {options.number} there"
            )
        fit(again, resume=options.number)


def _list(open_: tuple[Kept, ...], ended: tuple[Kept, ...], json_: bool) -> None:
    numbers = [fit.identifier for fit in ended]
    if json_:
        rows = [{"number": fit.identifier, "label": fit.label, "releases": fit.releases} for fit in open_]
        as_json({"fits": rows, "ended": numbers})
        return
    words = {f"{fit.identifier}.": f"{fit.label}, {fit.releases} releases kept" for fit in open_}
    if numbers:
        words["ended"] = f"{', '.join(map(str, numbers))}: their models can be made again, at no charge"
    table(f"{len(open_)} fit{'s' if len(open_) != 1 else ''} can go on", words)
