"""How far a fit is: every release is told, in order, with the share of the budget, and nothing private."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import was_spent
from tacit.privacy.charges import BoundedRange, Gaussian, Laplace, Pure, Repeated
from tacit.privacy.coverage import Coverage
from tacit.privacy.ledger import Reservation
from tacit.privacy.progress import Step
from tacit.privacy.unit import Neighbouring
from tests.golden.tables import schema, table


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def fitted(steps: Any, n: int = 400, delta: float = 1e-6, **more: Any) -> Any:
    learner = tacit.RandomTreesClassifier(
        n_trees=5, epsilon=1.0, delta=delta, schema=schema("two"), random_state=0, **more
    )
    with tacit.options(progress=steps):
        return learner.fit(table(n).X, table(n).two)


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_every_release_is_told_in_order(delta: float) -> None:
    steps: list[Step] = []
    model = fitted(steps.append, delta=delta)
    assert [step.what for step in steps] == [entry.label for entry in model.certificate_.entries]
    assert [step.releases for step in steps] == list(range(1, len(steps) + 1))
    assert {step.work for step in steps} == {"fit of RandomTreesClassifier"}
    spent = [step.spent for step in steps]
    assert spent == sorted(spent)
    assert spent[0] > 0
    assert spent[-1] == pytest.approx(1.0)
    assert steps[-1].seconds_left == pytest.approx(0.0, abs=0.01)


def test_what_is_told_depends_on_the_plan_and_not_on_the_rows() -> None:
    def facts(n: int) -> list[Any]:
        steps: list[Step] = []
        fitted(steps.append, n)
        names = [field.name for field in fields(Step) if field.name != "seconds"]
        return [tuple(getattr(step, name) for name in names) for step in steps]

    assert facts(400) == facts(3000)


def test_nobody_watches_outside(capsys: pytest.CaptureFixture[str]) -> None:
    steps: list[Step] = []
    with tacit.options(progress=steps.append), tacit.options(noise="tacit"):
        tacit.RandomTreesClassifier(n_trees=2, schema=schema("two")).fit(table(400).X, table(400).two)
    told = len(steps)
    assert told > 0
    tacit.RandomTreesClassifier(n_trees=2, schema=schema("two")).fit(table(400).X, table(400).two)
    assert len(steps) == told
    with pytest.raises(ValueError, match="cannot be"), tacit.options(progress=3):  # type: ignore[arg-type]
        pass


class Stopped(Exception):  # noqa: N818 - what a user would call it
    pass


@pytest.mark.parametrize("kind", [Stopped, KeyboardInterrupt])
def test_what_a_watcher_raises_ends_the_fit_and_the_ledger_is_right(kind: type[BaseException], tmp_path: Path) -> None:
    account = tacit.PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "rows", 3.0, 1e-6)

    def stop(step: Step) -> None:
        if step.releases == 3:
            raise kind

    with pytest.raises(kind) as raised:
        fitted(stop, account=account)
    assert was_spent(raised.value)
    [line] = account.reservations()
    assert line.status == "failed"
    assert len(line.entries) == 3
    assert account.spent > 0.9
    again = fitted(lambda _: None, account=account)
    assert again.certificate_.outcome == "completed"
    assert [line.status for line in account.reservations()] == ["failed", "completed"]


@pytest.mark.parametrize(
    ("planned", "paid", "expected"),
    [
        ([Gaussian(1.0)], [Gaussian(2.0)], [0.25]),
        ([Pure(1.0)], [Laplace(2.0), Pure(0.25)], [0.5, 0.75]),
        ([Repeated(BoundedRange(0.5), 4)], [BoundedRange(0.5), BoundedRange(0.2)], [0.25, 0.5]),
        ([Laplace(1.0), Gaussian(1.0)], [Gaussian(1.0)], [1.0]),
        ([], [], []),
    ],
)
def test_the_share_that_is_spent(planned: Any, paid: Any, expected: list[float]) -> None:
    coverage, results = Coverage(planned), []
    assert coverage.spent == 0
    for charge in paid:
        assert coverage.take(charge)
        results.append(coverage.spent)
    np.testing.assert_allclose(results, expected)


def test_a_release_that_is_refused_is_not_told() -> None:
    steps: list[Step] = []
    with tacit.options(progress=steps.append):
        reservation = Reservation([Gaussian(1.0)], Neighbouring.ADD_OR_REMOVE_ONE, "a")
    with pytest.raises(tacit.BudgetExceeded):
        reservation.record(Gaussian(0.5), "b", "c")
    assert steps == []
    reservation.record(Gaussian(2.0), "b", "c")
    assert [step.what for step in steps] == ["b"]
