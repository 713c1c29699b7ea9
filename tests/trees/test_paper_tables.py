"""The tables of Nock and Henecka (2020) as ``benchmarks.paper_tables`` makes them, from results made by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.paper_domains import DOMAINS, Domain
from benchmarks.paper_tables import _cumulative, mean_errors, sign_tests, sizes, table_1, table_3, table_4
from benchmarks.paper_trees import gate, grid_of, key_of
from tacit.privacy.charges import Laplace

FOLDS = np.arange(10) / 1000


def job(error: float, alpha: float | str = 1.0, domain: str = "iris", **changes: Any) -> dict[str, Any]:
    base = {"analysis": "paper", "domain": domain, "eps": 1.0, "depth": 2, "T": 2, "share": 0.5, "M": 10.0, "vq": 10}
    return {**base, "alpha": alpha, "errors": (error + FOLDS).tolist(), **changes}


def test_table_1_counts_domains_on_which_a_strategy_is_best_and_ties_for_all() -> None:
    jobs = [job(0.3, "calibrated"), job(0.2, 0.1), job(0.4, 1.0)]
    jobs += [job(0.1, "calibrated", "wine"), job(0.2, 0.1, "wine"), job(0.1, 1.0, "wine")]
    jobs += [job(0.0, 1.0, "wine", depth=4)]  # no rival has run there: it does not count
    assert table_1(jobs, "paper") == {1.0: (1, 1, 1)}
    assert table_1([*jobs, job(0.05, 0.1, eps=10.0)], "paper") == {1.0: (1, 1, 1)}


def test_sign_tests_count_domains_by_each_strategys_best_setting_and_leave_ties_out() -> None:
    """Calibrated against .1 is 4 : 1 with one tie: twice the binomial tail of 4 or more of 5 is .375."""
    jobs = []
    for name, first in zip("abcdef", (0.1, 0.1, 0.1, 0.1, 0.3, 0.2), strict=True):
        jobs += [job(first, "calibrated", name), job(0.2, 0.1, name), job(0.2, 1.0, name)]
        jobs += [job(0.9, alpha, name, depth=4) for alpha in ("calibrated", 0.1, 1.0)]  # not the best setting
    calibrated, _, others = sign_tests(jobs, "paper")[1.0]
    assert calibrated == ("calibrated", 0.1, 4, 1, pytest.approx(0.375))
    assert others == (0.1, 1.0, 0, 0, 1.0)


def test_table_3_has_the_best_setting_of_each_domain() -> None:
    jobs = [job(0.3), job(0.2, depth=4, T=20), job(0.5, domain="wine"), job(0.1, analysis="sharp")]
    result = table_3(jobs, "paper")
    assert [line[:4] for line in result] == [("iris", 1.0, 4, 20), ("wine", 1.0, 2, 2)]
    assert result[0][4] == pytest.approx(0.2 + FOLDS.mean())
    assert mean_errors(jobs, "paper")[1.0][0] == pytest.approx(0.35 + FOLDS.mean())


def test_table_4_counts_significant_differences_from_forests_of_the_same_depth() -> None:
    rng = np.random.default_rng(0)
    noisy = (0.3 + rng.normal(0, 0.1, 10)).tolist()
    jobs = [job(0.2), job(0.4, domain="wine"), job(0.3, domain="magic", errors=noisy)]
    jobs.append(job(0.3, domain="eeg", errors=[2 * (0.3 + FOLDS[k]) - error for k, error in enumerate(noisy)]))
    jobs += [job(0.3, domain=name, analysis="rf-l") for name in ("iris", "wine", "magic", "eeg")]
    jobs += [job(0.0, analysis="rf-l", depth=4)]
    assert table_4(jobs, "paper", "rf-l", 2) == (1, 1, 2)
    assert table_4(jobs, "paper", "rf-l", 20) == (0, 0, 0)


def test_fits_of_the_grid_have_random_structures_of_their_own() -> None:
    """Else ten folds would be one draw of trees; what a line is of does not depend on the program that made it."""
    world = Domain("made", [np.zeros(4, np.uint16)], (1,), [], np.zeros(4, np.uint8))
    draws = [gate(world, np.arange(4), Laplace(1.0), seed).public_generator.integers(1 << 40) for seed in (1, 2, 1)]
    assert draws[0] == draws[2] != draws[1]
    assert key_of({**job(0.2), "program": "a"}) == key_of({**job(0.3), "program": "b"})


def test_sizes_of_models_by_their_error() -> None:
    """By hand: all folds of two trees of depth 2, and those of five of depth 4 that err on at most .2."""
    jobs = [job(0.1), job(0.196, depth=4, T=5), job(0.5, depth=6)]
    assert sizes(jobs, 0.2) == (15, (pytest.approx(8 / 3), pytest.approx(0.5 * 2 / 1.5**0.5 * 2 / 3**0.5)), (
        pytest.approx((10 * 8 + 5 * 80) / 15), pytest.approx(72 * 2**0.5 / 3)
    ))  # fmt: skip
    assert sizes(jobs, 0.01)[0] == 0


def test_table_2_names_the_domains() -> None:
    """All of the paper's but hill+nonoise, in its order."""
    printed = (
        "transfusion banknote breastwisc ionosphere sonar yeast winered cardiotocography credit abalone qsar winewhite "
        "page mice hill firmteacher magic eeg"
    )
    assert all(ours.replace("_", "").startswith(name) for ours, name in zip(DOMAINS, printed.split(), strict=True))


def test_figure_62_has_its_cells_in_the_grid_of_everything() -> None:
    """Section 17.1's values of every parameter; no more than 10 cells and M = 10 unless asked for."""
    grids = {everything: list(grid_of(False, "paper", everything)) for everything in (False, True)}
    for everything, cells, bounds in ((False, {10}, {10.0}), (True, {10, 50}, {1.0, 10.0, 100.0})):
        results = {name: {job[name] for job in grids[everything]} for name in ("vq", "M", "eps", "depth", "T", "share")}
        assert (results["vq"], results["M"]) == (cells, bounds)
        assert (results["eps"], results["depth"]) == ({0.01, 0.1, 1.0, 10.0, 25.0}, {1, 2, 3, 4, 5, 6})
        assert (results["T"], results["share"]) == ({2, 5, 10, 20}, {0.1, 0.5, 0.9})
    assert len(grids[True]) == 6 * len(grids[False]) == 6 * 5 * 6 * 4 * 3 * 3


def test_figures_are_shares_of_runs_by_error() -> None:
    drawn: dict[str, Any] = {}
    axis = SimpleNamespace(step=lambda x, y, where, label: drawn.update({label: (x.tolist(), y.tolist(), where)}))
    _cumulative(axis, [job(0.3), job(0.1), job(0.2, 0.1)])
    half = FOLDS.mean()
    assert drawn == {
        "alpha 0.1": (pytest.approx([0.2 + half]), [1.0], "post"),
        "alpha 1.0": (pytest.approx([0.1 + half, 0.3 + half]), [0.5, 1.0], "post"),
    }
