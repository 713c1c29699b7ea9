"""How cells are written: every format of dates, symbols, thousands and marks for missing, by hand."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from tacit.schema import DateColumn, NumericColumn, SchemaError
from tacit.schema.cell_format import DATE_FORMATS, CellFormat, check_date_format, parse_date

DAY = dt.date(2018, 1, 7)


@pytest.mark.parametrize("written", DATE_FORMATS)
def test_every_listed_format_reads_what_strftime_writes(written: str) -> None:
    assert check_date_format(written) == written
    for day in (DAY, dt.date(1972, 12, 24), dt.date(2068, 9, 30), dt.date(1969, 5, 31)):
        first = day if "%d" in written else day.replace(day=1)
        assert parse_date(day.strftime(written), written) == first
        assert parse_date(f" {day.strftime(written)} 10:30 ", written) == first
    assert parse_date("", written) is parse_date("unknown", written) is None


@pytest.mark.parametrize(
    ("text", "written", "day"),
    [
        ("24.08.1972", "%d.%m.%Y", dt.date(1972, 8, 24)),
        ("4.8.1972", "%d.%m.%Y", dt.date(1972, 8, 4)),
        ("24.08.72", "%d.%m.%Y", None),
        ("24.08.1972", "%d.%m.%y", None),
        ("30.02.2020", "%d.%m.%Y", None),
        ("7-Jan-18", "%d-%b-%y", DAY),
        ("07-JANUARY-18", "%d-%b-%y", DAY),
        ("7-Jänner-18", "%d-%b-%y", None),
        ("Sept. 30, 2020", "%b %d, %Y", dt.date(2020, 9, 30)),
        ("May 1 2020", "%b %d %Y", dt.date(2020, 5, 1)),
        ("20241231", "%Y%m%d", dt.date(2024, 12, 31)),
        ("2024123", "%Y%m%d", None),
        ("20241301", "%Y%m%d", None),
        ("12/31/2024 11:59 PM", "%m/%d/%Y", dt.date(2024, 12, 31)),
        ("31/12/2024", "%m/%d/%Y", None),
        ("01/02/68", "%d/%m/%y", dt.date(2068, 2, 1)),
        ("01/02/69", "%d/%m/%y", dt.date(1969, 2, 1)),
        ("\u0661\u0661.01.2020", "%d.%m.%Y", None),
        ("2020-06", "%Y-%m", dt.date(2020, 6, 1)),
    ],
)
def test_dates_by_hand(text: str, written: str, day: dt.date | None) -> None:
    assert parse_date(text, written) == day


@pytest.mark.parametrize("written", ["", "%Y", "%d.%m", "%d.%m.%Y %H:%M", "%Y%Y%m%d", "%Q", "%", 7, None, "dd.mm.yyyy"])
def test_formats_that_tell_no_date_are_refused(written: Any) -> None:
    with pytest.raises(SchemaError, match="give one such as"):
        check_date_format(written)


def test_a_format_is_part_of_a_date_column() -> None:
    column = DateColumn("month", "2018-01-01", "2020-12-31", format="%d-%B-%Y")
    assert column.to_dict()["format"] == "%d-%b-%Y"
    with pytest.raises(SchemaError, match="names no day"):
        DateColumn("weekday", format="%Y-%m")


@pytest.mark.parametrize(
    ("written", "text", "number"),
    [
        (CellFormat("%"), "12.5%", 12.5),
        (CellFormat("%"), "12.5 %", 12.5),
        (CellFormat("%"), "12.5", 12.5),
        (CellFormat("%"), "12.5%%", None),
        (CellFormat("$", ","), "$1,204.50", 1204.5),
        (CellFormat("$", ","), "-$1,204", -1204.0),
        (CellFormat("$", ","), "$-950", -950.0),
        (CellFormat("$", ","), "$1,20", None),
        (CellFormat("$", ","), "$ 1,204,5", None),
        (CellFormat("kg"), "40 kg", 40.0),
        (CellFormat("kg"), "40 lb", None),
        (CellFormat("\u20ac", "."), "1.204,50 \u20ac", 1204.5),
        (CellFormat("", "."), "1.204", 1204.0),
        (CellFormat("", "."), "1,5", 1.5),
        (CellFormat("", " "), "1\u202f204\u00a0500", 1204500.0),
        (CellFormat("", "'"), "1\u2019204", 1204.0),
        (CellFormat("", ","), "\u22121,204", -1204.0),
        (CellFormat("", ","), "1204", 1204.0),
        (CellFormat("", ","), "12,04", None),
        (CellFormat("$"), "", None),
        (CellFormat("$"), "$", None),
    ],
)
def test_numbers_by_hand(written: CellFormat, text: str, number: float | None) -> None:
    assert written.number_of(text) == number
    assert CellFormat.from_dict(written.to_dict()) == written


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"missing_values": -200}, "missing_values"),
        ({"missing_values": ["NA"]}, "missing_values"),
        ({"missing_values": [1, 1.0]}, "missing_values"),
        ({"missing_values": [float("inf")]}, "missing_values"),
        ({"symbol": "1"}, "symbol"),
        ({"symbol": " $"}, "symbol"),
        ({"symbol": 7}, "symbol"),
        ({"thousands": ";"}, "thousands"),
        ({"allow": "id"}, "allow"),
    ],
)
def test_what_cannot_be_declared_names_its_field(given: dict[str, Any], field: str) -> None:
    with pytest.raises(SchemaError, match=field):
        NumericColumn(0, 1, **given)
