"""Certificates: written, read, checked; what was changed is found."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from typing import Any

import pytest

from tacit.privacy.account import PrivacyAccount
from tacit.privacy.calibration import gaussian_noise_multiplier
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import BoundedRange, Charge, Gaussian, Laplace, NonPrivate, Pure, Renyi, Repeated
from tacit.privacy.label import Label
from tacit.privacy.ledger import Entry, Reservation
from tacit.privacy.promised_budget import EphemeralAccount
from tacit.privacy.unit import Neighbouring
from tacit.privacy.verification import CertificateError, summarise
from tacit.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "label": {"column": "y", "kind": "classes", "classes": ["a", "b"], "positive": "b"},
        "unit": {"column": "person", "max_rows": 3},
        "columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100}, "person": {"kind": "id"}},
    }
)
MULTIPLIER = gaussian_noise_multiplier(1.0, 1e-6)


def fitted(releases: int = 5, **more: Any) -> Certificate:
    reservation = Reservation([Gaussian(MULTIPLIER)], Neighbouring.ADD_OR_REMOVE_ONE, "fit")
    with reservation:
        for i in range(releases):
            reservation.record(Gaussian(MULTIPLIER * math.sqrt(releases)), f"sweep {i}: age", "one row, one cell")
    return certified(reservation, **more)


def certified(reservation: Reservation, **more: Any) -> Certificate:
    facts = {
        "epsilon": 1.0, "delta": 1e-6, "noise_source": "opendp", "noise_releasable": True, "algorithm": "Toy", **more,
    }  # fmt: skip
    return Certificate.of(reservation, **facts)


@pytest.mark.parametrize(
    ("source", "known"), [("tacit", True), ("opendp and tacit", True), ("numpy", False), ("opendp and seeded", False)]
)
def test_noise_that_may_be_released_comes_from_known_samplers_alone(source: str, known: bool) -> None:
    problems = fitted(noise_source=source).verify()
    assert problems == ([] if known else [f"it says it is releasable, but noise from {source!r} is not"])


def test_an_honest_certificate_says_what_happened_and_verifies() -> None:
    certificate = fitted(schema=SCHEMA)
    assert certificate.verify() == []
    assert certificate.releasable
    assert certificate.reasons == ()
    assert (certificate.epsilon, certificate.delta, certificate.n_public) == (1.0, 1e-6, False)
    assert certificate.rows_per_unit == 3
    assert certificate.schema_fingerprint == SCHEMA.fingerprint()
    assert certificate.releases == len(certificate.entries) == 5
    assert certificate.entries[2].label == "sweep 2: age"
    assert certificate.versions["numpy"]
    summary = certificate.summary()
    for part in (
        "epsilon 1 at delta 1e-06",
        "one person, at most 3 rows",
        "number of rows is private",
        "May be released: yes",
    ):
        assert part in summary
    assert "releasable=True" in repr(certificate)


def test_the_unit_has_the_name_of_the_schema() -> None:
    for name, protected in (("member", "one member, at most 3 rows"), ("", "one person, at most 3 rows")):
        certificate = fitted(schema=replace(SCHEMA, unit=replace(SCHEMA.unit, name=name)))
        assert (certificate.unit, certificate.protected) == ("person", protected)
        assert Certificate.from_json(certificate.to_json()) == certificate
        assert ("unit_name" in certificate.to_dict()) == bool(name)  # earlier certificates keep their digest


def test_it_survives_json() -> None:
    for certificate in (fitted(schema=SCHEMA), fitted(400)):
        text = certificate.to_json()
        again = Certificate.from_json(text)
        assert again == certificate
        assert again.verify() == []
        assert again.to_json() == text
        assert Certificate.from_dict(json.loads(text)) == certificate


def test_infinities_survive_strict_json() -> None:
    curve = Renyi((2.0, 4.0), (0.1, math.inf))
    reservation = Reservation([NonPrivate(), curve], Neighbouring.REPLACE_ONE, "fit")
    with reservation:
        reservation.record(curve, "a", "b")
    certificate = certified(reservation, epsilon=math.inf)
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert again.charges[1] == curve
    assert "Infinity" not in certificate.to_json()
    assert again.verify() == []
    assert not again.releasable
    assert "without noise" in again.summary()


def test_what_may_not_be_released_says_why() -> None:
    seeded = fitted(noise_source="seeded", noise_releasable=False)
    assert "seed" in seeded.reasons[0]
    foreign = fitted(unverified=True)
    assert "not verified" in foreign.reasons[0]
    bare = Reservation([NonPrivate()], Neighbouring.ADD_OR_REMOVE_ONE)
    bare.close()
    assert "infinite" in certified(bare, epsilon=math.inf).reasons[0]
    failed = Reservation([Gaussian(MULTIPLIER)], Neighbouring.ADD_OR_REMOVE_ONE)
    failed.close("failed")
    assert "did not complete" in certified(failed).reasons[0]
    for certificate in (seeded, foreign, certified(bare, epsilon=math.inf), certified(failed)):
        assert not certificate.releasable
        assert certificate.verify() == []
        assert "May be released: NO" in certificate.summary()


def test_the_promise_is_never_below_the_cost() -> None:
    reservation = Reservation([Pure(2.0)], Neighbouring.ADD_OR_REMOVE_ONE)
    reservation.close()
    certificate = certified(reservation, epsilon=1.0, delta=0.0)
    assert certificate.epsilon == 2.0
    assert certificate.verify() == []


def test_it_names_the_account(tmp_path: Any) -> None:
    account = PrivacyAccount.create(str(tmp_path / "b.db"), "adult", 1.0, 1e-6)
    with account.reserve([Gaussian(MULTIPLIER)], "fit") as reservation:
        pass
    certificate = certified(reservation, account=account)
    assert certificate.dataset == "adult"
    assert "account of adult" in certificate.summary()
    assert str(tmp_path) not in certificate.to_json()
    with EphemeralAccount(1.0, 1e-6).reserve([Gaussian(MULTIPLIER)], "fit") as reservation:
        pass
    assert certified(reservation).dataset is None


CHANGES: dict[str, Any] = {
    "epsilon": 0.5,
    "delta": 1e-9,
    "neighbouring": "replace_one",
    "n_public": True,
    "rows_per_unit": 7,
    "charges": [Gaussian(10.0).to_dict()],
    "entries": [],
    "noise_source": "dice",
    "releasable": False,
    "reasons": ["because"],
    "algorithm": "Other",
    "outcome": "failed",
    "schema_fingerprint": "0" * 64,
    "dataset": "other",
    "versions": {},
    "created": "2000-01-01T00:00:00+00:00",
    "digest": "0" * 64,
    "unit": "person",
    "unit_name": "member",
    "target": "y",
    "data": "a survey",
    "columns": ["age"],
    "parameters": {"epsilon": 1.0},
    "model_digest": "0" * 64,
    "schema_digest": "0" * 64,
    "ledger_digest": "0" * 64,
    "assumptions": [{"subject": "dtypes", "text": "as they are", "accepted": True}],
    "tape": "0" * 64,
    "version": 2,
}


def test_every_field_is_tried() -> None:
    names = {field.name for field in fields(Certificate)} - {"signature"}
    assert names | {"version"} == set(CHANGES)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_in_any_field_is_found(name: str) -> None:
    data = fitted().to_dict()
    assert data.get(name) != CHANGES[name]
    data[name] = CHANGES[name]
    try:
        assert Certificate.from_dict(data).verify() != []
    except CertificateError:
        assert name == "version"  # of a newer format


def resealed(certificate: Certificate, **changes: Any) -> list[str]:
    """The problems of a changed certificate whose digest was made to fit, as somebody who knows the code could."""
    changed = replace(certificate, **changes)
    for problem in changed.verify():
        if "digest" in problem:
            changed = replace(changed, ledger_digest=changed._computed_ledger_digest())
            changed = replace(changed, digest=changed._computed_digest())
    return changed.verify()


def test_false_claims_are_found_even_with_a_fitting_digest() -> None:
    certificate = fitted()
    assert resealed(certificate) == []
    assert "more than" in resealed(certificate, epsilon=0.99)[0]
    assert "more than" in resealed(certificate, delta=1e-7)[0]
    assert "more than" in resealed(certificate, charges=(*certificate.charges, Pure(0.1)))[0]
    for change in ({"epsilon": math.nan}, {"epsilon": -1.0}, {"delta": 1.0}, {"delta": 1.5}, {"delta": -1e-9}):
        assert "no promise" in resealed(certificate, **change)[0]
    extra = Entry(5, Label.of("one more"), Gaussian(100.0), "x")
    assert "not covered" in resealed(certificate, entries=(*certificate.entries, extra))[0]
    assert "not so under" in resealed(certificate, n_public=True)[0]
    assert "not so under" in resealed(certificate, neighbouring=Neighbouring.REPLACE_ONE)[0]
    assert "gives no reason" in resealed(certificate, releasable=False)[0]
    assert "at least one row" in resealed(certificate, rows_per_unit=0)[0]
    seeded = fitted(noise_source="seeded", noise_releasable=False)
    assert "gives reasons" in resealed(seeded, releasable=True)[0]
    assert "'seeded'" in resealed(seeded, releasable=True, reasons=())[0]
    assert "infinite" in resealed(certificate, charges=(NonPrivate(),), epsilon=math.inf)[0]
    assert "did not complete" in resealed(certificate, outcome="failed")[0]


def test_what_is_no_certificate_is_refused() -> None:
    good = fitted().to_dict()
    for bad in ({}, [], {**good, "format": "tacit model"}):
        with pytest.raises(CertificateError, match="not a certificate"):
            Certificate.from_dict(bad)  # type: ignore[arg-type]
    with pytest.raises(CertificateError, match="not a certificate"):
        Certificate.from_json("{")
    with pytest.raises(CertificateError, match=r"format 2.*up to 1.*newer version"):
        Certificate.from_dict({**good, "version": 2})
    for name in set(CHANGES) - {"version", "tape", "unit_name"}:  # most fits have none
        missing = {key: value for key, value in good.items() if key != name}
        with pytest.raises(CertificateError, match="damaged"):
            Certificate.from_dict(missing)
    for broken in (
        {"charges": [{"kind": "free"}]},
        {"charges": [{"kind": "gaussian", "noise_multiplier": -1.0}]},
        {"entries": [{"label": "x"}]},
        {"neighbouring": "none"},
        {"releasable": "yes"},
        {"epsilon": "small"},
    ):
        with pytest.raises(CertificateError, match="damaged"):
            Certificate.from_dict({**good, **broken})


def test_large_families_are_gathered_and_small_ones_kept() -> None:
    entries = [Entry(0, Label.of("counts"), Gaussian(9.0), "a")]
    entries += [Entry(i, Label.of(f"round {i}: age"), Gaussian(50.0), "b") for i in range(1, 251)]
    entries += [Entry(251 + i, Label.of(f"node {i}"), BoundedRange(0.1), "c") for i in range(20)]
    result = summarise(entries)
    assert len(result) == 22
    assert result[1] == Entry(1, Label.of("round #: age"), Repeated(Gaussian(50.0), 250), "b")
    assert [entry.sequence for entry in result] == list(range(22))
    assert fitted(400).releases == 400
    assert len(fitted(400).entries) == 1


def test_gathered_entries_are_still_covered() -> None:
    """Splitting pure charges depends on the order; the certificate must not mistake that for an overdraft."""
    planned: list[Charge] = [Pure(1.0), Pure(0.55)]
    reservation = Reservation(planned, Neighbouring.ADD_OR_REMOVE_ONE)
    with reservation:
        reservation.record(Laplace(1 / 0.5), "big", "t")
        for i in range(100):
            reservation.record(Laplace(1 / 0.005), f"small {i}", "t")
        reservation.record(Laplace(1 / 0.5), "big again", "t")
    certificate = certified(reservation, epsilon=2.0)
    assert len(certificate.entries) == 3
    assert certificate.verify() == []


def test_what_a_certificate_writes_down_is_not_shared_with_it() -> None:
    """Its releases are written down once; who changes a copy of that changes no certificate."""
    certificate = fitted()
    before, written = certificate.to_json(), certificate.to_dict()
    written["entries"][0]["charge"]["noise_multiplier"] = 0.5
    written["entries"][0]["theorem"] = "none"
    written["charges"].clear()
    assert certificate.to_json() == before
    assert not certificate.verify()
    assert replace(certificate, entries=certificate.entries[1:]).integrity()
    assert replace(certificate, charges=(Gaussian(9.0),)).integrity()
