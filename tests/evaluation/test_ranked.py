"""The ranked probability score: right without noise, bounded whatever rows hold, honest with noise, charged as said."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from tacit import AdditiveBoostClassifier, Schema, private_score, ranked_probability_score
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.evaluation.ranked import (
    RankedSums,
    ranked_grid,
    ranked_matrix,
    ranked_probability_scores,
    release_ranked,
)
from tacit.evaluation.strategy import MATRIX_UNIT
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import Gaussian, Laplace
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tests.evaluation.scores import Known, Recorder, check_sensitivity, refused, world
from tests.evaluation.test_private_score import several

NAME = "ranked_probability_score"
GRADES = ("poor", "fair", "good", "best")
ORDERED = Schema.from_dict(
    {
        "label": {"column": "y", "classes": list(GRADES)},
        "columns": {"a": {"kind": "numeric", "lower": 0, "upper": 1}},
    }
)


def graded(n: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Rows with the chances of four grades, and grades drawn from them."""
    X, places = several(n, seed, 1.2, 4)
    return X, np.array(GRADES)[places]


def chances_of(X: dict[str, np.ndarray]) -> np.ndarray:
    return np.stack([X[f"p{k}"] for k in range(4)], axis=1)


def test_by_hand_and_as_the_sum_over_cuts() -> None:
    """Epstein's definition, of three classes: (.2 - 0)**2 and (.7 - 1)**2, over two cuts."""
    assert ranked_probability_scores([[0.2, 0.5, 0.3]], [1]) == pytest.approx([(0.2**2 + 0.3**2) / 2])
    assert ranked_probability_scores([[1, 0, 0]] * 3, [0, 1, 2]) == pytest.approx([0.0, 0.5, 1.0])
    X, y = graded(500, 0)
    upto, place = np.cumsum(chances_of(X), axis=1)[:, :3], np.array([GRADES.index(grade) for grade in y])
    every = sum(((upto[:, k] - (place <= k)) ** 2).mean() for k in range(3))
    assert ranked_probability_score(y, chances_of(X), GRADES) == pytest.approx(every / 3)
    assert ranked_probability_score(y, chances_of(X)[:, ::-1], GRADES[::-1]) == pytest.approx(every / 3)


def test_of_two_classes_it_is_the_brier_score() -> None:
    X, y = world(3000, 1)
    both = np.stack([1 - X["p"], X["p"]], axis=1)
    exact = brier_score_loss(y, X["p"])
    assert ranked_probability_score(y, both, (0, 1)) == pytest.approx(exact)
    score = private_score(Known(), X, y, math.inf, metrics=(NAME,))
    assert score[NAME].value == pytest.approx(exact, abs=1e-3)
    noisy = private_score(Known(), X, y, 1.0, metrics=(NAME, "auc"), random_state=0)
    assert len(noisy.certificate.entries) == 1
    assert noisy[NAME].low < exact < noisy[NAME].high


@pytest.mark.parametrize(
    "chances",
    [[math.nan] * 4, [math.inf] * 4, [-math.inf] * 4, [-5.0, 7.0, 1e300, -1e300], [0.0] * 4, [0.4, 0.4, 0.4, 0.4]],
)
def test_no_row_scores_less_than_0_or_more_than_1(chances: list[float]) -> None:
    for place in range(4):
        [found] = ranked_probability_scores([chances], [place])
        assert 0.0 <= found <= 1.0


@pytest.mark.parametrize(
    ("labels", "chances", "classes"),
    [
        (["poor"], [[0.5, 0.5]], GRADES),
        (["bad"], [[0.25] * 4], GRADES),
        ([], np.zeros((0, 4)), GRADES),
        (["a"], [[1.0]], ("a",)),
        (["a"], [[0.5, 0.5]], ("a", "a")),
    ],
)
def test_what_does_not_fit_is_refused(labels: list[str], chances: list[list[float]], classes: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"classes|among"):
        ranked_probability_score(labels, chances, classes)


def test_without_noise_it_is_the_exact_figure_of_all_rows_and_of_groups() -> None:
    X, y = graded(4000, 2)
    score = private_score(
        Known(GRADES), X, y, math.inf, metrics=(NAME,), subgroups="g", categories=["a", "b"], schema=ORDERED
    )
    assert score[NAME].value == pytest.approx(ranked_probability_score(y, chances_of(X), GRADES), abs=1e-4)
    for group in ("a", "b"):
        mine = X["g"] == group
        exact = ranked_probability_score(y[mine], chances_of(X)[mine], GRADES)
        assert score.subgroups[group][NAME].value == pytest.approx(exact, abs=1e-3)


@pytest.mark.parametrize(("norm", "charge"), [(2, Gaussian(1.0)), (1, Laplace(1.0))])
@pytest.mark.parametrize("groups", [1, 3])
def test_no_row_moves_the_release_by_more_than_is_charged(norm: int, charge: Gaussian | Laplace, groups: int) -> None:
    """Rows of every 16th cell and the outermost, in every group."""
    recorder = Recorder()
    release_ranked(recorder, groups, norm, charge)
    size = ranked_grid(groups).cells
    cells = (*range(0, size, 16), size - 1)
    rows = [[cell, group][: 1 + (groups > 1)] for cell in cells for group in range(groups)]
    check_sensitivity(recorder.query, rows, [size + 1, groups][: 1 + (groups > 1)], (1,))
    declared = recorder.query.sensitivity(Neighbouring.ADD_OR_REMOVE_ONE)
    assert (declared.l1 if norm == 1 else declared.l2) <= MATRIX_UNIT * (1 + 1e-5)


def test_what_a_row_adds_has_norm_1_and_says_what_it_scores() -> None:
    matrix = ranked_matrix(64)
    assert (matrix >= 0).all()
    assert matrix.sum(axis=0) == pytest.approx(np.ones(64))
    assert matrix[1] / 2 + matrix[2] == pytest.approx((np.arange(64) + 0.5) / 64)


@pytest.mark.parametrize(("norm", "charge"), [(2, Gaussian(3.0)), (1, Laplace(2.0))])
def test_the_noise_is_what_the_intervals_are_made_from(norm: int, charge: Gaussian | Laplace) -> None:
    """Sums of many runs on the same rows spread as is stated; 10 % off would be found (400 x 3 draws: 2 to 4 %)."""
    table = MemoryTable([np.zeros(50, np.uint16), np.zeros(50, np.uint8)], np.zeros(50, np.uint8), [1025, 3], 2)
    drawn: list[list[np.ndarray]] = []
    stated: list[RankedSums] = []
    for seed in range(400):
        curator = Curator(table, Reservation([charge], Neighbouring.ADD_OR_REMOVE_ONE), SeededSource(seed))
        overall, *each = release_ranked(curator, 3, norm, charge)
        stated = [overall, each[1]]
        drawn.append([part.values for part in stated])
    for part, values in zip(stated, np.array(drawn).transpose(1, 0, 2), strict=True):
        simulated = part.noise_draws(20_000, np.random.default_rng(0))
        spread = np.sqrt(values.var(axis=0).mean())
        assert spread / np.linalg.norm(part.noise) == pytest.approx(1.0, abs=0.06)
        assert spread / np.sqrt(simulated.var(axis=0).mean()) == pytest.approx(1.0, abs=0.06)
    curator = Curator(table, Reservation([charge], Neighbouring.ADD_OR_REMOVE_ONE), SeededSource(0))
    expected = charge.noise_multiplier * (math.sqrt(2.0) if norm == 1 else 1.0)
    assert release_ranked(curator, 1, norm, charge)[0].noise == pytest.approx(
        [expected], rel=2e-3
    )  # cells are no points


@pytest.mark.parametrize(
    ("n", "epsilon", "delta"),
    [
        (1000, 0.3, 1e-6),
        pytest.param(1000, 0.3, 0.0, marks=pytest.mark.slow),
        pytest.param(4000, 2.0, 1e-6, marks=pytest.mark.slow),
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say(n: int, epsilon: float, delta: float) -> None:
    """80 runs at 90 %: 72 hits, standard deviation 2.7. Intervals half as wide would hold it 47 times."""
    X, y = graded(200_000, 77)
    truth, hits, narrow = ranked_probability_score(y, chances_of(X), GRADES), 0, 0
    for seed in range(80):
        score = private_score(
            Known(GRADES), *graded(n, seed), epsilon, delta, (NAME,), confidence=0.9, schema=ORDERED, random_state=seed
        )
        result = score[NAME]
        hits += result.low <= truth <= result.high
        narrow += abs(result.value - truth) <= (result.high - result.low) / 4
    assert hits >= 64
    assert narrow < 62


def test_it_is_charged_as_one_more_release_and_names_its_theorem(tmp_path) -> None:
    X, y = graded(2000, 3)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 1.0, 1e-6)
    asked = ("accuracy", "log_loss", NAME)
    score = private_score(Known(GRADES), X, y, 1.0, metrics=asked, schema=ORDERED, account=account)
    certificate = score.certificate
    assert certificate.verify() == []
    assert [type(entry.charge) for entry in certificate.entries] == [Gaussian] * 3
    assert "sums of ranked probability scores" in str(certificate.entries[-1].label)
    assert "one row, one cell" in certificate.entries[-1].theorem
    assert set(score.overall.metrics) == set(asked)
    assert set(private_score(Known(GRADES), X, y, 1.0).overall.metrics) == {"accuracy", "log_loss", "calibration"}


def test_classes_in_no_order_are_refused_and_cost_nothing(tmp_path) -> None:
    X, y = graded(100, 4)
    refused("classes in an order", tmp_path, private_score, Known(GRADES), X, y, metrics=(NAME,))
    numbers = np.array([GRADES.index(grade) for grade in y])
    assert NAME in private_score(Known((0, 1, 2, 3)), X, numbers, 1.0, metrics=(NAME,)).overall.metrics


@pytest.mark.usefixtures("few_trees")
def test_the_declared_order_counts_and_not_that_of_the_names() -> None:
    generator = np.random.default_rng(0)
    rows = {"a": generator.uniform(0, 1, 3000)}
    grades = np.array(GRADES)[np.digitize(rows["a"] + generator.normal(0, 0.1, 3000), [0.25, 0.5, 0.75])]
    fitted = AdditiveBoostClassifier(epsilon=4.0, schema=ORDERED, ordered=True, random_state=0).fit(rows, grades)
    exact = ranked_probability_score(grades, fitted.model_.predict_proba(rows), GRADES)
    for model in (fitted, fitted.model_):
        score = private_score(model, rows, grades, math.inf, metrics=(NAME,))
        assert score[NAME].value == pytest.approx(exact, abs=1e-3)  # cells
    assert exact < 0.1
