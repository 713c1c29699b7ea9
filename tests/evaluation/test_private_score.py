"""private_score: right without noise, honest with it, charged once, and finite whatever the rows hold."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss, roc_auc_score, roc_curve

from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.evaluation import calibration
from tacit.evaluation import performance as metrics
from tacit.evaluation.error_grid import CELLS, REACH, ScoreGrid, log_odds
from tacit.evaluation.measure_scores import GroupCounts, ScoreCounts, release_counts
from tacit.evaluation.performance import Estimate, Question, perform
from tacit.evaluation.private_score import private_score
from tacit.evaluation.strategy import MATRIX_UNIT, shared, strategy
from tacit.models.halfspace import products
from tacit.noise.seeded_source import SeededSource
from tacit.privacy import accountants
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import Gaussian, Laplace, Pure
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.unit import Neighbouring
from tacit.schema import Schema
from tests.chance import at_least_share, at_most_share, near
from tests.evaluation.scores import Known, Recorder, check_sensitivity, refused, world

NAMES = ("auc", "accuracy", "log_loss", "calibration")


def test_without_noise_the_figures_are_those_of_scikit_learn():
    X, y = world(20_000, 0, steep=1.5)
    score = private_score(Known(), X, y, math.inf, cost=(1, 4), random_state=0)
    assert score["auc"].value == pytest.approx(roc_auc_score(y, X["p"]), abs=5e-4)
    assert score["accuracy"].value == pytest.approx(accuracy_score(y, X["p"] >= 0.5), abs=1e-9)
    assert score["log_loss"].value == pytest.approx(log_loss(y, np.clip(X["p"], 0.01, 0.99)), abs=2e-3)
    assert score.overall.rows.value == pytest.approx(20_000)
    assert score.overall.positives.value == pytest.approx(y.mean())
    assert not score.certificate.releasable
    best = score.overall.best_threshold
    assert best is not None
    costs = {t: cost_of(y, X["p"] >= t) for t in (best, 0.1, 0.3, 0.5, 0.7)}
    assert costs[best] <= min(costs.values()) + 0.005  # of the best cell, whose neighbours cost as much but for chance
    assert score["cost"].value == pytest.approx(costs[best], abs=1e-9)
    threshold, accuracy = score.overall.accuracy_at(0.3)
    assert abs(threshold - 0.3) < 0.02
    assert accuracy == pytest.approx(accuracy_score(y, X["p"] >= threshold), abs=1e-9)
    thresholds, false_rate, true_rate = score.overall.roc()
    assert len(thresholds) == len(false_rate) == CELLS + 1
    theirs = np.interp(false_rate, *roc_curve(y, X["p"])[:2])
    assert np.abs(theirs - true_rate).max() < 0.01
    gaps = [abs(g["promised"] - g["observed"]) * g["share"] for g in score.overall.reliability()]
    assert len(gaps) == 15
    assert score["calibration"].value == pytest.approx(sum(gaps), abs=0.01)


def cost_of(y, called):
    table = confusion_matrix(y, called)
    return (table[0, 1] + 4 * table[1, 0]) / len(y)


@pytest.mark.parametrize("threshold", [0.03, 0.27, 0.9])
def test_the_accuracy_is_at_the_declared_threshold_exactly(threshold):
    X, y = world(3000, 1)
    score = private_score(Known(), X, y, math.inf, metrics=["accuracy"], threshold=threshold)
    assert score["accuracy"].value == pytest.approx(accuracy_score(y, X["p"] >= threshold), abs=1e-9)
    assert set(score.overall.metrics) == {"accuracy"}


def test_one_release_pays_for_everything(tmp_path):
    X, y = world(2000, 2)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 1.2, 1e-6)
    score = private_score(Known(), X, y, 1.0, subgroups="g", categories=["a", "b", "c"], account=account)
    certificate = score.certificate
    assert certificate.verify() == []
    assert [type(entry.charge) for entry in certificate.entries] == [Gaussian]
    assert "one row, one cell" in certificate.entries[0].theorem
    assert accountants.epsilon(certificate.charges, 1e-6) == pytest.approx(1.0, rel=1e-6)
    assert certificate.reasons == (
        "it ran a foreign learner on the rows, and what that learner promises was not verified",
    )
    with pytest.raises(BudgetExceeded):
        private_score(Known(), X, y, 1.0, account=account)
    assert len(account.reservations()) == 1
    alone = private_score(Known(), X, y, 1.0, 0.0)
    assert alone.certificate.charges == (Pure(1.0),)
    assert [entry.charge for entry in alone.certificate.entries] == [Laplace(1.0)]


@pytest.mark.parametrize(("norm", "charge"), [(2, Gaussian(1.0)), (1, Laplace(1.0))])
@pytest.mark.parametrize("groups", [1, 3])
def test_no_row_moves_the_release_by_more_than_is_charged(norm, charge, groups):
    """All single rows over a coarse grid."""
    grid = ScoreGrid.of(8, 0.5)
    recorder = Recorder()
    release_counts(recorder, grid, charge, strategy(8, norm), shared(groups, norm))
    rows = [[cell, group][: 1 + (groups > 1)] for cell in range(8) for group in range(groups)]
    check_sensitivity(recorder.query, rows, [9, groups][: 1 + (groups > 1)], (0, 1, 255))
    assert recorder.query.sensitivity(Neighbouring.ADD_OR_REMOVE_ONE).l2 <= MATRIX_UNIT * (1 + 1e-9)


def test_what_is_released_is_what_was_counted():
    """Without noise, least squares gives back every count, of all rows and of each group."""
    generator = np.random.default_rng(0)
    cells, group, label = (generator.integers(0, k, 5000) for k in (16, 3, 2))
    table = MemoryTable([cells.astype(np.uint16), group.astype(np.uint8)], label.astype(np.uint8), [17, 3], 2)
    for norm, charge in ((2, Gaussian(1.0)), (1, Laplace(1.0))):
        overall, *each = release_counts(
            Recorder(table), ScoreGrid.of(16, 0.5), charge, strategy(16, norm), shared(3, norm)
        )
        for counts, mask in [(overall, group >= 0), *((part, group == k) for k, part in enumerate(each))]:
            exact = np.array([[np.sum(mask & (cells == c) & (label == y)) for y in (0, 1)] for c in range(16)])
            assert np.abs(counts.estimate - exact).max() < 0.05


@pytest.mark.parametrize("threshold", [1e-9, 0.3, 1 - 1e-9])
def test_a_cut_lies_on_the_threshold_if_it_is_within_reach(threshold):
    cuts, regular = np.array(ScoreGrid.of(16, threshold).cuts), np.linspace(-REACH, REACH, 17)[1:-1]
    moved = np.flatnonzero(cuts != regular)
    assert cuts[moved] == pytest.approx([math.log(3 / 7)] if threshold == 0.3 else [])


@pytest.mark.parametrize("sd", [0.0, 6.0])
def test_the_interval_of_the_rows_is_that_of_two_noisy_sums(sd):
    """Of each class the noise of the sum of its cells: 90 % lie within 1.645 deviations of the two together."""
    grid, result = ScoreGrid.of(16, 0.5), strategy(16, 2)
    counts = np.full((16, 2), 300.0)
    released = ScoreCounts(grid, result.matrix @ counts, result, (sd,) if sd else (), False)
    rows = perform(GroupCounts(released), Question((), 0.5, None, 0.01, 0.9), np.random.default_rng(0)).rows
    spread = math.sqrt(2.0) * sd * np.linalg.norm(np.linalg.pinv(result.matrix).sum(axis=0))
    assert rows.value == pytest.approx(9600.0)
    assert rows.high - rows.value == pytest.approx(1.6448536 * spread)
    assert rows.value - rows.low == pytest.approx(1.6448536 * spread)


@pytest.mark.parametrize(("norm", "charge"), [(2, Gaussian(3.0)), (1, Laplace(2.0))])
def test_the_noise_is_what_the_intervals_are_made_from(norm, charge):
    """Estimates of many runs on the same rows spread as is stated, and as is drawn.

    A part has some six cells' worth of independent noise in 300 runs: its spread is known to 1.7 %, seven times less.
    """
    table = MemoryTable([np.zeros(50, np.uint16), np.zeros(50, np.uint8)], np.zeros(50, np.uint8), [17, 3], 2)
    drawn, stated, simulated = [], [], []
    for seed in range(300):
        curator = Curator(table, Reservation([charge], Neighbouring.ADD_OR_REMOVE_ONE), SeededSource(seed))
        overall, *each = release_counts(curator, ScoreGrid.of(16, 0.5), charge, strategy(16, norm), shared(3, norm))
        drawn.append([np.cumsum(part.estimate, axis=0) for part in (overall, each[1])])
    for part in (overall, each[1]):
        stated.append(np.repeat(part.sd_of(np.tril(np.ones((16, 16))))[:, None], 2, axis=1))
        simulated.append(np.cumsum(part.noise_draws(3000, np.random.default_rng(0)), axis=1).std(axis=0))
    for spread in (np.array(stated), np.array(simulated)):
        ratio = np.std(np.array(drawn), axis=0) / spread
        assert np.abs(np.sqrt((ratio**2).mean(axis=(1, 2))) - 1).max() < 0.12


def ratio(parts):
    return float(parts.over / parts.under)


def coverage(repeats, confidence, shrink=1.0, **options):
    """How often each interval holds the truth of a large population, and how often if it were ``shrink`` as wide."""
    X, y = world(400_000, 99, steep=1.6, shift=0.3)
    grid = ScoreGrid.of(CELLS, 0.5)
    cell = grid.encoder.encode(log_odds(X["p"]))
    truth = np.stack([np.bincount(cell[y == k], minlength=CELLS) for k in (0, 1)], axis=1).astype(float)
    known = {
        "auc": ratio(metrics.auc_parts(truth)),
        "accuracy": float(metrics.correct_at_cuts(truth)[grid.cut(0.5)]),
        "log_loss": ratio(metrics.log_loss_parts(truth, grid, 0.01)),
    }
    hits = dict.fromkeys((*NAMES, "cost"), 0)
    narrow = dict.fromkeys(hits, 0)
    for repeat in range(repeats):
        X, y = world(options["n"], repeat, steep=1.6, shift=0.3)
        score = private_score(
            Known(), X, y, options["epsilon"], options["delta"], cost=(1, 4), confidence=confidence, random_state=repeat
        )
        counts = score.overall.counts
        gaps = calibration.equal_groups(counts).gaps(truth, grid.probabilities)
        known["calibration"] = float(np.abs(gaps).sum() / truth.sum())
        known["cost"] = float(metrics.cost_at_cuts(truth, (1, 4))[grid.cut(score.overall.best_threshold)])
        for name in hits:
            result = score[name]
            hits[name] += result.low <= known[name] <= result.high
            narrow[name] += abs(result.value - known[name]) <= shrink * (result.high - result.low) / 2
    return hits, narrow


@pytest.mark.parametrize(
    ("n", "epsilon", "delta"), [(1200, 1.0, 1e-6), pytest.param(4000, 0.5, 0.0, marks=pytest.mark.slow)]
)
def test_intervals_hold_the_truth_as_often_as_they_say(n, epsilon, delta):
    """60 runs at 90 %; how wide they are is seen in 400 of them."""
    hits, _ = coverage(60, 0.9, n=n, epsilon=epsilon, delta=delta)
    assert at_least_share(min(hits.values()), 60, 0.9), hits


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["add", "pure", "small"])
def test_coverage_in_many_runs(relation):
    """400 runs at 90 %, and with intervals half as wide. The interval of the calibration error may be wider."""
    options = {
        "add": {"n": 2000, "epsilon": 1.0, "delta": 1e-6},
        "pure": {"n": 5000, "epsilon": 1.0, "delta": 0.0},
        "small": {"n": 5000, "epsilon": 0.2, "delta": 1e-6},
    }[relation]
    hits, narrow = coverage(400, 0.9, shrink=0.5, **options)
    assert at_least_share(min(hits.values()), 400, 0.9), hits
    for name in ("auc", "accuracy", "log_loss"):
        assert at_most_share(hits[name], 400, 0.94), hits
        assert not at_least_share(narrow[name], 400, 0.9), narrow


def counted(n, seed, noise, kind):
    """Counts of rows, a twentieth of them positive, as they are released under Laplace noise of this scale."""
    generator, grid = np.random.default_rng(seed), ScoreGrid.of(CELLS, 0.5)
    odds = generator.normal(-3.0, 1.3, n)
    labels = generator.random(n) < expit(odds)
    cells = grid.encoder.encode(1.6 * odds)
    exact = np.stack([np.bincount(cells[labels == k], minlength=CELLS) for k in (False, True)], axis=1)
    released = kind.matrix @ exact + generator.laplace(0.0, max(noise, 1e-9), (len(kind.matrix), 2))
    return ScoreCounts(grid, released, kind, (np.sqrt(2.0) * noise,), True)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "epsilon"), [(500, 1.0), (2000, 0.2)])
def test_auc_intervals_hold_the_truth_where_noise_hides_half_of_the_positives(n, epsilon):
    """100 runs at 95 %: 95 hits, standard deviation 2.2. Errors of the ratio turned around hit 87 and 83 times."""
    kind, generator = strategy(CELLS, 1), np.random.default_rng(0)
    truth = ratio(metrics.auc_parts(counted(400_000, 99, 0.0, kind).estimate))
    question = Question(("auc",), 0.5, None, 0.01, 0.95)
    results = [
        perform(GroupCounts(counted(n, run, 1 / epsilon, kind)), question, generator)["auc"] for run in range(100)
    ]
    assert sum(one.low <= truth <= one.high for one in results) >= 92
    assert sum(abs(one.value - truth) <= (one.high - one.low) / 4 for one in results) < 92


def test_subgroups_are_judged_under_the_same_charge():
    X, y = world(30_000, 4)
    flipped = np.where((X["g"] == "c") & (np.random.default_rng(0).random(len(y)) < 0.4), 1 - y, y)
    score = private_score(Known(), X, flipped, 4.0, subgroups="g", categories=["a", "c"], random_state=0)
    assert list(score.subgroups) == ["a", "c", "(other)", "(missing)"]
    assert len(score.certificate.entries) == 1
    for name, mask in (("a", X["g"] == "a"), ("c", X["g"] == "c"), ("(other)", X["g"] == "b")):
        group = score.subgroups[name]
        exact = roc_auc_score(flipped[mask], X["p"][mask])
        assert group["auc"].low - 0.01 < exact < group["auc"].high + 0.01
        assert group.rows.value == pytest.approx(mask.sum(), abs=100)
    assert score.subgroups["c"]["auc"].high < score.subgroups["a"]["auc"].low
    assert score.subgroups["(missing)"]["auc"].low == 0.0
    assert score.subgroups["(missing)"]["auc"].high == 1.0
    assert json.loads(json.dumps(score.to_dict()))["subgroups"]["c"]["auc"]["value"] < 0.75


def several(n: int, seed: int, spread: float = 1.5, classes: int = 3) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Rows with the chances of so many classes, and classes drawn from them."""
    generator = np.random.default_rng(seed)
    odds = generator.normal(0, spread, (n, classes))
    chances = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    y = (np.cumsum(chances, axis=1) < generator.random(n)[:, None]).sum(axis=1).clip(0, classes - 1)
    return {f"p{k}": chances[:, k] for k in range(classes)} | {"g": np.where(np.arange(n) % 3 == 0, "a", "b")}, y


def test_more_than_two_classes():
    X, y = several(6000, 5)
    chances = np.stack([X[f"p{k}"] for k in range(3)], axis=1)
    model, labels = Known(("x", "y", "z")), np.array(["x", "y", "z"])[y]
    exact = private_score(model, X, labels, math.inf)
    assert exact["accuracy"].value == pytest.approx(np.mean(chances.argmax(axis=1) == y), abs=1e-9)
    assert exact["log_loss"].value == pytest.approx(
        log_loss(y, np.clip(chances, 0.01, 1) / np.clip(chances, 0.01, 1).sum(axis=1, keepdims=True)), abs=0.01
    )
    assert exact["calibration"].value < 0.02
    assert set(exact.overall.metrics) == {"accuracy", "log_loss", "calibration"}
    noisy = private_score(model, X, labels, 2.0)
    assert len(noisy.certificate.entries) == 2
    assert noisy.certificate.verify() == []
    assert near(noisy["accuracy"], exact["accuracy"].value)


def test_the_auc_of_several_classes_is_the_mean_over_each_against_the_rest(tmp_path):
    X, y = several(8000, 0)
    chances = np.stack([X[f"p{k}"] for k in range(3)], axis=1)
    each = [roc_auc_score(y == k, chances[:, k]) for k in range(3)]
    model, arguments = Known((0, 1, 2)), {"subgroups": "g", "categories": ["a", "b"]}
    exact = private_score(model, X, y, math.inf, metrics=["auc", "accuracy"], **arguments)
    assert exact["auc"].value == pytest.approx(np.mean(each), abs=1e-3)
    assert [e.value for e in exact.overall.class_auc] == pytest.approx(each, abs=1e-3)
    inside = X["g"] == "a"
    wanted = roc_auc_score(y[inside], chances[inside], multi_class="ovr", average="macro")
    assert exact.subgroups["a"]["auc"].value == pytest.approx(wanted, abs=2e-3)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 2.5, 1e-6)
    for delta, payer in ((1e-6, account), (1e-6, None), (0.0, None)):
        noisy = private_score(
            model, X, y, 2.0, delta, ["auc", "accuracy", "log_loss"], account=payer, random_state=1, **arguments
        )
        assert len(noisy.certificate.entries) == 5
        assert len({type(charge) for charge in noisy.certificate.charges}) == 1  # one kind of noise
        assert noisy.certificate.verify() == []
        assert accountants.epsilon(noisy.certificate.charges, delta) == pytest.approx(2.0, rel=1e-6)
        assert near(noisy["auc"], float(np.mean(each)))
        assert near(noisy["accuracy"], exact["accuracy"].value)
        errors = [found.value - truth for found, truth in zip(noisy.overall.class_auc, each, strict=True)]
        assert len({round(error, 6) for error in errors}) == 3  # noises of their own, seeded or not
    assert json.loads(json.dumps(noisy.to_dict()))["overall"]["class_auc"][0]["value"] > 0.5


def test_thresholds_are_about_two_classes(tmp_path):
    X, y = several(500, 0)
    refused("about two classes, and there are 3", tmp_path, private_score, Known((0, 1, 2)), X, y, threshold=0.3)
    overall = private_score(Known((0, 1, 2)), X, y, 1.0, random_state=0).overall
    for ask in (lambda: overall.accuracy_at(0.5), overall.roc):
        with pytest.raises(ValueError, match="class_auc has the AUC of each class against the rest"):
            ask()


@pytest.mark.slow
def test_auc_intervals_of_several_classes_hold_the_truth():
    model, hits = Known((0, 1, 2)), 0
    X, y = several(200_000, 1)
    truth = private_score(model, X, y, math.inf, metrics=["auc"])["auc"].value
    for seed in range(25):
        X, y = several(2000, 10 + seed)
        result = private_score(model, X, y, 2.0, metrics=["auc"], random_state=seed)["auc"]
        hits += result.low <= truth <= result.high
    assert hits >= 22


@pytest.fixture(scope="module")
def estimator():
    generator = np.random.default_rng(6)
    frame = pd.DataFrame({"age": generator.uniform(0, 100, 2000), "ward": generator.choice(["a", "b"], 2000)})
    labels = np.where(generator.random(2000) < frame["age"] / 100, "yes", "no")
    schema = Schema.from_dict(
        {
            "label": {"column": "sick", "classes": ["no", "maybe", "yes"], "positive": "yes"},
            "unit": {"column": "who", "max_rows": 2},
            "columns": {
                "age": {"kind": "numeric", "lower": 0, "upper": 100},
                "ward": {"kind": "categorical", "categories": ["a", "b"]},
            },
        }
    )
    frame["who"] = np.arange(2000) // 2
    return AdditiveBoostClassifier(epsilon=4.0, schema=schema).fit(frame, labels), frame, labels


def test_this_library_s_estimators_are_verified_and_bring_their_schema(estimator):
    fitted, frame, labels = estimator
    score = private_score(fitted, frame, labels, 2.0, subgroups="ward")
    assert score.certificate.releasable
    assert score.certificate.rows_per_unit == 2
    assert list(score.subgroups) == ["a", "b", "(other)", "(missing)"]
    assert score["auc"].value > 0.6
    model_only = private_score(fitted.model_, frame, labels, 2.0, schema=fitted.schema)
    assert model_only["auc"].value == pytest.approx(score["auc"].value, abs=0.1)
    maybe = np.where(labels == "no", "maybe", labels)
    relabelled = private_score(fitted, frame, maybe, math.inf)
    assert relabelled.overall.rows.value == pytest.approx(2000)


def test_several_columns_of_subgroups_are_refused_in_words(estimator):
    fitted, frame, labels = estimator
    with pytest.raises(ValueError, match=r"name of one column.*Nothing was spent"):
        private_score(fitted, frame, labels, subgroups=["ward"])


@pytest.mark.parametrize("epsilon", [0.01, 0.5])
@pytest.mark.parametrize("rows", ["none", "one", "one class", "strange labels", "no numbers"])
def test_whatever_rows_hold_the_figures_are_finite(rows, epsilon):
    X, y = world(30, 7)
    labels = np.asarray(y, object)
    if rows in ("none", "one"):
        keep = slice(0, 0 if rows == "none" else 1)
        X, labels = {name: values[keep] for name, values in X.items()}, labels[keep]
    elif rows == "one class":
        labels = np.ones(30, np.int64)
    elif rows == "strange labels":
        labels = np.array(["?", None, 7] * 10, object)
    else:
        X["p"] = np.full(30, np.nan)
    metrics = (*NAMES, "ranked_probability_score")
    arguments = {"cost": (1, 2), "subgroups": "g", "categories": ["a", "b"], "random_state": 0}
    score = private_score(Known(), X, labels, epsilon, metrics=metrics, **arguments)
    for group in (score.overall, *score.subgroups.values()):
        for estimate in (*group.metrics.values(), group.rows, group.positives):
            assert 0 <= estimate.low <= estimate.value <= estimate.high < math.inf
        assert all(np.isfinite(list(entry.values())).all() for entry in group.reliability())
        assert np.isfinite(np.concatenate(group.roc())).all()


def test_a_row_s_cell_depends_on_that_row_alone(estimator):
    fitted, frame, _ = estimator
    whole = log_odds(fitted.predict_proba(frame)[:, 1])
    half = log_odds(fitted.predict_proba(frame.iloc[1::2])[:, 1])
    assert (whole[1::2] == half).all()


@pytest.mark.parametrize("width", [1, 7, 37, 200])
def test_a_halfspace_s_score_depends_on_that_row_alone(width):
    """Products of a matrix and a vector do not have this property: their last bits depend on the other rows."""
    generator = np.random.default_rng(width)
    rows, weights = generator.integers(-9999, 9999, (3000, width)).astype(np.int16), generator.normal(size=width)
    whole = products(rows, weights)
    assert np.allclose(whole, rows @ weights)
    for start in (1, 2, 3, 5, 1777, 2999):
        assert (products(rows[start:], weights) == whole[start:]).all()
        assert (products(rows[::start], weights) == whole[::start]).all()
    assert products(rows[:0], weights).shape == (0,)
    assert (products(sparse.csr_array(rows)[::3], weights) == products(sparse.csr_array(rows), weights)[::3]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": ["f1"]}, "metrics are among"),
        ({"threshold": 1.0}, "threshold must lie"),
        ({"clip": 0.7}, "clip must lie"),
        ({"confidence": 0}, "confidence must lie"),
        ({"cost": (1, 2, 3)}, "cost must be"),
        ({"cost": (-1, 2)}, "cost must be"),
        ({"subgroups": "g"}, "must be declared"),
        ({"subgroups": "nobody", "categories": ["a"]}, "missing from the data"),
        ({"subgroups": "g", "categories": [str(k) for k in range(80)]}, "can be told apart"),
        ({"categories": ["a"]}, "subgroups, which is missing"),
        ({"model": object()}, "was it fitted"),
        ({"y": np.zeros(3)}, "same number of rows"),
        ({"epsilon": 0}, "epsilon"),
        ({"neighbouring": "both"}, "neighbouring"),
        ({"target_bounds": (-20, 20)}, "model of classes"),
        ({"error_clip": 1.0}, "model of classes"),
        ({"quantile": 0.5}, "model of classes"),
    ],
)
def test_public_mistakes_cost_nothing(change, message, tmp_path):
    X, y = world(40, 8)
    refused(message, tmp_path, private_score, **{"model": Known(), "X": X, "y": y, "epsilon": 1.0} | change)


def test_the_least_costly_threshold_can_be_acted_on():
    from sklearn.frozen import FrozenEstimator
    from sklearn.model_selection import FixedThresholdClassifier

    generator = np.random.default_rng(0)
    frame = {"a": generator.normal(size=6000)}
    positive = generator.random(6000) < 1 / (1 + np.exp(-2 * frame["a"]))
    labels = np.where(positive, "bad", "good")  # sorted, the positive class is the first
    schema = {
        "label": {"column": "y", "classes": ["good", "bad"]},
        "columns": {"a": {"kind": "numeric", "lower": -4, "upper": 4}},
    }
    model = AdditiveBoostClassifier(epsilon=4.0, schema=schema, random_state=0).fit(frame, labels)
    score = private_score(model, frame, labels, epsilon=4.0, cost=(1, 9), schema=schema, random_state=1)
    best = score.overall.best_threshold
    assert 0.02 < best < 0.3
    table = pd.DataFrame(frame)
    last = model.model_.classes[-1]
    decided = FixedThresholdClassifier(FrozenEstimator(model), threshold=best, pos_label=last).fit(table, labels)
    says = decided.predict(table)
    assert last == "bad" == model.classes_[0]
    assert ((says == "bad") == (model.predict_proba(table)[:, 0] >= best)).all()

    def cost(guess):
        return ((guess == "bad") & ~positive).mean() + 9 * ((guess == "good") & positive).mean()

    assert cost(says) < cost(model.predict(table))


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (Estimate(0.75, 0.7, 0.8), "0.75 (0.7 to 0.8)"),
        (Estimate(0.99999, 0.99997, 1.0), "0.99999 (0.99997 to 1)"),
        (Estimate(1.0, 1.0, 1.0), "1 (estimate out of range, truncated)"),
        (Estimate(0.0, 0.0, 1e-9), "0 (0 to 1e-09)"),
    ],
)
def test_an_interval_is_written_with_digits_that_tell_its_ends_apart(estimate: Estimate, words: str) -> None:
    assert str(estimate) == words
