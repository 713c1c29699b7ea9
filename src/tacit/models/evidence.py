"""What was released of a model's errors on its own rows, and what that proves about new ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tacit.models.plain import number, require, whole
from tacit.theory.averaged_noise import MOST_ROWS
from tacit.theory.certified_error import certified_error

FAILURE = 0.05
"""Probability that a bound fails, over the rows and the noise, where nobody asks for another."""


@dataclass(frozen=True)
class CountedErrors:
    """Noisy numbers of the rows that a model of a countable class gets wrong and right.

    The class and the prior over it were public before the rows were read. Rows that are not known to be right count as
    wrong.
    """

    wrong: float  # the sum of the noisy counts of rows that the model gets wrong
    right: float  # of those that it gets right
    wrong_cells: int  # how many counts were added for `wrong`
    right_cells: int  # for `right`
    sd: float  # standard deviation of the noise in a count
    log_models: float  # logarithm of one over the prior of the model

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


SURE = 3.0
"""A released number of rows that lies so many standard deviations of its noise from a declared one contradicts it."""


@dataclass(frozen=True)
class ErrorPromise:
    """What a theorem promised of a fit's errors beforehand, and the number of rows that was counted in it."""

    error: float  # alpha: the share of rows that are got wrong, at most
    failure: float  # probability that it is more
    margin: float  # tau, of a halfspace over rows of norm at most 1 that the promise takes for granted
    violating: float  # how many rows may violate the margin, as a share of `rows`
    errors_on: str  # `"new_rows"`, which are independent draws then, or `"training_rows"`
    rows: int  # the declared number of rows
    counted: float  # the released number of rows
    sd: float  # standard deviation of its noise

    @property
    def is_withdrawn(self) -> bool:
        """Whether the released number of rows contradicts the declared one: it is less, or more than twice as many."""
        return self.counted + SURE * self.sd < self.rows or self.counted - SURE * self.sd > MOST_ROWS * self.rows

    def __str__(self) -> str:
        if self.is_withdrawn:
            return (
                f"the promised error of at most {100 * self.error:g} % is withdrawn: it was for {self.rows:,} to "
                f"{MOST_ROWS * self.rows:,.0f} rows, and about {self.counted:,.0f} were counted"
            )
        where = "its training rows" if self.errors_on == "training_rows" else "new rows"
        return (
            f"on {where} it errs on at most {100 * self.error:g} %: proved, with confidence {1 - self.failure:.4g}, if "
            f"there are at least {self.rows:,} rows and a halfspace has margin {self.margin:g} on all but "
            f"{int(self.violating * self.rows):,} of them"
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON data."""
        return asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> ErrorPromise:
        """The inverse of :meth:`to_dict`."""
        where = data["errors_on"]
        require(where in ("new_rows", "training_rows"), "errors are on new rows, or on training rows")
        error, failure, margin, violating = (
            number(data[name], name, 0.0, 1.0) for name in ("error", "failure", "margin", "violating")
        )
        counted, sd = number(data["counted"], "the number of rows"), number(data["sd"], "its deviation", 0.0)
        rows = whole(data["rows"], "the declared number of rows", 1)
        return ErrorPromise(error, failure, margin, violating, where, rows, counted, sd)
