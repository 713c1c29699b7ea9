"""Trees alone for a number, beside the additive regressor: `python -m benchmarks.number_trees --epsilon 0.5 2 8`.

Trees are grown as gradient trees of several classes are, on clipped residuals as the additive regressor has them, which
are looked at anew after every few trees. Share of the variance explained, on random fifths. ``--data columns`` has
numeric columns of the sixty tables as labels, on most of which the numbers below were chosen; ``--data threes`` is a
made table that nothing but three columns together explain. ``_pure`` is delta = 0.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd

from benchmarks import score_peers as peers
from benchmarks.data import load
from benchmarks.lines import Lines
from benchmarks.score_peers import Learner
from benchmarks.score_runs import EPSILONS, run
from benchmarks.score_tables import TARGETS, ScoreTable, regression_table
from tacit.additive.boost import learned_columns
from tacit.additive.estimator import AdditiveBoostRegressor, AdditiveRegressionLearner
from tacit.additive.first_look import FirstLook, first_look
from tacit.additive.learn import Learned
from tacit.additive.losses import ScoreLoss
from tacit.additive.pairs import cut_masses
from tacit.additive.planner import Planner
from tacit.additive.residual_loss import SquaredLoss
from tacit.additive.sweeps import HyperPrior, State
from tacit.additive.to_model import to_number_scores
from tacit.additive.trees import StateRounds
from tacit.binning.measure import Column
from tacit.curator.budget import Budget
from tacit.curator.rows import PrivateRows
from tacit.growing.gradient_trees import laplace_plan
from tacit.growing.kernel_trees import KernelPlan, kernel_plan, within_time
from tacit.growing.newton_trees import NewtonPlan
from tacit.growing.random_trees import RandomStructures
from tacit.growing.score_leaves import grow_score_trees
from tacit.growing.softmax import SimulatedRows
from tacit.growing.tuning import GROWING, KERNEL
from tacit.learning.learner import Task
from tacit.learning.weights import sealed
from tacit.models.additive_scores import AdditiveRegressionModel
from tacit.models.tree import ScoreTree
from tacit.privacy.budget import Allowance
from tacit.privacy.request import Request
from tacit.schema import Schema
from tacit.trees.tuning import SEVERAL_CLASSES

NAME = "number_trees"

TREES, LOOKS, PURE_LOOKS, COLUMNS = 300, 8, 2, 4
"""Trees, looks at residuals (at delta = 0 fewer, and trees by the rule of two classes), columns that a tree may cut."""

NOISE, MOST = 0.45, 1.0
"""Noise that trees may leave in a prediction, and its prior variance at most, relative to the residuals."""

SHARING = 4
"""Columns that the clip is thought to share its noise with: no column has a release of its own."""

COLUMN_LABELS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "lending_rate": ("lending_bad", "int_rate", ()),
    "hotel_price": ("hotel_parking", "avg_price_per_room", ()),
    "bird_speed": ("birdstrike_effect", "speed", ()),
    "pitch_speed": ("kershaw_swing", "EndSpeed", ("StartSpeed",)),
    "house_price": ("saratoga_aircon", "price", ()),
    "house_area": ("ames_expensive", "Gr_Liv_Area", ("First_Flr_SF", "Second_Flr_SF")),
    "kappa": ("flchain_death", "kappa", ()),
    "wage": ("wage_noinsurance", "wage", ()),
    "credit_amount": ("credit_bad", "Amount", ()),
    "stop_latitude": ("stop_search", "lat", ()),
    "income": ("nhis_uninsured", "inc", ()),
    "pixel": ("satimage_damp", "p5_b2", ("p5_b1", "p5_b3", "p5_b4")),
    "cell_intensity": ("cells_segmented", "avg_inten_ch_1", ()),
}
"""Task -> one of the sixty tables, column to predict, columns that nearly say it and are left out."""


class TreesAlone(AdditiveRegressionLearner):
    """Trees and nothing else, with the looks, bins and constants of the additive regressor."""

    def learn(self, rows: PrivateRows, allowance: Allowance, task: Task) -> AdditiveRegressionModel:
        budget, task = sealed(rows, allowance, task)
        target, columns, loss = task.target, learned_columns(task), SquaredLoss(SHARING)
        assert task.encoding is not None
        scores = to_number_scores(learned(budget, columns, loss), task.encoding, loss, target.index)
        bounds = (target.index.lower, target.index.upper)
        return AdditiveRegressionModel(target.name, *bounds, self.loss, float(self.quantile), scores)


def learned(budget: Budget, columns: Sequence[Column], loss: SquaredLoss) -> Learned:
    """What trees alone make of the rows."""
    known = first_look(budget.part(1 - loss.share).as_whole(), columns, False, True, loss, Planner())
    intercept = loss.begin(budget, known.total, 1.0)
    counts, generator = [results.counts for results in known.bins], budget.public_generator
    rows = SimulatedRows(counts, 1, generator, SEVERAL_CLASSES.simulated_rows)
    state = State(known, budget, loss, intercept, HyperPrior(len(columns)), rows)
    unordered = [place for place, results in enumerate(known.bins) if not results.ordered]
    structures = RandomStructures(cut_masses(known.columns, known.bins), generator, reordered=unordered)
    growing, trees = budget.part((1 - loss.share) * (1 - known.plan.binning)), list[ScoreTree]()
    looks = PURE_LOOKS if budget.is_pure else LOOKS
    for look in range(looks):
        loss.refresh(budget, f"look {look + 1}")
        plan, rounds = plan_for(growing, known, loss, rows, looks), StateRounds(state, cast(ScoreLoss, loss))
        trees += grow_score_trees(growing.part(1 / looks), structures, plan, rounds, GROWING)
    shift, sd = loss.level(budget, known.total)
    results, grown, directions = tuple(known.bins), tuple(trees), state.directions()
    constant, columns_used = intercept.value + shift, known.columns
    return Learned(known.total, constant, columns_used, results, (), (), grown, known.plan, directions, sd)


def plan_for(
    growing: Budget, known: FirstLook, loss: SquaredLoss, rows: SimulatedRows, looks: int
) -> NewtonPlan | KernelPlan:
    """How to grow until the next look: noise counts relative to how large residuals are, and to their clip."""
    if growing.is_pure:
        newton = laplace_plan(known.total, math.sqrt(2.0) / growing.sd())
        return replace(newton, trees=max(newton.trees // looks, 1))
    kernel, size = KERNEL, math.sqrt(loss.scatter * loss.curvature(rows).item())
    sd = growing.sd() * loss.bound / size
    plan = within_time(kernel_plan(known.total, sd, NOISE, TREES, COLUMNS, 1.0, MOST, kernel), 2, kernel)
    return replace(plan, trees=max(plan.trees // looks, 1), variance=plan.variance / looks)


class TreesAloneRegressor(AdditiveBoostRegressor):
    """The estimator of it."""

    def make_learner(self, request: Request) -> TreesAlone:
        return TreesAlone(request)


def trees_alone(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Trees alone."""
    model = TreesAloneRegressor(epsilon=epsilon, delta=delta, schema=train.schema)
    return model.fit(train.X, train.y).predict(test.X)


def curves(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """The additive regressor without interactions."""
    model = AdditiveBoostRegressor(epsilon=epsilon, delta=delta, schema=train.schema, interactions=False)
    return model.fit(train.X, train.y).predict(test.X)


def pure(learner: Learner) -> Learner:
    """The same with delta = 0."""

    def run_pure(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
        return learner(train, test, epsilon, 0.0, seed)

    return run_pure


def table_of(name: str) -> ScoreTable:
    """A task: of the benchmark of numbers, a column of one of the sixty tables, or made."""
    if name in TARGETS:
        return regression_table(name)
    if name == "threes":
        return threes(20_000)
    source, column, left_out = COLUMN_LABELS[name]
    table = load(source)
    described = table.schema.to_dict()
    facts = {key: described["columns"].pop(key) for key in (column, *left_out)}[column]
    described["label"] = {"column": "target", "kind": "numeric", "lower": facts["lower"], "upper": facts["upper"]}
    y = np.clip(table.X[column].to_numpy(float), facts["lower"], facts["upper"])
    result = ScoreTable(name, table.X.drop(columns=[column, *left_out]), y, Schema.from_dict(described))
    return result.rows(np.flatnonzero(~np.isnan(y)))


def threes(rows: int) -> ScoreTable:
    """The product of three signs and noise; three more columns say nothing."""
    generator = np.random.default_rng(5)
    X = pd.DataFrame(generator.uniform(-1, 1, (rows, 6)), columns=list("abcdef"))
    y = np.sign(X["a"] * X["b"] * X["c"]).to_numpy() + 0.5 * generator.standard_normal(rows)
    columns = {name: {"kind": "numeric", "lower": -1.0, "upper": 1.0} for name in X}
    label = {"column": "target", "kind": "numeric", "lower": -4.0, "upper": 4.0}
    return ScoreTable("threes", X, np.clip(y, -4, 4), Schema.from_dict({"label": label, "columns": columns}))


def explained(test: ScoreTable, found: np.ndarray) -> dict[str, float]:
    """The share of the variance that predictions explain."""
    return {"r2": 1 - float(((test.y - found) ** 2).mean() / test.y.var())}


def differences(args: argparse.Namespace) -> None:
    """Prints how much more trees explain than the additive regressor, and its standard error over splits."""
    lines = Lines(NAME)
    for data, pure_too, epsilon in itertools.product(args.data, ("", "_pure"), args.epsilon):
        pair = [f"trees{pure_too}", f"additive{pure_too}"]
        if args.seeds < 2 or not set(pair) <= set(args.who):
            continue
        jobs = [[{"data": data, "who": who, "epsilon": epsilon, "seed": s} for s in range(args.seeds)] for who in pair]
        trees, additive = (np.array([lines.run(job, dict)["r2"] for job in each]) for each in jobs)
        more = trees - additive
        error = more.std(ddof=1) / math.sqrt(args.seeds)
        print(f"{data} {pair[0]} - {pair[1]} {epsilon}: {more.mean():+.3f} with standard error {error:.3f}")


OURS = {"additive": peers.additive_number, "curves": curves, "trees": trees_alone}
WHO = OURS | {f"{name}_pure": pure(learner) for name, learner in OURS.items()}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", nargs="+", default=list(TARGETS), choices=[*TARGETS, *COLUMN_LABELS, "columns", "threes"]
    )
    parser.add_argument("--who", nargs="+", default=list(OURS), choices=list(WHO))
    parser.add_argument("--epsilon", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--again", action="store_true", help="run even what is known")
    args = parser.parse_args()
    args.data = [one for name in args.data for one in (COLUMN_LABELS if name == "columns" else (name,))]
    run(NAME, args, table_of, WHO, {}, explained)
    differences(args)


if __name__ == "__main__":
    main()
