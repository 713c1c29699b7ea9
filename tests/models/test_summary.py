"""What a fit says it saw: from what was released, with the noise that was added, and a warning where it must."""

from __future__ import annotations

import math
import warnings
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.stats import laplace, norm

import tacit
from tacit.binning.tuning import FEWEST_ROWS
from tacit.encoding.grid import NumericGrid
from tacit.models.additive import AdditiveScores, MainEffect
from tacit.models.feature import Feature
from tacit.models.summary import (
    FALSE_ALARM,
    FEWEST,
    Doubtful,
    Estimate,
    _noise_reach,
    _reach,
    _remedy,
    seen,
    terms_beyond_noise,
)
from tacit.privacy.charges import Gaussian, Laplace, NonPrivate, Repeated
from tacit.privacy.label import Stage
from tacit.privacy.strength import WeakPromise
from tests.chance import ALARM, Z

pytestmark = pytest.mark.usefixtures("few_rounds")

SCHEMA = {
    "label": {"column": "y", "kind": "classes", "classes": ["no", "yes"], "positive": "yes"},
    "columns": {
        "a": {"kind": "numeric", "lower": 0, "upper": 1},
        "b": {"kind": "numeric", "lower": 0, "upper": 1},
    },
}


def table(n: int, seed: int = 0) -> tuple[dict[str, Any], Any]:
    source = np.random.default_rng(seed)
    X = {"a": source.uniform(size=n), "b": source.uniform(size=n)}
    return X, np.where(X["a"] > 0.5, "yes", "no")


def fit(X: Any, y: Any, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tacit.AdditiveBoostClassifier(schema=SCHEMA, random_state=0, **more).fit(X, y)


def test_the_number_of_rows_is_told_with_its_noise() -> None:
    """Over seeds, the error of the released number has the standard deviation that the summary states."""
    errors = []
    for seed in range(40):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X, y = table(3000)
            learner = tacit.AdditiveBoostClassifier(epsilon=0.5, schema=SCHEMA, random_state=seed, interactions=False)
            rows = learner.fit(X, y).summary_.rows
        assert rows is not None
        assert rows.sd is not None
        errors.append((rows.value - 3000) / rows.sd)
    low, high = stats.chi2(40).ppf([ALARM / 2, 1 - ALARM / 2]) / 40
    assert low < np.mean(np.square(errors)) < high
    assert abs(np.mean(errors)) < Z / 40**0.5


@pytest.mark.parametrize(
    ("value", "sd", "words"),
    [
        (19_592.3, 55.0, "about 19,590 ± 110"),
        (19_592.3, 3.2, "about 19,592 ± 6"),
        (19_592.3, 1234.0, "about 19,600 ± 2,500"),
        (30.2, 14.1, "about 30 ± 28"),
        (-3.0, 14.1, "about 0 ± 28"),
        (19_592.3, None, "about 20,000"),
    ],
)
def test_a_number_is_told_to_the_place_where_its_noise_begins(value: float, sd: float | None, words: str) -> None:
    """19,592 with a noise of 110 was told as 20,000 ± 110."""
    assert str(Estimate(value, sd)) == words


def test_rows_that_count_by_the_weight_of_their_class_are_not_called_rows_alone() -> None:
    """With classes weighed 1 and .1 a sum of weights was told as a number of rows."""
    X, y = table(3000)
    result = fit(X, y, class_weight={"no": 1.0, "yes": 0.1}, epsilon=4.0, interactions=False).summary_
    assert result.rows.value < 2000
    assert any("rows, each weighted by its class, with a declared label" in words for words in result.sentences)
    assert not any("class weighs" in words for words in fit(X, y, interactions=False).summary_.sentences)


def test_labels_that_do_not_match_are_asked_about() -> None:
    X, y = table(3000)
    with pytest.warns(Doubtful, match="do the labels match the schema"):
        model = tacit.AdditiveBoostClassifier(schema=SCHEMA, random_state=0).fit(X, np.char.upper(y.astype(str)))
    asked = "rows have a declared label, which is within the noise: do the labels match the schema?"
    assert model.summary_.concerns[0].endswith(asked)


def test_labels_that_do_not_match_are_asked_about_where_noise_is_small() -> None:
    """A fit goes by 30 rows at least; with epsilon 3 those were told as used, and no label was declared."""
    X, y = table(3000)
    result = fit(X, np.char.upper(y.astype(str)), epsilon=3.0, interactions=False).summary_
    assert result.concerns[0] == "at most about 30 rows have a declared label: do the labels match the schema?"
    assert not any("were used" in words for words in result.sentences)
    assert any("were used" in words for words in fit(X, y, epsilon=3.0, interactions=False).summary_.sentences)


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_a_forest_tells_rows_with_their_noise_and_asks_where_there_are_none(delta: float) -> None:
    """It told 13 rows of 300, whose labels nobody had declared, as if they had been used."""
    X, y = table(2000)
    learner = tacit.RandomTreesClassifier(schema=SCHEMA, n_trees=3, random_state=0, delta=delta)
    rows = learner.fit(X, y).summary_.rows
    assert rows is not None
    assert rows.sd is not None
    assert 0 < rows.sd < 100
    assert abs(rows.value - 2000) < 5 * rows.sd
    with pytest.warns(Doubtful, match="do the labels match the schema"):
        learner.fit(X, np.char.upper(y.astype(str)))


@pytest.mark.parametrize(
    "learner",
    [
        tacit.BoostedTreesClassifier(schema=SCHEMA, n_trees=2, random_state=0),
        tacit.RandomTreesClassifier(schema=SCHEMA, n_trees=2, mechanism="exponential", random_state=0),
    ],
)
def test_trees_that_count_no_rows_tell_none(learner: Any) -> None:
    """Boosted trees told the sum of their curvatures, a quarter of the rows; others the number of their leaves."""
    assert learner.fit(*table(2000)).summary_.rows is None


def test_missing_values_are_told() -> None:
    X, y = table(20_000)
    X["b"][: int(0.65 * len(y))] = np.nan
    learner = fit(X, y, epsilon=2.0)
    assert learner.summary_.missing["b"] == pytest.approx(0.65, abs=0.03)
    assert "a" not in learner.summary_.missing
    assert any(words.startswith("b: 6") and words.endswith("% missing") for words in learner.summary_.concerns)
    X["b"][:] = np.nan
    assert "b: at least 83 % missing" in fit(X, y, epsilon=8.0).summary_.concerns


@pytest.mark.parametrize(
    ("known", "words"),
    [(0.0, " are not declared categories: do they match"), (0.8, " not a declared category")],
)
def test_values_of_no_declared_category_are_told(known: float, words: str) -> None:
    """A column coded 1 and 2 whose schema has f and m went by without a word."""
    X, y = table(20_000)
    source = np.random.default_rng(2)
    X["sex"] = np.where(source.uniform(size=20_000) < known, source.choice(["f", "m"], 20_000), "1")
    columns = {**SCHEMA["columns"], "sex": {"kind": "categorical", "categories": ["f", "m"]}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = tacit.AdditiveBoostClassifier(
            epsilon=2.0, schema={**SCHEMA, "columns": columns}, random_state=0, interactions=False
        )
        summary = model.fit(X, y).summary_
    assert summary.unknown == {"sex": pytest.approx(1 - known, abs=0.05)}
    assert any(said.startswith("sex: ") and words in said for said in summary.sentences)
    assert bool(summary.concerns) == (known < 0.5)
    assert not summary.missing


def test_nothing_stands_out_only_where_nothing_does() -> None:
    X, y = table(2000)
    assert fit(X, y).summary_.stands_out is True
    noise = np.random.default_rng(1).choice(["no", "yes"], 300)
    learner = fit(table(300)[0], noise, epsilon=0.3, interactions=False)
    assert learner.summary_.stands_out is False
    assert any("no effect is distinguishable" in words for words in learner.summary_.sentences)


@pytest.mark.parametrize(("columns", "largest", "beyond"), [(1, 3.2, True), (40, 3.2, False), (40, 4.2, True)])
def test_a_term_stands_out_by_itself_and_for_the_number_of_terms(columns: int, largest: float, beyond: bool) -> None:
    """Columns within the noise were ranked beside those with an effect. 3.2 deviations are .0014 both ways."""
    features = tuple(Feature(f"c{j}", NumericGrid(0.0, 4.0, 4), np.arange(5), ordered=True) for j in range(columns + 1))
    effects = np.ones((columns + 1, 5, 1))
    effects[0, 1], effects[1:, 2] = largest, -2.5
    mains = tuple(MainEffect(j, effects[j], np.ones((5, 1)), np.ones(5)) for j in range(columns + 1))
    scores = AdditiveScores(np.zeros(1), features, mains, (), ())
    assert terms_beyond_noise(scores) == ({"c0"} if beyond else set())


PAPER = partial(tacit.RandomTreesClassifier, mechanism="exponential", analysis="paper", max_depth=2, n_trees=3)


@pytest.mark.parametrize(
    ("learner", "corner", "agree"),
    [
        (PAPER, False, True),
        (PAPER, True, False),  # the leaves of some trees agree
        (partial(tacit.RandomTreesClassifier, mechanism="exponential"), False, False),
        (tacit.RandomTreesClassifier, False, False),
        (partial(tacit.MAlphaBoostClassifier, criterion="gini"), False, False),
    ],
)
def test_leaves_that_all_agree_are_told(learner: Any, corner: bool, agree: bool) -> None:
    """Of 7 % positives the more frequent class is the label of every leaf; relative to the base rate it is not."""
    X, _ = table(2000)
    y = np.where(X["a"] > 0.93 if corner else np.arange(2000) % 14 == 0, "yes", "no")
    made = learner(epsilon=200.0, delta=0, neighbouring="replace_one", schema=SCHEMA, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made.fit(X, y)
    told = [str(one.message) for one in caught if issubclass(one.category, Doubtful)]
    assert any("all leaves agree" in words for words in told) is agree
    assert (len(np.unique(made.predict_proba(X)[:, 1])) == 1) is agree


@pytest.mark.parametrize("mechanism", ["laplace", "exponential"])
@pytest.mark.parametrize(("upper", "agree"), [(1.0, False), (1000.0, True)])
def test_rows_that_share_a_leaf_of_every_tree_are_told(mechanism: str, upper: float, agree: bool) -> None:
    """Where bounds are far too wide all rows are in one cell, and leaves without rows differ by their noise alone."""
    X, y = table(2000)
    schema = {**SCHEMA, "columns": {name: {"kind": "numeric", "lower": 0, "upper": upper} for name in X}}
    model = tacit.RandomTreesClassifier(mechanism=mechanism, epsilon=6.0, schema=schema, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    told = [str(one.message) for one in caught if issubclass(one.category, Doubtful)]
    assert any("the same prediction" in words for words in told) is agree
    assert (len(np.unique(model.predict_proba(X)[:, 1])) == 1) is agree


def test_it_follows_from_the_file_alone() -> None:
    learner = fit(*table(2000))
    assert seen(learner.model_, learner.certificate_) == learner.summary_


@pytest.mark.usefixtures("few_trees")
def test_a_weak_promise_is_warned_of() -> None:
    X, y = table(2000)
    for more, words in (({"delta": 1e-3}, "delta 0.001 is above"), ({"epsilon": 11.0}, "epsilon 11 is above 10")):
        with pytest.warns(WeakPromise, match=words) as caught:
            tacit.AdditiveBoostClassifier(schema=SCHEMA, **more).fit(X, y)
        assert caught[0].filename == __file__  # who called fit, not the library
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeakPromise)
        fit(X, y, delta=1e-5)
        fit(X, y, epsilon=math.inf)  # who asks for no privacy by name knows


def test_a_search_says_nothing_of_its_candidates() -> None:
    """What one of them warns of would be a release, and tell how many there were."""
    candidates = [tacit.AdditiveBoostClassifier(schema=SCHEMA), tacit.RandomTreesClassifier(schema=SCHEMA)]
    search = tacit.PrivateSelection(candidates, epsilon=30.0, strategy="each", random_state=0)
    with pytest.warns(WeakPromise) as caught:
        search.fit(*table(400))
    assert sum(issubclass(warning.category, WeakPromise) for warning in caught) == 1
    assert search.summary_ == search.best_.summary_


def test_an_identifier_without_a_unit_asks_the_question() -> None:
    schema = {**SCHEMA, "columns": {**SCHEMA["columns"], "patient_id": {"kind": "id"}}}
    X, y = table(2000)
    with pytest.warns(Doubtful, match="may one patient_id have several rows"):
        tacit.AdditiveBoostClassifier(schema=schema).fit({**X, "patient_id": np.arange(2000)}, y)
    unit = {**schema, "unit": {"column": "patient_id", "max_rows": 1}}
    learner = tacit.AdditiveBoostClassifier(schema=unit).fit({**X, "patient_id": np.arange(2000)}, y)
    assert learner.certificate_.protected == "one patient_id, at most one row"


def test_the_bin_of_missing_values_is_found_without_its_edges() -> None:
    X, y = table(4000)
    X["a"][:500] = np.nan
    model = fit(X, y, epsilon=5.0).model_
    for feature in model.features:
        labels = feature.bin_labels()
        assert labels[feature.missing_bin] == "missing"
        assert len(labels) == feature.n_bins


def test_the_fewest_rows_that_are_spoken_of_are_those_that_fits_go_by() -> None:
    """Models may not know of learners, so the number stands twice."""
    assert FEWEST == FEWEST_ROWS


@cache
def wide(columns: int, epsilon: float, seed: int, delta: float = 1e-6, gap: float = 0.0) -> Any:
    """A fit to 300 rows of so many full columns; of the first a share may be missing."""
    source = np.random.default_rng(seed)
    X = {f"c{j}": source.uniform(size=300) for j in range(columns)}
    X["c0"][: round(300 * gap)] = np.nan
    declared = {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in X}
    schema = {"label": SCHEMA["label"], "columns": declared}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = tacit.AdditiveBoostClassifier(
            epsilon=epsilon, delta=delta, schema=schema, random_state=seed, interactions=False
        )
        return learner.fit(X, np.where(X["c1"] > 0.5, "yes", "no"))


@pytest.mark.parametrize(("columns", "epsilon", "delta"), [(120, 2.5, 1e-6), (40, 4.0, 0.0), (12, 0.8, 1e-6)])
def test_full_columns_are_not_called_partly_missing(columns: int, epsilon: float, delta: float) -> None:
    """Of 1,200 full columns 55 were called partly missing, up to 66 %: noisy counts, of which some are large."""
    for seed in range(2):
        result = wide(columns, epsilon, seed, delta).summary_
        assert not result.missing
        assert not any("missing" in words for words in result.sentences)


@pytest.mark.parametrize("columns", [12, 120])  # listed one by one, and as one
def test_columns_that_are_missing_are_still_told_among_many(columns: int) -> None:
    assert set(wide(columns, 40.0 * columns / 12, 0, gap=0.9).summary_.missing) == {"c0"}


def test_noise_reaches_as_far_as_its_distribution_and_the_number_of_findings_say() -> None:
    """Of n draws of the noise, one goes beyond with a chance of one in a thousand."""
    assert _reach(Gaussian(7.0), 1e-3 / 2400) == pytest.approx(7 * norm.isf(1e-3 / 2400))
    assert _reach(Laplace(7.0), 1e-3 / 2400) == pytest.approx(laplace.isf(1e-3 / 2400, scale=7))
    assert _reach(NonPrivate(), 0.5) == 0
    many, few = wide(120, 2.5, 0), wide(12, 2.5, 0)
    for fitted, columns in ((many, 120), (few, 12)):
        entries = [entry for entry in fitted.certificate_.entries if entry.stage is Stage.BINNING]
        binning = [entry.charge for entry in entries if isinstance(entry.charge, Repeated) or entry.subject == "c0"]
        noisiest = max(getattr(charge, "charge", charge).noise_multiplier for charge in binning)
        reach = _noise_reach(fitted.certificate_, 2 * columns)
        assert reach("c0") == pytest.approx(noisiest * norm.isf(FALSE_ALARM / (2 * columns)))


def test_values_of_an_identifier_are_not_to_be_listed() -> None:
    """A column of identifiers with some of them as categories was asked to match the schema: to list the rest."""
    assert _remedy("patient_id") == "declare it with kind = 'id'"
    assert _remedy("colour") == "do they match the schema?"
