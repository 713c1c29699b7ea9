"""Rows in batches: one charge for all of them, better with every batch, and refusals that cost nothing."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from tacit.additive.estimator import AdditiveBoostClassifier, AdditiveBoostRegressor
from tacit.curator.options import fresh_key
from tacit.encoding.frames import columns_of
from tacit.encoding.table import fingerprint
from tacit.estimators.batchwise import BatchwiseClassifier, BatchwiseRegressor, released_rows
from tacit.evaluation.private_score import private_score
from tacit.models.files import load_model, save_model
from tacit.models.mean import MeanModel, MeanNumberModel
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.certificate import Certificate
from tacit.privacy.ledger import AccountError, BudgetExceeded
from tacit.privacy.request import RequestError
from tacit.report.page import render
from tacit.schema import Schema
from tacit.trees.estimator import BoostedTreesClassifier

SCHEMA = Schema.from_dict(
    {
        "label": {"column": "y", "classes": ["no", "yes"], "positive": "yes"},
        "columns": {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in ("a", "b", "c")},
    }
)


def batch(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(generator.random((n, 3)), columns=["a", "b", "c"])
    score = 5 * (frame["a"] - 0.5) + 2 * np.sin(6 * frame["b"])
    return frame, np.where(generator.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")


@pytest.fixture
def account(tmp_path):
    return PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "arrivals", 1.0, 1e-6, "add_or_remove_one")


def test_all_batches_cost_what_one_does(account):
    learner = BatchwiseClassifier(AdditiveBoostClassifier(epsilon=0.9, schema=SCHEMA, account=account))
    spent = []
    for seed in range(3):
        learner.partial_fit(*batch(1500, seed))
        spent.append(account.spent)
    assert 0.8 < spent[0] <= 0.9
    assert spent[1:] == spent[:1] * 2
    assert [line.status for line in account.reservations()] == ["completed"] * 3
    certificate = learner.certificate_
    assert certificate.epsilon == 0.9
    assert certificate.verify() == []
    assert certificate.releasable
    assert "parallel composition" in certificate.entries[0].theorem
    assert all(own.verify() == [] and own.epsilon == 0.9 for own in learner.certificates_)
    assert len(learner.certificates_) == 3
    with pytest.raises(BudgetExceeded):
        learner.fit(*batch(1500, 9))  # a new start is a new charge
    assert account.spent == spent[0]


def test_batches_do_not_touch_each_other():
    """The model of a batch depends on its own rows and its own noise: whatever the others hold, it is the same."""
    made = []
    for first in (1, 2):
        learner = BatchwiseClassifier(AdditiveBoostClassifier(epsilon=1.0, schema=SCHEMA, random_state=5))
        made.append(learner.partial_fit(*batch(500, first)).partial_fit(*batch(500, 3)).model_)
    assert made[0].members[0].body() != made[1].members[0].body()
    assert made[0].members[1].body() == made[1].members[1].body()


def test_the_same_seed_is_not_the_same_noise():
    learner = BatchwiseClassifier(AdditiveBoostClassifier(epsilon=1.0, schema=SCHEMA, random_state=5))
    (frame, labels), (more, answers) = batch(500, 0), batch(1, 1)
    learner.partial_fit(frame, labels).partial_fit(pd.concat([frame, more]), np.append(labels, answers))
    assert learner.model_.members[0].body() != learner.model_.members[1].body()
    assert not learner.certificate_.releasable


def test_what_is_left_behind_can_be_kept(account, tmp_path):
    frame, labels = batch(600, 0)
    learner = BatchwiseClassifier(AdditiveBoostClassifier(epsilon=0.5, schema=SCHEMA, account=account))
    learner.partial_fit(frame, labels)
    again = pickle.loads(pickle.dumps(learner)).partial_fit(*batch(600, 1))
    assert account.spent <= 0.5
    assert len(again.model_.members) == 2
    save_model(again.model_, tmp_path / "m.json", again.certificate_.to_dict())
    model, certificate = load_model(tmp_path / "m.json")
    assert isinstance(model, MeanModel)
    assert model.predict_proba(columns_of(frame)) == pytest.approx(again.predict_proba(frame))
    assert model.score_variance(columns_of(frame)).shape == (600,)
    assert "parallel" in str(certificate)
    assert "“yes”" in render(model, certificate)
    assert not hasattr(clone(again), "model_")


def test_log_odds_are_averaged_by_released_rows():
    learner = BatchwiseClassifier(AdditiveBoostClassifier(epsilon=2.0, schema=SCHEMA, random_state=1))
    learner.partial_fit(*batch(3000, 0)).partial_fit(*batch(1000, 1))
    members, weights = learner.model_.members, learner.model_.weights
    assert weights == tuple(released_rows(member) for member in members)
    assert weights[0] / weights[1] == pytest.approx(3, rel=0.3)
    asked = batch(50, 9)[0]
    frame = columns_of(asked)
    mean = sum(w * m.decision_function(frame) for w, m in zip(weights, members, strict=True)) / sum(weights)
    assert learner.decision_function(asked) == pytest.approx(mean)


def test_a_later_batch_may_not_cost_more_than_the_first(account):
    """The first charge is for all of them: who raises epsilon in between would spend what was never charged."""
    learner = BatchwiseClassifier(AdditiveBoostClassifier(epsilon=0.5, schema=SCHEMA, account=account))
    learner.partial_fit(*batch(300, 0))
    described = SCHEMA.to_dict()
    other = {**described, "columns": {**described["columns"], "a": {"kind": "numeric", "lower": 0, "upper": 2}}}
    for changed in ({"epsilon": 5.0}, {"delta": 1e-3}, {"neighbouring": "replace_one"}, {"schema": other}):
        learner.set_params(**{f"estimator__{name}": value for name, value in changed.items()})
        with pytest.raises((RequestError, ValueError), match=r"keep them|neighbouring|about"):
            learner.partial_fit(*batch(300, 1))
        assert len(learner.model_.members) == 1
        learner.set_params(
            estimator__epsilon=0.5, estimator__delta=1e-6, estimator__neighbouring="add_or_remove_one",
            estimator__schema=SCHEMA,
        )  # fmt: skip
    learner.set_params(estimator__random_state=3)
    with pytest.raises(RequestError, match="not releasable"):
        learner.partial_fit(*batch(300, 1))
    learner.set_params(estimator__random_state=None).partial_fit(*batch(300, 1))
    assert len(learner.model_.members) == 2


def test_a_file_is_gone_on_with_at_no_charge(account, tmp_path):
    made = {"schema": SCHEMA, "epsilon": 0.5}
    learner = BatchwiseClassifier(AdditiveBoostClassifier(account=account, **made)).partial_fit(*batch(600, 0))
    save_model(learner.model_, tmp_path / "m.json", learner.certificate_.to_dict())
    spent = account.spent
    model, written = load_model(tmp_path / "m.json")
    certificate = Certificate.from_dict(written)
    again = BatchwiseClassifier(AdditiveBoostClassifier(account=account, **made)).resume(model, certificate)
    again.partial_fit(*batch(600, 1))
    assert account.spent == spent
    assert len(account.reservations()) == 2
    assert len(again.model_.members) == 2
    assert again.model_.members[0].body() == learner.model_.members[0].body()
    assert again.certificate_.verify() == []
    assert np.isfinite(again.predict_proba(batch(20, 2)[0])).all()
    plain = AdditiveBoostClassifier(**made).fit(*batch(600, 0))
    for other, what in (
        (BatchwiseClassifier(AdditiveBoostClassifier(epsilon=0.6, schema=SCHEMA)), "keep them"),
        (BatchwiseClassifier(BoostedTreesClassifier(**made)), "begun in batches"),
        (BatchwiseClassifier(AdditiveBoostClassifier(random_state=1, account=account, **made)), "not releasable"),
    ):
        with pytest.raises(RequestError, match=what):
            other.resume(model, certificate)
    with pytest.raises(RequestError, match="begun in batches"):
        again.resume(plain.model_, plain.certificate_)
    forged = Certificate.from_dict({**written, "epsilon": 0.1})
    with pytest.raises(RequestError, match="does not hold"):
        again.resume(model, forged)


def in_batches(account: PrivacyAccount | None) -> BatchwiseClassifier:
    return BatchwiseClassifier(AdditiveBoostClassifier(epsilon=0.3, schema=SCHEMA, account=account))


def test_an_account_lets_no_batch_through_that_it_has_not_paid_for(account, tmp_path):
    """A first batch under no account, or under another, pays for nothing here."""
    other = PrivacyAccount.create(f"sqlite:///{tmp_path}/b.db", "arrivals", 1.0, 1e-6)
    for first, what in ((None, "no account"), (other, "did not pay for the first batch")):
        begun = in_batches(first).partial_fit(*batch(60, 0))
        learner = in_batches(account)
        with pytest.raises((RequestError, AccountError), match=what):
            learner.resume(begun.model_, begun.certificate_).partial_fit(*batch(60, 1))
        begun.set_params(estimator__account=account)
        with pytest.raises((RequestError, AccountError), match=what):
            begun.partial_fit(*batch(60, 1))
    paid = in_batches(account).partial_fit(*batch(60, 0))
    spent, held = account.spent, len(account.reservations())
    with pytest.raises(RequestError, match="charged to the account of 'arrivals', and this is no account"):
        in_batches(None).resume(paid.model_, paid.certificate_)
    assert (account.spent, len(account.reservations())) == (spent, held)
    assert held == 1


def test_the_same_batch_again_costs_again(account):
    """Who goes on from one file twice, or tries a batch again, may have learned from the same persons twice."""
    begun = in_batches(account).partial_fit(*batch(60, 0))
    once = account.spent
    spent, charged = [], []
    for _ in range(3):
        again = in_batches(account).resume(begun.model_, begun.certificate_).partial_fit(*batch(60, 1))
        spent.append(account.spent)
        charged.append(again.charged_)
    assert charged == [False, True, True]
    assert spent[0] == once < spent[1] < spent[2]
    assert again.partial_fit(*batch(60, 2)).charged_ is False  # its third batch is the first of that number
    charges = account.reservations()[0].charges
    while account.covers(charges):
        account.reserve(charges, "something else").close()
    with pytest.raises(BudgetExceeded, match="begun before"):
        in_batches(account).resume(begun.model_, begun.certificate_).partial_fit(*batch(60, 1))


def test_a_batch_comes_only_once_however_its_rows_are_ordered(account):
    """One file could be added to a model again and again, each time under a new number, at no charge."""
    learner = in_batches(account).partial_fit(*batch(60, 0)).partial_fit(*batch(60, 1))
    spent = account.spent
    for seed in (0, 1):
        frame, labels = batch(60, seed)
        order = np.random.default_rng(seed).permutation(60)
        with pytest.raises(AccountError, match="learned from before"):
            learner.partial_fit(frame.iloc[order], labels[order])
    begun = in_batches(account).resume(learner.model_, learner.certificate_)
    with pytest.raises(AccountError, match="nothing was spent"):
        begun.partial_fit(*batch(60, 1))
    assert account.spent == spent
    assert len(account.reservations()) == len(learner.model_.members) == 2
    frame, labels = batch(60, 1)
    labels[0] = "no" if labels[0] == "yes" else "yes"
    assert learner.partial_fit(frame, labels).charged_ is False
    assert learner.partial_fit(*batch(60, 2)).charged_ is False


def test_few_persons_may_be_alike(account):
    frame, labels = batch(5, 0)
    learner = in_batches(account)
    for _ in range(3):
        learner.partial_fit(frame, labels)
    assert len(learner.model_.members) == 3
    assert learner.partial_fit(frame[:0], labels[:0]).partial_fit(frame[:0], labels[:0]).charged_ is False


def test_without_an_account_copies_go_on_once_and_files_not_at_all(tmp_path):
    learner = in_batches(None).partial_fit(*batch(60, 0))
    copies = [copy.deepcopy(learner), copy.copy(learner)]
    learner.partial_fit(*batch(60, 1))
    for other in copies:
        with pytest.raises(BudgetExceeded, match="a batch number 2 was begun before"):
            other.partial_fit(*batch(60, 2))
    with pytest.raises(BudgetExceeded, match="rows were learned from before"):
        learner.partial_fit(*batch(60, 0))
    learner.partial_fit(*batch(60, 3))
    stored = pickle.loads(pickle.dumps(learner))
    assert np.isfinite(stored.predict_proba(batch(5, 0)[0])).all()
    with pytest.raises(RequestError, match="goes on only under the account"):
        stored.partial_fit(*batch(60, 4))
    with pytest.raises(RequestError, match="takes the account that paid"):
        in_batches(None).resume(learner.model_, learner.certificate_)
    assert len(learner.fit(*batch(60, 0)).model_.members) == 1  # anew, under a budget of its own


def test_fingerprints_of_two_accounts_have_nothing_in_common(account, tmp_path):
    other = PrivacyAccount.create(f"sqlite:///{tmp_path}/b.db", "arrivals", 1.0, 1e-6)
    key = account.key(fresh_key()).secret
    assert len(key) == 32
    assert key != other.key(fresh_key()).secret
    assert key == PrivacyAccount(account.url, "arrivals").key(fresh_key()).secret
    columns = [np.arange(50), np.arange(50) % 3]
    known = fingerprint(columns, key)
    assert known != fingerprint(columns, other.key(fresh_key()).secret)
    assert known == fingerprint([column[::-1] for column in columns], key)
    assert known != fingerprint(columns[::-1], key)
    assert known != fingerprint([columns[0], columns[1][::-1]], key)


def test_a_batch_that_failed_costs_when_it_is_tried_again(account, monkeypatch):
    learner = in_batches(account).partial_fit(*batch(60, 0))
    once = account.spent
    with monkeypatch.context() as broken:
        broken.setattr(AdditiveBoostClassifier, "fit", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            learner.partial_fit(*batch(60, 1))
    assert (account.spent, account.reservations()[-1].status) == (once, "failed")
    assert learner.partial_fit(*batch(60, 1)).charged_
    assert account.spent > once


def test_of_two_who_begin_a_batch_at_once_one_pays(account):
    charges = AdditiveBoostClassifier(epsilon=0.3, schema=SCHEMA).declared_charge("add_or_remove_one")
    account.reserve(charges, "first").close()

    account.take_batch("key:one", "first")

    def begin(number: int) -> bool:
        held = account.reserve_batch(charges, "second", "first", f"key:{number}")
        held.close()
        return bool(held.charges)

    with ThreadPoolExecutor(3) as pool:
        assert sorted(pool.map(begin, range(3))) == [False, True, True]


def test_public_mistakes_cost_nothing_and_change_nothing(account):
    frame, labels = batch(300, 0)
    learner = BatchwiseClassifier(AdditiveBoostClassifier(epsilon=0.5, schema=SCHEMA, account=account))
    with pytest.raises(ValueError, match="'a'"):
        learner.partial_fit(frame.drop(columns="a"), labels)
    assert account.spent == 0
    learner.partial_fit(frame, labels)
    with pytest.raises(ValueError, match="same number of rows"):
        learner.partial_fit(frame, labels[:-1])
    assert len(learner.certificates_) == 1
    for wrong in (BatchwiseClassifier(), BatchwiseClassifier(AdditiveBoostClassifier(classes=["no", "yes"]))):
        with pytest.raises(RequestError):
            wrong.partial_fit(frame, labels)


NUMBERS = {**SCHEMA.to_dict(), "label": {"column": "y", "kind": "numeric", "lower": -10, "upper": 10}}


def numbers(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    frame, _ = batch(n, seed)
    noise = np.random.default_rng(seed + 1000).normal(size=n)
    return frame, np.asarray(5 * (frame["a"] - 0.5) + 2 * np.sin(6 * frame["b"]) + noise)


def test_batches_of_numbers_cost_what_one_does_and_get_better(account, tmp_path):
    learner = BatchwiseRegressor(AdditiveBoostRegressor(epsilon=0.9, schema=NUMBERS, account=account, random_state=0))
    for seed in range(3):
        learner.partial_fit(*numbers(1500, seed))
    assert account.spent <= 0.9
    assert learner.certificate_.verify() == []
    assert learner.certificate_.epsilon == 0.9
    assert len(learner.certificates_) == 3
    frame, truth = numbers(3000, 99)
    columns = columns_of(frame)
    alone = [np.abs(member.predict(columns) - truth).mean() for member in learner.model_.members]
    assert np.abs(learner.predict(frame) - truth).mean() < np.mean(alone)  # for certain, too
    assert learner.score(frame, truth) > 0.5
    members, weights = learner.model_.members, np.array(learner.model_.weights)
    assert learner.predict(frame) == pytest.approx(
        sum(w * m.predict(columns) for w, m in zip(weights, members, strict=True)) / weights.sum()
    )
    save_model(learner.model_, tmp_path / "m.json", learner.certificate_.to_dict())
    model, certificate = load_model(tmp_path / "m.json")
    assert isinstance(model, MeanNumberModel)
    assert model.predict(columns) == pytest.approx(learner.predict(frame))
    own = [share**2 * member.score_variance(columns) for share, member in zip(model.shares, members, strict=True)]
    assert model.score_variance(columns) == pytest.approx(np.sum(own, axis=0))
    page = render(model, certificate)
    for words in ("The mean of the predictions of models of 3 batches", "How much each batch counts", "-10 to 10"):
        assert words in page.replace("−", "-")
    assert page.count(">What matters most</h") == 1
    assert not hasattr(model, "predict_proba")
    score = private_score(model, frame, truth, 2.0, metrics=["mae"])
    assert score["mae"].value == pytest.approx(np.abs(learner.predict(frame) - truth).mean(), abs=0.2)


def test_batches_of_several_classes_are_weighed_by_their_rows():
    schema = {**SCHEMA.to_dict(), "label": {"column": "y", "classes": [0, 1, 2]}}
    learner = BatchwiseClassifier(AdditiveBoostClassifier(epsilon=4.0, schema=schema, random_state=0))
    for n, seed in ((3000, 0), (1000, 1)):
        frame, y = numbers(n, seed)
        learner.partial_fit(frame, np.clip(np.digitize(y, [-1, 1]), 0, 2))
    weights = learner.model_.weights
    assert weights[0] / weights[1] == pytest.approx(3, rel=0.3)
    frame, y = numbers(2000, 9)
    assert learner.score(frame, np.digitize(y, [-1, 1])) > 0.55


def test_each_kind_takes_its_own_learners():
    frame, y = numbers(50, 0)
    for wrong, what in (
        (BatchwiseRegressor(AdditiveBoostClassifier(schema=SCHEMA)), "private regressor"),
        (BatchwiseClassifier(AdditiveBoostRegressor(schema=NUMBERS)), "private classifier"),
        (BatchwiseRegressor(AdditiveBoostRegressor()), "declare it"),
    ):
        with pytest.raises(RequestError, match=what):
            wrong.partial_fit(frame, y)
    bounded = AdditiveBoostRegressor(schema={"columns": NUMBERS["columns"]}, target_bounds=(-10, 10))
    assert BatchwiseRegressor(bounded).partial_fit(frame, y).predict(frame).shape == (50,)
    with pytest.raises(ValueError, match="same number"):
        MeanNumberModel(
            (
                AdditiveBoostRegressor(schema=NUMBERS).fit(frame, y).model_,
                AdditiveBoostRegressor(schema=NUMBERS, loss="quantile").fit(frame, y).model_,
            ),
            (1.0, 1.0),
        )
