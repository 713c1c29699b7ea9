"""What a fitted estimator spells out, as a guess: names, categories, bounds, entries and charges.

What is made of noise is hardly ever the same twice. Whatever stands in nearly all models of one table and in hardly any
of the other came past the noise: a bound that is the largest value, a category that one row has, a charge that depends
on rows. Such a leak is a perfect guess, which models asked at a few rows need not show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

CLEAR = 0.9
"""By how much of the fits that choose, the two tables must differ in whether a fact is there.

With less it is mostly the luckiest of thousands."""

LEFT_OUT = ("created", "digest", "model_digest", "schema_digest", "ledger_digest", "versions", "schema_fingerprint")
"""Of a certificate: the time, and digests of what is looked at itself."""

ELSEWHERE = ("model_", "schema_", "certificate_", "summary_", "best_", "certificates_")
"""Attributes that are looked at themselves, or that follow from others and a time."""


@final
@dataclass
class Facts:
    """Chooses one fact on the first fits, and counts it on the others.

    Attributes:
        choosing: so many fits to each table choose.
    """

    choosing: int
    _seen: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))
    _fits: list[int] = field(default_factory=lambda: [0, 0])
    _guess: tuple[str, bool] | None = None

    def add(self, side: int, model: Any) -> bool | None:
        """Looks at a fit to the table without the canary (0) or with it (1).

        Returns:
            Whether the fact says "with" of it; None while none is chosen, or where none tells the tables apart.
        """
        self._fits[side] += 1
        if self._fits[side] <= self.choosing:
            self._seen[side].update(set(facts_of(model)))
            return None
        if self._guess is None:
            self._guess = self._chosen()
        fact, there = self._guess
        return (fact in set(facts_of(model))) == there if fact else None

    @property
    def leak(self) -> str | None:
        """The fact, if there is one: what it says of a model of the table with the canary."""
        if self._guess is None or not self._guess[0]:
            return None
        return self._guess[0] if self._guess[1] else f"not {self._guess[0]}"

    def _chosen(self) -> tuple[str, bool]:
        """The fact that tells most, and whether it speaks for the canary; no text where none tells enough."""
        without, with_canary = self._seen
        gaps = {fact: with_canary[fact] - without[fact] for fact in sorted({*without, *with_canary})}
        fact = max(gaps, key=lambda name: (abs(gaps[name]), gaps[name] > 0, -_rank(name)), default="")
        self._seen = Counter(), Counter()
        if not fact or abs(gaps[fact]) < CLEAR * self.choosing:
            return "", True
        return fact, gaps[fact] > 0


def _rank(fact: str) -> int:
    """Of facts that tell as much, the value that was read from rows is named rather than what followed from it."""
    places = ("schema", "classes", "model", "")
    return 2 * [fact.startswith(place) for place in places].index(True) + (" is " not in fact)


def facts_of(model: Any) -> Iterator[str]:
    """What a fitted estimator spells out: model, schema and certificate as plain data, place by place."""
    for place, written in (("model", "body"), ("schema", "to_dict"), ("certificate", "to_dict")):
        part: Any = getattr(model, f"{place}_", None)
        if hasattr(part, written):
            yield from _leaves(place, {k: v for k, v in getattr(part, written)().items() if k not in LEFT_OUT})
    for name, value in sorted(vars(model).items()):
        if name.endswith("_") and not name.startswith("_") and name not in ELSEWHERE:
            yield from _leaves(name.removesuffix("_"), value)


def _leaves(place: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(f"{place}.{key}", inner)
    elif isinstance(value, np.ndarray):
        yield from _leaves(place, value.tolist())
    elif isinstance(value, list | tuple):
        yield f"{place} has {len(value)}"
        for index, inner in enumerate(value):
            yield from _leaves(f"{place}[{index}]", inner)
    elif value is None or isinstance(value, str | bytes | bool | int | float | np.generic):
        yield f"{place} is {value!r}"
