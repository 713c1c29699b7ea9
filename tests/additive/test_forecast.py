"""What is said beforehand of a fit is what the fit then finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from tacit import AdditiveBoostClassifier
from tacit.additive.first_look import first_look
from tacit.additive.forecast import forecast, rarest_share
from tacit.additive.losses import TwoClassLoss
from tacit.additive.planner import Planner
from tacit.additive.tuning import PLANNING, TUNING
from tacit.binning.measure import Column
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "label": {"column": "y", "classes": [0, 1]},
        "columns": {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in ("a", "b", "c")},
    }
)


@pytest.mark.parametrize("neighbouring", ["add_or_remove_one", "replace_one"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_signal_is_that_of_the_fit(neighbouring: str, delta: float) -> None:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.random((3000, 3)), columns=["a", "b", "c"])
    learner = AdditiveBoostClassifier(
        epsilon=4.0, delta=delta, neighbouring=neighbouring, schema=SCHEMA, random_state=0, interactions=False
    )
    records = []

    planned = Planner.plan

    def spied(self: Planner, total: float, n_columns: int, signal: float, *rest: bool, **more: Any) -> object:
        records.append((total, n_columns, signal))
        return planned(self, total, n_columns, signal, *rest, **more)

    with patch.object(Planner, "plan", spied):
        learner.fit(frame, generator.integers(0, 2, 3000))
    [(total, n_columns, signal)] = records
    said = learner.dry_run(n=round(total))["forecast"]
    assert n_columns == 3
    columns = 1.0 if delta else np.sqrt(3)  # the rule counts their root; what is said, all that Laplace noise grows by
    assert said["signal"] * columns == pytest.approx(signal, rel=1e-3)


def test_where_a_person_has_several_rows_noise_is_so_much_larger() -> None:
    """The plan knows, as the promise does beforehand; before, plans took the noise of single rows for granted."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.random((3000, 3)), columns=["a", "b", "c"])
    frame["who"] = [str(row // 5) for row in range(3000)]
    declared = Schema.from_dict({**SCHEMA.to_dict(), "unit": {"column": "who", "max_rows": 5}})
    learner = AdditiveBoostClassifier(epsilon=4.0, schema=declared, random_state=0, interactions=False)
    records = []

    planned = Planner.plan

    def spied(self: Planner, total: float, n_columns: int, signal: float, *rest: bool, **more: Any) -> object:
        records.append((total, signal))
        return planned(self, total, n_columns, signal, *rest, **more)

    with patch.object(Planner, "plan", spied):
        learner.fit(frame, generator.integers(0, 2, 3000))
    [(total, signal)] = records
    said = learner.dry_run(n=round(total))["forecast"]["signal"]
    assert said == pytest.approx(signal, rel=1e-3)
    alone, replaced = (
        AdditiveBoostClassifier(epsilon=4.0, schema=SCHEMA, neighbouring=relation).dry_run(n=round(total))
        for relation in Neighbouring
    )
    assert said == pytest.approx(alone["forecast"]["signal"] / 5)
    assert replaced["forecast"]["signal"] == pytest.approx(alone["forecast"]["signal"] / 2)  # a row's sign may change


def test_a_plan_believes_in_the_noise_that_releases_have() -> None:
    generator, rows = np.random.default_rng(0), 4000
    columns = [(generator.random(rows) * 4096).astype(np.uint16) for _ in range(2)]
    for reach in (1, 5):
        allowance = replace(Allowance.of(2.0, 1e-6), reach=float(reach))
        reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
        sealed = MemoryTable(columns, generator.integers(0, 2, rows).astype(np.uint8), [4097] * 2, 2)
        curator = Curator(sealed, reservation, SeededSource(0), reach)
        found, measure_all = [], curator.measure_all

        def measure(asks: Any, found: list[Any] = found, measure_all: Any = measure_all) -> Any:
            found.extend(released := measure_all(asks))
            return released

        names = [Column(0, "a", True), Column(1, "b", True)]
        with patch.object(curator, "measure_all", measure):
            first_look(Budget(curator, allowance), names, True, True, TwoClassLoss(), Planner())
        assert len(found) > 2
        for one in found:
            assert one.sd == pytest.approx(
                allowance.sd(1.0 / (allowance.mu * one.charge.noise_multiplier) ** 2), rel=0.01
            )


def test_more_rows_buy_more() -> None:
    allowance = Allowance.of(1.0, 1e-6)
    said = [forecast(rows, 4, allowance, True, True) for rows in (100, 1600, 100_000)]
    assert [known["learns"] for known in said] == [["columns"], ["columns", "pairs"], ["columns", "pairs", "trees"]]
    assert [known["sure"] for known in said] == [False, True, True]
    enough = said[0]["sure_from"]
    assert forecast(enough, 4, allowance, True, True)["sure"]
    assert not forecast(enough - 1, 4, allowance, True, True)["sure"]
    assert forecast(enough, 4, allowance, True, True)["signal"] == pytest.approx(PLANNING.sure_from, rel=0.01)
    assert forecast(100_000, 4, allowance, True, False)["learns"] == ["columns", "pairs"]
    assert forecast(100_000, 4, Allowance.of(1.0, 0.0), True, True)["learns"] == ["columns", "pairs"]  # if not trees


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert "forecast" not in AdditiveBoostClassifier().dry_run(n=100)
    assert "forecast" not in AdditiveBoostClassifier(schema=SCHEMA).dry_run()
    three = Schema.from_dict({**SCHEMA.to_dict(), "label": {"column": "y", "classes": [0, 1, 2]}})
    assert "forecast" not in AdditiveBoostClassifier(schema=three).dry_run(n=100)


def test_what_may_follow_the_columns_is_said() -> None:
    """Trees, and pairs where they are wanted: which it is depends on what columns explain."""
    allowance = Allowance.of(1.0, 1e-6)
    assert forecast(30_000, 9, allowance, True, True)["learns"] == ["columns", "pairs", "trees"]
    assert forecast(30_000, 9, allowance, False, True)["learns"] == ["columns", "trees"]
    assert forecast(30_000, 9, allowance, True, False)["learns"] == ["columns", "pairs"]


@pytest.mark.parametrize("rows", [30_000, 500_000])
def test_nothing_follows_where_fewer_than_two_columns_have_no_declared_direction(rows: int) -> None:
    rising = {"kind": "numeric", "lower": 0, "upper": 1, "monotone": "increasing"}
    free = {name: column for name, column in rising.items() if name != "monotone"}
    for columns, more in (
        ({"a": free, "b": free, "c": rising}, ["pairs", "trees"]),
        ({"a": free, "b": rising, "c": rising}, []),
        ({"a": free}, []),
    ):
        schema = {"label": {"column": "y", "classes": [0, 1]}, "columns": columns}
        said = AdditiveBoostClassifier(epsilon=4.0, schema=schema).dry_run(n=rows)["forecast"]
        assert said["learns"] == ["columns", *more]


@pytest.mark.parametrize("columns", [1, 4, 60])
def test_at_delta_0_noise_grows_with_the_columns_and_not_with_their_root(columns: int) -> None:
    """A row is part of one sum per column: its L1 norm is their number, and the noise of each sum is in proportion."""
    allowance = Allowance.of(0.5, 0.0)
    said = forecast(10_000, columns, allowance, True, False)
    assert said["signal"] == pytest.approx(10_000 * 0.5 / np.sqrt(2) / columns)
    assert said["enough"] == PLANNING.pure_sure_from
    assert said["sure_from"] == pytest.approx(PLANNING.pure_sure_from * columns * np.sqrt(2) / 0.5, abs=1)
    for rows, sure in ((said["sure_from"], True), (said["sure_from"] - 1, False)):
        assert forecast(rows, columns, allowance, True, False)["sure"] is sure


@pytest.mark.parametrize("columns", [1, 10, 60])
def test_trees_alone_need_as_many_rows_however_many_columns_there_are(columns: int) -> None:
    declared = {f"x{i}": {"kind": "numeric", "lower": 0, "upper": 1} for i in range(columns)}
    schema = Schema.from_dict({"label": {"column": "y", "classes": [0, 1]}, "columns": declared})
    learner = AdditiveBoostClassifier(epsilon=0.5, delta=0.0, schema=schema)
    said = learner.dry_run(n=90)["forecast"]
    assert said["learns"] == ["trees"]
    assert said["signal"] == pytest.approx(90 * 0.5 / np.sqrt(2))
    assert said["enough"] == PLANNING.trees_sure_from
    assert not said["sure"]
    if columns == 60:
        assert said["sure_from"] == pytest.approx(PLANNING.trees_sure_from * np.sqrt(2) / 0.5, abs=1)
    for rows, sure in ((said["sure_from"], True), (said["sure_from"] - 1, False)):
        assert learner.dry_run(n=rows)["forecast"]["sure"] is sure  # of few columns, columns take over before


@pytest.mark.parametrize("signal", [70.0, 71.0, 700.0, 1e6])
def test_rows_of_a_rare_class_are_worth_as_much_as_fewer_of_classes_alike(signal: float) -> None:
    share = rarest_share(signal, 70.0)
    assert share is not None
    assert 0 < share <= 0.5
    assert 4 * share * (1 - share) * signal == pytest.approx(70.0)
    assert rarest_share(69.0, 70.0) is None


def test_a_forecast_is_by_the_numbers_of_its_learner() -> None:
    """A learner that is varied says what its own plan would do."""
    varied = type(
        "Varied", (AdditiveBoostClassifier,), {"tuning": replace(TUNING, planning=replace(PLANNING, sure_from=7.0))}
    )
    said, usual = (
        learner(epsilon=1.0, schema=SCHEMA).dry_run(n=500)["forecast"] for learner in (varied, AdditiveBoostClassifier)
    )
    assert (said["enough"], usual["enough"]) == (7.0, PLANNING.sure_from)
    assert said["sure_from"] < usual["sure_from"]
