"""Accuracy on real tables: `python -m benchmarks.accuracy --data all --who additive dp_ebm`.

Every result is one line of the store ``accuracy`` (:mod:`benchmarks.store`); what is there is not run again, except
with ``--again``.
Results of our own learners belong to a version of the source, and the newest version counts. ``--report`` runs nothing:
it writes ``benchmarks/results/accuracy.json`` and the page ``docs/accuracy.md`` from the lines. The last line printed
is one JSON object with the figures. ``--tables`` runs the sixty tables on which the planning rule is judged
(store ``tables``), and prints which share of the gap from DP-EBM to the best of three learners
without privacy is closed (:mod:`benchmarks.accuracy_tables`).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from benchmarks import accuracy_report, accuracy_tables, data, outside, peers, store, synthetic, synthetic_page
from benchmarks.accuracy_report import EPSILONS, LIMIT
from benchmarks.evaluation import calibration_error

HERE = Path(__file__).resolve().parent
RESULTS, TABLES, SYNTHETIC = "accuracy", "tables", "synthetic"
"""Names of the stored results: of the data sets, of the sixty tables, and of the part on synthetic rows beside both."""

S_BDT = {0.01: 0.787, 0.02: 0.831, 0.03: 0.849, 0.1: 0.876, 0.5: 0.893}
"""S-BDT's published AUC on Adult's complete rows (tuned on the test set), by epsilon, at delta 5e-8."""

DELTA, S_BDT_DELTA = 1e-6, 5e-8
ELSEWHERE = (*outside.NAMES, *synthetic.GIVEN)
"""Learners of another Python, which has to be named."""
NOT_PRIVATE = (*peers.CEILING, *peers.FLOOR, synthetic.NOT_PRIVATE)
CHANCES = 20
"""Draws of labels from a model's own probabilities: how wrong exactly right ones look on so few test rows."""


def complete_rows(table: data.Table) -> data.Table:
    """The rows without a missing cell: what the S-BDT protocol uses (30,162 of Adult's)."""
    return table.rows(np.flatnonzero(~table.X.isna().any(axis=1).to_numpy()))


def version() -> str:
    """The last commit that touched the library."""
    command = ["git", "log", "-1", "--format=%h", "--", "src/tacit"]
    return subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=True).stdout.strip()


def jobs(args: argparse.Namespace) -> Iterator[tuple[dict[str, Any], data.Table, data.Table]]:
    """Every run asked for, with its tables."""
    delta = S_BDT_DELTA if args.protocol == "s-bdt" else args.delta
    for name in args.data:
        for seed, *both in data.splits(name, args.first_seed + args.seeds):
            if seed < args.first_seed:
                continue
            train, test = map(complete_rows, both) if args.protocol == "s-bdt" else both
            for who in args.who:
                job: dict[str, Any] = {"data": name, "who": who, "epsilon": None, "seed": seed, "delta": None}
                if args.protocol == "s-bdt":
                    job["protocol"] = "s-bdt"
                if who in peers.OURS:
                    job["version"] = args.version
                if who not in NOT_PRIVATE:
                    yield from (({**job, "epsilon": epsilon, "delta": delta}, train, test) for epsilon in args.epsilon)
                elif name != "adult" or seed == 0:
                    yield job, train, test


def scored(y: np.ndarray, log_odds: np.ndarray) -> dict[str, float]:
    """AUC, log loss and expected calibration error; and what the last would be if the probabilities were right."""
    p = expit(log_odds)
    by_chance = [calibration_error(p, draw < p) for draw in np.random.default_rng(0).random((CHANCES, len(p)))]
    return {
        "auc": float(roc_auc_score(y, log_odds)),
        "log_loss": float(np.logaddexp(0.0, np.where(y == 1, -log_odds, log_odds)).mean()),
        "calibration": calibration_error(p, y == 1),
        "calibration_by_chance": float(np.mean(by_chance)),
    }


def run(job: dict[str, Any], train: data.Table, test: data.Table, learner: peers.Learner) -> dict[str, Any]:
    """Trains, scores, and returns the job with its result, or with ``failed`` where a limit was met."""
    start, used, scores, failed = time.perf_counter(), sum(os.times()[:4]), None, {}
    try:
        scores = learner(train, test, job["epsilon"] or math.inf, job["delta"] or 0.0, job["seed"])
    except TimeoutError as error:
        failed = {"failed": str(error)}
    seconds, processor = time.perf_counter() - start, sum(os.times()[:4]) - used
    figures = failed if scores is None else scored(test.y, scores)
    return {**job, **figures, "seconds": round(seconds, 3), "processor": round(processor, 3), "n": len(train.y)}


def key(job: dict[str, Any]) -> tuple[Any, ...]:
    """What makes two runs the same."""
    fields = [job[field] for field in ("data", "who", "epsilon", "seed", "delta")]
    return (*fields, job.get("protocol"), job.get("version"))


def known(name: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Results so far, oldest first; a later line replaces an earlier one of the same key."""
    return {key(line): line for line in store.read(name)}


def stands_beside(line: dict[str, Any], args: argparse.Namespace) -> bool:
    """Whether a kept line of a private peer belongs beside the results of this run of the sixty tables."""
    of_a_peer = line["who"] in accuracy_tables.PEERS and line["who"] not in args.who
    asked = line["data"] in args.data and line["epsilon"] in args.epsilon and line["seed"] < args.seeds
    return of_a_peer and asked and line["delta"] == args.delta


def arguments() -> argparse.Namespace:
    everyone = [*peers.PRIVATE, *outside.NAMES, *synthetic.PEERS, *peers.CEILING, *peers.FLOOR]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=["all"], help="data sets, or 'large' or 'all'")
    parser.add_argument("--tables", action="store_true", help="the sixty tables, two splits, in every mode")
    parser.add_argument("--synthetic", action="store_true", help=f"a store of its own, {', '.join(synthetic.DATA)}")
    parser.add_argument("--who", nargs="+", default=None, choices=everyone)
    parser.add_argument("--epsilon", nargs="+", type=float, default=None)
    parser.add_argument("--delta", type=float, default=DELTA)
    parser.add_argument("--seeds", type=int, default=None, help="how many splits; 5")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--limit", action="store_true", help=f"epsilon {LIMIT:g} alone: the non-private limit")
    parser.add_argument("--protocol", choices=["default", "s-bdt"], default="default")
    parser.add_argument("--peer-python", type=Path, help=f"a Python with what {', '.join(ELSEWHERE)} need")
    parser.add_argument("--seconds", type=float, default=synthetic.SECONDS, help="of one fit on synthetic rows")
    parser.add_argument("--version", default=None, help="name of our version; the last commit of src/tacit")
    parser.add_argument("--again", action="store_true", help="run even what is known")
    parser.add_argument("--no-save", action="store_true", help="keep nothing")
    parser.add_argument("--report", action="store_true", help="run nothing: write the page and the JSON file")
    args = parser.parse_args()
    if args.protocol == "s-bdt":
        args.data, args.epsilon = ["adult"], args.epsilon or list(S_BDT)
    if args.tables:
        names = list(data.table_tasks())
        args.data = names if args.data == ["all"] else args.data
        args.who, args.seeds = args.who or list(accuracy_tables.MODES), args.seeds or accuracy_tables.SPLITS
        args.epsilon = args.epsilon or ([LIMIT] if args.limit else list(accuracy_tables.EPSILONS))
    if args.synthetic:
        args.data = list(synthetic.DATA) if args.data == ["all"] else args.data
        args.who, args.seeds = args.who or list(synthetic_page.NAMES), args.seeds or 1
        args.epsilon = args.epsilon or [float(epsilon) for epsilon in synthetic.EPSILONS]
    args.who, args.seeds = args.who or ["additive"], args.seeds or 5
    args.epsilon = args.epsilon or ([LIMIT] if args.limit else list(EPSILONS))
    groups = {"large": data.LARGE, "all": data.LARGE + data.SMALL}
    args.data = [name for item in args.data for name in groups.get(item, (item,))]
    args.version = args.version or version()
    if set(args.who) & set(ELSEWHERE) and args.peer_python is None:
        parser.error(f"{', '.join(ELSEWHERE)} need --peer-python, see benchmarks/outside.py and synthetic.py")
    return args


def main() -> None:
    """The command."""
    args = arguments()
    if args.report:
        print(json.dumps({"benchmark": "accuracy", **accuracy_report.write(list(known(RESULTS).values()), S_BDT)}))
        return
    kept = TABLES if args.tables else SYNTHETIC if args.synthetic else RESULTS
    learners = {**peers.PRIVATE, **peers.CEILING, **peers.FLOOR, **synthetic.learners(args.seconds, args.peer_python)}
    if args.peer_python is not None:
        learners |= outside.learners(args.peer_python)
    outcome, results = ({} if args.again else known(kept)), []
    for job, train, test in jobs(args):
        line = outcome.get(key(job))
        if line is None:
            line = run(job, train, test, learners[job["who"]])
            if not args.no_save:
                store.add(kept, line)
            shown = (line["who"], line["data"], f"eps {line['epsilon']}", f"seed {line['seed']}")
            print(*shown, line.get("failed") or f"auc {line['auc']:.4f}", f"{line['seconds']} s", flush=True)
        results += [line] if "auc" in line else []
    if args.tables:
        lines = {key(line): line for line in [*known(TABLES).values(), *results] if "auc" in line}.values()
        dp_ebm = [line for line in lines if (line["who"], line["delta"]) == ("dp_ebm", DELTA)]
        limit = {(line["data"], line["seed"]): line for line in lines if key(line)[1:3] == ("additive", LIMIT)}
        beside = [line for line in lines if stands_beside(line, args)]
        prior = [line for line in lines if line["who"] == "prior"]
        result = accuracy_tables.summary([*results, *beside], dp_ebm, [*limit.values()], prior, data.table_tasks())
        facts = {"version": args.version, **result}
        stores = not args.no_save and args.data == list(data.table_tasks()) and args.delta == DELTA
        if stores and accuracy_tables.is_whole(args.data, args.who, args.epsilon):
            accuracy_tables.FACTS.write_text(json.dumps(facts, indent=1) + "\n")
        elif stores and args.who == ["additive"] and LIMIT not in args.epsilon:  # the default alone, beside what stands
            facts = json.loads(accuracy_tables.FACTS.read_text()) | {"later": facts}
            accuracy_tables.FACTS.write_text(json.dumps(facts, indent=1) + "\n")
        print(json.dumps({"benchmark": "tables", **facts}))
        return
    means = accuracy_report.mean_by_set(results, "auc")
    print(json.dumps({"benchmark": "accuracy", "protocol": args.protocol, "auc": means}))


if __name__ == "__main__":
    main()
