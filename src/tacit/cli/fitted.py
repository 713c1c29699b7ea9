"""`tacit fit`: its summary when it is done, and what `--dry-run` says in its place; no row is looked at then."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any

from tacit.cli.console import as_json, charge_words, finite, releasable, spent, table
from tacit.cli.failures import Unpaid
from tacit.cli.fit_arguments import FitArguments
from tacit.cli.tables import rows_of

if TYPE_CHECKING:
    from tacit.privacy.certificate import Certificate
    from tacit.privacy.strength import Strength
    from tacit.schema import Schema, Unit


def dry_run(
    arguments: FitArguments,
    estimator: Any,
    target: str,
    discovers: bool,
    schema: Schema | None = None,
    source: Any = None,
) -> None:
    """Prints what a fit would charge, after the checks of what is public about its table: the names of its columns.

    ``discovers``: whether the fit would find out what columns hold; ``source``: of rows that are read in chunks.
    """
    from tacit.privacy.charges import charge_from_dict
    from tacit.privacy.strength import percent

    undeclared = _columns(arguments, target, discovers, schema) if source is None else None
    planned = estimator.dry_run(X=undeclared if source is None else source)
    account = estimator.account
    covered = account is None or account.covers([charge_from_dict(charge) for charge in planned["charges"]])
    warned = _warnings(planned, schema, undeclared)
    if not covered and arguments.as_json:
        raise Unpaid(_unpaid(arguments))
    if arguments.as_json:
        numbers = {k: finite(v) if isinstance(v, float) else v for k, v in planned.items()}
        as_json({"dry_run": True, **numbers, "warnings": warned})
        return
    rows = {
        "would charge": f"epsilon {planned['epsilon']:g}, delta {planned['delta']:g}, {planned['neighbouring']}",
        "protects": _protected(None if schema is None else schema.unit),
        "noise": charge_words(planned["charges"]),
        "columns": ", ".join(planned["columns"]),
        "account": "none" if arguments.account is None else f"{arguments.dataset} in {arguments.account}",
    }
    if planned["bounds_share"]:
        what = "bounds and categories" if discovers else "bounds"
        rows["discovery"] = f"{percent(planned['bounds_share'])} of the budget, for {what} that no schema declares"
    if account is not None:
        enough = "enough for this fit" if covered else "NOT enough for this fit"
        rows["remaining"] = f"epsilon {account.remaining:.4g}; {enough}"
    rows |= {f"warning {i}": words for i, words in enumerate(warned, start=1)}
    table("A dry run: nothing was charged", rows)
    if not covered:
        raise Unpaid(_unpaid(arguments))


def _protected(unit: Unit | None) -> str:
    """What a fit would protect, in the words of its certificate."""
    if unit is None:
        return "one row"
    rows = "one row" if unit.max_rows == 1 else f"{unit.max_rows} rows"
    return f"one {unit.name or unit.column}, at most {rows}"


def _columns(arguments: FitArguments, target: str, discovers: bool, schema: Schema | None) -> Any:
    """Columns that no schema names, without rows; the names of the others are checked as the fit would."""
    from tacit.encoding.folders import files_of
    from tacit.encoding.read import check_columns, check_decimals, column_names

    columns = [target]
    if schema is not None:
        columns = [*schema.features, *([] if schema.unit is None else [schema.unit.column]), target]
    with rows_of(arguments.path, arguments) as (data, dialect):
        paths = files_of(data)
        for path in paths:
            names = column_names(path, dialect)
            check_columns(columns, names, arguments.data if len(paths) == 1 else str(path))
            numbers = names if schema is None else [n for n in schema.features if schema.columns[n].kind == "numeric"]
            check_decimals(path, numbers, dialect)
    if schema is not None:
        return None
    import numpy as np

    empty: Any = [] if discovers else np.empty(0)  # a list has no dtype, as a CSV file has none
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


def _unpaid(arguments: FitArguments) -> str:
    return f"the account of {arguments.dataset!r} does not pay for this; see tacit budget show"


UNSIGNED = "with --sign KEY (see tacit keys new), tacit verify --account can tell that it was paid for"
"""What is said of a fit that an account pays for, and that nobody signs."""

MOST_SHOWN = 6
"""Columns named in the summary."""


def summarise(
    arguments: FitArguments,
    estimator: Any,
    schema: Schema | None,
    files: dict[str, str],
    seconds: float,
    discovered: bool,
) -> None:
    """Prints the summary of a fit; ``discovered``: whether it found out what columns hold."""
    from tacit.models.summary import seen
    from tacit.privacy.strength import strength_of
    from tacit.privacy.unit import name_question, unit_question

    certificate = estimator.certificate_
    saw = seen(estimator.model_, certificate)
    strength = strength_of(certificate, None if saw.rows is None else saw.rows.value)
    question = name_question(estimator.model_.feature_names) if schema is None else unit_question(schema)
    warned = [*strength.warnings, *([question] if question else []), *saw.concerns]
    importance = estimator.model_.importance() if hasattr(estimator.model_, "importance") else {}
    if arguments.as_json:
        facts = {"learner": arguments.learner, "written": files, **claim_facts(certificate, strength)}
        seen_ = {"importance": importance, "summary": saw.to_dict(), "warnings": warned}
        as_json({**facts, **seen_, "seconds": round(seconds, 3)})
        return
    rows = dict(files)
    if arguments.adds_to is not None:
        charged = "was charged, as it was begun before" if estimator.charged_ else "was not charged"
        rows["batches"] = f"{len(estimator.model_.members)}; this one {charged}: all of them cost what one does"
    rows |= claim_rows(certificate, strength)
    calm = [words for words in saw.sentences if words not in saw.concerns]  # the others are warnings
    rows |= {"data": "; ".join(calm)} if calm else {}
    strongest = [] if saw.stands_out is False else _strongest(estimator.model_, importance)
    if strongest:
        rows["matters most"] = ", ".join(f"{name} ({size:.2f})" for name, size in strongest)
    if arguments.schema is None:
        rows["no schema"] = _found(estimator, discovered)
    rows |= {f"warning {i}": words for i, words in enumerate(warned, start=1)}
    if saw.concerns and arguments.schema is not None and arguments.path.is_file():
        command = shlex.join(
            ["tacit", "check", arguments.data, "--schema", str(arguments.schema), *arguments.csv_words()]
        )
        rows["hint"] = f"{command} may show why (its output is confidential)"
    rows |= {"not signed": UNSIGNED} if arguments.account is not None and arguments.sign is None else {}
    rows["took"] = f"{seconds:.1f} s"
    table("A model without privacy" if math.isinf(certificate.epsilon) else "A private model", rows)


def _strongest(model: Any, importance: dict[str, float]) -> list[tuple[str, float]]:
    """The terms that matter most; noise has no order worth a name."""
    from tacit.models.additive import AdditiveScores
    from tacit.models.summary import terms_beyond_noise

    scores = getattr(model, "scores", None)
    names = terms_beyond_noise(scores) if isinstance(scores, AdditiveScores) else importance
    return [(name, size) for name, size in importance.items() if name in names][:MOST_SHOWN]


def claim_rows(certificate: Certificate, strength: Strength) -> dict[str, str]:
    """What is claimed, for people."""
    return {
        "spent": spent(certificate),
        "protects": certificate.protected,
        "strength": f"{strength.word}: {strength.guess_words}",
        "releases": str(certificate.releases),
        "releasable": releasable(certificate),
    }


def claim_facts(certificate: Certificate, strength: Strength) -> dict[str, Any]:
    """What is claimed, for machines."""
    return {
        "epsilon": finite(certificate.epsilon),
        "delta": certificate.delta,
        "neighbouring": str(certificate.neighbouring),
        "protected": certificate.protected,
        "strength": strength.word,
        "releasable": certificate.releasable,
        "reasons": list(certificate.reasons),
        "releases": certificate.releases,
    }


def _found(estimator: Any, discovered: bool) -> str:
    """What discovery found, for the summary."""
    schema = getattr(estimator, "schema_", None)
    if schema is None or not discovered:
        listed_classes = ", ".join(str(name) for name in getattr(estimator, "classes_", ()))
        classes = f"; classes {listed_classes}, and rows of others do not count" if listed_classes else ""
        return f"all columns were read as numbers; a column of texts is missing throughout{classes}"
    kinds = [column.kind for column in schema.columns.values()]
    listed = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    names = getattr(estimator, "classes_", ())
    classes = f"; classes {', '.join(str(name) for name in names)}" if len(names) else ""
    return f"found and paid for: {listed}{classes}"
