"""`tacit plan`: what a budget would buy, without any data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from tacit.cli import arguments as shared
from tacit.cli.arguments import schema_of
from tacit.cli.console import as_json, charge_words, finite, table
from tacit.cli.failures import Mistake, together
from tacit.cli.learners import check_request, learner_class, set_parameters


@dataclass(frozen=True, kw_only=True)
class PlanArguments(shared.JsonArguments):
    schema: shared.SchemaFile = None
    epsilon: shared.Epsilon = 1.0
    delta: shared.Delta = 1e-6
    neighbouring: shared.Relation = shared.ADD_OR_REMOVE_ONE
    learner: shared.Learner = "additive"
    unit: shared.UnitColumn = None
    max_rows: shared.MaxRows = None
    settings: shared.Settings = None
    interactions: shared.Interactions = None
    rows: Annotated[int | None, "Number of rows to forecast for (it must be public)."] = None


def _is_number(declared: Any) -> bool:
    """Whether the label of a schema is a number."""
    return declared is not None and declared.label is not None and bool(declared.label.is_numeric)


def _check_rows(n: int | None) -> None:
    if n is not None and n < 1:
        raise Mistake(f"--rows must be at least 1, got {n}")


def run(arguments: PlanArguments) -> None:
    """Show what a budget buys, without any data."""
    from tacit.privacy.charges import charge_from_dict
    from tacit.privacy.strength import percent, sharp_advantage
    from tacit.privacy.unit import unit_question
    from tacit.report.promise import describe

    epsilon, delta, neighbouring, learner, n = (
        arguments.epsilon, arguments.delta, arguments.neighbouring, arguments.learner, arguments.rows,
    )  # fmt: skip
    read_schema = partial(schema_of, arguments.schema, arguments.unit, arguments.max_rows)
    declared, _ = together(lambda: check_request(arguments, read_schema, _is_number), lambda: _check_rows(n))
    cls = learner_class(learner, _is_number(declared))
    parameters = set_parameters(cls, arguments.settings, arguments.interactions)
    estimator = cls(epsilon=epsilon, delta=delta, neighbouring=neighbouring, schema=declared, **parameters)
    planned = estimator.dry_run(n=n)
    if n is not None and "forecast" not in planned:
        raise Mistake(
            "--rows is answered for the learner additive, two classes, and a --schema that names the columns. "
            "Leave it out for what a budget buys"
        )
    charges = [charge_from_dict(charge) for charge in planned["charges"]]
    rows_per_unit = 1 if declared is None or declared.unit is None else declared.unit.max_rows
    unit = None if declared is None or declared.unit is None else declared.unit.column
    name = "" if declared is None or declared.unit is None else declared.unit.name
    promise = describe(epsilon, delta, neighbouring, rows_per_unit, sharp_advantage(charges, epsilon), unit, n, name)
    guess = promise.best
    question = "" if declared is None else unit_question(declared)
    warned = [*promise.warnings, *([question] if question else [])]
    if arguments.as_json:
        numbers = {k: finite(v) if isinstance(v, float) else v for k, v in planned.items()}
        as_json({**numbers, "best_guess": guess, "strength": promise.strength, "warnings": warned})
        return
    rows = {
        "promise": f"epsilon {epsilon:g}, delta {delta:g}, {neighbouring}: {promise.strength}",
        **{f"warning {i}": words for i, words in enumerate(warned, start=1)},
        "in words": promise.headline,
        "attacker": f"guesses {promise.unknown} right at most {percent(guess)} of the time (coin flip: 50 %)",
        "noise": charge_words(planned["charges"]),
    }
    if planned["columns"]:
        rows["columns"] = ", ".join(planned["columns"])
    if planned["bounds_share"]:
        rows["bounds"] = f"{percent(planned['bounds_share'])} of the budget finds the bounds that no schema declares"
    if n is not None:
        rows["rows"] = _forecast(n, planned["forecast"])
    table(f"A fit with the learner {learner}. Nothing was spent", rows)


def _forecast(n: int, facts: dict[str, Any]) -> str:
    enough, alone = facts["enough"], facts["learns"] == ["trees"]
    signal = f"{facts['signal']:,.0f}" if facts["sure"] else f"{facts['signal']:.1f}"
    first, *more = ("single columns" if part == "columns" else str(part) for part in facts["learns"])
    rest = f"{', '.join(more)} or both" if len(more) > 1 else "".join(more)  # what is explained may decide
    learns = f"{first} and {rest}" if rest else first
    ratio = "of all rows" if alone else "per column"
    text = (
        f"With {n:,} rows the signal-to-noise ratio {ratio} is {signal} ({enough:g} or more is enough). "
        f"The model will use {learns}."
    )
    if facts["sure"]:
        return f"{text} {_of_rare_classes(facts)}"
    helps = "A larger epsilon also helps." if alone else "Fewer columns or a larger epsilon also help."
    return (
        f"{text} With so few rows predicted probabilities may be worse than the class shares alone; at least "
        f"{_rounded(facts['sure_from']):,} rows are advisable. {helps}"
    )


def _of_rare_classes(facts: dict[str, Any]) -> str:
    from tacit.additive.forecast import rarest_share

    share = rarest_share(facts["signal"], facts["enough"])
    assert share is not None, "known to be sure"
    return (
        f"If the rarer class has less than {100 * share:.2g} % of the rows, predicted probabilities may still be worse "
        "than the class shares alone."
    )


def _rounded(count: int) -> int:
    """A count for people: to two digits."""
    return int(float(f"{count:.2g}"))
