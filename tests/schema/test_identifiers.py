"""What looks like an identifier, and what only seems to; a schema that would publish one is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.online import Winnow
from tacit.schema import CategoricalColumn, Column, IdColumn, Label, NumericColumn, OrdinalColumn, Schema, SchemaError
from tacit.schema.draft import draft_schema
from tacit.schema.identifier_names import names_identifier, tells_apart
from tacit.schema.identifiers import judge, refuse_identifiers

_NAMES = """
id ID Id ids PassengerId CustomerID RespondentID patient_no patient-nr MRN ssn household_nr uuid e-mail email E_Mail
userid patientid memberNo person.id id_patient RowID case_number PolicyNumber phone Kundennummer Patienten-Nr
account_key customer_name Surname IBAN patient_id_2 IDs FirstName full_name ip_address PatNr NHS_number empno pid
hosp_no Matrikelnummer acct_no Steuernummer USUBJID SUBJID ptid SEQN hhid given_name Fallnr KdNr
numero_paciente nro_cliente id_persona cpr BSN CPF curp aadhaar tfn matrikel cust_num lfd_nr patient_number_hashed
ID_masked 患者ID staff_number badge_no dni NIR count_id Prénom apellidos bank_account email_address Telefon
Versicherungsnummer subj_no dossier_no Teilnehmernummer MitarbeiterNr cedula
numero_securite_sociale telefono Apellido card_number license_plate device_id ФИО 患者番号 身份证号 mobile_no idpaciente
fødselsnummer email_work home_address codice_fiscale Krankenkassennummer initials nombre_completo 주민등록번호
"""
_OTHER_NAMES = """
age income humid humidity paid valid void acid idle grid rapid said no number no_children number_of_rooms num_visits
zip_code country_code sex_code product_name visit_number ClaimNb year price weight_g kidney diagnosis_code month x0 0
order_total customer_age patients household_size id_type 1.5 emp_length pid_count address floor_no house_number
fall_number subject patient seqno vin name nombre mobile credit_card patientname
birth_weight latency translation zipped n_email word_freq_email Psi_i_1d mean_phone pct_email
"""


@pytest.mark.parametrize("name", _NAMES.split())
def test_names_of_identifiers(name: str) -> None:
    assert names_identifier(name)


@pytest.mark.parametrize("name", [*_OTHER_NAMES.split(), "", "__"])
def test_names_of_other_columns(name: str) -> None:
    assert not names_identifier(name)


@pytest.mark.parametrize(
    "name",
    ["dob", "date_of_birth", "Geburtsdatum", "fecha_nacimiento", "lat", "home_longitude", "postal-code", "郵便番号"],
)
def test_names_of_what_tells_persons_apart(name: str) -> None:
    assert tells_apart(name)
    assert not names_identifier(name)


@pytest.mark.parametrize(
    "name", ["latency", "flat", "birth_weight", "weeks_at_birth", "year_of_birth", "country_of_birth", "zipped", "x"]
)
def test_names_of_what_does_not(name: str) -> None:
    assert not tells_apart(name)


N = 300
UUIDS = [str(UUID(int=2**127 + i)) for i in range(N)]
IDENTIFIERS: dict[str, tuple[str, list[Any], int]] = {
    "a name and whole numbers": ("CustomerID", [70001 + 3 * i for i in range(N)], N),
    "a name and repeated numbers": ("patient_id", list(range(25)), N),
    "a name and few persons": ("patient_id", [5, 9, 2], N),
    "a name and texts": ("patient_id", [f"P{i:04d}" for i in range(200)], N),
    "a name and texts of digits": ("MRN", [f"{i:08d}" for i in range(0, 7 * N, 7)], N),
    "a name and nearly all differ": ("id", [2 * i for i in range(30)], 32),
    "a running number": ("z", list(range(1, N + 1)), N),
    "a running number as floats": ("z", [float(i) for i in range(N)], N),
    "texts that differ": ("who", [f"name {i}" for i in range(N)], N),
    "most texts differ": ("who", [f"name {i}" for i in range(200)], N),
    "e-mail addresses": ("contact", [f"a{i}@b.org" for i in range(5)], N),
    "UUIDs": ("key", UUIDS[:9], N),
    "social security numbers": ("number", [f"123-45-{i:04d}" for i in range(9)], N),
    "telephone numbers": ("reach", [f"+49 89 123{i:04d}" for i in range(9)], N),
    **{
        shape: ("x", values, N)
        for shape, values in {
            "local telephones": [f"0171 {1000000 + i}" for i in range(5)],
            "American telephones": [f"555-123-{i:04d}" for i in range(5)],
            "IP addresses": [f"10.0.{i}.255" for i in range(5)],
            "IP addresses with ports": [f"192.168.1.{i}:8080" for i in range(5)],
            "long IP addresses": ["2001:db8::1", "fe80::1:2", "::1f", ":".join(["1"] * 8)],
            "MAC addresses": [f"00:1B:44:11:3A:{i:02X}" for i in range(5)],
            "MAC addresses of Windows": [f"00-1b-44-11-3a-{i:02x}" for i in range(5)],
            "card numbers": [f"4111 1111 1111 {i:04d}" for i in range(5)],
            "Spanish identities": [f"{10000000 + i}Z" for i in range(5)],
            "Brazilian identities": [f"123.456.{i:03d}-09" for i in range(5)],
            "Danish identities": [f"010170-{i:04d}" for i in range(5)],
            "British identities": [f"QQ 12 34 {10 + i} C" for i in range(5)],
        }.items()
    },
    "badges of three rows": ("badge", [f"B{i:05d}" for i in range(100) if i % 9], N),
    "numbered persons": ("patient", [3 * i * i for i in range(1, 41)], N),
    "named persons": ("Participant", [f"{chr(65 + i)}{i * i}" for i in range(24)], N),
    "a mobile number": ("Mobile", [491701000000 + 7919 * i for i in range(40)], N),
    "a card": ("credit_card", [f"{i * i:016d}" for i in range(40)], N),
    "a name in Spanish": ("nombre", [f"{chr(65 + i)}na" for i in range(24)], N),
    "an address": ("Adresse", [f"Weg {i * i}" for i in range(24)], N),
    "a stray among a shape": ("contact", ["unknown", *(f"a{i}@b.org" for i in range(5))], N),
}
OTHERS: dict[str, tuple[str, list[Any], int]] = {
    "incomes": ("income", [18000 + 91 * i + i * i for i in range(N)], N),
    "prices": ("price", [i + 0.99 for i in range(N)], N),
    "years": ("year", list(range(1900, 2001)), 101),
    "weights in grams": ("weight_g", [3000 + (i * 7919) % 2003 for i in range(N)], N),
    "ages": ("age", list(range(18, 90)), N),
    "a fraction called id": ("id", [i / 7 for i in range(N)], N),
    "countries": ("country", [f"country {i * i}" for i in range(90)], N),
    "wards": ("ward", [f"W{i:02d}" for i in range(1, 13)], N),
    "a few subjects": ("subject", ["maths", "physics", "art"], N),
    "persons of three kinds": ("patient", [1, 2, 3], N),
    "a small sample": ("town", [f"town {i}" for i in range(12)], 12),
    "two values": ("phone", ["none", "yes"], N),
    "hex words": ("word", ["deadbeefdeadbeef"], N),
    "versions": ("version", [f"1.2.{i}" for i in range(9)], N),
    "other versions": ("version", [f"10.0.{19041 + i}.1" for i in range(9)], N),
    "times": ("time", [f"08:{i:02d}:00" for i in range(9)], N),
}
OTHERS |= {
    "a number in French": ("nombre", list(range(0, 90, 3)), N),
    "a card or none": ("credit_card", ["visa", "amex", "none"], N),
    "minutes": ("mobile", list(range(18)), N),
    "states with points": ("state", ["N.Y.", "N.J.", *(f"state {chr(i)}" for i in range(65, 75))], N),
    "degrees": ("degree", ["B.A.", "M.A.", "B.S.", "none"], N),
}
DRAW = np.random.default_rng(0)


def _whole(numbers: Any) -> list[int]:
    return list(dict.fromkeys(np.asarray(numbers).astype(np.int64).tolist()))


OTHERS |= {
    "incomes of a name": ("income", _whole(DRAW.integers(15_000, 180_000, N)), N),
    "incomes without one": ("comp", _whole(DRAW.lognormal(10.5, 0.6, N)), N),
    "salaries": ("comp", _whole(DRAW.normal(70_000, 15_000, N)), N),
    "populations of a name": ("population", _whole(DRAW.integers(1000, 10**6, N)), N),
    "populations without one": ("people", _whole(DRAW.lognormal(9, 1.6, N)), N),
    "square feet": ("sqft_living", _whole(DRAW.integers(400, 60_000, N)), N),
    "sizes of homes": ("x", _whole(DRAW.normal(1800, 500, N)), N),
    "sizes of lots": ("LotArea", _whole(DRAW.lognormal(9, 0.8, N)), N),
    "prices in hundreds": ("x", _whole(DRAW.lognormal(12.5, 0.4, N) // 100 * 100), N),
    "revenues": ("revenue", _whole(DRAW.integers(10**7, 10**8, N)), N),
    "platelets": ("platelets", _whole(DRAW.normal(250_000, 60_000, N)), N),
    "steps a day": ("x", _whole(DRAW.gamma(4, 2000, N)), N),
}
DOUBTS: dict[str, tuple[str, list[Any], int]] = {
    "initials": ("rater", [f"{a}.{b}." for a in "ABC" for b in "DE"], N),
    "initials with blanks": ("who_drew", [f"{a}. {b}." for a in "ABC" for b in "DE"], N),
    "double initials": ("signed", [f"{a}.-{b}. {a}." for a in "ABC" for b in "DE"], N),
    "many initials": ("z", [f"{a.lower()}.{b.lower()}." for a in "ABCDEFG" for b in "DEFHI"], N),
    "doctors": ("surgeon", ["Dr. Becker", "Dr. Fox", "none"], N),
    "doctors in small letters": ("surgeon", ["dr. becker", "prof. dr. wolf", "frau koch"], N),
    "few shops": ("store_id", list(range(5)), N),
    "equal steps": ("income", [18000 + 91 * i for i in range(N)], N),
    "every number once": ("rank", [(i * 7) % N for i in range(N)], N),
    "long numbers": ("z", [3308895255 + i * i for i in range(N)], N),
    "eight digits": ("ref", _whole(DRAW.integers(10**7, 10**8, N)), N),
    "up to eight digits": ("ref", _whole(DRAW.integers(0, 10**8, N)), N),
    "five digits": ("ref", _whole(DRAW.integers(10**4, 10**5, 100)), 100),
    "six digits": ("code", _whole(DRAW.integers(10**5, 10**6, 200)), 200),
    "twelve digits": ("acct", _whole(DRAW.integers(10**11, 10**12, N)), N),
    "31 bits": ("h", _whole(DRAW.integers(0, 2**31, N)), N),
    "64 bits": ("h", _whole(DRAW.integers(-(2**63), 2**63 - 1, N)), N),
    "a part of seven digits": ("ref", _whole(DRAW.integers(3 * 10**6, 9 * 10**6, N)), N),
    "rising numbers": ("order", _whole(1000234 + np.cumsum(DRAW.integers(1, 9, N))), N),
    "subjects of a trial": ("trial", [f"S-{i}" for i in range(1, 41)], N),
    "persons of three rows": ("ref", _whole(DRAW.integers(10**7, 10**8, 100)), N),
    "six digits of three rows": ("ref", _whole(DRAW.integers(10**5, 10**6, 100)), N),
}


@pytest.mark.parametrize("case", IDENTIFIERS.values(), ids=IDENTIFIERS)
def test_identifiers(case: tuple[str, list[Any], int]) -> None:
    verdict = judge(*case)
    assert verdict.is_identifier
    assert verdict.reason
    name, values, count = case
    assert judge(name, list(map(str, values)), count) == verdict


@pytest.mark.parametrize("case", OTHERS.values(), ids=OTHERS)
def test_other_columns(case: tuple[str, list[Any], int]) -> None:
    assert judge(*case) == judge("x", [], 0)


@pytest.mark.parametrize("case", DOUBTS.values(), ids=DOUBTS)
def test_doubts_are_questions(case: tuple[str, list[Any], int]) -> None:
    verdict = judge(*case)
    assert not verdict.is_identifier
    assert verdict.reason.endswith("?")


REPEATED: dict[str, tuple[str, list[int], list[int], bool]] = {
    "two rows each": ("x", list(range(150)), [2] * 149 + [1], True),
    "twenty rows each": ("x", [i * 37 % 5003 for i in range(80)], [20] * 80, True),
    "some are missing": ("x", list(range(80)), [20 - i % 4 for i in range(80)], True),
    "as many as chance has it": ("x", list(range(80)), list(DRAW.poisson(20, 80)), False),
    "few": ("x", list(range(20)), [20] * 20, False),
    "hours": ("minute", list(range(60)), [5] * 60, False),
    "years": ("x", list(range(1950, 2000)), [12] * 50, False),
}


@pytest.mark.parametrize("case", REPEATED.values(), ids=REPEATED)
def test_numbers_that_all_stand_in_as_many_rows_may_be_persons(case: tuple[str, list[int], list[int], bool]) -> None:
    name, values, cells, asks = case
    verdict = judge(name, values, sum(cells), cells)
    assert verdict.asks_identifier is asks, verdict
    assert not verdict.is_identifier


def _schema(name: str, column: Column) -> Schema:
    return Schema({name: column, "x": NumericColumn(0, 1)}, Label("y", "classes", ("a", "b")))


_NUMBERED = [
    "mobile",
    "creditCard",
    "participant",
    "respondent",
    "subject",
    "badge",
    "ticket",
    "handle",
    "staff_number",
    "nir",
    "dni",
]
FIRST, LAST = ("Anna", "Bert", "Eva", "Hans", "Karl"), ("Meier", "Schulz", "Klein", "O'Neil", "Huber")
ADJECTIVES, JOBS = ("sales", "farm", "office", "senior", "public"), ("manager", "worker", "clerk", "nurse", "robin")
REFUSED: dict[str, tuple[str, Column]] = {
    "a number with a name": ("PassengerId", NumericColumn(0, 900)),
    "categories with a name": ("patient_id", CategoricalColumn(("P1", "P2", "P3"))),
    "levels with a name": ("id", OrdinalColumn(tuple(range(30)))),
    "addresses": ("contact", CategoricalColumn(("a@b.org", "c@d.org"))),
    "UUIDs": ("key", CategoricalColumn(tuple(UUIDS))),
    "long numbers": ("ref", CategoricalColumn(tuple(_whole(DRAW.integers(10**7, 10**8, 30))))),
    "long texts of digits": ("ref", CategoricalColumn(tuple(f"{7**i:012d}" for i in range(24)), exact=True)),
    "a running number": ("who", CategoricalColumn(tuple(f"P{i:04d}" for i in range(101)))),
    "six digits": ("ref", CategoricalColumn(tuple(_whole(DRAW.integers(10**5, 10**6, 200))))),
    "full names": ("agent", CategoricalColumn(tuple(f"{a} {b}" for a in FIRST for b in LAST))),
    "full names in small letters": ("agent", CategoricalColumn(tuple(f"{a} {b}".lower() for a in FIRST for b in LAST))),
    "family names first": ("agent", CategoricalColumn(tuple(f"{b}, {a}" for a in FIRST for b in LAST))),
    "IP addresses": ("host", CategoricalColumn(tuple(IDENTIFIERS["IP addresses"][1]))),
    "MAC addresses": ("host", CategoricalColumn(tuple(IDENTIFIERS["MAC addresses"][1]))),
    "telephones": ("reach", CategoricalColumn(tuple(IDENTIFIERS["local telephones"][1]))),
    **{name: (name, NumericColumn(0, 900)) for name in _NUMBERED},
    "initials": ("rater", CategoricalColumn(tuple(f"{a}.{b}." for a in "ABCDE" for b in "FGHIJ"))),
    "doctors": ("surgeon", CategoricalColumn(tuple(f"Dr. {chr(i)}ox" for i in range(65, 87)))),
    "addresses by name": ("address", CategoricalColumn(tuple(f"Weg {i * i}" for i in range(24)))),
    "persons by a name": ("Participant", CategoricalColumn(tuple(f"{chr(65 + i)}{i * i}" for i in range(24)))),
}
ACCEPTED: dict[str, tuple[str, Column]] = {
    "few shops": ("store_id", CategoricalColumn(("n", "s", "w"))),
    "an id column": ("patient_id", IdColumn()),
    "districts": ("district", CategoricalColumn(tuple(f"District {i}" for i in range(40)))),
    "diagnoses": ("diagnosis", CategoricalColumn(tuple(f"E{i}" for i in range(100, 900, 3)))),
    "codes of nine digits": ("code", CategoricalColumn(tuple(f"{7**i:09d}" for i in range(9)), exact=True)),
    "postcodes": ("postcode", CategoricalColumn(tuple(f"{i:05d}" for i in range(900, 90000, 311)), exact=True)),
    "occupations": ("job", CategoricalColumn(tuple(f"{a} {b}" for a in ADJECTIVES for b in JOBS))),
    "species": ("species", CategoricalColumn(tuple(f"{a.title()} {b.title()}" for a in ADJECTIVES for b in JOBS))),
    "places": ("state", CategoricalColumn(tuple(f"New {b.title()}" for b in [*JOBS, *"abcdefghijklmnopqrst"]))),
    "raters": ("rater", CategoricalColumn(("A.B.", "C.D.", "E.F."))),
    "a number in French": ("nombre", NumericColumn(0, 90)),
    "a card or none": ("credit_card", NumericColumn(0, 1)),
    "an e-mail or none": ("sent_email", NumericColumn(0, 1)),
    "a customer or none": ("customer", NumericColumn(0, 1)),
    "shares of words": ("word_freq_email", NumericColumn(0, 10)),
    "six digits of occupations": (
        "soc",
        CategoricalColumn(tuple(i * 10000 + j for i in (11, 13, 15, 17) for j in range(1011, 1091, 10))),
    ),
    "an allowed one": ("PassengerId", NumericColumn(0, 900, allow="identifier")),
    "allowed categories": ("patient_id", CategoricalColumn(("P1", "P2", "P3"), allow="identifier")),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_a_schema_that_would_publish_identifiers_is_refused(case: tuple[str, Column]) -> None:
    with pytest.raises(SchemaError, match=rf"'{case[0]}'.*looks like an identifier.*allow.*Nothing was spent"):
        refuse_identifiers(_schema(*case))


def test_identifiers_are_refused_before_a_charge(tmp_path: Path) -> None:
    account = tacit.PrivacyAccount.create(f"sqlite:///{tmp_path}/account.db", "d", epsilon=1.0, delta=1e-6)
    for name, column in (REFUSED["a number with a name"], REFUSED["full names"]):
        schema = _schema(name, column)
        model = tacit.AdditiveBoostClassifier(epsilon=1, schema=schema, account=account)
        rows = pd.DataFrame({name: [1, 2], "x": [0.1, 0.2]})
        for spends in (
            lambda model=model, rows=rows: model.fit(rows, ["a", "b"]),
            model.dry_run,
            lambda schema=schema, name=name: Winnow(epsilon=1, schema=schema).learn_one({name: 1, "x": 0.1}, "a"),
        ):
            with pytest.raises(SchemaError, match="looks like an identifier"):
                spends()
    assert account.remaining == 1


@pytest.mark.parametrize("case", ACCEPTED.values(), ids=ACCEPTED)
def test_other_schemas_are_not(case: tuple[str, Column]) -> None:
    refuse_identifiers(_schema(*case))


LABELS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "e-mail addresses": ("y", ("ann@x.org", "bob@x.org", "cy@y.com")),
    "a name": ("patient_no", ("P1", "P2", "P3")),
    "persons": ("y", tuple(f"Anna {a}{b}" for a in "BCDFG" for b in ("ecker", "ock", "auer", "ein", "olf"))),
}


@pytest.mark.parametrize("case", LABELS.values(), ids=LABELS)
def test_classes_are_published_as_categories_are(case: tuple[str, tuple[Any, ...]], tmp_path: Path) -> None:
    """Refused before a charge, unless they are allowed; the rule drafts none of them."""
    name, classes = case
    columns = {"x": NumericColumn(0, 1)}
    schema = Schema(columns, Label(name, classes=classes))
    with pytest.raises(SchemaError, match=rf"label '{name}'.*looks like an identifier.*allow.*Nothing was spent"):
        refuse_identifiers(schema)
    with pytest.raises(SchemaError, match="looks like an identifier"):
        tacit.AdditiveBoostClassifier(epsilon=1, schema=schema).dry_run()
    allowed = Schema(columns, Label(name, classes=classes, allow="identifier"))
    allowed.to_toml(tmp_path / "s.toml")
    assert Schema.from_toml(tmp_path / "s.toml") == allowed
    refuse_identifiers(allowed)
    rows = pd.DataFrame({"x": [i / 30 for i in range(30)], name: [classes[i % len(classes)] for i in range(30)]})
    with pytest.raises(SchemaError, match="looks like an identifier") as refused:
        draft_schema(rows, name, public=True)
    assert not any(str(value) in str(refused.value) for value in classes)


@pytest.mark.parametrize("name", ["patient_no", "y"])
def test_other_classes_are_not_identifiers(name: str) -> None:
    refuse_identifiers(Schema({"x": NumericColumn(0, 1)}, Label(name, classes=("no", "yes"))))
    refuse_identifiers(Schema({"x": NumericColumn(0, 1)}, Label("species", classes=("setosa", "virginica", "other"))))
    with pytest.raises(SchemaError, match="belongs to a label of kind 'classes'"):
        Label("y", "numeric", lower=0, upper=1, allow="identifier")


def test_what_is_allowed_is_written_to_the_file(tmp_path: Any) -> None:
    schema = _schema("id", NumericColumn(0, 900, allow="identifier"))
    schema.to_toml(tmp_path / "s.toml")
    assert 'allow = "identifier"' in (tmp_path / "s.toml").read_text()
    assert Schema.from_toml(tmp_path / "s.toml") == schema
