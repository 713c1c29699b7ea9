"""The benchmark of counts and costs: rates keep their exposure, and are learned and judged by it."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.counts import Exposed, exposure, glm, load, made, mean, metrics
from benchmarks.score_tables import split

pytestmark = pytest.mark.slow  # of the benchmarks, which are not shipped


@pytest.mark.parametrize("name", ["covers", "survival"])
def test_rates_have_exposures_that_go_with_their_rows(name: str) -> None:
    table = made(name, 400)
    assert isinstance(table, Exposed)
    assert 0.0 < table.exposure.min() < table.exposure.max() <= 1.0
    train, test = split(table, 0)
    assert len(exposure(train)) == len(train.y) == 320
    assert np.sort(np.concatenate([exposure(train), exposure(test)])).tolist() == np.sort(table.exposure).tolist()
    assert exposure(load("costs")).tolist() == [1.0] * 5000  # no rate


def test_a_rate_is_judged_by_its_exposure_by_hand() -> None:
    table = made("survival", 50).rows(np.arange(2))
    judged = Exposed(table.name, table.X, np.array([0.0, 2.0]), table.schema, np.array([1.0, 0.25]))
    assert mean(judged, judged, 1.0, 0.0, 0) == pytest.approx([0.4, 0.4])
    result = metrics(judged, np.array([1.0, 1.0]))
    assert result["total"] == pytest.approx(2.5)  # 1.25 of .5
    assert result["deviance"] == pytest.approx((2.0 + 0.25 * 2 * (2 * np.log(2.0) - 1)) / 1.25)


def test_the_linear_model_knows_exposures_too() -> None:
    table = made("survival", 600)
    alike = Exposed(table.name, table.X, table.y, table.schema, np.ones(len(table.y)))
    assert not np.allclose(glm(table, table, 1.0, 0.0, 0), glm(alike, table, 1.0, 0.0, 0), rtol=0.02)
