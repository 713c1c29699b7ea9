"""`DecisionListWinnow`: decision lists learned online, as halfspaces over features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.encoding.inputs import plain
from tacit.learning.checks import check_integer
from tacit.online.features import Conjunctions, FeatureError, all_conjunctions, conjunction_width, named_conjunctions
from tacit.online.winnow import Winnow
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.request import Request, RequestError
from tacit.theory.winnow import lemma_4_10

INHERITED = ("margin", "signed", "constant")
"""Those that :class:`DecisionListWinnow` settles itself."""


class DecisionListWinnow(Winnow):
    """A private Winnow for decision lists: a list with few alternations is a halfspace (Bun, Fang, Lemma 4.10).

    The features are the coordinates with their negations and, for ``k`` of 2 and more, all conjunctions of up to ``k``
    of them; or those that are named (Theorem 4.12). Weights are signed and there is a constant. With ``length`` and
    ``alternations`` the schedule has the mistake bound for lists of that shape; without, it is the one that does best.

    Args:
        epsilon, delta, neighbouring, horizon, update, columns, schema: as in :class:`Winnow`.
        bins, labels, invalid, account, seed, period, carried: likewise.
        k: the most conditions in a rule.
        length: the most rules of the list, the default included; None if no bound is wanted.
        alternations: how often its bits change at most; needed with ``length``.
        features: candidates to use instead, in words: ``["x1 and not x2", ...]`` over the columns or, under a schema,
            ``["age >= 40 and ward is b", ...]`` over its thresholds and categories.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        neighbouring: str = "add_or_remove_one",
        horizon: int = 100_000,
        update: str | None = None,
        k: int = 1,
        length: int | None = None,
        alternations: int | None = None,
        columns: tuple[str, ...] | None = None,
        schema: Any = None,
        bins: int = 8,
        labels: tuple[Any, ...] | None = None,
        invalid: str = "error",
        account: PrivacyAccount | None = None,
        seed: int | None = None,
        features: Sequence[str] | None = None,
        period: int | None = None,
        carried: float = 0.0,
    ) -> None:
        super().__init__(
            epsilon, delta, neighbouring, horizon, update, None, True, True, columns, schema, bins, labels, invalid,
            account, seed, period, carried,
        )  # fmt: skip
        self.k = k
        self.length = length
        self.alternations = alternations
        self.features = features
        self._named: Conjunctions | None = None

    def _request(self) -> Request:
        check_integer("k", self.k)
        if self.features is not None and (isinstance(self.features, str) or not list(self.features)):
            raise RequestError("features must be a list of conjunctions, such as ['x1 and not x2']")
        if (self.length is None) != (self.alternations is None):
            raise RequestError("give length and alternations together, or neither")
        if self.length is not None and self.alternations is not None:
            if len(self._classes) != 2:
                raise RequestError("the bound of lists is for two classes: leave length and alternations out for more")
            try:
                self.margin = lemma_4_10(int(self.length), int(self.alternations))
            except ValueError as error:
                raise RequestError(f"{error}") from None
        return super()._request()

    def _width(self, columns: int) -> int:
        if self.features is not None:
            return len(list(self.features)) + 1
        return conjunction_width(columns, int(self.k)) + 1

    def _expand(self, points: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        try:
            if self.features is not None:
                assert self._rows is not None
                if self._named is None:
                    self._named = named_conjunctions(list(self.features), self._rows.coordinates)
                points = self._named.of(points)
            elif self.k > 1:
                points = all_conjunctions(points.shape[1], int(self.k)).of(points)
        except FeatureError as error:
            raise RequestError(error.message) from None
        return super()._expand(points)

    def _public_parameters(self) -> dict[str, Any]:
        found = {name: value for name, value in super()._public_parameters().items() if name not in INHERITED}
        features = None if self.features is None else tuple(self.features)
        own = {name: plain(getattr(self, name)) for name in ("k", "length", "alternations")}
        return {**found, **own, "features": features}
