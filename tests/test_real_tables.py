"""Numbers are judged on studies that did not choose them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks import data
from tacit.additive.tuning import TUNING
from tacit.schema.schema import Schema
from tools.real_tables import RULE, differences, fit, left_out, rules, too_wide, tuned


def test_a_value_that_helps_everywhere_keeps_its_gain_and_one_study_alone_buys_none() -> None:
    everywhere = pd.DataFrame({"a": [-0.02, -0.01, -0.03]}, index=["x", "y", "z"])
    assert left_out(everywhere).tolist() == [-0.02, -0.01, -0.03]
    lucky = pd.DataFrame({"a": [-0.3, 0.1, 0.1]}, index=["x", "y", "z"])
    assert lucky["a"].mean() < 0  # chosen on all, it looks like a gain
    assert left_out(lucky).tolist() == [0.0, 0.1, 0.1]


def test_tables_of_one_study_count_once() -> None:
    lines = [
        {"study": study, "data": name, "seed": 0, "epsilon": 1.0, "value": value, "log_loss": loss}
        for study, name, losses in (("x", "x1", (1.0, 3.0)), ("x", "x2", (1.0, 1.0)), ("y", "y1", (1.0, 2.0)))
        for value, loss in zip((RULE, "a"), losses, strict=True)
    ]
    assert differences(pd.DataFrame(lines), ["a"], "log_loss")["a"].tolist() == [1.0, 1.0]


def test_several_fits_of_the_rule_are_one_rule() -> None:
    lines = [
        {"study": "x", "data": "x1", "seed": 0, "epsilon": 1.0, "value": value, "log_loss": loss}
        for value, loss in zip([*rules(3), "a"], (1.0, 2.0, 6.0, 5.0), strict=True)
    ]
    assert differences(pd.DataFrame(lines), ["a"], "log_loss")["a"].tolist() == [2.0]
    assert all(tuned(value) == TUNING for value in rules(3))


def test_upper_bounds_of_numbers_are_declared_too_high_and_nothing_else_is() -> None:
    columns = {
        "age": {"kind": "numeric", "lower": 10.0, "upper": 30.0},
        "sex": {"kind": "categorical", "categories": ["f", "m"]},
    }
    declared = Schema.from_dict({"label": {"column": "y", "classes": [0, 1]}, "columns": columns})
    wide = too_wide(declared, 3.0)
    assert (wide.columns["age"].lower, wide.columns["age"].upper) == (10.0, 90.0)
    assert wide.columns["sex"] == declared.columns["sex"]
    assert too_wide(declared, 0.0) == declared


def test_numbers_are_replaced_by_name() -> None:
    assert tuned(RULE) == TUNING
    made = tuned("planning.noisy_sweeps=3+sweeping.refreshed=(0, 1)")
    assert (made.planning.noisy_sweeps, made.sweeping.refreshed) == (3, (0, 1))
    with pytest.raises(TypeError):
        tuned("planning.no_such_number=1")


def test_all_values_may_have_the_same_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    X = pd.DataFrame({"a": np.arange(400) % 20.0})
    columns = {"a": {"kind": "numeric", "lower": 0.0, "upper": 20.0}}
    schema = Schema.from_dict({"label": {"column": "y", "classes": [0, 1]}, "columns": columns})
    table = data.Table("made", X, np.asarray(X["a"] > 9).astype(np.int64), schema)
    monkeypatch.setattr(data, "load", lambda _: table)
    monkeypatch.setattr(data, "split", lambda table, _: (table, table))
    monkeypatch.setattr(data, "table_tasks", dict)

    def losses(same_noise: bool) -> set[float]:
        return {fit("made", 0, 1.0, RULE, False, same_noise=same_noise)["log_loss"] for _ in range(2)}

    assert (len(losses(True)), len(losses(False))) == (1, 2)
