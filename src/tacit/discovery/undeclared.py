"""What a fit finds out about a table that no schema describes, as a share of its own budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NoReturn, final

from tacit.curator.rows import PrivateRows
from tacit.discovery.bounds import BOUNDS_SHARE
from tacit.discovery.unknowns import (
    ASKED,
    BOOLEAN,
    IGNORED,
    KEYED,
    NUMERIC,
    Unknowns,
    discover_within,
    kind_of,
    plain_classes,
    unknowns_of,
)
from tacit.encoding.frames import Frame
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.request import Request, RequestError
from tacit.schema import Schema
from tacit.schema.values import parse_number

DISCOVERY_SHARE = 0.1
"""Share of a fit's budget that finds bounds and categories, where there are columns of texts."""

CLASSES_SHARE = 0.02
"""Share of a fit's budget that finds the classes, where nothing else is unknown."""

TEXTS, NUMBERS, BOOLEANS, OBJECTS, UNTYPED = "texts", "numbers", "booleans", "objects", "untyped"


def label_kind(labels: Any, frame: Frame) -> str:
    """What labels are, by their dtype: texts, numbers, booleans, objects, or untyped (a list, a CSV file).

    Categories count as what their own dtype says.
    """
    if isinstance(labels, list | tuple) or frame.untyped:
        return UNTYPED
    categories = getattr(getattr(labels, "dtype", None), "categories", None)
    labels = labels if categories is None or isinstance(categories, list) else categories
    kind = kind_of(labels)
    return {ASKED: OBJECTS, KEYED: TEXTS, BOOLEAN: BOOLEANS if categories is None else OBJECTS}.get(kind, NUMBERS)


@final
@dataclass(frozen=True)
class Found:
    """What was found, released: schema (None if columns were declared), classes, and what is left of the budget."""

    schema: Schema | None
    label_index: LabelIndex | NumericLabelIndex
    allowance: Allowance

    def encoding(self, cells: int) -> TableEncoding | None:
        """The public encoding of the columns found; ``cells`` is the size of numeric grids."""
        return None if self.schema is None else TableEncoding.of(self.schema, cells)


@final
@dataclass(frozen=True)
class Undeclared:
    """What is to be found before a fit can learn. Public: made from names and dtypes."""

    unknowns: Unknowns
    labels: str
    delta: float

    @staticmethod
    def of(frame: Frame, columns_unknown: bool, labels: str, classes_unknown: bool, request: Request) -> Undeclared:
        """What is unknown about a table.

        Args:
            frame: its columns.
            columns_unknown: whether no schema declares them.
            labels: from :func:`label_kind`.
            classes_unknown: whether nobody declared them either. Booleans are known; others are found, which takes
                a delta.
            request: what the fit may spend.

        Raises:
            RequestError: if there is no column to learn from, or classes would have to be found without a delta.
        """
        keys = request.delta > 0 or math.isinf(request.epsilon)
        wanted = classes_unknown and labels != BOOLEANS
        if wanted and not keys:
            refuse_unnamed("finding them takes a delta above 0")
        exact = labels in (TEXTS, UNTYPED)
        if not columns_unknown:
            return Undeclared(Unknowns({}, wanted, exact_classes=exact), labels, request.delta)
        unknowns = unknowns_of(frame, wanted, exact)
        if not keys:  # without a delta there is no asking: what has no dtype is read as numbers
            kinds = {
                name: (KEYED if name in unknowns.objects else NUMERIC) if kind == ASKED else kind
                for name, kind in unknowns.kinds.items()
            }
            unknowns = replace(unknowns, kinds=kinds)
        if all(kind == IGNORED for kind in unknowns.kinds.values()):
            raise RequestError("there is no column to learn from: dates and nested values are ignored")
        return Undeclared(unknowns, labels, request.delta)

    @property
    def share(self) -> float:
        """What finding it takes of the allowance."""
        columns = set(self.unknowns.kinds.values())
        if columns & {KEYED, ASKED}:
            return DISCOVERY_SHARE
        if NUMERIC in columns:
            return BOUNDS_SHARE
        return CLASSES_SHARE if self.unknowns.classes else 0.0

    @property
    def key_charges(self) -> list[Charge]:
        """What the parts of delta cost that categories and classes take, beside the allowance."""
        return self.unknowns.charges(self.delta)

    def allowance(self, epsilon: float) -> Allowance:
        """What is left for everything else; :class:`RequestError` where keys would need a delta that is not there."""
        return self.unknowns.allowance(epsilon, self.delta)

    def find(
        self,
        private_rows: PrivateRows,
        label_index: LabelIndex | NumericLabelIndex,
        allowance: Allowance,
        most_classes: int,
    ) -> Found:
        """Finds it, under the reservation of the rows, for :meth:`allowance`; at most so many classes.

        ``label_index`` stands for classes that are not to be found, or of which none is.
        """
        discovered = discover_within(private_rows, self.unknowns, label_index, allowance, self.share, self.delta)
        if self.unknowns.classes:
            keys = discovered.classes or ()
            numbers = self.labels != TEXTS and bool(keys) and all(parse_number(key) is not None for key in keys)
            label_index = discovered.label_index(numbers, most_classes) or label_index
            if self.labels == OBJECTS and keys and set(keys) <= {"false", "true"}:
                label_index = LabelIndex((False, True))
            if numbers and plain_classes(keys, numeric=True) in ((0,), (1,)):
                label_index = LabelIndex((0, 1))
        schema = Schema(discovered.columns) if discovered.columns else None
        return Found(schema, label_index, allowance.part(1 - self.share))


def refuse_unnamed(why: str) -> NoReturn:
    """Raises where nobody says which classes there are, and nothing finds out: before anything is spent.

    Whatever the labels hold: that they are 0 and 1 cannot be seen without reading them, and if they were others, the
    fit would spend its budget on no rows at all.

    Raises:
        RequestError: says how to name the classes.
    """
    raise RequestError(
        f"Unknown label type: no classes were declared, and {why}. Name them, of two the positive one last, "
        "such as classes=(0, 1) or classes=('no', 'yes'), or declare a label in a schema"
    )


def refuse_undeclared(frame: Frame | None, labels: str, schema: Schema | None, classes: Any) -> None:
    """For callers whose budget has no place for discovery: columns are declared or numbers, classes declared.

    ``frame`` is None for a matrix of rows.

    Raises:
        RequestError: names what is not.
    """
    kinds = {} if frame is None or schema is not None else unknowns_of(frame).kinds
    texts = [name for name, kind in kinds.items() if kind in (KEYED, ASKED)]
    if texts:
        raise RequestError(
            f"column {texts[0]!r} has categories that no schema declares, and a search does not look for them: declare "
            "a schema, or find one with discover_schema"
        )
    unknown = classes is None and (schema is None or schema.label is None)
    if unknown and labels != BOOLEANS:
        refuse_unnamed("a search does not look for them")
