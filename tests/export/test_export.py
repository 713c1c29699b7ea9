"""Every kind of model says the same as SQL and as an ONNX graph, for rows of every sort."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlglot

import tacit
from tacit import registry
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder
from tacit.encoding.values import BooleanIndex, CategoryIndex
from tacit.errors import TacitError
from tacit.export.excel import to_excel
from tacit.export.expression import TEXT, ExportError
from tacit.export.json_schema import BODIES, json_schema
from tacit.export.onnx_graph import to_onnx
from tacit.export.programs import program_of
from tacit.export.sql import DIALECTS, to_sql
from tacit.models.additive import AdditiveModel, MainEffect
from tacit.models.base import Model, NumberModel
from tacit.models.binding import model_digest
from tacit.models.feature import Feature
from tacit.models.files import kinds, save_model
from tacit.schema.cell_format import CellFormat
from tests.export.models import COLUMNS, NASTY, models, renamed, rows_of
from tests.pairwise import in_turn
from tests.postgresql import server

ROWS = 120
READER, NODE = Path(__file__).parents[2] / "examples" / "predict.mjs", shutil.which("node")
TOLERANCE = 1e-9
NAMES = list(models())


def told(model: Model, rows: pd.DataFrame, names: Sequence[str] = tuple(COLUMNS)) -> np.ndarray:
    """What the model says, shape ``(rows, outputs)``."""
    frame = rows[[f"x{k}" for k in range(4)]].to_numpy() if model.feature_names == ("(rows)",) else rows[list(names)]
    said = model.predict(frame) if isinstance(model, NumberModel) else model.predict_proba(frame)  # type: ignore[attr-defined]
    return said.reshape(len(rows), -1)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def cells_of(rows: pd.DataFrame) -> tuple[dict[str, str], pd.DataFrame]:
    """The type of every quoted column in a database, and the values as Python's, dates as texts."""
    types = {"f": "double precision", "b": "boolean", "M": "date", "O": "text"}
    kinds = {name: types[column.dtype.kind] for name, column in rows.items()}
    cells = rows.assign(**{name: rows[name].dt.strftime("%Y-%m-%d") for name in kinds if kinds[name] == "date"})
    numbers = np.array([kind == "double precision" for kind in kinds.values()])
    cells = cells.astype(object).where(rows.notna() | numbers, None)
    return {quoted(str(name)): kind for name, kind in kinds.items()}, cells


def by_duckdb(model: Model, rows: pd.DataFrame) -> np.ndarray:
    kinds, _ = cells_of(rows)
    with duckdb.connect() as connection:
        connection.register("frame", rows)
        columns = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in kinds.items())
        connection.execute(f"CREATE TABLE some_rows AS SELECT row_number() OVER () AS id, {columns} FROM frame")
        query = to_sql(model, "duckdb", "some_rows", keep=["id"])
        return connection.execute(query).df().sort_values("id").drop(columns="id").to_numpy()


def by_sqlite(model: Model, rows: pd.DataFrame) -> np.ndarray:
    kinds, cells = cells_of(rows)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE some_rows ({', '.join(kinds)}, id INTEGER PRIMARY KEY)")
        marks = ", ".join("?" * len(kinds))
        connection.executemany(f"INSERT INTO some_rows VALUES ({marks}, NULL)", cells.to_numpy().tolist())
        result = connection.execute(to_sql(model, "sqlite", "some_rows", keep=["id"])).fetchall()
    return np.array(sorted(result))[:, 1:]


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Any]:
    """A connection; skipped where there is no server."""
    import psycopg

    with server() as url, psycopg.connect(url) as connection:
        yield connection


def by_postgresql(connection: Any, model: Model, rows: pd.DataFrame) -> np.ndarray:
    """The same as SQLite's; its numbers are doubles, and NaN is one of them."""
    kinds, cells = cells_of(rows)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS some_rows")
        columns = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
        cursor.execute(f"CREATE TABLE some_rows (id serial, {columns})")
        with cursor.copy(f"COPY some_rows ({', '.join(kinds)}) FROM STDIN") as copy:
            for line in cells.itertuples(index=False, name=None):
                copy.write_row(line)
        cursor.execute(to_sql(model, "postgresql", "some_rows", keep=["id"]))
        return np.array(sorted(cursor.fetchall()), float)[:, 1:]


def by_onnxruntime(model: Model, rows: pd.DataFrame) -> np.ndarray:
    import onnxruntime

    made = to_onnx(model)
    assert {each.name for each in made.graph.initializer} <= {name for node in made.graph.node for name in node.input}
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    feed: dict[str, Any] = {}
    for column in program_of(model).columns:
        values = rows[column.name]
        if column.kind == TEXT:
            feed[column.name] = values.fillna("").to_numpy(object).reshape(-1, 1)
        elif values.dtype.kind == "M":
            days = values.to_numpy().astype("M8[D]")
            feed[column.name] = np.where(np.isnat(days), np.nan, days.astype(np.int64)).reshape(-1, 1)
        else:
            feed[column.name] = values.to_numpy(np.float64, na_value=np.nan).reshape(-1, 1)
    (said,) = session.run(None, feed)
    if not feed:  # it looks at no column, and says one thing of all rows
        said = np.repeat(said.reshape(1, -1), len(rows), axis=0)
    assert said.dtype == np.float64
    return said.reshape(len(rows), -1)


WAYS = {"duckdb": by_duckdb, "sqlite": by_sqlite, "onnx": by_onnxruntime}


def test_every_kind_of_the_registry_is_there() -> None:
    kinds = {kind.kind for kind in registry.of_the_library(registry.model_kinds()).values()}
    assert {model.kind for model in models().values()} == kinds - {"foreign"}  # which no file holds


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_an_export_says_what_the_model_says(name: str, way: str) -> None:
    model = models()[name]
    rows = rows_of(model, ROWS)
    expected = told(model, rows)
    said = WAYS[way](model, rows)
    assert said.shape == expected.shape
    assert np.count_nonzero(~(np.abs(said - expected) <= TOLERANCE)) == 0


def test_postgresql_says_what_the_models_say(postgresql: Any) -> None:
    for name, model in models().items():
        if name.startswith(("mean", "vote", "composed")):  # made of others, in long queries
            continue
        rows = rows_of(model, 50, seed=2).rename(columns=NASTY)
        off = np.abs(
            by_postgresql(postgresql, renamed(model), rows) - told(renamed(model), rows, tuple(NASTY.values()))
        )
        assert np.count_nonzero(~(off <= TOLERANCE)) == 0, name


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", NAMES)
def test_of_100000_rows_none_is_off(name: str, postgresql: Any, record_property: Any) -> None:
    """Of columns with nasty names; the counts of every target are in the report of the tests."""
    model, plain = renamed(models()[name]), rows_of(models()[name], 100_000, seed=1)
    rows = plain.rename(columns=NASTY)
    expected = told(model, rows, tuple(NASTY.values()))
    assert np.array_equal(expected, told(models()[name], plain))
    wrong = {}
    for way, run in (WAYS | {"postgresql": partial(by_postgresql, postgresql)}).items():
        said = run(model, rows)
        wrong[way] = np.count_nonzero(~(np.abs(said - expected) <= TOLERANCE).all(axis=1))
        record_property(way, f"{len(said)} rows, {wrong[way]} off")
    assert set(wrong.values()) == {0}, wrong


@pytest.mark.parametrize(
    ("dialect", "name"), in_turn(list(DIALECTS), [("additive",), ("trees of classes",), ("list",), ("halfspace",)])
)
def test_every_dialect_parses_its_own_query(name: str, dialect: str) -> None:
    query = models()[name].to_sql(dialect, "shop.people", keep=["the id"])
    (parsed,) = sqlglot.parse(query, dialect=DIALECTS[dialect], error_level=sqlglot.ErrorLevel.RAISE)
    assert isinstance(parsed, sqlglot.exp.Select)
    assert parsed.selects[0].name == "the id"
    assert {table.sql() for table in parsed.find_all(sqlglot.exp.Table)} >= {'"shop"."people"'}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_any_name_of_a_table_is_quoted(dialect: str) -> None:
    for name in ('q"r', "]", "`", "f(x)", "my table; drop", "--", "select"):
        query = models()["additive"].to_sql(dialect, f"shop.{name}")
        (parsed,) = sqlglot.parse(query, dialect=DIALECTS[dialect], error_level=sqlglot.ErrorLevel.RAISE)
        assert ("shop", name) in {(table.db, table.name) for table in parsed.find_all(sqlglot.exp.Table)}
    for name in ("", "a.", ".a", "a.b.c.d"):
        with pytest.raises(ExportError, match="a table is called NAME"):
            models()["additive"].to_sql(dialect, name)


def test_a_query_is_of_what_it_says() -> None:
    model = models()["additive"]
    first = model.to_sql("postgresql").splitlines()[0]
    assert first == f"-- tacit.model_digest: {model_digest(model)}"
    for wrong in ("oracle", ""):
        with pytest.raises(ExportError, match="known: postgresql"):
            model.to_sql(wrong)
    with pytest.raises(ExportError, match="neither a model nor"):
        to_sql("model")


def test_names_and_values_of_a_schema_cannot_leave_their_quotes() -> None:
    """They come from whoever wrote the schema: as identifiers and literals they are data, as comments one line."""
    wrong = "a\"; DROP TABLE data; --'\n\\"
    column = Feature(wrong, CategoryIndex((wrong.strip(), "b")), np.arange(4), False)
    effect = MainEffect(0, np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4), np.ones(4))
    model = AdditiveModel(("no", wrong), 0.0, (column,), (effect,), ())
    rows = pd.DataFrame({wrong: [wrong, "b", None, "c"]})
    for dialect in DIALECTS:
        assert len(sqlglot.parse(to_sql(model, dialect), dialect=DIALECTS[dialect])) == 1
    with duckdb.connect() as connection:
        connection.register("data", rows)
        result = connection.execute(to_sql(model)).fetchall()
    assert np.allclose(np.array(result)[:, 1], model.predict_proba(rows)[:, 1], atol=1e-12)


def of_five(names: tuple[str, ...]) -> AdditiveModel:
    """A number, a text, a truth value, categories that are numbers, and ones that are truth values."""
    marked = CellFormat(missing_values=(-9.0,))
    own: list[Encoder] = [NumericGrid(0, 10, 10, format=marked), CategoryIndex(("red", "b")), BooleanIndex(),
                          CategoryIndex((1, 2)), CategoryIndex((True,))]  # fmt: skip
    columns = tuple(
        Feature(name, of, np.arange(of.n_codes), isinstance(of, NumericGrid))
        for name, of in zip(names, own, strict=True)
    )
    effects = tuple(np.sqrt(np.arange(2.0, one.n_bins + 2)) / (k + 1) for k, one in enumerate(columns))
    mains = tuple(MainEffect(k, effect, effect, effect) for k, effect in enumerate(effects))
    return AdditiveModel(("no", "yes"), -3.0, columns, mains, ())


FIVE = {
    "number": [3.5, 20.0, np.nan, 7.0, -2.0],
    "text": ["red", " red\t", "\r\n", "\u00a0b", "r"],
    "truth": [True, False, None, True, False],
    "grade": [1.0, 2.0, np.nan, 3.0, 1.0],
    "flag": [True, False, None, False, True],
}


@pytest.mark.parametrize(
    "names",
    [
        ("tacit_0", "tacit_1", "TACIT_2", "tacit_level_1", "tacit_5"),
        ("proba_yes", "prediction", "probabilities", "probabilities_", "tacit_"),
        ('a"b', "c.d", "SELECT", "1", "*"),
    ],
    ids=["ours", "outputs", "signs"],
)
def test_no_name_of_a_column_or_table_is_taken_for_one_of_the_query(names: tuple[str, ...]) -> None:
    model = of_five(names)
    rows = pd.DataFrame(dict(zip(names, FIVE.values(), strict=True)))
    expected = told(model, rows, names)
    others = {f"tacit_{k}" for k in (*range(12), "level_2")} - {name.lower() for name in names}
    table = rows.assign(**dict.fromkeys(others, 1.0), id=range(5))  # columns that the model does not read
    name = "tacit_level_1" if "tacit_0" in names else "people"
    with duckdb.connect() as connection:
        connection.register(name, table)
        said = connection.execute(to_sql(model, "duckdb", name, keep=["id", "id"])).fetchall()
    assert np.allclose([row[1:] for row in sorted(said)], expected, atol=1e-12)
    with sqlite3.connect(":memory:") as lite:
        table.to_sql(name, lite, index=False)
        said = lite.execute(to_sql(model, "sqlite", name, keep=["id"])).fetchall()
    assert np.allclose([row[1:] for row in sorted(said)], expected, atol=1e-12)
    stripped = rows.assign(**{names[1]: [text.strip() for text in FIVE["text"]]})
    assert np.allclose(by_onnxruntime(model, stripped), expected, atol=1e-12)


CELLS = {
    "number": ["3.5", "20", "", " 7 ", "-2", "n/a", "1e1", "-9.0"],
    "text": ["red", " red\t", "\r", "b\u3000", "r", "", "RED", "\u2003b"],
    "truth": ["true", "No", "", "1", "0", "T", "2", "yes"],
    "grade": ["1", "2.0", "", "3", "1", "x", "01", " "],
    "flag": ["TRUE", "false", "", "0", "1", "yes", "x", " "],
}
"""The same columns as texts, as SQLite's `.import` makes them."""


def test_a_csv_file_imported_by_sqlite_is_read_as_the_library_reads_it() -> None:
    model = of_five(tuple(FIVE))
    with sqlite3.connect(":memory:") as lite:
        lite.execute(f"CREATE TABLE data ({', '.join(f'{name} TEXT' for name in CELLS)})")
        lite.executemany("INSERT INTO data VALUES (?, ?, ?, ?, ?)", zip(*CELLS.values(), strict=True))
        said = lite.execute(to_sql(model, "sqlite")).fetchall()
    assert np.allclose(said, model.predict_proba(CELLS), atol=1e-12)


DAYS = [
    "2021-03-01T23:59-11:00",
    "2021-02-30",
    "",
    " 2020-01-31\u00a0",
    "2021-1-1",
    "2021-03-01x",
    "0000-01-01",
    "2030-01-01",
]
"""Dates as texts; the year 0 is none of the library's calendar, but SQLite's and JavaScript's have one."""


def of_dates(part: str) -> AdditiveModel:
    """Of a date, of which a month, a year or a day of the week counts."""
    lower, upper, cells = {"month": (2020.0, 2022.0, 24), "year": (2020.0, 2023.0, 3), "weekday": (0, 7, 7)}[part]
    grid = NumericGrid(lower, upper, cells, "linear", part)
    column = Feature("seen", grid, np.arange(grid.n_codes), True)
    effect = np.arange(grid.n_codes) / 10
    return AdditiveModel(("no", "yes"), -1.0, (column,), (MainEffect(0, effect, effect, effect),), ())


@pytest.mark.parametrize("part", ["month", "weekday"])
def test_dates_that_are_odd_count_as_in_the_library(part: str, postgresql: Any) -> None:
    model = of_dates(part)
    with sqlite3.connect(":memory:") as lite:
        lite.execute("CREATE TABLE data (seen TEXT)")
        lite.executemany("INSERT INTO data VALUES (?)", [(day,) for day in DAYS])
        said = lite.execute(to_sql(model, "sqlite")).fetchall()
    assert np.allclose(said, model.predict_proba({"seen": DAYS}), atol=1e-12)
    beyond = np.array(["-0043-03-15", "0000-02-29", "0001-01-01", "2021-03-01", "9999-12-31", "NaT", "NaT"], "M8[D]")
    texts = ["0044-03-15 BC", "0001-02-29 BC", "0001-01-01", "2021-03-01", "9999-12-31", "infinity", "-infinity"]
    expected = model.predict_proba({"seen": beyond})
    with postgresql.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE odd AS SELECT unnest(%s::date[]) AS seen", [texts])
        assert np.allclose(cursor.execute(to_sql(model, "postgresql", "odd")).fetchall(), expected, atol=1e-12)
        cursor.execute("DROP TABLE odd")
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE data AS SELECT unnest(?::DATE[]) AS seen", [[t.replace("BC", "(BC)") for t in texts]]
        )
        assert np.allclose(connection.execute(to_sql(model)).fetchall(), expected, atol=1e-12)


def test_names_that_are_one_in_a_dialect_are_refused() -> None:
    folded = of_five(("Age", "age", "b", "c", "d"))
    long = of_five(("x" * 63, "x" * 64, "b", "c", "d"))
    for model, dialects in ((folded, {"postgresql", "snowflake"}), (long, set(DIALECTS) - {"postgresql"})):
        for dialect in DIALECTS:
            if dialect in dialects:
                to_sql(model, dialect)
                continue
            with pytest.raises(ExportError, match="one name in this dialect: rename one"):
                to_sql(model, dialect)
    with pytest.raises(ExportError, match="columns of the result are called 'PROBA_no' and 'proba_no'"):
        to_sql(of_five(tuple("abcde")), keep=["PROBA_no"])


@pytest.mark.parametrize("name", NAMES)
def test_a_workbook_has_the_numbers(name: str, tmp_path: Path) -> None:
    import openpyxl

    model = models()[name]
    to_excel(model, tmp_path / "model.xlsx")
    book = openpyxl.load_workbook(tmp_path / "model.xlsx")
    facts = {str(row[0]): row[1] for row in book["about"].iter_rows(values_only=True)}
    assert facts["tacit.model_digest"] == model_digest(model) == book.custom_doc_props["tacit.model_digest"].value
    assert len(book.sheetnames) >= (1 if name == "vote of none" else 2)
    if name == "additive":
        cells = list(book["price"].iter_rows(min_row=2, values_only=True))
        assert isinstance(model, AdditiveModel)
        assert [row[3] for row in cells] == model.mains[1].effect.tolist()


def test_a_category_is_no_formula(tmp_path: Path) -> None:
    import openpyxl

    column = Feature("c", CategoryIndex(("=1+1", "b")), np.arange(4), False)
    effect = MainEffect(0, np.arange(4.0), np.ones(4), np.ones(4))
    to_excel(AdditiveModel(("no", "yes"), 0.0, (column,), (effect,), ()), tmp_path / "m.xlsx")
    cell = openpyxl.load_workbook(tmp_path / "m.xlsx")["c"]["A2"]
    assert (cell.value, cell.data_type) == ("=1+1", "s")


@cache
def validator_of_files() -> Any:
    """What says whether a file is valid; its package takes seconds to import, which no other test needs."""
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(json_schema())
    return Draft202012Validator(json_schema())


@pytest.mark.parametrize("name", NAMES)
def test_a_model_file_is_as_its_schema_says(name: str) -> None:
    data = json.loads(json.dumps(models()[name].to_dict()))
    validator = validator_of_files()
    assert [error.message for error in validator.iter_errors(data)] == []
    for member in list(data["model"]):
        rest = {key: value for key, value in data["model"].items() if key != member}
        optional = {"evidence", "scale", "power", "promise"}
        assert validator.is_valid({**data, "model": rest}) == (member in optional)
    assert not validator.is_valid({**data, "model": {**data["model"], "more": 1}})


def test_the_schema_knows_every_kind_and_a_certificate() -> None:
    assert set(BODIES) == set(kinds())
    X = {"a": np.linspace(0, 1, 50), "b": ["u", "v"] * 25}
    columns = {"a": {"kind": "numeric", "lower": 0, "upper": 1}, "b": {"kind": "categorical", "categories": ["u", "v"]}}
    unit = {"column": "who", "max_rows": 2, "name": "client"}
    schema = {"columns": columns | {"who": {"kind": "id"}}, "unit": unit}
    fitted = tacit.RandomTreesClassifier(n_trees=2, schema=schema, classes=(0, 1)).fit(
        X | {"who": np.arange(50)}, np.arange(50) % 2
    )
    data = json.loads(json.dumps(fitted.model_.to_dict(fitted.certificate_.to_dict(), fitted.schema_)))
    validator = validator_of_files()
    assert [error.message for error in validator.iter_errors(data)] == []
    assert f"-- tacit.certificate_digest: {fitted.certificate_.digest}\n" in to_sql(fitted)
    assert "-- dp.unit: one client, at most 2 rows\n" in to_sql(fitted)
    props = {prop.key: prop.value for prop in to_onnx(fitted).metadata_props}
    assert props["tacit.certificate_digest"] == fitted.certificate_.digest
    assert validator.is_valid({**data, "certificate": {**data["certificate"], "tape": "0" * 64}})
    data["certificate"]["epsilon"] = "one"
    assert not validator.is_valid(data)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sqlglot", "onnx", "openpyxl"):
        monkeypatch.setitem(sys.modules, name, None)
    model = models()["rule"]
    exports = {"sqlglot": model.to_sql, "onnx": model.to_onnx, "openpyxl": lambda: to_excel(model, "m.xlsx")}
    for name, export in exports.items():
        said = f"{name} is not installed: pip install 'tacit[export]'. Nothing was spent."
        with pytest.raises(TacitError, match=f"^{re.escape(said)}$"):
            export()


def by_node(model: Model, lines: list[dict[str, Any]], path: Path) -> np.ndarray:
    save_model(model, path / "model.json")
    assert NODE is not None
    command = [NODE, str(READER), str(path / "model.json")]
    return np.array(
        json.loads(subprocess.run(command, input=json.dumps(lines), capture_output=True, text=True, check=True).stdout)
    )


STAMPS = ("2020-12-31 23:30", "2021-01-01 00:30", "2021-04-30 23:30", "2021-05-01 00:30", "2021-05-01 12:00")


@pytest.mark.parametrize("part", ["month", "year", "weekday"])
def test_times_of_a_zone_count_by_its_calendar(part: str, tmp_path: Path) -> None:
    """In a database by that of the session; of a text counts the date that is written, whatever zone follows."""
    model, seen_apart = of_dates(part), set()
    for zone in ("Asia/Tokyo", "America/Los_Angeles", "Pacific/Kiritimati"):
        seen = pd.Series(pd.to_datetime(STAMPS)).dt.tz_localize("UTC").dt.tz_convert(zone)
        with duckdb.connect() as connection:
            connection.execute(f"SET TimeZone = '{zone}'").register("some_rows", pd.DataFrame({"seen": seen}))
            said = connection.execute(to_sql(model, "duckdb", "some_rows")).df()["proba_yes"]
        expected = model.predict_proba(pd.DataFrame({"seen": seen}))
        seen_apart |= {tuple(expected[:, 1])}
        np.testing.assert_allclose(said, expected[:, 1], atol=TOLERANCE)
        np.testing.assert_allclose(by_onnxruntime(model, pd.DataFrame({"seen": seen.dt.tz_localize(None)})), expected)
    texts = [
        stamp.replace(" ", mark) + zone for stamp in STAMPS for mark in " T" for zone in ("", "Z", "+09:00", "-0800")
    ]
    frame = pd.DataFrame({"seen": pd.Series(texts, dtype=object)})
    expected = model.predict_proba(frame)
    assert len(set(expected[:, 1])) > 1
    np.testing.assert_allclose(by_sqlite(model, frame), expected, atol=TOLERANCE)
    if NODE is not None:
        np.testing.assert_allclose(by_node(model, [{"seen": text} for text in texts], tmp_path), expected)


@pytest.mark.skipif(NODE is None, reason="no node on this machine: the reader in JavaScript is not run")
def test_a_reader_in_javascript_reads_texts_as_the_library_does(tmp_path: Path) -> None:
    dates = {"seen": DAYS}
    for model, rows in ((of_five(tuple(FIVE)), CELLS), (of_dates("month"), dates), (of_dates("weekday"), dates)):
        lines = [dict(zip(rows, line, strict=True)) for line in zip(*rows.values(), strict=True)]
        assert np.allclose(by_node(model, lines, tmp_path), model.predict_proba(rows), atol=1e-12)


@pytest.mark.skipif(NODE is None, reason="no node on this machine: the reader in JavaScript is not run")
@pytest.mark.parametrize("name", ["additive", "additive of one column"])
def test_a_reader_in_javascript_says_the_same(name: str, tmp_path: Path) -> None:
    model = models()[name]
    rows = rows_of(model, 2_000)
    lines = json.loads(rows.replace([np.inf, -np.inf], np.nan).to_json(orient="records", date_format="iso"))
    for column in ("age, in years", "price", "cuts", "grade"):  # to the last bit, which pandas does not write
        for line, value in zip(lines, rows[column].tolist(), strict=True):
            line[column] = value if np.isfinite(value) else None
    for column in ("seen", "born", "day"):
        for line, value in zip(lines, rows[column].dt.strftime("%Y-%m-%d").tolist(), strict=True):
            line[column] = value if isinstance(value, str) else None
    said = by_node(model, lines, tmp_path)
    expected = told(model, rows.replace([np.inf, -np.inf], np.nan))
    assert np.count_nonzero(~(np.abs(said - expected) <= 1e-12)) == 0
