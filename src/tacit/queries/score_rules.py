"""What a row contributes that has a vector of scores, or a numeric target: integer rules with exact bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.queries.query import largest_vector
from tacit.queries.rules import LEVEL_BITS, LEVELS, MARGIN_BITS, WEIGHT_UNIT

MEAN_BITS = 20  # means are in fixed point, a little finer than scores
FACTOR_BITS = 16  # so are the powers of the mean that residuals are multiplied by
SHARE_BITS = 15  # and the shares of the largest curvature

LARGEST_TARGET = 1 << 27
"""No target counts as larger, in fixed point (2048 units): products with a power of the mean then fit an int64."""

LARGEST_MEAN = 1 << 22  # the mean at a score of 0 is at most this, in fixed point (64 units)


@final
@dataclass(frozen=True)
class LogLink:
    """A score ``F`` stands for the mean ``mu = m exp(F)``, and a residual ``t - mu`` counts ``exp((1 - p) F)``.

    This is the score function of Tweedie's family of power ``p`` (Jorgensen 1987), whose variances grow as ``mu**p``,
    up to a public constant: Poisson's for 1, Gamma's for 2. Its mean is 0 where ``mu`` is the mean of ``t``, whatever
    law ``t`` follows, and it falls by ``m exp((2 - p) F)`` per unit of the score.

    Scores beyond the levels of :mod:`~tacit.queries.rules` count as the outermost.
    """

    power: float  # `p`, from 1 to 2
    mean: int  # `m`, in fixed point (`MARGIN_BITS`), 1 to `LARGEST_MEAN`

    def __post_init__(self) -> None:
        if not 1 <= self.power <= 2 or not 1 <= self.mean <= LARGEST_MEAN:
            raise ValueError(f"need a power from 1 to 2 and a mean of 1..{LARGEST_MEAN}, got {self}")

    @cached_property
    def means(self) -> Ints:
        """``m exp(F)`` by level at its lower edge, in units of ``2**-MEAN_BITS``; shape ``(LEVELS,)``."""
        scale = self.mean * 2.0 ** (MEAN_BITS - MARGIN_BITS)
        return np.rint(scale * np.exp(_lower_edges())).astype(np.int64)

    @cached_property
    def factors(self) -> Ints:
        """``exp((1 - p) F)`` by level, in units of ``2**-FACTOR_BITS``; shape ``(LEVELS,)``."""
        return np.rint(2.0**FACTOR_BITS * np.exp((1.0 - self.power) * _lower_edges())).astype(np.int64)

    @cached_property
    def shares(self) -> Ints:
        """The curvature by level, ``min(1, (exp(F) / 2)**(2 - p))`` in units of ``2**-SHARE_BITS``.

        A row of twice the mean at ``F = 0``, or more, counts in full.
        """
        share = np.minimum(1.0, np.exp((2.0 - self.power) * (_lower_edges() - np.log(2.0))))
        shares: Ints = np.floor(2.0**SHARE_BITS * share).astype(np.int64)
        return shares

    @property
    def largest(self) -> float:
        """The curvature that shares are of, in units of the score: ``m 2**(2 - p)``."""
        return float(self.mean / 2.0**MARGIN_BITS * 2.0 ** (2.0 - self.power))


def _lower_edges() -> Floats:
    return (np.arange(LEVELS) - LEVELS // 2) / 2.0**LEVEL_BITS


EXP_BITS = 30  # `exp` of a score difference is an integer below `2**EXP_BITS`
TARGET_BITS = 24  # bits of a numeric target: its lower bound is 0, its upper bound `2**TARGET_BITS`
LOWEST_OFFSET = -(1 << 32)  # no target of 0 lies farther below the lower bound, in codes

LARGEST_BOUND = 1 << 22
"""The largest clip of a residual, in fixed point (64 units of the score): sums of 2**28 rows then fit an int64."""


class _Opposite:
    """Contributions of which two may be opposite."""

    @property
    def longest(self) -> tuple[int, int]:
        raise NotImplementedError

    @property
    def diameter(self) -> tuple[int, int]:
        """Bounds of the norms of a difference of two contributions: opposite ones are twice as far apart."""
        l1, l2_squared = self.longest
        return 2 * l1, 4 * l2_squared


@final
@dataclass(frozen=True)
class SoftmaxRule(_Opposite):
    """The boosting contribution of a row with ``n_labels`` scores: ``c(p) (e_y - p)``, of norm at most 1.

    ``p`` is the softmax of the scores, ``e_y`` the unit vector of the row's class, and ``1 / c(p)`` the norm of the
    longest vector ``e_k - p`` that a row of these scores could have, over all classes ``k``. As ``c`` does not depend
    on the label, the contributions of rows whose class has the probabilities ``p`` add up to nothing on average: the
    optimum is the log-odds. With two classes this is MadaBoost's measure (Domingo and Watanabe 2000), ``s min(1,
    exp(-s F))``, written as a vector.

    In integers: ``q_k`` is the truncated probability in units of :data:`WEIGHT_UNIT` = U; the vector ``U e_y - q`` is
    scaled by ``U / M`` with ``M`` the (rounded up) norm of the longest such vector for the same ``q``, truncated toward
    zero. So no contribution is longer than U, whatever scores and label are.
    """

    kind: ClassVar[str] = "softmax"
    unit: ClassVar[int] = WEIGHT_UNIT
    theorem: ClassVar[str] = "scaled softmax residuals: norm at most 1, whatever label and scores are"
    finer: ClassVar[int] = 6
    """Bits by which the unit of a weighted contribution is finer: small weights survive truncation."""

    n_labels: int  # classes, at least 2
    norm: int = 2  # 2 bounds the L2 norm, 1 the L1 norm
    # if positive, one more channel with `c(p) * curvature * (1 - |p|**2)`, the trace of the Jacobian of the
    # contribution's mean; in units of 1/256, and part of the vector whose norm is bounded
    curvature: int = 0

    def __post_init__(self) -> None:
        if self.n_labels < 2 or self.norm not in (1, 2) or not 0 <= self.curvature <= 1024:
            raise ValueError(f"need two classes, norm 1 or 2 and a curvature of 0..1024, got {self}")

    @property
    def n_scores(self) -> int:
        return self.n_labels

    @property
    def channels(self) -> int:
        return self.n_labels + (self.curvature > 0)

    @property
    def longest(self) -> tuple[int, int]:
        """Bounds of the L1 norm and the squared L2 norm of a contribution.

        A vector whose L1 norm is bounded has an L2 norm no larger; one whose L2 norm is bounded has an L1 norm at most
        the square root of its length times larger.
        """
        if self.norm == 1:
            return self.unit, self.unit**2
        return int(np.ceil(np.sqrt(self.channels) * self.unit)), self.unit**2


def exponentials() -> Ints:
    """``exp(-difference)`` in fixed point, by level of the difference between the largest score and a score."""
    middle = (np.arange(LEVELS) + 0.5) / 2**LEVEL_BITS
    table: Ints = np.floor(np.exp(-middle) * 2**EXP_BITS).astype(np.int64)
    return table


@final
@dataclass(frozen=True)
class TargetScale:
    """How a numeric target becomes a number that scores are compared with: ``(code - offset) * numerator >> 24``."""

    # the code (`TARGET_BITS` bits) at which the score is 0; under a log link the code of a target of 0, which may lie
    # below all codes
    offset: int
    numerator: int  # score units per code, times 2**24; at most 2**26

    def __post_init__(self) -> None:
        if not LOWEST_OFFSET <= self.offset <= 1 << TARGET_BITS or not 1 <= self.numerator <= 1 << 26:
            raise ValueError(f"an offset lies in -2**32..2**24 and a numerator in 1..2**26, got {self}")

    @property
    def codes_per_unit(self) -> float:
        """How many codes one unit of the score is."""
        return 2.0 ** (MARGIN_BITS + TARGET_BITS) / self.numerator


@final
@dataclass(frozen=True)
class ResidualRule:
    """The contribution of a row with a numeric target ``t`` and one score ``F``: ``clip(t - F + shift, low, high)``.

    With ``shift = 0`` and ``low = -high`` these are clipped residuals, the gradient of Huber's loss, and of the squared
    loss where nothing is clipped. With ``shift = (2q - 1) w``, ``low = -2 (1 - q) w`` and ``high = 2 q w`` they are
    ``2 w`` times the gradient of the quantile loss of ``q``, smoothed over a window of half-width ``w``.

    Under a log link the contribution is ``clip((t - mu) exp((1 - p) F) + shift, low, high)`` with ``mu = m exp(F)``
    (:class:`~tacit.queries.score_rules.LogLink`); a negative ``t`` counts as 0.

    All in fixed point (:data:`~tacit.queries.rules.MARGIN_BITS`).
    """

    kind: ClassVar[str] = "residual"
    n_scores: ClassVar[int] = 1
    unit: ClassVar[int] = 1 << MARGIN_BITS
    theorem: ClassVar[str] = "clipped residuals: one row, one bounded number"
    finer: ClassVar[int] = 0
    """As for :class:`SoftmaxRule`; large clips leave no room for more."""

    scale: TargetScale  # how targets are compared with scores
    shift: int  # `shift`, `low`, `high`: `low <= 0 <= high`, both within `LARGEST_BOUND`
    low: int
    high: int
    # if positive, one more channel that counts `curvature` for every row that is not clipped; under a log link the
    # row's share of it
    curvature: int = 0
    link: LogLink | None = None  # None where scores are in units of targets
    # whether a row's weight multiplies its residual before it is clipped, and not after. Where a weight makes up for
    # how widely the target scatters, as an exposure does for a rate, less is cut off so. Not of quantiles, whose loss
    # is the clip.
    weighted_first: bool = False

    def __post_init__(self) -> None:
        if not -LARGEST_BOUND <= self.low <= 0 <= self.high <= LARGEST_BOUND or self.low == self.high:
            raise ValueError(f"need -{LARGEST_BOUND} <= low <= 0 <= high <= {LARGEST_BOUND}, not both 0, got {self}")
        if abs(self.shift) > 2 * LARGEST_BOUND or not 0 <= self.curvature <= LARGEST_BOUND:
            raise ValueError(f"shift and curvature must stay within the bounds of a clip, got {self}")

    @property
    def channels(self) -> int:
        return 1 + (self.curvature > 0)

    @property
    def _bound(self) -> int:
        return max(-self.low, self.high)

    @cached_property
    def longest(self) -> tuple[int, int]:
        """The largest L1 norm and squared L2 norm of a contribution."""
        return self._bound + self.curvature, self._bound**2 + self.curvature**2

    @cached_property
    def diameter(self) -> tuple[int, int]:
        """The same of a difference of two contributions; a dropped row contributes nothing.

        One of two clipped rows at opposite ends may come to lie inside and count for the curvature, too.
        """
        width = self.high - self.low
        return width + self.curvature, width**2 + self.curvature**2


@final
@dataclass(frozen=True, eq=False)
class LevelRule(_Opposite):
    """A contribution that is looked up by class and level of one score: what a row rule is to rows with a margin."""

    kind: ClassVar[str] = "level"
    n_scores: ClassVar[int] = 1
    theorem: ClassVar[str] = "contributions by class and level of the score: the longest of a public table"
    finer: ClassVar[int] = 6
    """As for :class:`SoftmaxRule`."""

    table: npt.NDArray[np.int32]  # int32 array of shape `(n_labels, LEVELS, n_channels)`; levels as in `RowRule`
    unit: int  # integer units that stand for 1.0

    def __post_init__(self) -> None:
        if self.table.ndim != 3 or self.table.shape[1] != LEVELS or self.table.dtype != np.int32:
            raise ValueError(f"a rule of levels is an int32 table of shape (labels, {LEVELS}, channels)")

    @property
    def n_labels(self) -> int:
        return int(self.table.shape[0])

    @property
    def channels(self) -> int:
        return int(self.table.shape[2])

    @cached_property
    def longest(self) -> tuple[int, int]:
        """The largest L1 norm and squared L2 norm of a contribution, read off the table."""
        return largest_vector(self.table.reshape(-1, self.channels).astype(np.int64))


ScoreRule = SoftmaxRule | ResidualRule | LevelRule
