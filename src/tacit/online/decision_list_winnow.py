"""`DecisionListWinnow`: decision lists learned online, as halfspaces over features."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools
from tacit.encoding.inputs import plain
from tacit.errors import UNSPENT, TacitError
from tacit.learning.checks import check_integer
from tacit.online.winnow import Winnow
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.request import Request, RequestError
from tacit.theory.winnow import lemma_4_10

MOST_FEATURES = 1 << 18
"""Coordinates that conjunctions may make."""


class FeatureError(TacitError):
    """Features that cannot be read, or are too many. Nothing was spent, and the stream is as it was."""

    usual = UNSPENT


@dataclass(frozen=True, eq=False)
class Conjunctions:
    """Conjunctions of coordinates and their negations.

    Attributes:
        places: int32, shape ``(n, width)``: the coordinates of each; -1 fills up.
        signs: boolean, the same shape: whether the coordinate is to be 1 (True) or -1.
    """

    places: npt.NDArray[np.int32]
    signs: Bools

    def __len__(self) -> int:
        return len(self.places)

    def of(self, points: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        """Per row and conjunction 1 where it holds and -1 elsewhere, shape ``(rows, n)``."""
        true = points > 0
        holds = np.ones((len(points), len(self.places)), np.bool_)
        for place, sign in zip(self.places.T, self.signs.T, strict=True):
            holds &= (true[:, place] == sign) | (place < 0)
        return np.where(holds, 1, -1).astype(np.int8)


def conjunction_width(dimension: int, k: int) -> int:
    """Coordinates of :func:`all_conjunctions`: signed weights make the negation of a single literal for free."""
    return dimension + sum(int(2**j) * math.comb(dimension, j) for j in range(2, k + 1))


@lru_cache(maxsize=16)
def all_conjunctions(dimension: int, k: int) -> Conjunctions:
    """The coordinates, then all conjunctions of 2 to ``k`` of them with all signs; refused if they are too many."""
    width = conjunction_width(dimension, k)
    if width > MOST_FEATURES:
        raise FeatureError(
            f"{dimension} coordinates make {width:,} conjunctions of up to {k}, and at most {MOST_FEATURES:,} can be "
            "enumerated: lower k, or name the features"
        )
    places, required = np.full((width, k), -1, np.int32), np.ones((width, k), np.bool_)
    places[:dimension, 0] = np.arange(dimension)
    line = dimension
    for j in range(2, k + 1):
        signs = np.array(list(itertools.product((True, False), repeat=j)))
        sets = np.array(list(itertools.combinations(range(dimension), j)), np.int32).reshape(-1, j)
        size = len(sets) * len(signs)
        places[line : line + size, :j] = np.repeat(sets, len(signs), axis=0)
        required[line : line + size, :j] = np.tile(signs, (len(sets), 1))
        line += size
    return Conjunctions(places, required)


def named_conjunctions(features: Sequence[str], coordinates: Sequence[str]) -> Conjunctions:
    """Features in words, ``"age >= 40 and not sex is Male"``, over the words of the coordinates; refuses others."""
    place_of = {name: place for place, name in enumerate(coordinates)}
    lines = []
    for feature in features:
        parts = [part.strip() for part in re.split(r"\s+and\s+", str(feature).strip())]
        literals = []
        for part in parts:
            name = part.removeprefix("not ").strip()
            if name not in place_of:
                raise FeatureError(
                    f"feature {feature!r}: there is no coordinate {name!r}; known are {_some(coordinates)}. Nothing "
                    "was spent"
                )
            literals.append((place_of[name], part == name))
        lines.append(literals)
    width = max(len(line) for line in lines)
    places, signs = np.full((len(lines), width), -1, np.int32), np.ones((len(lines), width), np.bool_)
    for row, line in enumerate(lines):
        for column, (place, sign) in enumerate(line):
            places[row, column], signs[row, column] = place, sign
    return Conjunctions(places, signs)


def _some(names: Sequence[str]) -> str:
    listed = ", ".join(repr(name) for name in names[:12])
    return listed if len(names) <= 12 else f"{listed}, ... ({len(names)} in all)"


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

    Example:
        >>> import numpy as np
        >>> from tacit.online import DecisionListWinnow
        >>> rows = np.random.default_rng(0).integers(0, 2, (1000, 6)) == 1
        >>> model = DecisionListWinnow(horizon=1000, labels=(-1, 1))
        >>> model.learn_many(rows, np.where(rows[:, 0], 1, -1))
        >>> print(model.certificate_.epsilon)
        1.0
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
        parameters = {name: value for name, value in super()._public_parameters().items() if name not in INHERITED}
        features = None if self.features is None else tuple(self.features)
        own = {name: plain(getattr(self, name)) for name in ("k", "length", "alternations")}
        return {**parameters, **own, "features": features}
