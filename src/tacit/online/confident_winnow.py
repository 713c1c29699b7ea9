"""ConfidentWinnow: the non-private algorithm under DP-Winnow (Bun, Fang, Algorithm 4.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats


class ConfidentWinnow:
    """Multiplicative weights that are updated on every mistake, and on unconfident rounds if an adversary says so.

    Not private. Guarantee: Lemma 4.2, :func:`tacit.theory.winnow.confident_updates`, whatever the rows and bits, as
    long as some ``v >= 0`` with ``sum(v) = 1`` has ``y <v, x> >= margin`` in every round.

    Args:
        dimension: number of weights.
        margin: ``rho``.
        learning_rate: ``eta``; None for ``(1 - c) rho``, at which the bound is least.
        confidence: ``c`` in [0, 1/2]: a prediction is confident if ``|<w, x>| >= c rho``.

    Attributes:
        weights: ``w``, nonnegative, of sum 1.
        updates: how many there were.

    Example:
        >>> from tacit.online import ConfidentWinnow
        >>> model = ConfidentWinnow(dimension=3, margin=0.5)
        >>> print(type(model).__name__)
        ConfidentWinnow
    """

    def __init__(
        self, dimension: int, margin: float, learning_rate: float | None = None, confidence: float = 0.5
    ) -> None:
        if dimension < 1 or not 0 < margin <= 1 or not 0 <= confidence <= 0.5:
            raise ValueError(
                "need dimension >= 1, margin in (0, 1] and confidence in [0, 1/2], got "
                f"{dimension}, {margin}, {confidence}"
            )
        self.margin = margin
        self.confidence = confidence
        self.learning_rate = (1.0 - confidence) * margin if learning_rate is None else learning_rate
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate must be positive, got {learning_rate}")
        self.updates = 0
        self._exponents = np.zeros(dimension)

    @property
    def weights(self) -> Floats:
        """The weight vector, of sum 1; shape ``(dimension,)``."""
        powers = np.exp(self._exponents - self._exponents.max())
        weights: Floats = powers / powers.sum()
        return weights

    def score_one(self, x: npt.ArrayLike) -> float:
        """``<w, x>``, in [-1, 1]."""
        return float(self.weights @ self._checked(x))

    def predict_one(self, x: npt.ArrayLike) -> int:
        """1 or -1; 0 counts as -1."""
        return 1 if self.score_one(x) > 0 else -1

    def learn_one(self, x: npt.ArrayLike, y: int, bit: bool = True) -> bool:
        """One round.

        Args:
            x: point of ``{-1, 1}**d``.
            y: label, 1 or -1.
            bit: the adversary's ``b``: whether to update if the prediction is right but not confident.

        Returns:
            Whether the weights were updated.

        Raises:
            ValueError: for what is no such label or point.
        """
        if y not in (-1, 1):
            raise ValueError(f"a label must be -1 or 1, got {y!r}")
        row = self._checked(x)
        score = float(self.weights @ row)
        wrong = (1 if score > 0 else -1) != y
        if not wrong and not (bit and abs(score) < self.confidence * self.margin):
            return False
        self._exponents += self.learning_rate * y * row
        self.updates += 1
        return True

    def _checked(self, x: npt.ArrayLike) -> npt.NDArray[Any]:
        row = np.asarray(x)
        if row.shape != self._exponents.shape:
            raise ValueError(f"a row has {len(self._exponents)} coordinates, got shape {row.shape}")
        if not np.isin(row, (-1, 1)).all():
            raise ValueError("a row must hold -1 and 1 only")
        return row
