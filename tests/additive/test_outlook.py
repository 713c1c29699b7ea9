"""What is said beforehand of a fit is what the fit then finds."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from tacit import AdditiveBoostClassifier
from tacit.additive import first_look
from tacit.additive.outlook import outlook
from tacit.additive.plan import SURE_FROM, plan
from tacit.privacy.purse import Purse
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
    seen = []

    def spied(total: float, n_columns: int, signal: float, *rest: bool) -> object:
        seen.append((total, n_columns, signal))
        return plan(total, n_columns, signal, *rest)

    with patch.object(first_look, "plan", spied):
        learner.fit(frame, generator.integers(0, 2, 3000))
    [(total, n_columns, signal)] = seen
    said = learner.dry_run(n=round(total))["outlook"]
    assert n_columns == 3
    assert said["signal"] == pytest.approx(signal, rel=1e-3)


def test_more_rows_buy_more() -> None:
    purse = Purse.of(1.0, 1e-6)
    said = [outlook(rows, 4, purse, True, True) for rows in (100, 2000, 100_000)]
    assert [known["learns"] for known in said] == [["columns"], ["columns", "pairs"], ["columns", "pairs", "trees"]]
    assert [known["sure"] for known in said] == [False, True, True]
    enough = said[0]["sure_from"]
    assert outlook(enough, 4, purse, True, True)["sure"]
    assert not outlook(enough - 1, 4, purse, True, True)["sure"]
    assert outlook(enough, 4, purse, True, True)["signal"] == pytest.approx(SURE_FROM, rel=0.01)
    assert outlook(100_000, 4, purse, True, False)["learns"] == ["columns", "pairs"]
    assert outlook(100_000, 4, Purse.of(1.0, 0.0), True, True)["learns"] == ["columns", "pairs"]  # pure: no trees


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert "outlook" not in AdditiveBoostClassifier().dry_run(n=100)
    assert "outlook" not in AdditiveBoostClassifier(schema=SCHEMA).dry_run()
    three = Schema.from_dict({**SCHEMA.to_dict(), "label": {"column": "y", "classes": [0, 1, 2]}})
    assert "outlook" not in AdditiveBoostClassifier(schema=three).dry_run(n=100)
