"""Schemas found in private rows: right where there is enough to see, with nothing of single persons, always valid."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit.discovery.discover_schema import discover_schema
from tacit.discovery.unknowns import NOTHING_FOUND, Unknowns, discover_within, kind_of, unknowns_of
from tacit.encoding.errors import FrameError
from tacit.privacy import accountants
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import ApproxDP, Gaussian, Laplace
from tacit.privacy.ledger import BudgetExceeded
from tacit.queries.keys import KeyCounts
from tacit.schema import BooleanColumn, CategoricalColumn, IdColumn, IgnoredColumn, NumericColumn, Schema, Unit
from tests.chance import at_least_share, at_most_share
from tests.seen import Seen, seen_numbers

OBJECTS = pytest.mark.skipif(
    pd.__version__ < "3", reason="texts are objects in pandas 2, of which any kind may be asked"
)


def people(n: int = 5000, seed: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": generator.integers(18, 91, n),
            "income": generator.lognormal(10, 1, n),
            "gain": np.where(generator.random(n) < 0.9, 0.0, generator.uniform(100, 900, n)),
            "ward": generator.choice(["a", "b", "c "], n),
            "smokes": generator.random(n) < 0.3,
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(generator.integers(0, 999, n), "D"),
            "who": np.arange(n) // 2,
            "sick": generator.choice(["no", "yes"], n, p=[0.8, 0.2]),
        }
    )


def test_finds_what_is_there():
    schema, certificate = discover_schema(people(), "sick", 2.0, 1e-6, dtypes="public")
    assert schema.columns["age"] == NumericColumn(16, 128)
    assert schema.columns["gain"] == NumericColumn(0, 1024)
    income = schema.columns["income"]
    assert isinstance(income, NumericColumn)
    assert 500 < income.lower < 10_000
    assert 50_000 < income.upper < 2e6
    assert schema.columns["ward"] == CategoricalColumn(("a", "b", "c"))
    assert schema.columns["smokes"] == BooleanColumn()
    assert schema.columns["seen"] == IgnoredColumn()
    assert schema.label is not None
    assert schema.label.classes == ("no", "yes")
    assert schema.label.positive_classes == ("yes",)
    assert Schema.from_dict(schema.to_dict()) == schema
    assert certificate.verify() == []
    assert certificate.releasable
    assert (certificate.epsilon, certificate.delta) == (2.0, 1e-6)
    assert certificate.schema_fingerprint == schema.fingerprint()
    assert accountants.epsilon(certificate.charges, 1e-6) == pytest.approx(2.0, rel=1e-6)
    labels = [entry.label for entry in certificate.entries]
    assert "bounds of age" in labels
    assert {"categories of ward: counts", "categories of ward: which are there"} <= set(labels)
    assert sum(isinstance(entry.charge, ApproxDP) for entry in certificate.entries) == 2


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "mapping"])
def test_any_table_has_the_same_kinds(kind):
    frame = people(50).drop(columns="seen")
    tables = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "arrow": pl.from_pandas(frame).to_arrow(),
        "mapping": {name: frame[name].to_numpy() for name in frame},
    }
    schema, _ = discover_schema(tables[kind], "sick", 1.0, random_state=0, kinds={"who": "id"})
    kinds = [column.kind for column in schema.columns.values()]
    assert kinds == ["numeric", "numeric", "numeric", "categorical", "boolean", "id"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.array([1, 2]), "numeric"),
        (np.array([True, False]), "boolean"),
        (np.array(["a", "b"]), "categories"),
        (np.array([1, "b"], object), "ask"),
        (pd.Series([1, None], dtype="Int64"), "numeric"),
        (pd.Series([True, None], dtype="boolean"), "boolean"),
        (pd.Series(["a", "b"], dtype="category"), "categories"),
        (pl.Series([True, None]), "boolean"),
        (pa.array([True, None]), "boolean"),
        (pa.array(["x"]).dictionary_encode(), "categories"),
        (pd.Series(pd.to_datetime(["2020-01-01"])), "ignore"),
        (pl.Series([[1], [2]]), "ignore"),
        ([1, "b"], "ask"),
    ],
)
def test_a_dtype_says_what_a_column_is(values, kind):
    assert kind_of(values) == kind
    if not isinstance(values, list):  # what the rows hold does not matter
        assert kind_of(values[:0]) == kind


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
def test_a_value_that_one_person_has_comes_out_with_probability_at_most_delta(relation, monkeypatch):
    """Everybody has a value of his own in each of four columns, and a class of his own: five keys per person.

    At delta = .1 half of it is for keys: of 20,000 persons at most 1,000 show anything at all.
    """
    n, delta = 20_000, 0.1
    frame = {name: np.array([f"{name}{i}" for i in range(n)]) for name in ("a", "b", "c", "d", "label")}

    def persons_seen(seed):
        schema, _ = discover_schema(frame, "label", 5.0, delta, neighbouring=relation, random_state=seed)
        shown = [value[1:] for column in schema.columns.values() for value in column.categories]
        assert schema.label is None or len(schema.label.classes) <= 254
        return len(set(shown) - {NOTHING_FOUND[1:]})

    expected = n * delta / 2 * 4 / 5  # the fifth release is that of the label
    seen = persons_seen(1)
    assert at_most_share(seen, n, expected / n)
    assert at_least_share(seen, n, 0.75 * expected / n)
    honest = KeyCounts.threshold
    monkeypatch.setattr(KeyCounts, "threshold", staticmethod(lambda *a: round(0.8 * honest(*a))))
    assert not at_most_share(persons_seen(1), n, expected / n)


def test_a_unit_of_several_rows_is_protected_as_a_whole():
    """3,000 persons with three rows under one name of their own each: 5 % of the keys' half may be seen."""
    n, delta = 3000, 0.1
    who = np.repeat(np.arange(n), 3)
    frame = {"name": np.char.add("p", who.astype(str)), "who": who, "y": np.tile([0, 1, 1], n)}
    schema, certificate = discover_schema(frame, "y", 5.0, delta, unit=Unit("who", 3), random_state=2)
    assert certificate.rows_per_unit == 3
    assert schema.unit == Unit("who", 3)
    assert schema.columns["who"] == IdColumn()
    assert at_most_share(len(schema.columns["name"].categories), n, delta / 4)
    assert schema.label is not None
    assert schema.label.classes == (0, 1)


def test_labels_are_numbers_where_their_dtype_says_so():
    frame = people()
    for values, classes in (
        (np.tile([3, 1, 2, 3, 2], 1000), (1, 2, 3)),
        (np.tile([0.5, 1.0], 2500), (0.5, 1)),
        (np.tile([True, False], 2500), (False, True)),
        (np.array([1, "b"] * 2500, object), ("1", "b")),
    ):
        schema, _ = discover_schema(frame[["age"]].assign(y=values), "y", 2.0, random_state=0)
        assert schema.label is not None
        assert schema.label.classes == classes
    schema, certificate = discover_schema(frame[["age", "income"]], "income", 2.0, 0.0, label_kind="numeric")
    assert schema.label is not None
    assert schema.label.kind == "numeric"
    assert schema.label.upper is not None
    assert all(isinstance(entry.charge, Laplace) for entry in certificate.entries)


def test_texts_that_spell_numbers_are_found_out_for_a_price():
    frame = people()
    table = {"age": [str(v) for v in frame["age"]], "ward": list(frame["ward"]), "sick": list(frame["sick"])}
    schema, certificate = discover_schema(table, "sick", 2.0, random_state=0)
    assert schema.columns["age"] == NumericColumn(16, 128)
    assert schema.columns["ward"] == CategoricalColumn(("a", "b", "c"))
    assert "whether age holds numbers" in [entry.label for entry in certificate.entries]
    assert certificate.verify() == []
    texts = pa.table({name: pa.array(values) for name, values in table.items()})
    asked, _ = discover_schema(texts, "sick", 2.0, kinds={"age": "ask"}, random_state=0)
    assert asked.columns["age"] == NumericColumn(16, 128)
    as_it_is, _ = discover_schema(texts, "sick", 2.0, random_state=0)
    assert isinstance(as_it_is.columns["age"], CategoricalColumn)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_table_with_next_to_nothing_in_it_has_a_valid_schema(n):
    schema, certificate = discover_schema(people(n), "sick", 0.1, random_state=1)
    assert schema.columns["ward"] == CategoricalColumn((NOTHING_FOUND,))
    assert schema.label is None
    assert certificate.verify() == []
    assert Schema.from_dict(schema.to_dict()) == schema


@OBJECTS
def test_constant_columns_many_categories_and_missing_values():
    n = 20_000
    frame = pd.DataFrame(
        {
            "one": np.full(n, 7.0),
            "none": np.full(n, np.nan),
            "many": np.arange(n) % 10_000,
            "blank": [""] * n,
            "y": np.arange(n) % 2,
        }
    ).astype({"many": str})
    schema, _ = discover_schema(frame, "y", 8.0, random_state=0)
    assert schema.columns["one"] == NumericColumn(4, 8)
    assert schema.columns["none"] == NumericColumn(-1, 1)
    assert schema.columns["many"] == CategoricalColumn((NOTHING_FOUND,))
    assert schema.columns["blank"] == CategoricalColumn((NOTHING_FOUND,))
    exact, certificate = discover_schema(frame, "y", math.inf, random_state=0, most_categories=100)
    assert len(exact.columns["many"].categories) == 100
    assert not certificate.releasable


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delta": 0.0}, "positive delta"),
        ({"label": "sik"}, "did you mean 'sick'"),
        ({"label_kind": "ordinal"}, "label_kind"),
        pytest.param({"label_kind": "numeric"}, "dtype", marks=OBJECTS),
        ({"kinds": {"age": "integer"}}, "kind of 'age'"),
        ({"kinds": {"nobody": "id"}}, "missing from the data"),
        pytest.param({"kinds": {"ward": "numeric"}}, "dtype", marks=OBJECTS),
        (
            {"kinds": dict.fromkeys(("age", "income", "gain", "ward", "smokes", "seen", "who"), "id")},
            "no column to learn",
        ),
        ({"most_categories": 0}, "most_categories"),
        ({"epsilon": -1}, "epsilon"),
        ({"unit": Unit("person", 2)}, "person"),
    ],
)
def test_public_mistakes_cost_nothing(change, message, tmp_path):
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 10.0, 1e-6)
    arguments = {"label": "sick", "epsilon": 1.0, "account": account} | change
    with pytest.raises((ValueError, FrameError), match=message) as caught:
        discover_schema(people(20), **arguments)
    assert "Nothing was spent" in str(caught.value)
    assert account.spent == 0


def test_an_account_pays_whole_or_not_at_all(tmp_path):
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 1.5, 1e-6)
    discover_schema(people(200), "sick", 1.0, account=account, random_state=0)
    assert 0.9 < account.spent < 1.1
    with pytest.raises(BudgetExceeded):
        discover_schema(people(200), "sick", 1.4, account=account, random_state=0)
    assert len(account.reservations()) == 1


@OBJECTS
def test_inside_a_fit_a_share_is_spent_and_no_more():
    """What a fit without a schema does: what keys leave of the request, a share of it for finding, keys on top."""
    from tacit.curator.rows import PrivateRows
    from tacit.encoding.frames import columns_of
    from tacit.encoding.values import LabelIndex
    from tacit.privacy.promised_budget import EphemeralAccount

    people_ = people()
    frame = columns_of(people_[["age", "ward", "smokes"]])
    unknowns = unknowns_of(frame, classes=True)
    assert unknowns == Unknowns({"age": "numeric", "ward": "categories", "smokes": "boolean"}, True)
    allowance = unknowns.allowance(1.0, 1e-6)
    charges = [allowance.whole, *unknowns.charges(1e-6)]
    assert accountants.epsilon(charges, 1e-6) <= 1.0
    with EphemeralAccount(1.0, 1e-6).reserve(charges, "fit") as reservation:
        private_rows = PrivateRows(frame, people_["sick"], reservation, 0)
        result = discover_within(private_rows, unknowns, LabelIndex(("no", "yes")), allowance, 0.1, 1e-6)
        rest = allowance.part(0.9).whole
        reservation.record(rest, "the fit itself", "")
        with pytest.raises(BudgetExceeded):
            reservation.record(Gaussian(1e3), "one more", "")
    assert result.columns["ward"] == CategoricalColumn(("a", "b", "c"))
    assert result.classes == ("no", "yes")
    index = result.label_index(numeric=False)
    assert index is not None
    assert index.classes == ("no", "yes")
    assert result.label_index(numeric=False, most=1).classes == (NOTHING_FOUND, "no")


def test_no_value_is_read_before_the_charge_is_durable(tmp_path):
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 1.05, 1e-6)
    table = {"a": list(seen_numbers(40)), "y": seen_numbers(40)}
    Seen.looks = 0
    discover_schema(table, "y", kinds={"a": "numeric"}, account=account)
    assert Seen.looks >= 39
    Seen.looks = 0
    with pytest.raises(BudgetExceeded):
        discover_schema(table, "y", kinds={"a": "numeric"}, account=account)
    assert Seen.looks == 0
