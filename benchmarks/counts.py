"""Counts and costs: `python -m benchmarks.counts --epsilon 0.5 2 8 --seeds 2`.

Mean deviance on random fifths (smaller is better; means count as at least 1/1024 of the upper bound) and the total of
the predictions over that of the targets: the loss with a log link and `loss="squared"`, a generalised linear model
without privacy (scikit-learn's, all columns linear or one-hot, hardly regularised), and the mean. Visits to a doctor in
the RAND experiment (Deb and Trivedi 2002) come with statsmodels; claims, costs, covers (costs a year of policies that
last a part of it, most of them 0) and times to an event, cut off by the end of watching, are made up. Covers and times
are rates, learned and judged with weights by exposure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import TweedieRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.score_runs import arguments, run
from benchmarks.score_tables import ScoreTable
from tacit import AdditiveBoostRegressor
from tacit.evaluation.number_scorer import unit_deviance
from tacit.schema import Schema

LOSSES = {"visits": "poisson", "claims": "poisson", "costs": "gamma", "covers": "tweedie", "survival": "poisson"}
POWERS = {"poisson": 1.0, "tweedie": 1.5, "gamma": 2.0}
LARGEST = 30.0
"""Where a made-up mean could not be larger."""


@dataclass(frozen=True, eq=False)
class Exposed(ScoreTable):
    """A table of rates, with the exposure of every row relative to a public bound, in (0, 1]."""

    exposure: np.ndarray

    def rows(self, index: np.ndarray) -> Exposed:
        """Some of the rows."""
        result = super().rows(index)
        return replace(self, X=result.X, y=result.y, exposure=self.exposure[index])


def exposure(table: ScoreTable) -> np.ndarray:
    """Weights of the rows; 1 where a target is no rate."""
    return table.exposure if isinstance(table, Exposed) else np.ones(len(table.y))


def _schema(columns: dict[str, dict[str, object]], upper: float) -> Schema:
    label = {"column": "target", "kind": "numeric", "lower": 0, "upper": upper}
    return Schema.from_dict({"label": label, "columns": columns})


def visits() -> ScoreTable:
    """Outpatient visits of a year, 20,190 rows, 2.9 on average, 31 % of them 0."""
    from statsmodels.datasets import randhie

    table = randhie.load_pandas().data
    names = {"lncoins": (0, 5), "idp": (0, 1), "lpi": (0, 8), "fmde": (0, 9), "disea": (0, 60)}
    names |= dict.fromkeys(("physlm", "hlthg", "hlthf", "hlthp"), (0, 1))
    columns: dict[str, dict[str, object]] = {
        name: {"kind": "numeric", "lower": low, "upper": high} for name, (low, high) in names.items()
    }
    return ScoreTable("visits", table[list(names)], table["mdvis"].to_numpy(float), _schema(columns, 80))


def made(name: str, n: int) -> ScoreTable:
    """Claims (.1 a row on average), costs of about 1,000, covers or times, whose ratios depend on six columns."""
    generator = np.random.default_rng(7)
    X = pd.DataFrame({f"x{i}": generator.random(n) for i in range(5)})
    X["kind"] = generator.choice(["a", "b", "c", "d"], n)
    log = 1.2 * X["x0"] - np.sin(5 * X["x1"]) - 0.6 * X["x2"] + 0.9 * (X["kind"] == "a") + 0.8 * (X["x3"] > 0.8)
    ratio = np.minimum(np.exp(log.to_numpy()), LARGEST)
    columns: dict[str, dict[str, object]] = {f"x{i}": {"kind": "numeric", "lower": 0, "upper": 1} for i in range(5)}
    columns["kind"] = {"kind": "categorical", "categories": ["a", "b", "c", "d"]}
    if name == "claims":
        return ScoreTable(name, X, generator.poisson(0.045 * ratio).astype(float), _schema(columns, 10))
    if name == "covers":
        years = generator.uniform(0.05, 1.0, n)
        claims = generator.poisson(0.045 * years * ratio)
        cost = generator.gamma(1.5 * np.maximum(claims, 1), 1000 / 1.5) * (claims > 0)
        return Exposed(name, X, np.minimum(cost / years, 50_000.0), _schema(columns, 50_000), years)
    if name == "survival":
        waiting, end = generator.exponential(1 / (0.03 * ratio)), generator.uniform(0.5, 5.0, n)
        watched = np.minimum(waiting, end)
        rate = np.minimum((waiting <= end) / watched, 10.0)
        return Exposed(name, X, rate, _schema(columns, 10), np.clip(watched / 5.0, 0.02, 1.0))
    return ScoreTable(name, X, generator.gamma(1.5, 450 * ratio / 1.5), _schema(columns, 50_000))


def load(name: str) -> ScoreTable:
    """One of the tables."""
    return visits() if name == "visits" else made(name, 5000 if name == "costs" else 20_000)


def linked(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """The loss with a log link that suits the table."""
    return _ours(LOSSES[train.name], train, test, epsilon, delta, seed)


def squared(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """The squared loss."""
    return _ours("squared", train, test, epsilon, delta, seed)


def _ours(loss: str, train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    model = AdditiveBoostRegressor(epsilon, delta, schema=train.schema, loss=loss, random_state=seed)
    weights = train.exposure if isinstance(train, Exposed) else None
    return np.asarray(model.fit(train.X, train.y, sample_weight=weights).predict(test.X))


def glm(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """A generalised linear model with a log link."""
    del epsilon, delta, seed
    texts = [name for name in train.X if train.X[name].dtype == object or str(train.X[name].dtype) == "str"]
    numbers = [name for name in train.X if name not in texts]
    encoded = make_column_transformer((OneHotEncoder(), texts), (StandardScaler(), numbers))
    model = TweedieRegressor(power=POWERS[LOSSES[train.name]], link="log", alpha=1e-6, max_iter=1000)
    fitted = make_pipeline(encoded, model).fit(train.X, train.y, tweedieregressor__sample_weight=exposure(train))
    return np.asarray(fitted.predict(test.X))


def mean(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """The mean of the training rows."""
    del epsilon, delta, seed
    return np.full(len(test.y), np.average(train.y, weights=exposure(train)))


def metrics(test: ScoreTable, found: np.ndarray) -> dict[str, float]:
    """Mean deviance, and total over total."""
    label, power, weights = test.schema.label, POWERS[LOSSES[test.name]], exposure(test)
    assert label is not None
    assert label.upper is not None
    said = np.clip(found, 0.0, label.upper)
    return {
        "deviance": float(np.average(unit_deviance(test.y, said, power, label.upper), weights=weights)),
        "total": float((said * weights).sum() / (test.y * weights).sum()),
    }


def main() -> None:
    """The command."""
    private, plain = {"linked": linked, "squared": squared}, {"mean": mean, "glm": glm}
    run("counts", arguments(__doc__, list(LOSSES), [*private, *plain]), load, private, plain, metrics)


if __name__ == "__main__":
    main()
