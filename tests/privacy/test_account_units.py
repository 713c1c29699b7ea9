"""An account adds up costs of one protected unit: fits that protect another are refused before anything is spent."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit import AdditiveBoostClassifier, PrivacyAccount, PrivateSelection, discover_schema, private_score
from tacit.online.winnow import Winnow
from tacit.privacy.charges import Pure
from tacit.privacy.extract import extract_of
from tacit.privacy.ledger import AccountError, BudgetExceeded
from tacit.privacy.promised_budget import EphemeralAccount
from tacit.schema import Schema, Unit

PERSON = Unit("who", 3)
COLUMNS = {"x": {"kind": "numeric", "lower": 0, "upper": 1}}
BY_ROW = Schema.from_dict({"columns": COLUMNS, "label": {"column": "y", "classes": [0, 1]}})
BY_PERSON = Schema(BY_ROW.columns, BY_ROW.label, PERSON)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "budget.db"


def opened(path: Path, **options: Any) -> PrivacyAccount:
    return PrivacyAccount.create(str(path), "survey", 1.5, 1e-6, **options)


def rows() -> tuple[dict[str, Any], Any]:
    generator = np.random.default_rng(0)
    x = generator.random(300)
    return {"x": x, "who": np.arange(300) // 3}, (x > 0.5).astype(int)


def fit(account: PrivacyAccount, schema: Schema) -> None:
    AdditiveBoostClassifier(epsilon=0.5, schema=schema, account=account).fit(*rows())


def candidates() -> list[AdditiveBoostClassifier]:
    return [AdditiveBoostClassifier(schema=BY_ROW), AdditiveBoostClassifier(schema=BY_ROW, interactions=False)]


def test_the_attack_a_fit_by_person_and_a_fit_by_row(path: Path) -> None:
    """The account said 1.277, and a person with three rows had 3.14."""
    account = opened(path)
    assert account.unit is None
    fit(account, BY_PERSON)
    assert account.unit == PERSON
    spent = account.spent
    with pytest.raises(
        AccountError, match=r"protects single rows, and the account one 'who' with up to 3 rows.*nothing"
    ):
        fit(account, BY_ROW)
    assert account.spent == spent
    assert len(account.reservations()) == 1
    fit(account, BY_PERSON)


@pytest.mark.parametrize("other", [PERSON, Unit("who", 1)])
def test_the_other_way_round(path: Path, other: Unit) -> None:
    account = opened(path)
    fit(account, BY_ROW)
    assert account.unit == "row"
    with pytest.raises(AccountError, match="protects one 'who' with up to"):
        fit(account, Schema(BY_ROW.columns, BY_ROW.label, other))
    assert len(account.reservations()) == 1


@pytest.mark.parametrize("other", [Unit("who", 2), Unit("whose", 3), None])
def test_a_declared_unit_is_the_only_one(path: Path, other: Unit | None) -> None:
    account = opened(path, unit=PERSON)
    assert account.unit == PERSON
    with pytest.raises(AccountError, match="nothing was spent"):
        account.reserve([Pure(0.1)], "a fit", unit=other)
    account.reserve([Pure(0.1)], "a fit", unit=PERSON).close()
    assert PrivacyAccount(str(path), "survey").unit == PERSON
    assert opened(path.with_suffix(".two"), unit="row").unit == "row"
    with pytest.raises(ValueError, match="unit must be a Unit"):
        opened(path.with_suffix(".three"), unit="person")


def test_the_first_schema_that_names_the_unit_names_it(path: Path) -> None:
    account, named = opened(path, unit=PERSON), [Unit("who", 3, name) for name in ("patient", "client")]
    account.reserve([Pure(0.1)], "without a name", unit=PERSON).close()
    assert account.unit == PERSON
    for unit in named:
        account.reserve([Pure(0.1)], f"of a {unit.name}", unit=unit).close()
        assert account.unit == named[0]
        assert extract_of(account)["unit"] == {"column": "who", "max_rows": 3, "name": "patient"}
    assert opened(path.with_suffix(".two"), unit=named[1]).unit == named[1]


def test_whatever_spends_says_whom_it_protects(path: Path) -> None:
    X, y = rows()
    fit(account := opened(path), BY_PERSON)
    model = AdditiveBoostClassifier(epsilon=0.5, schema=BY_ROW).fit(X, y)
    person = AdditiveBoostClassifier(epsilon=0.5, schema=BY_PERSON).fit(X, y)
    refused: list[Any] = [
        lambda: private_score(model, X, y, epsilon=0.1, account=account),
        lambda: discover_schema({**X, "y": y}, "y", 0.1, 0.0, kinds={"y": "boolean"}, account=account),
        lambda: PrivateSelection(candidates(), epsilon=0.1, account=account).fit(X, y),
        lambda: Winnow(epsilon=0.1, columns=("x",), account=account).learn_one({"x": 1}, True),
    ]
    for spends in refused:
        with pytest.raises(AccountError, match="protects single rows"):
            spends()
    assert len(account.reservations()) == 1
    private_score(person, X, y, epsilon=0.1, account=account)
    discover_schema({**X, "y": y}, "y", 0.1, 0.0, kinds={"y": "boolean"}, account=account, unit=PERSON)
    assert len(account.reservations()) == 3


def test_a_budget_in_memory_holds_one_unit_too() -> None:
    account = EphemeralAccount(1.0, 0.0)
    account.reserve([Pure(0.1)], "first", unit=PERSON)
    with pytest.raises(AccountError, match="do not add up"):
        account.reserve([Pure(0.1)], "second")


def test_how_long_a_search_took_is_not_kept(path: Path) -> None:
    account = opened(path)
    X, y = rows()
    PrivateSelection(candidates(), epsilon=0.3, account=account).fit(X, y)
    fit(account, BY_ROW)
    search, other = account.reservations()
    assert (search.status, search.closed) == ("completed", None)
    assert other.closed is not None


def test_a_fork_of_a_reservation_spends_and_closes_nothing(path: Path) -> None:
    account = opened(path)
    reservation = account.reserve([Pure(0.5)], "a fit")
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()

    def child() -> None:
        try:
            reservation.record(Pure(0.5), "again", "none")
            answers.put("spent")
        except BudgetExceeded as error:
            answers.put(str(error))
        reservation.close()

    process = context.Process(target=child)
    process.start()
    process.join(60)
    assert "a fork of the process" in answers.get()
    assert account.reservations()[0].status == "open"
    reservation.record(Pure(0.5), "once", "none")
    reservation.close()
    assert account.reservations()[0].status == "completed"


def test_a_fit_without_a_schema_protects_rows(path: Path) -> None:
    account = opened(path, unit=Unit("who", 3))
    with pytest.raises(AccountError, match="nothing was spent"):
        AdditiveBoostClassifier(epsilon=0.1, account=account).fit({"x": np.zeros(5)}, np.zeros(5, int))
    assert account.reservations() == ()
