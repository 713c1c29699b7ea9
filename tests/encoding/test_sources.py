"""Sources: whatever rows lie in, their chunks are the rows, in one order, with the codes that a table in memory has."""

from __future__ import annotations

import gzip
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from sqlalchemy import create_engine

import tacit.encoding.read as read_module
import tacit.encoding.sources as sources_module
import tacit.encoding.sql_sources as sql_module
from tacit.encoding.errors import DataError
from tacit.encoding.folders import files_of
from tacit.encoding.source import DeclaredSource, read_source
from tacit.encoding.sources import FileReader, read_files
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.privacy.request import RequestError
from tacit.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "a": {"kind": "numeric", "lower": -2, "upper": 2},
            "c": {"kind": "categorical", "categories": ["u", "v", "007"]},
            "d": {"kind": "boolean"},
        },
        "label": {"column": "y", "classes": ["no", "yes"]},
    }
)


def frame(rows: int = 137) -> pd.DataFrame:
    draw = np.random.default_rng(3)
    made = pd.DataFrame(
        {
            "more": np.arange(rows),
            "y": draw.choice(["no", "yes", "else"], rows, p=[0.5, 0.4, 0.1]),
            "d": draw.random(rows) < 0.4,
            "c": draw.choice(["u", "v", "007", "w"], rows),
            "a": np.round(draw.normal(size=rows), 3),
        }
    )
    made.loc[::11, "a"] = np.nan
    return made


def codes(source: Any) -> list[np.ndarray]:
    declared = DeclaredSource(source, SCHEMA)
    encoding, label = TableEncoding.of(SCHEMA), LabelIndex(("no", "yes"))
    encoding.check(declared.without_rows)
    parts = [[*encoding.encode(chunk), label.encode(labels)] for chunk, labels in declared.chunks()]
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


@pytest.fixture
def expected() -> list[np.ndarray]:
    rows = frame()
    return [*TableEncoding.of(SCHEMA).encode(rows), LabelIndex(("no", "yes")).encode(rows["y"])]


def csv_file(place: Path) -> Any:
    frame().to_csv(place / "rows.csv", index=False)
    return read_source(place / "rows.csv")


def zipped(place: Path) -> Any:
    (place / "rows.csv.gz").write_bytes(gzip.compress(frame().to_csv(index=False, sep="\t").encode()))
    return read_source(str(place / "rows.csv.gz"))


def csv_folder(place: Path) -> Any:
    for number, part in enumerate(np.array_split(np.arange(137), 17)):
        frame().iloc[part].to_csv(place / f"{number:02}.csv", index=False)
    (place / "_SUCCESS.csv").write_text("not one of them")
    (place / "notes.txt").write_text("nor this")
    return read_source(place)


def parquet_pattern(place: Path) -> Any:
    for number, part in enumerate(np.array_split(np.arange(137), 3)):
        pq.write_table(pa.Table.from_pandas(frame().iloc[part]), place / f"part-{number}.parquet", row_group_size=11)
    return read_source(str(place / "part-*.parquet"))


def files_in_a_list(place: Path) -> Any:
    parquet_pattern(place)
    return read_source([place / "part-0.parquet", str(place / "part-1.parquet"), place / "part-2.parquet"])


def data_set(place: Path) -> Any:
    parquet_pattern(place)
    return read_source(ds.dataset(sorted(map(str, place.glob("*.parquet")))))


def sqlite(place: Path) -> Any:
    url = f"sqlite:///{place / 'rows.db'}"
    frame().to_sql("people", create_engine(url), index=False)
    return read_source(url, query="SELECT * FROM people ORDER BY more")


def sqlite_table(place: Path) -> Any:
    sqlite(place)
    return read_source(f"sqlite:///{place / 'rows.db'}", query="people")


def duck_file(place: Path) -> Any:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(place / "rows.duckdb")) as connection:
        rows = frame()  # noqa: F841 - duckdb finds it by its name
        connection.execute("CREATE TABLE people AS SELECT * FROM rows")
    return read_source(f"duckdb:///{place / 'rows.duckdb'}", query="people")


def duck_query(place: Path) -> Any:
    pytest.importorskip("duckdb")
    frame().to_parquet(place / "rows.parquet")
    return read_source("duckdb://", query=f"SELECT * FROM '{place / 'rows.parquet'}' ORDER BY more")


FILES = [csv_file, zipped, csv_folder, parquet_pattern, files_in_a_list, data_set]
WAYS = [*FILES, sqlite, sqlite_table, duck_file, duck_query]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_gives_the_codes_of_the_table(
    way: Any, tmp_path: Path, expected: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In chunks of five rows; whole files are read in the fits of tests/estimators/test_sources.py."""
    monkeypatch.setattr(sources_module, "CHUNK_ROWS", 5)
    monkeypatch.setattr(sql_module, "CHUNK_ROWS", 20)
    monkeypatch.setattr(read_module, "BLOCK_BYTES", 200)
    source = way(tmp_path)
    for found, column in zip(codes(source), expected, strict=True):
        np.testing.assert_array_equal(found, column)
    assert DeclaredSource(source, SCHEMA).n_rows == 137
    assert tmp_path.name in repr(source) or "data set" in repr(source) or "duckdb" in repr(source)


def test_a_long_row_is_read_in_longer_blocks_from_where_it_was(
    tmp_path: Path, expected: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_module, "BLOCK_BYTES", 200)
    rows = frame()
    rows["more"] = rows["more"].astype(str)
    rows.loc[100, "more"] = "long " * 300
    rows.to_csv(tmp_path / "rows.csv", index=False)
    for found, column in zip(codes(read_source(tmp_path / "rows.csv")), expected, strict=True):
        np.testing.assert_array_equal(found, column)


def test_parts_are_the_files(tmp_path: Path, expected: list[np.ndarray]) -> None:
    reader = csv_folder(tmp_path).reader
    assert len(reader.parts()) == 17
    declared = DeclaredSource(read_source(tmp_path), SCHEMA)
    total = sum(chunk.n_rows for part in reader.parts() for chunk, _ in declared.chunks(part))
    assert total == len(expected[0])


# What is no source.


def refused(message: str, **arguments: Any) -> None:
    with pytest.raises((DataError, RequestError), match=message):
        codes(read_source(**arguments))


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    refused("nowhere does not exist", where=tmp_path / "nowhere")
    refused("no file matches", where=str(tmp_path / "*.parquet"))
    refused("holds no files of rows", where=tmp_path)
    refused("an empty list", where=[])
    refused("got int", where=7)
    refused("needs a query", where="sqlite:///rows.db")
    refused("Köln.db does not exist", where=f"sqlite:///{tmp_path / 'Köln.db'}", query="people")
    assert not list(tmp_path.iterdir())
    for query in (None, "people"):
        refused("knows no database 'https'.* copied to this machine", where="https://host/rows.csv", query=query)
    refused("a query is for a database", where=tmp_path, query="SELECT 1")
    refused("engine must be one of", where=csv_file(tmp_path).reader, engine="fast")


def test_parts_of_other_columns_or_types_are_named(tmp_path: Path) -> None:
    parquet_pattern(tmp_path)
    table = pq.read_table(tmp_path / "part-1.parquet")
    pq.write_table(table.drop_columns(["c"]), tmp_path / "part-1.parquet")
    refused("part-1.parquet has no column 'c'", where=tmp_path)
    pq.write_table(table.set_column(4, "a", table["a"].cast(pa.float32())), tmp_path / "part-1.parquet")
    refused("column 'a' is float in .*part-1.parquet, and double in .*part-0", where=tmp_path)
    frame().to_csv(tmp_path / "part-9.csv", index=False)
    pq.write_table(table, tmp_path / "part-1.parquet")
    refused("of different kinds", where=tmp_path)


NUMBERS = [
    [pa.int64(), pa.float64()],
    [pa.float64(), pa.int8(), pa.null(), pa.uint64()],
    [pa.decimal128(5, 1), pa.decimal128(9, 4), pa.int32()],
    [pa.dictionary(pa.int32(), pa.int64()), pa.float64(), pa.int64()],
]
TEXTS = [
    [pa.string(), pa.large_string()],
    [pa.large_string(), pa.dictionary(pa.int32(), pa.string())],
    [pa.null(), pa.dictionary(pa.int8(), pa.large_string()), pa.string()],
]


@pytest.mark.parametrize("kinds", [*NUMBERS, *TEXTS])
@pytest.mark.parametrize("declared", ["numeric", "categorical", "label"])
def test_types_that_rows_decide_are_one(kinds: list[pa.DataType], declared: str, tmp_path: Path) -> None:
    """A gap makes fractions of whole numbers, and so did one row decide if a folder is read."""
    values: list[Any] = ["u", "v", None] if kinds in TEXTS else [1, 2, None]
    far = {pa.int64(): 2**60 + 1}  # which no double is, and that is no reason to stop
    known = ["1", "v"] if kinds in TEXTS else [1, 2]
    columns: Any = {"x": {"kind": "categorical", "categories": known}}
    if declared == "numeric":
        columns = {"x": {"kind": "numeric", "lower": 0, "upper": 4}}
    written: Any = {"columns": columns, "label": {"column": "x" if declared == "label" else "y", "classes": known}}
    if declared == "label":
        written["columns"] = {"y": {"kind": "categorical", "categories": known}}
    schema = Schema.from_dict(written)
    for number, kind in enumerate(kinds):
        x = pa.array([None] * 3) if kind == pa.null() else _encoded([*values[:2], far.get(kind)], kind)
        table = pa.table({"x": x, "y": ["1"] * 3, "part": [number] * 3})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    source = DeclaredSource(read_source(tmp_path), schema)
    encoding, label = TableEncoding.of(schema), LabelIndex(tuple(known))
    encoding.check(source.without_rows)
    parts = [[*encoding.encode(chunk), label.encode(labels)] for chunk, labels in source.chunks()]
    together = read_files(tmp_path, ["x", "y"])
    expected = pd.DataFrame(
        {"x": [v for k in kinds for v in ([None] * 3 if k == pa.null() else [*values[:2], far.get(k)])], "y": "1"}
    )
    label_column = "x" if declared == "label" else "y"
    for rows in (together, expected):
        named = rows.column(label_column) if rows is together else rows[label_column].astype(object)
        results = [*encoding.encode(rows), label.encode(named)]
        for part, column in zip(zip(*parts, strict=True), results, strict=True):
            np.testing.assert_array_equal(np.concatenate(part), column)


def _encoded(values: list[Any], kind: pa.DataType) -> pa.Array:
    dictionary = pa.types.is_dictionary(kind)
    plain = pa.array(values, kind.value_type if dictionary else kind)
    return plain.dictionary_encode() if dictionary else plain


@pytest.mark.parametrize("kinds", [[pa.int64(), pa.float64()], [pa.float64(), pa.int64()], [pa.int64(), pa.string()]])
def test_a_data_set_whose_parts_have_other_types_is_refused(kinds: list[pa.DataType], tmp_path: Path) -> None:
    """It has the types of its first part, and one fraction in another would stop the reading, or one large number."""
    paths = [str(tmp_path / f"{number}.parquet") for number in range(3)]
    for path, kind in zip(paths, [*kinds, pa.null()], strict=True):
        column = pa.nulls(1) if kind == pa.null() else pa.array([1]).cast(kind)
        pq.write_table(pa.table({"a": column, "part": [path]}), path)
    with pytest.raises(DataError, match=rf"'a' is {kinds[1]} in .*1.parquet, and {kinds[0]} in the data set"):
        read_source(ds.dataset(paths)).reader.empty(["a"], frozenset())
    assert read_source(ds.dataset([paths[0], paths[2]])).reader.empty(["a"], frozenset()).names == ("a",)


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_module, "BLOCK_BYTES", 200)
    source = csv_folder(tmp_path)
    chunks = DeclaredSource(source, SCHEMA).chunks()
    next(chunks)
    for path in files_of(tmp_path):
        os.utime(path, ns=(1, 1))
    with pytest.raises(DataError, match="changed while it was read"):
        list(chunks)


def test_a_file_that_changes_between_two_readings_is_noticed(tmp_path: Path) -> None:
    declared = DeclaredSource(csv_folder(tmp_path), SCHEMA)
    list(declared.chunks())
    os.utime(files_of(tmp_path)[3], ns=(1, 1))
    with pytest.raises(DataError, match="changed since this fit began to read it"):
        list(declared.chunks())


def test_a_failing_query_shows_no_password_and_no_rows(tmp_path: Path) -> None:
    sqlite(tmp_path)
    url = f"sqlite:///{tmp_path / 'rows.db'}"
    refused("no such table: nobody", where=url, query="nobody")
    refused("has no column 'a'", where=url, query="SELECT c, d, y FROM people")
    for url in ("postgresql+nothing://me:secret@host", "postgresql://me:secret@host:port", "sqlite://me:se@cret@host"):
        with pytest.raises(DataError) as failed:
            codes(read_source(f"{url}/rows", query="people"))
        assert "cret" not in str(failed.value)
        with pytest.raises(DataError, match="files are read here, and the URL of a database") as failed:
            files_of(Path(f"{url}/rows"))
        assert "cret" not in str(failed.value)


def test_a_driver_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "MySQLdb", None)
    refused("needs a driver that is not installed: .*MySQLdb", where="mysql+mysqldb://host/rows", query="people")


def test_sql_that_fails_midway_does_not_quote_a_cell(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    frame().assign(a=["1"] * 136 + ["private words"]).to_parquet(tmp_path / "rows.parquet")
    asked = f"SELECT CAST(a AS DOUBLE) AS a, c, d, y FROM '{tmp_path / 'rows.parquet'}'"
    with pytest.raises(DataError, match="failed: ConversionException") as failed:
        codes(read_source("duckdb://", query=asked))
    assert "private words" not in str(failed.value)


DATES = Schema.from_dict(
    {
        "columns": {"when": {"kind": "date", "granularity": "month", "lower": "2020-01-01", "upper": "2020-12-31"}},
        "label": {"column": "y", "classes": ["no", "yes"]},
    }
)


SAID = "auto_detect = false, header = true, columns = {{'when': 'VARCHAR', 'y': 'VARCHAR'}}"


@pytest.mark.parametrize(
    "one",
    [
        "'{0}'",
        "read_csv('{0}')",
        "(SELECT * FROM '{0}' WHERE y = 'yes')",
        f"read_csv('{{0}}', {SAID})",
        f"(SELECT b.* FROM read_csv('{{0}}', {SAID}) a JOIN '{{0}}' b USING (y))",
        f"(SELECT b.* FROM read_csv('{{0}}', {SAID}) a JOIN read_csv('{{0}}') b USING (y))",
    ],
)
def test_text_files_are_not_read_through_duckdb(one: str, tmp_path: Path) -> None:
    """Of these dates the month comes first or last, as the last row says."""
    duckdb = pytest.importorskip("duckdb")
    months = []
    for name, last in (("ordinary", "04/05/2020"), ("day last", "01/13/2020")):
        path = tmp_path / f"{name}.csv"
        path.write_text("when,y\n" + "03/11/2020,yes\n" * 9 + f"{last},no\n")
        with duckdb.connect() as connection:
            result = connection.execute(f"SELECT \"when\" FROM '{path}'").fetchall()
        months.append({row[0].month for row in result[:9]})
        source = read_source("duckdb://", query=f"SELECT * FROM {one.format(path)}")
        with pytest.raises(DataError, match="one line can change how DuckDB reads others: name the file itself"):
            list(DeclaredSource(source, DATES).without_rows.names)
    assert months[0] != months[1]


@pytest.mark.parametrize("name", ["Fälle", "main.Fälle", "患者_2", "rows"])
def test_the_name_of_a_table_may_have_any_letters(tmp_path: Path, expected: list[np.ndarray], name: str) -> None:
    engine = create_engine(f"sqlite:///{tmp_path}/rows.db")
    frame().to_sql(name.rpartition(".")[2], engine, index=False)
    engine.dispose()
    for found, column in zip(codes(read_source(f"sqlite:///{tmp_path}/rows.db", query=name)), expected, strict=True):
        np.testing.assert_array_equal(found, column)


def test_a_table_that_grows_after_it_was_counted_is_refused(tmp_path: Path) -> None:
    """A database does not tell that it changed; where the number of rows is public, that does."""
    with sqlite3.connect(tmp_path / "rows.db") as base:
        base.execute("CREATE TABLE people (c TEXT, y TEXT)")
        base.execute("INSERT INTO people VALUES ('a', 'no')")
    schema = Schema.from_dict(
        {
            "columns": {"c": {"kind": "categorical", "categories": ["a"]}},
            "label": {"column": "y", "classes": ["no", "yes"]},
        }
    )
    source = read_source(f"sqlite:///{tmp_path}/rows.db", query="people")
    counted, uncounted = DeclaredSource(source, schema), DeclaredSource(source, schema)
    assert counted.n_rows == len(list(counted.chunks())) == 1
    with sqlite3.connect(tmp_path / "rows.db") as base:
        base.execute("INSERT INTO people VALUES ('a', 'yes')")
    with pytest.raises(DataError, match="changed since this fit began to read it"):
        list(counted.chunks())
    assert sum(frame.n_rows for frame, _ in uncounted.chunks()) == 2


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_data_set_that_takes_types_from_rows_is_refused(kind: str, tmp_path: Path) -> None:
    texts = {"csv": "when,y\n2020-01-01,yes\n", "json": '{"when": "2020-01-01", "y": "yes"}\n'}
    (tmp_path / "rows").write_text(texts[kind])
    source = read_source(ds.dataset(str(tmp_path / "rows"), format=kind))
    with pytest.raises(DataError, match=f"data set of {kind} files takes their types from the rows"):
        list(DeclaredSource(source, DATES).without_rows.names)


@pytest.mark.parametrize(
    ("groups", "expected"), [((), 1), ((5,), 1), ((8, 8), 2), ((4, 4, 4, 4, 4), 2), ((9, 1), 1), ((1, 9, 9, 1), 2)]
)
def test_row_groups_of_a_file_make_parts(
    groups: tuple[int, ...], expected: int, tmp_path: Path, monkeypatch: Any
) -> None:
    """Together they are the file, in its order; none has fewer rows than it is worth."""
    monkeypatch.setattr("tacit.encoding.sources.CHUNK_ROWS", 8)
    schema, start = pa.schema([("a", pa.int64())]), 0
    with pq.ParquetWriter(tmp_path / "rows.parquet", schema) as writer:
        for size in groups:
            writer.write_table(pa.table({"a": np.arange(start, start + size)}, schema), row_group_size=size)
            start += size
    reader = FileReader((tmp_path / "rows.parquet",))
    parts = reader.parts()
    assert len(parts) == expected
    read = [chunk.column("a").to_pylist() for part in parts for chunk in part.chunks(["a"], frozenset())]
    assert [value for values in read for value in values] == list(range(start))


@pytest.mark.parametrize("way", ["sqlite", "duckdb", "parquet"])
def test_a_column_that_went_after_the_check_is_named(tmp_path: Path, way: str) -> None:
    rows = pd.DataFrame({"age": [44, 61], "dose": [1.5, 2.5]})
    file = tmp_path / f"rows.{way}"
    if way == "parquet":
        rows.to_parquet(file)
        reader = read_source(file).reader
        rows.drop(columns="age").to_parquet(file)
    else:
        base: Any = sqlite3.connect(file) if way == "sqlite" else pytest.importorskip("duckdb").connect(str(file))
        base.execute("CREATE TABLE people (age DOUBLE, dose DOUBLE)")
        base.commit()
        reader = read_source(f"{way}:///{file}", query="people").reader
        base.execute("ALTER TABLE people RENAME COLUMN age TO years")
        base.commit()
        base.close()
    with pytest.raises(DataError, match=r"has no column 'age'"):
        list(reader.chunks(["age", "dose"], frozenset()))
