"""What an attack finds of every learner: claimed epsilon, and the least it must be (docs/audit.md).

    python -m benchmarks.audit                         both tables; results are kept in benchmarks/results/audit.parquet
    python -m benchmarks.audit --planted               planted bugs alone, and what each audit says of them
    python -m benchmarks.audit --clean                 20 audits each of what keeps its claim, at 99.9 % confidence
    python -m benchmarks.audit --one-run               one fit with many canaries: ideal Gaussian noise, and learners
    python -m benchmarks.audit --learners trees        one of the learners

Tables have one column, yes or no, so that the whole of a budget is about the canary. Fits have seeds, so that whoever
runs this finds the same figures.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import astuple
from functools import partial
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import tacit
from benchmarks import planted
from benchmarks.lines import Line, Lines
from tacit.audit import audit_estimator, audit_in_one_run, replay_audit
from tacit.closure import FiniteClassClassifier
from tacit.privacy.calibration import calibrate
from tacit.privacy.charges import Gaussian
from tacit.schema import Schema

COLUMNS = {"smokes": {"kind": "boolean"}}
CLASSES = Schema.from_dict({"label": {"column": "sick", "classes": ["no", "yes"]}, "columns": COLUMNS})
NUMBER = Schema.from_dict({"label": {"column": "cost", "kind": "numeric", "lower": 0, "upper": 10}, "columns": COLUMNS})
EPSILONS = (1.0, 4.0)
DELTA = 1e-6
PLANTED_TRIALS = 100
CLEAN_AUDITS, CLEAN_RELEASES, CLEAN_FITS = 20, 200, 40
"""Audits of each kind of what has no bug, and runs or fits on each table: few, as bounds hold at any end."""


def resampled(**claim: Any) -> Any:
    """One voter, so that nothing is divided."""
    base = tacit.RandomTreesClassifier(schema=CLASSES, n_trees=1)
    return tacit.ResampledBoostClassifier(base, rounds=1, **claim)


LEARNERS: dict[str, Callable[..., Any]] = {
    "additive": partial(tacit.AdditiveBoostClassifier, schema=CLASSES),
    "additive, delta 0": partial(tacit.AdditiveBoostClassifier, schema=CLASSES),
    "additive, replace_one": partial(tacit.AdditiveBoostClassifier, schema=CLASSES, neighbouring="replace_one"),
    "regressor, no interactions": partial(tacit.AdditiveBoostRegressor, schema=NUMBER, interactions=False),
    "random trees": partial(tacit.RandomTreesClassifier, schema=CLASSES),
    "random trees, delta 0": partial(tacit.RandomTreesClassifier, schema=CLASSES),
    "one split, delta 0": partial(tacit.RandomTreesClassifier, schema=CLASSES, n_trees=1, max_depth=1),
    "boosted trees, 10": partial(tacit.BoostedTreesClassifier, schema=CLASSES, n_trees=10),
    "halfspace": partial(tacit.HalfspaceBoostClassifier, schema=CLASSES),
    "decision list": partial(tacit.DecisionListClassifier, schema=CLASSES),
    "finite class": partial(FiniteClassClassifier, schema=CLASSES),
    "resampled, 1 round": resampled,
}


def audit(name: str, epsilon: float, trials: int) -> Line:
    """One audit; its result as plain data."""
    delta = 0.0 if name.endswith("delta 0") else DELTA
    begun = time.perf_counter()
    result = audit_estimator(LEARNERS[name](epsilon=epsilon, delta=delta), trials=trials, random_state=0)
    return {**result.to_dict(), "seconds": time.perf_counter() - begun}


def table(found: list[Line]) -> None:
    """The rows of the page."""
    print("| learner | claimed epsilon | delta | fits | at least | usual | if Gaussian | usual |")
    print("|---|---|---|---|---|---|---|---|")
    for line in found:
        gaussian = line["gaussian"]
        bound = "|" if gaussian is None else f"{gaussian['epsilon_lower']:.2f} | {gaussian['usual']:.2f}"
        print(
            f"| {line['name']} | {line['epsilon']:g} | {line['delta']:g} | {line['trials']} | "
            f"{line['epsilon_lower']:.2f} | {line['usual']:.2f} | {bound} |"
        )


# Planted bugs.


def of_models(bug: str, learner: str) -> Line:
    """Fits to two tables, and what their models say."""
    with planted.BUGS[bug].planted():
        result = audit_estimator(planted.LEARNERS[learner](planted.BUGS[bug]), trials=PLANTED_TRIALS, random_state=0)
    return result.to_dict()


def of_releases(bug: str, path: str) -> Line:
    """Releases alone."""
    with planted.BUGS[bug].planted():
        result = planted.PATHS[path].audited(planted.BUGS[bug].runs, random_state=0)
    return result.to_dict()


def of_replays(bug: str, learner: str) -> Line:
    """Fits that are recorded and repeated on neighbours."""
    with planted.BUGS[bug].planted():
        return replay_audit(planted.LEARNERS[learner](planted.BUGS[bug])).to_dict()


def said(line: Line) -> str:
    """What an audit found, in a cell of the table."""
    if "faults" in line:
        return "found" if line["faults"] else "-"
    if line["holds"]:
        return "-"
    return "spelled out" if line.get("leak") else f"after {line['trials']:,}"


class GaussianCells(BaseEstimator):  # type: ignore[misc]
    """Says a count of every category with Gaussian noise that uses up the claim: the best case of one run."""

    delta = DELTA

    def __init__(self, epsilon: float = 1.0, random_state: int | None = None) -> None:
        self.epsilon = epsilon
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> GaussianCells:
        """Counts the rows of the last class by category."""
        charge = calibrate(lambda parameter: [Gaussian(parameter)], self.epsilon, DELTA)
        counts = np.bincount(np.asarray(X)[:, 0].astype(int)[np.asarray(y) == "yes"])
        noise = np.random.default_rng(self.random_state).normal(scale=charge, size=len(counts))
        self.certificate_, self.classes_ = SimpleNamespace(charges=(Gaussian(charge),)), np.asarray(["no", "yes"])
        self.shares_ = 1 / (1 + np.exp(-(counts - 30 + noise) / 100))
        return self

    def predict_proba(self, X: Any) -> Any:
        """The shares of both classes."""
        share = self.shares_[np.asarray(X)[:, 0].astype(int)]
        return np.stack([1 - share, share], axis=1)


ONE_RUN: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "Gaussian noise in cells of its own": (GaussianCells, (100, 1000, 4000)),
    "one random tree, delta 0": (partial(tacit.RandomTreesClassifier, n_trees=1, delta=0.0), (250, 1000)),
    "random trees": (tacit.RandomTreesClassifier, (100, 250, 1000)),
    "additive": (partial(tacit.AdditiveBoostClassifier, interactions=False), (100, 250, 1000)),
    "decision list": (tacit.DecisionListClassifier, (100, 250, 1000)),
}


def one_run_table() -> None:
    """Means over five fits: what each bound shows of honest learners."""
    print("| learner | claim | canaries | right | plain | if Gaussian | and independent | usual |")
    print("|---" * 8 + "|")
    for name, (make, sizes) in ONE_RUN.items():
        for epsilon in EPSILONS:
            for size in sizes:
                audits = [
                    audit_in_one_run(make(epsilon=epsilon), canaries=size, random_state=seed) for seed in range(5)
                ]
                assert all(audit.holds for audit in audits)
                right = sum(audit.right for audit in audits) / sum(audit.guesses for audit in audits)
                plain = fmean(audit.epsilon_lower for audit in audits)
                cells = ["", "", ""]
                if audits[0].gaussian is not None:
                    results = [astuple(audit.gaussian) for audit in audits if audit.gaussian is not None]
                    cells = [f"{fmean(column):.2f}" for column in zip(*results, strict=True)]
                print(
                    f"| {name} | {epsilon:g} | {size} | {right:.0%} | {plain:.2f} | {' | '.join(cells)} |", flush=True
                )


def clean_table() -> None:
    """False alarms of audits at 99.9 % of releases and learners without a bug."""
    honest, sure = planted.BUGS["none"], {"confidence": 0.999}
    audits: dict[str, Callable[[int], Any]] = {
        f"releases: {name}": lambda seed, path=path: path.audited(CLEAN_RELEASES, random_state=seed, **sure)
        for name, path in planted.PATHS.items()
    }
    for name, make in planted.LEARNERS.items():
        learner, more = make(honest), {"trials": CLEAN_FITS, **sure}
        audits[f"models: {name}"] = lambda seed, one=learner, more=more: audit_estimator(one, random_state=seed, **more)
        audits[f"replay: {name}"] = lambda seed, one=learner: replay_audit(one, random_state=1000 * seed, neighbours=3)
    print("| audits | clean | false alarms |\n|---|---|---|")
    for name, audited in audits.items():
        alarms = sum(not audited(seed).holds for seed in range(CLEAN_AUDITS))
        print(f"| {name} | {CLEAN_AUDITS} | {alarms} |", flush=True)


def planted_table(lines: Lines) -> None:
    """Which audit finds which bug, after how many runs on each table; a dash where nothing was found."""
    names = list(planted.LEARNERS)
    print("| planted bug | releases |" + "".join(f" {n}: models | replay |" for n in names))
    print("|---" * (2 + 2 * len(names)) + "|")
    for bug, facts in planted.BUGS.items():
        seen = {
            path: lines.run({"bug": bug, "path": path, "trials": facts.runs}, partial(of_releases, bug, path))
            for path in facts.paths
        }
        cells = ["; ".join(f"{path} {said(line)}" for path, line in seen.items() if not line["holds"])]
        cells[0] = cells[0] or ("-" if seen else "")
        for name in names:
            job = {"bug": bug, "learner": name, "trials": PLANTED_TRIALS}
            cells.append(said(lines.run({**job, "of": "models"}, partial(of_models, bug, name))))
            cells.append(said(lines.run({**job, "of": "replay"}, partial(of_replays, bug, name))))
        print(f"| {bug} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Runs what is not known yet, and prints everything asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", nargs="*", choices=LEARNERS, default=list(LEARNERS))
    parser.add_argument("--planted", action="store_true", help="the table of planted bugs alone")
    parser.add_argument("--clean", action="store_true", help="audits of what keeps its claim alone")
    parser.add_argument("--one-run", action="store_true", help="the table of audits in one run alone")
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--again", action="store_true", help="run even what is known")
    args = parser.parse_args()
    lines = Lines("audit", args.again)
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if args.planted:
            return planted_table(lines)
        if args.one_run:
            return one_run_table()
        if args.clean:
            return clean_table()
        for name in args.learners:
            for epsilon in EPSILONS:
                job = {"learner": name, "epsilon": epsilon, "trials": args.trials}
                results.append({"name": name, **lines.run(job, partial(audit, name, epsilon, args.trials))})
        table(results)
        print()
        planted_table(lines)
    return None


if __name__ == "__main__":
    main()
