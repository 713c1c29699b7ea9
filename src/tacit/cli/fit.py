"""`tacit fit`: from a table to a private model, its certificate and its report."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from tacit.cli.arguments import account_of, check_account, listed, schema_of, target_column
from tacit.cli.console import progress, stopwatch, watching
from tacit.cli.failures import Mistake
from tacit.cli.files import check_outputs, free_place, refuse_overwriting
from tacit.cli.fit_arguments import FitArguments, command_of, write_plan
from tacit.cli.fitted import dry_run, summarise
from tacit.cli.learners import batchwise_class, learner_class, set_parameters
from tacit.cli.tables import csv_options, is_many, rows_of, training_table
from tacit.errors import STANDS
from tacit.whole_files import write_text

if TYPE_CHECKING:
    from tacit.schema import Schema


def from_table(asked: FitArguments) -> None:
    """Train a private classifier or regressor on a table."""
    run(asked)


def run(asked: FitArguments, sites: Any = None, resume: int | None = None) -> None:
    """A fit, to a table or to sites; ``resume``: the number of one that goes on."""
    seconds = stopwatch()
    _check_outputs(asked)
    if asked.save_plan is not None:
        write_plan(asked, asked.save_plan)
    schema = schema_of(asked.schema, asked.unit, asked.max_rows)
    in_batches = asked.batches or asked.adds_to is not None
    learner = _batchwise(asked, schema) if in_batches else _estimator(asked, schema)
    estimator = learner.estimator if in_batches else learner
    target = target_column(asked.target, schema)
    _check_classes(asked, schema, estimator)
    source = _source_of(asked, schema) if sites is None else sites
    if asked.dry_run:
        dry_run(asked, estimator, target, discovers(asked, estimator), schema, source)
        return
    if asked.batches and asked.account is None:
        raise Mistake(
            "--batches: later batches are refused without an account, so that none is learned from twice: give "
            "--account and --dataset, or leave --batches out"
        )
    key = _key(asked)
    account = estimator.account
    with nullcontext() if account is None else account.closing_at_the_end():
        recorded = _learn(asked, learner, (schema, target), source, sites, resume)
        learner.certificate_ = learner.certificate_.named(target, asked.name)
        written = _write(asked, learner, key, recorded)
    summarise(asked, learner, schema, written, seconds(), discovers(asked, learner))


def _learn(
    asked: FitArguments, learner: Any, about: tuple[Schema | None, str], source: Any, sites: Any, resume: int | None
) -> dict[str, Any]:
    """The fit itself; ``about``: the schema, and the column to predict. Returns its ``"tape"``, if there is one."""
    from tacit.curator.options import options

    (schema, target), batchwise, tape = about, hasattr(learner, "estimator"), _tape(asked)
    command = command_of(asked) if asked.resumable and resume is None else False
    with (
        progress(asked.path.name, quiet=asked.as_json) as tell,
        options(progress=watching(tell, asked.progress), resumable=command, resume=resume),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", UserWarning)  # the summary says the same in its own place
        if source is not None:
            _tell_of(sites, tell, asked.progress)
            learner.fit(source, **tape)
            return tape
        with rows_of(asked.path, asked) as (data, csv):
            number = predicts_numbers(asked, schema)
            untyped = discovers(asked, learner.estimator if batchwise else learner)
            frame, labels = training_table(data, target, schema, tell, not untyped, number, csv)
            tell("learning")
            (learner.partial_fit if batchwise else learner.fit)(frame, labels, **tape)
    return tape


def _tape(asked: FitArguments) -> dict[str, Any]:
    """A tape to record the fit on, if one is asked for: it is written beside the model."""
    if asked.tape is None:
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


def _is_source(asked: FitArguments, schema: Schema | None) -> bool:
    """Whether rows are read in chunks: where there may be many files, no file, or an option says so."""
    if "://" in asked.data or asked.query is not None or asked.engine is not None:
        return True
    return is_many(asked.path) and (schema is None or schema.unit is None)  # units are protected in memory alone


def _source_of(asked: FitArguments, schema: Schema | None) -> Any:
    """The rows that are read in chunks; None for a file that is read into memory.

    Raises:
        Mistake: for options that say nothing here.
        DataError: if there is nothing to read.
    """
    if not _is_source(asked, schema):
        if asked.directory is not None or asked.keep:
            raise Mistake("--directory and --keep are for rows that stay on disk: add --engine streamed")
        if asked.cluster is not None:
            raise Mistake("--cluster is where --engine dask runs: add that")
        return None
    if schema is None:
        raise Mistake(
            f"{asked.data} is read in chunks, and needs a --schema: nothing about its columns may come from its rows"
        )
    if asked.batches or asked.adds_to is not None:
        raise Mistake("--batches and --adds-to learn from files in memory: give one file")
    from tacit.encoding.source import read_source

    return read_source(
        asked.data,
        query=asked.query,
        engine=asked.engine or "streamed",
        directory=asked.directory,
        keep=asked.keep,
        cluster=asked.cluster,
        **csv_options(asked),
    )


def _check_outputs(asked: FitArguments) -> None:
    if asked.model is None and asked.certificate is None and asked.report is None and not asked.dry_run:
        raise Mistake("a fit spends budget and would leave nothing behind: give --model OUT.json (or --dry-run)")
    outputs = {
        "--model": asked.model,
        "--report": asked.report,
        "--certificate": asked.certificate,
        "--save-plan": asked.save_plan,
        "--tape": asked.tape,
    }
    inputs = {"the data": asked.path, "the schema": asked.schema, "the key": asked.sign}
    check_outputs(outputs, inputs, asked.account)
    if not asked.dry_run and asked.model != asked.adds_to:  # batches may go on in the file that they are kept in
        refuse_overwriting({"--model": asked.model, "--tape": asked.tape}, asked.force)
    if asked.tape is not None and (asked.batches or asked.adds_to is not None):
        raise Mistake("--tape records one fit, and batches are one each: record a fit without --batches and --adds-to")
    check_account(asked.account, asked.dataset)


def _key(asked: FitArguments) -> Any:
    """The key to sign with, read before anything is spent."""
    if asked.sign is None:
        return None
    from tacit.privacy.signatures import read_private_key

    return read_private_key(asked.sign)


def predicts_numbers(asked: FitArguments, schema: Schema | None) -> bool:
    """Whether the label is a number: the schema says so, or an option that makes sense for nothing else."""
    declared = schema is not None and schema.label is not None and schema.label.is_numeric
    return declared or asked.loss is not None or asked.target_bounds is not None


def _target_bounds(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        lower, upper = (float(part) for part in text.split(","))
    except ValueError:
        raise Mistake(f"--target-bounds: give the lower and the upper bound, such as 0,100; got {text!r}") from None
    return lower, upper


def _batchwise(asked: FitArguments, schema: Schema | None) -> Any:
    """What learns in batches: anew, or going on from a file."""
    outer, inner = batchwise_class(asked.learner, predicts_numbers(asked, schema))
    learner = outer(_estimator(asked, schema, inner))
    if asked.adds_to is None:
        return learner
    from tacit.models.files import load_model
    from tacit.privacy.certificate import Certificate

    model, written = load_model(asked.adds_to)
    if written is None:
        raise Mistake(f"--adds-to: {asked.adds_to} holds no certificate, so nobody knows what was charged for it")
    return learner.resume(model, Certificate.from_dict(written))


def _estimator(asked: FitArguments, schema: Schema | None, cls: Any = None) -> Any:
    numbers = predicts_numbers(asked, schema)
    cls = cls or learner_class(asked.learner, numbers)
    _check_label_options(asked, schema, numbers)
    return cls(
        epsilon=asked.epsilon,
        delta=asked.delta,
        neighbouring=asked.neighbouring,
        schema=schema,
        account=account_of(asked.account, asked.dataset),
        random_state=asked.random_state,
        **{**_of_label(asked, numbers), **set_parameters(cls, asked.settings, asked.interactions)},
    )


def _check_label_options(asked: FitArguments, schema: Schema | None, numbers: bool) -> None:
    """Raises for options about the label that would be ignored."""
    if numbers and asked.classes is not None:
        raise Mistake("--classes is for labels that are classes, and the label is a number")
    declared = None if schema is None else schema.label
    for option, given in (("--classes", asked.classes), ("--target-bounds", asked.target_bounds)):
        if given is not None and declared is not None:
            raise Mistake(
                f"{option} is for a label that no schema declares, and {asked.schema} declares it: leave it out"
            )
    if asked.quantile is not None and asked.loss != "quantile":
        raise Mistake("--quantile is for --loss quantile, which learns a quantile of a number: give both")


def _check_classes(asked: FitArguments, schema: Schema | None, estimator: Any) -> None:
    """Raises where nobody says which classes there are: a file does not, and rows of others would not count."""
    declared = asked.classes is not None or (schema is not None and schema.label is not None)
    if declared or predicts_numbers(asked, schema) or discovers(asked, estimator):
        return
    why = f"the learner {asked.learner} finds no classes"
    if finds(estimator):
        why = "finding classes takes a delta"
    raise Mistake(
        f"{why}: name them, the positive one last, such as --classes no,yes (or 0,1), or in a [label] of a schema"
    )


def _of_label(asked: FitArguments, numbers: bool) -> dict[str, Any]:
    if not numbers:
        return {"classes": listed(asked.classes)}
    bounds = _target_bounds(asked.target_bounds)
    return {
        "loss": asked.loss or "squared",
        "quantile": 0.5 if asked.quantile is None else asked.quantile,
        "target_bounds": bounds,
    }


def discovers(asked: FitArguments, estimator: Any) -> bool:
    """Whether the fit itself finds out what columns hold: it takes a learner that does, and a delta."""
    return finds(estimator) and (asked.delta > 0 or math.isinf(asked.epsilon))


def finds(estimator: Any) -> bool:
    """Whether a learner can find out what columns hold."""
    from tacit.estimators.base import request_of

    return hasattr(estimator, "make_learner") and bool(estimator.make_learner(request_of(estimator)).discovers)


def _write(asked: FitArguments, estimator: Any, key: Any, recorded: dict[str, Any]) -> dict[str, str]:
    """Writes model, tape, certificate and report, signed if there is a key; a failure says that the budget is gone."""
    if key is not None:
        _sign(estimator, key)
    certificate = estimator.certificate_
    written: dict[str, str] = {}
    try:
        if asked.model is not None:
            from tacit.estimators.files import save

            place = asked.model if asked.force or asked.model == asked.adds_to else free_place(asked.model)
            save(estimator, place)
            written["model"] = str(place)
        if asked.tape is not None:
            place = asked.tape if asked.force else free_place(asked.tape)
            recorded["tape"].write(place)
            written["tape"] = str(place)
        if asked.certificate is not None:
            write_text(asked.certificate, certificate.to_json())
            written["certificate"] = str(asked.certificate)
        if asked.report is not None:
            from tacit.report.page import render

            schema = getattr(estimator, "schema_", None)
            page = render(estimator.model_, certificate.to_dict(), schema=schema)
            write_text(asked.report, page, private=not certificate.releasable)
            written["report"] = str(asked.report)
    except OSError as error:
        there = ", ".join(written.values()) or "nothing"
        raise Mistake(
            f"{error.filename or 'a file'}: {error.strerror or error}. The fit was done and its budget (epsilon "
            f"{asked.epsilon:g}) is spent; written so far: {there}",
            STANDS,
        ) from error
    return written


def _sign(estimator: Any, key: Any) -> None:
    """Signs the certificate, and writes a line about it into the account, if there is one."""
    estimator.certificate_ = estimator.certificate_.signed(key)
    account = getattr(getattr(estimator, "estimator", estimator), "account", None)
    if account is not None:
        schema = getattr(estimator, "schema_", None)
        account.note(estimator.certificate_.transparency_line, None if schema is None else schema.unit)
