"""`DecisionListWinnow`: decision lists learned online, as halfspaces over features."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.faces.request import Request, RequestError
from tacit.online.rows import conjunction_width, conjunctions
from tacit.online.winnow import Winnow
from tacit.privacy.account import PrivacyAccount
from tacit.theory.winnow import lemma_4_10

INHERITED = ("margin", "signed", "constant")
"""Those that :class:`DecisionListWinnow` settles itself."""


class DecisionListWinnow(Winnow):
    """A private Winnow for decision lists: a list with few alternations is a halfspace (Bun, Fang, Lemma 4.10).

    The features are the coordinates with their negations and, for ``k = 2``, all conjunctions of two of them
    (Theorem 4.12); weights are signed and there is a constant. With ``length`` and ``alternations`` the schedule has
    the mistake bound for lists of that shape; without, it is the one that does best.

    Args:
        epsilon, delta, neighbouring, horizon, update, columns, schema, bins, labels, invalid, account, seed: as in
            :class:`Winnow`.
        k: the most conditions in a rule, 1 or 2.
        length: the most rules of the list, the default included; None if no bound is wanted.
        alternations: how often its bits change at most; needed with ``length``.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        neighbouring: str = "add_or_remove_one",
        horizon: int = 100_000,
        update: str = "batch",
        k: int = 1,
        length: int | None = None,
        alternations: int | None = None,
        columns: tuple[str, ...] | None = None,
        schema: Any = None,
        bins: int = 8,
        labels: tuple[Any, ...] = (False, True),
        invalid: str = "error",
        account: PrivacyAccount | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            epsilon, delta, neighbouring, horizon, update, None, True, True, columns, schema, bins, labels, invalid,
            account, seed,
        )  # fmt: skip
        self.k = k
        self.length = length
        self.alternations = alternations

    def _request(self) -> Request:
        if self.k not in (1, 2):
            raise RequestError(f"k must be 1 or 2, got {self.k!r}")
        if (self.length is None) != (self.alternations is None):
            raise RequestError("give length and alternations together, or neither")
        if self.length is not None and self.alternations is not None:
            try:
                self.margin = lemma_4_10(int(self.length), int(self.alternations))
            except ValueError as error:
                raise RequestError(f"{error}") from None
        return super()._request()

    def _width(self, columns: int) -> int:
        return conjunction_width(columns, self.k) + 1

    def _expand(self, points: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        return super()._expand(conjunctions(points, self.k))

    def _public_parameters(self) -> dict[str, Any]:
        found = {name: value for name, value in super()._public_parameters().items() if name not in INHERITED}
        return {**found, "k": self.k, "length": self.length, "alternations": self.alternations}
