"""Forged and damaged certificates and accounts: refused in words, never a raw error, and never said to hold."""

from __future__ import annotations

import json
import math
import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import TacitError
from tacit.learning.checks import check_number
from tacit.privacy import accountants
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.canonical import finite, sha256
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import BoundedRange, Charge, Gaussian, Laplace, Pure, Repeated, charge_from_dict
from tacit.privacy.coverage import Coverage
from tacit.privacy.request import Request, RequestError, two_bounds
from tacit.privacy.verification import CertificateError
from tests.privacy.test_certificate import fitted

BIG = 10**400
SMALL = {
    "gaussian": {"kind": "gaussian", "noise_multiplier": 50.0},
    "pure": {"kind": "pure", "epsilon": 0.01},
    "bounded_range": {"kind": "bounded_range", "range": 0.01},
    "zcdp": {"kind": "zcdp", "rho": 1e-4},
}


def certificate() -> dict[str, Any]:
    return fitted(1).to_dict()


def resealed(data: dict[str, Any]) -> dict[str, Any]:
    """With digests that fit, as anybody computes them from the text."""
    ledger = sha256(finite({"charges": data["charges"], "entries": data["entries"]}))
    sealed = {**data, "ledger_digest": ledger}
    body = {name: value for name, value in sealed.items() if name not in ("digest", "signature", "format")}
    return {**sealed, "digest": sha256(finite(body))}


def problems_of(data: dict[str, Any]) -> list[str]:
    """What is wrong with a forged certificate: what reading it says, or what looking at it says."""
    try:
        return Certificate.from_json(json.dumps(data)).verify()
    except CertificateError as error:
        return [str(error)]


def test_resealing_makes_no_problem_of_its_own() -> None:
    assert problems_of(resealed(certificate())) == []


WRONG_CHARGES = [
    *({**SMALL["gaussian"], "noise_multiplier": wrong} for wrong in (True, "1", None, [1], BIG, -BIG, 1e300, "inf")),
    *({"kind": "laplace", "noise_multiplier": wrong} for wrong in (True, "inf", BIG, 1e-300)),
    *({**SMALL["pure"], "epsilon": wrong} for wrong in (False, True, BIG, 1e20, 1e300, -1.0)),
    *({**SMALL["bounded_range"], "range": wrong} for wrong in (True, BIG, 1e20, 1e300)),
    *({**SMALL["zcdp"], "rho": wrong} for wrong in (False, BIG, 1e20)),
    *({"kind": "approx_dp", "epsilon": 0.1, "delta": wrong} for wrong in (False, "0", BIG, 1.0)),
    *({"kind": "approx_dp", "epsilon": wrong, "delta": 1e-9} for wrong in (True, BIG, 1e300)),
    *(
        {"kind": "repeated", "charge": charge, "times": wrong}
        for charge in SMALL.values()
        for wrong in (1.5, True, "2", 0, -1, 1e20, BIG, 10**18)
    ),
    {"kind": "renyi", "orders": "234", "divergences": [0.1, 0.1, 0.1]},
    {"kind": "renyi", "orders": [2, BIG], "divergences": [0.1, 0.1]},
    {"kind": "renyi", "orders": [2, True], "divergences": [0.1, 0.1]},
    {"kind": "privacy_loss", "losses": [0.1], "probabilities": [True], "infinity_mass": 0.0},
    {"kind": "privacy_loss", "losses": [1e300], "probabilities": [1.0], "infinity_mass": 0.0},
    {"kind": "privacy_loss", "losses": [0.1], "probabilities": [1.0], "infinity_mass": "0"},
    {"kind": ["pure"], "epsilon": 0.1},
    {"kind": "pure", "epsilon": 0.1, "delta": 0.0},
    {"kind": "repeated", "times": 2},
    "pure",
]


@pytest.mark.parametrize("beside", [[], [SMALL["gaussian"], SMALL["pure"]]])
@pytest.mark.parametrize("wrong", WRONG_CHARGES, ids=lambda wrong: str(wrong)[:60])
def test_a_charge_that_is_none_or_costs_without_limit_never_holds(wrong: Any, beside: list[Any]) -> None:
    data = certificate()
    entries = [{**data["entries"][0], "charge": charge} for charge in [wrong, *beside]]
    assert problems_of(resealed({**data, "charges": [wrong, *beside], "entries": entries}))


@pytest.mark.parametrize("times", [1.5, True, 1e20, 2**53, BIG])
@pytest.mark.parametrize("kind", ["pure", "bounded_range"])
def test_an_entry_of_no_number_of_uses_is_not_covered(kind: str, times: Any) -> None:
    data = certificate()
    entry = {**data["entries"][0], "charge": {"kind": "repeated", "charge": {**SMALL[kind]}, "times": times}}
    assert problems_of(resealed({**data, "charges": [SMALL[kind]], "entries": [entry]}))


@pytest.mark.parametrize("simple", SMALL.values(), ids=SMALL)
def test_repetitions_of_repetitions_never_hold(simple: dict[str, Any]) -> None:
    data, many = certificate(), simple
    for _ in range(25):
        many = {"kind": "repeated", "charge": many, "times": 2**53}
    for charges, charge in (([many], simple), ([data["charges"][0]], many), ([many], many)):
        assert problems_of(
            resealed({**data, "charges": charges, "entries": [{**data["entries"][0], "charge": charge}]})
        )


def test_uses_without_end_of_what_is_free_are_not_counted() -> None:
    assert not Coverage([Pure(1.0)]).take(Repeated(Pure(0.0), 1 << 40))
    assert Coverage([Pure(1.0)]).take(Repeated(Pure(0.0), 100))


def test_deep_nesting_is_refused_in_words() -> None:
    charge: Any = SMALL["pure"]
    for _ in range(250):
        charge = {"kind": "repeated", "times": 2, "charge": charge}
    assert problems_of(resealed({**certificate(), "charges": [charge]}))
    with pytest.raises(CertificateError):
        Certificate.from_json("[" * 100_000 + "]" * 100_000)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("noise_source", {"tacit": 1}), ("noise_source", 5), ("algorithm", 5), ("created", None),
        ("outcome", ["completed"]),
        ("columns", True), ("columns", 1.5), ("columns", "x"), ("parameters", []), ("parameters", "x"), ("unit", 5),
        ("schema_fingerprint", 1), ("dataset", True), ("target", []), ("data", 1), ("model_digest", {}),
        ("schema_digest", 0), ("rows_per_unit", 1e400), ("epsilon", BIG), ("versions", [1]),
    ],
)  # fmt: skip
def test_a_field_of_another_kind_is_refused(name: str, wrong: Any) -> None:
    data = {**certificate(), name: wrong}
    assert any(
        "damaged" in problem or "no double" in problem
        for problem in problems_of(data if wrong == 1e400 else resealed(data))
    )


@pytest.mark.parametrize("size", [1e6, 1e11, 1e12, 1e300])
@pytest.mark.parametrize(
    "make", [Pure, BoundedRange, lambda size: Laplace(1 / size), lambda size: Gaussian(size**-0.5)]
)
@pytest.mark.parametrize("beside", [[], [Gaussian(50.0), Pure(0.01)], [BoundedRange(0.1)]])
def test_accountants_have_an_answer_for_every_size(size: float, make: Any, beside: list[Charge]) -> None:
    charges = [make(size), *beside]
    assert accountants.epsilon(charges, 1e-6) > size / 4
    assert accountants.epsilon(charges, 0.0) >= 0.999 * size
    assert accountants.delta(charges, 1.0) > 0.99


DAMAGED = [
    "", "{}", "null", "[null]", "[1]", "NaN", "[" * 100_000, '[{"kind":"gaussian"}]', '{"kind":"pure","epsilon":1}',
    '[{"kind":"gaussian","noise_multiplier":NaN}]', '[{"kind":"gaussian","noise_multiplier":1e300}]',
    '[{"kind":"pure","epsilon":-1}]', '[{"kind":"repeated","times":1.5,"charge":{"kind":"pure","epsilon":0.1}}]',
]  # fmt: skip


def changed(path: Path, statement: str, *values: Any) -> None:
    """A store in which somebody wrote past the triggers."""
    store = sqlite3.connect(path)
    for (name,) in store.execute("select name from sqlite_master where type = 'trigger'").fetchall():
        store.execute(f"drop trigger {name}")
    store.execute(statement, values)
    store.commit()
    store.close()


@pytest.mark.parametrize("charges", DAMAGED, ids=lambda text: text[:40])
def test_damaged_charges_are_refused_where_they_are_read(charges: str, tmp_path: Path) -> None:
    """What is left follows from the running total, whose own damage `test_running_total` tries."""
    account = PrivacyAccount.create(str(tmp_path / "b.db"), "d", 5.0, 1e-6)
    account.reserve([Gaussian(10.0)], "fit").close()
    spent = account.spent
    changed(tmp_path / "b.db", "update tacit_reservations set charges = ?", charges)
    assert account.spent == spent
    with pytest.raises(TacitError, match="damaged"):
        account.reservations()


@pytest.mark.parametrize(
    "statement",
    [
        *(f"update tacit_accounts set epsilon = {wrong}" for wrong in ("'x'", "-1", "'nan'", "x'00'")),
        *(f"update tacit_accounts set delta = {wrong}" for wrong in ("'x'", "-1", "2")),
        "update tacit_accounts set neighbouring = 'x'",
    ],
)
def test_an_account_that_promises_nothing_is_refused(statement: str, tmp_path: Path) -> None:
    PrivacyAccount.create(str(tmp_path / "b.db"), "d", 5.0, 1e-6)
    changed(tmp_path / "b.db", statement)
    with pytest.raises(TacitError, match="damaged"):
        PrivacyAccount(str(tmp_path / "b.db"), "d")


@pytest.mark.parametrize("rows", ["0", "-1", "1.5", "'x'"])
def test_a_unit_of_no_rows_is_refused(rows: str, tmp_path: Path) -> None:
    account = PrivacyAccount.create(str(tmp_path / "b.db"), "d", 5.0, 1e-6, unit="row")
    changed(tmp_path / "b.db", f"update tacit_units set max_rows = {rows}")
    with pytest.raises(TacitError, match="damaged"):
        account.reserve([Gaussian(10.0)], "fit")


def test_a_charge_is_read_as_it_was_written() -> None:
    for charge in (Gaussian(10), Repeated(BoundedRange(0.0), 3), Pure(math.inf)):
        assert charge_from_dict(charge.to_dict()) == charge


@pytest.mark.parametrize("wrong", [BIG, -BIG, Fraction(BIG)], ids=["large", "negative", "fraction"])
def test_a_request_beyond_all_floats_is_refused_in_words(wrong: Any) -> None:
    for asked in ((wrong, 1e-6), (1.0, wrong)):
        with pytest.raises(RequestError, match="must be a"):
            Request.of(*asked, "replace_one", None)
    with pytest.raises(RequestError, match="must be two finite numbers"):
        two_bounds((0, wrong), "target_bounds")
    with pytest.raises(RequestError, match="must be a number in"):
        check_number("quantile", wrong, 0.0, 1.0)
