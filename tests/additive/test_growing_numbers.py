"""Numbers of growing that a tuning of the default learner replaces reach its trees and its smooth function."""

from __future__ import annotations

from functools import cache

import pytest

from tacit.additive.boost import AdditiveBoost
from tests.additive.test_smooth_function import fitted, light_for_its_size
from tools.fit_planning_rule import tuned


@cache
def said() -> tuple[bytes, bytes]:
    """What a fit with the numbers as they are says of some rows, and how sure it is."""
    model, (X, _) = fitted(4000).model_, light_for_its_size(300, 9)
    assert model.fourier is not None
    assert model.trees
    return model.decision_function(X).tobytes(), model.score_variance(X).tobytes()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cutting.tries", 5),
        ("kernel.clip", 0.6),
        ("kernel.hessian_scale", 0.7),
        ("kernel.rows_of_noise", 14.0),
        ("smooth.clip", 0.4),
        ("smooth.width", 0.5),
        ("smooth.scatter_part", 0.3),
        ("smooth.steps", 40),
        ("tracing.answered", 0.5),
    ],
)
def test_a_number_that_is_replaced_reaches_the_fit(name, value, monkeypatch):
    before = said()
    monkeypatch.setattr(AdditiveBoost, "tuning", tuned(AdditiveBoost.tuning, [f"growing.{name}"], value))
    model, (X, _) = fitted(4000).model_, light_for_its_size(300, 9)
    after = model.decision_function(X).tobytes(), model.score_variance(X).tobytes()
    assert before != after
