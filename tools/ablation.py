"""What every part of the default learner is worth on sixty real tables: `python -m tools.ablation`.

A part is taken out by its numbers, everything else stays the rule's. A positive difference of log loss, or a negative
one of AUC, is what the part earns there. Differences are means over studies with standard errors, by groups of the
signal ``q = n mu / sqrt(d)``; time is seconds of the processor over all fits, relative to the rule's. Lines are those
of the files that only this part needs, blank ones and comments included.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pandas as pd

from tools.real_tables import RULE, WHOLE_BINS, arguments, differences, gathered

SOURCE = Path(__file__).resolve().parent.parent / "src" / "tacit"
SIGNALS = (0.0, 25.0, 140.0, 400.0, math.inf)
"""Ends of the groups of ``q``."""


@dataclass(frozen=True)
class Part:
    """A part of the learner.

    Attributes:
        without: the numbers that take it out.
        files: those that nothing else needs, below the source.
    """

    without: str
    files: tuple[str, ...] = ()


PARTS = {
    "shape search in place of histograms": Part(
        "binning.searching.histogram_from=0.0", ("binning/shape_search.py", "binning/refine.py")
    ),
    "a search inside narrow parts": Part("binning.searching.nearly_all=2.0"),
    "a third look at heavy cells": Part("binning.refining.heavy_leaf=2.0"),
    "more of the budget for the intercept": Part("planning.intercept_doubt=0.0"),
    "six sweeps in large noise": Part("planning.noisy_sweeps=24"),
    "release maps": Part(WHOLE_BINS),
    "shares that follow what is known": Part("sweeping.equal_part=1.0", ("additive/sweeps.py",)),
    "rows bounded together": Part("clipping.joint_below=0.0", ("additive/joint_clipping.py", "queries/joint_bound.py")),
    "pairs": Part("planning.pairs_from=1e12", ("additive/pairs.py",)),
    "trees where columns explain much": Part("planning.trees_explained_from=1e9", ("growing/kernel_trees.py",)),
    "pairs where they explain little": Part("planning.trees_explained_from=0.0"),
}


def lines_of(part: Part) -> int:
    """Lines of its own files."""
    return sum(len((SOURCE / name).read_text().splitlines()) for name in part.files)


def cell(excess: pd.Series) -> str:
    """A mean and its standard error, bold where it is more than twice that; empty where nothing differs."""
    mean, error = excess.mean(), excess.sem()
    if not (excess.abs() > 0).any():
        return ""
    bold = "**" if abs(mean) > 2 * error else ""
    return f"{bold}{mean:+.4f}{bold} ± {error:.4f}"


def page(lines: pd.DataFrame, figure: str) -> list[str]:
    """A table of what is lost without each part: one row per part, one column per group of ``q``."""
    groups = [(low, high, lines[(lines["q"] >= low) & (lines["q"] < high)]) for low, high in pairwise(SIGNALS)]
    heads = [f"q {low:g} to {high:g} ({part['study'].nunique()})" for low, high, part in groups]
    out = [f"| without | {' | '.join(heads)} | time | lines |", "|---" * (3 + len(heads)) + "|"]
    seconds = lines.groupby("value")["seconds"].mean()
    values = [part.without for part in PARTS.values()]
    results = [differences(part, values, figure) for _, _, part in groups]
    for name, part in PARTS.items():
        cells = [cell(excess[part.without]) for excess in results]
        own = lines_of(part) or ""
        out.append(f"| {name} | {' | '.join(cells)} | {seconds[part.without] / seconds[RULE]:.2f} | {own} |")
    return out


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = arguments(__doc__)
    parser.set_defaults(repeats=4)
    args = parser.parse_args(given)
    lines = gathered(args, [part.without for part in PARTS.values()])
    for figure in ("log_loss", "auc"):
        print(f"\n{figure}\n")
        print("\n".join(page(lines, figure)))


if __name__ == "__main__":
    main()
