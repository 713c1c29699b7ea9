"""Arguments that commands share, how a dataclass of arguments becomes a command, and what is made of common options.

A command is a frozen dataclass, whose fields say what may be given, and a function that takes it.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from tacit.cli.failures import Mistake, guarded
from tacit.cli.learners import LearnerName
from tacit.privacy.unit import Neighbouring

if TYPE_CHECKING:
    from tacit.privacy.account import PrivacyAccount
    from tacit.schema import Schema


def schema_of(path: Path | None, unit: str | None, max_rows: int | None) -> Schema | None:
    """The schema of a file, with the unit of ``--unit`` and ``--max-rows``; None without a file."""
    from tacit.schema import Schema, Unit

    if max_rows is not None and unit is None:
        raise Mistake("--max-rows needs --unit, the column that identifies the protected person")
    if path is None:
        if unit is not None:
            raise Mistake("--unit needs a --schema, which declares the other columns")
        return None
    schema = Schema.from_toml(path)
    if unit is None:
        return schema
    protected = Unit(unit, 1 if max_rows is None else max_rows)
    if schema.unit is not None and schema.unit != protected:
        raise Mistake(
            f"--unit: {path} declares {schema.unit.column!r}, with at most {schema.unit.max_rows} rows: leave "
            "--unit out, or change the schema"
        )
    return replace(schema, unit=protected)


def check_account(url: str | None, dataset: str | None) -> None:
    """Raises :class:`Mistake` if one of the two options that name an account is missing. Opens nothing."""
    if (url is None) != (dataset is None):
        raise Mistake("--account and --dataset belong together: give both or neither")


def account_of(url: str | None, dataset: str | None) -> PrivacyAccount | None:
    """The account that two options name, if they do."""
    check_account(url, dataset)
    if url is None or dataset is None:
        return None
    from tacit.privacy.account import PrivacyAccount

    return PrivacyAccount(url, dataset)


def is_extract(account: str) -> bool:
    """Whether what stands for an account is a file that is no store, as ``tacit budget export`` writes it."""
    try:
        with Path(account).open("rb") as file:
            return not file.read(16).startswith(b"SQLite format 3")
    except OSError:
        return False


def target_column(target: str | None, schema: Schema | None, remembered: str | None = None) -> str:
    """The column to predict: the option's, the schema's, and an error when they differ; or what a model remembers."""
    declared = None if schema is None or schema.label is None else schema.label.column
    declared = declared if target is not None or declared is not None else remembered
    if target is None and declared is None:
        raise Mistake("which column is to be predicted? give --target, or a [label] in the schema")
    if target is not None and declared is not None and target != declared:
        raise Mistake(f"--target is {target!r}, but the schema's label is {declared!r}: they must be the same column")
    return str(target if target is not None else declared)


def listed(text: str | None) -> list[str] | None:
    """The parts of a comma-separated option."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def pair_of(text: str, how: str) -> tuple[float, float]:
    """Two numbers, from ``"1,5"``; ``how`` names the option and says what it takes."""
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError:
        raise Mistake(f"{how}; got {text!r}") from None
    return first, second


A = TypeVar("A")


def number(text: str | float) -> float:
    """A number as it is written; only ``inf`` itself is infinite, as that means no privacy."""
    spelling = str(text).strip()
    try:
        value = float(spelling)
    except ValueError:
        raise typer.BadParameter(f"'{spelling}' is not a number, such as 0.5") from None
    if math.isinf(value) and "inf" not in spelling.lower():
        raise typer.BadParameter(f"{spelling} is too large; inf means no noise and no privacy")
    return value


Data = Annotated[
    Path, "CSV (also .gz) or Parquet; a folder or a glob pattern of such files; - for CSV on standard input."
]
Rows = Annotated[
    str,
    "CSV (also .gz) or Parquet; a folder or a glob pattern of such files; a database URL, with --query; - "
    "for CSV on standard input.",
]
ModelFile = Annotated[Path, "A model file."]
SchemaFile = Annotated[Path | None, "Schema file (TOML): the public facts about each column."]
Epsilon = Annotated[
    float,
    typer.Option(
        "--epsilon", parser=number, metavar="FLOAT", help="Privacy budget. inf means no noise and no privacy."
    ),
]
Delta = Annotated[
    float,
    typer.Option(
        "--delta",
        parser=number,
        metavar="FLOAT",
        help="Delta of the (epsilon, delta) guarantee; 0 for pure differential privacy.",
    ),
]
ADD_OR_REMOVE_ONE = Neighbouring.ADD_OR_REMOVE_ONE
Relation = Annotated[Neighbouring, "Neighbouring relation."]
Learner = Annotated[LearnerName, "Learner."]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Url = Annotated[str, typer.Option("--account", help="URL of the budget account, e.g. sqlite:///budget.tacit.db.")]
Dataset = Annotated[str, typer.Option("--dataset", help="Name of the data set in the account.")]
AccountUrl = Annotated[str | None, "URL of the budget account that pays."]
AccountDataset = Annotated[str | None, "Name of the data set in the account."]
TapeFile = Annotated[Path | None, "Record the questions and released integers, for tacit verify --tape."]
CertificateFile = Annotated[Path | None, "Output file for the certificate (JSON)."]
Seed = Annotated[int | None, "Random seed. Makes the run reproducible, so its output must not be published."]
Progress = Annotated[bool, "Print progress to stderr, one line per second."]
Beside = Annotated[Path | None, typer.Option("--output", "-o", help="Output file. Default: beside the model.")]
Meta = Annotated[Path | None, "Facts that only a person knows (TOML): controller, purpose, contact, ..."]
Evaluation = Annotated[Path | None, "Output of tacit evaluate --json."]
Force = Annotated[bool, "Overwrite existing output files."]
Encoding = Annotated[str, "CSV encoding, e.g. utf-8, latin-1, windows-1252."]
Delimiter = Annotated[str | None, "CSV separator, e.g. ; or tab. Default: the most frequent one in the header."]
Decimal = Annotated[
    str | None,
    'Decimal mark of a CSV file: "," for 24,5 or "." for 24.5. Default: "."; required for files with semicolons.',
]
Multiline = Annotated[bool, "CSV: quoted cells may hold line breaks; by default each ends in its line."]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Set a parameter of the learner, NAME=VALUE, e.g. n_trees=50. Repeatable."),
]
Interactions = Annotated[
    Literal["true", "pairs", "false"] | None, "Interactions of the learner additive; pairs: no trees."
]
LossOfNumber = Annotated[
    Literal["squared", "quantile", "poisson", "gamma", "tweedie"] | None,
    "Loss of a numeric target: squared (default) or quantile; of counts and costs: poisson, gamma, tweedie.",
]
Quantile = Annotated[float | None, "Quantile to predict with --loss quantile. Default: the median."]
UnitColumn = Annotated[str | None, "Column that identifies the protected person. Default: every row is one."]
MaxRows = Annotated[int | None, "With --unit: maximum number of rows per person (default 1); others are dropped."]
ReportFile = Annotated[Path | None, "Output file for the report (HTML)."]
SigningKey = Annotated[Path | None, "Private key to sign the certificate with (see tacit keys new)."]
DataName = Annotated[str | None, "Name of the data set, recorded in the model and the report."]
SqlQuery = Annotated[str | None, "With a database URL: a SELECT statement or the name of a table."]


@dataclass(frozen=True, kw_only=True)
class JsonArguments:
    """Of a command that speaks to people or to machines."""

    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class WritingArguments(JsonArguments):
    """Of a command that writes files."""

    force: Force = False


@dataclass(frozen=True, kw_only=True)
class PaidArguments:
    """Of a command that spends, from an account if there is one, and certifies it."""

    certificate: CertificateFile = None
    account: AccountUrl = None
    dataset: AccountDataset = None


@dataclass(frozen=True, kw_only=True)
class CsvArguments:
    """How CSV files are written. The defaults are usual."""

    encoding: Encoding = "utf-8"
    delimiter: Delimiter = None
    decimal: Decimal = None
    multiline: Multiline = False

    def csv(self) -> dict[str, Any]:
        """The same as arguments of :func:`tacit.read_source`."""
        return {field.name: getattr(self, field.name) for field in fields(CsvArguments)}

    def csv_words(self) -> list[str]:
        """The same as words of a command, without what is usual."""
        changed = {f.name: value for f in fields(CsvArguments) if (value := getattr(self, f.name)) != f.default}
        return [word for name, value in changed.items() for word in (f"--{name}", *([] if value is True else [value]))]


@dataclass(frozen=True, kw_only=True)
class RowArguments(CsvArguments):
    """Rows in files or in a database."""

    data: Rows
    query: SqlQuery = None


def _with_help(hint: Any, field: Field[Any]) -> Any:
    """The annotation of a field as typer takes it, where it is a type and a help text alone.

    It is an argument, or, where there is a default, the option that the name of the field says.
    """
    kind, *rest = get_args(hint)
    if not rest or not isinstance(rest[0], str):
        return hint
    if field.default is MISSING:
        return Annotated[kind, typer.Argument(help=rest[0])]
    return Annotated[kind, typer.Option(f"--{field.name.replace('_', '-')}", help=rest[0])]


def command(app: typer.Typer, name: str, arguments: type[A], run: Callable[[A], None], spends: bool = False) -> None:
    """Adds a command to an app: its options are the fields of ``arguments``, its help is the docstring of ``run``.

    Those that it inherits stand last. Of a command that ``spends``, or speaks of a fit that would, errors say what was
    spent.
    """
    hints = get_type_hints(arguments, include_extras=True)
    options = sorted(fields(arguments), key=lambda field: field.name not in arguments.__annotations__)  # type: ignore[arg-type]
    hints |= {field.name: _with_help(hints[field.name], field) for field in options}

    def invoked(**values: Any) -> None:
        run(arguments(**values))

    invoked.__doc__, invoked.__name__ = run.__doc__, name
    invoked.__annotations__ = {field.name: hints[field.name] for field in options}
    invoked.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=hints[field.name],
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
            )
            for field in options
        ]
    )
    app.command(name, cls=SpendingCommand if spends else Command)(guarded(invoked, spends))


class Command(TyperCommand):
    """A command that takes no option of its own for the value of another: ``--model --json`` names no file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        own = {name for param in self.params for name in (*param.opts, *param.secondary_opts) if name[:1] == "-"}
        for param in self.params:
            option_value = ctx.params.get(param.name)
            for value in option_value if isinstance(option_value, list | tuple) else [option_value]:
                if isinstance(value, str | Path) and str(value) in own - {"-"}:
                    ctx.fail(f"{param.opts[0]} needs a value, and {value} is an option: write ./{value} for a file")
        return rest


class SpendingCommand(Command):
    """One that may spend, or speaks of a fit that would."""
