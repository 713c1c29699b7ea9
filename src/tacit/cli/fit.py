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
class Order:
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


def run(order: Order) -> None:
    """Learns, writes what was asked for, and says what was spent. Everything that can be checked is checked before."""
    seconds = stopwatch()
    _check_outputs(order)
    schema = _schema(order)
    in_batches = order.batches or order.adds_to is not None
    learner = _batchwise(order, schema) if in_batches else _estimator(order, schema)
    estimator = learner.estimator if in_batches else learner
    target = target_column(order.target, schema)
    if order.dry_run:
        _dry_run(order, estimator, target)
        return
    with progress(order.data.name, quiet=order.as_json) as tell:
        numbers = not _discovers(order, estimator)
        frame, labels = training_table(order.data, target, schema, tell, numbers, predicts_numbers(order, schema))
        tell("learning")
        (learner.partial_fit if in_batches else learner.fit)(frame, labels)
    written = _write(order, learner)
    _summary(order, learner, written, seconds())


def _check_outputs(order: Order) -> None:
    if order.model is None and order.certificate is None and order.report is None and not order.dry_run:
        raise Mistake("a fit spends budget and would leave nothing behind: give --model OUT.json (or --dry-run)")
    outputs = {"--model": order.model, "--report": order.report, "--certificate": order.certificate}
    check_outputs(outputs, {"the data": order.data, "the schema": order.schema}, order.account)
    check_account(order.account, order.dataset)


def _schema(order: Order) -> Schema | None:
    if order.schema is None:
        return None
    from tacit.schema import Schema

    return Schema.from_toml(order.schema)


def predicts_numbers(order: Order, schema: Schema | None) -> bool:
    """Whether the label is a number: the schema says so, or an option that makes sense for nothing else."""
    declared = schema is not None and schema.label is not None and schema.label.kind == "numeric"
    return declared or order.loss is not None or order.target_bounds is not None


def _target_bounds(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        lower, upper = (float(part) for part in text.split(","))
    except ValueError:
        raise Mistake(f"--target-bounds: give the lower and the upper bound, such as 0,100; got {text!r}") from None
    return lower, upper


def _batchwise(order: Order, schema: Schema | None) -> Any:
    """What learns in batches: anew, or going on from a file."""
    outer, inner = batchwise_class(order.learner, predicts_numbers(order, schema))
    learner = outer(_estimator(order, schema, inner))
    if order.adds_to is None:
        return learner
    from tacit.models.files import load_model
    from tacit.privacy.certificate import Certificate

    model, written = load_model(order.adds_to)
    if written is None:
        raise Mistake(f"--adds-to: {order.adds_to} holds no certificate, so nobody knows what was charged for it")
    return learner.resume(model, Certificate.from_dict(written))


def _estimator(order: Order, schema: Schema | None, cls: Any = None) -> Any:
    numbers = predicts_numbers(order, schema)
    cls = cls or learner_class(order.learner, numbers)
    _check_label_options(order, schema, numbers)
    return cls(
        epsilon=order.epsilon,
        delta=order.delta,
        neighbouring=order.neighbouring,
        schema=schema,
        account=account_of(order.account, order.dataset),
        random_state=order.random_state,
        **_of_label(order, numbers),
    )


def _check_label_options(order: Order, schema: Schema | None, numbers: bool) -> None:
    """Raises for options about the label that would be ignored."""
    if numbers and order.classes is not None:
        raise Mistake("--classes is for labels that are classes, and the label is a number")
    declared = None if schema is None else schema.label
    for option, given in (("--classes", order.classes), ("--target-bounds", order.target_bounds)):
        if given is not None and declared is not None:
            raise Mistake(
                f"{option} is for a label that no schema declares, and {order.schema} declares it: leave it out"
            )
    if order.quantile is not None and order.loss != "quantile":
        raise Mistake("--quantile is for --loss quantile, which learns a quantile of a number: give both")


def _of_label(order: Order, numbers: bool) -> dict[str, Any]:
    if not numbers:
        return {"classes": listed(order.classes)}
    bounds = _target_bounds(order.target_bounds)
    return {
        "loss": order.loss or "squared",
        "quantile": 0.5 if order.quantile is None else order.quantile,
        "target_bounds": bounds,
    }


def _discovers(order: Order, estimator: Any) -> bool:
    """Whether the fit itself finds out what columns hold: it takes a learner that does, and a delta."""
    return bool(getattr(estimator, "_discovers", False)) and (order.delta > 0 or math.isinf(order.epsilon))


def _dry_run(order: Order, estimator: Any, target: str) -> None:
    shown: dict[str, Any] | None = None
    if estimator.schema is None:
        import numpy as np

        from tacit.encoding.read import column_names

        names = column_names(order.data)
        if target not in names:
            raise Mistake(f"{order.data} has no column {target!r}")
        empty: Any = [] if _discovers(order, estimator) else np.empty(0)  # a list has no dtype, as a CSV file has none
        shown = {name: empty for name in names if name != target}
    planned = estimator.dry_run(X=shown)
    if order.as_json:
        as_json({"dry_run": True, **{k: finite(v) if isinstance(v, float) else v for k, v in planned.items()}})
        return
    rows = {
        "would charge": f"epsilon {planned['epsilon']:g}, delta {planned['delta']:g}, {planned['neighbouring']}",
        "as": ", ".join(charge_words(charge) for charge in planned["charges"]),
        "columns": ", ".join(planned["columns"]),
        "to": "this fit alone" if order.account is None else f"{order.dataset} in {order.account}",
    }
    if planned["bounds_share"]:
        what = "bounds and categories" if _discovers(order, estimator) else "bounds"
        rows["discovery"] = f"{planned['bounds_share']:.0%} of it would find {what} that no schema declares"
    account = estimator.account
    if account is not None:
        from tacit.privacy.charges import charge_from_dict

        covered = account.covers([charge_from_dict(charge) for charge in planned["charges"]])
        rows["account"] = (
            f"epsilon {account.remaining:.4g} left; {'it covers this' if covered else 'NOT enough for this'}"
        )
    table("A fit would charge, and nothing was charged now", rows)


def _write(order: Order, estimator: Any) -> dict[str, str]:
    """Writes model, certificate and report; a failure says that the budget is gone."""
    certificate = estimator.certificate_.to_dict()
    written: dict[str, str] = {}
    try:
        if order.model is not None:
            from tacit.models.files import save_model

            save_model(estimator.model_, order.model, certificate)
            written["model"] = str(order.model)
        if order.certificate is not None:
            write_text(order.certificate, json.dumps(certificate, indent=1) + "\n")
            written["certificate"] = str(order.certificate)
        if order.report is not None:
            from tacit.report.page import render

            write_text(order.report, render(estimator.model_, certificate))
            written["report"] = str(order.report)
    except OSError as error:
        there = ", ".join(written.values()) or "nothing"
        raise Mistake(
            f"{error.filename or 'a file'}: {error.strerror or error}. The fit was done and its budget (epsilon "
            f"{order.epsilon:g}) is spent; written so far: {there}"
        ) from error
    return written


def _found(order: Order, estimator: Any) -> str:
    """What discovery found, for the summary."""
    schema = getattr(estimator, "schema_", None)
    if schema is None or not _discovers(order, estimator):
        named = ", ".join(str(name) for name in getattr(estimator, "classes_", ()))
        classes = f"; classes {named}, and rows of others do not count" if named else ""
        return f"all columns were read as numbers; a column of texts is missing throughout{classes}"
    kinds = [column.kind for column in schema.columns.values()]
    found = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    names = getattr(estimator, "classes_", ())
    classes = f"; classes {', '.join(str(name) for name in names)}" if len(names) else ""
    return f"found and paid for: {found}{classes}"


def _summary(order: Order, estimator: Any, written: dict[str, str], seconds: float) -> None:
    certificate = estimator.certificate_
    importance = estimator.model_.importance() if hasattr(estimator.model_, "importance") else {}
    if order.as_json:
        as_json(
            {
                "learner": order.learner,
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
    if order.adds_to is not None:
        charged = "was charged, as it was begun before" if estimator.charged_ else "was not charged"
        rows["batches"] = f"{len(estimator.model_.members)}; this one {charged}: all of them cost what one does"
    rows["spent"] = spent(certificate)
    rows["releases"] = str(certificate.releases)
    rows["releasable"] = releasable(certificate)
    if importance:
        strongest = list(importance.items())[:MOST_SHOWN]
        rows["matters most"] = ", ".join(f"{name} ({size:.2f})" for name, size in strongest)
    if order.schema is None:
        rows["no schema"] = _found(order, estimator)
    rows["took"] = f"{seconds:.1f} s"
    table("A model without privacy" if math.isinf(certificate.epsilon) else "A private model", rows)
