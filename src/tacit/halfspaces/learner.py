"""The boosted halfspace as a learner: from a task to a frozen model (Bun, Carmosino, Sorrell 2020)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from tacit.arrays import Floats
from tacit.boosting.schema import Ensemble
from tacit.curator.budget import Budget
from tacit.curator.rows import PrivateRows
from tacit.discovery.bounds import BOUNDS_SHARE, exponential_grid, find_bounds, sure_levels
from tacit.encoding.dense import RowClipper, RowEncoder
from tacit.encoding.grid import NumericGrid
from tacit.encoding.matrix_rows import MatrixEncoder
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.halfspaces.centering import Centre
from tacit.halfspaces.learn import learn_halfspace
from tacit.halfspaces.plan import DEFAULTS, PROMISED, Options
from tacit.halfspaces.tuning import TUNING, Tuning
from tacit.learning.checks import check_truth, check_two_classes
from tacit.learning.learner import Learner, Task
from tacit.models.base import Model
from tacit.models.evidence import CountedErrors, ErrorPromise
from tacit.models.halfspace import HalfspaceModel
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import RequestError
from tacit.queries.cells import column_cells
from tacit.queries.dense.halfspace_log import RADIUS_16
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_count_rule


def length_grid(longest: float, tuning: Tuning = TUNING) -> NumericGrid:
    """Cells of lengths from 0 to ``longest``, the upper ones of equal ratio."""
    each = tuning.cells_per_octave
    cuts = longest * 2.0 ** (-np.arange(each * tuning.octaves, 0, -1) / each)
    return NumericGrid(0.0, longest, spacing=tuple(float(cut) for cut in cuts))


def find_row_norm(
    private_rows: PrivateRows,
    encoder: RowEncoder,
    label_index: LabelIndex,
    allowance: Allowance,
    tuning: Tuning = TUNING,
) -> float:
    """A length that few rows are longer than, from one noisy histogram of lengths, for ``tuning.norm_share``.

    One row is in one cell, so the release has the sensitivity of a histogram: 1 for adding a row, sqrt(2) for replacing
    one. What it is used for is public: every row is shortened to the length found, by itself. Where noise hides more it
    is the longest that a row can be. Rows without a known label do not count.
    """
    longest = math.sqrt(len(encoder.ordinal))
    grid = length_grid(longest, tuning)
    curator = private_rows.seal_lengths(encoder, grid, label_index)
    query = Histogram(column_cells(0, grid.n_codes), fine_count_rule(label_index.n_classes))
    release = curator.measure(query, allowance.charge(tuning.norm_share), Label(Stage.BOUNDS, "(lengths of rows)"))
    uppers = np.append(grid.edges()[1:], longest)
    return float(uppers[quantile_cell(release.value[:-1, 0], release.sd, tuning)])


def find_common_bounds(
    private_rows: PrivateRows,
    names: Sequence[str],
    label_index: LabelIndex,
    allowance: Allowance,
    each: float,
    tuning: Tuning = TUNING,
) -> tuple[float, float] | None:
    """One pair of bounds for all columns, where single columns would drown in noise; None where they would not.

    From one noisy histogram of the largest magnitude in a row, for ``tuning.norm_share``: one row is in one cell,
    however many columns there are. ``each`` is what the bounds of a single column would take. Rows without a known
    label do not count.
    """
    grid = exponential_grid()
    curator = private_rows.seal_magnitudes(TableEncoding(tuple(names), (grid,) * len(names)), label_index)
    query = Histogram(column_cells(0, curator.layout.n_codes[0]), fine_count_rule(label_index.n_classes))
    release = curator.measure(query, allowance.charge(tuning.norm_share), Label(Stage.BOUNDS, "(all columns)"))
    counts = release.value[:, 0]
    if float(counts.sum()) >= tuning.own_bounds * allowance.sd(each):
        return None
    last = quantile_cell(counts, release.sd, tuning)
    # every further cell is twice as large: one that noise alone makes look inhabited would put all rows into one place
    sure = np.flatnonzero(counts > sure_levels(release.charge, len(counts)) * release.sd)
    if len(sure):
        last = min(last, int(sure[-1]) + 1)
    edges = np.append(grid.edges(), grid.upper)[len(grid.edges()) // 2 + 1 :]
    largest = float(edges[last])
    return -largest, largest


def quantile_cell(counts: Floats, sd: float, tuning: Tuning = TUNING) -> int:
    """The first cell of noisy rows by length beyond which few lie; the last where there are too few to say."""
    total = float(counts.sum())
    if total <= tuning.least_sure * sd * math.sqrt(len(counts)):
        return len(counts) - 1
    beyond = total - np.cumsum(counts)  # in the cells above
    above = np.arange(len(counts))[::-1]
    few = beyond <= tuning.shortened * total + tuning.unsure * sd * np.sqrt(above)
    last_many = np.flatnonzero(~few)
    return int(last_many[-1]) + 1 if len(last_many) else 0


SHORTEST, LONGEST = 1e-100, 1e100
"""Not tuned, of the arithmetic: between these the square of a row's length is a number."""


@dataclass(frozen=True)
class MatrixTask(Task):
    """A task over the rows of one matrix."""

    encoder: MatrixEncoder | None = None


@dataclass(frozen=True, eq=False)
class HalfspaceLearner(Learner):
    """Boosts a halfspace: what :class:`HalfspaceBoostClassifier` says of itself holds here.

    ``witness`` is shown the released hypotheses.
    """

    row_norm: float | None = None
    fit_intercept: bool = True
    options: Options = DEFAULTS
    witness: Callable[[Ensemble[Centre]], None] | None = None

    name = "HalfspaceBoostClassifier"
    streams = True
    joins = True
    least_budget = 1e-4

    def __post_init__(self) -> None:
        self.options.checked()
        check_truth("fit_intercept", self.fit_intercept)
        norm: Any = self.row_norm
        if norm is None:
            return
        if isinstance(norm, bool) or not isinstance(norm, Real) or not SHORTEST < float(norm) < LONGEST:
            raise RequestError(f"row_norm must be None or a positive number, got {norm!r}")

    @property
    def joins_noisy(self) -> bool:
        return self.options.promise is None  # a promise is about the noise that is charged, and no more

    @property
    def refuses_sites(self) -> str:
        if self.options.measure != "lazy_bregman":
            return ""
        return (
            "measure='lazy_bregman' gives the last of its weight to the first rows of a level, and no site may know "
            "how many stand before its own: take measure='smooth', 'logistic' or 'auto'"
        )

    def rounds_noise(self) -> float:
        """The noise multiplier of all rounds together; 0 without privacy."""
        allowance = self.request.allowance
        if allowance.is_pure:
            raise RequestError(
                "the theorem's noise is Gaussian, which has no epsilon at delta=0: give a positive delta"
            )
        return allowance.sd(self.options.checked().shares["rounds"])

    def check(self, task: Task) -> None:
        check_two_classes(task, self.name)
        promise = self.options.promise
        if promise is None:
            return
        if task.schema is not None and task.schema.unit is not None and task.schema.unit.max_rows > 1:
            raise RequestError("the promise of from_theorem is for persons of one row each: declare max_rows = 1")
        width = None
        if isinstance(task, MatrixTask) and task.encoder is not None:
            width = task.encoder.width
        elif task.schema is not None:
            width = RowEncoder.of(task.schema).width
        most = promise["columns"]
        if most is not None and width is not None and width > most:
            raise RequestError(
                f"there are {width} columns, and the promise is for at most {most}: make it anew with "
                f"from_theorem(..., columns={width})"
            )

    def charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        del task
        return [allowance.whole]

    def learn(self, rows: PrivateRows, allowance: Allowance, task: Task) -> Model:
        encoder: RowEncoder | MatrixEncoder
        if isinstance(task, MatrixTask):
            assert task.encoder is not None
            encoder = task.encoder
        else:
            encoder, allowance = self._row_encoder(rows, allowance, task)
        constant = float(encoder.intercept) / encoder.clipper.norm
        budget = Budget(rows.seal_rows(encoder, task.label_index), allowance)
        options = replace(self.options.checked(), constant=constant)
        learned = learn_halfspace(budget, encoder.clipper.radius, options)
        if self.witness is not None:
            self.witness(learned.ensemble)
        return HalfspaceModel(
            task.label_index.names,
            encoder,
            learned.weights,
            learned.noise_sd,
            learned.calibration.slope,
            learned.calibration.offset,
            self._evidence(learned.errors, task),
            self._promise(learned.n_rows, allowance),
        )

    def _promise(self, counted: float, allowance: Allowance) -> ErrorPromise | None:
        """What was promised, with the released number of rows, which may contradict the declared one."""
        promise = self.options.promise
        if promise is None:
            return None
        facts = {name: promise[name] for name in PROMISED if name != "columns"}
        return ErrorPromise(**facts, counted=counted, sd=allowance.sd(self.options.shares["count"]))

    def _evidence(self, errors: CountedErrors | None, task: Task) -> CountedErrors | None:
        """The counted errors, where rows are independent draws and the encoding was public but for the length found."""
        declared = isinstance(task, MatrixTask) if task.schema is None else task.schema.unit is None
        if errors is None or not declared or task.undeclared is not None:
            return None
        lengths = (
            1 if self.row_norm is not None else length_grid(1.0, self.options.tuning).n_codes - 1
        )  # one is of no number
        return replace(errors, log_models=errors.log_models + math.log(lengths))

    def _row_encoder(self, rows: PrivateRows, allowance: Allowance, task: Task) -> tuple[RowEncoder, Allowance]:
        """Columns as rows in a ball, and what is left after what that takes: bounds and length, if nobody told them."""
        tuning = self.options.tuning
        if task.schema is not None:
            encoder = RowEncoder.of(task.schema)
        else:
            names = task.names
            bounds = _bounds(rows, names, task.label_index, allowance, tuning)
            encoding = TableEncoding(names, tuple(NumericGrid(*bounds[name]) for name in names))
            encoder = RowEncoder(encoding, (False,) * len(names), RowClipper(math.sqrt(len(names))))
            allowance = allowance.part(1 - BOUNDS_SHARE)
        if self.row_norm is None:
            norm = find_row_norm(rows, encoder, task.label_index, allowance, tuning)
            allowance = allowance.part(1 - tuning.norm_share)
        else:
            norm = float(self.row_norm)
        constant = min(1.0, norm) if self.fit_intercept else 0.0
        return replace(
            encoder, clipper=RowClipper(math.hypot(norm, constant), RADIUS_16), intercept=constant
        ), allowance


def _bounds(
    rows: PrivateRows, names: tuple[str, ...], label_index: LabelIndex, allowance: Allowance, tuning: Tuning
) -> dict[str, tuple[float, float]]:
    """Bounds of the columns of a fit without a schema, for :data:`BOUNDS_SHARE`: each its own, or one for many."""
    if len(names) < tuning.many_columns:
        return find_bounds(rows, names, label_index, allowance, BOUNDS_SHARE)
    rest = BOUNDS_SHARE - tuning.norm_share
    common = find_common_bounds(rows, names, label_index, allowance, rest / len(names), tuning)
    if common is not None:
        return dict.fromkeys(names, common)
    return find_bounds(rows, names, label_index, allowance, rest)
