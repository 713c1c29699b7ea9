"""The estimator of boosted trees: a fit from a table to a model file and back, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tacit.cli.predict import predicted
from tacit.encoding.frames import columns_of
from tacit.models.files import load_model, save_model
from tacit.models.tree_ensemble import Link
from tacit.trees.estimator import BoostedTreesClassifier, MAlphaBoostClassifier, RandomTreesClassifier
from tests.pairwise import in_turn

PRINTED = {"analysis": "paper", "delta": 0.0, "neighbouring": "replace_one"}

SCHEMA = {
    "label": {"column": "income", "kind": "classes", "classes": ["low", "high"], "positive": "high"},
    "columns": {
        "age": {"kind": "numeric", "lower": 0, "upper": 100},
        "size": {"kind": "ordinal", "categories": ["s", "m", "l"]},
        "town": {"kind": "categorical", "categories": ["a", "b", "c"]},
    },
}


def table(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.random(n) * 100,
            "size": rng.choice(["s", "m", "l"], n),
            "town": rng.choice(["a", "b", "c", "?"], n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    wealthy = (frame["age"].fillna(0) > 40) & (frame["size"] != "s") | (frame["town"] == "b")
    return frame, np.where(rng.random(n) < 0.1, ~wealthy, wealthy).astype(int)


@pytest.fixture(scope="module")
def fitted() -> BoostedTreesClassifier:
    X, y = table(5000, 0)
    return BoostedTreesClassifier(epsilon=2.0, schema=SCHEMA, n_trees=100, random_state=0).fit(X, y)


def test_a_tree_reads_as_rules(fitted: BoostedTreesClassifier) -> None:
    said = fitted.model_.to_text(0)
    tree = fitted.model_.trees[0]
    assert said.count("add ") == tree.shape.n_leaves
    assert any(name in said for name in ("age", "size", "town"))


def test_conditions_in_words(fitted: BoostedTreesClassifier) -> None:
    model = fitted.model_
    age, town = model.features[0], model.features[2]
    bins = np.zeros(256, bool)
    bins[3 : age.n_bins - 1] = True
    edge = age.edges()[3]
    assert model.condition(0, bins) == f"age >= {edge:.4g}"
    assert model.condition(0, ~bins) == f"age < {edge:.4g} or missing"
    bins[:] = False
    bins[town.mapping[1]] = True
    assert model.condition(2, bins) == "town is b"
    assert model.condition(2, ~bins) == "town is not b"


@pytest.mark.parametrize(
    ("delta", "learner", "more"),
    in_turn(
        [0.0, 1e-6],
        [(BoostedTreesClassifier, {}), (MAlphaBoostClassifier, {"alpha": 1.0}), (RandomTreesClassifier, {})],
    ),
)
def test_a_column_of_one_category_is_in_nobodys_way(delta: float, learner: type, more: dict) -> None:
    """A schema that was found in private has such columns: what came with it may not be refused afterwards."""
    X, y = table(1500, 0)
    X = X.assign(town="a")
    town = {"kind": "categorical", "categories": ["a"]}
    for columns in ({**SCHEMA["columns"], "town": town}, {"town": town}):
        schema = {**SCHEMA, "columns": columns}
        model = learner(epsilon=4.0, delta=delta, schema=schema, random_state=0, **more).fit(X[list(columns)], y)
        chances = model.predict_proba(X[list(columns)])
        assert np.isfinite(chances).all()
        if len(columns) == 1:
            assert np.ptp(chances[:, 1]) == 0
        else:
            assert np.ptp(chances[:, 1]) > 0.1


def test_weights_of_classes_are_positive_and_of_rows_at_most_one() -> None:
    X, y = table(2000, 9)
    for weight in (0.0, -1.0, float("nan"), float("inf"), "1"):
        with pytest.raises(ValueError, match=r"(?s)must be a positive number.*Nothing was spent"):
            BoostedTreesClassifier(schema=SCHEMA, class_weight={"low": weight}).fit(X, y)
    arguments = {"epsilon": 1.0, "schema": SCHEMA, "n_trees": 5, "random_state": 1}
    plain = BoostedTreesClassifier(**arguments).fit(X, y)
    ones = BoostedTreesClassifier(**arguments).fit(X, y, sample_weight=np.ones(len(y)))
    # Weighted contributions are truncated once more: a unit of the fixed point per tree.
    assert np.abs(plain.decision_function(X) - ones.decision_function(X)).max() < 6 / 2**16
    with pytest.raises(ValueError, match=r"(?s)must lie in \(0, 1\].*row 0 is 7\.0.*Nothing was spent"):
        BoostedTreesClassifier(**arguments).fit(X, y, sample_weight=np.full(len(y), 7.0))


def test_links() -> None:
    assert Link("logistic").probability(0.0) == 0.5
    assert Link("share").probability([-2.0, 0.2]).tolist() == [0.0, 0.6]
    assert float(Link("m_alpha", 1.0).probability(2.0)) == pytest.approx(0.5 + 0.5 / 2**0.5)
    assert float(Link("m_alpha", 0.5, 4.0).probability(0.5)) == pytest.approx(0.5 + 0.5 / 2**0.5)
    for scale in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="positive and finite"):
            Link("m_alpha", 0.5, scale)
    with pytest.raises(ValueError, match="unknown link"):
        Link("probit")


def test_m_alpha_trees_have_a_face() -> None:
    X, y = table(4000, 7)
    for arguments in (
        {"alpha": 1.0, "criterion": "gini"},
        {"alpha": 0.5, "delta": 0.0},
        {"alpha": "calibrated", "delta": 0.0, "neighbouring": "replace_one", "analysis": "paper"},
        {"alpha": 1.0, "criterion": "gini", "max_leaves": 5},
        {"alpha": 0.5, "criterion": "smoothed"},
    ):
        model = MAlphaBoostClassifier(epsilon=20.0, schema=SCHEMA, n_trees=2, random_state=0, **arguments).fit(X, y)
        assert model.model_.link.name == "m_alpha"
        assert np.isfinite(model.predict_proba(X)).all()
        assert model.certificate_.epsilon == 20.0
        assert (model.predict_proba(X)[:, 1] > 0.5).tolist() == (model.decision_function(X) > 0).tolist()


@pytest.mark.parametrize(
    ("alpha", "epsilon", "more"), in_turn([0.1, 0.3, 0.5, 0.9], [(np.inf, {}), (20.0, {}), (20.0, PRINTED)])
)
def test_every_alpha_predicts_by_the_sign(alpha: float, epsilon: float, more: dict, tmp_path) -> None:
    """The inverse canonical link is 1/2 where nearly all scores are: neither predictions nor probabilities may tie."""
    X, y = table(4000, 7)
    learner = MAlphaBoostClassifier(
        epsilon=epsilon, schema=SCHEMA, alpha=alpha, n_trees=3, max_depth=3, random_state=0, **more
    )
    model = learner.fit(X, y)
    score, chances = model.decision_function(X), model.predict_proba(X)
    assert np.array_equal(model.predict(X) == model.classes_[1], score > 0)
    order = np.argsort(score)
    assert (np.diff(chances[order, 1]) >= 0).all()
    assert len(np.unique(chances[:, 1])) > 0.9 * len(np.unique(score))
    truth = (1 - y).astype(bool)  # classes_ are sorted: "high", "low"
    losses = -np.log(np.where(truth, chances[:, 1], chances[:, 0]))
    rate = truth.mean()
    if not more:
        assert np.mean((score > 0) != truth) < 0.2
        assert losses.mean() < 0.95 * -(rate * np.log(rate) + (1 - rate) * np.log(1 - rate))
    save_model(model.model_, tmp_path / "model.json")
    again, _ = load_model(tmp_path / "model.json")
    assert np.array_equal(again.predict(columns_of(X)) == "low", score > 0)
    assert np.array_equal(again.predict_proba(columns_of(X))[:, ::-1], chances)
    assert np.array_equal(np.array(predicted(again, columns_of(X))["prediction"]) == "low", score > 0)  # command line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0.0}, "alpha must be a number in"),
        ({"alpha": 1.0, "analysis": "paper"}, "pure epsilon and a public number of rows"),
        (
            {"alpha": 1.0, "analysis": "paper", "delta": 0, "neighbouring": "replace_one", "max_leaves": 4},
            "complete trees",
        ),
        (
            {"alpha": 1.0, "analysis": "paper", "delta": 0, "neighbouring": "replace_one", "criterion": "smoothed"},
            "releases no weights of leaves",
        ),
        ({"alpha": 1.0, "epsilon": 1e-4, "delta": 0, "n_trees": 5000}, "more splits than the budget can buy"),
        ({"alpha": 1.0, "max_leaves": 5, "max_depth": 2}, "at most 4 leaves"),
        ({"alpha": 1.0, "n_bins": 1, **PRINTED}, "n_bins"),
        ({"alpha": 1.0, "leaf_bound": 1e-4, **PRINTED}, "leaf_bound"),
        ({"noise": "gaussian", "delta": 0}, "no finite epsilon at delta=0"),
    ],
)
def test_refuses_what_makes_no_sense(arguments: dict, message: str) -> None:
    X, y = table(50, 0)
    with pytest.raises(ValueError, match=f"(?s){message}.*[Nn]othing was spent"):
        MAlphaBoostClassifier(schema=SCHEMA, **arguments).fit(X, y)
