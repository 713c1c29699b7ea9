"""Choices among models and settings: the right law, the right price, and the better model where it shows."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.additive.estimator import AdditiveBoostClassifier, AdditiveBoostRegressor
from tacit.curator.curator import Curator
from tacit.curator.select import Choice
from tacit.encoding.frames import columns_of
from tacit.engines.blocks import MemoryTable
from tacit.evaluation import private_selection
from tacit.evaluation.candidates import EACH, RANDOM_STOPPING, plan_search
from tacit.evaluation.private_score import private_score
from tacit.evaluation.private_selection import PrivateSelection
from tacit.evaluation.select_model import choose, select_model, selection_charge
from tacit.evaluation.utility import LEVELS, Criterion, judges_of, utility_weights
from tacit.noise.seeded_source import SeededSource
from tacit.privacy import accountants, certificate, ledger
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import BoundedRange, NonPrivate, Pure, Renyi
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.request import Request, RequestError
from tacit.privacy.unit import Neighbouring
from tacit.schema import Schema
from tacit.trees.estimator import BoostedTreesClassifier, RandomTreesClassifier
from tests.chance import within_share
from tests.evaluation.scores import Known, refused, search, watched, world
from tests.pairwise import in_turn

CODES = len(utility_weights(LEVELS))
SCHEMA = Schema.from_dict(
    {
        "label": {"column": "y", "classes": [0, 1]},
        "columns": {name: {"kind": "numeric", "lower": -4, "upper": 4} for name in ("a", "b")},
    }
)


NUMBERS = Schema.from_dict({**SCHEMA.to_dict(), "label": {"column": "y", "kind": "numeric", "lower": -4, "upper": 4}})


def sealed(levels: np.ndarray, labels: np.ndarray | None = None) -> MemoryTable:
    """Rows of levels, shape ``(rows, candidates)``."""
    codes = [column.astype(np.uint8) for column in levels.T]
    return MemoryTable(codes, np.zeros(len(levels), np.uint8) if labels is None else labels, [CODES] * len(codes), 2)


class Recorder:
    """A curator that keeps the selection."""

    def __init__(self, table):
        self.table, self.layout = table, table.layout

    def select(self, selection, charge, label):
        self.selection = selection
        self.scores = selection.score(self.table.answer(query) for query in selection.queries)
        return Choice(label, np.array([0]), charge, "")


def scores_of(levels, labels=None):
    recorder = Recorder(sealed(np.asarray(levels).reshape(-1, 3), labels))
    choose(recorder, 3, LEVELS, BoundedRange(1.0), "test")
    return recorder.scores[0], recorder.selection


@pytest.mark.parametrize("kind", [np.asarray, list], ids=["numpy", "list"])
def test_a_search_looks_for_no_classes(kind: Any) -> None:
    """Its budget has no place for finding them: they are named, or refused."""
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"a": generator.random(400)})
    y = kind((X["a"] > 0.5).astype(int))
    candidates = [AdditiveBoostClassifier(interactions=False), BoostedTreesClassifier()]
    with pytest.raises(RequestError, match=r"classes=\(0, 1\)"):
        PrivateSelection(candidates, epsilon=4.0, random_state=0).fit(X, y)
    named = [candidate.set_params(classes=(0, 1)) for candidate in candidates]
    search = PrivateSelection(named, epsilon=4.0, random_state=0).fit(X, y)
    assert search.classes_.tolist() == [0, 1]
    assert search.certificate_.verify() == []
    assert search.score(X, (X["a"] > 0.5).astype(int)) > 0.6


def test_no_row_moves_the_scores_apart_by_more_than_is_charged():
    """Rows at the corners of what utilities can be; the bound is reached under both relations."""
    corners = [(a, b, c) for a in (0, 7, LEVELS) for b in (0, LEVELS) for c in (0, 30, LEVELS)]
    base = np.array([(5, 60, 64), (64, 0, 1)])
    before, selection = scores_of(base)
    added = np.array([scores_of(np.vstack([base, [row]]))[0] - before for row in corners])
    for relation, moves in (
        (Neighbouring.ADD_OR_REMOVE_ONE, added),
        (Neighbouring.REPLACE_ONE, (added[:, None] - added[None]).reshape(-1, 3)),
    ):
        apart = (moves.max(axis=1) - moves.min(axis=1)).max()
        assert apart <= selection.score_range(relation)
        assert apart > 0.9 * selection.score_range(relation)
    dropped, _ = scores_of(np.vstack([base, [(64, 0, 0)]]), np.array([0, 0, 255], np.uint8))
    assert (dropped == before).all()


def test_the_choice_follows_the_exponential_mechanism():
    """Three rows tell two candidates apart: the better one is taken with probability 1 / (1 + e^-1.5)."""
    table = sealed(np.array([[LEVELS, 0]] * 3 + [[LEVELS, LEVELS]] * 20))
    charge, taken = BoundedRange(0.5), 0
    for seed in range(4_000):
        curator = Curator(table, Reservation([charge], Neighbouring.ADD_OR_REMOVE_ONE), SeededSource(seed))
        taken += choose(curator, 2, LEVELS, charge, "test") == 0
    assert within_share(taken, 4_000, 1 / (1 + math.exp(-1.5)))
    assert not within_share(taken, 4_000, 1 / (1 + math.exp(-1.2)))  # a charge 20 % off


@pytest.mark.parametrize("criterion", ["accuracy", "log_loss"])
def test_utilities_are_levels_of_one_row(criterion):
    X, y = world(400, 0)
    (judge,) = judges_of([Known()], None, Criterion(criterion))
    labels = y.astype(object)
    labels[:10] = "?"
    levels = judge.utilities(columns_of(X), X, labels)
    assert levels.min() >= 0
    assert levels.max() <= LEVELS
    assert (levels[:10] == 0).all()
    chance = np.where(y == 1, X["p"], 1 - X["p"])[10:]
    exact = chance > 0.5 if criterion == "accuracy" else 1 - np.log(np.maximum(chance, 0.01)) / math.log(0.01)
    assert np.abs(levels[10:] / LEVELS - exact).max() <= 1 / LEVELS


class Worse(Known):
    """Adds noise to the scores."""

    def predict_proba(self, rows):
        positive = (np.asarray(rows["p"]) + np.random.default_rng(1).random(len(rows["p"]))) / 2
        return np.stack([1 - positive, positive], axis=1)


@pytest.mark.parametrize(
    ("criterion", "relation"), in_turn(["accuracy", "log_loss"], [("add_or_remove_one",), ("replace_one",)])
)
def test_the_better_model_is_found_and_the_price_is_what_was_asked(criterion, relation, tmp_path):
    X, y = world(3000, 1)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 0.6, 1e-6, relation)
    models = [Worse(), Known(), Worse()]
    result = select_model(models, X, y, 0.5, criterion=criterion, account=account, neighbouring=relation)
    assert result.index == 1
    assert result.certificate.verify() == []
    assert accountants.epsilon(result.certificate.charges, 1e-6) <= 0.5
    assert [type(entry.charge) for entry in result.certificate.entries] == [BoundedRange]
    with pytest.raises(BudgetExceeded):
        select_model(models, X, y, 0.5, account=account, neighbouring=relation)
    assert select_model(models, X, y, math.inf).index == 1
    assert select_model(models, {"p": X["p"][:0]}, y[:0], 0.1, random_state=0).index in (0, 1, 2)


def test_a_positive_delta_buys_a_larger_range():
    assert selection_charge(0.5, 0.0) == BoundedRange(0.5)
    assert selection_charge(math.inf, 0.0) == NonPrivate()
    charge = selection_charge(0.5, 1e-3)
    assert isinstance(charge, BoundedRange)
    assert 0.5 < charge.range < 1.0
    assert accountants.epsilon([charge], 1e-3) <= 0.5


@pytest.mark.parametrize(
    ("models", "change", "message"),
    [
        ([Known()], {}, "at least two"),
        ([Known(), Known((1, 0))], {}, "same classes"),
        ([Known(), Known()], {"criterion": "auc"}, "criterion"),
        ([Known(), object()], {}, "was it fitted"),
    ],
)
def test_mistakes_of_a_choice_cost_nothing(models, change, message, tmp_path):
    refused(message, tmp_path, select_model, models, *world(30, 2), **change)


# Searches.


def rows(n, seed=0):
    X, y = products(n, seed)
    return X, (y > 0).astype(int)


def products(n, seed=0):
    generator = np.random.default_rng(seed)
    X = {name: generator.normal(size=n) for name in ("a", "b")}
    return X, X["a"] * X["b"] + 0.3 * generator.normal(size=n)


def of_numbers(count=3, **parameters):
    """As :func:`candidates`."""
    parameters = {"schema": NUMBERS} | parameters
    blind = [AdditiveBoostRegressor(interactions=False, **parameters) for _ in range(count - 1)]
    return [*blind, AdditiveBoostRegressor(**parameters)]


def candidates(count=3, schema=SCHEMA):
    """Additive models without interactions and halfspaces are blind to a product; the last candidate is not."""
    blind = [AdditiveBoostClassifier(schema=schema, interactions=False) for _ in range(count - 1)]
    return [*blind, AdditiveBoostClassifier(schema=schema)]


@pytest.mark.parametrize(("strategy", "delta"), [("each", 0.0), ("random_stopping", 1e-6), ("random_stopping", 0.0)])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_search_finds_the_better_setting_within_its_budget(kind, strategy, delta, monkeypatch):
    """Random stopping may draw none of the candidate that is not blind: its fits say if it did."""
    epsilon, more, least = 8.0, {"random_state": 4}, 0.7  # those that are blind to the product are right on half
    choices, table = candidates(), rows(6000)
    if kind == "numbers":
        epsilon, more, least = 16.0, {"error_clip": 2.0, "random_state": 1}, 0.15
        choices, table = of_numbers(), products(6000)
    tried = watched(type(choices[0]), monkeypatch)
    result = search(*table, candidates=choices, epsilon=epsilon, delta=delta, strategy=strategy, runs=12, **more)
    assert (result.best_index_ == 2) == (tried.count(False) < len(tried))
    if result.best_index_ == 2:
        assert result.score(*(rows if kind == "classes" else products)(2000, 1)) > least
    certificate = result.certificate_
    assert certificate.verify() == []
    assert (certificate.epsilon, certificate.delta) == (epsilon, delta)
    assert 0.9 * epsilon < accountants.epsilon(certificate.charges, delta) <= epsilon * (1 + 1e-9)
    assert result.best_.certificate_ is certificate
    assert result.model_ is result.best_.model_
    if kind == "classes":
        assert result.predict_proba(table[0]).shape == (6000, 2)
    else:
        assert private_score(result, *table, 1.0)["mae"].value >= 0
    kinds = {type(charge) for charge in certificate.charges}
    if strategy == "random_stopping":
        assert kinds == ({Renyi} if delta else {Pure})
        assert len(certificate.entries) == 1
        assert "Theorem 2" in certificate.entries[0].theorem
    else:
        assert BoundedRange in kinds
        assert len(certificate.entries) == 4


def test_with_few_candidates_each_is_fitted_and_with_many_chance_decides():
    few, many = (PrivateSelection(candidates(count)).dry_run() for count in (2, 16))
    assert (few["strategy"], many["strategy"]) == (EACH, RANDOM_STOPPING)
    assert few["epsilon_per_fit"] > many["epsilon_per_fit"] > 0.25


def test_rows_judged_apart_leave_more_for_a_fit():
    request = Request.of(1.0, 1e-6, "add_or_remove_one", None)
    apart, together = (plan_search(candidates(), request, RANDOM_STOPPING, None, 1.0, a) for a in (True, False))
    assert apart.fit_epsilon > together.fit_epsilon
    for plan in (apart, together):
        assert accountants.epsilon(plan.charges, 1e-6) <= 1.0
        assert plan.rule is not None
        one = [(*charges, plan.scoring) for charges in plan.declared]
        whole = plan.rule.charge([*plan.declared, (plan.scoring,)] if plan is apart else one, 1e-6)
        assert (whole,) == plan.charges


def test_a_unit_of_several_rows_may_be_fitted_and_judged_and_pays_for_both():
    declared = SCHEMA.to_dict() | {"unit": {"column": "who", "max_rows": 2}}
    schema = Schema.from_dict(declared)
    X, y = rows(1000)
    X["who"] = np.arange(1000) // 2
    search = PrivateSelection(candidates(2, schema), epsilon=4.0, strategy="random_stopping", random_state=1)
    assert (
        search.dry_run()["epsilon_per_fit"]
        < PrivateSelection(candidates(2), epsilon=4.0, strategy="random_stopping").dry_run()["epsilon_per_fit"]
    )
    search.fit(X, y)
    assert search.certificate_.rows_per_unit == 2
    assert search.certificate_.verify() == []


@pytest.mark.parametrize(("strategy", "holdout"), [("each", 0.0), ("random_stopping", 0.3)])
def test_a_search_is_repeatable_or_releasable(holdout, strategy, tmp_path):
    X, y = rows(500)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 5.0, 1e-6)

    def search(state):
        options = {"strategy": strategy, "holdout": holdout, "criterion": "log_loss", "account": account}
        return PrivateSelection(candidates(2), epsilon=1.0, random_state=state, **options).fit(X, y)

    one, two = search(3), search(3)
    assert one.best_index_ == two.best_index_
    assert (one.predict_proba(X) == two.predict_proba(X)).all()
    assert not one.certificate_.releasable
    fresh = search(None)
    assert fresh.certificate_.releasable
    assert fresh.certificate_.dataset == "people"
    assert account.spent > 1.5


class Clock(datetime):
    """One that goes on by an hour whenever somebody looks."""

    looks = 0

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        cls.looks += 1
        return datetime(2026, 1, 1, tzinfo=tz) + timedelta(hours=cls.looks)


def test_a_certificate_does_not_tell_how_long_a_search_took(monkeypatch: pytest.MonkeyPatch) -> None:
    """That tells how many runs there were. Beside the account, which says when it began, the end would tell."""
    for module in (ledger, certificate):
        monkeypatch.setattr(module, "datetime", Clock, raising=False)
    draw = np.random.default_rng(0)
    X, y = pd.DataFrame(draw.normal(size=(200, 2)), columns=["a", "b"]), draw.integers(0, 2, 200)
    settings = [RandomTreesClassifier(schema=SCHEMA, n_trees=n) for n in (1, 2)]
    said = []
    for seed in range(6):
        Clock.looks = 0
        search = PrivateSelection(settings, strategy=RANDOM_STOPPING, delta=0.0, random_state=seed).fit(X, y)
        said.append((search.certificate_.created, Clock.looks))
    assert len({looks for _, looks in said}) > 1  # of some, there were more runs
    assert len({created for created, _ in said}) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"candidates": candidates(2)[:1]}, "at least two candidates"),
        ({"candidates": [Known(), Known()]}, "no private estimator"),
        ({"strategy": "grid"}, "strategy must be"),
        ({"runs": 0.5}, "mean number of runs"),
        ({"shape": -2}, "shape must lie"),
        ({"holdout": 1.0}, "holdout"),
        ({"criterion": "auc"}, "criterion"),
        ({"epsilon": 0}, "epsilon"),
        ({"candidates": [AdditiveBoostClassifier(schema=SCHEMA), AdditiveBoostClassifier()]}, "same label"),
    ],
)
def test_mistakes_of_a_search_cost_nothing(change, message, tmp_path):
    refused(message, tmp_path, search, *rows(20), **{"candidates": candidates(2)} | change)


def test_a_candidate_s_own_account_is_refused(tmp_path):
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 5.0, 1e-6)
    with pytest.raises(ValueError, match="account of its own"):
        PrivateSelection([*candidates(2), AdditiveBoostClassifier(schema=SCHEMA, account=account)]).fit(*rows(20))


def test_rows_are_set_aside_by_coins_of_the_noise_source(monkeypatch):
    """Public coins by place would tell more than the two parts pay for: one row fewer moves all behind it."""

    class Coins:
        def words(self, size):
            return np.where(np.arange(size) % 4 == 0, np.uint64(0), np.uint64(1 << 63))

    records = []
    monkeypatch.setattr(private_selection, "chosen_source", lambda random_state: Coins())
    original = private_selection._Rows.where
    monkeypatch.setattr(
        private_selection._Rows, "where", lambda rows, mask: records.append(mask) or original(rows, mask)
    )
    X, y = rows(400)
    PrivateSelection(candidates(2), epsilon=4.0, holdout=0.3, strategy="each", random_state=0).fit(X, y)
    assert np.flatnonzero(records[1]).tolist() == list(range(0, 400, 4))
    assert (records[0] == ~records[1]).all()
