"""Queries in which one row of the database decides about others are refused before a row is read."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tacit.encoding.errors import DataError
from tacit.encoding.source import DeclaredSource, read_source
from tacit.encoding.sql_sources import fault_of
from tacit.schema import Schema

LIMIT, WINDOW, TWICE = "LIMIT, OFFSET or FETCH", "window function", "more than once"
SEVERAL, CHANGES, SUBQUERY, CROSS = "several rows of one", "change whenever", "a subquery among", "joins without"


@pytest.mark.parametrize(
    ("query", "dialect", "fault"),
    [
        ("SELECT * FROM t LIMIT 10", "sqlite", LIMIT),
        ("SELECT * FROM t ORDER BY a OFFSET 5 ROWS", "postgresql", LIMIT),
        ("SELECT * FROM t FETCH FIRST 5 ROWS ONLY", "postgresql", LIMIT),
        ("SELECT TOP 5 * FROM t", "mssql", LIMIT),
        ("SELECT TOP 5 PERCENT * FROM t", "mssql", LIMIT),
        ("SELECT * FROM (SELECT * FROM t LIMIT 10) AS s", "mysql", LIMIT),
        ("WITH s AS (SELECT * FROM t LIMIT 10) SELECT * FROM s", "sqlite", LIMIT),
        ("SELECT a, row_number() OVER (ORDER BY a) AS n FROM t", "sqlite", WINDOW),
        ("SELECT a - avg(a) OVER (PARTITION BY c) AS a FROM t", "postgresql", WINDOW),
        ("SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY a ORDER BY b) = 1", "duckdb", WINDOW),
        ("SELECT DISTINCT ON (a) * FROM t", "postgresql", "DISTINCT ON"),
        ("SELECT c, avg(a) AS a FROM t GROUP BY c", "sqlite", "aggregates"),
        ("SELECT max(a) AS a FROM t", "sqlite", "aggregates"),
        ("SELECT list(a) AS a FROM t", "duckdb", "aggregates"),
        ("SELECT DISTINCT c FROM t HAVING count(*) > 1", "sqlite", "aggregates"),
        ("SELECT * FROM t TABLESAMPLE BERNOULLI (10)", "postgresql", "draws a sample"),
        ("SELECT * FROM t USING SAMPLE 10%", "duckdb", "draws a sample"),
        ("SELECT * FROM t WHERE random() > 0", "sqlite", CHANGES),
        ("SELECT * FROM t ORDER BY newid()", "mssql", CHANGES),
        ("SELECT * FROM t WHERE ROWNUM < 9", "oracle", "counts its rows"),
        ("SELECT unnest(a) AS a FROM t", "duckdb", SEVERAL),
        ("SELECT s.a FROM t, LATERAL (SELECT t.a) AS s", "postgresql", CROSS),
        ("SELECT j.value AS a FROM t JOIN json_each(t.b) AS j ON t.a = j.key", "sqlite", SEVERAL),
        ("SELECT * FROM t UNPIVOT (a FOR b IN (c, d))", "duckdb", SEVERAL),
        ("WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r) SELECT * FROM r", "sqlite", "RECURSIVE"),
        ("SELECT * FROM t, u", "sqlite", CROSS),
        ("SELECT * FROM t CROSS JOIN u", "sqlite", CROSS),
        ("SELECT * FROM t JOIN u ON t.a < u.a", "sqlite", CROSS),
        ("SELECT * FROM t JOIN u ON t.a = t.b", "sqlite", CROSS),
        ("SELECT * FROM t JOIN u ON t.a = u.a OR t.b = u.b", "sqlite", CROSS),
        ("SELECT * FROM t SEMI JOIN u USING (a)", "duckdb", CROSS),
        ("SELECT * FROM t ASOF JOIN u ON t.a >= u.a", "duckdb", CROSS),
        ("SELECT * FROM t WHERE a IN (SELECT a FROM u)", "sqlite", SUBQUERY),
        ("SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)", "sqlite", SUBQUERY),
        ("SELECT *, (SELECT b FROM u WHERE u.a = t.a) AS b FROM t", "sqlite", SUBQUERY),
        ("SELECT a FROM t UNION ALL SELECT b FROM t", "sqlite", TWICE),
        ("SELECT x.* FROM t AS x JOIN t AS y ON x.a = y.a", "sqlite", TWICE),
        ("SELECT * FROM t JOIN narrow ON t.a = narrow.a", "sqlite", TWICE),
        ("SELECT * FROM ten", "sqlite", LIMIT),
        ("SELECT * FROM through WHERE a > 1", "sqlite", LIMIT),
        ("SELECT regexp_split_to_table(x, ',') FROM t", "postgresql", "calls regexp_split_to_table"),
        ("SELECT jsonb_array_elements(x) FROM t", "postgresql", "calls jsonb_array_elements"),
        ("SELECT total(a) AS a FROM t", "sqlite", "calls total"),
        ("SELECT every(a) AS a FROM t", "postgresql", "calls every"),
        ("SELECT uuid_short() AS a FROM t", "mysql", "calls uuid_short"),
        ("SELECT of_my_own(a) AS a FROM t", "postgresql", "calls of_my_own"),
        ("SELECT json_arrayagg(a) AS a FROM t", "mysql", "calls json_arrayagg"),
        ("SELECT @r := @r + 1 AS a FROM t", "mysql", CHANGES),
        ("SELECT nextval('s') AS a FROM t", "postgresql", "calls nextval"),
        ("SELECT * FROM t WHERE a > ALL (SELECT a FROM u)", "postgresql", SUBQUERY),
        ("SELECT * FROM t WHERE a > ANY (ARRAY(SELECT a FROM u))", "postgresql", SUBQUERY),
        ("SELECT * FROM t CONNECT BY PRIOR a = b", "oracle", "CONNECT BY"),
        ("SELECT * FROM t FOR UPDATE SKIP LOCKED", "postgresql", "locks rows"),
        ("SELECT * FROM t WHERE ctid < '(3,0)'", "postgresql", "counts its rows"),
        ("SELECT rowid, a FROM t", "sqlite", "counts its rows"),
        ("SELECT * FROM t WHERE xmin > 5", "postgresql", "counts its rows"),
        ("SELECT s.NEXTVAL, a FROM t", "oracle", CHANGES),
        ("SELECT a, now() AS at FROM t", "postgresql", CHANGES),
        ("SELECT * FROM t WHERE at > current_timestamp - interval '1 day'", "postgresql", CHANGES),
        ("SELECT * FROM t WHERE at > CURRENT_DATE", "postgresql", CHANGES),
        ("SELECT * FROM t WHERE at > 'today'::date", "postgresql", CHANGES),
        ("SELECT * FROM t WHERE at > date('now')", "sqlite", CHANGES),
        ("SELECT julianday(' NOW ') - julianday(at) AS age FROM t", "sqlite", CHANGES),
        ("SELECT unixepoch() AS a FROM t", "sqlite", CHANGES),
        ("SELECT today() AS a FROM t", "duckdb", CHANGES),
        ("SELECT CURDATE() AS a FROM t", "mysql", CHANGES),
        ("SELECT GETDATE() AS a FROM t", "mssql", CHANGES),
        ("SELECT SYSDATE FROM t", "oracle", CHANGES),
        ("SELECT * FROM t NATURAL JOIN u", "postgresql", CROSS),
        ("SELECT * INTO u FROM t", "postgresql", "changes the database"),
        ("WITH s AS (DELETE FROM t RETURNING *) SELECT * FROM s", "postgresql", "changes the database"),
        ("DELETE FROM t", "sqlite", "cannot be read as one statement"),
        ("SELECT 1; SELECT 2", "sqlite", "cannot be read as one statement"),
        ("SELEKT * FROM t", "sqlite", "cannot be read as one statement"),
    ],
)  # fmt: skip
def test_rows_that_decide_about_one_another(query: str, dialect: str, fault: str) -> None:
    views = {
        "ten": "CREATE VIEW ten AS SELECT * FROM t LIMIT 10",
        "through": "SELECT * FROM ten",
        "narrow": "CREATE VIEW narrow AS SELECT a FROM t",
    }
    assert fault in fault_of(query, dialect, lambda name: [views[name]] if name in views else [])


@pytest.mark.parametrize(
    ("query", "dialect"),
    [
        ('SELECT * FROM "people"', "mysql"),
        ("SELECT a, b + 1 AS b, CASE WHEN c = 'x' THEN 1 ELSE 0 END AS c FROM t WHERE a > 1 ORDER BY b", "sqlite"),
        ("SELECT DISTINCT a, b FROM t", "postgresql"),
        ("SELECT t.*, u.town FROM t LEFT JOIN u ON t.u_id = u.id AND u.open = 1", "postgresql"),
        ("SELECT * FROM t JOIN u USING (id) JOIN v ON v.id = t.v", "sqlite"),
        ("WITH adults AS (SELECT * FROM t WHERE age >= 18) SELECT a FROM adults", "sqlite"),
        ("SELECT * FROM t UNION ALL SELECT * FROM u", "sqlite"),
        ("SELECT * FROM t WHERE a IN ('x', 'y') AND b BETWEEN 1 AND 2", "mssql"),
        ("SELECT * FROM 'rows.parquet' ORDER BY more", "duckdb"),
        ("FROM read_parquet('rows.parquet')", "duckdb"),
        ("SELECT max(a, b) AS a, coalesce(c, 0) AS c, lower(d) AS d FROM t", "sqlite"),
        ("SELECT \"limit\", \"random\", \"rowid\" FROM t WHERE c = 'now'", "postgresql"),
        ("SELECT a * pi() AS a, date(b) AS b, date_trunc('month', c) AS c FROM t", "postgresql"),
        ("SELECT * FROM t EXCEPT SELECT * FROM u", "postgresql"),
        ("SELECT julianday(a) AS a, strftime('%Y', b) AS b, ifnull(c, 0) AS c FROM t", "sqlite"),
        ("SELECT * FROM wide", "no such dialect"),
    ],
)  # fmt: skip
def test_rows_one_by_one(query: str, dialect: str) -> None:
    views = {"wide": "CREATE VIEW wide AS SELECT t.*, u.b FROM t JOIN u ON t.a = u.a"}
    assert fault_of(query, dialect, lambda name: [views[name]] if name in views else []) == ""


@pytest.mark.parametrize("backend", ["sqlite", "duckdb"])
def test_a_fit_refuses_them_and_views_of_them(backend: str, tmp_path: Path) -> None:
    schema = Schema.from_dict(
        {"columns": {"a": {"kind": "numeric", "lower": 0, "upper": 1}}, "label": {"column": "y", "classes": ["n", "p"]}}
    )
    path = tmp_path / "rows.db"
    connect = sqlite3.connect if backend == "sqlite" else pytest.importorskip("duckdb").connect
    with connect(str(path)) as base:
        base.execute("CREATE TABLE people (a REAL, y TEXT)")
        base.execute("INSERT INTO people VALUES (0.5, 'n')")
        base.execute("CREATE VIEW first AS SELECT * FROM people LIMIT 10")
        base.execute("CREATE VIEW all_of_them AS SELECT * FROM people")
    for query in ("SELECT * FROM people LIMIT 10", "first", "SELECT * FROM first"):
        source = DeclaredSource(read_source(f"{backend}:///{path}", query=query), schema)
        with pytest.raises(DataError, match=r"has LIMIT, OFFSET or FETCH.*Nothing was spent"):
            source.without_rows  # noqa: B018 - looks at what is public
    for query in ("people", "all_of_them"):
        assert DeclaredSource(read_source(f"{backend}:///{path}", query=query), schema).without_rows.n_rows == 0
