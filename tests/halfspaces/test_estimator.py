"""The halfspace learner's face: contract, input kinds, budget, theorem, accuracy on margin data."""

from __future__ import annotations

import math
import re
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from benchmarks.halfspace_rows import made_rows
from tacit.encoding.errors import FrameError
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.privacy.charges import Gaussian
from tacit.privacy.request import RequestError
from tests.boosting.common import margin_rows, minority_rows
from tests.habits import SCHEMA, people


@pytest.mark.slow
@pytest.mark.parametrize("margin", [0.1, 0.2])
@pytest.mark.parametrize("minority", [0.1, 0.2])
def test_the_default_boosts_where_the_centre_errs_on_a_minority(margin: float, minority: float) -> None:
    """Rows at the margin, some of them on the other side of the centre: 11 to 20 % errors of steps that swung about."""
    rows, signs = minority_rows(24_000, 20, margin, minority, seed=1)
    for epsilon in (0.5, 1.0, math.inf):
        model = HalfspaceBoostClassifier(epsilon, row_norm=1.0, fit_intercept=False, random_state=0, classes=(0, 1))
        model.fit(rows[:20_000], (signs[:20_000] > 0).astype(int))
        assert (model.predict(rows[20_000:]) != (signs[20_000:] > 0)).mean() <= 0.01
    lazy = HalfspaceBoostClassifier(
        1.0, row_norm=1.0, fit_intercept=False, measure="lazy_bregman", random_state=0, classes=(0, 1)
    )
    lazy.fit(rows[:20_000], (signs[:20_000] > 0).astype(int))
    assert (lazy.predict(rows[20_000:]) != (signs[20_000:] > 0)).mean() <= 0.01


@pytest.mark.parametrize("matrix", ["full", "csr", "csc", "coo"])
def test_sparse_rows_are_the_same_rows(matrix: str) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 40)) * (rng.random((300, 40)) < 0.1)
    labels = (rows[:, 0] + rows[:, 1] > 0).astype(int)
    given = rows if matrix == "full" else getattr(sparse, f"{matrix}_matrix")(rows)
    exact = HalfspaceBoostClassifier(math.inf, row_norm=3.0, classes=(0, 1)).fit(rows, labels)
    model = HalfspaceBoostClassifier(math.inf, row_norm=3.0, classes=(0, 1)).fit(given, labels)
    np.testing.assert_allclose(model.predict_proba(given), exact.predict_proba(rows), atol=0.01)
    assert model.n_features_in_ == 40


def test_a_hundred_thousand_sparse_columns_are_never_made_full() -> None:
    """2,000 rows of 100,000 columns: full, even one byte a cell would be 200 MB."""
    rng = np.random.default_rng(0)
    width, n = 100_000, 3000
    tells = rng.integers(0, 2, n)
    columns = np.column_stack([tells * 7 + rng.integers(0, 7, n), rng.integers(14, width, (n, 5))])
    values = np.full(columns.size, 1 / math.sqrt(6))
    rows = sparse.csr_matrix((values, columns.reshape(-1), np.arange(n + 1) * 6), shape=(n, width))
    rows.sum_duplicates()
    model = HalfspaceBoostClassifier(4.0, row_norm=1.0, fit_intercept=False, rounds=5, random_state=0, classes=(0, 1))
    tracemalloc.start()
    model.fit(rows[:2000], tells[:2000])
    wrong = (model.predict(rows[2000:]) != tells[2000:]).mean()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert model.model_.weights.shape == (width,)
    assert wrong < 0.05
    assert most < 80e6


def test_few_rows_without_a_constant_coordinate_are_not_counted_by_score() -> None:
    """The noise of such counts outweighs the rows: the rounds take the budget, and the curve is the prior's."""
    rows, labels = made_rows(3000, 20, 0.1, 0)
    fits = {}
    for epsilon in (0.1, 1.0):
        learner = HalfspaceBoostClassifier(epsilon, row_norm=1.0, fit_intercept=False, classes=(0, 1), random_state=0)
        fits[epsilon] = learner.fit(rows[:2000], labels[:2000])
    few, enough = (fits[epsilon].certificate_.entries for epsilon in (0.1, 1.0))
    assert len(few) in range(1 + 2 + 1 + 30, 1 + 2 + 1 + 50)  # count, two moments, rows far off; some 40 rounds
    queries = [{re.sub(r"\d+", "#", str(entry.label)) for entry in entries} for entries in (few, enough)]
    assert queries[0] < queries[1]
    assert fits[0.1].certificate_.verify() == []
    assert fits[0.1].certificate_.epsilon == pytest.approx(0.1, rel=1e-6)
    assert fits[0.1].model_.error_bound() is None
    assert fits[1.0].model_.error_bound() is not None
    positive = fits[0.1].predict_proba(rows[2000:])[:, 1]
    right = np.where(labels[2000:] == 1, positive, 1 - positive)
    assert -np.log(right).mean() < 0.6
    assert 0.3 < np.abs(fits[0.1].decision_function(rows[2000:])).mean() < 4.0


def test_scores_keep_their_sign_where_all_may_be_noise() -> None:
    """A slope of 0 would call everybody the same, whatever little the halfspace knows."""
    rows, labels = made_rows(300, 40, 0.1, 0)
    for seed in range(5):
        model = HalfspaceBoostClassifier(0.02, row_norm=1.0, fit_intercept=False, classes=(0, 1), random_state=seed)
        model.fit(rows, labels)
        assert model.model_.slope > 0
        assert set(model.predict(rows)) == {0, 1}


def test_what_is_released_and_paid_for() -> None:
    frame, labels = people()
    model = HalfspaceBoostClassifier(epsilon=1.0, schema=SCHEMA).fit(frame, labels)
    entries = model.certificate_.entries
    assert model.certificate_.verify() == []
    assert len(entries) == 1 + 1 + 2 + 40 + 2  # lengths, count, two moments, rounds, two of calibration
    precision = sum(entry.charge.precision for entry in entries)
    assert precision == pytest.approx(Gaussian(1 / math.sqrt(precision)).precision)
    assert model.score(frame, labels) > 0.65  # .766 with a deviation of .0016 over 30 seeds
    coefficients = dict(model.model_.coefficients())
    assert coefficients.keys() >= {"age", "ward=a", "ward=b"}


def test_stopping_rule_ends_a_run_and_its_budget_is_not_given_back() -> None:
    rows, labels, _ = margin_rows(4000, 20, 0.4, seed=1)
    model = HalfspaceBoostClassifier(
        4.0, row_norm=1.0, measure="smooth", stop_density=0.5, rounds=60, random_state=0, classes=(0, 1)
    ).fit(rows, labels)
    assert 1 <= len(model.ensemble_.hypotheses) < 60
    tests = [entry for entry in model.certificate_.entries if "end test" in entry.label]
    assert len(tests) == len(model.ensemble_.hypotheses) + 1
    assert model.certificate_.epsilon == 4.0


def test_the_game_view_of_a_fitted_ensemble_is_marked_not_private() -> None:
    rows, labels, _ = margin_rows(3000, 10, 0.4, seed=1)
    model = HalfspaceBoostClassifier(2.0, row_norm=1.0, measure="smooth", random_state=0, classes=(0, 1)).fit(
        rows, labels
    )
    spent = model.certificate_.entries
    diagnosis = model.diagnose(rows, labels, density=0.2)
    assert "NOT PRIVATE" in str(diagnosis)
    assert not diagnosis.releasable
    assert diagnosis.theta > 0
    assert diagnosis.bad_share == pytest.approx(0.2, abs=0.001)
    assert diagnosis.pythia_loss <= (1 + diagnosis.theta) / 2
    assert model.certificate_.entries == spent


def test_the_game_view_knows_the_classes() -> None:
    """The positive class is the last one declared, whatever it is called; labels are read as fit reads them."""
    rows, labels, _ = margin_rows(2000, 10, 0.4, seed=1)
    results = []
    for names in ([0, 1], [1, 0], ["no", "yes"], ["yes", "no"]):
        values = np.array(["no", "yes"])[labels] if isinstance(names[0], str) else labels
        learner = HalfspaceBoostClassifier(math.inf, row_norm=1.0, measure="smooth", classes=names)
        diagnosis = learner.fit(rows, values).diagnose(rows, values, density=0.2)
        assert diagnosis.theta > 0
        assert diagnosis.mistakes < 0.01
        results.append(diagnosis.theta)
        odd = values.astype(object)
        odd[0] = "neither"
        assert learner.diagnose(rows, odd, density=0.2).bad_share == pytest.approx(400 / 1999, abs=1e-3)
    assert results == pytest.approx([results[0]] * 4, abs=0.01)


def test_label_noise_leaves_the_certificate_as_it_is() -> None:
    """Algorithm 5: the cost does not depend on labels, so flipped ones change nothing in it."""
    rows, labels, _ = margin_rows(2000, 10, 0.3, seed=1)
    flipped = np.where(np.random.default_rng(0).random(2000) < 0.1, 1 - labels, labels)
    certificates = [
        HalfspaceBoostClassifier(1.0, row_norm=1.0, random_state=0, classes=(0, 1)).fit(rows, y).certificate_
        for y in (labels, flipped)
    ]
    assert certificates[0].entries == certificates[1].entries
    assert certificates[0].epsilon == certificates[1].epsilon


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"analysis": "paper"}, "lazy_bregman"),
        ({"row_norm": -1.0}, "row_norm"),
        ({"classes": ["a", "b", "c"]}, "handles two classes, but 3"),
    ],
)
def test_public_mistakes_are_refused_and_cost_nothing(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        HalfspaceBoostClassifier(**arguments).fit(np.zeros((5, 2)), [0, 1, 0, 1, 0])
    assert "othing was spent" in str(caught.value)


def test_matrices_are_checked_by_shape_and_dtype() -> None:
    model = HalfspaceBoostClassifier(row_norm=1.0, classes=(0, 1))
    for rows, message in (
        (np.zeros(3), "Reshape"),
        (np.zeros((3, 0)), "0 feature"),
        (sparse.csr_matrix(np.eye(3) * 1j), "Complex"),
    ):
        with pytest.raises(FrameError, match=message):
            model.fit(rows, [0, 1, 0])
    with pytest.raises(RequestError, match="same number of rows"):
        model.fit(np.zeros((3, 2)), [0, 1])
    # one odd cell makes texts of a whole matrix, so that texts are read cell by cell (decision 14)
    assert np.isfinite(model.fit(np.full((3, 2), "a"), [0, 1, 0]).decision_function(np.eye(2))).all()
    model.fit(np.eye(3), [0, 1, 0])
    with pytest.raises(FrameError, match="4 features"):
        model.predict(np.zeros((2, 4)))


def test_rows_beyond_the_norm_are_clipped_whatever_they_hold() -> None:
    rows = np.array([[1e300, 1.0], [np.nan, np.inf], [-5.0, 2.0], [0.0, 0.0]])
    model = HalfspaceBoostClassifier(row_norm=1.0, classes=(0, 1)).fit(rows, [0, 1, 0, 7])
    assert np.isfinite(model.predict_proba(rows)).all()
    empty = HalfspaceBoostClassifier(row_norm=1.0, classes=(0, 1)).fit(np.zeros((0, 2)), np.zeros(0))
    assert empty.predict_proba(rows).shape == (4, 2)
