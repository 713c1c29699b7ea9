"""What `tacit fit` says when it is done: what was written, spent and protected, and what the fit saw."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any

from tacit.cli.console import as_json, finite, releasable, spent, table
from tacit.cli.tables import as_given

if TYPE_CHECKING:
    from tacit.cli.fit_arguments import FitArguments
    from tacit.privacy.certificate import Certificate
    from tacit.privacy.strength import Strength
    from tacit.schema import Schema

MOST_SHOWN = 6
"""Columns named in the summary."""


def summarise(
    asked: FitArguments, estimator: Any, schema: Schema | None, written: dict[str, str], seconds: float, found: bool
) -> None:
    """Prints the summary of a fit; ``found``: whether it found out what columns hold."""
    from tacit.models.summary import seen
    from tacit.privacy.strength import strength_of
    from tacit.privacy.unit import name_question, unit_question

    certificate = estimator.certificate_
    saw = seen(estimator.model_, certificate)
    strength = strength_of(certificate, None if saw.rows is None else saw.rows.value)
    question = name_question(estimator.model_.feature_names) if schema is None else unit_question(schema)
    warned = [*strength.warnings, *([question] if question else []), *saw.concerns]
    importance = estimator.model_.importance() if hasattr(estimator.model_, "importance") else {}
    if asked.as_json:
        facts = {"learner": asked.learner, "written": written, **claim_facts(certificate, strength)}
        seen_ = {"importance": importance, "summary": saw.to_dict(), "warnings": warned}
        as_json({**facts, **seen_, "seconds": round(seconds, 3)})
        return
    rows = dict(written)
    if asked.adds_to is not None:
        charged = "was charged, as it was begun before" if estimator.charged_ else "was not charged"
        rows["batches"] = f"{len(estimator.model_.members)}; this one {charged}: all of them cost what one does"
    rows["spent"] = spent(certificate)
    rows["protects"] = certificate.protected
    rows["strength"] = f"{strength.word}: {strength.guess_words}"
    rows["releases"] = str(certificate.releases)
    rows["releasable"] = releasable(certificate)
    calm = [words for words in saw.sentences if words not in saw.concerns]  # the others are warnings
    rows |= {"data": "; ".join(calm)} if calm else {}
    if importance and saw.stands_out is not False:  # noise has no order worth a name
        strongest = list(importance.items())[:MOST_SHOWN]
        rows["matters most"] = ", ".join(f"{name} ({size:.2f})" for name, size in strongest)
    if asked.schema is None:
        rows["no schema"] = _found(estimator, found)
    rows |= {f"warning {i}": words for i, words in enumerate(warned, start=1)}
    if saw.concerns and asked.schema is not None and asked.path.is_file():
        command = shlex.join(["tacit", "check", asked.data, "--schema", str(asked.schema), *as_given(asked)])
        rows["hint"] = f"{command} may show why (its output is confidential)"
    rows["took"] = f"{seconds:.1f} s"
    table("A model without privacy" if math.isinf(certificate.epsilon) else "A private model", rows)


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


def _found(estimator: Any, found: bool) -> str:
    """What discovery found, for the summary."""
    schema = getattr(estimator, "schema_", None)
    if schema is None or not found:
        named = ", ".join(str(name) for name in getattr(estimator, "classes_", ()))
        classes = f"; classes {named}, and rows of others do not count" if named else ""
        return f"all columns were read as numbers; a column of texts is missing throughout{classes}"
    kinds = [column.kind for column in schema.columns.values()]
    listed = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    names = getattr(estimator, "classes_", ())
    classes = f"; classes {', '.join(str(name) for name in names)}" if len(names) else ""
    return f"found and paid for: {listed}{classes}"
