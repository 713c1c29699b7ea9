"""`tacit fit --dry-run`: what a fit would charge, and whether it would be refused; no row is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.cli.console import as_json, charge_words, finite, table
from tacit.cli.failures import Unpaid
from tacit.cli.fit_arguments import FitArguments
from tacit.cli.tables import rows_of

if TYPE_CHECKING:
    from tacit.schema import Schema


def dry_run(
    asked: FitArguments, estimator: Any, target: str, found: bool, schema: Schema | None = None, source: Any = None
) -> None:
    """Prints what a fit would charge, after the checks of what is public about its table: the names of its columns.

    ``found``: whether the fit would find out what columns hold; ``source``: of rows that are read in chunks.

    Raises:
        DataError: if the table lacks a column, or has two of one name.
        Unpaid: if the account does not cover it.
    """
    from tacit.privacy.charges import charge_from_dict

    undeclared = _columns(asked, target, found, schema) if source is None else None
    planned = estimator.dry_run(X=undeclared if source is None else source)
    account = estimator.account
    covered = account is None or account.covers([charge_from_dict(charge) for charge in planned["charges"]])
    warned = _warnings(planned, schema, undeclared)
    if not covered and asked.as_json:
        raise Unpaid(_unpaid(asked))
    if asked.as_json:
        numbers = {k: finite(v) if isinstance(v, float) else v for k, v in planned.items()}
        as_json({"dry_run": True, **numbers, "warnings": warned})
        return
    rows = {
        "would charge": f"epsilon {planned['epsilon']:g}, delta {planned['delta']:g}, {planned['neighbouring']}",
        "as": charge_words(planned["charges"]),
        "columns": ", ".join(planned["columns"]),
        "to": "this fit alone" if asked.account is None else f"{asked.dataset} in {asked.account}",
    }
    if planned["bounds_share"]:
        what = "bounds and categories" if found else "bounds"
        rows["discovery"] = f"{planned['bounds_share']:.0%} of it would find {what} that no schema declares"
    if account is not None:
        enough = "it covers this" if covered else "NOT enough for this"
        rows["account"] = f"epsilon {account.remaining:.4g} left; {enough}"
    rows |= {f"warning {i}": words for i, words in enumerate(warned, start=1)}
    table("A fit would charge, and nothing was charged now", rows)
    if not covered:
        raise Unpaid(_unpaid(asked))


def _columns(asked: FitArguments, target: str, found: bool, schema: Schema | None) -> Any:
    """Columns that no schema names, without rows; the names of the others are checked as the fit would."""
    from tacit.encoding.read import check_columns, check_decimals, column_names
    from tacit.encoding.sources import files_of

    needed = [target]
    if schema is not None:
        needed = [*schema.features, *([] if schema.unit is None else [schema.unit.column]), target]
    with rows_of(asked.path, asked) as (data, written):
        paths = files_of(data)
        for path in paths:
            names = column_names(path, written)
            check_columns(needed, names, asked.data if len(paths) == 1 else str(path))
            numbers = names if schema is None else [n for n in schema.features if schema.columns[n].kind == "numeric"]
            check_decimals(path, numbers, written)
    if schema is not None:
        return None
    import numpy as np

    empty: Any = [] if found else np.empty(0)  # a list has no dtype, as a CSV file has none
    return {name: empty for name in names if name != target}


def _warnings(planned: dict[str, Any], schema: Schema | None, undeclared: Any) -> list[str]:
    """What deserves a warning before anything is spent."""
    from tacit.privacy.strength import strength
    from tacit.privacy.unit import name_question, unit_question

    unit = None if schema is None else schema.unit
    who = "one row" if unit is None else f"one {unit.column}"
    warned = strength(planned["epsilon"], planned["delta"], protected=who).warnings
    question = name_question(undeclared) if schema is None else unit_question(schema)
    return [*warned, *([question] if question else [])]


def _unpaid(asked: FitArguments) -> str:
    return f"the account of {asked.dataset!r} does not pay for this; see tacit budget show"
