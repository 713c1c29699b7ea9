"""Features of decision lists learned online: conjunctions of coordinates, all of them or those that were named."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools
from tacit.errors import UNSPENT, TacitError

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
        wanted: boolean, the same shape: whether the coordinate is to be 1 (True) or -1.
    """

    places: npt.NDArray[np.int32]
    wanted: Bools

    def __len__(self) -> int:
        return len(self.places)

    def of(self, points: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        """Per row and conjunction 1 where it holds and -1 elsewhere, shape ``(rows, n)``."""
        true = points > 0
        held = np.ones((len(points), len(self.places)), np.bool_)
        for place, wanted in zip(self.places.T, self.wanted.T, strict=True):
            held &= (true[:, place] == wanted) | (place < 0)
        return np.where(held, 1, -1).astype(np.int8)


def conjunction_width(dimension: int, k: int) -> int:
    """Coordinates of :func:`all_conjunctions`: signed weights make the negation of a single literal for free."""
    return dimension + sum(int(2**j) * math.comb(dimension, j) for j in range(2, k + 1))


@lru_cache(maxsize=16)
def all_conjunctions(dimension: int, k: int) -> Conjunctions:
    """The coordinates, then all conjunctions of 2 to ``k`` of them with all signs.

    Raises:
        FeatureError: if they are more than can be enumerated.
    """
    width = conjunction_width(dimension, k)
    if width > MOST_FEATURES:
        raise FeatureError(
            f"{dimension} coordinates make {width:,} conjunctions of up to {k}, and at most {MOST_FEATURES:,} can be "
            "enumerated: lower k, or name the features"
        )
    places, wanted = np.full((width, k), -1, np.int32), np.ones((width, k), np.bool_)
    places[:dimension, 0] = np.arange(dimension)
    line = dimension
    for j in range(2, k + 1):
        signs = np.array(list(itertools.product((True, False), repeat=j)))
        sets = np.array(list(itertools.combinations(range(dimension), j)), np.int32).reshape(-1, j)
        size = len(sets) * len(signs)
        places[line : line + size, :j] = np.repeat(sets, len(signs), axis=0)
        wanted[line : line + size, :j] = np.tile(signs, (len(sets), 1))
        line += size
    return Conjunctions(places, wanted)


def named_conjunctions(features: Sequence[str], coordinates: Sequence[str]) -> Conjunctions:
    """Features in words: ``"age >= 40 and not sex is Male"``, over the words of the coordinates.

    Raises:
        FeatureError: names the feature and what is wrong with it.
    """
    known = {name: place for place, name in enumerate(coordinates)}
    lines = []
    for feature in features:
        parts = [part.strip() for part in re.split(r"\s+and\s+", str(feature).strip())]
        literals = []
        for part in parts:
            name = part.removeprefix("not ").strip()
            if name not in known:
                raise FeatureError(
                    f"feature {feature!r}: there is no coordinate {name!r}; known are {_some(coordinates)}. Nothing "
                    "was spent"
                )
            literals.append((known[name], part == name))
        lines.append(literals)
    width = max(len(line) for line in lines)
    places, wanted = np.full((len(lines), width), -1, np.int32), np.ones((len(lines), width), np.bool_)
    for row, line in enumerate(lines):
        for column, (place, sign) in enumerate(line):
            places[row, column], wanted[row, column] = place, sign
    return Conjunctions(places, wanted)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:12])
    return shown if len(names) <= 12 else f"{shown}, ... ({len(names)} in all)"
