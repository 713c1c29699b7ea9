"""What was released of a model's errors on its own rows, and what that proves about new ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tacit.models.plain import number, whole
from tacit.theory.certified_error import certified_error

FAILURE = 0.05
"""Probability that a bound fails, over the rows and the noise, where nobody asks for another."""


@dataclass(frozen=True)
class CountedErrors:
    """Noisy numbers of the rows that a model of a countable class gets wrong and right.

    The class and the prior over it were public before the rows were read. Rows that are not known to be right count as
    wrong.

    Attributes:
        wrong: the sum of the noisy counts of rows that the model gets wrong.
        right: of those that it gets right.
        wrong_cells: how many counts were added for ``wrong``.
        right_cells: for ``right``.
        sd: standard deviation of the noise in a count.
        log_models: logarithm of one over the prior of the model.
    """

    wrong: float
    right: float
    wrong_cells: int
    right_cells: int
    sd: float
    log_models: float

    def bound(self, failure: float = FAILURE) -> float:
        """A bound of the error on new rows that fails with probability at most ``failure``; 1 if nothing is proved."""
        cells = (self.wrong_cells, self.right_cells)
        return certified_error(self.wrong, self.right, cells, self.sd, self.log_models, failure)

    def to_dict(self) -> dict[str, Any]:
        """As JSON data."""
        return asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> CountedErrors:
        """The inverse of :meth:`to_dict`."""
        wrong_cells, right_cells = (whole(data[f"{name}_cells"], "the number of counts") for name in ("wrong", "right"))
        sd, log_models = (number(data[name], name, least=0.0) for name in ("sd", "log_models"))
        wrong, right = (number(data[name], f"the count of {name} rows") for name in ("wrong", "right"))
        return CountedErrors(wrong, right, wrong_cells, right_cells, sd, log_models)
