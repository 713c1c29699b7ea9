"""What a schema expects of effects helps where noise hides them, costs nothing, and gives way to the rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.additive.estimator import AdditiveBoostClassifier, AdditiveBoostRegressor
from tacit.additive.public_prior import PublicPrior, priors_of
from tacit.additive.term import Directions
from tacit.additive.tuning import Expecting
from tacit.arrays import Floats
from tacit.binning.measure import Bins
from tacit.encoding.table import TableEncoding
from tacit.schema import Schema, SchemaError

NUMBER = {"kind": "numeric", "lower": 0, "upper": 4, "bins": 4}
LISTED = {"categories": ["a", "b", "c"]}
CODES = np.array([0, 1, 2, 3, 4])  # three categories, "other" and missing
YEARS = {"kind": "date", "granularity": "year", "lower": "2000-01-01", "upper": "2002-12-31"}


@pytest.mark.parametrize(
    ("column", "mapping", "counts", "heights"),
    [
        # a direction is the share of rows below the middle of a bin, so far-away bounds do not matter
        (NUMBER | {"prior": "increasing"}, [0, 0, 1, 2, 3], [10, 20, 10, 5], [5, 20, 35, None]),
        (NUMBER | {"prior": "decreasing"}, [0, 0, 1, 2, 3], [10, 20, 10, 5], [-5, -20, -35, None]),
        # bins 0 to 2, 2 to 3 and 3 to 4 have their middles at 1, 2.5 and 3.5
        (NUMBER | {"prior": [[0, 0], [2, 4], [4, 0]]}, [0, 0, 1, 2, 3], [10, 20, 10, 5], [2, 3, 1, None]),
        (NUMBER | {"prior": [[3, 7], [3.5, 9]]}, [0, 0, 1, 2, 3], [10, 20, 10, 5], [7, 7, 9, None]),
        (YEARS | {"prior": "increasing"}, [0, 1, 2, 3], [4, 4, 4, 0], [2, 6, 10, None]),
        ({"kind": "ordinal", **LISTED, "prior": "increasing"}, CODES, [9, 5, 3, 1, 1], [0, 1, 2, None, None]),
        (
            {"kind": "categorical", **LISTED, "prior": [["c", 1], ["a", -1]]},
            CODES,
            [9, 5, 3, 1, 1],
            [-1, None, 1] + [None] * 2,
        ),
        # rare categories share a bin, which has the mean height of those with one
        ({"kind": "ordinal", **LISTED, "prior": "increasing"}, [0, 1, 1, 1, 2], [9, 8, 1], [0, 1.5, None]),
        ({"kind": "boolean", "prior": "decreasing"}, [0, 1, 2], [6, 6, 3], [0, -1, None]),
    ],
)
def test_shape_by_value(column, mapping, counts, heights):
    schema = Schema.from_dict({"label": {"column": "y", "classes": [0, 1]}, "columns": {"x": column}})
    assert Schema.from_dict(schema.to_dict()) == schema
    expected = priors_of(schema, TableEncoding.of(schema))[0]
    counts = np.array(counts, float)
    shape = expected.shape(Bins(np.array(mapping), counts, ordered=column["kind"] in ("numeric", "date")))
    known = np.array([height is not None for height in heights])
    mean = sum(n * h for n, h in zip(counts, heights, strict=True) if h is not None) / counts[known].sum()
    centred = np.array([0.0 if height is None else height - mean for height in heights])
    np.testing.assert_allclose(shape, centred / math.sqrt(counts @ centred**2 / counts.sum()), rtol=1e-12)


def test_one_bin_has_no_shape():
    schema = Schema.from_dict({"columns": {"x": NUMBER | {"prior": "increasing"}}})
    expected = priors_of(schema, TableEncoding.of(schema))[0]
    assert expected.shape(Bins(np.array([0, 0, 0, 0, 1]), np.array([40.0, 3.0]), ordered=True)) is None


class Measured:
    """A term that was measured along its shape."""

    prior_mean: Floats | None = None

    def __init__(self, size: float, variance: float) -> None:
        self.size, self.variance = size, variance

    def size_along(self, shape: Floats, directions: Directions) -> tuple[float, float]:
        del directions
        scale = float(np.abs(shape).max())  # heights of -1 and 1 before they are weighted
        return self.size, self.variance / scale**2


def test_size_is_the_posterior_mean_of_what_columns_have_in_common():
    columns = {
        "x": {**NUMBER, "prior": "increasing", "importance": 1},
        "z": {**NUMBER, "prior": "decreasing", "importance": 4},
    }
    schema = Schema.from_dict({"columns": columns})
    bins = Bins(np.array([0, 0, 1, 1, 2]), np.array([10.0, 10.0, 0.0]), ordered=True)
    terms = [Measured(2.0, 0.3), Measured(0.5, 0.1)]
    numbers = Expecting(likely=0.4, doubt=0.6, spread=0.2)
    prior = PublicPrior([(term, bins) for term in terms], priors_of(schema, TableEncoding.of(schema)), numbers)  # type: ignore[misc]
    # ranks 1 and 4 weigh 1 and 1/2: their squares are .8 and .2 of the sum
    np.testing.assert_allclose(terms[0].prior_mean, 0.4 * math.sqrt(0.8) * np.array([-1, 1, 0]))
    np.testing.assert_allclose(terms[1].prior_mean, 0.4 * math.sqrt(0.2) * np.array([1, -1, 0]))
    prior.learn(Directions.alone(1.0, 1.0))
    precisions = np.array([1 / 0.36, 1 / (0.3 / 0.8 + 0.04), 1 / (0.1 / 0.2 + 0.04)])
    size = precisions @ [0.4, 2.0, 0.5] / precisions.sum()
    np.testing.assert_allclose(terms[0].prior_mean, size * math.sqrt(0.8) * np.array([-1, 1, 0]))
    terms[0].size = terms[1].size = -3.0  # the other way round: nothing is expected any more
    prior.learn(Directions.alone(1.0, 1.0))
    assert not any(np.any(term.prior_mean) for term in terms)


def world(n: int, seed: int) -> tuple[dict[str, Floats], Floats]:
    generator = np.random.default_rng(seed)
    columns = {f"x{i}": generator.random(n) for i in range(12)}
    score = sum((1 if i % 2 else -1) * (columns[f"x{i}"] - 0.5) for i in range(12))
    return columns, (generator.random(n) < 1 / (1 + np.exp(-1.5 * score))).astype(int)


def schema_of(prior: bool, wrong: bool = False) -> Schema:
    bounds = {"kind": "numeric", "lower": 0, "upper": 1}
    way = ["increasing", "decreasing"] if wrong else ["decreasing", "increasing"]
    columns = {f"x{i}": {**bounds, **({"prior": way[i % 2]} if prior else {})} for i in range(12)}
    return Schema.from_dict({"label": {"column": "y", "classes": [0, 1]}, "columns": columns})


def order(model: AdditiveBoostClassifier | AdditiveBoostRegressor, test: dict[str, Floats], y: Floats) -> float:
    """The correlation of what is predicted with the truth."""
    values = model.decision_function(test) if isinstance(model, AdditiveBoostClassifier) else model.predict(test)
    return float(np.corrcoef(values, y)[0, 1])


def test_right_prior_helps_where_noise_hides_columns():
    """Over 12 pairs of fits the correlation rises by .19 on average, with a standard error of .015."""
    test, truth = world(4000, 10**6)
    gains = []
    for seed in range(12):
        X, y = world(400, seed)
        fits = [
            AdditiveBoostClassifier(epsilon=0.2, schema=schema_of(prior), random_state=seed).fit(X, y)
            for prior in (False, True)
        ]
        gains.append(order(fits[1], test, truth) - order(fits[0], test, truth))

    assert np.mean(gains) > 0.08


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize("estimator", [AdditiveBoostClassifier, AdditiveBoostRegressor])
def test_prior_gives_way_to_rows(estimator, wrong):
    """Without noise a right prior and a wrong one lead to the same predictions, up to what smoothing leaves."""
    X, y = world(8000, 3)
    without, given = schema_of(False), schema_of(True, wrong)
    if estimator is AdditiveBoostRegressor:
        label = {"column": "y", "kind": "numeric", "lower": 0, "upper": 1}
        without, given = (Schema.from_dict({**each.to_dict(), "label": label}) for each in (without, given))
    fits = [
        estimator(epsilon=math.inf, schema=schema, interactions=False, random_state=0).fit(X, y)
        for schema in (without, given)
    ]
    first, second = (
        fit.model_.mains if estimator is AdditiveBoostClassifier else fit.model_.scores.mains for fit in fits
    )
    for plain, expected in zip(first, second, strict=True):
        np.testing.assert_allclose(expected.effect, plain.effect, atol=0.3 * np.abs(plain.effect).max())


def test_prior_costs_nothing():
    """The same questions for the same budget; only how columns share the later rounds follows what was released."""
    X, y = world(500, 5)
    certificates = [
        AdditiveBoostClassifier(epsilon=1.0, schema=schema_of(prior), random_state=0).fit(X, y).certificate_
        for prior in (False, True)
    ]
    assert certificates[0].charges == certificates[1].charges
    questions = [[entry.label for entry in certificate.entries] for certificate in certificates]
    assert sorted(map(str, questions[0])) == sorted(map(str, questions[1]))


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (NUMBER | {"prior": "up"}, "'prior'.*'increasing'"),
        (NUMBER | {"prior": [[0, 1]]}, "2 to 1000"),
        (NUMBER | {"prior": [[0, 1], [5, 2]]}, "from 0 to 4"),
        (NUMBER | {"prior": [[3, 1], [1, 2]]}, "increasing numbers"),
        (NUMBER | {"prior": [[0, 1], [4, 1]]}, "one height"),
        (NUMBER | {"prior": [[0, 1], [4, math.inf]]}, "not finite"),
        (NUMBER | {"prior": [["low", 1], ["high", 2]]}, "must be a number"),
        (NUMBER | {"importance": 1}, "without 'prior'"),
        (NUMBER | {"prior": "increasing", "importance": 0}, "whole number"),
        (NUMBER | {"prior": "increasing", "monotone": "decreasing"}, "declared decreasing"),
        ({"kind": "categorical", **LISTED, "prior": "increasing"}, "value, height"),
        ({"kind": "categorical", **LISTED, "prior": [["a", 1], ["d", 2]]}, "'d' is no category"),
        ({"kind": "ordinal", **LISTED, "prior": [["a", 1], ["a ", 2]]}, "given twice"),
        ({"kind": "boolean", "prior": [[False, 0], [True, 1]]}, "'increasing', 'decreasing', or leave"),
        ({"kind": "date", "granularity": "weekday", "prior": 3}, "'increasing'"),
        ({"kind": "ignore", "prior": "increasing"}, "prior"),
    ],
)
def test_schema_refuses(column, words):
    with pytest.raises(SchemaError, match=words):
        Schema.from_dict({"columns": {"x": column}})
