"""What was public about a column, read off the encoding that the model carries."""

from __future__ import annotations

from typing import Any

from tacit.report import svg
from tacit.report.portrait import PublicColumn

MOST_LISTED = 12
KINDS = {"numeric_grid": "numeric", "category_index": "categorical", "boolean_index": "boolean"}
"""Kind of an encoder -> kind of a column, in the words of the schema."""


def public_column(name: str, encoder: Any) -> PublicColumn:
    """One line of the list of public facts, from an encoder of :mod:`tacit.encoding`."""
    written = encoder.to_dict()
    kind = str(written.get("kind", ""))
    return PublicColumn(name, KINDS.get(kind, kind), facts(written))


def facts(written: dict[str, Any]) -> str:
    """Bounds or categories, in words; an encoding that has neither is described by its remaining fields."""
    if "lower" in written and "upper" in written:
        return f"from {svg.short(float(written['lower']))} to {svg.short(float(written['upper']))}"
    listed = written.get("categories")
    if isinstance(listed, list):
        words = ", ".join(str(item) for item in listed[:MOST_LISTED])
        return words + (f" and {len(listed) - MOST_LISTED} more" if len(listed) > MOST_LISTED else "")
    return ", ".join(
        f"{key} {value}" for key, value in written.items() if key != "kind" and not isinstance(value, list)
    )
