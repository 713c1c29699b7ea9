"""`tacit plan`: what a budget would buy, without any data."""

from __future__ import annotations

from pathlib import Path

from tacit.cli.console import as_json, finite, table
from tacit.cli.fit import charge_words
from tacit.cli.learners import learner_class


def run(schema: Path | None, epsilon: float, delta: float, neighbouring: str, learner: str, json: bool) -> None:
    """Prints the planned charge of a fit and what it means for one person."""
    from tacit.privacy.accountants import delta as delta_of
    from tacit.privacy.charges import charge_from_dict
    from tacit.report.page import percent
    from tacit.report.promise import describe
    from tacit.schema import Schema

    declared = None if schema is None else Schema.from_toml(schema)
    estimator = learner_class(learner)(epsilon=epsilon, delta=delta, neighbouring=neighbouring, schema=declared)
    planned = estimator.dry_run()
    charges = [charge_from_dict(charge) for charge in planned["charges"]]
    rows_per_unit = 1 if declared is None or declared.unit is None else declared.unit.max_rows
    promise = describe(epsilon, delta, neighbouring, rows_per_unit, min(1.0, delta_of(charges, 0.0)))
    guess = promise.guess if promise.sharp_guess is None else min(promise.guess, promise.sharp_guess)
    if json:
        numbers = {k: finite(v) if isinstance(v, float) else v for k, v in planned.items()}
        as_json({**numbers, "best_guess": guess, "strength": promise.strength})
        return
    rows = {
        "promise": f"epsilon {epsilon:g}, delta {delta:g}, {neighbouring}: {promise.strength}",
        "in words": promise.headline,
        "a guess": f"{promise.unknown}, a coin toss at 50 %, can be guessed right at most {percent(guess)} of the time",
        "as": ", ".join(charge_words(charge) for charge in planned["charges"]),
    }
    if planned["columns"]:
        rows["columns"] = ", ".join(planned["columns"])
    if planned["bounds_share"]:
        rows["bounds"] = f"{planned['bounds_share']:.0%} of it would find bounds that no schema declares"
    table(f"A fit with the learner {learner}. Nothing was spent", rows)
