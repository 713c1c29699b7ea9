"""A smooth function of several columns: linear in random Fourier features of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.models.base import floats
from tacit.models.fourier_features import BLOCK, Bytes, FourierFeatures, weigh

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FourierTerm:
    """``f(x) = weights . phi(x)`` (log-odds).

    Attributes:
        features: the map ``phi``, over the bins of a model's columns.
        weights: shape ``(features.size,)``, for vectors of norm 1.
        sd: standard deviation that noise leaves in ``f``, on average over rows.
        spread: standard deviation of ``f`` over rows, about.
    """

    features: FourierFeatures
    weights: Floats
    sd: float
    spread: float

    def score(self, codes: Sequence[Bytes]) -> Floats:
        """``f`` of every row, shape ``(rows,)``.

        Args:
            codes: the bins of all columns of the model.
        """
        own = [codes[column] for column in self.features.columns]
        scores = np.empty(len(own[0]))
        weights = self.weights / self.features.unit
        for low in range(0, len(scores), BLOCK):
            weigh(self.features.of([column[low : low + BLOCK] for column in own]), weights, scores, low)
        return scores

    def reliance(self) -> Floats:
        """How fast ``f`` typically changes along each column, per unit of its scores; shape ``(columns,)``."""
        pairs = self.features.pairs
        power = self.weights[:pairs] ** 2 + self.weights[pairs:] ** 2
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
        features = FourierFeatures(
            tuple(int(column) for column in data["columns"]),
            tuple(floats(scores) for scores in data["scores"]),
            np.array([floats(line) for line in data["frequencies"]]),
        )
        return FourierTerm(features, floats(data["weights"]), float(data["sd"]), float(data["spread"]))
