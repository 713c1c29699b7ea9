"""M-alpha-boost without noise against what the paper writes, done again in plain numpy."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tacit.binning.measure import Column
from tacit.curator.curator import Curator
from tacit.curator.measurement import Measurement
from tacit.engines.blocks import MemoryTable
from tacit.models.tree_ensemble import TreeSpending
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.charges import BoundedRange, Laplace
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.margins import Margins
from tacit.trees.budget import SplitBudget
from tacit.trees.induction import SCORE_UNIT
from tacit.trees.losses import Loss, MAlphaLoss, SquareLoss
from tacit.trees.m_alpha_boost import CALIBRATED, BoostedTrees, BoostSettings, MAlphaBoost, PaperBoost, believed_shares

pytestmark = pytest.mark.one_draw(reason="where two splits tie, the last bits decide, and plain numpy has others")

COLUMNS = [Column(place, name, True) for place, name in enumerate("abc")]
CODES = 8
DEPTH, TREES = 3, 5


def rows(n: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Codes and labels: few positives, so that the 0/1 loss and Matsushita's want other splits."""
    generator = np.random.default_rng(5)
    codes = generator.integers(0, CODES, (3, n))
    chance = 0.08 + 0.25 * (codes[0] >= 5) + 0.3 * (codes[1] >= 6) + 0.25 * (codes[2] == 7) * (codes[0] < 3)
    return codes, (generator.random(n) < chance).astype(np.int64)


def risk(alpha: float, positives: float, negatives: float) -> float:
    """Definition 6: the M-alpha loss of a node's proportion, times its weight."""
    both = math.sqrt(positives * negatives)
    return 2.0 * (alpha * both + (1.0 - alpha) * min(positives, negatives))


def weight(alpha: float, margin: np.ndarray) -> np.ndarray:
    """Theorem 8: the inverse link at minus the margin."""
    beyond = np.maximum(np.abs(margin) / 2 - (1 - alpha), 0.0)
    return 0.5 * (1.0 - np.sign(margin) * beyond / np.hypot(alpha, beyond))


def plain(
    codes: np.ndarray, labels: np.ndarray, alpha: float | None, bound: float | None = None
) -> tuple[np.ndarray, list[float], list[float]]:
    """Algorithm 1: scores of the rows, the alpha of every level, the coefficients; ``alpha`` None calibrates it.

    With a bound what leaves say is clipped to it, the step is the printed one, and alphas are calibrated by the same
    tree; without it by the one before.
    """
    linked = 1.0 if alpha is None else alpha
    score, alphas, coefficients = np.zeros(len(labels)), [], []
    before, ratios = [1.0] * DEPTH, [1.0] * DEPTH  # errors of levels over that of the root, of the last tree
    for _ in range(TREES):
        weights = weight(linked, np.where(labels == 1, 1, -1) * score)

        def of(rows: np.ndarray, weights: np.ndarray = weights) -> tuple[float, float]:
            return float(weights[rows & (labels == 1)].sum()), float(weights[rows & (labels == 0)].sum())

        leaf, root, before = np.zeros(len(labels), np.int64), 0.0, ratios.copy()
        for level in range(DEPTH):
            error = sum(min(of(leaf == node)) for node in range(2**level)) / weights.sum()
            root = root or error
            ratios[level] = error / root
            alphas.append((before if bound is None else ratios)[level] if alpha is None else alpha)
            deeper = 2 * leaf
            for node in range(2**level):
                cuts = [(column, cut) for column in range(len(codes)) for cut in range(CODES)]
                sides = [[(leaf == node) & ((codes[c] > cut) == side) for side in (True, False)] for c, cut in cuts]
                best = int(np.argmin([sum(risk(alphas[-1], *of(side)) for side in both) for both in sides]))
                deeper += sides[best][0]
            leaf = deeper
        shares = np.array([p / (p + n) for p, n in (of(leaf == k) for k in range(2**DEPTH))])
        said = linked * (2 * shares - 1) / np.sqrt(shares * (1 - shares)) + 2 * (1 - linked) * np.sign(shares - 0.5)
        said = said if bound is None else np.clip(said, -bound, bound)
        edge = float((weights * np.where(labels == 1, 1, -1) * said[leaf]).mean())
        step = 4.0 * linked / np.abs(said).max() ** 2 if bound is None else linked / bound**2
        coefficients.append(step * edge)
        score = score + coefficients[-1] * said[leaf]
    return score, alphas, coefficients


class Watching(MAlphaBoost):
    """Keeps the alphas that split scores had."""

    alphas: list[float]

    def split_loss(self, *given: Any) -> Loss:
        loss = super().split_loss(*given)
        self.alphas.append(loss.alpha)  # type: ignore[attr-defined]
        return loss


class WatchedPaper(Watching, PaperBoost):
    """The same by the paper's schedule."""


def boosted(alpha: float | str, bound: float | None = None) -> tuple[BoostedTrees, np.ndarray, list[float]]:
    """What the library makes of the same rows, its scores of them, and the alphas of its levels."""
    codes, labels = rows()
    budget = SplitBudget.of(math.inf, 0.0)
    reservation = Reservation([budget.whole], Neighbouring.REPLACE_ONE, "test")
    table = MemoryTable([c.astype(np.uint8) for c in codes], labels.astype(np.uint8), [CODES + 1] * 3, 2, threads=1)
    settings = BoostSettings(alpha, None, TREES, DEPTH, 0.5, bound or 100.0, CODES)
    kind, curator = (WatchedPaper if bound else Watching), Curator(table, reservation, SeededSource(1))
    boost = kind(curator, budget, COLUMNS, [False] * 3, settings, len(labels))
    boost.alphas = []
    learned = boost.run()
    bins = [b.mapping[c].astype(np.uint8) for b, c in zip(learned.bins, codes, strict=True)]
    return learned, sum(tree.values[tree.shape.find(bins)] for tree in learned.trees), boost.alphas  # type: ignore[return-value]


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0, CALIBRATED])
def test_without_noise_scores_are_those_of_the_algorithm(alpha: float | str) -> None:
    """Splits by weights and alpha, leaves by the link, coefficients by the edge; all of it to the fixed point."""
    learned, scores, alphas = boosted(alpha)
    expected, wanted, coefficients = plain(*rows(), None if alpha == CALIBRATED else float(alpha))
    assert alphas == pytest.approx(wanted, rel=0.01)
    assert list(learned.coefficients) == pytest.approx(coefficients, rel=0.01)
    assert np.abs(scores - expected).max() < 0.01 * np.abs(expected).max()


@pytest.mark.parametrize("alpha", [0.5, CALIBRATED])
def test_without_noise_the_paper_s_schedule_is_the_algorithm(alpha: float | str) -> None:
    """Leaves clipped to a bound that some of them exceed, and the printed step; and how far scores are said to move."""
    learned, scores, alphas = boosted(alpha, 1.5)
    expected, wanted, coefficients = plain(*rows(), None if alpha == CALIBRATED else float(alpha), 1.5)
    assert alphas == pytest.approx(wanted, rel=0.01)
    assert list(learned.coefficients) == pytest.approx(coefficients, rel=0.01)
    assert np.abs(scores - expected).max() < 0.01 * np.abs(expected).max()


def test_split_scores_of_the_paper_move_as_far_as_printed() -> None:
    """Corollary 7 and Theorem 3 at 100 rows, in units of a score; a node's charge halves from level to level."""
    told: dict[str, Any] = {}

    def nodes(rule: Any, margins: Any, charge: Any, loss: Any, tree: int, movement: Any) -> None:
        told.update(charge=charge, movement=movement)

    settings = BoostSettings(0.5, None, 1, 4, 0.5, 1.0, CODES)
    asked: Any = SimpleNamespace(
        settings=settings, margins=Margins(), budget=SimpleNamespace(selection=lambda share: share),
        choice_share=0.2, induction=SimpleNamespace(cap=100, nodes=nodes),
    )  # fmt: skip
    PaperBoost.grow(asked, 1)
    assert [told["charge"](depth) for depth in range(3)] == [0.2, 0.1, 0.05]
    assert told["movement"](MAlphaLoss(0.5)) == math.ceil((3 + 2 * 0.5 * 9) * SCORE_UNIT)
    assert told["movement"](SquareLoss()) == math.ceil((1 + 4 * 100 / 101) * SCORE_UNIT)
    assert told["movement"](MAlphaLoss(0.0)) == 3 * SCORE_UNIT


def test_the_rows_tell_alphas_apart() -> None:
    """What makes the test above one of the split scores and of the weights: other alphas want other trees."""
    scores = {alpha: plain(*rows(), alpha)[0] for alpha in (0.1, 0.5, 1.0, None)}
    for one, other in ((0.1, 1.0), (0.5, 1.0), (None, 1.0)):
        assert len({*zip(scores[one].round(6), scores[other].round(6), strict=True)}) > 2**DEPTH


def test_calibrated_alphas_fall_with_the_error_of_the_level() -> None:
    """Section 6: alpha is the error so far over that of the root: 1 there, and less from level to level."""
    for bound, first in ((None, 1), (1.5, 0)):  # of the tree before: the first one has 1
        levels = np.array(boosted(CALIBRATED, bound)[2]).reshape(TREES, DEPTH)
        assert (levels[:, 0] == 1.0).all()
        assert (levels[:first] == 1.0).all()
        assert (np.diff(levels, axis=1) <= 1e-9).all()
        assert levels[first, -1] < 0.99


def test_alpha_never_rises_within_a_tree_whatever_noise_makes_of_the_errors() -> None:
    """Errors .4, .3, .35, .5, .1, over the first one and each at most the one before; the next tree begins at 1."""
    errors = iter([0.4, 0.3, 0.35, 0.5, 0.1, 0.2, 0.3])
    settings = BoostSettings(CALIBRATED, None, 2, 5, 0.5, 1.0, CODES)
    boost: Any = SimpleNamespace(settings=settings, released_error=lambda cells, label: next(errors))
    first: list[float] = []
    alphas = [MAlphaBoost.split_loss(boost, level, boost, 1, first).alpha for level in range(5)]  # type: ignore[attr-defined]
    assert alphas == pytest.approx([1.0, 0.75, 0.75, 0.75, 0.25])
    second: list[float] = []
    again = [MAlphaBoost.split_loss(boost, level, boost, 2, second).alpha for level in range(2)]  # type: ignore[attr-defined]
    assert again == pytest.approx([1.0, 1.0])


def test_every_step_of_a_noisy_calibrated_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cap, shares, alphas, values of leaves, coefficients, margins: all of them from the releases, done again."""
    releases, measure = [], Curator.measure

    def recording(self: Curator, *asked: Any) -> Measurement:
        releases.append(measure(self, *asked))
        return releases[-1]

    monkeypatch.setattr(Curator, "measure", recording)
    codes, labels = rows()
    labels = np.where(codes[0] >= 5, 1, labels)  # the first split changes a majority
    budget, trees, depth = SplitBudget.of(20.0, 0.0), 3, 3
    reservation = Reservation([budget.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    table = MemoryTable([c.astype(np.uint8) for c in codes], labels.astype(np.uint8), [CODES + 1] * 3, 2, threads=1)
    settings = BoostSettings(CALIBRATED, None, trees, depth, 0.3, 10.0, CODES)
    boost = Watching(Curator(table, reservation, SeededSource(2)), budget, COLUMNS, [False] * 3, settings)
    boost.alphas = []
    learned, (count, *leaves) = boost.run(), releases
    whole = float(count.value.item())
    assert boost.induction.cap == math.ceil(whole + 6 * count.sd) > whole + 15
    each_split, each_leaves = 0.3 * 0.98 / trees / depth, 0.7 * 0.98 / trees
    assert learned.spending == TreeSpending(pytest.approx((each_split,) * depth), pytest.approx(each_leaves))
    charges = [entry.charge for entry in reservation.entries[1:]]
    assert [charge.range for charge in charges if isinstance(charge, BoundedRange)] == pytest.approx(
        [20 * each_split] * trees * depth
    )
    assert [c.epsilon for c in charges if isinstance(c, Laplace)] == pytest.approx([20 * each_leaves] * trees)
    alphas, reach = [1.0] * depth, 0.0
    for tree, release, coefficient in zip(learned.trees, leaves, learned.coefficients, strict=True):
        assert boost.alphas[:depth] == pytest.approx(alphas)
        least = min(boost.alphas.pop(0) for _ in range(depth))
        largest = 0.5 * (1 + reach / 2 / math.hypot(1, reach / 2))
        shares, total = believed_shares(release.value, release.sd)
        values = np.clip((2 * shares - 1) / np.sqrt(shares * (1 - shares)), -10, 10)
        edge = largest * float((release.value[:, 1] - release.value[:, 0]) @ values) / whole
        assert coefficient == pytest.approx(4 * edge / np.abs(values).max() ** 2, rel=5e-3)
        assert tree.values == pytest.approx(coefficient * values, abs=1e-3)
        assert tree.support == pytest.approx(largest * total, rel=5e-3)
        reach += float(np.abs(tree.values).max())
        nodes = [np.maximum(release.value, 0).reshape(2**level, -1, 2).sum(axis=1) for level in range(depth)]
        errors = [node.min(axis=1).sum() for node in nodes]
        alphas = [min(error / errors[0], 1.0) for error in errors]
    assert least < 0.99
    assert leaves[0].sd > 0.3
