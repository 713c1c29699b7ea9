"""Interactions of two columns: screened by noisy residual tables, then learned as terms of their own.

Limits: pairs are screened among the columns of largest effects, on a few smooth directions of each side; an interaction
of columns that say nothing alone, or of single bins, is missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tacit.additive.posterior import centred
from tacit.additive.sweeps import State
from tacit.additive.term import AVERAGING_LOSS, Prior, Term
from tacit.additive.tuning import EFFECTS, Pairing
from tacit.arrays import Floats, Ints, added
from tacit.binning.measure import Bins, Column
from tacit.binning.release_map import centred_map, principal_modes
from tacit.curator.budget import Budget
from tacit.curator.measurement import LEAST_SD
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import ProductCells
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.rules import fine_count_rule


@dataclass(frozen=True, eq=False)
class Side:
    """One column as a factor of pairs: few groups, their masses, the prior of its effect and that prior's modes."""

    column: int
    name: str
    mapping: Ints
    masses: Floats
    covariance: Floats
    ordered: bool

    @property
    def groups(self) -> int:
        return len(self.masses)


def pair_side(column: int, name: str, bins: Bins, numbers: Pairing) -> Side:
    """Merges a column's bins into at most ``groups`` groups: equal mass in order, or the largest categories."""
    counts = bins.counts
    if bins.ordered:
        shares = counts[:-1] / counts[:-1].sum()
        upto = np.cumsum(shares)
        group = np.minimum(((upto - shares / 2) * numbers.groups).astype(np.int64), numbers.groups - 1)
        group = np.unique(group, return_inverse=True)[1]
        merge = np.append(group, group.max())  # missing joins the last group
    elif len(counts) <= numbers.groups:
        merge = np.arange(len(counts))
    else:
        merge = np.full(len(counts), numbers.groups - 1)
        merge[np.argsort(-counts, kind="stable")[: numbers.groups - 1]] = np.arange(numbers.groups - 1)
    masses = np.bincount(merge, weights=counts) / counts.sum()
    size = len(masses)
    prior = np.eye(size)
    if bins.ordered:
        position = np.cumsum(masses) - masses / 2 - 0.5
        prior = 6.0 * np.outer(position, position) - np.abs(position[:, None] - position[None, :])
    return Side(column, name, merge.astype(np.int64), masses, centred(prior, masses), bins.ordered)


def _modes(side: Side, noise_variance: float, total: float, numbers: Pairing) -> Floats:
    if not side.ordered:
        return np.eye(side.groups)
    return principal_modes(
        side.masses, side.covariance, noise_variance / (numbers.mode_scale * total * EFFECTS.mode_curvature) ** 2
    )


def most_pairs(n_columns: int, numbers: Pairing) -> int:
    """How many pairs are learned at most in a table of so many columns."""
    return int(max(numbers.least_most_pairs, numbers.pairs_per_column * n_columns))


# A curve can be projected onto a declared direction; a pair, or a tree that cuts the column, could go against it.


def free_columns(columns: Sequence[Column], terms: Sequence[Term], signal: float, numbers: Pairing) -> list[int]:
    """The strongest columns that may be part of a pair, in their order: those without a declared direction.

    Args:
        columns: of the table.
        terms: in the same order.
        signal: ``q``; columns that say nothing alone may still say something together, and are looked at where noise
            is so little that more looks cost nothing.
        numbers: how many.
    """
    most = numbers.screened_columns if signal < numbers.screened_clearly_from else numbers.screened_clearly
    ranked = np.argsort([-term.variance for term in terms], kind="stable")
    return sorted([int(i) for i in ranked if not columns[i].monotone][:most])


def cut_masses(columns: Sequence[Column], bins: Sequence[Bins]) -> list[Floats]:
    """Per column, the masses by which random trees cut its bins; one bin, or a declared direction, is never cut."""
    return [
        column_bins.counts if not column.monotone else np.array([float(column_bins.counts.sum())])
        for column, column_bins in zip(columns, bins, strict=True)
    ]


def pair_name(left: Side, right: Side) -> str:
    """The name of a pair, for ledger and people."""
    return f"{left.name} x {right.name}"


def pair_cells(left: Side, right: Side) -> ProductCells:
    """The cells of a pair."""
    return ProductCells((left.column, right.column), (left.mapping, right.mapping), (left.groups, right.groups))


@dataclass(frozen=True, eq=False)
class Screen:
    """A side's release map for screening, rotated to the axes in which its prior is diagonal."""

    matrix: Floats
    rotation: Floats
    signal: Floats
    sampling: Floats

    @staticmethod
    def of(side: Side, noise_variance: float, total: float, numbers: Pairing) -> Screen:
        matrix = _modes(side, noise_variance, total, numbers)[: numbers.screen_modes if side.ordered else None]
        design = matrix * side.masses[None, :]
        values, rotation = np.linalg.eigh(design @ side.covariance @ design.T)
        sampling = np.einsum("ij,ij->i", rotation.T @ design, rotation.T @ matrix)
        return Screen(matrix, rotation, np.maximum(values, 0.0), sampling)


def log_evidence(
    left: Screen, right: Screen, release: Floats, sd: float, response: tuple[float, float], scales: Sequence[float]
) -> tuple[float, float]:
    """Log marginal likelihood of an interaction (best of a few sizes) above that of noise alone, and that size.

    The release has shape ``(left modes, right modes)``; ``response`` is the number of rows and the curvature;
    ``scales`` are the sizes of the interaction that are looked at.
    """
    total, slope = response
    modes = left.rotation.T @ release @ right.rotation
    noise = sd**2 + total * slope * np.outer(left.sampling, right.sampling)
    signal = np.outer(left.signal, right.signal) * (total * slope) ** 2
    evidence = []
    for scale in scales:
        variance = noise + scale**2 * signal
        above = (-0.5 * np.log(variance / noise) + 0.5 * modes**2 * (1 / noise - 1 / variance)).sum()
        evidence.append((float(above), scale))
    return max(evidence)


def screen_pairs(budget: Budget, sides: list[Side], most: int, state: State) -> tuple[list[tuple[Side, Side]], float]:
    """The pairs whose residuals hold more than noise, strongest first, at most ``most``; the variance of their scores.

    Every pair among ``sides`` is released once as a noisy table of residual sums, and the budget pays for all. Its
    evidence is the sum over the directions of the scores.
    """
    candidates, total, numbers = list(combinations(sides, 2)), state.start.total, state.tuning.pairing
    each = budget.split(len(candidates))
    nominal = each.sd(1.0, state.loss.bound) ** 2
    screens = {side.column: Screen.of(side, nominal, total, numbers) for side in sides}
    directions, asks, evidence, variances = state.directions(), [], [], []
    for left, right in candidates:
        modes = np.kron(screens[left.column].matrix, screens[right.column].matrix)
        released = ReleaseMap.from_floats(np.asarray(modes, np.float64))
        query = state.loss.query(pair_cells(left, right), state.loss.rule, released)
        asks.append((query, 1.0, Label(Stage.SCREENING, pair_name(left, right))))
    for (left, right), release in zip(candidates, each.measure_all(asks), strict=True):
        a, b, sd = screens[left.column], screens[right.column], max(release.sd, LEAST_SD)
        tables = (release.value @ directions.basis).reshape(len(a.matrix), len(b.matrix), -1)
        sizes = [
            log_evidence(a, b, tables[:, :, j], sd, (total, float(h)), numbers.screen_scales)
            for j, h in enumerate(directions.curvatures)
        ]
        evidence.append(added(above for above, _ in sizes))
        variances.append(added(scale**2 for _, scale in sizes))
    least = numbers.least_evidence * float(np.sqrt(len(directions.curvatures)))
    order = np.argsort(-np.array(evidence), kind="stable")[:most]
    strongest = [i for i in order if evidence[i] > least]
    return [candidates[i] for i in strongest], added(variances[i] for i in strongest)


def pair_priors(budget: Budget, pairs: list[tuple[Side, Side]], mode_variance: float, state: State) -> list[Prior]:
    """Counts of the chosen pairs, for the budget together, and what follows from them.

    Counts are smoothed towards independence.

    ``mode_variance`` is the noise variance of one release of a pair while it is learned. Release maps are centred where
    ``state`` bounds rows together.
    """
    total, numbers = state.start.total, state.tuning.pairing
    rule, asks = fine_count_rule(budget.layout.n_labels), []
    for left, right in pairs:
        cells = pair_cells(left, right)
        budget.curator.derive(cells)
        asks.append((Histogram(cells, rule), 1.0, Label(Stage.PAIR_COUNTS, pair_name(left, right))))
    priors = []
    for (left, right), (query, _, _), release in zip(
        pairs, asks, budget.split(len(pairs)).measure_all(asks), strict=True
    ):
        sd = max(release.sd, LEAST_SD)
        expected = np.outer(left.masses, right.masses).ravel() * total
        trust = expected**2 / (expected**2 + sd**2)
        counts = np.maximum(trust * release.value[:, 0] + (1 - trust) * expected, numbers.least_count * expected)
        counts *= total / counts.sum()
        covariances = [
            centred(
                np.kron(left.covariance + mains, right.covariance + mains) + alone * np.eye(len(counts)), counts / total
            )
            for mains, alone in numbers.priors
        ]
        kron = np.asarray(np.kron(*(_modes(side, mode_variance, total, numbers) for side in (left, right))), np.float64)
        release_map = centred_map(kron, counts / total) if state.jointly else kron
        guard = 0.5 * np.minimum(sd, expected)
        priors.append(Prior("pair", query.cells, counts, guard, covariances, release_map))
    return priors


def pair_terms(
    budget: Budget, learning: Budget, pairs: list[tuple[Side, Side]], n_mains: int, state: State
) -> list[Term]:
    """Terms for the chosen pairs; the budget pays for their counts, ``learning`` is what the sweeps will spend.

    Their release maps are centred where rows are to be bounded together.
    """
    loss = state.loss
    mode_variance = learning.split(max(n_mains, 1)).sd(1.0, loss.bound) ** 2
    noise_variance = learning.split(len(pairs) + n_mains).sd(1.0, loss.bound) ** 2 * AVERAGING_LOSS
    priors = pair_priors(budget, pairs, mode_variance, state)
    return [
        Term(pair_name(*pair), prior, noise_variance, loss.n_scores, loss.tuned, loss.growth)
        for pair, prior in zip(pairs, priors, strict=True)
    ]
