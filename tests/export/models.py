"""A model of every kind, with drawn parameters, of a table with numbers, texts, truth values and dates; and rows."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from tacit.encoding.dense import RowClipper, RowEncoder
from tacit.encoding.grid import NumericGrid
from tacit.encoding.matrix_rows import MatrixEncoder
from tacit.encoding.table import Encoder, TableEncoding, encoder_of
from tacit.encoding.values import BooleanIndex
from tacit.models.additive import AdditiveModel, AdditiveScores, MainEffect, PairEffect
from tacit.models.additive_scores import AdditiveClassesModel, AdditiveOrderedModel, AdditiveRegressionModel
from tacit.models.base import Model
from tacit.models.decision_list import TESTS, Condition, DecisionListModel, ListRule
from tacit.models.evidence import ErrorPromise
from tacit.models.feature import Feature
from tacit.models.files import model_from_dict
from tacit.models.halfspace import HalfspaceModel
from tacit.models.mean import MeanModel, MeanNumberModel
from tacit.models.recalibrated import RecalibratedModel
from tacit.models.rule import ComposedModel, RuleModel, VoteModel
from tacit.models.tree import ScoreTree, Tree, TreeShape, code_set, complete_shape, threshold_sets
from tacit.models.tree_ensemble import Link, TreeClassesModel, TreeEnsembleModel
from tacit.schema import Schema

COLUMNS: dict[str, dict[str, Any]] = {
    "age, in years": {"kind": "numeric", "lower": 18, "upper": 90},
    "price": {"kind": "numeric", "lower": 0.003, "upper": 1000.0, "spacing": "log", "missing_values": [0.5, -9]},
    "cuts": {
        "kind": "numeric",
        "lower": -1,
        "upper": 1,
        "spacing": [-0.5, 0.1, 0.3],
        "missing_values": [-9],
        "symbol": "$",
        "thousands": ",",
    },
    "colour": {"kind": "categorical", "categories": ["red", 'it\'s "green"', "grün"]},
    "mixed": {"kind": "categorical", "categories": ["a", True, 7]},
    "grade": {"kind": "ordinal", "categories": [1, 2, 3, 0.3]},
    "smokes": {"kind": "boolean"},
    "agreed": {"kind": "categorical", "categories": [True]},
    "seen": {"kind": "date", "lower": "2015-03-01", "upper": "2022-09-30", "granularity": "month"},
    "born": {"kind": "date", "lower": "1930-01-01", "upper": "2004-12-31", "granularity": "year", "format": "%d.%m.%Y"},
    "day": {"kind": "date", "granularity": "weekday"},
}
TABLE = Schema.from_dict({"columns": COLUMNS})
CLASSES = ("no", "yes")
THREE = ("low", "it's middling", "high")
DATES = ("seen", "born", "day")


def encoders() -> dict[str, Encoder]:
    return {name: encoder_of(TABLE.columns[name]) for name in TABLE.features}


def feature(rng: np.random.Generator, name: str, encoder: Encoder) -> Feature:
    """A column with bins as a fit finds them: intervals, or groups of categories."""
    if not isinstance(encoder, NumericGrid):
        mapping = np.concatenate([np.arange(4), rng.integers(0, 4, 99)])[: encoder.n_codes]
        return Feature(name, encoder, rng.permutation(mapping), False)
    cells = encoder.cells
    cuts = np.unique(rng.integers(1, cells, min(30, cells // 2)))
    mapping = np.append(np.searchsorted(cuts, np.arange(cells), side="right"), len(cuts) + 1)
    return Feature(name, encoder, mapping, True)


def features(seed: int) -> tuple[Feature, ...]:
    rng = np.random.default_rng(seed)
    return tuple(feature(rng, name, encoder) for name, encoder in encoders().items())


def shape(rng: np.random.Generator, own: tuple[Feature, ...], depth: int) -> TreeShape:
    """A tree with thresholds and sets; not complete where the depth is odd."""
    splits = 2**depth - 1
    columns = rng.integers(0, len(own), splits)
    sets = [
        threshold_sets([rng.integers(0, max(1, own[c].n_bins - 1))])[0]
        if rng.random() < 0.5
        else code_set(rng.random(own[c].n_bins) < 0.5)
        for c in columns
    ]
    packed = np.array(sets, np.uint8).reshape(splits, 32)
    if depth % 2 == 0:
        return complete_shape(columns, packed)
    children = np.array([[k + 1, -1 - (splits - k)] for k in range(splits)])  # a chain to the left
    children[-1, 0] = -1
    return TreeShape(columns, packed, children)


def trees(rng: np.random.Generator, own: tuple[Feature, ...], n: int, scores: int) -> tuple[ScoreTree, ...]:
    results = []
    for k in range(n):
        of_tree = shape(rng, own, k % 5)
        leaves = of_tree.n_leaves
        results.append(ScoreTree(of_tree, rng.normal(size=(leaves, scores)) / 2, np.ones(leaves)))
    return tuple(results)


def scores(seed: int, n_scores: int, n_trees: int = 6) -> AdditiveScores:
    rng, own = np.random.default_rng(seed), features(seed)
    mains = tuple(
        MainEffect(i, rng.normal(size=(f.n_bins, n_scores)) / 3, np.ones((f.n_bins, n_scores)), np.ones(f.n_bins))
        for i, f in enumerate(own)
    )
    pairs = []
    for i, j in ((0, 3), (8, 5)):
        groups = tuple(np.minimum(np.arange(own[k].n_bins), rng.integers(1, 4)) for k in (i, j))
        size = tuple(int(group.max()) + 1 for group in groups)
        effect = rng.normal(size=(*size, n_scores)) / 3
        pairs.append(PairEffect((i, j), groups, effect, np.ones_like(effect), np.ones(size)))
    start = rng.normal(size=n_scores)
    grown = trees(rng, own, n_trees, n_scores)
    return AdditiveScores(start, own, mains, tuple(pairs), grown, np.ones(n_scores))


def additive(seed: int, n_trees: int = 6) -> AdditiveModel:
    of = scores(seed, 1, n_trees)
    mains = tuple(MainEffect(m.feature, m.effect[:, 0], m.sd[:, 0], m.counts) for m in of.mains)
    pairs = tuple(PairEffect(p.features, p.groups, p.effect[..., 0], p.sd[..., 0], p.counts) for p in of.pairs)
    own = tuple(Tree(t.shape, t.values[:, 0], t.support) for t in of.trees)
    return AdditiveModel(CLASSES, float(of.intercept[0]), of.features, mains, pairs, own)


def number(seed: int, loss: str, power: float | None = None) -> AdditiveRegressionModel:
    return AdditiveRegressionModel("y", -2.0, 3.0, loss, 0.9, scores(seed, 1), power)


def forest(seed: int, link: Link, n: int = 15) -> TreeEnsembleModel:
    rng, own = np.random.default_rng(seed), features(seed)
    votes = link.name == "share"
    grown = [Tree(t.shape, t.values[:, 0], t.support) for t in trees(rng, own, n, 1)]
    if votes:  # of -1 and 1: ties are common
        grown = [Tree(t.shape, np.where(t.values > 0, 1.0, -1.0) / n, t.support) for t in grown]
    return TreeEnsembleModel(CLASSES, 0.0 if votes else 0.3, own, tuple(grown), link)


def decision_list(seed: int, classes: tuple[str, ...], n: int = 15) -> DecisionListModel:
    rng = np.random.default_rng(seed)
    own = encoders()
    encoding = TableEncoding(tuple(own), tuple(own.values()))
    rules = []
    for _ in range(n):
        conditions = []
        for _ in range(rng.integers(1, 4)):
            column = int(rng.integers(0, len(own)))
            test = str(rng.choice(TESTS if isinstance(encoding.encoders[column], NumericGrid) else TESTS[2:]))
            cells = encoding.encoders[column].n_codes - 1
            conditions.append(Condition(column, test, int(rng.integers(1, cells))))
        rules.append(ListRule(tuple(conditions), int(rng.integers(0, len(classes))), rng.uniform(0, 50, len(classes))))
    rules.append(ListRule((), 0, None))
    return DecisionListModel(classes, encoding, tuple(rules), 2.0)


def halfspace(seed: int, norm: float | None, intercept: bool, radius: int = 32767) -> HalfspaceModel:
    rng = np.random.default_rng(seed)
    encoder = RowEncoder.of(TABLE, norm, radius, intercept)
    weights, noise = rng.normal(size=encoder.width), np.linspace(0.1, 0.2, encoder.width)
    promise = ErrorPromise(0.1, 0.05, 0.2, 0.0, "new_rows", 1000, 1010.5, 3.0)
    return HalfspaceModel(CLASSES, encoder, weights, noise, 4.0, -0.3, promise=promise)


def matrix(norm: float) -> HalfspaceModel:
    encoder = MatrixEncoder(4, RowClipper(norm, 1 << 20), 0.5)
    return HalfspaceModel(CLASSES, encoder, np.array([0.7, -1.1, 2.0, 0.3, -0.4]), 0.1, 3.0, 0.1)


def rule(seed: int) -> RuleModel:
    rng = np.random.default_rng(seed)
    age = NumericGrid(18, 90, 16)
    own = (age, encoders()["colour"], BooleanIndex())
    cells = int(np.prod([encoder.n_codes for encoder in own]))
    return RuleModel(CLASSES, ("age, in years", "colour", "smokes"), own, rng.random(cells) < 0.5, "drawn", (0.2, 0.9))


@cache
def models() -> dict[str, Model]:
    """Models by name, at least one of every kind."""
    curve, half = additive(1), halfspace(3, None, True)
    three = AdditiveClassesModel(THREE, scores(4, 3))
    rng, own = np.random.default_rng(5), features(5)
    masses = tuple(np.full(column.n_bins, 1 / column.n_bins) for column in own)
    of_trees = TreeClassesModel(THREE, rng.normal(size=3), own, masses, trees(rng, own, 10, 3), np.ones(3))
    votes, logistic = forest(6, Link("share")), forest(7, Link("logistic"))
    rising = forest(8, Link("m_alpha", 0.5, 1.7))
    numbers = {
        "number": number(9, "squared"),
        "quantile": number(10, "quantile"),
        "poisson": number(11, "poisson", 1.0),
    }
    knots = np.array([-3.0, -0.5, 0.25, 2.0])
    lists = decision_list(12, CLASSES)
    return {
        "additive": curve,
        "additive of one column": AdditiveModel(CLASSES, 0.1, curve.features[:1], curve.mains[:1], ()),
        "constant": AdditiveModel(CLASSES, 0.1, curve.features[:1], (), ()),
        "classes": three,
        "ordered": AdditiveOrderedModel(THREE, np.array([-1.0, 0.7]), scores(13, 1)),
        **numbers,
        "logistic trees": logistic,
        "votes of trees": votes,
        "m-alpha trees": rising,
        "trees of classes": of_trees,
        "list": lists,
        "list of classes": decision_list(14, THREE),
        "halfspace": half,
        "halfspace, most rows clipped": halfspace(15, 1.7, True, 1 << 24),
        "halfspace without intercept": halfspace(16, None, False, 100),
        "matrix": matrix(3.0),
        "rule": rule(17),
        "composed": ComposedModel(CLASSES, (0, 1, 1, 0, 1, 0, 0, 1), (rule(18), votes, lists), "odd"),
        "mean": MeanModel((curve, additive(19)), (300.0, 200.0)),
        "mean of classes": MeanModel((three, of_trees), (1.0, 2.0)),
        "mean of numbers": MeanNumberModel((numbers["number"], number(20, "squared")), (1.0, 3.0)),
        "recalibrated": RecalibratedModel(curve, knots, np.array([-2.0, -0.7, 0.4, 1.1])),
        "recalibrated at one knot": RecalibratedModel(votes, knots[:1], knots[1:2]),
        "vote": VoteModel(CLASSES, (votes, curve, lists, rising)),
        "vote of none": VoteModel(CLASSES, ()),
    }


NASTY = dict(
    zip(
        COLUMNS,
        (
            "tacit_0", "SELECT", "50% :a ?1 $2 {x} [y] `z`", "; DROP TABLE data; --", "it's", "\\", "患者 ü 😀",
            "a.b", '"*', "proba_yes", "x" * 63,
        ),
        strict=True,
    )
)  # fmt: skip
"""Names of the columns that mean something to a database or to a query."""


def renamed(model: Model) -> Model:
    """The same model, of columns with nasty names."""

    def walk(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: walk(value) for key, value in part.items()}
        if isinstance(part, list):
            return [walk(value) for value in part]
        return NASTY.get(part, part) if isinstance(part, str) else part

    return model_from_dict(walk(json.loads(json.dumps(model.to_dict()))))


def places(model: Any) -> list[float]:
    """All numbers at which a code of a column of numbers begins, of some: the edges themselves."""
    own = encoders()
    results: list[float] = []
    for one in getattr(model, "features", ()):
        if one.ordered and not one.encoder.dates:
            results += one.edges()[:-1].tolist()
    for name in ("age, in years", "price", "cuts"):
        grid = own[name]
        assert isinstance(grid, NumericGrid)
        results += grid.edges(np.linspace(0, grid.cells - 1, 40).astype(int)).tolist()
    return results


def rows_of(model: Model, n: int, seed: int = 0) -> pd.DataFrame:
    """Rows within bounds, beyond them, at edges and next to them, missing, unknown, extreme."""
    rng = np.random.default_rng(seed)
    edges = np.array(places(model))
    edges = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
    extreme = np.array([np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0, 0.0, 1e-9, 2.0**53, 0.1 + 0.2, -9.0, 0.5])

    def numbers(usual: np.ndarray) -> np.ndarray:
        where = rng.random(n)
        result = np.where(where < 0.5, usual, rng.choice(edges, n))
        return np.where(where > 0.9, rng.choice(extreme, n), result)

    def texts(values: list[Any]) -> np.ndarray:
        return rng.choice(np.array([*values, None, "", "of no kind", "RED"], object), n)

    def days(first: str, last: str) -> pd.Series:
        low, high = np.datetime64(first), np.datetime64(last)
        result = low + rng.integers(0, int((high - low).astype(int)), n)
        months = result.astype("M8[M]").astype("M8[D]")  # edges
        result = np.where(rng.random(n) < 0.3, months - rng.integers(0, 2, n), result)
        return pd.Series(np.where(rng.random(n) < 0.1, np.datetime64("NaT"), result).astype("M8[s]"))

    return pd.DataFrame(
        {
            "age, in years": numbers(rng.uniform(10, 99, n)),
            "price": numbers(10.0 ** rng.uniform(-4, 4, n)),
            "cuts": numbers(rng.uniform(-1.2, 1.2, n)),
            "colour": texts(["red", 'it\'s "green"', "grün"]),
            "mixed": texts(["a", "true", "True", "TRUE", "7", "A"]),
            "grade": rng.choice([1.0, 2.0, 3.0, 0.3, 0.1 + 0.2, 4.0, np.nan, np.inf, 0.0, 3.00001], n),
            "smokes": pd.Series(rng.choice(np.array([True, False, None], object), n), dtype="boolean"),
            "agreed": pd.Series(rng.choice(np.array([True, False, None], object), n), dtype="boolean"),
            "seen": days("2013-01-01", "2024-12-31"),
            "born": days("1920-01-01", "2010-12-31"),
            "day": days("1890-01-01", "2030-01-01"),
            **{f"x{k}": numbers(rng.normal(size=n) * 2) for k in range(4)},
        }
    )
