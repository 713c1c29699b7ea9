"""What is read off the results of ``benchmarks.halfspaces``: who is lowest in how many cells, tables, a drawing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks import store

DOCS = Path(__file__).parents[1] / "docs"
PAGE, FIGURE = DOCS / "halfspaces.md", DOCS / "figures" / "halfspaces.svg"
START, END = "<!-- python -m benchmarks.halfspaces --page -->", "<!-- end -->"

CLOSE = 0.001
"""Errors this close count as equal: a tenth of a percent, four rows of the test."""

OURS = "tacit"
LEARNERS = (OURS, "one noisy centre", "objective perturbation", "DP-SGD", "random projection", "diffprivlib", "opacus")
KINDS = {
    "same": "made, same distances to the boundary in all d",
    "round": "made, spherical",
    "spread": "made, coordinates of very different spread",
    "minority .1": "made, a tenth of the rows on the other side of the centre",
    "minority .2": "made, a fifth of the rows on the other side of the centre",
    "tables": "real tables",
}
PEERS = tuple(name for name in LEARNERS if name not in ("one noisy centre", "random projection"))
"""The columns of the table: learners of general use."""
STYLES = ("o-", "*-", "s--", "^--", "d--", "v:", "x:")

Cell = dict[str, Any]


def read_cells() -> list[Cell]:
    """One dictionary per cell: its setting, ``errors`` by learner, and ``limits`` in seconds where there is none."""
    results: dict[str, Cell] = {}
    for line in store.read("halfspaces"):
        job, result = line["job"], line["result"]
        setting = {name: job[name] for name in ("data", "n", "d", "margin", "epsilon")}
        cell = results.setdefault(json.dumps(setting), {**setting, "errors": {}, "limits": {}})
        if "timeout" in result:
            cell["limits"][job["learner"]] = result["timeout"]
        else:
            cell["errors"][job["learner"]] = result["error"]
            cell["limits"].pop(job["learner"], None)
        cell["size"] = (result["n"], result["d"])
    return [cell for cell in results.values() if OURS in cell["errors"] and "DP-SGD" in cell["errors"]]


def kind_of(cell: Cell) -> str:
    """The group that a cell is counted in."""
    return str(cell["data"]) if cell["margin"] is not None else "tables"


def margin_over_best(cell: Cell) -> float:
    """Our error less the lowest of a peer's."""
    peers = [error for name, error in cell["errors"].items() if name in LEARNERS and name != OURS]
    return float(cell["errors"][OURS] - min(peers))


def summary(cells: list[Cell]) -> dict[str, object]:
    """In what share of the cells our error is the lowest: within ``CLOSE`` of the best peer, exactly, and alone."""

    def share(wanted: Callable[[float], bool], among: list[Cell]) -> float:
        return round(sum(wanted(margin_over_best(cell)) for cell in among) / max(1, len(among)), 3)

    kinds = {kind: [cell for cell in cells if kind_of(cell) == kind] for kind in KINDS}
    return {
        "cells": len(cells),
        "cells_with_all_peers": sum(all(name in cell["errors"] for name in LEARNERS) for cell in cells),
        "cells_where_a_peer_ran_out_of_time": sum(bool(cell["limits"]) for cell in cells),
        "lowest_within_a_tenth_of_a_percent": share(lambda gap: gap <= CLOSE, cells),
        "lowest_or_equal": share(lambda gap: gap <= 0, cells),
        "lowest_alone": share(lambda gap: gap < 0, cells),
        "by_kind": {kind: [len(some), share(lambda gap: gap <= CLOSE, some)] for kind, some in kinds.items() if some},
        "error_by_dimension": {
            f"epsilon {epsilon:g}": {
                cell["d"]: cell["errors"][OURS]
                for cell in sorted(kinds["same"], key=lambda cell: cell["d"])
                if cell["epsilon"] == epsilon
            }
            for epsilon in sorted({cell["epsilon"] for cell in kinds["same"]})
        },
    }


def row(cells: Iterable[object]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def table(title: tuple[str, ...], cells: list[Cell], left: Callable[[Cell], tuple[object, ...]]) -> list[str]:
    """A markdown table of errors; the lowest of a line, ours or not, in bold."""
    lines = [row((*title, *PEERS)), "|---" * len((*title, *PEERS)) + "|"]
    for cell in cells:
        errors = cell["errors"]
        best = min(errors[name] for name in LEARNERS if name in errors)
        said = [error_or_limit(cell, name, best) for name in PEERS]
        lines.append(row((*left(cell), *said)))
    return lines


def error_or_limit(cell: Cell, name: str, best: float) -> str:
    """What a table says of a learner: its error, or the seconds it was given in vain."""
    if name in cell["errors"]:
        error = cell["errors"][name]
        return f"**{error:.3f}**" if error <= best else f"{error:.3f}"
    return f"> {cell['limits'][name]:g} s" if name in cell["limits"] else ""


def missing(cells: list[Cell]) -> list[str]:
    """A paragraph on the cells that a learner has no error in, and why; nothing if there are none."""
    said = []
    for name in LEARNERS:
        for why, some in (
            ("ran out of time", [cell for cell in cells if name in cell["limits"]]),
            ("was not run", [c for c in cells if name not in c["errors"] and name not in c["limits"]]),
        ):
            if some:
                widths = ", ".join(f"{d:,}" for d in sorted({cell["size"][1] for cell in some}))
                said.append(f"{name} {why} in {len(some)} cells of {widths} columns")
    whole = sum(all(name in cell["errors"] for name in LEARNERS) for cell in cells)
    return [f"All learners have an error in {whole} cells; {'; '.join(said)}.", ""] if said else []


def page(cells: list[Cell]) -> str:
    """The tables, as markdown."""
    result = summary(cells)
    counts = [row(("rows", "cells", "ours lowest")), "|---|---|---|"]
    by_kind: Any = result["by_kind"]
    counts += [row((KINDS[kind], n, f"{100 * share:.0f} %")) for kind, (n, share) in by_kind.items()]
    counts.append(
        row(("all", result["cells"], f"{100 * float(str(result['lowest_within_a_tenth_of_a_percent'])):.0f} %"))
    )
    real = [cell for cell in cells if kind_of(cell) == "tables" and cell["epsilon"] <= 1]
    lost = sorted((c for c in cells if margin_over_best(c) > CLOSE), key=margin_over_best, reverse=True)
    worst = "; ".join(f"{margin_over_best(c):.3f} ({described(c)})" for c in lost[:3])
    parts = [
        *counts,
        "",
        *missing(cells),
        "Error on real tables:",
        "",
        *table(("table", "n", "d", "epsilon"), real, lambda c: (c["data"], *c["size"], c["epsilon"])),
        "",
        f"Ours is not the lowest in {len(lost)} cells. The largest differences: {worst}.",
    ]
    return "\n".join(parts)


def described(cell: Cell) -> str:
    """The setting of a cell in words, and whose error is the lowest."""
    n, d = cell["size"]
    best = min((name for name in LEARNERS if name in cell["errors"]), key=lambda name: cell["errors"][name])
    margin = "" if cell["margin"] is None else f", margin {cell['margin']}"
    kind = cell["data"] if cell["margin"] is None else KINDS[kind_of(cell)].removeprefix("made, ")
    return f"{kind}, {n:,} rows of {d:,} columns{margin}, epsilon {cell['epsilon']:g}: {best}"


def write_page() -> None:
    """Writes the tables between the marks of the page, and the drawing."""
    cells, text = read_cells(), PAGE.read_text()
    start, end = text.index(START) + len(START), text.index(END)
    PAGE.write_text(f"{text[:start]}\n\n{page(cells)}\n\n{text[end:]}")
    draw(cells, FIGURE)


PANELS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("d", "dimension (same margin 0.1, n 5,000, eps 0.1)", {"data": "same", "epsilon": 0.1}),
    (
        "epsilon",
        "epsilon (spherical, d 100, margin 0.1, n 5,000)",
        {"data": "round", "d": 100, "margin": 0.1, "n": 5000},
    ),
    ("margin", "margin (spread, d 1,000, eps 1, n 5,000)", {"data": "spread", "d": 1000, "epsilon": 1.0, "n": 5000}),
    ("n", "rows (spread, d 1,000, margin 0.1, eps 0.1)", {"data": "spread", "d": 1000, "margin": 0.1, "epsilon": 0.1}),
)


def draw(cells: list[Cell], path: Path) -> None:
    """Error against dimension, epsilon, margin and rows."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "tacit"  # the same figures make the same file
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(PANELS), figsize=(15, 3.6), sharey=True)
    for panel, (across, title, setting) in zip(panels, PANELS, strict=True):
        some = [cell for cell in cells if all(cell[name] == value for name, value in setting.items())]
        for learner, style in zip(LEARNERS, STYLES, strict=True):
            points = sorted((c[across], c["errors"][learner]) for c in some if learner in c["errors"])
            if points:
                panel.plot(*zip(*points, strict=True), style, label=learner)
        panel.set_xlabel(title, fontsize=8)
        if across != "margin":
            panel.set_xscale("log")
    panels[0].set_ylabel("error on new rows")
    labels = dict(pair[::-1] for panel in panels for pair in zip(*panel.get_legend_handles_labels(), strict=True))
    figure.legend(labels.values(), labels.keys(), loc="lower center", ncols=len(LEARNERS), frameon=False)
    figure.subplots_adjust(bottom=0.28, wspace=0.08)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
