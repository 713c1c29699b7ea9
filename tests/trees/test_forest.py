"""Random forests: both mechanisms, both analyses."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from tacit.binning.measure import Column
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.models.tree import complete_shape, threshold_sets
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import BoundedRange, Gaussian, Laplace
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_class_count_rule
from tacit.queries.tree_cells import TreeCells
from tacit.trees.budget import SplitBudget
from tacit.trees.estimator import RandomTreesClassifier
from tacit.trees.forest import (
    Forest,
    ForestSettings,
    _votes,
    base_rate_of,
    class_weights,
    depth_rule,
    drawn_to,
    label_selection,
    learn_forest,
    scale_of_votes,
    votes_rule,
)
from tacit.trees.tuning import FORESTS

COLUMNS = [Column(0, "a", True), Column(1, "b", True), Column(2, "kind", False)]


def toy(n: int, seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 100, (2, n))
    kind = rng.integers(0, 3, n)
    y = a + 40 * (kind == 1) >= 60
    return [a.astype(np.uint8), b.astype(np.uint8), kind.astype(np.uint8)], y.astype(np.uint8)


def learn(
    mechanism: str,
    epsilon: float,
    delta: float = 0.0,
    depth: int | None = 4,
    parallel: bool = True,
    public: bool = True,
) -> tuple[Forest, float, Reservation]:
    codes, y = toy(5000, 1)
    allowance = Allowance.of(epsilon, delta)
    budget = SplitBudget.of_releases(allowance) if mechanism == "laplace" else SplitBudget.of(epsilon, delta)
    relation = Neighbouring.REPLACE_ONE if public else Neighbouring.ADD_OR_REMOVE_ONE
    reservation = Reservation([budget.whole], relation, "test")
    curator = Curator(
        MemoryTable([c.copy() for c in codes], y, [101, 101, 5], 2, threads=1), reservation, SeededSource(2)
    )
    forest = learn_forest(
        curator, budget, COLUMNS, ForestSettings(mechanism, 21, depth, 50, parallel), 5000 if public else None
    )
    codes, y = toy(3000, 2)
    bins = [b.mapping[c].astype(np.uint8) for b, c in zip(forest.bins, codes, strict=True)]
    score = sum(t.values[t.shape.find(bins)] for t in forest.trees)
    return forest, float(((score > 0) != y).mean()), reservation


@pytest.mark.parametrize("mechanism", ["laplace", "exponential"])
def test_sharp_forests_learn_and_charge_each_tree_once(mechanism: str) -> None:
    forest, error, reservation = learn(mechanism, 4.0)
    assert error < 0.25
    assert len(forest.trees) == 21
    assert len({tree.shape.columns.tobytes() for tree in forest.trees}) > 10  # each has a structure of its own
    entries = reservation.entries
    if mechanism == "exponential":  # the base rate that empty leaves are drawn to
        assert (entries[0].label, entries[0].charge) == ("rows of each class", Laplace(1 / (0.1 * 4)))
        assert [e.charge.range for e in entries[1:-1]] == pytest.approx([0.85 * 4 / 21] * 21)
        assert (entries[-1].label, entries[-1].charge) == ("rows of each class by votes", Laplace(1 / (0.05 * 4)))
    else:
        assert [e.charge for e in entries] == [Laplace(21 / 4)] * 21


def test_votes_and_scores_of_leaves_by_hand() -> None:
    """RF-L votes by the released proportion, RF-E by the label drawn; a row moves one count of a leaf by its unit."""
    shape = complete_shape([0], threshold_sets([1]))
    released = [(np.array([[30.0, 10.0], [8.0, 12.0]]), 2.0), (np.array([[20.0, 20.0], [-1.0, 18.0]]), 2.0)]
    base = base_rate_of(released)
    votes = _votes([shape, shape], released, ForestSettings("laplace", 2, 1, 4, True))
    assert [tree.values for tree in votes] == [pytest.approx(drawn_to(base, *one) - 0.5) for one in released]
    signs = _votes([shape, shape], released, ForestSettings("exponential", 2, 1, 4, True))
    assert [tree.values.tolist() for tree in signs] == [[-0.5, 0.5], [0.0, 0.5]]
    counts = Histogram(TreeCells(shape), fine_class_count_rule(2))
    choice = label_selection(counts, slice(1, 2))
    assert (choice.movement, choice.shape) == (counts.unit, (1, 2))
    assert choice.score(iter([np.array([[5, 6], [1, 2]])])).tolist() == [[1, 2]]
    rare = label_selection(counts, slice(None), class_weights(0.2))  # a negative counts a quarter of a positive
    assert (rare.movement, rare.shape) == (256 * counts.unit, (2, 2))
    assert rare.score(iter([np.array([[9, 2], [8, 2]])])).tolist() == [[576, 512], [512, 512]]


def test_the_paper_divides_the_budget_among_leaves() -> None:
    """With the same request it has 16 times the noise, and is worse for it."""
    _, sharp, _ = learn("laplace", 2.0)
    forest, apart, reservation = learn("laplace", 2.0, parallel=False)
    assert {e.charge for e in reservation.entries} == {Laplace(21 * 16 / 2)}
    assert apart > sharp
    votes = np.concatenate([t.values for t in forest.trees]) * 21
    assert set(np.unique(votes)) <= {-1.0, 0.0, 1.0}
    _, _, reservation = learn("exponential", 2.0, parallel=False)
    assert len(reservation.entries) == 21 * 16
    assert {e.charge for e in reservation.entries} == {BoundedRange(2 / 21 / 16)}


def test_a_fit_spends_all_its_precision() -> None:
    """With the bounds that nobody declared; by way of zCDP an eighth of it was left over."""
    frame = pd.DataFrame({"a": np.linspace(0, 1, 300)})
    model = RandomTreesClassifier(n_trees=3, random_state=0).fit(frame, (frame["a"] > 0.5).to_numpy())
    entries = model.certificate_.entries
    assert {type(entry.charge) for entry in entries} == {Gaussian}
    whole = math.fsum(entry.charge.precision for entry in entries)
    assert whole == pytest.approx(Allowance.of(1.0, 1e-6).mu ** 2)


def test_depth_rule() -> None:
    little_noise, much_noise = SplitBudget.of(10.0, 0.0), SplitBudget.of(0.01, 0.0)
    assert depth_rule(10_000, little_noise, 1 / 21) > depth_rule(10_000, much_noise, 1 / 21) == 1
    assert depth_rule(1e9, SplitBudget.of(math.inf, 0.0), 1.0) == 10
    assert depth_rule(-50.0, much_noise, 1.0) == 1
    # Deviations of the noise: sqrt(2) / (.5 / 5) = 14.1, 1 / sqrt(2 * .02 * .2) = 11.2, and never below 1.
    for pool, share, noise in (
        (SplitBudget(0.5, True), 0.2, math.sqrt(2.0) / 0.1),
        (SplitBudget(0.02, False), 0.2, 1 / math.sqrt(0.008)),
        (SplitBudget(9.0, False), 0.5, 1.0),
    ):
        edge = FORESTS.rows_per_noise * noise * 32
        assert [depth_rule(edge * part, pool, share) for part in (0.999, 1.001)] == [4, 5]


def test_the_face() -> None:
    codes, y = toy(4000, 3)
    frame = pd.DataFrame({"a": codes[0].astype(float), "kind": codes[2].astype(str)})
    schema = {
        "columns": {
            "a": {"kind": "numeric", "lower": 0, "upper": 100},
            "kind": {"kind": "categorical", "categories": ["0", "1", "2"]},
        }
    }
    model = RandomTreesClassifier(epsilon=4.0, schema=schema, random_state=0, classes=(0, 1)).fit(frame, y)
    assert (model.predict(frame) == y).mean() > 0.8
    proba = model.predict_proba(frame)
    assert proba.min() >= 0
    assert proba.sum(axis=1) == pytest.approx(1.0)
    assert model.certificate_.epsilon == 4.0
    paper = {"analysis": "paper", "delta": 0.0, "neighbouring": "replace_one", "max_depth": 3}
    assert (
        RandomTreesClassifier(epsilon=50.0, schema=schema, random_state=0, **paper, classes=(0, 1))
        .fit(frame, y)
        .model_.trees
    )
    for arguments, message in (
        ({"mechanism": "gauss"}, "mechanism"),
        ({"n_trees": None}, "n_trees"),
        ({"analysis": "paper"}, "public number of rows"),
        ({"mechanism": "exponential", "epsilon": 1e-9}, "more splits than the budget"),
        ({"noise": "gaussian", "delta": 0.0}, "no finite epsilon"),
    ):
        with pytest.raises(ValueError, match=message):
            RandomTreesClassifier(schema=schema, **arguments, classes=(0, 1)).fit(frame, y)


def test_rows_are_counted_by_class_and_mean_label() -> None:
    """A row is one in one channel: negatives by the eighth of [-1, 1] that their votes are in, then positives."""
    rule = votes_rule()
    assert rule.longest == (1, 1)
    assert rule.table.sum() == 2 * 2048
    for vote, place in ((-1.0, 0), (-0.76, 0), (-0.74, 1), (-0.01, 3), (0.01, 4), (0.74, 6), (0.99, 7)):
        level = 1024 + math.floor(vote * 128)
        assert [int(np.argmax(rule.table[label, level])) for label in (0, 1)] == [place, 8 + place]


def test_the_scale_of_votes_is_fitted_and_noise_leaves_it_as_usual() -> None:
    votes = (np.arange(8) + 0.5) / 4 - 1
    for scale, start in ((0.25, -2.0), (1.5, 0.0), (6.0, -3.0)):
        chances = 1.0 / (1.0 + np.exp(-start - scale * votes))
        counts = 10_000 * np.stack([1.0 - chances, chances])
        assert scale_of_votes(counts, 0.0, start, 2.0) == scale
        assert scale_of_votes(counts, 1e6, start, 2.0) == 2.0
        assert abs(scale_of_votes(counts, 600.0, start, 2.0) - 2.0) < abs(scale - 2.0)


def test_rows_of_one_interval_of_votes_are_told_the_base_rate() -> None:
    """Beyond it 3 deviations of 14 numbers are within the noise, and must be less than an eighth of its rows."""
    counts = np.zeros((2, 8))
    counts[:, 1] = 900.0, 100.0
    within = 3.0 * math.sqrt(14) * 10.0  # 112, of which an eighth of a thousand is 125
    counts[0, 5] = within - 1
    assert scale_of_votes(counts, 10.0, -2.0, 2.0) == 0.0
    counts[0, 5] = within + 1
    assert scale_of_votes(counts, 10.0, -2.0, 2.0) > 0.0
    counts[0, 5] = 0.0
    assert scale_of_votes(counts, 11.0, -2.0, 2.0) == 0.0
    assert scale_of_votes(counts, 11.2, -2.0, 2.0) > 0.0


def rare_forest(epsilon: float, rate: float, shuffled: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and labels of new rows; positives are the corner of a square, or anywhere."""
    generator = np.random.default_rng(3)
    X = generator.uniform(size=(16_000, 3))
    y = (X[:, 0] + X[:, 1] > np.quantile(X[:, 0] + X[:, 1], 1.0 - rate)).astype(int)
    learned = generator.permutation(y[:8000]) if shuffled else y[:8000]
    schema = {"columns": {f"x{k}": {"kind": "numeric", "lower": 0, "upper": 1} for k in range(3)}}
    model = RandomTreesClassifier(epsilon, mechanism="exponential", schema=schema, classes=(0, 1), random_state=0)
    return model.fit(X[:8000], learned).predict_proba(X[8000:])[:, 1], y[8000:]


@pytest.mark.parametrize(
    "rate", [0.07, *(pytest.param(rate, marks=pytest.mark.slow) for rate in (0.03, 0.2, 0.35, 0.93))]
)
def test_chosen_labels_rank_where_one_class_is_rare(rate: float) -> None:
    """With the more frequent class as label, and empty leaves at the base rate, all leaves said the same at .07."""
    chances, y = rare_forest(1.0, rate)
    assert roc_auc_score(y, chances) > 0.9
    assert chances.mean() == pytest.approx(y.mean(), abs=0.15)
    assert len(np.unique(chances)) > 10


def test_shuffled_labels_leave_chosen_labels_near_the_base_rate() -> None:
    chances, _ = rare_forest(1.0, 0.07, shuffled=True)
    assert np.abs(chances - 0.07).mean() < 0.04
