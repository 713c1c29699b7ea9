"""The one private step of an evaluation: from a model and rows to released counts, reserved and certified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from tacit.curator.vault import Vault
from tacit.encoding.frames import Frame
from tacit.encoding.table import Encoder, TableEncoding, encoder_of
from tacit.encoding.values import BooleanIndex, CategoryIndex, LabelIndex
from tacit.encoding.without_rows import without_rows
from tacit.evaluation.counts import ScoreCounts, release_counts
from tacit.evaluation.grid import CELLS, ScoreGrid
from tacit.evaluation.scorer import Scorer
from tacit.evaluation.strategy import best_charges, shared
from tacit.faces.inputs import label_vector, table_of
from tacit.faces.request import Request, RequestError
from tacit.faces.spend import certified, reserve
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Laplace
from tacit.schema import Schema, Unit

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


def with_unit(
    columns: Mapping[str, Any], n_rows: int, unit: Unit | None, identifiers: Any
) -> tuple[Frame, Unit | None]:
    """Columns made for an evaluation beside the identifiers of units, under a name of their own: for a vault.

    Args:
        columns: what was made of rows; none is called ``unit``.
        n_rows: how many there are.
        unit: as the schema declares it, if it does.
        identifiers: its column.
    """
    if unit is None:
        return Frame(columns, n_rows), None
    return Frame({**columns, "unit": identifiers}, n_rows), replace(unit, column="unit")


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
    """What to count, as checked beforehand.

    Attributes:
        frame, data, labels: the rows: as columns, as they came, and their labels.
        groups: the subgroups.
        threshold: where the score grid has a cut for sure.
        with_truth: whether the score of the true class is counted too, for half of the budget.
        schema: for the unit and the certificate.
        label: what this is, for the account.
        each_class: whether the score of every class is counted against the rest too, for half of the budget.
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


@final
@dataclass(frozen=True, eq=False)
class Released:
    """Released counts of all rows and by group; and, where asked for, by the score of the true class and of each."""

    overall: ScoreCounts
    groups: tuple[ScoreCounts, ...]
    losses: ScoreCounts | None
    group_losses: tuple[ScoreCounts | None, ...]
    certificate: Certificate
    generator: np.random.Generator
    classes: tuple[ScoreCounts, ...] = ()
    group_classes: tuple[tuple[ScoreCounts, ...], ...] = ()


def measure_scores(scorer: Scorer, wanted: CountRequest, request: Request, account: PrivacyAccount | None) -> Released:
    """Reserves the whole charge, scores the rows, seals scores and labels, and asks for the counts.

    Raises:
        FrameError: if the unit's column is missing; nothing was spent.
        BudgetExceeded: if the account cannot pay; nothing was read.
    """
    groups, frame = wanted.groups, wanted.frame
    unit = None if wanted.schema is None else wanted.schema.unit
    identifiers = None if unit is None else frame.column(unit.column)
    cells = min(CELLS, 1 << (MOST_CELLS // groups.n_codes).bit_length() - 1)
    grid = ScoreGrid.of(cells, wanted.threshold)
    parts = _parts(wanted, scorer.n_classes)
    paid, by_cell = best_charges(request.purse, cells, account is None, list(parts.values()))
    charges = {part: charge for part, (_, charge) in zip(parts, paid, strict=True)}
    by_group = shared(groups.n_codes, 1 if isinstance(paid[0][1], Laplace) else 2)
    with reserve(account, request, [reserved for reserved, _ in paid], wanted.label) as reservation:
        columns: dict[str, Any] = scorer.columns(frame, wanted.data, wanted.labels, wanted.each_class)
        if groups.name is not None:
            columns["group"] = frame.column(groups.name)
        made, unit = with_unit(columns, frame.n_rows, unit, identifiers)
        seed = request.random_state

        def vault_of(label: str, number: int) -> Vault:
            noise_seed = None if seed is None else seed + number
            return Vault(made, columns[label], reservation, noise_seed, unit)

        def released(vault: Vault, score: str) -> tuple[ScoreCounts, tuple[ScoreCounts, ...]]:
            encoders: list[Encoder] = [grid.encoder, *groups.encoders]
            encoding = TableEncoding((score, "group")[: len(encoders)], tuple(encoders))
            curator = vault.seal(encoding, LabelIndex((0, 1)))
            return release_counts(curator, grid, groups.n_codes, charges[score], by_cell, by_group)

        vault = vault_of("label", 0)
        overall, each = released(vault, "score")
        losses, each_loss = released(vault, "truth") if wanted.with_truth else (None, (None,) * len(each))
        rest = []
        if wanted.each_class:  # other labels: the class or any other
            rest = [released(vault_of(f"is {k}", 1 + k), f"class {k}") for k in range(scorer.n_classes)]
    certificate = certified(account, request, reservation, vault, wanted.label, wanted.schema, not scorer.verified)
    by_class = tuple(zip(*(groups for _, groups in rest), strict=True))
    return Released(
        overall, each, losses, each_loss, certificate, vault.public_generator, tuple(every for every, _ in rest),
        by_class or ((),) * len(each),
    )  # fmt: skip


def _parts(wanted: CountRequest, n_classes: int) -> dict[str, float]:
    """The columns of scores that are counted, and the share of the budget of each."""
    plain = ["score", *(["truth"] if wanted.with_truth else [])]
    rest = [f"class {k}" for k in range(n_classes)] if wanted.each_class else []
    left = 0.5 if rest else 1.0
    return dict.fromkeys(plain, left / len(plain)) | dict.fromkeys(rest, 0.5 / max(len(rest), 1))


def rows_and_labels(X: Any, y: Any) -> tuple[Frame, Any]:
    """Rows as a frame (without columns if they are a sparse matrix) and labels, of one length."""
    frame = Frame({}, X.shape[0]) if hasattr(X, "tocsr") else table_of(X)
    labels = label_vector(y)
    if len(labels) != frame.n_rows:
        raise RequestError(f"X and y must have as many rows as each other, got {frame.n_rows} and {len(labels)}")
    return frame, labels
