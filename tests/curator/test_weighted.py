"""The gate in front of weighted rows with scores: noise of the scale that is charged, and a theorem that says so."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.additive.ordered_loss import ordered_rule
from tacit.curator.curator import Curator
from tacit.curator.rows import WeightedCurator
from tacit.engines.blocks import MemoryTable
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.charges import Gaussian, Laplace, NonPrivate
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import OneCell, column_cells
from tacit.queries.histogram import ResidualLevels, ScoreHistogram
from tacit.queries.margins import Scores
from tacit.queries.rules import level_weights
from tacit.queries.score_rules import ResidualRule, SoftmaxRule, TargetScale
from tests.chance import GAUSSIAN_DRAWS, LAPLACE_DRAWS, check_scale

SCALE = TargetScale(1 << 23, 1 << 18)
LEVELS = level_weights()
DRAWS = 8000


def gate(charges, classes: int = 3, relation=Neighbouring.ADD_OR_REMOVE_ONE, seed: int = 0) -> WeightedCurator:
    """A few rows of every class, with weights of their own."""
    generator = np.random.default_rng(0)
    labels = generator.integers(0, classes * len(LEVELS), 40).astype(np.uint16)
    columns, targets = [np.arange(40, dtype=np.uint16) % 8], generator.integers(0, 1 << 24, 40).astype(np.int32)
    table = MemoryTable(columns, labels, [8], classes * len(LEVELS), targets=targets)
    weights = tuple(np.linspace(0.2, 1.0, classes))
    return WeightedCurator(table, Reservation(charges, relation, "test"), SeededSource(seed), 1, weights, LEVELS)


QUERIES = {
    "softmax": lambda: ScoreHistogram(column_cells(0, 8), SoftmaxRule(3), Scores(3)),
    "ordered": lambda: ScoreHistogram(column_cells(0, 8), ordered_rule(np.array([-1.0, 1.0])), Scores(1)),
    "residuals": lambda: ScoreHistogram(column_cells(0, 8), ResidualRule(SCALE, 0, -(1 << 16), 1 << 16), Scores(1)),
    "weighted residuals": lambda: ScoreHistogram(
        column_cells(0, 8), ResidualRule(SCALE, 0, -(1 << 16), 1 << 16, weighted_first=True), Scores(1)
    ),
    "levels": lambda: ResidualLevels(SCALE, np.arange(-3, 4) * 20_000, Scores(1)),
    "weighted levels": lambda: ResidualLevels(SCALE, np.arange(-3, 4) * 20_000, Scores(1), weighted_first=True),
}


@pytest.mark.parametrize("name", sorted(QUERIES))
@pytest.mark.parametrize("charge", [Gaussian(1.5), Laplace(1.5)])
def test_the_scale_of_noise_is_the_declared_one(name, charge):
    query, laplace = QUERIES[name](), isinstance(charge, Laplace)
    times = -(-(LAPLACE_DRAWS if laplace else GAUSSIAN_DRAWS) // int(np.prod(query.shape)))
    curator = gate([NonPrivate(), *[charge] * times])
    exact = curator.measure(query, NonPrivate(), "exact").value
    released = [curator.measure(query, charge, f"draw {i}") for i in range(times)]
    errors = np.concatenate([(one.value - exact).ravel() for one in released])
    sensitivity = query.sensitivity(Neighbouring.ADD_OR_REMOVE_ONE)
    reach = sensitivity.l2 if isinstance(charge, Gaussian) else sensitivity.l1 * np.sqrt(2)
    wanted = charge.noise_multiplier * reach / query.unit
    check_scale(errors, wanted / (np.sqrt(2) if laplace else 1), laplace)
    assert released[0].sd == pytest.approx(wanted, rel=0.01)


@pytest.mark.parametrize("relation", list(Neighbouring))
def test_weights_change_neither_noise_nor_charge(relation):
    """What is released of weighted rows has the noise of unweighted ones, and an entry that names the theorem."""
    for name, make in QUERIES.items():
        query, charge = make(), Gaussian(2.0)
        curator = gate([charge], relation=relation)
        weighted = curator.measure(query, charge, name)
        reservation = Reservation([charge], relation, "test")
        table = MemoryTable([np.zeros(1, np.uint16)], np.zeros(1, np.uint8), [8], 3, targets=np.zeros(1, np.int32))
        plain = Curator(table, reservation, SeededSource(0), 1).measure(query, charge, name)
        assert weighted.sd == pytest.approx(plain.sd, rel=1e-3)
        assert weighted.charge == plain.charge
        if "levels" not in name:
            assert "weights of at most 1" in weighted.theorem


def test_classes_are_all_a_learner_sees():
    curator = gate([NonPrivate()])
    assert curator.layout.n_labels == 3
    query = ScoreHistogram(OneCell(), SoftmaxRule(3), Scores(3))
    value = curator.measure(query, NonPrivate(), "sum").value[0]
    assert abs(value.sum()) < 1.0  # contributions of a softmax add up to nothing over classes, weighted or not
    assert np.abs(value).max() < 40
