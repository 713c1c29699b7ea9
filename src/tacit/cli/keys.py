"""`tacit keys`: keys to sign models with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import arguments as shared
from tacit.cli.console import as_json, table
from tacit.cli.files import check_outputs, refuse_overwriting


@dataclass(frozen=True, kw_only=True)
class NewArguments:
    """What the command line asked for."""

    output: Annotated[
        Path, typer.Argument(help="Output file for the private key; the public key is written beside it.")
    ]
    as_json: shared.Json = False


def new(arguments: NewArguments) -> None:
    """Create an Ed25519 key pair: OUTPUT signs and must stay secret; OUTPUT.pub is for those who verify."""
    from tacit.privacy.signatures import new_key

    outputs = {"OUTPUT": arguments.output, "OUTPUT.pub": Path(f"{arguments.output}.pub")}
    check_outputs(outputs, {})
    for option, path in outputs.items():
        refuse_overwriting({option: path}, force=False)
    public = new_key(arguments.output)
    if arguments.as_json:
        as_json({"private": str(arguments.output), "public": str(public)})
        return
    table(
        "A key pair",
        {
            "private": f"{arguments.output} (keep it secret: whoever has it can sign in your name)",
            "public": f"{public} (give it to whoever verifies)",
        },
    )
