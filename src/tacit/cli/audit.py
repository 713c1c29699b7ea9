"""`tacit audit`: an attack on a learner, with synthetic tables and without any data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import arguments as shared
from tacit.cli.console import as_json, counting, stopwatch, table
from tacit.cli.failures import CLAIM, Mistake
from tacit.cli.learners import copyable_class, set_parameters

if TYPE_CHECKING:
    from tacit.audit import Audit, Counts


@dataclass(frozen=True, kw_only=True)
class AuditArguments(shared.JsonArguments):
    schema: shared.SchemaFile = None
    epsilon: shared.Epsilon = 1.0
    delta: shared.Delta = 1e-6
    neighbouring: shared.Relation = shared.ADD_OR_REMOVE_ONE
    learner: shared.Learner = "additive"
    trials: Annotated[int, "Fits to each of the two tables at most; stops when the claim is refuted."] = 300
    earlier: Annotated[list[Path] | None, "Output of --json for an earlier version: evidence adds up (repeatable)."] = (
        None
    )
    confidence: Annotated[float, "Confidence level of the bounds, between 0 and 1."] = 0.95
    random_state: Annotated[int | None, "Random seed. Makes the audit reproducible."] = None


def run(arguments: AuditArguments) -> None:
    """Attack a learner on synthetic tables: a lower bound on its epsilon. Exits with 4 if it exceeds the claim."""
    from tacit.audit import audit_estimator
    from tacit.schema import Schema

    seconds = stopwatch()
    declared = None if arguments.schema is None else Schema.from_toml(arguments.schema)
    numbers = declared is not None and declared.label is not None and declared.label.is_numeric
    cls = copyable_class(arguments.learner, numbers)
    estimator = cls(
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        neighbouring=arguments.neighbouring,
        schema=declared,
        **set_parameters(cls, None, None),
    )
    with counting(f"fits of {arguments.learner}", quiet=arguments.as_json) as tell:
        result = audit_estimator(
            estimator,
            trials=arguments.trials,
            confidence=arguments.confidence,
            random_state=arguments.random_state,
            progress=tell,
            earlier=[_audit_of(path) for path in arguments.earlier or ()],
        )
    if arguments.as_json:
        as_json({**result.to_dict(), "seconds": round(seconds(), 1)})
    else:
        _summary(result, arguments.learner, arguments.schema, seconds())
    if not result.holds:
        raise typer.Exit(CLAIM)


def _audit_of(path: Path) -> Audit:
    """An earlier audit, as ``--json`` printed it."""
    from tacit.audit import Audit
    from tacit.privacy.canonical import read_json

    try:
        return Audit.from_dict(read_json(path.read_bytes()))
    except (ValueError, RecursionError) as error:
        raise Mistake(f"--earlier: {path} is not what tacit audit --json prints: {error}") from None


def _summary(audit: Audit, learner: str, schema: Path | None, seconds: float) -> None:
    canary = "one row" if audit.rows_per_unit == 1 else f"one unit of {audit.rows_per_unit} rows"
    change = "with and without" if audit.neighbouring == "add_or_remove_one" else "with two labels of"
    source = "one column of numbers" if schema is None else schema.name
    rows = {
        "claim": f"epsilon {audit.epsilon:g}, delta {audit.delta:g}, {audit.neighbouring}",
        "attack": f"{audit.trials} fits each {change} {canary}, on tables made from {source}, in {seconds:.0f} s",
        "at least": f"epsilon {audit.epsilon_lower:.3g} without an assumption: {_counted(audit.counts)}",
    }
    if audit.gaussian is not None:
        bound = audit.gaussian
        rows["if Gaussian"] = f"epsilon {bound.epsilon_lower:.3g}: {_counted(bound.counts)}"
    rows["could show"] = f"epsilon {audit.provable:.3g} at most, had all guesses been right"
    rows["confidence"] = f"{100 * audit.confidence:g} %"
    rows["it holds" if audit.holds else "VIOLATED"] = audit.meaning
    table(f"An audit of the learner {learner}. Nothing was spent", rows)


def _counted(counts: Counts) -> str:
    return f"{counts.hits} of {counts.trials} hits, {counts.false_alarms} of {counts.trials} false alarms"
