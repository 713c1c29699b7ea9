"""Guards, caps and borders of the room: what is just inside is taken, what is just outside is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from tacit.boosting.game import soft_punishments
from tacit.boosting.measures import LazyBregman, LogisticMeasure, SmoothMeasure
from tacit.boosting.schema import Ensemble, boost

TINY = 5e-324
NOBODY: Any = None


def above(number: float) -> float:
    return math.nextafter(number, math.inf)


def below(number: float) -> float:
    return math.nextafter(number, -math.inf)


@pytest.mark.parametrize(
    ("made", "given"),
    [
        *((LazyBregman, (d, 0.5, 9.0)) for d in (0.0, 1.0, math.nan)),
        *((LazyBregman, (0.5, rate, 9.0)) for rate in (0.0, above(1.0), math.nan)),
        *((LazyBregman, (0.5, 0.5, n)) for n in (math.inf, -math.inf, math.nan)),
        *((LogisticMeasure, (step,)) for step in (0.0, above(1024.0), math.nan)),
        *((SmoothMeasure, (advantage,)) for advantage in (0.0, 0.5, math.nan)),
        *((SmoothMeasure, (0.25, margin)) for margin in (-TINY, above(0.25), math.nan)),
        *((soft_punishments, ([m],)) for m in (1 + 2e-9, -1 - 2e-9)),
        *((boost, (NOBODY, NOBODY, LazyBregman(0.5, 0.5, 9.0), NOBODY, rounds)) for rounds in (0, -1)),
    ],
)
def test_just_outside(made: Callable[..., Any], given: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"must|clip"):
        made(*given)


@pytest.mark.parametrize(
    ("made", "given"),
    [
        *((LazyBregman, (d, 0.5, 9.0)) for d in (TINY, below(1.0))),
        *((LazyBregman, (0.5, rate, 9.0)) for rate in (TINY, 1.0)),
        *((LogisticMeasure, (step,)) for step in (TINY, 1024.0)),
        *((SmoothMeasure, (advantage,)) for advantage in (TINY, below(0.5))),
        *((SmoothMeasure, (0.25, margin)) for margin in (0.0, 0.25)),
        *((soft_punishments, ([m],)) for m in (1 + 0.5e-9, -1 - 0.5e-9, 1.0, -1.0)),
    ],
)
def test_just_inside(made: Callable[..., Any], given: tuple[Any, ...]) -> None:
    made(*given)


def test_a_run_that_is_stopped_at_once_and_one_that_cannot_be_private() -> None:
    measure, rounds = LazyBregman(0.5, 0.5, 9.0), []

    def stop(curator: Any, given: Any, t: int) -> bool:
        assert given is measure
        rounds.append(t)
        return True

    assert boost(NOBODY, NOBODY, measure, NOBODY, 1, stop) == Ensemble((), stopped=True)
    assert rounds == [0]
    with pytest.raises(TypeError, match="not be private"):
        boost(NOBODY, NOBODY, NOBODY, NOBODY, 1)
