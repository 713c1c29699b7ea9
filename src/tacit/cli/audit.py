"""`tacit audit`: an attack on a learner, with synthetic tables and without any data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tacit.cli.console import as_json, counting, stopwatch, table
from tacit.cli.learners import copyable_class

if TYPE_CHECKING:
    from tacit.audit import Audit, Counts

VIOLATED = 1
"""Exit code where the claim does not hold."""


def run(
    schema: Path | None,
    epsilon: float,
    delta: float,
    neighbouring: str,
    learner: str,
    trials: int,
    confidence: float,
    random_state: int | None,
    json: bool,
) -> None:
    """Fits the learner to two synthetic tables again and again, and says what that proves."""
    from tacit.audit import audit_estimator
    from tacit.schema import Schema

    seconds = stopwatch()
    declared = None if schema is None else Schema.from_toml(schema)
    numbers = declared is not None and declared.label is not None and declared.label.is_numeric
    estimator = copyable_class(learner, numbers)(
        epsilon=epsilon, delta=delta, neighbouring=neighbouring, schema=declared
    )
    with counting(f"fits of {learner}", quiet=json) as tell:
        found = audit_estimator(
            estimator, trials=trials, confidence=confidence, random_state=random_state, progress=tell
        )
    if json:
        as_json({**found.to_dict(), "seconds": round(seconds(), 1)})
    else:
        _summary(found, learner, schema, seconds())
    if not found.holds:
        raise typer.Exit(VIOLATED)


def _summary(found: Audit, learner: str, schema: Path | None, seconds: float) -> None:
    canary = "one row" if found.rows_per_unit == 1 else f"one unit of {found.rows_per_unit} rows"
    change = "with and without" if found.neighbouring == "add_or_remove_one" else "with two labels of"
    made = "one column of numbers" if schema is None else schema.name
    rows = {
        "claim": f"epsilon {found.epsilon:g}, delta {found.delta:g}, {found.neighbouring}",
        "attack": f"{found.trials} fits each {change} {canary}, on tables made from {made}, in {seconds:.0f} s",
        "at least": f"epsilon {found.epsilon_lower:.3g} without an assumption: {_counted(found.counts)}",
    }
    if found.gaussian is not None:
        bound = found.gaussian
        rows["if Gaussian"] = f"epsilon {bound.epsilon_lower:.3g}: {_counted(bound.counts)}"
    rows["could show"] = f"epsilon {found.provable:.3g} at most, had all guesses been right"
    rows["confidence"] = f"{100 * found.confidence:g} %"
    rows["it holds" if found.holds else "VIOLATED"] = found.meaning
    table(f"An audit of the learner {learner}. Nothing was spent", rows)


def _counted(counts: Counts) -> str:
    return f"{counts.hits} of {counts.trials} hits, {counts.false_alarms} of {counts.trials} false alarms"
