"""Files: what a file is may be refused in one sentence; what its cells hold is read, whatever it is."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.encoding.errors import DataError
from tacit.encoding.numbers import parse_numbers
from tacit.encoding.read import BLOCK_BYTES, column_names, read_columns, read_sample
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.schema import BooleanColumn, CategoricalColumn, IdColumn, IgnoredColumn, Label, NumericColumn, Schema, Unit
from tacit.schema.csv_format import CsvFormat
from tacit.schema.values import parse_number

SCHEMA = Schema(
    {
        "age": NumericColumn(0, 100, bins=10),
        "zip": CategoricalColumn(("02139", "10001")),
        "note": IgnoredColumn(),
        "ok": BooleanColumn(),
        "id": IdColumn(),
    },
    Label("y", classes=("no", "yes")),
    Unit("id", 2),
)
ROWS = b"""note,id,age,zip,ok,y
a,1, 25 ,02139,true,yes
"b, c",1,old,2139,FALSE,no
"a ""w"" x",2,,,1,maybe
,3,1e3,99999,?,
"""
WANTED, NUMERIC = ("age", "zip", "ok", "y", "id"), ("age",)
CODES = [[2, 10, 10, 9], [0, 0, 3, 2], [1, 0, 1, 2]]
SMALL = b"a,b,c\n1,x,2\n,y,\n"


def write(tmp_path: Path, name: str, content: bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.csv", ROWS),
        ("rows.csv.gz", gzip.compress(ROWS, mtime=0)),
        ("wrongly named", gzip.compress(ROWS, mtime=0)),
        ("windows.csv", b"\xef\xbb\xbf" + ROWS.replace(b"\n", b"\r\n")),
        ("no end.csv", ROWS.rstrip(b"\n")),
        ("tabs.tsv", ROWS.replace(b",", b"\t").replace(b"b\t c", b"b, c")),
    ],
)
def test_csv(tmp_path: Path, name: str, content: bytes) -> None:
    frame = read_columns(write(tmp_path, name, content), WANTED, NUMERIC)
    assert frame.names == WANTED
    assert frame.n_rows == 4
    assert [codes.tolist() for codes in TableEncoding.of(SCHEMA).encode(frame)] == CODES
    assert LabelIndex(("no", "yes")).encode(frame.column("y")).tolist() == [1, 0, 255, 255]
    assert frame.column("id").to_pylist() == ["1", "1", "2", "3"]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        (b"age,zip;code", ["age", "zip;code"]),
        (b'"age, in years";zip', ["age, in years", "zip"]),
        (b"age, in years;zip;sex", ["age, in years", "zip", "sex"]),
        (b'"a;b;c;d",age', ["a;b;c;d", "age"]),
        (b"age\tzip;code", ["age", "zip;code"]),
        (b"age", ["age"]),
    ],
)
def test_what_parts_cells_is_what_the_header_has_most_of(tmp_path: Path, header: bytes, names: list[str]) -> None:
    path = write(tmp_path, "x.csv", header + b"\n")
    assert column_names(path) == names


def test_prediction_needs_no_label(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", b"age,zip,ok\n25,02139,yes\n")
    assert read_columns(path, WANTED[:3], NUMERIC).names == WANTED[:3]
    with pytest.raises(DataError, match="no column 'y'"):
        read_columns(path, WANTED, NUMERIC)


def test_parquet_gives_the_same_codes(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    table = pa.table(
        {
            "y": ["yes", "no", "maybe", None],
            "age": [25.0, math.nan, None, 1e3],
            "zip": ["02139", "2139", None, "99999"],
            "ok": [True, False, True, None],
            "id": [1, 1, 2, 3],
        }
    )
    pq.write_table(table, path, row_group_size=2)
    codes = TableEncoding.of(SCHEMA).encode(read_columns(path, WANTED, NUMERIC))
    assert [column.tolist() for column in codes] == CODES
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"rows.parquet is a damaged Parquet file\. Nothing was spent"):
        read_columns(path, WANTED, NUMERIC)


cells = st.text(alphabet="0123456789+-.eE naif", max_size=7) | st.floats().map(repr) | st.integers().map(str)


@settings(max_examples=100, deadline=None)
@given(column=st.lists(cells, max_size=6))
@example(column=["+1", "5.", ".5", "1e999", "-0", " 7\t"])
@example(column=["1e5", "inf", "nan", "-inf", "Infinity"])
@example(column=["x", "inf"])
@example(column=["0x10", "1_0", "1,0", "--1", "+-1", "+", ".", "e5"])
def test_numbers_are_read_cell_by_cell(column: list[str]) -> None:
    read = parse_numbers(pa.array(column, pa.string()))
    assert read.dtype == np.float64
    for text, number in zip(column, read, strict=True):
        wanted = parse_number(text)
        if wanted is None:
            assert math.isnan(number), text
        else:
            assert number == float(wanted), text


def test_names_without_an_end_are_no_sample(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read as a table"):
        read_sample(write(tmp_path, "data.csv", b"a,b"))
    assert read_sample(write(tmp_path, "data.csv", b"a,b\n")).num_rows == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "no names in its first line"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (gzip.compress(SMALL * 5000, mtime=0)[:-60], "damaged or truncated gzip"),
        (2 * codecs.BOM_UTF8 + SMALL, "starts with two byte order marks"),
        (3 * codecs.BOM_UTF8 + SMALL, "starts with two byte order marks"),
        (gzip.compress(2 * codecs.BOM_UTF8 + SMALL, mtime=0), "starts with two byte order marks"),
        (gzip.compress(SMALL, mtime=0)[:15], "damaged or truncated gzip"),
        (gzip.compress(SMALL * 5000, mtime=0)[:-30] + b"z" * 30, "damaged or truncated gzip"),
        (SMALL + b"1,2\n", "has a row with 2 cells where its header has 3"),
        (
            SMALL + "1,é,3\n".encode("latin-1"),
            "is not UTF-8 text; save it as UTF-8, or give its encoding, such as windows-1252 ",
        ),
        ("a,é,b,c\n".encode("latin-1"), "is not UTF-8 text"),
        (SMALL.decode().encode("utf-16"), "is UTF-16 text; give encoding 'utf-16' (--encoding utf-16)"),
        (SMALL.decode().encode("utf-16-le"), "is UTF-16 text without a byte order mark; give encoding 'utf-16-le'"),
        (SMALL.decode().encode("utf-16-be"), "give encoding 'utf-16-be'"),
        (SMALL.decode().encode("utf-32"), "is UTF-32 text; give encoding 'utf-32' (--encoding utf-32)"),
        (SMALL.decode().encode("utf-32-le"), "is UTF-32 text without a byte order mark; give encoding 'utf-32-le'"),
        (SMALL.decode().encode("utf-32-be"), "give encoding 'utf-32-be'"),
        (gzip.compress(SMALL.decode().encode("utf-16"), mtime=0), "is UTF-16 text; give encoding 'utf-16'"),
        (b'{"a": 1, "b": 2, "c": 3}\n{"a": 2}\n', "holds JSON, which no fit reads"),
        (b'[\n{"a": 1}]\n', "holds JSON"),
        (b"{\n", "holds JSON"),
        (gzip.compress(b"[[1,2,3]]\n", mtime=0), "holds JSON"),
        (b'<?xml version="1.0"?>\n', "holds XML or HTML"),
        (b"<TABLE border=1>\n", "holds XML or HTML"),
        (bz2.compress(SMALL), "is compressed with bzip2"),
        (lzma.compress(SMALL), "is compressed with xz"),
        (lzma.compress(SMALL, lzma.FORMAT_ALONE), "is compressed with lzma"),
        (gzip.compress(gzip.compress(SMALL, mtime=0), mtime=0), "is packed with gzip twice: unpack it once"),
        (gzip.compress(b"PAR1" + b"x" * 40 + b"PAR1", mtime=0), "is a Parquet file that was packed with gzip"),
        (gzip.compress(bz2.compress(SMALL), mtime=0), "is compressed with bzip2"),
        (gzip.compress(b"PK\x03\x04" + b"x" * 40, mtime=0), "zip archive or a spreadsheet"),
        (gzip.compress(b"a.csv".ljust(257, b"\0") + b"ustar\0" + b"00" * 400, mtime=0), "is an archive of tar"),
        (b"a.csv".ljust(257, b"\0") + b"ustar  \0" + b"00" * 400, "is an archive of tar"),
        (gzip.compress(b"RDX3\nX\n" + b"\0" * 40, mtime=0), "is a file of R"),
        (b"\x04\x22\x4d\x18" + b"x" * 40, "is compressed with lz4"),
        (pickle.dumps({"a": 1}), "is a pickle"),
        (b"ORC\x00\x00", "is an ORC file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 40, "is a spreadsheet"),
        (b"a,b,b,c\n1,2,3,4\n", "two columns named 'b'"),
        (b"a,b\n1,2\n", "has no column 'c'; it has 2 columns"),
        (b"a,b,colour,c1\n1,2,3,4\n", "has no column 'c'"),
        (SMALL + b'1,"2,3\n' + b"1,2,3\n" * (BLOCK_BYTES // 2), "quoted cell without its closing quote in line 4"),
        (b'a,"b,c\n1,2,3\n', "quoted cell without its closing quote in line 1"),
        (b"PAR1" + b"x" * 40 + b"PAR1", "damaged Parquet"),
        (b"PK\x03\x04" + b"x" * 40, "zip archive or a spreadsheet"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = write(tmp_path, "data.csv", content)
    with pytest.raises(DataError) as caught:
        read_columns(path, ["a", "b", "c"], ["a", "c"])
    text = str(caught.value)
    assert message in text
    assert "data.csv" in text
    assert text.endswith("Nothing was spent.")
    assert "\n" not in text
    with pytest.raises(DataError):  # a sample for a draft is refused alike
        read_sample(path) if b"c1" not in content and content != b"a,b\n1,2\n" else read_columns(path, ["c"])


def test_names_that_only_look_like_another_kind_of_file(tmp_path: Path) -> None:
    for header in ("ORC,x", "BZh,x", "{a},x", "[a],x", "<a>,x", "[1],x"):
        assert column_names(write(tmp_path, "data.csv", f"{header}\n1,2\n".encode())) == header.split(",")


@pytest.mark.parametrize("given", ["utf-16", "utf-16-le", "utf-32", "utf-32-be"])
def test_plain_text_is_not_read_as_wide_characters(tmp_path: Path, given: str) -> None:
    path = write(tmp_path, "data.csv", SMALL * 9)
    with pytest.raises(DataError, match=rf"is no {given[:6].upper()} text; leave encoding \(--encoding\) out"):
        column_names(path, CsvFormat(encoding=given))


def test_places_that_hold_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        column_names(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is a folder; one file is read here, CSV or Parquet"):
        column_names(tmp_path)
    with pytest.raises(DataError, match=r"does not exist; one file is read here, and no pattern"):
        column_names(tmp_path / "*.csv")


@pytest.mark.parametrize("content", [b"a,b,c\n", b"a,b,c", gzip.compress(b"a,b,c\n", mtime=0)])
def test_names_without_rows_are_a_table(tmp_path: Path, content: bytes) -> None:
    frame = read_columns(write(tmp_path, "x.csv", content), ["a", "b"], ["a"])
    assert frame.n_rows == 0
    schema = Schema({"a": NumericColumn(0, 1), "b": CategoricalColumn(("x",))})
    assert [codes.tolist() for codes in TableEncoding.of(schema).encode(frame)] == [[], []]


def test_one_column_keeps_its_empty_lines(tmp_path: Path) -> None:
    frame = read_columns(write(tmp_path, "x.csv", b"a\n1\n\n3\n"), ["a"], ["a"])
    assert np.array_equal(frame.column("a"), [1, math.nan, 3], equal_nan=True)


def test_large_files_come_in_blocks(tmp_path: Path) -> None:
    n_rows = 130_000
    lines = [f"{i},{'abc'[i % 3]},{'x' * 60}\n" for i in range(n_rows)]
    path = write(tmp_path, "large.csv", ("n,c,pad\n" + "".join(lines)).encode())
    assert path.stat().st_size > 2 * BLOCK_BYTES
    records: list[int] = []
    frame = read_columns(path, ["c", "n"], ["n"], records.append)
    assert len(records) > 2
    assert records[-1] == n_rows
    assert np.array_equal(frame.column("n"), np.arange(n_rows))
    schema = Schema({"c": CategoricalColumn(("c", "b", "a"))})
    assert np.array_equal(TableEncoding.of(schema).encode(frame)[0], 2 - np.arange(n_rows) % 3)


def test_a_sample_has_the_cells_of_a_file(tmp_path: Path) -> None:
    table: Any = read_sample(write(tmp_path, "x.csv", b"a;b\n1.5;x\n2;y\n"))
    assert table.to_pydict() == {"a": ["1.5", "2"], "b": ["x", "y"]}
    pq.write_table(table, tmp_path / "x.parquet")
    assert read_sample(tmp_path / "x.parquet").equals(table)
    with pytest.raises(DataError, match="two columns named 'a'"):
        read_sample(write(tmp_path, "y.csv", b"a,a\n1,2\n"))


@pytest.mark.parametrize("packed", [False, True])
def test_a_long_text_of_one_person_is_read(packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.encoding.read.BLOCK_BYTES", 1 << 10)
    text = b'2,"' + b"long, \n" * 5000 + b'",y\n'
    content = b"a,b,c\n" + b"1,x,z\n" * 500 + text + b"3,y,z\n" * 500
    path = write(tmp_path, "rows.csv", gzip.compress(content) if packed else content)
    written = CsvFormat(multiline=True)
    frame = read_columns(path, ["a", "b", "c"], ["a"], dialect=written)
    assert frame.n_rows == 1001
    assert frame.numbers("a").sum() == 500 + 2 + 1500
    assert len(frame.column("b").to_pylist()[500]) == 35_000
    assert read_sample(path, written).num_rows == 1001
    monkeypatch.setattr("tacit.encoding.read.MOST_BLOCK_BYTES", 1 << 12)
    with pytest.raises(DataError, match="a row longer than"):
        read_columns(path, ["a"], dialect=written)


def test_a_cell_of_several_blocks_is_read(tmp_path: Path) -> None:
    long = b'2,"' + b"x" * (BLOCK_BYTES + BLOCK_BYTES // 4) + b'"\n'
    path = write(tmp_path, "rows.csv", b"a,b\n1,x\n" + long + b"3,y\n")
    assert read_columns(path, ["a", "b"], ["a"]).numbers("a").tolist() == [1, 2, 3]


def test_reading_again_in_longer_blocks_counts_no_row_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.encoding.read.BLOCK_BYTES", 1 << 10)
    told: list[int] = []
    path = write(tmp_path, "rows.csv", b"a\n" + b"1\n" * 2000 + b'"' + b"long " * 2000 + b'"\n')
    assert read_columns(path, ["a"], on_rows=told.append).n_rows == 2001
    assert told[-1] == 2001
