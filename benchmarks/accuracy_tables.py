"""The sixty tables: which share of the gap is closed, and whether the default loses to one of its own modes.

Peers were measured once, on two splits a table: DP-EBM at delta 1e-6, and boosted trees, a forest and logistic
regression without privacy. The share of the gap is ``sum (ours - DP-EBM) / sum (best - DP-EBM)`` over tables and
splits. The best of three on a test set is flattered by choosing it there, so a second share has the learner that is
best on the table's other split.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks import data, store
from tacit.privacy.budget import Allowance

FACTS = Path(__file__).resolve().parent / "results" / "tables.json"
"""The summary of the newest version that ran in every mode, of which ``--report`` makes a part of its page."""

MODES = ("additive", "additive_pairs", "additive_columns")
"""The default, and ``interactions="pairs"`` and False."""

FAST = "dp_ebm_fast"
"""DP-EBM at learning rate .1: the gap is also measured from the setting that is better in the mean."""

PEERS = ("dp_ftrl", "boosted_adassp", FAST)
"""Private peers that run here; what is kept of them stands beside the modes."""

SPLITS, EPSILONS = 2, (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)

CEILING = ("hgb", "rf", "lr")

DELTA = 1e-6

CALIBRATED_FROM, CALIBRATION = 2000, ("calibration", "calibration_by_chance")
"""Calibration is a mean over tables of so many training rows."""

TOLERANCE, LEVEL = 0.002, 0.01
"""A table counts against the default where it is worse than another mode by more than this, surely."""

BELOW, BELOW_IN_NOISE = 0.005, 0.02
"""A table is below DP-EBM where its AUC is lower by more than this, by the second at epsilon .1."""

SURE_FROM, WORSE_THAN_PRIOR = 70.0, 0.002
"""``q = n mu / sqrt(d)`` from which log loss should not exceed that of the class shares, by more than this."""


def peers(dp_ebm: Sequence[dict[str, Any]] = ()) -> pd.DataFrame:
    """A line per table and split: the three, the best of them here and on the other split, DP-EBM by epsilon."""
    lines = pd.DataFrame([line for line in store.read("tables") if line["who"] in CEILING])
    wide = lines.pivot(index=["data", "seed"], columns="who", values="auc").reset_index()
    return with_dp_ebm(with_best(wide), dp_ebm)


def with_best(found: pd.DataFrame) -> pd.DataFrame:
    """With ``best``, the best of three on each split, and ``best_elsewhere``, who is best on the table's others."""
    three = found[list(CEILING)]
    elsewhere = found.groupby("data")[list(CEILING)].transform("sum") - three
    chosen = three.to_numpy()[np.arange(len(found)), elsewhere.to_numpy().argmax(axis=1)]
    return found.assign(best=three.max(axis=1), best_elsewhere=chosen)


def with_dp_ebm(found: pd.DataFrame, lines: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """With DP-EBM's AUC and log loss (``ebm1.0``, ``ebmll1.0``) at the epsilons that are missing."""
    for epsilon in {line["epsilon"] for line in lines if f"ebm{line['epsilon']}" not in found}:
        own = pd.DataFrame([line for line in lines if line["epsilon"] == epsilon])[["data", "seed", "auc", "log_loss"]]
        names = {"auc": f"ebm{epsilon}", "log_loss": f"ebmll{epsilon}"}
        found = found.merge(own.rename(columns=names), on=["data", "seed"], how="left")
    return found


def is_whole(names: list[str], who: list[str], epsilons: list[float]) -> bool:
    """Whether a run has every table, mode and epsilon, so that its summary may stand for all."""
    return names == list(data.table_tasks()) and set(MODES) <= set(who) and set(EPSILONS) <= set(epsilons)


def summary(
    results: list[dict[str, Any]],
    dp_ebm: list[dict[str, Any]],
    limit: list[dict[str, Any]],
    prior: list[dict[str, Any]] | None = None,
    tasks: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Per epsilon and learner: mean AUC and log loss, the shares of the gap, and tables by .005 or more below DP-EBM.

    ``limit`` are the default's lines without noise; their shares are of the gap at each epsilon. ``prior`` are lines
    of the class shares; tables on which a log loss exceeds theirs are counted. ``tasks`` say which study a table is of.

    ``beyond`` has the default's difference to each other mode, ``falls`` in how many studies the AUC is lower than at
    the epsilon before; of the peers there are the means alone, on the same tables and splits.
    """
    result, tasks = peers(dp_ebm), tasks or {}
    if prior:
        own = pd.DataFrame(prior)[["data", "seed", "log_loss"]].rename(columns={"log_loss": "prior"})
        result = result.merge(own, on=["data", "seed"], how="left")
    joined = pd.DataFrame(results).merge(result, on=["data", "seed"], suffixes=("", "_peer"))
    out = {f"{epsilon:g}": _at(lines, float(epsilon), tasks) for epsilon, lines in joined.groupby("epsilon")}
    free = pd.DataFrame(limit, columns=["data", "seed", "auc", "log_loss"]).merge(result, on=["data", "seed"])
    studied = pd.DataFrame(results)
    studied["study"] = [tasks.get(name, {}).get("study", name) for name in studied["data"]]
    for epsilon, lines in studied.groupby("epsilon"):
        others = set(MODES[1:]) & set(lines["who"]) if MODES[0] in set(lines["who"]) else set()
        out.setdefault(f"{epsilon:g}", {})["beyond"] = {other: beyond(lines, other) for other in sorted(others)}
    for epsilon, facts in falls(studied[studied["who"] == MODES[0]]).items():
        out[f"{epsilon:g}"]["falls"] = facts
    for epsilon, facts in out.items():
        if len(free) and (peer := f"ebm{float(epsilon)}") in free:
            facts["limit"] = _rounded(_means(free) | _shares(free, peer))
    return out


def _means(lines: pd.DataFrame) -> dict[str, float]:
    return {"auc": lines["auc"].mean(), "log_loss": lines["log_loss"].mean()}


def _shares(lines: pd.DataFrame, peer: str) -> dict[str, float]:
    ahead = (lines["auc"] - lines[peer]).sum()
    return {
        "gap_closed": ahead / (lines["best"] - lines[peer]).sum(),
        "gap_closed_elsewhere": ahead / (lines["best_elsewhere"] - lines[peer]).sum(),
    }


def fairer(lines: pd.DataFrame, peer: str) -> pd.Series | None:
    """AUC by table and split of the setting of DP-EBM that is better in the mean; None if it ran in one alone."""
    places = ["data", "seed"]
    fast = lines[lines["who"] == FAST].set_index(places)["auc"]
    usual = lines.drop_duplicates(places).set_index(places)[peer]
    if set(fast.index) != set(usual.index):
        return None
    return fast if fast.mean() > usual.mean() else usual


def _rounded(facts: dict[str, float]) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in facts.items()}


def _at(lines: pd.DataFrame, epsilon: float, tasks: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    peer, by = f"ebm{epsilon}", BELOW_IN_NOISE if epsilon == min(EPSILONS) else BELOW
    fair = fairer(lines, peer) if peer in lines else None
    for who, own in lines.groupby("who"):
        facts = _means(own) | {name: own[name].mean() for name in ("seconds", "processor") if name in own}
        large = own[own["n"] >= CALIBRATED_FROM]
        facts |= {
            name: large[name].mean() for name in CALIBRATION if len(large.get(name, [])) and large[name].notna().all()
        }
        if peer in own:
            by_table = own.groupby("data")[["auc", peer]].mean()
            facts |= _shares(own, peer) | {"tables_below": int((by_table["auc"] < by_table[peer] - by).sum())}
        if fair is not None and who != FAST:
            at = own.set_index(["data", "seed"])
            facts["gap_closed_fair"] = (at["auc"] - fair).sum() / (at["best"] - fair.loc[at.index]).sum()
        if "prior" in own:
            facts |= worse_than_prior(own, epsilon, tasks)
        out[str(who)] = _rounded(facts)
    splits = lines.drop_duplicates(["data", "seed"])
    for who, name in {
        "dp_ebm": peer,
        "boosted_trees": "hgb",
        "forest": "rf",
        "logistic": "lr",
        "best": "best",
        "best_elsewhere": "best_elsewhere",
    }.items():
        if name in splits:
            out[who] = {"auc": round(float(splits[name].mean()), 5)}
    if (loss := peer.replace("ebm", "ebmll")) in splits:
        out["dp_ebm"]["log_loss"] = round(float(splits[loss].mean()), 5)
    if "prior" in splits:
        out["prior"] = {"log_loss": round(float(splits["prior"].mean()), 5)}
    return out


def worse_than_prior(own: pd.DataFrame, epsilon: float, tasks: Mapping[str, Any]) -> dict[str, int]:
    """Tables on which the mean log loss exceeds that of the class shares, and how many of them have ``q`` above 70."""
    by_table = own.groupby("data")[["log_loss", "prior", "n"]].mean()
    worse = by_table[by_table["log_loss"] > by_table["prior"] + WORSE_THAN_PRIOR]
    mu = Allowance.of(epsilon, DELTA).mu
    signals = [n * mu / math.sqrt(len(tasks[name]["columns"])) for name, n in worse["n"].items() if name in tasks]
    return {"worse_than_prior": len(worse), "surely_worse_than_prior": sum(q >= SURE_FROM for q in signals)}


def falls(lines: pd.DataFrame) -> dict[float, dict[str, Any]]:
    """Per epsilon: of how many studies the mean AUC is lower than at the epsilon before, and where surely.

    ``step`` is the mean rise over studies with its standard error; ``sure`` are studies with p < :data:`LEVEL` of the
    one-sided paired t-test over tables and splits.
    """
    wide = lines.pivot_table(index=["study", "data", "seed"], columns="epsilon", values="auc")
    out: dict[float, dict[str, Any]] = {}
    for before, after in pairwise(wide.columns):
        rise = (wide[after] - wide[before]).dropna()
        studies = rise.groupby("study").mean()
        sure = [str(name) for name, own in rise.groupby("study") if paired(own.to_numpy())[1] < LEVEL]
        step = [round(float(value), 4) for value in (studies.mean(), np.nan_to_num(studies.sem()))]
        lower = int((studies < 0).sum())
        out[float(after)] = {"lower": lower, "studies": len(studies), "step": step, "sure": sure}
    return out


def beyond(lines: pd.DataFrame, other: str) -> dict[str, Any]:
    """The default less another mode, by figure: the mean and standard error over tables, and who is surely worse.

    ``worse`` are tables on which it is worse by more than :data:`TOLERANCE`, with p < :data:`LEVEL` of the one-sided
    paired t-test over splits that it is worse at all; so five splits and more can say something. ``studies`` says in
    how many it is worse, and better, by more than that, whatever the test says.
    """
    out: dict[str, Any] = {}
    studies_of = dict(zip(lines["data"], lines["study"], strict=True)) if "study" in lines else {}
    for figure, sign in {"auc": 1.0, "log_loss": -1.0}.items():
        wide = lines.pivot_table(index=["data", "seed"], columns="who", values=figure)
        gain = (wide[MODES[0]] - wide[other]).dropna()
        tables = gain.groupby("data").mean()
        tests = {name: paired(sign * own.to_numpy()) for name, own in gain.groupby("data")}
        worse = [str(name) for name, (mean, p) in tests.items() if mean < -TOLERANCE and p < LEVEL]
        error = tables.std() / max(len(tables), 1) ** 0.5
        out[figure] = [round(float(tables.mean()), 4), round(float(error), 4), *([{"worse": worse}] if worse else [])]
        if "study" in lines:
            studies = sign * gain.groupby(gain.index.get_level_values("data").map(studies_of)).mean()
            counts = [int((way * studies > TOLERANCE).sum()) for way in (-1.0, 1.0)]
            out[f"{figure}_studies"] = [*counts, len(studies)]
    return out


def paired(gains: np.ndarray) -> tuple[float, float]:
    """The mean of differences, and the p-value of the one-sided t-test that it is below zero."""
    if len(gains) < 2 or gains.std() == 0.0:
        return float(gains.mean()), 1.0
    return float(gains.mean()), float(stats.ttest_1samp(gains, 0.0, alternative="less").pvalue)
