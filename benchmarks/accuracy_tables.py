"""The sixty tables: which share of the gap is closed, and whether the default loses to one of its own modes.

Peers were measured once, on two splits a table (``peers.jsonl`` beside the tables: DP-EBM at delta 1e-6, and boosted
trees, a forest and logistic regression without privacy). The share of the gap is ``sum (ours - DP-EBM) / sum (best -
DP-EBM)`` over tables and splits; the best of three on a test set is flattered by choosing it there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import data

FACTS = Path(__file__).resolve().parent / "results" / "tables.json"
"""The summary of the newest version that ran in every mode, of which ``--report`` makes a part of its page."""

MODES = ("additive", "additive_pairs", "additive_columns")
"""The default, and ``interactions="pairs"`` and False."""

SPLITS, EPSILONS = 2, (0.1, 1.0, 4.0)
"""For which there are peers."""

CEILING = ("hgb", "rf", "lr")


def peers() -> pd.DataFrame:
    """A line per table and split."""
    lines = (data.tables_folder() / "peers.jsonl").read_text().splitlines()
    found = pd.DataFrame([json.loads(line) for line in lines]).rename(columns={"name": "data"})
    return found.assign(best=found[list(CEILING)].max(axis=1))


def is_whole(names: list[str], who: list[str], epsilons: list[float]) -> bool:
    """Whether a run has every table, mode and epsilon, so that its summary may stand for all."""
    return names == list(data.table_tasks()) and set(MODES) <= set(who) and set(EPSILONS) <= set(epsilons)


def summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Per epsilon and learner: mean AUC and log loss, the share of the gap, and tables by .005 or more below DP-EBM.

    Of the default also its difference to each other mode, with its standard error over tables (AUC, log loss); of the
    peers the means alone, on the same tables and splits.
    """
    joined = pd.DataFrame(results).merge(peers(), on=["data", "seed"], suffixes=("", "_peer"))
    return {f"{epsilon:g}": _at(lines, f"ebm{epsilon}") for epsilon, lines in joined.groupby("epsilon")}


def _at(lines: pd.DataFrame, peer: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for who, own in lines.groupby("who"):
        facts = {"auc": own["auc"].mean(), "log_loss": own["log_loss"].mean(), "seconds": own["seconds"].mean()}
        if peer in own:
            by_table = own.groupby("data")[["auc", peer]].mean()
            facts["gap_closed"] = (own["auc"] - own[peer]).sum() / (own["best"] - own[peer]).sum()
            facts["tables_below"] = int((by_table["auc"] < by_table[peer] - 0.005).sum())
        out[str(who)] = {name: round(float(value), 4) for name, value in facts.items()}
    splits = lines.drop_duplicates(["data", "seed"])
    for who, name in {"dp_ebm": peer, "boosted_trees": "hgb", "forest": "rf", "logistic": "lr", "best": "best"}.items():
        if name in splits:
            out[who] = {"auc": round(float(splits[name].mean()), 5)}
    if (loss := peer.replace("ebm", "ebmll")) in splits:
        out["dp_ebm"]["log_loss"] = round(float(splits[loss].mean()), 5)
    for other in set(MODES[1:]) & set(out) if MODES[0] in out else ():
        for figure in ("auc", "log_loss"):
            tables = lines.pivot_table(index="data", columns="who", values=figure)
            gain = (tables[MODES[0]] - tables[other]).dropna()
            error = gain.std() / max(len(gain), 1) ** 0.5
            out[MODES[0]][f"{figure}_beyond_{other}"] = [round(float(gain.mean()), 4), round(float(error), 4)]
    return out
