"""The command `tacit`. Options and help only: what a command does is in its own module, imported when it runs."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import check, schema_commands
from tacit.cli.failures import Mistake, guarded
from tacit.cli.learners import LEARNERS
from tacit.cli.options import refuse_given

app = typer.Typer(
    name="tacit",
    help="Differentially private learning on tables, with a privacy claim that can be checked.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a traceback with locals would print rows
    context_settings={"help_option_names": ["-h", "--help"]},
)
budget = typer.Typer(name="budget", help="Budget accounts on disk: several fits share one.", no_args_is_help=True)
app.add_typer(budget)
app.add_typer(schema_commands.app, name="schema")

COLLECTED_FROM = 200_000
"""New objects from which Python looks for cycles among them."""

Data = Annotated[Path, typer.Argument(help="CSV (also .gz) or Parquet.")]
ModelFile = Annotated[Path, typer.Argument(help="A model file.")]
SchemaFile = Annotated[Path | None, typer.Option("--schema", help="What is public about the columns (TOML).")]
Epsilon = Annotated[float, typer.Option("--epsilon", help="Privacy budget; inf means no noise and no privacy.")]
Delta = Annotated[float, typer.Option("--delta", help="Slack added to the bound of epsilon; 0 for pure privacy.")]
Relation = Annotated[str, typer.Option("--neighbouring", help="add_or_remove_one or replace_one.")]
Learner = Annotated[str, typer.Option("--learner", help=f"One of: {', '.join(LEARNERS)}.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text.")]
Url = Annotated[str, typer.Option("--account", help="URL of a budget account, such as sqlite:///budget.tacit.db.")]
Dataset = Annotated[str, typer.Option("--dataset", help="Name of the data set in the account.")]


def version(wanted: bool) -> None:
    """Prints the version and ends."""
    if wanted:
        from importlib.metadata import version as installed

        typer.echo(f"tacit {installed('tacit')}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Differentially private learning on tables, with a privacy claim that can be checked."""


@app.command()
@guarded
def fit(
    data: Data,
    target: Annotated[
        str | None, typer.Option("--target", help="Column to predict; by default the schema's label.")
    ] = None,
    schema: SchemaFile = None,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    neighbouring: Relation = "add_or_remove_one",
    learner: Learner = "additive",
    model: Annotated[Path | None, typer.Option("--model", help="Write the model here (JSON).")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Write the report here (HTML).")] = None,
    certificate: Annotated[
        Path | None, typer.Option("--certificate", help="Write the certificate here (JSON).")
    ] = None,
    account: Annotated[str | None, typer.Option("--account", help="Spend from this budget account (a URL).")] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", help="Name of the data set in the account.")] = None,
    random_state: Annotated[
        int | None, typer.Option("--random-state", help="Makes a run repeatable, and its model not releasable.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option("--classes", help="Without a schema: the classes, comma-separated, positive one last.")
    ] = None,
    loss: Annotated[
        str | None, typer.Option("--loss", help="For a target that is a number: squared (means) or quantile.")
    ] = None,
    quantile: Annotated[
        float | None, typer.Option("--quantile", help="Which quantile, with --loss quantile; the median if not given.")
    ] = None,
    target_bounds: Annotated[
        str | None, typer.Option("--target-bounds", help="Bounds of such a target, such as 0,100, without a schema.")
    ] = None,
    batches: Annotated[
        bool, typer.Option("--batches", help="The first batch of several, of other persons each: one charge for all.")
    ] = False,
    adds_to: Annotated[
        Path | None,
        typer.Option("--adds-to", help="A model begun with --batches: learn from new persons too, at no new charge."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be charged; read no row.")] = False,
    as_json: Json = False,
) -> None:
    """Learn a private model from a table: of classes, or of a number."""
    from tacit.cli.fit import FitArguments, run

    arguments = FitArguments(
        data=data, target=target, schema=schema, epsilon=epsilon, delta=delta, neighbouring=neighbouring,
        learner=learner, model=model, report=report, certificate=certificate, account=account, dataset=dataset,
        random_state=random_state, classes=classes, loss=loss, quantile=quantile, target_bounds=target_bounds,
        dry_run=dry_run, as_json=as_json, batches=batches, adds_to=adds_to,
    )  # fmt: skip
    run(arguments)


@app.command()
@guarded
def predict(
    model: ModelFile,
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write predictions here (CSV).")],
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Of two classes, predict the positive one from this probability."),
    ] = None,
    cost: Annotated[
        str | None, typer.Option("--cost", help="Or by the cost of a false positive and a false negative: 1,5.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Predict classes with probabilities, or numbers, for new rows."""
    from tacit.cli.use import predict as run

    run(model, data, output, as_json, threshold, cost)


@app.command()
@guarded
def evaluate(
    model: ModelFile,
    data: Data,
    epsilon: Annotated[float, typer.Option("--epsilon", help="Privacy to spend on this evaluation.")],
    target: Annotated[
        str | None, typer.Option("--target", help="Column with the truth; by default the schema's label.")
    ] = None,
    schema: SchemaFile = None,
    delta: Delta = 1e-6,
    neighbouring: Relation = "add_or_remove_one",
    threshold: Annotated[float, typer.Option("--threshold", help="Probability that counts as positive.")] = 0.5,
    cost: Annotated[
        str | None, typer.Option("--cost", help="Cost of a false positive and a false negative, such as 1,5.")
    ] = None,
    subgroups: Annotated[str | None, typer.Option("--subgroups", help="Figures by this column, too.")] = None,
    categories: Annotated[
        str | None, typer.Option("--categories", help="Its values, comma-separated, unless schema or model have them.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option("--certificate", help="Write the certificate here (JSON).")
    ] = None,
    account: Annotated[str | None, typer.Option("--account", help="Spend from this budget account (a URL).")] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", help="Name of the data set in the account.")] = None,
    random_state: Annotated[
        int | None, typer.Option("--random-state", help="Makes a run repeatable, and not releasable.")
    ] = None,
    metrics: Annotated[
        str | None, typer.Option("--metrics", help="Which figures, comma-separated: auc,log_loss or mae,r2,pinball ...")
    ] = None,
    quantile: Annotated[
        float | None, typer.Option("--quantile", help="Of a number: which quantile the pinball loss is about.")
    ] = None,
    error_clip: Annotated[
        float | None, typer.Option("--error-clip", help="Of a number: larger errors count as this large.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say how good a model is on private rows it was not made from, with intervals, for one charge."""
    from tacit.cli.evaluate import EvaluateArguments, run

    arguments = EvaluateArguments(
        model=model, data=data, target=target, schema=schema, epsilon=epsilon, delta=delta, neighbouring=neighbouring,
        threshold=threshold, cost=cost, subgroups=subgroups, categories=categories, certificate=certificate,
        account=account, dataset=dataset, random_state=random_state, as_json=as_json, metrics=metrics,
        quantile=quantile, error_clip=error_clip,
    )  # fmt: skip
    run(arguments)


@app.command()
@guarded
def report(
    model: ModelFile,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write; by default beside the model.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Heading of the page.")] = None,
) -> None:
    """Write the report of a model: one page that opens offline."""
    from tacit.cli.use import report as run

    run(model, output, title)


@app.command()
@guarded
def verify(
    file: Annotated[Path, typer.Argument(help="A certificate, or a model with one.")], as_json: Json = False
) -> None:
    """Account for a certificate again and say whether its claim holds."""
    from tacit.cli.use import verify as run

    run(file, as_json)


@app.command()
@guarded
def plan(
    context: typer.Context,
    schema: SchemaFile = None,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    neighbouring: Relation = "add_or_remove_one",
    learner: Learner = "additive",
    margin: Annotated[
        float | None, typer.Option(help="Ask instead what a halfspace of this margin can be expected to do.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="What this many rows can be expected to teach; give a public number.")
    ] = None,
    error: Annotated[float | None, typer.Option(help="With --margin: how many rows does this error take?")] = None,
    dimension: Annotated[int, typer.Option(help="With --margin: number of coordinates.")] = 100,
    repeats: Annotated[int, typer.Option(help="With --margin: synthetic tables per simulated figure.")] = 3,
    plot: Annotated[Path | None, typer.Option(help="With --margin: draw error against rows (SVG).")] = None,
    as_json: Json = False,
) -> None:
    """Show what a budget would buy, without any data."""
    if margin is None:
        refuse_given(context, ("error", "dimension", "repeats", "plot"), "say something with --margin only")
    else:
        refuse_given(context, ("schema", "learner"), "have no meaning with --margin, which is about a halfspace")
        if neighbouring != "add_or_remove_one":
            raise Mistake("--margin is answered for --neighbouring add_or_remove_one only")
        from tacit.cli.expect import run as expect

        expect(margin, dimension, rows, error, epsilon, delta, repeats, plot, as_json)
        return
    from tacit.cli.plan import run

    run(schema, epsilon, delta, neighbouring, learner, rows, as_json)


@app.command()
@guarded
def audit(
    schema: SchemaFile = None,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    neighbouring: Relation = "add_or_remove_one",
    learner: Learner = "additive",
    trials: Annotated[int, typer.Option("--trials", help="Fits to each of two synthetic tables.")] = 300,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the bounds, between 0 and 1.")] = 0.95,
    random_state: Annotated[int | None, typer.Option("--random-state", help="Makes an audit repeatable.")] = None,
    as_json: Json = False,
) -> None:
    """Attack a learner on synthetic tables: what epsilon has it at least? Exit code 1 if that is more than claimed."""
    from tacit.cli.audit import run

    run(schema, epsilon, delta, neighbouring, learner, trials, confidence, random_state, as_json)


@app.command()
@guarded
def demo(
    folder: Annotated[Path, typer.Option("--folder", help="Where to write.")] = Path("demo"),
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    as_json: Json = False,
) -> None:
    """Learn from a real survey (6,366 women, 1974), with and without privacy, and compare."""
    from tacit.cli.demo import run

    run(folder, epsilon, delta, as_json)


app.command(name="check")(guarded(check.check))


@budget.command("create")
@guarded
def budget_create(
    account: Url, dataset: Dataset, epsilon: Epsilon, delta: Delta, neighbouring: Relation = "add_or_remove_one",
    as_json: Json = False,
) -> None:  # fmt: skip
    """Open an account: all fits on one data set, together, may spend this much."""
    from tacit.cli.budget import create

    create(account, dataset, epsilon, delta, neighbouring, as_json)


@budget.command("show")
@guarded
def budget_show(account: Url, dataset: Dataset, as_json: Json = False) -> None:
    """Show what an account has spent, what remains, and on what."""
    from tacit.cli.budget import show

    show(account, dataset, as_json)


def main() -> None:
    """The entry point: runs the command and ends the process at once.

    A command is short. Looking for cycles among the objects that modules are made of, and taking all of them down at
    the end, would take a fifth of a fit of a small table; what must outlive the process is on disk by then.
    """
    gc.set_threshold(COLLECTED_FROM)
    for stream in (sys.stdout, sys.stderr):  # a character that a terminal lacks must not hide what was paid for
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    else:
        code = 0
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # a reader that has gone, or a stream that was closed
            stream.flush()
    os._exit(code)
