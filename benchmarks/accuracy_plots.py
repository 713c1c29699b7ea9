"""Plots of the accuracy benchmark, as SVG: AUC against epsilon, per set and on average."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import accuracy_report, data, peers

EPSILONS = tuple(map(str, accuracy_report.EPSILONS))
STYLES = {
    "additive": ("AdditiveBoost", "#0b5fa5", "-", 1.8),
    "trees": ("BoostedTrees", "#2a9d5c", "-", 1.2),
    "dp_ebm": ("DP-EBM", "#c1440e", "-", 1.2),
    "dp_ebm_fast": ("DP-EBM, learning rate 0.1", "#c1440e", "--", 0.9),
    "dp_sgd_mlp": ("DP-SGD MLP", "#8a6bbe", "--", 0.9),
    "dp_sgd_logistic": ("DP-SGD logistic", "#8a6bbe", ":", 0.9),
    "diffprivlib_logistic": ("diffprivlib logistic", "#999999", ":", 0.9),
    "diffprivlib_forest": ("diffprivlib forest", "#999999", "--", 0.9),
}
MEAN, SETS = "accuracy-mean.svg", "accuracy-sets.svg"


def draw(facts: dict[str, Any], folder: Path) -> None:
    """Writes both plots into ``folder``."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "tacit", "font.size": 8, "axes.linewidth": 0.5})
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
    names = [name for name in data.LARGE if _complete(facts["auc"], name)]
    for who in STYLES:
        tables = facts["auc"].get(who, {})
        if names and all(set(EPSILONS) <= set(tables.get(name, {})) for name in names):
            _line(axis, who, [float(np.mean([tables[name][epsilon] for name in names])) for epsilon in EPSILONS])
    best = [_ceiling(facts["auc"], name) for name in names]
    if best:
        axis.axhline(float(np.mean(best)), color="#444444", linewidth=0.8, linestyle="-.", label="best without privacy")
    axis.set_ylabel(f"mean AUC over {len(names)} sets")
    axis.set_xlabel("epsilon")
    _axes(axis)
    axis.legend(frameon=False, fontsize=7)
    _save(figure, folder / MEAN)

    shown = [name for name in data.LARGE + data.SMALL if name in facts["auc"].get("additive", {})]
    if not shown:
        return
    rows = -(-len(shown) // 4)
    figure, axes = plt.subplots(rows, 4, figsize=(10.0, 1.9 * rows), layout="constrained", squeeze=False)
    for axis in axes.flat[len(shown) :]:
        axis.set_visible(False)
    for axis, name in zip(axes.flat, shown, strict=False):
        for who in STYLES:
            result = facts["auc"].get(who, {}).get(name, {})
            if set(EPSILONS) <= set(result):
                _line(axis, who, [result[epsilon] for epsilon in EPSILONS])
        axis.axhline(_ceiling(facts["auc"], name), color="#444444", linewidth=0.8, linestyle="-.")
        axis.set_title(name, fontsize=8)
        _axes(axis)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.supxlabel("epsilon")
    figure.supylabel("AUC")
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    _save(figure, folder / SETS)


def _complete(auc: dict[str, Any], name: str) -> bool:
    return all(set(EPSILONS) <= set(auc.get(who, {}).get(name, {})) for who in ("additive", "dp_ebm"))


def _ceiling(auc: dict[str, Any], name: str) -> float:
    results = [auc[peer][name]["None"] for peer in peers.CEILING if name in auc.get(peer, {})]
    return max(results, default=float("nan"))


def _line(axis: Any, who: str, values: list[float]) -> None:
    label, color, style, width = STYLES[who]
    axis.plot(range(len(EPSILONS)), values, color=color, linestyle=style, linewidth=width, label=label)


def _axes(axis: Any) -> None:
    axis.set_xticks(range(len(EPSILONS)), [f"{float(epsilon):g}" for epsilon in EPSILONS])
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(width=0.5, length=2)


def _save(figure: Any, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    path.write_text(re.sub(r"[ \t]+$", "", path.read_text(), flags=re.MULTILINE))
