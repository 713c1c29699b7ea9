"""The page `docs/accuracy.md`, made of the figures of the accuracy benchmark."""

from __future__ import annotations

from typing import Any

from benchmarks import accuracy_report as report
from benchmarks import data, peers, synthetic_page
from benchmarks.accuracy_plots import EPSILONS, MEAN, SETS, STYLES

INTRODUCTION = """\
# Accuracy on real tables

This page is written by `python -m benchmarks.accuracy --report` from the lines of
`benchmarks/results/accuracy.jsonl`; `benchmarks/results/accuracy.json` holds the same figures and more.

**Protocol.** Every data set of the benchmark folder with at least 700 rows; bounds and categories are declared, the
same for everybody. Stratified 80/20 splits with seeds 1000, 1001, ...; `adult` has its official split, so its splits
differ in the noise alone. Mice are split by mouse, the EEG in blocks of time. delta is 1e-6, the relation is
add/remove of one row; diffprivlib's learners are pure. Nothing is tuned per set: our learners and DP-EBM run with
their defaults. Our defaults are one rule for all tables, fitted to synthetic ones; where its trees come in, how deep
they are, how far they go and what share they have in little noise, the part and the width of the smooth function before
them, and two choices that matter in the largest noise, were made with an eye on these sets, too
([planning.md](planning.md)).
DP-SGD chooses its learning rate among six by a private random search (Papernot and Steinke 2022), and takes the number
of rows as public. DP-FTRL does so, too, and has the best of twenty settings on the test rows of five other tables. The
ceiling is the best, per set, of boosted trees tuned by cross-validation, a forest, and logistic
regression, all without privacy. "Gap closed" is `mean(ours - DP-EBM) / mean(ceiling - DP-EBM)` over the sets with at
least 1000 rows, `hill_valley_noise` left out as nothing additive can see it, on the splits that all three have run;
other means are over the splits that a learner has run. Log loss counts a probability below one in a million as that.
Calibration is the expected calibration error in 15 groups of equally many rows.
"""
PEER_NAMES = {
    **{who: style[0] for who, style in STYLES.items()},
    "dp_ftrl": "DP-FTRL logistic",
    "boosted_trees": "boosted trees, no privacy",
    "forest": "forest, no privacy",
    "logistic": "logistic, no privacy",
}


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _shown(value: float | None, digits: int = 3) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def page(facts: dict[str, Any]) -> str:
    """The whole page."""
    heads = [f"{float(epsilon):g}" for epsilon in EPSILONS]
    versions = ", ".join(f"{what} at `{version}`" for what, version in facts["versions"].items())
    splits = ", ".join(f"{PEER_NAMES[who]} {count}" for who, count in facts["splits"].items() if who in PEER_NAMES)
    parts = [INTRODUCTION, f"Versions: {versions}. Splits: {splits}.\n", f"![Mean AUC]({MEAN})\n"]
    parts += ["## Gap closed\n", _gaps(facts, heads)]
    parts += ["## AUC, log loss and calibration, means over the sets\n", _means(facts, heads)]
    parts += ["## Where we are below DP-EBM\n", _below(facts)]
    parts += ["## Does more budget always help?\n", _falls(facts)]
    parts += ["## Without privacy\n", _limit(facts)]
    parts += ["## Adult, and S-BDT's protocol\n", _adult(facts, heads)]
    if facts.get("synthetic"):
        parts += ["## Synthetic rows, and DP-FTRL\n", synthetic_page.section(facts["synthetic"])]
    parts += ["## Every set\n", f"![AUC per set]({SETS})\n", _sets(facts, heads)]
    return "\n".join(parts)


def _gaps(facts: dict[str, Any], heads: list[str]) -> str:
    ours, free = PEER_NAMES["additive"], facts["gap_closed_without_privacy"]
    found_by = {label: facts["gap_closed"].get(who, {}) for who, label in PEER_NAMES.items()}
    found_by[f"{ours}, the EEG left out"] = facts["gap_closed_without_eeg"]
    found_by["*tuned boosted trees without privacy*"] = free["boosted_trees"]
    found_by[f"*{ours} without privacy*"] = free["additive"]
    rows = []
    for label, found in found_by.items():
        if found:
            sets = max(entry["sets"] for entry in found.values())
            shown = [_percent(found[epsilon]["closed"]) if epsilon in found else "" for epsilon in EPSILONS]
            rows.append([label, str(sets), *shown])
    rows.append(["*aim*", "", *(_percent(facts["gap_aims"][epsilon]) for epsilon in EPSILONS)])
    return _table(["learner", "sets", *heads], rows)


def _means(facts: dict[str, Any], heads: list[str]) -> str:
    rows = []
    for what, title in (("auc", "AUC"), ("log_loss", "log loss"), ("calibration", "calibration error")):
        for who, label in PEER_NAMES.items():
            found = facts["means"][what].get(who, {})
            if not found:
                continue
            sets = sorted({entry["sets"] for epsilon, entry in found.items() if epsilon != str(report.LIMIT)})
            if who in peers.CEILING:
                shown = [_shown(found["None"]["mean"])] + [""] * (len(EPSILONS) - 1)
            else:
                shown = [_shown(found[epsilon]["mean"]) if epsilon in found else "" for epsilon in EPSILONS]
            rows.append([title, label, " to ".join(map(str, sets[:: max(len(sets) - 1, 1)])), *shown])
    return _table(["", "learner", "sets", *heads], rows)


def _below(facts: dict[str, Any]) -> str:
    out = []
    for who, found in facts["below_dp_ebm"].items():
        sure = [entry for entry in found if entry["p"] < report.LEVEL]
        out.append(
            f"{PEER_NAMES[who]}: lower on average in {len(found)} cells (set and epsilon); with p < {report.LEVEL} of "
            f"the one-sided paired t-test in {len(sure)}.\n"
        )
        if found:
            rows = [
                [
                    entry["data"],
                    f"{entry['epsilon']:g}",
                    f"{entry['difference']:+.4f}",
                    str(entry["splits"]),
                    f"{entry['p']:.3f}",
                ]
                for entry in sorted(found, key=lambda entry: entry["p"])[:15]
            ]
            out.append(_table(["set", "epsilon", "difference", "splits", "p"], rows))
    return "\n".join(out)


def _falls(facts: dict[str, Any]) -> str:
    out = []
    for who, found in facts["falls"].items():
        sure = [entry for entry in found if entry["p"] < report.LEVEL]
        named = [
            f"{entry['data']} from {entry['from']:g} to {entry['to']:g} ({entry['difference']:+.4f})" for entry in sure
        ]
        out.append(
            f"{PEER_NAMES[who]}: the mean AUC is lower at the next larger epsilon in {len(found)} cells, with p < "
            f"{report.LEVEL} in {len(sure)}{': ' + '; '.join(named) if named else ''}.\n"
        )
    return "\n".join(out)


def _limit(facts: dict[str, Any]) -> str:
    out = []
    for who, found in facts["limit"].items():
        if found:
            out.append(
                f"{PEER_NAMES[who]} at epsilon = {report.LIMIT:g} is within {report.NEAR} AUC of tuned boosted trees "
                f"on {_percent(facts['limit_share'][who])} of the sets with at least 1000 rows (aim "
                f"{_percent(report.NEAR_AIM)}).\n"
            )
            rows = [
                [name, _shown(entry["ours"], 4), _shown(entry["boosted_trees"], 4), f"{entry['difference']:+.4f}"]
                for name, entry in found.items()
            ]
            out.append(_table(["set", PEER_NAMES[who], "boosted trees", "difference"], rows))
    return "\n".join(out)


def _adult(facts: dict[str, Any], heads: list[str]) -> str:
    adult = [(who, facts["auc"][who]["adult"]) for who in PEER_NAMES if "adult" in facts["auc"].get(who, {})]
    rows = [
        [PEER_NAMES[who], *(_shown(found.get(epsilon)) for epsilon in EPSILONS)]
        for who, found in adult
        if "None" not in found
    ]
    rows.append(["*aim*", *(_shown(report.ADULT_AIMS[float(epsilon)]) for epsilon in EPSILONS)])
    out = [_table(["learner", *heads], rows)]
    check = facts["s_bdt"]
    ours = check.get("additive", {}).get("adult", {})
    if ours:
        rows = [
            ["AdditiveBoost", *(_shown(ours.get(epsilon)) for epsilon in check["published"])],
            ["S-BDT, as published", *(_shown(value) for value in check["published"].values())],
        ]
        out.append(
            "S-BDT's protocol: complete rows of Adult, delta 5e-8. Their figures are tuned on the test set, ours are "
            "the defaults.\n"
        )
        out.append(_table(["learner", *check["published"]], rows))
    return "\n".join(out)


def _sets(facts: dict[str, Any], heads: list[str]) -> str:
    rows = []
    for name in data.LARGE + data.SMALL:
        for who, label in PEER_NAMES.items():
            found = facts["auc"].get(who, {}).get(name, {})
            shown = [_shown(found.get(epsilon)) for epsilon in EPSILONS]
            if "None" in found:
                shown = [_shown(found["None"])] + [""] * (len(EPSILONS) - 1)
            if any(shown):
                rows.append([name, label, *shown])
    return _table(["set", "learner", *heads], rows)
