"""Whether anything was spent is a fact of an error; its words and its type say nothing of their own."""

from __future__ import annotations

import copy
import importlib
import pickle
from dataclasses import fields

import numpy as np
import pytest

import tacit
from tacit import AdditiveBoostClassifier, PrivacyAccount
from tacit.additive.boost import AdditiveLearner
from tacit.cli.failures import Mistake, with_spending
from tacit.encoding.errors import FrameError
from tacit.errors import STANDS, UNSPENT, TacitError, message_of, spending, was_spent
from tacit.models.base import ModelError
from tacit.privacy.charges import Pure
from tacit.privacy.ledger import AccountError, BudgetExceeded, Reservation
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.schema import SchemaError

ERRORS = [
    RequestError("epsilon is odd"),
    FrameError("did you mean 'x'?"),
    SchemaError("unknown key", "known here: a", "b", "column 'c'"),
    AccountError("no such account"),
    BudgetExceeded("too much", "; nothing was spent or read now"),
    BudgetExceeded("too late; nothing was read"),
    ModelError("no model"),
    Mistake("the file is gone", "The fit was done and its budget is spent."),
    ValueError("a plain one. " + UNSPENT),
    KeyError("k"),
    TypeError("nothing was spent"),
]


def within(error: Exception) -> Exception:
    """The error as it comes out of a reservation."""
    with pytest.raises(Exception) as caught, Reservation([Pure(1.0)], Neighbouring.ADD_OR_REMOVE_ONE, "a fit"):
        raise error
    return caught.value


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: f"{type(error).__name__}: {error}")
def test_a_reservation_marks_what_leaves_it_and_never_changes_its_type(error: Exception) -> None:
    error = copy.deepcopy(error)  # where dask is loaded, shallow copies of errors share their attributes
    assert not was_spent(error)
    words = str(error)
    result = within(error)
    assert result is error
    assert was_spent(result)
    if isinstance(error, TacitError):
        assert result.spent is True  # type: ignore[attr-defined]
        assert UNSPENT not in str(result)
        assert "nothing was spent" not in str(result)
        assert (STANDS in str(result)) == bool(error.remark)
    else:
        assert str(result) == words
    assert (STANDS in getattr(result, "__notes__", ())) != (STANDS in str(result))
    assert within(result) is result, "of two reservations the inner one has said it"
    assert str([*getattr(result, "__notes__", ()), str(result)]).count(STANDS) == 1


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: f"{type(error).__name__}: {error}")
def test_the_command_line_says_once_what_was_spent(error: Exception) -> None:
    error = copy.deepcopy(error)
    before = with_spending(error)
    assert not isinstance(error, TacitError) or STANDS not in before
    after = with_spending(within(error))
    assert after.count(STANDS) == 1
    if isinstance(error, TacitError):
        assert "nothing was spent" not in after.lower()


@pytest.mark.parametrize("spent", [False, True])
@pytest.mark.parametrize("error", ERRORS[:8], ids=lambda error: f"{type(error).__name__}: {error}")
def test_the_fact_survives_a_process_boundary(error: Exception, spent: bool) -> None:
    error = copy.deepcopy(error)
    if spent:
        within(error)
    read = pickle.loads(pickle.dumps(error))
    assert (type(read), str(read), was_spent(read)) == (type(error), str(error), spent)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RequestError("epsilon is odd"), "epsilon is odd. Nothing was spent."),
        (RequestError("epsilon is odd."), "epsilon is odd. Nothing was spent."),
        (FrameError("did you mean 'x'?"), "did you mean 'x'? Nothing was spent."),
        (AccountError("no such account"), "no such account; nothing was spent"),
        (BudgetExceeded("too late; nothing was read"), "too late; nothing was read"),
        (ModelError("no model"), "no model"),
    ],
)
def test_words_before_a_charge(error: TacitError, words: str) -> None:
    assert str(error) == words
    assert message_of(error) == error.message


def test_a_fit_says_by_an_attribute_whether_it_charged(tmp_path) -> None:
    class BrokenLearner(AdditiveLearner):
        def learn(self, *_):
            raise RequestError("something is wrong")

    class Broken(AdditiveBoostClassifier):
        def make_learner(self, request):
            learner = super().make_learner(request)
            return BrokenLearner(**{field.name: getattr(learner, field.name) for field in fields(learner)})

    X, y = np.zeros((20, 1)), np.zeros(20, int)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 1.5, 1e-6)
    with pytest.raises(RequestError, match="Nothing was spent") as refused:
        Broken(epsilon=-1.0, account=account).fit(X, y)
    assert not refused.value.spent
    assert account.spent == 0
    with pytest.raises(RequestError, match=r"something is wrong. The charge stands: it was made before.$") as failed:
        Broken(epsilon=1.0, account=account).fit(X, y)
    assert failed.value.spent
    assert account.spent > 0.9
    with pytest.raises(BudgetExceeded, match="nothing was spent or read now") as broke:
        Broken(epsilon=1.0, account=account).fit(X, y)
    assert not broke.value.spent


def test_what_fails_after_a_reservation_was_spent_and_before_it_was_not() -> None:
    def work(*, charged: bool) -> None:
        if charged:
            with Reservation([Pure(1.0)], Neighbouring.ADD_OR_REMOVE_ONE, "a fit"):
                pass
        raise RequestError("the summary is broken")

    for charged in (True, False):
        with pytest.raises(RequestError) as caught, spending(), spending():
            work(charged=charged)
        assert was_spent(caught.value) is charged
        assert (STANDS if charged else UNSPENT) in str(caught.value)
        work_before = Reservation([Pure(1.0)], Neighbouring.ADD_OR_REMOVE_ONE, "another fit, before")
        with work_before:
            pass


def test_a_reservation_whose_end_fails_was_spent() -> None:
    def fails(*_: object) -> None:
        raise OSError("the disk is full")

    with (
        pytest.raises(OSError, match="disk is full") as caught,
        Reservation([Pure(1.0)], Neighbouring.ADD_OR_REMOVE_ONE, "a fit", fails),
    ):
        pass
    assert was_spent(caught.value)


def broken(*_: object, **__: object) -> None:
    raise RequestError("broken on the way out")


FRAME = {"x": np.linspace(0, 1, 60)}
HALVES = np.arange(60) % 2 == 0
ONE_COLUMN = {"columns": {"x": {"kind": "numeric", "lower": 0, "upper": 1}}}


def classifier() -> tacit.RandomTreesClassifier:
    return tacit.RandomTreesClassifier(n_trees=1, schema=ONE_COLUMN, classes=(False, True))


def numbers() -> tacit.AdditiveBoostRegressor:
    return tacit.AdditiveBoostRegressor(schema=ONE_COLUMN, target_bounds=(0, 1), interactions=False)


def in_a_block() -> None:
    with tacit.boosting.private_rows(np.zeros((9, 2)), np.zeros(9), row_norm=1.0, epsilon=1.0):
        pass


WAYS_OUT = {
    "a certificate": ("tacit.learning.fit.certified", lambda: classifier().fit(FRAME, HALVES)),
    "what a model is bound to": ("tacit.estimators.base.bound", lambda: classifier().fit(FRAME, HALVES)),
    "a summary": ("tacit.estimators.base.summary_of", lambda: numbers().fit(FRAME, FRAME["x"])),
    "a search": (
        "tacit.evaluation.private_selection.summary_of",
        lambda: tacit.PrivateSelection([classifier(), classifier()], epsilon=4.0).fit(FRAME, HALVES),
    ),
    "batches": (
        "tacit.estimators.batchwise.summary_of",
        lambda: tacit.BatchwiseClassifier(classifier()).fit(FRAME, HALVES),
    ),
    "a score": (
        "tacit.evaluation.private_score.perform",
        lambda: tacit.private_score(classifier().fit(FRAME, HALVES), FRAME, HALVES),
    ),
    "a score of numbers": (
        "tacit.evaluation.private_score.perform_numbers",
        lambda: tacit.private_score(numbers().fit(FRAME, FRAME["x"]), FRAME, FRAME["x"]),
    ),
    "a choice": (
        "tacit.evaluation.select_model.certified",
        lambda: tacit.select_model([classifier().fit(FRAME, HALVES)] * 2, FRAME, HALVES),
    ),
    "a correction": (
        "tacit.evaluation.recalibrate.fitted_curve",
        lambda: tacit.recalibrate(classifier().fit(FRAME, HALVES), FRAME, HALVES),
    ),
    "discovery": (
        "tacit.discovery.discover_schema.certified",
        lambda: tacit.discover_schema({**FRAME, "y": HALVES}, "y", epsilon=1.0),
    ),
    "a stream": ("tacit.online.winnow.certified", lambda: tacit.online.Winnow().learn_one({"x": 1.0}, True)),
    "rows for one's own boosting": ("tacit.boosting.sealed.certified", in_a_block),
}


@pytest.mark.parametrize("way", WAYS_OUT)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_breaks_between_the_reservation_and_the_end_says_that_the_charge_stands(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, work = WAYS_OUT[way]
    module, name = place.rsplit(".", 1)
    monkeypatch.setattr(importlib.import_module(module), name, broken)
    with pytest.raises(RequestError, match="broken on the way out") as caught:
        work()
    assert was_spent(caught.value)
    assert STANDS in str(caught.value)


@pytest.mark.filterwarnings("error")
def test_a_warning_that_stops_a_fit_stops_it_after_the_charge() -> None:
    with pytest.raises(Warning) as caught:
        classifier().set_params(epsilon=20.0).fit(FRAME, HALVES)
    assert was_spent(caught.value)
    assert STANDS in caught.value.__notes__
