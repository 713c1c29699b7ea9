"""The curator's measure: charge first, exact plus noise of the stated scale, nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.curator.curator import Curator
from tacit.curator.measurement import integer_scale
from tacit.curator.rows import PrivateRows
from tacit.encoding.frames import columns_of
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.engines.blocks import MemoryTable
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.charges import BoundedRange, Gaussian, Laplace, NonPrivate, Pure
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import OneCell, column_cells
from tacit.queries.histogram import Histogram
from tacit.queries.query import Sensitivity
from tacit.queries.rules import RowRule, count_rule
from tacit.schema import Unit
from tests.chance import GAUSSIAN_DRAWS, LAPLACE_DRAWS, Z, check_scale
from tests.curator.spy import Spy

ADD = Neighbouring.ADD_OR_REMOVE_ONE
QUERY = Histogram(column_cells(0, 400), RowRule(np.full((2, 1, 1), 64, np.int32), 64))


def table(kind=Spy):
    codes = np.random.default_rng(0).integers(0, 400, 3000).astype(np.uint16)
    return kind([codes], np.zeros(3000, np.uint8), [400], 2)


def curator(charges, seed=1, rows=None, **more):
    reservation = Reservation(charges, more.pop("neighbouring", ADD), "test")
    return Curator(rows or table(), reservation, SeededSource(seed), **more), reservation


def exact():
    return table().answer(QUERY)[:, 0] / 64


@pytest.mark.parametrize(
    ("charge", "sd"),
    [(Gaussian(3.0), 3.0), (Laplace(2.0), 2.0 * math.sqrt(2))],
)
@pytest.mark.parametrize(("relation", "factor"), [(ADD, (1, 1)), (Neighbouring.REPLACE_ONE, (math.sqrt(2), 2))])
def test_the_noise_has_the_scale_that_the_charge_says(charge, sd, relation, factor):
    laplace = isinstance(charge, Laplace)
    rounds = -(-(LAPLACE_DRAWS if laplace else GAUSSIAN_DRAWS) // exact().size)
    gate, _ = curator([charge] * rounds, neighbouring=relation)
    releases = [gate.measure(QUERY, charge, f"r{i}") for i in range(rounds)]
    errors = np.concatenate([release.value[:, 0] - exact() for release in releases])
    expected = sd * factor[1 if laplace else 0]
    assert releases[0].sd == pytest.approx(expected, rel=0.01)
    check_scale(errors, expected / (math.sqrt(2) if laplace else 1), laplace)
    assert abs(errors.mean()) < Z * expected / math.sqrt(len(errors))


def test_the_charge_comes_before_the_read():
    rows = table()
    gate, reservation = curator([Gaussian(2.0)], rows=rows)
    gate.measure(QUERY, Gaussian(2.0), "all there is")
    with pytest.raises(BudgetExceeded):
        gate.measure(QUERY, Gaussian(50.0), "too much")
    assert rows.reads == 1
    assert [entry.label for entry in reservation.entries] == ["all there is"]


def test_a_fault_between_charge_and_noise_leaves_the_charge():
    class Broken(SeededSource):
        def gaussian(self, scale, size):
            raise RuntimeError("no entropy")

    reservation = Reservation([Gaussian(2.0)], ADD, "test")
    gate = Curator(table(), reservation, Broken(0))
    with pytest.raises(RuntimeError, match="no entropy"), reservation:
        gate.measure(QUERY, Gaussian(2.0), "lost")
    assert [entry.label for entry in reservation.entries] == ["lost"]
    assert reservation.outcome == "failed"


@pytest.mark.parametrize("weights", [(), ((1.0, 1.0),)], ids=["plain", "weighted"])
def test_rows_of_which_a_person_may_have_three_are_sealed_under_three_times_the_noise(weights):
    def released(unit):
        frame = columns_of({"who": np.array([0, 0, 0, 0, 1])})
        rows = PrivateRows(frame, np.ones(5), Reservation([Laplace(50.0)], ADD), 0, unit)
        seal = rows.seal_weighted if weights else rows.seal
        gate = seal(TableEncoding((), ()), LabelIndex((0, 1)), *weights)
        return gate.measure(Histogram(OneCell(), count_rule(2)), Laplace(50.0), "rows"), rows._reservation.entries[0]

    (one, _), (three, entry) = released(None), released(Unit("who", 3))
    assert three.sd / one.sd == pytest.approx(3.0)
    assert "3 rows per unit" in entry.theorem == three.theorem


def test_without_privacy_the_answer_is_exact_and_marked():
    gate, reservation = curator([NonPrivate()])
    release = gate.measure(QUERY, NonPrivate(), "exact")
    assert (release.value[:, 0] == exact()).all()
    assert isinstance(reservation.entries[0].charge, NonPrivate)
    private, _ = curator([Gaussian(1.0)])
    with pytest.raises(BudgetExceeded):
        private.measure(QUERY, NonPrivate(), "exact")


@pytest.mark.parametrize("charge", [Pure(1.0), BoundedRange(1.0)])
def test_only_additive_noise_can_be_measured_with(charge):
    gate, _ = curator([charge])
    with pytest.raises(TypeError, match="Gaussian, Laplace or NonPrivate"):
        gate.measure(QUERY, charge, "no")


def test_integer_noise_is_scaled_so_that_the_continuous_charge_covers_it():
    sensitivity = Sensitivity(5, 25, "")
    sigma = integer_scale(Gaussian(2.0), sensitivity)
    assert math.sqrt(sigma**2 - 9) / 5 >= 2.0
    assert sigma == math.nextafter(math.sqrt(109), math.inf)
    assert integer_scale(Laplace(2.0), sensitivity) == math.nextafter(10.0, math.inf)


def test_the_same_measurements_come_from_the_same_seed_and_differ_otherwise():
    values = [curator([Gaussian(1.0)], seed)[0].measure(QUERY, Gaussian(1.0), "a").value for seed in (5, 5, 6)]
    assert (values[0] == values[1]).all()
    assert (values[0] != values[2]).any()


def test_the_layout_says_nothing_about_the_number_of_rows():
    gate, _ = curator([Gaussian(1.0)])
    assert "3000" not in repr(gate.layout)


def reachable(thing, depth=4):
    """Everything that public attributes lead to."""
    records, front = [], [thing]
    for _ in range(depth):
        following = []
        for item in front:
            names = [name for name in dir(item) if not name.startswith("_")]
            for name in names if type(item).__module__.startswith("tacit") else ():
                value = getattr(item, name)
                if not callable(value):
                    following.append(value)
        records += following
        front = following
    return records


def test_no_row_is_reachable_from_a_learner():
    """What a learner holds leads to no array with one entry per row, before and after it has asked."""
    rows = table(MemoryTable)
    gate, _ = curator([Gaussian(1.0)] * 3, rows=rows)
    release = gate.measure(QUERY, Gaussian(1.0), "a")
    results = [np.shape(item) for thing in (gate, release) for item in reachable(thing)]
    assert any(results)  # the walk does see arrays
    assert all(3000 not in shape for shape in results)
    assert not [name for name in vars(gate) if not name.startswith("_")]


def test_several_at_once_are_charged_one_by_one_and_have_noise_of_their_own():
    kinds = (("a", Gaussian(3.0), 3.0), ("b", Laplace(2.0), 2.0 * math.sqrt(2)), ("c", Gaussian(5.0), 5.0))
    rounds = -(-LAPLACE_DRAWS // exact().size)
    gate, reservation = curator([charge for _, charge, _ in kinds] * rounds)
    errors = {label: [] for label, _, _ in kinds}
    for _ in range(rounds):
        for release in gate.measure_all([(QUERY, charge, label) for label, charge, _ in kinds]):
            errors[release.label].append(release.value[:, 0] - exact())
    assert [entry.label for entry in reservation.entries] == ["a", "b", "c"] * rounds
    for label, charge, sd in kinds:
        laplace = isinstance(charge, Laplace)
        check_scale(np.concatenate(errors[label]), sd / (math.sqrt(2) if laplace else 1), laplace)
    apart = np.corrcoef([np.concatenate(lines) for lines in errors.values()]) - np.eye(3)
    assert np.abs(apart).max() < Z / math.sqrt(LAPLACE_DRAWS)


def test_several_at_once_read_nothing_when_one_is_not_covered():
    gate, _ = curator([Gaussian(3.0)], rows=(rows := table()))
    with pytest.raises(BudgetExceeded):
        gate.measure_all([(QUERY, Gaussian(3.0), "a"), (QUERY, Gaussian(3.0), "b")])
    assert rows.reads == 0
