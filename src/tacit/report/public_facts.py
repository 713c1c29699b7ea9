"""What was public about a column, read off the encoding that the model carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.report import svg
from tacit.report.portrait import PublicColumn

if TYPE_CHECKING:
    from tacit.encoding.table import Encoder

MOST_LISTED = 12


def public_column(name: str, encoder: Encoder) -> PublicColumn:
    """One line of the list of public facts."""
    written = encoder.to_dict()
    return PublicColumn(name, str(written.get("kind", "")), facts(written))


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
