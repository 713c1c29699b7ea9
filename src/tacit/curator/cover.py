"""The verb ``cover``: a whole run of EM-cover. Only the chosen rules leave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Ints
from tacit.curator.gate import Gate, Question
from tacit.curator.select import least_scale
from tacit.engines.blocks import CoverRows, SealedTable
from tacit.noise.source import NoiseSource
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label
from tacit.privacy.unit import Neighbouring
from tacit.queries.covers.candidates import Conjunctions, StreamedConjunctions
from tacit.queries.covers.charges import Accounting, cover_charge, theorem
from tacit.queries.covers.cover import Cover, Step
from tacit.queries.query import Sensitivity


@dataclass(frozen=True)
class Covering:
    """What a cover lets out: pairs (conjunction, class) in the order of choice; a constant rule ends them.

    ``idle``: in how many steps "no rule" was chosen.
    """

    label: str
    rules: tuple[tuple[int, int], ...]
    idle: int
    charge: Charge
    theorem: str


def cover_scale(step: Step) -> float | None:
    """The least float ``s`` with ``1 / s <= step.scale``, at which ``exp(score / s)`` costs at most the step.

    None for a step that takes the best.
    """
    return None if math.isinf(step.scale) else least_scale(1, step.scale)


def run_cover(
    table: SealedTable,
    gate: Gate,
    cover: Cover,
    label: Label | str,
    accounting: Accounting = Accounting.MOMENTS,
    delta: float = 0.0,
) -> Covering:
    """Chooses the rules of a cover: validate, charge the whole run, then choose.

    See :meth:`tacit.curator.curator.Curator.cover`.
    """
    relation = gate.reservation.neighbouring
    charge = cover_charge(cover.steps, relation, accounting, delta, gate.rows_per_unit)
    claim = Sensitivity(0, 0, theorem(accounting, relation is Neighbouring.REPLACE_ONE))
    scales = [cover_scale(step) for step in cover.steps]
    words = f"cover of {len(cover.steps)} steps"
    question = Question("cover", cover, charge, label, claim, 0.0, words, gate.rows_per_unit)
    gate.charge(question)

    def chosen() -> list[Ints]:
        rules, idle = _chosen(table, gate.noise, cover, scales)
        flat = [idle, *(number for rule in rules for number in rule)]
        return [np.array(flat, np.int64)]

    [released] = gate.release([question], chosen)
    rules = tuple((int(conjunction), int(label_)) for conjunction, label_ in released[1:].reshape(-1, 2))
    return Covering(str(label), rules, int(released[0]), charge, claim.theorem)


def _chosen(
    table: SealedTable, noise: NoiseSource, cover: Cover, scales: Sequence[float | None]
) -> tuple[list[tuple[int, int]], int]:
    """The rules, and in how many steps there was none."""
    rows, candidates = table.open_cover(cover.candidates), cover.candidates
    rules_left: _Listed | _Streamed
    if isinstance(candidates, StreamedConjunctions):
        rules_left = _Streamed(cover, candidates, rows)
    else:
        rules_left = _Listed(cover, candidates, rows)
    rules: list[tuple[int, int]] = []
    idle = 0
    for step, scale in zip(cover.steps, scales, strict=True):
        drawn = rules_left.draw(step, scale, noise, rules)
        if drawn is None:  # which candidates are left follows from the rules
            continue
        if drawn == IDLE:
            idle += 1
            continue
        rules.append(drawn)
        if drawn[0] in rules_left.constant:  # no rows are left, whatever the table: the rest is noise
            break
        rules_left.remove(drawn[0])
    return rules, idle


IDLE = (-1, -1)  # drawn for "no rule"


class _Listed:
    """The rules that can still be chosen, over the rows that are left, of candidates that are listed."""

    def __init__(self, cover: Cover, candidates: Conjunctions, rows: CoverRows) -> None:
        self._cover = cover
        self._rows = rows
        self._free = np.ones(len(candidates), np.bool_)
        self.constant = frozenset(candidates.constant.tolist())

    def draw(
        self, step: Step, scale: float | None, noise: NoiseSource, rules: list[tuple[int, int]]
    ) -> tuple[int, int] | None:
        """A conjunction and a class; ``IDLE``; None if there is nothing left to draw."""
        constant = np.array(sorted(self.constant), np.int64)
        free = self._free
        if self._cover.constant_last and len(constant):
            free = free.copy()
            free[constant] = False
        candidates = constant if step.ending else np.flatnonzero(free)
        if len(candidates) == 0:
            return None
        n_labels = self._cover.n_labels
        scores = (
            step.scores(self._rows.counts[candidates], rules) + self._cover.offsets(step)[candidates, None]
        ).ravel()
        if self._cover.idle_score is not None and not step.ending:
            scores = np.append(scores, np.int64(self._cover.idle_score))
        place = _last_best(scores) if scale is None else noise.exponential(scores, scale)
        return IDLE if place == len(candidates) * n_labels else (int(candidates[place // n_labels]), place % n_labels)

    def remove(self, conjunction: int) -> None:
        """Takes away a conjunction, with all classes, and the rows it covers."""
        self._free[conjunction] = False
        self._rows.remove(conjunction)


class _Streamed:
    """As :class:`_Listed`, of candidates made block by block; "no rule" is a block of its own, the last one."""

    def __init__(self, cover: Cover, candidates: StreamedConjunctions, rows: CoverRows) -> None:
        self._cover = cover
        self._candidates = candidates
        self._rows = rows
        self._gone: list[int] = []
        self.constant = frozenset(candidates.constant.tolist())

    def draw(
        self, step: Step, scale: float | None, noise: NoiseSource, rules: list[tuple[int, int]]
    ) -> tuple[int, int] | None:
        blocks = _Blocks(self._cover, self._candidates, self._rows, step, rules, self._gone)
        if not any(blocks.left(block) for block in range(self._candidates.n_blocks)):
            return None
        block, index = _last_best_place(blocks) if scale is None else noise.exponential_place(blocks, scale)
        if block == self._candidates.n_blocks:
            return IDLE
        offset = index // self._cover.n_labels
        for gone in sorted(self._gone):  # positions count those that are gone
            offset += self._candidates.start(block) <= gone <= self._candidates.start(block) + offset
        return self._candidates.start(block) + offset, index % self._cover.n_labels

    def remove(self, conjunction: int) -> None:
        self._gone.append(conjunction)
        self._rows.remove(conjunction)


class _Blocks:
    """The scores of one step, block by block."""

    def __init__(
        self,
        cover: Cover,
        candidates: StreamedConjunctions,
        rows: CoverRows,
        step: Step,
        rules: list[tuple[int, int]],
        gone: list[int],
    ) -> None:
        self._cover, self._candidates, self._rows = cover, candidates, rows
        self._step, self._rules, self._gone = step, rules, gone
        self._offsets = cover.offsets(step)
        self._idle = [] if cover.idle_score is None or step.ending else [cover.idle_score]

    def __len__(self) -> int:
        return self._candidates.n_blocks + 1

    def left(self, block: int) -> int:
        """How many conjunctions of a block can be chosen."""
        constant = self._candidates.length(block) == 0
        if self._step.ending != constant and (self._step.ending or self._cover.constant_last):
            return 0
        return self._candidates.size(block) - len(self._gone_of(block))

    def _gone_of(self, block: int) -> list[int]:
        start, size = self._candidates.start(block), self._candidates.size(block)
        return [gone - start for gone in self._gone if start <= gone < start + size]

    def __getitem__(self, block: int) -> Ints:
        if block == self._candidates.n_blocks:
            return np.array(self._idle, np.int64)
        if self.left(block) == 0:
            return np.zeros(0, np.int64)
        counts = np.delete(self._rows.block(block), self._gone_of(block), axis=0)
        scores: Ints = (self._step.scores(counts, self._rules) + self._offsets[block]).ravel()
        return scores


def _last_best(scores: Ints) -> int:
    """The last of the highest scores: among equals "no rule" wins."""
    return len(scores) - 1 - int(scores[::-1].argmax())


def _last_best_place(blocks: _Blocks) -> tuple[int, int]:
    best, place = -math.inf, (0, 0)
    for block in range(len(blocks)):
        scores = blocks[block]
        if len(scores) and scores.max() >= best:
            best, place = int(scores.max()), (block, _last_best(scores))
    return place
