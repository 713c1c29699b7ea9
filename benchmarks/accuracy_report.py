"""What the lines of the accuracy benchmark say: gap closed, losses to DP-EBM, monotonicity, the limit."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks import data, peers, program

HERE = Path(__file__).resolve().parent
SUMMARY = HERE / "results" / "accuracy.json"
PAGE = HERE.parent / "docs" / "accuracy.md"
EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
LIMIT = 1e6
"""The epsilon that stands for no privacy: ``--limit`` of :mod:`benchmarks.accuracy` runs our learners there."""
GAP_AIMS = {0.1: 0.5, 0.5: 0.6, 1.0: 0.6, 2.0: 0.7, 4.0: 0.75, 8.0: 0.8}
ADULT_AIMS = {0.1: 0.896, 0.5: 0.909, 1.0: 0.913, 2.0: 0.916, 4.0: 0.919, 8.0: 0.921}
NEAR, NEAR_AIM = 0.01, 0.7
"""At the limit a set counts when it is within this AUC of tuned boosted trees; aimed at on this share of the sets."""

LEVEL = 0.01
"""Of the paired t-test of a loss to DP-EBM."""

CLASSES = {who: "BoostedTreesClassifier" if who == "trees" else "AdditiveBoostClassifier" for who in peers.OURS}
"""Whose golden fits change when the program behind the lines of a learner does."""

Cells = dict[tuple[str, str, float | None], dict[int, float]]
"""``(learner, set, epsilon) -> {seed: value}``."""


def mean_by_set(results: Iterable[dict[str, Any]], what: str) -> dict[str, Any]:
    """Mean over splits: ``learner -> set -> epsilon -> value``."""
    out: dict[str, Any] = {}
    for (who, name, epsilon), values in cells(results, what).items():
        out.setdefault(who, {}).setdefault(name, {})[str(epsilon)] = round(float(np.mean(list(values.values()))), 4)
    return out


def cells(results: Iterable[dict[str, Any]], what: str) -> Cells:
    """Values by learner, set and epsilon, then by split; lines that do not have it are left out."""
    out: Cells = {}
    for line in results:
        if what in line:
            out.setdefault((line["who"], line["data"], line["epsilon"]), {})[line["seed"]] = line[what]
    return out


def newest(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lines of our own learners only as far as they are of the newest version of each learner and :func:`part`."""
    last = {(line["who"], part(line)): line.get("version") for line in lines}
    return [line for line in lines if line.get("version") == last[line["who"], part(line)]]


def part(line: dict[str, Any]) -> str:
    """Which part of the benchmark a line belongs to."""
    if line.get("delta") == 0.0:
        return "pure"
    return str(line.get("protocol") or ("limit" if line["epsilon"] == LIMIT else "main"))


def ceiling(auc: Cells, name: str, seeds: Iterable[int]) -> float:
    """Mean AUC of the best of the non-private learners; ``adult`` has one split only."""
    seeds = [0] if name == "adult" else list(seeds)
    means = [
        np.mean([values[seed] for seed in seeds])
        for peer in peers.CEILING
        if set(seeds) <= set(values := auc.get((peer, name, None), {}))
    ]
    return float(max(means)) if means else math.nan


def gap_closed(
    auc: Cells,
    who: str,
    names: Iterable[str] = data.LARGE,
    at: Callable[[float], float | None] = lambda epsilon: epsilon,
) -> dict[str, dict[str, float]]:
    """``mean(who - DP-EBM) / mean(ceiling - DP-EBM)`` by epsilon, on the splits that all three have.

    ``at`` says at which epsilon ``who`` is taken beside DP-EBM's.
    """
    out = {}
    for epsilon in EPSILONS:
        gains, rooms = [], []
        for name in names:
            ours, ebm = auc.get((who, name, at(epsilon)), {}), auc.get(("dp_ebm", name, epsilon), {})
            common = set(ours) & set(ebm)
            if name != "adult":
                common &= set.union(set(), *(set(auc.get((peer, name, None), {})) for peer in peers.CEILING))
            best = ceiling(auc, name, common) if common else math.nan
            if math.isfinite(best):
                base = float(np.mean([ebm[seed] for seed in common]))
                gains.append(float(np.mean([ours[seed] for seed in common])) - base)
                rooms.append(best - base)
        if gains and sum(rooms) > 0:
            out[str(epsilon)] = {"sets": len(gains), "closed": round(sum(gains) / sum(rooms), 3)}
    return out


def paired(first: dict[int, float], second: dict[int, float]) -> dict[str, float]:
    """Mean difference over common splits, and the p of the one-sided paired t-test that it is not negative."""
    common = sorted(set(first) & set(second))
    difference = np.array([first[seed] - second[seed] for seed in common])
    if len(common) < 2 or difference.std() == 0:
        p = 1.0 if not common or difference.mean() >= 0 else 0.0
    else:
        p = float(stats.ttest_1samp(difference, 0.0, alternative="less").pvalue)
    mean = float(difference.mean()) if common else math.nan
    return {"splits": len(common), "difference": round(mean, 4), "p": round(p, 4)}


def below_dp_ebm(auc: Cells, who: str) -> list[dict[str, Any]]:
    """Sets and epsilons at which ``who`` is below DP-EBM on average."""
    out = []
    for (learner, name, epsilon), values in sorted(auc.items(), key=str):
        if learner == who and epsilon in EPSILONS and ("dp_ebm", name, epsilon) in auc:
            result = paired(values, auc["dp_ebm", name, epsilon])
            if result["difference"] < 0:
                out.append({"data": name, "epsilon": epsilon, **result})
    return out


def falls(auc: Cells, who: str) -> list[dict[str, Any]]:
    """Where the mean AUC is lower at a larger epsilon."""
    out = []
    for name in data.LARGE + data.SMALL:
        for low, high in pairwise(EPSILONS):
            if (who, name, low) in auc and (who, name, high) in auc:
                result = paired(auc[who, name, high], auc[who, name, low])
                if result["difference"] < 0:
                    out.append({"data": name, "from": low, "to": high, **result})
    return out


def pure(own: Cells, auc: Cells) -> dict[str, dict[str, dict[str, float]]]:
    """The learners at delta 0 beside DP-EBM, which keeps its delta: ``learner -> epsilon -> figures``.

    The mean AUC of both over the sets and splits that both have, on how many sets the learner is above, of how many.
    """
    out: dict[str, Any] = {}
    for who, epsilon in sorted({(who, epsilon) for who, _, epsilon in own}, key=str):
        pairs = []
        for name in data.LARGE + data.SMALL:
            ours, ebm = own.get((who, name, epsilon), {}), auc.get(("dp_ebm", name, epsilon), {})
            if common := set(ours) & set(ebm):
                pairs.append([float(np.mean([values[seed] for seed in common])) for values in (ours, ebm)])
        if pairs:
            mean, peer = np.mean(pairs, axis=0)
            above = sum(first > second for first, second in pairs)
            results = {
                "auc": round(float(mean), 4),
                "dp_ebm": round(float(peer), 4),
                "above": above,
                "sets": len(pairs),
            }
            out.setdefault(who, {})[f"{epsilon:g}"] = results
    return out


def limit(auc: Cells, who: str) -> dict[str, dict[str, float]]:
    """At the limit: AUC of ``who``, of tuned boosted trees, and their difference, on the splits that both have."""
    out = {}
    for name in data.LARGE + data.SMALL:
        ours, trees = auc.get((who, name, LIMIT), {}), auc.get(("boosted_trees", name, None), {})
        common = set(ours) & set(trees)
        if common:
            pair = [float(np.mean([values[seed] for seed in common])) for values in (ours, trees)]
            out[name] = {"ours": round(pair[0], 4), "boosted_trees": round(pair[1], 4), "splits": len(common)}
            out[name]["difference"] = round(pair[0] - pair[1], 4)
    return out


def means_over_sets(values: Cells, names: Iterable[str] = data.LARGE) -> dict[str, dict[str, dict[str, float]]]:
    """``learner -> epsilon -> {mean, sets}`` over the sets that are there."""
    out: dict[str, Any] = {}
    for who, epsilon in sorted({(who, epsilon) for who, _, epsilon in values}, key=str):
        results = [
            np.mean(list(values[who, name, epsilon].values())) for name in names if (who, name, epsilon) in values
        ]
        if results:
            out.setdefault(who, {})[str(epsilon)] = {"mean": round(float(np.mean(results)), 4), "sets": len(results)}
    return out


def summarised(lines: list[dict[str, Any]], s_bdt: dict[float, float]) -> dict[str, Any]:
    """Every figure of the page."""
    lines = newest(lines)
    main = [line for line in lines if part(line) in ("main", "limit")]
    auc = cells(main, "auc")
    ours = [who for who in peers.OURS if any(key[0] == who for key in auc)]
    check = mean_by_set([line for line in lines if line.get("protocol") == "s-bdt"], "auc")
    near = {who: limit(auc, who) for who in ours}
    return {
        "versions": {f"{line['who']}, {part(line)}": line["version"] for line in lines if "version" in line},
        "programs": {
            who: dict(Counter(program.made_by(line, CLASSES[who]) for line in main if line["who"] == who))
            for who in ours
        },
        "auc": mean_by_set(main, "auc"),
        "splits": {who: _splits(auc, who) for who in sorted({key[0] for key in auc})},
        "means": {what: means_over_sets(cells(main, what)) for what in ("auc", "log_loss", "calibration")},
        "gap_closed": {
            who: gap_closed(auc, who) for who in sorted({key[0] for key in auc} - {"dp_ebm"}) if _private(who)
        },
        "gap_closed_without_eeg": gap_closed(auc, "additive", [name for name in data.LARGE if name != "eeg_eye_state"]),
        "gap_closed_without_privacy": {
            "boosted_trees": gap_closed(auc, "boosted_trees", at=lambda _: None),
            "additive": gap_closed(auc, "additive", at=lambda _: LIMIT),
        },
        "gap_aims": {str(epsilon): aim for epsilon, aim in GAP_AIMS.items()},
        "below_dp_ebm": {who: below_dp_ebm(auc, who) for who in ours},
        "falls": {who: falls(auc, who) for who in ours},
        "limit": near,
        "pure": pure(cells([line for line in lines if part(line) == "pure"], "auc"), auc),
        "limit_share": {who: _share_near(found) for who, found in near.items() if found},
        "s_bdt": {"published": {str(epsilon): value for epsilon, value in s_bdt.items()}, **check},
    }


def _private(who: str) -> bool:
    return who not in peers.CEILING


def _share_near(found: dict[str, dict[str, float]]) -> float:
    large = [facts["difference"] for name, facts in found.items() if name in data.LARGE]
    return round(float(np.mean([difference >= -NEAR for difference in large])), 3)


def _splits(auc: Cells, who: str) -> str:
    counts = [len(values) for (learner, name, epsilon), values in auc.items() if learner == who and epsilon != LIMIT]
    return str(counts[0]) if len(set(counts)) == 1 else f"{min(counts, default=0)} to {max(counts, default=0)}"


def write(lines: list[dict[str, Any]], s_bdt: dict[float, float]) -> dict[str, Any]:
    """Writes the JSON file, the plots and the page; returns the main figures."""
    from benchmarks import accuracy_page, accuracy_plots, accuracy_tables, synthetic_page, wide

    facts = summarised(lines, s_bdt)
    for name, kept in (("tables", accuracy_tables.FACTS), ("synthetic", synthetic_page.FACTS)):
        facts[name] = json.loads(kept.read_text()) if kept.exists() else {}
    facts["rare"] = wide.rare_means()
    SUMMARY.write_text(json.dumps(facts, indent=1) + "\n")
    accuracy_plots.draw(facts, PAGE.parent)
    PAGE.write_text(accuracy_page.page(facts))
    return {name: facts[name] for name in ("versions", "gap_closed", "limit_share")}
