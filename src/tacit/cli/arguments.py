"""Arguments that commands share, and how a dataclass of arguments becomes a command: each is written once.

A command is a frozen dataclass, whose fields say what may be given, and a function that takes it.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand

from tacit.cli.failures import guarded
from tacit.cli.learners import LEARNERS

A = TypeVar("A")


def number(text: str | float) -> float:
    """A number as it is written; only ``inf`` itself is infinite, as that means no privacy.

    Raises:
        typer.BadParameter: if it is none.
    """
    written = str(text).strip()
    try:
        value = float(written)
    except ValueError:
        raise typer.BadParameter(f"'{written}' is not a number, such as 0.5. Nothing was spent") from None
    if math.isinf(value) and "inf" not in written.lower():
        raise typer.BadParameter(f"{written} is too large; inf means no noise and no privacy. Nothing was spent")
    return value


Data = Annotated[
    Path,
    typer.Argument(
        help="CSV (also .gz) or Parquet; a folder or a pattern of such files; - reads CSV from standard input."
    ),
]
Rows = Annotated[
    str,
    typer.Argument(
        help="CSV (also .gz) or Parquet; a folder or a pattern of such files; the URL of a data base, with --query. - "
        "reads CSV from standard input."
    ),
]
ModelFile = Annotated[Path, typer.Argument(help="A model file.")]
SchemaFile = Annotated[Path | None, typer.Option("--schema", help="What is public about the columns (TOML).")]
Epsilon = Annotated[
    float,
    typer.Option(
        "--epsilon", parser=number, metavar="FLOAT", help="Privacy budget; inf means no noise and no privacy."
    ),
]
Delta = Annotated[
    float,
    typer.Option("--delta", parser=number, metavar="FLOAT", help="The delta of (epsilon, delta); 0 for pure privacy."),
]
Relation = Annotated[str, typer.Option("--neighbouring", help="add_or_remove_one or replace_one.")]
Learner = Annotated[str, typer.Option("--learner", help=f"One of: {', '.join(LEARNERS)}.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text.")]
Url = Annotated[str, typer.Option("--account", help="URL of a budget account, such as sqlite:///budget.tacit.db.")]
Dataset = Annotated[str, typer.Option("--dataset", help="Name of the data set in the account.")]
AccountUrl = Annotated[str | None, typer.Option("--account", help="Spend from this budget account (a URL).")]
AccountDataset = Annotated[str | None, typer.Option("--dataset", help="Name of the data set in the account.")]
CertificateFile = Annotated[Path | None, typer.Option("--certificate", help="Write the certificate here (JSON).")]
Seed = Annotated[
    int | None, typer.Option("--random-state", help="Makes a run repeatable, and what it makes not releasable.")
]
Progress = Annotated[bool, typer.Option("--progress", help="Say on standard error how far it is, a line a second.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")]
Encoding = Annotated[
    str, typer.Option("--encoding", help="Of a CSV file: utf-8, latin-1, windows-1252 or another that Python knows.")
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        help="Of a CSV file: the separator, such as ; or tab; by default the commonest one in the header.",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        help='Of a CSV file: "," if numbers are written 24,5, "." if 24.5. Required if semicolons separate the cells; '
        'otherwise "." by default.',
    ),
]
Multiline = Annotated[
    bool, typer.Option("--multiline", help="CSV: quoted cells may hold line breaks; by default each ends in its line.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="A parameter of the learner, NAME=VALUE, such as n_trees=50; may be repeated."),
]
Interactions = Annotated[
    str | None, typer.Option("--interactions", help="Of the learner additive: true, pairs (no trees) or false.")
]
LossOfNumber = Annotated[
    str | None,
    typer.Option(
        "--loss", help="Of a number: squared (means) or quantile; of a count or cost: poisson, gamma, tweedie."
    ),
]
Quantile = Annotated[
    float | None, typer.Option("--quantile", help="Which quantile, with --loss quantile; the median if not given.")
]
ReportFile = Annotated[Path | None, typer.Option("--report", help="Write the report here (HTML).")]
SigningKey = Annotated[Path | None, typer.Option("--sign", help="Sign with this private key (see tacit keys new).")]
DataName = Annotated[
    str | None, typer.Option("--name", help="What the data are called; the model and its report remember it.")
]
SqlQuery = Annotated[
    str | None, typer.Option("--query", help="Of a data base: a statement that selects rows, or a table's name.")
]


def command(app: typer.Typer, name: str, arguments: type[A], run: Callable[[A], None]) -> None:
    """Adds a command to an app: its options are the fields of ``arguments``, its help is the docstring of ``run``."""
    hints = get_type_hints(arguments, include_extras=True)
    given = fields(arguments)  # type: ignore[arg-type]

    def invoked(**values: Any) -> None:
        run(arguments(**values))

    invoked.__doc__, invoked.__name__ = run.__doc__, name
    invoked.__annotations__ = {field.name: hints[field.name] for field in given}
    invoked.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=hints[field.name],
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
            )
            for field in given
        ]
    )
    app.command(name, cls=Command)(guarded(invoked))


class Command(TyperCommand):
    """A command that takes no option of its own for the value of another: ``--model --json`` names no file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        own = {name for param in self.params for name in (*param.opts, *param.secondary_opts) if name[:1] == "-"}
        for param in self.params:
            given = ctx.params.get(param.name)
            for value in given if isinstance(given, list | tuple) else [given]:
                if isinstance(value, str | Path) and str(value) in own - {"-"}:
                    ctx.fail(f"{param.opts[0]} needs a value, and {value} is an option: write ./{value} for a file")
        return rest
