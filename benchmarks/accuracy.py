"""AUC on real tables: `python -m benchmarks.accuracy --data adult --epsilon 0.1 1 8`.

Every result is one line of ``benchmarks/results/accuracy.jsonl``; what is there is not run again (``--again`` does).
The last line printed is one JSON object with the figures.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks import data, peers

RESULTS = Path(__file__).parent / "results" / "accuracy.jsonl"
EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
S_BDT = {0.01: 0.787, 0.02: 0.831, 0.03: 0.849, 0.1: 0.876, 0.5: 0.893}
"""S-BDT's published AUC on Adult's complete rows (tuned on the test set), by epsilon, at delta 5e-8."""

DP_EBM_DELTA, S_BDT_DELTA = 1e-6, 5e-8


def complete_rows(table: data.Table) -> data.Table:
    """The rows without a missing cell: what the S-BDT protocol uses (30,162 of Adult's)."""
    return table.rows(np.flatnonzero(~table.X.isna().any(axis=1).to_numpy()))


def jobs(args: argparse.Namespace) -> Iterator[tuple[dict[str, Any], data.Table, data.Table]]:
    """Every run asked for, with its tables."""
    for name in args.data:
        for seed, *both in data.splits(name, args.seeds):
            train, test = map(complete_rows, both) if args.protocol == "s-bdt" else both
            for who in args.who:
                if who in peers.CEILING:
                    if name == "adult" and seed > 0:
                        continue
                    yield {"data": name, "who": who, "epsilon": None, "seed": seed, "delta": None}, train, test
                    continue
                for epsilon in args.epsilon:
                    job = {"data": name, "who": who, "epsilon": epsilon, "seed": seed, "delta": args.delta}
                    yield job, train, test


def run(job: dict[str, Any], train: data.Table, test: data.Table) -> dict[str, Any]:
    """Trains, scores, and returns the job with its result."""
    learner = {**peers.PRIVATE, **peers.CEILING}[job["who"]]
    start = time.perf_counter()
    scores = learner(train, test, job["epsilon"] or math.inf, job["delta"] or 0.0, job["seed"])
    seconds = time.perf_counter() - start
    return {**job, "auc": float(roc_auc_score(test.y, scores)), "seconds": round(seconds, 3), "n": len(train.y)}


def key(job: dict[str, Any]) -> tuple[Any, ...]:
    """What makes two runs the same."""
    return tuple(job[field] for field in ("data", "who", "epsilon", "seed", "delta"))


def known() -> dict[tuple[Any, ...], dict[str, Any]]:
    """Results so far."""
    if not RESULTS.exists():
        return {}
    lines = (json.loads(line) for line in RESULTS.read_text().splitlines() if line)
    return {key(line): line for line in lines}


def summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean AUC over seeds: ``who -> data -> epsilon``."""
    out: dict[str, Any] = {}
    for line in results:
        out.setdefault(line["who"], {}).setdefault(line["data"], {}).setdefault(str(line["epsilon"]), []).append(
            line["auc"]
        )
    return {
        who: {
            name: {epsilon: round(float(np.mean(values)), 4) for epsilon, values in cells.items()}
            for name, cells in tables.items()
        }
        for who, tables in out.items()
    }


def gap_closed(means: dict[str, Any], who: str) -> dict[str, float]:
    """``mean(who - DP-EBM) / mean(ceiling - DP-EBM)`` by epsilon, over the sets for which all three are there."""
    out = {}
    names = [
        name
        for name in means.get(who, {})
        if name in means.get("dp_ebm", {}) and any(name in means.get(peer, {}) for peer in peers.CEILING)
    ]
    ceiling = {
        name: max(means[peer][name]["None"] for peer in peers.CEILING if name in means.get(peer, {})) for name in names
    }
    for epsilon in {epsilon for name in names for epsilon in means[who][name]}:
        both = [name for name in names if epsilon in means[who][name] and epsilon in means["dp_ebm"][name]]
        gain = sum(means[who][name][epsilon] - means["dp_ebm"][name][epsilon] for name in both)
        room = sum(ceiling[name] - means["dp_ebm"][name][epsilon] for name in both)
        if both and room > 0:
            out[epsilon] = round(gain / room, 3)
    return dict(sorted(out.items(), key=lambda item: float(item[0])))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=["adult"], help="data sets, or 'large' or 'all'")
    parser.add_argument("--who", nargs="+", default=["additive"], choices=[*peers.PRIVATE, *peers.CEILING])
    parser.add_argument("--epsilon", nargs="+", type=float, default=None)
    parser.add_argument("--delta", type=float, default=None)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--protocol", choices=["default", "s-bdt"], default="default")
    parser.add_argument("--again", action="store_true", help="run even what is known")
    parser.add_argument("--no-save", action="store_true", help="keep nothing")
    args = parser.parse_args()
    s_bdt = args.protocol == "s-bdt"
    args.epsilon = args.epsilon or list(S_BDT if s_bdt else EPSILONS)
    args.delta = args.delta if args.delta is not None else (S_BDT_DELTA if s_bdt else DP_EBM_DELTA)
    groups = {"large": data.LARGE, "all": data.LARGE + data.SMALL}
    args.data = [name for item in args.data for name in groups.get(item, (item,))]
    done, results = ({} if args.again or s_bdt else known()), []
    for job, train, test in jobs(args):
        line = done.get(key(job))
        if line is None:
            line = run(job, train, test)
            if not args.no_save and not s_bdt:
                with RESULTS.open("a") as file:
                    file.write(json.dumps(line) + "\n")
            shown = (line["who"], line["data"], f"eps {line['epsilon']}", f"seed {line['seed']}")
            print(*shown, f"auc {line['auc']:.4f}", f"{line['seconds']} s", flush=True)
        results.append(line)
    means = summary(results)
    everything = summary([*known().values(), *results])
    closed = {who: gap_closed(everything, who) for who in args.who if who in ("additive", "trees")}
    print(json.dumps({"benchmark": "accuracy", "protocol": args.protocol, "auc": means, "gap_closed": closed}))


if __name__ == "__main__":
    main()
