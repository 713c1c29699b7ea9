"""Random Fourier features of binned columns, in integers: the same bits for rows, for simulated rows and for users.

``phi(x) = (cos(w_1 . z(x)), sin(w_1 . z(x)), ...) / sqrt(pairs)``, with ``z`` a number per code of every column and
``w`` random frequencies: products of such vectors come near a smooth kernel of ``x`` (Rahimi and Recht 2007). A phase
is a sum of one 16-bit number per column, whose overflow is a whole turn, so that a row's vector depends on nothing but
its codes; a cosine and a sine come from a table of integers, and no row's vector is longer than :data:`LENGTH` times
the root of the pairs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bytes, Floats
from tacit.display import Brief
from tacit.models.plain import floats, number, require, whole
from tacit.packages import loops

TURN = 1 << 16
"""Units of a whole turn."""

ANGLE_BITS = 10
"""Cosine and sine are looked up by so many leading bits of the phase."""

LENGTH = 127
"""No pair of cosine and sine is longer, in integer units."""

BINS = 256
"""A column has at most so many bins."""

BLOCK = 1 << 12
"""Rows whose phases are added up at a time."""

_ANGLES = (np.arange(1 << ANGLE_BITS) + 0.5) * (2.0 * math.pi / (1 << ANGLE_BITS))
COSINES = np.trunc(LENGTH * np.cos(_ANGLES)).astype(np.int8)
SINES = np.trunc(LENGTH * np.sin(_ANGLES)).astype(np.int8)
for _table in (COSINES, SINES):
    _table.flags.writeable = False


kernels = loops("tacit.models.fourier_kernels")


@dataclass(frozen=True, eq=False, repr=False)
class FourierFeatures(Brief):
    """A public map from the codes of a row to a vector of integers.

    Attributes:
        columns: the columns it looks at.
        scores: per column, the number ``z`` that stands for each code.
        frequencies: shape ``(pairs, columns)``, radians per unit of ``z``.
    """

    columns: tuple[int, ...]
    scores: tuple[Floats, ...]
    frequencies: Floats

    def __post_init__(self) -> None:
        if self.frequencies.shape[1:] != (len(self.columns),) or len(self.scores) != len(self.columns):
            raise ValueError("features need a frequency and scores of codes for every column")
        if not len(self.columns) or not len(self.frequencies):
            raise ValueError("features need a column and a frequency at least")

    @property
    def pairs(self) -> int:
        return len(self.frequencies)

    @property
    def size(self) -> int:
        """Width of a vector: all cosines, then all sines."""
        return 2 * self.pairs

    @property
    def unit(self) -> float:
        """Integer units of a vector of norm 1."""
        return LENGTH * math.sqrt(self.pairs)

    @cached_property
    def phases(self) -> list[npt.NDArray[np.uint16]]:
        """Per column, what a code adds to the phases: shape ``(codes, pairs)``."""
        turns = [np.outer(z, w) / (2.0 * math.pi) for z, w in zip(self.scores, self.frequencies.T, strict=True)]
        return [np.rint((turn % 1.0) * TURN).astype(np.int64).astype(np.uint16) for turn in turns]

    def find(self, codes: Sequence[Bytes], vectors: npt.NDArray[np.int8], start: int, stop: int) -> None:
        """Writes the vectors of rows ``start .. stop - 1``, int8 ``(rows, size)``, from codes of :attr:`columns`."""
        for low in range(start, stop, BLOCK):
            high = min(low + BLOCK, stop)
            phases = np.zeros((high - low, self.pairs), np.uint16)
            for column, table in zip(codes, self.phases, strict=True):
                kernels.add_phases(column, table, phases, low, high)
            kernels.look_up(phases, 16 - ANGLE_BITS, COSINES, SINES, vectors, low, high)

    def of(self, codes: Sequence[Bytes]) -> npt.NDArray[np.int8]:
        """The vectors of all rows, shape ``(rows, size)``."""
        vectors = np.empty((len(codes[0]), self.size), np.int8)
        self.find(codes, vectors, 0, len(vectors))
        return vectors


@dataclass(frozen=True, eq=False, repr=False)
class FourierTerm(Brief):
    """``f(x) = weights . phi(x)``, in units of the scores it is added to (log-odds for two classes).

    Attributes:
        features: the map ``phi``, over the bins of a model's columns.
        weights: for vectors of norm 1; shape ``(features.size,)`` for one score, ``(features.size, k)`` for ``k``.
        sd: standard deviation that noise leaves in a score, on average over rows and scores.
        spread: standard deviation of ``f`` over rows, about; of all scores together.
    """

    features: FourierFeatures
    weights: Floats
    sd: float
    spread: float

    def score(self, codes: Sequence[Bytes]) -> Floats:
        """``f`` of every row, shape ``(rows, *weights.shape[1:])``.

        Args:
            codes: the bins of all columns of the model.
        """
        own = [codes[column] for column in self.features.columns]
        weights = np.ascontiguousarray(np.atleast_2d(self.weights.T) / self.features.unit)
        scores = np.empty((len(weights), len(own[0])))
        for low in range(0, scores.shape[1], BLOCK):
            vectors = self.features.of([column[low : low + BLOCK] for column in own])
            for line, of_score in zip(scores, weights, strict=True):
                kernels.weigh(vectors, of_score, line, low)
        return np.ascontiguousarray(scores.T.reshape(-1, *self.weights.shape[1:]))

    def times(self, unit: float) -> FourierTerm:
        """The same function, multiplied by ``unit``."""
        return FourierTerm(self.features, unit * self.weights, unit * self.sd, unit * self.spread)

    def reliance(self) -> Floats:
        """How fast ``f`` typically changes along each column, per unit of its scores; shape ``(columns,)``."""
        pairs = self.features.pairs
        squares = np.square(self.weights).reshape(2 * pairs, -1).sum(axis=1)
        power = squares[:pairs] + squares[pairs:]
        speeds: Floats = np.sqrt((power[:, None] * self.features.frequencies**2).sum(axis=0) / (2.0 * pairs))
        return speeds

    def to_dict(self) -> dict[str, Any]:
        return {
            "columns": list(self.features.columns),
            "scores": [scores.tolist() for scores in self.features.scores],
            "frequencies": self.features.frequencies.tolist(),
            "weights": self.weights.tolist(),
            "sd": self.sd,
            "spread": self.spread,
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> FourierTerm:
        """The inverse of :meth:`to_dict`."""
        frequencies = floats(data["frequencies"], "frequencies")
        require(frequencies.ndim == 2, "frequencies must be a table")
        features = FourierFeatures(
            tuple(whole(column, "the number of a column") for column in data["columns"]),
            tuple(floats(scores, "scores") for scores in data["scores"]),
            frequencies,
        )
        sd, spread = (number(data[name], name, least=0.0) for name in ("sd", "spread"))
        return FourierTerm(features, floats(data["weights"], "weights"), sd, spread)

    def check(self, n_bins: Sequence[int], n_scores: int) -> None:
        """Refuses a function that is not of columns of so many bins, to so many scores.

        Raises:
            ModelError: says why.
        """
        bins = [n_bins[column] for column in self.features.columns if column < len(n_bins)]
        codes = [scores.shape for scores in self.features.scores]
        require(codes == [(n,) for n in bins] and max(bins) <= BINS, "the smooth function does not fit its columns")
        width, shapes = self.features.size, ((), (n_scores,)) if n_scores == 1 else ((n_scores,),)
        fits = self.weights.shape[:1] == (width,) and self.weights.shape[1:] in shapes
        require(fits, "the smooth function needs a weight for every feature and score")
