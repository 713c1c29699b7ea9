"""Where the budget went: the entries of a certificate, gathered into stages for a bar chart."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tacit.privacy.charges import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Charge,
    Gaussian,
    Laplace,
    NonPrivate,
    Pure,
    Renyi,
    Repeated,
)


def size(charge: Charge) -> float:
    """How much of a budget a charge takes, for the length of a bar: a rho of zCDP where the charge has one.

    Exact shares when all charges are Gaussian; a guide to the eye when kinds are mixed. Never used to account.
    """
    match charge:
        case Gaussian():
            return charge.precision / 2
        case Laplace() | Pure():
            return charge.epsilon**2 / 2
        case BoundedRange():
            return charge.range**2 / 8
        case ZCDP():
            return charge.rho
        case Repeated():
            return charge.times * size(charge.charge)
        case ApproxDP():
            return charge.epsilon**2 / 2
        case Renyi():
            return min(d / a for a, d in zip(charge.orders, charge.divergences, strict=True))
        case NonPrivate():
            return math.inf
        case _:
            return 0.0


def words(charge: Charge) -> str:
    """A charge for people."""
    match charge:
        case Gaussian():
            return f"Gaussian noise, {charge.noise_multiplier:.4g} × sensitivity"
        case Laplace():
            return f"Laplace noise, epsilon {charge.epsilon:.4g}"
        case Pure():
            return f"pure, epsilon {charge.epsilon:.4g}"
        case BoundedRange():
            return f"exponential mechanism, range {charge.range:.4g}"
        case ZCDP():
            return f"zCDP, rho {charge.rho:.4g}"
        case Repeated():
            return f"{charge.times} × {words(charge.charge)}"
        case ApproxDP():
            return f"epsilon {charge.epsilon:.4g}, delta {charge.delta:.2g}"
        case NonPrivate():
            return "no noise"
        case _:
            return charge.kind.replace("_", " ")


@dataclass(frozen=True)
class Stage:
    """Releases of one sort.

    Attributes:
        name: what was released.
        releases: how many.
        share: part of the whole, 0 to 1.
        charges: distinct charges, in words.
        theorems: the claims their sensitivities stand on.
        examples: a few labels.
    """

    name: str
    releases: int
    share: float
    charges: tuple[str, ...]
    theorems: tuple[str, ...]
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Release:
    """One entry of a certificate as the page needs it."""

    label: str
    charge: Charge
    theorem: str


def stage_of(label: str) -> str:
    """The stage a label belongs to: the words before what is particular to the release.

    ``"sweep 3: age"`` is of the stage ``"sweeps"``, ``"counts of age"`` of ``"counts"``, ``"round 7"`` of ``"rounds"``.
    """
    head = re.split(r":| of | in | for |\(", label, maxsplit=1)[0].strip()
    general = re.sub(r"\s*#?\d+(\.\d+)?\s*", " ", head).strip()
    if general != head and general:
        return general if general.endswith("s") else f"{general}s"
    return general or label


MOST_STAGES = 9


def stages(releases: Iterable[Release]) -> list[Stage]:
    """Releases gathered by stage, in the order in which the stages began; the smallest share one line if many."""
    groups: dict[str, list[Release]] = {}
    for release in releases:
        groups.setdefault(stage_of(release.label), []).append(release)
    if len(groups) > MOST_STAGES:
        by_size = sorted(groups, key=lambda g: -sum(size(r.charge) for r in groups[g]))
        rest = [r for name in by_size[MOST_STAGES - 1 :] for r in groups.pop(name)]
        groups["everything else"] = rest
    sizes = {name: sum(size(r.charge) for r in found) for name, found in groups.items()}
    total = sum(sizes.values())
    return [
        Stage(
            name if len(found) > 1 else found[0].label,
            len(found),
            sizes[name] / total if 0 < total < math.inf else len(found) / sum(map(len, groups.values())),
            _distinct(words(r.charge) for r in found),
            _distinct(r.theorem for r in found),
            _distinct(r.label for r in found)[:3],
        )
        for name, found in groups.items()
    ]


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(i for i in items if i))


def shortened(charges: Mapping[str, Any] | tuple[str, ...], most: int = 2) -> str:
    """A few of several texts."""
    listed = list(charges)
    return "; ".join(listed[:most]) + (f"; and {len(listed) - most} more" if len(listed) > most else "")
