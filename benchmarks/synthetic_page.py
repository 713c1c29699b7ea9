"""What the peers that learn from synthetic rows came to: `python -m benchmarks.synthetic_page`.

Reads the lines of `benchmarks.accuracy` and, beside the sixty tables, the figures of DP-EBM there; writes
``benchmarks/results/synthetic.json``, of which ``python -m benchmarks.accuracy --report`` makes a part of its page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import store, synthetic

FACTS = Path(__file__).resolve().parent / "results" / "synthetic.json"
EPSILONS = ("1", "4")
NAMES = {
    "additive": "AdditiveBoost",
    "dp_ebm": "DP-EBM",
    "dp_ftrl": "DP-FTRL",
    "smartnoise_mst": "smartnoise MST",
    "smartnoise_aim": "smartnoise AIM",
    "dpmm_mst": "dpmm MST",
    "dpmm_aim": "dpmm AIM",
    "dpmm_privbayes": "dpmm PrivBayes",
    "binned_rows": "*LightGBM, same bins*",
    "boosted_trees": "*boosted trees*",
}
FIGURES = {
    "auc": "AUC",
}

WORDS = """\
Peers that release private synthetic rows, from which LightGBM learns with its defaults: AIM and MST of
smartnoise-synth {smartnoise}; AIM, MST and PrivBayes of dpmm {dpmm}. One split and one draw of the noise on `adult`
and {tables} of the sixty tables: differences below about .02 are not significant. Empty: not run; "late": stopped at
the time limit.

    python -m benchmarks.accuracy --tables --data {names} --seeds 1 --epsilon 1 4 --seconds 240 \\
      --who {whos}

A column is its declared categories, or {bins} bins of equal width between its declared bounds, plus a code for
missing; "LightGBM, same bins" learns from those bins without privacy. The number of rows is public to these peers, and
settings are the libraries' defaults (fewer iterations for dpmm's MST and PrivBayes).
"""


def summary(lines: Iterable[dict[str, Any]], dp_ebm: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """``set -> {"rows", figure -> epsilon -> learner -> value}`` on the splits that the synthetic peers have run.

    Args:
        lines: of both files of results; of our learners the last line of a split counts.
        dp_ebm: lines of DP-EBM where the files have none.
    """
    lines = [*dp_ebm, *lines]
    private = set(synthetic.PEERS) - {synthetic.NOT_PRIVATE}
    seeds: dict[str, set[int]] = {}
    for line in lines:
        if line["who"] in private and "auc" in line:
            seeds.setdefault(line["data"], set()).add(line["seed"])
    found: dict[tuple[str, str, str, str], dict[int, Any]] = {}
    rows: dict[str, int] = {}
    for line in lines:
        name, who, epsilon = line["data"], line["who"], line["epsilon"]
        if who not in NAMES or line["seed"] not in seeds.get(name, ()) or line.get("protocol"):
            continue
        rows[name] = line.get("n", rows.get(name, 0))
        for at in EPSILONS if epsilon is None else {f"{epsilon:g}"} & set(EPSILONS):
            for figure in FIGURES:
                value = "late" if "failed" in line else line.get(figure)
                found.setdefault((name, figure, at, who), {})[line["seed"]] = value
    out: dict[str, Any] = {name: {"rows": rows[name]} for name in sorted(seeds, key=lambda name: rows[name])}
    for (name, figure, at, who), values in found.items():
        out[name].setdefault(figure, {}).setdefault(at, {})[who] = _mean(list(values.values()))
    return out


def _mean(values: list[Any]) -> float | str | None:
    if "late" in values:
        return "late"
    known = [value for value in values if value is not None]
    return round(float(np.mean(known)), 4) if known else None


def tables_dp_ebm() -> list[dict[str, Any]]:
    """DP-EBM and boosted trees on the sixty tables, where they were measured once, as lines."""
    lines = store.read("tables")
    trees = [{**line, "who": "boosted_trees"} for line in lines if line["who"] == "hgb"]
    return trees + [line for line in lines if line["who"] == "dp_ebm" and line["epsilon"] in (1.0, 4.0)]


def section(facts: dict[str, Any]) -> str:
    """The part of the page."""
    pins = {pin.split("==")[0]: pin.split("==")[1] for wanted in synthetic.ENVIRONMENTS.values() for pin in wanted}
    words = WORDS.format(
        smartnoise=pins["smartnoise-synth"],
        dpmm=pins["dpmm"],
        whos=" ".join(synthetic.PEERS),
        bins=synthetic.BINS,
        names=" ".join(name for name in facts if name != "adult"),
        tables=len(set(facts) - {"adult"}),
    )
    return "\n".join([words, *(f"{title}:\n\n{_table(facts, figure)}" for figure, title in FIGURES.items())])


def _table(facts: dict[str, Any], figure: str) -> str:
    names = list(NAMES)
    lines = [["set", "rows", "epsilon", *(NAMES[who] for who in names)]]
    for name, of_set in facts.items():
        for at in EPSILONS:
            cells = of_set.get(figure, {}).get(at, {})
            shown = [cells.get(who) for who in names]
            texts = [value if isinstance(value, str) else f"{value:.3f}" if value else "" for value in shown]
            lines.append([name, f"{of_set['rows']:,}", at, *texts])
    first, *others = ("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join([first, "|---" * (len(names) + 3) + "|", *others]) + "\n"


def main() -> None:
    """The command."""
    from benchmarks import accuracy  # which makes the page, and so needs this module

    lines = [line for path in (accuracy.RESULTS, accuracy.TABLES) for line in accuracy.known(path).values()]
    facts = summary(lines, tables_dp_ebm())
    FACTS.write_text(json.dumps(facts, indent=1) + "\n")
    print(json.dumps({"benchmark": "synthetic", "auc": {name: of_set["auc"] for name, of_set in facts.items()}}))


if __name__ == "__main__":
    main()
