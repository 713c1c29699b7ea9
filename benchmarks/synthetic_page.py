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
NAMES = {
    "additive": "AdditiveBoost",
    "dp_ebm": "DP-EBM",
    "dp_ebm_fast": "rate 0.1",
    "smartnoise_aim": "AIM",
    "dpmm_mst": "MST",
    "dpmm_privbayes": "PrivBayes",
    "dpsynth_swift": "SWIFT",
    "tab_pe": "Tab-PE",
    "tabpate": "votes",
    "binned_rows": "*LightGBM, same bins*",
    "boosted_trees": "*boosted trees*",
}
FIGURES = {
    "auc": "AUC at epsilon 1/4",
}

ABOVE = 0.01
"""A private peer is named where its AUC is higher than our default's by more than this."""

WORDS = """\
LightGBM learns from private synthetic rows: AIM of smartnoise-synth {smartnoise}, MST and PrivBayes of dpmm {dpmm},
SWIFT of dpsynth {dpsynth}, Tab-PE of private-evolution {pe}. "Votes" is TabPATE's idea: forests on disjoint parts vote
on rows drawn from noisy marginals, and a forest learns the noisy shares. One split, one draw: less than .02 may be
chance. Above AdditiveBoost by over {above:g}: {better}. Empty: not run; "late": over time.

    python -m benchmarks.accuracy --synthetic --peer-python PYTHON

A column is its declared categories, or {bins} bins of equal width between its declared bounds, plus a code for
missing; Tab-PE has the numbers. "LightGBM, same bins" has no privacy. Public are the number of rows (not to SWIFT) and,
to Tab-PE, class shares, gaps and whole numbers. Settings are defaults (fewer iterations for dpmm), for Tab-PE its
examples' ({made:,} rows, {rounds} rounds; `adult` {adult_rounds}).
"""


def summary(lines: Iterable[dict[str, Any]], dp_ebm: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """``set -> {"rows", figure -> epsilon -> learner -> value}`` on the splits that the synthetic peers have run.

    Args:
        lines: of all files of results; of our learners the last line of a split counts.
        dp_ebm: lines of DP-EBM where the files have none.
    """
    lines = [*dp_ebm, *lines]
    private = set(synthetic.PEERS) - {synthetic.NOT_PRIVATE}
    seeds: dict[str, set[int]] = {}
    for line in lines:
        if line["who"] in private and "auc" in line:
            seeds.setdefault(line["data"], set()).add(line["seed"])
    results: dict[tuple[str, str, str, str], dict[int, Any]] = {}
    rows: dict[str, int] = {}
    for line in lines:
        name, who, epsilon = line["data"], line["who"], line["epsilon"]
        if who not in NAMES or line["seed"] not in seeds.get(name, ()) or line.get("protocol"):
            continue
        rows[name] = line.get("n", rows.get(name, 0))
        for at in synthetic.EPSILONS if epsilon is None else {f"{epsilon:g}"} & set(synthetic.EPSILONS):
            for figure in FIGURES:
                value = "late" if "failed" in line else line.get(figure)
                results.setdefault((name, figure, at, who), {})[line["seed"]] = value
    out: dict[str, Any] = {name: {"rows": rows[name]} for name in sorted(seeds, key=lambda name: rows[name])}
    for (name, figure, at, who), values in results.items():
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
        dpsynth=synthetic.VERSIONS["dpsynth_swift"],
        pe=synthetic.VERSIONS["tab_pe"],
        above=ABOVE,
        better=", ".join(_better(facts)) or "none",
        bins=synthetic.BINS,
        made=synthetic.MADE,
        rounds=synthetic.ROUNDS,
        adult_rounds=synthetic.ADULT_ROUNDS,
    )
    return "\n".join([words, *(f"{title}:\n\n{_table(facts, figure)}" for figure, title in FIGURES.items())])


def _better(facts: dict[str, Any]) -> list[str]:
    """Which peers are above our default, with their set and epsilon."""
    cells = [
        (name, at, of_set.get("auc", {}).get(at, {})) for name, of_set in facts.items() for at in synthetic.EPSILONS
    ]
    return [
        f"{NAMES[who]} on `{name}` at {at}"
        for name, at, cell in cells
        for who, auc in cell.items()
        if who in (*synthetic.PEERS, "tabpate", "dp_ebm", "dp_ebm_fast") and who != synthetic.NOT_PRIVATE
        if isinstance(auc, float) and auc > cell.get("additive", auc) + ABOVE
    ]


def _table(facts: dict[str, Any], figure: str) -> str:
    lines = [["set", "rows", *NAMES.values()]]
    for name, of_set in facts.items():
        cells = [of_set.get(figure, {}).get(at, {}) for at in synthetic.EPSILONS]
        lines.append([name, f"{of_set['rows']:,}", *(_cell([cell.get(who) for cell in cells]) for who in NAMES)])
    first, *others = ("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join([first, "|---" * len(lines[0]) + "|", *others]) + "\n"


def _cell(values: list[Any]) -> str:
    """The figures at each epsilon; one where they are the same."""
    texts = [f"{value:.3f}" if isinstance(value, float) else value or "–" for value in values]
    return "" if set(texts) == {"–"} else "/".join(dict.fromkeys(texts))


def main() -> None:
    """The command."""
    from benchmarks import accuracy  # which makes the page, and so needs this module

    lines = [
        line
        for path in (accuracy.RESULTS, accuracy.TABLES, accuracy.SYNTHETIC)
        for line in accuracy.known(path).values()
    ]
    facts = summary(lines, tables_dp_ebm())
    FACTS.write_text(json.dumps(facts, indent=1) + "\n")
    print(json.dumps({"benchmark": "synthetic", "auc": {name: of_set["auc"] for name, of_set in facts.items()}}))


if __name__ == "__main__":
    main()
