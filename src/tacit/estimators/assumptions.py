"""What a fit takes as public about the table it was given, for its certificate."""

from __future__ import annotations

from typing import Any

from tacit.encoding.frames import Frame
from tacit.privacy.assumptions import Assumption, dtypes_assumed, identifiers_assumed
from tacit.schema import Schema


def assumptions_of(estimator: Any, X: Any, y: Any, weighted: bool = False) -> tuple[Assumption, ...]:
    """What a fit of an estimator to a table takes as public, beside its schema and what called it.

    Args:
        estimator: with its parameters, and its model.
        X: the table.
        y: the labels; a list has no dtype.
        weighted: whether rows have weights.
    """
    schema, classes = estimator.declared()
    labelled = schema is not None and schema.label is not None
    untyped = isinstance(X, Frame) and X.untyped
    number = hasattr(estimator, "target_bounds")
    of_label = not (labelled or number or isinstance(y, list | tuple)) and classes is None
    found = dtypes_assumed(getattr(estimator, "dtypes", None), untyped, schema is None, of_label)
    if isinstance(classes, str):
        text = "the classes of the label: the caller says that they do not come from the rows"
        found += (Assumption("classes", text, accepted=True),)
    if schema is None:
        found += (Assumption("columns", "which columns there are, and their names", accepted=True),)
        found += identifiers_assumed(getattr(estimator.model_, "feature_names", ()))
    if weighted:
        found += (Assumption("weights", "the weight of each row", accepted=True),)
    return found + _rows_assumed(estimator.neighbouring, schema)


def _rows_assumed(neighbouring: str, schema: Schema | None) -> tuple[Assumption, ...]:
    """The number of rows, where the relation makes it public."""
    if neighbouring != "replace_one":
        return ()
    what = "rows" if schema is None or schema.unit is None else f"different {schema.unit.column} values"
    return (Assumption("rows", f"the number of {what}", accepted=True),)
