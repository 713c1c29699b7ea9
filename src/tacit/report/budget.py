"""Where the budget went: the entries of a certificate, gathered into stages for a bar chart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tacit.privacy import accountants
from tacit.privacy.charges import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Charge,
    Gaussian,
    Laplace,
    NonPrivate,
    PrivacyLoss,
    Pure,
    Renyi,
    Repeated,
    uses,
)
from tacit.privacy.label import Stage
from tacit.privacy.ledger import Entry
from tacit.privacy.lemmas import lemmas_of


def size(charge: Charge, gaussian: bool = False) -> float:
    """How much of a budget a charge takes, for the length of a bar: a rho of zCDP where the charge has one.

    Exact shares when all are paid from one Gaussian pool (which pays for choices, too, if ``gaussian``); a guide to the
    eye when kinds are mixed. Never used to account.
    """
    match charge:
        case Gaussian():
            return charge.precision / 2
        case Laplace() | Pure():
            return charge.epsilon**2 / 2
        case BoundedRange():
            return charge.precision / 2 if gaussian else charge.range**2 / 8
        case ZCDP():
            return charge.rho
        case Repeated():
            return charge.times * size(charge.charge, gaussian)
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
        case Renyi():
            return "choices, paid by their Rényi curve"
        case _:
            return charge.kind.replace("_", " ")


@dataclass(frozen=True)
class StageShare:
    """Releases of one sort: how many, which part of the whole they took, the charges in words, and what they are."""

    name: str
    releases: int
    share: float
    how: str
    text: str = ""


@dataclass(frozen=True)
class Releases:
    """Releases of one stage by one theorem: how many, with what noise."""

    name: str
    number: int
    how: str
    theorem: str


def by_theorem(entries: Iterable[Entry]) -> list[Releases]:
    """Releases gathered by stage and theorem, in the order in which these began."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((str(entry.stage), entry.theorem), []).append(entry)
    return [
        Releases(
            group[0].label if len(group) == 1 or stage == Stage.OTHER else TITLES.get(stage, stage),
            sum(times for _, times in _charges(group)), together([each.charge for each in group]), theorem,
        )
        for (stage, theorem), group in groups.items()
    ]  # fmt: skip


TITLES: dict[str, str] = {
    Stage.SWEEP: "effects, column by column",
    Stage.JOINT_SWEEP: "effects, all columns together",
    Stage.SCREENING: "search for interactions",
    Stage.PAIR_COUNTS: "counts for interactions",
    Stage.RESIDUALS: "size of the errors",
    Stage.ROUND: "rounds of boosting",
    Stage.KINDS: "kinds of columns",
    Stage.CONCEPT: "rules learned",
}
"""What readers are told a stage is, where its name in the ledger is the field's."""

PLAIN: dict[str, str] = {
    Stage.COUNTS: "How many rows there are, of all and of each class.",
    Stage.CLASSES: "Which classes the label has.",
    Stage.BOUNDS: "Between which bounds the values of a column lie.",
    Stage.KEYS: "Which categories a column has.",
    Stage.KINDS: "Whether a column of texts holds numbers.",
    Stage.BINNING: "How many rows have values in each part of a column's range, to cut it into bins.",
    Stage.SCALING: "Mean and spread of the columns.",
    Stage.INTERCEPT: "Where predictions start before any column counts.",
    Stage.SWEEP: "How each value of a column moves the prediction, improved round by round.",
    Stage.JOINT_SWEEP: "How each value of every column moves the prediction, improved round by round.",
    Stage.SCREENING: "Which pairs of columns say more together than each alone.",
    Stage.PAIR_COUNTS: "How many rows have each combination of values of two columns.",
    Stage.RESIDUALS: "How far predictions are off, which sets the scale of the next round.",
    Stage.SPLITS: "Which question each node of a tree asks.",
    Stage.TREE: "Trees over what is left to explain.",
    Stage.LEAVES: "How many rows of each class reach every leaf of a tree.",
    Stage.ROUND: "One weak rule a round, for the rows that earlier ones get wrong.",
    Stage.END_TEST: "Whether boosting may stop.",
    Stage.RULES: "Which rule comes next in the list.",
    Stage.CONCEPT: "Which concept of the class fits best.",
    Stage.CALIBRATION: "How often predictions of each size come true.",
    Stage.EVALUATION: "How well the model does.",
    Stage.SELECTION: "Which of several models does best.",
}
"""A stage in plain words, a line each."""

MOST_STAGES = 9


def stages(releases: Iterable[Entry], planned: Sequence[Charge] = (), delta: float = 0.0) -> list[StageShare]:
    """Releases gathered by stage, in the order in which the stages began; the smallest share one line if many.

    Releases of no stage stand for themselves. Where a charge is a Renyi
    curve, which has no one size, shares are those of the epsilons that stages cost by themselves at delta.
    """
    gaussian = any(isinstance(charge, Gaussian) for charge, _ in uses(planned))
    groups: dict[str, list[Entry]] = {}
    for release in releases:
        name = release.label if release.stage is Stage.OTHER else str(release.stage)
        groups.setdefault(name, []).append(release)
    if len(groups) > MOST_STAGES:
        by_size = sorted(groups, key=lambda g: -sum(size(r.charge, gaussian) for r in groups[g]))
        rest = [r for name in by_size[MOST_STAGES - 1 :] for r in groups.pop(name)]
        groups["everything else"] = rest
    counts = {name: sum(times for _, times in _charges(entries)) for name, entries in groups.items()}
    sizes = {name: sum(size(r.charge, gaussian) for r in entries) for name, entries in groups.items()}
    if delta > 0 and any(isinstance(charge, Renyi) for entries in groups.values() for charge, _ in _charges(entries)):
        sizes = {name: accountants.epsilon([r.charge for r in entries], delta) for name, entries in groups.items()}
    total = sum(sizes.values())
    return [
        StageShare(
            entries[0].label if counts[name] == 1 else TITLES.get(name, name),
            counts[name],
            sizes[name] / total if 0 < total < math.inf else counts[name] / sum(counts.values()),
            together([r.charge for r in entries]),
            PLAIN.get(name, ""),
        )
        for name, entries in groups.items()
    ]


def checked_share(releases: Sequence[Entry], planned: Sequence[Charge], delta: float) -> float:
    """The part of the charges, 0 to 1, whose sensitivity rests on lemmas that Coq has checked; 0 without privacy."""
    gaussian = any(isinstance(charge, Gaussian) for charge, _ in uses(planned))
    sizes = [size(release.charge, gaussian) for release in releases]
    if any(isinstance(charge, Renyi | PrivacyLoss) for charge, _ in uses([release.charge for release in releases])):
        sizes = [accountants.epsilon([release.charge], delta) for release in releases]  # a curve has no one size
    total = sum(sizes)
    if not 0 < total < math.inf:
        return 0.0
    return sum(s for s, release in zip(sizes, releases, strict=True) if lemmas_of(release.theorem)) / total


def _charges(entries: Sequence[Entry]) -> Iterable[tuple[Charge, int]]:
    return uses([release.charge for release in entries])


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(i for i in items if i))


def together(charges: Sequence[Charge]) -> str:
    """Several charges in words: kinds once each, with the range of their noise."""
    multipliers: dict[str, list[float]] = {}
    others: list[str] = []
    for charge, _ in uses(charges):
        if isinstance(charge, Gaussian | Laplace):
            multipliers.setdefault(f"{charge.kind.capitalize()} noise", []).append(charge.noise_multiplier)
        else:
            others.append(words(charge))
    parts = []
    for kind, counts in multipliers.items():
        low, high = f"{min(counts):.3g}", f"{max(counts):.3g}"
        parts.append(f"{kind}, {low if low == high else f'{low} to {high}'} × sensitivity")
    distinct = _distinct(others)
    more = [f"and {len(distinct) - MOST_WORDS} more"] if len(distinct) > MOST_WORDS else []
    return "; ".join([*parts, *distinct[:MOST_WORDS], *more])


MOST_WORDS = 2
"""Charges of other kinds that are spelled out."""
