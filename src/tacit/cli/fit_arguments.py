"""Arguments of `tacit fit`: as text kept with a fit that may go on, and in a file, as the defaults of another."""

from __future__ import annotations

import difflib
import json
import os
import re
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import tomli_w
import typer

from tacit.cli import arguments as shared
from tacit.cli.failures import Mistake
from tacit.whole_files import read_toml, write_text

OF_ONE_RUN = (
    "data", "plan", "save_plan", "model", "report", "certificate", "tape", "adds_to", "dry_run", "force", "progress",
    "as_json",
)  # fmt: skip
"""Arguments that no plan holds."""


def read_plan(context: typer.Context, path: Path | None) -> Path | None:
    """Takes the options in a plan as the defaults of this run; the command line overrides them."""
    if path is None:
        return None
    try:
        options = read_toml(path)
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise typer.BadParameter(f"{path} is not TOML: {error}") from None
    params = [param for param in context.command.params if param.name not in (*OF_ONE_RUN, "help")]
    names = {param.opts[0].removeprefix("--"): param.name for param in params}
    for name in options:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]}?" if near else f"a plan may hold: {', '.join(names)}."
            raise typer.BadParameter(f"{path}: {name!r} is not an option of a plan; {hint}")
    context.default_map = {names[name]: value for name, value in options.items()}
    return path


_PASSWORD = re.compile(r"://[^@]*:[^@]*@|[?&][a-z]*password=", re.IGNORECASE)
"""A password in the URL of a database, before the host or among the options."""


def write_plan(arguments: Any, path: Path) -> None:
    """Writes the options of a fit, as :func:`read_plan` reads them; defaults too, which may change."""
    if _PASSWORD.search(arguments.account or ""):
        raise Mistake(
            "--save-plan: the URL of --account holds a password, which would stand in the plan: leave it out there "
            "(PGPASSWORD or a .pgpass file tells it to PostgreSQL), or leave --save-plan out"
        )
    options: dict[str, Any] = {}
    for field in fields(arguments):
        value = getattr(arguments, field.name)
        if field.name not in OF_ONE_RUN and value is not None and value is not False:
            name = "set" if field.name == "settings" else field.name.replace("_", "-")
            options[name] = str(value) if isinstance(value, Path | Enum) else value
    write_text(path, tomli_w.dumps(options))


@dataclass(frozen=True, kw_only=True)
class FitArguments(shared.CsvArguments, shared.PaidArguments, shared.WritingArguments):
    data: shared.Rows
    target: Annotated[str | None, "Column to predict. Default: the label of the schema."] = None
    schema: shared.SchemaFile = None
    epsilon: shared.Epsilon = 1.0
    delta: shared.Delta = 1e-6
    neighbouring: shared.Relation = shared.ADD_OR_REMOVE_ONE
    unit: shared.UnitColumn = None
    max_rows: shared.MaxRows = None
    learner: shared.Learner = "additive"
    settings: shared.Settings = None
    interactions: shared.Interactions = None
    model: Annotated[Path | None, "Output file for the model (JSON)."] = None
    report: shared.ReportFile = None
    sign: shared.SigningKey = None
    name: shared.DataName = None
    random_state: shared.Seed = None
    classes: Annotated[str | None, "Classes, comma-separated, the positive one last; for a fit without a schema."] = (
        None
    )
    loss: shared.LossOfNumber = None
    quantile: shared.Quantile = None
    target_bounds: Annotated[
        str | None, "Lower and upper bound of a numeric target, e.g. 0,100; for a fit without a schema."
    ] = None
    batches: Annotated[bool, "First of several batches that share no person; the whole series is charged once."] = False
    adds_to: Annotated[
        Path | None, "Extend a model started with --batches by a batch of new people, at no extra charge."
    ] = None
    query: shared.SqlQuery = None
    engine: Annotated[
        Literal["memory", "streamed", "dask"] | None, "Where rows are kept; streamed: in compact files."
    ] = None
    cluster: Annotated[str | None, "Address of a running dask cluster. Default: processes on this machine."] = None
    directory: Annotated[Path | None, "Folder for the compact files; only their owner can read them."] = None
    keep: Annotated[bool, "Keep the compact files for later fits with the same schema."] = False
    tape: shared.TapeFile = None
    dry_run: Annotated[bool, "Show what the fit would charge, without reading a row."] = False
    resumable: Annotated[bool, "Store releases in the account, so that tacit resume can continue after a crash."] = (
        False
    )
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            is_eager=True,
            callback=read_plan,
            help="File of options (TOML, as --save-plan writes it); the command line overrides them.",
        ),
    ] = None
    save_plan: Annotated[Path | None, "Output file for the options of this fit (TOML)."] = None
    progress: shared.Progress = False

    @property
    def path(self) -> Path:
        """The file or folder of the rows, where they are in one."""
        return Path(self.data)

    @property
    def outputs(self) -> dict[str, Path | None]:
        """The files that it writes, by their options."""
        names = ("model", "report", "certificate", "save_plan", "tape")
        return {f"--{name.replace('_', '-')}": getattr(self, name) for name in names}

    @property
    def inputs(self) -> dict[str, str | Path | None]:
        """What it reads."""
        own = {"the data": self.data, "the schema": self.schema, "the key": self.sign, "the plan": self.plan}
        return {**own, "the model of --adds-to": self.adds_to}


def command_of(arguments: FitArguments) -> str:
    """What a command asked for, and where, as JSON that :func:`restored` reads."""
    if arguments.data == "-":
        raise Mistake("--resumable: standard input cannot be read again; give a file")
    if arguments.account is None:
        raise Mistake("--resumable: releases are kept in the store of an account: give --account and --dataset")
    for url in (arguments.data, arguments.account):
        if "://" in url and "@" in url:
            raise Mistake(
                "--resumable keeps the command, and a URL in it may hold a password: begin the fit from Python"
            )
    options = {
        field.name: str(value) if isinstance(value, Path) else value
        for field in fields(arguments)
        if (value := getattr(arguments, field.name)) != field.default
    }
    return json.dumps({"folder": os.getcwd(), "asked": options})  # noqa: PTH109 - as text


def restored(command: str) -> tuple[str, dict[str, Any]]:
    """The folder and the arguments of a command."""
    hints = get_type_hints(FitArguments)
    try:
        options = json.loads(command)
        arguments = {
            name: Path(value) if Path in get_args(hints[name]) and value is not None else value
            for name, value in options["asked"].items()
        }
        return str(options["folder"]), arguments
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Mistake("the budget store is damaged: the command of this fit cannot be read") from None
