"""`tacit budget`: accounts that several fits share."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import arguments as shared
from tacit.cli.console import answer, finite, table
from tacit.cli.outputs import check_outputs
from tacit.whole_files import write_text

if TYPE_CHECKING:
    from tacit.privacy.account import PrivacyAccount
    from tacit.schema import Unit


@dataclass(frozen=True, kw_only=True)
class CreateArguments(shared.JsonArguments):
    account: shared.Url
    dataset: shared.Dataset
    epsilon: shared.Epsilon
    delta: shared.Delta
    neighbouring: shared.Relation = shared.ADD_OR_REMOVE_ONE
    unit: Annotated[str | None, "Column that identifies a person, or row. Default: the unit of the first fit."] = None
    max_rows: Annotated[int, "With --unit: maximum number of rows per person."] = 1


@dataclass(frozen=True, kw_only=True)
class ListArguments(shared.JsonArguments):
    account: shared.Url


@dataclass(frozen=True, kw_only=True)
class ShowArguments(ListArguments):
    dataset: shared.Dataset


@dataclass(frozen=True, kw_only=True)
class ExportArguments:
    account: shared.Url
    dataset: shared.Dataset
    out: Annotated[Path, typer.Option("--out", "-o", help="Output file for the extract (JSON).")]
    force: shared.Force = False


def create(arguments: CreateArguments) -> None:
    """Create an account: the total budget of all fits on one data set."""
    from tacit.privacy.account import PrivacyAccount
    from tacit.schema import Unit

    unit = arguments.unit if arguments.unit in (None, "row") else Unit(str(arguments.unit), arguments.max_rows)
    account = PrivacyAccount.create(
        arguments.account, arguments.dataset, arguments.epsilon, arguments.delta, arguments.neighbouring, unit
    )
    _print(account, f"Opened an account for {arguments.dataset}", arguments.as_json)


def show(arguments: ShowArguments) -> None:
    """Show what an account has spent, on what, and how much remains."""
    from tacit.privacy.account import PrivacyAccount

    _print(
        PrivacyAccount(arguments.account, arguments.dataset), f"The account of {arguments.dataset}", arguments.as_json
    )


def export(arguments: ExportArguments) -> None:
    """Write a public extract of an account: its promise, charges, releases and lines about signed models.

    The account's store itself is not public. The extract holds no times, no users, and nothing of the rows; give it to
    whoever runs tacit verify --account EXTRACT.
    """
    from tacit.privacy.account import PrivacyAccount
    from tacit.privacy.extract import extract_of

    check_outputs({"--out": arguments.out}, {}, arguments.account, arguments.force)
    extract = extract_of(PrivacyAccount(arguments.account, arguments.dataset))
    write_text(arguments.out, json.dumps(extract, allow_nan=False, indent=1))
    table("Public extract", {"written": str(arguments.out), "lines": str(len(extract["lines"]))})


def list_accounts(arguments: ListArguments) -> None:
    """List the accounts of a store and the remaining budget of each."""
    from tacit.privacy.account import PrivacyAccount

    accounts = [PrivacyAccount(arguments.account, name) for name in PrivacyAccount.datasets(arguments.account)]
    rows = {
        account.dataset: f"epsilon {account.remaining:.4g} of {account.epsilon:g} left at delta {account.delta:g}, "
        f"{account.neighbouring}"
        for account in accounts
    }
    facts = {"accounts": [_facts(account) for account in accounts]}
    answer(arguments.as_json, facts, f"{len(rows)} account{'s' if len(rows) != 1 else ''}", rows)


def _facts(account: PrivacyAccount) -> dict[str, Any]:
    return {
        "dataset": account.dataset,
        "epsilon": finite(account.epsilon),
        "delta": account.delta,
        "neighbouring": str(account.neighbouring),
        "protected": _protected(account.unit),
        "spent": finite(account.spent),
        "remaining": finite(account.remaining),
        "affordable": finite(account.affordable()),
    }


def _print(account: PrivacyAccount, title: str, json_: bool) -> None:
    from tacit.privacy.accountants import epsilon

    history, resumable = account.reservations(), {fit.identifier for fit in account.kept()}
    facts = _facts(account)
    alone = [epsilon(line.charges, account.delta) for line in history]
    lines = [
        {
            "label": line.label,
            "status": line.status,
            "epsilon": finite(cost),
            "created": line.created,
            "closed": line.closed,
            "by": line.by,
            "resume": line.identifier if line.identifier in resumable else None,
        }
        for line, cost in zip(history, alone, strict=True)
    ]
    answer(
        json_,
        {**facts, "reservations": lines},
        title,
        {
            "promise": f"epsilon {account.epsilon:g}, delta {account.delta:g}, {account.neighbouring}",
            "protects": _protected(account.unit),
            "spent": f"epsilon {account.spent:.4g}",
            "remaining": f"epsilon {account.remaining:.4g}",
            "largest next fit": _affordable(account),
            **{
                f"{i}.": f"{_short(line.label)}: epsilon {cost:.4g} by itself, {line.status}, {line.created}"
                f", by {line.by}"
                + (f"; tacit resume {line.identifier} goes on" if line.identifier in resumable else "")
                for i, (line, cost) in enumerate(zip(history, alone, strict=True), start=1)
            },
        },
    )


def _short(label: str) -> str:
    """A label for people: digests, which ``tacit verify`` compares, by their beginnings."""
    return re.sub(r"\b([0-9a-f]{12})[0-9a-f]{52}\b", r"\1…", label)


def _protected(unit: Unit | str | None) -> str:
    """Who is protected, in words."""
    if unit is None:
        return "what the first fit protects"
    if isinstance(unit, str):
        return "one row"
    rows = f"all rows with one {unit.column}, at most {unit.max_rows}"
    return f"one {unit.name}: {rows}" if unit.name else rows


def _affordable(account: PrivacyAccount) -> str:
    """The largest epsilon that one more fit could have, and why it may exceed what remains."""
    epsilon, remaining = account.affordable(), account.remaining
    if not epsilon > remaining * (1 + 1e-3):
        return f"epsilon {epsilon:.4g}"
    return f"epsilon {epsilon:.4g} (more than what remains, because composed costs are smaller than their sum)"
