"""The command of a fit that may go on later, as text that is kept with it."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from tacit.cli.failures import Mistake
from tacit.cli.fit_arguments import FitArguments


def command_of(asked: FitArguments) -> str:
    """What a command asked for, and where, as JSON that :func:`restored` reads.

    Raises:
        Mistake: if it could not be asked again, or if a password would be kept.
    """
    if asked.data == "-":
        raise Mistake("--resumable: standard input cannot be read again; give a file")
    if asked.account is None:
        raise Mistake("--resumable: releases are kept in the store of an account: give --account and --dataset")
    for url in (asked.data, asked.account):
        if "://" in url and "@" in url:
            raise Mistake(
                "--resumable keeps the command, and a URL in it may hold a password: begin the fit from Python"
            )
    given = {
        field.name: str(value) if isinstance(value, Path) else value
        for field in fields(asked)
        if (value := getattr(asked, field.name)) != field.default
    }
    return json.dumps({"folder": os.getcwd(), "asked": given})  # noqa: PTH109 - as text


def restored(command: str) -> tuple[str, dict[str, Any]]:
    """The folder and the arguments of a command."""
    hints = get_type_hints(FitArguments)
    try:
        found = json.loads(command)
        arguments = {
            name: Path(value) if Path in get_args(hints[name]) and value is not None else value
            for name, value in found["asked"].items()
        }
        return str(found["folder"]), arguments
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Mistake("the budget store is damaged: the command of this fit cannot be read") from None
