"""What one row says for a model: a public level between 0 and 1, so that one row counts no more than another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from tacit.arrays import Ints
from tacit.encoding.frames import Frame
from tacit.encoding.grid import NumericGrid
from tacit.encoding.inputs import numbers_of
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import DROPPED
from tacit.evaluation.number_scorer import NumberScorer, clip_share, predicts_numbers
from tacit.evaluation.ranked import Scorer
from tacit.learning.checks import check_number
from tacit.privacy.request import RequestError
from tacit.schema import Schema

LEVELS = 64
"""Utilities of classes are multiples of ``1 / LEVELS``."""

NUMBER_LEVELS = 4096
"""Those of numbers are of this: errors are small beside the range of the target, and their squares smaller still."""

CLIP = 0.01
"""Probabilities below this one lose no more."""

ACCURACY, LOG_LOSS = "accuracy", "log_loss"
MAE, MSE, PINBALL = "mae", "mse", "pinball"
CRITERIA = (ACCURACY, LOG_LOSS)
NUMBER_CRITERIA = (MAE, MSE, PINBALL)

DROPPED_LABEL = -1
"""What stands for a label that is none: no class, so that the row is dropped."""


@final
@dataclass(frozen=True)
class Criterion:
    """How models are judged, as it was asked for."""

    # of classes `accuracy`, or `log_loss` with probabilities clipped at 1 %; of numbers `mse`, `mae` or `pinball`, a
    # row's loss over that of an error as large as the clip. None for accuracy, mean squared error, or the pinball loss
    # of the models' quantile.
    name: str | None = None
    quantile: float | None = None  # of numbers: which one the pinball loss is about; None for the models' own
    # of numbers: public bounds of the target, into which targets and predictions are clipped; None for the schema's or
    # the models' own
    target_bounds: Any = None
    # of numbers: larger errors count as this large, in units of the target; it must not come from the rows. None for
    # the whole range of the target. A narrow clip tells models apart from fewer rows.
    error_clip: float | None = None

    def checked(self, numbers: bool) -> None:
        """Checks what needs no model.

        Raises ``RequestError`` for a criterion that does not exist, or is not about what the models predict.
        """
        criteria, kind = (NUMBER_CRITERIA, "numbers") if numbers else (CRITERIA, "classes")
        if self.name is not None and self.name not in criteria:
            raise RequestError(f"the criterion is one of {', '.join(criteria)} for models of {kind}, got {self.name!r}")
        for name in () if numbers else ("quantile", "target_bounds", "error_clip"):
            if getattr(self, name) is not None:
                raise RequestError(f"{name} is about numbers, and these are models of classes")
        check_number("quantile", self.quantile, 0.0, 1.0, optional=True)
        if self.quantile is not None and self.name not in (None, PINBALL):
            raise RequestError(f"quantile belongs to criterion='pinball', got criterion={self.name!r}")

    def of_quantiles(self, quantiles: Sequence[float | None]) -> tuple[str, float]:
        """The criterion of numbers, and the quantile of its pinball loss (.5 where there is none).

        ``quantiles`` are what each model is about, None for a mean or what is not known. Raises ``RequestError`` if the
        models are about different things and nobody said what counts.
        """
        if self.quantile is not None:
            return PINBALL, float(self.quantile)
        first = quantiles[0]
        if self.name in (MAE, MSE):
            return self.name, 0.5
        if any(quantile != first for quantile in quantiles):
            raise RequestError(
                "the models are about different things "
                f"({', '.join(sorted({'means' if q is None else f'the quantile {q:g}' for q in quantiles}))}): "
                "give criterion='mae' or 'mse', or criterion='pinball' with a quantile"
            )
        if first is not None:
            return PINBALL, float(first)
        if self.name == PINBALL:
            raise RequestError("these are no models of a quantile: criterion='pinball' needs quantile=...")
        return MSE, 0.5


@dataclass(frozen=True)
class Judge(ABC):
    """What rows say for one model, by a criterion: one of ``0 .. levels``, in units of ``1 / levels``, all public."""

    scorer: Scorer | NumberScorer
    criterion: str
    levels: ClassVar[int]

    @property
    def verified(self) -> bool:
        """Whether the answer to a row is known to depend on that row alone."""
        return self.scorer.verified

    def check(self, frame: Frame, data: Any, labels: Any) -> None:
        """Raises for what is public: a column that is missing, or one or labels of the wrong kind. Reads no row."""
        self.scorer.check(frame, data, labels)

    @abstractmethod
    def utilities(self, frame: Frame, data: Any, labels: Any) -> Ints:
        """The level of every row, shape ``(rows,)``; 0 for rows without a label. A row's depends on it alone."""

    @abstractmethod
    def known(self, labels: Any) -> Ints:
        """0 for rows with a label, :data:`DROPPED_LABEL` for the others, which are dropped."""


@final
@dataclass(frozen=True)
class ClassJudge(Judge):
    """Judges a model of classes.

    ``accuracy``: all or nothing. ``log_loss``: how much of the loss at probability :data:`CLIP` the row does not make,
    rounded down.
    """

    scorer: Scorer
    levels = LEVELS

    def utilities(self, frame: Frame, data: Any, labels: Any) -> Ints:
        chances = self.scorer.probabilities(frame, data)
        codes = self.scorer.label_index.encode(labels).astype(np.int64)
        counted = codes != DROPPED
        truth = np.where(counted, codes, 0)
        if self.criterion == ACCURACY:
            level = LEVELS * (chances.argmax(axis=1) == truth)
        else:
            chance = np.nan_to_num(np.take_along_axis(chances, truth[:, None], axis=1)[:, 0])
            level = np.floor(LEVELS * (1.0 - np.log(np.clip(chance, CLIP, 1.0)) / np.log(CLIP)) + 1e-9)
        return np.where(counted, level, 0).astype(np.int64)

    def known(self, labels: Any) -> Ints:
        codes = self.scorer.label_index.encode(labels).astype(np.int64)
        return np.where(codes < self.scorer.n_classes, 0, DROPPED_LABEL)


@final
@dataclass(frozen=True)
class NumberJudge(Judge):
    """Judges a model of a number: how much of the loss of an error as large as the clip the row does not make.

    Targets and predictions are clipped into the declared bounds and errors at the clip, a share of their range in (0,
    1], so that the loss over its largest value lies in [0, 1] whatever a row holds: the size of the error, its square,
    or its pinball loss.
    """

    scorer: NumberScorer
    quantile: float
    clip: float
    levels = NUMBER_LEVELS

    def utilities(self, frame: Frame, data: Any, labels: Any) -> Ints:
        columns = self.scorer.columns(frame, data, labels)
        error = np.clip(columns["error"] / self.clip, -1.0, 1.0)  # target minus prediction, in units of the clip
        if self.criterion == MSE:
            loss = np.square(error)
        elif self.criterion == MAE:
            loss = np.abs(error)
        else:
            steepest = max(self.quantile, 1 - self.quantile)
            loss = np.where(error >= 0, self.quantile, self.quantile - 1) * error / steepest
        level = np.floor(NUMBER_LEVELS * (1.0 - loss) + 1e-9)
        return np.where(columns["label"] == DROPPED, 0, np.clip(level, 0, NUMBER_LEVELS)).astype(np.int64)

    def known(self, labels: Any) -> Ints:
        return np.where(np.isfinite(numbers_of(labels, cell_format=self.scorer.cell_format)), 0, DROPPED_LABEL)


def judges_of(models: Sequence[Any], schema: Schema | None, criterion: Criterion) -> list[Judge]:
    """A judge for every finished model or fitted estimator, all of one measure.

    Raises ``RequestError`` if they cannot be judged by one measure.
    """
    numbers = [predicts_numbers(model) for model in models]
    if all(numbers):
        return list(_number_judges(models, schema, criterion))
    if any(numbers):
        raise RequestError("some of the models are of classes and some of numbers: compare models of one kind")
    criterion.checked(numbers=False)
    scorers = [Scorer.of(model, schema) for model in models]
    if any(scorer.label_index != scorers[0].label_index for scorer in scorers):
        raise RequestError("the models must have the same classes in the same order")
    return [ClassJudge(scorer, criterion.name or ACCURACY) for scorer in scorers]


def _number_judges(models: Sequence[Any], schema: Schema | None, criterion: Criterion) -> list[NumberJudge]:
    criterion.checked(numbers=True)
    scorers = [NumberScorer.of(model, schema, criterion.target_bounds) for model in models]
    bounds = (scorers[0].lower, scorers[0].upper)
    for scorer in scorers:
        if (scorer.lower, scorer.upper) != bounds:
            raise RequestError(
                f"the models have different bounds of the target, {bounds} and {(scorer.lower, scorer.upper)}, and "
                "would be judged by different measures: give target_bounds=(lower, upper)"
            )
    name, quantile = criterion.of_quantiles([scorer.quantile for scorer in scorers])
    clip = clip_share(criterion.error_clip, scorers[0].range)
    return [NumberJudge(scorer, name, quantile, clip) for scorer in scorers]


def utility_encoding(names: tuple[str, ...], levels: int) -> TableEncoding:
    """Columns of levels: code ``k`` is level ``k``."""
    grid = NumericGrid(-0.5, levels + 0.5, levels + 1)
    return TableEncoding(names, (grid,) * len(names))


def utility_weights(levels: int) -> Ints:
    """What each code of such a column is worth, in units of ``1 / levels``; nothing for "missing"."""
    return np.append(np.arange(levels + 1), 0).astype(np.int64)
