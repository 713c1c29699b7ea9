"""Failures of a contract, gathered: one run names all that is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import final

from tacit.errors import TacitError

MAX_LINES = 20
"""Failures that are listed; the others are counted."""


class CheckError(TacitError, AssertionError):
    """A learner, query or mechanism does not keep its contract; the message lists what failed.

    Example:
        >>> import numpy as np
        >>> from tacit.checks import CheckError, Law, check_mechanism
        >>> try:
        ...     check_mechanism(lambda n: np.zeros(n, np.int64), Law(0, np.array([0.5, 0.5])))
        ... except CheckError:
        ...     print("the draws are not those of a coin")
        the draws are not those of a coin
    """


def is_frozen(value: object) -> bool:
    """Whether a value is of a frozen dataclass."""
    return bool(getattr(getattr(type(value), "__dataclass_params__", None), "frozen", False))


@final
@dataclass
class Failures:
    """What failed of the contract of one thing, in words."""

    of: str
    lines: list[str] = field(default_factory=list)

    def expect(self, holds: bool, otherwise: str) -> None:
        """Adds a failure unless a check holds; the same words count once."""
        if not holds and otherwise not in self.lines:
            self.lines.append(otherwise)

    @contextmanager
    def during(self, what: str) -> Iterator[None]:
        """Turns an error in a part of the contract into a failure, so that the other parts are checked as well."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever is raised is what failed
            self.expect(False, f"{what}: {type(error).__name__}: {error}")

    def raise_any(self) -> None:
        """Raises CheckError if anything failed."""
        if self.lines:
            lines = "".join(f"\n- {line}" for line in self.lines[:MAX_LINES])
            more = len(self.lines) - MAX_LINES
            raise CheckError(f"{self.of} does not keep its contract:{lines}" + (f"\n- {more} more" * (more > 0)))
