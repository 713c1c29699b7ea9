"""Numbers are judged on studies that did not choose them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks import data
from tacit.additive import learn
from tacit.additive.tuning import TUNING
from tacit.schema.schema import Schema
from tools.real_tables import (
    RULE,
    WHOLE_BINS,
    differences,
    fit,
    fitted,
    left_out,
    rules,
    table,
    too_wide,
    tuned,
    varied,
)


def test_a_value_that_helps_everywhere_keeps_its_gain_and_one_study_alone_buys_none() -> None:
    everywhere = pd.DataFrame({"a": [-0.02, -0.01, -0.03]}, index=["x", "y", "z"])
    assert left_out(everywhere).tolist() == [-0.02, -0.01, -0.03]
    lucky = pd.DataFrame({"a": [-0.3, 0.1, 0.1]}, index=["x", "y", "z"])
    assert lucky["a"].mean() < 0  # chosen on all, it looks like a gain
    assert left_out(lucky).tolist() == [0.0, 0.1, 0.1]


def test_what_is_chosen_on_all_studies_is_flattered_by_them() -> None:
    lucky = pd.DataFrame({"a": [-0.3, 0.1, 0.1], "b": [0.1, 0.2, 0.3]}, index=["x", "y", "z"])
    assert fitted(lucky).tolist() == [-0.3, 0.1, 0.1]
    assert left_out(lucky).tolist() == [0.0, 0.1, 0.1]
    assert fitted(lucky[["b"]]).tolist() == [0.0, 0.0, 0.0]  # the rule is best


def test_fitted_and_left_out_stand_side_by_side() -> None:
    lines = [
        {"study": s, "data": s, "seed": 0, "epsilon": 1.0, "q": 1.0, "value": v, "log_loss": loss, "auc": 0.7}
        for s, losses in (("x", (1.0, 0.7)), ("y", (1.0, 1.1)), ("z", (1.0, 1.1)))
        for v, loss in zip((RULE, "a"), losses, strict=True)
    ]
    head, _, losses, auc = table(pd.DataFrame(lines), ["a"])
    assert head.endswith("| a | chosen on all | chosen on the others |")
    assert losses.count("-0.0333") == 2  # the value's own mean, and chosen on all
    assert "| +0.0667 ± 0.0333 |" in losses
    assert auc.endswith("|  |  |")


def test_columns_may_release_their_bins_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    before = learn.natural_modes
    with varied(WHOLE_BINS):
        assert learn.natural_modes(np.full(3, 1 / 3), np.eye(3), 1.0).tolist() == np.eye(3).tolist()
        assert learn.principal_modes is learn.natural_modes
    assert learn.natural_modes is before
    assert tuned(WHOLE_BINS) == TUNING
    rows = made_table()
    monkeypatch.setattr(data, "load", lambda _: rows)
    monkeypatch.setattr(data, "split", lambda table, _: (table, table))
    monkeypatch.setattr(data, "table_tasks", dict)
    results = [fit("made", 0, 1.0, value, False, same_noise=True)["log_loss"] for value in (RULE, WHOLE_BINS)]
    assert results[0] != results[1]


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


def made_table() -> data.Table:
    X = pd.DataFrame({"a": np.arange(400) % 20.0})
    columns = {"a": {"kind": "numeric", "lower": 0.0, "upper": 20.0}}
    schema = Schema.from_dict({"label": {"column": "y", "classes": [0, 1]}, "columns": columns})
    return data.Table("made", X, np.asarray(X["a"] > 9).astype(np.int64), schema)


def test_all_values_may_have_the_same_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = made_table()
    monkeypatch.setattr(data, "load", lambda _: rows)
    monkeypatch.setattr(data, "split", lambda table, _: (table, table))
    monkeypatch.setattr(data, "table_tasks", dict)

    def losses(same_noise: bool) -> set[float]:
        return {fit("made", 0, 1.0, RULE, False, same_noise=same_noise)["log_loss"] for _ in range(2)}

    assert (len(losses(True)), len(losses(False))) == (1, 2)
