"""`tacit fit` and `tacit resume`: from a table to a private model, its certificate and its report."""

from __future__ import annotations

import contextlib
import math
import sys
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import arguments as shared
from tacit.cli import tables
from tacit.cli.arguments import account_of, check_account, listed, pair_of, schema_of, target_column
from tacit.cli.console import as_json, progress, stopwatch, table, watching
from tacit.cli.failures import Mistake, together
from tacit.cli.fit_arguments import FitArguments, command_of, restored, write_plan
from tacit.cli.fitted import dry_run, summarise
from tacit.cli.learners import batchwise_class, check_request, learner_class, set_parameters
from tacit.cli.outputs import check_outputs, write_paid
from tacit.whole_files import write_text

if TYPE_CHECKING:
    from tacit.privacy.kept_releases import Kept
    from tacit.schema import Schema


def run(arguments: FitArguments, sites: Any = None, resume: int | None = None) -> None:
    """Train a private classifier or regressor on a table."""  # or at sites; resume: the number of a fit that goes on
    seconds = stopwatch()
    read_schema = partial(schema_of, arguments.schema, arguments.unit, arguments.max_rows)
    _, schema, _, key = together(
        lambda: _check_outputs(arguments),
        lambda: check_request(arguments, read_schema, partial(predicts_numbers, arguments)),
        lambda: None if sites is not None else tables.check_there(arguments.data),
        lambda: _key(arguments),
    )
    if arguments.save_plan is not None:
        write_plan(arguments, arguments.save_plan)
    in_batches = arguments.batches or arguments.adds_to is not None
    learner = _batchwise(arguments, schema) if in_batches else _estimator(arguments, schema)
    estimator = learner.estimator if in_batches else learner
    target = target_column(arguments.target, schema)
    _check_classes(arguments, schema, estimator)
    source = _source_of(arguments, schema) if sites is None else sites
    if arguments.dry_run:
        dry_run(arguments, estimator, target, discovers(arguments, estimator), schema, source)
        return
    if arguments.batches and arguments.account is None:
        raise Mistake(
            "--batches: later batches are refused without an account, so that none is learned from twice: give "
            "--account and --dataset, or leave --batches out"
        )
    account = estimator.account
    with nullcontext() if account is None else account.closing_at_the_end():
        recorded = _learn(arguments, learner, (schema, target), source, sites, resume)
        learner.certificate_ = learner.certificate_.named(target, arguments.name)
        files = _write(arguments, learner, key, recorded)
    summarise(arguments, learner, schema, files, seconds(), discovers(arguments, learner))


def _learn(
    arguments: FitArguments, learner: Any, about: tuple[Schema | None, str], source: Any, sites: Any, resume: int | None
) -> dict[str, Any]:
    """The fit itself; ``about``: the schema, and the column to predict. Returns its ``"tape"``, if there is one."""
    from tacit.curator.options import options

    (schema, target), batchwise, tape = about, hasattr(learner, "estimator"), _tape(arguments)
    command = command_of(arguments) if arguments.resumable and resume is None else False
    with (
        progress(arguments.path.name, quiet=arguments.as_json) as tell,
        options(progress=watching(tell, arguments.progress), resumable=command, resume=resume),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", UserWarning)  # the summary says the same in its own place
        if source is not None:
            _tell_of(sites, tell, arguments.progress)
            learner.fit(source, **tape)
            return tape
        with tables.rows_of(arguments.path, arguments) as (data, csv):
            number = predicts_numbers(arguments, schema)
            untyped = discovers(arguments, learner.estimator if batchwise else learner)
            frame, labels = tables.training_table(data, target, schema, tell, not untyped, number, csv)
            tell("learning")
            (learner.partial_fit if batchwise else learner.fit)(frame, labels, **tape)
    return tape


def _tape(arguments: FitArguments) -> dict[str, Any]:
    """A tape to record the fit on, if one is asked for: it is written beside the model."""
    if arguments.tape is None:
        return {}
    from tacit.learning.tapes import Taping

    return {"tape": Taping()}


def _tell_of(sites: Any, tell: Callable[[str], None], lines: bool) -> None:
    """What a fit to a source, or to sites, begins with."""
    words = "reading" if sites is None else f"waiting for {', '.join(sites.parties.sites)}"
    tell(f"{words}, then learning")
    if lines and sites is not None:
        sys.stderr.write(f"{words}\n")
        sys.stderr.flush()


def _is_source(arguments: FitArguments, schema: Schema | None) -> bool:
    """Whether rows are read in chunks: where there may be many files, no file, or an option says so."""
    if "://" in arguments.data or arguments.query is not None or arguments.engine is not None:
        return True
    in_memory = schema is not None and schema.unit is not None  # where alone units are protected
    return tables.is_many(arguments.path) and not in_memory


def _source_of(arguments: FitArguments, schema: Schema | None) -> Any:
    """The rows that are read in chunks; None for a file that is read into memory."""
    if not _is_source(arguments, schema):
        if arguments.directory is not None or arguments.keep:
            raise Mistake("--directory and --keep are for rows that stay on disk: add --engine streamed")
        if arguments.cluster is not None:
            raise Mistake("--cluster is where --engine dask runs: add that")
        return None
    if schema is None:
        raise Mistake(
            f"{arguments.data} is read in chunks, and needs a --schema: nothing about its columns may come from "
            "its rows"
        )
    if arguments.batches or arguments.adds_to is not None:
        raise Mistake("--batches and --adds-to learn from files in memory: give one file")
    from tacit.encoding.source import read_source

    return read_source(
        arguments.data,
        query=arguments.query,
        engine=arguments.engine or "streamed",
        directory=arguments.directory,
        keep=arguments.keep,
        cluster=arguments.cluster,
        **arguments.csv(),
    )


def _check_outputs(arguments: FitArguments) -> None:
    if arguments.model is None and arguments.certificate is None and arguments.report is None and not arguments.dry_run:
        raise Mistake("a fit spends budget and would leave nothing behind: give --model OUT.json (or --dry-run)")
    outputs, inputs = arguments.outputs, arguments.inputs
    if _goes_on(arguments):  # batches may stay in the file that they are kept in
        check_outputs({"--model": outputs.pop("--model")}, {}, force=True)
    check_outputs(outputs, inputs, arguments.account, arguments.force or arguments.dry_run)
    check_outputs({"--save-plan": arguments.save_plan}, {}, force=arguments.force)  # which a dry run writes, too
    if arguments.tape is not None:
        from tacit.learning.tapes import check_name

        if arguments.batches or arguments.adds_to is not None:
            raise Mistake("--tape records one fit, and batches are one each: give it without --batches and --adds-to")
        check_name(arguments.tape)
    check_account(arguments.account, arguments.dataset)


def _goes_on(arguments: FitArguments) -> bool:
    """Whether the model goes where the batches before are."""
    places = arguments.model, arguments.adds_to
    return all(places) and len({path.resolve() for path in places if path is not None}) == 1


def _key(arguments: FitArguments) -> Any:
    """The key to sign with, read before anything is spent."""
    if arguments.sign is None:
        return None
    from tacit.privacy.signatures import read_private_key

    return read_private_key(arguments.sign)


def predicts_numbers(arguments: FitArguments, schema: Schema | None) -> bool:
    """Whether the label is a number: the schema says so, or an option that makes sense for nothing else."""
    declared = schema is not None and schema.label is not None and schema.label.is_numeric
    return declared or arguments.loss is not None or arguments.target_bounds is not None


def _batchwise(arguments: FitArguments, schema: Schema | None) -> Any:
    """What learns in batches: anew, or going on from a file."""
    outer, inner = batchwise_class(arguments.learner, predicts_numbers(arguments, schema))
    learner = outer(_estimator(arguments, schema, inner))
    if arguments.adds_to is None:
        return learner
    from tacit.models.files import load_model
    from tacit.privacy.certificate import Certificate

    model, certificate = load_model(arguments.adds_to)
    if certificate is None:
        raise Mistake(f"--adds-to: {arguments.adds_to} holds no certificate, so nobody knows what was charged for it")
    return learner.resume(model, Certificate.from_dict(certificate))


def _estimator(arguments: FitArguments, schema: Schema | None, cls: Any = None) -> Any:
    numbers = predicts_numbers(arguments, schema)
    cls = cls or learner_class(arguments.learner, numbers)
    _check_label_options(arguments, schema, numbers)
    return cls(
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        neighbouring=arguments.neighbouring,
        schema=schema,
        account=account_of(arguments.account, arguments.dataset),
        random_state=arguments.random_state,
        **{**_of_label(arguments, numbers), **set_parameters(cls, arguments.settings, arguments.interactions)},
    )


def _check_label_options(arguments: FitArguments, schema: Schema | None, numbers: bool) -> None:
    """Raises for options about the label that would be ignored."""
    if numbers and arguments.classes is not None:
        raise Mistake("--classes is for labels that are classes, and the label is a number")
    declared = None if schema is None else schema.label
    for option, value in (("--classes", arguments.classes), ("--target-bounds", arguments.target_bounds)):
        if value is not None and declared is not None:
            raise Mistake(
                f"{option} is for a label that no schema declares, and {arguments.schema} declares it: leave it out"
            )
    if arguments.quantile is not None and arguments.loss != "quantile":
        raise Mistake("--quantile is for --loss quantile, which learns a quantile of a number: give both")


def _check_classes(arguments: FitArguments, schema: Schema | None, estimator: Any) -> None:
    """Raises where nobody says which classes there are: a file does not, and rows of others would not count."""
    declared = arguments.classes is not None or (schema is not None and schema.label is not None)
    if declared or predicts_numbers(arguments, schema) or discovers(arguments, estimator):
        return
    why = f"the learner {arguments.learner} finds no classes"
    if finds(estimator):
        why = "finding classes takes a delta"
    raise Mistake(
        f"{why}: name them, the positive one last, such as --classes no,yes (or 0,1), or in a [label] of a schema"
    )


def _of_label(arguments: FitArguments, numbers: bool) -> dict[str, Any]:
    if not numbers:
        return {"classes": listed(arguments.classes)}
    bounds = arguments.target_bounds
    how = "--target-bounds: give the lower and the upper bound, such as 0,100"
    return {
        "loss": arguments.loss or "squared",
        "quantile": 0.5 if arguments.quantile is None else arguments.quantile,
        "target_bounds": None if bounds is None else pair_of(bounds, how),
    }


def discovers(arguments: FitArguments, estimator: Any) -> bool:
    """Whether the fit itself finds out what columns hold: it takes a learner that does, and a delta."""
    return finds(estimator) and (arguments.delta > 0 or math.isinf(arguments.epsilon))


def finds(estimator: Any) -> bool:
    """Whether a learner can find out what columns hold."""
    from tacit.estimators.base import request_of

    return hasattr(estimator, "make_learner") and bool(estimator.make_learner(request_of(estimator)).discovers)


def _write(arguments: FitArguments, estimator: Any, key: Any, recorded: dict[str, Any]) -> dict[str, str]:
    """Writes model, tape, certificate and report, signed if there is a key; a failure says that the budget is gone."""
    from tacit.estimators.files import save

    if key is not None:
        _sign(estimator, key)
    certificate = estimator.certificate_

    def write_report(place: Path) -> None:
        from tacit.report.page import render

        page = render(estimator.model_, certificate.to_dict(), schema=getattr(estimator, "schema_", None))
        write_text(place, page, private=not certificate.releasable)

    ways: dict[str, Callable[[Path], object]] = {
        "model": lambda place: save(estimator, place),
        **({"tape": recorded["tape"].write} if recorded else {}),
        "certificate": lambda place: write_text(place, certificate.to_json()),
        "report": write_report,
    }
    done = f"The fit was done and its budget (epsilon {arguments.epsilon:g}) is spent"
    return write_paid(arguments, ways, done, "model" if _goes_on(arguments) else "")


def _sign(estimator: Any, key: Any) -> None:
    """Signs the certificate, and writes a line about it into the account, if there is one."""
    estimator.certificate_ = estimator.certificate_.signed(key)
    account = getattr(getattr(estimator, "estimator", estimator), "account", None)
    if account is not None:
        schema = getattr(estimator, "schema_", None)
        account.note(estimator.certificate_.transparency_line, None if schema is None else schema.unit)


@dataclass(frozen=True, kw_only=True)
class ResumeArguments(shared.JsonArguments):
    number: Annotated[
        int | None, typer.Argument(help="Number of the fit to resume. Omit it to list resumable fits.")
    ] = None
    account: shared.Url
    dataset: shared.Dataset
    progress: shared.Progress = False


def resume(options: ResumeArguments) -> None:
    """Continue a fit started with --resumable. Nothing is charged or released twice.

    A fit that has ended is rebuilt from its releases, in case its process was killed before the model was saved.
    """
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
    arguments |= {"progress": options.progress, "as_json": options.as_json, "save_plan": None}
    again = FitArguments(**arguments)
    with contextlib.chdir(folder):
        if again.model is not None and again.model.exists() and not again.force and not _goes_on(again):
            raise Mistake(
                f"{again.model.absolute()} exists; move it away to have the model of fit {options.number} there"
            )
        run(again, resume=options.number)


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
