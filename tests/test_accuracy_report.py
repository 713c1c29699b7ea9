"""What the accuracy benchmark makes of its lines."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks import accuracy, accuracy_page, accuracy_report, accuracy_tables, data, wide


def line(who, name, epsilon, seed, auc, **more):
    return {"who": who, "data": name, "epsilon": epsilon, "seed": seed, "delta": 1e-6, "auc": auc, **more}


def lines(seeds=4, names=("abalone", "magic")):
    out = []
    for name in names:
        for seed in range(seeds):
            out.append(line("boosted_trees", name, None, seed, 0.9 + 0.001 * seed))
            out.append(line("forest", name, None, seed, 0.8))
            out.append(line("additive", name, 1e6, seed, 0.895, version="b"))
            for epsilon in accuracy_report.EPSILONS:
                out.append(line("dp_ebm", name, epsilon, seed, 0.7 + 0.001 * seed))
                out.append(line("additive", name, epsilon, seed, 0.1, version="a"))
                out.append(line("additive", name, epsilon, seed, 0.8 + 0.001 * seed, version="b", log_loss=0.3))
    order = {None: 0, "a": 1, "b": 2}
    return sorted(out, key=lambda entry: order[entry.get("version")])


def test_half_the_gap_is_half_and_only_the_newest_version_counts():
    auc = accuracy_report.cells(accuracy_report.newest(lines()), "auc")
    closed = accuracy_report.gap_closed(auc, "additive")
    assert {entry["closed"] for entry in closed.values()} == {0.5}
    assert {entry["sets"] for entry in closed.values()} == {2}


def test_the_gap_is_told_for_those_without_privacy_too():
    auc = accuracy_report.cells(accuracy_report.newest(lines()), "auc")
    best = accuracy_report.gap_closed(auc, "boosted_trees", at=lambda _: None)
    free = accuracy_report.gap_closed(auc, "additive", at=lambda _: accuracy_report.LIMIT)
    assert {entry["closed"] for entry in best.values()} == {1.0}  # it is the ceiling
    assert all(entry["closed"] == pytest.approx((0.895 - 0.7015) / 0.2, abs=1e-3) for entry in free.values())


def test_only_splits_that_all_have_count():
    some = [entry for entry in lines() if entry["who"] != "boosted_trees" or entry["seed"] < 2]
    some = [entry for entry in some if entry["who"] != "forest"]
    some += [line("dp_ebm", "abalone", 1.0, 9, 0.0)]
    auc = accuracy_report.cells(accuracy_report.newest(some), "auc")
    assert accuracy_report.gap_closed(auc, "additive")["1.0"]["closed"] == 0.5


@pytest.mark.one_draw(reason="of a p value any threshold fails now and then")
def test_a_sure_loss_is_told_from_chance():
    generator = np.random.default_rng(0)
    worse = {seed: 0.8 - 0.01 + 0.001 * generator.normal() for seed in range(10)}
    noisy = {seed: 0.8 + 0.05 * generator.normal() for seed in range(10)}
    level = dict.fromkeys(range(10), 0.8)
    assert accuracy_report.paired(worse, level)["p"] < 0.001
    assert accuracy_report.paired(level, worse)["p"] > 0.99
    assert accuracy_report.paired(noisy, level)["p"] > 0.01
    assert accuracy_report.paired(level, level)["p"] == 1.0
    changed = [*lines(), *(line("dp_ebm", "magic", 2.0, seed, 0.9 + 0.001 * seed) for seed in range(4))]
    (found,) = accuracy_report.below_dp_ebm(accuracy_report.cells(accuracy_report.newest(changed), "auc"), "additive")
    assert (found["data"], found["epsilon"]) == ("magic", 2.0)
    assert found["p"] < 0.01


def test_pure_fits_stand_beside_dp_ebm_and_in_no_other_figure():
    result = lines()
    before = accuracy_report.summarised(result, {0.1: 0.8})
    pure = [
        {**line("additive", name, 1.0, seed, auc, version="c"), "delta": 0.0}
        for name, auc in (("abalone", 0.75), ("magic", 0.6))
        for seed in range(2)
    ]
    facts = accuracy_report.summarised([*result, *pure], {0.1: 0.8})
    assert facts["pure"] == {"additive": {"1": {"auc": 0.675, "dp_ebm": 0.7005, "above": 1, "sets": 2}}}
    assert {**facts, "pure": {}, "versions": before["versions"]} == before
    assert "| sets on which it is above |  | 1 of 2 |" in accuracy_page.page(facts)
    assert "Pure" not in accuracy_page.page(before)


def test_the_limit_is_compared_on_common_splits():
    facts = accuracy_report.summarised(lines(), {0.1: 0.8})
    assert facts["limit"]["additive"]["magic"]["difference"] == pytest.approx(-0.0065, abs=1e-4)
    assert facts["limit_share"] == {"additive": 1.0}
    assert facts["falls"]["additive"] == []


def test_the_page_names_every_learner():
    text = accuracy_page.page(accuracy_report.summarised(lines(), {0.1: 0.8}))
    for word in ("AdditiveBoost", "DP-EBM", "50 %", "Log loss"):
        assert word in text
    assert "nan" not in text


def test_peers_of_synthetic_rows_stand_in_a_part_of_their_own():
    facts = accuracy_report.summarised([*lines(), line("dpmm_mst", "magic", 1.0, 0, 0.123)], {0.1: 0.8})
    assert "0.123" not in accuracy_page.page(facts)
    facts["synthetic"] = {"magic": {"rows": 5, "auc": {"1": {"dpmm_mst": 0.123}}}}
    assert "| magic | 5 |  |  |  |  | 0.123/– |" in accuracy_page.page(facts)


def test_the_sixty_tables_stand_in_a_part_of_their_own():
    facts = accuracy_report.summarised(lines(), {0.1: 0.8})
    assert "Sixty" not in accuracy_page.page(facts)
    facts["tables"] = {
        "version": "c",
        "0.1": {"additive": {"auc": 0.7, "log_loss": 0.5, "gap_closed_fair": 0.25}},
        "1": {"additive": {"auc": 0.8, "log_loss": 0.4, "gap_closed_fair": 0.5}, "dp_ebm": {"auc": 0.75}},
    }
    text = accuracy_page.page(facts)
    assert "| default | 0.700 | 0.800 |" in text
    assert "| default | 0.500 | 0.400 |" in text
    assert "| default | 25 % | 50 % |" in text
    facts["tables"]["later"] = {"version": "d", "1": {"additive": {"auc": 0.9}}}
    text = accuracy_page.page(facts)
    assert "| default |  | 0.900 |" in text
    assert "of version `d`; all else, differences and counts of tables too, of `c`" in text
    del facts["tables"]["later"]
    assert text.count("| DP-EBM |  | 0.750 |") == 1
    assert "| tables below DP-EBM |" not in text
    facts["tables"]["1"]["additive"] |= {"tables_below": 3.0, "worse_than_prior": 2.0}
    facts["tables"]["1"]["beyond"] = {"additive_pairs": {"auc": [-0.001, 0.002], "auc_studies": [20, 10, 51]}}
    facts["tables"]["1"]["falls"] = {"lower": 4, "studies": 51, "step": [0.01, 0.003], "sure": []}
    text = accuracy_page.page(facts)
    assert "| tables below DP-EBM |  | 3 |" in text
    assert '| AUC less that of `interactions="pairs"` |  | -0.0010 ± 0.0020 |' in text


def test_rare_positives_weigh_as_much_as_their_share_says():
    y, chances = np.array([1, 0, 0, 1, 0]), np.array([0.9, 0.2, 0.5, 0.3, 0.1])
    result = wide.rare_figures(y, np.log(chances / (1 - chances)), 0.25)  # a positive weighs a half
    assert result["total"] == pytest.approx(0.5 * 1.2 + 0.8)
    assert result["log_loss"] == pytest.approx(-np.log([0.9, 0.8, 0.5, 0.3, 0.9]) @ [0.5, 1.0, 1.0, 0.5, 1.0] / 4)
    assert result["calibration"] == pytest.approx(0.5 * 0.1 + 0.2 + 0.5 + 0.5 * 0.7 + 0.1)
    assert result["precision"] == pytest.approx(0.5 * 1.0 + 0.5 * 0.5)
    figures = {name: {"additive": {"1.0": 0.25}, "prior": {"None": 0.5}} for name in wide.RARE_FIGURES}
    text = accuracy_page._rare(figures)
    assert "| default | 0.250 / 0.2500 / 0.25 |" in text
    assert "Without privacy: class shares 0.500 / 0.5000 / 0.50." in text


def test_the_best_elsewhere_is_chosen_on_the_other_splits_alone():
    result = pd.DataFrame({"data": ["a", "b", "a"], "seed": [0, 0, 1], "hgb": [0.9, 0.5, 0.6], "rf": [0.8, 0.6, 0.7]})
    result["lr"] = [0.7, 0.4, 0.5]
    got = accuracy_tables.with_best(result)
    assert got["best"].tolist() == [0.9, 0.6, 0.7]
    assert got["best_elsewhere"].tolist()[::2] == [0.8, 0.6]  # the forest is best on split 1, boosted trees on split 0


def test_dp_ebm_is_taken_from_measurements_where_the_peers_lack_an_epsilon():
    result = pd.DataFrame({"data": ["a", "b"], "seed": [0, 0], "ebm1.0": [0.7, 0.6]})
    lines = [
        {"data": "a", "seed": 0, "epsilon": epsilon, "auc": epsilon / 10, "log_loss": epsilon} for epsilon in (1.0, 2.0)
    ]
    got = accuracy_tables.with_dp_ebm(result, lines)
    assert got["ebm1.0"].tolist() == [0.7, 0.6]
    assert got["ebm2.0"].fillna(-1.0).tolist() == [0.2, -1.0]
    assert got["ebmll2.0"].tolist()[0] == 2.0


def test_the_share_of_the_gap_on_the_sixty_by_hand(monkeypatch):
    by_hand = pd.DataFrame({"data": ["a", "a"], "seed": [0, 1], "hgb": [0.9, 0.8], "rf": [0.8, 0.9], "lr": [0.5, 0.5]})
    by_hand["ebm1.0"] = [0.6, 0.6]
    monkeypatch.setattr(accuracy_tables, "peers", lambda dp_ebm: accuracy_tables.with_best(by_hand))
    ours = [
        {"data": "a", "seed": s, "who": "additive", "epsilon": 1.0, "auc": 0.75, "log_loss": 0.5, "seconds": 1.0}
        for s in (0, 1)
    ]
    ours = [{**line, "n": 1999 + line["seed"], "calibration": 0.1 * line["seed"]} for line in ours]
    free = [{**line, "epsilon": 1000.0, "auc": 0.9} for line in ours]
    facts = accuracy_tables.summary(ours, [], free)["1"]
    assert (facts["additive"]["gap_closed"], facts["additive"]["gap_closed_elsewhere"]) == (0.5, 0.75)
    assert (facts["limit"]["gap_closed"], facts["limit"]["auc"]) == (1.0, 0.9)
    assert facts["additive"]["calibration"] == 0.1  # of split 1 alone, which has 2,000 rows
    fast = [{**line, "who": "dp_ebm_fast", "auc": 0.7} for line in ours]
    assert accuracy_tables.summary([*ours, *fast], [], free)["1"]["additive"]["gap_closed_fair"] == 0.25
    slow = [{**line, "who": "dp_ebm_fast", "auc": 0.5} for line in ours]
    assert accuracy_tables.summary([*ours, *slow], [], free)["1"]["additive"]["gap_closed_fair"] == 0.5


def of_the_sixty(who, name, seed, epsilon, auc, log_loss=0.4):
    seconds = {"seconds": 1.0, "processor": 2.0}
    return line(who, name, epsilon, seed, auc, log_loss=log_loss, n=1000, **seconds)


def test_what_the_default_is_held_against_by_hand(monkeypatch):
    by_hand = pd.DataFrame({"data": ["a", "a", "b", "b"], "seed": [0, 1, 0, 1]})
    by_hand = by_hand.assign(hgb=0.9, rf=0.8, lr=0.7, **{"ebm0.1": 0.715, "ebm1.0": 0.715})
    monkeypatch.setattr(accuracy_tables, "peers", lambda dp_ebm: accuracy_tables.with_best(by_hand))
    auc = {("a", 0.1): 0.7, ("b", 0.1): 0.6, ("a", 1.0): 0.705, ("b", 1.0): 0.8}
    ours = [
        of_the_sixty("additive", name, seed, epsilon, value, 0.71 if value < 0.75 else 0.4)
        for (name, epsilon), value in auc.items()
        for seed in (0, 1)
    ]
    prior = [line("prior", name, None, seed, 0.5, log_loss=0.7) for name in "ab" for seed in (0, 1)]
    few, many = {"columns": {str(j): {} for j in range(4)}}, {"columns": {str(j): {} for j in range(100_000)}}
    tasks = {"a": {"study": "x", **few}, "b": {"study": "x", **many}}
    facts = accuracy_tables.summary(ours, [], [], prior, tasks)
    noisy, clear = facts["0.1"]["additive"], facts["1"]["additive"]
    assert noisy["tables_below"] == 1  # b alone: a is lower by .015, and .02 are allowed there
    assert clear["tables_below"] == 1  # a, by .01 where .005 are allowed
    assert (noisy["worse_than_prior"], clear["worse_than_prior"]) == (2, 1)
    assert (noisy["surely_worse_than_prior"], clear["surely_worse_than_prior"]) == (0, 1)  # q of a: 17 and 200
    assert facts["1"]["falls"] == {"lower": 0, "studies": 1, "step": [0.1025, 0.0], "sure": []}
    assert facts["1"]["prior"] == {"log_loss": 0.7}


def test_a_study_in_which_the_auc_falls_is_counted():
    lines = [
        {"study": name[0], "data": name, "seed": seed, "epsilon": epsilon, "auc": value + 0.0001 * seed * epsilon}
        for name, first, second in (("up", 0.7, 0.75), ("down", 0.7, 0.68), ("dip", 0.7, 0.66))
        for seed in range(6)
        for epsilon, value in ((1.0, first), (2.0, second))
    ]
    (found,) = accuracy_tables.falls(pd.DataFrame(lines)).values()
    assert (found["lower"], found["studies"], found["sure"]) == (1, 2, ["d"])
    assert found["step"][0] == pytest.approx((0.05 - 0.03) / 2 + 0.0003, abs=1e-4)


def test_studies_that_are_worse_and_better_are_counted_and_not_tables():
    lines = [
        {**of_the_sixty(who, name, 0, 1.0, 0.7 + gain * (who == "additive")), "study": study}
        for name, study, gain in (("a", "x", -0.01), ("b", "x", 0.02), ("c", "y", -0.01), ("d", "z", 0.001))
        for who in ("additive", "additive_pairs")
    ]
    result = accuracy_tables.beyond(pd.DataFrame(lines), "additive_pairs")
    assert result["auc_studies"] == [1, 1, 3]


def test_kept_lines_of_peers_stand_beside_a_run_only_where_it_asks():
    class Asked:
        data, epsilon, seeds, who, delta = ["a"], [1.0], 2, ["additive"], 1e-6

    assert accuracy.stands_beside(line("dp_ftrl", "a", 1.0, 0, 0.7), Asked)
    for other in (
        line("dp_ebm", "a", 1.0, 0, 0.7),
        line("dp_ftrl", "b", 1.0, 0, 0.7),
        line("dp_ftrl", "a", 2.0, 0, 0.7),
        line("dp_ftrl", "a", 1.0, 2, 0.7),
        {**line("dp_ftrl", "a", 1.0, 0, 0.7), "delta": 0.0},
    ):
        assert not accuracy.stands_beside(other, Asked)


def test_a_part_of_the_sixty_tables_never_stands_for_all(monkeypatch):
    monkeypatch.setattr(data, "table_tasks", lambda: {"a": {}, "b": {}})
    epsilons, modes = list(accuracy_tables.EPSILONS), list(accuracy_tables.MODES)
    assert accuracy_tables.is_whole(["a", "b"], modes, epsilons)
    assert not accuracy_tables.is_whole(["a"], modes, epsilons)
    assert not accuracy_tables.is_whole(["a", "b"], modes[1:], epsilons)
    assert not accuracy_tables.is_whole(["a", "b"], modes, epsilons[1:])


def test_a_table_counts_against_the_default_where_it_is_surely_worse():
    rows = []
    for name, gains in {"sure": [-0.02, -0.03, -0.025], "noise": [-0.2, 0.1, 0.05], "small": [-0.001] * 3}.items():
        for seed, gain in enumerate(gains):
            common = {"data": name, "seed": seed, "log_loss": 0.5 - gain}
            rows += [{**common, "who": "additive", "auc": 0.7 + gain}]
            rows += [{**common, "who": "additive_pairs", "auc": 0.7, "log_loss": 0.5}]
    result = accuracy_tables.beyond(pd.DataFrame(rows), "additive_pairs")
    assert result["auc"][2] == result["log_loss"][2] == {"worse": ["sure"]}
    assert result["auc"][0] == round((-0.025 - 0.05 / 3 - 0.001) / 3, 4)
    assert result["log_loss"][0] == -result["auc"][0]


def test_right_probabilities_err_by_chance_alone_and_wrong_ones_by_more():
    generator = np.random.default_rng(1)
    log_odds = generator.normal(size=1000)
    y = (generator.random(1000) < 1 / (1 + np.exp(-log_odds))).astype(int)
    right, wrong = accuracy.scored(y, log_odds), accuracy.scored(y, log_odds + 1.0)
    assert right["calibration_by_chance"] == pytest.approx(0.045, abs=0.01)  # .8 sqrt(p (1 - p) / 67) of each group
    assert right["calibration"] == pytest.approx(right["calibration_by_chance"], abs=0.015)
    assert wrong["calibration"] > 3 * wrong["calibration_by_chance"]
