"""The figures of the online benchmark, as SVG."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

LABELS = {
    "timed": "Winnow, timed",
    "batch": "Winnow, batch",
    "first": "the paper's schedule",
    "descent": "private gradient descent",
    "exact": "Winnow, not private",
    "perceptron": "Perceptron, not private",
}
AXES = {"T": "rounds T", "d": "columns d", "k": "1 / margin", "epsilon": "epsilon"}
STYLES = {"timed": "D-", "batch": "o-", "first": "x-", "descent": "s-", "exact": "o--", "perceptron": "s--"}


def _pyplot() -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "tacit"  # the same figures make the same file
    import matplotlib.pyplot as plt

    return plt


def draw_sweep(found: list[dict[str, Any]], path: Path) -> None:
    """Mistakes against the rounds, the columns, the margin and epsilon."""
    figure, panels = _pyplot().subplots(1, 4, figsize=(13, 3.4), sharey=True)
    for panel, (name, title) in zip(panels, AXES.items(), strict=True):
        for who, label in LABELS.items():
            lines = [line for line in found if line["varied"] == name and line["who"] == who]
            panel.plot([line[name] for line in lines], [line["mistakes"] for line in lines], STYLES[who], label=label)
        panel.set_xlabel(title)
        panel.set_yscale("log")
        if name != "k":
            panel.set_xscale("log")
        values = sorted({line[name] for line in found if line["varied"] == name})
        panel.set_xticks(values, [f"{value:g}" if value < 1e4 else f"{value / 1e3:g}k" for value in values])
        panel.minorticks_off()
    panels[0].set_ylabel("mistakes")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=5, frameon=False)
    figure.subplots_adjust(bottom=0.3)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")


def draw_points(found: list[dict[str, Any]], path: Path) -> None:
    """Mistakes on point functions against log T."""
    figure, panels = _pyplot().subplots(1, 2, figsize=(8.5, 3.2))
    titles = {"powers": "the target comes at rounds 1, 2, 4, 8, ...", "half": "the target comes in half of all rounds"}
    for panel, (name, title) in zip(panels, titles.items(), strict=True):
        for kind, label in (("private", "epsilon 1/2"), ("exact", "no privacy")):
            mistakes = [line[f"{name}, {kind}"] for line in found]
            panel.plot([math.log2(line["T"]) for line in found], mistakes, "o-", label=label)
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("log2 T")
        panel.set_ylim(bottom=0)
    panels[0].set_ylabel("mistakes")
    panels[0].legend()
    figure.tight_layout()
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
