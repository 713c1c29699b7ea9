"""Noise in shares: sites answer with noise of their own, so that nobody sees an exact total.

A site computes the noise by itself: from the query it is asked, the charge that was announced and paid for, and the
number of honest sites that it counts on. The coordinator cannot ask for less (docs/theory/noise_shares.md).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, final
from weakref import WeakKeyDictionary

import numpy as np

from tacit.arrays import Ints
from tacit.curator.curator import Curator
from tacit.curator.gate import SharedNoise
from tacit.curator.measurement import integer_scale
from tacit.curator.recipes import Recipe
from tacit.curator.source_rows import Labels, SourceRows
from tacit.engines.blocks import SealedTable
from tacit.engines.joined.wire import WireError
from tacit.noise import NoiseSource
from tacit.privacy.charges import Charge, Gaussian, NonPrivate, uses
from tacit.privacy.noise_shares import NoiseShares
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import OneCell
from tacit.queries.joint_bound import JointBound, JointHistogram
from tacit.queries.query import Query


class NoisyTable(Protocol):
    """Rows at sites that answer with noise."""

    def noisy(self, pairs: Sequence[tuple[Any, Charge]]) -> list[Ints]:
        """The sums of the sites' noisy answers to queries, each with its charge."""


def at_sites(shares: NoiseShares, table: NoisyTable) -> SharedNoise:
    """What a curator knows of noise that sites draw."""
    return SharedNoise(shares, lambda questions: table.noisy([(each.asked, each.charge) for each in questions]))


class NoisyRows(SourceRows):
    """Rows at sites that draw the noise. ``shares``: how many do, and how many suffice."""

    shares: NoiseShares

    def _table(self, recipe: Recipe, label_index: Labels, levels: int = 1) -> SealedTable:
        self._last = super()._table(recipe, label_index, levels)
        return self._last

    def _curator(self, recipe: Recipe, label_index: Labels) -> Curator:
        curator = super()._curator(recipe, label_index)
        self._share(curator)
        return curator

    def seal_weighted(self, encoding: Any, label_index: Any, class_weights: Sequence[float]) -> Any:
        curator = super().seal_weighted(encoding, label_index, class_weights)
        self._share(curator)
        return curator

    def _share(self, curator: Curator) -> None:
        table: Any = self._last
        curator.shared_noise = at_sites(self.shares, table)


def refused_charges(charges: Iterable[Charge]) -> str:
    """Why a fit with these charges cannot have its noise in shares; empty if it can."""
    kinds = {type(charge) for charge, _ in uses(charges)}
    if NonPrivate in kinds:
        return "without privacy (epsilon=inf) there is no noise to share"
    if kinds - {Gaussian}:
        return "it pays for choices, or for noise that is not Gaussian, and sites share Gaussian noise alone"
    return ""


@dataclass(eq=False)
class _Rounds:
    """How often the parts of a bound were released, and how many rounds of all of them were paid."""

    made: Counter[int] = field(default_factory=Counter)
    paid: int = 0


@final
class ShareOfNoise:
    """A site's part in the noise of one fit.

    Guarantee: whatever the coordinator asks, the noise of ``shares.honest`` such sites in an answer is at least what a
    charge that was announced asks for, and every announced charge pays for one answer. Under bounds over several parts
    a round of all parts is paid whenever one part is released once more than any was before.
    """

    def __init__(self, shares: NoiseShares, neighbouring: Neighbouring, noise: NoiseSource) -> None:
        self._shares, self._neighbouring, self._noise = shares, neighbouring, noise
        self._unused: Counter[Charge] = Counter()
        self._rounds: WeakKeyDictionary[JointBound, _Rounds] = WeakKeyDictionary()

    def announced(self, charge: Charge) -> None:
        """Takes down a charge that the ledger of this site has entered."""
        for simple, times in uses([charge]):
            self._unused[simple] += times

    def scale(self, query: Query | JointHistogram, charge: Charge) -> float:
        """The scale of this site's noise in an answer; takes the charges that pay for it."""
        if not isinstance(charge, Gaussian):
            raise WireError("sites draw shares of Gaussian noise alone")
        if isinstance(query, JointHistogram):
            self._take_round(query, charge)
            moved = query.joint_sensitivity(self._neighbouring)
        else:
            self._take(charge)
            moved = query.sensitivity(self._neighbouring)
        return self._shares.scale(integer_scale(charge, moved))

    def noisy(self, exact: Ints, scale: float) -> Ints:
        """An answer of this site with its share of the noise; beyond 64 bits both wrap around, as sums do."""
        return exact + self._noise.gaussian(scale, exact.size).reshape(exact.shape)

    def _take(self, charge: Charge) -> None:
        if self._unused[charge] < 1:
            raise WireError("more is asked than was charged")
        self._unused[charge] -= 1

    def _take_round(self, query: JointHistogram, charge: Gaussian) -> None:
        rounds = self._rounds.setdefault(query.bound, _Rounds())
        places = [i for i, part in enumerate(query.bound.parts) if part.charge == charge and _is_part(query, i)]
        if not places:
            raise WireError("what is asked is no part of its bound")
        place = min(places, key=lambda i: rounds.made[i])
        if rounds.made[place] == rounds.paid:
            for part in query.bound.parts:
                self._take(part.charge)
            rounds.paid += 1
        rounds.made[place] += 1


def _is_part(query: JointHistogram, place: int) -> bool:
    """Whether a query is about a part of its bound: the same cells, through the same map."""
    part, histogram = query.bound.parts[place], query.histogram
    mapped, cells = histogram.release_map, histogram.cells
    same_cells = cells is part.cells or (isinstance(cells, OneCell) and isinstance(part.cells, OneCell))
    return (
        same_cells
        and mapped is not None
        and mapped.unit == part.release_map.unit
        and np.array_equal(mapped.matrix, part.release_map.matrix)
    )


def seed_of(seed: int, name: str) -> int:
    """The seed of a site's noise in a test that can be repeated."""
    return int.from_bytes(hashlib.sha256(f"tacit site noise {seed} {name}".encode()).digest()[:8], "big")
