"""The private step of judging numbers: from predictions and targets to released sums, reserved and certified."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from tacit.arrays import Floats
from tacit.curator.curator import Curator
from tacit.curator.rows import PrivateRows
from tacit.encoding.frames import Frame
from tacit.encoding.grid import NumericGrid
from tacit.encoding.values import LabelIndex
from tacit.evaluation.error_grid import (
    ABOVE,
    COARSE_CELLS,
    FOURTH,
    OVER,
    OVER_SQUARE,
    REACHES,
    TARGET_CELLS,
    TARGET_WEIGHTS,
    WEIGHTS,
    ErrorGrid,
    target_moments,
    target_values,
)
from tacit.evaluation.measure_scores import Released, ScoreGroups, declared_unit, with_unit
from tacit.evaluation.number_scorer import NumberScorer
from tacit.evaluation.strategy import Strategy, charges_of, noise_draws, noises, shared, sums_by_group, views
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import Request
from tacit.privacy.spending import certified, reserve
from tacit.queries.cells import mapped_cells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import count_rule, fine_count_rule
from tacit.schema import Schema

CLIP_SHARE = 0.15
"""Share of the budget that finds where errors are clipped, unless that was declared."""

REACH_SHARE, TARGET_SHARE = 0.12, 0.18
"""Shares of the budget for where targets are, and for their spread there, if R2 is asked for."""

MOST, LEAST, FEW = 2.0, 1.0, 0.05
"""Half an octave below the clip, no more larger errors are seen than so many standard deviations of the noise: the
first where that is less than a few of all rows, at least the second where noise is larger than those."""

HIDDEN = 0.2
"""And the noise has a standard deviation of at most that part of the rows: larger, it could hide any number of them."""


@final
@dataclass(frozen=True, eq=False)
class ErrorSumRequest:
    """What to sum up, as checked beforehand: the rows as columns, as they came, and their targets.

    Errors are clipped at ``clip``, a share of the target's range; None to find out. ``spread``: whether that of the
    targets is wanted too.
    """

    frame: Frame
    data: Any
    targets: Any
    groups: ScoreGroups
    clip: float | None
    spread: bool
    schema: Schema | None
    label: str


@final
@dataclass(frozen=True, eq=False)
class ErrorSums:
    """Released sums of one group of rows."""

    sums: Floats  # as `tacit.evaluation.error_grid.WEIGHTS` lists them, errors in units of the clip; shape `(7,)`
    # sums of the first four powers of the targets from their centre, clipped to `reach` and divided by it, shape
    # `(4,)`; None if not wanted
    targets: Floats | None
    # standard deviations of the independent noises that add up in every released sum, and in the targets'
    noise: tuple[tuple[float, ...], tuple[float, ...]]
    laplace: bool  # whether those are Laplace; Gaussian otherwise
    reach: float = 1.0  # how far targets are from their centre, in halves of the range

    def draws(self, times: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Noise as it might have been in the sums, ``(times, 7)``, and in the targets', ``(times, 4)``."""
        errors, targets = (
            noise_draws(sds, self.laplace, (times, len(weights)), generator) / weights
            for sds, weights in zip(self.noise, (WEIGHTS, TARGET_WEIGHTS), strict=True)
        )
        return errors, targets

    @property
    def rows_sd(self) -> float:
        """Standard deviation of the noise in the number of rows."""
        return float(np.linalg.norm(self.noise[0])) / WEIGHTS[0] * math.sqrt(2.0) if self.noise[0] else 0.0


@final
@dataclass(frozen=True, eq=False)
class ReleasedErrors(Released[ErrorSums]):
    """Released sums of all rows and of each group, and the clip in use."""

    clip: float  # errors count as at most this large, in units of the target
    # released rows beyond the clip, and the standard deviation of the noise; None if the clip was declared
    beyond: tuple[float, float] | None


def measure_errors(
    scorer: NumberScorer, question: ErrorSumRequest, request: Request, account: PrivacyAccount | None
) -> ReleasedErrors:
    """Reserves the whole charge, predicts, seals errors and targets, and asks for the sums.

    Guarantee: that of the charges. A row has one error, one target and one group, so it moves one column of every
    release matrix (docs/theory/sensitivities.md, section 0).

    Raises:
        FrameError: if the unit's column is missing; nothing was spent.
        BudgetExceeded: if the account cannot pay; nothing was read.
    """
    groups, frame, schema = question.groups, question.frame, question.schema
    unit, identifiers = declared_unit(schema, frame)
    shares = [CLIP_SHARE] * (question.clip is None) + [REACH_SHARE, TARGET_SHARE] * question.spread
    shares.append(1.0 - sum(shares))
    grid, norm, cost = ErrorGrid.of(groups.n_codes), *_charges(request.allowance, shares, account is None)
    with reserve(account, request, [reserved for reserved, _ in cost], question.label, unit) as reservation:
        columns = scorer.columns(frame, question.data, question.targets) | groups.columns(frame)
        with_column, unit = with_unit(columns, frame.n_rows, unit, identifiers)
        private_rows = PrivateRows(with_column, columns["label"], reservation, request.random_state, unit)
        encoding = groups.encoding({"error": grid.encoder, "target": NumericGrid(-1.0, 1.0, TARGET_CELLS)})
        curator = private_rows.seal(encoding, LabelIndex((0, 1)))
        charges = iter(charge for _, charge in cost)
        clip, beyond = question.clip, None
        if clip is None:
            clip, beyond = find_clip(curator, grid, next(charges))
        spread, reach = None, 1.0
        if question.spread:
            centre, reach = find_reach(curator, next(charges))
            moments = target_moments(centre, reach)
            spread = SumRelease.of(curator, 1, moments, groups, norm, next(charges))
        sums = SumRelease.of(curator, 0, grid.moments(clip), groups, norm, next(charges))
    certificate = certified(account, request, reservation, private_rows, question.label, schema, not scorer.verified)
    own = sums.views(WEIGHTS)
    others = [(None, ())] * len(own) if spread is None else spread.views(TARGET_WEIGHTS)
    overall, *each = (
        ErrorSums(values, targets, (noise, other), norm == 1, reach)
        for (values, noise), (targets, other) in zip(own, others, strict=True)
    )
    return ReleasedErrors(overall, tuple(each), certificate, private_rows.public_generator, clip, beyond)


@final
@dataclass(frozen=True, eq=False)
class SumRelease:
    """One release of sums by group: values of shape ``(strategy outputs, sums)``, and how they are read."""

    values: Floats
    sd: float
    by_group: Strategy

    @staticmethod
    def of(curator: Curator, column: int, matrix: Floats, groups: ScoreGroups, norm: int, charge: Charge) -> SumRelease:
        by_group = shared(groups.n_codes, norm)
        query = sums_by_group(matrix, by_group, count_rule(2), column, group=2)
        what = "errors" if column == 0 else "targets"
        release = curator.measure(query, charge, Label(Stage.EVALUATION, f"sums of powers of {what}, by group"))
        return SumRelease(release.value.reshape(len(by_group.matrix), len(matrix)), release.sd, by_group)

    def views(self, weights: Floats) -> list[tuple[Floats, tuple[float, ...]]]:
        """Sums and noises of all rows, then of each group; noises before a sum is divided by its weight."""
        return [(line @ self.values / weights, noises(line, self.sd)) for line in views(self.by_group)]


def _charges(allowance: Allowance, shares: list[float], alone: bool) -> tuple[int, list[tuple[Charge, Charge]]]:
    """The norm that counts, and for every share what to reserve and what to release with.

    Laplace noise where only that is allowed, or where nothing else is paid from the account and it is smaller.
    """
    if not allowance.is_private:
        return 2, [(allowance.whole, allowance.whole)] * len(shares)
    full, last = WEIGHTS[[ABOVE, OVER, OVER_SQUARE, FOURTH]], shares[-1]  # what a row of the largest error adds
    laplace = math.sqrt(2.0) * float(full.sum()) / (allowance.epsilon * last)
    gaussian = math.inf if allowance.is_pure else float(np.linalg.norm(full)) / (allowance.mu * math.sqrt(last))
    if allowance.is_pure or (alone and laplace < gaussian):
        return 1, charges_of(allowance, shares, pure=True)
    return 2, charges_of(allowance, shares, pure=False)


def find_clip(curator: Curator, grid: ErrorGrid, charge: Charge) -> tuple[float, tuple[float, float]]:
    """Half an octave beyond the size that no more errors exceed than noise explains; and what was seen beyond that."""
    steps = np.append(grid.steps, 0)
    query = Histogram(mapped_cells(0, steps), fine_count_rule(2))
    release = curator.measure(query, charge, Label(Stage.BOUNDS, text="rows by size of error, to clip errors"))
    counts = release.value[:, 0]
    beyond = np.append(np.cumsum(counts[::-1])[::-1][1:], 0.0)  # by clip: rows in the steps above it
    spread = release.sd * np.sqrt(np.arange(len(beyond) - 1, -1, -1))
    index = _one_beyond(beyond, spread, float(counts.sum()))
    return float(grid.clips[index]), (float(beyond[index]), float(spread[index]))


def find_reach(curator: Curator, charge: Charge) -> tuple[float, float]:
    """The centre of the targets, and half an octave more than hardly any of them are away from it."""
    merged = np.append(np.arange(TARGET_CELLS) * COARSE_CELLS // TARGET_CELLS, 0)
    query = Histogram(mapped_cells(1, merged), fine_count_rule(2))
    release = curator.measure(query, charge, Label(Stage.BOUNDS, text="rows by target, to clip targets"))
    counts, places = release.value[:, 0], target_values(COARSE_CELLS)
    clear = np.maximum(counts - release.sd, 0.0)
    if clear.sum() <= 0:
        return 0.0, float(REACHES[-1])
    centre = float(places[np.searchsorted(np.cumsum(clear), clear.sum() / 2)])
    outside = np.abs(places - centre)[None, :] - 1 / COARSE_CELLS > REACHES[:, None]
    index = _one_beyond(outside @ counts, release.sd * np.sqrt(outside.sum(axis=1)), float(counts.sum()))
    return centre, float(REACHES[index])


def _one_beyond(beyond: Floats, spread: Floats, rows: float) -> int:
    """One step more than the first beyond which no more rows are seen than noise explains, and noise hides few."""
    few = np.clip(FEW * max(rows, 0.0), LEAST * spread, MOST * spread)
    seen_well = spread <= HIDDEN * max(rows, 0.0)
    return min(int(np.flatnonzero((beyond <= few + 0.5) & seen_well)[0]) + 1, len(beyond) - 1)
