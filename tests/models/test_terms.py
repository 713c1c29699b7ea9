"""Terms add up to predictions, for every kind of model that is a sum of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, softmax

import tacit
from tacit.estimators.classifier import column_importance
from tacit.models.additive import MainEffect, PairEffect
from tacit.models.additive_scores import means
from tacit.models.base import ClassModel
from tacit.models.files import kinds
from tacit.models.mean import MeanModel, MeanNumberModel
from tacit.models.recalibrated import RecalibratedModel
from tacit.models.terms import REST, terms_of
from tacit.models.tree import ScoreTree, Tree
from tacit.models.tree_ensemble import Link, TreeEnsembleModel
from tacit.privacy.request import RequestError
from tests.models.test_mutated_files import ROWS, models, rows, schema

NO_SUMS = {"composed", "decision_list", "rule", "vote"}


def check_sum(model: Any, data: Any = ROWS) -> None:
    """Contributions and the start give the prediction of every row."""
    terms = terms_of(model, data)
    assert terms.parts.shape == terms.sd.shape == (len(terms.start), len(terms.names), terms.start.shape[1])
    if not isinstance(model, ClassModel):
        said = terms.scores[:, 0] if terms.unit == model.target else means(terms.scores[:, 0])
        np.testing.assert_allclose(np.clip(said, model.lower, model.upper), model.predict(data), rtol=1e-9)
    elif hasattr(model, "cuts"):
        np.testing.assert_allclose(terms.scores[:, 0], model.order_score(data), rtol=1e-9, atol=1e-12)
    elif terms.start.shape[1] > 1:
        np.testing.assert_allclose(softmax(terms.scores, axis=1), model.predict_proba(data), rtol=1e-9)
    else:
        np.testing.assert_allclose(expit(terms.scores[:, 0]), model.predict_proba(data)[:, 1], rtol=1e-9)


def with_pair(model: Any) -> Any:
    """An additive model of one score with an interaction of its first two columns."""
    groups = [np.arange(feature.n_bins) % 3 for feature in model.features[:2]]
    effect = np.linspace(-0.5, 0.7, 9).reshape(3, 3)
    pair = PairEffect((0, 1), (groups[0], groups[1]), effect, np.full((3, 3), 0.2), np.arange(1.0, 10.0).reshape(3, 3))
    return replace(model, pairs=(pair,))


def test_pairs_and_trees_are_terms() -> None:
    model = with_pair(models()["additive"])
    trees: Any = models()["tree_ensemble"]
    whole = replace(
        model,
        features=trees.features,
        mains=tuple(
            MainEffect(
                place, np.linspace(0.0, 1.0, feature.n_bins), np.full(feature.n_bins, 0.1), np.ones(feature.n_bins)
            )
            for place, feature in enumerate(trees.features)
        ),
        pairs=(),
        trees=trees.trees,
    )
    check_sum(whole)
    check_sum(model)
    terms = terms_of(model, ROWS)
    assert terms.columns[-1] == ("age", "city")
    np.testing.assert_allclose(terms.sd[:, -1, 0], [0.2] * 6)


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_terms_add_up_to_the_prediction(kind: str) -> None:
    model = models()[kind]
    if kind in NO_SUMS:
        with pytest.raises(RequestError, match="is no sum of terms"):
            terms_of(model, ROWS)
        return
    check_sum(model)
    check_sum(model, rows())


@pytest.mark.parametrize("link", [Link("m_alpha", 0.5, 1.7), Link("m_alpha", 1.0), Link("share")])
def test_other_links_add_up_in_log_odds(link: Link) -> None:
    trees = models()["tree_ensemble"]
    assert isinstance(trees, TreeEnsembleModel)
    check_sum(replace(trees, link=link))
    check_sum(MeanModel((replace(trees, link=link), models()["additive"]), (1.0, 2.0)))  # type: ignore[arg-type]
    check_sum(RecalibratedModel(replace(trees, link=link), np.array([-1.0, 1.0]), np.array([-2.0, 0.5])))


def test_a_score_of_zero_has_the_slope_of_its_link() -> None:
    trees = models()["tree_ensemble"]
    assert isinstance(trees, TreeEnsembleModel)
    alone = [Tree(tree.shape, np.zeros_like(tree.values), tree.support, tree.sd) for tree in trees.trees]
    still = replace(trees, link=Link("m_alpha", 1.0, 2.0), intercept=0.0, trees=tuple(alone))
    plain = terms_of(replace(still, link=Link("logistic")), ROWS)
    slope = float(still.link.probability(1e-6) - 0.5) / 1e-6 * 4  # of the log-odds at 0
    np.testing.assert_allclose(terms_of(still, ROWS).sd, slope * plain.sd, rtol=1e-4)


def test_means_of_bounded_numbers_and_of_ratios_add_up() -> None:
    number: Any = models()["additive_regression"]
    narrow = replace(number, lower=4.0, upper=5.0)
    high = replace(narrow, scores=replace(narrow.scores, intercept=np.array([9.0])))
    model = MeanNumberModel((narrow, high), (1.0, 1.0))
    terms = terms_of(model, ROWS)
    assert terms.names[-1] == REST
    np.testing.assert_allclose(terms.scores[:, 0], model.predict(ROWS))
    ratio = replace(number, loss="poisson", power=1.0, lower=1e-3, upper=1e9)
    check_sum(ratio)
    half = replace(ratio, scores=replace(ratio.scores, intercept=np.array([0.5])))
    check_sum(MeanNumberModel((ratio, half), (1.0, 2.0)))


@pytest.mark.parametrize("kind", ["additive", "additive_classes", "additive_regression", "halfspace"])
def test_noise_of_terms_is_that_of_the_score_but_for_the_start(kind: str) -> None:
    """Terms count as independent, so their variances are what the intercept's lacks of the whole."""
    model: Any = models()[kind]
    terms = terms_of(model, ROWS)
    rest = np.square(terms.total_sd) - np.square(terms.sd).sum(axis=1)
    start = 0.0 if kind == "halfspace" else np.square(np.asarray(model.scores.intercept_sd))
    if kind == "halfspace":
        assert (rest > 0).all()  # of the constant coordinate
    else:
        np.testing.assert_allclose(rest, np.broadcast_to(start, rest.shape), atol=1e-9)


def test_noise_along_paths_is_what_moved_leaves_say() -> None:
    """A contribution is linear in the leaves: its deviation is found by moving one leaf at a time."""
    trees = models()["tree_ensemble"]
    assert isinstance(trees, TreeEnsembleModel)
    first = replace(trees, trees=trees.trees[:1], link=Link("logistic"))
    tree = first.trees[0]
    base = terms_of(first, ROWS).parts
    variance = np.zeros_like(base)
    assert tree.sd is not None
    assert (tree.sd > 0).any()
    for leaf, sd in enumerate(tree.sd):
        values = tree.values.copy()
        values[leaf] += sd
        moved = replace(first, trees=(Tree(tree.shape, values, tree.support, tree.sd),))
        variance += np.square(terms_of(moved, ROWS).parts - base)
    np.testing.assert_allclose(terms_of(first, ROWS).sd, np.sqrt(variance), rtol=1e-6, atol=1e-9)


def test_noise_that_is_not_known_is_no_number() -> None:
    trees: Any = models()["tree_classes"]
    silent = replace(trees, trees=tuple(ScoreTree(t.shape, t.values, t.support) for t in trees.trees))
    terms = terms_of(silent, ROWS)
    assert np.isnan(terms.total_sd).all()
    assert np.isnan(terms.sd).all()
    assert not np.isnan(terms_of(trees, ROWS).sd).any()


def test_importance_counts_a_pair_for_both_of_its_columns() -> None:
    model = with_pair(models()["additive"])
    own, columns = model.importance(), column_importance(model)
    assert columns is not None
    for place, feature in enumerate(model.features):
        squares = [own[feature.name] ** 2] if feature.name in own else []
        squares += [own[model.scores.pair_name(pair)] ** 2 for pair in model.pairs if place in pair.features]
        assert columns[feature.name] == pytest.approx(np.sqrt(sum(squares)))


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_importance_is_said_where_columns_have_a_share(kind: str) -> None:
    result = column_importance(models()[kind])
    assert (result is None) == (kind in NO_SUMS | {"halfspace"})
    if result is not None:
        assert set(result) <= {"age", "city", "old"}
        assert max(result, key=lambda name: result[name]) == "age" or "classes" in kind or "ordered" in kind


def test_estimators_have_importances_by_column() -> None:
    import pandas as pd

    X, declared = rows(), schema({"classes": [0, 1]})
    frame = pd.DataFrame({"spare": np.zeros(400), **X})[["old", "spare", "age", "city"]]
    label = (X["age"] > 50).astype(int)
    trees = tacit.BoostedTreesClassifier(schema=declared, n_trees=3, epsilon=5.0, random_state=0)
    assert not hasattr(trees, "feature_importances_")
    shares = trees.fit(frame, label).feature_importances_
    assert shares.shape == (trees.n_features_in_,) == (4,)
    assert shares.sum() == pytest.approx(1.0)
    assert shares.argmax() == 2
    assert shares[1] == 0.0
    assert not hasattr(trees.fit(X, label), "feature_importances_")  # a mapping has no order
    halfspace = tacit.HalfspaceBoostClassifier(schema=declared, rounds=3, random_state=0).fit(frame, label)
    with pytest.raises(AttributeError, match="columns have no share"):
        halfspace.feature_importances_  # noqa: B018


def test_noise_of_a_mean_is_that_of_independent_members() -> None:
    one: Any = models()["additive"]
    both = terms_of(MeanModel((one, one), (1.0, 3.0)), ROWS)
    np.testing.assert_allclose(both.sd, np.hypot(0.25, 0.75) * terms_of(one, ROWS).sd)


def test_chances_lie_on_the_side_of_a_half_that_the_sign_says() -> None:
    """Even where rounding would tie; files of small alpha have such a link, and no scale."""
    below, tie, above = Link("m_alpha", 0.1).probability([-1e-300, 0.0, 1e-300])
    assert below < 0.5 == tie < above
