"""What an evaluation may take for granted: the schema of the model, and whom the model's certificate protects."""

from __future__ import annotations

from typing import Any

from tacit.faces.request import RequestError, declared_schema
from tacit.privacy.certificate import Certificate
from tacit.schema import Schema


def promised_schema(model: Any, given: Any) -> Schema | None:
    """The schema of an evaluation: the one that is given, or by default that of the estimator.

    Args:
        model: what is evaluated.
        given: a schema in any of its forms, or None.

    Raises:
        RequestError: if the model's certificate protects persons of more rows than this schema does.
    """
    if given is None:
        given = model.declared()[0] if hasattr(model, "declared") else getattr(model, "schema", None)
    schema = declared_schema(given)
    own = getattr(model, "certificate_", None)
    if isinstance(own, Certificate):
        check_unit(own.rows_per_unit, schema)
    return schema


def check_unit(rows_per_unit: int, schema: Schema | None) -> None:
    """Raises unless a schema protects persons of as many rows as a model's certificate does."""
    unit = None if schema is None else schema.unit
    rows = 1 if unit is None else unit.max_rows
    if rows < rows_per_unit:
        raise RequestError(
            f"the model's certificate protects all {rows_per_unit} rows that a person may have, and this evaluation "
            f"would protect {rows}: give a schema with a unit of as many"
        )
