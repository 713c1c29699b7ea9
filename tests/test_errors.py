"""Whether anything was spent is a fact of an error; its words and its type say nothing of their own."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields

import numpy as np
import pytest

from tacit import AdditiveBoostClassifier, PrivacyAccount
from tacit.additive.boost import AdditiveLearner
from tacit.cli.failures import Mistake, with_spending
from tacit.encoding.errors import FrameError
from tacit.errors import STANDS, UNSPENT, TacitError, message_of, was_spent
from tacit.models.base import ModelError
from tacit.privacy.charges import Pure
from tacit.privacy.errors import AccountError
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.neighbouring import Neighbouring
from tacit.privacy.request import RequestError
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
    error = copy.copy(error)
    assert not was_spent(error)
    words = str(error)
    found = within(error)
    assert found is error
    assert was_spent(found)
    if isinstance(error, TacitError):
        assert found.spent is True  # type: ignore[attr-defined]
        assert UNSPENT not in str(found)
        assert "nothing was spent" not in str(found)
        assert (STANDS in str(found)) == bool(error.remark)
    else:
        assert str(found) == words
    assert (STANDS in getattr(found, "__notes__", ())) != (STANDS in str(found))
    assert within(found) is found, "of two reservations the inner one has said it"
    assert str([*getattr(found, "__notes__", ()), str(found)]).count(STANDS) == 1


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: f"{type(error).__name__}: {error}")
def test_the_command_line_says_once_what_was_spent(error: Exception) -> None:
    error = copy.copy(error)
    before = with_spending(error)
    assert not isinstance(error, TacitError) or STANDS not in before
    after = with_spending(within(error))
    assert after.count(STANDS) == 1
    if isinstance(error, TacitError):
        assert "nothing was spent" not in after.lower()


@pytest.mark.parametrize("spent", [False, True])
@pytest.mark.parametrize("error", ERRORS[:8], ids=lambda error: f"{type(error).__name__}: {error}")
def test_the_fact_survives_a_process_boundary(error: Exception, spent: bool) -> None:
    error = copy.copy(error)
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
