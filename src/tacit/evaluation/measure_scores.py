"""The one private step of an evaluation: from a model and rows to released counts, reserved and certified."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from tacit.curator.vault import Vault
from tacit.encoding.frames import Frame
from tacit.encoding.table import Encoder, TableEncoding, encoder_of
from tacit.encoding.values import BooleanIndex, CategoryIndex, LabelIndex
from tacit.evaluation.counts import ScoreCounts, release_counts
from tacit.evaluation.grid import CELLS, ScoreGrid
from tacit.evaluation.scored_rows import Scorer
from tacit.evaluation.strategy import best_charge, shared
from tacit.faces.base import label_vector, table_of
from tacit.faces.request import Request, RequestError
from tacit.faces.rows import vector_where
from tacit.faces.spend import reserve
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Laplace
from tacit.schema import Schema

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


def declared_groups(
    subgroups: str | None, categories: Sequence[Any] | None, schema: Schema | None, frame: Frame
) -> ScoreGroups:
    """The subgroups of a request, checked: their values are declared, and the column can hold them.

    Raises:
        ValueError: for public mistakes.
    """
    if subgroups is None:
        if categories is not None:
            raise RequestError("categories are the values of the column named by subgroups, which is missing")
        return ScoreGroups()
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
    encoder.encode(vector_where(frame.column(subgroups), np.zeros(frame.n_rows, np.bool_)), subgroups)
    if encoder.n_codes > MOST_GROUPS:
        raise RequestError(f"{subgroups!r} has {encoder.n_codes} groups, and {MOST_GROUPS} can be told apart")
    if isinstance(encoder, BooleanIndex):
        return ScoreGroups(subgroups, (encoder,), (False, True, MISSING))
    return ScoreGroups(subgroups, (encoder,), (*encoder.categories, OTHER, MISSING))


@final
@dataclass(frozen=True, eq=False)
class Order:
    """What to count, as checked beforehand.

    Attributes:
        frame, data, labels: the rows: as columns, as they came, and their labels.
        groups: the subgroups.
        threshold: where the score grid has a cut for sure.
        with_truth: whether the score of the true class is counted too, for half of the budget.
        schema: for the unit and the certificate.
        label: what this is, for the account.
    """

    frame: Frame
    data: Any
    labels: Any
    groups: ScoreGroups
    threshold: float
    with_truth: bool
    schema: Schema | None
    label: str


@final
@dataclass(frozen=True, eq=False)
class Released:
    """Released counts: of all rows, by group, and by the score of the true class where that was asked for."""

    overall: ScoreCounts
    groups: tuple[ScoreCounts, ...]
    losses: ScoreCounts | None
    group_losses: tuple[ScoreCounts | None, ...]
    certificate: Certificate
    generator: np.random.Generator


def measure_scores(scorer: Scorer, order: Order, request: Request, account: PrivacyAccount | None) -> Released:
    """Reserves the whole charge, scores the rows, seals scores and labels, and asks for the counts.

    Raises:
        FrameError: if the unit's column is missing; nothing was spent.
        BudgetExceeded: if the account cannot pay; nothing was read.
    """
    groups, frame = order.groups, order.frame
    unit = None if order.schema is None else order.schema.unit
    if unit is not None:
        frame.column(unit.column)
    cells = min(CELLS, 1 << (MOST_CELLS // groups.n_codes).bit_length() - 1)
    grid = ScoreGrid.of(cells, order.threshold)
    share = 0.5 if order.with_truth else 1.0
    reserved, charge, by_cell = best_charge(request.purse, cells, account is None, share)
    by_group = shared(groups.n_codes, 1 if isinstance(charge, Laplace) else 2)
    with reserve(account, request, [reserved] * (1 + order.with_truth), order.label) as reservation:
        columns: dict[str, Any] = scorer.columns(frame, order.data, order.labels)
        if groups.name is not None:
            columns["group"] = frame.column(groups.name)
        if unit is not None:
            columns["unit"] = frame.column(unit.column)
        vault = Vault(
            Frame(columns, frame.n_rows), columns["label"], reservation, request.random_state,
            None if unit is None else "unit", 1 if unit is None else unit.max_rows,
        )  # fmt: skip

        def released(score: str) -> tuple[ScoreCounts, tuple[ScoreCounts, ...]]:
            encoders: list[Encoder] = [grid.encoder, *groups.encoders]
            encoding = TableEncoding((score, "group")[: len(encoders)], tuple(encoders))
            curator = vault.seal(encoding, LabelIndex((0, 1)))
            return release_counts(curator, grid, groups.n_codes, charge, by_cell, by_group)

        overall, each = released("score")
        losses, each_loss = released("truth") if order.with_truth else (None, (None,) * len(each))
    certificate = Certificate.of(
        reservation,
        epsilon=request.epsilon,
        delta=request.delta,
        noise_source=vault.noise_name,
        noise_releasable=vault.releasable,
        algorithm=order.label,
        schema=order.schema,
        account=account,
        unverified=not scorer.verified,
    )
    return Released(overall, each, losses, each_loss, certificate, vault.public_generator)


def declared_schema(schema: Any) -> Schema | None:
    """A schema from what estimators take as one."""
    if schema is None or isinstance(schema, Schema):
        return schema
    if isinstance(schema, Mapping):
        return Schema.from_dict(schema)
    if isinstance(schema, str | os.PathLike):
        return Schema.from_toml(schema)
    raise RequestError(f"schema must be a Schema, a mapping or a path, got {type(schema).__name__}")


def rows_and_labels(X: Any, y: Any) -> tuple[Frame, Any]:
    """Rows as a frame (without columns if they are a sparse matrix) and labels, of one length."""
    frame = Frame({}, X.shape[0]) if hasattr(X, "tocsr") else table_of(X)
    labels = label_vector(y)
    if len(labels) != frame.n_rows:
        raise RequestError(f"X and y must have as many rows as each other, got {frame.n_rows} and {len(labels)}")
    return frame, labels
