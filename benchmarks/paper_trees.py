"""The experiments of Nock and Henecka (2020): ``python -m benchmarks.paper_trees`` (``make paper-trees``).

Ten-fold cross-validation over their domains and their grid, for the algorithm as printed (not private), by the paper's
constants with its unsound steps repaired, analysed sharply, and for gradient trees, the default. Every fit is a line of
the store ``paper_trees`` (:mod:`benchmarks.store`); what is there is not run again. It ends with the paper's Tables 1,
3 and 4, the comparison with gradient trees, and plots of cumulative error.

``--quick`` is a part of the grid (four domains) that takes a few minutes on two cores, and less than twenty on two busy
ones.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

import numpy as np

from benchmarks import store
from benchmarks.paper_domains import DOMAINS, QUICK, Domain, domain
from benchmarks.paper_tables import print_sizes, report
from benchmarks.printed_trees import PrintedBoost
from tacit.binning.tree_bins import grid
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.growing.gradient_trees import learn_gradient_trees
from tacit.noise import PublicChoices, SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.trees.budget import SplitBudget
from tacit.trees.forest import ForestSettings, learn_forest
from tacit.trees.induction import SplitCandidates
from tacit.trees.m_alpha_boost import BoostSettings, MAlphaBoost, PaperBoost

RESULTS = "paper_trees"
EPSILONS = (0.01, 0.1, 1.0, 10.0, 25.0)
DELTA = 1e-6
"""Of gradient trees at their defaults; everything else is pure."""

Job = dict[str, Any]


def grid_of(quick: bool, analysis: str, everything: bool) -> Iterator[Job]:
    """The configurations of one analysis, without the domain."""
    epsilons = (0.1, 1.0, 10.0) if quick else EPSILONS
    depths = (2, 4) if quick else (1, 2, 3, 4, 5, 6)
    if analysis.startswith("gradient"):
        yield from ({"analysis": analysis, "eps": eps} for eps in epsilons)
        return
    if analysis.startswith("rf"):
        for eps, depth in product(epsilons, depths):
            yield {"analysis": analysis, "eps": eps, "depth": depth}
        return
    trees = (2, 20) if quick else (2, 5, 10, 20)
    shares = (0.5,) if quick else (0.1, 0.5, 0.9)
    bounds = (1.0, 10.0, 100.0) if everything else (10.0,)
    cells = (10, 50) if everything else (10,)
    alphas: tuple[Any, ...] = ("gini",) if analysis == "sharp-gini" else ("calibrated", 0.1, 1.0)
    if not quick and analysis == "printed":
        epsilons = (*epsilons, math.inf)
    for eps, depth, t, share, m, vq, alpha in product(epsilons, depths, trees, shares, bounds, cells, alphas):
        if quick and (t, depth) == (20, 2):
            continue
        yield {
            "analysis": analysis, "eps": eps, "depth": depth, "T": t, "share": share, "M": m, "vq": vq, "alpha": alpha,
        }  # fmt: skip


def key_of(job: Job) -> str:
    """What identifies a job in the file of results."""
    return json.dumps({k: job[k] for k in sorted(job) if k not in ("errors", "seconds", "program")})


def gate(world: Domain, rows: np.ndarray, charge: Any, seed: int, relation: str = "replace_one") -> Curator:
    """A curator over some rows of a domain."""
    table = MemoryTable([c[rows] for c in world.codes], world.y[rows], world.n_codes, 2, threads=1)
    reservation = Reservation([charge], Neighbouring(relation), "paper trees")
    return Curator(table, reservation, SeededSource(seed), choices=PublicChoices.of(seed))


def fold_error(world: Domain, job: Job, train: np.ndarray, test: np.ndarray, seed: int) -> float:
    """The test error of one fit."""
    eps, analysis = job["eps"], job["analysis"]
    if analysis == "printed":
        return printed_error(world, job, train, test, seed)
    if analysis == "gradient":
        allowance = Allowance.of(eps, DELTA)
        curator = gate(world, train, allowance.whole, seed, "add_or_remove_one")
        learned: Any = learn_gradient_trees(Budget(curator, allowance), world.columns)
    elif analysis == "gradient-pure":
        allowance = Allowance.of(eps, 0.0)
        learned = learn_gradient_trees(Budget(gate(world, train, allowance.whole, seed), allowance), world.columns)
    else:
        budget = SplitBudget.of(eps, 0.0)
        curator = gate(world, train, budget.whole, seed)
        if analysis.startswith("rf"):
            _, letter, kind = analysis.split("-")
            mechanism = "laplace" if letter == "l" else "exponential"
            settings = ForestSettings(mechanism, 21, job["depth"], 10, kind == "sharp")
            learned = learn_forest(curator, budget, world.columns, settings, len(train))
        else:
            criterion = "gini" if job["alpha"] == "gini" else None
            alpha = 1.0 if job["alpha"] == "gini" else job["alpha"]
            boost = BoostSettings(alpha, criterion, job["T"], job["depth"], job["share"], job["M"], job["vq"])
            maker = PaperBoost if analysis == "paper" else MAlphaBoost
            missing = [False] * len(world.columns)
            learned = maker(curator, budget, world.columns, missing, boost, len(train)).run()
    codes = [made.mapping[c[test]].astype(np.uint8) for made, c in zip(learned.bins, world.codes, strict=True)]
    score = np.full(len(test), getattr(learned, "intercept", 0.0))
    for tree in learned.trees:
        score += tree.values[tree.shape.find(codes)]
    return float(np.mean((score > 0) != world.y[test]))


def printed_error(world: Domain, job: Job, train: np.ndarray, test: np.ndarray, seed: int) -> float:
    """The test error of the algorithm as printed."""
    maps = [grid(column, size, job["vq"]) for column, size in zip(world.columns, world.n_codes, strict=True)]
    codes = [m[c].astype(np.uint8) for m, c in zip(maps, world.codes, strict=True)]
    sizes = [int(m.max()) + 1 for m in maps]
    candidates = SplitCandidates.of(world.columns, sizes, [False] * len(maps))
    boost = PrintedBoost(
        job["eps"], job["alpha"], job["T"], job["depth"], job["share"], job["M"], np.random.default_rng(seed)
    )
    boost.fit([c[train] for c in codes], world.y[train].astype(int), candidates)
    return float(np.mean((boost.score([c[test] for c in codes]) > 0) != world.y[test]))


def run(job: Job) -> Job:
    """All folds of a job; no errors where the library refuses it, which it does before it reads a row."""
    world = domain(job["domain"])
    start = time.perf_counter()
    try:
        errors = [
            round(fold_error(world, job, train, test, 7919 * fold), 6) for fold, (train, test) in enumerate(world.folds)
        ]
    except RequestError:  # many deep trees at epsilon .01: more splits than the budget can buy
        errors = []
    return {**job, "errors": errors, "seconds": round(time.perf_counter() - start, 2)}


def load() -> dict[str, Job]:
    """What has been run."""
    return {key_of(line): line for line in store.read(RESULTS)}


FORESTS = ("rf-l-sharp", "rf-e-sharp", "rf-l-paper", "rf-e-paper")
ANALYSES = ("gradient", "gradient-pure", *FORESTS, "sharp", "sharp-gini", "paper", "printed")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a part of the grid, on the smaller domains")
    parser.add_argument("--everything", action="store_true", help="all values of M and v_q, not only 10 and 10")
    parser.add_argument("--domains", nargs="+", choices=DOMAINS)
    parser.add_argument("--analyses", nargs="+", choices=ANALYSES, default=list(ANALYSES))
    parser.add_argument("--epsilons", nargs="+", type=float, help="only these of the grid's; so with the next three")
    parser.add_argument("--depths", nargs="+", type=int)
    parser.add_argument("--trees", nargs="+", type=int)
    parser.add_argument("--shares", nargs="+", type=float)
    parser.add_argument("--bounds", nargs="+", type=float, help="M; 10, with --everything all")
    parser.add_argument("--cells", nargs="+", type=int, help="v_q; 10, with --everything all")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--report", action="store_true", help="only print what there is, of what the options name")
    parser.add_argument("--sizes", action="store_true", help="only print sizes of models by error, of what is there")
    args = parser.parse_args()
    chosen = {"eps": args.epsilons, "depth": args.depths, "T": args.trees, "share": args.shares}
    usual = ([], []) if args.everything else ([10.0], [10])
    chosen |= {"M": args.bounds or usual[0], "vq": args.cells or usual[1]}
    result = load()
    names = args.domains or (QUICK if args.quick else DOMAINS)

    def is_named(job: Job) -> bool:
        return all(not wanted or job.get(field, wanted[0]) in wanted for field, wanted in chosen.items())

    if not (args.report or args.sizes):
        jobs = [
            {"domain": name, **job}
            for analysis in args.analyses
            for job in grid_of(args.quick, analysis, args.everything)
            for name in names
            if is_named(job)
        ]
        work(jobs, result, args.jobs)
    ran = [job for job in result.values() if job["errors"]]
    wanted = [j for j in ran if j["domain"] in names and j["analysis"] in args.analyses and is_named(j)]
    if args.sizes:
        print_sizes(wanted)
        return
    report(wanted if args.report else ran)


def work(jobs: list[Job], done: dict[str, Job], processes: int) -> None:
    """Runs what is not done yet, and says how far it is."""
    todo = [job for job in jobs if key_of(job) not in done]
    print(f"{len(jobs)} configurations, {len(jobs) - len(todo)} of them done before", flush=True)
    if not todo:
        return
    start = time.perf_counter()
    with ProcessPoolExecutor(processes) as pool:
        futures = [pool.submit(run, job) for job in todo]
        for number, future in enumerate(as_completed(futures), 1):
            result = future.result()
            done[key_of(result)] = result
            store.add(RESULTS, result)
            if number % max(len(todo) // 50, 1) == 0 or number == len(todo):
                took = time.perf_counter() - start
                left = took / number * (len(todo) - number)
                print(f"{number}/{len(todo)}  {took / 60:.1f} min, about {left / 60:.1f} to go", flush=True)
    used = getrusage(RUSAGE_CHILDREN)
    print(f"{(used.ru_utime + used.ru_stime) / 60:.1f} minutes of processor", flush=True)


if __name__ == "__main__":
    main()
