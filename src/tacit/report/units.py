"""The units of effects: odds for classes, the target's own units for numbers, ratios for counts and costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, final

from tacit.report import svg


class Units(Protocol):
    """How effects become words, ticks and cells of a table."""

    @property
    def header(self) -> tuple[str, ...]:
        """Header of the table of a drawing."""

    @property
    def least(self) -> float:
        """An effect smaller than this does not stand out."""

    @property
    def what(self) -> str:
        """What effects move: ``"the odds"``."""

    def ticks(self, low: float, high: float) -> list[tuple[float, str]]:
        """Ticks of an axis of effects."""

    def say(self, value: float) -> str:
        """An effect in words: ``"odds 2.00 times as high"``."""

    def cells(self, value: float) -> tuple[str, ...]:
        """An effect as cells of the table."""


def factor(log_ratio: float) -> str:
    """The factor that a logarithm stands for: ``×2.00`` doubles odds or a mean, ``÷2.00`` halves them."""
    if abs(log_ratio) < 5e-4:
        return "×1"
    size = math.exp(min(abs(log_ratio), 30.0))
    return f"{'×' if log_ratio > 0 else '÷'}{size:.2f}" if size < 100 else f"{'×' if log_ratio > 0 else '÷'}{size:.0f}"


class _Factors:
    """What logarithms share that are shown as factors."""

    least = 0.02

    def ticks(self, low: float, high: float) -> list[tuple[float, str]]:
        return svg.odds_ticks(low, high)

    def cells(self, value: float) -> tuple[str, ...]:
        return (f"{value:+.3f}", factor(value))


@final
class Odds(_Factors):
    """Log-odds, shown as factors of the odds."""

    header = ("value", "log-odds", "odds", "noise (sd)", "rows (noisy)")
    what = "the odds"

    def say(self, value: float) -> str:
        if abs(value) < 5e-3:
            return "the odds stay as they are"
        return f"odds {factor(abs(value))[1:]} times as {'high' if value > 0 else 'low'}"


ODDS = Odds()


@final
@dataclass(frozen=True)
class Amounts:
    """Units of a numeric target; ``reach`` is the width of its declared range."""

    target: str
    reach: float

    header = ("value", "effect", "noise (sd)", "rows (noisy)")

    @property
    def least(self) -> float:
        return 1e-3 * self.reach

    @property
    def what(self) -> str:
        return self.target

    def ticks(self, low: float, high: float) -> list[tuple[float, str]]:
        return [(tick, signed(tick) if tick else "0") for tick in svg.even_ticks(low, high)]

    def say(self, value: float) -> str:
        return signed(value)

    def cells(self, value: float) -> tuple[str, ...]:
        return (signed(value),)


@final
@dataclass(frozen=True)
class Ratios(_Factors):
    """Logarithms of means of a target, shown as factors of its mean."""

    target: str

    header = ("value", "log ratio", "ratio", "noise (sd)", "rows (noisy)")

    @property
    def what(self) -> str:
        return f"the mean of {self.target}"

    def say(self, value: float) -> str:
        return factor(value)


def signed(value: float) -> str:
    """A number with its sign, short."""
    return f"{'+' if value >= 0 else '−'}{svg.short(abs(value))}"
