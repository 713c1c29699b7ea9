"""The public side of a fit: which columns, how they are encoded, and what kind of label there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from tacit.discovery.undeclared import Undeclared
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.queries.score_rules import TARGET_BITS
from tacit.schema import NumericColumn, Schema, Unit
from tacit.schema.cell_format import PLAIN_CELLS, CellFormat

FINE_CELLS = 65_535
"""Cells of a numeric column's public grid, where its schema does not fix them."""


@final
@dataclass(frozen=True)
class Target:
    """A label that is a number.

    Attributes:
        name: of its column; ``"target"`` where no schema names it.
        bounds: how targets become integers; None while nobody has declared or found their bounds.
    """

    name: str
    bounds: NumericLabelIndex | None

    @property
    def written(self) -> CellFormat:
        """How its cells are written."""
        return PLAIN_CELLS if self.bounds is None else self.bounds.format

    @property
    def index(self) -> NumericLabelIndex:
        """How targets become integers, once their bounds are known."""
        if self.bounds is None:
            raise TypeError("the bounds of the target are still to be found")
        return self.bounds


ANY_BOUNDS = NumericLabelIndex(-1.0, 1.0, TARGET_BITS)
"""Stands for a target without bounds where rows are counted: which of them count does not depend on the bounds."""


@dataclass(frozen=True)
class Task:
    """The public side of a fit.

    Attributes:
        schema: as given, or found; None if there is none.
        names: feature names, in order.
        label: the classes and their sides, or the number.
        encoding: the public encoding of the features; None until bounds are found.
        undeclared: what the fit finds out before it learns; None if nothing, or by the learner itself.
        public_rows: the number of rows, where the relation makes it public; None where it is private, or random.
    """

    schema: Schema | None
    names: tuple[str, ...]
    label: LabelIndex | Target
    encoding: TableEncoding | None
    undeclared: Undeclared | None = None
    public_rows: int | None = None

    @property
    def unit(self) -> Unit | None:
        """Who is protected, if it is not a row."""
        return None if self.schema is None else self.schema.unit

    @property
    def label_index(self) -> LabelIndex:
        """The classes; raises :class:`TypeError` of a label that is a number, which learners of classes never see."""
        if isinstance(self.label, Target):
            raise TypeError("the label is a number")
        return self.label

    @property
    def target(self) -> Target:
        """The number; raises :class:`TypeError` of a label that has classes, which regressors never see."""
        if not isinstance(self.label, Target):
            raise TypeError("the label has classes")
        return self.label

    @property
    def label_codes(self) -> LabelIndex | NumericLabelIndex:
        """How labels become integers, of either kind."""
        if isinstance(self.label, Target):
            return ANY_BOUNDS if self.label.bounds is None else self.label.bounds
        return self.label


def monotone_of(task: Task, name: str) -> str | None:
    """How the effect of a column is declared to go: ``"increasing"``, ``"decreasing"`` or None."""
    column = None if task.schema is None else task.schema.columns.get(name)
    return column.monotone if isinstance(column, NumericColumn) else None
