"""`tacit fit`: from a table to a private model, its certificate and its report."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.console import as_json, charge_words, finite, progress, releasable, spent, stopwatch, table
from tacit.cli.failures import Mistake
from tacit.cli.files import check_outputs, write_text
from tacit.cli.learners import batchwise_class, learner_class
from tacit.cli.options import account_of, check_account, listed, target_column
from tacit.cli.tables import training_table

if TYPE_CHECKING:
    from tacit.schema import Schema

MOST_SHOWN = 6
"""Columns named in the summary."""


@dataclass(frozen=True, kw_only=True)
class FitArguments:
    """What the command line asked for."""

    data: Path
    target: str | None
    schema: Path | None
    epsilon: float
    delta: float
    neighbouring: str
    learner: str
    model: Path | None
    report: Path | None
    certificate: Path | None
    account: str | None
    dataset: str | None
    random_state: int | None
    classes: str | None
    loss: str | None
    quantile: float | None
    target_bounds: str | None
    batches: bool
    adds_to: Path | None
    dry_run: bool
    as_json: bool


def run(arguments: FitArguments) -> None:
    """Learns, writes what was asked for, and says what was spent. Everything that can be checked is checked before."""
    seconds = stopwatch()
    _check_outputs(arguments)
    schema = _schema(arguments)
    in_batches = arguments.batches or arguments.adds_to is not None
    learner = _batchwise(arguments, schema) if in_batches else _estimator(arguments, schema)
    estimator = learner.estimator if in_batches else learner
    target = target_column(arguments.target, schema)
    _check_classes(arguments, schema, estimator)
    if arguments.dry_run:
        _dry_run(arguments, estimator, target)
        return
    with progress(arguments.data.name, quiet=arguments.as_json) as tell:
        numbers = not _discovers(arguments, estimator)
        frame, labels = training_table(
            arguments.data, target, schema, tell, numbers, predicts_numbers(arguments, schema)
        )
        tell("learning")
        (learner.partial_fit if in_batches else learner.fit)(frame, labels)
    written = _write(arguments, learner, target)
    _summary(arguments, learner, written, seconds())


def _check_outputs(arguments: FitArguments) -> None:
    if arguments.model is None and arguments.certificate is None and arguments.report is None and not arguments.dry_run:
        raise Mistake("a fit spends budget and would leave nothing behind: give --model OUT.json (or --dry-run)")
    outputs = {"--model": arguments.model, "--report": arguments.report, "--certificate": arguments.certificate}
    check_outputs(outputs, {"the data": arguments.data, "the schema": arguments.schema}, arguments.account)
    check_account(arguments.account, arguments.dataset)


def _schema(arguments: FitArguments) -> Schema | None:
    if arguments.schema is None:
        return None
    from tacit.schema import Schema

    return Schema.from_toml(arguments.schema)


def predicts_numbers(arguments: FitArguments, schema: Schema | None) -> bool:
    """Whether the label is a number: the schema says so, or an option that makes sense for nothing else."""
    declared = schema is not None and schema.label is not None and schema.label.is_numeric
    return declared or arguments.loss is not None or arguments.target_bounds is not None


def _target_bounds(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        lower, upper = (float(part) for part in text.split(","))
    except ValueError:
        raise Mistake(f"--target-bounds: give the lower and the upper bound, such as 0,100; got {text!r}") from None
    return lower, upper


def _batchwise(arguments: FitArguments, schema: Schema | None) -> Any:
    """What learns in batches: anew, or going on from a file."""
    outer, inner = batchwise_class(arguments.learner, predicts_numbers(arguments, schema))
    learner = outer(_estimator(arguments, schema, inner))
    if arguments.adds_to is None:
        return learner
    from tacit.models.files import load_model
    from tacit.privacy.certificate import Certificate

    model, written = load_model(arguments.adds_to)
    if written is None:
        raise Mistake(f"--adds-to: {arguments.adds_to} holds no certificate, so nobody knows what was charged for it")
    return learner.resume(model, Certificate.from_dict(written))


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
        **_of_label(arguments, numbers),
    )


def _check_label_options(arguments: FitArguments, schema: Schema | None, numbers: bool) -> None:
    """Raises for options about the label that would be ignored."""
    if numbers and arguments.classes is not None:
        raise Mistake("--classes is for labels that are classes, and the label is a number")
    declared = None if schema is None else schema.label
    for option, given in (("--classes", arguments.classes), ("--target-bounds", arguments.target_bounds)):
        if given is not None and declared is not None:
            raise Mistake(
                f"{option} is for a label that no schema declares, and {arguments.schema} declares it: leave it out"
            )
    if arguments.quantile is not None and arguments.loss != "quantile":
        raise Mistake("--quantile is for --loss quantile, which learns a quantile of a number: give both")


def _check_classes(arguments: FitArguments, schema: Schema | None, estimator: Any) -> None:
    """Raises where nobody says which classes there are: a file does not, and rows of others would not count."""
    declared = arguments.classes is not None or (schema is not None and schema.label is not None)
    if declared or predicts_numbers(arguments, schema) or _discovers(arguments, estimator):
        return
    why = f"the learner {arguments.learner} finds no classes"
    if getattr(estimator, "_discovers", False):
        why = "finding classes takes a delta"
    raise Mistake(
        f"{why}: name them, the positive one last, such as --classes no,yes (or 0,1), or in a [label] of a schema"
    )


def _of_label(arguments: FitArguments, numbers: bool) -> dict[str, Any]:
    if not numbers:
        return {"classes": listed(arguments.classes)}
    bounds = _target_bounds(arguments.target_bounds)
    return {
        "loss": arguments.loss or "squared",
        "quantile": 0.5 if arguments.quantile is None else arguments.quantile,
        "target_bounds": bounds,
    }


def _discovers(arguments: FitArguments, estimator: Any) -> bool:
    """Whether the fit itself finds out what columns hold: it takes a learner that does, and a delta."""
    return bool(getattr(estimator, "_discovers", False)) and (arguments.delta > 0 or math.isinf(arguments.epsilon))


def _dry_run(arguments: FitArguments, estimator: Any, target: str) -> None:
    shown: dict[str, Any] | None = None
    if estimator.schema is None:
        import numpy as np

        from tacit.encoding.read import column_names

        names = column_names(arguments.data)
        if target not in names:
            raise Mistake(f"{arguments.data} has no column {target!r}")
        # a list has no dtype, as a CSV file has none
        empty: Any = [] if _discovers(arguments, estimator) else np.empty(0)
        shown = {name: empty for name in names if name != target}
    planned = estimator.dry_run(X=shown)
    if arguments.as_json:
        as_json({"dry_run": True, **{k: finite(v) if isinstance(v, float) else v for k, v in planned.items()}})
        return
    rows = {
        "would charge": f"epsilon {planned['epsilon']:g}, delta {planned['delta']:g}, {planned['neighbouring']}",
        "as": ", ".join(charge_words(charge) for charge in planned["charges"]),
        "columns": ", ".join(planned["columns"]),
        "to": "this fit alone" if arguments.account is None else f"{arguments.dataset} in {arguments.account}",
    }
    if planned["bounds_share"]:
        what = "bounds and categories" if _discovers(arguments, estimator) else "bounds"
        rows["discovery"] = f"{planned['bounds_share']:.0%} of it would find {what} that no schema declares"
    account = estimator.account
    if account is not None:
        from tacit.privacy.charges import charge_from_dict

        covered = account.covers([charge_from_dict(charge) for charge in planned["charges"]])
        rows["account"] = (
            f"epsilon {account.remaining:.4g} left; {'it covers this' if covered else 'NOT enough for this'}"
        )
    table("A fit would charge, and nothing was charged now", rows)


def _write(arguments: FitArguments, estimator: Any, target: str) -> dict[str, str]:
    """Writes model, certificate and report; a failure says that the budget is gone."""
    certificate = estimator.certificate_.to_dict()
    written: dict[str, str] = {}
    try:
        if arguments.model is not None:
            from tacit.models.files import save_model

            save_model(estimator.model_, arguments.model, certificate)
            written["model"] = str(arguments.model)
        if arguments.certificate is not None:
            write_text(arguments.certificate, json.dumps(certificate, indent=1) + "\n")
            written["certificate"] = str(arguments.certificate)
        if arguments.report is not None:
            from tacit.report.page import render

            write_text(arguments.report, render(estimator.model_, certificate, target=target))
            written["report"] = str(arguments.report)
    except OSError as error:
        there = ", ".join(written.values()) or "nothing"
        raise Mistake(
            f"{error.filename or 'a file'}: {error.strerror or error}",
            f"The fit was done and its budget (epsilon {arguments.epsilon:g}) is spent; written so far: {there}",
        ) from error
    return written


def _found(arguments: FitArguments, estimator: Any) -> str:
    """What discovery found, for the summary."""
    schema = getattr(estimator, "schema_", None)
    if schema is None or not _discovers(arguments, estimator):
        named = ", ".join(str(name) for name in getattr(estimator, "classes_", ()))
        classes = f"; classes {named}, and rows of others do not count" if named else ""
        return f"all columns were read as numbers; a column of texts is missing throughout{classes}"
    kinds = [column.kind for column in schema.columns.values()]
    found = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    names = getattr(estimator, "classes_", ())
    classes = f"; classes {', '.join(str(name) for name in names)}" if len(names) else ""
    return f"found and paid for: {found}{classes}"


def _summary(arguments: FitArguments, estimator: Any, written: dict[str, str], seconds: float) -> None:
    certificate = estimator.certificate_
    importance = estimator.model_.importance() if hasattr(estimator.model_, "importance") else {}
    if arguments.as_json:
        as_json(
            {
                "learner": arguments.learner,
                "written": written,
                "epsilon": finite(certificate.epsilon),
                "delta": certificate.delta,
                "neighbouring": str(certificate.neighbouring),
                "releasable": certificate.releasable,
                "releases": certificate.releases,
                "importance": importance,
                "seconds": round(seconds, 3),
            }
        )
        return
    rows = dict(written)
    if arguments.adds_to is not None:
        charged = "was charged, as it was begun before" if estimator.charged_ else "was not charged"
        rows["batches"] = f"{len(estimator.model_.members)}; this one {charged}: all of them cost what one does"
    rows["spent"] = spent(certificate)
    rows["releases"] = str(certificate.releases)
    rows["releasable"] = releasable(certificate)
    if importance:
        strongest = list(importance.items())[:MOST_SHOWN]
        rows["matters most"] = ", ".join(f"{name} ({size:.2f})" for name, size in strongest)
    if arguments.schema is None:
        rows["no schema"] = _found(arguments, estimator)
    rows["took"] = f"{seconds:.1f} s"
    table("A model without privacy" if math.isinf(certificate.epsilon) else "A private model", rows)
