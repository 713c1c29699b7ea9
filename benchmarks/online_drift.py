"""The drifting part of the online benchmark: targets that change at public times, with periods and without."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.lines import Line, Lines
from benchmarks.online_peers import winnow_mistakes
from benchmarks.online_streams import drifting_stream

ROUNDS, TARGETS = 80_000, 4
LENGTH = ROUNDS // TARGETS
SETTINGS: tuple[dict[str, Any], ...] = (
    {"period": None},
    {"period": None, "update": "batch"},
    {"period": LENGTH, "update": "batch"},
    {"period": LENGTH},
    {"period": LENGTH // 2},
    {"period": LENGTH // 2, "carried": 0.5},
    {"period": 7_000},
)
"""The last one's periods end anywhere, the others' where a target does."""


def drift(lines: Lines, seeds: int) -> list[Line]:
    """Mistakes on every target, and the error of the last eighth of its rounds."""
    results = []
    print(
        f"\nmajorities of 3, d = 200, epsilon 1, a target that changes every {LENGTH:,} rounds: mistakes on each, and"
    )
    print("error of the last eighth of its rounds")
    for setting in SETTINGS:
        runs = []
        for seed in range(seeds):
            job = {"kind": "drift", "T": ROUNDS, "targets": TARGETS, "d": 200, "epsilon": 1.0, "seed": seed, **setting}
            runs.append(lines.run(job, partial(drift_result, setting, seed)))
        mistakes = np.mean([run["mistakes"] for run in runs], axis=0)
        trailing = np.mean([run["trailing"] for run in runs], axis=0)
        name = ", ".join(f"{key} {value}" for key, value in setting.items())
        cells = "".join(f"{m:8.0f} ({t:6.2%})" for m, t in zip(mistakes, trailing, strict=True))
        print(f"{name:28}{cells}{sum(mistakes):9.0f} in all, {seeds} runs", flush=True)
        results.append({**setting, "mistakes": mistakes.tolist(), "trailing": trailing.tolist()})
    return results


def drift_result(setting: dict[str, Any], seed: int) -> Line:
    """One run."""
    rows, labels = drifting_stream(np.random.default_rng([seed, 5]), ROUNDS, 200, 3, TARGETS)
    wrong = winnow_mistakes(rows, labels, epsilon=1.0, delta=1e-6, **setting).reshape(TARGETS, LENGTH)
    return {
        "mistakes": wrong.sum(axis=1).tolist(),
        "trailing": wrong[:, -LENGTH // 8 :].mean(axis=1).tolist(),
    }
