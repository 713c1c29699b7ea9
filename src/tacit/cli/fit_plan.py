"""Write the options of a fit to a file, and read them as the defaults of another."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any

import tomli_w
import typer

from tacit.cli.files import write_text

OF_ONE_RUN = (
    "data", "plan", "save_plan", "model", "report", "certificate", "adds_to", "dry_run", "force", "progress", "as_json",
)  # fmt: skip
"""Arguments that no plan holds."""


def read_plan(context: typer.Context, path: Path | None) -> Path | None:
    """Take the options in a plan as the defaults of this run; the command line overrides them.

    Raises:
        typer.BadParameter: if the file cannot be read, or holds what is no option of a plan. Nothing was spent.
    """
    if path is None:
        return None
    try:
        options = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}. Nothing was spent") from None
    except ValueError as error:
        raise typer.BadParameter(f"{path} is not TOML: {error}. Nothing was spent") from None
    params = [param for param in context.command.params if param.name not in (*OF_ONE_RUN, "help")]
    names = {param.opts[0].removeprefix("--"): param.name for param in params}
    for name in options:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]}?" if near else f"a plan may hold: {', '.join(names)}."
            raise typer.BadParameter(f"{path}: {name!r} is not an option of a plan; {hint} Nothing was spent")
    context.default_map = {names[name]: value for name, value in options.items()}
    return path


def write_plan(asked: Any, path: Path) -> None:
    """Write the options of a fit that differ from the defaults, as :func:`read_plan` reads them."""
    options: dict[str, Any] = {}
    for field in fields(asked):
        value = getattr(asked, field.name)
        if field.name not in OF_ONE_RUN and value != field.default:
            name = "set" if field.name == "settings" else field.name.replace("_", "-")
            options[name] = str(value) if isinstance(value, Path | Enum) else value
    write_text(path, tomli_w.dumps(options))
