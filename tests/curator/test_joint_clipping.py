"""The gate to rows that are bounded together: all is charged first, noise has the declared scale, codes stay."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from tacit.curator.curator import Curator
from tacit.curator.rows import WeightedCurator
from tacit.engines.blocks import MemoryTable
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.charges import Gaussian, Laplace
from tacit.privacy.label import Stage
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import Cells, ProductCells, column_cells
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.joint_bound import JointBound, JointHistogram, JointPart
from tacit.queries.margins import Margins
from tacit.queries.rules import level_weights, signed_margin_rule, weighted_rule
from tests.chance import check_scale, within_share
from tests.curator.spy import Spy

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE
WIDTH, UNIT = 200, 1 << 10
RULE = signed_margin_rule(lambda margin: np.minimum(1.0, np.exp(-margin)))
WEIGHTED = weighted_rule(RULE, (1.0, 1.0), level_weights())


def rows(kind=Spy):
    generator = np.random.default_rng(0)
    columns = [generator.integers(0, WIDTH, 900).astype(np.uint8) for _ in range(2)]
    return kind(columns, generator.integers(0, 2, 900).astype(np.uint8), [WIDTH, WIDTH], 2)


def bound(z=(2.0, 3.0), limit=UNIT**2 // 2) -> JointBound:
    matrix = ReleaseMap.from_floats(np.eye(WIDTH), UNIT)
    parts = [JointPart(f"c{j}", column_cells(j, WIDTH), matrix, Gaussian(z[j])) for j in range(2)]
    return JointBound(tuple(parts), limit)


def gate(charges, relation=ADD, seed=0, table=None, **more):
    reservation = Reservation(charges, relation, "test")
    return Curator(table or rows(), reservation, SeededSource(seed), **more), reservation


@pytest.mark.parametrize(("relation", "factor"), [(ADD, 1), (REPLACE, 2)])
@pytest.mark.parametrize("per_unit", [1, 3])
def test_noise_is_measured_by_the_limit_and_not_by_the_longest_image(relation, factor, per_unit):
    joint, rounds = bound(), 47
    charges = [part.charge for part in joint.parts] * rounds
    table = rows()
    curator, _ = gate(charges, relation, table=table, rows_per_unit=per_unit)
    opened, margins = curator.open_jointly(joint, rounds), Margins()
    released = [opened.measure(0, RULE, margins) for _ in range(rounds)]
    part = joint.parts[0]
    query = Histogram(part.cells, WEIGHTED, margins, part.release_map)
    exact = table.answer(JointHistogram(query, joint)) / query.unit
    errors = np.concatenate([(one.value - exact).ravel() for one in released])
    wanted = 2.0 * np.sqrt(0.5) * factor * per_unit
    assert released[0].sd == pytest.approx(wanted, rel=0.01)
    check_scale(errors, wanted)


@pytest.mark.parametrize(("relation", "factor"), [(ADD, 1), (REPLACE, 2)])
@pytest.mark.parametrize("per_unit", [1, 3])
def test_laplace_noise_follows_the_limit_on_l1_lengths(relation, factor, per_unit):
    """A Laplace variable is beyond three times its scale in a share exp(-3), a Gaussian one less often."""
    identity, rounds = ReleaseMap.from_floats(np.eye(WIDTH), UNIT), 94
    parts = tuple(JointPart(f"c{j}", column_cells(j, WIDTH), identity, Laplace(2.0 + j)) for j in range(2))
    joint, table = JointBound(parts, UNIT // 2), rows()
    curator, _ = gate([part.charge for part in parts] * rounds, relation, table=table, rows_per_unit=per_unit)
    opened, margins = curator.open_jointly(joint, rounds), Margins()
    released = [opened.measure(0, RULE, margins) for _ in range(rounds)]
    query = Histogram(parts[0].cells, WEIGHTED, margins, parts[0].release_map)
    exact = table.answer(JointHistogram(query, joint)) / query.unit
    errors = np.abs(np.concatenate([(one.value - exact).ravel() for one in released]))
    wanted = 2.0 * 0.5 * factor * per_unit
    assert released[0].sd == pytest.approx(np.sqrt(2.0) * wanted, rel=0.01)
    check_scale(errors, wanted, laplace=True)
    assert within_share(int((errors > 3 * wanted).sum()), len(errors), float(np.exp(-3.0)))


def test_a_question_that_comes_back_is_asked_anew_where_rule_log_or_bound_are_others():
    """What is kept of a part between sweeps must not give one rule the noise, or the answer, of another."""
    joint, half = bound(), signed_margin_rule(lambda margin: np.minimum(0.5, np.exp(-margin)))
    near = JointBound(joint.parts, joint.limit // 4)
    curator, _ = gate([part.charge for part in joint.parts] * 10)
    opened, nearer, margins = curator.open_jointly(joint, 5), curator.open_jointly(near, 5), Margins()
    far = Margins()
    far.add(joint.parts[0].cells, np.full(WIDTH, 5.0))
    sd = opened.measure(0, RULE, margins).sd
    assert opened.measure(0, half, margins).sd == pytest.approx(0.5 * sd, rel=1e-3)
    assert opened.measure(0, RULE, margins).sd == sd
    assert nearer.measure(0, RULE, margins).sd == pytest.approx(0.5 * sd, rel=1e-3)
    before, after = (opened.measure(0, RULE, log).value.sum() for log in (margins, far))
    assert after < before - 150.0  # positives weigh next to nothing there; noise in a sum is about 20


def test_everything_is_recorded_before_anything_is_read():
    joint = bound()
    table = rows()
    curator, reservation = gate([part.charge for part in joint.parts] * 3, table=table)
    opened = curator.open_jointly(joint, 3)
    assert [entry.label for entry in reservation.entries] == [
        f"c{j}, sweep {t + 1}" for t in range(3) for j in range(2)
    ]
    assert [(entry.stage, entry.subject, entry.round) for entry in reservation.entries] == [
        (Stage.JOINT_SWEEP, f"c{j}", t + 1) for t in range(3) for j in range(2)
    ]
    assert all("rows bounded together" in entry.theorem for entry in reservation.entries)
    opened.measure(1, RULE, Margins())
    assert len(reservation.entries) == 6


def test_nothing_is_read_where_the_budget_does_not_cover_all_of_it():
    joint, table = bound(), rows()
    curator, _ = gate([part.charge for part in joint.parts] * 2, table=table)
    with pytest.raises(BudgetExceeded):
        curator.open_jointly(joint, 3)
    assert table.reads == 0


def test_a_part_is_not_released_more_often_than_was_paid_for():
    joint, table = bound(), rows()
    curator, _ = gate([part.charge for part in joint.parts] * 2, table=table)
    opened, margins = curator.open_jointly(joint, 2), Margins()
    for _ in range(2):
        opened.measure(0, RULE, margins)
    opened.measure(1, RULE, margins)
    opened.measure(1, RULE, margins)
    before = table.reads
    with pytest.raises(ValueError, match="no more is paid for"):
        opened.measure(0, RULE, margins)
    for part in (-1, 2):
        with pytest.raises(IndexError, match="no part"):
            opened.measure(part, RULE, margins)
    assert table.reads == before


def test_codes_stay_as_they_are_while_rows_are_bounded_by_them():
    table = rows()
    curator, _ = gate([part.charge for part in bound().parts] * 2, table=table)
    opened = curator.open_jointly(bound(), 1)
    with pytest.raises(RuntimeError, match="bounded together"):
        curator.coarsen(0, np.zeros(WIDTH, np.int64))
    del opened
    gc.collect()
    curator.coarsen(0, np.zeros(WIDTH, np.int64))


def test_kept_codes_stay_as_they_are_too():
    """What a pair's rows were bounded by is not derived anew from columns that have changed since."""
    table = rows()
    pair = ProductCells((0, 1), (np.arange(WIDTH) % 3, np.arange(WIDTH) % 2), (3, 2))
    table.derive(pair)
    before = table._blocks[0].codes(pair)[0].copy()
    table.coarsen(0, np.zeros(WIDTH, np.int64))
    table.derive(pair)
    np.testing.assert_array_equal(table._blocks[0].codes(pair)[0], before)
    with pytest.raises(TypeError, match="codes of columns can be kept"):
        table.derive(Cells())


def test_units_of_several_rows_are_named_in_the_ledger():
    curator, reservation = gate([part.charge for part in bound().parts], rows_per_unit=3)
    curator.open_jointly(bound(), 1)
    assert all("3 rows per unit" in entry.theorem for entry in reservation.entries)


def test_weights_of_classes_hold_here_too():
    """A class of weight 0 adds nothing; the noise is that of unweighted rows."""
    joint, levels = bound(limit=UNIT**2 + 1), level_weights()
    labels = np.array([0, 1], np.uint8)[np.arange(900) % 2] * len(levels) + len(levels) - 1
    table = MemoryTable(rows()._blocks[0].columns, labels.astype(np.uint8), [WIDTH, WIDTH], 2 * len(levels))
    reservation = Reservation([part.charge for part in joint.parts], ADD, "test")
    curator = WeightedCurator(table, reservation, SeededSource(0), 1, (0.0, 1.0), levels)
    opened, margins = curator.open_jointly(joint, 1), Margins()
    released = opened.measure(0, RULE, margins)
    part = joint.parts[0]
    rule = weighted_rule(RULE, (0.0, 1.0), levels)
    exact = table.answer(JointHistogram(Histogram(part.cells, rule, margins, part.release_map), joint))
    assert exact.min() == 0
    assert exact.sum() == pytest.approx(450 * rule.unit * UNIT, rel=5e-3)
    assert released.value.sum() == pytest.approx(450, abs=5 * 2 * np.sqrt(WIDTH))
    assert released.sd == pytest.approx(2.0, rel=0.01)
