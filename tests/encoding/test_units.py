"""Which rows are one person's: by the identifier alone, however it was written, and never by what others hold."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import uuid
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.curator.rows import PrivateRows
from tacit.encoding.errors import FrameError
from tacit.encoding.frames import Frame
from tacit.encoding.table import TableEncoding
from tacit.encoding.units import NO_UNIT, first_rows, identifiers_of, secret_units, unit_codes
from tacit.encoding.values import LabelIndex
from tacit.privacy.charges import NonPrivate
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.rules import class_count_rule
from tacit.schema.label import Unit

ONE_PERSON = [1, 1.0, True, "1", " 1.0 ", b"1", decimal.Decimal(1), np.int8(1), np.float32(1)]
NOBODY = [None, float("nan"), pd.NA, pd.NaT, "", "  ", float("inf"), decimal.Decimal("sNaN"), np.datetime64("NaT")]


def test_one_identifier_is_one_unit_however_it_is_written() -> None:
    codes = unit_codes(ONE_PERSON)
    assert len(set(codes.tolist())) == 1
    assert codes[0] != NO_UNIT


SEVERAL_PERSONS = [
    "7",
    "007",
    "07",
    "0e462097",
    "0e830400",
    "00e12345",
    "12000",
    "12e3",
    "1.2e4",
    "1.10",
    "1.1",
    "+7",
    "-7",
]


def test_identifiers_that_only_read_alike_as_numbers_are_several_units() -> None:
    """One person's rows would make room for another's, and removing a row would move more than is charged."""
    assert len(set(unit_codes(SEVERAL_PERSONS).tolist())) == len(SEVERAL_PERSONS)
    assert len(set(unit_codes([7, "7", "7.0", "007"]).tolist())) == 2


def test_rows_without_an_identifier_have_no_unit() -> None:
    assert (unit_codes(NOBODY) == NO_UNIT).all()


@pytest.mark.parametrize(
    "column",
    [
        ["a", "b", None, "a"],
        np.array([7, 8, -1, 7]),
        pd.Series([7, 8, None, 7], dtype="Int64"),
        pd.Series(["a", "b", None, "a"], dtype="category"),
        pl.Series([1.0, 2.0, None, 1.0]),
        pa.chunked_array([["a", "b"], [None, "a"]]),
        [uuid.UUID(int=1), uuid.UUID(int=2), None, uuid.UUID(int=1)],
        pd.Series(pd.to_datetime(["2026-01-01", "2026-01-02", None, "2026-01-01"])),
        [dt.date(2026, 1, 1), dt.date(2026, 1, 2), None, dt.date(2026, 1, 1)],
        [("a", 1), ("b", 1), None, ("a", 1)],
        pa.array([1, 2, None, 1], pa.timestamp("s", "America/New_York")),
        pa.array([1, 2, None, 1], pa.date32()),
        pa.array([1, 2, None, 1], pa.duration("ns")),
        pa.array([[1], [2], None, [1]]),
        pl.Series([1, 2, None, 1]).cast(pl.Datetime("ns")),  # Python's times would be the same
        np.array([1, 2, "NaT", 1], "datetime64[M]"),
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]} {getattr(column, 'dtype', type(column[0]).__name__)}",
)
def test_columns_of_any_kind_identify(column: Any) -> None:
    codes = unit_codes(column)
    assert codes[0] == codes[3] != codes[1]
    assert NO_UNIT not in codes[:2]


@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.date32(), pa.time64("us")], ids=str)
def test_moments_that_are_missing_are_nobodys(kind: Any) -> None:
    """Of Arrow's arrays, too: as one unit, persons without an identifier would push each other out."""
    assert unit_codes(pa.array([5, None, None, 7], kind)).tolist() == [0, NO_UNIT, NO_UNIT, 1]


FAR = np.iinfo(np.int64).max


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([0, 1, FAR], dtype=pl.Int64).cast(pl.Datetime("us")),
        pl.Series([0, 1, -FAR], dtype=pl.Int64).cast(pl.Datetime("ms", "UTC")),
        pd.Series([0, 1, FAR]).astype("datetime64[s]").dt.tz_localize("UTC").dt.tz_convert("America/New_York"),
        pd.Series([0, 1, -FAR]).astype("datetime64[ns]").dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        np.array([0, 1, FAR], "datetime64[s]"),
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]} {column.dtype}",
)
def test_moments_beyond_all_calendars_identify(column: Any) -> None:
    """Libraries of tables raise where they are to make Python's objects of them."""
    assert unit_codes(column).tolist() == [0, 1, 2]


def test_numbers_of_units_say_whose_rows_count_in_whatever_order() -> None:
    units, moved = [1, "1.0", True, None, "007", "a"], ["a", True, None, "007", 1, "1.0"]
    key, other = b"k" * 32, b"o" * 32
    for most in (1, 2, 3):
        numbers = secret_units(units, most, key)
        assert np.count_nonzero(numbers) == most + 2
        assert sorted(numbers) == sorted(secret_units(moved, most, key))
    assert numbers[0] == numbers[1] == numbers[2] != numbers[4] != numbers[5]
    assert not set(numbers[numbers != 0]) & set(secret_units(units, 3, other))
    assert secret_units([], 1, key).shape == (0,)
    assert len(set(secret_units(ODD[:4], 1, key)[:4])) == 4


ODD = [10**5000, "x" * 3_000_000, "\ud800", object(), [1], {}]


@pytest.mark.parametrize("odd", ODD, ids=[f"{type(odd).__name__}{place}" for place, odd in enumerate(ODD)])
def test_no_identifier_makes_a_fit_fail(odd: Any) -> None:
    """A vector of texts as wide as the longest would not fit into memory; an integer may be too long to be written."""
    codes = unit_codes([*range(20_000), odd])
    assert len(set(codes[:-1].tolist())) == 20_000
    assert codes[-1] not in codes[:-1]


@given(st.lists(st.integers(-1, 4), max_size=30), st.integers(1, 4))
def test_the_first_rows_of_each_unit_count(units: list[int], most: int) -> None:
    seen: dict[int, int] = {}
    expected = []
    for unit in units:
        seen[unit] = seen.get(unit, 0) + 1
        expected.append(unit != NO_UNIT and seen[unit] <= most)
    assert first_rows(np.array(units, np.int64), most).tolist() == expected


def counts(ids: list[Any], labels: list[str], most: int) -> np.ndarray[Any, Any]:
    """Exact class counts where ``ids`` says whose a row is."""
    held = Reservation([NonPrivate()], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    private_rows = PrivateRows(Frame({"id": ids}, len(ids)), labels, held, 0, Unit("id", most))
    curator = private_rows.seal(TableEncoding((), ()), LabelIndex(("no", "yes")))
    return curator.measure(Histogram(OneCell(), class_count_rule(2)), NonPrivate(), "counts").value.ravel()


OTHERS = st.sampled_from([*NOBODY, "2", 2, 3.0, "x", "x "])


@given(
    st.lists(st.tuples(OTHERS, st.sampled_from(["no", "yes"])), max_size=8),
    st.lists(st.tuples(st.sampled_from(ONE_PERSON), st.sampled_from(["no", "yes"]), st.integers(0, 8)), max_size=6),
    st.integers(1, 3),
)
@settings(deadline=None)  # the first call compiles
def test_one_persons_rows_move_no_sum_by_more_than_declared(
    others: list[tuple[Any, str]], own: list[tuple[Any, str, int]], most: int
) -> None:
    """The person's rows stand anywhere among those of others, their identifier is written in any way."""
    table: list[tuple[Any, str]] = list(others)
    for identifier, label, place in own:
        table.insert(place, (identifier, label))
    with_person = counts([row[0] for row in table], [row[1] for row in table], most)
    without = counts([row[0] for row in others], [row[1] for row in others], most)
    assert np.abs(with_person - without).sum() <= most


def test_identifiers_told_apart_by_how_they_are_written_would_break_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule matters: by their texts one person's three rows would all count, where one is paid for."""
    labels = ["yes"] * 3
    assert counts([1, 1.0, True], labels, 1).sum() == 1
    monkeypatch.setattr("tacit.encoding.units.unit_of", str)
    assert counts([1, 1.0, True], labels, 1).sum() == 3


# Identifiers that a reader made floats of.


def persons(first: int, missing: bool, **read: Any) -> Any:
    """3 rows of each of 200 persons, as a file has them, and perhaps one row that is nobody's."""
    lines = [f"{first + person},{row % 2},{person % 2}" for person in range(200) for row in range(3)]
    return pd.read_csv(io.StringIO("\n".join(["who,x,y", *lines, *[",1,1"] * missing])), **read)


def learner(**more: Any) -> Any:
    schema = {
        "label": {"column": "y", "classes": ["0", "1"]},
        "unit": {"column": "who", "max_rows": 3},
        "columns": {"x": {"kind": "boolean"}},
    }
    return tacit.RandomTreesClassifier(schema=schema, n_trees=1, epsilon=1.0, **more)


def test_identifiers_that_a_reader_merged_are_refused_before_anything_is_spent(tmp_path: Any) -> None:
    """One row without an identifier made five persons of 200, who pushed one another's rows out."""
    table = persons(15 * 10**17, missing=True)
    assert table["who"].nunique() < 10
    payer = tacit.PrivacyAccount.create(str(tmp_path / "account.db"), "people", 10.0, 1e-5, "add_or_remove_one")
    with pytest.raises(FrameError, match="'who' says whose a row is and came as float64") as failed:
        learner(account=payer).fit(table[["who", "x"]], table["y"])
    assert "1500000" not in str(failed.value)
    assert payer.spent == 0


@pytest.mark.parametrize(
    "table",
    [
        persons(15 * 10**17, missing=False),
        persons(15 * 10**17, missing=True, dtype={"who": str}),
        persons(15 * 10**17, missing=True, dtype={"who": "Int64"}),
        persons(1, missing=True),
        persons(2**53 - 200, missing=True),
    ],
)
def test_identifiers_that_are_all_there_are_taken(table: Any) -> None:
    assert len({code for code in unit_codes(table["who"]).tolist() if code != NO_UNIT}) == 200
    learner().fit(table[["who", "x"]], table["y"])


@pytest.mark.parametrize(
    ("column", "refused"),
    [
        (np.array([1.0, 2.0**53, np.nan]), True),
        (np.array([1.0, 2.0**53 - 1, np.inf]), False),
        (np.array([1.0, 2.0**24], np.float32), True),
        (pd.Series([1.0, 2.0**60], dtype="Float64"), True),
        (pd.Series([1.0, 2.0**60], dtype=pd.ArrowDtype(pa.float64())), True),
        (pd.Series([1.0, 2.0**60], dtype="category"), True),
        (pd.Series([1, 2**60], dtype="category"), False),
        (pl.Series([1.0, -(2.0**60), None]), True),
        (pl.Series([1, 2**60, None]), False),
        (pa.array([1.0, 2.0**60]), True),
        (pa.array([1.0, 2.0**60]).dictionary_encode(), True),
        ([1.0, 2.0**60], False),
        (pd.Series([1.0, 2.0**60, "a"]), False),
        (pd.Series(pd.to_datetime(["2026-01-01", None])), False),
    ],
)
def test_what_a_type_does_not_tell_apart_is_no_identifier(column: Any, refused: bool) -> None:
    frame = Frame({"who": column}, len(column))
    if not refused:
        assert identifiers_of(frame, "who") is column
        return
    with pytest.raises(FrameError, match="does not tell apart"):
        identifiers_of(frame, "who")
