"""The script that fits the planning rule: its tables, and that it varies what it says."""

from __future__ import annotations

import math
import re
from operator import attrgetter

import numpy as np
import pytest

from tacit.additive.boost import AdditiveBoost
from tacit.additive.planner import Planner
from tacit.additive.tuning import TUNING
from tools.fit_planning_rule import CHOICES, NUMBERS, loss, signal, table, varied, version
from tools.synthetic_tables import (
    DENSE,
    FLAGS,
    PLAIN,
    TEST_ROWS,
    TRUTHS,
    Setting,
    dense_family,
    draw,
    family,
    flag_family,
    heavy_family,
    large_family,
)

pytestmark = pytest.mark.slow  # of the benchmarks, which are not shipped


@pytest.mark.one_draw(reason="the tables of the rule follow from their seeds")
@pytest.mark.parametrize("truth", list(TRUTHS))
def test_a_table_follows_from_its_setting_and_can_be_learned(truth):
    setting = Setting(truth, 600, 7, 1.0, seed=3)
    drawn, again = draw(setting), draw(setting)
    assert drawn.X.equals(again.X)
    assert (drawn.chances == again.chances).all()
    assert drawn.X.shape == (600, 7)
    assert drawn.chances.shape == drawn.y_test.shape == (TEST_ROWS,)
    assert drawn.chances.std() > 0.001
    assert abs(drawn.y_test.mean() - drawn.chances.mean()) < 0.03


def test_the_family_covers_what_it_says():
    settings = family(300)
    assert {setting.truth for setting in settings} == set(PLAIN)
    assert (
        min(setting.rows for setting in settings) < 700 < 50_000 < max(setting.rows for setting in settings) <= 100_000
    )
    signals = [signal(setting) for setting in settings]
    assert min(signals) < 20 < 5000 < max(signals)


def test_in_the_dense_family_columns_hang_together():
    settings = dense_family(60)
    assert {setting.truth for setting in settings} == set(DENSE)
    assert {setting.factors for setting in settings} == {1, 2, 3, 4}
    tied, loose = Setting("linear", 4000, 8, 1.0, 3, factors=1), Setting("linear", 4000, 8, 1.0, 3)
    within = [draw(setting).X.select_dtypes("number").rank().corr().abs().to_numpy() for setting in (tied, loose)]
    assert [np.median(c[np.triu_indices(len(c), 1)]) > 0.5 for c in within] == [True, False]


def test_in_the_family_of_flags_few_rows_have_one():
    settings = flag_family(30)
    assert {setting.truth for setting in settings} == set(FLAGS)
    drawn = draw(Setting("linear", 4000, 30, 1.0, 3, rare=True))
    shares = np.sort([column.value_counts(normalize=True).to_numpy() for _, column in drawn.X.items()], axis=1)[:, 0]
    assert 0.002 < shares.min() < 0.02 < shares.max() < 0.15


def test_in_the_heavy_family_most_of_a_column_lies_in_a_small_part_of_its_range():
    settings = heavy_family(60)
    assert {setting.truth for setting in settings} == set(PLAIN)
    narrow = []
    for heavy in (True, False):
        numbers = draw(Setting("linear", 4000, 30, 1.0, 3, heavy=heavy)).X.select_dtypes("number")
        inner = numbers.quantile(0.95) - numbers.quantile(0.05)
        narrow.append(float((inner / (numbers.max() - numbers.min())).median()))
    assert narrow[0] < 0.2 < 0.3 < narrow[1]


def test_the_large_family_has_very_many_rows_and_noise_of_all_sizes():
    settings = large_family(120)
    assert {setting.truth for setting in settings} == set(DENSE)
    assert 100_000 <= min(setting.rows for setting in settings) < 130_000
    assert 700_000 < max(setting.rows for setting in settings) <= 1_000_000
    signals = [signal(setting) for setting in settings]
    assert min(signals) < 5000 < 150_000 < max(signals)


@pytest.mark.parametrize(
    "choice",
    ["sweeps", "binning", "pairs", "tree_kind", "tree_share", "n_trees", "tree_depth", "columns_per_tree"],
)
@pytest.mark.parametrize("q", [50.0, 300.0, 3000.0])
def test_a_varied_plan_spends_the_whole_budget_and_differs_as_asked(choice, q):
    before = Planner().plan(5000.0, 10, q, False)
    for value in CHOICES[choice]:
        with varied(choice, value):
            chosen = Planner().plan(5000.0, 10, q, False)
        parts = (chosen.binning, chosen.mains, chosen.screening, chosen.pair_counts, chosen.joint, chosen.trees)
        spent = sum(parts)
        assert math.isclose(spent, 1.0)
        if choice in ("sweeps", "n_trees", "tree_depth") and (choice == "sweeps" or chosen.n_trees):
            assert getattr(chosen, choice) == value
        if choice == "columns_per_tree" and chosen.n_trees:
            assert chosen.tree_columns == value
        if choice == "tree_kind":
            assert chosen.tree_noise == 0
            assert bool(chosen.n_trees) == (value != "none" and q * math.sqrt(10) > 900)
        if choice == "tree_share":
            assert math.isclose(chosen.trees, value if before.n_trees else 0, abs_tol=1e-12)
        assert Planner().plan(5000.0, 10, q, False) == before


@pytest.mark.parametrize("choice", NUMBERS)
def test_a_number_of_the_flagship_is_varied_for_as_long_as_asked_and_nothing_else(choice):
    name = NUMBERS[choice]
    group = name.split(".")[0]
    for value in CHOICES[choice]:
        with varied(choice, value):
            now = AdditiveBoost.tuning
            if choice == "tightness" and not value:
                assert now.clipping.joint_below == 0.0
            else:
                assert attrgetter(name)(now) == value
            others = {name: part for name, part in vars(now).items() if name != group}
            assert others == {name: part for name, part in vars(TUNING).items() if name != group}
    assert AdditiveBoost.tuning is TUNING


@pytest.mark.one_draw(reason="the tables of the rule follow from their seeds")
def test_loss_is_a_share_of_what_the_base_rate_loses():
    setting = Setting("linear", 4000, 4, 8.0, seed=1)
    drawn = draw(setting)
    good = loss(setting, drawn, "tree_share", 0.0)
    assert 0 < good["loss"] < 0.3
    blind = Setting("linear", 500, 4, 0.01, seed=1)
    assert loss(blind, draw(blind), "trees.depth", 3)["loss"] > 0.5


def test_the_printed_table_marks_what_is_better_than_the_rule():
    lines = [
        {"face": "additive", "choice": "rule" if value == "rule" else "sweeps", "value": value, "repeat": 0, "q": 200.0}
        | {"setting": {"seed": seed}, "loss": (0.1 if value == 8 else 0.2) + 0.001 * np.sin(seed + len(str(value)))}
        for seed in range(5)
        for value in ("rule", *CHOICES["sweeps"])
    ]
    (row,) = table(lines, "sweeps")[2:]
    assert row.count("**") == 2
    assert "**-0.09" in row or "**-0.1" in row
    more = [{**line, "auc": 1 - line["loss"]} for line in lines]
    (row,) = table(more, "sweeps", "auc")[2:]
    assert row.count("**") == 2
    assert "**+0.09" in row or "**+0.1" in row


def test_results_belong_to_a_version_of_the_source():
    assert re.fullmatch("[0-9a-f]{7,40}", version())
