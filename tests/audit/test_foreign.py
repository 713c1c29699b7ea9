"""A recorder of another project, which knows a curator by its protocol alone, hears of all that leaves it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import tacit
from benchmarks.planted import BUGS, FLAG, LEARNERS, UNIT, WIDE
from tacit.audit import replay_with

FOREST, ADDITIVE = LEARNERS


class Heard:
    """Keeps what it is told, as dp-recorder does: released answers are recorded, then forced."""

    def __init__(self) -> None:
        self.log: list[dict[str, Any]] = []
        self.cursor: int | None = None

    def set_replay(self) -> None:
        self.cursor = 0

    def _next(self, kind: str) -> dict[str, Any]:
        assert self.cursor is not None
        entry = self.log[self.cursor]
        self.cursor += 1
        assert entry["kind"] == kind, f"{kind} where {entry['kind']} was recorded"
        return entry

    def intercept_mechanism(
        self,
        kind: str,
        func: Callable[..., Any],
        input_arg: str,
        sensitivity_arg: str,
        metric_fn: Callable[[Any, Any], float],
        accountant: Callable[..., Any] | None,
        /,
        **arguments: Any,
    ) -> Any:
        inspect.signature(func).bind(**arguments)
        answer, public = arguments[input_arg], {key: arguments[key] for key in arguments if key != input_arg}
        if self.cursor is None:
            released, loss = func(**arguments), accountant and accountant(**public)
            self.log.append({"kind": kind, "exact": answer, "public": public, "released": released, "loss": loss})
            return released
        entry = self._next(kind)
        assert entry["public"] == public, "what is public changed"
        entry |= {"distance": metric_fn(entry["exact"], answer), "most": public[sensitivity_arg]}
        return entry["released"]

    def check_equality(self, value: Any, label: str) -> Any:
        if self.cursor is None:
            self.log.append({"kind": label, "value": value})
        else:
            assert self._next(label)["value"] == value, "what is public changed"
        return value

    @property
    def answers(self) -> list[dict[str, Any]]:
        """The noisy ones."""
        return [entry for entry in self.log if "released" in entry]

    @property
    def too_far(self) -> list[str]:
        """Answers that moved further than they may."""
        return [entry["kind"] for entry in self.answers if entry["distance"] > entry["most"] * (1 + 1e-9)]


@pytest.mark.parametrize(
    "estimator",
    [
        tacit.RandomTreesClassifier(schema=WIDE, delta=0.0, n_trees=2),
        tacit.AdditiveBoostClassifier(epsilon=0.3, schema=FLAG),
        tacit.RandomTreesClassifier(schema=UNIT, n_trees=2, neighbouring="replace_one"),
        tacit.DecisionListClassifier(schema=WIDE),
    ],
)
def test_honest_learner_passes(estimator: Any) -> None:
    for neighbour in range(2):
        heard = Heard()
        assert replay_with(heard, estimator, neighbour=neighbour) == []
        assert heard.cursor == len(heard.log)
        assert heard.answers
        assert not heard.too_far
        assert any(entry["distance"] > 0 for entry in heard.answers)


def test_losses_compose_to_the_claim() -> None:
    """The library's own accounting and dp-accounting's of what the recorder heard agree."""
    heard = Heard()
    replay_with(heard, tacit.RandomTreesClassifier(epsilon=1.0, delta=1e-6, schema=FLAG, n_trees=3))
    total = heard.answers[0]["loss"]
    for entry in heard.answers[1:]:
        total = total.compose(entry["loss"])
    assert total.get_epsilon_for_delta(1e-6) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("bug", ["a sensitivity a fifth too small", "a person's rows charged as one"])
def test_short_sensitivity_is_heard(bug: str) -> None:
    planted = BUGS[bug]
    far: list[str] = []
    with planted.planted():
        for neighbour in range(4):
            heard = Heard()
            assert replay_with(heard, LEARNERS[FOREST](planted), neighbour=neighbour) or not heard.too_far
            far += heard.too_far
    assert far


def test_charges_that_follow_from_rows_are_heard() -> None:
    """What the recorder raises on a neighbour is among the faults."""
    planted = BUGS["charges that follow from the number of rows"]
    with planted.planted():
        faults = [replay_with(Heard(), LEARNERS[FOREST](planted), neighbour=neighbour) for neighbour in range(4)]
    assert any("what is public changed" in fault for found in faults for fault in found)


def test_number_of_no_neighbour_is_refused() -> None:
    with pytest.raises(ValueError, match="whole number of at least 0"):
        replay_with(Heard(), tacit.RandomTreesClassifier(schema=FLAG), neighbour=-1)
