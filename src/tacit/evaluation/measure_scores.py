"""The one private step of an evaluation: from a model and rows to released counts, reserved and certified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar, final

import numpy as np
from scipy.optimize import nnls

from tacit.arrays import Floats
from tacit.curator.curator import Curator
from tacit.curator.rows import PrivateRows
from tacit.encoding.frames import Frame, without_rows
from tacit.encoding.inputs import label_vector, table_of
from tacit.encoding.table import Encoder, TableEncoding, encoder_of
from tacit.encoding.units import identifiers_of
from tacit.encoding.values import BooleanIndex, CategoryIndex, LabelIndex
from tacit.evaluation.error_grid import CELLS, ScoreGrid
from tacit.evaluation.ranked import RankedSums, Scorer, ranked_grid, release_ranked
from tacit.evaluation.strategy import Strategy, best_charges, noise_draws, noises, shared, sums_by_group, views
from tacit.learning.tables import check_as_many
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Charge, Laplace
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import Request, RequestError
from tacit.privacy.spending import certified, reserve
from tacit.queries.rules import class_count_rule
from tacit.schema import Schema, Unit


@final
@dataclass(frozen=True, eq=False)
class ScoreCounts:
    """Released counts of one group of rows, and all that is known about their noise."""

    grid: ScoreGrid  # the score cells
    released: Floats  # the noisy answers, shape `(outputs, 2)`: rows of label 0 and 1
    strategy: Strategy  # how answers follow from cells
    noise: tuple[float, ...]  # standard deviations of the independent noises that add up in every entry of `released`
    laplace: bool  # whether those are Laplace; Gaussian otherwise

    @cached_property
    def estimate(self) -> Floats:
        """Unbiased counts by cell and label, shape ``(cells, 2)``; may be negative."""
        return self.strategy.inverse @ self.released

    @cached_property
    def likely(self) -> Floats:
        """Counts that are not negative and fit the release best, shape ``(cells, 2)``. Biased where noise is large."""
        columns = [nnls(self.strategy.matrix, self.released[:, label], maxiter=4000)[0] for label in (0, 1)]
        return np.stack(columns, axis=1)

    @property
    def sd(self) -> float:
        """Standard deviation of the noise in every released number."""
        return float(np.linalg.norm(self.noise)) if self.noise else 0.0

    def sd_of(self, weights: Floats) -> Floats:
        """Standard deviation, from noise alone, of sums ``weights @ estimate[:, label]``."""
        spread: Floats = self.sd * np.linalg.norm(weights @ self.strategy.inverse, axis=-1)
        return spread

    def noise_draws(self, times: int, generator: np.random.Generator) -> Floats:
        """Errors of the estimate as the noise might have made them, shape ``(times, cells, 2)``; public randomness."""
        shape = (self.released.shape[0], times, 2)
        sds = self.noise if self.laplace else (self.sd,) * bool(self.noise)
        noise = noise_draws(sds, self.laplace, shape, generator)
        errors = (self.strategy.inverse @ noise.reshape(shape[0], -1)).reshape(-1, times, 2)
        return np.ascontiguousarray(errors.transpose(1, 0, 2))


def row_draws(truth: Floats, times: int, generator: np.random.Generator) -> Floats:
    """Counts of new rows when ``truth`` (none negative) is expected, shape ``(times, *truth.shape)``.

    The number of rows varies, too; that changes no ratio to speak of, and makes the cells independent.
    """
    rows = np.zeros((times, *truth.shape))
    present = truth > 0
    rows[:, present] = generator.poisson(truth[present], size=(times, int(present.sum())))
    return rows


def release_counts(
    curator: Curator, grid: ScoreGrid, charge: Charge, by_cell: Strategy, by_group: Strategy
) -> list[ScoreCounts]:
    """The counts of all rows, then of each group, in one release over a table made by :meth:`ScoreGroups.encoding`.

    Guarantee: that of ``charge``. A row has one score, one label and one group, so it moves one column of the release
    matrix, whose norm is at most 1: one weighted histogram (docs/theory/sensitivities.md, section 0). That matrix is
    the Kronecker product of the two strategies; the score's code for no number never occurs.
    """
    query = sums_by_group(by_cell.matrix, by_group, class_count_rule(2))
    release = curator.measure(
        query, charge, Label(Stage.EVALUATION, f"counts by score ({by_cell.name}), label and group")
    )
    values = release.value.reshape(len(by_group.matrix), len(by_cell.matrix), 2)
    laplace = isinstance(charge, Laplace)
    return [
        ScoreCounts(grid, np.einsum("g,gol->ol", line, values), by_cell, noises(line, release.sd), laplace)
        for line in views(by_group)
    ]


MOST_GROUPS = 64
"""Groups that one release may tell apart, "other" and "missing" included."""

MOST_CELLS = 2048
"""Score cells of all groups together: with many groups the grid is coarser."""

OTHER, MISSING = "(other)", "(missing)"
"""Names of the groups of rows whose value is not declared, or not there."""


@dataclass(frozen=True, eq=False)
class ScoreGroups:
    """The subgroup column, if there is one: its encoder, and the names of its codes."""

    name: str | None = None
    encoders: tuple[CategoryIndex | BooleanIndex, ...] = ()
    names: tuple[Any, ...] = ()

    @property
    def n_codes(self) -> int:
        return max(1, len(self.names))

    def columns(self, frame: Frame) -> dict[str, Any]:
        """The column as evaluations name it; empty if there is none."""
        return {} if self.name is None else {"group": frame.column(self.name)}

    def encoding(self, encoders: Mapping[str, Encoder]) -> TableEncoding:
        """How columns made for an evaluation become codes, and that of the groups after them."""
        return TableEncoding(
            (*encoders, "group")[: len(encoders) + len(self.encoders)], (*encoders.values(), *self.encoders)
        )


def declared_unit(schema: Schema | None, frame: Frame) -> tuple[Unit | None, Any]:
    """The unit that a schema declares, and its column; None twice if there is none.

    Raises ``FrameError`` if the column is missing, or its type has merged identifiers.
    """
    unit = None if schema is None else schema.unit
    return unit, None if unit is None else identifiers_of(frame, unit.column)


def with_unit(
    columns: Mapping[str, Any], n_rows: int, unit: Unit | None, identifiers: Any
) -> tuple[Frame, Unit | None]:
    """Columns made for an evaluation, none of them called ``unit``, beside the identifiers of units under that name."""
    if unit is None:
        return Frame(columns, n_rows), None
    return Frame({**columns, "unit": identifiers}, n_rows), replace(unit, column="unit")


def declared_groups(
    subgroups: str | None, categories: Sequence[Any] | None, schema: Schema | None, frame: Frame
) -> ScoreGroups:
    """The subgroups of a request, checked: their values are declared, and the column can hold them.

    Raises ``ValueError`` for public mistakes.
    """
    if subgroups is None:
        if categories is not None:
            raise RequestError("categories are the values of the column named by subgroups, which is missing")
        return ScoreGroups()
    if not isinstance(subgroups, str):
        raise RequestError(
            f"subgroups must be the name of one column, such as 'sex', got {subgroups!r}: combine columns into one, or "
            "ask about each by itself"
        )
    encoder: Encoder
    if categories is not None:
        encoder = CategoryIndex(tuple(categories))
    elif schema is not None and subgroups in schema.columns and schema.columns[subgroups].is_feature:
        encoder = encoder_of(schema.columns[subgroups])
    else:
        raise RequestError(
            f"the values of {subgroups!r} must be declared: give categories, or a schema with the column"
        )
    if not isinstance(encoder, CategoryIndex | BooleanIndex):
        raise RequestError(f"column {subgroups!r} is numeric in the schema: subgroups need declared categories")
    encoder.encode(without_rows(frame.column(subgroups)), subgroups)
    if encoder.n_codes > MOST_GROUPS:
        raise RequestError(f"{subgroups!r} has {encoder.n_codes} groups, and {MOST_GROUPS} can be told apart")
    if isinstance(encoder, BooleanIndex):
        return ScoreGroups(subgroups, (encoder,), (False, True, MISSING))
    return ScoreGroups(subgroups, (encoder,), (*encoder.categories, OTHER, MISSING))


@final
@dataclass(frozen=True, eq=False)
class CountRequest:
    """What to count, as checked beforehand: the rows as columns, as they came, and their labels.

    The score grid has a cut at ``threshold`` for sure. ``with_truth`` counts the score of the true class too, for half
    of the budget; ``each_class`` that of every class against the rest, for half of it; ``ranked`` sums ranked
    probability scores, for as much as another score costs.
    """

    frame: Frame
    data: Any
    labels: Any
    groups: ScoreGroups
    threshold: float
    with_truth: bool
    schema: Schema | None
    label: str
    each_class: bool = False
    ranked: bool = False


@final
@dataclass(frozen=True, eq=False)
class GroupCounts:
    """What was released about a group of rows, or about all: counts by score.

    Of more than two classes, where asked for: ``losses``, by the probability given to the true class; ``classes``, by
    the score of every class against the rest; ``ranked``, sums of ranked probability scores.
    """

    counts: ScoreCounts
    losses: ScoreCounts | None = None
    classes: tuple[ScoreCounts, ...] = ()
    ranked: RankedSums | None = None


R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Released(Generic[R]):
    """What was released about all rows and each group, and what it cost."""

    overall: R
    groups: tuple[R, ...]
    certificate: Certificate
    generator: np.random.Generator


def measure_scores(
    scorer: Scorer, question: CountRequest, request: Request, account: PrivacyAccount | None
) -> Released[GroupCounts]:
    """Reserves the whole charge, scores the rows, seals scores and labels, and asks for the counts.

    Raises:
        FrameError: if the unit's column is missing; nothing was spent.
        BudgetExceeded: if the account cannot pay; nothing was read.
    """
    groups, frame = question.groups, question.frame
    unit, identifiers = declared_unit(question.schema, frame)
    cells = min(CELLS, 1 << (MOST_CELLS // groups.n_codes).bit_length() - 1)
    grid = ScoreGrid.of(cells, question.threshold)
    parts = _parts(question, scorer.n_classes)
    cost, by_cell = best_charges(request.allowance, cells, account is None, list(parts.values()))
    charges = {part: charge for part, (_, charge) in zip(parts, cost, strict=True)}
    norm = 1 if isinstance(cost[0][1], Laplace) else 2
    by_group = shared(groups.n_codes, norm)
    with reserve(account, request, [reserved for reserved, _ in cost], question.label, unit) as reservation:
        columns = scorer.columns(frame, question.data, question.labels, question.each_class, question.ranked)
        columns |= groups.columns(frame)
        with_column, unit = with_unit(columns, frame.n_rows, unit, identifiers)
        seed = request.random_state

        def private_rows_of(label: str, number: int) -> PrivateRows:
            return PrivateRows(with_column, columns[label], reservation, None if seed is None else seed + number, unit)

        def sealed(private_rows: PrivateRows, score: str, cells: Encoder) -> Curator:
            return private_rows.seal(groups.encoding({score: cells}), LabelIndex((0, 1)))

        def released(private_rows: PrivateRows, score: str) -> list[ScoreCounts]:
            curator = sealed(private_rows, score, grid.encoder)
            return release_counts(curator, grid, charges[score], by_cell, by_group)

        private_rows = private_rows_of("label", 0)
        counts = released(private_rows, "score")
        losses = released(private_rows, "truth") if question.with_truth else [None] * len(counts)
        ranked: Sequence[RankedSums | None] = [None] * len(counts)
        if question.ranked:
            curator = sealed(private_rows, "ranked", ranked_grid(groups.n_codes))
            ranked = release_ranked(curator, groups.n_codes, norm, charges["ranked"])
        by_class = []
        if question.each_class:  # other labels: the class or any other
            by_class = [released(private_rows_of(f"is {k}", 1 + k), f"class {k}") for k in range(scorer.n_classes)]
    certificate = certified(
        account, request, reservation, private_rows, question.label, question.schema, not scorer.verified
    )
    classes = list(zip(*by_class, strict=True)) or [()] * len(counts)
    overall, *each = map(GroupCounts, counts, losses, classes, ranked)
    return Released(overall, tuple(each), certificate, private_rows.public_generator)


def _parts(question: CountRequest, n_classes: int) -> dict[str, float]:
    """The columns of scores that are counted, and the share of the budget of each."""
    plain = ["score", *(["truth"] if question.with_truth else []), *(["ranked"] if question.ranked else [])]
    rest = [f"class {k}" for k in range(n_classes)] if question.each_class else []
    share = 0.5 if rest else 1.0
    return dict.fromkeys(plain, share / len(plain)) | dict.fromkeys(rest, 0.5 / max(len(rest), 1))


def rows_and_labels(X: Any, y: Any) -> tuple[Frame, Any]:
    """Rows as a frame (without columns if they are a sparse matrix) and labels, of one length."""
    frame = Frame({}, X.shape[0]) if hasattr(X, "tocsr") else table_of(X)
    labels = label_vector(y)
    check_as_many(frame, labels)
    return frame, labels
