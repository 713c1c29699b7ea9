"""Numeric labels in fixed point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.encoding.numbers import as_numbers
from tacit.schema.cell_format import PLAIN_CELLS, CellFormat
from tacit.schema.columns import check_bounds
from tacit.schema.label import Label
from tacit.schema.values import plain_count, plain_number, short_number

NO_LABEL = -1
"""The code of a numeric label that is missing: the row is dropped."""


@final
@dataclass(frozen=True)
class NumericLabelIndex:
    """Numeric labels to integers ``0 .. unit``: ``lower`` is 0, ``upper`` is ``unit = 2**bits``, clipped, rounded down.

    NaN and infinity give :data:`NO_LABEL`. ``format`` says how cells are written where labels are read
    (:func:`tacit.encoding.inputs.numbers_of`).
    """

    lower: float
    upper: float
    bits: int = 15
    format: CellFormat = PLAIN_CELLS

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", plain_number(self.lower, "lower"))
        object.__setattr__(self, "upper", plain_number(self.upper, "upper"))
        check_bounds(self.lower, self.upper)
        plain_count(self.bits, "bits", 1, 24)

    @staticmethod
    def of(label: Label, bits: int = 15) -> NumericLabelIndex:
        if label.lower is None or label.upper is None:
            raise ValueError(f"label '{label.column}' is not numeric")
        return NumericLabelIndex(label.lower, label.upper, bits, label.cell_format)

    @property
    def n_classes(self) -> int:
        """All rows with a label are of one class, as far as counts go."""
        return 1

    @property
    def names(self) -> tuple[()]:
        return ()

    @property
    def unit(self) -> int:
        """Integer units between the bounds."""
        return 1 << self.bits

    def encode(self, values: Any, name: str = "") -> npt.NDArray[np.int32]:
        """Fixed-point labels, shape ``(n,)``; each depends on its own value only."""
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = as_numbers(values, name).astype(np.float64)
            share = (numbers - self.lower) * (self.unit / (self.upper - self.lower))
            codes = np.clip(np.nan_to_num(share, nan=0.0), 0, self.unit).astype(np.int32)
        codes[~np.isfinite(numbers)] = NO_LABEL
        return codes

    def value(self, codes: npt.ArrayLike) -> Floats:
        """The label that an integer (or a mean of integers) stands for."""
        return self.lower + np.asarray(codes, np.float64) * ((self.upper - self.lower) / self.unit)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "numeric_label",
            "lower": short_number(self.lower),
            "upper": short_number(self.upper),
            "bits": self.bits,
            **({} if self.format == PLAIN_CELLS else {"format": self.format.to_dict()}),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> NumericLabelIndex:
        return NumericLabelIndex(
            data["lower"], data["upper"], data["bits"], CellFormat.from_dict(data.get("format", {}))
        )
