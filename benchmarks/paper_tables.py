"""The tables and plots of Nock and Henecka (2020), from the results of ``benchmarks.paper_trees``."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest, ttest_rel

Job = dict[str, Any]
STRATEGIES = ("calibrated", 0.1, 1.0)
PAPER_TABLE_1 = {0.01: (14, 3, 5), 0.1: (13, 2, 6), 1.0: (9, 3, 9), 10.0: (5, 4, 11), 25.0: (8, 6, 6)}
SIGNIFICANT = 0.01
PLOTTED = ("printed", "paper", "sharp")
FIGURES = Path(__file__).parents[1] / "docs" / "figures"


SIZES_AT = (0.05, 0.1, 0.2, 0.3, 0.4, 1.0)
"""Test errors at which sizes of models are printed."""


def mean_error(job: Job) -> float:
    """The mean over the folds."""
    return float(np.mean(job["errors"]))


def best(jobs: list[Job]) -> dict[tuple[str, float], Job]:
    """The best configuration of every domain and epsilon."""
    out: dict[tuple[str, float], Job] = {}
    for job in jobs:
        place = (job["domain"], job["eps"])
        if place not in out or mean_error(job) < mean_error(out[place]):
            out[place] = job
    return out


def best_by_strategy(jobs: list[Job], analysis: str) -> list[dict[tuple[str, float], float]]:
    """Per strategy for alpha: the error of its best setting on every domain at every epsilon.

    Settings count that all strategies have been run with.
    """
    fields = ("domain", "eps", "depth", "T", "share", "M", "vq")
    runs: dict[tuple[Any, ...], list[Job]] = defaultdict(list)
    for job in jobs:
        if job["analysis"] == analysis and job["alpha"] in STRATEGIES:
            runs[tuple(job[field] for field in fields)].append(job)
    fair = [job for same in runs.values() if len(same) == len(STRATEGIES) for job in same]
    return [
        {place: mean_error(job) for place, job in best([j for j in fair if j["alpha"] == s]).items()}
        for s in STRATEGIES
    ]


def table_1(jobs: list[Job], analysis: str) -> dict[float, tuple[int, ...]]:
    """Per epsilon, on how many domains each strategy for alpha is best (ties count for all)."""
    strategies = best_by_strategy(jobs, analysis)
    counts: dict[float, list[int]] = defaultdict(lambda: [0] * len(STRATEGIES))
    for name, eps in strategies[0]:
        errors = [s[name, eps] for s in strategies]
        for k, error in enumerate(errors):
            counts[eps][k] += int(error <= min(errors) + 1e-12)
    return {eps: tuple(counts[eps]) for eps in sorted(counts)}


def sign_tests(jobs: list[Job], analysis: str) -> dict[float, list[tuple[Any, Any, int, int, float]]]:
    """Per epsilon and pair of strategies: domains on which the first and the second errs less, and the sign test's p.

    The test is two-sided and leaves ties out; a domain's errors are those of each strategy's best setting.
    """
    strategies = best_by_strategy(jobs, analysis)
    out: dict[float, list[tuple[Any, Any, int, int, float]]] = {}
    for eps in sorted({eps for _, eps in strategies[0]}):
        names = [name for name, at in strategies[0] if at == eps]
        for i, j in combinations(range(len(STRATEGIES)), 2):
            gaps = [strategies[i][name, eps] - strategies[j][name, eps] for name in names]
            less, more = sum(gap < -1e-12 for gap in gaps), sum(gap > 1e-12 for gap in gaps)
            p = float(binomtest(less, less + more).pvalue) if less + more else 1.0
            out.setdefault(eps, []).append((STRATEGIES[i], STRATEGIES[j], less, more, p))
    return out


def table_3(jobs: list[Job], analysis: str) -> list[tuple[str, float, int, int, float]]:
    """Per domain and epsilon: depth and T of the best configuration, and its error."""
    result = best([j for j in jobs if j["analysis"] == analysis])
    return [(name, eps, j["depth"], j["T"], mean_error(j)) for (name, eps), j in sorted(result.items())]


def table_4(jobs: list[Job], ours: str, forest: str, trees: int) -> tuple[int, int, int]:
    """Runs that are significantly better, significantly worse, and neither, against forests of the same depth."""
    rivals = {(j["domain"], j["eps"], j["depth"]): j for j in jobs if j["analysis"] == forest}
    wins = losses = draws = 0
    for job in jobs:
        if job["analysis"] != ours or (trees and job.get("T", trees) != trees):
            continue
        if "depth" in job:
            opponents = [rivals.get((job["domain"], job["eps"], job["depth"]))]
        else:  # gradient trees have no depth: against forests of every depth
            opponents = [r for k, r in rivals.items() if k[:2] == (job["domain"], job["eps"])]
        for rival in opponents:
            if rival is None:
                continue
            gap = np.array(rival["errors"]) - np.array(job["errors"])
            if np.all(gap == gap[0]):
                significant = gap[0] != 0
            else:
                significant = ttest_rel(rival["errors"], job["errors"]).pvalue < SIGNIFICANT
            wins += int(significant and gap.mean() > 0)
            losses += int(significant and gap.mean() < 0)
            draws += int(not significant)
    return wins, losses, draws


def against_the_papers(jobs: list[Job], default: str, analysis: str) -> dict[float, tuple[int, int]]:
    """Per epsilon: domains where the untuned default errs less than the analysis at the best of its grid, and all."""
    theirs = best([j for j in jobs if j["analysis"] == analysis])
    counts: dict[float, list[int]] = defaultdict(lambda: [0, 0])
    for job in jobs:
        rival = theirs.get((job["domain"], job["eps"]))
        if job["analysis"] == default and rival is not None:
            counts[job["eps"]][0] += int(mean_error(job) < mean_error(rival))
            counts[job["eps"]][1] += 1
    return {eps: (counts[eps][0], counts[eps][1]) for eps in sorted(counts)}


def against_a_mean_run(jobs: list[Job], default: str, analysis: str) -> dict[float, tuple[int, int]]:
    """The same against the mean over the analysis's grid: what it errs without tuning."""
    runs: dict[tuple[str, float], list[float]] = defaultdict(list)
    for job in jobs:
        if job["analysis"] == analysis:
            runs[job["domain"], job["eps"]].append(mean_error(job))
    counts: dict[float, list[int]] = defaultdict(lambda: [0, 0])
    for job in jobs:
        place = (job["domain"], job["eps"])
        if job["analysis"] == default and place in runs:
            counts[job["eps"]][0] += int(mean_error(job) < float(np.mean(runs[place])))
            counts[job["eps"]][1] += 1
    return {eps: (counts[eps][0], counts[eps][1]) for eps in sorted(counts)}


def against_one_setting(jobs: list[Job], default: str, analysis: str) -> dict[float, tuple[int, int]]:
    """The same against the one setting of the analysis that errs least in the mean over domains, for every epsilon."""
    runs: dict[float, dict[tuple[Any, ...], dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for job in jobs:
        if job["analysis"] == analysis:
            setting = tuple(job[field] for field in ("depth", "T", "share", "M", "vq", "alpha"))
            runs[job["eps"]][setting][job["domain"]] = mean_error(job)
    out = {}
    for eps, settings in sorted(runs.items()):
        widest = max(len(errors) for errors in settings.values())
        chosen = min(
            (errors for errors in settings.values() if len(errors) == widest),
            key=lambda e: float(np.mean([*e.values()])),
        )
        pairs = [
            (mean_error(j), chosen[j["domain"]])
            for j in jobs
            if j["analysis"] == default and j["eps"] == eps and j["domain"] in chosen
        ]
        out[eps] = (sum(a < b for a, b in pairs), len(pairs))
    return out


def mean_errors(jobs: list[Job], analysis: str) -> dict[float, tuple[float, float]]:
    """Per epsilon: mean over domains of the best of the grid, and of the grid's mean."""
    of_best: dict[float, list[float]] = defaultdict(list)
    for (_, eps), job in best([j for j in jobs if j["analysis"] == analysis]).items():
        of_best[eps].append(mean_error(job))
    of_all: dict[float, list[float]] = defaultdict(list)
    for job in jobs:
        if job["analysis"] == analysis:
            of_all[job["eps"]].append(mean_error(job))
    return {eps: (float(np.mean(of_best[eps])), float(np.mean(of_all[eps]))) for eps in sorted(of_best)}


def sizes(jobs: list[Job], most: float) -> tuple[int, tuple[float, float], tuple[float, float]]:
    """The right halves of Figures 2 and 8 to 61: of the models that err on at most so much, their number, and mean and
    standard deviation of depth and leaves. Trees are complete, so both follow from the setting; a fold is a model.
    """
    depths = np.array([j["depth"] for j in jobs for error in j["errors"] if error <= most], np.float64)
    leaves = np.array([j["T"] << j["depth"] for j in jobs for error in j["errors"] if error <= most], np.float64)
    if not len(depths):
        return 0, (np.nan, np.nan), (np.nan, np.nan)
    return len(depths), (float(depths.mean()), float(depths.std())), (float(leaves.mean()), float(leaves.std()))


def print_sizes(jobs: list[Job]) -> None:
    """Prints :func:`sizes` by domain and analysis, without noise and with it."""
    for name, analysis, noisy in dict.fromkeys(
        (j["domain"], j["analysis"], j["eps"] < np.inf) for j in jobs if "T" in j
    ):
        part = [j for j in jobs if (j["domain"], j["analysis"], j["eps"] < np.inf) == (name, analysis, noisy)]
        print(f"\n{name}, {analysis}, {'with' if noisy else 'without'} noise: depth and leaves of models by error")
        for most in SIZES_AT:
            n, depths, leaves = sizes(part, most)
            means = "depth {:.2f} ± {:.2f}, {:.0f} ± {:.0f} leaves".format(*depths, *leaves)
            print(f"  at most {most:.2f}: {n:6,} models, {means}")


def report(jobs: list[Job]) -> None:
    """Prints everything there are results for, and draws the plots of ``docs/trees.md``."""
    present = sorted({j["analysis"] for j in jobs})
    figures: dict[str, Any] = {"benchmark": "paper_trees", "fits": 10 * len(jobs)}
    print("\nmean error over domains: best of the grid (mean of the grid)")
    for analysis in present:
        means = mean_errors(jobs, analysis)
        print(f"  {analysis:14s}", "  ".join(f"eps {e:g}: {a:.3f} ({b:.3f})" for e, (a, b) in means.items()))
        figures[f"mean_error/{analysis}"] = {str(e): round(a, 4) for e, (a, _) in means.items()}
    for analysis in ("paper", "sharp", "printed"):
        if analysis in present:
            _print_table_1(jobs, analysis)
            figures[f"table_1/{analysis}"] = {str(e): c for e, c in table_1(jobs, analysis).items()}
    for analysis in ("paper", "sharp"):
        if analysis in present:
            print(f"\nTable 3 ({analysis}): best depth, T and error per domain and epsilon")
            for name, eps, depth, trees, error in table_3(jobs, analysis):
                print(f"  {name:26s} eps {eps:5g}: d={depth} T={trees:2d} error {error:.3f}")
    _print_table_4(jobs, present, figures)
    for default in ("gradient", "gradient-pure"):
        for analysis in ("paper", "sharp", "sharp-gini"):
            if default in present and analysis in present:
                tuned, plain = against_the_papers(jobs, default, analysis), against_a_mean_run(jobs, default, analysis)
                one = against_one_setting(jobs, default, analysis)
                print(f"\n{default} (untuned) errs less than {analysis} on so many domains")
                for eps in tuned:
                    (a, n), (b, _) = tuned[eps], plain[eps]
                    print(
                        f"  eps {eps:5g}: {a} of {n} against the best of its grid (chosen by test error), "
                        f"{one[eps][0]} of {one[eps][1]} against its best setting for all, {b} against the grid's mean"
                    )
                figures[f"{default}_beats/{analysis}"] = {str(e): (c[0], one[e], plain[e]) for e, c in tuned.items()}
    plot(jobs)
    print(json.dumps(figures))


def _print_table_1(jobs: list[Job], analysis: str) -> None:
    print(f"\nTable 1 ({analysis}): domains on which (calibrated, 0.1, 1.0) is best; the paper's in brackets")
    tests = sign_tests(jobs, analysis)
    for eps, counts in table_1(jobs, analysis).items():
        pairs = ", ".join(f"{a} over {b} {less}:{more} (p {p:.2g})" for a, b, less, more, p in tests[eps])
        print(f"  eps {eps:5g}: {counts}  [{PAPER_TABLE_1.get(eps, '')}]  {pairs}")


def _print_table_4(jobs: list[Job], present: list[str], figures: dict[str, Any]) -> None:
    print("\nTable 4: significant wins among significant differences (paired t-test over folds, p < .01)")
    for ours in present:
        if ours.startswith("rf"):
            continue
        for forest in (p for p in present if p.startswith("rf")):
            for trees in (2, 5, 10, 20) if not ours.startswith("gradient") else (0,):
                wins, losses, draws = table_4(jobs, ours, forest, trees)
                if wins + losses == 0:
                    continue
                share = wins / (wins + losses)
                size = f"T={trees}" if trees else "default"
                print(
                    f"  {ours:14s} {size:8s} against {forest}: {share:.2f}  ({wins} won, {losses} lost, {draws} even)"
                )
                figures[f"table_4/{ours}/{size}/{forest}"] = round(share, 3)


def plot(jobs: list[Job]) -> None:
    """Cumulative shares of runs by test error, a panel per domain and epsilon; left out where matplotlib is missing."""
    try:
        import matplotlib as mpl
    except ImportError:
        print("\nno plots: matplotlib is in the extra 'bench'")
        return
    mpl.use("Agg")
    mpl.rcParams.update({"font.size": 6})
    for analysis in PLOTTED:
        _panels([j for j in jobs if j["analysis"] == analysis], FIGURES / f"paper_trees_{analysis}.png")


def _panels(jobs: list[Job], path: Path) -> None:
    """One analysis: a line of panels per domain, one for each epsilon; infinity is without noise."""
    from matplotlib import pyplot as plt
    from PIL import Image

    names, epsilons = list(dict.fromkeys(j["domain"] for j in jobs)), sorted({j["eps"] for j in jobs})
    if not names:
        return
    size = (1.7 * len(epsilons), 1.1 * len(names))
    figure, grid = plt.subplots(len(names), len(epsilons), figsize=size, squeeze=False, sharex="row", sharey=True)
    for axes, name in zip(grid, names, strict=True):
        for axis, eps in zip(axes, epsilons, strict=True):
            _cumulative(axis, [j for j in jobs if (j["domain"], j["eps"]) == (name, eps)])
        axes[0].set_ylabel(name.replace("_", " ", 1).replace("_", "\n"))
    for axis, eps in zip(grid[0], epsilons, strict=True):
        axis.set_title("without noise" if np.isinf(eps) else f"epsilon {eps:g}")
    for axis in grid[-1]:
        axis.set_xlabel("test error at most")
    grid[0][0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
    Image.open(path).convert("RGB").quantize(32).save(path, optimize=True)  # a third of the size
    print(f"\nshare of runs by error: {path}")


def _cumulative(axis: Any, jobs: list[Job]) -> None:
    """A step line per strategy for alpha."""
    for strategy in STRATEGIES:
        errors = np.sort([mean_error(j) for j in jobs if j["alpha"] == strategy])
        if len(errors):
            axis.step(errors, np.arange(1, len(errors) + 1) / len(errors), where="post", label=f"alpha {strategy}")
