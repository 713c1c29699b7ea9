"""`tacit resume`: a fit goes on whose process has ended, as the command that began it asked."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from tacit.cli import arguments as shared
from tacit.cli.console import as_json, table
from tacit.cli.failures import Mistake
from tacit.cli.fit_arguments import FitArguments
from tacit.cli.kept_command import restored


@dataclass(frozen=True, kw_only=True)
class ResumeArguments:
    """What the command line asked for."""

    number: Annotated[int | None, typer.Argument(help="Of the fit; without one, those that can go on are listed.")] = (
        None
    )
    account: shared.Url
    dataset: shared.Dataset
    progress: shared.Progress = False
    as_json: shared.Json = False


def run(asked: ResumeArguments) -> None:
    """Continue a fit that was begun with --resumable: nothing is charged, and nothing released twice."""
    from tacit.cli.fit import run as fit
    from tacit.privacy.account import PrivacyAccount

    fits = {kept.identifier: kept for kept in PrivacyAccount(asked.account, asked.dataset).kept()}
    if asked.number is None:
        _list(fits, asked.as_json)
        return
    if asked.number not in fits:
        known = ", ".join(map(str, fits)) or "none"
        raise Mistake(f"the account of {asked.dataset!r} has no fit {asked.number} that can go on (there are: {known})")
    command = fits[asked.number].command
    if not command:
        raise Mistake(
            f"fit {asked.number} was begun from Python, and goes on there: tacit.options(resume={asked.number})"
        )
    folder, arguments = restored(command)
    arguments["progress"], arguments["as_json"] = asked.progress, asked.as_json
    with contextlib.chdir(folder):
        fit(FitArguments(**arguments), resume=asked.number)


def _list(fits: dict[int, Any], json_: bool) -> None:
    rows = [{"number": kept.identifier, "label": kept.label, "releases": kept.releases} for kept in fits.values()]
    if json_:
        as_json({"fits": rows})
        return
    words = {f"{row['number']}.": f"{row['label']}, {row['releases']} releases kept" for row in rows}
    table(f"{len(rows)} fit{'s' if len(rows) != 1 else ''} can go on", words)
