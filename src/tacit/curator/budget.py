"""A budget: what a fit may spend, bound to the curator it spends it with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.curator.curator import Curator
from tacit.curator.joint_clipping import JointReleases
from tacit.curator.measurement import Measurement
from tacit.curator.select import Choice
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import Cells
from tacit.queries.joint_bound import JointBound
from tacit.queries.query import Layout, Query
from tacit.queries.selection import Selection


@dataclass(frozen=True, eq=False)
class Budget:
    """A share of an allowance, and the curator that answers for it.

    Shares are given relative to this budget: ``budget.part(0.3).sd(0.5)`` is the noise of a release that takes 0.15 of
    the allowance. A budget is an arithmetic of shares, not a guard: that no more is spent than was reserved is checked
    by the curator, release by release.
    """

    curator: Curator  # the only access to the rows
    allowance: Allowance  # the numbers of the request
    # of the allowance. It is kept beside it, not multiplied into it, so that shares that were planned together add up
    # exactly.
    share: float = 1.0

    def part(self, share: float) -> Budget:
        return replace(self, share=self.share * share)

    def split(self, parts: float) -> Budget:
        return replace(self, share=self.share / parts)

    def after(self, cost: float) -> Budget:
        """What is left of this once a share of the allowance, ``cost``, was taken from it."""
        return replace(self, share=self.share - cost)

    def as_whole(self) -> Budget:
        """The same budget as an allowance of its own, for what plans by its ``mu``."""
        return Budget(self.curator, self.allowance.part(self.share))

    def charge(self, share: float = 1.0) -> Charge:
        """The charge of one noisy release that takes ``share`` of this."""
        return self.allowance.charge(self.share * share)

    def selection(self, share: float = 1.0) -> Charge:
        """The charge of one choice by the exponential mechanism that takes ``share`` of this."""
        return self.allowance.selection(self.share * share)

    def sd(self, share: float = 1.0, sensitivity: float = 1.0) -> float:
        """Standard deviation of the noise of a release that takes ``share`` of this; 0 without privacy."""
        return self.allowance.sd(self.share * share, sensitivity)

    @property
    def is_private(self) -> bool:
        return self.allowance.is_private

    @property
    def is_pure(self) -> bool:
        return self.allowance.is_pure

    def measure(self, query: Query, share: float, label: Label | str) -> Measurement:
        """Releases a noisy answer for ``share`` of this; see :meth:`tacit.curator.curator.Curator.measure`."""
        return self.curator.measure(query, self.charge(share), label)

    def measure_all(self, asks: Sequence[tuple[Query, float, Label | str]]) -> list[Measurement]:
        """Releases noisy answers in one pass over the rows: query, share and label of each."""
        return self.curator.measure_all([(query, self.charge(share), label) for query, share, label in asks])

    def select(self, selection: Selection, share: float, label: Label | str) -> Choice:
        """Chooses for ``share`` of this; see :meth:`tacit.curator.curator.Curator.select`."""
        return self.curator.select(selection, self.selection(share), label)

    def open_jointly(self, bound: JointBound, rounds: int, stage: str = "", before: int = 0) -> JointReleases:
        """Releases over which rows are bounded together; see :meth:`tacit.curator.curator.Curator.open_jointly`."""
        return self.curator.open_jointly(bound, rounds, stage, before)

    def derive(self, cells: Cells) -> None:
        """Keeps what rows fall into these cells; see :meth:`tacit.curator.curator.Curator.derive`."""
        self.curator.derive(cells)

    @property
    def layout(self) -> Layout:
        return self.curator.layout

    @property
    def neighbouring(self) -> Neighbouring:
        return self.curator.neighbouring

    @property
    def public_generator(self) -> np.random.Generator:
        return self.curator.public_generator
