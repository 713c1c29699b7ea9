"""Keys nobody declared: a rare one is seen no more often than delta, and what is seen costs what is charged."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from tacit.checks.mechanism import Law
from tacit.curator.gate import Gate
from tacit.curator.keys import release_keys
from tacit.curator.measurement import integer_scale
from tacit.curator.rows import PrivateRows
from tacit.encoding.frames import columns_of
from tacit.encoding.units import NO_KEY
from tacit.noise.seeded_source import SeededSource
from tacit.privacy import accountants
from tacit.privacy.charges import ApproxDP, Gaussian, Laplace, NonPrivate, Pure
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries import keys as queries
from tacit.queries.keys import KEY_UNIT, KeyCounts
from tacit.schema import Unit
from tests.chance import GAUSSIAN_DRAWS, LAPLACE_DRAWS, Z, at_least_share, at_most_share, check_scale
from tests.noise.exact import gaussian_pmf, laplace_pmf

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE


def released(codes, size, charge, delta, relation=ADD, rows_per_unit=1, noise=None):
    reservation = Reservation([charge, ApproxDP(0.0, delta)], relation, "test")
    texts = [f"k{code}" for code in range(size)]
    source = noise or SeededSource(3)
    return release_keys(
        np.asarray(codes), texts, Gate(reservation, source, rows_per_unit), charge, delta, "k"
    ), reservation


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("charge", [Gaussian(4.0), Laplace(3.0)])
@pytest.mark.parametrize("rows", [1, 3])
def test_keys_of_one_unit_are_seen_with_probability_at_most_delta(relation, charge, rows, monkeypatch):
    """Units with keys that nobody else has, in one key or in as many as rows: one in twenty is seen."""
    units, delta = 20_000 // rows, 0.05
    together, apart = np.repeat(np.arange(units), rows), np.arange(units * rows)

    def units_seen():
        outs = [
            released(codes, units * rows, charge, delta, relation, rows, SeededSource(7))[0]
            for codes in (together, apart)
        ]
        assert all(min(out.counts) >= out.threshold for out in outs)
        return max(len({int(key[1:]) // per for key in out.keys}) for out, per in zip(outs, (1, rows), strict=True))

    seen = units_seen()
    assert at_most_share(seen, units, delta)
    assert at_least_share(seen, units, 0.8 * delta)  # the threshold is a bound, rounded up
    honest = KeyCounts.threshold
    monkeypatch.setattr(KeyCounts, "threshold", staticmethod(lambda *a: round(0.8 * honest(*a))))
    assert not at_most_share(units_seen(), units, delta)


def outcome(pmf: Law, count: int, threshold: int) -> np.ndarray:
    """Probabilities of a key's outcomes: unseen first, then every value from the threshold on."""
    values = np.arange(len(pmf.p)) + pmf.first + count
    seen = np.zeros(6000)
    shown = values >= threshold
    seen[values[shown] - threshold] = pmf.p[shown]
    return np.concatenate([[1.0 - seen.sum()], seen])


@pytest.mark.parametrize(
    ("charge", "law"), [(Laplace(2.0), laplace_pmf), (Laplace(0.7), laplace_pmf), (Gaussian(1.5), gaussian_pmf)]
)
@pytest.mark.parametrize("delta", [0.02, 0.2])
def test_the_charge_covers_a_unit_with_a_common_key_and_one_of_its_own(charge, law, delta):
    """Exact distributions on two tables: one unit adds a row to a key that others hold, and a row of its own."""
    sensitivity = KeyCounts().sensitivity(ADD).times(2)
    scale = integer_scale(charge, sensitivity)
    tail = queries.gaussian_tail if isinstance(charge, Gaussian) else queries.laplace_tail
    threshold = KeyCounts.threshold(delta, lambda least: tail(scale, least), 2)
    pmf = law(scale, 20.0)
    shared = threshold - KEY_UNIT  # where seeing and not seeing are both likely
    without, with_unit = (outcome(pmf, shared + more, threshold) for more in (0, KEY_UNIT))
    own = outcome(pmf, KEY_UNIT, threshold)
    leak = 1.0 - own[0]
    assert leak <= delta
    for epsilon in (0.0, 0.1, 0.5, 1.0, 3.0, 8.0):
        factor = math.exp(epsilon)
        upward = leak + np.maximum(with_unit * own[0] - factor * without, 0).sum()
        downward = np.maximum(without - factor * with_unit * own[0], 0).sum()
        bound = accountants.delta([charge, ApproxDP(0.0, delta)], epsilon)
        assert max(upward, downward) <= bound * (1 + 1e-9)
    # both rows under one key of its own: the whole of delta is needed
    alone = 1.0 - outcome(pmf, 2 * KEY_UNIT, threshold)[0]
    assert max(alone, 1 - (1 - leak) ** 2) > 0.9 * delta


def test_the_noise_has_the_stated_scale():
    for charge, keys in ((Gaussian(4.0), GAUSSIAN_DRAWS), (Laplace(3.0), LAPLACE_DRAWS)):
        out, _ = released(np.repeat(np.arange(keys), 150), keys, charge, 1e-6)
        assert len(out.keys) == keys
        errors, laplace = np.asarray(out.counts) - 150, isinstance(charge, Laplace)
        check_scale(errors, out.sd / (math.sqrt(2) if laplace else 1), laplace)
        assert abs(errors.mean()) < Z * out.sd / math.sqrt(keys)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("relation", "l1", "l2"), [(ADD, 1.0, 1.0), (REPLACE, 2.0, math.sqrt(2.0))])
def test_the_noise_follows_the_relation_and_the_rows_of_a_unit(relation, l1, l2, rows):
    for charge, sd in ((Gaussian(4.0), 4.0 * l2 * rows), (Laplace(3.0), 3.0 * math.sqrt(2.0) * l1 * rows)):
        out, _ = released(np.zeros(5000, np.int64), 1, charge, 1e-3, relation, rows)
        assert out.sd == pytest.approx(sd, rel=1e-3)


def test_what_is_released_is_charged_first():
    codes = np.zeros(500, np.int64)
    out, reservation = released(codes, 1, Gaussian(4.0), 1e-6)
    assert [entry.charge for entry in reservation.entries] == [Gaussian(4.0), ApproxDP(0.0, 1e-6)]
    assert all("stability" in entry.theorem for entry in reservation.entries)
    assert (out.charge, out.delta) == (Gaussian(4.0), 1e-6)
    poor = Reservation([Gaussian(4.0)], ADD, "poor")
    with pytest.raises(BudgetExceeded):
        release_keys(codes, ["a"], Gate(poor, SeededSource(0)), Gaussian(4.0), 1e-6, "k")
    with pytest.raises(ValueError, match="declare them"):
        release_keys(codes, ["a"], Gate(Reservation([Pure(1.0)], ADD, "t"), SeededSource(0)), Laplace(1.0), 0.0, "k")
    with pytest.raises(TypeError, match="Gaussian, Laplace or NonPrivate"):
        release_keys(codes, ["a"], Gate(Reservation([Pure(1.0)], ADD, "t"), SeededSource(0)), Pure(1.0), 0.1, "k")


def test_keys_come_in_the_order_of_noisy_counts():
    codes = np.concatenate([np.full(900, 2), np.full(400, 0), np.full(700, 1), np.full(50, NO_KEY)])
    out, _ = released(codes, 3, Gaussian(4.0), 1e-6)
    assert out.keys == ("k2", "k1", "k0")
    assert out.counts == pytest.approx([900, 700, 400], abs=30)


def test_without_privacy_all_keys_are_there():
    reservation = Reservation([NonPrivate()], ADD, "test")
    out = release_keys(
        np.array([0, 1, 1, -1]), ["a", "b", "c"], Gate(reservation, SeededSource(0)), NonPrivate(), 0.0, "k"
    )
    assert (out.keys, out.counts.tolist()) == (("b", "a"), [2.0, 1.0])


def private_rows(frame, labels, unit=None, seed=0):
    reservation = Reservation([Gaussian(1.0), ApproxDP(0.0, 0.3), ApproxDP(0.0, 0.3)], ADD, "test")
    return PrivateRows(columns_of(frame), labels, reservation, seed, unit)


def test_rows_beyond_the_limit_of_a_unit_show_nothing():
    """One unit with 5,000 keys of its own: two of its rows count, so a handful of keys at most, even at delta = .3."""
    frame = pd.DataFrame({"who": ["u"] * 5000, "key": [f"secret {i}" for i in range(5000)]})
    out = private_rows(frame, np.zeros(5000), Unit("who", 2)).keys("key", Gaussian(2.0), 0.3, "k")
    assert len(out.keys) <= 2


def test_labels_and_columns_of_any_kind_have_keys():
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y "] * 300), "b": [1, "1", 1.0, None, True, " "] * 100})
    gate = private_rows(frame, np.tile([0.0, 2.5], 300))
    assert set(gate.keys("a", Gaussian(4.0), 1e-3, "a").keys) == {"x", "y"}
    assert set(gate.keys(None, Gaussian(4.0), 1e-3, "labels").keys) == {"0", "2.5"}
    gate = private_rows(frame, np.tile([True, False], 300))
    assert dict(zip(*_counted(gate.keys("b", Gaussian(4.0), 1e-3, "b")), strict=True)) == {"1": 300, "true": 100}
    assert set(gate.keys(None, Gaussian(4.0), 1e-3, "labels").keys) == {"true", "false"}


def _counted(out):
    return out.keys, [round(count / 100) * 100 for count in out.counts]


def test_a_count_at_the_threshold_has_reached_it(monkeypatch):
    monkeypatch.setattr(KeyCounts, "threshold", staticmethod(lambda *_: 10 * KEY_UNIT))
    silent = SimpleNamespace(gaussian=lambda _, size: np.zeros(size, np.int64))
    out, _ = released(np.repeat([0, 1, 2], [9, 10, 11]), 3, Gaussian(4.0), 0.1, noise=silent)
    assert (out.keys, out.threshold) == (("k2", "k1"), 10.0)
